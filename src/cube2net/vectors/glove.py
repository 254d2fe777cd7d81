"""Read GloVe vectors, and look words up."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from cube2net._util.arrays import Array, freeze
from cube2net._util.files import write_files
from cube2net._util.progress import Progress, silent
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits, meter_bytes, open_raw, open_zip, unpack
from cube2net.errors import InputError, SourceError, describe_os_error, join_names

BLOCK_BYTES = 2**22
MAX_LINE_BYTES = 2**20
MAX_REPORTED_LINES = 5
MAX_COORDINATE = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Parsed:
    """The words of a table, their vectors in blocks, what was left out by reason, and the first bad lines."""

    words: list[str]
    blocks: list[Array]
    dropped: dict[str, int]
    bad_lines: tuple[str, ...]


def find_table(path: Path) -> tuple[Path, str | None]:
    """Return the file of a table, and the table's name inside it if it is a zip archive."""
    for file in (path, *path.parents):
        if file.is_file():
            with file.open("rb") as stream:
                if file == path and stream.read(4) != b"PK\x03\x04":
                    return file, None
            return file, _choose_archive_member(file, path.relative_to(file).as_posix() if file != path else None)
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder, expected a file of word vectors")
    raise SourceError(f"there is no file {str(path)!r} of word vectors")


def _choose_archive_member(file: Path, wanted: str | None) -> str:
    gauge = Meter().gauge(file)
    with open_raw(file, gauge) as raw, open_zip(raw, gauge) as archive:
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is not None and wanted in names:
        return wanted
    first = names[0] if names else "NAME"
    what = f"does not hold {wanted!r}" if wanted else f"holds {len(names)} files"
    raise SourceError(f"{file.name} {what}: name one of {join_names(names)} as {(file / first).as_posix()!r}")


@contextlib.contextmanager
def explain_errors(name: str) -> Iterator[None]:
    """Replace errors of a damaged or unreadable file by one sentence."""
    try:
        yield
    except zipfile.BadZipFile as error:
        raise SourceError(f"{name} is cut short or damaged: {str(error).lower() or 'it ends too early'}") from error
    except OSError as error:
        raise SourceError(f"cannot read {name}: {describe_os_error(error)}") from error


@contextlib.contextmanager
def open_table(file: Path, inside: str | None, meter: Meter) -> Iterator[IO[bytes]]:
    """Open a table, unpacked within the limits of a meter."""
    gauge = meter.gauge(file)
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(open_raw(file, gauge))
        if inside is None:
            yield unpack(raw, gauge)
            return
        archive = stack.enter_context(open_zip(raw, gauge))
        about = archive.getinfo(inside)
        gauge.check(about.file_size, about.compress_size)
        try:
            stream = archive.open(inside)
        except (RuntimeError, NotImplementedError) as error:
            raise SourceError(f"{file.name} cannot be unpacked: {str(error).lower()}") from error
        yield meter_bytes(stack.enter_context(stream), gauge)


def parse_words(stream: IO[bytes], name: str, *, strict: bool = False, progress: Progress = silent) -> Parsed:
    """Return the words and vectors of a text; bad lines are counted and reported, or raise with ``strict``.
    >>> import io
    >>> parsed = parse_words(io.BytesIO(b"data 1 2\\nmining 3 x\\n"), "tiny.txt")
    >>> parsed.words, parsed.bad_lines
    (['data'], ("tiny.txt line 2: 'x' is not a number",))
    """
    words: list[str] = []
    blocks: list[Array] = []
    dropped: Counter[str] = Counter()
    bad_lines: list[str] = []
    seen: set[str] = set()
    width = 0
    for number, lines in _iterate_lines(stream, name, progress):
        header = 0
        if number == 1:
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
            header, width = _detect_shape(lines, name)
        entries, values = _read_block(lines[header:], width)
        fresh: list[int] = []
        for i, row, word in entries:
            if row < 0:
                dropped["bad lines"] += 1
                sentence = f"{name} line {number + header + i:,}: {word}"
                if strict:
                    raise SourceError(sentence)
                bad_lines += [sentence] if len(bad_lines) < MAX_REPORTED_LINES else []
            elif word in seen:
                dropped["repeated words"] += 1
            else:
                seen.add(word)
                words.append(word)
                fresh.append(row)
        blocks.append(values if len(fresh) == len(values) else values[fresh])
    if not words:
        raise SourceError(f"{name} holds no word vectors" + (f": {bad_lines[0]}" if bad_lines else ""))
    return Parsed(words, blocks, dict(dropped), tuple(bad_lines))


