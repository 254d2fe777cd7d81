"""A backend of NetworkX: its functions take a network as the graph that :meth:`Network.to_networkx` makes of it.

NetworkX finds it by the entry point ``cube2net`` of ``networkx.backends``. The functions are those of NetworkX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cube2net.model.network import Network


def convert_to_nx(graph: Any, *, name: str | None = None) -> Any:
    """Return the graph of a network, which cannot be changed; anything else unchanged."""
    return graph._read_graph() if isinstance(graph, Network) else graph


def convert_from_nx(graph: Any, **_: Any) -> Any:
    """Return a graph of NetworkX unchanged, because the functions are those of NetworkX."""
    return graph


def __getattr__(name: str) -> Callable[..., Any]:
    """Return the function of NetworkX with a name, for networks."""
    from networkx.utils.backends import _registered_algorithms as functions

    if name not in functions:
        raise AttributeError(name)

    def call(*args: Any, **kwargs: Any) -> Any:
        values = {key: _convert(value) for key, value in kwargs.items()}
        return functions[name].orig_func(*map(_convert, args), **values)

    return call


def _convert(value: Any) -> Any:
    return [*map(convert_to_nx, value)] if isinstance(value, list) else convert_to_nx(value)
