"""Separators of multi-valued columns, such as the authors of a paper or the genres of a film."""

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
"""Separators that names do not contain, the surest first."""
CONJUNCTIONS = (" and ", " & ", " und ", " et ", " y ", " och ", " e ")
LABEL_SEPARATORS = ("|", ";", ",")
MAX_SAMPLED_ROWS = 2_000
MIN_SEPARATOR_SHARE = 0.2
"""Share of the texts that contain the separator, in a column whose name does not say that it is one of people."""
MIN_SEPARATOR_SHARE_OF_PEOPLE = 0.01
MIN_LABEL_LISTS = 20
MIN_LABEL_REUSE = 2
"""Labels come again so many times as often as whole texts do."""
MAX_NAME_WORDS, MAX_MEAN_NAME_WORDS = 6, 4
MIN_SHORT_NAME_SHARE, MIN_FULL_NAME_SHARE, MIN_REPEATED_SHARE, MIN_REPEATED_SHARE_OF_PEOPLE = 0.95, 0.8, 0.5, 0.2
INITIALS = re.compile(r"(?:[A-ZÀ-ÖØ-Þ]\.?[ -]?){1,4}(?: ?(?:Jr|Sr)\.?)?")
ET_AL = r"(?i)[;,|]?\s*(\bet\.? ?al\b\.?|\band others\b|\bund andere\b|\bu\. ?a\.|\.\.\.|…)"
"""What stands for further names at the end of a list, or for those left out within."""
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
    """Raise where the separator of a column is empty or no text."""
    for name, separator in separators.items():
        each = to_separators(separator)
        if not each or not all(isinstance(one, str) and one for one in each):
            raise ParameterError(f"the separator of {name!r} is {separator!r}, expected a text such as '|'")


def describe_separators(separators: Sequence[str]) -> str:
    """Return separators in words.

    >>> describe_separators((";",)), describe_separators((",", " and ")), describe_separators((",,",))
    ("';'", "',' and ' and '", 'every second comma')
    """
    names = {"\n": "line breaks", "\t": "tabs", EVERY_SECOND_COMMA: "every second comma"}
    return " and ".join(names.get(separator, repr(separator)) for separator in separators)


def split_text(text: str, separators: Sequence[str]) -> list[str]:
    """Return the values in a text, each once.

    >>> split_text("Ada Lov, Bo Ek & Ada Lov", (",", " & "))
    ['Ada Lov', 'Bo Ek']
    """
    return _split_all([text], separators)[0]


def _split_all(texts: Sequence[str], separators: Sequence[str]) -> list[list[str]]:
    lists = split_column(pa.chunked_array([pa.array(texts, pa.string())]), separators).to_pylist()
    return [list(dict.fromkeys(" ".join(part.split()) for part in each if part.strip())) for each in lists]


# People


def is_people_name(name: str) -> bool:
    """Return whether a column is named as one of several people.

    >>> is_people_name("Authors"), is_people_name("proposed_by"), is_people_name("City")
    (True, True, False)
    """
    return normalize_name(name) in PEOPLE_NAMES or re.search(r"[a-z]ed[ _-]?by$", name.casefold()) is not None


def find_separators(texts: Sequence[str], *, are_people: bool = False) -> tuple[str, ...]:
    """Return the separators of texts that are lists of names; none where the texts are no such lists.

    In a column that is known to hold people, few of the texts need to be lists, and the names need not come again.

    >>> find_separators(["Ada Lov / Bo Ek", "Bo Ek / Cy Ott", "Ada Lov"]), find_separators(["Ott, Ada", "Ek, Ada"])
    ((' / ',), ())
    >>> find_separators(["Ott, A., Ek, B., and Lo, C.", "Lo, C."], are_people=True)
    (',,', ' and ')
    """
    for sign in PUNCTUATION:
        if _is_frequent(texts, sign, are_people):
            found = (sign, *_find_further_separators(texts, (sign,), (*PUNCTUATION, ",", *CONJUNCTIONS)))
            if _are_names(_split_all(texts, found), are_people, sign):
                return found
    words = (
        _find_further_separators(texts)
        if are_people or any(_is_frequent(texts, word, False) for word in CONJUNCTIONS)
        else ()
    )
    comma = _find_comma(texts, words, are_people) if _is_frequent(texts, ",", are_people) else ()
    found = tuple(dict.fromkeys((*comma, *words, *(_find_further_separators(texts, comma) if comma else ()))))
    return found if found and _are_names(_split_all(texts, found), are_people) else ()


