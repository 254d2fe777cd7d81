"""Every objective against its equation on sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.errors import ParameterError, QueryError
from cube2net.interfaces import Objective
from cube2net.records import Query
from cube2net.select import OBJECTIVES, Coverage, FBeta, Jaccard, Precision

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
@settings(max_examples=40)
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


def test_the_registry_names_the_four_objectives_in_the_order_one_teaches_them() -> None:
    assert list(OBJECTIVES) == ["jaccard", "fbeta", "precision", "coverage"]
    assert all(isinstance(make(), Objective) for make in OBJECTIVES.values())


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
    with pytest.raises(QueryError) as caught:
        OBJECTIVES[name]().weigh(Query(np.array([1, 7])), 7)
    assert str(caught.value) == "query names row 7, and there are only 7 objects"
