"""Validate JSON against the types of the interface."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from cube2net.errors import ParameterError, join_names, quote, unknown_name

MAX_REQUEST_BYTES = 4_000_000
"""Maximum size of a request over HTTP."""
MAX_LENGTH = 1_000_000
"""Maximum length of a list or text in a request."""
MAX_LENGTH_BY_FIELD = {"file": 4_000_000}
"""Exceptions by field."""
MAX_ABSOLUTE_INTEGER = 2**62
"""Largest absolute value of a whole number in a request."""


@dataclass(frozen=True)
class SchemaField:
    """A field of a schema: its type, whether it is required, and its description."""

    type: Any
    required: bool
    description: str


@cache
def schema_fields(shape: type) -> Mapping[str, SchemaField]:
    """Return the fields of a schema by name."""
    fields = {}
    for name, hint in get_type_hints(shape, include_extras=True).items():
        required = get_origin(hint) is not NotRequired
        annotation = hint if required else get_args(hint)[0]
        description = str(get_args(annotation)[1]) if get_origin(annotation) is Annotated else ""
        fields[name] = SchemaField(bare_type(annotation), required, description)
    return fields


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
    alternatives = list_choices(shape)
    expected_type = alternatives[0] if len(alternatives) == 1 else _choose_kind(alternatives, value, where)
    if get_origin(expected_type) is Literal:
        if not isinstance(value, str) or value not in get_args(expected_type):
            raise unknown_name(where, value, get_args(expected_type))
        return value
    if not _has_type(expected_type, value):
        raise _make_type_error(where, value, *alternatives)
    if is_typeddict(expected_type):
        return _read_object(expected_type, value, where)
    if expected_type is str:
        return _read_text(where, value)
    if isinstance(value, list | dict):
        _check_length(where, value, "entries")
    if get_origin(expected_type) is list:
        (item_type,) = get_args(expected_type)
        if _are_valid_ids(list_choices(item_type), value):
            return list(value)
        return [read(item_type, item, f"{where}[{index}]") for index, item in enumerate(value)]
    if get_origin(expected_type) is dict:
        return {
            _read_text(f"a name of {where}", name): read(
                get_args(expected_type)[1], item, f"{where}[{quote(name, 40)}]"
            )
            for name, item in value.items()
        }
    if expected_type is float and not math.isfinite(value):
        raise ParameterError(f"{where} is {value!r}, expected a finite number")
    if expected_type in (int, float) and abs(value) > MAX_ABSOLUTE_INTEGER:
        raise ParameterError(f"{where} is {quote(value, 40)}, expected a number of at most {MAX_ABSOLUTE_INTEGER:,}")
    return value


def _choose_kind(alternatives: tuple[Any, ...], value: Any, where: str) -> Any:
    """Return the type of a union that fits a value; of several object types the one that shares fields with it."""
    candidates = [bare_type(kind) for kind in alternatives if _has_type(bare_type(kind), value)]
    if isinstance(value, dict) and len(candidates) > 1:
        object_types = [kind for kind in candidates if is_typeddict(kind)]
        candidates = [kind for kind in object_types if value.keys() & schema_fields(kind).keys()]
        if not candidates:
            names = [name for kind in object_types for name in schema_fields(kind)]
            raise ParameterError(f"{where} is {quote(value)}, expected an object with one of {join_names(names)}")
    if not candidates:
        raise _make_type_error(where, value, *alternatives)
    return candidates[0]


def _has_type(kind: Any, value: Any) -> bool:
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


def _are_valid_ids(item_types: tuple[Any, ...], values: list[Any]) -> bool:
    """Return whether all values of a list are valid texts or whole numbers; a fast path for long lists of ids."""
    return all(
        (
            value.isascii() and len(value) <= MAX_LENGTH
            if type(value) is str
            else type(value) is int and abs(value) <= MAX_ABSOLUTE_INTEGER
        )
        and type(value) in item_types
        for value in values
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
            explanation = f": {field.description}" if field.description else ""
            raise ParameterError(f"{where} lacks the field {name!r}{explanation}")
    prefix = "" if where == "the request" else f"{where}."
    result = {}
    for name, field_value in value.items():
        try:
            result[name] = read(fields[name].type, field_value, f"{prefix}{name}")
        except ParameterError as error:
            error.parameter = name  # of fields within each other, that of the outermost stays
            raise
    return result


def _read_text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _make_type_error(where, value, str)
    _check_length(where, value, "letters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{where} is {quote(value)}, which is not valid Unicode text") from None
    return value


def _check_length(where: str, value: Any, unit: str) -> None:
    max_length = MAX_LENGTH_BY_FIELD.get(where, MAX_LENGTH)
    if len(value) > max_length:
        raise ParameterError(f"{where} has {len(value):,} {unit}, expected at most {max_length:,}")


def _make_type_error(where: str, value: Any, *kinds: Any) -> ParameterError:
    names = list(dict.fromkeys(_name_type(kind) for kind in kinds))
    last_name = names.pop()
    expected = f"{', '.join(names)} or {last_name}" if names else last_name
    return ParameterError(f"{where} is {quote(value)}, expected {expected}")


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
