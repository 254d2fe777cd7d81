"""The network of a query and a selection, in each of its forms: which nodes, which links, and what they weigh."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cube2net.arrays import ragged_from_pairs, row_of_entries, take_rows
from cube2net.errors import ParameterError
from cube2net.network.links import look_up_links
from cube2net.records import Cube, Form, Network, Query, Selection
from cube2net.records.ragged import Array

HEAVIEST = float(np.finfo(np.float32).max)


def assemble(
    cube: Cube, query: Query, selection: Selection, form: Form | str = "objects", *, nearest: Array | None = None
) -> Network:
    """Return the network of a query and a selection in a form; the form ``woven`` needs the ``nearest`` objects.

    A form with cells as nodes needs a selection that has cells, unless it brings nothing at all.
    """
    from cube2net.kernels.tables import look

    form = Form(form) if isinstance(form, str) else form
    others = np.setdiff1d(selection.objects, query.objects, assume_unique=True)
    if form.has_cells and len(others) and not len(selection.cells):
        raise ParameterError(
            f"the form {form.kind!r} needs a method that chooses cells, and this one brought {len(others):,} objects "
            "without any: choose the form 'objects', or a method such as 'greedy'"
        )
    if (form.kind == "woven") != (nearest is not None):
        raise ParameterError("the nearest objects are for the form 'woven', which needs them")
    if nearest is not None:
        others = np.setdiff1d(nearest, query.objects)
    objects = np.concatenate([query.objects, others[:0] if form.kind == "cells" else others])
    (source, target, weight), keys, place = look_up_links(cube.links, objects)
    members = take_rows(cube.cells.members, selection.cells)
    held = look(keys, place, members.indices) - 1
    there = held >= 0
    ranks, held = row_of_entries(members)[there], held[there]
    shares = _shares(cube, selection.cells, there) if form.has_cells else np.ones(len(held))
    if form.keep == "linked":
        linked = np.arange(len(objects)) < len(query)
        linked[source] = linked[target] = True
        position = np.cumsum(linked, dtype=np.int32) - 1
        objects, source, target = objects[linked], position[source], position[target]
        stays = linked[held]
        ranks, held, shares = ranks[stays], position[held[stays]], shares[stays]
    into = np.concatenate([target[source < len(query)], source[target < len(query)]])
    if form.has_cells:
        joined = _memberships(form.membership, held, ranks, shares, (source, target, weight), len(query), len(objects))
        outside = (source >= len(query)).astype(np.int64) + (target >= len(query))
        if form.kind == "woven":
            weight = weight * form.near_weight ** outside.astype(np.float64)
        source = np.concatenate([source, held])
        target = np.concatenate([target, len(objects) + ranks])
        weight = np.minimum(np.concatenate([weight, joined]), HEAVIEST)
    return Network(
        query=query,
        selection=selection,
        objects=objects,
        cells=selection.cells if form.has_cells else selection.cells[:0],
        source=source.astype(np.int32, copy=False),
        target=target.astype(np.int32, copy=False),
        weight=weight.astype(np.float32, copy=False),
        brought_by=ragged_from_pairs(held, ranks, len(objects)),
        query_links=np.bincount(into, minlength=len(objects)).astype(np.int32),
        names=cube.objects,
        dimensions=tuple(dimension.name for dimension in cube.dimensions),
        labels=tuple(cube.cell(int(number)) for number in selection.cells),
        form=form.kind,
    )


def first_cells(cube: Cube, query: Query, selection: Selection, nodes: int, empty_value: float) -> Selection:
    """Return as many of the first cells of a selection as fit, with their objects and the query, into some nodes."""
    members = take_rows(cube.cells.members, selection.cells)
    _, first = np.unique(np.concatenate([query.objects, members.indices]), return_index=True)
    rank = np.searchsorted(members.indptr, np.maximum(first - len(query), 0), side="right")
    rank[first < len(query)] = 0
    sizes = np.cumsum(np.bincount(rank, minlength=len(selection.cells) + 1)) + np.arange(len(selection.cells) + 1)
    count = max(0, int(np.searchsorted(sizes, nodes, side="right")) - 1)
    if count == len(selection.cells):
        return selection
    return replace(
        selection,
        objects=np.unique(members.indices[: members.indptr[count]]),
        value=float(selection.values[count - 1]) if count else empty_value,
        cells=selection.cells[:count],
        values=selection.values[:count],
        bound=None,
    )


def _shares(cube: Cube, cells: Array, there: Array) -> Array:
    """Return what each membership is worth beside the others of its object, for the members that are there.

    Cells of the cube's own levels are worth the same. A cell of higher levels is worth as many of the cells below it
    as hold the object, times log(objects / objects in the cell): one that holds nearly all says nearly nothing.
    """
    members = cube.cells.members
    if cube.cells.counts is None:
        return np.ones(int(there.sum()))
    counts = take_rows(type(members)(members.indptr, cube.cells.counts), cells).indices
    rarity = np.log1p(len(cube.objects) / members.sizes[cells])
    shares: Array = (counts * np.repeat(rarity, members.sizes[cells]))[there]
    return shares


def _memberships(
    kind: str, held: Array, ranks: Array, shares: Array, links: tuple[Array, Array, Array], query: int, objects: int
) -> Array:
    """Return the weight of every membership link, between an object (``held``) and a cell (``ranks``).

    ``links`` are those among ``objects``, the first ``query`` of which are the query's. Let s be the median, over the
    objects of the query that have a link within it, of the weight of all these links together. The memberships of an
    object weigh together s / 2 (``even``), or s · 2 / (2 + its number of links) (``need``): s without any link, half of
    it with two, little with many. They are shared out in proportion to ``shares``.
    """
    if kind == "unit" or not len(held):
        return np.ones(len(held))
    if kind == "share":
        return np.asarray(1.0 / np.bincount(ranks)[ranks])
    source, target, weight = links
    own = (source < query) & (target < query)
    typical = _median_strength(source[own], target[own], weight[own])
    if kind == "even":
        whole = np.full(objects, typical / 2)
    else:
        degree = np.bincount(np.concatenate([source, target]), minlength=objects)
        whole = typical * 2 / (2 + degree)
    return np.asarray(whole[held] * shares / np.bincount(held, weights=shares)[held])


def _median_strength(source: Array, target: Array, weight: Array) -> float:
    """Return the median weight of all links of a node together, over the nodes that have one; 2 where none has."""
    if not len(source):
        return 2.0
    strengths = np.bincount(np.concatenate([source, target]), weights=np.tile(weight, 2))
    strong = strengths[strengths > 0]
    return float(np.median(strong)) if len(strong) else 2.0
