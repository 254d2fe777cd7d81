"""Every method on one query and task, with paired seeds: which network helps the next step, and how sure that is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.atomic_files import check_folder
from cube2net.compiling import tells_compiling
from cube2net.cube import cuboid, hide_pairs, unlinked_pairs
from cube2net.errors import ParameterError, QueryError, unknown, whole_number
from cube2net.interfaces import Method
from cube2net.locks import only_writer
from cube2net.network import Hops, Nothing
from cube2net.pipeline.answers import network_of
from cube2net.pipeline.choosing import Chosen, choose
from cube2net.pipeline.mining import Given, Miners, clustering_miners, hidden_miners, link_miners
from cube2net.pipeline.planning import Asked, plan
from cube2net.pipeline.registries import METHODS, made, name_of
from cube2net.pipeline.setups import DEFAULT, SHORT_LIST, setups_of, several, with_peers
from cube2net.progress import Progress, silent
from cube2net.records import Comparison, Cube, Hidden, Network, Query, Setup
from cube2net.records.comparison import TASKS
from cube2net.referee.journal import Journal
from cube2net.referee.report.write import FILES
from cube2net.referee.trials import Trials
from cube2net.select import Cube2net, Exact
from cube2net.threads import cores

Rows = Sequence[int] | Array
Methods = Sequence[str] | Mapping[str, str | Method]

DRAWS = ("random", "anneal", "cube2net")
"""Methods whose answer depends on the seed; those of all others are made once."""

UNLINKED = 3
"""So many pairs without a link are held against every hidden one."""

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


@tells_compiling
def compare(
    cube: Cube,
    query: Asked,
    task: str | None = None,
    *,
    hidden: tuple[Rows, Rows] | None = None,
    users: str = "user",
    methods: Methods | None = None,
    objectives: Sequence[str] | None = None,
    forms: Sequence[str] | None = None,
    levels: Sequence[str] | None = None,
    near: int | Sequence[int] | None = None,
    memberships: Sequence[str] | None = None,
    m: int | Sequence[int] | None = None,
    miners: Given | None = None,
    runs: int = 10,
    seed: int = 0,
    as_large: bool | Sequence[str] = True,
    out: str | Path | None = None,
    workers: int = 0,
    progress: Progress = silent,
) -> Comparison:
    """Return how well the next step does on the network of every method, in every form, run by run.

    Parameters
    ----------
    task
        ``"clustering"``: the query's objects are embedded and clustered, and judged by their labels; miners are
        embeddings. ``"hidden"``: a fifth of the items that join objects of the query is taken out of the cube, another
        one in every run, and the links that are gone with them are to be found again by the vectors; no labels are
        needed. ``"links"``:
        ``hidden`` links (the rows of their two ends) between users and items of the query, which the cube was built
        without, are found again; miners are recommenders, and ``users`` is the kind of objects that links are
        recommended to. Without a word clustering where the query has labels, and else hidden.
    methods, miners
        Names, or objects of your own by a name. The query alone is always there.
    objectives, forms, levels, near, memberships, m
        Methods that choose cells are compared for every combination; see :func:`construct`. Where neither these nor
        methods are given, the list is short: the default network, two variants of it and the paper's form.
    as_large
        Also compare PageRank and hops, or those named, of as many nodes as every choice of cells has.
    runs, seed
        Runs have the seeds ``seed``, ``seed + 1``, …, the same for all.
    out
        A folder in which every trial is written down when it is made: a comparison that was interrupted goes on where
        it stopped, also with more runs or methods; a folder of other files, without trials, is refused.
    workers
        How many networks are mined at the same time (0: one for every core); scores do not depend on it, but for proofs
        that the clock ends.

    Returns
    -------
    Comparison
        All trials; a method that fails is one that says why.
    """
    asked = query if isinstance(query, Query) else cube.query(query)
    task = task_of(asked) if task is None else task
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    if out is not None and not (Path(out) / JOURNAL).exists():
        check_folder(Path(out), WRITTEN, "a comparison's")
    if int(asked.objects[-1]) >= len(cube.objects):
        raise QueryError(f"the query was made for another cube: it names row {int(asked.objects[-1]):,}")
    runs = whole_number("runs", runs, 1)
    seed = whole_number("seed", seed, 0, None)
    named = _named(methods)
    open_ones: dict[str, Any] = {
        "objectives": several(objectives),
        "forms": several(forms),
        "levels": several(levels),
        "memberships": several(memberships),
        "near": several(near),
        "m": several(m),
    }
    for each in open_ones["levels"] or ():
        cuboid(cube, each)
    if methods is None and all(value is None for value in open_ones.values()):
        setups = with_peers([Setup(method="none"), *SHORT_LIST], as_large=as_large)
    else:
        setups = setups_of(named, as_large=as_large, **open_ones)
    if hidden is not None and task != "links":
        raise ParameterError(f"hidden links are for the task 'links', and the task is {task!r}")
    hiding = Hiding(cube, asked, named, miners) if task == "hidden" else None
    pairs = hiding.pairs(range(seed, seed + runs)) if hiding else {}
    judges = hiding.of(seed)[1] if hiding else _judged(task, cube, asked, hidden, users, miners)
    about = {
        "task": task,
        "cube": _cube_mark(cube),
        "query": query_mark(asked),
        "hidden": "" if hiding else _digest(*judges.hidden),
        "methods": {name: repr(method) for name, method in named.items()},
        "miners": judges.parameters,
        "pairs": pairs,
    }
    make, mine = (hiding.make, hiding.mine) if hiding else (Maker(cube, asked, named), judges.mine)
    trials = Trials(make, mine, workers or cores())
    path = None if out is None else Path(out) / JOURNAL
    with nullcontext() if path is None else only_writer(path, progress):
        journal = Journal.open(path, about)
        progress(f"{len(setups)} networks × {len(judges.parameters)} miners × {runs} runs", 1, 1)
        made = trials.run(setups, list(judges.parameters), range(seed, seed + runs), journal, progress=progress)
    return Comparison(
        task,
        judges.measures,
        made,
        truth=tuple(asked.labels or ()) if task == "clustering" else (),
        settings={
            "cube": repr(cube),
            "query": repr(asked),
            "task": task,
            "runs": runs,
            "seed": seed,
            **{name: list(value) for name, value in open_ones.items() if value is not None},
            **{name: about[name] for name in ("methods", "miners")},
            **({"pairs": sum(pairs.values())} if hiding else {}),
            "default": DEFAULT.name,
        },
    )


def task_of(query: Query) -> str:
    """Return the task that a query can be judged by: clustering where it has labels, and else hidden links."""
    return "clustering" if len({label for label in query.labels or () if label}) > 1 else "hidden"


def _judged(
    task: str, cube: Cube, query: Query, hidden: tuple[Rows, Rows] | None, users: str, miners: Given | None
) -> Miners:
    """Return what judges networks by labels, or by links that the cube was built without."""
    if task == "clustering":
        return clustering_miners(query, miners)
    if hidden is None:
        raise ParameterError("the task 'links' needs the hidden links that are to be found again")
    return link_miners(cube, query, hidden, users, miners)


def apart_from(cube: Cube, query: Query, hidden: Hidden, seed: int) -> tuple[Array, Array]:
    """Return the pairs of a query without a link that hidden ones are held against, three times as many."""
    apart = unlinked_pairs(cube, query, UNLINKED * len(hidden.source), seed=seed)
    if len(apart[0]) == 0:
        many = "every hidden link has another item behind it" if len(hidden.source) == 0 else "all pairs are linked"
        raise QueryError(
            f"links of the {len(query):,} objects of the query cannot be hidden and found again, since {many}: "
            "give labels to judge by"
        )
    return apart


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
        name = method if isinstance(method, str) else name_of(method, METHODS)
        own = seed if name not in METHODS or name in DRAWS else 0
        wanted = plan(
            self.cube,
            self.query,
            method,
            setup.m or None,
            setup.objective or None,
            setup.form,
            levels=setup.levels or "full",
            near=setup.near,
            membership=setup.membership or None,
            max_nodes=nodes,
        )
        key = (setup.method, bool(setup.like), repr(wanted.objective), wanted.budget, setup.levels, own)
        if key not in self.kept:
            self.kept[key] = choose(wanted, seed=own)
        return network_of(wanted, self.kept[key])


@dataclass(frozen=True, eq=False)
class Hiding:
    """Makes and judges networks by links of the query that are hidden anew for every seed.

    Every run tells of other links, so that several tell of most. Evidence is a row for every object of the query, nan
    for those without a hidden link in the run. What one seed hides is kept until another's turn comes.
    """

    cube: Cube
    query: Query
    methods: Mapping[str, str | Method]
    miners: Given | None = None
    kept: dict[int, tuple[Maker, Miners]] = field(default_factory=dict)

    def pairs(self, seeds: Sequence[int]) -> dict[str, int]:
        """Return how many links every seed hides, by the seed."""
        return {str(seed): len(self.of(seed)[1].hidden[0]) for seed in seeds}

    def of(self, seed: int) -> tuple[Maker, Miners]:
        """Return what makes networks without the links that a seed hides, and what judges by these."""
        if seed not in self.kept:
            found = hide_pairs(self.cube, self.query, seed=seed)
            apart = apart_from(self.cube, self.query, found, seed)
            judges = hidden_miners(self.query, (found.source, found.target), apart, self.miners)
            self.kept.clear()
            self.kept[seed] = Maker(found.cube, self.query, self.methods), judges
        return self.kept[seed]

    def make(self, setup: Setup, seed: int, nodes: int | None = None) -> Network:
        """Return the network of a setup, made without what the seed hides."""
        return self.of(seed)[0](setup, seed, nodes)

    def mine(self, network: Network, miner: str, seed: int) -> tuple[dict[str, float], Array, float]:
        """Return the scores, those of every object of the query, and the seconds it took to learn."""
        judges = self.of(seed)[1]
        scores, own, spent = judges.mine(network, miner, seed)
        evidence = np.full((len(self.query), own.shape[1]), np.nan)
        evidence[np.unique(np.concatenate(judges.hidden[:2]))] = own
        return scores, evidence, spent


def _named(methods: Methods | None) -> dict[str, str | Method]:
    """Return the methods by name; the names of registered ones are checked, and objects have to be methods."""
    if methods is None:
        return dict(COMPARED)
    if isinstance(methods, str):
        raise ParameterError(f"methods are a list of names, or objects by name, got the text {methods!r}")
    given = dict(methods) if isinstance(methods, Mapping) else {name: BY_NAME.get(name, name) for name in methods}
    for name, method in given.items():
        made(method, METHODS, Method, "method", {})
        if name == "none" and method != "none" and not isinstance(method, Nothing):
            raise ParameterError(f"the name 'none' is for the query alone, got {method!r}: give it another name")
    return given


def _cube_mark(cube: Cube) -> str:
    """Return a text that stands for all of a cube that a network can depend on."""
    levels = [level.parents for dimension in cube.dimensions for level in dimension.levels]
    parents = [numbers for numbers in levels if numbers is not None]
    cells = [(cells.labels, cells.members.indptr, cells.members.indices) for cells in (cube.cells, cube.small)]
    links = (cube.links.indptr, cube.links.indices, cube.links.weights)
    return _digest(*cells[0], *cells[1], *parents, *links)


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
