"""What only Spark has: a session, Java, a master, staging folders, and its own ways to fail."""

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pytest

from cube2net._util.arrow import write_mapped_table
from cube2net.cube.engines.spark import (
    ARROW_STORES,
    ROWS_PER_FILE,
    Spark,
    extract_reason,
    find_java,
    reach_master,
    staging_folder,
)
from cube2net.errors import InputError, MissingPackageError, ParameterError

from corpora import corpus_of
from sparks import (
    JAVA,
    needs_spark,
    session,
)

__all__ = ["session"]


def test_spark_does_not_start_for_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, values in {"one": [1], "two": [2, 2]}.items():
        write_mapped_table(tmp_path / f"{name}.arrow", pa.table({"x": values}))
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
    write_mapped_table(tmp_path / "c.arrow", pa.table({"x": [2]}))
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


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingPackageError, match="the Spark engine needs the package 'pyspark': pip install pyspark"):
        Spark().run({}, {}, [])


def test_without_java_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no 'java' on the PATH: install a Java runtime of version 17"):
        find_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="JAVA_HOME is '.*', where there is no bin/java: install a Java runtime"):
        find_java()


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
    rows = pa.table({"x": pa.array(range(ROWS_PER_FILE + 5), pa.int32())})
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
    assert {name: ARROW_STORES[name] for name in ("s3a", "gs", "hdfs", "abfss")} == {
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
    assert extract_reason(RuntimeError(said)) == reason
