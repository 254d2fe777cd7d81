"""The explorer's page in a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cube2net._util.packages import require
from cube2net._util.spelling import suggest_name
from cube2net.api.plan import several
from cube2net.api.query import check_cube, resolve_query
from cube2net.apps.service.requests import describe_node, describe_query, split_options
from cube2net.apps.service.schemas import NetworkRequest
from cube2net.apps.service.validation import read
from cube2net.errors import ParameterError, quote
from cube2net.model.cube import Cube
from cube2net.model.interfaces import check_call
from cube2net.model.node_names import resolve_node, resolve_object
from cube2net.model.recipe import plain_value
from cube2net.options import OPTIONS

if TYPE_CHECKING:
    from cube2net.apps.notebook.widget import Explorer

REQUEST_FIELDS = tuple(
    word
    for word in (*NetworkRequest.__required_keys__, *NetworkRequest.__optional_keys__)
    if word not in ("query", "cube")
)
"""The fields of a request besides its query."""


@check_call
def explore(cube: Cube, query: Any = None, **options: Any) -> Explorer:
    """Return the explorer as a notebook widget, whose state can be read and set from Python.

    It needs anywidget (extra ``notebook``). In untrusted notebooks a picture of the network is shown instead.

    Parameters
    ----------
    cube
        A cube from :func:`build` or :func:`open`, or a view of one; it need not be saved.
    query
        The first query: objects as for :func:`construct`. By default the page asks for names.
    options
        The options of :func:`construct`, with methods and objectives by name, and the view of the cube: ``where``,
        ``roll_up``, ``between``, ``kind``.

    Returns
    -------
    Explorer
        ``network``, ``selection`` and ``query`` are those on the page, ``node`` is the last node clicked, and
        ``request`` is the complete request. ``observe`` reports changes. Setting ``query`` or ``request`` updates the
        page; ``close`` ends it.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> widget = c2n.explore(c2n.build(planted.corpus), planted.query(0)[:10], n_cells=3)
    >>> widget.network
    Network(20 objects, 3 cells, 83 links, 10 in the query)
    >>> widget.query = planted.query(1)[:5]
    >>> widget
    Explorer(Network(10 objects, 3 cells, 30 links, 5 in the query))
    >>> widget.close()
    """
    check_cube(cube)
    require("the explorer in a notebook", "anywidget")
    from cube2net.apps.notebook.widget import Explorer

    return Explorer(cube, parse_request(cube, query, **options))


def parse_request(cube: Cube, query: Any = None, **options: Any) -> dict[str, Any]:
    """Return the JSON request of a query and options given in Python."""
    request: dict[str, Any] = {"query": []}
    if query is not None:
        request |= describe_query(cube, resolve_query(cube, query))
    for field, value in options.items():
        if field == "progress":
            raise ParameterError("explore takes no progress: the page itself shows how far long work is")
        kind = OPTIONS[field].kind if field in OPTIONS else ""
        if kind == "nodes":
            request[field] = [_describe_node(cube, item) for item in several(value)]
        elif kind == "objects":
            request[field] = [_get_id(cube, item) for item in several(value)]
        elif field == "kind":
            request[field] = [value] if isinstance(value, str) else list(value)
        elif field in REQUEST_FIELDS:
            request[field] = value
        else:
            request.setdefault("options", {})[field] = value
    try:
        return as_json(request)
    except ParameterError as error:
        suggestions = {
            field: suggestion
            for field in request.get("options", {})
            if (suggestion := suggest_name(field, REQUEST_FIELDS)) is not None
        }
        unknown = next((field for field in suggestions if field == error.value or error.parameter == "options"), None)
        if unknown is None:
            raise
        raise ParameterError(f"explore takes no {quote(unknown)}: did you mean {suggestions[unknown]!r}?") from None


def as_json(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request as JSON with plain values and without empty fields; raise for values that JSON cannot hold.

    >>> as_json({"query": ("a", "b"), "m": None, "pins": []})
    {'query': ['a', 'b']}
    """
    request = plain_value(request, _convert_numpy)
    for field, value in request.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ParameterError(
                f"{field} is {quote(value)}, expected numbers and texts that a page can send",
                parameter=field,
                value=value,
            ) from None
    given_fields = {
        field: value for field, value in request.items() if value not in (None, (), [], {}, "") and value is not False
    }
    plain: dict[str, Any] = json.loads(json.dumps({"query": [], **given_fields}))
    read(NetworkRequest, plain)
    split_options(plain)
    return plain


def _convert_numpy(value: Any) -> Any:
    """Convert NumPy numbers and arrays to Python; return other values unchanged."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _describe_node(cube: Cube, node: Any) -> Any:
    return {"cell": list(node)} if isinstance(node, tuple | list) else describe_node(cube, resolve_node(cube, node))


def _get_id(cube: Cube, value: Any) -> Any:
    description: Any = describe_node(cube, resolve_object(cube, value))
    return description["object"]
