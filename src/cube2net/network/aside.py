"""Files that appear whole or not at all: written beside their place, then renamed into it."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from cube2net.errors import InputError


def write_aside(files: Mapping[Path, Callable[[Path], None]]) -> list[Path]:
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


def _check(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"cannot write {str(path)!r}: it is a folder, give the path of a file")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}, make it first")


@contextlib.contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        raise InputError(f"cannot write {str(path)!r}: {reason}") from error
