"""The tables of the report: scores, costs, differences and cells, as records that become CSV, Markdown or HTML."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from cube2net._util.text import write_rows
from cube2net.evaluation.statistics import ALL, Difference, Estimate, Estimates, list_shown_models
from cube2net.model.comparison import FLOOR, Comparison, Configuration, Trial
from cube2net.model.network import Network

Cell = str | int | float | Estimate | None

MOST_ROWS = 25
NOTHING = "–"

# How wide the small drawing of an interval is (in table.html too), and how much of it on either side is left free.
WIDE, EDGE = 220, 4


@dataclass(frozen=True)
class TableColumn:
    """One column: its name, the heading it shares with its neighbours, how its numbers are written, which is best.

    ``style`` is text, score, change (a score with its sign), p-value, number, count or seconds; ``best`` is
    high, low or nothing.
    """

    name: str
    group: str = ""
    style: str = "text"
    best: str = ""

    @property
    def key(self) -> str:
        """The name for a file of rows, where no heading stands above it."""
        return f"{self.group}: {self.name}" if self.group else self.name


@dataclass(frozen=True)
class Row:
    """One row; ``reason`` says what is missing, ``short`` is the first cell for a row that belongs to the one above.

    Rows that are not ``main`` are folded away where the table is long; ``chosen`` is the row to look at; a difference
    that is ``significant`` is drawn in colour.
    """

    cells: tuple[Cell, ...]
    reason: str = ""
    short: str = ""
    main: bool = True
    chosen: bool = False
    significant: bool = False


@dataclass(frozen=True)
class Table:
    """A title, columns, rows and notes, in the order to be read.

    >>> columns = (TableColumn("configuration"), TableColumn("F1", style="score"))
    >>> table = Table("Scores", columns, (Row(("none", Estimate(0.5, 0.4, 0.6, 9))),))
    >>> print(table.markdown())
    **Scores**
    <BLANKLINE>
    | configuration | F1 |
    | :--- | ---: |
    | none | 0.500 [0.400, 0.600] |
    >>> print(table.csv())
    configuration,F1,F1 low,F1 high
    none,0.5,0.4,0.6
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def csv(self, *, spreadsheet_safe: bool = False) -> str:
        """Return the table for a spreadsheet: full numbers, and an interval's ends in columns of their own."""
        wide = [any(isinstance(row.cells[i], Estimate) for row in self.rows) for i in range(len(self.columns))]
        reasons = any(row.reason for row in self.rows)
        header: list[object] = []
        for column, interval in zip(self.columns, wide, strict=True):
            header += [column.key, f"{column.key} low", f"{column.key} high"] if interval else [column.key]
        lines: list[list[object]] = [header + ["reason"] * reasons]
        for row in self.rows:
            line: list[object] = []
            for cell, interval in zip(row.cells, wide, strict=True):
                ends = [cell.mean, cell.low, cell.high] if isinstance(cell, Estimate) else [cell, None, None]
                line += ends if interval else [cell]
            lines.append(line + [row.reason] * reasons)
        return csv_text(lines, spreadsheet_safe=spreadsheet_safe)

    def markdown(self) -> str:
        """Return the table for a page of text."""
        lines = [f"**{_plain(self.title)}**", ""] if self.title else []
        lines.append(_line(column.key for column in self.columns))
        lines.append(_line(":---" if column.style == "text" else "---:" for column in self.columns))
        for row in self.rows:
            cells = [shown(cell, column.style) for cell, column in zip(row.cells, self.columns, strict=True)]
            if row.reason:
                cells[-1 if is_empty(row) else 0] += f" ({row.reason})"
            lines.append(_line(cells))
        lines += [text for note in self.notes for text in ("", _plain(note))]
        return "\n".join(lines) + "\n"

    @property
    def folded(self) -> bool:
        """Whether the table is so long that only its main rows are shown at first."""
        return len(self.rows) > MOST_ROWS and not all(row.main for row in self.rows)


@dataclass(frozen=True)
class Head:
    """A heading as a page shows it: over ``wide`` columns where it is shared, ``tall`` where it has two lines."""

    text: str
    kinds: str = ""
    wide: int = 0
    tall: bool = False


