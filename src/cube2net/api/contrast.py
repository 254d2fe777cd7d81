"""Contrast sets of objects: two queries, the labels of one, or clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, overload

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.progress import report_compiling
from cube2net._util.statistics import LEVEL
from cube2net.api.construct import construct
from cube2net.api.query import Asked, check_cube, resolve_query
from cube2net.api.replay import restore_context
from cube2net.cube.cuboids import pick_cells
from cube2net.errors import ParameterError, QueryError, check_int, quote, quote_unsafe
from cube2net.explanation.contrast import (
    Separation,
    Sides,
    compute_difference_interval,
    compute_least_objects,
    separate,
)
from cube2net.explanation.mixed_cells import MixedCells, find_mixed_cells
from cube2net.model.comparison import make_number_key, name_clusters
from cube2net.model.contrast import REST, Contrast, Description, SeparatingCell, describe_overlap
from cube2net.model.cube import Cube, require_own_cells
from cube2net.model.interfaces import check_call
from cube2net.model.network import Network
from cube2net.model.node_names import MixedCell
from cube2net.model.objects import distinct_names
from cube2net.model.query import OBJECTS, Query, find_known_rows, is_missing, parse_query
from cube2net.selection.objectives import Cover

NAMES = ("first", "second")
OTHERS = ("the query", "all others")
BOTH = "both"


@overload
def contrast(
    cube: Cube,
    query: Asked,
    against: None = None,
    n_cells: int = 10,
    *,
    names: Sequence[str] | None = None,
    alpha: float = LEVEL,
) -> Contrast | Description: ...


@overload
def contrast(
    cube: Cube,
    query: Asked,
    against: Asked,
    n_cells: int = 10,
    *,
    names: Sequence[str] | None = None,
    alpha: float = LEVEL,
) -> Contrast: ...


@check_call
@report_compiling
def contrast(
    cube: Cube,
    query: Asked,
    against: Asked | None = None,
    n_cells: int = 10,
    *,
    names: Sequence[str] | None = None,
    alpha: float = LEVEL,
) -> Contrast | Description:
    """Find the few cells that distinguish a query from another query or from all other objects, or its labels.

    Cells are at *mixed levels*: some dimensions have a label of any level, the others are ∗, as in ⟨202X · ∗ ·
    parsing⟩. An object is in such a cell if a single item that mentions it has all labels.

    Parameters
    ----------
    cube
        A cube of :func:`build` or :func:`open`, also rolled up or diced.
    query
        Objects as for :func:`construct`. If they have labels and ``against`` is not given, each label is contrasted
        with the others.
    against
        The objects to compare with; by default all other objects of the cube, if the query has no labels. Objects in
        both queries are on neither side.
    n_cells
        The maximum number of cells, for each contrast.
    names
        The names of the two sides in the network and in sentences.
    alpha
        The significance level: only cells with a corrected p-value of at most this are chosen; 1 allows all tested
        cells with different shares. It does not change which cells are tested.

    Returns
    -------
    Contrast or Description
        For two queries, a contrast with the chosen ``cells`` (shares, lift, interval, p-value), their ``value``, its
        ``bound``, a ``sentence``, and a ``network`` of the objects of both sides with the cells as nodes. For the
        labels of one query, a description with one contrast per label.

    Notes
    -----
    Each object is credited with 1 − other share / own share of the best chosen cell of its side that contains it; the
    value is the mean over all objects. Choosing greedily reaches at least 1 − 1/e of the best value for as many cells,
    and ``bound`` is an upper limit for any choice. P-values are those of Fisher's exact test with Holm's correction
    over all distinct cells that are large enough to be significant at 0.05. A cell is left out if another cell with
    fewer labels has the same objects, or if a more general cell explains it: within that cell, it does not differ
    significantly between the sides.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build(planted.corpus)
    >>> found = c2n.contrast(cube, planted.query(0), planted.query(1), names=("A", "B"))
    >>> found
    Contrast(A 50 against B 50: 2 cells, value 1.000 of 1.000)
    >>> print(found.sentences[0])
    ⟨∗ · ∗ · topic 0⟩ holds 100 % of B (50 of 50) and 0 % of A (0 of 50), p < 0.001
    >>> found.network
    Network(100 objects, 2 cells, 441 links, 100 in the query)
    """
    asked = _check_arguments(cube, query, n_cells, alpha)
    if against is None:
        if asked.labels is None:
            rest = asked.others(len(cube.objects))
            return _pair(cube, asked, rest, n_cells, OTHERS if names is None else _names(names), alpha)
        if names is not None:
            raise ParameterError(
                f"names are those of two queries, and the sides are labels here, got {quote(names)}",
                parameter="names",
                value=names,
            )
        return _describe_groups(cube, asked, asked.labels, n_cells, alpha)
    return _pair(cube, asked, resolve_query(cube, against), n_cells, _names(names), alpha)


@report_compiling
def describe_clusters(
    network: Network | Cube, clusters: Any, n_cells: int = 10, *, cube: Cube | None = None, alpha: float = LEVEL
) -> Description:
    """Return the cells that distinguish each cluster of objects of a network or a cube.

    See :meth:`cube2net.Network.describe_clusters`.
    """
    if isinstance(network, Network):
        network = restore_context(network, cube)
        assert network.context is not None
        whole = network.context.whole
    else:
        whole = check_cube(network)
    asked = _check_arguments(
        whole, resolve_clusters(whole, clusters, network if isinstance(network, Network) else None), n_cells, alpha
    )
    if asked.labels is None:
        raise QueryError("the clusters name objects only: give the cluster of each, as a mapping or a table")
    found = _describe_groups(whole, asked, name_clusters(asked.labels), n_cells, alpha)
    if not isinstance(network, Network):
        return found
    given = asked.objects[np.array(found.query.labels, dtype=object) != ""]
    return replace(found, elsewhere=int((~np.isin(given, network.objects)).sum()))


def _check_arguments(cube: Cube, query: Asked, n_cells: int, alpha: float) -> Query:
    """Return the query when everything asked for can be."""
    asked = resolve_query(cube, query)
    require_own_cells(cube, "contrasted")
    check_int("n_cells", n_cells, 1, what="cells")
    given: object = alpha
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 < float(given) <= 1:
        raise ParameterError(
            f"alpha is {quote(alpha)}, expected a number above 0 and up to 1", parameter="alpha", value=alpha
        )
    return asked


def _names(given: Sequence[str] | None) -> tuple[str, str]:
    if given is None:
        return NAMES
    names = [given] if isinstance(given, str) else list(given)
    if len(names) != 2 or not all(isinstance(name, str) and name for name in names) or names[0] == names[1]:
        raise ParameterError(f"names is {quote(given)}, expected two different texts", parameter="names", value=given)
    return names[0], names[1]


def _pair(cube: Cube, one: Query, two: Query, n_cells: int, names: tuple[str, str], alpha: float) -> Contrast:
    """Return the contrast of two queries."""
    rows = np.union1d(one.objects, two.objects)
    in_one, in_two = np.isin(rows, one.objects), np.isin(rows, two.objects)
    shared = in_one & in_two
    called = np.array([*names, *distinct_names([BOTH], taken=names)], dtype=object)
    query = Query(rows, tuple(called[np.where(shared, 2, in_two)].tolist()))
    sizes = int((in_one & ~shared).sum()), int((in_two & ~shared).sum())
    note = describe_overlap(names, sizes, int(shared.sum()))
    sides = Sides(in_one[~shared])
    (found,) = _separate(cube, rows[~shared], [sides], n_cells, alpha)
    return _contrast(cube, query, names, found, int(shared.sum()), note, alpha)


def _describe_groups(cube: Cube, query: Query, labels: Sequence[str], n_cells: int, alpha: float) -> Description:
    """Return the contrasts of each label against the others; objects without a label are on no side."""
    given = np.array(labels, dtype=object)
    there = given != ""
    names = sorted(set(given[there].tolist()), key=make_number_key)
    if not names:
        raise QueryError("no object of the query has a label: give some")
    sides = [Sides(given[there] == name, both=False) for name in names]
    outside = int((~there).sum())
    query = Query(query.objects, tuple(labels), ids=query.ids)
    found = _separate(cube, query.objects[there], sides, n_cells, alpha)
    note = (
        f"all {int(there.sum()):,} objects are in {quote_unsafe(names[0])}: there are no others"
        if len(names) == 1
        else ""
    )
    each = tuple(
        _contrast(cube, query, (name, *distinct_names([REST], taken=[name])), one, outside, note, alpha)
        for name, one in zip(names, found, strict=True)
    )
    cells = list(dict.fromkeys(cell.labels for part in each for cell in part.cells))
    return Description(each, query, outside, lambda: _network(cube, query, cells))


Found = tuple[MixedCells, Sides, Separation]


def _separate(
    cube: Cube, objects: Array, sides: Sequence[Sides], n_cells: int, alpha: float
) -> list[Found | tuple[int, int]]:
    """Return what separates the sides of each contrast, or only their sizes where one side of it is empty."""
    if not all(all(each.sizes) for each in sides):
        return [each.sizes for each in sides]
    mixed = find_mixed_cells(cube, objects, compute_least_objects(sides))
    return [(mixed, *pair) for pair in zip(sides, separate(cube, mixed, sides, n_cells, alpha), strict=True)]


def _contrast(
    cube: Cube,
    query: Query,
    names: tuple[str, str],
    found: Found | tuple[int, int],
    outside: int,
    note: str,
    alpha: float,
) -> Contrast:
    if len(found) == 2:
        make = partial(_network, cube, query, [])
        return Contrast(names, found, (), query, outside=outside, note=note, alpha=alpha, make=make)
    mixed, sides, separation = found
    tested = separation.tested
    gains = np.diff(separation.values, prepend=0.0).tolist()
    cells = tuple(
        _cell(cube, mixed, sides, separation, at, gain)
        for at, gain in zip(separation.chosen.tolist(), gains, strict=True)
    )
    speaks = tested.for_first | sides.both
    nearest = None
    if not cells and speaks.any():
        at = int(np.argmin(np.where(speaks, tested.raw, 2.0)))
        nearest = _cell(cube, mixed, sides, separation, at, 0.0) if tested.raw[at] < 1 else None
    picked = [cell.labels for cell in cells]
    return Contrast(
        names,
        sides.sizes,
        cells,
        query,
        value=float(separation.values[-1]) if len(cells) else 0.0,
        bound=separation.bound,
        tested=len(tested.cells),
        n_significant=separation.n_significant,
        explained=separation.explained,
        nearest=nearest,
        outside=outside,
        note=note,
        alpha=alpha,
        make=lambda: _network(cube, query, picked),
    )


def _cell(
    cube: Cube,
    mixed: MixedCells,
    sides: Sides,
    separation: Separation,
    at: int,
    gain: float,
) -> SeparatingCell:
    """Return the record of one tested cell."""
    tested, (first, second) = separation.tested, sides.sizes
    cell, in_first, in_second = int(tested.cells[at]), int(tested.in_first[at]), int(tested.in_second[at])
    levels = mixed.cuboids[int(mixed.cuboid[cell])]
    low, high = compute_difference_interval(in_first, first, in_second, second)
    return SeparatingCell(
        labels=MixedCell(levels, tuple(mixed.labels[cell].tolist())).names(cube),
        levels=tuple(
            None if at is None else dimension.levels[at].name
            for dimension, at in zip(cube.dimensions, levels, strict=True)
        ),
        in_first=in_first,
        in_second=in_second,
        first_size=first,
        second_size=second,
        for_first=bool(tested.for_first[at]),
        low=low,
        high=high,
        p_value=float(tested.p_values[at]),
        raw_p_value=float(tested.raw[at]),
        gain=gain,
    )


def _network(cube: Cube, query: Query, cells: Sequence[tuple[str, ...]]) -> Network:
    """Return the network of a query with some cells as its nodes."""
    view = pick_cells(cube, cells)
    return construct(view, query, "greedy", n_cells=len(cells), objective=Cover(r=None, least=1), form="cells")


def resolve_clusters(cube: Cube, clusters: Any, network: Network | None) -> Asked:
    """Return clusters by the object that each is of: as they come, or in the order of a network's objects."""
    if isinstance(clusters, Query):
        return clusters
    if _is_column(clusters):
        clusters = clusters.iloc[:, 0]
    if _is_series(clusters) and not (network is not None and _is_counted(clusters.index)):
        clusters = dict(zip(clusters.index.tolist(), clusters.tolist(), strict=True))
    keys, values = parse_query(
        clusters, partial(find_known_rows, cube.objects), texts=not cube.objects.whole, clusters=True
    )
    if values is not None:
        return cube.query(keys, [_label(value) for value in values])
    if network is None or not (isinstance(clusters, list | tuple) or hasattr(clusters, "__array__")):
        return clusters
    return _in_order(np.asarray(clusters, dtype=object), network)


