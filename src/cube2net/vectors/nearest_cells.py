"""Find the free cells nearest to an action of the learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError, check_int, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.vectors import Vectors
from cube2net.vectors.cell_vectors import embed_cells

WAYS = ("auto", "tables", "matmul")
# This many products of actions and cells are held at once: bounds the memory of a large batch.
MAX_PRODUCTS = 2**24
# Single precision squares numbers up to here without running over.
MAX_COORDINATE = 1e15


@dataclass(frozen=True, eq=False)
class Nearest:
    """A finder of the nearest cells of many actions at once; of two cells equally far, the lower number is nearer.

    ``tables`` adds the distances of labels, dimension by dimension, and skips groups of cells that are too far.
    ``matmul`` multiplies actions by all cells, and measures again where rounding could change the order.
    """

    vectors: Vectors
    groups: CellGroups | None

    @classmethod
    def of(cls, vectors: Vectors, *, way: str = "auto") -> Nearest:
        """Return a finder over vectors; ``auto`` takes tables if the labels' vectors hold fewer numbers."""
        if way not in WAYS:
            raise unknown_name("way", way, WAYS)
        if vectors.labels is None or not vectors.tables:
            if way == "tables":
                raise ParameterError("way is 'tables', but these cells are no product of labels: choose 'matmul'")
            return cls(vectors, None)
        if way == "matmul" or (way == "auto" and not _is_cheaper_by_tables(vectors)):
            return cls(vectors, None)
        return cls(vectors, _group_cells(vectors, vectors.labels))

    def __repr__(self) -> str:
        return f"Nearest({len(self.vectors):,} cells by {self.way})"

    @property
    def way(self) -> str:
        """The algorithm, ``tables`` or ``matmul``."""
        return "matmul" if self.groups is None else "tables"

    def find(self, actions: Array, *, k: int = 1, taken: Array | None = None) -> tuple[Array, Array]:
        """Return the numbers of the k nearest cells of every action, nearest first, and their distances.

        ``taken`` are the cells that an action may not have: rows of cell numbers, padded with -1, or a boolean mask of
        all cells. If fewer than k cells are left, the rest is cell -1 at infinite distance.

        >>> vectors = Vectors.product({"x": np.array([[0.0], [1.0], [5.0]])}, np.array([[0], [1], [2]]))
        >>> cells, distances = Nearest.of(vectors).find(np.array([[4.0], [4.0]]), k=2, taken=np.array([[-1], [2]]))
        >>> cells.tolist(), distances.tolist()
        ([[2, 1], [1, 0]], [[1.0, 3.0], [3.0, 4.0]])
        """
        actions = self._actions(actions)
        if k < 1:
            raise ParameterError(f"k is {k!r}, expected 1 or more cells")
        rows = _parse_taken(taken, len(actions), len(self.vectors))
        cells = np.full((len(actions), k), -1, dtype=np.int32)
        far = np.full((len(actions), k), np.inf)
        if len(self.vectors) and len(actions):
            most = min(k, len(self.vectors))
            kept, squares = np.empty((len(actions), most), np.int32), np.empty((len(actions), most))
            if self.groups is None:
                self._by_products(actions, rows, kept, squares)
            else:
                self._by_tables(self.groups, actions, rows, kept, squares)
            cells[:, :most], far[:, :most] = kept, np.sqrt(squares)
        return cells, far

    def _actions(self, actions: Array) -> Array:
        width = self.vectors.values.shape[1]
        if actions.ndim != 2 or actions.shape[1] != width:
            raise ParameterError(f"actions have shape {actions.shape}, expected rows of {width} numbers")
        if not bool(np.isfinite(actions).all()):
            raise ParameterError(f"{int((~np.isfinite(actions)).any(axis=1).sum()):,} actions are not finite")
        if bool((np.abs(actions) > MAX_COORDINATE).any()):
            raise ParameterError(
                f"actions hold {float(np.abs(actions).max()):.3g}, expected at most {MAX_COORDINATE:.0e}"
            )
        return np.ascontiguousarray(actions, dtype=np.float64)

    @cached_property
    def _halves(self) -> tuple[Array, float]:
        """Half the squared length of every cell's vector, and the longest length."""
        values = self.vectors.values
        squares = np.einsum("ij,ij->i", values, values, dtype=np.float64)
        return (squares / 2).astype(np.float32), float(np.sqrt(squares.max()))

    def _by_tables(self, groups: CellGroups, actions: Array, taken: Array, cells: Array, far: Array) -> None:
        from cube2net.kernels.nearest import label_distances, nearest_by_tables

        tables = np.empty((len(actions), groups.columns[-1]))
        for i, turned in enumerate(groups.turned):
            block = actions[:, self.vectors.blocks[i] : self.vectors.blocks[i + 1]]
            label_distances(block, turned, tables[:, groups.columns[i] : groups.columns[i + 1]])
        nearest_by_tables(
            tables, groups.heads, groups.starts, groups.leaves, groups.numbers, groups.last, taken, cells, far
        )

    def _by_products(self, actions: Array, taken: Array, cells: Array, far: Array) -> None:
        from cube2net.kernels.nearest import nearest_by_products

        values = self.vectors.values
        halves, longest = self._halves
        rough = actions.astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", actions, actions))
        slack = (values.shape[1] + 8) * np.finfo(np.float32).eps * 4 * (lengths * longest + longest**2 + 1e-30)
        step = max(1, MAX_PRODUCTS // len(values))
        for at in range(0, len(actions), step):
            part = slice(at, at + step)
            nearest_by_products(
                rough[part] @ values.T,
                halves,
                slack[part],
                actions[part],
                values,
                taken[part],
                cells[part],
                far[part],
            )


@dataclass(frozen=True, eq=False)
class CellGroups:
    """Cells grouped by all dimensions but one; see ``kernels.nearest.nearest_by_tables``."""

    turned: tuple[Array, ...]
    columns: tuple[int, ...]
    heads: Array
    starts: Array
    leaves: Array
    numbers: Array
    last: Array


def _is_cheaper_by_tables(vectors: Vectors) -> bool:
    """Return whether the labels to measure are fewer numbers than the cells."""
    return sum(table.size for table in vectors.tables) <= vectors.values.size


def _group_cells(vectors: Vectors, labels: Array) -> CellGroups:
    """Return the groups along the dimension that leaves the fewest of them."""
    columns = (0, *np.cumsum([len(table) for table in vectors.tables]).tolist())
    flat = labels.astype(np.int32) + np.array(columns[:-1], dtype=np.int32)
    groupings: list[tuple[Array, Array, int]] = []
    for last in range(flat.shape[1]):
        rest = np.delete(flat, last, axis=1)
        order = np.lexsort((flat[:, last], *rest.T[::-1]))
        rows = rest[order]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        groupings.append((order, np.append(np.flatnonzero(new), len(rows)), last))
    order, starts, last = min(groupings, key=lambda one: len(one[1]))
    return CellGroups(
        turned=tuple(np.ascontiguousarray(table.T, dtype=np.float64) for table in vectors.tables),
        columns=columns,
        heads=np.ascontiguousarray(np.delete(flat, last, axis=1)[order[starts[:-1]]]),
        starts=starts,
        leaves=np.ascontiguousarray(flat[order, last]),
        numbers=order.astype(np.int32),
        last=np.array(columns[last : last + 2]),
    )


def _parse_taken(taken: Array | None, rows: int, count: int) -> Array:
    """Return the numbers of the cells that each row may not have, padded with -1."""
    if taken is None:
        return np.empty((rows, 0), dtype=np.int32)
    if taken.dtype == np.bool_:
        if taken.shape != (rows, count):
            raise ParameterError(f"taken has shape {taken.shape}, expected {(rows, count)}: one answer for every cell")
        row, cell = np.nonzero(taken)
        sizes = np.bincount(row, minlength=rows)
        numbers = np.full((rows, int(sizes.max(initial=0))), -1, dtype=np.int32)
        numbers[row, np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)] = cell
        return numbers
    if taken.ndim != 2 or len(taken) != rows or not np.issubdtype(taken.dtype, np.integer):
        raise ParameterError(
            f"taken has shape {taken.shape}, expected a row of cell numbers for each of {rows} actions"
        )
    if taken.size and not -1 <= int(taken.min()) <= int(taken.max()) < count:
        raise ParameterError(f"taken names cells outside 0 … {count - 1}")
    return np.ascontiguousarray(taken, dtype=np.int32)


def near_cells(
    cube: Cube, cell: int | Sequence[str], k: int = 10, vectors: Vectors | None = None
) -> list[tuple[str, ...]]:
    """Return the labels of the k cells nearest to a cell, which is given by its number or its labels."""
    cell = check_int("cell", cell, 0, len(cube.cells) - 1) if isinstance(cell, int) else cube.find_cell(cell)
    cell_vectors = embed_cells(cube) if vectors is None else vectors
    nearest, _ = Nearest.of(cell_vectors).find(cell_vectors.values[[cell]], k=k, taken=np.array([[cell]]))
    return [cube.cell(int(number)) for number in nearest[0] if number >= 0]
