"""Files and folders that appear whole or not at all, and what killed processes leave beside them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cube2net import atomic_files
from cube2net.atomic_files import new_folder, owned_beside, write_files
from cube2net.checkpoints import checkpoints_beside
from cube2net.errors import InputError


def killed(program: str) -> None:
    """Run a program that kills itself."""
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert ended.returncode == -signal.SIGKILL


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path) -> None:
    path.write_text("whole")


def test_what_a_killed_export_left_is_removed_by_the_next_to_the_same_place(tmp_path: Path) -> None:
    killed(f"""
        import os, signal
        from pathlib import Path
        from cube2net.atomic_files import write_files
        def half(path):
            path.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
        write_files({{Path({str(tmp_path / "net.json")!r}): half}})
    """)
    assert len(names(tmp_path)) == 1
    write_files({tmp_path / "other.json": write})
    assert len(names(tmp_path)) == 2  # another place is none of its business
    write_files({tmp_path / "net.json": write})
    assert names(tmp_path) == ["net.json", "other.json"]


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
        there.setattr(atomic_files.os, "getpid", lambda: 2**22 + 1)
        left = owned_beside(tmp_path / "net.json", "part")
    left.write_text("half")
    write_files({tmp_path / "net.json": write})
    assert names(tmp_path) == sorted([left.name, "net.json"])
    os.utime(left, (0, 0))
    write_files({tmp_path / "net.json": write})
    assert names(tmp_path) == ["net.json"]


def test_stages_whose_removal_was_cut_off_are_removed_by_the_next_build(tmp_path: Path) -> None:
    killed(f"""
        import os, shutil, signal
        from pathlib import Path
        from cube2net import checkpoints
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
    with monkeypatch.context() as there:
        there.setattr(atomic_files.os, "getpid", lambda: 2**22 + 1)
        old = owned_beside(tmp_path / "cube", "building")
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
