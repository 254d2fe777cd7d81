"""Databases are attached for reading, files are fetched from addresses, and no password is shown or kept."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cube2net as c2n
from cube2net._util.progress import silent
from cube2net.apps.cli.build import SuggestRequest
from cube2net.errors import Cube2netError, MissingPackageError
from cube2net.io import databases
from cube2net.io.databases import attach_database, parse_database
from cube2net.io.sql import Sql

PAPERS = [("p1", "ada", 1999), ("p1", "bob", 1999), ("p2", "ada", 2004), ("p2", "eve", 2004)]
RECORDS = {"objects": "author", "item": "paper"}
SERVER_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def refusal(*queries: str, **options: Any) -> str:
    with pytest.raises(Cube2netError) as refused:
        c2n.read_sql(*queries, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


# SQLite and DuckDB


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "library.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE papers (paper TEXT, author TEXT, year INT)")
        connection.executemany("INSERT INTO papers VALUES (?, ?, ?)", PAPERS)
        connection.execute('CREATE VIEW "old papers" AS SELECT * FROM papers WHERE year < 2000')
        connection.execute("CREATE TABLE mixed (id, number REAL, huge INT, word TEXT, raw BLOB, empty)")
        connection.execute("INSERT INTO mixed VALUES (1, 1.5, 9.5, CAST(x'ff61' AS TEXT), x'00', NULL)")
        connection.execute("INSERT INTO mixed VALUES ('two', 2, 3, 'b', x'01', NULL)")
    connection.close()
    return path


def test_tables_and_views_of_sqlite_and_duckdb_are_read_beside_files(library: Path, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "more.duckdb") as connection:
        connection.execute("CREATE TABLE cities AS SELECT 'ada' AS name, 'Rome' AS city")
    Path(tmp_path, "since.csv").write_text("name,since\nada,1990\n", encoding="utf-8")
    query = f"""
        SELECT papers.*, city, since FROM db.Papers papers LEFT JOIN more.main.cities ON author = cities.name
        LEFT JOIN '{tmp_path}/since.csv' AS s ON author = s.name ORDER BY ALL
    """
    corpus = c2n.read_sql(query, attach={"db": str(library), "more": str(tmp_path / "more.duckdb")}, **RECORDS)
    assert repr(corpus) == "Corpus(3 objects, 2 items, links by co-mention)"
    assert {"year", "city", "since"} <= {*corpus.items.column_names, *corpus.objects.column_names}
    old = c2n.read_sql('FROM db."old papers"', attach={"db": str(library)}, **RECORDS)
    assert repr(old) == "Corpus(2 objects, 1 item, links by co-mention)"


def test_a_column_of_sqlite_has_the_type_of_all_its_values(library: Path) -> None:
    with databases.copy_sqlite(parse_database("db", library)) as (_, read):
        table = read("main", "mixed").read_all()
    assert table.schema.types == [pa.string(), pa.float64(), pa.float64(), pa.string(), pa.binary(), pa.string()]
    assert table.column("id").to_pylist() == ["1", "two"]
    assert table.column("word").to_pylist() == ["\ufffda", "b"]


def test_what_is_attached_stays_as_it_is(library: Path) -> None:
    before = library.read_bytes(), sorted(library.parent.iterdir())
    c2n.read_sql("FROM db.papers", attach={"db": str(library)}, **RECORDS)
    assert (library.read_bytes(), sorted(library.parent.iterdir())) == before


def test_a_table_that_is_not_there_is_named_with_those_that_are(library: Path) -> None:
    told = refusal("FROM db.paper", attach={"db": str(library)})
    assert told == (
        "unknown table of the database 'db' 'paper': choose one of mixed, old papers, papers (did you mean 'papers'?)"
    )


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("gone.sqlite", "the database 'db' cannot be opened: gone.sqlite: No such file or directory"),
        ("x.csv", "the database 'db' is not understood: x.csv is no SQLite or DuckDB file"),
        ("broken.sqlite", "the database 'db' cannot be read: file is not a database"),
        ("", "no address is given of the database 'db', expected the path of a SQLite or DuckDB file, postgresql://"),
        ("oracle://ada:s3cret@host/x", "the address of the database 'db' begins with 'oracle', expected the path of"),
        ("postgresql://ada:s3/cret@host/x", "the address of the database 'db' is not understood: write postgresql://"),
        ("postgresql://ada:s3@cret@host/x", "the address of the database 'db' is not understood: write postgresql://"),
        (
            "mysql://ada:s3cret@host/x",
            "the database 'db' is read by DuckDB's extension mysql, which is not installed: ",
        ),
    ],
)
def test_a_database_that_cannot_be_opened_is_one_sentence_without_its_password(
    address: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(databases, "_load_extension", partial(without_extensions, databases._load_extension))
    Path("x.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    Path("broken.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    said = refusal("FROM db.papers", attach={"db": address})
    assert said.startswith(told)
    assert "cret" not in said


def without_extensions(load: Any, connection: Any, database: Any) -> Any:
    """Load extensions as if none were installed."""
    connection.execute(f"SET extension_directory = '{tempfile.gettempdir()}/no-extensions'")
    return load(connection, database)


def test_an_installed_extension_attaches_with_a_secret_and_for_reading() -> None:
    statements: list[str] = []
    connection = SimpleNamespace(execute=statements.append)
    database = parse_database("db", "mysql://ada:it%27s@example.org:3307/library?ssl_mode=required")
    attach_database(connection, database, [], silent)
    assert statements == [
        "LOAD mysql",
        "CREATE TEMPORARY SECRET \"login of db\" (TYPE mysql, host 'example.org', port '3307', user 'ada', "
        "password 'it''s', database 'library')",
        'ATTACH \'ssl_mode=required\' AS "db" (TYPE mysql, SECRET "login of db", READ_ONLY)',
    ]


def test_what_may_change_without_a_sign_is_read_again_in_every_build() -> None:
    assert Sql(queries=("FROM db.papers",), attach={"db": "postgresql://ada@host/x"}).is_remote
    assert Sql(queries=("FROM 's3://bucket/x.csv'",)).is_remote
    local = Sql(queries=("FROM db.papers",), attach={"db": "library.sqlite"})
    assert not local.is_remote
    assert local.files_read() == [Path("library.sqlite")]


def test_the_command_line_attaches_and_shows_no_password(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cube2net.apps.cli.app import main

    def run(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["cube2net", *words, "--out", str(tmp_path / "cube"), "--quiet"])
        with pytest.raises(SystemExit):
            main()
        told = capsys.readouterr()
        return told.out + told.err

    options = ("--set", "objects=author", "--min-objects", "1", "--dimension", "year")
    told = run("build", "sql", "FROM db.papers", "--set", f"attach=db:{library}", *options)
    assert "Cube(year: 2 cells, 3 objects, 2 links)" in told
    for text in ("oracle://ada:s3cret@host/x", "db:oracle://ada:s3cret@host/x"):
        told = run("build", "sql", "FROM db.papers", "--set", f"attach={text}")
        assert ("needs a name" in told or "expected" in told) and "s3cret" not in told
    request = SuggestRequest("sql", (), ("attach=db:postgresql://ada:s3cret@host/x",), (), False, 0)
    proposal: Any = SimpleNamespace(min_objects=10, dimensions=(), needs_topics=False)
    assert "s3cret" not in f"{request.command(proposal)} {request.python(proposal)}"


# PostgreSQL


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Give the address of a PostgreSQL server on a socket in a temporary folder, without the name of a user."""
    pytest.importorskip("adbc_driver_postgresql", reason="the extra sql is not installed")
    if not SERVER_PROGRAMS:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    as_user = {"user": "postgres"} if os.getuid() == 0 else {}
    run = partial(subprocess.run, check=True, capture_output=True, cwd="/", **as_user)
    folder = Path(tempfile.mkdtemp(prefix="cube2net-postgres-"))
    try:
        if as_user:
            shutil.chown(folder, "postgres")
        data, control = folder / "data", [SERVER_PROGRAMS[-1] / "pg_ctl", "-D", folder / "data", "-w"]
        run([SERVER_PROGRAMS[-1] / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"])
        run([*control, "-o", f"-k {folder} -c listen_addresses= -c fsync=off", "-l", folder / "log", "start"])
        try:
            yield f"postgresql://USER@/postgres?host={folder}"
        finally:
            run([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def postgres(server: str) -> str:
    """Give the address of a database with tables."""
    import adbc_driver_postgresql.dbapi as driver

    address = server.replace("USER", "postgres:s3cret")
    with driver.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE papers (paper text, author text, year int)")
        rows = ", ".join(map(str, PAPERS))
        cursor.execute(f"INSERT INTO papers VALUES {rows}")
        cursor.execute("CREATE SCHEMA archive")
        cursor.execute('CREATE VIEW archive."Old papers" AS SELECT * FROM papers WHERE year < 2000')
        cursor.execute("CREATE TYPE mood AS ENUM ('good', 'bad')")
        cursor.execute(
            "CREATE TABLE kinds AS SELECT 1::numeric(9) AS id, 2.5::numeric AS n, 3.25::money AS m, 'good'::mood AS e,"
            " '{\"a\": 1}'::jsonb AS j, '10.0.0.1'::cidr AS ip, ARRAY['x', 'y'] AS texts, ARRAY[1.5, 2] AS numbers,"
            " ARRAY['good'::mood] AS moods, DATE '1999-01-02' AS day, TIMESTAMPTZ '1999-01-02 10:00+00' AS at,"
            " '123e4567-e89b-12d3-a456-426614174000'::uuid AS u, true AS ok, NULL::numeric AS nothing"
        )
    return address


@pytest.mark.slow  # starts a PostgreSQL server
def test_tables_and_views_of_postgresql_are_read(postgres: str, tmp_path: Path) -> None:
    corpus = c2n.read_sql("FROM db.papers WHERE year > 1990", attach={"db": postgres}, **RECORDS)
    assert repr(corpus) == "Corpus(3 objects, 2 items, links by co-mention)"
    old = c2n.read_sql('FROM db.archive."Old papers"', attach={"db": postgres}, **RECORDS)
    assert repr(old) == "Corpus(2 objects, 1 item, links by co-mention)"
    source = Sql(queries=("FROM db.papers",), attach={"db": postgres}, **RECORDS)
    cube = c2n.build(source=source, out=tmp_path / "cube", dimensions=["year"], min_objects=1)
    assert repr(cube) == "Cube(year: 2 cells, 3 objects, 2 links)"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]


@pytest.mark.slow  # starts a PostgreSQL server
def test_the_types_of_postgresql_come_as_numbers_texts_lists_and_times(postgres: str) -> None:
    with databases.copy_postgres(parse_database("db", postgres)) as (_, read):
        (row,) = duckdb.from_arrow(read("public", "kinds").read_all()).to_arrow_table().to_pylist()
    assert {key: row[key] for key in ("id", "n", "m", "e", "j", "ip", "ok", "nothing")} == {
        "id": 1, "n": 2.5, "m": 3.25, "e": "good", "j": '{"a": 1}', "ip": "10.0.0.1/32", "ok": True, "nothing": None
    }  # fmt: skip
    assert (row["texts"], row["numbers"], row["moods"]) == (["x", "y"], [1.5, 2.0], ["good"])
    assert (str(row["day"]), str(row["at"])[:19], row["u"]) == (
        "1999-01-02",
        "1999-01-02 10:00:00",
        "123e4567-e89b-12d3-a456-426614174000",
    )


@pytest.mark.slow  # starts a PostgreSQL server
def test_a_server_that_refuses_is_one_sentence_without_the_password(postgres: str, server: str) -> None:
    told = refusal("FROM db.paper", attach={"db": postgres})
    assert told.startswith(
        "unknown table of the database 'db' 'paper': choose one of archive.Old papers, kinds, papers"
    )
    told = refusal("FROM db.papers", attach={"db": server.replace("USER", "nobody:s3cret")})
    assert told.startswith("the database 'db' cannot be read: ")
    assert 'role "nobody" does not exist' in told
    assert "s3cret" not in told


def test_without_the_driver_postgresql_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_load_extension", partial(without_extensions, databases._load_extension))
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(MissingPackageError, match=r"pip install adbc-driver-postgresql \(extra 'sql'\)"):
        c2n.read_sql("FROM db.papers", attach={"db": "postgresql://ada@host/x"})


# Addresses


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """Give the host of a server of the files in a folder, which are also the objects of a bucket."""
    folder = tmp_path / "site" / "bucket"
    folder.mkdir(parents=True)
    table = pa.table(dict(zip(("paper", "author", "year"), map(list, zip(*PAPERS, strict=True)), strict=True)))
    pq.write_table(table, folder / "papers.parquet")
    (folder / "papers.csv").write_text("paper,author\np1,ada\np1,bob\n", encoding="utf-8")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder.parent))) as served:
        threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
        yield f"127.0.0.1:{served.server_port}"
        served.shutdown()


