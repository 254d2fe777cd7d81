"""An option of a network is defined once, and Python, the command line, JSON, the page and recipes know it."""

from __future__ import annotations

import inspect
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

import cube2net as c2n
import make_types
from cube2net.api.plan import METHODS
from cube2net.apps.cli.app import app
from cube2net.apps.service.openapi import openapi
from cube2net.apps.service.requests import make_parameters, parse_request
from cube2net.errors import ParameterError
from cube2net.model.selection import Steering
from cube2net.options import (
    FORMS,
    MEMBERSHIP_WEIGHTS,
    METHOD_NAMES,
    OBJECTIVE_NAMES,
    STEERING,
    NetworkOptions,
    Option,
)
from cube2net.selection.objectives import OBJECTIVES

from toys import toy_cube

CUBE = toy_cube([[0, 1, 3], [2, 4]], objects=6, links=[(0, 1), (0, 5)])
FIELDS = fields(NetworkOptions)
NO_OPTIONS = ("cube", "query", "options", "progress")
"""The parameters of construct that are no options of the network."""
OBJECTS_OF_ONES_OWN = ("method", "objective")
"""Options whose types stand in layers above that of the definition."""
EXAMPLES: dict[str, Any] = {
    "method": "exact",
    "n_cells": 1,
    "objective": "coverage",
    "form": "hybrid",
    "levels": "full",
    "keep_unlinked": True,
    "max_nodes": 5,
    "max_links": 9,
    "best_prefix": True,
    "n_neighbors": 1,
    "neighbor_weight": 0.5,
    "membership_weights": "unit",
    "cell_weight": 0.5,
    "pins": [0],
    "bans": [5],
    "prefer": [3],
    "bound": True,
    "seed": 3,
}


def test_the_parameters_of_construct_are_options_with_the_same_defaults() -> None:
    parameters = inspect.signature(c2n.construct).parameters
    assert len(parameters) <= 12 and len(inspect.signature(c2n.compare).parameters) <= 10
    flat = {name for name in parameters if name not in NO_OPTIONS}
    assert flat <= {field.name for field in FIELDS}
    for field in FIELDS:
        if field.name in flat:
            assert parameters[field.name].default == field.default, field.name
            if field.name not in OBJECTS_OF_ONES_OWN:
                assert parameters[field.name].annotation == field.type, field.name


def test_an_option_given_twice_is_refused_unless_it_is_the_same() -> None:
    with pytest.raises(ParameterError, match=r"^n_cells is 2, and 1 in options: give it once$"):
        c2n.construct(CUBE, [0, 1], n_cells=2, options=NetworkOptions(n_cells=1))
    both = c2n.construct(CUBE, [0, 1], n_cells=1, options=NetworkOptions(n_cells=1, n_neighbors=1))
    assert both.recipe == c2n.construct(CUBE, [0, 1], options=NetworkOptions(n_cells=1, n_neighbors=1)).recipe
    with pytest.raises(ParameterError, match=r"^options is \{'n_cells': 1\}, expected NetworkOptions, such as"):
        c2n.construct(CUBE, [0, 1], options={"n_cells": 1})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"random_state": 3}, "construct has no parameter 'random_state' (did you mean 'seed'?)"),
        ({"k": 3}, "construct has no parameter 'k' (did you mean 'n_cells'?)"),
        ({"max_node": 3}, "construct has no parameter 'max_node' (did you mean 'max_nodes'?)"),
        (
            {"n_neighbors": 3},
            "construct has no parameter 'n_neighbors': give it as options=NetworkOptions(n_neighbors=…)",
        ),
        (
            {"n_neighbours": 3},
            "construct has no parameter 'n_neighbours' (did you mean options=NetworkOptions(n_neighbors=…)?)",
        ),
        ({"by": "price"}, "construct has no parameter 'by': give it to the method, such as methods.Greedy(by=…)"),
    ],
    ids=str,
)
def test_a_parameter_that_construct_does_not_have_says_where_it_belongs(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        c2n.construct(CUBE, [0, 1], **given)
    assert str(error.value) == sentence


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_interface_knows_every_option(field: Field[Any], tmp_path: Path) -> None:
    option: Option = field.metadata["option"]
    assert option.description.endswith(".")

    # Python, and the recipe of what it makes
    given = {field.name: EXAMPLES[field.name]} | ({"form": "objects"} if field.name == "max_links" else {})
    network = c2n.api.construct_by_name(CUBE, [0, 1, 2], **given)
    assert network.recipe is not None
    recipe = network.recipe.to_dict()
    if option.is_recorded:
        assert field.name in recipe["parameters"]
    else:
        assert field.name in recipe or field.name == "bound"  # it changes nothing of the network
    assert c2n.api.construct_by_name(CUBE, [0, 1, 2], **{**given, field.name: field.default}).recipe is not None

    # the command line
    commands: Any = typer.main.get_command(app)
    for command in ("query", "explain", "without"):
        (parameter,) = [each for each in commands.commands[command].params if each.name == field.name]
        assert parameter.help.startswith(option.description.removesuffix("."))
        assert parameter.opts == [(option.flag or f"--{field.name.replace('_', '-')}").split("/")[0]]
        for name in option.allowed:
            assert name in option.description

    # JSON, and the types of the page
    properties = openapi()["components"]["schemas"]["NetworkRequest"]["properties"]
    if option.is_field:
        assert properties[field.name]["description"] == option.description
        assert f"  /** {option.description} */\n  {field.name}?: " in make_types.written()
    else:
        assert field.name in properties["options"]["description"]
        assert field.name in make_types.written().partition("further options of")[2].partition("*/")[0]
        asked: Any = {
            "query": CUBE.objects.ids(np.array([0])).to_pylist(),
            "options": {field.name: EXAMPLES[field.name]},
        }
        assert make_parameters(CUBE, parse_request(CUBE, asked))[field.name] == EXAMPLES[field.name]


def test_names_are_those_of_the_registries() -> None:
    assert tuple(METHODS) == METHOD_NAMES and tuple(OBJECTIVES) == OBJECTIVE_NAMES
    assert tuple(field.name for field in fields(Steering)) == STEERING


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"form": "x"}, f"unknown form 'x': choose one of {', '.join(sorted(FORMS))}"),
        ({"keep_unlinked": "x"}, "keep_unlinked is 'x', expected True or False"),
        (
            {"membership_weights": "x"},
            f"unknown membership_weights 'x': choose one of {', '.join(sorted(MEMBERSHIP_WEIGHTS))}",
        ),
        ({"best_prefix": None}, "best_prefix is None, expected True or False"),
        ({"n_cells": -1}, "n_cells is -1, expected 0 or more cells, or None"),
        ({"max_nodes": 1.5}, "max_nodes is 1.5, expected a whole number of 0 or more nodes, or None"),
        ({"cell_weight": 0}, "cell_weight is 0, expected a number above 0 and up to 1, or None"),
        ({"seed": -1}, "seed is -1, expected a whole number of 0 or more"),
    ],
    ids=str,
)
def test_a_value_that_is_not_allowed_is_refused_where_options_are_made(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        NetworkOptions(**given)
    assert str(error.value).startswith(sentence)


def test_options_that_are_given_are_those_that_differ_from_their_defaults() -> None:
    assert NetworkOptions().given == NetworkOptions(pins=None, bans=[], n_cells=None, best_prefix=False).given == {}
    assert NetworkOptions(pins="a", seed=2, n_neighbors=0).given == {"n_neighbors": 0, "pins": "a", "seed": 2}
