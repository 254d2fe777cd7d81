"""Clusters of objects, given in any form."""

from __future__ import annotations

import math
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from cube2net.api.query import Asked
from cube2net.errors import ParameterError
from cube2net.mining.downstream import cluster_query as cluster_query
from cube2net.mining.downstream import embed_nodes as embed_nodes
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import OBJECTS, Query, is_missing, known_rows, parse_query


def resolve_clusters(cube: Cube, clusters: Any, network: Network | None) -> Asked:
    """Return clusters by the object that each is of: as they come, or in the order of a network's objects."""
    if isinstance(clusters, Query):
        return clusters
    if _is_column(clusters):
        clusters = clusters.iloc[:, 0]
    if _is_series(clusters) and not (network is not None and _is_counted(clusters.index)):
        clusters = dict(zip(clusters.index.tolist(), clusters.tolist(), strict=True))
    keys, values = parse_query(clusters, partial(known_rows, cube.objects), texts=not cube.objects.whole, clusters=True)
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
    """Return whether an index is the one that nobody gave: 0, 1, 2, … without a name."""
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
