"""New nodes in whatever form they come, as a model sees them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from coldlink import _coldlink, arrays, tables


def meet(trained: _coldlink.Trained, new: Any, names: Iterable[Any] | None) -> _coldlink.NewNodes:
    """New nodes from the path of a table, from one dict or several, a DataFrame, an array or a sparse matrix."""
    met = _meet(trained, new, None if names is None else tables.texts_of(names))
    for note in met.notes:
        # Told where the model was asked.
        warnings.warn(note, stacklevel=4)
    return met


def _meet(trained: _coldlink.Trained, new: Any, names: list[str] | None) -> _coldlink.NewNodes:
    if isinstance(new, (str, os.PathLike)):
        return trained.meet_file(os.fspath(new))
    if isinstance(new, Mapping):
        return trained.meet_lines(tables.record_lines([new]))
    if isinstance(new, (list, tuple)) and new and isinstance(new[0], Mapping):
        return trained.meet_lines(tables.record_lines(new))
    if tables.is_frame(new) and trained.id_column is not None:
        return trained.meet_lines(tables.frame_lines(_with_names(new, trained.id_column)))
    return trained.meet_arrays(arrays.matrix(new), names)


def _with_names(new: Any, id_column: str) -> Any:
    """The table with its names in a column, whole numbers as such."""
    if new.index.name == id_column and id_column not in new.columns:
        new = new.reset_index()
    if id_column not in new.columns:
        return new
    named = new.copy(deep=False)
    named[id_column] = tables.whole_ids(named[id_column])
    return named
