"""Columns of every type that people have arrive as the same cells of a file would."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coldlink

ROWS = 40
ENDS = [(i, (i + step) % ROWS) for i in range(ROWS) for step in (1, 4, 7, 15)]
EDGES = pd.DataFrame({"source": [f"n{a}" for a, _ in ENDS], "target": [f"n{b}" for _, b in ENDS]})
DAYS = pd.date_range("2020-03-01 12:30", periods=ROWS, freq="37h")
NUMBERS = [i * 0.37 - 3 for i in range(ROWS)]
GAPS = [None if i % 5 == 0 else i for i in range(ROWS)]


def embedded(graph: coldlink.Graph) -> Any:
    return coldlink.Model(preset="default", steps=3).fit(graph, progress=False).embed()


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (np.arange(ROWS, dtype=np.int16), range(ROWS)),
        (np.arange(ROWS, dtype=np.uint64), range(ROWS)),
        (np.array(NUMBERS), NUMBERS),
        (np.array([0.1, 0.7, 3.25, np.nan] * 10, dtype=np.float32), ["0.1", "0.7", "3.25", ""] * 10),
        (np.arange(ROWS) % 3 == 0, ["true" if i % 3 == 0 else "false" for i in range(ROWS)]),
        (pd.array([None if i % 5 == 0 else i % 2 == 0 for i in range(ROWS)], dtype="boolean"), None),
        (pd.array(GAPS, dtype="Int64"), ["" if gap is None else gap for gap in GAPS]),
        (pd.array(["ab", "cd", None, "e|f"] * 10, dtype="string"), ["ab", "cd", "", "e|f"] * 10),
        (pd.Categorical(["red", "green", "blue", "red"] * 10), ["red", "green", "blue", "red"] * 10),
        (DAYS, DAYS.astype(str)),
        (DAYS.where(DAYS.day > 4), DAYS.astype(str).where(DAYS.day > 4, "")),
        (DAYS.tz_localize("Europe/Berlin"), [day.isoformat() for day in DAYS.tz_localize("Europe/Berlin")]),
        ([day.date() for day in DAYS], [day.date().isoformat() for day in DAYS]),
        ([["a", "b"], ["b"], [], ["c"]] * 10, ["a|b", "b", "", "c"] * 10),
        (
            [np.array([i, 1, 2], dtype=np.float32) / 4 for i in range(ROWS)],
            [f"[{i / 4}, 0.25, 0.5]" for i in range(ROWS)],
        ),
        ([(i / 4, 0.25, 0.5) for i in range(ROWS)], [f"[{i / 4}, 0.25, 0.5]" for i in range(ROWS)]),
        ([np.int64(1), 2, 2**70, "3"] * 10, ["1", "2", str(2**70), "3"] * 10),
        ([pd.NaT, pd.NA, np.nan, None, "x", "y", "z", "x"] * 5, ["", "", "", "", "x", "y", "z", "x"] * 5),
    ],
)
def test_a_column_is_what_its_file_would_be(column: Any, cells: Any, tmp_path: Path) -> None:
    nodes = pd.DataFrame({"id": [f"n{i}" for i in range(ROWS)], "size": range(ROWS), "it": column})
    written = nodes if cells is None else nodes.assign(it=list(cells))
    written.to_csv(tmp_path / "nodes.csv", index=False)
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    expected = coldlink.read(tmp_path)
    found = coldlink.Graph.from_pandas(nodes, EDGES, name=expected.name)
    assert found.attribute_names == expected.attribute_names
    assert np.array_equal(embedded(found), embedded(expected))


def test_dicts_are_rows_whatever_keys_they_have() -> None:
    days = pd.to_datetime((["2020-01-01"] * 3 + ["2021-01-01"]) * 10)
    nodes = pd.DataFrame({"id": [f"n{i}" for i in range(ROWS)], "day": days, "tags": ["x", "y", "x|y", "y"] * 10})
    graph = coldlink.Graph.from_pandas(nodes, EDGES)
    model = coldlink.Model(preset="default", steps=5).fit(graph, progress=False)
    new = [
        {"id": "n", "day": datetime.date(2020, 5, 1)},
        {"id": "m", "tags": {"x", "y"}},
        {"id": "o", "tags": np.array(["x"])},
    ]
    assert model.recommend(new, k=1)["source"].to_list() == ["n", "m", "o"]
    for wrong in ({"a": 1}, [["x"]], [{}]):
        with pytest.raises(coldlink.LoadError, match="row 1: column `tags`"):
            model.recommend([new[0], {"id": "p", "tags": wrong}])
