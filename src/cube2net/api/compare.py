"""Compare networks by the next step, choose one automatically, and read and report comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from cube2net._util.arrays import Array
from cube2net._util.files import check_folder, only_writer
from cube2net._util.packages import require
from cube2net._util.progress import Progress, ProgressOption, cores, report_compiling, resolve_progress, silent
from cube2net.api.construct import build_network, choose, expect_options, resolve_method
from cube2net.api.plan import METHODS, WITH_OPTIONS, Plan, objective_name, plan_network
from cube2net.api.query import Asked, resolve_query
from cube2net.cube.cuboids import cuboid
from cube2net.errors import ParameterError, Setting, check_int, quote, unknown_name
from cube2net.evaluation import trials
from cube2net.evaluation.auto import choose_by_hidden_links, choose_by_labels
from cube2net.evaluation.configurations import (
    DEFAULT,
    SHORT_LIST,
    Maker,
    add_baselines,
    list_configurations,
    list_values,
)
from cube2net.evaluation.hidden_links import HiddenRuns
from cube2net.evaluation.report.page import FILES, Report, illustrate, list_results, write_report_files
from cube2net.evaluation.statistics import compute_all_estimates
from cube2net.evaluation.trials import Journal, Make, Trials
from cube2net.evaluation.verdict import judge_comparison
from cube2net.mining.downstream import DownstreamTask, Models, make_clustering_task, make_link_task
from cube2net.mining.node_embeddings import EMBEDDINGS
from cube2net.model.comparison import TASKS, Comparison, Configuration, TaskName
from cube2net.model.cube import Cube
from cube2net.model.interfaces import (
    Method,
    NodeEmbedder,
    check_call,
    check_path,
    chooses_cells,
    find_names,
    format_repr,
    make_object,
)
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.recipe import array_fingerprint, cube_fingerprint, query_fingerprint
from cube2net.network.hops import Hops, Nothing
from cube2net.options import OPTIONS, NetworkOptions
from cube2net.selection.exact import Exact
from cube2net.selection.objectives import OBJECTIVES

Rows = Sequence[int] | Array
Methods = Sequence[str | Method] | Mapping[str, str | Method]
Named = Mapping[str, str | Method]

COMPARED: dict[str, str | Method] = {
    "none": "none",
    "hops": "hops",
    "hops 2": Hops(hops=2),
    **{name: name for name in METHODS if name not in ("none", "hops", "exact", "cube2net")},
    "exact": Exact(seconds=15.0),
    "cube2net": "cube2net",
}
"""All methods, one and two steps both, and proofs given up after a quarter of a minute."""

OPTIONED: dict[str, Method] = {name: METHODS[kind](**own) for name, (kind, own) in WITH_OPTIONS.items()}
BY_NAME: dict[str, str | Method] = {**COMPARED, **OPTIONED}
"""What a name stands for; those that are not compared unless they are named come last."""


JOURNAL = "trials.jsonl"


WRITTEN = (JOURNAL, *FILES)
"""What a comparison writes into its folder."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ComparisonOptions:
    """Further options of :func:`compare`: configurations, baselines and hidden links.

    Parameters
    ----------
    objectives, forms, levels, n_neighbors, membership_weights, n_cells
        Methods that choose cells are compared for every combination; see :func:`construct` and
        :class:`NetworkOptions`. Without these and ``methods``, the default network, two variants of it and the paper's
        form are compared.
    as_large, baselines
        Baselines with as many nodes as each network of cells, by default PageRank and hops; ``as_large=False`` leaves
        them out.
    hidden, users
        For the task ``"links"``: the rows of the two ends of the hidden links, and the kind of the objects for which
        links are predicted.
    workers
        The number of networks processed in parallel; 0 means one per core. Scores do not depend on it, unless a method
        reaches its time limit.

    Examples
    --------
    >>> ComparisonOptions(forms=["objects"], n_cells=[10, 20]).grid
    {'forms': ['objects'], 'n_cells': [10, 20]}
    """

    objectives: Sequence[str] | None = None
    forms: Sequence[str] | None = None
    levels: Sequence[str] | None = None
    membership_weights: Sequence[str] | None = None
    n_neighbors: int | Sequence[int] | None = None
    n_cells: int | Sequence[int] | None = None
    as_large: bool = True
    baselines: Sequence[str] | None = None
    hidden: tuple[Rows, Rows] | None = None
    users: str = "user"
    workers: int = 0

    @property
    def grid(self) -> dict[str, list[Any]]:
        """The values of each option; configurations are all combinations."""
        names = ("objectives", "forms", "levels", "membership_weights", "n_neighbors", "n_cells")
        values = {name: list_values(getattr(self, name)) for name in names}
        return {name: list(value) for name, value in values.items() if value is not None}


