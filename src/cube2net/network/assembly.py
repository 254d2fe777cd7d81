"""The network of a query and a selection in each of its forms: which nodes, which links, and how good it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from cube2net._util.arrays import (
    HEAVIEST,
    Array,
    LazyRagged,
    Links,
    ragged_from_pairs,
    row_of_entries,
    take_rows,
)
from cube2net._util.text import format_count
from cube2net.errors import CubeError, ParameterError, join_names
from cube2net.kernels import numpy_kernels
from cube2net.model.cube import Cube
from cube2net.model.network import Form, Network
from cube2net.model.objects import Lookups
from cube2net.model.query import Query
from cube2net.model.selection import OPEN, Budget, Scope, Selection
from cube2net.network.attributes import count_labels, make_direction_table, make_link_table, make_node_table
from cube2net.network.cell_weight import CellWeight, damp_near_links, estimate_cell_weight, weigh_memberships
from cube2net.options import NetworkOptions

MANY_OBJECTS, MANY_OBJECTS_EACH = 1_000, 20
"""A network that brings more objects, and more for each of the query, is announced."""
ATTRIBUTE_LOOKUPS = (make_node_table, make_link_table, count_labels, make_direction_table)


def make_form(options: NetworkOptions) -> Form:
    """Return the form of a network's options; raise if an option does not apply to it."""
    names = [each.name for each in fields(Form) if each.name != "kind"]
    set_options = {name: value for name in names if (value := getattr(options, name)) is not None}
    form = Form(options.form or Form.kind, **set_options)
    for name in ("membership_weights", "cell_weight"):
        if name in set_options and not form.has_cells:
            raise ParameterError(f"{name} is about links to cells, and the form 'objects' has no cells as nodes")
    if "cell_weight" in set_options and form.kind != "hybrid" and form.membership_weights != "even":
        raise ParameterError(
            f"cell_weight scales the membership weights 'even', got membership_weights {form.membership_weights!r}"
        )
    for name in ("n_neighbors", "neighbor_weight"):
        if name in set_options and form.kind != "hybrid":
            raise ParameterError(f"{name} is about the neighbours of the form 'hybrid', got the form {form.kind!r}")
    return form


def brings_objects(selection: Selection, scope: Scope = OPEN) -> bool:
    """Return whether a selection has objects that neither its cells nor pins bring."""
    if len(selection.cells) or not len(selection.objects):
        return False
    return not len(scope.objects) or len(np.setdiff1d(selection.objects, scope.objects)) > 0


def count_neighbors(query: Query, form: Form, cells: int, max_nodes: int | None, preferred: int = 0) -> int:
    """Return the number of neighbours: the option, or what a limit on nodes leaves room for.

    Pinned objects are among them. The default is one for each object of the query and each of the ``preferred`` ones.
    """
    if form.kind != "hybrid":
        return 0
    wanted = len(query) + preferred if form.n_neighbors is None else form.n_neighbors
    return wanted if max_nodes is None else max(0, min(wanted, max_nodes - len(query) - cells))


def estimate_nodes(query: Query, selection: Selection, form: Form, room: int, scope: Scope = OPEN) -> tuple[int, bool]:
    """Return the number of nodes of a network, and whether it is exact; otherwise there may be fewer.

    ``room`` is the number of neighbours.
    """
    pins = len(list_pinned(query, scope))
    base_count = len(query) + pins + (len(selection.cells) if form.has_cells else 0)
    if form.kind == "hybrid":
        return base_count - pins + max(pins, room), False
    if not form.has_brought:
        return base_count, True
    others = select_allowed(np.setdiff1d(selection.objects, list_included(query, scope), assume_unique=True), scope)
    return base_count + len(others), form.keep_unlinked


