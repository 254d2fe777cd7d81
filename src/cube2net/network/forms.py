"""The network of a query and a selection, in each of its forms: which nodes, which links, and what they weigh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.arrays import ragged_from_pairs, row_of_entries, take_rows
from cube2net.errors import ParameterError
from cube2net.network.cell_weight import CellWeight, estimate_cell_weight
from cube2net.network.links import in_already, look_up, look_up_links, may_come, pinned
from cube2net.network.node_columns import carried
from cube2net.network_options import NetworkOptions
from cube2net.records import Cube, Form, Network, Query, Selection
from cube2net.records.link_weights import HEAVIEST
from cube2net.records.ragged import LazyRagged
from cube2net.records.scope import OPEN, Scope

# An object with so many links needs half as much of others as one without any.
SILENT = 2.0
# A network that brings more objects than this, and more than so many for each of the query, is announced.
MANY, MANY_EACH = 1_000, 20


def form_of(options: NetworkOptions) -> Form:
    """Return the form of a network's options; those that were given and mean nothing in it are refused."""
    names = [each.name for each in fields(Form) if each.name != "kind"]
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    form = Form(options.form or Form.kind, **given)
    for name in ("membership", "trust"):
        if name in given and not form.has_cells:
            raise ParameterError(f"{name} is about links to cells, and the form 'objects' has no cells as nodes")
    if "trust" in given and form.kind != "woven" and form.membership != "even":
        raise ParameterError(f"trust scales memberships of the kind 'even', got the membership {form.membership!r}")
    for name in ("near", "near_weight"):
        if name in given and form.kind != "woven":
            raise ParameterError(f"{name} is about the near objects of the form 'woven', got the form {form.kind!r}")
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
    if isinstance(cube.homes, LazyRagged):
        held, ranks, shares = _memberships_of_objects(cube, objects, selection.cells)
    else:
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
    cell_weight = CellWeight(form.trust or 1.0)
    given = None
    if form.has_cells:
        if form.trust is None and len(held):
            starts, cuboids = cube.links.indptr, _number_cuboids(cube, selection.cells)
            degrees = starts[objects + 1] - starts[objects]
            cell_weight = estimate_cell_weight((source, target), degrees, held, ranks, cuboids, query=len(query))
        woven = Weaving(source, target, weight, held, ranks, shares, query_links, len(query))
        damped = form.kind == "woven"
        factors = woven.near_factors(form.near_weight, cell_weight.value) if damped else np.ones(len(weight))
        given = weight if damped else None
        joined = woven.memberships(form.membership, cell_weight.value)
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
        settings={
            "trust": cell_weight.value if form.has_cells and len(held) else None,
            "agreement": cell_weight.evidence(),
            "directed": bool(cube.settings.get("directed")),
        },
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


def _memberships_of_objects(cube: Cube, objects: Array, cells: Array) -> tuple[Array, Array, Array]:
    """Return which of some objects are in which of some cells, by cell and then by object, and what each is worth.

    A membership is worth as in :func:`_shares`. The size of a cell of one label is taken as the sum of the sizes of
    the cells that it consists of, which is known without counting distinct objects.
    """
    assert isinstance(cube.homes, LazyRagged) and cube.cells.extents is not None
    homes, counts = cube.homes.take_counted(objects)
    rank = np.full(len(cube.cells), -1)
    rank[cells] = np.arange(len(cells))
    ranks = rank[homes.indices]
    there = np.flatnonzero(ranks >= 0)
    held = row_of_entries(homes)[there]
    order = np.lexsort((objects[held], ranks[there]))
    there, held = there[order], held[order]
    rarity = np.log1p(len(cube.objects) / np.maximum(cube.cells.extents[cells], 1))
    return held, ranks[there], counts[there] * rarity[ranks[there]]


def _number_cuboids(cube: Cube, cells: Array) -> Array:
    """Return for each of some cells a number that says in which dimensions it has a label."""
    labelled = cube.cells.labels[cells] >= 0
    return np.asarray(labelled @ (1 << np.arange(labelled.shape[1])))


@dataclass(frozen=True, eq=False)
class Weaving:
    """Links and memberships that are to be weighed against each other.

    ``source``, ``target`` and ``weight`` are links between positions of objects, the first ``query`` of which are the
    query's; object ``held[i]`` is in cell ``ranks[i]``, which counts ``shares[i]`` among the memberships of the object;
    ``query_links`` says how many links of every object lead into the query.

    An object *needs* others the less the more links d into the query it has: 2 / (2 + d) is 1 without any, a half with
    two, little with many.
    """

    source: Array
    target: Array
    weight: Array
    held: Array
    ranks: Array
    shares: Array
    query_links: Array
    query: int

    def near_factors(self, near_weight: float | None, cell_weight: float) -> Array:
        """Return what every link is multiplied by: 1 inside the query, and less for each end outside it.

        A link between the query's object q and a near one is multiplied by need(q)²ᵗ, and one between two near objects
        by need(x)²ᵗ · need(y)²ᵗ, where t is the weight of cells. A number as ``near_weight`` replaces all of these.
        """
        ends = (self.source, self.target)
        if near_weight is not None:
            outside = sum((end >= self.query).astype(np.float64) for end in ends)
            return np.asarray(near_weight**outside)
        need = (SILENT / (SILENT + self.query_links)) ** (2.0 * cell_weight)
        own, other = (end < self.query for end in ends)
        return np.asarray(
            np.where(other & ~own, need[self.target], 1.0)
            * np.where(own & ~other, need[self.source], 1.0)
            * np.where(~own & ~other, need[self.source] * need[self.target], 1.0)
        )

    def memberships(self, kind: str, cell_weight: float) -> Array:
        """Return the weight of every membership link.

        Let s be the median, over the objects of the query that have a link within it, of the weight of all these links
        together. For ``even`` the memberships of an object weigh t · s together, where t is the weight of cells.
        """
        if kind == "unit" or not len(self.held):
            return np.ones(len(self.held))
        if kind == "share":
            return np.asarray(1.0 / np.bincount(self.ranks)[self.ranks])
        own = (self.source < self.query) & (self.target < self.query)
        typical = _median_strength(self.source[own], self.target[own], self.weight[own])
        shares = self.shares / np.bincount(self.held, weights=self.shares)[self.held]
        return np.asarray(cell_weight * typical * shares)


def _median_strength(source: Array, target: Array, weight: Array) -> float:
    """Return the median weight of all links of a node together, over the nodes that have one; 2 where none has."""
    if not len(source):
        return 2.0
    strengths = np.bincount(np.concatenate([source, target]), weights=np.tile(weight, 2))
    strong = strengths[strengths > 0]
    return float(np.median(strong)) if len(strong) else 2.0
