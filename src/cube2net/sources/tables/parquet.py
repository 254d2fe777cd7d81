"""Parquet files: what their rows may take in memory is worked out, and metered, before they are read.

A page of a few bytes may stand for millions of rows, and one long text for each of them. So the number of values is
taken from the file's end, and all else from the headers of its pages. Where these bound what comes out, the file is
read at once. Where they do not (a text kept once for many rows), it is read in pieces in which such texts stay kept
once, and their lengths are counted before they are written out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cube2net.errors import HIGHEST, Cube2netError, SourceError, first_line
from cube2net.sources.tables.parquet_pages import DICTIONARY, Chunk, Page, chunks_of, pages_of
from cube2net.sources.tables.rows import Rows
from cube2net.unpacking import Gauge, Meter, open_raw

AS_THEY_ARE = (0, 6)
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
    return pc.max(pc.binary_length(array.dictionary)).as_py() or 0 if whole else HIGHEST


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
