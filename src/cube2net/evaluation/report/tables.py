"""The tables of the report: scores, costs, differences and cells, with their output as CSV, Markdown and HTML."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np

from cube2net._util.text import write_rows
from cube2net.evaluation.statistics import ALL, Difference, Estimate, Estimates, list_shown_models
from cube2net.model.comparison import FLOOR, Comparison, Configuration, Trial
from cube2net.model.network import Network

Cell = str | int | float | Estimate | None

MAX_ROWS = 25
EMPTY = "–"

WHISKER_WIDTH, WHISKER_MARGIN = 220, 4
"""Width and margin of the drawing of an interval; the width is repeated in ``table.html``."""


@dataclass(frozen=True)
class TableColumn:
    """A column: its name, a heading shared with neighbouring columns, its format, and which value is best.

    ``style`` is text, score, change (a score with its sign), p-value, number, count or seconds; ``best`` is
    high, low or empty.
    """

    name: str
    group: str = ""
    style: str = "text"
    best: str = ""

    @property
    def key(self) -> str:
        """The name with the shared heading."""
        return f"{self.group}: {self.name}" if self.group else self.name


@dataclass(frozen=True)
class Row:
    """A row; ``reason`` explains missing values, ``short`` replaces the first cell if the row belongs to the one above.

    Rows that are not ``main`` are folded in long tables; a ``chosen`` row is highlighted, and the interval of a
    ``significant`` difference is coloured.
    """

    cells: tuple[Cell, ...]
    reason: str = ""
    short: str = ""
    main: bool = True
    chosen: bool = False
    significant: bool = False


@dataclass(frozen=True)
class Table:
    """A title, columns, rows and notes.

    >>> columns = (TableColumn("configuration"), TableColumn("F1", style="score"))
    >>> table = Table("Scores", columns, (Row(("none", Estimate(0.5, 0.4, 0.6, 9))),))
    >>> print(table.to_markdown())
    **Scores**
    <BLANKLINE>
    | configuration | F1 |
    | :--- | ---: |
    | none | 0.500 [0.400, 0.600] |
    >>> print(table.to_csv())
    configuration,F1,F1 low,F1 high
    none,0.5,0.4,0.6
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def to_csv(self, *, spreadsheet_safe: bool = False) -> str:
        """Return the table as CSV, with all digits and with columns for the ends of intervals."""
        lines: list[list[object]] = [[] for _ in range(1 + len(self.rows))]
        for place, column in enumerate(self.columns):
            cells = [row.cells[place] for row in self.rows]
            width = 3 if any(isinstance(cell, Estimate) for cell in cells) else 1
            lines[0].extend([column.key, f"{column.key} low", f"{column.key} high"][:width])
            for line, cell in zip(lines[1:], cells, strict=True):
                values = [cell.mean, cell.low, cell.high] if isinstance(cell, Estimate) else [cell, None, None]
                line.extend(values[:width])
        if any(row.reason for row in self.rows):
            for line, reason in zip(lines, ["reason", *(row.reason for row in self.rows)], strict=True):
                line.append(reason)
        return format_csv(lines, spreadsheet_safe=spreadsheet_safe)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [f"**{_escape_markdown(self.title)}**", ""] if self.title else []
        lines.append(_join_markdown(column.key for column in self.columns))
        lines.append(_join_markdown(":---" if column.style == "text" else "---:" for column in self.columns))
        for row in self.rows:
            cells = [format_cell(cell, column.style) for cell, column in zip(row.cells, self.columns, strict=True)]
            if row.reason:
                cells[-1 if is_empty(row) else 0] += f" ({row.reason})"
            lines.append(_join_markdown(cells))
        lines += [text for note in self.notes for text in ("", _escape_markdown(note))]
        return "\n".join(lines) + "\n"

    @property
    def is_folded(self) -> bool:
        """Whether the table is long, so that only its main rows are visible at first."""
        return len(self.rows) > MAX_ROWS and not all(row.main for row in self.rows)


@dataclass(frozen=True)
class Head:
    """A heading of the page, over ``wide`` columns if they share it, two lines high if ``tall``."""

    text: str
    kinds: str = ""
    wide: int = 0
    tall: bool = False


@dataclass(frozen=True)
class Whisker:
    """Positions of the ends and the mean of an interval in its drawing; ``side`` is up, down or level."""

    low: float
    mean: float
    high: float
    side: str


