"""What a cube knows of a network's objects and links: attributes, items and their labels, directions, kinds and times.

All of it is looked up for the nodes and links of one network, when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Ragged, row_of_entries, take_rows, to_weights
from cube2net._util.arrow import arrow_numbers
from cube2net._util.text import format_count
from cube2net.model.cube import FORWARD, KIND, TIME, Cube, LinkDetails
from cube2net.model.items import ItemIndex
from cube2net.model.network import NODES, Network
from cube2net.model.objects import Carried, LabelCounts

if TYPE_CHECKING:
    import scipy.sparse as sp

ITEMS, BACKWARD = "items", "backward"
TIMES = ("first", "last")
JOINED = "|"
GIVEN_ROWS = "rows"
"""How many links the source gives of one way of a link."""
DENSE = 4_000_000
"""Numbers below this are counted in a table of all of them, and larger ones by sorting those that are there."""


def make_attribute_lookup(cube: Cube) -> Carried:
    """Return what gives, when called, all that a cube knows of objects and links."""
    known = (node_columns, link_columns, count_labels, way_columns)
    return Carried(*(partial(one, cube) for one in known))


def node_columns(cube: Cube, objects: Array) -> pa.Table:
    """Return a row for every object: its attributes, how many items mention it, and the labels most of these have.

    An attribute that is called like a column that all nodes have is called ``NAME_attribute``. A dimension that an
    attribute is called after is left out, for the attribute says it; one called like a column of all nodes is called
    ``NAME_label``.
    """
    fixed = {*NODES, ITEMS}
    found: dict[str, pa.Array | pa.ChunkedArray] = {}
    attributes = cube.objects.attributes
    for name in attributes.column_names:
        others = fixed | ({*attributes.column_names} - {name})
        found[_free(name, "attribute", others)] = attributes[name].take(arrow_numbers(objects))
    counts = count_labels(cube, objects)
    if counts is not None:
        found[ITEMS] = arrow_numbers(counts.items, pa.int32())
        for name in counts.dimensions:
            if name not in attributes.column_names:
                found[_free(name, "label", fixed | found.keys())] = counts.commonest(name)
    return pa.table(found)


def _free(name: str, suffix: str, taken: Set[str]) -> str:
    """Return a name for a column, with a suffix where another column has it."""
    while name in taken:
        name = f"{name}_{suffix}"
    return name


def compute_label_shares(network: Network) -> dict[str, tuple[tuple[str, ...], sp.csr_array]]:
    """Return for every dimension its labels, and for every node the share of its items that has each of them.

    A row of a matrix is a node, cells as nodes have empty ones; an item of several labels counts for each. There are no
    dimensions where the cube does not keep its items.

    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
    >>> labels, shares = compute_label_shares(network)["venue"]
    >>> len(labels), shares.shape
    (4, (110, 4))
    """
    return compute_shares(None if network.carried is None else network.carried.labels(network.objects), len(network))


def compute_shares(counts: LabelCounts | None, size: int) -> dict[str, tuple[tuple[str, ...], sp.csr_array]]:
    """Return for every dimension its labels, and the share of the items of each of ``size`` nodes that has each."""
    import scipy.sparse as sp

    if counts is None:
        return {}
    shares = {}
    for name, (labels, rows, numbers, items) in counts.dimensions.items():
        values = (items / counts.items[rows]).astype(np.float32)
        shares[name] = (labels, sp.csr_array((values, (rows, numbers)), shape=(size, len(labels))))
    return shares


def count_labels(cube: Cube, objects: Array) -> LabelCounts | None:
    """Return how many items mention each object and how many of them have each label; None where none are kept.

    An item has the labels of the cells that it is in: one that lacks a label of some dimension has none of any.
    """
    if cube.items is None:
        return None
    index = cube.items()
    place, items = _mentions(index, objects, len(cube.objects))
    counts = np.bincount(place, minlength=len(objects))
    used = _distinct(items, len(index))
    number = np.searchsorted(used, items)
    cells = take_rows(index.cells, used)
    within = row_of_entries(cells)
    labels = np.concatenate([cube.cells.labels, cube.small.labels])[cells.indices]
    dimensions = {}
    for column, dimension in enumerate(cube.dimensions):
        width = max(len(dimension.labels), 1)
        told = labels[:, column] >= 0
        pairs = _distinct(within[told].astype(np.int64) * width + labels[told, column], len(used) * width)
        starts = np.searchsorted(pairs, np.arange(len(used) + 1, dtype=np.int64) * width)
        each = take_rows(Ragged(starts, (pairs % width).astype(np.int32)), number)
        keys, times = _counted(place[row_of_entries(each)] * width + each.indices, len(objects) * width)
        dimensions[dimension.name] = (dimension.labels, keys // width, keys % width, times)
    return LabelCounts(counts, dimensions)


def _distinct(keys: Array, size: int) -> Array:
    """Return numbers below a size once each, ascending."""
    if size > DENSE:
        return np.unique(keys)
    mark = np.zeros(size, dtype=bool)
    mark[keys] = True
    return np.flatnonzero(mark)


def _counted(keys: Array, size: int) -> tuple[Array, Array]:
    """Return numbers below a size once each, ascending, and how often each is there."""
    if size > DENSE:
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys, minlength=size)
    found = np.flatnonzero(counts)
    return found, counts[found]


def _mentions(index: ItemIndex, objects: Array, count: int) -> tuple[Array, Array]:
    """Return the pairs of an object, by its place, and an item that mentions it."""
    places = np.full(count, -1, np.int64)
    places[objects] = np.arange(len(objects))
    mark = places >= 0
    hit = np.flatnonzero(mark[index.objects.indices])
    items = np.searchsorted(index.objects.indptr, hit, side="right") - 1
    return places[index.objects.indices[hit]], items


def link_columns(cube: Cube, source: Array, target: Array) -> pa.Table | None:
    """Return a row for every link: its kind, what leads forward and backward, and its first and last time.

    There are only the columns that the source says something of, and None where it says nothing.
    """
    details = None if cube.details is None else cube.details()
    if details is None:
        return None
    links, rows = _rows_of(details, source, target)
    told = details.rows.take(pa.array(rows))
    found = _kinds_and_times(told, links, len(source))
    if FORWARD in details.columns:
        onward = np.asarray(told[FORWARD]) == (source < target)[links]
        weights = details.column("weight")[rows].astype(np.float64)
        for name, chosen in ((FORWARD, onward), (BACKWARD, ~onward)):
            found[name] = pa.array(to_weights(np.bincount(links[chosen], weights[chosen], len(source))))
    order = [name for name in (KIND, FORWARD, BACKWARD, *TIMES) if name in found]
    return pa.table({name: found[name] for name in order}) if found else None


def way_columns(cube: Cube, source: Array, target: Array) -> pa.Table | None:
    """Return how many links lead from every source to its target, their kind and first and last time; and then back.

    None where links have no direction.
    """
    details = None if cube.details is None else cube.details()
    if details is None or FORWARD not in details.columns:
        return None
    links, rows = _rows_of(details, source, target)
    told = details.rows.take(pa.array(rows))
    onward = np.asarray(told[FORWARD]) == (source < target)[links]
    way = links + np.where(onward, 0, len(source))
    count = pa.array(np.bincount(way, minlength=2 * len(source)))
    return pa.table({GIVEN_ROWS: count, **_kinds_and_times(told, way, 2 * len(source))})


def _rows_of(details: LinkDetails, source: Array, target: Array) -> tuple[Array, Array]:
    """Return the rows of all links among some pairs: the number of the pair, and that of the row."""
    begin, end = details.spans(np.minimum(source, target), np.maximum(source, target))
    links = np.repeat(np.arange(len(source)), end - begin)
    return links, np.arange(len(links)) + np.repeat(begin - (np.cumsum(end - begin) - (end - begin)), end - begin)


def _kinds_and_times(told: pa.Table, links: Array, count: int) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return the kinds and the first and last times of so many links, of rows that say which link each is of."""
    found: dict[str, pa.Array | pa.ChunkedArray] = {}
    if KIND in told.column_names:
        found[KIND] = _kinds(told[KIND], links, count)
    if TIME in told.column_names:
        spans = pa.table({"link": links, TIME: told[TIME]}).group_by("link").aggregate([(TIME, "min"), (TIME, "max")])
        places = np.full(count, -1, np.int64)
        places[spans["link"].to_numpy()] = np.arange(spans.num_rows)
        for name, column in zip(TIMES, (f"{TIME}_min", f"{TIME}_max"), strict=True):
            found[name] = spans[column].take(pa.array(places, mask=places < 0))
    return found