def assemble(
    cube: Cube,
    query: Query,
    selection: Selection,
    form: Form | str = "objects",
    *,
    nearest: Array | None = None,
    scope: Scope = OPEN,
) -> Network:
    """Return the network of a query and a selection in a form; the form ``hybrid`` needs the ``nearest`` objects.

    A form with cells as nodes needs a selection with cells, unless the selection is empty. Objects pinned by ``scope``
    are nodes in every form, linked or not; forbidden ones are not.
    """
    form = Form(form) if isinstance(form, str) else form
    pins = list_pinned(query, scope)
    others = select_allowed(np.setdiff1d(selection.objects, list_included(query, scope), assume_unique=True), scope)
    if form.has_cells and len(others) and not len(selection.cells):
        raise ParameterError(
            f"the form {form.kind!r} needs a method that chooses cells, and this one brought {len(others):,} objects "
            "without any: choose the form 'objects', or a method such as 'greedy'"
        )
    if (form.kind == "hybrid") != (nearest is not None):
        raise ParameterError("the nearest objects are for the form 'hybrid', which needs them")
    if nearest is not None:
        others = select_allowed(np.setdiff1d(nearest, list_included(query, scope)), scope)
    others = others[:0] if form.kind == "cells" else others
    objects = np.concatenate([query.objects, np.sort(np.concatenate([pins, others])) if len(pins) else others])
    (source, target, weight), keys, place = look_up_links(cube.links, objects)
    if isinstance(cube.object_cells, LazyRagged):
        held, ranks, shares = _find_memberships(cube, objects, selection.cells)
    else:
        members = take_rows(cube.cells.members, selection.cells)
        held = look_up(keys, place, members.indices) - 1
        there = held >= 0
        ranks, held = row_of_entries(members)[there], held[there]
        shares = _weigh_shares(cube, selection.cells, there) if form.has_cells else np.ones(len(held))
    if not form.keep_unlinked:
        linked = np.arange(len(objects)) < len(query)
        linked[source] = linked[target] = True
        linked[np.isin(objects, pins)] = True
        position = np.cumsum(linked, dtype=np.int32) - 1
        objects, source, target = objects[linked], position[source], position[target]
        stays = linked[held]
        ranks, held, shares = ranks[stays], position[held[stays]], shares[stays]
    into = np.concatenate([target[source < len(query)], source[target < len(query)]])
    query_links = np.bincount(into, minlength=len(objects))
    cell_weight, given = CellWeight(form.cell_weight or 1.0), None
    if form.has_cells:
        if form.cell_weight is None and len(held):
            starts, labelled = cube.links.indptr, cube.cells.labels[selection.cells] >= 0
            cuboids = np.asarray(labelled @ (1 << np.arange(labelled.shape[1])))
            degrees = starts[objects + 1] - starts[objects]
            cell_weight = estimate_cell_weight((source, target), degrees, held, ranks, cuboids, query=len(query))
        links = (source, target, weight)
        joined = weigh_memberships(form.membership_weights, links, held, ranks, shares, len(query), cell_weight.value)
        if form.kind == "hybrid":
            given = weight
            weight = weight * damp_near_links(source, target, query_links, len(query), form, cell_weight.value)
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
        query_links=query_links.astype(np.int32),
        names=cube.objects,
        dimensions=tuple(dimension.name for dimension in cube.dimensions),
        labels=tuple(cube.cell(int(number)) for number in selection.cells),
        form=form.kind,
        settings={
            "cell_weight": cell_weight.value if form.has_cells and len(held) else None,
            "agreement": cell_weight.evidence(),
            "directed": bool(cube.settings.get("directed")),
        },
        lookups=Lookups(*(partial(look_up, cube) for look_up in ATTRIBUTE_LOOKUPS)),
        given=given,
    )


