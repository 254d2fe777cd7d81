"""The files of a cube: what each is written from, and the cube of such files, memory-mapped and looked through.

Arrays may be made as such files from the start, so that they need not fit into memory.

Compiled code trusts its arrays, so each is looked through before it is used. For a small cube that takes a few
milliseconds at every opening. A large one is looked through once: that it was sound is noted in the user's cache
together with size, times and place on the disk of every file, and whoever changes a byte changes these.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrays import HEAVIEST, Array, Links, Ragged, flat_texts
from cube2net._util.arrow import MappedFolder, write_mapped, write_mapped_table
from cube2net._util.files import write_files
from cube2net.cube.storage.ledger import GAPS, PARTS, Ledger
from cube2net.errors import Cube2netError, CubeError, InputError, ParameterError, first_line
from cube2net.model.corpus import OBJECTS, WORDS
from cube2net.model.cube import KIND, Cells, Cube, LinkDetails
from cube2net.model.dimension import Dimension, Level
from cube2net.model.items import ItemAttributes, ItemIndex
from cube2net.model.objects import Lookup, Objects

T = TypeVar("T")
Allocate = Callable[[str, int, npt.DTypeLike], Array]
"""Gives an array of a name, a length and a type to be filled."""
LazyItems = Callable[[], ItemIndex]
KEYS = {"object": "objects.by-id", "name": "objects.by-name"}
"""The columns by which objects are found, and what the arrays for it are called."""
ITEM_OBJECTS, ITEM_CELLS, ITEM_TOPICS = "items.objects", "items.cells", "items.topics"
ITEM_IDS, ITEM_ATTRIBUTES, ITEM_TEXTS = "items.arrow", "items.attributes.arrow", "items.texts.npy"
OBJECT_ATTRIBUTES, DETAILS, STARTS = "objects.attributes.arrow", "links.details.arrow", "links.details.indptr.npy"
MODEL, TOPICS, BRINGABLE = "topic-model.parquet", "topics.parquet", "bringable.npy"
ABOUT_ITEMS = b"cube2net.items"
LEVELS = {
    "dimension": pa.int32(),
    "level": pa.int32(),
    "level_name": pa.string(),
    "label": pa.string(),
    "full_name": pa.string(),
    "above": pa.list_(pa.int32()),
    "parents": pa.list_(pa.int32()),
}
"""``above`` are the numbers of the levels above, ``parents`` those of the label's parents there."""
UNREADABLE = (
    *(pa.ArrowException, CubeError, InputError, OSError, KeyError, TypeError, ValueError),
    *(AttributeError, RecursionError, IndexError),
)
"""What a damaged file makes the readers of its format raise."""
FEW_ENTRIES = 8_000_000
"""A cube whose arrays have no more entries than that is looked through at every opening."""
FEW_TEXTS = 1_000_000
"""A cube with no more objects than that has their texts looked through whenever they are first used."""
BLOCK = 2**18
"""Entries that are looked through at a time: they stay in the processor's cache from the lowest to the highest."""
NOTED = 256
"""So many cubes are remembered."""


def in_memory(name: str, length: int, kind: npt.DTypeLike) -> Array:
    """Return a new array."""
    return np.empty(length, kind)


def in_files(folder: Path) -> Allocate:
    """Return what makes arrays as files ``NAME.npy`` of a folder, memory-mapped; one of no length is in memory."""

    def allocate(name: str, length: int, kind: npt.DTypeLike) -> Array:
        if length == 0:
            return np.empty(0, kind)
        path = folder / f"{name}.npy"
        try:
            array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(length,))
            if hasattr(os, "posix_fallocate"):  # take the space now: on a full disk, writing to a page ends the process
                with path.open("rb+") as file:
                    os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"cannot write {str(path)!r}: {reason}") from error
        return array

    return allocate


@dataclass(frozen=True, eq=False)
class CubeFile:
    """What writes a file of a cube, and what identifies its content: the same in two cubes, the file is the same."""

    write: Callable[[Path], None]
    identity: object = None


