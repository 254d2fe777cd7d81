"""How well hidden links are found again: precision and recall at K, and AUC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError, whole_number
from cube2net.interfaces import Fitted
from cube2net.mine.fitted import known_links
from cube2net.records.ragged import frozen

if TYPE_CHECKING:
    import scipy.sparse as sp

BLOCK = 1024
LEVEL = 1e-9


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scores of every user with hidden links, in the order of ``users``; ``left_out`` users have none.

    ``precision`` and ``recall`` are users × ``ks``; ``auc`` is nan for a user whose other items are all known.
    ``cold`` says which users have no known link at all.
    """

    users: Array
    ks: tuple[int, ...]
    precision: Array
    recall: Array
    auc: Array
    cold: Array
    hidden: int
    left_out: int

    def __post_init__(self) -> None:
        for name in ("users", "precision", "recall", "auc", "cold"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        parts = [f"{name} {value:.4f}" for name, value in self.means().items()]
        return f"Ranking({len(self):,} users, {self.hidden:,} hidden links: {', '.join(parts)})"

    def means(self) -> dict[str, float]:
        """Return the mean over users of every score: ``P@5``, …, ``R@5``, …, ``AUC``; nan where there is no user."""
        found = {f"P@{k}": _mean(self.precision[:, i]) for i, k in enumerate(self.ks)}
        found |= {f"R@{k}": _mean(self.recall[:, i]) for i, k in enumerate(self.ks)}
        return {**found, "AUC": _mean(self.auc)}


def rank_links(
    fitted: Fitted,
    known: sp.csr_array,
    hidden: sp.csr_array,
    *,
    ks: Sequence[int] = (1, 5, 10, 20),
    items: int | None = None,
) -> Ranking:
    """Return how well hidden links are found again among the items that their users are not known to have.

    Every user with a hidden link gets the first ``items`` items (all of them without a number) in the order of the
    scores, without the known ones. Precision at K is the share of the first K places that hold hidden links,
    recall at K the share of the hidden links that are there; AUC is how likely a hidden link stands above an item
    that is neither known nor hidden. Items of equal scores (to 9 digits of the user's largest) may stand in any
    order: the scores are their expected values over all orders, so that no order of the items matters. Users
    without hidden links are left out and counted.
    """
    from cube2net.kernels.placing import placing

    known, hidden = known_links(known), known_links(hidden)
    if known.shape != hidden.shape:
        raise InputError(f"known links are {_by(known)} users × items and hidden ones {_by(hidden)}, expected the same")
    wanted = tuple(whole_number("K", k, 1, what="places") for k in ks)
    width = known.shape[1] if items is None else whole_number("items", items, 0, known.shape[1])
    if hidden[:, width:].nnz:
        raise InputError(f"{hidden[:, width:].nnz:,} hidden links lead to items beyond the first {width:,}")
    cold = np.diff(known.indptr) == 0
    known, hidden = known[:, :width], hidden[:, :width]
    users = np.flatnonzero(np.diff(hidden.indptr))
    table = np.zeros((len(users), 2 * len(wanted) + 1))
    for start in range(0, len(users), BLOCK):
        block = users[start : start + BLOCK]
        scores = np.asarray(fitted.scores(block), dtype=np.float64)[:, :width]
        if scores.shape != (len(block), width) or not bool(np.isfinite(scores).all()):
            raise InputError(f"{fitted!r} gave scores of shape {scores.shape} that are not all finite")
        mine, theirs = known[block], hidden[block]
        if (mine.multiply(theirs)).nnz:
            raise InputError("some links are both known and hidden: take hidden links out of the known ones")
        slack = LEVEL * np.abs(scores).max(axis=1)
        rows = (part.astype(np.int64) for part in (mine.indptr, mine.indices, theirs.indptr, theirs.indices))
        above, level, auc = placing(scores, slack, *rows)
        hits = np.clip((np.array(wanted) - above[:, None]) / level[:, None], 0.0, 1.0)
        own = np.add.reduceat(np.column_stack([hits, auc]), theirs.indptr[:-1])
        counts = np.diff(theirs.indptr)[:, None]
        table[start : start + BLOCK] = np.column_stack([own[:, :-1] / wanted, own / counts])
    precision, recall, auc = np.split(table, [len(wanted), 2 * len(wanted)], axis=1)
    return Ranking(
        users=users,
        ks=wanted,
        precision=precision,
        recall=recall,
        auc=auc[:, 0],
        cold=cold[users],
        hidden=hidden.nnz,
        left_out=known.shape[0] - len(users),
    )


def _mean(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _by(matrix: sp.csr_array) -> str:
    return " × ".join(f"{size:,}" for size in matrix.shape)
