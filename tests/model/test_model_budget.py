"""A budget takes whole numbers only, and says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cube2net.errors import MAX_INT, ParameterError, check_int
from cube2net.model.selection import Budget


def refusal(**given: Any) -> str:
    with pytest.raises(ParameterError) as error:
        Budget(**given)
    return str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_cells": -3}, "n_cells is -3, expected 0 or more cells"),
        ({"n_cells": 2.5}, "n_cells is 2.5, expected a whole number of 0 or more cells"),
        ({"n_cells": 2.0}, "n_cells is 2.0, expected a whole number of 0 or more cells"),
        ({"n_cells": "5"}, "n_cells is '5', expected a whole number of 0 or more cells"),
        ({"n_cells": True}, "n_cells is True, expected a whole number of 0 or more cells"),
        ({"n_cells": None}, "n_cells is None, expected a whole number of 0 or more cells"),
        ({"n_cells": float("nan")}, "n_cells is nan, expected a whole number of 0 or more cells"),
        ({"max_nodes": -1}, "max_nodes is -1, expected 0 or more objects, or None"),
        ({"max_links": np.int64(-1)}, "max_links is -1, expected 0 or more links, or None"),
        ({"max_links": [7]}, "max_links is [7], expected a whole number of 0 or more links, or None"),
        (
            {"max_nodes": 10**20},
            "max_nodes is 100000000000000000000, expected 0 to 4,611,686,018,427,387,904 objects, or None",
        ),
    ],
)
def test_a_number_that_is_not_allowed_is_named_with_what_is(given: dict[str, Any], message: str) -> None:
    assert refusal(**given) == message


def test_a_number_too_long_to_write_is_refused_all_the_same() -> None:
    assert (
        refusal(n_cells=10**5000) == "n_cells is a number of 16,610 bits, expected 0 to 4,611,686,018,427,387,904 cells"
    )
    assert refusal(n_cells=-(10**5000)) == "n_cells is a number of 16,610 bits below 0, expected 0 or more cells"


def test_whole_numbers_of_numpy_become_plain_ones() -> None:
    budget = Budget(n_cells=np.int64(5), max_nodes=np.uint8(7), max_links=np.int32(0))  # type: ignore[arg-type]
    assert budget == Budget(n_cells=5, max_nodes=7, max_links=0)
    assert [type(part) for part in (budget.n_cells, budget.max_nodes, budget.max_links)] == [int, int, int]
    with pytest.raises(ParameterError, match=r"n_cells is np.True_, expected a whole number of 0 or more cells"):
        Budget(n_cells=np.bool_(True))  # type: ignore[arg-type]


def test_the_least_and_the_highest_are_allowed() -> None:
    assert Budget(n_cells=0, max_nodes=0, max_links=0).n_cells == 0
    assert Budget(n_cells=MAX_INT, max_nodes=MAX_INT).max_nodes == MAX_INT


def test_a_range_of_two_is_said_as_two_and_a_longer_one_by_its_ends() -> None:
    for value, least, most, message in (
        (3, 1, 2, "n is 3, expected 1 or 2 things"),
        (1.5, 1, 2, "n is 1.5, expected 1 or 2 things"),
        (2000, 1, 1500, "n is 2000, expected 1 to 1,500 things"),
        (2.5, 1, 1500, "n is 2.5, expected a whole number of 1 to 1,500 things"),
    ):
        with pytest.raises(ParameterError) as error:
            check_int("n", value, least, most, what="things")
        assert str(error.value) == message
