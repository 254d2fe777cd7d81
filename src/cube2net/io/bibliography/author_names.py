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
INITIALS = re.compile(r"(?:[A-Z]\.?-?){1,3}")
FULL_STOP = re.compile(r"(?:[A-Z]{2}|[a-z]{2})\.$")
GROUP = re.compile(
    r"\b(?:organi[sz]ation|group|consortium|committee|association|collaboration|collaborators|team|network|society"
    r"|institut\w*|universit\w*|ministry|council|commission|agency|department|foundation|cent(?:er|re)|nations"
    r"|investigators|initiative|federation|laborator\w+|inc|ltd|gmbh)\b",
    re.I,
)
"""What shows that a name is not of a person; a comma at its end shows it as well."""
LETTERS = str.maketrans({"ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i", "ð": "d"})
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
    is_group = text.endswith(",") and not INITIALS.fullmatch(text.rstrip(" ,").rpartition(" ")[2])
    text = text.rstrip(" ,;")[:MAX_NAME_LENGTH]
    text = text[:-1] if FULL_STOP.search(text) else text
    if "," not in text and (is_group or GROUP.search(text)):
        return text
    if "," in text:
        family, _, rest = text.partition(",")
        given = [word for word in rest.replace(",", " ").split() if word.lower().strip(".") not in SUFFIXES]
        while len(given) > 1 and len(given[-1]) > 1 and given[-1].lower() in PARTICLES:
            family = f"{given.pop().lower()} {family}"
    else:
        words = [word for word in text.split() if word.lower().strip(".") not in SUFFIXES] or text.split()
        split = _find_family_start(words)
        family = " ".join(words[split:] if split >= 0 else words[:split])
        given = words[:split] if split >= 0 else words[split:]
    given = [word for word in given if word != "null"]
    return f"{family.strip()}, {' '.join(given)}" if given else family.strip()


def _find_family_start(words: Sequence[str]) -> int:
    """Return where the family name begins; below 0 so many initials follow it."""
    trailing = 0
    while trailing < len(words) - 1 and INITIALS.fullmatch(words[-1 - trailing]):
        trailing += 1
    if trailing and not INITIALS.fullmatch(words[0]):
        return -trailing
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
        plain = reduce_letters(word)
        words += list(plain) if word.isupper() and len(plain) <= 3 else [plain] if plain else []
    return reduce_letters(family), tuple(words)


