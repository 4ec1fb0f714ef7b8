"""Arrays in the few kinds that the library reads; nothing is copied that is of such a kind already."""

from __future__ import annotations

from typing import Any

import numpy as np

from coldlink.errors import LoadError


def is_sparse(value: object) -> bool:
    """Whether this is a matrix or array of scipy."""
    return hasattr(value, "tocsr") and hasattr(value, "tocoo")


def matrix(x: Any) -> Any:
    """A matrix of attributes: an array of two dimensions, or a scipy matrix in compressed rows."""
    if is_sparse(x):
        rows = x.tocsr()
        if rows.dtype in (np.float32, np.float64) and rows.indptr.dtype == rows.indices.dtype:
            return rows
        rows = rows.astype(np.float64 if rows.dtype in (np.int64, np.uint64) else np.float32, copy=False)
        rows.indptr = rows.indptr.astype(rows.indices.dtype, copy=False)
        return rows
    dense = np.asarray(x)
    if dense.dtype.kind not in "fiub":
        raise LoadError(
            f"`x` holds `{dense.dtype}`, expected numbers",
            hint="encode text as numbers first, or pass a table to `Graph.from_pandas`",
        )
    if dense.ndim != 2:
        raise LoadError(
            f"`x` has {dense.ndim} dimensions, expected 2",
            hint="give a row for each node: `x.reshape(1, -1)`",
        )
    if dense.dtype in (np.float32, np.float64):
        return dense
    return dense.astype(np.float64 if dense.dtype.itemsize > 4 else np.float32)


def ends(edges: Any) -> tuple[Any, Any]:
    """The sources and the targets of links: two columns, or the entries of a square scipy matrix."""
    if is_sparse(edges):
        entries = edges.tocoo()
        if entries.shape[0] != entries.shape[1]:
            raise LoadError(
                f"the matrix of links has shape {entries.shape}", hint="give it a row and a column for each node"
            )
        kept = entries.data != 0
        if kept.all():
            return entries.row, entries.col
        return entries.row[kept], entries.col[kept]
    pairs = np.asarray(edges)
    if pairs.size == 0:
        pairs = pairs.reshape(0, 2).astype(np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        hint = "give `edges.T`" if pairs.ndim == 2 and pairs.shape[0] == 2 else "give a row for each link"
        raise LoadError(f"`edges` has shape {pairs.shape}, expected two columns", hint=hint)
    if pairs.dtype.kind not in "iu":
        raise LoadError(
            f"`edges` holds `{pairs.dtype}`, expected integers",
            hint="nodes are numbered from 0; `Graph.from_pandas` takes names",
        )
    if pairs.dtype not in (np.int32, np.int64):
        pairs = pairs.astype(np.int64)
    return pairs[:, 0], pairs[:, 1]
