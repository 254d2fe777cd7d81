"""Find topics in texts by latent Dirichlet allocation over phrases and words (collapsed Gibbs sampling)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, Stage, cores, silent
from cube2net._util.random import stream
from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import Corpus, Topics
from cube2net.topics.document_terms import RESERVED, Bags, compute_term_weights, make_bags, weight_counts
from cube2net.topics.lda_model import LdaModel, count_topic_words, group_topics, name_topics, normalise
from cube2net.topics.phrases import Phrases
from cube2net.topics.preprocessing import find_items_with_terms, find_rows_with_text, sample_main_language, take_items

MAX_BLOCKS = 8
MIN_BLOCK_ENTRIES = 20_000
SWEEPS_PER_CHECK = 5

KMEANS_ROUNDS = 12
KMEANS_CANDIDATES = 6


TOPIC_COUNTS = (100, 50, 20, 10, 5, 3)
MIN_TEXTS_PER_TOPIC = 50


def choose_topic_count(texts: int) -> int:
    """Return how many topics to find in some texts.

    >>> [choose_topic_count(texts) for texts in (40, 1_000, 50_000)]
    [3, 20, 100]
    """
    return next((count for count in TOPIC_COUNTS if texts >= MIN_TEXTS_PER_TOPIC * count), TOPIC_COUNTS[-1])


@dataclass(frozen=True, eq=False)
class Sampled:
    """Word counts of topics by term and by text, and the log-likelihood per word after some sweeps."""

    of_term: Array
    in_text: Array
    sweeps: int
    likelihoods: tuple[float, ...]


def sample_topics(
    bags: Bags,
    settings: Lda,
    count: int,
    start: Array,
    rng: np.random.Generator,
    *,
    progress: Progress = silent,
) -> Sampled:
    """Return ``count`` topics of a Markov chain, which stops when its log-likelihood per word no longer rises.

    All words of text ``i`` start with topic ``start[i]``. Texts and terms are divided into the same number of blocks,
    and a sweep goes over the diagonals of that grid: blocks on a diagonal share neither texts nor terms, so they are
    sampled in parallel, and the result does not depend on the number of workers. The totals of topics are updated after
    every diagonal.
    """
    grid = _Grid.of(bags, settings, count, start, rng)
    words = float(bags.counts.sum())
    likelihoods: list[float] = []
    sweep, stage = 0, Stage("topics", "sampling")
    with ThreadPoolExecutor(settings.workers) as pool:
        while sweep < settings.iterations:
            total = grid.sweep(settings.beta, pool if settings.workers > 1 else None)
            sweep += 1
            likelihood = (total - grid.norm) / words
            if sweep == 1 or sweep % SWEEPS_PER_CHECK == 0:
                stage = Stage("topics", f"log-likelihood {likelihood:.3f} a word")
            progress(stage, sweep, settings.iterations)
            if sweep % SWEEPS_PER_CHECK == 0:
                likelihoods.append(likelihood)
                if (
                    len(likelihoods) > 2
                    and likelihoods[-1] - likelihoods[-3] < 2 * SWEEPS_PER_CHECK * settings.tolerance
                ):
                    break
    of_term = np.empty_like(grid.of_term)
    of_term[grid.order] = grid.of_term
    in_text = np.concatenate([block.in_text for block in grid.blocks]) - np.float32(settings.alpha)
    return Sampled(of_term, np.maximum(in_text, 0.0), sweep, tuple(likelihoods) or (likelihood,))


@dataclass(eq=False)
class _Block:
    """The texts of one row of the grid: their entries, sorted by term, and the start of each term's entries."""

    starts: Array
    texts: Array
    counts: Array
    assigned: Array
    in_text: Array
    state: Array