@check_call
@report_compiling
def compare(
    cube: Cube,
    query: Asked,
    task: TaskName | None = None,
    *,
    methods: Methods | None = None,
    models: Models | None = None,
    runs: int = 10,
    seed: int = 0,
    out: str | Path | None = None,
    options: ComparisonOptions | None = None,
    progress: ProgressOption = None,
) -> Comparison:
    """Compare networks of a query by how well a downstream task does on them, over several runs.

    Parameters
    ----------
    cube
        A cube of :func:`build` or :func:`open`, or a view of one.
    query
        Objects as for :func:`construct`.
    task
        ``"clustering"`` embeds and clusters the objects of the query and compares the clusters with their labels; the
        models are embeddings. ``"hidden"`` needs no labels: it removes a fifth of the items that join objects of the
        query from the cube, different ones in each run, and predicts the removed links from embeddings. ``"links"``
        predicts the ``hidden`` links of ``options`` between users and items of the query, which must not be in the
        cube; the models are recommenders. The default is ``"clustering"`` if the query has labels, otherwise
        ``"hidden"``.
    methods, models
        Names, objects, or a mapping from names to objects. An object in a list is named after its class, with its
        parameters if several have the same class. The query alone is always included. By default all models that suit
        the task are used.
    runs, seed
        The number of runs; run i has the seed ``seed + i`` in all configurations.
    out
        A folder where each trial is saved, so that a comparison can be continued after an interruption or with more
        runs or methods. A folder with other files is refused. By default nothing is saved.
    options
        Forms, levels and numbers of cells to combine, baselines, hidden links; see :class:`ComparisonOptions`.
    progress
        A callback that receives the progress; True shows a progress bar.

    Returns
    -------
    Comparison
        All trials; ``verdict()`` summarizes them, and ``write_report`` writes a report.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build(planted.corpus)
    >>> labels = {name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]}
    >>> c2n.compare(cube, labels, methods=["pagerank"], models=["deepwalk"], runs=2)
    Comparison(clustering: 2 configurations × 1 model × 2 seeds)
    """
    progress = resolve_progress(progress)
    path = None if out is None else check_path(out, "out") / JOURNAL
    asked = resolve_query(cube, query)
    task = choose_task(asked) if task is None else task
    if task not in TASKS:
        raise unknown_name("task", task, TASKS)
    if path is not None and not path.exists():
        check_folder(path.parent, WRITTEN, "a comparison's")
    runs = check_int("runs", runs, 1)
    seed = check_int("seed", seed, 0, None)
    seeds, named = range(seed, seed + runs), named_methods(methods)
    more = expect_options(ComparisonOptions, options, "forms=['objects']")
    peers, grid = _baselines(more.as_large, more.baselines), more.grid
    for each in grid.get("levels", ()):
        cuboid(cube, each)
    if methods is None and not grid:
        configs = add_baselines([Configuration(method="none"), *SHORT_LIST], as_large=peers)
    else:
        kinds = {name: _method(method) for name, method in named.items()}
        configs = list_configurations(kinds, as_large=peers, allowed_objectives=OBJECTIVES, **grid)
    if more.hidden is not None and task != "links":
        raise ParameterError(f"hidden links are for the task 'links', and the task is {task!r}")
    work = _prepare(task, cube, asked, seeds, partial(maker, query=asked, methods=named), models, more)
    about = {
        "task": task,
        "cube": cube_fingerprint(cube),
        "query": query_fingerprint(asked),
        "hidden": "" if task == "hidden" else array_fingerprint(*work.downstream.hidden),
        "methods": {name: format_repr(method) for name, method in named.items()},
        "models": work.downstream.parameters,
        "pairs": work.pairs,
    }
    with nullcontext() if path is None else only_writer(path, progress):
        journal = Journal.open(path, about)
        progress.note(f"comparing: networks {len(configs)}, models {len(work.downstream.parameters)}, runs {runs}")
        return work.compare(configs, seeds, journal, progress, **grid, methods=about["methods"])


