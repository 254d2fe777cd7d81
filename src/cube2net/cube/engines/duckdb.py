"""Run the plan of a cube in DuckDB, in this process and within a memory limit."""

from __future__ import annotations

import ctypes
import gc
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from cube2net._util.arrow import ROWS, open_finished, open_mapped, write_mapped
from cube2net._util.files import temporary_folder
from cube2net._util.progress import Progress, Stage, silent
from cube2net.errors import InputError, ParameterError, Setting, first_line, parse_size

DATABASE, SPILL = "plan.duckdb", "spill"
OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
UNREADABLE = "read|corrupt|checksum|deseriali|not a valid"
"""Words in DuckDB's errors about a file that it cannot read."""
DUCKDB_MEMORY_SHARE = 0.85
"""DuckDB's share of the free memory; the rest is for what it does not count."""
MIN_DUCKDB_BYTES = 100_000_000
TYPICAL_PROCESS_BYTES = 300_000_000
"""Memory of the process, if the system does not report it."""
MIN_BUILD_BYTES = 300_000_000
TOPIC_BYTES_PER_TEXT, MAX_TOPIC_BYTES = 4_000, 800_000_000


@dataclass(frozen=True, kw_only=True)
class DuckDB:
    """Run the statements of a plan in DuckDB.

    Parameters
    ----------
    memory
        The memory of the whole process, such as ``"4GB"``, without mapped files; what does not fit goes to disk. None
        lets DuckDB use up to four fifths of the machine's.
    """

    memory: str | None = None

    def __post_init__(self) -> None:
        if self.memory is not None:
            parse_size(self.memory, "memory")

    def check(self) -> None:
        """Raise if this engine cannot run here."""
        check_memory(self.memory)
        if self.memory is not None:
            self._compute_limit()

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

        With a ``folder``, tables are kept in a database file, and wanted ones are exported and memory-mapped: an
        interrupted run resumes after the last finished statement.
        """
        resumed = folder is not None and (folder / DATABASE).exists()
        try:
            return self._run(tables, statements, wanted, folder, progress)
        except _UnreadableError:
            if folder is None or not resumed:
                raise
            for path in folder.glob(f"{DATABASE}*"):  # incomplete, if the machine went down while it was written
                path.unlink()
            return self._run(tables, statements, wanted, folder, progress)

    def _run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        folder: Path | None,
        progress: Progress,
    ) -> dict[str, pa.Table]:
        with self._connect(folder) as connection:
            for name, table in tables.items():
                connection.register(name, table)
            existing = {name for (name,) in connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()}
            resumed = [name.replace("_", " ") for name in statements if name in existing]
            if resumed:
                progress.note(f"cube: taken from the run before, which did not finish: {', '.join(resumed)}")
            for done, (name, statement) in enumerate(statements.items()):
                if name in existing:
                    continue
                progress(Stage("cube", name.replace("_", " ")), done, len(statements))
                with self._explain_errors(f"the statement {name!r}"):
                    connection.execute(f"CREATE TABLE {name} AS {statement}")
            progress("cube", len(statements), len(statements))
            return {name: self._fetch(connection, name, folder) for name in wanted}

    def _fetch(self, connection: Any, name: str, folder: Path | None) -> pa.Table:
        rows = connection.sql(f"SELECT * FROM {name}")
        if folder is None:
            return rows.to_arrow_table()
        path = folder / f"{name}.arrow"
        table = open_finished(path)
        if table is None:
            with self._explain_errors(f"the table {name!r}"):
                reader = rows.to_arrow_reader(ROWS)
                write_mapped(path, reader, reader.schema)
                table = open_mapped(path)
        return table

    @contextmanager
    def _connect(self, folder: Path | None) -> Iterator[Any]:
        import duckdb

        settings: dict[str, Any] = dict(OFFLINE)
        if self.memory is not None:
            settings["memory_limit"] = f"{self._compute_limit() // 1_000_000}MB"
        with ExitStack() as stack:
            parent = folder
            if parent is None or "?" in str(parent):  # DuckDB takes what follows a question mark for options
                parent = stack.enter_context(temporary_folder())
            place = ":memory:" if folder is None else str(parent / DATABASE)
            settings["temp_directory"] = str(parent / SPILL)
            with self._explain_errors("opening its files"):
                connection = duckdb.connect(place, config=settings)
            stack.enter_context(connection)
            connection.execute("SET preserve_insertion_order = true")
            _hide_progress(connection)
            yield connection

    def _compute_limit(self) -> int:
        """Return the bytes that are left for DuckDB of the memory of this process."""
        limit = parse_size(self.memory or "", "memory")
        release_memory()
        left = int(DUCKDB_MEMORY_SHARE * (limit - measure_anonymous_memory()))
        if left < MIN_DUCKDB_BYTES:
            raise ParameterError(
                f"memory is {self.memory!r}, of which {measure_anonymous_memory() / 1e6:,.0f} MB are taken already: "
                "give more, such as 1GB"
            )
        return left

    @contextmanager
    def _explain_errors(self, what: str) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            limit = f"its memory of {self.memory}" if self.memory else "the memory of this machine"
            raise InputError(
                f"DuckDB needs more than {limit} for {what}, or there is no space on the disk: give it more",
                parameter="memory",
                value=self.memory,
                hint=Setting("memory", "8GB"),
            ) from None
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except RuntimeError as error:
            if "interrupted" not in str(error).lower():
                raise
            raise KeyboardInterrupt from None
        except (duckdb.Error, OSError) as error:
            reason = first_line(error)
            kind = _UnreadableError if re.search(UNREADABLE, reason, re.IGNORECASE) else InputError
            raise kind(f"DuckDB could not finish {what}: {reason}") from None


class _UnreadableError(InputError):
    """A database that DuckDB cannot read."""


def _hide_progress(connection: Any) -> None:
    """Switch off DuckDB's progress bar, which goes to standard output.

    In a notebook that cannot draw it, the bar is off already, and DuckDB refuses the setting.
    """
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
        connection.execute("SET enable_progress_bar = false")


def measure_anonymous_memory() -> int:
    """Return the bytes of memory of this process, without mapped files."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return TYPICAL_PROCESS_BYTES
    match = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
    return int(match[1]) * 1024 if match else TYPICAL_PROCESS_BYTES


def release_memory() -> None:
    """Return free memory of Python, Arrow and the C library to the system."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return  # not the C library of GNU


def check_memory(memory: str | None, *, texts: int = 0) -> None:
    """Raise if a memory limit is too low for a build, or for finding topics in ``texts`` texts.
    >>> check_memory("600MB"), check_memory("600MB", texts=40_000), check_memory(None, texts=10**9)
    (None, None, None)
    >>> check_memory("600MB", texts=110_000)
    Traceback (most recent call last):
    cube2net.errors.ParameterError: memory is '600MB', and finding topics in 110,000 texts takes about 740 MB: give \
740MB or more
    """
    least, what = MIN_BUILD_BYTES, "a build takes at least"
    if texts:
        least = min(MIN_BUILD_BYTES + texts * TOPIC_BYTES_PER_TEXT, MAX_TOPIC_BYTES)
        what = f"finding topics in {texts:,} texts takes about"
    if memory is not None and parse_size(memory, "memory") < least:
        size = f"{least // 10**6}"
        raise ParameterError(f"memory is {memory!r}, and {what} {size} MB: give {size}MB or more")
