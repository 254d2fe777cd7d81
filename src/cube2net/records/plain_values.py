"""Values that JSON can hold: mappings, lists and Arrow's arrays as plain dictionaries and lists, at any depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def plain_value(value: Any, leaf: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return a value with plain dictionaries and lists in it, and all else as ``leaf`` gives it.

    >>> plain_value({"years": (2001, 2004), "by": {"name": "x"}})
    {'years': [2001, 2004], 'by': {'name': 'x'}}
    """
    if isinstance(value, Mapping):
        return {name: plain_value(part, leaf) for name, part in value.items()}
    if hasattr(value, "to_pylist"):
        return value.to_pylist()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain_value(part, leaf) for part in value]
    return leaf(value)
