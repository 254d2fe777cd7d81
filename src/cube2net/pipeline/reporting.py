"""From a comparison to a report: the verdict, the network that it speaks of, and what to look at in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net.errors import Cube2netError, InputError
from cube2net.extras import require
from cube2net.interfaces import Method
from cube2net.pipeline.comparing import BY_NAME, JOURNAL, Maker, query_mark
from cube2net.pipeline.mining import embed_nodes
from cube2net.pipeline.setups import DEFAULT
from cube2net.records import Comparison, Cube, Drawing, Network, Query, Setup
from cube2net.referee import CloseUp, Journal, Report, Verdict, all_estimates, cell_table, close_ups, judge, write
from cube2net.referee import results as results_of

# Larger networks are not drawn: nobody could read them.
MOST_DRAWN = 4_000

# What a journal says of a comparison and its settings say too.
KEPT = ("methods", "miners")

# Vectors of so many runs say which pairs are drawn closer or apart.
LOOKS = 5


def read_comparison(folder: str | Path, query: Query) -> Comparison:
    """Return the comparison of all trials that a folder holds, for the query they were made for."""
    path = Path(folder) / JOURNAL
    journal = Journal.read(path)
    if not _is_whole(journal.about):
        raise InputError(f"{str(path)!r} is no journal of a comparison: choose another folder")
    if journal.about["query"] != query_mark(query):
        raise InputError(f"{str(path)!r} holds the trials of another query: give the one that was compared")
    trials = tuple(journal.trials.values())
    measures = next((tuple(trial.scores) for trial in trials if trial.scores), ())
    task: str = journal.about["task"]
    truth = tuple(query.labels or ()) if task == "clustering" else ()
    kept = {name: journal.about[name] for name in KEPT if name in journal.about}
    hidden = {"pairs": sum(journal.about.get("pairs", {}).values())} if task == "hidden" else {}
    settings = {"query": repr(query), "task": task, **kept, **hidden, "default": DEFAULT.name}
    return Comparison(task, measures, trials, truth, settings)


def _is_whole(about: Mapping[str, Any]) -> bool:
    """Return whether the first line of a journal says what a comparison is made of."""
    pairs = about.get("pairs", {})
    return (
        isinstance(about.get("task"), str)
        and isinstance(about.get("query"), str)
        and all(isinstance(about.get(name), dict) for name in KEPT)
        and isinstance(pairs, dict)
        and all(type(count) is int for count in pairs.values())
    )


def results(comparison: Comparison) -> dict[str, Any]:
    """Return the verdict, and the numbers it rests on, as JSON can carry them."""
    return results_of(Report(comparison, judge(comparison), all_estimates(comparison)))


def check_report() -> None:
    """Raise where no report can be made here, before any work is done for it."""
    require("a report", "plotly", "jinja2")


def write_report(
    cube: Cube,
    query: Query,
    comparison: Comparison,
    folder: str | Path,
    *,
    methods: Mapping[str, str | Method] | None = None,
    command: str = "",
    title: str = "Did it help?",
    spreadsheet_safe: bool = False,
) -> list[Path]:
    """Write the report of a comparison into a folder, and return its files: a page, tables as CSV, and JSON.

    ``spreadsheet_safe`` guards labels in the tables that spreadsheets would run as formulas.
    """
    check_report()
    said = judge(comparison)
    estimates = all_estimates(comparison)
    report = Report(comparison, said, estimates, command=command, title=title)
    maker = Maker(cube, query, {**BY_NAME, **(methods or {})})
    for setup, network in _shown(maker, comparison, said):
        report = replace(
            report,
            drawings=_drawings(maker, comparison, said, setup, network),
            close_ups=_close_ups(cube, query, comparison, network),
            cells=cell_table(network) if len(network.selection.cells) else None,
        )
    return write(report, folder, spreadsheet_safe=spreadsheet_safe)


def _shown(maker: Maker, comparison: Comparison, said: Verdict) -> list[tuple[Setup, Network]]:
    """Return the setup to look at and its network, of the first seed that has scores; nothing where it has none."""
    setup = said.shown
    if setup is None:
        return []
    trials = [trial for miner in comparison.miners for trial in comparison.of(setup, miner)]
    first = min(trials, key=lambda trial: trial.seed)
    try:
        return [(setup, maker(setup, first.seed, first.nodes if setup.like else None))]
    except Cube2netError:
        return []


def _drawings(
    maker: Maker, comparison: Comparison, said: Verdict, setup: Setup, network: Network
) -> tuple[Drawing, ...]:
    """Return the network that helps; where nothing is surely better, the one to look at and the query alone."""
    title = setup.title
    if not said.helps:
        own = "the default" if setup.name == comparison.settings.get("default") else "the best of the others"
        title += f", {own}" if setup != said.best or own == "the default" else ""
    drawn = [(title, network)]
    if not said.helps:
        drawn.append(("the query alone", maker(comparison.alone, min(comparison.seeds))))
    from cube2net.network.layout import layout

    return tuple(Drawing(each, layout(each), title=name) for name, each in drawn if len(each) <= MOST_DRAWN)


def _close_ups(cube: Cube, query: Query, comparison: Comparison, network: Network) -> list[CloseUp]:
    """Return the pairs that the network draws closer and apart, by the vectors of the first miner."""
    if comparison.task != "clustering" or len(network) > MOST_DRAWN:
        return []
    alone = Maker(cube, query, BY_NAME)(Setup(method="none"), 0)
    before, after = (
        np.stack([embed_nodes(one, comparison.miners[0], seed=seed)[: len(query)] for seed in range(LOOKS)])
        for one in (alone, network)
    )
    return close_ups(network, before, after, query.labels)
