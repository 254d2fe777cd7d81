"""What pictures of a network show, whether drawn by Matplotlib or as SVG: groups of nodes and links, and captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import format_count, join_lines, shorten
from cube2net.model.network import Network
from cube2net.network.export.plain_tables import list_texts

MIN_WIDTH_UNITS, MAX_HEIGHT_SHARE = 16.0, 0.8
"""Least width of a picture in units of the layout, and its largest height as a share of its width."""
DIAMETER_UNITS = {"query": 1.0, "other": 0.6, "cell": 1.3}
MAX_DIAMETER = {"query": 11.0, "other": 7.0, "cell": 13.0}

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette for colour-blind readers, without yellow and black."""
SHAPES = {"o": 1.0, "^": 1.0, "D": 0.8, "v": 1.0}
"""Shapes with the factors that make them look equally large; the next one is used after all colours."""
GREY, RIM, CELL = "#555555", "#8c8c8c", "#f3dfa2"

MAX_NAMED_CELLS, FIRST_NAMED_CELLS = 25, 12
"""Cells are named if there are no more than the first number; otherwise only the first ones chosen."""
MAX_NAMED_OBJECTS = 24
MAX_LINE_LETTERS = 34
HALO_POINTS = 2.2
COVERED_OBJECTS_PER_CELL = 40
"""If names may cover objects, the number of covered objects that costs as much as a cell."""
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
BETWEEN = ((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1))
GAPS = (1.5, 6.0)
"""Distances of a name from its node in points, the nearer tried first."""


def fit_frame(places: Array, width: float, margin: float) -> tuple[Array, Array, float]:
    """Return the middle and the extent of the places in units of the layout, and the length of a unit."""
    low, high = places.min(axis=0) - 0.7, places.max(axis=0) + 0.7
    extent = np.maximum(high - low, (MIN_WIDTH_UNITS, MIN_WIDTH_UNITS / 4))
    unit = float(min((width - 2 * margin) / extent[0], MAX_HEIGHT_SHARE * width / extent[1]))
    return (low + high) / 2, extent, unit


def wrap_name(name: str) -> list[str]:
    """Return the ways to write a name: on one line if it is short enough, and on two.

    >>> wrap_name("2016 · ACL · reinforcement learning")
    ['2016 · ACL ·\\nreinforcement learning']
    >>> wrap_name("2017 · ACL · parsing")
    ['2017 · ACL · parsing', '2017 · ACL ·\\nparsing']
    """
    line = join_lines(name)
    breaks = [place for place, letter in enumerate(line) if letter == " " and line[place + 1] != "·"]
    ways = [line] if len(line) <= MAX_LINE_LETTERS else []
    if breaks:
        middle = min(breaks, key=lambda place: abs(2 * place - len(line)))
        ways.append(f"{shorten(line[:middle], MAX_LINE_LETTERS)}\n{shorten(line[middle:], MAX_LINE_LETTERS)}")
    return ways or [shorten(line, MAX_LINE_LETTERS)]


