"""Why a cube has no cells, or nearly none, and what would make some."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.records import Corpus, Cube, DimensionSpec

FEW = 0.1
"""Cells that hold a smaller share of the objects are nearly none."""


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
        return ""
    found = f"{cells:,} cell{'s' if cells != 1 else ''}"
    found += f", which hold {inside:,} of {len(cube.objects):,} objects, for few have" if cells else ", for none has"
    helps = [hint for spec in specs if (hint := _finer(corpus, spec, min_objects))]
    helps += ["fewer dimensions"] * (len(specs) > 1) + ["a smaller min_objects"] * (min_objects > 1)
    return f"{found} {min_objects:,} objects: {', or '.join(helps)}" if helps else f"{found} {min_objects:,} objects"


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
