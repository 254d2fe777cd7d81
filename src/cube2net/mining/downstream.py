"""From a network to what the next step makes of it: vectors, clusters, hidden links found again, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import CpuStopwatch
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.mining.clustering import METRICS, Clusters, KMeans
from cube2net.mining.link_prediction import (
    LINK_MEASURES,
    SCORE_DIGITS,
    HiddenLinks,
    LinkPredictor,
    positions,
    rank_pairs,
)
from cube2net.mining.node_embeddings import EMBEDDINGS
from cube2net.mining.recommenders import RECOMMENDERS, TRIED
from cube2net.model.cube import Cube
from cube2net.model.interfaces import NodeEmbedder, Recommender, format_repr, make_object
from cube2net.model.network import Network
from cube2net.model.query import Query

LINK_MODELS = ("popularity", "softimpute", "ease")
"""The floor, the paper's recommender and a strong one: those for hidden links unless others are named."""

HIDDEN_MEASURES = ("AUC",)

Mine = Callable[[Network, str, int], tuple[dict[str, float], Array, float]]
Given = Sequence[str] | Mapping[str, str | NodeEmbedder | Recommender]


def embed_nodes(
    network: Network, embedding: str | NodeEmbedder = "deepwalk", *, seed: int = 0, **options: Any
) -> Array:
    """Return a vector for every node of a network, learned from its links; one without links has zeros."""
    maker: NodeEmbedder = make_object(embedding, EMBEDDINGS, NodeEmbedder, "embedding", options)
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
class DownstreamTask:
    """What a task is judged by: its measures, the parameters of each model by name, and the function that mines.

    ``hidden`` are the ends of the links to be found again, where there are any.
    """

    mine: Mine
    parameters: dict[str, str]
    measures: tuple[str, ...]
    hidden: tuple[Array, ...] = ()


def make_clustering_task(query: Query, models: Given | None = None) -> DownstreamTask:
    """Return embeddings, by which the query is clustered, and judged by the labels known; all without names."""
    labels = np.array(query.labels or (), dtype=np.str_)
    count = len(known_labels(query))
    known = labels != ""
    embeddings = _embeddings(models)

    def mine(network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        watch = CpuStopwatch()
        found = cluster_query(network, embeddings[model], count, seed=seed)
        spent = watch.seconds
        scores = {name: measure(found.labels[known], labels[known]) for name, measure in METRICS.items()}
        return scores, found.labels, spent

    return DownstreamTask(mine, {name: format_repr(each) for name, each in embeddings.items()}, tuple(METRICS))


def make_hidden_task(
    query: Query, hidden: tuple[Array, Array], unlinked: tuple[Array, Array], models: Given | None = None
) -> DownstreamTask:
    """Return embeddings, by whose vectors the query's own hidden links are to be found again; all without names.

    Hidden links and pairs without a link are given by the rows of their ends in the cube, all in the query. Evidence is
    a row for every object of the query that has a hidden link, in their order.
    """
    embeddings = _embeddings(models)
    ends = {"hidden links": positions("hidden links", hidden, query)}
    ends["pairs without a link"] = positions("pairs without a link", unlinked, query)
    both = np.concatenate([np.unique(np.sort(side, axis=0), axis=1) for side in ends.values()], axis=1)
    twice = both.shape[1] - np.unique(both, axis=1).shape[1]
    if twice:
        raise InputError(f"{twice:,} pairs are both hidden links and pairs without one, expected them apart")
    links, others = ((side[0], side[1]) for side in ends.values())

    def mine(network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        watch = CpuStopwatch()
        vectors = embed_nodes(network, embeddings[model], seed=seed)[: len(query)]
        spent = watch.seconds
        found = rank_pairs(vectors, links, others)
        return {"AUC": found.mean}, found.auc.round(SCORE_DIGITS)[:, None], spent

    parameters = {name: format_repr(each) for name, each in embeddings.items()}
    return DownstreamTask(mine, parameters, HIDDEN_MEASURES, (*links, *others))


def _embeddings(models: Given | None) -> dict[str, NodeEmbedder]:
    """Return embeddings by name, all without names."""
    asked = _by_name(models, EMBEDDINGS).items()
    return {name: make_object(each, EMBEDDINGS, NodeEmbedder, "embedding", {}) for name, each in asked}


def make_link_task(
    cube: Cube, query: Query, hidden: tuple[Any, Any], users: str, models: Given | None = None
) -> DownstreamTask:
    """Return recommenders, which are to find hidden links again; one that is named is tried with several settings."""
    tried: dict[str, tuple[Recommender, ...]] = {}
    for name, each in _by_name(models, LINK_MODELS).items():
        found: Recommender = make_object(each, RECOMMENDERS, Recommender, "recommender", {})
        tried[name] = TRIED[each] if isinstance(each, str) else (found,)
    links = HiddenLinks.of(cube, query, *hidden, users)
    parameters = {name: " or ".join(map(format_repr, several)) for name, several in tried.items()}
    return DownstreamTask(LinkPredictor(links, users, tried), parameters, LINK_MEASURES, (links.users, links.items))


def _by_name(models: Given | None, default: Iterable[str]) -> dict[str, Any]:
    """Return models by name: those named, those given by a name, or the default."""
    if isinstance(models, str):
        raise ParameterError(f"models are a list of names, or objects by name, got the text {models!r}")
    return dict(models) if isinstance(models, Mapping) else {name: name for name in models or default}
