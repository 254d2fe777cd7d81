"""From a plan to a selection: the method chooses what to bring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from cube2net.compiling import Stopwatch
from cube2net.embed import VECTORS
from cube2net.errors import whole_number
from cube2net.interfaces import LinkObjective, Method, NeedsVectors, TellsProgress
from cube2net.pipeline.cubes import embed_cells
from cube2net.pipeline.planning import Plan
from cube2net.pipeline.worth import weighed
from cube2net.progress import Progress, silent
from cube2net.records import Budget, Cube, Judge, Query, Repeats, Selection, Worth


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a method chose, with what seed, what no cells are worth, and how long its parts took."""

    selection: Selection
    seed: int
    empty_value: float
    seconds: Mapping[str, float]


def choose(plan: Plan, *, seed: int = 0, bound: bool = False, progress: Progress = silent) -> Chosen:
    """Return what the method of a plan chooses; see :func:`construct` for the parameters."""
    whole_number("seed", seed, 0, None)
    cube, query, budget = plan.cube, plan.query, plan.budget
    kernels = ["coverage", "subgraphs", *(["pagerank_push"] if isinstance(plan.objective, LinkObjective) else [])]
    for kernel in kernels:
        import_module(f"cube2net.kernels.{kernel}")
    seconds: dict[str, float] = {}
    with timed(seconds, "weigh"):
        weights = weighed(cube, query, plan.objective)
    with timed(seconds, "vectors"):
        ready = _with_vectors(cube, plan.method, seed)
    if ready is plan.method:
        del seconds["vectors"]
    if isinstance(ready, TellsProgress):
        ready = ready.with_progress(progress)
    with timed(seconds, "select"):
        selection = ready.select(cube, query, weights=weights, budget=budget, seed=seed)
    seconds["select"] -= selection.train_seconds
    seconds["train"] = selection.train_seconds
    if bound:
        with timed(seconds, "bound"):
            selection = _bounded(cube, query, weights, budget, selection)
    empty = weights.value(np.empty(0, dtype=np.int64)) if len(selection.cells) else selection.value
    return Chosen(selection, seed, empty, seconds)


def _with_vectors(cube: Cube, method: Method, seed: int) -> Method:
    """Return the method with the cell vectors that it names, or the method itself where it names none."""
    if not isinstance(method, NeedsVectors) or not isinstance(method.vectors, str):
        return method
    kinds = list(VECTORS) if method.vectors == "both" else [method.vectors]
    options = getattr(method, "vector_options", {})
    return method.with_vectors(*(embed_cells(cube, kind, seed=seed, **options.get(kind, {})) for kind in kinds))


def _bounded(cube: Cube, query: Query, weights: Worth, budget: Budget, selection: Selection) -> Selection:
    """Return the selection with the best bound known, or with a note that says why there is none."""
    reason = ""
    if len(selection.cells) == 0:
        reason = "no cells were chosen"
    elif isinstance(weights, Repeats):
        return selection
    elif isinstance(weights, Judge):
        reason = f"{weights.name} is a function, and only its values are known"
    elif budget.max_links is not None:
        reason = "max_links cannot be taken into account"
    elif not selection.proven:
        from cube2net.select.prove.bound import upper_bound

        found = float(upper_bound(cube, query, weights, budget, at_least=selection.value))
        return replace(selection, bound=found if selection.bound is None else min(found, selection.bound))
    if not reason:
        return selection
    return replace(selection, note="; ".join(filter(None, (selection.note, f"no bound: {reason}"))))


@contextmanager
def timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Note how long a part takes, compiling aside."""
    watch = Stopwatch()
    yield
    seconds[part] = watch.seconds
