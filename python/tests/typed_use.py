"""What the type checker makes of ordinary use; `mypy --strict` reads it, nothing runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import coldlink


def use(edges: npt.NDArray[np.int64], x: npt.NDArray[np.float32], path: Path) -> dict[str, float]:
    graph: coldlink.Graph = coldlink.Graph.from_arrays(edges, x, names=["a", "b"], name="small")
    model: coldlink.Model = coldlink.Model("default", seed=3, width=32).fit(graph, progress=False)
    model.set_params(width=16).clone().save(path, index=False)
    scores: npt.NDArray[np.float32] = coldlink.load(path).score([("a", "b")])
    probabilities: npt.NDArray[np.float64] = model.predict([("a", "b")], base_rate=0.1)
    report: dict[str, Any] = model.evaluate(coldlink.read(path), "strict", seeds=2)
    links = model.recommend(x, k=3, among="both", exclude=["a"], node_type="item", where={"category": "book"})
    answer: dict[str, Any] = model.links(x, k=3, explain=True)
    notes: list[str] = graph.notes
    index: dict[str, Any] | None = model.index
    assert len(scores) + len(probabilities) + len(report) + len(links) + len(model.embed(x)) + len(answer)
    assert index is not None and notes
    try:
        why: coldlink.Explanation = model.explain(x, "a")
    except coldlink.LoadError as error:
        line: int | None = error.line
        assert line is not None and error.hint is not None
        raise
    return why.attributes
