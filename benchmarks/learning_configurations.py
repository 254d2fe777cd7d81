"""Choosing the configuration of a network without trying any: what past queries of the same cube teach.

    python benchmarks/learning_configurations.py OUT [--cube areas] [--queries 100] [--from 0] [--file tried-0.jsonl]
    python benchmarks/learning_configurations.py OUT --report [--keep]

``auto`` tries the configurations of ``list_candidates`` on every query, by hidden links. Here they are tried on many
queries of one cube: neighbourhoods drawn at random on the ACL Anthology (``areas``), communities on planted corpora
(``planted``, where the right communities are known and clusters can be scored too). Every try is a line of
OUT/tried*.jsonl. Two draws of hidden links are what ``auto`` sees, two others judge the choice. ``--report`` learns
from them: a linear model of the AUC of every configuration over that of the default, given numbers that cost
milliseconds to compute for a query, from all configurations of every past query (surrogate) or from the one that it
chose itself, and the default (bandit). On planted corpora more configurations are tried (``SPACE``), each with its
seconds, so that ways to search among them can be compared with as many tries and with as much time.

``--keep`` writes the tries to ``learning_tries.jsonl``, from which ``learning_page.py`` makes its tables. Several
processes can share the work, each with its own queries and file (``--from 20 --queries 10 --file tried-20.jsonl``).
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import cube2net as c2n
from choices import neighbourhood
from cube2net._util.arrays import Array
from cube2net._util.progress import Stopwatch
from cube2net._util.random import stream
from cube2net.api.compare import BY_NAME, maker
from cube2net.errors import Cube2netError
from cube2net.evaluation.auto import MIN_AUC_GAIN, list_candidates
from cube2net.evaluation.configurations import DEFAULT
from cube2net.evaluation.hidden_links import HiddenRuns
from cube2net.evaluation.trials import Make, Mine
from cube2net.mining.downstream import make_clustering_task
from cube2net.model.comparison import Configuration
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.selection.greedy import Greedy
from learning_runs import TASKS, load_task

DRAWS, SEEN = 4, 2
"""Draws of hidden links, and how many of them ``auto`` sees."""
STORE = Path(__file__).with_name("learning_tries.jsonl")
LEARNED_ON = (5, 10, 20, 40, 80, 120)
CORPORA = 16
"""Planted corpora, whose queries are drawn in turn."""
SPLITS, PENALTY = 40, 10.0
"""How often past and new queries are drawn, and the penalty of the linear model."""
Record = dict[str, Any]

METHODS = {**BY_NAME, "greedy by price": Greedy(by="price")}
CANDIDATES = list_candidates()
BY_CELLS = tuple(
    Configuration(method=method, objective="jaccard", form="objects", n_cells=20)
    for method in ("greedy", "greedy by price", "anneal", "random")
)
"""The paper's form, by four ways to choose cells."""
SPACE = (
    *CANDIDATES,
    replace(DEFAULT, form="cells", levels="full"),
    *(replace(each, membership_weights="share") for each in (DEFAULT, *CANDIDATES[3:])),
    *BY_CELLS,
)
"""All configurations tried on planted corpora: the candidates of ``auto`` first."""


def main() -> None:
    """Try configurations on queries, or report what can be learned from that."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="where cubes and tries go")
    parser.add_argument("--cube", choices=CUBES, default="areas")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first query")
    parser.add_argument("--file", default="tried.jsonl", help="file in OUT that new tries are added to")
    parser.add_argument("--report", action="store_true", help="report what is learned from the tries in OUT")
    parser.add_argument("--keep", action="store_true", help="copy the tries to the repository")
    options = parser.parse_args()
    lines = sorted({line for path in options.out.glob("tried*.jsonl") for line in path.read_text().splitlines()})
    if options.keep:
        STORE.write_text("".join(line + "\n" for line in lines))
    if options.report:
        print("\n".join(report([json.loads(line) for line in lines])))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    done = {(record["cube"], record["query"]) for record in map(json.loads, lines)}
    space = SPACE if options.cube == "planted" else CANDIDATES
    for number in range(options.first, options.first + options.queries):
        if (options.cube, number) in done:
            continue
        cube, query = CUBES[options.cube](options.out, number)
        record = {"cube": options.cube, "query": number, **try_configurations(cube, query, space)}
        with (options.out / options.file).open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(record, flush=True)


def draw_neighbourhood(out: Path, number: int) -> tuple[Cube, Query]:
    """Return the cube of the ladder's task ``areas``, and authors around a random link."""
    cube = load_task("areas", out).cube
    rng = stream(number, "benchmarks", "configurations")
    return cube, neighbourhood(cube, int(np.exp(rng.uniform(np.log(30), np.log(600)))), rng)


