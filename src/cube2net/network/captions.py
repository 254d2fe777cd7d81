"""Names beside the nodes of a picture: as many as fit without covering one another."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from cube2net.network.formats.plain import texts
from cube2net.records import Network
from cube2net.records.ragged import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei", "Arial Unicode MS")
MOST_CELLS = 25
MOST_NAMES = 24
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


def short(text: str, most: int) -> str:
    """Return a text on one line, cut to so many letters.

    >>> short("a  long\\nname indeed", 12)
    'a long name…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


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


def add_captions(axes: Axes, network: Network, place: Array, sizes: Array, fonts: list[str]) -> None:
    """Name every cell where there are at most 25, and the best linked objects of the query where there is room.

    Each name stands on the side of its node where it covers least. A cell is named even if it must cover
    something; the name of an object is left out then.
    """
    from matplotlib.patheffects import withStroke

    dots = axes.transData.transform(place)
    pixels = axes.figure.dpi / 72
    around = sizes * pixels / 2
    edge = axes.get_window_extent()
    taken = np.empty((0, 4))
    names = texts(network.nodes, "name")
    sides = np.array(SIDES)
    tug = _tug(network, dots)
    weigh = np.where(network.in_query | (np.arange(len(network)) >= len(network.objects)), 1.0, 0.2)
    for node, needed in _wanted(network):
        text = axes.text(
            place[node, 0],
            place[node, 1],
            short(names[node], 34),
            fontsize=8 if needed else 7.5,
            fontfamily=fonts,
            color="#222222",
            fontstyle="italic" if needed else "normal",
            ha="center",
            va="center_baseline",
            parse_math=False,
            zorder=6,
            path_effects=[withStroke(linewidth=2.2, foreground="white", alpha=0.85)],
        )
        box = text.get_window_extent()
        half = np.array([box.width, box.height]) / 2
        middles = dots[node] + sides * (half + (around[node] + 1.5 * pixels) * np.array([1.0, 0.8]))
        boxes = np.concatenate([middles - half, middles + half], axis=1)
        costs = _covered(boxes, taken) * 4 + _hidden(boxes, dots, around, weigh)
        costs += 100 * ((boxes[:, :2] < edge.min).any(axis=1) | (boxes[:, 2:] > edge.max).any(axis=1))
        best = int(np.argmin(costs + 0.3 * (sides / np.linalg.norm(sides, axis=1)[:, None]) @ tug[node]))
        if not needed and costs[best] >= 1:
            text.remove()
            continue
        text.set_position(tuple(axes.transData.inverted().transform(middles[best])))
        taken = np.vstack([taken, boxes[best]])


def _wanted(network: Network) -> list[tuple[int, bool]]:
    """Return the nodes to name and whether they must be: cells, then objects of the query by their links."""
    cells = range(len(network.objects), len(network)) if len(network.cells) <= MOST_CELLS else range(0)
    links = np.bincount(np.concatenate([network.source, network.target]), minlength=len(network))
    best = np.argsort(-links[: len(network.query)], kind="stable")[:MOST_NAMES]
    return [(node, True) for node in cells] + [(int(node), False) for node in best]


def _tug(network: Network, dots: Array) -> Array:
    """Return the mean direction of every node's links, so that its name can stand on the other side."""
    ends, others = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    way = dots[others] - dots[ends]
    way /= np.maximum(np.linalg.norm(way, axis=1), 1e-9)[:, None]
    total = np.zeros_like(dots)
    np.add.at(total, ends, way)
    return total / np.maximum(np.bincount(ends, minlength=len(dots)), 1)[:, None]


def _covered(boxes: Array, taken: Array) -> Array:
    """Return how many boxes already taken each box touches."""
    apart = (
        (boxes[:, None, 0] > taken[None, :, 2])
        | (boxes[:, None, 2] < taken[None, :, 0])
        | (boxes[:, None, 1] > taken[None, :, 3])
        | (boxes[:, None, 3] < taken[None, :, 1])
    )
    return np.asarray((~apart).sum(axis=1), dtype=np.float64)


def _hidden(boxes: Array, dots: Array, around: Array, weigh: Array) -> Array:
    """Return how much each box covers: the sum of the weights of the nodes that it touches."""
    inside = (
        (dots[None, :, 0] + around > boxes[:, None, 0])
        & (dots[None, :, 0] - around < boxes[:, None, 2])
        & (dots[None, :, 1] + around > boxes[:, None, 1])
        & (dots[None, :, 1] - around < boxes[:, None, 3])
    )
    return np.asarray(inside @ weigh)
