"""Why the cells of a cube leave many objects out, and what would hold more of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.arrays import row_of_entries
from cube2net.propose import tally
from cube2net.records import Corpus, Cube, DimensionSpec

FEW = 0.1
"""Cells that hold a smaller share of the objects are nearly none."""
MOST_LEFT_OUT = 0.2
"""Where a larger share of the objects is in no cell, this is said."""


def why_few_cells(cube: Cube, corpus: Corpus, specs: Sequence[DimensionSpec], min_objects: int) -> str:
    """Return why the cells of a cube hold few of its objects, or an empty text where they do not.

    >>> from cube2net.pipeline import build_cube, make_planted
    >>> corpus = make_planted(objects=200, communities=4).corpus
    >>> specs = [DimensionSpec("year", "year")]
    >>> print(why_few_cells(build_cube(corpus, specs, min_objects=150), corpus, specs, 150).partition(": ")[2])
    'year' has 49 labels for 229 items: bins would hold more (year@decades), or a smaller min_objects
    """
    inside = int((cube.homes.sizes > 0).sum())
    cells = len(cube.cells.members.sizes)
    if cells and inside >= FEW * len(cube.objects):
        left_out = 1 - inside / len(cube.objects)
        return _say_left_out(cube, left_out, min_objects) if left_out > MOST_LEFT_OUT else ""
    found = f"{cells:,} cell{'s' if cells != 1 else ''}"
    found += f", which hold {inside:,} of {len(cube.objects):,} objects, for few have" if cells else ", for none has"
    helps = [hint for spec in specs if (hint := _finer(corpus, spec, min_objects))]
    helps += ["fewer dimensions"] * (len(specs) > 1) + ["a smaller min_objects"] * (min_objects > 1)
    return f"{found} {min_objects:,} objects: {', or '.join(helps)}" if helps else f"{found} {min_objects:,} objects"


def _say_left_out(cube: Cube, left_out: float, min_objects: int) -> str:
    """Return the share of the objects in no cell, and how it becomes smaller."""
    helps = ["a smaller min_objects"] * (min_objects > 1)
    if len(cube.dimensions) > 1:
        shares = [_left_out_without(cube, place, min_objects) for place in range(len(cube.dimensions))]
        best = int(np.argmin(shares))
        helps += [f"fewer or coarser dimensions (without {cube.dimensions[best].name!r} it is {shares[best]:.0%})"]
    else:
        helps += ["an attribute with fewer labels"]
    return f"{left_out:.0%} of the objects are in no cell of {min_objects:,} or more: {', or '.join(helps)} would help"


def _left_out_without(cube: Cube, dimension: int, min_objects: int) -> float:
    """Return the share of the objects that would be in no cell without a dimension."""
    parts, objects = (cube.cells, cube.small), len(cube.objects)
    labels = np.delete(np.concatenate([part.labels for part in parts]), dimension, axis=1)
    _, merged = np.unique(labels, axis=0, return_inverse=True)
    rows = np.concatenate([row_of_entries(parts[0].members), row_of_entries(parts[1].members) + len(parts[0])])
    members = np.concatenate([part.members.indices for part in parts])
    cell, thing = np.divmod(np.unique(merged.reshape(-1)[rows] * objects + members), objects)
    return 1 - tally(cell, thing, objects, min_objects).share


def _finer(corpus: Corpus, spec: DimensionSpec, min_objects: int) -> str:
    """Return that the labels of a dimension are many for the items there are, and what would make them fewer."""
    if spec.bins is not None or spec.attribute not in corpus.items.column_names:
        return ""
    column = corpus.items[spec.attribute]
    values = pc.list_flatten(column) if pa.types.is_list(column.type) else column
    count, items = pc.count_distinct(values).as_py(), len(values) - values.null_count
    if count == 0:
        return f"{spec.attribute!r} is empty"
    if count * min_objects <= items:
        return ""
    name = spec.name if spec.name == spec.attribute else f"{spec.name}={spec.attribute}"
    said = f"{spec.attribute!r} has {count:,} labels for {items:,} items"
    if pa.types.is_temporal(values.type) or spec.attribute == "year":
        return f"{said}: bins would hold more ({name}@decades)"
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return f"{said}: bins would hold more ({name}@quantiles:4)"
    return f"{said}: another attribute has fewer"