def take_first_cells(
    cube: Cube, query: Query, selection: Selection, nodes: int, empty_value: float, scope: Scope = OPEN
) -> Selection:
    """Return the first cells of a selection that, with their objects and the query, have at most ``nodes`` nodes.

    Pinned objects count as the query's, and forbidden ones do not count; pinned cells are kept.
    """
    members = take_rows(cube.cells.members, selection.cells)
    inside = list_included(query, scope)
    brought_objects, first = np.unique(np.concatenate([inside, members.indices]), return_index=True)
    rank = np.searchsorted(members.indptr, np.maximum(first - len(inside), 0), side="right")
    rank[first < len(inside)] = 0
    if scope.forbidden_objects is not None:
        rank = rank[(first < len(inside)) | ~scope.forbidden_objects[brought_objects]]
    sizes = np.cumsum(np.bincount(rank, minlength=len(selection.cells) + 1)) + np.arange(len(selection.cells) + 1)
    count = min(max(len(scope.cells), int(np.searchsorted(sizes, nodes, side="right")) - 1), len(selection.cells))
    if count == len(selection.cells):
        return selection
    return replace(
        selection,
        objects=select_allowed(np.unique(members.indices[: members.indptr[count]]), scope),
        value=float(selection.values[count - 1]) if count else empty_value,
        cells=selection.cells[:count],
        values=selection.values[:count],
        bound=None,
    )


def _weigh_shares(cube: Cube, cells: Array, there: Array) -> Array:
    """Return the share of each membership among those of its object, for the members that are ``there``.

    Cells of the cube's own levels have equal shares. A cell of higher levels has the number of the cells below it that
    hold the object, times log(1 + objects / objects in the cell), so that nearly complete cells count little.
    """
    members = cube.cells.members
    if cube.cells.counts is None:
        return np.ones(int(there.sum()))
    counts = take_rows(type(members)(members.indptr, cube.cells.counts), cells).indices
    rarity = np.log1p(len(cube.objects) / members.sizes[cells])
    shares: Array = (counts * np.repeat(rarity, members.sizes[cells]))[there]
    return shares


def _find_memberships(cube: Cube, objects: Array, cells: Array) -> tuple[Array, Array, Array]:
    """Return the memberships of some objects in some cells, by cell and then by object, and their shares.

    Shares are those of :func:`_weigh_shares`, with the sum of the sizes of a label's own cells for the size of the cell
    of that label, which needs no counting of distinct objects.
    """
    assert isinstance(cube.object_cells, LazyRagged) and cube.cells.extents is not None
    homes, counts = cube.object_cells.take_counted(objects)
    rank = np.full(len(cube.cells), -1)
    rank[cells] = np.arange(len(cells))
    ranks = rank[homes.indices]
    there = np.flatnonzero(ranks >= 0)
    held = row_of_entries(homes)[there]
    order = np.lexsort((objects[held], ranks[there]))
    there, held = there[order], held[order]
    rarity = np.log1p(len(cube.objects) / np.maximum(cube.cells.extents[cells], 1))
    return held, ranks[there], counts[there] * rarity[ranks[there]]


def summarize(network: Network) -> dict[str, Any]:
    """Return a summary of a network as plain values for JSON."""
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
        "n_cells": settings["n_cells"],
        "objective": settings["objective"],
        "form": network.form,
        **{
            name: settings[name]
            for name in ("levels", "n_neighbors", "neighbor_weight", "keep_unlinked", "membership_weights")
        },
        **{name: settings[name] for name in ("cell_weight", "agreement")},
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
            for labels, gain, size, shared in zip(network.labels, gains, network.cell_objects, in_query, strict=True)
        ],
        "nodes": len(network),
        "links": len(network.source),
        "left_out": 0 if network.form in ("cells", "hybrid") else len(brought) - len(network.objects),
        "directed": settings.get("directed", False),
        "query_found": len(network.query),
        "query_missing": len(network.query.missing),
        "query_held": int(held.sum()),
        "query_loose": int((~joined[: len(network.query)]).sum()),
        "chosen": settings.get("chosen"),
        "tried": settings.get("tried"),
        **{word: settings.get(word, []) for word in ("pins", "bans", "prefer")},
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }


