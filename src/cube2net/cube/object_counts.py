"""How often objects are mentioned, of what kinds they are, and the times that cells are of."""

from __future__ import annotations

import re

import numpy as np
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.cube.window import times_of
from cube2net.records import Cube, DimensionSpec

DATED = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


def kinds_of(cube: Cube) -> list[str]:
    """Return the kinds of a cube's objects, the most frequent first."""
    counts = pc.value_counts(cube.objects.table["kind"]).to_pylist()
    return [each["values"] for each in sorted(counts, key=lambda each: (-each["counts"], str(each["values"])))]


def mention_counts(cube: Cube) -> Array:
    """Return how well known every object is: how many items mention it, or where none are kept its links."""
    if cube.items is None:
        return np.diff(cube.links.indptr).astype(np.int64)
    return np.bincount(cube.items().objects.indices, minlength=len(cube.objects))


def time_dimensions(cube: Cube) -> set[int]:
    """Return the numbers of the dimensions whose labels are times."""
    times = set(times_of(cube))
    specs = {spec.name: spec for spec in map(DimensionSpec.parse, cube.settings.get("dimensions", ()))}
    return {
        number
        for number, dimension in enumerate(cube.dimensions)
        for spec in [specs.get(dimension.levels[0].name)]
        if spec is not None and spec.attribute in times
    }


def window_labels(cube: Cube) -> list[str] | None:
    """Return the labels of a cube's time in their order, where these can be the ends of a window; None else."""
    times = sorted(time_dimensions(cube))
    if cube.items is None or cube.items().load_attributes is None or len(times) != 1:
        return None
    dimension = cube.dimensions[times[0]]
    labels = sorted(dimension.labels)
    return labels if labels and not dimension.is_top and all(map(DATED.fullmatch, labels)) else None
