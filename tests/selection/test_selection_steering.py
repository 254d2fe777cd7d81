"""Pins, bans, likes and dislikes are kept by every method that chooses cells, and proofs hold for what keeps them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net._util.arrays import Array, Ragged
from cube2net.errors import InputError
from cube2net.model.cube import Cube
from cube2net.model.node_names import Node
from cube2net.model.query import Query
from cube2net.model.selection import (
    OPEN,
    Budget,
    CallableObjective,
    CoverObjective,
    QueryObjective,
    Scope,
    Selection,
    Steering,
    Weights,
)
from cube2net.model.vectors import Vectors
from cube2net.selection.anneal import Anneal
from cube2net.selection.constraints import ResidualProblem, check_selection, exclude_forbidden, resolve_scope
from cube2net.selection.exact import Exact, add_bound
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Cover, Coverage, CustomObjective, FBeta, Jaccard, Precision
from cube2net.selection.random import Random
from cube2net.selection.rl.cube2net import Cube2net

from toys import random_cube, toy_cube

RATIOS = {"jaccard": Jaccard(), "fbeta": FBeta(), "precision": Precision(), "coverage": Coverage()}
COVERS = {"cover": Cover(), "cover once": Cover(r=1, least=1), "cover always": Cover(r=None, least=1)}


def cell(number: int) -> Node:
    return Node("cell", number)


def thing(number: int) -> Node:
    return Node("object", number)


def preferred(query: Query, steering: Steering) -> Query:
    return Query(np.union1d(query.objects, np.array(steering.prefer, dtype=np.int32)))


def worth_of(objective: Any, cube: Cube, query: Query, steering: Steering, scope: Scope) -> QueryObjective:
    return exclude_forbidden(objective.weigh(preferred(query, steering), len(cube.objects)), scope)


def answer(
    method: Any, cube: Cube, query: Query, objective: Any, steering: Steering, *, bound: bool = False, **limits: Any
) -> Selection:
    """Return what the pipeline makes of a method: the worth of what is left, the choice, and both together."""
    scope = resolve_scope(cube, query, steering)
    budget = Budget(scope=scope, **limits)
    settled = ResidualProblem.of(cube, worth_of(objective, cube, query, steering, scope), budget)
    chosen = method.select(cube, query, weights=settled.objective, budget=settled.budget, seed=3)
    chosen = check_selection(chosen, cube, "method", settled.budget)
    if bound:
        chosen = add_bound(cube, query, settled.objective, settled.budget, chosen)
    return settled.with_choice(chosen)


def objects_of(cube: Cube, cells: tuple[int, ...], steering: Steering) -> set[int]:
    held = {int(o) for number in cells for o in cube.cells.members[number]} | set(steering.objects("pins"))
    return held - set(steering.objects("bans"))


def value_of(cube: Cube, query: Query, objective: Any, steering: Steering, cells: tuple[int, ...]) -> float:
    """Return the value of cells by the definition, without any of the code that chooses."""
    inside = set(preferred(query, steering).objects.tolist())
    if isinstance(objective, Cover):
        banned, own = set(steering.objects("bans")), set(steering.objects("pins")) - set(query.objects.tolist())
        rows = [set(cube.cells.members[number].tolist()) - banned for number in cells] + [{row} for row in own]
        most = objective.r or len(rows)
        served = sum(min(most, sum(o in row for row in rows)) for o in inside)
        return float(served)
    weights = objective.weigh(preferred(query, steering), len(cube.objects))
    gain, cost = weights.gain0, weights.cost0
    held = objects_of(
        cube, cells, replace(steering, pins=tuple(set(steering.pins) - set(map(thing, query.objects.tolist()))))
    )
    for o in held:
        gain += weights.gain[o]
        cost += weights.cost[o]
    return float(gain / cost) if cost > 0 else 0.0


def best_of(
    cube: Cube, query: Query, objective: Any, steering: Steering, m: int, max_nodes: int | None = None
) -> float:
    """Return the highest value of all choices that keep a steering and the limits."""
    pins, bans = tuple(steering.cells("pins")), steering.cells("bans")
    others = [number for number in range(len(cube.cells)) if number not in pins and number not in bans]
    values = []
    for size in range(m - len(pins) + 1):
        for more in combinations(others, size):
            nodes = len(objects_of(cube, pins + more, steering) | set(query.objects.tolist()))
            if max_nodes is None or nodes <= max_nodes:
                values.append(value_of(cube, query, objective, steering, pins + more))
    return max(values)


def some_steering(seed: int, cube: Cube, query: Query, *, likes: bool = True) -> Steering:
    """Return a steering at random that is not against itself."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation(len(cube.cells)).tolist()
    others = np.setdiff1d(rng.permutation(len(cube.objects)), query.objects)
    others = rng.permutation(others).tolist()
    pins, bans = int(rng.integers(0, 3)), int(rng.integers(0, 4))
    few = [int(rng.integers(0, 3)) for _ in range(3)]
    at = np.cumsum([0, *few]).tolist()
    parts = [others[first:last] for first, last in pairwise(at)]
    return Steering(
        pins=(*map(cell, cells[:pins]), *map(thing, parts[0])),
        bans=(*map(cell, cells[pins : pins + bans]), *map(thing, parts[1])),
        prefer=tuple(parts[2]) if likes else (),
    )


