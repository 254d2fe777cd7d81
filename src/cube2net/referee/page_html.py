"""Tables as HTML: headings in groups, the first column always in sight, long ones folded."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from itertools import groupby

from cube2net.escaping import holdable
from cube2net.referee.page_table import Cell, Column, Row, Table, is_empty, shown
from cube2net.referee.statistics import Estimate

WIDE, TALL = 220, 18


def text(value: object) -> str:
    """Return a text that HTML shows as it stands, between tags and inside quotes.

    >>> text('<b> "x" & y')
    '&lt;b&gt; &quot;x&quot; &amp; y'
    """
    return html.escape(holdable(str(value)))


def html_table(table: Table, *, fold: str = "The other {} rows") -> str:
    """Return a table with its notes; of a long one the main rows, and the others behind a line to open.

    >>> print(html_table(Table("Sizes", (Column("setup"), Column("nodes", style="count")), (Row(("none", 116)),))))
    <div class="scroll" tabindex="0" role="region" aria-label="Sizes"><table class="setups">
    <thead><tr><th scope="col">setup</th><th scope="col" class="n">nodes</th></tr></thead>
    <tbody>
    <tr><th scope="row">none</th><td class="n">116</td></tr>
    </tbody></table></div>
    """
    best = [_best(table.rows, place, column) for place, column in enumerate(table.columns)]
    scale = _scale(table)
    main = [row for row in table.rows if row.main] if table.folded else list(table.rows)
    parts = [_box(table, main, best, scale)]
    if table.folded:
        rest = [row for row in table.rows if not row.main]
        parts.append(
            f"<details><summary>{text(fold.format(f'{len(rest):,}'))}</summary>\n"
            f"{_box(table, rest, best, scale)}</details>"
        )
    if table.notes:
        parts.append(f'<p class="note">{" ".join(text(note) for note in table.notes)}</p>')
    return "\n".join(parts)


def _box(table: Table, rows: Sequence[Row], best: Sequence[float | None], scale: float) -> str:
    kind = "setups" if table.columns[0].style == "text" else "ranks"
    lines = [_cells(row, table.columns, best, scale) for row in rows]
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(table.title)}"><table class="{kind}">\n'
        f"<thead>{_head(table.columns)}</thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def _head(columns: Sequence[Column]) -> str:
    """Return the heading: one line, or two where columns share a heading."""
    if not any(column.group for column in columns):
        return f"<tr>{''.join(_heading(column) for column in columns)}</tr>"
    above, below = [], []
    for group, shared in groupby(columns, key=lambda column: column.group):
        names = list(shared)
        if group:
            above.append(f'<th scope="colgroup" colspan="{len(names)}" class="g">{text(group)}</th>')
            below += [_heading(column, first=column is names[0]) for column in names]
        else:
            above += [_heading(column, 'rowspan="2" ') for column in names]
    return f"<tr>{''.join(above)}</tr><tr>{''.join(below)}</tr>"


def _heading(column: Column, span: str = "", *, first: bool = False) -> str:
    kinds = _class(n=column.style != "text", first=first)
    return f'<th {span}scope="col"{kinds}>{text(column.name)}</th>'


def _cells(row: Row, columns: Sequence[Column], best: Sequence[float | None], scale: float) -> str:
    first = text(row.short or shown(row.cells[0], columns[0].style))
    missing = bool(row.reason) and is_empty(row)
    if row.reason and not missing:
        first += f'<span class="why">{text(row.reason)}</span>'
    cells = [f'<th scope="row"{_class(n=columns[0].style != "text")}>{first}</th>']
    if missing:
        cells.append(f'<td class="why" colspan="{len(columns) - 1}"><span>{text(row.reason)}</span></td>')
    else:
        for place in range(1, len(columns)):
            column, cell = columns[place], row.cells[place]
            new = place > 1 and columns[place - 1].group != column.group
            kinds = _class(n=column.style != "text", first=new, best=_number(cell) == best[place])
            cells.append(f"<td{kinds}>{_cell(cell, column, scale, sure=row.sure)}</td>")
    return f"<tr{_class(peer=bool(row.short), chosen=row.chosen)}>{''.join(cells)}</tr>"


def _cell(cell: Cell, column: Column, scale: float, *, sure: bool) -> str:
    if not isinstance(cell, Estimate):
        return text(shown(cell, column.style))
    mean, low, high = (shown(value, column.style) for value in (cell.mean, cell.low, cell.high))
    if math.isnan(cell.low):
        return f'<span class="mean">{mean}</span>'
    numbers = f'<span class="mean">{mean}</span> <span class="ends">[{low}, {high}]</span>'
    if column.style != "change":
        return numbers
    return f'<span class="drawn">{_whisker(cell, scale, sure=sure)}<span>{numbers}</span></span>'


def _whisker(cell: Estimate, scale: float, *, sure: bool) -> str:
    """Return an interval as a small drawing, all of a table to one scale, with a line at 0."""
    x = [round(WIDE / 2 + value / scale * (WIDE / 2 - 4), 1) for value in (cell.low, cell.mean, cell.high)]
    side = "level" if not sure else "up" if cell.mean > 0 else "down"
    middle = TALL / 2
    return (
        f'<svg class="whisker {side}" viewBox="0 0 {WIDE} {TALL}" width="{WIDE}" height="{TALL}" aria-hidden="true">'
        f'<path class="zero" d="M{WIDE / 2} 0V{TALL}"/><path d="M{x[0]} {middle}H{x[2]}"/>'
        f'<circle cx="{x[1]}" cy="{middle}" r="3.6"/></svg>'
    )


def _scale(table: Table) -> float:
    """Return the largest distance from 0 that an interval of the table reaches."""
    ends = [
        abs(end)
        for row in table.rows
        for cell in row.cells
        if isinstance(cell, Estimate)
        for end in (cell.low, cell.high)
        if math.isfinite(end)
    ]
    return max(ends, default=0.0) or 1.0


def _best(rows: Iterable[Row], place: int, column: Column) -> float | None:
    numbers = [number for row in rows if not math.isnan(number := _number(row.cells[place]))]
    return {"high": max, "low": min}[column.best](numbers) if column.best and len(numbers) > 1 else None


def _number(cell: Cell) -> float:
    """Return the number that a cell is compared by, nan where it has none."""
    value = cell.mean if isinstance(cell, Estimate) else cell
    return float(value) if isinstance(value, int | float) else math.nan


def _class(**kinds: bool) -> str:
    named = " ".join(name for name, given in kinds.items() if given)
    return f' class="{named}"' if named else ""
