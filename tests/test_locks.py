import errno
import fcntl
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from threading import Event, Thread

import pytest

from cube2net._util import files
from cube2net._util.files import only_writer, try_lock
from cube2net.errors import InputError

from cuts import run_until_killed, told


def test_who_comes_second_waits_says_so_and_then_has_its_turn(tmp_path: Path) -> None:
    turns: list[str] = []
    waits = Event()

    def second() -> None:
        def progress(stage: str, done: int, total: int | None = None) -> None:
            turns.append(stage)
            waits.set()

        with only_writer(tmp_path / "cube", progress):
            turns.append("second")

    other = Thread(target=second)
    with only_writer(tmp_path / "cube"):
        other.start()
        assert waits.wait(30)
        turns.append("first")
    other.join()
    place = str(tmp_path / "cube")
    assert turns == [f"another process is writing {place!r}: waiting for it", "first", "second"]
    assert list(tmp_path.iterdir()) == []


def test_many_writers_are_never_two_at_a_time_and_leave_no_file(tmp_path: Path) -> None:
    inside, most = [], []

    def work() -> None:
        for _ in range(20):
            with only_writer(tmp_path / "cube"):
                inside.append(1)
                time.sleep(0.0005)  # the others may go on, if they can
                most.append(len(inside))
                inside.pop()

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 80
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_keeps_nobody_out(tmp_path: Path) -> None:
    program = f"""
        import os, signal
        from pathlib import Path
        from cube2net._util.files import only_writer
        with only_writer(Path({str(tmp_path / "cube")!r})):
            os.kill(os.getpid(), signal.SIGKILL)
    """
    run_until_killed(program)
    assert [path.name for path in tmp_path.iterdir()] == [".cube.lock"]
    said: list[str] = []
    with only_writer(tmp_path / "cube", told(said)):
        pass
    assert said == []
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_another_process_has_is_seen(tmp_path: Path) -> None:
    program = f"""
        import sys
        from pathlib import Path
        from cube2net._util.files import try_lock
        lock = try_lock(Path({str(tmp_path / "lock")!r}))
        print("locked", flush=True)
        sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "locked\n"
        assert try_lock(tmp_path / "lock") is None
        other.stdin.close()
    lock = try_lock(tmp_path / "lock")
    assert lock is not None
    lock.close()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_where_nothing_can_be_locked_what_is_there_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with only_writer(tmp_path / "new"):  # nothing is there that could be lost
        (tmp_path / "new").mkdir()
    with (
        pytest.raises(InputError, match=r"files cannot be locked there \(.*\), and two writers at a time would lose"),
        only_writer(tmp_path / "new"),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_a_place_where_no_lock_can_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write '.*/file/cube': "), only_writer(tmp_path / "file" / "cube"):
        pass


def test_locks_that_fail_for_a_moment_do_not_cost_another_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    (tmp_path / "cube").mkdir()
    with only_writer(tmp_path / "cube"):
        with monkeypatch.context() as patch:
            patch.setattr(fcntl, "flock", refuse)
            with pytest.raises(InputError, match="cannot be locked"), only_writer(tmp_path / "cube"):
                pass
        assert try_lock(tmp_path / ".cube.lock") is None


def test_who_lost_the_place_of_its_lock_does_not_remove_that_of_another(tmp_path: Path) -> None:
    lock = tmp_path / ".cube.lock"
    with only_writer(tmp_path / "cube"):
        lock.unlink()
        other = try_lock(lock)
        assert other is not None
    assert lock.exists()
    other.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user for a moment")
def test_a_lock_that_another_user_left_keeps_nobody_out(tmp_path: Path) -> None:
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o777)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o055 != 0o055:
            folder.chmod(folder.stat().st_mode | 0o055)
    (place / ".cube.lock").touch(0o644)
    os.seteuid(65534)
    try:
        with only_writer(place / "cube"):
            pass
    finally:
        os.seteuid(0)
    assert list(place.iterdir()) == []


def test_stages_that_no_build_goes_on_from_are_removed_by_the_next_writer_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty, old, recent, used, foreign, other_tool = (
        tmp_path / f".{name}.stages" for name in ("empty", "old", "recent", "used", "foreign", "other-tool")
    )
    for stages in (old, recent, used, foreign):
        stage = stages / "corpus-0123456789abcdef"
        stage.mkdir(parents=True)
        (stages / "lock").touch()
        if stages != recent:
            os.utime(stage, (0, 0))
    empty.mkdir()
    (empty / "lock").touch()
    (other_tool / "notes").mkdir(parents=True)
    (other_tool / "lock").touch()
    os.utime(other_tool / "notes", (0, 0))
    monkeypatch.setattr(files, "is_mine", lambda path: path != foreign)
    lock = try_lock(used / "lock")
    assert lock is not None
    with lock, only_writer(tmp_path / "cube"):
        pass
    assert sorted(tmp_path.iterdir()) == sorted([recent, used, foreign, other_tool])
    assert sorted(path.name for path in other_tool.iterdir()) == ["lock", "notes"]
