"""The ledger's files, opened with their cube; and files that an update leaves as they are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cube2net.array_types import Array
from cube2net.arrow_files import MappedFolder
from cube2net.cube.manifest import damaged
from cube2net.cube.soundness import check_columns
from cube2net.cube.update_families import FAMILIES
from cube2net.cube.update_ledger import RESTS, Ledger
from cube2net.errors import CubeError
from cube2net.records.corpus import LABELS

PARTS = {"ledger": LABELS, "ledger.families": FAMILIES, "ledger.rests": RESTS}
"""The tables of a ledger and their columns."""
GAPS = ("full_name", "parent")


def open_ledger(folder: MappedFolder, files: Collection[str], names: Sequence[str]) -> Callable[[], Ledger] | None:
    """Return what reads the ledger of a cube from files that are opened now, or None for a cube that has none."""
    if "ledger.parquet" not in files:
        return None
    items = folder.array("ledger.items.npy", "u")
    parts = {part: folder.buffer(f"{part}.parquet") for part in PARTS if f"{part}.parquet" in files}

    @cache
    def reader() -> Ledger:
        try:
            tables = {part: pq.read_table(file) for part, file in parts.items()}
            for part, table in tables.items():
                check_columns(table, PARTS[part], f"rows of {part}", gaps=GAPS)
            return Ledger.read(items, tables, names)
        except (
            pa.ArrowException,
            CubeError,
            OSError,
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            RecursionError,
        ) as error:
            raise damaged(folder.path, "ledger", error) from None

    return reader


def same_memory(arrays: Mapping[str, Array], others: Mapping[str, Array]) -> set[str]:
    """Return the names under which both have the very same memory, which is more than the same values."""
    return {name for name, array in arrays.items() if name in others and _place(array) == _place(others[name])}


def take_over(old: Path, new: Path) -> None:
    """Give a file a second name, or copy it where a file can have but one."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)


def _place(array: Array) -> tuple[object, ...]:
    return array.__array_interface__["data"][0], array.shape, array.dtype, array.strides
