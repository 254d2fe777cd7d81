"""Files of what a source knows of objects and links: attributes of objects, and links one by one.

Both are there only where the source says something, opened with the cube, and looked into when first used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrow_files import MappedFolder
from cube2net.cube.storage.manifest import damaged
from cube2net.cube.storage.soundness import FEW_TEXTS, all_within
from cube2net.errors import CubeError, InputError
from cube2net.records import Cube, LinkDetails
from cube2net.records.link_details import KIND
from cube2net.records.link_weights import HEAVIEST

ATTRIBUTES, DETAILS, STARTS = "objects.attributes.arrow", "links.details.arrow", "links.details.indptr"
BROKEN = (pa.ArrowException, CubeError, InputError, OSError, KeyError, TypeError, ValueError)


def carried_tables(cube: Cube) -> dict[str, pa.Table]:
    """Return the tables of what a cube carries besides, by the names of their files."""
    tables = {}
    if cube.objects.load_attributes is not None:
        tables[ATTRIBUTES] = cube.objects.attributes
    if cube.details is not None:
        tables[DETAILS] = cube.details().rows
    return tables


def carried_arrays(cube: Cube) -> dict[str, Array]:
    """Return the arrays of what a cube carries besides, by name."""
    return {} if cube.details is None else {STARTS: cube.details().indptr}


def same_tables(cube: Cube, old: Cube) -> set[str]:
    """Return the files of tables that a cube shares with the one before it."""
    files = set()
    if cube.objects.load_attributes is not None and cube.objects.load_attributes is old.objects.load_attributes:
        files.add(ATTRIBUTES)
    if cube.details is not None and cube.details is old.details:
        files.add(DETAILS)
    return files


def open_attributes(folder: MappedFolder, files: Collection[str], objects: int) -> Callable[[], pa.Table] | None:
    """Return what reads the attributes of objects from a file that is opened now, or None for a cube without any."""
    if ATTRIBUTES not in files:
        return None
    file = folder.buffer(ATTRIBUTES)

    @cache
    def reader() -> pa.Table:
        try:
            table = pa.ipc.open_file(file).read_all()
            table.validate(full=objects <= FEW_TEXTS)  # of more objects they are looked through with their texts
            if table.num_rows != objects or len(set(table.column_names)) != table.num_columns:
                raise CubeError(f"{table.num_columns:,} attributes have {table.num_rows:,} rows, expected {objects:,}")
        except BROKEN as error:
            raise damaged(folder.path, "attributes of objects", error) from None
        return table

    return reader


def open_details(folder: MappedFolder, files: Collection[str], objects: int) -> Callable[[], LinkDetails] | None:
    """Return what reads the links one by one from files that are opened now, or None for a cube that has none."""
    if DETAILS not in files:
        return None
    starts, file = folder.array(f"{STARTS}.npy", "i"), folder.buffer(DETAILS)

    @cache
    def reader() -> LinkDetails:
        try:
            rows = pa.ipc.open_file(file).read_all()
            rows.validate(full=True)
            details = LinkDetails(starts, rows)
            if len(details.indptr) != objects + 1:
                raise CubeError(f"{len(details.indptr) - 1:,} objects have links, expected {objects:,}")
            _check_rows(details, objects)
            if KIND in details.columns and any(one.dictionary.null_count for one in rows[KIND].chunks):
                raise CubeError("a kind of links has no name")
        except BROKEN as error:
            raise damaged(folder.path, "links one by one", error) from None
        return details

    return reader


def _check_rows(details: LinkDetails, objects: int) -> None:
    """Raise where the higher ends are no objects or do not ascend within those of a lower end, or weights are none."""
    if not all_within(details.column("weight"), 0, HEAVIEST):
        raise CubeError("they hold weights that are below 0, without end or no numbers")
    higher = details.higher
    if not all_within(higher, 0, objects - 1):
        raise CubeError("they point to what is not there")
    falls = np.flatnonzero(higher[1:] < higher[:-1]) + 1
    if not np.isin(falls, details.indptr).all():
        raise CubeError("they are not in their order")
