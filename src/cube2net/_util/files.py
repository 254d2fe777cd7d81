"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import contextlib
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
from functools import cache
from itertools import chain
from pathlib import Path

from cube2net._util.progress import step, unfinished
from cube2net._util.text import write_rows
from cube2net.errors import InputError, some, unknown

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_LONGEST_NAME = 120
_OLD = "-old"
_OWNED = re.compile(r"-(?P<pid>\d+)(?:-(?P<host>[0-9a-f]{6}))?-[0-9a-f]{8}(?:-old)?$")
_ABANDONED = re.compile(
    r"^\.?(?:cube2net|.+\.(?:building|part|stages))-(?P<pid>\d+)-(?P<host>[0-9a-f]{6})-[0-9a-f]{8}$"
)
_WEEK = 7 * 24 * 3600


def write_files(files: Mapping[Path, Callable[[Path], None]]) -> list[Path]:
    """Return the paths written: each file is written by its function, and all are renamed once all are whole.

    Whatever goes wrong, nothing half-written stays behind and a file that stood there before is untouched;
    trouble with the disk becomes one sentence. What a killed process left aside is removed by the next one.
    """
    for path in files:
        _check(path)
        remove_stale(path, "part")
    for folder in {path.parent for path in files}:
        remove_abandoned(folder)
    aside = {path: owned_beside(path, "part") for path in files}
    with unfinished(*aside.values()):
        try:
            for path, writer in files.items():
                step()
                with one_sentence(path):
                    writer(aside[path])
                    _sync_file(aside[path])
            for path in files:
                with one_sentence(path):
                    aside[path].replace(path)
            for folder in {path.parent for path in files}:
                _sync_folder(folder)
        finally:
            for part in aside.values():
                with contextlib.suppress(OSError):
                    part.unlink(missing_ok=True)
    return list(files)


def write_table(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]], *, spreadsheet_safe: bool = False
) -> None:
    """Write a CSV file with a header; where asked, cells that a spreadsheet would run as formulas are guarded."""
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, chain([columns], rows), spreadsheet_safe=spreadsheet_safe)


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a new folder beside the target to write into; on success it takes the target's place.

    Whatever goes wrong before the last step, an existing target is untouched and the new folder is
    removed. What a killed process left aside is removed by the next one.
    """
    target = Path(target).resolve()
    aside = owned_beside(target, "building")
    if target.parent.exists() and not target.parent.is_dir():
        raise InputError(f"cannot write {str(target)!r}: {str(target.parent)!r} is a file, not a folder")
    with one_sentence(target), unfinished(aside):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_stale(target, "building")
        remove_abandoned(target.parent)
        aside.mkdir()
        try:
            yield aside
            _sync(aside)
            step()
            _put_in_place(aside, target)
            _sync_folder(target.parent)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def one_sentence(path: Path, verb: str = "write") -> Iterator[None]:
    """Make one sentence of whatever is wrong with the disk while something is written at a path, or read there."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot {verb} {str(path)!r}: {_reason(error)}") from error


def hidden_beside(target: Path, kind: str) -> Path:
    """Return the place of what is kept beside a target while it is written, by a name that tells what it is.

    >>> hidden_beside(Path("here/cube"), "lock").name
    '.cube.lock'
    """
    return target.parent / f".{_short(target.name)}.{kind}"


def owned_beside(target: Path, kind: str) -> Path:
    """Return a place beside a target that no other process uses, by a name that tells whose it is."""
    return owned_name(hidden_beside(target, kind))


def owned_name(path: Path) -> Path:
    """Return a path with a suffix that names this process, and that no other process uses."""
    return path.with_name(f"{path.name}-{os.getpid()}-{_host()}-{secrets.token_hex(4)}")


