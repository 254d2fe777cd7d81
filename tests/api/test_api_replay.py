"""Every export carries what made it, and replay makes the same bytes of that, or says what differs."""

import datetime as dt
import json
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net import options as options_module
from cube2net.api.cubes import view_cube
from cube2net.api.plan import METHODS
from cube2net.api.replay import Replayed
from cube2net.apps.cli.app import app, render_message
from cube2net.cube.cuboids import cuboid
from cube2net.cube.views import dice, drill_down, roll_up, slice_cube
from cube2net.errors import CubeError, InputError, ParameterError, QueryError
from cube2net.model.cube import Cube, get_lineage
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.recipe import Recipe
from cube2net.model.selection import Budget, QueryObjective, Selection
from cube2net.network.export.recipes import read_recipe
from cube2net.network.export.registry import EXPORTS
from cube2net.selection.objectives import Cover, FBeta, Linked
from cube2net.vectors.cell_vectors import embed_cells

FORMS = {
    "none": ["objects"],
    "hops": ["objects"],
    "pagerank": ["objects"],
    "steiner": ["objects"],
    "maxdisc": ["objects"],
}
QUICK: dict[str, dict[str, Any]] = {
    "cube2net": {"updates": 2, "trajectories": 4, "epochs": 1},
    "anneal": {"steps": 200, "restarts": 1},
}


@dataclass(frozen=True)
class Place:
    folder: Path
    cube: Cube
    query: dict[str, str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("replay")
    planted = c2n.make_planted(objects=200, communities=4, noise=0.1, seed=1)
    cube = c2n.build(planted.corpus, out=folder / "cube")
    return Place(folder, cube, {name: f"group {at % 2}" for at, name in enumerate(planted.query(0)[:20])})


def again(place: Place, network: Network, name: str = "net.json") -> Replayed:
    network.save(place.folder / name)
    return c2n.replay(place.folder / name)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_in_every_form_is_made_again_to_the_byte(method: str, place: Place) -> None:
    for form in FORMS.get(method, options_module.FORMS):
        network = c2n.api.construct_by_name(
            place.cube, place.query, method, 4, form=form, seed=7, **QUICK.get(method, {})
        )
        assert again(place, network).differences == ()


@pytest.mark.parametrize("suffix", EXPORTS)
def test_every_export_carries_its_recipe_and_is_made_again_to_the_byte(suffix: str, place: Place) -> None:
    network = c2n.construct(place.cube, place.query, seed=3)
    paths = network.save(place.folder / f"every{suffix}")
    assert read_recipe(place.folder / f"every{suffix}") == network.recipe
    for path in (place.folder / f"every{suffix}", *paths):
        found = c2n.replay(path)
        assert found.same and found.recipe == network.recipe, path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "auto"},
        {"method": "hops 2", "max_nodes": 60},
        {"method": "pagerank", "max_nodes": 50, "max_links": 80},
        {"objective": "linked", "form": "objects", "n_cells": 3},
        {"objective": FBeta(beta=0.5), "form": "cells+objects", "max_nodes": 60},
        {"objective": Linked(damping=0.5), "keep_unlinked": True, "form": "objects", "best_prefix": True},
        {"objective": Cover(r=2), "n_neighbors": 5, "neighbor_weight": 0.5, "membership_weights": "even"},
        {"levels": "one", "cell_weight": 0.5},
        {"levels": ["venue", "decade,topic"]},
        {"method": c2n.methods.Greedy(by="price"), "objective": "jaccard", "n_cells": 3, "bound": True},
    ],
    ids=str,
)
def test_whatever_is_asked_is_made_again(options: dict[str, Any], place: Place) -> None:
    assert again(place, c2n.api.construct_by_name(place.cube, place.query, **options)).differences == ()


def test_rows_names_and_no_labels_are_asked_again(place: Place) -> None:
    for query in ([5, 3, 8], list(place.query), place.cube.query(list(place.query))):
        found = again(place, c2n.construct(place.cube, query))
        assert found.same
    assert found.recipe.query["labels"] is None


def rolled(cube: Cube) -> Cube:
    return roll_up(cube, cube.dimensions[-1].name)


