"""Views of views: each remembers all that came before it, and a network of it can be made again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.cube.views import dice, drill_down, of_kind, roll_up
from cube2net.cube.window import between
from cube2net.model.corpus import LINKS, table
from cube2net.model.cube import Cube, get_lineage

VIEWS: dict[str, Callable[[Cube], Cube]] = {
    "of_kind": lambda cube: of_kind(cube, "editor"),
    "dice": lambda cube: dice(cube, {"decade": ["198X", "200X"]}),
    "between": lambda cube: between(cube, "year=1980..2005"),
    "between links": lambda cube: between(cube, "links=1980..2005"),
    "roll_up": lambda cube: roll_up(cube, "topic", "∗"),
    "drill_down": lambda cube: drill_down(cube, "venue"),
}
PAIRS = [pair for pair in product(VIEWS, VIEWS) if pair not in (("roll_up", "roll_up"), ("drill_down", "drill_down"))]


def up(cube: Cube) -> Cube:
    return roll_up(cube, "venue", "∗")


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Cube:
    planted = c2n.make_planted(objects=120, communities=4, noise=0.2, seed=1).corpus
    kinds = pa.array(["editor" if row % 3 else "author" for row in range(len(planted.objects))])
    objects = planted.objects.set_column(planted.objects.column_names.index("kind"), "kind", kinds)
    ends = {"source": range(120), "target": [(at * 7 + 1) % 120 for at in range(120)], "weight": [1.0] * 120}
    timed = table(LINKS, **ends).append_column("time", pa.array([date(1980 + at % 40, 1, 1) for at in range(120)]))
    corpus = replace(planted, objects=objects, links=timed)
    return c2n.build(corpus, min_objects=1, out=tmp_path_factory.mktemp("views") / "cube")


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_a_view_of_a_view_is_remembered_and_made_again(one: str, two: str, cube: Cube, tmp_path: Path) -> None:
    view = low = cube
    for name, step in (("up", up), (one, VIEWS[one]), (two, VIEWS[two])):
        if (name == "drill_down" and not view.dimensions[1].is_top) or (
            name == "roll_up" and view.dimensions[2].is_top
        ):
            return
        view = step(view)
        low = low if name in ("up", "drill_down") else step(low)
    names = [step["view"] for step in get_lineage(view).views]
    limits = [name.split()[0] for name in (one, two) if name not in ("roll_up", "drill_down")]
    assert [name for name in names if name not in ("roll_up", "drill_down")] == limits
    assert names or view is cube
    assert cube.origin is not None and get_lineage(view).origin == cube.origin
    network = c2n.construct(view, ["Object 1", "Object 2", "Object 5", "Object 40"], n_cells=4, form="objects")
    network.save(tmp_path / "net.json")
    assert c2n.replay(tmp_path / "net.json", cube.origin.folder).same
    if "drill_down" in (one, two):
        assert np.array_equal(view.bringable, low.bringable), "what may come is the same as if it was never rolled up"
        assert view.cells.labels.tolist() == low.cells.labels.tolist()
