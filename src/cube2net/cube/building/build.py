"""A corpus is added to a cube, or to an empty one: ``build(A)`` is ``grow(EMPTY, A)``.

What that means exactly: ``update(build(A), B)`` equals ``build(concatenate(A, B))`` array by array and label by
label, where A and B are corpora and :func:`concatenate` is A's rows followed by B's. Cells too small to be kept come
up when they grow; members, homes, links with their weights, labels with their full names and parents, objects, the
count of items and of what was left out are those of the whole. Sums of given weights are in double precision and
rounded once, as building does.

Topics are the one thing that a cube does not learn anew: new items get theirs from a model that is kept (or they are
given), and the equality is with the whole under :func:`concatenate_topics`; words and model stay. Bins by quantiles
would move old items to other cells: they are refused.

The cost follows the addition: new items alone are joined and counted. What is there is read once, to be merged with
what is new where a file has to be written again, and the files of what does not change are kept.

Every part that grows (dimensions, cells, links, items, objects) takes what is there and what comes. Where nothing is
there, what comes is all there is: it is packed as it comes, into files where a folder is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, Links, Ragged
from cube2net._util.progress import Progress, silent
from cube2net.cube.building.cells import grow_cells, grow_items, pack_cells
from cube2net.cube.building.concatenation import (
    check_links,
    check_types,
    drop_items,
    join_attribution,
    join_counts,
    place,
)
from cube2net.cube.building.dimensions import empty_dimensions, label_items
from cube2net.cube.building.labels import TOPIC
from cube2net.cube.building.links import count_left_out, grow_details, grow_links, make_empty_details
from cube2net.cube.plan import WANTED, WANTED_LINKS, statements
from cube2net.cube.storage.ledger import Ledger, hash_column, require_ledger
from cube2net.cube.storage.writer import allocate_in_files, allocate_in_memory
from cube2net.errors import Message, ParameterError, Setting, SourceError, some, unknown
from cube2net.model.corpus import CITED_ELSEWHERE, OBJECTS, UNKNOWN_OBJECTS, Corpus, Topics, table
from cube2net.model.cube import Cells, Cube, LinkDetails
from cube2net.model.dimension import MAX_MENTIONS, MIN_OBJECTS, SMALL, DimensionSpec, join_specs
from cube2net.model.interfaces import Engine
from cube2net.model.items import ItemAttributes, ItemIndex
from cube2net.model.objects import Objects

GivenLinks = tuple[Links, Callable[[], LinkDetails] | None]
KEPT = ("all", "index", "none")
KNOWN = "items that were in the cube already"


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

    With ``items="index"`` it keeps what each of its items mentions and is in, with ``"all"`` (or True) the items'
    attributes and topics too, and with ``"none"`` (or False) nothing of them.

    With a ``folder`` that is there for this build only, the engine works in it and may go on where an earlier run was
    cut off, and the arrays of the cube are files in it, which :func:`save` then takes over.
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
    nothing = empty_cube(specs, settings, topics, corpus, items=parse_kept_items(items))
    return grow(nothing, corpus, engine, topics=topics, folder=folder, progress=progress)


def update(
    cube: Cube, corpus: Corpus, engine: Engine, *, topics: Topics | None = None, progress: Progress = silent
) -> Cube:
    """Return a cube with the items and links of a corpus added; ``topics`` are those of the new items.

    An item that is in the cube already is refused; see :func:`leave_out_known`.
    """
    ledger = require_ledger(cube)
    refuse_known(corpus, ledger.knows(hash_column(corpus.items["item"])))
    check_fits(cube, corpus)
    if corpus.items.num_rows == 0:  # links or objects alone carry no attributes of items
        for name in (name for name in ledger.kinds if name not in corpus.attributes):
            corpus = replace(corpus, items=corpus.items.append_column(name, pa.nulls(0)))
    return grow(cube, corpus, engine, topics=topics, progress=progress)


def refuse_known(corpus: Corpus, known: Array) -> None:
    """Raise where some items of a corpus are marked as those that a cube has."""
    if known.any():
        ids = corpus.items["item"].filter(pa.array(known)).to_pylist()
        plural = "1 of the new items is" if len(ids) == 1 else f"{len(ids):,} of the new items are"
        raise SourceError(
            f"{plural} in the cube already: {some(ids)}",
            hint=Message(Setting("skip_known", True), " leaves them out, ", Setting("replace", True), " replaces them"),
        )


def check_fits(cube: Cube, corpus: Corpus) -> None:
    """Raise where a corpus is of another kind than what is in a cube, or mentions objects that it does not list."""
    check_links(require_ledger(cube).derived, corpus.links is None)
    check_types(cube.objects.whole, bool(cube.settings.get("directed")), corpus)
    lost = corpus.dropped.get(UNKNOWN_OBJECTS, 0)
    if lost:
        raise SourceError(
            f"{lost:,} mentions of the new items name objects that the new tables do not list: list every object that "
            "they mention, also those that the cube has"
        )
    cited = corpus.dropped.get(CITED_ELSEWHERE, 0)
    if cited:
        raise SourceError(
            f"{cited:,} citations of the new works lead to works that their files do not have, maybe to those of the "
            "cube, and which old ones cite new ones is not known: build the cube of all files again"
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

    ``links`` are given ones among the first objects of the corpus, where an empty cube has such without having objects.
    The engine works in the ``folder``, where there is one; the arrays of a cube that was empty become files in it.
    """
    ledger = require_ledger(cube)
    progress("cube: labels" if ledger.is_empty else "update: labels", 0, None)
    placed = place(corpus, cube.objects)
    specs = [DimensionSpec.parse(text) for text in cube.settings["dimensions"]]
    labelled = label_items(corpus, specs, topics, dimensions=cube.dimensions, ledger=ledger)
    sizes = [len(dimension.labels) for dimension in labelled.dimensions]
    least, most = cube.settings["min_objects"], cube.settings["max_mentions"]
    plan = statements(sizes, min_objects=least, max_mentions=most, links=ledger.derived)
    inputs = {"mentions": placed.mentions, "labels": labelled.table}
    wanted = WANTED + (WANTED_LINKS if ledger.derived else ())
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    made = engine.run(inputs, plan, wanted, folder=folder, progress=progress)

    progress(*("cube: packing", len(plan), len(plan)) if ledger.is_empty else ("update: merging", 0, None))
    allocate = allocate_in_files(folder) if folder is not None and ledger.is_empty else allocate_in_memory
    count = len(placed.objects)
    brought = pack_cells(made, sizes, least, allocate)
    cells = grow_cells(cube, labelled.places, sizes, brought, least=least, objects=count, allocate=allocate)
    more = made["links"] if placed.links is None else placed.links
    selfish, crowded = count_left_out(more, made)
    before, details = (cube.links, cube.details) if links is None else links
    linked, rests = grow_links(before, ledger.rests, more, count, selfish, allocate)
    if details is not None and placed.links is not None:
        grown = grow_details(details(), placed.links, count, cube.settings["items"])
        details = lambda: grown  # noqa: E731
    kept = (cells.cells, cells.small)
    by_topics = any(spec.attribute == TOPIC for spec in specs)
    items = grow_items(cube, kept, labelled, corpus, topics if by_topics else None, placed.mentions, allocate)
    after = replace(
        labelled.ledger,
        items=_merge_sorted(ledger.items, np.sort(hash_column(corpus.items["item"]))),
        rests=rests,
        dropped=join_counts(ledger.dropped, corpus.dropped),
        selfish=ledger.selfish + selfish,
        crowded=ledger.crowded + crowded,
    )
    return Cube(
        dimensions=labelled.dimensions,
        cells=cells.cells,
        object_cells=cells.object_cells,
        small=cells.small,
        links=linked,
        objects=placed.objects,
        settings=_update_settings(cube, corpus, after, labelled.strays, len(cells.small)),
        topic_words=cube.topic_words,
        topic_model=cube.topic_model,
        ledger=lambda: after,
        items=items,
        details=details,
    )


