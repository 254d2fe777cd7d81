"""Attach databases to DuckDB, and fetch the files that queries name by an address.

DuckDB files are attached as they are. For SQLite, PostgreSQL and MySQL DuckDB has extensions, which are loaded where
they are installed. Without them the tables that the queries name are copied into memory: from SQLite with Python's own
module, from PostgreSQL with its ADBC driver. Either way everything is opened for reading only.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from typing import Any
from urllib.error import HTTPError
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit
from urllib.parse import quote as percent_encode
from urllib.request import Request, urlopen

import pyarrow as pa

from cube2net._util.packages import require
from cube2net._util.progress import Progress
from cube2net.errors import (
    MissingPackageError,
    ParameterError,
    Placeholder,
    Setting,
    SourceError,
    first_line,
    hide_passwords,
    quote,
    unknown_name,
)

SQLITE, DUCKDB, POSTGRES, MYSQL = "SQLite", "DuckDB", "PostgreSQL", "MySQL"
SCHEMES = {"postgresql": POSTGRES, "postgres": POSTGRES, "mysql": MYSQL}
LOGIN_PARAMETERS = ("host", "port", "user", "password", "database")
EXTENSIONS = {SQLITE: "sqlite", POSTGRES: "postgres", MYSQL: "mysql"}
EXPECTED = "the path of a SQLite or DuckDB file, postgresql://user@host/database or mysql://user@host/database"
EXPECTED_QUERY = "one query that only reads, such as SELECT * FROM 'papers.parquet'"
ADDRESS_SCHEMES = ("https://", "http://", "s3://")
POSTGRES_TYPES = (
    *("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "bpchar", "name", "bytea"),
    *("date", "time", "timestamp", "timestamptz", "interval"),
)
"""The types that the ADBC driver returns unchanged."""
PATTERN_REPLACEMENTS = str.maketrans("*?[]", "____")
TIMEOUT_SECONDS = 30
ROWS_PER_BATCH = 50_000


@dataclass(frozen=True, order=True)
class TableName:
    """A table of an attached database, as a query names it; without a schema it is looked for as the database would."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}" if self.schema else self.table


@dataclass(frozen=True)
class Database:
    """What is attached under a name: a file, or a server's database whose address may hold a password."""

    name: str
    kind: str
    address: str
    url: SplitResult | None = None

    @property
    def parameters(self) -> dict[str, str]:
        """The parts of the address that are given, as DuckDB calls them."""
        if self.url is None:
            return {}
        parts = {
            "host": self.url.hostname,
            "port": self.url.port and str(self.url.port),
            "user": self.url.username,
            "password": self.url.password,
            "database": self.url.path.removeprefix("/"),
        }
        return {key: unquote(part) for key, part in parts.items() if part} | dict(parse_qsl(self.url.query))


def parse_database(name: str, address: object) -> Database:
    """Return the database at an address; no message shows the address, which may hold a password.

    >>> parse_database("db", "postgresql://ada@example.org/library").parameters
    {'host': 'example.org', 'user': 'ada', 'database': 'library'}
    """
    if not isinstance(address, str | Path) or not str(address).strip():
        raise ParameterError(
            f"no address is given of the database {quote(name)}, expected {EXPECTED}", parameter="attach"
        )
    text = str(address)
    if text.startswith("//"):  # db:postgresql://… without db
        raise ParameterError(
            "an attached database needs a name, which stands before its tables in a query: FROM db.papers",
            parameter="attach",
            hint=Setting("attach", {"db": Placeholder("ADDRESS")}),
        )
    scheme, is_url, _ = text.partition("://")
    if not is_url:
        return Database(name, _find_file_kind(name, Path(text)), text)
    if scheme not in SCHEMES:
        raise ParameterError(
            f"the address of the database {quote(name)} begins with {quote(scheme)}, expected {EXPECTED}",
            parameter="attach",
        )
    url = urlsplit(text)
    try:
        # Another @ or a port that is no number comes of a password with signs that end it.
        is_unambiguous = text.count("@") <= 1 and text.count("@") == url.netloc.count("@") and url.port != 0
    except ValueError:
        is_unambiguous = False
    if not is_unambiguous:
        raise ParameterError(
            f"the address of the database {quote(name)} is not understood: write {scheme}://user@host:port/database, "
            "and the signs @ / : ? # of a password as %40 %2F %3A %3F %23",
            parameter="attach",
        )
    return Database(name, SCHEMES[scheme], text, url)


