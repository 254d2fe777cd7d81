"""Suggest dimensions for data, optionally judged by a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cube2net._util.arrays import Array, row_of_entries
from cube2net._util.progress import Progress, ProgressOption, Stage, report_compiling, resolve_progress, silent
from cube2net._util.random import stream
from cube2net._util.statistics import REACH
from cube2net.api.query import Asked, resolve_query
from cube2net.api.read import resolve_corpus
from cube2net.cube.building.build import build
from cube2net.cube.building.labels import TOPIC, parse_bins
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.design.combinations import score, tally_cells
from cube2net.design.propose import add_text, find_text_attribute, propose
from cube2net.errors import Message, ParameterError, QueryError, Setting, check_int, join_names
from cube2net.model.corpus import LINKS, Corpus, Topics, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import TopicModel, check_call, make_object
from cube2net.model.query import Query
from cube2net.model.selection import Budget
from cube2net.model.suggestion import Held, Proposal, Suggestion
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Jaccard
from cube2net.topics.models import TOPIC_MODELS

SPLITS = 10
LEAST_QUERY = 4
MOST_DIMENSIONS = 3
TRIED = 5
"""So many of the dimensions that hold most by themselves are tried together."""
SIZES = (1, 2, 4)
"""Objects brought for each one that is hidden; what they hold is averaged over these sizes."""
SHOWN = 6
MOST_CELLS = 1_000


@check_call
@report_compiling
def suggest(
    data: Any = None,
    query: Asked | None = None,
    *,
    min_objects: int | None = None,
    splits: int = SPLITS,
    topics: Topics | None = None,
    seed: int = 0,
    progress: ProgressOption = None,
    **tables: Any,
) -> Suggestion:
    """Suggest dimensions for the cube of some data, with reasons.

    At most 100,000 items are examined. Attributes are classified by their values as ids, text, labels, numbers, years
    or dates; an attribute is placed above another if the other attribute nearly always determines its value. Up to four
    dimensions are chosen whose cells separate objects, leave out few of them, and contain objects that belong together.
    The dimensions preferred by the source are used, unless they leave more than 20 % of the objects in no cell and
    others would leave at most half as many. :func:`build` does the same if no dimensions are given.

    Parameters
    ----------
    data
        Data as for :func:`build`: a corpus, a data frame, a mapping of data frames, a path, or a graph.
    query
        Objects as for :func:`construct`, or the path of a file with their names. Half of them are hidden, cells are
        chosen for the other half, and dimensions are ranked by the share of hidden objects in these cells. This builds
        several cubes, and finds topics if there are texts.
    min_objects
        The minimum number of objects of a cell in the cubes considered; the default is that of :func:`build`.
    splits
        The number of random halves used to rank dimensions if there is a query.
    topics
        The topics of the items, used only if there is a query; by default they are found in the texts.
    seed
        The seed of the sample, the halves and the topics.
    progress
        A callback that receives the progress; True shows a progress bar.
    tables
        Tables by name (``links=edges``), and the options of :func:`read_tables` or :func:`from_networkx`.

    Returns
    -------
    Suggestion
        ``dimensions`` for :func:`build`, with a ``reason``; ``table`` has one row per attribute; ``proposals`` and
        ``alone`` list other combinations and single attributes.

    Examples
    --------
    >>> import networkx as nx
    >>> import cube2net as c2n
    >>> graph = nx.relabel_nodes(nx.ring_of_cliques(12, 10), str)
    >>> cities = {node: f"city {int(node) // 10}" for node in graph}
    >>> nx.set_node_attributes(graph, cities, "city")
    >>> nx.set_node_attributes(graph, {node: f"state {int(node) // 40}" for node in graph}, "state")
    >>> suggestion = c2n.suggest(graph)
    >>> suggestion
    Suggestion(city/state: about 12 cells, 100% of objects in them)
    >>> print(*suggestion.dependencies)
    city → state (all of 120 items)
    """
    progress = resolve_progress(progress)
    corpus = resolve_corpus(data, tables, progress, suggest)
    found = propose(corpus, parse_bins, min_objects=min_objects, seed=seed, progress=progress)
    if query is None:
        return found
    check_int("splits", splits, 2, 1_000)
    return _Ranking(corpus, query, found, topics, splits, seed, progress).rank()


def decide_dimensions(corpus: Corpus, min_objects: int | None, seed: int, progress: Progress) -> Suggestion:
    """Return the proposed dimensions of a corpus; raise if none makes cells.

    They are reported as progress, unless they are those of the source.
    """
    found = propose(corpus, parse_bins, min_objects=min_objects, seed=seed, progress=progress)
    check_found(found)
    if found.dimensions != corpus.dimensions:
        progress.note(f"dimensions, unless others are named: {join_names(found.dimensions)} ({found.reason})")
    return found


def check_found(suggestion: Suggestion) -> None:
    """Raise where nothing is proposed for a cube."""
    if not suggestion.dimensions:
        has_remedy = any(isinstance(part, Setting) for part in suggestion.why.parts)
        reasons = "" if has_remedy or not suggestion.attributes else f"; {suggestion.why_not()}"
        raise ParameterError("found no dimensions for a cube: ", suggestion.why, reasons)


def with_texts(corpus: Corpus, progress: Progress) -> tuple[Corpus, str]:
    """Return a corpus with texts for topics, and the attribute they are from if it had to be guessed.

    If the items have neither a text nor terms, it is the attribute that reads as text, which is reported.
    """
    if corpus.terms is not None or "text" in corpus.items.column_names:
        return corpus, ""
    attribute = find_text_attribute(corpus)
    if not attribute:
        return corpus, ""
    progress.note(f"topics are of {attribute!r}, which reads as text")
    return add_text(corpus, attribute), attribute


def without_texts(corpus: Corpus) -> Corpus:
    """Return a corpus without texts, terms, and the attribute that reads as text, so that it has no topics."""
    items = corpus.items.drop_columns("text") if "text" in corpus.items.column_names else corpus.items
    bare = replace(corpus, terms=None, items=items, dimensions=())
    attribute = find_text_attribute(bare)
    return replace(bare, items=bare.items.drop_columns(attribute)) if attribute else bare


@dataclass(eq=False)
class _Ranking:
    """Proposals in the order of what their cells hold of the hidden half of a query."""

    corpus: Corpus
    query: Asked
    found: Suggestion
    topics: Topics | None
    splits: int
    seed: int
    progress: Progress
    _asked: Query | None = None

    def rank(self) -> Suggestion:
        """Return the suggestion with what every proposal holds, that which holds most first."""
        found = self.found
        usable = [each for each in found.alone if each.counts.cells >= 2]
        if found.topics is not None:
            self.topics = self._find_topics()
        alone = sorted((self._measure_held(each) for each in usable), key=_order)
        judged = {_key(each.dimensions): each for each in alone}
        for each in found.proposals:
            if _key(each.dimensions) not in judged:
                judged[_key(each.dimensions)] = self._measure_held(each)
        best = min(alone, key=_order, default=None)
        for _ in range(MOST_DIMENSIONS - 1):
            if best is None:
                break
            tried = [best]
            for other in alone[:TRIED]:
                if other.reads & best.reads:
                    continue
                both = replace(best, dimensions=(*best.dimensions, *other.dimensions), reads=best.reads | other.reads)
                if _key(both.dimensions) not in judged:
                    judged[_key(both.dimensions)] = self._measure_held(both)
                tried.append(judged[_key(both.dimensions)])
            best, before = min(tried, key=_order), best
            if best is before:
                break
        combined = sorted(judged.values(), key=_order)
        return self._describe_choice(combined, alone)

    def _find_topics(self) -> Topics:
        if self.topics is not None:
            return self.topics
        corpus = add_text(self.corpus, self.found.text) if self.found.text else self.corpus
        return find_topics(corpus, "lda", seed=self.seed, progress=self.progress)

    def _measure_held(self, proposal: Proposal) -> Proposal:
        """Return a proposal with what the cells of a real cube in its dimensions hold of the hidden halves."""
        dimensions = proposal.dimensions
        self.progress(Stage("hiding half of the query", " × ".join(map(str, dimensions))), 0, None)
        cube = build(
            replace(self.corpus, links=table(LINKS)),
            dimensions,
            DuckDB(),
            topics=self.topics if any(spec.attribute == TOPIC for spec in dimensions) else None,
            min_objects=self.found.min_objects,
            seed=self.seed,
            items=False,
        )
        if self._asked is None:
            named = self.query
            self._asked = resolve_query(cube, named)
            if len(self._asked) < LEAST_QUERY:
                raise QueryError(
                    f"the query has {len(self._asked):,} objects, expected {LEAST_QUERY} or more to hide half of them"
                )
        shares = [self._share(cube, self._asked.objects, split) for split in range(self.splits)]
        return replace(_count_cells(cube, proposal, self.found.min_objects), held=_interval(shares))

    def _share(self, cube: Cube, objects: Array, split: int) -> float:
        """Return which share of a hidden half is among the objects of chosen cells, at sizes the same for all."""
        mixed = stream(self.seed, "suggest", "hidden", split).permutation(objects)
        visible, hidden = np.sort(mixed[: len(mixed) // 2]), np.sort(mixed[len(mixed) // 2 :])
        query = Query(visible)
        chosen = Greedy().select(
            cube, query, weights=Jaccard().weigh(query, len(cube.objects)), budget=Budget(n_cells=MOST_CELLS)
        )
        cells = chosen.cells.tolist()
        shares = [held_share(cube, cells, visible, hidden, size * len(hidden)) for size in SIZES]
        return float(np.mean(shares))

    def _describe_choice(self, judged: list[Proposal], alone: list[Proposal]) -> Suggestion:
        found, best = self.found, next(iter(judged), None)
        if best is None or best.held is None or self._asked is None:
            return found
        why = Message(
            f"of a hidden half of the query its cells hold {best.held.mean:.0%} among as many objects as the others "
            f"bring; {best.counts.sentence(found.min_objects)}"
        )
        return replace(
            found,
            dimensions=best.dimensions,
            best=best,
            others=tuple(judged[1:SHOWN]),
            alone=tuple(alone),
            why=why,
            query=len(self._asked),
        )


def held_share(cube: Cube, cells: Sequence[int], visible: Array, hidden: Array, size: int) -> float:
    """Return which share of hidden objects the first ``size`` objects of some cells hold, beside the visible ones.

    Of the cell that goes beyond the size, and of all other objects where cells end before it, as many are taken by
    chance, and the expected share is returned: so all are judged at the same size.
    """
    taken = np.zeros(len(cube.objects), dtype=bool)
    taken[visible] = True
    wanted = np.zeros(len(cube.objects), dtype=bool)
    wanted[hidden] = True
    held, left = 0.0, float(size)
    for members in (*(cube.cells.members[cell] for cell in cells), None):
        new = np.flatnonzero(~taken) if members is None else members[~taken[members]]
        part = min(1.0, left / len(new)) if len(new) else 0.0
        held += part * float(wanted[new].sum())
        left -= part * len(new)
        taken[new] = True
        if left <= 0:
            break
    return held / len(hidden)


def _count_cells(cube: Cube, proposal: Proposal, least: int) -> Proposal:
    """Return a proposal with the cells of its cube."""
    parts = cube.cells.members, cube.small.members
    cell = np.concatenate([row_of_entries(parts[0]), row_of_entries(parts[1]) + len(parts[0])])
    counts = tally_cells(cell, np.concatenate([part.indices for part in parts]), len(cube.objects), least)
    return replace(proposal, counts=counts, score=score(counts))


def _interval(shares: Sequence[float]) -> Held:
    """Return the mean of some shares and where it lies, by their spread.

    >>> _interval([0.25, 0.75])
    Held(mean=0.5, low=0.010009, high=0.989991, splits=2)
    """
    mean, spread = float(np.mean(shares)), float(np.std(shares, ddof=1)) / len(shares) ** 0.5
    low, high = (round(min(1.0, max(0.0, mean + way * REACH * spread)), 6) for way in (-1, 1))
    return Held(mean, low, high, len(shares))


def _order(proposal: Proposal) -> tuple[float, int]:
    return -(proposal.held.mean if proposal.held is not None else 0.0), len(proposal.dimensions)


def _key(dimensions: Sequence[DimensionSpec]) -> frozenset[str]:
    return frozenset(map(str, dimensions))


def find_topics(
    corpus: Corpus, model: str | TopicModel = "lda", *, seed: int = 0, progress: Progress | None = None, **options: Any
) -> Topics:
    """Find the topics of a corpus with a topic model.

    Parameters
    ----------
    corpus
        The corpus; its items need a text, or the attribute of given topics.
    model
        ``"lda"`` learns topics from the texts; ``"given"`` takes the labels of an ``attribute``; or an object.
    seed
        The seed of the model.
    progress
        A function that receives the progress.
    **options
        Parameters of a model given by name, such as ``count=100`` or ``groups=12``.

    Returns
    -------
    Topics
        The ``names`` and ``words`` of the topics, and the topics of each item; for :func:`build`.
    """
    maker: TopicModel = make_object(model, TOPIC_MODELS, TopicModel, "topic model", options)
    return maker.topics(corpus, seed=seed, progress=progress or silent)
