"""What every picture of a network shows: groups of nodes, looks of links, and places of names.

Matplotlib and SVG draw it alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import one_line, short
from cube2net.model.network import Network
from cube2net.network.export.plain_tables import texts

FEWEST_UNITS = 16.0
ROOM = {"query": 1.0, "other": 0.6, "cell": 1.3}
LARGEST = {"query": 11.0, "other": 7.0, "cell": 13.0}

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow and black."""

SHAPES = {"o": 1.0, "^": 1.0, "D": 0.8, "v": 1.0}
"""Where labels are more than colours, the next shape; each with its size, so that all look equally large."""

GREY, RIM, CELL = "#555555", "#8C8C8C", "#F3DFA2"
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


def group_nodes(network: Network) -> list[Group]:
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
        what = "neighbours" if network.form == "hybrid" else "other objects"
        groups.append(Group(f"{what} ({len(objects):,})", objects, "other", "white"))
    if len(network.cells):
        groups.append(Group(f"cells ({len(network.cells):,})", node[len(network.objects) :], "cell", CELL, "s"))
    return groups


def number_groups(network: Network, groups: list[Group]) -> Array:
    """Return the number of every node's group."""
    numbers = np.zeros(len(network), dtype=np.int64)
    for number, group in enumerate(groups):
        numbers[group.nodes] = number
    return numbers


def compute_diameters(network: Network, groups: list[Group], unit: float, smallest: float) -> Array:
    """Return the diameter of every node, given the length of a unit of the layout; many cells are drawn smaller."""
    sizes = np.empty(len(network))
    for group in groups:
        many = max(0.5, min(1.0, (MOST_CELLS / len(group.nodes)) ** 0.5)) if group.role == "cell" else 1.0
        sizes[group.nodes] = many * np.clip(ROOM[group.role] * unit, smallest, LARGEST[group.role])
    return sizes


def describe_picture(network: Network) -> str:
    """Return what a picture shows, for those who do not see it."""
    return f"a network of {_format_size(network)}"


def format_subtitle(network: Network) -> str:
    """Return the size of a network as it stands below the title of its picture."""
    return _format_size(network).replace(", ", " · ")


def _format_size(network: Network) -> str:
    return str(network).partition("(")[2].rstrip(")")