def _find_file_kind(name: str, path: Path) -> str:
    """Return the kind of a file by its first bytes."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise SourceError(f"the database {quote(name)} cannot be opened: {path}: {error.strerror}") from None
    if start == b"SQLite format 3\0":
        return SQLITE
    if start[8:12] == b"DUCK":
        return DUCKDB
    raise SourceError(f"the database {quote(name)} is not understood: {path} is no SQLite or DuckDB file")


def quote_name(name: str) -> str:
    """Return a name as SQL quotes it.

    >>> print(quote_name('ta"ble'))
    "ta""ble"
    """
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text as SQL quotes it."""
    return "'" + text.replace("'", "''") + "'"


def attach_database(connection: Any, database: Database, tables: Iterable[TableName], progress: Progress) -> None:
    """Attach a database to DuckDB for reading, or copies of the tables that are named."""
    with one_sentence(f"database {quote(database.name)}", "read", database):
        options = _load_extension(connection, database)
        name = quote_name(database.name)
        if options is not None:
            extra_parameters = " ".join(
                f"{key}={value}" for key, value in database.parameters.items() if key not in LOGIN_PARAMETERS
            )
            target = quote_text(extra_parameters if database.url else database.address)
            connection.execute(f"ATTACH {target} AS {name} ({', '.join([*options, 'READ_ONLY'])})")
            return
        connection.execute(f"ATTACH ':memory:' AS {name}")
        table_names = sorted(set(tables))
        with COPIERS[database.kind](database) as (names, read_table):
            for number, table_name in enumerate(table_names):
                progress(f"copying tables of {database.name}", number, len(table_names))
                schema, table = _find_table(database, table_name, names)
                target = f"{name}.{quote_name(table_name.schema or 'main')}"
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {target}")
                connection.register("rows_to_copy", read_table(schema, table))
                connection.execute(f"CREATE TABLE {target}.{quote_name(table_name.table)} AS FROM rows_to_copy")
                connection.unregister("rows_to_copy")


def _load_extension(connection: Any, database: Database) -> list[str] | None:
    """Return the options with which DuckDB attaches a database, or None where its extension is not installed."""
    import duckdb

    if database.kind == DUCKDB:
        return []
    extension = EXTENSIONS[database.kind]
    try:
        connection.execute(f"LOAD {extension}")
    except duckdb.Error:
        if database.kind == MYSQL:
            raise MissingPackageError(
                f"the database {quote(database.name)} is read by DuckDB's extension mysql, which is not installed: "
                "run INSTALL mysql once in DuckDB, or export the tables as Parquet or CSV"
            ) from None
        return None
    options = [f"TYPE {extension}"]
    if database.url is not None:
        # In a secret, since DuckDB repeats the text of ATTACH in its errors.
        secret = quote_name(f"login of {database.name}")
        login = [
            f"{key} {quote_text(database.parameters[key])}" for key in LOGIN_PARAMETERS if key in database.parameters
        ]
        connection.execute(f"CREATE TEMPORARY SECRET {secret} ({', '.join([*options, *login])})")
        options.append(f"SECRET {secret}")
    return options


def _find_table(database: Database, table_name: TableName, names: Tables) -> tuple[str, str]:
    """Return the schema and the table that a query means."""
    for fold in (str, str.casefold):
        for schema, table, is_visible in names:
            if fold(table) == fold(table_name.table) and (
                fold(schema) == fold(table_name.schema) if table_name.schema else is_visible
            ):
                return schema, table
    known_tables = [str(TableName("" if is_visible else schema, table)) for schema, table, is_visible in names]
    raise unknown_name(f"table of the database {quote(database.name)}", str(table_name), known_tables)


