"""Which column of a table is what: given by the caller, or guessed among the usual spellings and said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cube2net.errors import SourceError, some, unknown

_THINGS = ("object", "node", "author", "person", "user", "member", "entity", "business", "account", "package", "gene")
_RECORDS = ("item", "paper", "document", "doc", "record", "publication", "article", "work", "review", "event")
_SOURCES = ("source", "from", "src", "start", "u", "node1", "object1", "author1", "head", "i", "a", "citing")
_TARGETS = ("target", "to", "dst", "end", "v", "node2", "object2", "author2", "tail", "j", "b", "cited")
_NAMES = ("name", "fullname", "displayname", "nodename", "objectname", "authorname", "username", "title")
_KINDS = ("kind", "type", "nodetype", "objecttype")
_TEXTS = ("text", "abstract")


def _ids(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(spelling for word in words for spelling in (f"{word}id", word, f"id{word}"))


SPELLINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "nodes": {"id": ("id", *_ids(_THINGS), "key", "uid", "identifier", "name"), "name": _NAMES, "kind": _KINDS}
    | {"text": _TEXTS},
    "links": {
        "source": (*_ids(_SOURCES), "sourcenode"),
        "target": (*_ids(_TARGETS), "targetnode", "destination"),
        "weight": ("weight", "w", "weights", "count", "strength", "value"),
    },
    "objects": {"id": ("id", *_ids(_THINGS), "key", "uid", "identifier", "name"), "name": _NAMES, "kind": _KINDS},
    "items": {"item": ("itemid", "item", "id", *_ids(_RECORDS), "key", "uid", "identifier"), "text": _TEXTS},
    "mentions": {"item": _ids(_RECORDS), "object": (*_ids(_THINGS), "mention", "mentions", "name")},
    "labels": {
        "attribute": ("attribute", "dimension", "column", "field"),
        "label": ("label", "value", "code", "acronym", "abbreviation", "shortname"),
        "full_name": ("fullname", "name", "longname", "title"),
        "parent": ("parent", "parentlabel", "above", "group"),
    },
    "terms": {
        "item": (*_ids(_RECORDS), "nodeid", "node", "id"),
        "term": ("term", "word", "phrase", "token", "keyword"),
        "count": ("count", "n", "counts", "frequency", "freq"),
    },
}
OPTIONAL = ("name", "kind", "text", "weight", "full_name", "parent", "count")


@dataclass(frozen=True)
class Guess:
    """The column of every role found, which of them were given, and one line that says so.

    >>> print(Guess("links", {"source": "from", "target": "to"}, given=("source",)))
    columns of links: source='from' (given), target='to' (guessed)
    """

    file: str
    columns: Mapping[str, str]
    given: tuple[str, ...] = ()
    left: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        said = (f"{role}={name!r} ({'given' if role in self.given else 'guessed'})" for role, name in self.items())
        return f"columns of {self.file}: {', '.join(said)}"

    def items(self) -> list[tuple[str, str]]:
        """Return the roles with their columns."""
        return list(self.columns.items())


def check_roles(given: Mapping[str, str]) -> None:
    """Raise unless every key is a role such as ``source``, or a file and a role such as ``items.item``."""
    roles = {role for roles in SPELLINGS.values() for role in roles}
    roles |= {f"{file}.{role}" for file, known in SPELLINGS.items() for role in known}
    for key in given:
        if key not in roles:
            raise unknown("column role", key, roles)


def guess_columns(
    file: str, names: Sequence[str], given: Mapping[str, str] | None = None, *, called: str = ""
) -> Guess:
    """Return which of a table's columns plays which role, for the file of a kind (``links``, ``items``, …).

    ``given`` maps a role, or a file and a role, to a column and goes before any guess.

    >>> print(guess_columns("links", ["From", "To", "n"]))
    columns of links: source='From' (guessed), target='To' (guessed)
    >>> print(guess_columns("nodes", ["orcid", "Name", "city"], {"nodes.id": "orcid"}))
    columns of nodes: id='orcid' (given), name='Name' (guessed)
    """
    called = called or f"the table of {file}"
    wanted = {role: (given or {}).get(f"{file}.{role}", (given or {}).get(role)) for role in SPELLINGS[file]}
    told = {role: name for role, name in wanted.items() if name is not None}
    for role, name in told.items():
        if name not in names:
            raise SourceError(f"{called} has no column {name!r} (given as {role}): {_has(names)}")
    chosen: dict[str, str] = {}
    for role, spellings in SPELLINGS[file].items():
        free = {_plain(name): name for name in reversed(names) if name not in (*told.values(), *chosen.values())}
        found = told.get(role) or next((free[spelling] for spelling in spellings if spelling in free), None)
        if found is not None:
            chosen[role] = found
        elif role not in OPTIONAL:
            raise SourceError(f"{called} has no column for the {role}: {_has(names)}{_hint(file, role, names)}")
    left = tuple(name for name in names if name not in chosen.values())
    return Guess(file, chosen, tuple(told), left)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _has(names: Sequence[str]) -> str:
    return f"it has {some(names, 20)}"


def _hint(file: str, role: str, names: Sequence[str]) -> str:
    if len(names) == 1:
        for mark in (";", "\t", "|", ","):
            if mark in names[0]:
                return f" (is {mark!r} what parts its columns? then give delimiter={mark!r})"
    if (file, role) == ("labels", "attribute"):
        return " (it says more of the values of attributes; give another table, such as a query, another name)"
    words = [
        word for word in SPELLINGS[file][role] if word == "id" or not (word.startswith("id") or word.endswith("id"))
    ]
    usual = ", ".join(list(dict.fromkeys(words))[:3])
    return f" (usual names are {usual}; give columns={{'{file}.{role}': …}}, or --set columns={file}.{role}:…)"
