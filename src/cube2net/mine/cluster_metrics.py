"""How well clusters found agree with the true ones: F1, JC, NMI, and the NMI of overlapping groups.

The first three take one label for each object, the last several; found ones first, then true. Names do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError, unknown
from cube2net.kernels import cluster_agreement
from cube2net.kernels.cluster_agreement import entropy

if TYPE_CHECKING:
    import scipy.sparse as sp

Labels = Sequence[object] | Array
NORMS = ("max", "sum", "lfk")


def f1(found: Labels, truth: Labels) -> float:
    """Return the F1 similarity: the F1 of every found cluster with the true one most like it, weighed by size.

    F1 = Σ_c |c| / n · max_t 2 |c ∩ t| / (|c| + |t|), with c the clusters found and t the true ones. It is not
    symmetric: clusters found may share their best true one.

    >>> f1([0, 0, 1, 1], ["a", "a", "a", "b"])  # ½ · max(4/5, 0) + ½ · max(2/5, 2/3)
    0.7333333333333334
    """
    return float(cluster_agreement.f1(_contingency(found, truth)))


def jaccard_index(found: Labels, truth: Labels) -> float:
    """Return the Jaccard similarity JC: the mean of the best matches, half from either side.

    JC = ½ · mean_c max_t J(c, t) + ½ · mean_t max_c J(c, t), with J(c, t) = |c ∩ t| / |c ∪ t|.

    >>> jaccard_index([0, 0, 1, 1], ["a", "a", "a", "b"])  # ½ · (2/3 + 1/2) / 2 + ½ · (2/3 + 1/2) / 2
    0.5833333333333333
    """
    return float(cluster_agreement.jaccard(_contingency(found, truth)))


def nmi(found: Labels, truth: Labels) -> float:
    """Return the normalised mutual information, I(C; T) / ((H(C) + H(T)) / 2): 0 when one tells nothing of the other.

    It is 1 when both put all objects into one cluster.

    >>> round(nmi([0, 0, 1, 1], ["a", "a", "a", "b"]), 4)
    0.3437
    """
    return float(cluster_agreement.nmi(_contingency(found, truth)))


def overlapping_nmi(
    found: Sequence[Collection[object]], truth: Sequence[Collection[object]], *, norm: str = "max"
) -> float:
    """Return the NMI of groups that may overlap: every object has any number of labels, also none.

    A group is a yes-or-no variable over the n objects. What is left to know of group x once groups Y are known is
    H(x | Y) = min_y H(x | y), over those y that tell more by agreeing than by disagreeing, and H(x) where there is
    none (Lancichinetti, Fortunato and Kertész 2009). With H(X | Y) = Σ_x H(x | Y), I = ½ (H(X) − H(X | Y) + H(Y) −
    H(Y | X)), divided by max(H(X), H(Y)), or with ``norm="sum"`` by their mean (McDaid, Greene and Hurley 2011).
    ``norm="lfk"`` is the first paper's own: 1 − ½ (mean_x H(x | Y) / H(x) + mean_y H(y | X) / H(y)).

    On groups that do not overlap it is not ``nmi``, and is not meant to be compared with it.

    >>> overlapping_nmi([{0}, {0, 1}, {1}, {1}], [["a"], ["b", "a"], ["b"], ["b"]])
    1.0
    """
    if norm not in NORMS:
        raise unknown("norm", norm, NORMS)
    one, other = _cover(found, "found"), _cover(truth, "true")
    _same_length(one.shape[1], other.shape[1])
    total = one.shape[1]
    sizes, true_sizes = one.sum(axis=1), other.sum(axis=1)
    both = (one @ other.T).toarray()
    alone, true_alone = _binary_entropy(sizes / total), _binary_entropy(true_sizes / total)
    left = _left_to_know(both, sizes, true_sizes, total)
    true_left = _left_to_know(both.T, true_sizes, sizes, total)
    if norm == "lfk":
        shares = [_share_left(left, alone), _share_left(true_left, true_alone)]
        return float(1 - sum(shares) / 2)
    known = (alone.sum() - left.sum() + true_alone.sum() - true_left.sum()) / 2
    most = max(alone.sum(), true_alone.sum()) if norm == "max" else (alone.sum() + true_alone.sum()) / 2
    if most <= 0:
        return 1.0
    return float(min(max(known / most, 0.0), 1.0))


def _contingency(found: Labels, truth: Labels) -> Array:
    """Return how many objects every found and every true cluster share."""
    _same_length(len(found), len(truth))
    if not len(found):
        raise InputError("there are no objects to score: give one label for each object, found and true")
    rows, columns = _numbered(found), _numbered(truth)
    width = int(columns.max()) + 1
    both = np.bincount(rows * width + columns, minlength=(int(rows.max()) + 1) * width).reshape(-1, width)
    return both.astype(np.float64)


def _numbered(labels: Iterable[Any]) -> Array:
    """Return a number for every label, equal for equal labels, in the order in which they first come."""
    if isinstance(labels, np.ndarray):
        if labels.ndim != 1:
            raise InputError(f"labels have shape {labels.shape}, expected one label for each object")
        labels = labels.tolist()
    numbers: dict[object, int] = {}
    try:
        return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    except TypeError:
        raise InputError("an object has several labels, expected one: use overlapping_nmi for several") from None


def _cover(labels: Sequence[Collection[object]], side: str) -> sp.csr_array:
    """Return groups × objects, 1 where an object has the group's label; the same group under two names stays two."""
    import scipy.sparse as sp

    numbers: dict[object, int] = {}
    groups: list[int] = []
    objects: list[int] = []
    for position, own in enumerate(labels):
        if isinstance(own, str | bytes) or not isinstance(own, Collection):
            raise InputError(
                f"the {side} labels of object {position:,} are {own!r}, expected several such as ['a', 'b']"
            )
        for label in set(own):
            groups.append(numbers.setdefault(label, len(numbers)))
            objects.append(position)
    if not groups:
        raise InputError(f"none of the {len(labels):,} objects has a {side} label")
    return sp.csr_array((np.ones(len(groups)), (groups, objects)), shape=(len(numbers), len(labels)))


def _same_length(found: int, truth: int) -> None:
    if found != truth:
        raise InputError(f"{found:,} objects have a found label and {truth:,} a true one, expected the same objects")


def _binary_entropy(shares: Array) -> Array:
    return entropy(shares) + entropy(1 - shares)


def _left_to_know(both: Array, sizes: Array, others: Array, total: int) -> Array:
    """Return H(x | Y) of every group x: what the most telling of the other groups leaves open."""
    cells = [both, sizes[:, None] - both, others - both, total - sizes[:, None] - others + both]
    yes, only, other, neither = (entropy(np.maximum(cell, 0) / total) for cell in cells)
    given = yes + only + other + neither - _binary_entropy(others / total)
    agreeing = yes + neither >= only + other
    alone = _binary_entropy(sizes / total)
    left: Array = np.minimum(np.where(agreeing, given, np.inf).min(axis=1), alone)
    return np.maximum(left, 0.0)


def _share_left(left: Array, alone: Array) -> float:
    """Return the mean share of each group's entropy that is left; a group of all objects has none to leave."""
    return float(np.where(alone > 0, left / np.where(alone > 0, alone, 1.0), 0.0).mean())


METRICS: dict[str, Callable[[Labels, Labels], float]] = {"F1": f1, "JC": jaccard_index, "NMI": nmi}
"""The three scores of the paper, by the names it gives them."""
