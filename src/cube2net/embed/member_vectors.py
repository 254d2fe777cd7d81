"""Cells become vectors by the objects they hold: cells that share members lie close together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError
from cube2net.records import Cube
from cube2net.records.vectors import Vectors
from cube2net.seeding import stream
from cube2net.threads import one_thread

if TYPE_CHECKING:
    import scipy.sparse as sp

SPARE = 16
# So many rows are held in double precision at once.
ROWS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class MemberVectors:
    """The vector of a cell is its row in the truncated SVD of the cell–object matrix, X ≈ U Σ Vᵀ, drawn to length 1.

    An object counts for less the more cells it is in, by log(1 + cells / its cells), and every cell's row of X has
    length 1, so the product of two vectors follows the cosine of the cells' members. ``rounds`` is how often the
    subspace is sharpened: more come closer to the true SVD, which is not always the better predictor.
    """

    dims: int = 64
    rounds: int = 3

    def __post_init__(self) -> None:
        for name in ("dims", "rounds"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected 1 or more")

    def embed_cells(self, cube: Cube, *, seed: int = 0) -> Vectors:
        """Return the vectors of the cube's cells; a cube of fewer cells than ``dims`` has as many columns as cells."""
        dims = min(self.dims, len(cube.cells), len(cube.objects))
        values = _left_svd(_matrix(cube), dims, self.rounds, stream(seed, "embed", "members"))
        lengths = np.sqrt(np.einsum("ij,ij->i", values, values, dtype=np.float64))[:, None]
        return Vectors(values / np.where(lengths > 0, lengths, 1.0), (0, dims), ("members",))


def _matrix(cube: Cube) -> sp.csr_array:
    """Return the cell–object matrix with rare objects weighing more and every row of length 1."""
    import scipy.sparse as sp

    members = cube.cells.members
    cells, objects = len(cube.cells), len(cube.objects)
    homes = np.bincount(members.indices, minlength=objects)
    weights = np.log1p(cells / np.maximum(homes, 1))[members.indices]
    rows = np.repeat(np.arange(cells), members.sizes)
    lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=cells))
    data = (weights / lengths[rows]).astype(np.float32)
    return sp.csr_array((data, members.indices, members.indptr), shape=(cells, objects))


def _left_svd(matrix: sp.csr_array, dims: int, rounds: int, rng: np.random.Generator) -> Array:
    """Return U Σ of the largest ``dims`` singular values, by subspace iteration from a random start.

    All dense algebra is done on one thread, so the answer does not depend on how many there are; the number of largest
    size in every column is positive.
    """
    import scipy.sparse as sp

    if dims == 0:
        return np.zeros((matrix.shape[0], 0), dtype=np.float32)
    turned = sp.csr_array(matrix.T)
    width = min(dims + SPARE, *matrix.shape)
    basis = rng.standard_normal((matrix.shape[0], width), dtype=np.float32)
    with one_thread():
        for _ in range(rounds):
            basis = matrix @ (turned @ basis)
            for _ in range(2):
                squares, axes = _axes(basis)
                basis = _turn(basis, axes * _inverse_roots(squares))
        squares, axes = _axes(turned @ basis)
        values = _turn(basis, axes[:, :dims] * np.sqrt(np.maximum(squares[:dims], 0.0)))
    signs = np.sign(values[np.abs(values).argmax(axis=0), np.arange(dims)])
    result: Array = values * np.where(signs == 0, 1, signs).astype(np.float32)
    return result


def _axes(tall: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of ``tallᵀ tall``, largest first, and its eigenvectors as columns, in double precision."""
    products = np.zeros((tall.shape[1],) * 2)
    for start in range(0, len(tall), ROWS):
        rows = tall[start : start + ROWS].astype(np.float64)
        products += rows.T @ rows
    squares, axes = np.linalg.eigh(products)
    return squares[::-1], axes[:, ::-1]


def _turn(tall: Array, matrix: Array) -> Array:
    """Return ``tall @ matrix`` in single precision, summed in double."""
    out = np.empty((len(tall), matrix.shape[1]), dtype=np.float32)
    for start in range(0, len(tall), ROWS):
        out[start : start + ROWS] = tall[start : start + ROWS].astype(np.float64) @ matrix
    return out


def _inverse_roots(squares: Array) -> Array:
    """Return 1 / √x, and 0 for directions that are only rounding."""
    real = squares > 1e-12 * max(float(squares[0]), 1e-300)
    return np.where(real, 1 / np.sqrt(np.where(real, squares, 1.0)), 0.0)
