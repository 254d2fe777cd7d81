"""A network drawn by Matplotlib to PNG, SVG or PDF."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.files import check_path, write_files
from cube2net._util.packages import require
from cube2net._util.text import short
from cube2net.model.arguments import expect
from cube2net.model.network import Network
from cube2net.network.drawing.layout import layout
from cube2net.network.drawing.picture import (
    FEWEST_UNITS,
    GREY,
    HALO,
    LINKS,
    LONGEST,
    Group,
    Room,
    compute_diameters,
    format_subtitle,
    group_nodes,
    link_classes,
    number_groups,
    strengths,
    wanted_names,
    wordings,
)
from cube2net.network.export.plain_tables import texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

PICTURES = (".png", ".svg", ".pdf")
WIDTH, DPI, MARGIN = 10.0, 160, 0.15
INK = "#222222"
ABOVE = {"other": 2, "cell": 3, "query": 4}
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei", "Arial Unicode MS")


def installed_fonts() -> list[str]:
    """Return the families to write with, first choice first: letters that one lacks come from the next."""
    from matplotlib.font_manager import fontManager

    names = set(fontManager.get_font_names())
    return [name for name in FONTS if name in names]


@contextmanager
def quiet() -> Iterator[None]:
    """Let a letter that no installed font has be drawn as a box, without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def add_captions(
    axes: Axes, network: Network, place: Array, sizes: Array, fonts: list[str], *, name_cells: bool = False
) -> None:
    """Name the cells, or the first 12 of more than 25, the query and other objects, where there is room.

    Each name stands on the side of its node where it covers least. It covers no other name, no node of the query
    and no cell: one that finds no such place is left out. Cells come first, in the order chosen, then the best linked
    objects of the query, then others, whose names cover no node (:func:`wanted_names`); with ``name_cells``
    their names stand over objects where there is no other place.

    adjustText leaves none out and takes two to nine times as long; of 24 names, 1 to 6 then cover something and 4 to 7
    stand nearer to a wrong node, here none and 0 to 3: see ``benchmarks/layouts.py``.
    """
    from matplotlib.patheffects import withStroke

    box, pixels = axes.get_window_extent(), axes.figure.dpi / 72
    room = Room.of(network, axes.transData.transform(place), sizes * pixels / 2, np.array([box.min, box.max]), pixels)
    names = texts(network.nodes, "name")
    for node, is_cell in wanted_names(network):
        text = axes.text(
            place[node, 0],
            place[node, 1],
            "",
            fontsize=8 if is_cell else 7.5,
            fontfamily=fonts,
            color="#222222" if is_cell or network.in_query[node] else "#555555",
            fontstyle="italic" if is_cell else "normal",
            ha="center",
            va="center",
            linespacing=1.05,
            parse_math=False,
            zorder=6,
            path_effects=[withStroke(linewidth=HALO, foreground="white", alpha=0.85)],
        )
        ways = wordings(names[node]) if is_cell else [short(names[node], LONGEST)]
        for wording, over in [(way, over) for over in (False, True)[: 1 + (name_cells and is_cell)] for way in ways]:
            text.set_text(wording)
            extent = text.get_window_extent()
            middle = room.take(node, extent.width, extent.height, over=over)
            if middle is not None:
                text.set_position(tuple(axes.transData.inverted().transform(middle)))
                break
        else:
            text.remove()


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
    groups = group_nodes(network)
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
    left = MARGIN / WIDTH
    style: dict[str, Any] = {"ha": "left", "va": "top", "parse_math": False, "fontfamily": fonts}
    picture.text(left, 1 - MARGIN / tall, title, fontsize=13, color=INK, fontweight="bold", **style)
    picture.text(left, 1 - (MARGIN + 0.26) / tall, format_subtitle(network), fontsize=9, color=GREY, **style)


def _links(axes: Axes, network: Network, place: Array, groups: list[Group]) -> None:
    """Draw the links: faint among other objects, thicker inside the query, in the colour of a shared label.

    The heavier, the thicker and darker; where all links of a kind weigh the same, long ones are paler.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    source, target = network.source, network.target
    group_of = number_groups(network, groups)
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
    sizes = compute_diameters(network, groups, points, 2.0)
    for group in groups:
        diameter = float(sizes[group.nodes[0]])
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