@dataclass(frozen=True)
class ShownCell:
    """A cell of the page; ``kinds`` are its CSS classes."""

    text: str
    kinds: str
    is_mean: bool = False
    ends: str = ""
    whisker: Whisker | None = None


@dataclass(frozen=True)
class ShownRow:
    """A row of the page: its first cell, and the others unless there is only a ``reason``."""

    head: ShownCell
    cells: tuple[ShownCell, ...]
    reason: str
    kinds: str


class Layout:
    """A table of the page: its headings, the first rows, and the rows folded away."""

    def __init__(self, table: Table) -> None:
        self.title, self.notes, self.wide = table.title, " ".join(table.notes), len(table.columns)
        self.kind = "configurations" if table.columns[0].style == "text" else "ranks"
        self.heads = _lay_out_heads(table.columns)
        best, reach = [_find_best(table, place) for place in range(self.wide)], _find_reach(table)
        lines = [(row.main, _lay_out_row(row, table.columns, best, reach)) for row in table.rows]
        self.first = [line for main, line in lines if main or not table.is_folded]
        self.rest = [line for main, line in lines if not main and table.is_folded]


def _lay_out_heads(columns: Sequence[TableColumn]) -> list[list[Head]]:
    """Return the lines of the heading: one, or two if columns share a heading."""
    if not any(column.group for column in columns):
        return [[Head(column.name, _join_classes(n=column.style != "text")) for column in columns]]
    above: list[Head] = []
    below: list[Head] = []
    for group, shared in groupby(columns, key=lambda column: column.group):
        names = list(shared)
        kinds = [_join_classes(n=column.style != "text", first=bool(group) and column is names[0]) for column in names]
        if group:
            above.append(Head(group, wide=len(names)))
        line = below if group else above
        line += [Head(column.name, kind, tall=not group) for column, kind in zip(names, kinds, strict=True)]
    return [above, below]


def _lay_out_row(row: Row, columns: Sequence[TableColumn], best: Sequence[float | None], reach: float) -> ShownRow:
    head = ShownCell(
        row.short or format_cell(row.cells[0], columns[0].style), _join_classes(n=columns[0].style != "text")
    )
    cells = []
    for place in range(1, len(columns) if not (row.reason and is_empty(row)) else 1):
        column, cell = columns[place], row.cells[place]
        new = place > 1 and columns[place - 1].group != column.group
        kinds = _join_classes(n=column.style != "text", first=new, best=_get_number(cell) == best[place])
        cells.append(_lay_out_cell(cell, column, kinds, reach, significant=row.significant))
    return ShownRow(head, tuple(cells), row.reason, _join_classes(peer=bool(row.short), chosen=row.chosen))


def _lay_out_cell(cell: Cell, column: TableColumn, kinds: str, reach: float, *, significant: bool) -> ShownCell:
    if not isinstance(cell, Estimate):
        return ShownCell(format_cell(cell, column.style), kinds)
    mean, low, high = (format_cell(value, column.style) for value in (cell.mean, cell.low, cell.high))
    if math.isnan(cell.low):
        return ShownCell(mean, kinds, is_mean=True)
    whisker = _make_whisker(cell, reach, significant=significant) if column.style == "change" else None
    return ShownCell(mean, kinds, is_mean=True, ends=f"[{low}, {high}]", whisker=whisker)


def _make_whisker(cell: Estimate, reach: float, *, significant: bool) -> Whisker:
    low, mean, high = (
        round(WHISKER_WIDTH / 2 + value / reach * (WHISKER_WIDTH / 2 - WHISKER_MARGIN), 1)
        for value in (cell.low, cell.mean, cell.high)
    )
    return Whisker(low, mean, high, "level" if not significant else "up" if cell.mean > 0 else "down")


def _find_reach(table: Table) -> float:
    """Return the largest absolute end of the intervals of a table; 1 without intervals."""
    cells = (cell for row in table.rows for cell in row.cells if isinstance(cell, Estimate))
    ends = [abs(end) for cell in cells for end in (cell.low, cell.high) if math.isfinite(end)]
    return max(ends, default=0.0) or 1.0


