"""What a cube's folder says of itself: format, counts, settings, and size and checksum of every file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cube2net.errors import CubeError

FORMAT = 2
"""Format 1 had its objects in Parquet; it can be read and updated."""
MANIFEST = "manifest.json"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a cube's folder."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        what = "is not a cube (it has no manifest.json)" if Path(folder).exists() else "does not exist"
        raise CubeError(f"{str(folder)!r} {what}: make one with 'cube2net build'")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["format"]
        complete = isinstance(manifest["files"], dict) and isinstance(manifest["counts"], dict)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise CubeError(f"{str(folder)!r} is damaged: manifest.json cannot be read ({error})") from None
    if not isinstance(version, int) or version > FORMAT:
        raise CubeError(
            f"{str(folder)!r} has cube format {version!r}, and this cube2net reads up to {FORMAT}: "
            "install a newer cube2net"
        )
    if not complete:
        raise CubeError(f"{str(folder)!r} is damaged: manifest.json lacks its files or counts")
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
    text = json.dumps(manifest | {"sha256": _seal(manifest)}, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def check_seal(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise unless a manifest is as it was written."""
    unsealed = {key: value for key, value in manifest.items() if key != "sha256"}
    if manifest.get("sha256") != _seal(unsealed):
        raise CubeError(f"{str(folder)!r} is damaged: manifest.json was changed")


def describe(path: Path) -> dict[str, Any]:
    """Return the size and the checksum of a file."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _seal(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
