"""Read a cube's folder: a manifest, Parquet and Arrow tables, and memory-mapped arrays.

The manifest holds the format, counts, settings, and the size and checksum of every file. A reader needs no lock: it
opens every file of the folder through one descriptor, and starts again if another cube has replaced the folder.

Compiled code trusts the arrays, so they are checked before use. This takes milliseconds for a small cube. A large cube
is checked once: the result is kept in the user's cache with the size, times and inode of every file.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrays import HEAVIEST, Array, Links, Ragged
from cube2net._util.arrow import MappedFolder
from cube2net._util.files import is_being_replaced, write_files
from cube2net._util.progress import cores
from cube2net.cube.storage.ledger import NULLABLE_COLUMNS, TABLES, Ledger
from cube2net.errors import Cube2netError, CubeError, InputError, first_line
from cube2net.model.corpus import OBJECTS, WORDS
from cube2net.model.cube import KIND, Cells, Cube, LinkDetails, Origin, open_origin
from cube2net.model.dimension import Dimension, Level
from cube2net.model.items import ItemAttributes, ItemIndex
from cube2net.model.objects import Lookup, Objects

T = TypeVar("T")
FORMAT = 3
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 64 * 2**20
COUNTS = ("objects", "cells", "members", "links")
MAX_OPENING_ATTEMPTS = 200

LOOKUPS = {"object": "objects.by-id", "name": "objects.by-name"}
"""The columns by which objects are looked up, and the names of the arrays for it."""
ITEM_OBJECTS, ITEM_CELLS, ITEM_TOPICS = "items.objects", "items.cells", "items.topics"
ITEM_IDS, ITEM_ATTRIBUTES, ITEM_TEXTS = "items.arrow", "items.attributes.arrow", "items.texts.npy"
OBJECT_ATTRIBUTES = "objects.attributes.arrow"
LINK_DETAILS, LINK_DETAIL_OFFSETS = "links.details.arrow", "links.details.indptr.npy"
TOPIC_MODEL, TOPIC_WORDS, BRINGABLE = "topic-model.parquet", "topics.parquet", "bringable.npy"
ITEM_METADATA = b"cube2net.items"
LABEL_COLUMNS = {
    "dimension": pa.int32(),
    "level": pa.int32(),
    "level_name": pa.string(),
    "label": pa.string(),
    "full_name": pa.string(),
    "above": pa.list_(pa.int32()),
    "parents": pa.list_(pa.int32()),
}
"""``above`` holds the numbers of the levels above, ``parents`` the numbers of the label's parents in them."""
READ_ERRORS = (
    *(pa.ArrowException, CubeError, InputError, OSError, KeyError, TypeError, ValueError),
    *(AttributeError, RecursionError, IndexError),
)
"""The exceptions that reading a damaged file can raise."""
MAX_ENTRIES_ALWAYS_CHECKED = 8_000_000
MAX_TEXTS_ALWAYS_CHECKED = 1_000_000
CHECKED_BLOCK = 2**18
"""Entries checked at a time, so that they stay in the processor's cache between the two passes."""
MAX_CHECKED_CUBES = 256


@dataclass(frozen=True, eq=False)
class StoredCube:
    """A cube that was read from a folder, and the manifest of the folder at that time."""

    cube: Cube
    manifest: dict[str, Any]


def read(folder: Path) -> Cube:
    """Return the cube of a folder; its arrays are memory-mapped and its objects are read when first used."""
    return _open_folder(Path(folder), _read_cube).cube


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a cube's folder."""
    return _open_folder(Path(folder), _load_manifest)


def verify(folder: Path) -> int:
    """Check every byte of a cube and return the number of its files; raise at the first file that differs."""
    return len(read_verified(folder).manifest["files"]) + 1


def read_verified(folder: Path) -> StoredCube:
    """Return the cube of a folder with its manifest, after checking every byte."""
    return _open_folder(Path(folder), _read_verified)


