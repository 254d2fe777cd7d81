"""From a network to what the next step makes of it: vectors, clusters, hidden links found again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.compiling import Spent
from cube2net.errors import InputError, ParameterError, QueryError, listed, some
from cube2net.interfaces import NodeEmbedder, Recommender
from cube2net.mine import (
    EMBEDDINGS,
    METRICS,
    RECOMMENDERS,
    TRIED,
    Clusters,
    KMeans,
    bipartite,
    choose,
    rank_links,
    rank_pairs,
)
from cube2net.pipeline.registries import made
from cube2net.records import Cube, Network, Query
from cube2net.referee.trials import fingerprint

KS = (5, 1, 10, 20)
LINK_MINERS = ("popularity", "softimpute", "ease")
"""The floor, the paper's recommender and a strong one: those for hidden links unless others are named."""

LINK_MEASURES = (*(f"P@{k}" for k in KS), *(f"R@{k}" for k in KS), "AUC")

HIDDEN_MEASURES = ("AUC",)

Mine = Callable[[Network, str, int], tuple[dict[str, float], Array, float]]
Given = Sequence[str] | Mapping[str, str | NodeEmbedder | Recommender]

# Scores of single users are kept to so many digits.
DIGITS = 6


def embed_nodes(
    network: Network, embedding: str | NodeEmbedder = "deepwalk", *, seed: int = 0, **options: Any
) -> Array:
    """Return a vector for every node of a network, learned from its links; one without links has zeros."""
    maker: NodeEmbedder = made(embedding, EMBEDDINGS, NodeEmbedder, "embedding", options)
    return maker.embed(network, seed=seed)


def cluster_query(
    network: Network,
    embedding: str | NodeEmbedder = "deepwalk",
    count: int | None = None,
    *,
    seed: int = 0,
) -> Clusters:
    """Return clusters of the query's objects, by k-means over their vectors; as many as labels without a number."""
    if count is None:
        count = len(known_labels(network.query))
    return KMeans().cluster(embed_nodes(network, embedding, seed=seed)[: len(network.query)], count, seed=seed)


def known_labels(query: Query) -> list[str]:
    """Return the different labels of a query, in order; two at least."""
    labels = sorted({label for label in query.labels or () if label})
    if len(labels) < 2:
        raise QueryError(
            f"clustering is judged by labels, and the query has {len(labels)} different labels, expected 2 or more: "
            "give them in the column label, beside object"
        )
    return labels


@dataclass(frozen=True, eq=False)
class Miners:
    """What a task is judged by: its measures, the parameters of each miner by name, and the function that mines.

    ``hidden`` are the ends of the links to be found again, where there are any.
    """

    mine: Mine
    parameters: dict[str, str]
    measures: tuple[str, ...]
    hidden: tuple[Array, ...] = ()


def clustering_miners(query: Query, miners: Given | None = None) -> Miners:
    """Return embeddings, by which the query is clustered, and judged by the labels known; all without names."""
    labels = np.array(query.labels or (), dtype=np.str_)
    count = len(known_labels(query))
    known = labels != ""
    embeddings = _embeddings(miners)

    def mine(network: Network, miner: str, seed: int) -> tuple[dict[str, float], Array, float]:
        watch = Spent()
        found = cluster_query(network, embeddings[miner], count, seed=seed)
        spent = watch.seconds
        scores = {name: measure(found.labels[known], labels[known]) for name, measure in METRICS.items()}
        return scores, found.labels, spent

    return Miners(mine, {name: repr(each) for name, each in embeddings.items()}, tuple(METRICS))


def hidden_miners(
    query: Query, hidden: tuple[Array, Array], unlinked: tuple[Array, Array], miners: Given | None = None
) -> Miners:
    """Return embeddings, by whose vectors the query's own hidden links are to be found again; all without names.

    Hidden links and pairs without a link are given by the rows of their ends in the cube, all in the query. Evidence is
    a row for every object of the query that has a hidden link, in their order.
    """
    embeddings = _embeddings(miners)
    ends = {"hidden links": _positions("hidden links", hidden, query)}
    ends["pairs without a link"] = _positions("pairs without a link", unlinked, query)
    both = np.concatenate([np.unique(np.sort(side, axis=0), axis=1) for side in ends.values()], axis=1)
    twice = both.shape[1] - np.unique(both, axis=1).shape[1]
    if twice:
        raise InputError(f"{twice:,} pairs are both hidden links and pairs without one, expected them apart")
    links, others = ((side[0], side[1]) for side in ends.values())

    def mine(network: Network, miner: str, seed: int) -> tuple[dict[str, float], Array, float]:
        watch = Spent()
        vectors = embed_nodes(network, embeddings[miner], seed=seed)[: len(query)]
        spent = watch.seconds
        found = rank_pairs(vectors, links, others)
        return {"AUC": found.mean}, found.auc.round(DIGITS)[:, None], spent

    parameters = {name: repr(each) for name, each in embeddings.items()}
    return Miners(mine, parameters, HIDDEN_MEASURES, (*links, *others))


def _positions(what: str, pairs: tuple[Any, Any], query: Query) -> Array:
    """Return the positions in a query of both ends of pairs of rows, one above the other."""
    ends = _ends(*pairs, what)
    outside = ~np.isin(ends, query.objects).all(axis=0)
    if outside.any():
        raise InputError(f"{int(outside.sum()):,} {what} have an end outside the query, expected both inside")
    if (ends[0] == ends[1]).any():
        raise InputError(f"{int((ends[0] == ends[1]).sum()):,} {what} join an object with itself")
    return np.searchsorted(query.objects, ends)


