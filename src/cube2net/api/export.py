"""Write and summarize networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cube2net.model.interfaces import check_call, path_of
from cube2net.model.network import Network
from cube2net.network.assembly import summarize
from cube2net.network.export.registry import check_network_path, export_network


def check_outputs(network: str | Path | None, picture: str | Path | None, *, spreadsheet_safe: bool = False) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        check_network_path(path_of(network, "the file of the network"), spreadsheet_safe=spreadsheet_safe)
    if picture is not None:
        from cube2net.network.drawing.matplotlib import check_picture_path

        check_picture_path(path_of(picture, "the file of the picture"))


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
    return export_network(network, path_of(path, "the file of the network"), spreadsheet_safe=spreadsheet_safe)


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    return summarize(network)
