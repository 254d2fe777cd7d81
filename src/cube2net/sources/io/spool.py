"""Rows in temporary files without a name, which are gone when nobody maps them any more, however the process ends."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from cube2net.atomic_files import one_sentence


class Spool:
    """Batches of rows in a temporary file that has no name; afterwards a table that is mapped."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="cube2net-")  # noqa: SIM115 (its mapping keeps it)
        self.writer: Any = None
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Write a batch; the first one says what columns there are."""
        with one_sentence(Path(tempfile.gettempdir())):
            if self.writer is None:
                self.writer = pa.ipc.new_file(self.file, batch.schema)
            self.writer.write_batch(batch)
        self.rows += batch.num_rows

    def table(self) -> pa.Table:
        """Return all rows, mapped; the file goes when the table does."""
        return self._reader(mapped=True).read_all()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the batches one by one, as they were written."""
        reader = self._reader(mapped=False)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)

    def _reader(self, *, mapped: bool) -> Any:
        with one_sentence(Path(tempfile.gettempdir())):
            self.writer.close()
            self.file.flush()
        if mapped:
            return pa.ipc.open_file(pa.py_buffer(mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)))
        self.file.seek(0)
        return pa.ipc.open_file(self.file)


def spooled(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return the table of batches, in a temporary file."""
    spool = Spool()
    for batch in batches:
        spool.add(batch)
    return spool.table()
