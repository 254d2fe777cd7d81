"""The prize-collecting Steiner tree: the query joined cheaply."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cube2net._util.arrays import Array, Links
from cube2net.errors import ParameterError, unknown, whole_number
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection
from cube2net.network.assembly import cut_to_budget, list_included, mark_forbidden

COSTS = ("unit", "weight")


@dataclass(frozen=True, kw_only=True)
class Steiner:
    """Bring the objects that join the query's objects by a cheap tree, and leave out what is too far.

    In every connected part of the links, one tree T is sought that makes small

        Σ cost(link), over the links of T  +  prize · (query objects of the part that are not in T)

    Query objects outside the trees stay in the network all the same.

    Two trees are made and the cheaper one is taken: that of Goemans and Williamson's growing moats,
    which costs at most twice the least possible, and that of Takahashi and Matsuyama's nearest paths
    over the query objects of the first, which is cheaper on most real networks. Both are pruned to their
    best subtree, then spanned anew over their own objects as long as that makes them cheaper. Where the
    links make a tree, the answer is the cheapest there is. With unit costs, objects whose links
    a neighbour has too are left out beforehand, which no cheapest tree misses.

    A limit on nodes or links is met by cutting off the branches that lose least for each object spared. No tree leads
    through objects that may not come; those that are pinned are joined as the query's are.

    Parameters
    ----------
    prize
        What it costs to leave an object of the query out, in links of cost 1: one that would alone take ``prize`` links
        or more is not joined. Infinity joins all that can be.
    cost
        ``"unit"``: a link costs 1, so the tree brings few objects. ``"weight"``: a link costs the mean weight of the
        cube's links divided by its own weight, so strong links are cheap; links of weight 0 are not used.
    most
        At most so many objects around the query are looked at, ring by ring, and what is promised holds among these.

    Examples
    --------
    >>> Steiner(prize=2.0)
    Steiner(prize=2.0, cost='unit', most=200000)
    """

    chooses_cells = draws = False

    prize: float = 3.0
    cost: str = field(default="unit", metadata={"outside": True})
    most: int = 200_000

    def __post_init__(self) -> None:
        if not self.prize > 0:
            raise ParameterError(f"prize is {self.prize!r}, expected a number above 0 (infinity joins all it can)")
        if self.cost not in COSTS:
            raise unknown("cost", self.cost, COSTS)
        object.__setattr__(self, "most", whole_number("most", self.most, 0, what="objects"))

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects of the trees besides the query; the seed changes nothing."""
        from cube2net.kernels.subgraphs import neighbourhood

        indptr, indices = np.asarray(cube.links.indptr), np.asarray(cube.links.indices)
        unit = self.cost == "unit"
        inside, forbidden = list_included(query, budget.scope), mark_forbidden(budget.scope)
        nodes, low, high, entries = neighbourhood(indptr, indices, inside, forbidden, len(indptr), self.most, unit)
        cost = self._costs(cube.links, entries)
        used = np.isfinite(cost)
        low, high, cost = low[used], high[used], cost[used]
        prize = np.zeros(len(nodes))
        prize[: len(inside)] = min(self.prize, 1.0 + float(cost.sum()))
        tree = cheapest_trees(low, high, cost, prize)
        objects = cut_to_budget(budget, cube, query, nodes, low[tree], high[tree], cost[tree], prize)
        return Selection(objects, weights.value(objects))

    def _costs(self, links: Links, entries: Array) -> Array:
        if self.cost == "unit" or len(entries) == 0:
            return np.ones(len(entries))
        with np.errstate(divide="ignore", invalid="ignore"):
            costs: Array = links.weights.mean(dtype=np.float64) / links.weights[entries].astype(np.float64)
        return costs


def cheapest_trees(low: Array, high: Array, cost: Array, prize: Array) -> Array:
    """Return the links of the cheapest trees found, one for each connected part.

    Links are given by their two ends and their cost; a node with a prize is to be joined.
    """
    from cube2net.kernels.subgraphs import both_ends
    from cube2net.kernels.trees import grow, join_nearest, search

    ends = both_ends(len(prize), low, high)
    part = search(*ends, np.empty(0, np.int32))[3]
    problem = _Problem(low, high, cost, prize, part)
    grown = problem.polished(grow(*ends, low, high, cost, prize, part))
    wanted = (prize > 0).astype(np.int8)
    wanted[problem.joined(grown) & (prize > 0)] = 2
    rows = np.flatnonzero(wanted)
    rows = rows[np.argsort(-wanted[rows], kind="stable")]
    start = rows[np.unique(part[rows], return_index=True)[1]]
    near = problem.polished(join_nearest(*ends, cost, start, wanted, float(prize.max())))
    better = problem.price(near) < problem.price(grown)
    return np.concatenate([near[better[part[low[near]]]], grown[~better[part[low[grown]]]]])


@dataclass(frozen=True, eq=False)
class _Problem:
    low: Array
    high: Array
    cost: Array
    prize: Array
    part: Array

    def polished(self, links: Array) -> Array:
        """Return the links of the best subtrees of a forest, spanned anew while that is cheaper."""
        from cube2net.kernels.trees import TIGHT, spanning

        best = self.pruned(links)
        while True:
            keep = self.joined(best)
            among = np.flatnonzero(keep[self.low] & keep[self.high])
            order = among[np.argsort(self.cost[among], kind="stable")]
            again = self.pruned(spanning(len(self.prize), self.low, self.high, order))
            if self.price(again).sum() >= self.price(best).sum() - TIGHT:
                return best
            best = again

    def pruned(self, links: Array) -> Array:
        """Return the links of the best subtree of every part, given a forest."""
        from cube2net.kernels.trees import best_subtrees, rooted

        low, high = self.low[links], self.high[links]
        order, parent, up = rooted(len(self.prize), low, high, self.cost[links], np.empty(0, np.int32))
        keep, _ = best_subtrees(order, parent, self.prize, up, self.part, len(self.prize))
        return links[keep[low] & keep[high]]

    def joined(self, links: Array) -> Array:
        """Return whether each node is at an end of one of the links."""
        ends = np.zeros(len(self.prize), dtype=bool)
        ends[self.low[links]] = True
        ends[self.high[links]] = True
        return ends

    def price(self, links: Array) -> Array:
        """Return what the trees of every part cost: their links, and the prizes they miss."""
        count = len(self.prize)
        cost = np.bincount(self.part[self.low[links]], self.cost[links], count)
        missed = np.bincount(self.part, np.where(self.joined(links), 0.0, self.prize), count)
        alone = np.bincount(self.part[self.low[links]], minlength=count) == 0
        missed[alone] -= np.where(missed[alone] > 0, self.prize.max(), 0.0)  # one object alone is a tree
        priced: Array = cost + missed
        return priced
