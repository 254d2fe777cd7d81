"""The objects of a cube, found by id or name, and their attributes."""

from __future__ import annotations

import difflib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, reduce_by_fields
from cube2net._util.arrow import arrow_numbers, arrow_texts
from cube2net._util.spelling import MAX_TEXT_LETTERS, list_variants, preselect_names
from cube2net.errors import CubeError
from cube2net.model.tables import Tabular

URL = re.compile(r"(?i)https?://[^/?#]+/([^?#]*)")


@dataclass(frozen=True)
class Found:
    """Where each key was found: a row, or -1 when it is missing or means several objects."""

    rows: Array
    missing: tuple[str, ...]
    ambiguous: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lookup:
    """The rows of a column by the CRC-32 of their texts: ``hashes`` ascend, and ``rows`` are beside them."""

    hashes: Array
    rows: Array

    def find(self, keys: Sequence[str]) -> list[tuple[int, int]]:
        """Return pairs of a key and a row that may be of the same text, by key and then by row."""
        numbers = np.array([zlib.crc32(key.encode()) for key in keys], dtype=np.uint32)
        first, last = (np.searchsorted(self.hashes, numbers, side=side) for side in ("left", "right"))
        spans = enumerate(zip(first.tolist(), last.tolist(), strict=True))
        return [(key, int(self.rows[at])) for key, (begin, end) in spans for at in range(begin, end)]


