"""The topic models by name, the one that takes an attribute for the topics, and the one that Spark ML learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net._util.random import stream
from cube2net.errors import HIGHEST, ParameterError, listed, whole_number
from cube2net.model.corpus import ASSIGNED, NO_TEXT, WORDS, Corpus, Topics, distinct_pairs, table, texts_of_rows
from cube2net.model.interfaces import TopicModel
from cube2net.topics.document_terms import Bags
from cube2net.topics.lda import NOTHING, Lda, TrainingTexts
from cube2net.topics.lda_model import LdaModel, topic_words
from cube2net.topics.phrases import Phrases

OFFSET, DECAY = 1.0, 0.51
"""Step i moves the topics by (OFFSET + i)^-DECAY; Spark's own offset of 1024 hardly moves them in a few steps."""
STEP = 5_000
"""Items that a step looks at where nobody says; with all 35 thousand of a corpus a step takes most of a minute."""
SPARSE = 0
"""How Spark's column of vectors marks one that names only the numbers that are not zero."""


@runtime_checkable
class Workers(Protocol):
    """What learning needs of Spark; the engine ``Spark`` of the cube has it."""

    def session(self) -> AbstractContextManager[Any]:
        """Return a context that gives a Spark session."""

    def staged(self, session: Any, table: pa.Table) -> AbstractContextManager[str]:
        """Return a context that gives the place of a table where all workers read it."""


@dataclass(frozen=True, kw_only=True)
class SparkLda:
    """Find ``count`` topics as ``Lda`` does, learned on all items by Spark ML's online variational inference.

    A step looks at a random ``share`` of the items (None: as much as makes 5,000 of them, or all where there
    are fewer), and there are ``iterations`` steps; of several ``starts`` the one with the highest likelihood is
    taken. While it learns, a text may belong to all topics: the prior weighs as much as a text of mean length;
    with ``alpha``, which labels the items, learning would settle on its random start. Counting terms before and
    labelling items after is done in this process. The answer is the same for a seed on ``local[1]``, and on
    ``local[2]``; with more cores, sums are made in another order every time. The other parameters are those of
    ``Lda``.
    """

    spark: Workers = field(metadata={"handed": True})
    count: int = 100
    iterations: int = 20
    share: float | None = None
    starts: int = 3
    workers: int = 1
    labels_per_item: int = 1
    min_weight: float = 0.25
    groups: int | None = None
    alpha: float = 0.1
    beta: float = 0.05
    phrases: Phrases = field(default_factory=Phrases)

    def __post_init__(self) -> None:
        if not isinstance(self.spark, Workers):
            raise ParameterError(f"spark is {self.spark!r}, expected an engine such as Spark(master='local[*]')")
        whole_number("starts", self.starts, 1)
        if self.share is not None and not 0 < self.share <= 1:
            raise ParameterError(f"share is {self.share!r}, expected a share above 0 and up to 1, or None")
        self._learner()

    def topics(self, corpus: Corpus, *, seed: int, progress: Progress = silent) -> Topics:
        """Return the topics of a corpus: at least one for every item."""
        return self._learner().topics(corpus, seed=seed, progress=progress)

    def fit(self, corpus: Corpus, *, seed: int, progress: Progress = silent) -> LdaModel:
        """Return the topics learned from a corpus, to be saved and to label this and other corpora."""
        return self._learner().fit(corpus, seed=seed, progress=progress)

    def _learner(self) -> _Learner:
        return _Learner(
            by=self,
            count=self.count,
            iterations=self.iterations,
            workers=self.workers,
            labels_per_item=self.labels_per_item,
            min_weight=self.min_weight,
            groups=self.groups,
            sample=HIGHEST,
            phrase_sample=HIGHEST,
            alpha=self.alpha,
            beta=self.beta,
            phrases=self.phrases,
        )


