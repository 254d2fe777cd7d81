"""One contract for every engine: the same statements make the same tables, and the same cube on disk."""

import os
import socket
import subprocess
import sys
import textwrap
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from cube2net.cube import ENGINES, DuckDB, Spark, build, read_manifest, save, verify
from cube2net.cube.spark_java import check_java, java_version
from cube2net.cube.spark_master import reach_master
from cube2net.cube.spark_session import reason_of
from cube2net.cube.spark_staging import ROWS as ROWS_A_FILE
from cube2net.cube.spark_staging import SAME_STORE, staging_folder
from cube2net.errors import InputError, MissingPackageError, ParameterError
from cube2net.interfaces import Engine
from cube2net.mapped import write_table
from cube2net.records import DimensionSpec
from cube2net.topics.given import Given
from cube2net.topics.spark_lda import SparkLda

from corpora import corpus_of
from sparks import (
    DECADE,
    JAVA,
    MASTER,
    Planned,
    any_corpora,
    by_columns,
    corpus_in_order,
    needs_spark,
    session,
    side_by_side,
    taken_apart,
)

__all__ = ["session"]

ORDERED = ("cells", "members", "links")
MANY = 40


@pytest.fixture(params=[pytest.param(name, marks=needs_spark if name == "spark" else ()) for name in ENGINES])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param != "spark":
        return ENGINES[request.param]()
    request.getfixturevalue("session")
    return Spark(master=MASTER, shuffle_partitions=2)


@cache
def many() -> tuple[list[list], list[Planned]]:
    """Return the rows of many random corpora and a larger one, and what their plans read."""
    rows = any_corpora(MANY)
    return rows, [*(Planned.of(corpus_of(each, objects=10)) for each in rows), Planned.of(corpus_in_order())]


@cache
def made_alone() -> list[dict[str, pa.Table]]:
    """Return what DuckDB makes of each of many corpora in a run of its own."""
    return [part.run(DuckDB(), least=2, most=3) for part in many()[1]]


@cache
def made_at_once(name: str) -> dict[str, pa.Table]:
    """Return what an engine makes of many corpora in one run, as it comes."""
    engine = Spark(master=MASTER, shuffle_partitions=2) if name == "Spark" else DuckDB()
    return side_by_side(many()[1]).run(engine, least=2, most=3)


def test_three_items_make_the_tables_one_would_write_by_hand(engine: Engine) -> None:
    rows = [(2003, ["KDD"], [1, 0, 1]), (2015, ["ACL"], [0]), (2015, ["ACL", "KDD"], [0, 1, 2])]
    tables = Planned.of(corpus_of(rows, objects=3)).run(engine, least=3, most=2)
    made = {name: by_columns(table) for name, table in tables.items()}
    assert made["cells"].to_pylist() == [
        {"cell": 0, "cell_key": 2, "objects": 3},
        {"cell": 1, "cell_key": 3, "objects": 3},
        {"cell": 2, "cell_key": 1, "objects": 2},
    ]
    assert made["members"]["cell"].to_pylist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert made["members"]["object"].to_pylist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert made["crowded"].to_pylist() == [{"item": 2}]
    assert made["links"].to_pylist() == [{"source": 0, "target": 1, "weight": 1.0}]
    types = {name: [str(kind) for kind in table.schema.types] for name, table in made.items()}
    assert types == {
        "cells": ["int64", "int64", "int64"],
        "members": ["int64", "int32"],
        "crowded": ["int32"],
        "links": ["int32", "int32", "float"],
    }


def test_many_random_corpora_in_one_run_make_the_tables_that_duckdb_makes_of_each_alone(engine: Engine) -> None:
    rows, parts = many()
    assert len(rows) >= MANY
    together = made_at_once(type(engine).__name__)
    made = taken_apart(together, parts)
    for number, alone in enumerate(made_alone()):
        assert list(together) == list(alone)
        for name, table in alone.items():
            told = (name, rows[number : number + 1])
            assert table.schema.equals(made[number][name].schema, check_metadata=True), told
            assert by_columns(table).equals(by_columns(made[number][name])), told


@needs_spark
def test_spark_and_duckdb_make_the_same_tables_of_any_corpus(session: object) -> None:
    one, other = (made_at_once(name) for name in ("DuckDB", "Spark"))
    assert list(one) == list(other)
    for name in one:
        assert one[name].schema.equals(other[name].schema, check_metadata=True), name
        assert by_columns(one[name]).equals(by_columns(other[name])), name