@dataclass(frozen=True)
class Whisker:
    """Where the ends and the mean of an interval are drawn, and its ``side`` of 0 where it is sure: up, down, level."""

    low: float
    mean: float
    high: float
    side: str


@dataclass(frozen=True)
class ShownCell:
    """A cell as a page shows it; ``kinds`` are the classes of its looks."""

    text: str
    kinds: str
    is_mean: bool = False
    ends: str = ""
    whisker: Whisker | None = None


@dataclass(frozen=True)
class ShownRow:
    """A row as a page shows it: its first cell, and the others, none where all that there is is a ``reason``."""

    head: ShownCell
    cells: tuple[ShownCell, ...]
    reason: str
    kinds: str


class Layout:
    """A table as a page shows it: its headings, the lines seen at first, and the rest, which a long one folds away."""

    def __init__(self, table: Table) -> None:
        self.title, self.notes, self.wide = table.title, " ".join(table.notes), len(table.columns)
        self.kind = "configurations" if table.columns[0].style == "text" else "ranks"
        self.heads = _heads(table.columns)
        best, reach = [_best(table, place) for place in range(self.wide)], _reach(table)
        lines = [(row.main, _line_of(row, table.columns, best, reach)) for row in table.rows]
        self.first = [line for main, line in lines if main or not table.folded]
        self.rest = [line for main, line in lines if not main and table.folded]


def _heads(columns: Sequence[TableColumn]) -> list[list[Head]]:
    """Return the lines of the heading: one, or two where columns share a heading."""
    if not any(column.group for column in columns):
        return [[Head(column.name, _kinds(n=column.style != "text")) for column in columns]]
    above: list[Head] = []
    below: list[Head] = []
    for group, shared in groupby(columns, key=lambda column: column.group):
        names = list(shared)
        kinds = [_kinds(n=column.style != "text", first=bool(group) and column is names[0]) for column in names]
        if group:
            above.append(Head(group, wide=len(names)))
        line = below if group else above
        line += [Head(column.name, kind, tall=not group) for column, kind in zip(names, kinds, strict=True)]
    return [above, below]


def _line_of(row: Row, columns: Sequence[TableColumn], best: Sequence[float | None], reach: float) -> ShownRow:
    head = ShownCell(row.short or shown(row.cells[0], columns[0].style), _kinds(n=columns[0].style != "text"))
    cells = []
    for place in range(1, len(columns) if not (row.reason and is_empty(row)) else 1):
        column, cell = columns[place], row.cells[place]
        new = place > 1 and columns[place - 1].group != column.group
        kinds = _kinds(n=column.style != "text", first=new, best=_number(cell) == best[place])
        cells.append(_shown_cell(cell, column, kinds, reach, significant=row.significant))
    return ShownRow(head, tuple(cells), row.reason, _kinds(peer=bool(row.short), chosen=row.chosen))


def _shown_cell(cell: Cell, column: TableColumn, kinds: str, reach: float, *, significant: bool) -> ShownCell:
    if not isinstance(cell, Estimate):
        return ShownCell(shown(cell, column.style), kinds)
    mean, low, high = (shown(value, column.style) for value in (cell.mean, cell.low, cell.high))
    if math.isnan(cell.low):
        return ShownCell(mean, kinds, is_mean=True)
    whisker = _whisker(cell, reach, significant=significant) if column.style == "change" else None
    return ShownCell(mean, kinds, is_mean=True, ends=f"[{low}, {high}]", whisker=whisker)


def _whisker(cell: Estimate, reach: float, *, significant: bool) -> Whisker:
    low, mean, high = (
        round(WIDE / 2 + value / reach * (WIDE / 2 - EDGE), 1) for value in (cell.low, cell.mean, cell.high)
    )
    return Whisker(low, mean, high, "level" if not significant else "up" if cell.mean > 0 else "down")


def _reach(table: Table) -> float:
    """Return the largest distance from 0 that an interval of the table reaches."""
    cells = (cell for row in table.rows for cell in row.cells if isinstance(cell, Estimate))
    ends = [abs(end) for cell in cells for end in (cell.low, cell.high) if math.isfinite(end)]
    return max(ends, default=0.0) or 1.0


def _best(table: Table, place: int) -> float | None:
    """Return the best number of a column, None where no number is better than another."""
    way = table.columns[place].best
    numbers = [number for row in table.rows if not math.isnan(number := _number(row.cells[place]))]
    return {"high": max, "low": min}[way](numbers) if way and len(numbers) > 1 else None


