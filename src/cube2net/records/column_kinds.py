"""What a column of Arrow holds, in whichever of its layouts: lists, texts, and values that are kept once each."""

from __future__ import annotations

import pyarrow as pa


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
