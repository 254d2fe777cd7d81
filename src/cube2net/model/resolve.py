"""Resolve keys of objects to rows of a cube, and describe those that are missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Links
from cube2net.errors import Cube2netError, Message, QueryError, Setting, quoted, some
from cube2net.model.corpus import MOST
from cube2net.model.dimension import Dimension
from cube2net.model.items import ItemIndex
from cube2net.model.keys import SKIP_MISSING, check_kinds, is_row, is_text, key_of
from cube2net.model.objects import Objects
from cube2net.model.query import UNKNOWN

NEARLY_ALL = 0.9
LOOKED_AT = 100
"""So many row numbers of a query are compared with ids."""
SAID = 3
"""So many names that several objects bear are told with the ids of these."""
SEVERAL = -2
"""The row of a value that names several objects."""
ASKED = 10_000
"""So many values of a column are looked up to see whether they name objects."""


def rows_of_keys(
    objects: Objects,
    keys: Sequence[Any],
    skip_missing: bool,
    said_of_items: Callable[[Sequence[str]], str] | None = None,
) -> tuple[Array, tuple[str, ...]]:
    """Return the row of every key, -1 where it is missing, and what is missing: refused without ``skip_missing``.

    Texts are ids or names. Whole numbers are ids where those of all objects are such, and else rows. ``said_of_items``
    gives the end of a sentence on what is missing and stands in items.
    """
    if not skip_missing:
        check_kinds(keys)
    if not objects.whole and all(map(is_row, keys)):
        _check_meant(objects, keys)
        count = len(objects)
        outside = [key for key in keys if not 0 <= key < count]
        if outside and not skip_missing:
            plural = "1 row" if len(outside) == 1 else f"{len(outside):,} rows"
            raise QueryError(
                f"query names {plural} that the cube does not have: {some(outside)} (it has {count:,} objects)"
            )
        rows = np.array([key if 0 <= key < count else -1 for key in keys], dtype=np.int64)
        return rows, tuple(map(quoted, outside))
    named = [place for place, key in enumerate(keys) if isinstance(key, str) or is_row(key)]
    texts = [_text(keys[place]) for place in named]
    found = objects.find(texts)
    lost = found.missing + found.ambiguous
    if lost and not skip_missing:
        numbers = {text: keys[place] for text, place in zip(texts, named, strict=True) if is_row(keys[place])}
        count = len(set(texts))
        sentence = _lost(objects, found.missing, found.ambiguous, numbers if objects.whole else {}, count)
        where: Message | str = _elsewhere(objects, found.missing) if len(found.missing) >= NEARLY_ALL * count else ""
        if not where and len(found.missing) == count and said_of_items is not None:
            where = said_of_items(found.missing)
        raise QueryError(sentence, where, parameter="query", value=lost)
    rows = np.full(len(keys), -1, dtype=np.int64)
    rows[named] = found.rows
    others = set(range(len(keys))).difference(named)
    return rows, lost + tuple(quoted(keys[place]) for place in sorted(others))


def shared_names(objects: Objects, links: Links, keys: Sequence[Any], rows: Array) -> tuple[str, ...]:
    """Return those of the texts that a caller gave which are the id of an object and the name of others too.

    Only such that another bearer has as many links as the one taken, or more: that one may well be meant.
    """
    named = [place for place, key in enumerate(keys) if isinstance(key, str)]
    texts = [_text(keys[place]) for place in named]
    own = dict(zip(texts, rows[named].tolist(), strict=True))

    def linked(row: int) -> int:
        return int(links.indptr[row + 1] - links.indptr[row])

    bearers = objects.also_called(texts, rows[named])
    return tuple(text for text, others in bearers.items() if max(map(linked, others)) >= linked(own[text]))


def said_of_shared(objects: Objects, shared: Sequence[str]) -> str:
    """Return that names were taken as ids although others bear them, and how to mean these; nothing where none was."""
    if not shared:
        return ""
    first = list(shared[:SAID])
    others = objects.also_called(first, objects.find(first).rows)
    ids = [some(objects.ids(np.array(others.get(name, []), dtype=np.int64)).to_pylist()) for name in first]
    named = ", ".join(f"{quoted(name)} (others: {each})" for name, each in zip(first, ids, strict=True) if each)
    more = f" and {len(shared) - SAID:,} more" if len(shared) > SAID else ""
    one = len(shared) == 1
    return (
        f"{len(shared):,} name{' of the query is the name' if one else 's of the query are names'} of other objects "
        f"too, and the one whose id it is was taken: {named}{more}; give an id to mean another"
    )


def known_rows(objects: Objects, values: Sequence[Any]) -> list[int]:
    """Return the rows of the first of some values: texts, and whole numbers where ids are such; -1 where none is it.

    A value that names several objects has -2.
    """
    keys = [key_of(value) for value in values[:ASKED]]
    named = [place for place, key in enumerate(keys) if isinstance(key, str) or (objects.whole and is_row(key))]
    texts = [_text(keys[place]) for place in named]
    found = objects.find(texts)
    several = set(found.ambiguous)
    rows = [UNKNOWN] * len(keys)
    for place, text, row in zip(named, texts, found.rows.tolist(), strict=True):
        rows[place] = SEVERAL if text in several else row
    return rows


def _check_meant(objects: Objects, keys: Sequence[int]) -> None:
    """Raise where row numbers may be meant as ids: where one of the first is also the id of another object."""
    texts = {str(key): key for key in keys[:LOOKED_AT] if abs(key) < MOST}
    for text, row in objects.has_ids(list(texts)).items():
        if row != texts[text]:
            raise QueryError(
                f"query gives {text}, a row number where ids are texts, and the cube has an object {text!r}: "
                f"give ids as texts, such as {text!r}, and rows as Query(rows)"
            )


def _lost(
    objects: Objects, missing: tuple[str, ...], ambiguous: tuple[str, ...], numbers: Mapping[str, int], asked: int
) -> Message:
    """Return what is missing of so many that were asked for; ``numbers`` are the keys that were given as such.

    A number that is like another was not meant for it.
    """
    parts: list[object] = []
    if missing:
        near = [(key, objects.near(key)) for key in missing[:3] if not key.isdigit()]
        hints = ", ".join(f"{quoted(names[0])} for {quoted(key)}" for key, names in near if names)
        plural = "1 object that is" if len(missing) == 1 else f"{len(missing):,} objects that are"
        parts.append(
            f"query names {plural} not in the cube: {some([numbers.get(key, key) for key in missing])}"
            + (f" (did you mean {hints}?)" if hints else "")
        )
        if 3 < len(missing) < asked:
            parts += [" (", SKIP_MISSING, ")"]
    if ambiguous:
        plural = (
            "1 name that several objects bear"
            if len(ambiguous) == 1
            else (f"{len(ambiguous):,} names that several objects bear")
        )
        ids = some(objects.bearers(ambiguous[0]))
        parts += ["; "] if missing else []
        parts.append(f"query gives {plural}: {some(ambiguous)} (use an id, for {quoted(ambiguous[0])} {ids})")
    return Message(*parts)


def _elsewhere(objects: Objects, missing: Sequence[str]) -> Message | str:
    """Return which attribute of the objects holds most of what is missing, as the end of a sentence."""
    wanted = pa.array(list(filter(is_text, missing[:LOOKED_AT])), pa.string())
    for name in objects.attributes.column_names:
        column = objects.attributes[name]
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            held = pc.sum(pc.is_in(wanted, value_set=pc.cast(column, pa.string()).combine_chunks())).as_py() or 0
            if len(wanted) and held > 0.5 * len(wanted):
                column_of = name.removesuffix("_attribute")
                return Message(
                    f"; the attribute {name!r} of objects has them, and they are names once the cube is built with ",
                    Setting("columns", {"name": column_of}),
                )
    return ""


def said_of_items(
    dimensions: Sequence[Dimension], items: Callable[[], ItemIndex] | None, missing: Sequence[str]
) -> str:
    """Return, as the end of a sentence, that all that is missing are labels or another attribute of items.

    Nothing where that is not so, or where the attributes of items are not kept.
    """
    wanted = set(missing)
    end = "has them, and a query names objects"
    for dimension in dimensions:
        for level in dimension.levels:
            if wanted <= set(level.labels):
                return f"; the attribute {level.name!r} of items {end}"
    texts = pa.array(list(filter(is_text, missing)), pa.string())
    if items is None or len(texts) < len(missing):
        return ""
    with suppress(Cube2netError):
        index = items()
        table = pa.table({}) if index.load_attributes is None else index.kept_attributes.table
        for name in table.column_names:
            kind = table[name].type
            if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
                held = pc.is_in(texts, value_set=pc.cast(table[name], pa.string()).combine_chunks())
                if pc.all(held).as_py():
                    return f"; the attribute {name!r} of items {end}"
    return ""


def _text(key: str | int) -> str:
    return key.strip() if isinstance(key, str) else quoted(key)
