"""The cells that some dimensions would make of a sample, counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cube2net.array_types import Array
from cube2net.records.suggestion import CellCounts
from cube2net.suggest.item_samples import Labels, Sample

GIANT = 0.25
"""A cell that holds more of all objects is giant."""
DIRECT = 2_000_000
"""Up to so many possible cells are counted in an array, more by sorting."""
MOST_PAIRS = 20_000_000
"""Dimensions that would put objects so often into cells of the sample are not counted."""
ENOUGH = 0.8
"""With so many of the objects in cells that are kept, cells are judged by what they tell alone."""


def count_cells(sample: Sample, dimensions: Sequence[Labels], min_objects: int) -> CellCounts | None:
    """Return the cells that dimensions make of a sample, or None where objects would be in far too many.

    In a sample of a part of the items, a cell is kept that has this part of ``min_objects``, and two objects at least.
    """
    placed = place(sample, dimensions)
    if placed is None:
        return None
    return tally(*placed, sample.objects, max(2 if sample.share < 1 else 1, round(min_objects * sample.share)))


def tally(cell: Array, thing: Array, objects: int, least: int) -> CellCounts:
    """Return what cells there are, given the cell and the object of every membership; ``least`` objects are kept.

    Two cells of two objects each, one object in a cell of its own, and one in none:

    >>> tally(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 2, 3, 4]), 6, 2)
    CellCounts(cells=2, share=0.6666666666666666, dead=1, giant=2, bits=1.0566416671474375)
    """
    sizes = np.bincount(cell)
    kept = sizes >= least
    inside = kept[cell]
    members = np.bincount(thing[inside], minlength=objects)
    told = np.bincount(thing[inside], weights=np.log2(objects / sizes[cell[inside]]), minlength=objects)
    return CellCounts(
        cells=int(kept.sum()),
        share=float((members > 0).mean()) if objects else 0.0,
        dead=int((~kept & (sizes > 0)).sum()),
        giant=int((sizes > GIANT * objects).sum()),
        bits=float((told / np.maximum(members, 1)).mean()) if objects else 0.0,
    )


def place(sample: Sample, dimensions: Sequence[Labels]) -> tuple[Array, Array] | None:
    """Return a cell and an object of every membership, each once; None where there are far too many."""
    item, thing = sample.item, sample.object
    key, width = np.zeros(len(item), dtype=np.int64), 1
    once = True
    for labels in dimensions:
        if width * labels.count > 2**62 // max(1, sample.objects):
            seen, key = np.unique(key, return_inverse=True)
            width = len(seen)
        if labels.are_single:
            code = labels.by_item(len(sample))[item]
            has = code >= 0
            if not has.all():
                item, thing, key, code = item[has], thing[has], key[has], code[has]
        else:
            once = False
            each = np.bincount(labels.items, minlength=len(sample))
            starts = np.concatenate([[0], np.cumsum(each)])
            repeats = each[item]
            if repeats.sum() > MOST_PAIRS:
                return None
            at = np.repeat(starts[item], repeats) + _within(repeats)
            item, thing, key = (np.repeat(values, repeats) for values in (item, thing, key))
            code = labels.codes[at]
        key = key * labels.count + code
        width *= labels.count
    if width <= DIRECT:
        used = np.bincount(key, minlength=width) > 0
        cell = (np.cumsum(used) - 1)[key]
    else:
        _, cell = np.unique(key, return_inverse=True)
    if once and len(sample.item) == sample.objects:
        return cell, thing
    pairs = np.sort(cell * max(1, sample.objects) + thing)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    cell, thing = np.divmod(pairs, max(1, sample.objects))
    return cell, thing


def _within(sizes: Array) -> Array:
    """Return the place of every entry within its row.

    >>> _within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    places: Array = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return places


def score(counts: CellCounts) -> float:
    """Return how well cells tell objects apart: their bits, less where more than a fifth of the objects is in none."""
    return counts.bits * min(1.0, counts.share / ENOUGH) ** 2
