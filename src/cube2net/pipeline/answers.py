"""From a cube and a query to a network: the method chooses, the links follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net import network as networks
from cube2net.aside import check_path
from cube2net.errors import ParameterError, QueryError, some, unknown, whole_number
from cube2net.network.links import KEEPS, MEMBERSHIPS
from cube2net.pipeline.choosing import Chosen, timed
from cube2net.records import Cube, Network, Query
from cube2net.records.network import FORMS
from cube2net.records.ragged import Array
from cube2net.sources.queryfile import read_pairs_file, read_query_file


def missing_names(cube: Cube, path: str | Path) -> list[str]:
    """Return the names of a query file that no object of the cube bears, or that several do."""
    found = cube.objects.find(read_query_file(Path(path))[0])
    return [*found.missing, *found.ambiguous]


def read_query(cube: Cube, path: str | Path, *, skip_missing: bool = False) -> Query:
    """Return the query that a file names: a name a line, or a table ``object[,label]``."""
    names, labels = read_query_file(Path(path))
    return cube.query(names, labels, skip_missing=skip_missing)


def read_links(cube: Cube, path: str | Path) -> tuple[Array, Array]:
    """Return the links that a table names with its columns ``source`` and ``target``: the rows of both ends."""
    pairs = read_pairs_file(Path(path))
    found = cube.objects.find([name for pair in pairs for name in pair])
    lost = [*found.missing, *found.ambiguous]
    if lost:
        raise QueryError(f"{Path(path).name} names {len(lost):,} objects that are not in the cube: {some(lost)}")
    rows = found.rows.reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def check_form(form: str, keep: str | None = None, membership: str | None = None, near: int | None = None) -> None:
    """Raise unless a network can have such a form."""
    for what, got, allowed in (("form", form, FORMS), ("keep", keep, KEEPS), ("membership", membership, MEMBERSHIPS)):
        if got is not None and got not in allowed:
            raise unknown(what, got, allowed)
    if membership is not None and form == "objects":
        raise ParameterError("membership is what links to cells weigh, and the form 'objects' has no cells as nodes")
    whole_number("near", near, 0, or_none=True, what="objects, or None")
    if near is not None and form != "woven":
        raise ParameterError(f"near is a number of objects of the form 'woven', got the form {form!r}")


def network_of(
    cube: Cube,
    chosen: Chosen,
    form: str = "objects",
    *,
    keep: str | None = None,
    membership: str | None = None,
    near: int | None = None,
) -> Network:
    """Return the network of what a method chose, in one of its forms; see :func:`construct`."""
    selection = chosen.selection
    kept = keep or ("linked" if chosen.sees_links else "all")
    weighed = membership or ("even" if form == "woven" else "unit")
    seconds = dict(chosen.seconds)
    with timed(seconds, "links"):
        nearest = None
        if form == "woven":
            count = len(selection.cells) if near is None or not len(selection.cells) else near
            nearest = networks.nearest(cube.links, chosen.query, count)
        network = networks.assemble(cube, chosen.query, selection, form, membership=weighed, keep=kept, nearest=nearest)
    return replace(
        network,
        settings={
            "method": chosen.method,
            "parameters": chosen.parameters,
            "objective": chosen.objective,
            "m": chosen.budget.m,
            "keep": kept,
            "membership": weighed if form != "objects" else None,
            "seed": chosen.seed,
            "empty_value": chosen.empty_value,
            "cell_objects": [len(cube.cells.members[cell]) for cell in selection.cells.tolist()],
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
        "membership": settings["membership"],
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
        "chosen": settings.get("chosen"),
        "tried": settings.get("tried"),
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }
