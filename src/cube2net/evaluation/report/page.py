"""The report as files: an HTML page, tables as CSV, and all numbers as JSON.

The page loads nothing from other places, and its verdict and tables are readable without scripts. The HTML is in
``templates``, the style in ``page.css``, the script that draws the figures in ``page.js``. Templates escape all values
except those marked ``safe``: the style, the scripts, JSON that is escaped here, and the names of plotly's traces.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cube2net._util.files import explain_disk_errors, write_files
from cube2net._util.text import replace_controls
from cube2net.errors import Cube2netError
from cube2net.evaluation.report.figures import (
    DARK,
    PAPER,
    list_floor_trials,
    plot_by_cells,
    plot_by_size,
    plot_link_panels,
    plot_network,
)
from cube2net.evaluation.report.tables import (
    Layout,
    Table,
    describe_deciding_models,
    find_alone,
    format_cell,
    format_csv,
    make_cell_table,
    make_cost_table,
    make_difference_table,
    make_score_table,
)
from cube2net.evaluation.statistics import Difference, Estimates, list_shown_models
from cube2net.evaluation.trials import Make
from cube2net.evaluation.verdict import Verdict
from cube2net.mining.link_prediction import KS
from cube2net.model.comparison import FLOOR, Comparison, Configuration
from cube2net.model.network import Drawing
from cube2net.network.drawing.layout import layout
from cube2net.network.drawing.picture import CELL, RIM

if TYPE_CHECKING:
    from jinja2 import Environment

UNSAFE_IN_HTML = re.compile("[<>&\u2028\u2029\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
TASK_WORDS = {
    "clustering": "clustering the query",
    "links": "finding hidden links again",
    "hidden": "finding hidden links of the query again",
}


@dataclass(frozen=True, eq=False)
class Report:
    """The contents of a page: a comparison, its verdict and estimates, drawings and the cells of a network."""

    comparison: Comparison
    verdict: Verdict
    estimates: Estimates
    drawings: Sequence[Drawing] = ()
    cells: Table | None = None
    command: str = ""
    title: str = "Did it help?"

    @property
    def highlighted(self) -> Configuration:
        """The configuration to look at: the one that is drawn, or else the best."""
        return self.verdict.shown or self.verdict.best


def render_page(report: Report) -> str:
    """Return the HTML of a report."""
    figures = _Figures()
    sections = dict(_list_sections(report, figures))
    scripts = [_read_plotly_script(), read_asset("page.js")] if figures.count else []
    return (
        make_environment()
        .get_template("page.html")
        .render(
            title=report.title,
            verdict=report.verdict,
            highlighted=report.highlighted,
            scores=_list_scores(report),
            sizes=_list_sizes(report),
            sections=sections,
            style=read_asset("page.css"),
            scripts=scripts,
            policy=format_policy(scripts),
            palette=format_json(DARK),
        )
    )


@cache
def make_environment() -> Environment:
    """Return the environment of the templates, which escapes values.

    >>> make_environment().from_string("<p>{{ name }}</p>").render(name="<b> & co")
    '<p>&lt;b&gt; &amp; co</p>'
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("cube2net.evaluation.report"),
        autoescape=True,
        finalize=_clean_value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _clean_value(value: object) -> object:
    """Return a value as a text without control characters; HTML is unchanged."""
    return value if hasattr(value, "__html__") else replace_controls(str(value))


def read_asset(name: str) -> str:
    """Return the text of a file of this package."""
    return resources.files("cube2net.evaluation.report").joinpath(name).read_text(encoding="utf-8")


def format_policy(scripts: Iterable[str]) -> str:
    """Return the page's Content-Security-Policy: only these scripts run, and nothing is loaded.

    >>> format_policy([""])[:83]
    "default-src 'none'; script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    """
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def format_json(data: Any) -> str:
    """Return JSON for a script element that is not run; no text in it can become a tag.

    >>> format_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    return _escape_json(json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False))


def _escape_json(text: str) -> str:
    """Return JSON with characters that are special or invalid in HTML as escape sequences."""
    return UNSAFE_IN_HTML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _read_plotly_script() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs()).replace("\r\n", "\n")


def select_measures(comparison: Comparison) -> list[str]:
    """Return the measures of the page's table of scores: of precision and recall, only those at the first K."""
    omitted = {f"{letter}@{k}" for letter in "PR" for k in KS[1:]}
    return [name for name in comparison.measures if name not in omitted]


def _list_sections(report: Report, figures: _Figures) -> Iterator[tuple[str, Any]]:
    """Yield the sections of the page in order: the key of the template's macro, and its contents."""
    comparison, estimates, highlighted = report.comparison, report.estimates, report.highlighted
    yield "compared", _list_facts(comparison)
    if report.verdict.differences:
        yield "differences", _make_difference_tables(report)
    scores = make_score_table(comparison, estimates, measures=select_measures(comparison), best=highlighted)
    scores = replace(scores, notes=(*scores.notes, *(f"{note}." for note in report.verdict.notes.values())))
    by_size = figures.add(
        plot_by_size(comparison, estimates, best=highlighted), "Score against the size of the network"
    )
    yield "scores", {"table": Layout(scores), "by_size": by_size}
    lines = [(model, plot_by_cells(comparison, estimates, model=model)) for model in list_shown_models(comparison)]
    plots = [figures.add(figure, f"{comparison.measures[0]}, {model}") for model, figure in lines if figure]
    if plots:
        yield "sweep", plots
    if comparison.task == "links":
        panels = plot_link_panels(comparison, estimates, best=highlighted)
        plots = [figures.add(figure, title) for title, figure in panels.items()]
        yield "panels", {"figures": plots, "floor": FLOOR if list_floor_trials(comparison) else ""}
    yield "costs", Layout(make_cost_table(comparison, estimates, best=highlighted))
    if report.drawings:
        networks = [(drawing.title, *plot_network(drawing)) for drawing in report.drawings]
        yield "network", [figures.add(figure, title, note) for title, figure, note in networks]
    if report.cells is not None and report.cells.rows:
        yield "cells", Layout(report.cells)
    settings = {name: _format_setting(value) for name, value in comparison.settings.items()}
    yield "repeat", {"command": report.command, "settings": settings}


def _list_facts(comparison: Comparison) -> dict[str, str]:
    """Return the task, the query and the counts of a comparison, as texts by name."""
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


def _make_difference_tables(report: Report) -> dict[str, Any]:
    verdict, models = report.verdict, describe_deciding_models(report.comparison)
    alone = make_difference_table(verdict.differences, "Differences to the query alone", models=models)
    title = "Differences to others made as large"
    baselines = make_difference_table(verdict.baseline_differences, title, peers=True, models=models)
    return {"alone": Layout(alone), "peers": Layout(baselines) if baselines.rows else None, "best": verdict.best}


def _list_scores(report: Report) -> dict[str, list[str]]:
    """Return the scores at the top of the page, by name: mean, low and high, of the best and of the query alone."""
    model, alone = list_shown_models(report.comparison)[0], find_alone(report.comparison)
    scores = {}
    for measure in report.comparison.main_measures:
        configs = {} if report.highlighted == alone else {f"its {measure}": report.highlighted}
        for name, config in {**configs, f"{measure} of the query alone": alone}.items():
            score = report.estimates.get((config, model, measure)) if config else None
            if score is not None:
                scores[name] = [format_cell(value, "score") for value in (score.mean, score.low, score.high)]
    return scores


def _list_sizes(report: Report) -> dict[str, str]:
    """Return the sizes at the top of the page, by name: the nodes of the best and of the query alone."""
    configs = {"nodes": report.highlighted, "nodes of the query": find_alone(report.comparison)}
    nodes = {name: report.comparison.nodes(config) if config else math.nan for name, config in configs.items()}
    return {
        name: format_cell(int(count) if count == int(count) else count, "count")
        for name, count in nodes.items()
        if not math.isnan(count)
    }


def _format_setting(value: Any) -> str:
    """Return a setting as text: mappings with a line for each entry, lists separated by commas.

    >>> _format_setting({"line": "Line()", "m": [10, 20]})
    'line: Line()\\nm: 10, 20'
    """
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_format_setting(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_format_setting(inner) for inner in value)
    return str(value)


@dataclass(frozen=True)
class Entry:
    """A line of a figure's legend: the group of traces that it switches on and off, and its looks."""

    name: str
    group: str
    on: bool
    shape: str
    light: str
    dark: str
    rim: str


@dataclass(frozen=True)
class Figure:
    """A plotly figure as the page shows it: its element, legend, note and data."""

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
        """Return a plotly figure as the page shows it."""
        self.count += 1
        entries = tuple(_make_entry(trace) for trace in figure.data if trace.name and trace.showlegend is not False)
        data = _escape_json(figure.to_json())
        return Figure(f"figure-{self.count}", title, note, int(figure.layout.height), entries, data)


def _make_entry(trace: Any) -> Entry:
    line = getattr(trace, "mode", "") and "lines" in trace.mode
    colour = trace.line.color if line else trace.marker.color
    shape = "line" if line else "square" if trace.type == "bar" or trace.marker.symbol == "square" else "dot"
    rim = RIM if colour in (PAPER, CELL) else "transparent"
    on = trace.visible != "legendonly"
    return Entry(trace.name, trace.legendgroup, on, shape, colour, DARK.get(colour, colour), rim)


MAX_DRAWN_NODES = 4_000
"""Larger networks are not drawn, since they are not readable."""


def illustrate(report: Report, make: Make) -> Report:
    """Return a report with drawings and the table of its cells; ``make`` makes the networks of configurations.

    It has the network that helps, or else the highlighted one and the query alone; none if they cannot be made.
    """
    comparison, config = report.comparison, report.verdict.shown
    if config is None:
        return report
    trials = [trial for model in comparison.models for trial in comparison.of(config, model)]
    first = min(trials, key=lambda trial: trial.seed)
    try:
        network = make(config, first.seed, first.nodes if config.like else None)
    except Cube2netError:
        return report
    networks = {config.title: network}
    if not report.verdict.helps:
        role = ", the best of the others" if config != report.verdict.best else ""
        role = ", the default" if config.name == comparison.settings.get("default") else role
        networks = {
            config.title + role: network,
            "the query alone": make(comparison.alone, min(comparison.seeds), None),
        }
    drawings = [
        Drawing(each, layout(each), title=title) for title, each in networks.items() if len(each) <= MAX_DRAWN_NODES
    ]
    cells = make_cell_table(network) if len(network.selection.cells) else None
    return replace(report, drawings=tuple(drawings), cells=cells)


