"""What a model gives, read kindly: one thing in place of a list, and after a refusal the word that was meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_origin

from cube2net.api.json_reading import choices_of, fields_of_shape
from cube2net.assistant.tool_replies import LEAST, MOST
from cube2net.errors import Cube2netError

MEANT = {
    "names": "objects",
    "name": "objects",
    "object": "objects",
    "query": "objects",
    "ids": "objects",
    "others": "against",
    "other": "against",
    "text": "begins",
    "prefix": "begins",
    "tokens": "max_tokens",
    "budget": "max_tokens",
    "limit": "most",
}
"""Words that come instead of those that a tool has."""
BY_FIELD = {
    "max_tokens": f"leave max_tokens out, or give a number from {LEAST:,} to {MOST:,}",
    "method": "leave method out, which is greedy",
    "between": "give a time as 2015..2019, 2015.. or ..2019, or leave between out",
    "where": "pivot shows which labels there are, and the server's instructions name the levels",
    "detail": "leave detail out, which is brief",
    "m": "leave m out",
    "k": "leave k out",
    "near": "leave near out",
    "most": "leave most out",
    "names": "give two names for the lists, or leave names out",
    "begins": "give some letters of the name that is looked for",
}
"""What to try after a refusal of one field."""


def read_kindly(shape: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments in which what stands alone where a list is expected is a list of one.

    >>> from cube2net.assistant.tool_shapes import PivotAsked
    >>> read_kindly(PivotAsked, {"rows": "year", "columns": "venue", "objects": "Ada", "where": {"venue": "ACL"}})
    {'rows': 'year', 'columns': 'venue', 'objects': ['Ada'], 'where': {'venue': ['ACL']}}
    """
    fields = fields_of_shape(shape)
    return {
        word: _listed(fields[word].type, value) if word in fields and value is not None else value
        for word, value in arguments.items()
    }


def _listed(kind: Any, value: Any) -> Any:
    kinds = choices_of(kind)
    origin = get_origin(kinds[0]) if len(kinds) == 1 else None
    if origin is list and (isinstance(value, str | dict) or (isinstance(value, int) and not isinstance(value, bool))):
        return [value]
    if origin is dict and isinstance(value, dict):
        return {word: _listed(get_args(kinds[0])[1], each) for word, each in value.items()}
    return value


def advise(error: Cube2netError, shape: type, arguments: Mapping[str, Any]) -> str:
    """Return what to try after an error, by the field that it is about; nothing where that is not known.

    >>> from cube2net.assistant.tool_shapes import ContrastAsked
    >>> from cube2net.errors import ParameterError
    >>> advise(ParameterError("unknown field 'others'", value="others"), ContrastAsked, {"others": []})
    "give 'against' in place of 'others'"
    """
    fields, refused = fields_of_shape(shape), error.value
    if isinstance(refused, str) and refused in arguments and refused not in fields:
        meant = MEANT.get(refused, "")
        return f"give {meant!r} in place of {refused!r}" if meant in fields else f"leave {refused!r} out"
    if error.parameter is not None and error.parameter in fields:
        return BY_FIELD.get(error.parameter, "")
    blamed = [word for word, value in arguments.items() if word in BY_FIELD and _holds(value, refused)]
    return BY_FIELD[blamed[0]] if blamed else ""


def _holds(value: Any, refused: object) -> bool:
    """Return whether a text is an argument, or inside it."""
    if isinstance(value, Mapping):
        return any(_holds(each, refused) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return any(_holds(each, refused) for each in value)
    return isinstance(value, str) and value == refused
