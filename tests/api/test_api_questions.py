"""A network can be asked again, here or after a journey."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import cube2net as c2n
from cube2net.api.plan import describe_network
from cube2net.api.replay import restore_context
from cube2net.cube.views import dice, roll_up
from cube2net.cube.window import between
from cube2net.errors import InputError, ParameterError
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.selection import Steering

from toys import sent


@pytest.fixture(scope="module")
def cube() -> Cube:
    return c2n.build(c2n.make_planted(objects=200, communities=4, noise=0.1, seed=1).corpus)


@pytest.fixture(scope="module")
def network(cube: Cube) -> Network:
    return c2n.construct(cube, cube.query(list(range(0, 40, 2))), n_cells=5)


def travelled(network: Network) -> Network:
    there: Network = sent(network)
    return there


def test_a_network_of_this_process_is_returned_as_it_is(network: Network, cube: Cube) -> None:
    assert restore_context(network) is network
    assert restore_context(network, cube) is network


@pytest.mark.parametrize("options", [{}, {"method": "pagerank", "top": 5}, {"form": "objects", "levels": "one"}])
def test_a_network_that_travelled_is_asked_of_the_cube_it_was_made_of(cube: Cube, options: dict[str, Any]) -> None:
    made = c2n.api.construct_by_name(cube, cube.query({row: f"group {row % 2}" for row in range(9)}), **options)
    here = restore_context(travelled(made), cube)
    assert describe_network(here) == describe_network(made)
    assert here.query.labels == made.query.labels
    assert here.recipe is not None and here.recipe == travelled(made).recipe
    assert here.context is not None and made.context is not None
    assert here.context.whole is cube
    assert describe_network(here.context.again(Steering())) == describe_network(made)


def test_a_network_made_of_a_view_is_asked_of_the_cube_behind_it(cube: Cube) -> None:
    labels = list(cube.dimensions[0].labels[:2])
    view = dice(cube, {cube.dimensions[0].name: labels})
    made = c2n.construct(view, view.query(list(range(9))), form="objects")
    here = restore_context(travelled(made), cube)
    assert here.context is not None and len(here.context.whole.cells) == len(view.cells)


def test_a_network_without_question_and_cube_is_refused_in_one_sentence(network: Network, cube: Cube) -> None:
    with pytest.raises(InputError, match=r"^the network came from another process .* give the cube \(cube=…\)$"):
        restore_context(travelled(network))
    with pytest.raises(InputError, match=r"^the network has no recipe, .* make it by construct$"):
        restore_context(replace(network, context=None, recipe=None), cube)


def test_a_network_made_of_another_cube_is_refused(network: Network) -> None:
    other = c2n.build(c2n.make_planted(objects=200, communities=4, noise=0.1, seed=2).corpus)
    with pytest.raises(InputError, match=r"^the cube makes another network by this recipe: give the cube that"):
        restore_context(travelled(network), other)


def test_a_method_of_ones_own_cannot_be_asked_again_after_a_journey(cube: Cube) -> None:
    made = c2n.construct(cube, cube.query([1, 2, 3]), objective=_size, form="objects", n_cells=1)
    assert restore_context(made) is made
    with pytest.raises(InputError, match=r"^the network cannot be made again: its objective"):
        restore_context(travelled(made), cube)


def _size(objects: Any, query: Any) -> float:
    return -float(len(objects))


@pytest.mark.parametrize("given", [None, "network.json", 3])
def test_what_is_no_network_or_no_cube_is_said_so(given: Any, network: Network) -> None:
    with pytest.raises(ParameterError, match=r"^the network is .*, expected a Network: construct makes one$"):
        restore_context(given)
    if given is not None:
        with pytest.raises(
            ParameterError, match=r"^the cube is .*, expected a Cube: cube2net.open opens the folder of one, "
        ):
            restore_context(travelled(network), given)


def test_what_is_taken_for_another_thing_is_said_so(cube: Cube, network: Network, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1], "city": ["Rome"]})
    no_cube = (
        r"^the cube is a (Network|DataFrame), expected a Cube: cube2net.open opens the folder of one, and "
        "cube2net.build makes one of tables$"
    )
    for given in (network, frame):
        asks: list[Callable[[Any], Any]] = [
            lambda given: c2n.read_query(given, tmp_path / "query.csv"),
            lambda given: c2n.construct(given, ["o1"]),
        ]
        for ask in asks:
            with pytest.raises(ParameterError, match=no_cube):
                ask(given)
    assert not list(tmp_path.iterdir())


def test_a_parameter_that_compare_does_not_have_is_told_which_was_meant(cube: Cube) -> None:
    with pytest.raises(ParameterError, match=r"^compare has no parameter 'method' \(did you mean 'methods'\?\)$"):
        c2n.compare(cube, ["o1"], method="greedy")  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match=r"^compare has no parameter 'zzz': it has cube, query, task, "):
        c2n.compare(cube, ["o1"], zzz=1)  # type: ignore[call-arg]


def test_the_view_that_a_network_was_made_of_is_not_seen_through_again(tmp_path: Path) -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0.1, seed=1)
    cube = c2n.build(planted.corpus, out=tmp_path / "papers")
    rolled = roll_up(cube, "venue", "∗")
    both = between(rolled, "1985..1999")
    for view, others in ((rolled, [cube]), (both, [cube, rolled])):
        made = c2n.construct(view, planted.query(0), n_cells=3)
        for given in (view, *others):
            here = restore_context(travelled(made), given)
            assert describe_network(here) == describe_network(made)
        assert str(c2n.explain(travelled(made), cube=view)) == str(c2n.explain(made))
        assert travelled(made).describe_clusters([0, 1] * 25, cube=view).to_dict() == (
            made.describe_clusters([0, 1] * 25).to_dict()
        )


def test_errors_name_the_folder_of_the_cube_where_there_was_one(tmp_path: Path, cube: Cube) -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0.1, seed=2)
    made = travelled(c2n.construct(c2n.build(planted.corpus, out=tmp_path / "papers"), planted.query(0)))
    for ask in (restore_context, lambda network: network.describe_clusters([0])):
        with pytest.raises(InputError, match=r"give the cube, whose folder was 'papers' \(cube=…\)$"):
            ask(made)
    with pytest.raises(InputError, match=r"give the cube that it was made of, whose folder was 'papers'$"):
        restore_context(made, cube)
