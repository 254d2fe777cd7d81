"""Build a corpus from tables whose columns have roles: nodes and links, or objects, items, mentions and links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, merge_links
from cube2net.errors import Message, Placeholder, Setting, SourceError, join_names, quote_few
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import (
    ReadingNotes,
    Rows,
    Separators,
    find_id_rows,
    make_unused_name,
    read_attribute,
    read_ids,
    read_unique_ids,
    read_weights,
)
from cube2net.model.corpus import (
    LABELS,
    LINKS,
    MENTIONS,
    MOST,
    OBJECTS,
    TERMS,
    UNKNOWN_OBJECTS,
    Corpus,
    check_count,
    holds_text,
    table,
)
from cube2net.model.objects import Objects, are_whole

Columns = Mapping[str, str]
Part = tuple[Rows, Columns]
"""The rows of a table and its columns by role."""
RESERVED = ("item", "text")
TOPIC = "topic"


def referred_objects(known: Objects | None, listed: pa.ChunkedArray, columns: Sequence[tuple[Rows, str]]) -> pa.Table:
    """Return the known objects that columns of ids name and that are not listed.

    >>> known = Objects.of(table(OBJECTS, object=["a", "b"], name=["Ada", "Bob"], kind=["x", "x"]))
    >>> rows = Rows("links", pa.table({"to": ["b", "c", "a"]}), lambda rows: [])
    >>> referred_objects(known, pa.chunked_array([["a"]]), [(rows, "to")])["name"].to_pylist()
    ['Bob']
    """
    if known is None:
        return table(OBJECTS)
    named = pa.chunked_array([chunk for rows, name in columns for chunk in read_ids(rows, name).chunks], pa.string())
    named = pc.drop_null(pc.unique(named))
    missing = named.filter(pc.invert(pc.is_in(named, value_set=listed)))
    rows = known.table.select(list(OBJECTS))
    return rows.filter(pc.is_in(rows["object"], value_set=missing))


def _append_objects(objects: pa.Table, referred: pa.Table) -> pa.Table:
    """Return objects, and behind them those that are only referred to and have no attributes."""
    return pa.concat_tables([objects, referred], promote_options="default") if referred.num_rows else objects


def _append_ids(listed: pa.ChunkedArray, referred: pa.Table) -> pa.ChunkedArray:
    return pa.chunked_array([*listed.chunks, *referred["object"].chunks], pa.string())


def _has_whole_ids(rows: Rows, column: str, ids: pa.ChunkedArray) -> bool:
    """Return whether ids come from a column of whole numbers, which pandas keeps as fractions where one is missing."""
    kind = rows.table.schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind)) and are_whole(ids)


def _append_attributes(objects: pa.Table, columns: Iterable[tuple[str, pa.ChunkedArray]]) -> pa.Table:
    """Return objects with attributes; one with the name of a standard column becomes ``NAME_attribute``."""
    for name, column in columns:
        called = name
        while called in OBJECTS or called in objects.column_names:
            called += "_attribute"
        objects = objects.append_column(called, column)
    return objects


def _link_details(
    rows: Rows, columns: Mapping[str, str], good: Array, dropped: Dropped
) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return the kinds and times of the links that are good, where their table has such columns."""
    chosen = pa.array(np.flatnonzero(good))
    found: dict[str, pa.Array | pa.ChunkedArray] = {}
    if "kind" in columns:
        kinds = read_ids(rows, columns["kind"])
        if kinds.null_count < len(kinds):
            found["kind"] = kinds.take(chosen)
    if "time" in columns:
        times = _times(read_attribute(rows, columns["time"], dropped))
        if times is None:
            dropped.say(f"{rows.name}: left out {columns['time']!r} (no dates and no whole numbers such as years)")
        else:
            found["time"] = times.take(chosen)
    return found


def _times(column: pa.ChunkedArray | None) -> pa.ChunkedArray | None:
    """Return dates, times or whole numbers, which fractions may stand for; None for anything else."""
    if column is not None and pa.types.is_floating(column.type):
        whole = pc.all(pc.equal(column, pc.floor(column))).as_py()
        column = pc.cast(column, pa.int64(), safe=False) if whole else None
    if column is None or not (pa.types.is_integer(column.type) or pa.types.is_temporal(column.type)):
        return None
    return column


