"""The base of results that have a sentence and a form for JSON."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from cube2net._util.display import Shown


class Result(Shown):
    """A result that is described by a ``sentence``, which is its text, and that JSON can carry."""

    JSON_NAMES = ""
    """The names of the attributes that JSON has, separated by spaces."""

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return the result in texts and numbers that JSON can carry."""
        return pick_plain(self, self.JSON_NAMES)


def pick_plain(record: object, names: str) -> dict[str, Any]:
    """Return some attributes of a record, their names separated by spaces, as JSON has them."""
    return {name: make_plain(getattr(record, name)) for name in names.split()}


def make_plain(value: Any) -> Any:
    """Return a value, and the records and arrays in it, as JSON has it."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {field.name: make_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [make_plain(part) for part in value] if isinstance(value, tuple) else value