def list_files(cube: Cube) -> dict[str, CubeFile]:
    """Return the files of a cube by name, without the manifest; what is written is made when it is."""
    files: dict[str, CubeFile] = {}

    def add_array(name: str, array: Array) -> None:
        memory = array.__array_interface__["data"][0], array.shape, array.dtype, array.strides
        files[name] = CubeFile(lambda path: np.save(path, array), memory)

    def add_rows(name: str, rows: Ragged) -> None:
        add_array(f"{name}.indptr.npy", rows.indptr)
        add_array(f"{name}.indices.npy", rows.indices)

    def add_parquet(name: str, load: Callable[[], pa.Table], identity: object = None) -> None:
        files[name] = CubeFile(lambda path: pq.write_table(load(), path, compression="zstd"), identity)

    def add_arrow(name: str, load: Callable[[], pa.Table], identity: object) -> None:
        files[name] = CubeFile(lambda path: write_mapped_table(path, load(), rows=None), identity)

    def add_lookup(name: str, column: str) -> None:
        lookup = cache(lambda: objects.lookups.get(column) or lookup_of(objects.table[column]))
        files[f"{name}.hashes.npy"] = CubeFile(lambda path: np.save(path, lookup().hashes), id(objects.load))
        files[f"{name}.rows.npy"] = CubeFile(lambda path: np.save(path, lookup().rows), id(objects.load))

    for name, cells in (("cells", cube.cells), ("small", cube.small)):
        add_array(f"{name}.labels.npy", cells.labels)
        add_rows(f"{name}.members", cells.members)
    add_rows("homes", cube.object_cells)
    add_rows("links", Ragged(cube.links.indptr, cube.links.indices))
    add_array("links.weights.npy", cube.links.weights)
    add_parquet("labels.parquet", partial(_make_label_table, cube))
    if cube.bringable is not None:
        add_array(BRINGABLE, cube.bringable)

    objects = cube.objects
    add_arrow("objects.arrow", lambda: objects.table, id(objects.load))
    for column, name in KEYS.items():
        add_lookup(name, column)
    if objects.load_attributes is not None:
        add_arrow(OBJECT_ATTRIBUTES, lambda: objects.attributes, id(objects.load_attributes))

    if cube.details is not None:
        details = cube.details()
        add_array(STARTS, details.indptr)
        add_arrow(DETAILS, lambda: details.rows, id(cube.details))
    if cube.topic_words is not None:
        words = cube.topic_words
        add_parquet(TOPICS, lambda: words, id(words))
    if cube.topic_model is not None:
        add_parquet(MODEL, cube.topic_model, id(cube.topic_model))
    if cube.ledger is not None and "views" not in cube.settings:  # items can only be added to the whole
        ledger: Ledger = cube.ledger()
        tables = ledger.tables()
        add_array("ledger.items.npy", ledger.items)
        for name in tables:
            add_parquet(f"{name}.parquet", partial(tables.__getitem__, name))

    if cube.items is not None:
        index = cube.items()
        add_rows(ITEM_OBJECTS, index.objects)
        add_rows(ITEM_CELLS, index.cells)
        if index.topics is not None:
            add_rows(ITEM_TOPICS, index.topics)
        if index.texts is not None:
            add_array(ITEM_TEXTS, index.texts)
        about = {ABOUT_ITEMS: json.dumps({"derived": index.derived}).encode()}
        add_arrow(ITEM_IDS, lambda: pa.table({"item": index.ids}).replace_schema_metadata(about), id(index.load))
        if index.load_attributes is not None:
            attributes = index.kept_attributes
            files[ITEM_ATTRIBUTES] = CubeFile(
                lambda path: write_mapped(path, attributes.batches(), attributes.schema), id(index.load_attributes)
            )
    return files


def lookup_of(texts: pa.ChunkedArray) -> Lookup:
    """Return where the rows of a column are found by their texts.

    >>> lookup = lookup_of(pa.chunked_array([["a", "b"], ["a"]]))
    >>> lookup.find(["b", "c", "a"])
    [(0, 1), (2, 0), (2, 2)]
    """
    from cube2net.kernels.text import checksums

    numbers = checksums(*flat_texts(texts))
    rows = np.argsort(numbers, kind="stable").astype(np.int32)
    return Lookup(numbers[rows], rows)


def check_whole(cube: Cube, done: str) -> None:
    """Raise where the cells of a cube are those of other cuboids, which cannot stand for the cube in what is done."""
    if cube.cells.merged:
        view = cube.settings.get("views", ["cells of other cuboids"])[-1]
        raise ParameterError(f"a view ({view}) cannot be {done}: do it with the cube, and take the cells after that")


