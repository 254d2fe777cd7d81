"""A trained topic model: name and group its topics, label items with them, save and load it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.arrays import Array, freeze
from cube2net._util.files import write_files
from cube2net._util.progress import Progress, silent
from cube2net.errors import InputError, ParameterError, SourceError, check_int, first_line
from cube2net.model.corpus import ASSIGNED, NO_TEXT, WORDS, Corpus, Topics, table
from cube2net.topics.document_terms import MIN_LANGUAGE_ITEMS, OTHER_LANGUAGE, Bags, TermTrie, make_bags, weight_counts
from cube2net.topics.preprocessing import (
    LANGUAGE_TOPICS,
    SMALL_WORDS,
    Texts,
    iterate_term_batches,
    iterate_text_batches,
    map_in_order,
)

CANDIDATES_PER_TOPIC = 60
GENERAL_WORDS = frozenset(("country", "group", "member", "people"))
FOREIGN_WORDS = frozenset(" ".join(SMALL_WORDS.values()).split())
UNINFORMATIVE_PENALTY = 100.0
LENGTH_BONUS = {1: 0.0, 2: 3.5, 3: 3.5}
LONG_BONUS = 2.0
WORD_BONUS = 4.0

N_DIRECTIONS = 20


def name_topics(of_term: Array, vocabulary: Sequence[str]) -> tuple[str, ...]:
    """Return a distinct term for every topic, given the word counts of topics (columns) by term (rows).

    A good name is frequent in its topic, rare elsewhere, a phrase rather than a word, and made of words that are
    frequent in the topic; phrases of small words ("de la") and words such as "country" name a topic only where there is
    nothing else. Names are assigned so that the sum of their scores is maximal.

    >>> of_term = np.array([[40, 1], [30, 0], [1, 50], [1, 20]], dtype=np.float32)
    >>> name_topics(of_term, ["parser", "dependency parsing", "speech", "speech recognition"])
    ('dependency parsing', 'speech recognition')
    """
    from scipy.optimize import linear_sum_assignment

    if not of_term.shape[1]:
        return ()
    scores = score_names(of_term, vocabulary)
    candidates = np.unique(np.argsort(-scores, axis=0, kind="stable")[:CANDIDATES_PER_TOPIC])
    if len(candidates) < scores.shape[1]:
        candidates = np.arange(len(vocabulary))
    topics, columns = linear_sum_assignment(-scores[candidates].T)
    names = dict(zip(topics.tolist(), candidates[columns].tolist(), strict=True))
    return tuple(vocabulary[names[topic]] for topic in range(scores.shape[1]))


def score_names(of_term: Array, vocabulary: Sequence[str]) -> Array:
    """Return the scores of all terms (rows) as names of all topics (columns)."""
    counts = of_term.astype(np.float64) + 1e-6
    in_topic = counts / counts.sum(axis=0)
    specific = counts / counts.sum(axis=1, keepdims=True)
    words = [term.split() for term in vocabulary]
    length = np.array([LENGTH_BONUS.get(len(parts), LONG_BONUS) for parts in words])
    poor = [set(parts) <= (GENERAL_WORDS if len(parts) == 1 else GENERAL_WORDS | FOREIGN_WORDS) for parts in words]
    length -= UNINFORMATIVE_PENALTY * np.array(poor)
    return np.asarray(
        np.log(in_topic) + np.log(specific) + length[:, None] + WORD_BONUS * _score_words(in_topic, words)
    )


def _score_words(in_topic: Array, words: Sequence[Sequence[str]]) -> Array:
    """Return, from 0 to 1, how frequent the words of each term are in each topic, alone or in phrases."""
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


def find_top_terms(of_term: Array, most: int) -> Array:
    """Return the heaviest terms of every topic (rows), heaviest first; ties are in the order of the vocabulary."""
    return np.argsort(-of_term, axis=0, kind="stable")[:most].T


def group_topics(probability: Array, names: Sequence[str], weights: Array, groups: int) -> tuple[str, ...]:
    """Return the name of every topic's group, given the probabilities of terms (rows) in topics (columns).

    Topics are grouped by average-linkage clustering of their vectors. A group is named after its heaviest topic.

    >>> probability = np.array([[0.5, 0.4, 0.0], [0.5, 0.6, 0.1], [0.0, 0.0, 0.9]])
    >>> group_topics(probability, ("parsing", "grammar", "speech"), np.array([5.0, 3.0, 4.0]), 2)
    ('parsing', 'parsing', 'speech')
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    if groups < 1:
        raise ParameterError(f"groups is {groups!r}, expected 1 or more")
    if len(names) <= groups:
        return tuple(names)
    member = fcluster(linkage(make_topic_vectors(probability), method="average"), groups, criterion="maxclust")
    heaviest: dict[int, str] = {}
    for topic in np.argsort(-np.asarray(weights), kind="stable").tolist():
        heaviest.setdefault(int(member[topic]), names[topic])
    return tuple(heaviest[int(group)] for group in member)


