"""The made-up literatures that are measured, and queries that look like a person's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cube
from dblp_like_corpus import make_dblp_like
from measures.processes import timed

# The base of the growing graphs is drawn with another seed, so that it is no part of what stands beside it.
BASE_SEED = 1


def corpus_folder(data: Path, papers: int, seed: int = 0) -> Path:
    """Return where the literature of a size is, or will be."""
    return data / (f"papers-{papers}" if seed == 0 else f"papers-{papers}-seed-{seed}")


def cube_folder(data: Path, papers: int, memory: str | None = None) -> Path:
    """Return where the cube of a literature is, or will be: in a folder with nothing else but what a build leaves."""
    return data / (f"cube-{papers}" if memory is None else f"cube-{papers}-{memory}") / "cube"


def make(data: Path, papers: int, seed: int = 0) -> dict[str, Any]:
    """Make a literature unless it is there; return how long that took."""
    folder = corpus_folder(data, papers, seed)
    if folder.exists():
        return {"papers": papers, "seconds": None}
    seconds, _ = timed(lambda: make_dblp_like(papers, out=folder, seed=seed))
    return {"papers": papers, "seconds": seconds}


def beside(base: Corpus, other: Corpus) -> Corpus:
    """Return two literatures in one corpus that share no object, item or venue; the base's come first everywhere."""
    parts = [_marked(corpus, mark) for corpus, mark in ((base, "a"), (other, "b"))]
    tables = {name: pa.concat_tables([part[name] for part in parts]) for name in ("objects", "items", "labels")}
    shifts = pa.scalar(base.items.num_rows, pa.int32()), pa.scalar(base.objects.num_rows, pa.int32())
    moved = [pc.add(other.mentions[name], shift) for name, shift in zip(("item", "object"), shifts, strict=True)]
    tables["mentions"] = pa.concat_tables([base.mentions, pa.table(moved, schema=base.mentions.schema)])
    return Corpus(**tables, dimensions=base.dimensions, attribution=base.attribution)


def marked(base: Corpus) -> Corpus:
    """Return a literature alone, with the ids that it has beside another."""
    return Corpus(**_marked(base, "a"), mentions=base.mentions, dimensions=base.dimensions)


def _marked(corpus: Corpus, mark: str) -> dict[str, pa.Table]:
    columns = {"objects": "object", "items": "item"}
    tables = {name: _prefixed(getattr(corpus, name), column, mark) for name, column in columns.items()}
    tables["items"] = _prefixed(tables["items"], "venue", mark)
    tables["labels"] = _prefixed(corpus.labels, "label", mark)
    return tables


def _prefixed(table: pa.Table, column: str, mark: str) -> pa.Table:
    values = pc.binary_join_element_wise(mark, table[column], " ")
    return table.set_column(table.column_names.index(column), column, values)


def person_query(cube: Cube, size: int, seed: int = 0, *, before: int | None = None) -> Array:
    """Return the rows of as many objects as asked, from a handful of related cells, ascending.

    A cell is drawn among those that hold between a quarter of the objects asked for and twice as many, and others of
    such sizes are added, those first that share most labels with it, until all together hold twice as many objects as
    asked for; of these the query is drawn. ``before`` leaves out cells with objects of that row or a later one.
    """
    rng = np.random.default_rng([seed, size])
    sizes = np.asarray(cube.cells.members.sizes)
    fit = np.flatnonzero((sizes >= size / 4) & (sizes <= 2 * size))
    if before is not None:
        fit = np.array([cell for cell in fit if cube.cells.members[int(cell)][-1] < before])
    if len(fit) == 0:
        fit = np.argsort(-sizes)[:100]
    labels = np.asarray(cube.cells.labels)[fit]
    first = int(rng.integers(len(fit)))
    common = (labels == labels[first]).sum(axis=1)
    pool: Array = np.empty(0, np.int64)
    for place in np.lexsort((rng.permutation(len(fit)), -common)):
        pool = np.union1d(pool, cube.cells.members[int(fit[place])])
        if len(pool) >= 2 * size:
            break
    return np.sort(rng.choice(pool, min(size, len(pool)), replace=False))
