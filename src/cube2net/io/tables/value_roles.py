"""Assign roles to columns: by name where that is certain, else by their values.

Ids are unique, ends of links are ids of nodes, texts are long, names nearly unique, weights numbers and times dates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import permutations

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import quote_few
from cube2net.io.tables.column_types import Rows, read_ids
from cube2net.io.tables.find_tables import TABLE_OF_NAME
from cube2net.io.tables.key_columns import (
    MAX_KEY_COLUMNS,
    MIN_NAME_SHARE,
    MIN_TEXT_WORDS,
    KeyColumn,
    is_nearly_unique,
    is_unique,
    mean_words,
    name_share,
    nearly_unique_keys,
    reference_share,
    sample_key_columns,
    sample_keys,
    share_in,
)
from cube2net.io.tables.link_columns import find_link_ends, is_number_name, is_time, is_weight, may_be_end
from cube2net.io.tables.single_table import has_named_rows
from cube2net.io.tables.table_roles import (
    ROLE_NAMES,
    TableColumns,
    check_required_roles,
    columns_by_name,
    has_id_name,
    normalize_name,
)
from cube2net.model.corpus import holds_text

ORDER = ("nodes", "objects", "items", "mentions", "links", "labels", "terms")
ID_ROLES = {"nodes": "id", "objects": "id", "items": "item"}
MIN_ID_SHARE = 0.5


def assign_roles(
    tables: Mapping[str, Rows], given: Mapping[str, str] | None = None, multi_valued: Collection[str] = ()
) -> dict[str, TableColumns]:
    """Return which column of every table has which role; raise where a required role has no column.

    Multi-valued columns are no names.
    """
    roles: dict[str, TableColumns] = {}
    ids: dict[str, KeyColumn] = {}
    for table in sorted(tables, key=ORDER.index):
        rows = tables[table]
        columns = columns_by_name(table, rows.table.column_names, given, called=rows.name)
        if table in ID_ROLES:
            columns = _with_text(_with_id(columns, rows, partial(_referring, table, tables)), rows)
            columns = _with_name(columns, rows, multi_valued)
        elif table == "mentions":
            columns = _with_ends(columns, rows, {"item": ids.get("items"), "object": ids.get("objects")})
        elif table == "links":
            nodes = ids.get("nodes", ids.get("objects"))
            columns = _with_ends(columns, rows, {"source": nodes, "target": nodes})
            columns = _with_link_columns(columns, rows, are_alone=nodes is None)
        check_required_roles(columns, rows.table.column_names, rows.name)
        if table in ID_ROLES:
            ids[table] = KeyColumn(rows, columns.columns[ID_ROLES[table]])
        roles[table] = columns
    return {table: roles[table] for table in tables}


# Ids


def _referring(table: str, tables: Mapping[str, Rows]) -> list[pa.ChunkedArray]:
    """Return samples of the columns of the table that refers to another."""
    rows = tables.get("links" if table == "nodes" else "mentions")
    return [] if rows is None else sample_key_columns(rows)


def _with_id(columns: TableColumns, rows: Rows, referring: Callable[[], list[pa.ChunkedArray]]) -> TableColumns:
    """Return columns with that of ids: one with such a name, else unique values that another table refers to."""
    role = ID_ROLES[columns.table]
    named = columns.columns.get(role)
    is_certain = named is not None and has_id_name(columns.table, role, named)
    if role in columns.given or is_certain or rows.table.num_rows == 0:
        return columns
    taken = [name for given, name in columns.columns.items() if given in columns.given]
    free = [name for name in rows.table.column_names if name not in taken]
    candidates = {name: ids for name in free if (ids := nearly_unique_keys(rows, name)) is not None}
    samples = referring() if candidates else []
    ends = 2 if columns.table == "nodes" else 1
    shares = {name: reference_share(ids, samples, ends) for name, ids in candidates.items()}
    unique = {
        name: is_unique(ids) for name, ids in candidates.items() if is_unique(ids) or shares[name] >= MIN_ID_SHARE
    }
    if not unique:
        return columns
    best = max(unique, key=lambda name: (shares[name], unique[name], name == named))
    if best == named or (named in unique and shares[best] == shares[named]):
        return columns
    if named is None and shares[best] == 0 and samples:
        return columns
    fixed = {given: columns.columns.get(given, "") for given in columns.given} | {role: best}
    return replace(columns_by_name(columns.table, rows.table.column_names, fixed), given=columns.given)


# Ends of links and mentions


def _with_ends(columns: TableColumns, rows: Rows, ids: Mapping[str, KeyColumn | None]) -> TableColumns:
    """Return columns with both ends: by name where they hold ids, else two columns that do, else the only two."""
    names = rows.table.column_names
    ends = list(ids)

    @cache
    def share(end: str, name: str) -> float:
        known = ids[end]
        return 0.0 if known is None else known.share(sample_keys(rows, name))

    chosen = dict(columns.columns)
    fixed = [end for end in ends if _is_end(columns, rows, end, ids[end])]
    taken = [name for role, name in chosen.items() if role in columns.given or role in fixed]
    free = [end for end in ends if end not in fixed]
    if not any(ids.values()) and free and len(names) > 3 and (pair := find_link_ends(rows)) is not None:
        others = [name for name in pair if name not in taken]
        chosen |= dict(zip(free, others if len(others) == len(free) else (), strict=False))
    if len(free) == 2 and ids[free[0]] is not ids[free[1]]:
        one, two = free
        pairs = [pair for pair in permutations(names[:MAX_KEY_COLUMNS], 2) if share(one, pair[0]) >= MIN_ID_SHARE]
        pairs = [pair for pair in pairs if share(two, pair[1]) >= MIN_ID_SHARE and not set(pair) & set(taken)]
        if pairs:
            chosen[one], chosen[two] = max(pairs, key=lambda pair: share(one, pair[0]) + share(two, pair[1]))
            free = []
    for end in free:
        likely = [name for name in names if name not in taken and share(end, name) >= MIN_ID_SHARE]
        if likely:
            best = sorted(likely, key=lambda name: -share(end, name))
            alike = [other for other in free[free.index(end) :] if ids[other] is ids[end]]
            chosen[end] = min(best[: len(alike)], key=names.index)
        elif chosen.get(end) is None and len(names) in (2, 3):
            others = [chosen[other] for other in ends if other in chosen]
            first = [name for name in names[:2] if name not in (*taken, *others)]
            if first:
                chosen[end] = first[0]
        if end in chosen:
            taken.append(chosen[end])
    of_ends = [name for role, name in chosen.items() if role in ends]
    chosen = {role: name for role, name in chosen.items() if role in ends or name not in of_ends}
    unused = tuple(name for name in names if name not in chosen.values())
    return replace(columns, columns=chosen, unused=unused)


def _is_end(columns: TableColumns, rows: Rows, end: str, ids: KeyColumn | None) -> bool:
    """Return whether the column of an end is given, or has such a name and some ids."""
    named = columns.columns.get(end)
    if end in columns.given or named is None:
        return end in columns.given
    return ids is None or rows.table.num_rows == 0 or ids.has_some(sample_keys(rows, named))


# Weights and times of links


def _with_link_columns(columns: TableColumns, rows: Rows, *, are_alone: bool) -> TableColumns:
    """Return columns of links with the only column of numbers as the weight and the only one of dates as the time."""
    if rows.table.num_rows == 0:
        return columns
    remarks = []
    fits = {"time": is_time, "weight": is_weight}
    for role, is_fit in fits.items():
        if role in columns.columns or role in columns.given:
            continue
        others = {name for other, names in ROLE_NAMES["links"].items() if other != role for name in names}
        likely = [name for name in columns.unused if normalize_name(name) not in others and is_fit(rows, name)]
        if len(likely) == 1:
            columns = columns.with_column(role, likely[0])
        elif likely:
            setting = f"columns={{'links.{role}': {likely[0]!r}}}"
            remarks.append(
                f"{rows.name}: {quote_few(likely)} could each be the {role}, so none is ({setting} to choose)"
            )
    if columns.unused and are_alone:
        remarks.append(f"columns of links that may become dimensions: {quote_few(columns.unused, 20)}")
    elif columns.unused:
        first = columns.unused[0]
        role = next((role for role, is_fit in fits.items() if is_fit(rows, first)), "kind")
        setting = f"columns={{'links.{role}': {first!r}}}"
        remarks.append(
            f"columns of links not used: {quote_few(columns.unused, 20)} (each may be weight, kind or time: {setting})"
        )
    in_order = {role: columns.columns[role] for role in ROLE_NAMES["links"] if role in columns.columns}
    return replace(columns, columns=in_order, remarks=tuple(remarks))


# Texts and names


def _with_text(columns: TableColumns, rows: Rows) -> TableColumns:
    """Return columns with that of the longest texts, where no name says which it is."""
    if "text" in (*columns.columns, *columns.given) or columns.table == "objects":
        return columns
    words = {name: mean_words(rows.table[name]) for name in columns.unused if holds_text(rows.table[name].type)}
    best = max(words, key=words.__getitem__, default=None)
    return columns if best is None or words[best] < MIN_TEXT_WORDS else columns.with_column("text", best)


def _with_name(columns: TableColumns, rows: Rows, multi_valued: Collection[str]) -> TableColumns:
    """Return columns with that of short texts nearest to unique as the name, where no name says which it is."""
    if "name" in (*columns.columns, *columns.given) or columns.table == "items" or rows.table.num_rows < 2:
        return columns
    shares = {name: name_share(rows, name) for name in columns.unused if name not in multi_valued}
    best = max(shares, key=shares.__getitem__, default=None)
    return columns if best is None or shares[best] < (MIN_NAME_SHARE, 0) else columns.with_column("name", best)


# A single table of links


def are_links_by_name(rows: Rows, file_name: str, given: Mapping[str, str]) -> bool:
    """Return whether a single table is named as links, or has both ends by name.

    A row that is somebody, by an id and a name, is no link although its columns could be ends by their names.
    """
    if TABLE_OF_NAME.get(file_name.casefold()) == "links":
        return True
    columns = columns_by_name("links", rows.table.column_names, given, called=rows.name)
    ends = {"source", "target"}
    return ends <= set(columns.columns) and (ends <= set(columns.given) or not has_named_rows(rows, columns.unused))


def are_links_by_values(rows: Rows) -> bool:
    """Return whether a table links what two of its columns hold: the first two where a third weighs or dates them.

    Values of the two columns come on both sides, or again on either. In a wider table they often come on both sides,
    and no column tells the rows apart.
    """
    names = rows.table.column_names
    if len(names) < 2 or rows.table.num_rows == 0 or any(has_id_name("nodes", "id", name) for name in names):
        return False
    if len(names) > 3:
        others = [name for name in names[:MAX_KEY_COLUMNS] if not (is_weight(rows, name) or is_time(rows, name))]
        ends = find_link_ends(rows)
        if ends is None:
            return False
        unique = [name for name in others if is_nearly_unique(rows, name)]
        return not unique or _stand_first(rows, ends, unique)
    if len(names) == 3 and not (is_weight(rows, names[2]) or is_time(rows, names[2])):
        return False
    one, other = (sample_keys(rows, name) for name in names[:2])
    if one is None or other is None or not all(may_be_end(rows, name) for name in names[:2]):
        return False
    on_both_sides = share_in(one, read_ids(rows, names[1])) > 0 and share_in(other, read_ids(rows, names[0])) > 0
    return on_both_sides or all(pc.count_distinct(ends).as_py() < len(ends) for ends in (one, other))


def _stand_first(rows: Rows, ends: tuple[str, str], unique: Sequence[str]) -> bool:
    """Return whether the ends of links stand before all columns that tell rows apart, and mostly hold the same values.

    Numbers and times of the links may stand before them.
    """
    first = [name for name in rows.table.column_names if not (is_number_name(name) or is_time(rows, name))][:2]
    samples = [sample_keys(rows, name) for name in ends]
    if set(first) != set(ends) or set(ends) & set(unique) or any(sample is None for sample in samples):
        return False
    return all(
        share_in(sample, read_ids(rows, other)) >= MIN_ID_SHARE
        for sample, other in zip(samples, reversed(ends), strict=True)
        if sample is not None
    )
