"""Which file is which table, and which column is what: given by the caller, or guessed by names and said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cube2net._util.spelling import nearest
from cube2net.errors import Message, Setting, SourceError, some, unknown
from cube2net.io.text_records import is_packed

_THINGS = ("object", "node", "author", "person", "user", "member", "entity", "business", "account", "package", "gene")
_RECORDS = ("item", "paper", "document", "doc", "record", "publication", "article", "work", "review", "event")
_SOURCES = ("source", "from", "src", "start", "u", "node1", "object1", "author1", "head", "i", "a", "citing")
_TARGETS = ("target", "to", "dst", "end", "v", "node2", "object2", "author2", "tail", "j", "b", "cited")
_NAMES = (
    *("name", "fullname", "displayname", "nodename", "objectname", "authorname", "username", "title"),
    *("nom", "nombre", "nome", "naam", "namn", "bezeichnung", "titel"),
)
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
        "kind": (*_KINDS, "linktype", "edgetype", "relation", "relationship", "predicate"),
        "time": ("time", "date", "year", "timestamp", "when", "datetime"),
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
LAYOUTS = {2: ("nodes", "links"), 3: ("objects", "items", "mentions"), 4: ("objects", "items", "mentions", "links")}
EXTRAS = ("labels", "terms")
EXPECTED = "expected nodes and links, or objects, items and mentions (and links)"
CALLED = {
    "nodes": ("nodes", "node", "vertices"),
    "links": ("links", "link", "edges", "edge"),
    "objects": ("objects", "object"),
    "items": ("items", "item"),
    "mentions": ("mentions", "mention"),
    "labels": ("labels", "label"),
    "terms": ("terms", "term"),
}
ROLE_OF = {spelling: role for role, spellings in CALLED.items() for spelling in spellings}
FORMATS = {
    **{".csv": "csv", ".tsv": "tsv", ".tab": "tsv"},
    **{".jsonl": "json", ".ndjson": "json", ".json": "json"},
    **{".parquet": "parquet", ".pq": "parquet"},
    **{".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xls"},
    **{".txt": "txt", ".dat": "txt", ".edges": "txt", ".edgelist": "txt"},
}
HIDDEN = (".", "~$")
"""How the names begin of files that are passed over in silence: ``~$`` are those of Excel beside what it has open."""
OPTIONAL = ("name", "kind", "text", "weight", "time", "full_name", "parent", "count")


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
    remarks: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        said = (f"{role}={name!r} ({'given' if role in self.given else 'guessed'})" for role, name in self.items())
        return f"columns of {self.file}: {', '.join(said)}"

    def items(self) -> list[tuple[str, str]]:
        """Return the roles with their columns."""
        return list(self.columns.items())


@dataclass(frozen=True)
class ColumnRole:
    """The role of a column of one of the tables read, such as ``nodes.id``; a column of links may have none."""

    table: str
    column: str
    role: str
    is_name_part: bool = False
    """Whether the name is put together of this column and others."""


@dataclass(frozen=True)
class TableRoles:
    """Which columns of tables have which role, in the order in which they are shown.

    ``layout`` is what the tables are: ``single`` for one table of nodes, ``records`` for one table of records,
    ``network`` for nodes and links, ``items`` for objects, items and mentions, ``links`` for links alone.
    """

    layout: str
    columns: tuple[ColumnRole, ...]


def found_roles(columns: Mapping[str, str], not_used: Iterable[str]) -> TableRoles:
    """Return the roles of columns by role, and those of the columns of links that are not used.

    >>> found_roles({"links.source": "a", "links.target": "b"}, ["c"]).layout
    'links'
    """
    network = "nodes.id" in columns
    layout = "network" if network else "items" if "objects.id" in columns else "records"
    layout = layout if network or "mentions.object" in columns else "links"
    main = {"network": "nodes", "links": "links"}.get(layout, "items")
    found = [ColumnRole(role.rpartition(".")[0] or main, name, role) for role, name in columns.items()]
    return TableRoles(layout, (*found, *(ColumnRole("links", name, "") for name in not_used)))


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
    guess = named_columns(file, names, given, called=called)
    check_whole(guess, names, called)
    return guess


def named_columns(
    file: str, names: Sequence[str], given: Mapping[str, str] | None = None, *, called: str = ""
) -> Guess:
    """Return which columns play a role by what is given and by their names; a role without a column is left out.

    A role that is given an empty name is to have none.
    """
    called = called or f"the table of {file}"
    wanted = {role: (given or {}).get(f"{file}.{role}", (given or {}).get(role)) for role in SPELLINGS[file]}
    known = {role: name for role, name in wanted.items() if name}
    none = [role for role, name in wanted.items() if name == ""]
    for role, name in known.items():
        if name not in names:
            near = nearest(name, list(names))
            raise SourceError(
                f"{called} has no column {name!r} (given as {role}): {_has(names)}",
                parameter="columns",
                value=name,
                allowed=names,
                hint=Message("did you mean ", Setting("columns", {f"{file}.{role}": near}), "?") if near else None,
            )
    chosen: dict[str, str] = {}
    for role, spellings in SPELLINGS[file].items():
        if role in none:
            continue
        free = {plain(name): name for name in reversed(names) if name not in (*known.values(), *chosen.values())}
        found = known.get(role) or next((free[spelling] for spelling in spellings if spelling in free), None)
        if found is not None:
            chosen[role] = found
    left = tuple(name for name in names if name not in chosen.values())
    return Guess(file, chosen, (*known, *none), left)


def check_whole(guess: Guess, names: Sequence[str], called: str) -> None:
    """Raise where a role that a table cannot do without has no column."""
    for role in SPELLINGS[guess.file]:
        if role not in guess.columns and role not in OPTIONAL:
            raise SourceError(
                f"{called} has no column for the {role}: {_has(names)}",
                parameter="columns",
                hint=_hint(guess.file, role, names),
            )


def is_sure(file: str, role: str, name: str) -> bool:
    """Return whether a name says that its column holds ids, and not what may be one, as ``name`` or ``author`` do.

    >>> is_sure("nodes", "id", "node_id"), is_sure("nodes", "id", "Name")
    (True, False)
    """
    letters = plain(name)
    marked = letters.startswith("id") or letters.endswith("id") or letters in ("key", "identifier")
    return marked and letters in SPELLINGS[file][role]


def plain(name: str) -> str:
    """Return the letters and digits of a name, by which spellings are compared.

    >>> plain("Node-ID")
    'nodeid'
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _has(names: Sequence[str]) -> str:
    return f"it has {some(names, 20)}"


