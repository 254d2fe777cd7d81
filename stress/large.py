"""A cube too large to be checked completely on opening, with a few wrong entries on the path of a query."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import cube2net as c2n
from cube2net._util.arrays import Links, Ragged, ragged_from_lists, transpose
from cube2net._util.random import stream
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import Dimension, Level
from cube2net.model.objects import Objects
from stress.damage import Rng, pick
from stress.fuzz_cubes import QUESTIONS, Question, link_folder, reseal, rewrite

OBJECTS = 1_000_100
STEPS = (1, 8, 998, 9_974, 99_992)
DEGREE = 2 * len(STEPS)
CELLS = 200
ASKED = ("verify", "pagerank", "steiner", "maxdisc", "hops", "two hops", "greedy", "linked", "objects", "both", "names")
QUERY = 40


def make_large(base: Path) -> str:
    """Save a cube of a million objects linked to those a few fixed steps away; describe its size."""
    rows = np.arange(OBJECTS, dtype=np.int64)
    ends = np.sort((rows[:, None] + [*STEPS, *(-step for step in STEPS)]) % OBJECTS, axis=1).astype(np.int32)
    order = np.argsort(rows % CELLS, kind="stable").astype(np.int32)
    cells = Ragged(np.searchsorted(rows[order] % CELLS, np.arange(CELLS + 1)).astype(np.int64), order)
    labels = tuple(f"label {number}" for number in range(CELLS))
    columns = {"object": [f"o{row}" for row in range(OBJECTS)], "name": [f"Name {row}" for row in range(OBJECTS)]}
    cube = Cube(
        dimensions=(Dimension((Level("group", labels, labels),)),),
        cells=Cells(np.arange(CELLS, dtype=np.int32)[:, None], cells),
        object_cells=transpose(cells, OBJECTS),
        small=Cells(np.empty((0, 1), np.int32), ragged_from_lists([])),
        links=Links(np.arange(OBJECTS + 1, dtype=np.int64) * DEGREE, ends.ravel(), np.ones(ends.size)),
        objects=Objects.of(pa.table({**columns, "kind": pa.repeat("thing", OBJECTS)})),
        settings={"dimensions": ["group"], "min_objects": 1},
    )
    cube.save(base / "large")
    return f"{OBJECTS:,} objects, {ends.size:,} entries of links"


@dataclass(frozen=True)
class DamagedLarge:
    """The large cube with wrong entries in one of its files."""

    name: str

    def __call__(self, base: Path, place: Path, seed: int | None) -> None:
        """Damage the file by a seed and ask one question; two where it is undamaged."""
        rng = stream(seed or 0, "stress", "large", self.name)
        folder = place / "cube"
        link_folder(base / "large", folder)
        rows = sorted({int(row) for row in rng.integers(OBJECTS, size=QUERY)})
        if seed:
            damage_large(folder / self.name, rng, rows)
        if seed and rng.random() < 0.5:
            reseal(folder)
        for question in [pick(ASKED, rng)] if seed else ("hops", "greedy"):
            cube = c2n.open(folder)
            asked = cube.query([row for row in rows if row < len(cube.objects)])
            QUESTIONS[question](Question(cube, folder, asked, place, base))


def damage_large(path: Path, rng: Rng, rows: list[int]) -> None:
    """Change a few entries of a large file, near those that the query reads."""
    content = bytearray(path.read_bytes())
    if path.suffix == ".npy":
        array = np.load(path, mmap_mode="r")
        start, size, count = len(content) - array.nbytes, array.itemsize, array.size
        near = int(pick(rows, rng) * (count / OBJECTS))
        places = [min(count - 1, near + int(rng.integers(DEGREE))) for _ in range(2)]
        odd: tuple[Any, ...] = (-1, 2**31 - 1, -(2**31), OBJECTS, count, 2**30, 1 << 40)
        odd = (np.nan, np.inf, -1.0, 0.0, 1e-320) if array.dtype.kind == "f" else odd
        for place in places:
            with np.errstate(all="ignore"):
                entry = np.asarray(pick(odd, rng)).astype(array.dtype).tobytes()
            content[start + place * size : start + (place + 1) * size] = entry
    else:
        at = 4 * (int(rng.integers(len(content) // 4)) if rng.random() < 0.3 else int(rng.integers(2 * OBJECTS)) + 64)
        content[at : at + 4] = int(pick((2**31 - 1, -1, -(2**31), 0, 1 << 24), rng)).to_bytes(4, "little", signed=True)
    rewrite(path, bytes(content))


LARGE = {
    f"large {name}": DamagedLarge(name)
    for name in (
        "links.indices.npy",
        "links.indptr.npy",
        "links.weights.npy",
        "cells.members.indices.npy",
        "cells.members.indptr.npy",
        "homes.indices.npy",
        "homes.indptr.npy",
        "objects.by-id.rows.npy",
        "objects.by-id.hashes.npy",
        "objects.by-name.rows.npy",
        "objects.arrow",
    )
}
