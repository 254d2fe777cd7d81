"""Recognise the ends, weights and times of links, and columns that refer to other rows of their table."""

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
"""Minimum share of the values of each end of a single table of links that also occur at the other end."""
MIN_RISING_ROWS = 20
"""In at least this many rows, whole numbers that only increase are row numbers."""
NUMBERING_WORDS = ("id", "nr", "no", "key", "code")
WORD_PATTERN = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+")
NAME_SEPARATORS = (";", "|", "\n", ",", "/")
MIN_REFERENCE_SHARE, MIN_NUMBER_REFERENCE_SHARE = 0.8, 0.95
"""Minimum share of names, or numbers, in a column that are those of rows. Amounts match some keys by chance."""
MIN_FULL_NAME_REFERENCE_SHARE = 0.5
"""Minimum share for names of two or more words, which hardly match by chance. Some managers are not in the table."""
MAX_REFERENCE_COLUMNS = 100
MAX_SELF_REFERENCE_SHARE = 0.5
MAX_INVERTED_WORDS = 6
TRAILING_NOTE = re.compile(r"\s*\([^()]*\)$")


def is_weight(rows: Rows, name: str) -> bool:
    """Return whether a column holds numbers of 0 or more that are not years, ids or row numbers."""
    column = _first_rows(rows, name)
    if holds_text(column.type):
        parsed = parse_numbers(clean_texts(pc.cast(column, pa.string())), rows.formats)
        if parsed is None:
            return False
        column = parsed.column
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
    """Return whether whole numbers are ids by the name of their column, or increase from row to row."""
    if (values != np.floor(values)).any():
        return False
    steps = np.diff(values)
    is_counter = len(values) > 2 and values[0] in (0, 1) and bool((steps == 1).all())
    return is_number_name(name) or is_counter or (len(values) >= MIN_RISING_ROWS and bool((steps > 0).all()))


