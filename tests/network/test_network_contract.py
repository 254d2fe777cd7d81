"""Promises of every method that chooses objects along links."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cube2net.errors import MAX_INT
from cube2net.model.cube import Cube
from cube2net.model.interfaces import Method
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Selection, Weights
from cube2net.network.assembly import induce_links
from cube2net.network.hops import Hops, Nothing
from cube2net.network.maxdisc import MaxDisc
from cube2net.network.pagerank import PageRank
from cube2net.network.steiner import Steiner

from toys import random_cube, toy_cube

MADE: list[Method] = [Nothing(), Hops(), Hops(hops=2), Hops(hops=2, fan_out=2), PageRank(), PageRank(top=3)]
MADE += [Steiner(), MaxDisc(), MaxDisc(alpha=3.0)]

every_method = pytest.mark.parametrize("method", MADE, ids=repr)
CUBES = [(random_cube(seed), Query(np.sort(np.random.default_rng(seed).choice(40, 6, False)))) for seed in range(4)]


def jaccard(query: Query, count: int) -> Weights:
    inside = np.isin(np.arange(count), query.objects).astype(float)
    return Weights(gain=inside, cost=1 - inside, cost0=float(len(query)))


def choose(method: Method, cube: Cube, query: Query, seed: int = 0, **limits: int) -> Selection:
    weights = jaccard(query, len(cube.objects))
    return method.select(cube, query, weights=weights, budget=Budget(**limits), seed=seed)


def links_with(cube: Cube, query: Query, objects: list[int]) -> int:
    return len(induce_links(cube.links, np.array([*query.objects.tolist(), *objects], dtype=np.int32))[0])


@every_method
def test_a_method_is_a_frozen_record_of_its_parameters(method: Method) -> None:
    assert isinstance(method, Method)
    assert dataclasses.is_dataclass(method) and not isinstance(method, type)
    assert type(method)(**{part.name: getattr(method, part.name) for part in dataclasses.fields(method)}) == method
    with pytest.raises(dataclasses.FrozenInstanceError):
        method.anything = 1  # type: ignore[attr-defined]


@every_method
def test_objects_of_the_query_are_never_brought(method: Method) -> None:
    for cube, query in CUBES:
        chosen = choose(method, cube, query)
        assert not set(chosen.objects.tolist()) & set(query.objects.tolist())
        assert chosen.objects.tolist() == sorted(set(chosen.objects.tolist()))
        assert len(chosen.cells) == 0


@every_method
def test_the_value_is_that_of_what_is_brought(method: Method) -> None:
    for cube, query in CUBES:
        chosen = choose(method, cube, query)
        assert chosen.value == jaccard(query, len(cube.objects)).value(chosen.objects)


@every_method
def test_the_same_seed_gives_the_same_answer_and_moves_no_global_generator(method: Method) -> None:
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    for cube, query in CUBES:
        assert choose(method, cube, query, 3).objects.tolist() == choose(method, cube, query, 3).objects.tolist()
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@every_method
@pytest.mark.parametrize("most", [0, 6, 7, 10])
def test_a_limit_of_nodes_holds(method: Method, most: int) -> None:
    for cube, query in CUBES:
        assert len(query) + len(choose(method, cube, query, max_nodes=most).objects) <= max(most, len(query))


@every_method
@pytest.mark.parametrize("most", [0, 5, 12])
def test_a_limit_of_links_holds_unless_the_query_alone_breaks_it(method: Method, most: int) -> None:
    for cube, query in CUBES:
        objects = choose(method, cube, query, max_links=most).objects.tolist()
        assert links_with(cube, query, objects) <= max(most, links_with(cube, query, []))


@every_method
def test_a_query_without_links_brings_nothing(method: Method) -> None:
    cube = toy_cube([[0, 1]], objects=5, links=[(2, 3), (3, 4)])
    assert choose(method, cube, Query(np.array([0, 1]))).objects.tolist() == []


@every_method
def test_a_query_of_everything_brings_nothing(method: Method) -> None:
    cube = random_cube(5)
    assert choose(method, cube, Query(np.arange(40))).objects.tolist() == []


@every_method
def test_what_is_brought_is_joined_to_the_query(method: Method) -> None:
    for cube, query in CUBES:
        left = set(choose(method, cube, query).objects.tolist())
        front = query.objects.tolist()
        while front:
            front = sorted({int(v) for u in front for v in cube.links.neighbours(u)} & left)
            left -= set(front)
        assert not left


@every_method
def test_limits_as_high_as_numbers_go_change_nothing(method: Method) -> None:
    for cube, query in CUBES:
        free = choose(method, cube, query).objects.tolist()
        if method != PageRank():  # which brings as many as a limit leaves room for
            assert choose(method, cube, query, max_nodes=MAX_INT, max_links=MAX_INT).objects.tolist() == free


def test_parameters_as_high_as_numbers_go_are_those_without_a_limit() -> None:
    cube, query = CUBES[1]
    for high, free in (
        (Hops(hops=2, fan_out=MAX_INT), Hops(hops=2)),
        (PageRank(top=MAX_INT), PageRank(top=40)),
        (Steiner(most=MAX_INT), Steiner(most=40)),
        (MaxDisc(alpha=3.0, reach=MAX_INT, most=MAX_INT), MaxDisc(alpha=3.0, reach=40)),
    ):
        assert choose(high, cube, query).objects.tolist() == choose(free, cube, query).objects.tolist()


def test_parameters_given_as_numbers_of_numpy_are_kept_as_plain_ones() -> None:
    five = np.int64(5)
    assert repr(Hops(hops=np.int8(2), fan_out=five)) == "Hops(hops=2, fan_out=5)"  # type: ignore[arg-type]
    assert repr(PageRank(top=five)) == repr(PageRank(top=5))  # type: ignore[arg-type]
    assert repr(Steiner(most=five)) == repr(Steiner(most=5))  # type: ignore[arg-type]
    assert repr(MaxDisc(tries=five, reach=five)) == repr(MaxDisc(tries=5, reach=5))  # type: ignore[arg-type]


def test_nothing_is_worth_what_no_objects_are_worth() -> None:
    cube, query = CUBES[0]
    assert choose(Nothing(), cube, query).value == 0.0