def _open_folder(path: Path, look: Callable[[MappedFolder], T]) -> T:
    """Return what a function reads from a folder that was not replaced while it did."""
    for _ in range(MAX_OPENING_ATTEMPTS):
        try:
            folder = MappedFolder(path)
        except (OSError, ValueError) as error:
            if isinstance(error, FileNotFoundError) and is_being_replaced(path):
                time.sleep(0.01)  # a system that cannot exchange two folders is between two steps
                continue
            reasons: dict[type[Exception], str] = {
                FileNotFoundError: "does not exist",
                NotADirectoryError: "is a file, not the folder of a cube",
            }
            reason = reasons.get(type(error), f"cannot be opened ({getattr(error, 'strerror', None) or error})")
            raise CubeError(f"{str(path)!r} {reason}: make one with 'cube2net build'") from None
        with folder:
            try:
                result = look(folder)
            except Cube2netError:
                if not folder.is_replaced():
                    raise
            except OSError as error:
                if not folder.is_replaced():
                    raise CubeError(f"{str(path)!r} is damaged: {first_line(error)}") from error
            else:
                if folder.descriptor is not None or not folder.is_replaced():
                    return result
    raise CubeError(f"{str(path)!r} is written all the time: open it when its writers are done")


def _read_cube(folder: MappedFolder) -> StoredCube:
    manifest = _load_manifest(folder)
    try:
        for name, about in manifest["files"].items():
            size = folder.size(name)
            if size is None:
                raise CubeError(f"{name} is missing")
            if size != about["bytes"]:
                raise CubeError(f"{name} has {size:,} bytes, expected {about['bytes']:,}")
        cube = _assemble(folder, manifest)
    except MemoryError:
        raise
    except Exception as error:  # whatever the readers of a format raise on a damaged file
        raise CubeError(f"{str(folder.path)!r} is damaged: {first_line(error)}") from error
    origin = Origin(folder.path.absolute(), str(manifest.get("sha256")), read)
    return StoredCube(open_origin(cube, origin), manifest)


def _read_verified(folder: MappedFolder) -> StoredCube:
    from concurrent.futures import ThreadPoolExecutor

    manifest = _load_manifest(folder)
    unsealed = {key: value for key, value in manifest.items() if key != "sha256"}
    if manifest.get("sha256") != compute_seal(unsealed):
        raise CubeError(f"{str(folder.path)!r} is damaged: manifest.json was changed")
    with ThreadPoolExecutor(cores()) as pool:
        names = list(manifest["files"])
        for name, checksum in zip(names, pool.map(partial(_checksum_file, folder), names), strict=True):
            if checksum != manifest["files"][name]["sha256"]:
                what = "is missing" if checksum is None else "was changed"
                raise CubeError(f"{str(folder.path)!r} is damaged: {name} {what}")
    return _read_cube(folder)


def _checksum_file(folder: MappedFolder, name: str) -> str | None:
    if folder.size(name) is None:
        return None
    with folder.open(name) as file:
        return compute_checksum(file)


def compute_checksum(file: IO[bytes]) -> str:
    """Return the SHA-256 checksum of a file."""
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def compute_seal(manifest: Mapping[str, Any]) -> str:
    """Return the checksum of a manifest, which the manifest holds itself."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _load_manifest(folder: MappedFolder) -> dict[str, Any]:
    """Return the manifest of a cube's folder after checking its types."""
    place = str(folder.path)
    try:
        with folder.open(MANIFEST) as file:
            text = file.read(MAX_MANIFEST_BYTES + 1)
    except (FileNotFoundError, IsADirectoryError):
        raise CubeError(f"{place!r} is not a cube (it has no manifest.json): make one with 'cube2net build'") from None
    except OSError as error:
        raise CubeError(f"{place!r} is damaged: manifest.json cannot be read ({error.strerror})") from None
    try:
        if len(text) > MAX_MANIFEST_BYTES:
            raise ValueError(f"it has more than {MAX_MANIFEST_BYTES:,} bytes")
        manifest: dict[str, Any] = json.loads(text.decode("utf-8"))
        version = manifest["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else first_line(error)
        raise CubeError(f"{place!r} is damaged: manifest.json cannot be read ({reason})") from None
    if _is_count(version) and version != FORMAT:
        advice = "install a newer cube2net" if version > FORMAT else "build the cube again"
        raise CubeError(f"{place!r} has cube format {version}, and this cube2net reads {FORMAT}: {advice}")
    fault = _find_fault(manifest)
    if fault:
        raise CubeError(f"{place!r} is damaged: manifest.json has {fault}")
    return manifest


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _are_counts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


SETTING_CHECKS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("min_objects", "max_mentions", "items"), _is_count),
    **dict.fromkeys(("dimensions", "views"), _are_texts),
    **dict.fromkeys(("time", "engine", "attribution"), lambda value: isinstance(value, str)),
    **dict.fromkeys(("whole_ids", "directed"), lambda value: isinstance(value, bool)),
    "seed": lambda value: isinstance(value, int),
    "dropped": _are_counts,
    "topics": lambda value: value is None or isinstance(value, dict),
}


