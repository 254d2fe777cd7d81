"""One table of nodes alone, as a spreadsheet of people is: who a row is, and which columns name other rows.

Words of a header go first (``ID``, ``Vorname``, ``Name``); else the name is the column that others refer to, or the
text beside a number of the row. A few odd rows, such as one without a number, decide nothing. A name may be put
together of several columns. Columns that name other rows (``knows``, ``manager``), one in a field or several, are the
links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.errors import listed
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows, check_column, keys
from cube2net.io.tables.dialects import LIKE_A_NUMBER
from cube2net.io.tables.key_columns import MOST_COLUMNS, MOSTLY_NAMES, is_unique, name_share, nearly_unique
from cube2net.io.tables.link_columns import (
    are_years,
    is_likely_key,
    is_numbering,
    links_of,
    references,
    referred_column,
    said_references,
)
from cube2net.io.tables.locale_values import as_numbers, likely_written, present
from cube2net.io.tables.table_roles import SPELLINGS, ColumnRole, TableRoles, is_sure, plain
from cube2net.model.corpus import decoded, holds_text

FIRST = ("vorname", "vornamen", "firstname", "givenname", "forename", "prenom", "prénom", "nombre", "nome", "voornaam")
LAST = (
    *("nachname", "familienname", "zuname", "lastname", "surname", "familyname", "nom", "apellido", "apellidos"),
    *("cognome", "sobrenome", "achternaam"),
)
BOTH = "Name"
"""What a column of names is called that was put together."""
NUMBER = "row"
"""What a column of ids is called where no other tells the rows apart."""
NUMBERS_OF_ROWS = ("nr", "no", "num", "nummer", "number", "lfdnr")
"""What a column is called that counts the rows, whose numbers others may refer to."""
MOST_JOINED = 3
CODE, MOSTLY_CODES = r"^[\pL0-9][\pL0-9_/#-]*$", 0.9
"""What numbers of rows look like, which have a digit as well: 10004, P017, K-4; nearly all do."""
MANY = 20
"""So many numbers that rise from row to row do not do so by chance; fewer rise by one."""


@dataclass(frozen=True, eq=False)
class NamedRows:
    """A table with the column that tells its rows apart, and the one that names them: None where no column is known."""

    rows: Rows
    key: str
    name: str | None
    name_parts: tuple[str, ...] = ()
    """The columns of which the name is put together, where it is."""
    created: tuple[str, ...] = ()
    """The columns that the table as it was read does not have: a name put together, the numbers of rows."""

    @property
    def columns(self) -> dict[str, str]:
        """Which column is what; a name that is the key as well is none of its own."""
        named = {} if self.name is None else {"nodes.name": "" if self.name == self.key else self.name}
        return {"nodes.id": self.key} | named


def named_rows(rows: Rows, given: Mapping[str, str], say: Callable[[str], None]) -> NamedRows:
    """Return a table with a column that tells its rows apart and one that names them, put together where need be."""
    for role in ("nodes.id", "id", "nodes.name", "name"):
        check_column(rows, role, given.get(role))
    key = given.get("nodes.id", given.get("id")) or sure_key(rows)
    called = given.get("nodes.name", given.get("name"))
    naming = [called] if called else [] if called is not None else _name_columns(rows, key)
    parts: tuple[str, ...] = ()
    number = key or _number_column(rows, naming)
    if called is None and not naming:
        naming = _first_that_tell(rows) if number is None else _beside_a_number(rows, number)
    if len(naming) > 1:
        parts = tuple(naming)
        rows, called = _joined(rows, naming, kept=key)
        say(f"{rows.name}: names are put together of {listed([repr(name) for name in naming])} (guessed)")
    elif naming:
        called = naming[0]
    created: tuple[str, ...] = (called,) if parts and called is not None else ()
    if key is None:
        before = rows.table.column_names
        rows, key = _with_key(rows, number, called or None, say)
        created += () if key in before else (key,)
    return NamedRows(rows, key, called, parts, created)


# Keys


def sure_key(rows: Rows) -> str | None:
    """Return the column that tells rows apart by its name and its values, or counts them for another that refers."""
    names = rows.table.column_names
    sure = [name for name in names if is_sure("nodes", "id", name)]
    sure += [
        name for name in names if plain(name) in NUMBERS_OF_ROWS and any(is_likely_key(one, name) for one in names)
    ]
    return next((name for name in sure if nearly_unique(rows, name) is not None), None)


def _number_column(rows: Rows, naming: Sequence[str]) -> str | None:
    """Return the column of the numbers of rows: before the name it is called so or rises, behind it both."""
    names: list[str] = rows.table.column_names[:MOST_COLUMNS]
    before = names.index(naming[0]) if naming and naming[0] in names else 1
    for place, name in enumerate(names):
        ids = nearly_unique(rows, name)
        if name in naming or ids is None or not _are_codes(ids, rows):
            continue
        said, rises = is_numbering(name), _rise(ids)
        if (place < before and (said or (rises and not _are_years(ids)))) or (said and rises):
            return name
    return None


def _are_codes(ids: pa.ChunkedArray, rows: Rows) -> bool:
    ids = ids.drop_null()
    coded = pc.and_(pc.match_substring_regex(ids, CODE), pc.match_substring_regex(ids, "[0-9]"))
    return (pc.sum(coded).as_py() or 0) >= MOSTLY_CODES * len(ids) and likely_written(ids, rows.written) != "dates"


def _rise(ids: pa.ChunkedArray) -> bool:
    """Return whether numbers rise from row to row, in a few rows by one."""
    ids = ids.drop_null()
    order = [(len(one), one) for one in ids.to_pylist()]
    if len(order) < 2 or any(one >= two for one, two in pairwise(order)):
        return False
    digits = pc.cast(pc.struct_field(pc.extract_regex(ids, r"(?P<n>[0-9]{1,18})\D*$"), "n"), pa.int64())
    steps = np.diff(digits.to_numpy().astype(np.float64))
    return len(order) >= MANY or bool((steps == 1).all())


def _are_years(ids: pa.ChunkedArray) -> bool:
    years = ids.drop_null()
    four = pc.all(pc.match_substring_regex(years, "^[0-9]{4}$")).as_py()
    return bool(four) and are_years(pc.cast(years, pa.int64()))


def _with_key(rows: Rows, number: str | None, called: str | None, say: Callable[[str], None]) -> tuple[Rows, str]:
    """Return a table with the column that tells its rows apart: their number, the name, another, or the row's own."""
    if number is not None:
        ids = keys(rows, number)
        if is_unique(ids):
            return rows, number
        filled = ids if called is None else pc.coalesce(ids, keys(rows, called))
        if is_unique(filled):
            say(f"{rows.name}: rows without a {number!r} are known by their name: {ids.null_count:,} (guessed)")
            table = rows.table.set_column(rows.table.column_names.index(number), number, filled)
            return replace(rows, table=table), number
    if called is not None and is_unique(keys(rows, called)):
        return rows, called
    for name in rows.table.column_names:
        if (found := nearly_unique(rows, name)) is not None and is_unique(found):
            return rows, name
    say(f"{rows.name}: no column tells the rows apart, so they are numbered (guessed)")
    key = unused(NUMBER, rows.table.column_names)
    numbers = pa.array(np.arange(1, rows.table.num_rows + 1))
    return replace(rows, table=rows.table.append_column(key, numbers)), key


