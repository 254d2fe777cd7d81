"""Cells become vectors: those of their labels side by side, every dimension with the same say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cube2net.array_types import Array
from cube2net.embed.labels import STOP_WORDS, label_vectors, read_names
from cube2net.embed.words import WordTable, default_words, read_words
from cube2net.errors import unknown
from cube2net.records import Cube
from cube2net.records.vectors import Vectors
from cube2net.unpacking import RATIO, TOTAL, Limits

SCALES = ("blocks", "none")


@dataclass(frozen=True, kw_only=True)
class WordVectors:
    """The vector of a cell is its labels' words, dimension by dimension: u_c = [u_l1, u_l2, …].

    ``words`` is a table of word vectors or a file in GloVe's format (None: the table inside the package),
    ``names`` writes out labels and acronyms (a mapping, or a CSV file with ``label`` and ``full_name``) before the
    cube's own full names do. ``scale="blocks"`` gives every dimension's block the same mean length over the
    cells, else a decade, a sum of ten years, outweighs all the rest; ``scale="none"`` is the paper's. ``max_ratio`` and
    ``max_unpacked`` limit how far a packed file of words may swell.
    """

    words: WordTable | str | Path | None = None
    names: Mapping[str, str] | str | Path | None = None
    stop_words: frozenset[str] = STOP_WORDS
    scale: str = "blocks"
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        Limits(self.max_ratio, self.max_unpacked)
        if self.scale not in SCALES:
            raise unknown("scale", self.scale, SCALES)

    def embed(self, cube: Cube, *, seed: int = 0) -> Vectors:
        """Return the vectors of the cube's cells; nothing here is random."""
        table = self._table()
        names = read_names(self.names) if isinstance(self.names, str | Path) else self.names
        tables: list[tuple[str, Array]] = []
        blank: dict[str, tuple[str, ...]] = {}
        lost: Counter[str] = Counter()
        for i, dimension in enumerate(cube.dimensions):
            found = label_vectors(
                dimension.labels, table, full_names=dimension.full_names, names=names, stop_words=self.stop_words
            )
            scale = _mean_length(found.values, cube.cells.labels[:, i]) if self.scale == "blocks" else 1.0
            tables.append((dimension.name, found.values / np.float32(scale)))
            lost.update(found.unknown)
            if found.blank:
                blank[dimension.name] = blank.get(dimension.name, ()) + found.blank
        return Vectors.product(tables, cube.cells.labels, blank=blank, unknown=dict(lost.most_common()))

    def _table(self) -> WordTable:
        if self.words is None:
            return default_words()
        if isinstance(self.words, WordTable):
            return self.words
        return read_words(self.words, max_ratio=self.max_ratio, max_unpacked=self.max_unpacked)


def _mean_length(values: Array, labels: Array) -> float:
    """Return the mean length of the cells' vectors in a block, leaving out those without a direction, as ∗ is."""
    lengths = np.linalg.norm(values.astype(np.float64), axis=1)[labels[labels >= 0]]
    lengths = lengths[lengths > 0]
    return float(lengths.mean()) if len(lengths) else 1.0
