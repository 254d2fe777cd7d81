"""What a run of benchmarks/paper.py leaves behind, small enough to keep: the scores, sizes and seconds of every trial.

The clusters of a trial are a text with a digit for every object of the query, and its hidden links one for every user
(how many of the first five were right): from these the intervals of the page are drawn anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cube2net.model.comparison import Comparison, Configuration, Trial

STORE = Path(__file__).with_name("paper_scores.json")
FIRST = 5
"""Of hidden links only P@5 is kept."""


def stored(comparison: Comparison, cube: str, query: str) -> dict[str, Any]:
    """Return a comparison in plain values."""
    labels = sorted(set(comparison.truth))
    clusters = comparison.task == "clustering"
    measures = list(comparison.measures) if clusters else [f"P@{FIRST}"]
    column = 0 if clusters else comparison.measures.index(measures[0])
    configs = list(comparison.configurations)
    rows = []
    for trial in comparison.trials:
        if not trial.scores:
            continue
        found = trial.evidence if clusters else np.rint(FIRST * trial.evidence[:, column])
        made = sum(spent for part, spent in trial.seconds.items() if part != "mine")
        rows.append(
            [
                configs.index(trial.configuration),
                trial.model,
                trial.seed,
                [round(float(trial.scores[measure]), 5) for measure in measures],
                "".join(str(int(each)) for each in found),
                [trial.nodes, trial.links, trial.loose],
                None if trial.value is None else round(float(trial.value), 5),
                [float(f"{spent:.3g}") for spent in (trial.seconds.get("mine", 0.0), made)],
            ]
        )
    return {
        "cube": cube,
        "query": query,
        "task": comparison.task,
        "measures": measures,
        "labels": labels,
        "truth": "".join(str(labels.index(label)) for label in comparison.truth),
        "configurations": [[config.method, config.objective, config.form, config.n_cells] for config in configs],
        "trials": rows,
    }


def comparison_of(kept: Mapping[str, Any]) -> Comparison:
    """Return the comparison that was stored."""
    configs = [
        Configuration(method=method, objective=objective, form=form, n_cells=m)
        if objective
        else Configuration(method=method)
        for method, objective, form, m in kept["configurations"]
    ]
    clusters = kept["task"] == "clustering"
    trials = []
    for config, model, seed, scores, digits, (nodes, links, loose), value, (mined, made) in kept["trials"]:
        found = np.array([int(digit) for digit in digits], dtype=np.int64)
        trials.append(
            Trial(
                configs[config],
                model,
                seed,
                dict(zip(kept["measures"], scores, strict=True)),
                found if clusters else (found / FIRST)[:, None],
                nodes,
                links,
                loose,
                value,
                {"mine": mined, "select": made},
            )
        )
    truth = tuple(kept["labels"][int(digit)] for digit in kept["truth"])
    return Comparison(kept["task"], tuple(kept["measures"]), tuple(trials), truth=truth)


def added(kept: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores that were kept together with new ones, which win where both have a trial."""
    tasks = dict(kept["tasks"])
    for name, task in new["tasks"].items():
        tasks[name] = _together(name, tasks[name], task) if name in tasks else task
    return {**kept, "tasks": tasks}


def _together(name: str, kept: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    for part in ("cube", "query", "task", "measures", "labels", "truth"):
        if kept[part] != new[part]:
            raise SystemExit(f"trials of {name} cannot be added: {part} was {kept[part]!r}, and is {new[part]!r}")
    configs = kept["configurations"] + [
        config for config in new["configurations"] if config not in kept["configurations"]
    ]
    moved = [[configs.index(new["configurations"][trial[0]]), *trial[1:]] for trial in new["trials"]]
    rows = {tuple(trial[:3]): trial for trial in [*kept["trials"], *moved]}
    return {**kept, "configurations": configs, "trials": list(rows.values())}


def write_scores(scores: Mapping[str, Any], path: Path) -> None:
    """Write all that is kept of a run, a line for every trial."""
    text = json.dumps(scores, ensure_ascii=False)
    text = text.replace('"trials": [[', '"trials": [\n[').replace("]], [", "]],\n[").replace('}, "', '},\n"')
    path.write_text(text + "\n", encoding="utf-8")


def read_scores(path: Path = STORE) -> dict[str, Any]:
    """Return what a run left behind."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
