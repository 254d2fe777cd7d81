"""The OpenAPI 3.1 description of the interface."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, is_typeddict

from cube2net import __version__
from cube2net.apps.service.network_schemas import ExportRequest, Failure, FailureDetail, ProgressSchema
from cube2net.apps.service.schemas import SESSION_ROUTES, UPLOAD, UploadAnswer
from cube2net.apps.service.service import ROUTES, Route
from cube2net.apps.service.validation import MAX_LENGTH, bare_type, list_choices, schema_fields

BASE_PATH = "/api/v1"
JSON, LINES = "application/json", "application/x-ndjson"
PLAIN_SCHEMAS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    Any: {},
}
FILE_RESPONSE = {
    "description": "The file.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}
PAGE_RESPONSE = {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}}
ERROR_RESPONSES = {
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
OVERVIEW = """A request about the cube is a JSON object, sent by POST to the path of its name; its answer is one too.

With `Accept: application/x-ndjson` lines come while it is worked on: `{"progress": …}`, and at the end `{"answer": …}`
or `{"error": …}`; closing the connection stops the work. A refusal is `{"error": {"sentence", "kind"}}`."""


NAME_PARAMETER: dict[str, Any] = {"name": "name", "in": "query", "required": True, "schema": {"type": "string"}}
USES_PARAMETER = {
    "name": "uses",
    "in": "query",
    "description": "Files that are still needed; others are removed if there is no room. By default all are needed.",
    "schema": {"type": "array", "items": {"type": "string"}},
}
KEY_PARAMETER = {"name": "key", "in": "path", "required": True, "schema": {"type": "string"}}


def openapi() -> dict[str, Any]:
    """Return the OpenAPI description of all requests and answers."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {f"{BASE_PATH}/{route.name}": _describe_route(route, schemas) for route in ROUTES.values()}
    for session_route in SESSION_ROUTES.values():
        description = f"{session_route.description} Only of an explorer that was started without a cube."
        operation = _make_operation(
            session_route.name,
            _get_description(session_route.request_type),
            description,
            schemas,
            request_type=session_route.request_type,
            answer_type=session_route.answer_type,
        )
        paths[f"{BASE_PATH}/{session_route.name}"] = {"post": operation}
    upload = _make_operation(
        UPLOAD,
        "Hand over a file, to be looked at and opened.",
        "Return the names of all files there are. Only of an explorer that was started without a cube.",
        schemas,
        parameters=[NAME_PARAMETER, USES_PARAMETER],
        request_type=FILE_RESPONSE,
        answer_type=UploadAnswer,
        lines=False,
    )
    remove = _make_operation(
        "remove",
        "Remove a file that was handed over.",
        "Return the names of the files that are left.",
        schemas,
        parameters=[NAME_PARAMETER],
        answer_type=UploadAnswer,
        lines=False,
    )
    paths[f"{BASE_PATH}/{UPLOAD}"] = {"post": upload, "delete": remove}
    description = "Return the file; its name is in Content-Disposition."
    export = _make_operation(
        "export",
        _get_description(ExportRequest),
        description,
        schemas,
        request_type=ExportRequest,
        answer_type=FILE_RESPONSE,
    )
    paths[f"{BASE_PATH}/export"] = {"post": export}
    description = "Return the page that a comparison made; the latest few are kept."
    summary = "The report of a comparison."
    report = _make_operation(
        "report", summary, description, schemas, parameters=[KEY_PARAMETER], answer_type=PAGE_RESPONSE
    )
    paths[f"{BASE_PATH}/report/{{key}}"] = {"get": report}
    make_schema(ProgressSchema, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "cube2net", "version": __version__, "description": OVERVIEW},
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
    """Return the JSON Schema of a type; schemas of typed dictionaries are added to ``schemas`` and referred to."""
    alternatives = list_choices(hint)
    if len(alternatives) > 1:
        return {"anyOf": [make_schema(plain_type, schemas) for plain_type in alternatives]}
    plain_type = bare_type(alternatives[0])
    if is_typeddict(plain_type):
        if plain_type.__name__ not in schemas:
            schemas[plain_type.__name__] = {}
            schemas[plain_type.__name__] = _make_object_schema(plain_type, schemas)
        return {"$ref": f"#/components/schemas/{plain_type.__name__}"}
    if get_origin(plain_type) is Literal:
        return {"type": "string", "enum": list(get_args(plain_type))}
    if get_origin(plain_type) is list:
        return {"type": "array", "items": make_schema(get_args(plain_type)[0], schemas), "maxItems": MAX_LENGTH}
    if get_origin(plain_type) is tuple:
        item_type, count = Union[get_args(plain_type)], len(get_args(plain_type))  # noqa: UP007
        return {"type": "array", "items": make_schema(item_type, schemas), "minItems": count, "maxItems": count}
    if get_origin(plain_type) is dict:
        return {"type": "object", "additionalProperties": make_schema(get_args(plain_type)[1], schemas)}
    return dict(PLAIN_SCHEMAS[plain_type])


