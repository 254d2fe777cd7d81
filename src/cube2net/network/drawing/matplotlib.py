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
from cube2net._util.text import shorten
from cube2net.model.interfaces import expect
from cube2net.model.network import Network
from cube2net.network.drawing.layout import layout
from cube2net.network.drawing.picture import (
    COLOURS,
    GREY,
    HALO_POINTS,
    CaptionPlacer,
    Group,
    compute_diameters,
    fit_frame,
    format_size,
    group_links,
    group_nodes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

PICTURES = (".png", ".svg", ".pdf")
WIDTH, DPI, MARGIN = 10.0, 160, 0.15
"""The width of a picture and its margin in inches, and its pixels per inch."""
INK = "#222222"
LAYERS = {"other": 2, "cell": 3, "query": 4}
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei", "Arial Unicode MS")
"""Fonts in order of preference; letters that one lacks come from the next."""


@contextmanager
def ignore_missing_letters() -> Iterator[None]:
    """Draw letters that no installed font has as boxes, without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def add_captions(
    axes: Axes, network: Network, place: Array, sizes: Array, fonts: list[str], *, name_cells: bool = False
) -> None:
    """Name cells, the best linked objects of the query and other objects, where there is room.

    A name covers no other name, no node of the query and no cell, unless ``name_cells`` allows names of cells to cover
    objects. adjustText leaves none out and takes two to nine times as long; of 24 names, 1 to 6 then cover something
    and 4 to 7 are nearer to a wrong node, here none and 0 to 3 (``benchmarks/layouts.py``).
    """
    from matplotlib.patheffects import withStroke

    def write(node: int, name: str, x: float, y: float) -> Text:
        is_cell = node >= len(network.objects)
        return axes.text(
            x,
            y,
            name,
            fontsize=8 if is_cell else 7.5,
            fontfamily=fonts,
            color=INK if is_cell or network.in_query[node] else GREY,
            fontstyle="italic" if is_cell else "normal",
            ha="center",
            va="center",
            linespacing=1.05,
            parse_math=False,
            zorder=6,
            path_effects=[withStroke(linewidth=HALO_POINTS, foreground="white", alpha=0.85)],
        )

    def measure(node: int, name: str) -> tuple[float, float]:
        text = write(node, name, *place[node])
        extent = text.get_window_extent()
        text.remove()
        return extent.width, extent.height

    box, pixels = axes.get_window_extent(), axes.figure.dpi / 72
    frame, dots = np.array([box.min, box.max]), axes.transData.transform(place)
    placer = CaptionPlacer(network, dots, sizes * pixels / 2, frame, pixels)
    for node, name, middle in placer.place_names(measure, cover_objects=name_cells):
        write(node, name, *axes.transData.inverted().transform(middle))


def check_picture_path(path: Path) -> None:
    """Raise if no picture can be drawn to a path, before any work is done."""
    check_path(path, PICTURES, "picture")
    require("a picture", "matplotlib")


def draw(
    network: Network, path: str | Path, *, seed: int = 0, title: str | None = None, name_cells: bool = False
) -> Path:
    """Draw a network to a PNG, SVG or PDF file and return its path."""
    expect(Network, network, "network")
    path = Path(path)
    check_picture_path(path)
    kind = path.suffix.lower()[1:]

    @ignore_missing_letters()
    def save(aside: Path) -> None:
        import matplotlib

        picture = figure(network, seed=seed, title=title, name_cells=name_cells)
        metadata = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
        with matplotlib.rc_context({"svg.hashsalt": "cube2net", "svg.fonttype": "path"}):
            picture.savefig(aside, format=kind, dpi=DPI, metadata=metadata)

    return write_files({path: save})[0]


@ignore_missing_letters()
def figure(network: Network, *, seed: int = 0, title: str | None = None, name_cells: bool = False) -> Figure:
    """Return the picture as a Matplotlib figure, 1,600 pixels wide."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import fontManager

    place, groups = layout(network, seed=seed), group_nodes(network)
    installed = set(fontManager.get_font_names())
    fonts = [name for name in FONTS if name in installed]
    picture = Figure(figsize=(WIDTH, WIDTH), dpi=DPI, facecolor="white")
    FigureCanvasAgg(picture)
    below = _add_legend(picture, groups, fonts).get_window_extent().height / DPI + 2 * MARGIN
    above = 0.62 if title else MARGIN
    (x, y), (_, height), inches = fit_frame(place, WIDTH, MARGIN)
    total = above + inches * height + below
    picture.set_size_inches(WIDTH, total)
    if title:
        style: dict[str, Any] = {"ha": "left", "va": "top", "parse_math": False, "fontfamily": fonts}
        left, lines = MARGIN / WIDTH, (1 - MARGIN / total, 1 - (MARGIN + 0.26) / total)
        picture.text(left, lines[0], shorten(title, 80), fontsize=13, color=INK, fontweight="bold", **style)
        picture.text(left, lines[1], format_size(network, " · "), fontsize=9, color=GREY, **style)
    axes = picture.add_axes((0, below / total, 1, inches * height / total))
    axes.set_xlim(x - WIDTH / inches / 2, x + WIDTH / inches / 2)
    axes.set_ylim(y - height / 2, y + height / 2)
    axes.set_axis_off()
    _draw_links(axes, network, place, groups)
    sizes = _draw_nodes(axes, network, place, groups, 72 * inches)
    add_captions(axes, network, place, sizes, fonts, name_cells=name_cells)
    return picture


def _add_legend(picture: Figure, groups: list[Group], fonts: list[str]) -> Legend:
    """Add a legend at the foot of the picture, in as few lines as fit its width."""
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


def _draw_links(axes: Axes, network: Network, place: Array, groups: list[Group]) -> None:
    """Draw the links, heavier ones thicker and darker; if all of a kind weigh the same, long ones are paler."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    for layer, group in enumerate(group_links(network, groups, np.arange(len(network.source)))):
        order = np.argsort(group.strengths, kind="stable")
        links, strengths = group.links[order], group.strengths[order]
        ends = np.stack([place[network.source[links]], place[network.target[links]]], axis=1)
        opacities = group.compute_opacity(strengths)
        if len(links) and strengths[0] == strengths[-1]:
            length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
            opacities = opacities * np.clip(np.median(length) / np.maximum(length, 1e-9), 0.4, 1.0)
        colours = [GREY if colour < 0 else COLOURS[colour] for colour in group.colours[order].tolist()]
        axes.add_collection(
            LineCollection(
                list(ends),
                colors=[to_rgba(colour, opacity) for colour, opacity in zip(colours, opacities, strict=True)],
                linewidths=group.compute_width(strengths),
                capstyle="round",
                zorder=1 + layer / 10,
            ),
            autolim=False,
        )


def _draw_nodes(axes: Axes, network: Network, place: Array, groups: list[Group], points: float) -> Array:
    """Draw the nodes and return the diameter of each in points."""
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
            zorder=LAYERS[group.role],
        )
    return sizes
