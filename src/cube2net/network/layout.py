"""Places of a network's nodes in the plane: linked nodes near each other, none on top of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.network.export.graphs import to_scipy
from cube2net.network.warm_layout import below, between_neighbours, places_given, settled
from cube2net.records import Network
from cube2net.seeding import stream

if TYPE_CHECKING:
    import scipy.sparse as sp

WIDE = 1.6
PIVOTS = 40
HOLD = 0.05
SMALL = 12
ROOM = {"query": 0.52, "other": 0.36, "cell": 0.75}


def layout(network: Network, *, seed: int = 0, start: Sequence[Sequence[float] | None] | Array | None = None) -> Array:
    """Return a place (x, y) for every node; the same seed gives the same places.

    Every connected part is laid out by itself: first by the distances to a few far-apart nodes, so that the
    whole unfolds, then by forces (links pull by the logarithm of their length, nodes push by 1/distance),
    then nodes that overlap are pushed apart. Parts are packed in rows, large ones first; nodes without
    links stand in a grid below. A disc of diameter 1 fits around every node of the query.

    With igraph's layouts in place of these forces more links cross at 200 and 2,000 nodes: 2.9 and 3.1 % of pairs at
    best, 2.5 and 2.4 % here, where as many names or more find a place. At 20,000 nodes fewer cross (1.9 %, 2.3 % here)
    in two thirds of the time, and no name finds a place. ``benchmarks/layouts.py`` shows it.

    ``start`` is where nodes are now, in their order, None for those that are new. Then these begin at the mean of their
    neighbours, all move by a few short steps, and only what overlaps is pushed apart; parts that are all new stand
    below. Places are as far as in the layout that they came from. Where more than half are new all are laid out anew:
    few nodes do not say how the others lie.
    """
    from scipy.sparse import csgraph

    rng = stream(seed, "network", "layout")
    links = to_scipy(network)
    links.data[:] = 1
    radius = _radius(network)
    _, part = csgraph.connected_components(links, directed=False)
    sizes = np.bincount(part, minlength=1)
    parts = [np.flatnonzero(part == number) for number in np.argsort(-sizes, kind="stable") if sizes[number] > 1]
    alone = np.flatnonzero(sizes[part] == 1)
    known = None if start is None else places_given(start, len(network))
    if known is not None and 2 * int(np.isnan(known[:, 0]).sum()) <= len(known):
        return _warm(links, known, radius, parts, alone, rng)
    places = [_part(links[nodes][:, nodes], radius[nodes], rng) for nodes in parts]
    if len(alone):
        parts.append(alone)
        places.append(_grid(len(alone), max([np.ptp(place[:, 0]) for place in places], default=0.0)))
    result: Array = np.empty((len(network), 2))
    for nodes, place in zip(parts, _packed(places), strict=True):
        result[nodes] = place
    result -= (result.max(axis=0) + result.min(axis=0)) / 2
    return result


def _warm(
    links: sp.csr_array, known: Array, radius: Array, parts: list[Array], alone: Array, rng: np.random.Generator
) -> Array:
    """Return the places of nodes that mostly have one."""
    from cube2net.kernels.force_layout import separate

    place = between_neighbours(links, known, radius)
    hold = np.array([HOLD, HOLD * WIDE])
    fresh = [nodes for nodes in parts if np.isnan(place[nodes[0], 0])]
    for nodes in parts:
        if len(nodes) > 2 and not np.isnan(place[nodes[0], 0]):
            own = links[nodes][:, nodes]
            place[nodes] = settled(own, place[nodes], _ends(own), hold)
    made = [_part(links[nodes][:, nodes], radius[nodes], rng) for nodes in fresh]
    loose = alone[np.isnan(place[alone, 0])]
    if len(loose):
        fresh.append(loose)
        made.append(_grid(len(loose), float(np.ptp(place[~np.isnan(place[:, 0]), 0]))))
    if made:
        for nodes, new in zip(fresh, below(_packed(made), place), strict=True):
            place[nodes] = new
    result: Array = separate(place, radius, 200 if len(place) <= 5000 else 20)
    return result


def _radius(network: Network) -> Array:
    node = np.arange(len(network))
    other = np.where(node < len(network.objects), ROOM["other"], ROOM["cell"])
    return np.where(network.in_query, ROOM["query"], other)


def _part(links: sp.csr_array, radius: Array, rng: np.random.Generator) -> Array:
    """Return the places of one connected part, its long side along x, about its middle."""
    from cube2net.kernels.force_layout import separate

    count = links.shape[0]
    source, target = _ends(links)
    place = _turned(_by_forces(links, rng))
    box = np.maximum(np.ptp(place, axis=0), 1e-9)
    crowd = float((np.pi * radius**2).sum())
    scale = np.sqrt(3.2 * crowd / max(float(box.prod()), float(box.max()) ** 2 / 8))
    if count < SMALL:
        scale = 1.7 / max(float(np.median(np.linalg.norm(place[source] - place[target], axis=1))), 1e-9)
    return separate(place * scale, radius, 200 if count <= 5000 else 20)


def _by_forces(links: sp.csr_array, rng: np.random.Generator) -> Array:
    """Return the places at which what pulls and pushes the nodes of one connected part is about even."""
    from cube2net.kernels.force_layout import bins_for, relax

    count = links.shape[0]
    degree = np.diff(links.indptr).astype(np.float64)
    source, target = _ends(links)
    start = _unfolded(links)
    start *= 10 * np.sqrt(count) / max(float(start.std(axis=0).max()), 1e-9)
    start += rng.normal(size=start.shape) * np.sqrt(count) / 10
    return relax(
        start,
        source,
        target,
        1 / np.sqrt(np.minimum(degree[source], degree[target])),
        np.sqrt(degree + 1),
        bins_for(count),
        int(np.clip(1_200_000 / count, 60, 400)),
        float(np.sqrt(count)),
        np.array([HOLD, HOLD * WIDE]),
    )


def _ends(links: sp.csr_array) -> tuple[Array, Array]:
    """Return the two ends of every link, each link once."""
    ends = links.tocoo()
    once = ends.row < ends.col
    return ends.row[once].astype(np.int64), ends.col[once].astype(np.int64)


def _unfolded(links: sp.csr_array) -> Array:
    """Return first places by pivot MDS: the two main directions of the squared distances to a few nodes."""
    from scipy.sparse import csgraph

    count = links.shape[0]
    pivot, nearest = int(np.argmax(np.diff(links.indptr))), np.full(count, np.inf)
    rows = []
    for _ in range(min(PIVOTS, count)):
        rows.append(csgraph.dijkstra(links, indices=pivot, unweighted=True))
        nearest = np.minimum(nearest, rows[-1])
        pivot = int(np.argmax(nearest))
    squared = np.array(rows).T ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    return _same_side(left[:, :2] * size[:2])


def _turned(place: Array) -> Array:
    """Return the places turned so that they are widest along x."""
    centred = place - place.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return _same_side(centred @ axes.T)


def _same_side(place: Array) -> Array:
    """Return the places mirrored so that the farthest node of each axis is on the positive side."""
    far = place[np.abs(place).argmax(axis=0), np.arange(place.shape[1])]
    return place * np.where(far < 0, -1.0, 1.0)


def _grid(count: int, width: float) -> Array:
    """Return places in rows from the top left, as wide as asked or a little wider than high."""
    columns = int(max(np.ceil(np.sqrt(count * WIDE)), width // 1.6))
    node = np.arange(count)
    return np.column_stack([node % columns, -(node // columns)]) * 1.6


def _packed(places: list[Array]) -> list[Array]:
    """Return the parts moved side by side into rows, each row centred, no part touching another."""
    boxes = np.array([np.ptp(place, axis=0) + 2 for place in places])
    widest, square = float(boxes[:, 0].max()), float(np.sqrt(boxes.prod(axis=1).sum() * WIDE))
    room = widest if widest > 0.7 * square else square
    rows: list[list[int]] = []
    used = np.inf
    for number, (width, _) in enumerate(boxes):
        if used + width > room * 1.001:
            rows.append([])
            used = 0.0
        rows[-1].append(number)
        used += width
    moved: dict[int, Array] = {}
    top = 0.0
    for row in rows:
        height = float(boxes[row, 1].max())
        left = -float(boxes[row, 0].sum()) / 2
        for number in row:
            place = places[number]
            middle = (place.max(axis=0) + place.min(axis=0)) / 2
            moved[number] = place - middle + np.array([left + boxes[number, 0] / 2, top - height / 2])
            left += boxes[number, 0]
        top -= height
    return [moved[number] for number in range(len(places))]
