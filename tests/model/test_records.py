from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cube2net._util.arrays import Links, Ragged
from cube2net.errors import CubeError, InputError, ParameterError, QueryError, SourceError
from cube2net.model.corpus import LINKS, MENTIONS, OBJECTS, Corpus, table
from cube2net.model.cube import Cells
from cube2net.model.dimension import Dimension, Level
from cube2net.model.objects import Objects
from cube2net.model.query import Query
from cube2net.model.selection import Selection

from toys import random_cube, toy_cube


def people() -> Objects:
    rows = [("grace-hopper", "Grace Hopper"), ("wei-wang-1", "Wei Wang"), ("wei-wang-2", "Wei Wang"), ("Ada", "Ada")]
    ids, names = zip(*rows, strict=True)
    return Objects.of(pa.table({"object": list(ids), "name": list(names), "kind": ["author"] * 4}))


def test_objects_are_found_by_id_and_by_name() -> None:
    found = people().find(["grace-hopper", "Grace Hopper", "wei-wang-2", "Ada"])
    assert found.rows.tolist() == [0, 0, 2, 3]
    assert found.missing == found.ambiguous == ()


def test_a_name_that_several_objects_bear_is_ambiguous_and_an_unknown_one_missing() -> None:
    found = people().find(["Wei Wang", "Alan Turing"])
    assert found.rows.tolist() == [-1, -1]
    assert found.ambiguous == ("Wei Wang",)
    assert found.missing == ("Alan Turing",)


def test_near_spellings_are_found_and_odd_characters_do_no_harm() -> None:
    assert people().near("Grace Hoper") == ["Grace Hopper"]
    assert people().near("(((***[[[") == []
    assert people().near("x") == []


def test_a_query_takes_ids_names_rows_and_labels_and_counts_each_object_once() -> None:
    cube = toy_cube([[0, 1]], objects=5)
    assert cube.query(["o3", "Object 1", "o3"]).objects.tolist() == [1, 3]
    assert cube.query([4, 2]).objects.tolist() == [2, 4]
    assert cube.query({"o4": "b", "o0": "a"}).labels == ("a", "b")
    assert cube.query(["o1", "nobody"], skip_missing=True).missing == ("nobody",)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["Objekt 3"], r"query names 1 object that is not in the cube: 'Objekt 3' \(did you mean 'Object 3' for"),
        (["a", "b", "c", "d"], r"query names 4 objects that are not in the cube: 'a', 'b', 'c', …"),
        ("", "the query is empty"),
    ],
)
def test_a_query_that_cannot_be_used_says_why(given: object, text: str) -> None:
    with pytest.raises(QueryError, match=text):
        toy_cube([[0, 1]], objects=5).query(given)  # type: ignore[arg-type]


def test_an_object_with_two_labels_is_refused() -> None:
    with pytest.raises(QueryError, match="query gives 'o1' two labels: 'x' and 'y'"):
        toy_cube([[0]], objects=2).query(["o1", "o1"], ["x", "y"])


def test_a_query_with_names_nobody_bears_is_refused_even_when_skipping() -> None:
    with pytest.raises(QueryError, match="none of the 2 objects of the query is in the cube"):
        toy_cube([[0]], objects=2).query(["x", "y"], skip_missing=True)


def test_records_cannot_be_written_to() -> None:
    cube = random_cube(0)
    for array in (cube.cells.members.indices, cube.links.weights, cube.query(["o1"]).objects):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("indptr", "indices", "text"),
    [([1, 2], [0, 0], "do not start at 0"), ([0, 3], [0], "offsets end at 3"), ([0, 2, 1], [0], "offsets that fall")],
)
def test_rows_with_wrong_offsets_are_refused(indptr: list[int], indices: list[int], text: str) -> None:
    with pytest.raises(InputError, match=text):
        Ragged(np.array(indptr), np.array(indices))


def test_links_need_a_weight_for_every_end() -> None:
    with pytest.raises(InputError, match="2 ends and 1 weights"):
        Links(np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0]))


