"""Names and parents of topics: the phrase that says most about each, and groups of topics that share words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cube2net._util.arrays import Array
from cube2net.errors import ParameterError

CANDIDATES = 60
LENGTHS = {1: 0.0, 2: 3.5, 3: 3.5}
LONG = 2.0
HEADS = 4.0

DIRECTIONS = 20


def name_topics(of_term: Array, vocabulary: Sequence[str]) -> tuple[str, ...]:
    """Return a different term for every topic, given the words of each topic (columns) for each term (rows).

    A good name is frequent in its topic, rare elsewhere, a phrase rather than a word, and made of words
    that are themselves frequent in the topic. The names are given out so that the sum of their scores is
    the highest possible.

    >>> of_term = np.array([[40, 1], [30, 0], [1, 50], [1, 20]], dtype=np.float32)
    >>> name_topics(of_term, ["parser", "dependency parsing", "speech", "speech recognition"])
    ('dependency parsing', 'speech recognition')
    """
    from scipy.optimize import linear_sum_assignment

    if not of_term.shape[1]:
        return ()
    scores = score_names(of_term, vocabulary)
    candidates = np.unique(np.argsort(-scores, axis=0, kind="stable")[:CANDIDATES])
    if len(candidates) < scores.shape[1]:
        candidates = np.arange(len(vocabulary))
    topics, columns = linear_sum_assignment(-scores[candidates].T)
    names = dict(zip(topics.tolist(), candidates[columns].tolist(), strict=True))
    return tuple(vocabulary[names[topic]] for topic in range(scores.shape[1]))


def score_names(of_term: Array, vocabulary: Sequence[str]) -> Array:
    """Return how well each term (rows) would name each topic (columns)."""
    counts = of_term.astype(np.float64) + 1e-6
    in_topic = counts / counts.sum(axis=0)
    specific = counts / counts.sum(axis=1, keepdims=True)
    words = [term.split() for term in vocabulary]
    length = np.array([LENGTHS.get(len(parts), LONG) for parts in words])
    return np.asarray(np.log(in_topic) + np.log(specific) + length[:, None] + HEADS * _heads(in_topic, words))


def _heads(in_topic: Array, words: Sequence[Sequence[str]]) -> Array:
    """Return, from 0 to 1, how much of a topic holds the words of each term, by words or by phrases."""
    number: dict[str, int] = {}
    rows, columns = [], []
    for row, parts in enumerate(words):
        for part in set(parts):
            rows.append(number.setdefault(part, len(number)))
            columns.append(row)
    from scipy.sparse import csr_array

    uses = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(number), len(words)))
    weight = uses @ in_topic
    weight = weight / np.maximum(weight.max(axis=0), 1e-12)
    size = np.asarray(uses.sum(axis=0)).reshape(-1)
    return np.asarray((uses.T @ np.sqrt(weight)) / np.maximum(size, 1.0)[:, None])


def top_terms(of_term: Array, most: int) -> Array:
    """Return the heaviest terms of every topic (rows), heaviest first; of equals the first in the vocabulary."""
    return np.argsort(-of_term, axis=0, kind="stable")[:most].T


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
