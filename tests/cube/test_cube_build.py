from itertools import combinations, product

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cube2net.cube.building.build import build
from cube2net.cube.building.dimensions import label_items
from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import ASSIGNED, WORDS, Topics
from cube2net.model.dimension import DimensionSpec

from corpora import ROWS, contents, corpus_of, linked, with_columns
from updates import Sqlite

DECADE = DimensionSpec("decade", "year", bins="decades")
VENUE = DimensionSpec("venue", "venue")


def expected_cells(rows: list, least: int) -> dict[tuple[str, ...], list[int]]:
    """The definition: an object is in a cell when one item that mentions it has all of the cell's labels."""
    held: dict[tuple[str, ...], set[int]] = {}
    for year, venues, mentioned in rows:
        for cell in product([] if year is None else [f"{year // 10}X"], set(venues)):
            held.setdefault(cell, set()).update(mentioned)
    return {cell: sorted(objects) for cell, objects in held.items() if len(objects) >= least}


def test_an_object_is_in_a_cell_only_when_one_item_has_all_its_labels() -> None:
    rows = [(2003, ["KDD"], [0, 1]), (2015, ["ACL"], [0]), (2015, ["ACL", "KDD"], [2])]
    cube = build(corpus_of(rows, objects=3), [DECADE, VENUE], Sqlite(), min_objects=1)
    assert contents(cube) == {("200X", "KDD"): [0, 1], ("201X", "ACL"): [0, 2], ("201X", "KDD"): [2]}


@given(ROWS, st.integers(1, 4))
def test_cells_and_links_follow_their_definitions(rows: list, least: int) -> None:
    assume(any(year is not None for year, _, _ in rows) and any(venues for _, venues, _ in rows))
    cube = build(corpus_of(rows, objects=10), [DECADE, VENUE], Sqlite(), min_objects=least)
    assert contents(cube) == expected_cells(rows, least)
    assert len(cube.cells) + len(cube.small) == len(expected_cells(rows, 1))
    pairs: dict[tuple[int, int], int] = {}
    for _, _, mentioned in rows:
        for pair in combinations(sorted(set(mentioned)), 2):
            pairs[pair] = pairs.get(pair, 0) + 1
    assert linked(cube) == pairs | {(b, a): count for (a, b), count in pairs.items()}
    for i in range(10):
        assert cube.object_cells[i].tolist() == [c for c in range(len(cube.cells)) if i in cube.cells.members[c]]


def test_a_record_that_mentions_too_many_objects_makes_no_links_and_is_counted() -> None:
    rows = [(2003, ["KDD"], [0, 1, 2]), (2003, ["KDD"], [0, 1])]
    cube = build(corpus_of(rows, objects=3), [VENUE], Sqlite(), min_objects=1, max_mentions=2)
    assert cube.links.count == 1
    assert cube.settings["dropped"]["items with more than 2 objects, which make no links"] == 1


def test_given_links_are_summed_and_self_links_are_dropped_and_counted() -> None:
    corpus = corpus_of([(2003, ["KDD"], [0, 1])], objects=3, links=[(0, 1, 2.0), (1, 0, 1.5), (2, 2, 1.0)])
    cube = build(corpus, [VENUE], Sqlite(), min_objects=1)
    assert (cube.links.count, cube.links.weights.tolist()) == (1, [3.5, 3.5])
    assert cube.settings["dropped"]["links from an object to itself"] == 1


def test_items_without_a_label_are_in_no_cell_and_are_counted() -> None:
    rows = [(None, ["KDD"], [0]), (2003, [], [1]), (2003, [" "], [2])]
    cube = build(corpus_of(rows, objects=3), [DECADE, VENUE], Sqlite(), min_objects=1)
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
    cube = build(corpus_of(rows, objects=2), [DimensionSpec("topic", "topic")], Sqlite(), topics=topics, min_objects=1)
    assert contents(cube) == {("parsing",): [0, 1], ("speech",): [1]}
    assert cube.topic_words is not None
    assert cube.topic_words["topic"].to_pylist() == ["parsing", "speech"]
    assert cube.settings["topics"] == {"model": "by hand"}


