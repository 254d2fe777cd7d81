"""Validate JSON against the types of the interface."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from cube2net.errors import ParameterError, listed, quoted, unknown

MOST_BYTES = 4_000_000
"""No question over HTTP is longer."""
MOST = 1_000_000
"""No list and no text of a question is longer."""
MOST_OF = {"file": 4_000_000}
"""But those of these fields."""
DEEPEST = 12
"""Nothing in a question lies deeper."""
HIGHEST = 2**62
"""No whole number of a question is above this, nor below its negative."""


@dataclass(frozen=True)
class ShapeField:
    """A field of a shape: its type, whether it must be there, and what it is, in words."""

    type: Any
    required: bool
    says: str


@cache
def fields_of_shape(shape: type) -> Mapping[str, ShapeField]:
    """Return the fields of a shape by name, in their order."""
    found = {}
    for name, hint in get_type_hints(shape, include_extras=True).items():
        required = get_origin(hint) is not NotRequired
        given = hint if required else get_args(hint)[0]
        says = str(get_args(given)[1]) if get_origin(given) is Annotated else ""
        found[name] = ShapeField(bare_type(given), required, says)
    return found


@cache
def bare_type(hint: Any) -> Any:
    """Return a type without the words beside it."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


@cache
def choices_of(hint: Any) -> tuple[Any, ...]:
    """Return the types that a value may have: those of a union, or the one there is."""
    hint = bare_type(hint)
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def read(shape: Any, value: Any, where: str = "the question", depth: int = 0) -> Any:
    """Return a value of JSON that is of a type; what is not raises a sentence that names its place.

    >>> from cube2net.apps.service.schemas import CompleteQuestion
    >>> read(CompleteQuestion, {"text": "gra", "most": 5})
    {'text': 'gra', 'most': 5}
    >>> read(CompleteQuestion, {"txt": "gra"})
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown field of the question 'txt': choose one of most, text (did you mean 'text'?)
    >>> read(CompleteQuestion, {"text": ["gra"]})
    Traceback (most recent call last):
    cube2net.errors.ParameterError: text is ['gra'], expected a text
    """
    if depth > DEEPEST:
        raise ParameterError(f"{where} lies deeper than {DEEPEST} lists and objects within each other")
    kinds = choices_of(shape)
    if len(kinds) > 1:
        return _one_of(kinds, value, where, depth)
    (kind,) = kinds
    if is_typeddict(kind):
        return _object(kind, value, where, depth)
    if get_origin(kind) is list:
        if not isinstance(value, list):
            raise _expected(where, value, kind)
        _check_length(where, value, "entries")
        (inner,) = get_args(kind)
        return [read(inner, each, f"{where}[{number}]", depth + 1) for number, each in enumerate(value)]
    if get_origin(kind) is dict:
        if not isinstance(value, dict):
            raise _expected(where, value, kind)
        _check_length(where, value, "entries")
        inner = get_args(kind)[1]
        return {
            _text(f"a name of {where}", name): read(inner, each, f"{where}[{quoted(name, 40)}]", depth + 1)
            for name, each in value.items()
        }
    if get_origin(kind) is Literal:
        if not isinstance(value, str) or value not in get_args(kind):
            raise unknown(where, value, get_args(kind))
        return value
    return _plain(kind, value, where)


def _object(shape: type, value: Any, where: str, depth: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _expected(where, value, shape)
    fields = fields_of_shape(shape)
    for name in value:
        if name not in fields:
            if not fields:
                raise ParameterError(f"{where} has no fields, got {quoted(name)}")
            raise unknown(f"field of {where}", name, fields)
    for name, field in fields.items():
        if field.required and name not in value:
            says = f": {field.says}" if field.says else ""
            raise ParameterError(f"{where} lacks the field {name!r}{says}")
    inner = "" if where == "the question" else f"{where}."
    found = {}
    for name, each in value.items():
        try:
            found[name] = read(fields[name].type, each, f"{inner}{name}", depth + 1)
        except ParameterError as error:
            error.parameter = name  # of fields within each other, that of the outermost stays
            raise
    return found


def _one_of(kinds: tuple[Any, ...], value: Any, where: str, depth: int) -> Any:
    """Return a value of one of several types: that of its own kind, of objects the one whose fields it has."""
    fitting = [kind for kind in kinds if _is_alike(kind, value)]
    if isinstance(value, dict) and len(fitting) > 1:
        named = [kind for kind in fitting if is_typeddict(kind) and value.keys() & fields_of_shape(kind).keys()]
        if not named:
            names = [name for kind in fitting if is_typeddict(kind) for name in fields_of_shape(kind)]
            raise ParameterError(f"{where} is {quoted(value)}, expected an object with one of {listed(names)}")
        fitting = named
    if not fitting:
        raise _expected(where, value, *kinds)
    return read(fitting[0], value, where, depth)


def _is_alike(kind: Any, value: Any) -> bool:
    """Return whether a value is of the kind of a type, whatever is inside."""
    kind = bare_type(kind)
    if is_typeddict(kind) or get_origin(kind) is dict:
        return isinstance(value, dict)
    if get_origin(kind) is list:
        return isinstance(value, list)
    if get_origin(kind) is Literal:
        return isinstance(value, str)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is kind


def _plain(kind: Any, value: Any, where: str) -> Any:
    if kind is Any:
        return value
    if not _is_alike(kind, value):
        raise _expected(where, value, kind)
    if kind is str:
        return _text(where, value)
    if kind is float and not math.isfinite(value):
        raise ParameterError(f"{where} is {value!r}, expected a finite number")
    if kind in (int, float) and abs(value) > HIGHEST:
        raise ParameterError(f"{where} is {quoted(value, 40)}, expected a number of at most {HIGHEST:,}")
    return value


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _expected(where, value, str)
    _check_length(where, value, "letters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{where} is {quoted(value)}, which is no text: it holds half of a sign") from None
    return value


def _check_length(where: str, value: Any, what: str) -> None:
    most = MOST_OF.get(where, MOST)
    if len(value) > most:
        raise ParameterError(f"{where} has {len(value):,} {what}, expected at most {most:,}")


def _expected(where: str, value: Any, *kinds: Any) -> ParameterError:
    names = list(dict.fromkeys(_called(kind) for kind in kinds))
    last = names.pop()
    wanted = f"{', '.join(names)} or {last}" if names else last
    return ParameterError(f"{where} is {quoted(value)}, expected {wanted}")


def _called(kind: Any) -> str:
    kind = bare_type(kind)
    if kind is types.NoneType:
        return "null"
    if get_origin(kind) is Literal:
        return f"one of {listed(get_args(kind))}"
    if is_typeddict(kind):
        return f"an object with {listed(fields_of_shape(kind)) if fields_of_shape(kind) else 'no fields'}"
    if get_origin(kind) is dict:
        return "an object"
    names = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
    return "a list" if get_origin(kind) is list else names.get(kind, "something else")
