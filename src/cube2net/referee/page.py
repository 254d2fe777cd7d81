"""The referee's report: one HTML page that needs nothing but itself, the verdict first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cube2net.records import Comparison, Drawing, Setup
from cube2net.records.comparison import FLOOR
from cube2net.referee.closeups import CloseUp
from cube2net.referee.page_closeup import close_up_figure
from cube2net.referee.page_drawing import network_figure
from cube2net.referee.page_figures import Figures
from cube2net.referee.page_html import html_table, text
from cube2net.referee.page_panels import floor_trials, link_panels
from cube2net.referee.page_script import SCRIPT, palette, plotly_script, policy
from cube2net.referee.page_style import STYLE
from cube2net.referee.page_table import Table, shown
from cube2net.referee.plots import score_by_size, sweep
from cube2net.referee.tables import Estimates, cost_table, deciding, difference_table, miners_of, score_table
from cube2net.referee.verdict import Verdict

MOST_MEASURES = 4


@dataclass(frozen=True, eq=False)
class Report:
    """What a page is made of: a comparison, what it says, and what there is to look at."""

    comparison: Comparison
    verdict: Verdict
    estimates: Estimates
    drawings: Sequence[Drawing] = ()
    close_ups: Sequence[CloseUp] = ()
    cells: Table | None = None
    command: str = ""
    title: str = "Did it help?"

    @property
    def look(self) -> Setup:
        """The setup to look at: the one that is drawn, or the verdict's best where there is nothing to draw."""
        return self.verdict.shown or self.verdict.best


def page(report: Report) -> str:
    """Return the page: it loads nothing from anywhere, and its tables and verdict are read without scripts."""
    figures = Figures()
    sections = list(_sections(report, figures))
    nav = "".join(f'<li><a href="#{key}">{text(title)}</a></li>' for key, title, _ in sections)
    body = "\n".join(
        f'<section id="{key}"><h2>{text(title)}</h2>\n{inner}\n</section>' for key, title, inner in sections
    )
    scripts = [plotly_script(), SCRIPT] if figures.count else []
    run = [f'<script type="application/json" id="palette">{palette()}</script>'] if scripts else []
    run += [f"<script>{script}</script>" for script in scripts]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{text(policy(scripts))}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">',
            f"<title>{text(report.title)} · cube2net</title><style>{STYLE}</style></head><body>",
            _header(report, nav),
            f"<main>\n{body}\n</main>",
            "<footer>Made by cube2net. This page is whole in itself: it loads nothing from elsewhere.</footer>",
            *run,
            "</body></html>\n",
        ]
    )


def shown_measures(comparison: Comparison) -> list[str]:
    """Return the measures that a table of the page has room for: all of a few, else the first of each kind.

    >>> from cube2net.records import Setup, Trial
    >>> trial = Trial(Setup(method="none"), "als", 0, {"P@5": 0.1})
    >>> shown_measures(Comparison("links", ("P@5", "P@1", "R@1", "R@5", "AUC"), (trial,)))
    ['P@5', 'R@5', 'AUC']
    """
    if len(comparison.measures) <= MOST_MEASURES:
        return list(comparison.measures)
    rank = comparison.measures[0].partition("@")[2]
    kinds: dict[str, str] = {}
    for name in sorted(comparison.measures, key=lambda name: name.partition("@")[2] != rank):
        kinds.setdefault(name.partition("@")[0], name)
    return [name for name in comparison.measures if name in kinds.values()]


def _sections(report: Report, figures: Figures) -> Iterator[tuple[str, str, str]]:
    comparison, known, best, look = report.comparison, report.estimates, report.verdict.best, report.look
    yield "compared", "What was compared", _compared(comparison)
    miners = deciding(comparison)
    differences = difference_table(report.verdict.differences, "Differences to the query alone", miners=miners)
    if differences.rows:
        parts = [html_table(differences, fold="The other {} setups")]
        if report.verdict.peers:
            near = difference_table(
                report.verdict.peers, "Differences to others made as large", peers=True, miners=miners
            )
            parts.append(f'<h3 class="gap">{text(best.name)}, against others made as large</h3>')
            parts.append(html_table(near))
        yield "differences", "Over the query alone", "\n".join(parts)
    scores = score_table(comparison, known, measures=shown_measures(comparison), best=look)
    size = figures.add(score_by_size(comparison, known, best=look), "Score against the size of the network", SIZE)
    yield "scores", "Scores", "\n".join([html_table(scores, fold="The other {} setups"), size])
    lines = [(miner, sweep(comparison, known, miner=miner)) for miner in miners_of(comparison)]
    plots = [figures.add(figure, f"{comparison.measures[0]}, {miner}", "") for miner, figure in lines if figure]
    if plots:
        yield "sweep", "How many cells", f'<p class="lead">{SWEEP}</p><div class="pair">{"".join(plots)}</div>'
    if comparison.task == "links":
        panels = link_panels(comparison, known, best=look)
        plots = [figures.add(figure, title, "") for title, figure in panels.items()]
        lead = f'<p class="lead">{DASHED}</p>' if floor_trials(comparison) else ""
        yield "panels", "Links found again", f'{lead}<div class="pair">{"".join(plots)}</div>'
    yield "costs", "Time and size", html_table(cost_table(comparison, known, best=look), fold="The other {} setups")
    if report.drawings:
        drawn = [(drawing.title, *network_figure(drawing)) for drawing in report.drawings]
        plots = [figures.add(figure, title, f"{note} {HOVER}") for title, figure, note in drawn]
        yield "network", "The network", "\n".join(plots)
    if report.cells is not None and report.cells.rows:
        yield "cells", "The cells it chose", html_table(report.cells, fold="The other {} cells")
    if report.close_ups:
        plots = [close_up_figure(found) for found in report.close_ups]
        yield "closeups", "Close-ups", f'<p class="lead">{CLOSE}</p><div class="pair">{"".join(plots)}</div>'
    yield "repeat", "To do it again", _repeat(report.command, comparison.settings)


