"""Atomic writes of files and folders, and locks for one writer at a time."""

from __future__ import annotations

import ctypes
import errno
import glob
import hashlib
import os
import platform
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import IO

from cube2net._util.progress import Progress, check_stop, silent, track_unfinished
from cube2net._util.text import write_rows
from cube2net.errors import InputError, quote_few, unknown_name

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_LONGEST_NAME = 120
_OLD = "-old"
_OWNED = re.compile(r"-(?P<pid>\d+)(?:-(?P<host>[0-9a-f]{6}))?-[0-9a-f]{8}(?:-old)?$")
_ABANDONED = re.compile(
    r"^\.?(?:cube2net|.+\.(?:building|part|stages))-(?P<pid>\d+)-(?P<host>[0-9a-f]{6})-[0-9a-f]{8}$"
)
_WEEK_SECONDS = 7 * 24 * 3600


def write_files(files: Mapping[Path, Callable[[Path], None]]) -> list[Path]:
    """Write files by their functions, rename all once all are complete, and return their paths.

    On any error, existing files are unchanged and no partial file remains. The temporary files of killed processes are
    removed.
    """
    for path in files:
        _check(path)
        remove_stale(path, "part")
    for folder in {path.parent for path in files}:
        remove_abandoned(folder)
    aside = {path: owned_beside(path, "part") for path in files}
    with track_unfinished(*aside.values()):
        try:
            for path, writer in files.items():
                check_stop()
                with explain_disk_errors(path):
                    writer(aside[path])
                    _sync_file(aside[path])
            for path in files:
                with explain_disk_errors(path):
                    aside[path].replace(path)
            for folder in {path.parent for path in files}:
                _sync_folder(folder)
        finally:
            for part in aside.values():
                with suppress(OSError):
                    part.unlink(missing_ok=True)
    return list(files)


def write_table(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]], *, spreadsheet_safe: bool = False
) -> None:
    """Write a CSV file with a header; with ``spreadsheet_safe``, cells that look like formulas get an apostrophe."""
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, chain([columns], rows), spreadsheet_safe=spreadsheet_safe)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a new folder beside the target to write into; on success it replaces the target.

    On an error, an existing target is unchanged and the new folder is removed. The folders of killed processes are
    removed.
    """
    target = Path(target).resolve()
    check_above(target)
    aside = owned_beside(target, "building")
    with explain_disk_errors(target), track_unfinished(aside):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_stale(target, "building")
        remove_abandoned(target.parent)
        aside.mkdir()
        try:
            yield aside
            _sync(aside)
            check_stop()
            _put_in_place(aside, target)
            _sync_folder(target.parent)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def explain_disk_errors(path: Path, verb: str = "write") -> Iterator[None]:
    """Replace an error of the file system by an InputError that names the path and the reason."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot {verb} {str(path)!r}: {_reason(error)}") from error


def hidden_beside(target: Path, kind: str) -> Path:
    """Return the path of a hidden file or folder of some kind beside a target.

    >>> hidden_beside(Path("here/cube"), "lock").name
    '.cube.lock'
    """
    return target.parent / f".{_short(target.name)}.{kind}"


def owned_beside(target: Path, kind: str) -> Path:
    """Return a hidden path beside a target that no other process uses; its name contains the process id."""
    return owned_name(hidden_beside(target, kind))


def owned_name(path: Path) -> Path:
    """Return a path with a suffix of process id, host and random digits."""
    return path.with_name(f"{path.name}-{os.getpid()}-{_host()}-{secrets.token_hex(4)}")


@contextmanager
def temporary_folder(parent: Path | None = None, name: str = "cube2net") -> Iterator[Path]:
    """Give a new folder that only this user can read, and remove it at the end.

    Without a parent, it is in the system's temporary folder. The folders of killed processes are removed first.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    remove_abandoned(parent)
    folder = owned_name(parent / name)
    with track_unfinished(folder):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files and folders that killed processes of this user and machine left in a folder.

    An old folder that was being replaced is kept; the next writer of that target restores it.
    """
    try:
        paths = list(folder.iterdir())
    except OSError:
        return
    for path in paths:
        owner = _ABANDONED.match(path.name)
        if owner is None or owner["host"] != _host():
            continue
        with suppress(OSError):  # another process may remove it at the same time
            if not _in_use(path, int(owner["pid"]), None) and is_mine(path):
                _remove(path)


