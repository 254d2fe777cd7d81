"""The page docs/findings/learning.md and its figures, made from the runs that are kept.

    python benchmarks/learning_page.py

The runs are those of ``learning_runs.py`` (``learning_scores.jsonl``) and ``learning_reuse.py``
(``learning_reuse.jsonl``), and the tries of ``learning_configurations.py`` (``learning_tries.jsonl``). Sentences that
draw a conclusion are in ``learning_findings.md``; all numbers are computed here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from scipy.stats import t as student

from cube2net._util.arrays import Array
from cube2net.evaluation.auto import list_candidates
from cube2net.evaluation.configurations import DEFAULT
from learning_configurations import CORPORA, SEEN, Tries, choose, compare_choices, compare_searches, fit
from learning_configurations import STORE as TRIES
from learning_configurations import TRIES as COUNTS
from learning_reuse import AT, LEARNING_UPDATES, TRAJECTORIES
from learning_reuse import STORE as REUSED
from learning_runs import LADDER, LONG, MODELS, N_CELLS, STORE, SWITCHES, TASKS

FINDINGS = Path(__file__).with_name("learning_findings.md")
PAGE = Path(__file__).parents[1] / "docs" / "findings" / "learning.md"
SIZES = {"areas": "574 authors of four areas", "labs": "116 authors of four institutions"}
LEARNED, UNLEARNED = "#1f6f8b", "#b3541e"
TUNED = "paper-tuned"
COLUMNS = {
    "`areas`: AUC": ("areas", "auc"),
    "planted: AUC": ("planted", "auc"),
    "planted: F1": ("planted", "f1"),
}
"""Tables of choices of configurations: on which queries, and by what they are judged."""
LEAST = 3
"""Rows with fewer runs are left out of the table of F1."""
Record = dict[str, Any]
BySeed = dict[int, float]


class Runs:
    """The runs that are kept."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records

    @classmethod
    def read(cls) -> Runs:
        """Return the runs of the repository."""
        return cls([json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()])

    def find(self, **about: Any) -> list[Record]:
        """Return the runs with these properties."""
        return [each for each in self.records if all(each.get(name) == value for name, value in about.items())]

    def values(self, part: str, task: str, step: str, learns: bool | None = None, of: str = "value") -> BySeed:
        """Return a number of every run of a step, by seed."""
        return {each["seed"]: each[of] for each in self.find(part=part, task=task, step=step, learns=learns)}

    def f1(self, task: str, step: str) -> BySeed:
        """Return F1 of a step by seed, the mean over the embeddings."""
        found: dict[int, list[float]] = {}
        for each in self.find(part="downstream", task=task, step=step):
            found.setdefault(each["seed"], []).append(each["f1"])
        return {seed: float(np.mean(scores)) for seed, scores in found.items() if len(scores) == len(MODELS)}


def main() -> None:
    """Write the page and its figures."""
    runs = Runs.read()
    draw_ladder(runs, PAGE.with_name("learning-ladder.png"))
    draw_curves(runs, PAGE.with_name("learning-curves.png"))
    PAGE.write_text(make_page(runs), encoding="utf-8")
    print(f"wrote {PAGE}")


def make_page(runs: Runs) -> str:
    """Return the text of the page."""
    text = FINDINGS.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        text = text.replace(f"<!-- {name} -->", "\n".join(table(runs)))
    return text


def subtract(one: BySeed, other: BySeed) -> BySeed:
    """Return the differences of the runs with the same seed."""
    return {seed: one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())}


