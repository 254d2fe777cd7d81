"""Columns of links: ends, weights and times of a table of links, and columns that name other rows of their table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import SourceError
from cube2net.io.tables.column_types import Rows, check_column, read_ids
from cube2net.io.tables.dialects import NUMBER_PATTERN
from cube2net.io.tables.key_columns import MAX_KEY_COLUMNS, sample_keys, share_in
from cube2net.io.tables.locale_values import clean_texts, parse_dates, parse_numbers, parse_timestamps, spread_rows
from cube2net.io.tables.table_roles import ROLE_NAMES, normalize_name
from cube2net.model.corpus import decode, holds_text

MAX_SAMPLED_ROWS = 1_000
FIRST_YEAR, LAST_YEAR = 1500, 2100
MIN_SHARE_ON_OTHER_SIDE = 0.1
"""Share of each end of a single table of links that also stands at the other end."""
MIN_RISING_ROWS = 20
"""In so many rows, whole numbers that only rise are numbers of rows."""
NUMBERING_WORDS = ("id", "nr", "no", "key", "code")
WORD_PATTERN = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+")
NAME_SEPARATORS = (";", "|", "\n", ",", "/")
MIN_REFERENCE_SHARE, MIN_NUMBER_REFERENCE_SHARE = 0.8, 0.95
"""Share of the names, or numbers, in a column that are those of rows. Amounts match some keys by chance."""
MIN_FULL_NAME_REFERENCE_SHARE = 0.5
"""Share of names of two words or more, which hardly match by chance: some managers are not in the table themselves."""
MAX_REFERENCE_COLUMNS = 100
MAX_SELF_REFERENCE_SHARE = 0.5
MAX_INVERTED_WORDS = 6
TRAILING_NOTE = re.compile(r"\s*\([^()]*\)$")


def is_weight(rows: Rows, name: str) -> bool:
    """Return whether a column holds numbers of 0 or more that are no years, ids or numbers of rows."""
    column = _first_rows(rows, name)
    if holds_text(column.type):
        read = parse_numbers(clean_texts(pc.cast(column, pa.string())), rows.written)
        if read is None:
            return False
        column = read.column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        return False
    if parse_timestamps(name, column) is not None:
        return False
    values = pc.drop_null(pc.cast(column, pa.float64(), safe=False)).to_numpy()
    if len(values) == 0 or not np.isfinite(values).all() or values.min() < 0:
        return False
    years = (values >= FIRST_YEAR) & (values <= LAST_YEAR) & (values == np.floor(values))
    return not (years.all() or _are_row_numbers(name, values))


def are_years(column: pa.ChunkedArray) -> bool:
    """Return whether all values are whole numbers in the range of years."""
    if not pa.types.is_integer(column.type) or column.null_count == len(column):
        return False
    ends = pc.min_max(column)
    return bool(ends["min"].as_py() >= FIRST_YEAR and ends["max"].as_py() <= LAST_YEAR)


def _are_row_numbers(name: str, values: Array) -> bool:
    """Return whether whole numbers are ids by the name of their column, or rise from row to row."""
    if (values != np.floor(values)).any():
        return False
    steps = np.diff(values)
    is_count = len(values) > 2 and values[0] in (0, 1) and bool((steps == 1).all())
    return is_number_name(name) or is_count or (len(values) >= MIN_RISING_ROWS and bool((steps > 0).all()))


def is_number_name(name: str) -> bool:
    """Return whether a column is named as one of ids or of numbers that stand for something.

    >>> is_number_name("Kd-Nr"), is_number_name("Kundennummer"), is_number_name("Menge")
    (True, True, False)
    """
    words = [normalize_name(word) for word in WORD_PATTERN.findall(name)]
    return bool(words) and (words[-1] in NUMBERING_WORDS or words[-1].endswith(("nr", "nummer", "number")))


def is_time(rows: Rows, name: str) -> bool:
    """Return whether a column holds dates, or seconds since 1970."""
    column = _first_rows(rows, name)
    if pa.types.is_temporal(column.type):
        return bool(pa.types.is_date(column.type) or pa.types.is_timestamp(column.type))
    if holds_text(column.type):
        texts = clean_texts(pc.cast(column, pa.string()))
        if parse_dates(texts, rows.written) is not None:
            return True
        read = parse_numbers(texts, rows.written) if name in rows.loose else None
        if read is None:
            return False
        column = read.column
    return (
        pa.types.is_integer(column.type) and parse_timestamps(name, pc.cast(column, pa.int64(), safe=False)) is not None
    )


def _first_rows(rows: Rows, name: str) -> pa.ChunkedArray:
    return decode(rows.table[name].slice(0, MAX_SAMPLED_ROWS))


def find_link_ends(rows: Rows) -> tuple[str, str] | None:
    """Return two columns that share values: the first two of the table, else those that share most."""
    free = [name for name in rows.table.column_names[:MAX_KEY_COLUMNS] if may_be_end(rows, name)]
    if len(free) < 2:
        return None
    samples = {name: sample_keys(rows, name) for name in free}
    ids = {name: read_ids(rows, name) for name in free}

    def shared(pair: tuple[str, str]) -> float:
        sides = ((samples[one], ids[other]) for one, other in (pair, pair[::-1]))
        return min(0.0 if values is None else share_in(values, known) for values, known in sides)

    first = tuple(rows.table.column_names[:2])
    pairs = sorted(combinations(free, 2), key=lambda pair: pair != first)
    is_first = pairs[0] == first and shared(pairs[0]) >= MIN_SHARE_ON_OTHER_SIDE
    best = pairs[0] if is_first else max(pairs, key=shared)
    return best if shared(best) >= MIN_SHARE_ON_OTHER_SIDE else None


def may_be_end(rows: Rows, name: str) -> bool:
    """Return whether a column may be an end of links: it holds texts or whole numbers, and no times."""
    column = _first_rows(rows, name)
    if not (holds_text(column.type) or pa.types.is_integer(column.type)) or is_time(rows, name):
        return False
    read = parse_numbers(clean_texts(pc.cast(column, pa.string())), rows.written)
    return read is None or bool(pa.types.is_integer(read.column.type))


# Columns that name other rows


def fold_name(text: str) -> str:
    """Return a name in lower case with single spaces, also around commas."""
    return " ".join(text.replace(",", ", ").split()).replace(" ,", ",").casefold()


def invert_name(name: str) -> list[str]:
    """Return a name as "last, first" for every way to split it, or as "first last" if it has a comma.

    ``spelling.as_spoken`` goes one way only: from what somebody typed to the name of an object.

    >>> invert_name("eva süß"), invert_name("von der heide, jan")
    (['süß, eva'], ['jan von der heide'])
    """
    last, comma, first = name.partition(", ")
    if comma:
        return [f"{first} {last}"]
    words = name.split()
    splits = range(1, len(words) if len(words) <= MAX_INVERTED_WORDS else 1)
    return [f"{' '.join(words[at:])}, {' '.join(words[:at])}" for at in splits]


def _ids_by_name(rows: Rows, key: str, name: str | None) -> dict[str, str]:
    """Return the ids of rows by all that names one row alone: the id, its name, its name inverted."""
    ids = read_ids(rows, key).to_pylist()
    names = ids if name is None else read_ids(rows, name).to_pylist()
    by_name: dict[str, set[str]] = {}
    inverted: dict[str, set[str]] = {}
    for one, called in zip(ids, names, strict=True):
        if one is not None and called is not None:
            by_name.setdefault(fold_name(called), set()).add(one)
            for other in invert_name(fold_name(called)):
                inverted.setdefault(other, set()).add(one)
    known = {called: next(iter(own)) for called, own in inverted.items() if len(own) == 1 and called not in by_name}
    known |= {called: next(iter(own)) for called, own in by_name.items() if len(own) == 1}
    return known | {fold_name(one): one for one in ids if one is not None}


def find_references(rows: Rows, key: str, name: str | None) -> dict[str, str]:
    """Return the columns that name other rows, each with the separator of its names (empty for one name a field)."""
    known = _ids_by_name(rows, key, name)
    ids = read_ids(rows, key).to_pylist()
    references: dict[str, str] = {}
    for column in rows.table.column_names[:MAX_REFERENCE_COLUMNS]:
        values = decode(rows.table[column])
        if (
            column in (key, name)
            or _mentions_objects(column, key)
            or not (holds_text(values.type) or pa.types.is_integer(values.type))
        ):
            continue
        pairs = [
            (one, value)
            for one, value in zip(ids, read_ids(rows, column).to_pylist(), strict=True)
            if value is not None
        ]
        numbers = [(one, value) for one, value in pairs if NUMBER_PATTERN.fullmatch(value)]
        texts = [value for _, value in pairs if not NUMBER_PATTERN.fullmatch(value)]
        if len(numbers) > len(texts) and _find_name_separator(texts, known) is None:
            hits = sum(fold_name(value) in known for _, value in numbers)
            itself = sum(value == one for one, value in numbers)
            are_keys = hits >= MIN_NUMBER_REFERENCE_SHARE * len(numbers) and itself <= MAX_SELF_REFERENCE_SHARE * len(
                numbers
            )
            if not (are_keys and (is_likely_key(column, key) or _are_foreign_keys(column, key, known))):
                continue
        separator = _find_name_separator([value for _, value in pairs], known)
        if separator is not None and not _refer_to_themselves(pairs, separator, known):
            references[column] = separator
    return references


def read_given_reference(rows: Rows, key: str, name: str | None, column: str) -> dict[str, str]:
    """Return the column that the caller says names other rows, with the separator for which most names are known."""
    if not column:
        return {}
    check_column(rows, "links.target", column)
    known, values = _ids_by_name(rows, key, name), read_ids(rows, column).drop_null().to_pylist()
    hits = {
        separator: sum(_find_row(part, known) is not None for value in values for part in _split(value, separator))
        for separator in ("", *NAME_SEPARATORS)
    }
    best = max(hits, key=lambda separator: hits[separator])
    if not hits[best]:
        raise SourceError(
            f"{rows.name}: {column!r} is given as the names of other rows, and no value is an id or a name"
        )
    return {column: best}


def _find_name_separator(values: Sequence[str], known: Mapping[str, str]) -> str | None:
    """Return the separator of names of rows in a field, empty where there is one name; None where they are no names."""
    shares = {}
    for separator in ("", *NAME_SEPARATORS):
        parts = [part for value in values for part in _split(value, separator)]
        if len(parts) < 2:
            continue
        share = sum(_find_row(part, known) is not None for part in parts) / len(parts)
        are_full = sum(" " in part for part in parts) >= MIN_REFERENCE_SHARE * len(parts)
        if share >= (MIN_FULL_NAME_REFERENCE_SHARE if are_full else MIN_REFERENCE_SHARE):
            shares[separator] = share
    return max(shares, key=shares.__getitem__, default=None)


def find_referred_column(rows: Rows, candidates: Sequence[str]) -> str | None:
    """Return the first of some columns of names that another column refers to, from other rows than their own."""
    texts = [name for name in rows.table.column_names[:MAX_KEY_COLUMNS] if holds_text(decode(rows.table[name]).type)]
    if len(texts) < 2:
        return None
    places = spread_rows(rows.table.num_rows, MAX_SAMPLED_ROWS)
    values = {name: read_ids(rows, name).take(places).to_pylist() for name in texts}
    for candidate in candidates:
        known, own = _ids_by_name(rows, candidate, None), values[candidate]
        for column in texts:
            pairs = [(one, value) for one, value in zip(own, values[column], strict=True) if value is not None]
            separator = None if column == candidate else _find_name_separator([value for _, value in pairs], known)
            if separator is not None and not _refer_to_themselves(pairs, separator, known):
                return candidate
    return None


def _refer_to_themselves(pairs: Sequence[tuple[str | None, str]], separator: str, known: Mapping[str, str]) -> bool:
    """Return whether most names in a column are those of their own rows; pairs are the id and the text of a row."""
    named = [(one, _find_row(part, known)) for one, value in pairs for part in _split(value, separator)]
    return sum(one is not None and one == other for one, other in named) > MAX_SELF_REFERENCE_SHARE * len(named)


def is_likely_key(column: str, key: str) -> bool:
    """Return whether the name of a column begins or ends with the words of that of the key.

    >>> is_likely_key("manager_id", "id"), is_likely_key("Chef-Nr", "Nr."), is_likely_key("bossID", "id")
    (True, True, True)
    >>> is_likely_key("paid", "id"), is_likely_key("Hausnr", "Nr"), is_likely_key("age", "id")
    (False, False, False)
    """
    own, other = ([word.casefold() for word in WORD_PATTERN.findall(name)] for name in (key, column))
    return other != own and bool(own) and own in (other[-len(own) :], other[: len(own)])


def _mentions_objects(column: str, key: str) -> bool:
    """Return whether a column is named as one of the objects in the records that the key is named after.

    >>> _mentions_objects("author_ids", "paper_id"), _mentions_objects("friend_ids", "person_id")
    (True, False)
    """
    roles = ROLE_NAMES["mentions"]
    return normalize_name(key) in roles["item"] and normalize_name(column).removesuffix("s") in roles["object"]


def _are_foreign_keys(column: str, key: str, known: Mapping[str, str]) -> bool:
    """Return whether columns of numbers are named alike ("ManagerID", "EmpID"), and the keys hardly match by chance.

    Keys that count the rows from 1 would match the numbers of departments, too.
    """
    last = [[word.casefold() for word in WORD_PATTERN.findall(name)][-1:] for name in (column, key)]
    least = min((int(one) for one in known if one.isdecimal()), default=0)
    return last[0] == last[1] and is_number_name(key) and least > len(known)


def _find_row(name: str, known: Mapping[str, str]) -> str | None:
    """Return the id of the row that a name stands for, with or without a note behind it, as in "pillow (>= 9)"."""
    row = known.get(fold_name(name))
    return known.get(fold_name(TRAILING_NOTE.sub("", name))) if row is None and name.endswith(")") else row


def _split(value: str, separator: str) -> list[str]:
    return [part for each in (value.split(separator) if separator else [value]) if (part := each.strip())]


def make_reference_links(rows: Rows, key: str, name: str | None, references: Mapping[str, str]) -> Rows:
    """Return the links that columns with names of other rows make, as a table; ``references`` has the separators."""
    known = _ids_by_name(rows, key, name)
    ids = read_ids(rows, key).to_pylist()
    links = [
        (row, _find_row(part, known) or part)
        for column, separator in references.items()
        for row, value in enumerate(read_ids(rows, column).to_pylist())
        for part in ([] if value is None else _split(value, separator))
    ]
    origins = [row for row, _ in links]
    called = ", ".join(references)
    columns = {
        key: pa.array([ids[row] for row in origins], pa.string()),
        f"{called}_" if called == key else called: pa.array([target for _, target in links], pa.string()),
    }
    return Rows(rows.name, pa.table(columns), lambda some: rows.places([origins[row] for row in some]))