def is_mine(path: Path) -> bool:
    """Return whether a file or folder belongs to the user of this process."""
    return not hasattr(os, "geteuid") or path.lstat().st_uid == os.geteuid()


def remove_stale(target: Path, kind: str) -> None:
    """Remove what killed processes left beside a target; an old folder that was being replaced is restored first.

    Files of processes on other machines are removed after a week without changes.
    """
    for path in sorted(target.parent.glob(glob.escape(hidden_beside(target, kind).name) + "-*")):
        owner = _OWNED.search(path.name)
        if owner is None or _in_use(path, int(owner["pid"]), owner["host"]):
            continue
        if path.name.endswith(_OLD) and not target.exists():
            path.rename(target)
        else:
            _remove(path)


def is_being_replaced(target: Path) -> bool:
    """Return whether a target is being replaced in two steps, on a system that cannot do it in one."""
    return any(target.parent.glob(glob.escape(hidden_beside(target, "building").name) + f"-*{_OLD}"))


def check_path(path: Path, suffixes: Iterable[str], what: str) -> None:
    """Raise unless a path has one of some suffixes and a file can be written there."""
    if path.suffix.lower() not in suffixes:
        raise unknown_name(f"suffix of a {what}", path.suffix, suffixes)
    _check(path)


def check_folder(folder: Path, parts: Collection[str], whose: str) -> None:
    """Raise if a folder contains files other than the given parts. Hidden files are ignored."""
    if not folder.is_dir():
        return
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in parts and not path.name.startswith("."))
    if foreign:
        raise InputError(
            f"{str(folder)!r} holds other files than {whose}: {quote_few(foreign)} (choose another folder, or empty it)"
        )


def check_replaceable(folder: Path) -> None:
    """Raise if a folder cannot be replaced: the root of a disk, or a folder that contains the working directory."""
    place = folder.resolve()
    if not place.name:
        raise InputError(f"cannot write {str(folder)!r}: it is the root of the disk, name a folder in it")
    with suppress(FileNotFoundError):
        if Path.cwd().is_relative_to(place):
            raise InputError(
                f"cannot write {str(folder)!r}: it is the folder you are in, or one above it: name a folder in it, or "
                "go elsewhere first"
            )
    check_above(folder)


def can_write(folder: Path) -> bool:
    """Return whether a folder can be written to."""
    try:
        with temporary_folder(folder, ".cube2net"):
            return True
    except OSError:
        return False


