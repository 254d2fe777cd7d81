"""Close-ups of a network: the pair it draws closer and the pair it draws apart, found by measurement, and drawn.

The drawing has the pair in the middle, what both are linked to between them, and the rest outside.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import InputError
from cube2net.evaluation.report.figures import LABELS
from cube2net.model.network import Network

if TYPE_CHECKING:
    import scipy.sparse as sp

MOST_NODES = 30
MOST_OBJECTS = 4000
BLOCK = 512

# The drawing: how wide, how far from one node to the next below it, how tall at least; and how far from the left, as a
# share of the width, the pair stands, and what one of them alone is linked to.
WIDE, STEP, LEAST = 760, 30, 250
PAIR, OWN = (0.34, 0.66), (0.2, 0.8)

RADIUS = {"pair": 10.0, "shared": 6.5, "own": 5.5}
LONGEST = {"pair": 20, "shared": 15, "own": 17}
"""How large a node is drawn, and how many letters of its name, by what it is to the pair."""


@dataclass(frozen=True, eq=False)
class CloseUp:
    """A pair of the query's objects, its mean cosine before and after, and the nodes to draw around it.

    ``pair`` and ``nodes`` are positions in the network, the pair first, then what both are linked to, then what one
    is. ``kind`` is ``"closer"`` or ``"apart"``. ``fits`` says that a pair drawn closer shares a node from outside the
    query, or that a pair drawn apart is linked; it is False where the network has no such pair.
    """

    network: Network
    kind: str
    pair: tuple[int, int]
    before: float
    after: float
    nodes: tuple[int, ...]
    shared: tuple[int, ...]
    fits: bool

    def __repr__(self) -> str:
        return f"CloseUp({self.kind}: {self.pair}, cosine {self.before:.2f} → {self.after:.2f})"


def close_ups(
    network: Network, before: Array, after: Array, labels: Sequence[str] | None = None, *, most: int = MOST_NODES
) -> list[CloseUp]:
    """Return the pair drawn closer and the pair drawn apart, where there are such.

    ``before`` and ``after`` are the vectors of the query's objects on the query alone and in the network, runs ×
    objects × columns, the same runs. Closer: same label, no direct link, the largest rise of the mean cosine. Apart:
    different labels, the largest fall. A vector of zeros says nothing, and its cosine with any other is 0. Objects
    without a label are left out; of a query above 4,000 objects those with most links are looked at.
    """
    known = np.array(labels if labels is not None else network.query.labels or (), dtype=np.str_)
    for name, vectors in (("before", before), ("after", after)):
        if vectors.ndim != 3 or vectors.shape[1] != len(network.query) or not bool(np.isfinite(vectors).all()):
            raise InputError(
                f"the vectors {name} have shape {vectors.shape}, expected runs × {len(network.query):,} objects × "
                "columns of finite numbers"
            )
    if len(known) not in (0, len(network.query)):
        raise InputError(f"the query has {len(network.query):,} objects and got {len(known):,} labels")
    links = _adjacency(network)
    degree = np.diff(links.indptr)[: len(network.query)]
    rows = np.flatnonzero(known != "") if len(known) else np.empty(0, dtype=np.int64)
    if len(rows) > MOST_OBJECTS:
        rows = np.sort(rows[np.argsort(-degree[rows], kind="stable")[:MOST_OBJECTS]])
    if len(rows) < 2 or not len(before) or not len(after):
        return []
    old, new = _directions(before[:, rows]), _directions(after[:, rows])
    found = []
    for kind in ("closer", "apart"):
        pair, fits = _extreme(kind, old, new, known[rows], links, rows, len(network.query))
        if pair is None:
            continue
        one, other = int(rows[pair[0]]), int(rows[pair[1]])
        nodes, shared = _around(links, one, other, len(network.query), most)
        cosines = (float(old[pair[0]] @ old[pair[1]]), float(new[pair[0]] @ new[pair[1]]))
        found.append(CloseUp(network, kind, (one, other), *cosines, nodes, shared, fits))
    return found


def _adjacency(network: Network) -> sp.csr_array:
    """Return the links on both ends, rows ascending."""
    import scipy.sparse as sp

    ends = np.concatenate([network.source, network.target]), np.concatenate([network.target, network.source])
    weight = np.concatenate([network.weight, network.weight]).astype(np.float64)
    links = sp.coo_array((weight, ends), shape=(len(network), len(network))).tocsr()
    links.sort_indices()
    return links


def _directions(vectors: Array) -> Array:
    """Return a row for every object such that the product of two is their mean cosine over the runs."""
    length = np.linalg.norm(vectors, axis=2, keepdims=True)
    unit = np.divide(vectors, length, out=np.zeros(vectors.shape), where=length > 0)
    rows: Array = np.moveaxis(unit, 0, 1).reshape(vectors.shape[1], -1) / np.sqrt(len(vectors))
    return rows


def _extreme(
    kind: str, old: Array, new: Array, labels: Array, links: sp.csr_array, rows: Array, query: int
) -> tuple[tuple[int, int] | None, bool]:
    """Return the pair whose cosine changes most the right way, and whether it is linked as it should be."""
    direct = links[rows][:, rows]
    outside = links[rows][:, query:]
    outside.data[:] = 1
    best: dict[bool, tuple[float, tuple[int, int] | None]] = {True: (0.0, None), False: (0.0, None)}
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        change = new[block] @ new.T - old[block] @ old.T
        linked = direct[block].toarray() > 0
        later = np.arange(len(rows))[None, :] > np.arange(len(rows))[block, None]
        same = labels[block, None] == labels[None, :]
        if kind == "closer":
            allowed, right = later & same & ~linked, (outside[block] @ outside.T).toarray() > 0
        else:
            change, allowed, right = -change, later & ~same, linked
        for fits in (True, False):
            gain = np.where(allowed & right if fits else allowed, change, -np.inf)
            place = int(gain.argmax())
            if gain.flat[place] > best[fits][0]:
                one, other = divmod(place, len(rows))
                best[fits] = float(gain.flat[place]), (start + one, other)
    fits = best[True][1] is not None
    return best[fits][1], fits


def _around(
    links: sp.csr_array, one: int, other: int, query: int, most: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the nodes to draw, the pair first, and those of them that both are linked to."""
    sides = [_neighbours(links, node, query) for node in (one, other)]
    own = [[node for node in side if node not in (one, other)] for side in sides]
    both = set(own[0]) & set(own[1])
    shared = [node for node in own[0] if node in both]
    shared.sort(key=lambda node: node < query)
    shared = shared[: max(1, most // 3)]
    alone = [[node for node in side if node not in both][: max(1, most // 3)] for side in own]
    turns = (node for node in chain.from_iterable(zip_longest(*alone)) if node is not None)
    nodes = [one, other, *shared, *turns][: max(2, most)]
    return tuple(nodes), tuple(node for node in shared if node in nodes)


def _neighbours(links: sp.csr_array, node: int, query: int) -> list[int]:
    """Return the neighbours of a node, the query's objects first, then by the weight of the link."""
    span = slice(links.indptr[node], links.indptr[node + 1])
    ends, weight = links.indices[span], links.data[span]
    return [int(ends[place]) for place in np.lexsort((ends, -weight, ends >= query))]


@dataclass(frozen=True)
class Named:
    """One of a pair: its name and its label."""

    name: str
    label: str


@dataclass(frozen=True)
class DrawnLink:
    """A link: the classes of its looks, and its path."""

    kind: str
    path: str


@dataclass(frozen=True)
class DrawnNode:
    """A node: what it is and what it is to the pair, its place, and its name beside it, cut where it is long."""

    kind: str
    role: str
    name: str
    short: str
    x: float
    y: float
    radius: float
    text_x: float
    text_y: float
    anchor: str


@dataclass(frozen=True)
class Scene:
    """A close-up as a page shows it: what its caption says, and its links and nodes with their places."""

    kind: str
    fits: bool
    pair: tuple[Named, Named]
    between: int
    before: str
    after: str
    tall: int
    links: tuple[DrawnLink, ...]
    nodes: tuple[DrawnNode, ...]
    wide: int = WIDE


def scene(found: CloseUp) -> Scene:
    """Return the drawing of a close-up, with what to say of it."""
    network, (one, other) = found.network, found.pair
    names, labels = network.nodes["name"].to_pylist(), network.nodes["label"].to_pylist()
    ends = zip(network.source.tolist(), network.target.tolist(), strict=True)
    linked = {frozenset(pair) for pair in ends}
    places, tall = _places(found, linked)
    query = len(network.query)
    links = []
    for a, b in sorted(tuple(sorted(pair)) for pair in linked if pair <= places.keys() and len(pair) == 2):
        kind = "inside" if b < query else "outside"
        direct = " direct" if {a, b} == {one, other} else ""
        links.append(DrawnLink(f"{kind}{direct}", _path(places[a], places[b])))
    colour = _colours(labels[:query])
    nodes = []
    for node, place in places.items():
        role = "pair" if node in found.pair else "shared" if node in found.shared else "own"
        cell = node >= len(network.objects)
        kind = "cell" if cell else colour.get(labels[node], "plain") if node < query else "other"
        nodes.append(_drawn_node(names[node], kind, role, place, tall))
    return Scene(
        found.kind,
        found.fits,
        (Named(names[one], labels[one]), Named(names[other], labels[other])),
        len(found.shared),
        _signed(found.before),
        _signed(found.after),
        tall,
        tuple(links),
        tuple(nodes),
    )


def _places(found: CloseUp, linked: Set[frozenset[int]]) -> tuple[dict[int, tuple[float, float]], int]:
    """Return where every node stands, the pair first, and how tall the drawing is."""
    one, other = found.pair
    shared = [node for node in found.nodes[2:] if node in found.shared]
    rest = [node for node in found.nodes[2:] if node not in found.shared]
    sides = [[node for node in rest if frozenset((node, end)) in linked] for end in found.pair]
    tall = max(LEAST, STEP * (max(len(shared), *(len(side) for side in sides)) + 1))
    places = {one: (PAIR[0] * WIDE, tall / 2), other: (PAIR[1] * WIDE, tall / 2)}
    for nodes, x in ((shared, 0.5), (sides[0], OWN[0]), (sides[1], OWN[1])):
        for number, node in enumerate(nodes):
            places[node] = (x * WIDE, tall / 2 + STEP * (number - (len(nodes) - 1) / 2))
    if len(shared) % 2:
        for node in shared:  # the middle is for the pair's own link and for its names
            places[node] = (places[node][0], places[node][1] + STEP / 2)
    return places, tall


def _drawn_node(name: str, kind: str, role: str, place: tuple[float, float], tall: int) -> DrawnNode:
    """Return a node with its name: above it for the pair, above or below for what is between, and else outside."""
    (x, y), radius = place, RADIUS[role]
    if role == "shared":
        right, down, anchor = 0.0, radius + 13 if y > tall / 2 else -radius - 3, "middle"
    elif role == "pair":
        right, down, anchor = 0.0, -radius - 7, "middle"
    elif x < WIDE / 2 - 1:
        right, down, anchor = -radius - 5, 4.0, "end"
    else:
        right, down, anchor = radius + 5, 4.0, "start"
    return DrawnNode(kind, role, name, _short(name, LONGEST[role]), x, y, radius, x + right, y + down, anchor)


def _path(one: tuple[float, float], other: tuple[float, float]) -> str:
    """Return a line from one place to another, bent where both stand in one column."""
    (x, y), (u, v) = one, other
    if abs(x - u) > 1:
        return f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"
    bend = 14 + abs(y - v) / 7
    aside = x + (bend if x <= WIDE / 2 else -bend)
    return f"M{x:.1f} {y:.1f}Q{aside:.1f} {(y + v) / 2:.1f} {u:.1f} {v:.1f}"


def _colours(labels: Sequence[str]) -> dict[str, str]:
    """Return the class of every label, whose colour is the same as in the drawing of the network."""
    return {name: f"label{number % len(LABELS)}" for number, name in enumerate(sorted(set(labels) - {""}))}


def _short(name: str, most: int) -> str:
    line = " ".join(name.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
