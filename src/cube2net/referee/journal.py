"""Trials on disk, a line each, so that an interrupted comparison goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cube2net.atomic_files import one_sentence, write_files
from cube2net.errors import InputError, listed
from cube2net.records import Trial
from cube2net.referee.trial_lines import DAMAGE, from_line, read_json, to_line

FORMAT = 2  # raised when what the words of a setup mean changes, so that old trials are not mixed with new ones

LONGEST = 2**28
"""No line of a journal has so many bytes: a trial of a million objects has a tenth of them."""

Key = tuple[str, str, int]


@dataclass(frozen=True, eq=False)
class Journal:
    """The trials made so far, by setup, miner and seed; with a path every further one is written down at once.

    The first line of the file says what is compared. A file that says something else is refused, for its trials are
    no trials of this comparison; what it says by name (parameters of methods and miners) may have other names, and
    must agree where the names are the same. A last line that was cut short is left out, and made again.
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
        lines, torn = _lines(path) if path.exists() else ([], b"")
        if not lines and not torn:
            _rewrite(path, header, [])
            return cls(path, header)
        said = _said(path, lines)
        differs = _differences(said, header)
        if differs:
            raise InputError(
                f"{str(path)!r} holds the trials of another comparison (it differs in {listed(differs)}): "
                "choose another folder, or remove it"
            )
        trials = _trials(path, lines[1:])
        merged = {name: _merged(said.get(name), header.get(name)) for name in {**said, **header}}
        if torn or merged != said:
            _rewrite(path, merged, lines[1:])
        return cls(path, merged, trials)

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Return what a file holds, whatever it compares; the file is left alone, also by further trials."""
        lines, _ = _lines(path)
        said = _said(path, lines)
        if said["format"] != FORMAT:
            raise InputError(
                f"{str(path)!r} is a journal of format {said['format']!r}, expected {FORMAT}: "
                "it was written by another version"
            )
        return cls(None, said, _trials(path, lines[1:]))

    def add(self, trial: Trial) -> None:
        """Note a trial."""
        if self.path is not None:
            line = to_line(trial) + b"\n"
            with one_sentence(self.path), self.path.open("ab") as file:
                file.write(line)
        self.trials[trial.key] = trial


def _make_folder(path: Path) -> None:
    for folder in path.parents:
        if folder.is_file():
            raise InputError(f"cannot write {str(path)!r}: {str(folder)!r} is a file, not a folder")
    with one_sentence(path):
        path.parent.mkdir(parents=True, exist_ok=True)


def _rewrite(path: Path, header: Mapping[str, Any], lines: Sequence[bytes]) -> None:
    """Put a file with a header and some lines into its place, whole or not at all."""
    content = b"\n".join([json.dumps(header, allow_nan=False).encode(), *lines, b""])

    def write(aside: Path) -> None:
        aside.write_bytes(content)

    write_files({path: write})


def _lines(path: Path) -> tuple[list[bytes], bytes]:
    """Return the whole lines of a file, and what stands behind the last of them."""
    lines: list[bytes] = []
    with one_sentence(path, "read"), path.open("rb") as file:
        while (line := file.readline(LONGEST + 1)).endswith(b"\n"):
            lines.append(line[:-1])
        if len(line) > LONGEST:
            raise InputError(
                f"{path.name} line {len(lines) + 1:,}: longer than {LONGEST:,} bytes, which no trial is: remove it, "
                "and it is made again"
            )
    return lines, line


def _said(path: Path, lines: Sequence[bytes]) -> dict[str, Any]:
    """Return what the first line of a journal says."""
    try:
        said = read_json(lines[0]) if lines else None
    except DAMAGE:
        said = None
    if not isinstance(said, dict) or "format" not in said:
        raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder")
    return said


def _trials(path: Path, lines: Sequence[bytes]) -> dict[Key, Trial]:
    trials = {}
    for number, line in enumerate(lines, start=2):
        try:
            trial = from_line(line)
            trials[trial.key] = trial
        except DAMAGE:
            raise InputError(f"{path.name} line {number:,}: not a trial: remove it, and it is made again") from None
    return trials


def _differences(said: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return in what two comparisons differ; where both say something by name, in the names they share.

    >>> _differences({"query": 1, "methods": {"a": 1, "b": 2}}, {"query": 1, "methods": {"a": 3, "c": 4}})
    ["methods 'a'"]
    """
    found = []
    for name in sorted({*said, *wanted}):
        one, other = said.get(name), wanted.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            found += [f"{name} {part!r}" for part in sorted(one.keys() & other.keys()) if one[part] != other[part]]
        elif one != other:
            found.append(name)
    return found


def _merged(said: Any, wanted: Any) -> Any:
    return {**said, **wanted} if isinstance(said, dict) else said
