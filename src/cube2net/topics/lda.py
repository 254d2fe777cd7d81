"""Topics found in texts: latent Dirichlet allocation over phrases and words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.compiling import cores
from cube2net._util.progress import Progress, silent
from cube2net._util.random import stream
from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import Corpus, Topics
from cube2net.topics.document_terms import RESERVED, Bags, make_bags, rarity, weigh
from cube2net.topics.gibbs import LdaSettings, kmeans_start, sample_topics
from cube2net.topics.lda_model import LdaModel, normalised, sharpen, topic_words
from cube2net.topics.phrases import Phrases
from cube2net.topics.preprocessing import spoken_language
from cube2net.topics.text_batches import take_items, with_terms, with_text
from cube2net.topics.topic_names import group_topics, name_topics

SHARPEN = 2
NOTHING = 0.01


@dataclass(frozen=True, eq=False)
class TrainingTexts:
    """What topics are learned from: the bags of so many items, and the language of most texts."""

    bags: Bags
    items: int
    language: str

    def __len__(self) -> int:
        return self.items


@dataclass(frozen=True, kw_only=True)
class Lda:
    """Find ``count`` topics in the texts of a corpus, and give every item its heaviest.

    Phrases and terms are learned from all items, or where there are more than ``phrase_sample`` from so many
    of them, drawn at random; topics from a random ``sample`` of the longer ones of these, in at most
    ``iterations`` sweeps, fewer when the log-likelihood a word rises by less than ``tolerance`` a sweep. Then
    every item is labelled; where there are more than ``phrase_sample``, all of them as the trained model
    labels new ones, batch by batch, so that the memory needed hardly grows with them. An item gets up to
    ``labels_per_item`` topics: the heaviest, and others of a share of ``min_weight`` or more. With ``groups``,
    topics stand under that many parents. ``workers`` is the number of threads (0: one for every core) and
    does not change the answer. Terms come from the corpus where it has them, else from ``phrases``. Items in
    another language than most are set aside under its name, items without a text under "no text".
    """

    count: int = 100
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
            if getattr(self, name) < 1:
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
        """Return what is learned from: all items, or a random sample of those with a text or terms."""
        terms, items = corpus.terms, corpus.items.num_rows
        texts = corpus.items["text"] if "text" in corpus.items.column_names else None
        rows: Array | None = None
        if terms is not None:
            if items > self.phrase_sample:
                rows = self._few(with_terms(terms, items), seed)
                terms = take_items(terms, rows, items)
            language = spoken_language([] if texts is None else texts)
        elif texts is not None:
            if items > self.phrase_sample:
                rows = self._few(with_text(texts), seed)
            found = self.phrases.learn(texts, rows=rows, progress=progress)
            terms, language = found.terms, found.language
            del found
        else:
            raise SourceError("the items have neither a text nor terms to find topics in: use other dimensions")
        size = items if rows is None else len(rows)
        return TrainingTexts(make_bags(terms, size), size, language)

    def _few(self, rows: Array, seed: int) -> Array:
        """Return at most ``phrase_sample`` of some rows, at random, ascending."""
        if len(rows) <= self.phrase_sample:
            return rows
        return np.sort(stream(seed, "topics", "texts").choice(rows, self.phrase_sample, replace=False))

    def _fit(self, read: TrainingTexts, seed: int, progress: Progress) -> LdaModel:
        bags, language = read.bags, read.language
        weights = rarity(bags)
        chosen = self._choose(bags, seed)
        count = min(self.count, len(chosen), len(bags.vocabulary))
        of_term = np.zeros((len(bags.vocabulary), count), dtype=np.float32)
        learned: dict[str, Any] = {}
        if count:
            weighed = weigh(bags, weights)
            of_term, learned = self._learn(weighed, weighed.take(chosen), count, seed, progress)
        names = tuple(f"{name} (topic)" if name in RESERVED else name for name in name_topics(of_term, bags.vocabulary))
        parents = None
        if self.groups is not None:
            parents = group_topics(normalised(of_term), names, of_term.sum(axis=0), self.groups)
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
        """Return the words of each topic for each term, and how the learning went."""
        progress("clusters of items", 0, None)
        start = kmeans_start(sampled, count, stream(seed, "topics", "start"))
        settings = LdaSettings(
            topics=count,
            alpha=self.alpha,
            beta=self.beta,
            iterations=self.iterations,
            tolerance=self.tolerance,
        )
        rng = stream(seed, "topics", "gibbs")
        found = sample_topics(sampled, settings, start, rng, workers=self._threads, progress=progress)
        of_term = sharpen(sampled, found.of_term, found.in_text, self.alpha, rounds=SHARPEN, workers=self._threads)
        of_term = topic_words(bags, of_term, self.alpha, workers=self._threads, progress=progress)
        of_term[of_term < NOTHING] = 0.0
        return of_term, {"iterations": found.sweeps, "log_likelihood": round(found.likelihoods[-1], 4)}

    def _choose(self, bags: Bags, seed: int) -> Array:
        """Return which items to learn from: a random sample of the longer half, or all where they are few."""
        if len(bags) <= self.sample:
            return np.arange(len(bags))
        longer = np.argsort(-np.diff(bags.starts), kind="stable")[: max(self.sample, len(bags) // 2)]
        return np.sort(stream(seed, "topics", "sample").choice(longer, self.sample, replace=False))

    @property
    def _threads(self) -> int:
        return self.workers or cores()
