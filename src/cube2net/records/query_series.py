"""Series and indexes of pandas and Polars as a query: their values name objects, or their index does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cube2net.errors import QueryError, some
from cube2net.records.keys import is_missing, is_row, key_of

OBJECTS = ("object", "id", "node")
"""What a column of objects is called."""
UNKNOWN = -1
"""The row of a value that names no object."""
Find = Callable[[Sequence[Any]], list[int]]
"""Gives the row of each of the first of some values: UNKNOWN where it names no object, less where it names several."""


def is_series(thing: Any) -> bool:
    """Return whether something is a series or an index of pandas or Polars; neither is loaded to see it."""
    kinds = [one for one in type(thing).__mro__ if one.__module__.partition(".")[0] in ("pandas", "polars")]
    return any(one.__name__ in ("Series", "Index") for one in kinds)


def asked_in_series(series: Any, find: Find | None, texts: bool) -> tuple[list[Any], list[Any] | None]:
    """Return the objects that a series lists, and their labels, None for none.

    Its whole numbers are ids, never rows; ``texts`` says that ids are texts. Where its values name nothing and its
    index names objects, texts are labels of these, and numbers, such as counts, are refused.
    """
    values = [key_of(value) for value in series.to_list()]
    keys = [str(value) if texts and is_row(value) else value for value in values]
    present = [value for value in values if not is_missing(value)]
    if find is None or not present:
        return keys, None
    index = _names(series)
    by_index = [] if index is None else find(index)
    told = bool(by_index) and sum(row != UNKNOWN for row in by_index) > len(by_index) / 2
    if all(isinstance(value, str) for value in present):
        if told and all(row == UNKNOWN for row in find(keys)):
            return list(index or ()), keys
    elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        rows = find(keys)
        if told and rows != by_index:
            raise QueryError(
                f"the query is a series of numbers ({some(present)}) whose index names objects: give series.index, "
                f"series.to_dict() where the numbers are labels, or series.to_list() where they are ids"
            )
        if texts and all(map(is_row, present)) and all(row == UNKNOWN for row in rows):
            raise QueryError(
                f"the query is {_kind(series)} of whole numbers ({some(present)}), and the ids of this cube are texts: "
                f"give ids or names, or row numbers as a list"
            )
    return keys, None


def _names(series: Any) -> list[Any] | None:
    """Return the index of a series where that may name objects: it holds texts, or has a name."""
    index: Any = getattr(series, "index", None)
    if not is_series(index) or getattr(index, "nlevels", 1) > 1:
        return None
    if str(series.name).strip().casefold() in OBJECTS:
        return None
    names: list[Any] = index.to_list()
    return names if index.name is not None or all(isinstance(name, str) for name in names) else None


def _kind(series: Any) -> str:
    return "a series" if type(series).__name__ == "Series" else "an index"