def format_certificate(bound: float, gap: float, proven: bool, *, is_count: bool = False) -> str:
    """Return a sentence about an upper bound; its numbers are rounded up, so that they remain true.

    >>> format_certificate(0.12341, 0.0228, False)
    'at most 0.1235 is possible: within 2.3 % of the best'
    >>> format_certificate(348.0, 0.0517, False, is_count=True)
    'at most 348 is possible: within 5.2 % of the best'
    >>> format_certificate(0.1234, 0.0, True)
    'proven best: no choice within the limits is worth more'
    """
    if proven:
        return "proven best: no choice within the limits is worth more"
    most, share = math.ceil(bound * 1e4 - 1e-6) / 1e4, math.ceil(gap * 1e3 - 1e-6) / 10
    limit = f"{bound:,.0f}" if is_count else f"{most:.4f}"
    return f"at most {limit} is possible" + (f": within {max(share, 0.1):.1f} % of the best" if share < 100 else "")


def describe_certificate(about: Mapping[str, Any]) -> str:
    """Return a sentence about the distance of the cells from the optimum; empty without a bound."""
    if about["bound"] is None or not about["cells"]:
        return ""
    return format_certificate(about["bound"], about["gap"], about["proven"], is_count=about["objective"] == "cover")


def describe_network(network: Network, about: Mapping[str, Any]) -> str:
    """Return a sentence about the nodes, links and value of a network."""
    count, cells = len(network.query), len(network.selection.cells)
    others = len(network.objects) - count
    nodes = [f"{format_count(count, 'object')} of the query"]
    if others and network.form == "hybrid":
        nodes.append(format_count(others, "neighbour"))
    elif others:
        by = (
            f" that {format_count(cells, 'cell')} bring{'s' * (cells == 1)}" if cells and not len(network.cells) else ""
        )
        nodes.append(f"{others:,} more{by}")
    nodes += [format_count(len(network.cells), "cell")] if len(network.cells) else []
    listed = f"{', '.join(nodes[:-1])}{' and ' if nodes[1:] else ''}{nodes[-1]}"
    parts = [f"{listed}, {format_count(len(network.source), 'link')}"]
    if cells:
        hold = "the cells hold" if cells > 1 else "the cell holds"
        value = f"{about['value']:,.0f}" if about["objective"] == "cover" else f"{about['value']:.4f}"
        parts.append(f"{hold} {about['query_held']:,} of the {count:,}, {about['objective']} {value}")
    return "; ".join(filter(None, [*parts, describe_certificate(about)]))


def describe_missing_links(cube: Cube, network: Network, scope: Scope) -> str:
    """Return why a network has no links between objects; empty if it has some."""
    if len(network.source) or len(network.objects) < 2:
        return ""
    others = np.unique(take_rows(cube.links.rows, network.objects).indices)
    if not len(others):
        return "no link joins these objects: the cube has none that leads to one of them"
    kinds = cube.objects.table["kind"]
    own, theirs = (set(kinds.take(rows).drop_null().unique().to_pylist()) for rows in (network.objects, others))
    if own & theirs:
        return "no link joins these objects"
    reason = f"{join_names(sorted(own))} objects are linked only to {join_names(sorted(theirs))} objects"
    forbidden = scope.forbidden_objects is not None and bool(scope.forbidden_objects[others].all())
    return f"no link joins these objects: {reason}{', and none of these may be brought' if forbidden else ''}"


