"""Trials on disk, a line each, so that an interrupted comparison goes on where it stopped."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cube2net.aside import write_files
from cube2net.errors import InputError, listed
from cube2net.records import Setup, Trial

FORMAT = 2  # raised when what the words of a setup mean changes, so that old trials are not mixed with new ones

# What reading a damaged line can raise.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)

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
        header = json.loads(json.dumps({"format": FORMAT, **about}))
        if path is None:
            return cls(None, header)
        _make_folder(path)
        content = _content(path) if path.exists() else b""
        if not content:
            _rewrite(path, header, [])
            return cls(path, header)
        lines, torn = _lines(content)
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
        lines, _ = _lines(_content(path))
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
            line = json.dumps(_plain(trial)).encode() + b"\n"
            with _one_sentence("write", self.path), self.path.open("ab") as file:
                file.write(line)
        self.trials[trial.key] = trial


def _make_folder(path: Path) -> None:
    for folder in path.parents:
        if folder.is_file():
            raise InputError(f"cannot write {str(path)!r}: {str(folder)!r} is a file, not a folder")
    with _one_sentence("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)


def _content(path: Path) -> bytes:
    with _one_sentence("read", path):
        return path.read_bytes()


def _rewrite(path: Path, header: Mapping[str, Any], lines: Sequence[bytes]) -> None:
    """Put a file with a header and some lines into its place, whole or not at all."""
    content = b"\n".join([json.dumps(header).encode(), *lines, b""])

    def write(aside: Path) -> None:
        aside.write_bytes(content)

    write_files({path: write})


@contextmanager
def _one_sentence(verb: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot {verb} {str(path)!r}: {(error.strerror or str(error)).lower()}") from error


def _lines(content: bytes) -> tuple[list[bytes], bytes]:
    """Return the whole lines of a file, and what stands behind the last of them."""
    *lines, torn = content.split(b"\n")
    return lines, torn


def _said(path: Path, lines: Sequence[bytes]) -> dict[str, Any]:
    """Return what the first line of a journal says."""
    try:
        said = json.loads(lines[0]) if lines else None
    except DAMAGE:
        said = None
    if not isinstance(said, dict) or "format" not in said:
        raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder")
    return said


def _trials(path: Path, lines: Sequence[bytes]) -> dict[Key, Trial]:
    trials = {}
    for number, line in enumerate(lines, start=2):
        try:
            trial = _trial(json.loads(line))
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


def _plain(trial: Trial) -> dict[str, Any]:
    """Return a trial as JSON can carry it; a number that is none becomes null."""
    return {
        "setup": asdict(trial.setup),
        "miner": trial.miner,
        "seed": trial.seed,
        "scores": {name: _finite(float(score)) for name, score in trial.scores.items()},
        "evidence": [_finite(value) for value in trial.evidence.ravel().tolist()],
        "shape": trial.evidence.shape,
        "whole": bool(np.issubdtype(trial.evidence.dtype, np.integer)),
        **{name: getattr(trial, name) for name in ("nodes", "links", "loose", "value", "reason")},
        "seconds": {part: float(spent) for part, spent in trial.seconds.items()},
    }


def _trial(plain: Mapping[str, Any]) -> Trial:
    evidence = np.array(plain["evidence"], dtype=np.int32 if plain["whole"] else np.float64)
    return Trial(
        Setup(**plain["setup"]),
        plain["miner"],
        plain["seed"],
        scores={name: math.nan if score is None else score for name, score in plain["scores"].items()},
        evidence=evidence.reshape(plain["shape"]) if "shape" in plain else evidence,
        seconds=plain["seconds"],
        **{name: plain[name] for name in ("nodes", "links", "loose", "value", "reason")},
    )


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