def network_corpus(
    nodes: Part,
    links: Part | None,
    separators: Separators,
    dropped: Dropped,
    *,
    directed: bool = False,
    known: Objects | None = None,
) -> Corpus:
    """Return a corpus in which every node is an object and its own item, and both carry its attributes.

    Links may also lead to objects that are ``known``; those are no items.
    """
    rows, columns = nodes
    check_count("objects", rows.table.num_rows)
    rows, ids = read_unique_ids(rows, columns["id"], "nodes", dropped)
    left_out = (columns["id"], columns.get("name"), columns.get("text"))
    carried = [name for name in rows.table.column_names if name not in left_out]
    items = _items(rows, ids, carried, columns.get("text"), separators, dropped)
    every = np.arange(len(ids), dtype=np.int32)
    mentions = pa.table({"item": every, "object": every}, schema=pa.schema(list(MENTIONS.items())))
    objects = _append_attributes(_objects(rows, ids, columns, "node"), _carried(items, ("item", columns.get("kind"))))
    referred = referred_objects(known, ids, _ends(links))
    return Corpus(
        objects=_append_objects(objects, referred),
        items=items,
        mentions=mentions,
        links=table(LINKS) if links is None else _links(*links, _append_ids(ids, referred), "nodes", dropped, directed),
        dropped=dict(dropped.counts),
        directed=directed,
        whole_ids=_has_whole_ids(rows, columns["id"], ids),
    )


def more_links(links: Part, known: Objects, dropped: Dropped, *, directed: bool = False) -> Corpus:
    """Return a corpus of no items, and of links among objects that are known."""
    objects = referred_objects(known, pa.chunked_array([], pa.string()), _ends(links))
    return Corpus(
        objects=objects,
        items=pa.table({"item": pa.array([], pa.string())}),
        mentions=table(MENTIONS),
        links=_links(*links, objects["object"], "nodes", dropped, directed),
        dropped=dict(dropped.counts),
        directed=directed,
        whole_ids=known.whole,
    )


def _ends(links: Part | None) -> list[tuple[Rows, str]]:
    return [] if links is None else [(links[0], links[1][role]) for role in ("source", "target")]


def links_corpus(links: Part, separators: Separators, dropped: Dropped, *, directed: bool = False) -> Corpus:
    """Return the corpus of a table of links alone, whose ends are the objects.

    Where links have columns besides their ends and weight, such as a year, every link is an item of both of its ends,
    so that these columns are attributes.
    """
    rows, columns = links
    source, target = (read_ids(rows, columns[role]) for role in ("source", "target"))
    ids = pc.unique(pc.drop_null(pa.chunked_array([*source.chunks, *target.chunks], pa.string())))
    if len(ids) == 0:
        raise SourceError(f"{rows.name} has no links, expected the ids of two nodes in a row")
    nodes = Rows(rows.name, pa.table({"id": ids}), lambda some: [f"{rows.name} node {row + 1:,}" for row in some])
    used = [columns[role] for role in ("source", "target", "weight") if role in columns]
    names = [name for name in rows.table.column_names if name not in used]
    if all(read_attribute(rows, name, Dropped()) is None for name in names):
        dropped.say(
            f"{rows.name}: no column describes the links, so there are no dimensions: give a table of nodes, too"
        )
        return network_corpus((nodes, {"id": "id"}), links, {}, dropped, directed=directed)
    good = np.flatnonzero(np.asarray(pc.fill_null(pc.not_equal(source, target), False)))
    good_rows, ends = rows.take(good), [end.take(pa.array(good)) for end in (source, target)]
    titles = pc.binary_join_element_wise(*ends, " – ")
    places = pc.binary_join_element_wise(" (", pc.cast(pa.array(good + 1), pa.string()), ")", "")
    key = make_unused_name("link", rows.table.column_names)
    items = replace(
        good_rows,
        table=good_rows.table.select(names).add_column(0, key, pc.binary_join_element_wise(titles, places, "")),
    )
    both = pa.chunked_array([*ends[0].chunks, *ends[1].chunks], pa.string())
    repeated = pa.chunked_array([*items.table[key].chunks * 2], pa.string())
    mentions = Rows(rows.name, pa.table({"item": repeated, "object": both}), rows.places)
    parts = (nodes, {"id": "id"}), (items, {"item": key}), (mentions, {"item": "item", "object": "object"})
    return item_corpus(*parts, links, separators, dropped, directed=directed)


def _carried(items: pa.Table, left_out: Sequence[str | None]) -> list[tuple[str, pa.ChunkedArray]]:
    return [(name, items[name]) for name in items.column_names if name not in left_out]


