"""A network is steered by pins, bans, likes and dislikes, says what they cost, and is made again with them."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net.api.replay import follow_recipe
from cube2net.apps.cli.app import app
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.node_names import Node, format_title
from cube2net.model.query import Query
from cube2net.model.selection import Budget, Price, QueryObjective, Selection, Steering

from toys import toy_cube

QUICK: dict[str, dict[str, Any]] = {
    "cube2net": {"updates": 1, "trajectories": 4, "epochs": 1},
    "anneal": {"steps": 200, "restarts": 1},
}
CHOOSERS = ("random", "greedy", "anneal", "exact", "cube2net")
LINKERS = ("none", "hops", "pagerank", "steiner", "maxdisc")


@dataclass(frozen=True)
class Place:
    folder: Path
    cube: Cube
    query: list[str]
    hidden: list[str]
    others: list[str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("steering")
    planted = c2n.make_planted(objects=200, communities=4, noise=0.2, seed=1)
    cube = c2n.build(planted.corpus, out=folder / "cube")
    own, other = ([f"Object {name[1:]}" for name in planted.query(group)] for group in (0, 1))
    return Place(folder, cube, own[:15], own[15:25], [name for name in other if name not in own][:10])


def cell_not_in(network: Network, cube: Cube) -> tuple[str, ...]:
    return next(cube.cell(number) for number in range(len(cube.cells)) if number not in network.selection.cells)


@pytest.mark.parametrize("method", CHOOSERS)
def test_every_method_that_chooses_cells_keeps_pins_and_bans_in_every_form(method: str, place: Place) -> None:
    options = QUICK.get(method, {})
    for form in ("objects", "hybrid", "cells", "cells+objects"):
        plain = c2n.api.construct_by_name(place.cube, place.query, method, 4, form=form, objective="jaccard", **options)
        pin, ban = cell_not_in(plain, place.cube), plain.labels[0]
        pins, bans = [pin, place.others[0]], [" · ".join(ban), place.others[1]]
        network = c2n.api.construct_by_name(
            place.cube, place.query, method, 4, form=form, objective="jaccard", pins=pins, bans=bans, **options
        )
        names = set(network.nodes.to_arrow()["name"].to_pylist())
        assert network.labels[0] == pin and ban not in network.labels and len(network.labels) <= 4
        assert place.others[0] in names and place.others[1] not in names
        assert network.settings["pins"] == [f"⟨{' · '.join(pin)}⟩", place.others[0]]
        assert network.settings["bans"] == [f"⟨{' · '.join(ban)}⟩", place.others[1]]


@pytest.mark.parametrize("method", LINKERS)
def test_methods_that_follow_links_keep_pinned_and_banned_objects(method: str, place: Place) -> None:
    plain = c2n.construct(place.cube, place.query, method, max_nodes=60)
    names = plain.nodes["name"].tolist()
    outside = [name for name in names if name not in place.query]
    ban = outside[0] if outside else place.others[1]
    network = c2n.construct(place.cube, place.query, method, max_nodes=60, pins=place.others[:1], bans=ban)
    steered = set(network.nodes.to_arrow()["name"].to_pylist())
    assert place.others[0] in steered and ban not in steered and set(place.query) <= steered
    assert len(network) <= 60


@pytest.mark.parametrize("method", [*CHOOSERS, *LINKERS])
def test_a_steered_network_is_made_again_to_the_byte(method: str, place: Place) -> None:
    options: dict[str, Any] = {"pins": [place.others[0]], "bans": [place.others[1]], **QUICK.get(method, {})}
    if method in CHOOSERS:
        options |= {"prefer": place.hidden[:2]}
        options["pins"] = [place.cube.cell(2), place.others[0]]
    network = c2n.api.construct_by_name(place.cube, place.query, method, 4, seed=5, **options)
    assert network.recipe is not None
    network.save(place.folder / f"{method}.json")
    again = c2n.replay(place.folder / f"{method}.json")
    assert again.same and again.network.context is not None
    assert again.network.context.steering == network.context.steering  # type: ignore[union-attr]


def test_a_recipe_names_cells_by_labels_and_objects_by_ids(place: Place) -> None:
    network = c2n.construct(
        place.cube,
        place.query,
        pins=[place.cube.cell(2), place.others[0]],
        options=c2n.NetworkOptions(prefer=place.hidden[0]),
    )
    assert network.recipe is not None
    row = place.cube.query([place.others[0]]).objects
    ids = place.cube.objects.ids(row).to_pylist()
    assert network.recipe.parameters["pins"] == [{"cell": list(place.cube.cell(2))}, {"object": ids[0]}]
    assert "bans" not in network.recipe.parameters
    odd = replace(network.recipe, parameters={**network.recipe.parameters, "pins": [{"cell": 3}]})
    with pytest.raises(InputError, match=r"^the recipe has odd pins: \[\{'cell': 3\}\]$"):
        follow_recipe(odd, place.cube)
    gone = replace(network.recipe, parameters={**network.recipe.parameters, "bans": [{"object": "nobody"}]})
    with pytest.raises(QueryError, match=r"^the cube does not have 1 objects of the recipe's bans: 'nobody'$"):
        follow_recipe(gone, place.cube)


def test_without_steering_nothing_is_said_of_it(place: Place) -> None:
    network = c2n.construct(place.cube, place.query)
    same = c2n.construct(place.cube, place.query, pins=(), bans=[], options=c2n.NetworkOptions(prefer=None))
    assert network.recipe == same.recipe and network.recipe is not None
    assert not {"pins", "bans", "prefer"} & {*network.recipe.parameters, *network.settings}
    assert (network.selection.cells == same.selection.cells).all() and network.pin_costs() == ()


def test_a_price_is_the_value_without_it_less_the_value_with_it(place: Place) -> None:
    plain = c2n.construct(place.cube, place.query, "exact", 3, form="objects")
    ban = plain.labels[0]
    only_ban = c2n.construct(place.cube, place.query, "exact", 3, form="objects", bans=[ban])
    cells = range(len(place.cube.cells))
    pin = next(label for label in map(place.cube.cell, cells) if label not in {*plain.labels, *only_ban.labels})
    network = c2n.construct(place.cube, place.query, "exact", 3, form="objects", pins=[pin], bans=[ban])
    only_pin = c2n.construct(place.cube, place.query, "exact", 3, form="objects", pins=[pin])
    kept, left = network.pin_costs()
    assert kept.price == pytest.approx(only_ban.selection.value - network.selection.value)
    assert left.price == pytest.approx(only_pin.selection.value - network.selection.value)
    assert kept.price is not None and left.price is not None and min(kept.price, left.price) >= 0
    assert (kept.kind, kept.title) == ("pin", f"⟨{' · '.join(pin)}⟩") and kept.title in kept.instead
    assert str(left) == f"leaving out ⟨{' · '.join(ban)}⟩ costs {left.price:.3g}"
    assert network.selection.proven
    assert left.to_dict()["price"] == left.price and json.dumps(left.to_dict())
    travelled = replace(network, context=None)
    assert [price.price for price in travelled.pin_costs(place.cube)] == [kept.price, left.price]
    with pytest.raises(InputError, match="give the cube"):
        travelled.pin_costs()


def test_prices_of_methods_without_a_value_say_who_was_displaced(place: Place) -> None:
    plain = c2n.construct(place.cube, place.query, "pagerank", max_nodes=25)
    outside = [name for name in plain.nodes["name"].tolist() if name not in place.query]
    network = c2n.construct(
        place.cube, place.query, "pagerank", max_nodes=25, pins=[place.others[0]], bans=[outside[0]]
    )
    pinned, banned = network.pin_costs()
    assert pinned.price is None and len(pinned.missed) == 1
    assert pinned.sentence == f"keeping {place.others[0]} displaces {pinned.missed[0]!r}"
    assert banned.instead and outside[0] in banned.missed
    assert banned.sentence == f"leaving out {outside[0]} brings {banned.instead[0]!r} in its place"


@pytest.mark.parametrize(
    ("price", "sentence"),
    [
        (Price("pin", "⟨a⟩", 0.2, 0.2), "keeping ⟨a⟩ costs nothing"),
        (Price("pin", "⟨a⟩", 0.2, 0.198), "keeping ⟨a⟩ pays 0.002"),
        (Price("ban", "⟨a⟩", 200.0, 1434.0), "leaving out ⟨a⟩ costs 1,234"),
        (Price("pin", "Ada"), "keeping Ada changes nothing"),
        (Price("pin", "Ada", instead=("Ada",)), "keeping Ada displaces no object"),
        (Price("ban", "Ada", missed=("Ada",)), "leaving out Ada brings no object in its place"),
    ],
)
def test_a_price_is_one_sentence(price: Price, sentence: str) -> None:
    assert price.sentence == sentence and repr(price) == f"Price({sentence})"


def test_preferring_draws_the_network_to_what_is_preferred(place: Place) -> None:
    plain = c2n.construct(place.cube, place.query)
    steered = c2n.construct(place.cube, place.query, options=c2n.NetworkOptions(prefer=place.hidden[:3]))
    assert steered.query.objects.tolist() == plain.query.objects.tolist()
    names = set(steered.nodes["name"].tolist())
    assert set(place.hidden[:3]) <= names
    preferred = place.cube.query([*place.query, *place.hidden[:3]])
    other = c2n.construct(place.cube, preferred, n_cells=len(place.query))
    assert steered.selection.cells.tolist() == other.selection.cells.tolist()
    assert steered.selection.value == other.selection.value


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prefer": ["CELL"]}, "prefer takes objects, and CELL is a cell: pin it or ban it"),
        (
            {"n_cells": 1, "pins": ["CELL", "OTHER"]},
            "2 cells are pinned, and n_cells is 1: pin fewer, or raise n_cells",
        ),
        (
            {"max_nodes": 16, "pins": ["CELL", "OTHER"]},
            "2 cells are pinned, and max_nodes leaves room for 1: pin fewer, or raise max_nodes",
        ),
        (
            {"method": "auto", "pins": ["nobody"]},
            "'auto' chooses what to bring by itself, and pins is ['nobody']: leave it out",
        ),
        (
            {"method": "hops", "pins": ["CELL"]},
            "CELL is pinned, and the method 'hops' chooses no cells: pin and ban objects, or use a method that does, "
            "such as 'greedy'",
        ),
        ({"bans": ["CELL"], "pins": ["CELL"]}, "CELL is pinned and banned: it cannot be both"),
        ({"pins": [Node("cell", 10_000)]}, "the cube has"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(options: dict[str, Any], sentence: str, place: Place) -> None:
    titles = {"CELL": format_title(place.cube, Node("cell", 2)), "OTHER": format_title(place.cube, Node("cell", 3))}
    given = {
        word: [titles.get(one, one) if isinstance(one, str) else one for one in value]
        if isinstance(value, list)
        else value
        for word, value in options.items()
    }
    with pytest.raises(ParameterError) as error:
        c2n.api.construct_by_name(place.cube, place.query, **given)
    assert str(error.value).startswith(sentence.replace("CELL", titles["CELL"]))


def test_a_cell_of_other_levels_is_pinned_in_a_view_that_has_it(place: Place) -> None:
    label = place.cube.cell(2)
    for levels in ("one", None):
        network = c2n.construct(
            place.cube, place.query, pins=[("∗", label[1], "∗")], options=c2n.NetworkOptions(levels=levels)
        )
        assert network.labels[0] == ("∗", label[1], "∗")
    with pytest.raises(ParameterError, match=r"^no cell has the labels ∗ · "):
        c2n.construct(place.cube, place.query, pins=[("∗", label[1], "∗")], options=c2n.NetworkOptions(levels="full"))


def test_more_pins_than_the_default_of_cells_make_room_for_themselves(place: Place) -> None:
    pins = [Node("cell", number) for number in range(8)]
    network = c2n.construct(place.cube, place.query[:5], pins=pins)
    assert network.selection.cells.tolist() == list(range(8))
    assert network.context is not None and network.context.budget.n_cells == 8


def test_a_ban_that_lets_the_pins_fit_has_no_price_and_says_so() -> None:
    cube = toy_cube([[0, 1, 2, 3, 4], [5, 6], [0, 6]], objects=10, links=[(row, row + 1) for row in range(9)])
    asked: dict[str, Any] = {"n_cells": 2, "form": "objects", "max_nodes": 5, "pins": ["label 0"]}
    network = c2n.api.construct_by_name(cube, ["o0", "o6"], bans=["o4"], **asked)
    kept, left_out = network.pin_costs()
    assert kept.price is not None and not kept.needed
    assert str(left_out) == "leaving out Object 4 is necessary for the pins to fit"
    assert (left_out.price, left_out.to_dict()["needed"]) == (None, True)
    with pytest.raises(ParameterError, match="the query and what is pinned are 6 nodes, and max_nodes is 5"):
        c2n.api.construct_by_name(cube, ["o0", "o6"], **asked)


def test_a_method_of_ones_own_is_told_what_is_settled(place: Place) -> None:
    seen: list[Budget] = []

    class Mine:
        def select(
            self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0
        ) -> Selection:
            seen.append(budget)
            return c2n.methods.Greedy().select(cube, query, weights=weights, budget=budget)

    pins = [Node("cell", 2)]
    mine = c2n.construct(place.cube, place.query, Mine(), 4, form="objects", pins=pins, bans=[Node("cell", 3)])
    greedy = c2n.construct(place.cube, place.query, "greedy", 4, form="objects", pins=pins, bans=[Node("cell", 3)])
    assert (seen[0].n_cells, seen[0].scope.forbidden_cells.tolist(), seen[0].scope.cells.tolist()) == (3, [2, 3], [2])
    assert mine.selection.values.tolist() == greedy.selection.values.tolist()


def test_a_network_is_asked_again_under_another_steering(place: Place) -> None:
    network = c2n.construct(place.cube, place.query, "greedy", 4, form="objects", pins=[Node("cell", 2)])
    assert network.context is not None
    assert network.context.budget.scope.cells.tolist() == [2]
    plain = network.context.again(Steering())
    assert (
        plain.selection.values.tolist()
        == c2n.construct(place.cube, place.query, "greedy", 4, form="objects").selection.values.tolist()
    )
    back = network.context.again(network.context.steering)
    assert back.recipe == network.recipe


def test_a_bound_holds_for_all_choices_that_keep_the_steering(place: Place) -> None:
    pins = {"pins": [Node("cell", 2)], "bans": [Node("cell", 5)]}
    greedy = c2n.api.construct_by_name(place.cube, place.query, "greedy", 3, form="objects", bound=True, **pins)
    best = c2n.api.construct_by_name(place.cube, place.query, "exact", 3, form="objects", **pins)
    assert best.selection.proven and greedy.selection.bound is not None
    assert greedy.selection.value <= best.selection.value <= greedy.selection.bound + 1e-9


def test_the_command_steers_and_says_prices(place: Place) -> None:
    query = place.folder / "query.csv"
    query.write_text("name\n" + "\n".join(place.query), encoding="utf-8")
    pin, ban = " · ".join(place.cube.cell(2)), place.others[1]
    words = ["query", str(place.folder / "cube"), "--query", str(query), "--pin", pin, "--ban", ban, "--quiet"]
    words += ["--prefer", place.hidden[0]]
    shown = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert f"keeping ⟨{pin}⟩ " in shown.output and f"leaving out {ban} " in shown.output
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert told["pins"] == [f"⟨{pin}⟩"] and told["prefer"] == [place.hidden[0]]
    assert [price["title"] for price in told["prices"]] == [f"⟨{pin}⟩", ban]
    silent = CliRunner().invoke(app, [*words, "--no-prices"], env={"COLUMNS": "200"})
    assert "keeping" not in silent.output and "leaving out" not in silent.output
