"""The topic models by name, and the one that takes an attribute of the items for their topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.progress import Progress, silent
from cube2net.errors import ParameterError, join_names
from cube2net.model.corpus import ASSIGNED, NO_TEXT, WORDS, Corpus, Topics, distinct_pairs, table, texts_of_rows
from cube2net.model.interfaces import TopicModel
from cube2net.topics.lda import Lda


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
                f"the items have no attribute {self.attribute!r}: choose one of {join_names(corpus.attributes)}"
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


TOPIC_MODELS: dict[str, type[TopicModel]] = {"lda": Lda, "given": Given}