Tables = list[tuple[str, str, bool]]
"""The schema and name of tables, and whether a query may leave out the schema."""
ReadTable = Callable[[str, str], pa.RecordBatchReader]


@contextmanager
def copy_sqlite(database: Database) -> Iterator[tuple[Tables, ReadTable]]:
    """Give the tables of a SQLite file, and a function that reads one."""
    uri = f"{Path(database.address).resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", errors="replace")
        listed_names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        )
        names = [("main", name, True) for (name,) in listed_names if not name.startswith("sqlite_")]

        def read_table(_: str, table: str) -> pa.RecordBatchReader:
            quoted_table = quote_name(table)
            columns = [column[0] for column in connection.execute(f"SELECT * FROM {quoted_table} LIMIT 0").description]
            # Any value may stand in any column: a column's type is that of all its values.
            type_expressions = ", ".join(f"group_concat(DISTINCT typeof({quote_name(column)}))" for column in columns)
            type_names = connection.execute(f"SELECT {type_expressions} FROM {quoted_table}").fetchone()
            kinds = [_find_sqlite_type(set((text or "null").split(",")) - {"null"}) for text in type_names]
            schema = pa.schema(list(zip(columns, kinds, strict=True)))
            expressions = ", ".join(
                f"CAST({quote_name(column)} AS TEXT)" if kind == pa.string() else quote_name(column)
                for column, kind in zip(columns, kinds, strict=True)
            )
            cursor = connection.execute(f"SELECT {expressions} FROM {quoted_table}")
            return pa.RecordBatchReader.from_batches(schema, _read_batches(cursor, schema))

        yield names, read_table


def _find_sqlite_type(kinds: set[str]) -> pa.DataType:
    if kinds == {"integer"}:
        return pa.int64()
    if kinds and kinds <= {"integer", "real"}:
        return pa.float64()
    return pa.binary() if kinds == {"blob"} else pa.string()


def _read_batches(cursor: sqlite3.Cursor, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    while rows := cursor.fetchmany(ROWS_PER_BATCH):
        columns = zip(*rows, strict=True)
        yield pa.record_batch(
            [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)], schema
        )


@contextmanager
def copy_postgres(database: Database) -> Iterator[tuple[Tables, ReadTable]]:
    """Give the tables of a PostgreSQL database, and a function that reads one; all are of the same moment."""
    require("a PostgreSQL database", "adbc_driver_postgresql")
    import adbc_driver_postgresql.dbapi as driver

    with _as_os_error(driver.Error), driver.connect(database.address) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute(
            "SELECT n.nspname::text, c.relname::text, pg_table_is_visible(c.oid) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')"
            " AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 3 DESC, 1, 2"
        )
        names = cursor.fetchall()

        def read_table(schema: str, table: str) -> pa.RecordBatchReader:
            qualified_table = f"{quote_name(schema)}.{quote_name(table)}"
            cursor.execute(
                "SELECT a.attname::text, t.typname::text, t.typcategory = 'A', a.atttypmod FROM pg_attribute a"
                " JOIN pg_type t ON t.oid = a.atttypid WHERE a.attnum > 0 AND NOT a.attisdropped"
                f" AND a.attrelid = {quote_text(qualified_table)}::regclass ORDER BY a.attnum"
            )
            columns = [_select_postgres_column(*row) for row in cursor.fetchall()]
            cursor.execute(f"SELECT {', '.join(columns)} FROM {qualified_table}")
            return cursor.fetch_record_batch()

        yield names, read_table


