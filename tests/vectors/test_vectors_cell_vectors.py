"""Cells as vectors, of what they hold and of the words of their labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import cube2net as c2n
from cube2net.errors import InputError, ParameterError, SourceError
from cube2net.mining.node_embeddings import EMBEDDINGS, DeepWalk
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import Dimension, Level
from cube2net.model.interfaces import CellEmbedder, NodeEmbedder
from cube2net.model.vectors import Vectors
from cube2net.vectors import cell_vectors
from cube2net.vectors.cell_vectors import (
    VECTORS,
    LabelVectors,
    MemberVectors,
    WordVectors,
    _compute_axes,
    _make_matrix,
    _multiply,
    embed_labels,
    read_names,
)
from cube2net.vectors.glove import WordTable
from cube2net.vectors.nearest_cells import Nearest

from toys import random_cube, toy_cube


def test_by_hand_cells_with_the_same_members_are_one_point_and_strangers_are_at_right_angles() -> None:
    cube = toy_cube([[0, 1], [0, 1], [2, 3]], objects=4)
    values = MemberVectors().embed_cells(cube).values.astype(np.float64)
    assert np.allclose(values @ values.T, [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-5)


def test_products_of_vectors_are_the_cosines_of_members_when_nothing_is_cut() -> None:
    cube = random_cube(1)
    matrix = _make_matrix(cube).toarray().astype(np.float64)
    values = MemberVectors(dims=64).embed_cells(cube).values.astype(np.float64)
    assert values.shape == (12, 12)
    assert np.allclose(values @ values.T, matrix @ matrix.T, atol=1e-5)


def test_a_cut_keeps_the_largest_singular_values() -> None:
    cube = random_cube(2, cells=80, objects=60)
    left, sizes, _ = np.linalg.svd(_make_matrix(cube).toarray().astype(np.float64), full_matrices=False)
    values, again = (MemberVectors(dims=3, rounds=60).embed_cells(cube, seed=seed).values for seed in (0, 1))
    expected = left[:, :3] * sizes[:3]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(np.abs(values), np.abs(expected), atol=1e-3)
    assert np.allclose(values, again, atol=1e-3)


def test_a_matrix_of_low_rank_has_no_directions_made_of_rounding() -> None:
    values = MemberVectors().embed_cells(toy_cube([[0, 1]] * 6, objects=2)).values
    assert np.allclose(np.abs(values[:, 0]), 1, atol=1e-5) and np.allclose(values[:, 1:], 0, atol=1e-5)


def test_a_rare_object_weighs_more_than_one_that_is_everywhere() -> None:
    cube = toy_cube([[0, 1], [0, 1], [0, 2], [0, 2]], objects=3)
    values = MemberVectors().embed_cells(cube).values.astype(np.float64)
    same, other = values[0] @ values[1], values[0] @ values[2]
    assert same == pytest.approx(1, abs=1e-5) and other < 0.5


def test_planted_groups_are_told_apart_by_few_numbers() -> None:
    rng = np.random.default_rng(0)
    members = [sorted(rng.choice(np.arange(50) + 50 * (i % 4), 12, replace=False).tolist()) for i in range(60)]
    values = MemberVectors(dims=4).embed_cells(toy_cube(members, objects=200)).values
    far = np.linalg.norm(values[:, None] - values[None], axis=2)
    np.fill_diagonal(far, np.inf)
    assert (far.argmin(axis=1) % 4 == np.arange(60) % 4).all()


def test_the_number_of_threads_does_not_change_the_last_bit() -> None:
    cube, found = random_cube(5, cells=400, objects=900), []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(MemberVectors(dims=32).embed_cells(cube, seed=1).values.tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("rows", [7, 1000])
def test_gram_and_turn_are_matrix_products(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_vectors, "ROWS_PER_BLOCK", rows)
    rng = np.random.default_rng(0)
    tall, matrix = rng.normal(size=(30, 4)).astype(np.float32), rng.normal(size=(4, 3))
    values, vectors = _compute_axes(tall)
    assert np.allclose(vectors @ np.diag(values) @ vectors.T, tall.astype(float).T @ tall.astype(float))
    assert np.allclose(vectors.T @ vectors, np.eye(4))
    assert (np.diff(values) <= 0).all()
    assert np.allclose(_multiply(tall, matrix), tall @ matrix, atol=1e-6)


def test_matrices_that_are_zero_or_of_low_rank_are_no_trouble() -> None:
    assert _compute_axes(np.zeros((5, 3), dtype=np.float32))[0].tolist() == [0, 0, 0]
    assert np.allclose(_compute_axes(np.ones((5, 4), dtype=np.float32))[0], [20, 0, 0, 0])


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ParameterError, match="dims is 0, expected 1 or more"):
        MemberVectors(dims=0)
    with pytest.raises(ParameterError, match="rounds is -1, expected 1 or more"):
        MemberVectors(rounds=-1)


TABLE = WordTable(
    pa.array(["data", "mining", "parsing", *[str(year) for year in range(1990, 2010)]]),
    np.concatenate([[[1, 0], [0, 1], [3, 4]], np.tile([6, 8], (20, 1))]).astype(np.float32),
)

WORDS = ["data", "mining", "management", "of", "question-answering", "question", "Apple", "u.s."]
YEARS = [str(year) for year in range(1990, 2021)]
ONE_HOT = WordTable(pa.array([*WORDS, *YEARS]), np.eye(len(WORDS) + len(YEARS)))


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
    vectors = WordVectors(words=TABLE, scale="none").embed_cells(cube())
    assert vectors.values.tolist() == [[60, 80, 1, 0], [60, 80, 1, 1], [60, 80, 3, 4]]
    assert vectors.blocks == (0, 2, 4) and vectors.names == ("decade", "topic")
    assert repr(vectors) == "Vectors(3 cells × 4: decade 2, topic 2)"


def test_scaled_blocks_have_the_same_mean_length_over_the_cells() -> None:
    vectors = WordVectors(words=TABLE).embed_cells(cube())
    for block in (vectors.values[:, :2], vectors.values[:, 2:]):
        assert np.linalg.norm(block, axis=1).mean() == pytest.approx(1.0, rel=1e-6)


def test_labels_without_a_direction_do_not_count_in_the_scale_and_are_listed() -> None:
    base = cube()
    topic = Level("topic", ("data", "DM", "qqq"), ("data", "data mining", "qqq zzz"))
    vectors = WordVectors(words=TABLE).embed_cells(replace(base, dimensions=(base.dimensions[0], Dimension((topic,)))))
    assert vectors.blank == {"topic": ("qqq",)}
    assert vectors.unknown == {"qqq": 1, "zzz": 1}
    assert np.linalg.norm(vectors.values[:2, 2:], axis=1).mean() == pytest.approx(1.0, rel=1e-6)
    assert not vectors.values[2, 2:].any()


def test_all_labels_together_are_zeros_and_do_not_count_in_the_scale() -> None:
    base = cube()
    view = replace(base, cells=Cells(np.array([[-1, 0], [1, -1], [-1, 2]], np.int32), base.cells.members))
    plain = WordVectors(words=TABLE, scale="none").embed_cells(view)
    assert plain.values.tolist() == [[0, 0, 1, 0], [60, 80, 0, 0], [0, 0, 3, 4]]
    scaled = WordVectors(words=TABLE).embed_cells(view).values
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
    vectors = WordVectors(words=TABLE, scale="none").embed_cells(replace(base, dimensions=twice))
    assert vectors.names == ("topic", "topic") and vectors.values.shape == (3, 4)


def test_a_cube_whose_words_are_all_unknown_has_zero_vectors() -> None:
    vectors = WordVectors(words=TABLE).embed_cells(random_cube(0))
    assert vectors.directionless.tolist() == list(range(12))
    assert len(vectors.blank["group"]) == 12


def test_the_default_table_and_files_of_words_and_names_are_used(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("mining 5 0\n")
    (tmp_path / "n.csv").write_text("label,full_name\nparsing,mining mining\n")
    vectors = WordVectors(words=tmp_path / "w.txt", names=str(tmp_path / "n.csv"), scale="none").embed_cells(cube())
    assert vectors.values[:, 2:].tolist() == [[0, 0], [5, 0], [10, 0]]
    default = WordVectors().embed_cells(cube())
    assert default.values.shape == (3, 100) and default.blank == {}


def test_a_scale_is_one_of_two() -> None:
    with pytest.raises(
        ParameterError, match=r"unknown scale 'block': choose one of blocks, none \(did you mean 'blocks'"
    ):
        WordVectors(scale="block")


@pytest.mark.parametrize("name", VECTORS)
def test_every_way_embeds_every_cell_the_same_twice(name: str) -> None:
    way = VECTORS[name]()
    one, two = (way.embed_cells(random_cube(3), seed=5) for _ in range(2))
    assert len(one) == 12
    assert one.values.dtype == np.float32 and not one.values.flags.writeable
    assert one.values.tobytes() == two.values.tobytes()


def test_embedders_of_cells_and_of_nodes_are_told_apart() -> None:
    for kind in VECTORS.values():
        assert isinstance(kind(), CellEmbedder) and not isinstance(kind(), NodeEmbedder)
    for kind in EMBEDDINGS.values():
        assert isinstance(kind(), NodeEmbedder) and not isinstance(kind(), CellEmbedder)
    cube = random_cube(0)
    with pytest.raises(ParameterError, match="an embedding is a name .* or an object like one, got WordVectors"):
        c2n.api.embed_nodes(c2n.construct(cube, cube.query(["o0", "o1"]), "none"), WordVectors())  # type: ignore[arg-type]


def test_an_object_with_the_verb_of_nodes_is_told_the_verb_of_cells() -> None:
    with pytest.raises(ParameterError, match=r"has the method embed_cells\(cube, seed=\.\.\.\), got DeepWalk"):
        c2n.api.embed_cells(random_cube(0), DeepWalk())  # type: ignore[arg-type]


def test_some_cells_can_be_taken_from_vectors() -> None:
    vectors = WordVectors(words=TABLE).embed_cells(cube())
    some = vectors.take([2, 0])
    assert some.values.tolist() == vectors.values[[2, 0]].tolist()
    assert some.labels is not None and some.labels.tolist() == [[1, 2], [0, 0]]
    assert MemberVectors(dims=2).embed_cells(cube()).take([1]).values.shape == (1, 2)


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


def words_in(found: LabelVectors, label: int = 0) -> dict[str, float]:
    """Return which words a label's vector is made of: every word of the table has a direction of its own."""
    names = ONE_HOT.words.to_pylist()
    return {names[i]: float(found.values[label, i]) for i in np.flatnonzero(found.values[label])}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("data mining", ["data", "mining"]),
        ("Data  Mining!", ["data", "mining"]),
        ("management of data", ["management", "data"]),
        ("data_mining/management", ["data", "mining", "management"]),
        ("question-answering", ["question-answering"]),
        ("data-question", ["data", "question"]),
        ("data's mining", ["data", "mining"]),
        ("Apple data", ["Apple", "data"]),
        ("U.S. data", ["u.s.", "data"]),
        ("2017", ["2017"]),
        ("200X", YEARS[10:20]),
        ("200x", YEARS[10:20]),
        ("1990s", YEARS[:10]),
        ("2016–2018", ["2016", "2017", "2018"]),
        ("2016-2018", ["2016", "2017", "2018"]),
        ("below 2000", ["2000"]),
        ("2010 and above", ["2010"]),
    ],
)
def test_a_label_is_the_sum_of_its_words(label: str, expected: list[str]) -> None:
    found = embed_labels([label], ONE_HOT)
    assert words_in(found) == dict.fromkeys(expected, 1.0)
    assert found.blank == ()


