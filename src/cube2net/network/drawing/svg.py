"""A small SVG picture of a network for pages and notebooks, without scripts and without Matplotlib.

It looks like Matplotlib's picture, and follows the light or dark mode of its reader's screen.
"""

from __future__ import annotations

import html
from dataclasses import replace
from unicodedata import east_asian_width

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import shorten
from cube2net.model.network import Drawing, Network
from cube2net.network.drawing.picture import (
    COLOURS,
    CaptionPlacer,
    Group,
    compute_diameters,
    fit_frame,
    format_size,
    group_links,
    group_nodes,
    select_links,
)

UNIT = 10
"""Units per pixel: integers are short, and fine enough."""
MARGIN, LINE, LETTERS = 12.0, 19.0, 11.0
"""The margin, the height of a line of the legend, and the height of letters, in pixels."""
MAX_LINKS = 4_000
"""Links that are drawn, those within the query and the heaviest first."""
MAX_DETAILED_NODES = 2_000
"""Larger networks are drawn as dots without rims, and only cells are named."""
DARK = ("#4DA3E0", "#F08A3C", "#33C59A", "#E59CC4", "#F2B640", "#8CCBF2")
"""The colours of :data:`~cube2net.network.drawing.picture.COLOURS` on a dark background."""
STEPS = 5
"""Steps of the strength of links: links that look the same are one path."""
SHAPES = {
    "s": "m-{0}-{0}h{1}v{1}h-{1}z",
    "^": "m0-{0}l{0} {1}h-{1}z",
    "v": "m0 {0}l{0}-{1}h-{1}z",
    "D": "m0-{0}l{0} {0}l-{0} {0}l-{0}-{0}z",
}
"""Paths of the nodes that are no circles, given half their size and their size."""
DRAWING_ORDER = ("other", "cell", "query")


def draw_svg(drawing: Drawing, *, width: int = 760) -> str:
    """Return a picture of a network as the text of an SVG file of a width in pixels."""
    network, groups = drawing.network, group_nodes(drawing.network)
    title = shorten(drawing.title, 80)
    centre, extent, pixels = fit_frame(drawing.places, width, MARGIN)
    top = MARGIN + (2.2 * LINE if title else 0.0)
    height = float(pixels * extent[1])
    dots = np.array([width / 2, top + height / 2]) + (drawing.places - centre) * np.array([pixels, -pixels])
    frame = np.array([[MARGIN / 2, top - MARGIN / 2], [width - MARGIN / 2, top + height + MARGIN / 2]])
    sizes = compute_diameters(network, groups, pixels, 1.6)
    count = len(network.source)
    links = select_links(network, np.arange(count), MAX_LINKS)
    note = "" if len(links) == count else f"{len(links):,} of {count:,} links are drawn"
    heading = ""
    if title:
        heading = _format_text(title, MARGIN, MARGIN + 0.7 * LINE, "t")
        heading += _format_text(format_size(network, " · "), MARGIN, MARGIN + 1.6 * LINE, "f")
    legend, bottom = _format_legend(groups, note, width, top + height + MARGIN, len(network))
    drawn = sorted(groups, key=lambda group: DRAWING_ORDER.index(group.role))
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom:.0f}" ',
            f'viewBox="0 0 {width * UNIT} {bottom * UNIT:.0f}" role="img">',
            f"<title>{_escape(title or f'a network of {format_size(network)}')}</title>{_format_style()}",
            '<rect class="g" width="100%" height="100%" rx="60"/>',
            heading,
            _format_links(network, dots, groups, links),
            "".join(_format_nodes(group, dots, float(sizes[group.nodes[0]]), len(network)) for group in drawn),
            _format_names(network, dots, sizes, frame),
            legend,
            "</svg>",
        )
    )


def _format_style() -> str:
    """Return the style sheet, for a light and a dark background."""
    light = {"ground": "#fff", "ink": "#222", "faint": "#555", "rim": "#8c8c8c", "cell": "#f3dfa2"}
    dark = {"ground": "#17191d", "ink": "#e8e8e8", "faint": "#a8a8a8", "rim": "#9a9a9a", "cell": "#75642a"}

    def looks(of: dict[str, str], colours: tuple[str, ...]) -> str:
        lines = "".join(f".l{i}{{stroke:{c}}}.q{i}{{fill:{c};stroke:{c}}}" for i, c in enumerate(colours))
        return (
            f".g{{fill:{of['ground']}}}text{{fill:{of['ink']}}}.n{{stroke:{of['ground']}}}.lx{{stroke:{of['faint']}}}"
            f".qx{{fill:{of['faint']};stroke:{of['faint']}}}.h{{fill:{of['ground']};stroke:{of['ground']}}}"
            f".c{{fill:{of['cell']};stroke:{of['rim']}}}.r{{stroke:{of['rim']};fill:{of['rim']}}}"
            f".w{{stroke:{of['ground']};fill:{of['ground']}}}{lines}"
        )

    return (
        f"<style>text{{font:{LETTERS * UNIT:.0f}px system-ui,sans-serif}}.n{{paint-order:stroke;stroke-width:25;"
        f"stroke-linejoin:round}}.i{{font-style:italic}}.f{{opacity:.75}}.t{{font-size:140px;font-weight:600}}.p{{fill:none;stroke-linecap:round}}"
        f"{looks(light, COLOURS)}@media(prefers-color-scheme:dark){{{looks(dark, DARK)}}}</style>"
    )


