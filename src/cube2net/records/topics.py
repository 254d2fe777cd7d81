"""What a topic model hands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import InputError

ASSIGNED = {"item": pa.int32(), "topic": pa.int32(), "weight": pa.float32()}
WORDS = {"topic": pa.int32(), "term": pa.string(), "weight": pa.float32()}
NO_TEXT = "no text"


@dataclass(frozen=True, eq=False)
class Topics:
    """Topics with readable names, and the topics of every item.

    ``assigned(item, topic, weight)`` has one row or more for every item; items are given by row number.
    ``words(topic, term, weight)`` are the heaviest terms of each topic, heaviest first. ``parents`` names
    the group of every topic where topics are grouped. ``settings`` is what is needed to make them again, and
    ``model`` the trained model as a table, where there is one.
    """

    names: tuple[str, ...]
    assigned: pa.Table
    words: pa.Table
    parents: tuple[str, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    model: pa.Table | None = None

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise InputError("two topics have the same name")
        if self.parents is not None and len(self.parents) != len(self.names):
            raise InputError(f"there are {len(self.names)} topics and {len(self.parents)} parents")
        for rows, columns in ((self.assigned, ASSIGNED), (self.words, WORDS)):
            if dict(zip(rows.schema.names, rows.schema.types, strict=True)) != columns:
                raise InputError(f"a table of topics has columns {rows.schema.names}, expected {list(columns)}")
            ends = pc.min_max(rows["topic"]).as_py()
            if rows.num_rows and not 0 <= ends["min"] <= ends["max"] < len(self.names):
                raise InputError("a table of topics names a topic that is not there")

    def __repr__(self) -> str:
        return f"Topics({len(self.names)} topics, {self.assigned.num_rows:,} assignments)"
