"""Methods that coldlink has never heard of, on its splits; and the page that shows one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import coldlink

PAGE = Path(__file__).parents[2] / "docs" / "referee.md"


def test_the_method_of_the_page_beats_chance_and_gets_the_report_of_the_command_line(
    graph: coldlink.Graph, folder: Path, monkeypatch: pytest.MonkeyPatch, command_line: Callable[..., str]
) -> None:
    monkeypatch.chdir(folder.parent)
    graph.split("split")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    report = names["report"]
    random = report["baselines"]["random"]
    assert report["auc"] > 0.75 and report["mrr"] > random["mrr"]
    assert random["difference"]["auc"]["interval"][0] > 0
    lines = [
        line.split()[1:]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("    coldlink evaluate")
    ]
    assert len(lines) == 2
    printed, text = (command_line(*line) for line in lines)
    assert "your method less" in printed
    assert json.loads(text) == {**report, "method": "scores.csv"}


def test_pairs_and_lists_come_as_tables_dicts_and_files(graph: coldlink.Graph, tmp_path: Path) -> None:
    graph.split(tmp_path / "split")
    test = pd.read_csv(tmp_path / "split" / "test.csv").rename(columns={"linked": "score"})
    test.to_csv(tmp_path / "scores.csv", index=False)
    with pytest.warns(coldlink.LoadWarning, match="lists are not measured: "):
        report = coldlink.evaluate_scores(graph, tmp_path / "split", test)
    with pytest.warns(coldlink.LoadWarning):
        assert coldlink.evaluate_scores(graph, str(tmp_path / "split"), tmp_path / "scores.csv") == report
        assert coldlink.evaluate_scores(graph, tmp_path / "split", test.to_dict("list")) == report
        assert coldlink.evaluate_scores(graph, "strict", test, seed=0)["auc"] == 1.0
    linked = test[test["score"] == 1]
    lists = linked.assign(rank=linked.groupby("source").cumcount() + 1)[["source", "rank", "target"]]
    with pytest.warns(coldlink.LoadWarning, match="a true link beyond them counts as not found"):
        both = coldlink.evaluate_scores(graph, tmp_path / "split", [lists, test], method="oracle")
    assert (both["auc"], both["mrr"], both["ndcg@10"], both["method"]) == (1.0, 1.0, 1.0, "oracle")


def test_scores_that_do_not_fit_are_errors(graph: coldlink.Graph, tmp_path: Path) -> None:
    def check(scores: Any, message: str) -> None:
        with pytest.raises(coldlink.LoadError, match=message) as raised:
            coldlink.evaluate_scores(graph, tmp_path / "split", scores)
        assert raised.value.hint is not None

    graph.split(tmp_path / "split")
    columns = {"source": ["p1", "p1"], "target": ["p2", "p3"]}
    check({**columns, "score": [1.0, 2.0]}, "test pairs have no score, such as `p")
    check({**columns, "score": [1.0, None]}, "row 1 of `scores`: column `score` must hold numbers, got ``")
    check({**columns, "rank": [0, 1]}, "row 0 of `scores`: column `rank` must hold whole numbers from 1, got `0`")
    check({**columns, "target": ["p2", "moon"], "score": [1, 2]}, "row 1 of `scores`: there is no node `moon`")
    check({**columns, "weight": [1, 2]}, "there is no column `score`")
    check([("p1", "p2", 0.5)], "`scores` must be a table, got a `tuple`")
    check([], "there are no scores")
