"""Graphs from everywhere are the same graph."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import coldlink

STEPS = {"preset": "default", "steps": 40}


def saved(graph: coldlink.Graph, path: Path) -> bytes:
    graph.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda edges, x: (edges.astype(np.int32), x),
        lambda edges, x: (edges.astype(np.uint8), x.astype(np.float64)),
        lambda edges, x: (np.asfortranarray(edges), np.asfortranarray(x)),
        lambda edges, x: (edges[::-1], x.astype(bool)),
        lambda edges, x: (edges.tolist(), x.astype(int).tolist()),
        lambda edges, x: (edges, sp.csr_matrix(x)),
        lambda edges, x: (edges, sp.csr_array(x.astype(np.int64))),
        lambda edges, x: (edges, sp.coo_array(x)),
        lambda edges, x: (sp.coo_array((np.ones(len(edges)), edges.T), shape=(len(x), len(x))), sp.csc_array(x)),
    ],
)
def test_arrays_of_any_kind_are_the_same_graph(arrays: Any, tmp_path: Path, change: Any) -> None:
    plain = saved(coldlink.Graph.from_arrays(*arrays), tmp_path / "plain")
    assert saved(coldlink.Graph.from_arrays(*change(*arrays)), tmp_path / "other") == plain


def test_repeated_entries_are_summed_and_unsorted_ones_sorted(tmp_path: Path) -> None:
    untidy = sp.csr_array((np.array([1.0, 2.0, 3.0, 0.0]), np.array([1, 0, 1, 0]), np.array([0, 3, 4])), shape=(2, 2))
    untidy.has_canonical_format = True
    tidy = np.array([[2.0, 4.0], [0.0, 0.0]])
    graphs = [coldlink.Graph.from_arrays([[0, 1]], x) for x in (untidy, tidy)]
    assert saved(graphs[0], tmp_path / "a") == saved(graphs[1], tmp_path / "b")


def test_arrays_are_read_where_they_lie() -> None:
    x = np.zeros((20_000, 500), dtype=np.float32)
    x[:, 7] = 1
    edges = np.stack([np.arange(19_999), np.arange(1, 20_000)])
    gc.collect()
    tracemalloc.start()
    coldlink.Graph.from_arrays(edges.T, x)
    coldlink.Graph.from_arrays(edges.T, x.T.reshape(500, 20_000).T)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < x.nbytes / 100, "numpy reports its memory here, and made no array"


def test_tables_in_memory_and_in_files_are_the_same_graph(tables: Any, folder: Path, tmp_path: Path) -> None:
    from_files = saved(coldlink.read(folder), tmp_path / "files")
    assert saved(coldlink.Graph.from_pandas(*tables, name="papers"), tmp_path / "memory") == from_files


def test_columns_may_be_called_as_one_likes(tables: Any, tmp_path: Path) -> None:
    nodes, links = tables
    plain = coldlink.Graph.from_pandas(nodes, links)
    other = coldlink.Graph.from_pandas(
        nodes[["words", "id"]].rename(columns={"id": "paper"}),
        links.assign(when=1).rename(columns={"source": "citing", "target": "cited"}),
        id="paper",
        source="citing",
        target="cited",
    )
    by_index = coldlink.Graph.from_pandas(nodes.set_index("id").rename_axis("paper"), links)
    assert [plain.names, plain.edges().tolist()] == [other.names, other.edges().tolist()]
    assert plain.names == by_index.names


def test_numbers_keep_their_digits_and_ids_stay_whole(arrays: Any, tmp_path: Path) -> None:
    edges, x = arrays
    sizes = x.astype(np.float64) * np.random.default_rng(0).lognormal(-20, 10, x.shape)
    columns = {f"a{column}": sizes[:, column] for column in range(6)}
    columns |= {f"a{column}": sizes[:, column].astype(np.float32) for column in range(6, x.shape[1])}
    nodes = pd.DataFrame(columns).replace(0.0, np.nan).assign(id=np.arange(len(x)))
    links = pd.DataFrame(edges, columns=["source", "target"])
    folder = tmp_path / "sizes"
    folder.mkdir()
    nodes.to_csv(folder / "nodes.csv", index=False)
    links.to_csv(folder / "edges.csv", index=False)
    in_memory = coldlink.Graph.from_pandas(nodes, links.astype({"source": float}), name="sizes")
    in_files = coldlink.read(folder)
    assert in_memory.names == list(range(len(x)))
    trained = [coldlink.Model(**STEPS).fit(graph, progress=False) for graph in (in_memory, in_files)]
    assert np.array_equal(trained[0].embed(), trained[1].embed())


def test_a_graph_of_networkx_comes_with_data_or_vectors(tables: Any, arrays: Any) -> None:
    nodes, links = tables
    edges, x = arrays
    graph = nx.Graph(name="papers")
    for place, node in enumerate(nodes.to_dict("records")):
        graph.add_node(node["id"], words=node["words"].split("|"), x=x[place])
    graph.add_edges_from(links.to_numpy())
    by_vector = coldlink.Graph.from_networkx(graph, x="x")
    assert (by_vector.name, by_vector.names[:2], by_vector.links) == ("papers", ["p0", "p1"], len(links))
    for node in graph.nodes:
        del graph.nodes[node]["x"]
    by_data = coldlink.Graph.from_networkx(graph)
    assert by_data.attribute_names[0] == "words=bearing" and by_data.edges().tolist() == by_vector.edges().tolist()
    with pytest.raises(coldlink.LoadError, match="has no `y`"):
        coldlink.Graph.from_networkx(graph, x="y")


def test_a_graph_of_pytorch_geometric(arrays: Any, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: `cargo xtask python --torch` installs it")
    edges, x = arrays
    plain = saved(coldlink.Graph.from_arrays(edges, x), tmp_path / "plain")
    dense = torch.from_numpy(x)
    edge_index = torch.from_numpy(edges.T.copy())
    for attributes in (dense, dense.double(), dense.to(torch.bfloat16), dense.to_sparse(), dense.to_sparse_csr()):
        data = SimpleNamespace(edge_index=edge_index, x=attributes)
        assert saved(coldlink.Graph.from_pyg(data), tmp_path / "other") == plain
    geometric = pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")
    data = geometric.Data(x=dense, edge_index=edge_index)
    assert saved(coldlink.Graph.from_pyg(data), tmp_path / "other") == plain


def test_weights_and_times_come_from_everywhere(arrays: Any, tables: Any, tmp_path: Path) -> None:
    edges, x = arrays
    nodes, links = tables
    random = np.random.default_rng(1)
    weights = random.integers(1, 9, len(edges)) / 2
    days = np.datetime64("2001-01-01") + random.integers(0, 900, len(edges))
    plain = saved(coldlink.Graph.from_arrays(edges, x, weights=weights, times=days, directed=False), tmp_path / "plain")

    def same(graph: coldlink.Graph) -> None:
        assert saved(graph, tmp_path / "other") == plain

    years = coldlink.arrays.times(days)
    same(coldlink.Graph.from_arrays(edges, x, weights=2 * weights / 2, times=years, directed=False))
    data = SimpleNamespace(edge_index=edges.T, x=x, edge_weight=weights, edge_time=years)
    same(coldlink.Graph.from_pyg(data))
    same(coldlink.Graph.from_pyg(SimpleNamespace(edge_index=edges.T, x=x, edge_attr=weights[:, None], edge_time=years)))
    matrix = sp.coo_array((weights, edges.T), shape=(len(x), len(x)))
    without_times = coldlink.Graph.from_arrays(edges, x, weights=weights, directed=False)
    assert saved(coldlink.Graph.from_arrays(matrix, x, directed=False), tmp_path / "a") == saved(
        without_times, tmp_path / "b"
    )

    carried = links.assign(weight=weights, date=days)
    by_name = coldlink.Graph.from_pandas(nodes, carried, name="papers")
    assert any("weights from 0.5 to 4:" in note for note in by_name.notes)
    assert any("times from 2001" in note for note in by_name.notes)
    said = carried.rename(columns={"weight": "n", "date": "seen", "source": "a", "target": "b"})
    said = coldlink.Graph.from_pandas(nodes, said, source="a", target="b", weight="n", time="seen", name="papers")
    assert saved(said, tmp_path / "said") == saved(by_name, tmp_path / "by_name")
    none = coldlink.Graph.from_pandas(nodes, carried, weight="", time="", name="papers")
    assert saved(none, tmp_path / "none") == saved(
        coldlink.Graph.from_pandas(nodes, links, name="papers"), tmp_path / "x"
    )

    graph = nx.Graph(name="papers")
    for node in nodes.to_dict("records"):
        graph.add_node(node["id"], words=node["words"])
    for (a, b), weight, day in zip(links.to_numpy(), weights, days, strict=True):
        graph.add_edge(a, b, weight=weight, time=str(day))
    assert coldlink.Graph.from_networkx(graph).notes == by_name.notes
    for place, node in enumerate(nodes.id):
        graph.nodes[node]["x"] = x[place]
    for _, _, data in graph.edges(data=True):
        del data["time"]
    with_vectors = coldlink.Graph.from_networkx(graph, x="x")
    assert with_vectors.notes == ["links have weights from 0.5 to 4: strong links count more"]


def test_bad_weights_and_times_are_refused(arrays: Any, tables: Any) -> None:
    edges, x = arrays
    nodes, links = tables
    ones = np.ones(len(edges))
    for make, message in [
        (lambda: coldlink.Graph.from_arrays(edges, x, weights=[1.0]), "there are 1 weights but 450 links"),
        (lambda: coldlink.Graph.from_arrays(edges, x, weights=-ones), "row 0 of `weights` is -1"),
        (lambda: coldlink.Graph.from_arrays(edges, x, weights=ones * np.nan), "row 0 of `weights` is NaN"),
        (lambda: coldlink.Graph.from_arrays(edges, x, weights=["a"] * 450), "expected a list of numbers"),
        (lambda: coldlink.Graph.from_arrays(edges, x, times=ones * np.inf), "row 0 of `times` is infinite"),
        (lambda: coldlink.Graph.from_pandas(nodes, links.assign(weight=-1)), "but `-1` is below 0"),
        (lambda: coldlink.Graph.from_pandas(nodes, links.assign(weight=np.nan)), "`NaN` is not a finite"),
        (lambda: coldlink.Graph.from_pandas(nodes, links.assign(time="soon")), "neither a date nor a number"),
        (lambda: coldlink.Graph.from_pandas(nodes, links, weight="n"), "column `n` is missing"),
    ]:
        with pytest.raises(coldlink.LoadError) as raised:
            make()
        assert message in raised.value.message and raised.value.hint, raised.value


def test_a_graph_of_several_node_types_and_relations_of_pytorch_geometric() -> None:
    class Hetero(dict):  # type: ignore[type-arg]
        node_types = ("user", "item")
        edge_types = (("user", "buys", "item"), ("user", "knows", "user"))

    random = np.random.default_rng(0)
    data = Hetero()
    data["user"] = SimpleNamespace(x=random.random((30, 4)))
    data["item"] = SimpleNamespace(x=random.random((20, 3)))
    buys, knows = random.integers(0, 20, (2, 90)), random.integers(0, 30, (2, 60))
    data["user", "buys", "item"] = SimpleNamespace(edge_index=buys, edge_weight=random.random(90), edge_time=None)
    data["user", "knows", "user"] = SimpleNamespace(edge_index=knows)
    graph = coldlink.Graph.from_pyg(data, name="shop")
    assert (graph.nodes, graph.names[0], graph.names[30]) == (50, "user 0", "item 0")
    assert any("`buys`" in note and "`knows`" in note for note in graph.notes)
    assert any("weights" in note for note in graph.notes)
    assert "node_type=item" in graph.attribute_names and "x of item[2]" in graph.attribute_names
    model = coldlink.Model(**STEPS).fit(graph, progress=False)
    new = [{"id": "me", "node_type": "user", "x of user": [0.1, 0.2, 0.3, 0.4]}]
    links = model.recommend(new, k=2, relation="buys", node_type="item")
    assert len(links) == 2 and all(target.startswith("item") for target in links["target"])
    with pytest.raises(coldlink.LoadError, match="3 names but 30 nodes"):
        coldlink.Graph.from_pyg(data, names={"user": ["a", "b", "c"]})


def test_what_is_no_graph_is_refused_in_words(arrays: Any, tables: Any) -> None:
    edges, x = arrays
    nodes, links = tables
    missing = x.copy()
    missing[3, 2] = np.nan
    read = coldlink.Graph.from_arrays
    pandas = coldlink.Graph.from_pandas
    for make, message, hint in [
        (lambda: read(edges.T, x), "has shape (2, 450)", "edges.T"),
        (lambda: read(edges.astype(float), x), "holds `float64`", "numbered from 0"),
        (lambda: read([[0, 150]], x), "row 0 of `edges` has node 150, but there are 150 nodes", "from 0"),
        (lambda: read([[-1, 0]], x), "has node -1", "from 0"),
        (lambda: read(np.empty((0, 2), int), x), "there are no links", "each link"),
        (lambda: read(edges, x[0]), "1 dimensions", "reshape"),
        (lambda: read(edges, x.astype(str)), "expected numbers", "from_pandas"),
        (lambda: read(edges, missing), "NaN in row 3, column 2", "by 0"),
        (lambda: read(edges, x[:, :0]), "no columns", "row of attributes"),
        (lambda: read(edges, x, names=["a"]), "1 names but 150 nodes", "one name"),
        (lambda: read(edges, x, names=["a"] * 150), "two nodes are named `a`", "its own name"),
        (lambda: read(sp.csr_array((2, 3)), x), "has shape (2, 3)", "column for each node"),
        (lambda: pandas(nodes, links, id="key"), "column `key` is missing", "`id`, `words`"),
        (lambda: pandas(nodes.assign(key=nodes.id), links, id="key"), "a column `id` too", "rename it"),
        (lambda: pandas(nodes, links, source="a"), "column `a` is missing", "target"),
        (lambda: pandas(nodes[1:], links), "node `p0` has a link but no row in `nodes`", 'unknown_nodes="drop"'),
        (lambda: coldlink.read("nowhere"), "`nowhere` does not exist", ""),
        (lambda: coldlink.Graph.from_pyg(SimpleNamespace(x=None, edge_index=None)), "no `x`", "attributes"),
    ]:
        with pytest.raises(coldlink.LoadError) as raised:
            make()
        assert message in raised.value.message and hint in (raised.value.hint or ""), raised.value


def test_links_of_unknown_nodes_may_be_dropped(tables: Any) -> None:
    nodes, links = tables
    assert coldlink.Graph.from_pandas(nodes[1:], links, unknown_nodes="drop").nodes == 149
    with pytest.raises(coldlink.ConfigError, match="refuse"):
        coldlink.Graph.from_pandas(nodes, links, unknown_nodes="keep")


def test_what_loading_noticed_is_kept_and_warned_of_once(folder: Path, tables: Any, arrays: Any) -> None:
    with open(folder / "edges.csv", "a") as edges:
        edges.write("p1,p1\np2,p3\np3,p2\np2,p3\n")
    nodes, links = tables
    loops = pd.DataFrame({"source": ["p1", "p2", "p3", "p2"], "target": ["p1", "p3", "p2", "p3"]})
    numbers = np.concatenate([arrays[0], [[1, 1], [2, 3], [3, 2], [2, 3]]])
    for load in (
        lambda: coldlink.read(folder),
        lambda: coldlink.Graph.from_pandas(nodes, pd.concat([links, loops])),
        lambda: coldlink.Graph.from_arrays(numbers, arrays[1]),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            graph = load()
        assert [warning.category for warning in caught] == [coldlink.LoadWarning]
        assert caught[0].filename == __file__, "it points to the line that called"
        assert str(caught[0].message) == "; ".join(graph.notes)
        assert graph.notes[0] == "ignored 1 self-loop" and "directed" in graph.notes[2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(graph)).notes == graph.notes
        assert coldlink.Graph.from_pandas(nodes, links).notes == []


def test_columns_that_become_no_attribute_are_told(tables: Any) -> None:
    nodes, links = tables
    with pytest.warns(coldlink.LoadWarning, match="left out column `empty`"):
        coldlink.Graph.from_pandas(nodes.assign(empty=None), links)


def test_an_error_in_a_file_has_its_place(folder: Path) -> None:
    with open(folder / "edges.csv", "a") as edges:
        edges.write("p1,p999\n")
    with pytest.raises(coldlink.LoadError) as raised:
        coldlink.read(folder)
    assert raised.value.path == str(folder / "edges.csv") and raised.value.line == 452
    assert 'hint: add the row, or drop such links with `unknown_nodes="drop"`' in str(raised.value)
    assert coldlink.read(folder, unknown_nodes="drop").links == 450


def test_hints_offer_only_what_python_has(folder: Path, tables: Any) -> None:
    nodes, links = tables
    wide = {f"c{column}": {"kind": "text", "hashed": True, "buckets": 1 << 22} for column in range(17)}
    for make, hint in [
        (lambda: coldlink.read(folder / "nodes.csv"), f"give the folder that holds both tables, such as `{folder}`"),
        (
            lambda: coldlink.Graph.from_pandas(nodes.assign(**dict.fromkeys(wide, "x")), links, columns=wide),
            "set some columns to `ignore` with `columns`, or lower their `buckets` and `limit` with `columns`",
        ),
        (lambda: coldlink.Model(widht=3), "did you mean `width`?"),
        (lambda: coldlink.load(folder / "no.model"), "check the path, or make a model with `Model.fit`"),
    ]:
        with pytest.raises(coldlink.Error) as raised:
            make()
        assert raised.value.hint == hint
