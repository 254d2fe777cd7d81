"""Cube → Vectors: what every cell means, and which cells are near."""

from __future__ import annotations

from cube2net.embed.cells import WordVectors
from cube2net.embed.labels import STOP_WORDS, LabelVectors, label_vectors, read_names
from cube2net.embed.members import MemberVectors
from cube2net.embed.nearest import Nearest
from cube2net.embed.words import WordTable, default_words, read_words

VECTORS = {"words": WordVectors, "members": MemberVectors}

__all__ = [
    "STOP_WORDS",
    "VECTORS",
    "LabelVectors",
    "MemberVectors",
    "Nearest",
    "WordTable",
    "WordVectors",
    "default_words",
    "label_vectors",
    "read_names",
    "read_words",
]
