"""What a Parquet file says of itself: its columns, at its end, and its pages, each before its bytes.

It is read here because a damaged end lets pyarrow's own account of it abort the process. It is in Thrift's compact
form: a struct becomes a dictionary from the numbers of its fields, as they stand in Parquet's definition.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

DICTIONARY, DATA, DATA_V2 = 2, 0, 3
"""Kinds of pages."""
HEADERS = {DICTIONARY: (7, 2), DATA: (5, 2), DATA_V2: (8, 4)}
"""The field of a page's header that says more of the kind, and the field of its encoding in there."""
WIDTHS = {0: 1, 1: 4, 2: 8, 3: 8, 4: 4, 5: 8, 6: 4}
"""The bytes of a value by its type in the file; a text has so many beside its own."""
TEXT, DECIMAL, REPEATED = 6, 5, 2
LONGEST_HEADER = 2**20
LONGEST_END = 2**22
"""The longest end of a file that is read: it takes up to a hundred times as much memory."""
DEEPEST = 12


class Page(NamedTuple):
    """One page: its kind, its encoding, how many values it has and how many bytes when unpacked."""

    kind: int
    encoding: int
    values: int
    size: int


@dataclass(frozen=True)
class ParquetColumn:
    """A column: its path in the schema, whether of byte arrays, the bytes of a value, and how deep in lists it is.

    Texts are byte arrays; a value has so many bytes beside those of its text.
    """

    path: str
    is_byte_array: bool
    width: int
    lists: int


@dataclass(frozen=True)
class Chunk:
    """A column in one group of rows: how many values it has, and where its pages are."""

    group: int
    column: ParquetColumn
    rows: int
    values: int
    start: int
    length: int


def chunks_of(file: io.BufferedReader) -> list[Chunk]:
    """Return the columns of every group of rows, as the footer of a file says."""
    end = file.seek(-8, os.SEEK_END)
    length = int.from_bytes(file.read(4), "little")
    if length > min(end, LONGEST_END):
        raise ValueError(
            f"its end takes {length:,} bytes, expected at most {min(end, LONGEST_END):,}: use fewer row groups"
        )
    file.seek(end - length)
    try:
        footer, _ = _struct(file.read(length), 0)
    except IndexError:
        raise ValueError("its end is not whole") from None
    columns = list(_columns(_get(footer, 2, list)))
    chunks = []
    for group, about in enumerate(_get(footer, 4, list)):
        for column, chunk in zip(columns, _get(about, 1, list), strict=True):
            inner = _get(chunk, 3, dict)
            start, dictionary = _number(inner, 9), _number(inner, 11)
            start = dictionary if 0 < dictionary < start else start
            chunks.append(Chunk(group, column, _number(about, 3), _number(inner, 5), start, _number(inner, 7)))
    return chunks


def pages_of(file: io.BufferedReader, chunk: Chunk) -> Iterator[Page]:
    """Return the pages of a column in a group of rows."""
    place, seen = chunk.start, 0
    while seen < chunk.values and place < chunk.start + chunk.length:
        fields, place = _header(file, place)
        kind, size, packed = (_number(fields, field) for field in (1, 2, 3))
        place += packed
        if kind in HEADERS:
            more, encoding = HEADERS[kind]
            inner = _get(fields, more, dict)
            yield Page(kind, _number(inner, encoding), _number(inner, 1), size)
            seen += 0 if kind == DICTIONARY else _number(inner, 1)


def _columns(schema: list[Any]) -> Iterator[ParquetColumn]:
    """Return the columns of a schema, which is a tree told from the root, every element with how many are below it."""
    above: list[tuple[str, int]] = []
    left = [1]
    for number, element in enumerate(schema):
        while left and left[-1] == 0:
            left.pop()
            above.pop()
        if not left or len(left) > 100:
            raise ValueError("its schema is no tree")
        left[-1] -= 1
        name = _get(element, 4, bytes).decode("utf-8", "replace")
        path, lists = above[-1] if above else ("", 0)
        if number:
            path = f"{path}.{name}" if path else name
            lists += _number(element, 3) == REPEATED
        if below := _number(element, 5):
            above.append((path, lists))
            left.append(below)
        elif number:
            kind = _number(element, 1)
            logical = element.get(10)
            decimal = element.get(6) == DECIMAL or (isinstance(logical, dict) and DECIMAL in logical)
            width = 16 if decimal else WIDTHS.get(kind, _number(element, 2))
            yield ParquetColumn(path, kind == TEXT, width, lists)


def _header(file: io.BufferedReader, place: int) -> tuple[dict[int, Any], int]:
    """Return the fields of the header at a place, and the place after it."""
    much = 256
    while True:
        file.seek(place)
        data = file.read(much)
        try:
            fields, end = _struct(data, 0)
        except IndexError:
            if len(data) < much or much > LONGEST_HEADER:
                raise ValueError("a page's header has no end") from None
            much *= 16
        else:
            return fields, place + end


def _get(fields: Any, field: int, kind: type[Any]) -> Any:
    value = fields.get(field) if isinstance(fields, dict) else None
    if not isinstance(value, kind):
        raise ValueError(f"field {field} of its own account is {type(value).__name__}, expected {kind.__name__}")
    return value


def _number(fields: dict[int, Any], field: int) -> int:
    number = fields.get(field, 0)
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"field {field} of its own account is {number!r:.40}, expected a whole number")
    return number


def _struct(data: bytes, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the fields of the struct at a place, and the place after it; IndexError where the bytes do not suffice.

    >>> _struct(bytes([0x15, 0x06, 0x18, 0x02, 65, 66, 0x1C, 0x15, 0x03, 0x00, 0x00]), 0)
    ({1: 3, 2: b'AB', 3: {1: -2}}, 11)
    """
    fields: dict[int, Any] = {}
    field = 0
    while True:
        head, at = data[at], at + 1
        kind = head & 15
        if kind == 0:
            return fields, at
        if head >> 4:
            field += head >> 4
        else:
            field, at = _signed(data, at)
        if kind in (1, 2):
            fields[field] = kind == 1
        else:
            fields[field], at = _value(data, at, kind, depth)


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if depth > DEEPEST:
        raise ValueError("its own account is nested too deep")
    if kind in (4, 5, 6):
        return _signed(data, at)
    if kind == 8:
        size, at = _varint(data, at)
        if at + size > len(data):
            raise IndexError(at + size)
        return data[at : at + size], at + size
    if kind == 12:
        return _struct(data, at, depth + 1)
    if kind in (9, 10):
        size, inner, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = _varint(data, at)
        values = []
        for _ in range(size):
            value, at = _value(data, at, inner, depth + 1)
            values.append(value)
        return values, at
    if kind in (1, 2, 3, 7):
        size = 8 if kind == 7 else 1
        if at + size > len(data):
            raise IndexError(at + size)
        return None, at + size
    raise ValueError(f"its own account holds a value of kind {kind}, which Parquet has not")


def _signed(data: bytes, at: int) -> tuple[int, int]:
    number, at = _varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte, at = data[at], at + 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise ValueError("a number in its own account has no end")