def _is_frequent(texts: Sequence[str], separator: str, are_people: bool) -> bool:
    count = sum(separator in text for text in texts)
    return count >= max(1, (MIN_SEPARATOR_SHARE_OF_PEOPLE if are_people else MIN_SEPARATOR_SHARE) * len(texts))


def _find_further_separators(
    texts: Sequence[str], separators: Sequence[str] = (), candidates: Sequence[str] = CONJUNCTIONS
) -> tuple[str, ...]:
    """Return further separators, such as "and", of texts split at others: those between full or known names.

    A comma may also follow a last name or precede a place, so half of the names beside it must be known.
    """
    parts = [part for each in _split_all(texts, separators or (VALUE_BREAK,)) for part in each]
    known = set(parts)
    found = []
    for word in candidates:
        pieces = [side for part in parts if word in f" {part} " for side in f" {part} ".split(word)]
        sides = [side.strip(" ,") for side in pieces if side.strip()]
        full = sum(_is_full_name(side) or side in known for side in sides)
        is_frequent = len(sides) >= 2 * max(1, MIN_SEPARATOR_SHARE_OF_PEOPLE * len(texts))
        are_known = word != "," or 2 * sum(side in known for side in sides) >= len(sides)
        if is_frequent and are_known and full >= MIN_FULL_NAME_SHARE * len(sides):
            found.append(word)
    return tuple(found)


def _find_comma(texts: Sequence[str], words: Sequence[str], are_people: bool) -> tuple[str, ...]:
    """Return the comma that separates names, or every second one, in texts that may be separated by words, too."""
    lists = [
        [part.strip() for part in piece.split(",") if part.strip()]
        for each in _split_all(texts, words or (VALUE_BREAK,))
        for piece in each
        if "," in piece
    ]
    if not lists:
        return ()
    firsts, seconds = [[part for each in lists for part in each[start::2]] for start in (0, 1)]
    single_words = sum(" " not in part for part in firsts) >= MIN_FULL_NAME_SHARE * len(firsts)
    if all(len(each) == 2 for each in lists) and single_words and _are_given_names(seconds):
        return ()
    pairs = sum(len(each) % 2 == 0 for each in lists) >= MIN_SHORT_NAME_SHARE * len(lists)
    initials = sum(INITIALS.fullmatch(part) is not None for part in seconds)
    if pairs and initials >= MIN_FULL_NAME_SHARE * len(seconds) > 0:
        return (EVERY_SECOND_COMMA,)
    inverted = pairs and any(len(each) == 2 for each in lists) and all(len(part.split()) <= 2 for part in firsts)
    if are_people and inverted and single_words and not _repeat_on_both_sides(firsts, seconds):
        return (EVERY_SECOND_COMMA,)
    return (",",)


def _are_given_names(parts: Sequence[str]) -> bool:
    """Return whether texts are single words or initials."""
    return all(" " not in part or INITIALS.fullmatch(part) for part in parts)


def _repeat_on_both_sides(firsts: Sequence[str], seconds: Sequence[str]) -> bool:
    """Return whether names stand before and behind commas alike, as people do and first and last names do not."""
    return len(set(firsts) & set(seconds)) > 0.2 * min(len(set(firsts)), len(set(seconds)))


def _are_names(lists: Sequence[Sequence[str]], are_people: bool, sign: str = "") -> bool:
    """Return whether the parts of texts are short, of letters, and come again in other texts."""
    parts = [part for each in lists for part in each]
    words = [len(part.split()) for part in parts]
    if not parts or max(map(len, lists)) < 2 or sum(words) > MAX_MEAN_NAME_WORDS * len(parts):
        return False
    if sum(count <= MAX_NAME_WORDS for count in words) < MIN_SHORT_NAME_SHARE * len(parts):
        return False
    if are_people and sign in (";", "|", "\n", "\t"):
        return True
    if sum(any(letter.isalpha() for letter in part) for part in parts) < MIN_SHORT_NAME_SHARE * len(parts):
        return False
    full = sum(_is_full_name(part) for part in parts)
    if are_people and full >= MIN_FULL_NAME_SHARE * len(parts):
        return True
    repeated = [count for count in Counter(parts).values() if count > 1]
    least = MIN_REPEATED_SHARE_OF_PEOPLE if are_people else MIN_REPEATED_SHARE
    if len(repeated) < 2 or sum(repeated) < least * len(parts):
        return False
    return are_people or full >= MIN_FULL_NAME_SHARE * len(parts)


