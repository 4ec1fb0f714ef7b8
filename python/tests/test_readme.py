"""What the READMEs show runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import coldlink

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("readme", ["README.md", "python/README.md"])
def test_python_in_a_readme_runs(
    readme: str, tables: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, edges = tables
    tomorrow = pd.DataFrame({"id": ["n1"], "words": ["honey|hive"]})
    for name, table in [("nodes", nodes), ("edges", edges), ("tomorrow", tomorrow)]:
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / readme).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, Any] = {"coldlink": coldlink, "nodes": nodes, "edges": edges, "tomorrow": tomorrow}
    for block in blocks:
        # A search for settings takes minutes.
        exec(block.replace("coldlink.Model()", 'coldlink.Model("default", steps=50)'), names)
