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
"""The rows of a table, and its columns by role."""
RESERVED_NAMES = ("item", "text")
TOPIC_ATTRIBUTE = "topic"


def select_known_objects(
    known: Objects | None, listed: pa.ChunkedArray, columns: Sequence[tuple[Rows, str]]
) -> pa.Table:
    """Return the known objects whose ids are in the given columns and are not listed.

    >>> known = Objects.of(table(OBJECTS, object=["a", "b"], name=["Ada", "Bob"], kind=["x", "x"]))
    >>> rows = Rows("links", pa.table({"to": ["b", "c", "a"]}), lambda rows: [])
    >>> select_known_objects(known, pa.chunked_array([["a"]]), [(rows, "to")])["name"].to_pylist()
    ['Bob']
    """
    if known is None:
        return table(OBJECTS)
    mentioned = pa.chunked_array(
        [chunk for rows, name in columns for chunk in read_ids(rows, name).chunks], pa.string()
    )
    mentioned = pc.drop_null(pc.unique(mentioned))
    missing = mentioned.filter(pc.invert(pc.is_in(mentioned, value_set=listed)))
    objects = known.table.select(list(OBJECTS))
    return objects.filter(pc.is_in(objects["object"], value_set=missing))


def _append_objects(objects: pa.Table, referred: pa.Table) -> pa.Table:
    """Return objects, followed by those that are only referred to and have no attributes."""
    return pa.concat_tables([objects, referred], promote_options="default") if referred.num_rows else objects


def _append_ids(listed: pa.ChunkedArray, referred: pa.Table) -> pa.ChunkedArray:
    return pa.chunked_array([*listed.chunks, *referred["object"].chunks], pa.string())


def _has_whole_ids(rows: Rows, column: str, ids: pa.ChunkedArray) -> bool:
    """Return whether ids come from a column of whole numbers, which pandas stores as floats if one is missing."""
    kind = rows.table.schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind)) and are_whole(ids)


def _append_attributes(objects: pa.Table, columns: Iterable[tuple[str, pa.ChunkedArray]]) -> pa.Table:
    """Return objects with attributes; one named like a standard column is renamed to ``NAME_attribute``."""
    for name, column in columns:
        new_name = name
        while new_name in OBJECTS or new_name in objects.column_names:
            new_name += "_attribute"
        objects = objects.append_column(new_name, column)
    return objects