def _find_best(table: Table, place: int) -> float | None:
    """Return the best number of a column; None if the column has no best or fewer than two numbers."""
    way = table.columns[place].best
    numbers = [number for row in table.rows if not math.isnan(number := _get_number(row.cells[place]))]
    return {"high": max, "low": min}[way](numbers) if way and len(numbers) > 1 else None


def _get_number(cell: Cell) -> float:
    """Return the number or the mean in a cell, nan without one."""
    value = cell.mean if isinstance(cell, Estimate) else cell
    return float(value) if isinstance(value, int | float) else math.nan


def _join_classes(**kinds: bool) -> str:
    """Return the CSS classes that are true.

    >>> _join_classes(n=True, first=False, best=True)
    'n best'
    """
    return " ".join(name for name, is_set in kinds.items() if is_set)


def format_csv(lines: Iterable[Sequence[object]], *, spreadsheet_safe: bool = False) -> str:
    """Return rows as CSV; None and nan are empty."""
    out = io.StringIO(newline="")
    rows = (["" if cell is None or cell != cell else cell for cell in line] for line in lines)
    write_rows(out, rows, spreadsheet_safe=spreadsheet_safe)
    return out.getvalue()


def format_cell(cell: Cell, style: str) -> str:
    """Return a cell as text.

    >>> format_cell(Estimate(0.0412, 0.02, 0.06, 10), "change"), format_cell(12345, "count")
    ('+0.041 [+0.020, +0.060]', '12,345')
    """
    if isinstance(cell, Estimate):
        mean, low, high = (format_cell(value, style) for value in (cell.mean, cell.low, cell.high))
        return mean if math.isnan(cell.low) else f"{mean} [{low}, {high}]"
    if cell is None or cell != cell:
        return EMPTY
    if isinstance(cell, str):
        return cell
    if math.isinf(cell):
        return "∞" if cell > 0 else "\N{MINUS SIGN}∞"
    if style == "p-value" and cell < 0.001:
        return "< 0.001"
    if style == "seconds" and 0 < cell < 0.005:
        return "< 0.01"
    if style == "seconds":
        return f"{cell:,.0f}" if cell >= 100 else f"{cell:.1f}" if cell >= 10 else f"{cell:.2f}"
    if style == "count":
        return f"{cell:,.0f}" if isinstance(cell, int) or cell >= 100 else f"{cell:,.1f}"
    if style == "change":
        return f"{cell:+.3f}".replace("-", "\N{MINUS SIGN}")
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.3f}".replace("-", "\N{MINUS SIGN}")


def is_empty(row: Row) -> bool:
    """Return whether a row has no values."""
    return all(cell is None for cell in row.cells[1:])


def _join_markdown(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_escape_markdown(cell) for cell in cells) + " |"


