"""What becomes of a network without a part of it, or with more: against building it anew, and against brute force."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.api.construct import KNOWN, build_network, choose
from cube2net.api.plan import plan_network
from cube2net.api.what_if import change
from cube2net.model.cube import Cube
from cube2net.model.network import Network, network_fingerprint
from cube2net.model.node_names import Node
from cube2net.options import NetworkOptions

from toys import random_cube, sent, toy_cube

ASKED = {
    "default": {},
    "jaccard": {"form": "objects", "n_cells": 3},
    "cells+objects": {"form": "cells+objects", "n_cells": 4},
    "linked": {"objective": "linked", "n_cells": 3, "form": "objects"},
    "exact": {"method": "exact", "n_cells": 3},
    "exact jaccard": {"method": "exact", "objective": "jaccard", "n_cells": 3},
    "limited": {"max_nodes": 14},
}
QUERY = [f"o{number}" for number in range(0, 40, 4)]


def made(cube: Cube, name: str, **more: object) -> Network:
    return c2n.api.construct_by_name(cube, cube.query(QUERY), **ASKED[name], **more)


def same(one: Network, other: Network) -> bool:
    """Return whether two networks are the same, to the byte, and worth the same."""
    return network_fingerprint(one) == network_fingerprint(other) and (
        one.selection.value,
        one.selection.cells.tolist(),
        one.selection.values.tolist(),
    ) == (other.selection.value, other.selection.cells.tolist(), other.selection.values.tolist())


def worth(cube: Cube, name: str, cells: list[int], forbidden: set[int]) -> float:
    """Return what cells are worth, added up by hand: cover with r = 3, or jaccard."""
    query = set(cube.query(QUERY).objects.tolist())
    members = [set(cube.cells.members[cell].tolist()) - forbidden for cell in cells]
    if name in ("default", "exact", "limited"):
        return float(sum(min(3, sum(one in held for held in members)) for one in query))
    brought = set().union(*members)
    return len(brought & query) / len(brought | query)


@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), place=st.integers(0, 20))
def test_without_a_cell_it_is_the_network_built_with_the_ban(name: str, seed: int, place: int) -> None:
    cube = random_cube(seed)
    network = made(cube, name)
    if not len(network.selection.cells):
        return
    cell = int(network.selection.cells[place % len(network.selection.cells)])
    found = network.without(Node("cell", cell))
    assert same(found.network, made(cube, name, bans=[cube.cell(cell)]))
    assert (found.before, found.value) == (network.selection.value, found.network.selection.value)
    assert cell not in found.network.selection.cells
    if name != "linked":
        left = [each for each in network.selection.cells.tolist() if each != cell]
        assert found.merely == pytest.approx(worth(cube, name, left, set()))


@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), cell=st.integers(0, 11))
def test_with_a_cell_it_is_the_network_built_with_the_pin(name: str, seed: int, cell: int) -> None:
    cube = random_cube(seed)
    network = made(cube, name)
    found = network.including(Node("cell", cell))
    assert same(found.network, made(cube, name, pins=[cube.cell(cell)]))
    assert cell in found.network.selection.cells
    if name != "linked":
        together = sorted({*network.selection.cells.tolist(), cell})
        assert found.merely == pytest.approx(worth(cube, name, together, set()))


@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), place=st.integers(0, 30))
def test_without_an_object_it_is_the_network_built_with_the_ban(name: str, seed: int, place: int) -> None:
    cube = random_cube(seed)
    network = made(cube, name)
    others = network.objects[len(network.query) :]
    if not len(others):
        return
    row = int(others[place % len(others)])
    found = network.without(f"o{row}")
    assert same(found.network, made(cube, name, bans=[f"o{row}"]))
    assert row not in found.network.objects
    if name != "linked":
        assert found.merely == pytest.approx(worth(cube, name, network.selection.cells.tolist(), {row}))


@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), place=st.integers(0, 30))
def test_with_an_object_it_is_the_network_built_with_the_pin(name: str, seed: int, place: int) -> None:
    cube = random_cube(seed)
    network = made(cube, name)
    others = np.setdiff1d(np.arange(len(cube.objects)), network.objects)
    row = int(others[place % len(others)])
    if name == "limited" and len(network) >= 14 and not len(network.objects) > len(network.query):
        return
    found = network.including(f"o{row}")
    assert same(found.network, made(cube, name, pins=[f"o{row}"]))
    assert row in found.network.objects and any(each.node == Node("object", row) for each in found.entered)


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_the_value_of_exact_is_the_best_of_all_choices_that_leave_a_cell_out(seed: int) -> None:
    cube = random_cube(seed, cells=8)
    network = made(cube, "exact jaccard")
    gone = int(network.selection.cells[0])
    found = network.without(Node("cell", gone))
    free = [cell for cell in range(8) if cell != gone]
    choices = (list(some) for count in (1, 2, 3) for some in combinations(free, count))
    assert found.value == pytest.approx(max(worth(cube, "jaccard", some, set()) for some in choices))
    assert found.proven_before and found.proven and found.bound == pytest.approx(found.value)
    assert "still proven best" in found.sentence


@pytest.mark.parametrize("name", ["default", "jaccard", "exact"])
def test_who_came_and_who_went_is_what_differs_between_the_networks(name: str) -> None:
    cube = random_cube(5)
    network = made(cube, name)
    found = network.without([cube.cell(int(network.selection.cells[0])), cube.cell(int(network.selection.cells[1]))])
    for nodes, one, other in ((found.entered, found.network, network), (found.left, network, found.network)):
        for is_cell, of, there in (
            (True, one.selection.cells, other.selection.cells),
            (False, one.objects, other.objects),
        ):
            told = {each.node.number for each in nodes if each.node.is_cell == is_cell}
            assert told == set(of.tolist()) - set(there.tolist())


def test_an_object_of_the_query_leaves_the_query_and_its_label_goes_too() -> None:
    cube = random_cube(1)
    labels = {name: f"label of {name}" for name in QUERY}
    network = c2n.construct(cube, labels)
    found = network.without("o4")
    rest = {name: label for name, label in labels.items() if name != "o4"}
    assert same(found.network, c2n.construct(cube, rest, bans=["o4"]))
    assert found.network.query.labels == tuple(rest.values())
    assert found.network.names.ids(found.network.query.objects).to_pylist() == list(rest)
    assert "o4" not in found.network
    with pytest.raises(c2n.Cube2netError, match="the query has no object but the 10 named: leave one of them in"):
        network.without(QUERY)


LINE = [(number, number + 1) for number in range(19)]
THREE = ["o0", "o1", "o2"]


def test_what_is_out_and_what_is_in_changes_nothing_and_that_is_said() -> None:
    cube = toy_cube([[0, 1, 2], [1, 2, 5], [6, 7]], objects=9, links=[(0, 1), (1, 2), (2, 3)])
    network = c2n.construct(cube, THREE)
    found = network.without(("label 2",))
    assert (str(found), same(found.network, network)) == ("⟨label 2⟩ is not in the network: nothing changes", True)
    assert str(network.without(["o7", ("label 2",)])).startswith("Object 7 and ⟨label 2⟩ are not in the network")
    assert str(network.including("o0")) == "Object 0 is in the network already: nothing changes"
    assert found.merely == found.value == found.before and found.entered == found.left == ()


def test_an_object_outside_that_made_a_cell_too_dear_changes_the_choice_when_it_goes() -> None:
    cube = toy_cube([[0, 1], [0, 1, 2, 10, 11]], objects=20, links=LINE)
    asked = {"method": "exact", "n_cells": 1, "form": "objects"}
    network = c2n.api.construct_by_name(cube, THREE, **asked)
    found = network.without("o10")
    assert same(found.network, c2n.api.construct_by_name(cube, THREE, bans=["o10"], **asked))
    assert (found.changed, found.before, found.value) == (True, pytest.approx(2 / 3), 0.75)
    assert str(found) == (
        "without Object 10 the jaccard rises from 0.6667 to 0.7500: ⟨label 1⟩ comes in, ⟨label 0⟩ leaves, "
        "Object 11 comes in, with nothing chosen anew it would be 0.6667; still proven best"
    )


@pytest.mark.parametrize("name", [*ASKED, "random"])
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), number=st.integers(0, 11), row=st.integers(0, 39), out=st.booleans())
def test_whatever_is_asked_is_answered_as_construct_does(
    name: str, seed: int, number: int, row: int, out: bool
) -> None:
    cube = random_cube(seed)
    asked = ASKED.get(name, {"method": "random", "n_cells": 3})
    network = c2n.api.construct_by_name(cube, cube.query(QUERY), **asked)
    nodes = [Node("cell", number), *([Node("object", row)] if f"o{row}" not in QUERY else [])]
    word = "bans" if out else "pins"
    try:
        wanted = c2n.api.construct_by_name(cube, cube.query(QUERY), **asked, **{word: nodes})
    except c2n.Cube2netError:
        return
    found = network.without(nodes) if out else network.including(nodes)
    assert same(found.network, wanted)
    assert getattr(found.network.context.steering, word) == tuple(nodes)
    assert found.changed == ("nothing changes" not in str(found))
    if not found.changed:
        assert set(network.objects) == set(wanted.objects) and set(network.labels) == set(wanted.labels)
        assert network.selection.value == pytest.approx(wanted.selection.value)
        assert np.array_equal(np.sort(network.weight), np.sort(wanted.weight))


def test_an_object_that_cells_hold_counts_only_where_it_has_a_cost() -> None:
    cube = toy_cube([[0, 1, 2, 5], [1, 2, 6]], objects=9, links=[(0, 1), (1, 2)])
    cover, jaccard = (c2n.construct(cube, THREE, objective=name) for name in ("cover", "jaccard"))
    assert all(5 not in network.objects and 5 in network.selection.objects for network in (cover, jaccard))
    assert str(cover.without("o5")) == "Object 5 is not in the network: nothing changes"
    found = jaccard.without("o5")
    assert found.changed and found.value > found.before


def test_what_changes_nothing_is_kept_by_the_changes_after_it() -> None:
    cube = toy_cube([[0, 1], [0, 1, 2, 10, 11], [2]], objects=20, links=LINE)
    network = c2n.construct(cube, THREE, "exact", n_cells=1, form="objects")
    out = network.without(("label 1",))
    assert not out.changed and out.network.recipe.parameters["bans"] == [{"cell": ["label 1"]}]
    assert out.network.without(("label 0",)).network.labels == (("label 2",),)
    kept = network.including(("label 0",))
    assert not kept.changed
    assert kept.network.without("o10").network.labels == (("label 0",),)


def test_one_goes_and_another_comes_at_once() -> None:
    cube = random_cube(2)
    network = made(cube, "jaccard")
    gone, come = int(network.selection.cells[0]), next(c for c in range(12) if c not in network.selection.cells)
    found = change(network, without=[cube.cell(gone)], with_=[cube.cell(come)])
    assert same(found.network, made(cube, "jaccard", bans=[cube.cell(gone)], pins=[cube.cell(come)]))
    assert found.sentence.startswith(f"without ⟨label {gone}⟩ and with ⟨label {come}⟩ the jaccard ")


def test_a_change_of_a_change_keeps_what_was_asked_before() -> None:
    cube = random_cube(3)
    network = made(cube, "default")
    first, second = (cube.cell(int(cell)) for cell in network.selection.cells[:2])
    twice = network.without(first).network.without(second)
    assert same(twice.network, network.without([first, second]).network)
    back = twice.network.including([first, second]).network
    assert {first, second} <= set(back.labels)


def test_what_is_left_out_is_no_longer_preferred() -> None:
    cube = random_cube(3)
    network = made(cube, "default", prefer=["o1", "o2"])
    assert same(network.without("o1").network, made(cube, "default", prefer=["o2"], bans=["o1"]))


def test_a_pin_that_made_fewer_cells_fit_gives_their_places_back() -> None:
    cube = toy_cube([[0, 1, 2]] * 3 + [[0, 1]], objects=20, links=LINE)
    asked = {"form": "cells", "max_nodes": 6}
    free, pinned = (
        c2n.api.construct_by_name(cube, THREE, **asked),
        c2n.api.construct_by_name(cube, THREE, pins=["o15"], **asked),
    )
    assert (free.selection.value, pinned.selection.value) == (9.0, 6.0)
    assert [price.price for price in pinned.pin_costs()] == [3.0]
    assert pinned.without("o15").value == 9.0
    assert same(pinned.without("o15").network, c2n.api.construct_by_name(cube, THREE, bans=["o15"], **asked))


def test_pins_that_made_room_for_themselves_take_it_with_them() -> None:
    cube = toy_cube([[0, 1], [0, 1, 2, 10, 11], [2]], objects=20, links=LINE)
    pins = [("label 0",), ("label 1",)]
    network = c2n.construct(cube, ["o0"], pins=pins, form="cells")
    assert network.context.budget.n_cells == 2 and network.recipe.parameters["n_cells"] is None
    found = network.without(pins[1])
    assert same(found.network, c2n.construct(cube, ["o0"], pins=pins[:1], bans=pins[1:], form="cells"))
    assert found.network.context.budget.n_cells == 1


@pytest.mark.parametrize("method", ["greedy", "exact", "random"])
@pytest.mark.parametrize("objective", ["jaccard", "cover", "linked"])
def test_pins_that_leave_nothing_to_choose_are_their_own_bound(method: str, objective: str) -> None:
    cube = toy_cube([[0, 1], [0, 1, 2, 10, 11], [2]], objects=20, links=LINE)
    asked = {"objective": objective, "form": "objects", "bound": True}
    full = c2n.api.construct_by_name(cube, THREE, method, n_cells=1, pins=[("label 1",)], **asked).selection
    assert (full.bound, full.proven, "no bound" in full.note) == (full.value, True, False)
    alone = c2n.api.construct_by_name(
        cube, THREE, method, n_cells=2, pins=[("label 1",)], bans=[("label 0",), ("label 2",)], **asked
    )
    assert "no cells were chosen" not in alone.selection.note
    if objective != "cover":
        assert alone.selection.bound == alone.selection.value


def test_a_bound_from_before_holds_for_fewer_choices() -> None:
    cube = random_cube(7)
    network = made(cube, "jaccard", bound=True)
    for cell in network.selection.cells.tolist():
        found = network.without(Node("cell", cell))
        assert found.bound is not None and found.value <= found.bound <= network.selection.bound
        assert found.network.selection.bound is not None


def test_near_objects_are_known_of_a_few_steerings_and_no_more() -> None:
    cube = random_cube(6)
    near: dict[tuple[object, ...], np.ndarray] = {}
    for row in [1, 2, 3, 5, 6, 7, 1]:
        asked = plan_network(cube, cube.query(QUERY), NetworkOptions(bans=[f"o{row}"]))
        assert same(build_network(asked, choose(asked), cache=near), made(cube, "default", bans=[f"o{row}"]))
        assert 1 <= len(near) <= KNOWN


def test_a_method_without_cells_can_be_asked_about_objects() -> None:
    cube = random_cube(4)
    network = c2n.construct(cube, cube.query(QUERY), c2n.methods.PageRank(top=5))
    row = int(network.objects[-1])
    found = network.without(f"o{row}")
    assert row not in found.network.objects and len(found.network) == len(network)
    assert found.sentence.startswith(f"without Object {row}: Object ") and found.sentence.endswith(" comes in")
    with pytest.raises(c2n.Cube2netError, match="the method 'pagerank' chooses no cells"):
        network.including(("label 1",))


def test_a_network_that_has_travelled_needs_its_cube() -> None:
    cube = random_cube(4)
    network = made(cube, "default")
    travelled = sent(network)
    with pytest.raises(c2n.Cube2netError, match="give the cube"):
        travelled.without(network.labels[0])
    assert same(travelled.without(network.labels[0], cube=cube).network, network.without(network.labels[0]).network)


@pytest.mark.parametrize(
    ("nodes", "sentence"),
    [
        ([], "no cell and no object is named"),
        ("nobody", "nobody"),
        (("label 77",), "label 77"),
        (Node("cell", 99), "the cube has 12 cells"),
    ],
)
def test_what_names_nothing_is_refused(nodes: object, sentence: str) -> None:
    with pytest.raises(c2n.Cube2netError, match=sentence):
        made(random_cube(0), "default").without(nodes)


def test_a_change_is_plain_values_as_json_has_it() -> None:
    cube = random_cube(5)
    network = made(cube, "default")
    found = network.without(network.labels[0])
    told = json.loads(json.dumps(found.to_dict()))
    assert told["without"] == [{"kind": "cell", "labels": list(network.labels[0])}]
    assert (told["before"], told["value"], told["merely"]) == (found.before, found.value, found.merely)
    assert told["sentence"] == str(found) and repr(found) == f"Change({found})"
    assert [each["kind"] for each in told["left"]] == [each.node.kind for each in found.left]
    assert np.isfinite(told["nodes"])