def test_views_are_part_of_the_recipe(place: Place) -> None:
    cube = place.cube
    first = cube.dimensions[0]
    views = {
        "dice": dice(cube, {first.name: list(first.labels[:2])}),
        "slice": slice_cube(cube, cube.dimensions[1].name, cube.dimensions[1].labels[0]),
        "cuboid": cuboid(cube, "one"),
        "twice": dice(dice(cube, {first.name: list(first.labels[:2])}), {first.name: first.labels[0]}),
        "command": view_cube(cube, where={first.name: [first.labels[0]]}),
        "kind": view_cube(cube, where={first.name: [first.labels[0]]}, kind="object"),
    }
    for name, view in views.items():
        network = c2n.construct(view, place.query)
        assert network.recipe is not None
        assert network.recipe.cube["checksum"] == cube.origin.seal  # type: ignore[union-attr]
        assert again(place, network).same, name
    assert again(place, c2n.construct(views["kind"], place.query)).recipe.cube["views"] == [
        {"view": "dice", "where": {first.name: [first.labels[0]]}},
        {"view": "of_kind", "kinds": "object"},
    ]
    assert again(place, c2n.construct(views["twice"], place.query)).recipe.cube["views"] == [
        {"view": "dice", "where": {first.name: list(first.labels[:2])}},
        {"view": "dice", "where": {first.name: first.labels[0]}},
    ]
    assert get_lineage(cube).views == ()


def with_levels(folder: Path) -> Cube:
    import networkx as nx

    graph = nx.gnm_random_graph(60, 120, seed=1)
    years = {node: str(1990 + node % 20) for node in graph}
    nx.set_node_attributes(graph, years, "year")
    nx.set_node_attributes(graph, {node: f"{year[:3]}0s" for node, year in years.items()}, "decade")
    return c2n.build(c2n.from_networkx(graph), ["year/decade"], min_objects=1, out=folder / "levels")


def test_levels_are_rolled_up_and_drilled_down_again(tmp_path: Path) -> None:
    cube = with_levels(tmp_path)
    up = roll_up(cube, "year")
    diced = dice(up, {"decade": "1990s"})
    for view in (up, drill_down(up, "decade"), diced, drill_down(diced, "decade")):
        c2n.construct(view, ["3", "8"]).save(tmp_path / "net.json")
        assert c2n.replay(tmp_path / "net.json", tmp_path / "levels").same
    assert get_lineage(up).views == ({"view": "roll_up", "dimension": "year"},)
    assert cube.lineage is None


@pytest.mark.parametrize("window", ["2000..2009", (2000, None), (None, dt.date(2009, 12, 31)), "year=..1999"])
def test_a_window_of_time_is_part_of_the_recipe(window: Any, tmp_path: Path) -> None:
    nodes = pd.DataFrame({"id": [f"n{at}" for at in range(40)], "city": [f"city {at % 3}" for at in range(40)]})
    nodes["year"] = [f"{1990 + at % 25}-06-01" for at in range(40)]
    nodes["year"] = pd.to_datetime(nodes["year"])
    links = pd.DataFrame({"source": nodes["id"], "target": nodes["id"].shift(-1, fill_value="n0")})
    c2n.build(nodes, links=links, dimensions=["city", "year@years"], min_objects=1, out=tmp_path / "cube")
    view = view_cube(c2n.open(tmp_path / "cube"), between=window, roll_up=())
    network = c2n.construct(view, ["n3", "n12", "n20"])
    network.save(tmp_path / "net.json")
    found = c2n.replay(tmp_path / "net.json")
    assert found.same and found.recipe.cube["views"][0]["view"] == "between"


def test_the_recipe_tells_what_auto_chose_not_how_long_it_took(place: Place) -> None:
    recipe = c2n.construct(place.cube, list(place.query), "auto").recipe
    assert recipe is not None and recipe.chosen_by == "auto" and recipe.method["name"] in METHODS
    assert "seconds" not in recipe.to_dict()["parameters"]