def test_tables_that_the_plan_orders_come_in_that_order(engine: Engine) -> None:
    for name in ORDERED:
        table = made_at_once(type(engine).__name__)[name]
        assert table.num_rows > 90
        assert table.equals(table.sort_by([(column, "ascending") for column in table.column_names[:2]])), name


@pytest.mark.parametrize("mentioned", [[], [0]], ids=["no mentions", "one each"])
def test_items_that_mention_nothing_or_have_no_label_make_empty_tables(
    engine: Engine, mentioned: list[int], tmp_path: Path
) -> None:
    corpus = corpus_of([(2003, [], mentioned), (None, ["KDD"], mentioned)], objects=1)
    made = Planned.of(corpus).run(engine, folder=tmp_path if mentioned else None)
    assert [made[name].num_rows for name in ("cells", "members", "links", "crowded")] == [0, 0, 0, 0]


def test_a_run_that_failed_goes_on_where_it_was(engine: Engine, tmp_path: Path) -> None:
    inputs = {"t": pa.table({"x": pa.array([3, 1, 2, 2], pa.int32())})}
    plan = {
        "few": "SELECT DISTINCT x FROM t",
        "twice": "SELECT x, x + x AS y FROM few ORDER BY x",
        "lost": "SELECT CAST('a word' AS INT) AS z FROM twice",
        "last": "SELECT a.x, b.y FROM twice a JOIN few f ON f.x = a.x JOIN twice b ON b.x = a.x ORDER BY a.x",
    }
    wanted = ["twice", "lost", "last"]
    folder = tmp_path
    with pytest.raises(Exception, match="a word|CAST_INVALID_INPUT"):
        engine.run(inputs, plan, wanted, folder=folder)
    assert {path.name for path in folder.glob("*.arrow*")} <= {"twice.arrow"}
    (folder / "lost.arrow.part").write_bytes(b"half of it")
    mended = {**plan, "lost": "SELECT y FROM twice WHERE y > 2 ORDER BY y"}
    whole = DuckDB().run(inputs, mended, wanted)
    said: list[str] = []
    resumed = engine.run(
        inputs,
        {**mended, "twice": "SELECT nothing FROM nowhere"},
        wanted,
        folder=folder,
        progress=lambda stage, done, total=None: said.append(stage),
    )
    assert "cube: twice" not in said
    assert said[-3:] == ["cube: lost", "cube: last", "cube"]
    assert whole["last"].to_pydict() == {"x": [1, 2, 3], "y": [2, 4, 6]}
    for name in wanted:
        assert resumed[name].schema.equals(whole[name].schema, check_metadata=True), name
        assert resumed[name].equals(whole[name]), name
    assert {path.name for path in folder.glob("*.arrow*")} == {f"{name}.arrow" for name in wanted}


def test_spark_does_not_start_for_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, values in {"one": [1], "two": [2, 2]}.items():
        write_table(tmp_path / f"{name}.arrow", pa.table({"x": values}))
    monkeypatch.setattr(Spark, "session", lambda self: pytest.fail("Spark was started"))
    plan = {"all": "SELECT x FROM t", "one": "SELECT x FROM all", "two": "SELECT x FROM one"}
    made = Spark().run({"t": pa.table({"x": [0]})}, plan, ["one", "two"], folder=tmp_path)
    assert [made[name]["x"].to_pylist() for name in ("one", "two")] == [[1], [2, 2]]