def _iterate_lines(stream: IO[bytes], name: str, progress: Progress) -> Iterator[tuple[int, list[bytes]]]:
    """Yield blocks of lines, each with the number of its first line."""
    number, total, left = 1, 0, b""
    while block := stream.read(BLOCK_BYTES):
        total += len(block)
        progress("words", total)
        *lines, left = (left + block).replace(b"\t", b" ").split(b"\n")
        if len(left) > MAX_LINE_BYTES:
            raise SourceError(f"{name} line {number + len(lines):,} is longer than {MAX_LINE_BYTES:,} bytes")
        if lines:
            yield number, lines
            number += len(lines)
    if left:
        yield number, [left]


def _detect_shape(lines: list[bytes], name: str) -> tuple[int, int]:
    """Return the number of header lines, 0 or 1, and the number of numbers in a line."""
    sizes = [len(line.split()) - 1 for line in lines[:1000] if line.strip()]
    first = lines[0].split()
    if len(first) == 2 and first[0].isdigit() and first[1].isdigit() and len(first[1]) < 7:
        size = int(first[1])
        if size and sizes[1:2] in ([], [size]):
            return 1, size
    width = Counter(size for size in sizes if size > 0).most_common(1)
    if not width:
        start = lines[0][:40].decode(errors="replace")
        raise SourceError(f"{name} line 1 is {start!r}, expected a word and its numbers")
    return 0, width[0][0]


def _read_block(lines: list[bytes], width: int) -> tuple[list[tuple[int, int, str]], Array]:
    """Return, for every line, its number, its row and its word (or -1 and the fault), and the rows of values.

    Lines of a word and ``width`` numbers with single spaces are parsed together, others one by one.
    """
    texts = [line.rstrip(b" \r") for line in lines]
    spaces = [text.count(b" ") for text in texts]
    long = [i for i, count in enumerate(spaces) if count >= width]
    values = np.full((len(long), width), np.nan, dtype=np.float32)
    parts = [texts[i].partition(b" ") for i in long]
    plain = [row for row, i in enumerate(long) if spaces[i] == width and parts[row][0]]
    numbers = _parse_numbers(b"\n".join([parts[row][2] for row in plain]), width)
    if numbers is not None and len(numbers) == len(plain):
        values[plain] = numbers
    good = np.asarray(np.isfinite(values).all(axis=1))
    rows = {i: row for row, i in enumerate(long)}
    entries = []
    for i, text in enumerate(texts):
        row = rows.get(i, -1)
        if row < 0:
            entries.append(
                (i, -1, f"it has {len(text.split()) - 1} numbers, expected {width}" if text else "it is empty")
            )
            continue
        word = parts[row][0] if good[row] else _read_line(text, values[row])
        try:
            entries.append((i, row, word.decode()) if isinstance(word, bytes) else (i, -1, word))
        except UnicodeDecodeError:
            entries.append((i, -1, f"the word {word!r} is not UTF-8"))
    return entries, values


def _parse_numbers(text: bytes, width: int) -> Array | None:
    """Return the numbers of a regular text, or None if one cannot be parsed."""
    if not text:
        return None
    names = [str(i) for i in range(width)]
    try:
        table = csv.read_csv(
            io.BytesIO(text),
            read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(text) + 1),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.float32()), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    return np.stack([column.to_numpy() for column in table.itercolumns()], axis=1)


