"""A trained model on links that it was not told of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import coldlink

NEW = {"id": "n1", "words": "honey|hive"}
LINKS = [("n1", "p1"), ("p3", "p40"), ("n1", "p7")]


def test_held_out_links_give_what_the_command_line_prints(
    model: coldlink.Model, folder: Path, command_line: Callable[..., str]
) -> None:
    model.save(folder / "m")
    pd.DataFrame([NEW]).to_csv(folder / "new.csv", index=False)
    pd.DataFrame(LINKS, columns=["source", "target"]).to_csv(folder / "truth.csv", index=False)
    line = ["evaluate", "--model", folder / "m", "--links", folder / "truth.csv", "--new", folder / "new.csv", "--json"]
    expected = json.loads(command_line(*line))
    assert model.evaluate_links(LINKS, NEW) == expected
    assert model.evaluate_links(pd.read_csv(folder / "truth.csv"), folder / "new.csv") == expected
    assert model.evaluate_links(folder / "truth.csv", [NEW]) == expected


def test_what_is_left_out_is_told(model: coldlink.Model, tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trained_on = tuple(tables[1].iloc[0][["source", "target"]])
    with pytest.warns(coldlink.LoadWarning, match="left out 1 link that the model was trained on"):
        report = model.evaluate_links([("n1", "p1"), trained_on], NEW)
    assert (report["links"], report["left_out"]["trained_on"]) == (1, 1)


def test_links_that_cannot_be_looked_for_are_errors(model: coldlink.Model, tmp_path: Path) -> None:
    with pytest.raises(coldlink.LoadError, match="link 2: there is neither a new node nor a known one `moon`"):
        model.evaluate_links([("n1", "p1"), ("n1", "moon")], NEW)
    with pytest.raises(coldlink.LoadError, match="there are no links to look for"):
        model.evaluate_links([], NEW)
    (tmp_path / "truth.csv").write_text("source,target\nn1,p1\nn1,moon\n")
    with pytest.raises(coldlink.LoadError, match="line 3: there is neither") as raised:
        model.evaluate_links(tmp_path / "truth.csv", NEW)
    assert raised.value.line == 3
    with pytest.raises(coldlink.LoadError, match="use `evaluate_links`"):
        model.evaluate(LINKS)  # type: ignore[arg-type]
    with pytest.raises(coldlink.NotFittedError):
        coldlink.Model().evaluate_links(LINKS)
