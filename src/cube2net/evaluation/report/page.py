"""The report as files: one HTML page, tables as CSV, and all numbers as JSON.

The page loads nothing from anywhere, and its verdict and tables are read without scripts. The HTML stands in
``templates``, the looks in ``page.css``, the script that draws the figures in ``page.js``. Whatever a template is given
is escaped, unless it says ``safe``: that is so for the style and the scripts, for data that was guarded here, and for
names of plotly's traces, which come escaped.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cube2net._util.arrays import Array
from cube2net._util.files import write_files
from cube2net._util.text import replace_controls
from cube2net.errors import Cube2netError, InputError
from cube2net.evaluation.report.figures import (
    CELL,
    DARK,
    PAPER,
    RIM,
    floor_trials,
    link_panels,
    network_figure,
    score_by_size,
    sweep,
)
from cube2net.evaluation.report.tables import (
    Layout,
    Table,
    cell_table,
    cost_table,
    csv_text,
    deciding,
    difference_table,
    find_alone,
    score_table,
    shown,
)
from cube2net.evaluation.statistics import Difference, Estimate, Estimates, list_shown_models
from cube2net.evaluation.trials import Make
from cube2net.evaluation.verdict import Verdict
from cube2net.model.comparison import FLOOR, Comparison, Configuration
from cube2net.model.network import Drawing, Network

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_MEASURES = 4
READ_BY_HTML = re.compile("[<>&\u2028\u2029\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
TASK_WORDS = {
    "clustering": "clustering the query",
    "links": "finding hidden links again",
    "hidden": "finding hidden links of the query again",
}


@dataclass(frozen=True, eq=False)
class Report:
    """What a page is made of: a comparison, what it says, and what there is to look at."""

    comparison: Comparison
    verdict: Verdict
    estimates: Estimates
    drawings: Sequence[Drawing] = ()
    cells: Table | None = None
    command: str = ""
    title: str = "Did it help?"

    @property
    def look(self) -> Configuration:
        """The configuration to look at: the one that is drawn, or the verdict's best where there is nothing to draw."""
        return self.verdict.shown or self.verdict.best


def page(report: Report) -> str:
    """Return the page of a report."""
    figures = _Figures()
    sections = dict(_sections(report, figures))
    scripts = [_plotly_script(), asset("page.js")] if figures.count else []
    return (
        environment()
        .get_template("page.html")
        .render(
            title=report.title,
            verdict=report.verdict,
            look=report.look,
            scores=_scores(report),
            sizes=_sizes(report),
            sections=sections,
            style=asset("page.css"),
            scripts=scripts,
            policy=policy(scripts),
            palette=inert_json(DARK),
        )
    )


@cache
def environment() -> Environment:
    """Return what makes HTML of templates: all that is put in is text that HTML can hold, and shows as it stands.

    >>> environment().from_string("<p>{{ name }}</p>").render(name="<b> & co")
    '<p>&lt;b&gt; &amp; co</p>'
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("cube2net.evaluation.report"),
        autoescape=True,
        finalize=_held,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _held(value: object) -> object:
    """Return a value as a text that HTML can hold; what is HTML already stays."""
    return value if hasattr(value, "__html__") else replace_controls(str(value))


def asset(name: str) -> str:
    """Return a file that lies beside this module."""
    return resources.files("cube2net.evaluation.report").joinpath(name).read_text(encoding="utf-8")


def policy(scripts: Iterable[str]) -> str:
    """Return the page's policy: these scripts run and no others, and nothing is loaded from anywhere.

    >>> policy([""])[:83]
    "default-src 'none'; script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    """
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def inert_json(data: Any) -> str:
    """Return JSON that no name in it can turn into a tag, for a script element that is not run.

    >>> inert_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    return _guarded(json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False))


def _guarded(text: str) -> str:
    """Return JSON text with the signs that HTML reads, or cannot hold, written as numbers."""
    return READ_BY_HTML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plotly_script() -> str:
    """Return plotly's own script, which comes inside its package."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs()).replace("\r\n", "\n")


