from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import links_from_pairs
from cube2net.errors import ParameterError
from cube2net.model.network import Form, Network
from cube2net.model.query import Query
from cube2net.model.selection import Selection
from cube2net.network.assembly import assemble, take_first_cells
from cube2net.options import FORMS, MEMBERSHIP_WEIGHTS

from toys import random_cube, toy_cube

# Cells 0 to 3; object 6 has no links, object 7 is in no cell.
CUBE = toy_cube(
    [[1, 2], [2, 3, 6], [4, 5], [1, 3]],
    objects=8,
    links=[(1, 3), (1, 4), (2, 3), (2, 5), (3, 7), (4, 5)],
)
QUERY = Query(np.array([1, 4]))
# Cell 1 first, then cell 0: M is 1, 2, 3, 6.
CHOSEN = Selection(np.array([1, 2, 3, 6]), 0.2, cells=np.array([1, 0]), values=np.array([0.0, 0.2]))


def ends(network: Network) -> set[tuple[int, int, float]]:
    return set(zip(network.source.tolist(), network.target.tolist(), network.weight.tolist(), strict=True))


def test_the_form_objects_is_the_query_and_the_brought_with_all_their_links() -> None:
    network = assemble(CUBE, QUERY, CHOSEN)
    assert network.objects.tolist() == [1, 4, 2, 3, 6] and network.cells.tolist() == []
    assert ends(network) == {(0, 1, 1.0), (0, 3, 1.0), (2, 3, 1.0)}
    assert [network.brought_by[i].tolist() for i in range(5)] == [[1], [], [0, 1], [0], [0]]
    assert network.query_links.tolist() == [1, 1, 0, 1, 0]
    assert network.labels == (("label 1",), ("label 0",)) and network.dimensions == ("group",)
    assert network.nodes.to_arrow()["cells"].to_pylist() == [[2], [], [1, 2], [1], [1]]
    assert repr(network) == "Network(5 objects, 3 links, 2 in the query)"


def test_the_form_cells_is_the_query_and_the_cells_that_hold_it() -> None:
    network = assemble(CUBE, QUERY, CHOSEN, Form("cells", membership_weights="unit"))
    assert network.objects.tolist() == [1, 4] and network.cells.tolist() == [1, 0]
    assert ends(network) == {(0, 1, 1.0), (0, 3, 1.0)}
    assert network.query_links.tolist() == [1, 1]
    assert network.links.to_arrow()["kind"].to_pylist() == ["link", "membership"]
    assert list(network) == ["o1", "o4", "cell:label 1", "cell:label 0"]


def test_the_form_both_has_all_objects_all_cells_and_every_membership() -> None:
    network = assemble(CUBE, QUERY, CHOSEN, Form("cells+objects", membership_weights="unit"))
    assert network.objects.tolist() == [1, 4, 2, 3, 6] and network.cells.tolist() == [1, 0]
    links = {(0, 1, 1.0), (0, 3, 1.0), (2, 3, 1.0)}
    assert ends(network) == links | {(2, 5, 1.0), (3, 5, 1.0), (4, 5, 1.0), (0, 6, 1.0), (2, 6, 1.0)}


def test_shared_memberships_of_a_cell_weigh_one_together() -> None:
    network = assemble(CUBE, QUERY, CHOSEN, Form("cells+objects", membership_weights="share"))
    third = float(np.float32(1 / 3))
    assert {(s, t, w) for s, t, w in ends(network) if t >= 5} == {
        (2, 5, third),
        (3, 5, third),
        (4, 5, third),
        (0, 6, 0.5),
        (2, 6, 0.5),
    }


def test_the_form_hybrid_has_the_query_the_cells_and_the_nearest_objects_instead_of_those_brought() -> None:
    form = Form("hybrid", membership_weights="unit", neighbor_weight=0.5)
    network = assemble(CUBE, QUERY, CHOSEN, form, nearest=np.array([5, 2]))
    assert network.objects.tolist() == [1, 4, 2, 5] and network.cells.tolist() == [1, 0]
    # A link weighs half for each end outside the query.
    links = {(0, 1, 1.0), (1, 3, 0.5), (2, 3, 0.25)}
    assert ends(network) == links | {(2, 4, 1.0), (0, 5, 1.0), (2, 5, 1.0)}


def test_even_memberships_of_an_object_weigh_together_the_weight_of_cells_times_a_typical_objects_links() -> None:
    network = assemble(CUBE, Query(np.array([1, 3, 4, 7])), CHOSEN, Form("cells+objects", cell_weight=0.5))
    # Within the query 1–3, 1–4 and 3–7 are linked: strengths 2, 2, 1, 1, their median 1.5, times 0.5.
    weights = {}
    for source, target, weight in ends(network):
        if target >= len(network.objects):
            weights.setdefault(int(network.objects[source]), []).append(weight)
    assert weights == {1: [0.75], 2: [0.375, 0.375], 3: [0.75], 6: [0.75]}
    apart = assemble(CUBE, Query(np.array([2, 6])), CHOSEN, Form("cells", cell_weight=0.5))
    assert sorted(weight for _, _, weight in ends(apart)) == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("weight", [1e-38, 3e38])
def test_weights_are_numbers_however_large_or_small_the_links_are(weight: float) -> None:
    links = links_from_pairs(np.array([1, 1, 3]), np.array([3, 4, 7]), np.full(3, weight, np.float32), 8)
    cube = replace(CUBE, links=links)
    for kind in FORMS:
        for membership_weights in MEMBERSHIP_WEIGHTS:
            nearest = np.array([3]) if kind == "hybrid" else None
            network = assemble(cube, QUERY, CHOSEN, Form(kind, membership_weights=membership_weights), nearest=nearest)
            assert bool(np.isfinite(network.weight).all()) and float(network.weight.min()) >= 0


