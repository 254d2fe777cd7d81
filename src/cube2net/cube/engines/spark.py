"""Run the plan of a cube in Spark, on this machine or on a cluster, with tables in Parquet files.

A running Spark session is shared and left running; a session started here is stopped. Java must be installed and the
master reachable before one is started.
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

from cube2net._util.arrow import ROWS as BATCH_ROWS
from cube2net._util.arrow import open_finished, open_mapped, write_mapped
from cube2net._util.files import explain_disk_errors, temporary_folder
from cube2net._util.packages import require
from cube2net._util.progress import Progress, Stage, cores, silent
from cube2net.errors import InputError, ParameterError, check_int, describe_os_error, first_line, parse_size

ROWS_PER_FILE = 1_000_000
"""Spark reads several files in parallel, and does not split a file of this size."""
ARROW_STORES = {"s3a": "s3", "s3n": "s3", "gs": "gs", "hdfs": "hdfs", "abfs": "abfs", "abfss": "abfss", "file": "file"}
"""Arrow's names of the stores that Spark reads."""
INSTALL_JAVA = (
    "install a Java runtime of version 17 or newer (such as openjdk-17-jre-headless) and point JAVA_HOME to it"
)
CONNECT_TIMEOUT_SECONDS = 5.0
STOP_TIMEOUT_SECONDS, DEATH_TIMEOUT_SECONDS = 20, 2
LOCAL = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?"
ONE_MACHINE = rf"{LOCAL}|local-cluster\[[^\]]*\]"
MASTERS = "local[*], local[N], spark://HOST:PORT, k8s://https://HOST:PORT or yarn"
SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, which has started Java and chosen the master."""
ERROR_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
MAX_REASON_CHARACTERS = 300
QUIET_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
SQL_SETTINGS = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
"""Settings that decide what a statement means, set in every session."""


@dataclass(frozen=True, kw_only=True)
class Spark:
    """Run the statements of a plan in Spark.

    A Spark session that runs in this process is used and left running; otherwise one is started and stopped.

    Parameters
    ----------
    master
        ``local[*]`` (all cores of this machine), ``local[N]``, ``spark://HOST:PORT``, ``k8s://https://HOST:PORT`` or
        ``yarn``. None is the master of spark-submit, or ``local[*]``.
    memory
        The memory of Spark on this machine, or of every worker process on a cluster, such as ``"4GB"``.
    shuffle_partitions
        The number of partitions of a table between steps. None is four for every local core, or Spark's default on a
        cluster.
    staging
        The folder in which tables are exchanged as Parquet files. All workers must see it: a shared folder or a place
        in an object store such as ``s3a://bucket/folder``. On one machine, None is a temporary folder.
    settings
        Other settings of Spark, by name.
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
        check_int("shuffle_partitions", self.shuffle_partitions, 1, 1_000_000, or_none=True)
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
        """Raise if this engine cannot run here."""
        check_installed()

    def session(self) -> AbstractContextManager[Any]:
        """Return a context manager of a Spark session with these settings."""
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
        """Return the wanted tables after running every statement into the table of its name.

        Wanted tables are written to the staging folder, from which later statements read them; others that are used
        more than once are cached by Spark. With a ``folder``, wanted tables are also streamed to it and come back
        memory-mapped; tables that an earlier run left there are not computed again.
        """
        files = {name: folder / f"{name}.arrow" for name in wanted} if folder is not None else {}
        results = {name: table for name, path in files.items() if (table := open_finished(path)) is not None}
        rest = _list_unfinished(statements, wanted, results)
        if rest or not statements:
            results |= self._make({**tables, **results}, statements, rest, wanted, files, progress)
        progress("cube", len(statements), len(statements))
        return {name: results[name] for name in wanted}

    def _make(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        rest: Mapping[str, str],
        wanted: Sequence[str],
        files: Mapping[str, Path],
        progress: Progress,
    ) -> dict[str, pa.Table]:
        """Return the wanted tables of the remaining statements."""
        progress(Stage("cube", "Spark starts"), 0, len(statements))
        results: dict[str, pa.Table] = {}
        with self.session() as spark, ExitStack() as kept:
            _check_staging(spark.sparkContext.master, self.staging)
            staging = kept.enter_context(staging_folder(self.staging))
            for name, table in tables.items():
                if _is_named(name, rest):
                    with explain_errors(f"read the table {name!r} in {staging.url!r}"):
                        spark.read.parquet(staging.write(name, table)).createOrReplaceTempView(name)
            for done, (name, statement) in enumerate(statements.items()):
                if name not in rest:
                    continue
                progress(Stage("cube", name.replace("_", " ")), done, len(statements))
                with explain_errors(f"run the statement {name!r}"):
                    frame = spark.sql(statement)
                    if name in wanted:
                        frame.write.parquet(staging.locate(name))
                        frame = spark.read.schema(frame.schema).parquet(staging.locate(name))
                    elif _count_uses(name, rest) > 1:
                        kept.callback(frame.persist().unpersist)
                    frame.createOrReplaceTempView(name)
                if name in wanted:
                    results[name] = _fetch_table(staging.read(name), files.get(name))
        return results


