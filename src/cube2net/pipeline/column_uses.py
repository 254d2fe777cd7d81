"""Which column of a spreadsheet is used as what, and what else it may be: the roles that the reader takes for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cube2net.sources import TableRoles

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
SINGLE = (*NODES, "links.target", "mentions.object")
"""What a column may be of one table of people or things: it may name other rows, too, or bring others together."""
RECORDS = ("items.item", "mentions.object", "name", "text")
"""What a column may be of one table whose rows are records."""
MAIN_TABLE = {"single": "nodes", "network": "nodes", "records": "items", "items": "items", "links": "links"}
"""The table of the attributes, by the layout of the tables."""


@dataclass(frozen=True)
class UsedColumn:
    """A column of a table, the role that it has (none is empty), and the roles that it may have."""

    table: str
    column: str
    role: str
    may: tuple[str, ...]


def column_uses(roles: TableRoles | None, attributes: Iterable[str]) -> list[UsedColumn]:
    """Return the use of every column: of those with a role, and of attributes; columns of graphs have no roles.

    >>> from cube2net.sources import ColumnRole
    >>> found = ColumnRole("nodes", "Nr", "nodes.id"), ColumnRole("links", "knows", "links.target")
    >>> for use in column_uses(TableRoles("single", found), ["city"]):
    ...     print(use.column, use.role or "-", *use.may)
    Nr nodes.id nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    knows links.target nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    city - nodes.id nodes.name nodes.kind nodes.text links.target mentions.object
    """
    if roles is None:
        return [UsedColumn("", name, "", ()) for name in attributes]
    main = MAIN_TABLE[roles.layout]
    uses = [
        UsedColumn(each.table, each.column, each.role, (each.role,) if each.is_name_part else _may(roles, each.table))
        for each in roles.columns
    ]
    taken = {(use.table, use.column) for use in uses}
    uses += [UsedColumn(main, name, "", _may(roles, main)) for name in attributes if (main, name) not in taken]
    return uses


def _may(roles: TableRoles, table: str) -> tuple[str, ...]:
    """Return the roles that a column of a table may have."""
    if roles.layout == "single":
        return SINGLE
    return RECORDS if roles.layout == "records" and table != "links" else OF_TABLE.get(table, ())