def _number(cell: Cell) -> float:
    """Return the number that a cell is compared by, nan where it has none."""
    value = cell.mean if isinstance(cell, Estimate) else cell
    return float(value) if isinstance(value, int | float) else math.nan


def _kinds(**kinds: bool) -> str:
    """Return the classes of an element: those that are given.

    >>> _kinds(n=True, first=False, best=True)
    'n best'
    """
    return " ".join(name for name, given in kinds.items() if given)


def csv_text(lines: Iterable[Sequence[object]], *, spreadsheet_safe: bool = False) -> str:
    """Return rows as comma-separated text; what is missing or not a number is empty."""
    out = io.StringIO(newline="")
    rows = (["" if cell is None or cell != cell else cell for cell in line] for line in lines)
    write_rows(out, rows, spreadsheet_safe=spreadsheet_safe)
    return out.getvalue()


def shown(cell: Cell, style: str) -> str:
    """Return a cell as people read it.

    >>> shown(Estimate(0.0412, 0.02, 0.06, 10), "change"), shown(0.00004, "p-value"), shown(12345, "count")
    ('+0.041 [+0.020, +0.060]', '< 0.001', '12,345')
    """
    if isinstance(cell, Estimate):
        mean, low, high = (shown(value, style) for value in (cell.mean, cell.low, cell.high))
        return mean if math.isnan(cell.low) else f"{mean} [{low}, {high}]"
    if cell is None or cell != cell:
        return NOTHING
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
    """Return whether a row has nothing behind its first cell."""
    return all(cell is None for cell in row.cells[1:])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    """Return a text on one line that Markdown does not read as a column or as HTML."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


FIRST = 10
MAKING = {"select": ("weigh", "vectors", "select"), "train": ("train",), "links": ("links",)}


def deciding(comparison: Comparison) -> str:
    """Return the models that decide, in words."""
    if len(comparison.deciding) == 1:
        return comparison.deciding[0]
    lost = [model for model in comparison.models if model not in comparison.deciding]
    return f"all models but {' and '.join(lost)}" if lost else "all models"


def find_alone(comparison: Comparison) -> Configuration | None:
    """Return the configuration of the query alone, None where it was not compared."""
    return next((config for config in comparison.configurations if config.method == "none"), None)


def best_first(comparison: Comparison, known: Estimates) -> list[Configuration]:
    """Return the configurations that have scores by the measure that decides, the highest first."""
    model, measure = list_shown_models(comparison)[0], comparison.measures[0]
    scored = [config for config in comparison.configurations if (config, model, measure) in known]
    return sorted(scored, key=lambda config: -known[config, model, measure].mean)


def ordered(comparison: Comparison) -> list[Configuration]:
    """Return the configurations, those of equal size after the one whose size they have."""
    rows: list[Configuration] = []
    for config in comparison.configurations:
        if not config.like:
            rows += [config, *comparison.peers(config)]
    return rows + [config for config in comparison.configurations if config not in rows]


def main_configurations(
    comparison: Comparison, known: Estimates, best: Configuration | None = None
) -> list[Configuration]:
    """Return the configurations to show first: the best with those of its size, and the best of each method."""
    ranked = best_first(comparison, known)
    chosen = best or next(iter(ranked), comparison.configurations[0])
    wanted = {chosen, *comparison.peers(chosen)}
    wanted.update(config for config in comparison.configurations if config.name == chosen.like)
    for method in dict.fromkeys(config.method for config in comparison.configurations):
        own = [config for config in ranked if config.method == method and not config.like]
        failed = [config for config in comparison.configurations if config.method == method and not config.like]
        wanted.update((own or failed)[:1])
    return [config for config in ordered(comparison) if config in wanted]


def score_table(
    comparison: Comparison,
    known: Estimates,
    *,
    measures: Sequence[str] | None = None,
    best: Configuration | None = None,
) -> Table:
    """Return the scores of every configuration, by measure and model, in the form of the paper's Table II.

    Beside its name stands over how many runs they are means: two numbers where that differs within a row.
    """
    wanted = [
        (measure, model) for measure in measures or comparison.measures for model in list_shown_models(comparison)
    ]
    columns = [TableColumn("configuration"), TableColumn("runs", style="count")]
    columns += [TableColumn(model, measure, "score", "high") for measure, model in wanted]
    cells: dict[Configuration, tuple[Cell, ...]] = {}
    for config in comparison.configurations:
        found = [known.get((config, model, measure)) for measure, model in wanted]
        cells[config] = (_runs(each.runs for each in found if each), *found)
    notes = ["Means over the runs of each row, with 95 % intervals. The highest of a column is bold."]
    if ALL in list_shown_models(comparison):
        models = ", ".join(comparison.deciding)
        notes.append(f"“{ALL}” is the mean over {models}, run by run; runs that lack one of them are left out.")
    if FLOOR in comparison.models and FLOOR not in comparison.deciding:
        notes.append(f"{FLOOR} is the floor: it recommends to all users the same.")
    return Table("Scores", tuple(columns), _configuration_rows(comparison, known, cells, best), tuple(notes))


def cost_table(comparison: Comparison, known: Estimates, *, best: Configuration | None = None) -> Table:
    """Return seconds and sizes of every configuration, means over its runs, in the form of the paper's Table III."""
    making, mining, size = "seconds to make the network", "seconds to mine it", "network"
    columns = [
        TableColumn("configuration"),
        *(TableColumn(name, making, "seconds") for name in [*MAKING, "in all"]),
        *(TableColumn(model, mining, "seconds") for model in comparison.models),
        *(TableColumn(name, size, "count") for name in ("nodes", "links", "links, both ends", "loose")),
    ]
    cells = {config: _costs(comparison, config) for config in comparison.configurations}
    notes = (
        "Means over the runs. “select” includes weighing the objects and, where a method needs them, the cells' "
        "vectors.",
        "A link is counted once; “both ends” counts it twice, as the paper does. “loose” objects of the query have no "
        "link in the network.",
    )
    return Table("Time and size", tuple(columns), _configuration_rows(comparison, known, cells, best), notes)


