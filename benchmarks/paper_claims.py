"""What the paper claims, its number, ours with an interval, and whether that confirms it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import t as student

from cube2net.intervals import ENDS
from cube2net.records import Comparison, Setup
from cube2net.referee.statistics import ALL, Difference, differences

MINERS = {"deepwalk": "DeepWalk", "line": "LINE", "node2vec": "node2vec"}
CELLS = ("random", "greedy", "cube2net", "cube2net paper")
RIVALS = ("none", "hops", "hops 2", "maxdisc", "random", "greedy")
YES, NO, PART, OPEN, LATER = (
    "confirmed",
    "**not confirmed**",
    "in part",
    "cannot be tested here",
    "not run yet",
)


def setup_of(method: str, comparison: Comparison, m: int | None = None) -> Setup:
    """Return the setup of a method in the tables, or with so many cells."""
    if method not in CELLS:
        return Setup(method=method)
    known = [setup.m for setup in comparison.setups if setup.method == method]
    count = m or (20 if 20 in known or not known else known[0])
    return Setup(method=method, objective="jaccard", form="objects", m=count)


def claims(done: Mapping[str, Comparison], case: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of claims."""
    found = list(rows(done, case))
    sure, unsure = (sum(row[3].startswith(verdict) for row in found) for verdict in (YES, NO))
    yield "## Claim by claim"
    yield ""
    yield f"Of {len(found)} claims {sure} are confirmed and {unsure} are not; of the others the last column says why."
    yield ""
    yield "Differences are paired, of F1 and of the mean over the embeddings"
    yield "where nothing else is said, with intervals of 95 %"
    yield "(runs and authors drawn anew, corrected for the rivals of one embedding and measure)."
    yield "*Confirmed* wants an interval on the claim's side"
    yield "of 0; *not confirmed* says that ours holds 0 or lies on the other side, which is then said."
    yield ""
    yield "| the paper says | its numbers | ours | verdict |"
    yield "| --- | --- | --- | --- |"
    yield from (f"| {' | '.join(row)} |" for row in found)


