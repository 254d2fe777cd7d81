"""Dimensions of many levels: each is exact, along every path, small cells included."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.cube import build, cuboid, dice, drill_down, roll_up, slice_cube
from cube2net.errors import ParameterError
from cube2net.records import Corpus, Cube, DimensionSpec
from cube2net.records.corpus import LABELS, table

from corpora import corpus_of
from updates import Sqlite

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


def contents(cube: Cube) -> tuple[dict[tuple[str, ...], list[int]], dict[tuple[str, ...], list[int]]]:
    parts = []
    for cells in (cube.cells, cube.small):
        named = [
            tuple("∗" if label < 0 else cube.dimensions[i].labels[label] for i, label in enumerate(row))
            for row in cells.labels.tolist()
        ]
        parts.append({name: cells.members[number].tolist() for number, name in enumerate(named)})
    return parts[0], parts[1]


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


@settings(max_examples=40, deadline=None)
@given(ITEMS, st.integers(1, 4), st.sampled_from(sorted(UP)), st.sampled_from(["year", "decades", "∗"]))
def test_every_level_is_what_the_items_say_however_it_is_come_by(
    rows: list, least: int, level: str, years: str
) -> None:
    rows = every_topic_alone(rows)
    cube = built(rows, least=least)
    rolled = cube if level == "topic" else roll_up(cube, "topic", level)
    rolled = rolled if years == "year" else roll_up(rolled, "year", years)
    expected = by_hand(rows, level, years, least=least)
    assert contents(rolled) == expected
    assert rolled.homes.indices.tolist() == [
        cell for who in range(7) for cell in range(len(rolled.cells)) if who in rolled.cells.members[cell]
    ]
    named = [name for name in (level, years) if name != "∗"]
    if named:
        assert contents(cuboid(cube, ",".join(named))) == expected
        assert contents(cuboid(cube, ",".join(named))) == contents(cuboid(rolled, ",".join(named)))


@settings(max_examples=40, deadline=None)
@given(ITEMS, st.integers(1, 3), st.sampled_from([["subfield", "field", "domain"], ["subfield", "size"], ["group"]]))
def test_going_up_step_by_step_or_at_once_and_down_again_is_the_same(rows: list, least: int, path: list[str]) -> None:
    rows = every_topic_alone(rows)
    cube = built(rows, least=least)
    there, stands = cube, "topic"
    for level in path:
        there = roll_up(there, stands, level)
        assert contents(there) == contents(roll_up(cube, "topic", level)) == by_hand(rows, level, least=least)
        stands = level
    top = roll_up(there, stands, "*")
    assert contents(top) == by_hand(rows, "∗", least=least)
    assert contents(drill_down(top, stands)) == contents(there)
    for number in range(len(path) - 1, -1, -1):
        below = ["topic", *path][number]
        there = drill_down(there, there.dimensions[0].name)
        assert there.dimensions[0].name == below
        assert contents(there) == by_hand(rows, below, least=least)
        assert contents(drill_down(top, stands, below)) == contents(there)


@settings(max_examples=40, deadline=None)
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
        assert contents(part) == expected
        if stands != "topic":
            assert contents(drill_down(part, stands)) == by_hand(rows, "topic", least=least, only={level: label})
        sliced = slice_cube(cube, level, label)
        whole: dict[tuple[str], set[int]] = {}
        for cell, objects in (expected[0] | expected[1]).items():
            whole.setdefault(cell[1:], set()).update(objects)
        assert contents(sliced)[0] == {c: sorted(o) for c, o in whole.items() if len(o) >= least}
    both = {"subfield": ["nlp", "cv"], "size": "large"}
    assert contents(dice(cube, both)) == by_hand(rows, stands, least=least, only={"subfield": "nlp"})
