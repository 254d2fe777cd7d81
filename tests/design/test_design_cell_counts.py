from collections import defaultdict
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.design.attributes import draw_sample, read_texts
from cube2net.design.combinations import Agreement, compute_meaningful_share, count_cells, score
from cube2net.model.corpus import MENTIONS, OBJECTS, Corpus, table
from cube2net.model.suggestion import CellCounts


def corpus_of(rows: list[tuple[list[str], list[str], list[int]]], objects: int) -> Corpus:
    """Return a corpus of items with labels in two attributes and the objects they mention."""
    mentions = sorted({(item, thing) for item, (_, _, things) in enumerate(rows) for thing in things})
    lists = pa.list_(pa.string())
    items = pa.table(
        {
            "item": [str(item) for item in range(len(rows))],
            "one": pa.array([row[0] for row in rows], lists),
            "two": pa.array([row[1] for row in rows], lists),
        }
    )
    names = [f"o{thing}" for thing in range(objects)]
    return Corpus(
        table(OBJECTS, object=names, name=names, kind=["x"] * objects),
        items,
        table(MENTIONS, item=[pair[0] for pair in mentions], object=[pair[1] for pair in mentions]),
    )


labels = st.lists(st.sampled_from("abc"), max_size=2, unique=True)
things = st.lists(st.integers(0, 7), min_size=1, max_size=3, unique=True)


@given(st.lists(st.tuples(labels, labels, things), min_size=1, max_size=30), st.integers(1, 3))
def test_cells_are_counted_as_one_by_one(rows, least):
    sample = draw_sample(corpus_of(rows, 8), 1000, 1000, 0)
    counts = count_cells(sample, [read_texts(sample.column(name)) for name in ("one", "two")], least)
    cells = defaultdict(set)
    for one, two, objects in rows:
        for cell in product(one, two):
            cells[cell] |= set(objects)
    kept = {cell: members for cell, members in cells.items() if len(members) >= least}
    seen = set().union(*(objects for _, _, objects in rows))
    assert (counts.cells, counts.dead) == (len(kept), len(cells) - len(kept))
    assert counts.share == pytest.approx(len(set().union(*kept.values())) / len(seen))
    records = {cell: [things for one, two, things in rows if cell in set(product(one, two))] for cell in kept}
    assert counts.single == sum(len(cell) == 1 and len(cell[0]) > 1 for cell in records.values())
    assert counts.giant == sum(len(members) > len(seen) / 4 for members in cells.values())
    bits = 0.0
    for thing in seen:
        own = [members for members in cells.values() if thing in members]
        told = [np.log2(len(seen) / len(members)) for members in own if len(members) >= least]
        bits += sum(told) / len(own) if own else 0
    assert counts.bits == pytest.approx(bits / len(seen))


def test_objects_in_far_too_many_cells_are_not_counted():
    many = [f"label {number}" for number in range(30)]
    sample = draw_sample(corpus_of([(many, many, [0, 1]), (many, many, [2])], 3), 1000, 1000, 0)
    lists = [read_texts(sample.column(name)) for name in ("one", "two")]
    assert count_cells(sample, lists, 1) is None


def test_a_sample_of_a_part_keeps_cells_that_have_that_part():
    rows = [([f"{item % 40}"], ["x"], [item]) for item in range(4_000)]
    corpus = corpus_of(rows, 4_000)
    small = draw_sample(corpus, 1_000, 4_000, 0)
    assert len(small) == 1_000 and small.objects == 1_000
    one = read_texts(small.column("one"))
    assert count_cells(small, [one], 100).share < 0.9
    assert count_cells(small, [one], 40).share == 1


def test_noise_adds_nothing_to_what_is_no_chance():
    rng = np.random.default_rng(0)
    good = Agreement(rng.random(5_000) < 0.9, rng.random(50_000) < 0.1)
    noise = Agreement(rng.random(5_000) < 0.2, rng.random(50_000) < 0.2)
    alone, both = compute_meaningful_share([good]), compute_meaningful_share([good, noise])
    assert alone == pytest.approx(np.log2(9) / np.log2(10), abs=0.05)
    assert both == pytest.approx(np.log2(9) / np.log2(50), abs=0.05)
    assert compute_meaningful_share([noise]) < 0.05
    assert compute_meaningful_share([], [8]) == 0.5


def test_the_score_falls_where_many_objects_are_left_out():
    def counts(share: float, together: float | None = None) -> float:
        return score(CellCounts(10, share, 0, 0, 4.0, together))

    assert counts(1.0) == counts(0.95) == 4.0
    assert counts(0.8) < 2.6 and counts(0.45) == pytest.approx(0.25)
    assert counts(1.0, 0.0) < counts(1.0, 0.5) < counts(1.0, 1.0) == 4.0