def assemble(folder: MappedFolder, manifest: dict[str, Any]) -> Cube:
    """Return the cube of a folder's files, memory-mapped."""
    files, counts = manifest["files"], manifest["counts"]

    def array(name: str, kinds: str = "i", dimensions: int = 1) -> Array:
        if f"{name}.npy" not in files:
            raise CubeError(f"{name}.npy is not among its files")
        return folder.array(f"{name}.npy", kinds, dimensions)

    def ragged(name: str) -> Ragged:
        return Ragged(array(f"{name}.indptr"), array(f"{name}.indices"))

    dimensions = _read_dimensions(folder.parquet("labels.parquet"))
    cells, small = (Cells(array(f"{part}.labels", "i", 2), ragged(f"{part}.members")) for part in ("cells", "small"))
    lookups = {
        column: Lookup(array(f"{name}.hashes", "u"), array(f"{name}.rows", "i")) for column, name in KEYS.items()
    }
    objects = int(counts["objects"])
    for lookup in lookups.values():
        if not len(lookup.rows) == len(lookup.hashes) == objects:
            raise CubeError(f"objects are found by {len(lookup.rows):,} keys, expected {objects:,}")
    cube = Cube(
        dimensions=dimensions,
        cells=cells,
        object_cells=ragged("homes"),
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
        topic_words=_read_topic_words(folder) if TOPICS in files else None,
        topic_model=_open_topic_model(folder) if MODEL in files else None,
        ledger=_open_ledger(folder, files) if "ledger.parquet" in files else None,
        items=_open_items(folder, files, objects, len(cells) + len(small)) if ITEM_IDS in files else None,
        details=_open_details(folder, objects) if DETAILS in files else None,
        bringable=folder.array(BRINGABLE, "b") if BRINGABLE in files else None,
    )
    found = {"cells": len(cells), "members": len(cells.members.indices), "links": cube.links.count}
    for name, count in found.items():
        if counts[name] != count:
            raise CubeError(f"it has {count:,} {name}, expected {counts[name]:,}")
    _check_sound(cube, folder, files)
    return cube


def _read_when_used(folder: MappedFolder, part: str, read: Callable[[], T]) -> Callable[[], T]:
    """Return what reads a part of a cube, and says in one sentence that it is damaged, whatever is raised."""

    def reader() -> T:
        try:
            return read()
        except UNREADABLE as error:
            raise CubeError(
                f"{str(folder.path)!r} is damaged: its {part} cannot be read ({first_line(error)})"
            ) from None

    return reader


def _read_topic_words(folder: MappedFolder) -> pa.Table:
    table = folder.parquet(TOPICS)
    _check_columns(table, WORDS | {"topic": pa.string()}, "words of topics")
    return table


def _open_topic_model(folder: MappedFolder) -> Callable[[], pa.Table]:
    file = folder.buffer(MODEL)
    return _read_when_used(folder, "topic model", lambda: pq.read_table(file))


def _open_objects(folder: MappedFolder, count: int) -> Callable[[], pa.Table]:
    table = folder.table("objects.arrow")

    def check() -> pa.Table:
        _check_columns(table, OBJECTS, "objects", gaps=("name", "kind"))
        if table.num_rows != count:
            raise CubeError(f"there are {table.num_rows:,}, expected {count:,}")
        if count <= FEW_TEXTS:
            table.validate(full=True)
        return table

    return _read_when_used(folder, "objects", check)


def _open_object_attributes(folder: MappedFolder, objects: int) -> Callable[[], pa.Table]:
    file = folder.buffer(OBJECT_ATTRIBUTES)

    def read() -> pa.Table:
        table = pa.ipc.open_file(file).read_all()
        table.validate(full=objects <= FEW_TEXTS)  # of more objects they are looked through with their texts
        if table.num_rows != objects or len(set(table.column_names)) != table.num_columns:
            raise CubeError(f"{table.num_columns:,} attributes have {table.num_rows:,} rows, expected {objects:,}")
        return table

    return cache(_read_when_used(folder, "attributes of objects", read))


def _open_ledger(folder: MappedFolder, files: Collection[str]) -> Callable[[], Ledger]:
    items = folder.array("ledger.items.npy", "u")
    parts = {part: folder.buffer(f"{part}.parquet") for part in PARTS if f"{part}.parquet" in files}

    def read() -> Ledger:
        tables = {part: pq.read_table(file) for part, file in parts.items()}
        for part, rows in tables.items():
            _check_columns(rows, PARTS[part], f"rows of {part}", gaps=GAPS)
        return Ledger.read(items, tables)

    return cache(_read_when_used(folder, "ledger", read))


def _open_items(folder: MappedFolder, files: Collection[str], objects: int, cells: int) -> LazyItems:
    arrays = {
        name: (folder.array(f"{name}.indptr.npy", "i"), folder.array(f"{name}.indices.npy", "i"))
        for name in (ITEM_OBJECTS, ITEM_CELLS, ITEM_TOPICS)
        if name != ITEM_TOPICS or f"{name}.indptr.npy" in files
    }
    texts = folder.array(ITEM_TEXTS, "u") if ITEM_TEXTS in files else None
    file = folder.buffer(ITEM_IDS)
    attributes = _open_item_attributes(folder) if ITEM_ATTRIBUTES in files else None

    def read() -> ItemIndex:
        ids = pa.ipc.open_file(file).read_all()
        _check_columns(ids, {"item": pa.string()}, "items")
        ids.validate(full=True)
        derived = bool(json.loads(ids.schema.metadata[ABOUT_ITEMS])["derived"])
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
        if not (all_within(index.objects.indices, 0, objects - 1) and all_within(index.cells.indices, 0, cells - 1)):
            raise CubeError("it points to what is not there")
        return index

    return cache(_read_when_used(folder, "items", read))


