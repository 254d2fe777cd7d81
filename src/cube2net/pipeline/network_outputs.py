"""What goes out: networks as files, pictures, places and numbers, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cube2net import network as networks
from cube2net.arguments import check_call, path_of
from cube2net.array_types import Array
from cube2net.network import EXPORTS as EXPORTS
from cube2net.network import certificate as certificate
from cube2net.network import certificate_of as certificate_of
from cube2net.network import said_of_network as said_of_network
from cube2net.records import Drawing, Network


def check_outputs(network: str | Path | None, picture: str | Path | None, *, spreadsheet_safe: bool = False) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        networks.check_network_path(path_of(network, "the file of the network"), spreadsheet_safe=spreadsheet_safe)
    if picture is not None:
        networks.check_picture_path(path_of(picture, "the file of the picture"))


@check_call
def write_network(network: Network, path: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Write a network in the format that the path's suffix names, and return the files written.

    The files are whole, or what stood there before is untouched.

    Parameters
    ----------
    network
        The network to write.
    path
        Where to; ``.graphml``, ``.gexf``, ``.xlsx`` (Excel), ``.csv``, ``.parquet``, ``.npz``, ``.json``, ``.cyjs``
        (Cytoscape), ``.vosviewer.json`` or ``.neo4j.csv``.
    spreadsheet_safe
        For ``.csv`` and ``.neo4j.csv``: names that spreadsheets would run as formulas, ids among them, get an
        apostrophe in front. By default names are written to the letter.

    Returns
    -------
    list of Path
        One file, or for CSV and Parquet two, that of the nodes and that of the links; beside CSV one of the recipe,
        which all other formats hold.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4)
    >>> network = c2n.construct(c2n.build_cube(planted.corpus), planted.query(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in c2n.write_network(network, f"{folder}/network.csv")]
    ['network.nodes.csv', 'network.links.csv', 'network.recipe.json']
    """
    return networks.write(network, path_of(path, "the file of the network"), spreadsheet_safe=spreadsheet_safe)


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
    networks.draw(network, path_of(path, "the file of the picture"), title=title, seed=seed, name_cells=name_cells)


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    return networks.summarize(network)


def layout_network(
    network: Network, *, seed: int = 0, start: Sequence[Sequence[float] | None] | Array | None = None
) -> Array:
    """Return a place (x, y) for every node: linked ones near each other, none on top of another.

    ``start`` is where nodes are now, None for those that are new: they move little.
    """
    return networks.layout(network, seed=seed, start=start)


def picture_text(network: Network, *, title: str = "", width: int = 760, seed: int = 0) -> str:
    """Return a light picture of a network as the text of an SVG file, so many pixels wide; no package is needed."""
    return networks.draw_svg(Drawing(network, networks.layout(network, seed=seed), title), width=width)


def described(network: Network) -> str:
    """Return what a picture of a network shows, for those who do not see it."""
    return networks.describe_picture(network)
