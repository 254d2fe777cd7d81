"""The OpenAPI 3.1 description of the interface."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, is_typeddict

from cube2net import __version__
from cube2net.apps.service.network_schemas import ExportRequest, Failure, FailureDetail, ProgressSchema
from cube2net.apps.service.schemas import SESSION_ROUTES, UPLOAD, UploadAnswer
from cube2net.apps.service.service import ROUTES, Route
from cube2net.apps.service.validation import MOST, bare_type, list_choices, schema_fields

BASE = "/api/v1"
JSON, LINES = "application/json", "application/x-ndjson"
PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    Any: {},
}
FILE = {
    "description": "The file.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}
PAGE = {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}}
REFUSALS = {
    "400": "The request cannot be answered: one sentence says why.",
    "401": "No token came with it.",
    "403": "It came from elsewhere.",
    "404": "There is nothing of that name.",
    "405": "It is asked in another way.",
    "409": "No cube is open yet, or another than the header `cube2net-checksum` names.",
    "408": "It came too slowly.",
    "413": "It is too large.",
    "415": "It is no JSON.",
    "429": "There is too much to do: try again.",
    "500": "Something went wrong that should not.",
    "503": "It took too long.",
}
ABOUT = """A request about the cube is a JSON object, sent by POST to the path of its name; its answer is one too.

With `Accept: application/x-ndjson` lines come while it is worked on: `{"progress": …}`, and at the end `{"answer": …}`
or `{"error": …}`; closing the connection stops the work. A refusal is `{"error": {"sentence", "kind"}}`."""


NAME: dict[str, Any] = {"name": "name", "in": "query", "required": True, "schema": {"type": "string"}}
USES = {
    "name": "uses",
    "in": "query",
    "description": "Files that are still needed; others are removed if there is no room. By default all are needed.",
    "schema": {"type": "array", "items": {"type": "string"}},
}
KEY = {"name": "key", "in": "path", "required": True, "schema": {"type": "string"}}


def openapi() -> dict[str, Any]:
    """Return the description of all requests and answers, as JSON has it."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {f"{BASE}/{route.name}": _path(route, schemas) for route in ROUTES.values()}
    for opening in SESSION_ROUTES.values():
        does = f"{opening.does} Only of an explorer that was started without a cube."
        asked = _operation(opening.name, _doc(opening.asks), does, schemas, asks=opening.asks, answers=opening.answers)
        paths[f"{BASE}/{opening.name}"] = {"post": asked}
    upload = _operation(
        UPLOAD,
        "Hand over a file, to be looked at and opened.",
        "Return the names of all files there are. Only of an explorer that was started without a cube.",
        schemas,
        parameters=[NAME, USES],
        asks=FILE,
        answers=UploadAnswer,
        lines=False,
    )
    remove = _operation(
        "remove",
        "Remove a file that was handed over.",
        "Return the names of the files that are left.",
        schemas,
        parameters=[NAME],
        answers=UploadAnswer,
        lines=False,
    )
    paths[f"{BASE}/{UPLOAD}"] = {"post": upload, "delete": remove}
    does = "Return the file; its name is in Content-Disposition."
    export = _operation("export", _doc(ExportRequest), does, schemas, asks=ExportRequest, answers=FILE)
    paths[f"{BASE}/export"] = {"post": export}
    does = "Return the page that a comparison made; the latest few are kept."
    summary = "The report of a comparison."
    report = _operation("report", summary, does, schemas, parameters=[KEY], answers=PAGE)
    paths[f"{BASE}/report/{{key}}"] = {"get": report}
    make_schema(ProgressSchema, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "cube2net", "version": __version__, "description": ABOUT},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "The token of the printed address."}
            },
        },
        "security": [{"bearer": []}],
    }


def make_schema(hint: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a type; those of shapes are put among ``schemas``, and referred to."""
    kinds = list_choices(hint)
    if len(kinds) > 1:
        return {"anyOf": [make_schema(kind, schemas) for kind in kinds]}
    kind = bare_type(kinds[0])
    if is_typeddict(kind):
        if kind.__name__ not in schemas:
            schemas[kind.__name__] = {}
            schemas[kind.__name__] = _shape(kind, schemas)
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if get_origin(kind) is list:
        return {"type": "array", "items": make_schema(get_args(kind)[0], schemas), "maxItems": MOST}
    if get_origin(kind) is tuple:
        each, count = Union[get_args(kind)], len(get_args(kind))  # noqa: UP007
        return {"type": "array", "items": make_schema(each, schemas), "minItems": count, "maxItems": count}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": make_schema(get_args(kind)[1], schemas)}
    return dict(PLAIN[kind])


def _shape(shape: type, schemas: dict[str, Any]) -> dict[str, Any]:
    fields = schema_fields(shape)
    return {
        "type": "object",
        "description": _doc(shape),
        "properties": {
            name: make_schema(field.type, schemas) | ({"description": field.says} if field.says else {})
            for name, field in fields.items()
        },
        "required": [name for name, field in fields.items() if field.required],
        "additionalProperties": False,
    }


def _doc(thing: Any) -> str:
    return " ".join((thing.__doc__ or "").split())


def _path(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    long = " It may take long." if route.long else " It takes long where the method does." if route.networks else ""
    does = f"{_doc(route.answer)}{long}"
    asked = _operation(route.name, _doc(route.asks), does, schemas, asks=route.asks, answers=route.answers)
    if schema_fields(route.asks):
        return {"post": asked}
    plain = {name: value for name, value in asked.items() if name != "requestBody"}
    return {"get": plain, "post": asked | {"operationId": f"{route.name}_post"}}


def _operation(
    name: str,
    summary: str,
    description: str,
    schemas: dict[str, Any],
    *,
    parameters: list[dict[str, Any]] | None = None,
    asks: Any = None,
    answers: Any,
    lines: bool = True,
) -> dict[str, Any]:
    """Return an operation; ``asks`` and ``answers`` are schemas, or the contents of a file or page."""
    operation: dict[str, Any] = {"operationId": name, "summary": summary, "description": description}
    if parameters:
        operation["parameters"] = parameters
    if asks is not None:
        content = asks["content"] if isinstance(asks, dict) else {JSON: {"schema": make_schema(asks, schemas)}}
        operation["requestBody"] = {"required": True, "content": content}
    answer = answers if isinstance(answers, dict) else _describe_answer(answers, schemas, lines=lines)
    failed = {JSON: {"schema": make_schema(Failure, schemas)}}
    refusals = {status: {"description": text, "content": failed} for status, text in REFUSALS.items()}
    return operation | {"responses": {"200": answer, **refusals}}


def _describe_answer(shape: type, schemas: dict[str, Any], *, lines: bool) -> dict[str, Any]:
    """Return the description of an answer in JSON, and of the ``lines`` that come while it is worked on."""
    schema = make_schema(shape, schemas)
    content: dict[str, Any] = {JSON: {"schema": schema}}
    if lines:
        parts = {"progress": make_schema(ProgressSchema, schemas), "answer": schema}
        parts["error"] = make_schema(FailureDetail, schemas)
        one_of = [{"type": "object", "properties": {name: part}, "required": [name]} for name, part in parts.items()]
        content[LINES] = {"schema": {"oneOf": one_of}}
    return {"description": _doc(shape), "content": content}
