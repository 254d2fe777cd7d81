"""How the referee's plots look, on a light page and on a dark one."""

from __future__ import annotations

import html
from typing import Any

from cube2net.escaping import holdable

INK, MUTED, GRID, PAPER, RIM, FAINT, CELL = "#1f2328", "#63676e", "#e3e1dc", "#ffffff", "#8c8c8c", "#c4c2bd", "#f3dfa2"
LABELS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow and black."""

COLOURS = (*LABELS, "#882255", "#999933", "#6B5BB5")
DARK = {
    INK: "#e8e6e1",
    MUTED: "#a3a6ab",
    GRID: "#34373c",
    PAPER: "#1b1e22",
    RIM: "#9a9da3",
    FAINT: "#55585e",
    CELL: "#8a742c",
    "#0072B2": "#3F9BE0",
    "#56B4E9": "#A8DCFF",
    "#D55E00": "#F0813A",
    "#009E73": "#2FC49A",
    "#882255": "#C65B93",
    "#6B5BB5": "#9D8FE6",
}
"""What each colour becomes on a dark page; the others serve on both."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


def safe(text: str, most: int = 80) -> str:
    """Return a text on one line, cut where it is long, that plotly shows as it stands.

    >>> safe("<b>A & B</b>")
    '&lt;b&gt;A &amp; B&lt;/b&gt;'
    """
    line = " ".join(holdable(text).split())
    return html.escape(line if len(line) <= most else line[: most - 1].rstrip() + "…", quote=False)


def faint(colour: str, alpha: float) -> str:
    """Return a colour that lets shine through what is behind it.

    >>> faint("#0072B2", 0.2)
    'rgba(0,114,178,0.2)'
    """
    return "rgba({},{},{},{})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)), alpha)


def blank(**layout: Any) -> Any:
    """Return an empty figure with our looks: no background, our letters, room for nothing but the plot."""
    import plotly.graph_objects as go

    looks = {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13, "color": INK},
        "margin": {"l": 56, "r": 12, "t": 34, "b": 48},
        "hoverlabel": {"bgcolor": PAPER, "bordercolor": RIM, "font": {"color": INK, "family": FONT, "size": 13}},
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": RIM, "activecolor": INK},
        "height": 380,
    }
    return go.Figure(layout=looks | layout)
