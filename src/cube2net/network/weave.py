"""The network of a query and a selection, in each of its forms: which nodes, which links, and what they weigh."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import ragged_from_pairs, row_of_entries, take_rows
from cube2net.errors import ParameterError
from cube2net.network.agreement import trust
from cube2net.network.links import look_up_links
from cube2net.records import Cube, Form, Network, Query, Selection
from cube2net.records.link_weights import HEAVIEST

# An object with so many links needs half as much of others as one without any.
SILENT = 2.0


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
    query_links = np.bincount(into, minlength=len(objects))
    trusted = None
    if form.has_cells:
        woven = Weaving(source, target, weight, held, ranks, shares, query_links, len(query))
        trusted = form.trust or (woven.trust() if len(held) else 1.0)
        factors = woven.near_factors(form.near_weight, trusted) if form.kind == "woven" else np.ones(len(weight))
        joined = woven.memberships(form.membership, factors, trusted)
        source = np.concatenate([source, held])
        target = np.concatenate([target, len(objects) + ranks])
        weight = np.minimum(np.concatenate([weight * factors, joined]), HEAVIEST)
    return Network(
        query=query,
        selection=selection,
        objects=objects,
        cells=selection.cells if form.has_cells else selection.cells[:0],
        source=source.astype(np.int32, copy=False),
        target=target.astype(np.int32, copy=False),
        weight=weight.astype(np.float32, copy=False),
        brought_by=ragged_from_pairs(held, ranks, len(objects)),
        query_links=query_links.astype(np.int32),
        names=cube.objects,
        dimensions=tuple(dimension.name for dimension in cube.dimensions),
        labels=tuple(cube.cell(int(number)) for number in selection.cells),
        form=form.kind,
        settings={"trust": trusted if len(held) else None},
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
    as hold the object, times log(1 + objects / objects in the cell): one that holds nearly all says little.
    """
    members = cube.cells.members
    if cube.cells.counts is None:
        return np.ones(int(there.sum()))
    counts = take_rows(type(members)(members.indptr, cube.cells.counts), cells).indices
    rarity = np.log1p(len(cube.objects) / members.sizes[cells])
    shares: Array = (counts * np.repeat(rarity, members.sizes[cells]))[there]
    return shares


@dataclass(frozen=True, eq=False)
class Weaving:
    """Links and memberships that are to be weighed against each other.

    ``source``, ``target`` and ``weight`` are links between positions of objects, the first ``query`` of which are the
    query's; object ``held[i]`` is in cell ``ranks[i]``, which counts ``shares[i]`` among the memberships of the object;
    ``query_links`` says how many links of every object lead into the query.

    An object *needs* others the less the more links d into the query it has: 2 / (2 + d) is 1 without any, a half with
    two, little with many. Where cells are trusted, near objects speak where links of the query are silent, and cells
    where links are.
    """

    source: Array
    target: Array
    weight: Array
    held: Array
    ranks: Array
    shares: Array
    query_links: Array
    query: int

    def trust(self) -> float:
        """Return how much cells are trusted, by how far they agree with links."""
        cells = int(self.ranks.max(initial=-1)) + 1
        sizes = {"query": self.query, "objects": len(self.query_links), "cells": cells}
        return trust((self.source, self.target), self.held, self.ranks, **sizes)

    def near_factors(self, near_weight: float | None, trusted: float) -> Array:
        """Return what every link is multiplied by: 1 inside the query, and less for each end outside it.

        A link between the query's object q and a near one weighs need(q)ᵗ times as much, and one between two near
        objects need(x)ᵗ · need(y)ᵗ times, at the trust t. A number as ``near_weight`` stands for all of these.
        """
        ends = (self.source, self.target)
        if near_weight is not None:
            outside = sum((end >= self.query).astype(np.float64) for end in ends)
            return np.asarray(near_weight**outside)
        need = (SILENT / (SILENT + self.query_links)) ** trusted
        own, other = (end < self.query for end in ends)
        return np.asarray(
            np.where(other & ~own, need[self.target], 1.0)
            * np.where(own & ~other, need[self.source], 1.0)
            * np.where(~own & ~other, need[self.source] * need[self.target], 1.0)
        )

    def memberships(self, kind: str, factors: Array, trusted: float) -> Array:
        """Return the weight of every membership link.

        Let s be the median, over the objects of the query that have a link within it, of the weight of all these links
        together. The memberships of an object weigh together s / 2 (``even``), or t · s · 2 / (2 + d) (``need``), where
        t is the trust and d the object's number of links, each counted by its factor.
        """
        if kind == "unit" or not len(self.held):
            return np.ones(len(self.held))
        if kind == "share":
            return np.asarray(1.0 / np.bincount(self.ranks)[self.ranks])
        own = (self.source < self.query) & (self.target < self.query)
        typical = _median_strength(self.source[own], self.target[own], self.weight[own])
        ends = np.concatenate([self.source, self.target])
        degree = np.bincount(ends, weights=np.tile(factors, 2), minlength=len(self.query_links))
        whole = trusted * typical * SILENT / (SILENT + degree) if kind == "need" else np.full(len(degree), typical / 2)
        return np.asarray(whole[self.held] * self.shares / np.bincount(self.held, weights=self.shares)[self.held])


def _median_strength(source: Array, target: Array, weight: Array) -> float:
    """Return the median weight of all links of a node together, over the nodes that have one; 2 where none has."""
    if not len(source):
        return 2.0
    strengths = np.bincount(np.concatenate([source, target]), weights=np.tile(weight, 2))
    strong = strengths[strengths > 0]
    return float(np.median(strong)) if len(strong) else 2.0
