"""Vectors of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cube2net._util.arrays import Array, freeze
from cube2net.errors import InputError


@dataclass(frozen=True, eq=False)
class Vectors:
    """One vector per cell: ``values[cell]``, made of blocks; block ``i`` is columns ``blocks[i]:blocks[i + 1]``.

    ``names`` are the names of the blocks: the dimensions of the cube if a vector is made of those of labels. Then
    ``tables[i]`` has the vectors of the labels of dimension i, and ``labels[cell, i]`` the label of a cell; otherwise
    both are empty. ``blank`` lists, by dimension, the labels without any known word, and ``unknown`` counts the labels
    with an unknown word.
    """

    values: Array
    blocks: tuple[int, ...]
    names: tuple[str, ...]
    tables: tuple[Array, ...] = ()
    labels: Array | None = None
    blank: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.values.ndim != 2:
            raise InputError(f"cell vectors have shape {self.values.shape}, expected cells × columns")
        ends = (*self.blocks[:1], *self.blocks[-1:])
        if ends != (0, self.values.shape[1]) or sorted(self.blocks) != list(self.blocks):
            raise InputError(f"the blocks {self.blocks} do not divide {self.values.shape[1]} columns")
        if len(self.names) != len(self.blocks) - 1:
            raise InputError(f"{len(self.blocks) - 1} blocks have {len(self.names)} names")
        if not bool(np.isfinite(self.values).all()):
            raise InputError(f"{int((~np.isfinite(self.values)).any(axis=1).sum()):,} cell vectors are not finite")
        if self.labels is not None:
            self._check_product(self.labels)
            object.__setattr__(self, "labels", freeze(self.labels))
        object.__setattr__(self, "values", freeze(np.ascontiguousarray(self.values, dtype=np.float32)))
        object.__setattr__(self, "tables", tuple(freeze(table) for table in self.tables))

    def _check_product(self, labels: Array) -> None:
        if labels.shape != (len(self.values), len(self.names)) or len(self.tables) != len(self.names):
            raise InputError(
                f"{len(self.values):,} cells of {len(self.names)} blocks have labels of shape {labels.shape} "
                f"and {len(self.tables)} tables"
            )
        for i, (name, table) in enumerate(zip(self.names, self.tables, strict=True)):
            if table.ndim != 2 or table.shape[1] != self.blocks[i + 1] - self.blocks[i]:
                raise InputError(f"the table of {name!r} has shape {table.shape}, its block {self.width(i)} columns")
            if len(labels) and not 0 <= int(labels[:, i].min()) <= int(labels[:, i].max()) < len(table):
                raise InputError(f"cells have labels that the table of {name!r} does not have")

    @classmethod
    def product(
        cls,
        tables: Mapping[str, Array] | Sequence[tuple[str, Array]],
        labels: Array,
        *,
        blank: Mapping[str, tuple[str, ...]] | None = None,
        unknown: Mapping[str, int] | None = None,
    ) -> Vectors:
        """Return vectors of cells that concatenate the vectors of their labels.

        The label -1, ∗, has a vector of zeros, which is appended to a table if needed.
        """
        pairs = list(tables.items()) if isinstance(tables, Mapping) else list(tables)
        rows = [np.asarray(table, dtype=np.float32) for _, table in pairs]
        star = labels == -1
        if bool(star.any()):
            labels = np.where(star, [len(table) for table in rows], labels)
            rows = [np.pad(table, ((0, int(star[:, i].any())), (0, 0))) for i, table in enumerate(rows)]
        parts = [table[labels[:, i]] for i, table in enumerate(rows)]
        values = np.concatenate([np.zeros((len(labels), 0), np.float32), *parts], axis=1)
        blocks = (0, *np.cumsum([table.shape[1] for table in rows]).tolist())
        return cls(values, blocks, tuple(name for name, _ in pairs), tuple(rows), labels, blank or {}, unknown or {})

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {self.width(i)}" for i, name in enumerate(self.names))
        return f"Vectors({len(self):,} cells × {self.values.shape[1]}: {parts})"

    def width(self, block: int) -> int:
        """Return the number of columns of a block."""
        return self.blocks[block + 1] - self.blocks[block]

    @property
    def directionless(self) -> Array:
        """The cells whose vector is zero, which an action cannot distinguish."""
        return np.flatnonzero(~self.values.any(axis=1))

    def take(self, cells: Array | Sequence[int]) -> Vectors:
        """Return the vectors of some cells, in this order."""
        rows = np.asarray(cells, dtype=np.int64)
        labels = None if self.labels is None else self.labels[rows]
        return replace(self, values=self.values[rows], labels=labels)
