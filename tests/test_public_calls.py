"""A public function that is called with wrong, missing or too many arguments says so in one sentence."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.selection import Selection

from toys import toy_cube

FUNCTIONS = sorted(name for name in c2n.__all__ if inspect.isfunction(getattr(c2n, name)))


@cache
def small() -> tuple[Cube, Network]:
    cube = toy_cube([[0, 1, 2], [3, 4]], objects=6, links=[(0, 1), (1, 2), (3, 4)])
    return cube, c2n.construct(cube, [0, 1])


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(c2n.Cube2netError) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_first_argument_is_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function = getattr(c2n, name)
    first = next(iter(inspect.signature(function).parameters), "")
    for given in (*small(), 3, object(), pd.DataFrame({"a": [1]}), np.arange(3)):
        is_right = type(given).__name__.lower() == first or (
            (first in ("data", "tables") and isinstance(given, pd.DataFrame))
            or (first in ("data", "graph") and isinstance(given, Network))
        )
        if not is_right:
            refused(lambda given=given: function(given))  # type: ignore[misc]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_that_are_missing_or_too_many_are_one_sentence(name: str) -> None:
    function = getattr(c2n, name)
    parameters = list(inspect.signature(function).parameters.values())
    if any(each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters):
        assert refused(function).startswith(f"{name} needs ")
    if not any(each.kind is each.VAR_POSITIONAL for each in parameters):
        first = {"cube": small()[0], "network": small()[1]}.get(parameters[0].name if parameters else "")
        assert re.search(
            "by position|takes no arguments|expected a Comparison", refused(lambda: function(first, *range(20)))
        )
    if not any(each.kind is each.VAR_KEYWORD for each in parameters):
        assert refused(lambda: function(zzz=1)).startswith(f"{name} has no parameter 'zzz'")


def test_the_sentence_says_what_was_expected_and_how_to_call() -> None:
    cube, network = small()
    no_cube = (
        "the cube is a Network, expected a Cube: cube2net.open opens the folder of one, and cube2net.build makes one of"
    )
    asked: list[Callable[..., Any]] = [c2n.compare, c2n.construct, c2n.contrast, c2n.drill, c2n.pivot]
    for function in asked:
        assert refused(lambda function=function: function(network)).startswith(no_cube)  # type: ignore[misc]
    assert refused(lambda: c2n.explore(network)).startswith(no_cube)
    assert refused(lambda: c2n.compare(cube)) == "compare needs query: call compare(cube, query)"  # type: ignore[call-arg]
    assert refused(lambda: c2n.compare(query=[0])) == "compare needs cube: call compare(cube, query)"  # type: ignore[call-arg]
    assert refused(lambda: c2n.pivot(cube)) == "pivot needs rows and columns: call pivot(cube, rows, columns)"  # type: ignore[call-arg]
    assert refused(network.without) == "without needs nodes: call network.without(nodes)"  # type: ignore[call-arg]
    assert refused(lambda: c2n.load_labs(1)) == "load_labs takes no arguments, got 1"  # type: ignore[call-arg]
    twice = refused(lambda: c2n.read_source("tables", "a.csv", source="tables"))  # type: ignore[misc]
    assert twice == "read_source got source twice, by position and by name"
    with pytest.raises(c2n.Cube2netError) as error:
        c2n.construct(5)  # type: ignore[arg-type, call-arg]
    assert error.value.__suppress_context__
    assert refused(lambda: c2n.compare(cube, [0], query=[1])) == "compare got query twice, by position and by name"  # type: ignore[misc]


class Broken:
    """A method with a fault of its own."""

    def select(self, cube: Cube, query: Query, **options: Any) -> Selection:
        raise TypeError("a fault inside")


def test_a_fault_inside_a_call_stays_what_it_is() -> None:
    with pytest.raises(TypeError, match="^a fault inside$"):
        c2n.construct(small()[0], [0, 1], Broken())
