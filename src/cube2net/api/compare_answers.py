"""Does the network help? The referee on the network that was asked for, and its report."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cube2net import pipeline
from cube2net.api.ask_parameters import parameters_of
from cube2net.api.network_shapes import CompareAnswer, ComparedShape, CompareQuestion, ScoreShape
from cube2net.errors import MissingPackageError, whole_number
from cube2net.progress import Progress
from cube2net.records import Comparison

if TYPE_CHECKING:
    from cube2net.api.desk import Desk

LEAST_RUNS, RUNS, MOST_RUNS = 1, 5, 50
"""So many runs a comparison has at least, without a word, and at most."""


def compare(desk: Desk, question: CompareQuestion, progress: Progress) -> CompareAnswer:
    """Return whether the network of a question helps the next step, against PageRank as large and the query alone."""
    runs = whole_number("runs", question.get("runs", RUNS), LEAST_RUNS, MOST_RUNS, what="runs")
    request = desk.request(question["ask"])
    seen, parameters = desk.view(request.words), parameters_of(desk.cube, request)
    judged = pipeline.judge(seen, task=question.get("task"), runs=runs, progress=progress, **parameters)
    said = pipeline.verdict(judged.comparison)
    key = _key(request.words, question.get("task"), runs, judged.comparison)
    note = ""
    try:
        pipeline.check_report()
    except MissingPackageError as missing:
        key, note = "", str(missing)
    if key:
        progress("writing the report", 0, None)
        with tempfile.TemporaryDirectory() as folder:
            page, *_ = pipeline.report_files(judged.make, judged.comparison, folder)
            desk.keep_report(key, Path(page).read_text(encoding="utf-8"))
    return {
        "sentence": said.sentence,
        "table": _rows(judged.comparison),
        "task": judged.comparison.task,
        "helps": bool(said.helps),
        "finding": said.finding.outcome,
        "report": key,
        "note": note,
    }


def _key(words: dict[str, Any], task: str | None, runs: int, comparison: Comparison) -> str:
    """Return the key of a report: the same for the same question."""
    text = json.dumps([words, task, runs, comparison.task], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rows(comparison: Comparison) -> list[ComparedShape]:
    """Return a row for each network compared: its scores by miner, its size, or why there is none."""
    found = pipeline.results(comparison)
    deciding = set(found["deciding"])
    rows: list[ComparedShape] = []
    for setup in comparison.setups:
        trials = [trial for trial in comparison.trials if trial.setup == setup]
        scored = [trial for trial in trials if trial.scores]
        rows.append(
            {
                "network": setup.name,
                "nodes": max((trial.nodes for trial in scored), default=None),
                "links": max((trial.links for trial in scored), default=None),
                "scores": [
                    _score(each)
                    for each in found["estimates"]
                    if each["setup"] == setup.name and each["miner"] in deciding
                ],
                "reason": "" if scored else next((trial.reason for trial in trials), ""),
            }
        )
    return rows


def _score(estimate: Mapping[str, Any]) -> ScoreShape:
    told: Any = {name: estimate[name] for name in ScoreShape.__annotations__}
    return told  # type: ignore[no-any-return]
