"""Columns whose texts hold several names each, as ``Beteiligte`` does: what parts them, and whether they are names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows, keys
from cube2net.io.tables.key_columns import MOST_COLUMNS, is_unique, nearly_unique
from cube2net.io.tables.locale_values import likely_written
from cube2net.io.tables.single_table import FIRST, LAST
from cube2net.io.tables.table_roles import plain
from cube2net.model.corpus import decoded, holds_text

MARKS = (";", "|", "\n", " / ", "/", ",")
"""What may part several names in a field; what stands inside of names comes last."""
LABEL_MARKS, FEWEST_LISTS, MORE_OFTEN = ("|", ";"), 20, 2
"""What may part several labels, in how many texts it has to stand, and how much more often labels come than texts."""
OFTEN = 0.2
"""The share of texts in which a mark stands, to be taken for one that parts them."""
SAMPLED = 2_000
MOST_WORDS, USUAL_WORDS = 6, 4
"""A name has no more words, and no more than so many on average."""
NEARLY_ALL, MOSTLY, HALF, SOME = 0.95, 0.8, 0.5, 0.2
"""Shares of the names in a column: those that are short, that look like somebody's, and that come in several rows."""
TOGETHER = (
    *(
        "beteiligte",
        "mitwirkende",
        "autoren",
        "autorinnen",
        "teilnehmer",
        "teilnehmende",
        "teilnehmerinnen",
        "mitglieder",
    ),
    *("personen", "team", "bearbeiter", "partner", "darsteller", "anwesende", "authors", "members", "participants"),
    *("contributors", "people", "attendees", "persons", "partners", "staff", "auteurs", "autores", "autori", "membres"),
)
"""What a column is called that says who came together in a row."""
SOMEBODY = ("name", "fullname", "displayname", "username", *FIRST, *LAST)
"""What a column is called whose table has a row for everybody."""


def list_separator(texts: Sequence[str], *, named: bool = False) -> str | None:
    """Return what parts texts into names that come again in other rows, None where they are no lists of names.

    Where the column is ``named`` so, fewer of them need to come again, and one word may be a name.

    >>> list_separator(["Ada Lov / Bo Ek", "Bo Ek / Cy Ott", "Ada Lov"]), list_separator(["Ott, Ada", "Ek, Ada"])
    (' / ', None)
    """
    for mark in MARKS:
        if texts and sum(mark in text for text in texts) >= OFTEN * len(texts):
            lists = [parts_of(text, mark) for text in texts]
            if _are_names(lists, mark, named):
                return mark
    return None


def parts_of(text: str, mark: str) -> list[str]:
    """Return the names in a text, each once."""
    return list(dict.fromkeys(part for each in text.split(mark) if (part := " ".join(each.split()))))


def _are_names(lists: Sequence[Sequence[str]], mark: str, named: bool) -> bool:
    """Return whether the parts of texts are short, of letters, and come again in other texts."""
    parts = [part for each in lists for part in each]
    words = [len(part.split()) for part in parts]
    if not parts or sum(words) > USUAL_WORDS * len(parts):
        return False
    if sum(count <= MOST_WORDS for count in words) < NEARLY_ALL * len(parts):
        return False
    if sum(any(letter.isalpha() for letter in part) for part in parts) < NEARLY_ALL * len(parts):
        return False
    if mark == "," and max(map(len, lists)) <= 2 and sum(words) < 2 * len(parts):
        return False  # last name, first name
    times = Counter(parts)
    again = [count for count in times.values() if count > 1]
    if len(again) < 2 or sum(again) < (SOME if named else HALF) * len(parts):
        return False
    return named or sum(_is_somebody(part) for part in parts) >= MOSTLY * len(parts)


def _is_somebody(part: str) -> bool:
    """Return whether a text looks like the name of a person or a firm: two words or more, with capitals."""
    words = part.split()
    return 2 <= len(words) <= MOST_WORDS and words[0][0].isupper() and any(word[0].isupper() for word in words[1:])


def column_separator(rows: Rows, name: str, *, named: bool = False) -> str | None:
    """Return what parts the texts of a column into names, None where nothing does."""
    column = decoded(rows.table[name])
    if not holds_text(column.type):
        return None
    texts = pc.drop_null(pc.cast(column, pa.string()).slice(0, SAMPLED))
    return list_separator(texts.to_pylist(), named=named or is_called_together(name))


def label_separators(
    rows: Rows, left_out: Collection[str | None], given: Mapping[str, str], dropped: Dropped
) -> dict[str, str]:
    """Return what parts columns into several labels each, where nothing is ``given`` and the values show it."""
    found: dict[str, str] = {}
    for name in rows.table.column_names[:MOST_COLUMNS]:
        column = decoded(rows.table[name])
        if name not in left_out and name not in given and holds_text(column.type):
            texts = pc.drop_null(pc.cast(column, pa.string()).slice(0, SAMPLED)).to_pylist()
            if (mark := label_separator(texts)) is not None:
                found[name] = mark
                dropped.say(f"{rows.name}: values of {name!r} are several labels, parted at {mark!r} (guessed)")
    return found


def label_separator(texts: Sequence[str]) -> str | None:
    """Return what parts texts into labels that come again in other texts, far more often than whole texts do.

    >>> kinds = ["Drama", "Crime", "War", "Noir"]
    >>> label_separator([f"{one}; {two}" for one in kinds for two in kinds if one != two] * 2)
    ';'
    >>> label_separator([f"Tale {number}; or, the end" for number in range(30)]) is None
    True
    """
    for mark in LABEL_MARKS:
        several = [parts_of(text, mark) for text in texts if mark in text]
        if len(several) < max(FEWEST_LISTS, OFTEN * len(texts)):
            continue
        times = Counter(part for text in texts for part in parts_of(text, mark))
        parts = [part for each in several for part in each]
        are_short = all(len(part.split()) <= MOST_WORDS for part in parts)
        come_again = sum(times[part] > 1 for part in parts) >= NEARLY_ALL * len(parts)
        if are_short and come_again and times.total() * len(set(texts)) >= MORE_OFTEN * len(texts) * len(times):
            return mark
    return None


def is_called_together(name: str) -> bool:
    """Return whether a column is called one of those that came together."""
    return plain(name) in TOGETHER


def list_column(rows: Rows) -> str | None:
    """Return the column that says who came together in a row: one that is called so, else of names of two words.

    Of a table that has a row for everybody, it must be called so.
    """
    names = rows.table.column_names[:MOST_COLUMNS]
    somebody = any(plain(name) in SOMEBODY for name in names)
    likely = [name for name in names if is_called_together(name)]
    likely += [] if somebody else [name for name in names if name not in likely]
    return next((name for name in likely if column_separator(rows, name) is not None), None)


def record_column(rows: Rows, objects: str) -> str | None:
    """Return the column that names a record beside a list of objects: the first of texts that are all different."""
    names: list[str] = rows.table.column_names[:MOST_COLUMNS]
    for name in names:
        if name != objects and holds_text(decoded(rows.table[name]).type):
            ids = nearly_unique(rows, name)
            if ids is not None and is_unique(ids) and not likely_written(keys(rows, name), rows.written):
                return name
    return None
