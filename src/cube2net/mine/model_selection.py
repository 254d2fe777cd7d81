"""Settings of recommenders, chosen by links that are known: nothing hidden is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from cube2net.errors import ParameterError, whole_number
from cube2net.interfaces import Fitted, Recommender
from cube2net.mine.link_prediction import rank_links
from cube2net.mine.link_scores import known_links
from cube2net.seeding import stream

if TYPE_CHECKING:
    import scipy.sparse as sp

R = TypeVar("R", bound=Recommender)


@runtime_checkable
class HasPath(Protocol):
    """A recommender that fits several of its settings in one go."""

    def path(self, matrix: sp.csr_array, *, seed: int = 0) -> Iterator[tuple[Any, Fitted]]:
        """Yield a recommender for every setting, with what it learned."""


@dataclass(frozen=True, eq=False)
class BestOf(Generic[R]):
    """The best of some recommenders, and every one tried with its recall at K and its AUC, best first."""

    best: R
    tried: tuple[tuple[R, float, float], ...]

    def __repr__(self) -> str:
        return f"BestOf({self.best!r} of {len(self.tried)})"


def choose(
    recommenders: Sequence[R],
    matrix: sp.csr_array,
    *,
    seed: int = 0,
    items: int | None = None,
    share: float = 0.2,
    repeats: int = 2,
    k: int = 10,
) -> BestOf[R]:
    """Return the recommender that finds known links best when they are hidden from it.

    ``repeats`` times a random ``share`` of the links (to the first ``items`` items) is hidden, every recommender
    learns from the others, and its recall at ``k`` is added up; AUC decides between equals, then the order given.
    A recommender that has a path is tried with every setting on it.
    """
    repeats = whole_number("repeats", repeats, 1)
    if not recommenders:
        raise ParameterError("there is no recommender to choose from")
    if not 0 < share < 1:
        raise ParameterError(f"share is {share!r}, expected a share above 0 and below 1")
    links = known_links(matrix)
    width = links.shape[1] if items is None else whole_number("items", items, 0, links.shape[1])
    rng = stream(seed, "mine", "tune")
    tried: dict[int, R] = {}
    recall: dict[int, float] = {}
    auc: dict[int, float] = {}
    for _ in range(repeats):
        seen, hidden = _split(links, width, share, rng)
        for number, (made, fitted) in enumerate(_fits(recommenders, seen, seed)):
            means = rank_links(fitted, seen, hidden, ks=(k,), items=width).means()
            tried[number] = made
            recall[number] = recall.get(number, 0.0) + np.nan_to_num(means[f"R@{k}"]) / repeats
            auc[number] = auc.get(number, 0.0) + np.nan_to_num(means["AUC"]) / repeats
    order = sorted(tried, key=lambda number: (-round(recall[number], 12), -round(auc[number], 12), number))
    return BestOf(tried[order[0]], tuple((tried[number], recall[number], auc[number]) for number in order))


def _fits(recommenders: Sequence[Any], links: sp.csr_array, seed: int) -> Iterator[tuple[Any, Fitted]]:
    for recommender in recommenders:
        if isinstance(recommender, HasPath):
            yield from recommender.path(links, seed=seed)
        else:
            yield recommender, recommender.fit(links, seed=seed)


def _split(
    links: sp.csr_array, width: int, share: float, rng: np.random.Generator
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the links without a share of those to the first items, and that share."""
    import scipy.sparse as sp

    rows = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    among = np.flatnonzero(links.indices < width)
    gone = np.zeros(links.nnz, dtype=bool)
    gone[rng.choice(among, size=round(share * len(among)), replace=False)] = True
    parts = [(links.data[part], (rows[part], links.indices[part])) for part in (~gone, gone)]
    seen, hidden = (sp.csr_array(part, shape=links.shape) for part in parts)
    return seen, hidden