def compute_interval(values: Sequence[float] | Array) -> tuple[float, float, float]:
    """Return a mean and its interval of 95 % (Student's); nan without several values."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    half = float(student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5)
    return mean, mean - half, mean + half


def format_mean(values: BySeed, digits: int = 4) -> str:
    """Return a mean of runs with its interval."""
    if not values:
        return "–"
    mean, low, high = compute_interval([*values.values()])
    return f"{mean:.{digits}f}" + ("" if np.isnan(low) else f" [{low:.{digits}f}, {high:.{digits}f}]")


def format_difference(values: BySeed | Sequence[float] | Array, digits: int = 4) -> str:
    """Return a mean difference with its interval, in bold where the interval does not contain 0."""
    numbers = list(values.values()) if isinstance(values, dict) else list(values)
    if not numbers:
        return "–"
    mean, low, high = (number + 0.0 for number in compute_interval(numbers))
    if np.isnan(low):
        return f"{mean:+.{digits}f}".replace("-", "−")
    text = f"{mean:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]".replace("-", "−")
    return f"**{text}**" if low > 0 or high < 0 else text


def make_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table in Markdown."""
    yield f"| {' | '.join(heads)} |"
    yield "| --- " * len(heads) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def tell_in_short(runs: Runs) -> Iterator[str]:
    """Yield what came out, in four sentences with their numbers."""

    def difference(part: str, task: str, step: str) -> str:
        both = (runs.values(part, task, step, learns) for learns in (True, False))
        return format_difference(subtract(*both)).replace("**", "")

    def over_greedy(task: str) -> str:
        greedy = next(iter(runs.values("others", task, "greedy").values()))
        values = runs.values("tuned", task, TUNED, True)
        return format_difference({seed: value - greedy for seed, value in values.items()}).replace("**", "")

    default = LADDER[-1].name
    tuned, unneeded = (
        f"{difference(part, 'areas', step)} on `areas` and {difference(part, 'labs', step)} on `labs`"
        for part, step in (("tuned", TUNED), ("ladder", default))
    )
    found = [compute_interval([*gain.values()]) for _, gain in list_f1_gains(runs)]
    above, below = sum(low > 0 for _, low, _ in found), sum(high < 0 for _, _, high in found)
    yield f"- **The paper's agent learns once its scales are fixed** (`{TUNED}`): learning changes the value of"
    yield f"  its plan by {tuned}."
    yield f"- **It stays below greedy**, by {over_greedy('areas')} and {over_greedy('labs')}."
    yield "- **The default agent does not need to learn.** It is above greedy and next to the best known, and learning"
    yield f"  changes its value by {unneeded}."
    yield f"- **There is no sign that a higher value of the objective leads to a higher F1**: of {len(found)}"
    yield f"  differences in F1 between agents with and without learning, {above} are significantly above 0"
    yield f"  and {below} below (not corrected for multiple comparisons;"
    yield "  [table](#does-a-better-choice-make-better-clusters))."
    yield from tell_choices()
    yield ""
    yield f"{len(runs.values('ladder', 'areas', default, True))} runs each, unless stated."


def tell_choices() -> Iterator[str]:
    """Yield what came out about choosing configurations from past queries, and about reusing policies."""
    columns = {name.partition(",")[0]: column for name, column in compute_columns().items()}

    def gain(column: str, way: str) -> str:
        return format_difference(columns[column][way], 3)

    def over(other: str) -> str:
        found = {count: find_searches()[f"{count} tries, auc"] for count in COUNTS[1:]}
        gains = (f"{format_difference(each[LEARNED_FIRST] - each[other], 3)} ({n})" for n, each in found.items())
        return ", ".join(gains)

    reused = [np.subtract(*(np.mean(each["shares"][name], axis=0) for name in REUSES)) for each in read_reused("reuse")]
    last = format_difference([each[-1] for each in reused], 3)
    first = format_difference([each[0] for each in reused], 3)
    told = [
        "- **Choosing a configuration from past queries**: on `areas`, five past queries gain "
        f"{gain('`areas`: AUC', 'one for all queries, 5')} of AUC over the default, and the attempts of `auto` on the "
        f"query {gain('`areas`: AUC', '`auto`')}. On planted corpora, five change AUC by "
        f"{gain('planted: AUC', 'one for all queries, 5')} and F1 by {gain('planted: F1', 'one for all queries, 5')}. "
        "On the labelled query `areas` the choice of a model is far below the default network "
        "([below](#one-policy-for-many-queries)).",
        "- **Trying first what was best on past queries** gains in AUC on planted corpora, over as many tries (in "
        f"parentheses) at random, {over('random')}, and over annealing {over('annealing')} "
        "([table](#searching-among-configurations)).",
        "- **Reusing a policy on a new query**, for the paper's objective, changes the value as a share of greedy's by "
        f"{first} after {AT[0]} update and by {last} after {AT[-1]} ([table](#one-policy-for-many-queries)).",
    ]
    for each in told:
        yield from wrap(
            each.replace("**+", "+").replace("**−", "−").replace("]**", "]"),
            118,
            subsequent_indent="  ",
            break_on_hyphens=False,
        )


