"""Graphs of several node types and relations of PyTorch Geometric, as the columns of two tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from coldlink import arrays, tables, tensors
from coldlink.errors import LoadError


def tables_of(
    data: Any, names: Mapping[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any], dict[str, dict[str, str]]]:
    """The columns of the nodes and of the links, and of what kind columns of nodes are."""
    node_types, edge_types = list(data.node_types), list(data.edge_types)
    vectors = {kind: tensors.array(data[kind].x) for kind in node_types if getattr(data[kind], "x", None) is not None}
    if not vectors or not edge_types:
        raise LoadError(
            "the graph has no `x` or no `edge_index`", hint="give a graph whose nodes have attributes in `x`"
        )
    called = {kind: _names(data, kind, vectors, names or {}) for kind in node_types}
    rows: dict[str, Any] = {"id": [name for kind in node_types for name in called[kind]]}
    columns: dict[str, dict[str, str]] = {}
    if len(node_types) > 1:
        rows["node_type"] = [str(kind) for kind in node_types for _ in called[kind]]
        columns["node_type"] = {"kind": "type"}
    for kind, x in vectors.items():
        column = f"x of {kind}"
        rows[column] = [row for other in node_types for row in (x if other == kind else [None] * len(called[other]))]
        columns[column] = {"kind": "vector"}
    return rows, _links(data, edge_types, called), columns


def _names(data: Any, kind: str, vectors: Mapping[str, Any], names: Mapping[str, Any]) -> list[str]:
    count = len(vectors[kind]) if kind in vectors else int(data[kind].num_nodes)
    if kind not in names:
        return [f"{kind} {place}" for place in range(count)]
    texts = tables.texts_of(names[kind])
    if len(texts) != count:
        raise LoadError(
            f"there are {len(texts)} names but {count} nodes of type `{kind}`", hint="give each node exactly one name"
        )
    return texts


def _links(data: Any, edge_types: list[tuple[str, str, str]], called: Mapping[str, list[str]]) -> dict[str, Any]:
    """Links by the names of their ends; relations of one name between several node types are told apart by these."""
    repeated = Counter(relation for _, relation, _ in edge_types)
    links: dict[str, list[Any]] = {"source": [], "target": [], "relation": [], "weight": [], "time": []}
    for source, relation, target in edge_types:
        ends = tensors.array(data[source, relation, target].edge_index)
        weights, times = tensors.carried(data[source, relation, target])
        links["source"] += _named(called[source], ends[0])
        links["target"] += _named(called[target], ends[1])
        name = str(relation) if repeated[relation] == 1 else f"{source} {relation} {target}"
        links["relation"] += [name] * ends.shape[1]
        links["weight"] += [None] * ends.shape[1] if weights is None else weights.tolist()
        links["time"] += [None] * ends.shape[1] if times is None else arrays.times(times).tolist()
    return {name: column for name, column in links.items() if any(cell is not None for cell in column)}


def _named(names: list[str], ends: np.ndarray[Any, Any]) -> list[str]:
    if len(ends) and not 0 <= ends.min() <= ends.max() < len(names):
        raise LoadError(
            f"`edge_index` has node {ends.max()}, but there are {len(names)} nodes of its type",
            hint="nodes are numbered from 0 within their type",
        )
    return [names[end] for end in ends]