def make_topic_vectors(probability: Array) -> Array:
    """Return a unit vector for every topic: its deviation from the mean topic, in the main directions of all topics.

    Square roots of probabilities make distances those of Hellinger. Without the reduction to the main directions all
    topics are about equally far from each other.
    """
    roots = np.sqrt(probability.T.astype(np.float64))
    sides, sizes, _ = np.linalg.svd(_normalise_rows(roots - roots.mean(axis=0)), full_matrices=False)
    return _normalise_rows(sides[:, :N_DIRECTIONS] * sizes[:N_DIRECTIONS])


def _normalise_rows(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


INFERENCE_ROUNDS = 10
N_PARTS = 4
ITEMS_PER_SLICE = 4096
SMOOTHING = 0.01

APART = (NO_TEXT, OTHER_LANGUAGE, *sorted(label.capitalize() for label in LANGUAGE_TOPICS))
_CODES = {label: -1 - number for number, label in enumerate(APART)}
FORMAT = 1
TOP_TERMS = 20
METADATA = b"cube2net.topics"
STORED_FIELDS = ("names", "parents", "alpha", "language", "labels_per_item", "min_weight", "settings")


def normalise(of_term: Array) -> Array:
    """Return the smoothed probability of each term (rows) in each topic (columns)."""
    smooth = of_term + np.float32(SMOOTHING)
    return np.ascontiguousarray(smooth / smooth.sum(axis=0, dtype=np.float64), dtype=np.float32)


def find_heaviest_topics(
    bags: Bags, probability: Array, alpha: float, *, most: int, workers: int, progress: Progress = silent
) -> tuple[Array, Array]:
    """Return the ``most`` heaviest topics of every item, heaviest first, and their shares in it."""
    from cube2net.kernels.topic_models import share_texts

    none = np.empty((0, 1), dtype=np.float32)
    topics = np.empty((len(bags), most), dtype=np.int32)
    weights = np.empty((len(bags), most), dtype=np.float32)

    def fill(first: int) -> int:
        last = min(first + ITEMS_PER_SLICE, len(bags))
        in_text = _share_evenly(bags, first, last, probability.shape[1])
        share_texts(
            bags.starts[first : last + 1], bags.terms, bags.counts, probability, alpha, INFERENCE_ROUNDS, in_text, none
        )
        in_text /= in_text.sum(axis=1, keepdims=True)
        topics[first:last] = np.argsort(-in_text, axis=1, kind="stable")[:, :most]
        weights[first:last] = np.take_along_axis(in_text, topics[first:last], axis=1)
        return last

    with ThreadPoolExecutor(workers) as pool:
        for last in pool.map(fill, range(0, len(bags), ITEMS_PER_SLICE)):
            progress("labels", last, len(bags))
    return topics, weights


def count_topic_words(
    bags: Bags,
    of_term: Array,
    alpha: float,
    in_text: Array | None = None,
    *,
    workers: int,
    progress: Progress = silent,
) -> Array:
    """Return the word counts of topics by term over all items, including terms outside the sample.

    If the topic counts of the items are given (``in_text``), every term is reassigned once by its text and its own
    topics, and the counts are updated. The items are divided into the same few parts for any number of workers, so that
    sums are made in the same order.
    """
    from cube2net.kernels.topic_models import share_texts

    probability = normalise(of_term)
    rounds = INFERENCE_ROUNDS if in_text is None else 1
    edges = np.linspace(0, len(bags), N_PARTS + 1).astype(np.int64)

    def fill(part: int) -> Array:
        gathered = np.zeros_like(probability)
        for first in range(edges[part], edges[part + 1], ITEMS_PER_SLICE):
            last = min(first + ITEMS_PER_SLICE, int(edges[part + 1]))
            held = _share_evenly(bags, first, last, probability.shape[1]) if in_text is None else in_text[first:last]
            starts = bags.starts[first : last + 1]
            share_texts(starts, bags.terms, bags.counts, probability, alpha, rounds, held, gathered)
        return gathered

    with ThreadPoolExecutor(workers) as pool:
        total = np.zeros_like(probability)
        for done, gathered in enumerate(pool.map(fill, range(N_PARTS)), start=1):
            total += gathered
            progress("terms of topics", done, N_PARTS)
    return total


def _share_evenly(bags: Bags, first: int, last: int, topics: int) -> Array:
    """Return the topic counts of texts that belong equally to all topics."""
    lengths = np.add.reduceat(bags.counts[: bags.starts[last]], bags.starts[first:last])
    return np.repeat(lengths[:, None] / np.float32(topics), topics, axis=1).astype(np.float32)


@dataclass(frozen=True, eq=False)
class ItemTopics:
    """Topics of the items of a batch, by ascending item; a topic below 0 is an entry of ``APART``."""

    item: Array
    topic: Array
    weight: Array


def select_topics(bags: Bags, topics: Array, weights: Array, min_weight: float, first: int = 0) -> ItemTopics:
    """Return the topics of the items of a batch, whose first item has the number ``first``.

    ``topics`` and ``weights`` are the heaviest topics of every item with terms (rows), heaviest first: the first
    is kept, and others with a share of ``min_weight`` or more.
    """
    keep = weights >= min_weight
    keep[:, :1] = True
    aside = np.array([_CODES[label] for label in bags.apart.values()], dtype=np.int32)
    item = np.concatenate([bags.rows[np.nonzero(keep)[0]], np.fromiter(bags.apart, np.int64, len(aside))])
    order = np.argsort(item, kind="stable")
    return ItemTopics(
        (item[order] + first).astype(np.int32),
        np.concatenate([topics[keep], aside])[order],
        np.concatenate([weights[keep], np.ones(len(aside), dtype=np.float32)])[order],
    )


def join_item_topics(
    batches: Iterable[ItemTopics], topics: int, known: Collection[str] = ()
) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the table of all items' topics, and the names of the topics that follow the ``topics`` learned ones.

    These are languages and "no text", in the order of the items; languages of very few items share one name, except
    for names that are ``known`` already.
    """
    parts = list(batches)
    item, topic, weight = (
        np.concatenate([np.empty(0, kind), *(getattr(part, name) for part in parts)])
        for name, kind in (("item", np.int32), ("topic", np.int32), ("weight", np.float32))
    )
    del parts
    apart = np.flatnonzero(topic < 0)
    codes, begins, counts = np.unique(topic[apart], return_index=True, return_counts=True)
    extra = list[str]()
    place = np.zeros(len(APART) + 1, dtype=np.int32)
    for k in np.argsort(begins).tolist():
        label = APART[-1 - codes[k]]
        if counts[k] < MIN_LANGUAGE_ITEMS and label != NO_TEXT and label not in known:
            label = OTHER_LANGUAGE
        if label not in extra:
            extra.append(label)
        place[codes[k]] = topics + extra.index(label)
    topic[apart] = place[topic[apart]]
    assigned = table(
        ASSIGNED,
        item=pa.array(item, pa.int32()),
        topic=pa.array(topic, pa.int32()),
        weight=pa.array(weight, pa.float32()),
    )
    return assigned, tuple(extra)


@dataclass(frozen=True, eq=False)
class LdaModel:
    """Topics learned from a corpus: their word counts (columns) by term (rows), and their names.

    ``weights`` are the weights of one occurrence of each term, ``language`` is that of most texts, and ``parents`` are
    the groups of the topics. An item gets up to ``labels_per_item`` topics: the heaviest, and others with a share of
    ``min_weight`` or more. ``settings`` describe how it was learned.
    """

    vocabulary: tuple[str, ...]
    weights: Array
    of_term: Array
    names: tuple[str, ...]
    alpha: float
    language: str = "English"
    parents: tuple[str, ...] | None = None
    labels_per_item: int = 1
    min_weight: float = 0.25
    workers: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.of_term.shape != (len(self.vocabulary), len(self.names)) or len(self.weights) != len(self.vocabulary):
            raise InputError(
                f"a topic model of {len(self.vocabulary):,} terms and {len(self.names)} topics has "
                f"{len(self.weights):,} weights and a table of shape {self.of_term.shape}"
            )
        object.__setattr__(self, "weights", freeze(self.weights))
        object.__setattr__(self, "of_term", freeze(self.of_term))

    def __repr__(self) -> str:
        return f"LdaModel({len(self.names)} topics, {len(self.vocabulary):,} terms)"

    def topics(
        self, corpus: Corpus, *, seed: int = 0, known: Collection[str] = (), progress: Progress = silent
    ) -> Topics:
        """Return the topics of a corpus; unknown terms are ignored.

        Languages of very few items share one topic, except for those that are ``known`` already: "French text".
        """
        items = corpus.items.num_rows
        if corpus.terms is not None:
            return self._label_batches(
                iterate_term_batches(corpus.terms, items), lambda part: part, items, known, progress
            )
        if "text" not in corpus.items.column_names:
            raise SourceError("the items have neither a text nor terms to find topics in: use other dimensions")
        return self.label_texts(corpus.items["text"], known=known, progress=progress)

    def label_texts(
        self,
        texts: Texts,
        *,
        batch: int | None = None,
        known: Collection[str] = (),
        progress: Progress = silent,
    ) -> Topics:
        """Return the topics of texts, a list or an Arrow column; text ``i`` is item ``i``.

        Texts are read in batches of ``batch``, which does not change the result; ``known`` is as in :meth:`topics`.
        """
        if isinstance(texts, str):
            raise InputError(f"texts are a list such as ['a text', None], got the text {texts!r}")
        check_int("batch", batch, 1, or_none=True)
        terms = TermTrie.of(self.vocabulary, self.language)
        batches = ((first, len(part), part) for first, part in iterate_text_batches(texts, batch))
        return self._label_batches(batches, terms.count, len(texts), known, progress)

    def label(self, bags: Bags, *, progress: Progress = silent) -> Topics:
        """Return the heaviest topics of every item."""
        labels = self._labels(bags, normalise(self.of_term), workers=self.workers, progress=progress)
        return self._topics([labels])

    def _label_batches(
        self,
        batches: Iterable[tuple[int, int, Any]],
        terms_of: Callable[[Any], pa.Table],
        items: int,
        known: Collection[str],
        progress: Progress,
    ) -> Topics:
        """Return the topics of batches: the first item, how many items, and what their terms are counted in."""
        probability = normalise(self.of_term)

        def label(batch: tuple[int, int, Any]) -> ItemTopics:
            first, size, batch_texts = batch
            bags = make_bags(terms_of(batch_texts), size, self.vocabulary, fewest=1)
            return self._labels(bags, probability, first=first)

        def report_batches() -> Iterator[ItemTopics]:
            for labels in map_in_order(label, batches, workers=self.workers):
                progress("labels", int(labels.item[-1]) + 1, items)
                yield labels

        return self._topics(report_batches(), known)

    def _labels(
        self,
        bags: Bags,
        probability: Array,
        *,
        first: int = 0,
        workers: int = 1,
        progress: Progress = silent,
    ) -> ItemTopics:
        most = min(self.labels_per_item, len(self.names))
        weighed = weight_counts(bags, self.weights)
        topics, weights = find_heaviest_topics(
            weighed, probability, self.alpha, most=most, workers=workers, progress=progress
        )
        return select_topics(bags, topics, weights, self.min_weight, first)

    def _topics(self, labels: Iterable[ItemTopics], known: Collection[str] = ()) -> Topics:
        assigned, extra = join_item_topics(labels, len(self.names), known)
        return Topics(
            names=(*self.names, *extra),
            assigned=assigned,
            words=self.words(),
            parents=None if self.parents is None else (*self.parents, *extra),
            settings=self.settings,
        )

    def words(self, most: int = TOP_TERMS) -> pa.Table:
        """Return the heaviest terms of every topic with their probabilities."""
        top = find_top_terms(self.of_term, most)
        probability = self.of_term / np.maximum(self.of_term.sum(axis=0), 1e-12)
        topic = np.repeat(np.arange(len(self.names), dtype=np.int32), top.shape[1])
        weight = probability[top.reshape(-1), topic]
        keep = weight > 0
        terms = [self.vocabulary[term] for term in top.reshape(-1)[keep]]
        return table(
            WORDS,
            topic=pa.array(topic[keep], pa.int32()),
            term=pa.array(terms, pa.string()),
            weight=pa.array(weight[keep], pa.float32()),
        )

    def save(self, path: str | Path) -> None:
        """Write the model to one Parquet file."""
        write_files({Path(path): lambda aside: pq.write_table(self.table(), aside, compression="zstd")})

    def table(self) -> pa.Table:
        """Return the model as a table with one row per term: its weight and its counts in all topics."""
        about = (
            {"format": FORMAT}
            | {name: getattr(self, name) for name in STORED_FIELDS}
            | {"settings": dict(self.settings)}
        )
        of_topics = pa.array(self.of_term.reshape(-1), pa.float32())
        return pa.table(
            {
                "term": pa.array(self.vocabulary, pa.string()),
                "weight": pa.array(self.weights, pa.float32()),
                "of_topics": pa.FixedSizeListArray.from_arrays(of_topics, max(1, len(self.names))),
            }
        ).replace_schema_metadata({METADATA: json.dumps(about).encode()})


def open_model(path: str | Path) -> LdaModel:
    """Return the topic model of a file."""
    try:
        rows = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"{str(path)!r} is no topic model of cube2net: {first_line(error)}") from error
    return read_model(rows, str(path))


def read_model(rows: pa.Table, called: str = "the table") -> LdaModel:
    """Return the topic model of a table."""
    try:
        about: dict[str, Any] = json.loads((rows.schema.metadata or {})[METADATA])
        if about["format"] > FORMAT:
            raise SourceError(f"{called!r} is a topic model of format {about['format']}: update cube2net to read it")
        if rows.schema.field("term").type != pa.string() or rows["term"].null_count:
            raise ValueError("its terms are no texts")
        if not pa.types.is_floating(rows.schema.field("weight").type) or rows["weight"].null_count:
            raise ValueError("its weights are no numbers")
        of_topics = rows["of_topics"].combine_chunks().flatten().to_numpy()
        kept: dict[str, Any] = {name: about[name] for name in STORED_FIELDS}
        for name in ("names", "parents"):
            kept[name] = None if kept[name] is None else tuple(kept[name])
        return LdaModel(
            vocabulary=tuple(rows["term"].to_pylist()),
            weights=rows["weight"].to_numpy(),
            of_term=of_topics.reshape(rows.num_rows, len(kept["names"])),
            **kept,
        )
    except SourceError:
        raise
    except (pa.ArrowException, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise SourceError(f"{called!r} is no topic model of cube2net: {first_line(error)}") from error
