"""Render a network as text for people and language models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError, check_int, quote
from cube2net.model.network import Network
from cube2net.network.export.text import format_brief_text, format_text
from cube2net.network.export.token_budget import estimate_tokens
from cube2net.network.pagerank import compute_scores

DAMPING, TOLERANCE = 0.7, 1e-6
"""How neighbours are for a brief text: by a walk from the query that goes on with this probability."""


def format_network(
    network: Network, max_tokens: int, counter: Callable[[str], int] | None = None, *, brief: bool = False
) -> str:
    """Return a network as text; see :meth:`cube2net.Network.to_text`."""
    if counter is not None and not callable(counter):
        raise ParameterError(f"the counter is {quote(counter)}, expected a function of a text that counts its tokens")
    most = check_int("max_tokens", max_tokens, 0, what="tokens")
    count = counter or estimate_tokens
    if brief:
        return format_brief_text(network, most, count, _nearness(network))
    return format_text(network, most, count)


def _nearness(network: Network) -> Array | None:
    """Return how near each object of a network is to the query; None of a network from another process."""
    context = network.context
    if context is None:
        return None
    seeds = np.union1d(network.query.objects, np.array(context.steering.prefer, dtype=np.int32))
    return compute_scores(context.whole.links, seeds, DAMPING, TOLERANCE)[network.objects]
