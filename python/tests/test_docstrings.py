"""Every public name has an example in its docstring, and every example is run."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coldlink

MODULES = ["", ".errors", ".explanation", ".graph", ".model", ".progress", ".referee"]


def examples() -> list[doctest.DocTest]:
    modules = [importlib.import_module(f"coldlink{name}") for name in MODULES]
    found = [test for module in modules for test in doctest.DocTestFinder().find(module)]
    return [test for test in found if test.examples]


def public() -> list[tuple[str, Any]]:
    names = [(name, getattr(coldlink, name)) for name in coldlink.__all__]
    methods = [
        (f"{name}.{method}", value)
        for name, owner in names
        if name in ("Graph", "Model")
        for method, value in inspect.getmembers(owner)
        if not method.startswith("_")
    ]
    return names + methods


@pytest.mark.parametrize("test", examples(), ids=lambda test: test.name)
def test_an_example_gives_what_it_says(
    test: doctest.DocTest,
    tables: tuple[pd.DataFrame, pd.DataFrame],
    graph: coldlink.Graph,
    model: coldlink.Model,
    folder: Path,
) -> None:
    nodes, links = tables
    test.globs = {"coldlink": coldlink, "np": np, "pd": pd, "papers": nodes, "citations": links}
    test.globs |= {"graph": graph, "model": model, "folder": folder}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    assert runner.run(test, clear_globs=False).failed == 0


def test_a_public_name_has_an_example() -> None:
    assert [name for name, value in public() if ">>>" not in (inspect.getdoc(value) or "")] == []
