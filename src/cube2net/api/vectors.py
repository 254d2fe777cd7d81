"""Vectors of cells, and the cells nearest to a text or a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cube2net.errors import ParameterError, check_int
from cube2net.model.cube import Cube
from cube2net.model.interfaces import CellEmbedder, NodeEmbedder, make_object
from cube2net.model.vectors import Vectors
from cube2net.vectors.cell_vectors import VECTORS
from cube2net.vectors.nearest_cells import Nearest


def embed_cells(cube: Cube, vectors: str | CellEmbedder = "words", *, seed: int = 0, **options: Any) -> Vectors:
    """Return a vector for every cell: of the words of its labels, or learned from the cells' members."""
    if isinstance(vectors, NodeEmbedder) and not isinstance(vectors, CellEmbedder):
        raise ParameterError(
            f"a kind of vectors has the method embed_cells(cube, seed=...), got {vectors!r} with embed, that of "
            "an embedding of nodes: rename the method if it embeds cells"
        )
    maker: CellEmbedder = make_object(vectors, VECTORS, CellEmbedder, "kind of vectors", options)
    return maker.embed_cells(cube, seed=seed)


def near_cells(
    cube: Cube, cell: int | Sequence[str], k: int = 10, vectors: Vectors | None = None
) -> list[tuple[str, ...]]:
    """Return the labels of the k cells nearest to a cell (its number or its labels), without itself."""
    cell = check_int("cell", cell, 0, len(cube.cells) - 1) if isinstance(cell, int) else cube.find_cell(cell)
    known = embed_cells(cube) if vectors is None else vectors
    found, _ = Nearest.of(known).find(known.values[[cell]], k=k, taken=np.array([[cell]]))
    return [cube.cell(int(number)) for number in found[0] if number >= 0]
