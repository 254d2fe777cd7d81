"""The exceptions that cube2net raises, and the messages they carry.

    Cube2netError
    ├── InputError               an argument cannot be used                 (a ValueError)
    │   ├── SourceError          a file or table is not as expected
    │   ├── QueryError           a query is empty or names unknown objects
    │   └── ParameterError       an unknown name or a value out of range
    ├── CubeError                a folder is not a cube, or is damaged or too new
    └── MissingPackageError      an optional package is not installed       (an ImportError)

A message is one lower-case sentence: what is wrong, the value, what is allowed, what to do. Parameters in it are
:class:`Setting` and :class:`RollUp` records, which ``str`` writes as Python and each front end in its own syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, overload

from cube2net._util.spelling import suggest_name, suggest_names, translate_name

MAX_INT = 2**62
"""The largest integer accepted: compiled code uses 64 bits, and the sum of two must fit."""
MAX_LISTED_NAMES, MAX_LISTED_LETTERS = 40, 1_000
"""All allowed names are listed up to these limits."""
MAX_QUOTED_LETTERS, MAX_SENTENCE_LETTERS = 100, 4_000


class Placeholder(str):
    """A word for a value that the reader chooses, such as FOLDER."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Setting:
    """A parameter with a value, as part of a message; ``function`` is the function that has it.

    >>> print(Setting("delimiter", ";"), Setting("links"), Setting("skip_missing", True, "cube.query"))
    delimiter=';' links=… cube.query(…, skip_missing=True)
    """

    name: str
    value: object = Placeholder("…")
    function: str = ""

    def __str__(self) -> str:
        text = f"{self.name}={self.value!r}"
        return f"{self.function}(…, {text})" if self.function else text


@dataclass(frozen=True)
class RollUp:
    """The advice to roll a dimension up to a level, as part of a message.

    >>> print(RollUp("year", "decade"), RollUp())
    roll_up(cube, 'year', 'decade') roll_up(cube, DIMENSION)
    """

    dimension: str = Placeholder("DIMENSION")
    level: str | None = None

    def __str__(self) -> str:
        level = "" if self.level is None else f", {self.level!r}"
        return f"roll_up(cube, {self.dimension!r}{level})"


class Message:
    """A text with parameters; the parts of messages and of our errors become parts of this one.

    >>> message = Message("give more (", Setting("memory", "8GB"), ")")
    >>> print(message, message.render(lambda setting: f"--{setting.name} {setting.value}"), sep="; ")
    give more (memory='8GB'); give more (--memory 8GB)
    """

    def __init__(self, *parts: object) -> None:
        self.parts: tuple[object, ...] = ()
        for part in parts:
            content = part.message if isinstance(part, Cube2netError) else part
            self.parts += content.parts if isinstance(content, Message) else (content,)

    def render(self, write: Callable[[Setting | RollUp], str] = str) -> str:
        """Return the text with parameters written by ``write``; the middle of a very long text is left out."""
        text = "".join(write(part) if isinstance(part, Setting | RollUp) else str(part) for part in self.parts)
        text, half = hide_passwords(text), MAX_SENTENCE_LETTERS // 2
        return text if len(text) <= MAX_SENTENCE_LETTERS else f"{text[:half]} … {text[-half:]}"

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"Message({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(str(self))


class Cube2netError(Exception):
    """The base class of the errors of cube2net; their messages are meant for users.

    Parameters
    ----------
    *parts
        The parts of the message: strings, settings, other messages and errors.
    parameter, value
        The refused parameter and its value.
    allowed
        The allowed values, if they are few.
    hint
        What to do; it is shown in brackets at the end of the message.
    """

    parameter: str | None = None
    value: object = None
    allowed: tuple[str, ...] = ()
    hint: Message | Setting | RollUp | str | None = None

    def __init__(
        self,
        *parts: object,
        parameter: str | None = None,
        value: object = None,
        allowed: Iterable[str] = (),
        hint: Message | Setting | RollUp | str | None = None,
    ) -> None:
        super().__init__(*parts)
        self.parameter, self.value, self.allowed, self.hint = parameter, value, tuple(allowed), hint

    @property
    def message(self) -> Message:
        """The message with the hint."""
        return Message(*self.args, " (", self.hint, ")") if self.hint else Message(*self.args)

    def __str__(self) -> str:
        return str(self.message)

    def _render_traceback_(self) -> list[str]:
        """Return the traceback that IPython shows: the user's own frames, or all of them the second time."""
        from cube2net._util.display import format_error

        return format_error(self)