def test_files_at_addresses_are_read_where_a_query_names_them(site: str, tmp_path: Path) -> None:
    for name, count in (("papers.parquet", 3), ("papers.csv", 2)):
        corpus = c2n.read_sql(f"SELECT * FROM 'http://{site}/bucket/{name}?version=1'", **RECORDS)
        assert corpus.objects.num_rows == count
    corpus = c2n.read_sql(f"FROM read_csv(['http://{site}/bucket/papers.csv'])", **RECORDS)
    assert corpus.objects.num_rows == 2


def test_an_address_that_is_only_a_value_is_not_fetched(tmp_path: Path) -> None:
    Path(tmp_path, "x.csv").write_text("paper,author\np1,ada\np1,bob\n", encoding="utf-8")
    corpus = c2n.read_sql(f"SELECT 'https://example.org/' || paper AS paper, author FROM '{tmp_path}/x.csv'", **RECORDS)
    assert corpus.items.num_rows == 1


def test_an_address_that_cannot_be_fetched_is_one_sentence_without_its_password(site: str) -> None:
    told = refusal(f"FROM 'http://{site}/gone.csv'")
    assert told == f"'http://{site}/gone.csv' cannot be fetched: HTTP Error 404: File not found"
    told = refusal("FROM 'http://ada:s3cret@127.0.0.1:1/x.csv'")
    assert told.startswith("'http://ada:…@127.0.0.1:1/x.csv' cannot be fetched: ")


def test_objects_of_a_bucket_are_read(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("EC2_METADATA_DISABLED", "true")):
        monkeypatch.setenv(f"AWS_{name}", value)
    place = f"?endpoint_override={site}&scheme=http&region=eu-west-1"
    corpus = c2n.read_sql(f"FROM 's3://bucket/papers.parquet{place}'", **RECORDS)
    assert corpus.objects.num_rows == 3
    told = refusal(f"FROM 's3://bucket/gone.parquet{place}'")
    assert told.startswith(f"'s3://bucket/gone.parquet{place}' cannot be fetched: ")
    assert told.endswith("(AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, says who you are)")
