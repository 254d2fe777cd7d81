"""Columns of links: ends, weights and times of a table of links, and columns that name other rows of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import SourceError, some
from cube2net.io.tables.column_types import Rows, check_column, keys
from cube2net.io.tables.dialects import LIKE_A_NUMBER
from cube2net.io.tables.key_columns import MOST_COLUMNS, sample, share_of
from cube2net.io.tables.locale_values import as_clock, as_dates, as_numbers, present, spread_rows
from cube2net.io.tables.table_roles import SPELLINGS, Guess, plain
from cube2net.model.corpus import decoded, holds_text

ROLES = tuple(SPELLINGS["links"])
SAMPLED = 1_000
YEARS = (1500, 2100)
ALIKE = 0.1
"""So great a share of each end of links alone stands on the other side, too."""
MANY = 20
"""So many whole numbers that only rise count the links, or are their ids."""
NUMBERED = ("id", "nr", "no", "key", "code")
WORD = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+")


def with_link_columns(guess: Guess, rows: Rows) -> Guess:
    """Return a guess with the one column of numbers as the weight and the one of dates as the time.

    Of several none is taken: that is remarked, as are all columns that are not used.
    """
    if rows.table.num_rows == 0:
        return guess
    columns, remarks = dict(guess.columns), list(guess.remarks)
    fitting = {"time": is_time, "weight": is_weight}
    for role, fits in fitting.items():
        if role in columns or role in guess.given:
            continue
        others = {spelling for other in ROLES if other != role for spelling in SPELLINGS["links"][other]}
        free = [name for name in guess.left if name not in columns.values() and plain(name) not in others]
        likely = [name for name in free if fits(rows, name)]
        if len(likely) == 1:
            columns[role] = likely[0]
        elif likely:
            which = f"columns={{'links.{role}': {likely[0]!r}}}"
            remarks.append(f"{rows.name}: {some(likely)} could each be the {role}, so none is (say which: {which})")
    left = tuple(name for name in guess.left if name not in columns.values())
    if left:
        use = next((role for role in fitting if fitting[role](rows, left[0])), "kind")
        say = f"columns={{'links.{use}': {left[0]!r}}}"
        remarks.append(f"columns of links not used: {some(left, 20)} (each may be weight, kind or time: {say})")
    order = [role for role in ROLES if role in columns]
    return replace(guess, columns={role: columns[role] for role in order}, left=left, remarks=tuple(remarks))


def is_weight(rows: Rows, name: str) -> bool:
    """Return whether a column holds numbers that weigh: neither years nor ids, and no count of the rows."""
    column = _sample(rows, name)
    if holds_text(column.type):
        read = as_numbers(present(pc.cast(column, pa.string())), rows.written)
        if read is None:
            return False
        column = read.column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        return False
    if as_clock(name, column) is not None:
        return False
    values = pc.drop_null(pc.cast(column, pa.float64(), safe=False)).to_numpy()
    if len(values) == 0 or not np.isfinite(values).all() or values.min() < 0:
        return False
    years = (values >= YEARS[0]) & (values <= YEARS[1]) & (values == np.floor(values))
    return not (years.all() or _numbers_rows(name, values))


def are_years(column: pa.ChunkedArray) -> bool:
    """Return whether all values are whole numbers that years are; rows that are counted have such numbers too."""
    if not pa.types.is_integer(column.type) or column.null_count == len(column):
        return False
    ends = pc.min_max(column)
    return bool(ends["min"].as_py() >= YEARS[0] and ends["max"].as_py() <= YEARS[1])


def _numbers_rows(name: str, values: Array) -> bool:
    """Return whether whole numbers are ids by the name of their column, or rise from row to row."""
    if (values != np.floor(values)).any():
        return False
    if is_numbering(name):
        return True
    steps = np.diff(values)
    counts = len(values) > 2 and values[0] in (0, 1) and bool((steps == 1).all())
    return counts or (len(values) >= MANY and bool((steps > 0).all()))


def is_numbering(name: str) -> bool:
    """Return whether a column is called one of numbers that stand for something, as ids do.

    >>> is_numbering("Kd-Nr"), is_numbering("Kundennummer"), is_numbering("Menge")
    (True, True, False)
    """
    words = [plain(word) for word in WORD.findall(name)]
    return bool(words) and (words[-1] in NUMBERED or words[-1].endswith(("nr", "nummer", "number")))


def is_time(rows: Rows, name: str) -> bool:
    """Return whether a column holds dates, as the table writes them, or seconds since 1970."""
    column = _sample(rows, name)
    if pa.types.is_temporal(column.type):
        return bool(pa.types.is_date(column.type) or pa.types.is_timestamp(column.type))
    if holds_text(column.type):
        texts = present(pc.cast(column, pa.string()))
        if as_dates(texts, rows.written) is not None:
            return True
        read = as_numbers(texts, rows.written) if name in rows.loose else None
        if read is None:
            return False
        column = read.column
    return pa.types.is_integer(column.type) and as_clock(name, pc.cast(column, pa.int64(), safe=False)) is not None


def _sample(rows: Rows, name: str) -> pa.ChunkedArray:
    return decoded(rows.table[name].slice(0, SAMPLED))


# Links alone


def two_ends(rows: Rows) -> tuple[str, str] | None:
    """Return the two columns whose values stand on both sides: the first two, else those that share most."""
    free = [name for name in rows.table.column_names[:MOST_COLUMNS] if _may_be_an_end(rows, name)]
    if len(free) < 2:
        return None
    samples = {name: sample(rows, name) for name in free}
    every = {name: keys(rows, name) for name in free}

    def shared(pair: tuple[str, str]) -> float:
        sides = ((samples[one], every[other]) for one, other in (pair, pair[::-1]))
        return min(0.0 if values is None else share_of(values, ids) for values, ids in sides)

    first = tuple(rows.table.column_names[:2])
    pairs = sorted(combinations(free, 2), key=lambda pair: pair != first)
    best = pairs[0] if pairs[0] == first and shared(pairs[0]) >= ALIKE else max(pairs, key=shared)
    return best if shared(best) >= ALIKE else None


def _may_be_an_end(rows: Rows, name: str) -> bool:
    column = _sample(rows, name)
    if not (holds_text(column.type) or pa.types.is_integer(column.type)) or is_time(rows, name):
        return False
    read = as_numbers(present(pc.cast(column, pa.string())), rows.written)
    return read is None or bool(pa.types.is_integer(read.column.type))


PARTS = (";", "|", "\n", ",", "/")
"""What may stand between several names in one field."""
REFERS = 0.8
"""Such a share of the names in a column are those of rows, where it names other rows."""
NUMBERS_REFER = 0.95
"""Such a share are keys where a column of numbers names other rows: amounts hit some key, too."""
MOST_OWN = 0.5
"""Where a greater share of names or numbers are those of their own rows, they name no others."""
MOST_WORDS = 6
"""A text of more words is no name that may be turned round."""


def folded(text: str) -> str:
    """Return a name without what people write differently: space, capitals, the space around a comma."""
    return " ".join(text.replace(",", ", ").split()).replace(" ,", ",").casefold()


def _known(rows: Rows, key: str, name: str | None) -> dict[str, str]:
    """Return the ids of rows by whatever may name them: the id itself, or the name where only one row bears it.

    A name may be turned round by a comma.
    """
    ids = keys(rows, key).to_pylist()
    names = ids if name is None else keys(rows, name).to_pylist()
    turned: dict[str, set[str]] = {}
    bearers: dict[str, set[str]] = {}
    for one, called in zip(ids, names, strict=True):
        if one is not None and called is not None:
            bearers.setdefault(folded(called), set()).add(one)
            for other in in_other_order(folded(called)):
                turned.setdefault(other, set()).add(one)
    known = {called: next(iter(own)) for called, own in turned.items() if len(own) == 1 and called not in bearers}
    known |= {called: next(iter(own)) for called, own in bearers.items() if len(own) == 1}
    return known | {folded(one): one for one in ids if one is not None}


def in_other_order(name: str) -> list[str]:
    """Return a name in the other order: with a comma, wherever first and last name may be parted, or without.

    ``spelling.as_spoken`` goes one way only: from what somebody typed to the name that objects bear.

    >>> in_other_order("eva süß"), in_other_order("von der heide, jan")
    (['süß, eva'], ['jan von der heide'])
    """
    last, comma, first = name.partition(", ")
    if comma:
        return [f"{first} {last}"]
    words = name.split()
    parted = range(1, len(words) if len(words) <= MOST_WORDS else 1)
    return [f"{' '.join(words[at:])}, {' '.join(words[:at])}" for at in parted]


def references(rows: Rows, key: str, name: str | None) -> dict[str, str | None]:
    """Return the columns that name other rows, each with what parts several names in a field."""
    known = _known(rows, key, name)
    ids = keys(rows, key).to_pylist()
    found: dict[str, str | None] = {}
    for column in rows.table.column_names[:MOST_COLUMNS]:
        values = decoded(rows.table[column])
        if column in (key, name) or not (holds_text(values.type) or pa.types.is_integer(values.type)):
            continue
        own = keys(rows, column).to_pylist()
        filled = [value for value in own if value is not None]
        numbers = [value for value in filled if LIKE_A_NUMBER.fullmatch(value)]
        texts = [value for value in filled if not LIKE_A_NUMBER.fullmatch(value)]
        if len(numbers) > len(texts) and _separator(texts, known) is None:
            misses = sum(folded(value) not in known for value in numbers)
            itself = sum(value == one for value, one in zip(own, ids, strict=True) if value is not None)
            all_keys = misses <= (1 - NUMBERS_REFER) * len(numbers) and itself <= MOST_OWN * len(numbers)
            if not (all_keys and is_likely_key(column, key)):
                continue
        mark = _separator(filled, known)
        pairs = [(one, value) for one, value in zip(ids, own, strict=True) if value is not None]
        if mark is not None and not _name_themselves(pairs, mark, known):
            found[column] = mark or None
    return found


def said_references(rows: Rows, key: str, name: str | None, column: str) -> dict[str, str | None]:
    """Return the column that is said to name other rows with what parts its names; nothing where none is said to.

    What parts the names is the sign with which most of them are those of rows.
    """
    if not column:
        return {}
    check_column(rows, "links.target", column)
    known, values = _known(rows, key, name), [value for value in keys(rows, column).to_pylist() if value is not None]
    parted = {mark: [part for value in values for part in _parts(value, mark or None)] for mark in ("", *PARTS)}
    hits = {mark: sum(folded(part) in known for part in parts) for mark, parts in parted.items()}
    best = max(hits, key=lambda mark: hits[mark])
    if not hits[best]:
        raise SourceError(f"{rows.name}: {column!r} is said to name other rows, and no value of it is an id or a name")
    return {column: best or None}


def _separator(values: Sequence[str], known: Mapping[str, str]) -> str | None:
    """Return what parts several names of rows in a field, empty where nothing does; None where they are no names."""
    for mark in ("", *PARTS):
        parts = [part for value in values for part in _parts(value, mark or None)]
        if len(parts) > 1 and sum(folded(part) in known for part in parts) >= REFERS * len(parts):
            return mark
    return None


def referred_column(rows: Rows, candidates: Sequence[str]) -> str | None:
    """Return the first of some columns of names that another column refers to, from other rows than their own."""
    texts = [name for name in rows.table.column_names[:MOST_COLUMNS] if holds_text(decoded(rows.table[name]).type)]
    if len(texts) < 2:
        return None
    places = spread_rows(rows.table.num_rows, SAMPLED)
    values = {name: keys(rows, name).take(places).to_pylist() for name in texts}
    for candidate in candidates:
        known, own = _known(rows, candidate, None), values[candidate]
        for column in texts:
            pairs = [(one, value) for one, value in zip(own, values[column], strict=True) if value is not None]
            mark = None if column == candidate else _separator([value for _, value in pairs], known)
            if mark is not None and not _name_themselves(pairs, mark, known):
                return candidate
    return None


def _name_themselves(pairs: Sequence[tuple[str | None, str]], mark: str, known: Mapping[str, str]) -> bool:
    """Return whether most names in fields are those of their own rows, whose ids are beside the fields."""
    told = [(one, known.get(folded(part))) for one, value in pairs for part in _parts(value, mark or None)]
    return sum(one is not None and one == named for one, named in told) > MOST_OWN * len(told)


def is_likely_key(column: str, key: str) -> bool:
    """Return whether a column holds keys of rows by the words of its name: it ends or begins with those of the key.

    >>> is_likely_key("manager_id", "id"), is_likely_key("Chef-Nr", "Nr."), is_likely_key("bossID", "id")
    (True, True, True)
    >>> is_likely_key("paid", "id"), is_likely_key("Hausnr", "Nr"), is_likely_key("age", "id")
    (False, False, False)
    """
    own, other = ([word.casefold() for word in WORD.findall(name)] for name in (key, column))
    return other != own and bool(own) and own in (other[-len(own) :], other[: len(own)])


def _parts(value: str, mark: str | None) -> list[str]:
    return [part for each in ([value] if mark is None else value.split(mark)) if (part := each.strip())]


def links_of(rows: Rows, key: str, name: str | None, columns: Mapping[str, str | None]) -> Rows:
    """Return the links that columns make, as a table of their own, whose places are those of the rows."""
    known = _known(rows, key, name)
    ids = keys(rows, key).to_pylist()
    sources: list[str | None] = []
    targets: list[str] = []
    origins: list[int] = []
    for column, mark in columns.items():
        for row, value in enumerate(keys(rows, column).to_pylist()):
            for part in [] if value is None else _parts(value, mark):
                sources.append(ids[row])
                targets.append(known.get(folded(part), part))
                origins.append(row)
    places: Callable[[Sequence[int]], list[str]] = rows.places
    called = ", ".join(columns)
    named = f"{called}_" if called == key else called
    table = pa.table({key: pa.array(sources, pa.string()), named: pa.array(targets, pa.string())})
    return Rows(rows.name, table, lambda some: places([origins[row] for row in some]))
