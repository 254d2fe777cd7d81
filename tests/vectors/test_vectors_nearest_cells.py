"""The nearest cells are exactly those that brute force finds, whichever way they are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError
from cube2net.model.vectors import Vectors
from cube2net.vectors import nearest_cells as module
from cube2net.vectors.nearest_cells import Nearest

WAYS = ("tables", "matmul")


def brute(values: Array, actions: Array, k: int, taken: list[set[int]]) -> list[list[int]]:
    """Return the k nearest free cells by sorting all of them by distance and number."""
    answer = []
    for action, gone in zip(actions.astype(np.float64), taken, strict=True):
        far = ((values.astype(np.float64) - action) ** 2).sum(axis=1)
        free = [cell for cell in np.lexsort((np.arange(len(far)), far)).tolist() if cell not in gone]
        answer.append((free + [-1] * k)[:k])
    return answer


def padded(taken: list[set[int]]) -> Array:
    width = max(map(len, taken), default=0)
    return np.array([sorted(row) + [-1] * (width - len(row)) for row in taken], np.int64).reshape(len(taken), width)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Vectors, Array, int, list[set[int]]]:
    """Cells over one to four dimensions with whole-numbered vectors, so that ties are many and exact."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    tables = {
        str(i): rng.integers(-2, 3, (size, int(rng.integers(1, 4)))).astype(float) for i, size in enumerate(sizes)
    }
    cells = draw(st.integers(1, 40))
    labels = np.stack([rng.integers(0, size, cells) for size in sizes], axis=1).astype(np.int32)
    vectors = Vectors.product(tables, labels)
    rows = draw(st.integers(1, 4))
    actions = rng.integers(-3, 4, (rows, vectors.values.shape[1])).astype(float)
    taken = [set(rng.choice(cells, size=rng.integers(0, cells + 1), replace=False).tolist()) for _ in range(rows)]
    return vectors, actions, draw(st.integers(1, 12)), taken


@given(problems())
def test_both_ways_find_what_brute_force_finds_and_ties_go_to_the_lowest_number(
    problem: tuple[Vectors, Array, int, list[set[int]]],
) -> None:
    vectors, actions, k, taken = problem
    expected = brute(vectors.values, actions, k, taken)
    for way in WAYS:
        cells, far = Nearest.of(vectors, way=way).find(actions, k=k, taken=padded(taken))
        assert cells.tolist() == expected
        for row, action in enumerate(actions):
            real = cells[row] >= 0
            gaps = np.linalg.norm(vectors.values[cells[row][real]] - action, axis=1)
            assert np.allclose(far[row][real], gaps, rtol=1e-6, atol=1e-7)
            assert np.isinf(far[row][~real]).all()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", [1e-6, 1.0, 1e4])
def test_real_numbers_of_any_length_give_the_brute_force_answer(way: str, length: float) -> None:
    rng = np.random.default_rng(3)
    tables = {name: rng.normal(size=(size, 20)) for name, size in (("a", 8), ("b", 60), ("c", 30))}
    labels = np.stack([rng.integers(0, len(table), 3000) for table in tables.values()], axis=1)
    vectors = Vectors.product(tables, labels)
    actions = rng.normal(size=(7, 60)) * length
    taken = [set(rng.choice(3000, 20, replace=False).tolist()) for _ in range(7)]
    cells, _ = Nearest.of(vectors, way=way).find(actions, k=25, taken=padded(taken))
    assert cells.tolist() == brute(vectors.values, actions, 25, taken)


def test_a_mask_over_all_cells_means_the_same_as_a_list_of_cells() -> None:
    rng = np.random.default_rng(4)
    vectors = Vectors.product({"a": rng.normal(size=(9, 2))}, np.arange(9)[:, None])
    mask = rng.random((5, 9)) < 0.4
    actions = rng.normal(size=(5, 2))
    finder = Nearest.of(vectors)
    by_mask, _ = finder.find(actions, k=9, taken=mask)
    by_list, _ = finder.find(actions, k=9, taken=padded([set(np.flatnonzero(row).tolist()) for row in mask]))
    assert by_mask.tolist() == by_list.tolist()
    assert not any(mask[row, cell] for row in range(5) for cell in by_mask[row] if cell >= 0)