class InputError(Cube2netError, ValueError):
    """An argument cannot be used."""


class SourceError(InputError):
    """A file or table is not as expected."""


class QueryError(InputError):
    """A query is empty or names unknown objects."""


class ParameterError(InputError):
    """An unknown name, or a value out of range."""


class CubeError(Cube2netError):
    """A folder that is not a cube, or a cube that is damaged or of a newer format."""


class MissingPackageError(Cube2netError, ImportError):
    """An optional package is not installed."""


def unknown_name(what: str, got: object, allowed: Iterable[str]) -> ParameterError:
    """Return the error for a name that is not allowed, with the most similar allowed name.

    If there are many allowed names, only a few similar ones are listed.

    >>> print(unknown_name("method", "gredy", ["none", "greedy", "random"]))
    unknown method 'gredy': choose one of greedy, none, random (did you mean 'greedy'?)
    >>> print(unknown_name("method", "ppr", ["none", "greedy", "pagerank"]))
    unknown method 'ppr': choose one of greedy, none, pagerank ('ppr' is 'pagerank' here)
    >>> print(unknown_name("label of 'year'", "190l", [str(year) for year in range(1900, 2000)]))
    unknown label of 'year' '190l': choose one of 100, such as '1900', '1901', '1902'
    """
    names = list(allowed)
    if len(names) <= MAX_LISTED_NAMES and sum(map(len, names)) <= MAX_LISTED_LETTERS:
        here, near = translate_name(what, str(got)), suggest_name(str(got), names)
        hint = f"did you mean {quote(near)}?" if near is not None else None
        if here in names:
            hint = f"{quote(got)} is {quote(here)} here"
        choice = join_names(sorted(names), MAX_LISTED_NAMES)
    else:
        near_few = suggest_names(str(got), names, 3) or names[:3]
        choice, hint = f"{len(names):,}, such as {', '.join(map(quote, near_few))}", None
    return ParameterError(
        f"unknown {what} {quote(got)}: choose one of {choice}",
        parameter=what if what.isidentifier() else None,
        value=got,
        allowed=names,
        hint=hint,
    )


def quote(value: object, most: int = MAX_QUOTED_LETTERS) -> str:
    """Return the ``repr`` of a value, shortened if it is long; it holds no control characters.

    >>> print(quote("tab\\t"), quote("a" * 2_000_000, 10), quote([1, 2]), quote(10**5000))
    'tab\\t' 'aaaaaaaaaa…' (2,000,000 letters) [1, 2] a number of 16,610 bits
    """
    if isinstance(value, str) and len(value) > most:
        return f"{value[:most] + '…'!r} ({len(value):,} letters)"
    if isinstance(value, int) and value.bit_length() > 1000:
        return _size(value)
    text = repr(value) if isinstance(value, str) else " ".join(repr(value).split())
    return text if isinstance(value, str) or len(text) <= most else text[:most] + "…"


def quote_unsafe(text: str, most: int = MAX_QUOTED_LETTERS) -> str:
    """Return a name as it is if it is short and printable, else in quotes as :func:`quote` does.

    >>> print(quote_unsafe("city"), quote_unsafe("ci\\x1bty"), quote_unsafe(""))
    city 'ci\\x1bty' ''
    """
    return text if text and len(text) <= most and text.isprintable() else quote(text, most)


