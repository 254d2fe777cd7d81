"""The folder where tables lie that Python and Spark hand each other: local, shared, or in an object store."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cube2net.arrow_files import ROWS as ROWS_AT_A_TIME
from cube2net.atomic_files import temporary_folder
from cube2net.errors import InputError, ParameterError, first_line

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
            yield _local(folder)
        return
    name = f"cube2net-{secrets.token_hex(8)}"
    staging = _at(f"{place.rstrip('/')}/{name}")
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
    store = _store(place)
    if not place or (store is not None and store not in SAME_STORE):
        stores = ", ".join(f"{name}://" for name in SAME_STORE)
        raise ParameterError(f"staging is {place!r}, expected a folder that all workers see or a place under {stores}")


def _at(place: str) -> Staging:
    from pyarrow.fs import FileSystem

    store = _store(place)
    if store is None or store == "file":
        return _local(Path(place.removeprefix("file://")).resolve())
    with _one_sentence(place):
        files, path = FileSystem.from_uri(f"{SAME_STORE[store]}{place.removeprefix(store)}")
    return Staging(place, files, path)


def _local(folder: Path) -> Staging:
    from pyarrow.fs import LocalFileSystem

    return Staging(f"file://{folder}", LocalFileSystem(), str(folder))


def _store(place: str) -> str | None:
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", place)
    return found[1] if found else None


@contextlib.contextmanager
def _one_sentence(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = first_line(error)
        raise InputError(f"the staging folder {place!r} cannot be used: {reason}") from None
