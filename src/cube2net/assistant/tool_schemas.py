"""The JSON schema of what a tool takes, made of its type."""

from __future__ import annotations

import types
from typing import Any, Literal, get_args, get_origin, is_typeddict

from cube2net.api.json_reading import bare_type, choices_of, fields_of_shape

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def schema_of(hint: Any) -> dict[str, Any]:
    """Return the JSON schema of a type.

    >>> from typing import NotRequired, TypedDict
    >>> Asked = TypedDict("Asked", {"names": list[str | int], "most": NotRequired[int]})
    >>> schema_of(Asked)["properties"]["names"], schema_of(Asked)["required"]
    ({'type': 'array', 'items': {'type': ['string', 'integer']}}, ['names'])
    """
    kinds = [bare_type(kind) for kind in choices_of(hint)]
    if len(kinds) > 1:
        return {"type": [PLAIN[kind] for kind in kinds]}
    (kind,) = kinds
    if is_typeddict(kind):
        fields = fields_of_shape(kind)
        properties = {
            name: {**schema_of(field.type), **({"description": field.says} if field.says else {})}
            for name, field in fields.items()
        }
        required = [name for name, field in fields.items() if field.required]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    if get_origin(kind) is list:
        return {"type": "array", "items": schema_of(get_args(kind)[0])}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": schema_of(get_args(kind)[1])}
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    return {"type": PLAIN[kind]}
