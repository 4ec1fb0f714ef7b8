"""What is wrong is said in Python's words, and what is empty is no mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coldlink

NOT_PYTHON = [
    "usize",
    "u32",
    "u64",
    "f64",
    "untagged",
    "enum",
    "variant",
    "sequence",
    "at line",
    "column 4",
    "the file",
]
"""Words of the program behind, and of files that nobody has written."""


def message(call: Callable[[], Any]) -> str:
    with pytest.raises(coldlink.Error) as raised:
        call()
    text = str(raised.value)
    assert not [word for word in NOT_PYTHON if word in text], text
    return text


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"steps": 1.5}, "setting `steps`: expected a non-negative integer, got 1.5"),
        ({"width": "wide"}, 'setting `width`: expected a non-negative integer, got "wide"'),
        ({"learning_rate": "fast"}, 'expected a number, got "fast"'),
        ({"batch": "many"}, "expected a number of pairs, a share such as 0.25, or `auto`"),
        ({"hidden": 3}, "expected a list of numbers, got 3"),
        ({"terms": "tfidf"}, "expected a list"),
        ({"loss": "best"}, "expected `pairs` or `softmax`, got `best`"),
    ],
)
def test_a_setting_of_the_wrong_type_says_what_it_takes(settings: dict[str, Any], expected: str) -> None:
    assert expected in message(lambda: coldlink.Model(**settings))


def test_only_what_is_similar_is_suggested() -> None:
    assert "did you mean `seed`?" in message(lambda: coldlink.Model(random_state=3))
    assert "did you mean `width`?" in message(lambda: coldlink.Model(widht=3))
    assert "did you mean" not in message(lambda: coldlink.Model(x=3))
    assert "did you mean" not in message(lambda: coldlink.Model("fast"))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"words": "nummeric"}, "column `words`: expected one of `numeric`, `boolean`"),
        ({"words": {"kind": "text", "rare": "x"}}, "column `words`: expected a non-negative integer, got string"),
        ({"words": {"kind": "text", "rar": 3}}, "column `words`: unknown option `rar`"),
        ({"words": {"rare": 3}}, "column `words`: missing option `kind`"),
        ({"words": {"kind": "text", "buckets": 0}}, "column `words`: `buckets` must be from 1"),
        ({"words": 3}, "column `words` must have a `str` or a `dict`, got a `int`"),
        (["words"], "`columns` must be a `dict`, got a `list`"),
    ],
)
def test_what_is_said_of_columns_is_refused_by_column(columns: Any, expected: str, tables: Any) -> None:
    assert expected in message(lambda: coldlink.Graph.from_pandas(*tables, columns=columns))


def test_rows_are_counted_as_python_counts(tables: Any, model: coldlink.Model) -> None:
    nodes, links = tables
    twice, stray = (
        pd.concat([nodes, nodes.iloc[[3]].assign(words="oil")]),
        pd.DataFrame([{"source": "p1", "target": "p999"}]),
    )
    assert "row 150 of `nodes`: node `p3` is in row 3 already" in message(
        lambda: coldlink.Graph.from_pandas(twice, links)
    )
    assert "row 450 of `edges`: node `p999` has a link" in message(
        lambda: coldlink.Graph.from_pandas(nodes, pd.concat([links, stray]))
    )
    assert "`nodes` has no columns" in message(lambda: coldlink.Graph.from_pandas(pd.DataFrame(), links))
    assert "`edges` has 0 columns" in message(lambda: coldlink.Graph.from_pandas(nodes, pd.DataFrame()))
    assert "`nodes` has no nodes" in message(lambda: coldlink.Graph.from_pandas(nodes.iloc[:0], links))
    assert "`where` must be a `dict`" in message(lambda: model.recommend({"words": "honey"}, where="honey"))  # type: ignore[arg-type]


def test_a_single_name_is_one_name(model: coldlink.Model) -> None:
    new = {"words": "honey|pollen"}
    best = model.recommend(new, k=1)["target"][0]
    for exclude in (best, [best], np.array([best])):
        assert best not in model.recommend(new, k=150, exclude=exclude)["target"].to_list()
    assert "`names` must be a list" in message(lambda: model.recommend(np.ones((1, 13)), names="n1"))


def test_of_nothing_there_is_nothing_to_say(model: coldlink.Model, tables: Any) -> None:
    nobody = [[], pd.DataFrame(), tables[0].iloc[:0], np.zeros((0, 13))]
    for new in nobody:
        links = model.recommend(new, k=3)
        assert len(links) == 0 and list(links.columns) == ["source", "rank", "target", "known", "score", "probability"]
        assert model.links(new) == {"links": [], "notes": []}
        assert model.embed(new).shape == (0, 256)
    for pairs in ([], pd.DataFrame(), pd.DataFrame({"source": [], "target": []}), np.zeros((0, 2))):
        assert model.score(pairs).shape == model.predict(pairs).shape == (0,)


def test_whole_numbers_that_are_categories_are_values(tables: Any) -> None:
    nodes, links = tables
    codes = nodes.assign(code=pd.Categorical([7, 8, 9] * 50), amount=range(150))
    named = coldlink.Graph.from_pandas(codes, links).attribute_names
    assert {"code=7", "code=8", "code=9"} <= set(named) and "amount" in named
    given = coldlink.Graph.from_pandas(codes, links, columns={"code": "numeric"}).attribute_names
    assert "code" in given and "code=7" not in given


def test_numbers_that_are_words_are_told(tables: Any) -> None:
    nodes, links = tables
    with pytest.warns(coldlink.LoadWarning, match="column `c`: 150 cells are not numeric"):
        graph = coldlink.Graph.from_pandas(nodes.assign(c=["ab", "cd", "ef"] * 50), links, columns={"c": "numeric"})
    assert any("column `c`" in note for note in graph.notes)
