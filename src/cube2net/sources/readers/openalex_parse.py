"""Blocks of lines become tables of works: DuckDB parses them and keeps what a cube can use.

What has another type than it should becomes null. Lines that are no JSON objects are dropped one by one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.errors import first_line
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
MEMORY = "500MB"


class LineReader:
    """Parses blocks of lines; of lines without one of the texts of a group in ``said``, ``passed`` are passed over."""

    def __init__(
        self, dropped: Dropped, *, abstracts: bool, citations: bool, said: Sequence[Collection[str]] = ()
    ) -> None:
        import duckdb

        self.dropped = dropped
        wanted = {**BASE, **(ABSTRACTS if abstracts else {}), **(CITATIONS if citations else {})}
        wanted["results"] = "JSON"
        self.statement = f"SELECT unnest(from_json(line, {_quoted(json.dumps(wanted))})) FROM lines"
        self.said = [" OR ".join(sorted({_holds(text) for text in some})) for some in said]
        self.passed = 0
        self.connection = duckdb.connect(config={"threads": 2, "memory_limit": MEMORY, "temp_directory": ""})
        self.connection.execute("SET enable_progress_bar = false")
        self.errors = duckdb.Error

    def close(self) -> None:
        """Let go of what is held."""
        self.connection.close()

    def parse(self, block: Block) -> Iterator[tuple[Block, pa.Table]]:
        """Return the works of a block, with the lines they stand on; those of pages come by themselves."""
        block = self._in_utf8(block)
        if self.said:
            block = self._that_say_it(block)
        try:
            works = self._works(block)
        except self.errors:
            block = self._well_formed(block)
            works = self._works(block)
        pages = pc.and_(pc.is_null(works["id"]), pc.is_valid(works["results"])).to_numpy()
        if pages.any():
            for row in np.flatnonzero(pages).tolist():
                try:
                    every = [json.dumps(work).encode() for work in works_of(json.loads(block.line(row)))]
                except (ValueError, RecursionError) as error:
                    self.dropped.drop_one("lines that are no JSON objects", block.place(row), first_line(error))
                    continue
                page = block_of(block.name, block.day, every, [int(block.numbers[row])] * len(every))
                yield page, self._works(page).drop_columns("results")
            works, block = works.filter(pa.array(~pages)), block.only(~pages)
        yield block, works.drop_columns("results")

    def _works(self, block: Block) -> pa.Table:
        return self._run(self.statement, pa.table({"line": block.texts()}))

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
