"""Which column of a spreadsheet is used as what, and what else it may be: the roles that the reader takes for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LINKS = ("links.source", "links.target", "links.weight", "links.kind", "links.time")
NODES = ("nodes.id", "nodes.name", "nodes.kind", "nodes.text")
OF_TABLE = {
    "nodes": NODES,
    "objects": ("objects.id", "objects.name", "objects.kind"),
    "items": ("items.item", "items.text"),
    "mentions": ("mentions.item", "mentions.object"),
    "links": LINKS,
}
"""What a column may be where its table is one of several."""
ALONE = (*NODES, "links.target", "mentions.object")
"""What a column may be of one table of people or things: it may name other rows, too, or bring others together."""
RECORDS = ("items.item", "mentions.object", "name", "text")
"""What a column may be of one table whose rows are records."""
NUMBERED = "so they are numbered"
PUT_TOGETHER = "names are put together of "
NOT_USED = "columns of links not used: "
"""How the sentences go on by which a reader says what it did; columns that they quote are written as by ``repr``."""


@dataclass(frozen=True)
class UsedColumn:
    """A column of a table, the role that it has (none is empty), and the roles that it may have."""

    table: str
    column: str
    role: str
    may: tuple[str, ...]


def column_uses(
    columns: Mapping[str, str], attributes: Iterable[str], remarks: Sequence[str], *, has_roles: bool = True
) -> list[UsedColumn]:
    """Return the use of every column: of those with a role as a reader found them, and of those without one.

    >>> for use in column_uses({"nodes.id": "Nr", "links.source": "Nr", "links.target": "knows"}, ["city"], []):
    ...     print(use.column, use.role or "-", *use.may)
    Nr nodes.id nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    knows links.target nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    city - nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    """
    if not has_roles:
        return [UsedColumn("", name, "", ()) for name in dict.fromkeys([*columns.values(), *attributes])]
    key = columns.get("nodes.id")
    alone = key is not None and columns.get("links.source", key) == key
    records = "mentions.object" in columns and "objects.id" not in columns
    main = "nodes" if key is not None else "items" if "mentions.object" in columns else "links"

    def may(table: str) -> tuple[str, ...]:
        if table == "links" and not alone:
            return LINKS
        return RECORDS if records else ALONE if alone else OF_TABLE[table]

    parts = _quoted_after(PUT_TOGETHER, remarks) if alone else []
    made = {"nodes.id"} if any(NUMBERED in remark for remark in remarks) else set()
    made |= {"nodes.id" if columns.get("nodes.name", "") == "" else "nodes.name"} if parts else set()
    uses = [UsedColumn("nodes", part, "nodes.name", ("nodes.name",)) for part in parts]
    for role, name in columns.items():
        if role in made or not name or (alone and role == "links.source"):
            continue
        table = role.rpartition(".")[0] or main
        uses += [UsedColumn(table, one, role, may(table)) for one in _apart(name, role, alone)]
    uses += [UsedColumn("links", name, "", LINKS) for name in _quoted_after(NOT_USED, remarks)]
    taken = {(use.table, use.column) for use in uses}
    uses += [UsedColumn(main, name, "", may(main)) for name in attributes if (main, name) not in taken]
    return uses


def _apart(name: str, role: str, alone: bool) -> list[str]:
    """Return the columns of a role: those that name other rows may be several, with commas between."""
    return name.split(", ") if alone and role == "links.target" else [name]


def _quoted_after(words: str, remarks: Sequence[str]) -> list[str]:
    """Return the columns that a remark quotes after some words.

    >>> _quoted_after(PUT_TOGETHER, ["a.csv: names are put together of 'first', 'last' (guessed)"])
    ['first', 'last']
    """
    said = next((remark.partition(words)[2] for remark in remarks if words in remark), "")
    quoted = (said.rpartition(" (")[0] or said).removesuffix(", …")
    try:
        return [str(name) for name in ast.literal_eval(f"[{quoted}]")]
    except (SyntaxError, ValueError):
        return []
