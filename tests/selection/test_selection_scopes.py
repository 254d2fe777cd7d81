"""What a user pins and bans is settled before a method chooses, and what cannot be is refused by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cube2net.errors import ParameterError
from cube2net.model.network import Form
from cube2net.model.node_names import Node
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Steering
from cube2net.selection.constraints import check_no_cells, check_scope, resolve_scope

from toys import toy_cube


@pytest.mark.parametrize(
    ("steering", "sentence"),
    [
        (
            Steering(pins=(Node("cell", 1),), bans=(Node("cell", 1),)),
            "⟨label 1⟩ is pinned and banned: it cannot be both",
        ),
        (
            Steering(pins=(Node("object", 4),), bans=(Node("object", 4),)),
            "'Object 4' is pinned and banned: it cannot be both",
        ),
        (
            Steering(bans=(Node("object", 0),)),
            "'Object 0' is banned, and it is in the query: leave it out of one of them",
        ),
        (
            Steering(prefer=(4,), bans=(Node("object", 4),)),
            "'Object 4' is preferred and banned: leave it out of one of them",
        ),
    ],
)
def test_a_steering_against_itself_is_refused_by_name(steering: Steering, sentence: str) -> None:
    cube = toy_cube([[0, 1, 4], [1, 2]], objects=6)
    with pytest.raises(ParameterError) as error:
        resolve_scope(cube, Query(np.array([0, 1])), steering)
    assert str(error.value) == sentence


def test_a_pin_that_the_view_leaves_out_is_refused() -> None:
    cube = toy_cube([[0, 1, 4]], objects=6)
    bringable = np.array([False, True, True, True, False, True])
    with pytest.raises(ParameterError, match=r"^'Object 4' is pinned, and the view of the cube leaves it out: "):
        resolve_scope(cube, Query(np.array([0, 1])), Steering(pins=(Node("object", 4),)), bringable)
    scope = resolve_scope(
        cube, Query(np.array([0, 1])), Steering(pins=(Node("object", 2),), bans=(Node("object", 3),)), bringable
    )
    assert scope.forbidden_objects is not None and np.flatnonzero(scope.forbidden_objects).tolist() == [
        3,
        4,
    ]  # the query stays


@pytest.mark.parametrize(
    ("budget", "form", "nodes", "sentence"),
    [
        (Budget(n_cells=1), Form("hybrid"), None, "2 cells are pinned, and n_cells is 1: pin fewer, or raise n_cells"),
        (
            Budget(n_cells=4),
            Form("objects"),
            5,
            "the query and what is pinned are 6 nodes, and max_nodes is 5: pin less, or raise max_nodes",
        ),
        (
            Budget(n_cells=4),
            Form("cells+objects"),
            7,
            "the query and what is pinned are 8 nodes, and max_nodes is 7: pin less, or raise max_nodes",
        ),
        (
            Budget(n_cells=4),
            Form("hybrid"),
            4,
            "the query and what is pinned are 5 nodes, and max_nodes is 4: pin less, or raise max_nodes",
        ),
        (
            Budget(n_cells=4, max_links=2),
            Form("objects"),
            None,
            "the query and what is pinned have 3 links, and max_links is 2: pin less, or raise max_links",
        ),
    ],
)
def test_pins_that_do_not_fit_are_refused(budget: Budget, form: Form, nodes: int | None, sentence: str) -> None:
    cube = toy_cube([[0, 1, 4], [1, 2, 3]], objects=6, links=[(0, 1), (1, 4), (3, 5), (4, 5)][:3])
    query = Query(np.array([0, 1]))
    scope = resolve_scope(cube, query, Steering(pins=(Node("cell", 0), Node("cell", 1), Node("object", 5))))
    with pytest.raises(ParameterError) as error:
        check_scope(cube, query, scope, budget, form, nodes)
    assert str(error.value) == sentence
    check_scope(cube, query, scope, replace(budget, n_cells=9, max_links=None), form, None)


@pytest.mark.parametrize(
    ("steering", "sentence"),
    [
        (
            Steering(pins=(Node("cell", 1),)),
            "⟨label 1⟩ is pinned, and the method 'hops' chooses no cells: pin and ban objects, or use a method that "
            "does, such as 'greedy'",
        ),
        (
            Steering(bans=(Node("cell", 0),)),
            "⟨label 0⟩ is banned, and the method 'hops' chooses no cells: pin and ban objects, or use a method that "
            "does, such as 'greedy'",
        ),
        (
            Steering(prefer=(1,)),
            "prefer says what cells are worth, and the method 'hops' chooses no cells: use a method that does, such as "
            "'greedy'",
        ),
    ],
)
def test_a_method_without_cells_takes_no_steering_by_cells(steering: Steering, sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        check_no_cells(toy_cube([[0], [1]], objects=2), steering, "hops")
    assert str(error.value) == sentence
