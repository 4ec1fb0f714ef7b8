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


def links(edges: Any) -> tuple[Any, Any, Any]:
    """The sources and the targets of links: two columns, or the entries of a square scipy matrix. Entries other than 1
    are weights; without any, the third is `None`."""
    if is_sparse(edges):
        entries = edges.tocoo()
        if entries.shape[0] != entries.shape[1]:
            raise LoadError(
                f"the matrix of links has shape {entries.shape}", hint="give it a row and a column for each node"
            )
        kept = entries.data != 0
        whole = kept.all()
        sources, targets = (entries.row, entries.col) if whole else (entries.row[kept], entries.col[kept])
        data = entries.data if whole else entries.data[kept]
        return sources, targets, None if (data == 1).all() else numbers(data, "edges")
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
    return pairs[:, 0], pairs[:, 1], None


def numbers(values: Any, name: str) -> Any:
    """A list of numbers, one for each link."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise LoadError(
            f"`{name}` has {array.ndim} dimensions of `{array.dtype}`, expected a list of numbers",
            hint="give a number for each link",
        )
    return array.astype(np.float64, copy=False)


def times(values: Any) -> Any:
    """When links appeared: numbers as they are, dates as years with the share that has passed; NaN is unknown."""
    array = np.asarray(values)
    if array.dtype.kind != "M":
        return numbers(array, "times")
    years = array.astype("datetime64[Y]")
    starts, ends = years.astype("datetime64[us]"), (years + 1).astype("datetime64[us]")
    passed = (array.astype("datetime64[us]") - starts) / (ends - starts)
    return np.where(np.isnat(array), np.nan, years.astype(np.int64) + 1970 + passed)
