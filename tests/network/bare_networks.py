"""Networks made of plain lists, without a cube."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import ragged_from_lists
from cube2net.model.network import Network
from cube2net.model.objects import Objects
from cube2net.model.query import Query
from cube2net.model.selection import Selection


def bare_network(
    links: Sequence[tuple[int, int]],
    *,
    query: int,
    objects: Sequence[int] = (),
    cells: Sequence[tuple[str, ...]] = (),
    labels: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
    held: Sequence[Sequence[int]] | None = None,
    query_links: Sequence[int] | None = None,
    ids: Sequence[str] = (),
    names: Sequence[str] = (),
    kinds: Sequence[str] = (),
    numbers: Sequence[int] | None = None,
    values: Sequence[float] | None = None,
    dimensions: tuple[str, ...] = ("group",),
    form: str = "",
) -> Network:
    """Return a network of objects (rows, the first ``query`` ones those of the query) and cells (their labels).

    ``held`` are the ranks of the cells of every object, ``numbers`` those of the cells in the cube. Ids, names and
    kinds are of all objects of the cube. Links join positions of nodes, objects first.
    """
    rows = np.array(objects or range(query), dtype=np.int32)
    ids = ids or [f"o{row}" for row in range(int(rows.max()) + 1)]
    ends = np.array(links, dtype=np.int32).reshape(-1, 2)
    chosen = np.array(range(len(cells)) if numbers is None else numbers, dtype=np.int32)
    known = np.linspace(0.1, 0.5, len(cells)) if values is None else np.array(values)
    table = {"object": ids, "name": names or ids, "kind": kinds or ["thing"] * len(ids)}
    return Network(
        query=Query(rows[:query], None if labels is None else tuple(labels)),
        selection=Selection(np.sort(rows), 0.5, cells=chosen, values=known),
        objects=rows,
        cells=chosen,
        source=ends[:, 0],
        target=ends[:, 1],
        weight=np.ones(len(ends), np.float32) if weights is None else np.array(weights, np.float32),
        brought_by=ragged_from_lists(held or [[]] * len(rows)),
        query_links=np.zeros(len(rows), np.int32) if query_links is None else np.array(query_links, np.int32),
        names=Objects.of(pa.table({name: pa.array(column, pa.string()) for name, column in table.items()})),
        dimensions=dimensions if cells else (),
        labels=tuple(cells),
        form=form or ("cells+objects" if cells else "objects"),
    )
