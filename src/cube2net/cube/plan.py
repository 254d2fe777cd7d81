"""The SQL statements that compute a cube, the same for every engine.

Inputs are ``mentions(item, object)`` and ``labels(item, dimension, label)``. A combination of labels is one whole
number, its *key*: label₀·n₁·n₂ + label₁·n₂ + label₂ for dimensions of n₀, n₁, n₂ labels. The statements use only
joins, DISTINCT, GROUP BY and window numbering.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cube2net._util.arrays import MAX_KEY, Array
from cube2net.errors import ParameterError

WANTED = ("cells", "members")
WANTED_LINKS = ("links", "crowded")


def make_statements(sizes: Sequence[int], *, min_objects: int, max_mentions: int, links: bool) -> dict[str, str]:
    """Return the statements by the table that each creates, for dimensions with these numbers of labels."""
    plan = {
        "distinct_mentions": "SELECT DISTINCT item, object FROM mentions",
        "item_keys": _item_keys(sizes),
        "key_objects": (
            "SELECT DISTINCT k.cell_key, m.object FROM item_keys k JOIN distinct_mentions m ON m.item = k.item"
        ),
        "key_sizes": "SELECT cell_key, COUNT(*) AS objects FROM key_objects GROUP BY cell_key",
        "cells": (
            "SELECT CAST(ROW_NUMBER() OVER "
            f"(ORDER BY CASE WHEN objects >= {int(min_objects)} THEN 0 ELSE 1 END, cell_key) - 1 AS BIGINT) AS cell, "
            "cell_key, objects FROM key_sizes"
        ),
        "members": (
            "SELECT c.cell, o.object FROM cells c JOIN key_objects o ON o.cell_key = c.cell_key "
            "ORDER BY c.cell, o.object"
        ),
    }
    if links:
        plan |= {
            "crowded": f"SELECT item FROM distinct_mentions GROUP BY item HAVING COUNT(*) > {int(max_mentions)}",
            "linking_mentions": (
                "SELECT m.item, m.object FROM distinct_mentions m LEFT JOIN crowded c ON c.item = m.item "
                "WHERE c.item IS NULL"
            ),
            "links": (
                "SELECT a.object AS source, b.object AS target, CAST(COUNT(*) AS REAL) AS weight "
                "FROM linking_mentions a JOIN linking_mentions b ON a.item = b.item AND a.object < b.object "
                "GROUP BY a.object, b.object ORDER BY a.object, b.object"
            ),
        }
    return plan


def split_keys(keys: Array, sizes: Sequence[int]) -> Array:
    """Return the labels of every key, one row each.
    >>> split_keys(np.array([0, 7]), [2, 4]).tolist()
    [[0, 0], [1, 3]]
    """
    columns = []
    for size in reversed(sizes):
        columns.append(keys % size)
        keys = keys // size
    return np.stack(columns[::-1], axis=1).astype(np.int32)


def _item_keys(sizes: Sequence[int]) -> str:
    product = 1
    for size in sizes:
        product *= max(size, 1)
    if product >= MAX_KEY:
        raise ParameterError(f"dimensions of {' × '.join(f'{size:,}' for size in sizes)} labels make too many cells")
    key = "CAST(d0.label AS BIGINT)"
    for number, size in enumerate(sizes[1:], start=1):
        key = f"({key} * {size} + d{number}.label)"
    joins = " ".join(
        f"JOIN labels d{number} ON d{number}.item = d0.item AND d{number}.dimension = {number}"
        for number in range(1, len(sizes))
    )
    return f"SELECT d0.item, {key} AS cell_key FROM labels d0 {joins} WHERE d0.dimension = 0"