def corpus(**changes: object) -> Corpus:
    parts: dict[str, object] = {
        "objects": table(OBJECTS, object=["a", "b"], name=["A", "B"], kind=["x", "x"]),
        "items": pa.table({"item": ["i"]}),
        "mentions": table(MENTIONS, item=[0], object=[1]),
    }
    return Corpus(**(parts | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"objects": table(OBJECTS, object=["a", "a"], name=["A", "B"], kind=["x", "x"])},
            "name 1 ids twice or more: 'a'",
        ),
        ({"mentions": table(MENTIONS, item=[0], object=[2])}, "points to row 2 of a table of 2 rows"),
        ({"items": pa.table({"paper": ["i"]})}, "items have no column 'item': they have paper"),
        ({"links": table(LINKS, source=[0], target=[1], weight=[-1.0])}, "1 weights that are negative"),
        ({"links": table(LINKS, source=[0], target=[1], weight=[None])}, "1 weights that are negative, missing"),
        ({"links": table(LINKS, source=[0], target=[1], weight=[float("nan")])}, "1 weights that are negative"),
        ({"links": table(LINKS, source=[0], target=[1], weight=[1e-31])}, "not finite or below 1e-30, expected 0 or"),
        ({"links": table(LINKS, source=[0], target=[1], weight=[1e-45])}, "not finite or below 1e-30, expected 0 or"),
        ({"links": table(LINKS, source=[0], target=[1], weight=[float("inf")])}, "negative, missing, not finite"),
        ({"items": pa.table({"item": pa.array([None], pa.string())})}, "1 rows without an id"),
    ],
)
def test_a_corpus_that_does_not_hold_together_is_refused(changes: dict, text: str) -> None:
    with pytest.raises(SourceError, match=text):
        corpus(**changes)


def test_selections_and_queries_check_themselves() -> None:
    with pytest.raises(InputError, match="distinct cells"):
        Selection(np.array([0]), 0.0, cells=np.array([1, 1]), values=np.array([0.0, 0.0]))
    with pytest.raises(QueryError, match="must ascend"):
        Query(np.array([2, 1]))


def test_a_cube_whose_parts_do_not_fit_is_refused() -> None:
    cube, other = toy_cube([[0, 1]], objects=2), toy_cube([[0, 1]], objects=3)
    with pytest.raises(CubeError, match="2 objects and links for 3"):
        replace(cube, links=other.links)
    with pytest.raises(CubeError, match="2 objects and cells for 3"):
        replace(cube, object_cells=other.object_cells)


def test_a_cell_of_all_labels_is_written_and_found_as_a_star() -> None:
    flat = toy_cube([[0], [1], [0, 1]], objects=2)
    starred = np.array([[0], [1], [-1]])
    cube = replace(flat, cells=Cells(starred, flat.cells.members, np.ones(4, np.int32)))
    assert [cube.cell(number) for number in range(3)] == [("label 0",), ("label 1",), ("∗",)]
    assert cube.find_cell(["∗"]) == cube.find_cell(["*"]) == 2
    with pytest.raises(ParameterError, match="no cell has the labels ∗, or it holds too few objects"):
        flat.find_cell(["∗"])
    level = Level("group", ("*", "b", "c"), ("*", "b", "c"))
    assert replace(cube, dimensions=(Dimension((level,)),)).find_cell(["*"]) == 0
    with pytest.raises(CubeError, match="cells have labels that dimension 'group' does not have"):
        replace(flat, cells=Cells(starred - 1, flat.cells.members))
    with pytest.raises(CubeError, match=r"4 members of cells have counts of \(3,\)"):
        Cells(starred, flat.cells.members, np.ones(3, np.int32))


def test_half_a_sign_in_a_text_is_one_sentence() -> None:
    with pytest.raises(SourceError, match=r"'a\\ud800' is no text that a file can hold: it has half a sign"):
        table(OBJECTS, object=["a\ud800"], name=["b"], kind=[None])