def check_above(path: Path) -> None:
    """Raise if a parent of a path is a file."""
    above = next((parent for parent in path.resolve().parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise InputError(f"cannot write {str(path)!r}: {str(above)!r} is a file, not a folder")


def _check(path: Path) -> None:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InputError(f"cannot write {str(path)!r}: no file can have that name") from None
    if "\0" in str(path):
        raise InputError(f"cannot write {str(path)!r}: no file can have that name")
    if path.is_dir():
        raise InputError(f"cannot write {str(path)!r}: it is a folder, give the path of a file")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}, make it first")


def _reason(error: OSError) -> str:
    """Return the reason of a file system error; for a full disk, NumPy reports only how much it could not write."""
    if error.errno:
        return os.strerror(error.errno).lower()
    text = str(error)
    if re.search(r"requested and \d+ written|no space left", text, re.IGNORECASE):
        return os.strerror(errno.ENOSPC).lower()
    return text


def _put_in_place(aside: Path, target: Path) -> None:
    if not target.exists():
        try:
            aside.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            _put_in_place(aside, target)  # another writer was quicker: take its place instead
    elif not _exchange(aside, target):
        old = aside.with_name(aside.name + _OLD)
        target.rename(old)
        try:
            aside.rename(target)
        except OSError:
            old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders atomically if the system can (Linux); return whether it did."""
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if swap(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))


def _sync(folder: Path) -> None:
    for path in folder.iterdir():
        _sync_file(path)
    _sync_folder(folder)


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, if the system can."""
    with suppress(OSError):
        _sync_file(folder)


def _short(name: str) -> str:
    """Return a name, shortened and with a hash if it would become too long for a file system."""
    encoded = os.fsencode(name)
    return name if len(encoded) <= _LONGEST_NAME else f"{name[:20]}-{hashlib.sha256(encoded).hexdigest()[:16]}"


@cache
def _process_space() -> str:
    """Return an id of the process namespace: process ids of two containers on one machine are unrelated."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _host() -> str:
    return hashlib.sha256(f"{platform.node()}{_process_space()}".encode()).hexdigest()[:6]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _in_use(path: Path, pid: int, host: str | None) -> bool:
    if host is not None and host != _host():
        with suppress(OSError):
            return time.time() - path.stat().st_mtime < _WEEK_SECONDS
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


LOCK, STAGES = "lock", "stages"
"""Beside a target: the lock file of its writer, and the folder of a build's finished stages, with its own lock."""
_BUSY = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_PAUSE_SECONDS = 0.1
_STAGE = re.compile(r"[a-z_]+-[0-9a-f]{16}|\..+\.building-.+")


class NoLocksError(OSError):
    """Files cannot be locked on this system or file system."""


@contextmanager
def only_writer(target: Path, progress: Progress = silent) -> Iterator[None]:
    """Hold the lock of a target; wait, and report it, while another process or thread holds it.

    The lock is a hidden file beside the target, removed at the end; that of a killed process blocks nobody. If files
    cannot be locked, an existing target is not written.
    """
    check_stop()
    target = Path(target).resolve()
    check_above(target)
    remove_abandoned_stages(target.parent)
    with explain_disk_errors(target):
        lock = _wait_for_lock(target, progress)
    if lock is None:
        yield
        return
    path = hidden_beside(target, LOCK)
    with lock:
        try:
            yield
        finally:
            if _is_at(path, lock):
                path.unlink(missing_ok=True)  # before releasing it: those who wait see that this is the old file


def try_lock(path: Path) -> IO[bytes] | None:
    """Create and lock a file until it is closed; return None if another process or thread holds the lock."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock, is_new = _open(path)
        except FileNotFoundError:
            continue  # the folder was removed in between
        try:
            if not _take(lock):
                lock.close()
                return None
        except NoLocksError:
            lock.close()
            if is_new:
                path.unlink(missing_ok=True)
            raise
        if _is_at(path, lock):
            return lock
        lock.close()  # another process removed the file in between: create it again


def remove_abandoned_stages(folder: Path) -> None:
    """Remove stages in a folder that no build will resume: empty ones, and those unchanged for a week.

    Stages locked by a process and those of other users are kept.
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
    """Return whether a folder contains only stages of a build, all unchanged for a week."""
    if not all(path.name == LOCK or _STAGE.fullmatch(path.name) for path in stages.iterdir()):
        return False
    changed = max((path.stat().st_mtime for path in stages.rglob("*") if path.name != LOCK), default=0.0)
    return time.time() - changed > _WEEK_SECONDS


def _wait_for_lock(target: Path, progress: Progress) -> IO[bytes] | None:
    """Return the lock of a target; None if files cannot be locked and the target does not exist."""
    is_reported = False
    while True:
        try:
            lock = try_lock(hidden_beside(target, LOCK))
        except NoLocksError as error:
            if not target.exists():
                return None
            raise InputError(
                f"cannot write {str(target)!r}: files cannot be locked there ({_reason(error)}), and two writers at a "
                "time would lose what one of them wrote: copy it to another disk, write there, and copy it back"
            ) from None
        if lock is not None:
            return lock
        if not is_reported:
            progress(f"another process is writing {str(target)!r}: waiting for it", 0, None)
            is_reported = True
        time.sleep(_PAUSE_SECONDS)
        check_stop()


def _open(path: Path) -> tuple[IO[bytes], bool]:
    """Open or create a file, read-only if it belongs to another user; return it and whether it was created."""
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), "rb"), True
    except FileExistsError:
        pass
    try:
        return os.fdopen(os.open(path, os.O_RDWR), "rb"), False
    except PermissionError:
        return os.fdopen(os.open(path, os.O_RDONLY), "rb"), False


def _is_at(path: Path, lock: IO[bytes]) -> bool:
    """Return whether an open file is the one at a path now."""
    try:
        return os.path.samestat(path.stat(), os.fstat(lock.fileno()))
    except FileNotFoundError:
        return False


def _take(lock: IO[bytes]) -> bool:
    """Lock a file and return whether that succeeded; raise NoLocksError if files cannot be locked."""
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