@dataclass(frozen=True, eq=False)
class _Work:
    """What makes and scores the networks of a comparison; ``pairs`` has the number of hidden links by seed."""

    task: TaskName
    cube: Cube
    query: Query
    make: Make
    downstream: DownstreamTask
    pairs: dict[str, int]
    workers: int

    def compare(
        self, configs: Sequence[Configuration], seeds: range, journal: Journal, progress: Progress, **settings: Any
    ) -> Comparison:
        """Return the comparison of configurations."""
        models = self.downstream.parameters
        trials = Trials(self.make, self.downstream.mine, self.workers or cores())
        settings = {
            "cube": repr(self.cube),
            "query": repr(self.query),
            "task": self.task,
            "runs": len(seeds),
            "seed": seeds.start,
            **settings,
            "models": models,
            **({"pairs": sum(self.pairs.values())} if self.task == "hidden" else {}),
            "default": DEFAULT.name,
        }
        truth = tuple(self.query.labels or ()) if self.task == "clustering" else ()
        found = trials.run(configs, list(models), seeds, journal, progress=progress)
        return Comparison(self.task, self.downstream.measures, found, truth=truth, settings=settings)


def _prepare(
    task: TaskName,
    cube: Cube,
    query: Query,
    seeds: range,
    make_maker: Callable[[Cube], Maker],
    models: Models | None,
    options: ComparisonOptions,
) -> _Work:
    """Return what makes and scores networks by labels, by links of the query that are hidden, or by given links."""
    if task == "hidden":
        runs = HiddenRuns(cube, query, make_maker, models)
        pairs = runs.count_links(seeds)
        downstream = replace(runs.prepare(seeds.start)[1], mine=runs.mine)
        return _Work(task, cube, query, runs.make, downstream, pairs, options.workers)
    if task == "clustering":
        downstream = make_clustering_task(query, models)
    elif options.hidden is None:
        raise ParameterError("the task 'links' needs the hidden links that are to be found again")
    else:
        downstream = make_link_task(cube, query, options.hidden, options.users, models)
    return _Work(task, cube, query, make_maker(cube), downstream, {}, options.workers)


def compare_by_name(cube: Cube, query: Asked, task: Any = None, **given: Any) -> Comparison:
    """Compare networks with options by name, as commands contain them."""
    more = {each.name: given.pop(each.name) for each in fields(ComparisonOptions) if each.name in given}
    return compare(cube, query, task, options=ComparisonOptions(**more), **given)


def _baselines(as_large: bool, baselines: Sequence[str] | None) -> bool | Sequence[str]:
    """Return the methods that get networks as large as the others: all (True), those named, or none (False)."""
    named = list_values(baselines)
    if named and not as_large:
        raise ParameterError(
            "baselines are the networks made as large, and ", Setting("as_large", False), " leaves them out: give one"
        )
    return as_large if named is None else named


def choose_task(query: Query) -> TaskName:
    """Return the task that a query can be judged by: clustering where it has labels, and else hidden links."""
    return "clustering" if len({label for label in query.labels or () if label}) > 1 else "hidden"


def named_methods(methods: Methods | None) -> dict[str, str | Method]:
    """Return methods by name; names that are registered are checked, and objects have to be methods."""
    if methods is None:
        return dict(COMPARED)
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        raise ParameterError(f"methods are a list of names and objects, or objects by name, got {quote(methods)}")
    given: dict[str, str | Method] = {}
    if isinstance(methods, Mapping):
        given.update(
            {
                name: OPTIONED.get(method, method) if isinstance(method, str) else method
                for name, method in methods.items()
            }
        )
    else:
        methods = list(methods)
        listed = {name: BY_NAME.get(name, name) for name in methods if isinstance(name, str)}
        others = {name: type(_method(method)) for name, method in listed.items()}
        own = find_names([_method(each) for each in methods if not isinstance(each, str)], others)
        called = {format_repr(method): name for name, method in own.items()}
        for each in methods:
            given |= {each: listed[each]} if isinstance(each, str) else {called[format_repr(each)]: each}
    for name, method in given.items():
        _method(method)
        if name == "none" and method != "none" and not isinstance(method, Nothing):
            raise ParameterError(f"the name 'none' is for the query alone, got {method!r}: give it another name")
    return given


def _method(given: str | Method) -> Method:
    found: Method = make_object(given, METHODS, Method, "method", {})
    return found


