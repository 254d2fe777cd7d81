"""Validate JSON against the types of the interface."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from cube2net.errors import ParameterError, join_names, quote, unknown_name

MOST_BYTES = 4_000_000
"""Maximum size of a request over HTTP."""
MOST = 1_000_000
"""Maximum length of a list or text in a request."""
MOST_OF = {"file": 4_000_000}
"""Exceptions by field."""
HIGHEST = 2**62
"""Largest absolute value of a whole number in a request."""


@dataclass(frozen=True)
class SchemaField:
    """A field of a schema: its type, whether it is required, and its description."""

    type: Any
    required: bool
    says: str


@cache
def schema_fields(shape: type) -> Mapping[str, SchemaField]:
    """Return the fields of a schema by name."""
    found = {}
    for name, hint in get_type_hints(shape, include_extras=True).items():
        required = get_origin(hint) is not NotRequired
        given = hint if required else get_args(hint)[0]
        says = str(get_args(given)[1]) if get_origin(given) is Annotated else ""
        found[name] = SchemaField(bare_type(given), required, says)
    return found


@cache
def bare_type(hint: Any) -> Any:
    """Return a type without its annotation."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


@cache
def list_choices(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union type, or the type itself."""
    hint = bare_type(hint)
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def read(shape: Any, value: Any, where: str = "the request") -> Any:
    """Return a JSON value of a type; raise an error that names the place of an invalid part.

    >>> from cube2net.apps.service.schemas import CompleteRequest
    >>> read(CompleteRequest, {"text": "gra", "most": 5})
    {'text': 'gra', 'most': 5}
    >>> read(CompleteRequest, {"txt": "gra"})
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown field of the request 'txt': choose one of most, text (did you mean 'text'?)
    >>> read(CompleteRequest, {"text": ["gra"]})
    Traceback (most recent call last):
    cube2net.errors.ParameterError: text is ['gra'], expected a text
    """
    kinds = list_choices(shape)
    kind = kinds[0] if len(kinds) == 1 else _choose_kind(kinds, value, where)
    if get_origin(kind) is Literal:
        if not isinstance(value, str) or value not in get_args(kind):
            raise unknown_name(where, value, get_args(kind))
        return value
    if not _is_alike(kind, value):
        raise _make_type_error(where, value, *kinds)
    if is_typeddict(kind):
        return _read_object(kind, value, where)
    if kind is str:
        return _read_text(where, value)
    if isinstance(value, list | dict):
        _check_length(where, value, "entries")
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        if _are_plain(list_choices(inner), value):
            return list(value)
        return [read(inner, each, f"{where}[{number}]") for number, each in enumerate(value)]
    if get_origin(kind) is dict:
        return {
            _read_text(f"a name of {where}", name): read(get_args(kind)[1], each, f"{where}[{quote(name, 40)}]")
            for name, each in value.items()
        }
    if kind is float and not math.isfinite(value):
        raise ParameterError(f"{where} is {value!r}, expected a finite number")
    if kind in (int, float) and abs(value) > HIGHEST:
        raise ParameterError(f"{where} is {quote(value, 40)}, expected a number of at most {HIGHEST:,}")
    return value


def _choose_kind(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    """Return the type of a union that fits a value; of several object types the one that shares fields with it."""
    fitting = [bare_type(kind) for kind in kinds if _is_alike(bare_type(kind), value)]
    if isinstance(value, dict) and len(fitting) > 1:
        shapes = [kind for kind in fitting if is_typeddict(kind)]
        fitting = [kind for kind in shapes if value.keys() & schema_fields(kind).keys()]
        if not fitting:
            names = [name for kind in shapes for name in schema_fields(kind)]
            raise ParameterError(f"{where} is {quote(value)}, expected an object with one of {join_names(names)}")
    if not fitting:
        raise _make_type_error(where, value, *kinds)
    return fitting[0]


def _is_alike(kind: Any, value: Any) -> bool:
    """Return whether a value is of a type, without looking at its parts."""
    if is_typeddict(kind) or get_origin(kind) is dict:
        return isinstance(value, dict)
    if get_origin(kind) is list:
        return isinstance(value, list)
    if get_origin(kind) is Literal:
        return isinstance(value, str)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return kind is Any or type(value) is kind


def _are_plain(kinds: tuple[Any, ...], values: list[Any]) -> bool:
    """Return whether all values of a list are valid texts or whole numbers; a fast path for long lists of ids."""
    return all(
        (each.isascii() and len(each) <= MOST if type(each) is str else type(each) is int and abs(each) <= HIGHEST)
        and type(each) in kinds
        for each in values
    )


def _read_object(shape: type, value: Mapping[str, Any], where: str) -> dict[str, Any]:
    fields = schema_fields(shape)
    for name in value:
        if name not in fields:
            if not fields:
                raise ParameterError(f"{where} has no fields, got {quote(name)}")
            raise unknown_name(f"field of {where}", name, fields)
    for name, field in fields.items():
        if field.required and name not in value:
            says = f": {field.says}" if field.says else ""
            raise ParameterError(f"{where} lacks the field {name!r}{says}")
    inner = "" if where == "the request" else f"{where}."
    found = {}
    for name, each in value.items():
        try:
            found[name] = read(fields[name].type, each, f"{inner}{name}")
        except ParameterError as error:
            error.parameter = name  # of fields within each other, that of the outermost stays
            raise
    return found


def _read_text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _make_type_error(where, value, str)
    _check_length(where, value, "letters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{where} is {quote(value)}, which is not valid Unicode text") from None
    return value


def _check_length(where: str, value: Any, what: str) -> None:
    most = MOST_OF.get(where, MOST)
    if len(value) > most:
        raise ParameterError(f"{where} has {len(value):,} {what}, expected at most {most:,}")


def _make_type_error(where: str, value: Any, *kinds: Any) -> ParameterError:
    names = list(dict.fromkeys(_name_type(kind) for kind in kinds))
    last = names.pop()
    wanted = f"{', '.join(names)} or {last}" if names else last
    return ParameterError(f"{where} is {quote(value)}, expected {wanted}")


def _name_type(kind: Any) -> str:
    kind = bare_type(kind)
    if kind is types.NoneType:
        return "null"
    if get_origin(kind) is Literal:
        return f"one of {join_names(get_args(kind))}"
    if is_typeddict(kind):
        return f"an object with {join_names(schema_fields(kind)) if schema_fields(kind) else 'no fields'}"
    if get_origin(kind) is dict:
        return "an object"
    names = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
    return "a list" if get_origin(kind) is list else names.get(kind, "something else")
