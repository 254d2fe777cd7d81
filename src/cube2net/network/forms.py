"""The network of a query and a selection, in each of its forms: which nodes, which links, and what they weigh.

How much cells weigh against links is told by how far the two agree: whether objects that are near by links are in the
same cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import ragged_from_pairs, row_of_entries, take_rows
from cube2net.compiling import load
from cube2net.errors import ParameterError
from cube2net.network.links import in_already, look_up, look_up_links, may_come, pinned
from cube2net.network.node_columns import carried
from cube2net.records import Cube, Form, Network, Query, Selection
from cube2net.records.link_weights import HEAVIEST
from cube2net.records.scope import OPEN, Scope

# An object with so many links needs half as much of others as one without any.
SILENT = 2.0
# So many objects of a query are looked at: their pairs are 180,000.
LOOKED_AT = 600
# Matrices of no more rows and columns are kept whole: they are made and multiplied before sparse ones are loaded.
SMALL = 1024
# Cells are not trusted where objects two steps apart share them as often as this, and fully where as often as that.
NONE, FULL = 1.5, 2.5
# But never less than this; and before anything is seen they are trusted, as if so many pairs had said so.
LEAST, BELIEVED = 0.1, 30
# A network that brings more objects than this, and more than so many for each of the query, is announced.
MANY, MANY_EACH = 1_000, 20


def form_of(kind: str, **given: Any) -> Form:
    """Return a form; what was given and means nothing in it is refused."""
    form = Form(kind, **{name: value for name, value in given.items() if value is not None})
    for name in ("membership", "trust"):
        if given.get(name) is not None and not form.has_cells:
            raise ParameterError(f"{name} is about links to cells, and the form 'objects' has no cells as nodes")
    if given.get("trust") is not None and form.kind != "woven" and form.membership != "need":
        raise ParameterError(f"trust weighs memberships by need, got the membership {form.membership!r}")
    for name in ("near", "near_weight"):
        if given.get(name) is not None and kind != "woven":
            raise ParameterError(f"{name} is about the near objects of the form 'woven', got the form {kind!r}")
    return form


def brings_objects(selection: Selection, scope: Scope = OPEN) -> bool:
    """Return whether a selection has objects that no cell of it brought and nobody pinned."""
    if len(selection.cells) or not len(selection.objects):
        return False
    return not len(scope.objects) or len(np.setdiff1d(selection.objects, scope.objects)) > 0


def room_for_near(query: Query, form: Form, cells: int, max_nodes: int | None, liked: int = 0) -> int:
    """Return how many near objects there are to be: as many as wanted, or as a limit on nodes leaves room for.

    Objects that are pinned are among them. Where nobody says how many, it is one for each object of the query and for
    each of those ``liked`` besides.
    """
    if form.kind != "woven":
        return 0
    wanted = len(query) + liked if form.near is None else form.near
    return wanted if max_nodes is None else max(0, min(wanted, max_nodes - len(query) - cells))


def said_of_size(
    cube: Cube, query: Query, selection: Selection, form: Form, max_nodes: int | None, scope: Scope = OPEN
) -> str:
    """Return a sentence that says how large a network will be, where that is much more than the query asks for."""
    near = room_for_near(query, form, len(selection.cells), max_nodes)
    others = len(cube.objects) - len(query) if scope.barred is None else int((~scope.barred).sum())
    brought = len(may_come(selection.objects, scope)) if form.has_brought else min(near, others)
    if brought <= max(MANY, MANY_EACH * len(query)):
        return ""
    cells = f"the {len(selection.cells):,} cells hold" if len(selection.cells) else "the method brings"
    smaller = "m, max_nodes or the form 'woven' makes" if len(selection.cells) else "max_nodes makes"
    if form.kind == "woven":
        cells, smaller = "near asks for up to", "a smaller near makes"
    return f"{cells} {brought:,} objects for a query of {len(query):,}: {smaller} the network smaller"


def expected_nodes(query: Query, selection: Selection, form: Form, room: int, scope: Scope = OPEN) -> tuple[int, bool]:
    """Return how many nodes a network will have, and whether these are all: else there may be fewer.

    ``room`` is how many near objects there are to be.
    """
    pins = len(pinned(query, scope))
    known = len(query) + pins + (len(selection.cells) if form.has_cells else 0)
    if form.kind == "woven":
        return known - pins + max(pins, room), False
    if not form.has_brought:
        return known, True
    others = may_come(np.setdiff1d(selection.objects, in_already(query, scope), assume_unique=True), scope)
    return known + len(others), form.keep != "linked"


def said_of_limit(query: Query, max_nodes: int | None) -> str:
    """Return a sentence where a limit on nodes is below the query alone, which always stays whole."""
    if max_nodes is None or max_nodes >= len(query):
        return ""
    return f"the query alone has {len(query):,} nodes, more than max_nodes {max_nodes:,}: nothing is added to it"


def cell_sizes(cube: Cube, cells: Array, scope: Scope = OPEN) -> list[int]:
    """Return how many objects of each of some cells may come into a network."""
    if scope.barred is None:
        return [len(cube.cells.members[cell]) for cell in cells.tolist()]
    members = take_rows(cube.cells.members, cells)
    allowed = row_of_entries(members)[~scope.barred[members.indices]]
    return [int(size) for size in np.bincount(allowed, minlength=len(cells))]


def said_of_scope(query: Query, scope: Scope, by: Sequence[str] = ("where", "between", "kind", "bans")) -> str:
    """Return a sentence where nobody may be brought to a query; ``by`` are the words that say so."""
    if scope.barred is None or len(pinned(query, scope)):
        return ""
    if int((~scope.barred).sum()) > int((~scope.barred[query.objects]).sum()):
        return ""
    words = " and ".join(filter(None, [", ".join(by[:-1]), *by[-1:]]))
    return f"no object is brought: none outside the query is allowed by {words}"


def assemble(
    cube: Cube,
    query: Query,
    selection: Selection,
    form: Form | str = "objects",
    *,
    nearest: Array | None = None,
    scope: Scope = OPEN,
) -> Network:
    """Return the network of a query and a selection in a form; the form ``woven`` needs the ``nearest`` objects.

    A form with cells as nodes needs a selection that has cells, unless it brings nothing at all. The objects that
    ``scope`` has pinned are nodes in every form, linked or not, and those that it bars are none.
    """
    form = Form(form) if isinstance(form, str) else form
    pins = pinned(query, scope)
    others = may_come(np.setdiff1d(selection.objects, in_already(query, scope), assume_unique=True), scope)
    if form.has_cells and len(others) and not len(selection.cells):
        raise ParameterError(
            f"the form {form.kind!r} needs a method that chooses cells, and this one brought {len(others):,} objects "
            "without any: choose the form 'objects', or a method such as 'greedy'"
        )
    if (form.kind == "woven") != (nearest is not None):
        raise ParameterError("the nearest objects are for the form 'woven', which needs them")
    if nearest is not None:
        others = may_come(np.setdiff1d(nearest, in_already(query, scope)), scope)
    others = others[:0] if form.kind == "cells" else others
    objects = np.concatenate([query.objects, np.sort(np.concatenate([pins, others])) if len(pins) else others])
    (source, target, weight), keys, place = look_up_links(cube.links, objects)
    members = take_rows(cube.cells.members, selection.cells)
    held = look_up(keys, place, members.indices) - 1
    there = held >= 0
    ranks, held = row_of_entries(members)[there], held[there]
    shares = _shares(cube, selection.cells, there) if form.has_cells else np.ones(len(held))
    if form.keep == "linked":
        linked = np.arange(len(objects)) < len(query)
        linked[source] = linked[target] = True
        linked[np.isin(objects, pins)] = True
        position = np.cumsum(linked, dtype=np.int32) - 1
        objects, source, target = objects[linked], position[source], position[target]
        stays = linked[held]
        ranks, held, shares = ranks[stays], position[held[stays]], shares[stays]
    into = np.concatenate([target[source < len(query)], source[target < len(query)]])
    query_links = np.bincount(into, minlength=len(objects))
    trusted = given = None
    if form.has_cells:
        woven = Weaving(source, target, weight, held, ranks, shares, query_links, len(query))
        trusted = form.trust or (woven.trust() if len(held) else 1.0)
        factors = woven.near_factors(form.near_weight, trusted) if form.kind == "woven" else np.ones(len(weight))
        given = weight if form.kind == "woven" else None
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
        settings={"trust": trusted if len(held) else None, "directed": bool(cube.settings.get("directed"))},
        carried=carried(cube),
        given=given,
    )


def first_cells(
    cube: Cube, query: Query, selection: Selection, nodes: int, empty_value: float, scope: Scope = OPEN
) -> Selection:
    """Return as many of the first cells of a selection as fit, with their objects and the query, into some nodes.

    Objects that are pinned count as the query's, and those that are barred not at all; pinned cells stay.
    """
    members = take_rows(cube.cells.members, selection.cells)
    inside = in_already(query, scope)
    found, first = np.unique(np.concatenate([inside, members.indices]), return_index=True)
    rank = np.searchsorted(members.indptr, np.maximum(first - len(inside), 0), side="right")
    rank[first < len(inside)] = 0
    if scope.barred is not None:
        rank = rank[(first < len(inside)) | ~scope.barred[found]]
    sizes = np.cumsum(np.bincount(rank, minlength=len(selection.cells) + 1)) + np.arange(len(selection.cells) + 1)
    count = min(max(len(scope.cells), int(np.searchsorted(sizes, nodes, side="right")) - 1), len(selection.cells))
    if count == len(selection.cells):
        return selection
    return replace(
        selection,
        objects=may_come(np.unique(members.indices[: members.indptr[count]]), scope),
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


def trust(links: tuple[Array, Array], held: Array, ranks: Array, *, query: int, objects: int, cells: int) -> float:
    """Return how much cells are trusted against links, from 0.1 to 1, by what the links of the query say of them.

    See :func:`agreement` for the arguments. Where few pairs can tell, cells are trusted.
    """
    found, pairs = agreement(links, held, ranks, query=query, objects=objects, cells=cells)
    settled = (min(found, FULL) * pairs + FULL * BELIEVED) / (pairs + BELIEVED)
    return min(1.0, max(LEAST, (settled - NONE) / (FULL - NONE)))


def agreement(
    links: tuple[Array, Array], held: Array, ranks: Array, *, query: int, objects: int, cells: int
) -> tuple[float, int]:
    """Return how many times as often two objects of the query share cells where they are two steps apart as where far.

    Sharing is counted beside what chance would give, the product of the numbers of cells that the two are in: else busy
    objects, which are near each other and in many cells, would decide. 1 is where cells say nothing about links. Pairs
    that are linked are left out: the item that links two objects puts both into its cells, so these agree by
    themselves. Far are pairs that no path of three links joins, or of two where all others are joined.

    ``links`` join positions of ``objects``, the first ``query`` of which are the query's; object ``held[i]`` is in cell
    ``ranks[i]``. Of a large query only some objects are looked at. With it come the pairs two steps apart that were
    seen, 0 where nothing can be told; where far pairs share nothing, and near ones do, it is infinite.

    >>> links = np.array([0, 1, 2, 3]), np.array([4, 4, 5, 5])  # 0 and 1 by 4, 2 and 3 by 5
    >>> held = np.array([0, 1, 2, 3, 0, 2])
    >>> agreement(links, held, np.array([0, 0, 1, 1, 2, 2]), query=4, objects=6, cells=3)  # 0 and 2 share a cell too
    (4.5, 2)
    >>> agreement(links, held[:4], np.array([0, 1, 0, 1]), query=4, objects=6, cells=2)
    (0.0, 2)
    """
    rows = np.unique(np.linspace(0, query - 1, min(query, LOOKED_AT)).astype(np.int64))
    upper = np.triu_indices(len(rows), 1)
    inside = held < query
    joined = _counts(np.concatenate(links), np.concatenate(links[::-1]), (objects, objects))
    around, homes = joined[rows], _counts(held[inside], ranks[inside], (query, cells))[rows]

    linked = _dense(around[:, rows])[upper] > 0
    near = (_dense(around @ around.T)[upper] > 0) & ~linked
    further = ~near & ~linked
    far = further & ~(_dense((around @ joined) @ around.T)[upper] > 0)
    far = far if far.any() else further
    shared = _dense(homes @ homes.T)[upper].astype(np.float64)
    count = homes.sum(axis=1)
    chance = np.outer(count, count)[upper].astype(np.float64)
    if not (chance[near].any() and chance[far].any() and (shared[near].any() or shared[far].any())):
        return 1.0, 0
    often, base = (float(shared[pairs].sum() / chance[pairs].sum()) for pairs in (near, far))
    return often / base if base else math.inf, int(near.sum())


def _counts(rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
    """Return a matrix that counts how often a row and a column come together; a sparse one where it is large."""
    if max(shape) <= SMALL:
        places = rows.astype(np.int64) * shape[1] + columns
        return np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float32)
    load("scipy.sparse")
    from scipy import sparse

    return sparse.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)


def _dense(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())