def _escape_markdown(text: str) -> str:
    """Return a text on one line in which | and HTML are escaped."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


MAX_MAIN_ROWS = 10
SIZES = ("nodes", "links", "loose")
STAGES = {"select": ("weigh", "vectors", "select"), "train": ("train",), "links": ("links",)}


def describe_deciding_models(comparison: Comparison) -> str:
    """Return the names of the models that decide, or which do not."""
    if len(comparison.deciding) == 1:
        return comparison.deciding[0]
    others = [model for model in comparison.models if model not in comparison.deciding]
    return f"all models but {' and '.join(others)}" if others else "all models"


def find_alone(comparison: Comparison) -> Configuration | None:
    """Return the configuration of the query alone; None if it was not compared."""
    return next((config for config in comparison.configurations if config.method == "none"), None)


def rank_configurations(comparison: Comparison, estimates: Estimates) -> list[Configuration]:
    """Return the configurations with scores, by the first measure, highest first."""
    model, measure = list_shown_models(comparison)[0], comparison.measures[0]
    scored = [config for config in comparison.configurations if (config, model, measure) in estimates]
    return sorted(scored, key=lambda config: -estimates[config, model, measure].mean)


def order_configurations(comparison: Comparison) -> list[Configuration]:
    """Return the configurations, each followed by its baselines of equal size."""
    rows: list[Configuration] = []
    for config in comparison.configurations:
        if not config.like:
            rows += [config, *comparison.peers(config)]
    return rows + [config for config in comparison.configurations if config not in rows]


def select_main_configurations(
    comparison: Comparison, estimates: Estimates, best: Configuration | None = None
) -> list[Configuration]:
    """Return the configurations to show first: the best with its baselines, and the best of each method."""
    ranked = rank_configurations(comparison, estimates)
    chosen = best or next(iter(ranked), comparison.configurations[0])
    wanted = {chosen, *comparison.peers(chosen)}
    wanted.update(config for config in comparison.configurations if config.name == chosen.like)
    first: dict[str, Configuration] = {}
    for config in (*ranked, *comparison.configurations):
        if not config.like:
            first.setdefault(config.method, config)
    wanted.update(first.values())
    return [config for config in order_configurations(comparison) if config in wanted]


def make_score_table(
    comparison: Comparison,
    estimates: Estimates,
    *,
    measures: Sequence[str] | None = None,
    best: Configuration | None = None,
) -> Table:
    """Return the scores of every configuration by measure and model, in the form of the paper's Table II.

    The column of runs has the number of runs of the means, or the range of these numbers.
    """
    wanted = [
        (measure, model) for measure in measures or comparison.measures for model in list_shown_models(comparison)
    ]
    columns = [TableColumn("configuration"), TableColumn("runs", style="count")]
    columns += [TableColumn(model, measure, "score", "high") for measure, model in wanted]
    cells: dict[Configuration, tuple[Cell, ...]] = {}
    for config in comparison.configurations:
        scores = [estimates.get((config, model, measure)) for measure, model in wanted]
        cells[config] = (_format_run_counts(score.runs for score in scores if score), *scores)
    notes = ["Means over the runs of each row, with 95 % intervals. The highest of a column is bold."]
    if ALL in list_shown_models(comparison):
        models = ", ".join(comparison.deciding)
        notes.append(f"“{ALL}” is the mean over {models}, run by run; runs that lack one of them are left out.")
    if FLOOR in comparison.models and FLOOR not in comparison.deciding:
        notes.append(f"{FLOOR} is the floor: it recommends the same to all users.")
    return Table("Scores", tuple(columns), _make_rows(comparison, estimates, cells, best), tuple(notes))


def make_cost_table(comparison: Comparison, estimates: Estimates, *, best: Configuration | None = None) -> Table:
    """Return the mean seconds and sizes of every configuration, in the form of the paper's Table III."""
    making, mining, size = "seconds to make the network", "seconds to mine it", "network"
    columns = [
        TableColumn("configuration"),
        *(TableColumn(name, making, "seconds") for name in [*STAGES, "in all"]),
        *(TableColumn(model, mining, "seconds") for model in comparison.models),
        *(TableColumn(name, size, "count") for name in ("nodes", "links", "links, both ends", "loose")),
    ]
    cells = {config: _compute_costs(comparison, config) for config in comparison.configurations}
    notes = (
        "Means over the runs. “select” includes weighing the objects and, where a method needs them, the cells' "
        "vectors.",
        "A link is counted once; “both ends” counts it twice, as the paper does. “loose” objects of the query have no "
        "link in the network.",
    )
    return Table("Time and size", tuple(columns), _make_rows(comparison, estimates, cells, best), notes)


def make_difference_table(
    differences: Sequence[Difference], title: str, *, peers: bool = False, models: str = "all models"
) -> Table:
    """Return a table of paired differences with intervals, p-values and effects.

    A row has the name of the first configuration of its pair, or with ``peers`` of the second. ``models`` is the text
    for all models together.
    """
    columns = (
        TableColumn("compared with" if peers else "configuration"),
        TableColumn("difference", style="change"),
        TableColumn("bootstrap", "p after Holm", "p-value"),
        TableColumn("t-test", "p after Holm", "p-value"),
        TableColumn("Wilcoxon", "p after Holm", "p-value"),
        TableColumn("effect", style="change"),
        TableColumn("runs", style="count"),
        TableColumn("significant"),
    )
    rows = tuple(
        Row(
            (
                (each.other if peers else each.one).name,
                Estimate(each.mean, each.low, each.high, each.runs),
                *(each.p_value, each.t_test, each.wilcoxon, each.effect, each.runs),
                "yes" if each.is_significant else "no",
            ),
            main=number < MAX_MAIN_ROWS,
            significant=each.is_significant,
        )
        for number, each in enumerate(differences)
    )
    names = {ALL: models}
    measures = dict.fromkeys(f"{each.measure} ({names.get(each.model, each.model)})" for each in differences)
    notes = (
        f"Differences of {', '.join(measures)}, paired by run, with {describe_interval(len(differences))}: a "
        "difference is sure when its interval excludes 0. The effect is Cohen's d of the differences.",
        *(() if peers else ("Networks that are equal in every run are listed once.",)),
    )
    return Table(title, columns, rows, notes if rows else ())


