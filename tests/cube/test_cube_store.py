import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cube2net._util.files import new_folder, write_files
from cube2net.cube.building.build import build
from cube2net.cube.cuboids import cuboid
from cube2net.cube.storage.reader import read, verify
from cube2net.cube.storage.writer import save
from cube2net.errors import CubeError, InputError, ParameterError
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.objects import Objects

from corpora import corpus_of
from cuts import run_until_killed
from updates import Sqlite, change_manifest

ROWS = [(2003 + i % 20, [["ACL", "KDD", "WMT"][i % 3]], [i % 9, (i * 7) % 9]) for i in range(60)]


@pytest.fixture
def cube() -> Cube:
    corpus = corpus_of(ROWS, objects=9, kinds={"ACL": "conference", "KDD": "conference", "WMT": "workshop"})
    specs = [DimensionSpec("decade", "year", bins="decades"), DimensionSpec("venue", "venue", parent="kind")]
    return build(corpus, specs, Sqlite(), min_objects=2)


@pytest.fixture
def folder(cube: Cube, tmp_path: Path) -> Path:
    save(cube, tmp_path / "cube")
    return tmp_path / "cube"


def test_a_cube_read_back_is_the_cube_that_was_saved(cube: Cube, folder: Path) -> None:
    again = read(folder)
    assert repr(again) == repr(cube)
    assert [again.cell(i) for i in range(len(again.cells))] == [cube.cell(i) for i in range(len(cube.cells))]
    for one, other in ((again.cells.members, cube.cells.members), (again.object_cells, cube.object_cells)):
        assert np.array_equal(one.indptr, other.indptr)
        assert np.array_equal(one.indices, other.indices)
    assert np.array_equal(again.links.weights, cube.links.weights)
    assert again.objects.table.equals(cube.objects.table)
    assert [level.full_names for level in again.dimensions[1].levels] == [
        level.full_names for level in cube.dimensions[1].levels
    ]
    assert again.settings == json.loads(json.dumps(cube.settings))


