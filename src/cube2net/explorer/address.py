"""A question as a word for the page's address: JSON, deflated, in base64url, as ``web/src/address.ts`` does it."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from cube2net.errors import InputError
from cube2net.explorer.replies import json_bytes
from cube2net.records import Cube, Query
from cube2net.records.lineage import lineage_of

UNRESOLVED = "unresolved"
LARGEST = 16 * 1024 * 1024
"""A question has at most so many bytes, however small its address is."""


def asked_for(cube: Cube, query: Query, unresolved: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return the question for the network of a query, with nothing else said.

    ``unresolved`` are names with their labels that are to be mended on the page: they are no part of the question.
    """
    ask: dict[str, Any] = {"query": cube.objects.ids(query.objects).to_pylist()}
    if query.labels is not None:
        ask["labels"] = list(query.labels)
    if unresolved:
        ask[UNRESOLVED] = [list(pair) for pair in unresolved]
    origin = lineage_of(cube).origin
    return ask if origin is None else {**ask, "cube": origin.seal}


def packed_ask(ask: Mapping[str, Any]) -> str:
    """Return a question as a word of letters, digits, - and _.

    >>> packed_ask({"query": ["o1", "o2"]})
    'q1YqLE0tqlSyilbKN1TSUco3UoqtBQA'
    >>> unpacked_ask(packed_ask({"query": ["o1", "o2"]}))
    {'query': ['o1', 'o2']}
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    content = packer.compress(json_bytes(ask)) + packer.flush()
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


def unpacked_ask(word: str) -> dict[str, Any]:
    """Return the question of such a word."""
    try:
        content = base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        text = unpacker.decompress(content, LARGEST)
        ask = json.loads(text) if unpacker.eof and not unpacker.unused_data else None
    except (ValueError, binascii.Error, zlib.error, RecursionError):
        ask = None
    if not isinstance(ask, dict) or not isinstance(ask.get("query"), list):
        raise InputError("the address holds no question that can be read: it may have been cut off when it was copied")
    return ask
