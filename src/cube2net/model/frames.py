"""Conversion of tables to pandas, Polars or Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from cube2net.errors import MissingPackageError

if TYPE_CHECKING:
    import pandas
    import polars

    from cube2net.model.cube import Cube


class NodesAndLinks(NamedTuple):
    """The nodes and the links of a network: two tables of Arrow, or two frames of pandas or Polars."""

    nodes: Any
    links: Any


def to_pandas(table: pa.Table) -> pandas.DataFrame:
    """Return a table as a frame of pandas; numbers and truths keep their type where some are missing, lists are lists.

    >>> frame = to_pandas(pa.table({"year": [2006, None], "cells": [[1], []]}))
    >>> str(frame["year"].dtype), frame["cells"].tolist()
    ('Int64', [[1], []])
    """
    try:
        import pandas
    except ImportError:
        raise MissingPackageError("a frame of pandas needs the package 'pandas': pip install pandas") from None
    nullable = {
        pa.bool_(): pandas.BooleanDtype(),
        **{getattr(pa, f"int{bits}")(): getattr(pandas, f"Int{bits}Dtype")() for bits in (8, 16, 32, 64)},
        **{getattr(pa, f"uint{bits}")(): getattr(pandas, f"UInt{bits}Dtype")() for bits in (8, 16, 32, 64)},
    }

    def series(column: pa.ChunkedArray) -> Any:
        if pa.types.is_nested(column.type):
            return pandas.Series(column.to_pylist(), dtype=object)
        return column.to_pandas(types_mapper=nullable.get if column.null_count else None)

    columns = zip(table.column_names, table.columns, strict=True)
    return pandas.DataFrame({name: series(column) for name, column in columns}, columns=table.column_names)


def to_polars(table: pa.Table) -> polars.DataFrame:
    """Return a table as a frame of Polars."""
    try:
        import polars
    except ImportError:
        raise MissingPackageError("a frame of Polars needs the package 'polars': pip install polars") from None
    frame: polars.DataFrame = polars.DataFrame(table)
    return frame


def cells_table(cube: Cube, star: str) -> pa.Table:
    """Return one row a cell of a cube: its number, its label in every dimension, and how many objects it has.

    A dimension called like one of the two others has ``_dimension`` behind its name; ``star`` is all labels together.
    """
    columns: dict[str, Any] = {"cell": pa.array(np.arange(len(cube.cells)), pa.int64())}
    for number, dimension in enumerate(cube.dimensions):
        name = f"{dimension.name}_dimension" if dimension.name in ("cell", "objects") else dimension.name
        codes, labels = cube.cells.labels[:, number].astype(np.int32), list(dimension.labels)
        if star not in labels and bool((codes < 0).any()):
            labels.append(star)
        codes = np.where(codes < 0, labels.index(star) if star in labels else 0, codes)
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(labels, pa.string()))
    return pa.table({**columns, "objects": pa.array(cube.cells.members.sizes, pa.int64())})
