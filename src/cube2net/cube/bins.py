"""Numbers become labels: years, decades, fixed widths, quantiles or given edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from cube2net.errors import ParameterError
from cube2net.records.ragged import Array

Binned = tuple[Array, tuple[str, ...]]
SPELLINGS = "years, decades, width:N, quantiles:N or edges:A,B,C"


def bin_numbers(values: Array, bins: str) -> Binned:
    """Return the bin of every number, and the labels of the bins from low to high; only bins in use.

    >>> codes, labels = bin_numbers(np.array([1999, 2003, 2008]), "decades")
    >>> codes.tolist(), labels
    ([0, 1, 1], ('199X', '200X'))
    """
    codes, labels = parse_bins(bins)(np.asarray(values, dtype=np.float64))
    used, dense = np.unique(codes, return_inverse=True)
    return dense.astype(np.int32), tuple(labels[code] for code in used.tolist())


def is_bins(text: str) -> bool:
    """Return whether a text spells bins.

    >>> is_bins("decades"), is_bins("state")
    (True, False)
    """
    return text in ("years", "decades") or text.partition(":")[0] in ("width", "quantiles", "edges")


def parse_bins(text: str) -> Callable[[Array], Binned]:
    """Return the function that a spelling of bins stands for."""
    kind, _, argument = text.partition(":")
    try:
        if text == "years":
            return partial(_fixed, width=1.0)
        if text == "decades":
            return _decades
        if kind == "width" and float(argument) > 0:
            return partial(_fixed, width=float(argument))
        if kind == "quantiles" and int(argument) >= 1:
            return partial(_quantiles, parts=int(argument))
        if kind == "edges":
            edges = np.array([float(edge) for edge in argument.split(",")])
            if bool(np.all(edges[1:] > edges[:-1])) and bool(np.isfinite(edges).all()):
                return partial(_edges, edges=edges)
    except ValueError:
        pass
    raise ParameterError(f"cannot read the bins {text!r}: write {SPELLINGS}")


def _decades(values: Array) -> Binned:
    used, codes = np.unique(np.floor(values / 10).astype(np.int64), return_inverse=True)
    return codes, tuple(f"{ten}X" for ten in used.tolist())


def _fixed(values: Array, width: float) -> Binned:
    used, codes = np.unique(np.floor(values / width), return_inverse=True)
    return codes, tuple(_span(step * width, (step + 1) * width, width.is_integer()) for step in used.tolist())


def _quantiles(values: Array, parts: int) -> Binned:
    if len(values) == 0:
        return np.empty(0, np.int64), ()
    inner = np.unique(np.quantile(values, np.arange(1, parts) / parts))
    inner = inner[(inner > values.min()) & (inner <= values.max())]
    ends = np.concatenate([[values.min()], inner, [values.max()]])
    whole = bool(np.all(values == np.floor(values)))
    last = len(inner)
    labels = tuple(_span(ends[i], ends[i + 1], whole, closed=i == last) for i in range(len(ends) - 1))
    return np.searchsorted(inner, values, side="right"), labels


def _edges(values: Array, edges: Array) -> Binned:
    whole = bool(np.all(edges == np.floor(edges)) and np.all(values == np.floor(values)))
    labels = (
        f"below {_number(edges[0])}",
        *(_span(low, high, whole) for low, high in pairwise(edges.tolist())),
        f"{_number(edges[-1])} and above",
    )
    return np.searchsorted(edges, values, side="right"), labels


def _span(low: float, high: float, whole: bool, *, closed: bool = False) -> str:
    """Return the name of low ≤ x < high (or ≤ high when closed); whole numbers name the last one inside."""
    if whole:
        last = np.floor(high) if closed else np.ceil(high) - 1
        return _number(np.ceil(low)) if last <= np.ceil(low) else f"{_number(np.ceil(low))}–{_number(last)}"
    return f"{_number(low)}–{_number(high)}"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