def _read_line(text: bytes, values: Array) -> bytes | str:
    """Fill the values of one line and return its word, which may hold spaces, or a text that names the fault."""
    parts = text.rsplit(b" ", len(values))
    for i, part in enumerate(parts[1:]):
        try:
            value = float(part) if b"_" not in part else math.nan
        except ValueError:
            value = math.nan
        if not abs(value) <= MAX_COORDINATE:
            return f"{part.decode(errors='replace')!r} is not a number"
        values[i] = value
    return parts[0].strip(b" ") or "it has no word"


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
        object.__setattr__(self, "values", freeze(self.values))

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
        valid_rows = np.flatnonzero(np.asarray(pc.is_valid(hits)))
        rows[pc.drop_null(hits).to_numpy()] = valid_rows
        return rows[np.array(at, dtype=np.int64)]

    def vectors(self, words: Sequence[str]) -> Array:
        """Return the vector of every word, zero for a word that is not there."""
        rows = self.rows(words)
        vectors = np.zeros((len(rows), self.width), dtype=np.float32)
        vectors[rows >= 0] = self.values[rows[rows >= 0]]
        return vectors


@cache
def load_default_words() -> WordTable:
    """Return the table that ships with the package: 20,000 words of GloVe 6B, 50 numbers each.

    >>> load_default_words().rows(["2026", "linguistics", "sigmod"])[2].item()
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
    with explain_errors(str(path)):
        file, inside = find_table(Path(path))
    name = file.name if inside is None else f"{file.name}/{inside}"
    kept = file.with_name(f"{file.name}{'.' + inside.replace('/', '.') if inside else ''}.words")
    with explain_errors(name):
        stamp = {"format": FORMAT, "name": name, "bytes": file.stat().st_size, "changed": file.stat().st_mtime_ns}
        cached = _open_cache(kept, file, stamp) if cache else None
        if cached is not None and not (strict and cached.dropped.get("bad lines")):
            return cached
        with open_table(file, inside, meter) as stream:
            parsed = parse_words(stream, name, strict=strict, progress=progress)
        if cache:
            with contextlib.suppress(OSError, InputError):
                _write_cache(kept, parsed, stamp | {"sha256": _compute_checksum(file)})
                cached = _open_cache(kept, file, stamp)
                if cached is not None:
                    return cached
    words = pa.array(parsed.words, pa.string())
    return WordTable(words, np.concatenate(parsed.blocks), name, parsed.dropped, parsed.bad_lines)


def _open_cache(folder: Path, file: Path, stamp: Mapping[str, Any]) -> WordTable | None:
    """Return the table cached in a folder, or None if it is damaged or of another file."""
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        same = all(manifest[key] == stamp[key] for key in ("bytes", "changed"))
        if manifest["format"] != FORMAT or not (same or manifest["sha256"] == _compute_checksum(file)):
            return None
        if any(manifest["files"][name] != _compute_checksum(folder / name) for name in ("words.txt", "vectors.npy")):
            return None
        words = (folder / "words.txt").read_bytes().decode().split("\n")
        values = np.load(folder / "vectors.npy", mmap_mode="r")
        return WordTable(
            pa.array(words, pa.string()), values, stamp["name"], manifest["dropped"], tuple(manifest["bad_lines"])
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError, InputError):
        return None


def _write_cache(folder: Path, parsed: Parsed, stamp: Mapping[str, Any]) -> None:
    """Write a table into a folder; its manifest, with the checksums of the other files, comes last."""
    folder.mkdir(exist_ok=True)
    shape = (len(parsed.words), parsed.blocks[0].shape[1])

    def write_vectors(file: IO[bytes]) -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in parsed.blocks:
            file.write(block.astype("<f4", copy=False).tobytes())

    _write(folder / "vectors.npy", write_vectors)
    _write(folder / "words.txt", lambda file: file.write("\n".join(parsed.words).encode()))
    files = {name: _compute_checksum(folder / name) for name in ("words.txt", "vectors.npy")}
    manifest = {**stamp, "files": files, "dropped": parsed.dropped, "bad_lines": parsed.bad_lines}
    _write(folder / "manifest.json", lambda file: file.write(json.dumps(manifest, indent=1).encode()))


def _write(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically."""

    def write(aside: Path) -> None:
        with aside.open("wb") as file:
            fill(file)

    write_files({path: write})


def _compute_checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