def maker(cube: Cube, query: Query, methods: Named = BY_NAME) -> Maker:
    """Return what makes the networks of configurations for one query."""

    def plan_configuration(config: Configuration, nodes: int | None) -> Plan:
        named = ("n_cells", "objective", "form", "levels", "membership_weights")
        options: dict[str, Any] = {name: getattr(config, name) or None for name in named}
        method = METHODS[config.method]() if config.like else methods.get(config.method, config.method)
        options |= {"method": method, "n_neighbors": config.n_neighbors, "max_nodes": nodes}
        return plan_network(cube, query, NetworkOptions(**options))

    return Maker(plan_configuration, lambda wanted, seed: choose(wanted, seed=seed), build_network)


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Choose the method, objective, form and levels of a network by testing several.

    The configurations of ``evaluation.auto`` are compared by successive halving: all of them in the first run, and the
    better half in each later run, down to two; the query alone and the default are in every run. It ends after ``runs``
    runs or ``seconds``; a run is started only if enough time is left.

    If the query, or part of it, has labels, it is embedded, clustered and scored (F1) on the labelled objects. The
    default network is taken unless another is significantly better: the 95 % interval of the difference, paired over
    labelled objects and runs and corrected for the number of configurations, is above 0. The note states the expected
    score on other labels with an interval.

    Without labels, a fifth of the items that join objects of the query is removed, different ones in each run, and
    networks are scored by how well the removed links are predicted (AUC). The default network is taken unless the AUC
    of another is higher in each of at least two runs, and by more than 0.02 on average. With fewer than 30 hidden pairs
    the default is taken.

    Parameters
    ----------
    seconds
        The time limit; a trial that has started is finished.
    runs
        The maximum number of runs; with one, the default is taken.
    folds
        The number of parts, at least 2, into which labels are split to estimate the score on other labels.
    embedding
        The node embedding of the next step: a name or an object.
    """

    seconds: float = 60.0
    runs: int = 3
    folds: int = 5
    embedding: str | NodeEmbedder = field(default="deepwalk", metadata={"outside": True})

    chooses_cells = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", check_int("runs", self.runs, 1))
        object.__setattr__(self, "folds", check_int("folds", self.folds, 2))
        if not isinstance(self.seconds, int | float) or not 0 < self.seconds < float("inf"):
            raise ParameterError(f"seconds is {self.seconds!r}, expected a number above 0")
        make_object(self.embedding, EMBEDDINGS, NodeEmbedder, "embedding", {})

    def construct(self, cube: Cube, query: Query, *, seed: int = 0, progress: Progress | None = None) -> Network:
        """Return the network of the best configuration; ``settings["tried"]`` lists all, the best first."""
        network = self._choose(cube, query, seed=seed, progress=progress or silent)
        recipe = None if network.recipe is None else replace(network.recipe, chosen_by="auto")
        return replace(network, recipe=recipe)

    def _choose(self, cube: Cube, query: Query, *, seed: int, progress: Progress) -> Network:
        seed = check_int("seed", seed, 0, None)
        make, models = maker(cube, query), {"": self.embedding}
        until: dict[str, Any] = {"seeds": range(seed, seed + self.runs), "seconds": self.seconds, "progress": progress}
        if any(query.labels or ()):
            mine = make_clustering_task(query, models).mine
            return choose_by_labels(query, make, mine, folds=self.folds, **until)
        hidden = HiddenRuns(cube, query, partial(maker, query=query), models)
        return choose_by_hidden_links(query, make, hidden, **until)


BASELINE = "pagerank"
"""What is made as large as the network."""
JUDGES = ("clustering", "hidden")
MODELS = ("deepwalk",)
"""What does the next step, where somebody waits for it."""


@dataclass(frozen=True, eq=False)
class Judged:
    """A comparison of one network, and what makes the networks that it compared."""

    comparison: Comparison
    make: Make


@report_compiling
def judge(
    cube: Cube,
    query: Asked,
    method: str | Method = "greedy",
    *,
    task: TaskName | None = None,
    runs: int = 5,
    models: Models | None = MODELS,
    seed: int = 0,
    progress: ProgressOption = None,
    **options: Any,
) -> Judged:
    """Compare a network with PageRank of the same size and with the query alone.

    The options are those of :func:`construct`, including pins and bans; ``task`` and ``runs`` are those of
    :func:`compare`.
    """
    told = resolve_progress(progress)
    asked = resolve_query(cube, query)
    task = choose_task(asked) if task is None else task
    if task not in JUDGES:
        raise unknown_name("task", task, JUDGES)
    runs = check_int("runs", runs, 1)
    given = {name: value for name, value in options.items() if name in OPTIONS}
    chooser = resolve_method(method, {name: value for name, value in options.items() if name not in OPTIONS})
    if not isinstance(chooser, Method):
        raise ParameterError("the method 'auto' has compared networks itself: its answer lists what it tried")
    network_options = NetworkOptions(**{**given, "method": chooser})
    config = _config(plan_network(cube, asked, network_options), method, network_options)
    configs = add_baselines([Configuration(method="none"), config], as_large=[BASELINE])
    if not config.objective and method not in ("none", BASELINE):
        configs.append(Configuration(method=BASELINE, like=config.name))
    if method == "none":
        configs = configs[:1]

    def make_maker(whole: Cube) -> Maker:
        def plan_configuration(wanted: Configuration, nodes: int | None) -> Plan:
            if wanted == config and wanted.method != "none":
                return plan_network(whole, asked, network_options)
            method = BASELINE if wanted.like else "none"
            return plan_network(whole, asked, NetworkOptions(method=method, max_nodes=nodes))

        return Maker(plan_configuration, lambda wanted, own: choose(wanted, seed=own), build_network)

    seeds = range(seed, seed + runs)
    work = _prepare(task, cube, asked, seeds, make_maker, models, ComparisonOptions())
    return Judged(work.compare(configs, seeds, Journal.open(None, {"task": task}), told), work.make)


TOLD = ("method", "objective", "n_cells", "form", "levels", "n_neighbors", "membership_weights")
"""The options that the name of a configuration tells."""
NOT_COMPARED = ("seed", "bound")
"""The options that change nothing of what is compared."""


def _config(plan: Plan, method: str | Method, options: NetworkOptions) -> Configuration:
    """Return what the network of a plan is called; one that was steered or limited is not called as the plain one."""
    name = method if isinstance(method, str) else type(method).__name__
    levels = options.levels or ""
    more = [each for each, value in options.given.items() if each not in (*TOLD, *NOT_COMPARED) and value != "all"]
    called = name if isinstance(levels, str) and not more else f"{name} as asked"
    if not chooses_cells(plan.method):
        return Configuration(method=called)
    return Configuration(
        method=called,
        objective=objective_name(plan.objective),
        form=plan.form.kind,
        n_cells=options.n_cells or 0,
        levels=levels if isinstance(levels, str) else "",
        n_neighbors=options.n_neighbors,
        membership_weights=options.membership_weights or "",
    )


@check_call
def read_comparison(folder: str | Path, query: Query) -> Comparison:
    """Read the comparison saved in a folder.

    Parameters
    ----------
    folder
        The folder given as ``out`` to :func:`compare` or as ``--out`` to ``cube2net compare``.
    query
        The query that was compared.

    Returns
    -------
    Comparison
        All saved trials, even if the comparison was interrupted.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build(planted.corpus)
    >>> query = cube.query({name: f"community {number}" for number in (0, 1) for name in planted.query(number)[:10]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = c2n.compare(cube, query, methods=["pagerank"], models=["deepwalk"], runs=2, out=folder)
    ...     c2n.read_comparison(folder, query)
    Comparison(clustering: 2 configurations × 1 model × 2 seeds)
    """
    return trials.read_comparison(check_path(folder, "the folder of the comparison") / JOURNAL, query)


def results(comparison: Comparison) -> dict[str, Any]:
    """Return the verdict and its numbers as values for JSON."""
    return list_results(Report(comparison, judge_comparison(comparison), compute_all_estimates(comparison)))


def check_report() -> None:
    """Raise an error if no report can be written here."""
    require("a report", "plotly", "jinja2")


def write_report(
    comparison: Comparison, folder: str | Path, cube: Cube, query: Query, *, methods: Methods | None, **options: Any
) -> list[Path]:
    """Write the report of a comparison and return its files; see :meth:`cube2net.Comparison.write_report`."""
    make = maker(cube, resolve_query(cube, query), {**BY_NAME, **named_methods(methods)})
    return report_files(make, comparison, folder, **options)


def report_files(
    make: Make,
    comparison: Comparison,
    folder: str | Path,
    *,
    command: str = "",
    title: str = "Did it help?",
    spreadsheet_safe: bool = False,
) -> list[Path]:
    """Return the files of the report of a comparison, the page first; ``make`` constructs its networks."""
    place = check_path(folder, "the folder of the report")
    check_report()
    said, estimates = judge_comparison(comparison), compute_all_estimates(comparison)
    report = Report(comparison, said, estimates, command=command, title=title)
    return write_report_files(illustrate(report, make), place, spreadsheet_safe=spreadsheet_safe)
