"""Detect the separators of multi-valued columns, such as the authors of a paper or the genres of a film."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import ParameterError
from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import (
    EVERY_SECOND_COMMA,
    VALUE_BREAK,
    Rows,
    Separators,
    split_column,
    to_separators,
)
from cube2net.io.tables.key_columns import MAX_KEY_COLUMNS
from cube2net.io.tables.locale_values import clean_texts, guess_value_type
from cube2net.io.tables.table_roles import normalize_name
from cube2net.model.corpus import decode, holds_text

PUNCTUATION = (";", "|", "\n", "\t", " / ", "/", " · ", " • ")
"""Separators that names do not contain, the most certain first."""
CONJUNCTIONS = (" and ", " & ", " und ", " et ", " y ", " och ", " e ")
LABEL_SEPARATORS = ("|", ";", ",")
MAX_SAMPLED_ROWS = 2_000
MIN_SEPARATOR_SHARE = 0.2
"""Minimum share of texts with the separator, in a column whose name does not say that it holds people."""
MIN_SEPARATOR_SHARE_OF_PEOPLE = 0.01
MIN_LABEL_LISTS = 20
MIN_LABEL_REUSE = 2
"""Single labels must be repeated at least this many times as often as whole texts."""
MAX_NAME_WORDS, MAX_MEAN_NAME_WORDS = 6, 4
MIN_SHORT_NAME_SHARE, MIN_FULL_NAME_SHARE, MIN_REPEATED_SHARE, MIN_REPEATED_SHARE_OF_PEOPLE = 0.95, 0.8, 0.5, 0.2
INITIALS = re.compile(r"(?:[A-ZÀ-ÖØ-Þ]\.?[ -]?){1,4}(?: ?(?:Jr|Sr)\.?)?")
ET_AL = r"(?i)[;,|]?\s*(\bet\.? ?al\b\.?|\band others\b|\bund andere\b|\bu\. ?a\.|\.\.\.|…)"
"""Placeholders for names that are left out of a list or at its end."""
PEOPLE_NAMES = frozenset(
    (
        *("authors", "members", "participants", "contributors", "people", "attendees", "persons", "partners", "staff"),
        *("cast", "actors", "directors", "editors", "writers", "inventors", "investigators", "speakers", "artists"),
        *("students", "customers", "clients", "employees", "patients", "players", "voters", "users", "teachers"),
        *("team", "creators", "proposers", "applicants", "owners", "sponsors", "guests", "performers", "reviewers"),
        *("beteiligte", "mitwirkende", "autoren", "autorinnen", "teilnehmer", "teilnehmende", "teilnehmerinnen"),
        *("mitglieder", "personen", "bearbeiter", "partner", "darsteller", "anwesende", "erfinder", "herausgeber"),
        *("auteurs", "membres", "acteurs", "participants", "autores", "miembros", "actores", "autori", "membri"),
        *("attori", "auteur", "leden", "deltagare", "authornames", "authorfullnames", "fullauthornames"),
    )
)
"""Usual names of columns that hold several people."""


def check_separators(separators: Separators) -> None:
    """Raise if the separator of a column is empty or not a text."""
    for name, separator in separators.items():
        column_separators = to_separators(separator)
        if not column_separators or not all(isinstance(text, str) and text for text in column_separators):
            raise ParameterError(f"the separator of {name!r} is {separator!r}, expected a text such as '|'")


def describe_separators(separators: Sequence[str]) -> str:
    """Describe separators in words.

    >>> describe_separators((";",)), describe_separators((",", " and ")), describe_separators((",,",))
    ("';'", "',' and ' and '", 'every second comma')
    """
    names = {"\n": "line breaks", "\t": "tabs", EVERY_SECOND_COMMA: "every second comma"}
    return " and ".join(names.get(separator, repr(separator)) for separator in separators)


def split_text(text: str, separators: Sequence[str]) -> list[str]:
    """Return the distinct values in a text.

    >>> split_text("Ada Lov, Bo Ek & Ada Lov", (",", " & "))
    ['Ada Lov', 'Bo Ek']
    """
    return _split_all([text], separators)[0]


def _split_all(texts: Sequence[str], separators: Sequence[str]) -> list[list[str]]:
    lists = split_column(pa.chunked_array([pa.array(texts, pa.string())]), separators).to_pylist()
    return [list(dict.fromkeys(" ".join(part.split()) for part in values if part.strip())) for values in lists]


# People


def is_people_name(name: str) -> bool:
    """Return whether the name of a column says that it holds several people.

    >>> is_people_name("Authors"), is_people_name("proposed_by"), is_people_name("City")
    (True, True, False)
    """
    return normalize_name(name) in PEOPLE_NAMES or re.search(r"[a-z]ed[ _-]?by$", name.casefold()) is not None


def find_separators(texts: Sequence[str], *, are_people: bool = False) -> tuple[str, ...]:
    """Return the separators of texts that are lists of names; none if the texts are not.

    In a column that is known to hold people, only few texts must be lists, and names need not be repeated.

    >>> find_separators(["Ada Lov / Bo Ek", "Bo Ek / Cy Ott", "Ada Lov"]), find_separators(["Ott, Ada", "Ek, Ada"])
    ((' / ',), ())
    >>> find_separators(["Ott, A., Ek, B., and Lo, C.", "Lo, C."], are_people=True)
    (',,', ' and ')
    """
    for separator in PUNCTUATION:
        if _is_frequent(texts, separator, are_people):
            separators = (separator, *_find_further_separators(texts, (separator,), (*PUNCTUATION, ",", *CONJUNCTIONS)))
            if _are_names(_split_all(texts, separators), are_people, separator):
                return separators
    conjunctions = (
        _find_further_separators(texts)
        if are_people or any(_is_frequent(texts, conjunction, False) for conjunction in CONJUNCTIONS)
        else ()
    )
    commas = _find_comma(texts, conjunctions, are_people) if _is_frequent(texts, ",", are_people) else ()
    separators = tuple(
        dict.fromkeys((*commas, *conjunctions, *(_find_further_separators(texts, commas) if commas else ())))
    )
    return separators if separators and _are_names(_split_all(texts, separators), are_people) else ()


def _is_frequent(texts: Sequence[str], separator: str, are_people: bool) -> bool:
    count = sum(separator in text for text in texts)
    return count >= max(1, (MIN_SEPARATOR_SHARE_OF_PEOPLE if are_people else MIN_SEPARATOR_SHARE) * len(texts))


def _find_further_separators(
    texts: Sequence[str], separators: Sequence[str] = (), candidates: Sequence[str] = CONJUNCTIONS
) -> tuple[str, ...]:
    """Return further separators, such as "and", that stand between full or known names.

    A comma may also follow a last name or precede a place, so at least half of the names beside it must be known.
    """
    parts = [part for values in _split_all(texts, separators or (VALUE_BREAK,)) for part in values]
    known_names = set(parts)
    further_separators = []
    for candidate in candidates:
        pieces = [neighbour for part in parts if candidate in f" {part} " for neighbour in f" {part} ".split(candidate)]
        neighbours = [neighbour.strip(" ,") for neighbour in pieces if neighbour.strip()]
        n_names = sum(_is_full_name(neighbour) or neighbour in known_names for neighbour in neighbours)
        is_frequent = len(neighbours) >= 2 * max(1, MIN_SEPARATOR_SHARE_OF_PEOPLE * len(texts))
        are_known = candidate != "," or 2 * sum(neighbour in known_names for neighbour in neighbours) >= len(neighbours)
        if is_frequent and are_known and n_names >= MIN_FULL_NAME_SHARE * len(neighbours):
            further_separators.append(candidate)
    return tuple(further_separators)


def _find_comma(texts: Sequence[str], conjunctions: Sequence[str], are_people: bool) -> tuple[str, ...]:
    """Return the comma or every second comma as the separator of names; texts may be split at conjunctions, too."""
    lists = [
        [part.strip() for part in piece.split(",") if part.strip()]
        for values in _split_all(texts, conjunctions or (VALUE_BREAK,))
        for piece in values
        if "," in piece
    ]
    if not lists:
        return ()
    firsts, seconds = [[part for values in lists for part in values[start::2]] for start in (0, 1)]
    are_single_words = sum(" " not in part for part in firsts) >= MIN_FULL_NAME_SHARE * len(firsts)
    if all(len(values) == 2 for values in lists) and are_single_words and _are_given_names(seconds):
        return ()
    are_pairs = sum(len(values) % 2 == 0 for values in lists) >= MIN_SHORT_NAME_SHARE * len(lists)
    n_initials = sum(INITIALS.fullmatch(part) is not None for part in seconds)
    if are_pairs and n_initials >= MIN_FULL_NAME_SHARE * len(seconds) > 0:
        return (EVERY_SECOND_COMMA,)
    may_be_inverted = (
        are_pairs and any(len(values) == 2 for values in lists) and all(len(part.split()) <= 2 for part in firsts)
    )
    if are_people and may_be_inverted and are_single_words and not _repeat_on_both_sides(firsts, seconds):
        return (EVERY_SECOND_COMMA,)
    return (",",)


def _are_given_names(parts: Sequence[str]) -> bool:
    """Return whether texts are single words or initials."""
    return all(" " not in part or INITIALS.fullmatch(part) for part in parts)


def _repeat_on_both_sides(firsts: Sequence[str], seconds: Sequence[str]) -> bool:
    """Return whether the same texts occur before and after commas, unlike last and first names."""
    return len(set(firsts) & set(seconds)) > 0.2 * min(len(set(firsts)), len(set(seconds)))


def _are_names(lists: Sequence[Sequence[str]], are_people: bool, separator: str = "") -> bool:
    """Return whether the values are short, have letters, and are repeated in other texts."""
    parts = [part for values in lists for part in values]
    word_counts = [len(part.split()) for part in parts]
    if not parts or max(map(len, lists)) < 2 or sum(word_counts) > MAX_MEAN_NAME_WORDS * len(parts):
        return False
    if sum(count <= MAX_NAME_WORDS for count in word_counts) < MIN_SHORT_NAME_SHARE * len(parts):
        return False
    if are_people and separator in (";", "|", "\n", "\t"):
        return True
    if sum(any(letter.isalpha() for letter in part) for part in parts) < MIN_SHORT_NAME_SHARE * len(parts):
        return False
    n_full_names = sum(_is_full_name(part) for part in parts)
    if are_people and n_full_names >= MIN_FULL_NAME_SHARE * len(parts):
        return True
    repeated_counts = [count for count in Counter(parts).values() if count > 1]
    min_share = MIN_REPEATED_SHARE_OF_PEOPLE if are_people else MIN_REPEATED_SHARE
    if len(repeated_counts) < 2 or sum(repeated_counts) < min_share * len(parts):
        return False
    return are_people or n_full_names >= MIN_FULL_NAME_SHARE * len(parts)


def _is_full_name(text: str) -> bool:
    """Return whether a text looks like the name of a person or a firm: two words or more, with capitals.

    >>> _is_full_name("Ada Lovelace"), _is_full_name("Ott, A."), _is_full_name("Smith J"), _is_full_name("war drama")
    (True, True, True, False)
    """
    words = text.split()
    return 2 <= len(words) <= MAX_NAME_WORDS and words[0][0].isupper() and any(word[0].isupper() for word in words[1:])


def are_full_names(texts: Collection[str]) -> bool:
    """Return whether most texts look like names of people or firms."""
    return sum(map(_is_full_name, texts)) >= MIN_FULL_NAME_SHARE * len(texts)


def find_column_separators(rows: Rows, name: str, *, are_people: bool = False) -> tuple[str, ...]:
    """Return the separators of a column of several names, none if it is not one."""
    texts = _sample_texts(rows, name)
    return () if texts is None else find_separators(texts, are_people=are_people or is_people_name(name))


def _sample_texts(rows: Rows, name: str) -> list[str] | None:
    column = decode(rows.table[name])
    if not holds_text(column.type):
        return None
    texts = remove_et_al(clean_texts(pc.cast(column, pa.string()).slice(0, MAX_SAMPLED_ROWS)))
    return pc.drop_null(texts).to_pylist()  # type: ignore[no-any-return]


def remove_et_al(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return lists of names without placeholders for further names, such as "et al.".

    >>> remove_et_al(pa.chunked_array([["Ott, A., et al.", "Ek B; and others", "Ott, A., ..., Lo, C."]])).to_pylist()
    ['Ott, A.', 'Ek B', 'Ott, A., Lo, C.']
    """
    return pc.replace_substring_regex(texts, ET_AL, "")


