"""Every method on one query and task, with paired seeds: which network helps the next step, and how sure that is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cube2net.aside import check_folder
from cube2net.cores import cores
from cube2net.errors import ParameterError, QueryError, unknown, whole_number
from cube2net.interfaces import Method, Progress
from cube2net.network import Hops, Nothing
from cube2net.pipeline.answers import network_of
from cube2net.pipeline.choosing import Asked, Chosen, choose
from cube2net.pipeline.mining import Given, clustering_miners, link_miners
from cube2net.pipeline.registries import METHODS, made
from cube2net.records import Budget, Comparison, Cube, Network, Query, Setup
from cube2net.records.comparison import TASKS
from cube2net.records.network import FORMS
from cube2net.records.ragged import Array
from cube2net.referee.journal import Journal
from cube2net.referee.page_files import FILES
from cube2net.referee.trials import Trials
from cube2net.select import OBJECTIVES, Cube2net, Exact, Random

Rows = Sequence[int] | Array
Methods = Sequence[str] | Mapping[str, str | Method]

CHOOSES_CELLS = ("random", "greedy", "anneal", "exact", "cube2net")
"""Methods that choose cells, and so have an objective and a form."""

DRAWS = ("random", "anneal", "cube2net")
"""Methods whose answer depends on the seed; those of all others are made once."""

AS_LARGE = ("pagerank", "hops")
"""Methods that are also asked for as many nodes as every choice of cells has."""

COMPARED: dict[str, str | Method] = {
    "none": "none",
    "hops": "hops",
    "hops 2": Hops(hops=2),
    **{name: name for name in METHODS if name not in ("none", "hops", "exact", "cube2net")},
    "exact": Exact(seconds=15.0),
    "cube2net": "cube2net",
}
"""All methods, one and two steps both, and proofs given up after a quarter of a minute."""

BY_NAME: dict[str, str | Method] = {**COMPARED, "cube2net paper": Cube2net(preset="paper")}
"""What a name stands for; those that are not compared unless they are named come last."""

JOURNAL = "trials.jsonl"
WRITTEN = (JOURNAL, *FILES)
"""What a comparison writes into its folder."""


def compare(
    cube: Cube,
    query: Asked,
    task: str = "clustering",
    *,
    hidden: tuple[Rows, Rows] | None = None,
    users: str = "user",
    methods: Methods | None = None,
    objectives: Sequence[str] = ("jaccard", "coverage", "linked"),
    forms: Sequence[str] = FORMS,
    m: int | Sequence[int] = 20,
    miners: Given | None = None,
    runs: int = 10,
    seed: int = 0,
    as_large: bool = True,
    out: str | Path | None = None,
    workers: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Return how well the next step does on the network of every method, in every form, run by run.

    ``task`` is ``"clustering"``: the query's objects are embedded and clustered, and judged by their labels; miners
    are embeddings. Or ``"links"``: ``hidden`` links (the rows of their two ends) between users and items of the query,
    which the cube was built without, are found again; miners are recommenders, and ``users`` is the kind of objects
    that links are recommended to. Methods and miners are names, or objects of your own by a name; methods that choose
    cells are compared for every one of ``objectives``, ``forms`` and ``m``, and (``as_large``) with PageRank and hops
    of as many nodes. The query alone is always there. Runs have the seeds ``seed``, ``seed + 1``, …, the same for all.

    With a folder ``out`` every trial is written down when it is made, and a comparison that was interrupted goes on
    where it stopped, also with more runs or methods; a folder of other files, without trials, is refused. A method
    that fails is a row that says why. ``workers`` networks are mined at the same time (0: one for every core); scores
    do not depend on it, but for proofs that the clock ends.
    """
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    if out is not None and not (Path(out) / JOURNAL).exists():
        check_folder(Path(out), WRITTEN, "a comparison's")
    asked = query if isinstance(query, Query) else cube.query(query)
    if int(asked.objects[-1]) >= len(cube.objects):
        raise QueryError(f"the query was made for another cube: it names row {int(asked.objects[-1]):,}")
    runs = whole_number("runs", runs, 1)
    seed = whole_number("seed", seed, 0, None)
    named = _named(methods)
    counts = list(m) if isinstance(m, Iterable) else [m]
    several = [whole_number("m", count, 1) for count in dict.fromkeys(counts)]
    setups = setups_of(named, objectives, forms, several, as_large=as_large)
    if task == "clustering":
        if hidden is not None:
            raise ParameterError("hidden links are for the task 'links', and the task is 'clustering'")
        judges = clustering_miners(asked, miners)
    else:
        if hidden is None:
            raise ParameterError("the task 'links' needs the hidden links that are to be found again")
        judges = link_miners(cube, asked, hidden, users, miners)
    about = {
        "task": task,
        "cube": _digest(cube.cells.members.indptr, cube.cells.members.indices, cube.links.indices, cube.links.weights),
        "query": query_mark(asked),
        "hidden": _digest(*judges.hidden),
        "methods": {name: repr(method) for name, method in named.items()},
        "miners": judges.parameters,
    }
    trials = Trials(Maker(cube, asked, named), judges.mine, workers or cores())
    journal = Journal.open(None if out is None else Path(out) / JOURNAL, about)
    if progress is not None:
        progress(f"{len(setups)} networks × {len(judges.parameters)} miners × {runs} runs", 1, 1)
    return Comparison(
        task,
        judges.measures,
        trials.run(setups, list(judges.parameters), range(seed, seed + runs), journal, progress=progress),
        truth=tuple(asked.labels or ()) if task == "clustering" else (),
        settings={
            "cube": repr(cube),
            "query": repr(asked),
            "task": task,
            "runs": runs,
            "seed": seed,
            "m": several,
            "objectives": list(objectives),
            "forms": list(forms),
            "methods": about["methods"],
            "miners": judges.parameters,
        },
    )