def difference_table(
    differences: Sequence[Difference], title: str, *, peers: bool = False, models: str = "all models"
) -> Table:
    """Return paired differences with their intervals, p-values and effects, a row for each.

    A row is named by the first configuration of its pair, or with ``peers`` by the second: the one that it is compared
    with. ``models`` are all together, in words.
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
                (found.other if peers else found.one).name,
                Estimate(found.mean, found.low, found.high, found.runs),
                found.p_value,
                found.t_test,
                found.wilcoxon,
                found.effect,
                found.runs,
                "yes" if found.is_significant else "no",
            ),
            main=number < FIRST,
            significant=found.is_significant,
        )
        for number, found in enumerate(differences)
    )
    said = {ALL: models}
    what = ", ".join(dict.fromkeys(f"{found.measure} ({said.get(found.model, found.model)})" for found in differences))
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


def _configuration_rows(
    comparison: Comparison,
    known: Estimates,
    cells: Mapping[Configuration, tuple[Cell, ...]],
    best: Configuration | None,
) -> tuple[Row, ...]:
    main = set(main_configurations(comparison, known, best))
    return tuple(
        Row(
            (config.name, *cells[config]),
            reason="; ".join(comparison.reasons(config)),
            short=_short(comparison, config),
            main=config in main,
            chosen=config == best,
        )
        for config in ordered(comparison)
    )


def _short(comparison: Comparison, config: Configuration) -> str:
    """Return what to call a configuration in the row below the one that it was made as large as."""
    other = next((other for other in comparison.configurations if other.name == config.like), None)
    if other is None:
        return ""
    nodes = comparison.nodes(config)
    same = math.isnan(nodes) or comparison.as_large(config, other)
    return f"{config.method}, same size" if same else f"{config.method}, {nodes:,.0f} nodes"


def _runs(counts: Iterable[int]) -> Cell:
    """Return a number of runs, both ends where there are several.

    >>> _runs([10, 10]), _runs([10, 7]), _runs([])
    (10, '7 to 10', None)
    """
    found = sorted(set(counts))
    return f"{found[0]:,} to {found[-1]:,}" if len(found) > 1 else next(iter(found), None)


def _costs(comparison: Comparison, config: Configuration) -> tuple[Cell, ...]:
    trials = {model: comparison.of(config, model) for model in comparison.models}
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