def list_steps(runs: Runs, part: str, steps: Sequence[Any]) -> Iterator[str]:
    """Yield a table for each task: every step with and without learning, and the difference that learning makes."""
    for task in TASKS:
        rows = []
        for number, step in enumerate(steps):
            learned, not_learned = (runs.values(part, task, step.name, learns) for learns in (True, False))
            gain = subtract(learned, not_learned)
            rows.append(
                [
                    f"{number}" if part == "ladder" else f"`{step.name}`",
                    step.says,
                    format_mean(learned),
                    format_mean(not_learned),
                    format_difference(gain),
                    str(len(gain)),
                ]
            )
        yield f"**`{task}`** ({SIZES[task]}). {tell_others(runs, task)}"
        yield ""
        yield from make_table(["", "change", "learned", "not learned", "difference", "runs"], rows)
        yield ""


def tell_others(runs: Runs, task: str) -> str:
    """Return what other methods reach."""
    names = ("random", "greedy", "greedy by price", "anneal")
    found = {name: runs.values("others", task, name) for name in names}
    told = (f"{name} {format_mean(each)}" for name, each in found.items() if each)
    return f"For comparison: {', '.join(told)}."


def list_tuned(runs: Runs) -> Iterator[str]:
    """Yield the table of the preset ``paper-tuned``."""
    rows = []
    for task in TASKS:
        greedy = next(iter(runs.values("others", task, "greedy").values()))
        for title, step, learns in (
            ("300 updates", TUNED, True),
            (f"{LONG:,} updates", f"{TUNED}, {LONG:,} updates", True),
            ("not learned", TUNED, False),
        ):
            for what, of in (("plan", "value"), ("best met", "met")):
                values = runs.values("tuned", task, step, learns, of)
                if values:
                    over = format_difference({seed: value - greedy for seed, value in values.items()})
                    rows.append([f"`{task}`", title, what, format_mean(values), over, str(len(values))])
    yield from make_table(["query", "", "", "value", "over greedy", "runs"], rows)


def list_f1(runs: Runs) -> Iterator[str]:
    """Yield F1 of every step of the ladder with and without learning, and of the other methods."""
    for task in TASKS:
        rows = []
        alone = runs.f1(task, "none")
        for name, title in (("none", "the query alone"), ("random", ""), ("greedy", ""), ("anneal", "")):
            values = runs.f1(task, name)
            gain = format_difference(subtract(values, alone), 3)
            rows.append([title or name, format_mean(values, 3), "", gain, "", str(len(values))])
        rows[0][3] = ""
        steps = [(TUNED, f"`{TUNED}`"), *((step.name, str(number)) for number, step in enumerate(LADDER))]
        for name, title in steps:
            learned, not_learned = (runs.f1(task, f"{name}, {how}") for how in ("learned", "not learned"))
            gain = subtract(learned, not_learned)
            if len(gain) < LEAST:
                continue
            rows.append(
                [
                    title,
                    format_mean(learned, 3),
                    format_mean(not_learned, 3),
                    format_difference(subtract(learned, alone), 3),
                    format_difference(gain, 3),
                    str(len(gain)),
                ]
            )
        yield f"**`{task}`**:"
        yield ""
        yield from make_table(
            ["step", "F1", "F1, not learned", "over the query alone", "learned − not learned", "runs"], rows
        )
        yield ""


def read_tries() -> list[Record]:
    """Return the tries of the repository."""
    return [json.loads(line) for line in TRIES.read_text(encoding="utf-8").splitlines()]


def average_corpora(records: Sequence[Record], gains: Array) -> Array:
    """Return the mean of every planted corpus, since its queries are no independent observations."""
    corpora = np.array([record["query"] % CORPORA for record in records])
    return np.array([gains[corpora == each].mean() for each in np.unique(corpora)])


@cache
def compute_columns() -> dict[str, dict[str, Array]]:
    """Return the gain over the default by every way to choose, of every query or corpus, by what it is measured on."""
    columns = {}
    for title, (cube, measure) in COLUMNS.items():
        mine = [each for each in read_tries() if each["cube"] == cube and DEFAULT.name in each["auc"]]
        if len(mine) >= 15:
            found = compare_choices(Tries.of(mine, measure))
            if cube == "planted":
                found = {name: average_corpora(mine, gains) for name, gains in found.items()}
            columns[f"{title}, {len(mine)} queries"] = found
    return columns


def list_searched() -> list[Record]:
    """Return the planted queries on which all configurations have been tried."""
    return [each for each in read_tries() if each["cube"] == "planted" and "spent" in each]


