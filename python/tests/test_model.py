"""What a trained model answers, and how it refuses."""

from __future__ import annotations

import pickle
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import coldlink

NEW = [{"id": "n1", "words": "honey|pollen"}, {"id": "n2", "words": "reef"}]
COLUMNS = ["source", "rank", "target", "known", "score", "probability"]


def test_new_nodes_come_in_any_form(model: coldlink.Model, tmp_path: Path) -> None:
    expected = model.recommend(NEW, k=4)
    frame = pd.DataFrame(NEW)
    path = tmp_path / "new.csv"
    frame.to_csv(path, index=False)
    for new in (frame, frame.set_index("id"), path, str(path), frame.assign(words=frame.words.str.split("|"))):
        pd.testing.assert_frame_equal(model.recommend(new, k=4), expected)


def test_rows_of_arrays_are_the_same_new_nodes(model: coldlink.Model, graph: coldlink.Graph) -> None:
    expected = model.recommend(NEW, k=4)
    x = np.zeros((2, graph.attributes))
    for row, node in enumerate(NEW):
        for word in node["words"].split("|"):
            x[row, graph.attribute_names.index(f"words={word}")] = 1
    for new in (x, x.astype(np.float32), sp.csr_array(x), x.astype(int).tolist()):
        pd.testing.assert_frame_equal(model.recommend(new, k=4, names=["n1", "n2"]), expected)


def test_recommendations_are_what_scores_and_predictions_say(model: coldlink.Model) -> None:
    links = model.recommend(NEW, k=150)
    pairs = links[["source", "target"]]
    for given in (pairs, pairs.to_numpy(), list(pairs.itertuples(index=False))):
        assert np.allclose(model.score(given, new=NEW), links["score"], atol=1e-4)
    assert np.allclose(model.predict(pairs, new=NEW), links["probability"], atol=1e-4)
    assert (links.groupby("source")["score"].diff().dropna() <= 0).all()
    lower = model.predict(pairs, new=NEW, base_rate=0.001)
    assert (lower < model.predict(pairs, new=NEW, base_rate=0.5)).all()


def test_links_are_looked_for_where_asked(model: coldlink.Model) -> None:
    both = model.recommend(NEW, k=200, among="both", exclude=["p1"])
    assert list(both.columns) == COLUMNS
    assert set(both[both["source"] == "n1"]["target"]) == {f"p{place}" for place in range(150)} - {"p1"} | {"n2"}
    assert set(both[~both["known"]]["target"]) == {"n1", "n2"}
    assert model.recommend(NEW, k=1, among="new")["target"].to_list() == ["n2", "n1"]
    # Known nodes without links are new candidates as well.
    explored, plain = (model.recommend(NEW, k=4, among="both", explore=share) for share in (1.0, 0.0))
    assert len(explored) == len(plain) and not explored["target"].equals(plain["target"])
    assert not model.recommend(NEW, k=150, popularity=0.0)["target"].equals(model.recommend(NEW, k=150)["target"])
    assert len(model.recommend(NEW, k=0)) == 0 and list(model.recommend(NEW, k=0).columns) == COLUMNS
    with pytest.warns(coldlink.LoadWarning, match="1 excluded name belongs to no node"):
        model.recommend(NEW, exclude=["p1", "nobody"])


def test_links_are_found_where_columns_have_the_values_asked_for(model: coldlink.Model, tables: Any) -> None:
    words = dict(zip(tables[0]["id"], tables[0]["words"].str.split("|"), strict=True))
    for where in ({"words": "hive"}, {"words": ["hive", "honey"]}):
        wanted = [where["words"]] if isinstance(where["words"], str) else where["words"]
        expected = {name for name, has in words.items() if all(word in has for word in wanted)}
        assert set(model.recommend(NEW, k=150, where=where)["target"]) == expected != set()


def test_links_as_plain_data_are_the_recommended_ones(model: coldlink.Model) -> None:
    answer = model.links(NEW, k=3, among="both", explain=True)
    links = model.recommend(NEW, k=3, among="both")
    assert answer["notes"] == [] and [list(link) for link in answer["links"]] == [[*COLUMNS, "explanation"]] * 6
    for name in ("source", "rank", "target", "known", "probability"):
        assert [link[name] for link in answer["links"]] == links[name].to_list()
    assert [np.float32(link["score"]) for link in answer["links"]] == links["score"].to_list()
    why = answer["links"][0]["explanation"]
    added = sum(reason["adds"] for reason in why["attributes"])
    added += why["other_attributes"] + why["similar_nodes"] + why["popularity"] + why["baseline"]
    assert added == pytest.approx(answer["links"][0]["score"], abs=1e-4)
    assert model.links({"words": "unheard"}, k=1)["notes"] == [
        "column `words`: 1 value is unknown to the model: `unheard`"
    ]


