"""From a cube and a query to a network: the method chooses, the links follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net import network as networks
from cube2net.array_types import Array
from cube2net.errors import QueryError, some
from cube2net.escaping import unguarded
from cube2net.pipeline.choosing import Chosen, timed
from cube2net.pipeline.planning import Plan
from cube2net.pipeline.registries import METHODS, name_of
from cube2net.progress import Progress, silent
from cube2net.records import Cube, Form, Network, Query, Selection
from cube2net.select import OBJECTIVES
from cube2net.sources import read_pairs_file, read_query_file

# A network that brings more objects than this, and more than so many for each of the query, is announced.
MANY, MANY_EACH = 1_000, 20


def missing_names(cube: Cube, path: str | Path) -> list[str]:
    """Return the names of a query file that no object of the cube bears, or that several do."""
    found = cube.objects.find(_known(cube, read_query_file(Path(path))[0]))
    return [*found.missing, *found.ambiguous]


def read_query(cube: Cube, path: str | Path, *, skip_missing: bool = False) -> Query:
    """Return the query that a file names: a name a line, or a table ``object[,label]``."""
    names, labels = read_query_file(Path(path))
    return cube.query(_known(cube, names), labels, skip_missing=skip_missing)


def _known(cube: Cube, names: list[str]) -> list[str]:
    """Return names of a file as the cube has them: where a spreadsheet's guard is in front of one, maybe without."""
    bare = {name: unguarded(name) for name in names if unguarded(name) != name}
    unknown = set(cube.objects.find(list(bare)).missing) if bare else set()
    return [bare[name] if name in unknown else name for name in names]


def read_links(cube: Cube, path: str | Path) -> tuple[Array, Array]:
    """Return the links that a table names with its columns ``source`` and ``target``: the rows of both ends."""
    pairs = read_pairs_file(Path(path))
    found = cube.objects.find(_known(cube, [name for pair in pairs for name in pair]))
    lost = [*found.missing, *found.ambiguous]
    if lost:
        raise QueryError(f"{Path(path).name} names {len(lost):,} objects that are not in the cube: {some(lost)}")
    rows = found.rows.reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def network_of(plan: Plan, chosen: Chosen, *, default: bool = False, progress: Progress = silent) -> Network:
    """Return the network of what a method chose, in the form of its plan.

    ``default`` says that nobody asked for that form: what a method of one's own brings without cells is then shown as
    objects. A network that will be large is announced before it is made.
    """
    cube, query, form, selection = plan.cube, plan.query, plan.form, chosen.selection
    if default and brings_objects(selection):
        form = replace(form, kind="objects")
    seconds = dict(chosen.seconds)
    with timed(seconds, "links"):
        if form.kind == "both" and plan.max_nodes is not None:
            selection = networks.first_cells(cube, query, selection, plan.max_nodes, chosen.empty_value)
        large = _announced(plan, selection, form)
        if large:
            progress(large, 1, 1)
        nearest = None
        if form.kind == "woven":
            nearest = networks.nearest(cube.links, query, _room_for_near(plan, len(selection.cells)))
        network = networks.assemble(cube, query, selection, form, nearest=nearest)
    note = _too_small(plan) or "; ".join(filter(None, (selection.note, large)))
    return replace(
        network,
        selection=replace(selection, note=note),
        settings={
            "method": name_of(plan.method, METHODS),
            "parameters": repr(plan.method),
            "objective": name_of(plan.objective, OBJECTIVES),
            "m": None if plan.sized else plan.budget.m,
            "levels": plan.levels if isinstance(plan.levels, str) else list(plan.levels),
            "near": 0 if nearest is None else len(nearest),
            "near_weight": form.near_weight if form.kind == "woven" else None,
            "keep": form.keep,
            "membership": form.membership if form.has_cells else None,
            "trust": network.settings["trust"],
            "seed": chosen.seed,
            "empty_value": chosen.empty_value,
            "cell_objects": [len(cube.cells.members[cell]) for cell in selection.cells.tolist()],
        },
        seconds=seconds,
    )


def brings_objects(selection: Selection) -> bool:
    """Return whether a selection has objects that no cell of it brought."""
    return not len(selection.cells) and len(selection.objects) > 0


def _room_for_near(plan: Plan, cells: int) -> int:
    """Return how many near objects there are to be: as many as wanted, or as a limit on nodes leaves room for."""
    wanted = len(plan.query) if plan.form.near is None else plan.form.near
    return wanted if plan.max_nodes is None else max(0, min(wanted, plan.max_nodes - len(plan.query) - cells))


def _announced(plan: Plan, selection: Selection, form: Form) -> str:
    """Return a sentence that says how large a network will be, where that is much more than the query asks for."""
    query = plan.query
    near = _room_for_near(plan, len(selection.cells)) if form.kind == "woven" else 0
    brought = len(selection.objects) if form.has_brought else min(near, len(plan.cube.objects) - len(query))
    if brought <= max(MANY, MANY_EACH * len(query)):
        return ""
    cells = f"the {len(selection.cells):,} cells hold" if len(selection.cells) else "the method brings"
    smaller = "m, max_nodes or the form 'woven' makes" if len(selection.cells) else "max_nodes makes"
    if form.kind == "woven":
        cells, smaller = "near asks for up to", "a smaller near makes"
    return f"{cells} {brought:,} objects for a query of {len(query):,}: {smaller} the network smaller"


def _too_small(plan: Plan) -> str:
    """Return a sentence where a limit on nodes is below the query alone, which always stays whole."""
    if plan.max_nodes is None or plan.max_nodes >= len(plan.query):
        return ""
    return (
        f"the query alone has {len(plan.query):,} nodes, more than max_nodes {plan.max_nodes:,}: nothing is added to it"
    )


def check_outputs(network: str | Path | None, picture: str | Path | None, *, spreadsheet_safe: bool = False) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        networks.check_network_path(Path(network), spreadsheet_safe=spreadsheet_safe)
    if picture is not None:
        networks.check_picture_path(Path(picture))


def write_network(network: Network, path: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Write a network in the format that the path's suffix names, and return the files written.

    ``spreadsheet_safe`` is for ``.csv``: names that spreadsheets would run as formulas, ids among them, get an
    apostrophe in front.
    """
    return networks.write(network, Path(path), spreadsheet_safe=spreadsheet_safe)


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
    held = network.brought_by.sizes[: len(network.query)] > 0
    joined = np.zeros(len(network), dtype=bool)
    joined[network.source] = joined[network.target] = True
    return {
        "method": settings["method"],
        "m": settings["m"],
        "objective": settings["objective"],
        "form": network.form,
        "levels": settings["levels"],
        "near": settings["near"],
        "near_weight": settings["near_weight"],
        "keep": settings["keep"],
        "membership": settings["membership"],
        "trust": settings["trust"],
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
        "left_out": 0 if network.form in ("cells", "woven") else len(brought) - len(network.objects),
        "query_found": len(network.query),
        "query_missing": len(network.query.missing),
        "query_held": int(held.sum()),
        "query_loose": int((~joined[: len(network.query)]).sum()),
        "chosen": settings.get("chosen"),
        "tried": settings.get("tried"),
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }
