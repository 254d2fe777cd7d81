"""The referee's tables: what every setup scored and cost, how sure the differences are, which cells were chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cube2net.records import Comparison, Network, Setup, Trial
from cube2net.records.comparison import FLOOR
from cube2net.referee.report.table import Cell, Row, Table, TableColumn
from cube2net.referee.statistics import ALL, Difference, Estimate, Estimates, miners_of

FIRST = 10
MAKING = {"select": ("weigh", "vectors", "select"), "train": ("train",), "links": ("links",)}


def deciding(comparison: Comparison) -> str:
    """Return the miners that decide, in words."""
    if len(comparison.deciding) == 1:
        return comparison.deciding[0]
    lost = [miner for miner in comparison.miners if miner not in comparison.deciding]
    return f"all miners but {' and '.join(lost)}" if lost else "all miners"


def best_first(comparison: Comparison, known: Estimates) -> list[Setup]:
    """Return the setups that have scores by the measure that decides, the highest first."""
    miner, measure = miners_of(comparison)[0], comparison.measures[0]
    scored = [setup for setup in comparison.setups if (setup, miner, measure) in known]
    return sorted(scored, key=lambda setup: -known[setup, miner, measure].mean)


def ordered(comparison: Comparison) -> list[Setup]:
    """Return the setups, those of equal size after the one whose size they have."""
    rows: list[Setup] = []
    for setup in comparison.setups:
        if not setup.like:
            rows += [setup, *comparison.peers(setup)]
    return rows + [setup for setup in comparison.setups if setup not in rows]


def main_setups(comparison: Comparison, known: Estimates, best: Setup | None = None) -> list[Setup]:
    """Return the setups to show first: the best one with its peers or the one it is a peer of, the best of a method."""
    ranked = best_first(comparison, known)
    chosen = best or next(iter(ranked), comparison.setups[0])
    wanted = {chosen, *comparison.peers(chosen)}
    wanted.update(setup for setup in comparison.setups if setup.name == chosen.like)
    for method in dict.fromkeys(setup.method for setup in comparison.setups):
        own = [setup for setup in ranked if setup.method == method and not setup.like]
        failed = [setup for setup in comparison.setups if setup.method == method and not setup.like]
        wanted.update((own or failed)[:1])
    return [setup for setup in ordered(comparison) if setup in wanted]


def score_table(
    comparison: Comparison,
    known: Estimates,
    *,
    measures: Sequence[str] | None = None,
    best: Setup | None = None,
) -> Table:
    """Return the scores of every setup, by measure and miner, in the form of the paper's Table II.

    Beside its name stands over how many runs they are means: two numbers where that differs within a row.
    """
    wanted = [(measure, miner) for measure in measures or comparison.measures for miner in miners_of(comparison)]
    columns = [TableColumn("setup"), TableColumn("runs", style="count")]
    columns += [TableColumn(miner, measure, "score", "high") for measure, miner in wanted]
    cells: dict[Setup, tuple[Cell, ...]] = {}
    for setup in comparison.setups:
        found = [known.get((setup, miner, measure)) for measure, miner in wanted]
        cells[setup] = (_runs(each.runs for each in found if each), *found)
    notes = ["Means over the runs of each row, with 95 % intervals. The highest of a column is bold."]
    if ALL in miners_of(comparison):
        miners = ", ".join(comparison.deciding)
        notes.append(f"“{ALL}” is the mean over {miners}, run by run; runs that lack one of them are left out.")
    if FLOOR in comparison.miners and FLOOR not in comparison.deciding:
        notes.append(f"{FLOOR} is the floor: it recommends to all users the same.")
    return Table("Scores", tuple(columns), _setup_rows(comparison, known, cells, best), tuple(notes))


def cost_table(comparison: Comparison, known: Estimates, *, best: Setup | None = None) -> Table:
    """Return seconds and sizes of every setup, means over its runs, in the form of the paper's Table III."""
    making, mining, size = "seconds to make the network", "seconds to mine it", "network"
    columns = [
        TableColumn("setup"),
        *(TableColumn(name, making, "seconds") for name in [*MAKING, "in all"]),
        *(TableColumn(miner, mining, "seconds") for miner in comparison.miners),
        *(TableColumn(name, size, "count") for name in ("nodes", "links", "links, both ends", "loose")),
    ]
    cells = {setup: _costs(comparison, setup) for setup in comparison.setups}
    notes = (
        "Means over the runs. “select” includes weighing the objects and, where a method needs them, the cells' "
        "vectors.",
        "A link is counted once; “both ends” counts it twice, as the paper does. “loose” objects of the query have no "
        "link in the network.",
    )
    return Table("Time and size", tuple(columns), _setup_rows(comparison, known, cells, best), notes)


