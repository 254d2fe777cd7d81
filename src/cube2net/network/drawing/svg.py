"""A light picture of a network for pages and notebooks: SVG that needs no package and carries no script.

It looks as that of Matplotlib does, and is light or dark as its reader's screen is.
"""

from __future__ import annotations

import html
from unicodedata import east_asian_width

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import short
from cube2net.model.network import Drawing, Network
from cube2net.network.drawing.picture import (
    COLOURS,
    FEWEST_UNITS,
    LINKS,
    LONGEST,
    Group,
    Room,
    compute_diameters,
    describe_picture,
    format_subtitle,
    group_nodes,
    link_classes,
    number_groups,
    strengths,
    wanted_names,
    wordings,
)
from cube2net.network.export.plain_tables import texts

UNIT = 10
"""So many units of the picture make a pixel: whole numbers are short, and fine enough."""

MARGIN, LINE, LETTERS = 12.0, 19.0, 11.0
"""In pixels: what is free around all, a line of the legend, and the height of letters."""

TALLEST = 0.8
MOST_LINKS = 4_000
"""So many links are drawn, those inside the query and the heaviest first."""

MANY = 2_000
"""Above so many nodes they are dots without a rim, and only cells are named."""

DARK = ("#4DA3E0", "#F08A3C", "#33C59A", "#E59CC4", "#F2B640", "#8CCBF2")
"""The colours of :data:`~cube2net.network.drawing.picture.COLOURS` on a dark ground."""

STEPS = 5
"""Links are drawn in so many steps from the lightest to the heaviest: those that look the same are one path."""

SHAPES = {
    "s": "m-{0}-{0}h{1}v{1}h-{1}z",
    "^": "m0-{0}l{0} {1}h-{1}z",
    "v": "m0 {0}l{0}-{1}h-{1}z",
    "D": "m0-{0}l{0} {0}l-{0} {0}l-{0}-{0}z",
}
"""How a node that is no circle is drawn about its place, for half its size and its whole size."""


def draw_svg(drawing: Drawing, *, width: int = 760) -> str:
    """Return a picture of a network as the text of an SVG file, so many pixels wide."""
    network, groups = drawing.network, group_nodes(drawing.network)
    title = short(drawing.title, 80)
    low, high = drawing.places.min(axis=0) - 0.7, drawing.places.max(axis=0) + 0.7
    across, down = np.maximum(high - low, (FEWEST_UNITS, FEWEST_UNITS / 4))
    pixels = float(min((width - 2 * MARGIN) / across, TALLEST * width / down))
    top = MARGIN + (2.2 * LINE if title else 0.0)
    tall = float(pixels * down)
    middle = np.array([width / 2, top + tall / 2])
    dots = middle + (drawing.places - (low + high) / 2) * np.array([pixels, -pixels])
    frame = np.array([[MARGIN / 2, top - MARGIN / 2], [width - MARGIN / 2, top + tall + MARGIN / 2]])
    sizes = compute_diameters(network, groups, pixels, 1.6)
    drawn = _drawn_links(network)
    legend, height = _legend(groups, _left_out(network, drawn), width, top + tall + MARGIN, len(network))
    heading = _heading(network, title) if title else ""
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}" ',
            f'viewBox="0 0 {width * UNIT} {height * UNIT:.0f}" role="img">',
            f"<title>{_escaped(title or describe_picture(network))}</title>{_style()}",
            '<rect class="g" width="100%" height="100%" rx="60"/>',
            heading,
            _links(network, dots, groups, drawn),
            "".join(_nodes(group, dots, float(sizes[group.nodes[0]]), len(network)) for group in _upwards(groups)),
            _names(network, dots, sizes, frame),
            legend,
            "</svg>",
        )
    )


def _style() -> str:
    """Return the looks of the picture's parts, on a light ground and on a dark one."""
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


def _upwards(groups: list[Group]) -> list[Group]:
    """Return the groups in the order they are drawn in: other objects, cells, the query."""
    return sorted(groups, key=lambda group: ("other", "cell", "query").index(group.role))


def _drawn_links(network: Network) -> Array:
    """Return the numbers of the links to draw."""
    inside = np.maximum(network.source, network.target) < len(network.query)
    order = np.lexsort((-network.weight, ~inside))
    return np.sort(order[:MOST_LINKS])


def _left_out(network: Network, drawn: Array) -> str:
    if len(drawn) == len(network.source):
        return ""
    return f"{len(drawn):,} of {len(network.source):,} links are drawn"


