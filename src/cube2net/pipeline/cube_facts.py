"""What a cube can tell before anything is asked of it: its kinds of objects, its times, and what objects are about."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net import network as networks
from cube2net.array_types import Array
from cube2net.pipeline.pivots import time_dimensions
from cube2net.records import Cube

DATED = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


def kinds_of(cube: Cube) -> list[str]:
    """Return the kinds of a cube's objects, the most frequent first."""
    counts = pc.value_counts(cube.objects.table["kind"]).to_pylist()
    return [each["values"] for each in sorted(counts, key=lambda each: (-each["counts"], str(each["values"])))]


def window_labels(cube: Cube) -> list[str] | None:
    """Return the labels of a cube's time in their order, where these can be the ends of a window; None else."""
    times = sorted(time_dimensions(cube))
    if cube.items is None or cube.items().load_attributes is None or len(times) != 1:
        return None
    dimension = cube.dimensions[times[0]]
    labels = sorted(dimension.labels)
    return labels if labels and not dimension.is_top and all(map(DATED.fullmatch, labels)) else None


def mention_counts(cube: Cube) -> Array:
    """Return how well known every object is: how many items mention it, or where none are kept its links."""
    if cube.items is None:
        return np.diff(cube.links.indptr).astype(np.int64)
    return np.bincount(cube.items().objects.indices, minlength=len(cube.objects))


def about_objects(cube: Cube, rows: Array) -> list[dict[str, Any]]:
    """Return for every object of some rows its id, name, kind, and in a few words what tells it from others."""
    table = cube.objects.table.take(pa.array(rows))
    counts = networks.count_labels(cube, rows)
    if counts is None:
        said = [[_counted(number, "link")] for number in np.diff(cube.links.indptr)[rows].tolist()]
    else:
        said = [[_counted(number, "item")] for number in counts.items.tolist()]
        for name in counts.dimensions:
            for words, label in zip(said, counts.commonest(name).to_pylist(), strict=True):
                words.extend([] if label is None else [label])
    columns = (cube.objects.ids(rows).to_pylist(), table["name"].to_pylist(), table["kind"].to_pylist(), said)
    return [
        {"id": key, "name": name, "kind": kind, "about": " · ".join(words)}
        for key, name, kind, words in zip(*columns, strict=True)
    ]


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