@contextlib.contextmanager
def temporary_folder(parent: Path | None = None, name: str = "cube2net") -> Iterator[Path]:
    """Give a new folder that only this user can read, and remove it at the end.

    Without a parent it is where the system keeps temporary files. Folders that killed processes left there are removed
    first.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    remove_abandoned(parent)
    folder = owned_name(parent / name)
    with unfinished(folder):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(folder: Path) -> None:
    """Remove what processes that are gone left in a folder, whatever they were writing there.

    Only what this user's processes left on this machine is removed. An old folder that lost its place stays: who writes
    to that place next puts it back.
    """
    try:
        paths = list(folder.iterdir())
    except OSError:
        return
    for path in paths:
        owner = _ABANDONED.match(path.name)
        if owner is None or owner["host"] != _host():
            continue
        with contextlib.suppress(OSError):  # another process may remove it at the same time
            if not _in_use(path, int(owner["pid"]), None) and is_mine(path):
                _remove(path)


def is_mine(path: Path) -> bool:
    """Return whether a file or folder belongs to the user that runs this process."""
    return not hasattr(os, "geteuid") or path.lstat().st_uid == os.geteuid()


def remove_stale(target: Path, kind: str) -> None:
    """Remove what killed processes left beside a target; an old folder that lost its place is put back first.

    What a process on another machine left is removed when nobody has touched it for a week.
    """
    for path in sorted(target.parent.glob(glob.escape(hidden_beside(target, kind).name) + "-*")):
        owner = _OWNED.search(path.name)
        if owner is None or _in_use(path, int(owner["pid"]), owner["host"]):
            continue
        if path.name.endswith(_OLD) and not target.exists():
            path.rename(target)
        else:
            _remove(path)


def being_replaced(target: Path) -> bool:
    """Return whether a folder is on its way into a target's place, where a system cannot do that in one step."""
    return any(target.parent.glob(glob.escape(hidden_beside(target, "building").name) + f"-*{_OLD}"))


def check_path(path: Path, suffixes: Iterable[str], what: str) -> None:
    """Raise unless a file with one of some suffixes can be written at a path."""
    if path.suffix.lower() not in suffixes:
        raise unknown(f"suffix of a {what}", path.suffix, suffixes)
    _check(path)


def check_folder(folder: Path, parts: Collection[str], whose: str) -> None:
    """Raise where a folder holds something that is not one of the parts that are written there.

    Hidden files do not count: what a killed process left aside, and what a system keeps in every folder.
    """
    if not folder.is_dir():
        return
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in parts and not path.name.startswith("."))
    if foreign:
        raise InputError(
            f"{str(folder)!r} holds other files than {whose}: {some(foreign)} (choose another folder, or empty it)"
        )


def check_replaceable(folder: Path) -> None:
    """Raise where no new folder can take a place: the root of a disk, or where the process itself is."""
    place = folder.resolve()
    if not place.name:
        raise InputError(f"cannot write {str(folder)!r}: it is the root of the disk, name a folder in it")
    with contextlib.suppress(FileNotFoundError):
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
    """Raise where something is to be written in a folder that is a file."""
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
    """Return what is wrong with a disk; NumPy tells a full one only by how much it could not write."""
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
    """Swap two folders in one step where the system can (Linux); return whether it did."""
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
    """Let what a folder says of its files reach the disk, where a system can."""
    with contextlib.suppress(OSError):
        _sync_file(folder)


def _short(name: str) -> str:
    """Return a name, or a shorter one for it where a few more letters would be too many for a file system."""
    encoded = os.fsencode(name)
    return name if len(encoded) <= _LONGEST_NAME else f"{name[:20]}-{hashlib.sha256(encoded).hexdigest()[:16]}"


@cache
def _process_space() -> str:
    """Return a text for the set of processes that this one sees: two containers on one machine see different ones."""
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
        with contextlib.suppress(OSError):
            path.unlink()


def _in_use(path: Path, pid: int, host: str | None) -> bool:
    if host is not None and host != _host():
        with contextlib.suppress(OSError):
            return time.time() - path.stat().st_mtime < _WEEK
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