def shown_measures(comparison: Comparison) -> list[str]:
    """Return the measures that a table of the page has room for: all of a few, else the first of each kind.

    >>> from cube2net.model import Configuration, Trial
    >>> trial = Trial(Configuration(method="none"), "als", 0, {"P@5": 0.1})
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


def _sections(report: Report, figures: _Figures) -> Iterator[tuple[str, Any]]:
    """Yield what there is to show, in the order to be read, by the key that the templates know it by."""
    comparison, known, look = report.comparison, report.estimates, report.look
    yield "compared", _compared(comparison)
    if report.verdict.differences:
        yield "differences", _differences(report)
    scores = score_table(comparison, known, measures=shown_measures(comparison), best=look)
    scores = replace(scores, notes=(*scores.notes, *(f"{note}." for note in report.verdict.notes.values())))
    by_size = figures.add(score_by_size(comparison, known, best=look), "Score against the size of the network")
    yield "scores", {"table": Layout(scores), "by_size": by_size}
    lines = [(model, sweep(comparison, known, model=model)) for model in list_shown_models(comparison)]
    plots = [figures.add(figure, f"{comparison.measures[0]}, {model}") for model, figure in lines if figure]
    if plots:
        yield "sweep", plots
    if comparison.task == "links":
        panels = link_panels(comparison, known, best=look)
        plots = [figures.add(figure, title) for title, figure in panels.items()]
        yield "panels", {"figures": plots, "floor": FLOOR if floor_trials(comparison) else ""}
    yield "costs", Layout(cost_table(comparison, known, best=look))
    if report.drawings:
        drawn = [(drawing.title, *network_figure(drawing)) for drawing in report.drawings]
        yield "network", [figures.add(figure, title, note) for title, figure, note in drawn]
    if report.cells is not None and report.cells.rows:
        yield "cells", Layout(report.cells)
    settings = {name: _setting(value) for name, value in comparison.settings.items()}
    yield "repeat", {"command": report.command, "settings": settings}


def _compared(comparison: Comparison) -> dict[str, str]:
    """Return what was compared, in a few facts."""
    failed = sum(bool(trial.reason) for trial in comparison.trials)
    labels = len(set(comparison.truth) - {""})
    pairs = comparison.settings.get("pairs") if comparison.task == "hidden" else None
    facts = {
        "task": TASK_WORDS[comparison.task],
        "query": f"{len(comparison.truth):,} objects, {labels:,} labels" if comparison.truth else "",
        "hidden links": f"{pairs:,} in all runs" if pairs is not None else "",
        "configurations": f"{len(comparison.configurations):,}",
        "runs": f"{len(comparison.seeds):,}, paired by seed",
        "models": ", ".join(comparison.models),
        "measures": ", ".join(comparison.measures),
        "trials": f"{len(comparison.trials):,}" + (f", {failed:,} failed" if failed else ""),
    }
    return {name: value for name, value in facts.items() if value}


def _differences(report: Report) -> dict[str, Any]:
    verdict, models = report.verdict, deciding(report.comparison)
    alone = difference_table(verdict.differences, "Differences to the query alone", models=models)
    near = difference_table(
        verdict.baseline_differences, "Differences to others made as large", peers=True, models=models
    )
    return {
        "alone": Layout(alone),
        "peers": Layout(near) if verdict.baseline_differences else None,
        "best": verdict.best,
    }


def _scores(report: Report) -> dict[str, tuple[str, str, str]]:
    """Return the scores that the page begins with, by name: mean, low and high of what to look at and of the query."""
    comparison, known = report.comparison, report.estimates
    model, alone = list_shown_models(comparison)[0], find_alone(comparison)
    found: dict[str, Estimate | None] = {}
    for measure in comparison.main_measures:
        own = {} if report.look == alone else {f"its {measure}": report.look}
        wanted = own | {f"{measure} of the query alone": alone}
        found |= {name: known.get((config, model, measure)) if config else None for name, config in wanted.items()}
    return {
        name: (shown(each.mean, "score"), shown(each.low, "score"), shown(each.high, "score"))
        for name, each in found.items()
        if each is not None
    }


def _sizes(report: Report) -> dict[str, str]:
    """Return the sizes that the page begins with, by name: the nodes of what to look at and of the query."""
    wanted = {"nodes": report.look, "nodes of the query": find_alone(report.comparison)}
    nodes = {name: report.comparison.nodes(config) if config else math.nan for name, config in wanted.items()}
    return {name: shown(count, "count").removesuffix(".0") for name, count in nodes.items() if not math.isnan(count)}


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


@dataclass(frozen=True)
class Entry:
    """A line of a figure's legend: what it turns on and off, its name escaped as plotly takes it, and its looks."""

    name: str
    group: str
    on: bool
    shape: str
    light: str
    dark: str
    rim: str


@dataclass(frozen=True)
class Figure:
    """A plotly figure as a page shows it: its place, its legend, a note, and its data."""

    key: str
    title: str
    note: str
    height: int
    entries: tuple[Entry, ...]
    data: str