@cache
def find_searches() -> dict[str, dict[str, Array]]:
    """Return the gain over the default of every corpus, by limit and measure, and by the way to search."""
    mine = list_searched()
    return {
        limit: {name: average_corpora(mine, gains) for name, gains in ways.items()}
        for limit, ways in compare_searches(mine).items()
    }


REUSES = ("learned", "fresh")
LEARNED_FIRST = "learned: highest mean over past queries first"


def list_searches(runs: Runs) -> Iterator[str]:
    """Yield what ways to search among configurations gain, with as many tries and with as much time."""
    found, mine = find_searches(), list_searched()
    limits = [f"{count} tries" for count in COUNTS[1:]] + [f"time of {count} tries" for count in COUNTS[1:]]
    heads = [limit.replace("1 tries", "1 try") for limit in limits]
    corpora = len({record["query"] % CORPORA for record in mine})
    yield f"{len(mine)} queries of {corpora} planted corpora, {len(mine[0]['auc'])} configurations. Without any try:"
    yield ""
    ways = [*found["no try, auc"]]
    rows = [[way, *(format_difference(found[f"no try, {what}"][way], 3) for what in ("auc", "f1"))] for way in ways]
    yield from make_table(["gain over the default", "AUC", "F1"], rows)
    for what, title in (("auc", "AUC"), ("f1", "F1")):
        yield ""
        yield f"Gain over the default in {title} by the best of the default and the configurations tried:"
        yield ""
        columns = [found[f"{limit}, {what}"] for limit in limits]
        rows = [[way, *(format_difference(column[way], 3) for column in columns)] for way in columns[0]]
        yield from make_table([title, *heads], rows)
        yield ""
        yield f"*{LEARNED_FIRST}* minus the others, in {title}:"
        yield ""
        rows = [
            [f"− {way}", *(format_difference(column[LEARNED_FIRST] - column[way], 3) for column in columns)]
            for way in columns[0]
            if not way.startswith("learned")
        ]
        yield from make_table([title, *heads], rows)


def read_reused(part: str) -> list[Record]:
    """Return the runs of a part of ``learning_reuse.py``."""
    lines = map(json.loads, REUSED.read_text(encoding="utf-8").splitlines())
    return sorted((each for each in lines if each["part"] == part), key=lambda each: each["seed"])


def list_reuse(runs: Runs) -> Iterator[str]:
    """Yield what a policy that learned other queries reaches on a new one, beside a fresh policy."""
    records = read_reused("reuse")
    shares = {
        name: [np.mean(each["shares"][name], axis=0) for each in records] for name in REUSES
    }  # by seed, means over the new queries
    rows = []
    for place, at in enumerate(AT):
        learned, fresh = (np.array([each[place] for each in shares[name]]) for name in REUSES)
        means = (format_mean(dict(enumerate(each)), 3) for each in (learned, fresh))
        rows.append([str(at), *means, format_difference(learned - fresh, 3), str(len(records))])
    yield from make_table(["updates", "learned other queries", "fresh", "difference", "runs"], rows)


def list_newcomers(runs: Runs) -> Iterator[str]:
    """Yield the value that is reached with few calls for new communities, and what learning past ones is worth."""
    records = read_reused("newcomers")
    values = {
        name: np.array([np.mean(each["values"][name]) for each in records]) for name in records[0]["values"]
    }  # by seed, means over the new communities
    first = next(name for name in values if name.startswith("cube2net that learned"))
    rows = []
    for name, each in values.items():
        gap = "" if name == first else format_difference(values[first] - each, 3)
        mean = f"{each.mean():.3f}" if np.ptp(each) == 0 else format_mean(dict(enumerate(each)), 3)
        rows.append([name.replace("cube2net", "`cube2net`"), mean, gap, str(len(each))])
    yield from make_table(["", "value", f"`{first}` minus it".replace("`", "*"), "runs"], rows)
    yield ""
    calls = LEARNING_UPDATES * TRAJECTORIES
    yield f"Learning took {calls:,} calls, once. If one call replaces a hundred for each new community, that pays off"
    yield f"after {calls / 99:.0f} communities."


