"""Words become vectors: a table that ships with the package, or any file in GloVe's format."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.atomic_files import write_files
from cube2net.embed.glove import Parsed, find_table, open_table, parse, unpacking
from cube2net.errors import InputError
from cube2net.progress import Progress, silent
from cube2net.records.ragged import frozen
from cube2net.unpacking import RATIO, TOTAL, Meter, UnpackLimits

FORMAT = 1


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words and their vectors, and what the file they come from held beside: ``dropped`` counts it by reason.

    >>> table = WordTable(pa.array(["data", "mining"]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> table, table.vectors(["mining", "sigmod"]).tolist()
    (WordTable(2 words × 2), [[3.0, 4.0], [0.0, 0.0]])
    """

    words: pa.Array
    values: Array
    source: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)
    bad_lines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.words) != len(self.values):
            raise InputError(f"{len(self.words):,} words have vectors of shape {self.values.shape}")
        object.__setattr__(self, "values", frozen(self.values))

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"WordTable({len(self):,} words × {self.width})"

    @property
    def width(self) -> int:
        """The number of numbers of a vector."""
        return int(self.values.shape[1])

    def rows(self, words: Sequence[str]) -> Array:
        """Return the row of every word, spelled exactly so, and -1 for a word that is not there."""
        place: dict[str, int] = {}
        at = [place.setdefault(word, len(place)) for word in words]
        hits = pc.index_in(self.words, value_set=pa.array(list(place), pa.string()))
        rows = np.full(len(place) + 1, -1, dtype=np.int64)
        known = np.flatnonzero(np.asarray(pc.is_valid(hits)))
        rows[pc.drop_null(hits).to_numpy()] = known
        return rows[np.array(at, dtype=np.int64)]

    def vectors(self, words: Sequence[str]) -> Array:
        """Return the vector of every word, zero for a word that is not there."""
        rows = self.rows(words)
        vectors = np.zeros((len(rows), self.width), dtype=np.float32)
        vectors[rows >= 0] = self.values[rows[rows >= 0]]
        return vectors


@cache
def default_words() -> WordTable:
    """Return the table that ships with the package: 20,000 words of GloVe 6B, 50 numbers each.

    >>> default_words().rows(["2026", "linguistics", "sigmod"])[2].item()
    -1
    """
    folder = resources.files("cube2net") / "data"
    words = (folder / "words.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    with (folder / "words.npy").open("rb") as file:
        return WordTable(pa.array(words, pa.string()), np.load(file), "GloVe 6B, 50 dimensions")


def read_words(
    path: str | Path,
    *,
    strict: bool = False,
    cache: bool = True,
    max_ratio: int = RATIO,
    max_unpacked: int | str = TOTAL,
    progress: Progress = silent,
) -> WordTable:
    """Return the table of a file in GloVe's text format, plain or packed; one of a zip is ``archive.zip/name``.

    What was read is kept beside the file in a folder ``<file>.words``, with checksums of the file and of
    itself, and mapped into memory the next time. A folder that cannot be written to is no obstacle. With
    ``strict`` a bad line is an error, otherwise it is counted in ``dropped`` and the first are named in
    ``bad_lines``. ``max_ratio`` and ``max_unpacked`` limit how far a packed file may swell.
    """
    meter = Meter(UnpackLimits(max_ratio, max_unpacked))
    with unpacking(str(path)):
        file, inside = find_table(Path(path))
    name = file.name if inside is None else f"{file.name}/{inside}"
    kept = file.with_name(f"{file.name}{'.' + inside.replace('/', '.') if inside else ''}.words")
    with unpacking(name):
        stamp = {"format": FORMAT, "name": name, "bytes": file.stat().st_size, "changed": file.stat().st_mtime_ns}
        known = _open_kept(kept, file, stamp) if cache else None
        if known is not None and not (strict and known.dropped.get("bad lines")):
            return known
        with open_table(file, inside, meter) as stream:
            parsed = parse(stream, name, strict=strict, progress=progress)
        if cache:
            with contextlib.suppress(OSError, InputError):
                _keep(kept, parsed, stamp | {"sha256": _digest(file)})
                known = _open_kept(kept, file, stamp)
                if known is not None:
                    return known
    words = pa.array(parsed.words, pa.string())
    return WordTable(words, np.concatenate(parsed.blocks), name, parsed.dropped, parsed.bad_lines)


def _open_kept(folder: Path, file: Path, stamp: Mapping[str, Any]) -> WordTable | None:
    """Return the table kept in a folder, or None when it is not that of the file, or damaged."""
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        same = all(manifest[key] == stamp[key] for key in ("bytes", "changed"))
        if manifest["format"] != FORMAT or not (same or manifest["sha256"] == _digest(file)):
            return None
        if any(manifest["files"][name] != _digest(folder / name) for name in ("words.txt", "vectors.npy")):
            return None
        words = (folder / "words.txt").read_bytes().decode().split("\n")
        values = np.load(folder / "vectors.npy", mmap_mode="r")
        return WordTable(
            pa.array(words, pa.string()), values, stamp["name"], manifest["dropped"], tuple(manifest["bad_lines"])
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError, InputError):
        return None


def _keep(folder: Path, parsed: Parsed, stamp: Mapping[str, Any]) -> None:
    """Write a table into a folder; its manifest comes last and vouches for the rest by checksum."""
    folder.mkdir(exist_ok=True)
    shape = (len(parsed.words), parsed.blocks[0].shape[1])

    def write_vectors(file: IO[bytes]) -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in parsed.blocks:
            file.write(block.astype("<f4", copy=False).tobytes())

    _write(folder / "vectors.npy", write_vectors)
    _write(folder / "words.txt", lambda file: file.write("\n".join(parsed.words).encode()))
    files = {name: _digest(folder / name) for name in ("words.txt", "vectors.npy")}
    manifest = {**stamp, "files": files, "dropped": parsed.dropped, "bad_lines": parsed.bad_lines}
    _write(folder / "manifest.json", lambda file: file.write(json.dumps(manifest, indent=1).encode()))


def _write(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write a file, which appears whole or not at all."""

    def write(aside: Path) -> None:
        with aside.open("wb") as file:
            fill(file)

    write_files({path: write})


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