@dataclass(eq=False)
class _Grid:
    """Blocks of texts, and an order of terms that gives every column of the grid about as many entries."""

    blocks: list[_Block]
    order: Array
    columns: Array
    of_term: Array
    in_all: Array
    norm: float

    @classmethod
    def of(cls, bags: Bags, settings: Lda, count: int, start: Array, rng: np.random.Generator) -> _Grid:
        """Return the grid in which every entry has the topic that its text starts with."""
        size = len(bags.vocabulary)
        cut = max(1, min(MAX_BLOCKS, len(bags), len(bags.terms) // MIN_BLOCK_ENTRIES))
        often = np.argsort(-np.bincount(bags.terms, minlength=size), kind="stable")
        order = np.concatenate([often[column::cut] for column in range(cut)])
        columns = np.concatenate([[0], np.cumsum([len(often[column::cut]) for column in range(cut)])])
        place = np.empty(size, dtype=np.int64)
        place[order] = np.arange(size)
        of_term = np.zeros((size, count), dtype=np.float32)
        edges = np.searchsorted(bags.starts, np.linspace(0, bags.starts[-1], cut + 1)[1:-1])
        edges = np.concatenate([[0], edges, [len(bags)]])
        blocks = []
        for first, last in pairwise(edges.tolist()):
            part = slice(bags.starts[first], bags.starts[last])
            texts = np.repeat(np.arange(last - first), np.diff(bags.starts[first : last + 1]))
            terms, counts = place[bags.terms[part]], bags.counts[part]
            by_term = np.argsort(terms, kind="stable")
            texts, terms, counts = texts[by_term], terms[by_term], counts[by_term]
            assigned = start[first + texts].astype(np.int32)
            in_text = np.full((last - first, count), settings.alpha, dtype=np.float32)
            np.add.at(in_text, (texts, assigned), counts)
            np.add.at(of_term, (terms, assigned), counts)
            starts = np.searchsorted(terms, np.arange(size + 1))
            state = rng.integers(1, 2**63, size=1, dtype=np.uint64)
            blocks.append(_Block(starts, texts.astype(np.int32), counts, assigned, in_text, state))
        in_all = of_term.sum(axis=0, dtype=np.float64) + size * settings.beta
        lengths = np.repeat(np.add.reduceat(bags.counts, bags.starts[:-1]), np.diff(bags.starts))
        norm = float((bags.counts * np.log(lengths - bags.counts + count * settings.alpha)).sum())
        return cls(blocks, order, columns, of_term, in_all, norm)

    def sweep(self, beta: float, pool: ThreadPoolExecutor | None) -> float:
        """Sample every entry once, diagonal by diagonal; return the sum of the log-likelihoods."""
        from cube2net.kernels.topic_models import gibbs_block

        def draw(task: tuple[_Block, int, Array]) -> float:
            block, column, in_all = task
            first, last = self.columns[column], self.columns[column + 1]
            entries = (block.starts[first : last + 1], block.texts, block.counts, block.assigned)
            return float(gibbs_block(*entries, block.in_text, self.of_term[first:last], in_all, beta, block.state))

        total = 0.0
        for step in range(len(self.blocks)):
            tasks = [
                (block, (row + step) % len(self.blocks), self.in_all.copy()) for row, block in enumerate(self.blocks)
            ]
            total += sum(map(draw, tasks) if pool is None else pool.map(draw, tasks))
            shift = np.zeros_like(self.in_all)
            for _, _, in_all in tasks:
                shift += in_all - self.in_all
            self.in_all += shift
        return total


def cluster_items(bags: Bags, clusters: int, rng: np.random.Generator) -> Array:
    """Return a cluster for every item, by spherical k-means over its terms.

    A chain that starts from these clusters separates topics from the first sweep; from random topics it needs many
    sweeps, and never separates some. scikit-learn's k-means does not normalise centres, takes 13 to 19 s instead of 3
    (20,000 items, 15,855 terms, 100 clusters), and its last bits depend on the number of threads.
    """
    from scipy.sparse import csr_array

    rows = np.repeat(np.arange(len(bags)), np.diff(bags.starts))
    length = np.sqrt(np.bincount(rows, weights=bags.counts.astype(np.float64) ** 2, minlength=len(bags)))
    values = (bags.counts / length[rows]).astype(np.float32)
    items = csr_array((values, bags.terms, bags.starts), shape=(len(bags), len(bags.vocabulary)))
    centres = items[_choose_centres(items, clusters, rng)].toarray()
    nearest = np.zeros(len(bags), dtype=np.int64)
    for _ in range(KMEANS_ROUNDS):
        before = nearest
        nearest = np.argmax(items @ np.ascontiguousarray(centres.T), axis=1)
        if np.array_equal(before, nearest):
            break
        member = csr_array((np.ones(len(bags), np.float32), (nearest, np.arange(len(bags)))), (clusters, len(bags)))
        centres = (member @ items).toarray()
        empty = np.flatnonzero(np.bincount(nearest, minlength=clusters) == 0)
        centres[empty] = items[rng.choice(len(bags), len(empty))].toarray()
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return nearest


def _choose_centres(items: Any, clusters: int, rng: np.random.Generator) -> Array:
    """Return initial centres by greedy k-means++: each is the best of a few items drawn by their distance."""
    chosen = [int(rng.integers(items.shape[0]))]
    far = _compute_distances(items, chosen)[:, 0]
    for _ in range(clusters - 1):
        far[chosen] = 0.0
        chance = np.cumsum(far if far.any() else np.isin(np.arange(len(far)), chosen, invert=True).astype(float))
        drawn = np.searchsorted(chance, rng.random(KMEANS_CANDIDATES) * chance[-1], side="right")
        nearer = np.minimum(far[:, None], _compute_distances(items, drawn.tolist()))
        best = int(np.argmin(nearer.sum(axis=0)))
        chosen.append(int(drawn[best]))
        far = nearer[:, best]
    return np.array(chosen)


def _compute_distances(items: Any, centres: list[int]) -> Array:
    """Return the cosine distances of all items (rows) from some of them (columns)."""
    return np.asarray(np.maximum(0.0, 1.0 - items @ np.ascontiguousarray(items[centres].toarray().T)))


SHARPENING_ROUNDS = 2
MIN_TOPIC_WORDS = 0.01


@dataclass(frozen=True, eq=False)
class TrainingTexts:
    """The bags of the items that topics are learned from, the number of items, and the language of most texts."""

    bags: Bags
    items: int
    language: str

    def __len__(self) -> int:
        return self.items


@dataclass(frozen=True, kw_only=True)
class Lda:
    """Find topics in the texts of a corpus, and give every item its heaviest ones.

    Terms are the corpus's if it has them, else ``phrases``. Items in another language than most get the name of their
    language as topic, items without a text "no text".

    Parameters
    ----------
    count
        The number of topics; None is 100, or fewer for fewer than 5,000 texts, at least 50 texts each.
    iterations
        The largest number of sweeps of the sampler.
    workers
        The number of threads, 0 for all cores; it does not change the result.
    labels_per_item
        The largest number of topics of an item: the heaviest, and others with a share of ``min_weight`` or more.
    min_weight
        The smallest share of a further topic of an item.
    groups
        The number of groups of topics, as a level above; None for no groups.
    sample
        Topics are learned from this many items, drawn at random from the longer half.
    phrase_sample
        Phrases and terms are learned from at most this many items, drawn at random. If there are more items, all are
        labelled by the trained model in batches, so that memory hardly grows with their number.
    alpha, beta
        The priors of topics in texts and of terms in topics.
    tolerance
        Sampling stops when the log-likelihood per word rises by less than this per sweep.
    phrases
        How phrases are found.
    """

    count: int | None = None
    iterations: int = 60
    workers: int = 1
    labels_per_item: int = 1
    min_weight: float = 0.25
    groups: int | None = None
    sample: int = 20_000
    phrase_sample: int = 200_000
    alpha: float = 0.1
    beta: float = 0.05
    tolerance: float = 0.0005
    phrases: Phrases = field(default_factory=Phrases)

    def __post_init__(self) -> None:
        for name in ("count", "iterations", "labels_per_item", "sample", "phrase_sample"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected 1 or more")
        if self.workers < 0:
            raise ParameterError(f"workers is {self.workers!r}, expected 1 or more, or 0 for all cores")
        if self.groups is not None and self.groups < 1:
            raise ParameterError(f"groups is {self.groups!r}, expected 1 or more, or None")
        if not 0 <= self.min_weight <= 1:
            raise ParameterError(f"min_weight is {self.min_weight!r}, expected a share from 0 to 1")
        for name in ("alpha", "beta"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected a number above 0")

    def topics(self, corpus: Corpus, *, seed: int, progress: Progress = silent) -> Topics:
        """Return the topics of a corpus: at least one for every item."""
        read = self._read(corpus, seed, progress)
        model = self._fit(read, seed, progress)
        if len(read) < corpus.items.num_rows:
            del read
            labelled = model.topics(corpus, progress=progress)
        else:
            labelled = model.label(read.bags, progress=progress)
        return replace(labelled, model=model.table())

    def fit(self, corpus: Corpus, *, seed: int, progress: Progress = silent) -> LdaModel:
        """Return the topics learned from a corpus, to be saved and to label this and other corpora."""
        return self._fit(self._read(corpus, seed, progress), seed, progress)

    def _read(self, corpus: Corpus, seed: int, progress: Progress) -> TrainingTexts:
        """Return the bags of all items, or of a random sample of those with a text or terms."""
        terms, items = corpus.terms, corpus.items.num_rows
        texts = corpus.items["text"] if "text" in corpus.items.column_names else None
        rows: Array | None = None
        if terms is not None:
            if items > self.phrase_sample:
                rows = self._sample_rows(find_items_with_terms(terms, items), seed)
                terms = take_items(terms, rows, items)
            language = sample_main_language([] if texts is None else texts)
        elif texts is not None:
            if items > self.phrase_sample:
                rows = self._sample_rows(find_rows_with_text(texts), seed)
            terms, language = self.phrases.learn(texts, rows=rows, progress=progress)
        else:
            raise SourceError("the items have neither a text nor terms to find topics in: use other dimensions")
        size = items if rows is None else len(rows)
        return TrainingTexts(make_bags(terms, size), size, language)

    def _sample_rows(self, rows: Array, seed: int) -> Array:
        """Return at most ``phrase_sample`` of some rows, drawn at random, ascending."""
        if len(rows) <= self.phrase_sample:
            return rows
        return np.sort(stream(seed, "topics", "texts").choice(rows, self.phrase_sample, replace=False))

    def _fit(self, read: TrainingTexts, seed: int, progress: Progress) -> LdaModel:
        bags, language = read.bags, read.language
        weights = compute_term_weights(bags)
        chosen = self._choose(bags, seed)
        max_count = choose_topic_count(len(bags)) if self.count is None else self.count
        count = min(max_count, len(chosen), len(bags.vocabulary))
        of_term = np.zeros((len(bags.vocabulary), count), dtype=np.float32)
        learned: dict[str, Any] = {}
        if count:
            weighed = weight_counts(bags, weights)
            of_term, learned = self._learn(weighed, weighed.take(chosen), count, seed, progress)
        names = tuple(f"{name} (topic)" if name in RESERVED else name for name in name_topics(of_term, bags.vocabulary))
        parents = None
        if self.groups is not None:
            parents = group_topics(normalise(of_term), names, of_term.sum(axis=0), self.groups)
        return LdaModel(
            vocabulary=bags.vocabulary,
            weights=weights,
            of_term=of_term,
            names=names,
            alpha=self.alpha,
            language=language,
            parents=parents,
            labels_per_item=self.labels_per_item,
            min_weight=self.min_weight,
            workers=self._threads,
            settings={
                "model": "lda",
                "seed": seed,
                "count": count,
                "items": len(bags),
                "terms": len(bags.vocabulary),
                "phrase_sample": len(read),
                "sample": len(chosen),
                **learned,
                "labels_per_item": self.labels_per_item,
                "min_weight": self.min_weight,
                "groups": self.groups,
                "alpha": self.alpha,
                "beta": self.beta,
                "workers": self._threads,
                "mode": "exact: the same for any number of workers",
                "other_languages": f"set aside: not {language}, under their own names",
            },
        )

    def _learn(
        self, bags: Bags, sampled: Bags, count: int, seed: int, progress: Progress
    ) -> tuple[Array, dict[str, Any]]:
        """Return the word counts of topics by term, and the settings that describe the learning."""
        progress("clusters of items", 0, None)
        start = cluster_items(sampled, count, stream(seed, "topics", "start"))
        rng = stream(seed, "topics", "gibbs")
        settings = replace(self, workers=self._threads)
        chain = sample_topics(sampled, settings, count, start, rng, progress=progress)
        of_term = chain.of_term
        for _ in range(SHARPENING_ROUNDS):
            of_term = count_topic_words(sampled, of_term, self.alpha, chain.in_text, workers=self._threads)
        of_term = count_topic_words(bags, of_term, self.alpha, workers=self._threads, progress=progress)
        of_term[of_term < MIN_TOPIC_WORDS] = 0.0
        return of_term, {"iterations": chain.sweeps, "log_likelihood": round(chain.likelihoods[-1], 4)}

    def _choose(self, bags: Bags, seed: int) -> Array:
        """Return the items to learn from: all, or a random sample of the longer half."""
        if len(bags) <= self.sample:
            return np.arange(len(bags))
        longer = np.argsort(-np.diff(bags.starts), kind="stable")[: max(self.sample, len(bags) // 2)]
        return np.sort(stream(seed, "topics", "sample").choice(longer, self.sample, replace=False))

    @property
    def _threads(self) -> int:
        return self.workers or cores()
