"""A single table of nodes, such as a spreadsheet of people: key, name and columns that name other rows.

Names of columns decide first (``ID``, ``Vorname``, ``Name``); else the name is the column that others refer to, or the
text beside the number of a row. A few odd rows, such as one without a number, decide nothing. A name may be joined
from several columns. Columns that name other rows (``knows``, ``manager``), one in a field or several, are the links.
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
"""Name of a column of names that was joined from others."""
ROW_NUMBER = "row"
"""Name of the column of ids where no column tells the rows apart."""
NUMBER_NAMES = ("nr", "no", "num", "nummer", "number", "lfdnr")
"""Usual names of columns that count the rows, to which others may refer."""
MAX_JOINED_COLUMNS = 3
MAX_SHARED_PARTS = 0.2
CODE, MIN_CODE_SHARE = r"^[\pL0-9][\pL0-9_/#-]*$", 0.9
"""The form of numbers of rows, which have a digit as well: 10004, P017, K-4."""
MIN_RISING_ROWS = 20
"""In so many rows numbers do not rise by chance; in fewer they must rise by one."""


@dataclass(frozen=True, eq=False)
class NamedRows:
    """A table with the column that tells its rows apart, and the one that names them, if any."""

    rows: Rows
    key: str
    name: str | None
    name_parts: tuple[str, ...] = ()
    """The columns that the name is joined from."""
    created: tuple[str, ...] = ()
    """The columns that were added: a joined name, numbers of rows."""

    @property
    def columns(self) -> dict[str, str]:
        """The columns by role; a name that is also the key is not named."""
        named = {} if self.name is None else {"nodes.name": "" if self.name == self.key else self.name}
        return {"nodes.id": self.key} | named


def named_rows(rows: Rows, given: Mapping[str, str], say: Callable[[str], None]) -> NamedRows:
    """Return a table with a column that tells its rows apart and one that names them, added where need be."""
    for role in ("nodes.id", "id", "nodes.name", "name"):
        check_column(rows, role, given.get(role))
    key = given.get("nodes.id", given.get("id")) or find_key(rows)
    called = given.get("nodes.name", given.get("name"))
    naming = [called] if called else [] if called is not None else _name_columns(rows, key)
    parts: tuple[str, ...] = ()
    number = key or _number_column(rows, naming)
    if called is None and not naming:
        naming = _first_distinct_texts(rows) if number is None else _name_beside(rows, number)
    if len(naming) > 1:
        parts = tuple(naming)
        rows, called = _join_columns(rows, naming, kept=key)
        say(f"{rows.name}: names are joined from {join_names([repr(name) for name in naming])} (guessed)")
    elif naming:
        called = naming[0]
    created: tuple[str, ...] = (called,) if parts and called is not None else ()
    if key is None:
        before = rows.table.column_names
        rows, key = _with_key(rows, number, called or None, say)
        created += () if key in before else (key,)
    return NamedRows(rows, key, called, parts, created)


# Keys


def find_key(rows: Rows) -> str | None:
    """Return the column of ids by its name and its values, or that of numbers of rows to which another refers."""
    names = rows.table.column_names
    candidates = [name for name in names if has_id_name("nodes", "id", name)]
    candidates += [
        name
        for name in names
        if normalize_name(name) in NUMBER_NAMES and any(is_likely_key(other, name) for other in names)
    ]
    return next((name for name in candidates if is_nearly_unique(rows, name)), None)


def _number_column(rows: Rows, naming: Sequence[str]) -> str | None:
    """Return the column of numbers of rows: before the name it has such a name or rises, behind it both."""
    names: list[str] = rows.table.column_names[:MAX_KEY_COLUMNS]
    before = names.index(naming[0]) if naming and naming[0] in names else 1
    for place, name in enumerate(names):
        ids = nearly_unique_keys(rows, name)
        if name in naming or ids is None or not _are_codes(ids, rows):
            continue
        has_name, rises = is_number_name(name), _rise(ids)
        if (place < before and (has_name or (rises and not _are_years(ids)))) or (has_name and rises):
            return name
    return None


def _are_codes(ids: pa.ChunkedArray, rows: Rows) -> bool:
    ids = ids.drop_null()
    coded = pc.and_(pc.match_substring_regex(ids, CODE), pc.match_substring_regex(ids, "[0-9]"))
    return (pc.sum(coded).as_py() or 0) >= MIN_CODE_SHARE * len(ids) and guess_value_type(ids, rows.formats) != "dates"


def _rise(ids: pa.ChunkedArray) -> bool:
    """Return whether numbers rise from row to row, in a few rows by one."""
    ids = ids.drop_null()
    order = [(len(one), one) for one in ids.to_pylist()]
    if len(order) < 2 or any(one >= two for one, two in pairwise(order)):
        return False
    digits = pc.cast(pc.struct_field(pc.extract_regex(ids, r"(?P<n>[0-9]{1,18})\D*$"), "n"), pa.int64())
    steps = np.diff(digits.to_numpy().astype(np.float64))
    return len(order) >= MIN_RISING_ROWS or bool((steps == 1).all())


def _are_years(ids: pa.ChunkedArray) -> bool:
    years = ids.drop_null()
    four = pc.all(pc.match_substring_regex(years, "^[0-9]{4}$")).as_py()
    return bool(four) and are_years(pc.cast(years, pa.int64()))


def _with_key(rows: Rows, number: str | None, called: str | None, say: Callable[[str], None]) -> tuple[Rows, str]:
    """Return a table with the column that tells its rows apart: number, name, any other, or one that is added."""
    if number is not None:
        ids = read_ids(rows, number)
        if is_unique(ids):
            return rows, number
        filled = ids if called is None else pc.coalesce(ids, read_ids(rows, called))
        if is_unique(filled):
            say(f"{rows.name}: rows without {number!r} are identified by name: {ids.null_count:,} (guessed)")
            table = rows.table.set_column(rows.table.column_names.index(number), number, filled)
            return replace(rows, table=table), number
    if called is not None and is_unique(read_ids(rows, called)):
        return rows, called
    for name in rows.table.column_names:
        if (ids := nearly_unique_keys(rows, name)) is not None and is_unique(ids):
            return rows, name
    say(f"{rows.name}: no column tells the rows apart, so they are numbered (guessed)")
    key = make_unused_name(ROW_NUMBER, rows.table.column_names)
    numbers = pa.array(np.arange(1, rows.table.num_rows + 1))
    return replace(rows, table=rows.table.append_column(key, numbers)), key


# Names


def is_named_row(rows: Rows, others: Sequence[str]) -> bool:
    """Return whether a row is somebody by an id and a name, and ``others`` say more of them than these two."""
    key = find_key(rows)
    names = (*ROLE_NAMES["nodes"]["name"], *FIRST_NAMES, *LAST_NAMES)
    named = [name for name in others if normalize_name(name) in names]
    return key is not None and bool(named) and bool(set(others) - {key, *named})


def _name_columns(rows: Rows, key: str | None) -> list[str]:
    """Return the columns that name a row: first and last name, one with such a name, or one that others refer to."""
    names = rows.table.column_names
    first = find_name(names, FIRST_NAMES)
    last = find_name([name for name in names if name != first], LAST_NAMES)
    if first is not None or last is not None:
        last = last or find_name([name for name in names if name != first], ("name",))
        return [name for name in (first, last) if name is not None]
    spelled = find_name(names, ROLE_NAMES["nodes"]["name"])
    if spelled is not None and is_nearly_unique(rows, spelled):
        return [spelled]
    distinct = [name for name in _text_columns(rows) if name != key and is_nearly_unique(rows, name)]
    found = find_referred_column(rows, distinct) or spelled
    return [] if found is None else [found]


def _text_columns(rows: Rows) -> list[str]:
    names = rows.table.column_names[:MAX_KEY_COLUMNS]
    texts = [name for name in names if holds_text(decode(rows.table[name]).type)]
    return [name for name in texts if not guess_value_type(read_ids(rows, name), rows.formats)]


def _name_beside(rows: Rows, number: str) -> list[str]:
    """Return the column of names beside that of numbers: the one nearest to unique, in a few rows of two words."""
    others = [name for name in rows.table.column_names[:MAX_KEY_COLUMNS] if name != number]
    for least in (2, 1):
        shares = {name: name_share(rows, name, least_words=least) for name in others}
        best = max(shares, key=shares.__getitem__, default=None)
        if best is not None and shares[best] >= (MIN_NAME_SHARE, 0.0):
            return [best]
    return []


def _first_distinct_texts(rows: Rows) -> list[str]:
    """Return the first columns of short texts whose values together tell nearly all rows apart, if any do."""
    texts = _text_columns(rows)
    if texts and is_nearly_unique(rows, texts[0]):
        return texts[:1]
    texts = [name for name in texts if mean_words(rows.table[name]) < MIN_TEXT_WORDS]
    for count in range(2, min(MAX_JOINED_COLUMNS, len(texts)) + 1):
        if _share_values(rows, texts[:count]):
            return []
        if is_nearly_unique(*_join_columns(rows, texts[:count])):
            return texts[:count]
    return []


def _share_values(rows: Rows, columns: Sequence[str]) -> bool:
    """Return whether two columns hold the same values, as those of several people do and parts of a name do not."""
    samples = [sample for name in columns if (sample := sample_keys(rows, name)) is not None]
    return any(share_in(one, other) > MAX_SHARED_PARTS for one, other in permutations(samples, 2))


def _join_columns(rows: Rows, columns: Sequence[str], kept: str | None = None) -> tuple[Rows, str]:
    """Return a table with one column of names instead of several, and its name; one of them may be kept."""
    parts = [pc.fill_null(read_ids(rows, name), "") for name in columns]
    names = pc.utf8_trim_whitespace(pc.binary_join_element_wise(*parts, " "))
    left = rows.table.drop_columns([name for name in columns if name != kept])
    called = make_unused_name(JOINED_NAME, left.column_names)
    return replace(rows, table=left.add_column(0, called, names), untyped=rows.untyped - set(columns)), called


@dataclass(frozen=True, eq=False)
class SingleTable:
    """The nodes of one table, the links among them if there are any, and the columns by role.

    ``references`` are the columns that name other rows, and ``name_parts`` those that the name is joined from.
    ``created`` are the columns of the nodes that the table does not have itself.
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
    """Return whether the names of columns are values: they come again below, or are numbers."""
    names = rows.table.column_names
    repeated = [name for name in names[:MAX_KEY_COLUMNS] if _comes_again(rows, name)]
    numbers = [name for name in names if NUMBER_PATTERN.fullmatch(name) and name.strip()]
    return len(repeated) + bool(repeated and numbers) > 1


