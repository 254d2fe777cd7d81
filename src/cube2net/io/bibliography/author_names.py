"""Read names of authors, and find which of them are of one person.

A name is a person's other name where the ORCID agrees, or where family and given names agree as far as both are written
out ("Govil, N." and "Govil, Nikhil") and the two share coauthors. Names written alike are one person, unless their
identifiers differ. Each mention is decided by itself, so that "Wang, Y." may be several persons.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

PARTICLES = frozenset(
    (
        *("af", "al", "av", "bin", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "el"),
        *("ibn", "la", "le", "ten", "ter", "van", "von", "y", "zu", "zur"),
    )
)
MAX_NAME_LENGTH = 500
SUFFIXES = frozenset(["jr", "sr", "ii", "iii", "iv", "phd", "md"])
INITIALS_PATTERN = re.compile(r"(?:[A-Z]\.?-?){1,3}")
FULL_STOP_PATTERN = re.compile(r"(?:[A-Z]{2}|[a-z]{2})\.$")
GROUP_PATTERN = re.compile(
    r"\b(?:organi[sz]ation|group|consortium|committee|association|collaboration|collaborators|team|network|society"
    r"|institut\w*|universit\w*|ministry|council|commission|agency|department|foundation|cent(?:er|re)|nations"
    r"|investigators|initiative|federation|laborator\w+|inc|ltd|gmbh)\b",
    re.I,
)
"""Words that show that a name is not that of a person; so does a comma at its end."""
LETTER_REPLACEMENTS = str.maketrans({"ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i", "ð": "d"})
Name = tuple[str, tuple[str, ...]]
"""A family name and given names or initials, in lower case and without accents, as names are compared."""


@dataclass(frozen=True, slots=True)
class Author:
    """The name of an author as it is written, in the form "Family, Given", and what identifies the person."""

    name: str
    ids: tuple[str, ...] = ()


def format_name(text: str) -> str:
    """Return a name as "Family, Given", whichever way it is written.

    >>> [format_name(name) for name in ("Govil N.", "Nikhil Govil", "J. van der Berg", "Auken, O. W. van", "IEEE")]
    ['Govil, N.', 'Govil, Nikhil', 'van der Berg, J.', 'van Auken, O. W.', 'IEEE']
    """
    text = unicodedata.normalize("NFC", " ".join(text.replace("’", "'").split())).lstrip(" ,").rstrip(" ;")
    is_group = text.endswith(",") and not INITIALS_PATTERN.fullmatch(text.rstrip(" ,").rpartition(" ")[2])
    text = text.rstrip(" ,;")[:MAX_NAME_LENGTH]
    text = text[:-1] if FULL_STOP_PATTERN.search(text) else text
    if "," not in text and (is_group or GROUP_PATTERN.search(text)):
        return text
    if "," in text:
        family, _, rest = text.partition(",")
        given_names = [word for word in rest.replace(",", " ").split() if word.lower().strip(".") not in SUFFIXES]
        while len(given_names) > 1 and len(given_names[-1]) > 1 and given_names[-1].lower() in PARTICLES:
            family = f"{given_names.pop().lower()} {family}"
    else:
        words = [word for word in text.split() if word.lower().strip(".") not in SUFFIXES] or text.split()
        start = _find_family_start(words)
        family = " ".join(words[start:] if start >= 0 else words[:start])
        given_names = words[:start] if start >= 0 else words[start:]
    given_names = [word for word in given_names if word != "null"]
    return f"{family.strip()}, {' '.join(given_names)}" if given_names else family.strip()


def _find_family_start(words: Sequence[str]) -> int:
    """Return the place where the family name begins, or minus the number of initials that follow it."""
    trailing_initials = 0
    while trailing_initials < len(words) - 1 and INITIALS_PATTERN.fullmatch(words[-1 - trailing_initials]):
        trailing_initials += 1
    if trailing_initials and not INITIALS_PATTERN.fullmatch(words[0]):
        return -trailing_initials
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in PARTICLES:
        start -= 1
    return start


def make_name_key(name: str) -> Name:
    """Return a name of the form "Family, Given" as names are compared.

    >>> make_name_key("Peñalver, Enrique J."), make_name_key("van den Hoven, M.A."), make_name_key("O'Connor, RE")
    (('penalver', ('enrique', 'j')), ('vandenhoven', ('m', 'a')), ('oconnor', ('r', 'e')))
    """
    family, _, given = name.partition(", ")
    words: list[str] = []
    for word in re.split(r"[\s.\-‐–]+", given):
        letters = reduce_letters(word)
        words += list(letters) if word.isupper() and len(letters) <= 3 else [letters] if letters else []
    return reduce_letters(family), tuple(words)


def reduce_letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(LETTER_REPLACEMENTS))
    return "".join([letter for letter in decomposed if letter.isalnum()])


def is_same_form(first: Name, second: Name) -> bool:
    """Return whether two names may be of one person: the same family, and given names or initials that agree.

    >>> is_same_form(("li", ("j",)), ("li", ("jun", "wei"))), is_same_form(("li", ("jin",)), ("li", ("jun",)))
    (True, False)
    """
    (family, given), (second_family, second_given) = first, second
    if family != second_family or bool(given) != bool(second_given):
        return False
    if "".join(given) == "".join(second_given):
        return True
    return all(
        first_word == second_word or (1 in (len(first_word), len(second_word)) and first_word[0] == second_word[0])
        for first_word, second_word in zip(given, second_given, strict=False)
    )


def is_fuller(first: Name, second: Name) -> bool:
    """Return whether a name is fuller than another of the same form: it has more letters or more given names."""
    return (len("".join(first[1])), len(first[1])) > (len("".join(second[1])), len(second[1]))


MERGE_PASSES = 3
"""The most passes over the papers: a merged name may lead to another one."""
MIN_EVIDENCE = 0.1
"""Each shared coauthor counts 1 / n, where the rarer of the two family names with initial stands for n names."""


@dataclass
class Person:
    """A person: the fullest name, all names as they were written, and identifiers."""

    name: str
    key: Name
    names: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    coauthors: set[tuple[str, str]] = field(default_factory=set)

    @property
    def orcid(self) -> str:
        """The ORCID, where one is known."""
        return next((identifier for identifier in sorted(self.ids) if is_orcid(identifier)), "")

    def add(self, author: Author) -> None:
        """Add a name of the person, with what identifies it."""
        self.names.add(author.name)
        self.ids.update(author.ids)
        key = make_name_key(author.name)
        if is_fuller(key, self.key) or (key == self.key and (author.name > self.name) and not author.name.isupper()):
            self.name, self.key = author.name, key

    def conflicts_with(self, ids: Sequence[str]) -> bool:
        """Return whether identifiers of the same kind differ."""
        return any(
            is_orcid(identifier) == is_orcid(own_identifier) for identifier in ids for own_identifier in self.ids
        ) and not self.ids.intersection(ids)


def is_orcid(identifier: str) -> bool:
    """Return whether an identifier is an ORCID, and no number of a database."""
    return identifier.count("-") == 3


def identify_authors(papers: Sequence[Sequence[Author]]) -> tuple[list[Person], list[list[int]]]:
    """Return the persons, and those of every paper by their number.

    >>> papers = [[Author("Govil, N."), Author("Sharma, A.")], [Author("Govil, Nikhil"), Author("Sharma, Anil")]]
    >>> persons, numbers = identify_authors(papers)
    >>> [person.name for person in persons], numbers
    (['Govil, Nikhil', 'Sharma, Anil'], [[0, 1], [0, 1]])
    """
    return _AuthorIdentifier(papers).resolve()


class _AuthorIdentifier:
    def __init__(self, papers: Sequence[Sequence[Author]]) -> None:
        self.papers = papers
        self.keys = {author.name: make_name_key(author.name) for paper in papers for author in paper}
        self.persons: list[Person] = []
        self.numbers: list[list[int]] = []
        self.given_names: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for family, given in self.keys.values():
            self.given_names[family].add(given)

    def resolve(self) -> tuple[list[Person], list[list[int]]]:
        """Return the persons of all papers: first those of one name or identifier, then those that share coauthors."""
        by_id: dict[str, int] = {}
        by_name: dict[Name, list[int]] = defaultdict(list)
        mentions = [(author, place) for place, paper in enumerate(self.papers) for author in paper]
        person_by_mention: dict[tuple[int, str], int] = {}
        for has_ids in (True, False):
            for author, place in mentions:
                if bool(author.ids) == has_ids:
                    person_by_mention[place, author.name] = self._find_person(author, by_id, by_name)
        self.numbers = [
            [person_by_mention[place, author.name] for author in paper] for place, paper in enumerate(self.papers)
        ]
        for paper, numbers in zip(self.papers, self.numbers, strict=True):
            keys = [make_coauthor_key(self.keys[author.name]) for author in paper]
            for author, number in zip(paper, numbers, strict=True):
                own_key = make_coauthor_key(self.keys[author.name])
                self.persons[number].coauthors.update(key for key in keys if key != own_key)
        self._merge_variants()
        return self._number_people()

    def _find_person(self, author: Author, by_id: dict[str, int], by_name: dict[Name, list[int]]) -> int:
        key = self.keys[author.name]
        candidates = [by_id[identifier] for identifier in author.ids if identifier in by_id]
        candidates = [candidate for candidate in candidates if is_same_person_name(self.persons[candidate].key, key)]
        if not candidates:
            candidates = [candidate for candidate in by_name[key] if self.persons[candidate].key == key]
            nameless = [candidate for candidate in candidates if not self.persons[candidate].ids]
            is_abbreviated = all(len(word) == 1 for word in key[1])
            candidates = [] if author.ids else candidates if len(candidates) == 1 and not is_abbreviated else nameless
        if candidates:
            number = candidates[0]
        else:
            number = len(self.persons)
            self.persons.append(Person(author.name, key))
        if number not in by_name[key]:
            by_name[key].append(number)
        self.persons[number].add(author)
        for identifier in author.ids:
            by_id.setdefault(identifier, number)
        return number

    def _merge_variants(self) -> None:
        """Assign each mention of a shorter name to the person of a fuller name with whom it shares coauthors."""
        blocks: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, person in enumerate(self.persons):
            blocks[make_coauthor_key(person.key)].append(number)
        for _ in range(MERGE_PASSES):
            has_moved = False
            for paper, numbers in zip(self.papers, self.numbers, strict=True):
                keys = [make_coauthor_key(self.keys[author.name]) for author in paper]
                for place, author in enumerate(paper):
                    if len(blocks[keys[place]]) < 2 or self.persons[numbers[place]].ids.intersection(author.ids):
                        continue
                    coauthors = {key for key in keys if key != keys[place]}
                    person_number = self._find_fuller_person(author, numbers[place], blocks[keys[place]], coauthors)
                    if person_number >= 0 and person_number not in numbers:
                        numbers[place], has_moved = person_number, True
                        self.persons[person_number].add(author)
                        self.persons[person_number].coauthors.update(coauthors)
            if not has_moved:
                return

    def _find_fuller_person(
        self, author: Author, number: int, candidates: Sequence[int], coauthors: set[tuple[str, str]]
    ) -> int:
        """Return the person of a fuller name of a mention, below 0 where there is none or it is not clear who."""
        key, own_person = self.keys[author.name], self.persons[number]
        namesake_count = len(self.given_names[key[0]])
        evidence: list[tuple[int, int, int]] = []
        for candidate in candidates:
            person = self.persons[candidate]
            is_better = is_fuller(person.key, own_person.key) or bool(person.ids and not own_person.ids)
            if (
                candidate == number
                or not is_better
                or not is_same_form(key, person.key)
                or person.conflicts_with(author.ids)
            ):
                continue
            shared = [coauthor for coauthor in coauthors if coauthor in person.coauthors]
            if sum(1 / min(namesake_count, len(self.given_names[family])) for family, _ in shared) >= MIN_EVIDENCE:
                evidence.append((len(shared), len("".join(person.key[1])), candidate))
        if not evidence:
            return -1
        shared_count, _, best_person = max(evidence, key=lambda coauthor: (coauthor[0], coauthor[1], -coauthor[2]))
        other_counts = [
            count
            for count, _, candidate in evidence
            if not is_same_form(self.persons[best_person].key, self.persons[candidate].key)
        ]
        return -1 if max(other_counts, default=0) >= shared_count else best_person

    def _number_people(self) -> tuple[list[Person], list[list[int]]]:
        """Return the persons who are still mentioned, in the order of their first mention, and those of every paper."""
        new_numbers = {
            number: new_number
            for new_number, number in enumerate(dict.fromkeys(person for paper in self.numbers for person in paper))
        }
        persons = [self.persons[number] for number in new_numbers]
        return persons, [list(dict.fromkeys(new_numbers[person] for person in paper)) for paper in self.numbers]


def make_coauthor_key(name: Name) -> tuple[str, str]:
    """Return the family name and the first initial."""
    return name[0], name[1][0][:1] if name[1] else ""


def is_same_person_name(first: Name, second: Name) -> bool:
    """Return whether names with the same identifier may be of one person: they share a name or the first initial."""
    return (
        bool({first[0], *first[1]} & {second[0], *second[1]})
        or make_coauthor_key(first)[1] == make_coauthor_key(second)[1]
    )
