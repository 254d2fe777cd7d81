"""The item index of a cube that grows: the old items with today's numbers of cells, and then the new ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import join_rows
from cube2net.cube.items import NONE, LazyItems, cell_keys, cells_by_key, index_items, rows_anew
from cube2net.cube.update_labels import Grown
from cube2net.records import Cells, Cube, ItemIndex
from cube2net.records.limits import check_count


def grow_items(
    cube: Cube, cells: Sequence[Cells], grown: Grown, ids: pa.ChunkedArray, mentions: pa.Table
) -> LazyItems | None:
    """Return what gives the index of a cube's items and of new ones, or None where the cube has no index.

    ``cells`` are those of today, kept and small. Old objects keep their numbers.
    """
    if cube.items is None:
        return None
    numbers = _numbers(cube, cells, grown)
    moved = bool(np.any(numbers != np.arange(len(numbers))))
    if len(ids) == 0 and not moved:
        return cube.items
    old = cube.items()
    check_count("items", len(old) + len(ids))
    sizes = [len(dimension.labels) for dimension in grown.dimensions]
    new = index_items(ids, mentions, grown.table, cells, sizes, derived=old.derived)
    index = ItemIndex(
        join_rows(old.objects, new.objects),
        join_rows(rows_anew(old.cells, NONE, numbers) if moved else old.cells, new.cells),
        old.derived,
        lambda: pa.chunked_array([*old.ids.chunks, *new.ids.chunks], pa.string()),
    )
    return lambda: index


def _numbers(cube: Cube, cells: Sequence[Cells], grown: Grown) -> Array:
    """Return the number that every cell of a cube has among those of today."""
    sizes = [len(dimension.labels) for dimension in grown.dimensions]
    keys, order = cells_by_key(cells, sizes)
    labels = np.concatenate([cube.cells.labels, cube.small.labels])
    placed = np.stack([place[labels[:, number]] for number, place in enumerate(grown.places)], axis=1)
    return order[np.searchsorted(keys, cell_keys(placed, sizes))]
