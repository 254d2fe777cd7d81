"""What comes in and what goes out: raw data, made-up data, topics, queries and links by name, networks as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cube2net import network as networks
from cube2net import sources
from cube2net.arguments import made, path_of
from cube2net.array_types import Array
from cube2net.errors import QueryError, some, unknown
from cube2net.escaping import unguarded
from cube2net.interfaces import Source, TopicModel
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, Cube, Network, Query, Topics
from cube2net.sources import SOURCES, Movies, Planted, Task, Yelp
from cube2net.topics import TOPIC_MODELS

AREA_SIGS = sources.AREA_SIGS
"""The groups whose volumes tell the labels of :func:`load_areas`."""


def read_source(source: str | Source, *paths: str | Path, progress: Progress | None = None, **options: Any) -> Corpus:
    """Return the corpus that files of one kind hold; ``options`` are the source's parameters."""
    reader: Source = made(source, SOURCES, Source, "source", options)
    return reader.read([path_of(path, "a path to read") for path in paths], progress=progress or silent)


def read_tables(*paths: str | Path, progress: Progress | None = None, **options: Any) -> Corpus:
    """Return the corpus of tables, or of a folder of them: nodes and links, or objects, items, mentions and links.

    Tables of labels and of terms may come with them.
    """
    return read_source("tables", *paths, progress=progress, **options)


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
    """Return the slice of the ACL Anthology that comes with the package, without the volumes of some groups."""
    return sources.load_bundled(without_sigs)


def load_labs() -> dict[str, str]:
    """Return the 116 labelled authors that come with the package, object → label."""
    return sources.load_labs()


def load_areas() -> dict[str, str]:
    """Return the 574 authors in four areas that come with the package, object → area.

    The areas are those of the special interest groups in whose volumes the authors publish. Leave these volumes out of
    the corpus, or they tell the labels: ``load_bundled(without_sigs=AREA_SIGS)``, that is ``("sigmt", "sigdial",
    "sigbiomed", "sigedu")``.
    """
    return sources.load_areas()


def from_networkx(graph: Any, **options: Any) -> Corpus:
    """Return the corpus of a NetworkX graph: every node is an object and its own item."""
    return sources.from_networkx(graph, **options)


def make_planted(**options: Any) -> Planted:
    """Return a corpus with planted communities, and which cells are the best for each."""
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


def missing_names(cube: Cube, path: str | Path) -> list[str]:
    """Return the names of a query file that no object of the cube bears, or that several do."""
    found = cube.objects.find(_known(cube, sources.read_query_file(path_of(path, "the file of the query"))[0]))
    return [*found.missing, *found.ambiguous]


def read_query(cube: Cube, path: str | Path, *, skip_missing: bool = False) -> Query:
    """Return the query that a file names: a name a line, or a table ``object[,label]``."""
    names, labels = sources.read_query_file(path_of(path, "the file of the query"))
    return cube.query(_known(cube, names), labels, skip_missing=skip_missing)


def _known(cube: Cube, names: list[str]) -> list[str]:
    """Return names of a file as the cube has them: where a spreadsheet's guard is in front of one, maybe without."""
    bare = {name: unguarded(name) for name in names if unguarded(name) != name}
    unknown = set(cube.objects.find(list(bare)).missing) if bare else set()
    return [bare[name] if name in unknown else name for name in names]


def read_links(cube: Cube, path: str | Path) -> tuple[Array, Array]:
    """Return the links that a table names with its columns ``source`` and ``target``: the rows of both ends."""
    pairs = sources.read_pairs_file(path_of(path, "the file of the links"))
    found = cube.objects.find(_known(cube, [name for pair in pairs for name in pair]))
    lost = [*found.missing, *found.ambiguous]
    if lost:
        raise QueryError(f"{Path(path).name} names {len(lost):,} objects that are not in the cube: {some(lost)}")
    rows = found.rows.reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def check_outputs(network: str | Path | None, picture: str | Path | None, *, spreadsheet_safe: bool = False) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        networks.check_network_path(path_of(network, "the file of the network"), spreadsheet_safe=spreadsheet_safe)
    if picture is not None:
        networks.check_picture_path(path_of(picture, "the file of the picture"))


def write_network(network: Network, path: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Write a network in the format that the path's suffix names, and return the files written.

    ``spreadsheet_safe`` is for ``.csv``: names that spreadsheets would run as formulas, ids among them, get an
    apostrophe in front.
    """
    return networks.write(network, path_of(path, "the file of the network"), spreadsheet_safe=spreadsheet_safe)


def to_scipy(network: Network) -> Any:
    """Return the symmetric adjacency of a network as a SciPy matrix."""
    return networks.to_scipy(network)


def draw_network(network: Network, path: str | Path, *, title: str | None = None, seed: int = 0) -> None:
    """Draw a network to a PNG, SVG or PDF file."""
    networks.draw(network, path_of(path, "the file of the picture"), title=title, seed=seed)


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    return networks.summary(network)