def test_saving_the_same_cube_twice_writes_the_same_bytes(cube: Cube, folder: Path, tmp_path: Path) -> None:
    save(cube, tmp_path / "again")
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_an_opened_cube_cannot_be_written_to(folder: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        read(folder).links.weights[0] = 7


def test_verify_finds_any_changed_byte(folder: Path) -> None:
    assert verify(folder) == len(list(folder.iterdir()))
    for path in sorted(folder.iterdir()):
        good = path.read_bytes()
        for place in {0, len(good) // 2, len(good) - 1}:
            path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
            with pytest.raises(CubeError):
                verify(folder)
        path.write_bytes(good)
    assert verify(folder)


@pytest.mark.parametrize("name", ["links.indices.npy", "cells.labels.npy", "labels.parquet", "objects.arrow"])
def test_a_file_of_no_format_at_all_is_named(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(b"XXXXXXXX" + data[8:-8] + b"XXXXXXXX")
    with pytest.raises(CubeError, match=f"is damaged: {name} cannot be read"):
        read(folder)


@pytest.mark.parametrize("name", ["\0", "a\ud800"])
def test_a_name_that_no_folder_can_have_is_one_sentence(cube: Cube, name: str) -> None:
    with pytest.raises(CubeError, match="cannot be opened"):
        read(Path(name))
    with pytest.raises(InputError, match="no file can have that name"):
        write_files({Path(name): lambda path: None})


def test_a_cut_or_missing_file_is_found_at_opening(folder: Path) -> None:
    path = folder / "links.indices.npy"
    good = path.read_bytes()
    path.write_bytes(good[:-4])
    with pytest.raises(CubeError, match=r"is damaged: links.indices.npy has [\d,]+ bytes, expected"):
        read(folder)
    path.unlink()
    with pytest.raises(CubeError, match=r"is damaged: links.indices.npy is missing"):
        read(folder)


def test_wrong_offsets_are_found_at_opening(folder: Path) -> None:
    path = folder / "homes.indptr.npy"
    indptr = np.load(path)
    indptr[2] = indptr[-1] + 5
    np.save(path, indptr)
    with pytest.raises(CubeError, match="is damaged: .*offsets that fall"):
        read(folder)


def test_a_folder_that_is_not_a_cube_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(CubeError, match="does not exist: make one with 'cube2net build'"):
        read(tmp_path / "nothing")
    with pytest.raises(CubeError, match=r"is not a cube \(it has no manifest.json\)"):
        read(tmp_path)


@pytest.mark.parametrize(("version", "advice"), [(2, "build the cube again"), (99, "install a newer cube2net")])
def test_a_cube_of_another_format_is_refused_with_advice(folder: Path, version: int, advice: str) -> None:
    change_manifest(folder, lambda manifest: manifest.update(format=version))
    with pytest.raises(CubeError, match=f"has cube format {version}, and this cube2net reads 3: {advice}"):
        read(folder)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "no space left on device"), (errno.EROFS, "read-only file system")]
)
def test_a_full_or_read_only_disk_leaves_the_old_cube_and_nothing_else(
    cube: Cube, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(np, "save", refused)
    with pytest.raises(InputError, match=f"cannot write .*: {words}"):
        save(cube, folder)
    monkeypatch.undo()
    assert verify(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["cube"]


def test_a_place_that_cannot_be_written_is_one_sentence(cube: Cube, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file, not a folder"):
        save(cube, tmp_path / "file" / "cube")


@pytest.mark.parametrize("there", [True, False])
def test_a_killed_build_leaves_the_old_cube_or_nothing_and_the_next_one_tidies_up(
    cube: Cube, tmp_path: Path, there: bool
) -> None:
    place = tmp_path / "cube"
    if there:
        save(cube, place)
    program = f"""
        import os, signal
        from pathlib import Path
        from cube2net._util.files import new_folder, write_files
        with new_folder(Path({str(place)!r})) as aside:
            (aside / "half").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    run_until_killed(program)
    assert place.exists() == there
    if there:
        assert verify(place)
    save(cube, place)
    assert verify(place)
    assert [path.name for path in tmp_path.iterdir()] == ["cube"]


def test_an_interrupted_write_removes_what_it_wrote(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "cube") as aside:
        (aside / "half").write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_another_projects_manifest_does_not_make_its_folder_a_cube(cube: Cube, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "extension"
    other.mkdir()
    (other / "manifest.json").write_text('{"name": "extension"}')
    (folder / "thesis.txt").write_text("keep me")
    for place, sentence in (
        (other, "exists and is not a cube: choose another place or remove it"),
        (folder, "is a cube that also holds 'thesis.txt': move that elsewhere, or choose another place"),
    ):
        with pytest.raises(CubeError, match=sentence):
            save(cube, place)
    assert (folder / "thesis.txt").read_text() == "keep me"


def test_an_open_cube_keeps_its_names_when_another_takes_its_place(cube: Cube, folder: Path) -> None:
    opened = read(folder)
    table = cube.objects.table.set_column(0, "object", pa.array([f"new{i}" for i in range(9)]))
    save(replace(cube, objects=Objects.of(table)), folder)
    assert opened.query(["o3"]).objects.tolist() == [3]
    assert read(folder).query(["new3"]).objects.tolist() == [3]


def test_threads_that_save_to_one_place_leave_a_whole_cube_and_nothing_else(cube: Cube, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: save(cube, tmp_path / "cube"), range(12)))
    assert verify(tmp_path / "cube")
    assert [path.name for path in tmp_path.iterdir()] == ["cube"]


def test_a_view_of_other_cuboids_is_not_saved_and_leaves_what_was_there(cube: Cube, folder: Path) -> None:
    with pytest.raises(ParameterError, match=r"a view .cells of venue. cannot be saved: do it with the cube"):
        save(cuboid(cube, "venue"), folder)
    assert verify(folder)


def test_a_folder_name_with_signs_of_a_pattern_is_only_a_name(cube: Cube, tmp_path: Path) -> None:
    for name in ("a**b", "a[b]", "a?"):
        save(cube, tmp_path / name)
        assert verify(tmp_path / name)


def test_objects_are_mapped_not_copied_and_found_without_looking_through_them(folder: Path) -> None:
    objects = read(folder).objects
    before = pa.total_allocated_bytes()
    table = objects.table
    assert pa.total_allocated_bytes() == before
    assert set(objects.lookups) == {"object", "name"}
    assert objects.find([table["object"][4].as_py()]).rows.tolist() == [4]
