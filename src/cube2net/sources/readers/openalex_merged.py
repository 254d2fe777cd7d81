"""Ids that were merged into others: lists with ``id`` and ``merge_into_id``, one for a day."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from cube2net.array_types import Array
from cube2net.errors import SourceError, first_line, listed
from cube2net.sources.readers.openalex_columns import numbers
from cube2net.unpacking import Meter, open_raw, unpacked

OLD, NEW = "id", "merge_into_id"
CHAIN = 16
"""An id is followed so often within one list."""


class MergedIds:
    """Follows ids through lists of merged ones, the oldest list first."""

    def __init__(self, lists: Sequence[tuple[str, Path]], meter: Meter) -> None:
        self.lists, self.meter = lists, meter

    def follow(self, letter: str, ids: Array) -> Array:
        """Return what became of sorted ids, themselves where nothing did; of lists only what concerns these is kept."""
        now = ids
        for about, path in self.lists:
            if about != letter:
                continue
            for pairs in self._pairs(letter, path):
                order = np.argsort(pairs[0], kind="stable")
                old, new = pairs[0][order], pairs[1][order]
                for _ in range(CHAIN):
                    place = np.minimum(np.searchsorted(old, now), len(old) - 1)
                    gone = old[place] == now
                    if not gone.any():
                        break
                    now = np.where(gone, new[place], now)
        return now

    def merged(self, letter: str) -> Array:
        """Return the ids that were merged into others."""
        found = [old for about, path in self.lists if about == letter for old, _ in self._pairs(letter, path)]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _pairs(self, letter: str, path: Path) -> Iterator[tuple[Array, Array]]:
        gauge = self.meter.gauge(path)
        try:
            with unpacked(open_raw(path, gauge), gauge) as file:
                kinds = pv.ConvertOptions(include_columns=[OLD, NEW], column_types={OLD: "str", NEW: "str"})
                for batch in pv.open_csv(io.BufferedReader(file), convert_options=kinds):
                    old, new = (numbers(batch.column(name), letter) for name in (OLD, NEW))
                    good = (old >= 0) & (new >= 0)
                    if good.any():
                        yield old[good], new[good]
        except (pa.ArrowException, KeyError) as error:
            raise SourceError(
                f"{path.name} is no list of merged ids: {first_line(error)}, expected the columns {listed([OLD, NEW])}"
            ) from None


def gone_works(ids: Sequence[Array], items: pa.ChunkedArray) -> pa.Array:
    """Return the ids of works that are no more, having been merged into others or withdrawn, but for those of items.

    >>> gone_works([np.array([7, 5]), np.array([9, 7])], pa.chunked_array([["W9"]])).to_pylist()
    ['W5', 'W7']
    """
    every = pa.array(np.unique(np.concatenate(ids)).astype(np.int64))
    names = pc.binary_join_element_wise("W", every.cast(pa.string()), "")
    return names.filter(pc.invert(pc.is_in(names, value_set=items.filter(pc.is_in(items, value_set=names)))))