def join_names(names: Iterable[object], most: int = 20) -> str:
    """Return names separated by commas, only the first ``most`` if there are more, or ``none``.

    >>> join_names(["a", "b"]), join_names(range(1000), 3), join_names([])
    ('a, b', '0, 1, 2, … (1,000 in all)', 'none')
    """
    every = list(names)
    text = ", ".join(quote_unsafe(str(name)) for name in every[:most])
    return text + (f", … ({len(every):,} in all)" if len(every) > most else "") or "none"


def quote_few(values: Sequence[object], most: int = 3) -> str:
    """Return the first values, quoted, and an ellipsis if there are more.

    >>> quote_few(["a", "b", "c", "d"])
    "'a', 'b', 'c', …"
    """
    return ", ".join(quote(value) for value in values[:most]) + (", …" if len(values) > most else "")


@overload
def check_int(name: str, value: object, least: int, most: int | None = ..., *, what: str = ...) -> int: ...


@overload
def check_int(
    name: str, value: object, least: int, most: int | None = ..., *, or_none: Literal[True], what: str = ...
) -> int | None: ...


def check_int(
    name: str,
    value: object,
    least: int,
    most: int | None = MAX_INT,
    *,
    or_none: bool = False,
    what: str = "",
) -> int | None:
    """Return the value of a parameter as an ``int``, or raise unless it is an integer within limits.

    Integers of NumPy are accepted. ``what`` names the things counted, and ``most=None`` is no upper limit.

    >>> check_int("n_cells", 20, 0, what="cells")
    20
    >>> check_int("n_cells", 2.5, 0, what="cells")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: n_cells is 2.5, expected a whole number of 0 or more cells
    """
    if value is None and or_none:
        return None
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    number = int(value) if isinstance(value, Integral) else 0
    if is_integer and number >= least and (most is None or number <= most):
        return number
    has_two_values = most is not None and most == least + 1
    if most is not None and (number > most or most < MAX_INT):
        allowed = f"{least:,} or {most:,}" if has_two_values else f"{least:,} to {most:,}"
    else:
        allowed = f"{least:,} or more"
    if not what or not (is_integer or has_two_values):
        allowed = f"a whole number of {allowed}"
    got = repr(number if is_integer else value) if number.bit_length() < 1000 else _size(number)
    raise ParameterError(
        f"{name} is {got}, expected {f'{allowed} {what}'.rstrip()}",
        parameter=name,
        value=value,
    )


def parse_size(text: str, what: str) -> int:
    """Return an amount of memory in bytes; ``what`` is the parameter that errors name.

    >>> parse_size("4GB", "memory"), parse_size("512 MiB", "memory"), parse_size("1.5g", "memory")
    (4000000000, 536870912, 1500000000)
    """
    pattern = r"\s*(\d+(?:\.\d+)?)\s*([kmgt])(i?)b?\s*"
    match = re.fullmatch(pattern, text, re.IGNORECASE) if isinstance(text, str) else None
    if match is None or float(match[1]) == 0:
        raise ParameterError(
            f"{what} is {text!r}, expected a number and a unit, such as 512MB or 4GB", parameter=what, value=text
        )
    power = "kmgt".index(match[2].lower()) + 1
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)


def _size(number: int) -> str:
    return f"a number of {number.bit_length():,} bits" + (" below 0" if number < 0 else "")


def hide_passwords(text: str) -> str:
    """Return a text in which addresses have no passwords.

    >>> hide_passwords("no answer from postgresql://ada:secret@example.org/library")
    'no answer from postgresql://ada:…@example.org/library'
    """
    return re.sub(r"(//[^\s:/@]*):[^\s@]+@", r"\1:…@", text)


def describe_os_error(error: BaseException) -> str:
    """Return the reason of an error of the operating system.

    >>> describe_os_error(FileNotFoundError(2, "No such file or directory", "cube"))
    'no such file or directory'
    """
    return (getattr(error, "strerror", None) or str(error)).lower()


def first_line(error: object) -> str:
    """Return the first line of an exception's message, with unprintable characters replaced.

    >>> first_line(ValueError("don't know what\\x0e\\nat line 7"))
    "don't know what�"
    """
    line = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    return "".join(sign if sign.isprintable() else "�" for sign in line[:300])
