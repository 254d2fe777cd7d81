"""Replace items of a cube by new ones with the same ids, and remove items.

``change_items(build(A), B)`` equals ``build(concatenate(leave_out(A), B))``, byte by byte of the saved cube. B is
without the items that A has unchanged, with the same attributes, mentions, texts and links stated, and without the
given links that A has unchanged. ``leave_out`` drops from A the items that B replaces or that are removed, the links
that they state, the objects that only they mentioned and that B does not name, with the links of these, and the given
links that B replaces. Items that stay keep their order and topics; those of B follow.

What A's source had left out stays counted, self-links included, because the items they came from are not known.

The source of A is not read again: the corpus of what stays is made from the cube's index, and the cube is built from
that. This costs a build without reading and without finding topics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Links, Ragged, compute_offsets, make_offsets, row_of_entries, take_rows
from cube2net._util.progress import Progress, silent
from cube2net.cube.building.build import GivenLinks, check_fits, empty_cube, grow, refuse_known, update
from cube2net.cube.building.cells import hash_item_texts, pack_rows
from cube2net.cube.building.concatenation import concatenate, concatenate_topics, drop_items, place_corpus
from cube2net.cube.building.links import (
    LinkChanges,
    compare_links,
    convert_to_links,
    drop_given_links,
    empty_details,
    encode_values,
    find_width,
    grow_details,
    regrow_links,
)
from cube2net.cube.storage.ledger import RESTS, Ledger, hash_column, require_ledger
from cube2net.cube.storage.writer import allocate_in_memory
from cube2net.errors import CubeError, ParameterError, Setting, SourceError, quote_few
from cube2net.model.corpus import ASSIGNED, LINKS, MENTIONS, WORDS, Corpus, Topics, table
from cube2net.model.cube import ITEM, Cube, LinkDetails
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import Engine
from cube2net.model.items import ItemAttributes, ItemIndex


@dataclass(frozen=True, eq=False)
class Changes:
    """What an update changes in a cube: the new items and links without the unchanged ones, and what is dropped.

    ``gone`` marks the items that are dropped, and ``links_gone`` holds the places of the given links that are.
    ``counts`` says how many items are new, replaced, removed and unchanged, ``link_counts`` the same of given links.
    """

    corpus: Corpus | None
    topics: Topics | None
    gone: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))
    counts: dict[str, int] = field(default_factory=dict)
    links_gone: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    link_counts: dict[str, int] = field(default_factory=dict)

    @property
    def has_drops(self) -> bool:
        """Whether items or links of the cube are dropped."""
        return bool(self.gone.any()) or len(self.links_gone) > 0


def find_changes(
    cube: Cube,
    corpus: Corpus | None,
    *,
    replaces: bool,
    remove: Iterable[str] = (),
    topics: Topics | None = None,
) -> Changes:
    """Return what a corpus changes in a cube, and the removal of items by id.

    With ``replaces``, items and given links with new content replace the old ones, and the items that the corpus lists
    as gone are removed too. Without, items that the cube has are refused, and links add their weights. ``topics`` are
    those of the corpus if they are known already.
    """
    ledger = require_ledger(cube)
    removed_ids = pa.array(dict.fromkeys(map(str, remove)), pa.string())
    ids = pa.array([], pa.string()) if corpus is None else corpus.items["item"]
    contradictory = ids.filter(pc.is_in(ids, value_set=removed_ids)).to_pylist()
    if contradictory:
        raise SourceError(f"{len(contradictory):,} of the items to be removed come again: {quote_few(contradictory)}")
    if corpus is not None and replaces:
        removed_ids = pc.unique(pa.chunked_array([removed_ids, corpus.gone], pa.string()))
    is_known = ledger.knows(hash_column(ids)) if len(ids) else np.zeros(0, dtype=bool)
    if corpus is not None and not replaces:
        refuse_known(corpus, is_known)
    link_changes = LinkChanges()
    if corpus is not None and replaces and corpus.links is not None:
        check_fits(cube, corpus)
        link_changes = compare_links(cube, corpus)
        if link_changes.same.any():
            corpus = replace(corpus, links=corpus.links.filter(pa.array(~link_changes.same)))
    counts = {"new": int((~is_known).sum()), "replaced": 0, "removed": 0, "unchanged": 0}
    make_changes = partial(Changes, counts=counts, links_gone=link_changes.gone, link_counts=link_changes.counts)
    if not is_known.any() and not ledger.knows(hash_column(pa.chunked_array([removed_ids], pa.string()))).any():
        return make_changes(corpus, topics)
    index = _require_index(cube)
    gone = np.array(pc.is_in(index.ids, value_set=removed_ids), dtype=bool)
    counts["removed"] = int(gone.sum())
    if corpus is None or not is_known.any():
        return make_changes(corpus, topics, gone)
    cube_numbers = pc.fill_null(pc.index_in(ids, value_set=index.ids), -1).to_numpy()
    is_unchanged = _mark_unchanged(cube, index, corpus, cube_numbers, topics)
    replaced = cube_numbers[(cube_numbers >= 0) & ~is_unchanged]
    gone[replaced] = True
    counts |= {"new": int((cube_numbers < 0).sum()), "replaced": len(replaced), "unchanged": int(is_unchanged.sum())}
    if is_unchanged.any():
        topics = None if topics is None else _drop_topics(topics, is_unchanged)
        corpus = drop_items(corpus, is_unchanged)
    return make_changes(corpus, topics, gone)


def change_items(
    cube: Cube, changes: Changes, engine: Engine, *, topics: Topics | None = None, progress: Progress = silent
) -> Cube:
    """Return the changed cube; ``topics`` are those of the new items."""
    cube, corpus = drop_given_links(cube, changes.links_gone), changes.corpus
    if corpus is not None and not changes.gone.any():
        return update(cube, corpus, engine, topics=topics, progress=progress)
    ledger, index = require_ledger(cube), _require_index(cube)
    stays = ~changes.gone
    if corpus is not None:
        check_fits(cube, corpus)
        if index.topics is not None and topics is None:
            raise ParameterError("the new items need topics, as the cube has: find them by the topic model of the cube")
    kept_objects = _mark_objects_that_stay(cube, index, stays, corpus)
    full_corpus = remaining = _make_corpus(cube, index, ledger, stays, kept_objects)
    if corpus is not None:
        full_corpus = concatenate(remaining, replace(corpus, terms=None))
    all_topics = _make_topics(index, ledger, stays)
    if all_topics is not None and topics is not None:
        all_topics = concatenate_topics(all_topics, topics, remaining.items.num_rows)
    links, rests = _keep_links(cube, ledger, stays, kept_objects)
    settings = dict(cube.settings) | {"items": 0, "dropped": {}, "attribution": ""}
    specs = [DimensionSpec.parse(text) for text in settings["dimensions"]]
    start_ledger = replace(Ledger.empty(derived=ledger.derived), rests=rests, selfish=ledger.selfish)
    empty = replace(
        empty_cube(specs, settings, None, remaining, items="all"),
        topic_words=cube.topic_words,
        topic_model=cube.topic_model,
        ledger=lambda: start_ledger,
    )
    grown = grow(empty, full_corpus, engine, topics=all_topics, links=links, progress=progress)
    if index.texts is None or grown.items is None:
        return grown
    new_hashes = np.empty(0, np.uint64) if corpus is None else hash_item_texts(corpus)
    with_texts = replace(grown.items(), texts=np.concatenate([index.texts[stays], new_hashes]))
    return replace(grown, items=lambda: with_texts)


def _require_index(cube: Cube) -> ItemIndex:
    if cube.items is None:
        raise CubeError(
            "the cube does not keep its items: build it again to replace or remove some", hint=Setting("items", "all")
        )
    index = cube.items()
    if index.load_attributes is None:
        raise CubeError(
            "the cube does not keep the attributes of its items: build it again to replace or remove some",
            hint=Setting("items", "all"),
        )
    return index


def _mark_unchanged(cube: Cube, index: ItemIndex, corpus: Corpus, cube_numbers: Array, topics: Topics | None) -> Array:
    """Return which items of a corpus a cube has unchanged; ``cube_numbers`` are their numbers there, or -1."""
    rows = np.flatnonzero(cube_numbers >= 0)
    old_attributes = ItemAttributes((index.kept_attributes.rows(cube_numbers[rows]),))
    all_attributes = old_attributes.plus(corpus.items.take(pa.array(rows)))
    same = np.ones(len(rows), dtype=bool)
    for name in all_attributes.names:
        column = all_attributes.column(name)
        same &= _compare_values(column.slice(0, len(rows)), column.slice(len(rows)))
    placed = place_corpus(corpus, cube.objects)
    mentions = pack_rows("mentions", placed.mentions, "object", corpus.items.num_rows, 1, allocate_in_memory)
    same &= _compare_rows(take_rows(index.objects, cube_numbers[rows]), take_rows(mentions, rows))
    if index.texts is not None:
        same &= index.texts[cube_numbers[rows]] == hash_item_texts(corpus)[rows]
    if index.topics is not None and topics is not None:
        same &= _compare_rows(
            take_rows(index.topics, cube_numbers[rows]), take_rows(_pack_topics(cube, corpus, topics), rows)
        )
    if cube.details is not None and ITEM in cube.details().columns and placed.links is not None:
        same &= _compare_links(cube.details(), placed.links, cube_numbers, rows)
    is_unchanged = np.zeros(corpus.items.num_rows, dtype=bool)
    is_unchanged[rows[same]] = True
    return is_unchanged


def _compare_values(first: pa.ChunkedArray, second: pa.ChunkedArray) -> Array:
    """Return where two columns have equal values, or both are null."""
    if pa.types.is_list(first.type):
        first_lists, second_lists = first.combine_chunks(), second.combine_chunks()
        first_null, second_null = np.asarray(first_lists.is_null()), np.asarray(second_lists.is_null())
        lists = [Ragged(*_index_lists(part)) for part in (first_lists, second_lists)]
        is_equal = lists[0].sizes == lists[1].sizes
        rows = np.flatnonzero(is_equal)
        entries = [take_rows(part, rows) for part in lists]
        values = [
            part.flatten().take(pa.array(row.indices))
            for part, row in zip((first_lists, second_lists), entries, strict=True)
        ]
        same_entries = _all_marked(entries[0], _compare_values(*(pa.chunked_array([part]) for part in values)))
        is_equal[rows] = same_entries
        return np.asarray((first_null & second_null) | (is_equal & ~first_null & ~second_null))
    try:
        codes = encode_values(pa.chunked_array([*first.chunks, *second.chunks], first.type))
    except pa.ArrowNotImplementedError:
        return np.array([a == b for a, b in zip(first.to_pylist(), second.to_pylist(), strict=True)], dtype=bool)
    return np.asarray(codes[: len(first)] == codes[len(first) :])


def _index_lists(lists: pa.Array) -> tuple[Array, Array]:
    """Return the offsets and places of the entries of every list among the flattened ones."""
    indptr = make_offsets(pc.fill_null(pc.list_value_length(lists), 0).to_numpy())
    return indptr, np.arange(indptr[-1], dtype=np.int32)


def _compare_rows(first: Ragged, second: Ragged) -> Array:
    """Return which rows of two tables have the same entries."""
    is_equal = first.sizes == second.sizes
    rows = np.flatnonzero(is_equal)
    first_entries, second_entries = take_rows(first, rows), take_rows(second, rows)
    is_equal[rows] = _all_marked(first_entries, first_entries.indices == second_entries.indices)
    return np.asarray(is_equal)


def _all_marked(rows: Ragged, marks: Array) -> Array:
    """Return whether all entries of every row are marked."""
    return np.asarray(np.bincount(row_of_entries(rows)[~marks], minlength=len(rows)) == 0)


def _pack_topics(cube: Cube, corpus: Corpus, topics: Topics) -> Ragged:
    """Return the topics of a corpus's items by their numbers in a cube; -1 is a new topic."""
    cube_topics = {name: topic_numbers for topic_numbers, name in enumerate(require_ledger(cube).topics or ())}
    topic_numbers = np.array([cube_topics.get(name, -1) for name in topics.names], dtype=np.int32)
    rows = pa.table({"item": topics.assigned["item"], "topic": topic_numbers[topics.assigned["topic"].to_numpy()]})
    return pack_rows("topics", rows, "topic", corpus.items.num_rows, 1, allocate_in_memory)