@contextmanager
def _as_os_error(kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        raise OSError(first_line(error)) from None


def _select_postgres_column(name: str, kind: str, is_list: bool, size: int) -> str:
    """Return the SQL that selects a column, cast to a number or to text if Arrow lacks its type."""
    element = kind.removeprefix("_") if is_list else kind
    if element in POSTGRES_TYPES:
        return quote_name(name)
    target_type = "text"
    if element in ("numeric", "money"):
        precision, scale = divmod(size - 4, 1 << 16)
        is_whole = element == "numeric" and size >= 4 and scale == 0 and precision <= 18
        target_type = "int8" if is_whole else "float8"
    list_suffix = "[]" * is_list
    numeric_cast = f"::numeric{list_suffix}" if target_type != "text" else ""
    return f"{quote_name(name)}{numeric_cast}::{target_type}{list_suffix} AS {quote_name(name)}"


COPIERS = {SQLITE: copy_sqlite, POSTGRES: copy_postgres}


@contextmanager
def one_sentence(subject: str, verb: str = "run", database: Database | None = None) -> Iterator[None]:
    """Turn an error of DuckDB or a driver into one sentence, without the password of a database."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise SourceError(
            f"DuckDB needs more memory for the {subject}: give it more", hint=Setting("memory", "8GB")
        ) from None
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except (duckdb.Error, sqlite3.Error, pa.ArrowException, OSError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        reason = hide_passwords(first_line(error))
        if database is not None and (password := database.parameters.get("password")):
            for secret in (password, percent_encode(password)):
                reason = reason.replace(secret, "…")
        if "WITH clause containing" in reason or "not allowed as CTE" in reason:
            reason = f"it writes, expected {EXPECTED_QUERY}"
        elif "requires the extension" in reason or "exists in the" in reason:
            reason += " (no extension is loaded for a query)"
        raise SourceError(f"the {subject} cannot be {verb}: {reason}") from None


# Files by address


def fetch_file(address: str, folder: Path, progress: Progress) -> str:
    """Copy the file of an address, or the files of a pattern in a bucket, into a folder; return where they are.

    The folders of a bucket's keys stay, since names such as ``year=1999`` hold values.
    """
    progress(f"fetching {hide_passwords(address)}", 0, None)
    is_object_store = address.startswith("s3://")
    folder.mkdir(parents=True)
    try:
        return str(_fetch_objects(address, folder) if is_object_store else _fetch_url(address, folder))
    except (OSError, ValueError, pa.ArrowException, HTTPException) as error:
        cause = error if isinstance(error, HTTPError) else getattr(error, "reason", error)
        hint = (
            "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, says who you are" if is_object_store else None
        )
        place, reason = hide_passwords(address), hide_passwords(first_line(cause))
        raise SourceError(f"{quote(place)} cannot be fetched: {reason}", hint=hint) from None


def _fetch_url(address: str, folder: Path) -> Path:
    name = PurePosixPath(unquote(urlsplit(address).path)).name
    target = folder / (name.translate(PATTERN_REPLACEMENTS) or "file")
    request = Request(address, headers={"User-Agent": "cube2net"})
    with urlopen(request, timeout=TIMEOUT_SECONDS) as answer, target.open("wb") as file:
        copyfileobj(answer, file)
    return target


def _fetch_objects(address: str, folder: Path) -> Path:
    from pyarrow.fs import FileSelector, FileSystem

    store, pattern = FileSystem.from_uri(address)
    if ".." in PurePosixPath(pattern).parts:
        raise ValueError("its key leads upwards")
    keys = [pattern]
    if (wildcard := re.search(r"[*?\[]", pattern)) is not None:
        parent_folder = pattern[: wildcard.start()].rpartition("/")[0]
        file_infos = store.get_file_info(FileSelector(parent_folder, recursive=True))
        keys = [info.path for info in file_infos if info.is_file and fnmatchcase(info.path, pattern)]
        if not keys:
            raise FileNotFoundError("no key is like it")
    for key in keys:
        target = folder / key
        target.parent.mkdir(parents=True, exist_ok=True)
        with store.open_input_stream(key) as source, target.open("wb") as file:
            copyfileobj(source, file)
    return Path(folder, pattern)