def describe_size(
    cube: Cube, query: Query, selection: Selection, form: Form, max_nodes: int | None, scope: Scope = OPEN
) -> str:
    """Return a warning if a network will be much larger than its query; else an empty text."""
    near = count_neighbors(query, form, len(selection.cells), max_nodes)
    others = (
        len(cube.objects) - len(query) if scope.forbidden_objects is None else int((~scope.forbidden_objects).sum())
    )
    brought = len(select_allowed(selection.objects, scope)) if form.has_brought else min(near, others)
    if brought <= max(MANY_OBJECTS, MANY_OBJECTS_EACH * len(query)):
        return ""
    cells = f"the {len(selection.cells):,} cells hold" if len(selection.cells) else "the method brings"
    smaller = "m, max_nodes or the form 'hybrid' makes" if len(selection.cells) else "max_nodes makes"
    if form.kind == "hybrid":
        cells, smaller = "n_neighbors asks for up to", "a smaller n_neighbors makes"
    return f"{cells} {brought:,} objects for a query of {len(query):,}: {smaller} the network smaller"


def describe_limit(query: Query, max_nodes: int | None) -> str:
    """Return a warning if the limit on nodes is below the size of the query, which is always complete."""
    if max_nodes is None or max_nodes >= len(query):
        return ""
    return f"the query alone has {len(query):,} nodes, more than max_nodes {max_nodes:,}: nothing is added to it"


def describe_scope(query: Query, scope: Scope, by: Sequence[str] = ("where", "between", "kind", "bans")) -> str:
    """Return a warning if no object outside the query is allowed; ``by`` are the options that forbid them."""
    if scope.forbidden_objects is None or len(list_pinned(query, scope)):
        return ""
    if int((~scope.forbidden_objects).sum()) > int((~scope.forbidden_objects[query.objects]).sum()):
        return ""
    words = " and ".join(filter(None, [", ".join(by[:-1]), *by[-1:]]))
    return f"no object is brought: none outside the query is allowed by {words}"


MARKS = 4
"""Bytes of a filter per entry of the table of nodes, which one in eight other objects or fewer pass."""
WEIGHTS = "weights of its links here are"


def induce_links(links: Links, nodes: Array) -> tuple[Array, Array, Array]:
    """Return the links among distinct objects, each once: source, target and weight.

    Source and target are positions in ``nodes``, the source first. The cost follows the number of links of
    the nodes, not the size of the network, and a hub costs no more than a search for each of the nodes.

    >>> from cube2net._util.arrays import links_from_pairs
    >>> path = links_from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3), 4)
    >>> [ends.tolist() for ends in induce_links(path, np.array([3, 1, 2]))]
    [[0, 1], [2, 2], [1.0, 1.0]]
    """
    return look_up_links(links, np.array(nodes, dtype=np.int32))[0]


def look_up_links(links: Links, nodes: Array) -> tuple[tuple[Array, Array, Array], Array, Array]:
    """Return the links among nodes, and a table of 1 + the position of every node: its keys and its values.

    Where nodes are few, the table has their size; else it has a place for every object of the cube, so that a link
    costs one look.
    """
    room = int((links.indptr[nodes + 1] - links.indptr[nodes]).sum())
    if numpy_kernels.WORK.accept("subgraphs.induce", room + len(links)):
        place = np.zeros(len(links), dtype=np.int32)
        place[nodes] = np.arange(1, len(nodes) + 1)
        induced_links = numpy_kernels.induce(links.indptr, links.indices, links.weights, nodes, place)
        check_weights(induced_links[2], WEIGHTS)
        return induced_links, np.empty(0, np.int32), place
    from cube2net.kernels.subgraphs import induce as kernel
    from cube2net.kernels.subgraphs import insert_objects, make_keys

    keys = make_keys(len(nodes), len(links))
    place = np.zeros(len(keys) or len(links), dtype=np.int32)
    insert_objects(keys, place, nodes, 1, 1)
    mark = np.zeros(MARKS * len(keys), dtype=np.uint8)
    source, target = np.empty(room, np.int32), np.empty(room, np.int32)
    weight = np.empty(room, np.float32)
    rows = (links.indptr, links.indices, links.weights, nodes)
    count = kernel(*rows, keys, place, mark, source, target, weight)
    check_weights(weight[:count], WEIGHTS)
    return (source[:count].copy(), target[:count].copy(), weight[:count].copy()), keys, place


