"""What construct wires: objectives that see links, functions, queries that no cell helps, bounds, cell vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np
import pytest

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, QueryObjective, Selection, Weights
from cube2net.model.vectors import Vectors
from cube2net.selection.exact import add_bound
from cube2net.selection.greedy import Greedy

from toys import random_cube, toy_cube

PARTS = {"weigh", "select", "train", "links"}


def share(objects: Array, query: Query) -> float:
    """Return the share of the query brought, less a little for every object."""
    return float(np.isin(query.objects, objects).mean()) - len(objects) / 1000


# Objectives that see links


def test_linked_brings_near_objects_where_jaccard_sees_no_difference() -> None:
    cube = toy_cube([[0, 4, 5], [0, 2, 3]], objects=6, links=[(0, 2), (1, 2), (0, 3), (1, 3), (4, 5)])
    assert c2n.construct(cube, [0, 1], n_cells=1, objective="jaccard").selection.cells.tolist() == [0]
    near = c2n.construct(cube, [0, 1], n_cells=1, objective="linked")
    assert near.selection.cells.tolist() == [1]
    assert near.selection.value == 3 / 4
    assert c2n.api.weigh(cube, near.query, "linked").value(near.selection.objects) == 3 / 4


def test_members_without_a_link_to_the_network_are_left_out_where_the_objective_sees_links() -> None:
    cube = toy_cube([[0, 1, 2, 3]], objects=6, links=[(0, 1), (1, 2), (3, 4)])
    for options, objects, left_out in (
        ({}, [0, 1, 2, 3], 0),
        ({"objective": "linked"}, [0, 1, 2], 1),
        ({"objective": "linked", "keep_unlinked": True}, [0, 1, 2, 3], 0),
        ({"keep_unlinked": False}, [0, 1, 2], 1),
        ({"keep_unlinked": False, "form": "cells+objects"}, [0, 1, 2], 1),
        ({"objective": "linked", "form": "cells"}, [0], 0),
    ):
        network = c2n.api.construct_by_name(cube, [0], n_cells=1, **({"form": "objects"} | options))
        assert network.objects.tolist() == objects
        assert network.summary()["left_out"] == left_out


def test_an_objective_of_ones_own_may_see_links() -> None:
    @dataclass(frozen=True)
    class Near:
        damping: float = 0.5

        def weigh_links(self, query: Query, affinity: Array, linked: Array) -> Weights:
            return Weights(gain=affinity, cost=np.zeros(len(affinity)), cost0=1.0)

    cube = toy_cube([[0, 1], [2, 3]], objects=4, links=[(0, 1), (1, 2)])
    network = c2n.construct(cube, [0], objective=Near())
    assert network.settings["objective"] == "Near"
    assert network.settings["keep_unlinked"] is False
    assert network.selection.value == pytest.approx(1.0, abs=1e-4)


# A user's own function


@pytest.mark.parametrize("method", ["none", "hops", "pagerank", "steiner", "maxdisc", "random", "greedy"])
def test_every_method_reports_the_value_that_a_function_gives(method: str) -> None:
    cube = random_cube(3)
    network = c2n.construct(cube, [1, 5, 9], method, n_cells=3, objective=share)
    assert network.selection.value == share(network.selection.objects, network.query)
    assert network.settings["objective"] == "share"


def test_greedy_follows_a_function() -> None:
    cube = toy_cube([[0, 1, 2, 3, 4], [0, 1], [2]], objects=6)
    network = c2n.construct(cube, [0, 1, 2], n_cells=2, objective=share)
    assert network.selection.cells.tolist() == [0, 1]
    assert network.selection.values.tolist() == pytest.approx([1 - 5 / 1000, 1 - 5 / 1000])
    small = c2n.construct(cube, [0, 1, 2], n_cells=2, objective=lambda objects, query: 1 / (1 + len(objects)))
    assert small.selection.cells.tolist() == [2, 1]
    assert small.summary()["objective"] == "<lambda>"


def test_gains_of_cells_by_a_function_sum_to_its_value() -> None:
    cube = random_cube(1)
    about = c2n.construct(cube, [1, 5, 9], n_cells=3, objective=lambda objects, query: 2 + len(objects)).summary()
    assert 2 + sum(cell["gain"] for cell in about["cells"]) == about["value"]


def test_a_function_with_other_arguments_and_a_class_are_refused() -> None:
    cube = random_cube(0)
    with pytest.raises(ParameterError, match="the objective '<lambda>' must take two arguments, the objects and the"):
        c2n.construct(cube, [0], objective=lambda objects: 1.0)  # type: ignore[arg-type, misc]
    with pytest.raises(ParameterError, match="an objective is a name .* or an object like one, got <class"):
        c2n.construct(cube, [0], objective=Weights)  # type: ignore[arg-type]


# What is wrong is said by name


@dataclass(frozen=True)
class Odd:
    """An objective that makes whatever it is told to."""

    make: Callable[[int], object]

    def weigh(self, query: Query, count: int) -> Weights:
        return self.make(count)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda n: Weights(np.full(n, np.nan), np.ones(n)), "gain is not finite for 40 objects"),
        (lambda n: Weights(np.ones(n), -np.ones(n)), "cost is negative for 40 objects, expected 0 or more"),
        (lambda n: Weights(np.ones(3), np.ones(n)), "gains have shape (3,) and costs (40,), expected one per object"),
        (lambda n: Weights(np.ones(3), np.ones(3)), "the weights are for 3 objects, and the cube has 40"),
        (lambda n: CallableObjective(len, 3), "the weights are for 3 objects, and the cube has 40"),
        (lambda n: 0.5, "it gave 0.5, expected Weights"),
    ],
)
@pytest.mark.parametrize("method", ["none", "greedy"])
def test_wrong_weights_are_refused_by_the_objectives_name(
    make: Callable[[int], object], sentence: str, method: str
) -> None:
    with pytest.raises(InputError) as caught:
        c2n.construct(random_cube(0), [0, 1], method, objective=Odd(make))
    assert str(caught.value) == f"the objective 'Odd' cannot be used: {sentence}"


def test_a_mistake_inside_an_objective_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        c2n.construct(random_cube(0), [0, 1], objective=Odd(lambda n: n / 0))
    with pytest.raises(ZeroDivisionError):
        c2n.construct(random_cube(0), [0, 1], objective=lambda objects, query: 1 / 0)


# Queries that no cell helps


@pytest.mark.parametrize("form", ["objects", "cells", "cells+objects"])
@pytest.mark.parametrize("method", ["random", "greedy"])
def test_a_query_that_no_cell_helps_is_answered_with_itself_and_a_note(method: str, form: str) -> None:
    cube = toy_cube([[0, 1]], objects=5, links=[(2, 3), (3, 4), (0, 2)])
    network = c2n.construct(cube, [2, 3], method, form=form)
    assert (network.objects.tolist(), len(network.cells), len(network.source)) == ([2, 3], 0, 1)
    about = network.summary()
    assert (about["value"], about["cells"]) == (None, [])
    assert about["note"].startswith("none of the 2 objects of the query is in any cell, so there is nothing to choose")


def test_a_query_beyond_the_cube_is_still_refused() -> None:
    cube = toy_cube([[0, 1]], objects=5)
    with pytest.raises(QueryError, match="query names 1 row that the cube does not have: 9"):
        c2n.construct(cube, [1, 9])


# Bounds


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Budget, float]]:
    """Put a bound of 0.75 in place of the real one, and return what it is asked."""
    asked: list[tuple[Budget, float]] = []

    def upper_bound(cube: Cube, query: Query, weights: Weights, budget: Budget, *, at_least: float) -> float:
        asked.append((budget, at_least))
        return 0.75

    monkeypatch.setattr(import_module(add_bound.__module__), "upper_bound", upper_bound)
    return asked


CUBE = toy_cube([[0, 1, 3], [2, 4]], objects=6, links=[(0, 1), (0, 5)])


def test_a_bound_is_found_when_asked_for(bounds: list[tuple[Budget, float]]) -> None:
    about = c2n.construct(CUBE, [0, 1, 2], n_cells=1, form="objects").summary()
    assert (about["bound"], about["gap"], about["proven"], bounds) == (None, None, None, [])
    network = c2n.construct(
        CUBE, [0, 1, 2], n_cells=1, form="objects", max_nodes=5, options=c2n.NetworkOptions(bound=True)
    )
    about = network.summary()
    assert (about["value"], about["bound"], about["proven"]) == (0.5, 0.75, False)
    assert about["gap"] == pytest.approx(1 / 3)
    assert bounds == [(Budget(n_cells=1, max_nodes=5), 0.5)]
    assert set(network.seconds) == PARTS | {"bound"}


def test_a_choice_for_cover_has_a_bound_without_being_asked_for_one(bounds: list[tuple[Budget, float]]) -> None:
    for bound in (False, True):
        about = c2n.construct(CUBE, [0, 1, 2], options=c2n.NetworkOptions(bound=bound)).summary()
        # Cell 0 holds two of the three, and no other cell holds two: any three cells hold three at most.
        assert (about["objective"], about["value"], about["bound"], about["proven"]) == ("cover", 2.0, 3.0, False)
    about = c2n.construct(CUBE, [0, 1, 2], n_cells=1).summary()
    assert (about["value"], about["bound"], about["gap"], about["proven"], bounds) == (2.0, 2.0, 0.0, True, [])


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"objective": share}, "no bound: the objective 'share' is a function, and only its values are known"),
        ({"max_links": 5}, "no bound: max_links cannot be taken into account"),
        ({"method": "hops"}, "no bound: no cells were chosen"),
        (
            {"n_cells": 9, "max_links": 5},
            "2 cells, not 9: no other cell holds an object of the query and fits the limits; "
            "no bound: max_links cannot be taken into account",
        ),
    ],
)
def test_where_no_bound_can_be_found_the_note_says_why(
    bounds: list[tuple[Budget, float]], options: dict, note: str
) -> None:
    about = c2n.api.construct_by_name(
        CUBE, [0, 1, 2], form="objects", bound=True, **({"n_cells": 1} | options)
    ).summary()
    assert (about["bound"], about["proven"], about["note"], bounds) == (None, None, note, [])


def test_the_best_of_two_bounds_stays_and_a_proof_needs_no_other(bounds: list[tuple[Budget, float]]) -> None:
    @dataclass(frozen=True)
    class Sure:
        bound: float

        def select(self, cube: Cube, query: Query, *, weights: Weights, budget: Budget, seed: int = 0) -> Selection:
            return replace(Greedy().select(cube, query, weights=weights, budget=budget), bound=self.bound)

    for own, best, asked in ((0.9, 0.75, 1), (0.7, 0.7, 2), (0.5, 0.5, 2)):
        selection = c2n.construct(
            CUBE, [0, 1, 2], Sure(own), n_cells=1, options=c2n.NetworkOptions(bound=True)
        ).selection
        assert (selection.bound, selection.proven, len(bounds)) == (best, best == 0.5, asked)


# Cell vectors


@dataclass(frozen=True, kw_only=True)
class Mover:
    """A method that takes the cells with the longest vectors."""

    vectors: str | Vectors | tuple[Vectors, ...] = "members"

    def with_vectors(self, *vectors: Vectors) -> Mover:
        return Mover(vectors=vectors)

    def select(self, cube: Cube, query: Query, *, weights: Weights, budget: Budget, seed: int = 0) -> Selection:
        assert isinstance(self.vectors, tuple)
        assert all(len(vectors) == len(cube.cells) for vectors in self.vectors)
        length = sum(np.linalg.norm(vectors.values, axis=1) for vectors in self.vectors)
        cell = int(np.argmax(length))
        value = weights.value(cube.cells.members[cell])
        return Selection(
            cube.cells.members[cell], value, np.array([cell]), np.array([value]), note=f"{len(self.vectors)} vectors"
        )


def test_a_method_that_asks_for_cell_vectors_gets_them() -> None:
    cube = random_cube(0)
    for name, count in (("words", 1), ("members", 1), ("both", 2)):
        network = c2n.construct(cube, [0, 1], Mover(vectors=name))
        assert network.selection.note == f"{count} vectors"
        assert set(network.seconds) == PARTS | {"vectors"}
        assert network.settings["parameters"] == f"Mover(vectors={name!r})"


def test_vectors_that_a_method_has_already_are_left_as_they_are() -> None:
    cube = random_cube(0)
    have = c2n.api.embed_cells(cube, "members")
    network = c2n.construct(cube, [0, 1], Mover(vectors=(have,)))
    assert set(network.seconds) == PARTS


def test_the_vectors_follow_the_seed() -> None:
    seen: list[Array] = []

    class Watcher(Mover):
        def with_vectors(self, *vectors: Vectors) -> Mover:
            seen.append(vectors[0].values)
            return Mover(vectors=vectors)

    cube = random_cube(0, cells=60, objects=80)
    for seed in (0, 0, 1):
        c2n.construct(cube, [0, 1], Watcher(), seed=seed)
        assert np.array_equal(seen[-1], c2n.api.embed_cells(cube, "members", seed=seed).values)


def test_an_unknown_kind_of_vectors_is_refused() -> None:
    with pytest.raises(ParameterError, match="unknown kind of vectors 'glove': choose one of members, words"):
        c2n.construct(random_cube(0), [0, 1], Mover(vectors="glove"))


# Progress


@dataclass(frozen=True, kw_only=True)
class Slow(Greedy):
    """Greedy that takes its time."""

    progress: Progress = silent

    def with_progress(self, progress: Progress) -> Slow:
        return replace(self, progress=progress)

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        self.progress("learning", 1, 2)
        return super().select(cube, query, weights=weights, budget=budget, seed=seed)


def test_a_method_that_takes_long_tells_its_progress_where_somebody_listens() -> None:
    heard: list[tuple[str, int, int | None]] = []
    for progress in (None, lambda stage, done, total=None: heard.append((stage, done, total))):
        c2n.construct(CUBE, [0, 1, 2], Slow(), n_cells=1, progress=progress)
        c2n.construct(CUBE, [0, 1, 2], "greedy", n_cells=1, progress=progress)
    assert heard == [("learning", 1, 2)]
