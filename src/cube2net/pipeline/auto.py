"""The way to make a network, chosen by labels that part of the query has, or by its own hidden links."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.cube import hide_pairs
from cube2net.errors import ParameterError, QueryError, whole_number
from cube2net.interfaces import NodeEmbedder
from cube2net.mine import EMBEDDINGS
from cube2net.pipeline.comparing import COMPARED, Maker, apart_from
from cube2net.pipeline.mining import clustering_miners, hidden_miners, known_labels
from cube2net.pipeline.registries import made
from cube2net.pipeline.setups import DEFAULT
from cube2net.progress import Progress, silent
from cube2net.records import Cube, Network, Query, Setup
from cube2net.referee.choice import ByHiddenLinks, ByLabels
from cube2net.referee.race import Marks, Race
from cube2net.referee.statistics import ENOUGH
from cube2net.seeding import stream

FEWEST = 10
"""A query needs so many labels to choose by, and there are no more folds than have as many each, or two."""


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Choose method, objective, form and levels by how well the next step does.

    The setups of :func:`candidates`, the query alone first, are mined run by run, those that are clearly behind are
    given up, and it ends after ``runs`` runs or about ``seconds``; the few best have two runs at least, unless twice
    the time is over. ``embedding`` is a name or an object of your own.

    Where the query, or part of it, has labels, it is embedded, clustered and scored (F1) on the objects that have one.
    Of the setups whose score, over the folds of the labels and the runs, is within a standard error of the best one,
    the smallest network is taken, and the note says what to expect on other labels, with an interval.

    Without labels a fifth of the items that join objects of the query is taken out, and networks are scored by how well
    the links that are gone with them are found again (AUC). The default network is taken unless another is clearly
    better; where fewer than 30 pairs can be hidden, that is too few to tell, and the default is taken at once.
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

    def construct(self, cube: Cube, query: Query, *, seed: int = 0, progress: Progress = silent) -> Network:
        """Return the network of the best setup; ``settings["tried"]`` has all, the best first."""
        whole_number("seed", seed, 0, None)
        by_labels = any(query.labels or ())
        return (self._by_labels if by_labels else self._by_hidden_links)(cube, query, seed, progress)

    def _by_labels(self, cube: Cube, query: Query, seed: int, progress: Progress) -> Network:
        folds = folds_of(query, self.folds, seed)
        judge = ByLabels(np.unique(np.array(query.labels), return_inverse=True)[1], folds)
        mine = clustering_miners(query, {"": self.embedding}).mine

        def mark(network: Network, seed: int) -> Marks:
            return judge.marks(mine(network, "", seed)[1])

        race = Race(Maker(cube, query, COMPARED), mark)
        race.run(candidates(query), range(seed, seed + self.runs), self.seconds, progress)
        return _answer(race, Maker(cube, query, COMPARED), judge, "F1", seed)

    def _by_hidden_links(self, cube: Cube, query: Query, seed: int, progress: Progress) -> Network:
        maker = Maker(cube, query, COMPARED)
        try:
            hidden = hide_pairs(cube, query, seed=seed)
            apart = apart_from(cube, query, hidden, seed)
            too_few = min(len(hidden.source), len(apart[0]))
        except QueryError:
            too_few = 0
        if too_few < ENOUGH:
            note = f"{too_few:,} links of the query can be hidden, too few to tell by them: the default, {DEFAULT.name}"
            return _noted(maker(DEFAULT, seed), note, DEFAULT, [])
        ends = (hidden.source, hidden.target)
        mine = hidden_miners(query, ends, apart, {"": self.embedding}).mine

        def mark(network: Network, seed: int) -> Marks:
            scores, evidence, _ = mine(network, "", seed)
            return Marks(scores["AUC"], evidence[:, 0])

        race = Race(Maker(hidden.cube, query, COMPARED), mark, (Setup(method="none"), DEFAULT))
        race.run(candidates(query), range(seed, seed + self.runs), self.seconds, progress)
        judge = ByHiddenLinks(DEFAULT, len(hidden.source))
        if judge.chosen(race).like:
            race.nodes[DEFAULT.name] = len(maker(DEFAULT, seed))  # as large as the default of the whole cube
        return _answer(race, maker, judge, "AUC", seed)


def _answer(race: Race, maker: Maker, judge: ByLabels | ByHiddenLinks, measure: str, seed: int) -> Network:
    """Return the network that is chosen, of the whole cube, with what was tried."""
    best = judge.chosen(race)
    return _noted(maker(best, seed, race.nodes.get(best.like)), judge.sentence(race), best, race.rows(measure))


def _noted(network: Network, note: str, chosen: Setup, tried: list[dict[str, object]]) -> Network:
    own = network.selection.note
    return replace(
        network,
        selection=replace(network.selection, note=f"{note}; {own}" if own else note),
        settings={**network.settings, "chosen": chosen.name, "tried": tried},
    )


def candidates(query: Query) -> list[Setup]:
    """Return the setups that are tried, the query alone first and the default second; all are sized by the query."""
    cells = replace(DEFAULT, form="cells")
    as_large = [Setup(method=method, like=DEFAULT.name) for method in ("pagerank", "hops")]
    return [
        Setup(method="none"),
        DEFAULT,
        as_large[0],
        cells,
        replace(DEFAULT, levels="one"),
        replace(cells, levels="one"),
        replace(DEFAULT, near=2 * len(query)),
        replace(DEFAULT, membership="even"),
        replace(cells, membership="even"),
        as_large[1],
        Setup(method="anneal", objective="linked", form="woven", m=20),
        Setup(method="anneal", objective="jaccard", form="cells", m=20),
        Setup(method="anneal", objective="jaccard", form="objects", m=20),
        Setup(method="pagerank"),
    ]


def folds_of(query: Query, most: int, seed: int) -> Array:
    """Return the fold of every object of a query, each label spread evenly; -1 for objects without a label."""
    labels = np.array(query.labels or (), dtype=np.str_)
    known_labels(query)
    known = np.flatnonzero(labels != "")
    if len(known) < FEWEST:
        raise QueryError(
            f"'auto' chooses by labels, and {len(known)} objects of the query have one, expected {FEWEST} or more: "
            "give more labels, or none, or choose a method"
        )
    count = max(2, min(most, len(known) // FEWEST))
    order = known[stream(seed, "pipeline", "folds").permutation(len(known))]
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.full(len(labels), -1)
    folds[order] = np.arange(len(order)) % count
    return folds
