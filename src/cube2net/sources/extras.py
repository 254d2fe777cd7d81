"""Tables that may come beside the others: what is known of labels, and terms that stand in for texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import SourceError, listed, some
from cube2net.records import Corpus
from cube2net.records.corpus import LABELS, TERMS, table
from cube2net.records.limits import MOST
from cube2net.sources.assemble import Columns, Part
from cube2net.sources.faults import Faults, Rows
from cube2net.sources.keys import find, keys, weights

TOPIC = "topic"


def with_extras(corpus: Corpus, parts: Mapping[str, Part], faults: Faults) -> Corpus:
    """Return a corpus with the labels and terms that were given beside its tables."""
    if "labels" in parts:
        corpus = replace(corpus, labels=_labels(*parts["labels"], corpus.attributes, faults))
    if "terms" in parts:
        corpus = replace(corpus, terms=_terms(*parts["terms"], corpus.items["item"], faults))
    return replace(corpus, dropped=dict(faults.counts))


def _labels(rows: Rows, columns: Columns, attributes: tuple[str, ...], faults: Faults) -> pa.Table:
    """Return what is known of labels: a full name, a parent; each label of an attribute once."""
    if not {"full_name", "parent"} & set(columns):
        has = some(rows.table.column_names, 20)
        raise SourceError(f"{rows.name} has no column for a full name or a parent: it has {has}")
    attribute, label = keys(rows, columns["attribute"]), keys(rows, columns["label"])
    blank = np.asarray(pc.or_(pc.is_null(attribute), pc.is_null(label)))
    known = np.asarray(pc.is_in(attribute, value_set=pa.array([*attributes, TOPIC], pa.string())))

    def blanks(row: int) -> str:
        role = "attribute" if attribute[row].as_py() is None else "label"
        return f"{columns[role]!r} is empty, expected an attribute and a label"

    def stranger(row: int) -> str:
        has = listed(attributes)
        return f"{columns['attribute']!r} is {attribute[row].as_py()!r}, expected an attribute of the items ({has})"

    faults.drop_rows("labels without an attribute or label", rows, np.flatnonzero(blank).tolist(), blanks)
    faults.drop_rows("labels of unknown attributes", rows, np.flatnonzero(~known & ~blank).tolist(), stranger)
    good = np.flatnonzero(known & ~blank)
    if len(good) == 0 and rows.table.num_rows:
        row = int(np.argmin(blank))
        why = f"{rows.places([row])[0]}: {blanks(row) if blank[row] else stranger(row)}"
        raise SourceError(f"no row of {rows.name} says something of a label: {why} (rows: {rows.table.num_rows:,})")
    first: dict[tuple[str, str], int] = {}
    for row, of, name in zip(
        good.tolist(), attribute.take(good).to_pylist(), label.take(good).to_pylist(), strict=True
    ):
        if (of, name) in first:
            one, two = rows.places([first[of, name], row])
            raise SourceError(f"{two}: label {name!r} of {of!r} comes again (as in {one}), expected it once")
        first[of, name] = row
    said = {role: keys(rows, columns[role]).take(good) for role in ("full_name", "parent") if role in columns}
    nothing = pa.nulls(len(good), pa.string())
    columns_of = {"attribute": attribute.take(good), "label": label.take(good)}
    return table(LABELS, **columns_of, **{role: said.get(role, nothing) for role in ("full_name", "parent")})


def _terms(rows: Rows, columns: Columns, item_ids: pa.ChunkedArray, faults: Faults) -> pa.Table:
    """Return how often each term stands in each item; a term that comes again in an item is counted together."""
    item, items = find(rows, columns["item"], item_ids)
    term = keys(rows, columns["term"])
    count = weights(rows, columns["count"]) if "count" in columns else np.ones(len(item))
    without = (item == -2) | np.asarray(pc.is_null(term))
    good = np.ones(len(item), dtype=bool)

    def end(row: int) -> str:
        if item[row] == -1:
            return f"{columns['item']!r} is {items[row].as_py()!r}, expected the id of an item"
        return f"{columns['item' if item[row] < 0 else 'term']!r} is empty, expected an item and a term"

    def wrong(row: int) -> str:
        value = rows.table[columns["count"]][row].as_py()
        got = "empty" if value is None else repr(value)
        return f"{columns['count']!r} is {got}, expected a whole number of 1 or more"

    for reason, bad, sentence in (
        ("terms without an item or term", without, end),
        ("terms of unknown items", item < 0, end),
        ("terms with a bad count", ~((count >= 1) & (count <= MOST) & (count == np.floor(count))), wrong),
    ):
        faults.drop_rows(reason, rows, np.flatnonzero(bad & good).tolist(), sentence)
        good &= ~bad
    if not good.any():
        why = f"{rows.places([0])[0]}: {end(0) if item[0] < 0 or without[0] else wrong(0)}"
        raise SourceError(f"no row of {rows.name} is a term of an item: {why} (rows: {len(item):,})")
    chosen = term.filter(pa.array(good)).combine_chunks().dictionary_encode()
    width = len(chosen.dictionary)
    pairs, place = np.unique(item[good] * width + chosen.indices.to_numpy(), return_inverse=True)
    if len(pairs) < int(good.sum()):
        faults.say(f"{rows.name}: {int(good.sum()) - len(pairs):,} repeated terms add their counts")
    total = np.minimum(np.bincount(place, weights=count[good], minlength=len(pairs)), MOST)
    row, code = np.divmod(pairs, width)
    return table(
        TERMS,
        item=pa.array(row, pa.int32()),
        term=chosen.dictionary.take(pa.array(code)),
        count=pa.array(total.astype(np.int32)),
    )
