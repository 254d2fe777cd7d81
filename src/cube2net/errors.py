"""The exceptions that cube2net raises, and the sentences they say.

    Cube2netError
    ├── InputError               what a caller gave cannot be used          (a ValueError)
    │   ├── SourceError          a file or table is not what it should be
    │   ├── QueryError           a query names objects that are not there, or none
    │   └── ParameterError       an unknown name or a value out of its range
    ├── CubeError                a folder is not a cube, is damaged or too new
    └── MissingPackageError      an optional package is not installed       (an ImportError)

Every message is one lower-case sentence: what, what was got, what is allowed, what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Literal, overload

# The highest whole number taken: compiled code counts in 64 bits, and sums of two must fit.
HIGHEST = 2**62


class Cube2netError(Exception):
    """Anything that cube2net refuses; its text is meant for the person at the keyboard."""


class InputError(Cube2netError, ValueError):
    """What a caller gave cannot be used."""


class SourceError(InputError):
    """A file or table is not what it should be."""


class QueryError(InputError):
    """A query names objects that are not there, or none at all."""


class ParameterError(InputError):
    """An unknown name, or a value out of its range."""


class CubeError(Cube2netError):
    """A folder that is not a cube, a damaged cube, or one from a newer format."""


class MissingPackageError(Cube2netError, ImportError):
    """An optional package is needed and not installed."""


def unknown(what: str, got: object, allowed: Iterable[str]) -> ParameterError:
    """Return the error for a name outside a closed list, with the nearest spelling.

    >>> print(unknown("method", "gredy", ["none", "greedy", "random"]))
    unknown method 'gredy': choose one of greedy, none, random (did you mean 'greedy'?)
    """
    names = sorted(allowed)
    near = nearest(str(got), names)
    hint = f" (did you mean {near!r}?)" if near is not None else ""
    return ParameterError(f"unknown {what} {got!r}: choose one of {', '.join(names)}{hint}")


def nearest(text: str, names: Sequence[str]) -> str | None:
    """Return the name that was most likely meant: the one fewest slips away, or one much like it; None without any.

    A slip is a letter too many, missing or wrong, or two that are swapped; there may be one for every three letters.

    >>> nearest("rgeedy", ["anneal", "greedy"]), nearest("Anneal", ["anneal", "greedy"]), nearest("best", ["anneal"])
    ('greedy', 'anneal', None)
    """
    typed = text.casefold()
    counted = {
        name: slips
        for name in names
        if abs(len(name) - len(text)) <= (most := max(len(name), len(text)) // 3)
        and (slips := _slips(typed, name.casefold())) <= most
    }
    if counted:
        return min(counted, key=lambda name: (counted[name], name != text, -_likeness(typed, name.casefold()), name))
    return next(iter(difflib.get_close_matches(text, names, n=1)), None)


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _slips(one: str, other: str) -> int:
    """Return the fewest slips that turn one text into another (their optimal string alignment).

    >>> _slips("nakeal", "anneal"), _slips("linx", "line")
    (2, 1)
    """
    before, last = list[int](), list(range(len(other) + 1))
    for i, letter in enumerate(one):
        row = [i + 1]
        for j, wanted in enumerate(other):
            fewest = min(last[j + 1] + 1, row[j] + 1, last[j] + (letter != wanted))
            if i and j and letter == other[j - 1] and one[i - 1] == wanted:
                fewest = min(fewest, before[j - 1] + 1)
            row.append(fewest)
        before, last = last, row
    return last[-1]


def some(values: Sequence[object], most: int = 3) -> str:
    """Return the first few values in ``repr``, and a sign that there are more.

    >>> some(["a", "b", "c", "d"])
    "'a', 'b', 'c', …"
    """
    return ", ".join(repr(value) for value in values[:most]) + (", …" if len(values) > most else "")


@overload
def whole_number(name: str, value: object, least: int, most: int | None = ..., *, what: str = ...) -> int: ...


@overload
def whole_number(
    name: str, value: object, least: int, most: int | None = ..., *, or_none: Literal[True], what: str = ...
) -> int | None: ...


def whole_number(
    name: str,
    value: object,
    least: int,
    most: int | None = HIGHEST,
    *,
    or_none: bool = False,
    what: str = "",
) -> int | None:
    """Return a parameter's value as a plain ``int`` when it is a whole number within its limits.

    ``what`` says what is counted; ``most=None`` is no upper limit; NumPy's whole numbers are taken too.

    >>> whole_number("m", 20, 0, what="cells")
    20
    >>> whole_number("m", 2.5, 0, what="cells")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: m is 2.5, expected a whole number of 0 or more cells
    """
    if value is None and or_none:
        return None
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    number = int(value) if isinstance(value, Integral) else 0
    if whole and number >= least and (most is None or number <= most):
        return number
    few = most is not None and most == least + 1
    if most is not None and (number > most or most < HIGHEST):
        allowed = f"{least:,} or {most:,}" if few else f"{least:,} to {most:,}"
    else:
        allowed = f"{least:,} or more"
    if not what or not (whole or few):
        allowed = f"a whole number of {allowed}"
    got = repr(number if whole else value) if number.bit_length() < 1000 else _size(number)
    raise ParameterError(f"{name} is {got}, expected {f'{allowed} {what}'.rstrip()}")


def _size(number: int) -> str:
    return f"a number of {number.bit_length():,} bits" + (" below 0" if number < 0 else "")


def missing_package(package: str, extra: str, purpose: str) -> MissingPackageError:
    """Return the error for a package that only an extra of cube2net installs.

    >>> print(missing_package("networkx", "graph", "a NetworkX graph"))
    a NetworkX graph needs the package 'networkx': pip install 'cube2net[graph]'
    """
    return MissingPackageError(f"{purpose} needs the package {package!r}: pip install 'cube2net[{extra}]'")


def first_line(error: BaseException) -> str:
    """Return the first line of what an error of another library says, without signs that steer a terminal.

    >>> first_line(ValueError("don't know what\\x0e\\nat line 7"))
    "don't know what�"
    """
    line = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    return "".join(sign if sign.isprintable() else "�" for sign in line[:300])