def leave_out_known(cube: Cube, corpus: Corpus) -> Corpus:
    """Return a corpus without the items that a cube has already, which are counted."""
    known = require_ledger(cube).knows(hash_column(corpus.items["item"]))
    if not known.any():
        return corpus
    rest = drop_items(corpus, known)
    return replace(rest, dropped=join_counts(corpus.dropped, {KNOWN: int(known.sum())}))


def empty_cube(
    specs: Sequence[DimensionSpec], settings: dict[str, Any], topics: Topics | None, corpus: Corpus, *, items: str
) -> Cube:
    """Return a cube of no items, to which a corpus can be added; the words and the model of topics are to be kept."""
    derived, details = corpus.links is None, make_empty_details(corpus)
    nothing = Cells(np.empty((0, len(specs)), np.int32), _make_empty_rows())
    index = ItemIndex(_make_empty_rows(), _make_empty_rows(), derived, lambda: pa.chunked_array([], pa.string()))
    if items == "all":
        index = replace(index, load_attributes=lambda: ItemAttributes(()))
    ledger = Ledger.empty(derived=derived)
    return Cube(
        dimensions=empty_dimensions(specs),
        cells=nothing,
        object_cells=_make_empty_rows(),
        small=nothing,
        links=Links(_make_empty_rows().indptr, _make_empty_rows().indices, np.empty(0, np.float32)),
        objects=Objects.of(table(OBJECTS), whole=corpus.whole_ids),
        settings=settings,
        topic_words=_name_topic_words(topics),
        topic_model=None if topics is None or topics.model is None else lambda: topics.model,
        ledger=lambda: ledger,
        items=None if items == "none" else lambda: index,
        details=None if details is None else lambda: details,
    )


