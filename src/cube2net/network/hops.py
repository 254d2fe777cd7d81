"""The query alone, and the objects within one or two hops of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube2net._util.arrays import Array, Links
from cube2net.errors import check_int
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection
from cube2net.network.assembly import cut_to_limits, list_pinned
from cube2net.network.pagerank import compute_scores


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """Select nothing: the network is the query and its own links (the paper's NoCube).

    References
    ----------
    .. [1] C. Yang, M. Liu, F. He, J. Peng and J. Han, "cube2net: Efficient query-specific network construction with
       data cube organization".
    """

    chooses_cells = draws = takes_long = False

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the pinned objects; ``seed`` is not used."""
        objects = np.asarray(list_pinned(query, budget.scope), dtype=np.int32)
        return Selection(objects, weights.value(objects))


@dataclass(frozen=True, kw_only=True)
class Hops:
    """Select every object within ``hops`` steps of the query (the paper's NoCube+ and NoCube++).

    If ``max_nodes`` or ``max_links`` leaves room for fewer, the nearest objects are selected; equally near ones by
    personalised PageRank, then by the number of objects one step nearer that they are linked to. The query is always
    complete. Paths do not lead through forbidden objects; pinned ones count as one step away.

    Parameters
    ----------
    hops
        The number of steps along links, 1 or 2.
    fan_out
        The maximum number of new objects per object, so that hubs cannot dominate the network: those of its
        heaviest links, of equal links those with the lower object number. None is no limit.

    Examples
    --------
    >>> Hops(hops=2, fan_out=10)
    Hops(hops=2, fan_out=10)

    References
    ----------
    .. [1] C. Yang, M. Liu, F. He, J. Peng and J. Han, "cube2net: Efficient query-specific network construction with
       data cube organization".
    """

    chooses_cells = draws = takes_long = False

    hops: int = 1
    fan_out: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "hops", check_int("hops", self.hops, 1, 2, what="steps from the query"))
        objects = "objects, or None for all"
        object.__setattr__(self, "fan_out", check_int("fan_out", self.fan_out, 1, or_none=True, what=objects))

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects near the query, without the query; ``seed`` is not used."""
        limited = budget.max_nodes is not None or budget.max_links is not None
        pins, forbidden = list_pinned(query, budget.scope), budget.scope.forbidden_objects
        ends = (cube.links, query.objects, self.hops, self.fan_out)
        objects, steps, hits = expand_hops(*ends, count=limited, also=pins, forbidden=forbidden)
        if limited:
            near = compute_scores(cube.links, query.objects)[objects]
            ranked = objects[np.lexsort((objects, -hits, -near, steps))]
            objects = cut_to_limits(cube.links, query, ranked, budget)
        elif len(pins):
            objects = np.concatenate([pins, objects])
        objects = np.sort(objects)
        return Selection(objects, weights.value(objects))


def expand_hops(
    links: Links,
    start: Array,
    hops: int,
    fan_out: int | None = None,
    *,
    count: bool = True,
    also: Array | None = None,
    forbidden: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return the objects within some steps of others, the step of each, and the number of objects that link to it.

    Objects in ``also`` count as reached at the first step but are not returned. Those marked in ``forbidden`` are
    neither reached nor passed through. Without ``count`` the last array is empty.

    >>> from cube2net._util.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3), 4)
    >>> [part.tolist() for part in expand_hops(path, np.array([1]), 2)]
    [[0, 2, 3], [1, 1, 2], [1, 1, 1]]
    """
    from cube2net.kernels.subgraphs import hop, insert_objects, look_up, make_keys

    reached = front = np.array(start, dtype=np.int32)
    more = np.array([] if also is None else also, dtype=np.int32)
    reached = np.concatenate([reached, more])
    rings: list[Array] = []
    hits: list[Array] = [np.empty(0, np.int32)]
    for _ in range(hops):
        ends = links.indptr[front + 1] - links.indptr[front]
        most = min(int(np.minimum(ends, fan_out or len(links)).sum()), len(links))
        keys = np.empty(0, np.int32) if forbidden is not None else make_keys(len(reached) + most, len(links))
        size = len(keys) or len(links)
        state = np.zeros(size, np.uint8) if forbidden is None else forbidden.astype(np.uint8)
        brought = np.zeros(size if count else 0, np.int32)
        insert_objects(keys, state, reached, 1, 0)
        front = hop(links.indptr, links.indices, links.weights, front, fan_out or 0, most, keys, state, brought)
        rings.append(front)
        reached = np.concatenate([reached, front])
        if count:
            hits.append(look_up(keys, brought, front))
        front, more = np.concatenate([front, more]), more[:0]
    steps = np.repeat(np.arange(1, hops + 1), [len(ring) for ring in rings])
    return np.concatenate(rings), steps, np.concatenate(hits)
