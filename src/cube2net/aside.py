"""Files and folders that appear whole or not at all: written beside their place, then renamed into it."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import glob
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from cube2net.errors import InputError, some, unknown
from cube2net.spreadsheets import write_rows

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_MARK = ".building-"
_OLD = "-old"


def write_files(files: Mapping[Path, Callable[[Path], None]]) -> list[Path]:
    """Return the paths written: each file is written by its function, and all are renamed once all are whole.

    Whatever goes wrong, nothing half-written stays behind and a file that stood there before is untouched;
    trouble with the disk becomes one sentence.
    """
    for path in files:
        _check(path)
    aside = {path: path.with_name(f".{path.name}.{secrets.token_hex(4)}.part") for path in files}
    try:
        for path, writer in files.items():
            with _one_sentence(path):
                writer(aside[path])
        for path in files:
            with _one_sentence(path):
                aside[path].replace(path)
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
    aside = target.parent / f".{target.name}{_MARK}{os.getpid()}-{secrets.token_hex(4)}"
    if target.parent.exists() and not target.parent.is_dir():
        raise InputError(f"cannot write {str(target)!r}: {str(target.parent)!r} is a file, not a folder")
    with _one_sentence(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(target)
        aside.mkdir()
        try:
            yield aside
            _sync(aside)
            _put_in_place(aside, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        raise InputError(f"cannot write {str(path)!r}: {reason}") from error


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


def _check(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"cannot write {str(path)!r}: it is a folder, give the path of a file")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}, make it first")


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
    for path in [*folder.iterdir(), folder]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove_stale(target: Path) -> None:
    """Remove what killed processes left aside; an old folder that never found its way back is put back first."""
    for path in sorted(target.parent.glob(f".{glob.escape(target.name)}{_MARK}*")):
        pid = path.name.rpartition(_MARK)[2].partition("-")[0]
        if not pid.isdigit() or _alive(int(pid)):
            continue
        if path.name.endswith(_OLD) and not target.exists():
            path.rename(target)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
