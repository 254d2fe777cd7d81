"""Tables as people want them at hand: of Arrow, pandas or Polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from cube2net.errors import MissingPackageError

if TYPE_CHECKING:
    import pandas
    import polars


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
