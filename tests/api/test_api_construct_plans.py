"""What a network is to be when nobody says: every rule of the defaults, every refusal, and what the sizes promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.api import construct as construct_module
from cube2net.api.plan import METHODS, default_form, default_objective, plan_network
from cube2net.errors import ParameterError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.dimension import STAR
from cube2net.model.interfaces import Method, chooses_cells, counts_repeats
from cube2net.model.network import Form
from cube2net.model.query import Query
from cube2net.model.selection import PAPER_CELLS, Budget, QueryObjective, Selection
from cube2net.network import assembly
from cube2net.network.hops import Hops
from cube2net.network.pagerank import PageRank
from cube2net.options import FORMS, NetworkOptions
from cube2net.selection.anneal import Anneal
from cube2net.selection.exact import Exact
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Cover, Coverage, Jaccard, Linked
from cube2net.selection.random import Random
from cube2net.selection.rl.cube2net import Cube2net

from toys import random_cube, toy_cube

CUBE = random_cube(0)
ASKED = [1, 5, 9, 12, 20]


@pytest.fixture(scope="module")
def planted() -> tuple[Cube, Query]:
    made = c2n.make_planted(seed=0)
    cube = c2n.build(made.corpus)
    return cube, cube.query(made.query(0))


# The defaults


def test_without_a_word_it_is_greedy_for_cover_hybrid_and_sized_by_the_query() -> None:
    made = plan_network(CUBE, ASKED, NetworkOptions())
    assert (made.method, made.objective) == (Greedy(), Cover())
    assert made.form == Form(
        "hybrid",
        n_neighbors=None,
        neighbor_weight=None,
        membership_weights="even",
        cell_weight=None,
        keep_unlinked=True,
    )
    assert (made.cube, made.levels, made.max_nodes, made.sized) == (CUBE, "full", None, True)
    assert made.budget == Budget(n_cells=len(ASKED)), "never more cells than the query has objects"
    about = c2n.construct(CUBE, ASKED).summary()
    assert (about["method"], about["objective"], about["form"], about["n_cells"]) == ("greedy", "cover", "hybrid", None)


def test_by_default_cells_of_one_label_are_chosen_beside_full_ones(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    made = plan_network(cube, query, NetworkOptions())
    assert (made.cube, made.levels, made.objective) == (c2n.cube.cuboid(cube, "full+one"), "full+one", Cover(r=None))
    network = c2n.construct(cube, query)
    assert "_loaded" not in vars(made.cube.cells.members), "members of all cells were computed"
    kinds = {sum(label != "∗" for label in labels) for labels in network.labels}
    assert kinds == {1, 3} and len(network) <= 3 * len(query)
    assert network.summary()["levels"] == "full+one"
    explicit = c2n.construct(cube, query, form="hybrid", options=c2n.NetworkOptions(levels="full+one"))
    assert (explicit.labels, explicit.weight.tolist()) == (network.labels, network.weight.tolist())


def test_other_objectives_and_forms_choose_full_cells(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    for options in ({"objective": "jaccard"}, {"form": "objects"}, {"method": "anneal"}):
        assert plan_network(cube, query, NetworkOptions(**options)).levels == "full"


def test_the_papers_answer_is_one_word_away() -> None:
    made = plan_network(CUBE, ASKED, NetworkOptions(form="objects"))
    assert (made.method, made.objective, made.form) == (Greedy(), Jaccard(), Form("objects"))
    assert (made.budget, made.sized) == (Budget(n_cells=PAPER_CELLS), False)
    about = c2n.construct(CUBE, ASKED, form="objects").summary()
    said = [about[name] for name in ("n_cells", "n_neighbors", "neighbor_weight", "membership_weights", "cell_weight")]
    assert said == [20, 0, None, None, None]


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_choose_cells_are_hybrid_and_others_bring_objects(name: str) -> None:
    method = METHODS[name]()
    assert default_form(method) == ("hybrid" if chooses_cells(method) else "objects")
    assert (
        plan_network(CUBE, ASKED, NetworkOptions(method=name)).form.kind
        == plan_network(CUBE, ASKED, NetworkOptions(method=method)).form.kind
        == default_form(method)
    )


def test_the_papers_learner_makes_the_papers_network() -> None:
    made = plan_network(CUBE, ASKED, NetworkOptions(method=Cube2net(preset="paper")))
    assert (made.form.kind, made.objective, made.budget.n_cells) == ("objects", Jaccard(), PAPER_CELLS)
    assert plan_network(CUBE, ASKED, NetworkOptions(method=Cube2net())).form.kind == "hybrid"


@pytest.mark.parametrize(
    ("method", "counts"),
    [
        (Greedy(), True),
        (Greedy(among="all"), True),
        (Exact(), True),
        (Random(), False),
        (Greedy(by="price"), False),
        (Anneal(), False),
        (Cube2net(), False),
        (PageRank(), False),
    ],
    ids=repr,
)
def test_cover_is_for_methods_that_count_repeats_where_cells_are_nodes(method: Method, counts: bool) -> None:
    assert counts_repeats(method) == counts
    for form in FORMS:
        wanted = "cover" if counts and form in ("cells", "hybrid") else "jaccard"
        assert default_objective(method, form) == wanted
        made = plan_network(CUBE, ASKED, NetworkOptions(method=method, form=form))
        assert made.objective == (Cover() if wanted == "cover" else Jaccard())
        assert (made.sized, made.budget.n_cells) == ((True, len(ASKED)) if wanted == "cover" else (False, PAPER_CELLS))


def test_the_query_sizes_a_choice_for_cover_unless_a_number_is_given() -> None:
    for options, m, sized in (
        ({"objective": "cover", "form": "objects"}, len(ASKED), True),
        ({"objective": Cover(r=1)}, len(ASKED), True),
        ({"n_cells": 7}, 7, False),
        ({"n_cells": 0}, 0, False),
        ({"objective": "coverage"}, PAPER_CELLS, False),
        ({"objective": "linked", "n_cells": 3}, 3, False),
    ):
        made = plan_network(CUBE, ASKED, NetworkOptions(**options))
        assert (made.budget.n_cells, made.sized) == (m, sized)
        assert c2n.api.construct_by_name(CUBE, ASKED, **options).settings["n_cells"] == (None if sized else m)


def test_objects_without_a_link_are_left_out_where_the_objective_sees_links_and_nobody_says_else() -> None:
    assert not plan_network(CUBE, ASKED, NetworkOptions(objective="linked")).form.keep_unlinked
    assert not plan_network(CUBE, ASKED, NetworkOptions(objective=Linked())).form.keep_unlinked
    assert plan_network(CUBE, ASKED, NetworkOptions(objective="linked", keep_unlinked=True)).form.keep_unlinked
    assert plan_network(CUBE, ASKED, NetworkOptions(objective="coverage")).form.keep_unlinked


def test_cells_of_higher_levels_are_counted_every_time(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    for levels in ("one", "venue", ["full", "venue,topic"]):
        made = plan_network(cube, query, NetworkOptions(levels=levels))
        assert (made.objective, made.levels) == (Cover(r=None), levels)
        assert made.cube is c2n.cube.cuboid(cube, levels)
    assert plan_network(cube, query, NetworkOptions(levels="one", objective=Cover(r=2))).objective == Cover(r=2)
    assert plan_network(cube, query, NetworkOptions(levels="one", objective="coverage")).objective == Coverage()
    for full in ("full", ["full"], "decade,venue,topic"):
        made = plan_network(cube, query, NetworkOptions(levels=full))
        assert made.objective == Cover() and made.cube is cube


def test_a_view_is_asked_like_the_levels_it_was_made_of(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    view = c2n.cube.cuboid(cube, "one")
    made = plan_network(view, query, NetworkOptions())
    assert (made.cube, made.objective) == (view, Cover(r=None))
    one, same = c2n.construct(view, query), c2n.construct(cube, query, options=c2n.NetworkOptions(levels="one"))
    assert one.labels == same.labels and one.weight.tolist() == same.weight.tolist()


def test_as_many_near_objects_as_the_query_has_unless_a_number_is_given(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    for near, count in ((None, len(query)), (0, 0), (3, 3)):
        network = c2n.construct(cube, query, options=c2n.NetworkOptions(n_neighbors=near))
        assert network.settings["n_neighbors"] == len(network.objects) - len(query) == count


# Refusals


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "gredy"}, "unknown method 'gredy': choose one of anneal, "),
        ({"objective": "covers"}, "unknown objective 'covers': choose one of cover, coverage, "),
        ({"form": "weave"}, "unknown form 'weave': choose one of cells, cells+objects, hybrid, objects"),
        ({"levels": "street"}, "unknown level 'street': choose one of full, group, one"),
        ({"levels": []}, "levels is [], expected a text such as 'one' or 'venue,topic', or several"),
        ({"levels": 3}, "levels is 3, expected a text such as 'one' or 'venue,topic', or several"),
        ({"n_cells": -1}, "n_cells is -1, expected 0 or more cells"),
        ({"n_cells": 2.5}, "n_cells is 2.5, expected a whole number of 0 or more cells"),
        ({"n_neighbors": -1}, "n_neighbors is -1, expected 0 or more objects, or None"),
        ({"neighbor_weight": 0}, "neighbor_weight is 0, expected a number above 0 and up to 1, or None"),
        ({"cell_weight": 1.5}, "cell_weight is 1.5, expected a number above 0 and up to 1, or None"),
        ({"membership_weights": "odd"}, "unknown membership_weights 'odd': choose one of even, share, unit"),
        ({"keep_unlinked": "some"}, "keep_unlinked is 'some', expected True or False"),
        ({"best_prefix": "first"}, "best_prefix is 'first', expected True or False"),
        ({"max_nodes": -1}, "max_nodes is -1, expected 0 or more nodes, or None"),
        ({"max_nodes": 1.5}, "max_nodes is 1.5, expected a whole number of 0 or more nodes, or None"),
        ({"max_nodes": -1, "form": "objects"}, "max_nodes is -1, expected 0 or more nodes, or None"),
        ({"max_links": -1, "form": "objects"}, "max_links is -1, expected 0 or more links, or None"),
        *(
            (
                {"max_links": 9, "form": form},
                f"max_links limits the form 'objects', got the form {form!r}: limit max_nodes instead",
            )
            for form in ("cells", "cells+objects", "hybrid")
        ),
        *(
            (
                {name: value, "form": form},
                f"{name} is about the neighbours of the form 'hybrid', got the form {form!r}",
            )
            for name, value in (("n_neighbors", 0), ("neighbor_weight", 0.5))
            for form in ("objects", "cells", "cells+objects")
        ),
        *(
            (
                {name: value, "form": "objects"},
                f"{name} is about links to cells, and the form 'objects' has no cells as nodes",
            )
            for name, value in (("membership_weights", "even"), ("cell_weight", 0.5))
        ),
        (
            {"method": "pagerank", "cell_weight": 0.5},
            "cell_weight is about links to cells, and the form 'objects' has no cells",
        ),
    ],
    ids=str,
)
def test_what_means_nothing_is_refused_with_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        plan_network(CUBE, ASKED, NetworkOptions(**options))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("method", ["anneal", Cube2net(trajectories=4, updates=1), Greedy(by="price")], ids=repr)
def test_a_method_that_cannot_count_repeats_says_so_where_it_is_asked_to(method: str | Method) -> None:
    with pytest.raises(ParameterError, match="the objective 'cover' (counts how often|has no costs)"):
        c2n.construct(CUBE, ASKED, method, objective="cover")
    assert c2n.construct(CUBE, ASKED, method, n_cells=2).settings["objective"] == "jaccard"


def test_a_query_made_for_another_cube_is_refused() -> None:
    with pytest.raises(QueryError, match="the query was made for another cube: it names row 99"):
        plan_network(CUBE, Query(np.array([0, 99])), NetworkOptions())


# Sizes


@given(
    st.integers(0, 10_000),
    st.integers(1, 12),
    st.integers(0, 45),
    st.sampled_from(FORMS),
    st.sampled_from(["greedy", "random", Anneal(steps=50, restarts=1)]),
    st.sampled_from([None, 3, 8]),
)
def test_no_form_has_more_nodes_than_asked_for(
    seed: int, count: int, nodes: int, form: str, method: str | Method, m: int | None
) -> None:
    cube = random_cube(seed, cells=16, largest=8)
    rows = np.sort(np.random.default_rng(seed).choice(40, count, replace=False))
    network = c2n.construct(cube, rows.tolist(), method, m, form=form, seed=seed, max_nodes=nodes)
    assert len(network) <= max(nodes, count)
    assert network.summary()["nodes"] == len(network.nodes) == len(network)


@given(st.integers(0, 10_000), st.integers(1, 20), st.sampled_from(["greedy", "exact"]))
def test_the_default_network_has_at_most_three_times_as_many_nodes_as_the_query(
    seed: int, count: int, method: str
) -> None:
    cube = random_cube(seed, cells=40, links=200)
    rows = np.sort(np.random.default_rng(seed).choice(40, count, replace=False))
    assert len(c2n.construct(cube, rows.tolist(), method)) <= 3 * count


@pytest.mark.parametrize("method", ["none", "hops", "pagerank", "steiner", "maxdisc", "exact"])
@pytest.mark.parametrize("nodes", [0, 5, 9, 30])
def test_other_methods_keep_the_limit_too(method: str, nodes: int) -> None:
    for seed in range(4):
        network = c2n.construct(random_cube(seed), ASKED, method, max_nodes=nodes)
        assert len(network) <= max(nodes, len(ASKED))


def test_near_objects_take_the_room_that_cells_leave(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    whole = c2n.construct(cube, query)
    cells = len(whole.cells)
    for room in (0, 1, cells - 1, cells, cells + 1, cells + 5, 10_000):
        network = c2n.construct(cube, query, max_nodes=len(query) + room)
        assert len(network.cells) == min(room, cells)
        assert network.settings["n_neighbors"] == min(len(query), max(0, room - cells))
        assert network.labels == whole.labels[: min(room, cells)], "the first cells stay"


class First:
    """A method of one's own that brings the first objects of the cube, as many as the budget leaves room for."""

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        room = 10 if budget.max_nodes is None else max(0, budget.max_nodes - len(query))
        objects = np.setdiff1d(np.arange(len(cube.objects)), query.objects)[:room]
        return Selection(objects, weights.value(objects))


