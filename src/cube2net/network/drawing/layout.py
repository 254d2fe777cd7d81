"""Layout of a network: positions of nodes in the plane, linked nodes near each other, without overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.random import stream
from cube2net.errors import ParameterError, quote
from cube2net.model.network import Network
from cube2net.network.export.graphs import to_scipy

if TYPE_CHECKING:
    import scipy.sparse as sp

WIDE = 1.6
PIVOTS = 40
HOLD = 0.05
SMALL = 12
RADIUS = {"query": 0.52, "other": 0.36, "cell": 0.75}


def layout(network: Network, *, seed: int = 0, start: Sequence[Sequence[float] | None] | Array | None = None) -> Array:
    """Return a position (x, y) for every node; the same seed gives the same positions.

    Connected components are laid out separately: by pivot MDS, then by forces (links attract by the logarithm of their
    length, nodes repel by 1/distance), then by removing overlaps. Components are packed in rows, large ones first;
    nodes without links are in a grid below. A disc of diameter 1 fits around every node of the query.

    igraph's layouts in place of these forces have more crossings at 200 and 2,000 nodes: 2.9 and 3.1 % of pairs of
    links at best, here 2.5 and 2.4 %, with at least as many names placed. At 20,000 nodes they have fewer (1.9 %, here
    2.3 %) in two thirds of the time, and no name can be placed (``benchmarks/layouts.py``).

    ``start`` has the present positions in the order of nodes, None for new nodes. New nodes then start at the mean of
    their neighbours, all nodes move by a few short steps, and overlaps are removed; new components are placed below. If
    more than half of the nodes are new, all are laid out again.
    """
    from scipy.sparse import csgraph

    rng = stream(seed, "network", "layout")
    links = to_scipy(network)
    links.data[:] = 1
    other = np.where(np.arange(len(network)) < len(network.objects), RADIUS["other"], RADIUS["cell"])
    radius = np.where(network.in_query, RADIUS["query"], other)
    _, part = csgraph.connected_components(links, directed=False)
    sizes = np.bincount(part, minlength=1)
    parts = [np.flatnonzero(part == number) for number in np.argsort(-sizes, kind="stable") if sizes[number] > 1]
    alone = np.flatnonzero(sizes[part] == 1)
    start_positions = None if start is None else _read_places(start, len(network))
    if start_positions is not None and 2 * int(np.isnan(start_positions[:, 0]).sum()) <= len(start_positions):
        return _move_places(links, start_positions, radius, parts, alone, rng)
    places = [_lay_out_part(links[nodes][:, nodes], radius[nodes], rng) for nodes in parts]
    if len(alone):
        parts.append(alone)
        places.append(_make_grid(len(alone), max([np.ptp(place[:, 0]) for place in places], default=0.0)))
    result: Array = np.empty((len(network), 2))
    for nodes, place in zip(parts, _pack_parts(places), strict=True):
        result[nodes] = place
    result -= (result.max(axis=0) + result.min(axis=0)) / 2
    return result


def _move_places(
    links: sp.csr_array,
    start_positions: Array,
    radius: Array,
    parts: list[Array],
    alone: Array,
    rng: np.random.Generator,
) -> Array:
    """Return new positions given those of at least half of the nodes."""
    from cube2net.kernels.force_layout import separate

    place = _place_between(links, start_positions, radius)
    hold = np.array([HOLD, HOLD * WIDE])
    fresh = [nodes for nodes in parts if np.isnan(place[nodes[0], 0])]
    for nodes in parts:
        if len(nodes) > 2 and not np.isnan(place[nodes[0], 0]):
            own = links[nodes][:, nodes]
            place[nodes] = _relax_part(own, place[nodes], _list_ends(own), hold)
    part_positions = [_lay_out_part(links[nodes][:, nodes], radius[nodes], rng) for nodes in fresh]
    loose = alone[np.isnan(place[alone, 0])]
    if len(loose):
        fresh.append(loose)
        part_positions.append(_make_grid(len(loose), float(np.ptp(place[~np.isnan(place[:, 0]), 0]))))
    if part_positions:
        for nodes, new in zip(fresh, _move_below(_pack_parts(part_positions), place), strict=True):
            place[nodes] = new
    result: Array = separate(place, radius, 200 if len(place) <= 5000 else 20)
    return result


def _lay_out_part(links: sp.csr_array, radius: Array, rng: np.random.Generator) -> Array:
    """Return the positions of a connected component, centred, its long side along x."""
    from cube2net.kernels.force_layout import separate

    count = links.shape[0]
    source, target = _list_ends(links)
    place = _apply_forces(links, rng)
    place -= place.mean(axis=0)
    place = _mirror(place @ np.linalg.svd(place, full_matrices=False)[2].T)
    box = np.maximum(np.ptp(place, axis=0), 1e-9)
    crowd = float((np.pi * radius**2).sum())
    scale = np.sqrt(3.2 * crowd / max(float(box.prod()), float(box.max()) ** 2 / 8))
    if count < SMALL:
        scale = 1.7 / max(float(np.median(np.linalg.norm(place[source] - place[target], axis=1))), 1e-9)
    return separate(place * scale, radius, 200 if count <= 5000 else 20)


def _apply_forces(links: sp.csr_array, rng: np.random.Generator) -> Array:
    """Return positions of a connected component at which forces are approximately balanced."""
    from cube2net.kernels.force_layout import choose_bins, relax

    count = links.shape[0]
    degree = np.diff(links.indptr).astype(np.float64)
    source, target = _list_ends(links)
    start = _embed_by_pivots(links)
    start *= 10 * np.sqrt(count) / max(float(start.std(axis=0).max()), 1e-9)
    start += rng.normal(size=start.shape) * np.sqrt(count) / 10
    return relax(
        start,
        source,
        target,
        1 / np.sqrt(np.minimum(degree[source], degree[target])),
        np.sqrt(degree + 1),
        choose_bins(count),
        int(np.clip(1_200_000 / count, 60, 400)),
        float(np.sqrt(count)),
        np.array([HOLD, HOLD * WIDE]),
    )


def _list_ends(links: sp.csr_array) -> tuple[Array, Array]:
    """Return the ends of every link, each link once."""
    ends = links.tocoo()
    once = ends.row < ends.col
    return ends.row[once].astype(np.int64), ends.col[once].astype(np.int64)


def _embed_by_pivots(links: sp.csr_array) -> Array:
    """Return initial positions by pivot MDS: the two main directions of the squared distances to a few nodes."""
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
    return _mirror(left[:, :2] * size[:2])


def _mirror(place: Array) -> Array:
    """Return positions mirrored so that the farthest node of each axis is on the positive side."""
    far = place[np.abs(place).argmax(axis=0), np.arange(place.shape[1])]
    return place * np.where(far < 0, -1.0, 1.0)


def _make_grid(count: int, width: float) -> Array:
    """Return positions in rows from the top left, as wide as ``width`` or a little wider than high."""
    columns = int(max(np.ceil(np.sqrt(count * WIDE)), width // 1.6))
    node = np.arange(count)
    return np.column_stack([node % columns, -(node // columns)]) * 1.6


def _pack_parts(places: list[Array]) -> list[Array]:
    """Return the components packed into centred rows."""
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


FARTHEST = 1e6
"""Largest coordinate."""
WARM_STEPS, WARM_REACH = 30, 0.12
"""Number of iterations from present positions; initial step limit."""
SCALES = np.geomspace(0.05, 400, 12)
"""Scales at which the balance of forces is tested."""
GAP = 2.0
"""Distance of new components from the others."""


def _read_places(start: Sequence[Sequence[float] | None] | Array, count: int) -> Array:
    """Return present positions as an array, nan for new nodes; raise if one is invalid."""
    if len(start) != count:
        raise ParameterError(f"start has {len(start):,} places, expected one, or null, for each of {count:,} nodes")
    positions = np.full((count, 2), np.nan)
    for node, place in enumerate(start):
        if place is None:
            continue
        position = np.asarray(place, dtype=np.float64)
        if np.isnan(position).all():
            continue
        if position.shape != (2,) or not (np.abs(position) <= FARTHEST).all():
            raise ParameterError(f"start[{node}] is {quote(place)}, expected two numbers of at most {FARTHEST:,.0f}")
        positions[node] = position
    return positions


def _place_between(links: sp.csr_array, place: Array, radius: Array) -> Array:
    """Return positions with new nodes near the mean of their neighbours, each in another direction from it."""
    place = place.copy()
    turn = np.arange(len(place)) * 2.399963229728653  # the golden angle: no two directions are the same
    beside = np.column_stack([np.cos(turn), np.sin(turn)]) * radius[:, None]
    while True:
        is_placed = ~np.isnan(place[:, 0])
        count = links @ is_placed.astype(np.float64)
        ready = np.flatnonzero(~is_placed & (count > 0))
        if not len(ready):
            return place
        sums = links[ready] @ np.where(is_placed[:, None], place, 0.0)
        place[ready] = sums / count[ready, None] + beside[ready]


def _relax_part(links: sp.csr_array, place: Array, ends: tuple[Array, Array], hold: Array) -> Array:
    """Return the positions of a component after a few short steps of the forces, with the same centre."""
    from cube2net.kernels.force_layout import attract, choose_bins, push_apart, relax

    count = len(place)
    degree = np.diff(links.indptr).astype(np.float64)
    pull = 1 / np.sqrt(np.minimum(degree[ends[0]], degree[ends[1]]))
    mass = np.sqrt(degree + 1)
    bins = choose_bins(count)
    middle = place.mean(axis=0)
    centred = place - middle

    def outward(scale: float) -> float:
        """Return how strongly the forces expand the component at a scale."""
        at = centred * scale
        force = np.zeros_like(at)
        push_apart(at, mass, bins, force)
        attract(at, *ends, pull, force)
        force -= hold * mass[:, None] * at
        return float((force * at).sum())

    signs = [outward(scale) > 0 for scale in SCALES]
    first = signs.index(False) if False in signs else len(SCALES) - 1
    low, high = SCALES[max(first - 1, 0)], SCALES[first]
    for _ in range(4):
        scale = float(np.sqrt(low * high))
        low, high = (scale, high) if outward(scale) > 0 else (low, scale)
    scale = float(np.sqrt(low * high))
    steps = int(np.clip(WARM_STEPS * 2_000 / count, 6, WARM_STEPS))
    moved: Array = relax(centred * scale, *ends, pull, mass, bins, steps, WARM_REACH * scale, hold) / scale
    moved += middle - moved.mean(axis=0)
    return moved


def _move_below(places: list[Array], top: Array) -> list[Array]:
    """Return new components, packed together, moved below the others."""
    every = np.concatenate(places)
    middle = (every[:, 0].max() + every[:, 0].min()) / 2
    placed = top[~np.isnan(top[:, 0])]
    target = (placed[:, 0].max() + placed[:, 0].min()) / 2
    shift = np.array([target - middle, placed[:, 1].min() - GAP - every[:, 1].max()])
    return [place + shift for place in places]
