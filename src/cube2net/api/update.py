"""Update a cube with new, changed or removed items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from cube2net._util.progress import Progress, ProgressOption, report_compiling, resolve_progress
from cube2net.api import cubes
from cube2net.api.read import resolve_corpus
from cube2net.api.suggest import find_topics
from cube2net.cube.building.build import leave_out_known
from cube2net.cube.building.concatenation import has_all_objects
from cube2net.cube.building.labels import TOPIC
from cube2net.cube.building.links import count_heavier
from cube2net.cube.building.replacing import Changes, change_items, find_changes
from cube2net.cube.engines import ENGINES
from cube2net.cube.storage.writer import change_folder
from cube2net.design.propose import add_text
from cube2net.errors import ParameterError, unknown_name
from cube2net.model.corpus import ASSIGNED, WORDS, Corpus, Topics, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import Engine, check_call, check_path
from cube2net.topics.lda_model import read_model


@check_call
@report_compiling
def update(
    folder: str | Path | Cube,
    data: Any = None,
    *,
    topics: Topics | None = None,
    skip_known: bool = False,
    replace: bool = False,
    remove: Sequence[str] = (),
    engine: str = "duckdb",
    progress: ProgressOption = None,
    **tables: Any,
) -> Cube:
    """Add new items and links to the cube in a folder; the result equals a cube built from all data.

    New texts are labelled by the topic model of the cube. If another process is writing the cube, the update waits.

    Parameters
    ----------
    folder
        The folder of a cube, or a cube opened from it. It is replaced when the update is complete.
    data
        New data of the same kind: a corpus, or anything that :func:`build` accepts. Tables may refer to objects of the
        cube without listing them. None to only remove items.
    topics
        The topics of the new items; by default those found by the topic model of the cube.
    skip_known
        Whether to leave out and count items that the cube already has. By default they raise an error.
    replace
        Whether to replace items of the cube that differ in the new data, and to remove items that the corpus reports as
        deleted. The result equals a cube built from the remaining and the new items.
    remove
        Ids of items to remove, with the objects that only they mentioned. Unknown ids are ignored.
    engine
        The name of the engine, ``"duckdb"`` or ``"spark"``.
    progress
        A callback that receives the progress; True shows a progress bar.
    tables
        Tables by name (``links=edges``), and the options of :func:`read_tables` or :func:`from_networkx`.

    Returns
    -------
    Cube
        The updated cube. A cube that was opened before does not change.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import cube2net as c2n
    >>> people = pd.DataFrame({"id": ["ada", "bob"], "city": ["Rome", "Oslo"]})
    >>> more = pd.DataFrame({"id": ["eve"], "city": ["Oslo"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cube = c2n.build(people, ["city"], links=[("ada", "bob")], min_objects=1, out=f"{folder}/cube")
    ...     c2n.update(cube, more, links=[("eve", "ada")])
    Cube(city: 2 cells, 3 objects, 2 links)
    """
    if isinstance(folder, Cube):
        if folder.origin is None:
            raise ParameterError(
                "the cube was not opened from a folder: save it with cube.save, and update that folder",
                parameter="folder",
            )
        folder = folder.origin.folder
    if not (data is None or isinstance(data, Corpus)) or tables:
        data = resolve_corpus(data, tables, resolve_progress(progress), update, cubes.open(folder).objects)
    cube, _ = add_items(
        folder,
        data,
        topics=topics,
        skip_known=skip_known,
        replace=replace,
        remove=remove,
        engine=engine,
        progress=progress,
    )
    return cube


@dataclass(frozen=True)
class AddedCounts:
    """Numbers of an update: what was added, and how many items and given links are new, replaced, removed, unchanged.

    ``links`` also counts the given links that were there and got heavier.
    """

    totals: dict[str, int] = field(default_factory=dict)
    items: dict[str, int] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=dict)


def add_items(
    folder: str | Path,
    corpus: Corpus | None,
    *,
    topics: Topics | None = None,
    skip_known: bool = False,
    replace: bool = False,
    remove: Sequence[str] = (),
    engine: str = "duckdb",
    progress: ProgressOption = None,
) -> tuple[Cube, AddedCounts]:
    """Like :func:`update`, and return the numbers of added, replaced and removed parts too."""
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    if skip_known and replace:
        raise ParameterError("skip_known leaves items out that the cube has, and replace replaces them: give one")
    if isinstance(remove, str):
        raise ParameterError(f"remove is the text {remove!r}, expected ids such as ['p17', 'p18']")
    if corpus is None and not remove:
        raise ParameterError("there is nothing to do: give new data, or ids of items to remove")
    place, progress = check_path(folder, "the folder of the cube"), resolve_progress(progress)
    added = AddedCounts()

    def grow(cube: Cube) -> Cube:
        new = leave_out_known(cube, corpus) if skip_known and corpus is not None else corpus
        changes = Changes(new, topics)
        if replace or remove:
            changes = find_changes(cube, new, replaces=replace, remove=remove, topics=topics)
        if not replace and new is not None and new.links is not None:
            changes.link_counts["heavier"] = count_heavier(cube, new)
        after = _change(cube, changes, ENGINES[engine](), progress)
        before = _counts(cube)
        added.totals.update({name: count - before[name] for name, count in _counts(after).items()})
        added.items.update(changes.counts)
        added.links.update(changes.link_counts)
        return after

    change_folder(place, grow, progress=progress)
    return cubes.open(place), added


def _change(cube: Cube, changes: Changes, engine: Engine, progress: Progress) -> Cube:
    """Return a cube with what comes and without what goes; where it has all of it and nothing goes, it is the same."""
    corpus = changes.corpus
    if not changes.has_drops and (corpus is None or (changes.counts and _has_all(cube, corpus))):
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
    return has_all_objects(cube, corpus)


def _counts(cube: Cube) -> dict[str, int]:
    items = int(cube.settings.get("items") or 0)
    return {"items": items, "objects": len(cube.objects), "cells": len(cube.cells), "links": cube.links.count}


def label_texts(cube: Cube, texts: Sequence[str | None]) -> Topics:
    """Return the topics of new texts, using the topic model of a cube.

    Parameters
    ----------
    cube
        A cube whose topics were learned from texts.
    texts
        The texts; None for an item without text.

    Returns
    -------
    Topics
        The topics of each text, with the names in the cube.
    """
    if cube.topic_model is None:
        raise ParameterError("the cube has no topic model: its topics were given, or it has no dimension of topics")
    return read_model(cube.topic_model()).label_texts(texts, known=_list_topics(cube))


def _new_topics(cube: Cube, corpus: Corpus, progress: Progress) -> Topics | None:
    """Return the topics of new items: by the cube's own model, or as they are given; None where it has no topics."""
    about = cube.settings.get("topics") or {}
    if corpus.items.num_rows == 0 and (cube.topic_model is not None or about):
        return Topics((), table(ASSIGNED), table(WORDS))
    if about.get("text") in corpus.attributes and "text" not in corpus.items.column_names:
        corpus = add_text(corpus, about["text"])
    if cube.topic_model is not None:
        return read_model(cube.topic_model()).topics(corpus, known=_list_topics(cube), progress=progress)
    return find_topics(corpus, "given", attribute=about["attribute"]) if about.get("model") == "given" else None


def _list_topics(cube: Cube) -> set[str]:
    """Return the labels of a cube's topics: those learned, and what was set aside under a name of its own."""
    dimensions = {
        spec.name for spec in map(DimensionSpec.parse, cube.settings.get("dimensions", ())) if spec.attribute == TOPIC
    }
    levels = [level for dimension in cube.dimensions for level in dimension.levels if level.name in dimensions]
    return {label for level in levels for label in level.labels}
