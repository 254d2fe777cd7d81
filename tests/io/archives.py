"""Files in folders and archives."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

Files = dict[str, bytes]


def write_files(folder: Path, files: Files) -> Path:
    """Write files into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def tar(files: Files, mode: str = "w", change: Callable[[tarfile.TarInfo], None] = lambda member: None) -> bytes:
    """Return a tar of files, each changed before it is added."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            change(member)
            archive.addfile(member, io.BytesIO(content) if member.isfile() else None)
    return held.getvalue()


def zipped(files: Files) -> bytes:
    """Return a zip of files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return held.getvalue()
