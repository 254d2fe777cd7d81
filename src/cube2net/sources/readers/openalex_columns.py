"""Columns of parsed works as arrays: parts of records, entries of lists, numbers of ids and bytes of texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array


def part(record: pa.Array, *names: str) -> pa.Array:
    """Return a part of records, null where the record or what leads to the part is."""
    for name in names:
        record = pc.struct_field(record, name)
    return record


def entries(lists: pa.ListArray) -> tuple[Array, pa.Array]:
    """Return where the entries of each list begin, and all entries; a list that is null has none."""
    inner = lists.flatten()
    sizes = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts, inner


def numbers(texts: pa.Array | pa.ChunkedArray, letter: str) -> Array:
    """Return the numbers of ids that begin with a letter, -1 for what is none."""
    from cube2net.kernels.number_ids import numbers_of_ids

    starts, data = bytes_of(whole(texts))
    found: Array = numbers_of_ids(starts, data, ord(letter))
    return found


def bytes_of(texts: pa.StringArray) -> tuple[Array, Array]:
    """Return where every text begins in the bytes of all, and these; one that is null has none."""
    if texts.null_count:
        texts = texts.fill_null("")
    _, places, data = texts.buffers()
    starts = np.frombuffer(places, np.int32)[texts.offset : texts.offset + len(texts) + 1] if places else np.zeros(1)
    return starts.astype(np.int64), np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def flags_of(column: pa.ChunkedArray) -> Array:
    """Return flags, where null is false."""
    flags: Array = column.fill_null(False).to_numpy()
    return flags


def is_known(column: pa.Array) -> Array:
    """Return which entries are not null."""
    valid: Array = column.is_valid().to_numpy(zero_copy_only=False)
    return valid


def values_of(column: pa.Array, usual: float, kind: type[Any]) -> Array:
    """Return numbers, those that are null being the usual one."""
    values: Array = column.fill_null(usual).to_numpy(zero_copy_only=False).astype(kind)
    return values