def look_up(keys: Array, place: Array, objects: Array) -> Array:
    """Return the values of objects in a table of :func:`look_up_links`, 0 for missing ones."""
    if not len(keys):
        return np.asarray(place[objects])
    from cube2net.kernels.subgraphs import look_up

    return np.asarray(look_up(keys, place, objects))


def check_weights(weights: Array, what: str) -> None:
    """Raise if weights of a cube, or their sums, are negative or not finite."""
    unusable = int((~((weights >= 0) & (weights < np.inf))).sum())
    if unusable:
        raise CubeError(f"the cube is damaged: {unusable:,} {what} negative or no finite numbers")


def list_pinned(query: Query, scope: Scope) -> Array:
    """Return the pinned objects outside a query, ascending."""
    return np.setdiff1d(scope.objects, query.objects) if len(scope.objects) else scope.objects


def list_included(query: Query, scope: Scope) -> Array:
    """Return the objects that are always in the network: the query, then the pinned ones."""
    return np.concatenate([query.objects, list_pinned(query, scope)]) if len(scope.objects) else query.objects


def select_allowed(objects: Array, scope: Scope) -> Array:
    """Return those of some objects that are not forbidden."""
    return objects if scope.forbidden_objects is None else objects[~scope.forbidden_objects[objects]]


def mark_forbidden(scope: Scope) -> Array:
    """Return the mask of forbidden objects as compiled code takes it, empty if none is forbidden."""
    return np.zeros(0, dtype=bool) if scope.forbidden_objects is None else np.array(scope.forbidden_objects)


def cut_to_limits(links: Links, query: Query, ranked: Array, budget: Budget) -> Array:
    """Return the first of some ranked objects that fit into the nodes and links of a budget.

    The query and the pinned objects, which come first, are always complete: if they exceed a limit, no other object is
    returned.
    """
    inside = list_included(query, budget.scope)
    pins = inside[len(query) :]
    if len(pins):
        ranked = ranked[~np.isin(ranked, pins)]
    if budget.max_nodes is not None:
        ranked = ranked[: max(0, budget.max_nodes - len(inside))]
    if budget.max_links is not None and len(ranked):
        nodes = np.concatenate([inside, ranked])
        _, later, _ = induce_links(links, nodes)
        held = np.cumsum(np.bincount(later, minlength=len(nodes)))[len(inside) :]
        ranked = ranked[: int(np.searchsorted(held, budget.max_links, side="right"))]
    return np.concatenate([pins, ranked]) if len(pins) else ranked


def cut_to_budget(
    budget: Budget, cube: Cube, query: Query, nodes: Array, low: Array, high: Array, cost: Array, worth: Array
) -> Array:
    """Return the objects outside the query that trees bring, cut to the budget, and the pinned ones; ascending.

    ``nodes`` are objects, those of :func:`list_included` first. Trees are given by their links between positions of
    nodes, ``worth`` is what a node adds to a tree and ``cost`` what a link takes from it.
    """
    from cube2net.kernels.trees import fit

    inside = len(list_included(query, budget.scope))
    keep = np.arange(len(nodes)) < inside
    keep[low] = True
    keep[high] = True
    place = np.cumsum(keep) - 1
    nodes, worth = nodes[keep], worth[keep]
    other = np.arange(len(nodes)) >= inside
    room = len(nodes) if budget.max_nodes is None else budget.max_nodes
    if len(nodes) > room or budget.max_links is not None:
        indptr, indices = np.asarray(cube.links.indptr), np.asarray(cube.links.indices)
        most = -1 if budget.max_links is None else budget.max_links
        other &= fit(indptr, indices, nodes, place[low], place[high], cost, worth, other, max(0, room - inside), most)
    other[len(query) : inside] = True
    return np.sort(nodes[other])
