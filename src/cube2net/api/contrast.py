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
from cube2net.explanation.drill import MixedCells, find_mixed_cells
from cube2net.model.comparison import make_number_key, name_clusters
from cube2net.model.contrast import REST, Contrast, Description, SeparatingCell, describe_overlap
from cube2net.model.cube import Cube, require_own_cells
from cube2net.model.interfaces import check_call
from cube2net.model.network import Network
from cube2net.model.node_names import MixedCell
from cube2net.model.objects import distinct_names
from cube2net.model.query import OBJECTS, Query, find_known_rows, is_missing, parse_query
from cube2net.selection.objectives import Cover

DEFAULT_NAMES = ("first", "second")
NAMES_AGAINST_REST = ("the query", "all others")
NAME_OF_SHARED = "both"


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
    """Find a few cells that distinguish two queries, a query from all other objects, or the labels of a query.

    Cells are at *mixed levels*: some dimensions have a label of any level, and the others are ∗, as in ⟨202X · ∗ ·
    parsing⟩. An object is in such a cell if a single item that mentions it has all labels of the cell.

    Parameters
    ----------
    cube
        A cube from :func:`build` or :func:`open`, which may be rolled up or diced.
    query
        Objects as for :func:`construct`. If they have labels and ``against`` is not given, each label is contrasted
        with the others.
    against
        The objects to compare with; by default all other objects of the cube, if the query has no labels. Objects in
        both queries are left out.
    n_cells
        The maximum number of cells per contrast.
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
    value is the mean over all objects. The greedy choice reaches at least 1 − 1/e of the optimal value for the same
    number of cells, and ``bound`` is an upper limit for any choice. P-values are from Fisher's exact test with Holm's
    correction over all distinct cells that are large enough to be significant at 0.05. A cell is left out if another
    cell with fewer labels has the same objects, or if a more general cell explains it, that is, if its shares do not
    differ significantly among the objects of the more general cell.

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
    resolved_query = _check_arguments(cube, query, n_cells, alpha)
    if against is None:
        if resolved_query.labels is None:
            other_objects = resolved_query.others(len(cube.objects))
            return _contrast_queries(
                cube,
                resolved_query,
                other_objects,
                n_cells,
                NAMES_AGAINST_REST if names is None else _check_names(names),
                alpha,
            )
        if names is not None:
            raise ParameterError(
                f"names are those of two queries, and the sides are labels here, got {quote(names)}",
                parameter="names",
                value=names,
            )
        return _describe_groups(cube, resolved_query, resolved_query.labels, n_cells, alpha)
    return _contrast_queries(cube, resolved_query, resolve_query(cube, against), n_cells, _check_names(names), alpha)


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
        full_cube = network.context.whole
    else:
        full_cube = check_cube(network)
    clustered_query = _check_arguments(
        full_cube,
        resolve_clusters(full_cube, clusters, network if isinstance(network, Network) else None),
        n_cells,
        alpha,
    )
    if clustered_query.labels is None:
        raise QueryError("the clusters name objects only: give the cluster of each, as a mapping or a table")
    description = _describe_groups(full_cube, clustered_query, name_clusters(clustered_query.labels), n_cells, alpha)
    if not isinstance(network, Network):
        return description
    labelled_objects = clustered_query.objects[np.array(description.query.labels, dtype=object) != ""]
    return replace(description, elsewhere=int((~np.isin(labelled_objects, network.objects)).sum()))


def _check_arguments(cube: Cube, query: Asked, n_cells: int, alpha: float) -> Query:
    """Return the resolved query; raise for invalid arguments."""
    resolved_query = resolve_query(cube, query)
    require_own_cells(cube, "contrasted")
    check_int("n_cells", n_cells, 1, what="cells")
    level: object = alpha
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) <= 1:
        raise ParameterError(
            f"alpha is {quote(alpha)}, expected a number above 0 and up to 1", parameter="alpha", value=alpha
        )
    return resolved_query


def _check_names(value: Sequence[str] | None) -> tuple[str, str]:
    if value is None:
        return DEFAULT_NAMES
    names = [value] if isinstance(value, str) else list(value)
    if len(names) != 2 or not all(isinstance(name, str) and name for name in names) or names[0] == names[1]:
        raise ParameterError(f"names is {quote(value)}, expected two different texts", parameter="names", value=value)
    return names[0], names[1]


def _contrast_queries(
    cube: Cube, first: Query, second: Query, n_cells: int, names: tuple[str, str], alpha: float
) -> Contrast:
    """Return the contrast of two queries."""
    rows = np.union1d(first.objects, second.objects)
    in_first, in_second = np.isin(rows, first.objects), np.isin(rows, second.objects)
    shared = in_first & in_second
    label_names = np.array([*names, *distinct_names([NAME_OF_SHARED], taken=names)], dtype=object)
    query = Query(rows, tuple(label_names[np.where(shared, 2, in_second)].tolist()))
    sizes = int((in_first & ~shared).sum()), int((in_second & ~shared).sum())
    note = describe_overlap(names, sizes, int(shared.sum()))
    sides = Sides(in_first[~shared])
    (separated,) = _separate(cube, rows[~shared], [sides], n_cells, alpha)
    return _make_contrast(cube, query, names, separated, int(shared.sum()), note, alpha)


def _describe_groups(cube: Cube, query: Query, labels: Sequence[str], n_cells: int, alpha: float) -> Description:
    """Return the contrast of each label with the others; objects without a label are on no side."""
    object_labels = np.array(labels, dtype=object)
    has_label = object_labels != ""
    names = sorted(set(object_labels[has_label].tolist()), key=make_number_key)
    if not names:
        raise QueryError("no object of the query has a label: give some")
    sides = [Sides(object_labels[has_label] == name, both=False) for name in names]
    n_outside = int((~has_label).sum())
    query = Query(query.objects, tuple(labels), ids=query.ids)
    separated_sides = _separate(cube, query.objects[has_label], sides, n_cells, alpha)
    note = (
        f"all {int(has_label.sum()):,} objects are in {quote_unsafe(names[0])}: there are no others"
        if len(names) == 1
        else ""
    )
    contrasts = tuple(
        _make_contrast(cube, query, (name, *distinct_names([REST], taken=[name])), separated, n_outside, note, alpha)
        for name, separated in zip(names, separated_sides, strict=True)
    )
    cells = list(dict.fromkeys(cell.labels for contrast_result in contrasts for cell in contrast_result.cells))
    return Description(contrasts, query, n_outside, lambda: _construct_network(cube, query, cells))


SeparatedSides = tuple[MixedCells, Sides, Separation]


def _separate(
    cube: Cube, objects: Array, sides: Sequence[Sides], n_cells: int, alpha: float
) -> list[SeparatedSides | tuple[int, int]]:
    """Return the separation of the sides of each contrast, or only their sizes if a side is empty."""
    if not all(all(each.sizes) for each in sides):
        return [each.sizes for each in sides]
    mixed = find_mixed_cells(cube, objects, compute_least_objects(sides))
    return [(mixed, *pair) for pair in zip(sides, separate(cube, mixed, sides, n_cells, alpha), strict=True)]


def _make_contrast(
    cube: Cube,
    query: Query,
    names: tuple[str, str],
    separated: SeparatedSides | tuple[int, int],
    outside: int,
    note: str,
    alpha: float,
) -> Contrast:
    if len(separated) == 2:
        construct_empty = partial(_construct_network, cube, query, [])
        return Contrast(names, separated, (), query, outside=outside, note=note, alpha=alpha, make=construct_empty)
    mixed, sides, separation = separated
    tested = separation.tested
    gains = np.diff(separation.values, prepend=0.0).tolist()
    cells = tuple(
        _make_separating_cell(cube, mixed, sides, separation, index, gain)
        for index, gain in zip(separation.chosen.tolist(), gains, strict=True)
    )
    may_be_nearest = tested.for_first | sides.both
    nearest = None
    if not cells and may_be_nearest.any():
        index = int(np.argmin(np.where(may_be_nearest, tested.raw, 2.0)))
        nearest = _make_separating_cell(cube, mixed, sides, separation, index, 0.0) if tested.raw[index] < 1 else None
    cell_labels = [cell.labels for cell in cells]
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
        make=lambda: _construct_network(cube, query, cell_labels),
    )


def _make_separating_cell(
    cube: Cube,
    mixed: MixedCells,
    sides: Sides,
    separation: Separation,
    index: int,
    gain: float,
) -> SeparatingCell:
    """Return the record of one tested cell."""
    tested, (first, second) = separation.tested, sides.sizes
    cell, in_first, in_second = int(tested.cells[index]), int(tested.in_first[index]), int(tested.in_second[index])
    levels = mixed.cuboids[int(mixed.cuboid[cell])]
    low, high = compute_difference_interval(in_first, first, in_second, second)
    return SeparatingCell(
        labels=MixedCell(levels, tuple(mixed.labels[cell].tolist())).names(cube),
        levels=tuple(
            None if level is None else dimension.levels[level].name
            for dimension, level in zip(cube.dimensions, levels, strict=True)
        ),
        in_first=in_first,
        in_second=in_second,
        first_size=first,
        second_size=second,
        for_first=bool(tested.for_first[index]),
        low=low,
        high=high,
        p_value=float(tested.p_values[index]),
        raw_p_value=float(tested.raw[index]),
        gain=gain,
    )


def _construct_network(cube: Cube, query: Query, cells: Sequence[tuple[str, ...]]) -> Network:
    """Construct the network of a query with the given cells as nodes."""
    view = pick_cells(cube, cells)
    return construct(view, query, "greedy", n_cells=len(cells), objective=Cover(r=None, least=1), form="cells")


def resolve_clusters(cube: Cube, clusters: Any, network: Network | None) -> Asked:
    """Return clusters as a query with labels: given by object, or in the order of the objects of a network."""
    if isinstance(clusters, Query):
        return clusters
    if _is_column(clusters):
        clusters = clusters.iloc[:, 0]
    if _is_series(clusters) and not (network is not None and _is_default_index(clusters.index)):
        clusters = dict(zip(clusters.index.tolist(), clusters.tolist(), strict=True))
    keys, values = parse_query(
        clusters, partial(find_known_rows, cube.objects), texts=not cube.objects.whole, clusters=True
    )
    if values is not None:
        return cube.query(keys, [_format_cluster(value) for value in values])
    if network is None or not (isinstance(clusters, list | tuple) or hasattr(clusters, "__array__")):
        return clusters
    return _align_clusters(np.asarray(clusters, dtype=object), network)


def _align_clusters(clusters: Any, network: Network) -> Query:
    """Return clusters given in the order of the objects of a network, or of its query."""
    if clusters.ndim == 2 and clusters.shape[1] == 1:
        clusters = clusters[:, 0]
    objects_by_count = {len(network.query): network.query.objects, len(network.objects): network.objects}
    if len(clusters) not in objects_by_count:
        raise ParameterError(
            f"there are {len(clusters):,} clusters, expected one for each of the {len(network.query):,} objects of the "
            f"query, or of the {len(network.objects):,} objects of the network"
        )
    rows = objects_by_count[len(clusters)]
    order = np.argsort(rows)
    return Query(
        rows[order],
        tuple(_format_cluster(clusters[index]) for index in order.tolist()),
        ids=network.names.ids(rows[order]),
    )


def _is_column(value: Any) -> bool:
    """Return whether a value is a data frame of one column, other than of objects, with an unnamed index."""
    if not (hasattr(value, "iloc") and hasattr(value, "columns")) or len(value.columns) != 1:
        return False
    return value.index.name is None and str(value.columns[0]).strip().casefold() not in OBJECTS


def _is_series(value: Any) -> bool:
    return hasattr(value, "index") and hasattr(value, "to_numpy") and not hasattr(value, "columns")


def _is_default_index(index: Any) -> bool:
    """Return whether an index is the default one: 0, 1, 2, … without a name."""
    return type(index).__name__ == "RangeIndex" and index.name is None and (index.start, index.step) == (0, 1)


def _format_cluster(value: Any) -> str:
    """Return the label of a cluster; empty for missing and negative values.

    >>> [_format_cluster(value) for value in (1.0, np.int64(2), "a", None, float("nan"), -1)]
    ['1', '2', 'a', '', '', '']
    """
    if is_missing(value):
        return ""
    if isinstance(value, float | np.floating):
        return "" if math.isnan(value) or value < 0 else str(int(value) if float(value).is_integer() else float(value))
    return "" if isinstance(value, Integral) and int(value) < 0 else str(value)