def _kinds(kinds: pa.ChunkedArray, links: Array, count: int) -> pa.Array:
    """Return the kinds of every link in one text, those of several in their order; null where a link has none."""
    coded = kinds.combine_chunks()
    coded = pa.concat_arrays(coded.chunks) if isinstance(coded, pa.ChunkedArray) else coded
    names, has = coded.dictionary.to_pylist(), np.asarray(pc.is_valid(coded))
    width = max(len(names), 1)
    pairs = np.unique(links[has] * width + coded.indices.drop_null().to_numpy())
    each, starts, sizes = np.unique(pairs // width, return_index=True, return_counts=True)
    first = np.full(count, -1, np.int64)
    first[each] = pairs[starts] % width
    texts: list[str | None] = coded.dictionary.take(pa.array(first, mask=first < 0)).to_pylist()
    several = sizes > 1
    for link, start, size in zip(each[several].tolist(), starts[several].tolist(), sizes[several], strict=True):
        texts[link] = JOINED.join(names[number] for number in (pairs[start : start + size] % width).tolist())
    return pa.array(texts, pa.string())


def describe_objects(cube: Cube, rows: Array) -> list[dict[str, Any]]:
    """Return for every object of some rows its id, name, kind, and in a few words what tells it from others.

    The words are how many items mention it, and its commonest label of every dimension; where no items are kept, how
    many links it has.
    """
    table = cube.objects.table.take(pa.array(rows))
    counts = count_labels(cube, rows)
    if counts is None:
        said = [[format_count(number, "link")] for number in np.diff(cube.links.indptr)[rows].tolist()]
    else:
        said = [[format_count(number, "item")] for number in counts.items.tolist()]
        for name in counts.dimensions:
            for words, label in zip(said, counts.commonest(name).to_pylist(), strict=True):
                words.extend([] if label is None else [label])
    columns = (cube.objects.ids(rows).to_pylist(), table["name"].to_pylist(), table["kind"].to_pylist(), said)
    return [
        {"id": key, "name": name, "kind": kind, "about": " · ".join(words)}
        for key, name, kind, words in zip(*columns, strict=True)
    ]


def list_attributes(cube: Cube, row: int) -> list[tuple[str, str]]:
    """Return what a cube knows of an object, as texts by the names of its columns, without what is missing."""
    table = node_columns(cube, np.array([row], dtype=np.int64))
    said = []
    for name in table.column_names:
        value = table[name][0].as_py()
        if name != ITEMS and value is not None and value != "":
            said.append((name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return said