def keeps(selection: Selection, cube: Cube, steering: Steering, m: int) -> None:
    pins = steering.cells("pins")
    assert selection.cells[: len(pins)].tolist() == pins
    assert len(selection.cells) <= m
    assert not set(selection.cells.tolist()) & set(steering.cells("bans"))
    assert set(steering.objects("pins")) <= set(selection.objects.tolist())
    assert not set(selection.objects.tolist()) & set(steering.objects("bans"))
    assert set(selection.objects.tolist()) == objects_of(cube, tuple(selection.cells.tolist()), steering)


def small(seed: int) -> tuple[Cube, Query]:
    rng = np.random.default_rng(seed)
    cube = random_cube(seed, cells=8, objects=24, links=40, largest=8)
    return cube, Query(np.sort(rng.choice(24, size=6, replace=False)).astype(np.int32))


@pytest.mark.parametrize("name", RATIOS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), limited=st.booleans())
def test_exact_proves_the_best_of_all_choices_that_keep_the_steering(name: str, seed: int, limited: bool) -> None:
    cube, query = small(seed)
    steering = some_steering(seed, cube, query)
    objective = RATIOS[name]
    room = None
    if limited:
        room = len(objects_of(cube, tuple(steering.cells("pins")), steering) | set(query.objects.tolist())) + 4
    found = answer(Exact(seconds=None), cube, query, objective, steering, n_cells=4, max_nodes=room)
    keeps(found, cube, steering, 4)
    best = best_of(cube, query, objective, steering, 4, room)
    assert found.value == pytest.approx(best, abs=1e-12)
    assert found.bound == pytest.approx(best, abs=1e-9)
    for count in range(1, len(found.cells) + 1):
        told = value_of(cube, query, objective, steering, tuple(found.cells[:count].tolist()))
        assert found.values[count - 1] == pytest.approx(told, abs=1e-12)


@pytest.mark.parametrize("name", COVERS)
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000))
def test_exact_serves_most_of_all_choices_that_keep_the_steering(name: str, seed: int) -> None:
    cube, query = small(seed)
    steering = some_steering(seed, cube, query)
    found = answer(Exact(), cube, query, COVERS[name], steering, n_cells=4)
    keeps(found, cube, steering, 4)
    best = best_of(cube, query, COVERS[name], steering, 4)
    assert (found.value, found.bound) == (best, best)
    greedy = answer(Greedy(), cube, query, COVERS[name], steering, n_cells=4)
    keeps(greedy, cube, steering, 4)
    assert greedy.bound is not None and greedy.value <= best <= greedy.bound


