"""Results of contrasts, drill-downs and pivots."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, freeze, reduce_by_fields
from cube2net._util.arrow import to_pandas
from cube2net._util.display import Shown
from cube2net._util.text import format_count
from cube2net.errors import InputError, quote_few, quote_unsafe
from cube2net.model.network import Network
from cube2net.model.node_names import cell_line, cell_title, quote_title
from cube2net.model.query import Query
from cube2net.model.results import Result, pick_plain
from cube2net.model.selection import PROVEN

if TYPE_CHECKING:
    import pandas

REST = "the rest"
MAX_SHOWN = 3
"""The most cells or objects that are named in a sentence."""


@dataclass(frozen=True)
class SeparatingCell:
    """A cell at mixed levels that contains a larger share of one of two sides.

    ``labels`` has one label for each dimension, ∗ for all and one that two levels have with its level behind it, and
    ``levels`` the name of the level of each, None for ∗.
    ``in_first`` of the ``first_size`` objects of the first side are in it, and ``in_second`` of the ``second_size`` of
    the other; ``for_first`` says that it speaks for the first side. ``low`` and ``high`` are the 95 % interval of the
    share of the first less that of the second (Newcombe's). ``p_value`` is that of Fisher's exact test, two-sided and
    corrected by Holm over all cells tested; ``raw_p_value`` is uncorrected. ``gain`` is what the cell added to the
    value.
    """

    labels: tuple[str, ...]
    levels: tuple[str | None, ...]
    in_first: int
    in_second: int
    first_size: int
    second_size: int
    for_first: bool
    low: float
    high: float
    p_value: float
    raw_p_value: float
    gain: float = 0.0

    @property
    def title(self) -> str:
        """Its labels between angles: ⟨202X · ∗ · parsing⟩."""
        return cell_title(self.labels)

    @property
    def shares(self) -> tuple[float, float]:
        """Which share of each side it holds."""
        return self.in_first / self.first_size, self.in_second / self.second_size

    @property
    def difference(self) -> float:
        """The share of the first side less that of the second."""
        return self.shares[0] - self.shares[1]

    @property
    def lift(self) -> float:
        """How many times as often it holds objects of the side that it speaks for; infinite where it holds no other."""
        one, two = self.in_first * self.second_size, self.in_second * self.first_size
        own, other = (one, two) if self.for_first else (two, one)
        return own / other if other else math.inf

    def sentence(self, one: str, two: str) -> str:
        """Return in one sentence what it says of two sides.

        >>> cell = SeparatingCell(("∗", "ACL"), (None, "venue"), 9, 3, 10, 30, True, 0.4, 0.9, 0.0004, 0.0001)
        >>> cell.sentence("A", "B")
        '⟨∗ · ACL⟩ holds 90 % of A (9 of 10) and 10 % of B (3 of 30), 9.0 times as often, p < 0.001'
        """
        often = "" if math.isinf(self.lift) else f", {self.lift:,.1f} times as often"
        parts = [
            f"{100 * share:.0f} % of {quote_unsafe(name)} ({count:,} of {size:,})"
            for share, name, count, size in zip(
                self.shares,
                (one, two),
                (self.in_first, self.in_second),
                (self.first_size, self.second_size),
                strict=True,
            )
        ]
        parts = parts if self.for_first else parts[::-1]
        return f"{quote_title(self.labels)} holds {' and '.join(parts)}{often}, {_format_p_value(self.p_value)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as JSON has it; an infinite lift is None."""
        return {
            **pick_plain(self, "labels levels shares difference p_value raw_p_value gain"),
            "objects": [self.in_first, self.in_second],
            "for": 1 if self.for_first else 2,
            "lift": None if math.isinf(self.lift) else self.lift,
            "interval": [self.low, self.high],
        }

    def __repr__(self) -> str:
        return f"SeparatingCell({self.title}: {_format_shares(self)}, {_format_p_value(self.p_value)})"


@dataclass(frozen=True, eq=False)
class Contrast(Result):
    """The cells that separate two sides, in the order chosen, and how good any choice could be.

    ``names`` are those of the sides and ``sizes`` how many objects each has. ``value`` is how well the cells separate
    the sides (0 to 1), ``bound`` an upper bound for the same number of cells. ``tested`` cells were tested,
    ``n_significant`` of them have a p-value of at most ``alpha``, and ``explained`` of these are left out since a more
    general one says as much. ``nearest`` is the cell with the smallest p-value if none is significant, ``outside`` how
    many objects are on neither side, and ``note`` a remark. ``query`` has all objects, labelled by their sides.
    """

    names: tuple[str, str]
    sizes: tuple[int, int]
    cells: tuple[SeparatingCell, ...]
    query: Query
    value: float = 0.0
    bound: float = 0.0
    tested: int = 0
    n_significant: int = 0
    explained: int = 0
    nearest: SeparatingCell | None = None
    outside: int = 0
    note: str = ""
    alpha: float = 0.05
    make: Callable[[], Network] | None = field(default=None, repr=False)

    JSON_NAMES = "sentence value bound proven tested n_significant explained outside alpha nearest"

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_by_fields(self) if self.make is None else reduce_by_fields(replace(self, make=None))

    def __repr__(self) -> str:
        one, two = (f"{quote_unsafe(name)} {size:,}" for name, size in zip(self.names, self.sizes, strict=True))
        return f"Contrast({one} against {two}: {len(self.cells)} cells, value {self.value:.3f} of {self.bound:.3f})"

    @property
    def proven(self) -> bool:
        """Whether no choice of so many cells is worth more, but for rounding."""
        return self.bound - self.value <= PROVEN

    @property
    def sentence(self) -> str:
        """The contrast in one sentence."""
        if self.note:
            return self.note
        one, two = (
            f"{quote_unsafe(name)} ({format_count(size, 'object')})"
            for name, size in zip(self.names, self.sizes, strict=True)
        )
        if self.cells:
            shown = [f"{quote_title(cell.labels)} ({_format_shares(cell)})" for cell in self.cells[:MAX_SHOWN]]
            more = len(self.cells) - len(shown)
            shown += [format_count(more, "more cell")] if more else []
            listed = " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
            text = f"{one} differs from {two} in {listed}"
        elif self.nearest is not None:
            about = f"{_format_shares(self.nearest)}, {_format_p_value(self.nearest.p_value)}"
            near = f"{quote_title(self.nearest.labels)} ({about})"
            text = f"no cell separates {one} from {two} significantly: the closest is {near}"
        else:
            text = f"no cell separates {one} from {two}: they are too few, or in the same cells"
        return text + (f"; {format_count(self.outside, 'object')} on neither side" if self.outside else "")

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for every cell."""
        return tuple(cell.sentence(*self.names) for cell in self.cells)

    @cached_property
    def network(self) -> Network:
        """The objects of both sides with the cells as nodes; the sides are the labels."""
        return _make_network(self.make)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the cells as a data frame of pandas, in the order chosen.

        ``labels`` are those of the cell and ``side`` the name of the side of which it holds more; ``first`` and
        ``second`` are the numbers of objects of each side in it, ``first_share`` and ``second_share`` their shares, and
        ``p_value`` is corrected for the number of cells tested.

        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> contrast = c2n.contrast(c2n.build(planted.corpus), planted.query(0), n_cells=1)
        >>> contrast.to_pandas()[["labels", "side", "first", "second"]]
                   labels       side  first  second
        0  (∗, ∗, topic 2)  the query     50       0
        """
        columns = {
            "side": [self.names[not cell.for_first] for cell in self.cells],
            "first": [cell.in_first for cell in self.cells],
            "second": [cell.in_second for cell in self.cells],
            "first_share": [cell.shares[0] for cell in self.cells],
            "second_share": [cell.shares[1] for cell in self.cells],
            "lift": [cell.lift for cell in self.cells],
            "p_value": [cell.p_value for cell in self.cells],
        }
        types = [pa.string(), pa.int64(), pa.int64(), *[pa.float64()] * 4]
        frame = to_pandas(pa.table(columns, pa.schema(zip(columns, types, strict=True))))
        frame.insert(0, "labels", [cell.labels for cell in self.cells])
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return the contrast as JSON has it."""
        return {
            "sides": [{"name": name, "objects": size} for name, size in zip(self.names, self.sizes, strict=True)],
            "cells": [
                {**cell.to_dict(), "sentence": text} for cell, text in zip(self.cells, self.sentences, strict=True)
            ],
            **super().to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Description(Shown):
    """What tells each of several groups of objects from the others: one contrast a group, by name.

    ``outside`` says how many objects are in no group, and ``elsewhere`` how many of the others are not in the network
    that was described.
    """

    contrasts: tuple[Contrast, ...]
    query: Query
    outside: int = 0
    make: Callable[[], Network] | None = field(default=None, repr=False)
    elsewhere: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_by_fields(self) if self.make is None else reduce_by_fields(replace(self, make=None))

    def __len__(self) -> int:
        return len(self.contrasts)

    def __iter__(self) -> Iterator[Contrast]:
        return iter(self.contrasts)

    def __getitem__(self, name: str | int) -> Contrast:
        if isinstance(name, int):
            return self.contrasts[name]
        found = next((each for each in self.contrasts if each.names[0] == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def __repr__(self) -> str:
        return f"Description({self.size})"

    @property
    def size(self) -> str:
        """The numbers of groups, cells and objects, as text."""
        cells = sum(len(each.cells) for each in self.contrasts)
        return f"{len(self):,} groups, {cells:,} cells, {len(self.query):,} objects"

    def __str__(self) -> str:
        return "\n".join([*(each.sentence for each in self.contrasts), *([self.note] if self.note else [])])

    @property
    def note(self) -> str:
        """A note on all groups together; empty if there is none."""
        if not self.elsewhere:
            return ""
        verb = "is" if self.elsewhere == 1 else "are"
        objects = format_count(len(self.query) - self.outside, "object")
        return f"{self.elsewhere:,} of these {objects} {verb} not in the network"

    @cached_property
    def network(self) -> Network:
        """The objects of all groups with the cells as nodes; the groups are the labels."""
        return _make_network(self.make)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the cells of all groups as a data frame: ``group``, and the columns of :meth:`Contrast.to_pandas`."""
        import pandas as pd

        frames = {each.names[0]: each.to_pandas() for each in self.contrasts}
        return pd.concat(frames, names=["group"]).reset_index(level="group").reset_index(drop=True)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        groups = [each.to_dict() for each in self.contrasts]
        return {"groups": groups, "outside": self.outside, "elsewhere": self.elsewhere}


def describe_overlap(names: tuple[str, str], sizes: tuple[int, int], shared: int) -> str:
    """Return a sentence where a side has no objects of its own."""
    one, two = map(quote_unsafe, names)
    if not any(sizes):
        return f"{one} and {two} are the same {format_count(shared, 'object')}: there is nothing to contrast"
    if not all(sizes):
        inner, outer = (one, two) if not sizes[0] else (two, one)
        return f"all objects of {inner} ({shared:,}) are in {outer} too: there is nothing to contrast"
    return ""


def _make_network(make: Callable[[], Network] | None) -> Network:
    if make is None:
        raise InputError("the contrast came from another process, where its cube is: ask again for its network")
    return make()


def _format_shares(cell: SeparatingCell) -> str:
    return " against ".join(f"{100 * share:.0f} %" for share in cell.shares)


def _format_p_value(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


@dataclass(frozen=True)
class DrilledCell:
    """A cell below another: how much of the query it holds, how much of that no cell before it does, and what it saves.

    ``labels`` name the cell. ``bits`` is what it adds to the value of the cells before it, ``lift`` how many times the
    query's share of its objects is that of the cell above.
    """

    labels: tuple[str, ...]
    query_objects: int
    new: int
    objects: int
    lift: float
    bits: float

    def __repr__(self) -> str:
        return f"DrilledCell({self}: {self.query_objects:,} of its {self.objects:,} objects, {self.new:,} new)"

    def __str__(self) -> str:
        return cell_line(self.labels)

    @property
    def share(self) -> float:
        """Which share of its objects is in the query."""
        return self.query_objects / self.objects

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as JSON has it."""
        names = "labels query_objects new objects share lift bits"
        return {"cell": str(self), **pick_plain(self, names)}


@dataclass(frozen=True)
class Drilled(Result):
    """The cells below a cell that hold most of a query at least cost, in the order chosen, and what is left over.

    ``labels`` are those of the cell, ``objects`` the number that it holds, of which ``query_objects`` are among the
    ``query`` objects asked for. ``left`` are the ids of those that no listed cell holds, ``left_names`` their names.
    ``bits`` is what the cells save, and no choice of as many saves more than ``bound``. ``why_empty`` says why there is
    no cell, where there is none.
    """

    dimensions: tuple[str, ...]
    labels: tuple[str, ...]
    cells: tuple[DrilledCell, ...]
    objects: int
    query_objects: int
    query: int
    left: tuple[Any, ...]
    left_names: tuple[str, ...]
    bits: float
    bound: float
    asked: int
    why_empty: str = ""

    JSON_NAMES = "labels dimensions objects query_objects query cells held bits bound gap proven sentence"

    def __repr__(self) -> str:
        cells, left = (format_count(len(each), what) for each, what in ((self.cells, "cell"), (self.left, "object")))
        return f"Drilled({cells} below {self.title}, {left} left over)"

    @property
    def title(self) -> str:
        """The cell that was drilled, its labels between angles."""
        return cell_title(self.labels)

    @property
    def held(self) -> int:
        """How many objects of the query the listed cells hold."""
        return self.query_objects - len(self.left)

    @property
    def gap(self) -> float:
        """How far the bits saved may be from the most that as many cells can save, as a share of that."""
        return max(0.0, 1 - self.bits / self.bound) if self.bound else 0.0

    @property
    def proven(self) -> bool:
        """Whether no choice of as many cells saves more, but for rounding."""
        return self.gap <= PROVEN

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if not self.cells:
            return self.why_empty
        count, left = len(self.cells), len(self.left)
        only = "only " if count < self.asked else ""
        cells = f"{only}{format_count(count, 'cell')} below {self.title} hold{'s' * (count == 1)}"
        whole = f"{self.held:,} of the {format_count(self.query_objects, 'object')} of the query there"
        rest = f"{left:,} {'is' if left == 1 else 'are'} left over" if left else "none is left over"
        named = f" ({quote_few(self.left_names, MAX_SHOWN)})" if left else ""
        if only:
            quality = "no further one narrows them down"
        elif self.proven:
            quality = "no choice of as many saves more bits"
        else:
            gap = max(math.ceil(self.gap * 1e3 - 1e-6) / 10, 0.1)
            quality = f"within {gap:.1f} % of the best choice of as many"
        return f"{cells} {whole}, {rest}{named}; {quality}"

    @property
    def table(self) -> pa.Table:
        """Every cell in a row: its labels, its counts, what it saves."""
        columns: dict[str, pa.Array] = {
            name: pa.array([cell.labels[number] for cell in self.cells], pa.string())
            for number, name in enumerate(self.dimensions)
        }
        kinds = {"query_objects": pa.int64(), "new": pa.int64(), "objects": pa.int64()}
        for name in ("query_objects", "new", "objects", "share", "lift", "bits"):
            columns[name] = pa.array([getattr(cell, name) for cell in self.cells], kinds.get(name, pa.float64()))
        return pa.table(list(columns.values()), list(columns))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        left = [{"id": id_, "name": name} for id_, name in zip(self.left, self.left_names, strict=True)]
        return {"cell": cell_line(self.labels), **super().to_dict(), "left": left}


@dataclass(frozen=True, eq=False)
class Pivot(Result):
    """The numbers of objects that have a label of one level and, in the same item, a label of another.

    ``levels`` are the names of the levels, ``rows`` and ``columns`` their largest labels; times and numbers are in
    ascending order, other labels by size. ``objects[i, j]`` counts distinct objects, and ``query`` those of the query,
    None without one. ``row_objects`` and ``column_objects`` are the sizes of the labels, ``whole`` and ``asked`` the
    numbers of objects of the cube and of the query in any cell, ``more`` the numbers of labels that are left out.
    """

    levels: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    objects: Array
    row_objects: Array
    column_objects: Array
    whole: int
    query: Array | None = None
    asked: int = 0
    more: tuple[int, int] = (0, 0)

    JSON_NAMES = "levels rows columns objects row_objects column_objects whole asked more sentence"

    def __post_init__(self) -> None:
        for name in ("objects", "row_objects", "column_objects", "query"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, freeze(getattr(self, name)))

    def __repr__(self) -> str:
        one, other = self.levels
        return f"Pivot({quote_unsafe(one)} × {quote_unsafe(other)}: {len(self.rows):,} × {len(self.columns):,} labels)"

    @property
    def lift(self) -> Array | None:
        """The share of the query in each place divided by its share of all objects; nan for empty places.

        It is None without a query, or if no object of the query is in a cell.
        """
        if self.query is None or not self.asked:
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Array = self.query / self.objects * (self.whole / self.asked)
        return found

    @property
    def sentence(self) -> str:
        """One sentence on the table: where most objects are, or where the query is most over-represented."""
        sizes = [
            f"{len(labels):,}{f' of {len(labels) + more:,}' if more else ''} {quote_unsafe(level)}"
            for labels, more, level in zip((self.rows, self.columns), self.more, self.levels, strict=True)
        ]
        shown = f"{' × '.join(sizes)} labels, {self.whole:,} objects"
        if not self.objects.size:
            return f"{shown}: no cell has objects"
        counts = self.objects if self.query is None or not self.asked else self.query
        at = np.unravel_index(int(np.argmax(counts)), counts.shape)
        where = f"{quote_unsafe(self.rows[at[0]])} and {quote_unsafe(self.columns[at[1]])}"
        if counts is self.objects:
            return f"{shown}; most, {int(counts[at]):,}, in {where}"
        return f"{shown}; most of the {self.asked:,} of the query, {int(counts[at]):,}, in {where}"

    def to_dict(self) -> dict[str, Any]:
        """Return the table as values for JSON; an undefined lift is None."""
        lift = [] if self.lift is None else self.lift.tolist()
        return {
            **super().to_dict(),
            "query": [] if self.query is None else self.query.tolist(),
            "lift": [[value if math.isfinite(value) else None for value in row] for row in lift],
        }

    def to_pandas(self) -> Any:
        """Return the counts of objects as a pandas data frame, with one row and one column per label."""
        import pandas as pd

        index, columns = (
            pd.Index(labels, name=level) for labels, level in zip((self.rows, self.columns), self.levels, strict=True)
        )
        return pd.DataFrame(self.objects, index=index, columns=columns)