@needs_spark
def test_spark_runs_only_the_statements_that_what_is_missing_reads(
    session: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import SparkSession

    inputs = {"t": pa.table({"x": [1, 2]}), "u": pa.table({"x": [5]})}
    plan = {
        "a": "SELECT x FROM u",
        "b": "SELECT x FROM a",
        "c": "SELECT x + 1 AS x FROM b",
        "d": "SELECT t.x FROM t JOIN c ON c.x > t.x ORDER BY t.x",
    }
    write_table(tmp_path / "c.arrow", pa.table({"x": [2]}))
    run, plain = [], SparkSession.sql
    monkeypatch.setattr(SparkSession, "sql", lambda self, text: run.append(text) or plain(self, text))
    made = Spark().run(inputs, plan, ["c", "d"], folder=tmp_path)
    assert run == [plan["d"]]
    assert made["d"]["x"].to_pylist() == [1]


@needs_spark
def test_a_folder_that_cannot_be_written_is_one_sentence(session: object, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write '.*/file/b.arrow': "):
        Spark().run({"a": pa.table({"x": [3]})}, {"b": "SELECT x FROM a"}, ["b"], folder=tmp_path / "file")


def test_progress_names_every_statement_in_turn(engine: Engine) -> None:
    said: list[tuple[str, int, int | None]] = []
    statement = {"first_one": "SELECT object FROM mentions", "second": "SELECT object FROM first_one"}
    corpus = corpus_of([(2003, ["KDD"], [0])], objects=1)
    made = engine.run(
        {"mentions": corpus.mentions},
        statement,
        ["second"],
        progress=lambda stage, done, total=None: said.append((stage, done, total)),
    )
    assert made["second"].to_pylist() == [{"object": 0}]
    assert said[-3:] == [("cube: first one", 0, 2), ("cube: second", 1, 2), ("cube", 2, 2)]


@needs_spark
@pytest.mark.parametrize("model", ["given", "spark-lda"])
def test_spark_and_duckdb_build_the_same_cube(session: object, tmp_path: Path, model: str) -> None:
    venues = ['L\'Aquila "98"', "Zürich – 会议", "a;b`c --", "\\"]
    rows = [(1995 + i % 30, [venues[i % 4], venues[(i // 4) % 4]], [i % 9, (i * 7) % 9, i % 5]) for i in range(40)]
    rows += [(None, ["\\"], [1, 2]), (2003, [], [3, 4]), (2003, ["\\"], list(range(9)))]
    corpus = corpus_of(rows, objects=9, kinds=dict.fromkeys(venues, "a kind"))
    texts = [("parser, treebank, grammar, tree", "speech, audio, phoneme, voice")[i % 2] for i in range(len(rows))]
    items = corpus.items.append_column("subject", pa.array(texts)).append_column("text", pa.array(texts))
    corpus = replace(corpus, items=items)
    spark = Spark(master=MASTER, shuffle_partitions=2)
    learner = Given(attribute="subject") if model == "given" else SparkLda(spark=spark, count=2, iterations=3, starts=1)
    topics = learner.topics(corpus, seed=0)
    specs = [DECADE, DimensionSpec("venue", "venue", parent="kind"), DimensionSpec("topic", "topic")]
    for name, maker in (("duckdb", DuckDB()), ("spark", spark)):
        save(build(corpus, specs, maker, topics=topics, min_objects=3, max_mentions=8), tmp_path / name)
        assert verify(tmp_path / name)
    one, other = (read_manifest(tmp_path / name) for name in ("duckdb", "spark"))
    assert one["files"] == other["files"]
    assert one["counts"] == other["counts"]
    assert (one["settings"].pop("engine"), other["settings"].pop("engine")) == ("DuckDB", "Spark")
    assert one["settings"] == other["settings"]
    assert one["settings"]["topics"]["model"] == model
    assert one["counts"]["cells"] > 10
    for name in one["files"]:
        assert (tmp_path / "duckdb" / name).read_bytes() == (tmp_path / "spark" / name).read_bytes()


@needs_spark
def test_a_running_session_keeps_its_views_and_settings_and_goes_on(session: object, tmp_path: Path) -> None:
    session.sql("SELECT 'mine' AS word").createOrReplaceTempView("mentions")
    before = session.conf.get("spark.sql.shuffle.partitions")
    corpus = corpus_of([(2003, ["KDD"], [0])], objects=1)
    spark = Spark(shuffle_partitions=3, staging=str(tmp_path / "not yet there"))
    made = spark.run({"mentions": corpus.mentions}, {"said": "SELECT item FROM mentions"}, ["said"])
    assert made["said"].to_pylist() == [{"item": 0}]
    assert session.sql("SELECT word FROM mentions").first()[0] == "mine"
    assert session.conf.get("spark.sql.shuffle.partitions") == before
    assert session.sparkContext._jsc.getPersistentRDDs().isEmpty()
    assert list((tmp_path / "not yet there").iterdir()) == []


@needs_spark
@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("SELECT nothing FROM mentions", "Spark could not run the statement 'said': [UNRESOLVED_COLUMN"),
        ("SELEKT item FROM mentions", "Spark could not run the statement 'said': [PARSE_SYNTAX_ERROR]"),
        (
            "SELECT item FROM mentions WHERE 10 / item > 0",
            "Spark could not run the statement 'said': [DIVIDE_BY_ZERO]",
        ),
    ],
)
def test_a_statement_that_fails_is_one_sentence(
    session: object, capfd: pytest.CaptureFixture[str], statement: str, text: str
) -> None:
    corpus = corpus_of([(2003, ["KDD"], [0])], objects=1)
    with pytest.raises(InputError) as caught:
        Spark().run({"mentions": corpus.mentions}, {"said": statement}, ["said"])
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)
    assert "\tat " not in str(caught.value)
    assert caught.value.__suppress_context__
    assert capfd.readouterr() == ("", "")


@needs_spark
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"master": "local[3]"},
            "Spark is already running on 'local[2]' in this process, and master is 'local[3]': stop",
        ),
        ({"memory": "2GB"}, "Spark is already running, so its memory cannot become '2GB': stop it, or leave it out"),
        (
            {"settings": {"spark.executor.cores": "2"}},
            "Spark is already running, so spark.executor.cores cannot become '2': stop it, or leave the setting out",
        ),
    ],
)
def test_what_a_running_session_cannot_change_is_refused(session: object, options: dict, text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Spark(**options).run({}, {}, [])
    assert str(caught.value).startswith(text)


@needs_spark
def test_a_session_of_its_own_is_quiet_leaves_nothing_and_may_fail_or_die(tmp_path: Path) -> None:
    (tmp_path / "java").mkdir()
    options = f"{JAVA} -Djava.io.tmpdir={tmp_path / 'java'}"
    program = f"""
        import os, signal
        import pyarrow as pa
        from cube2net.cube import Spark
        from cube2net.errors import InputError
        from pyspark import SparkContext
        interrupt = signal.getsignal(signal.SIGINT)
        small = Spark(master="local[1]", memory="1m")
        engine = Spark(master="local[1]", memory="1GB", settings={{"spark.driver.extraJavaOptions": {options!r}}})
        table = {{"a": pa.table({{"x": [3]}})}}
        try:
            small.run({{}}, {{}}, [])
        except InputError as error:
            print(error)
        try:
            with engine.session() as session:
                print(engine.run(table, {{"b": "SELECT x + 1 AS y FROM a"}}, ["b"])["b"].to_pylist())
                os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
                engine.run(table, {{"b": "SELECT x FROM a"}}, ["b"])
        except InputError as error:
            print(error)
        print(SparkContext._active_spark_context, SparkContext._gateway)
        try:
            small.run({{}}, {{}}, [])
        except InputError as error:
            print(error)
        print(signal.getsignal(signal.SIGINT) is interrupt)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("no child is left")
    """
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path / "work",
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr == ""
    first, made, died, none, again, *rest = ended.stdout.splitlines()
    assert first.startswith("Spark did not start: Error occurred during initialization of VM; ")
    assert made == "[{'y': 4}]"
    assert died.endswith(": its Java process has ended, perhaps for want of memory")
    assert none == "None None"
    assert again == first, "another Java is started after one that died"
    assert rest == ["True", "no child is left"]
    assert list((tmp_path / "work").iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_every_engine_of_the_registry_fits_the_interface() -> None:
    assert list(ENGINES) == ["duckdb", "spark"]
    assert all(isinstance(maker(), Engine) for maker in ENGINES.values())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"master": "locl[2]"}, "unknown master 'locl[2]': write local[*], local[N], spark://HOST:PORT, k8s://"),
        ({"master": "local[0]"}, "unknown master 'local[0]': write local[*]"),
        ({"master": "sc://there"}, "unknown master 'sc://there': write local[*]"),
        ({"memory": "4 hippos"}, "memory is '4 hippos', expected a number and a unit, such as 512MB or 4GB"),
        ({"shuffle_partitions": 0}, "shuffle_partitions is 0, expected a whole number of 1 to 1,000,000"),
        (
            {"staging": "ftp://x/y"},
            "staging is 'ftp://x/y', expected a folder that all workers see or a place under s3a:",
        ),
        ({"settings": {"cores": "4"}}, "a setting of Spark is 'cores' with '4', expected a name such as"),
        ({"settings": {"spark.cores.max": 4}}, "a setting of Spark is 'spark.cores.max' with 4, expected a name such"),
        ({"master": "yarn"}, "master 'yarn' has workers on other machines, and there is no staging folder: give one"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(options: dict, text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Spark(**options)
    assert str(caught.value).startswith(text)


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(
        MissingPackageError, match="the Spark engine needs the package 'pyspark': pip install 'cube2net"
    ):
        Spark().run({}, {}, [])


def pretend_java(folder: Path, says: str) -> None:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    (folder / "bin" / "java").chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="a pretended java is a shell script")
@pytest.mark.parametrize(
    ("says", "text"),
    [
        (
            'openjdk version "11.0.2" 2019-01-15',
            "Spark needs Java 17 or newer, and '.*/java' is Java 11: install a Java",
        ),
        ('java version "1.8.0_391"', "Spark needs Java 17 or newer, and '.*/java' is Java 8: install a Java runtime"),
        ("hello", "Spark needs Java, and '.*/java' does not tell its version: install a Java runtime of version 17"),
    ],
)
def test_an_old_or_strange_java_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str, text: str
) -> None:
    pretend_java(tmp_path / "jdk", says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    with pytest.raises(InputError, match=text):
        check_java()


def test_without_java_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no 'java' on the PATH: install a Java runtime of version 17"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="JAVA_HOME is '.*', where there is no bin/java: install a Java runtime"):
        check_java()


@pytest.mark.parametrize(("says", "version"), [('version "21" 2023', 21), ('version "17.0.1-ea"', 17), ("", None)])
def test_the_version_of_java_is_read_from_what_it_says(says: str, version: int | None) -> None:
    assert java_version(says) == version


def test_a_master_where_nobody_answers_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for master in (f"spark://127.0.0.1:{port}", f"k8s://https://127.0.0.1:{port}"):
        with pytest.raises(
            InputError, match=rf"no Spark master answers at '{master}' \(127.0.0.1:{port} .*refused\): check"
        ):
            reach_master(master)
    with pytest.raises(ParameterError, match="cannot read the address of master 'spark://:x'"):
        reach_master("spark://:x")
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(
        InputError, match="master 'yarn' needs the settings of a Hadoop cluster: set HADOOP_CONF_DIR or"
    ):
        reach_master("yarn")


def test_a_master_that_answers_is_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach_master(f"spark://nobody.invalid:1,127.0.0.1:{server.getsockname()[1]}")
        caller, _ = server.accept()
        with caller:
            assert caller.recv(1) == b"", "it knocked, and went away again"


@pytest.mark.parametrize("how", ["{}", "file://{}"])
def test_staging_gives_back_the_parts_in_order_and_is_removed(tmp_path: Path, how: str) -> None:
    rows = pa.table({"x": pa.array(range(ROWS_A_FILE + 5), pa.int32())})
    with staging_folder(how.format(tmp_path / "a place")) as staging:
        assert staging.write("rows", rows) == f"{staging.url}/rows"
        assert staging.url.startswith(f"file://{tmp_path}/a place/cube2net-")
        assert staging.read("rows").read_all().equals(rows)
        assert len(list(Path(staging.path, "rows").iterdir())) == 2
        with pytest.raises(InputError, match="the staging folder 'file://.*' cannot be used: "):
            staging.read("nothing")
    assert list((tmp_path / "a place").iterdir()) == []


def test_a_staging_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match="the staging folder 'file://.*' cannot be used: "),
        staging_folder(f"{tmp_path}/file"),
    ):
        pass


def test_the_stores_of_spark_are_known_to_arrow_by_their_own_names() -> None:
    assert {name: SAME_STORE[name] for name in ("s3a", "gs", "hdfs", "abfss")} == {
        "s3a": "s3", "gs": "gs", "hdfs": "hdfs", "abfss": "abfss",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("\n[TABLE] not there\nat org.apache", "[TABLE] not there"),
        ("org.apache.spark.SparkException: Job aborted", "SparkException: Job aborted"),
        ('Exception in thread "main" java.lang.OutOfMemoryError', "OutOfMemoryError"),
        ("", "no reason given"),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_a_reason_is_one_line_without_java(said: str, reason: str) -> None:
    assert reason_of(RuntimeError(said)) == reason