def _embeddings(miners: Given | None) -> dict[str, NodeEmbedder]:
    """Return embeddings by name, all without names."""
    asked = _by_name(miners, EMBEDDINGS).items()
    return {name: made(each, EMBEDDINGS, NodeEmbedder, "embedding", {}) for name, each in asked}


def link_miners(cube: Cube, query: Query, hidden: tuple[Any, Any], users: str, miners: Given | None = None) -> Miners:
    """Return recommenders, which are to find hidden links again; one that is named is tried with several settings."""
    tried: dict[str, tuple[Recommender, ...]] = {}
    for name, each in _by_name(miners, LINK_MINERS).items():
        found: Recommender = made(each, RECOMMENDERS, Recommender, "recommender", {})
        tried[name] = TRIED[each] if isinstance(each, str) else (found,)
    links = HiddenLinks.of(cube, query, *hidden, users)
    parameters = {name: " or ".join(map(repr, several)) for name, several in tried.items()}
    return Miners(LinkMiner(links, users, tried), parameters, LINK_MEASURES, (links.users, links.items))


def _by_name(miners: Given | None, default: Iterable[str]) -> dict[str, Any]:
    """Return miners by name: those named, those given by a name, or the default."""
    if isinstance(miners, str):
        raise ParameterError(f"miners are a list of names, or objects by name, got the text {miners!r}")
    return dict(miners) if isinstance(miners, Mapping) else {name: name for name in miners or default}


@dataclass(frozen=True, eq=False)
class HiddenLinks:
    """Links to be found again: the row in the cube of a user and of an item for each."""

    users: Array
    items: Array

    @classmethod
    def of(cls, cube: Cube, query: Query, source: Any, target: Any, users: str) -> HiddenLinks:
        """Return hidden links by the rows of their ends, in any order; one end is of the kind ``users``.

        Both ends must be in the query, and none of the links in the cube.
        """
        ends = _rows_of_ends(source, target, len(cube.objects))
        kinds = np.array(cube.objects.table["kind"].take(pa.array(ends.ravel())).to_pylist()).reshape(2, -1)
        is_user = kinds == users
        if not bool((is_user.sum(axis=0) == 1).all()):
            raise InputError(
                f"{int((is_user.sum(axis=0) != 1).sum()):,} hidden links do not join an object of the kind {users!r} "
                f"with one of another: kinds here are {listed(sorted(set(kinds.ravel().tolist())))}"
            )
        apart = ~np.isin(ends, query.objects).all(axis=0)
        if apart.any():
            raise InputError(f"{int(apart.sum()):,} hidden links have an end outside the query, expected both inside")
        there = [bool((cube.links.neighbours(int(a)) == b).any()) for a, b in ends.T]
        if any(there):
            raise InputError(
                f"{sum(there):,} of {len(there):,} hidden links are in the cube: build it without them, as the command "
                "task does"
            )
        turned = np.where(is_user[0], ends, ends[::-1])
        return cls(turned[0], turned[1])


def _rows_of_ends(source: Sequence[int], target: Sequence[int], count: int) -> Array:
    """Return the rows of both ends of hidden links among ``count`` objects, one above the other."""
    ends = _ends(source, target, "hidden links")
    outside = ends[(ends < 0) | (ends >= count)].tolist()
    if outside:
        raise InputError(
            f"hidden links name {len(outside):,} rows that the cube does not have: {some(outside)} "
            f"(it has {count:,} objects)"
        )
    return ends


def _ends(source: Sequence[int], target: Sequence[int], what: str) -> Array:
    """Return both ends of one or more pairs of rows, one above the other."""
    sides = [np.asarray(side) if len(side) else np.empty(0, np.int64) for side in (source, target)]
    if any(side.ndim != 1 or not np.issubdtype(side.dtype, np.integer) for side in sides):
        raise InputError(f"{what} are given by the rows of their ends, expected two lists of whole numbers")
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{what} have {len(sides[0]):,} ends on one side and {len(sides[1]):,} on the other, "
            "expected as many on both"
        )
    if not len(sides[0]):
        found = "to be found again" if what == "hidden links" else "to hold hidden links against"
        raise InputError(f"there are no {what}: give some {found}")
    return np.array(sides, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LinkMiner:
    """Finds hidden links again; the settings of a recommender are chosen once for a network, by its known links."""

    hidden: HiddenLinks
    kind: str
    tried: Mapping[str, tuple[Recommender, ...]]
    settled: dict[tuple[bytes, str], Any] = field(default_factory=dict)

    def __call__(self, network: Network, miner: str, seed: int) -> tuple[dict[str, float], Array, float]:
        """Return the scores, those of every user with hidden links, and the seconds it took to learn."""
        links = bipartite(network, users=self.kind)
        key = fingerprint(network), miner
        if key not in self.settled:
            self.settled[key] = choose(self.tried[miner], links.without_cells, items=links.query_items).best
        watch = Spent()
        fitted = self.settled[key].fit(links.matrix, seed=seed)
        spent = watch.seconds
        hidden = links.links(self.hidden.users, self.hidden.items)
        ranking = rank_links(fitted, links.matrix, hidden, ks=KS, items=links.query_items)
        columns = np.column_stack([ranking.precision, ranking.recall, ranking.auc]).round(DIGITS)
        means = ranking.means()
        return {name: means[name] for name in LINK_MEASURES}, columns, spent