def describe_interval(count: int) -> str:
    """Return the name of the interval of one of several differences.

    >>> describe_interval(14), describe_interval(1)
    ('the 95 % interval corrected for the 14 compared', 'the 95 % interval')
    """
    return f"the 95 % interval corrected for the {count:,} compared" if count > 1 else "the 95 % interval"


def make_cell_table(network: Network) -> Table:
    """Return the chosen cells in order, in the form of the paper's Table IV."""
    memberships = network.brought_by.indices[: network.brought_by.indptr[len(network.query)]]
    in_query = np.bincount(memberships, minlength=len(network.labels)).tolist()
    columns = (
        TableColumn("rank", style="count"),
        *(TableColumn(name) for name in network.dimensions),
        TableColumn("objects", style="count"),
        TableColumn("in the query", style="count"),
        TableColumn("value so far", style="number"),
    )
    rows = [
        Row((rank, *labels, size, count, value), main=rank <= MAX_MAIN_ROWS)
        for rank, (labels, size, count, value) in enumerate(
            zip(network.labels, network.cell_objects, in_query, network.selection.values.tolist(), strict=True), 1
        )
    ]
    return Table("Chosen cells", columns, tuple(rows))


def _make_rows(
    comparison: Comparison,
    estimates: Estimates,
    cells: Mapping[Configuration, tuple[Cell, ...]],
    best: Configuration | None,
) -> tuple[Row, ...]:
    main = set(select_main_configurations(comparison, estimates, best))
    return tuple(
        Row(
            (config.name, *cells[config]),
            reason="; ".join(comparison.reasons(config)),
            short=_shorten_name(comparison, config),
            main=config in main,
            chosen=config == best,
        )
        for config in order_configurations(comparison)
    )


def _shorten_name(comparison: Comparison, config: Configuration) -> str:
    """Return the name of a baseline in the row below the configuration whose size it has; else an empty text."""
    other = next((other for other in comparison.configurations if other.name == config.like), None)
    if other is None:
        return ""
    nodes = comparison.nodes(config)
    has_same_size = math.isnan(nodes) or comparison.as_large(config, other)
    return f"{config.method}, same size" if has_same_size else f"{config.method}, {nodes:,.0f} nodes"


def _format_run_counts(counts: Iterable[int]) -> Cell:
    """Return a number of runs, or the range of several; None without any.

    >>> _format_run_counts([10, 10]), _format_run_counts([10, 7]), _format_run_counts([])
    (10, '7 to 10', None)
    """
    ascending = sorted(set(counts))
    return f"{ascending[0]:,} to {ascending[-1]:,}" if len(ascending) > 1 else next(iter(ascending), None)


def _compute_costs(comparison: Comparison, config: Configuration) -> tuple[Cell, ...]:
    trials = [comparison.of(config, model) for model in comparison.models]
    every = list(chain(*trials))
    if not every:
        return (None,) * (len(STAGES) + 1 + len(trials) + 4)
    making = [compute_mean(sum_seconds(trial, parts) for trial in every) for parts in STAGES.values()]
    mining = [compute_mean(sum_seconds(trial, ("mine",)) for trial in of_model) for of_model in trials]
    nodes, links, loose = (
        compute_mean(getattr(trial, name) for trial in every) for name in ("nodes", "links", "loose")
    )
    return (*making, sum(making), *mining, nodes, links, 2 * links, loose)


def sum_seconds(trial: Trial, parts: Iterable[str]) -> float:
    """Return the seconds of some parts of a trial together."""
    return sum(float(trial.seconds.get(part, 0.0)) for part in parts)


def compute_mean(values: Iterable[float]) -> float:
    """Return the mean, nan without values; the value itself if all are equal, so that integers stay integers."""
    numbers = list(values)
    if len(set(numbers)) == 1:
        return numbers[0]
    return sum(numbers) / len(numbers) if numbers else math.nan
