"""The way to make a network, chosen by labels that part of the query has."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cube2net.errors import ParameterError, QueryError, whole_number
from cube2net.interfaces import NodeEmbedder, Progress
from cube2net.mine import EMBEDDINGS
from cube2net.pipeline.comparing import COMPARED, Maker
from cube2net.pipeline.mining import known_labels
from cube2net.pipeline.racing import Race
from cube2net.pipeline.registries import made
from cube2net.records import Cube, Network, Query, Setup
from cube2net.records.ragged import Array
from cube2net.seeding import stream

FEWEST = 10
"""A query needs so many labels, and there are no more folds than have as many each, or two."""


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Choose method, objective, form and number of cells by how well clusters agree with the labels known.

    The setups of :func:`candidates`, the query alone first, are mined run by run: the query is embedded, clustered and
    scored (F1) on the objects that have a label. After every run those that are clearly behind are given up; it ends
    after ``runs`` runs or ``seconds``, whichever is first, but the query alone is always tried, and a later run that
    the time cuts short does not count. Of the setups whose score, over the folds of the labels and the runs, is within
    a standard error of the best one, the smallest network is taken. What that is worth on other labels is told by
    cross-validation: the choice is made anew without every fold, and scored on it. ``embedding`` is a name or an
    object of your own.
    """

    seconds: float = 60.0
    runs: int = 5
    folds: int = 5
    embedding: str | NodeEmbedder = "deepwalk"

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", whole_number("runs", self.runs, 1))
        object.__setattr__(self, "folds", whole_number("folds", self.folds, 2))
        if not isinstance(self.seconds, int | float) or not 0 < self.seconds < float("inf"):
            raise ParameterError(f"seconds is {self.seconds!r}, expected a number above 0")
        made(self.embedding, EMBEDDINGS, NodeEmbedder, "embedding", {})

    def construct(self, cube: Cube, query: Query, *, seed: int = 0, progress: Progress | None = None) -> Network:
        """Return the network of the best setup; ``settings["tried"]`` has all, the best first."""
        folds = folds_of(query, self.folds, seed)
        embedder: NodeEmbedder = made(self.embedding, EMBEDDINGS, NodeEmbedder, "embedding", {})
        race = Race(Maker(cube, query, COMPARED), query, embedder, folds)
        race.run(candidates(), range(seed, seed + self.runs), self.seconds, progress)
        best = race.chosen()
        network = race.maker(best, seed, race.nodes.get(best.like))
        note = race.sentence()
        own = network.selection.note
        return replace(
            network,
            selection=replace(network.selection, note=f"{note}; {own}" if own else note),
            settings={**network.settings, "chosen": best.name, "tried": race.rows()},
        )


def candidates() -> list[Setup]:
    """Return the setups that are tried, small networks first."""
    cells = [
        Setup(method="anneal", objective=objective, form=form, m=20)
        for form in ("cells", "woven")
        for objective in ("jaccard", "coverage", "linked")
    ]
    many = [
        Setup(method="greedy", objective="coverage", form=form, m=m)
        for m in (50, 100, 300)
        for form in ("cells", "woven")
    ]
    objects = [
        Setup(method="anneal", objective=objective, form=form, m=20)
        for objective in ("jaccard", "linked")
        for form in ("objects", "both")
    ]
    near = [Setup(method=method, like=cells[3].name) for method in ("pagerank", "hops")]
    far = [Setup(method=method, like=objects[0].name) for method in ("pagerank", "hops")]
    large = [Setup(method="pagerank"), Setup(method="hops", like="pagerank")]
    return [Setup(method="none"), *cells, *near, *many, *objects, *far, *large]


def folds_of(query: Query, most: int, seed: int) -> Array:
    """Return the fold of every object of a query, each label spread evenly; -1 for objects without a label."""
    labels = np.array(query.labels or (), dtype=np.str_)
    known_labels(query)
    known = np.flatnonzero(labels != "")
    if len(known) < FEWEST:
        raise QueryError(
            f"'auto' chooses by labels, and {len(known)} objects of the query have one, expected {FEWEST} or more: "
            "give more labels, or choose a method"
        )
    count = max(2, min(most, len(known) // FEWEST))
    order = known[stream(seed, "pipeline", "folds").permutation(len(known))]
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.full(len(labels), -1)
    folds[order] = np.arange(len(order)) % count
    return folds