def _read_link_details(
    rows: Rows, columns: Mapping[str, str], is_kept: Array, dropped: Dropped
) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return the kinds and times of the links that are kept, if the table has such columns."""
    kept_rows = pa.array(np.flatnonzero(is_kept))
    details: dict[str, pa.Array | pa.ChunkedArray] = {}
    if "kind" in columns:
        kinds = read_ids(rows, columns["kind"])
        if kinds.null_count < len(kinds):
            details["kind"] = kinds.take(kept_rows)
    if "time" in columns:
        times = _to_times(read_attribute(rows, columns["time"], dropped))
        if times is None:
            dropped.say(f"{rows.name}: left out {columns['time']!r} (no dates and no whole numbers such as years)")
        else:
            details["time"] = times.take(kept_rows)
    return details


def _to_times(column: pa.ChunkedArray | None) -> pa.ChunkedArray | None:
    """Return dates, times or whole numbers, which may be stored as floats; None for anything else."""
    if column is not None and pa.types.is_floating(column.type):
        are_whole_numbers = pc.all(pc.equal(column, pc.floor(column))).as_py()
        column = pc.cast(column, pa.int64(), safe=False) if are_whole_numbers else None
    if column is None or not (pa.types.is_integer(column.type) or pa.types.is_temporal(column.type)):
        return None
    return column


def build_network_corpus(
    nodes: Part,
    links: Part | None,
    separators: Separators,
    dropped: Dropped,
    *,
    directed: bool = False,
    known: Objects | None = None,
) -> Corpus:
    """Return a corpus in which every node is an object and its own item, and both have its attributes.

    Links may also lead to ``known`` objects, which are not items.
    """
    rows, columns = nodes
    check_count("objects", rows.table.num_rows)
    rows, ids = read_unique_ids(rows, columns["id"], "nodes", dropped)
    role_columns = (columns["id"], columns.get("name"), columns.get("text"))
    attribute_names = [name for name in rows.table.column_names if name not in role_columns]
    items = _make_items(rows, ids, attribute_names, columns.get("text"), separators, dropped)
    numbers = np.arange(len(ids), dtype=np.int32)
    mentions = pa.table({"item": numbers, "object": numbers}, schema=pa.schema(list(MENTIONS.items())))
    objects = _append_attributes(
        _make_objects(rows, ids, columns, "node"), _list_carried(items, ("item", columns.get("kind")))
    )
    referred = select_known_objects(known, ids, _list_end_columns(links))
    return Corpus(
        objects=_append_objects(objects, referred),
        items=items,
        mentions=mentions,
        links=table(LINKS)
        if links is None
        else _make_links(*links, _append_ids(ids, referred), "nodes", dropped, directed),
        dropped=dict(dropped.counts),
        directed=directed,
        whole_ids=_has_whole_ids(rows, columns["id"], ids),
    )


def build_links_among_known(links: Part, known: Objects, dropped: Dropped, *, directed: bool = False) -> Corpus:
    """Return a corpus without items, with links between known objects."""
    objects = select_known_objects(known, pa.chunked_array([], pa.string()), _list_end_columns(links))
    return Corpus(
        objects=objects,
        items=pa.table({"item": pa.array([], pa.string())}),
        mentions=table(MENTIONS),
        links=_make_links(*links, objects["object"], "nodes", dropped, directed),
        dropped=dict(dropped.counts),
        directed=directed,
        whole_ids=known.whole,
    )


def _list_end_columns(links: Part | None) -> list[tuple[Rows, str]]:
    return [] if links is None else [(links[0], links[1][role]) for role in ("source", "target")]


def build_links_corpus(links: Part, separators: Separators, dropped: Dropped, *, directed: bool = False) -> Corpus:
    """Return the corpus of a single table of links, whose ends are the objects.

    If links have columns besides their ends and weight, such as a year, every link is an item that mentions both of its
    ends, so that these columns are attributes.
    """
    rows, columns = links
    source, target = (read_ids(rows, columns[role]) for role in ("source", "target"))
    ids = pc.unique(pc.drop_null(pa.chunked_array([*source.chunks, *target.chunks], pa.string())))
    if len(ids) == 0:
        raise SourceError(f"{rows.name} has no links, expected the ids of two nodes in a row")
    nodes = Rows(rows.name, pa.table({"id": ids}), lambda numbers: [f"{rows.name} node {row + 1:,}" for row in numbers])
    role_columns = [columns[role] for role in ("source", "target", "weight") if role in columns]
    attribute_names = [name for name in rows.table.column_names if name not in role_columns]
    if all(read_attribute(rows, name, Dropped()) is None for name in attribute_names):
        dropped.say(
            f"{rows.name}: no column describes the links, so there are no dimensions: give a table of nodes, too"
        )
        return build_network_corpus((nodes, {"id": "id"}), links, {}, dropped, directed=directed)
    kept = np.flatnonzero(np.asarray(pc.fill_null(pc.not_equal(source, target), False)))
    kept_rows, ends = rows.take(kept), [end.take(pa.array(kept)) for end in (source, target)]
    titles = pc.binary_join_element_wise(*ends, " – ")
    places = pc.binary_join_element_wise(" (", pc.cast(pa.array(kept + 1), pa.string()), ")", "")
    key = make_unused_name("link", rows.table.column_names)
    items = replace(
        kept_rows,
        table=kept_rows.table.select(attribute_names).add_column(
            0, key, pc.binary_join_element_wise(titles, places, "")
        ),
    )
    end_ids = pa.chunked_array([*ends[0].chunks, *ends[1].chunks], pa.string())
    repeated = pa.chunked_array([*items.table[key].chunks * 2], pa.string())
    mentions = Rows(rows.name, pa.table({"item": repeated, "object": end_ids}), rows.places)
    parts = (nodes, {"id": "id"}), (items, {"item": key}), (mentions, {"item": "item", "object": "object"})
    return build_item_corpus(*parts, links, separators, dropped, directed=directed)


def _list_carried(items: pa.Table, excluded: Sequence[str | None]) -> list[tuple[str, pa.ChunkedArray]]:
    return [(name, items[name]) for name in items.column_names if name not in excluded]


def build_item_corpus(
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
    """Return a corpus of items that mention objects; without links, objects of the same item are linked.

    Mentions and links may also name ``known`` objects.
    """
    (object_rows, object_columns), (item_rows, item_columns) = objects, items
    check_count("objects", object_rows.table.num_rows)
    check_count("items", item_rows.table.num_rows)
    object_rows, object_ids = read_unique_ids(object_rows, object_columns["id"], "objects", dropped)
    item_rows, item_ids = read_unique_ids(item_rows, item_columns["item"], "items", dropped)
    attribute_names = [name for name in object_rows.table.column_names if name not in object_columns.values()]
    read_columns = {name: read_attribute(object_rows, name, dropped) for name in attribute_names}
    if unused := [name for name, column in read_columns.items() if column is None]:
        dropped.say(
            f"{object_rows.name}: left out {quote_few(unused, 20)} (empty, or neither labels, numbers nor dates)"
        )
    attributes = [(name, column) for name, column in read_columns.items() if column is not None]
    role_columns = (item_columns["item"], item_columns.get("text"))
    item_attribute_names = [name for name in item_rows.table.column_names if name not in role_columns]
    new_items = _make_items(item_rows, item_ids, item_attribute_names, item_columns.get("text"), separators, dropped)
    id_columns = [*_list_end_columns(links), (mentions[0], mentions[1]["object"])]
    referred = select_known_objects(known, object_ids, id_columns)
    all_ids = _append_ids(object_ids, referred)
    new_objects = _append_attributes(_make_objects(object_rows, object_ids, object_columns, "object"), attributes)
    return Corpus(
        objects=_append_objects(new_objects, referred),
        items=new_items,
        mentions=_make_mentions(*mentions, item_ids, all_ids, dropped),
        links=None if links is None else _make_links(*links, all_ids, "objects", dropped, directed),
        dropped=dict(dropped.counts),
        directed=directed and links is not None,
        whole_ids=_has_whole_ids(object_rows, object_columns["id"], object_ids),
    )


def _make_objects(rows: Rows, ids: pa.ChunkedArray, columns: Columns, kind: str) -> pa.Table:
    names = pc.coalesce(read_ids(rows, columns["name"]), ids) if "name" in columns else ids
    default_kinds = pa.repeat(pa.scalar(kind), len(ids))
    kinds = pc.coalesce(read_ids(rows, columns["kind"]), kind) if "kind" in columns else default_kinds
    return pa.table({"object": ids, "name": names, "kind": kinds})


def _make_items(
    rows: Rows,
    ids: pa.ChunkedArray,
    attribute_names: Sequence[str],
    text: str | None,
    separators: Separators,
    dropped: Dropped,
) -> pa.Table:
    for name in separators:
        if name not in attribute_names:
            raise SourceError(
                f"{rows.name} has no attribute {name!r} to split: it has {quote_few(attribute_names, 20) or 'none'}"
            )
    columns: dict[str, pa.ChunkedArray] = {"item": ids}
    unusable, notes = [], ReadingNotes()
    for name in attribute_names:
        column = read_attribute(rows, name, dropped, separators.get(name), notes)
        if column is None:
            unusable.append(name)
            continue
        columns[make_unused_name(name, {*columns, *RESERVED_NAMES})] = column
    _report_notes(rows, notes, dropped)
    if unusable:
        dropped.say(f"{rows.name}: left out {quote_few(unusable, 20)} (empty, or neither labels, numbers nor dates)")
    if text is not None and not pa.types.is_null(rows.table[text].type):
        if not holds_text(rows.table[text].type):
            kind = rows.table[text].type
            raise SourceError(f"{rows.name} column {text!r} holds {kind}, expected text (name another with columns)")
        columns["text"] = pc.cast(rows.table[text], pa.string())
    return pa.table(columns)


def _report_notes(rows: Rows, notes: ReadingNotes, dropped: Dropped) -> None:
    if notes:
        descriptions = "; ".join(f"{name!r} with {note}" for name, note in notes.items())
        dropped.say(f"{rows.name}: read {descriptions} (guessed)")


def _drop_bad(rows: Rows, dropped: Dropped, *checks: tuple[str, Array, Callable[[int], str]]) -> Array:
    """Return which rows pass all checks; each is a reason, the rows that fail it, and a function that describes one."""
    is_kept = np.ones(rows.table.num_rows, dtype=bool)
    for reason, fails, describe in checks:
        dropped.drop_rows(reason, rows.places, np.flatnonzero(fails & is_kept).tolist(), describe)
        is_kept &= ~fails
    return is_kept


def _make_links(
    rows: Rows, columns: Columns, ids: pa.ChunkedArray, objects_name: str, dropped: Dropped, directed: bool
) -> pa.Table:
    object_name = _add_article(objects_name.removesuffix("s"))
    count = rows.table.num_rows
    ends = {role: find_id_rows(rows, columns[role], ids) for role in ("source", "target")}
    source, target = ends["source"][0], ends["target"][0]
    notes = ReadingNotes()
    weight = read_weights(rows, columns["weight"], notes) if "weight" in columns else np.ones(count)
    _report_notes(rows, notes, dropped)

    def describe_end(row: int) -> str:
        role = "source" if source[row] < 0 else "target"
        value = ends[role][1][row].as_py()
        return f"{columns[role]!r} is {'empty' if value is None else repr(value)}, expected the id of {object_name}"

    is_kept = _drop_bad(
        rows,
        dropped,
        ("links without a source or target", (source == -2) | (target == -2), describe_end),
        (f"links to unknown {objects_name}", (source < 0) | (target < 0), describe_end),
        (
            "links of an object to itself",
            source == target,
            lambda row: f"{_quote_source(ends, row)} is linked to itself",
        ),
        ("links with a bad weight", np.isnan(weight), lambda row: _describe_weight(rows, columns["weight"], row)),
    )
    if count and not is_kept.any():
        reason = (
            f"{rows.places([0])[0]}: {describe_end(0)}"
            if min(source[0], target[0]) < 0
            else "self-links and bad weights only"
        )
        raise SourceError(
            f"no row of {rows.name} makes a link: {reason}",
            hint=Message(
                f"rows: {count:,}; name the columns of ids: ",
                Setting(
                    "columns", dict.fromkeys(("links.source", "links.target", f"{objects_name}.id"), Placeholder("…"))
                ),
            ),
        )
    details = _read_link_details(rows, columns, is_kept, dropped)
    if details or directed:
        kept_ends = {"source": source[is_kept].astype(np.int32), "target": target[is_kept].astype(np.int32)}
        types = {name: column.type for name, column in details.items()}
        return table(LINKS | types, **kept_ends, weight=weight[is_kept].astype(np.float32), **details)
    low, high, total = merge_links(source[is_kept], target[is_kept], weight[is_kept], len(ids))
    if len(low) < int(is_kept.sum()):
        dropped.say(f"{rows.name}: {int(is_kept.sum()) - len(low):,} repeated links add their weights")
    return pa.table({"source": low, "target": high, "weight": total}, schema=pa.schema(list(LINKS.items())))


def _make_mentions(
    rows: Rows, columns: Columns, item_ids: pa.ChunkedArray, object_ids: pa.ChunkedArray, dropped: Dropped
) -> pa.Table:
    item_rows, mentioned_items = find_id_rows(rows, columns["item"], item_ids)
    object_rows, mentioned_objects = find_id_rows(rows, columns["object"], object_ids)

    def describe_end(row: int) -> str:
        role, ids = ("item", mentioned_items) if item_rows[row] < 0 else ("object", mentioned_objects)
        value = ids[row].as_py()
        return (
            f"{columns[role]!r} is {'empty' if value is None else repr(value)}, expected the id of {_add_article(role)}"
        )

    is_kept = _drop_bad(
        rows,
        dropped,
        ("mentions without an item or object", (item_rows == -2) | (object_rows == -2), describe_end),
        ("mentions of unknown items", item_rows < 0, describe_end),
        (UNKNOWN_OBJECTS, object_rows < 0, describe_end),
    )
    if not is_kept.any():
        reason = (
            f": {rows.places([0])[0]}: {describe_end(0)}"
            if len(item_rows)
            else ", expected an item and an object in each"
        )
        raise SourceError(f"no row of {rows.name} is a mention{reason} (rows: {len(item_rows):,})")
    pairs, first_rows = np.unique(item_rows[is_kept] * len(object_ids) + object_rows[is_kept], return_index=True)
    if len(pairs) < int(is_kept.sum()):
        repeated = np.setdiff1d(np.arange(int(is_kept.sum())), first_rows)
        repeated_rows = np.flatnonzero(is_kept)[repeated].tolist()
        dropped.drop_rows(
            "mentions given again",
            rows.places,
            repeated_rows,
            lambda row: f"{mentioned_items[row].as_py()!r} mentions {mentioned_objects[row].as_py()!r} again",
        )
    item_rows, object_rows = np.divmod(pairs, len(object_ids))
    schema = pa.schema(list(MENTIONS.items()))
    return pa.table({"item": item_rows.astype(np.int32), "object": object_rows.astype(np.int32)}, schema=schema)


def add_labels_and_terms(corpus: Corpus, parts: Mapping[str, Part], dropped: Dropped) -> Corpus:
    """Return a corpus with the labels and terms of the tables, if given."""
    if "labels" in parts:
        corpus = replace(corpus, labels=_make_labels(*parts["labels"], corpus.attributes, dropped))
    if "terms" in parts:
        corpus = replace(corpus, terms=_make_terms(*parts["terms"], corpus.items["item"], dropped))
    return replace(corpus, dropped=dict(dropped.counts))


def _make_labels(rows: Rows, columns: Columns, attributes: tuple[str, ...], dropped: Dropped) -> pa.Table:
    """Return the full names and parents of labels, each label of an attribute once."""
    if not {"full_name", "parent"} & set(columns):
        names = quote_few(rows.table.column_names, 20)
        raise SourceError(f"{rows.name} has no column for a full name or a parent: it has {names}")
    row_attributes, row_labels = read_ids(rows, columns["attribute"]), read_ids(rows, columns["label"])
    is_blank = np.asarray(pc.or_(pc.is_null(row_attributes), pc.is_null(row_labels)))
    is_known = np.asarray(pc.is_in(row_attributes, value_set=pa.array([*attributes, TOPIC_ATTRIBUTE], pa.string())))

    def describe_blank(row: int) -> str:
        role = "attribute" if row_attributes[row].as_py() is None else "label"
        return f"{columns[role]!r} is empty, expected an attribute and a label"

    def describe_unknown(row: int) -> str:
        names = join_names(attributes)
        value = row_attributes[row].as_py()
        return f"{columns['attribute']!r} is {value!r}, expected an attribute of the items ({names})"

    checks = (
        ("labels without an attribute or label", is_blank, describe_blank),
        ("labels of unknown attributes", ~is_known, describe_unknown),
    )
    kept_rows = np.flatnonzero(_drop_bad(rows, dropped, *checks))
    if len(kept_rows) == 0 and rows.table.num_rows:
        row = int(np.argmin(is_blank))
        reason = f"{rows.places([row])[0]}: {describe_blank(row) if is_blank[row] else describe_unknown(row)}"
        raise SourceError(f"no row of {rows.name} says something of a label: {reason} (rows: {rows.table.num_rows:,})")
    first_rows: dict[tuple[str, str], int] = {}
    for row, attribute_name, label_name in zip(
        kept_rows.tolist(),
        row_attributes.take(kept_rows).to_pylist(),
        row_labels.take(kept_rows).to_pylist(),
        strict=True,
    ):
        if (attribute_name, label_name) in first_rows:
            first_place, second_place = rows.places([first_rows[attribute_name, label_name], row])
            raise SourceError(
                f"{second_place}: label {label_name!r} of {attribute_name!r} comes again (as in {first_place}), "
                "expected it once"
            )
        first_rows[attribute_name, label_name] = row
    details = {
        role: read_ids(rows, columns[role]).take(kept_rows) for role in ("full_name", "parent") if role in columns
    }
    empty_column = pa.nulls(len(kept_rows), pa.string())
    key_columns = {"attribute": row_attributes.take(kept_rows), "label": row_labels.take(kept_rows)}
    return table(LABELS, **key_columns, **{role: details.get(role, empty_column) for role in ("full_name", "parent")})


def _make_terms(rows: Rows, columns: Columns, item_ids: pa.ChunkedArray, dropped: Dropped) -> pa.Table:
    """Return the count of each term in each item; the counts of repeated rows are added."""
    item_rows, row_items = find_id_rows(rows, columns["item"], item_ids)
    terms = read_ids(rows, columns["term"])
    counts = read_weights(rows, columns["count"]) if "count" in columns else np.ones(len(item_rows))
    is_blank = (item_rows == -2) | np.asarray(pc.is_null(terms))

    def describe_blank(row: int) -> str:
        if item_rows[row] == -1:
            return f"{columns['item']!r} is {row_items[row].as_py()!r}, expected the id of an item"
        return f"{columns['item' if item_rows[row] < 0 else 'term']!r} is empty, expected an item and a term"

    def describe_bad_count(row: int) -> str:
        value = rows.table[columns["count"]][row].as_py()
        shown = "empty" if value is None else repr(value)
        return f"{columns['count']!r} is {shown}, expected a whole number of 1 or more"

    is_kept = _drop_bad(
        rows,
        dropped,
        ("terms without an item or term", is_blank, describe_blank),
        ("terms of unknown items", item_rows < 0, describe_blank),
        (
            "terms with a bad count",
            ~((counts >= 1) & (counts <= MOST) & (counts == np.floor(counts))),
            describe_bad_count,
        ),
    )
    if not is_kept.any():
        reason = (
            f"{rows.places([0])[0]}: {describe_blank(0) if item_rows[0] < 0 or is_blank[0] else describe_bad_count(0)}"
        )
        raise SourceError(f"no row of {rows.name} is a term of an item: {reason} (rows: {len(item_rows):,})")
    encoded = terms.filter(pa.array(is_kept)).combine_chunks().dictionary_encode()
    width = len(encoded.dictionary)
    pairs, pair_indices = np.unique(item_rows[is_kept] * width + encoded.indices.to_numpy(), return_inverse=True)
    if len(pairs) < int(is_kept.sum()):
        dropped.say(f"{rows.name}: {int(is_kept.sum()) - len(pairs):,} repeated terms add their counts")
    total_counts = np.minimum(np.bincount(pair_indices, weights=counts[is_kept], minlength=len(pairs)), MOST)
    row, code = np.divmod(pairs, width)
    return table(
        TERMS,
        item=pa.array(row, pa.int32()),
        term=encoded.dictionary.take(pa.array(code)),
        count=pa.array(total_counts.astype(np.int32)),
    )


def _quote_source(ends: Mapping[str, tuple[object, pa.ChunkedArray]], row: int) -> str:
    return repr(ends["source"][1][row].as_py())


def _describe_weight(rows: Rows, column: str, row: int) -> str:
    value = rows.table[column][row].as_py()
    return f"{column!r} is {'empty' if value is None else repr(value)}, expected 0, or a number from 1e-30 to 1e30"


def _add_article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"
