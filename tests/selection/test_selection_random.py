"""Random cells: how often, and under which limits."""

from __future__ import annotations

import numpy as np

from cube2net.model.query import Query
from cube2net.model.selection import Budget
from cube2net.selection.objectives import Jaccard
from cube2net.selection.random import Random

from toys import toy_cube

CUBE = toy_cube([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], objects=6)
QUERY = Query(np.array([0]))
WEIGHTS = Jaccard().weigh(QUERY, 6)


def cells(seed: int, budget: Budget) -> list[int]:
    return Random().select(CUBE, QUERY, weights=WEIGHTS, budget=budget, seed=seed).cells.tolist()


def test_every_cell_is_drawn_about_equally_often() -> None:
    drawn = np.bincount([cell for seed in range(500) for cell in cells(seed, Budget(n_cells=2))], minlength=5)
    assert drawn.sum() == 1000
    assert drawn.min() > 160
    assert drawn.max() < 240


def test_another_seed_gives_another_order() -> None:
    assert len({tuple(cells(seed, Budget(n_cells=5))) for seed in range(20)}) > 10


def test_m_beyond_the_cells_takes_them_all() -> None:
    assert sorted(cells(0, Budget(n_cells=99))) == [0, 1, 2, 3, 4]


def test_a_cell_that_does_not_fit_is_passed_over_and_the_next_is_tried() -> None:
    for seed in range(10):
        order = cells(seed, Budget(n_cells=5))
        inside, expected = {0}, []
        for cell in order:
            if len(inside | {cell, cell + 1}) <= 4:
                inside |= {cell, cell + 1}
                expected.append(cell)
        assert cells(seed, Budget(n_cells=5, max_nodes=4)) == expected
