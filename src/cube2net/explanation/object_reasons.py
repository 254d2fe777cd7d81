"""Why an object is in a network, or what would bring it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import format_count
from cube2net.explanation.cell_reasons import Choice, describe_exceeded_limit
from cube2net.explanation.link_evidence import (
    MAX_STEPS,
    ItemsOfObjects,
    QueryRanks,
    find_query_links,
    find_shortest_paths,
    list_link_details,
    name_objects,
)
from cube2net.model.cube import list_limits
from cube2net.model.explanation import BringingCell, NearMiss, ObjectExplanation, QueryLink
from cube2net.model.network import Network, RequestContext
from cube2net.model.node_names import OBJECT, Node
from cube2net.model.selection import CallableObjective, Weights

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
    selection, whole = network.selection, context.whole
    ((key, name),) = name_objects(whole, [row])
    origin = _find_origin(network, context, row)
    others, weights = find_query_links(whole.links, network.query, row)
    reached = find_shortest_paths(whole, network.query, row)
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
