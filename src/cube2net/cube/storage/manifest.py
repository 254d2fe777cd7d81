"""What a cube's folder says of itself: format, counts, settings, and size and checksum of every file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from cube2net._util.arrow import MappedFolder
from cube2net.errors import CubeError, first_line

FORMAT = 3
MANIFEST = "manifest.json"
LARGEST = 64 * 2**20
"""No manifest has so many bytes: counts, settings and a line for every file are a few thousand."""
NUMBERS = ("min_objects", "max_mentions", "items")
COUNTS = ("objects", "cells", "members", "links")


def read_manifest(folder: MappedFolder) -> dict[str, Any]:
    """Return the manifest of a cube's folder, in which everything is of the kind that it should be."""
    place = str(folder.path)
    try:
        with folder.open(MANIFEST) as file:
            text = file.read(LARGEST + 1)
    except (FileNotFoundError, IsADirectoryError):
        raise CubeError(f"{place!r} is not a cube (it has no manifest.json): make one with 'cube2net build'") from None
    except OSError as error:
        raise CubeError(f"{place!r} is damaged: manifest.json cannot be read ({error.strerror})") from None
    try:
        if len(text) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        manifest: dict[str, Any] = json.loads(text.decode("utf-8"))
        version = manifest["format"]
    except RecursionError:
        raise CubeError(f"{place!r} is damaged: manifest.json cannot be read (it is nested too deeply)") from None
    except (ValueError, KeyError, TypeError) as error:
        raise CubeError(f"{place!r} is damaged: manifest.json cannot be read ({first_line(error)})") from None
    if _is_count(version) and version != FORMAT:
        advice = "install a newer cube2net" if version > FORMAT else "build the cube again"
        raise CubeError(f"{place!r} has cube format {version}, and this cube2net reads {FORMAT}: {advice}")
    wrong = _find_fault(manifest)
    if wrong:
        raise CubeError(f"{place!r} is damaged: manifest.json has {wrong}")
    return manifest


def write_manifest(
    folder: Path, counts: Mapping[str, int], settings: Mapping[str, Any], files: Mapping[str, dict[str, Any]]
) -> None:
    """Write the manifest of a cube into its folder, sealed by its own checksum."""
    manifest = {
        "format": FORMAT,
        "counts": dict(counts),
        "settings": dict(settings),
        "files": dict(sorted(files.items())),
    }
    text = json.dumps(manifest | {"sha256": _compute_seal(manifest)}, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def check_seal(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise unless a manifest is as it was written."""
    unsealed = {key: value for key, value in manifest.items() if key != "sha256"}
    if manifest.get("sha256") != _compute_seal(unsealed):
        raise CubeError(f"{str(folder)!r} is damaged: manifest.json was changed")


def damage_error(folder: Path, part: str, error: BaseException) -> CubeError:
    """Return the error for a part of a cube that cannot be read, whatever was raised by what reads its format."""
    return CubeError(f"{str(folder)!r} is damaged: its {part} cannot be read ({first_line(error)})")


def describe_file(path: Path) -> dict[str, Any]:
    """Return the size and the checksum of a file."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": compute_checksum(file)}


def compute_checksum(file: IO[bytes]) -> str:
    """Return the checksum of an open file."""
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _find_fault(manifest: Mapping[str, Any]) -> str:
    """Return what of a manifest is not of the kind that it should be; nothing where all is."""
    if not _is_count(manifest["format"]):
        return f"an odd format, expected {FORMAT}"
    files, counts, settings = (manifest.get(part) for part in ("files", "counts", "settings"))
    if not isinstance(files, dict) or not isinstance(counts, dict) or not isinstance(settings, dict):
        return "no files, counts or settings"
    for name, about in files.items():
        if Path(name).name != name or name in ("", ".", "..", MANIFEST) or "\0" in name:
            return f"{name!r} for the name of a file"
        if not isinstance(about, dict) or not _is_count(about.get("bytes")) or not _is_checksum(about.get("sha256")):
            return f"no size and checksum of {name!r}"
    for name in COUNTS:
        if not _is_count(counts.get(name)):
            return f"no count of {name}"
    kinds: dict[str, Callable[[Any], bool]] = {
        **dict.fromkeys(NUMBERS, _is_count),
        "seed": lambda value: isinstance(value, int),
        "dimensions": _are_texts,
        "views": _are_texts,
        "dropped": lambda value: isinstance(value, dict) and all(map(_is_count, value.values())),
        "topics": lambda value: value is None or isinstance(value, dict),
        "time": lambda value: isinstance(value, str),
        "engine": lambda value: isinstance(value, str),
        "attribution": lambda value: isinstance(value, str),
        "whole_ids": lambda value: isinstance(value, bool),
        "directed": lambda value: isinstance(value, bool),
    }
    for name, is_right in kinds.items():
        if name in settings and not is_right(settings[name]):
            return f"an odd setting {name!r}"
    return ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_checksum(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _compute_seal(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
