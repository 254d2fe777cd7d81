"""Trials on disk, a line each, so that an interrupted comparison goes on where it stopped.

A line is JSON, and every value of it is looked at before it is believed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.files import one_sentence, write_files
from cube2net.errors import HIGHEST, InputError, listed
from cube2net.model.comparison import Configuration, Trial

FORMAT = 3  # raised when what the words of a configuration mean changes, so that old trials are not mixed with new ones

LONGEST = 2**28
"""No line of a journal has so many bytes: a trial of a million objects has a tenth of them."""

# What reading a damaged line can raise.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)

# JSON has no word for what is no number, which becomes null, nor for what is beyond all numbers.
ENDLESS = {"inf": math.inf, "-inf": -math.inf}

CONFIGURATION = {"n_cells": "count", "n_neighbors": "count or none"}
"""The fields of a configuration that are no texts."""

Key = tuple[str, str, int]


@dataclass(frozen=True, eq=False)
class Journal:
    """The trials made so far, by configuration, model and seed; with a path every further one is written down at once.

    The first line of the file says what is compared. A file that says something else is refused, for its trials are
    no trials of this comparison; what it says by name (parameters of methods and models) may have other names, and
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
            line = _to_line(trial) + b"\n"
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
        said = _read_json(lines[0]) if lines else None
    except DAMAGE:
        said = None
    if not isinstance(said, dict) or "format" not in said:
        raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder")
    return said


def _trials(path: Path, lines: Sequence[bytes]) -> dict[Key, Trial]:
    trials = {}
    for number, line in enumerate(lines, start=2):
        try:
            trial = _from_line(line)
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


def _to_line(trial: Trial) -> bytes:
    """Return a trial as one line of JSON, without its end."""
    value = None if trial.value is None or not math.isfinite(trial.value) else float(trial.value)
    plain = {
        "configuration": asdict(trial.configuration),
        "model": trial.model,
        "seed": trial.seed,
        "scores": {name: _plain(float(score)) for name, score in trial.scores.items()},
        "evidence": [_plain(value) for value in trial.evidence.ravel().tolist()],
        "shape": trial.evidence.shape,
        "whole": bool(np.issubdtype(trial.evidence.dtype, np.integer)),
        **{name: getattr(trial, name) for name in ("nodes", "links", "loose")},
        "value": value,
        "reason": trial.reason,
        "seconds": {part: _plain(float(spent)) for part, spent in trial.seconds.items()},
    }
    return json.dumps(plain, allow_nan=False).encode()


def _from_line(line: bytes) -> Trial:
    """Return the trial of a line; one of ``DAMAGE`` where it is none."""
    plain = _read_json(line)
    return Trial(
        _config(_checked(plain["configuration"], dict)),
        _checked(plain["model"], str),
        _count(plain["seed"]),
        scores={name: _number(score) for name, score in _checked(plain["scores"], dict).items()},
        evidence=_evidence(plain),
        seconds={name: _number(spent, least=0.0) for name, spent in _checked(plain["seconds"], dict).items()},
        value=None if plain["value"] is None else _number(plain["value"], finite=True),
        reason=_checked(plain["reason"], str),
        **{name: _count(plain[name], most=HIGHEST) for name in ("nodes", "links", "loose")},
    )


def _read_json(line: bytes) -> Any:
    """Return what a line says, which may not be ``NaN`` or ``Infinity``: these are no JSON."""
    return json.loads(line, parse_constant=_no_number)


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _config(plain: Mapping[str, Any]) -> Configuration:
    kinds = {field.name: CONFIGURATION.get(field.name, "text") for field in fields(Configuration)}
    for name, value in plain.items():
        if kinds[name] == "text":
            _checked(value, str)
        elif not (value is None and kinds[name] == "count or none"):
            _count(value, most=HIGHEST)
    return Configuration(**plain)


def _evidence(plain: Mapping[str, Any]) -> Array:
    """Return the evidence of a trial, which was a list of lists before it had a shape."""
    whole = _checked(plain["whole"], bool)
    given = np.array(_checked(plain["evidence"], list), dtype=object)
    entries = [_count(value, least=-(2**31)) if whole else _number(value) for value in given.ravel().tolist()]
    shape = [_count(side) for side in _checked(plain["shape"], list)] if "shape" in plain else given.shape
    return np.array(entries, dtype=np.int32 if whole else np.float64).reshape(shape)


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r:.60} is no {kind.__name__}")
    return value


def _count(value: Any, least: int = 0, most: int | None = None) -> int:
    number: int = _checked(value, int)
    if number < least or (most is not None and number > most):
        raise ValueError(f"{number:,} is not from {least:,} to {most}")
    return number


def _number(value: Any, *, finite: bool = False, least: float = -math.inf) -> float:
    """Return a number from what stands for it: itself, null, or a text for one without end.

    >>> _number(2), _number("-inf"), _number(None)
    (2.0, -inf, nan)
    """
    if not finite and (value is None or isinstance(value, str)):
        number = math.nan if value is None else ENDLESS[value]
    elif type(value) in (int, float):
        number = float(value)
    else:
        raise TypeError(f"{value!r:.60} is no number")
    if number < least or (least > -math.inf and math.isnan(number)):
        raise ValueError(f"{number} is below {least}")
    return number


def _plain(value: float) -> float | str | None:
    """Return a number as JSON can carry it.

    >>> [_plain(value) for value in (0.5, math.nan, math.inf)]
    [0.5, None, 'inf']
    """
    if math.isnan(value):
        return None
    return str(value) if math.isinf(value) else value