@dataclass(frozen=True, eq=False)
class Objects(Tabular):
    """The table ``(object, name, kind)`` of a cube, loaded when it is used.

    ``lookups`` are indexes of ``object`` and ``name``; without them the columns are searched. ``whole`` says that the
    ids are whole numbers, which are texts in the table. ``load_attributes`` returns the other attributes, if any.
    """

    count: int
    load: Callable[[], pa.Table]
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    whole: bool = False
    load_attributes: Callable[[], pa.Table] | None = None

    @classmethod
    def of(cls, table: pa.Table, *, whole: bool = False, attributes: pa.Table | None = None) -> Objects:
        """Return the objects of a table, with their other attributes."""
        load = None if attributes is None or not attributes.num_columns else partial(_get_part, attributes)
        return cls(table.num_rows, partial(_get_part, table), whole=whole, load_attributes=load)

    @classmethod
    def some(cls, count: int, rows: Array, table: pa.Table, *, whole: bool = False) -> Objects:
        """Return ``count`` objects of which only those in the given rows have ids and names."""
        return cls(count, partial(_spread, count, rows, table), whole=whole)

    def __reduce__(self) -> tuple[Any, ...]:
        attributes = None if self.load_attributes is None else self.attributes
        return partial(Objects.of, whole=self.whole, attributes=attributes), (self.table,)

    def to_arrow(self) -> pa.Table:
        """Return ids, names, kinds and attributes as an Arrow table, one row per object."""
        table = self.table.drop_columns(["object"]).add_column(0, "id", self.ids(np.arange(self.count)))
        for name, column in zip(self.attributes.column_names, self.attributes.columns, strict=True):
            table = table.append_column(name, column) if name not in table.column_names else table
        return table

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str | int]:
        """Iterate over the ids."""
        return iter(self.ids(np.arange(self.count)).to_pylist())

    def __contains__(self, key: object) -> bool:
        """Return whether an object has this id."""
        return self._find_row(key) is not None

    def __getitem__(self, key: Any) -> Any:
        """Return the attributes of an object by its id, or a column."""
        row = self._find_row(key)
        return self.to_pandas()[key] if row is None else self.to_arrow().slice(row, 1).to_pylist()[0]

    def _find_row(self, key: object) -> int | None:
        is_id = type(key) is (int if self.whole else str)
        return next(iter(self.has_ids([str(key)]).values()), None) if is_id else None

    def __repr__(self) -> str:
        return f"Objects({self.count:,})"

    @cached_property
    def table(self) -> pa.Table:
        """The whole table, with one chunk per column."""
        return self.load().combine_chunks()

    @cached_property
    def attributes(self) -> pa.Table:
        """The other attributes of the objects, one row each."""
        return pa.table({}) if self.load_attributes is None else self.load_attributes()

    def ids(self, rows: Array) -> pa.Array:
        """Return the ids of the objects in some rows: texts, or numbers if all ids of the cube are numbers."""
        found = self.table["object"].take(arrow_numbers(np.asarray(rows, dtype=np.int64)))
        found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
        try:
            return found.cast(pa.int64()) if self.whole else found
        except pa.ArrowInvalid:
            raise CubeError("the cube is damaged: its ids are said to be whole numbers, and some are none") from None

    def has_ids(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the rows of the keys that are ids."""
        wanted = arrow_texts([key for key in dict.fromkeys(keys) if is_text(key)])
        return {key: row for row, key in self._matches("object", wanted)}

    def find(self, keys: Sequence[str]) -> Found:
        """Return the row of each key: of the object with this id, otherwise of the only object with this name.

        Other texts are tried with accents encoded differently and turned around (``Last, First``); a URL matches an id
        that is its path, or the last part of it.
        """
        return self._find(keys, list_variants)

    def _find(self, keys: Sequence[str], forms: Callable[[str], Sequence[str]]) -> Found:
        rows = np.full(len(keys), -1, dtype=np.int64)
        place: dict[str, list[int]] = {}
        for position, key in enumerate(keys):
            place.setdefault(key, []).append(position)
        readable = list(place)
        try:
            wanted = arrow_texts(readable)
        except UnicodeEncodeError:
            readable = list(filter(is_text, place))
            wanted = arrow_texts(readable)
        for row, key in self._matches("object", wanted):
            rows[place[key]] = row
        left = [key for key in readable if rows[place[key][0]] < 0]
        ambiguous: set[str] = set()
        if left:
            seen: dict[str, int] = {}
            for row, key in self._matches("name", arrow_texts(left)):
                if key in seen:
                    ambiguous.add(key)
                seen[key] = row
            for key, row in seen.items():
                if key not in ambiguous:
                    rows[place[key]] = row
        ambiguous |= self._find_by_forms(
            [key for key in left if rows[place[key][0]] < 0], ambiguous, forms, place, rows
        )
        self._find_by_links([key for key in left if rows[place[key][0]] < 0 and key not in ambiguous], place, rows)
        missing = tuple(key for key in place if rows[place[key][0]] < 0 and key not in ambiguous)
        return Found(rows, missing, tuple(key for key in place if key in ambiguous))

    def _find_by_forms(
        self,
        keys: Sequence[str],
        known: set[str],
        forms: Callable[[str], Sequence[str]],
        place: Mapping[str, list[int]],
        rows: Array,
    ) -> set[str]:
        """Fill in the rows of keys that are found by another spelling; return the ambiguous ones."""
        others = {key: given for key in keys if key not in known and (given := forms(key))}
        if not others:
            return set()
        written = list(dict.fromkeys(form for given in others.values() for form in given))
        found = self._find(written, lambda _: ())
        row_of = dict(zip(written, found.rows.tolist(), strict=True))
        several = set()
        for key, given in others.items():
            meant = {row_of[form] for form in given if row_of[form] >= 0}
            if len(meant) == 1 and not {*given}.intersection(found.ambiguous):
                rows[place[key]] = meant.pop()
            elif meant or {*given}.intersection(found.ambiguous):
                several.add(key)
        return several

    def _find_by_links(self, keys: Sequence[str], place: Mapping[str, list[int]], rows: Array) -> None:
        """Fill in the rows of keys that are URLs."""
        meant = {key: parts for key in keys if (parts := ids_in_url(key))}
        known = self.has_ids([part for parts in meant.values() for part in parts]) if meant else {}
        for key, parts in meant.items():
            rows[place[key]] = next((known[part] for part in parts if part in known), -1)

    def near(self, key: str, most: int = 1) -> list[str]:
        """Return the names that begin with a key, otherwise those with the most similar spelling, ignoring case.

        Only names that share the first letters of a word with the key are considered.
        """
        starts = sorted({word[:3].casefold() for word in key.split() if len(word) >= 3})
        if not starts or len(key) > MAX_TEXT_LETTERS or not is_text(key):
            return []
        names = self.table["name"]
        pattern = "|".join(rf"(?:^|\W){_escape(start)}" for start in starts)
        hits = names.filter(pc.match_substring_regex(names, pattern, ignore_case=True)).unique().to_pylist()
        key = key.casefold()
        folded = {hit.casefold(): hit for hit in hits}
        begun = sorted((hit for hit in folded if hit.startswith(key)), key=len)
        like = (
            difflib.get_close_matches(key, preselect_names(key, list(folded)), n=most, cutoff=0.75) if not begun else []
        )
        return [folded[hit] for hit in begun[:most] or like]

    def bearers(self, name: str, most: int = 3) -> list[str] | list[int]:
        """Return the ids of the first objects with a name."""
        ids: list[str] | list[int] = self.ids(self.rows_bearing(name)[:most]).to_pylist()
        return ids

    def rows_bearing(self, name: str) -> Array:
        """Return the rows of all objects with a name, also with other spelling of accents, ascending."""
        names = arrow_texts([name, *list_variants(name)])
        if "name" in self.lookups:
            return np.array(sorted({row for row, _ in self._matches("name", names)}), dtype=np.int64)
        return np.flatnonzero(np.asarray(pc.is_in(self.table["name"], value_set=names)))

    def also_called(self, keys: Sequence[str], rows: Array) -> dict[str, list[int]]:
        """Return the rows of other objects whose name equals a key that was found as an id, by key, ascending.

        Keys that are no name of another object are left out.
        """
        own = {key: row for key, row in zip(keys, rows.tolist(), strict=True) if row >= 0}
        found: dict[str, list[int]] = {}
        for row, key in self._matches("name", arrow_texts(list(own))) if own else ():
            if row != own[key]:
                found.setdefault(key, []).append(row)
        return {key: found[key] for key in own if key in found}

    def _matches(self, column: str, wanted: pa.Array) -> list[tuple[int, str]]:
        """Return the rows that hold a wanted text, ascending, each with its text."""
        if column in self.lookups:
            keys = wanted.to_pylist()
            found = self.lookups[column].find(keys)
            rows = np.array([row for _, row in found], dtype=np.int64)
            held = self.table[column].take(arrow_numbers(rows)).to_pylist()
            return sorted((row, keys[key]) for (key, row), text in zip(found, held, strict=True) if text == keys[key])
        hit = pc.index_in(self.table[column], value_set=wanted)
        rows = np.flatnonzero(np.asarray(pc.is_valid(hit)))
        keys = wanted.take(pc.drop_null(hit).combine_chunks()).to_pylist()
        return list(zip(rows.tolist(), keys, strict=True))


def ids_in_url(key: str) -> list[str]:
    """Return the ids that a URL may stand for: its path, and the last part of that; none where it is no URL.

    >>> ids_in_url("https://openalex.org/A5043016649"), ids_in_url("https://doi.org/10.1/x?y=1"), ids_in_url("A5")
    (['A5043016649'], ['10.1/x', 'x'], [])
    """
    found = URL.match(key)
    path = found[1].strip("/") if found else ""
    return list(dict.fromkeys([path, path.rpartition("/")[2]])) if path else []


def _spread(count: int, rows: Array, table: pa.Table) -> pa.Table:
    place = np.full(count, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return table.take(pa.array(place, mask=place < 0))


def _escape(text: str) -> str:
    """Return a pattern that matches a text literally; only ASCII characters need to be escaped."""
    return "".join(sign if sign.isalnum() or not sign.isascii() else "\\" + sign for sign in text)


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """The number of items that mention each object, and how many of these have each label.

    ``dimensions`` has, for each dimension, its labels and three parallel arrays: the position of an object, the number
    of a label, and the number of items with this label that mention the object; sorted by object, then by label.
    """

    items: Array
    dimensions: Mapping[str, tuple[tuple[str, ...], Array, Array, Array]] = field(default_factory=dict)

    __reduce__ = reduce_by_fields

    def __repr__(self) -> str:
        return f"LabelCounts({len(self.items):,} objects, {len(self.dimensions)} dimensions)"

    def commonest(self, dimension: str) -> pa.Array:
        """Return the label that most items of each object have, the first of them on ties; null where none has one.

        >>> pairs = (np.array([0, 0, 2]), np.array([0, 1, 1]), np.array([1, 4, 2]))
        >>> LabelCounts(np.array([5, 0, 2]), {"venue": (("ACL", "KDD"), *pairs)}).commonest("venue").to_pylist()
        ['KDD', None, 'KDD']
        """
        labels, rows, numbers, counts = self.dimensions[dimension]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        most = np.maximum.reduceat(counts, starts) if len(starts) else counts
        hit = np.flatnonzero(counts == np.repeat(most, np.diff(starts, append=len(rows))))[::-1]
        best = np.full(len(self.items), -1, np.int64)
        best[rows[hit]] = numbers[hit]  # the first of several comes last, and stays
        return arrow_texts(labels).take(arrow_numbers(best, missing=best < 0))


@dataclass(frozen=True, eq=False)
class Lookups:
    """Functions that look up attributes of objects and links in a cube, by rows.

    ``nodes(objects)`` returns a table with one row per object; ``links(source, target)`` one with one row per pair of
    linked objects, or None if links have no attributes; ``labels(objects)`` counts the items of each object.
    ``directions(source, target)`` returns one row per pair from source to target, then one per pair back.
    """

    nodes: Callable[[Array], pa.Table]
    links: Callable[[Array, Array], pa.Table | None]
    labels: Callable[[Array], LabelCounts | None]
    directions: Callable[[Array, Array], pa.Table | None]

    def __repr__(self) -> str:
        return "Lookups()"

    def detach(self, objects: Array, source: Array, target: Array) -> Lookups:
        """Return the attributes of these objects and links, without the cube; arguments of later calls are ignored."""
        parts: list[Any] = [self.nodes(objects), self.links(source, target), self.labels(objects)]
        parts.append(self.directions(source, target))
        return Lookups(*(partial(_get_part, part) for part in parts))


def _get_part(part: Any, *_: Array) -> Any:
    """Return what is at hand for any arguments; unlike a lambda, it travels to other processes."""
    return part


def distinct_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names with a number behind those that are taken or repeated.

    >>> distinct_names(["a", "b", "a"]), distinct_names(["a", "a", "b"], taken=["b"])
    (['a', 'b', 'a (2)'], ['a', 'a (2)', 'b (2)'])
    """
    free: list[str] = []
    used = set(taken)
    for name in names:
        own, number = name, 1
        while own in used:
            number += 1
            own = f"{name} ({number})"
        used.add(own)
        free.append(own)
    return free


def is_text(text: str) -> bool:
    r"""Return whether a text can be encoded; one with a lone surrogate cannot.

    >>> is_text("naïve"), is_text("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


LOWEST = -(2**62)
"""The lowest whole number that an id may be; cells get lower ones."""


def are_whole(ids: pa.ChunkedArray | pa.Array) -> bool:
    """Return whether all ids are whole numbers of 64 bits in their usual spelling.

    >>> are_whole(pa.array(["5", "-12", "0"])), are_whole(pa.array(["5", "007"])), are_whole(pa.array(["1" * 30]))
    (True, False, False)
    """
    if not pc.all(pc.match_substring_regex(ids, r"^(0|-?[1-9][0-9]{0,18})$"), min_count=0).as_py():
        return False
    try:
        numbers = pc.cast(ids, pa.int64())
    except pa.ArrowInvalid:
        return False
    return len(ids) == 0 or pc.min(numbers).as_py() >= LOWEST
