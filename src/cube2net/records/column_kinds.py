"""What a column of Arrow holds, in whichever of its layouts: lists, texts, values kept once each, labels of rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array


def is_list(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds lists.

    >>> is_list(pa.large_list(pa.string())), is_list(pa.list_view(pa.string())), is_list(pa.string())
    (True, True, False)
    """
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests) or "list_view" in str(kind)


def holds_text(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def decoded(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Return a column whose values are written out, where it keeps each of them once.

    >>> decoded(pa.array(["a", "b", "a"]).dictionary_encode()).type
    DataType(string)
    """
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)
    return column.dictionary_decode()


def texts_of_rows(column: pa.Array) -> tuple[Array, pa.Array]:
    """Return the texts of a column, trimmed and without empty ones, and the row of each; those of a list one by one.

    >>> rows, texts = texts_of_rows(pa.array([["b ", "a"], None, ["", "a"]]))
    >>> rows.tolist(), texts.to_pylist()
    ([0, 0, 2], ['b', 'a', 'a'])
    """
    if is_list(column.type):
        rows, column = pc.list_parent_indices(column).to_numpy().astype(np.int64), pc.list_flatten(column)
    else:
        rows = np.arange(len(column))
    column = decoded(column)
    kind = column.type if pa.types.is_large_string(column.type) else pa.string()
    texts = pc.utf8_trim_whitespace(pc.cast(column, kind))
    keep = np.asarray(pc.fill_null(pc.not_equal(texts, ""), False))
    return rows[keep], texts.filter(pa.array(keep))


def distinct_pairs(rows: Array, codes: Array, count: int) -> tuple[Array, Array]:
    """Return pairs of a row and a code below ``count``, ascending and each once.

    >>> [found.tolist() for found in distinct_pairs(np.array([0, 0, 0, 1]), np.array([2, 1, 2, 0]), 3)]
    [[0, 0, 1], [1, 2, 0]]
    """
    width = max(count, 1)
    pairs = rows.astype(np.int64) * width + codes
    if bool(np.any(pairs[1:] <= pairs[:-1])):  # a row with several
        pairs = np.sort(pairs)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    found, code = np.divmod(pairs, width)
    return found, code
