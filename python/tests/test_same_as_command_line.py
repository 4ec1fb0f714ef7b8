"""The same files and the same numbers as the command line, bit for bit."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import coldlink

Run = Callable[..., str]
SETTINGS = ["--preset", "default", "--set", "steps=200", "--set", "width=32", "--seed", "3"]
PARAMS: dict[str, Any] = {"preset": "default", "steps": 200, "width": 32, "seed": 3}


def model_bytes(model: coldlink.Model, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


@pytest.fixture
def npz(arrays: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> Path:
    edges, x = arrays
    both = np.concatenate([edges, edges[:, ::-1]])
    parts = {"adj": sp.csr_array((np.ones(len(both)), both.T), shape=(len(x), len(x))), "attr": sp.csr_array(x)}
    flat = {
        f"{name}_{part}": getattr(matrix, part)
        for name, matrix in parts.items()
        for part in ("data", "indices", "indptr", "shape")
    }
    np.savez(tmp_path / "small.npz", **flat)
    return tmp_path / "small.npz"


def test_the_model_file_of_tables(folder: Path, tables: Any, command_line: Run, tmp_path: Path) -> None:
    command_line("train", folder, "-o", tmp_path / "cli.model", *SETTINGS)
    expected = (tmp_path / "cli.model").read_bytes()
    for graph in (coldlink.read(folder), coldlink.Graph.from_pandas(*tables, name="papers")):
        model = coldlink.Model(**PARAMS).fit(graph, progress=False)
        assert model_bytes(model, tmp_path / "python.model") == expected


def test_the_model_file_of_arrays(npz: Path, arrays: Any, command_line: Run, tmp_path: Path) -> None:
    command_line("train", npz, "-o", tmp_path / "cli.model", *SETTINGS)
    expected = (tmp_path / "cli.model").read_bytes()
    for graph in (coldlink.read(npz), coldlink.Graph.from_arrays(*arrays, name="small")):
        model = coldlink.Model(**PARAMS).fit(graph, progress=False)
        assert model_bytes(model, tmp_path / "python.model") == expected


def test_the_model_file_of_a_search(folder: Path, command_line: Run, tmp_path: Path) -> None:
    command_line("train", folder, "-o", tmp_path / "cli.model", "--set", "steps=50", "--budget", "60s")
    model = coldlink.Model(steps=50, budget=60.0).fit(coldlink.read(folder), progress=False)
    assert model_bytes(model, tmp_path / "python.model") == (tmp_path / "cli.model").read_bytes()
    assert model.summary["preset"] == "auto"


@pytest.mark.parametrize("indexed", [False, True])
def test_links_of_new_nodes(indexed: bool, folder: Path, command_line: Run, tmp_path: Path) -> None:
    path = tmp_path / "cli.model"
    command_line("train", folder, "-o", path, *SETTINGS)
    if indexed:
        command_line("index", path)
    new = pd.DataFrame({"id": ["n1", "n2"], "words": ["honey|pollen", "reef"]})
    new.to_csv(tmp_path / "new.csv", index=False)
    printed = command_line("predict", path, "--new", tmp_path / "new.csv", "--format", "jsonl")
    expected = pd.DataFrame(map(json.loads, io.StringIO(printed)))
    found = coldlink.load(path).recommend(new)
    assert list(found.columns) == list(expected.columns)
    pd.testing.assert_frame_equal(found, expected.astype({"score": np.float32}), check_dtype=False, check_exact=True)


def test_an_index_that_cannot_be_used_is_told(folder: Path, command_line: Run, tmp_path: Path) -> None:
    path = tmp_path / "cli.model"
    command_line("train", folder, "-o", path, *SETTINGS)
    path.with_name("cli.model.index").write_bytes(b"no index")
    with pytest.warns(UserWarning, match="every node is scored"):
        told = coldlink.load(path)
    new = [{"words": "honey"}]
    assert told.recommend(new).equals(coldlink.load(path, exact=True).recommend(new))


def test_embeddings(folder: Path, command_line: Run, tmp_path: Path) -> None:
    path = tmp_path / "cli.model"
    command_line("train", folder, "-o", path, *SETTINGS)
    command_line("embed", path, "-o", tmp_path / "all.npy")
    assert np.array_equal(np.load(tmp_path / "all.npy"), coldlink.load(path).embed())


@pytest.mark.parametrize("protocol", ["strict", "transductive"])
def test_an_evaluation(folder: Path, command_line: Run, protocol: str) -> None:
    asked = ["--preset", "default", "--set", "steps=100", "--seeds", "2", "--protocol", protocol]
    expected = json.loads(command_line("evaluate", folder, "--json", *asked))
    model = coldlink.Model(preset="default", steps=100)
    found = model.evaluate(coldlink.read(folder), protocol, seeds=2, progress=False)
    for report in (expected, found):
        for seed in report["seeds"]:
            del seed["train_seconds"], seed["search_seconds"]
    assert found == expected


def test_a_search_for_settings(folder: Path, command_line: Run, tmp_path: Path) -> None:
    command_line("tune", folder, "-o", tmp_path / "found.toml", "--trials", "3", "--set", "steps=60")
    model = coldlink.Model(steps=60)
    model.tune(coldlink.read(folder), trials=3, progress=False)
    assert model.settings == coldlink.Model(preset=str(tmp_path / "found.toml")).settings


def test_real_graphs(command_line: Run, tmp_path: Path) -> None:
    data = Path(os.environ.get("DEAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (data / "cora.npz").exists():
        pytest.skip(f"there is no cora.npz in {data}: set DEAL_DATA")
    command_line("train", data / "cora.npz", "-o", tmp_path / "cli.model", "--preset", "default", "--set", "steps=60")
    model = coldlink.Model(preset="default", steps=60).fit(coldlink.read(data / "cora.npz"), progress=False)
    assert model_bytes(model, tmp_path / "python.model") == (tmp_path / "cli.model").read_bytes()
