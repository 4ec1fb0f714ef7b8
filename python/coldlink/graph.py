"""A graph with attributes, from wherever it is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from coldlink import _coldlink, arrays, hetero, pickled, tables, tensors
from coldlink.errors import ConfigError, LoadError
from coldlink.notices import notice

if TYPE_CHECKING:
    import pandas

NAME_COLUMNS = ("id", "node", "name")
"""Columns that name nodes where none is said to; without one of these it is the first."""

WEIGHT_COLUMNS = (
    *("weight", "weights", "w", "edge_weight", "link_weight"),
    *("strength", "count", "counts", "frequency", "freq"),
)
TIME_COLUMNS = (
    *("time", "timestamp", "date", "datetime", "created_at", "created"),
    *("edge_time", "link_time", "year"),
)
RELATION_COLUMNS = ("relation", "rel", "relation_type", "edge_type", "link_type", "predicate", "rel_type")


Kind: TypeAlias = "str | Mapping[str, Any]"
"""What a column is: the name of a kind, or a dict with `kind` and its options."""

KINDS_HINT = 'write, for example, `{"price": "numeric", "title": {"kind": "text", "rare": 3}}`'


def read(
    path: str | os.PathLike[str],
    *,
    strict_input: bool = False,
    unknown_nodes: str = "refuse",
    columns: Mapping[str, Kind] | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    time: str | None = None,
    relation: str | None = None,
    directed: bool | None = None,
) -> Graph:
    """Reads a graph as the command line does.

    `path` is a folder with `nodes.csv` and `edges.csv` (or `.tsv`, `.jsonl`, packed or not), an `.npz` file in the
    SparseGraph layout, a folder in GraphSAGE's PPI layout, or a packed file. `strict_input` refuses cells that cannot
    be read instead of dropping these; `unknown_nodes="drop"` leaves out links of nodes that have no row. A
    `LoadWarning` says what was left out. `columns` says what columns of the node table are, where that is not to be
    found out: `{"price": "numeric", "title": {"kind": "text", "rare": 3}}`. `source` and `target` are the columns of
    the links' ends, where they are not called so; `weight`, `time` and `relation` those that say how much a link
    counts, when it appeared and what it means (`""` if there is none). `directed` says whether links run from a source
    to a target; without it, that is found out from the links.

    >>> coldlink.read(folder)
    Graph('papers', nodes=150, links=450, attributes=13)
    """
    if (source is None) != (target is None):
        raise ConfigError("one of `source` and `target` is missing", hint="give both, or neither")
    edges = _named(source=source, target=target, weight=weight, time=time, relation=relation)
    said = _kinds(_said(columns), None, edges)
    return Graph._loaded(_coldlink.Graph.read(os.fspath(path), strict_input, unknown_nodes, said, None, directed))


class Graph:
    """Links between nodes, and a row of attributes for each node.

    Made by `Graph.from_arrays`, `from_pandas`, `from_pyg`, `from_networkx` or `coldlink.read`:

    >>> graph = coldlink.Graph.from_arrays([[0, 1], [1, 2]], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], name="path")
    >>> graph
    Graph('path', nodes=3, links=2, attributes=2)
    """

    def __init__(self, inner: _coldlink.Graph) -> None:
        self._inner = inner

    @classmethod
    def _loaded(cls, inner: _coldlink.Graph) -> Graph:
        graph = cls(inner)
        notice(graph.notes)
        return graph

    @classmethod
    def from_arrays(
        cls,
        edges: Any,
        x: Any,
        *,
        weights: Any = None,
        times: Any = None,
        names: Iterable[Any] | None = None,
        name: str = "graph",
        directed: bool | None = None,
    ) -> Graph:
        """A graph from numpy arrays or scipy matrices.

        `edges` has a row of two node numbers for each link, or is a square sparse matrix, whose entries other than 1
        are weights. `x` has a row of attributes for each node, dense or sparse. Arrays are read where they lie,
        whatever their strides. `weights` say how much each link counts, 0 that it is none; `times` when it appeared,
        as numbers or `datetime64`. `names` are what nodes are called; without them nodes are numbers. `name` is what
        the graph is called in model files and reports. `directed` says whether links run from a source to a target;
        without it, that is found out from the links.

        >>> import numpy as np, scipy.sparse
        >>> edges = np.array([[0, 1], [1, 2], [2, 0]])
        >>> coldlink.Graph.from_arrays(edges, scipy.sparse.eye_array(3, format="csr"), names=["a", "b", "c"]).names
        ['a', 'b', 'c']
        >>> coldlink.Graph.from_arrays(edges, np.eye(3), weights=[1, 1, 4], directed=False).notes
        ['links have weights from 1 to 4: strong links count more']
        """
        sources, targets, own = arrays.links(edges)
        texts = None if names is None else tables.texts_of(names)
        weights = own if weights is None else arrays.numbers(weights, "weights")
        times = None if times is None else arrays.times(times)
        matrix = arrays.matrix(x)
        return cls._loaded(
            _coldlink.Graph.from_arrays((sources, targets), (weights, times), matrix, texts, name, directed)
        )

    @classmethod
    def from_pandas(
        cls,
        nodes: pandas.DataFrame,
        edges: pandas.DataFrame,
        *,
        id: str | None = None,
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
        time: str | None = None,
        relation: str | None = None,
        name: str = "graph",
        unknown_nodes: str = "refuse",
        columns: Mapping[str, Kind] | None = None,
        directed: bool | None = None,
    ) -> Graph:
        """A graph from two tables: a row with attributes for each node, and a row for each link.

        `id` is the column that names nodes: by default `id`, `node` or `name`, a named index, or else the first.
        Other columns become attributes: numbers, words of texts, values (`a|b|c` and lists are several), dates,
        vectors; `columns` says what a column is where that is not to be found out. Numbers in a column of pandas' dtype
        `category` are values, not amounts. `source` and `target` are the
        columns of the links' ends: by default those called so, or else the first two. `weight`, `time` and `relation`
        are the columns that say how much a link counts, when it appeared and what it means: by default those called
        so or alike, and `""` for none. `directed` says whether links run from a source to a target; without it, that
        is found out from the links. New rows for the model have the same columns.

        >>> import pandas as pd
        >>> nodes = pd.DataFrame({"id": ["a", "b", "c"], "year": [1999, 2001, 2000], "words": ["x|y", "y", "x"]})
        >>> edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
        >>> coldlink.Graph.from_pandas(nodes, edges).attribute_names
        ['year', 'year is missing', 'words=x', 'words=y', 'words=(other)']
        """
        nodes = _with_id_first(nodes, id)
        rows = tables.frame_columns(nodes)
        said = _named(weight=weight, time=time, relation=relation)
        links = tables.frame_columns(_ends_of(edges, source, target, said or {}))
        kinds = _kinds({**_categories(nodes.iloc[:, 1:]), **_said(columns)}, id, said)
        return cls._loaded(_coldlink.Graph.from_columns(rows, links, unknown_nodes, kinds, name, directed))

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        x: str | None = None,
        weight: str = "weight",
        time: str = "time",
        relation: str = "relation",
        name: str | None = None,
    ) -> Graph:
        """A graph of networkx.

        Nodes are called by what `str` makes of them. Their data become attributes as the columns of a table do; or
        `x` is the key of a vector that each node has. Links of a `DiGraph` are directed. `weight`, `time` and
        `relation` are the keys of what links carry, where they do; `""` leaves them out.

        >>> import networkx as nx
        >>> friends = nx.Graph([("ann", "bob"), ("bob", "cem")])
        >>> nx.set_node_attributes(friends, {"ann": [1, 0], "bob": [1, 1], "cem": [0, 1]}, "tastes")
        >>> coldlink.Graph.from_networkx(friends, x="tastes")
        Graph('graph', nodes=3, links=2, attributes=2)
        """
        name = name or getattr(graph, "name", "") or "graph"
        directed = bool(graph.is_directed())
        numbers = {node: number for number, node in enumerate(graph.nodes)}
        keys = {"weight": weight, "time": time, "relation": relation}
        if x is None:
            rows = tables.record_columns(_record(node, data) for node, data in graph.nodes(data=True))
            links = tables.record_columns(
                {"source": str(a), "target": str(b), **{as_: data[key] for as_, key in keys.items() if key in data}}
                for a, b, data in graph.edges(data=True)
            )
            return cls._loaded(_coldlink.Graph.from_columns(rows, links, "refuse", None, name, directed))
        missing = next((node for node, data in graph.nodes(data=True) if x not in data), None)
        if missing is not None:
            raise LoadError(f"node `{missing}` has no `{x}`", hint="give each node a vector of the same length")
        if any(relation in data for _, _, data in graph.edges(data=True)):
            raise LoadError("links with relations do not go with `x`", hint="leave out `x`, or give `relation=''`")
        vectors = np.array([data[x] for _, data in graph.nodes(data=True)])
        edges = np.array([(numbers[a], numbers[b]) for a, b in graph.edges()], dtype=np.int64)
        names = [str(node) for node in graph.nodes]
        weights, times = _of_links(graph, weight, 1), _of_links(graph, time, None)
        return cls.from_arrays(edges, vectors, weights=weights, times=times, names=names, name=name, directed=directed)

    @classmethod
    def from_pyg(cls, data: Any, *, names: Any = None, name: str = "graph") -> Graph:
        """A graph of PyTorch Geometric: a `Data` with `edge_index` and `x`, which may be sparse, or a `HeteroData`.

        Tensors on the CPU are read where they lie. `edge_weight`, or else an `edge_attr` of one number each, are
        weights, and `edge_time` are times. The edge types of a `HeteroData` are relations, its node types are node
        types, and the `x` of each type is a vector column. There, `names` is a dict of lists by node type; without it
        nodes are called by type and number.

        >>> from types import SimpleNamespace
        >>> data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 2]]).T, x=np.eye(3))
        >>> coldlink.Graph.from_pyg(data).links
        2
        """
        if hasattr(data, "edge_types") and hasattr(data, "node_types"):
            rows, links, columns = hetero.tables_of(data, names)
            kinds = _kinds(columns, "id")
            return cls._loaded(_coldlink.Graph.from_columns(rows, links, "refuse", kinds, name, None))
        x, edge_index = data.x, data.edge_index
        if x is None or edge_index is None:
            raise LoadError(
                "the graph has no `x` or no `edge_index`", hint="give a graph whose nodes have attributes in `x`"
            )
        weights, times = tensors.carried(data)
        return cls.from_arrays(
            tensors.array(edge_index).T, tensors.matrix(x), weights=weights, times=times, names=names, name=name
        )

    @property
    def name(self) -> str:
        """What the graph is called in model files and reports.

        >>> graph.name
        'papers'
        """
        return self._inner.name

    @property
    def nodes(self) -> int:
        """How many nodes there are.

        >>> graph.nodes == len(graph)
        True
        """
        return self._inner.nodes

    @property
    def links(self) -> int:
        """How many links there are, each counted once.

        >>> coldlink.Graph.from_arrays([[0, 1], [1, 0], [1, 1]], np.eye(2)).links
        1
        """
        return self._inner.links

    @property
    def attributes(self) -> int:
        """How many attributes a node can have.

        >>> coldlink.Graph.from_arrays([[0, 1]], [[1.0, 0.0, 2.0], [0.0, 0.0, 1.0]]).attributes
        3
        """
        return self._inner.attributes

    @property
    def names(self) -> list[tables.Name]:
        """What the nodes are called, in their order.

        >>> coldlink.Graph.from_arrays([[0, 1]], [[1.0], [2.0]]).names
        [0, 1]
        """
        names: list[tables.Name] = tables.names_array(self._inner.names(), self.nodes).tolist()
        return names

    @property
    def notes(self) -> list[str]:
        """What loading left out and what else you should know about the graph; `LoadWarning` says the same.

        >>> coldlink.Graph.from_arrays([[0, 0], [0, 1], [1, 2], [2, 1]], np.eye(3)).notes
        ['ignored 1 self-loop', 'links are directed: they run from a source to a target']
        """
        return self._inner.notes

    @property
    def attribute_names(self) -> list[str]:
        """What the attributes are called; empty for a graph from arrays.

        >>> graph.attribute_names[:2]
        ['words=bearing', 'words=coral']
        """
        return self._inner.attribute_names()

    def edges(self) -> npt.NDArray[np.uint32]:
        """Each link once, as a row of two node numbers.

        >>> coldlink.Graph.from_arrays([[2, 0], [0, 1], [1, 0]], np.eye(3)).edges().tolist()
        [[0, 1], [0, 2]]
        """
        return self._inner.edges()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph to a packed file, which `coldlink.read` and the command line open by memory map.

        >>> graph.save(folder / "papers.coldlink")
        >>> coldlink.read(folder / "papers.coldlink").links == graph.links
        True
        """
        self._inner.save(os.fspath(path))

    def split(self, folder: str | os.PathLike[str], protocol: str = "strict", *, seed: int = 0) -> None:
        """Writes a split to a folder, as `coldlink split` does: what may be trained on, validated on and tested on.

        `train.csv` has the links to train on, `validation.csv` and `test.csv` pairs of which `linked` says whether they
        are linked, and `hidden.csv` the nodes that are new in the test or in validation. Protocols are those of
        `Model.evaluate`. `coldlink.evaluate_scores` measures what a method of yours says of the test pairs.

        >>> graph.split(folder / "split", seed=1)
        >>> sorted(file.name for file in (folder / "split").iterdir())
        ['hidden.csv', 'split.toml', 'test.csv', 'train.csv', 'validation.csv']
        """
        notice(self._inner.split(os.fspath(folder), protocol, tables.count("seed", seed)))

    def __len__(self) -> int:
        return self.nodes

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "graph": pickled.written(self._inner.save)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        def read(path: str) -> _coldlink.Graph:
            return _coldlink.Graph.read(path, False, "refuse", None, state["name"], None)

        self._inner = pickled.opened(state["graph"], read)

    def __repr__(self) -> str:
        return f"Graph({self.name!r}, nodes={self.nodes}, links={self.links}, attributes={self.attributes})"


