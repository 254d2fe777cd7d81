"""Prize-collecting Steiner trees that connect the query."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cube2net._util.arrays import Array, Links
from cube2net.errors import ParameterError, check_int, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection
from cube2net.network.assembly import cut_to_budget, list_included, mark_forbidden

COSTS = ("unit", "weight")


@dataclass(frozen=True, kw_only=True)
class Steiner:
    """Select the objects of prize-collecting Steiner trees that connect the query.

    In every connected component, a tree T is sought that minimises

        Σ cost(link), over the links of T  +  prize · (query objects of the component that are not in T)

    Query objects outside the trees stay in the network. The cheaper of two trees is taken: that of Goemans and
    Williamson's growing moats [1]_, which costs at most twice the minimum, and Takahashi and Matsuyama's shortest path
    heuristic [2]_ over the query objects of the first, which is cheaper on most real networks. Both are pruned to their
    best subtree and spanned again over their objects as long as that makes them cheaper. If the links form a tree, the
    result is optimal. With unit costs, objects whose links another object has too are removed first, which does not
    change the minimum.

    Limits on nodes or links are met by cutting off the branches that lose least per object. Trees do not lead through
    forbidden objects; pinned ones are connected like the query.

    Parameters
    ----------
    prize
        The cost of leaving out an object of the query, in links of cost 1. Infinity connects all that can be connected.
    cost
        ``"unit"``: a link costs 1, so that the tree has few objects. ``"weight"``: a link costs the mean weight of all
        links divided by its own weight, so that strong links are cheap; links of weight 0 are not used.
    most
        The largest number of objects around the query that are searched, ring by ring; guarantees hold among these.

    Examples
    --------
    >>> Steiner(prize=2.0)
    Steiner(prize=2.0, cost='unit', most=200000)

    References
    ----------
    .. [1] M. X. Goemans and D. P. Williamson, "A general approximation technique for constrained forest problems",
       SIAM Journal on Computing 24, 1995.
    .. [2] H. Takahashi and A. Matsuyama, "An approximate solution for the Steiner problem in graphs", Mathematica
       Japonica 24, 1980.
    """

    chooses_cells = draws = False

    prize: float = 3.0
    cost: str = field(default="unit", metadata={"outside": True})
    most: int = 200_000

    def __post_init__(self) -> None:
        if not self.prize > 0:
            raise ParameterError(f"prize is {self.prize!r}, expected a number above 0 (infinity joins all it can)")
        if self.cost not in COSTS:
            raise unknown_name("cost", self.cost, COSTS)
        object.__setattr__(self, "most", check_int("most", self.most, 0, what="objects"))

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects of the trees, without the query; ``seed`` is not used."""
        from cube2net.kernels.subgraphs import find_neighbourhood

        indptr, indices = np.asarray(cube.links.indptr), np.asarray(cube.links.indices)
        unit = self.cost == "unit"
        inside, forbidden = list_included(query, budget.scope), mark_forbidden(budget.scope)
        nodes, low, high, entries = find_neighbourhood(indptr, indices, inside, forbidden, len(indptr), self.most, unit)
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
    """Return the links of the cheapest trees found, one for each connected component.

    Links are given by their ends and costs; a node with a prize is to be connected.
    """
    from cube2net.kernels.subgraphs import both_ends
    from cube2net.kernels.trees import grow, join_nearest, search

    ends = both_ends(len(prize), low, high)
    part = search(*ends, np.empty(0, np.int32))[3]
    problem = _TreeProblem(low, high, cost, prize, part)
    grown = problem.improve(grow(*ends, low, high, cost, prize, part))
    wanted = (prize > 0).astype(np.int8)
    wanted[problem.mark_connected(grown) & (prize > 0)] = 2
    rows = np.flatnonzero(wanted)
    rows = rows[np.argsort(-wanted[rows], kind="stable")]
    start = rows[np.unique(part[rows], return_index=True)[1]]
    near = problem.improve(join_nearest(*ends, cost, start, wanted, float(prize.max())))
    better = problem.compute_costs(near) < problem.compute_costs(grown)
    return np.concatenate([near[better[part[low[near]]]], grown[~better[part[low[grown]]]]])


@dataclass(frozen=True, eq=False)
class _TreeProblem:
    low: Array
    high: Array
    cost: Array
    prize: Array
    part: Array

    def improve(self, links: Array) -> Array:
        """Return the links of the best subtrees of a forest, spanned again as long as that is cheaper."""
        from cube2net.kernels.trees import TIGHT, span_forest

        best = self.prune(links)
        while True:
            keep = self.mark_connected(best)
            among = np.flatnonzero(keep[self.low] & keep[self.high])
            order = among[np.argsort(self.cost[among], kind="stable")]
            respanned = self.prune(span_forest(len(self.prize), self.low, self.high, order))
            if self.compute_costs(respanned).sum() >= self.compute_costs(best).sum() - TIGHT:
                return best
            best = respanned

    def prune(self, links: Array) -> Array:
        """Return the links of the best subtree of every component of a forest."""
        from cube2net.kernels.trees import best_subtrees, root_forest

        low, high = self.low[links], self.high[links]
        order, parent, up = root_forest(len(self.prize), low, high, self.cost[links], np.empty(0, np.int32))
        keep, _ = best_subtrees(order, parent, self.prize, up, self.part, len(self.prize))
        return links[keep[low] & keep[high]]

    def mark_connected(self, links: Array) -> Array:
        """Return a mask of the nodes at the ends of links."""
        ends = np.zeros(len(self.prize), dtype=bool)
        ends[self.low[links]] = True
        ends[self.high[links]] = True
        return ends

    def compute_costs(self, links: Array) -> Array:
        """Return the cost of the tree of every component: its links and the missed prizes."""
        count = len(self.prize)
        cost = np.bincount(self.part[self.low[links]], self.cost[links], count)
        missed = np.bincount(self.part, np.where(self.mark_connected(links), 0.0, self.prize), count)
        alone = np.bincount(self.part[self.low[links]], minlength=count) == 0
        missed[alone] -= np.where(missed[alone] > 0, self.prize.max(), 0.0)  # one object alone is a tree
        return np.asarray(cost + missed)
