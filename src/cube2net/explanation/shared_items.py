"""The items that mention two objects, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import row_of_entries, take_rows, transpose
from cube2net.explanation.link_times import plain_time
from cube2net.records import Cube, ItemIndex, Ragged
from cube2net.records.explanation import SharedItem
from cube2net.records.item_attributes import plain_type

TITLES = ("title", "name")
"""What the attribute is called that says what an item is."""


@dataclass(frozen=True, eq=False)
class ItemsOfObjects:
    """The items of a cube by the objects that they mention: object → items.

    ``title`` and ``time`` name the attributes that say what an item is and when it was, where the cube keeps them.
    Items that mention more objects than ``most`` make no links, and are behind none.
    """

    index: ItemIndex
    rows: Ragged
    title: str | None
    time: str | None
    most: int | None

    @classmethod
    def of(cls, cube: Cube, time: str | None = None) -> ItemsOfObjects | None:
        """Return the items of a cube, by an attribute that says when each was; None where it does not keep them."""
        if cube.items is None:
            return None
        index = cube.items()
        kinds = {} if index.load_attributes is None else index.kept_attributes.types
        texts = [name for name, kind in kinds.items() if pa.types.is_string(plain_type(kind))]
        called = [name for wanted in TITLES for name in kinds if name.lower() == wanted]
        title = next(iter([*called, *(name for name in texts if name != time)]), None)
        most = cube.settings.get("max_mentions") if index.derived else None
        return cls(index, transpose(index.objects, len(cube.objects)), title, time if time in kinds else None, most)

    @property
    def note(self) -> str:
        """What the cube does not keep of its items."""
        if self.index.load_attributes is None:
            return "the cube does not keep the titles of its items: ids stand for them (items='all' keeps them)"
        return ""

    def shared(self, row: int, others: Array, most: int) -> list[tuple[int, tuple[SharedItem, ...]]]:
        """Return for each of some objects how many items mention it and the given one, and the newest of these.

        Where nothing says when items were, those are shown that came last.
        """
        items = self.rows[row]
        mentioned = take_rows(self.index.objects, items)
        if self.most is not None:
            items = items[mentioned.sizes <= self.most]
            mentioned = take_rows(self.index.objects, items)
        owner = row_of_entries(mentioned)
        each = [items[owner[mentioned.indices == other]] for other in others.tolist()]
        wanted = np.unique(np.concatenate([*each, items[:0]]))
        times = dict(zip(wanted.tolist(), self._column(self.time, wanted), strict=True))
        newest = [_newest_first(rows.tolist(), times)[:most] for rows in each]
        shown = np.unique(np.array([number for rows in newest for number in rows], dtype=np.int64))
        titles = self._column(self.title, shown)
        ids = self.index.ids.take(pa.array(shown)).to_pylist() if len(shown) else []
        known = {
            number: SharedItem(str(key), None if title is None else str(title), plain_time(times[number]))
            for number, key, title in zip(shown.tolist(), ids, titles, strict=True)
        }
        return [(len(rows), tuple(known[at] for at in first)) for rows, first in zip(each, newest, strict=True)]

    def _column(self, name: str | None, items: Array) -> list[Any]:
        """Return an attribute of some items; nothing for each where the cube does not keep it."""
        if name is None or not len(items):
            return [None] * len(items)
        found: list[Any] = self.index.attributes[name].take(pa.array(items)).to_pylist()
        return found


def _newest_first(items: Sequence[int], times: dict[int, Any]) -> list[int]:
    """Return items by their time, the latest first and those without a time last; of equal ones what came later."""
    dated = [item for item in items if times[item] is not None]
    undated = [item for item in items if times[item] is None]
    return sorted(dated, key=lambda item: (times[item], item), reverse=True) + sorted(undated, reverse=True)
