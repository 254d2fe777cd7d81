"""Discrepancy maximisation: a connected set of objects in which the query is dense."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.random import stream
from cube2net.errors import ParameterError, check_int, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection
from cube2net.network.assembly import cut_to_budget, list_included, mark_forbidden

TreeMaker = Callable[[int, Array], Array]
"""Returns the links of a tree, given its number and the best set so far."""


@dataclass(frozen=True, kw_only=True)
class MaxDisc:
    """Select a connected set of objects with many objects of the query and few others.

    The discrepancy of a connected set C is ``alpha`` · (query objects in C) − (other objects in C). To maximise it is
    NP-hard in general but linear on a tree. So trees are drawn in the links around the query, the best C of each is
    computed exactly, and the best of all is used [1]_. Objects whose neighbours are all neighbours of another object
    are removed first.

    C may leave out much of the query; as in the paper, the network keeps all of the query and the method adds the other
    objects of C. With a small ``alpha`` these are often none. Limits on nodes or links are met by cutting off the
    branches that lose least per object. Forbidden objects are in no C, and pinned ones cost nothing.

    Parameters
    ----------
    alpha
        The value of an object of the query, in other objects.
    tree
        The kind of trees:

        - ``"bfs"``: breadth-first trees from the objects of the query, at most ``tries`` of them chosen at random.
        - ``"spanning"``: ``tries`` spanning trees of least weight under random weights.
        - ``"smart"``: ``tries`` spanning trees through promising objects. A query object has the price 0, another
          object 1/k, where k is its number of links into the query (at least 1), and a link weighs the prices of its
          ends. The first tree has the least weight; later ones keep the best C so far connected and draw the rest
          around these weights.
    tries
        The number of trees.
    reach
        The largest distance from the query in hops. By default α·|Q|/2, rounded up: no smallest best C has objects
        farther away.
    most
        The largest number of other objects that are searched; of the last ring those with most links back come first.

    Examples
    --------
    >>> MaxDisc(alpha=2.0, tree="bfs")
    MaxDisc(alpha=2.0, tree='bfs', tries=32, reach=None, most=200000)

    References
    ----------
    .. [1] A. Gionis, M. Mathioudakis and A. Ukkonen, "Bump hunting in the dark: Local discrepancy maximization on
       graphs", ICDE 2015.
    """

    chooses_cells = draws = False

    alpha: float = 1.0
    tree: str = field(default="smart", metadata={"outside": True})
    tries: int = 32
    reach: int | None = None
    most: int = 200_000

    def __post_init__(self) -> None:
        if not 0 < self.alpha < math.inf:
            raise ParameterError(f"alpha is {self.alpha!r}, expected a number above 0")
        if self.tree not in TREES:
            raise unknown_name("tree", self.tree, TREES)
        hops = "hops, or None for all that can pay"
        object.__setattr__(self, "tries", check_int("tries", self.tries, 1, what="trees"))
        object.__setattr__(self, "reach", check_int("reach", self.reach, 0, or_none=True, what=hops))
        object.__setattr__(self, "most", check_int("most", self.most, 0, what="objects"))

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the other objects of the best connected set found."""
        from cube2net.kernels.subgraphs import find_neighbourhood
        from cube2net.kernels.trees import best_subtrees, root_forest

        indptr, indices = np.asarray(cube.links.indptr), np.asarray(cube.links.indices)
        alpha = float(min(self.alpha, 2 * len(indptr)))  # then one object of the query outweighs all others
        reach = math.ceil(alpha * len(query) / 2) if self.reach is None else self.reach
        inside, forbidden = list_included(query, budget.scope), mark_forbidden(budget.scope)
        nodes, low, high, _ = find_neighbourhood(
            indptr, indices, inside, forbidden, min(reach, len(indptr)), self.most, True
        )
        worth = np.where(np.arange(len(nodes)) < len(query), alpha, -1.0)
        worth[len(query) : len(inside)] = 0.0
        make_tree = TREES[self.tree](low, high, len(nodes), len(inside), stream(seed, "network", "maxdisc", self.tree))
        none = np.empty(0, dtype=np.int32)
        group, free = np.zeros(len(nodes), dtype=np.int32), np.zeros(len(low))
        best, piece, tree = 0.0, np.zeros(len(nodes), dtype=bool), np.empty(0, dtype=np.int64)
        for number in range(min(self.tries, len(inside)) if self.tree == "bfs" else self.tries):
            links = make_tree(number, piece)
            order, parent, up = root_forest(len(nodes), low[links], high[links], free, none)
            keep, values = best_subtrees(order, parent, worth, up, group, 1)
            if values[0] > best:
                best, piece, tree = float(values[0]), keep, links[keep[low[links]] & keep[high[links]]]
        objects = cut_to_budget(budget, cube, query, nodes, low[tree], high[tree], free[tree], worth)
        return Selection(objects, weights.value(objects))


def _bfs(low: Array, high: Array, count: int, inside: int, rng: np.random.Generator) -> TreeMaker:
    from cube2net.kernels.subgraphs import both_ends
    from cube2net.kernels.trees import search

    ends = both_ends(count, low, high)
    roots = rng.permutation(inside).astype(np.int32)

    def from_root(number: int, piece: Array) -> Array:
        above: Array = search(*ends, roots[number : number + 1])[2]
        return above[above >= 0]

    return from_root


def _spanning(low: Array, high: Array, count: int, inside: int, rng: np.random.Generator) -> TreeMaker:
    from cube2net.kernels.trees import span_forest

    def at_random(number: int, piece: Array) -> Array:
        links: Array = span_forest(count, low, high, rng.permutation(len(low)))
        return links

    return at_random


def _smart(low: Array, high: Array, count: int, inside: int, rng: np.random.Generator) -> TreeMaker:
    from cube2net.kernels.trees import span_forest

    price = 1.0 / np.maximum(np.bincount(high[low < inside], minlength=count), 1)
    price[:inside] = 0.0
    weight = price[low] + price[high]

    def lightest(number: int, piece: Array) -> Array:
        drawn = weight * rng.uniform(0.5, 1.5, len(weight)) if number else weight.copy()
        held = piece[low] & piece[high]
        drawn[held] = rng.uniform(-1.0, -0.5, int(held.sum()))
        steps = ((drawn + 1.0) * 16_383.0).astype(np.uint16)  # -1 to 3 in 16 bits, which sort in linear time
        links: Array = span_forest(count, low, high, np.argsort(steps, kind="stable"))
        return links

    return lightest


TREES = {"smart": _smart, "bfs": _bfs, "spanning": _spanning}
"""Make trees in the links (low, high) between ``count`` nodes, of which the first ``inside`` are in the network."""
