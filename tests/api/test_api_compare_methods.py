"""Methods of one's own in a comparison: their names, what is kept of them, and slips in lists of them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cube2net as c2n
from cube2net.api.compare import JOURNAL, compare_by_name, named_methods
from cube2net.errors import InputError, ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection
from cube2net.network.hops import Hops
from cube2net.selection.greedy import Greedy
from cube2net.selection.random import Random

from comparisons import TINY, plain
from toys import two_communities


@pytest.fixture(scope="module")
def planted() -> tuple[Cube, Query]:
    """A cube of six communities, and 50 objects of two of them."""
    return two_communities(25)


@dataclass(frozen=True)
class Firsts:
    """A method of one's own that brings the first objects."""

    count: int = 2

    chooses_cells = draws = False

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        objects = np.setdiff1d(np.arange(len(cube.objects)), query.objects)[: self.count]
        return Selection(objects, weights.value(objects))


class Plain:
    """A method of one's own that tells nothing of itself, and chooses the first cell."""

    def __init__(self, first: int = 0) -> None:
        self.first = first

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        return Greedy().select(cube, query, weights=weights, budget=budget, seed=seed)


def test_a_method_in_a_list_is_called_by_its_class_and_with_its_parameters_where_there_are_several() -> None:
    def called(*methods: Any) -> list[str]:
        return list(named_methods(methods))

    assert called("none", Firsts(), "hops") == ["none", "Firsts", "hops"]
    assert called(Firsts(), Firsts(count=5)) == ["Firsts()", "Firsts(count=5)"]
    assert called("greedy", Greedy(by="price")) == ["greedy", "Greedy(by='price')"]
    assert called(Greedy(by="price")) == ["Greedy"]
    assert called(Firsts(), Firsts(), "none", "none") == ["Firsts", "none"]
    assert called(Plain(), Plain(3)) == ["Plain(first=0)", "Plain(first=3)"]
    assert called("hops 2", Hops()) == ["hops 2", "Hops()"]
    with pytest.raises(ParameterError, match="a method is a name .* or an object like one, got 3"):
        called("none", 3)


def test_methods_of_ones_own_take_part_as_names_do(planted: tuple[Cube, Query], tmp_path: Path) -> None:
    cube, query = planted
    methods = ["greedy", Firsts(), c2n.methods.METHODS["greedy"](by="price"), Plain()]
    options: dict[str, Any] = {**TINY, "methods": methods, "runs": 1, "as_large": False, "out": tmp_path / "out"}
    found = compare_by_name(cube, query, **options)
    cells = " · linked · cells · n_cells 3"
    names = ["none", f"greedy{cells}", "Firsts", f"Greedy(by='price'){cells}", f"Plain{cells}"]
    assert [config.name for config in found.configurations] == names
    assert not any(trial.reason for trial in found.trials)
    assert found.settings["methods"] == {
        "greedy": "'greedy'",
        "Firsts": "Firsts(count=2)",
        "Greedy(by='price')": repr(Greedy(by="price")),
        "Plain": "Plain(first=0)",
    }
    written = (tmp_path / "out" / JOURNAL).read_bytes()
    again = compare_by_name(cube, query, **{**options, "methods": [*methods[:3], Plain()]})
    assert plain(again) == plain(found) and (tmp_path / "out" / JOURNAL).read_bytes() == written
    with pytest.raises(InputError, match="it differs in methods 'Firsts'"):
        compare_by_name(cube, query, **{**options, "methods": [Firsts(count=7)]})
    found.write_report(tmp_path / "out", cube, query, methods=methods)
    for name in ("report.html", "scores.csv", "trials.csv"):
        text = (tmp_path / "out" / name).read_text()
        assert "Firsts" in text and "Greedy(by=" in text and "Plain" in text


def test_a_method_of_ones_own_is_drawn_where_it_is_the_best(planted: tuple[Cube, Query], tmp_path: Path) -> None:
    cube, query = planted
    options: dict[str, Any] = {**TINY, "methods": [Plain()], "as_large": False}
    found = compare_by_name(cube, query, **options)
    found.write_report(tmp_path / "one", cube, query, methods=options["methods"])
    assert (tmp_path / "one" / "cells.csv").exists()
    found.write_report(tmp_path / "two", cube, query)
    assert not (tmp_path / "two" / "cells.csv").exists(), "nobody said what the method was"


def test_methods_may_come_one_by_one_and_slips_are_said() -> None:
    assert list(named_methods(name for name in ("greedy", "hops 2"))) == ["greedy", "hops 2"]
    assert named_methods({"two": "hops 2"}) == {"two": Hops(hops=2)}
    with pytest.raises(ParameterError, match=r"methods are a list of names and objects, .*, got Greedy\(among="):
        named_methods(Greedy())  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"the method is the class Greedy, expected an object: Greedy\(\)"):
        named_methods([Greedy])  # type: ignore[list-item]


def test_two_objects_that_call_themselves_the_same_are_not_taken_for_one() -> None:
    class Mine(Random):
        """One that hides what it holds."""

        def __repr__(self) -> str:
            return "Mine()"

        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = object.__hash__

    one = Mine()
    assert len(named_methods([one, one])) == 1
    with pytest.raises(ParameterError, match=r"two different objects call themselves 'Mine\(\)': give each a name"):
        named_methods([one, Mine()])


def test_baselines_are_those_named_all_or_none() -> None:
    module = import_module("cube2net.api.compare")
    assert [module._baselines(True, given) for given in (None, "hops", ["hops"], [])] == [True, ["hops"], ["hops"], []]
    assert module._baselines(False, None) is False
    with pytest.raises(
        ParameterError, match="baselines are the networks made as large, and as_large=False leaves them"
    ):
        module._baselines(False, ["hops"])
