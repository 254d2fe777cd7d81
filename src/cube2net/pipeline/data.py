"""What comes in and what goes out: raw data, made-up data, topics, networks as files and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cube2net import network as networks
from cube2net import sources
from cube2net.arguments import made, path_of
from cube2net.array_types import Array
from cube2net.interfaces import TopicModel
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, Drawing, Network, Topics
from cube2net.sources import Planted
from cube2net.topics import TOPIC_MODELS

AREA_SIGS = sources.AREA_SIGS
"""The groups whose volumes tell the labels of :func:`load_areas`."""


def load_bundled(without_sigs: Sequence[str] = ()) -> Corpus:
    """Return the slice of the ACL Anthology that comes with the package, without the volumes of some groups.

    Objects are authors, items are papers since 2016 with ``year``, ``venue``, ``sig``, ``volume`` and ``title``; counts
    of terms stand in for their abstracts.

    Parameters
    ----------
    without_sigs
        Special interest groups whose volumes are left out, such as ``["sigmt"]``, and with them authors of nothing
        else. Without any, all is there.

    Returns
    -------
    Corpus
        Two authors are linked when they wrote a paper together.

    See Also
    --------
    load_labs, load_areas : Labels of some of its authors.

    Examples
    --------
    >>> import cube2net as c2n
    >>> c2n.load_bundled(without_sigs=["sigmt"])
    Corpus(55,031 objects, 38,819 items, links by co-mention)
    """
    return sources.load_bundled(without_sigs)


def load_labs() -> dict[str, str]:
    """Return the 116 labelled authors that come with the package, object → label.

    Returns
    -------
    dict
        The ids of authors of :func:`load_bundled`, 29 from each of four institutions, and the institution of each.

    Examples
    --------
    >>> import cube2net as c2n
    >>> labs = c2n.load_labs()
    >>> len(labs), sorted(set(labs.values()))[:2]
    (116, ['Carnegie Mellon University', 'Harbin Institute of Technology'])
    """
    return sources.load_labs()


def load_areas() -> dict[str, str]:
    """Return the 574 authors in four areas that come with the package, object → area.

    The areas are those of the special interest groups in whose volumes the authors publish. Leave these volumes out of
    the corpus, or they tell the labels: ``load_bundled(without_sigs=AREA_SIGS)``, that is ``("sigmt", "sigdial",
    "sigbiomed", "sigedu")``.

    Returns
    -------
    dict
        The ids of authors of :func:`load_bundled`, and the area of each.

    Examples
    --------
    >>> import cube2net as c2n
    >>> areas = c2n.load_areas()
    >>> len(areas), sorted(set(areas.values()))
    (574, ['biomedical', 'dialogue', 'education', 'machine translation'])
    """
    return sources.load_areas()


def make_planted(**options: Any) -> Planted:
    """Return a corpus with planted communities, and which cells are the best for each.

    Parameters
    ----------
    options
        How many ``objects`` (1,000) there are in how many ``communities`` (10), each of which owns so many ``cells``
        (4). An object is mentioned by so many ``items`` (3) in these cells, and an item mentions so many ``mentions``
        (3) at most. ``noise`` (0.1) is the share of items that mention any objects in any cell. An object has about so
        many ``links`` (8), a share ``within`` (0.9) of them inside its community. The cells lie in so many ``decades``
        (5), ``venues`` and ``topics``; without numbers there are about four times as many cells as are owned. The same
        ``seed`` (0) makes the same corpus.

    Returns
    -------
    Planted
        ``corpus`` is the corpus, ``communities`` the community of every object, ``best_cells`` the cells of every
        community, and ``query(number)`` gives the ids of a community's members.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> planted, planted.corpus
    (Planted(200 objects, 4 communities, 16 cells), Corpus(200 objects, 206 items, 720 links))
    >>> len(planted.query(0)), planted.best_cells[0][0]
    (50, ('198X', 'venue 0', 'topic 2'))
    """
    return sources.make_planted(**options)


def make_dblp_like(papers: int = sources.DBLP_PAPERS, **options: Any) -> Corpus:
    """Return a made-up corpus with the tails of a real literature, by default of DBLP's size."""
    return sources.make_dblp_like(papers, **options)


def open_dblp_like(folder: str | Path) -> Corpus:
    """Return the corpus of a folder that :func:`make_dblp_like` wrote; its tables are memory-mapped."""
    return sources.open_dblp_like(path_of(folder, "the folder"))


def find_topics(
    corpus: Corpus, model: str | TopicModel = "lda", *, seed: int = 0, progress: Progress | None = None, **options: Any
) -> Topics:
    """Return the topics of a corpus by a topic model."""
    maker: TopicModel = made(model, TOPIC_MODELS, TopicModel, "topic model", options)
    return maker.topics(corpus, seed=seed, progress=progress or silent)


def check_outputs(network: str | Path | None, picture: str | Path | None, *, spreadsheet_safe: bool = False) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        networks.check_network_path(path_of(network, "the file of the network"), spreadsheet_safe=spreadsheet_safe)
    if picture is not None:
        networks.check_picture_path(path_of(picture, "the file of the picture"))


def write_network(network: Network, path: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Write a network in the format that the path's suffix names, and return the files written.

    The files are whole, or what stood there before is untouched.

    Parameters
    ----------
    network
        The network to write.
    path
        Where to; ``.graphml``, ``.gexf``, ``.csv``, ``.parquet``, ``.npz``, ``.json``, ``.cyjs`` (Cytoscape),
        ``.vosviewer.json`` or ``.neo4j.csv``.
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
    return networks.summary(network)


def layout_network(
    network: Network, *, seed: int = 0, start: Sequence[Sequence[float] | None] | Array | None = None
) -> Array:
    """Return a place (x, y) for every node: linked ones near each other, none on top of another.

    ``start`` is where nodes are now, None for those that are new: they move little.
    """
    return networks.layout(network, seed=seed, start=start)


def picture_text(network: Network, *, title: str = "", width: int = 760, seed: int = 0) -> str:
    """Return a light picture of a network as the text of an SVG file, so many pixels wide; no package is needed."""
    return networks.svg_of(Drawing(network, networks.layout(network, seed=seed), title), width=width)


def described(network: Network) -> str:
    """Return what a picture of a network shows, for those who do not see it."""
    return networks.description(network)
