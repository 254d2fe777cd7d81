"""The rows of a table with the places they come from; and Python values of any kinds as columns of one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.errors import listed
from cube2net.sources.io.dropped import Places

MANY = (list, tuple, set, frozenset, np.ndarray)
REFUSED = (pa.ArrowException, OverflowError, TypeError, ValueError)


@dataclass(frozen=True, eq=False)
class Rows:
    """A table and where its rows come from.

    ``places`` turns row numbers into words: ``links.csv line 7``. ``loose`` are the columns whose values
    came as text because the file could not say what they are.
    """

    name: str
    table: pa.Table
    places: Places
    loose: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Rows({self.name!r}, {self.table.num_rows:,} rows, columns {listed(self.table.column_names)})"


def column_of(values: Sequence[Any]) -> tuple[pa.Array | None, bool]:
    """Return a column, and whether its values had to become text because their kinds differ.

    Where one value is a list all become lists of texts. Values with fields inside make no column.

    >>> column, texts = column_of([1, "n.d.", True])
    >>> column.to_pylist(), texts
    (['1', 'n.d.', 'true'], True)
    """
    if any(isinstance(value, dict) for value in values):
        return None, False
    if any(isinstance(value, MANY) for value in values):
        return _lists(values), False
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if kinds <= {int, float} or len(kinds) == 1:
        try:
            return pa.array(plain, from_pandas=True), False
        except REFUSED:
            pass
    return pa.array([None if value is None else text_of(value) for value in plain], pa.string()), True


def _lists(values: Iterable[Any]) -> pa.Array | None:
    rows: list[list[str] | None] = []
    for value in values:
        if isinstance(value, set | frozenset):
            rows.append(sorted(text_of(entry) for entry in value if entry is not None))
        elif isinstance(value, MANY):
            if any(isinstance(entry, (*MANY, dict)) for entry in value):
                return None
            rows.append([text_of(entry) for entry in value if entry is not None])
        else:
            rows.append(None if value is None else [text_of(value)])
    return pa.array(rows, pa.list_(pa.string()))


def text_of(value: Any) -> str:
    """Return a value as text that UTF-8 can hold; truth values as in JSON.

    >>> text_of(True), text_of(2.5), text_of("a")
    ('true', '2.5', 'a')
    """
    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "replace").decode("utf-8")


def columns_of(named: Mapping[str, Sequence[object]]) -> tuple[dict[str, pa.Array], set[str], list[str]]:
    """Return the columns as arrays, the names of those that hold mixed values, and of those left out."""
    arrays, mixed, left_out = {}, set(), []
    for name, values in named.items():
        array, loose = column_of(values)
        if array is None:
            left_out.append(name)
            continue
        arrays[name] = array
        if loose:
            mixed.add(name)
    return arrays, mixed, left_out
