"""Cells and objects by whatever names them."""

from itertools import permutations

import numpy as np
import pytest

import cube2net as c2n
from cube2net.cube.cuboids import cuboid
from cube2net.cube.views import roll_up
from cube2net.errors import ParameterError, QueryError
from cube2net.model.cube import Cube
from cube2net.model.node_names import Node, format_title, resolve_cell, resolve_node
from cube2net.model.selection import Scope, Steering


@pytest.fixture(scope="module")
def cube() -> Cube:
    return c2n.build(c2n.make_planted(objects=200, communities=4, noise=0).corpus)


def test_a_cell_is_named_by_labels_by_a_line_and_as_exports_have_it(cube: Cube) -> None:
    labels = cube.cell(3)
    line = " · ".join(labels)
    for given in (labels, list(labels), line, f"⟨{line}⟩", f"cell:{line}", ", ".join(labels), Node("cell", 3)):
        assert resolve_node(cube, given) == Node("cell", 3)
    assert format_title(cube, Node("cell", 3)) == f"⟨{line}⟩"


def test_an_object_is_named_by_id_by_name_and_by_row(cube: Cube) -> None:
    key = cube.objects.ids(np.array([7]))[0].as_py()
    assert resolve_node(cube, key) == resolve_node(cube, 7) == Node("object", 7)
    assert format_title(cube, Node("object", 7)) == cube.objects.table["name"][7].as_py()


def test_what_names_nothing_is_said(cube: Cube) -> None:
    with pytest.raises(QueryError, match=r"^no object or cell is called 'nobody'$"):
        resolve_node(cube, "nobody")
    with pytest.raises(QueryError, match=r"^no object or cell is called 'Objekt 7': did you mean 'Object 7'\?$"):
        resolve_node(cube, " Objekt 7")
    with pytest.raises(QueryError, match=r"^no object has the row 200: the cube has 200 objects$"):
        resolve_node(cube, 200)
    with pytest.raises(ParameterError, match="^no cell is 'one · two': write one label for each of"):
        resolve_node(cube, "one · two")
    labels = cube.cell(3)
    with pytest.raises(ParameterError, match=f"unknown label of .*{labels[-1]}"):
        resolve_node(cube, " · ".join([*labels[:-1], labels[-1][:-1] + "z"]))
    with pytest.raises(ParameterError, match="write one label for each of"):
        resolve_node(cube, "cell:one")
    with pytest.raises(ParameterError, match="is another"):
        resolve_node(cube, Node("cell", 10_000))


@pytest.mark.parametrize("mark", [" · ", "·", ", ", ",", " / ", "/", " | ", "|", ";", "\t"])
def test_labels_may_be_typed_in_any_order_with_other_signs_between(cube: Cube, mark: str) -> None:
    for labels in permutations(cube.cell(3)):
        assert resolve_node(cube, mark.join(labels)) == Node("cell", 3)
        assert resolve_cell(cube, mark.join(labels)).names(cube) == cube.cell(3)


def test_an_order_that_leaves_doubt_is_refused() -> None:
    items = [{"paper": f"p{n}", "object": f"o{n}", "city": "AB"[n % 2], "born": "ABC"[n % 3]} for n in range(60)]
    cube = c2n.build(c2n.read_tables(items, item="paper", objects="object"), dimensions=["city", "born"], min_objects=2)
    assert cube.cell(resolve_node(cube, "A, B").number) == ("A", "B")
    for given in ("C / A", "A, D", "Doe, Jane"):
        with pytest.raises(QueryError, match=f"no object or cell is called '{given}'$"):
            resolve_node(cube, given)
    with pytest.raises(ParameterError, match="unknown label of 'born' 'D': choose one of A, B, C"):
        resolve_node(cube, "A · D")