SIZE = (
    "Circles are networks of objects, squares have cells as nodes, diamonds both, and stars have woven in, beside the "
    "cells, the objects nearest by links; hollow ones were made as large as another. The ring is around the setup to "
    "look at, the dashed line is the query alone."
)
DASHED = (
    f"The dashed line is {FLOOR} on the query alone, the floor: its scores, its seconds in all, its nodes. All else "
    "is of the other miners."
)
SWEEP = (
    "Setups that differ only in the number of cells chosen; bands are 95 % intervals. Shown at first is the best of "
    "every method: choose others in the legend."
)
HOVER = (
    "Colours are labels of the query, hollow objects were brought, squares are cells; links inside the query are "
    "thicker. Point at a node to read its name."
)
CLOSE = (
    "The two pairs of the query whose vectors the network moves most, found by measurement: the cosine on the query "
    "alone and in the network, means over the runs."
)


TASK_WORDS = {
    "clustering": "clustering the query",
    "links": "finding hidden links again",
    "hidden": "finding hidden links of the query again",
}


def _header(report: Report, nav: str) -> str:
    comparison, verdict, known = report.comparison, report.verdict, report.estimates
    miner, measure = miners_of(comparison)[0], comparison.measures[0]
    alone = next((setup for setup in comparison.setups if setup.method == "none"), None)
    look = report.look
    facts = [("wide", "setup to look at", f'<dd class="words">{text(look.name)}</dd>')]
    for name, setup in (("its " + measure, look), (f"{measure} of the query alone", alone)):
        found = known.get((setup, miner, measure)) if setup else None
        if found is not None and (name != f"its {measure}" or setup != alone):
            ends = f"<small>{shown(found.low, 'score')} to {shown(found.high, 'score')}</small>"
            facts.append(("", name, f"<dd>{shown(found.mean, 'score')}{ends}</dd>"))
    nodes = [(name, _size(comparison, setup)) for name, setup in (("nodes", look), ("nodes of the query", alone))]
    facts += [("", name, f"<dd>{size}</dd>") for name, size in nodes if size]
    cells = "".join(f'<div class="{kind}"><dt>{text(name)}</dt>{value}</div>' for kind, name, value in facts)
    pill = (
        '<span class="pill helps">it helps</span>' if verdict.helps else '<span class="pill">not shown to help</span>'
    )
    return (
        f'<header><p class="eyebrow">{pill}<span>{text(report.title)}</span></p>\n'
        f"<h1>{text(verdict.sentence)}</h1>\n"
        f'<dl class="facts">{cells}</dl>\n<nav aria-label="Parts of this page"><ul>{nav}</ul></nav></header>'
    )


def _size(comparison: Comparison, setup: Setup | None) -> str:
    nodes = comparison.nodes(setup) if setup else math.nan
    return "" if math.isnan(nodes) else shown(nodes, "count").removesuffix(".0")


def _compared(comparison: Comparison) -> str:
    failed = sum(bool(trial.reason) for trial in comparison.trials)
    labels = len(set(comparison.truth) - {""})
    query = f"{len(comparison.truth):,} objects, {labels:,} labels" if comparison.truth else ""
    pairs = comparison.settings.get("pairs") if comparison.task == "hidden" else None
    facts = {
        "task": TASK_WORDS[comparison.task],
        "query": query,
        "hidden links": f"{pairs:,} in all runs" if pairs is not None else "",
        "setups": f"{len(comparison.setups):,}",
        "runs": f"{len(comparison.seeds):,}, paired by seed",
        "miners": ", ".join(comparison.miners),
        "measures": ", ".join(comparison.measures),
        "trials": f"{len(comparison.trials):,}" + (f", {failed:,} failed" if failed else ""),
    }
    rows = "".join(f"<div><dt>{name}</dt><dd>{text(value)}</dd></div>" for name, value in facts.items() if value)
    return f'<dl class="facts small">{rows}</dl>'


def _repeat(command: str, settings: Mapping[str, Any]) -> str:
    parts = [f"<pre><code>{text(command)}</code></pre>"] if command else []
    rows = "".join(f"<dt>{text(name)}</dt><dd>{text(_setting(value))}</dd>" for name, value in settings.items())
    return "\n".join([*parts, f'<dl class="settings">{rows}</dl>'] if rows else parts)


def _setting(value: Any) -> str:
    """Return a setting as people read it: one line for what is inside a mapping, a list with commas.

    >>> _setting({"line": "Line()", "m": [10, 20]})
    'line: Line()\\nm: 10, 20'
    """
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_setting(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_setting(inner) for inner in value)
    return str(value)
