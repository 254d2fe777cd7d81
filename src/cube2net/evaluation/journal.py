"""Trials on disk, one line each with a checksum, so that an interrupted comparison resumes where it stopped."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.files import explain_disk_errors, write_files
from cube2net.errors import InputError, join_names
from cube2net.model.comparison import Configuration, Trial

FORMAT = 4
"""Raised when a default changes or an option gets another meaning, so that old and new trials are not mixed."""

MAX_LINE_BYTES = 2**28
"""A trial of a million objects has a tenth of these."""

# What reading a damaged line can raise.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)

Key = tuple[str, str, int]


@dataclass(frozen=True, eq=False)
class Journal:
    """The trials made so far, by configuration, model and seed; with a path, each new one is appended at once.

    The first line of the file, the header, says what is compared. A file with another header is refused; parameters of
    methods and models must agree only where their names are the same. An incomplete last line is dropped.
    """

    path: Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    trials: dict[Key, Trial] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path | None, about: Mapping[str, Any]) -> Journal:
        """Return the journal of a comparison, with the trials that a file already holds."""
        header = json.loads(json.dumps({"format": FORMAT, **about}, allow_nan=False))
        if path is None:
            return cls(None, header)
        _make_folder(path)
        lines, torn = _read_lines(path) if path.exists() else ([], b"")
        if not lines and not torn:
            _rewrite(path, header, [])
            return cls(path, header)
        kept = _read_header(path, lines)
        differs = _find_differences(kept, header)
        if differs:
            raise InputError(
                f"{str(path)!r} holds the trials of another comparison (it differs in {join_names(differs)}): "
                "choose another folder, or remove it"
            )
        trials = _read_trials(path, lines[1:])
        merged = {name: _merge(kept.get(name), header.get(name)) for name in {**kept, **header}}
        if torn or merged != kept:
            _rewrite(path, merged, lines[1:])
        return cls(path, merged, trials)

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Return what a file holds, whatever it compares; the file is left alone, also by further trials."""
        lines, _ = _read_lines(path)
        kept = _read_header(path, lines)
        if kept["format"] != FORMAT:
            raise InputError(
                f"{str(path)!r} is a journal of format {kept['format']!r}, expected {FORMAT}: "
                "it was written by another version"
            )
        return cls(None, kept, _read_trials(path, lines[1:]))

    def add(self, trial: Trial) -> None:
        """Append a trial."""
        if self.path is not None:
            line = _to_line(trial) + b"\n"
            with explain_disk_errors(self.path), self.path.open("ab") as file:
                file.write(line)
        self.trials[trial.key] = trial


def _make_folder(path: Path) -> None:
    for folder in path.parents:
        if folder.is_file():
            raise InputError(f"cannot write {str(path)!r}: {str(folder)!r} is a file, not a folder")
    with explain_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)


def _rewrite(path: Path, header: Mapping[str, Any], lines: Sequence[bytes]) -> None:
    """Put a file with a header and some lines into its place, whole or not at all."""
    content = b"\n".join([json.dumps(header, allow_nan=False).encode(), *lines, b""])

    def write(aside: Path) -> None:
        aside.write_bytes(content)

    write_files({path: write})


def _read_lines(path: Path) -> tuple[list[bytes], bytes]:
    """Return the whole lines of a file, and what stands behind the last of them."""
    lines: list[bytes] = []
    with explain_disk_errors(path, "read"), path.open("rb") as file:
        while (line := file.readline(MAX_LINE_BYTES + 1)).endswith(b"\n"):
            lines.append(line[:-1])
        if len(line) > MAX_LINE_BYTES:
            raise InputError(
                f"{path.name} line {len(lines) + 1:,}: longer than {MAX_LINE_BYTES:,} bytes, which no trial is: "
                "remove it, and it is made again"
            )
    return lines, line


def _read_header(path: Path, lines: Sequence[bytes]) -> dict[str, Any]:
    """Return what the first line of a journal says."""
    try:
        kept = json.loads(lines[0]) if lines else None
    except DAMAGE:
        kept = None
    if not isinstance(kept, dict) or "format" not in kept:
        raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder")
    return kept


def _read_trials(path: Path, lines: Sequence[bytes]) -> dict[Key, Trial]:
    trials = {}
    for number, line in enumerate(lines, start=2):
        try:
            trial = _from_line(line)
            trials[trial.key] = trial
        except DAMAGE:
            raise InputError(f"{path.name} line {number:,}: not a trial: remove it, and it is made again") from None
    return trials


def _find_differences(kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return in what two comparisons differ; where both say something by name, in the names they share.

    >>> _find_differences({"query": 1, "methods": {"a": 1, "b": 2}}, {"query": 1, "methods": {"a": 3, "c": 4}})
    ["methods 'a'"]
    """
    differing = []
    for name in sorted({*kept, *wanted}):
        one, other = kept.get(name), wanted.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            differing += [f"{name} {part!r}" for part in sorted(one.keys() & other.keys()) if one[part] != other[part]]
        elif one != other:
            differing.append(name)
    return differing


def _merge(kept: Any, wanted: Any) -> Any:
    return {**kept, **wanted} if isinstance(kept, dict) else kept


def _to_line(trial: Trial) -> bytes:
    """Return a trial as one line without its end: a checksum and JSON."""
    plain = {
        **vars(trial),
        "configuration": asdict(trial.configuration),
        "scores": {name: float(score) for name, score in trial.scores.items()},
        "seconds": {part: float(seconds) for part, seconds in trial.seconds.items()},
        "value": None if trial.value is None else float(trial.value),
        "evidence": trial.evidence.ravel().tolist(),
        "shape": trial.evidence.shape,
        "dtype": "int32" if np.issubdtype(trial.evidence.dtype, np.integer) else "float64",
    }
    text = json.dumps(plain).encode()
    return b"%08x %s" % (zlib.crc32(text), text)


def _from_line(line: bytes) -> Trial:
    """Return the trial of a line; raises one of ``DAMAGE`` if it is none."""
    checksum, _, text = line.partition(b" ")
    if int(checksum, 16) != zlib.crc32(text):
        raise ValueError("the checksum of the line is wrong")
    plain = json.loads(text)
    evidence = np.array(plain.pop("evidence"), dtype=plain.pop("dtype")).reshape(plain.pop("shape"))
    return Trial(**{**plain, "configuration": Configuration(**plain["configuration"]), "evidence": evidence})
