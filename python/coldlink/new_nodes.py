"""New nodes in whatever form they come, as a model is asked about them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from coldlink import _coldlink, arrays, tables


def ask(trained: _coldlink.Trained, new: Any, names: Iterable[Any] | None) -> _coldlink.NewNodes:
    """New nodes from the path of a table, from one dict or several, a DataFrame, an array or a sparse matrix."""
    if isinstance(new, (str, os.PathLike)):
        return trained.ask_file(os.fspath(new))
    if (isinstance(new, (list, tuple)) or tables.is_frame(new)) and len(new) == 0:
        return trained.ask_arrays(np.empty((0, trained.attributes), dtype=np.float32), None)
    if isinstance(new, Mapping):
        return trained.ask_columns(tables.record_columns([new]))
    if isinstance(new, (list, tuple)) and new and isinstance(new[0], Mapping):
        return trained.ask_columns(tables.record_columns(new))
    if tables.is_frame(new) and trained.id_column is not None:
        return trained.ask_columns(tables.frame_columns(_with_names(new, trained.id_column)))
    return trained.ask_arrays(arrays.matrix(new), None if names is None else tables.texts_of(names))


def _with_names(new: Any, id_column: str) -> Any:
    """The table with its names in a column, whole numbers as such."""
    if new.index.name == id_column and id_column not in new.columns:
        new = new.reset_index()
    if id_column not in new.columns:
        return new
    named = new.copy(deep=False)
    named[id_column] = tables.whole_ids(named[id_column])
    return named