def reduce_letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, without accents."""
    spread = unicodedata.normalize("NFKD", text.casefold().translate(LETTERS))
    return "".join([letter for letter in spread if letter.isalnum()])


def is_same_form(one: Name, other: Name) -> bool:
    """Return whether two names may be of one person: the same family, and given names or initials that agree.

    >>> is_same_form(("li", ("j",)), ("li", ("jun", "wei"))), is_same_form(("li", ("jin",)), ("li", ("jun",)))
    (True, False)
    """
    (family, given), (other_family, other_given) = one, other
    if family != other_family or bool(given) != bool(other_given):
        return False
    if "".join(given) == "".join(other_given):
        return True
    return all(a == b or (1 in (len(a), len(b)) and a[0] == b[0]) for a, b in zip(given, other_given, strict=False))


def is_fuller(one: Name, other: Name) -> bool:
    """Return whether a name says more than another of the same form: more given names, or fewer initials."""
    return (len("".join(one[1])), len(one[1])) > (len("".join(other[1])), len(other[1]))


PASSES = 3
"""A name that was found to be another's may lead to a third: the papers are gone through so often."""
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
        return next((each for each in sorted(self.ids) if is_orcid(each)), "")

    def add(self, author: Author) -> None:
        """Add a name of the person, with what identifies it."""
        self.names.add(author.name)
        self.ids.update(author.ids)
        key = make_name_key(author.name)
        if is_fuller(key, self.key) or (key == self.key and (author.name > self.name) and not author.name.isupper()):
            self.name, self.key = author.name, key

    def conflicts_with(self, ids: Sequence[str]) -> bool:
        """Return whether identifiers of the same kind differ."""
        return any(is_orcid(one) == is_orcid(other) for one in ids for other in self.ids) and not self.ids.intersection(
            ids
        )


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
        found: dict[tuple[int, str], int] = {}
        for with_ids in (True, False):
            for author, place in mentions:
                if bool(author.ids) == with_ids:
                    found[place, author.name] = self._find_person(author, by_id, by_name)
        self.numbers = [[found[place, author.name] for author in paper] for place, paper in enumerate(self.papers)]
        for paper, numbers in zip(self.papers, self.numbers, strict=True):
            keys = [make_coauthor_key(self.keys[author.name]) for author in paper]
            for author, number in zip(paper, numbers, strict=True):
                own = make_coauthor_key(self.keys[author.name])
                self.persons[number].coauthors.update(key for key in keys if key != own)
        self._merge_variants()
        return self._number_people()

    def _find_person(self, author: Author, by_id: dict[str, int], by_name: dict[Name, list[int]]) -> int:
        key = self.keys[author.name]
        known = [by_id[each] for each in author.ids if each in by_id]
        known = [at for at in known if is_same_person_name(self.persons[at].key, key)]
        if not known:
            known = [at for at in by_name[key] if self.persons[at].key == key]
            nameless = [at for at in known if not self.persons[at].ids]
            is_abbreviated = all(len(word) == 1 for word in key[1])
            known = [] if author.ids else known if len(known) == 1 and not is_abbreviated else nameless
        if known:
            number = known[0]
        else:
            number = len(self.persons)
            self.persons.append(Person(author.name, key))
        if number not in by_name[key]:
            by_name[key].append(number)
        self.persons[number].add(author)
        for each in author.ids:
            by_id.setdefault(each, number)
        return number

    def _merge_variants(self) -> None:
        """Assign each mention of a shorter name to the person of a fuller name with whom it shares coauthors."""
        blocks: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, person in enumerate(self.persons):
            blocks[make_coauthor_key(person.key)].append(number)
        for _ in range(PASSES):
            has_moved = False
            for paper, numbers in zip(self.papers, self.numbers, strict=True):
                keys = [make_coauthor_key(self.keys[author.name]) for author in paper]
                for at, author in enumerate(paper):
                    if len(blocks[keys[at]]) < 2 or self.persons[numbers[at]].ids.intersection(author.ids):
                        continue
                    coauthors = {key for key in keys if key != keys[at]}
                    best = self._find_fuller_person(author, numbers[at], blocks[keys[at]], coauthors)
                    if best >= 0 and best not in numbers:
                        numbers[at], has_moved = best, True
                        self.persons[best].add(author)
                        self.persons[best].coauthors.update(coauthors)
            if not has_moved:
                return

    def _find_fuller_person(
        self, author: Author, number: int, others: Sequence[int], coauthors: set[tuple[str, str]]
    ) -> int:
        """Return the person of a fuller name of a mention, below 0 where there is none or it is not clear who."""
        key, own = self.keys[author.name], self.persons[number]
        namesakes = len(self.given_names[key[0]])
        evidence: list[tuple[int, int, int]] = []
        for other in others:
            person = self.persons[other]
            is_better = is_fuller(person.key, own.key) or bool(person.ids and not own.ids)
            if (
                other == number
                or not is_better
                or not is_same_form(key, person.key)
                or person.conflicts_with(author.ids)
            ):
                continue
            shared = [each for each in coauthors if each in person.coauthors]
            if sum(1 / min(namesakes, len(self.given_names[family])) for family, _ in shared) >= MIN_EVIDENCE:
                evidence.append((len(shared), len("".join(person.key[1])), other))
        if not evidence:
            return -1
        shared_count, _, best = max(evidence, key=lambda each: (each[0], each[1], -each[2]))
        other_counts = [
            count for count, _, other in evidence if not is_same_form(self.persons[best].key, self.persons[other].key)
        ]
        return -1 if max(other_counts, default=0) >= shared_count else best

    def _number_people(self) -> tuple[list[Person], list[list[int]]]:
        """Return the persons who are still mentioned, in the order of their first mention, and those of every paper."""
        order = {
            number: at for at, number in enumerate(dict.fromkeys(each for paper in self.numbers for each in paper))
        }
        persons = [self.persons[number] for number in order]
        return persons, [list(dict.fromkeys(order[each] for each in paper)) for paper in self.numbers]


def make_coauthor_key(name: Name) -> tuple[str, str]:
    """Return the family name and the first initial."""
    return name[0], name[1][0][:1] if name[1] else ""


def is_same_person_name(one: Name, other: Name) -> bool:
    """Return whether names with the same identifier may be of one person: they share a name or the first initial."""
    return bool({one[0], *one[1]} & {other[0], *other[1]}) or make_coauthor_key(one)[1] == make_coauthor_key(other)[1]
