"""Topics under parents: topics that share words are grouped, and a group is called after its heaviest topic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError

DIRECTIONS = 20


def group_topics(probability: Array, names: Sequence[str], weights: Array, groups: int) -> tuple[str, ...]:
    """Return the name of every topic's group, given the probability of each term (rows) in each topic (columns).

    Topics are joined from the closest on, by the mean distance of their vectors. A group is called after
    its heaviest topic, by the weights given.

    >>> probability = np.array([[0.5, 0.4, 0.0], [0.5, 0.6, 0.1], [0.0, 0.0, 0.9]])
    >>> group_topics(probability, ("parsing", "grammar", "speech"), np.array([5.0, 3.0, 4.0]), 2)
    ('parsing', 'parsing', 'speech')
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    if groups < 1:
        raise ParameterError(f"groups is {groups!r}, expected 1 or more")
    if len(names) <= groups:
        return tuple(names)
    member = fcluster(linkage(topic_vectors(probability), method="average"), groups, criterion="maxclust")
    heaviest: dict[int, str] = {}
    for topic in np.argsort(-np.asarray(weights), kind="stable").tolist():
        heaviest.setdefault(int(member[topic]), names[topic])
    return tuple(heaviest[int(group)] for group in member)


def topic_vectors(probability: Array) -> Array:
    """Return a vector of length one for every topic: what sets it apart, in the main directions of all topics.

    The square root of a probability makes distances those of Hellinger; the mean of all topics is taken
    away, and what is left is reduced to its largest directions, or every topic is as far from every other.
    """
    roots = np.sqrt(probability.T.astype(np.float64))
    sides, sizes, _ = np.linalg.svd(_unit(roots - roots.mean(axis=0)), full_matrices=False)
    return _unit(sides[:, :DIRECTIONS] * sizes[:DIRECTIONS])


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))
