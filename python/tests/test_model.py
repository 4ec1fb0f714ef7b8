"""What a trained model answers, and how it refuses."""

from __future__ import annotations

import pickle
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import coldlink

NEW = [{"id": "n1", "words": "honey|pollen"}, {"id": "n2", "words": "reef"}]


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
    pairs = links[["new", "seen"]]
    for given in (pairs, pairs.to_numpy(), list(pairs.itertuples(index=False))):
        assert np.allclose(model.score(given, new=NEW), links["score"], atol=1e-4)
    assert np.allclose(model.predict(pairs, new=NEW), links["probability"], atol=1e-4)
    assert (links.groupby("new")["score"].diff().dropna() <= 0).all()
    lower = model.predict(pairs, new=NEW, base_rate=0.001)
    assert (lower < model.predict(pairs, new=NEW, base_rate=0.5)).all()


def test_links_are_looked_for_where_asked(model: coldlink.Model) -> None:
    both = model.recommend(NEW, k=200, among="both", exclude=["p1", "nobody"])
    assert list(both.columns) == ["new", "rank", "other", "is", "score", "probability"]
    assert set(both[both["new"] == "n1"]["other"]) == {f"p{place}" for place in range(150)} - {"p1"} | {"n2"}
    assert set(both[both["is"] == "new"]["other"]) == {"n1", "n2"}
    assert model.recommend(NEW, k=1, among="new")["other"].to_list() == ["n2", "n1"]
    assert not model.recommend(NEW, k=150, popularity=0.0)["seen"].equals(model.recommend(NEW, k=150)["seen"])
    assert len(model.recommend(NEW, k=0)) == 0


def test_pairs_of_the_graph_need_no_new_node(model: coldlink.Model) -> None:
    assert np.isfinite(model.score([("p1", "p2"), ("p3", "p3")])).all()
    assert model.score(np.empty((0, 2), dtype=object)).shape == (0,)


def test_embeddings_lie_in_one_space(model: coldlink.Model, graph: coldlink.Graph) -> None:
    seen = model.embed()
    assert seen.shape == model.embed(which="structure").shape == (graph.nodes, 256) and seen.dtype == np.float32
    assert seen.flags["C_CONTIGUOUS"] and seen.flags["WRITEABLE"]
    assert np.allclose(np.linalg.norm(model.embed(NEW), axis=1), 1, atol=1e-5)


def test_an_explanation_adds_up(model: coldlink.Model) -> None:
    why = model.explain(NEW, "p0", row=1)
    assert list(why.attributes) == ["words=reef"] and len(why.most_similar) == 5
    assert all(name in model.names for name in why.most_similar)
    total = sum(why.attributes.values()) + why.similar + why.popular + why.rest
    assert total == pytest.approx(why.score) == pytest.approx(float(model.score([("n2", "p0")], new=NEW)[0]), abs=1e-4)


def test_whole_numbers_are_names_again(arrays: Any) -> None:
    model = coldlink.Model(preset="default", steps=40).fit(coldlink.Graph.from_arrays(*arrays), progress=False)
    links = model.recommend(arrays[1][:2], k=2)
    assert links["new"].to_list() == [0, 0, 1, 1] and links["seen"].dtype.kind == "i"
    assert model.score(links[["new", "seen"]].to_numpy(), new=arrays[1][:2]).shape == (4,)
    frame = pd.DataFrame(arrays[1]).reset_index(names="id")
    edges = pd.DataFrame(arrays[0] * 10, columns=["source", "target"])
    named = coldlink.Graph.from_pandas(frame.assign(id=frame.id * 10), edges)
    model = coldlink.Model(preset="default", steps=40).fit(named, progress=False)
    assert set(model.recommend(frame[:1], k=3)["seen"]) <= set(range(0, 1500, 10))


def test_without_pandas_results_are_dicts(model: coldlink.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = model.recommend(NEW, k=2).to_dict("records")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert model.recommend(NEW, k=2) == expected


def test_values_that_nobody_has_are_told(model: coldlink.Model) -> None:
    with pytest.warns(UserWarning, match="2 values are unknown to the model"):
        model.recommend({"words": "honey|unheard|of"})
    with pytest.warns(UserWarning, match="missing column `words`"):
        model.recommend({"id": "n1"})


def test_what_cannot_be_asked_is_refused_in_words(model: coldlink.Model, graph: coldlink.Graph) -> None:
    plain = coldlink.Model(preset="paper", steps=20).fit(graph, progress=False)
    for ask, kind, message in [
        (lambda: model.recommend(np.ones((1, 3))), coldlink.LoadError, "3 columns, expected 13"),
        (lambda: model.recommend("nowhere.csv"), coldlink.LoadError, "`nowhere.csv` does not exist"),
        (lambda: model.recommend("/"), coldlink.LoadError, "is a folder"),
        (lambda: model.recommend([]), coldlink.LoadError, "dimensions"),
        (lambda: model.recommend(NEW, k=-1), coldlink.ConfigError, "`k` must be a non-negative integer, got -1"),
        (lambda: model.recommend(NEW, among="all"), coldlink.ConfigError, 'got "all"'),
        (lambda: model.recommend(NEW, popularity=2), coldlink.ConfigError, "`popularity` must be from 0 to 1, got 2"),
        (lambda: model.recommend(NEW, base_rate=1), coldlink.ConfigError, "`base_rate` must be above 0 and below 1"),
        (
            lambda: model.score([("n9", "p1")], new=NEW),
            coldlink.LoadError,
            "row 0 of `pairs`: there is no new node `n9`",
        ),
        (
            lambda: model.score([("n1", "p1"), ("n1", "p999")], new=NEW),
            coldlink.LoadError,
            "row 1 of `pairs`: there is no node `p999`",
        ),
        (lambda: model.score([("n1", "p1")]), coldlink.LoadError, "there is no node `n1`"),
        (lambda: model.score(["ab"], new=NEW), coldlink.LoadError, "row 0 of `pairs` is not a pair"),
        (
            lambda: model.score(pd.DataFrame({"a": ["n1"]}), new=NEW),
            coldlink.LoadError,
            "`pairs` must have two columns, got 1",
        ),
        (lambda: model.recommend([NEW[0], 3]), coldlink.LoadError, "got a `int`"),
        (lambda: model.recommend(pd.DataFrame([[1, 2]], columns=["a", "a"])), coldlink.LoadError, "two columns `a`"),
        (lambda: model.explain(NEW, "p999"), coldlink.LoadError, "there is no node `p999`"),
        (lambda: model.explain(NEW, "p0", row=2), coldlink.LoadError, "no row 2 among 2"),
        (lambda: model.embed(NEW, which="structure"), coldlink.ConfigError, "no structure embedding"),
        (lambda: model.embed(which="both"), coldlink.ConfigError, 'got "both"'),
        (lambda: plain.predict([("p0", "p1")]), coldlink.ConfigError, "no probabilities"),
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
    assert list(trials.columns) == ["settings", "share", "step", "auc", "ap", "prevalence", "seconds"]
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
