"""The roles of columns, such as ``links.source``: their usual names, and the columns that have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cube2net._util.spelling import suggest_name
from cube2net.errors import Message, ParameterError, Setting, SourceError, quote, quote_few, unknown_name

_THINGS = ("object", "node", "author", "person", "user", "member", "entity", "business", "account", "package", "gene")
_RECORDS = ("item", "paper", "document", "doc", "record", "publication", "article", "work", "review", "event")
_SOURCES = (
    "source",
    "from",
    "src",
    "start",
    "u",
    "node1",
    "object1",
    "author1",
    "head",
    "i",
    "a",
    "citing",
    "origin",
    "sender",
)
_TARGETS = (
    "target",
    "to",
    "dst",
    "end",
    "v",
    "node2",
    "object2",
    "author2",
    "tail",
    "j",
    "b",
    "cited",
    "recipient",
    "receiver",
)
_NAMES = (
    *("name", "fullname", "displayname", "nodename", "objectname", "authorname", "username", "title"),
    *("nom", "nombre", "nome", "naam", "namn", "bezeichnung", "titel"),
)
_KINDS = ("kind", "type", "nodetype", "objecttype")
_TEXTS = ("text", "abstract")


def _ids(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(spelling for word in words for spelling in (f"{word}id", word, f"id{word}"))


ROLE_NAMES: dict[str, dict[str, tuple[str, ...]]] = {
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
OPTIONAL_ROLES = ("name", "kind", "text", "weight", "time", "full_name", "parent", "count")


@dataclass(frozen=True)
class TableColumns:
    """The column of every role of a table; ``given`` are the roles that the caller named, ``unused`` other columns.

    >>> print(TableColumns("links", {"source": "from", "target": "to"}, given=("source",)))
    columns of links: source='from' (given), target='to' (guessed)
    """

    table: str
    columns: Mapping[str, str]
    given: tuple[str, ...] = ()
    unused: tuple[str, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        parts = [
            f"{role}={name!r} ({'given' if role in self.given else 'guessed'})" for role, name in self.columns.items()
        ]
        return f"columns of {self.table}: {', '.join(parts)}"

    def with_column(self, role: str, name: str) -> TableColumns:
        """Return the same with one more column."""
        return replace(
            self, columns={**self.columns, role: name}, unused=tuple(other for other in self.unused if other != name)
        )


@dataclass(frozen=True)
class ColumnRole:
    """The role of a column of one of the tables read, such as ``nodes.id``; a column of links may have none."""

    table: str
    column: str
    role: str
    is_name_part: bool = False
    """Whether the name is joined from this column and others."""


@dataclass(frozen=True)
class TableRoles:
    """Which columns of tables have which role, in display order.

    ``layout`` is what the tables are: ``single`` for one table of nodes, ``records`` for one table of records,
    ``network`` for nodes and links, ``items`` for objects, items and mentions, ``links`` for links alone.
    """

    layout: str
    columns: tuple[ColumnRole, ...]

    @classmethod
    def from_columns(cls, columns: Mapping[str, str], unused: Iterable[str]) -> TableRoles:
        """Return the roles of columns by role, and those of the ``unused`` columns of links.

        >>> TableRoles.from_columns({"links.source": "a", "links.target": "b"}, ["c"]).layout
        'links'
        """
        if "nodes.id" in columns:
            layout, main = "network", "nodes"
        elif "mentions.object" not in columns:
            layout, main = "links", "links"
        else:
            layout, main = "items" if "objects.id" in columns else "records", "items"
        roles = [ColumnRole(role.rpartition(".")[0] or main, name, role) for role, name in columns.items()]
        return cls(layout, (*roles, *(ColumnRole("links", name, "") for name in unused)))


def check_roles(given: Mapping[str, str]) -> None:
    """Raise unless every key is a role such as ``source``, or a table and a role such as ``items.item``."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"columns is {quote(given)}, expected a mapping from roles to columns, such as {{'id': 'name'}}",
            parameter="columns",
            value=given,
            hint=Message(Setting("dimensions"), " names the columns to organise by"),
        )
    roles = {role for roles in ROLE_NAMES.values() for role in roles}
    roles |= {f"{table}.{role}" for table, names in ROLE_NAMES.items() for role in names}
    for key in given:
        if key not in roles:
            raise unknown_name("column role", key, roles)