@pytest.mark.parametrize("way", WAYS)
def test_equal_vectors_are_found_in_the_order_of_their_numbers(way: str) -> None:
    rng = np.random.default_rng(5)
    table = np.tile(rng.normal(size=50), (40, 1))
    vectors = Vectors.product(
        {"a": table, "b": rng.normal(size=(1, 3))}, np.stack([np.arange(40)[::-1], np.zeros(40, int)], 1)
    )
    cells, _ = Nearest.of(vectors, way=way).find(rng.normal(size=(3, 53)), k=40)
    assert cells.tolist() == [list(range(40))] * 3


def test_a_large_batch_is_multiplied_in_parts_with_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    vectors = Vectors(rng.normal(size=(50, 4)), (0, 4), ("members",))
    actions = rng.normal(size=(33, 4))
    whole, _ = Nearest.of(vectors).find(actions, k=3)
    monkeypatch.setattr(module, "MAX_PRODUCTS", 100)
    parts, _ = Nearest.of(vectors).find(actions, k=3)
    assert parts.tolist() == whole.tolist() == brute(vectors.values, actions, 3, [set()] * 33)


def test_no_cells_and_no_actions_are_no_trouble() -> None:
    none = Vectors.product({"a": np.ones((1, 2))}, np.empty((0, 1), np.int32))
    cells, far = Nearest.of(none).find(np.zeros((2, 2)), k=3)
    assert cells.tolist() == [[-1] * 3] * 2 and np.isinf(far).all()
    one = Vectors.product({"a": np.ones((1, 2))}, np.zeros((1, 1), np.int32))
    assert Nearest.of(one).find(np.zeros((0, 2)), k=2)[0].shape == (0, 2)


def test_tables_are_used_where_cells_are_products_of_fewer_labels() -> None:
    rng = np.random.default_rng(7)
    product = Vectors.product({"a": rng.normal(size=(3, 2))}, rng.integers(0, 3, (50, 1)))
    assert repr(Nearest.of(product)) == "Nearest(50 cells by tables)"
    assert Nearest.of(Vectors.product({"a": rng.normal(size=(30, 2))}, np.zeros((5, 1), int))).way == "matmul"
    assert Nearest.of(Vectors(np.ones((5, 2)), (0, 2), ("members",))).way == "matmul"


def test_bad_arguments_are_named() -> None:
    vectors = Vectors(np.ones((5, 2)), (0, 2), ("members",))
    finder = Nearest.of(vectors)
    for actions, sentence in [
        (np.zeros((1, 3)), r"actions have shape \(1, 3\), expected rows of 2 numbers"),
        (np.array([[np.nan, 0]]), "1 actions are not finite"),
        (np.array([[1e20, 0]]), r"actions hold 1e\+20, expected at most 1e\+15"),
    ]:
        with pytest.raises(ParameterError, match=sentence):
            finder.find(actions)
    for taken, sentence in [
        (np.array([[5]]), "taken names cells outside 0 … 4"),
        (np.array([0]), r"taken has shape \(1,\), expected a row of cell numbers for each of 1 actions"),
        (np.zeros((1, 3), bool), r"taken has shape \(1, 3\), expected \(1, 5\)"),
    ]:
        with pytest.raises(ParameterError, match=sentence):
            finder.find(np.zeros((1, 2)), taken=taken)
    with pytest.raises(ParameterError, match="k is 0, expected 1 or more cells"):
        finder.find(np.zeros((1, 2)), k=0)
    with pytest.raises(ParameterError, match="unknown way 'table'"):
        Nearest.of(vectors, way="table")
    with pytest.raises(ParameterError, match="these cells are no product of labels"):
        Nearest.of(vectors, way="tables")
