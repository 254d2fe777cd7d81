"""One table of records becomes a corpus: a row for every mention (paper, author), or lists of objects in a column.

Items, mentions and objects are drawn from it. What differs between the rows of an item becomes several labels of it,
and what is the same wherever an object stands is an attribute of the object, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow.compute as pc

from cube2net.errors import SourceError
from cube2net.records import Corpus
from cube2net.records.column_kinds import decoded, is_list
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.tables.column_types import Rows
from cube2net.sources.tables.flat_columns import FlatColumns, guess_flat
from cube2net.sources.tables.flat_parts import FlatParts
from cube2net.sources.tables.list_columns import label_separators
from cube2net.sources.tables.table_corpus import Part, item_corpus


def flat_corpus(
    rows: Rows,
    *,
    item: str | None,
    objects: str | None,
    columns: Mapping[str, str],
    separators: Mapping[str, str],
    links: Part | None,
    dropped: Dropped,
    directed: bool = False,
    by_values: bool = False,
) -> Corpus:
    """Return the corpus of one table of records; ``item`` and ``objects`` name its columns, else they are guessed.

    They are guessed by their names, and ``by_values`` also by what they hold.
    """
    if rows.table.num_rows == 0:
        raise SourceError(f"{rows.name} has a header and no rows, expected records")
    given = {"item": item or columns.get("items.item", columns.get("item")), "text": columns.get("text")}
    given |= {"objects": objects or columns.get("mentions.object", columns.get("object")), "name": columns.get("name")}
    named = {role: name for role, name in given.items() if name is not None}
    found = guess_flat(rows, named, separators, by_values=by_values)
    dropped.say(f"columns of {rows.name}: {found}")
    if "objects" in named and found.separator is None and _is_one_a_row(rows, found):
        dropped.say(
            f"{rows.name}: {found.objects!r} is not parted, so that a row has one object and nothing is linked "
            f"(say what parts it: separators={{{found.objects!r}: ';'}})"
        )
    others = {name: mark for name, mark in separators.items() if name != found.objects}
    labels = label_separators(rows, (found.item, found.objects, found.name, found.text), separators, dropped)
    others |= labels
    flat = FlatParts(rows, found, others, dropped)
    parts = flat.objects(), flat.items(), flat.mentions()
    corpus = item_corpus(*parts, links, flat.not_parted, dropped, directed=directed)
    if by_values:
        rows_and_objects = f"{corpus.items.num_rows:,} records, {corpus.objects.num_rows:,} objects in them"
        dropped.say(f"{rows.name}: {rows_and_objects}, linked where a record has both")
    read = {"items.item": found.item, "mentions.object": found.objects, "name": found.name, "text": found.text}
    parted = {} if found.separator is None else {found.objects: found.separator}
    said = {role: name for role, name in read.items() if name is not None}
    return replace(corpus, source={"columns": said, "separators": parted | labels})


def _is_one_a_row(rows: Rows, columns: FlatColumns) -> bool:
    """Return whether no two rows are one record, so that texts that are not parted link nothing."""
    if is_list(rows.table.schema.field(columns.objects).type) or columns.item is None:
        return False
    return bool(pc.count_distinct(decoded(rows.table[columns.item])).as_py() == rows.table.num_rows)
