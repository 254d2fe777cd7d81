"""The heap and the searches of the nearest-cell kernels do what plain Python does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cube2net.kernels.nearest import label_distances, nearest_by_products, nearest_by_tables, push, sort_heap


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 50)), max_size=40, unique_by=lambda pair: pair[1]),
    st.integers(1, 12),
)
def test_the_heap_keeps_the_k_smallest_in_order(pairs: list[tuple[int, int]], k: int) -> None:
    far, cells, size = np.empty(k), np.empty(k, np.int32), 0
    for distance, cell in pairs:
        size = push(far, cells, size, float(distance), cell)
    sort_heap(far, cells, size)
    best = sorted(pairs)[:k]
    assert size == len(best)
    assert list(zip(far[:size].tolist(), cells[:size].tolist(), strict=True)) == best
    assert (cells[size:] == -1).all() and np.isinf(far[size:]).all()


def test_distances_of_labels_are_those_of_plain_python() -> None:
    rng = np.random.default_rng(0)
    actions, labels = rng.normal(size=(3, 5)), rng.normal(size=(4, 5))
    out = np.empty((3, 4))
    label_distances(actions, np.ascontiguousarray(labels.T), out)
    twin = [[sum((a - b) ** 2 for a, b in zip(action, label, strict=True)) for label in labels] for action in actions]
    assert np.allclose(out, twin, rtol=1e-14)


def test_tables_and_products_agree_with_a_plain_loop() -> None:
    rng = np.random.default_rng(1)
    tables = rng.integers(0, 6, (2, 5)).astype(float)  # labels 0 and 1 of one dimension, 2, 3 and 4 of the other
    heads, starts = np.array([[0], [1]], np.int32), np.array([0, 3, 5])
    leaves, numbers = np.array([2, 3, 4, 2, 4], np.int32), np.array([4, 0, 2, 3, 1], np.int32)
    taken = np.array([[0, -1], [-1, -1]], np.int32)
    cells, far = np.empty((2, 4), np.int32), np.empty((2, 4))
    nearest_by_tables(tables, heads, starts, leaves, numbers, np.array([2, 5]), taken, cells, far)
    for row in range(2):
        found = []
        for head in range(2):
            for at in range(starts[head], starts[head + 1]):
                if numbers[at] not in taken[row]:
                    found.append((tables[row, heads[head, 0]] + tables[row, leaves[at]], int(numbers[at])))
        assert list(zip(far[row].tolist(), cells[row].tolist(), strict=True)) == sorted(found)[:4]


def test_products_that_are_off_by_the_slack_still_give_the_exact_answer() -> None:
    rng = np.random.default_rng(2)
    values, actions = rng.normal(size=(60, 3)).astype(np.float32), rng.normal(size=(4, 3))
    off = rng.uniform(-0.25, 0.25, (4, 60))
    products = (actions @ values.T + off).astype(np.float32)
    halves = ((values**2).sum(axis=1) / 2).astype(np.float32)
    cells, far = np.empty((4, 5), np.int32), np.empty((4, 5))
    nearest_by_products(products, halves, np.full(4, 0.51), actions, values, np.empty((4, 0), np.int32), cells, far)
    exact = ((actions[:, None] - values[None].astype(np.float64)) ** 2).sum(axis=2)
    assert cells.tolist() == np.argsort(exact, axis=1)[:, :5].tolist()
    assert np.allclose(far, np.sort(exact, axis=1)[:, :5])
