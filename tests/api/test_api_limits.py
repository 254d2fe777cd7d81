"""Whatever makes a network: where, between and kind limit what it brings, and the query stays whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.api.compare import Auto
from cube2net.api.cubes import view_cube
from cube2net.api.plan import METHODS
from cube2net.cube.views import dice, of_kind
from cube2net.cube.window import between
from cube2net.model.cube import Cube
from cube2net.model.network import Network, network_fingerprint
from cube2net.model.query import Query
from cube2net.network.assembly import summarize
from cube2net.network.pagerank import compute_scores

QUICK: dict[str, dict[str, Any]] = {
    "cube2net": {"updates": 2, "trajectories": 4, "epochs": 1},
    "anneal": {"steps": 200, "restarts": 1},
    "maxdisc": {"alpha": 3.0},
    "exact": {"seconds": 2.0},
}
PLANTED = c2n.make_planted(objects=240, communities=4, noise=0.3, links=5.0, within=0.7, seed=2)
KINDS = np.array(["author", "editor", "author", "reviewer"])[np.arange(240) % 4]
CUBE = c2n.build(
    replace(PLANTED.corpus, objects=PLANTED.corpus.objects.set_column(2, "kind", pa.array(KINDS))), min_objects=5
)
QUERY = CUBE.query({name: f"group {at % 2}" for at, name in enumerate(PLANTED.query(0)[:12])})
VENUES = CUBE.dimensions[1].labels
VIEWS: dict[str, Callable[[Cube], Cube]] = {
    "where": lambda cube: dice(cube, {"venue": VENUES[0]}),
    "where several": lambda cube: dice(cube, {"venue": list(VENUES[:2]), "decade": "199X"}),
    "between": lambda cube: between(cube, "year=..1999"),
    "kind": lambda cube: of_kind(cube, "editor"),
    "kinds": lambda cube: of_kind(cube, ["editor", "reviewer"]),
    "all three": lambda cube: of_kind(dice(between(cube, "year=..2009"), {"venue": list(VENUES[:3])}), "author"),
}
CELLS = ("random", "greedy", "anneal", "exact", "cube2net")
CONFIGURATIONS: list[tuple[str, str | None]] = [(method, None) for method in ("hops 2", *METHODS)]
CONFIGURATIONS += [(method, "objects") for method in CELLS]
CONFIGURATIONS += [("greedy", "cells+objects"), ("greedy", "cells"), ("exact", "cells")]


def made(cube: Cube, method: str, form: str | None = None, query: Query = QUERY, **options: Any) -> Network:
    own = QUICK.get(method, {})
    m = None if method in ("greedy", "exact") and form in (None, "cells") else 6
    return c2n.api.construct_by_name(cube, query, method, m, form=form, **own, **options)


def outside(network: Network) -> Array:
    return np.setdiff1d(network.objects, network.query.objects)


def allowed(cube: Cube) -> Array:
    return np.ones(len(cube.objects), bool) if cube.bringable is None else cube.bringable


@pytest.mark.parametrize(("method", "form"), CONFIGURATIONS)
def test_every_method_keeps_to_every_limit(method: str, form: str | None) -> None:
    for name, view in VIEWS.items():
        cube = view(CUBE)
        assert cube.bringable is not None and 0 < cube.bringable.sum() < len(cube.objects)
        network = made(cube, method, form)
        assert cube.bringable[outside(network)].all(), name
        assert np.isin(QUERY.objects, network.objects).all(), "the query stays"
        held = cube.bringable.copy()
        held[QUERY.objects] = True
        assert held[network.selection.objects].all(), "what is brought is what is counted"


@pytest.mark.parametrize(("method", "form"), CONFIGURATIONS)
def test_limits_that_allow_all_change_not_a_bit(method: str, form: str | None) -> None:
    free = made(CUBE, method, form)
    everybody = of_kind(CUBE, ["author", "editor", "reviewer"])
    assert everybody.bringable is not None and everybody.bringable.all()
    again = made(everybody, method, form)
    assert network_fingerprint(again) == network_fingerprint(free)
    assert again.selection.value == free.selection.value and again.selection.note == free.selection.note
    told = {"views": everybody.settings["views"], "may_be_brought": [len(CUBE.objects)] * 2}
    assert again.settings == {**free.settings, **told}


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=8)
@given(st.lists(st.sampled_from(VENUES), min_size=1, max_size=3), st.integers(1985, 2015), st.integers(0, 3))
def test_nobody_outside_the_limits_is_ever_brought(method: str, venues: list[str], last: int, kinds: int) -> None:
    names = ["author", "editor", "reviewer"][:kinds]
    cube = view_cube(CUBE, where={"venue": venues}, between=f"year=..{last}", kind=names)
    assert allowed(cube)[outside(made(cube, method))].all()


def test_networks_of_one_kind_are_those_of_all_scores_and_steps() -> None:
    editors = of_kind(CUBE, "editor")
    one = made(editors, "hops")
    neighbours = {int(v) for u in QUERY.objects for v in CUBE.links.neighbours(int(u))} - set(QUERY.objects.tolist())
    assert outside(one).tolist() == sorted(v for v in neighbours if KINDS[v] == "editor")
    near = compute_scores(CUBE.links, QUERY.objects)
    near[QUERY.objects] = 0.0
    ranked = [row for row in np.lexsort((np.arange(240), -near)).tolist() if near[row] > 0 and KINDS[row] == "editor"]
    found = made(editors, "pagerank", top=15)
    assert outside(found).tolist() == sorted(ranked[:15])


def test_a_cell_stays_and_brings_those_of_its_objects_that_may_come() -> None:
    free, editors = made(CUBE, "greedy", "cells+objects"), made(of_kind(CUBE, "editor"), "greedy", "cells+objects")
    assert len(editors.cells) == len(free.cells) and len(outside(editors)) < len(outside(free))
    about = summarize(editors)
    for cell, told in zip(editors.cells.tolist(), about["cells"], strict=True):
        members = CUBE.cells.members[cell]
        inside = np.isin(members, QUERY.objects)
        assert told["objects"] == int(((KINDS[members] == "editor") | inside).sum())
    assert about["left_out"] == 0


def test_a_query_may_hold_what_may_not_be_brought() -> None:
    rows = np.flatnonzero(KINDS == "reviewer")[:6]
    network = made(of_kind(CUBE, "editor"), "greedy", query=Query(rows))
    assert np.isin(rows, network.objects).all() and (KINDS[outside(network)] == "editor").all()
    assert len(network.cells) and len(outside(network)) == 6, "cells hold them, and as many are near"


@pytest.mark.parametrize("method", [method for method in METHODS if method != "exact"])
def test_where_nobody_may_come_the_note_says_so(method: str) -> None:
    nobody = of_kind(of_kind(CUBE, "editor"), "author")
    network = made(nobody, method)
    assert len(outside(network)) == 0
    assert "no object is brought: none outside the query is allowed" in network.selection.note


@pytest.mark.parametrize("task", ["clustering", "hidden"])
def test_networks_that_are_compared_keep_to_the_limits_those_as_large_too(task: str) -> None:
    seen: list[Network] = []

    class Spy:
        def embed(self, network: Network, *, seed: int) -> Array:
            seen.append(network)
            return np.random.default_rng(seed).normal(size=(len(network), 4))

    cube = dice(of_kind(CUBE, ["editor", "reviewer"]), {"venue": list(VENUES[:3])})
    c2n.compare(cube, QUERY, task, models={"spy": Spy()}, runs=1, options=c2n.ComparisonOptions(workers=1))
    assert len(seen) > 6
    for network in seen:
        assert allowed(cube)[outside(network)].all()


def test_auto_keeps_to_the_limits() -> None:
    cube = of_kind(CUBE, "editor")
    network = c2n.construct(cube, QUERY, Auto(seconds=1.0, runs=1))
    assert (KINDS[outside(network)] == "editor").all()