def _with_id_first(nodes: pandas.DataFrame, id: str | None) -> pandas.DataFrame:
    """The table with the column that names nodes in the first place."""
    nodes = nodes.rename(columns=str)
    columns = [str(column) for column in nodes.columns]
    if not columns:
        raise LoadError("`nodes` has no columns", hint="give a column that names nodes, and columns that describe them")
    index = nodes.index.name
    known = [column for column in columns if column.lower() in NAME_COLUMNS]
    if index is not None and index not in nodes.columns and (id == index or id is None and not known):
        nodes, id = nodes.reset_index(), str(index)
        columns = [str(column) for column in nodes.columns]
    if id is None:
        id = next((column for name in NAME_COLUMNS for column in known if column.lower() == name), columns[0])
    if id not in columns:
        raise LoadError(f"column `{id}` is missing", hint=f"columns are `{'`, `'.join(columns)}`")
    rivals = [column for column in known if column != id]
    if id.lower() not in NAME_COLUMNS and rivals or id.lower() == "name" and len(rivals) > 0:
        raise LoadError(
            f"nodes are named by `{id}`, but there is a column `{rivals[0]}` too",
            hint=f"rename it: `nodes.rename(columns={{{rivals[0]!r}: 'title'}})`",
        )
    ordered: pandas.DataFrame = nodes[[id, *(column for column in nodes.columns if column != id)]].copy(deep=False)
    ordered[id] = tables.whole_ids(ordered[id])
    return ordered


