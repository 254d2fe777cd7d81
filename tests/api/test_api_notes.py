"""What a network says of itself where something asked for changes nothing, or leaves nothing."""

from dataclasses import replace

import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.api.what_if import change as change_network
from cube2net.cube.views import dice, of_kind
from cube2net.cube.window import between
from cube2net.errors import ParameterError
from cube2net.model.cube import Cube
from cube2net.model.objects import Objects

from toys import toy_cube


def kinds_cube() -> Cube:
    """Return a cube of three films and three users: users have seen films."""
    cube = toy_cube([[0, 1, 2, 3, 4, 5]], objects=6, links=[(0, 3), (1, 4), (2, 5), (0, 4)])
    table = cube.objects.table.drop_columns("kind").append_column("kind", pa.array(["film"] * 3 + ["user"] * 3))
    return replace(cube, objects=Objects.of(table))


def test_a_network_without_links_says_through_whom_its_objects_are_linked() -> None:
    view = of_kind(kinds_cube(), "film")
    note = c2n.construct(view, ["o0", "o1"], "pagerank").selection.note
    said = "no link joins these objects: film objects are linked only to user objects, and none of these may be brought"
    assert said in note
    assert "no link" not in c2n.construct(kinds_cube(), ["o0", "o1"], "pagerank").selection.note
    alone = c2n.construct(toy_cube([[0, 1]], objects=2), ["o0", "o1"], "none").selection.note
    assert alone == "no link joins these objects: the cube has none that leads to one of them"


def test_a_time_without_items_says_of_what_times_there_are_some() -> None:
    cube = c2n.build(c2n.load_bundled(), ["year@years", "venue"])
    years = sorted(map(int, cube.dimensions[0].labels))
    view = between(cube, "1801..1802")
    note = c2n.construct(view, [0, 1, 2], n_cells=2).selection.note
    assert note == f"no item is of that time: those of the cube are of {years[0]} to {years[-1]}"
    assert "no item" not in c2n.construct(between(cube, f"{years[0]}.."), [0, 1, 2], n_cells=2).selection.note


def test_what_bars_an_object_is_named_and_nothing_else_is() -> None:
    cube = c2n.build(c2n.make_planted(objects=60, communities=3, noise=0.2, seed=1).corpus)
    view = dice(cube, {cube.dimensions[1].name: cube.dimensions[1].labels[0]})
    assert view.bringable is not None
    network = c2n.construct(view, [int(view.bringable.argmax())], n_cells=1)
    row = int((~view.bringable).argmax())
    said = c2n.explain(network, row).sentence
    assert "does not allow it to be brought (where says so)" in said


def test_likes_that_change_nothing_are_said_and_those_that_cannot_be_are_refused() -> None:
    cube = toy_cube([[0, 1, 2], [3, 4, 5], [0, 3]], objects=6, links=[(0, 1), (1, 2), (3, 4)])
    preferred = c2n.construct(cube, ["o0", "o1"], n_cells=1, options=c2n.NetworkOptions(prefer=["o1"]))
    assert "in the query already, so that preferring changes nothing: 'Object 1'" in preferred.selection.note
    view = dice(cube, {"group": "label 0"})
    with pytest.raises(
        ParameterError, match=r"^'Object 4' is preferred, and the view of the cube leaves it out: leave out"
    ):
        c2n.construct(view, ["o0", "o1"], options=c2n.NetworkOptions(prefer=["o4"]))
    network = c2n.construct(cube, ["o0", "o1"], n_cells=1)
    with pytest.raises(ParameterError, match=r"is left out and put in: it cannot be both$"):
        change_network(network, without=["o3"], with_=["Object 3"])


def test_hops_say_in_how_many_steps() -> None:
    cube = toy_cube([[0, 1, 2]], objects=3, links=[(0, 1), (1, 2)])
    network = c2n.construct(cube, ["o0"], c2n.methods.Hops(hops=2))
    assert "was added by the method hops in 1 step" in c2n.explain(network, "o1").sentence
    assert "was added by the method hops in 2 steps" in c2n.explain(network, "o2").sentence


def test_a_cell_whose_objects_are_served_says_so() -> None:
    cube = toy_cube([[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2, 3]], objects=5, links=[(0, 1)])
    network = c2n.construct(cube, ["o0", "o1", "o2"], form="cells")
    left = next(at for at in range(4) if at not in network.selection.cells)
    said = c2n.explain(network, cube.cell(left)).sentence
    assert "would serve 0 of the query (all of the 3 that it contains are served already), and a cell has to" in said


def test_a_method_without_cells_has_no_value_to_change() -> None:
    cube = toy_cube([[0, 1, 2], [2, 3]], objects=5, links=[(0, 1), (1, 2), (2, 3)])
    told = c2n.construct(cube, ["o0", "o1"], c2n.methods.PageRank(top=2)).without("o2").to_dict()
    assert [told[word] for word in ("objective", "before", "value", "merely")] == [None] * 4
    told = c2n.construct(cube, ["o0", "o1"], n_cells=1).without("o2").to_dict()
    assert told["objective"] == "cover" and told["value"] is not None


def test_a_ban_of_the_query_points_to_ways_that_work() -> None:
    cube = toy_cube([[0, 1, 2]], objects=3, links=[(0, 1)])
    with pytest.raises(ParameterError, match=r"is banned, and it is in the query: leave it out of one of them$"):
        c2n.construct(cube, ["o0", "o1"], bans=["o1"])
