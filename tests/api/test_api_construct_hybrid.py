"""Hybrid networks: which nodes they have, and what a membership weighs."""

from __future__ import annotations

import pytest

import cube2net as c2n
from cube2net.errors import ParameterError
from cube2net.model.network import Network

from toys import toy_cube

# Cells 0 and 1 hold the query's 0 and 1; 0–4, 0–5, 1–5 and 5–6 lead out of it, and 2, 3 and 7 have no link.
HYBRID = toy_cube([[0, 2], [1, 3, 7], [6]], objects=8, links=[(0, 4), (0, 5), (1, 5), (5, 6)])


def weights_of(network: Network) -> dict[tuple[str, str], float]:
    ids = list(network)
    ends = zip(network.source.tolist(), network.target.tolist(), network.weight.tolist(), strict=True)
    return {(ids[a], ids[b]): weight for a, b, weight in ends}


def test_a_hybrid_network_has_the_cells_and_as_many_neighbours_instead_of_their_members() -> None:
    network = c2n.construct(
        HYBRID,
        [0, 1],
        n_cells=2,
        objective="coverage",
        form="hybrid",
        options=c2n.NetworkOptions(membership_weights="even"),
    )
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
    assert (network.settings["membership_weights"], network.form) == ("even", "hybrid")
    assert network.summary()["left_out"] == 0


@pytest.mark.parametrize(("n_neighbors", "objects"), [(0, []), (1, [5]), (2, [4, 5]), (3, [4, 5, 6]), (99, [4, 5, 6])])
def test_n_neighbors_is_the_number_of_neighbours(n_neighbors: int, objects: list[int]) -> None:
    for m in (1, 2):
        network = c2n.construct(
            HYBRID,
            [0, 1],
            n_cells=m,
            objective="coverage",
            form="hybrid",
            options=c2n.NetworkOptions(n_neighbors=n_neighbors),
        )
        assert network.objects.tolist() == [0, 1, *objects] and len(network.cells) == m


def test_a_neighbour_that_a_chosen_cell_holds_is_its_member() -> None:
    cube = toy_cube([[0, 1, 2]], objects=3, links=[(0, 2)])
    network = c2n.construct(
        cube, [0, 1], n_cells=1, form="hybrid", options=c2n.NetworkOptions(membership_weights="share")
    )
    assert weights_of(network) == {
        ("o0", "o2"): 1.0,
        **{(f"o{row}", "cell:label 0"): pytest.approx(1 / 3) for row in range(3)},
    }


@pytest.mark.parametrize("form", ["cells", "cells+objects", "hybrid"])
def test_memberships_weigh_as_asked_in_every_form_with_cells_and_evenly_by_default(form: str) -> None:
    cube = toy_cube([[0, 1, 2], [0, 3]], objects=5, links=[(0, 1), (0, 4), (1, 2)])
    found = {}
    for membership_weights in (None, "unit", "share", "even"):
        network = c2n.construct(
            cube,
            [0, 1],
            n_cells=2,
            objective="coverage",
            form=form,
            options=c2n.NetworkOptions(membership_weights=membership_weights),
        )
        assert (
            network.settings["membership_weights"]
            == network.summary()["membership_weights"]
            == (membership_weights or "even")
        )
        found[membership_weights] = {ends: w for ends, w in weights_of(network).items() if ends[1].startswith("cell:")}
    assert found[None] == found["even"] and set(found["unit"].values()) == {1.0}
    for cell in ("cell:label 0", "cell:label 1"):
        assert sum(weight for ends, weight in found["share"].items() if ends[1] == cell) == pytest.approx(1.0)
    # The query has one link: the strength of both of its objects is 1, and cells have half their full weight.
    for row in ("o0", "o1"):
        assert sum(weight for ends, weight in found["even"].items() if ends[0] == row) == pytest.approx(0.5)


def test_a_network_of_objects_has_no_memberships_and_a_weight_for_them_is_refused() -> None:
    network = c2n.construct(HYBRID, [0, 1], n_cells=2, form="objects")
    assert network.settings["membership_weights"] is None and network.summary()["membership_weights"] is None
    for wrong in ({"membership_weights": "share"}, {"cell_weight": 0.5}):
        with pytest.raises(ParameterError) as error:
            c2n.api.construct_by_name(HYBRID, [0, 1], n_cells=2, form="objects", **wrong)
        name = next(iter(wrong))
        assert str(error.value) == f"{name} is about links to cells, and the form 'objects' has no cells as nodes"


def test_a_query_that_no_cell_helps_is_joined_by_its_neighbours() -> None:
    for n_neighbors, objects in ((None, [4, 0]), (3, [4, 0, 1, 5]), (0, [4])):
        network = c2n.construct(HYBRID, [4], form="hybrid", options=c2n.NetworkOptions(n_neighbors=n_neighbors))
        assert network.objects.tolist() == objects and not len(network.cells)
        assert "the 1 object of the query is not in any cell" in network.selection.note


def test_a_query_whose_objects_share_no_cell_is_joined_by_its_neighbours_and_told_so() -> None:
    network = c2n.construct(HYBRID, [0, 1])
    assert network.objects.tolist() == [0, 1, 4, 5] and not len(network.cells)
    assert network.selection.note == "no cell serves 2 objects of the query that need it"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"n_neighbors": 2, "form": "objects"},
            "n_neighbors is about the neighbours of the form 'hybrid', got the form 'objects'",
        ),
        (
            {"n_neighbors": 2, "form": "cells+objects"},
            "n_neighbors is about the neighbours of the form 'hybrid', got the form 'cells+objects'",
        ),
        (
            {"n_neighbors": 2, "method": "hops"},
            "n_neighbors is about the neighbours of the form 'hybrid', got the form 'objects'",
        ),
        (
            {"neighbor_weight": 0.5, "form": "cells"},
            "neighbor_weight is about the neighbours of the form 'hybrid', got the form 'cells'",
        ),
        ({"n_neighbors": -1, "form": "hybrid"}, "n_neighbors is -1, expected 0 or more objects, or None"),
        (
            {"n_neighbors": 1.5, "form": "hybrid"},
            "n_neighbors is 1.5, expected a whole number of 0 or more objects, or None",
        ),
        (
            {"membership_weights": "odd", "form": "cells"},
            "unknown membership_weights 'odd': choose one of even, share, unit",
        ),
        ({"form": "weave"}, "unknown form 'weave': choose one of cells, cells+objects, hybrid, objects"),
        (
            {"form": "hybrid", "max_links": 3},
            "max_links limits the form 'objects', got the form 'hybrid': limit max_nodes instead",
        ),
        ({"form": "hybrid", "method": "hops"}, "the form 'hybrid' needs a method that chooses cells, and this one"),
    ],
    ids=str,
)
def test_a_form_that_cannot_be_is_refused_with_a_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        c2n.api.construct_by_name(HYBRID, [0, 1], **options)
    assert str(caught.value).startswith(sentence)
