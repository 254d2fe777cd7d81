"""Render a network as text for people and language models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError, check_int, quote
from cube2net.model.interfaces import check_call, expect
from cube2net.model.network import Network
from cube2net.network.export.text import format_brief_text, format_text
from cube2net.network.export.token_budget import estimate_tokens
from cube2net.network.pagerank import compute_scores

MAX_TOKENS = 4_000


DAMPING, TOLERANCE = 0.7, 1e-6
"""How neighbours are for a brief text: by a walk from the query that goes on with this probability."""


@check_call
def to_text(
    network: Network,
    max_tokens: int = MAX_TOKENS,
    counter: Callable[[str], int] | None = None,
    *,
    brief: bool = False,
) -> str:
    """Return a network as text for people and language models, whole lines only, within a budget of tokens.

    First comes what was asked and how good the answer is; then who the objects are, by the labels of the query; the
    chosen cells with their gains; the objects of the query and the others, each with what is known of it, the chosen
    cells that hold it and its heaviest links to the query; and last the links. A small budget shows the first lines of
    every section but links, which come when all else is there. The last line counts what was left out, exactly. The
    text is Markdown; names are on one line and mean nothing in it, and of one longer than 120 letters the beginning
    stands.

    Parameters
    ----------
    network
        The network of :func:`construct`.
    max_tokens
        The text has no more tokens than this. A budget that has no room for a single line gives the last line alone,
        and one below that the empty text.
    counter
        How many tokens a text has, such as ``lambda text: len(encoding.encode(text))``. It is asked about whole texts,
        a few dozen times. Without one there are two tokens for every five bytes of UTF-8: an estimate, which is above
        what the tokenizers of some models count for names and English, and knows nothing of yours.
    brief
        Whether to list names above all: those of the objects outside the query come first, the likeliest to belong to
        it first, each with the numbers of chosen cells that hold it and of the query's objects that it is linked to;
        a line of each other part follows on every hundred of them. The likeliest are near the query by a short walk
        along links, in many chosen cells, and linked to many of its objects.

    Returns
    -------
    str
        The same network, budget and counter give the same text.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> network = c2n.construct(c2n.build_cube(planted.corpus), planted.query(0))
    >>> text = c2n.to_text(network, 200)
    >>> print(text.splitlines()[0], text.splitlines()[-1], sep="\\n")
    # Network around a query of 50 objects
    and 100 more objects, 2 more groups, 10 more cells, 310 more links
    >>> print(*c2n.to_text(network, 200, brief=True).splitlines()[4:6], sep="\\n")
    - "Object 148" 4 2
    - "Object 162" 2 2
    """
    expect(Network, network, "network")
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
