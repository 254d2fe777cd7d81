"""Why an object is in a network, or is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.explanation.choice_values import Choice
from cube2net.explanation.link_paths import MOST_STEPS, named, query_links, shortest_paths
from cube2net.explanation.link_times import given_links
from cube2net.explanation.near_misses import near_miss
from cube2net.explanation.query_ranks import QueryRanks
from cube2net.explanation.shared_items import ItemsOfObjects
from cube2net.records import Network, Question, Weights
from cube2net.records.explanation import BringingCell, ObjectExplanation, QueryLink

SHOWN_LINKS, SHOWN_ITEMS = 10, 3
"""So many links to the query are shown, and so many items behind each of them."""
NO_ITEMS = (
    "the cube does not keep its items, so that nothing is known of what is behind its links (items='all' keeps them)"
)


def explain_object(
    network: Network,
    question: Question,
    row: int,
    *,
    ranks: QueryRanks,
    items: ItemsOfObjects | None,
    options: Mapping[str, Any],
) -> ObjectExplanation:
    """Return why an object is in a network or not.

    ``ranks`` are those by which the question's method or form ranks objects, and ``options`` those of its method.
    """
    selection, whole = network.selection, question.whole
    ((key, name),) = named(whole, [row])
    came = _came(network, question, row)
    others, weights = query_links(whole.links, network.query, row)
    reached = shortest_paths(whole, network.query, row)
    rank = ranks.rank(row)
    miss = None
    if not came:
        miss = near_miss(network, question, row, ranks=ranks, steps=reached.steps, options=options)
    gain, cost = question.worth.at(np.array([row])) if isinstance(question.worth, Weights) else (None, None)
    return ObjectExplanation(
        id=key,
        name=name,
        present=bool(came),
        came=came,
        value=selection.value,
        cells=_cells(network, question, row),
        linked=len(others),
        links=_links(question, row, others[:SHOWN_LINKS], weights[:SHOWN_LINKS], items),
        rank=rank,
        ranked=ranks.count,
        score=float(ranks.scores[row]),
        steps=reached.steps,
        within=0 if came == "query" and len(network.query) == 1 else MOST_STEPS,
        ways=reached.ways,
        paths=reached.paths,
        gain=None if gain is None else float(gain[0]),
        cost=None if cost is None else float(cost[0]),
        miss=miss,
        note=NO_ITEMS if items is None else items.note,
        chosen_cells=len(selection.cells),
    )


def _came(network: Network, question: Question, row: int) -> str:
    """Return how an object came into a network, and nothing where it did not."""
    if row in network.query.objects:
        return "query"
    if row not in network.objects:
        return ""
    if row in question.budget.scope.objects:
        return "pinned"
    if network.form == "woven":
        return "near"
    return "cells" if len(network.selection.cells) else question.method


def _cells(network: Network, question: Question, row: int) -> tuple[BringingCell, ...]:
    """Return the chosen cells that hold an object, in the order chosen."""
    cells = network.selection.cells
    ranks = np.flatnonzero(np.isin(cells, question.cube.homes[row]))
    start = Choice.of(question, cells[:0]).value(cells[:0]) if len(ranks) else 0.0
    gains = network.selection.gains(start)
    return tuple(BringingCell(at + 1, network.labels[at], float(gains[at])) for at in ranks.tolist())


def _links(
    question: Question, row: int, others: Array, weights: Array, items: ItemsOfObjects | None
) -> tuple[QueryLink, ...]:
    found = [(None, ())] * len(others) if items is None else items.shared(row, others, SHOWN_ITEMS)
    keys, given = named(question.whole, others), given_links(question.whole, row, others)
    return tuple(
        QueryLink(key, name, float(weight), count, newest, told.kinds, told.first, told.last)
        for (key, name), weight, (count, newest), told in zip(keys, weights, found, given, strict=True)
    )
