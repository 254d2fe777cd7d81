"""Concatenate two corpora, and place a corpus among the objects of a cube."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import Message, Setting, SourceError, quote_few
from cube2net.model.corpus import (
    ASSIGNED,
    LABELS,
    LINK_DETAILS,
    LINKS,
    MENTIONS,
    OBJECTS,
    TERMS,
    Corpus,
    Topics,
    check_count,
    decode,
    table,
)
from cube2net.model.cube import Cube
from cube2net.model.objects import Objects


@dataclass(frozen=True, eq=False)
class PlacedCorpus:
    """The objects of a cube and a corpus, and the corpus's mentions and links by the numbers of these objects."""

    objects: Objects
    mentions: pa.Table
    links: pa.Table | None


def place_corpus(corpus: Corpus, objects: Objects) -> PlacedCorpus:
    """Return a corpus placed among the objects of a cube, which keep their numbers; new objects follow them."""
    if len(objects) == 0:
        attributes = pa.table({name: decode(corpus.objects[name]) for name in corpus.object_attributes})
        placed = Objects.of(corpus.objects.select(list(OBJECTS)), whole=objects.whole, attributes=attributes)
        return PlacedCorpus(placed, corpus.mentions, corpus.links)
    rows = place_objects(objects.table["object"], corpus.objects["object"])
    has_new, load_attributes = int(rows.max(initial=-1)) >= len(objects), objects.load_attributes
    if corpus.object_attributes or (has_new and load_attributes is not None):
        new_attributes = corpus.objects.select(corpus.object_attributes)
        attributes = join_attributes(objects.attributes, len(objects), new_attributes, rows)
        load_attributes = lambda: attributes  # noqa: E731
    if has_new:
        joined = _join_objects(objects.table, corpus.objects, rows)
        objects = Objects(joined.num_rows, lambda: joined, whole=objects.whole, load_attributes=load_attributes)
    elif load_attributes is not objects.load_attributes:
        objects = replace(objects, load_attributes=load_attributes)
    links = None if corpus.links is None else _place_links(corpus.links, rows)
    return PlacedCorpus(objects, _place_mentions(corpus.mentions, rows), links)


def has_all_objects(cube: Cube, corpus: Corpus) -> bool:
    """Return whether a cube has all objects of a corpus, with their attributes."""
    objects = place_corpus(corpus, cube.objects).objects
    return len(objects) == len(cube.objects) and objects.attributes.equals(cube.objects.attributes)


def concatenate(first: Corpus, second: Corpus) -> Corpus:
    """Return a corpus with the rows of the first, followed by those of the second.

    An object in both is one object, named as in the first, with the second's attributes where it has values. Ids must
    be of one type, links of both directed or undirected, and items distinct. Items and links have the columns of
    the first: values that the second lacks are null, and columns that only the second has are left out. Full
    names and parents of labels are the second's where it has them. Counts of what was left out are added.
    """
    rows = place_objects(first.objects["object"], second.objects["object"])
    is_shared = pc.is_in(second.items["item"], value_set=first.items["item"])
    if pc.any(is_shared).as_py():
        raise SourceError(
            f"both corpora have the items {quote_few(second.items['item'].filter(is_shared).to_pylist())}"
        )
    check_links(first.links is None, second.links is None)
    check_types(first.whole_ids, first.directed, second)
    if (first.terms is None) != (second.terms is None):
        raise SourceError("one corpus has terms and the other has not: give both, or none")
    item_shift = first.items.num_rows
    links, terms = None, None
    if first.links is not None and second.links is not None:
        links = _join_links(first.links, _place_links(second.links, rows), item_shift)
    if first.terms is not None and second.terms is not None:
        columns = {name: second.terms[name] for name in ("term", "count")}
        more = table(TERMS, item=_shift(second.terms["item"], item_shift), **columns)
        terms = pa.concat_tables([first.terms.select(list(TERMS)), more])
    objects = _join_objects(first.objects, second.objects, rows)
    more = [corpus.objects.select(corpus.object_attributes) for corpus in (first, second)]
    attributes = join_attributes(more[0], first.objects.num_rows, more[1], rows)
    for name in attributes.column_names:
        objects = objects.append_column(name, attributes[name])
    return Corpus(
        objects=objects,
        items=_join_items(first.items, second.items),
        mentions=pa.concat_tables(
            [first.mentions.select(list(MENTIONS)), _place_mentions(second.mentions, rows, item_shift)]
        ),
        links=links,
        terms=terms,
        labels=join_labels(first.labels, second.labels),
        dimensions=first.dimensions,
        dropped=join_counts(first.dropped, second.dropped),
        attribution=join_attribution(first.attribution, second.attribution),
        time=first.time,
        directed=first.directed,
        whole_ids=first.whole_ids,
        source=first.source,
    )


