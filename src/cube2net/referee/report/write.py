"""The report as files: the page, a row for every trial, the tables, and all numbers as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cube2net.atomic_files import write_files
from cube2net.errors import InputError
from cube2net.records import Comparison, Setup
from cube2net.referee.report.page import Report, page
from cube2net.referee.report.result_tables import cost_table, score_table
from cube2net.referee.report.table import csv_text
from cube2net.referee.statistics import Difference

FILES = ("report.html", "trials.csv", "scores.csv", "costs.csv", "results.json", "cells.csv")
FIELDS = ("method", "objective", "form", "m", "like", "levels", "near", "membership")


def write(report: Report, folder: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Return the files written into a folder, which is made where it is missing: all of them, or none.

    ``report.html`` is the page; ``trials.csv`` has a row for every trial, ``scores.csv``, ``costs.csv`` and
    ``cells.csv`` are the tables in full, ``results.json`` holds the verdict and what it rests on. ``spreadsheet_safe``
    guards cells of the tables that spreadsheets would run as formulas.
    """
    folder = Path(folder)
    comparison, known, best = report.comparison, report.estimates, report.verdict.best
    texts = {
        "report.html": page(report),
        "trials.csv": trials_csv(comparison, spreadsheet_safe=spreadsheet_safe),
        "scores.csv": score_table(comparison, known, best=best).csv(spreadsheet_safe=spreadsheet_safe),
        "costs.csv": cost_table(comparison, known, best=best).csv(spreadsheet_safe=spreadsheet_safe),
        "results.json": json.dumps(results(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n",
    }
    if report.cells is not None:
        texts["cells.csv"] = report.cells.csv(spreadsheet_safe=spreadsheet_safe)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {str(folder)!r}: {(error.strerror or str(error)).lower()}") from error
    return write_files({folder / name: _writer(text) for name, text in texts.items()})


def trials_csv(comparison: Comparison, *, spreadsheet_safe: bool = False) -> str:
    """Return a row for every trial: its setup, miner and seed, scores, sizes, seconds, and why it has none."""
    parts = list(dict.fromkeys(part for trial in comparison.trials for part in trial.seconds))
    header = ["setup", *FIELDS, "miner", "seed", *comparison.measures, "nodes", "links", "loose", "value"]
    lines: list[list[object]] = [[*header, *(f"seconds: {part}" for part in parts), "reason"]]
    for trial in comparison.trials:
        sizes = [None] * 3 if trial.reason else [trial.nodes, trial.links, trial.loose]
        lines.append(
            [trial.setup.name, *(getattr(trial.setup, name) for name in FIELDS), trial.miner, trial.seed]
            + [trial.scores.get(measure) for measure in comparison.measures]
            + [*sizes, trial.value, *(trial.seconds.get(part) for part in parts), trial.reason]
        )
    return csv_text(lines, spreadsheet_safe=spreadsheet_safe)


def results(report: Report) -> dict[str, Any]:
    """Return the verdict, every estimate and difference and the settings, as JSON can carry them."""
    verdict, comparison = report.verdict, report.comparison
    found = {
        "verdict": {"sentence": verdict.sentence, "best": _setup(verdict.best), "helps": verdict.helps},
        "task": comparison.task,
        "measures": comparison.measures,
        "miners": comparison.miners,
        "deciding": comparison.deciding,
        "seeds": comparison.seeds,
        "estimates": [
            {"setup": setup.name, "miner": miner, "measure": measure, **asdict(estimate)}
            for (setup, miner, measure), estimate in report.estimates.items()
        ],
        "differences": [_difference(each) for each in verdict.differences],
        "same_size": [_difference(each) for each in verdict.peers],
        "setups": [_setup(setup) for setup in comparison.setups],
        "failed": {setup.name: why for setup in comparison.setups if (why := comparison.reasons(setup))},
        "degenerate": [{**asdict(way), "setup": way.setup.name, "note": note} for way, note in verdict.notes.items()],
        "settings": dict(comparison.settings),
        "command": report.command,
    }
    return {name: _plain(value) for name, value in found.items()}


def _setup(setup: Setup) -> dict[str, object]:
    return {"name": setup.name, **{name: getattr(setup, name) for name in FIELDS}}


def _difference(found: Difference) -> dict[str, object]:
    return {**asdict(found), "one": found.one.name, "other": found.other.name, "sure": found.sure}


def _plain(value: Any) -> Any:
    """Return a value that JSON can carry: no NumPy, nothing that is not a number; other things as their text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _writer(text: str) -> Callable[[Path], None]:
    data = text.encode("utf-8", "replace")

    def save(path: Path) -> None:
        path.write_bytes(data)

    return save
