"""A process that is forked has none of its parent's threads, and works all the same."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import joblib
import pytest

import coldlink

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

SECONDS = 60
"""Time for what took for ever."""

NEW = {"id": "n1", "words": "honey|pollen"}


@pytest.fixture(autouse=True)
def no_warnings_of_forks() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*multi-threaded.*", DeprecationWarning)
        yield


def targets(model: coldlink.Model) -> list[Any]:
    found: list[Any] = model.recommend(NEW, k=5)["target"].to_list()
    return found


def trained_again(model: coldlink.Model, graph: coldlink.Graph) -> list[Any]:
    again = coldlink.Model(**model.get_params()).fit(graph, progress=False)
    return targets(again)


def in_fork(call: Callable[[], list[Any]]) -> list[Any]:
    """What a call gives in a forked process, which is ended where it hangs."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            os.write(write, repr(call()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    assert said, "the forked process has hung"
    result: list[Any] = eval(said)
    return result


def test_a_forked_process_asks_and_trains(model: coldlink.Model, graph: coldlink.Graph) -> None:
    expected = targets(model)
    assert in_fork(lambda: targets(model)) == expected
    assert in_fork(lambda: trained_again(model, graph)) == expected
    assert in_fork(lambda: in_fork(lambda: targets(model))) == expected, "a fork of a fork"
    assert targets(model) == expected, "the parent has its threads still"


def test_workers_that_are_forked_after_loading_answer(model: coldlink.Model) -> None:
    """As gunicorn's with `--preload`: a parent that has loaded and asked, and workers that ask for themselves."""
    expected = targets(model)
    for _ in range(3):
        assert in_fork(lambda: [targets(model) for _ in range(3)]) == [expected] * 3


MODEL: coldlink.Model | None = None


def asked(_: int) -> list[Any]:
    assert MODEL is not None
    return targets(MODEL)


def test_a_pool_of_processes_shares_a_model(model: coldlink.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = targets(model)
    monkeypatch.setattr(sys.modules[__name__], "MODEL", model)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(asked, range(4)).get(timeout=SECONDS) == [expected] * 4


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib_shares_a_model(backend: str, model: coldlink.Model) -> None:
    parallel = joblib.Parallel(n_jobs=2, backend=backend, timeout=SECONDS)
    assert parallel(joblib.delayed(targets)(model) for _ in range(4)) == [targets(model)] * 4
