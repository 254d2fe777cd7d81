"""A cell's vector is its labels' vectors side by side, and by default no dimension outweighs another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cube2net.embed import VECTORS, MemberVectors, Nearest, WordTable, WordVectors
from cube2net.errors import InputError, ParameterError
from cube2net.records import Cells, Cube, Dimension, Level
from cube2net.records.vectors import Vectors

from toys import random_cube, toy_cube

TABLE = WordTable(
    pa.array(["data", "mining", "parsing", *[str(year) for year in range(1990, 2010)]]),
    np.concatenate([[[1, 0], [0, 1], [3, 4]], np.tile([6, 8], (20, 1))]).astype(np.float32),
)


def cube() -> Cube:
    """Return three cells over decade × topic: 199X data, 200X data mining, 200X parsing."""
    flat = toy_cube([[0], [0, 1], [1, 2]], objects=3)
    dimensions = (
        Dimension((Level("decade", ("199X", "200X"), ("199X", "200X")),)),
        Dimension((Level("topic", ("data", "DM", "parsing"), ("data", "data mining", "parsing")),)),
    )
    small = Cells(np.empty((0, 2), np.int32), flat.small.members)
    cells = Cells(np.array([[0, 0], [1, 1], [1, 2]], np.int32), flat.cells.members)
    return replace(flat, dimensions=dimensions, cells=cells, small=small)


def test_unscaled_vectors_are_the_papers_by_hand() -> None:
    vectors = WordVectors(words=TABLE, scale="none").embed(cube())
    assert vectors.values.tolist() == [[60, 80, 1, 0], [60, 80, 1, 1], [60, 80, 3, 4]]
    assert vectors.blocks == (0, 2, 4) and vectors.names == ("decade", "topic")
    assert repr(vectors) == "Vectors(3 cells × 4: decade 2, topic 2)"


def test_scaled_blocks_have_the_same_mean_length_over_the_cells() -> None:
    vectors = WordVectors(words=TABLE).embed(cube())
    for block in (vectors.values[:, :2], vectors.values[:, 2:]):
        assert np.linalg.norm(block, axis=1).mean() == pytest.approx(1.0, rel=1e-6)


def test_labels_without_a_direction_do_not_count_in_the_scale_and_are_listed() -> None:
    base = cube()
    topic = Level("topic", ("data", "DM", "qqq"), ("data", "data mining", "qqq zzz"))
    vectors = WordVectors(words=TABLE).embed(replace(base, dimensions=(base.dimensions[0], Dimension((topic,)))))
    assert vectors.blank == {"topic": ("qqq",)}
    assert vectors.unknown == {"qqq": 1, "zzz": 1}
    assert np.linalg.norm(vectors.values[:2, 2:], axis=1).mean() == pytest.approx(1.0, rel=1e-6)
    assert not vectors.values[2, 2:].any()


def test_all_labels_together_are_zeros_and_do_not_count_in_the_scale() -> None:
    base = cube()
    view = replace(base, cells=Cells(np.array([[-1, 0], [1, -1], [-1, 2]], np.int32), base.cells.members))
    plain = WordVectors(words=TABLE, scale="none").embed(view)
    assert plain.values.tolist() == [[0, 0, 1, 0], [60, 80, 0, 0], [0, 0, 3, 4]]
    scaled = WordVectors(words=TABLE).embed(view).values
    assert np.linalg.norm(scaled[[0, 2], 2:], axis=1).mean() == pytest.approx(1.0, rel=1e-6)
    assert np.linalg.norm(scaled[1, :2]) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("way", ["tables", "matmul"])
def test_cells_of_all_labels_together_are_found_where_they_are(way: str) -> None:
    labels = np.array([[-1, 0], [-1, 1], [0, -1], [1, -1], [-1, -1], [1, 1]])
    vectors = Vectors.product({"x": np.array([[5.0], [9.0]]), "y": np.array([[3.0], [7.0]])}, labels)
    cells, far = Nearest.of(vectors, way=way).find(vectors.values.astype(np.float64), k=1)
    assert cells.ravel().tolist() == list(range(6))
    assert not far.any()
    assert vectors.take([2, 0]).values.tolist() == [[5, 0], [0, 3]]


def test_two_dimensions_may_bear_the_same_name() -> None:
    base = cube()
    level = base.dimensions[1].levels[0]
    twice = (Dimension((Level("topic", ("199X", "200X"), ("199X", "qqq")),)), Dimension((level,)))
    vectors = WordVectors(words=TABLE, scale="none").embed(replace(base, dimensions=twice))
    assert vectors.names == ("topic", "topic") and vectors.values.shape == (3, 4)


def test_a_cube_whose_words_are_all_unknown_has_zero_vectors() -> None:
    vectors = WordVectors(words=TABLE).embed(random_cube(0))
    assert vectors.directionless.tolist() == list(range(12))
    assert len(vectors.blank["group"]) == 12


def test_the_default_table_and_files_of_words_and_names_are_used(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("mining 5 0\n")
    (tmp_path / "n.csv").write_text("label,full_name\nparsing,mining mining\n")
    vectors = WordVectors(words=tmp_path / "w.txt", names=str(tmp_path / "n.csv"), scale="none").embed(cube())
    assert vectors.values[:, 2:].tolist() == [[0, 0], [5, 0], [10, 0]]
    default = WordVectors().embed(cube())
    assert default.values.shape == (3, 100) and default.blank == {}


def test_a_scale_is_one_of_two() -> None:
    with pytest.raises(
        ParameterError, match=r"unknown scale 'block': choose one of blocks, none \(did you mean 'blocks'"
    ):
        WordVectors(scale="block")


@pytest.mark.parametrize("name", VECTORS)
def test_every_way_embeds_every_cell_the_same_twice(name: str) -> None:
    way = VECTORS[name]()
    one, two = (way.embed(random_cube(3), seed=5) for _ in range(2))
    assert len(one) == 12
    assert one.values.dtype == np.float32 and not one.values.flags.writeable
    assert one.values.tobytes() == two.values.tobytes()


def test_some_cells_can_be_taken_from_vectors() -> None:
    vectors = WordVectors(words=TABLE).embed(cube())
    some = vectors.take([2, 0])
    assert some.values.tolist() == vectors.values[[2, 0]].tolist()
    assert some.labels is not None and some.labels.tolist() == [[1, 2], [0, 0]]
    assert MemberVectors(dims=2).embed(cube()).take([1]).values.shape == (1, 2)


def test_vectors_check_themselves() -> None:
    with pytest.raises(InputError, match=r"cell vectors have shape \(3,\), expected cells × columns"):
        Vectors(np.zeros(3), (0, 3), ("a",))
    with pytest.raises(InputError, match=r"the blocks \(0, 2\) do not divide 3 columns"):
        Vectors(np.zeros((1, 3)), (0, 2), ("a",))
    with pytest.raises(InputError, match="1 blocks have 2 names"):
        Vectors(np.zeros((1, 3)), (0, 3), ("a", "b"))
    with pytest.raises(InputError, match="1 cell vectors are not finite"):
        Vectors(np.array([[np.nan, np.inf], [0, 0]]), (0, 2), ("a",))
    with pytest.raises(InputError, match="cells have labels that the table of 'a' does not have"):
        Vectors.product({"a": np.zeros((2, 1))}, np.array([[-2]]))
    with pytest.raises(InputError, match="cells have labels that the table of 'a' does not have"):
        Vectors(np.zeros((1, 1)), (0, 1), ("a",), (np.zeros((2, 1)),), np.array([[-1]]))
    with pytest.raises(InputError, match="the table of 'a' has shape"):
        Vectors(np.zeros((1, 3)), (0, 3), ("a",), (np.zeros((2, 1)),), np.array([[0]]))
    with pytest.raises(InputError, match=r"labels of shape \(2, 1\) and 1 tables"):
        Vectors(np.zeros((1, 1)), (0, 1), ("a",), (np.zeros((2, 1)),), np.array([[0], [0]]))