def test_pairs_of_the_graph_need_no_new_node(model: coldlink.Model) -> None:
    assert np.isfinite(model.score([("p1", "p2"), ("p3", "p3")])).all()
    assert model.score(np.empty((0, 2), dtype=object)).shape == (0,)


def test_the_ends_of_a_pair_are_new_or_known(model: coldlink.Model) -> None:
    new = [{"id": "p1", "words": "reef"}, NEW[0]]
    score = model.score([("n1", "p1"), ("n1", "p1", True), ("n1", "p1", False), ("p1", "n1"), ("p2", "n1")], new=new)
    assert score[0] == score[1] != score[2] == pytest.approx(score[3], abs=1e-4)
    alone = model.score([("n1", "p1")], new=NEW)
    assert score[0] == alone[0], "a target is a known node, where there is one of that name"
    frame = pd.DataFrame({"target": ["p1"] * 3, "known": [True, False, None], "source": ["n1"] * 3})
    assert model.score(frame, new=new).tolist() == score[[0, 2, 0]].tolist()


def test_embeddings_lie_in_one_space(model: coldlink.Model, graph: coldlink.Graph) -> None:
    seen = model.embed()
    assert seen.shape == model.embed(which="structure").shape == (graph.nodes, 256) and seen.dtype == np.float32
    assert seen.flags["C_CONTIGUOUS"] and seen.flags["WRITEABLE"]
    assert np.allclose(np.linalg.norm(model.embed(NEW), axis=1), 1, atol=1e-5)


def test_an_explanation_adds_up(model: coldlink.Model) -> None:
    why = model.explain(NEW, "p0", row=1)
    assert list(why.attributes) == ["words=reef"] and len(why.most_similar) == 5
    assert all(name in model.names for name in why.most_similar)
    total = sum(why.attributes.values()) + why.similar_nodes + why.popularity + why.baseline
    assert total == pytest.approx(why.score) and why.score == float(model.score([("n2", "p0")], new=NEW)[0])
    assert model.explain(NEW, "n1", 1).score == float(model.score([("n2", "n1")], new=NEW)[0])


def test_whole_numbers_are_names_again(arrays: Any) -> None:
    model = coldlink.Model(preset="default", steps=40).fit(coldlink.Graph.from_arrays(*arrays), progress=False)
    links = model.recommend(arrays[1][:2], k=2)
    assert links["source"].to_list() == [0, 0, 1, 1] and links["target"].dtype.kind == "i"
    assert model.recommend(arrays[1][:2], k=2, among="both")["target"].dtype.kind == "i"
    assert model.score(links[["source", "target"]].to_numpy(), new=arrays[1][:2]).shape == (4,)
    assert all(isinstance(name, int) for name in model.explain(arrays[1][:1], 7).most_similar)
    seven = model.score([(0, 7)], new=arrays[1][:1])
    for name in ("7", 7.0, np.int32(7), np.uint8(7)):
        assert model.score([(0, name)], new=arrays[1][:1]) == seven
    for name in ("007", "+7", 7.5):
        with pytest.raises(coldlink.LoadError, match="there is no node"):
            model.score([(0, name)], new=arrays[1][:1])
        with pytest.warns(coldlink.LoadWarning, match="1 excluded name belongs to no node"):
            assert len(model.recommend(arrays[1][:1], k=150, exclude=[name])) == 150
    assert 7 not in model.recommend(arrays[1][:1], k=150, exclude=[7])["target"].to_list()
    frame = pd.DataFrame(arrays[1]).reset_index(names="id")
    edges = pd.DataFrame(arrays[0] * 10, columns=["source", "target"])
    named = coldlink.Graph.from_pandas(frame.assign(id=frame.id * 10), edges)
    model = coldlink.Model(preset="default", steps=40).fit(named, progress=False)
    assert set(model.recommend(frame[:1], k=3)["target"]) <= set(range(0, 1500, 10))


