"""The embedded engine: DuckDB runs the plan in this process, within the memory that it may take."""

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

from cube2net._util.arrow import ROWS, finished, open_mapped, write_mapped
from cube2net._util.files import temporary_folder
from cube2net._util.progress import Progress, silent
from cube2net.errors import InputError, ParameterError, Setting, first_line, parse_size

DATABASE, SPILL = "plan.duckdb", "spill"
ALONE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""DuckDB fetches nothing from anywhere."""
UNREADABLE = "read|corrupt|checksum|deseriali|not a valid"
"""What DuckDB says of a file that it cannot read."""
SHARE, LEAST_LEFT = 0.85, 100_000_000
"""What DuckDB's own count of its memory leaves out is less than the rest; with less than the least nothing works."""
USUAL = 300_000_000
"""What the process takes by itself, where the system does not tell."""
LEAST_BUILD, TEXT, TOPICS = 300_000_000, 4_000, 800_000_000
"""What a build of any data takes, what finding topics takes for every text besides, and at most."""


@dataclass(frozen=True, kw_only=True)
class DuckDB:
    """Runs the statements of a plan in DuckDB.

    ``memory`` such as ``"4GB"`` is what the whole process may take, mapped files aside; what does not fit goes to
    disk. Without it DuckDB takes up to four fifths of the machine's.
    """

    memory: str | None = None

    def __post_init__(self) -> None:
        if self.memory is not None:
            parse_size(self.memory, "memory")

    def check(self) -> None:
        """Raise where this engine cannot run here: before anything is read, not after."""
        check_memory(self.memory)
        if self.memory is not None:
            self._limit()

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

        In a ``folder`` the tables lie in a database file, statement by statement, and what is wanted is exported and
        memory-mapped: a run that is cut off goes on after the last statement that was finished.
        """
        resumed = folder is not None and (folder / DATABASE).exists()
        try:
            return self._run(tables, statements, wanted, folder, progress)
        except _UnreadableError:
            if folder is None or not resumed:
                raise
            _delete_database(folder)  # written when the machine went down, and not wholly: begin again
            return self._run(tables, statements, wanted, folder, progress)

    def _run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        folder: Path | None,
        progress: Progress,
    ) -> dict[str, pa.Table]:
        with self._connected(folder) as connection:
            for name, table in tables.items():
                connection.register(name, table)
            known = {name for (name,) in connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()}
            taken = [name for name in statements if name in known]
            if taken:
                tables_said = ", ".join(name.replace("_", " ") for name in taken)
                progress.note(f"cube: taken from the run before, which did not finish: {tables_said}")
            for done, (name, statement) in enumerate(statements.items()):
                if name in known:
                    continue
                progress(f"cube: {name.replace('_', ' ')}", done, len(statements))
                with self._one_sentence(f"the statement {name!r}"):
                    connection.execute(f"CREATE TABLE {name} AS {statement}")
            progress("cube", len(statements), len(statements))
            return {name: self._fetched(connection, name, folder) for name in wanted}

    def _fetched(self, connection: Any, name: str, folder: Path | None) -> pa.Table:
        rows = connection.sql(f"SELECT * FROM {name}")
        if folder is None:
            return rows.to_arrow_table()
        path = folder / f"{name}.arrow"
        found = finished(path)
        if found is None:
            with self._one_sentence(f"the table {name!r}"):
                reader = rows.to_arrow_reader(ROWS)
                write_mapped(path, reader, reader.schema)
                found = open_mapped(path)
        return found

    @contextmanager
    def _connected(self, folder: Path | None) -> Iterator[Any]:
        import duckdb

        settings: dict[str, Any] = dict(ALONE)
        if self.memory is not None:
            settings["memory_limit"] = f"{self._limit() // 1_000_000}MB"
        with ExitStack() as stack:
            there = folder
            if there is None or "?" in str(there):  # DuckDB takes what follows a question mark for something else
                there = stack.enter_context(temporary_folder())
            spill = there / SPILL
            place = ":memory:" if folder is None else str(there / DATABASE)
            settings["temp_directory"] = str(spill)
            with self._one_sentence("opening its files"):
                connection = duckdb.connect(place, config=settings)
            stack.enter_context(connection)
            connection.execute("SET preserve_insertion_order = true")
            _hide_progress(connection)
            yield connection

    def _limit(self) -> int:
        """Return what is left for DuckDB of the memory that this process may take."""
        given = parse_size(self.memory or "", "memory")
        release_memory()
        left = int(SHARE * (given - measure_anonymous_memory()))
        if left < LEAST_LEFT:
            raise ParameterError(
                f"memory is {self.memory!r}, of which {measure_anonymous_memory() / 1e6:,.0f} MB are taken already: "
                "give more, such as 1GB"
            )
        return left

    @contextmanager
    def _one_sentence(self, what: str) -> Iterator[None]:
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
    """Switch DuckDB's own bar off, which would go to standard output.

    In a notebook that cannot draw it DuckDB has it off, and refuses to have that said.
    """
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
        connection.execute("SET enable_progress_bar = false")


def _delete_database(folder: Path) -> None:
    for path in folder.glob(f"{DATABASE}*"):
        path.unlink()


def measure_anonymous_memory() -> int:
    """Return the bytes that this process has taken, without the files that it has mapped."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return USUAL
    found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else USUAL


def release_memory() -> None:
    """Give memory that is free to the system: Python's, Arrow's and the C library's."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return  # not the C library of GNU: it gives back what it likes


def check_memory(memory: str | None, *, texts: int = 0) -> None:
    """Raise where a limit is below what a build takes by itself, or finding topics in so many texts: say it before.

    >>> check_memory("600MB"), check_memory("600MB", texts=40_000), check_memory(None, texts=10**9)
    (None, None, None)
    >>> check_memory("600MB", texts=110_000)
    Traceback (most recent call last):
    cube2net.errors.ParameterError: memory is '600MB', and finding topics in 110,000 texts takes about 740 MB: give \
740MB or more
    """
    least, what = LEAST_BUILD, "a build takes at least"
    if texts:
        least = min(LEAST_BUILD + texts * TEXT, TOPICS)
        what = f"finding topics in {texts:,} texts takes about"
    if memory is not None and parse_size(memory, "memory") < least:
        size = f"{least // 10**6}"
        raise ParameterError(f"memory is {memory!r}, and {what} {size} MB: give {size}MB or more")