def list_f1_gains(runs: Runs) -> Iterator[tuple[str, BySeed]]:
    """Yield what learning changes in F1, for the tuned preset and every step of the ladder on both tasks."""
    for task in TASKS:
        for name in (TUNED, *(step.name for step in LADDER)):
            gain = subtract(*(runs.f1(task, f"{name}, {how}") for how in ("learned", "not learned")))
            if len(gain) >= LEAST:
                yield name, gain


def list_configurations(runs: Runs) -> Iterator[str]:
    """Yield what is gained by ways to choose a configuration."""
    columns = compute_columns()
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    rows = [
        [name, *(format_difference(column[name], 3) if name in column else "–" for column in columns.values())]
        for name in sorted(names, key=lambda name: (name[-1].isdigit(), name.rpartition(", ")[0]))
    ]
    yield from make_table(["gain over the default", *columns], rows)
    yield ""
    mine = [each for each in read_tries() if each["cube"] == "areas"]
    looked, tried = (float(np.median([each[name] for each in mine])) for name in ("looked", "seconds"))
    yield f"On `areas`, the attempts of `auto` take {SEEN * tried:.0f} seconds for each query (on one core), the linear"
    yield f"model {1000 * looked:.0f} ms."


def list_labelled(runs: Runs) -> Iterator[str]:
    """Yield what the surrogate of all drawn queries chooses for the two labelled ones, and F1."""
    every = read_tries()
    past = Tries.of([each for each in every if each["cube"] == "areas" and DEFAULT.name in each["auc"]])
    labelled = [each for each in every if each["cube"] == "labelled"]
    names = [config.name for config in list_candidates()]
    tries = Tries.of(labelled)
    surrogate = choose(fit(past.features, past.seen.mean(axis=2))(tries.features))
    chosen = {"surrogate": surrogate, "`auto`": tries.choose_by_auto()}
    rows = []
    for number, record in enumerate(labelled):
        scores = {name: float(np.mean(each)) for name, each in record["f1"].items()}
        cells = [f"{names[each[number]]}: {scores[names[each[number]]]:.3f}" for each in chosen.values()]
        best = max(scores, key=lambda name: scores[name])
        task = TASKS[record["query"]]
        rows.append([f"`{task}`", f"{scores[DEFAULT.name]:.3f}", *cells, f"{best}: {scores[best]:.3f}"])
    yield from make_table(["query", "default", *chosen, "best F1 of the seven"], rows)


def list_nearness(runs: Runs) -> Iterator[str]:
    """Yield η and ζ."""
    rows = []
    for task in TASKS:
        found = runs.find(part="theory", task=task, step="outputs")
        for name in ("actor", "critic"):
            cells = [f"`{task}`, {name}"]
            for what in ("eta", "zeta"):
                cells += [f"{np.mean([each[what][name][at] for each in found]):.3g}" for at in (0, 1)]
            rows.append([*cells, str(len(found))])
    yield from make_table(["", "η, median", "η, largest", "ζ, median", "ζ, largest", "policies"], rows)


def list_labels(runs: Runs) -> Iterator[str]:
    """Yield how often the cell-embedding theorem fails."""
    rows = []
    for task in TASKS:
        for each in runs.find(part="theory", task=task, step="labels"):
            share = 100 * each["sums"] / each["pairs"]
            rows.append([f"`{task}`", f"{each['pairs']:,}", f"{each['sums']:,} ({share:.2f} %)", f"{each['means']:,}"])
    yield from make_table(["cube of", "pairs of labels", "violated by sums, as printed", "violated by means"], rows)


def list_calls(runs: Runs) -> Iterator[str]:
    """Yield the number of calls of the quality function by number of cells."""
    found = runs.find(part="calls")
    sizes = sorted({(each["n"], each["m"]) for each in found})
    rows = []
    names = list(dict.fromkeys(each["step"].partition(", m ")[0] for each in found))
    for name in names:
        by_size = {(each["n"], each["m"]): each["calls"] for each in found if each["step"].startswith(f"{name}, m ")}
        rows.append([name, *(f"{by_size[size]:,}" for size in sizes)])
    rows.append(["*greedy by the paper: m·n*", *(f"*{n * m:,}*" for n, m in sizes)])
    yield from make_table(["", *(f"n {n}, m {m}" for n, m in sizes)], rows)


