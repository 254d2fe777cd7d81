"""Build a cube from a corpus, and add a corpus to a cube. A build adds a corpus to an empty cube.

``update(build(A), B)`` equals ``build(concatenate(A, B))`` array by array and label by label, where A and B are corpora
and :func:`concatenate` is A's rows followed by B's. Small cells that grow become cells; members, links with their
weights, labels with their full names and parents, objects, and the counts of items and of what was left out are
those of both corpora. Given weights are summed in double precision and rounded once.

Topics are not learned again: new items get theirs from the stored model, or they are given, and the equality holds
for the topics of :func:`concatenate_topics`. Quantile bins would move old items to other cells, so they are refused.

The cost depends on the addition: only new items are joined and counted. Existing arrays are read once if they have to
be merged with new ones, and files that do not change are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, Links, make_empty_rows
from cube2net._util.progress import Progress, Stage, silent
from cube2net.cube.building.cells import grow_cells, grow_items, pack_cells
from cube2net.cube.building.concatenation import (
    check_links,
    check_types,
    drop_items,
    join_attribution,
    join_counts,
    place_corpus,
)
from cube2net.cube.building.dimensions import empty_dimensions, label_items
from cube2net.cube.building.labels import TOPIC
from cube2net.cube.building.links import count_left_out, grow_details, grow_links, make_empty_details
from cube2net.cube.plan import WANTED, WANTED_LINKS, make_statements
from cube2net.cube.storage.ledger import Ledger, hash_column, require_ledger
from cube2net.cube.storage.writer import allocate_in_files, allocate_in_memory
from cube2net.errors import Message, ParameterError, Setting, SourceError, quote_few, unknown_name
from cube2net.model.corpus import CITED_ELSEWHERE, OBJECTS, UNKNOWN_OBJECTS, Corpus, Topics, table
from cube2net.model.cube import Cells, Cube, LinkDetails
from cube2net.model.dimension import MAX_MENTIONS, MIN_OBJECTS, SMALL, DimensionSpec, join_specs
from cube2net.model.interfaces import Engine
from cube2net.model.items import ItemAttributes, ItemIndex
from cube2net.model.objects import Objects

GivenLinks = tuple[Links, Callable[[], LinkDetails] | None]
ITEM_CHOICES = ("all", "index", "none")
ALREADY_IN_CUBE = "items that were in the cube already"


def build(
    corpus: Corpus,
    specs: Sequence[DimensionSpec],
    engine: Engine,
    *,
    topics: Topics | None = None,
    min_objects: int = MIN_OBJECTS,
    max_mentions: int = MAX_MENTIONS,
    seed: int = 0,
    items: bool | str = "all",
    folder: Path | None = None,
    progress: Progress = silent,
) -> Cube:
    """Return the cube of a corpus in the given dimensions.

    ``items="index"`` keeps the objects and cells of every item, ``"all"`` (or True) also the items' attributes and
    topics, and ``"none"`` (or False) nothing.

    With a ``folder`` of its own, the engine works there and can resume an interrupted run, and the arrays of the cube
    are files in it, which :func:`save` takes over.
    """
    if min_objects < 1:
        raise ParameterError(f"min_objects is {min_objects!r}, expected 1 or more")
    if max_mentions < 2:
        raise ParameterError(f"max_mentions is {max_mentions!r}, expected 2 or more")
    specs = join_specs(specs)
    settings: dict[str, Any] = {
        "dimensions": [str(spec) for spec in specs],
        "min_objects": min_objects,
        "max_mentions": max_mentions,
        "seed": seed,
        "engine": type(engine).__name__,
        "items": 0,
        "time": corpus.time,
        "dropped": {},
        "attribution": "",
        "topics": dict(topics.settings) if topics is not None else None,
    }
    settings |= {name: True for name in ("whole_ids", "directed") if getattr(corpus, name)}
    settings |= {"source": dict(corpus.source)} if corpus.source else {}
    empty = empty_cube(specs, settings, topics, corpus, items=parse_kept_items(items))
    return grow(empty, corpus, engine, topics=topics, folder=folder, progress=progress)


def update(
    cube: Cube, corpus: Corpus, engine: Engine, *, topics: Topics | None = None, progress: Progress = silent
) -> Cube:
    """Return a cube with the items and links of a corpus added; ``topics`` are those of the new items.

    Items that the cube has already are refused; see :func:`leave_out_known`.
    """
    ledger = require_ledger(cube)
    refuse_known(corpus, ledger.knows(hash_column(corpus.items["item"])))
    check_fits(cube, corpus)
    if corpus.items.num_rows == 0:  # links or objects alone carry no attributes of items
        for name in (name for name in ledger.kinds if name not in corpus.attributes):
            corpus = replace(corpus, items=corpus.items.append_column(name, pa.nulls(0)))
    return grow(cube, corpus, engine, topics=topics, progress=progress)


def refuse_known(corpus: Corpus, is_known: Array) -> None:
    """Raise if any item of a corpus is marked as one that the cube has."""
    if is_known.any():
        ids = corpus.items["item"].filter(pa.array(is_known)).to_pylist()
        plural = "1 of the new items is" if len(ids) == 1 else f"{len(ids):,} of the new items are"
        raise SourceError(
            f"{plural} in the cube already: {quote_few(ids)}",
            hint=Message(Setting("skip_known", True), " leaves them out, ", Setting("replace", True), " replaces them"),
        )


def check_fits(cube: Cube, corpus: Corpus) -> None:
    """Raise if a corpus cannot be added to a cube: ids or links of another type, or unlisted objects or works."""
    check_links(require_ledger(cube).derived, corpus.links is None)
    check_types(cube.objects.whole, bool(cube.settings.get("directed")), corpus)
    if unlisted := corpus.dropped.get(UNKNOWN_OBJECTS, 0):
        raise SourceError(
            f"{unlisted:,} mentions of the new items name objects that the new tables do not list: "
            "list every object that they mention, also those that the cube has"
        )
    if cited_elsewhere := corpus.dropped.get(CITED_ELSEWHERE, 0):
        raise SourceError(
            f"{cited_elsewhere:,} citations of the new works lead to works that their files do not have, "
            "maybe to those of the cube, and which old ones cite new ones is not known: build the cube of all files "
            "again"
        )


def grow(
    cube: Cube,
    corpus: Corpus,
    engine: Engine,
    *,
    topics: Topics | None,
    links: GivenLinks | None = None,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Cube:
    """Return a cube, which may be empty, with the items and links of a corpus added.

    ``links`` are links among the first objects of the corpus that an empty cube starts with. The engine works in the
    ``folder`` if one is given, and the arrays of a new cube become files in it.
    """
    ledger = require_ledger(cube)
    progress(Stage("cube" if ledger.is_empty else "update", "labels"), 0, None)
    placement = place_corpus(corpus, cube.objects)
    specs = [DimensionSpec.parse(text) for text in cube.settings["dimensions"]]
    labels = label_items(corpus, specs, topics, dimensions=cube.dimensions, ledger=ledger)
    sizes = [len(dimension.labels) for dimension in labels.dimensions]
    min_objects, max_mentions = cube.settings["min_objects"], cube.settings["max_mentions"]
    plan = make_statements(sizes, min_objects=min_objects, max_mentions=max_mentions, links=ledger.derived)
    inputs = {"mentions": placement.mentions, "labels": labels.table}
    wanted = WANTED + (WANTED_LINKS if ledger.derived else ())
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    tables = engine.run(inputs, plan, wanted, folder=folder, progress=progress)

    progress(*("cube: packing", len(plan), len(plan)) if ledger.is_empty else ("update: merging", 0, None))
    allocate = allocate_in_files(folder) if folder is not None and ledger.is_empty else allocate_in_memory
    object_count = len(placement.objects)
    new_cells = pack_cells(tables, sizes, min_objects, allocate)
    cells = grow_cells(
        cube, labels.places, sizes, new_cells, min_objects=min_objects, object_count=object_count, allocate=allocate
    )
    new_links = tables["links"] if placement.links is None else placement.links
    self_links, crowded = count_left_out(new_links, tables)
    old_links, details = (cube.links, cube.details) if links is None else links
    links_after, rests = grow_links(old_links, ledger.rests, new_links, object_count, self_links, allocate)
    if details is not None and placement.links is not None:
        grown_details = grow_details(details(), placement.links, object_count, cube.settings["items"])
        details = lambda: grown_details  # noqa: E731
    all_cells = (cells.cells, cells.small)
    by_topics = any(spec.attribute == TOPIC for spec in specs)
    items = grow_items(cube, all_cells, labels, corpus, topics if by_topics else None, placement.mentions, allocate)
    item_hashes = np.sort(hash_column(corpus.items["item"]))
    new_ledger = replace(
        labels.ledger,
        items=np.insert(ledger.items, np.searchsorted(ledger.items, item_hashes), item_hashes)
        if len(item_hashes)
        else ledger.items,
        rests=rests,
        dropped=join_counts(ledger.dropped, corpus.dropped),
        selfish=ledger.selfish + self_links,
        crowded=ledger.crowded + crowded,
    )
    return Cube(
        dimensions=labels.dimensions,
        cells=cells.cells,
        object_cells=cells.object_cells,
        small=cells.small,
        links=links_after,
        objects=placement.objects,
        settings=_update_settings(cube, corpus, new_ledger, labels.strays, len(cells.small)),
        topic_words=cube.topic_words,
        topic_model=cube.topic_model,
        ledger=lambda: new_ledger,
        items=items,
        details=details,
    )


def leave_out_known(cube: Cube, corpus: Corpus) -> Corpus:
    """Return a corpus without the items that a cube has already; it counts them as left out."""
    is_known = require_ledger(cube).knows(hash_column(corpus.items["item"]))
    if not is_known.any():
        return corpus
    new_items = drop_items(corpus, is_known)
    return replace(new_items, dropped=join_counts(corpus.dropped, {ALREADY_IN_CUBE: int(is_known.sum())}))


def empty_cube(
    specs: Sequence[DimensionSpec], settings: dict[str, Any], topics: Topics | None, corpus: Corpus, *, items: str
) -> Cube:
    """Return a cube without items, to which a corpus can be added; it has the words and the model of the topics."""
    derived, details, no_rows = corpus.links is None, make_empty_details(corpus), make_empty_rows()
    no_cells = Cells(np.empty((0, len(specs)), np.int32), no_rows)
    index = ItemIndex(no_rows, no_rows, derived, lambda: pa.chunked_array([], pa.string()))
    if items == "all":
        index = replace(index, load_attributes=lambda: ItemAttributes(()))
    ledger = Ledger.empty(derived=derived)
    return Cube(
        dimensions=empty_dimensions(specs),
        cells=no_cells,
        object_cells=no_rows,
        small=no_cells,
        links=Links(no_rows.indptr, no_rows.indices, np.empty(0, np.float32)),
        objects=Objects.of(table(OBJECTS), whole=corpus.whole_ids),
        settings=settings,
        topic_words=_name_topic_words(topics),
        topic_model=None if topics is None or topics.model is None else lambda: topics.model,
        ledger=lambda: ledger,
        items=None if items == "none" else lambda: index,
        details=None if details is None else lambda: details,
    )


def parse_kept_items(items: bool | str) -> str:
    """Return what a cube keeps of its items, ``all``, ``index`` or ``none``, given one of these or a boolean.
    >>> parse_kept_items(True), parse_kept_items("index"), parse_kept_items(False)
    ('all', 'index', 'none')
    """
    if isinstance(items, bool):
        return "all" if items else "none"
    if items not in ITEM_CHOICES:
        raise unknown_name("kind of items", items, ITEM_CHOICES)
    return items


def _name_topic_words(topics: Topics | None) -> pa.Table | None:
    if topics is None:
        return None
    labels = [topics.names[topic] for topic in topics.words["topic"].to_pylist()]
    return topics.words.set_column(0, "topic", pa.array(labels, pa.string()))


def _update_settings(
    cube: Cube, corpus: Corpus, ledger: Ledger, strays: Mapping[tuple[str, str], int], small: int
) -> dict[str, Any]:
    """Return the settings of a cube after adding a corpus, with the counts of what was left out, by reason."""
    settings = dict(cube.settings)
    settings["items"] += corpus.items.num_rows
    settings["attribution"] = corpus.attribution
    if not require_ledger(cube).is_empty:
        settings["attribution"] = join_attribution(cube.settings["attribution"], corpus.attribution)
    dropped = dict(ledger.dropped)  # by the source
    dropped |= {f"items with no {name}, in no cell": count for name, count in ledger.unlabelled.items()}
    dropped |= {
        f"items whose {parent} is not that of most items of their {name}": count
        for (name, parent), count in strays.items()
    }
    left_out = {
        "links from an object to itself": ledger.selfish,
        f"items with more than {settings['max_mentions']} objects, which make no links": ledger.crowded,
        SMALL.format(settings["min_objects"]): small,
    }
    settings["dropped"] = dropped | {reason: count for reason, count in left_out.items() if count}
    return settings