def draw_communities(out: Path, number: int) -> tuple[Cube, Query]:
    """Return one of the planted cubes, which differ in noise and links, and some of its communities, labelled."""
    rng = stream(number, "benchmarks", "configurations")
    kind = number % CORPORA
    noise, within, links = (0.1, 0.3, 0.5, 0.7)[kind % 4], (0.5, 0.9)[kind // 4 % 2], (2.0, 8.0)[kind // 8]
    made = c2n.make_planted(objects=2_000, communities=20, noise=noise, within=within, links=links, seed=kind)
    folder = out / "cubes" / f"configurations-{kind}"
    if not folder.exists():
        c2n.build(made.corpus, made.corpus.dimensions, out=folder)
    cube = c2n.open(folder)
    chosen = rng.choice(20, size=int(rng.integers(2, 7)), replace=False).tolist()
    share = rng.uniform(0.3, 1.0)
    labels = {name: str(each) for each in chosen for name in made.query(each) if rng.random() < share}
    return cube, cube.query(labels)


def load_labelled(out: Path, number: int) -> tuple[Cube, Query]:
    """Return one of the two labelled queries of the ladder on its cube."""
    task = load_task(TASKS[number], out)
    return task.cube, task.query


CUBES: dict[str, Callable[[Path, int], tuple[Cube, Query]]] = {
    "areas": draw_neighbourhood,
    "planted": draw_communities,
    "labelled": load_labelled,
}


def try_configurations(cube: Cube, query: Query, space: Sequence[Configuration]) -> Record:
    """Return the AUC of every configuration in every draw of hidden links, and F1 where the query has labels.

    ``spent`` has the seconds of one draw by configuration, and ``seconds`` those of the candidates of ``auto``.
    """
    watch = Stopwatch()
    features = compute_features(cube, query)
    record: Record = {"features": features, "looked": round(watch.seconds, 4)}
    make = partial(maker, query=query, methods=METHODS)
    runs = HiddenRuns(cube, query, make, ("deepwalk",))
    record["auc"], record["spent"] = score(space, runs.make, runs.mine, "AUC", range(DRAWS))
    names = {config.name for config in CANDIDATES}
    record["seconds"] = round(sum(spent for name, spent in record["spent"].items() if name in names), 2)
    if query.labels is not None:
        mine = make_clustering_task(query, ("deepwalk",)).mine
        record["f1"], _ = score(space, make(cube), mine, "F1", range(SEEN))
    return record


def score(
    space: Sequence[Configuration], make: Make, mine: Mine, measure: str, seeds: Sequence[int]
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the scores of every configuration that has one for every seed, and the median of its seconds."""
    scores: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}
    for seed in seeds:
        nodes: dict[str, int] = {}
        for config in space:
            watch = Stopwatch()
            try:
                network = make(config, seed, nodes.get(config.like))
                nodes[config.name] = len(network)
                scores.setdefault(config.name, []).append(round(mine(network, "deepwalk", seed)[0][measure], 5))
                spent.setdefault(config.name, []).append(watch.seconds)
            except Cube2netError:
                continue
    found = {name: each for name, each in scores.items() if len(each) == len(seeds)}
    return found, {name: round(float(np.median(spent[name])), 3) for name in found}


def compute_features(cube: Cube, query: Query) -> dict[str, float]:
    """Return numbers about a query that take milliseconds: its size, its links, and how its objects lie in cells."""
    objects = query.objects
    inside = np.zeros(len(cube.objects), dtype=bool)
    inside[objects] = True
    degrees = cube.links.degrees[objects]
    linked = [int(inside[cube.links.neighbours(int(each))].sum()) for each in objects]
    members = cube.cells.members
    found = np.add.reduceat(np.append(inside[members.indices], False), members.indptr[:-1])
    sizes = members.sizes
    touched = found > 0
    shared = found[found > 1]
    return {
        "objects": math.log(len(objects)),
        "degree": math.log1p(float(degrees.mean())),
        "links inside": math.log1p(float(np.mean(linked))),
        "without links inside": float(np.mean(np.array(linked) == 0)),
        "share of links inside": float(np.sum(linked) / max(1, degrees.sum())),
        "cells for an object": math.log1p(float(found.sum() / len(objects))),
        "cells touched": math.log(max(1, int(touched.sum()))),
        "in shared cells": float(shared.sum() / max(1, found.sum())),
        "largest share of a cell": float((found / np.maximum(1, sizes)).max()),
        "share of touched cells": float(found.sum() / max(1, sizes[touched].sum())),
    }


@dataclass(frozen=True, eq=False)
class Tries:
    """Queries of one cube: numbers about them, and the score of every configuration over that of the default.

    ``seen`` is the AUC in the draws that a policy learns from or that ``auto`` sees, one matrix for each; ``judged``
    that of the others, or F1; ``spent`` are the seconds of a try. A configuration that could not be tried has nan.
    """

    features: Array
    seen: Array
    judged: Array
    spent: Array

    @classmethod
    def of(
        cls, records: Sequence[Record], measure: str = "auc", space: Sequence[Configuration] = tuple(CANDIDATES)
    ) -> Tries:
        """Return the tries of records, judged by ``auc`` or ``f1``."""
        names = [config.name for config in space]
        place, missing = names.index(DEFAULT.name), [math.nan] * DRAWS

        def over_default(scores: Mapping[str, Sequence[float]]) -> Array:
            rows = np.array([scores.get(name, missing[: len(scores[DEFAULT.name])]) for name in names])
            return rows - rows[place]

        auc = np.array([over_default(record["auc"]) for record in records])
        judged = auc[:, :, SEEN:] if measure == "auc" else np.array([over_default(each["f1"]) for each in records])
        features = np.array([list(record["features"].values()) for record in records])
        spent = np.array([[each.get("spent", {}).get(name, math.nan) for name in names] for each in records])
        return cls(features, auc[:, :, :SEEN], judged.mean(axis=2), SEEN * spent)

    def choose_by_auto(self, margin: float = MIN_AUC_GAIN) -> Array:
        """Return the configuration of every query that is better in every draw and by more than a margin on average."""
        means = np.where(np.isnan(self.seen[:, :, 0]), -1.0, self.seen.mean(axis=2))
        means[:, 0] = -1.0  # the query alone is no answer
        means[(self.seen <= 0).any(axis=2) | (means <= margin)] = -1.0
        means[:, DEFAULT_PLACE] = 0.0
        return np.asarray(means.argmax(axis=1))


DEFAULT_PLACE = 1
"""The place of the default among the candidates; the first is the query alone."""


def fit(features: Array, gains: Array) -> Callable[[Array], Array]:
    """Return a ridge regression of gains, a column for every configuration; rows without a gain are left out."""
    centre, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(features)), (features - centre) / spread])
    weights = np.zeros((rows.shape[1], gains.shape[1]))
    for column, gain in enumerate(gains.T):
        there = ~np.isnan(gain)
        if there.any():
            part = rows[there]
            penalty = np.diag([1.0, *[PENALTY] * features.shape[1]])
            weights[:, column] = np.linalg.solve(part.T @ part + penalty, part.T @ gain[there])
    return lambda new: np.column_stack([np.ones(len(new)), (new - centre) / spread]) @ weights


def choose(predicted: Array) -> Array:
    """Return the configuration with the highest predicted gain; never the query alone."""
    predicted = predicted.copy()
    predicted[:, 0], predicted[:, DEFAULT_PLACE] = -np.inf, 0.0
    return np.asarray(predicted.argmax(axis=1))


def learn_by_bandit(tries: Tries, past: Array, rng: np.random.Generator) -> Callable[[Array], Array]:
    """Return a model of the gains of the configurations it tried itself, one for each past query (3 of 10 drawn)."""
    gains = np.full(tries.judged.shape, math.nan)
    for number, query in enumerate(past):
        explore = number < gains.shape[1] or rng.random() < 0.3
        if explore:
            chosen = int(rng.integers(1, gains.shape[1]))
        else:
            chosen = int(choose(fit(tries.features[past[:number]], gains[past[:number]])(tries.features[[query]]))[0])
        gains[query, chosen] = tries.seen[query, chosen].mean()
    return fit(tries.features[past], gains[past])


def compare_choices(tries: Tries) -> dict[str, Array]:
    """Return the gain over the default of every query by every way to choose, a mean over the splits where it is new.

    The ways to learn are followed by the number of past queries.
    """
    count = len(tries.judged)
    judged = np.where(np.isnan(tries.judged), 0.0, tries.judged)
    everyone = np.arange(count)
    found = {
        "a random configuration": judged[:, 1:].mean(axis=1),
        "`auto`": judged[everyone, tries.choose_by_auto()],
        "the highest AUC of two draws": judged[everyone, tries.choose_by_auto(margin=0.0)],
        "the best in hindsight": judged[:, 1:].max(axis=1),
    }
    sums: dict[tuple[str, int], Array] = {}
    for split in range(SPLITS):
        rng = np.random.default_rng(split)
        order = rng.permutation(count)
        for number in LEARNED_ON:
            if number > count - 10:
                break
            past, new = order[:number], order[number:]
            seen = tries.seen[past].mean(axis=2)
            one = np.tile(np.nan_to_num(seen).mean(axis=0), (len(new), 1))
            ways = {
                "one for all queries": one,
                "surrogate": fit(tries.features[past], seen)(tries.features[new]),
                "bandit": learn_by_bandit(tries, past, rng)(tries.features[new]),
            }
            for name, predicted in ways.items():
                total = sums.setdefault((name, number), np.zeros((2, count)))
                total[:, new] += judged[new, choose(predicted)], np.ones(len(new))
    return found | {f"{name}, {number}": total[0] / total[1] for (name, number), total in sums.items()}


SEARCHED_AFTER = 40
"""Past queries that the searches of ``compare_searches`` may have learned from."""
TRIES = (0, 1, 3, 7)
"""Configurations tried besides the default; as times, multiples of the mean seconds of a try."""
Search = Callable[[int, np.random.Generator], Iterator[int]]
"""Yields the configurations to try on a query, one after the other; it may look at the AUC of those it tried."""


def anneal(tries: Tries, count: float) -> Search:
    """Return a walk from the default to configurations that differ in the fewest options, at a falling temperature."""
    options = [[getattr(config, field.name) for field in fields(config)] for config in SPACE]
    apart = np.array([[sum(a != b for a, b in zip(one, other, strict=True)) for other in options] for one in options])

    def walk(query: int, rng: np.random.Generator) -> Iterator[int]:
        seen = np.nan_to_num(tries.seen[query].mean(axis=1), nan=-1.0)
        left, here, tried = {*range(1, len(SPACE))} - {DEFAULT_PLACE}, DEFAULT_PLACE, 0
        while left:
            near = min(apart[here, each] for each in left)
            new = int(rng.choice([each for each in sorted(left) if apart[here, each] == near]))
            left.remove(new)
            yield new
            tried += 1
            heat = HEAT * max(1e-6, 1 - tried / count)
            if rng.random() < math.exp(min(0.0, (seen[new] - seen[here]) / heat)):
                here = new

    return walk


HEAT = 0.05
"""AUC that annealing gives up as often as not in the beginning (about one time in three)."""


def list_searches(tries: Tries, past: Array, count: float) -> dict[str, Search]:
    """Return ways to search among configurations; some have learned from past queries, one knows only their prices."""
    seen = tries.seen[past].mean(axis=2)
    means = np.nan_to_num(seen).mean(axis=0)
    predict = fit(tries.features[past], seen)
    price = np.nanmean(tries.spent[past], axis=0)

    def ordered(worth: Callable[[int], Array]) -> Search:
        def search(query: int, rng: np.random.Generator) -> Iterator[int]:
            order = np.argsort(-worth(query), kind="stable").tolist()
            yield from (each for each in order if each not in (0, DEFAULT_PLACE))

        return search

    def draw(query: int, rng: np.random.Generator) -> Iterator[int]:
        yield from (int(each) for each in rng.permutation(len(SPACE)) if each not in (0, DEFAULT_PLACE))

    return {
        "random": draw,
        "annealing": anneal(tries, count),
        "the cheapest first": ordered(lambda query: -price),
        "learned: highest mean over past queries first": ordered(lambda query: means),
        "learned: highest mean for its price first": ordered(lambda query: (means - means.min()) / price),
        "learned: surrogate, highest prediction first": ordered(lambda query: predict(tries.features[[query]])[0]),
    }


def search_configurations(tries: Tries, query: int, tried: Iterator[int], count: int, seconds: float) -> int:
    """Return the configuration with the highest AUC seen among the default and those tried within a limit."""
    best, highest = DEFAULT_PLACE, 0.0
    for number, config in enumerate(tried):
        spent = float(np.nan_to_num(tries.spent[query, config]))
        if number >= count or spent > seconds:
            break
        seconds -= spent
        score = float(tries.seen[query, config].mean())
        if score > highest:  # never with nan
            best, highest = config, score
    return best


def compare_searches(records: Sequence[Record]) -> dict[str, dict[str, Array]]:
    """Return the gain over the default of every query by every search, in AUC and F1, with so many tries or seconds.

    By the limit and the measure (``3 tries, auc``), then by the search; a mean over the splits where the query is new.
    """
    by = {measure: Tries.of(records, measure, SPACE) for measure in ("auc", "f1")}
    tries, everyone = by["auc"], np.arange(len(records))
    judged = {measure: np.nan_to_num(each.judged) for measure, each in by.items()}
    mean_seconds = np.nanmean(tries.spent[:, 1:], axis=1)
    sums: dict[tuple[str, str, str], Array] = {}

    def add(limit: str, way: str, query: int, config: int) -> None:
        for measure, gains in judged.items():
            sums.setdefault((limit, measure, way), np.zeros((2, len(everyone))))[:, query] += gains[query, config], 1

    for split in range(SPLITS):
        rng = np.random.default_rng(split)
        order = rng.permutation(len(everyone))
        past, new = order[:SEARCHED_AFTER], order[SEARCHED_AFTER:]
        seen = tries.seen[past].mean(axis=2)
        mean = np.nan_to_num(seen).mean(axis=0)
        answers = {
            "learned: one for all queries": choose(np.tile(mean, (len(new), 1))),
            "learned: surrogate": choose(fit(tries.features[past], seen)(tries.features[new])),
            "random": rng.integers(1, len(SPACE), len(new)),
            **{each.name: np.full(len(new), SPACE.index(each)) for each in BY_CELLS},
        }
        for way, configs in answers.items():
            for query, config in zip(new.tolist(), configs.tolist(), strict=True):
                add("no try", way, query, config)
        for count in TRIES[1:]:
            for way, search in list_searches(tries, past, count).items():
                for query in new.tolist():
                    found = search_configurations(tries, query, search(query, rng), count, math.inf)
                    add(f"{count} tries", way, query, found)
                    limit = count * float(mean_seconds[query])
                    found = search_configurations(tries, query, search(query, rng), len(SPACE), limit)
                    add(f"time of {count} tries", way, query, found)
    found: dict[str, dict[str, Array]] = {}
    for (limit, measure, way), total in sums.items():
        found.setdefault(f"{limit}, {measure}", {})[way] = total[0] / total[1]
    return found


def report(records: Sequence[Record]) -> Iterator[str]:
    """Yield tables for the report: the gain over the default, with its interval of 95 % over the queries."""
    for cube, measure in (("areas", "auc"), ("planted", "auc"), ("planted", "f1")):
        mine = [record for record in records if record["cube"] == cube and DEFAULT.name in record["auc"]]
        if len(mine) < 15:
            continue
        looked, tried = (float(np.median([record[name] for record in mine])) for name in ("looked", "seconds"))
        yield f"{cube}, {measure}: {len(mine)} queries; {1000 * looked:.1f} ms to look, {SEEN * tried:.0f} s to try"
        yield from report_gains(compare_choices(Tries.of(mine, measure)))
    mine = [record for record in records if "spent" in record and record["cube"] == "planted"]
    if len(mine) > SEARCHED_AFTER + 10:
        for limit, ways in compare_searches(mine).items():
            yield f"planted, {limit}: {len(mine)} queries"
            yield from report_gains(ways)


def report_gains(ways: Mapping[str, Array]) -> Iterator[str]:
    for name, gains in ways.items():
        low, high = interval(gains)
        yield f"  {name:46s} {np.mean(gains):+.4f} [{low:+.4f}, {high:+.4f}]"


def interval(numbers: Array) -> tuple[float, float]:
    """Return the interval of 95 % of a mean (Student's)."""
    half = student.ppf(0.975, len(numbers) - 1) * np.std(numbers, ddof=1) / len(numbers) ** 0.5
    return float(np.mean(numbers) - half), float(np.mean(numbers) + half)


if __name__ == "__main__":
    main()
