"""How records travel to another process: made again from their fields, and so checked again."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def travel_by_fields(record: Any) -> tuple[Any, ...]:
    """Return how ``pickle`` makes a record again: from its fields, so that it is checked and cannot be written to."""
    values = {field.name: getattr(record, field.name) for field in fields(record) if field.init}
    return remade, (type(record), {name: _plain(value) for name, value in values.items()})


def remade(kind: type, values: dict[str, Any]) -> Any:
    """Return a record of some fields."""
    return kind(**values)


def _plain(value: Any) -> Any:
    """Return an array as it is in memory, also where it is mapped from a file."""
    return np.asarray(value) if isinstance(value, np.ndarray) else value
