"""Why an object is in a network, or what would bring it: links, shared items, paths and ranks by PageRank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, Links, Ragged, row_of_entries, take_rows, transpose
from cube2net._util.text import format_count
from cube2net.explanation.cell_reasons import Choice, describe_exceeded_limit
from cube2net.model.cube import KIND, TIME, Cube, list_limits
from cube2net.model.explanation import BringingCell, LinkPath, NearMiss, ObjectExplanation, QueryLink, SharedItem
from cube2net.model.items import ItemIndex, plain_type
from cube2net.model.network import Network, RequestContext
from cube2net.model.node_names import OBJECT, Node, name_objects
from cube2net.model.query import Query
from cube2net.model.selection import CallableObjective, Scope, Weights

MAX_STEPS = 4
"""Length of the paths that are searched for."""
MAX_LINK_ENDS = 20_000_000
"""Ends of links that the search for a path visits before it gives up."""
MAX_SHOWN_PATHS = 3


@dataclass(frozen=True, eq=False)
class ShortestPaths:
    """The distance to a query in steps, the number of shortest paths, and the heaviest of them."""

    steps: int | None
    ways: int = 0
    paths: tuple[LinkPath, ...] = ()


def find_query_links(links: Links, query: Query, row: int) -> tuple[Array, Array]:
    """Return the objects of a query that one object is linked to, and the weights, heaviest first."""
    begin, end = int(links.indptr[row]), int(links.indptr[row + 1])
    others = links.indices[begin:end]
    into = np.isin(others, query.objects)
    others, weights = others[into], links.weights[begin:end][into]
    order = np.lexsort((others, -weights))
    return others[order], weights[order]


def find_shortest_paths(cube: Cube, query: Query, row: int) -> ShortestPaths:
    """Return the shortest paths from an object to the rest of the query, one per object, the heaviest first."""
    from cube2net.kernels.trees import reach

    links, count = cube.links, len(cube.objects)
    goals = np.zeros(count, dtype=np.uint8)
    goals[query.objects] = 1
    goals[row] = 0
    # The operating system provides pages of these arrays when they are touched: the search costs what it visits.
    steps, heaviest, ways = np.zeros(count, np.uint8), np.empty(count), np.empty(count)
    before = np.empty(count, np.int32)
    rows = (links.indptr, links.indices, links.weights)
    distance, met = reach(row, goals, *rows, MAX_STEPS, MAX_LINK_ENDS, steps, heaviest, ways, before)
    if distance <= 0:
        return ShortestPaths(None)
    paths = []
    for goal in met[np.lexsort((met, -heaviest[met]))][:MAX_SHOWN_PATHS].tolist():
        line = [goal]
        while before[line[-1]] >= 0:
            line.append(int(before[line[-1]]))
        ids, names = zip(*name_objects(cube, line[::-1]), strict=True)
        paths.append(LinkPath(ids, names, float(heaviest[goal])))
    return ShortestPaths(int(distance), int(ways[met].sum()), tuple(paths))


Time = str | int | float | None


def list_link_details(cube: Cube, row: int, others: Array) -> list[tuple[tuple[str, ...], Time, Time]]:
    """Return the kinds and the first and last times of the links between an object and each of some others."""
    if cube.details is None or not len(others):
        return [((), None, None)] * len(others)
    details = cube.details()
    begin, end = details.spans(np.minimum(others, row), np.maximum(others, row))
    columns = details.rows.select([name for name in (KIND, TIME) if name in details.columns])
    result = []
    for first, last in zip(begin.tolist(), end.tolist(), strict=True):
        part = columns.slice(first, last - first).to_pydict()
        kinds = {kind for kind in part.get(KIND, ()) if kind}
        times = sorted(when for when in part.get(TIME, ()) if when is not None) or [None]
        result.append((tuple(sorted(kinds)), format_time(times[0]), format_time(times[-1])))
    return result


def format_time(value: Any) -> Time:
    """Return a date or time as JSON has it; midnight is the day alone, as data frames write days.

    >>> format_time(datetime(2023, 8, 13)), format_time(datetime(2023, 8, 13, 9, 30)), format_time(2023)
    ('2023-08-13', '2023-08-13T09:30:00', 2023)
    """
    if isinstance(value, datetime) and value.tzinfo is None and value.time() == time.min:
        value = value.date()
    return value.isoformat() if isinstance(value, date) else value


TITLES = ("title", "name")
"""Names of the attribute that describes an item, the preferred first."""


@dataclass(frozen=True, eq=False)
class ItemsOfObjects:
    """The items of a cube by the objects that they mention.

    ``title`` and ``time`` name the attributes that describe and date an item, if the cube keeps them. Items that
    mention more objects than ``most`` create no links.
    """

    index: ItemIndex
    rows: Ragged
    title: str | None
    time: str | None
    most: int | None

    @classmethod
    def of(cls, cube: Cube, time: str | None = None) -> ItemsOfObjects | None:
        """Return the items of a cube, dated by an attribute; None if the cube does not keep them."""
        if cube.items is None:
            return None
        index = cube.items()
        kinds = {} if index.load_attributes is None else index.kept_attributes.types
        texts = [name for name, kind in kinds.items() if pa.types.is_string(plain_type(kind))]
        titles = [name for title in TITLES for name in kinds if name.lower() == title]
        title = next(iter([*titles, *(name for name in texts if name != time)]), None)
        most = cube.settings.get("max_mentions") if index.derived else None
        return cls(index, transpose(index.objects, len(cube.objects)), title, time if time in kinds else None, most)

    @property
    def note(self) -> str:
        """A note about what the cube does not keep of its items."""
        if self.index.load_attributes is None:
            return "the cube does not keep the titles of its items: ids are shown instead (items='all' keeps them)"
        return ""

    def list_shared(self, row: int, others: Array, most: int) -> list[tuple[int, tuple[SharedItem, ...]]]:
        """Return for each of some objects the number of items that mention it and the given one, and the newest.

        Without times the last items count as the newest.
        """
        items = self.rows[row]
        mentioned = take_rows(self.index.objects, items)
        if self.most is not None:
            items = items[mentioned.sizes <= self.most]
            mentioned = take_rows(self.index.objects, items)
        owner = row_of_entries(mentioned)
        each = [items[owner[mentioned.indices == other]] for other in others.tolist()]
        wanted = np.unique(np.concatenate([*each, items[:0]]))
        times = dict(zip(wanted.tolist(), self._column(self.time, wanted), strict=True))
        # Items without a time come last, and of equal times the last item comes first.
        newest = [
            sorted(rows.tolist(), key=lambda item: (times[item] is not None, times[item], item), reverse=True)[:most]
            for rows in each
        ]
        shown = np.unique(np.array([number for rows in newest for number in rows], dtype=np.int64))
        titles = self._column(self.title, shown)
        ids = self.index.ids.take(pa.array(shown)).to_pylist() if len(shown) else []
        shared = {
            number: SharedItem(str(key), None if title is None else str(title), format_time(times[number]))
            for number, key, title in zip(shown.tolist(), ids, titles, strict=True)
        }
        return [(len(rows), tuple(shared[at] for at in first)) for rows, first in zip(each, newest, strict=True)]

    def _column(self, name: str | None, items: Array) -> list[Any]:
        """Return an attribute of some items, None for each if the cube does not keep it."""
        if name is None or not len(items):
            return [None] * len(items)
        return list(self.index.attributes[name].take(pa.array(items)).to_pylist())


STEP_DIVISOR, MAX_GROWTH, MIN_TRIED = 12, 4, 8
"""Numbers of neighbours are tried in steps of a twelfth, from the present one (8 at least) up to four times as many."""


@dataclass(frozen=True, eq=False)
class QueryRanks:
    """The personalised PageRank of every object for a query, and the ranks of objects outside the query.

    Forbidden and unreachable objects have no rank; of equal scores the lower object number comes first.
    ``nearest(count)`` returns the objects of a network with ``count`` neighbours.

    >>> from cube2net.model.selection import OPEN
    >>> ranks = QueryRanks(np.array([0.5, 0.1, 0.0, 0.4]), Query(np.array([0])), OPEN, nearest=lambda count: ())
    >>> ranks.count, ranks.rank(3), ranks.rank(1), ranks.rank(2)
    (2, 1, 2, None)
    """

    scores: Array
    query: Query
    scope: Scope
    nearest: Callable[[int], Sequence[int] | Array]
    tried: dict[int, Sequence[int] | Array] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def ranked_scores(self) -> Array:
        """The scores of the objects that have a rank, and 0 for all others."""
        placed = self.scores.copy()
        placed[self.query.objects] = 0.0
        if self.scope.forbidden_objects is not None:
            placed[self.scope.forbidden_objects] = 0.0
        return placed

    @cached_property
    def count(self) -> int:
        """The number of objects that have a rank."""
        return int(np.count_nonzero(self.ranked_scores))

    def rank(self, row: int) -> int | None:
        """Return the rank of an object, from 1; None if it has none."""
        return 1 + self._count_better(self.ranked_scores, row) if self.ranked_scores[row] else None

    def count_needed(self, row: int) -> int | None:
        """Return the number of objects to bring until one is among them; pinned ones come first."""
        if self.ranked_scores[row] == 0:
            return None
        others = self.ranked_scores
        if len(self.scope.objects):
            others = others.copy()
            others[self.scope.objects] = 0.0
        return 1 + len(self.scope.objects) + self._count_better(others, row)

    def find_enough(self, row: int, now: int) -> tuple[int, bool]:
        """Return a number of neighbours, more than now, that include an object, and whether that was verified.

        The walk that finds neighbours is approximate. So larger numbers are tried in steps of a twelfth; far from the
        query the exact rank is returned without trying.
        """
        needed = max(self.count_needed(row) or 0, now + 1)
        size = max(now, MIN_TRIED)
        while size <= MAX_GROWTH * max(now, MIN_TRIED):
            if size > needed:
                if size not in self.tried:
                    self.tried[size] = self.nearest(size)
                if row in self.tried[size]:
                    return size, True
            size += size // STEP_DIVISOR + 1
        return needed, False

    def _count_better(self, scores: Array, row: int) -> int:
        own = self.ranked_scores[row]
        return int((scores > own).sum()) + int((scores[:row] == own).sum())


MAX_SHOWN_LINKS, MAX_SHOWN_ITEMS = 10, 3
"""Links to the query that are shown, and items behind each of them."""
NO_ITEMS = "the cube does not keep its items, so that the items behind its links are unknown (items='all' keeps them)"


def explain_object(
    network: Network,
    context: RequestContext,
    row: int,
    *,
    ranks: QueryRanks,
    items: ItemsOfObjects | None,
    options: Mapping[str, Any],
) -> ObjectExplanation:
    """Return why an object is in a network or not.

    ``ranks`` are the ranks by the method or form of the network, and ``options`` those of the method.
    """
    selection, full_cube = network.selection, context.whole
    ((key, name),) = name_objects(full_cube, [row])
    origin = _find_origin(network, context, row)
    others, weights = find_query_links(full_cube.links, network.query, row)
    reached = find_shortest_paths(full_cube, network.query, row)
    rank = ranks.rank(row)
    miss = None
    if not origin:
        miss = find_near_miss(network, context, row, ranks=ranks, steps=reached.steps, options=options)
    gain, cost = context.worth.at(np.array([row])) if isinstance(context.worth, Weights) else (None, None)
    return ObjectExplanation(
        id=key,
        name=name,
        present=bool(origin),
        came=origin,
        value=selection.value,
        cells=_list_cells(network, context, row),
        linked=len(others),
        links=_list_links(context, row, others[:MAX_SHOWN_LINKS], weights[:MAX_SHOWN_LINKS], items),
        rank=rank,
        ranked=ranks.count,
        score=float(ranks.scores[row]),
        steps=reached.steps,
        within=0 if origin == "query" and len(network.query) == 1 else MAX_STEPS,
        ways=reached.ways,
        paths=reached.paths,
        gain=None if gain is None else float(gain[0]),
        cost=None if cost is None else float(cost[0]),
        miss=miss,
        note=NO_ITEMS if items is None else items.note,
        chosen_cells=len(selection.cells),
    )


def _find_origin(network: Network, context: RequestContext, row: int) -> str:
    """Return why an object is in a network: query, pinned, neighbor, cells or the method; empty if it is not."""
    if row in network.query.objects:
        return "query"
    if row not in network.objects:
        return ""
    if row in context.budget.scope.objects:
        return "pinned"
    if network.form == "hybrid":
        return "neighbor"
    return "cells" if len(network.selection.cells) else context.method


def _list_cells(network: Network, context: RequestContext, row: int) -> tuple[BringingCell, ...]:
    """Return the chosen cells that hold an object, in the order chosen."""
    cells = network.selection.cells
    ranks = np.flatnonzero(np.isin(cells, context.cube.object_cells[row]))
    start = Choice.from_context(context, cells[:0]).value(cells[:0]) if len(ranks) else 0.0
    gains = network.selection.gains(start)
    return tuple(BringingCell(at + 1, network.labels[at], float(gains[at])) for at in ranks.tolist())


def _list_links(
    context: RequestContext, row: int, others: Array, weights: Array, items: ItemsOfObjects | None
) -> tuple[QueryLink, ...]:
    shared = [(None, ())] * len(others) if items is None else items.list_shared(row, others, MAX_SHOWN_ITEMS)
    keys, details = name_objects(context.whole, others), list_link_details(context.whole, row, others)
    return tuple(
        QueryLink(key, name, float(weight), count, newest, *detail)
        for (key, name), weight, (count, newest), detail in zip(keys, weights, shared, details, strict=True)
    )


MAX_HOPS = 2
"""The largest number of steps of the method hops."""


def find_near_miss(
    network: Network,
    context: RequestContext,
    row: int,
    *,
    ranks: QueryRanks,
    steps: int | None,
    options: Mapping[str, Any],
) -> NearMiss:
    """Return what would bring an object, given its rank and its distance from the query."""
    forbidden = context.budget.scope.forbidden_objects
    if Node(OBJECT, row) in context.steering.bans:
        return NearMiss(obstacle="it is banned")
    if forbidden is not None and forbidden[row]:
        by = list_limits(context.whole)
        which = f" ({' and '.join(by)} say{'s' * (len(by) == 1)} so)" if by else ""
        return NearMiss(obstacle=f"the view of the cube does not allow it to be brought{which}")
    if network.form == "hybrid":
        return _miss_neighbour(network, context, row, ranks)
    if network.form == "cells":
        return NearMiss(
            obstacle="the form 'cells' has no objects beside the query: the forms hybrid, objects and cells+objects do"
        )
    if len(network.selection.cells) or context.method not in ("none", "hops", "pagerank", "steiner", "maxdisc"):
        return _miss_cell(network, context, row)
    if context.method == "pagerank":
        return _miss_rank(network, ranks.count_needed(row))
    if context.method == "hops":
        return _miss_hops(context, steps, options)
    reasons = {"none": "the method 'none' brings nothing: any other may", "steiner": "the tree does not need it"}
    return NearMiss(obstacle=reasons.get(context.method, "no tree that the method finds is better with it"))


def _miss_neighbour(network: Network, context: RequestContext, row: int, ranks: QueryRanks) -> NearMiss:
    if ranks.count_needed(row) is None:
        return NearMiss(obstacle="no links lead from the query to it")
    now = int(network.settings.get("n_neighbors") or 0)
    limited = network.recipe is not None and network.recipe.parameters.get("max_nodes") is not None
    note = "max_nodes has to leave room for them" if limited else ""
    enough, exact = ranks.find_enough(row, now)
    return NearMiss(option="n_neighbors", needed=enough, now=now, exact=exact, note=note)


def _miss_rank(network: Network, needed: int | None) -> NearMiss:
    if needed is None:
        return NearMiss(obstacle="the walk from the query does not come to it")
    now = len(network.objects) - len(network.query)
    limited = network.recipe is not None and any(
        network.recipe.parameters.get(name) is not None for name in ("max_nodes", "max_links")
    )
    note = "the limits on nodes and links have to leave room for them" if limited else ""
    return NearMiss(option="top", needed=needed, now=now, note=note)


def _miss_hops(context: RequestContext, steps: int | None, options: Mapping[str, Any]) -> NearMiss:
    hops, fan_out, budget = int(options.get("hops", 1)), options.get("fan_out"), context.budget
    if steps is None or steps > MAX_HOPS:
        far = "farther than that" if steps is None else f"{steps} steps away"
        return NearMiss(obstacle=f"the method 'hops' goes {MAX_HOPS} steps at most, and it is {far}")
    obstacles = ["fan_out"] * (fan_out is not None)
    obstacles += ["a limit on nodes or links"] * (budget.max_nodes is not None or budget.max_links is not None)
    obstacles += ["forbidden objects between"] * (budget.scope.forbidden_objects is not None)
    reason = " or ".join(obstacles)
    if steps <= hops:
        return NearMiss(left_out=f"it is within {format_count(hops, 'step')}, and {reason} left it out")
    note = f"{reason} may still leave it out" if reason else ""
    return NearMiss(option="hops", needed=steps, now=hops, exact=not reason, least=bool(reason), note=note)


def _miss_cell(network: Network, context: RequestContext, row: int) -> NearMiss:
    """Return the cell that holds an object and leaves the highest value."""
    choice = Choice.from_context(context, network.selection.cells)
    cells = context.cube.object_cells[row]
    if np.isin(cells, choice.cells).any():
        return NearMiss(left_out="it has no link to any object of the network (keep_unlinked=True keeps such objects)")
    free = np.setdiff1d(cells, context.budget.scope.forbidden_cells).astype(np.int64)
    if not len(free):
        banned = "every cell that contains it is banned" if len(cells) else "no cell contains it"
        return NearMiss(obstacle=banned)
    values = choice.evaluate_additions(free)
    best = int(free[int(np.argmax(values))])
    value = choice.value(np.append(choice.cells, best))
    notes = [f"n_cells is {context.budget.n_cells:,}, and that many cells are chosen"] * (
        len(choice.cells) >= context.budget.n_cells
    )
    notes += filter(None, [describe_exceeded_limit(network, context, choice, best)])
    if isinstance(context.worth, CallableObjective):
        notes.append("the objective is a function, so only the cell that brings fewest others was evaluated")
    return NearMiss(
        cell=context.cube.cell(best), value=value, price=network.selection.value - value, note="; ".join(notes)
    )