def _list_unfinished(
    statements: Mapping[str, str], wanted: Sequence[str], finished: Collection[str]
) -> Mapping[str, str]:
    """Return the statements still to be run: without finished tables, and tables that only these read.

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
    """Return a table of Spark's, in memory or mapped from a file that is written batch by batch."""
    if path is None:
        return rows.read_all()
    with explain_disk_errors(path):
        write_mapped(path, rows, rows.schema)
    return open_mapped(path)


def _is_named(name: str, statements: Mapping[str, str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for text in statements.values())


def _count_uses(name: str, statements: Mapping[str, str]) -> int:
    """Return how often some statements read a table.

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
    """A folder by its ``url`` in Spark and its ``path`` in Arrow's file system ``files``."""

    url: str
    files: Any
    path: str

    def write(self, name: str, table: pa.Table) -> str:
        """Write a table in files of ``ROWS_PER_FILE`` rows and return its URL."""
        with _explain_staging_errors(self.url):
            self.files.create_dir(f"{self.path}/{name}")
            for number, start in enumerate(range(0, max(table.num_rows, 1), ROWS_PER_FILE)):
                part = table.slice(start, ROWS_PER_FILE)
                pq.write_table(part, f"{self.path}/{name}/part-{number:05d}.parquet", filesystem=self.files)
        return self.locate(name)

    def locate(self, name: str) -> str:
        """Return the URL of a table in this folder."""
        return f"{self.url}/{name}"

    def read(self, name: str) -> pa.RecordBatchReader:
        """Return the rows of a table that Spark wrote here, in batches, without its metadata."""
        from pyarrow.fs import FileSelector

        with _explain_staging_errors(self.url):
            infos = self.files.get_file_info(FileSelector(f"{self.path}/{name}"))
            paths = sorted(file.path for file in infos if file.base_name.endswith(".parquet"))
            if not paths:
                raise InputError(f"Spark left no table at {self.locate(name)!r}: do all workers see this folder?")
            schema = pq.read_schema(paths[0], filesystem=self.files)
        plain = pa.schema([pa.field(field.name, field.type) for field in schema])
        return pa.RecordBatchReader.from_batches(plain, self._batches(paths, plain))

    def _batches(self, paths: list[str], plain: pa.Schema) -> Iterator[pa.RecordBatch]:
        with _explain_staging_errors(self.url):
            for path in paths:
                with pq.ParquetFile(path, filesystem=self.files) as file:
                    for batch in file.iter_batches(BATCH_ROWS):
                        yield batch.cast(plain)


@contextlib.contextmanager
def staging_folder(place: str | None) -> Iterator[Staging]:
    """Create a folder in a place (None: a temporary folder of this machine), and remove it at the end."""
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
    """Raise if a place for staging is neither a path nor in a store that both Spark and Arrow read.
    >>> check_place("ftp://there/folder")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: staging is 'ftp://there/folder', expected a folder that all ...
    """
    store = _parse_store(place)
    if not place or (store is not None and store not in ARROW_STORES):
        stores = ", ".join(f"{name}://" for name in ARROW_STORES)
        raise ParameterError(f"staging is {place!r}, expected a folder that all workers see or a place under {stores}")


def _open_place(place: str) -> Staging:
    from pyarrow.fs import FileSystem

    store = _parse_store(place)
    if store is None or store == "file":
        return _open_local(Path(place.removeprefix("file://")).resolve())
    with _explain_staging_errors(place):
        files, path = FileSystem.from_uri(f"{ARROW_STORES[store]}{place.removeprefix(store)}")
    return Staging(place, files, path)


def _open_local(folder: Path) -> Staging:
    from pyarrow.fs import LocalFileSystem

    return Staging(f"file://{folder}", LocalFileSystem(), str(folder))


def _parse_store(place: str) -> str | None:
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", place)
    return match[1] if match else None


@contextlib.contextmanager
def _explain_staging_errors(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"the staging folder {place!r} cannot be used: {first_line(error)}") from None


def find_java() -> str:
    """Return the path of ``java``, of JAVA_HOME if it is set, else on the PATH; raise if there is none."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / ("java.exe" if os.name == "nt" else "java")
        if not java.is_file():
            raise InputError(f"Spark needs Java, and JAVA_HOME is {home!r}, where there is no bin/java: {INSTALL_JAVA}")
        return str(java)
    path = shutil.which("java")
    if path is None:
        raise InputError(f"Spark needs Java, and there is no 'java' on the PATH: {INSTALL_JAVA}")
    return path


def check_master(master: str) -> None:
    """Raise if a master is not one of Spark's.
    >>> check_master("locl[2]")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown master 'locl[2]': write local[*], local[N], spark://HOST:PORT, ...
    """
    if not re.fullmatch(rf"{ONE_MACHINE}|spark://.+|k8s://.+|yarn", master):
        raise ParameterError(f"unknown master {master!r}: write {MASTERS}")


def is_local(master: str) -> bool:
    """Return whether all workers are on this machine.
    >>> is_local("local[2]"), is_local("yarn")
    (True, False)
    """
    return re.fullmatch(ONE_MACHINE, master) is not None


def count_cores(master: str) -> int | None:
    """Return the number of cores of a local master, or None for a cluster.
    >>> count_cores("local[2]"), count_cores("local"), count_cores("yarn")
    (2, 1, None)
    """
    match = re.fullmatch(LOCAL, master)
    if match is None:
        return None
    return cores() if match[2] == "*" else int(match[2] or 1)


def reach_master(master: str) -> None:
    """Raise if no master answers at an address; Spark itself would try for minutes."""
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise InputError(
            "master 'yarn' needs the settings of a Hadoop cluster: set HADOOP_CONF_DIR or YARN_CONF_DIR to their folder"
        )
    if not master.startswith(("spark://", "k8s://")):
        return
    reasons = []
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), timeout=CONNECT_TIMEOUT_SECONDS).close()
            return
        except OSError as error:
            reasons.append(f"{host}:{port} {describe_os_error(error)}")
    raise InputError(
        f"no Spark master answers at {master!r} ({'; '.join(reasons)}): check the address, and that it is running"
    )


def _addresses(master: str) -> list[tuple[str, int]]:
    """Return the hosts and ports of a master; a standalone cluster may have several."""
    kind, _, rest = master.partition("://")
    try:
        if kind == "spark":
            parts = [urlsplit(f"//{part}") for part in rest.split(",")]
        else:
            parts = [urlsplit(rest if "://" in rest else f"https://{rest}")]
        usual = {"http": 80, "https": 443, "": 7077}
        addresses = [(part.hostname or "", part.port or usual[part.scheme]) for part in parts]
    except (ValueError, KeyError):
        addresses = []
    if not addresses or not all(host for host, _ in addresses):
        raise ParameterError(f"cannot read the address of master {master!r}: write {MASTERS}")
    return addresses


def check_installed() -> None:
    """Raise unless PySpark is installed, and Java if this process has to start it."""
    require("the Spark engine", "pyspark")
    if SUBMITTED not in os.environ:
        find_java()


@contextlib.contextmanager
def open_session(
    master: str | None, memory: str | None, shuffle_partitions: int | None, settings: Mapping[str, str]
) -> Iterator[Any]:
    """Open a Spark session with its own views and settings, on the running Spark or on a new one."""
    require("the Spark engine", "pyspark")
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")  # no frame of pandas is made here
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    if running is None:
        with _start_session(master, memory, settings) as session, explain_errors("do its work"):
            _apply_settings(session, shuffle_partitions, {})
            yield session
        return
    if master is not None and master != running.master:
        raise ParameterError(
            f"Spark is already running on {running.master!r} in this process, and master is {master!r}: "
            "stop that session, or leave the master out"
        )
    with explain_errors("do its work"):
        own_memory = running.getConf().get(_name_memory_setting(running.master))
        if memory is not None and own_memory != _format_java_memory(memory):
            raise ParameterError(
                f"Spark is already running, so its memory cannot become {memory!r}: stop it, or leave it out"
            )
        session = SparkSession(running).newSession()
        _apply_settings(session, shuffle_partitions, settings)
        yield session


@contextlib.contextmanager
def explain_errors(what: str) -> Iterator[None]:
    """Replace errors of Spark by one sentence, and keep Spark from writing more about them to stderr."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger

    with contextlib.ExitStack() as restore:
        for name in ERROR_LOGGERS:
            logger: Any = PySparkLogger.getLogger(name)
            restore.callback(setattr, logger, "disabled", logger.disabled)
            logger.disabled = True
        logging.getLogger().addFilter(_is_not_py4j)
        restore.callback(logging.getLogger().removeFilter, _is_not_py4j)
        try:
            yield
        except (PySparkException, Py4JError, ConnectionError) as error:
            died = "its Java process has ended, perhaps for want of memory"
            reason = died if _java_has_died(error) else extract_reason(error)
            raise InputError(f"Spark could not {what}: {reason}") from None


def extract_reason(error: BaseException) -> str:
    """Return the first line of an exception of Spark, without Java's stack trace."""
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
    """Start Spark and open a session; end both with the Java process."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    submitted = SUBMITTED in os.environ
    wanted = master if submitted else master or "local[*]"
    if wanted is not None:
        reach_master(wanted)
    if not submitted:
        find_java()
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
    conf = SQL_SETTINGS | {"spark.app.name": "cube2net", "spark.sql.warehouse.dir": f"file://{folder}/warehouse"}
    if SUBMITTED not in os.environ:  # spark-submit was told what to log and to show
        conf |= QUIET_SETTINGS
    if master is not None:
        conf["spark.master"] = master
        if is_local(master):
            local = dict.fromkeys(("spark.driver.bindAddress", "spark.driver.host"), "127.0.0.1")
            conf |= local | {"spark.local.dir": str(folder)}
        if count := count_cores(master):
            conf["spark.sql.shuffle.partitions"] = str(4 * count)
    if memory is not None:
        conf[_name_memory_setting(master)] = _format_java_memory(memory)
    return conf | dict(settings)


def _name_memory_setting(master: str | None) -> str:
    """Return the name of the memory setting: of the driver for a local master, of the executors on a cluster."""
    return "spark.driver.memory" if master is not None and count_cores(master) else "spark.executor.memory"


def _format_java_memory(memory: str) -> str:
    """Return an amount of memory in Java's notation, in whole mebibytes.
    >>> _format_java_memory("4GB"), _format_java_memory("512MiB")
    ('3814m', '512m')
    """
    return f"{max(1, parse_size(memory, 'memory') // 2**20)}m"


def _apply_settings(session: Any, shuffle_partitions: int | None, settings: Mapping[str, str]) -> None:
    """Change the settings of a running session; raise for one that cannot be changed and differs."""
    wanted = SQL_SETTINGS | dict(settings)
    if shuffle_partitions is not None:
        wanted["spark.sql.shuffle.partitions"] = str(shuffle_partitions)
    of_start = session.sparkContext.getConf()
    for name, value in wanted.items():
        if name not in SQL_SETTINGS and not session.conf.isModifiable(name):
            if f" {of_start.get(name)}".endswith(f" {value}"):  # Spark puts options of its own before Java's
                continue
            raise ParameterError(
                f"Spark is already running, so {name} cannot become {value!r}: stop it, or leave the setting out"
            )
        session.conf.set(name, value)


@contextlib.contextmanager
def _explain_failed_start(log: Path) -> Iterator[None]:
    """Replace the error of a failed start by one sentence, from Java's log if Java did not tell Python."""
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
    """Stop a session, and clear what Spark keeps of one whose Java process has died."""
    from pyspark import SparkContext

    with warnings.catch_warnings(), contextlib.suppress(Exception), explain_errors("stop"):
        warnings.simplefilter("ignore")
        session.stop()
    SparkContext._active_spark_context = None
    type(session)._instantiatedSession = type(session)._activeSession = None


def _java_has_died(error: BaseException) -> bool:
    """Return whether the Java process that was started here has ended; an error that Java reported says it has not."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None or not isinstance(error, Py4JError | ConnectionError) or hasattr(error, "java_exception"):
        return False
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(DEATH_TIMEOUT_SECONDS)
    return process.poll() is not None


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """Return whether a message is not py4j's, which logs lost connections to the root logger."""
    return "py4j" not in record.pathname


def _end_java(gateway: Any) -> None:
    """End the Java process to free its memory, and let the next one have other settings."""
    from pyspark import SparkContext

    with contextlib.suppress(Exception):
        gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    if SparkContext._gateway is gateway:
        SparkContext._gateway = SparkContext._jvm = None


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")
    line = re.sub(r"^(?:Exception in thread \S+ )?(?:[a-z]\w*\.)+\w*?(\w+(?:Exception|Error)):?\s*", r"\1: ", line)
    line = line.rstrip(": ")
    return line if len(line) <= MAX_REASON_CHARACTERS else f"{line[: MAX_REASON_CHARACTERS - 1]}…"