def test_the_first_cells_that_fit_are_kept_with_their_objects() -> None:
    # The query and cell 1 have 1, 4, 2, 3 and 6; cell 0 brings nobody more.
    for nodes, cells in ((7, [1, 0]), (6, [1]), (5, []), (0, [])):
        found = take_first_cells(CUBE, QUERY, CHOSEN, nodes, 0.1)
        assert found.cells.tolist() == cells
        assert found.objects.tolist() == sorted({o for cell in cells for o in CUBE.cells.members[cell].tolist()})
        assert found.value == (found.values[-1] if cells else 0.1)


def test_nearest_objects_are_for_the_form_hybrid_and_it_needs_them() -> None:
    for form, nearest in (("cells+objects", np.array([5])), ("hybrid", None)):
        with pytest.raises(ParameterError, match="the nearest objects are for the form 'hybrid', which needs them"):
            assemble(CUBE, QUERY, CHOSEN, form, nearest=nearest)


def test_keeping_only_the_linked_leaves_out_brought_objects_without_a_link() -> None:
    network = assemble(CUBE, Query(np.array([1, 6, 7])), CHOSEN, Form("objects", keep_unlinked=False))
    assert network.objects.tolist() == [1, 6, 7, 2, 3]
    apart = Selection(np.array([0, 6]), 0.0, cells=np.array([1]), values=np.array([0.0]))
    network = assemble(CUBE, QUERY, apart, Form("cells+objects", membership_weights="unit", keep_unlinked=False))
    assert network.objects.tolist() == [1, 4] and ends(network) == {(0, 1, 1.0)}
    late = Selection(np.array([0, 3]), 0.0)
    assert ends(assemble(CUBE, QUERY, late, Form("objects", keep_unlinked=False))) == {(0, 1, 1.0), (0, 2, 1.0)}


@pytest.mark.parametrize("form", ["objects", "cells", "cells+objects"])
def test_a_selection_of_nothing_is_the_query_alone_in_every_form(form: str) -> None:
    network = assemble(CUBE, QUERY, Selection(np.array([], dtype=np.int32), 0.0), form)
    assert network.objects.tolist() == [1, 4] and len(network) == 2 and ends(network) == {(0, 1, 1.0)}
    assert network.form == form


@pytest.mark.parametrize("form", ["cells", "cells+objects"])
def test_a_form_with_cells_needs_a_method_that_chooses_cells(form: str) -> None:
    with pytest.raises(ParameterError) as error:
        assemble(CUBE, QUERY, Selection(np.array([1, 2, 3]), 0.0), form)
    assert str(error.value) == (
        f"the form {form!r} needs a method that chooses cells, and this one brought 2 objects without any: "
        "choose the form 'objects', or a method such as 'greedy'"
    )


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            {"kind": "cell"},
            "unknown form 'cell': choose one of cells, cells+objects, hybrid, objects (did you mean 'cells'?)",
        ),
        ({"membership_weights": "x"}, "unknown membership_weights 'x': choose one of even, share, unit"),
        ({"n_neighbors": -1}, "n_neighbors is -1, expected 0 or more objects, or None"),
        ({"neighbor_weight": 0}, "neighbor_weight is 0, expected a number above 0 and up to 1, or None"),
        ({"neighbor_weight": "x"}, "neighbor_weight is 'x', expected a number above 0 and up to 1, or None"),
        ({"cell_weight": 0}, "cell_weight is 0, expected a number above 0 and up to 1, or None"),
        ({"cell_weight": 1.5}, "cell_weight is 1.5, expected a number above 0 and up to 1, or None"),
        ({"cell_weight": float("nan")}, "cell_weight is nan, expected a number above 0 and up to 1, or None"),
        ({"keep_unlinked": "link"}, "keep_unlinked is 'link', expected True or False"),
    ],
)
def test_an_unknown_choice_is_refused_with_the_list(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError) as error:
        Form(**wrong)
    assert str(error.value) == text


@given(st.integers(0, 10_000), st.integers(0, 6), st.sampled_from(["objects", "cells", "cells+objects"]))
def test_every_network_says_truly_what_it_holds(seed: int, m: int, form: str) -> None:
    cube = random_cube(seed)
    rng = np.random.default_rng(seed)
    query = Query(np.sort(rng.choice(40, 5, replace=False)))
    cells = rng.permutation(len(cube.cells))[:m]
    members = {int(o) for cell in cells for o in cube.cells.members[int(cell)]}
    chosen = Selection(np.array(sorted(members), dtype=np.int32), 0.0, cells=cells, values=np.zeros(m))
    network = assemble(cube, query, chosen, form)
    objects = network.objects.tolist()
    brought = [] if form == "cells" else sorted(members - set(query.objects.tolist()))
    assert objects == query.objects.tolist() + brought
    linked = {(u, v) for u in objects for v in cube.links.neighbours(u).tolist() if v in objects and u < v}
    held = {(o, rank) for rank, cell in enumerate(cells) for o in cube.cells.members[int(cell)].tolist()}
    count = len(objects)
    pairs = list(zip(network.source.tolist(), network.target.tolist(), strict=True))
    assert sorted(tuple(sorted((objects[s], objects[t]))) for s, t in pairs if t < count) == sorted(linked)
    expected = sorted((o, rank) for o, rank in held if o in objects) if form != "objects" else []
    assert sorted((objects[s], t - count) for s, t in pairs if t >= count) == expected
    for place, o in enumerate(objects):
        assert network.brought_by[place].tolist() == sorted(rank for other, rank in held if other == o)
        into = set(cube.links.neighbours(o).tolist()) & set(query.objects.tolist())
        assert network.query_links[place] == len(into)
