"""Names beside the nodes of a picture: as many as fit without covering one another."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.escaping import one_line, short
from cube2net.network.export.plain_tables import texts
from cube2net.records import Network

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei", "Arial Unicode MS")
# All cells are named where there are no more than the first number, and else so many that were chosen first.
MOST_CELLS, FIRST_CELLS = 25, 12
MOST_NAMES = 24
LONGEST = 34
HALO = 2.2
# Where a name may stand over objects, covering so many is as bad as covering a cell.
OVER = 40
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
BETWEEN = ((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1))
AWAY = (1.5, 6.0)


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


def wordings(name: str) -> list[str]:
    """Return a name as it may be written: on one line where it is not too long for that, and on two.

    >>> wordings("2016 · ACL · reinforcement learning")
    ['2016 · ACL ·\\nreinforcement learning']
    >>> wordings("2017 · ACL · parsing")
    ['2017 · ACL · parsing', '2017 · ACL ·\\nparsing']
    """
    line = one_line(name)
    breaks = [place for place, letter in enumerate(line) if letter == " " and line[place + 1] != "·"]
    found = [line] if len(line) <= LONGEST else []
    if breaks:
        middle = min(breaks, key=lambda place: abs(2 * place - len(line)))
        found.append(f"{short(line[:middle], LONGEST)}\n{short(line[middle:], LONGEST)}")
    return found or [short(line, LONGEST)]


@dataclass(eq=False)
class Room:
    """What of a picture is taken, in pixels: ``frame`` around all, nodes at ``dots``, and the boxes of names.

    ``around`` is the radius of every node, ``weigh`` how bad it is to cover it and ``tug`` where its links lead.
    """

    frame: Array
    pixels: float
    dots: Array
    around: Array
    weigh: Array
    tug: Array
    is_cell: Array
    taken: Array = field(default_factory=lambda: np.empty((0, 4)))

    @classmethod
    def of(cls, network: Network, dots: Array, around: Array, frame: Array, pixels: float) -> Room:
        """Return the room about the nodes of a network; white ones may be covered where nothing else helps."""
        is_cell = np.arange(len(network)) >= len(network.objects)
        weigh = np.where(network.in_query | is_cell, 1.0, 0.2)
        return cls(frame, pixels, dots, around, weigh, _tug(network, dots), is_cell)

    def take(self, node: int, width: float, height: float, *, over: bool = False) -> Array | None:
        """Return the middle of the best free place for a box beside a node, which is taken then; None without any.

        ``over`` says that a place that covers objects is free. The name of a white node covers no node at all.
        """
        sides, lean, gaps = _sides()
        half = np.array([width, height]) / 2
        middles = self.dots[node] + sides * (half + (self.around[node] + gaps * self.pixels) * np.array([1.0, 0.8]))
        boxes = np.concatenate([middles - half, middles + half], axis=1)
        covers = _covered(boxes, self.taken) + _hidden(boxes, self.dots, self.around, self._weights(node, over))
        covers += (boxes[:, :2] < self.frame[0]).any(axis=1) | (boxes[:, 2:] > self.frame[1]).any(axis=1)
        ways = sides / np.linalg.norm(sides, axis=1)[:, None]
        best = int(np.argmin(np.where(covers < 1, covers + lean + 0.3 * ways @ self.tug[node], np.inf)))
        if covers[best] >= 1:
            return None
        self.taken = np.vstack([self.taken, boxes[best] + HALO * self.pixels / 2 * np.array([-1, -1, 1, 1])])
        return np.asarray(middles[best])

    def _weights(self, node: int, over: bool) -> Array:
        if self.weigh[node] < 1:
            return np.ones_like(self.weigh)
        return np.where(self.is_cell, self.weigh, self.weigh / OVER) if over else self.weigh


def _sides() -> tuple[Array, Array, Array]:
    """Return where a name may stand about its node, how much worse each place is, and its gap in points.

    On eight sides close to the node, then between these, then all of them a little farther away.
    """
    near = np.array([*SIDES, *BETWEEN], dtype=np.float64)
    worse = np.repeat([0.0, 0.1], [len(SIDES), len(BETWEEN)])
    lean = np.concatenate([worse + 0.3 * ring for ring in range(len(AWAY))])
    return np.tile(near, (len(AWAY), 1)), lean, np.repeat(AWAY, len(near))[:, None]


def wanted_names(network: Network) -> list[tuple[int, bool]]:
    """Return the nodes to name and whether they are cells: these, then objects of the query by their links.

    Where all of the query is named, other objects follow, by their links too.
    """
    count = len(network.cells) if len(network.cells) <= MOST_CELLS else FIRST_CELLS
    cells = range(len(network.objects), len(network.objects) + count)
    links = np.bincount(np.concatenate([network.source, network.target]), minlength=len(network))
    query = len(network.query)
    best = np.argsort(-links[:query], kind="stable")[:MOST_NAMES]
    others = query + np.argsort(-links[query : len(network.objects)], kind="stable")[:MOST_NAMES]
    named = [*best.tolist(), *(others.tolist() if query <= MOST_NAMES else [])]
    return [(node, True) for node in cells] + [(node, False) for node in named]


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