def _format_links(network: Network, dots: Array, groups: list[Group], links: Array) -> str:
    """Return the paths of links, one for links that look the same."""
    paths = []
    for group in group_links(network, groups, links):
        steps = np.rint(group.strengths * STEPS).astype(int)
        for step, colour in sorted(set(zip(steps.tolist(), group.colours.tolist(), strict=True))):
            rows = group.links[(group.colours == colour) & (steps == step)]
            ends = np.rint(np.hstack([dots[network.source[rows]], dots[network.target[rows]]]) * UNIT).astype(int)
            path = "".join(f"M{a} {b}L{c} {d}" for a, b, c, d in ends.tolist())
            width, opacity = 10 * group.compute_width(step / STEPS), group.compute_opacity(step / STEPS)
            paths.append(
                f'<path class="p l{"x" if colour < 0 else colour}" d="{path}" stroke-width="{width:.0f}"'
                f' opacity="{opacity:.2f}"/>'
            )
    return "".join(paths)


def _format_nodes(group: Group, dots: Array, size: float, count: int) -> str:
    """Return the paths of a group of nodes: their rims, and their insides above."""
    is_simple = count > MAX_DETAILED_NODES
    size, rim = size * group.size * UNIT, 0.0 if is_simple else min(0.8, size / 10) * UNIT
    places = np.rint(dots[group.nodes] * UNIT).astype(int).tolist()
    if group.role == "query":
        inner, outer = f"q{COLOURS.index(group.colour) if group.colour in COLOURS else 'x'}", "w"
    elif group.role == "cell":
        inner, outer = "c", "r"
    else:
        inner, outer = "r" if is_simple else "h", "r"
    if group.shape not in SHAPES:
        path = "".join(f"M{x} {y}h0" for x, y in places)
        below = f'<path class="p {outer}" d="{path}" stroke-width="{size + 2 * rim:.0f}"/>' if rim else ""
        return f'{below}<path class="p {inner}" d="{path}" stroke-width="{size:.0f}"/>'
    shape = SHAPES[group.shape].format(round(size / 2), 2 * round(size / 2))
    path = "".join(f"M{x} {y}{shape}" for x, y in places)
    below = f'<path class="{outer}" d="{path}" stroke-width="{2 * rim:.0f}"/>' if rim else ""
    return f'{below}<path class="{inner}" d="{path}" stroke-width="0"/>'


def _format_names(network: Network, dots: Array, sizes: Array, frame: Array) -> str:
    """Return the names that find a free place."""
    placer, height = CaptionPlacer(network, dots, sizes / 2, frame, 1.0), 1.15 * LETTERS

    def measure(node: int, name: str) -> tuple[float, float]:
        lines = name.split("\n")
        return max(map(_estimate_width, lines)), height * len(lines)

    shown = []
    for node, name, middle in placer.place_names(measure, cells_only=len(network) > MAX_DETAILED_NODES):
        lines = name.split("\n")
        x, y = middle[0] * UNIT, (middle[1] - height / 2 * len(lines) + 0.85 * LETTERS) * UNIT
        spans = "".join(
            f'<tspan x="{x:.0f}" y="{y + height * UNIT * at:.0f}">{_escape(line)}</tspan>'
            for at, line in enumerate(lines)
        )
        style = " i" if node >= len(network.objects) else "" if network.in_query[node] else " f"
        shown.append(f'<text class="n{style}" text-anchor="middle">{spans}</text>')
    return "".join(shown)


def _format_legend(groups: list[Group], note: str, width: int, top: float, count: int) -> tuple[str, float]:
    """Return the legend and the position of its lower end."""
    parts, left, line = [], MARGIN, top
    for group in groups:
        length = 20 + _estimate_width(group.text) + 14
        if left > MARGIN and left + length > width - MARGIN:
            left, line = MARGIN, line + LINE
        node = _format_nodes(replace(group, nodes=np.array([0])), np.array([[left + 7, line + LINE / 2]]), 9.0, count)
        parts.append(node + _format_text(group.text, left + 18, line + 0.72 * LINE))
        left += length
    if note:
        line += LINE
        parts.append(_format_text(note, MARGIN, line + 0.72 * LINE, "f"))
    return "".join(parts), line + LINE + MARGIN


def _format_text(text: str, x: float, y: float, style: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x * UNIT:.0f}" y="{y * UNIT:.0f}">{_escape(text)}</text>'


def _estimate_width(text: str) -> float:
    """Return the width of a line of text in pixels, a fifth more than most fonts need.

    >>> _estimate_width("ab") < _estimate_width("語") * 2
    True
    """
    return LETTERS * sum(1.02 if east_asian_width(sign) in "WF" else 0.58 for sign in text)


def _escape(text: str) -> str:
    return html.escape(shorten(text, 200))
