"""One table of nodes alone, as a spreadsheet of people is: who a row is, and which columns name other rows.

A name may stand in several columns (first and last name), or be no id, for two rows bear it. Columns that name other
rows (``knows``, ``manager``), one in a field or several, are the links.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import listed
from cube2net.records.column_kinds import decoded, holds_text
from cube2net.sources.tables.column_types import Rows, keys
from cube2net.sources.tables.dialects import LIKE_A_NUMBER
from cube2net.sources.tables.id_columns import MOST_COLUMNS, is_unique, nearly_unique
from cube2net.sources.tables.link_columns import WORD
from cube2net.sources.tables.table_roles import SPELLINGS, is_sure, plain

FIRST = ("vorname", "vornamen", "firstname", "givenname", "forename", "prenom", "prénom", "nombre", "nome", "voornaam")
LAST = (
    *("nachname", "familienname", "zuname", "lastname", "surname", "familyname", "nom", "apellido", "apellidos"),
    *("cognome", "sobrenome", "achternaam"),
)
BOTH = "Name"
"""What a column of names is called that was put together."""
NUMBER = "row"
"""What a column of ids is called where no other tells the rows apart."""
PARTS = (";", "|", "\n", ",", "/")
"""What may stand between several names in one field."""
REFERS = 0.8
"""Such a share of the names in a column are those of rows, where it names other rows."""
NUMBERS_REFER = 0.95
"""Such a share are keys where a column of numbers names other rows: amounts hit some key, too."""
MOST_OWN = 0.5
"""Where a greater share of numbers are those of their own rows, they name no others."""
NUMBERS_OF_ROWS = ("nr", "no", "num", "nummer", "number", "lfdnr")
"""What a column is called that counts the rows, whose numbers others may refer to."""
MOST_JOINED = 3
MOST_WORDS = 6
"""A text of more words is no name that may be turned round."""


@dataclass(frozen=True, eq=False)
class LoneTable:
    """The nodes of one table and the links among them, each where there are any, and which column is what."""

    nodes: Rows
    links: Rows | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def tables(self) -> dict[str, Rows]:
        """The tables by what they are."""
        return {"nodes": self.nodes} | ({} if self.links is None else {"links": self.links})


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
    named = _with_names(rows, {}, lambda _: None)
    return bool(_references(named.nodes, named.columns["nodes.id"], named.columns.get("nodes.name") or None))


def lone_table(rows: Rows, given: Mapping[str, str], say: Callable[[str], None]) -> LoneTable:
    """Return what one table of nodes holds; ``given`` says which column is what, and what is guessed is said."""
    found = _with_names(_without_empty_rows(rows, say), given, say)
    key, name = found.columns["nodes.id"], found.columns.get("nodes.name") or None
    referring = _references(found.nodes, key, name)
    if not referring:
        say(f"{rows.name}: no column names other rows, so there are no links: what is alike is together in cells alone")
        return found
    links = _links(found.nodes, key, name, referring)
    columns = list(referring)
    left = found.nodes.table.drop_columns(columns)
    say(f"{rows.name}: links are in {listed([repr(column) for column in columns])}, which names other rows (guessed)")
    return LoneTable(
        replace(found.nodes, table=left),
        links,
        {**found.columns, "links.source": links.table.column_names[0], "links.target": links.table.column_names[1]},
    )


def _with_names(rows: Rows, given: Mapping[str, str], say: Callable[[str], None]) -> LoneTable:
    """Return a table with a column that tells its rows apart and one that names them, put together where need be."""
    names = rows.table.column_names
    key = given.get("nodes.id", given.get("id"))
    called = given.get("nodes.name", given.get("name"))
    key = key or sure_key(rows)
    if called is None:
        joined = _name_columns(rows, None if key is None else keys(rows, key))
        if len(joined) > 1:
            rows, called = _joined(rows, joined)
            say(f"{rows.name}: names are put together of {listed([repr(name) for name in joined])} (guessed)")
        else:
            called = next(iter(joined), None)
    if key is None and called is not None and is_unique(keys(rows, called)):
        key = called
    if key is None:
        unique = [name for name in names if name in rows.table.column_names]
        unique = [name for name in unique if (ids := nearly_unique(rows, name)) is not None and is_unique(ids)]
        key = next(iter(unique), None)
    if key is None:
        say(f"{rows.name}: no column tells the rows apart, so they are numbered (guessed)")
        key = _unused(NUMBER, rows.table.column_names)
        numbers = pa.array(np.arange(1, rows.table.num_rows + 1))
        rows = replace(rows, table=rows.table.append_column(key, numbers))
    named = {} if called is None else {"nodes.name": "" if called == key else called}
    return LoneTable(rows, None, {"nodes.id": key} | named)


def sure_key(rows: Rows) -> str | None:
    """Return the column that tells rows apart by its name and its values, or counts them for another that refers."""
    names = rows.table.column_names
    sure = [name for name in names if is_sure("nodes", "id", name)]
    sure += [
        name for name in names if plain(name) in NUMBERS_OF_ROWS and any(is_likely_key(one, name) for one in names)
    ]
    return next((name for name in sure if nearly_unique(rows, name) is not None), None)


def is_named_row(rows: Rows, others: Sequence[str]) -> bool:
    """Return whether a row is somebody by an id and a name, and ``others`` say more of them than these two."""
    key = sure_key(rows)
    named = [name for name in others if plain(name) in (*SPELLINGS["nodes"]["name"], *FIRST, *LAST)]
    return key is not None and bool(named) and bool(set(others) - {key, *named})


def _name_columns(rows: Rows, ids: pa.ChunkedArray | None) -> list[str]:
    """Return the columns that name a row: one that is called so, first and last name, or the first that tell apart."""
    by_letters = {plain(name): name for name in reversed(rows.table.column_names)}
    first = next((by_letters[word] for word in FIRST if word in by_letters), None)
    last = next((by_letters[word] for word in LAST if word in by_letters and by_letters[word] != first), None)
    if first is None and last is None:
        spelled = next((by_letters[word] for word in SPELLINGS["nodes"]["name"] if word in by_letters), None)
        if spelled is not None:
            return [spelled]
        return _first_that_tell(rows) if ids is None else []
    named = by_letters.get("name")
    if last is None and named is not None and first is not None:
        last = named
    return [name for name in (first, last) if name is not None]


def _first_that_tell(rows: Rows) -> list[str]:
    """Return the first columns of short texts whose values together tell nearly all rows apart; none where none do."""
    texts = [name for name in rows.table.column_names[:MOST_COLUMNS] if holds_text(decoded(rows.table[name]).type)]
    if any(nearly_unique(rows, name) is not None for name in texts[:1]):
        return texts[:1]
    for count in range(2, min(MOST_JOINED, len(texts)) + 1):
        table, called = _joined(rows, texts[:count])
        if nearly_unique(table, called) is not None:
            return texts[:count]
    return []


def _joined(rows: Rows, columns: Sequence[str]) -> tuple[Rows, str]:
    """Return a table with one column of names instead of several, and what it is called."""
    parts = [pc.fill_null(keys(rows, name), "") for name in columns]
    names = pc.utf8_trim_whitespace(pc.binary_join_element_wise(*parts, " "))
    left = rows.table.drop_columns(list(columns))
    called = _unused(BOTH, left.column_names)
    return replace(rows, table=left.add_column(0, called, names), loose=rows.loose - set(columns)), called


def _unused(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _folded(text: str) -> str:
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
            bearers.setdefault(_folded(called), set()).add(one)
            for other in in_other_order(_folded(called)):
                turned.setdefault(other, set()).add(one)
    known = {called: next(iter(own)) for called, own in turned.items() if len(own) == 1 and called not in bearers}
    known |= {called: next(iter(own)) for called, own in bearers.items() if len(own) == 1}
    return known | {_folded(one): one for one in ids if one is not None}


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


def _references(rows: Rows, key: str, name: str | None) -> dict[str, str | None]:
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
            misses = sum(_folded(value) not in known for value in numbers)
            itself = sum(value == one for value, one in zip(own, ids, strict=True) if value is not None)
            all_keys = misses <= (1 - NUMBERS_REFER) * len(numbers) and itself <= MOST_OWN * len(numbers)
            if not (all_keys and is_likely_key(column, key)):
                continue
        mark = _separator(filled, known)
        if mark is not None:
            found[column] = mark or None
    return found


def _separator(values: Sequence[str], known: Mapping[str, str]) -> str | None:
    """Return what parts several names of rows in a field, empty where nothing does; None where they are no names."""
    for mark in ("", *PARTS):
        parts = [part for value in values for part in _parts(value, mark or None)]
        if len(parts) > 1 and sum(_folded(part) in known for part in parts) >= REFERS * len(parts):
            return mark
    return None


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


def _links(rows: Rows, key: str, name: str | None, columns: Mapping[str, str | None]) -> Rows:
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
                targets.append(known.get(_folded(part), part))
                origins.append(row)
    places: Callable[[Sequence[int]], list[str]] = rows.places
    named = _unused(", ".join(columns), [key])
    table = pa.table({key: pa.array(sources, pa.string()), named: pa.array(targets, pa.string())})
    return Rows(rows.name, table, lambda some: places([origins[row] for row in some]))
