"""Damaged cubes: one sentence, whatever the size and wherever the damage is."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cube2net._util.arrow import open_mapped, write_mapped_table
from cube2net.cube.building.build import build
from cube2net.cube.storage import reader
from cube2net.cube.storage.reader import read, verify
from cube2net.cube.storage.writer import save
from cube2net.errors import CubeError
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of
from updates import Sqlite, change_manifest, resize

ROWS: list = [(1995 + i, [("ACL", "KDD", "TACL")[i % 3]], [i % 5, (i * 3) % 5]) for i in range(20)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    specs = [DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue")]
    save(build(corpus_of(ROWS, objects=5), specs, Sqlite(), min_objects=2), tmp_path / "cube")
    return tmp_path / "cube"


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Take every cube for a large one, and keep the notes of sound ones here."""
    monkeypatch.setattr(reader, "MAX_ENTRIES_ALWAYS_CHECKED", 3)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cube2net" / "sound-cubes.json"


def looked_through(folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether opening a cube looks through its arrays."""
    seen: list[int] = []
    within = reader.are_within

    def counted(entries: Any, *limits: Any) -> bool:
        seen.append(len(entries))
        return within(entries, *limits)

    with monkeypatch.context() as patch:
        patch.setattr(reader, "are_within", counted)
        read(folder)
    return bool(seen)


def change(folder: Path, name: str, place: int, value: float) -> None:
    """Change one entry of an array where it lies, as a failing disk would."""
    array = np.load(folder / name, mmap_mode="r+")
    array.reshape(-1)[place] = value
    array.flush()
    del array


def test_a_large_cube_is_looked_through_once(folder: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked_through(folder, monkeypatch)
    assert list(json.loads(notes.read_text())) == [str(folder.resolve())]
    assert not looked_through(folder, monkeypatch)
    os.utime(folder / "links.indices.npy")
    assert looked_through(folder, monkeypatch)
    assert not looked_through(folder, monkeypatch)


@pytest.mark.parametrize("kind", ["small", "large", "large and seen"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("links.indices.npy", 5),
        ("links.indices.npy", -1),
        ("links.weights.npy", np.nan),
        ("links.weights.npy", np.inf),
        ("links.weights.npy", -1),
        ("homes.indices.npy", 10**6),
        ("cells.members.indices.npy", -(2**31)),
        ("cells.labels.npy", -1),
        ("objects.by-id.rows.npy", 5),
    ],
)
def test_one_wrong_entry_of_an_array_is_one_sentence(
    folder: Path, request: pytest.FixtureRequest, name: str, value: float, kind: str
) -> None:
    if kind != "small":
        request.getfixturevalue("notes")
    if kind == "large and seen":
        read(folder)
    kept = (folder / name).stat()
    change(folder, name, 2, value)
    os.utime(folder / name, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    with pytest.raises(CubeError, match="is damaged: "):
        read(folder)


def test_one_wrong_text_offset_among_many_objects_is_one_sentence(folder: Path, notes: Path) -> None:
    path = folder / "objects.arrow"
    data = bytearray(path.read_bytes())
    column = open_mapped(path)["object"].chunk(0)
    offsets = np.frombuffer(column.buffers()[1], np.int32)[: len(column) + 1].tobytes()
    place = bytes(data).index(offsets) + 4 * 3
    data[place : place + 4] = (2**31 - 1).to_bytes(4, sys.byteorder)
    path.write_bytes(bytes(data))
    with pytest.raises(CubeError, match="is damaged: its objects cannot be read"):
        read(folder)


def test_the_notes_are_never_needed_and_never_trusted_when_odd(
    folder: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("", "[1]", "{", '{"a": 5}', "[" * 200_000):
        notes.parent.mkdir(parents=True, exist_ok=True)
        notes.write_text(text)
        assert looked_through(folder, monkeypatch)
    notes.unlink()
    notes.mkdir()
    assert looked_through(folder, monkeypatch)
    assert looked_through(folder, monkeypatch)


def test_the_notes_do_not_grow_without_end(folder: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_CHECKED_CUBES", 2)
    notes.parent.mkdir(parents=True)
    notes.write_text(json.dumps({"a": "1", "b": "2", "c": "3"}))
    read(folder)
    assert list(json.loads(notes.read_text())) == ["c", str(folder.resolve())]


def test_a_small_cube_is_not_noted(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert looked_through(folder, monkeypatch)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(20, np.float32),
        np.zeros(20, np.complex64),
        np.zeros(20, ">i4"),
        np.zeros((4, 5), np.int32),
        np.zeros(20, "S4"),
        np.array("a", dtype=object),
    ],
    ids=["floats", "complex", "other end first", "two dimensions", "texts", "objects"],
)
def test_an_array_of_another_kind_is_one_sentence(folder: Path, array: Any) -> None:
    path = folder / "links.indices.npy"
    np.save(path, array)
    resize(folder, "links.indices.npy")
    with pytest.raises(CubeError, match=r"is damaged: links\.indices\.npy (holds|has the shape)"):
        read(folder)


@pytest.mark.parametrize("shape", [(10**9,), (-1,), (2**70,), (3, 10**12), ()], ids=str)
def test_a_header_that_lies_about_its_length_is_one_sentence(folder: Path, shape: tuple[int, ...]) -> None:
    path = folder / "links.indices.npy"
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    data = path.read_bytes()
    path.write_bytes(data[:10] + header.encode() + data[128:])
    with pytest.raises(CubeError, match="is damaged: "):
        read(folder)


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a format below 1": lambda manifest: manifest.update(format=-1),
    "a format of true": lambda manifest: manifest.update(format=True),
    "a format of text": lambda manifest: manifest.update(format="2"),
    "a format of many digits": lambda manifest: manifest.update(format=1.5),
    "no settings": lambda manifest: manifest.pop("settings"),
    "a list of settings": lambda manifest: manifest.update(settings=[]),
    "dimensions of numbers": lambda manifest: manifest["settings"].update(dimensions=[1]),
    "dimensions of text": lambda manifest: manifest["settings"].update(dimensions="venue"),
    "views of text": lambda manifest: manifest["settings"].update(views="a view"),
    "few objects as text": lambda manifest: manifest["settings"].update(min_objects="10"),
    "what was dropped as a list": lambda manifest: manifest["settings"].update(dropped=[]),
    "what was dropped without counts": lambda manifest: manifest["settings"].update(dropped={"a": "b"}),
    "items below 0": lambda manifest: manifest["settings"].update(items=-1),
    "topics of text": lambda manifest: manifest["settings"].update(topics="lda"),
    "no counts": lambda manifest: manifest.update(counts={}),
    "a count of text": lambda manifest: manifest["counts"].update(objects="5"),
    "another count of cells": lambda manifest: manifest["counts"].update(cells=999),
    "another count of links": lambda manifest: manifest["counts"].update(links=999),
    "another count of objects": lambda manifest: manifest["counts"].update(objects=999),
    "files as a list": lambda manifest: manifest.update(files=[]),
    "a file without a checksum": lambda manifest: manifest["files"]["links.indices.npy"].pop("sha256"),
    "a file with an odd checksum": lambda manifest: manifest["files"]["links.indices.npy"].update(sha256=5),
    "a file with an odd size": lambda manifest: manifest["files"]["links.indices.npy"].update(bytes=True),
    "a file elsewhere": lambda manifest: manifest["files"].update({"../a": {"bytes": 1, "sha256": "0" * 64}}),
    "a file with no name": lambda manifest: manifest["files"].update({"": {"bytes": 1, "sha256": "0" * 64}}),
    "a file less": lambda manifest: manifest["files"].pop("links.indices.npy"),
    "a file without a size": lambda manifest: manifest["files"]["links.indices.npy"].pop("bytes"),
    "texts for whole ids": lambda manifest: manifest["settings"].update(whole_ids="yes"),
    "texts for directions": lambda manifest: manifest["settings"].update(directed="yes"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_odd_manifest_is_one_sentence(folder: Path, what: str) -> None:
    change_manifest(folder, CHANGES[what])
    for look in (read, verify):
        with pytest.raises(CubeError, match="is damaged: ") as raised:
            look(folder)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', '{"format": "one", "files": {}, "counts": {}}'])
def test_a_manifest_that_cannot_be_read_is_one_sentence(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(CubeError):
        read(folder)


def test_a_manifest_that_is_nested_or_long_without_end_is_one_sentence(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": ' + "[" * 200_000 + "]" * 200_000 + "}")
    with pytest.raises(CubeError, match="nested too deeply"):
        read(folder)
    with (folder / "manifest.json").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(CubeError, match="it has more than 67,108,864 bytes"):
        read(folder)


def test_a_file_that_is_a_folder_or_a_pipe_is_one_sentence(folder: Path) -> None:
    path = folder / "links.indices.npy"
    path.unlink()
    path.mkdir()
    with pytest.raises(CubeError, match=r"is damaged: links\.indices\.npy is missing"):
        read(folder)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(CubeError, match=r"is damaged: links\.indices\.npy is missing"):
        read(folder)


def test_ids_of_items_that_are_no_texts_are_one_sentence(folder: Path) -> None:
    metadata, offsets = open_mapped(folder / "items.arrow").schema.metadata, np.full(21, 7, np.int32)

    def read_with_ids() -> Cube:
        ids = pa.StringArray.from_buffers(20, pa.py_buffer(offsets), pa.py_buffer(b"\xff" * 7))
        write_mapped_table(folder / "items.arrow", pa.table({"item": ids}).replace_schema_metadata(metadata))
        resize(folder, "items.arrow")
        return read(folder)

    fresh = read_with_ids()
    assert fresh.items is not None
    assert len(fresh.items()) == 20  # texts of no length are texts
    offsets[3] = 10**9
    fresh = read_with_ids()
    assert fresh.items is not None
    with pytest.raises(CubeError, match="is damaged: its items cannot be read"):
        fresh.items()


@pytest.mark.parametrize("column", ["dimension", "level_name", "label", "full_name"])
@pytest.mark.parametrize("wrong", [[["a", "b"]], [b"a"], [1.5], [None]], ids=["lists", "bytes", "floats", "nothing"])
def test_labels_of_another_kind_are_one_sentence(folder: Path, column: str, wrong: list[Any]) -> None:
    path = folder / "labels.parquet"
    labels = pq.read_table(path)
    place = labels.column_names.index(column)
    pq.write_table(labels.set_column(place, column, pa.array(wrong * labels.num_rows)), path)
    resize(folder, "labels.parquet")
    with pytest.raises(CubeError, match=f"is damaged: its labels have a column '{column}' of .*, expected"):
        read(folder)


@pytest.mark.parametrize("column", ["object", "name", "kind"])
def test_objects_whose_columns_are_no_texts_are_one_sentence(folder: Path, column: str) -> None:
    table = open_mapped(folder / "objects.arrow").combine_chunks()
    place = table.column_names.index(column)
    write_mapped_table(folder / "objects.arrow", table.set_column(place, column, pa.array([["a"]] * table.num_rows)))
    resize(folder, "objects.arrow")
    with pytest.raises(CubeError, match=f"is damaged: its objects .*{column!r} of list.*, expected string"):
        read(folder).objects.table  # noqa: B018


def test_items_without_a_column_of_ids_are_one_sentence(folder: Path) -> None:
    ids = open_mapped(folder / "items.arrow")
    write_mapped_table(folder / "items.arrow", ids.rename_columns(["other"]))
    resize(folder, "items.arrow")
    fresh = read(folder)
    assert fresh.items is not None
    with pytest.raises(CubeError, match="is damaged: its items cannot be read .its items have no column 'item'."):
        fresh.items()


@pytest.mark.parametrize("change", ["gap", "kind", "gone"])
def test_words_of_topics_that_are_no_words_are_one_sentence(tmp_path: Path, change: str) -> None:
    cube = build(corpus_of(ROWS, objects=5), [DimensionSpec.parse("venue")], Sqlite(), min_objects=2)
    words = pa.table({"topic": ["a"], "term": ["b"], "weight": pa.array([1.0], pa.float32())})
    save(replace(cube, topic_words=words), tmp_path / "cube")
    wrong = {"gap": pa.array([None], pa.string()), "kind": pa.array([["b"]])}
    made = words.drop_columns("term") if change == "gone" else words.set_column(1, "term", wrong[change])
    pq.write_table(made, tmp_path / "cube" / "topics.parquet")
    resize(tmp_path / "cube", "topics.parquet")
    with pytest.raises(CubeError, match="is damaged: its words of topics have"):
        read(tmp_path / "cube")
