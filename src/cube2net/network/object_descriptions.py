"""What objects are, in a few words that tell them from others of their name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.network.node_columns import ITEMS, count_labels, node_columns
from cube2net.records import Cube
from cube2net.records.explanation import counted


def about_objects(cube: Cube, rows: Array) -> list[dict[str, Any]]:
    """Return for every object of some rows its id, name, kind, and in a few words what tells it from others.

    The words are how many items mention it, and its commonest label of every dimension; where no items are kept, how
    many links it has.
    """
    table = cube.objects.table.take(pa.array(rows))
    counts = count_labels(cube, rows)
    if counts is None:
        said = [[counted(number, "link")] for number in np.diff(cube.links.indptr)[rows].tolist()]
    else:
        said = [[counted(number, "item")] for number in counts.items.tolist()]
        for name in counts.dimensions:
            for words, label in zip(said, counts.commonest(name).to_pylist(), strict=True):
                words.extend([] if label is None else [label])
    columns = (cube.objects.ids(rows).to_pylist(), table["name"].to_pylist(), table["kind"].to_pylist(), said)
    return [
        {"id": key, "name": name, "kind": kind, "about": " · ".join(words)}
        for key, name, kind, words in zip(*columns, strict=True)
    ]


def columns_of(cube: Cube, row: int) -> list[tuple[str, str]]:
    """Return what a cube knows of an object, as texts by the names of its columns, without what is missing."""
    table = node_columns(cube, np.array([row], dtype=np.int64))
    said = []
    for name in table.column_names:
        value = table[name][0].as_py()
        if name != ITEMS and value is not None and value != "":
            said.append((name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return said