def test_the_recipe_has_no_path_of_the_machine(place: Place) -> None:
    recipe = c2n.construct(place.cube, place.query).recipe
    assert recipe is not None and recipe.cube["name"] == "cube"
    assert str(place.folder) not in recipe.to_json() and "/" not in recipe.to_json()


def test_a_recipe_is_one_line_for_people_and_one_of_json(place: Place) -> None:
    recipe = c2n.construct(place.cube, place.query).recipe
    assert re.fullmatch(r"Recipe\(greedy, cover, seed 0, 20 in the query, cube [0-9a-f]{12}\)", repr(recipe))
    assert recipe is not None and Recipe.from_json(recipe.to_json()) == recipe
    assert recipe.to_json().isascii() and "\n" not in recipe.to_json()


def test_a_cube_in_memory_is_given(place: Place, tmp_path: Path) -> None:
    cube = c2n.build(c2n.make_planted(objects=200, communities=4, noise=0.1, seed=1).corpus)
    network = c2n.construct(cube, place.query)
    network.save(tmp_path / "net.gexf")
    assert network.recipe is not None and network.recipe.cube == {"checksum": None, "name": None, "views": []}
    assert c2n.replay(tmp_path / "net.gexf", cube).same
    cube.save(tmp_path / "saved")
    assert c2n.replay(tmp_path / "net.gexf", tmp_path / "saved").same
    with pytest.raises(InputError, match=r"made of a cube in memory: give the cube or its folder \(cube=FOLDER\)"):
        c2n.replay(tmp_path / "net.gexf")


def test_a_cube_that_is_not_found_is_said(place: Place, tmp_path: Path) -> None:
    c2n.construct(place.cube, place.query).save(tmp_path / "net.json")
    with pytest.raises(CubeError) as error:
        c2n.replay(tmp_path / "net.json")
    assert str(error.value) == "the cube 'cube' is neither beside the file nor here: give its folder (cube=FOLDER)"
    assert render_message(error.value.message).endswith("give its folder (--cube FOLDER)")
    assert c2n.replay(tmp_path / "net.json", place.folder / "cube").same
    assert c2n.replay(tmp_path / "net.json", place.cube).same


class Mine:
    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        return Selection(query.objects, 1.0)


def test_what_is_ones_own_cannot_be_made_again_and_says_so(place: Place, tmp_path: Path) -> None:
    own = {
        "its method 'Mine' is one's own": c2n.construct(place.cube, place.query, Mine()),
        "its objective is a function of one's own": c2n.construct(
            place.cube, place.query, "greedy", 2, lambda objects, query: len(objects) / 100
        ),
        "the vectors of its method is an object, Vectors": c2n.construct(
            place.cube, place.query, c2n.methods.Cube2net(vectors=embed_cells(place.cube), **QUICK["cube2net"]), 2
        ),
    }
    for why, network in own.items():
        network.save(tmp_path / "net.json")
        with pytest.raises(InputError) as error:
            c2n.replay(tmp_path / "net.json", place.cube)
        assert str(error.value) == f"the network cannot be made again: {why}"


def edited(path: Path, change: Any) -> None:
    whole = json.loads(path.read_text("utf-8"))
    change(whole["graph"]["recipe"])
    path.write_text(json.dumps(whole), encoding="utf-8")


def test_another_cube_is_said_and_so_is_the_other_network(place: Place, tmp_path: Path) -> None:
    c2n.construct(place.cube, place.query).save(tmp_path / "net.csv")
    other = c2n.make_planted(objects=200, communities=4, noise=0.3, seed=2)
    c2n.build(other.corpus, out=tmp_path / "cube")
    found = c2n.replay(tmp_path / "net.csv")
    assert not found.same and len(found.differences) == 2
    assert re.fullmatch(
        r"the cube is another one or was changed: its checksum is [0-9a-f]{12}, it was [0-9a-f]{12}",
        found.differences[0],
    )
    assert found.differences[1].startswith("the network is another one: it has ")
    assert repr(found).startswith("Replayed(2 differences: Network(")
    small = c2n.make_planted(objects=50, communities=2, seed=3)
    c2n.build(small.corpus, min_objects=1, out=tmp_path / "small")
    with pytest.raises(QueryError, match=r"the cube does not have \d+ objects of the recipe's query: 'o\d+'"):
        c2n.replay(tmp_path / "net.csv", tmp_path / "small")


