"""The links among chosen objects, and the network they make in each of its forms."""

from __future__ import annotations

import numpy as np

from cube2net.arrays import ragged_from_pairs, row_of_entries, take_rows
from cube2net.errors import ParameterError, unknown
from cube2net.records import Budget, Cube, Links, Network, Query, Selection
from cube2net.records.network import FORMS
from cube2net.records.ragged import Array

MEMBERSHIPS = ("unit", "share", "even")
KEEPS = ("all", "linked")
# Bytes for every place of a table of nodes: one object in eight or fewer passes for a node at first.
MARKS = 4


def induce(links: Links, nodes: Array) -> tuple[Array, Array, Array]:
    """Return the links among distinct objects, each once: source, target and weight.

    Source and target are positions in ``nodes``, the source first. The cost follows the number of links of
    the nodes, not the size of the network, and a hub costs no more than a search for each of the nodes.

    >>> from cube2net.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3), 4)
    >>> [ends.tolist() for ends in induce(path, np.array([3, 1, 2]))]
    [[0, 1], [2, 2], [1.0, 1.0]]
    """
    return _induced(links, np.array(nodes, dtype=np.int32))[0]


def _induced(links: Links, nodes: Array) -> tuple[tuple[Array, Array, Array], Array, Array]:
    """Return the links among nodes, and a table of 1 + the position of every node: its keys and its values.

    Where nodes are few, the table has their size; else it has a place for every object of the cube, so that a link
    costs one look.
    """
    from cube2net.kernels.induce import induce as kernel
    from cube2net.kernels.tables import keys_for, seat

    keys = keys_for(len(nodes), len(links))
    place = np.zeros(len(keys) or len(links), dtype=np.int32)
    seat(keys, place, nodes, 1, 1)
    mark = np.zeros(MARKS * len(keys), dtype=np.uint8)
    room = int((links.indptr[nodes + 1] - links.indptr[nodes]).sum())
    source, target = np.empty(room, np.int32), np.empty(room, np.int32)
    weight = np.empty(room, np.float32)
    rows = (links.indptr, links.indices, links.weights, nodes)
    count = kernel(*rows, keys, place, mark, source, target, weight)
    return (source[:count].copy(), target[:count].copy(), weight[:count].copy()), keys, place


def within(links: Links, query: Query, ranked: Array, budget: Budget) -> Array:
    """Return the first of some ranked objects that fit, with the query, into a budget's nodes and links.

    The query always stays whole: where it alone is over a limit, no object is brought.
    """
    if budget.max_nodes is not None:
        ranked = ranked[: max(0, budget.max_nodes - len(query))]
    if budget.max_links is not None and len(ranked):
        nodes = np.concatenate([query.objects, ranked])
        _, later, _ = induce(links, nodes)
        held = np.cumsum(np.bincount(later, minlength=len(nodes)))[len(query) :]
        ranked = ranked[: int(np.searchsorted(held, budget.max_links, side="right"))]
    return ranked


def assemble(
    cube: Cube,
    query: Query,
    selection: Selection,
    form: str = "objects",
    *,
    membership: str = "unit",
    keep: str = "all",
    nearest: Array | None = None,
) -> Network:
    """Return the network of a query and a selection, in one of four forms.

    ``objects``: the query and the objects brought, with all links among them. ``cells``: the query with its
    own links, every selected cell as a node, and a membership link from each object of the query to each
    selected cell that holds it. ``both``: all of these nodes and links. ``woven``: the query, the selected cells as
    nodes, and the objects of ``nearest`` instead of those brought. A form with cells needs a selection
    that has cells, unless it brings nothing at all: then every form is the query alone.

    A membership link weighs 1 (``membership="unit"``), or 1 divided by the objects of the network that the
    cell holds (``"share"``), so that a cell's links weigh 1 together, or (``"even"``) as much as all other membership
    links of its object, which together weigh half as much as the links of a typical object, the median over those of
    the query that have links within it. ``keep="linked"`` leaves out objects brought that have no link to any object
    of the network.
    """
    from cube2net.kernels.tables import look

    for what, got, allowed in (("form", form, FORMS), ("membership", membership, MEMBERSHIPS), ("keep", keep, KEEPS)):
        if got not in allowed:
            raise unknown(what, got, allowed)
    others = np.setdiff1d(selection.objects, query.objects, assume_unique=True)
    if form != "objects" and len(others) and not len(selection.cells):
        raise ParameterError(
            f"the form {form!r} needs a method that chooses cells, and this one brought {len(others):,} objects "
            "without any: choose the form 'objects', or a method such as 'greedy'"
        )
    if (form == "woven") != (nearest is not None):
        raise ParameterError("the nearest objects are for the form 'woven', which needs them")
    if nearest is not None:
        others = np.setdiff1d(nearest, query.objects)
    objects = np.concatenate([query.objects, others[:0] if form == "cells" else others])
    (source, target, weight), keys, place = _induced(cube.links, objects)
    members = take_rows(cube.cells.members, selection.cells)
    held = look(keys, place, members.indices) - 1
    ranks, held = row_of_entries(members)[held >= 0], held[held >= 0]
    if keep == "linked":
        linked = np.arange(len(objects)) < len(query)
        linked[source] = linked[target] = True
        position = np.cumsum(linked, dtype=np.int32) - 1
        objects, source, target = objects[linked], position[source], position[target]
        ranks, held = ranks[linked[held]], position[held[linked[held]]]
    into = np.concatenate([target[source < len(query)], source[target < len(query)]])
    if form != "objects":
        own = (source < len(query)) & (target < len(query))
        heavy = _median_strength(source[own], target[own], weight[own]) / 2 if membership == "even" else 1.0
        source = np.concatenate([source, held])
        target = np.concatenate([target, len(objects) + ranks])
        weight = np.concatenate([weight, _memberships(held, ranks, membership, heavy)])
    return Network(
        query=query,
        selection=selection,
        objects=objects,
        cells=selection.cells[:0] if form == "objects" else selection.cells,
        source=source.astype(np.int32, copy=False),
        target=target.astype(np.int32, copy=False),
        weight=weight.astype(np.float32, copy=False),
        brought_by=ragged_from_pairs(held, ranks, len(objects)),
        query_links=np.bincount(into, minlength=len(objects)).astype(np.int32),
        names=cube.objects,
        dimensions=tuple(dimension.name for dimension in cube.dimensions),
        labels=tuple(cube.cell(int(number)) for number in selection.cells),
        form=form,
    )


def _memberships(held: Array, ranks: Array, membership: str, heavy: float) -> Array:
    """Return the weight of every membership link; ``heavy`` is what those of an object weigh together if even."""
    if membership == "unit" or not len(held):
        return np.ones(len(held))
    ends, whole = (ranks, 1.0) if membership == "share" else (held, heavy)
    weights: Array = whole / np.bincount(ends)[ends]
    return weights


def _median_strength(source: Array, target: Array, weight: Array) -> float:
    """Return the median weight of all links of a node together, over the nodes that have one; 2 where none has."""
    if not len(source):
        return 2.0
    strengths = np.bincount(np.concatenate([source, target]), weights=np.tile(weight, 2))
    return float(np.median(strengths[strengths > 0]))
