"""Networks travel between processes whole, cubes as their folder, and what cannot says so in a sentence."""

from __future__ import annotations

import copy
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.errors import CubeError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query

from toys import packed, random_cube, sent, unpacked


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random_cube(1).save(tmp_path / "cube")
    return tmp_path / "cube"


def assert_same(one: Any, other: Any) -> None:
    """Raise unless two records hold the same, whatever they are made of."""
    assert type(one) is type(other)
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert np.array_equal(left, right) and left.dtype == right.dtype, field.name
            assert not right.flags.writeable, field.name
        elif field.name == "names":
            assert len(left) == len(right)
        elif field.name == "lookups":
            assert (left is None) == (right is None)  # what it gives stands in the tables of nodes and links
        elif hasattr(left, "__dataclass_fields__"):
            assert_same(left, right)
        else:
            assert left == right, field.name


def network(cube: Cube, form: str = "hybrid", labels: tuple[str, ...] | None = ("a", "b", "")) -> Network:
    return c2n.construct(cube, Query(np.array([3, 5, 8]), labels, ("lost",)), "greedy", form=form, n_cells=3)


def without_question(network: Network) -> Network:
    """Return a network as it arrives elsewhere: with the sizes of its cells in place of its question."""
    return replace(network, context=None, settings={**network.settings, "cell_objects": network.cell_objects})


@pytest.mark.parametrize("form", ["objects", "cells", "cells+objects", "hybrid"])
def test_a_network_travels_whole_but_for_the_question_that_knows_its_cube(form: str) -> None:
    own = network(random_cube(1), form)
    assert copy.copy(own) is copy.deepcopy(own) is own
    for got in (sent(own), sent(sent(own))):
        assert got.context is None
        assert_same(without_question(own), got)
        assert got.nodes.to_arrow().equals(own.nodes.to_arrow())
        assert got.links.to_arrow().equals(own.links.to_arrow())
        assert got.summary() == own.summary()


def test_a_network_that_travels_is_as_large_as_itself_and_not_as_its_cube() -> None:
    cube = random_cube(1)
    many = pa.table({name: [f"{name} {row}" for row in range(40)] for name in ("object", "name", "kind")})
    long = replace(cube, objects=type(cube.objects)(40, lambda: many))
    own = network(long, "objects")
    inside = set(own.objects.tolist())
    text = packed(own)
    assert all((f"name {row}".encode() in text) == (row in inside) for row in range(30, 40))


def test_a_query_and_a_selection_travel_and_cannot_be_written_to() -> None:
    own = network(random_cube(2))
    assert_same(own.query, sent(own.query))
    assert_same(own.selection, sent(own.selection))


def test_an_opened_cube_travels_as_its_folder(folder: Path) -> None:
    cube = c2n.open(folder)
    text = packed(cube)
    assert len(text) < 1_000
    got = unpacked(text)
    assert np.array_equal(got.cells.labels, cube.cells.labels)
    assert got.objects.table.equals(cube.objects.table)
    assert len(packed(got)) == len(text)


def test_a_folder_may_be_named_from_where_one_stands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    text = packed(c2n.open("cube"))
    monkeypatch.chdir("/")
    assert len(unpacked(text).objects) == 40


def test_another_cube_in_the_folder_is_noticed(folder: Path) -> None:
    text = packed(c2n.open(folder))
    random_cube(2).save(folder)
    with pytest.raises(CubeError) as caught:
        unpacked(text)
    assert str(caught.value) == (
        f"{str(folder)!r} holds another cube than when this one was opened there: open the folder again, and ask that "
        "cube"
    )
    random_cube(1).save(folder)
    assert len(unpacked(text).objects) == 40


def test_a_cube_in_memory_travels_with_its_files() -> None:
    cube = random_cube(1)
    arrived = unpacked(packed(cube))
    assert repr(arrived) == repr(cube) and arrived.origin is None
    assert arrived.cells.labels.tolist() == cube.cells.labels.tolist()
    assert repr(unpacked(packed(arrived))) == repr(cube)
    assert c2n.construct(arrived, ["o1", "o2"]).to_text() == c2n.construct(cube, ["o1", "o2"]).to_text()


def test_a_view_does_not_travel_and_says_so(folder: Path) -> None:
    with pytest.raises(CubeError, match=r"^a view of a cube \(.+\) does not travel between processes: open the cube"):
        packed(c2n.cube.dice(c2n.open(folder), {"group": ["label 0", "label 1"]}))


def test_a_copy_of_a_cube_is_that_cube(folder: Path) -> None:
    for cube in (random_cube(1), c2n.open(folder)):
        assert copy.copy(cube) is cube
        assert copy.deepcopy(cube) is cube


def answered(cube: Cube, form: str) -> Network:
    return network(cube, form)


def test_another_process_answers_with_the_same_network(folder: Path) -> None:
    cube = c2n.open(folder)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        for form in ("objects", "hybrid"):
            got, own = pool.submit(answered, cube, form).result(), network(cube, form)
            assert_same(replace(without_question(own), seconds={}), replace(got, seconds={}))
            assert got.nodes.to_arrow().equals(own.nodes.to_arrow())


def test_a_query_asked_of_another_cube_is_refused(tmp_path: Path) -> None:
    one, other = (c2n.make_planted(objects=60, communities=3, seed=seed) for seed in (0, 1))
    cube = c2n.build(one.corpus, out=tmp_path / "one")
    query = cube.query(one.query(0))
    turned = other.corpus.objects.take(list(range(60))[::-1])
    wrong = c2n.build(replace(other.corpus, objects=turned))
    for ask in (c2n.construct, c2n.api.weigh, c2n.compare):
        with pytest.raises(QueryError) as caught:
            ask(wrong, query)
        assert str(caught.value).startswith("the query was made for another cube: row ")
    opened = c2n.open(tmp_path / "one")
    for same in (cube, opened, c2n.cube.cuboid(cube, "one"), sent(opened)):
        assert len(c2n.construct(same, sent(query))) > len(query)
