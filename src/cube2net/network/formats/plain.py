"""A network as plain Python values, in the shapes that every format shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.errors import InputError, some
from cube2net.records import Network

LINK_KINDS = ("link", "membership")


def rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a table one by one, a missing text as an empty one.

    >>> list(rows(pa.table({"name": ["a", None], "cells": [[1], []]})))
    [('a', [1]), ('', [])]
    """
    for batch in table.to_batches(max_chunksize=4096):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield tuple("" if value is None else value for value in row)


def texts(table: pa.Table, column: str) -> list[str]:
    """Return a column of texts, a missing one as an empty one."""
    return [value or "" for value in table[column].to_pylist()]


def written(weights: Iterable[float]) -> list[str]:
    """Return every weight in the fewest digits that still read back as the same 32-bit number.

    >>> written([0.1, 2.0])
    ['0.1', '2.0']
    """
    return [str(value) for value in np.fromiter(weights, np.float32)]


def ranks(cells: Sequence[int]) -> str:
    """Return the ranks of cells as one text, for formats without lists.

    >>> ranks([1, 12])
    '1 12'
    """
    return " ".join(map(str, cells))


def about(network: Network) -> dict[str, Any]:
    """Return what the ranks of cells stand for: the form, the dimensions, and the cells in the order chosen."""
    return {
        "form": network.form,
        "dimensions": list(network.dimensions),
        "selected": [" · ".join(labels) for labels in network.labels],
    }


def distinct(ids: Sequence[str], advice: str) -> Sequence[str]:
    """Return the ids as they are; raise when two nodes have the same one, for they would become one node."""
    if len(set(ids)) < len(ids):
        twice = [key for key, count in Counter(ids).items() if count > 1]
        raise InputError(f"several nodes of the network have the same id: {some(twice)} ({advice})")
    return ids
