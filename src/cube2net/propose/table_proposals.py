"""Propose dimensions for tables of any size without options, and describe what every column was taken for."""

from __future__ import annotations

from collections.abc import Sequence

from cube2net.progress import Progress, silent
from cube2net.propose.proposing import Bins, propose
from cube2net.records import Corpus, DimensionSpec
from cube2net.records.suggestion import Suggestion

SIZES = ((2_000, 10), (500, 5), (100, 3), (0, 2))
"""Of so many objects or more, a cell needs so many."""
ROLE_WORDS = {
    "id": "tells rows apart",
    "name": "name",
    "kind": "kind",
    "text": "text, in which topics are found",
    "source": "one end of a link",
    "target": "the other end of a link",
    "names": "names other rows: the links",
    "weight": "weight of a link",
    "time": "time of a link",
    "item": "record",
    "object": "who or what is mentioned",
}
"""What a column is, in words, by its role."""


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


def columns_in_words(corpus: Corpus, found: Suggestion, chosen: Sequence[DimensionSpec]) -> list[dict[str, str]]:
    """Return what every column was taken for and why: first those that have a role, then the attributes."""
    used: dict[str, str] = {}
    for spec in chosen:
        used[spec.attribute] = f"dimension {spec}" if str(spec) != spec.attribute else "dimension"
        for level in spec.levels:
            used.setdefault(level.source, f"level above {level.below}")
    rows: list[dict[str, str]] = []
    own = False
    for role, name in (corpus.source.get("columns") or {}).items():
        table, _, what = role.rpartition(".")
        if what == "source" and name in [row["column"] for row in rows]:
            own = True
        elif name:
            what = "names" if what == "target" and own else what
            rows.append({"table": table, "column": name, "what": ROLE_WORDS.get(what, what), "why": ""})
    for each in found.attributes:
        what = used.get(each.name, "kept, no dimension")
        rows.append({"table": "", "column": each.name, "what": what, "why": f"{each.name} {each.reason}"})
    return rows
