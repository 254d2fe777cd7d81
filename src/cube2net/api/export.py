"""Check, lay out, draw and write networks as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError, check_int, quote
from cube2net.model.interfaces import check_path
from cube2net.model.network import Drawing, Network
from cube2net.network.drawing.layout import layout
from cube2net.network.drawing.picture import format_size
from cube2net.network.drawing.svg import draw_svg
from cube2net.network.export.registry import check_network_path
from cube2net.network.export.text import estimate_tokens, format_brief_text, format_text
from cube2net.network.pagerank import compute_scores

DAMPING, TOLERANCE = 0.7, 1e-6
"""How neighbours are for a brief text: by a walk from the query that goes on with this probability."""


def check_outputs(network: str | Path | None, picture: str | Path | None, *, spreadsheet_safe: bool = False) -> None:
    """Raise an error if a network or a picture could not be written."""
    if network is not None:
        check_network_path(check_path(network, "the file of the network"), spreadsheet_safe=spreadsheet_safe)
    if picture is not None:
        from cube2net.network.drawing.matplotlib import check_picture_path

        check_picture_path(check_path(picture, "the file of the picture"))


def layout_network(
    network: Network, *, seed: int = 0, start: Sequence[Sequence[float] | None] | Array | None = None
) -> Array:
    """Return a position (x, y) for each node, so that linked nodes are close and nodes do not overlap.

    ``start`` has the current positions, None for new nodes; the others move little.
    """
    return layout(network, seed=seed, start=start)


def picture_text(network: Network, *, title: str = "", width: int = 760, seed: int = 0) -> str:
    """Return a simple picture of a network as SVG text; no further package is needed."""
    return draw_svg(Drawing(network, layout(network, seed=seed), title), width=width)


def describe_network(network: Network) -> str:
    """Return an alternative text for the picture of a network."""
    return f"a network of {format_size(network)}"


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
