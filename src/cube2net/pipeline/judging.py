"""One network before the referee: does it help the next step, against PageRank as large and the query alone?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cube2net import referee
from cube2net.compiling import tells_compiling
from cube2net.cube import hide_pairs, unlinked_pairs
from cube2net.errors import ParameterError, unknown, whole_number
from cube2net.interfaces import Method, chooses_cells
from cube2net.mine import Given, Miners, clustering_miners, hidden_miners
from cube2net.network_options import OPTIONS, NetworkOptions
from cube2net.pipeline.compare import task_of
from cube2net.pipeline.construct import Chosen, choose, method_of, network_of
from cube2net.pipeline.planning import Plan, plan_network
from cube2net.pipeline.queries import Asked, query_of
from cube2net.pipeline.worths import objective_name
from cube2net.progress import Telling, listener
from cube2net.records import Comparison, Cube, Query, Setup
from cube2net.referee import DEFAULT, HiddenRuns, Journal, Make, Maker, Trials
from cube2net.threads import cores

RIVAL = "pagerank"
"""What is made as large as the network."""
TASKS = ("clustering", "hidden")
MINERS = ("deepwalk",)
"""What does the next step, where somebody waits for it."""


@dataclass(frozen=True, eq=False)
class Judged:
    """A comparison of one network, and what makes the networks that it compared."""

    comparison: Comparison
    make: Make


@tells_compiling
def judge(
    cube: Cube,
    query: Asked,
    method: str | Method = "greedy",
    *,
    task: str | None = None,
    runs: int = 5,
    miners: Given | None = MINERS,
    seed: int = 0,
    progress: Telling = None,
    **options: Any,
) -> Judged:
    """Return how well the next step does on the network of a question, on PageRank as large, and on the query alone.

    The options are those of :func:`construct`, steering included; task and runs are those of :func:`compare`. A bound
    changes nothing here.
    """
    told = listener(progress)
    asked = query_of(cube, query)
    task = task_of(asked) if task is None else task
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    runs = whole_number("runs", runs, 1)
    given = {name: value for name, value in options.items() if name in OPTIONS}
    chooser = method_of(method, {name: value for name, value in options.items() if name not in OPTIONS})
    if not isinstance(chooser, Method):
        raise ParameterError("the method 'auto' has compared networks itself: its answer lists what it tried")
    network_options = NetworkOptions(**{**given, "method": chooser})
    setup = _setup(plan_network(cube, asked, network_options), method, network_options)
    setups = referee.with_peers([Setup(method="none"), setup], as_large=[RIVAL])
    if not setup.objective and method not in ("none", RIVAL):
        setups.append(Setup(method=RIVAL, like=setup.name))
    if method == "none":
        setups = setups[:1]

    def maker_of(whole: Cube) -> Maker[Plan, Chosen]:
        def planned(wanted: Setup, nodes: int | None) -> Plan:
            if wanted == setup and wanted.method != "none":
                return plan_network(whole, asked, network_options)
            method = RIVAL if wanted.like else "none"
            return plan_network(whole, asked, NetworkOptions(method=method, max_nodes=nodes))

        return Maker(planned, lambda wanted, own: choose(wanted, seed=own), network_of)

    hiding = _hiding(cube, asked, maker_of, miners) if task == "hidden" else None
    seeds = range(seed, seed + runs)
    pairs = hiding.counts(seeds) if hiding else {}
    judging = hiding.of(seed)[1] if hiding else clustering_miners(asked, miners)
    make, mine = (hiding.make, hiding.mine) if hiding else (maker_of(cube), judging.mine)
    trials = Trials(make, mine, cores()).run(
        setups, list(judging.parameters), seeds, Journal.open(None, {"task": task}), progress=told
    )
    settings = {"task": task, "runs": runs, "seed": seed, "cube": repr(cube), "query": repr(asked)}
    settings |= {"miners": judging.parameters, "default": DEFAULT.name}
    settings |= {"pairs": sum(pairs.values())} if hiding else {}
    truth = tuple(asked.labels or ()) if task == "clustering" else ()
    return Judged(Comparison(task, judging.measures, trials, truth=truth, settings=settings), make)


TOLD = ("method", "objective", "m", "form", "levels", "near", "membership")
"""The options that the name of a setup tells."""
NOT_COMPARED = ("seed", "bound")
"""The options that change nothing of what is compared."""


def _setup(plan: Plan, method: str | Method, options: NetworkOptions) -> Setup:
    """Return what the network of a plan is called; one that was steered or limited is not called as the plain one."""
    name = method if isinstance(method, str) else type(method).__name__
    levels = options.levels or ""
    more = [each for each, value in options.given.items() if each not in (*TOLD, *NOT_COMPARED) and value != "all"]
    called = name if isinstance(levels, str) and not more else f"{name} as asked"
    if not chooses_cells(plan.method):
        return Setup(method=called)
    return Setup(
        method=called,
        objective=objective_name(plan.objective),
        form=plan.form.kind,
        m=options.m or 0,
        levels=levels if isinstance(levels, str) else "",
        near=options.near,
        membership=options.membership or "",
    )


def _hiding(cube: Cube, query: Query, maker_of: Any, miners: Given | None) -> HiddenRuns[Miners]:
    return HiddenRuns(
        query,
        hide=lambda seed: hide_pairs(cube, query, seed=seed),
        unlinked=lambda count, seed: unlinked_pairs(cube, query, count, seed=seed),
        maker=maker_of,
        miners=lambda links, others: hidden_miners(query, links, others, miners),
    )
