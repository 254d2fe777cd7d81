"""Every objective against its equation on sets."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.api.plan import LINK_TOLERANCE, weigh
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.model.interfaces import LinkObjective, Objective
from cube2net.model.query import Query
from cube2net.network.pagerank import compute_scores
from cube2net.selection.objectives import OBJECTIVES, Coverage, CustomObjective, FBeta, Jaccard, Linked, Precision

from toys import random_cube, toy_cube

COUNT = 10
Equation = Callable[[set[int], set[int]], float]


def f_measure(beta: float) -> Equation:
    def value(m: set[int], q: set[int]) -> float:
        if not m & q:
            return 0.0
        precision, recall = len(m & q) / len(m), len(m & q) / len(q)
        return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

    return value


EQUATIONS: list[tuple[Objective, Equation]] = [
    (Jaccard(), lambda m, q: len(m & q) / len(m | q)),
    (FBeta(), f_measure(1)),
    (FBeta(beta=0.5), f_measure(0.5)),
    (FBeta(beta=3), f_measure(3)),
    (Precision(), lambda m, q: len(m & q) / len(m) if m else 0.0),
    (Coverage(), lambda m, q: (len(m & q) - len(m - q) / 32) / len(q)),
    (Coverage(price=0), lambda m, q: len(m & q) / len(q)),
    (Coverage(price=0.3), lambda m, q: (len(m & q) - 0.3 * len(m - q)) / len(q)),
]
objects = st.sets(st.integers(0, COUNT - 1))


@pytest.mark.parametrize(("objective", "equation"), EQUATIONS, ids=lambda value: repr(value)[:20])
@given(m=objects, q=objects.filter(bool))
def test_weights_give_the_value_of_the_equation(
    objective: Objective, equation: Equation, m: set[int], q: set[int]
) -> None:
    weights = objective.weigh(Query(np.array(sorted(q))), COUNT)
    assert weights.value(np.array(sorted(m), dtype=int)) == pytest.approx(equation(m, q), abs=1e-14)


def test_fbeta_at_one_orders_selections_as_jaccard_does() -> None:
    rng = np.random.default_rng(0)
    query = Query(np.arange(4))
    picks = [np.flatnonzero(rng.random(COUNT) < 0.5) for _ in range(50)]
    jaccard, f = Jaccard().weigh(query, COUNT), FBeta().weigh(query, COUNT)
    by_jaccard = [jaccard.value(pick) for pick in picks]
    assert [f.value(pick) for pick in picks] == pytest.approx([2 * j / (1 + j) for j in by_jaccard])


def test_the_registry_names_the_objectives_in_the_order_one_teaches_them() -> None:
    assert list(OBJECTIVES) == ["jaccard", "fbeta", "precision", "coverage", "linked", "cover"]
    for name, make in OBJECTIVES.items():
        assert isinstance(make(), LinkObjective) == (name == "linked")
        assert isinstance(make(), Objective) == (name != "linked")


@pytest.mark.parametrize("beta", [0, -1.0, float("nan"), float("inf")])
def test_a_bad_beta_is_refused(beta: float) -> None:
    with pytest.raises(ParameterError, match="expected a number above 0") as caught:
        FBeta(beta=beta)
    assert str(caught.value) == f"beta is {beta!r}, expected a number above 0 (for 0 use 'precision')"


@pytest.mark.parametrize("price", [-0.1, float("nan"), float("inf")])
def test_a_bad_price_is_refused(price: float) -> None:
    with pytest.raises(ParameterError) as caught:
        Coverage(price=price)
    assert str(caught.value) == f"price is {price!r}, expected 0 or more of a query object for every other"


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_query_beyond_the_objects_is_refused(name: str) -> None:
    objective, query = OBJECTIVES[name](), Query(np.array([1, 7]))
    with pytest.raises(QueryError) as caught:
        if isinstance(objective, LinkObjective):
            objective.weigh_links(query, np.zeros(7), np.ones(7, dtype=bool))
        else:
            objective.weigh(query, 7)
    assert str(caught.value) == "query names row 7, and there are only 7 objects"


def linked_value(m: set[int], q: set[int], ppr: list[float], linked: list[bool], reach: float) -> float:
    """Return the value of the equation of ``linked``, on sets."""
    outside = sorted((ppr[o] for o in range(COUNT) if o not in q and linked[o] and ppr[o] > 0), reverse=True)
    ref = outside[min(len(outside), math.ceil(reach * len(q))) - 1] if outside else 1.0
    near = {o: round(1024 * min(1.0, ppr[o] / ref)) / 1024 for o in m - q if linked[o]}
    return (len(m & q) + sum(near.values())) / (len(q) + len(near))


@given(
    m=objects,
    q=objects.filter(bool),
    ppr=st.lists(st.sampled_from([0.0, 0.01, 0.02, 0.05, 0.1, 0.3]), min_size=COUNT, max_size=COUNT),
    linked=st.lists(st.booleans(), min_size=COUNT, max_size=COUNT),
    reach=st.sampled_from([0.1, 0.5, 1.0, 2.0, 9.0]),
)
def test_linked_gives_the_value_of_its_equation(
    m: set[int], q: set[int], ppr: list[float], linked: list[bool], reach: float
) -> None:
    weights = Linked(reach=reach).weigh_links(Query(np.array(sorted(q))), np.array(ppr), np.array(linked))
    value = weights.value(np.array(sorted(m), dtype=int))
    assert value == pytest.approx(linked_value(m, q, ppr, linked, reach), abs=1e-14)


def test_as_many_others_as_the_query_has_objects_earn_full_credit() -> None:
    rng = np.random.default_rng(0)
    near = rng.permutation(np.linspace(0.001, 0.01, 50))
    for size, reach, full in ((5, 1.0, 5), (5, 0.5, 3), (5, 2.0, 10), (30, 0.1, 3), (30, 5.0, 20)):
        weights = Linked(reach=reach).weigh_links(Query(np.arange(size)), near, np.ones(50, dtype=bool))
        assert int((weights.gain[size:] == 1.0).sum()) == full
        assert weights.gain[size:].max() == 1.0
        assert set(np.flatnonzero(weights.gain[size:] == 1.0)) == set(np.argsort(-near[size:])[:full])


def test_sums_of_linked_gains_do_not_depend_on_their_order() -> None:
    rng = np.random.default_rng(1)
    weights = Linked().weigh_links(Query(np.arange(9)), rng.random(5000), np.ones(5000, dtype=bool))
    parts = weights.gain * 1024
    assert np.array_equal(parts, np.round(parts))
    assert len({float(np.add.accumulate(rng.permutation(weights.gain))[-1]) for _ in range(20)}) == 1


def test_where_no_walk_leads_outside_linked_is_jaccard_of_linked_objects() -> None:
    linked = np.array([True, True, True, False])
    weights = Linked().weigh_links(Query(np.array([0, 1])), np.array([0.5, 0.5, 0.0, 0.0]), linked)
    assert (weights.gain.tolist(), weights.cost.tolist(), weights.cost0) == ([1, 1, 0, 0], [0, 0, 1, 0], 2.0)


def test_nearness_comes_from_the_links_of_the_cube() -> None:
    cube = toy_cube([[0, 1, 2, 3]], objects=6, links=[(0, 1), (1, 2), (2, 3), (4, 5)])
    weights = weigh(cube, Query(np.array([0])), "linked")
    assert weights.gain[1] == 1.0  # type: ignore[union-attr]
    assert 1.0 > weights.gain[2] > weights.gain[3] > 0.0  # type: ignore[union-attr]
    assert weights.gain[[4, 5]].tolist() == [0.0, 0.0]  # type: ignore[union-attr]
    assert weights.cost.tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]  # type: ignore[union-attr]


def test_gains_at_the_tolerance_are_those_of_exact_scores() -> None:
    for seed in range(5):
        cube = random_cube(seed, objects=300, links=900)
        query = Query(np.arange(0, 300, 17))
        exact = compute_scores(cube.links, query.objects, tolerance=1e-12)
        found = compute_scores(cube.links, query.objects, tolerance=LINK_TOLERANCE)
        linked = cube.links.degrees > 0
        gains = [Linked().weigh_links(query, near, linked).gain * 1024 for near in (exact, found)]
        assert np.abs(gains[0] - gains[1]).max() <= 1
        assert (gains[0] != gains[1]).mean() < 0.02


@pytest.mark.parametrize("damping", [0, 1, -0.5, float("nan")])
def test_a_bad_damping_is_refused(damping: float) -> None:
    with pytest.raises(ParameterError) as caught:
        Linked(damping=damping)
    assert str(caught.value) == f"damping is {damping!r}, expected a probability above 0 and below 1"


@pytest.mark.parametrize("reach", [0, -1.0, float("nan"), float("inf")])
def test_a_bad_reach_is_refused(reach: float) -> None:
    with pytest.raises(ParameterError) as caught:
        Linked(reach=reach)
    expected = "expected a number above 0 of others with full credit for each query object"
    assert str(caught.value) == f"reach is {reach!r}, {expected}"


def test_affinities_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        Linked().weigh_links(Query(np.array([0])), np.zeros(3), np.ones(4, dtype=bool))
    assert str(caught.value) == "affinities have shape (3,) and links (4,), expected one per object"


def test_a_function_of_ones_own_is_told_the_objects_and_the_query() -> None:
    asked = []

    def mine(objects: Array, query: Query) -> int:
        asked.append((objects.tolist(), query))
        return len(objects)

    query = Query(np.array([2]))
    assert CustomObjective(mine).weigh(query, 5).value(np.array([1, 4])) == 2.0
    assert asked == [([1, 4], query)]
    assert CustomObjective(mine).weigh(query, 5).name == "the objective 'mine'"


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (3, "an objective of one's own is a function of objects and query, got 3"),
        (float, "an objective of one's own is a function of objects and query, got <class 'float'>"),
        (lambda objects: 1.0, "the objective '<lambda>' must take two arguments, the objects and the query"),
    ],
)
def test_what_is_no_function_of_two_arguments_is_refused(function: Callable[..., float], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        CustomObjective(function)
    assert str(caught.value) == sentence