def test_a_word_said_twice_counts_twice() -> None:
    assert words_in(embed_labels(["data data mining"], ONE_HOT)) == {"data": 2.0, "mining": 1.0}


def test_a_span_of_years_that_runs_backwards_or_too_far_is_two_years() -> None:
    assert words_in(embed_labels(["2018–2016"], ONE_HOT)) == {"2016": 1.0, "2018": 1.0}
    assert words_in(embed_labels(["1000–2016"], ONE_HOT)) == {"2016": 1.0}


def test_full_names_are_read_in_place_of_acronyms() -> None:
    found = embed_labels(["SIGMOD"], ONE_HOT, full_names=["Sig on Management of Data"])
    assert words_in(found) == {"management": 1.0, "data": 1.0}
    assert found.unknown == {"sig": 1}


def test_a_full_name_without_a_known_word_falls_back_to_the_label() -> None:
    found = embed_labels(["data"], ONE_HOT, full_names=["Δεδομένα"])
    assert words_in(found) == {"data": 1.0}
    assert found.unknown == {"δεδομένα": 1}


def test_a_users_table_comes_first_and_writes_out_words_too() -> None:
    names = {"KDD": "data mining", "dm": "data mining"}
    found = embed_labels(["kdd", "dm management"], ONE_HOT, full_names=["management", "dm management"], names=names)
    assert words_in(found, 0) == {"data": 1.0, "mining": 1.0}
    assert words_in(found, 1) == {"data": 1.0, "mining": 1.0, "management": 1.0}


