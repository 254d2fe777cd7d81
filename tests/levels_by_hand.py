"""Random cubes with many levels, and their cells at mixed levels by brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from cube2net._util.arrays import ragged_from_lists, transpose
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import Dimension, Level
from cube2net.model.node_names import MixedCell, list_levels

from toys import toy_cube


def levelled_cube(seed: int, *, cells: int = 20, objects: int = 30, largest: int = 6, least: int = 2) -> Cube:
    """Return a random cube of three dimensions: days in weeks and in seasons, towns in lands, and crafts.

    A craft may have the name of no other; a town and a land may both be called ``"Ur"``.
    """
    rng = np.random.default_rng(seed)

    def level(name: str, labels: list[str], **above: list[int]) -> Level:
        parents = {higher: np.array(numbers, np.int32) for higher, numbers in above.items()}
        return Level(name, tuple(labels), tuple(labels), parents)

    days = level("day", [f"day {i}" for i in range(6)], week=[0, 0, 1, 1, 2, 2], season=[0, 1, 0, 1, 0, 1])
    dimensions = (
        Dimension(
            (
                days,
                level("week", ["week 0", "week 1", "week 2"], month=[0, 0, 1]),
                level("month", ["May", "June"]),
                level("season", ["wet", "dry"]),
            )
        ),
        Dimension((level("town", ["Ur", "Uruk", "Sidon"], land=[0, 0, 1]), level("land", ["Ur", "Canaan"]))),
        Dimension((level("craft", ["smith · cutler", "potter"]),)),
    )
    sizes = [len(dimension.labels) for dimension in dimensions]
    numbers = np.sort(rng.choice(int(np.prod(sizes)), size=min(cells, int(np.prod(sizes))), replace=False))
    labels = np.stack(np.unravel_index(numbers, sizes), axis=1).astype(np.int32)
    members = [
        sorted(rng.choice(objects, int(rng.integers(1, largest + 1)), replace=False).tolist())
        for _ in range(len(labels))
    ]
    kept = [i for i, row in enumerate(members) if len(row) >= least]
    small = [i for i, row in enumerate(members) if len(row) < least]
    rows = ragged_from_lists([members[i] for i in kept])
    return replace(
        toy_cube([[0]], objects=objects),
        dimensions=dimensions,
        cells=Cells(labels[kept], rows),
        small=Cells(labels[small], ragged_from_lists([members[i] for i in small])),
        object_cells=transpose(rows, objects),
        settings={"min_objects": least},
    )


def by_hand(cube: Cube, cell: MixedCell) -> set[int]:
    """Return the objects of a cell at mixed levels, cell by cell of the cube."""
    found: set[int] = set()
    for cells in (cube.cells, cube.small):
        for number, row in enumerate(cells.labels.tolist()):
            parts = zip(cube.dimensions, row, cell.levels, cell.labels, strict=True)
            if all(at is None or dimension.parents_at(at)[own] == label for dimension, own, at, label in parts):
                found |= set(cells.members[number].tolist())
    return found


def is_below(cube: Cube, cell: MixedCell, top: MixedCell) -> bool:
    """Return whether a cell has a finer label than another in one dimension or more, and its own or one under it."""
    parts = zip(cube.dimensions, cell.levels, cell.labels, top.levels, top.labels, strict=True)
    return cell != top and all(
        above is None
        or (at is not None and above in dimension.at_or_above(at) and dimension.parents_at(above, at)[label] == wanted)
        for dimension, at, label, above, wanted in parts
    )


def every_cell(cube: Cube) -> list[MixedCell]:
    """Return every cell at every mix of levels, whether it holds something or not."""
    places = [
        [(None, -1), *((at, label) for at in list_levels(each) for label in range(len(each.levels[at].labels)))]
        for each in cube.dimensions
    ]
    return [MixedCell(tuple(at for at, _ in one), tuple(label for _, label in one)) for one in product(*places)]
