"""What tests share: a small world, a model trained on it, and the command line to compare with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coldlink
import world


@pytest.fixture(scope="session")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    nodes, links = world.papers()
    return pd.DataFrame(nodes), pd.DataFrame(links)


@pytest.fixture(scope="session")
def graph(tables: tuple[pd.DataFrame, pd.DataFrame]) -> coldlink.Graph:
    return coldlink.Graph.from_pandas(*tables, name="papers")


@pytest.fixture(scope="session")
def model(graph: coldlink.Graph) -> coldlink.Model:
    return coldlink.Model(preset="default", steps=300).fit(graph, progress=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The world as a folder of tables."""
    return world.write(tmp_path / "papers", *world.papers())


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray]:
    """Links as node numbers, and attributes as a dense matrix."""
    nodes, links = world.papers()
    words = sorted({word for topic in world.TOPICS for word in topic})
    x = np.array([[float(word in node["words"].split("|")) for word in words] for node in nodes], dtype=np.float32)
    edges = np.array([[int(link["source"][1:]), int(link["target"][1:])] for link in links])
    return edges, x


@pytest.fixture(scope="session")
def program() -> str:
    """The path of `coldlink`."""
    root = Path(__file__).parents[2]
    program = os.environ.get("COLDLINK", str(root / "target" / "release" / "coldlink"))
    if not Path(program).exists():
        pytest.skip(f"there is no command line at {program}: `cargo build --release`, or set COLDLINK")
    return program


@pytest.fixture(scope="session")
def command_line(program: str) -> Callable[..., str]:
    """Runs `coldlink` and gives what it prints."""

    def run(*arguments: Any) -> str:
        line = [program, "--quiet", *map(str, arguments)]
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout

    return run
