"""The links of a cube of which only some rows of the source are left: those of a window of time, or of some pairs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.arrays import offsets
from cube2net.cube.format.parts import given
from cube2net.cube.grow.cells_and_links import pack_links
from cube2net.errors import ParameterError
from cube2net.records import Cube, LinkDetails, Links
from cube2net.records.link_details import TIME

When = int | date | datetime


def links_between(cube: Cube, first: When | None, last: When | None) -> tuple[Links, Callable[[], LinkDetails] | None]:
    """Return the links of a cube from a first time to a last one, both of them in it, and what these say one by one.

    Their weights are the sums of the rows in the window, so that they are those of a cube that is built of these rows.
    Rows without a time stay, and so do all links of a cube whose links have no times. An end that is None is open; a
    whole number is a year where links have dates, and dates are their years where links have whole numbers.
    """
    details = None if cube.details is None else cube.details()
    if details is None or TIME not in details.columns:
        return cube.links, cube.details
    return links_of_rows(details, is_between(details.rows[TIME], first, last))


def links_of_rows(details: LinkDetails, kept: Array) -> tuple[Links, Callable[[], LinkDetails]]:
    """Return the links of the rows that are marked, and what gives these rows."""
    rows = details.rows.filter(pa.array(kept)).combine_chunks()
    left = LinkDetails(offsets(details.lower[kept], len(details.indptr) - 1), rows)
    columns = {"source": left.lower, "target": left.higher, "weight": left.column("weight")}
    return pack_links(pa.table(columns), len(left.indptr) - 1), partial(given, left)


def details_without(load: Callable[[], LinkDetails], source: Array, target: Array) -> LinkDetails:
    """Return the rows of links without those of some pairs."""
    details = load()
    begin, end = details.spans(np.minimum(source, target), np.maximum(source, target))
    inside = np.zeros(len(details) + 1, np.int64)
    np.add.at(inside, begin, 1)
    np.add.at(inside, end, -1)
    return links_of_rows(details, np.cumsum(inside[:-1]) == 0)[1]()


def is_between(times: pa.ChunkedArray, first: When | None, last: When | None) -> Array:
    """Return whether each time is in a window, ends included; what has no time is in every one.

    >>> is_between(pa.chunked_array([[2001, None, 2005]]), 2002, None).tolist()
    [False, True, True]
    >>> is_between(pa.chunked_array([[date(2001, 5, 1), date(2002, 1, 1)]]), 2001, 2001).tolist()
    [True, False]
    """
    within = np.ones(len(times), dtype=bool)
    for end, compare in ((first, pc.greater_equal), (last, pc.less_equal)):
        if end is not None:
            column, value = _comparable(times, end)
            within &= np.asarray(pc.fill_null(compare(column, value), True))
    return within


def _comparable(times: pa.ChunkedArray, end: When) -> tuple[pa.ChunkedArray, pa.Scalar]:
    """Return times and an end of a window as what can be compared."""
    if isinstance(end, bool) or not isinstance(end, int | date):
        raise ParameterError(f"an end of a window is {end!r}, expected a year, a date or a time")
    if pa.types.is_timestamp(times.type) and times.type.tz is not None:
        times = pc.local_timestamp(times)
    if isinstance(end, int):
        return (times if pa.types.is_integer(times.type) else pc.year(times)), pa.scalar(end, pa.int64())
    if pa.types.is_integer(times.type):
        return times, pa.scalar(end.year, pa.int64())
    if isinstance(end, datetime) or pa.types.is_date(times.type):
        kind = pa.timestamp("us")
        return pc.cast(times, kind), pa.scalar(end, kind)
    return pc.cast(times, pa.date32()), pa.scalar(end, pa.date32())  # a day is whole