def advise_delimiter(mark: str) -> Message:
    """Return the advice to say what parts the columns of a file."""
    return Message(f"is {mark!r} what parts its columns? then say ", Setting("delimiter", mark))


def _hint(file: str, role: str, names: Sequence[str]) -> Message:
    for mark in (";", "\t", "|", ","):
        if sum(name.count(mark) for name in names) >= len(names):
            return advise_delimiter(mark)
    if (file, role) == ("labels", "attribute"):
        return Message("it says more of the values of attributes; give another table, such as a query, another name")
    words = [
        word for word in SPELLINGS[file][role] if word == "id" or not (word.startswith("id") or word.endswith("id"))
    ]
    usual = ", ".join(list(dict.fromkeys(words))[:3])
    return Message(f"usual names are {usual}; say which it is: ", Setting("columns", {f"{file}.{role}": names[0]}))


def format_of(path: Path) -> str | None:
    """Return the format of a table by the end of its name, None where that says none; only texts may be gzipped.

    >>> format_of(Path("items.csv.gz")), format_of(Path("links.TAB")), format_of(Path("links.pq.gz"))
    ('csv', 'tsv', None)
    """
    packed = is_packed(path)
    found = FORMATS.get(Path(path.stem if packed else path.name).suffix.lower())
    return None if packed and found in ("parquet", "xlsx", "xls") else found


def base_name(path: Path) -> str:
    """Return the name of a table's file without what says its format.

    >>> base_name(Path("data/items.csv.gz")), base_name(Path("links.v2.tsv"))
    ('items', 'links.v2')
    """
    return Path(path.stem).stem if is_packed(path) else path.stem


def is_whole(files: Iterable[str]) -> bool:
    """Return whether tables make a corpus; labels and terms may come with any."""
    return any(set(files) - set(EXTRAS) == set(layout) for layout in LAYOUTS.values())


