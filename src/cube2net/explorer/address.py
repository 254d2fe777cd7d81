"""A question as a word for the page's address: JSON, deflated, in base64url, as ``web/src/address.ts`` does it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

from cube2net.api.ask_parameters import query_words
from cube2net.explorer.replies import json_bytes
from cube2net.records import Cube, Query
from cube2net.records.lineage import lineage_of


def asked_for(cube: Cube, query: Query) -> dict[str, Any]:
    """Return the question for the network of a query, with nothing else said."""
    ask = query_words(cube, query)
    origin = lineage_of(cube).origin
    return ask if origin is None else {**ask, "cube": origin.seal}


def packed_ask(ask: Mapping[str, Any]) -> str:
    """Return a question as a word of letters, digits, - and _.

    >>> packed_ask({"query": ["o1", "o2"]})
    'q1YqLE0tqlSyilbKN1TSUco3UoqtBQA'
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    content = packer.compress(json_bytes(ask)) + packer.flush()
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")