def _is_full_name(part: str) -> bool:
    """Return whether a text looks like the name of a person or a firm: two words or more, with capitals.

    >>> _is_full_name("Ada Lovelace"), _is_full_name("Ott, A."), _is_full_name("Smith J"), _is_full_name("war drama")
    (True, True, True, False)
    """
    words = part.split()
    return 2 <= len(words) <= MAX_NAME_WORDS and words[0][0].isupper() and any(word[0].isupper() for word in words[1:])


def are_full_names(texts: Collection[str]) -> bool:
    """Return whether most texts look like names of people or firms."""
    return sum(map(_is_full_name, texts)) >= MIN_FULL_NAME_SHARE * len(texts)


def find_column_separators(rows: Rows, name: str, *, are_people: bool = False) -> tuple[str, ...]:
    """Return the separators of a column that holds several names, none where it does not."""
    texts = _sample_texts(rows, name)
    return () if texts is None else find_separators(texts, are_people=are_people or is_people_name(name))


def _sample_texts(rows: Rows, name: str) -> list[str] | None:
    column = decode(rows.table[name])
    if not holds_text(column.type):
        return None
    texts = remove_et_al(clean_texts(pc.cast(column, pa.string()).slice(0, MAX_SAMPLED_ROWS)))
    return pc.drop_null(texts).to_pylist()  # type: ignore[no-any-return]


def remove_et_al(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return lists of names without what stands for further names.

    >>> remove_et_al(pa.chunked_array([["Ott, A., et al.", "Ek B; and others", "Ott, A., ..., Lo, C."]])).to_pylist()
    ['Ott, A.', 'Ek B', 'Ott, A., Lo, C.']
    """
    return pc.replace_substring_regex(texts, ET_AL, "")


# Labels


def find_label_separators(
    rows: Rows, left_out: Collection[str | None], given: Separators, dropped: Dropped
) -> dict[str, str | Sequence[str]]:
    """Return the separators of columns of several labels, where none is ``given`` and the values show it."""
    found: dict[str, str | Sequence[str]] = {}
    for name in rows.table.column_names[:MAX_KEY_COLUMNS]:
        if name in left_out or name in given or (texts := _sample_texts(rows, name)) is None:
            continue
        if guess_value_type(pa.chunked_array([texts], pa.string()), rows.written):
            continue
        separator = find_label_separator(texts)
        people = find_separators(texts, are_people=True) if separator is None and is_people_name(name) else ()
        if separator is not None or people:
            found[name] = people if separator is None else separator
            how = describe_separators(to_separators(found[name]))
            dropped.say(f"{rows.name}: values of {name!r} are several labels, separated by {how} (guessed)")
    return found


def find_label_separator(texts: Sequence[str]) -> str | None:
    """Return the separator of labels that come again in other texts, far more often than whole texts do.

    >>> kinds = ["Drama", "Crime", "War", "Noir"]
    >>> find_label_separator([f"{one}; {two}" for one in kinds for two in kinds if one != two] * 2)
    ';'
    >>> find_label_separator([f"Tale {number}; or, the end" for number in range(30)]) is None
    True
    """
    for separator in LABEL_SEPARATORS:
        lists = [split_text(text, (separator,)) for text in texts if separator in text]
        least = MIN_SEPARATOR_SHARE if separator == "," else MIN_SEPARATOR_SHARE_OF_PEOPLE
        if len(lists) < max(MIN_LABEL_LISTS, least * len(texts)):
            continue
        counts = Counter(part for text in texts for part in split_text(text, (separator,)))
        parts = [part for each in lists for part in each]
        are_short = all(len(part.split()) <= MAX_NAME_WORDS for part in parts)
        repeated = sum(counts[part] > 1 for part in parts) >= MIN_SHORT_NAME_SHARE * len(parts)
        if separator == "," and not _repeat_on_both_sides([each[0] for each in lists], [each[-1] for each in lists]):
            continue  # such as "Rome, Italy"
        if are_short and repeated and counts.total() * len(set(texts)) >= MIN_LABEL_REUSE * len(texts) * len(counts):
            return separator
    return None
