"""One table of nodes alone, as a spreadsheet of people is: who a row is, and which columns name other rows.

A name may stand in several columns (first and last name), or be no id, for two rows bear it. Columns that name other
rows (``knows``, ``manager``), one in a field or several, are the links.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import listed
from cube2net.records.column_kinds import decoded, holds_text
from cube2net.sources.tables.column_types import Rows
from cube2net.sources.tables.dialects import LIKE_A_NUMBER
from cube2net.sources.tables.id_columns import MOST_COLUMNS
from cube2net.sources.tables.row_identity import named_rows
from cube2net.sources.tables.row_references import links_of, references, said_references
from cube2net.sources.tables.table_roles import ColumnRole, TableRoles


@dataclass(frozen=True, eq=False)
class LoneTable:
    """The nodes of one table and the links among them, each where there are any, and which column is what.

    ``references`` are the columns that name other rows, and ``name_parts`` those of which the name is put together.
    """

    nodes: Rows
    links: Rows | None
    columns: Mapping[str, str]
    references: tuple[str, ...]
    name_parts: tuple[str, ...]
    created: tuple[str, ...]
    """The columns of the nodes that the table as it was read does not have."""

    @property
    def tables(self) -> dict[str, Rows]:
        """The tables by what they are."""
        return {"nodes": self.nodes} | ({} if self.links is None else {"links": self.links})

    def roles(self, columns: Mapping[str, Mapping[str, str]]) -> TableRoles:
        """Return the roles of the columns that were read; ``columns`` are those of the nodes and links by role."""
        found = [ColumnRole("nodes", part, "nodes.name", is_name_part=True) for part in self.name_parts]
        for role, name in columns["nodes"].items():
            if name not in self.created:
                found.append(ColumnRole("nodes", name, f"nodes.{role}"))
        found += [ColumnRole("links", name, "links.target") for name in self.references]
        return TableRoles("single", tuple(found))


def first_row_is_data(rows: Rows) -> bool:
    """Return whether what was taken for the names of columns are values: they come again below, or are numbers."""
    again = [name for name in rows.table.column_names[:MOST_COLUMNS] if _comes_again(rows, name)]
    numbers = [name for name in rows.table.column_names if LIKE_A_NUMBER.fullmatch(name) and name.strip()]
    return len(again) + bool(again and numbers) > 1


def _comes_again(rows: Rows, name: str) -> bool:
    column = decoded(rows.table[name])
    if not holds_text(column.type):
        return False
    return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(pc.cast(column, pa.string())), name.strip())).as_py())


def names_other_rows(rows: Rows) -> bool:
    """Return whether a column of a table names other rows of it."""
    named = named_rows(rows, {}, lambda _: None)
    return bool(references(named.rows, named.key, named.name))


def lone_table(rows: Rows, given: Mapping[str, str], say: Callable[[str], None]) -> LoneTable:
    """Return what one table of nodes holds; ``given`` says which column is what, and what is guessed is said."""
    named = named_rows(_without_empty_rows(rows, say), given, say)
    key, name = named.key, named.name or None
    said = given.get("links.target")
    referring = references(named.rows, key, name) if said is None else said_references(named.rows, key, name, said)
    if not referring:
        say(f"{rows.name}: no column names other rows, so there are no links: what is alike is together in cells alone")
        return LoneTable(named.rows, None, named.columns, (), named.name_parts, named.created)
    links = links_of(named.rows, key, name, referring)
    columns = list(referring)
    left = named.rows.table.drop_columns(columns)
    how = "guessed" if said is None else "given"
    say(f"{rows.name}: links are in {listed([repr(column) for column in columns])}, which names other rows ({how})")
    return LoneTable(
        replace(named.rows, table=left),
        links,
        {**named.columns, "links.source": links.table.column_names[0], "links.target": links.table.column_names[1]},
        tuple(columns),
        named.name_parts,
        named.created,
    )


def _without_empty_rows(rows: Rows, say: Callable[[str], None]) -> Rows:
    """Return a table without the rows that hold nothing, as stand at the end of many a sheet."""
    filled = np.zeros(rows.table.num_rows, dtype=bool)
    for column in rows.table.columns:
        filled |= pc.is_valid(column).to_numpy()
    if filled.all() or not filled.any():
        return rows
    kept = np.flatnonzero(filled)
    say(f"{rows.name}: rows without any value are passed over: {len(filled) - len(kept):,}")
    places = rows.places
    return replace(
        rows, table=rows.table.take(pa.array(kept)), places=lambda some: places([int(kept[row]) for row in some])
    )