def setups_of(
    methods: Mapping[str, str | Method],
    objectives: Sequence[str],
    forms: Sequence[str],
    m: Sequence[int],
    *,
    as_large: bool = True,
) -> list[Setup]:
    """Return the setups to compare, the query alone first; those that are as large as another come behind it.

    Random cells are chosen for no objective, and stand under the first one.

    >>> [setup.title for setup in setups_of({"greedy": "greedy"}, ["jaccard"], ["cells"], [20])][:3]
    ['none', 'greedy · jaccard · cells', 'pagerank, as large as greedy · jaccard · cells · m 20']
    """
    for what, given, allowed in (("objective", objectives, OBJECTIVES), ("form", forms, FORMS)):
        for name in given:
            if name not in allowed:
                raise unknown(what, name, allowed)
    if not m or not objectives or not forms:
        raise ParameterError("a comparison needs at least one number of cells, one objective and one form")
    setups = [Setup(method="none")]
    for name, method in methods.items():
        if not chooses_cells(method):
            setups += [Setup(method=name)] if name != "none" else []
            continue
        for objective in objectives[:1] if method == "random" or isinstance(method, Random) else objectives:
            for form in forms:
                for count in m:
                    setup = Setup(method=name, objective=objective, form=form, m=whole_number("m", count, 1))
                    setups.append(setup)
                    setups += [Setup(method=peer, like=setup.name) for peer in AS_LARGE if as_large]
    return list(dict.fromkeys(setups))


def chooses_cells(method: str | Method) -> bool:
    """Return whether a method chooses cells; one of your own is taken to do so unless it brings objects alone."""
    if isinstance(method, str):
        return method in CHOOSES_CELLS
    return not isinstance(method, tuple(kind for name, kind in METHODS.items() if name not in CHOOSES_CELLS))


@dataclass(frozen=True, eq=False)
class Maker:
    """Makes the networks of setups for one query; what a method chooses is kept, for it serves all forms."""

    cube: Cube
    query: Query
    methods: Mapping[str, str | Method]
    kept: dict[tuple[Any, ...], Chosen] = field(default_factory=dict)

    def __call__(self, setup: Setup, seed: int, nodes: int | None = None) -> Network:
        """Return the network of a setup, with so many nodes at most where a number is given."""
        method = METHODS[setup.method]() if setup.like else self.methods.get(setup.method, setup.method)
        name = method if isinstance(method, str) else _registered(method)
        own = seed if name is None or name in DRAWS else 0
        key = (setup.method, bool(setup.like), setup.objective, setup.m, nodes, own)
        if key not in self.kept:
            budget = Budget(m=setup.m or 20, max_nodes=nodes)
            self.kept[key] = choose(self.cube, self.query, method, setup.objective or "jaccard", budget, seed=own)
        return network_of(self.cube, self.kept[key], setup.form)


def _named(methods: Methods | None) -> dict[str, str | Method]:
    """Return the methods by name; the names of registered ones are checked, and objects have to be methods."""
    if methods is None:
        return dict(COMPARED)
    given = dict(methods) if isinstance(methods, Mapping) else {name: BY_NAME.get(name, name) for name in methods}
    for name, method in given.items():
        made(method, METHODS, Method, "method", {})
        if name == "none" and method != "none" and not isinstance(method, Nothing):
            raise ParameterError(f"the name 'none' is for the query alone, got {method!r}: give it another name")
    return given


def _registered(method: Method) -> str | None:
    return next((name for name, kind in METHODS.items() if type(method) is kind), None)


def query_mark(query: Query) -> str:
    """Return a text that stands for a query and its labels: another query has another."""
    return _digest(query.objects, np.array(query.labels or (), dtype=np.str_))


def _digest(*arrays: Array) -> str:
    """Return a text that stands for the content of some arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
