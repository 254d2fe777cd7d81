"""SQL queries over files give tables, and do nothing else."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cube2net as c2n
from cube2net.apps.cli.app import render_message
from cube2net.errors import Cube2netError, Message, Setting
from cube2net.io.sql import Sql

NODES = {"id": [1, 2, 3], "city": ["Rome", "Oslo", "Oslo"], "born": [1970, 1981, 1992]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(NODES), "people.parquet")
    Path("knows.csv").write_text("a,b,w\n1,2,2\n2,3,1\n", encoding="utf-8")
    rows = "".join(f'{{"paper": "p{i // 2}", "author": "a{i % 3}", "year": {1995 + 3 * (i // 2)}}}\n' for i in range(8))
    Path("papers.jsonl").write_text(rows, encoding="utf-8")
    return tmp_path


def refusal(*queries: str, **options: Any) -> str:
    with pytest.raises(Cube2netError) as refused:
        c2n.read_sql(*queries, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


LINKS = "SELECT a AS source, b AS target, w AS weight FROM 'knows.csv'"


@pytest.mark.usefixtures("folder")
def test_queries_by_order_and_by_name_give_the_corpus_of_their_tables() -> None:
    table = pq.read_table("people.parquet")
    links = pa.table({"source": [1, 2], "target": [2, 3], "weight": [2, 1]})
    expected = c2n.read_tables(table, links)
    for corpus in (
        c2n.read_sql("FROM 'people.parquet'", LINKS),
        c2n.read_sql("FROM 'people.parquet';", links=LINKS),
        c2n.read_sql(nodes="SELECT * FROM read_parquet('people.parquet') -- all of them", links=LINKS),
        c2n.read_source("sql", "FROM 'people.parquet'", LINKS),
    ):
        assert corpus.objects.equals(expected.objects)
        assert corpus.items.equals(expected.items)
        assert corpus.links is not None and corpus.links.equals(expected.links)


@pytest.mark.usefixtures("folder")
def test_one_query_of_records_is_items_mentions_and_objects() -> None:
    corpus = c2n.read_sql("SELECT * FROM 'papers.jsonl' WHERE year > 1995", objects="author", item="paper")
    assert repr(corpus) == "Corpus(3 objects, 3 items, links by co-mention)"
    lists = (
        "SELECT paper, list(author) AS authors, sum(year) AS total FROM 'papers.jsonl' GROUP BY paper ORDER BY paper"
    )
    grouped = c2n.read_sql(lists)
    assert grouped.items["total"].to_pylist() == [3990, 3996, 4002, 4008]
    assert grouped.mentions.num_rows == 8


@pytest.mark.usefixtures("folder")
def test_tables_of_items_mentions_and_objects_come_from_queries() -> None:
    corpus = c2n.read_sql(
        objects="SELECT DISTINCT author AS id FROM 'papers.jsonl'",
        items="SELECT DISTINCT paper AS item, year FROM 'papers.jsonl'",
        mentions="SELECT paper AS item, author AS object FROM 'papers.jsonl'",
    )
    assert repr(corpus) == "Corpus(3 objects, 4 items, links by co-mention)"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("COPY (SELECT 1) TO 'evil.csv'", "the query is a COPY statement, expected one query that only reads"),
        ("WITH x AS (COPY (SELECT 1) TO 'evil.csv') SELECT * FROM x", "the query cannot be run: it writes, expected"),
        ("FROM query('WITH x AS (COPY (SELECT 1) TO ''evil.csv'') FROM x')", "the query cannot be run: it writes"),
        ("WITH x AS (INSERT INTO y VALUES (1) RETURNING *) FROM x", "the query cannot be run: "),
        ("SELECT 1) ; COPY (SELECT 1) TO 'evil.csv'; (SELECT 1", "the query cannot be run: parser error"),
        ("SELECT 1; COPY (SELECT 1) TO 'evil.csv'", "the query holds 2 statements, expected one query that only"),
        ("ATTACH 'evil.db'", "the query is a ATTACH statement"),
        ("INSTALL httpfs", "the query is a LOAD statement"),
        ("LOAD httpfs", "the query is a LOAD statement"),
        ("SET lock_configuration = false", "the query is a SET statement"),
        ("PRAGMA enable_profiling", "the query is a PRAGMA statement"),
        ("EXPORT DATABASE 'evil'", "the query is a EXPORT statement"),
        ("CREATE TABLE x AS SELECT 1", "the query is a CREATE statement"),
        ("FROM enable_logging(storage='file', storage_path='evil')", "the query cannot be run: "),
        ("FROM sqlite_scan('a.db', 'b')", "the query cannot be run: "),
        ("FROM NODES", "the query cannot be run: catalog error: table with name"),
        ("FROM 'nobody.parquet'", "the query cannot be run: "),
        ("SELEC 1", "the query cannot be run: parser error"),
        ("", "the query holds nothing, expected one query that only reads"),
        ("-- nothing", "the query holds nothing"),
    ],
)
def test_a_query_that_does_more_than_read_is_refused(query: str, told: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert refusal(query).casefold().startswith(told.casefold())
    assert sorted(folder.iterdir()) == before


@pytest.mark.usefixtures("folder")
def test_a_query_sees_no_variable_of_the_program() -> None:
    people = pa.table(NODES)
    assert people.num_rows == 3
    assert "cannot be run" in refusal("FROM people", LINKS)


@pytest.mark.usefixtures("folder")
def test_a_role_is_named_in_what_is_wrong_with_its_query() -> None:
    assert refusal("FROM 'people.parquet'", links="FROM 'gone.csv'").startswith("the query of links cannot be run: ")
    assert refusal("FROM 'people.parquet'", "FROM x").startswith("the query 2 cannot be run: ")
    assert refusal("FROM 'people.parquet'", memory="much").startswith("memory is 'much'")
    with pytest.raises(Cube2netError, match="a query is 5, expected a text"):
        c2n.read_sql(5)  # type: ignore[arg-type]
    with pytest.raises(Cube2netError, match="the source 'sql' reads no path by itself, got 'a.csv'"):
        Sql().read([Path("a.csv")])


@pytest.mark.usefixtures("folder")
def test_the_files_of_a_query_are_those_it_names() -> None:
    query = "SELECT 'people.parquet' AS x FROM 'knows.csv' JOIN read_json(['papers.jsonl', 'gone.json']) ON true"
    assert Sql(queries=(query,)).files_read() == [Path("knows.csv"), Path("papers.jsonl")]
    assert Sql(links="FROM 'p*.*'").files_read() == [Path("papers.jsonl"), Path("people.parquet")]


def test_a_build_by_sql_is_taken_up_only_where_its_files_are_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cube2net.api import build as building

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def built() -> list[str]:
        said: list[str] = []
        c2n.build(
            ["FROM 'people.parquet'", LINKS],
            source="sql",
            out=folder / "cube",
            dimensions=["city"],
            min_objects=1,
            progress=lambda stage, done, total=None: said.append(stage),
        )
        return said

    def cut() -> None:
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(building.build_module, "build", stop)
            built()

    again = "corpus: taken from the run before, which did not finish"
    cut()
    assert again in built()
    cut()
    Path("knows.csv").write_text("a,b,w\n1,3,2\n", encoding="utf-8")
    assert again not in built()
    assert repr(c2n.open(folder / "cube")) == "Cube(city: 2 cells, 3 objects, 1 link)"


@pytest.mark.usefixtures("folder")
def test_the_command_line_builds_by_sql(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from cube2net.apps.cli.app import main

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["cube2net", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out + told.err

    common = ("--out", "cube", "--dimension", "city", "--min-objects", "1", "--quiet")
    people = "SELECT * FROM 'people.parquet' WHERE city != 'a//b'"
    status, told = run("build", "sql", people, "--links", LINKS, *common)
    assert (status, "Cube(city: 2 cells, 3 objects, 2 links)" in told) == (0, True)
    status, told = run("build", "sql", "DROP TABLE x", *common)
    assert (status, "the query is a DROP statement" in told) == (2, True)
    status, told = run("build", "sql", *common)
    assert (status, "source 'sql' needs a query to run" in told) == (2, True)
    status, told = run(
        "build", "tables", "people.parquet", "--links", "knows.csv", "--set", "columns=source:a,target:b", *common
    )
    assert (status, "Cube(city: 2 cells, 3 objects, 2 links)" in told) == (0, True)


def test_advice_is_given_as_it_is_typed() -> None:
    assert render_message(Message("give it more (", Setting("memory", "8GB"), ")")) == "give it more (--memory 8GB)"
    message = Message("needs links beside it (", Setting("links"), ")")
    assert render_message(message) == "needs links beside it (--links …)"
