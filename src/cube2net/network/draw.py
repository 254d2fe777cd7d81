"""A picture of a network: the query in colour, other objects in white, cells as squares."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.arguments import expect
from cube2net.array_types import Array
from cube2net.atomic_files import check_path, write_files
from cube2net.escaping import short
from cube2net.extras import require
from cube2net.network.captions import MOST_CELLS, add_captions, installed_fonts, quiet
from cube2net.network.export.plain_tables import texts
from cube2net.network.layout import layout
from cube2net.records import Network

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

PICTURES = (".png", ".svg", ".pdf")
WIDTH, DPI, MARGIN = 10.0, 160, 0.15
INK = "#222222"
FEWEST_UNITS = 16.0
ROOM = {"query": 1.0, "other": 0.6, "cell": 1.3}
LARGEST = {"query": 11.0, "other": 7.0, "cell": 13.0}
ABOVE = {"other": 2, "cell": 3, "query": 4}

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow and black."""

SHAPES = {"o": 1.0, "^": 1.0, "D": 0.8, "v": 1.0}
"""Where labels are more than colours, the next shape; each with its size, so that all look equally large."""

GREY, RIM, CELL = "#555555", "#8C8C8C", "#F3DFA2"


@dataclass(frozen=True)
class LinkLook:
    """How links of a kind are drawn: width in points and opacity, of the lightest and of the heaviest."""

    thin: float
    thick: float
    pale: float
    dark: float

    def width(self, strength: Any) -> Any:
        """Return the width of links of some strengths."""
        return self.thin + (self.thick - self.thin) * strength

    def ink(self, strength: Any) -> Any:
        """Return the opacity of links of some strengths."""
        return self.pale + (self.dark - self.pale) * strength


LINKS = {
    "other": LinkLook(0.45, 1.2, 0.25, 0.7),
    "member": LinkLook(0.6, 0.6, 0.4, 0.4),
    "one": LinkLook(0.5, 1.6, 0.4, 0.85),
    "query": LinkLook(1.4, 3.0, 0.8, 1.0),
}
"""The looks of links by what they join, those below first: no object of the query, a cell, one of the query, two."""


def link_classes(network: Network) -> Array:
    """Return of every link what it joins: a word of :data:`LINKS`."""
    ends = (network.source < len(network.query)).astype(int) + (network.target < len(network.query))
    member = np.maximum(network.source, network.target) >= len(network.objects)
    return np.where(member, "member", np.array(["other", "one", "query"])[ends])


def strengths(network: Network) -> Array:
    """Return how heavy every link between objects is by what the source says, from 0 to 1; 0 where all weigh the same.

    Memberships have no strength. A link of a quarter of the heaviest's weight has about half its strength.
    """
    among = np.maximum(network.source, network.target) < len(network.objects)
    weight = np.asarray(network.weight[among] if network.given is None else network.given, dtype=np.float64)
    found = np.zeros(len(network.weight))
    if len(weight) and weight.max() > weight.min():
        found[among] = np.sqrt((weight - weight.min()) / (weight.max() - weight.min()))
    return found


def check_picture_path(path: Path) -> None:
    """Raise where no picture can be drawn to a path, before any work is done for it."""
    check_path(path, PICTURES, "picture")
    require("a picture", "matplotlib")


def draw(
    network: Network, path: str | Path, *, seed: int = 0, title: str | None = None, name_cells: bool = False
) -> Path:
    """Return the path of the picture, PNG, SVG or PDF by its suffix; the same seed makes the same picture."""
    expect(Network, network, "network")
    path = Path(path)
    check_picture_path(path)
    kind = path.suffix.lower()[1:]

    def save(aside: Path) -> None:
        _save(figure(network, seed=seed, title=title, name_cells=name_cells), kind, aside)

    return write_files({path: save})[0]


