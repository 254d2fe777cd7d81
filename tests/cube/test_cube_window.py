"""A cube of a time: what is inside, that it equals the cube built of that time, and which windows there are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cube2net.cube import removal as without_module
from cube2net.cube.building.build import build
from cube2net.cube.removal import without_items
from cube2net.cube.views import dice, roll_up
from cube2net.cube.window import Window, between
from cube2net.errors import CubeError, ParameterError
from cube2net.model.corpus import LINKS, MENTIONS, Corpus, table
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of, linked
from updates import Sqlite, assert_same_items, maybe, part_of, specs_of, wholes

VENUE, YEAR = DimensionSpec.parse("venue"), DimensionSpec.parse("year@years/decades")
ROWS: list = [
    (2001, ["ACL"], [0, 1, 2]),
    (2002, ["ACL", "KDD"], [0, 1]),
    (2003, ["KDD"], [1, 2]),
    (None, ["KDD"], [0, 2]),
]


def cells_of(cube: Cube, cells: Cells) -> dict[tuple[str, ...], set[str]]:
    ids = cube.objects.table["object"].to_pylist()
    rows = cells.labels.tolist()
    names = [tuple(d.labels[code] for d, code in zip(cube.dimensions, row, strict=True)) for row in rows]
    return {name: {ids[o] for o in cells.members[row]} for row, name in enumerate(names)}


def links_of(cube: Cube) -> dict[tuple[str, str], float]:
    ids = cube.objects.table["object"].to_pylist()
    return {(ids[source], ids[target]): weight for (source, target), weight in linked(cube).items()}


def assert_equals_rebuild(view: Cube, rebuilt: Cube) -> None:
    assert cells_of(view, view.cells) == cells_of(rebuilt, rebuilt.cells)
    assert cells_of(view, view.small) == cells_of(rebuilt, rebuilt.small)
    assert links_of(view) == links_of(rebuilt)
    homes = [set(view.object_cells[o].tolist()) for o in range(len(view.objects))]
    assert sum(map(len, homes)) == len(view.cells.members.indices)
    assert view.settings["items"] == rebuilt.settings["items"]


def test_three_items_by_hand() -> None:
    cube = build(corpus_of(ROWS, objects=3), [VENUE, YEAR], Sqlite(), min_objects=2)
    view = between(cube, "2001..2002")
    assert cells_of(view, view.cells) == {
        ("ACL", "2001"): {"o0", "o1", "o2"},
        ("ACL", "2002"): {"o0", "o1"},
        ("KDD", "2002"): {"o0", "o1"},
    }
    assert links_of(view)["o0", "o1"] == 2 and links_of(view)["o1", "o2"] == 1
    assert view.settings["items"] == 2 and view.settings["views"] == ["only items of year 2001..2002"]
    assert len(view.objects) == 3 and view.dimensions[1].labels == cube.dimensions[1].labels
    both = between(view, (2002, None))
    assert both.settings["items"] == 1 and cells_of(both, both.cells) == {
        ("ACL", "2002"): {"o0", "o1"},
        ("KDD", "2002"): {"o0", "o1"},
    }
    assert between(cube, "1990..1999").links.count == 0 == len(between(cube, "1990..1999").cells)
    assert between(cube, "1990..").settings["items"] == 3


@st.composite
def windows(draw: st.DrawFn) -> tuple[Corpus, Corpus, list[DimensionSpec], tuple[int, int]]:
    """Return a corpus with times, what of it is in a window, dimensions in which both are built, and the window."""
    whole = draw(wholes())
    first, last = sorted(draw(st.tuples(st.integers(1984, 2025), st.integers(1984, 2025))))
    years = whole.items["year"].to_pylist()
    inside = [row for row, year in enumerate(years) if year is not None and first <= year <= last]
    pairs = list(zip(*(whole.mentions[name].to_pylist() for name in MENTIONS), strict=True))
    kept = {*range(whole.objects.num_rows)} - {who for _, who in pairs} | {who for item, who in pairs if item in inside}
    rows: list[int] = []
    links = whole.links
    if links is not None:
        count = links.num_rows
        stated = draw(maybe(st.lists(st.integers(0, len(years) - 1), min_size=count, max_size=count)))
        links = links if stated is None else links.append_column("item", pa.array(stated, pa.int32()))
        times = links["time"].to_pylist() if "time" in links.column_names else [None] * count
        by_item = [True] * count if stated is None else [item in inside for item in stated]
        rows = [row for row, time in enumerate(times) if (by_item[row] if time is None else first <= time <= last)]
        ends = list(zip(links["source"].to_pylist(), links["target"].to_pylist(), strict=True))
        rows = [row for row in rows if kept.issuperset(ends[row])]
    whole = replace(whole, links=links, time="year")
    plain = replace(whole, links=None if links is None else links.select([*LINKS]))
    specs = specs_of(draw, ["decade=year@decades", "year@years/decades", "venue", "city", "size=year@edges:1990,2000"])
    part = part_of(plain, inside, sorted(kept), rows)
    for spec in specs:
        assume(any(part.items[spec.attribute].to_pylist()))
    return whole, part, specs, (first, last)


@given(windows(), st.integers(1, 3), st.booleans())
def test_a_window_equals_a_cube_built_of_it(made: Any, least: int, twice: bool) -> None:
    whole, part, specs, window = made
    cube = build(whole, specs, Sqlite(), min_objects=least, max_mentions=3)
    rebuilt = build(part, specs, Sqlite(), min_objects=least, max_mentions=3)
    view = between(cube, window)
    assert_equals_rebuild(view, rebuilt)
    assert_equals_rebuild(between(view if twice else between(cube, (window[0], None)), window), rebuilt)


@given(st.data(), wholes(), st.integers(1, 3))
def test_taking_away_and_making_anew_give_the_same_cube(data: st.DataObject, whole: Corpus, least: int) -> None:
    assume(any(whole.items["year"].to_pylist()) and any(whole.items["city"].to_pylist()))
    cube = build(whole, [YEAR, DimensionSpec.parse("city")], Sqlite(), min_objects=least, max_mentions=3)
    items = sorted(data.draw(st.sets(st.integers(0, whole.items.num_rows - 1))))
    found = []
    for work in (lambda index, rows: len(rows), lambda index, rows: -len(rows)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(without_module, "_estimate_work", work)
            found.append(without_items(roll_up(cube, "year"), items))
    one, other = found
    assert one.settings == other.settings
    for left, right in ((one, other), (one.finest, other.finest)):
        assert left is not None and right is not None
        for name in ("cells", "small"):
            mine, its = getattr(left, name), getattr(right, name)
            assert mine.labels.tolist() == its.labels.tolist()
            assert mine.members.indptr.tolist() == its.members.indptr.tolist()
            assert mine.members.indices.tolist() == its.members.indices.tolist()
        assert left.links.indices.tolist() == right.links.indices.tolist()
        assert left.links.weights.tolist() == right.links.weights.tolist()
        assert left.links.weights.dtype == right.links.weights.dtype == np.float32
        assert left.links.indptr.dtype == right.links.indptr.dtype
        assert_same_items(left, right)


def test_a_window_of_a_view_is_the_view_of_the_window() -> None:
    cube = build(corpus_of(ROWS, objects=3), [VENUE, YEAR], Sqlite(), min_objects=1)
    one, other = between(roll_up(cube, "year"), "2002.."), roll_up(between(cube, "2002.."), "year")
    assert cells_of(one, one.cells) == cells_of(other, other.cells)
    one, other = between(dice(cube, {"venue": "KDD"}), "..2002"), dice(between(cube, "..2002"), {"venue": "KDD"})
    assert cells_of(one, one.cells) == cells_of(other, other.cells) == {("KDD", "2002"): {"o0", "o1"}}


CITING: list = [(2000 + row, ["ACL"], [row]) for row in range(4)]
"""Works that are their own items, one a year; what stands beside them no item mentions."""


@pytest.mark.parametrize("kinds", [None, ["cites"] * 5])
def test_links_to_what_is_only_mentioned_outside_are_not_in_a_window(kinds: list[str] | None) -> None:
    said = [(0, 1, 1.0), (1, 2, 2.0), (2, 3, 4.0), (3, 4, 8.0), (1, 4, 16.0)]
    corpus = corpus_of(CITING, objects=6, links=said)
    if kinds is not None and corpus.links is not None:
        corpus = replace(corpus, links=corpus.links.append_column("kind", pa.array(kinds)))
    cube = build(corpus, [YEAR], Sqlite(), min_objects=1)
    view = between(cube, "2001..2002")
    inside = {("o1", "o2"): 2.0, ("o1", "o4"): 16.0}
    assert {pair: weight for pair, weight in links_of(view).items() if pair[0] < pair[1]} == inside
    assert view.details is None or len(view.details()) == 2
    assert view.settings["views"] == ["only items of year 2001..2002, and links of what these mention"]
    assert links_of(between(view, "2002")) == {} == links_of(between(cube, "1990..1995"))
    assert links_of(between(roll_up(cube, "year"), "2001..2002")) == links_of(view)


def test_links_without_a_time_stay_and_that_is_said() -> None:
    plain = build(corpus_of(ROWS, objects=3, links=[(0, 1, 2.0), (1, 2, 1.0)]), [VENUE], Sqlite(), min_objects=1)
    view = between(plain, "year=2001..2001")
    assert view.links.count == 2
    assert view.settings["views"] == ["only items of year 2001..2001, and all links: they have no time"]
    ends: dict[str, Any] = {"source": [0, 0, 1], "target": [1, 2, 2], "weight": [1.0, 2.0, 4.0]}
    links = table(LINKS, **ends).append_column("time", pa.array([date(2001, 5, 1), None, date(2002, 1, 1)]))
    timed = build(replace(corpus_of(ROWS, objects=3), links=links), [VENUE], Sqlite(), min_objects=1)
    view = between(timed, "year=2001..2001")
    assert {pair: weight for pair, weight in links_of(view).items() if pair[0] < pair[1]} == {
        ("o0", "o1"): 1.0,
        ("o0", "o2"): 2.0,
    }
    assert view.details is not None and len(view.details()) == 2
    assert view.settings["views"] == ["only items of year 2001..2001, and links of that time"]
    for window in ("2001..2001", "links=2001"):
        view = between(timed, window)
        assert (view.links.count, len(view.cells)) == (2, len(timed.cells))
        assert view.settings["views"] == ["only links of 2001..2001, all items"]
    with pytest.raises(ParameterError, match="the window is of links, and those of the cube have no time"):
        between(plain, "links=2001..2002")


DAYS = [date(2015, 3, 1), date(2015, 2, 28), None, date(2019, 6, 30), date(2019, 7, 1)]


@pytest.mark.parametrize(
    ("window", "inside"),
    [
        ("2015-03..2019-06-30", [0, 3]),
        ("2015..2015", [0, 1]),
        ("2015-02", [1]),
        ("2019-06..", [3, 4]),
        ("..2015-02-28", [1]),
        ("when=2015..2018", [0, 1]),
        ((date(2015, 3, 1), None), [0, 3, 4]),
        ((2015, "2019-06"), [0, 1, 3]),
        ((None, datetime(2015, 2, 28, 12, tzinfo=UTC)), [1]),
    ],
)
@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s"), pa.timestamp("ns", "UTC"), pa.string()])
def test_dates_are_inside_from_the_first_to_the_last_day(window: Any, inside: list[int], kind: pa.DataType) -> None:
    times = pa.chunked_array([pa.array(DAYS).cast(kind)])
    assert np.flatnonzero(Window.parse(window).contains(times, "the attribute 'when'")).tolist() == inside


def test_numbers_and_years_are_inside_from_the_first_to_the_last() -> None:
    for kind in (pa.int16(), pa.float64(), pa.string()):
        times = pa.chunked_array([pa.array([-5, 7, None, 8, 9]).cast(kind)])
        assert np.flatnonzero(Window.parse("-5..8").contains(times, "a number")).tolist() == [0, 1, 3]
    assert not Window.parse("..9").contains(pa.chunked_array([pa.nulls(2)]), "nothing").any()
    late = pa.chunked_array([pa.array([datetime(2019, 12, 31, 23, 59, 59, 999999)])])
    assert (
        Window.parse("2019").contains(late, "a time").all()
        and not Window.parse("2020..").contains(late, "a time").any()
    )


@pytest.mark.parametrize(
    ("window", "sentence"),
    [
        ("..", "a window of time needs a beginning or an end: write 2015..2019"),
        ("2019..2015", r"the window '2019..2015' ends before it begins"),
        ("2015-13..", "cannot read '2015-13' in the window '2015-13..': write 2015..2019"),
        ("soon..", "cannot read 'soon' in the window"),
        ((2015,), r"between is \(2015,\), expected a text or a pair such as \(2015, 2019\)"),
        ((True, None), "cannot read 'True' in the window|cannot read True in the window"),
        ("2001-05..", "the attribute 'year' holds whole numbers such as years, and the window has '2001-05'"),
        ("yaer=2001..", "unknown attribute 'yaer': choose one of venue, year"),
        ("venue=2001..", "the attribute 'venue' holds list<item: string>, expected dates, times or whole numbers"),
    ],
)
def test_a_window_that_cannot_be_is_one_sentence(window: Any, sentence: str) -> None:
    cube = build(corpus_of(ROWS, objects=3), [VENUE, YEAR], Sqlite(), min_objects=1)
    with pytest.raises(ParameterError, match=sentence):
        between(cube, window)


def test_the_time_is_what_the_source_says_or_what_is_cut_into_years() -> None:
    said = replace(corpus_of(ROWS, objects=3), time="year")
    assert between(build(said, [VENUE], Sqlite()), "2001..2001").settings["items"] == 1
    plain = corpus_of(ROWS, objects=3)
    with pytest.raises(ParameterError, match=r"the cube does not know the time of its items: .*\(it has year, venue\)"):
        between(build(plain, [VENUE], Sqlite()), "2001..2001")
    for items, what in (("none", "does not keep its items"), ("index", "does not keep the attributes of its items")):
        with pytest.raises(CubeError, match=f"{what}: build it again to .*items='all'"):
            between(build(plain, [YEAR], Sqlite(), items=items), "2001..2001")
    words = replace(plain, items=plain.items.append_column("when", pa.array(["early", "1999", "x", "y"])))
    with pytest.raises(ParameterError, match="the attribute 'when' holds texts that are no times, expected dates such"):
        between(build(words, [YEAR], Sqlite()), "when=2001..2001")


def test_a_time_with_a_zone_is_of_the_day_that_it_is_there() -> None:
    early = datetime(2018, 12, 31, 23, 30, tzinfo=UTC)  # half past midnight of the new year in Oslo
    times = pa.chunked_array([pa.array([early, None], pa.timestamp("us", "Europe/Oslo"))])
    assert Window.parse("2019").contains(times, "it").tolist() == [True, False]
    assert Window.parse((datetime(2019, 1, 1, tzinfo=UTC), None)).contains(times, "it").tolist() == [False, False]
    assert Window.parse((early, early)).contains(times, "it").tolist() == [True, False]


def test_texts_are_times_as_dimensions_read_them() -> None:
    times = pa.chunked_array([["2019-03", "2019-03-31T23:00+02:00", "", None, "2018", " 2019-04-01 "]])
    assert Window.parse("2019-03").contains(times, "it").tolist() == [True, True, False, False, False, False]
    assert Window.parse("..2018").contains(times, "it").tolist() == [False, False, False, False, True, False]
    rows = [(None, ["ACL"], [0, 1]), (None, ["KDD"], [1, 2])]
    dated = corpus_of(rows, objects=3)
    dated = replace(dated, items=dated.items.append_column("day", pa.array(["2019-03-04", "2019-07-01"])))
    cube = build(dated, [DimensionSpec.parse("week=day@weeks")], Sqlite(), min_objects=1)
    assert [cube.cell(0), len(between(cube, "2019-07..").cells)] == [("2019-W10",), 1]
