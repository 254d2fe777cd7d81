from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.cube import DuckDB, build
from cube2net.errors import ParameterError, SourceError
from cube2net.records import Corpus, Cube, DimensionSpec, Topics
from cube2net.records.topics import ASSIGNED, WORDS

from corpora import ROWS, corpus_of

DECADE = DimensionSpec("decade", "year", bins="decades")
VENUE = DimensionSpec("venue", "venue")


def cells_of(cube: Cube) -> dict[tuple[str, ...], set[int]]:
    return {cube.cell(i): set(cube.cells.members[i].tolist()) for i in range(len(cube.cells))}


def expected_cells(rows: list, least: int) -> dict[tuple[str, ...], set[int]]:
    """The definition: an object is in a cell when one item that mentions it has all of the cell's labels."""
    held: dict[tuple[str, ...], set[int]] = {}
    for year, venues, mentioned in rows:
        for cell in product([] if year is None else [f"{year // 10}X"], set(venues)):
            held.setdefault(cell, set()).update(mentioned)
    return {cell: objects for cell, objects in held.items() if len(objects) >= least}


def test_an_object_is_in_a_cell_only_when_one_item_has_all_its_labels() -> None:
    rows = [(2003, ["KDD"], [0, 1]), (2015, ["ACL"], [0]), (2015, ["ACL", "KDD"], [2])]
    cube = build(corpus_of(rows, objects=3), [DECADE, VENUE], DuckDB(), min_objects=1)
    assert cells_of(cube) == {("200X", "KDD"): {0, 1}, ("201X", "ACL"): {0, 2}, ("201X", "KDD"): {2}}


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(1, 4))
def test_cells_and_links_follow_their_definitions(rows: list, least: int) -> None:
    cube = build(corpus_of(rows, objects=10), [DECADE, VENUE], DuckDB(), min_objects=least)
    assert cells_of(cube) == expected_cells(rows, least)
    assert len(cube.cells) + len(cube.small) == len(expected_cells(rows, 1))
    pairs: dict[tuple[int, int], int] = {}
    for _, _, mentioned in rows:
        for pair in combinations(sorted(set(mentioned)), 2):
            pairs[pair] = pairs.get(pair, 0) + 1
    found = {
        (i, int(j)): float(w)
        for i in range(10)
        for j, w in zip(
            cube.links.neighbours(i), cube.links.weights[cube.links.indptr[i] : cube.links.indptr[i + 1]], strict=True
        )
    }
    assert found == {(a, b): float(n) for a, b in pairs for n in [pairs[a, b]]} | {
        (b, a): float(pairs[a, b]) for a, b in pairs
    }
    for i in range(10):
        assert cube.homes[i].tolist() == [c for c in range(len(cube.cells)) if i in cube.cells.members[c]]


def test_a_record_that_mentions_too_many_objects_makes_no_links_and_is_counted() -> None:
    rows = [(2003, ["KDD"], [0, 1, 2]), (2003, ["KDD"], [0, 1])]
    cube = build(corpus_of(rows, objects=3), [VENUE], DuckDB(), min_objects=1, max_mentions=2)
    assert cube.links.count == 1
    assert cube.settings["dropped"]["items with more than 2 objects, which make no links"] == 1


def test_given_links_are_summed_and_self_links_are_dropped_and_counted() -> None:
    corpus = corpus_of([(2003, ["KDD"], [0, 1])], objects=3, links=[(0, 1, 2.0), (1, 0, 1.5), (2, 2, 1.0)])
    cube = build(corpus, [VENUE], DuckDB(), min_objects=1)
    assert (cube.links.count, cube.links.weights.tolist()) == (1, [3.5, 3.5])
    assert cube.settings["dropped"]["links from an object to itself"] == 1


def test_items_without_a_label_are_in_no_cell_and_are_counted() -> None:
    rows = [(None, ["KDD"], [0]), (2003, [], [1]), (2003, [" "], [2])]
    cube = build(corpus_of(rows, objects=3), [DECADE, VENUE], DuckDB(), min_objects=1)
    assert len(cube.cells) == 0
    assert cube.settings["dropped"]["items with no decade, in no cell"] == 1
    assert cube.settings["dropped"]["items with no venue, in no cell"] == 2


