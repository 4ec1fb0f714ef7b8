"""Between Python's tables and those of the library: columns go in, columns come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from coldlink.errors import ConfigError, LoadError

if TYPE_CHECKING:
    import pandas

Name: TypeAlias = "str | int"
"""What a node is called: names that are all whole numbers come back as such."""


def count(name: str, value: int) -> int:
    """A whole number from 0 up, as the library's own."""
    if isinstance(value, (int, np.integer)) and 0 <= value < 2**64:
        return int(value)
    raise ConfigError(f"`{name}` must be a non-negative integer, got {value!r}")


def pandas_if_there() -> Any:
    """The module pandas, or `None`."""
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def is_frame(value: object) -> bool:
    """Whether this is a table of pandas."""
    return hasattr(value, "columns") and hasattr(value, "to_json")


def table(columns: dict[str, Any]) -> Any:
    """Columns of equal length as a DataFrame, or as a list of dicts where pandas is not installed."""
    pandas = pandas_if_there()
    if pandas is not None:
        return pandas.DataFrame(columns)
    values = [column.tolist() if isinstance(column, np.ndarray) else list(column) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def frame_columns(frame: pandas.DataFrame) -> dict[str, Any]:
    """The columns of a DataFrame: arrays where numpy has their type, else lists with `None` for what is missing."""
    columns: dict[str, Any] = {}
    for name, column in frame.items():
        if str(name) in columns:
            raise LoadError(f"the table has two columns `{name}`", hint="give each column its own name")
        columns[str(name)] = _cells(column)
    return columns


def _cells(column: pandas.Series[Any]) -> Any:
    kind = getattr(column.dtype, "kind", "O")
    if kind == "M" and hasattr(column, "dt"):
        naive = column if column.dt.tz is None else column.dt.tz_convert(None)
        return naive.to_numpy(dtype="datetime64[us]")
    if isinstance(column.dtype, np.dtype) and kind in "biuf":
        return column.to_numpy()
    return column.astype(object).where(column.notna(), None).tolist()


def record_columns(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Dicts as columns: one for each key, with `None` where a dict does not have it."""
    rows = [_row(record) for record in records]
    keys = {key: None for row in rows for key in row}
    return {key: [row.get(key) for row in rows] for key in keys}


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(record, Mapping):
        raise LoadError(
            f"a row must be a `dict`, got a `{type(record).__name__}`", hint="give each row the columns of the table"
        )
    return {str(key): value for key, value in record.items()}


def whole_ids(column: pandas.Series[Any]) -> pandas.Series[Any]:
    """Whole numbers that pandas made floats of, because one is missing, as whole numbers again."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all():
        return column.astype("Int64")
    return column


def names_array(texts: list[str] | None, count: int) -> np.ndarray[Any, Any]:
    """Names by node number: whole numbers where all of them are, else texts."""
    if texts is None:
        return np.arange(count)
    if all(_is_whole(text) for text in texts):
        return np.array(texts, dtype=np.int64)
    return np.array(texts, dtype=object)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") and len(text) < 19


def joined(known: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Names of known nodes followed by those of new ones."""
    if known.dtype != new.dtype:
        known, new = known.astype(object), new.astype(object)
    return np.concatenate([known, new])


def filters(where: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Columns and values as the library has them; a list is several values of one column."""
    if not isinstance(where, Mapping):
        raise ConfigError(
            f"`where` must be a `dict`, got a `{type(where).__name__}`",
            hint='write, for example, `{"category": "book"}`',
        )
    several = {column: value if isinstance(value, (list, tuple)) else [value] for column, value in where.items()}
    return [(str(column), _value_text(value)) for column, values in several.items() for value in values]


def _value_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def several(names: Any) -> Iterable[Any]:
    """One name or several, as several: a text is one name, whatever its letters."""
    if names is None:
        return ()
    one = isinstance(names, (str, bytes)) or not isinstance(names, Iterable)
    return (names,) if one else names


def texts_of(names: Iterable[Any]) -> list[str]:
    """Names as the library has them."""
    if isinstance(names, str):
        raise LoadError(f"`names` must be a list of names, got {names!r}", hint=f"write `[{names!r}]`")
    if isinstance(names, np.ndarray):
        names = names.tolist()
    return [_text(name) for name in names]


def _text(name: Any) -> str:
    if isinstance(name, (float, np.floating)) and float(name).is_integer():
        return str(int(name))
    return str(name).strip()


Pair: TypeAlias = "tuple[str, str, bool | None]"
"""The names of a source and a target, and whether the target is a known node, if that is said."""


def named_pairs(pairs: Any) -> list[Pair]:
    """The rows of a DataFrame, an array or a list as pairs of names."""
    if hasattr(pairs, "__len__") and len(pairs) == 0:
        return []
    if is_frame(pairs):
        columns = _in_order(pairs).astype(object)
        pairs = columns.where(columns.notna(), None).to_numpy()
    rows: Sequence[Any] = pairs.tolist() if isinstance(pairs, np.ndarray) else list(pairs)
    return [_pair(place, row) for place, row in enumerate(rows)]


GivenLink: TypeAlias = "tuple[str, str, str | None]"
"""The names of both ends of a link, and its relation, if that is said."""


def named_links(links: Any) -> list[GivenLink]:
    """The rows of a DataFrame, an array or a list as links of new nodes."""
    if is_frame(links):
        wanted = [name for name in ("source", "target", "relation") if name in links.columns]
        columns = (links[wanted] if {"source", "target"} <= set(wanted) else links).astype(object)
        links = columns.where(columns.notna(), None).to_numpy()
    rows: Sequence[Any] = links.tolist() if isinstance(links, np.ndarray) else list(links)
    return [_link(place, row) for place, row in enumerate(rows)]


def _link(place: int, row: Any) -> GivenLink:
    if not isinstance(row, (list, tuple)) or len(row) not in (2, 3):
        raise LoadError(f"row {place} of `links` is not a link", hint="give a list of links, such as `[('a', 'b')]`")
    relation = row[2] if len(row) == 3 else None
    return _text(row[0]), _text(row[1]), None if relation is None else _text(relation)


def _in_order(pairs: pandas.DataFrame) -> pandas.DataFrame:
    """The columns `source` and `target`, or else the first two, and `known` where there is a third."""
    columns = list(pairs.columns)
    for names in (["source", "target"], ["source", "target", "known"]):
        if sorted(map(str, columns)) == sorted(names):
            ordered: pandas.DataFrame = pairs[names]
            return ordered
    if len(columns) == 2:
        return pairs
    raise LoadError(
        f"`pairs` must have two columns, got {len(columns)}",
        hint="give the columns `source` and `target`, and perhaps `known`",
    )


def _pair(place: int, row: Any) -> Pair:
    if not isinstance(row, (list, tuple)) or len(row) not in (2, 3):
        raise LoadError(
            f"row {place} of `pairs` is not a pair of names", hint="give a list of pairs, such as `[('a', 'b')]`"
        )
    known = row[2] if len(row) == 3 else None
    if known is not None and not isinstance(known, (bool, np.bool_)):
        raise LoadError(f"row {place} of `pairs`: `known` must be True, False or None, got {known!r}")
    return _text(row[0]), _text(row[1]), None if known is None else bool(known)