def tables_in(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the tables of a folder by what they are, and the names of what else is there.

    A file is a table when its name without endings is that of one, such as ``items.csv`` or ``Edges.tsv.gz``. Names
    that only hold such a word are passed over: ``hidden-links.csv`` is to stay hidden; so are texts such as
    ``objects.txt``, which may be a query or remarks.
    """
    found: dict[str, Path] = {}
    others = []
    shown = [path for path in folder.iterdir() if not path.name.startswith(HIDDEN)]
    for path in sorted(shown, key=lambda path: (format_of(path) == "xlsx", path)):
        is_table = format_of(path) not in (None, "txt", "xls") and path.is_file()
        role = ROLE_OF.get(base_name(path).casefold()) if is_table else None
        if role is None or (role in found and format_of(path) == "xlsx"):
            others.append(path.name)
        elif role in found:
            raise SourceError(
                f"{str(folder)!r} holds {found[role].name!r} and {path.name!r}: expected one table of {role}, "
                "remove the other or name the files one by one"
            )
        else:
            found[role] = path
    is_network = not {"items", "mentions"} & set(found)
    was, now = ("objects", "nodes") if is_network else ("nodes", "objects")
    found = {now if role == was and now not in found else role: path for role, path in found.items()}
    if not is_whole(found):
        held = ", ".join(found) or "no table"
        rest = f"; other names are not known: {some(others)}" if others else ""
        raise SourceError(f"{str(folder)!r} holds {held}: {EXPECTED}, each called so, such as items.csv{rest}")
    return {role: found[role] for role in CALLED if role in found}, sorted(others)


def unnamed_tables(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the tables of a folder in which no name of a table is known, nor part of one, and what else is there."""
    shown = sorted(path for path in folder.iterdir() if not path.name.startswith(HIDDEN))
    found = [path for path in shown if format_of(path) not in (None, "txt", "xls") and path.is_file()]
    if any(map(is_called, found)):
        return [], []
    return found, [path.name for path in shown if path not in found]


def is_called(path: Path) -> bool:
    """Return whether a word of a file's name says which table it is."""
    return _called(path, ()) is not None


def assign(paths: Sequence[Path]) -> dict[str, Path]:
    """Return which file is what: by its name where that says it, else by its place in the order.

    Labels and terms are known by their names alone, where the other files then make a corpus; in a number of files that
    has a usual order, only where all others are known by their names too.

    >>> {role: path.name for role, path in assign([Path("knows_edges.csv"), Path("people.csv")]).items()}
    {'nodes': 'people.csv', 'links': 'knows_edges.csv'}
    """
    extras: dict[str, Path] = {}
    for path in paths:
        role = _called(path, ())
        if role in EXTRAS:
            if role in extras:
                raise SourceError(f"{extras[role].name!r} and {path.name!r} are both called {role}: give one of them")
            extras[role] = path
    rest = [path for path in paths if path not in extras.values()]
    by_name = len(rest) in LAYOUTS and {_called(path, LAYOUTS[len(rest)]) for path in rest} == set(LAYOUTS[len(rest)])
    if len(rest) not in LAYOUTS or (len(paths) in LAYOUTS and not by_name):
        extras, rest = {}, list(paths)
    paths = rest
    if len(paths) not in LAYOUTS:
        raise SourceError(f"got {len(paths)} file{'s' if len(paths) != 1 else ''}: {EXPECTED}")
    layout = LAYOUTS[len(paths)]
    found: dict[str, Path] = {}
    for path in paths:
        role = _called(path, layout)
        if role is None or role in EXTRAS:
            continue
        if role not in layout or role in found:
            raise SourceError(f"cannot place {path.name!r} among {len(paths)} files: {EXPECTED}")
        found[role] = path
    free = iter([path for path in paths if path not in found.values()])
    return {role: found[role] if role in found else next(free) for role in layout} | extras


def _called(path: Path, layout: Sequence[str]) -> str | None:
    words = set(re.split(r"[^a-z]+", path.name.casefold()))
    for role, spellings in CALLED.items():
        if words & set(spellings):
            if role == "nodes" and "objects" in layout:
                return "objects"
            return "nodes" if role == "objects" and "nodes" in layout else role
    return None