@quiet()
def figure(network: Network, *, seed: int = 0, title: str | None = None, name_cells: bool = False) -> Figure:
    """Return the picture as a Matplotlib figure of its own, 1,600 pixels wide, for further work."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    place = layout(network, seed=seed)
    groups = groups_of(network)
    fonts = installed_fonts()
    picture = Figure(figsize=(WIDTH, WIDTH), dpi=DPI, facecolor="white")
    FigureCanvasAgg(picture)
    below = _legend(picture, groups, fonts).get_window_extent().height / DPI + 2 * MARGIN
    above = 0.62 if title else MARGIN
    low, high = place.min(axis=0) - 0.7, place.max(axis=0) + 0.7
    width, height = np.maximum(high - low, (FEWEST_UNITS, FEWEST_UNITS / 4))
    inches = min((WIDTH - 2 * MARGIN) / width, 0.8 * WIDTH / height)
    tall = above + inches * height + below
    picture.set_size_inches(WIDTH, tall)
    if title:
        _heading(picture, network, short(title, 80), tall, fonts)
    axes = picture.add_axes((0, below / tall, 1, inches * height / tall))
    middle = (low + high) / 2
    axes.set_xlim(middle[0] - WIDTH / inches / 2, middle[0] + WIDTH / inches / 2)
    axes.set_ylim(middle[1] - height / 2, middle[1] + height / 2)
    axes.set_axis_off()
    _links(axes, network, place, groups)
    sizes = _nodes(axes, network, place, groups, 72 * inches)
    add_captions(axes, network, place, sizes, fonts, name_cells=name_cells)
    return picture


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that look the same, and the line of the legend that says what they are."""

    text: str
    nodes: Array
    role: str
    colour: str
    shape: str = "o"
    rim: str = RIM

    @property
    def size(self) -> float:
        """The size its shape is drawn at."""
        return SHAPES.get(self.shape, 1.0)


