"""Cells and objects by whatever names them."""

import numpy as np
import pytest

import cube2net as c2n
from cube2net.errors import ParameterError, QueryError
from cube2net.records import Cube, Node, Scope, Steering
from cube2net.records.node_names import node_of, rows_of, title_of


@pytest.fixture(scope="module")
def cube() -> Cube:
    return c2n.build_cube(c2n.make_planted(objects=200, communities=4, noise=0).corpus)


def test_a_cell_is_named_by_labels_by_a_line_and_as_exports_have_it(cube: Cube) -> None:
    labels = cube.cell(3)
    line = " · ".join(labels)
    for given in (labels, list(labels), line, f"⟨{line}⟩", f"cell:{line}", ", ".join(labels), Node("cell", 3)):
        assert node_of(cube, given) == Node("cell", 3)
    assert title_of(cube, Node("cell", 3)) == f"⟨{line}⟩"


def test_an_object_is_named_by_id_by_name_and_by_row(cube: Cube) -> None:
    key = cube.objects.ids(np.array([7]))[0].as_py()
    assert node_of(cube, key) == node_of(cube, 7) == Node("object", 7)
    assert title_of(cube, Node("object", 7)) == cube.objects.table["name"][7].as_py()


def test_what_names_nothing_is_said(cube: Cube) -> None:
    with pytest.raises(QueryError, match="nobody"):
        node_of(cube, "nobody")
    with pytest.raises(ParameterError, match="neither an object nor a cell: a cell has a label for each of"):
        node_of(cube, "one · two")
    labels = cube.cell(3)
    with pytest.raises(ParameterError, match=f"unknown label of .*{labels[-1]}"):
        node_of(cube, " · ".join([*labels[:-1], labels[-1][:-1] + "z"]))
    with pytest.raises(ParameterError, match="write one label for each of"):
        node_of(cube, "cell:one")
    with pytest.raises(ParameterError, match="names another"):
        node_of(cube, Node("cell", 10_000))


def test_a_label_may_hold_what_stands_between_labels() -> None:
    items = [{"paper": f"p{n}", "object": f"o{n}", "venue": "A · B", "year": str(2000 + n % 2)} for n in range(40)]
    cube = c2n.build_cube(
        c2n.read_tables(items, item="paper", objects="object"), dimensions=["venue", "year"], min_objects=2
    )
    assert cube.cell(node_of(cube, "A · B · 2001").number) == ("A · B", "2001")


def test_a_line_of_many_commas_is_refused_at_once(cube: Cube) -> None:
    with pytest.raises(QueryError, match="not in the cube"):
        node_of(cube, "a," * 20_000)


def test_a_pin_takes_a_ban_away_and_the_other_way_round() -> None:
    cell, person = Node("cell", 1), Node("object", 5)
    banned = Steering(pins=(cell, person)).banning([cell])
    assert (banned.cells("pins"), banned.objects("pins"), banned.cells("bans")) == ([], [5], [1])
    assert banned.pinning([cell]) == Steering(pins=(person, cell))
    assert not Steering() and bool(banned)
    assert rows_of([cell, Node("cell", 0), cell]).tolist() == [0, 1]


def test_a_scope_says_what_is_settled() -> None:
    assert Scope().empty
    assert "2 objects barred" in repr(Scope(barred=np.array([True, True, False])))