# Labels


def find_label_separators(
    rows: Rows, excluded: Collection[str | None], given_separators: Separators, dropped: Dropped
) -> dict[str, str | Sequence[str]]:
    """Return the detected separators of columns of several labels, for columns without a given separator."""
    separators: dict[str, str | Sequence[str]] = {}
    for name in rows.table.column_names[:MAX_KEY_COLUMNS]:
        if name in excluded or name in given_separators or (texts := _sample_texts(rows, name)) is None:
            continue
        if guess_value_type(pa.chunked_array([texts], pa.string()), rows.formats):
            continue
        separator = find_label_separator(texts)
        people_separators = (
            find_separators(texts, are_people=True) if separator is None and is_people_name(name) else ()
        )
        if separator is not None or people_separators:
            separators[name] = people_separators if separator is None else separator
            description = describe_separators(to_separators(separators[name]))
            dropped.say(f"{rows.name}: values of {name!r} are several labels, separated by {description} (guessed)")
    return separators


def find_label_separator(texts: Sequence[str]) -> str | None:
    """Return the separator of labels that are repeated far more often than whole texts.

    >>> kinds = ["Drama", "Crime", "War", "Noir"]
    >>> find_label_separator([f"{one}; {two}" for one in kinds for two in kinds if one != two] * 2)
    ';'
    >>> find_label_separator([f"Tale {number}; or, the end" for number in range(30)]) is None
    True
    """
    for separator in LABEL_SEPARATORS:
        lists = [split_text(text, (separator,)) for text in texts if separator in text]
        min_share = MIN_SEPARATOR_SHARE if separator == "," else MIN_SEPARATOR_SHARE_OF_PEOPLE
        if len(lists) < max(MIN_LABEL_LISTS, min_share * len(texts)):
            continue
        counts = Counter(part for text in texts for part in split_text(text, (separator,)))
        parts = [part for values in lists for part in values]
        are_short = all(len(part.split()) <= MAX_NAME_WORDS for part in parts)
        are_repeated = sum(counts[part] > 1 for part in parts) >= MIN_SHORT_NAME_SHARE * len(parts)
        if separator == "," and not _repeat_on_both_sides(
            [values[0] for values in lists], [values[-1] for values in lists]
        ):
            continue  # such as "Rome, Italy"
        if (
            are_short
            and are_repeated
            and counts.total() * len(set(texts)) >= MIN_LABEL_REUSE * len(texts) * len(counts)
        ):
            return separator
    return None
