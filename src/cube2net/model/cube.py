"""The data cube: dimensions, cells, objects and links, and where a cube or view comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, LazyRagged, Links, Ragged, check_offsets, freeze, join_rows
from cube2net._util.arrow import to_pandas
from cube2net._util.display import load_function
from cube2net._util.text import format_count
from cube2net.errors import (
    CubeError,
    InputError,
    ParameterError,
    QueryError,
    RollUp,
    quote_few,
    quote_unsafe,
    unknown_name,
)
from cube2net.model.dimension import STAR, TOP, Dimension
from cube2net.model.interfaces import check_call, check_path
from cube2net.model.items import ItemIndex
from cube2net.model.node_names import cell_line
from cube2net.model.objects import Objects
from cube2net.model.query import (
    UNKNOWN,
    Labels,
    Query,
    describe_items,
    find_known_rows,
    find_rows,
    gives_ids,
    is_row,
    list_keys,
    list_labels,
    list_shared_names,
    parse_query,
    split_names,
)
from cube2net.model.recipe import plain_value
from cube2net.model.tables import FrameReading, Tabular

if TYPE_CHECKING:
    import pandas

DETAILS = {"higher": pa.int32(), "weight": pa.float32()}
FORWARD, KIND, TIME, ITEM = "forward", "kind", "time", "item"
KINDS = pa.dictionary(pa.int32(), pa.string())
MORE = {FORWARD: pa.bool_(), KIND: KINDS, ITEM: pa.int32()}
"""What details may have besides: ``time`` is of any type that a corpus's may be."""


@dataclass(frozen=True, eq=False)
class LinkDetails:
    """The links given by the source, one row each, ordered by their lower end, their higher end and their position.

    The rows of lower end ``i`` are ``indptr[i]`` to ``indptr[i + 1]`` of ``rows(higher, weight)``, which can also have
    the columns ``forward`` (whether the link leads from the lower to the higher end), ``kind``, ``time`` and ``item``
    (the item that states the link). There are no self-loops.
    """

    indptr: Array
    rows: pa.Table

    def __post_init__(self) -> None:
        for name, kind in (DETAILS | MORE).items():
            if name in self.rows.column_names and self.rows.schema.field(name).type != kind:
                raise CubeError(f"a column {name!r} of links holds {self.rows.schema.field(name).type}, not {kind}")
        for name in DETAILS:
            if name not in self.rows.column_names or self.rows[name].null_count:
                raise CubeError(f"links do not all have a {name!r}")
        try:
            check_offsets(self.indptr, self.higher, "a table of links")
        except InputError as error:
            raise CubeError(str(error)) from None
        object.__setattr__(self, "indptr", freeze(self.indptr))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"LinkDetails({len(self):,} links, columns {', '.join(self.rows.column_names)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns besides ends and weights."""
        return tuple(name for name in self.rows.column_names if name not in DETAILS)

    @property
    def higher(self) -> Array:
        """The higher end of each row."""
        return self.column("higher")

    @property
    def lower(self) -> Array:
        """The lower end of each row."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int32), np.diff(self.indptr))

    def column(self, name: str) -> Array:
        """Return a column as an array, without copying if it has a single chunk."""
        column = self.rows[name]
        found: Array = (column.chunk(0) if column.num_chunks == 1 else column).to_numpy(zero_copy_only=False)
        return found

    def spans(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return where the rows of every pair begin and end; the lower object of a pair comes first.

        >>> rows = pa.table({"higher": pa.array([1, 2, 2, 2], pa.int32()), "weight": pa.array([1.0] * 4, pa.float32())})
        >>> begin, end = LinkDetails(np.array([0, 3, 4, 4]), rows).spans(np.array([0, 1, 0]), np.array([2, 2, 1]))
        >>> begin.tolist(), end.tolist()
        ([1, 3, 0], [3, 4, 1])
        """
        return self._bisect(low, high), self._bisect(low, high + 1)

    def _bisect(self, low: Array, high: Array) -> Array:
        """Return the first row of a lower end whose higher end is not below a wanted one, for each."""
        higher = self.higher
        begin, end = np.array(self.indptr[low]), np.array(self.indptr[low + 1])
        while True:
            open_ = np.flatnonzero(begin < end)
            if len(open_) == 0:
                return begin
            middle = (begin[open_] + end[open_]) // 2
            below = higher[middle] < high[open_]
            begin[open_[below]] = middle[below] + 1
            end[open_[~below]] = middle[~below]