def drop_items(corpus: Corpus, gone: Array) -> Corpus:
    """Return a corpus without the marked items, their mentions and terms, and the links that they state."""
    new_numbers = np.cumsum(~gone) - 1

    def keep_rows(rows: pa.Table) -> pa.Table:
        remaining = rows.filter(pa.array(~gone[rows["item"].to_numpy()]))
        items = pa.array(new_numbers[remaining["item"].to_numpy()], pa.int32())
        return remaining.set_column(remaining.column_names.index("item"), "item", items)

    links_name_items = corpus.links is not None and "item" in corpus.links.column_names
    return replace(
        corpus,
        items=corpus.items.filter(pa.array(~gone)),
        mentions=keep_rows(corpus.mentions),
        links=keep_rows(corpus.links) if links_name_items else corpus.links,
        terms=None if corpus.terms is None else keep_rows(corpus.terms),
    )


def concatenate_topics(first: Topics, second: Topics, items: int) -> Topics:
    """Return the topics of two corpora, the first of ``items`` items; topics are matched by name.

    Topics that only the second has follow those of the first; words, settings and the model are the first's.
    """
    names, parents = join_topics((first.names, first.parents), second)
    topic_numbers = {name: number for number, name in enumerate(names)}
    numbers = np.array([topic_numbers[name] for name in second.names], dtype=np.int32)
    second_assigned = table(
        ASSIGNED,
        item=_shift(second.assigned["item"], items),
        topic=pa.array(numbers[second.assigned["topic"].to_numpy()], pa.int32()),
        weight=second.assigned["weight"],
    )
    return Topics(
        names, pa.concat_tables([first.assigned, second_assigned]), first.words, parents, first.settings, first.model
    )


def place_objects(old_ids: pa.ChunkedArray, ids: pa.ChunkedArray) -> Array:
    """Return the row of every id: that of the known object, or the next free one."""
    positions = pc.index_in(old_ids, value_set=ids)
    known_rows = np.flatnonzero(np.asarray(pc.is_valid(positions)))
    rows = np.full(len(ids), -1, dtype=np.int32)
    rows[pc.drop_null(positions).to_numpy()] = known_rows
    is_new = rows < 0
    check_count("objects", len(old_ids) + int(is_new.sum()))
    rows[is_new] = len(old_ids) + np.arange(int(is_new.sum()), dtype=np.int32)
    return rows


def _join_objects(old_objects: pa.Table, objects: pa.Table, rows: Array) -> pa.Table:
    """Return the known objects followed by the new ones, given the row of every object."""
    new_objects = objects.filter(pa.array(rows >= old_objects.num_rows))
    return pa.concat_tables([old_objects.select(list(OBJECTS)), new_objects.select(list(OBJECTS))])


def _place_mentions(mentions: pa.Table, rows: Array, shift: int = 0) -> pa.Table:
    """Return mentions with objects replaced by their rows, and items numbered from ``shift`` on."""
    objects = pa.array(rows[mentions["object"].to_numpy()], pa.int32())
    return table(MENTIONS, item=_shift(mentions["item"], shift), object=objects)


def _place_links(links: pa.Table, rows: Array) -> pa.Table:
    ends = {end: pa.array(rows[links[end].to_numpy()], pa.int32()) for end in ("source", "target")}
    placed_links = table(LINKS, **ends, weight=links["weight"])
    for name in LINK_DETAILS:
        placed_links = placed_links.append_column(name, links[name]) if name in links.column_names else placed_links
    return placed_links


def _join_links(first: pa.Table, second: pa.Table, shift: int) -> pa.Table:
    """Return links followed by others, in the columns of the first; items of the second are shifted."""
    links = pa.concat_tables([first.select(list(LINKS)), second.select(list(LINKS))])
    for name in (name for name in LINK_DETAILS if name in first.column_names):
        if name not in second.column_names:
            if name == "item":
                raise SourceError("the first links say which item states each of them, and the new ones do not")
            values = pa.chunked_array([pa.nulls(second.num_rows, first[name].type)])
        else:
            values = pa.chunked_array([_shift(second[name], shift)]) if name == "item" else second[name]
        links = links.append_column(name, join_columns(first[name], values, f"the column {name!r} of links"))
    return links


def check_types(whole_ids: bool, directed: bool, second: Corpus) -> None:
    """Raise if ids or links of a corpus are of another type than the first ones."""
    kinds = {True: "whole numbers", False: "texts"}
    if second.objects.num_rows and whole_ids != second.whole_ids:
        raise SourceError(
            f"the first ids are {kinds[whole_ids]}, and those of the new data are {kinds[second.whole_ids]} "
            f"(such as {second.objects['object'][0].as_py()!r}): give both the same type"
        )
    if second.links is not None and second.links.num_rows and directed != second.directed:
        first_direction = "lead from source to target" if directed else "have no direction"
        second_direction = "have none" if directed else "lead from source to target"
        raise SourceError(
            f"the first links {first_direction}, and those of the new data {second_direction}",
            hint=Message(Setting("directed", True), " gives one"),
        )


