"""Blocks of lines become tables of works: DuckDB parses them and keeps what a cube can use.

What nobody asks for, half of a line and more, is taken out before, where a line is surely JSON; abstracts are laid
aside then, and need no parsing but that of their words. Other lines are parsed as they are, with the same outcome. What
has another type than it should becomes null. Lines that are no JSON objects are dropped one by one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.readers.openalex_lines import Block, block_of, works_of

NAMED = {"id": "VARCHAR", "display_name": "VARCHAR"}
NAME = {"display_name": "VARCHAR"}
BASE: dict[str, Any] = {
    "id": "VARCHAR",
    "title": "VARCHAR",
    "display_name": "VARCHAR",
    "publication_year": "INTEGER",
    "publication_date": "DATE",
    "updated_date": "TIMESTAMP",
    "type": "VARCHAR",
    "language": "VARCHAR",
    "cited_by_count": "BIGINT",
    "is_retracted": "BOOLEAN",
    "is_authors_truncated": "BOOLEAN",
    "primary_location": {"source": {**NAMED, "host_organization_name": "VARCHAR", "publisher": "VARCHAR"}},
    "host_venue": {**NAMED, "publisher": "VARCHAR"},
    "authorships": [
        {
            "author": {**NAMED, "orcid": "VARCHAR"},
            "institutions": [{**NAMED, "country_code": "VARCHAR"}],
            "countries": ["VARCHAR"],
        }
    ],
    "primary_topic": {**NAME, "subfield": NAME, "field": NAME, "domain": NAME},
    "concepts": [{**NAME, "level": "INTEGER", "score": "DOUBLE"}],
}
ABSTRACTS = {"abstract_inverted_index": "JSON", "abstract": "VARCHAR"}
CITATIONS = {"referenced_works": ["VARCHAR"]}
WANTED = {*BASE, *ABSTRACTS, *CITATIONS}
"""All that is ever used of a work."""
INDEX = "abstract_inverted_index"
MEMORY = "500MB"
RUNS = 16
"""A block where sure lines and others change more often is parsed as it is."""


@dataclass(frozen=True, eq=False)
class SlimBlock:
    """A block with its lines slimmed: ``lines`` and ``indexes`` of abstracts, of those that are ``sure``."""

    block: Block
    lines: pa.LargeStringArray | None = None
    indexes: pa.StringArray | None = None
    sure: Array | None = None


class LineReader:
    """Parses blocks of lines; of lines without one of the texts of a group in ``said``, ``passed`` are passed over."""

    def __init__(
        self, dropped: Dropped, *, abstracts: bool, citations: bool, said: Sequence[Collection[str]] = ()
    ) -> None:
        import duckdb

        self.dropped = dropped
        wanted = {**BASE, **(ABSTRACTS if abstracts else {}), **(CITATIONS if citations else {})}
        wanted["results"] = "JSON"
        self.statement = _parsing(wanted)
        self.index = wanted.pop(INDEX, None) is not None
        self.slim_statement, self.wanted = _parsing(wanted), wanted
        self.said = [" OR ".join(sorted({_holds(text) for text in some})) for some in said]
        self.passed = 0
        self.connection = duckdb.connect(config={"threads": 2, "memory_limit": MEMORY, "temp_directory": ""})
        self.connection.execute("SET enable_progress_bar = false")
        self.errors = duckdb.Error

    def close(self) -> None:
        """Let go of what is held."""
        self.connection.close()

    def slim(self, block: Block) -> SlimBlock:
        """Return a block ready to be parsed; where lines may be passed over, they are slimmed only after that."""
        return SlimBlock(block) if self.said else self._slimmed(block)

    def parse(self, slim: SlimBlock) -> Iterator[tuple[Block, pa.Table]]:
        """Return the works of a block, with the lines they stand on; those of pages come by themselves."""
        block = self._in_utf8(slim.block)
        if self.said:
            block = self._that_say_it(block)
        if slim.sure is None or block is not slim.block:
            slim = self._slimmed(block)
        for some in _runs(slim):
            yield from self._parse(some)

    def _parse(self, slim: SlimBlock) -> Iterator[tuple[Block, pa.Table]]:
        block = slim.block
        try:
            works = self._works(block) if slim.lines is None else self._slim_works(slim)
        except self.errors:
            block = self._well_formed(block)
            works = self._works(block)
        pages = pc.and_(pc.is_null(works["id"]), pc.is_valid(works["results"])).to_numpy()
        if pages.any():
            for row in np.flatnonzero(pages).tolist():
                every = [json.dumps(work).encode() for work in works_of(json.loads(block.line(row)))]
                page = block_of(block.name, block.day, every, [int(block.numbers[row])] * len(every))
                yield page, self._works(page).drop_columns("results")
            works, block = works.filter(pa.array(~pages)), block.only(~pages)
        yield block, works.drop_columns("results")

    def _slimmed(self, block: Block) -> SlimBlock:
        from cube2net.kernels.slim_json import form_of, slimmed

        form = form_of(self.wanted, INDEX if self.index else "")
        given = np.frombuffer(block.data, np.uint8)
        data, starts, aside, aside_starts, sure = slimmed(given, block.starts, form)
        count = len(sure)
        lines = pa.LargeStringArray.from_buffers(count, pa.py_buffer(starts), pa.py_buffer(data))
        places = pa.py_buffer(aside_starts.astype(np.int32))
        return SlimBlock(block, lines, pa.StringArray.from_buffers(count, places, pa.py_buffer(aside)), sure)

    def _works(self, block: Block) -> pa.Table:
        return self._run(self.statement, pa.table({"line": block.texts()}))

    def _slim_works(self, slim: SlimBlock) -> pa.Table:
        works = self._run(self.slim_statement, pa.table({"line": slim.lines}))
        return works.append_column(INDEX, slim.indexes) if self.index else works

    def _run(self, statement: str, lines: pa.Table) -> pa.Table:
        self.connection.register("lines", lines)
        try:
            return self.connection.sql(statement).to_arrow_table()
        finally:
            self.connection.unregister("lines")

    def _in_utf8(self, block: Block) -> Block:
        try:
            block.texts().validate(full=True)
            return block
        except pa.ArrowInvalid:
            pass
        kept = np.ones(len(block.numbers), bool)
        for row in range(len(kept)):
            line = block.line(row)
            try:
                line.decode()
            except UnicodeDecodeError as error:
                kept[row] = False
                wrong = f"byte 0x{line[error.start]:02x} is not UTF-8, expected text in UTF-8"
                self.dropped.drop_one("lines that are not UTF-8", block.place(row), wrong)
        return block.only(kept)

    def _well_formed(self, block: Block) -> Block:
        """Return a block without lines that are no JSON."""
        lines = pa.table({"line": block.texts()})
        kept: Array = self._run("SELECT json_valid(line) AS good FROM lines", lines)["good"].to_numpy()
        for row in np.flatnonzero(~kept).tolist():
            text = block.line(row).decode().strip()
            shown = text[:40] + ("…" if len(text) > 40 else "")
            self.dropped.drop_one("lines that are no JSON objects", block.place(row), f"{shown!r} is not a JSON object")
        return block.only(kept)

    def _that_say_it(self, block: Block) -> Block:
        """Return a block without lines that surely do not hold what is asked for; an escape may hide anything."""
        lines = pa.table({"line": block.texts()})
        kept: Array = self._run(f"SELECT ({') AND ('.join(self.said)}) AS good FROM lines", lines)["good"].to_numpy()
        self.passed += int((~kept).sum())
        return block.only(kept)


def _parsing(wanted: dict[str, Any]) -> str:
    """Return the statement that parses lines."""
    return f"SELECT unnest(from_json(line, {_quoted(json.dumps(wanted))})) FROM lines"


def _runs(slim: SlimBlock) -> Iterator[SlimBlock]:
    """Return pieces of a block, of which each has its lines slimmed or has none that is; they stay in order."""
    assert slim.sure is not None and slim.lines is not None and slim.indexes is not None
    sure, block = slim.sure, slim.block
    cuts = [0, *(np.flatnonzero(sure[1:] != sure[:-1]) + 1).tolist(), len(sure)]
    if len(cuts) > RUNS + 1:
        yield SlimBlock(block)
    elif len(cuts) == 2:
        yield slim if sure.all() else SlimBlock(block)
    else:
        for begin, end in pairwise(cuts):
            piece, size = block.between(begin, end), end - begin
            if sure[begin]:
                yield SlimBlock(piece, slim.lines.slice(begin, size), slim.indexes.slice(begin, size))
            else:
                yield SlimBlock(piece)


def _holds(text: str) -> str:
    """Return the condition that a line may hold a text: as it is, or behind an escape.

    >>> _holds("PLoS ONE")
    "contains(line, 'PLoS ONE') OR contains(line, '\\\\u00')"
    """
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    escapes = ["\\u00" if text.isascii() else "\\u", *(["\\/"] if "/" in text else [])]
    return " OR ".join(f"contains(line, {_quoted(one)})" for one in [plain, *escapes])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
