"""Cells that share members lie close, as the singular value decomposition says they must."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cube2net.embed import MemberVectors, member_vectors
from cube2net.embed.member_vectors import _axes, _matrix, _turn
from cube2net.errors import ParameterError

from toys import random_cube, toy_cube


def test_by_hand_cells_with_the_same_members_are_one_point_and_strangers_are_at_right_angles() -> None:
    cube = toy_cube([[0, 1], [0, 1], [2, 3]], objects=4)
    values = MemberVectors().embed_cells(cube).values.astype(np.float64)
    assert np.allclose(values @ values.T, [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-5)


def test_products_of_vectors_are_the_cosines_of_members_when_nothing_is_cut() -> None:
    cube = random_cube(1)
    matrix = _matrix(cube).toarray().astype(np.float64)
    values = MemberVectors(dims=64).embed_cells(cube).values.astype(np.float64)
    assert values.shape == (12, 12)
    assert np.allclose(values @ values.T, matrix @ matrix.T, atol=1e-5)


def test_a_cut_keeps_the_largest_singular_values() -> None:
    cube = random_cube(2, cells=80, objects=60)
    left, sizes, _ = np.linalg.svd(_matrix(cube).toarray().astype(np.float64), full_matrices=False)
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
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import hashlib; from toys import random_cube;"
        "from cube2net.embed import MemberVectors;"
        "cube = random_cube(5, cells=400, objects=900);"
        "print(hashlib.sha256(MemberVectors(dims=32).embed_cells(cube, seed=1).values.tobytes()).hexdigest())"
    )
    tests = str(Path(__file__).parents[1])
    seen = set()
    for threads in ("1", "2"):
        settings = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        run = subprocess.run(
            [sys.executable, "-c", code, tests],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(run.stdout)
    assert len(seen) == 1


@pytest.mark.parametrize("rows", [7, 1000])
def test_gram_and_turn_are_matrix_products(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member_vectors, "ROWS", rows)
    rng = np.random.default_rng(0)
    tall, matrix = rng.normal(size=(30, 4)).astype(np.float32), rng.normal(size=(4, 3))
    values, vectors = _axes(tall)
    assert np.allclose(vectors @ np.diag(values) @ vectors.T, tall.astype(float).T @ tall.astype(float))
    assert np.allclose(vectors.T @ vectors, np.eye(4))
    assert (np.diff(values) <= 0).all()
    assert np.allclose(_turn(tall, matrix), tall @ matrix, atol=1e-6)


def test_matrices_that_are_zero_or_of_low_rank_are_no_trouble() -> None:
    assert _axes(np.zeros((5, 3), dtype=np.float32))[0].tolist() == [0, 0, 0]
    assert np.allclose(_axes(np.ones((5, 4), dtype=np.float32))[0], [20, 0, 0, 0])


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ParameterError, match="dims is 0, expected 1 or more"):
        MemberVectors(dims=0)
    with pytest.raises(ParameterError, match="rounds is -1, expected 1 or more"):
        MemberVectors(rounds=-1)