def item_corpus(
    objects: Part,
    items: Part,
    mentions: Part,
    links: Part | None,
    separators: Separators,
    dropped: Dropped,
    *,
    directed: bool = False,
    known: Objects | None = None,
) -> Corpus:
    """Return a corpus of items that mention objects; without links two objects of one item are linked.

    Mentions and links may also name objects that are ``known``.
    """
    (object_rows, object_columns), (item_rows, item_columns) = objects, items
    check_count("objects", object_rows.table.num_rows)
    check_count("items", item_rows.table.num_rows)
    object_rows, object_ids = read_unique_ids(object_rows, object_columns["id"], "objects", dropped)
    item_rows, item_ids = read_unique_ids(item_rows, item_columns["item"], "items", dropped)
    others = [name for name in object_rows.table.column_names if name not in object_columns.values()]
    read = {name: read_attribute(object_rows, name, dropped) for name in others}
    if unused := [name for name, column in read.items() if column is None]:
        dropped.say(
            f"{object_rows.name}: left out {quote_few(unused, 20)} (empty, or neither labels, numbers nor dates)"
        )
    attributes = [(name, column) for name, column in read.items() if column is not None]
    left_out = (item_columns["item"], item_columns.get("text"))
    carried = [name for name in item_rows.table.column_names if name not in left_out]
    made = _items(item_rows, item_ids, carried, item_columns.get("text"), separators, dropped)
    named = [*_ends(links), (mentions[0], mentions[1]["object"])]
    referred = referred_objects(known, object_ids, named)
    every = _append_ids(object_ids, referred)
    objects_made = _append_attributes(_objects(object_rows, object_ids, object_columns, "object"), attributes)
    return Corpus(
        objects=_append_objects(objects_made, referred),
        items=made,
        mentions=_mentions(*mentions, item_ids, every, dropped),
        links=None if links is None else _links(*links, every, "objects", dropped, directed),
        dropped=dict(dropped.counts),
        directed=directed and links is not None,
        whole_ids=_has_whole_ids(object_rows, object_columns["id"], object_ids),
    )


def _objects(rows: Rows, ids: pa.ChunkedArray, columns: Columns, kind: str) -> pa.Table:
    names = pc.coalesce(read_ids(rows, columns["name"]), ids) if "name" in columns else ids
    none = pa.repeat(pa.scalar(kind), len(ids))
    kinds = pc.coalesce(read_ids(rows, columns["kind"]), kind) if "kind" in columns else none
    return pa.table({"object": ids, "name": names, "kind": kinds})


def _items(
    rows: Rows, ids: pa.ChunkedArray, carried: Sequence[str], text: str | None, separators: Separators, dropped: Dropped
) -> pa.Table:
    for name in separators:
        if name not in carried:
            raise SourceError(
                f"{rows.name} has no attribute {name!r} to split: it has {quote_few(carried, 20) or 'none'}"
            )
    made: dict[str, pa.ChunkedArray] = {"item": ids}
    unusable, ways = [], ReadingNotes()
    for name in carried:
        column = read_attribute(rows, name, dropped, separators.get(name), ways)
        if column is None:
            unusable.append(name)
            continue
        made[make_unused_name(name, {*made, *RESERVED})] = column
    _say_ways(rows, ways, dropped)
    if unusable:
        dropped.say(f"{rows.name}: left out {quote_few(unusable, 20)} (empty, or neither labels, numbers nor dates)")
    if text is not None and not pa.types.is_null(rows.table[text].type):
        if not holds_text(rows.table[text].type):
            kind = rows.table[text].type
            raise SourceError(f"{rows.name} column {text!r} holds {kind}, expected text (name another with columns)")
        made["text"] = pc.cast(rows.table[text], pa.string())
    return pa.table(made)


def _say_ways(rows: Rows, ways: ReadingNotes, dropped: Dropped) -> None:
    if ways:
        said = "; ".join(f"{name!r} with {way}" for name, way in ways.items())
        dropped.say(f"{rows.name}: read {said} (guessed)")


def _drop_bad(rows: Rows, dropped: Dropped, *checks: tuple[str, Array, Callable[[int], str]]) -> Array:
    """Return which rows pass all checks; each is a reason, the rows that fail it, and what is wrong with one."""
    good = np.ones(rows.table.num_rows, dtype=bool)
    for reason, bad, sentence in checks:
        dropped.drop_rows(reason, rows.places, np.flatnonzero(bad & good).tolist(), sentence)
        good &= ~bad
    return good


