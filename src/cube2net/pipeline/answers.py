"""From a cube and a query to a network: the method chooses, the links follow."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from cube2net import network as networks
from cube2net.aside import check_path
from cube2net.embed import VECTORS
from cube2net.errors import ParameterError, QueryError, unknown, whole_number
from cube2net.interfaces import LinkObjective, Method, NeedsVectors, Progress, TellsProgress
from cube2net.network.links import KEEPS
from cube2net.pipeline.cubes import embed_cells
from cube2net.pipeline.registries import METHODS, made, name_of
from cube2net.pipeline.worth import Valued, objective_of, weighed
from cube2net.records import Budget, Cube, Judge, Network, Query, Selection, Worth
from cube2net.records.network import FORMS
from cube2net.select import OBJECTIVES
from cube2net.sources.queryfile import read_query_file


def missing_names(cube: Cube, path: str | Path) -> list[str]:
    """Return the names of a query file that no object of the cube bears, or that several do."""
    found = cube.objects.find(read_query_file(Path(path))[0])
    return [*found.missing, *found.ambiguous]


def read_query(cube: Cube, path: str | Path, *, skip_missing: bool = False) -> Query:
    """Return the query that a file names: a name a line, or a table ``object[,label]``."""
    names, labels = read_query_file(Path(path))
    return cube.query(names, labels, skip_missing=skip_missing)


def construct(
    cube: Cube,
    query: Query | Iterable[str] | Iterable[int] | Mapping[str, str],
    method: str | Method = "greedy",
    m: int = 20,
    objective: Valued = "jaccard",
    form: str = "objects",
    seed: int = 0,
    *,
    max_nodes: int | None = None,
    max_links: int | None = None,
    prefix: str = "all",
    keep: str | None = None,
    bound: bool = False,
    progress: Progress | None = None,
) -> Network:
    """Return the network of a query: what the method brings, and all links among it.

    ``method`` and ``objective`` are names or objects of your own; an objective may also be a function
    ``f(objects, query)`` of the row numbers brought. ``form`` is ``"objects"`` (the query and the objects brought),
    ``"cells"`` (the query and the chosen cells as nodes) or ``"both"``. ``max_nodes`` and ``max_links`` limit the
    form ``"objects"``; with cells as nodes ``m`` is the limit. ``keep="linked"`` leaves out objects brought that have
    no link to the network, ``"all"`` keeps them; without a word it is ``"linked"`` where the objective sees links.
    ``bound=True`` also finds an upper bound on the value of any choice of m cells, where one can be found. A method
    that takes long tells its ``progress``.

    Where no cell can help, the network is the query alone, and ``network.selection.note`` says why. The first
    answer of a process also pays for loading the compiled kernels.
    """
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    if keep is not None and keep not in KEEPS:
        raise unknown("keep", keep, KEEPS)
    if form != "objects" and (max_nodes is not None or max_links is not None):
        raise ParameterError(
            f"max_nodes and max_links limit the form 'objects', got the form {form!r}: limit m instead"
        )
    asked = query if isinstance(query, Query) else cube.query(query)
    if int(asked.objects[-1]) >= len(cube.objects):
        raise QueryError(f"the query was made for another cube: it names row {int(asked.objects[-1]):,}")
    chooser: Method = made(method, METHODS, Method, "method", {})
    worth = objective_of(objective)
    whole_number("seed", seed, 0, None)
    budget = Budget(m=m, max_nodes=max_nodes, max_links=max_links, prefix=prefix)
    kept = keep or ("linked" if isinstance(worth, LinkObjective) else "all")
    for kernel in ("coverage", "induce", *(["push"] if isinstance(worth, LinkObjective) else [])):
        import_module(f"cube2net.kernels.{kernel}")
    seconds: dict[str, float] = {}
    with _timed(seconds, "weigh"):
        weights = weighed(cube, asked, worth)
    with _timed(seconds, "vectors"):
        ready = _with_vectors(cube, chooser, seed)
    if ready is chooser:
        del seconds["vectors"]
    if progress is not None and isinstance(ready, TellsProgress):
        ready = ready.with_progress(progress)
    with _timed(seconds, "select"):
        selection = ready.select(cube, asked, weights=weights, budget=budget, seed=seed)
    seconds["select"] -= selection.train_seconds
    seconds["train"] = selection.train_seconds
    if bound:
        with _timed(seconds, "bound"):
            selection = _bounded(cube, asked, weights, budget, selection)
    with _timed(seconds, "links"):
        network = networks.assemble(cube, asked, selection, form, keep=kept)
    chosen = selection.cells
    return replace(
        network,
        settings={
            "method": name_of(chooser, METHODS),
            "parameters": repr(chooser),
            "objective": name_of(worth, OBJECTIVES),
            "m": m,
            "keep": kept,
            "seed": seed,
            "empty_value": weights.value(np.empty(0, dtype=np.int64)) if len(chosen) else selection.value,
            "cell_objects": cube.cells.members.sizes[chosen].tolist(),
        },
        seconds=seconds,
    )


def check_outputs(network: str | Path | None, picture: str | Path | None) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        check_path(Path(network), networks.EXPORTS, "network file")
    if picture is not None:
        check_path(Path(picture), networks.PICTURES, "picture")


def write_network(network: Network, path: str | Path) -> list[Path]:
    """Write a network in the format that the path's suffix names, and return the files written."""
    return networks.write(network, Path(path))