def _open_item_attributes(folder: MappedFolder) -> Callable[[], ItemAttributes]:
    file = folder.buffer(ITEM_ATTRIBUTES)

    def read() -> ItemAttributes:
        table = pa.ipc.open_file(file).read_all()
        table.validate(full=True)
        return ItemAttributes((table,), written=True)

    return cache(_read_when_used(folder, "attributes of items", read))


def _open_details(folder: MappedFolder, objects: int) -> Callable[[], LinkDetails]:
    starts, file = folder.array(STARTS, "i"), folder.buffer(DETAILS)

    def read() -> LinkDetails:
        rows = pa.ipc.open_file(file).read_all()
        rows.validate(full=True)
        details = LinkDetails(starts, rows)
        higher = details.higher
        if len(details.indptr) != objects + 1:
            raise CubeError(f"{len(details.indptr) - 1:,} objects have links, expected {objects:,}")
        if not all_within(details.column("weight"), 0, HEAVIEST):
            raise CubeError("they hold weights that are below 0, without end or no numbers")
        if not all_within(higher, 0, objects - 1):
            raise CubeError("they point to what is not there")
        if not np.isin(np.flatnonzero(higher[1:] < higher[:-1]) + 1, details.indptr).all():
            raise CubeError("they are not in their order")
        if KIND in details.columns and any(one.dictionary.null_count for one in rows[KIND].chunks):
            raise CubeError("a kind of links has no name")
        return details

    return cache(_read_when_used(folder, "links one by one", read))


def _make_label_table(cube: Cube) -> pa.Table:
    rows: dict[str, list[Any]] = {name: [] for name in LEVELS}
    for number, dimension in enumerate(cube.dimensions):
        places = {level.name: depth for depth, level in enumerate(dimension.levels)}
        for depth, level in enumerate(dimension.levels):
            above = [places[name] for name in level.above]
            parents = np.stack([np.empty(len(level.labels)), *level.above.values()]).T[:, 1:].astype(np.int32).tolist()
            for label, full_name, of_label in zip(level.labels, level.full_names, parents, strict=True):
                values = (number, depth, level.name, label, full_name, above, of_label)
                for name, value in zip(LEVELS, values, strict=True):
                    rows[name].append(value)
    return pa.table(rows, schema=pa.schema(list(LEVELS.items())))


def _read_dimensions(table: pa.Table) -> tuple[Dimension, ...]:
    _check_columns(table, LEVELS, "labels")
    columns = [table[name].to_pylist() for name in LEVELS]
    levels: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    for number, depth, *rest in zip(*columns, strict=True):
        levels.setdefault((number, depth), []).append(tuple(rest))
    dimensions = []
    for number in range(1 + max((key[0] for key in levels), default=-1)):
        rows = list(itertools.takewhile(bool, (levels.get((number, depth)) or [] for depth in range(len(levels)))))
        names = [of_level[0][0] for of_level in rows]
        dimensions.append(Dimension(tuple(_read_level(of_level, names) for of_level in rows)))
    return tuple(dimensions)


def _read_level(rows: list[tuple[Any, ...]], names: list[str]) -> Level:
    _, labels, full_names, above, parents = zip(*rows, strict=True)
    if any(one != above[0] for one in above) or any(len(one) != len(above[0]) for one in parents):
        raise CubeError(f"labels of level {rows[0][0]!r} have different levels above")
    if not all(number is not None and 0 <= number < len(names) for number in above[0]):
        raise CubeError(f"level {rows[0][0]!r} stands below one that is not there")
    if any(number is None for of_label in parents for number in of_label):
        raise CubeError(f"level {rows[0][0]!r} does not name a parent for every label")
    numbers = np.array(parents, dtype=np.int32).reshape(len(rows), len(above[0])).T.copy()
    return Level(rows[0][0], labels, full_names, {names[number]: numbers[i] for i, number in enumerate(above[0])})


def _check_sound(cube: Cube, folder: MappedFolder, files: Iterable[str]) -> None:
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


def _check_columns(
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
        ("homes.indices", cube.object_cells.indices, cells),
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
