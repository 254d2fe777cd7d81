"""Write, draw and summarize networks, and render them as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net.api.replay import check_network
from cube2net.errors import ParameterError, quoted, whole_number
from cube2net.model.arguments import check_call, path_of
from cube2net.model.network import Drawing, Network
from cube2net.network.drawing.layout import layout
from cube2net.network.drawing.matplotlib import check_picture_path, draw
from cube2net.network.drawing.picture import describe_picture
from cube2net.network.drawing.svg import draw_svg
from cube2net.network.export.registry import check_network_path, write
from cube2net.network.export.text import brief_text, text_of
from cube2net.network.export.token_budget import estimated_tokens
from cube2net.network.pagerank import scores
from cube2net.network.summary import summarize


def check_outputs(network: str | Path | None, picture: str | Path | None, *, spreadsheet_safe: bool = False) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        check_network_path(path_of(network, "the file of the network"), spreadsheet_safe=spreadsheet_safe)
    if picture is not None:
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
    return write(network, path_of(path, "the file of the network"), spreadsheet_safe=spreadsheet_safe)


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


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    return summarize(network)


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
    return describe_picture(network)


MAX_TOKENS = 4_000
DAMPING, TOLERANCE = 0.7, 1e-6
"""How near objects are for a brief text: by a walk from the query that goes on with this probability."""


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
    check_network(network)
    if counter is not None and not callable(counter):
        raise ParameterError(f"the counter is {quoted(counter)}, expected a function of a text that counts its tokens")
    most = whole_number("max_tokens", max_tokens, 0, what="tokens")
    count = counter or estimated_tokens
    if brief:
        return brief_text(network, most, count, _nearness(network))
    return text_of(network, most, count)


def _nearness(network: Network) -> Array | None:
    """Return how near each object of a network is to the query; None of a network from another process."""
    question = network.question
    if question is None:
        return None
    seeds = np.union1d(network.query.objects, np.array(question.steering.like, dtype=np.int32))
    return scores(question.whole.links, seeds, DAMPING, TOLERANCE)[network.objects]
