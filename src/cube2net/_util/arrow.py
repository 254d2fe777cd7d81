"""Arrow arrays and tables: conversion from Python values, to frames of pandas and Polars, and memory-mapped files."""

from __future__ import annotations

import math
import mmap
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrays import Array
from cube2net.errors import MissingPackageError, first_line

if TYPE_CHECKING:
    import pandas
    import polars

PART = ".part"
ROWS = 1 << 20
"""Rows per batch written."""


def write_mapped(path: Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    """Write batches of rows to a file, which appears only once it is complete."""
    part = path.with_name(path.name + PART)
    with part.open("wb") as file:
        with pa.ipc.new_file(file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def write_mapped_table(path: Path, table: pa.Table, *, rows: int | None = ROWS) -> None:
    """Write a table to a file in batches of ``rows`` rows; None writes as few batches as Arrow allows."""
    plain = table.unify_dictionaries()
    plain = plain.combine_chunks() if rows is None else plain
    write_mapped(path, plain.to_batches(rows), plain.schema)


def open_mapped(path: Path) -> pa.Table:
    """Return the table of a file, memory-mapped."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def open_finished(path: Path) -> pa.Table | None:
    """Return the table of a file that an earlier run wrote, or None; an unreadable file is removed."""
    try:
        return open_mapped(path) if path.exists() else None
    except (pa.ArrowException, OSError):
        path.unlink(missing_ok=True)
        return None


class MappedFolder:
    """The files of a folder, opened through one descriptor, so that replacing the folder meanwhile has no effect.

    On systems without such descriptors, files are opened by their paths, and may then be of two folders;
    ``is_replaced`` tells whether that can be the case.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.descriptor: int | None = None
        if os.open in os.supports_dir_fd:
            self.descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        self.identity = _identity(self.path.stat() if self.descriptor is None else os.fstat(self.descriptor))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    def is_replaced(self) -> bool:
        """Return whether the folder was replaced or removed since it was opened."""
        try:
            return _identity(self.path.stat()) != self.identity
        except OSError:
            return True

    def open(self, name: str) -> IO[bytes]:
        """Open a file of the folder for reading; a name with a path is refused."""
        if Path(name).name != name or name in ("", ".", ".."):
            raise FileNotFoundError(f"{name!r} is not the name of a file in a folder")
        if self.descriptor is None:
            return (self.path / name).open("rb")
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK, dir_fd=self.descriptor)
        try:
            return os.fdopen(descriptor, "rb")
        except OSError:
            os.close(descriptor)
            raise

    def stat(self, name: str) -> os.stat_result:
        """Return the status of a file: size, times, inode."""
        if self.descriptor is None:
            return (self.path / name).stat()
        return os.stat(name, dir_fd=self.descriptor)

    def size(self, name: str) -> int | None:
        """Return the size of a file in bytes, or None if it does not exist."""
        try:
            about = self.stat(name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return about.st_size if stat.S_ISREG(about.st_mode) else None

    def buffer(self, name: str) -> pa.Buffer:
        """Return the bytes of a file, memory-mapped."""
        with self.open(name) as file:
            if os.fstat(file.fileno()).st_size == 0:
                return pa.py_buffer(b"")
            return pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def table(self, name: str) -> pa.Table:
        """Return the table of an Arrow file, memory-mapped."""
        with _name_file(name):
            return pa.ipc.open_file(self.buffer(name)).read_all()

    def parquet(self, name: str) -> pa.Table:
        """Return the table of a Parquet file."""
        with _name_file(name):
            return pq.ParquetFile(self.buffer(name)).read(use_threads=False)  # read_table would load pandas

    def array(self, name: str, kinds: str = "iuf", dimensions: int = 1) -> Array:
        """Return the array of a ``.npy`` file, memory-mapped, after checking its kind and that rows are contiguous."""
        with self.open(name) as file:
            with _name_file(name):
                shape, fortran, dtype = _header(file)
            if dtype.kind not in kinds or dtype.hasobject or not dtype.isnative or dtype.itemsize > 8:
                raise ValueError(f"{name} holds {dtype.str!r}, expected numbers of kind {' or '.join(kinds)}")
            if len(shape) != dimensions or (fortran and dimensions > 1):
                raise ValueError(f"{name} has the shape {shape}, expected one of {dimensions} length(s)")
            start, size = file.tell(), os.fstat(file.fileno()).st_size
            count = math.prod(shape)
            if start + count * dtype.itemsize != size:
                raise ValueError(f"{name} has {size:,} bytes, expected {start + count * dtype.itemsize:,}")
            if count == 0:
                return np.empty(shape, dtype)
            return np.memmap(file, dtype, "r", start, shape)


@contextmanager
def _name_file(name: str) -> Iterator[None]:
    """Add the name of a file to errors of its reader."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{name} cannot be read ({first_line(error)})") from None


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Return shape, order and dtype of a ``.npy`` file, and leave the file at its data."""
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    with suppress(KeyError):
        return read[np.lib.format.read_magic(file)](file)
    raise ValueError("it is of another version of the format .npy")


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def arrow_numbers(values: Array, kind: pa.DataType | None = None, *, missing: Array | None = None) -> pa.Array:
    """Return an Arrow array of NumPy numbers or booleans; marked values are null.

    >>> arrow_numbers(np.array([3, 1, 2]), missing=np.array([False, True, False])).to_pylist()
    [3, None, 2]
    >>> arrow_numbers(np.array([True, False, True])).to_pylist(), arrow_numbers(np.array([1, 2]), pa.int32()).type
    ([True, False, True], DataType(int32))
    """
    own = pa.from_numpy_dtype(values.dtype)
    content = np.packbits(values, bitorder="little") if values.dtype == bool else np.ascontiguousarray(values)
    validity = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    array = pa.Array.from_buffers(own, len(values), [validity, pa.py_buffer(content)])
    return array if kind is None or kind == own else array.cast(kind)


def arrow_texts(values: Sequence[str | None]) -> pa.Array:
    """Return an Arrow array of texts; None is null.

    >>> arrow_texts(["a", None, "ßü", ""]).to_pylist(), arrow_texts([]).type
    (['a', None, 'ßü', ''], DataType(string))
    """
    encoded = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)])
    if ends[-1] > np.iinfo(np.int32).max:
        return pa.array(values, pa.string())
    missing = np.array([value is None for value in values], dtype=bool)
    validity = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    content = [validity, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), content)


