"""Small cubes with levels above, made at random, and all their mixed cells by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import links_from_pairs, ragged_from_lists, transpose
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import Dimension, Level
from cube2net.model.objects import Objects

# One entry a dimension, ∗ as None, and else the name of a level and a label.
Entries = tuple[tuple[str, str] | None, ...]


def leveled_cube(seed: int, *, objects: int = 24, cells: int = 14, largest: int = 8) -> Cube:
    """Return a cube of two dimensions, one with a level above; cells of fewer than three objects are small."""
    rng = np.random.default_rng(seed)
    years = [f"y{i}" for i in range(4)]
    decades = Level("decades", ("d0", "d1"), ("d0", "d1"))
    year = Level("year", tuple(years), tuple(years), {"decades": np.array([0, 0, 1, 1], np.int32)})
    venues = tuple(f"v{i}" for i in range(5))
    places = rng.permutation(len(years) * len(venues))[:cells]
    labels = np.stack(np.divmod(np.sort(places), len(venues)), axis=1).astype(np.int32)
    held = [sorted(rng.choice(objects, size=int(rng.integers(1, largest + 1)), replace=False).tolist()) for _ in labels]
    small = np.array([len(row) < 3 for row in held])

    def part(chosen: np.ndarray) -> Cells:
        return Cells(labels[chosen], ragged_from_lists([held[i] for i in np.flatnonzero(chosen)]))

    ids = [f"o{i}" for i in range(objects)]
    ends = rng.integers(0, objects, size=(30, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    return Cube(
        dimensions=(Dimension((year, decades)), Dimension((Level("venue", venues, venues),))),
        cells=part(~small),
        object_cells=transpose(part(~small).members, objects),
        small=part(small),
        links=links_from_pairs(ends[:, 0], ends[:, 1], np.ones(len(ends)), objects),
        objects=Objects.of(pa.table({"object": ids, "name": ids, "kind": ["thing"] * objects})),
        settings={"min_objects": 3},
    )


def brute_cells(cube: Cube) -> dict[Entries, frozenset[int]]:
    """Return the objects of every mixed cell that holds any, by going through everything."""
    found: dict[Entries, set[int]] = {}
    for cells in (cube.cells, cube.small):
        for number, row in enumerate(cells.labels.tolist()):
            choices: list[list[tuple[str, str] | None]] = []
            for dimension, label in zip(cube.dimensions, row, strict=True):
                own: list[tuple[str, str] | None] = [None]
                for at in dimension.at_or_above():
                    level = dimension.levels[at]
                    own.append((level.name, level.labels[int(dimension.parents_at(at)[label])]))
                choices.append(own)
            for entries in product(*choices):
                if any(entries):
                    found.setdefault(entries, set()).update(cells.members[number].tolist())
    return {entries: frozenset(objects) for entries, objects in found.items()}


def is_more_general(cube: Cube, one: Entries, other: Entries) -> bool:
    """Return whether every label of one is that of the other or one above it, and one is another cell."""

    def is_above(dimension: Dimension, high: tuple[str, str] | None, low: tuple[str, str] | None) -> bool:
        if high is None or high == low:
            return True
        if low is None:
            return False
        names = [level.name for level in dimension.levels]
        at, above = names.index(low[0]), names.index(high[0])
        if above not in dimension.at_or_above(at):
            return False
        label = dimension.levels[at].number(low[1])
        return dimension.levels[above].labels[int(dimension.parents_at(above, at)[label])] == high[1]

    return one != other and all(map(is_above, cube.dimensions, one, other))
