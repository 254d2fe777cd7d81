"""Parquet files: what their rows may take in memory is worked out, and metered, before they are read.

A page of a few bytes may stand for millions of rows, and one long text for each of them. So the number of values is
taken from the file's end, and all else from the headers of its pages. Where these bound what comes out, the file is
read at once. Where they do not (a text kept once for many rows), it is read in pieces in which such texts stay kept
once, and their lengths are counted before they are written out.

What the file says of itself (its columns, at its end, and its pages, each before its bytes) is read here because a
damaged end lets pyarrow's own account of it abort the process. It is in Thrift's compact form: a struct becomes a
dictionary from the numbers of its fields, as they stand in Parquet's definition.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cube2net._util.zip_files import Gauge, Meter, open_raw
from cube2net.errors import MAX_INT, Cube2netError, SourceError, first_line
from cube2net.io.tables.column_types import Rows

DICTIONARY, DATA, DATA_V2 = 2, 0, 3
AS_THEY_ARE = (0, 6)


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


"""Encodings of texts (plain, and lengths before bytes) that hold every text for itself."""
SHARED_BEGINNINGS = 7
"""The encoding of texts by what they share with the one before."""
ROWS = 2**16
PIECE = 2**26
"""The most bytes of a piece whose texts cannot be bounded by more than their page."""
LARGEST = 2**30
"""The most bytes of texts in one array, which must be less than 2 GiB."""


def read_parquet(path: Path, meter: Meter) -> Rows:
    """Return the rows of a Parquet file, if a meter allows for what they take in memory."""
    gauge = meter.gauge(path)
    if not gauge.size:
        raise SourceError(f"{path.name} is empty, expected a Parquet file with rows")
    gauge.take(gauge.size)
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            twice = sorted(name for name, times in Counter(names).items() if times > 1)
            if twice:
                raise SourceError(f"{path.name} names columns twice: {', '.join(map(repr, twice))}")
            weights = _weigh(path, gauge)
            fits = _fits(path, weights, gauge)
            table = file.read() if fits else _read_in_pieces(path, file.schema_arrow, weights, gauge)
        gauge.count(max(0, table.nbytes - gauge.unpacked))
        table.validate(full=True)
    except Cube2netError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        why = first_line(error).rstrip(".")
        raise SourceError(f"{path.name} cannot be read as Parquet: {why} (is it cut short?)") from None
    return Rows(path.name, table, lambda rows: [f"{path.name} row {row + 1:,}" for row in rows])


@dataclass
class _Weight:
    """What a column in one group of rows may take in memory.

    ``fixed`` is what its values take without the bytes of texts. Of these, ``shared`` stand in a dictionary with
    ``entries``, none of more than ``dictionary`` bytes; the others, all together, may take ``texts`` bytes. Those that
    share their beginnings come from a page of ``longest`` bytes.
    """

    chunk: Chunk
    texts: int = 0
    longest: int = 0
    shared: int = 0
    entries: int = 0
    dictionary: int = 0

    @property
    def fixed(self) -> int:
        return self.chunk.values * self.chunk.column.width + 4 * self.chunk.rows * self.chunk.column.lists

    @property
    def most(self) -> int:
        return self.fixed + self.texts + self.shared * self.dictionary

    def add(self, page: Page) -> None:
        """Count a page of texts."""
        if page.kind == DICTIONARY:
            self.dictionary, self.entries = page.size, page.values
        elif page.encoding in AS_THEY_ARE:
            self.texts += page.size
        elif page.encoding == SHARED_BEGINNINGS:
            self.texts += page.values * page.size
            self.longest = max(self.longest, page.size)
        else:
            self.shared += page.values


def _weigh(path: Path, gauge: Gauge) -> list[_Weight]:
    """Return what every column may take, by the end of the file and the headers of its pages."""
    packed = 0
    with open_raw(path, gauge) as file:
        weights = [_Weight(chunk) for chunk in chunks_of(file)]
        gauge.check(sum(weight.fixed for weight in weights))
        for weight in weights:
            for page in pages_of(file, weight.chunk):
                packed += page.size
                gauge.check(packed)
                if weight.chunk.column.is_byte_array:
                    weight.add(page)
    return weights


def _fits(path: Path, weights: list[_Weight], gauge: Gauge) -> bool:
    """Return whether the most that all columns can take is allowed; dictionaries are looked into where that helps."""
    unsure = sorted((one for one in weights if one.shared), key=lambda one: one.shared * one.dictionary)
    most = sum(one.most for one in weights)
    if gauge.allows(most):
        return True
    with pq.ParquetFile(path, read_dictionary=sorted({one.chunk.column.path for one in unsure})) as file:
        while unsure and not gauge.allows(most):
            one = unsure.pop()
            most -= one.most
            wanted = {"row_groups": [one.chunk.group], "columns": [one.chunk.column.path]}
            for piece in islice(file.iter_batches(1, use_threads=False, **wanted), 1):
                one.dictionary = min(one.dictionary, _longest(piece.column(0), one.entries))
            most += one.most
    return gauge.allows(most)


def _longest(array: pa.Array, entries: int) -> int:
    """Return the bytes of the longest text in the dictionary of an array, however deep it stands in lists."""
    while not pa.types.is_dictionary(array.type):
        array = array.field(0) if pa.types.is_struct(array.type) else array.values
    whole = len(array.dictionary) == entries
    return pc.max(pc.binary_length(array.dictionary)).as_py() or 0 if whole else MAX_INT


def _read_in_pieces(path: Path, schema: pa.Schema, weights: list[_Weight], gauge: Gauge) -> pa.Table:
    """Return the table, read in pieces in which a text of a dictionary is kept once until its rows are counted."""
    longest = max(one.longest for one in weights)
    shared = {one.chunk.column.path for one in weights if one.shared}
    shared -= {one.chunk.column.path for one in weights if one.longest}
    rows = max(1, min(ROWS, PIECE // max(longest, 1)))
    pieces = []
    try:
        with pq.ParquetFile(path, read_dictionary=sorted(shared)) as file:
            for group in range(weights[-1].chunk.group + 1):
                for piece in file.iter_batches(rows, row_groups=[group], use_threads=False):
                    size = sum(_written_out(column) for column in piece.columns)
                    gauge.count(size)
                    step = max(1, piece.num_rows * LARGEST // max(size, 1))
                    pieces += [piece.slice(at, step).cast(schema) for at in range(0, piece.num_rows, step)]
    except pa.ArrowNotImplementedError:  # texts in lists, of which some stand in a dictionary and some do not
        gauge.check(sum(one.most for one in weights))
        raise
    return pa.Table.from_batches(pieces, schema)


def _written_out(array: pa.Array) -> int:
    """Return the bytes that an array takes when every text is written out.

    >>> _written_out(pa.array(["data", None, "data"]).dictionary_encode())
    20
    """
    if pa.types.is_dictionary(array.type):
        lengths = pc.binary_length(array.dictionary).take(array.indices)
        return 4 * len(array) + (pc.sum(lengths).as_py() or 0)
    if pa.types.is_struct(array.type):
        return sum(_written_out(field) for field in array.flatten())
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_map(array.type):
        return 4 * len(array) + _written_out(array.flatten())
    return int(array.nbytes)


def parquet_fits(path: Path, gauge: Gauge) -> bool:
    """Return whether a meter allows for all that the rows of a Parquet file may take in memory."""
    return _fits(path, _weigh(path, gauge), gauge)
