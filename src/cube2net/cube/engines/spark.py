"""The distributed engine: Spark runs the plan, on this machine or on a cluster, on tables in Parquet files."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrow import ROWS as ROWS_AT_A_TIME
from cube2net._util.arrow import finished, open_mapped, write_mapped
from cube2net._util.files import temporary_folder
from cube2net._util.progress import Progress, silent
from cube2net.cube.engines.spark_session import check_installed, check_master, is_local, one_sentence, open_session
from cube2net.errors import InputError, ParameterError, first_line, parse_size, whole_number


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

    @contextmanager
    def staged(self, session: Any, table: pa.Table) -> Iterator[str]:
        """Give the place of a table where all workers read it, as Parquet files."""
        with self._staging(session) as staging:
            yield staging.write("table", table)

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


ROWS = 1_000_000
"""Rows a file: Spark reads several files at the same time, and does not cut a file as small as this."""
SAME_STORE = {"s3a": "s3", "s3n": "s3", "gs": "gs", "hdfs": "hdfs", "abfs": "abfs", "abfss": "abfss", "file": "file"}
"""What Spark's name of a store is to Arrow."""


@dataclass(frozen=True, eq=False)
class Staging:
    """A folder under two names: ``url`` is what Spark calls it, ``path`` what Arrow does in its view ``files``."""

    url: str
    files: Any
    path: str

    def write(self, name: str, table: pa.Table) -> str:
        """Return what Spark calls a table that was written here, in files of a million rows."""
        with _one_sentence(self.url):
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

        with _one_sentence(self.url):
            found = self.files.get_file_info(FileSelector(f"{self.path}/{name}"))
            paths = sorted(file.path for file in found if file.base_name.endswith(".parquet"))
            if not paths:
                raise InputError(f"Spark left no table at {self.of(name)!r}: are its workers on a folder of their own?")
            marked = pq.read_schema(paths[0], filesystem=self.files)
        plain = pa.schema([pa.field(field.name, field.type) for field in marked])
        return pa.RecordBatchReader.from_batches(plain, self._batches(paths, plain))

    def _batches(self, paths: list[str], plain: pa.Schema) -> Iterator[pa.RecordBatch]:
        with _one_sentence(self.url):
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
    with _one_sentence(staging.url):
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
    with _one_sentence(place):
        files, path = FileSystem.from_uri(f"{SAME_STORE[store]}{place.removeprefix(store)}")
    return Staging(place, files, path)


def _open_local(folder: Path) -> Staging:
    from pyarrow.fs import LocalFileSystem

    return Staging(f"file://{folder}", LocalFileSystem(), str(folder))


def _parse_store(place: str) -> str | None:
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", place)
    return found[1] if found else None


@contextlib.contextmanager
def _one_sentence(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = first_line(error)
        raise InputError(f"the staging folder {place!r} cannot be used: {reason}") from None