@dataclass(frozen=True, kw_only=True)
class _Learner(Lda):
    """``Lda`` with its sampler replaced."""

    by: SparkLda

    def _fit(self, read: TrainingTexts, seed: int, progress: Progress) -> LdaModel:
        model = super()._fit(read, seed, progress)
        mode = "the same for a seed on one core or two; with more cores or machines only nearly so"
        about = {"model": "spark-lda", "share": self.by.share, "starts": self.by.starts, "mode": mode}
        return replace(model, settings={**model.settings, **about})

    def _learn(
        self, bags: Bags, sampled: Bags, count: int, seed: int, progress: Progress
    ) -> tuple[Array, dict[str, Any]]:
        """Return the words of each topic for each term, and how the learning went."""
        if count == 1:  # Spark wants two topics or more, and there is nothing to learn about one
            total = np.bincount(bags.terms, weights=bags.counts, minlength=len(bags.vocabulary))
            return total.astype(np.float32)[:, None], {"iterations": 0}
        rng = stream(seed, "topics", "spark")
        share = min(1.0, STEP / len(bags)) if self.by.share is None else float(self.by.share)
        loose = float(bags.counts.sum(dtype=np.float64)) / len(bags) / count
        best, highest = np.empty((0, 0)), -np.inf
        with _frame(self.by.spark, bags) as (frame, learner):
            for start in range(self.by.starts):
                progress("topics: Spark learns", start, self.by.starts)
                model = learner(
                    k=count,
                    seed=int(rng.integers(2**31)),
                    maxIter=self.iterations,
                    optimizer="online",
                    subsamplingRate=share,
                    learningOffset=OFFSET,
                    learningDecay=DECAY,
                    docConcentration=[max(loose, float(self.alpha))],
                    topicConcentration=float(self.beta),
                    optimizeDocConcentration=False,
                ).fit(frame)
                likelihood = -float(model.logPerplexity(frame))
                if likelihood > highest:
                    best, highest = model.topicsMatrix().toArray(), likelihood
        progress("topics: Spark learns", self.by.starts, self.by.starts)
        of_term = topic_words(bags, best.astype(np.float32), self.alpha, workers=self._threads, progress=progress)
        of_term[of_term < NOTHING] = 0.0
        return of_term, {"iterations": self.iterations, "log_likelihood": round(highest, 4)}


@contextmanager
def _frame(spark: Workers, bags: Bags) -> Iterator[tuple[Any, Any]]:
    """Give the bags as a column of vectors that Spark keeps, and the class that learns from them."""
    with spark.session() as session, spark.staged(session, vectors(bags)) as place:
        from pyspark.ml.clustering import LDA
        from pyspark.ml.linalg import VectorUDT
        from pyspark.sql.types import StructField, StructType

        schema = StructType([StructField("features", VectorUDT())])
        parts = session.sparkContext.defaultParallelism
        frame = session.read.schema(schema).parquet(place).repartition(parts).persist()
        try:
            yield frame, LDA
        finally:
            frame.unpersist()


def vectors(bags: Bags) -> pa.Table:
    """Return bags in the columns that Spark's own vectors have in a Parquet file."""
    starts = pa.array(bags.starts, pa.int32())
    columns = {
        "type": pa.array(np.full(len(bags), SPARSE), pa.int8()),
        "size": pa.array(np.full(len(bags), len(bags.vocabulary)), pa.int32()),
        "indices": pa.ListArray.from_arrays(starts, pa.array(bags.terms, pa.int32())),
        "values": pa.ListArray.from_arrays(starts, pa.array(bags.counts, pa.float64())),
    }
    return pa.table({"features": pa.StructArray.from_arrays(list(columns.values()), list(columns))})


@dataclass(frozen=True, kw_only=True)
class Given:
    """Take an attribute of the items (keywords, categories: a string or a list of strings) for their topics.

    Several values of an item share its weight. An item without a value gets the topic "no text".
    """

    attribute: str

    def topics(self, corpus: Corpus, *, seed: int, progress: Progress = silent) -> Topics:
        """Return one topic for every value of the attribute, in alphabetical order."""
        if self.attribute not in corpus.attributes:
            raise ParameterError(
                f"the items have no attribute {self.attribute!r}: choose one of {listed(corpus.attributes)}"
            )
        items, values = texts_of_rows(corpus.items[self.attribute].combine_chunks())
        names = sorted(pc.unique(values).to_pylist())
        topic = pc.index_in(values, value_set=pa.array(names, values.type)).to_numpy()
        items, topic = distinct_pairs(items, topic, len(names))
        size = np.bincount(items, minlength=corpus.items.num_rows)
        without = np.flatnonzero(size == 0)
        if len(without) and NO_TEXT not in names:
            names.append(NO_TEXT)
        rest = np.full(len(without), names.index(NO_TEXT) if len(without) else 0)
        item, topic = np.concatenate([items, without]), np.concatenate([topic, rest])
        order = np.argsort(item, kind="stable")
        weight = 1.0 / np.maximum(size, 1)[item[order]]
        return Topics(
            names=tuple(names),
            assigned=table(
                ASSIGNED,
                item=pa.array(item[order], pa.int32()),
                topic=pa.array(topic[order], pa.int32()),
                weight=pa.array(weight, pa.float32()),
            ),
            words=table(WORDS),
            settings={"model": "given", "attribute": self.attribute},
        )


TOPIC_MODELS: dict[str, type[TopicModel]] = {"lda": Lda, "given": Given, "spark-lda": SparkLda}
