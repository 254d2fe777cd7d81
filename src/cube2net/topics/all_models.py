"""The topic models by name."""

from cube2net.interfaces import TopicModel
from cube2net.topics.given_topics import Given
from cube2net.topics.lda import Lda
from cube2net.topics.spark_lda import SparkLda

TOPIC_MODELS: dict[str, type[TopicModel]] = {"lda": Lda, "given": Given, "spark-lda": SparkLda}