def test_a_name_that_is_written_out_with_itself_is_written_out_once() -> None:
    assert words_in(embed_labels(["data"], ONE_HOT, names={"data": "data mining"})) == {
        "data": 1.0,
        "mining": 1.0,
    }


def test_labels_without_a_known_word_are_listed_and_unknown_words_counted() -> None:
    found = embed_labels(["data xyz", "xyz xyz", "of", "", "no text", "xyz-data"], ONE_HOT)
    assert found.blank == ("xyz xyz", "of", "", "no text")
    assert found.unknown["xyz"] == 3
    assert not found.values[1:5].any()


def test_stop_words_are_the_callers() -> None:
    assert words_in(embed_labels(["of data"], ONE_HOT, stop_words={"data"})) == {"of": 1.0}
    assert words_in(embed_labels(["of data"], ONE_HOT, stop_words=())) == {"of": 1.0, "data": 1.0}


@given(st.lists(st.text("ab '-–X02’.", max_size=9), max_size=5))
def test_any_label_has_a_vector_or_is_listed(labels: list[str]) -> None:
    table = WordTable(pa.array(["a", "b", "ab", "2000", "2002"]), np.ones((5, 3)))
    found = embed_labels(labels, table)
    assert found.values.shape == (len(labels), 3)
    assert [label for label, row in zip(labels, found.values, strict=True) if not row.any()] == list(found.blank)


def test_a_file_of_full_names_is_read(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("label,full_name\n007,Bond films\nKDD,Knowledge Discovery\n")
    assert read_names(path) == {"007": "Bond films", "KDD": "Knowledge Discovery"}
    path.write_text("acronym,name\nKDD,Knowledge Discovery\n")
    with pytest.raises(SourceError, match="has the columns acronym, name, expected label and full_name"):
        read_names(path)
    with pytest.raises(SourceError, match=r"cannot read the full names in '.*none\.csv'"):
        read_names(tmp_path / "none.csv")