FILES = ("report.html", "trials.csv", "scores.csv", "costs.csv", "results.json", "cells.csv")
FIELDS = ("method", "objective", "form", "n_cells", "like", "levels", "n_neighbors", "membership_weights")


def write_report_files(report: Report, folder: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Write the files of a report into a folder, all or none, and return their paths.

    ``report.html`` is the page; ``trials.csv`` has a row for every trial, ``scores.csv``, ``costs.csv`` and
    ``cells.csv`` are the complete tables, ``results.json`` holds the verdict and its numbers. ``spreadsheet_safe``
    escapes cells of the tables that spreadsheets would run as formulas.
    """
    folder = Path(folder)
    comparison, estimates, best = report.comparison, report.estimates, report.verdict.best
    texts = {
        "report.html": render_page(report),
        "trials.csv": format_trials(comparison, spreadsheet_safe=spreadsheet_safe),
        "scores.csv": make_score_table(comparison, estimates, best=best).to_csv(spreadsheet_safe=spreadsheet_safe),
        "costs.csv": make_cost_table(comparison, estimates, best=best).to_csv(spreadsheet_safe=spreadsheet_safe),
        "results.json": json.dumps(list_results(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n",
    }
    if report.cells is not None:
        texts["cells.csv"] = report.cells.to_csv(spreadsheet_safe=spreadsheet_safe)
    with explain_disk_errors(folder, "make the folder"):
        folder.mkdir(parents=True, exist_ok=True)
    data = {folder / name: text.encode("utf-8", "replace") for name, text in texts.items()}
    return write_files({path: partial(_write_bytes, content) for path, content in data.items()})


def _write_bytes(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def format_trials(comparison: Comparison, *, spreadsheet_safe: bool = False) -> str:
    """Return the trials as CSV: configuration, model and seed, scores, sizes, seconds, and why scores are missing."""
    parts = list(dict.fromkeys(part for trial in comparison.trials for part in trial.seconds))
    header = ["configuration", *FIELDS, "model", "seed", *comparison.measures, "nodes", "links", "loose", "value"]
    lines: list[list[object]] = [[*header, *(f"seconds: {part}" for part in parts), "reason"]]
    for trial in comparison.trials:
        sizes = [None] * 3 if trial.reason else [trial.nodes, trial.links, trial.loose]
        line = [*_to_record(trial.configuration).values(), trial.model, trial.seed]
        line += [trial.scores.get(measure) for measure in comparison.measures]
        lines.append([*line, *sizes, trial.value, *(trial.seconds.get(part) for part in parts), trial.reason])
    return format_csv(lines, spreadsheet_safe=spreadsheet_safe)


def list_results(report: Report) -> dict[str, Any]:
    """Return the verdict, every estimate and difference, and the settings, as plain values for JSON."""
    verdict, comparison = report.verdict, report.comparison
    values = {
        "verdict": {"sentence": verdict.sentence, "best": _to_record(verdict.best), "helps": verdict.helps},
        "task": comparison.task,
        "measures": comparison.measures,
        "models": comparison.models,
        "deciding": comparison.deciding,
        "seeds": comparison.seeds,
        "estimates": [
            {"configuration": config.name, "model": model, "measure": measure, **asdict(estimate)}
            for (config, model, measure), estimate in report.estimates.items()
        ],
        "differences": [_describe_difference(each) for each in verdict.differences],
        "same_size": [_describe_difference(each) for each in verdict.baseline_differences],
        "configurations": [_to_record(config) for config in comparison.configurations],
        "failed": {config.name: why for config in comparison.configurations if (why := comparison.reasons(config))},
        "degenerate": [
            {**asdict(result), "configuration": result.configuration.name, "note": note}
            for result, note in verdict.notes.items()
        ],
        "settings": dict(comparison.settings),
        "command": report.command,
    }
    return {name: _to_json(value) for name, value in values.items()}


def _to_record(config: Configuration) -> dict[str, object]:
    return {"name": config.name, **{name: getattr(config, name) for name in FIELDS}}


def _describe_difference(each: Difference) -> dict[str, object]:
    return {**asdict(each), "one": each.one.name, "other": each.other.name, "is_significant": each.is_significant}


def _to_json(value: Any) -> Any:
    """Return a value for JSON: NumPy as plain values, not finite numbers as None, other objects as text."""
    if isinstance(value, Mapping):
        return {str(name): _to_json(inner) for name, inner in value.items()}
    if hasattr(value, "tolist"):
        return _to_json(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [_to_json(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