def _links(rows: Rows, columns: Columns, ids: pa.ChunkedArray, what: str, dropped: Dropped, directed: bool) -> pa.Table:
    one = what.removesuffix("s")
    count = rows.table.num_rows
    ends = {role: find_id_rows(rows, columns[role], ids) for role in ("source", "target")}
    source, target = ends["source"][0], ends["target"][0]
    ways = ReadingNotes()
    weight = read_weights(rows, columns["weight"], ways) if "weight" in columns else np.ones(count)
    _say_ways(rows, ways, dropped)

    def end(row: int) -> str:
        role = "source" if source[row] < 0 else "target"
        value = ends[role][1][row].as_py()
        return f"{columns[role]!r} is {'empty' if value is None else repr(value)}, expected the id of {_a(one)}"

    good = _drop_bad(
        rows,
        dropped,
        ("links without a source or target", (source == -2) | (target == -2), end),
        (f"links to unknown {what}", (source < 0) | (target < 0), end),
        ("links of an object to itself", source == target, lambda row: f"{_value(ends, row)} is linked to itself"),
        ("links with a bad weight", np.isnan(weight), lambda row: _weight(rows, columns["weight"], row)),
    )
    if count and not good.any():
        why = f"{rows.places([0])[0]}: {end(0)}" if min(source[0], target[0]) < 0 else "self-links and bad weights only"
        raise SourceError(
            f"no row of {rows.name} makes a link: {why}",
            hint=Message(
                f"rows: {count:,}; name the columns of ids: ",
                Setting("columns", dict.fromkeys(("links.source", "links.target", f"{what}.id"), Placeholder("…"))),
            ),
        )
    said = _link_details(rows, columns, good, dropped)
    if said or directed:
        ends_of = {"source": source[good].astype(np.int32), "target": target[good].astype(np.int32)}
        kinds = {name: column.type for name, column in said.items()}
        return table(LINKS | kinds, **ends_of, weight=weight[good].astype(np.float32), **said)
    low, high, total = merge_links(source[good], target[good], weight[good], len(ids))
    if len(low) < int(good.sum()):
        dropped.say(f"{rows.name}: {int(good.sum()) - len(low):,} repeated links add their weights")
    return pa.table({"source": low, "target": high, "weight": total}, schema=pa.schema(list(LINKS.items())))


def _mentions(
    rows: Rows, columns: Columns, item_ids: pa.ChunkedArray, object_ids: pa.ChunkedArray, dropped: Dropped
) -> pa.Table:
    item, items = find_id_rows(rows, columns["item"], item_ids)
    thing, things = find_id_rows(rows, columns["object"], object_ids)

    def end(row: int) -> str:
        role, ids = ("item", items) if item[row] < 0 else ("object", things)
        value = ids[row].as_py()
        return f"{columns[role]!r} is {'empty' if value is None else repr(value)}, expected the id of {_a(role)}"

    good = _drop_bad(
        rows,
        dropped,
        ("mentions without an item or object", (item == -2) | (thing == -2), end),
        ("mentions of unknown items", item < 0, end),
        (UNKNOWN_OBJECTS, thing < 0, end),
    )
    if not good.any():
        why = f": {rows.places([0])[0]}: {end(0)}" if len(item) else ", expected an item and an object in each"
        raise SourceError(f"no row of {rows.name} is a mention{why} (rows: {len(item):,})")
    pairs, first = np.unique(item[good] * len(object_ids) + thing[good], return_index=True)
    if len(pairs) < int(good.sum()):
        again = np.setdiff1d(np.arange(int(good.sum())), first)
        shown = np.flatnonzero(good)[again].tolist()
        dropped.drop_rows(
            "mentions given again",
            rows.places,
            shown,
            lambda row: f"{items[row].as_py()!r} mentions {things[row].as_py()!r} again",
        )
    item, thing = np.divmod(pairs, len(object_ids))
    schema = pa.schema(list(MENTIONS.items()))
    return pa.table({"item": item.astype(np.int32), "object": thing.astype(np.int32)}, schema=schema)


def with_labels_and_terms(corpus: Corpus, parts: Mapping[str, Part], dropped: Dropped) -> Corpus:
    """Return a corpus with the labels and terms that were given beside its tables."""
    if "labels" in parts:
        corpus = replace(corpus, labels=_labels(*parts["labels"], corpus.attributes, dropped))
    if "terms" in parts:
        corpus = replace(corpus, terms=_terms(*parts["terms"], corpus.items["item"], dropped))
    return replace(corpus, dropped=dict(dropped.counts))


