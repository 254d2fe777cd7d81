"""Explanations of a network that was steered add up to its value too, and say what was pinned, banned and forbidden."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.cube.views import dice
from cube2net.model.explanation import CellExplanation, ObjectExplanation
from cube2net.model.network import Network
from cube2net.selection.objectives import FBeta

from toys import random_cube, toy_cube


def steered(seed: int, **options: Any) -> Network:
    """Return a network of a random cube with some pins, bans and preferences."""
    cube, rng = random_cube(seed % 80), np.random.default_rng(seed)
    rows = rng.permutation(40).tolist()
    cells = rng.permutation(12).tolist()
    wishes = {
        "pins": [cube.cell(cells[0]), cube.cell(cells[1]), f"o{rows[8]}"],
        "bans": [cube.cell(cells[2]), f"o{rows[9]}", f"o{rows[10]}"],
        "prefer": [f"o{rows[11]}"],
    }
    return c2n.api.construct_by_name(cube, cube.query(rows[:8]), n_cells=5, **wishes, **options)


@example(26900, FBeta(beta=0.3), "objects")
@given(
    st.integers(0, 10**6),
    st.sampled_from(["jaccard", "cover", "coverage", "precision", FBeta(beta=0.3)]),
    st.sampled_from(["objects", "cells", "hybrid", "cells+objects"]),
)
def test_the_parts_add_up_to_the_value_to_the_bit(seed: int, objective: Any, form: str) -> None:
    network = steered(seed, objective=objective, form=form)
    account = c2n.explain(network)
    assert account.total() == network.selection.value
    assert [cell.pinned for cell in account.cells] == [True, True, *[False] * (len(account.cells) - 2)]
    assert sum(cell.added for cell in account.cells) == pytest.approx(
        network.selection.value - network.settings["empty_value"], abs=1e-9
    )


@given(st.integers(0, 10**6), st.sampled_from(["jaccard", "cover", "coverage"]))
def test_what_a_cell_adds_last_is_the_price_of_its_place(seed: int, objective: str) -> None:
    network = steered(seed, objective=objective, form="cells")
    assert network.context is not None
    cells = network.selection.cells.tolist()
    found = c2n.explain(network, network.context.cube.cell(cells[-1]))
    assert isinstance(found, CellExplanation)
    before = network.selection.values[-2]
    assert found.last == found.in_turn == pytest.approx(network.selection.value - before, abs=1e-12)


def test_pins_bans_and_bars_are_said() -> None:
    links = [(0, 1), (0, 2), (0, 3), (1, 4), (4, 5)]
    cube = toy_cube([[0, 1, 2], [3, 4], [0, 5]], objects=6, links=links)
    wishes: dict[str, Any] = {"pins": ["o5", ("label 1",)], "bans": ["o2", ("label 2",)]}
    network = c2n.api.construct_by_name(cube, cube.query([0, 1]), n_neighbors=2, **wishes)

    def of_object(key: str) -> ObjectExplanation:
        found = c2n.explain(network, key)
        assert isinstance(found, ObjectExplanation)
        return found

    def of_cell(label: str) -> CellExplanation:
        found = c2n.explain(network, (label,))
        assert isinstance(found, CellExplanation)
        return found

    assert of_object("o5").came == "pinned" and "is in the network because it is pinned" in of_object("o5").sentence
    assert str(of_object("o2").miss) == "it is banned" and of_object("o2").rank is None
    (third,) = {"o3", "o4"} - set(network)
    miss = of_object(third).miss
    assert miss is not None and (miss.option, miss.needed, miss.now) == ("n_neighbors", 8, 2)
    assert (of_cell("label 1").pinned, of_cell("label 1").rank) == (True, 1)
    assert of_cell("label 2").banned and "is not chosen because it is banned" in of_cell("label 2").sentence
    assert of_cell("label 0").objects == 2


def test_an_object_that_a_view_leaves_out_is_said_to_be() -> None:
    planted = c2n.make_planted(objects=120, communities=4, noise=0.1, seed=1)
    cube = c2n.build(planted.corpus)
    view = dice(cube, {"venue": "venue 0"})
    network = c2n.construct(view, view.query(view.cells.members[0][:4].tolist()), "hops")
    assert network.context is not None
    forbidden = network.context.budget.scope.forbidden_objects
    assert forbidden is not None and forbidden.any()
    row = int(np.flatnonzero(forbidden)[0])
    found = c2n.explain(network, cube.objects.ids(np.array([row])).to_pylist()[0])
    assert isinstance(found, ObjectExplanation) and found.miss is not None
    assert found.miss.obstacle.startswith("the view of the cube does not allow it to be brought")
