"""From a cube and a query to a selection: the method chooses what to bring."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from cube2net.embed import VECTORS
from cube2net.errors import QueryError, whole_number
from cube2net.interfaces import LinkObjective, Method, NeedsVectors, Progress, TellsProgress
from cube2net.pipeline.cubes import embed_cells
from cube2net.pipeline.registries import METHODS, made, name_of
from cube2net.pipeline.worth import Valued, objective_of, weighed
from cube2net.records import Budget, Cube, Judge, Query, Selection, Worth
from cube2net.select import OBJECTIVES

Asked = Query | Iterable[str] | Iterable[int] | Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a method chose for a query, and with what; not a network yet, for that has a form.

    ``empty_value`` is what no cells are worth, ``sees_links`` whether the objective looks at links.
    """

    query: Query
    method: str
    parameters: str
    objective: str
    sees_links: bool
    budget: Budget
    seed: int
    selection: Selection
    empty_value: float
    seconds: Mapping[str, float]


def choose(
    cube: Cube,
    query: Asked,
    method: str | Method,
    objective: Valued,
    budget: Budget,
    *,
    seed: int = 0,
    bound: bool = False,
    progress: Progress | None = None,
) -> Chosen:
    """Return what a method chooses for a query within a budget; see :func:`construct` for the parameters."""
    asked = query if isinstance(query, Query) else cube.query(query)
    if int(asked.objects[-1]) >= len(cube.objects):
        raise QueryError(f"the query was made for another cube: it names row {int(asked.objects[-1]):,}")
    chooser: Method = made(method, METHODS, Method, "method", {})
    worth = objective_of(objective)
    whole_number("seed", seed, 0, None)
    sees_links = isinstance(worth, LinkObjective)
    for kernel in ("coverage", "induce", *(["push"] if sees_links else [])):
        import_module(f"cube2net.kernels.{kernel}")
    seconds: dict[str, float] = {}
    with timed(seconds, "weigh"):
        weights = weighed(cube, asked, worth)
    with timed(seconds, "vectors"):
        ready = _with_vectors(cube, chooser, seed)
    if ready is chooser:
        del seconds["vectors"]
    if progress is not None and isinstance(ready, TellsProgress):
        ready = ready.with_progress(progress)
    with timed(seconds, "select"):
        selection = ready.select(cube, asked, weights=weights, budget=budget, seed=seed)
    seconds["select"] -= selection.train_seconds
    seconds["train"] = selection.train_seconds
    if bound:
        with timed(seconds, "bound"):
            selection = _bounded(cube, asked, weights, budget, selection)
    return Chosen(
        query=asked,
        method=name_of(chooser, METHODS),
        parameters=repr(chooser),
        objective=name_of(worth, OBJECTIVES),
        sees_links=sees_links,
        budget=budget,
        seed=seed,
        selection=selection,
        empty_value=weights.value(np.empty(0, dtype=np.int64)) if len(selection.cells) else selection.value,
        seconds=seconds,
    )


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
    elif isinstance(weights, Judge):
        reason = f"{weights.name} is a function, and only its values are known"
    elif budget.max_links is not None:
        reason = "max_links cannot be taken into account"
    elif not selection.proven:
        from cube2net.select.bound import upper_bound

        found = float(upper_bound(cube, query, weights, budget, at_least=selection.value))
        return replace(selection, bound=found if selection.bound is None else min(found, selection.bound))
    if not reason:
        return selection
    return replace(selection, note="; ".join(filter(None, (selection.note, f"no bound: {reason}"))))


@contextmanager
def timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Note how long a part takes."""
    start = time.perf_counter()
    yield
    seconds[part] = time.perf_counter() - start
