"""An update equals a rebuild: any split of a corpus in two, and cases by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cube2net._util.arrays import HEAVIEST, LIGHTEST
from cube2net.cube.building.build import build, update
from cube2net.cube.building.concatenation import concatenate, concatenate_topics
from cube2net.cube.storage.ledger import Ledger
from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import ASSIGNED, MENTIONS, WORDS, Corpus, Topics, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of
from updates import SPECS, Sqlite, assert_same, maybe, part_of, specs_of, wholes, with_ids


def needed(whole: Corpus, items: set[int], links: set[int]) -> set[int]:
    pairs = zip(*(whole.mentions[name].to_pylist() for name in MENTIONS), strict=True)
    objects = {o for i, o in pairs if i in items}
    if whole.links is not None:
        ends = zip(*(whole.links[end].to_pylist() for end in ("source", "target")), strict=True)
        objects |= {o for row, pair in enumerate(ends) if row in links for o in pair}
    return objects


@st.composite
def splits(draw: st.DrawFn) -> tuple[Corpus, Corpus]:
    """Return two parts of a corpus; each has the objects it needs and some others, in any order."""
    whole = draw(wholes())
    count = whole.items.num_rows
    rows = 0 if whole.links is None else whole.links.num_rows
    here = {i for i in range(count) if draw(st.booleans())}
    linked = {i for i in range(rows) if draw(st.booleans())}
    parts = []
    for items, links in ((here, linked), (set(range(count)) - here, set(range(rows)) - linked)):
        objects = needed(whole, items, links) | {o for o in range(7) if draw(st.booleans())}
        order = draw(st.permutations(sorted(objects)))
        parts.append(part_of(whole, sorted(items), order, sorted(links)))
    known = whole.labels
    words = [draw(maybe(st.sampled_from(["Said later", ""]))) for _ in range(known.num_rows)]
    kinds = [draw(maybe(st.sampled_from(["journal", "workshop"]))) for _ in range(known.num_rows)]
    later = known.set_column(2, "full_name", pa.array(words, pa.string()))
    later = later.set_column(3, "parent", pa.array(kinds, pa.string()))
    first = known.slice(draw(st.integers(0, known.num_rows - 1)))
    return replace(parts[0], labels=first), replace(parts[1], labels=later)


def written_and_read(cube: Cube) -> Cube:
    """Return a cube whose ledger went through its tables."""
    assert cube.ledger is not None
    ledger = Ledger.read(cube.ledger().items, cube.ledger().tables())
    return replace(cube, ledger=lambda: ledger)


def refused_or(make: Callable[[], Cube]) -> Cube | Exception:
    try:
        return make()
    except (SourceError, ParameterError) as error:
        return error


@given(splits(), st.data(), st.integers(1, 3), st.integers(2, 4))
def test_an_update_equals_a_rebuild_for_any_split(
    parts: tuple[Corpus, Corpus], data: st.DataObject, least: int, most: int
) -> None:
    specs = specs_of(data.draw, SPECS)
    options: dict[str, Any] = {"min_objects": least, "max_mentions": most}
    first = refused_or(lambda: build(parts[0], specs, Sqlite(), **options))
    assume(isinstance(first, Cube))
    assert isinstance(first, Cube)
    whole = refused_or(lambda: build(concatenate(*parts), specs, Sqlite(), **options))
    grown = refused_or(lambda: update(written_and_read(first), parts[1], Sqlite()))
    if isinstance(whole, Cube):
        assert isinstance(grown, Cube), grown
        assert_same(grown, whole)
    else:
        assert str(grown) == str(whole)


@settings(max_examples=25)
@given(splits(), st.data())
def test_topics_that_are_given_grow_as_if_they_were_one_table(
    parts: tuple[Corpus, Corpus], data: st.DataObject
) -> None:
    grouped = data.draw(st.booleans())
    found = []
    for part, names in zip(parts, (("syntax", "speech", "unused"), ("no text", "unused", "speech")), strict=True):
        count = part.items.num_rows
        rows = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
        found.append(
            Topics(
                names,
                table(ASSIGNED, item=list(range(count)), topic=rows, weight=[1.0] * count),
                table(WORDS, topic=[1], term=["sound"], weight=[0.5]),
                tuple(f"{name[0]} group" for name in names) if grouped else None,
                {"model": "by hand"},
            )
        )
    assume(parts[0].items.num_rows)
    specs = [DimensionSpec("topic", "topic", parent="group" if grouped else None)]
    first = build(parts[0], specs, Sqlite(), topics=found[0], min_objects=1)
    together = concatenate_topics(*found, parts[0].items.num_rows)
    whole = build(concatenate(*parts), specs, Sqlite(), topics=together, min_objects=1)
    assert_same(update(first, parts[1], Sqlite(), topics=found[1]), whole)


@settings(max_examples=6)
@given(wholes(), st.integers(0, 14))
def test_a_corpus_cut_in_two_gives_the_cube_of_the_corpus(whole: Corpus, cut: int) -> None:
    count = whole.items.num_rows
    links = list(range(0 if whole.links is None else whole.links.num_rows))
    first = part_of(whole, list(range(min(cut, count))), list(range(7)), links[:cut])
    second = part_of(whole, list(range(min(cut, count), count)), list(range(7)), links[cut:])
    specs = [DimensionSpec.parse("year@years/decades"), DimensionSpec.parse("venue/kind")]
    cube = refused_or(lambda: build(first, specs, Sqlite(), min_objects=2))
    assume(isinstance(cube, Cube))
    assert isinstance(cube, Cube)
    counted = {"dropped": {"papers without authors": 4}}
    assert_same(update(cube, second, Sqlite()), build(replace(whole, **counted), specs, Sqlite(), min_objects=2))


def test_three_items_by_hand() -> None:
    first = corpus_of([(1999, ["KDD"], [0, 1]), (2003, ["ACL"], [1])], objects=2)
    more = corpus_of([(2004, ["ACL"], [1, 0])], objects=2)
    ids = more.objects.set_column(0, "object", pa.array(["o1", "o7"]))
    more = replace(more, objects=ids, items=more.items.set_column(0, "item", pa.array(["i2"])))
    specs = [DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue")]
    cube = build(first, specs, Sqlite(), min_objects=2)
    assert [cube.cell(i) for i in range(len(cube.cells))] == [("199X", "KDD")]
    grown = update(cube, more, Sqlite())
    assert [grown.cell(i) for i in range(len(grown.cells))] == [("199X", "KDD"), ("200X", "ACL")]
    assert [grown.cells.members[i].tolist() for i in range(2)] == [[0, 1], [0 + 1, 2]]
    assert [grown.object_cells[i].tolist() for i in range(3)] == [[0], [0, 1], [1]]
    assert [grown.links.neighbours(i).tolist() for i in range(3)] == [[1], [0, 2], [1]]
    assert grown.objects.table["object"].to_pylist() == ["o0", "o1", "o7"]
    assert len(grown.small) == 0
    assert (grown.settings["items"], grown.settings["dropped"]) == (3, {})
    assert (len(cube.small), cube.settings["dropped"]) == (1, {"cells with fewer than 2 objects": 1})


def test_the_parent_that_most_items_have_may_change_and_strays_are_counted_anew() -> None:
    def cities(states: list[str]) -> Corpus:
        plain = corpus_of([(2003, [], [0])] * len(states), objects=1)
        items = plain.items.append_column("city", pa.array(["Springfield"] * len(states)))
        return replace(plain, items=items.append_column("state", pa.array(states)))

    spec = DimensionSpec.parse("city/state")
    cube = build(cities(["Ohio", "Ohio", "Illinois"]), [spec], Sqlite(), min_objects=1)
    assert cube.settings["dropped"] == {"items whose state is not that of most items of their city": 1}
    grown = update(cube, with_ids(cities(["Illinois", "Illinois"]), 3), Sqlite())
    fine, coarse = grown.dimensions[0].levels
    assert fine.parents is not None
    assert [coarse.labels[i] for i in fine.parents] == ["Illinois"]
    assert grown.settings["dropped"] == {"items whose state is not that of most items of their city": 2}


def test_a_fraction_in_the_past_still_shows_in_the_names_of_bins() -> None:
    def rated(*stars: float) -> Corpus:
        plain = corpus_of([(2003, [], [0])] * len(stars), objects=1)
        return replace(plain, items=plain.items.append_column("stars", pa.array(stars)))

    specs = [DimensionSpec.parse("stars@edges:1,4,9")]
    first, more = rated(1.0, 2.5, 3.0), with_ids(rated(5.0), 3)
    cube = build(first, specs, Sqlite(), min_objects=1)
    assert cube.dimensions[0].labels == ("1–4",)
    grown = update(cube, more, Sqlite())
    assert grown.dimensions[0].labels == ("1–4", "4–9")
    assert_same(grown, build(concatenate(first, more), specs, Sqlite(), min_objects=1))
    whole = update(build(rated(1.0), specs, Sqlite(), min_objects=1), with_ids(rated(2.5), 1), Sqlite())
    assert whole.dimensions[0].labels == ("1–4",)


def test_sums_of_weights_are_rounded_once() -> None:
    rows: list = [(2003, ["KDD"], [0, 1])]
    tiny = 2.0**-25
    first = corpus_of(rows, objects=2, links=[(0, 1, 1.0), (1, 0, tiny)])
    more = with_ids(corpus_of(rows, objects=2, links=[(0, 1, tiny)]), 1)
    cube = build(first, [DimensionSpec.parse("venue")], Sqlite(), min_objects=1)
    assert cube.links.weights.tolist() == [1.0, 1.0]
    grown = update(cube, more, Sqlite())
    assert_same(grown, build(concatenate(first, more), [DimensionSpec.parse("venue")], Sqlite(), min_objects=1))
    again = update(grown, with_ids(replace(more, links=more.links.take([0, 0])), 2), Sqlite())
    assert again.links.weights.tolist() == [1.0 + 2.0**-23] * 2


@pytest.mark.parametrize("before", [[HEAVIEST], [HEAVIEST, HEAVIEST], [1.0, HEAVIEST / 2, 0.0], [LIGHTEST]])
@pytest.mark.parametrize("added", [[HEAVIEST], [HEAVIEST / 2, HEAVIEST], [0.0], [1e30]])
def test_sums_above_the_highest_weight_are_that_weight_however_they_come(
    before: list[float], added: list[float]
) -> None:
    rows: list = [(2003, ["KDD"], [0, 1])]
    specs = [DimensionSpec.parse("venue")]
    first = corpus_of(rows, objects=2, links=[(0, 1, weight) for weight in before])
    more = with_ids(corpus_of(rows, objects=2, links=[(1, 0, weight) for weight in added]), 1)
    grown = update(build(first, specs, Sqlite(), min_objects=1), more, Sqlite())
    whole = build(concatenate(first, more), specs, Sqlite(), min_objects=1)
    assert_same(grown, whole)
    assert np.isfinite(whole.links.weights).all()
    again = with_ids(more, 2)
    assert_same(
        update(grown, again, Sqlite()),
        build(concatenate(concatenate(first, more), again), specs, Sqlite(), min_objects=1),
    )
