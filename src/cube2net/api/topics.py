"""Find the topics of a corpus."""

from __future__ import annotations

from typing import Any

from cube2net._util.progress import Progress, silent
from cube2net.model.corpus import Corpus, Topics
from cube2net.model.interfaces import TopicModel, make_object
from cube2net.topics.models import TOPIC_MODELS


def find_topics(
    corpus: Corpus, model: str | TopicModel = "lda", *, seed: int = 0, progress: Progress | None = None, **options: Any
) -> Topics:
    """Return the topics of a corpus by a topic model."""
    maker: TopicModel = make_object(model, TOPIC_MODELS, TopicModel, "topic model", options)
    return maker.topics(corpus, seed=seed, progress=progress or silent)
