"""What the source says of the links between an object and others: their kinds, and when they were."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.records import Cube
from cube2net.records.link_details import KIND, TIME

Time = str | int | float | None


@dataclass(frozen=True)
class GivenLink:
    """The kinds of the links between two objects, and when the first and the last of them was."""

    kinds: tuple[str, ...] = ()
    first: Time = None
    last: Time = None


def given_links(cube: Cube, row: int, others: Array) -> list[GivenLink]:
    """Return what the source says of the links between an object and each of some others."""
    if cube.details is None or not len(others):
        return [GivenLink()] * len(others)
    details = cube.details()
    begin, end = details.spans(np.minimum(others, row), np.maximum(others, row))
    told = details.rows.select([name for name in (KIND, TIME) if name in details.columns])
    found = []
    for first, last in zip(begin.tolist(), end.tolist(), strict=True):
        part = told.slice(first, last - first).to_pydict()
        kinds = {kind for kind in part.get(KIND, ()) if kind}
        times = sorted(when for when in part.get(TIME, ()) if when is not None)
        found.append(GivenLink(tuple(sorted(kinds)), *map(plain_time, (times[0], times[-1]) if times else ())))
    return found


def plain_time(value: Any) -> Time:
    """Return when something was as JSON has it; midnight is the day alone, as frames write days.

    >>> plain_time(datetime(2023, 8, 13)), plain_time(datetime(2023, 8, 13, 9, 30)), plain_time(2023)
    ('2023-08-13', '2023-08-13T09:30:00', 2023)
    """
    if isinstance(value, datetime) and value.tzinfo is None and value.time() == time.min:
        value = value.date()
    return value.isoformat() if isinstance(value, date) else value