@dataclass(frozen=True, eq=False)
class Cells(Tabular):
    """Cells by number: one label per dimension (``labels[cell, dimension]``), and the objects in each cell.

    A label of -1 is ∗. If cells are unions of cells of the cube (``merged``), ``counts`` has, for each entry of
    ``members.indices``, the number of cells of the cube that contain the object; otherwise it is 1. If members are
    computed on demand, ``members`` has the counts, and ``extents`` the sum of the sizes of the united cells.
    """

    labels: Array
    members: Ragged
    counts: Array | None = None
    extents: Array | None = None
    dimensions: tuple[Dimension, ...] = ()

    def __post_init__(self) -> None:
        if self.labels.ndim != 2 or len(self.labels) != len(self.members):
            raise CubeError(f"{len(self.labels):,} cells have labels and {len(self.members):,} have members")
        object.__setattr__(self, "labels", freeze(self.labels))
        if self.counts is not None:
            if self.counts.shape != self.members.indices.shape:
                raise CubeError(f"{len(self.members.indices):,} members of cells have counts of {self.counts.shape}")
            object.__setattr__(self, "counts", freeze(self.counts))

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, key: object) -> bool:
        """Return whether a cell has these labels, one per dimension, or a column this name."""
        return key in self._titles if isinstance(key, tuple) else super().__contains__(key)

    def __getitem__(self, key: Any) -> Any:
        """Return the row of a cell by its number or its labels, or a column."""
        return super().__getitem__(self._titles.index(key) if isinstance(key, tuple) and key in self._titles else key)

    @cached_property
    def _titles(self) -> list[tuple[Any, ...]]:
        return [*zip(*(column.to_pylist() for column in self.to_arrow().columns[1:-1]), strict=True)]

    @property
    def merged(self) -> bool:
        """Whether cells are unions of cells of the cube."""
        return self.counts is not None or isinstance(self.members, LazyRagged)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row per cell: its number ``cell``, its labels, the number of its ``objects``.

        The suffix ``_dimension`` is appended to a dimension called ``cell`` or ``objects``.
        """
        columns: dict[str, Any] = {"cell": pa.array(np.arange(len(self)), pa.int64())}
        for number, dimension in enumerate(self.dimensions):
            name = f"{dimension.name}_dimension" if dimension.name in ("cell", "objects") else dimension.name
            codes, labels = self.labels[:, number].astype(np.int32), list(dimension.labels)
            if STAR not in labels and bool((codes < 0).any()):
                labels.append(STAR)
            codes = np.where(codes < 0, labels.index(STAR) if STAR in labels else 0, codes)
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(labels, pa.string()))
        return pa.table({**columns, "objects": pa.array(self.members.sizes, pa.int64())})

    def __repr__(self) -> str:
        return f"Cells({len(self):,} cells, {len(self.members.indices):,} members)"


@dataclass(frozen=True, eq=False)
class Cube(FrameReading):
    """Objects organised in cells, with their links.

    :func:`cube2net.build` and :func:`cube2net.open` return cubes; ``cube2net.cube`` has functions that return views.
    ``cube["year"]`` is a dimension; otherwise a cube reads as the data frame of its cells (``len``, ``head``).

    Attributes
    ----------
    dimensions
        The dimensions with their levels and labels.
    cells
        The cells with at least ``min_objects`` objects, their labels and members.
    object_cells
        The cells of each object, the inverse of ``cells.members``.
    small
        The cells with fewer than ``min_objects`` objects, which are kept so that rolling up is exact.
    links
        The links of each object; each link is stored at both ends.
    objects
        Ids, names, kinds and attributes of the objects.
    settings
        How the cube was built.
    topic_words
        ``topic, term, weight``: the heaviest terms of each topic, if there is a topic model.
    topic_model, ledger, items, details
        Functions that load further parts: the trained topic model, what an exact update needs, which items mention
        which objects, and the direction, kind and time of links; None if the cube does not have them.
    finest
        The cube that a view was rolled up from.
    bringable
        Marks the objects that may be added to a network, if a view restricts them. A query may contain any object.
    kept_views
        Cached views of other cuboids.
    origin
        The folder from which the cube was opened. An open cube is sent to other processes as the path of this folder.
    lineage
        The views that were applied to obtain this cube.
    """

    dimensions: tuple[Dimension, ...]
    cells: Cells
    object_cells: Ragged
    small: Cells
    links: Links
    objects: Objects
    settings: Mapping[str, Any] = field(default_factory=dict)
    topic_words: pa.Table | None = None
    topic_model: Callable[[], pa.Table] | None = None
    finest: Cube | None = None
    ledger: Callable[[], Any] | None = None
    items: Callable[[], ItemIndex] | None = None
    details: Callable[[], LinkDetails] | None = None
    bringable: Array | None = None
    kept_views: dict[Any, Cube] = field(default_factory=dict, init=False)
    origin: Origin | None = field(default=None, init=False)
    lineage: Lineage | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if len(self.links) != len(self.objects):
            raise CubeError(f"the cube has {len(self.objects):,} objects and links for {len(self.links):,}")
        if len(self.object_cells) != len(self.objects):
            raise CubeError(f"the cube has {len(self.objects):,} objects and cells for {len(self.object_cells):,}")
        if not isinstance(self.object_cells, LazyRagged) and len(self.object_cells.indices) != len(
            self.cells.members.indices
        ):
            raise CubeError("the cube's members and object_cells do not have the same number of entries")
        if self.bringable is not None:
            if self.bringable.shape != (len(self.objects),) or self.bringable.dtype != bool:
                raise CubeError(f"the cube has {len(self.objects):,} objects, and marks those to bring otherwise")
            object.__setattr__(self, "bringable", freeze(self.bringable))
        for cells in (self.cells, self.small):
            if cells.labels.shape[1] != len(self.dimensions):
                raise CubeError(f"cells have {cells.labels.shape[1]} labels, dimensions are {len(self.dimensions)}")
            for number, dimension in enumerate(self.dimensions):
                column = cells.labels[:, number]
                if len(column) and not -1 <= int(column.min()) <= int(column.max()) < len(dimension.labels):
                    raise CubeError(f"cells have labels that dimension {dimension.name!r} does not have")
        for name in ("cells", "small"):
            if getattr(self, name).dimensions is not self.dimensions:
                object.__setattr__(self, name, replace(getattr(self, name), dimensions=self.dimensions))

    def __repr__(self) -> str:
        names = " × ".join(dimension.name for dimension in self.dimensions)
        cells = format_count(len(self.cells), "cell")
        objects, links = format_count(len(self.objects), "object"), format_count(self.links.count, "link")
        return f"Cube({names}: {cells}, {objects}, {links})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is not None:
            return self.origin.reopen, ()
        if views := "; ".join(self.settings.get("views", ())):
            raise CubeError(
                f"a view of a cube ({views}) does not travel between processes: open the cube there, and make it again"
            )
        return load_function("cube.storage.writer", "unpack"), (load_function("cube.storage.writer", "pack")(self),)

    def __copy__(self) -> Cube:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Cube:
        return self

    def dimension(self, name: str) -> int:
        """Return the number of a dimension.

        Parameters
        ----------
        name
            The name of the level whose labels the cells have.

        Returns
        -------
        int
            The position in ``dimensions``.
        """
        number, at = self.level(name)
        dimension = self.dimensions[number]
        if at != dimension.at:
            raise ParameterError(
                f"{name!r} is a level above {dimension.name!r}: roll {dimension.name!r} up first",
                value=name,
                hint=RollUp(dimension.name, name),
            )
        return number

    def __len__(self) -> int:
        return len(self.cells)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the dimensions, like a data frame over its columns; its length counts the cells."""
        return iter([dimension.name for dimension in self.dimensions])

    def __contains__(self, name: object) -> bool:
        """Return whether a dimension has a level of this name; an object of the cube is refused."""
        is_level = name in self._list_levels()
        if not is_level and name in self.objects:
            raise ParameterError(f"{name!r} is an object of the cube: ask `… in cube.objects`", value=name)
        return is_level

    def __getitem__(self, name: str) -> Dimension:
        """Return a dimension by the name of one of its levels: ``cube["year"].labels``."""
        return self.dimensions[self.level(name)[0]]

    def level(self, name: str) -> tuple[int, int]:
        """Return the numbers of a dimension and of one of its levels.

        Parameters
        ----------
        name
            The name of the current level of a dimension, or of a level above it.

        Returns
        -------
        tuple of int
            The position in ``dimensions``, and that in the ``levels`` of the dimension.
        """
        for number, dimension in enumerate(self.dimensions):
            for at in dimension.at_or_above():
                if dimension.levels[at].name == name:
                    return number, at
        raise unknown_name("dimension", name, dict.fromkeys(self._list_levels()))

    def _list_levels(self) -> list[str]:
        """Return the names of the levels of all dimensions, from the current one up."""
        return [dimension.levels[at].name for dimension in self.dimensions for at in dimension.at_or_above()]

    def find_cell(self, labels: Sequence[str]) -> int:
        """Return the number of a cell.

        Parameters
        ----------
        labels
            One label per dimension; ``"∗"`` or ``"*"`` stands for all labels.

        Returns
        -------
        int
            The row in ``cells``.

        Examples
        --------
        >>> import cube2net as c2n
        >>> cube = c2n.build(c2n.make_planted(objects=200, communities=4, noise=0).corpus)
        >>> cube.cell(cube.find_cell(("200X", "venue 0", "topic 0")))
        ('200X', 'venue 0', 'topic 0')
        """
        found = self._cells_with(labels)
        if len(found) == 0:
            raise ParameterError(self._no_cell(labels))
        return int(found[0])

    def has_cell(self, labels: Sequence[str]) -> bool:
        """Return whether the cube has a cell with these labels, one per dimension."""
        return len(self._cells_with(labels)) > 0

    def _no_cell(self, labels: Sequence[str]) -> str:
        """Return the sentence for a cell that is not there, of a view whether the view leaves it out."""
        title, views = cell_line(map(quote_unsafe, labels)), "; ".join(self.settings.get("views", ()))
        if not views:
            return f"no cell has the labels {title}, or it holds too few objects"
        for number, (dimension, label) in enumerate(zip(self.dimensions, labels, strict=True)):
            if label not in TOP and not any(
                (cells.labels[:, number] == dimension.number(label)).any() for cells in (self.cells, self.small)
            ):
                return f"the view of the cube leaves the cell {title} out ({views})"
        return f"no cell has the labels {title} in this view of the cube ({views}), or it holds too few objects there"

    def _cells_with(self, labels: Sequence[str]) -> Array:
        if len(labels) != len(self.dimensions):
            raise ParameterError(f"a cell of this cube has {len(self.dimensions)} labels, got {tuple(labels)!r}")
        row = [
            -1 if label in TOP and label not in dimension.labels else dimension.number(label)
            for dimension, label in zip(self.dimensions, labels, strict=True)
        ]
        found = np.flatnonzero(self.cells.labels[:, 0] == row[0]) if row else np.arange(len(self.cells))
        for number in range(1, len(row)):
            found = found[self.cells.labels[found, number] == row[number]]
        return np.asarray(found)

    def cell(self, number: int) -> tuple[str, ...]:
        """Return the labels of a cell, given by its number."""
        row = self.cells.labels[number].tolist()
        return tuple(
            STAR if label < 0 else dimension.labels[label]
            for dimension, label in zip(self.dimensions, row, strict=True)
        )

    def join_labels(self) -> Array:
        """Return the labels of all cells; cells below ``min_objects`` come last."""
        return np.concatenate([self.cells.labels, self.small.labels])

    def join_members(self) -> Ragged:
        """Return the members of all cells; cells below ``min_objects`` come last."""
        return join_rows(self.cells.members, self.small.members)

    def to_arrow(self) -> pa.Table:
        """Return the cells as an Arrow table with one row per cell: its title, its labels, its number of objects."""
        return self.cells.to_arrow()

    def describe(self) -> pandas.DataFrame:
        """Return the levels of all dimensions as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per level: ``dimension``, ``level``, ``labels`` (their number), ``example`` (the label with most
            objects), and ``is_current`` (whether cells have labels of this level).

        Examples
        --------
        >>> import cube2net as c2n
        >>> c2n.build(c2n.make_planted(objects=200, communities=4, noise=0).corpus).describe()
          dimension   level  labels  example  is_current
        0    decade  decade       5     200X        True
        1     venue   venue       4  venue 0        True
        2     topic   topic       3  topic 0        True
        """
        rows = [
            {
                "dimension": dimension.name,
                "level": level.name,
                "labels": len(level.labels),
                "example": self._largest_label(number, at),
                "is_current": at == dimension.at and not dimension.is_top,
            }
            for number, dimension in enumerate(self.dimensions)
            for at, level in enumerate(dimension.levels)
        ]
        return to_pandas(pa.Table.from_pylist(rows))

    def _largest_label(self, number: int, at: int) -> str | None:
        """Return the label of a level that has the most objects in cells; None of a level below the cells."""
        dimension = self.dimensions[number]
        if at not in dimension.at_or_above() or not dimension.levels[at].labels:
            return None
        labels = self.cells.labels[:, number]
        inside = labels >= 0
        parents = dimension.parents_at(at)[labels[inside]]
        sizes = np.bincount(parents, self.cells.members.sizes[inside], minlength=len(dimension.levels[at].labels))
        return dimension.levels[at].labels[int(sizes.argmax())]

    @check_call
    def save(self, folder: str | Path) -> None:
        """Write the cube to a folder, which is replaced completely or not at all.

        Parameters
        ----------
        folder
            A new folder, or a saved cube, which is replaced.

        Examples
        --------
        >>> import tempfile
        >>> import cube2net as c2n
        >>> cube = c2n.build(c2n.make_planted(objects=200, communities=4, noise=0).corpus)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cube.save(f"{folder}/cube")
        ...     c2n.open(f"{folder}/cube")
        Cube(decade × venue × topic: 16 cells, 200 objects, 720 links)
        """
        load_function("cube.storage.writer", "save")(self, check_path(folder, "the folder of the cube"))

    @check_call
    def verify(self) -> int:
        """Compare every byte of the cube's files with their checksums.

        Returns
        -------
        int
            The number of files.

        Raises
        ------
        CubeError
            If a file is missing or differs, or if the cube was not opened from a folder.

        Examples
        --------
        >>> import tempfile
        >>> import cube2net as c2n
        >>> corpus = c2n.make_planted(objects=200, communities=4, noise=0).corpus
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     c2n.build(corpus, out=f"{folder}/cube").verify() > 20
        True
        """
        if self.origin is None:
            raise CubeError("the cube was not opened from a folder, so there are no files to verify: save and open it")
        count: int = load_function("cube.storage.reader", "verify")(self.origin.folder)
        return count

    def query(self, objects: Any, labels: Labels | None = None, *, skip_missing: bool = False) -> Query:
        """Look up the objects of a query by id or name.

        Parameters
        ----------
        objects
            Ids or names, as a list, an array, a pandas or Polars series or index, or a string with one name per line
            (or separated by ``;``, ``|``, commas or tabs). To add labels, pass a mapping or a series from objects to
            labels, or a table with a column ``object`` or ``id`` and optionally ``label``. If a table has none of these
            columns, the one with the most matches is used. Another network is also accepted. A URL matches the id at
            its end.

            If ids are strings, integers in a list or an array are row numbers of the cube, and integers in a series, an
            index or a table are ids. If ids are integers, all numbers are ids.
        labels
            One label per object, or a mapping or series from objects to labels; by default the labels in ``objects``.
        skip_missing
            Whether to leave out names that are unknown, ambiguous or missing, and list them in ``Query.missing``. By
            default they raise an error.

        Returns
        -------
        Query
            Each object once. If a string is the id of one object and the name of others, the object with this id is
            used; ``shared`` lists such names if one of the others has as many links.

        Examples
        --------
        >>> import cube2net as c2n
        >>> cube = c2n.build(c2n.make_planted(objects=200, communities=4, noise=0).corpus)
        >>> cube.query(["o1", "o7"])
        Query(2 objects)
        >>> cube.query({"o1": "left", "o7": "right"})
        Query(2 objects, 2 labels)
        >>> cube.query(["o1", "nobody"], skip_missing=True).missing
        ('nobody',)
        """
        if isinstance(objects, str):
            objects = split_names(
                [line.strip() for line in objects.split("\n") if line.strip()],
                lambda names: [row != UNKNOWN for row in find_known_rows(self.objects, names)],
            )
        by_id = gives_ids(objects)
        objects, beside = parse_query(objects, partial(find_known_rows, self.objects), texts=not self.objects.whole)
        keys = list_keys(objects)
        if not keys:
            raise QueryError("the query is empty: name at least one object")
        labels = beside if labels is None else labels
        labels = None if labels is None else list_labels(labels, keys)
        in_items = partial(describe_items, self.dimensions, self.items)
        rows, missing = find_rows(self.objects, keys, skip_missing, in_items)
        order = np.argsort(rows, kind="stable")
        order = order[rows[order] >= 0]
        if len(order) == 0:
            raise QueryError(f"none of the {len(keys):,} objects of the query is in the cube: {quote_few(keys)}")
        first = np.ones(len(order), dtype=bool)
        first[1:] = rows[order][1:] != rows[order][:-1]
        if labels is not None:
            for before, i in pairwise(order.tolist()):
                if rows[i] == rows[before] and labels[i] != labels[before]:
                    raise QueryError(f"query gives {keys[i]!r} two labels: {labels[before]!r} and {labels[i]!r}")
        kept = order[first]
        by_row = not self.objects.whole and all(map(is_row, keys))
        ids = None if by_row else self.objects.ids(rows[kept])
        shared = () if by_row or by_id else list_shared_names(self.objects, self.links, keys, rows)
        return Query(rows[kept], None if labels is None else tuple(labels[i] for i in kept), missing, ids, shared)