def _labels(rows: Rows, columns: Columns, attributes: tuple[str, ...], dropped: Dropped) -> pa.Table:
    """Return what is known of labels: a full name, a parent; each label of an attribute once."""
    if not {"full_name", "parent"} & set(columns):
        has = quote_few(rows.table.column_names, 20)
        raise SourceError(f"{rows.name} has no column for a full name or a parent: it has {has}")
    attributes_of_rows, label = read_ids(rows, columns["attribute"]), read_ids(rows, columns["label"])
    blank = np.asarray(pc.or_(pc.is_null(attributes_of_rows), pc.is_null(label)))
    known = np.asarray(pc.is_in(attributes_of_rows, value_set=pa.array([*attributes, TOPIC], pa.string())))

    def blanks(row: int) -> str:
        role = "attribute" if attributes_of_rows[row].as_py() is None else "label"
        return f"{columns[role]!r} is empty, expected an attribute and a label"

    def stranger(row: int) -> str:
        has = join_names(attributes)
        return f"{columns['attribute']!r} is {attributes_of_rows[row].as_py()!r}, expected an attribute of the items ({has})"

    checks = ("labels without an attribute or label", blank, blanks), ("labels of unknown attributes", ~known, stranger)
    good = np.flatnonzero(_drop_bad(rows, dropped, *checks))
    if len(good) == 0 and rows.table.num_rows:
        row = int(np.argmin(blank))
        why = f"{rows.places([row])[0]}: {blanks(row) if blank[row] else stranger(row)}"
        raise SourceError(f"no row of {rows.name} says something of a label: {why} (rows: {rows.table.num_rows:,})")
    first: dict[tuple[str, str], int] = {}
    for row, of, name in zip(
        good.tolist(), attributes_of_rows.take(good).to_pylist(), label.take(good).to_pylist(), strict=True
    ):
        if (of, name) in first:
            one, two = rows.places([first[of, name], row])
            raise SourceError(f"{two}: label {name!r} of {of!r} comes again (as in {one}), expected it once")
        first[of, name] = row
    said = {role: read_ids(rows, columns[role]).take(good) for role in ("full_name", "parent") if role in columns}
    nothing = pa.nulls(len(good), pa.string())
    columns_of = {"attribute": attributes_of_rows.take(good), "label": label.take(good)}
    return table(LABELS, **columns_of, **{role: said.get(role, nothing) for role in ("full_name", "parent")})


def _terms(rows: Rows, columns: Columns, item_ids: pa.ChunkedArray, dropped: Dropped) -> pa.Table:
    """Return how often each term stands in each item; a term that comes again in an item is counted together."""
    item, items = find_id_rows(rows, columns["item"], item_ids)
    term = read_ids(rows, columns["term"])
    count = read_weights(rows, columns["count"]) if "count" in columns else np.ones(len(item))
    without = (item == -2) | np.asarray(pc.is_null(term))

    def end(row: int) -> str:
        if item[row] == -1:
            return f"{columns['item']!r} is {items[row].as_py()!r}, expected the id of an item"
        return f"{columns['item' if item[row] < 0 else 'term']!r} is empty, expected an item and a term"

    def wrong(row: int) -> str:
        value = rows.table[columns["count"]][row].as_py()
        got = "empty" if value is None else repr(value)
        return f"{columns['count']!r} is {got}, expected a whole number of 1 or more"

    good = _drop_bad(
        rows,
        dropped,
        ("terms without an item or term", without, end),
        ("terms of unknown items", item < 0, end),
        ("terms with a bad count", ~((count >= 1) & (count <= MOST) & (count == np.floor(count))), wrong),
    )
    if not good.any():
        why = f"{rows.places([0])[0]}: {end(0) if item[0] < 0 or without[0] else wrong(0)}"
        raise SourceError(f"no row of {rows.name} is a term of an item: {why} (rows: {len(item):,})")
    chosen = term.filter(pa.array(good)).combine_chunks().dictionary_encode()
    width = len(chosen.dictionary)
    pairs, place = np.unique(item[good] * width + chosen.indices.to_numpy(), return_inverse=True)
    if len(pairs) < int(good.sum()):
        dropped.say(f"{rows.name}: {int(good.sum()) - len(pairs):,} repeated terms add their counts")
    total = np.minimum(np.bincount(place, weights=count[good], minlength=len(pairs)), MOST)
    row, code = np.divmod(pairs, width)
    return table(
        TERMS,
        item=pa.array(row, pa.int32()),
        term=chosen.dictionary.take(pa.array(code)),
        count=pa.array(total.astype(np.int32)),
    )


def _value(ends: Mapping[str, tuple[object, pa.ChunkedArray]], row: int) -> str:
    return repr(ends["source"][1][row].as_py())


def _weight(rows: Rows, column: str, row: int) -> str:
    value = rows.table[column][row].as_py()
    return f"{column!r} is {'empty' if value is None else repr(value)}, expected 0, or a number from 1e-30 to 1e30"


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"