def columns_by_name(
    table: str, names: Sequence[str], given: Mapping[str, str] | None = None, *, called: str = ""
) -> TableColumns:
    """Return which columns have a role of a ``table`` (``links``, ``items``, …): as given, else by their names.

    ``given`` maps a role, or a table and a role, to a column; an empty name means that no column has the role.

    >>> print(columns_by_name("links", ["From", "To", "n"]))
    columns of links: source='From' (guessed), target='To' (guessed)
    >>> print(columns_by_name("nodes", ["orcid", "Name", "city"], {"nodes.id": "orcid"}))
    columns of nodes: id='orcid' (given), name='Name' (guessed)
    """
    wanted = {role: (given or {}).get(f"{table}.{role}", (given or {}).get(role)) for role in ROLE_NAMES[table]}
    named = {role: name for role, name in wanted.items() if name}
    for role, name in named.items():
        if name not in names:
            near = suggest_name(name, list(names))
            raise SourceError(
                f"{called or f'the table of {table}'} has no column {name!r} (given as {role}): {_has(names)}",
                parameter="columns",
                value=name,
                allowed=names,
                hint=Message("did you mean ", Setting("columns", {f"{table}.{role}": near}), "?") if near else None,
            )
    columns: dict[str, str] = {}
    for role, spellings in ROLE_NAMES[table].items():
        free = [name for name in names if name not in (*named.values(), *columns.values())]
        found = named.get(role) or (None if wanted[role] == "" else find_name(free, spellings))
        if found is not None:
            columns[role] = found
    unused = tuple(name for name in names if name not in columns.values())
    return TableColumns(table, columns, tuple(role for role in wanted if wanted[role] is not None), unused)


def find_name(names: Sequence[str], spellings: Iterable[str]) -> str | None:
    """Return the first name that is spelled like the first of some spellings that any name has."""
    by_letters = {normalize_name(name): name for name in reversed(names)}
    return next((by_letters[spelling] for spelling in spellings if spelling in by_letters), None)


def check_required_roles(columns: TableColumns, names: Sequence[str], called: str) -> None:
    """Raise where a required role has no column."""
    for role in ROLE_NAMES[columns.table]:
        if role not in columns.columns and role not in OPTIONAL_ROLES:
            raise SourceError(
                f"{called} has no column for the {role}: {_has(names)}",
                parameter="columns",
                hint=_advise_column(columns.table, role, names),
            )


def has_id_name(table: str, role: str, name: str) -> bool:
    """Return whether a column is named as one of ids, and not one that may hold ids, such as ``name`` or ``author``.

    >>> has_id_name("nodes", "id", "node_id"), has_id_name("nodes", "id", "Name")
    (True, False)
    """
    letters = normalize_name(name)
    is_id = letters.startswith("id") or letters.endswith("id") or letters in ("key", "identifier")
    return is_id and letters in ROLE_NAMES[table][role]


def normalize_name(name: str) -> str:
    """Return the letters and digits of a column name, in lower case.

    >>> normalize_name("Node-ID")
    'nodeid'
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _has(names: Sequence[str]) -> str:
    return f"it has {quote_few(names, 20)}"


def advise_delimiter(mark: str) -> Message:
    """Return the advice to name the delimiter of a file."""
    return Message(f"is {mark!r} the delimiter? then use ", Setting("delimiter", mark))


def _advise_column(table: str, role: str, names: Sequence[str]) -> Message:
    for mark in (";", "\t", "|", ","):
        if sum(name.count(mark) for name in names) >= len(names):
            return advise_delimiter(mark)
    if (table, role) == ("labels", "attribute"):
        return Message("a table named 'labels' describes values of attributes; rename a table that does not")
    words = [
        word for word in ROLE_NAMES[table][role] if word == "id" or not (word.startswith("id") or word.endswith("id"))
    ]
    usual = ", ".join(list(dict.fromkeys(words))[:3])
    return Message(f"usual names are {usual}; name the column: ", Setting("columns", {f"{table}.{role}": names[0]}))
