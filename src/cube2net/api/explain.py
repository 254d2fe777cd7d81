"""Explain why an object or a cell is in a network, or is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, overload
from weakref import WeakKeyDictionary

import numpy as np

from cube2net._util.progress import report_compiling
from cube2net.api.plan import METHODS
from cube2net.api.replay import restore_context
from cube2net.cube.window import list_time_attributes
from cube2net.errors import ParameterError
from cube2net.explanation.cell_reasons import compute_account, explain_cell
from cube2net.explanation.object_reasons import ItemsOfObjects, QueryRanks, explain_object
from cube2net.model.cube import Cube
from cube2net.model.explanation import CellExplanation, ObjectExplanation, ValueAccount
from cube2net.model.interfaces import check_call, chooses_cells
from cube2net.model.network import Network, RequestContext
from cube2net.model.node_names import resolve_node
from cube2net.network import pagerank
from cube2net.network.pagerank import find_neighbors

P = ParamSpec("P")
T = TypeVar("T")

DAMPING, TOLERANCE = 0.85, 1e-6
"""Objects are ranked by a walk that goes on with this probability; scores are off by so much, all of them together."""

_ranks: WeakKeyDictionary[RequestContext, QueryRanks] = WeakKeyDictionary()
_items: WeakKeyDictionary[Cube, ItemsOfObjects] = WeakKeyDictionary()


def _takes_a_network(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function, which says how a network is made where it is given a cube, as the command is."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        if args and isinstance(args[0], Cube):
            raise ParameterError(
                "explain takes a network and got a cube: make the network first, "
                "c2n.explain(c2n.construct(cube, query), node)"
            )
        return function(*args, **options)

    return call


@overload
def explain(network: Network, node: None = None, *, cube: Cube | None = None) -> ValueAccount: ...


@overload
def explain(network: Network, node: Any, *, cube: Cube | None = None) -> ObjectExplanation | CellExplanation: ...


@check_call
@_takes_a_network
@report_compiling
def explain(
    network: Network, node: Any = None, *, cube: Cube | None = None
) -> ObjectExplanation | CellExplanation | ValueAccount:
    """Explain why an object or a cell is in a network, or what would add it.

    Parameters
    ----------
    network
        A network of :func:`construct`.
    node
        An object by its id or name, or a cell by its labels, as a tuple or as ``"2010s · ACL · parsing"``. By default
        all chosen cells are explained.
    cube
        The cube of a network that came from another process.

    Returns
    -------
    ObjectExplanation, CellExplanation or ValueAccount
        For an object: its role, the chosen cells that contain it, its links to the query with the items behind them,
        its rank by PageRank and the shortest paths to the query; if it is not in the network, what would add it. For a
        cell: what it adds when chosen, alone and last, the objects that no other chosen cell contains, and how much
        more common its labels are in the query. Without a node, the contributions of all chosen cells, which add up
        exactly to the value of the selection. ``str`` returns a sentence, ``to_dict`` all numbers.

    Raises
    ------
    QueryError, ParameterError
        If the cube has no such object or cell.
    InputError
        If the network came from another process and its cube is not given.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
    >>> c2n.explain(network)
    ValueAccount(cover 324 of 10 cells)
    >>> c2n.explain(network, network.labels[0])
    CellExplanation(⟨∗ · venue 0 · ∗⟩: number 1 of 10, +50 last, holds 50 of the query)
    >>> c2n.explain(network, "Object 59")
    ObjectExplanation(Object 59: neighbor, rank 40 by PageRank, linked to 0 of the query, 4 chosen cells hold it)
    """
    network = restore_context(network, cube)
    context = network.context
    assert context is not None
    if node is None:
        return compute_account(network, context, chooses=_chooses(network, context))
    asked = resolve_node(context.cube, node)
    if asked.is_cell:
        return explain_cell(network, context, asked.number)
    options = {} if network.recipe is None else network.recipe.method["options"]
    return explain_object(
        network,
        context,
        asked.number,
        ranks=_compute_ranks(network, context, options),
        items=_load_items(context.whole),
        options=options,
    )


def _chooses(network: Network, context: RequestContext) -> bool:
    """Return whether the method of a question chooses cells; one of one's own does where it did."""
    known = METHODS.get(context.method)
    return len(network.selection.cells) > 0 if known is None else chooses_cells(known)


def _compute_ranks(network: Network, context: RequestContext, options: Mapping[str, Any]) -> QueryRanks:
    """Return how objects are ranked for a request, computed once, with the damping of the method if it is PageRank."""
    if context not in _ranks:
        steering, scope, links = context.steering, context.budget.scope, context.whole.links
        own = options if context.method == "pagerank" else {}
        seeds = np.union1d(network.query.objects, np.array(steering.prefer, dtype=np.int32))
        scores = pagerank.compute_scores(links, seeds, own.get("damping", DAMPING), own.get("tolerance", TOLERANCE))
        near = partial(find_neighbors, links, network.query, scope=scope, seeds=seeds)
        _ranks[context] = QueryRanks(scores, network.query, scope, near)
    return _ranks[context]


def _load_items(cube: Cube) -> ItemsOfObjects | None:
    """Return the items of a cube by the objects that they mention; they are turned about once."""
    if cube not in _items:
        times = list_time_attributes(cube)
        found = ItemsOfObjects.of(cube, times[0] if len(times) == 1 else None)
        if found is None:
            return None
        _items[cube] = found
    return _items[cube]
