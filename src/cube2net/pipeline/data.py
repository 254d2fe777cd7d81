"""What comes in and what goes out: raw data, made-up data, topics, networks as files and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cube2net import network as networks
from cube2net import sources
from cube2net.arguments import made, path_of
from cube2net.errors import unknown
from cube2net.interfaces import Source, TopicModel
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, Network, Topics
from cube2net.sources import SOURCES, Movies, Planted, Task, Yelp
from cube2net.topics import TOPIC_MODELS

AREA_SIGS = sources.AREA_SIGS
"""The groups whose volumes tell the labels of :func:`load_areas`."""


def read_source(source: str | Source, *paths: str | Path, progress: Progress | None = None, **options: Any) -> Corpus:
    """Return the corpus that files of one kind hold; ``options`` are the source's parameters.

    Parameters
    ----------
    source
        ``"tables"``, ``"openalex"``, ``"acl"``, ``"aminer"``, ``"dblp"``, ``"yelp"`` or ``"movies"``, or an object of
        your own with ``read``.
    paths
        The files to read, or their folder, as the source expects them.
    progress
        Told how far the reading is; None for nobody.
    options
        Parameters of a source given by its name, such as ``strict=True``: what cannot be used then stops the reading.

    Returns
    -------
    Corpus
        Its ``dropped`` counts what was left out, by reason.

    Raises
    ------
    SourceError
        A file is missing or is not what it should be; the sentence names the file and the line.

    See Also
    --------
    build_from : Reads and builds, and goes on where it was cut off.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import cube2net as c2n
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "nodes.csv").write_text("id,city\\nada,Rome\\nbob,Oslo\\neve,Oslo\\n")
    ...     _ = Path(folder, "links.csv").write_text("from,to\\nada,bob\\nbob,eve\\n")
    ...     c2n.read_source("tables", folder)
    Corpus(3 objects, 3 items, 2 links)
    """
    reader: Source = made(source, SOURCES, Source, "source", options)
    return reader.read([path_of(path, "a path to read") for path in paths], progress=progress or silent)


def read_tables(*tables: Any, progress: Progress | None = None, **options: Any) -> Corpus:
    """Return the corpus of tables in files or in memory: nodes and links, items and what they mention, or records.

    Tables of labels and of terms may come with them.

    Parameters
    ----------
    tables
        Paths (CSV, TSV, JSON lines, Parquet) or frames: of pandas or Polars, Arrow tables, DuckDB relations, whatever
        hands itself over to Arrow, lists of dictionaries. Paths are told apart by their names, else by their
        order: two are nodes and links, three are objects, items and mentions, a fourth is links. One folder holds files
        with these names, and a mapping has tables by their names, ``{"nodes": frame, "links": edges}``. One table alone
        holds records: a row for every mention, or several objects in a column.
    progress
        Told how far the reading is, and which column was taken for what; None for nobody.
    options
        A table by its name (``nodes``, ``links``, ``objects``, ``items``, ``mentions``, ``labels``, ``terms``). Of one
        table of records, ``item`` and ``objects`` are the columns of the records and of what they mention.
        ``columns`` says which column is what, ``{"source": "from"}``; what it does not say is guessed. ``separators``
        part a text into several labels, ``{"genres": "|"}``; ``delimiter`` is the sign between columns. ``strict``
        stops at a row that cannot be used, which else is counted. ``max_ratio`` and ``max_unpacked`` (bytes, or such as
        ``"4GB"``) limit how far packed files may swell.

    Returns
    -------
    Corpus
        With nodes and links, every node is an object and its own item.

    See Also
    --------
    read_sql : The same of SQL queries.

    Examples
    --------
    >>> import pandas as pd
    >>> import cube2net as c2n
    >>> people = pd.DataFrame({"id": ["ada", "bob", "eve"], "city": ["Rome", "Oslo", "Oslo"]})
    >>> edges = pd.DataFrame({"from": ["ada", "bob"], "to": ["bob", "eve"], "weight": [2, 1]})
    >>> corpus = c2n.read_tables(nodes=people, links=edges)
    >>> corpus, corpus.links["weight"].to_pylist()
    (Corpus(3 objects, 3 items, 2 links), [2.0, 1.0])
    >>> papers = pd.DataFrame({"paper": [1, 1, 2], "author": ["ada", "bob", "ada"], "year": [2001, 2001, 2004]})
    >>> c2n.read_tables(papers, item="paper", objects="author")
    Corpus(2 objects, 2 items, links by co-mention)
    """
    return sources.read_tables(tables, options, progress or silent)


def read_acl(path: str | Path, *, progress: Progress | None = None, **options: Any) -> Corpus:
    """Return the corpus of the ACL Anthology, from its folder or its archive."""
    return read_source("acl", path, progress=progress, **options)


def read_task(
    source: str, *paths: str | Path, name: str, seed: int = 0, progress: Progress | None = None, **options: Any
) -> Task:
    """Return a link-prediction task of the paper's kind: a corpus, a query, and the latest links hidden.

    ``source`` is ``"yelp"`` (tasks ``ilkid`` and ``nvout``) or ``"movies"`` (``scifi00`` and ``drama10``).
    """
    tasks = {"yelp": Yelp, "movies": Movies}
    if source not in tasks:
        raise unknown("source of tasks", source, tasks)
    reader: Yelp | Movies = made(source, tasks, Source, "source", options)
    return reader.read_task(
        [path_of(path, "a path to read") for path in paths], name, seed=seed, progress=progress or silent
    )


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


def from_networkx(graph: Any, **options: Any) -> Corpus:
    """Return the corpus of a NetworkX graph: every node is an object and its own item.

    Links are undirected: links both ways, or several between two nodes, add their weights. Links of a node to itself
    are left out.

    Parameters
    ----------
    graph
        A NetworkX graph of any kind. Attributes of nodes become attributes, a list or set several labels.
    options
        ``weight``, ``name``, ``kind`` and ``text`` are the attributes that hold these, by default of the same names; a
        link without a weight counts 1. ``separators`` part a text into several labels, ``{"genres": "|"}``. ``strict``
        stops at what cannot be used, which else is counted in ``dropped``. ``progress`` is told how far it is.

    Returns
    -------
    Corpus
        Ready for :func:`build_cube`, in dimensions of its attributes.

    Examples
    --------
    >>> import networkx as nx
    >>> import cube2net as c2n
    >>> graph = nx.Graph([("ada", "bob"), ("bob", "eve")])
    >>> graph.add_node("ada", city="Rome")
    >>> c2n.from_networkx(graph)
    Corpus(3 objects, 3 items, 2 links)
    """
    return sources.from_networkx(graph, **options)


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
        Where to; ``.graphml``, ``.gexf``, ``.csv``, ``.parquet``, ``.npz`` or ``.json``.
    spreadsheet_safe
        For ``.csv``: names that spreadsheets would run as formulas, ids among them, get an apostrophe in front. By
        default names are written to the letter.

    Returns
    -------
    list of Path
        One file, or for CSV and Parquet two, that of the nodes and that of the links.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4)
    >>> network = c2n.construct(c2n.build_cube(planted.corpus), planted.query(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in c2n.write_network(network, f"{folder}/network.csv")]
    ['network.nodes.csv', 'network.links.csv']
    """
    return networks.write(network, path_of(path, "the file of the network"), spreadsheet_safe=spreadsheet_safe)


def draw_network(network: Network, path: str | Path, *, title: str | None = None, seed: int = 0) -> None:
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
    networks.draw(network, path_of(path, "the file of the picture"), title=title, seed=seed)


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    return networks.summary(network)
