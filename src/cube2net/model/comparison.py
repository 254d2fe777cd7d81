"""Configurations, trials and comparisons of networks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, freeze
from cube2net._util.display import load_function
from cube2net._util.text import format_count
from cube2net.errors import CubeError, InputError, unknown_name
from cube2net.model.cube import Cube
from cube2net.model.interfaces import check_call
from cube2net.model.objects import distinct_names
from cube2net.model.query import Query
from cube2net.model.tables import Tabular

if TYPE_CHECKING:
    from cube2net.evaluation.verdict import Verdict

TaskName = Literal["clustering", "links", "hidden"]
TASKS: tuple[str, ...] = get_args(TaskName)

FLOOR = "popularity"
"""The recommender that others must exceed. It gains from any network by counting more links, so it does not decide."""

SAME_SIZE = 0.95
"""Networks are of the same size if the smaller one has at least this share of the nodes of the larger one."""

MAX_SHOWN_REASONS = 3


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """One way to make a network: a method and, if it chooses cells, an objective, a form and further options.

    If ``n_cells`` is 0, the query determines the number of cells. ``levels``, ``n_neighbors`` and
    ``membership_weights`` are those of ``construct``, empty for its defaults. ``like`` is the name of another
    configuration whose networks have the same number of nodes.

    >>> Configuration(method="greedy", objective="linked", form="cells", n_cells=20).name
    'greedy · linked · cells · n_cells 20'
    >>> Configuration(method="greedy", objective="cover", form="hybrid", levels="one", n_neighbors=0).name
    'greedy · cover · hybrid · levels one · n_neighbors 0'
    >>> Configuration(method="pagerank", like="greedy · linked · cells · n_cells 20").name
    'pagerank, as large as greedy · linked · cells · n_cells 20'
    """

    method: str
    objective: str = ""
    form: str = "objects"
    n_cells: int = 0
    like: str = ""
    levels: str = ""
    n_neighbors: int | None = None
    membership_weights: str = ""

    @property
    def name(self) -> str:
        """The configuration as text, unique within a comparison."""
        return f"{self.title} · n_cells {self.n_cells}" if self.n_cells else self.title

    @property
    def title(self) -> str:
        """The configuration as text, without the number of cells."""
        if self.like:
            return f"{self.method}, as large as {self.like}"
        if not self.objective:
            return self.method
        names = ("levels", "n_neighbors", "membership_weights")
        more = [f"{name} {value}" for name in names if (value := getattr(self, name)) not in ("", None)]
        return " · ".join([self.method, self.objective, self.form, *more])


@dataclass(frozen=True, eq=False)
class Trial:
    """The scores of one network with one downstream model and one seed, or the reason why there are none.

    Attributes
    ----------
    scores
        For the whole query, by measure.
    evidence
        What the scores are computed from. For clustering, the cluster of each object of the query; for links, one row
        per user with hidden links and one column per measure; for hidden links of the query, one row per object, nan
        for those without a hidden link.
    loose
        The number of objects of the query without links in the network.
    value
        The value of the objective, if cells were chosen.
    seconds
        The times of ``weigh``, ``vectors``, ``select``, ``train``, ``links`` and ``mine``.
    """

    configuration: Configuration
    model: str
    seed: int
    scores: Mapping[str, float] = field(default_factory=dict)
    evidence: Array = field(default_factory=lambda: np.empty(0))
    nodes: int = 0
    links: int = 0
    loose: int = 0
    value: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    def __post_init__(self) -> None:
        if bool(self.scores) == bool(self.reason):
            raise InputError(
                f"a trial of {self.configuration.name!r} has scores, or a reason why it has none, and not both"
            )
        object.__setattr__(self, "evidence", freeze(self.evidence))

    @property
    def key(self) -> tuple[str, str, int]:
        """The unique key of a trial: the name of the configuration, the model and the seed."""
        return self.configuration.name, self.model, self.seed

    def __repr__(self) -> str:
        scores = self.reason or ", ".join(f"{name} {score:.4f}" for name, score in self.scores.items())
        return f"Trial({self.configuration.name}, {self.model}, seed {self.seed}: {scores})"


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Trials of several configurations on one query and task, paired by model and seed.

    Attributes
    ----------
    task
        ``"clustering"``, ``"links"`` or ``"hidden"``.
    measures
        The names of the scores; the first one decides.
    trials
        All trials, including failed ones.
    truth
        The label of each object of the query, an empty string if it has none; empty for tasks without labels.
    settings
        The settings needed to repeat the comparison. ``default`` is the name of the default configuration, and
        ``pairs`` the number of hidden links in all runs.
    """

    task: str
    measures: tuple[str, ...]
    trials: tuple[Trial, ...]
    truth: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise unknown_name("task", self.task, TASKS)
        if not self.trials:
            raise InputError("a comparison needs at least one trial")
        if not self.measures:
            self.check_scores()
            raise InputError("a comparison needs at least one measure, the one that decides first")
        if len(self._by_key) < len(self.trials):
            raise InputError("a comparison has one trial for a configuration, a model and a seed, and got several")

    def __repr__(self) -> str:
        return f"Comparison({self.size})"

    @property
    def size(self) -> str:
        """The task and the numbers of configurations, models and seeds, as text."""
        failed = sum(bool(trial.reason) for trial in self.trials)
        trouble = f", {failed:,} failed" if failed else ""
        sizes = ((self.configurations, "configuration"), (self.models, "model"), (self.seeds, "seed"))
        return f"{self.task}: {' × '.join(format_count(len(each), what) for each, what in sizes)}{trouble}"

    @cached_property
    def configurations(self) -> tuple[Configuration, ...]:
        """The configurations, in the order of the trials."""
        return tuple(dict.fromkeys(trial.configuration for trial in self.trials))

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the trials."""
        return tuple(dict.fromkeys(trial.model for trial in self.trials))

    @cached_property
    def deciding(self) -> tuple[str, ...]:
        """The models whose mean decides: all with scores, except the popularity baseline if there are others."""
        scored = {trial.model for trial in self.trials if not trial.reason}
        known = tuple(model for model in self.models if model in scored)
        above = tuple(model for model in known if model != FLOOR)
        return above if self.task == "links" and above else known

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, ascending."""
        return tuple(sorted({trial.seed for trial in self.trials}))

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, int], Trial]:
        return {trial.key: trial for trial in self.trials}

    def of(self, config: Configuration, model: str) -> list[Trial]:
        """Return the successful trials of a configuration and a model.

        Parameters
        ----------
        config
            One of ``configurations``.
        model
            The name of a downstream model, one of ``models``.

        Returns
        -------
        list of Trial
            In the order of their seeds.
        """
        found = (self._by_key.get((config.name, model, seed)) for seed in self.seeds)
        return [trial for trial in found if trial is not None and not trial.reason]

    def reasons(self, config: Configuration) -> list[str]:
        """Return the distinct reasons why trials of a configuration failed."""
        return list(
            dict.fromkeys(trial.reason for trial in self.trials if trial.configuration == config and trial.reason)
        )

    def check_scores(self) -> None:
        """Raise an error with the reasons if all trials failed."""
        reasons = list(dict.fromkeys(trial.reason for trial in self.trials))
        if "" in reasons:
            return
        more = len(reasons) - MAX_SHOWN_REASONS
        shown = reasons[:MAX_SHOWN_REASONS] + ([f"and {format_count(more, 'other reason')}"] if more > 0 else [])
        raise InputError(f"all {len(self.trials):,} trials failed, so there is nothing to compare: {'; '.join(shown)}")

    def nodes(self, config: Configuration) -> float:
        """Return the mean number of nodes of a configuration's networks, or nan if all its trials failed."""
        found = [trial.nodes for model in self.models for trial in self.of(config, model)]
        return sum(found) / len(found) if found else math.nan

    def as_large(self, one: Configuration, other: Configuration) -> bool:
        """Return whether the numbers of nodes of two configurations differ by at most 5 %."""
        own, its = self.nodes(one), self.nodes(other)
        return own >= SAME_SIZE * its and its >= SAME_SIZE * own

    @property
    def main_measures(self) -> tuple[str, ...]:
        """The main measures: the deciding one and, for clustering, NMI."""
        return (self.measures[0], *(name for name in self.measures[1:] if name == "NMI"))

    def named(self, name: str) -> Configuration:
        """Return the configuration with this name."""
        by_name = {config.name: config for config in self.configurations}
        if name not in by_name:
            raise unknown_name("configuration", name, by_name)
        return by_name[name]

    def to_arrow(self) -> pa.Table:
        """Return the trials as an Arrow table.

        Returns
        -------
        pyarrow.Table
            One row per trial: the configuration and its parts, the model, the seed, the scores by measure, ``nodes``,
            ``links``, ``value`` of the objective, ``seconds`` in total, and the ``reason`` of a failure.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> labels = {name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]}
        >>> cube = c2n.build(planted.corpus)
        >>> frame = c2n.compare(cube, labels, methods=["pagerank"], models=["deepwalk"], runs=2).to_pandas()
        >>> frame.groupby("configuration")["nodes"].mean().to_dict()
        {'none': 20.0, 'pagerank': 120.0}
        """
        rows = []
        for trial in self.trials:
            config = trial.configuration
            chooses = bool(config.objective)
            rows.append(
                {
                    "configuration": config.name,
                    "method": config.method,
                    "objective": config.objective or None,
                    "form": config.form if chooses else None,
                    "n_cells": config.n_cells or None,
                    "model": trial.model,
                    "seed": trial.seed,
                    **{name: trial.scores.get(name) for name in self.measures},
                    "nodes": trial.nodes,
                    "links": trial.links,
                    "value": trial.value,
                    "seconds": float(sum(trial.seconds.values())),
                    "reason": trial.reason or None,
                }
            )
        return pa.Table.from_pylist(rows)

    def verdict(self) -> Verdict:
        """Return which network helps, by how much and with which confidence.

        Returns
        -------
        Verdict
            ``sentence`` summarizes it; ``helps`` says whether ``best`` is significantly better than the query alone;
            ``differences`` compare each configuration with the query alone. ``notes`` name the networks whose
            clustering puts nearly all objects of the query in one cluster.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> cube = c2n.build(planted.corpus)
        >>> labels = {name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]}
        >>> verdict = c2n.compare(cube, labels, methods=["pagerank"], models=["deepwalk"], runs=3).verdict()
        >>> verdict.helps, verdict.sentence
        (True, 'pagerank helps: F1 +0.3... over the query alone, at 120 nodes; NMI: pagerank 1.000...')
        """
        verdict: Verdict = load_function("evaluation.verdict", "judge_comparison")(self)
        return verdict

    @check_call
    def write_report(
        self,
        folder: str | Path,
        cube: Cube,
        query: Query,
        *,
        methods: Sequence[object] | Mapping[str, object] | None = None,
        command: str = "",
        title: str = "Did it help?",
        spreadsheet_safe: bool = False,
    ) -> list[Path]:
        """Write a report: a page in HTML, tables as CSV, and JSON. Needs the extra ``report``.

        Parameters
        ----------
        folder
            The folder of the report, created if needed.
        cube, query
            Those that were compared.
        methods
            The methods of the comparison, needed only if some are your own objects.
        command
            The command that repeats the comparison, to show in the report; none by default.
        title
            The title of the page.
        spreadsheet_safe
            Whether to put an apostrophe before labels in tables that spreadsheets would run as formulas. By default
            labels are written unchanged.

        Returns
        -------
        list of Path
            The page first.

        Examples
        --------
        >>> import tempfile
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> cube = c2n.build(planted.corpus)
        >>> labels = {name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]}
        >>> query = cube.query(labels)
        >>> comparison = c2n.compare(cube, query, methods=["pagerank"], models=["deepwalk"], runs=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in comparison.write_report(folder, cube, query)]
        ['report.html', 'trials.csv', 'scores.csv', 'costs.csv', 'results.json']
        """
        write = load_function("api.compare", "write_report")
        options = {"methods": methods, "command": command, "title": title, "spreadsheet_safe": spreadsheet_safe}
        files: list[Path] = write(self, folder, cube, query, **options)
        return files

    @property
    def alone(self) -> Configuration:
        """The query alone, with which all configurations are compared."""
        return self.named("none")

    def peers(self, config: Configuration) -> list[Configuration]:
        """Return the baselines with as many nodes as this configuration."""
        return [other for other in self.configurations if other.like == config.name]


