"""What construct wires: objectives that see links, functions, queries that no cell helps, bounds, cell vectors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cube2net as c2n
from cube2net.arguments import options_of
from cube2net.array_types import Array
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.progress import Progress, silent
from cube2net.records import Budget, Cube, Judge, Network, Query, Selection, Vectors, Weights, Worth
from cube2net.select import Greedy, bounded

from toys import random_cube, toy_cube

PARTS = {"weigh", "select", "train", "links"}


def share(objects: Array, query: Query) -> float:
    """Return the share of the query brought, less a little for every object."""
    return float(np.isin(query.objects, objects).mean()) - len(objects) / 1000


# Objectives that see links


def test_linked_brings_near_objects_where_jaccard_sees_no_difference() -> None:
    cube = toy_cube([[0, 4, 5], [0, 2, 3]], objects=6, links=[(0, 2), (1, 2), (0, 3), (1, 3), (4, 5)])
    assert c2n.construct(cube, [0, 1], m=1, objective="jaccard").selection.cells.tolist() == [0]
    near = c2n.construct(cube, [0, 1], m=1, objective="linked")
    assert near.selection.cells.tolist() == [1]
    assert near.selection.value == 3 / 4
    assert c2n.pipeline.weigh(cube, near.query, "linked").value(near.selection.objects) == 3 / 4


def test_members_without_a_link_to_the_network_are_left_out_where_the_objective_sees_links() -> None:
    cube = toy_cube([[0, 1, 2, 3]], objects=6, links=[(0, 1), (1, 2), (3, 4)])
    for options, objects, left_out in (
        ({}, [0, 1, 2, 3], 0),
        ({"objective": "linked"}, [0, 1, 2], 1),
        ({"objective": "linked", "keep": "all"}, [0, 1, 2, 3], 0),
        ({"keep": "linked"}, [0, 1, 2], 1),
        ({"keep": "linked", "form": "both"}, [0, 1, 2], 1),
        ({"objective": "linked", "form": "cells"}, [0], 0),
    ):
        network = c2n.construct(cube, [0], m=1, **({"form": "objects"} | options))
        assert network.objects.tolist() == objects
        assert c2n.pipeline.summary(network)["left_out"] == left_out


def test_what_is_kept_is_all_or_linked() -> None:
    with pytest.raises(ParameterError) as caught:
        c2n.construct(toy_cube([[0]], objects=1), [0], keep="link")
    assert str(caught.value) == "unknown keep 'link': choose one of all, linked (did you mean 'linked'?)"


def test_an_objective_of_ones_own_may_see_links() -> None:
    @dataclass(frozen=True)
    class Near:
        damping: float = 0.5

        def weigh_links(self, query: Query, affinity: Array, linked: Array) -> Weights:
            return Weights(gain=affinity, cost=np.zeros(len(affinity)), cost0=1.0)

    cube = toy_cube([[0, 1], [2, 3]], objects=4, links=[(0, 1), (1, 2)])
    network = c2n.construct(cube, [0], objective=Near())
    assert network.settings["objective"] == "Near"
    assert network.settings["keep"] == "linked"
    assert network.selection.value == pytest.approx(1.0, abs=1e-4)


# A user's own function


@pytest.mark.parametrize("method", ["none", "hops", "pagerank", "steiner", "maxdisc", "random", "greedy"])
def test_every_method_reports_the_value_that_a_function_gives(method: str) -> None:
    cube = random_cube(3)
    network = c2n.construct(cube, [1, 5, 9], method, m=3, objective=share)
    assert network.selection.value == share(network.selection.objects, network.query)
    assert network.settings["objective"] == "share"


def test_greedy_follows_a_function() -> None:
    cube = toy_cube([[0, 1, 2, 3, 4], [0, 1], [2]], objects=6)
    network = c2n.construct(cube, [0, 1, 2], m=2, objective=share)
    assert network.selection.cells.tolist() == [0, 1]
    assert network.selection.values.tolist() == pytest.approx([1 - 5 / 1000, 1 - 5 / 1000])
    small = c2n.construct(cube, [0, 1, 2], m=2, objective=lambda objects, query: 1 / (1 + len(objects)))
    assert small.selection.cells.tolist() == [2, 1]
    assert c2n.pipeline.summary(small)["objective"] == "<lambda>"


def test_gains_of_cells_by_a_function_sum_to_its_value() -> None:
    cube = random_cube(1)
    about = c2n.pipeline.summary(c2n.construct(cube, [1, 5, 9], m=3, objective=lambda objects, query: 2 + len(objects)))
    assert 2 + sum(cell["gain"] for cell in about["cells"]) == about["value"]


def test_a_function_with_other_arguments_and_a_class_are_refused() -> None:
    cube = random_cube(0)
    with pytest.raises(ParameterError, match="the objective '<lambda>' must take two arguments, the objects and the"):
        c2n.construct(cube, [0], objective=lambda objects: 1.0)  # type: ignore[arg-type, misc]
    with pytest.raises(ParameterError, match="an objective is a name .* or an object like one, got <class"):
        c2n.construct(cube, [0], objective=Weights)  # type: ignore[arg-type]


# What is wrong is said by name


@dataclass(frozen=True)
class Odd:
    """An objective that makes whatever it is told to."""

    make: Callable[[int], object]

    def weigh(self, query: Query, count: int) -> Weights:
        return self.make(count)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda n: Weights(np.full(n, np.nan), np.ones(n)), "gain is not finite for 40 objects"),
        (lambda n: Weights(np.ones(n), -np.ones(n)), "cost is negative for 40 objects, expected 0 or more"),
        (lambda n: Weights(np.ones(3), np.ones(n)), "gains have shape (3,) and costs (40,), expected one per object"),
        (lambda n: Weights(np.ones(3), np.ones(3)), "the weights are for 3 objects, and the cube has 40"),
        (lambda n: Judge(len, 3), "the weights are for 3 objects, and the cube has 40"),
        (lambda n: 0.5, "it gave 0.5, expected Weights"),
    ],
)
@pytest.mark.parametrize("method", ["none", "greedy"])
def test_wrong_weights_are_refused_by_the_objectives_name(
    make: Callable[[int], object], sentence: str, method: str
) -> None:
    with pytest.raises(InputError) as caught:
        c2n.construct(random_cube(0), [0, 1], method, objective=Odd(make))
    assert str(caught.value) == f"the objective 'Odd' cannot be used: {sentence}"


def test_a_mistake_inside_an_objective_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        c2n.construct(random_cube(0), [0, 1], objective=Odd(lambda n: n / 0))
    with pytest.raises(ZeroDivisionError):
        c2n.construct(random_cube(0), [0, 1], objective=lambda objects, query: 1 / 0)


# Queries that no cell helps


@pytest.mark.parametrize("form", ["objects", "cells", "both"])
@pytest.mark.parametrize("method", ["random", "greedy"])
def test_a_query_that_no_cell_helps_is_answered_with_itself_and_a_note(method: str, form: str) -> None:
    cube = toy_cube([[0, 1]], objects=5, links=[(2, 3), (3, 4), (0, 2)])
    network = c2n.construct(cube, [2, 3], method, form=form)
    assert (network.objects.tolist(), len(network.cells), len(network.source)) == ([2, 3], 0, 1)
    about = c2n.pipeline.summary(network)
    assert (about["value"], about["cells"]) == (None, [])
    assert about["note"].startswith("none of the 2 objects of the query is in any cell, so there is nothing to choose")


def test_a_query_beyond_the_cube_is_still_refused() -> None:
    cube = toy_cube([[0, 1]], objects=5)
    with pytest.raises(QueryError, match="query names 1 row that the cube does not have: 9"):
        c2n.construct(cube, [1, 9])


# Bounds


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Budget, float]]:
    """Put a bound of 0.75 in place of the real one, and return what it is asked."""
    asked: list[tuple[Budget, float]] = []

    def upper_bound(cube: Cube, query: Query, weights: Weights, budget: Budget, *, at_least: float) -> float:
        asked.append((budget, at_least))
        return 0.75

    monkeypatch.setattr(import_module(bounded.__module__), "upper_bound", upper_bound)
    return asked


CUBE = toy_cube([[0, 1, 3], [2, 4]], objects=6, links=[(0, 1), (0, 5)])


def test_a_bound_is_found_when_asked_for(bounds: list[tuple[Budget, float]]) -> None:
    about = c2n.pipeline.summary(c2n.construct(CUBE, [0, 1, 2], m=1, form="objects"))
    assert (about["bound"], about["gap"], about["proven"], bounds) == (None, None, None, [])
    network = c2n.construct(CUBE, [0, 1, 2], m=1, form="objects", max_nodes=5, bound=True)
    about = c2n.pipeline.summary(network)
    assert (about["value"], about["bound"], about["proven"]) == (0.5, 0.75, False)
    assert about["gap"] == pytest.approx(1 / 3)
    assert bounds == [(Budget(m=1, max_nodes=5), 0.5)]
    assert set(network.seconds) == PARTS | {"bound"}


def test_a_choice_for_cover_has_a_bound_without_being_asked_for_one(bounds: list[tuple[Budget, float]]) -> None:
    for bound in (False, True):
        about = c2n.pipeline.summary(c2n.construct(CUBE, [0, 1, 2], bound=bound))
        # Cell 0 holds two of the three, and no other cell holds two: any three cells hold three at most.
        assert (about["objective"], about["value"], about["bound"], about["proven"]) == ("cover", 2.0, 3.0, False)
    about = c2n.pipeline.summary(c2n.construct(CUBE, [0, 1, 2], m=1))
    assert (about["value"], about["bound"], about["gap"], about["proven"], bounds) == (2.0, 2.0, 0.0, True, [])


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"objective": share}, "no bound: the objective 'share' is a function, and only its values are known"),
        ({"max_links": 5}, "no bound: max_links cannot be taken into account"),
        ({"method": "hops"}, "no bound: no cells were chosen"),
        (
            {"m": 9, "max_links": 5},
            "2 cells, not 9: no other cell holds an object of the query and fits the limits; "
            "no bound: max_links cannot be taken into account",
        ),
    ],
)
def test_where_no_bound_can_be_found_the_note_says_why(
    bounds: list[tuple[Budget, float]], options: dict, note: str
) -> None:
    about = c2n.pipeline.summary(c2n.construct(CUBE, [0, 1, 2], form="objects", bound=True, **({"m": 1} | options)))
    assert (about["bound"], about["proven"], about["note"], bounds) == (None, None, note, [])


def test_the_best_of_two_bounds_stays_and_a_proof_needs_no_other(bounds: list[tuple[Budget, float]]) -> None:
    @dataclass(frozen=True)
    class Sure:
        bound: float

        def select(self, cube: Cube, query: Query, *, weights: Weights, budget: Budget, seed: int = 0) -> Selection:
            return replace(Greedy().select(cube, query, weights=weights, budget=budget), bound=self.bound)

    for own, best, asked in ((0.9, 0.75, 1), (0.7, 0.7, 2), (0.5, 0.5, 2)):
        selection = c2n.construct(CUBE, [0, 1, 2], Sure(own), m=1, bound=True).selection
        assert (selection.bound, selection.proven, len(bounds)) == (best, best == 0.5, asked)


# Cell vectors


@dataclass(frozen=True, kw_only=True)
class Mover:
    """A method that takes the cells with the longest vectors."""

    vectors: str | Vectors | tuple[Vectors, ...] = "members"

    def with_vectors(self, *vectors: Vectors) -> Mover:
        return Mover(vectors=vectors)

    def select(self, cube: Cube, query: Query, *, weights: Weights, budget: Budget, seed: int = 0) -> Selection:
        assert isinstance(self.vectors, tuple)
        assert all(len(vectors) == len(cube.cells) for vectors in self.vectors)
        length = sum(np.linalg.norm(vectors.values, axis=1) for vectors in self.vectors)
        cell = int(np.argmax(length))
        value = weights.value(cube.cells.members[cell])
        return Selection(
            cube.cells.members[cell], value, np.array([cell]), np.array([value]), note=f"{len(self.vectors)} vectors"
        )


def test_a_method_that_asks_for_cell_vectors_gets_them() -> None:
    cube = random_cube(0)
    for name, count in (("words", 1), ("members", 1), ("both", 2)):
        network = c2n.construct(cube, [0, 1], Mover(vectors=name))
        assert network.selection.note == f"{count} vectors"
        assert set(network.seconds) == PARTS | {"vectors"}
        assert network.settings["parameters"] == f"Mover(vectors={name!r})"


def test_vectors_that_a_method_has_already_are_left_as_they_are() -> None:
    cube = random_cube(0)
    have = c2n.pipeline.embed_cells(cube, "members")
    network = c2n.construct(cube, [0, 1], Mover(vectors=(have,)))
    assert set(network.seconds) == PARTS


def test_the_vectors_follow_the_seed() -> None:
    seen: list[Array] = []

    class Watcher(Mover):
        def with_vectors(self, *vectors: Vectors) -> Mover:
            seen.append(vectors[0].values)
            return Mover(vectors=vectors)

    cube = random_cube(0, cells=60, objects=80)
    for seed in (0, 0, 1):
        c2n.construct(cube, [0, 1], Watcher(), seed=seed)
        assert np.array_equal(seen[-1], c2n.pipeline.embed_cells(cube, "members", seed=seed).values)


def test_an_unknown_kind_of_vectors_is_refused() -> None:
    with pytest.raises(ParameterError, match="unknown kind of vectors 'glove': choose one of members, words"):
        c2n.construct(random_cube(0), [0, 1], Mover(vectors="glove"))


# Progress


@dataclass(frozen=True, kw_only=True)
class Slow(Greedy):
    """Greedy that takes its time."""

    progress: Progress = silent

    def with_progress(self, progress: Progress) -> Slow:
        return replace(self, progress=progress)

    def select(self, cube: Cube, query: Query, *, weights: Worth, budget: Budget, seed: int = 0) -> Selection:
        self.progress("learning", 1, 2)
        return super().select(cube, query, weights=weights, budget=budget, seed=seed)


def test_a_method_that_takes_long_tells_its_progress_where_somebody_listens() -> None:
    heard: list[tuple[str, int, int | None]] = []
    for progress in (None, lambda stage, done, total=None: heard.append((stage, done, total))):
        c2n.construct(CUBE, [0, 1, 2], Slow(), m=1, progress=progress)
        c2n.construct(CUBE, [0, 1, 2], "greedy", m=1, progress=progress)
    assert heard == [("learning", 1, 2)]


# Woven networks, and what a membership weighs


# Cells 0 and 1 hold the query's 0 and 1; 0–4, 0–5, 1–5 and 5–6 lead out of it, and 2, 3 and 7 have no link.
WOVEN = toy_cube([[0, 2], [1, 3, 7], [6]], objects=8, links=[(0, 4), (0, 5), (1, 5), (5, 6)])


def weights_of(network: Network) -> dict[tuple[str, str], float]:
    ids = network.nodes["id"].to_pylist()
    ends = zip(network.source.tolist(), network.target.tolist(), network.weight.tolist(), strict=True)
    return {(ids[a], ids[b]): weight for a, b, weight in ends}


def test_a_woven_network_has_the_cells_and_as_many_near_objects_instead_of_their_members() -> None:
    network = c2n.construct(WOVEN, [0, 1], m=2, objective="coverage", form="woven", membership="even")
    assert network.objects.tolist() == [0, 1, 4, 5] and sorted(network.cells.tolist()) == [0, 1]
    assert network.selection.objects.tolist() == [0, 1, 2, 3, 7]
    # No links within the query: an object's memberships weigh 1 together.
    assert weights_of(network) == {
        ("o0", "o4"): 1.0,
        ("o0", "o5"): 1.0,
        ("o1", "o5"): 1.0,
        ("o0", "cell:label 0"): 1.0,
        ("o1", "cell:label 1"): 1.0,
    }
    assert (network.settings["membership"], network.form) == ("even", "woven")
    assert c2n.pipeline.summary(network)["left_out"] == 0


@pytest.mark.parametrize(("near", "objects"), [(0, []), (1, [5]), (2, [4, 5]), (3, [4, 5, 6]), (99, [4, 5, 6])])
def test_near_is_how_many_objects_nearest_by_links_are_woven_in(near: int, objects: list[int]) -> None:
    for m in (1, 2):
        network = c2n.construct(WOVEN, [0, 1], m=m, objective="coverage", form="woven", near=near)
        assert network.objects.tolist() == [0, 1, *objects] and len(network.cells) == m


def test_a_near_object_that_a_chosen_cell_holds_is_its_member() -> None:
    cube = toy_cube([[0, 1, 2]], objects=3, links=[(0, 2)])
    network = c2n.construct(cube, [0, 1], m=1, form="woven", membership="share")
    assert weights_of(network) == {
        ("o0", "o2"): 1.0,
        **{(f"o{row}", "cell:label 0"): pytest.approx(1 / 3) for row in range(3)},
    }


@pytest.mark.parametrize("form", ["cells", "both", "woven"])
def test_memberships_weigh_as_asked_in_every_form_with_cells_and_by_need_where_nobody_asks(form: str) -> None:
    cube = toy_cube([[0, 1, 2], [0, 3]], objects=5, links=[(0, 1), (0, 4), (1, 2)])
    found = {}
    for membership in (None, "unit", "share", "even", "need"):
        network = c2n.construct(cube, [0, 1], m=2, objective="coverage", form=form, membership=membership)
        assert network.settings["membership"] == c2n.pipeline.summary(network)["membership"] == (membership or "need")
        found[membership] = {ends: w for ends, w in weights_of(network).items() if ends[1].startswith("cell:")}
    assert found[None] == found["need"] and set(found["unit"].values()) == {1.0}
    for cell in ("cell:label 0", "cell:label 1"):
        assert sum(weight for ends, weight in found["share"].items() if ends[1] == cell) == pytest.approx(1.0)
    # The query has one link: the strength of both of its objects is 1, half of it is shared by an object's cells.
    for row in ("o0", "o1"):
        assert sum(weight for ends, weight in found["even"].items() if ends[0] == row) == pytest.approx(0.5)


def test_a_network_of_objects_has_no_memberships_and_a_weight_for_them_is_refused() -> None:
    network = c2n.construct(WOVEN, [0, 1], m=2, form="objects")
    assert network.settings["membership"] is None and c2n.pipeline.summary(network)["membership"] is None
    for wrong in ({"membership": "share"}, {"trust": 0.5}):
        with pytest.raises(ParameterError) as error:
            c2n.construct(WOVEN, [0, 1], m=2, form="objects", **wrong)
        name = next(iter(wrong))
        assert str(error.value) == f"{name} is about links to cells, and the form 'objects' has no cells as nodes"


def test_a_query_that_no_cell_helps_is_woven_into_its_near_objects() -> None:
    for near, objects in ((None, [4, 0]), (3, [4, 0, 1, 5]), (0, [4])):
        network = c2n.construct(WOVEN, [4], form="woven", near=near)
        assert network.objects.tolist() == objects and not len(network.cells)
        assert "the 1 object of the query is not in any cell" in network.selection.note


def test_a_query_whose_objects_share_no_cell_is_woven_into_its_near_objects_and_told_so() -> None:
    network = c2n.construct(WOVEN, [0, 1])
    assert network.objects.tolist() == [0, 1, 4, 5] and not len(network.cells)
    assert network.selection.note == "no cell serves 2 objects of the query that need it"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"near": 2, "form": "objects"},
            "near is about the near objects of the form 'woven', got the form 'objects'",
        ),
        ({"near": 2, "form": "both"}, "near is about the near objects of the form 'woven', got the form 'both'"),
        ({"near": 2, "method": "hops"}, "near is about the near objects of the form 'woven', got the form 'objects'"),
        (
            {"near_weight": 0.5, "form": "cells"},
            "near_weight is about the near objects of the form 'woven', got the form 'cells'",
        ),
        ({"near": -1, "form": "woven"}, "near is -1, expected 0 or more objects, or None"),
        ({"near": 1.5, "form": "woven"}, "near is 1.5, expected a whole number of 0 or more objects, or None"),
        ({"membership": "odd", "form": "cells"}, "unknown membership 'odd': choose one of even, need, share, unit"),
        ({"form": "weave"}, "unknown form 'weave': choose one of both, cells, objects, woven"),
        (
            {"form": "woven", "max_links": 3},
            "max_links limits the form 'objects', got the form 'woven': limit max_nodes instead",
        ),
        ({"form": "woven", "method": "hops"}, "the form 'woven' needs a method that chooses cells, and this one"),
    ],
    ids=str,
)
def test_a_form_that_cannot_be_is_refused_with_a_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        c2n.construct(WOVEN, [0, 1], **options)
    assert str(caught.value).startswith(sentence)


# A method's options


def test_options_of_a_method_given_by_its_name_are_keywords() -> None:
    by_name = c2n.construct(CUBE, [0, 1, 2], "greedy", m=1, by="price")
    by_object = c2n.construct(CUBE, [0, 1, 2], Greedy(by="price"), m=1)
    assert by_name.settings == by_object.settings
    assert by_name.settings["parameters"] == repr(Greedy(by="price"))
    assert len(c2n.construct(CUBE, [1], "hops", hops=2)) > len(c2n.construct(CUBE, [1], "hops"))
    assert c2n.construct(CUBE, [0, 1, 2], "auto", seconds=1.0).settings["chosen"] == "greedy · cover · woven"


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        ("hops", {"hop": 2}, "unknown option of the method 'hops' 'hop': choose one of fan_out, hops (did you mean "),
        ("none", {"size": 2}, "the method 'none' takes no options, got 'size'"),
        ("greedy", {"near_wieght": 1}, "construct has no parameter 'near_wieght' (did you mean 'near_weight'?)"),
        ("none", {"max_node": 1}, "construct has no parameter 'max_node' (did you mean 'max_nodes'?)"),
        ("auto", {"second": 1}, "unknown option of the method 'auto' 'second': choose one of embedding, folds, runs, "),
        ("gredy", {"by": "price"}, "unknown method 'gredy': choose one of "),
        ("hops", {"hops": 7}, "hops is 7, expected 1 or 2"),
        (
            Greedy(),
            {"by": "price"},
            f"the object {Greedy()!r} takes no options, got 'by': set it where the method is made",
        ),
        (Greedy(), {"prefx": "best"}, "construct has no parameter 'prefx' (did you mean 'prefix'?)"),
    ],
    ids=str,
)
def test_an_option_that_a_method_does_not_have_is_one_sentence(method: Any, options: dict, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        c2n.construct(CUBE, [0, 1], method, **options)
    assert str(caught.value).startswith(sentence)


def test_no_option_of_a_method_is_hidden_by_a_parameter_of_construct() -> None:
    own = set(signature(c2n.construct).parameters)
    for kind in (*c2n.METHODS.values(), c2n.Auto):
        assert not own & set(options_of(kind)), kind


# Slips


def test_a_path_in_place_of_a_cube_is_one_sentence(tmp_path: Path) -> None:
    for given in ("cube", tmp_path, None):
        for ask in (c2n.construct, c2n.compare, c2n.pipeline.weigh):
            with pytest.raises(ParameterError) as caught:
                ask(given, ["a"])
            assert str(caught.value).startswith("the cube is ") and "open_cube opens the folder of one" in str(
                caught.value
            )


def test_what_is_no_path_is_one_sentence(tmp_path: Path) -> None:
    network, corpus = c2n.construct(CUBE, [0]), c2n.make_planted(objects=60, seed=0).corpus
    (tmp_path / "nodes.csv").write_text("id,city\na,b\n")
    for ask in (
        lambda: c2n.save_cube(CUBE, None),
        lambda: c2n.open_cube(None),
        lambda: c2n.verify_cube(3),
        lambda: c2n.update_cube(None, corpus),
        lambda: c2n.build_cube(corpus, out=""),
        lambda: c2n.build_from("tables", tmp_path / "nodes.csv", out=None),
        lambda: c2n.read_source("tables", None),
        lambda: c2n.read_query(CUBE, None),
        lambda: c2n.pipeline.read_links(CUBE, 3.5),
        lambda: c2n.write_network(network, None),
        lambda: c2n.draw_network(network, None),
        lambda: c2n.compare(CUBE, [0, 1, 2], out=True),
        lambda: c2n.read_comparison(None, CUBE.query([0])),
    ):
        with pytest.raises(ParameterError) as caught:
            ask()
        assert str(caught.value).endswith(", expected a path, as a text or a Path")


def test_progress_may_be_none_in_every_function_that_tells_it(tmp_path: Path) -> None:
    for folder, names in (("old", "ac"), ("new", "de")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "nodes.csv").write_text("id,city\n" + "".join(f"{name},b\n" for name in names))
        (tmp_path / folder / "links.csv").write_text(f"source,target\n{names[0]},{names[1]}\n")
    options: dict[str, Any] = {"dimensions": ["city"], "min_objects": 1, "progress": None}
    c2n.build_cube(c2n.read_tables(tmp_path / "old", progress=None), **options)
    c2n.build_from("tables", tmp_path / "old", out=tmp_path / "cube", **options)
    more = c2n.read_source("tables", tmp_path / "new", progress=None)
    cube = c2n.update_cube(tmp_path / "cube", more, progress=None)
    assert len(c2n.construct(cube, ["a", "e"], progress=None)) > 2
    for name in c2n.__all__:
        told = signature(getattr(c2n, name)).parameters.get("progress") if isfunction(getattr(c2n, name)) else None
        assert told is None or told.default is None, name


# A query of another cube


def test_a_query_asked_of_another_cube_is_refused(tmp_path: Path) -> None:
    one, other = (c2n.make_planted(objects=60, communities=3, seed=seed) for seed in (0, 1))
    cube = c2n.build_cube(one.corpus, out=tmp_path / "one")
    query = cube.query(one.query(0))
    turned = other.corpus.objects.take(list(range(60))[::-1])
    wrong = c2n.build_cube(replace(other.corpus, objects=turned))
    for ask in (c2n.construct, c2n.pipeline.weigh, c2n.compare):
        with pytest.raises(QueryError) as caught:
            ask(wrong, query)
        assert str(caught.value).startswith("the query was made for another cube: row ")
    again = c2n.open_cube(tmp_path / "one")
    for same in (cube, again, c2n.cube.cuboid(cube, "one"), pickle.loads(pickle.dumps(again))):
        assert len(c2n.construct(same, pickle.loads(pickle.dumps(query)))) > len(query)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([0, 1], r"the method 'Own' chose \[0, 1\], expected a Selection"),
        (None, "the method 'Own' chose None, expected a Selection"),
        (Selection(np.array([2, 99_999]), 0.0), "the method 'Own' chose object 99999, and the cube has"),
        (Selection(np.array([-3, 2]), 0.0), "the method 'Own' chose object -3, and the cube has"),
        (
            Selection(np.array([2]), 0.0, cells=np.array([999]), values=np.array([0.5])),
            "the method 'Own' chose cell 999, and the cube has",
        ),
    ],
    ids=str,
)
def test_what_a_method_of_ones_own_chooses_is_checked_before_compiled_code_sees_it(given: Any, sentence: str) -> None:
    class Own:
        """A method that makes a mistake."""

        def select(self, cube: Cube, query: Query, **options: object) -> Any:
            return given

    with pytest.raises(InputError, match=sentence):
        c2n.construct(CUBE, [0, 1, 2], Own())


def test_the_rows_of_a_selection_are_whole_numbers() -> None:
    with pytest.raises(InputError, match=r"the objects of a selection are row numbers, got \[1.5, 2.5\]"):
        Selection(np.array([1.5, 2.5]), 0.0)
