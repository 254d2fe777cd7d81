"""Factors for links alone, by alternating least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cube2net.errors import ParameterError, whole_number
from cube2net.interfaces import Fitted
from cube2net.mine.fitted import Factors, Floor, known_links
from cube2net.seeding import stream
from cube2net.threads import one_thread

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True, kw_only=True)
class Als:
    """Factor users × items so that links are near 1 and all other pairs, with little confidence, near 0.

    Minimises Σ c (p − xᵀy)² + ``ridge`` (Σ|x|² + Σ|y|²) over all pairs: p = 1 and c = 1 + ``confidence`` for a link,
    p = 0 and c = 1 elsewhere (Hu, Koren and Volinsky 2008). ``rounds`` times users and items are solved in turn,
    exactly. Weights are not looked at.
    """

    rank: int = 16
    ridge: float = 10.0
    confidence: float = 5.0
    rounds: int = 15

    def __post_init__(self) -> None:
        for name in ("rank", "rounds"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 1))
        for name in ("ridge", "confidence"):
            if not 0 < getattr(self, name) < np.inf:
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected a number above 0")

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return the factors; users and items without links have zeros."""
        import scipy.sparse as sp

        from cube2net.kernels.lowrank import solve_rows

        links = known_links(matrix)
        turned = sp.csr_array(links.T)
        drawn = stream(seed, "mine", "als").standard_normal((links.shape[1], self.rank)) / np.sqrt(self.rank)
        items = np.where(np.diff(turned.indptr)[:, None] > 0, drawn, 0.0)
        users = np.zeros((links.shape[0], self.rank))
        ridge = self.ridge * np.eye(self.rank)
        with one_thread():
            for _ in range(self.rounds):
                users = solve_rows(links.indptr, links.indices, self.confidence, items, items.T @ items + ridge)
                items = solve_rows(turned.indptr, turned.indices, self.confidence, users, users.T @ users + ridge)
        return Factors(users, items, np.zeros(len(items)), Floor.of(links))
