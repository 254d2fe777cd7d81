"""The links of an object to a query, and the shortest paths there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.records import Cube, Links, Query
from cube2net.records.explanation import Id, LinkPath

MOST_STEPS = 4
"""Paths are looked for up to so many links."""
MOST_ENDS = 20_000_000
"""So many ends of links are looked at before the search for a path is given up."""
SHOWN_PATHS = 3


@dataclass(frozen=True, eq=False)
class Reached:
    """How many steps a query is away, how many paths of these lead there, and the heaviest of them."""

    steps: int | None
    ways: int = 0
    paths: tuple[LinkPath, ...] = ()


def named(cube: Cube, rows: Sequence[int] | Array) -> list[tuple[Id, str]]:
    """Return the ids and the names of some objects."""
    places = np.asarray(rows, dtype=np.int64)
    names = cube.objects.table["name"].take(pa.array(places)).to_pylist()
    return list(zip(cube.objects.ids(places).to_pylist(), names, strict=True))


def query_links(links: Links, query: Query, row: int) -> tuple[Array, Array]:
    """Return the objects of a query that one object is linked to, and the weights, heaviest first."""
    begin, end = int(links.indptr[row]), int(links.indptr[row + 1])
    others = links.indices[begin:end]
    into = np.isin(others, query.objects)
    others, weights = others[into], links.weights[begin:end][into]
    order = np.lexsort((others, -weights))
    return others[order], weights[order]


def shortest_paths(cube: Cube, query: Query, row: int, most: int = SHOWN_PATHS) -> Reached:
    """Return the shortest paths from an object to the query; from one of the query, to the rest of it.

    Of several those come first whose links weigh most together, each to another object of the query.
    """
    from cube2net.kernels.shortest_paths import reach

    links, count = cube.links, len(cube.objects)
    goals = np.zeros(count, dtype=np.uint8)
    goals[query.objects] = 1
    goals[row] = 0
    # Pages that nobody comes to are never made: what the search costs follows what it meets.
    steps, heaviest, ways = np.zeros(count, np.uint8), np.empty(count), np.empty(count)
    before = np.empty(count, np.int32)
    found = (links.indptr, links.indices, links.weights)
    far, met = reach(row, goals, *found, MOST_STEPS, MOST_ENDS, steps, heaviest, ways, before)
    if far <= 0:
        return Reached(None)
    order = met[np.lexsort((met, -heaviest[met]))][:most].tolist()
    lines = [_back(goal, before) for goal in order]
    known = dict(zip(flat := sorted({at for line in lines for at in line}), named(cube, flat), strict=True))
    paths = tuple(
        LinkPath(tuple(known[at][0] for at in line), tuple(known[at][1] for at in line), float(heaviest[line[-1]]))
        for line in lines
    )
    return Reached(int(far), int(ways[met].sum()), paths)


def _back(goal: int, before: Array) -> list[int]:
    line = [goal]
    while before[line[-1]] >= 0:
        line.append(int(before[line[-1]]))
    return line[::-1]