def _ends_of(
    edges: pandas.DataFrame, source: str | None, target: str | None, said: Mapping[str, str]
) -> pandas.DataFrame:
    """The table with the ends of links as whole numbers or texts."""
    if len(edges.columns) < 2:
        raise LoadError(f"`edges` has {len(edges.columns)} columns, expected two", hint="give a source and a target")
    for column in (source, target, *said.values()):
        if column and column not in edges.columns:
            hint = "give both `source` and `target`" if column in (source, target) else _columns_of(edges)
            raise LoadError(f"column `{column}` is missing", hint=hint)
    wanted = (*WEIGHT_COLUMNS, *TIME_COLUMNS, *RELATION_COLUMNS)
    carried = [column for column in edges.columns if column in said.values() or str(column).lower() in wanted]
    if source is not None or target is not None:
        for end in (source, target):
            if end not in edges.columns:
                raise LoadError(f"column `{end}` is missing", hint="give both `source` and `target`")
        carried = [column for column in carried if column not in (source, target)]
        edges = edges[[source, target, *carried]].set_axis(["source", "target", *carried], axis=1)
    ends = [column for column in edges.columns if column not in carried]
    whole: pandas.DataFrame = edges.assign(**{str(end): tables.whole_ids(edges[end]) for end in ends})
    return whole