def test_without_pandas_results_are_dicts(model: coldlink.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = model.recommend(NEW, k=2).to_dict("records")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert model.recommend(NEW, k=2) == expected


def test_a_call_warns_once_of_what_the_model_cannot_use(model: coldlink.Model) -> None:
    odd = [{"id": "n1", "words": "honey|unheard|of", "mood": "calm"}, {"id": "n2", "words": "reef", "mood": ""}]
    for call in (
        lambda: model.recommend(odd, exclude=["nobody"]),
        lambda: model.score([("n1", "p1")], new=odd),
        lambda: model.predict([("n1", "p1")], new=odd),
        lambda: model.embed(odd),
        lambda: model.explain(odd, "p1"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert [warning.category for warning in caught] == [coldlink.LoadWarning]
        assert "`mood`" in str(caught[0].message) and "2 values are unknown to the model" in str(caught[0].message)
        assert caught[0].filename == __file__, "it points to the line that called"
    with pytest.warns(UserWarning, match="missing column `words`"):
        model.recommend({"id": "n1"})


def test_an_index_is_made_where_it_is_asked_for_or_was(model: coldlink.Model, tmp_path: Path) -> None:
    path, beside = tmp_path / "papers.model", tmp_path / "papers.model.index"
    model.save(path)
    assert not beside.exists(), "150 nodes are not worth one"
    model.save(path, index=True)
    index = coldlink.load(path).index
    assert index is not None and index["nodes"] == 150 and coldlink.load(path, exact=True).index is None
    beside.write_bytes(b"the index of another model")
    model.save(path, index=False)
    with pytest.warns(UserWarning, match="every node is scored"):
        coldlink.load(path)
    model.save(path)
    assert coldlink.load(path).index == index, "one that was there is made anew"


def test_what_cannot_be_asked_is_refused_in_words(model: coldlink.Model, graph: coldlink.Graph) -> None:
    plain = coldlink.Model(preset="paper", steps=20).fit(graph, progress=False)
    ring = coldlink.Graph.from_arrays([[node, (node + 1) % 40] for node in range(40)], np.eye(2)[np.arange(40) % 2])
    raw = coldlink.Model(preset="authors-code", steps=5).fit(ring, progress=False)
    for ask, kind, message in [
        (lambda: model.recommend(np.ones((1, 3))), coldlink.LoadError, "3 attribute columns, but the model expects 13"),
        (lambda: model.recommend("nowhere.csv"), coldlink.LoadError, "`nowhere.csv` does not exist"),
        (lambda: model.recommend("/"), coldlink.LoadError, "is a folder"),
        (lambda: model.recommend(np.ones(13)), coldlink.LoadError, "dimensions"),
        (lambda: model.recommend(NEW, k=-1), coldlink.ConfigError, "`k` must be a non-negative integer, got -1"),
        (lambda: model.recommend(NEW, among="all"), coldlink.ConfigError, 'got "all"'),
        (lambda: model.recommend(NEW, popularity=2), coldlink.ConfigError, "`popularity` must be from 0 to 1, got 2"),
        (lambda: model.recommend(NEW, explore=1.5), coldlink.ConfigError, "`explore` must be from 0 to 1, got 1.5"),
        (lambda: model.recommend(NEW, base_rate=1), coldlink.ConfigError, "to 0.999999, got 1"),
        (lambda: model.predict([("p0", "p1")], base_rate=0), coldlink.ConfigError, "to 0.999999, got 0"),
        (lambda: model.evaluate(graph, popularity=-1), coldlink.ConfigError, "from 0 to 1, got -1"),
        (lambda: model.recommend(NEW, node_type="user"), coldlink.ConfigError, "node types"),
        (lambda: model.recommend(NEW, where={"words": "oil"}), coldlink.ConfigError, "no node has `words=oil`"),
        (lambda: raw.recommend([[3e38, 3e38]]), coldlink.LoadError, "numbers of new node `0` are too large"),
        (
            lambda: model.score([("n9", "p1")], new=NEW),
            coldlink.LoadError,
            "pair 1: there is no node `n9`",
        ),
        (
            lambda: model.score([("n1", "p1"), ("n1", "p999")], new=NEW),
            coldlink.LoadError,
            "pair 2: there is no node `p999`",
        ),
        (lambda: model.score([("n1", "p1")]), coldlink.LoadError, "there is no node `n1`"),
        (lambda: model.score(["ab"], new=NEW), coldlink.LoadError, "row 0 of `pairs` is not a pair"),
        (
            lambda: model.score(pd.DataFrame({"a": ["n1"]}), new=NEW),
            coldlink.LoadError,
            "`pairs` must have two columns, got 1",
        ),
        (
            lambda: model.score([("n1", "p1", "no")], new=NEW),
            coldlink.LoadError,
            "`known` must be True, False or None, got 'no'",
        ),
        (lambda: model.score([("n1", "p1", False)], new=NEW), coldlink.LoadError, "there is no new node `p1`"),
        (lambda: model.recommend([NEW[0], 3]), coldlink.LoadError, "got a `int`"),
        (lambda: model.recommend(pd.DataFrame([[1, 2]], columns=["a", "a"])), coldlink.LoadError, "two columns `a`"),
        (lambda: model.explain(NEW, "p999"), coldlink.LoadError, "there is no node `p999`"),
        (lambda: model.explain(NEW, "p0", row=2), coldlink.LoadError, "no row 2 among 2"),
        (lambda: model.embed(NEW, which="structure"), coldlink.ConfigError, "no structure embedding"),
        (lambda: model.embed(which="both"), coldlink.ConfigError, 'got "both"'),
        (lambda: plain.predict([("p0", "p1")]), coldlink.ConfigError, "gives no probabilities"),
        (lambda: model.evaluate(graph, "fair", progress=False), coldlink.Error, "`fair` is neither a protocol"),
        (lambda: model.evaluate(graph, seeds=0), coldlink.ConfigError, "`seeds` must be a positive integer, got 0"),
        (lambda: model.fit(pd.DataFrame()), coldlink.LoadError, "got a `DataFrame`"),
        (lambda: model.tune(graph, space="no.toml"), coldlink.ConfigError, "cannot read `no.toml`"),
        (lambda: model.tune(graph, trials=1), coldlink.ConfigError, "`trials` must be from 2 to 10000, got 1"),
        (lambda: coldlink.Model(width=0), coldlink.ConfigError, "`width` must be from 1 to 4096, got 0"),
        (lambda: coldlink.Model(width="wide"), coldlink.ConfigError, "`width`"),
        (lambda: coldlink.Model(width=object()), coldlink.ConfigError, "got a `object`"),
        (lambda: coldlink.Model("fast"), coldlink.ConfigError, "there is no preset `fast`"),
        (lambda: coldlink.Model(seed=-1), coldlink.ConfigError, "`seed` must be a non-negative integer, got -1"),
        (lambda: coldlink.Model(budget=-1.0), coldlink.ConfigError, "`budget` must be a non-negative number"),
        (lambda: coldlink.load(__file__), coldlink.ModelFileError, "cannot open"),
    ]:
        with pytest.raises(kind) as raised:
            ask()
        assert message in raised.value.message, raised.value


def test_all_survives_its_file_and_a_pickle(model: coldlink.Model, graph: coldlink.Graph, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    expected = model.recommend(NEW, k=3)
    copy = pickle.loads(pickle.dumps(model))
    for other in (coldlink.load(tmp_path / "model"), copy):
        pd.testing.assert_frame_equal(other.recommend(NEW, k=3), expected)
        other.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert coldlink.load(tmp_path / "model").get_params() == model.get_params()
    graph = pickle.loads(pickle.dumps(graph))
    other = coldlink.Model(preset="default", steps=300).fit(graph, progress=False)
    other.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    error = pickle.loads(pickle.dumps(coldlink.LoadError("wrong", hint="right", line=3)))
    assert (error.message, error.hint, error.line) == ("wrong", "right", 3)


def test_a_tuned_model_trains_with_what_was_found(graph: coldlink.Graph, tmp_path: Path) -> None:
    model = coldlink.Model(steps=60, width=16)
    trials = model.tune(graph, trials=4, folder=tmp_path, progress=False)
    assert list(trials.columns) == [
        "settings",
        "share",
        "step",
        "auc",
        "ap",
        "prevalence",
        "mrr",
        "recall@10",
        "seconds",
    ]
    assert model.get_params()["preset"] == "default" and model.settings["width"] == 16
    again = coldlink.Model(steps=60, width=16)
    assert again.tune(graph, trials=4, folder=tmp_path, progress=False).equals(trials)
    assert again.get_params() == model.get_params()
    assert model.fit(graph, progress=False).summary["preset"] == "default"


def test_other_threads_run_while_a_model_trains(graph: coldlink.Graph) -> None:
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    started = time.monotonic()
    coldlink.Model(preset="default", steps=400, patience=0).fit(graph, progress=False)
    elapsed = time.monotonic() - started
    stop.set()
    thread.join()
    assert counted[0] > 50 * elapsed, "a thousand a second, were there a core for it"


def test_progress_is_told_on_standard_error(graph: coldlink.Graph, capfd: pytest.CaptureFixture[str]) -> None:
    coldlink.Model(preset="default", steps=50).fit(graph)
    told = capfd.readouterr()
    assert told.out == "" and "search: 50 steps in" in told.err and "final fit: " in told.err
    coldlink.Model(preset="default", steps=50).fit(graph, progress=False)
    assert capfd.readouterr().err == ""
