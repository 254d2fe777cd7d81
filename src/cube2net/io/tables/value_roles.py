"""Which column of a table is what, by its values where its name does not tell: ids are unique, ends of links are ids.

Names go first, as ``table_roles`` knows them, for a name that says it is not to be doubted; values decide the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import permutations

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.io.tables.column_types import Rows, keys
from cube2net.io.tables.key_columns import (
    MOST_COLUMNS,
    MOSTLY_NAMES,
    Ids,
    is_unique,
    name_share,
    nearly_unique,
    referred,
    sample,
    samples_of,
    share_of,
)
from cube2net.io.tables.link_columns import is_time, is_weight, two_ends, with_link_columns
from cube2net.io.tables.locale_values import spread_rows
from cube2net.io.tables.single_table import is_named_row
from cube2net.io.tables.table_roles import ROLE_OF, Guess, check_whole, is_sure, named_columns
from cube2net.model.corpus import holds_text

ORDER = ("nodes", "objects", "items", "mentions", "links", "labels", "terms")
IDS = {"nodes": "id", "objects": "id", "items": "item"}
SAMPLED = 1_000
MOST = 0.5
WORDS, LETTERS, DIFFERENT = 6, 40, 0.5
"""A text has so many words and letters on average, and so many of all texts differ."""


def roles_of(
    tables: Mapping[str, Rows], given: Mapping[str, str] | None = None, parted: Collection[str] = ()
) -> dict[str, Guess]:
    """Return which column of every table plays which role; what cannot be told is refused.

    Columns that are parted into several labels name nothing.
    """
    found: dict[str, Guess] = {}
    ids: dict[str, Ids] = {}
    for role in sorted(tables, key=ORDER.index):
        rows = tables[role]
        guess = named_columns(role, rows.table.column_names, given, called=rows.name)
        if role in IDS:
            guess = _with_text(_with_id(guess, rows, partial(_referring, role, tables)), rows)
            guess = _with_name(guess, rows, parted)
        elif role == "mentions":
            guess = _with_ends(guess, rows, {"item": ids.get("items"), "object": ids.get("objects")})
        elif role == "links":
            known = ids.get("nodes", ids.get("objects"))
            guess = with_link_columns(_with_ends(guess, rows, {"source": known, "target": known}), rows)
        check_whole(guess, rows.table.column_names, rows.name)
        if role in IDS:
            ids[role] = Ids(rows, guess.columns[IDS[role]])
        found[role] = guess
    return {role: found[role] for role in tables}


# Ids


def _referring(role: str, tables: Mapping[str, Rows]) -> list[pa.ChunkedArray]:
    """Return samples of the columns of the table whose values are ids of this one."""
    rows = tables.get("links" if role == "nodes" else "mentions")
    return [] if rows is None else samples_of(rows)


def _with_id(guess: Guess, rows: Rows, referring: Callable[[], list[pa.ChunkedArray]]) -> Guess:
    """Return a guess with the column of ids: one that says so by name, else unique values that others refer to."""
    role = IDS[guess.file]
    named = guess.columns.get(role)
    if role in guess.given or (named is not None and is_sure(guess.file, role, named)) or rows.table.num_rows == 0:
        return guess
    taken = [name for given, name in guess.items() if given in guess.given]
    free = [name for name in rows.table.column_names if name not in taken]
    found = {name: ids for name in free if (ids := nearly_unique(rows, name)) is not None}
    samples = referring() if found else []
    shares = {name: referred(ids, samples, 2 if guess.file == "nodes" else 1) for name, ids in found.items()}
    unique = {name: ids for name, ids in found.items() if is_unique(ids) or shares[name] >= MOST}
    if not unique:
        return guess
    best = max(unique, key=lambda name: (shares[name], is_unique(unique[name]), name == named))
    if best == named or (named in unique and shares[best] == shares[named]):
        return guess
    if named is None and shares[best] == 0 and samples:
        return guess
    fixed = {key: guess.columns.get(key, "") for key in guess.given} | {role: best}
    again = named_columns(guess.file, rows.table.column_names, fixed)
    return Guess(guess.file, again.columns, guess.given, again.left)


# Ends of links and mentions


def _with_ends(guess: Guess, rows: Rows, ids: Mapping[str, Ids | None]) -> Guess:
    """Return a guess with both ends: by name where they are ids, else two columns that are, else the only two."""
    names = rows.table.column_names
    wanted = list(ids)

    @cache
    def share(end: str, name: str) -> float:
        known = ids[end]
        return 0.0 if known is None else known.share(sample(rows, name))

    columns = dict(guess.columns)
    fixed = [end for end in wanted if _is_end(guess, rows, end, ids[end])]
    taken = [name for role, name in columns.items() if role in guess.given or role in fixed]
    free = [end for end in wanted if end not in fixed]
    if not any(ids.values()) and len(free) == 2 and len(names) > 3:
        columns |= dict(zip(free, two_ends(rows) or (), strict=False))
    if len(free) == 2 and ids[free[0]] is not ids[free[1]]:
        one, two = free
        pairs = [pair for pair in permutations(names[:MOST_COLUMNS], 2) if share(one, pair[0]) >= MOST]
        pairs = [pair for pair in pairs if share(two, pair[1]) >= MOST and not set(pair) & set(taken)]
        if pairs:
            columns[one], columns[two] = max(pairs, key=lambda pair: share(one, pair[0]) + share(two, pair[1]))
            free = []
    for end in free:
        likely = [name for name in names if name not in taken and share(end, name) >= MOST]
        if likely:
            best = sorted(likely, key=lambda name: -share(end, name))
            alike = [other for other in free[free.index(end) :] if ids[other] is ids[end]]
            columns[end] = min(best[: len(alike)], key=names.index)
        elif columns.get(end) is None and len(names) in (2, 3):
            called = [columns[other] for other in wanted if other in columns]
            first = [name for name in names[:2] if name not in (*taken, *called)]
            if first:
                columns[end] = first[0]
        if end in columns:
            taken.append(columns[end])
    moved = {role: name for role, name in columns.items() if role in wanted}
    columns = {role: name for role, name in columns.items() if role in wanted or name not in moved.values()}
    left = tuple(name for name in names if name not in columns.values())
    return Guess(guess.file, columns, guess.given, left)


def _is_end(guess: Guess, rows: Rows, end: str, ids: Ids | None) -> bool:
    """Return whether the column of an end is given, or is called so and not at odds with that by its values."""
    known = guess.columns.get(end)
    if end in guess.given or known is None:
        return end in guess.given
    return ids is None or rows.table.num_rows == 0 or ids.has_some(sample(rows, known))


# Texts


def _with_text(guess: Guess, rows: Rows) -> Guess:
    """Return a guess with the column of long texts, where no name says which it is; most words go first."""
    if "text" in (*guess.columns, *guess.given) or guess.file == "objects":
        return guess
    words = {name: _words(rows.table[name]) for name in guess.left if holds_text(rows.table[name].type)}
    best = max(words, key=words.__getitem__, default=None)
    if best is None or words[best] < WORDS:
        return guess
    left = tuple(name for name in guess.left if name != best)
    return Guess(guess.file, {**guess.columns, "text": best}, guess.given, left)


def _words(column: pa.ChunkedArray) -> float:
    """Return how many words a text has on average, 0 where they are short or often the same."""
    places = spread_rows(len(column), SAMPLED)
    texts = pc.drop_null(pc.cast(column.take(places), pa.string()))
    if len(texts) < 2 or len(texts) < MOST * len(places):
        return 0.0
    if pc.mean(pc.utf8_length(texts)).as_py() < LETTERS or pc.count_distinct(texts).as_py() < DIFFERENT * len(texts):
        return 0.0
    return float(pc.mean(pc.count_substring_regex(texts, r"[\pL]{2,}")).as_py())


# Names


def _with_name(guess: Guess, rows: Rows, parted: Collection[str]) -> Guess:
    """Return a guess with the column of short texts that is nearest to unique, where no name says which it is."""
    if "name" in (*guess.columns, *guess.given) or guess.file == "items" or rows.table.num_rows < 2:
        return guess
    shares = {name: name_share(rows, name) for name in guess.left if name not in parted}
    best = max(shares, key=shares.__getitem__, default=None)
    if best is None or shares[best] < (MOSTLY_NAMES, 0):
        return guess
    left = tuple(name for name in guess.left if name != best)
    return replace(guess, columns={**guess.columns, "name": best}, left=left)


# One table alone


def are_links_by_name(rows: Rows, called: str, given: Mapping[str, str], *, nodes_first: bool = False) -> bool:
    """Return whether a table that comes alone is called links, or names both of their ends.

    With ``nodes_first`` ends that are only guessed give way where a row is somebody, by an id and a name.
    """
    guess = named_columns("links", rows.table.column_names, given, called=rows.name)
    if ROLE_OF.get(called.casefold()) == "links":
        return True
    if not {"source", "target"} <= set(guess.columns):
        return False
    return {"source", "target"} <= set(guess.given) or not (nodes_first and is_named_row(rows, guess.left))


def are_links_by_values(rows: Rows) -> bool:
    """Return whether a table links what two of its columns hold: the first two where a third weighs or dates them.

    What is linked stands on both sides, or comes again on either. In a wider table it stands on both, often, and no
    column tells the rows apart, as an id does.
    """
    names = rows.table.column_names
    if len(names) < 2 or rows.table.num_rows == 0 or any(is_sure("nodes", "id", name) for name in names):
        return False
    if len(names) > 3:
        told = [name for name in names[:20] if not (is_weight(rows, name) or is_time(rows, name))]
        return two_ends(rows) is not None and all(nearly_unique(rows, name) is None for name in told)
    if len(names) == 3 and not (is_weight(rows, names[2]) or is_time(rows, names[2])):
        return False
    one, other = (sample(rows, name) for name in names[:2])
    if one is None or other is None:
        return False
    alike = share_of(one, keys(rows, names[1])) > 0 and share_of(other, keys(rows, names[0])) > 0
    repeated = all(pc.count_distinct(ends).as_py() < len(ends) for ends in (one, other))
    return alike or repeated
