"""The notebook runs from top to bottom."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart.ipynb"


def test_the_quickstart_runs(tmp_path: Path) -> None:
    notebook = nbformat.read(QUICKSTART, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    last = notebook.cells[-1].outputs[-1]["data"]["text/plain"]
    assert last == "True", "a model that was kept answers as before"
