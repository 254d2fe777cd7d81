"""From raw data to a corpus, its topics, and tasks of link prediction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cube2net import sources
from cube2net.errors import unknown
from cube2net.interfaces import Source, TopicModel
from cube2net.pipeline.registries import made
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, Topics
from cube2net.sources import SOURCES, Movies, Yelp
from cube2net.topics import TOPIC_MODELS

AREA_SIGS = sources.AREA_SIGS
"""The groups whose volumes tell the labels of :func:`load_areas`."""


def read_source(source: str | Source, *paths: str | Path, progress: Progress = silent, **options: Any) -> Corpus:
    """Return the corpus that files of one kind hold; ``options`` are the source's parameters."""
    reader: Source = made(source, SOURCES, Source, "source", options)
    return reader.read([Path(path) for path in paths], progress=progress)


def read_tables(*paths: str | Path, progress: Progress = silent, **options: Any) -> Corpus:
    """Return the corpus of tables, or of a folder of them: nodes and links, or objects, items, mentions and links.

    Tables of labels and of terms may come with them.
    """
    return read_source("tables", *paths, progress=progress, **options)


def read_acl(path: str | Path, *, progress: Progress = silent, **options: Any) -> Corpus:
    """Return the corpus of the ACL Anthology, from its folder or its archive."""
    return read_source("acl", path, progress=progress, **options)


def read_task(
    source: str, *paths: str | Path, name: str, seed: int = 0, progress: Progress = silent, **options: Any
) -> sources.Task:
    """Return a link-prediction task of the paper's kind: a corpus, a query, and the latest links hidden.

    ``source`` is ``"yelp"`` (tasks ``ilkid`` and ``nvout``) or ``"movies"`` (``scifi00`` and ``drama10``).
    """
    tasks = {"yelp": Yelp, "movies": Movies}
    if source not in tasks:
        raise unknown("source of tasks", source, tasks)
    reader: Yelp | Movies = made(source, tasks, Source, "source", options)
    return reader.read_task([Path(path) for path in paths], name, seed=seed, progress=progress)


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


def make_planted(**options: Any) -> sources.Planted:
    """Return a corpus with planted communities, and which cells are the best for each."""
    return sources.make_planted(**options)


def make_dblp_like(papers: int = sources.DBLP_PAPERS, **options: Any) -> Corpus:
    """Return a made-up corpus with the tails of a real literature, by default of DBLP's size."""
    return sources.make_dblp_like(papers, **options)


def open_dblp_like(folder: str | Path) -> Corpus:
    """Return the corpus of a folder that :func:`make_dblp_like` wrote; its tables are memory-mapped."""
    return sources.open_dblp_like(folder)


def find_topics(
    corpus: Corpus, model: str | TopicModel = "lda", *, seed: int = 0, progress: Progress = silent, **options: Any
) -> Topics:
    """Return the topics of a corpus by a topic model."""
    maker: TopicModel = made(model, TOPIC_MODELS, TopicModel, "topic model", options)
    return maker.topics(corpus, seed=seed, progress=progress)
