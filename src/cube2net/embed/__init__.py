"""Cube → Vectors: what every cell means, and which cells are near."""

from __future__ import annotations

from cube2net.embed.cell_vectors import STOP_WORDS, LabelVectors, MemberVectors, WordVectors, label_vectors, read_names
from cube2net.embed.nearest_cells import Nearest
from cube2net.embed.word_table import WordTable, default_words, read_words

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