@pytest.mark.parametrize(
    ("spec", "error", "text"),
    [
        (DimensionSpec("place", "place"), ParameterError, "unknown attribute 'place': choose one of venue, year"),
        (DimensionSpec("venue", "venue", bins="decades"), SourceError, "attribute 'venue' is .* expected a number"),
        (DimensionSpec("venue", "venue", parent="kind"), ParameterError, "labels of 'venue' have no 'kind'"),
        (DimensionSpec("year", "year", bins="centuries"), ParameterError, "cannot read the bins 'centuries'"),
    ],
)
def test_a_dimension_that_cannot_be_built_is_refused_in_one_sentence(
    spec: DimensionSpec, error: type, text: str
) -> None:
    with pytest.raises(error, match=text):
        build(corpus_of([(2003, ["KDD"], [0])], objects=1), [spec], Sqlite())


def test_no_dimension_and_one_named_twice_are_refused() -> None:
    corpus = corpus_of([(2003, ["KDD"], [0])], objects=1)
    with pytest.raises(ParameterError, match="a cube needs a dimension"):
        build(corpus, [], Sqlite())
    with pytest.raises(ParameterError, match="two dimensions have the same name"):
        build(corpus, [VENUE, VENUE], Sqlite())
    with pytest.raises(ParameterError, match="'∗' is the top of every dimension: give the level another name"):
        build(corpus, [DimensionSpec.parse("venue/∗")], Sqlite())


@pytest.mark.parametrize("rows", [[(None, [], [])], [(None, [" "], [0]), (None, [""], [0])]])
def test_a_dimension_without_any_label_is_refused_by_name(rows: list) -> None:
    corpus = corpus_of(rows, objects=1)
    for specs, name, attribute in (([DECADE, VENUE], "decade", "year"), ([VENUE], "venue", "venue")):
        sentence = f"dimension '{name}' would have no label: no item has a value .* '{attribute}'; read"
        with pytest.raises(SourceError, match=sentence):
            build(corpus, specs, Sqlite())


@pytest.mark.parametrize("values", [["", " "], [None, "nan"], pa.array([None, None], pa.null())])
def test_numbers_that_are_all_blank_are_refused_by_name(values: list) -> None:
    with pytest.raises(SourceError, match="dimension 'size' would have no label: no item has a value of .* 'stars'"):
        label_items(with_columns(stars=values), [DimensionSpec("size", "stars", "years")])


def test_numbers_are_read_from_texts_with_space_around_and_blanks_are_none() -> None:
    texts = [" 12", "3e1 ", "", None, "+7", "\t8.0", ".5"]
    labelled = label_items(with_columns(stars=texts), [DimensionSpec("stars", "stars", "years")])
    labels = labelled.dimensions[0].labels
    assert [labels[code] for code in labelled.table["label"].to_pylist()] == ["12", "30", "7", "8", "0"]
    assert labelled.table["item"].to_pylist() == [0, 1, 4, 5, 6]
    assert labelled.ledger.unlabelled == {"stars": 2}


@pytest.mark.parametrize("text", ["1_000", "n.d.", "1,5", "0x10", "١", "1 2", "-", "1e", "1\n2"])
def test_a_text_that_is_no_number_is_named(text: str) -> None:
    corpus = with_columns(stars=["4", text, None, "5"])
    with pytest.raises(SourceError) as caught:
        label_items(corpus, [DimensionSpec("stars", "stars", "years")])
    assert str(caught.value) == f"attribute 'stars' is {text!r} in an item, expected a number (in 1 items)"


@given(st.text(max_size=6))
def test_whatever_the_text_it_is_a_number_a_blank_or_named(text: str) -> None:
    try:
        label_items(with_columns(stars=["4", text]), [DimensionSpec("stars", "stars", "quantiles:2")])
    except SourceError as error:
        assert "attribute 'stars' is " in str(error) and "expected a number" in str(error)


def test_a_number_too_large_for_its_bins_is_refused_with_its_attribute() -> None:
    with pytest.raises(SourceError, match="attribute 'stars' is 1e.300, too large for the bins 'decades'"):
        label_items(with_columns(stars=[1e300, 2.0]), [DimensionSpec("stars", "stars", "decades")])