def _compare_links(details: LinkDetails, links: pa.Table, cube_numbers: Array, rows: Array) -> Array:
    """Return which items state the same links as before; ``cube_numbers`` are their numbers there, or -1."""
    count = max(find_width(links), len(details.indptr) - 1)
    new_details = grow_details(empty_details(details.rows.schema), links, count, 0)
    old_links: dict[int, list[tuple[object, ...]]] = {}
    new_links: dict[int, list[tuple[object, ...]]] = {}
    for link_details, links_by_item in ((details, old_links), (new_details, new_links)):
        columns = [link_details.rows[name].to_pylist() for name in link_details.rows.column_names if name != ITEM]
        for item, *link in zip(link_details.rows[ITEM].to_pylist(), link_details.lower.tolist(), *columns, strict=True):
            links_by_item.setdefault(item, []).append(tuple(link))
    return np.array(
        [old_links.get(int(cube_numbers[row]), []) == new_links.get(int(row), []) for row in rows], dtype=bool
    )


def _drop_topics(topics: Topics, gone: Array) -> Topics:
    rows = topics.assigned.filter(pa.array(~gone[topics.assigned["item"].to_numpy()]))
    new_numbers = np.cumsum(~gone) - 1
    items = pa.array(new_numbers[rows["item"].to_numpy()], pa.int32())
    return replace(topics, assigned=rows.set_column(0, "item", items))