def _find_fault(manifest: Mapping[str, Any]) -> str:
    """Return the first thing in a manifest that has the wrong type, or an empty text."""
    if not _is_count(manifest["format"]):
        return f"an odd format, expected {FORMAT}"
    files, counts, settings = (manifest.get(part) for part in ("files", "counts", "settings"))
    if not isinstance(files, dict) or not isinstance(counts, dict) or not isinstance(settings, dict):
        return "no files, counts or settings"
    for name, about in files.items():
        if Path(name).name != name or name in ("", ".", "..", MANIFEST) or "\0" in name:
            return f"{name!r} for the name of a file"
        if not isinstance(about, dict) or not _is_count(about.get("bytes")) or not _is_checksum(about.get("sha256")):
            return f"no size and checksum of {name!r}"
    for name in COUNTS:
        if not _is_count(counts.get(name)):
            return f"no count of {name}"
    for name, is_valid in SETTING_CHECKS.items():
        if name in settings and not is_valid(settings[name]):
            return f"an odd setting {name!r}"
    return ""


def _is_checksum(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _assemble(folder: MappedFolder, manifest: dict[str, Any]) -> Cube:
    """Return the cube of a folder's files, memory-mapped."""
    files, counts = manifest["files"], manifest["counts"]

    def array(name: str, kinds: str = "i", dimensions: int = 1) -> Array:
        if f"{name}.npy" not in files:
            raise CubeError(f"{name}.npy is not among its files")
        return folder.array(f"{name}.npy", kinds, dimensions)

    def read_rows(name: str) -> Ragged:
        return Ragged(array(f"{name}.indptr"), array(f"{name}.indices"))

    cells, small = (Cells(array(f"{part}.labels", "i", 2), read_rows(f"{part}.members")) for part in ("cells", "small"))
    lookups = {
        column: Lookup(array(f"{name}.hashes", "u"), array(f"{name}.rows", "i")) for column, name in LOOKUPS.items()
    }
    objects = int(counts["objects"])
    for lookup in lookups.values():
        if not len(lookup.rows) == len(lookup.hashes) == objects:
            raise CubeError(f"objects are found by {len(lookup.rows):,} keys, expected {objects:,}")
    cube = Cube(
        dimensions=_read_dimensions(folder.parquet("labels.parquet")),
        cells=cells,
        object_cells=read_rows("homes"),
        small=small,
        links=Links(array("links.indptr"), array("links.indices"), array("links.weights", "f")),
        objects=Objects(
            objects,
            _open_objects(folder, objects),
            lookups,
            manifest["settings"].get("whole_ids", False),
            _open_object_attributes(folder, objects) if OBJECT_ATTRIBUTES in files else None,
        ),
        settings=manifest["settings"],
        topic_words=_read_topic_words(folder) if TOPIC_WORDS in files else None,
        topic_model=_open_topic_model(folder) if TOPIC_MODEL in files else None,
        ledger=_open_ledger(folder, files) if "ledger.parquet" in files else None,
        items=_open_items(folder, files, objects, len(cells) + len(small)) if ITEM_IDS in files else None,
        details=_open_link_details(folder, objects) if LINK_DETAILS in files else None,
        bringable=folder.array(BRINGABLE, "b") if BRINGABLE in files else None,
    )
    sizes = {"cells": len(cells), "members": len(cells.members.indices), "links": cube.links.count}
    for name, count in sizes.items():
        if counts[name] != count:
            raise CubeError(f"it has {count:,} {name}, expected {counts[name]:,}")
    _check_arrays(cube, folder, files)
    return cube


def _read_lazily(folder: MappedFolder, part: str, load: Callable[[], T]) -> Callable[[], T]:
    """Return a function that reads a part of a cube once, and reports any error as damage."""

    @cache
    def reader() -> T:
        try:
            return load()
        except READ_ERRORS as error:
            raise CubeError(
                f"{str(folder.path)!r} is damaged: its {part} cannot be read ({first_line(error)})"
            ) from None

    return reader


def _read_arrow(file: pa.Buffer, *, check_texts: bool = True) -> pa.Table:
    table = pa.ipc.open_file(file).read_all()
    table.validate(full=check_texts)
    return table


def _read_topic_words(folder: MappedFolder) -> pa.Table:
    table = folder.parquet(TOPIC_WORDS)
    _check_columns(table, WORDS | {"topic": pa.string()}, "words of topics")
    return table


def _open_topic_model(folder: MappedFolder) -> Callable[[], pa.Table]:
    file = folder.buffer(TOPIC_MODEL)
    return _read_lazily(folder, "topic model", lambda: pq.read_table(file))


def _open_objects(folder: MappedFolder, count: int) -> Callable[[], pa.Table]:
    table = folder.table("objects.arrow")

    def load() -> pa.Table:
        _check_columns(table, OBJECTS, "objects", nullable=("name", "kind"))
        if table.num_rows != count:
            raise CubeError(f"there are {table.num_rows:,}, expected {count:,}")
        if count <= MAX_TEXTS_ALWAYS_CHECKED:
            table.validate(full=True)
        return table

    return _read_lazily(folder, "objects", load)


def _open_object_attributes(folder: MappedFolder, objects: int) -> Callable[[], pa.Table]:
    file = folder.buffer(OBJECT_ATTRIBUTES)

    def load() -> pa.Table:
        table = _read_arrow(file, check_texts=objects <= MAX_TEXTS_ALWAYS_CHECKED)
        if table.num_rows != objects or len(set(table.column_names)) != table.num_columns:
            raise CubeError(f"{table.num_columns:,} attributes have {table.num_rows:,} rows, expected {objects:,}")
        return table

    return _read_lazily(folder, "attributes of objects", load)


def _open_ledger(folder: MappedFolder, files: Collection[str]) -> Callable[[], Ledger]:
    items = folder.array("ledger.items.npy", "u")
    buffers = {name: folder.buffer(f"{name}.parquet") for name in TABLES if f"{name}.parquet" in files}

    def load() -> Ledger:
        tables = {name: pq.read_table(file) for name, file in buffers.items()}
        for name, table in tables.items():
            _check_columns(table, TABLES[name], f"rows of {name}", nullable=NULLABLE_COLUMNS)
        return Ledger.read(items, tables)

    return _read_lazily(folder, "ledger", load)


def _open_items(folder: MappedFolder, files: Collection[str], objects: int, cells: int) -> Callable[[], ItemIndex]:
    arrays = {
        name: (folder.array(f"{name}.indptr.npy", "i"), folder.array(f"{name}.indices.npy", "i"))
        for name in (ITEM_OBJECTS, ITEM_CELLS, ITEM_TOPICS)
        if name != ITEM_TOPICS or f"{name}.indptr.npy" in files
    }
    texts = folder.array(ITEM_TEXTS, "u") if ITEM_TEXTS in files else None
    file = folder.buffer(ITEM_IDS)
    attributes = None
    if ITEM_ATTRIBUTES in files:
        attribute_file = folder.buffer(ITEM_ATTRIBUTES)
        attributes = _read_lazily(
            folder, "attributes of items", lambda: ItemAttributes((_read_arrow(attribute_file),), written=True)
        )

    def load() -> ItemIndex:
        ids = _read_arrow(file)
        _check_columns(ids, {"item": pa.string()}, "items")
        derived = bool(json.loads(ids.schema.metadata[ITEM_METADATA])["derived"])
        rows = {name: Ragged(*pair) for name, pair in arrays.items()}
        index = ItemIndex(
            rows[ITEM_OBJECTS],
            rows[ITEM_CELLS],
            derived,
            lambda: ids["item"],
            attributes,
            rows.get(ITEM_TOPICS),
            texts,
        )
        if ids.num_rows != len(index):
            raise CubeError(f"{len(index):,} items have {ids.num_rows:,} ids")
        if not (are_within(index.objects.indices, 0, objects - 1) and are_within(index.cells.indices, 0, cells - 1)):
            raise CubeError("it points to what is not there")
        return index

    return _read_lazily(folder, "items", load)


def _open_link_details(folder: MappedFolder, objects: int) -> Callable[[], LinkDetails]:
    starts, file = folder.array(LINK_DETAIL_OFFSETS, "i"), folder.buffer(LINK_DETAILS)

    def load() -> LinkDetails:
        details = LinkDetails(starts, _read_arrow(file))
        higher = details.higher
        if len(details.indptr) != objects + 1:
            raise CubeError(f"{len(details.indptr) - 1:,} objects have links, expected {objects:,}")
        if not are_within(details.column("weight"), 0, HEAVIEST):
            raise CubeError("they hold weights that are below 0, without end or no numbers")
        if not are_within(higher, 0, objects - 1):
            raise CubeError("they point to what is not there")
        if not np.isin(np.flatnonzero(higher[1:] < higher[:-1]) + 1, details.indptr).all():
            raise CubeError("they are not in their order")
        if KIND in details.columns and any(one.dictionary.null_count for one in details.rows[KIND].chunks):
            raise CubeError("a kind of links has no name")
        return details

    return _read_lazily(folder, "links one by one", load)


def _read_dimensions(table: pa.Table) -> tuple[Dimension, ...]:
    _check_columns(table, LABEL_COLUMNS, "labels")
    columns = [table[name].to_pylist() for name in LABEL_COLUMNS]
    rows: dict[int, dict[int, list[tuple[Any, ...]]]] = {}
    for number, depth, *rest in zip(*columns, strict=True):
        rows.setdefault(number, {}).setdefault(depth, []).append(tuple(rest))
    dimensions = []
    for number in range(1 + max(rows, default=-1)):
        levels = rows.get(number, {})
        if sorted(levels) != list(range(len(levels))):
            raise CubeError(f"dimension {number} lacks a level")
        names = [levels[depth][0][0] for depth in range(len(levels))]
        dimensions.append(Dimension(tuple(_read_level(levels[depth], names) for depth in range(len(levels)))))
    return tuple(dimensions)


def _read_level(rows: list[tuple[Any, ...]], names: list[str]) -> Level:
    _, labels, full_names, above, parents = zip(*rows, strict=True)
    if any(one != above[0] for one in above) or any(len(one) != len(above[0]) for one in parents):
        raise CubeError(f"labels of level {rows[0][0]!r} have different levels above")
    if not all(number is not None and 0 <= number < len(names) for number in above[0]):
        raise CubeError(f"level {rows[0][0]!r} is below a level that does not exist")
    if any(number is None for numbers in parents for number in numbers):
        raise CubeError(f"level {rows[0][0]!r} does not name a parent for every label")
    by_level = np.array(parents, dtype=np.int32).reshape(len(rows), len(above[0])).T.copy()
    return Level(rows[0][0], labels, full_names, {names[number]: by_level[i] for i, number in enumerate(above[0])})


def _check_columns(
    table: pa.Table, columns: Mapping[str, pa.DataType], what: str, *, nullable: Collection[str] = ()
) -> None:
    """Raise if a table lacks a column, or has one of another type or with unexpected nulls."""
    for name, kind in columns.items():
        if name not in table.column_names:
            raise CubeError(f"its {what} have no column {name!r}")
        actual = table.schema.field(name).type
        if actual != kind or (table[name].null_count and name not in nullable):
            raise CubeError(f"its {what} have a column {name!r} of {actual}, expected {kind}")


def _check_arrays(cube: Cube, folder: MappedFolder, files: Iterable[str]) -> None:
    """Raise if the arrays of a cube hold numbers out of range, or its texts are not valid."""
    objects, cells = len(cube.objects), len(cube.cells)
    pointers = [
        ("cells.members.indices", cube.cells.members.indices, objects),
        ("homes.indices", cube.object_cells.indices, cells),
        ("small.members.indices", cube.small.members.indices, objects),
        ("links.indices", cube.links.indices, objects),
        *((f"{LOOKUPS[column]}.rows", lookup.rows, objects) for column, lookup in cube.objects.lookups.items()),
    ]
    is_large = (
        sum(len(entries) for _, entries, _ in pointers) > MAX_ENTRIES_ALWAYS_CHECKED
        or objects > MAX_TEXTS_ALWAYS_CHECKED
    )
    fingerprint = _fingerprint_files(folder, files) if is_large else ""
    place = str(folder.path.resolve())
    if is_large and _load_checked_cubes().get(place) == fingerprint:
        return
    for name, entries, count in pointers:
        if not are_within(entries, 0, count - 1):
            raise CubeError(f"{name}.npy points to what is not there")
    if not all(are_within(part.labels.reshape(-1), 0, np.inf) for part in (cube.cells, cube.small)):
        raise CubeError("cells have labels below 0")
    if not are_within(cube.links.weights, 0, np.finfo(np.float64).max):
        raise CubeError("links.weights.npy holds weights that are below 0, without end or no numbers")
    if is_large:
        _check_texts(cube.objects)
        _save_checked_cube(place, fingerprint)


def are_within(entries: Array, least: float, most: float) -> bool:
    """Return whether all entries are from ``least`` to ``most``; NaN is not.

    >>> are_within(np.array([0, 2]), 0, 2), are_within(np.array([0.0, np.nan]), 0, 2), are_within(np.array([]), 0, 2)
    (True, False, True)
    """
    blocks = (entries[start : start + CHECKED_BLOCK] for start in range(0, len(entries), CHECKED_BLOCK))
    return all(least <= block.min() and block.max() <= most for block in blocks)


def _check_texts(objects: Objects) -> None:
    for what, table in (("objects", objects.table), ("attributes of objects", objects.attributes)):
        try:
            table.validate(full=True)
        except pa.ArrowException as error:
            raise CubeError(f"its {what} cannot be read ({first_line(error)})") from None


def _fingerprint_files(folder: MappedFolder, files: Iterable[str]) -> str:
    """Return a checksum that changes with any change to a folder's files."""
    facts: list[Any] = []
    for name in sorted(files):
        about = folder.stat(name)
        facts.append((name, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns))
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _get_checked_cubes_path() -> Path:
    home = Path.home()
    usual = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Caches"}
    folder = os.environ.get("XDG_CACHE_HOME") or usual.get(sys.platform, home / ".cache")
    return Path(folder) / "cube2net" / "sound-cubes.json"


def _load_checked_cubes() -> dict[str, str]:
    """Return the fingerprints of the cubes that passed their check, by folder."""
    try:
        checked = json.loads(_get_checked_cubes_path().read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError, RecursionError):
        return {}
    return checked if isinstance(checked, dict) else {}


def _save_checked_cube(place: str, fingerprint: str) -> None:
    """Record that a cube passed its check; without a writable cache it is checked again the next time."""
    checked = {key: value for key, value in _load_checked_cubes().items() if key != place} | {place: fingerprint}

    def write(path: Path) -> None:
        path.write_text(json.dumps(dict(list(checked.items())[-MAX_CHECKED_CUBES:]), indent=1), encoding="utf-8")

    try:
        path = _get_checked_cubes_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_files({path: write})
    except (OSError, RuntimeError, Cube2netError):
        return
