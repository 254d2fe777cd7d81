"""A quiet Spark session: one that is running is shared and left alone, one that was started is ended.

Before one is started, its Java must be new enough and its master reachable.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cube2net._util.compiling import cores
from cube2net._util.files import temporary_folder
from cube2net._util.packages import require
from cube2net.errors import InputError, ParameterError, parse_size

OLDEST = 17
INSTALL = "install a Java runtime of version 17 or newer (such as openjdk-17-jre-headless) and point JAVA_HOME to it"
JAVA_PATIENCE, MASTER_PATIENCE = 60, 5.0
LOCAL = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?"
ONE_MACHINE = rf"{LOCAL}|local-cluster\[[^\]]*\]"
ALLOWED = "local[*], local[N], spark://HOST:PORT, k8s://https://HOST:PORT or yarn"
APP = "cube2net"
HERE = "local[*]"
SUBMITTED = "PYSPARK_GATEWAY_PORT"


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