# Names


def is_named_row(rows: Rows, others: Sequence[str]) -> bool:
    """Return whether a row is somebody by an id and a name, and ``others`` say more of them than these two."""
    key = sure_key(rows)
    named = [name for name in others if plain(name) in (*SPELLINGS["nodes"]["name"], *FIRST, *LAST)]
    return key is not None and bool(named) and bool(set(others) - {key, *named})


def _name_columns(rows: Rows, key: str | None) -> list[str]:
    """Return the columns that name a row: first and last name, one that is called so, or that others refer to."""
    by_letters = {plain(name): name for name in reversed(rows.table.column_names)}
    first = next((by_letters[word] for word in FIRST if word in by_letters), None)
    last = next((by_letters[word] for word in LAST if word in by_letters and by_letters[word] != first), None)
    if first is None and last is None:
        spelled = next((by_letters[word] for word in SPELLINGS["nodes"]["name"] if word in by_letters), None)
        if spelled is not None and nearly_unique(rows, spelled) is not None:
            return [spelled]
        different = [name for name in _texts(rows) if name != key and nearly_unique(rows, name) is not None]
        found = referred_column(rows, different) or spelled
        return [] if found is None else [found]
    named = by_letters.get("name")
    if last is None and named is not None and first is not None:
        last = named
    return [name for name in (first, last) if name is not None]