@dataclass(frozen=True)
class Origin:
    """The folder of a cube, the seal of its manifest, and the function that opens it, which other processes import."""

    folder: Path
    seal: str
    read: Callable[[Path], Cube]

    def reopen(self) -> Cube:
        """Return the cube of the folder; raise where that is another one by now."""
        cube = self.read(self.folder)
        if cube.origin is None or cube.origin.seal != self.seal:
            raise CubeError(
                f"{str(self.folder)!r} holds another cube than when this one was opened there: open the folder again, "
                "and ask that cube"
            )
        return cube


def open_origin(cube: Cube, origin: Origin) -> Cube:
    """Return the cube, which now knows where it was opened; what is made of it does not."""
    object.__setattr__(cube, "origin", origin)
    return cube


def require_own_cells(cube: Cube, done: str) -> None:
    """Raise if the cells of a cube are those of other cuboids, such as ``cuboid`` returns.

    ``done`` is the participle in the message: "a view cannot be saved".
    """
    if cube.cells.merged:
        view = cube.settings.get("views", ["cells of other cuboids"])[-1]
        raise ParameterError(f"a view ({view}) cannot be {done}: do it with the cube, and take the cells after that")


VIEW = "view"
LIMITS = {"where": ("dice", "slice_cube"), "between": ("between",), "kind": ("of_kind",)}
"""The views that limit which objects may be brought, by the words that ask for them."""
PICKING = "pick_cells"
"""The view of cells that were chosen beforehand."""