def _comes_again(rows: Rows, name: str) -> bool:
    column = decode(rows.table[name])
    if not holds_text(column.type):
        return False
    return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(pc.cast(column, pa.string())), name.strip())).as_py())


def names_other_rows(rows: Rows) -> bool:
    """Return whether a column of a table names other rows of it."""
    named = named_rows(rows, {}, lambda _: None)
    return bool(find_references(named.rows, named.key, named.name))


def split_single_table(rows: Rows, given: Mapping[str, str], say: Callable[[str], None]) -> SingleTable:
    """Return the nodes and links of one table; ``given`` are columns by role, and guesses are remarked."""
    named = named_rows(_without_empty_rows(rows, say), given, say)
    rows, key, name = named.rows, named.key, named.name or None
    target = given.get("links.target")
    references = find_references(rows, key, name) if target is None else read_given_reference(rows, key, name, target)
    columns, links = named.columns, None
    if references:
        links = make_reference_links(rows, key, name, references)
        columns |= dict(zip(("links.source", "links.target"), links.table.column_names, strict=True))
        how = "guessed" if target is None else "given"
        say(f"{rows.name}: links are in {join_names(map(repr, references))}, which names other rows ({how})")
    nodes = replace(rows, table=rows.table.drop_columns(list(references)))
    return SingleTable(nodes, links, columns, tuple(references), named.name_parts, named.created)