@pytest.mark.parametrize("name", [*RATIOS, *COVERS])
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000))
def test_greedy_takes_the_best_cell_beside_what_is_in_at_every_step(name: str, seed: int) -> None:
    cube, query = small(seed)
    steering = some_steering(seed, cube, query)
    objective = (RATIOS | COVERS)[name]
    found = answer(Greedy(among="all") if name in RATIOS else Greedy(), cube, query, objective, steering, n_cells=5)
    keeps(found, cube, steering, 5)
    shut = {*steering.cells("pins"), *steering.cells("bans")}
    for place in range(len(steering.cells("pins")), len(found.cells)):
        before = tuple(found.cells[:place].tolist())
        rest = [number for number in range(len(cube.cells)) if number not in shut and number not in before]
        best = max(value_of(cube, query, objective, steering, (*before, number)) for number in rest)
        assert found.values[place] == pytest.approx(best, abs=1e-12)


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), limited=st.booleans())
def test_priced_greedy_anneal_and_random_keep_the_steering(seed: int, limited: bool) -> None:
    cube, query = small(seed)
    steering = some_steering(seed, cube, query)
    room = None
    if limited:
        room = len(objects_of(cube, tuple(steering.cells("pins")), steering) | set(query.objects.tolist())) + 5
    best = best_of(cube, query, Jaccard(), steering, 4, room)
    greedy = answer(Greedy(), cube, query, Jaccard(), steering, n_cells=4, max_nodes=room, best_prefix=True)
    for method in (Greedy(by="price"), Anneal(steps=300, restarts=1), Random(), Greedy(among="all")):
        found = answer(method, cube, query, Jaccard(), steering, n_cells=4, max_nodes=room, bound=True)
        keeps(found, cube, steering, 4)
        assert found.value <= best + 1e-12
        if found.bound is not None:
            assert best <= found.bound + 1e-9
        if room is not None:
            assert len(set(found.objects.tolist()) | set(query.objects.tolist())) <= room
        if isinstance(method, Anneal):
            assert found.value >= greedy.value - 1e-12


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_links_are_counted_among_what_is_in_and_may_come(seed: int) -> None:
    cube, query = small(seed)
    steering = some_steering(seed, cube, query)

    neighbours = Ragged(cube.links.indptr, cube.links.indices)

    def links(objects: set[int]) -> int:
        return sum(int(np.isin(neighbours[o], sorted(objects)).sum()) for o in objects) // 2

    inside = set(query.objects.tolist())
    most = links(objects_of(cube, tuple(steering.cells("pins")), steering) | inside) + 5
    for method in (Greedy(), Anneal(steps=200, restarts=1), Random()):
        found = answer(method, cube, query, Jaccard(), steering, n_cells=5, max_links=most)
        keeps(found, cube, steering, 5)
        assert links(set(found.objects.tolist()) | inside) <= most


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_a_function_is_asked_about_what_is_in_and_what_is_chosen_together(seed: int) -> None:
    cube, query = small(seed)
    steering = some_steering(seed, cube, query)
    asked: list[set[int]] = []

    def function(objects: Array, told: Query) -> float:
        asked.append(set(objects.tolist()))
        return float(np.isin(objects, told.objects).sum() / len(np.union1d(objects, told.objects)))

    same = answer(Greedy(), cube, query, Jaccard(), steering, n_cells=4)
    for method in (Greedy(), Anneal(steps=40), Random()):
        found = answer(method, cube, query, CustomObjective(function), steering, n_cells=4)
        keeps(found, cube, steering, 4)
        if isinstance(method, Greedy):
            # While the value rises: after that counts pass over cells that bring nothing new, and a function does not.
            falls = np.flatnonzero(np.diff(same.values, prepend=-1.0) <= 0)
            falls = falls[falls >= len(steering.cells("pins"))]
            rises = int(falls[0]) if len(falls) else len(same.values)
            assert found.values[:rises].tolist() == pytest.approx(same.values[:rises].tolist(), abs=1e-12)
    own = set(steering.objects("pins")) - set(query.objects.tolist())
    assert all(own <= objects and not objects & set(steering.objects("bans")) for objects in asked)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_cube2net_keeps_the_steering(preset: str) -> None:
    pytest.importorskip("torch")
    for seed in range(3):
        cube, query = small(seed)
        steering = some_steering(seed + 50, cube, query)
        values = np.random.default_rng(seed).normal(size=(len(cube.cells), 4)).astype(np.float32)
        vectors = Vectors(values, (0, 4), ("place",))
        method = Cube2net(preset=preset, vectors=vectors, updates=2, trajectories=4, epochs=1)
        found = answer(method, cube, query, Jaccard(), steering, n_cells=4)
        keeps(found, cube, steering, 4)
        assert found.value <= best_of(cube, query, Jaccard(), steering, 4) + 1e-12
        if preset == "default":
            greedy = answer(Greedy(), cube, query, Jaccard(), steering, n_cells=4, best_prefix=True)
            assert found.value >= greedy.value - 1e-12


@pytest.mark.parametrize("name", [*RATIOS, *COVERS])
def test_without_steering_nothing_is_settled(name: str) -> None:
    cube, query = small(5)
    weights = (RATIOS | COVERS)[name].weigh(query, len(cube.objects))
    assert resolve_scope(cube, query, Steering()) is OPEN
    settled = ResidualProblem.of(cube, weights, Budget(n_cells=3))
    assert settled.objective is weights and settled.budget.n_cells == 3
    chosen = Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=3))
    assert settled.with_choice(chosen) is chosen
    assert exclude_forbidden(weights, OPEN) is weights