class CaptionPlacer:
    """Places names beside nodes, so that they cover no other name and as few nodes as possible.

    Positions and lengths are in pixels: ``dots`` and ``radii`` of the nodes, the corners of the ``frame``, and
    ``pixels`` per point.
    """

    def __init__(self, network: Network, dots: Array, radii: Array, frame: Array, pixels: float) -> None:
        self.network, self.dots, self.radii, self.frame, self.pixels = network, dots, radii, frame, pixels
        self.is_cell = np.arange(len(network)) >= len(network.objects)
        self.costs = np.where(network.in_query | self.is_cell, 1.0, 0.2)
        self.link_directions = _average_link_directions(network, dots)
        self.taken = np.empty((0, 4))
        near = np.array([*SIDES, *BETWEEN], dtype=np.float64)
        # Eight sides first, then those between, then all of them a little farther away.
        penalties = np.repeat([0.0, 0.1], [len(SIDES), len(BETWEEN)])
        self.penalties = np.concatenate([penalties + 0.3 * ring for ring in range(len(GAPS))])
        self.sides, self.gaps = np.tile(near, (len(GAPS), 1)), np.repeat(GAPS, len(near))[:, None]

    def place_names(
        self,
        measure: Callable[[int, str], tuple[float, float]],
        *,
        cover_objects: bool = False,
        cells_only: bool = False,
    ) -> Iterator[tuple[int, str, Array]]:
        """Yield the nodes whose names find a place, with the name as written and the middle of its box.

        ``measure`` returns the width and height of a node's name. With ``cover_objects`` the names of cells may cover
        objects if there is no other place.
        """
        names = list_texts(self.network.nodes.to_arrow(), "name")
        for node in choose_named_nodes(self.network):
            is_cell = bool(self.is_cell[node])
            if cells_only and not is_cell:
                continue
            ways = wrap_name(names[node]) if is_cell else [shorten(names[node], MAX_LINE_LETTERS)]
            tries = [(way, over) for over in (False, True)[: 1 + (cover_objects and is_cell)] for way in ways]
            for way, over in tries:
                middle = self.place(node, *measure(node, way), over=over)
                if middle is not None:
                    yield node, way, middle
                    break

    def place(self, node: int, width: float, height: float, *, over: bool = False) -> Array | None:
        """Return the middle of the best free place for a box beside a node and take it; None if there is none.

        With ``over`` the box may cover objects. The name of an object outside the query covers no node at all.
        """
        half = np.array([width, height]) / 2
        distance = half + (self.radii[node] + self.gaps * self.pixels) * np.array([1.0, 0.8])
        middles = self.dots[node] + self.sides * distance
        boxes = np.concatenate([middles - half, middles + half], axis=1)
        costs = self.costs
        if costs[node] < 1:
            costs = np.ones_like(costs)
        elif over:
            costs = np.where(self.is_cell, costs, costs / COVERED_OBJECTS_PER_CELL)
        covers = count_touched(boxes, self.taken) + sum_covered(boxes, self.dots, self.radii, costs)
        covers += (boxes[:, :2] < self.frame[0]).any(axis=1) | (boxes[:, 2:] > self.frame[1]).any(axis=1)
        directions = self.sides / np.linalg.norm(self.sides, axis=1)[:, None]
        total = covers + self.penalties + 0.3 * directions @ self.link_directions[node]
        best = int(np.argmin(np.where(covers < 1, total, np.inf)))
        if covers[best] >= 1:
            return None
        self.taken = np.vstack([self.taken, boxes[best] + HALO_POINTS * self.pixels / 2 * np.array([-1, -1, 1, 1])])
        return np.asarray(middles[best])


def choose_named_nodes(network: Network) -> list[int]:
    """Return the nodes to name: cells, then the objects of the query with most links.

    If the complete query is named, the other objects with most links follow.
    """
    count = len(network.cells) if len(network.cells) <= MAX_NAMED_CELLS else FIRST_NAMED_CELLS
    links = np.bincount(np.concatenate([network.source, network.target]), minlength=len(network))
    query, objects = len(network.query), len(network.objects)
    best = np.argsort(-links[:query], kind="stable")[:MAX_NAMED_OBJECTS].tolist()
    others = (query + np.argsort(-links[query:objects], kind="stable")[:MAX_NAMED_OBJECTS]).tolist()
    return [*range(objects, objects + count), *best, *(others if query <= MAX_NAMED_OBJECTS else [])]


def _average_link_directions(network: Network, dots: Array) -> Array:
    """Return the mean direction of every node's links; its name is better placed on the other side."""
    ends, others = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    way = dots[others] - dots[ends]
    way /= np.maximum(np.linalg.norm(way, axis=1), 1e-9)[:, None]
    total = np.zeros_like(dots)
    np.add.at(total, ends, way)
    return total / np.maximum(np.bincount(ends, minlength=len(dots)), 1)[:, None]


def count_touched(boxes: Array, taken: Array) -> Array:
    """Return how many of the taken boxes each box touches."""
    apart = (
        (boxes[:, None, 0] > taken[None, :, 2])
        | (boxes[:, None, 2] < taken[None, :, 0])
        | (boxes[:, None, 1] > taken[None, :, 3])
        | (boxes[:, None, 3] < taken[None, :, 1])
    )
    return np.asarray((~apart).sum(axis=1), dtype=np.float64)


def sum_covered(boxes: Array, dots: Array, radii: Array, costs: Array) -> Array:
    """Return the summed costs of the nodes that each box touches."""
    inside = (
        (dots[None, :, 0] + radii > boxes[:, None, 0])
        & (dots[None, :, 0] - radii < boxes[:, None, 2])
        & (dots[None, :, 1] + radii > boxes[:, None, 1])
        & (dots[None, :, 1] - radii < boxes[:, None, 3])
    )
    return np.asarray(inside @ costs)


LINK_LOOKS = {
    "other": ((0.45, 1.2), (0.25, 0.7)),
    "member": ((0.6, 0.6), (0.4, 0.4)),
    "one": ((0.5, 1.6), (0.4, 0.85)),
    "query": ((1.4, 3.0), (0.8, 1.0)),
}
"""Widths in points and opacities of the weakest and the strongest links, by what these join; drawn in this order.

A link joins no object of the query, an object and its cell, or one or two objects of the query.
"""


