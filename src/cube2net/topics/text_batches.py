"""Texts and terms read from a corpus a few at a time, and work on such batches by several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import InputError

BATCH = 10_000
SLICE = 1 << 20
SPAN = 1 << 18
ANY_ORDER = 20

Texts: TypeAlias = Sequence[str | None] | pa.Array | pa.ChunkedArray
Input = TypeVar("Input")
Output = TypeVar("Output")


def text_batches(texts: Texts, size: int | None = None, rows: Array | None = None) -> Iterator[tuple[int, pa.Array]]:
    """Give the texts in their order, ``size`` or fewer at a time, with the number of the first of them.

    Of a column only the rows given (ascending) are read; then the number counts these.

    >>> [(first, part.to_pylist()) for first, part in text_batches(["a", None, "b"], 2)]
    [(0, ['a', None]), (2, ['b'])]
    """
    seen, size = 0, BATCH if size is None else size
    for first in range(0, len(texts), size):
        part = _arrow(texts, first, size)
        if rows is not None:
            here = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + size)] - first
            part = part.take(pa.array(here))
        if len(part):
            yield seen, part
            seen += len(part)


def with_text(texts: Texts) -> Array:
    """Return the rows whose text is not missing or empty.

    >>> with_text(["a", None, "", "b"]).tolist()
    [0, 3]
    """
    found = [
        first
        + np.flatnonzero(pc.fill_null(pc.greater(pc.binary_length(part), 0), False).to_numpy(zero_copy_only=False))
        for first, part in text_batches(texts)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def term_batches(terms: pa.Table, items: int, size: int | None = None) -> Iterator[tuple[int, int, pa.Table]]:
    """Give a table of terms, ``size`` items or fewer at a time: the first item, how many items, and their rows.

    In these rows items count from the first. A table whose items come in any order is gone through again and again,
    so then the batches are larger.

    >>> rows = pa.table({"item": [0, 2, 2], "term": ["a", "b", "c"], "count": [1, 1, 1]})
    >>> [(first, count, part["item"].to_pylist()) for first, count, part in term_batches(rows, 3, 2)]
    [(0, 2, [0]), (2, 1, [0, 0])]
    """
    size = BATCH if size is None else size
    spans = [terms.slice(begin, SPAN) for begin in range(0, terms.num_rows, SPAN)]
    ends = [pc.min_max(span["item"]).as_py() for span in spans]
    if any(one["max"] > other["min"] for one, other in pairwise(ends)):
        size *= ANY_ORDER
    for first in range(0, items, size):
        last = min(first + size, items)
        parts = [
            _between(span, first, last)
            for span, end in zip(spans, ends, strict=True)
            if end["min"] < last and end["max"] >= first
        ]
        part = pa.concat_tables(parts) if parts else terms.slice(0, 0)
        item = pa.array(part["item"].to_numpy() - first, pa.int32())
        yield first, last - first, part.set_column(part.column_names.index("item"), "item", item)


def take_items(terms: pa.Table, rows: Array, items: int) -> pa.Table:
    """Return the terms of some items (ascending), which get the numbers 0, 1, …, a span of rows at a time.

    >>> take_items(pa.table({"item": [5, 0, 5], "term": ["a", "b", "c"]}), np.array([2, 5]), 6).to_pylist()
    [{'item': 1, 'term': 'a'}, {'item': 1, 'term': 'c'}]
    """
    number = np.full(items, -1, dtype=np.int32)
    number[rows] = np.arange(len(rows))
    parts = [terms.slice(0, 0)]
    for begin in range(0, terms.num_rows, SPAN):
        span = terms.slice(begin, SPAN)
        item = number[span["item"].to_numpy()]
        renumbered = span.set_column(span.column_names.index("item"), "item", pa.array(item))
        parts.append(renumbered.filter(pa.array(item >= 0)))
    return pa.concat_tables([part.cast(terms.schema) for part in parts])


def with_terms(terms: pa.Table, items: int) -> Array:
    """Return the items that a table of terms names.

    >>> with_terms(pa.table({"item": [5, 0, 5]}), 6).tolist()
    [0, 5]
    """
    named = np.zeros(items, dtype=bool)
    for begin in range(0, terms.num_rows, SPAN):
        named[terms["item"].slice(begin, SPAN).to_numpy()] = True
    return np.flatnonzero(named)


def in_order(work: Callable[[Input], Output], inputs: Iterable[Input], *, workers: int) -> Iterator[Output]:
    """Give what the work makes of every input, in order; with several threads only a few inputs are held at once.

    >>> list(in_order(len, ["a", "bb", "ccc"], workers=2))
    [1, 2, 3]
    """
    if workers <= 1:
        yield from map(work, inputs)
        return
    waiting: deque[Future[Output]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for each in inputs:
                waiting.append(pool.submit(work, each))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def look_up(values: Array, at: Array) -> Array:
    """Return ``values[at]``, a slice at a time: NumPy makes 64 bits of every number that it looks up by.

    >>> look_up(np.array([5, 6]), np.array([1, 0, 1], dtype=np.int32)).tolist()
    [6, 5, 6]
    """
    found = np.empty(len(at), dtype=values.dtype)
    for first in range(0, len(at), SLICE):
        found[first : first + SLICE] = values[at[first : first + SLICE]]
    return found


def occurrences(ids: Array, size: int) -> Array:
    """Return how often each number below ``size`` occurs, counted a slice at a time.

    >>> occurrences(np.array([2, 0, 2], dtype=np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    total = np.zeros(size, dtype=np.int64)
    for first in range(0, len(ids), SLICE):
        total += np.bincount(ids[first : first + SLICE], minlength=size)
    return total


def _arrow(texts: Texts, first: int, size: int) -> pa.Array:
    """Return some of the texts as an Arrow array."""
    try:
        if isinstance(texts, pa.Array | pa.ChunkedArray):
            part = texts.slice(first, size)
            if isinstance(part, pa.ChunkedArray):
                part = part.chunk(0) if part.num_chunks == 1 else part.combine_chunks()
            return part.cast(pa.large_string())
        return pa.array(texts[first : first + size], pa.large_string())
    except (pa.ArrowException, UnicodeError) as error:
        last = min(first + size, len(texts)) - 1
        raise InputError(f"texts {first:,} to {last:,} hold what is neither a text nor missing: {error}") from error


def _between(span: pa.Table, first: int, last: int) -> pa.Table:
    item = span["item"].to_numpy()
    return span.filter(pa.array((item >= first) & (item < last)))
