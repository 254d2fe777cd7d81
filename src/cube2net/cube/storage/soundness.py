"""A cube's files hold what they should: entries that point to what is there, offsets that fit, texts that are texts.

Compiled code trusts its arrays, so each is looked through before it is used. For a small cube that takes a few
milliseconds at every opening. A large one is looked through once: that it was sound is noted in the user's cache
together with size, times and place on the disk of every file, and whoever changes a byte changes these.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array
from cube2net._util.arrow import MappedFolder
from cube2net._util.files import write_files
from cube2net.errors import Cube2netError, CubeError, first_line
from cube2net.model.cube import Cube

KEYS = {"object": "objects.by-id", "name": "objects.by-name"}
"""The columns by which objects are found, and what the arrays for it are called."""
FEW_ENTRIES = 8_000_000
"""A cube whose arrays have no more entries than that is looked through at every opening."""
FEW_TEXTS = 1_000_000
"""A cube with no more objects than that has their texts looked through whenever they are first used."""
BLOCK = 2**18
"""Entries that are looked through at a time: they stay in the processor's cache from the lowest to the highest."""
NOTED = 256
"""So many cubes are remembered."""


def check_sound(cube: Cube, folder: MappedFolder, files: Iterable[str]) -> None:
    """Raise where a cube's arrays point to what is not there or its texts are none."""
    arrays = _list_pointers(cube)
    large = sum(len(entries) for _, entries, _ in arrays) > FEW_ENTRIES or len(cube.objects) > FEW_TEXTS
    mark = _fingerprint_files(folder, files) if large else ""
    place = str(folder.path.resolve())
    if large and _read_notes().get(place) == mark:
        return
    for name, entries, count in arrays:
        if not all_within(entries, 0, count - 1):
            raise CubeError(f"{name}.npy points to what is not there")
    if not all(all_within(part.labels.reshape(-1), 0, np.inf) for part in (cube.cells, cube.small)):
        raise CubeError("cells have labels below 0")
    if not all_within(cube.links.weights, 0, np.finfo(np.float64).max):
        raise CubeError("links.weights.npy holds weights that are below 0, without end or no numbers")
    if large:
        _check_texts(cube)
        _write_note(place, mark)


def check_columns(
    table: pa.Table, columns: Mapping[str, pa.DataType], what: str, *, gaps: Collection[str] = ()
) -> None:
    """Raise where a table lacks a column, or has one of another type or with gaps where there may be none."""
    for name, kind in columns.items():
        if name not in table.column_names:
            raise CubeError(f"its {what} have no column {name!r}")
        found = table.schema.field(name).type
        if found != kind or (table[name].null_count and name not in gaps):
            raise CubeError(f"its {what} have a column {name!r} of {found}, expected {kind}")


def _list_pointers(cube: Cube) -> list[tuple[str, Array, int]]:
    """Return the arrays of numbers of objects and cells by name, each with how many of those there are."""
    objects, cells = len(cube.objects), len(cube.cells)
    lookups = ((f"{KEYS[column]}.rows", lookup.rows, objects) for column, lookup in cube.objects.lookups.items())
    return [
        ("cells.members.indices", cube.cells.members.indices, objects),
        ("homes.indices", cube.homes.indices, cells),
        ("small.members.indices", cube.small.members.indices, objects),
        ("links.indices", cube.links.indices, objects),
        *lookups,
    ]


def all_within(entries: Array, least: float, most: float) -> bool:
    """Return whether all entries are from the least to the most; what is no number is not.

    >>> all_within(np.array([0, 2]), 0, 2), all_within(np.array([0.0, np.nan]), 0, 2), all_within(np.array([]), 0, 2)
    (True, False, True)
    """
    pieces = (entries[start : start + BLOCK] for start in range(0, len(entries), BLOCK))
    return all(least <= piece.min() and piece.max() <= most for piece in pieces)


def _check_texts(cube: Cube) -> None:
    try:
        cube.objects.table.validate(full=True)
    except pa.ArrowException as error:
        raise CubeError(f"its objects cannot be read ({first_line(error)})") from None
    try:
        cube.objects.attributes.validate(full=True)
    except pa.ArrowException as error:
        raise CubeError(f"its attributes of objects cannot be read ({first_line(error)})") from None


def _fingerprint_files(folder: MappedFolder, files: Iterable[str]) -> str:
    """Return what no file of a folder can be changed without changing, as one checksum."""
    facts: list[Any] = []
    for name in sorted(files):
        about = folder.stat(name)
        facts.append((name, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns))
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _notes_path() -> Path:
    """Return the file in which sound cubes are noted."""
    home = Path.home()
    usual = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Caches"}
    cache = os.environ.get("XDG_CACHE_HOME") or usual.get(sys.platform, home / ".cache")
    return Path(cache) / "cube2net" / "sound-cubes.json"


def _read_notes() -> dict[str, str]:
    """Return the marks of the cubes that were found sound, by their places; none where the notes cannot be read."""
    try:
        notes = json.loads(_notes_path().read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError, RecursionError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _write_note(place: str, mark: str) -> None:
    """Note that a cube was found sound; where that cannot be written it is looked through again the next time."""
    notes = {key: value for key, value in _read_notes().items() if key != place} | {place: mark}

    def write(path: Path) -> None:
        path.write_text(json.dumps(dict(list(notes.items())[-NOTED:]), indent=1), encoding="utf-8")

    try:
        path = _notes_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_files({path: write})
    except (OSError, RuntimeError, Cube2netError):
        return