def _links(network: Network, dots: Array, groups: list[Group], drawn: Array) -> str:
    """Return the links: faint ones first, thicker inside the query and the heavier, in the colour of a shared label."""
    source, target = network.source[drawn], network.target[drawn]
    colour = np.full(len(network), -1)
    for group in groups:
        if group.role == "query" and group.colour in COLOURS:
            colour[group.nodes] = COLOURS.index(group.colour)
    group_of = number_groups(network, groups)
    ends = (source < len(network.query)).astype(int) + (target < len(network.query))
    steps = np.rint(strengths(network)[drawn] * STEPS).astype(int)
    shared = np.where((ends == 2) & (group_of[source] == group_of[target]), colour[source], -1)
    parts = []
    classes = link_classes(network)[drawn]
    for kind, look in LINKS.items():
        chosen = classes == kind
        crowd = min(1.0, (1000 / max(int(chosen.sum()), 1)) ** 0.5)
        for step, tint in sorted(set(zip(steps[chosen].tolist(), shared[chosen].tolist(), strict=True))):
            these = chosen & (shared == tint) & (steps == step)
            thick, strong = 10 * look.width(step / STEPS), look.ink(step / STEPS)
            ways = np.rint(np.hstack([dots[source[these]], dots[target[these]]]) * UNIT).astype(int)
            path = "".join(f"M{a} {b}L{c} {d}" for a, b, c, d in ways.tolist())
            parts.append(
                f'<path class="p l{"x" if tint < 0 else tint}" d="{path}" stroke-width="{thick * max(crowd, 0.5):.0f}"'
                f' opacity="{strong * crowd:.2f}"/>'
            )
    return "".join(parts)


def _nodes(group: Group, dots: Array, size: float, count: int) -> str:
    """Return the nodes of a group: a rim in one colour, and what is inside in another."""
    whole, rim = size * group.size * UNIT, 0.0 if count > MANY else min(0.8, size / 10) * UNIT
    places = np.rint(dots[group.nodes] * UNIT).astype(int).tolist()
    inner, outer = _classes(group)
    if group.role == "other" and count > MANY:
        inner, outer = "r", "r"
    if group.shape not in SHAPES:
        path = "".join(f"M{x} {y}h0" for x, y in places)
        below = f'<path class="p {outer}" d="{path}" stroke-width="{whole + 2 * rim:.0f}"/>' if rim else ""
        return f'{below}<path class="p {inner}" d="{path}" stroke-width="{whole:.0f}"/>'
    shape = SHAPES[group.shape].format(round(whole / 2), 2 * round(whole / 2))
    path = "".join(f"M{x} {y}{shape}" for x, y in places)
    below = f'<path class="{outer}" d="{path}" stroke-width="{2 * rim:.0f}"/>' if rim else ""
    return f'{below}<path class="{inner}" d="{path}" stroke-width="0"/>'


def _classes(group: Group) -> tuple[str, str]:
    """Return the looks of what is inside a node, and of its rim."""
    if group.role == "query":
        return f"q{COLOURS.index(group.colour) if group.colour in COLOURS else 'x'}", "w"
    return ("c", "r") if group.role == "cell" else ("h", "r")


def _names(network: Network, dots: Array, sizes: Array, frame: Array) -> str:
    """Return the names of cells, of the best linked objects of the query and of others that find a free place."""
    room = Room.of(network, dots, sizes / 2, frame, 1.0)
    names, shown = texts(network.nodes, "name"), []
    for node, is_cell in wanted_names(network):
        if len(network) > MANY and not is_cell:
            break
        for wording in wordings(names[node]) if is_cell else [short(names[node], LONGEST)]:
            lines = wording.split("\n")
            place = room.take(node, max(map(_wide, lines)), 1.15 * LETTERS * len(lines))
            if place is not None:
                x, y = place[0] * UNIT, (place[1] - 0.575 * LETTERS * len(lines) + 0.85 * LETTERS) * UNIT
                spans = "".join(
                    f'<tspan x="{x:.0f}" y="{y + 1.15 * LETTERS * UNIT * at:.0f}">{_escaped(line)}</tspan>'
                    for at, line in enumerate(lines)
                )
                looks = " i" if is_cell else "" if network.in_query[node] else " f"
                shown.append(f'<text class="n{looks}" text-anchor="middle">{spans}</text>')
                break
    return "".join(shown)


def _legend(groups: list[Group], more: str, width: int, top: float, count: int) -> tuple[str, float]:
    """Return the legend in as many lines as it takes, and where it ends."""
    parts, left, line = [], MARGIN, top
    for group in groups:
        text, wide = group.text, 20 + _wide(group.text) + 14
        if left > MARGIN and left + wide > width - MARGIN:
            left, line = MARGIN, line + LINE
        spot = np.array([[left + 7, line + LINE / 2]])
        single = Group(text, np.array([0]), group.role, group.colour, group.shape, group.rim)
        parts.append(_nodes(single, spot, 9.0, count) + _text(text, left + 18, line + 0.72 * LINE))
        left += wide
    if more:
        line += LINE
        parts.append(_text(more, MARGIN, line + 0.72 * LINE, "f"))
    return "".join(parts), line + LINE + MARGIN


def _heading(network: Network, title: str) -> str:
    size = format_subtitle(network)
    return _text(title, MARGIN, MARGIN + 0.7 * LINE, "t") + _text(size, MARGIN, MARGIN + 1.6 * LINE, "f")


def _text(text: str, x: float, y: float, looks: str = "") -> str:
    named = f' class="{looks}"' if looks else ""
    return f'<text{named} x="{x * UNIT:.0f}" y="{y * UNIT:.0f}">{_escaped(text)}</text>'


def _wide(text: str) -> float:
    """Return about how many pixels a line of letters takes: a fifth more than most fonts need.

    >>> _wide("ab") < _wide("語") * 2
    True
    """
    return LETTERS * sum(1.02 if east_asian_width(sign) in "WF" else 0.58 for sign in text)


def _escaped(text: str) -> str:
    return html.escape(short(text, 200))
