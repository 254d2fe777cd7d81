"""A whole cube as tensors for PyTorch Geometric: what a loader of batches cuts its batches from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, quoted
from cube2net.network.attributes import count_labels, node_columns, shares_of
from cube2net.network.export.pyg import geometric, inputs, tensor, untouched
from cube2net.records import Cube, Query

if TYPE_CHECKING:
    from torch_geometric.data import Data


def cube_data(cube: Cube, query: Query | None = None, x: Any = None) -> Data:
    """Return a PyTorch Geometric ``Data`` whose row i is object i of a cube, every link in both directions.

    ``x`` is what is known of the objects, as :func:`to_pyg` has it, or what is given for it, a row an object. The
    labels of the query are ``y``, -1 where an object has none. Edges are in the order of the cube's links, where
    :func:`link_entries` finds them. ``x_names`` and ``label_names`` are no plain lists: of one that happened to have as
    many names as there are nodes, a loader would want the names of a batch's nodes.
    """
    pyg = geometric()
    names: list[str] | None = None
    if x is None:
        names, x = known_inputs(cube)
        if not names:
            why = "it does not keep its items" if cube.items is None else "nothing of them is a number or a share"
            why = "this is a view of other cuboids, which has no items" if cube.cells.merged else why
            raise ParameterError(
                f"nothing is known of the cube's objects that could be x, for {why}: give x=…, a row of numbers for "
                f"each of {len(cube.objects):,} objects"
            )
    given = {"x": _rows_of(x, len(cube.objects))}
    if names is not None:
        given["x_names"] = untouched(names)
    if query is not None and query.labels is not None:
        labels = sorted(set(query.labels) - {""})
        code = {label: number for number, label in enumerate(labels)}
        y = np.full(len(cube.objects), -1, dtype=np.int64)
        y[query.objects] = [code.get(label, -1) for label in query.labels]
        given |= {"y": tensor(y, np.int64), "label_names": untouched(labels)}
    links = cube.links
    source = np.repeat(np.arange(len(links)), links.degrees)
    data: Data = pyg.Data(
        num_nodes=len(cube.objects),
        edge_index=tensor([source, links.indices], np.int64),
        edge_weight=tensor(links.weights, np.float32),
        **given,
    )
    return data


def known_inputs(cube: Cube) -> tuple[list[str], Array]:
    """Return what is known of all objects as numbers: the names of the columns, and the columns."""
    every = np.arange(len(cube.objects))
    shares = shares_of(count_labels(cube, every), len(every))
    nodes, attributes = node_columns(cube, every), cube.objects.attributes.column_names
    told = nodes.drop_columns([name for name in shares if name in nodes.column_names and name not in attributes])
    names, columns = inputs(told, shares)
    return names, columns if names else np.zeros((len(every), 0))


def _rows_of(x: Any, count: int) -> Any:
    """Return what was given of the objects as a tensor; raise where it is not a row of numbers an object."""
    import torch

    try:
        rows = torch.as_tensor(x if isinstance(x, torch.Tensor) else np.array(x, dtype=np.float32))
    except (TypeError, ValueError):
        raise ParameterError(f"x is {quoted(x)}, expected a row of numbers for each of {count:,} objects") from None
    if rows.ndim < 1 or len(rows) != count:
        shape = " × ".join(f"{size:,}" for size in rows.shape) or "one number"
        raise ParameterError(f"x has the shape {shape}, expected a row for each of {count:,} objects")
    return rows
