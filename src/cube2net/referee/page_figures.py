"""The figures of a page: a place for each, its data beside it, and a legend of its own that wraps."""

from __future__ import annotations

from typing import Any

from cube2net.referee.page_html import text
from cube2net.referee.page_looks import CELL, DARK, PAPER, RIM
from cube2net.referee.page_script import guarded


class Figures:
    """Numbers the figures of a page as they are added."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, figure: Any, title: str, note: str) -> str:
        """Return the HTML of a plotly figure: where the script draws it, its legend, its data and a note."""
        self.count += 1
        key = f"figure-{self.count}"
        named = _named(figure)
        off = [trace for trace in named if trace.visible == "legendonly"]
        legend = _legend([trace for trace in named if trace.visible != "legendonly"])
        if off:
            legend += f"<details><summary>{len(off):,} more</summary>{_legend(off)}</details>"
        said = f"<h3>{text(title)}</h3>" if title else ""
        return (
            f'<figure class="card">{said}'
            f'<div class="plot" data-figure="{key}" style="min-height:{int(figure.layout.height)}px">'
            '<noscript><p class="empty">This figure needs scripts; the tables say the same in numbers.</p></noscript>'
            f"</div>"
            + legend
            + (f'<p class="note">{text(note.strip())}</p>' if note.strip() else "")
            + f'<script type="application/json" id="{key}">{guarded(figure.to_json())}</script></figure>'
        )


def _legend(traces: list[Any]) -> str:
    entries = "".join(f"<li>{_entry(trace)}</li>" for trace in traces)
    return f'<ul class="legend">{entries}</ul>' if entries else ""


def _named(figure: Any) -> list[Any]:
    return [trace for trace in figure.data if trace.name and trace.showlegend is not False]


def _entry(trace: Any) -> str:
    """Return a line of the legend, which turns what it names on and off; names come escaped, as plotly takes them."""
    line = getattr(trace, "mode", "") and "lines" in trace.mode
    colour = trace.line.color if line else trace.marker.color
    rim = RIM if colour in (PAPER, CELL) else "transparent"
    shape = "line" if line else "square" if trace.type == "bar" or trace.marker.symbol == "square" else "dot"
    paint = f"--light:{colour};--dark:{DARK.get(colour, colour)};--r:{rim}"
    pressed = "false" if trace.visible == "legendonly" else "true"
    return (
        f'<button type="button" disabled aria-pressed="{pressed}" data-group="{text(trace.legendgroup)}">'
        f'<span class="swatch {shape}" style="{text(paint)}"></span>{trace.name}</button>'
    )