def difference_table(
    differences: Sequence[Difference], title: str, *, peers: bool = False, miners: str = "all miners"
) -> Table:
    """Return paired differences with their intervals, chances and effects, a row for each.

    A row is named by the first setup of its pair, or with ``peers`` by the second: the one that it is compared with.
    ``miners`` are all together, in words.
    """
    columns = (
        TableColumn("compared with" if peers else "setup"),
        TableColumn("difference", style="change"),
        TableColumn("bootstrap", "p after Holm", "chance"),
        TableColumn("t-test", "p after Holm", "chance"),
        TableColumn("Wilcoxon", "p after Holm", "chance"),
        TableColumn("effect", style="change"),
        TableColumn("runs", style="count"),
        TableColumn("sure"),
    )
    rows = tuple(
        Row(
            (
                (found.other if peers else found.one).name,
                Estimate(found.mean, found.low, found.high, found.runs),
                found.chance,
                found.t_test,
                found.wilcoxon,
                found.effect,
                found.runs,
                "yes" if found.sure else "no",
            ),
            main=number < FIRST,
            sure=found.sure,
        )
        for number, found in enumerate(differences)
    )
    said = {ALL: miners}
    what = ", ".join(dict.fromkeys(f"{found.measure} ({said.get(found.miner, found.miner)})" for found in differences))
    note = f"Differences of {what}, paired by run, with {interval(len(differences))}: a difference is sure when its "
    note += "interval excludes 0. The effect is Cohen's d of the differences."
    notes = [note] if peers else [note, "Networks that are the same in every run stand here once."]
    return Table(title, columns, rows, tuple(notes) if rows else ())


def interval(count: int) -> str:
    """Return what the interval of one of so many differences is, in words.

    >>> interval(14), interval(1)
    ('the 95 % interval corrected for the 14 compared', 'the 95 % interval')
    """
    return f"the 95 % interval corrected for the {count:,} compared" if count > 1 else "the 95 % interval"


def cell_table(network: Network) -> Table:
    """Return the chosen cells in the order chosen, in the form of the paper's Table IV."""
    held = network.brought_by.indices[: network.brought_by.indptr[len(network.query)]]
    in_query = np.bincount(held, minlength=len(network.labels)).tolist()
    sizes = network.cell_objects
    columns = (
        TableColumn("rank", style="count"),
        *(TableColumn(name) for name in network.dimensions),
        TableColumn("objects", style="count"),
        TableColumn("in the query", style="count"),
        TableColumn("value so far", style="number"),
    )
    rows = [
        Row((rank + 1, *labels, sizes[rank], in_query[rank], float(network.selection.values[rank])), main=rank < FIRST)
        for rank, labels in enumerate(network.labels)
    ]
    return Table("Chosen cells", columns, tuple(rows))


def _setup_rows(
    comparison: Comparison, known: Estimates, cells: Mapping[Setup, tuple[Cell, ...]], best: Setup | None
) -> tuple[Row, ...]:
    main = set(main_setups(comparison, known, best))
    return tuple(
        Row(
            (setup.name, *cells[setup]),
            reason="; ".join(comparison.reasons(setup)),
            short=_short(comparison, setup),
            main=setup in main,
            chosen=setup == best,
        )
        for setup in ordered(comparison)
    )


def _short(comparison: Comparison, setup: Setup) -> str:
    """Return what to call a setup in the row below the one that it was made as large as."""
    other = next((other for other in comparison.setups if other.name == setup.like), None)
    if other is None:
        return ""
    nodes = comparison.nodes(setup)
    same = math.isnan(nodes) or comparison.as_large(setup, other)
    return f"{setup.method}, same size" if same else f"{setup.method}, {nodes:,.0f} nodes"


def _runs(counts: Iterable[int]) -> Cell:
    """Return a number of runs, both ends where there are several.

    >>> _runs([10, 10]), _runs([10, 7]), _runs([])
    (10, '7 to 10', None)
    """
    found = sorted(set(counts))
    return f"{found[0]:,} to {found[-1]:,}" if len(found) > 1 else next(iter(found), None)


def _costs(comparison: Comparison, setup: Setup) -> tuple[Cell, ...]:
    trials = {miner: comparison.of(setup, miner) for miner in comparison.miners}
    every = [trial for found in trials.values() for trial in found]
    if not every:
        return (None,) * (len(MAKING) + 1 + len(trials) + 4)
    making = [_mean(_spent(trial, parts) for trial in every) for parts in MAKING.values()]
    mining = [_mean(_spent(trial, ("mine",)) for trial in found) for found in trials.values()]
    nodes, links, loose = (_mean(getattr(trial, name) for trial in every) for name in ("nodes", "links", "loose"))
    return (*making, sum(making), *mining, nodes, links, 2 * links, loose)


def _spent(trial: Trial, parts: Iterable[str]) -> float:
    return sum(float(trial.seconds.get(part, 0.0)) for part in parts)


def _mean(values: Iterable[float]) -> float:
    """Return the mean, as a whole number where all are the same one."""
    found = list(values)
    same = len(set(found)) == 1
    return found[0] if same else sum(found) / len(found) if found else math.nan
