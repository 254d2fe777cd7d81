"""Columns of a table that name other rows of it, one in a field or several: they are its links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from cube2net.errors import SourceError
from cube2net.records.column_kinds import decoded, holds_text
from cube2net.sources.tables.column_types import Rows, check_column, keys
from cube2net.sources.tables.dialects import LIKE_A_NUMBER
from cube2net.sources.tables.id_columns import MOST_COLUMNS
from cube2net.sources.tables.link_columns import WORD
from cube2net.sources.tables.written_values import spread_rows

PARTS = (";", "|", "\n", ",", "/")
"""What may stand between several names in one field."""
REFERS = 0.8
"""Such a share of the names in a column are those of rows, where it names other rows."""
NUMBERS_REFER = 0.95
"""Such a share are keys where a column of numbers names other rows: amounts hit some key, too."""
MOST_OWN = 0.5
"""Where a greater share of names or numbers are those of their own rows, they name no others."""
SAMPLED = 1_000
"""So many fields are looked at where it is to be found out which column others refer to."""
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
