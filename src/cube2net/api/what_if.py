"""Networks without some cells or objects, or with others, and the costs of pins and bans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import ProgressOption, report_compiling, resolve_progress
from cube2net.api.plan import METHODS, several
from cube2net.errors import ParameterError, quote
from cube2net.model.change import Change, NamedNode
from cube2net.model.cube import Cube
from cube2net.model.interfaces import chooses_cells
from cube2net.model.network import Network, RequestContext
from cube2net.model.node_names import CELL, OBJECT, Node, format_title, resolve_node
from cube2net.model.query import Query
from cube2net.model.selection import BAN, PIN, PROVEN, Price, Steering
from cube2net.selection.constraints import ResidualProblem, evaluate_cells


def change(network: Network, *, without: Any = (), with_: Any = ()) -> Change:
    """Return what becomes of a network without some cells and objects and with others, both at once."""
    context = _require_context(network)
    out, inside = (_nodes(context.cube, nodes) for nodes in (without, with_))
    if not out and not inside:
        raise ParameterError("no cell and no object is named: name one, such as '2019 · ACL · parsing' or an id")
    for node in [each for each in out if each in inside][:1]:
        raise ParameterError(f"{quote(format_title(context.cube, node))} is left out and put in: it cannot be both")
    known = [node for node in out if not _is_in(network, node)] + [node for node in inside if _is_in(network, node)]
    names = {"without": _name_nodes(context.cube, out), "with_": _name_nodes(context.cube, inside)}
    names["known"] = _name_nodes(context.cube, known)
    query = _query_without(network.query, [node.number for node in out if not node.is_cell])
    after = context.again(context.steering.banning(out).pinning(inside), query)
    now = after.selection.bound
    if query is None and _keeps_bound(context, _require_context(after)):
        now = min((each for each in (network.selection.bound, now) if each is not None), default=None)
    return _compare(network, after, _merely(network, after, out, inside), bound=now, **names)


def _require_context(network: Network) -> RequestContext:
    if network.context is None:
        raise ParameterError("the network does not know what it answers: make it by construct")
    return network.context


def _nodes(cube: Cube, given: Any) -> list[Node]:
    """Return the cells and objects that a caller names: one, or several in a list."""
    one = isinstance(given, tuple) and len(given) and all(isinstance(label, str) for label in given)
    return list(dict.fromkeys(resolve_node(cube, thing) for thing in ([given] if one else several(given))))


def _is_in(network: Network, node: Node) -> bool:
    """Return whether a network has a cell or an object."""
    return bool(np.any((network.selection.cells if node.is_cell else network.objects) == node.number))


def _query_without(query: Query, rows: Sequence[int]) -> Query | None:
    """Return the query without some objects, None where it has none of them."""
    stays = ~np.isin(query.objects, np.array(rows, dtype=np.int32))
    if stays.all():
        return None
    if not stays.any():
        raise ParameterError(f"the query has no object but the {len(query):,} named: leave one of them in")
    labels = None if query.labels is None else tuple(np.array(query.labels, dtype=object)[stays].tolist())
    ids = None if query.ids is None else query.ids.filter(stays)
    return Query(query.objects[stays], labels, query.missing, ids, query.shared)


def _keeps_bound(before: RequestContext, after: RequestContext) -> bool:
    """Return whether a bound from before holds: choices are fewer, and what each is worth is the same."""
    old, new = before.steering, after.steering
    kept = before.budget.n_cells == after.budget.n_cells and {*old.pins} <= {*new.pins} and {*old.bans} <= {*new.bans}
    kept = kept and old.prefer == new.prefer
    more = {*new.pins, *new.bans} - {*old.pins, *old.bans}
    return kept and all(node.is_cell for node in more)


def _merely(before: Network, after: Network, out: Sequence[Node], inside: Sequence[Node]) -> float:
    """Return what the old choice is worth, where some is left out or put in and nothing else is chosen."""
    context = _require_context(after)
    start = ResidualProblem.of(context.cube, context.worth, context.budget).start
    cells = _change_rows(before.selection.cells, out, inside, CELL)
    if len(before.selection.cells) or len(cells):
        return evaluate_cells(context.cube, start, cells).value
    return float(context.worth.value(np.unique(_change_rows(before.selection.objects, out, inside, OBJECT))))


def _change_rows(rows: Array, out: Sequence[Node], inside: Sequence[Node], kind: str) -> Array:
    """Return rows without some and with others."""
    gone, come = ([node.number for node in nodes if node.kind == kind] for nodes in (out, inside))
    return np.array([*(row for row in rows.tolist() if row not in gone and row not in come), *come], dtype=np.int32)


def _compare(
    before: Network, after: Network, merely: float, *, bound: float | None, **names: tuple[NamedNode, ...]
) -> Change:
    """Return the change from a network to another, both of one cube."""
    cube = _require_context(after).cube
    entered, left = (
        _name_nodes(cube, [Node(CELL, cell) for cell in _new(one.selection.cells, other.selection.cells)])
        + _name_nodes(cube, [Node(OBJECT, row) for row in _new(one.objects, other.objects)])
        for one, other in ((after, before), (before, after))
    )
    value = after.selection.value
    return Change(
        network=after,
        objective=str(after.settings["objective"]),
        before=before.selection.value,
        value=value,
        merely=merely,
        entered=entered,
        left=left,
        bound_before=before.selection.bound,
        bound=bound,
        proven_before=before.selection.proven,
        proven=bound is not None and bound - value <= PROVEN * abs(bound),
        **names,
    )


def _new(rows: Array, others: Array) -> list[int]:
    """Return the rows that are not among others, in their order."""
    return [int(row) for row in rows[~np.isin(rows, others)]]


def _name_nodes(cube: Cube, nodes: Sequence[Node]) -> tuple[NamedNode, ...]:
    """Return cells and objects with what they are called."""
    ids = iter(cube.objects.ids(np.array([node.number for node in nodes if not node.is_cell], np.int32)).to_pylist())
    return tuple(
        NamedNode(node, format_title(cube, node), tuple(cube.cell(node.number)) if node.is_cell else next(ids))
        for node in nodes
    )


@report_compiling
def compute_pin_costs(network: Network, *, progress: ProgressOption = None) -> tuple[Price, ...]:
    """Return what every pin and ban of a network costs; see :meth:`cube2net.Network.pin_costs`."""
    context = _require_context(network)
    tell, steering = resolve_progress(progress), context.steering
    wanted = [(PIN, node) for node in steering.pins] + [(BAN, node) for node in steering.bans]
    found = []
    for number, (kind, node) in enumerate(wanted):
        tell("pricing pins and bans", number, len(wanted))
        if kind == PIN:
            other = replace(steering, pins=tuple(pin for pin in steering.pins if pin != node))
        else:
            other = replace(steering, bans=tuple(ban for ban in steering.bans if ban != node))
        found.append(_price(kind, node, network, _without(kind, other, context), context))
    return tuple(found)


def _without(kind: str, steering: Steering, context: RequestContext) -> Network | None:
    """Return the network without a pin or ban, None where without a ban the pins do not fit."""
    try:
        return context.again(steering)
    except ParameterError:
        if kind == PIN or not steering.pins:
            raise
        return None


def _price(kind: str, node: Node, network: Network, without: Network | None, context: RequestContext) -> Price:
    title = format_title(context.cube, node)
    if without is None:
        return Price(kind, title, network.selection.value, needed=True)
    if context.method in METHODS and not chooses_cells(METHODS[context.method]):
        missed, instead = _apart(context.cube, OBJECT, without.objects, network.objects)
        return Price(kind, title, missed=missed, instead=instead)
    missed, instead = _apart(context.cube, CELL, without.selection.cells, network.selection.cells)
    return Price(kind, title, network.selection.value, without.selection.value, missed, instead)


def _apart(cube: Cube, kind: str, without: Array, now: Array) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the titles of what is there without a pin or ban alone, and of what is there with it alone."""

    def titles(numbers: Array, others: Array) -> tuple[str, ...]:
        only = numbers[np.isin(numbers, others, invert=True)].tolist()
        return tuple(format_title(cube, Node(kind, number)) for number in only)

    return titles(without, now), titles(now, without)
