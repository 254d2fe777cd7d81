"""Open, save, verify, update and view cubes, and embed their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from cube2net._util.compiling import tells_compiling
from cube2net._util.progress import Progress, Telling, listener
from cube2net.api.topics import find_topics
from cube2net.cube import views, window
from cube2net.cube.building.build import leave_out_known
from cube2net.cube.building.concatenation import knows_objects
from cube2net.cube.building.labels import TOPIC
from cube2net.cube.building.links import count_heavier
from cube2net.cube.building.replacing import Changes, change_items, find_changes
from cube2net.cube.engines import ENGINES
from cube2net.cube.storage import store
from cube2net.cube.storage.store import change_folder, read, save, verify
from cube2net.cube.views import dice, of_kind
from cube2net.design.propose import with_text
from cube2net.errors import ParameterError, unknown, whole_number
from cube2net.model.arguments import check_call, expect, made, path_of
from cube2net.model.corpus import ASSIGNED, WORDS, Corpus, Topics, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import CellEmbedder, Engine, NodeEmbedder
from cube2net.model.vectors import Vectors
from cube2net.topics.lda_model import model_of
from cube2net.vectors.cell_vectors import VECTORS
from cube2net.vectors.nearest_cells import Nearest

READING = "reading"
"""Under which word a cube keeps what was read, among what it knows of its source."""


@check_call
@tells_compiling
def update_cube(
    folder: str | Path,
    corpus: Corpus | None,
    *,
    topics: Topics | None = None,
    skip_known: bool = False,
    replace: bool = False,
    remove: Sequence[str] = (),
    engine: str = "duckdb",
    progress: Telling = None,
) -> Cube:
    """Return the cube of a folder with the items and links of a corpus added, as if it had been built of all.

    New texts are labelled by the cube's own topic model, in the labels that the cube has. While another process writes
    the cube, this waits.

    Parameters
    ----------
    folder
        The folder of the cube; it is replaced when all is done.
    corpus
        The new data, of the same kind as the old; None where items are removed only.
    topics
        Topics of the new items; without any, those that the cube's own model finds.
    skip_known
        Whether an item that the cube has already is left out and counted. By default it is refused.
    replace
        Whether an item that the cube has already takes the place of the old one where its content is another, and items
        that the corpus says are gone are taken out. The result is the cube built of what is left, and what came.
    remove
        Ids of items to take out, with the objects that only they mentioned; what the cube does not have is no matter.
    engine
        The name of the engine that does it, ``"duckdb"`` or ``"spark"``.
    progress
        Told how far it is; True for a bar, None for nobody.

    Returns
    -------
    Cube
        The cube opened anew. One that was opened before stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import cube2net as c2n
    >>> def of(*links):
    ...     graph = nx.Graph(links)
    ...     nx.set_node_attributes(graph, "Rome", "city")
    ...     return c2n.from_networkx(graph)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = c2n.build_cube(of(("ada", "bob")), ["city"], min_objects=1, out=f"{folder}/cube")
    ...     c2n.update_cube(f"{folder}/cube", of(("eve", "joe")))
    Cube(city: 1 cell, 4 objects, 2 links)
    """
    cube, _ = add_items(
        folder,
        corpus,
        topics=topics,
        skip_known=skip_known,
        replace=replace,
        remove=remove,
        engine=engine,
        progress=progress,
    )
    return cube


def add_items(
    folder: str | Path,
    corpus: Corpus | None,
    *,
    topics: Topics | None = None,
    skip_known: bool = False,
    replace: bool = False,
    remove: Sequence[str] = (),
    engine: str = "duckdb",
    progress: Telling = None,
) -> tuple[Cube, dict[str, int]]:
    """Return what :func:`update_cube` does, and how many items, objects, cells and links were added.

    Where items are replaced or removed, it is also said how many items and given links are new, replaced, removed and
    unchanged; where they are not, how many given links that were there got heavier.
    """
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if skip_known and replace:
        raise ParameterError("skip_known leaves items out that the cube has, and replace replaces them: give one")
    if isinstance(remove, str):
        raise ParameterError(f"remove is the text {remove!r}, expected ids such as ['p17', 'p18']")
    if corpus is None and not remove:
        raise ParameterError("there is nothing to do: give new data, or ids of items to remove")
    place, progress = path_of(folder, "the folder of the cube"), listener(progress)
    added: dict[str, int] = {}

    def grown(cube: Cube) -> Cube:
        new = leave_out_known(cube, corpus) if skip_known and corpus is not None else corpus
        changes = Changes(new, topics)
        if replace or remove:
            changes = find_changes(cube, new, replaces=replace, remove=remove, topics=topics)
        if not replace and new is not None and new.links is not None:
            changes.link_counts["heavier"] = count_heavier(cube, new)
        after = _changed(cube, changes, ENGINES[engine](), progress)
        before = _counts(cube)
        added.update({name: count - before[name] for name, count in _counts(after).items()})
        added.update({f"{what} items": count for what, count in changes.counts.items()})
        added.update({f"{what} links": count for what, count in changes.link_counts.items()})
        return after

    change_folder(place, grown, progress=progress)
    return open_cube(place), added


def _changed(cube: Cube, changes: Changes, engine: Engine, progress: Progress) -> Cube:
    """Return a cube with what comes and without what goes; where it has all of it and nothing goes, it is the same."""
    corpus = changes.corpus
    if not changes.goes and (corpus is None or (changes.counts and _has_all(cube, corpus))):
        return cube
    topics = changes.topics
    if corpus is not None and topics is None:
        topics = _new_topics(cube, corpus, progress)
    return change_items(cube, changes, engine, topics=topics, progress=progress)


def _has_all(cube: Cube, corpus: Corpus) -> bool:
    """Return whether a cube has all that is left of a corpus: no items, no links but of objects to themselves."""
    if corpus.items.num_rows or corpus.labels.num_rows:
        return False
    if corpus.links is not None and pc.any(pc.not_equal(corpus.links["source"], corpus.links["target"])).as_py():
        return False
    return knows_objects(cube, corpus)


def _counts(cube: Cube) -> dict[str, int]:
    items = int(cube.settings.get("items") or 0)
    return {"items": items, "objects": len(cube.objects), "cells": len(cube.cells), "links": cube.links.count}


@check_call
def save_cube(cube: Cube, folder: str | Path) -> None:
    """Write a cube to a folder, which appears whole or not at all.

    Parameters
    ----------
    cube
        The cube to save.
    folder
        A place where nothing is, or a cube that this one replaces.

    Returns
    -------
    None
        The cube is in the folder, for :func:`open_cube`.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.make_planted(objects=200, communities=4, noise=0).corpus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     c2n.save_cube(cube, f"{folder}/cube")
    ...     c2n.open_cube(f"{folder}/cube")
    Cube(decade × venue × topic: 16 cells, 200 objects, 720 links)
    """
    save(expect(Cube, cube, "cube"), path_of(folder, "the folder of the cube"))


@check_call
def open_cube(folder: str | Path) -> Cube:
    """Return the cube of a folder; its arrays are memory-mapped, so this costs almost nothing.

    It can be sent to other processes (``multiprocessing``, joblib, Dask): the folder is sent, and opened there.

    Parameters
    ----------
    folder
        Where :func:`save_cube`, :func:`build_cube` or ``cube2net build`` wrote it.

    Returns
    -------
    Cube
        It stays whole while another one takes its place in the folder.

    Raises
    ------
    CubeError
        The folder is missing, is no cube, is damaged, or was written by a later version.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> corpus = c2n.make_planted(objects=200, communities=4, noise=0).corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = c2n.build_cube(corpus, out=f"{folder}/cube")
    ...     c2n.open_cube(f"{folder}/cube")
    Cube(decade × venue × topic: 16 cells, 200 objects, 720 links)
    """
    return read(path_of(folder, "the folder of the cube"))


@check_call
def verify_cube(folder: str | Path) -> int:
    """Return the number of files of a cube, having checked every byte of them.

    Parameters
    ----------
    folder
        The folder of the cube.

    Returns
    -------
    int
        How many files there are; all are as they were written.

    Raises
    ------
    CubeError
        The first file that is missing or differs; build the cube again, or take a copy.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> corpus = c2n.make_planted(objects=200, communities=4, noise=0).corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = c2n.build_cube(corpus, out=f"{folder}/cube")
    ...     c2n.verify_cube(f"{folder}/cube") > 20
    True
    """
    return verify(path_of(folder, "the folder of the cube"))


def label_texts(cube: Cube, texts: Sequence[str | None]) -> Topics:
    """Return the topics of new texts, by the topic model that was trained for a cube."""
    if cube.topic_model is None:
        raise ParameterError("the cube has no topic model: its topics were given, or it has no dimension of topics")
    return model_of(cube.topic_model()).label_texts(texts, known=_topics_of(cube))


def _new_topics(cube: Cube, corpus: Corpus, progress: Progress) -> Topics | None:
    """Return the topics of new items: by the cube's own model, or as they are given; None where it has no topics."""
    about = cube.settings.get("topics") or {}
    if corpus.items.num_rows == 0 and (cube.topic_model is not None or about):
        return Topics((), table(ASSIGNED), table(WORDS))
    if about.get("text") in corpus.attributes and "text" not in corpus.items.column_names:
        corpus = with_text(corpus, about["text"])
    if cube.topic_model is not None:
        return model_of(cube.topic_model()).topics(corpus, known=_topics_of(cube), progress=progress)
    return find_topics(corpus, "given", attribute=about["attribute"]) if about.get("model") == "given" else None