def test_by_hand_a_pin_moves_into_the_constants() -> None:
    cube = toy_cube([[0, 1, 4], [1, 2], [3, 5]], objects=6)
    query = Query(np.array([0, 1, 2]))
    scope = resolve_scope(cube, query, Steering(pins=(cell(0), thing(5)), bans=(thing(3),)))
    settled = ResidualProblem.of(
        cube, worth_of(Jaccard(), cube, query, Steering(), scope), Budget(n_cells=2, scope=scope)
    )
    worth = settled.objective
    assert isinstance(worth, Weights)
    assert (worth.gain0, worth.cost0) == (2.0, 3.0 + 2.0)  # 0 and 1 are served; 4 and 5 cost one each
    assert worth.gain.tolist() == [0, 0, 1, 0, 0, 0] and worth.cost.tolist() == [0, 0, 0, 0, 0, 0]
    assert settled.empty_value == 0.0 and settled.values.tolist() == [2 / 5]
    found = settled.with_choice(Greedy().select(cube, query, weights=worth, budget=settled.budget))
    assert found.cells.tolist() == [0, 1] and found.values.tolist() == [2 / 5, 3 / 5]
    assert found.objects.tolist() == [0, 1, 2, 4, 5]


def test_by_hand_cover_counts_what_pins_hold() -> None:
    cube = toy_cube([[0, 1, 4], [0, 1, 2], [0, 1], [2, 3, 5]], objects=6)
    query = Query(np.array([0, 1, 2]))
    scope = resolve_scope(cube, query, Steering(pins=(cell(0),)))
    worth = exclude_forbidden(Cover(r=2, least=1).weigh(query, 6), scope)
    assert isinstance(worth, CoverObjective)
    settled = ResidualProblem.of(cube, worth, Budget(n_cells=3, scope=scope))
    rest = settled.objective
    assert isinstance(rest, CoverObjective) and rest.held is not None
    assert (rest.held.tolist(), rest.value0) == ([1, 1, 0], 2.0)  # two are served
    found = settled.with_choice(Greedy().select(cube, query, weights=rest, budget=settled.budget))
    assert found.cells.tolist() == [0, 1, 3] and found.values.tolist() == [2.0, 5.0, 6.0]


def test_a_function_does_not_see_forbidden_objects() -> None:
    def share(objects: Array, query: Query) -> float:
        return float(len(objects))

    judge = CustomObjective(share).weigh(Query(np.array([0])), 4)
    scope = Scope(objects=np.array([3]), forbidden_objects=np.array([False, True, False, False]))
    rest = ResidualProblem.of(
        toy_cube([[0, 1]], objects=4), exclude_forbidden(judge, scope), Budget(scope=scope)
    ).objective
    assert isinstance(rest, CallableObjective) and rest.name == "the objective 'share'"
    assert rest.value(np.array([0, 1])) == 2.0


def test_a_method_of_ones_own_that_chooses_what_is_closed_is_refused() -> None:
    cube = toy_cube([[0, 1], [1, 2], [2, 3]], objects=4)
    query = Query(np.array([0, 1]))

    class Stubborn:
        def __init__(self, *cells: int) -> None:
            self.cells = cells

        def select(
            self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0
        ) -> Selection:
            members = np.unique(np.concatenate([cube.cells.members[number] for number in self.cells]))
            return Selection(members, 0.0, cells=np.array(self.cells), values=np.zeros(len(self.cells)))

    steering = Steering(pins=(cell(0),), bans=(cell(1), thing(3)))
    for wrong, how in ((1, "is banned"), (0, "is pinned, and in already")):
        with pytest.raises(InputError) as error:
            answer(Stubborn(wrong), cube, query, Jaccard(), steering, n_cells=2)
        assert str(error.value) == (
            f"the method 'method' chose ⟨label {wrong}⟩, which {how}: "
            "it has to leave out the cells of budget.scope.forbidden_cells"
        )
    with pytest.raises(InputError, match="chose 1 cells, and beside those pinned there is room for 0: it has to"):
        answer(Stubborn(2), cube, query, Jaccard(), steering, n_cells=1)
    found = answer(Stubborn(2), cube, query, Jaccard(), steering, n_cells=2)
    assert (found.cells.tolist(), found.objects.tolist()) == ([0, 2], [0, 1, 2])


def test_pinning_an_object_of_the_query_changes_nothing() -> None:
    cube, query = small(2)
    plain = answer(Greedy(), cube, query, Jaccard(), Steering(), n_cells=3)
    same = answer(Greedy(), cube, query, Jaccard(), Steering(pins=(thing(int(query.objects[0])),)), n_cells=3)
    assert (plain.values.tolist(), plain.cells.tolist()) == (same.values.tolist(), same.cells.tolist())