def test_topics_fill_the_topic_dimension_and_their_words_stay_with_the_cube() -> None:
    topics = Topics(
        names=("parsing", "never used", "speech"),
        assigned=pa.table(
            {"item": [0, 1, 1], "topic": [0, 0, 2], "weight": [1.0, 0.6, 0.4]}, schema=pa.schema(list(ASSIGNED.items()))
        ),
        words=pa.table(
            {"topic": [0, 2], "term": ["tree", "sound"], "weight": [0.5, 0.5]}, schema=pa.schema(list(WORDS.items()))
        ),
        settings={"model": "by hand"},
    )
    rows = [(2003, ["KDD"], [0]), (2003, ["ACL"], [1])]
    cube = build(corpus_of(rows, objects=2), [DimensionSpec("topic", "topic")], DuckDB(), topics=topics, min_objects=1)
    assert cells_of(cube) == {("parsing",): {0, 1}, ("speech",): {1}}
    assert cube.topic_words is not None
    assert cube.topic_words["topic"].to_pylist() == ["parsing", "speech"]
    assert cube.settings["topics"] == {"model": "by hand"}


def test_full_names_and_parents_come_from_the_corpus() -> None:
    corpus = corpus_of([(2003, ["KDD", "WMT"], [0])], objects=1, kinds={"KDD": "conference", "WMT": "workshop"})
    cube = build(corpus, [DimensionSpec("venue", "venue", parent="kind")], DuckDB(), min_objects=1)
    fine, coarse = cube.dimensions[0].levels
    assert fine.full_names == ("The KDD meeting", "The WMT meeting")
    assert coarse.labels == ("conference", "workshop")
    assert fine.parents is not None
    assert fine.parents.tolist() == [0, 1]


def test_a_label_gets_the_parent_that_most_of_its_items_have() -> None:
    corpus = corpus_of([(2003, [], [0]), (2003, [], [0]), (2004, [], [0])], objects=1)
    items = corpus.items.append_column("city", pa.array(["Springfield", "Springfield", "Springfield"]))
    items = items.append_column("state", pa.array(["Illinois", "Illinois", "Ohio"]))
    corpus = Corpus(corpus.objects, items, corpus.mentions)
    cube = build(corpus, [DimensionSpec("city", "city", parent="state")], DuckDB(), min_objects=1)
    fine, coarse = cube.dimensions[0].levels
    assert fine.parents is not None
    assert [coarse.labels[i] for i in fine.parents] == ["Illinois"]


@pytest.mark.parametrize(
    ("spec", "error", "text"),
    [
        (DimensionSpec("place", "place"), ParameterError, "unknown attribute 'place': choose one of venue, year"),
        (DimensionSpec("venue", "venue", bins="decades"), SourceError, "attribute 'venue' is .* expected a number"),
        (
            DimensionSpec("venue", "venue", parent="kind"),
            ParameterError,
            "nothing says which 'kind' a label of 'venue'",
        ),
        (DimensionSpec("venue", "venue", parent="venue"), ParameterError, "cannot be its own parent"),
        (DimensionSpec("year", "year", bins="centuries"), ParameterError, "cannot read the bins 'centuries'"),
    ],
)
def test_a_dimension_that_cannot_be_built_is_refused_in_one_sentence(
    spec: DimensionSpec, error: type, text: str
) -> None:
    with pytest.raises(error, match=text):
        build(corpus_of([(2003, ["KDD"], [0])], objects=1), [spec], DuckDB())


def test_no_dimension_and_one_named_twice_are_refused() -> None:
    corpus = corpus_of([(2003, ["KDD"], [0])], objects=1)
    with pytest.raises(ParameterError, match="a cube needs a dimension"):
        build(corpus, [], DuckDB())
    with pytest.raises(ParameterError, match="two dimensions have the same name"):
        build(corpus, [VENUE, VENUE], DuckDB())


def test_a_corpus_of_nothing_makes_an_empty_cube() -> None:
    cube = build(corpus_of([(None, [], [])], objects=1), [DECADE, VENUE], DuckDB())
    assert len(cube.cells) == 0
    assert cube.links.count == 0
    assert np.array_equal(cube.homes.sizes, [0])


def test_whole_numbers_too_large_for_a_float_are_binned_all_the_same() -> None:
    corpus = corpus_of([(2003, [], [0])], objects=1)
    items = corpus.items.append_column("stars", pa.array([2**53 + 1], pa.int64()))
    cube = build(
        Corpus(corpus.objects, items, corpus.mentions),
        [DimensionSpec("stars", "stars", bins="width:10")],
        DuckDB(),
        min_objects=1,
    )
    assert len(cube.cells) == 1