def is_number_name(name: str) -> bool:
    """Return whether the name of a column says that it holds ids or code numbers.

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
        if parse_dates(texts, rows.formats) is not None:
            return True
        parsed = parse_numbers(texts, rows.formats) if name in rows.untyped else None
        if parsed is None:
            return False
        column = parsed.column
    return (
        pa.types.is_integer(column.type) and parse_timestamps(name, pc.cast(column, pa.int64(), safe=False)) is not None
    )


def _first_rows(rows: Rows, name: str) -> pa.ChunkedArray:
    return decode(rows.table[name].slice(0, MAX_SAMPLED_ROWS))


def find_link_ends(rows: Rows) -> tuple[str, str] | None:
    """Return two columns that share values: the first two of the table, else the pair that shares most."""
    candidates = [name for name in rows.table.column_names[:MAX_KEY_COLUMNS] if may_be_end(rows, name)]
    if len(candidates) < 2:
        return None
    samples = {name: sample_keys(rows, name) for name in candidates}
    ids = {name: read_ids(rows, name) for name in candidates}

    def compute_shared_share(pair: tuple[str, str]) -> float:
        sides = ((samples[name], ids[other_name]) for name, other_name in (pair, pair[::-1]))
        return min(0.0 if values is None else share_in(values, other_ids) for values, other_ids in sides)

    first_two = tuple(rows.table.column_names[:2])
    pairs = sorted(combinations(candidates, 2), key=lambda pair: pair != first_two)
    is_first = pairs[0] == first_two and compute_shared_share(pairs[0]) >= MIN_SHARE_ON_OTHER_SIDE
    best = pairs[0] if is_first else max(pairs, key=compute_shared_share)
    return best if compute_shared_share(best) >= MIN_SHARE_ON_OTHER_SIDE else None


def may_be_end(rows: Rows, name: str) -> bool:
    """Return whether a column may be an end of links: it holds texts or whole numbers, but no times."""
    column = _first_rows(rows, name)
    if not (holds_text(column.type) or pa.types.is_integer(column.type)) or is_time(rows, name):
        return False
    parsed = parse_numbers(clean_texts(pc.cast(column, pa.string())), rows.formats)
    return parsed is None or bool(pa.types.is_integer(parsed.column.type))


# Columns that name other rows


def fold_name(text: str) -> str:
    """Return a name in lower case, with single spaces between words and after commas."""
    return " ".join(text.replace(",", ", ").split()).replace(" ,", ",").casefold()


def invert_name(name: str) -> list[str]:
    """Return a name as "last, first" for every way to split it, or as "first last" if it has a comma.

    >>> invert_name("eva süß"), invert_name("von der heide, jan")
    (['süß, eva'], ['jan von der heide'])
    """
    last, comma, first = name.partition(", ")
    if comma:
        return [f"{first} {last}"]
    words = name.split()
    splits = range(1, len(words) if len(words) <= MAX_INVERTED_WORDS else 1)
    return [f"{' '.join(words[split:])}, {' '.join(words[:split])}" for split in splits]


def _index_ids(rows: Rows, key: str, name: str | None) -> dict[str, str]:
    """Return the ids of rows by everything that identifies a single row: id, name and inverted name."""
    ids = read_ids(rows, key).to_pylist()
    names = ids if name is None else read_ids(rows, name).to_pylist()
    by_name: dict[str, set[str]] = {}
    by_inverted_name: dict[str, set[str]] = {}
    for row_id, row_name in zip(ids, names, strict=True):
        if row_id is not None and row_name is not None:
            by_name.setdefault(fold_name(row_name), set()).add(row_id)
            for inverted_name in invert_name(fold_name(row_name)):
                by_inverted_name.setdefault(inverted_name, set()).add(row_id)
    ids_by_name = {
        row_name: next(iter(row_ids))
        for row_name, row_ids in by_inverted_name.items()
        if len(row_ids) == 1 and row_name not in by_name
    }
    ids_by_name |= {row_name: next(iter(row_ids)) for row_name, row_ids in by_name.items() if len(row_ids) == 1}
    return ids_by_name | {fold_name(row_id): row_id for row_id in ids if row_id is not None}


def find_references(rows: Rows, key: str, name: str | None) -> dict[str, str]:
    """Return the columns that refer to other rows, with their separators (empty for one name per field)."""
    ids_by_name = _index_ids(rows, key, name)
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
            (row_id, value)
            for row_id, value in zip(ids, read_ids(rows, column).to_pylist(), strict=True)
            if value is not None
        ]
        numbers = [(row_id, value) for row_id, value in pairs if NUMBER_PATTERN.fullmatch(value)]
        texts = [value for _, value in pairs if not NUMBER_PATTERN.fullmatch(value)]
        if len(numbers) > len(texts) and _find_name_separator(texts, ids_by_name) is None:
            n_hits = sum(fold_name(value) in ids_by_name for _, value in numbers)
            n_self_references = sum(value == row_id for row_id, value in numbers)
            are_references = n_hits >= MIN_NUMBER_REFERENCE_SHARE * len(numbers)
            are_others = n_self_references <= MAX_SELF_REFERENCE_SHARE * len(numbers)
            if not (
                are_references
                and are_others
                and (is_likely_key(column, key) or _are_foreign_keys(column, key, ids_by_name))
            ):
                continue
        separator = _find_name_separator([value for _, value in pairs], ids_by_name)
        if separator is not None and not _refer_to_themselves(pairs, separator, ids_by_name):
            references[column] = separator
    return references


def read_given_reference(rows: Rows, key: str, name: str | None, column: str) -> dict[str, str]:
    """Return the given column of references, with the separator for which most names are those of rows."""
    if not column:
        return {}
    check_column(rows, "links.target", column)
    ids_by_name, values = _index_ids(rows, key, name), read_ids(rows, column).drop_null().to_pylist()
    n_hits = {
        separator: sum(
            _find_row(part, ids_by_name) is not None for value in values for part in _split(value, separator)
        )
        for separator in ("", *NAME_SEPARATORS)
    }
    best = max(n_hits, key=lambda separator: n_hits[separator])
    if not n_hits[best]:
        raise SourceError(
            f"{rows.name}: {column!r} is given as the names of other rows, and no value is an id or a name"
        )
    return {column: best}


def _find_name_separator(values: Sequence[str], ids_by_name: Mapping[str, str]) -> str | None:
    """Return the separator of names of rows in a field, empty for single names; None if the values are not names."""
    shares = {}
    for separator in ("", *NAME_SEPARATORS):
        names = [name for value in values for name in _split(value, separator)]
        if len(names) < 2:
            continue
        share = sum(_find_row(name, ids_by_name) is not None for name in names) / len(names)
        are_full = sum(" " in name for name in names) >= MIN_REFERENCE_SHARE * len(names)
        if share >= (MIN_FULL_NAME_REFERENCE_SHARE if are_full else MIN_REFERENCE_SHARE):
            shares[separator] = share
    return max(shares, key=shares.__getitem__, default=None)


def find_referred_column(rows: Rows, candidates: Sequence[str]) -> str | None:
    """Return the first candidate column of names that another column refers to, mostly from other rows."""
    text_columns = [
        name for name in rows.table.column_names[:MAX_KEY_COLUMNS] if holds_text(decode(rows.table[name]).type)
    ]
    if len(text_columns) < 2:
        return None
    sampled_rows = spread_rows(rows.table.num_rows, MAX_SAMPLED_ROWS)
    values = {name: read_ids(rows, name).take(sampled_rows).to_pylist() for name in text_columns}
    for candidate in candidates:
        ids_by_name, own_values = _index_ids(rows, candidate, None), values[candidate]
        for column in text_columns:
            pairs = [
                (own_value, value)
                for own_value, value in zip(own_values, values[column], strict=True)
                if value is not None
            ]
            separator = (
                None if column == candidate else _find_name_separator([value for _, value in pairs], ids_by_name)
            )
            if separator is not None and not _refer_to_themselves(pairs, separator, ids_by_name):
                return candidate
    return None


def _refer_to_themselves(
    pairs: Sequence[tuple[str | None, str]], separator: str, ids_by_name: Mapping[str, str]
) -> bool:
    """Return whether most names in a column are those of their own rows; ``pairs`` are ids and texts of rows."""
    references = [
        (row_id, _find_row(name, ids_by_name)) for row_id, value in pairs for name in _split(value, separator)
    ]
    n_self_references = sum(row_id is not None and row_id == referred_id for row_id, referred_id in references)
    return n_self_references > MAX_SELF_REFERENCE_SHARE * len(references)


def is_likely_key(column: str, key: str) -> bool:
    """Return whether the name of a column begins or ends with the words of the name of the key.

    >>> is_likely_key("manager_id", "id"), is_likely_key("Chef-Nr", "Nr."), is_likely_key("bossID", "id")
    (True, True, True)
    >>> is_likely_key("paid", "id"), is_likely_key("Hausnr", "Nr"), is_likely_key("age", "id")
    (False, False, False)
    """
    key_words, column_words = ([word.casefold() for word in WORD_PATTERN.findall(name)] for name in (key, column))
    ends = (column_words[-len(key_words) :], column_words[: len(key_words)])
    return column_words != key_words and bool(key_words) and key_words in ends


def _mentions_objects(column: str, key: str) -> bool:
    """Return whether the names of column and key are those of objects and of the records that mention them.

    >>> _mentions_objects("author_ids", "paper_id"), _mentions_objects("friend_ids", "person_id")
    (True, False)
    """
    roles = ROLE_NAMES["mentions"]
    return normalize_name(key) in roles["item"] and normalize_name(column).removesuffix("s") in roles["object"]


def _are_foreign_keys(column: str, key: str, ids_by_name: Mapping[str, str]) -> bool:
    """Return whether columns of numbers have similar names ("ManagerID", "EmpID") and keys that hardly match by chance.

    Keys that number the rows from 1 would match the numbers of departments, too.
    """
    last_words = [[word.casefold() for word in WORD_PATTERN.findall(name)][-1:] for name in (column, key)]
    min_key = min((int(row_id) for row_id in ids_by_name if row_id.isdecimal()), default=0)
    return last_words[0] == last_words[1] and is_number_name(key) and min_key > len(ids_by_name)


def _find_row(name: str, ids_by_name: Mapping[str, str]) -> str | None:
    """Return the id of the row with a name, which may be followed by a note, as in "pillow (>= 9)"."""
    row_id = ids_by_name.get(fold_name(name))
    return ids_by_name.get(fold_name(TRAILING_NOTE.sub("", name))) if row_id is None and name.endswith(")") else row_id


def _split(value: str, separator: str) -> list[str]:
    return [part for part_text in (value.split(separator) if separator else [value]) if (part := part_text.strip())]


def make_reference_links(rows: Rows, key: str, name: str | None, references: Mapping[str, str]) -> Rows:
    """Return the table of links that columns of references make; ``references`` maps columns to separators."""
    ids_by_name = _index_ids(rows, key, name)
    ids = read_ids(rows, key).to_pylist()
    links = [
        (row, _find_row(referred_name, ids_by_name) or referred_name)
        for column, separator in references.items()
        for row, value in enumerate(read_ids(rows, column).to_pylist())
        for referred_name in ([] if value is None else _split(value, separator))
    ]
    origins = [row for row, _ in links]
    target_column = ", ".join(references)
    columns = {
        key: pa.array([ids[row] for row in origins], pa.string()),
        f"{target_column}_" if target_column == key else target_column: pa.array(
            [target for _, target in links], pa.string()
        ),
    }
    return Rows(rows.name, pa.table(columns), lambda numbers: rows.places([origins[row] for row in numbers]))
