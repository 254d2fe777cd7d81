"""How far each kernel is from what the memory of this machine allows.

The machine is measured first: how fast one core reads a large array from end to end, and how fast it fetches single
numbers from random places of tables of several sizes. For each kernel we count what any program must read and write to
give the same answer from the same files: bytes that lie together, and places that do not. The floor is the time this
machine needs for just that; the arithmetic is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import cube2net as c2n
from cube2net._util.arrays import Array, links_from_pairs
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.network.assembly import induce_links
from cube2net.network.hops import expand_hops
from cube2net.network.pagerank import find_neighbors
from cube2net.vectors.nearest_cells import Nearest
from measures.answers import CELLS, SIZES
from measures.contestants import DAMPING, links_once
from measures.literature import person_query
from measures.processes import Results, alone, bare, median, timed, turns

STREAM = 2**30
TABLES = tuple(2**power for power in (18, 20, 22, 24, 26, 28, 30))
BATCH, NEAREST = 40, 64
# The first tolerance that pushes meet alone, having seen one end of a link in so many: beyond, sweeps take over.
LOOSE, FEW = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84), 64
# How many fetches, and from a table of how many bytes.
Pairs = Sequence[tuple[float, float]]


def measure(results: Results, cube: Path) -> None:
    """Measure the machine, and then the kernels on the largest cube."""
    results.measure("limits", lambda: bare(alone(limits, cube)))


def limits(folder: Path) -> dict[str, Any]:
    """Return the machine's speeds, and for every kernel its time and what it must touch."""
    speeds = machine_speeds()
    cube = c2n.open(folder)
    queries = [person_query(cube, size).astype(np.int32) for size in SIZES]
    rows = [kernel(cube, query) for query in queries for kernel in (_hop, _induce, _push, _greedy)]
    rows += [kernel(cube) for kernel in (_nearest, _pack)]
    for row in rows:
        row["floor"] = row["streamed"] / speeds["stream"] + sum(
            count * fetch(speeds, table) for count, table in row["fetched"]
        )
    return {"speeds": speeds, "kernels": rows}


def fetch(speeds: dict[str, Any], table: float) -> float:
    """Return the seconds to fetch from a random place of a table of so many bytes, between those measured."""
    known = [speeds["fetch"][str(size)] for size in TABLES]
    return float(np.interp(np.log(max(table, 1.0)), np.log(TABLES), known))