def parse_kept_items(items: bool | str) -> str:
    """Return what a cube keeps of its items: ``all``, ``index`` or ``none``; True is all and False none.

    >>> parse_kept_items(True), parse_kept_items("index"), parse_kept_items(False)
    ('all', 'index', 'none')
    """
    if isinstance(items, bool):
        return "all" if items else "none"
    if items not in KEPT:
        raise unknown("kind of items", items, KEPT)
    return items


def _make_empty_rows() -> Ragged:
    return Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))


def _name_topic_words(topics: Topics | None) -> pa.Table | None:
    if topics is None:
        return None
    names: Array = np.array(topics.names, dtype=np.str_)
    labels = pa.array(names[topics.words["topic"].to_numpy()].tolist(), pa.string())
    return topics.words.set_column(0, "topic", labels)


def _merge_sorted(old: Array, new: Array) -> Array:
    if len(old) == 0:
        return new
    return np.insert(old, np.searchsorted(old, new), new) if len(new) else old


def _update_settings(
    cube: Cube, corpus: Corpus, ledger: Ledger, strays: Mapping[tuple[str, str], int], small: int
) -> dict[str, Any]:
    """Return the settings of a cube with what a corpus adds to them."""
    settings = dict(cube.settings)
    settings["items"] += corpus.items.num_rows
    settings["attribution"] = (
        corpus.attribution
        if require_ledger(cube).is_empty
        else join_attribution(settings["attribution"], corpus.attribution)
    )
    settings["dropped"] = _count_dropped(
        ledger, strays, small, min_objects=settings["min_objects"], max_mentions=settings["max_mentions"]
    )
    return settings


def _count_dropped(
    ledger: Ledger, strays: Mapping[tuple[str, str], int], small: int, *, min_objects: int, max_mentions: int
) -> dict[str, int]:
    """Return how much was left out, by reason: by the source first, and then on the way to the cube."""
    dropped = dict(ledger.dropped)
    dropped |= {f"items with no {name}, in no cell": count for name, count in ledger.unlabelled.items()}
    dropped |= {
        f"items whose {parent} is not that of most items of their {name}": count
        for (name, parent), count in strays.items()
    }
    rest = {
        "links from an object to itself": ledger.selfish,
        f"items with more than {max_mentions} objects, which make no links": ledger.crowded,
        SMALL.format(min_objects): small,
    }
    return dropped | {reason: count for reason, count in rest.items() if count}
