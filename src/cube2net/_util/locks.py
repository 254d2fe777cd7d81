"""File locks: one writer at a time, released when its process ends."""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from cube2net._util.files import check_above, hidden_beside, is_mine, one_sentence, owned_name
from cube2net._util.progress import Progress, silent, step
from cube2net.errors import InputError

LOCK, STAGES = "lock", "stages"
"""Beside a target: the file that its writer locks, and the folder of what a build has finished, with a lock in it."""
_BUSY = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_PAUSE_SECONDS = 0.1
_KEEP_STAGES_SECONDS = 7 * 24 * 3600
_STAGE = re.compile(r"[a-z_]+-[0-9a-f]{16}|\..+\.building-.+")


class NoLocksError(OSError):
    """A file system, or a system, on which no file can be locked."""


@contextmanager
def only_writer(target: Path, progress: Progress = silent) -> Iterator[None]:
    """Hold the lock of what is written at a place; while another process or thread has it, wait and say so.

    The lock is a hidden file beside the target, which is removed at the end; what a killed process left of it keeps
    nobody out. Where nothing can be locked, a target that is there is left as it is and the writer is refused.
    """
    step()
    target = Path(target).resolve()
    check_above(target)
    remove_abandoned_stages(target.parent)
    with one_sentence(target):
        lock = _waited_for(target, progress)
    if lock is None:
        yield
        return
    path = hidden_beside(target, LOCK)
    with lock:
        try:
            yield
        finally:
            if _is_at(path, lock):
                path.unlink(missing_ok=True)  # before it is let go: who waits sees that this file is the old one


def try_lock(path: Path) -> IO[bytes] | None:
    """Return a file that is locked by the caller until it is closed, made where it is not there; None if another's."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock, made = _open(path)
        except FileNotFoundError:
            continue  # the folder was removed in between
        try:
            if not _take(lock):
                lock.close()
                return None
        except NoLocksError:
            lock.close()
            if made:
                path.unlink(missing_ok=True)
            raise
        if _is_at(path, lock):
            return lock
        lock.close()  # another was done in between, and has removed the file: make it again


def remove_abandoned_stages(folder: Path) -> None:
    """Remove stages in a folder from which no build will go on: empty ones, and those unchanged for a week.

    Those that a process uses, which has locked them, and those of another user stay.
    """
    for lock_file in folder.glob(f".*.{STAGES}/{LOCK}"):
        stages = lock_file.parent
        with suppress(OSError):
            if not is_mine(stages) or not _is_abandoned(stages) or (lock := try_lock(lock_file)) is None:
                continue
            with lock:
                if _is_abandoned(stages):
                    shutil.rmtree(stages.rename(owned_name(stages)), ignore_errors=True)


def _is_abandoned(stages: Path) -> bool:
    """Return whether a folder holds nothing but stages of a build, all unchanged for a week."""
    if not all(path.name == LOCK or _STAGE.fullmatch(path.name) for path in stages.iterdir()):
        return False
    changed = max((path.stat().st_mtime for path in stages.rglob("*") if path.name != LOCK), default=0.0)
    return time.time() - changed > _KEEP_STAGES_SECONDS


def _waited_for(target: Path, progress: Progress) -> IO[bytes] | None:
    """Return the lock of a target; None where no locks are and nothing is there that could be lost."""
    said = False
    while True:
        try:
            lock = try_lock(hidden_beside(target, LOCK))
        except NoLocksError as error:
            if not target.exists():
                return None
            reason = os.strerror(error.errno).lower() if error.errno else str(error)
            raise InputError(
                f"cannot write {str(target)!r}: files cannot be locked there ({reason}), and two writers at a time "
                "would lose what one of them wrote: copy it to another disk, write there, and copy it back"
            ) from None
        if lock is not None:
            return lock
        if not said:
            progress(f"another process is writing {str(target)!r}: waiting for it", 0, None)
            said = True
        time.sleep(_PAUSE_SECONDS)
        step()


def _open(path: Path) -> tuple[IO[bytes], bool]:
    """Return a file, also one that another user made and that can only be read, and whether it was made now."""
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), "rb"), True
    except FileExistsError:
        pass
    try:
        return os.fdopen(os.open(path, os.O_RDWR), "rb"), False
    except PermissionError:
        return os.fdopen(os.open(path, os.O_RDONLY), "rb"), False


def _is_at(path: Path, lock: IO[bytes]) -> bool:
    """Return whether a file is the one at a path, and not one that was there before."""
    try:
        there, mine = path.stat(), os.fstat(lock.fileno())
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _take(lock: IO[bytes]) -> bool:
    """Return whether a file could be locked; raise where files cannot be."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError as error:
        raise NoLocksError(str(error)) from None
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise NoLocksError(error.errno, os.strerror(error.errno or 0)) from None
    return True
