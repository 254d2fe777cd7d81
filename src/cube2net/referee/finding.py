"""What a comparison shows, in numbers: which setup is best, by how much, how sure that is, what stands beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import InputError, listed
from cube2net.records import Comparison, Setup
from cube2net.records.comparison import FLOOR
from cube2net.referee.statistics import ALL, Difference, differences, enough, estimate

NEARLY_ALL = 0.95  # of the objects that are outside the largest label


@dataclass(frozen=True)
class Way:
    """A setup of a comparison: its mean nodes, score and NMI, nan where it has none.

    ``several`` says that other setups differ from it in nothing but the number of cells. ``largest_cluster`` is the
    share of the query's objects in the largest cluster; where it is (nearly) all, the setup is ``in_one_cluster`` and
    its score says nothing. With labels, ``has_links`` says that an object of the query has a link in the network.
    """

    setup: Setup
    nodes: float
    score: float
    several: bool = False
    nmi: float = math.nan
    largest_cluster: float = math.nan
    in_one_cluster: bool = False
    has_links: bool = True


@dataclass(frozen=True)
class Peer:
    """A setup that was made as large as the best one, and how much lower it scores: None where nobody can say.

    ``same_size`` says that it became as large, or that it has no size because it failed.
    """

    setup: Setup
    nodes: float
    same_size: bool
    difference: Difference | None


@dataclass(frozen=True)
class Finding:
    """What a comparison shows by its first measure, over all miners that decide.

    ``differences`` are to the query alone, highest first, of every setup that could be compared, once for those whose
    networks are the same; ``counts`` are how many setups each of them stands for. ``top`` is the setup to speak of
    first: the highest of those surely better than the query alone, else the highest of all; the query alone where
    nothing could be compared with it. ``ways`` are the query alone and the setups of ``differences``, in that order.
    ``peers`` were made as large as the best one.
    ``default`` is the setup that a user gets without asking, where it is among those compared. ``shown`` is the one
    whose network to draw: the best where adding helps, else the default, and where none is known the best that is not
    drawn at random; None where there is no such.
    ``floor`` is the score of the floor on the query alone, nan where it does not stand beside others. ``pairs`` are the
    hidden links that the scores of the task "hidden" are of, None where their number is not known; ``enough`` says that
    these are enough to tell by. ``failed`` and ``uncompared`` setups have no scores, and none that could be compared.
    """

    task: str
    measure: str
    alone: Way
    top: Way
    differences: tuple[Difference, ...]
    counts: tuple[int, ...]
    ways: tuple[Way, ...] = ()
    peers: tuple[Peer, ...] = ()
    default: Way | None = None
    shown: Setup | None = None
    floor: float = math.nan
    pairs: int | None = None
    enough: bool = True
    runs: int = 1
    failed: int = 0
    uncompared: int = 0

    @property
    def gain(self) -> Difference | None:
        """How much the setup to speak of first is above the query alone; None where nothing could be compared."""
        return next((each for each in self.differences if each.one == self.top.setup), None)

    @property
    def helps(self) -> bool:
        """Whether a setup is surely better than the query alone."""
        return self.gain is not None and self.gain.sure and self.gain.mean > 0

    @property
    def outcome(self) -> Literal["helps", "maybe", "level", "few", "nothing"]:
        """Whether a setup helps, may help or is no higher than the query alone; or there is too little, or nothing."""
        if self.gain is None:
            return "nothing"
        if self.helps:
            return "helps"
        if not self.enough or all(each.runs < 2 for each in self.differences):
            return "few"
        return "maybe" if self.gain.mean > 0 else "level"

    @property
    def best(self) -> Way:
        """The setup to take a closer look at: the one to speak of first where its mean is higher, or the query alone.

        It may be one that was made as large as another.
        """
        return self.top if self.gain and self.gain.mean > 0 else self.alone

    @property
    def above_floor(self) -> bool:
        """Whether the best score is above the floor."""
        return self.best.score > self.floor


def find(comparison: Comparison) -> Finding:
    """Return what a comparison shows.

    Setups are ranked by their difference to the query alone, over the runs that both have; those made as large as
    another are setups like others.
    """
    comparison.check_scores()
    alone, default = _alone(comparison), _default(comparison)
    tried = _different(comparison, [setup for setup in comparison.setups if setup != alone], default)
    found = differences(comparison, [(setup, alone) for setup in tried])
    found = sorted(found, key=lambda each: (-each.mean, comparison.nodes(each.one), each.one.like, each.one.name))
    better = [each for each in found if each.sure and each.mean > 0]
    top = next(iter(better or found), None)
    best = top.one if top and top.mean > 0 else alone
    compared = {each.one for each in found}
    failed = {setup for setup in tried if math.isnan(comparison.nodes(setup))}
    return Finding(
        task=comparison.task,
        measure=comparison.measures[0],
        alone=_way(comparison, alone),
        top=_way(comparison, top.one if top else alone),
        differences=tuple(found),
        counts=tuple(tried[each.one] for each in found),
        ways=tuple(_way(comparison, setup) for setup in (alone, *(each.one for each in found))),
        peers=_peers(comparison, best) if best != alone and not best.like else (),
        default=_way(comparison, default) if default else None,
        shown=best if better else _other(comparison, default, found),
        floor=_floor(comparison, alone),
        pairs=comparison.settings.get("pairs") if comparison.task == "hidden" else None,
        enough=enough(comparison),
        runs=len(comparison.seeds),
        failed=len(failed),
        uncompared=sum(count for setup, count in tried.items() if setup not in compared | failed),
    )


def _alone(comparison: Comparison) -> Setup:
    """Return the setup that brings nothing, when it has scores."""
    if all(setup.name != "none" for setup in comparison.setups):
        raise InputError("a verdict is over the query alone, and the comparison has no setup 'none': compare it too")
    alone, miners = comparison.alone, comparison.deciding
    if estimate(comparison, alone, resamples=1) is None:
        some = any(estimate(comparison, alone, miner, resamples=1) for miner in miners)
        what = f"no run with scores of all of {listed(miners)}" if some else "no score"
        why = "; ".join(comparison.reasons(alone))
        why = why or ("some are missing" if some else f"no trial has a number for {comparison.measures[0]}")
        raise InputError(f"a verdict is over the query alone, and 'none' has {what}: {why}")
    return alone


def _default(comparison: Comparison) -> Setup | None:
    """Return the setup that a user gets without asking, where it is known and among those compared."""
    name = comparison.settings.get("default")
    return next((setup for setup in comparison.setups if setup.name == name), None)


def _different(comparison: Comparison, setups: Iterable[Setup], default: Setup | None) -> Mapping[Setup, int]:
    """Return one setup for all whose networks are the same in every trial, the first, and how many these are.

    Those made as large as another are often the same for several others: many names, and one try. They come last, and
    the default first.
    """
    alike: dict[tuple[object, ...], list[Setup]] = {}
    for setup in sorted(setups, key=lambda setup: (setup != default, bool(setup.like))):
        trials = [trial for miner in comparison.miners for trial in comparison.of(setup, miner)]
        scores = [sorted((name, repr(float(score))) for name, score in trial.scores.items()) for trial in trials]
        same = [
            (trial.miner, trial.seed, trial.nodes, trial.links, *own) for trial, own in zip(trials, scores, strict=True)
        ]
        alike.setdefault(tuple(same) or (setup,), []).append(setup)
    return {group[0]: len(group) for group in alike.values()}


def _way(comparison: Comparison, setup: Setup) -> Way:
    several = sum(other.title == setup.title for other in comparison.setups) > 1
    trials = [trial for miner in comparison.deciding for trial in comparison.of(setup, miner) if comparison.truth]
    truth = np.array(comparison.truth, dtype=np.str_)
    label = _largest_share([truth[truth != ""]])
    cluster = _largest_share(trial.evidence[truth != ""] for trial in trials)
    nmi = _score(comparison, setup, measure="NMI") if "NMI" in comparison.measures else math.nan
    in_one, linked = cluster - label >= NEARLY_ALL * (1 - label), any(trial.loose < len(truth) for trial in trials)
    return Way(setup, comparison.nodes(setup), _score(comparison, setup), several, nmi, cluster, in_one, linked)


def _largest_share(groupings: Iterable[Array]) -> float:
    """Return the share of the largest group, the mean over groupings; nan without any."""
    shares = [np.unique(groups, return_counts=True)[1].max() / len(groups) for groups in groupings if len(groups)]
    return float(np.mean(shares)) if shares else math.nan


def _score(comparison: Comparison, setup: Setup, miner: str = ALL, measure: str | None = None) -> float:
    """Return the mean score of a setup, nan without a run that has it, by every miner."""
    known = estimate(comparison, setup, miner, measure, resamples=1)
    return known.mean if known else math.nan


def _peers(comparison: Comparison, best: Setup) -> tuple[Peer, ...]:
    """Return the setups that were made as large as the best one, by name."""
    setups = sorted(comparison.peers(best), key=lambda peer: peer.name)
    apart = {each.other: each for each in differences(comparison, [(best, peer) for peer in setups])}
    nodes = {peer: comparison.nodes(peer) for peer in setups}
    return tuple(
        Peer(peer, nodes[peer], math.isnan(nodes[peer]) or comparison.as_large(peer, best), apart.get(peer))
        for peer in setups
    )


def _other(comparison: Comparison, default: Setup | None, found: Sequence[Difference]) -> Setup | None:
    """Return the setup to show where nothing is surely better: the default, or the best that is not random."""
    if default and default != comparison.alone and not math.isnan(comparison.nodes(default)):
        return default
    known = comparison.settings.get("methods", {})
    chosen = [
        each.one
        for each in found
        if each.one.method != "random" and not str(known.get(each.one.method, "")).startswith("Random(")
    ]
    return next(iter(sorted(chosen, key=lambda setup: bool(setup.like))), None)


def _floor(comparison: Comparison, alone: Setup) -> float:
    """Return the score of the floor on the query alone, nan where it decides itself or is not there."""
    beside = FLOOR in comparison.miners and FLOOR not in comparison.deciding
    return _score(comparison, alone, FLOOR) if beside else math.nan
