"""Trials on disk, a line each, so that an interrupted comparison goes on where it stopped."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net.aside import write_files
from cube2net.errors import InputError
from cube2net.records import Setup, Trial
from cube2net.records.ragged import Array

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Journal:
    """The trials made so far, by setup, miner and seed; with a path every further one is written down at once.

    The first line of the file says what is compared. A file that says something else is refused, for its trials are
    no trials of this comparison; what it says by name (parameters of methods and miners) may have other names, and
    must agree where the names are the same. A last line that was cut short is left out, and made again.
    """

    path: Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    trials: dict[tuple[str, str, int], Trial] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path | None, about: Mapping[str, Any]) -> Journal:
        """Return the journal of a comparison, with the trials that a file already holds."""
        header = {"format": FORMAT, **about}
        journal = cls(path, header)
        if path is None:
            return journal
        if path.exists():
            journal._read(path, header)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        return journal

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Return what a file holds, whatever it compares; further trials are not written to it."""
        try:
            about = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])
        except (OSError, ValueError):
            raise InputError(f"{str(path)!r} is no journal of a comparison") from None
        return replace(cls.open(path, {name: about[name] for name in about if name != "format"}), path=None)

    def add(self, trial: Trial) -> None:
        """Note a trial."""
        self.trials[trial.key] = trial
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(_plain(trial)) + "\n")

    def _read(self, path: Path, header: Mapping[str, Any]) -> None:
        text = path.read_text(encoding="utf-8")
        whole, _, torn = text.rpartition("\n")
        lines = whole.split("\n")
        try:
            said = json.loads(lines[0])
        except ValueError:
            raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder") from None
        wanted = json.loads(json.dumps(header))
        differs = sorted(name for name in {*said, *wanted} if not _agree(said.get(name), wanted.get(name)))
        if differs:
            raise InputError(
                f"{str(path)!r} holds the trials of another comparison ({', '.join(differs)} differ): "
                "choose another folder, or remove it"
            )
        for number, line in enumerate(lines[1:], start=2):
            try:
                trial = _trial(json.loads(line))
            except (ValueError, KeyError, TypeError):
                raise InputError(f"{path.name} line {number:,}: not a trial: remove it, and it is made again") from None
            self.trials[trial.key] = trial
        merged = {name: _merged(said[name], wanted[name]) for name in said}
        if torn or merged != said:
            write_files({path: lambda aside: _rewrite(aside, [json.dumps(merged), *lines[1:]])})


def _agree(said: Any, wanted: Any) -> bool:
    if isinstance(said, dict) and isinstance(wanted, dict):
        return all(said[name] == wanted[name] for name in said.keys() & wanted.keys())
    return bool(said == wanted)


def _merged(said: Any, wanted: Any) -> Any:
    return {**said, **wanted} if isinstance(said, dict) else said


def _rewrite(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _plain(trial: Trial) -> dict[str, Any]:
    """Return a trial as JSON can carry it; a number that is none becomes null."""
    return {
        "setup": asdict(trial.setup),
        "miner": trial.miner,
        "seed": trial.seed,
        "scores": {name: _finite(score) for name, score in trial.scores.items()},
        "evidence": _listed(trial.evidence),
        "whole": bool(np.issubdtype(trial.evidence.dtype, np.integer)),
        **{name: getattr(trial, name) for name in ("nodes", "links", "loose", "value", "reason")},
        "seconds": dict(trial.seconds),
    }


def _trial(plain: Mapping[str, Any]) -> Trial:
    kind = np.int32 if plain["whole"] else np.float64
    values = plain["evidence"]
    return Trial(
        Setup(**plain["setup"]),
        plain["miner"],
        plain["seed"],
        scores={name: math.nan if score is None else score for name, score in plain["scores"].items()},
        evidence=np.array(values, dtype=kind),
        seconds=plain["seconds"],
        **{name: plain[name] for name in ("nodes", "links", "loose", "value", "reason")},
    )


def _listed(evidence: Array) -> list[Any]:
    if np.issubdtype(evidence.dtype, np.integer):
        return list(evidence.tolist())
    return [[_finite(value) for value in row] for row in evidence.tolist()] if evidence.ndim == 2 else []


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
