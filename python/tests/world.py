"""A small made-up world of papers: topics, words of their own, and links that stay within a topic mostly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

TOPICS = [
    ["honey", "pollen", "hive", "queen"],
    ["tide", "reef", "current", "coral"],
    ["lathe", "gear", "bearing", "torque"],
]


def papers(count: int = 150, seed: int = 0) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Rows of nodes and rows of links."""
    random = np.random.default_rng(seed)
    topics = [place % len(TOPICS) for place in range(count)]
    words = [sorted(set(random.choice(TOPICS[topic], 2).tolist())) for topic in topics]
    nodes = [{"id": f"p{place}", "words": "|".join(words[place])} for place in range(count)]
    links = set()
    while len(links) < 3 * count:
        a, b = sorted(random.integers(count, size=2).tolist())
        if a != b and (topics[a] == topics[b] or random.random() < 0.03):
            links.add((a, b))
    return nodes, [{"source": f"p{a}", "target": f"p{b}"} for a, b in sorted(links)]


def write(folder: Path, nodes: list[dict[str, Any]], links: list[dict[str, str]]) -> Path:
    """The same as a folder of tables."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in [("nodes", nodes), ("edges", links)]:
        lines = [",".join(rows[0]), *(",".join(str(cell) for cell in row.values()) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder
