"""Dimensions of many levels: each is exact, along every path, small cells included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.cube.building.build import build
from cube2net.cube.cuboids import cuboid
from cube2net.cube.storage.reader import read, verify
from cube2net.cube.storage.writer import save
from cube2net.cube.views import dice, drill_down, roll_up, slice_cube
from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import LABELS, Corpus, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec

from corpora import contents, corpus_of, with_columns
from updates import Sqlite, assert_same

SUBFIELD = {"parsing": "nlp", "speech": "nlp", "vision": "cv", "genes": "bio", "cells": "bio"}
FIELD = {"nlp": "cs", "cv": "cs", "bio": "life"}
DOMAIN = {"cs": "science", "life": "science"}
SIZE = {"nlp": "large", "cv": "small", "bio": "large"}
GROUP = {"parsing": "A", "speech": "B", "vision": "A", "genes": "A", "cells": "B"}
TREE = DimensionSpec.parse("topic/subfield/field/domain|subfield/size|group")
YEAR = DimensionSpec.parse("year@years/decades")
UP = {
    "topic": lambda topic: topic,
    "subfield": SUBFIELD.__getitem__,
    "field": lambda topic: FIELD[SUBFIELD[topic]],
    "domain": lambda topic: DOMAIN[FIELD[SUBFIELD[topic]]],
    "size": lambda topic: SIZE[SUBFIELD[topic]],
    "group": GROUP.__getitem__,
    "∗": lambda topic: "∗",
}
ITEMS = st.lists(
    st.tuples(
        st.integers(1995, 2024),
        st.lists(st.sampled_from(sorted(SUBFIELD)), min_size=1, max_size=2, unique=True),
        st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True),
    ),
    min_size=1,
    max_size=14,
)


def corpus_with_topics(rows: list) -> Corpus:
    """Return a corpus whose labels say the chain of every topic, and whose items say its group where they have one."""
    plain = corpus_of([(year, [], objects) for year, _, objects in rows], objects=7)
    items = plain.items.append_column("topic", pa.array([topics for _, topics, _ in rows], pa.list_(pa.string())))
    chain = {"topic": SUBFIELD, "subfield": FIELD, "field": DOMAIN}
    said = [(name, label, parent) for name, parents in chain.items() for label, parent in parents.items()]
    # What is no chain of labels is read from attributes, here of items that have one topic alone.
    for name in ("size", "group"):
        values = [UP[name](topics[0]) if len(topics) == 1 else None for _, topics, _ in rows]
        items = items.append_column(name, pa.array(values, pa.string()))
    labels = table(
        LABELS,
        attribute=[row[0] for row in said],
        label=[row[1] for row in said],
        full_name=[f"{row[1]} in full" for row in said],
        parent=[row[2] for row in said],
    )
    return replace(plain, items=items, labels=labels)


def every_topic_alone(rows: list) -> list:
    """Return rows in which every topic stands alone once, so that the attributes say all parents."""
    return [*rows, *((2000, [topic], [0]) for topic in sorted(SUBFIELD))]


def built(rows: list, *, least: int = 1, specs: tuple[DimensionSpec, ...] = (TREE, YEAR)) -> Cube:
    return build(corpus_with_topics(rows), specs, Sqlite(), min_objects=least)


def all_contents(cube: Cube) -> tuple[dict[tuple[str, ...], list[int]], dict[tuple[str, ...], list[int]]]:
    return contents(cube), contents(cube, cube.small)


def by_hand(rows: list, level: str, years: str = "year", *, least: int = 1, only: dict[str, str] | None = None):  # type: ignore[no-untyped-def]
    """Return the cells at a level, and those too small, by going through the items."""
    cells: dict[tuple[str, str], set[int]] = {}
    for year, topics, objects in rows:
        for topic in topics:
            if all(UP[name](topic) == label for name, label in (only or {}).items()):
                time = {"year": str(year), "decades": f"{year // 10}X", "∗": "∗"}[years]
                cells.setdefault((UP[level](topic), time), set()).update(objects)
    named = {cell: sorted(objects) for cell, objects in cells.items()}
    return (
        {cell: objects for cell, objects in named.items() if len(objects) >= least},
        {cell: objects for cell, objects in named.items() if len(objects) < least},
    )


@given(ITEMS, st.integers(1, 4), st.sampled_from(sorted(UP)), st.sampled_from(["year", "decades", "∗"]))
def test_every_level_is_what_the_items_say_however_it_is_come_by(
    rows: list, least: int, level: str, years: str
) -> None:
    rows = every_topic_alone(rows)
    cube = built(rows, least=least)
    rolled = cube if level == "topic" else roll_up(cube, "topic", level)
    rolled = rolled if years == "year" else roll_up(rolled, "year", years)
    expected = by_hand(rows, level, years, least=least)
    assert all_contents(rolled) == expected
    assert rolled.object_cells.indices.tolist() == [
        cell for who in range(7) for cell in range(len(rolled.cells)) if who in rolled.cells.members[cell]
    ]
    named = [name for name in (level, years) if name != "∗"]
    if named:
        assert all_contents(cuboid(cube, ",".join(named))) == expected
        assert all_contents(cuboid(cube, ",".join(named))) == all_contents(cuboid(rolled, ",".join(named)))


@given(ITEMS, st.integers(1, 3), st.sampled_from([["subfield", "field", "domain"], ["subfield", "size"], ["group"]]))
def test_going_up_step_by_step_or_at_once_and_down_again_is_the_same(rows: list, least: int, path: list[str]) -> None:
    rows = every_topic_alone(rows)
    cube = built(rows, least=least)
    there, stands = cube, "topic"
    for level in path:
        there = roll_up(there, stands, level)
        assert all_contents(there) == all_contents(roll_up(cube, "topic", level)) == by_hand(rows, level, least=least)
        stands = level
    top = roll_up(there, stands, "*")
    assert all_contents(top) == by_hand(rows, "∗", least=least)
    assert all_contents(drill_down(top, stands)) == all_contents(there)
    for number in range(len(path) - 1, -1, -1):
        below = ["topic", *path][number]
        there = drill_down(there, there.dimensions[0].name)
        assert there.dimensions[0].name == below
        assert all_contents(there) == by_hand(rows, below, least=least)
        assert all_contents(drill_down(top, stands, below)) == all_contents(there)


@given(ITEMS, st.integers(1, 3), st.sampled_from(sorted(set(UP) - {"∗"})), st.sampled_from(["topic", "subfield"]))
def test_labels_of_any_level_above_cut_the_cube(rows: list, least: int, level: str, stands: str) -> None:
    rows = every_topic_alone(rows)
    cube = built(rows, least=least)
    cube = cube if stands == "topic" else roll_up(cube, "topic", stands)
    if level not in {cube.dimensions[0].levels[number].name for number in cube.dimensions[0].at_or_above()}:
        with pytest.raises(ParameterError, match=f"unknown dimension '{level}'"):
            dice(cube, {level: "A"})
        return
    for label in {UP[level](topic) for topic in SUBFIELD}:
        expected = by_hand(rows, stands, least=least, only={level: label})
        part = dice(cube, {level: label})
        assert all_contents(part) == expected
        if stands != "topic":
            assert all_contents(drill_down(part, stands)) == by_hand(rows, "topic", least=least, only={level: label})
        sliced = slice_cube(cube, level, label)
        whole: dict[tuple[str], set[int]] = {}
        for cell, objects in (expected[0] | expected[1]).items():
            whole.setdefault(cell[1:], set()).update(objects)
        assert all_contents(sliced)[0] == {c: sorted(o) for c, o in whole.items() if len(o) >= least}
    both = {"subfield": ["nlp", "cv"], "size": "large"}
    assert all_contents(dice(cube, both)) == by_hand(rows, stands, least=least, only={"subfield": "nlp"})


def parents_of(cube: Cube, below: str, above: str) -> dict[str, str]:
    levels = {level.name: level for level in cube.dimensions[0].levels}
    numbers = levels[below].above[above].tolist()
    return {label: levels[above].labels[i] for label, i in zip(levels[below].labels, numbers, strict=True)}


def test_each_level_of_a_chain_follows_most_items_of_the_level_below_it() -> None:
    corpus = with_columns(
        city=["Ulm", "Ulm", "Bonn", "Bern", "Bern"],
        state=["Bavaria", "Baden", "NRW", "Bern", "Baden"],
        country=["Germany", "Germany", "Germany", "Switzerland", "Germany"],
    )
    cube = build(corpus, [DimensionSpec.parse("city/state/country")], Sqlite(), min_objects=1)
    assert parents_of(cube, "city", "state") == {"Bern": "Baden", "Bonn": "NRW", "Ulm": "Baden"}
    assert parents_of(cube, "state", "country") == {
        "Baden": "Germany",
        "Bavaria": "Germany",
        "Bern": "Switzerland",
        "NRW": "Germany",
    }
    assert all_contents(roll_up(cube, "city", "country"))[0] == {("Germany",): [0, 1, 2, 3, 4]}
    assert cube.settings["dropped"] == {"items whose state is not that of most items of their city": 2}
    flat = build(corpus, [DimensionSpec.parse("city/country|state")], Sqlite(), min_objects=1)
    assert parents_of(flat, "city", "country")["Bern"] == "Germany"
    assert flat.settings["dropped"] == {
        "items whose country is not that of most items of their city": 1,
        "items whose state is not that of most items of their city": 2,
    }


def test_an_attribute_above_labels_counts_an_item_once_for_each_label_that_it_is_part_of() -> None:
    # The first item has both venues of one kind: that is one vote for "east", and the two others outvote it.
    corpus = corpus_of(
        [(2003, ["KDD", "ACL"], [0]), (2003, ["KDD"], [1]), (2003, ["ACL"], [2])],
        objects=3,
        kinds={"KDD": "conference", "ACL": "conference"},
    )
    corpus = replace(corpus, items=corpus.items.append_column("region", pa.array(["east", "west", "west"])))
    cube = build(corpus, [DimensionSpec.parse("venue/kind/region")], Sqlite(), min_objects=1)
    assert parents_of(cube, "kind", "region") == {"conference": "west"}
    assert cube.settings["dropped"] == {"items whose region is not that of most items of their kind": 1}


def test_levels_above_have_the_full_names_that_the_source_says() -> None:
    levels = built(every_topic_alone([])).dimensions[0].levels
    assert {level.name: level.full_names[0] for level in levels} == {
        "topic": "cells in full",
        "subfield": "bio in full",
        "field": "cs in full",
        "domain": "science",
        "size": "large",
        "group": "A",
    }


def test_two_specs_of_one_name_build_one_dimension_with_both_paths() -> None:
    rows = every_topic_alone([])
    specs = [DimensionSpec.parse("topic/subfield/field"), YEAR, DimensionSpec.parse("topic/group")]
    cube = built(rows, specs=tuple(specs))
    assert cube.settings["dimensions"] == ["topic/subfield/field|group", "year@years/decades"]
    assert [level.name for level in cube.dimensions[0].levels] == ["topic", "subfield", "field", "group"]
    assert cube.dimensions[0].below == (-1, 0, 1, 0)
    assert all_contents(roll_up(cube, "topic", "group")) == by_hand(rows, "group")


def test_a_cube_of_many_levels_is_saved_whole_and_from_where_it_stands(tmp_path: Path) -> None:
    cube = built(every_topic_alone([(2001, ["parsing", "genes"], [1, 2])]), least=2)
    save(cube, tmp_path / "cube")
    assert_same(read(tmp_path / "cube"), cube)
    rolled = roll_up(roll_up(cube, "topic", "subfield"), "year", "∗")
    save(rolled, tmp_path / "rolled")
    again = read(tmp_path / "rolled")
    assert verify(tmp_path / "rolled")
    assert all_contents(again) == all_contents(rolled)
    assert [level.name for level in again.dimensions[0].levels] == ["subfield", "field", "domain", "size"]
    assert again.dimensions[1].labels == ("∗",)
    assert all_contents(roll_up(again, "subfield", "size")) == all_contents(roll_up(rolled, "subfield", "size"))


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda cube: roll_up(cube, "topic"), "dimension 'topic' has 'subfield' and 'group' above it: name the one to"),
        (
            lambda cube: roll_up(cube, "topic", "decades"),
            "unknown level above 'topic' 'decades': choose one of domain, f",
        ),
        (
            lambda cube: roll_up(cube, "topic", "topic"),
            "dimension 'topic' stands at 'topic' already: roll it up to subf",
        ),
        (lambda cube: roll_up(cube, "field"), "'field' is a level above 'topic': roll 'topic' up first"),
        (
            lambda cube: roll_up(roll_up(cube, "topic", "group"), "group"),
            r"no level above to roll up to, only ∗ \(roll_up\(cube, 'group', '∗'\)\)",
        ),
        (lambda cube: roll_up(roll_up(cube, "topic", "∗"), "topic", "field"), "'topic' stands at ∗, the top"),
        (
            lambda cube: dice(roll_up(cube, "topic", "∗"), {"topic": "genes"}),
            "stands at ∗, all labels together: drill it",
        ),
        (
            lambda cube: drill_down(roll_up(cube, "topic", "field"), "field", "group"),
            "unknown level below 'field' 'group'",
        ),
        (lambda cube: drill_down(roll_up(cube, "topic", "∗"), "topic", "year"), "unknown level below '∗' 'year'"),
        (lambda cube: dice(cube, {"field": "arts"}), "unknown label of 'field' 'arts': choose one of cs, life"),
        (lambda cube: dice(cube, {"fields": "cs"}), "unknown dimension 'fields'"),
    ],
)
def test_a_level_that_is_not_there_is_refused_in_one_sentence(ask: Callable[[Cube], Cube], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        ask(built(every_topic_alone([])))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("topic/subfield/field/domain/sort", "labels of 'domain' have no 'sort'"),
        (
            "topic/field",
            "parents of 'topic', 'bio', 'cv', 'nlp', are labels of 'subfield' and not of 'field': write topic/sub",
        ),
        ("topic/area/sort", "labels of 'area' have no 'sort'"),
        ("topic/subfield|area", "'subfield' and 'area' above 'topic' would be the same: the source has one parent"),
        ("topic/subfield/x@width:9", "the level 'x' above 'subfield' has the bins 'width:9' of nothing"),
        ("year@years/months", "the bins 'months' do not hold whole bins of 'years': put them on a path of their own"),
        ("year@years/decades/width:6", "the bins 'width:6' do not hold whole bins of 'decades': '200X' lies in"),
    ],
)
def test_levels_that_nothing_makes_are_refused_in_one_sentence(text: str, sentence: str) -> None:
    specs = [DimensionSpec.parse(text), DimensionSpec("year", "year")]
    specs = specs if specs[0].name != "year" else specs[:1]
    with pytest.raises((ParameterError, SourceError), match=sentence):
        built([(2000, ["genes"], [0]), (2009, ["cells"], [1])], specs=tuple(specs))
