"""Numbers become labels: years, decades, fixed widths, quantiles or given edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import ParameterError, SourceError

Name = Callable[[int, int], str]
Binned = tuple[Array, Name]
SPELLINGS = "years, decades, width:N, quantiles:N or edges:A,B,C"
FEW, MOST = 6, 17
MOST_STEPS = 2.0**51
LONG = 1e21


def bin_numbers(values: Array, bins: str, what: str = "a number") -> tuple[Array, tuple[str, ...]]:
    """Return the bin of every number, and the labels of the bins from low to high; only bins in use.

    Fractions in a label have six digits, and more where two labels, or the two ends of one, would be the same.

    >>> codes, labels = bin_numbers(np.array([1999, 2003, 2008]), "decades")
    >>> codes.tolist(), labels
    ([0, 1, 1], ('199X', '200X'))
    """
    numbers = np.asarray(values, dtype=np.float64)
    place = parse_bins(bins)
    try:
        codes, name = place(numbers)
    except OverflowError:
        largest = float(numbers[np.argmax(np.abs(numbers))])
        raise SourceError(
            f"{what} is {largest!r}, too large for the bins {bins!r}: use width:N with a larger N, quantiles:N or "
            "edges:A,B,C"
        ) from None
    used, dense = np.unique(codes, return_inverse=True)
    labels: tuple[str, ...] = ()
    for digits in range(FEW, MOST + 1):
        labels = tuple(name(code, digits) for code in used.tolist())
        if len(set(labels)) == len(labels) and not any(map(_is_flat, labels)):
            break
    return dense.astype(np.int32), labels


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
        if kind == "width" and 0 < float(argument) < np.inf:
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


def _steps(values: Array, width: float) -> Array:
    """Return how many widths lie below every number; one that is written as an edge (0.3 of 0.1) starts its bin."""
    with np.errstate(over="ignore"):
        steps = np.floor(values / width + (0.0 if width.is_integer() else 1e-9))
    if np.abs(steps).max(initial=0) > MOST_STEPS:
        raise OverflowError
    return steps


def _decades(values: Array) -> Binned:
    used, codes = np.unique(_steps(values, 10.0), return_inverse=True)
    return codes, lambda code, digits: f"{int(used[code])}X"


def _fixed(values: Array, width: float) -> Binned:
    used, codes = np.unique(_steps(values, width), return_inverse=True)

    def name(code: int, digits: int) -> str:
        step = float(used[code])
        return _span(step * width, (step + 1) * width, width.is_integer(), digits)

    return codes, name


def _quantiles(values: Array, parts: int) -> Binned:
    if len(values) == 0:
        return np.empty(0, np.int64), lambda code, digits: ""
    low, high = float(values.min()), float(values.max())
    parts = min(parts, len(values))  # with as many parts as values every value has its own bin: more add nothing
    with np.errstate(over="ignore", invalid="ignore"):
        inner = np.unique(np.quantile(values, np.arange(1, parts) / parts))
    inner = inner[(inner > low) & (inner <= high)]
    ends = np.concatenate([[low], inner, [high]])
    whole = bool(np.all(values == np.floor(values)))

    def name(code: int, digits: int) -> str:
        return _span(float(ends[code]), float(ends[code + 1]), whole, digits, closed=code == len(inner))

    return np.searchsorted(inner, values, side="right"), name


def _edges(values: Array, edges: Array) -> Binned:
    whole = bool(np.all(edges == np.floor(edges)) and np.all(values == np.floor(values)))

    def name(code: int, digits: int) -> str:
        if code == 0:
            return f"below {_number(float(edges[0]), digits)}"
        if code == len(edges):
            return f"{_number(float(edges[-1]), digits)} and above"
        return _span(float(edges[code - 1]), float(edges[code]), whole, digits)

    return np.searchsorted(edges, values, side="right"), name


def _span(low: float, high: float, whole: bool, digits: int, *, closed: bool = False) -> str:
    """Return the name of low ≤ x < high (or ≤ high when closed); whole numbers name the last one inside."""
    if whole:
        low, high = float(np.ceil(low)), float(np.floor(high) if closed else np.ceil(high) - 1)
    return _number(low, digits) if high <= low else f"{_number(low, digits)}–{_number(high, digits)}"


def _is_flat(label: str) -> bool:
    low, dash, high = label.partition("–")
    return bool(dash) and low == high


def _number(value: float, digits: int) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < LONG else f"{value:.{digits}g}"
