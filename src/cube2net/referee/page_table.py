"""A table as a record: title, columns, rows and notes, written as CSV, Markdown or HTML."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cube2net.escaping import write_rows
from cube2net.referee.statistics import Estimate

Cell = str | int | float | Estimate | None

MOST_ROWS = 25
NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """One column: its name, the heading it shares with its neighbours, how its numbers are written, which is best.

    ``style`` is text, score, change (a score with its sign), chance (a p-value), number, count or seconds; ``best`` is
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
    that is ``sure`` is drawn in colour.
    """

    cells: tuple[Cell, ...]
    reason: str = ""
    short: str = ""
    main: bool = True
    chosen: bool = False
    sure: bool = False


@dataclass(frozen=True)
class Table:
    """A title, columns, rows and notes, in the order to be read.

    >>> columns = (Column("setup"), Column("F1", style="score"))
    >>> table = Table("Scores", columns, (Row(("none", Estimate(0.5, 0.4, 0.6, 9))),))
    >>> print(table.markdown())
    **Scores**
    <BLANKLINE>
    | setup | F1 |
    | :--- | ---: |
    | none | 0.500 [0.400, 0.600] |
    >>> print(table.csv())
    setup,F1,F1 low,F1 high
    none,0.5,0.4,0.6
    """

    title: str
    columns: tuple[Column, ...]
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


def csv_text(lines: Iterable[Sequence[object]], *, spreadsheet_safe: bool = False) -> str:
    """Return rows as comma-separated text; what is missing or not a number is empty."""
    out = io.StringIO(newline="")
    rows = (["" if cell is None or cell != cell else cell for cell in line] for line in lines)
    write_rows(out, rows, spreadsheet_safe=spreadsheet_safe)
    return out.getvalue()


def shown(cell: Cell, style: str) -> str:
    """Return a cell as people read it.

    >>> shown(Estimate(0.0412, 0.02, 0.06, 10), "change"), shown(0.00004, "chance"), shown(12345, "count")
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
    if style == "chance" and cell < 0.001:
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
