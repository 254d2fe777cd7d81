"""Tables in plain values: whatever a column holds becomes numbers, truths and texts that every format can hold.

Dates and times become texts as ISO 8601 writes them, categories their texts, short numbers the decimal of fewest digits
that reads back as the same; infinity and what is no number are as good as missing. Lists of these stay lists; what is
nested deeper becomes JSON. A value that is missing is None.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.arrow_values import arrow_numbers, values_of
from cube2net.records.column_kinds import is_list

ZERO, NOTHING = arrow_numbers(np.array([0]))[0], pa.nulls(1)[0]
FRACTION = r"\.?0*(Z|[+-]\d\d:?\d\d)?$"


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table whose columns are truths, whole numbers, numbers, texts, or lists of one of these.

    >>> import datetime
    >>> days = pa.array([datetime.date(2006, 2, 25), None])
    >>> plain_table(pa.table({"day": days, "share": pa.array([0.1, float("nan")], pa.float32())})).to_pylist()
    [{'day': '2006-02-25', 'share': 0.1}, {'day': None, 'share': None}]
    """
    return pa.table({name: _plain(column) for name, column in zip(table.column_names, table.columns, strict=True)})


def with_dates(table: pa.Table, plain: pa.Table) -> pa.Table:
    """Return a plain table with the dates and times of the table it was made of, for what can hold these as such.

    >>> import datetime
    >>> table = pa.table({"day": [datetime.date(2006, 2, 25)]})
    >>> with_dates(table, plain_table(table)).to_pylist()
    [{'day': datetime.date(2006, 2, 25)}]
    """
    for number, name in enumerate(plain.column_names):
        kind = table.schema.field(name).type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            short = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else pa.date32()
            plain = plain.set_column(number, name, table[name].cast(short, safe=False))
    return plain


def can_be_joined(column: pa.ChunkedArray, sign: str) -> bool:
    """Return whether the lists of a plain column can be written with a sign between: no value is missing or has it.

    >>> can_be_joined(pa.chunked_array([[["a", "b"]]]), ";"), can_be_joined(pa.chunked_array([[["a;", "b"]]]), ";")
    (True, False)
    """
    flat = pc.list_flatten(column)
    text = kind_of(column.type.value_type) == "string"
    return not (flat.null_count or (text and pc.any(pc.match_substring(flat, sign)).as_py()))


def rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Give the rows of a table one by one, as Python has them.

    >>> list(rows(pa.table({"name": ["a", None], "cells": [[1], []]})))
    [('a', [1]), (None, [])]
    """
    for batch in table.to_batches(max_chunksize=4096):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def kind_of(kind: pa.DataType) -> str:
    """Return what GraphML calls a plain type: boolean, int, long, double or string.

    Lists are texts there.

    >>> [kind_of(kind) for kind in (pa.bool_(), pa.int32(), pa.int64(), pa.float64(), pa.list_(pa.int32()))]
    ['boolean', 'int', 'long', 'double', 'string']
    """
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "int" if kind.bit_width <= 32 else "long"
    return "double" if pa.types.is_floating(kind) else "string"


def as_text(kind: pa.DataType) -> Callable[[Any], str]:
    """Return what writes the values of a plain type as texts: lists of numbers with spaces between, of texts as JSON.

    >>> as_text(pa.bool_())(True), as_text(pa.list_(pa.int32()))([1, 12]), as_text(pa.list_(pa.string()))(["a", "b"])
    ('true', '1 12', '["a", "b"]')
    """
    if is_list(kind):
        inner = kind.value_type
        if pa.types.is_integer(inner) or pa.types.is_floating(inner):
            return lambda values: " ".join("" if value is None else str(value) for value in values)
        return json_text
    return (lambda value: "true" if value else "false") if pa.types.is_boolean(kind) else str


def json_text(value: object) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _plain(array.storage)
    if pa.types.is_dictionary(kind):
        return _plain(array.cast(kind.value_type))
    if is_list(kind):
        return _lists(array)
    if pa.types.is_boolean(kind):
        return array
    if pa.types.is_integer(kind):
        return _whole(array)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _numbers(array)
    if pa.types.is_duration(kind):
        return pc.divide(array.cast(pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        text = pc.replace_substring(array.cast(pa.string()), " ", "T")
        return pc.if_else(pc.match_substring(text, "."), pc.replace_substring_regex(text, FRACTION, r"\1"), text)
    if pa.types.is_date(kind) or pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array
    return pa.array([None if value is None else _deep_text(value) for value in array.to_pylist()], pa.string())


def _whole(array: pa.Array) -> pa.Array:
    kind = array.type
    if kind.bit_width < 32 or pa.types.is_int32(kind):
        return array.cast(pa.int32())
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid:  # above what signed numbers of 64 bits can be
        return array.cast(pa.string())


def _numbers(array: pa.Array) -> pa.Array:
    if pa.types.is_float64(array.type) or pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    else:
        missing = values_of(pc.is_null(array))
        short = values_of(pc.fill_null(array.cast(pa.float32()), ZERO.cast(pa.float32())))
        array = arrow_numbers(short.astype(np.str_).astype(np.float64), missing=missing)
    return pc.if_else(pc.is_finite(array), array, NOTHING.cast(pa.float64()))


def _lists(array: pa.Array) -> pa.Array:
    inner = array.type.value_type
    if is_list(inner) or pa.types.is_nested(inner):
        texts = [None if value is None else list(map(_deep_text, value)) for value in array.to_pylist()]
        return pa.array(texts, pa.list_(pa.string()))
    lengths = pc.list_value_length(array)
    lengths = values_of(pc.fill_null(lengths, ZERO.cast(lengths.type)))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values = _plain(array.flatten())
    return pa.LargeListArray.from_arrays(arrow_numbers(starts), values, mask=pc.is_null(array))


def _deep_text(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str) else json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    """Return a nested value without numbers that are none, which JSON has no way to write."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value