def _categories(nodes: pandas.DataFrame) -> dict[str, Kind]:
    """The columns whose numbers are said to be values."""
    categories = {str(name): getattr(column.dtype, "categories", None) for name, column in nodes.items()}
    return {name: "categorical" for name, of in categories.items() if of is not None and of.dtype.kind in "iuf"}


def _columns_of(edges: pandas.DataFrame) -> str:
    return f"columns are `{'`, `'.join(map(str, edges.columns))}`"


def _of_links(graph: Any, key: str, default: Any) -> list[Any] | None:
    """What the links of a graph of networkx carry under a key, if any does."""
    values = [data.get(key, default) for _, _, data in graph.edges(data=True)]
    if not key or all(value is default for value in values):
        return None
    return [np.nan if value is None else value for value in values]


def _record(node: Any, data: dict[str, Any]) -> dict[str, Any]:
    if "id" in data:
        raise LoadError(f"node `{node}` has an attribute `id`", hint="rename it: nodes are their own ids")
    return {"id": str(node), **data}


def _named(**columns: str | None) -> dict[str, str] | None:
    """Columns of the edge table that someone named."""
    return {name: column for name, column in columns.items() if column is not None} or None


def _kinds(columns: Mapping[str, Kind] | None, id: str | None, edges: dict[str, Any] | None = None) -> str | None:
    """What is said of columns, as the library reads it."""
    if not columns and id is None and edges is None:
        return None
    kinds = {str(name): _kind(name, kind) for name, kind in (columns or {}).items()}
    return json.dumps({"id": id, "columns": kinds, "edges": edges})


def _said(columns: Mapping[str, Kind] | None) -> Mapping[str, Kind]:
    if columns is None or isinstance(columns, Mapping):
        return columns or {}
    raise ConfigError(f"`columns` must be a `dict`, got a `{type(columns).__name__}`", hint=KINDS_HINT)


def _kind(name: str, kind: Kind) -> dict[str, Any]:
    if isinstance(kind, str):
        return {"kind": kind}
    if isinstance(kind, Mapping):
        return dict(kind)
    raise ConfigError(
        f"`columns`: column `{name}` must have a `str` or a `dict`, got a `{type(kind).__name__}`", hint=KINDS_HINT
    )


def inner_of(graph: Graph, hint: str = "convert it, for example with `Graph.from_pandas`") -> _coldlink.Graph:
    """The compiled half of a graph."""
    if isinstance(graph, Graph):
        return graph._inner
    raise LoadError(
        f"`graph` must be a `coldlink.Graph`, got a `{type(graph).__name__}`",
        hint=hint,
    )