def _without_empty_rows(rows: Rows, say: Callable[[str], None]) -> Rows:
    """Return a table without the rows that hold nothing, as stand at the end of many a sheet."""
    kept = _filled_rows(rows)
    if len(kept) in (0, rows.table.num_rows):
        return rows
    say(f"{rows.name}: rows without any value are left out: {rows.table.num_rows - len(kept):,}")
    return rows.take(kept)


# Rows of totals


TOTAL_WORDS = (
    *("summe", "gesamt", "gesamtsumme", "endsumme", "zwischensumme", "insgesamt", "ergebnis", "gesamtergebnis"),
    *("total", "totals", "subtotal", "sum", "grandtotal", "totale", "totaal", "suma", "somme", "totaux", "totalt"),
    *("razem", "celkem"),
)
TOTAL_ATTRIBUTES = (
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
"""Words that may stand beside a word for a total, as numbers and signs may."""
MAX_TOTAL_ROWS = 3
MAX_FILLED_SHARE = 0.5
"""Share of the columns that have a value in a row that is mostly empty."""
MIN_SUMMANDS, MIN_SURE_SUMMANDS = 2, 5
"""Numbers that add up to a total: at least, and where nothing else says that it is one."""
MAX_SUM_ERROR, MAX_ROUNDING_ERROR = 1e-9, 1e-3
"""Errors of a sum relative to it: of floating-point numbers, and of rounded summands."""
MAX_DIGITS = 6


def without_totals(rows: Rows, dropped: Dropped) -> Rows:
    """Return a table without the last rows that sum up the others, which are counted.

    Such a row is called a total and is mostly empty, or is one of these and holds the sum of a column.
    """
    kept = _filled_rows(rows)
    totals: list[int] = []
    while len(totals) < MAX_TOTAL_ROWS and len(kept) > MIN_SUMMANDS and _is_total(rows, kept):
        totals.append(int(kept[-1]))
        kept = kept[:-1]
    if not totals:
        return rows
    dropped.drop_rows(
        "total rows", rows.places, totals[::-1], lambda row: f"{_shown(rows, row)} sums up the rows above"
    )
    return rows.take(np.setdiff1d(np.arange(rows.table.num_rows), totals))


def _filled_rows(rows: Rows) -> Array:
    filled = np.zeros(rows.table.num_rows, dtype=bool)
    for column in rows.table.columns:
        filled |= np.asarray(pc.is_valid(column))
    return np.flatnonzero(filled)


def _is_total(rows: Rows, kept: Array) -> bool:
    last = int(kept[-1])
    values = {name: text for name in rows.table.column_names if (text := _text(rows, name, last))}
    if not values:
        return False
    used = [name for name in rows.table.column_names if rows.table[name].null_count < rows.table.num_rows]
    empty = len(values) <= MAX_FILLED_SHARE * len(used)
    first = next(iter(values))
    called = _begins_with_total(values[first]) and _is_once(rows, first, last)
    if not (empty or called):
        return False
    sure = called and is_called_total(values[first])
    if sure and empty:
        return True
    added = max(_count_summands(rows, name, kept) for name in values)
    return added >= (MIN_SUMMANDS if sure or (called and empty) else MIN_SURE_SUMMANDS)


def is_called_total(text: str) -> bool:
    """Return whether a text says that it stands before a total, and nothing more than a number or a date.

    >>> is_called_total("Summe:"), is_called_total("Gesamt 2024"), is_called_total("Total Bikes Ltd")
    (True, True, False)
    """
    words = _words(text)
    return (
        bool(words) and any(word in TOTAL_WORDS for word in words) and set(words) <= {*TOTAL_WORDS, *TOTAL_ATTRIBUTES}
    )


def _begins_with_total(text: str) -> bool:
    return any(word in TOTAL_WORDS for word in _words(text)[:2])


def _words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", text)]


def _is_once(rows: Rows, name: str, row: int) -> bool:
    """Return whether the value of a row comes in no other one: what comes again is a label of rows."""
    column = read_ids(rows, name) if holds_text(decode(rows.table[name]).type) else None
    return column is not None and (pc.sum(pc.equal(column, column[row])).as_py() or 0) == 1


def _text(rows: Rows, name: str, row: int) -> str:
    value = decode(rows.table[name].slice(row, 1))[0].as_py()
    return "" if value is None else str(value).strip()


def _shown(rows: Rows, row: int) -> str:
    return repr("; ".join(text for name in rows.table.column_names if (text := _text(rows, name, row)))[:60])


def _count_summands(rows: Rows, name: str, kept: Sequence[int] | Array) -> int:
    """Return how many numbers of a column other than 0 add up to that of the last row; 0 where they do not."""
    column = decode(rows.table[name]).take(pa.array(kept))
    if holds_text(column.type):
        texts = pc.cast(column, pa.string())
        read = (
            parse_numbers(clean_texts(texts), rows.formats)
            if guess_value_type(texts, rows.formats) == "numbers"
            else None
        )
        if read is None:
            return 0
        column = read.column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        return 0
    numbers = np.asarray(pc.fill_null(pc.cast(column, pa.float64(), safe=False), np.nan))
    total, others = float(numbers[-1]), numbers[:-1][np.isfinite(numbers[:-1])]
    others = others[others != 0]
    if not np.isfinite(total) or len(others) < MIN_SUMMANDS or total == 0:
        return 0
    off, whole = abs(float(others.sum()) - total), float(np.abs(others).sum())
    rounding = 0.5 * _unit(others) * len(others)
    return len(others) if off <= max(MAX_SUM_ERROR * whole, min(rounding, MAX_ROUNDING_ERROR * abs(total))) else 0


def _unit(numbers: Array) -> float:
    """Return the least step in which numbers are written: 1, 0.1, 0.01, …"""
    for digits in range(MAX_DIGITS):
        if np.allclose(numbers, np.round(numbers, digits), rtol=1e-12, atol=1e-9):
            return float(10.0**-digits)
    return float(10.0**-MAX_DIGITS)