def to_scipy(network: Network) -> Any:
    """Return the symmetric adjacency of a network as a SciPy matrix."""
    return networks.to_scipy(network)


def draw_network(network: Network, path: str | Path, *, title: str | None = None, seed: int = 0) -> None:
    """Draw a network to a PNG, SVG or PDF file."""
    networks.draw(network, Path(path), title=title, seed=seed)


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    selection, settings = network.selection, network.settings
    gains = selection.gains(settings["empty_value"]).tolist()
    of_query = network.brought_by.indices[: network.brought_by.indptr[len(network.query)]]
    in_query = np.bincount(of_query, minlength=len(selection.cells)).tolist()
    brought = np.union1d(network.query.objects, selection.objects)
    return {
        "method": settings["method"],
        "m": settings["m"],
        "objective": settings["objective"],
        "form": network.form,
        "keep": settings["keep"],
        "value": selection.value if len(selection.cells) else None,
        "bound": selection.bound,
        "gap": selection.gap,
        "proven": None if selection.bound is None else selection.proven,
        "note": selection.note or None,
        "cells": [
            {
                "labels": dict(zip(network.dimensions, labels, strict=True)),
                "gain": gain,
                "objects": size,
                "query_objects": shared,
            }
            for labels, gain, size, shared in zip(
                network.labels, gains, settings["cell_objects"], in_query, strict=True
            )
        ],
        "nodes": len(network),
        "links": len(network.source),
        "left_out": 0 if network.form == "cells" else len(brought) - len(network.objects),
        "query_found": len(network.query),
        "query_missing": len(network.query.missing),
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }


@dataclass(frozen=True)
class Compared:
    """One method beside others: its network, or the sentence that says why there is none."""

    method: str
    network: Network | None
    reason: str = ""


def compare_methods(
    cube: Cube, query: Query, methods: Mapping[str, str | Method] | None = None, **options: Any
) -> list[Compared]:
    """Return the network of every method for one query; a method that cannot answer says why."""
    compared = []
    for name, method in (methods or {name: name for name in METHODS}).items():
        try:
            compared.append(Compared(name, construct(cube, query, method, **options)))
        except (QueryError, ParameterError) as error:
            compared.append(Compared(name, None, str(error)))
    return compared


def _with_vectors(cube: Cube, method: Method, seed: int) -> Method:
    """Return the method with the cell vectors that it names, or the method itself where it names none."""
    if not isinstance(method, NeedsVectors) or not isinstance(method.vectors, str):
        return method
    kinds = list(VECTORS) if method.vectors == "both" else [method.vectors]
    return method.with_vectors(*(embed_cells(cube, kind, seed=seed) for kind in kinds))


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
def _timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[part] = time.perf_counter() - start
