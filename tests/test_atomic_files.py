"""Files and folders that appear whole or not at all, and what killed processes leave beside them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cube2net._util import files as atomic_files
from cube2net._util.files import new_folder, owned_beside, owned_name, temporary_folder, write_files
from cube2net.api.checkpoints import checkpoints_beside
from cube2net.errors import InputError

from cuts import run_until_killed


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path) -> None:
    path.write_text("whole")


def test_what_a_killed_export_left_is_removed_by_the_next_into_the_same_folder(tmp_path: Path) -> None:
    run_until_killed(f"""
        import os, signal
        from pathlib import Path
        from cube2net._util.files import write_files
        def half(path):
            path.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
        write_files({{Path({str(tmp_path / "net.json")!r}): half}})
    """)
    assert len(names(tmp_path)) == 1
    write_files({tmp_path / "other.json": write})
    assert names(tmp_path) == ["other.json"]


def test_what_is_being_written_by_another_is_left_alone(tmp_path: Path) -> None:
    mine = owned_beside(tmp_path / "net.json", "part")
    mine.write_text("half")
    write_files({tmp_path / "net.json": write})
    assert names(tmp_path) == sorted([mine.name, "net.json"])


def test_what_another_machine_left_is_removed_when_it_is_a_week_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as there:
        there.setattr(atomic_files.platform, "node", lambda: "elsewhere")
        left = name_of_a_dead_process(tmp_path / ".net.json.part", monkeypatch)
    left.write_text("half")
    write_files({tmp_path / "net.json": write})
    assert names(tmp_path) == sorted([left.name, "net.json"])
    os.utime(left, (0, 0))
    write_files({tmp_path / "net.json": write})
    assert names(tmp_path) == ["net.json"]


def name_of_a_dead_process(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with monkeypatch.context() as there:
        there.setattr(atomic_files.os, "getpid", lambda: 2**22 + 1)
        return owned_name(path)


def test_a_new_folder_removes_what_killed_processes_left_beside_it_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = (".cube.building", ".net.json.part", ".cube.stages", "cube2net")
    for left in [name_of_a_dead_process(tmp_path / kind, monkeypatch) for kind in kinds]:
        left.mkdir()
    kept = [owned_name(tmp_path / kind) for kind in kinds]  # of a process that runs
    kept.append(name_of_a_dead_process(tmp_path / "mine", monkeypatch))
    old = name_of_a_dead_process(tmp_path / ".other.building", monkeypatch)
    kept.append(old.with_name(old.name + "-old"))
    with monkeypatch.context() as there:
        there.setattr(atomic_files.platform, "node", lambda: "elsewhere")
        kept.append(name_of_a_dead_process(tmp_path / ".cube.building", monkeypatch))
    for path in kept:
        path.mkdir()
    with new_folder(tmp_path / "new"):
        pass
    assert names(tmp_path) == sorted([*(path.name for path in kept), "new"])


def test_what_another_user_left_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = name_of_a_dead_process(tmp_path / ".cube.building", monkeypatch)
    left.mkdir()
    monkeypatch.setattr(atomic_files.os, "geteuid", lambda: left.stat().st_uid + 1)
    write_files({tmp_path / "net.json": write})
    assert names(tmp_path) == sorted([left.name, "net.json"])


def test_what_another_process_removes_at_the_same_time_keeps_nothing_else_from_being_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [name_of_a_dead_process(tmp_path / f".cube{number}.building", monkeypatch) for number in range(3)]
    for path in left:
        path.mkdir()
    is_mine, seen = atomic_files.is_mine, []

    def remove_the_first(path: Path) -> bool:
        seen.append(path)
        if len(seen) == 1:
            path.rmdir()
        return is_mine(path)

    monkeypatch.setattr(atomic_files, "is_mine", remove_the_first)
    atomic_files.remove_abandoned(tmp_path)
    assert names(tmp_path) == []


def test_a_temporary_folder_removes_those_of_killed_processes_and_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_files.tempfile, "tempdir", str(tmp_path))
    left = name_of_a_dead_process(tmp_path / "cube2net", monkeypatch)
    (left / "spill").mkdir(parents=True)
    with temporary_folder() as folder, temporary_folder() as other:
        assert {folder.parent, other.parent} == {tmp_path} and folder != other
        assert folder.stat().st_mode & 0o077 == 0
        assert sorted(names(tmp_path)) == sorted([folder.name, other.name])
    assert names(tmp_path) == []


def test_stages_whose_removal_was_cut_off_are_removed_by_the_next_build(tmp_path: Path) -> None:
    run_until_killed(f"""
        import os, shutil, signal
        from pathlib import Path
        from cube2net.api import checkpoints
        with checkpoints.checkpoints_beside(Path({str(tmp_path / "cube")!r})) as kept:
            (kept.folder / "table").write_text("whole")
            checkpoints.shutil.rmtree = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert len(names(tmp_path)) == 1
    assert names(tmp_path)[0].startswith(".cube.stages-")
    with checkpoints_beside(tmp_path / "cube") as kept:
        assert kept.folder == tmp_path / ".cube.stages"
    assert names(tmp_path) == []


def test_a_folder_that_was_killed_between_two_steps_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = name_of_a_dead_process(tmp_path / ".cube.building", monkeypatch)
    old = old.with_name(old.name + "-old")
    old.mkdir()
    (old / "part").write_text("kept")
    with pytest.raises(InputError, match="nothing"), new_folder(tmp_path / "cube"):
        raise InputError("nothing")
    assert (tmp_path / "cube" / "part").read_text() == "kept"
    assert names(tmp_path) == ["cube"]


def test_the_longest_names_can_be_written(tmp_path: Path) -> None:
    for name in ("n" * 250 + ".json", "ü" * 120 + ".json"):
        write_files({tmp_path / name: write})
        assert (tmp_path / name).read_text() == "whole"
        with new_folder(tmp_path / f"x{name}"[:-6]) as folder:
            write(folder / "part")
    assert len(names(tmp_path)) == 4
