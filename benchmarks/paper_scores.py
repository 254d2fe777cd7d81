"""What a run of benchmarks/paper.py leaves behind, small enough to keep: the scores, sizes and seconds of every trial.

Of a trial are kept the cluster of every object of the query, or for hidden links how many of the first five, ten and
twenty were right for every user (in tenths, because equal scores share a place): from these the intervals of the page
are drawn anew. Both are compressed bytes as text.
"""

from __future__ import annotations

import json
import zlib
from base64 import b85decode, b85encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net.model.comparison import Comparison, Configuration, Trial

STORES = tuple(Path(__file__).with_name(f"paper_scores{part}.json") for part in ("", "_larger", "_links"))
LARGER = ("fourarea-large", "debian", "reviews")
"""Tasks of clustering that are no tables of the paper, kept in a file of their own, as those of links are."""
KS = (5, 10, 20)
LINK_SCORES = tuple(f"{kind}@{k}" for kind in ("P", "R", "F1") for k in KS)
"""What is shown of hidden links: precision, recall, and their harmonic mean for every user."""


def stored(comparison: Comparison, cube: str, query: str) -> dict[str, Any]:
    """Return a comparison in plain values."""
    labels = sorted(set(comparison.truth))
    trials = [trial for trial in comparison.trials if trial.scores]
    clusters = comparison.task == "clustering"
    hidden = None if clusters else count_hidden(comparison, trials)
    configs = list(comparison.configurations)
    rows = []
    for trial in trials:
        found, scores = trial.evidence, dict(trial.scores)
        if hidden is not None:
            hits = count_hits(comparison, trial)
            found, scores = np.rint(10 * hits).T, score_hits(hits, hidden)[0]
        made = sum(spent for part, spent in trial.seconds.items() if part != "mine")
        rows.append(
            [
                configs.index(trial.configuration),
                trial.model,
                trial.seed,
                [round(float(score), 5) for score in scores.values()],
                pack(found),
                [trial.nodes, trial.links, trial.loose],
                None if trial.value is None else round(float(trial.value), 5),
                [float(f"{spent:.3g}") for spent in (trial.seconds.get("mine", 0.0), made)],
            ]
        )
    return {
        "cube": cube,
        "query": query,
        "task": comparison.task,
        "measures": list(comparison.measures if clusters else LINK_SCORES),
        "labels": labels,
        "truth": pack(np.array([labels.index(label) for label in comparison.truth])),
        **({} if hidden is None else {"hidden": pack(hidden)}),
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
    hidden = unpack(kept["hidden"]) if "hidden" in kept else None
    trials = []
    for config, model, seed, scores, packed, (nodes, links, loose), value, (mined, made) in kept["trials"]:
        found = unpack(packed)
        trials.append(
            Trial(
                configs[config],
                model,
                seed,
                dict(zip(kept["measures"], scores, strict=True)),
                found if hidden is None else score_hits(found.reshape(len(KS), -1).T / 10, hidden)[1],
                nodes,
                links,
                loose,
                value,
                {"mine": mined, "select": made},
            )
        )
    truth = tuple(kept["labels"][number] for number in unpack(kept["truth"]))
    return Comparison(kept["task"], tuple(kept["measures"]), tuple(trials), truth=truth)


def count_hits(comparison: Comparison, trial: Trial) -> Array:
    """Return how many of the first K items were right, users × K."""
    return np.array([k * trial.evidence[:, comparison.measures.index(f"P@{k}")] for k in KS]).T


def count_hidden(comparison: Comparison, trials: list[Trial]) -> Array:
    """Return the number of hidden links of every user; 1 where no trial found any, since all scores are then 0."""
    most = np.ones(len(trials[0].evidence))
    for trial in trials:
        recall = trial.evidence[:, comparison.measures.index(f"R@{KS[-1]}")]
        hits = count_hits(comparison, trial)[:, -1]
        most = np.maximum(most, np.divide(hits, recall, out=np.ones_like(hits), where=recall > 0))
    return np.rint(most)


def score_hits(hits: Array, hidden: Array) -> tuple[dict[str, float], Array]:
    """Return the scores of hits (users × K), means over users and those of every user."""
    rows = np.column_stack([hits / KS, hits / hidden[:, None], 2 * hits / (np.array(KS) + hidden[:, None])])
    return dict(zip(LINK_SCORES, rows.mean(axis=0).tolist(), strict=True)), rows


def pack(numbers: Array) -> str:
    """Return whole numbers below 256 as a text."""
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < 256:
        raise ValueError(f"numbers to keep must lie between 0 and 255, not {numbers.min():g} and {numbers.max():g}")
    return b85encode(zlib.compress(np.ascontiguousarray(numbers).astype(np.uint8).tobytes(), 9)).decode()


def unpack(text: str) -> Array:
    """Return the numbers of a text of ``pack``."""
    return np.frombuffer(zlib.decompress(b85decode(text)), dtype=np.uint8).astype(np.int64)


def added(kept: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores that were kept together with new ones, which win where both have a trial."""
    tasks = dict(kept["tasks"])
    for name, task in new["tasks"].items():
        tasks[name] = _together(name, tasks[name], task) if name in tasks else task
    return {**kept, "tasks": tasks}


def _together(name: str, kept: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    for part in ("cube", "query", "task", "measures", "labels", "truth", "hidden", "machine"):
        if kept.get(part) != new.get(part):
            raise SystemExit(
                f"trials of {name} cannot be added: {part} was {kept.get(part)!r}, and is {new.get(part)!r}"
            )
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


def read_scores(*paths: Path) -> dict[str, Any]:
    """Return what runs left behind, by default all that is kept."""
    found: list[dict[str, Any]] = [
        json.loads(path.read_text(encoding="utf-8")) for path in paths or STORES if path.exists()
    ]
    return {**found[0], "tasks": {name: task for each in found for name, task in each["tasks"].items()}}


def keep_scores(scores: Mapping[str, Any]) -> None:
    """Make scores the ones of the repository."""
    for number, path in enumerate(STORES):
        tasks = {name: task for name, task in scores["tasks"].items() if _choose_store(name, task) == number}
        write_scores({"tasks": tasks} if number else {**scores, "tasks": tasks}, path)


def _choose_store(name: str, task: Mapping[str, Any]) -> int:
    return 2 if task["task"] == "links" else int(name in LARGER)