@dataclass(frozen=True, eq=False)
class LinkGroup:
    """Links of one kind: their strengths and the number of the colour that both ends share, -1 for none."""

    kind: str
    links: Array
    strengths: Array
    colours: Array

    @property
    def crowding(self) -> float:
        """Factor by which many links are drawn fainter."""
        return float(min(1.0, (1000 / max(len(self.links), 1)) ** 0.5))

    def compute_width(self, strength: Any) -> Any:
        """Return the width in points of links of some strength."""
        thin, thick = LINK_LOOKS[self.kind][0]
        return (thin + (thick - thin) * strength) * max(self.crowding, 0.5)

    def compute_opacity(self, strength: Any) -> Any:
        """Return the opacity of links of some strength."""
        pale, dark = LINK_LOOKS[self.kind][1]
        return (pale + (dark - pale) * strength) * self.crowding


def group_links(network: Network, groups: list[Group], links: Array) -> list[LinkGroup]:
    """Return some links, by their numbers, in groups by what they join."""
    source, target = network.source[links], network.target[links]
    ends = (source < len(network.query)).astype(int) + (target < len(network.query))
    members = np.maximum(source, target) >= len(network.objects)
    kinds = np.where(members, "member", np.array(["other", "one", "query"])[ends])
    number, colour = np.zeros(len(network), dtype=np.int64), np.full(len(network), -1)
    for at, group in enumerate(groups):
        number[group.nodes] = at
        colour[group.nodes] = COLOURS.index(group.colour) if group.colour in COLOURS else -1
    shared = np.where((kinds == "query") & (number[source] == number[target]), colour[source], -1)
    strengths = compute_strengths(network)[links]
    rows = [(kind, np.flatnonzero(kinds == kind)) for kind in LINK_LOOKS]
    return [LinkGroup(kind, links[at], strengths[at], shared[at]) for kind, at in rows]


def select_links(network: Network, links: Array, most: int) -> Array:
    """Return at most ``most`` of some links, given by number: those within the query, then the heaviest."""
    outside = np.maximum(network.source[links], network.target[links]) >= len(network.query)
    return np.sort(links[np.lexsort((-network.weight[links], outside))[:most]])


def compute_strengths(network: Network) -> Array:
    """Return the strength of every link between objects by its weight in the source, from 0 to 1.

    It is 0 for memberships and if all links weigh the same. A quarter of the largest weight has strength one half.
    """
    among = np.maximum(network.source, network.target) < len(network.objects)
    weight = np.asarray(network.weight[among] if network.given is None else network.given, dtype=np.float64)
    strengths = np.zeros(len(network.weight))
    if len(weight) and weight.max() > weight.min():
        strengths[among] = np.sqrt((weight - weight.min()) / (weight.max() - weight.min()))
    return strengths


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that look the same, and their line of the legend."""

    text: str
    nodes: Array
    role: str
    colour: str
    shape: str = "o"
    rim: str = RIM

    @property
    def size(self) -> float:
        """Relative size of the shape."""
        return SHAPES.get(self.shape, 1.0)


def group_nodes(network: Network) -> list[Group]:
    """Return the groups of nodes in the order of the legend: labels by name, other objects, cells."""
    node = np.arange(len(network))
    labels = np.array(list_texts(network.nodes.to_arrow(), "label"), dtype=np.str_)
    inside = network.in_query
    counts = Counter(labels[inside & (labels != "")].tolist())
    shown = sorted(name for name, _ in counts.most_common(len(COLOURS) * len(SHAPES)))
    groups = [
        Group(
            f"{shorten(name, 40)} ({counts[name]:,})",
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
        title = "neighbours" if network.form == "hybrid" else "other objects"
        groups.append(Group(f"{title} ({len(objects):,})", objects, "other", "white"))
    if len(network.cells):
        groups.append(Group(f"cells ({len(network.cells):,})", node[len(network.objects) :], "cell", CELL, "s"))
    return groups


def compute_diameters(network: Network, groups: list[Group], unit: float, smallest: float) -> Array:
    """Return the diameter of every node, given the length of a unit of the layout; many cells are drawn smaller."""
    sizes = np.empty(len(network))
    for group in groups:
        shrink = (MAX_NAMED_CELLS / max(len(group.nodes), 1)) ** 0.5 if group.role == "cell" else 1.0
        diameter = np.clip(DIAMETER_UNITS[group.role] * unit, smallest, MAX_DIAMETER[group.role])
        sizes[group.nodes] = min(1.0, max(0.5, shrink)) * diameter
    return sizes


def format_size(network: Network, separator: str = ", ") -> str:
    """Return the numbers of objects, cells and links of a network."""
    counts = [format_count(len(network.objects), "object"), format_count(len(network.source), "link")]
    if len(network.cells):
        counts.insert(1, format_count(len(network.cells), "cell"))
    return separator.join([*counts, f"{len(network.query):,} in the query"])
