"""Small corpora for the cube's tests."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from hypothesis import strategies as st

from cube2net._util.arrays import row_of_entries
from cube2net.model.corpus import LABELS, MENTIONS, OBJECTS, Corpus, table
from cube2net.model.cube import Cells, Cube


def corpus_of(
    rows: list[tuple[int | None, list[str], list[int]]],
    *,
    objects: int,
    kinds: dict[str, str] | None = None,
    links: list[tuple[int, int, float]] | None = None,
) -> Corpus:
    """Return a corpus of items (year, venues, objects mentioned)."""
    mentions = [(item, who) for item, (_, _, mentioned) in enumerate(rows) for who in mentioned]
    known = kinds or {}
    return Corpus(
        objects=table(
            OBJECTS,
            object=[f"o{i}" for i in range(objects)],
            name=[f"Object {i}" for i in range(objects)],
            kind=["author"] * objects,
        ),
        items=pa.table(
            {
                "item": pa.array([f"i{i}" for i in range(len(rows))], pa.string()),
                "year": pa.array([year for year, _, _ in rows], pa.int32()),
                "venue": pa.array([venues for _, venues, _ in rows], pa.list_(pa.string())),
            }
        ),
        mentions=table(MENTIONS, item=[i for i, _ in mentions], object=[o for _, o in mentions]),
        links=None
        if links is None
        else pa.table(
            {
                "source": pa.array([a for a, _, _ in links], pa.int32()),
                "target": pa.array([b for _, b, _ in links], pa.int32()),
                "weight": pa.array([w for _, _, w in links], pa.float32()),
            }
        ),
        labels=table(
            LABELS,
            attribute=["venue"] * len(known),
            label=list(known),
            full_name=[f"The {name} meeting" for name in known],
            parent=list(known.values()),
        ),
    )


ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(1995, 2024)),
        st.lists(st.sampled_from(["ACL", "KDD", "TACL", "WMT"]), max_size=2),
        st.lists(st.integers(0, 9), max_size=5),
    ),
    min_size=1,
    max_size=12,
)


def with_columns(**columns: list) -> Corpus:
    """Return a corpus with as many items as the columns are long, each of which mentions an object of its own."""
    count = len(next(iter(columns.values())))
    plain = corpus_of([(2003, [], [i]) for i in range(count)], objects=count)
    items = plain.items
    for name, values in columns.items():
        items = items.append_column(name, pa.array(values))
    return replace(plain, items=items)


def linked(cube: Cube) -> dict[tuple[int, int], float]:
    """Return the weights of the links by both their ends, each link twice."""
    rows = row_of_entries(cube.links.rows).tolist()
    pairs = zip(rows, cube.links.indices.tolist(), strict=True)
    return dict(zip(pairs, cube.links.weights.tolist(), strict=True))


def contents(cube: Cube, cells: Cells | None = None) -> dict[tuple[str, ...], list[int]]:
    """Return the objects of cells, by default the large ones, by the names of their labels."""
    cells = cube.cells if cells is None else cells
    named = [
        tuple("∗" if label < 0 else cube.dimensions[i].labels[label] for i, label in enumerate(row))
        for row in cells.labels.tolist()
    ]
    return {name: cells.members[number].tolist() for number, name in enumerate(named)}
