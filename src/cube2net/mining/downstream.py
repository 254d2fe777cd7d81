"""Downstream tasks on a network: embeddings, clusters and predicted links, and their scores."""

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
    find_positions,
    rank_pairs,
)
from cube2net.mining.node_embeddings import EMBEDDINGS
from cube2net.mining.recommenders import RECOMMENDERS, TUNING_CHOICES
from cube2net.model.cube import Cube
from cube2net.model.interfaces import NodeEmbedder, Recommender, format_repr, make_object
from cube2net.model.network import Network
from cube2net.model.query import Query

LINK_MODELS = ("popularity", "softimpute", "ease")
"""Default recommenders: the floor, the paper's recommender and a strong one."""

HIDDEN_MEASURES = ("AUC",)

Mine = Callable[[Network, str, int], tuple[dict[str, float], Array, float]]
Models = Sequence[str] | Mapping[str, str | NodeEmbedder | Recommender]


def embed_nodes(
    network: Network, embedding: str | NodeEmbedder = "deepwalk", *, seed: int = 0, **options: Any
) -> Array:
    """Return a vector for every node of a network, learned from its links; zeros for a node without links.

    Parameters
    ----------
    network
        The network of :func:`construct`.
    embedding
        The name of an embedding (deepwalk, node2vec, line) or an object with ``embed``.
    seed
        The seed of walks and initial vectors.
    **options
        Options of an embedding given by its name.

    Returns
    -------
    numpy.ndarray
        One row of 32-bit floats per node.
    """
    maker: NodeEmbedder = make_object(embedding, EMBEDDINGS, NodeEmbedder, "embedding", options)
    return maker.embed(network, seed=seed)


def cluster_query(
    network: Network,
    embedding: str | NodeEmbedder = "deepwalk",
    count: int | None = None,
    *,
    seed: int = 0,
) -> Clusters:
    """Return clusters of the query's objects by k-means over their vectors.

    Parameters
    ----------
    network
        The network of :func:`construct`.
    embedding
        The name of an embedding, or an object with ``embed``.
    count
        The number of clusters; by default the number of distinct labels of the query.
    seed
        The seed of the embedding and of k-means.

    Returns
    -------
    Clusters
        ``labels`` has the cluster of each object of the query.
    """
    if count is None:
        count = len(list_labels(network.query))
    return KMeans().cluster(embed_nodes(network, embedding, seed=seed)[: len(network.query)], count, seed=seed)


def list_labels(query: Query) -> list[str]:
    """Return the distinct labels of a query, sorted; raise if there are fewer than two."""
    labels = sorted({label for label in query.labels or () if label})
    if len(labels) < 2:
        raise QueryError(
            f"clustering is judged by labels, and the query has {len(labels)} different labels, expected 2 or more: "
            "give them in the column label, beside object"
        )
    return labels


@dataclass(frozen=True, eq=False)
class DownstreamTask:
    """A task with its measures, the parameters of its models by name, and the function that scores networks.

    ``hidden`` are the ends of the links to be predicted, if any.
    """

    mine: Mine
    parameters: dict[str, str]
    measures: tuple[str, ...]
    hidden: tuple[Array, ...] = ()


def make_clustering_task(query: Query, models: Models | None = None) -> DownstreamTask:
    """Return the task of clustering the query by embeddings (by default all), scored by its labels."""
    labels = np.array(query.labels or (), dtype=np.str_)
    count = len(list_labels(query))
    labelled = labels != ""
    embeddings = _make_embeddings(models)

    def mine(network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        watch = CpuStopwatch()
        clusters = cluster_query(network, embeddings[model], count, seed=seed).labels
        seconds = watch.seconds
        scores = {name: measure(clusters[labelled], labels[labelled]) for name, measure in METRICS.items()}
        return scores, clusters, seconds

    return DownstreamTask(mine, {name: format_repr(each) for name, each in embeddings.items()}, tuple(METRICS))


def make_hidden_task(
    query: Query, hidden: tuple[Array, Array], unlinked: tuple[Array, Array], models: Models | None = None
) -> DownstreamTask:
    """Return the task of finding hidden links of the query by embeddings (by default all).

    Hidden links and pairs without a link are given by the rows of their ends, all in the query. Evidence has a row for
    every object of the query with a hidden link, in order.
    """
    embeddings = _make_embeddings(models)
    ends = {"hidden links": find_positions("hidden links", hidden, query)}
    ends["pairs without a link"] = find_positions("pairs without a link", unlinked, query)
    both = np.concatenate([np.unique(np.sort(side, axis=0), axis=1) for side in ends.values()], axis=1)
    twice = both.shape[1] - np.unique(both, axis=1).shape[1]
    if twice:
        raise InputError(f"{twice:,} pairs are both hidden links and pairs without one, expected them apart")
    links, others = ((side[0], side[1]) for side in ends.values())

    def mine(network: Network, model: str, seed: int) -> tuple[dict[str, float], Array, float]:
        watch = CpuStopwatch()
        vectors = embed_nodes(network, embeddings[model], seed=seed)[: len(query)]
        seconds = watch.seconds
        ranking = rank_pairs(vectors, links, others)
        return {"AUC": ranking.mean}, ranking.auc.round(SCORE_DIGITS)[:, None], seconds

    parameters = {name: format_repr(each) for name, each in embeddings.items()}
    return DownstreamTask(mine, parameters, HIDDEN_MEASURES, (*links, *others))


def _make_embeddings(models: Models | None) -> dict[str, NodeEmbedder]:
    """Return embeddings by name, by default all."""
    return {
        name: make_object(each, EMBEDDINGS, NodeEmbedder, "embedding", {})
        for name, each in _name_models(models, EMBEDDINGS).items()
    }


def make_link_task(
    cube: Cube, query: Query, hidden: tuple[Any, Any], users: str, models: Models | None = None
) -> DownstreamTask:
    """Return the task of predicting hidden links by recommenders; those given by name are tuned."""
    tried: dict[str, tuple[Recommender, ...]] = {}
    for name, each in _name_models(models, LINK_MODELS).items():
        recommender: Recommender = make_object(each, RECOMMENDERS, Recommender, "recommender", {})
        tried[name] = TUNING_CHOICES[each] if isinstance(each, str) else (recommender,)
    links = HiddenLinks.of(cube, query, *hidden, users)
    parameters = {name: " or ".join(map(format_repr, several)) for name, several in tried.items()}
    return DownstreamTask(LinkPredictor(links, users, tried), parameters, LINK_MEASURES, (links.users, links.items))


def _name_models(models: Models | None, default: Iterable[str]) -> dict[str, Any]:
    """Return models by name, by default those of ``default``."""
    if isinstance(models, str):
        raise ParameterError(f"models are a list of names, or objects by name, got the text {models!r}")
    return dict(models) if isinstance(models, Mapping) else {name: name for name in models or default}
