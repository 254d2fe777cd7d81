"""The extension points of cube2net, one Protocol each: anything with the right method fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import pyarrow as pa

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net.model.corpus import Corpus, Topics
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.objects import Objects
from cube2net.model.query import Query
from cube2net.model.selection import Budget, QueryObjective, Selection, Weights
from cube2net.model.vectors import Vectors

if TYPE_CHECKING:
    import scipy.sparse as sp


@runtime_checkable
class Source(Protocol):
    """Reads files of one kind into a corpus."""

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus that the files hold."""


@runtime_checkable
class ReadsMore(Protocol):
    """A source whose files may be added to a cube without listing the objects that this has."""

    def read_more(self, paths: Sequence[Path], *, known: Objects, progress: Progress = silent) -> Corpus:
        """Return the corpus that the files hold; what they only refer to may be ``known`` objects."""


@runtime_checkable
class NamesFiles(Protocol):
    """A source that reads only some files of a folder, and can say which."""

    def files_read(self, paths: Sequence[Path]) -> list[Path]:
        """Return the files that would be read."""


@runtime_checkable
class TopicModel(Protocol):
    """Finds the topics of a corpus."""

    def topics(self, corpus: Corpus, *, seed: int, progress: Progress = silent) -> Topics:
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
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> dict[str, pa.Table]:
        """Return the wanted tables after running every statement, each into the table of its name.

        With a ``folder`` of its own the engine works there: wanted tables come back memory-mapped, and what lies
        there finished, from a run of the same statements over the same tables that was cut off, is not done again.
        """


@runtime_checkable
class ChecksItself(Protocol):
    """An engine or a method that can say before any work is done that it cannot run here."""

    def check(self) -> None:
        """Raise where this cannot run here."""


@runtime_checkable
class CellEmbedder(Protocol):
    """Says what every cell of a cube means."""

    def embed_cells(self, cube: Cube, *, seed: int = 0) -> Vectors:
        """Return one vector per cell."""


@runtime_checkable
class NodeEmbedder(Protocol):
    """Learns vectors of nodes from the links of a network."""

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        """Return one row of numbers for every node of a network."""


@runtime_checkable
class Fitted(Protocol):
    """Has learned from users' links, and scores items."""

    def scores(self, users: Array) -> Array:
        """Return users × items: the higher, the likelier the link; scores of different users do not compare."""


@runtime_checkable
class Recommender(Protocol):
    """Learns from links between users and items."""

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return what was learned from users × items, where every stored entry is a link."""


@runtime_checkable
class Objective(Protocol):
    """Says what a selection is worth: weighted counts of the objects it brings, or a function of them."""

    def weigh(self, query: Query, count: int) -> QueryObjective:
        """Return the weights of a query over ``count`` objects, or a judge of them."""


@runtime_checkable
class LinkObjective(Protocol):
    """An objective that sees links: it is told how near every object is to the query."""

    @property
    def damping(self) -> float:
        """How likely the walk that measures nearness goes on before it starts again at the query."""

    def weigh_links(self, query: Query, affinity: Array, linked: Array) -> Weights:
        """Return the weights of a query over all objects.

        ``affinity`` is where that walk stays, a share for every object; ``linked`` says which objects have a link.
        """


@runtime_checkable
class Method(Protocol):
    """A way to make a network: chooses what to bring beside the query.

    What a method can do it says by attributes of its class, which need not be there: ``chooses_cells``, ``draws``,
    ``counts_repeats``, ``heeds_objective`` and ``takes_long``; see the functions of these names.
    """

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects to bring, and the cells they come from where the method chooses cells."""


def chooses_cells(method: object) -> bool:
    """Return whether a method chooses cells, and so has an objective and a form; it does unless it says otherwise."""
    return bool(getattr(method, "chooses_cells", True))


def draws(method: object) -> bool:
    """Return whether a method's answer depends on the seed; it does unless it says otherwise."""
    return bool(getattr(method, "draws", True))


def counts_repeats(method: object) -> bool:
    """Return whether a method serves the objective ``cover``, which counts repeats; only one that says so does."""
    return bool(getattr(method, "counts_repeats", False))


def heeds_objective(method: object) -> bool:
    """Return whether a method chooses by what objects are worth; it does unless it says otherwise."""
    return bool(getattr(method, "heeds_objective", True))


def takes_long(method: object) -> bool:
    """Return whether a method may take more than a moment; it does unless it says otherwise."""
    return bool(getattr(method, "takes_long", True))


@runtime_checkable
class MakesNetworks(Protocol):
    """A method that makes the whole network by itself, form and size included."""

    def construct(self, cube: Cube, query: Query, *, seed: int = 0, progress: Progress = silent) -> Network:
        """Return the network of a query."""


@runtime_checkable
class NeedsVectors(Protocol):
    """A method that moves among cell vectors; ``vectors`` are these, or the name of a kind of them.

    The pipeline makes vectors for a name (``"both"`` is all kinds, in the order of their registry) and
    hands them over before it asks for a selection.
    """

    @property
    def vectors(self) -> str | Vectors | tuple[Vectors, ...]:
        """Cell vectors, or the name of a kind of them."""

    def with_vectors(self, *vectors: Vectors) -> Method:
        """Return the same method with cell vectors of the cube at hand, one set or several."""


@runtime_checkable
class TellsProgress(Protocol):
    """A method that takes so long that it says how far it is."""

    def with_progress(self, progress: Progress) -> Method:
        """Return the same method, which tells its progress."""


@runtime_checkable
class Exporter(Protocol):
    """Writes a network to one path."""

    def __call__(self, network: Network, path: Path) -> None:
        """Write the network."""
