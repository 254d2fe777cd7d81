"""What would have brought an object that is not in a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cube2net.explanation.choice_values import Choice
from cube2net.explanation.limits_left import does_not_fit
from cube2net.explanation.query_ranks import QueryRanks
from cube2net.records import Judge, Network, Question
from cube2net.records.explanation import NearMiss, counted
from cube2net.records.lineage import limits_of
from cube2net.records.node_names import OBJECT, Node

MOST_HOPS = 2
"""So far the method hops goes at most."""


def near_miss(
    network: Network,
    question: Question,
    row: int,
    *,
    ranks: QueryRanks,
    steps: int | None,
    options: Mapping[str, Any],
) -> NearMiss:
    """Return what would have brought an object; ``ranks`` and ``steps`` say how far from the query it is."""
    barred = question.budget.scope.barred
    if Node(OBJECT, row) in question.steering.bans:
        return NearMiss(obstacle="it is banned")
    if barred is not None and barred[row]:
        by = limits_of(question.whole)
        which = f" ({' and '.join(by)} say{'s' * (len(by) == 1)} so)" if by else ""
        return NearMiss(obstacle=f"the view of the cube does not allow it to be brought{which}")
    if network.form == "woven":
        return _not_near(network, question, row, ranks)
    if network.form == "cells":
        return NearMiss(
            obstacle="the form 'cells' has no objects beside the query: the forms woven, objects and both do"
        )
    if len(network.selection.cells) or question.method not in ("none", "hops", "pagerank", "steiner", "maxdisc"):
        return _not_held(network, question, row)
    if question.method == "pagerank":
        return _too_low(network, ranks.needed(row))
    if question.method == "hops":
        return _too_far(question, steps, options)
    said = {"none": "the method 'none' brings nothing: any other may", "steiner": "the tree does not need it"}
    return NearMiss(obstacle=said.get(question.method, "no tree that the method finds is better with it"))


def _not_near(network: Network, question: Question, row: int, ranks: QueryRanks) -> NearMiss:
    if row in question.steering.unlike:
        return NearMiss(obstacle="it is unliked, so that it is never near")
    if ranks.scope.barred is not None and ranks.scope.barred[row]:
        return NearMiss(obstacle="it is nearer to what is unliked than to the query, so that it is never near")
    if ranks.needed(row) is None:
        return NearMiss(obstacle="no links lead from the query to it")
    now = int(network.settings.get("near") or 0)
    limited = network.recipe is not None and network.recipe.parameters.get("max_nodes") is not None
    note = "max_nodes has to leave room for so many" if limited else ""
    enough, exact = ranks.enough(row, now)
    return NearMiss(option="near", needed=enough, now=now, exact=exact, note=note)


def _too_low(network: Network, needed: int | None) -> NearMiss:
    if needed is None:
        return NearMiss(obstacle="the walk from the query does not come to it")
    now = len(network.objects) - len(network.query)
    limited = network.recipe is not None and any(
        network.recipe.parameters.get(name) is not None for name in ("max_nodes", "max_links")
    )
    note = "the limits on nodes and links have to leave room for so many" if limited else ""
    return NearMiss(option="top", needed=needed, now=now, note=note)


def _too_far(question: Question, steps: int | None, options: Mapping[str, Any]) -> NearMiss:
    hops, fan_out, budget = int(options.get("hops", 1)), options.get("fan_out"), question.budget
    if steps is None or steps > MOST_HOPS:
        far = "farther than that" if steps is None else f"{steps} steps away"
        return NearMiss(obstacle=f"the method 'hops' goes {MOST_HOPS} steps at most, and it is {far}")
    keepers = ["fan_out, which lets one object bring so many,"] * (fan_out is not None)
    keepers += ["a limit on nodes or links"] * (budget.max_nodes is not None or budget.max_links is not None)
    keepers += ["what may not be brought and stands between"] * (budget.scope.barred is not None)
    who = " or ".join(keepers)
    if steps <= hops:
        return NearMiss(left_out=f"it is within {counted(hops, 'step')}, and {who} left it out")
    note = f"{who} may leave it out even so" if who else ""
    return NearMiss(option="hops", needed=steps, now=hops, exact=not who, least=bool(who), note=note)


def _not_held(network: Network, question: Question, row: int) -> NearMiss:
    """Return the cell that holds an object and leaves the value highest."""
    choice = Choice.of(question, network.selection.cells)
    homes = question.cube.homes[row]
    if np.isin(homes, choice.cells).any():
        return NearMiss(left_out="it has no link to any object of the network (keep='all' keeps such objects)")
    free = np.setdiff1d(homes, question.budget.scope.closed).astype(np.int64)
    if not len(free):
        banned = "every cell that holds it is banned" if len(homes) else "no cell holds it"
        return NearMiss(obstacle=banned)
    values = choice.added(free)
    best = int(free[int(np.argmax(values))])
    value = choice.value(np.append(choice.cells, best))
    notes = [f"m is {question.budget.m:,}, and so many cells are chosen"] * (len(choice.cells) >= question.budget.m)
    notes += filter(None, [does_not_fit(network, question, choice, best)])
    if isinstance(question.worth, Judge):
        notes.append("a function tells the value, so only the cell that brings fewest others was asked about")
    return NearMiss(
        cell=question.cube.cell(best), value=value, price=network.selection.value - value, note="; ".join(notes)
    )