def test_a_method_of_ones_own_that_brings_objects_is_shown_as_objects_and_told_its_limit() -> None:
    network = c2n.construct(CUBE, ASKED, First())
    assert (network.form, len(network), network.settings["n_neighbors"]) == ("objects", 15, 0)
    network = c2n.construct(CUBE, ASKED, First(), max_nodes=8)
    assert (network.form, len(network)) == ("objects", 8)
    with pytest.raises(ParameterError, match="the form 'hybrid' needs a method that chooses cells"):
        c2n.construct(CUBE, ASKED, First(), form="hybrid")


# Large answers


LARGE = toy_cube([list(range(1_200)), [0, 1], list(range(40, 60))], objects=1_300, links=[(0, 1), (1, 2)])


@pytest.mark.parametrize("form", ["objects", "cells+objects"])
def test_a_large_answer_is_announced_before_it_is_made_and_in_the_note(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    really = assembly.assemble

    def assemble(*args: Any, **options: Any) -> Any:
        heard.append("made")
        return really(*args, **options)

    monkeypatch.setattr(construct_module, "assemble", assemble)
    said = (
        "the 2 cells hold 1,200 objects for a query of 2: m, max_nodes or the form 'hybrid' makes the network smaller"
    )
    network = c2n.construct(
        LARGE, [0, 1], objective="jaccard", form=form, n_cells=2, progress=lambda stage, *_: heard.append(stage)
    )
    assert heard == [said, "made"]
    assert network.selection.note == network.summary()["note"] == said


def test_a_method_without_cells_is_announced_too_and_what_is_not_large_is_not() -> None:
    star = toy_cube([[0]], objects=1_100, links=[(0, row) for row in range(1, 1_100)])
    heard: list[str] = []
    tell: Any = lambda stage, *_: heard.append(stage)  # noqa: E731
    network = c2n.construct(star, [0], Hops(), progress=tell)
    said = "the method brings 1,099 objects for a query of 1: max_nodes makes the network smaller"
    assert heard == [said] and network.selection.note == said
    for options in ({"max_nodes": 900}, {"method": "none"}):
        assert (
            c2n.api.construct_by_name(star, [0], **({"method": Hops()} | options), progress=tell).selection.note == ""
        )
    for form in ("cells", "hybrid"):
        c2n.construct(LARGE, [0, 1], objective="jaccard", form=form, n_cells=2, progress=tell)
    assert heard == [said], "cells as nodes are few, however many objects they hold"


def test_many_objects_for_many_asked_are_not_called_large() -> None:
    network = c2n.construct(LARGE, list(range(70)), objective="jaccard", form="objects", n_cells=1)
    assert len(network.selection.objects) <= 1_400 and network.selection.note == ""


# Cells of one label


def test_cells_of_one_label_are_nodes_with_a_star_for_all_others(planted: tuple[Cube, Query], tmp_path: Path) -> None:
    import networkx as nx

    cube, query = planted
    network = c2n.construct(cube, query, options=c2n.NetworkOptions(levels="one"))
    assert network.summary()["levels"] == network.settings["levels"] == "one"
    assert len(network.cells) and {labels.count(STAR) for labels in network.labels} == {2}
    title = next(" · ".join(labels) for labels in network.labels if labels[1] != STAR)
    assert title.startswith("∗ · venue ") and title.endswith(" · ∗")
    assert f"cell:{title}" in network
    graph = nx.read_graphml(network.save(tmp_path / "one.graphml")[0])
    assert f"cell:{title}" in graph and graph.graph["selected"].splitlines() == [" · ".join(x) for x in network.labels]
    weights = [data["weight"] for one, other, data in graph.edges(data=True) if "cell:" in one + other]
    assert len(weights) == int((network.target >= len(network.objects)).sum()) and min(weights) > 0
    assert all(np.isfinite(weights))
    for suffix in ("svg", "png", "pdf"):
        network.plot(tmp_path / f"one.{suffix}")
        assert (tmp_path / f"one.{suffix}").stat().st_size > 0


def test_a_cell_of_one_label_holds_whoever_is_in_a_cell_below_it(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    network = c2n.construct(cube, query, options=c2n.NetworkOptions(levels="one"))
    for rank, labels in enumerate(network.labels):
        below = [
            cell
            for cell in range(len(cube.cells))
            if all(label in (STAR, own) for label, own in zip(labels, cube.cell(cell), strict=True))
        ]
        inside = {int(row) for cell in below for row in cube.cells.members[cell]}
        held = {int(network.objects[place]) for place in range(len(query)) if rank in network.brought_by[place]}
        assert inside & set(query.objects.tolist()) <= held


def test_large_labels_weigh_less_than_small_ones_in_an_objects_memberships() -> None:
    planted = c2n.make_planted(seed=0)
    cube = c2n.build(planted.corpus)
    view = c2n.cube.cuboid(cube, "one")
    network = c2n.construct(cube, planted.query(0), options=c2n.NetworkOptions(levels="one", n_neighbors=0))
    assert view.cells.counts is not None
    joined = network.target >= len(network.objects)
    ranks, things = network.target[joined] - len(network.objects), network.source[joined]
    shares = []
    for rank, thing in zip(ranks.tolist(), things.tolist(), strict=True):
        cell = int(network.cells[rank])
        start, members = view.cells.members.indptr[cell], view.cells.members[cell]
        count = int(view.cells.counts[start + np.searchsorted(members, network.objects[thing])])
        shares.append(count * np.log1p(len(cube.objects) / len(members)))
    sums = np.bincount(things, weights=shares)[things]
    weights = network.weight[joined]
    wholes = np.bincount(things, weights=weights)[things]
    assert weights.tolist() == pytest.approx((np.array(shares) / sums * wholes).tolist(), rel=1e-5)


def test_a_limit_below_the_query_is_said_and_nothing_is_added() -> None:
    cube = random_cube(3)
    for form in ("hybrid", "cells", "cells+objects", "objects"):
        network = c2n.construct(cube, list(range(10)), form=form, max_nodes=4)
        assert len(network) == 10
        assert network.selection.note == "the query alone has 10 nodes, more than max_nodes 4: nothing is added to it"


def test_many_near_objects_are_announced_before_they_are_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cube2net.network.assembly.MANY_OBJECTS", 5)
    monkeypatch.setattr("cube2net.network.assembly.MANY_OBJECTS_EACH", 1)
    told: list[str] = []
    network = c2n.construct(
        random_cube(3),
        [0, 1],
        progress=lambda stage, *_: told.append(stage),
        options=c2n.NetworkOptions(n_neighbors=30),
    )
    assert told == [
        "n_neighbors asks for up to 30 objects for a query of 2: a smaller n_neighbors makes the network smaller"
    ]
    assert network.selection.note.endswith(told[0])


def test_trust_is_of_cells_that_are_there() -> None:
    assert c2n.construct(random_cube(3), [0, 1, 2], n_cells=0).summary()["cell_weight"] is None


def test_labels_that_are_missing_in_a_frame_are_no_labels() -> None:
    query = random_cube(3).query({"o1": "a", "o2": None, "o3": float("nan"), "o4": 7})  # type: ignore[dict-item]
    assert query.labels == ("a", "", "", "7")
