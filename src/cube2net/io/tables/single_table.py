"""Read a single table of nodes, such as a spreadsheet of people: find its key, its name and references to other rows.

Column names are considered first (``ID``, ``Vorname``, ``Name``). Otherwise the name is the column to which others
refer, or the text next to the row number. A few irregular rows, such as one without a number, are tolerated. A name may
be joined from several columns. Columns with one or several names of other rows (``knows``, ``manager``) are the links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import join_names
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows, check_column, make_unused_name, read_ids
from cube2net.io.tables.dialects import NUMBER_PATTERN
from cube2net.io.tables.key_columns import (
    MAX_KEY_COLUMNS,
    MIN_NAME_SHARE,
    MIN_TEXT_WORDS,
    is_nearly_unique,
    is_unique,
    mean_words,
    name_share,
    nearly_unique_keys,
    sample_keys,
    share_in,
)
from cube2net.io.tables.link_columns import (
    are_years,
    find_references,
    find_referred_column,
    is_likely_key,
    is_number_name,
    make_reference_links,
    read_given_reference,
)
from cube2net.io.tables.locale_values import clean_texts, guess_value_type, parse_numbers
from cube2net.io.tables.table_roles import (
    ROLE_NAMES,
    ColumnRole,
    TableRoles,
    find_name,
    has_id_name,
    normalize_name,
)
from cube2net.model.corpus import decode, holds_text

FIRST_NAMES = (
    "vorname",
    "vornamen",
    "firstname",
    "givenname",
    "forename",
    "prenom",
    "prénom",
    "nombre",
    "nome",
    "voornaam",
)
LAST_NAMES = (
    *("nachname", "familienname", "zuname", "lastname", "surname", "familyname", "nom", "apellido", "apellidos"),
    *("cognome", "sobrenome", "achternaam"),
)
JOINED_NAME = "Name"
"""Name of the column of names that are joined from other columns."""
ROW_NUMBER_NAME = "row"
"""Name of the column of ids that is added if no column identifies the rows."""
NUMBER_COLUMN_NAMES = ("nr", "no", "num", "nummer", "number", "lfdnr")
"""Usual names of columns with row numbers, to which other columns may refer."""
MAX_JOINED_COLUMNS = 3
MAX_SHARED_VALUE_SHARE = 0.2
CODE_PATTERN, MIN_CODE_SHARE = r"^[\pL0-9][\pL0-9_/#-]*$", 0.9
"""The form of row codes, which also have a digit (10004, P017, K-4), and the minimum share of values of this form."""
MIN_RISING_ROWS = 20
"""In at least this many rows, numbers do not increase by chance; in fewer rows they must increase by one."""


@dataclass(frozen=True, eq=False)
class IdentifiedRows:
    """A table with the column that identifies its rows, and the column that names them, if any."""

    rows: Rows
    key: str
    name: str | None
    name_parts: tuple[str, ...] = ()
    """The columns that the name is joined from."""
    created: tuple[str, ...] = ()
    """The columns that were added: a joined name, row numbers."""

    @property
    def columns(self) -> dict[str, str]:
        """The columns by role; the name is empty if it is also the key."""
        name_role = {} if self.name is None else {"nodes.name": "" if self.name == self.key else self.name}
        return {"nodes.id": self.key} | name_role


def find_name_and_key(rows: Rows, given_columns: Mapping[str, str], report: Callable[[str], None]) -> IdentifiedRows:
    """Return a table with a column that identifies its rows and one that names them, added if necessary."""
    for role in ("nodes.id", "id", "nodes.name", "name"):
        check_column(rows, role, given_columns.get(role))
    key = given_columns.get("nodes.id", given_columns.get("id")) or find_key(rows)
    name = given_columns.get("nodes.name", given_columns.get("name"))
    name_columns = [name] if name else [] if name is not None else _find_name_columns(rows, key)
    name_parts: tuple[str, ...] = ()
    number_column = key or _find_number_column(rows, name_columns)
    if name is None and not name_columns:
        name_columns = (
            _find_distinct_texts(rows) if number_column is None else _find_name_beside_number(rows, number_column)
        )
    if len(name_columns) > 1:
        name_parts = tuple(name_columns)
        rows, name = _join_columns(rows, name_columns, kept_column=key)
        report(f"{rows.name}: names are joined from {join_names([repr(name) for name in name_columns])} (guessed)")
    elif name_columns:
        name = name_columns[0]
    created_columns: tuple[str, ...] = (name,) if name_parts and name is not None else ()
    if key is None:
        original_columns = rows.table.column_names
        rows, key = _ensure_key(rows, number_column, name or None, report)
        created_columns += () if key in original_columns else (key,)
    return IdentifiedRows(rows, key, name, name_parts, created_columns)


# Keys


def find_key(rows: Rows) -> str | None:
    """Return the column of ids by its name and values, or a column of row numbers to which another column refers."""
    names = rows.table.column_names
    candidates = [name for name in names if has_id_name("nodes", "id", name)]
    candidates += [
        name
        for name in names
        if normalize_name(name) in NUMBER_COLUMN_NAMES and any(is_likely_key(other, name) for other in names)
    ]
    return next((name for name in candidates if is_nearly_unique(rows, name)), None)


def _find_number_column(rows: Rows, name_columns: Sequence[str]) -> str | None:
    """Return the column of row numbers, which has a usual name or increases (both, if it is right of the name)."""
    names: list[str] = rows.table.column_names[:MAX_KEY_COLUMNS]
    name_position = names.index(name_columns[0]) if name_columns and name_columns[0] in names else 1
    for position, name in enumerate(names):
        ids = nearly_unique_keys(rows, name)
        if name in name_columns or ids is None or not _are_codes(ids, rows):
            continue
        has_name, is_increasing = is_number_name(name), _are_increasing(ids)
        if (position < name_position and (has_name or (is_increasing and not _are_years(ids)))) or (
            has_name and is_increasing
        ):
            return name
    return None


def _are_codes(ids: pa.ChunkedArray, rows: Rows) -> bool:
    ids = ids.drop_null()
    is_code = pc.and_(pc.match_substring_regex(ids, CODE_PATTERN), pc.match_substring_regex(ids, "[0-9]"))
    if (pc.sum(is_code).as_py() or 0) < MIN_CODE_SHARE * len(ids):
        return False
    return guess_value_type(ids, rows.formats) != "dates"


def _are_increasing(ids: pa.ChunkedArray) -> bool:
    """Return whether numbers increase from row to row; in a few rows, by one."""
    ids = ids.drop_null()
    sort_keys = [(len(value), value) for value in ids.to_pylist()]
    if len(sort_keys) < 2 or any(value >= next_value for value, next_value in pairwise(sort_keys)):
        return False
    digits = pc.cast(pc.struct_field(pc.extract_regex(ids, r"(?P<n>[0-9]{1,18})\D*$"), "n"), pa.int64())
    steps = np.diff(digits.to_numpy().astype(np.float64))
    return len(sort_keys) >= MIN_RISING_ROWS or bool((steps == 1).all())


def _are_years(ids: pa.ChunkedArray) -> bool:
    years = ids.drop_null()
    have_four_digits = pc.all(pc.match_substring_regex(years, "^[0-9]{4}$")).as_py()
    return bool(have_four_digits) and are_years(pc.cast(years, pa.int64()))


def _ensure_key(
    rows: Rows, number_column: str | None, name_column: str | None, report: Callable[[str], None]
) -> tuple[Rows, str]:
    """Return a table with the column that identifies its rows: number, name, any other, or an added one."""
    if number_column is not None:
        ids = read_ids(rows, number_column)
        if is_unique(ids):
            return rows, number_column
        filled_ids = ids if name_column is None else pc.coalesce(ids, read_ids(rows, name_column))
        if is_unique(filled_ids):
            report(f"{rows.name}: rows without {number_column!r} are identified by name: {ids.null_count:,} (guessed)")
            table = rows.table.set_column(rows.table.column_names.index(number_column), number_column, filled_ids)
            return replace(rows, table=table), number_column
    if name_column is not None and is_unique(read_ids(rows, name_column)):
        return rows, name_column
    for name in rows.table.column_names:
        if (ids := nearly_unique_keys(rows, name)) is not None and is_unique(ids):
            return rows, name
    report(f"{rows.name}: no column tells the rows apart, so they are numbered (guessed)")
    key = make_unused_name(ROW_NUMBER_NAME, rows.table.column_names)
    numbers = pa.array(np.arange(1, rows.table.num_rows + 1))
    return replace(rows, table=rows.table.append_column(key, numbers)), key


# Names


def has_named_rows(rows: Rows, other_columns: Sequence[str]) -> bool:
    """Return whether rows have an id and a name, and ``other_columns`` hold more than these two."""
    key = find_key(rows)
    names = (*ROLE_NAMES["nodes"]["name"], *FIRST_NAMES, *LAST_NAMES)
    name_columns = [name for name in other_columns if normalize_name(name) in names]
    return key is not None and bool(name_columns) and bool(set(other_columns) - {key, *name_columns})


def _find_name_columns(rows: Rows, key: str | None) -> list[str]:
    """Return the columns that name a row: first and last name, a column named so, or one to which others refer."""
    names = rows.table.column_names
    first_name = find_name(names, FIRST_NAMES)
    last_name = find_name([name for name in names if name != first_name], LAST_NAMES)
    if first_name is not None or last_name is not None:
        last_name = last_name or find_name([name for name in names if name != first_name], ("name",))
        return [name for name in (first_name, last_name) if name is not None]
    usual_name = find_name(names, ROLE_NAMES["nodes"]["name"])
    if usual_name is not None and is_nearly_unique(rows, usual_name):
        return [usual_name]
    unique_columns = [name for name in _find_text_columns(rows) if name != key and is_nearly_unique(rows, name)]
    name_column = find_referred_column(rows, unique_columns) or usual_name
    return [] if name_column is None else [name_column]


def _find_text_columns(rows: Rows) -> list[str]:
    names = rows.table.column_names[:MAX_KEY_COLUMNS]
    texts = [name for name in names if holds_text(decode(rows.table[name]).type)]
    return [name for name in texts if not guess_value_type(read_ids(rows, name), rows.formats)]


def _find_name_beside_number(rows: Rows, number_column: str) -> list[str]:
    """Return the column of names for a column of numbers: the most distinct one, with two words if rows are few."""
    candidates = [name for name in rows.table.column_names[:MAX_KEY_COLUMNS] if name != number_column]
    for min_words in (2, 1):
        shares = {name: name_share(rows, name, least_words=min_words) for name in candidates}
        best = max(shares, key=shares.__getitem__, default=None)
        if best is not None and shares[best] >= (MIN_NAME_SHARE, 0.0):
            return [best]
    return []


def _find_distinct_texts(rows: Rows) -> list[str]:
    """Return the first columns of short texts whose values together identify nearly all rows, if any do."""
    columns = _find_text_columns(rows)
    if columns and is_nearly_unique(rows, columns[0]):
        return columns[:1]
    columns = [name for name in columns if mean_words(rows.table[name]) < MIN_TEXT_WORDS]
    for count in range(2, min(MAX_JOINED_COLUMNS, len(columns)) + 1):
        if _have_shared_values(rows, columns[:count]):
            return []
        if is_nearly_unique(*_join_columns(rows, columns[:count])):
            return columns[:count]
    return []


def _have_shared_values(rows: Rows, columns: Sequence[str]) -> bool:
    """Return whether two columns share values, as columns of people do, unlike the parts of a name."""
    samples = [sample for name in columns if (sample := sample_keys(rows, name)) is not None]
    return any(
        share_in(sample, other_sample) > MAX_SHARED_VALUE_SHARE for sample, other_sample in permutations(samples, 2)
    )


def _join_columns(rows: Rows, columns: Sequence[str], kept_column: str | None = None) -> tuple[Rows, str]:
    """Return a table in which several columns are joined to one, and its name; one of them may be kept."""
    parts = [pc.fill_null(read_ids(rows, name), "") for name in columns]
    names = pc.utf8_trim_whitespace(pc.binary_join_element_wise(*parts, " "))
    remaining = rows.table.drop_columns([name for name in columns if name != kept_column])
    joined_name = make_unused_name(JOINED_NAME, remaining.column_names)
    table = remaining.add_column(0, joined_name, names)
    return replace(rows, table=table, untyped=rows.untyped - set(columns)), joined_name


@dataclass(frozen=True, eq=False)
class SingleTable:
    """The nodes of one table, the links between them if there are any, and the columns by role.

    ``references`` are the columns that name other rows, and ``name_parts`` those from which the name is joined.
    ``created`` are the columns of the nodes that are not in the table itself.
    """

    nodes: Rows
    links: Rows | None
    columns: Mapping[str, str]
    references: tuple[str, ...]
    name_parts: tuple[str, ...]
    created: tuple[str, ...]

    @property
    def tables(self) -> dict[str, Rows]:
        """The rows of each table."""
        return {"nodes": self.nodes} | ({} if self.links is None else {"links": self.links})

    def roles(self, columns: Mapping[str, str]) -> TableRoles:
        """Return the roles of the columns of the table; ``columns`` are those of the nodes by role."""
        roles = [ColumnRole("nodes", part, "nodes.name", is_name_part=True) for part in self.name_parts]
        roles += [
            ColumnRole("nodes", name, f"nodes.{role}") for role, name in columns.items() if name not in self.created
        ]
        roles += [ColumnRole("links", name, "links.target") for name in self.references]
        return TableRoles("single", tuple(roles))


def is_first_row_data(rows: Rows) -> bool:
    """Return whether the names of columns are values: they are repeated in the rows, or are numbers."""
    names = rows.table.column_names
    repeated_names = [name for name in names[:MAX_KEY_COLUMNS] if _is_repeated_below(rows, name)]
    number_names = [name for name in names if NUMBER_PATTERN.fullmatch(name) and name.strip()]
    return len(repeated_names) + bool(repeated_names and number_names) > 1


def _is_repeated_below(rows: Rows, name: str) -> bool:
    column = decode(rows.table[name])
    if not holds_text(column.type):
        return False
    return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(pc.cast(column, pa.string())), name.strip())).as_py())


def has_references(rows: Rows) -> bool:
    """Return whether a column of a table names other rows of it."""
    identified = find_name_and_key(rows, {}, lambda _: None)
    return bool(find_references(identified.rows, identified.key, identified.name))


def split_single_table(rows: Rows, given_columns: Mapping[str, str], report: Callable[[str], None]) -> SingleTable:
    """Return the nodes and links of one table; ``given_columns`` are columns by role, and guesses are reported."""
    identified = find_name_and_key(_drop_empty_rows(rows, report), given_columns, report)
    rows, key, name = identified.rows, identified.key, identified.name or None
    target = given_columns.get("links.target")
    references = find_references(rows, key, name) if target is None else read_given_reference(rows, key, name, target)
    columns, links = identified.columns, None
    if references:
        links = make_reference_links(rows, key, name, references)
        columns |= dict(zip(("links.source", "links.target"), links.table.column_names, strict=True))
        source = "guessed" if target is None else "given"
        report(f"{rows.name}: links are in {join_names(map(repr, references))}, which names other rows ({source})")
    nodes = replace(rows, table=rows.table.drop_columns(list(references)))
    return SingleTable(nodes, links, columns, tuple(references), identified.name_parts, identified.created)


def _drop_empty_rows(rows: Rows, report: Callable[[str], None]) -> Rows:
    """Return a table without empty rows, which are common at the end of sheets."""
    filled_rows = _find_filled_rows(rows)
    if len(filled_rows) in (0, rows.table.num_rows):
        return rows
    report(f"{rows.name}: rows without any value are left out: {rows.table.num_rows - len(filled_rows):,}")
    return rows.take(filled_rows)


# Rows of totals


TOTAL_WORDS = (
    *("summe", "gesamt", "gesamtsumme", "endsumme", "zwischensumme", "insgesamt", "ergebnis", "gesamtergebnis"),
    *("total", "totals", "subtotal", "sum", "grandtotal", "totale", "totaal", "suma", "somme", "totaux", "totalt"),
    *("razem", "celkem"),
)
TOTAL_MODIFIERS = (
    "grand",
    "general",
    "général",
    "générale",
    "generale",
    "der",
    "die",
    "von",
    "of",
    "all",
    "alle",
    "aller",
)
"""Words that may accompany a word for a total, like numbers and punctuation."""
MAX_TOTAL_ROWS = 3
MAX_FILLED_SHARE = 0.5
"""Maximum share of the columns that have a value in a row that is mostly empty."""
MIN_SUMMANDS, MIN_UNLABELED_SUMMANDS = 2, 5
"""Minimum count of numbers that add up to a total, with and without a label that says so."""
MAX_SUM_ERROR, MAX_ROUNDING_ERROR = 1e-9, 1e-3
"""Maximum relative errors of a sum: of floating-point numbers, and of rounded summands."""
MAX_DECIMAL_DIGITS = 6


def drop_totals(rows: Rows, dropped: Dropped) -> Rows:
    """Return a table without trailing rows of totals, which are counted as dropped.

    Such a row is labelled as a total and mostly empty, or is one of these and holds the sum of a column.
    """
    remaining_rows = _find_filled_rows(rows)
    total_rows: list[int] = []
    while len(total_rows) < MAX_TOTAL_ROWS and len(remaining_rows) > MIN_SUMMANDS and _is_total(rows, remaining_rows):
        total_rows.append(int(remaining_rows[-1]))
        remaining_rows = remaining_rows[:-1]
    if not total_rows:
        return rows
    dropped.drop_rows(
        "total rows", rows.places, total_rows[::-1], lambda row: f"{_format_row(rows, row)} sums up the rows above"
    )
    return rows.take(np.setdiff1d(np.arange(rows.table.num_rows), total_rows))


def _find_filled_rows(rows: Rows) -> Array:
    filled = np.zeros(rows.table.num_rows, dtype=bool)
    for column in rows.table.columns:
        filled |= np.asarray(pc.is_valid(column))
    return np.flatnonzero(filled)


def _is_total(rows: Rows, remaining_rows: Array) -> bool:
    last_row = int(remaining_rows[-1])
    texts = {name: text for name in rows.table.column_names if (text := _read_text(rows, name, last_row))}
    if not texts:
        return False
    used_columns = [name for name in rows.table.column_names if rows.table[name].null_count < rows.table.num_rows]
    is_mostly_empty = len(texts) <= MAX_FILLED_SHARE * len(used_columns)
    first_column = next(iter(texts))
    has_total_label = _begins_with_total(texts[first_column]) and _is_distinct_value(rows, first_column, last_row)
    if not (is_mostly_empty or has_total_label):
        return False
    is_plain_label = has_total_label and is_total_label(texts[first_column])
    if is_plain_label and is_mostly_empty:
        return True
    n_summands = max(_count_summands(rows, name, remaining_rows) for name in texts)
    is_labeled = is_plain_label or (has_total_label and is_mostly_empty)
    return n_summands >= (MIN_SUMMANDS if is_labeled else MIN_UNLABELED_SUMMANDS)


def is_total_label(text: str) -> bool:
    """Return whether a text is a label of a total, apart from numbers and dates.

    >>> is_total_label("Summe:"), is_total_label("Gesamt 2024"), is_total_label("Total Bikes Ltd")
    (True, True, False)
    """
    words = _split_words(text)
    return bool(words) and any(word in TOTAL_WORDS for word in words) and set(words) <= {*TOTAL_WORDS, *TOTAL_MODIFIERS}


def _begins_with_total(text: str) -> bool:
    return any(word in TOTAL_WORDS for word in _split_words(text)[:2])


def _split_words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", text)]


def _is_distinct_value(rows: Rows, name: str, row: int) -> bool:
    """Return whether the value of a row is in no other row; repeated values are labels."""
    column = read_ids(rows, name) if holds_text(decode(rows.table[name]).type) else None
    return column is not None and (pc.sum(pc.equal(column, column[row])).as_py() or 0) == 1


def _read_text(rows: Rows, name: str, row: int) -> str:
    value = decode(rows.table[name].slice(row, 1))[0].as_py()
    return "" if value is None else str(value).strip()


def _format_row(rows: Rows, row: int) -> str:
    return repr("; ".join(text for name in rows.table.column_names if (text := _read_text(rows, name, row)))[:60])


def _count_summands(rows: Rows, name: str, remaining_rows: Sequence[int] | Array) -> int:
    """Return how many nonzero numbers of a column add up to that of the last row; 0 if they do not."""
    column = decode(rows.table[name]).take(pa.array(remaining_rows))
    if holds_text(column.type):
        texts = pc.cast(column, pa.string())
        parsed = (
            parse_numbers(clean_texts(texts), rows.formats)
            if guess_value_type(texts, rows.formats) == "numbers"
            else None
        )
        if parsed is None:
            return 0
        column = parsed.column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        return 0
    numbers = np.asarray(pc.fill_null(pc.cast(column, pa.float64(), safe=False), np.nan))
    total, summands = float(numbers[-1]), numbers[:-1][np.isfinite(numbers[:-1])]
    summands = summands[summands != 0]
    if not np.isfinite(total) or len(summands) < MIN_SUMMANDS or total == 0:
        return 0
    error, magnitude = abs(float(summands.sum()) - total), float(np.abs(summands).sum())
    rounding = 0.5 * _find_decimal_step(summands) * len(summands)
    max_error = max(MAX_SUM_ERROR * magnitude, min(rounding, MAX_ROUNDING_ERROR * abs(total)))
    return len(summands) if error <= max_error else 0


def _find_decimal_step(numbers: Array) -> float:
    """Return the smallest decimal step of numbers: 1, 0.1, 0.01, …"""
    for digits in range(MAX_DECIMAL_DIGITS):
        if np.allclose(numbers, np.round(numbers, digits), rtol=1e-12, atol=1e-9):
            return float(10.0**-digits)
    return float(10.0**-MAX_DECIMAL_DIGITS)
