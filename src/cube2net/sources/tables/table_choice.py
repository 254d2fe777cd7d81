"""Which table is what where no name tells: nodes have ids, and two columns of links hold these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path

from cube2net.errors import SourceError
from cube2net.sources.tables.column_types import Rows
from cube2net.sources.tables.id_columns import MOST_COLUMNS, linked, nearly_unique, sample, share_of
from cube2net.sources.tables.table_roles import is_sure, named_columns
from cube2net.sources.tables.workbooks import Sheet

RECORDS = "records"
"""What a table is called that comes alone: its rows name records and the objects that these mention."""
NO_LINKS = "being empty or a note, or naming no rows of another sheet in two columns"
"""Why sheets beside one that comes alone are not read."""
MOST, SURELY = 0.5, 0.9
LOCK = "~$"
"""How the names begin of the files that Excel leaves beside those it has open."""


@dataclass(frozen=True)
class FoundTables:
    """Which file or sheet is what, what is to be said of that, and whether the values are to decide."""

    files: dict[str, Path | Sheet]
    remarks: list[str] = field(default_factory=list)
    unsure: str | None = None

    def after(self, remarks: list[str]) -> FoundTables:
        """Return the same, said after other remarks."""
        return replace(self, remarks=[*remarks, *self.remarks])


def without_locks(paths: list[Path]) -> tuple[list[Path], list[str]]:
    """Return paths but for those that only say that a file is open, and the names of these; refused where all are."""
    kept = [path for path in paths if not path.name.startswith(LOCK)]
    if paths and not kept:
        name = paths[0].name
        raise SourceError(
            f"{name!r} is no table: Excel leaves it while a file is open, give {name.removeprefix(LOCK)!r} itself"
        )
    return kept, [path.name for path in paths if path.name.startswith(LOCK)]


def are_named(nodes: Rows, links: Rows) -> bool:
    """Return whether the names of columns say which table has the ids and which the ends of links."""
    ids = named_columns("nodes", nodes.table.column_names).columns.get("id")
    ends = named_columns("links", links.table.column_names).columns
    return ids is not None and is_sure("nodes", "id", ids) and {"source", "target"} <= set(ends)


def are_swapped(nodes: Rows, links: Rows) -> bool:
    """Return whether values say that the nodes are the links, and the links the nodes."""
    if are_named(nodes, links) or linked(nodes, links) >= MOST:
        return False
    return linked(links, nodes) >= SURELY


def by_their_values(nodes: Rows, links: Rows, unsure: str, say: Callable[[str], None]) -> dict[str, Rows]:
    """Return which of two tables are nodes and which links; refused with ``unsure``, if any, where nothing tells."""
    if not are_swapped(nodes, links):
        if unsure and linked(nodes, links) < SURELY:
            raise SourceError(unsure)
        return {"nodes": nodes, "links": links}
    say(f"by their values nodes are in {links.name}, links are in {nodes.name} (guessed)")
    return {"nodes": links, "links": nodes}


def the_pair(tables: Mapping[str, Rows]) -> dict[str, str]:
    """Return which table is the nodes and which the links among some, nothing where no such pair is or several are."""
    found = [(one, other) for one, other in permutations(tables, 2) if linked(tables[one], tables[other]) >= SURELY]
    return dict(zip(("nodes", "links"), found[0], strict=True)) if len(found) == 1 else {}


def one_alone(tables: Mapping[str, Rows]) -> dict[str, str]:
    """Return the first of some tables alone, or as nodes where the rows of just one other link many of its rows."""
    if not tables:
        return {}
    first, *others = tables
    linking = [other for other in others if linked(tables[first], tables[other]) >= MOST]
    return {"nodes": first, "links": linking[0]} if len(linking) == 1 else {RECORDS: first}


def mentions_both(objects: Rows, items: Rows, mentions: Rows) -> bool:
    """Return whether a table has the ids of two others in two columns."""
    known = [_columns_of_ids(table, mentions) for table in (objects, items)]
    return any(one != other for one in known[0] for other in known[1])


def _columns_of_ids(table: Rows, mentions: Rows) -> list[str]:
    found = [nearly_unique(table, name) for name in table.table.column_names[:MOST_COLUMNS]]
    samples = {name: sample(mentions, name) for name in mentions.table.column_names[:MOST_COLUMNS]}
    return [
        name
        for name, values in samples.items()
        if values is not None and any(ids is not None and share_of(values, ids) >= SURELY for ids in found)
    ]
