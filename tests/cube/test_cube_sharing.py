"""A cube that is read and written at the same time, by several."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cube2net._util import arrow as arrow_files
from cube2net._util import files as atomic_files
from cube2net._util.arrays import Links
from cube2net._util.arrow import MappedFolder
from cube2net.api.update import add_items
from cube2net.cube.building.build import build
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.storage import reader
from cube2net.cube.storage.reader import read, read_manifest, verify
from cube2net.cube.storage.writer import save
from cube2net.errors import CubeError, InputError
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of
from updates import update_folder, with_ids

DESCRIPTORS = Path("/proc/self/fd")
ROWS: list = [(1995 + i, [("ACL", "KDD", "TACL")[i % 3]], [i % 5, (i * 3) % 5]) for i in range(20)]


@pytest.fixture
def cube() -> Cube:
    specs = [DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue")]
    return build(corpus_of(ROWS, objects=5), specs, DuckDB(), min_objects=2)


def with_mark(cube: Cube, number: int) -> Cube:
    """Return a cube of the same sizes whose settings and weights both tell a number."""
    links = Links(cube.links.indptr, cube.links.indices, np.full_like(cube.links.weights, number))
    return replace(cube, links=links, settings={**cube.settings, "seed": number})


def marks(cube: Cube) -> tuple[int, float]:
    return cube.settings["seed"], float(cube.links.weights[0])


def addition(first: int) -> Any:
    rows: list = [(2020 + i, ["WMT", "KDD"], [i, i + 1]) for i in range(3)]
    return with_ids(corpus_of(rows, objects=5), first)


def test_of_two_updates_at_the_same_time_none_is_lost_and_each_counts_its_own(
    cube: Cube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cube"
    save(cube, folder)
    working, waiting = Event(), Event()
    run = DuckDB.run

    def slow(self: DuckDB, *args: Any, **options: Any) -> dict[str, pa.Table]:
        working.set()
        assert waiting.wait(60)
        return run(self, *args, **options)

    def progress(stage: str, done: int, total: int | None = None) -> None:
        if "waiting for it" in stage:
            waiting.set()

    monkeypatch.setattr(DuckDB, "run", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(add_items, folder, addition(100))
        assert working.wait(60)
        _, added = add_items(folder, addition(200), progress=progress)
        assert [added.totals["items"], first.result()[1].totals["items"]] == [3, 3]
    assert read(folder).settings["items"] == 26
    assert verify(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["cube"]


def test_a_reader_sees_one_cube_while_writers_exchange_them(cube: Cube, tmp_path: Path) -> None:
    folder, other = tmp_path / "cube", tmp_path / "other"
    save(with_mark(cube, 1), folder)
    save(with_mark(cube, 2), other)
    program = f"""
        import sys
        from pathlib import Path
        from cube2net._util.files import _exchange
        print("ready", flush=True)
        while True:
            assert _exchange(Path({str(folder)!r}), Path({str(other)!r}))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            seen = {marks(read(folder)) for _ in range(200)}
            files = {verify(folder) for _ in range(50)}
        finally:
            writer.kill()
    assert seen <= {(1, 1.0), (2, 2.0)}
    assert len(files) == 1


def test_a_cube_that_is_replaced_and_removed_while_it_is_verified_is_verified_anew(
    cube: Cube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cube"
    save(with_mark(cube, 1), folder)
    look, left = reader._read_cube, [2]

    def replaced(place: MappedFolder) -> Any:
        seen = look(place)
        if left[0]:
            left[0] -= 1
            save(with_mark(cube, 3 - left[0]), folder)  # and the files of the one before are removed
        return seen

    monkeypatch.setattr(reader, "_read_cube", replaced)
    assert verify(folder) > 10


@pytest.mark.parametrize("descriptors", [True, False])
def test_a_folder_that_is_replaced_while_it_is_opened_is_opened_anew(
    cube: Cube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, descriptors: bool
) -> None:
    if not descriptors:
        monkeypatch.setattr(arrow_files.os, "supports_dir_fd", set())
    folder = tmp_path / "cube"
    save(with_mark(cube, 1), folder)
    load, left = MappedFolder.array, [5]

    def array(self: MappedFolder, name: str, *args: Any) -> Any:
        if name == "links.weights.npy" and left[0]:
            left[0] -= 1
            save(with_mark(cube, 7 - left[0]), folder)
        return load(self, name, *args)

    monkeypatch.setattr(MappedFolder, "array", array)
    assert marks(read(folder)) == (7, 7.0)
    assert left == [0]


def test_a_reader_waits_where_a_system_exchanges_folders_in_two_steps(
    cube: Cube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cube"
    save(cube, folder)
    old = atomic_files.owned_beside(folder, "building")
    old = old.with_name(old.name + "-old")
    folder.rename(old)
    monkeypatch.setattr(reader.time, "sleep", lambda _: old.rename(folder))
    assert repr(read(folder)) == repr(cube)


def test_a_folder_that_is_always_replaced_is_one_sentence(
    cube: Cube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(self: MappedFolder, name: str) -> int | None:
        return None

    save(cube, tmp_path / "cube")
    monkeypatch.setattr(MappedFolder, "size", missing)
    monkeypatch.setattr(MappedFolder, "is_replaced", lambda self: True)
    with pytest.raises(CubeError, match="is written all the time: open it when its writers are done"):
        read(tmp_path / "cube")


def test_who_has_a_cube_open_keeps_all_of_it(cube: Cube, tmp_path: Path) -> None:
    folder = tmp_path / "cube"
    save(with_mark(cube, 1), folder)
    opened = read(folder)
    save(with_mark(cube, 2), folder)
    assert marks(opened) == (1, 1.0)
    assert opened.objects.table["object"].to_pylist() == cube.objects.table["object"].to_pylist()
    assert opened.items is not None
    assert len(opened.items()) == 20
    assert opened.ledger is not None
    assert len(opened.ledger().items) == 20


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="the system does not list a process's descriptors")
def test_looking_at_a_folder_keeps_no_descriptor_of_it(cube: Cube, tmp_path: Path) -> None:
    save(cube, tmp_path / "cube")
    before = len(list(DESCRIPTORS.iterdir()))
    for _ in range(20):
        read_manifest(tmp_path / "cube")
    (tmp_path / "other" / "manifest.json").mkdir(parents=True)
    for _ in range(20):
        with pytest.raises(CubeError, match="is not a cube"):
            read_manifest(tmp_path / "other")
    assert len(list(DESCRIPTORS.iterdir())) == before


@pytest.mark.parametrize("inside", [False, True])
def test_a_cube_never_takes_the_place_of_where_the_process_is(
    cube: Cube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    here = tmp_path / "here"
    (here / "below").mkdir(parents=True)
    monkeypatch.chdir(here / "below" if inside else here)
    for place in (Path(".." if inside else "."), here):
        with pytest.raises(InputError, match="it is the folder you are in, or one above it"):
            save(cube, place)
    with pytest.raises(InputError, match="cannot write '/': it is the root of the disk"):
        save(cube, Path("/"))
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_a_disk_that_fills_while_an_update_is_written_is_named(
    cube: Cube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(cube, tmp_path / "cube")

    def full(path: Path, array: Any) -> None:
        raise OSError(f"{array.size} requested and 0 written")  # as NumPy says it

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(InputError, match=r"cannot write '.*cube': no space left on device"):
        update_folder(tmp_path / "cube", addition(100), DuckDB())
    assert verify(tmp_path / "cube")