def test_bins_above_must_hold_whole_bins_below() -> None:
    corpus = with_columns(x=[3, 4, 5, 9])
    with pytest.raises(ParameterError) as caught:
        label_items(corpus, [DimensionSpec("x", "x", "width:3", "width:5")])
    assert str(caught.value) == "the bins 'width:5' do not hold whole bins of 'width:3': '3–5' lies in '0–4' and '5–9'"
    fine, coarse = label_items(corpus, [DimensionSpec("x", "x", "width:3", "width:6")]).dimensions[0].levels
    assert fine.parents is not None
    assert [(label, coarse.labels[i]) for label, i in zip(fine.labels, fine.parents, strict=True)] == [
        ("3–5", "0–5"),
        ("9–11", "6–11"),
    ]


@given(st.lists(st.integers(-999, 999), min_size=1, max_size=30), st.integers(1, 9), st.integers(1, 5))
def test_bins_that_nest_are_never_refused(tenths: list[int], width: int, times: int) -> None:
    corpus = with_columns(x=[tenth / 10 for tenth in tenths])
    spec = DimensionSpec("x", "x", f"width:{width / 10}", f"width:{width * times / 10}")
    if times > 1:
        assert label_items(corpus, [spec]).strays == {}
    quarters = DimensionSpec("x", "x", f"quantiles:{width * times + width}", f"quantiles:{width}")
    assert label_items(corpus, [quarters]).strays == {}


def test_an_item_with_several_parents_is_no_stray_when_its_label_has_one_of_them() -> None:
    corpus = with_columns(
        city=[["A", "B"], ["A", "B"], ["B"], ["B"]], state=[["S", "T"], ["S", "T"], ["T"], ["S", "U"]]
    )
    labelled = label_items(corpus, [DimensionSpec("city", "city", parent="state")])
    fine, coarse = labelled.dimensions[0].levels
    assert fine.parents is not None
    assert [coarse.labels[i] for i in fine.parents] == ["S", "S"]
    assert labelled.strays == {("city", "state"): 1}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", "z", None])), min_size=1, max_size=20))
def test_parents_and_strays_follow_their_definitions(rows: list) -> None:
    seen = [{p for c, p in rows if c == city and p} for city in sorted({city for city, _ in rows})]
    assume(all(seen))
    corpus = with_columns(city=[city for city, _ in rows], state=[state for _, state in rows])
    labelled = label_items(corpus, [DimensionSpec("city", "city", parent="state")])
    fine, coarse = labelled.dimensions[0].levels
    assert fine.parents is not None
    found = {city: coarse.labels[i] for city, i in zip(fine.labels, fine.parents, strict=True)}
    assert found == {
        city: max(sorted(states), key=lambda state, city=city: rows.count((city, state)))
        for city, states in zip(fine.labels, seen, strict=True)
    }
    strays = sum(state is not None and state != found[city] for city, state in rows)
    assert labelled.strays == ({("city", "state"): strays} if strays else {})


@pytest.mark.parametrize(
    ("specs", "sentence"),
    [
        (["city/state", "state"], "the level 'state' above 'city' has the name of a level of dimension 'state'"),
        (["state", "city/state"], "the level 'state' above 'city' has the name of a level of dimension 'state'"),
        (["city/state", "zip=city/state"], "the level 'state' above 'zip' has the name of a level of dimension 'city'"),
        (["city/city"], "dimension 'city' cannot be its own parent"),
    ],
)
def test_a_level_with_the_name_of_another_is_refused(specs: list[str], sentence: str) -> None:
    corpus = with_columns(city=["Reno"], state=["Nevada"])
    with pytest.raises(ParameterError, match=sentence):
        label_items(corpus, [DimensionSpec.parse(spec) for spec in specs])


def test_whole_numbers_too_large_for_a_float_are_binned_all_the_same() -> None:
    labelled = label_items(with_columns(stars=[2**53 + 1]), [DimensionSpec("stars", "stars", bins="width:10")])
    assert len(labelled.dimensions[0].labels) == 1