def _mark_objects_that_stay(cube: Cube, index: ItemIndex, stays: Array, corpus: Corpus | None) -> Array:
    """Return which objects stay: those that remaining items mention, that no item did, or that the new data names."""
    was_mentioned, is_mentioned = np.zeros(len(cube.objects), dtype=bool), np.zeros(len(cube.objects), dtype=bool)
    was_mentioned[index.objects.indices] = True
    is_mentioned[take_rows(index.objects, np.flatnonzero(stays)).indices] = True
    is_kept = is_mentioned | ~was_mentioned
    if corpus is not None:
        is_kept |= np.asarray(pc.is_in(cube.objects.table["object"], value_set=corpus.objects["object"]))
    return is_kept


def _make_corpus(cube: Cube, index: ItemIndex, ledger: Ledger, stays: Array, kept_objects: Array) -> Corpus:
    """Return the corpus of the remaining items and objects of a cube, without texts and given links."""
    objects = cube.objects.table.filter(pa.array(kept_objects))
    attributes = cube.objects.attributes
    for name in attributes.column_names:
        objects = objects.append_column(name, attributes[name].filter(pa.array(kept_objects)))
    rows = take_rows(index.objects, np.flatnonzero(stays))
    new_numbers = (np.cumsum(kept_objects) - 1).astype(np.int32)
    items = pa.table({"item": index.ids.filter(pa.array(stays))})
    for name, column in index.kept_attributes.only(stays).items():
        items = items.append_column(name, column)
    links = None
    if not ledger.derived:
        details = None if cube.details is None else cube.details()
        links = table(LINKS) if details is None else convert_to_links(details, np.zeros(len(details), dtype=bool))
    time = cube.settings.get("time", "")
    return Corpus(
        objects=objects,
        items=items,
        mentions=table(
            MENTIONS,
            item=pa.array(row_of_entries(rows).astype(np.int32)),
            object=pa.array(new_numbers[rows.indices], pa.int32()),
        ),
        links=links,
        labels=ledger.labels,
        dropped=ledger.dropped,
        attribution=cube.settings["attribution"],
        time=time,
        directed=bool(cube.settings.get("directed")),
        whole_ids=cube.objects.whole,
    )


