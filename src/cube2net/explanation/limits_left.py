"""Whether one more cell fits into what a network may hold."""

from __future__ import annotations

import numpy as np

from cube2net.explanation.choice_values import Choice
from cube2net.records import Network, Question


def does_not_fit(network: Network, question: Question, choice: Choice, cell: int) -> str:
    """Return which limit on nodes and links a network would break with one more cell, and nothing where it breaks none.

    Objects count as they are chosen, whether the network keeps them or not.
    """
    budget = question.budget
    if budget.max_nodes is None and budget.max_links is None:
        return ""
    from cube2net.kernels.budget_limits import NO_LIMIT, bring

    links = question.cube.links
    inside = np.union1d(network.query.objects, np.union1d(choice.scope.objects, choice.bring(choice.cells).indices))
    more = np.union1d(inside, choice.bring(np.array([cell])).indices)
    if budget.max_nodes is not None and len(more) > budget.max_nodes:
        return f"with it there are {len(more):,} objects, and max_nodes is {budget.max_nodes:,}"
    present = np.zeros(len(question.cube.objects), dtype=np.int8)
    # One below no limit at all, so that links are counted.
    _, count = bring(more, present, links.indptr, links.indices, NO_LIMIT, NO_LIMIT - 1)
    if budget.max_links is not None and count > budget.max_links:
        return f"with it there are {count:,} links, and max_links is {budget.max_links:,}"
    return ""
