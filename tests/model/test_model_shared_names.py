"""A name that is the id of one object and the name of others: the id wins, and it is told."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.apps.cli.query import describe_missing, show_missing
from cube2net.apps.service.service import CubeService
from cube2net.model.cube import Cube
from cube2net.model.objects import Lookup, Objects
from cube2net.model.query import describe_shared_names

from toys import toy_cube

NAMES = ["Wei Li", "Wei Li", "Ada", "Ben", "Wei Li", "Ben"]
IDS = ["wei-li", "Wei Li", "ada", "ben", "wei-li-2", "ben-2"]


@pytest.fixture
def cube() -> Cube:
    """Return a cube in which three objects are called Wei Li, of which one has this as its id, and two are called Ben.

    Ada is the name and the id of nobody else.
    """
    made = toy_cube([[0, 1, 2], [2, 3, 4, 5]], objects=6, links=[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    table = pa.table({"object": IDS, "name": NAMES, "kind": ["author"] * 6})
    return replace(made, objects=Objects.of(table))


def test_a_name_that_is_an_id_means_that_object_and_is_told_as_shared(cube: Cube) -> None:
    query = cube.query(["Ada", "Wei Li"])
    assert query.objects.tolist() == [1, 2]
    assert query.shared == ("Wei Li",)


def test_a_name_whose_other_bearers_are_less_linked_is_taken_as_its_id_without_a_word(cube: Cube) -> None:
    made = toy_cube([[0, 1, 2], [2, 3, 4, 5]], objects=6, links=[(0, 1), (1, 2), (2, 3), (3, 4)])
    assert replace(made, objects=cube.objects).query(["Wei Li"]).shared == ()


@pytest.mark.parametrize("given", [["Ada"], ["wei-li", "wei-li-2"], [0, 1, 2]])
def test_names_that_mean_one_object_and_rows_are_not_told(cube: Cube, given: list[Any]) -> None:
    assert cube.query(given).shared == ()


def test_a_query_and_a_network_that_are_given_again_are_not_told(cube: Cube) -> None:
    network = c2n.construct(cube, cube.query(["Wei Li", "Ada"]))
    for given in (network.query, network, network.nodes, network.to_pandas()[0]):
        assert cube.query(given).shared == ()


def test_the_note_of_a_network_counts_shared_names_and_says_how_to_choose(cube: Cube, tmp_path: Path) -> None:
    note = (
        "1 name of the query is ambiguous; the object with this id was taken: 'Wei Li' "
        "(others: 'wei-li', 'wei-li-2'); use ids to choose others"
    )
    assert describe_shared_names(cube.objects, ["Wei Li"]) == note
    assert note in c2n.construct(cube, ["Wei Li", "Ada"]).selection.note
    assert note not in c2n.construct(cube, ["wei-li", "Ada"]).selection.note
    (tmp_path / "names.txt").write_text("Wei Li\nAda\n")
    assert note in c2n.construct(cube, c2n.read_query(cube, tmp_path / "names.txt")).selection.note


def test_many_shared_names_are_counted_and_three_are_named() -> None:
    made = toy_cube([list(range(10))], objects=10)
    ids = [name for at in range(5) for name in (f"n{at}", f"x{at}")]
    table = pa.table({"object": ids, "name": [f"n{at // 2}" for at in range(10)], "kind": ["author"] * 10})
    cube = replace(made, objects=Objects.of(table))
    note = describe_shared_names(cube.objects, cube.query([f"n{at}" for at in range(5)]).shared)
    assert note.startswith("5 names of the query are ambiguous; the objects with these ids were taken:")
    assert "'n2' (others: 'x2') and 2 more; use ids" in note


def test_the_ids_of_a_page_are_not_told_as_shared(cube: Cube) -> None:
    answer = CubeService(cube).answer("construct", {"request": {"query": ["Wei Li", "ada"]}})
    assert "other objects too" not in answer["note"]


def test_a_pasted_name_that_is_an_id_is_found_with_all_who_bear_it(cube: Cube) -> None:
    answer = CubeService(cube).answer("names", {"text": "Ada\nWei Li\nBen"})
    ada, wei, ben = answer["rows"]
    assert (ada["state"], ada["candidates"]) == ("found", [])
    assert (wei["state"], wei["id"]) == ("found", "Wei Li")
    assert [each["id"] for each in wei["candidates"]] == ["Wei Li", "wei-li", "wei-li-2"]
    assert (ben["state"], [each["id"] for each in ben["candidates"]]) == ("ambiguous", ["ben", "ben-2"])
    assert answer["sentence"] == (
        '2 of 3 names found; "Ben" is the name of 2 objects: choose one; 1 name also belonging to other objects'
    )


def test_shared_names_are_the_same_with_lookups(cube: Cube) -> None:
    hashes = np.array([zlib.crc32(name.encode()) for name in NAMES], dtype=np.uint32)
    order = np.argsort(hashes, kind="stable")
    looked_up = replace(cube.objects, lookups={"name": Lookup(hashes[order], order)})
    for objects in (cube.objects, looked_up):
        assert objects.also_called(NAMES, objects.find(NAMES).rows) == {"Wei Li": [0, 4]}
        assert objects.also_called([], np.empty(0, np.int64)) == {}


def test_commands_say_and_give_which_names_are_those_of_others_too(
    cube: Cube, capsys: pytest.CaptureFixture[str]
) -> None:
    query = cube.query(["Wei Li", "Ada"])
    assert describe_missing(query) == {"shared": ["Wei Li"]}
    show_missing(query, cube=cube)
    assert "1 name of the query is ambiguous" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize("brief", [False, True])
def test_a_text_has_the_id_of_whoever_is_not_meant_by_the_name_alone(cube: Cube, brief: bool) -> None:
    text = c2n.construct(cube, ["wei-li", "ben", "ada"], options=c2n.NetworkOptions(n_neighbors=0)).to_text(brief=brief)
    for name, key in (("Wei Li", "wei-li"), ("Ben", "ben")):
        note = f'"{name}" (id {key})' if brief else f"{name} (id {key})"
        assert note in text
    assert "(id ada)" not in text
    assert "(id" not in c2n.construct(cube, ["Wei Li"], options=c2n.NetworkOptions(n_neighbors=0)).to_text(brief=brief)
