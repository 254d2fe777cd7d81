"""Read tables by SQL queries over files and databases, with DuckDB.

A query only reads. It is one SELECT, and it stands inside another one, where DuckDB lets nothing that writes stand; it
loads no extension, variables of Python are not seen, and settings are locked. A network is used only for the databases
that are attached and for the files that a query names by an address.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from cube2net._util.files import temporary_folder
from cube2net._util.progress import Progress, silent
from cube2net.errors import ParameterError, SourceError, parse_size, quote
from cube2net.io.databases import (
    ADDRESS_SCHEMES,
    EXPECTED_QUERY,
    TableName,
    attach_database,
    fetch_file,
    one_sentence,
    parse_database,
    quote_name,
    quote_text,
)
from cube2net.io.tables.find_tables import TABLE_NAMES
from cube2net.io.tables.table_source import read_tables
from cube2net.model.corpus import Corpus

SAFE_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}
"""DuckDB fetches nothing, loads nothing, and looks at nothing of the program that it runs in."""
QUERY_KEYWORDS = ("select", "from", "with", "values", "pivot", "unpivot", "describe", "summarize")


@dataclass(frozen=True, kw_only=True)
class Sql:
    """Reads a network by SQL queries over files (``FROM 'papers.parquet'``, CSV, JSON) and databases, with DuckDB.

    ``queries`` are the tables in order: one holds records or, with ``links``, nodes; two are nodes and links,
    three are objects, items and mentions. Or a query is given by its role (``nodes``, ``links``, …). ``item`` and
    ``objects`` name columns of one table of records; ``columns``, ``usual``, ``separators``, ``directed`` and
    ``strict`` are as for tables in files. ``memory`` such as ``"4GB"`` limits DuckDB's memory; what does not fit
    goes to disk. ``attach`` names databases, ``{"db": "library.sqlite"}``, for ``FROM db.papers``: SQLite and
    DuckDB files, and addresses such as ``postgresql://ada@host/library``. Files may have addresses (``https://``,
    ``s3://``), too. A query only reads.
    """

    queries: tuple[str, ...] = ()
    nodes: str | None = None
    links: str | None = None
    objects: str | None = None
    items: str | None = None
    mentions: str | None = None
    labels: str | None = None
    terms: str | None = None
    item: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    separators: Mapping[str, str] = field(default_factory=dict)
    usual: Mapping[str, str] = field(default_factory=dict)
    attach: Mapping[str, str] = field(default_factory=dict, repr=False)
    directed: bool = False
    memory: str | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        for query in self.queries:
            if not isinstance(query, str):
                raise ParameterError(f"a query is {quote(query)}, expected a text such as \"SELECT * FROM 'a.csv'\"")
        if self.memory is not None:
            parse_size(self.memory, "memory")
        if not isinstance(self.attach, Mapping):
            raise ParameterError('attach names databases, such as {"db": "library.sqlite"}', parameter="attach")

    def read(self, paths: Sequence[Path] = (), *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the tables that the queries give; they name their files themselves."""
        if paths:
            raise SourceError(f"the source 'sql' reads no path by itself, got {str(paths[0])!r}: name it in a query")
        queries_by_role = self._queries_by_role
        options: dict[str, Any] = {"columns": self.columns, "separators": self.separators, "usual": self.usual}
        options |= {"strict": self.strict, "directed": self.directed}
        options |= {"item": self.item} if self.item is not None else {}
        options |= {"objects": self.objects} if self.objects is not None and "objects" not in queries_by_role else {}
        texts = {
            f"query {number}" if queries_by_role or self.queries[1:] else "query": text
            for number, text in enumerate(self.queries, 1)
        }
        texts |= {f"query of {role}": text for role, text in queries_by_role.items()}
        tables = []
        with _connect(self.memory) as (connection, folder):
            queries = {description: _parse_query(connection, text, description) for description, text in texts.items()}
            for name, address in self.attach.items():
                table_names = [table for query in queries.values() for table in query.find_tables(name)]
                attach_database(connection, parse_database(name, address), table_names, progress)
            connection.execute("SET lock_configuration = true")
            for done, (description, query) in enumerate(queries.items()):
                progress(f"running the {description}", done, len(queries))
                tables.append(query.fetch_files(folder / str(done), progress).run(connection, description))
        options |= dict(zip(queries_by_role, tables[len(self.queries) :], strict=True))
        return read_tables(tables[: len(self.queries)], options, progress)

    def files_read(self, paths: Sequence[Path] = ()) -> list[Path]:
        """Return the files that the queries name, as far as their names stand in the text, and those attached."""
        files = {Path(address) for address in self.attach.values() if "://" not in str(address)}
        with _connect(None) as (connection, _):
            for text in (*self.queries, *self._queries_by_role.values()):
                for name in _parse_query(connection, text, "query").find_files():
                    with suppress(SourceError), one_sentence("query"):
                        rows = connection.execute("SELECT file FROM glob(?)", [name]).fetchall()
                        files |= {Path(file) for (file,) in rows}
        return sorted(files)

    @property
    def is_remote(self) -> bool:
        """Whether something is read that may have changed without a sign, on a server or at an address."""
        texts = (*self.queries, *self._queries_by_role.values())
        return any("://" in str(text) for text in (*texts, *self.attach.values()))

    @property
    def _queries_by_role(self) -> dict[str, str]:
        """The queries given by what their tables are; ``objects`` may be the name of a column instead."""
        texts_by_role = {role: text for role in TABLE_NAMES if (text := getattr(self, role)) is not None}
        column = texts_by_role.get("objects")
        if column is not None and not is_query(column):
            del texts_by_role["objects"]
        return texts_by_role