def rows(done: Mapping[str, Comparison], case: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield claim, the paper's number, ours and the verdict."""
    labs, areas = done["labs"], done.get("areas")
    yield best_of_all(
        "116 authors: cube2net is best in F1, JC and NMI by every embedding", "F1 by DeepWalk 0.763, next 0.745", labs
    )
    if areas:
        said = "F1 by DeepWalk 0.645, next 0.613"
        yield best_of_all("the larger set of authors: the same", said, areas)
    for name in ("labs2", "areas2", "planted"):
        if name in done:
            yield best_of_all(f"the same, on `{name}`", "not in the paper", done[name])
    yield one_sided("116 authors: all neighbours (NoCube+) hurt", "−0.048 by DeepWalk", labs, "hops", "none", -1)
    yield one_sided("116 authors: random cells hurt", "−0.120 by DeepWalk", labs, "random", "none", -1)
    yield one_sided("116 authors: greedy's cells help", "+0.041 by DeepWalk", labs, "greedy", "none", +1)
    yield one_sided(
        "the learner's network is better than greedy's", "+0.018 by DeepWalk", labs, "cube2net", "greedy", +1
    )
    if areas:
        yield one_sided("larger set: greedy's cells help", "+0.179 by DeepWalk", areas, "greedy", "none", +1)
        yield one_sided("larger set: all neighbours help", "+0.087 by DeepWalk", areas, "hops", "none", +1)
    yield from selections(labs, case)
    yield from sizes(labs)
    yield from times(labs, areas)
    yield from cells(labs)
    inside = [row[4] for row in case["cells"] if row[0] == "cube2net"]
    yield (
        "Table IV: the cells chosen first are relevant to the query",
        "five cells, by eye",
        f"the default's first five hold {', '.join(map(str, inside))} of the query",
        YES,
    )
    yield (
        "Figure 4: authors of one group are drawn closer, of different groups apart",
        "two pictures",
        "two pictures below, of pairs that were looked for",
        "shown; examples are no test",
    )
    if "scifi00" in done:
        yield links(done["scifi00"])
    else:
        yield (
            "Figure 5: best precision and recall of hidden links, on Yelp",
            "a picture",
            "–",
            f"on Yelp it {OPEN}; films: {LATER}, with DATA",
        )
    yield (
        "it is not sensitive to its parameters (layers of 256, 40 walks, 40 epochs)",
        "no numbers",
        "the letter, with these, does not learn on our vectors (last section)",
        f"{OPEN}: nothing to compare with",
    )


def said(found: Difference | None) -> str:
    """Return a difference with its interval."""
    if found is None:
        return "no runs"
    text = f"{found.mean:+.3f}"
    text = text if np.isnan(found.low) else f"{text} [{found.low:+.3f}, {found.high:+.3f}]"
    return text.replace("-", "−")


def apart(
    comparison: Comparison, pairs: Sequence[tuple[Setup, Setup]], miner: str = ALL, measure: str = "F1"
) -> list[Difference]:
    """Return the differences of those pairs that have runs."""
    there = set(comparison.setups)
    wanted = [pair for pair in pairs if set(pair) <= there]
    return list(differences(comparison, wanted, miner=miner, measure=measure)) if wanted else []


def best_of_all(claim: str, theirs: str, comparison: Comparison) -> tuple[str, str, str, str]:
    """Return whether cube2net is surely above all others, by every measure and embedding."""
    own = setup_of("cube2net", comparison)
    pairs = [(own, setup_of(rival, comparison)) for rival in RIVALS]
    found = [
        each
        for measure in comparison.measures
        for miner in MINERS
        for each in apart(comparison, pairs, miner, measure)
        if each.runs > 1
    ]
    above, below = (sum(sign * each.mean > 0 and each.sure for each in found) for sign in (1, -1))
    runs = min((each.runs for each in found), default=0)
    alone = apart(comparison, [(own, comparison.alone)])
    text = (
        f"{runs} runs: surely above a rival in {above} of {len(found)} comparisons, surely below in {below}; "
        f"over the query alone {said(alone[0] if alone else None)}"
    )
    if not found:
        return claim, theirs, "fewer than two runs", LATER
    return claim, theirs, text, YES if above == len(found) else PART if 2 * above >= len(found) else NO


def one_sided(
    claim: str, theirs: str, comparison: Comparison, one: str, other: str, sign: int
) -> tuple[str, str, str, str]:
    """Return whether one method is surely on a side of another."""
    found = apart(comparison, [(setup_of(one, comparison), setup_of(other, comparison))])
    if not found:
        return claim, theirs, "–", LATER
    each = found[0]
    if each.runs < 2:
        return (
            claim,
            theirs,
            f"{said(each)}, one run, so without an interval",
            f"{NO}: the sign is the other one" if sign * each.mean < 0 else "one run only",
        )
    verdict = YES if each.sure and sign * each.mean > 0 else f"{NO}, surely the reverse" if each.sure else NO
    return claim, theirs, f"{said(each)}, {each.runs} runs", verdict


def value_of(comparison: Comparison, method: str) -> float | None:
    """Return the mean relevance of the cells that a method chose."""
    values = [
        trial.value for trial in comparison.of(setup_of(method, comparison), "deepwalk") if trial.value is not None
    ]
    return float(np.mean(values)) if values else None


def selections(labs: Comparison, case: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the claims about the cells that are chosen."""
    found = {method: value_of(labs, method) for method in CELLS}
    greedy, own, paper = found["greedy"], found["cube2net"], found["cube2net paper"]
    if greedy is not None and own is not None:
        best = f"; {'proven best' if case['best']['proven'] else 'best known'} {case['best']['value']:.4f}"
        yield (
            "greedy does not find the best cells; a learner comes near it",
            "no values",
            f"relevance: random {found['random'] or 0:.4f}, greedy {greedy:.4f}, the default {own:.4f}{best}",
            f"{YES}, with the default" if own > greedy else NO,
        )
        if paper is not None:
            text = f"relevance {paper:.4f}, below greedy's {greedy:.4f}"
            yield "the same, with the learner to the letter", "no values", text, YES if paper > greedy else NO


def sizes(labs: Comparison) -> Iterator[tuple[str, str, str, str]]:
    """Yield the claim about the size of networks."""
    nodes = {
        method: labs.nodes(setup_of(method, labs))
        for method in ("hops", "greedy", "cube2net")
        if setup_of(method, labs) in labs.setups
    }
    if len(nodes) == 3:
        yield (
            "its networks are smaller than one hop's and than greedy's",
            "526 nodes; one hop 3,853, greedy 1,464",
            f"{nodes['cube2net']:,.0f} nodes; one hop {nodes['hops']:,.0f}, greedy {nodes['greedy']:,.0f}",
            YES if nodes["cube2net"] < min(nodes["hops"], nodes["greedy"]) else NO,
        )


def ratio(
    comparison: Comparison, one: str, other: str, what: str, miner: str = "deepwalk"
) -> tuple[float, float, float]:
    """Return how many times the seconds of one method are those of another, with the interval over runs."""
    seconds = [
        {trial.seed: trial.seconds[what] for trial in comparison.of(setup_of(method, comparison), miner)}
        for method in (one, other)
    ]
    seeds = sorted(seconds[0].keys() & seconds[1].keys())
    if len(seeds) < 2:
        return float("nan"), float("nan"), float("nan")
    logs = np.log([max(seconds[0][seed], 1e-4) / max(seconds[1][seed], 1e-4) for seed in seeds])
    half = student.ppf(ENDS[1], len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    return tuple(float(np.exp(logs.mean() + side * half)) for side in (0, -1, 1))  # type: ignore[return-value]


def times(labs: Comparison, areas: Comparison | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield the claims about seconds."""
    middle, low, high = ratio(labs, "hops", "cube2net", "mine")
    if not np.isnan(middle):
        text = f"one hop takes {middle:.0f} times as long [{low:.0f}, {high:.0f}]"
        yield "mining is faster on its networks (DeepWalk)", "7 s; one hop 25 s", text, YES if low > 1 else NO
    middle, low, high = ratio(labs, "cube2net", "greedy", "select")
    if not np.isnan(middle):
        text = f"the learner takes {middle:,.0f} times as long as greedy [{low:,.0f}, {high:,.0f}]"
        verdict = YES if high < 1 else f"{NO}, surely the reverse" if low > 1 else NO
        yield "constructing by greedy takes ten times as long as by the learner", "3,082 s against 296 s", text, verdict
    if areas:
        seconds = [
            [trial.seconds["select"] for trial in one.of(setup_of("cube2net", one), "deepwalk")]
            for one in (labs, areas)
        ]
        few, many = (float(np.median(each)) if each else float("nan") for each in seconds)
        text = f"medians {few:.1f} s and {many:.1f} s, on busy cores; no interval, for the runs are not paired"
        yield (
            "construction takes hardly longer for the larger query",
            "296 s and 314 s",
            text,
            YES if many < 2 * few else NO,
        )


def cells(labs: Comparison) -> Iterator[tuple[str, str, str, str]]:
    """Yield the claims of Figure 3."""
    counts = sorted({setup.m for setup in labs.setups if setup.method == "greedy" and setup.m})
    if len(counts) < 2:
        return
    few, many = counts[0], counts[-1]
    picture = "a picture"
    for miner in ("deepwalk", "node2vec"):
        at = [
            (setup_of("cube2net", labs, count), setup_of(rival, labs, count))
            for count in counts
            for rival in ("greedy", "random")
        ]
        found = apart(labs, at, miner)
        above, below = (sum(sign * each.mean > 0 and each.sure for each in found) for sign in (1, -1))
        yield (
            f"Figure 3, {MINERS[miner]}: cube2net is best with any number of cells",
            picture,
            f"surely above greedy or random in {above} of {len(found)} comparisons, surely below in {below}",
            YES if above == len(found) else NO,
        )
    for method, claim in (("greedy", "greedy gets worse"), ("random", "random cells keep getting worse")):
        pairs = [(setup_of(method, labs, many), setup_of(method, labs, few))]
        found = [each for miner in ("deepwalk", "node2vec") for each in apart(labs, pairs, miner)]
        text = "; ".join(f"{MINERS[each.miner]} {said(each)}" for each in found)
        falls = [each.sure and each.mean < 0 for each in found]
        yield (
            f"Figure 3: {claim} with more cells ({few} → {many})",
            picture,
            text,
            YES if falls and all(falls) else PART if any(falls) else NO,
        )


def links(films: Comparison) -> tuple[str, str, str, str]:
    """Return the claim of hidden links, on films in place of Yelp."""
    own = setup_of("cube2net", films)
    measure = films.measures[0]
    pairs = [(own, setup_of(rival, films)) for rival in ("none", "hops", "greedy")]
    found = apart(films, pairs, "softimpute", measure)
    names = {"none": "the query alone", "hops": "one hop", "greedy": "greedy"}
    text = "; ".join(f"over {names[each.other.method]} {said(each)}" for each in found)
    verdict = YES if found and all(each.sure and each.mean > 0 for each in found) else NO
    return (
        "Figure 5: best precision of hidden links by Soft-Impute, on Yelp",
        "a picture",
        f"films, {measure}: {text}",
        f"on Yelp it cannot be tested here; on films {verdict}",
    )
