"""The extension points of cube2net, one Protocol each: anything with the right method fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa

from cube2net.records import Budget, Corpus, Cube, Network, Query, Selection, Topics, Vectors, Weights


class Progress(Protocol):
    """Told by long work how far it is; ``total`` is None while nobody knows.

    A stage that is done with its first and only step (``done`` and ``total`` are 1) is a remark worth keeping.
    """

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Take note."""


@runtime_checkable
class Source(Protocol):
    """Reads files of one kind into a corpus."""

    def read(self, paths: Sequence[Path], *, progress: Progress | None = None) -> Corpus:
        """Return the corpus that the files hold."""


@runtime_checkable
class TopicModel(Protocol):
    """Finds the topics of a corpus."""

    def topics(self, corpus: Corpus, *, seed: int, progress: Progress | None = None) -> Topics:
        """Return topics with names, and at least one for every item."""


@runtime_checkable
class Engine(Protocol):
    """Runs the statements of a cube's plan."""

    def run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        *,
        progress: Progress | None = None,
    ) -> dict[str, pa.Table]:
        """Return the wanted tables after running every statement, each into the table of its name."""


@runtime_checkable
class Embedder(Protocol):
    """Says what every cell of a cube means."""

    def embed(self, cube: Cube, *, seed: int = 0) -> Vectors:
        """Return one vector per cell."""


@runtime_checkable
class Objective(Protocol):
    """Says what a selection is worth, as weighted counts of the objects it brings."""

    def weigh(self, query: Query, count: int) -> Weights:
        """Return the weights of a query over ``count`` objects."""


@runtime_checkable
class Method(Protocol):
    """A way to make a network: chooses what to bring beside the query."""

    def select(self, cube: Cube, query: Query, *, weights: Weights, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects to bring, and the cells they come from where the method chooses cells."""


@runtime_checkable
class Exporter(Protocol):
    """Writes a network to one path."""

    def __call__(self, network: Network, path: Path) -> None:
        """Write the network."""