def is_query(text: str) -> bool:
    """Return whether a text is a query, and no name.

    >>> is_query("SELECT 1"), is_query("( FROM 'a.csv')"), is_query("author")
    (True, True, False)
    """
    words = text.lstrip(" (\n\t").casefold().split(maxsplit=1)
    return len(words) == 2 and (words[0] in QUERY_KEYWORDS or text.lstrip().startswith("--"))


@contextmanager
def _connect(memory: str | None) -> Iterator[tuple[Any, Path]]:
    """Give a connection to DuckDB in memory, and a folder for what does not fit or is fetched."""
    import duckdb

    settings: dict[str, Any] = dict(SAFE_SETTINGS)
    if memory is not None:
        settings["memory_limit"] = f"{parse_size(memory, 'memory') // 1_000_000}MB"
    with temporary_folder() as folder:
        settings["temp_directory"] = str(folder / "spill")
        with duckdb.connect(":memory:", config=settings) as connection:
            if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
                connection.execute("SET enable_progress_bar = false")
            yield connection, folder


@dataclass(frozen=True)
class ParsedQuery:
    """A query that only reads, and the parts that DuckDB's parser sees in it (none of a PIVOT without names)."""

    text: str
    parts: Sequence[Mapping[str, Any]] = field(repr=False)

    def find_tables(self, database: str) -> Iterator[TableName]:
        """Return the tables of a database that are named."""
        for part in self.parts:
            if part.get("type") == "BASE_TABLE":
                qualifiers = [part["catalog_name"], part["schema_name"]]
                if database.casefold() in map(str.casefold, qualifiers):
                    schema = qualifiers[1] if qualifiers[0] else ""
                    yield TableName(schema, part["table_name"])

    def find_files(self) -> Iterator[str]:
        """Return the names of files, patterns and addresses, and other texts that stand where these may."""
        for part in self.parts:
            if part.get("type") == "BASE_TABLE":
                yield part["table_name"]
            elif part.get("type") == "TABLE_FUNCTION":
                texts = [nested.get(key) for nested in _find_parts(part) for key in ("text", "value")]
                yield from (text for text in texts if isinstance(text, str) and text)

    def fetch_files(self, folder: Path, progress: Progress) -> ParsedQuery:
        """Return the query with files in a folder instead of those that it names by an address."""
        text = self.text
        addresses = sorted({name for name in self.find_files() if name.startswith(ADDRESS_SCHEMES)})
        for number, address in enumerate(addresses):
            local_path = fetch_file(address, folder / str(number), progress)
            for quote_form in (quote_text, quote_name):
                text = text.replace(quote_form(address), quote_form(local_path))
        return ParsedQuery(text, self.parts)

    def run(self, connection: Any, description: str) -> pa.Table:
        """Return the rows that the query gives."""
        with one_sentence(description):
            return connection.sql(f"SELECT * FROM (\n{self.text}\n)").to_arrow_table()


def _parse_query(connection: Any, query: str, description: str) -> ParsedQuery:
    """Return a query without what may end it; one that is none, or several, or does something else is refused."""
    with one_sentence(description):
        statements = connection.extract_statements(query)
        if len(statements) != 1:
            content = f"{len(statements)} statements" if statements else "nothing"
            raise SourceError(f"the {description} holds {content}, expected {EXPECTED_QUERY}")
        kind = str(statements[0].type).rpartition(".")[2]
        if kind not in ("SELECT", "MULTI"):
            raise SourceError(f"the {description} is a {kind} statement, expected {EXPECTED_QUERY}")
        text = str(statements[0].query).strip().rstrip(";")
        tree = json.loads(connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0][0])
    return ParsedQuery(text, list(_find_parts(tree)))


def _find_parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Return the parts of a parsed query that say something."""
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
        stack.extend(part.values() if isinstance(part, dict) else part if isinstance(part, list) else ())