def _topics_of(cube: Cube) -> set[str]:
    """Return the labels of a cube's topics: those learned, and what was set aside under a name of its own."""
    dimensions = {
        spec.name for spec in map(DimensionSpec.parse, cube.settings.get("dimensions", ())) if spec.attribute == TOPIC
    }
    levels = [level for dimension in cube.dimensions for level in dimension.levels if level.name in dimensions]
    return {label for level in levels for label in level.labels}


def embed_cells(cube: Cube, vectors: str | CellEmbedder = "words", *, seed: int = 0, **options: Any) -> Vectors:
    """Return a vector for every cell: of the words of its labels, or learned from the cells' members."""
    if isinstance(vectors, NodeEmbedder) and not isinstance(vectors, CellEmbedder):
        raise ParameterError(
            f"a kind of vectors has the method embed_cells(cube, seed=...), got {vectors!r} with embed, that of "
            "an embedding of nodes: rename the method if it embeds cells"
        )
    maker: CellEmbedder = made(vectors, VECTORS, CellEmbedder, "kind of vectors", options)
    return maker.embed_cells(cube, seed=seed)


def near_cells(
    cube: Cube, cell: int | Sequence[str], k: int = 10, vectors: Vectors | None = None
) -> list[tuple[str, ...]]:
    """Return the labels of the k cells nearest to a cell (its number or its labels), without itself."""
    cell = whole_number("cell", cell, 0, len(cube.cells) - 1) if isinstance(cell, int) else cube.find_cell(cell)
    known = embed_cells(cube) if vectors is None else vectors
    found, _ = Nearest.of(known).find(known.values[[cell]], k=k, taken=np.array([[cell]]))
    return [cube.cell(int(number)) for number in found[0] if number >= 0]


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Return what a cube's folder says of itself: counts, settings, what was left out, files and checksums."""
    return store.read_manifest(path_of(folder, "the folder of the cube"))


def view_cube(
    cube: Cube,
    *,
    roll_up: Sequence[str | tuple[str, str]] = (),
    where: Mapping[str, Sequence[str]] | None = None,
    between: str | Sequence[Any] | None = None,
    kind: str | Sequence[str] = (),
) -> Cube:
    """Return the cube of the items of a time, rolled up in some dimensions, and only the cells with one of some labels.

    ``between`` is a window such as ``"2015..2019"`` or ``(2015, 2019)``: see :func:`cube2net.cube.between`. A dimension
    alone goes to the level above it, one with a level goes there. Of objects only those of a ``kind``, of which there
    may be several, are brought into networks: see :func:`cube2net.cube.of_kind`.
    """
    if between is not None:
        cube = window.between(cube, between)
    for wanted in roll_up:
        cube = views.roll_up(cube, *((wanted,) if isinstance(wanted, str) else wanted))
    cube = dice(cube, where) if where else cube
    return of_kind(cube, kind) if kind else cube