def _make_object_schema(object_type: type, schemas: dict[str, Any]) -> dict[str, Any]:
    fields = schema_fields(object_type)
    return {
        "type": "object",
        "description": _get_description(object_type),
        "properties": {
            name: make_schema(field.type, schemas) | ({"description": field.description} if field.description else {})
            for name, field in fields.items()
        },
        "required": [name for name, field in fields.items() if field.required],
        "additionalProperties": False,
    }


def _get_description(described: Any) -> str:
    return " ".join((described.__doc__ or "").split())


def _describe_route(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    duration = " It may take long." if route.long else " It takes long where the method does." if route.networks else ""
    description = f"{_get_description(route.answer)}{duration}"
    operation = _make_operation(
        route.name,
        _get_description(route.request_type),
        description,
        schemas,
        request_type=route.request_type,
        answer_type=route.answer_type,
    )
    if schema_fields(route.request_type):
        return {"post": operation}
    get_operation = {name: value for name, value in operation.items() if name != "requestBody"}
    return {"get": get_operation, "post": operation | {"operationId": f"{route.name}_post"}}


def _make_operation(
    name: str,
    summary: str,
    description: str,
    schemas: dict[str, Any],
    *,
    parameters: list[dict[str, Any]] | None = None,
    request_type: Any = None,
    answer_type: Any,
    lines: bool = True,
) -> dict[str, Any]:
    """Return an operation; ``request_type`` and ``answer_type`` are types, or the contents of a file or page."""
    operation: dict[str, Any] = {"operationId": name, "summary": summary, "description": description}
    if parameters:
        operation["parameters"] = parameters
    if request_type is not None:
        content = (
            request_type["content"]
            if isinstance(request_type, dict)
            else {JSON: {"schema": make_schema(request_type, schemas)}}
        )
        operation["requestBody"] = {"required": True, "content": content}
    answer = answer_type if isinstance(answer_type, dict) else _describe_answer(answer_type, schemas, lines=lines)
    error_content = {JSON: {"schema": make_schema(Failure, schemas)}}
    refusals = {status: {"description": text, "content": error_content} for status, text in ERROR_RESPONSES.items()}
    return operation | {"responses": {"200": answer, **refusals}}


def _describe_answer(answer_type: type, schemas: dict[str, Any], *, lines: bool) -> dict[str, Any]:
    """Return the response with an answer in JSON, and if ``lines`` also as lines of progress."""
    schema = make_schema(answer_type, schemas)
    content: dict[str, Any] = {JSON: {"schema": schema}}
    if lines:
        parts = {"progress": make_schema(ProgressSchema, schemas), "answer": schema}
        parts["error"] = make_schema(FailureDetail, schemas)
        one_of = [{"type": "object", "properties": {name: part}, "required": [name]} for name, part in parts.items()]
        content[LINES] = {"schema": {"oneOf": one_of}}
    return {"description": _get_description(answer_type), "content": content}