def _texts(rows: Rows) -> list[str]:
    """Return the columns of texts that are neither numbers nor dates."""
    names = rows.table.column_names[:MOST_COLUMNS]
    texts = [name for name in names if holds_text(decoded(rows.table[name]).type)]
    return [name for name in texts if not likely_written(keys(rows, name), rows.written)]


def _beside_a_number(rows: Rows, number: str) -> list[str]:
    """Return the column of names beside that of a number: the one nearest to unique, in a few rows of two words."""
    others = [name for name in rows.table.column_names[:MOST_COLUMNS] if name != number]
    for least in (2, 1):
        shares = {name: name_share(rows, name, least_words=least) for name in others}
        best = max(shares, key=shares.__getitem__, default=None)
        if best is not None and shares[best] >= (MOSTLY_NAMES, 0.0):
            return [best]
    return []


def _first_that_tell(rows: Rows) -> list[str]:
    """Return the first columns of short texts whose values together tell nearly all rows apart; none where none do."""
    texts = _texts(rows)
    if any(nearly_unique(rows, name) is not None for name in texts[:1]):
        return texts[:1]
    for count in range(2, min(MOST_JOINED, len(texts)) + 1):
        table, called = _joined(rows, texts[:count])
        if nearly_unique(table, called) is not None:
            return texts[:count]
    return []


def _joined(rows: Rows, columns: Sequence[str], kept: str | None = None) -> tuple[Rows, str]:
    """Return a table with one column of names instead of several, and what it is called; one of them may be kept."""
    parts = [pc.fill_null(keys(rows, name), "") for name in columns]
    names = pc.utf8_trim_whitespace(pc.binary_join_element_wise(*parts, " "))
    left = rows.table.drop_columns([name for name in columns if name != kept])
    called = unused(BOTH, left.column_names)
    return replace(rows, table=left.add_column(0, called, names), loose=rows.loose - set(columns)), called


def unused(name: str, taken: Sequence[str]) -> str:
    """Return a name that none of the others bears."""
    while name in taken:
        name += "_"
    return name


@dataclass(frozen=True, eq=False)
class SingleTable:
    """The nodes of one table and the links among them, each where there are any, and which column is what.

    ``references`` are the columns that name other rows, and ``name_parts`` those of which the name is put together.
    """

    nodes: Rows
    links: Rows | None
    columns: Mapping[str, str]
    references: tuple[str, ...]
    name_parts: tuple[str, ...]
    created: tuple[str, ...]
    """The columns of the nodes that the table as it was read does not have."""

    @property
    def tables(self) -> dict[str, Rows]:
        """The tables by what they are."""
        return {"nodes": self.nodes} | ({} if self.links is None else {"links": self.links})

    def roles(self, columns: Mapping[str, Mapping[str, str]]) -> TableRoles:
        """Return the roles of the columns that were read; ``columns`` are those of the nodes and links by role."""
        found = [ColumnRole("nodes", part, "nodes.name", is_name_part=True) for part in self.name_parts]
        for role, name in columns["nodes"].items():
            if name not in self.created:
                found.append(ColumnRole("nodes", name, f"nodes.{role}"))
        found += [ColumnRole("links", name, "links.target") for name in self.references]
        return TableRoles("single", tuple(found))


