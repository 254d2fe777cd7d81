"""Text becomes topics: phrases, topic models, names and groups."""

from cube2net.interfaces import TopicModel
from cube2net.topics.given_topics import Given
from cube2net.topics.lda import Lda
from cube2net.topics.lda_model import LdaModel, model_of, open_model
from cube2net.topics.phrases import Phrases
from cube2net.topics.spark_lda import SparkLda

TOPIC_MODELS: dict[str, type[TopicModel]] = {"lda": Lda, "given": Given, "spark-lda": SparkLda}

__all__ = ["TOPIC_MODELS", "Given", "Lda", "LdaModel", "Phrases", "SparkLda", "model_of", "open_model"]
