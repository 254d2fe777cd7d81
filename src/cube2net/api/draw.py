"""Draw networks and lay them out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cube2net._util.arrays import Array
from cube2net.model.interfaces import check_call, path_of
from cube2net.model.network import Drawing, Network
from cube2net.network.drawing.layout import layout
from cube2net.network.drawing.matplotlib import draw
from cube2net.network.drawing.picture import format_size
from cube2net.network.drawing.svg import draw_svg


@check_call
def draw_network(
    network: Network, path: str | Path, *, title: str | None = None, seed: int = 0, name_cells: bool = False
) -> None:
    """Draw a network to a PNG, SVG or PDF file.

    It needs Matplotlib.

    Parameters
    ----------
    network
        The network to draw.
    path
        Where to; the suffix ``.png``, ``.svg`` or ``.pdf`` says which.
    title
        What stands above the picture; without one nothing does.
    seed
        The same seed makes the same picture.
    name_cells
        Whether names of cells may cover objects where they find no other place; by default they are left out there.

    Returns
    -------
    None
        The picture is in the file, 1,600 pixels wide.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4)
    >>> network = c2n.construct(c2n.build_cube(planted.corpus), planted.query(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     c2n.draw_network(network, f"{folder}/network.svg", title="One community")
    ...     Path(folder, "network.svg").exists()
    True
    """
    draw(network, path_of(path, "the file of the picture"), title=title, seed=seed, name_cells=name_cells)


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


def described(network: Network) -> str:
    """Return what a picture of a network shows, for those who do not see it."""
    return f"a network of {format_size(network)}"