def check_links(derived: bool, brings_none: bool) -> None:
    """Raise if the links of one corpus are given and those of the other are derived from co-mentions."""
    if derived and not brings_none:
        raise SourceError("the first links come from items that mention both ends, and the new data gives its own")
    if not derived and brings_none:
        raise SourceError("the first links were given, and the new data gives none: a table of no links would do")


def join_labels(first: pa.Table, second: pa.Table) -> pa.Table:
    """Return the full names and parents of labels in both tables, one row each; the second takes precedence."""
    joined: dict[tuple[str, str], tuple[str | None, str | None]] = {}
    for rows in (first, second):
        described = {
            (attribute, label): (full_name, parent)
            for attribute, label, full_name, parent in zip(*(rows[name].to_pylist() for name in LABELS), strict=True)
        }
        for key, (full_name, parent) in described.items():
            earlier = joined.get(key, (None, None))
            joined[key] = (full_name or earlier[0], parent or earlier[1])
    columns = list(zip(*((*key, *value) for key, value in joined.items()), strict=True)) or [()] * len(LABELS)
    return table(LABELS, **{name: list(column) for name, column in zip(LABELS, columns, strict=True)})


def join_topics(
    first: tuple[tuple[str, ...], tuple[str, ...] | None], second: Topics
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return the names of the first's topics, followed by those that only the second has, and their parents."""
    names, parents = first
    known_names = set(names)
    new_numbers = [number for number, name in enumerate(second.names) if name not in known_names]
    all_names = (*names, *(second.names[number] for number in new_numbers))
    if parents is None:
        return all_names, None
    if new_numbers and second.parents is None:
        raise SourceError(f"the topics have groups, and the new topics {quote_few(all_names[len(names) :])} have none")
    return all_names, (*parents, *((second.parents or ())[number] for number in new_numbers))


def join_counts(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Return the sums of counts by reason."""
    return {reason: first.get(reason, 0) + second.get(reason, 0) for reason in {**first, **second}}


def join_attribution(first: str, second: str) -> str:
    """Return the attributions of both data sets, each once.
    >>> join_attribution("DBLP, CC0; ACL", "ACL")
    'DBLP, CC0; ACL'
    """
    return "; ".join(dict.fromkeys(part for part in chain(first.split("; "), second.split("; ")) if part))


def _shift(numbers: pa.ChunkedArray, shift: int) -> pa.Array:
    return pa.array(numbers.to_numpy() + np.int32(shift), pa.int32())


def _join_items(first: pa.Table, second: pa.Table) -> pa.Table:
    columns = {}
    for name in first.column_names:
        values = second[name] if name in second.column_names else _make_nulls(second.num_rows, first[name].type)
        columns[name] = join_columns(first[name], values, f"the attribute {name!r} of items")
    return pa.table(columns)


def join_columns(first: pa.ChunkedArray, second: pa.ChunkedArray, subject: str) -> pa.ChunkedArray:
    """Return the values of one column followed by those of another; their types may differ in width.

    Booleans beside texts become the texts ``true`` and ``false``.

    >>> join_columns(pa.chunked_array([[1]], pa.int8()), pa.chunked_array([[2.5]]), "a column").to_pylist()
    [1.0, 2.5]
    """
    first, second = decode(first), decode(second)
    if {first.type, second.type} == {pa.bool_(), pa.string()}:
        first, second = first.cast(pa.string()), second.cast(pa.string())
    parts = [pa.table({"column": column}) for column in (first, second)]
    try:
        return pa.concat_tables(parts, promote_options="permissive")["column"]
    except pa.ArrowException:
        raise SourceError(
            f"{subject} holds {first.type} first and {second.type} in the new data: give both the same type"
        ) from None


def join_attributes(old_rows: pa.Table, count: int, new: pa.Table, rows: Array) -> pa.Table:
    """Return the attributes of ``count`` objects and of new ones, which have the given ``rows``.

    For an object in both tables, the new value is taken unless it is null.

    >>> old, new = pa.table({"city": ["Rome", "Oslo"]}), pa.table({"city": [None, "Bern"], "age": [7, 8]})
    >>> join_attributes(old, 2, new, np.array([0, 2])).to_pydict()
    {'city': ['Rome', 'Oslo', 'Bern'], 'age': [7, None, 8]}
    """
    total = max(count, int(rows.max(initial=-1)) + 1)
    joined = {}
    for name in dict.fromkeys([*old_rows.column_names, *new.column_names]):
        first = old_rows[name] if name in old_rows.column_names else _make_nulls(count, new[name].type)
        second = new[name] if name in new.column_names else _make_nulls(len(rows), old_rows[name].type)
        sources = np.full(total, -1, np.int64)
        sources[:count] = np.arange(count)
        has_value = np.asarray(pc.is_valid(second))
        sources[rows[has_value]] = count + np.flatnonzero(has_value)
        column = join_columns(first, second, f"the attribute {name!r} of objects")
        joined[name] = column.take(pa.array(sources, mask=sources < 0))
    return pa.table(joined)


def _make_nulls(count: int, kind: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(count, kind)])