@dataclass(frozen=True)
class Lineage:
    """Where a cube was opened, None of one in memory, and the views since, each with its name and what it was given."""

    origin: Origin | None = None
    views: tuple[Mapping[str, Any], ...] = ()


def get_lineage(cube: Cube) -> Lineage:
    """Return where a cube comes from; one that no view made is as it was opened, or was made in memory."""
    return cube.lineage or Lineage(cube.origin)


def is_picked(cube: Cube) -> bool:
    """Return whether a cube has some cells only that were picked one by one."""
    views = get_lineage(cube).views
    return bool(views) and views[-1][VIEW] == PICKING


def list_limits(cube: Cube) -> list[str]:
    """Return which of where, between and kind limit what may be brought, by the views that a cube is seen through."""
    views = {step[VIEW] for step in get_lineage(cube).views}
    return [word for word, names in LIMITS.items() if views.intersection(names)]


def record_view(view: Cube, cube: Cube, name: str, **arguments: Any) -> Cube:
    """Return a view that a function of a name made of a cube, which now knows that, and where the cube comes from.

    The arguments that are not None are recorded: names, numbers, lists and mappings of these, or something that the
    function reads from its text as well. A cube that is no new view, or that other views made, stays as it is.
    """
    is_old = view is cube or (view is cube.finest and not view.settings.get("views"))
    if view.origin is None and view.lineage is None and not is_old:
        before = get_lineage(cube)
        given = {
            key: plain_value(
                value, lambda leaf: leaf if leaf is None or isinstance(leaf, str | int | float) else str(leaf)
            )
            for key, value in arguments.items()
            if value is not None
        }
        object.__setattr__(view, "lineage", Lineage(before.origin, (*before.views, {VIEW: name, **given})))
    return view
