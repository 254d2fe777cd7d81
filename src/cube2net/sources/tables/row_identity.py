"""Who a row of a table is: the column that tells rows apart, and the one that names them.

Words of a header go first (``ID``, ``Vorname``, ``Name``); else the name is the column that others refer to, or the
text beside a number of the row. A few odd rows, such as one without a number, decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import listed
from cube2net.records.column_kinds import decoded, holds_text
from cube2net.sources.tables.column_types import Rows, check_column, keys
from cube2net.sources.tables.id_columns import MOST_COLUMNS, is_unique, nearly_unique
from cube2net.sources.tables.link_columns import are_years, is_numbering
from cube2net.sources.tables.name_columns import MOSTLY_NAMES, name_share
from cube2net.sources.tables.row_references import is_likely_key, referred_column
from cube2net.sources.tables.table_roles import SPELLINGS, is_sure, plain
from cube2net.sources.tables.written_values import likely_written

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