class _Figures:
    """Numbers the figures of a page as they are added."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, figure: Any, title: str, note: str = "") -> Figure:
        """Return a plotly figure as a page shows it."""
        self.count += 1
        named = [trace for trace in figure.data if trace.name and trace.showlegend is not False]
        entries = tuple(_entry(trace) for trace in named)
        data = _guarded(figure.to_json())
        return Figure(f"figure-{self.count}", title, note, int(figure.layout.height), entries, data)


def _entry(trace: Any) -> Entry:
    line = getattr(trace, "mode", "") and "lines" in trace.mode
    colour = trace.line.color if line else trace.marker.color
    shape = "line" if line else "square" if trace.type == "bar" or trace.marker.symbol == "square" else "dot"
    rim = RIM if colour in (PAPER, CELL) else "transparent"
    on = trace.visible != "legendonly"
    return Entry(trace.name, trace.legendgroup, on, shape, colour, DARK.get(colour, colour), rim)


MAX_DRAWN_NODES = 4_000
"""Larger networks are not drawn, since they are not readable."""


@dataclass(frozen=True, eq=False)
class Illustrator:
    """Adds to a report what there is to look at.

    ``make`` makes networks of configurations, and ``layout(network)`` gives every node a place.
    """

    make: Make
    layout: Callable[[Network], Array]

    def illustrate(self, report: Report) -> Report:
        """Return the report with the network that it speaks of; as it is where that cannot be made."""
        config = report.verdict.shown
        if config is None:
            return report
        trials = [trial for model in report.comparison.models for trial in report.comparison.of(config, model)]
        first = min(trials, key=lambda trial: trial.seed)
        try:
            network = self.make(config, first.seed, first.nodes if config.like else None)
        except Cube2netError:
            return report
        return replace(
            report,
            drawings=self._drawings(report, config, network),
            cells=cell_table(network) if len(network.selection.cells) else None,
        )

    def _drawings(self, report: Report, config: Configuration, network: Network) -> tuple[Drawing, ...]:
        """Return the network that helps, or the one to look at and the query alone."""
        comparison, said, title = report.comparison, report.verdict, config.title
        if not said.helps:
            own = "the default" if config.name == comparison.settings.get("default") else "the best of the others"
            title += f", {own}" if config != said.best or own == "the default" else ""
        drawn = [(title, network)]
        if not said.helps:
            drawn.append(("the query alone", self.make(comparison.alone, min(comparison.seeds), None)))
        return tuple(
            Drawing(each, self.layout(each), title=name) for name, each in drawn if len(each) <= MAX_DRAWN_NODES
        )


FILES = ("report.html", "trials.csv", "scores.csv", "costs.csv", "results.json", "cells.csv")
FIELDS = ("method", "objective", "form", "n_cells", "like", "levels", "n_neighbors", "membership_weights")


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
    """Return a row for every trial: its configuration, model and seed, scores, sizes, seconds, and why it has none."""
    parts = list(dict.fromkeys(part for trial in comparison.trials for part in trial.seconds))
    header = ["configuration", *FIELDS, "model", "seed", *comparison.measures, "nodes", "links", "loose", "value"]
    lines: list[list[object]] = [[*header, *(f"seconds: {part}" for part in parts), "reason"]]
    for trial in comparison.trials:
        sizes = [None] * 3 if trial.reason else [trial.nodes, trial.links, trial.loose]
        lines.append(
            [
                trial.configuration.name,
                *(getattr(trial.configuration, name) for name in FIELDS),
                trial.model,
                trial.seed,
            ]
            + [trial.scores.get(measure) for measure in comparison.measures]
            + [*sizes, trial.value, *(trial.seconds.get(part) for part in parts), trial.reason]
        )
    return csv_text(lines, spreadsheet_safe=spreadsheet_safe)


def results(report: Report) -> dict[str, Any]:
    """Return the verdict, every estimate and difference and the settings, as JSON can carry them."""
    verdict, comparison = report.verdict, report.comparison
    found = {
        "verdict": {"sentence": verdict.sentence, "best": _config(verdict.best), "helps": verdict.helps},
        "task": comparison.task,
        "measures": comparison.measures,
        "models": comparison.models,
        "deciding": comparison.deciding,
        "seeds": comparison.seeds,
        "estimates": [
            {"configuration": config.name, "model": model, "measure": measure, **asdict(estimate)}
            for (config, model, measure), estimate in report.estimates.items()
        ],
        "differences": [_difference(each) for each in verdict.differences],
        "same_size": [_difference(each) for each in verdict.baseline_differences],
        "configurations": [_config(config) for config in comparison.configurations],
        "failed": {config.name: why for config in comparison.configurations if (why := comparison.reasons(config))},
        "degenerate": [
            {**asdict(result), "configuration": result.configuration.name, "note": note}
            for result, note in verdict.notes.items()
        ],
        "settings": dict(comparison.settings),
        "command": report.command,
    }
    return {name: _plain(value) for name, value in found.items()}


def _config(config: Configuration) -> dict[str, object]:
    return {"name": config.name, **{name: getattr(config, name) for name in FIELDS}}


def _difference(found: Difference) -> dict[str, object]:
    return {**asdict(found), "one": found.one.name, "other": found.other.name, "is_significant": found.is_significant}


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
