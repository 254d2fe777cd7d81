"""Find which names of authors are of one person.

A name is a person's other name where the ORCID agrees, or where family and given names agree as far as both are written
out ("Govil, N." and "Govil, Nikhil") and the two share coauthors. Names written alike are one person, unless their
identifiers differ. Each mention is decided by itself, so that "Wang, Y." may be several persons.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from cube2net.io.bibliography.reference_records import Author, Name, is_fuller, is_same_form, name_key

MAX_COAUTHOR_NAMES = 2
"""A shared coauthor is evidence alone where the family name and initial stand for at most so many names."""


@dataclass
class Person:
    """A person: the fullest name, all names as they were written, and identifiers."""

    name: str
    key: Name
    names: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    coauthors: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def orcid(self) -> str:
        """The ORCID, where one is known."""
        return next((each for each in sorted(self.ids) if is_orcid(each)), "")

    def add(self, author: Author) -> None:
        """Add a name of the person, with what identifies it."""
        self.names.add(author.name)
        self.ids.update(author.ids)
        key = name_key(author.name)
        if is_fuller(key, self.key) or (key == self.key and (author.name > self.name) and not author.name.isupper()):
            self.name, self.key = author.name, key

    def conflicts_with(self, ids: Sequence[str]) -> bool:
        """Return whether identifiers of the same kind differ."""
        return any(
            is_orcid(one) == is_orcid(other) for one in ids for other in self.ids
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
    return _Identification(papers).resolve()


class _Identification:
    def __init__(self, papers: Sequence[Sequence[Author]]) -> None:
        self.papers = papers
        self.keys = {author.name: name_key(author.name) for paper in papers for author in paper}
        self.persons: list[Person] = []
        self.numbers: list[list[int]] = []
        self.names_of: dict[tuple[str, str], set[Name]] = defaultdict(set)
        for key in self.keys.values():
            self.names_of[coauthor_key(key)].add(key)

    def resolve(self) -> tuple[list[Person], list[list[int]]]:
        """Return the persons of all papers: first those of one name or identifier, then those that share coauthors."""
        by_id: dict[str, int] = {}
        by_name: dict[Name, list[int]] = defaultdict(list)
        mentions = [(author, place) for place, paper in enumerate(self.papers) for author in paper]
        found: dict[tuple[int, str], int] = {}
        for with_ids in (True, False):
            for author, place in mentions:
                if bool(author.ids) == with_ids:
                    found[place, author.name] = self._person(author, by_id, by_name)
        self.numbers = [[found[place, author.name] for author in paper] for place, paper in enumerate(self.papers)]
        for paper, numbers in zip(self.papers, self.numbers, strict=True):
            keys = [coauthor_key(self.keys[author.name]) for author in paper]
            for author, number in zip(paper, numbers, strict=True):
                own = coauthor_key(self.keys[author.name])
                self.persons[number].coauthors.update(key for key in keys if key != own)
        self._merge_variants()
        return self._numbered()

    def _person(self, author: Author, by_id: dict[str, int], by_name: dict[Name, list[int]]) -> int:
        key = self.keys[author.name]
        known = [by_id[each] for each in author.ids if each in by_id and is_same_person_name(self.persons[by_id[each]].key, key)]
        known = known or [at for at in by_name[key] if not self.persons[at].conflicts_with(author.ids)]
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
            blocks[coauthor_key(person.key)].append(number)
        moved: dict[tuple[int, str], int] = {}
        for place, (paper, numbers) in enumerate(zip(self.papers, self.numbers, strict=True)):
            keys = [coauthor_key(self.keys[author.name]) for author in paper]
            for at, (author, number) in enumerate(zip(paper, numbers, strict=True)):
                others = blocks[keys[at]]
                if len(others) > 1:
                    coauthors = {key for key in keys if key != keys[at]}
                    best = self._fuller_person(author, number, others, coauthors)
                    if best >= 0 and best not in numbers:
                        moved[place, author.name] = best
        for place, paper in enumerate(self.papers):
            for at, author in enumerate(paper):
                number = moved.get((place, author.name))
                if number is not None:
                    self.numbers[place][at] = number
        for (place, name), number in moved.items():
            author = next(each for each in self.papers[place] if each.name == name)
            self.persons[number].add(author)

    def _fuller_person(self, author: Author, number: int, others: Sequence[int], coauthors: set[tuple[str, str]]) -> int:
        """Return the person of a fuller name of a mention, below 0 where there is none or it is not clear who."""
        key = self.keys[author.name]
        evidence: list[tuple[int, int]] = []
        for other in others:
            person = self.persons[other]
            if other == number or not is_same_form(key, person.key) or not is_fuller(person.key, self.persons[number].key):
                continue
            if person.conflicts_with(author.ids):
                continue
            shared = [each for each in coauthors if person.coauthors[each]]
            if len(shared) > 1 or any(len(self.names_of[each]) <= MAX_COAUTHOR_NAMES for each in shared):
                evidence.append((len(shared), other))
        if not evidence:
            return -1
        evidence.sort(key=lambda pair: (-pair[0], -len("".join(self.persons[pair[1]].key[1])), pair[1]))
        best = self.persons[evidence[0][1]]
        rivals = [count for count, other in evidence[1:] if not is_same_form(best.key, self.persons[other].key)]
        return -1 if rivals and rivals[0] >= evidence[0][0] else evidence[0][1]

    def _numbered(self) -> tuple[list[Person], list[list[int]]]:
        """Return the persons that are still mentioned, in the order of their first mention, and who is on each paper."""
        order = {number: at for at, number in enumerate(dict.fromkeys(each for paper in self.numbers for each in paper))}
        persons = [self.persons[number] for number in order]
        return persons, [list(dict.fromkeys(order[each] for each in paper)) for paper in self.numbers]


def coauthor_key(name: Name) -> tuple[str, str]:
    """Return the family name and the first initial."""
    return name[0], name[1][0][:1] if name[1] else ""


def is_same_person_name(one: Name, other: Name) -> bool:
    """Return whether names with the same identifier may be of one person: they share a family name or a given name."""
    return one[0] == other[0] or bool(set(one[1]) & set(other[1])) or coauthor_key(one)[1] == coauthor_key(other)[1]
