"""A trial as a line of JSON, and the trial of a line: every value is looked at before it is believed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import HIGHEST
from cube2net.records import Setup, Trial

# What reading a damaged line can raise.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)

# JSON has no word for what is no number, which becomes null, nor for what is beyond all numbers.
ENDLESS = {"inf": math.inf, "-inf": -math.inf}

SETUP = {"m": "count", "near": "count or none"}
"""The fields of a setup that are no texts."""


def to_line(trial: Trial) -> bytes:
    """Return a trial as one line of JSON, without its end."""
    value = None if trial.value is None or not math.isfinite(trial.value) else float(trial.value)
    plain = {
        "setup": asdict(trial.setup),
        "miner": trial.miner,
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


def from_line(line: bytes) -> Trial:
    """Return the trial of a line; one of ``DAMAGE`` where it is none."""
    plain = read_json(line)
    return Trial(
        _setup(_checked(plain["setup"], dict)),
        _checked(plain["miner"], str),
        _count(plain["seed"]),
        scores={name: _number(score) for name, score in _checked(plain["scores"], dict).items()},
        evidence=_evidence(plain),
        seconds={name: _number(spent, least=0.0) for name, spent in _checked(plain["seconds"], dict).items()},
        value=None if plain["value"] is None else _number(plain["value"], finite=True),
        reason=_checked(plain["reason"], str),
        **{name: _count(plain[name], most=HIGHEST) for name in ("nodes", "links", "loose")},
    )


def read_json(line: bytes) -> Any:
    """Return what a line says, which may not be ``NaN`` or ``Infinity``: these are no JSON."""
    return json.loads(line, parse_constant=_no_number)


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _setup(said: Mapping[str, Any]) -> Setup:
    kinds = {field.name: SETUP.get(field.name, "text") for field in fields(Setup)}
    for name, value in said.items():
        if kinds[name] == "text":
            _checked(value, str)
        elif not (value is None and kinds[name] == "count or none"):
            _count(value, most=HIGHEST)
    return Setup(**said)


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
