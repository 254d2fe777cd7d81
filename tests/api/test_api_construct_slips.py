"""A method's options, and slips that are one sentence: options, paths, wrong selections."""

from __future__ import annotations

from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cube2net as c2n
from cube2net.errors import InputError, ParameterError
from cube2net.model.cube import Cube
from cube2net.model.interfaces import list_options
from cube2net.model.query import Query
from cube2net.model.selection import Selection
from cube2net.selection.greedy import Greedy

from toys import toy_cube

CUBE = toy_cube([[0, 1, 3], [2, 4]], objects=6, links=[(0, 1), (0, 5)])


def test_options_of_a_method_given_by_its_name_are_keywords() -> None:
    by_name = c2n.construct(CUBE, [0, 1, 2], c2n.methods.Greedy(by="price"), n_cells=1)
    by_object = c2n.construct(CUBE, [0, 1, 2], Greedy(by="price"), n_cells=1)
    assert by_name.settings == by_object.settings
    assert by_name.settings["parameters"] == repr(Greedy(by="price"))
    assert len(c2n.construct(CUBE, [1], c2n.methods.Hops(hops=2))) > len(c2n.construct(CUBE, [1], "hops"))
    assert c2n.construct(CUBE, [0, 1, 2], c2n.methods.Auto(seconds=1.0)).settings["chosen"] == "greedy · cover · hybrid"


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        ("hops", {"hop": 2}, "unknown option of the method 'hops' 'hop': choose one of fan_out, hops (did you mean "),
        ("none", {"breadth": 2}, "the method 'none' takes no options, got 'breadth'"),
        ("none", {"max_node": 1}, "construct has no parameter 'max_node' (did you mean 'max_nodes'?)"),
        ("auto", {"second": 1}, "unknown option of the method 'auto' 'second': choose one of embedding, folds, runs, "),
        ("gredy", {"by": "price"}, "unknown method 'gredy': choose one of "),
        ("hops", {"hops": 7}, "hops is 7, expected 1 or 2"),
        (
            Greedy(),
            {"by": "price"},
            f"the object {Greedy()!r} takes no options, got 'by': set it where the method is made",
        ),
    ],
    ids=str,
)
def test_an_option_that_a_method_does_not_have_is_one_sentence(method: Any, options: dict, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        c2n.api.construct_by_name(CUBE, [0, 1], method, **options)
    assert str(caught.value).startswith(sentence)


def test_no_option_of_a_method_is_hidden_by_a_parameter_of_construct() -> None:
    own = set(signature(c2n.construct).parameters)
    for kind in (*c2n.methods.METHODS.values(), c2n.methods.Auto):
        assert not own & set(list_options(kind)), kind


def test_a_path_in_place_of_a_cube_is_one_sentence(tmp_path: Path) -> None:
    for given in ("cube", tmp_path, None):
        for ask in (c2n.construct, c2n.compare, c2n.api.weigh):
            with pytest.raises(ParameterError) as caught:
                ask(given, ["a"])
            assert str(caught.value).startswith("the cube is ") and "cube2net.open opens the folder of one" in str(
                caught.value
            )


def test_what_is_no_path_is_one_sentence(tmp_path: Path) -> None:
    network, corpus = c2n.construct(CUBE, [0]), c2n.make_planted(objects=60, seed=0).corpus
    (tmp_path / "nodes.csv").write_text("id,city\na,b\n")
    for ask in (
        lambda: CUBE.save(None),
        lambda: c2n.open(None),
        lambda: c2n.update(None, corpus),
        lambda: c2n.build(corpus, out=""),
        lambda: c2n.build(tmp_path / "nodes.csv", source="tables", out=3),
        lambda: c2n.read_source("tables", None),
        lambda: c2n.read_query(CUBE, None),
        lambda: c2n.api.read_links(CUBE, 3.5),
        lambda: network.save(None),
        lambda: network.plot(3),
        lambda: c2n.compare(CUBE, [0, 1, 2], out=True),
        lambda: c2n.read_comparison(None, CUBE.query([0])),
    ):
        with pytest.raises(ParameterError) as caught:
            ask()
        assert str(caught.value).endswith(", expected a path, as a text or a Path")


def test_progress_may_be_none_in_every_function_that_tells_it(tmp_path: Path) -> None:
    for folder, names in (("old", "ac"), ("new", "de")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "nodes.csv").write_text("id,city\n" + "".join(f"{name},b\n" for name in names))
        (tmp_path / folder / "links.csv").write_text(f"source,target\n{names[0]},{names[1]}\n")
    options: dict[str, Any] = {"dimensions": ["city"], "min_objects": 1, "progress": None}
    c2n.build(c2n.read_tables(tmp_path / "old", progress=None), **options)
    c2n.build(tmp_path / "old", source="tables", out=tmp_path / "cube", **options)
    more = c2n.read_source("tables", tmp_path / "new", progress=None)
    cube = c2n.update(tmp_path / "cube", more, progress=None)
    assert len(c2n.construct(cube, ["a", "e"], progress=None)) > 2
    for name in c2n.__all__:
        told = signature(getattr(c2n, name)).parameters.get("progress") if isfunction(getattr(c2n, name)) else None
        assert told is None or told.default is None, name


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([0, 1], r"the method 'Own' chose \[0, 1\], expected a Selection"),
        (None, "the method 'Own' chose None, expected a Selection"),
        (Selection(np.array([2, 99_999]), 0.0), "the method 'Own' chose object 99999, and the cube has"),
        (Selection(np.array([-3, 2]), 0.0), "the method 'Own' chose object -3, and the cube has"),
        (
            Selection(np.array([2]), 0.0, cells=np.array([999]), values=np.array([0.5])),
            "the method 'Own' chose cell 999, and the cube has",
        ),
    ],
    ids=str,
)
def test_what_a_method_of_ones_own_chooses_is_checked_before_compiled_code_sees_it(given: Any, sentence: str) -> None:
    class Own:
        """A method that makes a mistake."""

        def select(self, cube: Cube, query: Query, **options: object) -> Any:
            return given

    with pytest.raises(InputError, match=sentence):
        c2n.construct(CUBE, [0, 1, 2], Own())


def test_the_rows_of_a_selection_are_whole_numbers() -> None:
    with pytest.raises(InputError, match=r"the objects of a selection are row numbers, got \[1.5, 2.5\]"):
        Selection(np.array([1.5, 2.5]), 0.0)