def list_sensitivity(runs: Runs) -> Iterator[str]:
    """Yield the value of the preset ``paper-tuned`` as a share of greedy's, by one number at a time."""
    found: dict[str, dict[str, list[float]]] = {}
    for each in runs.find(part="sensitivity"):
        name, _, value = each["step"].rpartition(" ")
        found.setdefault(name, {}).setdefault(value, []).append(each["value"] / each["greedy"])
    titles = {
        "hidden": "H, units of a hidden layer",
        "trajectories": "α, trajectories",
        "epochs": "β, epochs",
        "discount": "γ, discount",
        "n_cells": "T = m, cells",
    }
    rows = []
    for name, values in found.items():
        for value, shares in sorted(values.items(), key=lambda item: float(item[0])):
            rows.append([titles[name], value, format_mean(dict(enumerate(shares)), 2), str(len(shares))])
    yield from make_table(["", "", "share of greedy's value", "runs"], rows)


def draw_ladder(runs: Runs, path: Path) -> None:
    """Draw the value of every step with and without learning."""
    plt = load_pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    for axis, task in zip(axes, TASKS, strict=True):
        for learns, colour, label in ((True, LEARNED, "learned"), (False, UNLEARNED, "not learned (rate 0)")):
            ends = np.array(
                [
                    compute_interval([*runs.values("ladder", task, step.name, learns).values()] or [np.nan])
                    for step in LADDER
                ]
            )
            places = np.arange(len(LADDER))
            axis.plot(places, ends[:, 0], "o-", color=colour, label=label, markersize=3.5, linewidth=1.2)
            axis.fill_between(places, ends[:, 1], ends[:, 2], color=colour, alpha=0.18, linewidth=0)
        for name, style in (("random", ":"), ("greedy", "--"), ("anneal", "-.")):
            values = runs.values("others", task, name)
            if values:
                axis.axhline(float(np.mean([*values.values()])), color="#666666", linestyle=style, linewidth=0.9)
                axis.annotate(
                    name, (0.2, float(np.mean([*values.values()]))), fontsize=7.5, va="bottom", color="#444444"
                )
        axis.set_xticks(
            places, [f"{number} {step.name}" for number, step in enumerate(LADDER)], rotation=60, ha="right"
        )
        axis.tick_params(axis="x", labelsize=8)
        axis.set_title(f"{task}: {SIZES[task]}", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_ylim(bottom=0)
    axes[0].set_ylabel(f"value of {N_CELLS} cells (jaccard)")
    axes[1].legend(frameon=False, fontsize=8, loc="center left")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_curves(runs: Runs, path: Path) -> None:
    """Draw the mean value of a batch after every update of the preset ``paper-tuned``."""
    plt = load_pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
    for axis, task in zip(axes, TASKS, strict=True):
        for learns, colour, label in ((True, LEARNED, "learned"), (False, UNLEARNED, "not learned (rate 0)")):
            curves = np.array([each["curve"] for each in runs.find(part="tuned", task=task, step=TUNED, learns=learns)])
            steps = np.linspace(1, 300, curves.shape[1])
            ends = np.array([compute_interval(column) for column in curves.T])
            axis.plot(steps, ends[:, 0], color=colour, label=label, linewidth=1.3)
            axis.fill_between(steps, ends[:, 1], ends[:, 2], color=colour, alpha=0.2, linewidth=0)
        for name, style in (("random", ":"), ("greedy", "--")):
            values = [*runs.values("others", task, name).values()]
            axis.axhline(float(np.mean(values)), color="#666666", linestyle=style, linewidth=0.9)
            axis.annotate(name, (5, float(np.mean(values))), fontsize=7.5, va="bottom", color="#444444")
        axis.set_title(f"{task}: {SIZES[task]}", fontsize=10)
        axis.set_xlabel("updates")
        axis.set_ylim(bottom=0)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("mean value of 40 trajectories")
    axes[1].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def load_pyplot() -> Any:
    """Return matplotlib's pyplot, drawing to files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


TABLES: Mapping[str, Callable[[Runs], Iterator[str]]] = {
    "short": tell_in_short,
    "ladder": lambda runs: list_steps(runs, "ladder", LADDER),
    "tuned": list_tuned,
    "switches": lambda runs: list_steps(runs, "switches", SWITCHES),
    "downstream": list_f1,
    "configurations": list_configurations,
    "searches": list_searches,
    "reuse": list_reuse,
    "newcomers": list_newcomers,
    "labelled": list_labelled,
    "nearness": list_nearness,
    "labels": list_labels,
    "calls": list_calls,
    "sensitivity": list_sensitivity,
}

if __name__ == "__main__":
    main()