@dataclass(frozen=True, eq=False)
class Hidden:
    """A cube from which some links between objects of a query were removed, and the pairs that it no longer links.

    The pairs are rows of objects, ``source`` below ``target``, ascending. ``by`` says what was removed, ``items`` (from
    links, weights and cells) or ``links``, and ``count`` how many.
    """

    cube: Cube
    source: Array
    target: Array
    by: Literal["items", "links"]
    count: int

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise CubeError(f"hidden pairs have {len(self.source):,} sources and {len(self.target):,} targets")
        object.__setattr__(self, "source", freeze(self.source))
        object.__setattr__(self, "target", freeze(self.target))

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"Hidden({len(self):,} pairs, by {self.count:,} {self.by})"


def name_clusters(labels: Sequence[str]) -> tuple[str, ...]:
    """Return clusters by name: numbers as such, those below 0 as none, and no two alike.

    >>> name_clusters(["1", "-1", "noise", "cluster 1"])
    ('cluster 1 (2)', '', 'noise', 'cluster 1')
    """
    numbers = [label for label in dict.fromkeys(labels) if label.lstrip("-").isdecimal()]
    names = {label: "" for label in numbers if label.startswith("-")}
    left = [label for label in numbers if label not in names]
    names |= zip(left, distinct_names([f"cluster {label}" for label in left], taken=labels), strict=True)
    return tuple(names.get(label, label) for label in labels)


def make_number_key(name: str) -> tuple[str, int, str]:
    """Return what sorts names with a number at their end by that number.

    >>> sorted(["cluster 10", "noise", "cluster 9"], key=make_number_key)
    ['cluster 9', 'cluster 10', 'noise']
    """
    head, _, tail = name.rpartition(" ")
    return (head, int(tail), "") if tail.isdecimal() and len(tail) < 19 else (name, -1, "")
