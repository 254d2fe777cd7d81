"""Lay networks out, and draw them as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from cube2net._util.arrays import Array
from cube2net.model.network import Drawing, Network
from cube2net.network.drawing.layout import layout
from cube2net.network.drawing.picture import format_size
from cube2net.network.drawing.svg import draw_svg


def layout_network(
    network: Network, *, seed: int = 0, start: Sequence[Sequence[float] | None] | Array | None = None
) -> Array:
    """Return a place (x, y) for every node: linked ones near each other, none on top of another.

    ``start`` is where nodes are now, None for those that are new: they move little.
    """
    return layout(network, seed=seed, start=start)


def picture_text(network: Network, *, title: str = "", width: int = 760, seed: int = 0) -> str:
    """Return a light picture of a network as the text of an SVG file, so many pixels wide; no package is needed."""
    return draw_svg(Drawing(network, layout(network, seed=seed), title), width=width)


def describe_network(network: Network) -> str:
    """Return what a picture of a network shows, for those who do not see it."""
    return f"a network of {format_size(network)}"