def machine_speeds() -> dict[str, Any]:
    """Return how many bytes a second are read in a row, and the seconds of a fetch by the size of the table."""
    rng = np.random.default_rng(0)
    large = np.ones(STREAM // 8, np.uint64)
    streams = turns(lambda: add_all(large), most=7)
    fetches = {}
    for size in TABLES:
        table = large[: size // 8]
        where = rng.integers(0, len(table), 2**22, dtype=np.int32)
        fetches[str(size)] = min(turns(lambda table=table, where=where: add_some(table, where), most=7)) / len(where)
    return {"stream": STREAM / min(streams), "fetch": fetches}


@njit(cache=True)
def add_all(values: Array) -> int:
    """Return the sum of an array, read from end to end."""
    total = np.uint64(0)
    for value in values:
        total += value
    return total


@njit(cache=True)
def add_some(values: Array, where: Array) -> int:
    """Return the sum of single entries; several fetches are under way at once, as in the kernels."""
    total = np.uint64(0)
    for k in range(len(where)):
        total += values[np.uint32(where[k])]
    return total


def _row(kernel: str, of: str, seconds: float, streamed: float, fetched: Pairs) -> dict[str, Any]:
    return {"kernel": kernel, "of": of, "seconds": seconds, "streamed": float(streamed), "fetched": fetched}


def _degrees(cube: Cube, rows: Array) -> Array:
    return np.asarray(cube.links.indptr)[rows + 1] - np.asarray(cube.links.indptr)[rows]


def _hop(cube: Cube, query: Array) -> dict[str, Any]:
    """Each row's place and beginning, its ends in a row, and for each end whether it is there already (one bit)."""
    links = cube.links
    found = expand_hops(links, query, 1)[0]
    ends = int(_degrees(cube, query).sum())
    seconds = median(turns(lambda: expand_hops(links, query, 1)))
    fetched = [(len(query), links.indptr.nbytes), (len(query), links.indices.nbytes), (ends, len(links) / 8)]
    return _row("hop", f"{len(query):,} objects → {len(found):,}", seconds, 4 * ends + 4 * len(found), fetched)


def _induce(cube: Cube, query: Array) -> dict[str, Any]:
    """Each row's place and beginning, its ends in a row, a bit for each, and a weight and three words a link."""
    links = cube.links
    nodes = np.concatenate([query, expand_hops(links, query, 1)[0]])
    ends = int(_degrees(cube, nodes).sum())
    count = len(induce_links(links, nodes)[0])
    seconds = median(turns(lambda: induce_links(links, nodes)))
    fetched = [(len(nodes), links.indptr.nbytes), (len(nodes), links.indices.nbytes), (ends, len(links) / 8)]
    fetched += [(count, 8 * len(nodes))]
    return _row("induce", f"{len(nodes):,} nodes → {count:,} links", seconds, 4 * ends + 16 * count, fetched)


def _push(cube: Cube, query: Array) -> dict[str, Any]:
    """The ends and weights of every object pushed, and one number to add to for each end."""
    links, asked, top = cube.links, Query(query), 4 * len(query)
    for loose in LOOSE:
        pushed, seen, reached = pushes(links.indptr, links.indices, links.weights, query, DAMPING, loose)
        if seen <= len(links.indices) // FEW:
            break
    seconds = median(turns(lambda: find_neighbors(links, asked, top, DAMPING, loose, slack=None)))
    fetched = [(pushed, links.indptr.nbytes), (pushed, links.indices.nbytes), (seen, 8 * reached)]
    of = f"{len(query):,} objects, {pushed:,} pushes that reach {reached:,}, residual {loose}"
    return _row("push", of, seconds, 8 * seen, fetched)


def _greedy(cube: Cube, query: Array) -> dict[str, Any]:
    """The cells of the query, the members of the cells chosen, and the cells of these members, with a sum for each."""
    asked = cube.query(query.tolist())
    networks = [c2n.construct(cube, asked, "greedy", CELLS, form="objects") for _ in range(9)]
    seconds = median([network.seconds["weigh"] + network.seconds["select"] for network in networks[1:]])
    members, homes = cube.cells.members, cube.object_cells
    held = np.unique(np.concatenate([members[int(cell)] for cell in networks[0].selection.cells]))
    covered = sum(len(members[int(cell)]) for cell in networks[0].selection.cells)
    touched = np.concatenate([held, query])
    ends = int((np.asarray(homes.indptr)[touched + 1] - np.asarray(homes.indptr)[touched]).sum())
    fetched = [(len(touched), homes.indptr.nbytes), (len(touched), homes.indices.nbytes), (ends, 8 * len(cube.cells))]
    fetched += [(covered, len(cube.objects) / 8)]
    of = f"{len(query):,} objects, {CELLS} cells with {len(held):,}"
    return _row("coverage (greedy)", of, seconds, 4 * ends + 4 * covered, fetched)


def _nearest(cube: Cube) -> dict[str, Any]:
    """The vectors of the labels once, and one number of every cell."""
    vectors = c2n.api.embed_cells(cube)
    rng = np.random.default_rng(0)
    spread = vectors.values.std()
    actions = vectors.values[rng.integers(0, len(vectors), BATCH)] + spread * rng.normal(size=(BATCH, 1))
    finder = Nearest.of(vectors)
    seconds = median(turns(lambda: finder.find(actions, k=NEAREST)))
    streamed = sum(4 * table.size for table in vectors.tables) + 4 * len(vectors)
    row = _row("nearest cells", f"{BATCH} actions, {NEAREST} of {len(vectors):,}", seconds, streamed, [])
    return {**row, "dense": vectors.values.nbytes}


def _pack(cube: Cube) -> dict[str, Any]:
    """The links twice, to count and to place, both sides written, and the far side of each at a place of its own."""
    low, high, weight = links_once(cube)
    seconds = min(timed(lambda: links_from_pairs(low, high, weight, len(cube.links)))[0] for _ in range(2))
    links = len(low)
    fetched = [(links, 8 * len(cube.links)), (links, 8 * len(cube.links)), (links, 16 * links)]
    return _row("CSR packing", f"{links:,} links, each once, in order", seconds, (2 * 12 + 16) * links, fetched)


@njit(cache=True)
def pushes(
    indptr: Array, indices: Array, weights: Array, seeds: Array, damping: float, goal: float
) -> tuple[int, int, int]:
    """Return how many pushes there are, the ends of links they see, and the objects they reach: a counting twin."""
    count = len(indptr) - 1
    left = np.zeros(count)
    state = np.zeros(count, np.uint8)
    queue = np.empty(count + 1, np.int32)
    reached = np.empty(count + 1, np.int32)
    strength = np.zeros(count)
    seen, pushed, known, total, threshold = 0, 0, 0, 0.0, 0.0
    for u in seeds:
        degree = indptr[u + 1] - indptr[u]
        if degree:
            left[u] = 1.0 / len(seeds)
            total += left[u]
            threshold = max(threshold, left[u] / degree)
            state[u] = 1
            reached[known] = u
            known += 1
    while total > goal and threshold > 0.0:
        threshold /= 4.0
        first, last = 0, 0
        for place in range(known):
            u = reached[place]
            if left[u] > threshold * (indptr[u + 1] - indptr[u]):
                state[u] = 2
                queue[last] = u
                last += 1
        while first != last and total > goal:
            u = queue[first]
            first = first + 1 if first < count else 0
            state[u] = 1
            if strength[u] == 0.0:
                for k in range(indptr[u], indptr[u + 1]):
                    strength[u] += weights[k]
            total -= (1.0 - damping) * left[u]
            share = damping * left[u] / strength[u]
            left[u] = 0.0
            pushed += 1
            seen += indptr[u + 1] - indptr[u]
            for k in range(indptr[u], indptr[u + 1]):
                v = indices[k]
                left[v] += share * weights[k]
                if state[v] == 0:
                    state[v] = 1
                    reached[known] = v
                    known += 1
                if state[v] == 1 and left[v] > threshold * (indptr[v + 1] - indptr[v]):
                    state[v] = 2
                    queue[last] = v
                    last = last + 1 if last < count else 0
    return pushed, seen, known
