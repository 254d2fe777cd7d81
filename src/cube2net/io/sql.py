"""Read tables by SQL queries over files, with DuckDB.

A query only reads. It is one SELECT, and it stands inside another one, where DuckDB lets nothing that writes stand; no
extension is loaded or fetched, so nothing is reached over a network; variables of Python are not seen, and settings are
locked.
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
from cube2net.errors import ParameterError, Setting, SourceError, first_line, parse_size, quote
from cube2net.io.tables.find_tables import TABLE_NAMES
from cube2net.io.tables.table_source import read_tables
from cube2net.model.corpus import Corpus

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}
"""DuckDB fetches nothing, loads nothing, and looks at nothing of the program that it runs in."""
BEGINNINGS = ("select", "from", "with", "values", "pivot", "unpivot", "describe", "summarize")
EXPECTED = "one query that only reads, such as SELECT * FROM 'papers.parquet'"


@dataclass(frozen=True, kw_only=True)
class Sql:
    """Reads a network by SQL queries over files on this machine (``FROM 'papers.parquet'``, CSV, JSON), with DuckDB.

    ``queries`` are the tables in their order: one holds records or, beside ``links``, nodes; two are nodes and links,
    three are objects, items and mentions. Or a query is given by what its table is (``nodes``, ``links``, …). ``item``
    and ``objects`` name columns of one table of records; ``columns``, ``usual`` and ``separators`` are as for tables in
    files, and so are ``directed`` and ``strict``. ``memory`` such as ``"4GB"`` is what DuckDB may take; what does
    not fit goes to disk. A query only reads: nothing is written, fetched or loaded.
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
    directed: bool = False
    memory: str | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        for query in self.queries:
            if not isinstance(query, str):
                raise ParameterError(f"a query is {quote(query)}, expected a text such as \"SELECT * FROM 'a.csv'\"")
        if self.memory is not None:
            parse_size(self.memory, "memory")

    def read(self, paths: Sequence[Path] = (), *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the tables that the queries give; they name their files themselves."""
        if paths:
            raise SourceError(f"the source 'sql' reads no path by itself, got {str(paths[0])!r}: name it in a query")
        named = self._named
        options: dict[str, Any] = {"columns": self.columns, "separators": self.separators, "usual": self.usual}
        options |= {"strict": self.strict, "directed": self.directed}
        options |= {"item": self.item} if self.item is not None else {}
        options |= {"objects": self.objects} if self.objects is not None and "objects" not in named else {}
        with _connected(self.memory) as connection:
            total, done = len(self.queries) + len(named), 0
            given: list[pa.Table] = []
            for query in self.queries:
                progress("running a query", done, total)
                given.append(_result(connection, query, f"query {len(given) + 1}" if total > 1 else "query"))
                done += 1
            for role, query in named.items():
                progress(f"running the query of {role}", done, total)
                options[role] = _result(connection, query, f"query of {role}")
                done += 1
        return read_tables(given, options, progress)

    def files_read(self, paths: Sequence[Path] = ()) -> list[Path]:
        """Return the files that the queries name, as far as their names stand in the text."""
        with _connected(None) as connection:
            texts = [*self.queries, *self._named.values()]
            found = {path for query in texts for path in _files_in(connection, query)}
        return sorted(found)

    @property
    def _named(self) -> dict[str, str]:
        """The queries given by what their tables are; ``objects`` may be the name of a column instead."""
        given = {role: text for role in TABLE_NAMES if (text := getattr(self, role)) is not None}
        column = given.get("objects")
        if column is not None and not is_query(column):
            del given["objects"]
        return given


def is_query(text: str) -> bool:
    """Return whether a text is a query, and no name.

    >>> is_query("SELECT 1"), is_query("( FROM 'a.csv')"), is_query("author")
    (True, True, False)
    """
    words = text.lstrip(" (\n\t").casefold().split(maxsplit=1)
    return len(words) == 2 and (words[0] in BEGINNINGS or text.lstrip().startswith("--"))


@contextmanager
def _connected(memory: str | None) -> Iterator[Any]:
    """Give a connection to DuckDB in memory, which may read files and do nothing else."""
    import duckdb

    settings: dict[str, Any] = dict(SETTINGS)
    if memory is not None:
        settings["memory_limit"] = f"{parse_size(memory, 'memory') // 1_000_000}MB"
    with temporary_folder() as spill:
        settings["temp_directory"] = str(spill)
        with duckdb.connect(":memory:", config=settings) as connection:
            if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
                connection.execute("SET enable_progress_bar = false")
            connection.execute("SET lock_configuration = true")
            yield connection


def _result(connection: Any, query: str, what: str) -> pa.Table:
    """Return what a query gives."""
    text = _checked(connection, query, what)
    with _one_sentence(what):
        return connection.sql(f"SELECT * FROM (\n{text}\n)").to_arrow_table()


def _checked(connection: Any, query: str, what: str) -> str:
    """Return a query without what may end it; one that is none, or several, or does something else is refused."""
    with _one_sentence(what):
        statements = connection.extract_statements(query)
    if len(statements) != 1:
        count = f"{len(statements)} statements" if statements else "nothing"
        raise SourceError(f"the {what} holds {count}, expected {EXPECTED}")
    kind = str(statements[0].type).rpartition(".")[2]
    if kind not in ("SELECT", "MULTI"):
        raise SourceError(f"the {what} is a {kind} statement, expected {EXPECTED}")
    return str(statements[0].query).strip().rstrip(";")


@contextmanager
def _one_sentence(what: str) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise SourceError(
            f"DuckDB needs more memory for the {what}: give it more", hint=Setting("memory", "8GB")
        ) from None
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except (duckdb.Error, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        reason = first_line(error)
        if "WITH clause containing" in reason or "not allowed as CTE" in reason:
            reason = f"it writes, expected {EXPECTED}"
        elif "requires the extension" in reason or "exists in the" in reason:
            reason += " (only files on this machine are read, and no extension is loaded)"
        raise SourceError(f"the {what} cannot be run: {reason}") from None


def _files_in(connection: Any, query: str) -> Iterator[Path]:
    """Return the files whose names, or patterns of them, stand as texts in a query."""
    with _one_sentence("query"):
        tree = json.loads(connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()[0][0])
    for part in _parts(tree):
        names = [part.get("table_name")] if part.get("type") == "BASE_TABLE" else []
        if part.get("type") == "TABLE_FUNCTION":
            names = [inside.get(key) for inside in _parts(part) for key in ("text", "value")]
        for name in names:
            if isinstance(name, str) and name:
                with suppress(SourceError), _one_sentence("query"):
                    found = connection.execute("SELECT file FROM glob(?)", [name]).fetchall()
                    yield from (Path(file) for (file,) in found)


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Return the parts of a parsed query that say something."""
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
        stack.extend(part.values() if isinstance(part, dict) else part if isinstance(part, list) else ())
