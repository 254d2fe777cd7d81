"""The distributed engine: Spark runs the plan, on this machine or on a cluster, on tables in Parquet files.

A Spark session that is running is shared and left alone, one that was started is ended. Before one is started, its Java
must be new enough and its master reachable.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrow import ROWS as ROWS_AT_A_TIME
from cube2net._util.arrow import finished, open_mapped, write_mapped
from cube2net._util.files import temporary_folder
from cube2net._util.packages import require
from cube2net._util.progress import Progress, cores, silent
from cube2net.errors import InputError, ParameterError, first_line, parse_size, whole_number

ROWS = 1_000_000
"""Rows a file: Spark reads several files at the same time, and does not cut a file as small as this."""
SAME_STORE = {"s3a": "s3", "s3n": "s3", "gs": "gs", "hdfs": "hdfs", "abfs": "abfs", "abfss": "abfss", "file": "file"}
"""What Spark's name of a store is to Arrow."""
OLDEST = 17
INSTALL = "install a Java runtime of version 17 or newer (such as openjdk-17-jre-headless) and point JAVA_HOME to it"
JAVA_PATIENCE, MASTER_PATIENCE = 60, 5.0
LOCAL = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?"
ONE_MACHINE = rf"{LOCAL}|local-cluster\[[^\]]*\]"
ALLOWED = "local[*], local[N], spark://HOST:PORT, k8s://https://HOST:PORT or yarn"
APP = "cube2net"
HERE = "local[*]"
SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit for the program that it runs: Java is there, and the master is chosen."""
TALKATIVE = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
DIED = "its Java process has ended, perhaps for want of memory"
LONGEST = 300
PATIENCE, MOMENT = 20, 2
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
MEANING = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
"""What a statement means: set in every session, also a shared one (this changes nothing for its other users)."""


@dataclass(frozen=True, kw_only=True)
class Spark:
    """Runs the statements of a plan in Spark, with the same tables as a result.

    ``master`` is where: ``local[*]`` (all cores of this machine), ``local[N]``, ``spark://HOST:PORT``,
    ``k8s://https://HOST:PORT`` or ``yarn``; None is what spark-submit was told, and ``local[*]`` without it.
    ``memory`` such as ``"4GB"`` is what Spark may take on this machine, or every worker's process on a cluster.
    ``shuffle_partitions`` is how many parts a table is dealt out to between steps (None: four for every local
    core; Spark's own default on a cluster). Tables go in and out as Parquet files in ``staging``, which all
    workers must see: a shared folder or a place in an object store such as ``s3a://bucket/folder``; on one
    machine, None is a temporary folder. ``settings`` are any others of Spark's, by name.

    A Spark session that runs in this process is used and left running; otherwise one is started and stopped.
    """

    master: str | None = None
    memory: str | None = None
    shuffle_partitions: int | None = None
    staging: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.master is not None:
            check_master(self.master)
        if self.memory is not None:
            parse_size(self.memory, "memory")
        whole_number("shuffle_partitions", self.shuffle_partitions, 1, 1_000_000, or_none=True)
        if self.staging is not None:
            check_place(self.staging)
        for name, value in self.settings.items():
            if not (isinstance(name, str) and name.startswith("spark.") and isinstance(value, str)):
                raise ParameterError(
                    f"a setting of Spark is {name!r} with {value!r}, expected a name such as "
                    "'spark.executor.cores' and a text such as '4'"
                )
        _check_staging(self.master, self.staging)

    def check(self) -> None:
        """Raise where this engine cannot run here: before anything is read, not after."""
        check_installed()

    def session(self) -> AbstractContextManager[Any]:
        """Return a context that gives a Spark session with these settings."""
        return open_session(self.master, self.memory, self.shuffle_partitions, self.settings)

    def run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        *,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> dict[str, pa.Table]:
        """Return the wanted tables after running every statement, each into the table of its name.

        Spark does nothing until a table is wanted. What is wanted is written to the staging folder and read
        from there by what follows; what is used more than once is kept, in memory and on disk. With a ``folder``
        a wanted table is copied there as soon as it is made, in a stream, and comes back memory-mapped; one that
        lies there already is not made again, nor is what only it was made of.
        """
        files = {name: folder / f"{name}.arrow" for name in wanted} if folder is not None else {}
        made = {name: table for name, path in files.items() if (table := finished(path)) is not None}
        rest = _list_unfinished(statements, wanted, made)
        if rest or not statements:
            made |= self._make({**tables, **made}, statements, rest, wanted, files, progress)
        progress("cube", len(statements), len(statements))
        return {name: made[name] for name in wanted}

    def _make(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        rest: Mapping[str, str],
        wanted: Sequence[str],
        files: Mapping[str, Path],
        progress: Progress,
    ) -> dict[str, pa.Table]:
        """Return the wanted tables among the rest of the statements; the others are there already."""
        progress("cube: Spark starts", 0, len(statements))
        made: dict[str, pa.Table] = {}
        with self.session() as spark, self._staging(spark) as staging, ExitStack() as kept:
            for name, table in tables.items():
                if _is_named(name, rest):
                    with one_sentence(f"read the table {name!r} in {staging.url!r}"):
                        spark.read.parquet(staging.write(name, table)).createOrReplaceTempView(name)
            for done, (name, statement) in enumerate(statements.items()):
                if name not in rest:
                    continue
                progress(f"cube: {name.replace('_', ' ')}", done, len(statements))
                with one_sentence(f"run the statement {name!r}"):
                    frame = spark.sql(statement)
                    if name in wanted:
                        frame.write.parquet(staging.of(name))
                        frame = spark.read.schema(frame.schema).parquet(staging.of(name))
                    elif _count_uses(name, rest) > 1:
                        kept.callback(frame.persist().unpersist)
                    frame.createOrReplaceTempView(name)
                if name in wanted:
                    made[name] = _fetch_table(staging.read(name), files.get(name))
        return made

    def _staging(self, session: Any) -> AbstractContextManager[Staging]:
        _check_staging(session.sparkContext.master, self.staging)
        return staging_folder(self.staging)


def _list_unfinished(
    statements: Mapping[str, str], wanted: Sequence[str], finished: Collection[str]
) -> Mapping[str, str]:
    """Return the statements still to be run: all but those that are finished, and those that only they read.

    >>> plan = {"a": "SELECT x FROM t", "b": "SELECT x FROM a", "c": "SELECT x FROM b", "d": "SELECT x FROM b"}
    >>> list(_list_unfinished(plan, ["b", "c", "d"], {"b", "c"}))
    ['d']
    """
    rest: dict[str, str] = {}
    for name, statement in reversed(list(statements.items())):
        if name not in finished and (name in wanted or not _is_named(name, statements) or _is_named(name, rest)):
            rest[name] = statement
    return {name: statement for name, statement in statements.items() if name in rest}


def _fetch_table(rows: pa.RecordBatchReader, path: Path | None) -> pa.Table:
    """Return a table that Spark made: whole in memory, or mapped from a file that is written a batch at a time."""
    if path is None:
        return rows.read_all()
    try:
        write_mapped(path, rows, rows.schema)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {(error.strerror or str(error)).lower()}") from None
    return open_mapped(path)


def _is_named(name: str, statements: Mapping[str, str]) -> bool:
    """Return whether a table may be read by statements: whether they name it anywhere."""
    return any(re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for text in statements.values())


def _count_uses(name: str, statements: Mapping[str, str]) -> int:
    """Return how often a table is read by statements.

    >>> _count_uses("a", {"b": "SELECT x FROM a JOIN a AS other USING (x)", "ab": "SELECT x FROM b"})
    2
    """
    return sum(len(re.findall(rf"\b(?:FROM|JOIN)\s+{re.escape(name)}\b", text)) for text in statements.values())


def _check_staging(master: str | None, staging: str | None) -> None:
    if staging is None and master is not None and not is_local(master):
        raise ParameterError(
            f"master {master!r} has workers on other machines, and there is no staging folder: "
            "give one that all of them see, such as s3a://bucket/folder or a shared folder"
        )


@dataclass(frozen=True, eq=False)
class Staging:
    """A folder under two names: ``url`` is what Spark calls it, ``path`` what Arrow does in its view ``files``."""

    url: str
    files: Any
    path: str

    def write(self, name: str, table: pa.Table) -> str:
        """Return what Spark calls a table that was written here, in files of a million rows."""
        with _explain_staging_errors(self.url):
            self.files.create_dir(f"{self.path}/{name}")
            for number, start in enumerate(range(0, max(table.num_rows, 1), ROWS)):
                part = table.slice(start, ROWS)
                pq.write_table(part, f"{self.path}/{name}/part-{number:05d}.parquet", filesystem=self.files)
        return self.of(name)

    def of(self, name: str) -> str:
        """Return what Spark calls a table here."""
        return f"{self.url}/{name}"

    def read(self, name: str) -> pa.RecordBatchReader:
        """Return the rows of a table that Spark wrote here, one batch at a time, its parts in their order.

        Types are plain: no column is marked or annotated.
        """
        from pyarrow.fs import FileSelector

        with _explain_staging_errors(self.url):
            found = self.files.get_file_info(FileSelector(f"{self.path}/{name}"))
            paths = sorted(file.path for file in found if file.base_name.endswith(".parquet"))
            if not paths:
                raise InputError(f"Spark left no table at {self.of(name)!r}: are its workers on a folder of their own?")
            marked = pq.read_schema(paths[0], filesystem=self.files)
        plain = pa.schema([pa.field(field.name, field.type) for field in marked])
        return pa.RecordBatchReader.from_batches(plain, self._batches(paths, plain))

    def _batches(self, paths: list[str], plain: pa.Schema) -> Iterator[pa.RecordBatch]:
        with _explain_staging_errors(self.url):
            for path in paths:
                with pq.ParquetFile(path, filesystem=self.files) as file:
                    for batch in file.iter_batches(ROWS_AT_A_TIME):
                        yield batch.cast(plain)


@contextlib.contextmanager
def staging_folder(place: str | None) -> Iterator[Staging]:
    """Give a new folder in a place (None: where this machine keeps temporary files), removed at the end."""
    if place is None:
        with temporary_folder() as folder:
            yield _open_local(folder)
        return
    name = f"cube2net-{secrets.token_hex(8)}"
    staging = _open_place(f"{place.rstrip('/')}/{name}")
    with _explain_staging_errors(staging.url):
        staging.files.create_dir(staging.path, recursive=True)
    try:
        yield staging
    finally:
        with contextlib.suppress(OSError, pa.ArrowException):
            staging.files.delete_dir(staging.path)


def check_place(place: str) -> None:
    """Raise where a place for staging is no folder's path and in no store that both Spark and Arrow read.

    >>> check_place("ftp://there/folder")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: staging is 'ftp://there/folder', expected a folder that all ...
    """
    store = _parse_store(place)
    if not place or (store is not None and store not in SAME_STORE):
        stores = ", ".join(f"{name}://" for name in SAME_STORE)
        raise ParameterError(f"staging is {place!r}, expected a folder that all workers see or a place under {stores}")


def _open_place(place: str) -> Staging:
    from pyarrow.fs import FileSystem

    store = _parse_store(place)
    if store is None or store == "file":
        return _open_local(Path(place.removeprefix("file://")).resolve())
    with _explain_staging_errors(place):
        files, path = FileSystem.from_uri(f"{SAME_STORE[store]}{place.removeprefix(store)}")
    return Staging(place, files, path)


def _open_local(folder: Path) -> Staging:
    from pyarrow.fs import LocalFileSystem

    return Staging(f"file://{folder}", LocalFileSystem(), str(folder))


def _parse_store(place: str) -> str | None:
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", place)
    return found[1] if found else None


@contextlib.contextmanager
def _explain_staging_errors(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = first_line(error)
        raise InputError(f"the staging folder {place!r} cannot be used: {reason}") from None


def check_java() -> int:
    """Return the version of the Java that Spark will start; raise where there is none, or one that is too old."""
    java = find_java()
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=JAVA_PATIENCE
        ).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"Spark needs Java, and {java!r} does not run ({error}): {INSTALL}") from None
    version = java_version(said)
    if version is None:
        raise InputError(f"Spark needs Java, and {java!r} does not tell its version: {INSTALL}")
    if version < OLDEST:
        raise InputError(f"Spark needs Java {OLDEST} or newer, and {java!r} is Java {version}: {INSTALL}")
    return version


def find_java() -> str:
    """Return the path of ``java``: that of JAVA_HOME where it is set, as Spark takes it, else the first on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / ("java.exe" if os.name == "nt" else "java")
        if not java.is_file():
            raise InputError(f"Spark needs Java, and JAVA_HOME is {home!r}, where there is no bin/java: {INSTALL}")
        return str(java)
    found = shutil.which("java")
    if found is None:
        raise InputError(f"Spark needs Java, and there is no 'java' on the PATH: {INSTALL}")
    return found


def java_version(said: str) -> int | None:
    """Return the main version out of what ``java -version`` says.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_391"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None


def check_master(master: str) -> None:
    """Raise where a master is none that Spark knows.

    >>> check_master("locl[2]")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown master 'locl[2]': write local[*], local[N], spark://HOST:PORT, ...
    """
    if not re.fullmatch(rf"{ONE_MACHINE}|spark://.+|k8s://.+|yarn", master):
        raise ParameterError(f"unknown master {master!r}: write {ALLOWED}")


def is_local(master: str) -> bool:
    """Return whether all work is done on this machine, so that every folder here is seen by all workers.

    >>> is_local("local[2]"), is_local("yarn")
    (True, False)
    """
    return re.fullmatch(ONE_MACHINE, master) is not None


def count_cores(master: str) -> int | None:
    """Return how many cores a local master works on, or None where only the cluster knows.

    >>> count_cores("local[2]"), count_cores("local"), count_cores("yarn")
    (2, 1, None)
    """
    found = re.fullmatch(LOCAL, master)
    if found is None:
        return None
    return cores() if found[2] == "*" else int(found[2] or 1)


def reach_master(master: str) -> None:
    """Raise where nobody answers at the address of a master, before Spark tries for minutes."""
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise InputError(
            "master 'yarn' needs the settings of a Hadoop cluster: set HADOOP_CONF_DIR or YARN_CONF_DIR to their folder"
        )
    if not master.startswith(("spark://", "k8s://")):
        return
    reasons = []
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), timeout=MASTER_PATIENCE).close()
            return
        except OSError as error:
            reasons.append(f"{host}:{port} {(error.strerror or str(error)).lower()}")
    raise InputError(
        f"no Spark master answers at {master!r} ({'; '.join(reasons)}): check the address, and that it is running"
    )


def _addresses(master: str) -> list[tuple[str, int]]:
    """Return the hosts and ports that a master names; a standalone cluster may have several masters."""
    kind, _, rest = master.partition("://")
    try:
        if kind == "spark":
            parts = [urlsplit(f"//{part}") for part in rest.split(",")]
        else:
            parts = [urlsplit(rest if "://" in rest else f"https://{rest}")]
        usual = {"http": 80, "https": 443, "": 7077}
        found = [(part.hostname or "", part.port or usual[part.scheme]) for part in parts]
    except (ValueError, KeyError):
        found = []
    if not found or not all(host for host, _ in found):
        raise ParameterError(f"cannot read the address of master {master!r}: write {ALLOWED}")
    return found


def check_installed() -> None:
    """Raise unless there is a PySpark, and where this process is to start Spark a Java for it."""
    require("the Spark engine", "pyspark")
    if SUBMITTED not in os.environ:
        check_java()


@contextlib.contextmanager
def open_session(
    master: str | None, memory: str | None, shuffle_partitions: int | None, settings: Mapping[str, str]
) -> Iterator[Any]:
    """Give a Spark session with views and settings of its own, on the Spark that is running or on a new one."""
    require("the Spark engine", "pyspark")
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")  # no frame of pandas is made here
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    if running is None:
        with _start_session(master, memory, settings) as session, one_sentence("do its work"):
            _apply_settings(session, shuffle_partitions, {})
            yield session
        return
    if master is not None and master != running.master:
        raise ParameterError(
            f"Spark is already running on {running.master!r} in this process, and master is {master!r}: "
            "stop that session, or leave the master out"
        )
    with one_sentence("do its work"):
        if memory is not None and running.getConf().get(_name_memory_setting(running.master)) != _format_java_memory(
            memory
        ):
            raise ParameterError(
                f"Spark is already running, so its memory cannot become {memory!r}: stop it, or leave it out"
            )
        session = SparkSession(running).newSession()
        _apply_settings(session, shuffle_partitions, settings)
        yield session


@contextlib.contextmanager
def one_sentence(what: str) -> Iterator[None]:
    """Turn whatever Spark raises meanwhile into one sentence, and keep it from writing more of it to stderr."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger

    with contextlib.ExitStack() as restore:
        for name in TALKATIVE:
            logger: Any = PySparkLogger.getLogger(name)
            restore.callback(setattr, logger, "disabled", logger.disabled)
            logger.disabled = True
        logging.getLogger().addFilter(_is_not_py4j)
        restore.callback(logging.getLogger().removeFilter, _is_not_py4j)
        try:
            yield
        except (PySparkException, Py4JError, ConnectionError) as error:
            reason = DIED if _java_has_died(error) else extract_reason(error)
            raise InputError(f"Spark could not {what}: {reason}") from None


def extract_reason(error: BaseException) -> str:
    """Return what an exception of Spark says, in one line without Java's stack trace."""
    java = getattr(error, "java_exception", None)
    text = str(error)
    if java is not None:
        with contextlib.suppress(Exception):
            while java.getCause() is not None:
                java = java.getCause()
            text = str(java.toString())
    return _first_line(text)


@contextlib.contextmanager
def _start_session(master: str | None, memory: str | None, settings: Mapping[str, str]) -> Iterator[Any]:
    """Give a session on a Spark of its own, which is ended with its Java process."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    submitted = SUBMITTED in os.environ
    wanted = master if submitted else master or HERE
    if wanted is not None:
        reach_master(wanted)
    if not submitted:
        check_java()
    interrupt = signal.getsignal(signal.SIGINT)
    launch: Any = launch_gateway
    gateway: Any = None
    session: Any = None
    with temporary_folder() as folder:
        log = folder / "log"
        try:
            conf = SparkConf().setAll(list(_make_conf(wanted, memory, settings, folder).items()))
            with log.open("wb") as written, _explain_failed_start(log):
                if SparkContext._gateway is None:
                    gateway = launch(conf, {"stdout": written, "stderr": written})
                session = SparkSession(SparkContext(conf=conf, gateway=gateway))
            yield session
        finally:
            if session is not None:
                _stop_session(session)
            if gateway is not None and gateway.proc is not None:
                _end_java(gateway)
            if interrupt is not None and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, interrupt)


def _make_conf(master: str | None, memory: str | None, settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    conf = MEANING | {"spark.app.name": APP, "spark.sql.warehouse.dir": f"file://{folder}/warehouse"}
    if SUBMITTED not in os.environ:  # spark-submit was told what to log and to show
        conf |= QUIET
    if master is not None:
        conf["spark.master"] = master
        if is_local(master):
            conf |= {
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.host": "127.0.0.1",
                "spark.local.dir": str(folder),
            }
        if memory is not None:
            conf[_name_memory_setting(master)] = _format_java_memory(memory)
        if count_cores(master):
            conf["spark.sql.shuffle.partitions"] = str(4 * (count_cores(master) or 1))
    elif memory is not None:
        conf[_name_memory_setting(master)] = _format_java_memory(memory)
    return conf | dict(settings)


def _name_memory_setting(master: str | None) -> str:
    """Return the setting of the process that does the work: here, or every worker's on a cluster."""
    return "spark.driver.memory" if master is not None and count_cores(master) else "spark.executor.memory"


def _format_java_memory(given: str) -> str:
    """Return an amount of memory as Java writes it, in whole mebibytes.

    >>> _format_java_memory("4GB"), _format_java_memory("512MiB")
    ('3814m', '512m')
    """
    return f"{max(1, parse_size(given, 'memory') // 2**20)}m"


def _apply_settings(session: Any, shuffle_partitions: int | None, settings: Mapping[str, str]) -> None:
    """Set what can be set in a session that runs; raise for what cannot and is not so already."""
    wanted = MEANING | dict(settings)
    if shuffle_partitions is not None:
        wanted["spark.sql.shuffle.partitions"] = str(shuffle_partitions)
    of_start = session.sparkContext.getConf()
    for name, value in wanted.items():
        if name not in MEANING and not session.conf.isModifiable(name):
            if f" {of_start.get(name)}".endswith(f" {value}"):  # Spark puts options of its own before Java's
                continue
            raise ParameterError(
                f"Spark is already running, so {name} cannot become {value!r}: stop it, or leave the setting out"
            )
        session.conf.set(name, value)


@contextlib.contextmanager
def _explain_failed_start(log: Path) -> Iterator[None]:
    """Turn a failed start into one sentence; where Java ended without a word to Python, its log has the reason."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        first = next(
            (n for n, line in enumerate(lines) if re.search("error|exception|invalid", line, re.IGNORECASE)), None
        )
        if first is None or getattr(error, "java_exception", None) is not None:
            raise InputError(f"Spark did not start: {extract_reason(error)}") from None
        more = [line.strip() for line in lines[first + 1 : first + 2] if not line.strip().startswith("at ")]
        raise InputError(f"Spark did not start: {'; '.join([_first_line(lines[first]), *more])}") from None


def _stop_session(session: Any) -> None:
    """Stop a session, also one whose Java process has died; Spark then forgets only half of it."""
    from pyspark import SparkContext

    with warnings.catch_warnings(), contextlib.suppress(Exception), one_sentence("stop"):
        warnings.simplefilter("ignore")
        session.stop()
    SparkContext._active_spark_context = None
    type(session)._instantiatedSession = type(session)._activeSession = None


def _java_has_died(error: BaseException) -> bool:
    """Return whether the Java process that was started here is gone; errors that Java told come from a living one."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None or not isinstance(error, Py4JError | ConnectionError) or hasattr(error, "java_exception"):
        return False
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(MOMENT)
    return process.poll() is not None


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """Return whether a message comes from elsewhere than py4j, which tells the root logger of lost connections."""
    return "py4j" not in record.pathname


def _end_java(gateway: Any) -> None:
    """End the Java process, so that its memory is free and the next one may have other settings."""
    from pyspark import SparkContext

    with contextlib.suppress(Exception):
        gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    if SparkContext._gateway is gateway:
        SparkContext._gateway = SparkContext._jvm = None


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")
    line = re.sub(r"^(?:Exception in thread \S+ )?(?:[a-z]\w*\.)+\w*?(\w+(?:Exception|Error)):?\s*", r"\1: ", line)
    line = line.rstrip(": ")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