def test_another_version_is_said(place: Place) -> None:
    path = place.folder / "version.json"
    c2n.construct(place.cube, place.query).save(path)
    edited(path, lambda recipe: recipe["versions"].update(cube2net="0.0.1"))
    assert f"it was made by cube2net 0.0.1, this is {c2n.__version__}" in c2n.replay(path).differences


def test_a_file_that_was_changed_is_said_from_its_first_byte_on(place: Place, tmp_path: Path) -> None:
    nodes, links, recipe = c2n.construct(place.cube, place.query).save(tmp_path / "net.csv")
    old = nodes.read_bytes()
    nodes.write_bytes(old[:100] + b"?" + old[101:])
    size = f"{len(old):,}"
    assert c2n.replay(tmp_path / "net.csv", place.cube).differences == (
        f"net.nodes.csv differs from byte 100 on: it has {size} bytes, and {size} are written now",
    )
    nodes.unlink()
    assert c2n.replay(tmp_path / "net.csv", place.cube).differences == ("net.nodes.csv is missing",)
    recipe.unlink()
    with pytest.raises(InputError, match=r"net\.recipe\.json' does not exist: name the file of a network"):
        c2n.replay(links, place.cube)


def test_a_csv_that_is_safe_for_spreadsheets_is_made_again(place: Place, tmp_path: Path) -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0.1, seed=1).corpus
    column = planted.objects.column_names.index("name")
    names = pa.array([f"=1+{at}" for at in range(planted.objects.num_rows)])
    cube = c2n.build(replace(planted, objects=planted.objects.set_column(column, "name", names)))
    for suffix in (".csv", ".neo4j.csv"):
        c2n.construct(cube, list(place.query)).save(tmp_path / f"n{suffix}", spreadsheet_safe=True)
        assert c2n.replay(tmp_path / f"n{suffix}", cube).same


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda r: r["method"].update(name="magic"), "the recipe has the method 'magic', and there are none, hops, "),
        (lambda r: r["method"]["options"].update(speed=3), "the recipe's method 'greedy' cannot be made here: "),
        (lambda r: r["objective"].update(name="joy"), "the recipe has the objective 'joy', and there are jaccard, "),
        (lambda r: r["parameters"].update(colour="red"), "the recipe's network cannot be made here: "),
        (
            lambda r: r["parameters"].update(form="round"),
            "the recipe's network cannot be made here: unknown form 'round'",
        ),
        (lambda r: r["cube"]["views"].append({"view": "squint"}), "the recipe's view 1 is 'squint': choose one of "),
        (lambda r: r["cube"]["views"].append({"view": "dice"}), "the recipe's view cannot be made here: "),
        (
            lambda r: r["versions"].update(recipe=99),
            "the recipe has format 99, and this cube2net reads 1: install a newer",
        ),
        (lambda r: r["query"].update(ids=[]), "the recipe has an odd list of ids"),
        (lambda r: r["query"].update(labels=["a"]), "the recipe has an odd list of labels"),
        (lambda r: r.update(seed="seven"), "the recipe has an odd seed: 'seven'"),
        (lambda r: r.update(seed=True), "the recipe has an odd seed: True"),
        (lambda r: r.pop("method"), "the recipe has an odd method: None"),
        (lambda r: r["cube"].update(checksum=3), "the recipe has an odd checksum of the cube"),
        (lambda r: r["cube"]["views"].append({"view": []}), "the recipe's view 1 is []: choose one of "),
        (lambda r: r["versions"].update(cube2net=float("nan")), "the recipe has a number that is not finite"),
    ],
)
def test_a_recipe_that_cannot_be_followed_says_why(change: Any, text: str, place: Place, tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    c2n.construct(place.cube, place.query).save(path)
    edited(path, change)
    with pytest.raises(InputError) as error:
        c2n.replay(path, place.cube)
    assert text in str(error.value)


def test_a_recipe_may_leave_out_what_is_none(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    c2n.construct(place.cube, place.query).save(path)
    edited(path, lambda recipe: (recipe["query"].pop("labels", None), recipe["cube"].pop("checksum")))
    assert len(c2n.replay(path, place.cube).network.query) == len(place.query)


def test_a_name_of_a_cube_that_leads_elsewhere_is_not_followed(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    c2n.construct(place.cube, place.query).save(path)
    shutil.copytree(place.folder / "cube", tmp_path / "elsewhere" / "cube")
    edited(path, lambda recipe: recipe["cube"].update(name="elsewhere/cube"))
    with pytest.raises(CubeError, match=r"the cube 'elsewhere/cube' is neither beside the file nor here"):
        c2n.replay(path)
    shutil.copytree(place.folder / "cube", tmp_path, dirs_exist_ok=True)
    (tmp_path / "below").mkdir()
    shutil.copy(path, tmp_path / "below" / "net.json")
    for name, where in (("..", "below/net.json"), ("", "net.json"), (".", "net.json")):
        edited(tmp_path / where, lambda recipe, name=name: recipe["cube"].update(name=name))
        with pytest.raises(CubeError, match=rf"the cube '{name}' is neither beside the file nor here"):
            c2n.replay(tmp_path / where)


@pytest.mark.parametrize("suffix", EXPORTS)
def test_files_that_are_no_networks_are_refused_in_one_sentence(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"net{suffix}"
    for name in (path, path.with_name(path.name[: -len(suffix)] + ".nodes" + suffix), path.with_suffix(".recipe.json")):
        for text in ("", "{", "[" * 100_000, "<a", "PAR1", "null", '{"graph": 3}'):
            name.write_text(text)
            with pytest.raises(InputError) as error:
                c2n.replay(path)
            assert "\n" not in str(error.value) and len(str(error.value)) < 400
    with pytest.raises(ParameterError, match=r"unknown suffix of a network file '\.txt': choose one of \.csv, "):
        c2n.replay(tmp_path / "net.txt")


def test_a_network_made_by_hand_has_no_recipe(place: Place, tmp_path: Path) -> None:
    network = replace(c2n.construct(place.cube, place.query), recipe=None)
    for suffix in EXPORTS:
        paths = network.save(tmp_path / f"net{suffix}")
        assert not any(path.name.endswith("recipe.json") for path in paths)
        with pytest.raises(InputError, match=r"holds no recipe: only networks that construct made|does not exist"):
            c2n.replay(tmp_path / f"net{suffix}", place.cube)


def test_a_recipe_of_many_names_is_whole(tmp_path: Path) -> None:
    planted = c2n.make_planted(objects=20_000, communities=4, noise=0, seed=1)
    cube = c2n.build(planted.corpus)
    query = np.arange(0, 20_000, 2).tolist()
    c2n.construct(cube, query, "none").save(tmp_path / "net.graphml")
    assert c2n.replay(tmp_path / "net.graphml", cube).same
    assert len(read_recipe(tmp_path / "net.graphml").query["ids"]) == 10_000


def test_the_command_says_the_same_or_what_differs(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "net.graphml"
    c2n.construct(place.cube, place.query).save(path)
    ask, cube = ["replay", str(path), "--quiet"], ["--cube", str(place.folder / "cube")]
    assert CliRunner().invoke(app, [*ask, *cube]).output.count("\n") == 1
    ended = CliRunner().invoke(app, [*ask, *cube, "--out", str(tmp_path / "again.graphml")])
    assert ended.exit_code == 0 and ended.output.startswith("identical bytes: Network(")
    assert (tmp_path / "again.graphml").read_bytes() == path.read_bytes()
    path.write_bytes(path.read_bytes() + b"\n")
    ended = CliRunner().invoke(app, [*ask, *cube])
    assert ended.exit_code == 1 and "- net.graphml differs from byte " in ended.output
    ended = CliRunner().invoke(app, [*ask, *cube, "--json"])
    told = json.loads(ended.output)
    assert ended.exit_code == 1 and told["same"] is False and told["recipe"]["method"]["name"] == "greedy"
