"""What a cell adds is what the value says with and without it, and its lifts are plain counts."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net._util.statistics import share_interval
from cube2net.api.plan import METHODS
from cube2net.cube.cuboids import pick_cells
from cube2net.cube.views import roll_up
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.explanation import CellExplanation, ValueAccount
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.selection import CoverObjective, QueryObjective, Weights
from cube2net.selection.objectives import OBJECTIVES, FBeta

from leveled_cubes import brute_cells, leveled_cube
from toys import random_cube, toy_cube

CHOOSING = [name for name, kind in METHODS.items() if getattr(kind, "chooses_cells", True)]
QUICK: dict[str, dict[str, Any]] = {
    "cube2net": {"updates": 2, "trajectories": 4, "epochs": 1},
    "anneal": {"steps": 200, "restarts": 1},
}


def brute(worth: QueryObjective, cube: Cube, cells: list[int]) -> float:
    """Return what some cells are worth, by going through their members one by one."""
    held: dict[int, int] = {}
    for cell in cells:
        for row in cube.cells.members[cell].tolist():
            held[row] = held.get(row, 0) + 1
    if isinstance(worth, CoverObjective):
        most = math.inf if worth.most is None else worth.most
        return float(sum(min(most, held.get(row, 0)) for row in worth.objects.tolist()))
    return worth.value(np.array(sorted(held), dtype=np.int64))


def of_cell(network: Network, cell: int) -> CellExplanation:
    assert network.context is not None
    found = c2n.explain(network, network.context.cube.cell(cell))
    assert isinstance(found, CellExplanation)
    return found


def asked(network: Network) -> tuple[Cube, QueryObjective]:
    assert network.context is not None
    return network.context.cube, network.context.worth


@pytest.fixture(scope="module")
def small() -> Network:
    cube = toy_cube([[0, 1, 2, 8], [2, 3, 9, 10], [4, 5, 6, 7], [0, 10, 11]], objects=12)
    return c2n.construct(cube, cube.query([0, 1, 2, 3]), n_cells=2, form="objects")


def test_what_a_cell_adds_is_told_in_its_turn_alone_and_last(small: Network) -> None:
    assert [list(labels) for labels in small.labels] == [["label 0"], ["label 1"]]
    first, second = (of_cell(small, int(cell)) for cell in small.selection.cells)
    assert (first.rank, first.in_turn, first.alone) == (1, 3 / 5, 3 / 5)
    assert first.last == 4 / 7 - 2 / 6
    assert (second.rank, second.in_turn, second.alone, second.last) == (2, 4 / 7 - 3 / 5, 2 / 6, 4 / 7 - 3 / 5)
    assert (first.objects, first.query_objects, first.only, first.only_query) == (4, 3, 3, 2)
    assert [each.id for each in first.only_first] == ["o0", "o1", "o8"]
    assert [each.in_query for each in first.only_first] == [True, True, False]


def test_a_cell_that_is_not_chosen_says_what_it_would_add_and_why_it_was_not(small: Network) -> None:
    out = of_cell(small, 2)
    assert (out.chosen, out.rank, out.in_turn) == (False, None, None)
    assert out.last == 4 / 11 - 4 / 7
    assert out.why_not.startswith("n_cells is 2, and the last cell added -0.0286")
    assert out.sentence.startswith("⟨label 2⟩ is not chosen because n_cells is 2")
    assert of_cell(small, 3).before == 0 and out.before == 1


def test_a_cell_that_serves_too_few_is_told_so() -> None:
    cube = toy_cube([[0, 1, 2], [2, 3], [3]], objects=5)
    network = c2n.construct(cube, cube.query([0, 1, 3]), form="cells")
    assert of_cell(network, 2).why_not == "it would serve 1 of the query, and a cell has to serve 2"


def test_a_cell_that_does_not_fit_is_told_so() -> None:
    cube = toy_cube([[0, 1], [0, 2, 3, 4]], objects=5, links=[(0, 2), (0, 1), (2, 3), (0, 3)])
    limited = c2n.construct(cube, cube.query([0, 1]), form="objects", max_nodes=3)
    assert of_cell(limited, 1).why_not == "with it there are 5 objects, and max_nodes is 3"
    linked = c2n.construct(cube, cube.query([0, 1]), form="objects", options=c2n.NetworkOptions(max_links=2))
    assert of_cell(linked, 1).why_not == "with it there are 4 links, and max_links is 2"


def test_lifts_are_shares_of_the_query_and_of_all(small: Network) -> None:
    (lift,) = of_cell(small, 0).label_lifts
    assert (lift.dimension, lift.label, lift.query, lift.everyone) == ("group", "label 0", 3, 4)
    assert lift.lift == (3 / 4) / (4 / 12)
    low, high = share_interval(3, 4)
    assert (lift.low, lift.high) == (low / (4 / 12), high / (4 / 12))
    assert of_cell(small, 0).lift.lift == lift.lift


@pytest.mark.parametrize("levels", ["one", "topic", ["venue,topic", "decade"], "rolled up"])
def test_cells_of_other_levels_are_told_by_their_objects_in_the_whole_cube(levels: Any) -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0.3, seed=3)
    cube = c2n.build(planted.corpus, min_objects=5)
    view = roll_up(cube, "decade", "∗") if levels == "rolled up" else cube
    network = c2n.construct(
        view,
        planted.query(0),
        n_cells=4,
        options=c2n.NetworkOptions(levels="full" if levels == "rolled up" else levels),
    )
    own, small = ([cells.members[at].tolist() for at in range(len(cells))] for cells in (cube.cells, cube.small))
    labels = [
        [d.labels[number] for d, number in zip(cube.dimensions, row, strict=True)]
        for cells in (cube.cells, cube.small)
        for row in cells.labels.tolist()
    ]
    assert network.labels
    for rank, wanted in enumerate(network.labels, 1):
        held = {
            row
            for names, members in zip(labels, own + small, strict=True)
            if all(mine in ("∗", name) for mine, name in zip(wanted, names, strict=True))
            for row in members
        }
        found = c2n.explain(network, wanted)
        assert isinstance(found, CellExplanation)
        assert str(found) == str(c2n.explain(network, " / ".join(wanted)))
        assert (found.rank, found.objects) == (rank, len(held))
        assert found.query_objects == len(held & set(network.query.objects.tolist()))
        assert {each.label for each in found.label_lifts} == set(wanted) - {"∗"}
    account = c2n.explain(network)
    assert account.cells[-1].value == account.value == network.selection.value


def test_a_label_counts_in_cells_that_are_too_small_too() -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0.3, seed=3)
    cube = c2n.build(planted.corpus, min_objects=20)
    assert len(cube.small)
    network = c2n.construct(cube, planted.query(0), n_cells=2, form="objects")
    found = of_cell(network, int(network.selection.cells[0]))
    for column, lift in enumerate(found.label_lifts):
        label = cube.dimensions[column].labels.index(lift.label)
        having = {
            row
            for cells in (cube.cells, cube.small)
            for number in range(len(cells))
            if cells.labels[number, column] == label
            for row in cells.members[number].tolist()
        }
        assert (lift.everyone, lift.query) == (len(having), len(having & set(network.query.objects.tolist())))
        assert lift.low <= lift.lift <= lift.high


@pytest.mark.parametrize("seed", range(6))
def test_of_picked_cells_the_lifts_are_counted_in_the_cube_that_they_were_picked_from(seed: int) -> None:
    cube = leveled_cube(seed)
    holders = brute_cells(cube)
    cells = [tuple("∗" if entry is None else entry[1] for entry in entries) for entries in list(holders)[::5]]
    query = cube.query(list(range(0, 24, 2)))
    network = c2n.construct(pick_cells(cube, cells), query, n_cells=len(cells), form="cells")
    for number, entries in enumerate(list(holders)[::5]):
        lifts = {(each.dimension, each.label): each for each in of_cell(network, number).label_lifts}
        assert list(lifts) == [entry for entry in entries if entry is not None]
        for (level, label), lift in lifts.items():
            alone = next(one for one in holders if [each for each in one if each] == [(level, label)])
            assert (lift.everyone, lift.query) == (len(holders[alone]), sum(row % 2 == 0 for row in holders[alone]))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("method", CHOOSING)
def test_the_parts_of_an_account_add_up_to_the_value_to_the_bit(method: str, objective: str) -> None:
    if objective == "cover" and method not in ("greedy", "exact"):
        return
    for seed in range(3):
        cube = random_cube(seed)
        options = QUICK.get(method, {})
        network = c2n.api.construct_by_name(
            cube, cube.query(list(range(0, 40, 4))), method, n_cells=4, objective=objective, **options
        )
        account = c2n.explain(network)
        assert account.total() == network.selection.value
        assert [cell.added for cell in account.cells] == pytest.approx(
            [of_cell(network, cell.number).in_turn for cell in account.cells], abs=0
        )
        assert sum(cell.new_objects for cell in account.cells) == len(network.selection.objects)


@given(st.integers(0, 10**6), st.floats(0.1, 5), st.integers(1, 6))
def test_sums_that_round_add_up_to_the_bit_too(seed: int, beta: float, m: int) -> None:
    cube = random_cube(seed % 50)
    rows = np.random.default_rng(seed).choice(40, 9, replace=False)
    network = c2n.construct(cube, cube.query(rows.tolist()), n_cells=m, objective=FBeta(beta=beta), form="objects")
    assert c2n.explain(network).total() == network.selection.value


@given(
    st.integers(0, 10**6), st.sampled_from(["jaccard", "fbeta", "coverage", "precision", "cover"]), st.integers(1, 5)
)
def test_what_a_cell_adds_is_what_going_through_all_members_says(seed: int, objective: str, m: int) -> None:
    cube = random_cube(seed % 97)
    query = cube.query(np.random.default_rng(seed).choice(40, 8, replace=False).tolist())
    network = c2n.construct(cube, query, n_cells=m, objective=objective, form="cells")
    view, worth = asked(network)
    chosen = network.selection.cells.tolist()
    for cell in range(len(view.cells)):
        found = of_cell(network, cell)
        others = [other for other in chosen if other != cell]
        with_it = brute(worth, view, [*others, cell])
        assert found.last == pytest.approx(with_it - brute(worth, view, others), abs=1e-12)
        assert found.alone == pytest.approx(brute(worth, view, [cell]) - brute(worth, view, []), abs=1e-12)
        alone = set(view.cells.members[cell].tolist()).difference(*(view.cells.members[o].tolist() for o in others))
        assert found.only == len(alone)
        if found.before is not None:
            free = set(range(len(view.cells))) - {*chosen, cell}
            touching = [o for o in free if set(view.cells.members[o].tolist()) & set(query.objects.tolist())]
            better = [o for o in touching if brute(worth, view, [*chosen, o]) > with_it + 1e-12]
            assert found.before == len(better)


def test_a_function_of_ones_own_is_told_step_by_step() -> None:
    cube = random_cube(4)
    network = c2n.construct(
        cube, cube.query([0, 4, 8]), n_cells=3, objective=lambda objects, query: len(objects) ** 0.5, form="objects"
    )
    account = c2n.explain(network)
    assert account.total() == network.selection.value and account.gain0 is None
    view, worth = asked(network)
    assert not isinstance(worth, Weights)
    chosen = network.selection.cells.tolist()
    last = of_cell(network, chosen[0]).last
    assert last == brute(worth, view, chosen) - brute(worth, view, chosen[1:])


@pytest.mark.parametrize("method", ["none", "hops", "pagerank", "steiner", "maxdisc"])
def test_an_account_without_cells_is_that_of_the_objects_brought(method: str) -> None:
    cube = random_cube(2)
    network = c2n.construct(cube, Query(np.array([1, 5, 9])), method, objective="fbeta")
    account = c2n.explain(network)
    assert isinstance(account, ValueAccount)
    assert (account.total(), account.objects) == (network.selection.value, len(network.selection.objects))
    more = len(network.objects) - 3
    sentence = f"{more} objects were added by the method {method}, which chooses no cells"
    assert account.sentence == (sentence if more else f"the method {method} added no objects and chooses no cells")
    assert repr(account) == f"ValueAccount({more} objects by {method}, no cells)"
    pinned = c2n.construct(cube, Query(np.array([1, 5, 9])), method, pins=["o30"])
    assert str(c2n.explain(pinned)).endswith("chooses no cells, and 1 object is pinned")
    for row in (5, int(network.objects[-1]), 30):
        found = c2n.explain(network, f"o{row}")
        assert "chosen cell" not in str(found) and "chosen cell" not in repr(found)


def test_an_account_without_cells_says_why_none_is_chosen() -> None:
    people = pa.table({"id": list(range(6)), "city": ["Rome"] * 6})
    links = pa.table({"source": [0, 1, 2], "target": [1, 2, 3]})
    cube = c2n.build(people, links=links, dimensions=["city"], min_objects=10)
    network = c2n.construct(cube, [0, 1])
    found = c2n.explain(network)
    assert network.selection.note.startswith("none of the 2 objects of the query is in any cell")
    assert str(found) == f"cover is 0: {network.selection.note}" == found.to_dict()["sentence"]
    assert found.to_dict()["note"] == network.selection.note


def test_a_cube_is_no_network_and_the_way_to_one_is_told() -> None:
    cube = toy_cube([[0, 1]], objects=3, links=[(0, 1)])
    sentence = r"^explain takes a network and got a cube: .*c2n\.explain\(c2n\.construct\(cube, query\), node\)$"
    for options in ({}, {"node": "o1"}):
        with pytest.raises(ParameterError, match=sentence):
            c2n.explain(cube, [0], **options)