def test_an_object_may_be_called_as_a_cell_that_there_is_not() -> None:
    items = [{"paper": f"p{n}", "object": f"o{n}", "city": "AB"[n % 2], "born": "CD"[n % 2]} for n in range(40)]
    items += [{"paper": "q", "object": name, "city": "A", "born": "C"} for name in ("A, D", "B, D")]
    cube = c2n.build(c2n.read_tables(items, item="paper", objects="object"), dimensions=["city", "born"], min_objects=2)
    assert format_title(cube, resolve_node(cube, "A, D")) == "A, D"
    with pytest.raises(ParameterError, match="'B, D' is both an object and a cell"):
        resolve_node(cube, "B, D")
    assert resolve_node(cube, ("B", "D")).is_cell


def test_a_name_that_several_bear_says_their_ids() -> None:
    cube = c2n.build(
        c2n.read_tables(
            [{"id": f"o{n}", "name": "Ann" if n < 2 else f"Bob {n}", "city": "AB"[n % 2]} for n in range(40)],
            [{"source": f"o{n}", "target": f"o{n + 1}"} for n in range(39)],
        ),
        dimensions=["city"],
        min_objects=2,
    )
    with pytest.raises(QueryError, match="^several objects are called 'Ann': give the id of one, such as 'o0', 'o1'$"):
        resolve_node(cube, "Ann")


def test_a_cell_of_another_level_says_what_has_such_cells() -> None:
    cube = c2n.build(c2n.load_bundled(), ["year@years/decades", "venue/kind"])
    with pytest.raises(ParameterError) as refused:
        resolve_node(cube, "ACL, 201X")
    assert str(refused.value) == (
        "the cell '201X · ACL' is at another level: '201X' is of 'decades' and cells are of 'year' "
        "(such cells are there with levels='decades,venue')"
    )
    for given in (("201X", "∗"), ["201X", "ACL"], "⟨201X · ACL⟩", "201X/ACL"):
        with pytest.raises(ParameterError, match="is at another level: '201X' is of 'decades'"):
            resolve_node(cube, given)
    assert resolve_node(cuboid(cube, "decades,venue"), "ACL, 201X").is_cell
    with pytest.raises(ParameterError, match="^unknown label of 'year' '201X'"):
        resolve_node(cube, "201X · ACK")
    rolled = roll_up(cube, "year", "decades")
    assert resolve_node(rolled, "ACL, 201X").is_cell
    with pytest.raises(ParameterError, match="'2019' is of 'year' and cells are of 'decades'$"):
        resolve_node(rolled, "2019 · ACL")


def test_a_label_may_hold_what_stands_between_labels() -> None:
    items = [{"paper": f"p{n}", "object": f"o{n}", "venue": "A · B", "year": str(2000 + n % 2)} for n in range(40)]
    cube = c2n.build(
        c2n.read_tables(items, item="paper", objects="object"), dimensions=["venue", "year"], min_objects=2
    )
    assert cube.cell(resolve_node(cube, "A · B · 2001").number) == ("A · B", "2001")


def test_a_line_of_many_commas_is_refused_at_once(cube: Cube) -> None:
    with pytest.raises(QueryError, match="no object or cell is called 'a,a,"):
        resolve_node(cube, "a," * 20_000)
    with pytest.raises(ParameterError, match="write one label for each of"):
        resolve_node(cube, "198X · " * 20_000)


def test_a_pin_takes_a_ban_away_and_the_other_way_round() -> None:
    cell, person = Node("cell", 1), Node("object", 5)
    banned = Steering(pins=(cell, person)).banning([cell])
    assert (banned.cells("pins"), banned.objects("pins"), banned.cells("bans")) == ([], [5], [1])
    assert banned.pinning([cell]) == Steering(pins=(person, cell))
    assert not Steering() and bool(banned)


def test_a_scope_says_what_is_settled() -> None:
    assert Scope().empty
    assert "2 forbidden objects" in repr(Scope(forbidden_objects=np.array([True, True, False])))
