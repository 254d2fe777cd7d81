"""The items of a cube: which objects each one mentions, and which cells it is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.errors import CubeError, ParameterError, Setting, some
from cube2net.records.item_attributes import ItemAttributes
from cube2net.records.ragged import Ragged


@dataclass(frozen=True, eq=False)
class ItemIndex:
    """Items by number, in the order in which they came: the objects that each mentions, and the cells that it is in.

    Cells are counted on from those that are kept to those that are small: ``cells[item]`` below ``len(cube.cells)``
    are numbers of ``cube.cells``, and what is above them, less that length, are numbers of ``cube.small``. An item
    is in a cell when it has all of its labels and mentions an object. ``derived`` says whether the cube's links come
    from these items, two objects being linked when one mentions both. ``load`` gives the items' ids.

    Where the cube keeps them, ``load_attributes`` gives the items' attributes; ``topics`` are the topics that were
    found for each, by their numbers in the order of the ledger, and ``texts`` a number of 64 bits for the text that
    each was found in. ``gone`` marks items that were taken out of the cube; they mention nothing.

    >>> objects = Ragged(np.array([0, 2, 3]), np.array([4, 7, 7], dtype=np.int32))
    >>> cells = Ragged(np.array([0, 1, 1]), np.array([0], dtype=np.int32))
    >>> items = ItemIndex(objects, cells, True, lambda: pa.chunked_array([["p1", "p2"]]))
    >>> items
    ItemIndex(2 items, 3 mentions)
    >>> items.mentioning([4, 7], least=2).tolist(), items.find(["p2"]).tolist()
    ([0], [1])
    """

    objects: Ragged
    cells: Ragged
    derived: bool
    load: Callable[[], pa.ChunkedArray]
    load_attributes: Callable[[], ItemAttributes] | None = None
    topics: Ragged | None = None
    texts: Array | None = None
    gone: Array | None = None

    def __post_init__(self) -> None:
        if len(self.objects) != len(self.cells):
            raise CubeError(f"{len(self.objects):,} items mention objects and {len(self.cells):,} are in cells")
        for part in (self.topics, self.texts):
            if part is not None and len(part) != len(self):
                raise CubeError(f"{len(self):,} items have topics or texts of {len(part):,}")

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        return f"ItemIndex({len(self):,} items, {len(self.objects.indices):,} mentions)"

    @cached_property
    def ids(self) -> pa.ChunkedArray:
        """The ids of all items."""
        ids = self.load()
        if len(ids) != len(self):
            raise CubeError(f"{len(self):,} items have {len(ids):,} ids")
        return ids

    @cached_property
    def kept_attributes(self) -> ItemAttributes:
        """The attributes of all items, as they are kept."""
        if self.load_attributes is None:
            raise CubeError(
                "the cube does not keep the attributes of its items: build it again to have them",
                hint=Setting("items", "all"),
            )
        found = self.load_attributes()
        if len(found) != len(self):
            raise CubeError(f"{len(self):,} items have attributes of {len(found):,}")
        return found

    @property
    def attributes(self) -> pa.Table:
        """The attributes of all items, a row each: all that they carry but ids and texts."""
        return self.kept_attributes.table

    def newly(self, gone: Array) -> int:
        """Return how many of the items that are marked were not taken out before."""
        return int((gone if self.gone is None else gone & ~self.gone).sum())

    def find(self, ids: Sequence[str]) -> Array:
        """Return the number of every item that is named by its id."""
        wanted = pa.array(dict.fromkeys(ids), pa.string())
        hits = pc.index_in(self.ids, value_set=wanted)
        rows = np.flatnonzero(np.asarray(pc.is_valid(hits)))
        known = dict(zip(self.ids.take(pa.array(rows)).to_pylist(), rows.tolist(), strict=True))
        lost = [text for text in wanted.to_pylist() if text not in known]
        if lost:
            plural = "1 item is" if len(lost) == 1 else f"{len(lost):,} items are"
            raise ParameterError(f"{plural} not in the cube: {some(lost)}")
        return np.array([known[text] for text in ids], dtype=np.int64)

    def mentioning(self, objects: Sequence[int] | Array, least: int = 1) -> Array:
        """Return the items that mention at least so many of some objects, ascending."""
        rows = self.objects
        wanted = np.asarray(objects, dtype=np.int64)
        highest = max(int(rows.indices.max(initial=-1)), int(wanted.max(initial=-1)))
        asked = np.zeros(highest + 1, dtype=bool)
        asked[wanted] = True
        before = np.zeros(len(rows.indices) + 1, dtype=np.int64)
        np.cumsum(asked[rows.indices], out=before[1:])
        return np.flatnonzero(before[rows.indptr[1:]] - before[rows.indptr[:-1]] >= least)
