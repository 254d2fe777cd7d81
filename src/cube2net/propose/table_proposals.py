"""Dimensions for tables of any size with nothing said: cells are as small as they have to be."""

from __future__ import annotations

from collections.abc import Sequence

from cube2net.progress import Progress, silent
from cube2net.propose.proposing import Bins, propose
from cube2net.records import Corpus
from cube2net.records.suggestion import Suggestion

SIZES = ((2_000, 10), (500, 5), (100, 3), (0, 2))
"""Of so many objects or more, a cell needs so many."""


def propose_for_tables(
    corpus: Corpus,
    bins: Bins,
    *,
    min_objects: int | None = None,
    may_shrink: bool = True,
    seed: int = 0,
    progress: Progress = silent,
) -> Suggestion:
    """Return what is proposed; without ``min_objects`` cells suit the size of the tables.

    Cells that nobody said the size of become smaller where else there would be none, if they ``may_shrink``.
    """
    least = cell_size(corpus.objects.num_rows) if min_objects is None else min_objects
    sizes: Sequence[int] = range(least, 0, -1) if may_shrink and min_objects is None else (least,)
    for size in sizes:
        found = propose(corpus, bins, min_objects=size, seed=seed, progress=progress)
        if found.dimensions:
            break
    return found


def cell_size(objects: int) -> int:
    """Return how many objects a cell needs where there are so many in all.

    >>> [cell_size(objects) for objects in (72, 100, 2_000_000)]
    [2, 3, 10]
    """
    return next(few for many, few in SIZES if objects >= many)