def first_row_is_data(rows: Rows) -> bool:
    """Return whether what was taken for the names of columns are values: they come again below, or are numbers."""
    again = [name for name in rows.table.column_names[:MOST_COLUMNS] if _comes_again(rows, name)]
    numbers = [name for name in rows.table.column_names if LIKE_A_NUMBER.fullmatch(name) and name.strip()]
    return len(again) + bool(again and numbers) > 1


def _comes_again(rows: Rows, name: str) -> bool:
    column = decoded(rows.table[name])
    if not holds_text(column.type):
        return False
    return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(pc.cast(column, pa.string())), name.strip())).as_py())


def names_other_rows(rows: Rows) -> bool:
    """Return whether a column of a table names other rows of it."""
    named = named_rows(rows, {}, lambda _: None)
    return bool(references(named.rows, named.key, named.name))


def single_table(rows: Rows, given: Mapping[str, str], say: Callable[[str], None]) -> SingleTable:
    """Return what one table of nodes holds; ``given`` says which column is what, and what is guessed is said."""
    named = named_rows(_without_empty_rows(rows, say), given, say)
    key, name = named.key, named.name or None
    said = given.get("links.target")
    referring = references(named.rows, key, name) if said is None else said_references(named.rows, key, name, said)
    if not referring:
        say(f"{rows.name}: no column names other rows, so there are no links: what is alike is together in cells alone")
        return SingleTable(named.rows, None, named.columns, (), named.name_parts, named.created)
    links = links_of(named.rows, key, name, referring)
    columns = list(referring)
    left = named.rows.table.drop_columns(columns)
    how = "guessed" if said is None else "given"
    say(f"{rows.name}: links are in {listed([repr(column) for column in columns])}, which names other rows ({how})")
    return SingleTable(
        replace(named.rows, table=left),
        links,
        {**named.columns, "links.source": links.table.column_names[0], "links.target": links.table.column_names[1]},
        tuple(columns),
        named.name_parts,
        named.created,
    )


def _without_empty_rows(rows: Rows, say: Callable[[str], None]) -> Rows:
    """Return a table without the rows that hold nothing, as stand at the end of many a sheet."""
    filled = np.zeros(rows.table.num_rows, dtype=bool)
    for column in rows.table.columns:
        filled |= pc.is_valid(column).to_numpy()
    if filled.all() or not filled.any():
        return rows
    kept = np.flatnonzero(filled)
    say(f"{rows.name}: rows without any value are passed over: {len(filled) - len(kept):,}")
    places = rows.places
    return replace(
        rows, table=rows.table.take(pa.array(kept)), places=lambda some: places([int(kept[row]) for row in some])
    )


REASON = "total rows"
WORDS = (
    *("summe", "gesamt", "gesamtsumme", "endsumme", "zwischensumme", "insgesamt", "ergebnis", "gesamtergebnis"),
    *("total", "totals", "subtotal", "sum", "grandtotal", "totale", "totaal", "suma", "somme", "totaux", "totalt"),
    *("razem", "celkem"),
)
"""What a total is called, in some languages."""
BESIDE = ("grand", "general", "général", "générale", "generale", "der", "die", "von", "of", "all", "alle", "aller")
"""What may stand beside such a word, as numbers and signs may."""
MOST_ROWS = 3
"""So many rows at the end may be totals."""
FEW_FILLED = 0.5
"""No more of the columns have a value in a row that is mostly empty."""
LEAST_ADDED, SURELY_ADDED = 2, 5
"""So many numbers add up to one below them; so many do not by chance."""
EXACTLY, ROUNDED = 1e-9, 1e-3
"""How far a sum may be off, as a share of it: by what numbers in a computer are, and by rounding of what was added."""
DIGITS = 6


def without_totals(rows: Rows, dropped: Dropped) -> Rows:
    """Return a table without the last rows that sum up the others, which are counted and said.

    Such a row is called a total and is mostly empty, or holds the sum of a column and is either. A row that is none
    of this is never left out.
    """
    kept = _filled_rows(rows)
    totals: list[int] = []
    while len(totals) < MOST_ROWS and len(kept) > LEAST_ADDED and _is_total(rows, kept):
        totals.append(int(kept[-1]))
        kept = kept[:-1]
    if not totals:
        return rows
    dropped.drop_rows(REASON, rows.places, totals[::-1], lambda row: f"{_shown(rows, row)} sums up the rows above")
    left = np.setdiff1d(np.arange(rows.table.num_rows), totals)
    places = rows.places
    return replace(
        rows, table=rows.table.take(pa.array(left)), places=lambda some: places([int(left[row]) for row in some])
    )