def _make_topics(index: ItemIndex, ledger: Ledger, stays: Array) -> Topics | None:
    if index.topics is None or ledger.topics is None:
        return None
    rows = take_rows(index.topics, np.flatnonzero(stays))
    assigned = table(
        ASSIGNED,
        item=pa.array(row_of_entries(rows).astype(np.int32)),
        topic=pa.array(rows.indices, pa.int32()),
        weight=pa.array(np.ones(len(rows.indices), np.float32)),
    )
    return Topics(ledger.topics, assigned, table(WORDS), ledger.topic_parents)


def _keep_links(cube: Cube, ledger: Ledger, stays: Array, kept_objects: Array) -> tuple[GivenLinks | None, pa.Table]:
    """Return the given links among the remaining objects, with their details, and the rests of their sums."""
    if ledger.derived:
        return None, table(RESTS)
    new_numbers, count = (np.cumsum(kept_objects) - 1).astype(np.int32), int(kept_objects.sum())
    if cube.details is None:
        links, rests = cube.links, ledger.rests
        source = row_of_entries(links.rows)
        is_kept = kept_objects[source] & kept_objects[links.indices]
        indptr = compute_offsets(new_numbers[source[is_kept]], count)
        ends = {end: rests[end].to_numpy() for end in ("source", "target")}
        has_both_ends = kept_objects[ends["source"]] & kept_objects[ends["target"]]
        kept_rests = table(
            RESTS,
            **{end: pa.array(new_numbers[rows_of_end[has_both_ends]], pa.int32()) for end, rows_of_end in ends.items()},
            rest=rests["rest"].filter(pa.array(has_both_ends)),
        )
        return (Links(indptr, new_numbers[links.indices[is_kept]], links.weights[is_kept]), None), kept_rests
    details = cube.details()
    is_kept = kept_objects[details.lower] & kept_objects[details.higher]
    if ITEM in details.columns:
        is_kept &= stays[pc.fill_null(details.rows[ITEM], 0).to_numpy()] | np.asarray(pc.is_null(details.rows[ITEM]))
    rows = convert_to_links(details, is_kept)
    for end in ("source", "target"):
        rows = rows.set_column(
            rows.column_names.index(end), end, pa.array(new_numbers[rows[end].to_numpy()], pa.int32())
        )
    if ITEM in details.columns:
        new_items = pc.take(pa.array(np.cumsum(stays) - 1, pa.int32()), rows[ITEM])
        rows = rows.set_column(rows.column_names.index(ITEM), ITEM, new_items)
    new_links, kept_rests, new_details = regrow_links(details, rows, count)
    return (new_links, lambda: new_details), kept_rests
