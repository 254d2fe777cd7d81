"""Assign roles to columns: by name if that is certain, else by their values.

Ids are unique, ends of links are ids of nodes, texts are long, names are nearly unique, weights are numbers and times
are dates.
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

TABLE_ORDER = ("nodes", "objects", "items", "mentions", "links", "labels", "terms")
ID_ROLES = {"nodes": "id", "objects": "id", "items": "item"}
MIN_ID_SHARE = 0.5


def assign_roles(
    tables: Mapping[str, Rows], given_columns: Mapping[str, str] | None = None, multi_valued: Collection[str] = ()
) -> dict[str, TableColumns]:
    """Return the columns of every table by role; raise if a required role has no column.

    Multi-valued columns are not names.
    """
    roles: dict[str, TableColumns] = {}
    ids: dict[str, KeyColumn] = {}
    for table in sorted(tables, key=TABLE_ORDER.index):
        rows = tables[table]
        columns = columns_by_name(table, rows.table.column_names, given_columns, called=rows.name)
        if table in ID_ROLES:
            columns = _add_text(_add_id(columns, rows, partial(_sample_referring_columns, table, tables)), rows)
            columns = _add_name(columns, rows, multi_valued)
        elif table == "mentions":
            columns = _add_ends(columns, rows, {"item": ids.get("items"), "object": ids.get("objects")})
        elif table == "links":
            nodes = ids.get("nodes", ids.get("objects"))
            columns = _add_ends(columns, rows, {"source": nodes, "target": nodes})
            columns = _add_link_columns(columns, rows, are_alone=nodes is None)
        check_required_roles(columns, rows.table.column_names, rows.name)
        if table in ID_ROLES:
            ids[table] = KeyColumn(rows, columns.columns[ID_ROLES[table]])
        roles[table] = columns
    return {table: roles[table] for table in tables}


# Ids


def _sample_referring_columns(table: str, tables: Mapping[str, Rows]) -> list[pa.ChunkedArray]:
    """Return samples of the columns of the table that refers to a table of nodes, objects or items."""
    rows = tables.get("links" if table == "nodes" else "mentions")
    return [] if rows is None else sample_key_columns(rows)


def _add_id(columns: TableColumns, rows: Rows, sample_columns: Callable[[], list[pa.ChunkedArray]]) -> TableColumns:
    """Add the column of ids: one with a name for ids, else a unique one to which another table refers."""
    role = ID_ROLES[columns.table]
    named_column = columns.columns.get(role)
    is_certain = named_column is not None and has_id_name(columns.table, role, named_column)
    if role in columns.given or is_certain or rows.table.num_rows == 0:
        return columns
    given_names = [name for given_role, name in columns.columns.items() if given_role in columns.given]
    free_names = [name for name in rows.table.column_names if name not in given_names]
    candidates = {name: ids for name in free_names if (ids := nearly_unique_keys(rows, name)) is not None}
    samples = sample_columns() if candidates else []
    n_ends = 2 if columns.table == "nodes" else 1
    shares = {name: reference_share(ids, samples, n_ends) for name, ids in candidates.items()}
    unique_columns = {
        name: is_unique(ids) for name, ids in candidates.items() if is_unique(ids) or shares[name] >= MIN_ID_SHARE
    }
    if not unique_columns:
        return columns
    best = max(unique_columns, key=lambda name: (shares[name], unique_columns[name], name == named_column))
    if best == named_column or (named_column in unique_columns and shares[best] == shares[named_column]):
        return columns
    if named_column is None and shares[best] == 0 and samples:
        return columns
    fixed_columns = {given_role: columns.columns.get(given_role, "") for given_role in columns.given} | {role: best}
    return replace(columns_by_name(columns.table, rows.table.column_names, fixed_columns), given=columns.given)


# Ends of links and mentions


def _add_ends(columns: TableColumns, rows: Rows, ids: Mapping[str, KeyColumn | None]) -> TableColumns:
    """Add both ends: columns named so that hold ids, else two columns that hold ids, else the only two."""
    names = rows.table.column_names
    ends = list(ids)

    @cache
    def share(end: str, name: str) -> float:
        key_column = ids[end]
        return 0.0 if key_column is None else key_column.share(sample_keys(rows, name))

    chosen = dict(columns.columns)
    fixed_ends = [end for end in ends if _is_end(columns, rows, end, ids[end])]
    taken_names = [name for role, name in chosen.items() if role in columns.given or role in fixed_ends]
    free_ends = [end for end in ends if end not in fixed_ends]
    if not any(ids.values()) and free_ends and len(names) > 3 and (pair := find_link_ends(rows)) is not None:
        other_names = [name for name in pair if name not in taken_names]
        chosen |= dict(zip(free_ends, other_names if len(other_names) == len(free_ends) else (), strict=False))
    if len(free_ends) == 2 and ids[free_ends[0]] is not ids[free_ends[1]]:
        first_end, second_end = free_ends
        pairs = [pair for pair in permutations(names[:MAX_KEY_COLUMNS], 2) if share(first_end, pair[0]) >= MIN_ID_SHARE]
        pairs = [
            pair for pair in pairs if share(second_end, pair[1]) >= MIN_ID_SHARE and not set(pair) & set(taken_names)
        ]
        if pairs:
            chosen[first_end], chosen[second_end] = max(
                pairs, key=lambda pair: share(first_end, pair[0]) + share(second_end, pair[1])
            )
            free_ends = []
    for end in free_ends:
        likely = [name for name in names if name not in taken_names and share(end, name) >= MIN_ID_SHARE]
        if likely:
            best_names = sorted(likely, key=lambda name: -share(end, name))
            equivalent_ends = [other for other in free_ends[free_ends.index(end) :] if ids[other] is ids[end]]
            chosen[end] = min(best_names[: len(equivalent_ends)], key=names.index)
        elif chosen.get(end) is None and len(names) in (2, 3):
            other_names = [chosen[other] for other in ends if other in chosen]
            free_names = [name for name in names[:2] if name not in (*taken_names, *other_names)]
            if free_names:
                chosen[end] = free_names[0]
        if end in chosen:
            taken_names.append(chosen[end])
    end_names = [name for role, name in chosen.items() if role in ends]
    chosen = {role: name for role, name in chosen.items() if role in ends or name not in end_names}
    unused = tuple(name for name in names if name not in chosen.values())
    return replace(columns, columns=chosen, unused=unused)


def _is_end(columns: TableColumns, rows: Rows, end: str, ids: KeyColumn | None) -> bool:
    """Return whether the column of an end is given, or named so and holds some ids."""
    named_column = columns.columns.get(end)
    if end in columns.given or named_column is None:
        return end in columns.given
    return ids is None or rows.table.num_rows == 0 or ids.has_some(sample_keys(rows, named_column))


# Weights and times of links


def _add_link_columns(columns: TableColumns, rows: Rows, *, are_alone: bool) -> TableColumns:
    """Add the only column of numbers as the weight of links, and the only column of dates as their time."""
    if rows.table.num_rows == 0:
        return columns
    remarks = []
    checks = {"time": is_time, "weight": is_weight}
    for role, is_fit in checks.items():
        if role in columns.columns or role in columns.given:
            continue
        other_role_names = {name for other, names in ROLE_NAMES["links"].items() if other != role for name in names}
        candidates = [
            name for name in columns.unused if normalize_name(name) not in other_role_names and is_fit(rows, name)
        ]
        if len(candidates) == 1:
            columns = columns.with_column(role, candidates[0])
        elif candidates:
            setting = f"columns={{'links.{role}': {candidates[0]!r}}}"
            remarks.append(
                f"{rows.name}: {quote_few(candidates)} could each be the {role}, so none is ({setting} to choose)"
            )
    if columns.unused and are_alone:
        remarks.append(f"columns of links that may become dimensions: {quote_few(columns.unused, 20)}")
    elif columns.unused:
        first_unused = columns.unused[0]
        role = next((role for role, is_fit in checks.items() if is_fit(rows, first_unused)), "kind")
        setting = f"columns={{'links.{role}': {first_unused!r}}}"
        remarks.append(
            f"columns of links not used: {quote_few(columns.unused, 20)} (each may be weight, kind or time: {setting})"
        )
    ordered_columns = {role: columns.columns[role] for role in ROLE_NAMES["links"] if role in columns.columns}
    return replace(columns, columns=ordered_columns, remarks=tuple(remarks))


# Texts and names


def _add_text(columns: TableColumns, rows: Rows) -> TableColumns:
    """Add the column of the longest texts, if no column is named so."""
    if "text" in (*columns.columns, *columns.given) or columns.table == "objects":
        return columns
    words = {name: mean_words(rows.table[name]) for name in columns.unused if holds_text(rows.table[name].type)}
    best = max(words, key=words.__getitem__, default=None)
    return columns if best is None or words[best] < MIN_TEXT_WORDS else columns.with_column("text", best)


def _add_name(columns: TableColumns, rows: Rows, multi_valued: Collection[str]) -> TableColumns:
    """Add the most distinct column of short texts as the name, if no column is named so."""
    if "name" in (*columns.columns, *columns.given) or columns.table == "items" or rows.table.num_rows < 2:
        return columns
    shares = {name: name_share(rows, name) for name in columns.unused if name not in multi_valued}
    best = max(shares, key=shares.__getitem__, default=None)
    return columns if best is None or shares[best] < (MIN_NAME_SHARE, 0) else columns.with_column("name", best)


# A single table of links


def are_links_by_name(rows: Rows, file_name: str, given_columns: Mapping[str, str]) -> bool:
    """Return whether the file of a single table is named like links, or both ends have usual names.

    Rows with an id and a name are not links, even if their columns could be ends by their names.
    """
    if TABLE_OF_NAME.get(file_name.casefold()) == "links":
        return True
    columns = columns_by_name("links", rows.table.column_names, given_columns, called=rows.name)
    ends = {"source", "target"}
    return ends <= set(columns.columns) and (ends <= set(columns.given) or not has_named_rows(rows, columns.unused))


def are_links_by_values(rows: Rows) -> bool:
    """Return whether a table holds links, by its values: the first two columns are ends, a third is a weight or time.

    Some values occur in both columns, or are repeated in each. In a wider table many values must occur in both, and no
    column identifies the rows.
    """
    names = rows.table.column_names
    if len(names) < 2 or rows.table.num_rows == 0 or any(has_id_name("nodes", "id", name) for name in names):
        return False
    if len(names) > 3:
        other_columns = [name for name in names[:MAX_KEY_COLUMNS] if not (is_weight(rows, name) or is_time(rows, name))]
        ends = find_link_ends(rows)
        if ends is None:
            return False
        unique_columns = [name for name in other_columns if is_nearly_unique(rows, name)]
        return not unique_columns or _are_ends_first(rows, ends, unique_columns)
    if len(names) == 3 and not (is_weight(rows, names[2]) or is_time(rows, names[2])):
        return False
    sources, targets = (sample_keys(rows, name) for name in names[:2])
    if sources is None or targets is None or not all(may_be_end(rows, name) for name in names[:2]):
        return False
    have_shared_values = (
        share_in(sources, read_ids(rows, names[1])) > 0 and share_in(targets, read_ids(rows, names[0])) > 0
    )
    return have_shared_values or all(pc.count_distinct(ends).as_py() < len(ends) for ends in (sources, targets))


def _are_ends_first(rows: Rows, ends: tuple[str, str], unique_columns: Sequence[str]) -> bool:
    """Return whether the ends of links precede all columns that identify rows, and mostly hold the same values.

    Numbers and times of the links may precede the ends.
    """
    first_columns = [name for name in rows.table.column_names if not (is_number_name(name) or is_time(rows, name))][:2]
    samples = [sample_keys(rows, name) for name in ends]
    if set(first_columns) != set(ends) or set(ends) & set(unique_columns) or any(sample is None for sample in samples):
        return False
    return all(
        share_in(sample, read_ids(rows, other_end)) >= MIN_ID_SHARE
        for sample, other_end in zip(samples, reversed(ends), strict=True)
        if sample is not None
    )