def _filled_rows(rows: Rows) -> Array:
    """Return the rows that hold anything."""
    filled = np.zeros(rows.table.num_rows, dtype=bool)
    for column in rows.table.columns:
        filled |= np.asarray(pc.is_valid(column))
    return np.flatnonzero(filled)


def _is_total(rows: Rows, kept: Array) -> bool:
    """Return whether the last of some rows sums up those before it."""
    last = int(kept[-1])
    values = {name: text for name in rows.table.column_names if (text := _text(rows, name, last))}
    if not values:
        return False
    used = [name for name in rows.table.column_names if rows.table[name].null_count < rows.table.num_rows]
    empty = len(values) <= FEW_FILLED * len(used)
    first = next(iter(values))
    called = _begins_with_total(values[first]) and _is_once(rows, first, last)
    if not (empty or called):
        return False
    sure = called and is_called_total(values[first])
    if sure and empty:
        return True
    added = max(_added(rows, name, kept) for name in values)
    return added >= (LEAST_ADDED if sure or (called and empty) else SURELY_ADDED)


def is_called_total(text: str) -> bool:
    """Return whether a text says that it stands before a total, and nothing more than a number or a date.

    >>> is_called_total("Summe:"), is_called_total("Gesamt 2024"), is_called_total("Total Bikes Ltd")
    (True, True, False)
    """
    words = _words(text)
    return bool(words) and any(word in WORDS for word in words) and set(words) <= {*WORDS, *BESIDE}


def _begins_with_total(text: str) -> bool:
    return any(word in WORDS for word in _words(text)[:2])


def _words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", text)]


def _is_once(rows: Rows, name: str, row: int) -> bool:
    """Return whether the value of a row comes in no other one: what comes again is a label of rows."""
    column = keys(rows, name) if holds_text(decoded(rows.table[name]).type) else None
    return column is not None and (pc.sum(pc.equal(column, column[row])).as_py() or 0) == 1


def _text(rows: Rows, name: str, row: int) -> str:
    value = decoded(rows.table[name].slice(row, 1))[0].as_py()
    return "" if value is None else str(value).strip()


def _shown(rows: Rows, row: int) -> str:
    return repr("; ".join(text for name in rows.table.column_names if (text := _text(rows, name, row)))[:60])


def _added(rows: Rows, name: str, kept: Sequence[int] | Array) -> int:
    """Return how many numbers of a column, none of them nought, add up to that of the last row; 0 where they do not."""
    column = decoded(rows.table[name]).take(pa.array(kept))
    if holds_text(column.type):
        texts = pc.cast(column, pa.string())
        read = as_numbers(present(texts), rows.written) if likely_written(texts, rows.written) == "numbers" else None
        if read is None:
            return 0
        column = read.column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        return 0
    numbers = np.asarray(pc.fill_null(pc.cast(column, pa.float64(), safe=False), np.nan))
    total, others = float(numbers[-1]), numbers[:-1][np.isfinite(numbers[:-1])]
    others = others[others != 0]
    if not np.isfinite(total) or len(others) < LEAST_ADDED or total == 0:
        return 0
    off, whole = abs(float(others.sum()) - total), float(np.abs(others).sum())
    rounding = 0.5 * _unit(others) * len(others)
    return len(others) if off <= max(EXACTLY * whole, min(rounding, ROUNDED * abs(total))) else 0


def _unit(numbers: Array) -> float:
    """Return the least step in which numbers are written: 1, 0.1, 0.01, …"""
    for digits in range(DIGITS):
        if np.allclose(numbers, np.round(numbers, digits), rtol=1e-12, atol=1e-9):
            return float(10.0**-digits)
    return float(10.0**-DIGITS)