def to_numpy(array: pa.Array) -> Array:
    """Return the numbers or booleans of an Arrow array without nulls.

    >>> to_numpy(arrow_numbers(np.array([4, 5, 6])).slice(1)).tolist()
    [5, 6]
    >>> to_numpy(arrow_numbers(np.array([True, False, True])).slice(1)).tolist()
    [False, True]
    """
    content, past = array.buffers()[1], array.offset + len(array)
    if pa.types.is_boolean(array.type):
        bits = np.frombuffer(content or b"", np.uint8)
        return np.unpackbits(bits, count=past, bitorder="little")[array.offset :].astype(bool)
    return np.frombuffer(content or b"", array.type.to_pandas_dtype(), count=past)[array.offset :]


def to_pandas(table: pa.Table) -> pandas.DataFrame:
    """Return a table as a pandas data frame; columns with nulls get nullable types, and lists stay lists.

    >>> frame = to_pandas(pa.table({"year": [2006, None], "cells": [[1], []]}))
    >>> str(frame["year"].dtype), frame["cells"].tolist()
    ('Int64', [[1], []])
    """
    try:
        import pandas
    except ImportError:
        raise MissingPackageError("a frame of pandas needs the package 'pandas': pip install pandas") from None
    nullable = {
        pa.bool_(): pandas.BooleanDtype(),
        **{getattr(pa, f"int{bits}")(): getattr(pandas, f"Int{bits}Dtype")() for bits in (8, 16, 32, 64)},
        **{getattr(pa, f"uint{bits}")(): getattr(pandas, f"UInt{bits}Dtype")() for bits in (8, 16, 32, 64)},
    }

    def series(column: pa.ChunkedArray) -> Any:
        if pa.types.is_nested(column.type):
            return pandas.Series(column.to_pylist(), dtype=object)
        return column.to_pandas(types_mapper=nullable.get if column.null_count else None)

    columns = zip(table.column_names, table.columns, strict=True)
    return pandas.DataFrame({name: series(column) for name, column in columns}, columns=table.column_names)


def to_polars(table: pa.Table) -> polars.DataFrame:
    """Return a table as a Polars data frame."""
    try:
        import polars
    except ImportError:
        raise MissingPackageError("a frame of Polars needs the package 'polars': pip install polars") from None
    frame: polars.DataFrame = polars.DataFrame(table)
    return frame
