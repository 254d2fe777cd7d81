"""Configurations compared: every combination, the query alone first, baselines of equal size last."""

from __future__ import annotations

from typing import Any

import pytest

from cube2net.api.compare import COMPARED, named_methods
from cube2net.api.plan import METHODS
from cube2net.errors import ParameterError
from cube2net.evaluation.configurations import list_configurations
from cube2net.model.interfaces import Method, chooses_cells
from cube2net.network.hops import Hops
from cube2net.network.pagerank import PageRank
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import OBJECTIVES
from cube2net.selection.rl.cube2net import Cube2net

from comparisons import Failing


def of_names(methods: dict[str, str | Method]) -> dict[str, Method]:
    return {name: METHODS[method]() if isinstance(method, str) else method for name, method in methods.items()}


def names(methods: dict[str, str | Method], **options: Any) -> list[str]:
    options = {"objectives": ["jaccard", "linked"], "forms": ["objects", "cells"], "n_cells": [5], **options}
    return [config.name for config in list_configurations(of_names(methods), allowed_objectives=OBJECTIVES, **options)]


def test_the_query_alone_comes_first_and_once() -> None:
    assert names({}) == ["none"]
    assert names({"pagerank": "pagerank", "none": "none"}) == ["none", "pagerank"]


def test_a_method_that_chooses_cells_is_there_for_every_objective_form_and_number() -> None:
    assert names({"greedy": "greedy", "hops": "hops"}, n_cells=[5, 9], as_large=False) == [
        "none",
        "greedy · jaccard · objects · n_cells 5",
        "greedy · jaccard · objects · n_cells 9",
        "greedy · jaccard · cells · n_cells 5",
        "greedy · jaccard · cells · n_cells 9",
        "greedy · linked · objects · n_cells 5",
        "greedy · linked · objects · n_cells 9",
        "greedy · linked · cells · n_cells 5",
        "greedy · linked · cells · n_cells 9",
        "hops",
    ]


def test_random_cells_stand_under_the_first_objective_alone() -> None:
    assert names({"random": "random"}, as_large=False) == [
        "none",
        "random · jaccard · objects · n_cells 5",
        "random · jaccard · cells · n_cells 5",
    ]


def test_those_as_large_as_a_choice_of_cells_come_right_behind_it() -> None:
    found = list_configurations(of_names({"pagerank": "pagerank", "greedy": "greedy"}), ["linked"], ["cells"], [3, 4])
    assert [config.name for config in found] == [
        "none",
        "pagerank",
        "greedy · linked · cells · n_cells 3",
        "pagerank, as large as greedy · linked · cells · n_cells 3",
        "hops, as large as greedy · linked · cells · n_cells 3",
        "greedy · linked · cells · n_cells 4",
        "pagerank, as large as greedy · linked · cells · n_cells 4",
        "hops, as large as greedy · linked · cells · n_cells 4",
    ]


def test_no_two_configurations_of_all_methods_have_the_same_name() -> None:
    found = names(COMPARED, forms=["objects", "cells", "cells+objects", "hybrid"], n_cells=[5, 20])
    assert len(found) == len(set(found))
    assert {"none", "hops", "hops 2", *METHODS} == set(COMPARED)


def test_a_method_of_ones_own_has_forms_unless_it_brings_objects_alone() -> None:
    assert names({"far": Hops(hops=2), "near": PageRank(top=3)}) == ["none", "far", "near"]
    assert names({"mine": Greedy(by="price")}, objectives=["linked"], forms=["cells+objects"], as_large=False) == [
        "none",
        "mine · linked · cells+objects · n_cells 5",
    ]
    assert chooses_cells(Failing()) and not chooses_cells(METHODS["steiner"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objectives": ["jacard"]}, "unknown objective 'jacard': choose one of "),
        (
            {"forms": ["cell"]},
            "unknown form 'cell': choose one of cells, cells+objects, hybrid, objects (did you mean 'cells'?)",
        ),
        ({"n_cells": []}, "a comparison needs at least one number of cells, one objective and one form"),
        ({"objectives": []}, "a comparison needs at least one number of cells, one objective and one form"),
        ({"forms": []}, "a comparison needs at least one number of cells, one objective and one form"),
        ({"n_cells": [5, 0]}, "n_cells is 0, expected a whole number of 1 or more"),
        ({"n_cells": [2.5]}, "n_cells is 2.5, expected a whole number of 1 or more"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_configurations_that_cannot_be_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        names({"greedy": "greedy"}, **options)
    assert str(caught.value).startswith(sentence)


def test_the_paper_to_the_letter_is_a_name_and_compared_only_where_it_is_named() -> None:
    assert "cube2net paper" not in COMPARED
    named = named_methods(["none", "cube2net paper", "hops 2"])
    assert named["cube2net paper"] == Cube2net(preset="paper")
    assert named["hops 2"] == Hops(hops=2)
    assert names(named, objectives=["jaccard"], forms=["objects"], as_large=False)[1:2] == [
        "cube2net paper · jaccard · objects · n_cells 5"
    ]


def test_one_word_makes_the_list_that_of_all_combinations() -> None:
    configs = list_configurations(
        of_names({"greedy": "greedy"}), forms=["hybrid"], levels=["full", "one"], n_neighbors=[0, 5], as_large=False
    )
    assert [config.name for config in configs if config.objective == "cover"] == [
        "greedy · cover · hybrid · levels full · n_neighbors 0",
        "greedy · cover · hybrid · levels full · n_neighbors 5",
        "greedy · cover · hybrid · levels one · n_neighbors 0",
        "greedy · cover · hybrid · levels one · n_neighbors 5",
    ]
    assert {config.objective: config.n_cells for config in configs if config.objective} == {
        "cover": 0,
        "jaccard": 20,
        "coverage": 20,
        "linked": 20,
    }
    other = list_configurations(
        of_names({"anneal": "anneal", "random": "random"}), membership_weights=["even", "share"], as_large=False
    )
    assert not [config for config in other if config.objective == "cover"]
    assert {config.form: config.membership_weights for config in other if config.objective} == {
        "objects": "",
        "cells": "share",
        "cells+objects": "share",
        "hybrid": "share",
    }
