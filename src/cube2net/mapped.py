"""Tables in files that are memory-mapped: opened at once whatever their size, and shared by all processes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

PART = ".part"
ROWS = 1 << 20
"""Rows that are written at a time."""


def write_mapped(path: Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    """Write batches of rows to a file, which appears whole or not at all."""
    part = path.with_name(path.name + PART)
    with part.open("wb") as file:
        with pa.ipc.new_file(file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def write_mapped_table(path: Path, table: pa.Table, *, rows: int | None = ROWS) -> None:
    """Write a table to a file; with ``rows=None`` in as few pieces a column as Arrow allows, as it will be opened."""
    plain = table.unify_dictionaries()
    plain = plain.combine_chunks() if rows is None else plain
    write_mapped(path, plain.to_batches(rows), plain.schema)


def open_mapped(path: Path) -> pa.Table:
    """Return the table of a file; what is not looked at is not read."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def finished(path: Path) -> pa.Table | None:
    """Return the table of a file that an earlier run has written, or None; one that cannot be read is removed."""
    try:
        return open_mapped(path) if path.exists() else None
    except (pa.ArrowException, OSError):
        path.unlink(missing_ok=True)
        return None
