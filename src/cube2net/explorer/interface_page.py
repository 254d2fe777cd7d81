"""A page for people who write programs: every question, made of the same description that machines read."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid #8884; padding: .25rem .5rem .25rem 0; text-align: left; vertical-align: top }
code { font-family: ui-monospace, monospace }
section { margin-top: 2.5rem }
th { min-width: 6rem }
"""
POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""This page runs nothing, and loads nothing."""


def interface_page(described: Mapping[str, Any]) -> str:
    """Return the page of an interface that is described as OpenAPI has it."""
    about, shapes = described["info"], described["components"]["schemas"]
    parts = [
        f"<h1>{escape(about['title'])} {escape(about['version'])}</h1>",
        *(f"<p>{_prose(part)}</p>" for part in about["description"].split("\n\n")),
        '<p>For machines: <a href="openapi.json">openapi.json</a></p>',
        "<h2>Questions</h2>",
        *(_question(path, methods) for path, methods in described["paths"].items()),
        "<h2>Shapes</h2>",
        *(_shape(name, shape) for name, shape in shapes.items()),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(about['title'])}: questions</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _prose(text: str) -> str:
    """Return a text whose words in backticks are code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _question(path: str, methods: Mapping[str, Any]) -> str:
    words = ", ".join(method.upper() for method in methods)
    asked = methods.get("post") or next(iter(methods.values()))
    rows = [f"<tr><th>what</th><td>{escape(asked.get('summary', ''))} {escape(asked.get('description', ''))}</td></tr>"]
    for title, content in (
        ("asks", asked.get("requestBody", {}).get("content", {})),
        ("answers", asked["responses"]["200"].get("content", {})),
    ):
        kinds = [f"{_type(each['schema'])} <small>({escape(kind)})</small>" for kind, each in content.items()][:1]
        rows += [f"<tr><th>{title}</th><td>{kind}</td></tr>" for kind in kinds]
    return f"<section><h3><code>{words} {escape(path)}</code></h3><table>{''.join(rows)}</table></section>"


def _shape(name: str, shape: Mapping[str, Any]) -> str:
    required = set(shape.get("required", ()))
    rows = [
        f"<tr><th><code>{escape(field)}</code>{'' if field in required else ' (optional)'}</th>"
        f"<td>{_type(kind)}</td><td>{escape(kind.get('description', ''))}</td></tr>"
        for field, kind in shape.get("properties", {}).items()
    ]
    about = f"<p>{escape(shape.get('description', ''))}</p>"
    return f'<section id="{escape(name)}"><h3>{escape(name)}</h3>{about}<table>{"".join(rows)}</table></section>'


def _type(schema: Mapping[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_types(schema)))


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words for a schema, with links to the shapes that it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        yield f'<a href="#{name}">{name}</a>'
    elif "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from _types(each)
    elif "enum" in schema:
        yield from (f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    elif schema.get("type") == "array":
        yield f"list of {_type(schema['items'])}"
    elif schema.get("type") == "object" and "additionalProperties" in schema and "properties" not in schema:
        yield f"names with {_type(schema['additionalProperties']) or 'anything'}"
    else:
        yield escape(str(schema.get("type", "anything")))