def _in_order(values: Any, network: Network) -> Query:
    """Return clusters that stand in the order of a network's objects, or of its query."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    counts = {len(network.query): network.query.objects, len(network.objects): network.objects}
    if len(values) not in counts:
        raise ParameterError(
            f"there are {len(values):,} clusters, expected one for each of the {len(network.query):,} objects of the "
            f"query, or of the {len(network.objects):,} objects of the network"
        )
    rows = counts[len(values)]
    order = np.argsort(rows)
    return Query(rows[order], tuple(_label(values[at]) for at in order.tolist()), ids=network.names.ids(rows[order]))


def _is_column(thing: Any) -> bool:
    """Return whether something is a frame of one column that is not of objects, whose index has no name."""
    if not (hasattr(thing, "iloc") and hasattr(thing, "columns")) or len(thing.columns) != 1:
        return False
    return thing.index.name is None and str(thing.columns[0]).strip().casefold() not in OBJECTS


def _is_series(thing: Any) -> bool:
    return hasattr(thing, "index") and hasattr(thing, "to_numpy") and not hasattr(thing, "columns")


def _is_counted(index: Any) -> bool:
    """Return whether an index is the default one: 0, 1, 2, … without a name."""
    return type(index).__name__ == "RangeIndex" and index.name is None and (index.start, index.step) == (0, 1)


def _label(value: Any) -> str:
    """Return a cluster as a label, empty where it is none.

    >>> [_label(value) for value in (1.0, np.int64(2), "a", None, float("nan"), -1)]
    ['1', '2', 'a', '', '', '']
    """
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating):
        return "" if math.isnan(value) or value < 0 else str(int(value) if float(value).is_integer() else float(value))
    return "" if isinstance(value, Integral) and int(value) < 0 else str(value)