def groups_of(network: Network) -> list[Group]:
    """Return the groups of nodes in the order of the legend: labels by name, then objects without, then cells."""
    node = np.arange(len(network))
    labels = np.array(texts(network.nodes, "label"), dtype=np.str_)
    inside = network.in_query
    counts = Counter(labels[inside & (labels != "")].tolist())
    shown = sorted(name for name, _ in counts.most_common(len(COLOURS) * len(SHAPES)))
    groups = [
        Group(
            f"{short(name, 40)} ({counts[name]:,})",
            node[labels == name],
            "query",
            COLOURS[number % len(COLOURS)],
            list(SHAPES)[number // len(COLOURS)],
            "white",
        )
        for number, name in enumerate(shown)
    ]
    rest = node[inside & ~np.isin(labels, shown)]
    if not counts:
        groups.append(Group(f"query ({len(rest):,})", rest, "query", COLOURS[0], rim="white"))
    elif len(rest):
        others = f"{len(counts) - len(shown):,} other labels" if len(counts) > len(shown) else "query without a label"
        groups.append(Group(f"{others} ({len(rest):,})", rest, "query", GREY, rim="white"))
    objects = node[~inside & (node < len(network.objects))]
    if len(objects):
        what = "near objects" if network.form == "woven" else "other objects"
        groups.append(Group(f"{what} ({len(objects):,})", objects, "other", "white"))
    if len(network.cells):
        groups.append(Group(f"cells ({len(network.cells):,})", node[len(network.objects) :], "cell", CELL, "s"))
    return groups


def _legend(picture: Figure, groups: list[Group], fonts: list[str]) -> Legend:
    """Return the legend at the foot of the picture, in as few lines as fit its width."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], ls="", marker=group.shape, ms=7.5 * group.size, mfc=group.colour, mec=group.rim, mew=0.6)
        for group in groups
    ]
    for lines in range(1, len(groups) + 1):
        legend = picture.legend(
            handles,
            [" "] * len(groups),
            loc="lower center",
            bbox_to_anchor=(0.5, 0),
            borderaxespad=0.9,
            ncols=-(-len(groups) // lines),
            frameon=False,
            prop={"family": fonts, "size": 9},
            handletextpad=0.2,
            columnspacing=1.4,
            labelcolor=INK,
        )
        for line, group in zip(legend.get_texts(), groups, strict=True):
            line.set_parse_math(False)
            line.set_text(group.text)
        if lines == len(groups) or legend.get_window_extent().width <= (WIDTH - 2 * MARGIN) * DPI:
            break
        legend.remove()
    return legend


def _heading(picture: Figure, network: Network, title: str, tall: float, fonts: list[str]) -> None:
    size = str(network).partition("(")[2].rstrip(")").replace(", ", " · ")
    left = MARGIN / WIDTH
    style: dict[str, Any] = {"ha": "left", "va": "top", "parse_math": False, "fontfamily": fonts}
    picture.text(left, 1 - MARGIN / tall, title, fontsize=13, color=INK, fontweight="bold", **style)
    picture.text(left, 1 - (MARGIN + 0.26) / tall, size, fontsize=9, color=GREY, **style)


def _links(axes: Axes, network: Network, place: Array, groups: list[Group]) -> None:
    """Draw the links: faint among other objects, thicker inside the query, in the colour of a shared label.

    The heavier, the thicker and darker; where all links of a kind weigh the same, long ones are paler.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    source, target = network.source, network.target
    group_of = np.zeros(len(network), dtype=np.int64)
    for number, group in enumerate(groups):
        group_of[group.nodes] = number
    colours = np.array([group.colour for group in groups])
    classes, strength = link_classes(network), strengths(network)
    length = np.linalg.norm(place[source] - place[target], axis=1)
    for order, (kind, look) in enumerate(LINKS.items()):
        chosen = np.flatnonzero(classes == kind)
        chosen = chosen[np.argsort(strength[chosen], kind="stable")]
        a, b, heavy = source[chosen], target[chosen], strength[chosen]
        crowd = min(1.0, np.sqrt(1000 / max(len(chosen), 1)))
        fade = np.ones(len(chosen))
        if len(a) and heavy[0] == heavy[-1]:
            fade = np.clip(np.median(length[chosen]) / np.maximum(length[chosen], 1e-9), 0.4, 1.0)
        tints = np.where((kind == "query") & (group_of[a] == group_of[b]), colours[group_of[a]], GREY)
        axes.add_collection(
            LineCollection(
                list(np.stack([place[a], place[b]], axis=1)),
                colors=[to_rgba(tint, ink) for tint, ink in zip(tints, look.ink(heavy) * crowd * fade, strict=True)],
                linewidths=look.width(heavy) * max(crowd, 0.5),
                capstyle="round",
                zorder=1 + order / 10,
            ),
            autolim=False,
        )


def _nodes(axes: Axes, network: Network, place: Array, groups: list[Group], points: float) -> Array:
    """Draw the nodes; return the diameter of each in points."""
    sizes = np.empty(len(network))
    for group in groups:
        # Many cells are drawn smaller: the query is what a picture is of.
        many = max(0.5, min(1.0, (MOST_CELLS / len(group.nodes)) ** 0.5)) if group.role == "cell" else 1.0
        diameter = many * float(np.clip(ROOM[group.role] * points, 2.0, LARGEST[group.role]))
        sizes[group.nodes] = diameter
        axes.scatter(
            place[group.nodes, 0],
            place[group.nodes, 1],
            s=(diameter * group.size) ** 2,
            c=group.colour,
            marker=group.shape,
            edgecolors=group.rim,
            linewidths=min(0.6, diameter / 10),
            zorder=ABOVE[group.role],
        )
    return sizes


@quiet()
def _save(picture: Figure, kind: str, path: Path) -> None:
    import matplotlib

    metadata = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with matplotlib.rc_context({"svg.hashsalt": "cube2net", "svg.fonttype": "path"}):
        picture.savefig(path, format=kind, dpi=DPI, metadata=metadata)
