"""Attributes of a network's objects and links in its cube: items and their labels, directions, kinds and times.

They are looked up when they are first used.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Ragged, row_of_entries, take_rows, to_weights
from cube2net._util.arrow import arrow_numbers
from cube2net._util.text import format_count
from cube2net.model.cube import FORWARD, KIND, TIME, Cube, LinkDetails
from cube2net.model.network import NODES, Network
from cube2net.model.objects import LabelCounts

if TYPE_CHECKING:
    import scipy.sparse as sp

ITEMS, BACKWARD = "items", "backward"
TIMES = ("first", "last")
GIVEN_ROWS = "rows"
"""Column with the number of links in the source for one direction of a link."""
DENSE = 4_000_000
"""Numbers below this are counted in a table of all numbers, others by sorting."""


def make_node_table(cube: Cube, objects: Array) -> pa.Table:
    """Return a row for every object: its attributes, its number of items, and their most frequent labels.

    An attribute with the name of a column that all nodes have is called ``NAME_attribute``, and such a dimension
    ``NAME_label``. A dimension with the name of an attribute is omitted.
    """
    fixed = {*NODES, ITEMS}
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    attributes = cube.objects.attributes
    for name in attributes.column_names:
        others = fixed | ({*attributes.column_names} - {name})
        columns[_make_free_name(name, "attribute", others)] = attributes[name].take(arrow_numbers(objects))
    counts = count_labels(cube, objects)
    if counts is not None:
        columns[ITEMS] = arrow_numbers(counts.items, pa.int32())
        for name in counts.dimensions:
            if name not in attributes.column_names:
                columns[_make_free_name(name, "label", fixed | columns.keys())] = counts.commonest(name)
    return pa.table(columns)


def _make_free_name(name: str, suffix: str, taken: Set[str]) -> str:
    """Return a name for a column, with a suffix if it is taken."""
    while name in taken:
        name = f"{name}_{suffix}"
    return name


def compute_label_shares(network: Network) -> dict[str, tuple[tuple[str, ...], sp.csr_array]]:
    """Return for every dimension its labels, and the share of every node's items with each of them.

    A row of a matrix is a node, empty for cells; an item with several labels counts for each. The result is empty if
    the cube does not keep its items.

    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
    >>> labels, shares = compute_label_shares(network)["venue"]
    >>> len(labels), shares.shape
    (4, (110, 4))
    """
    import scipy.sparse as sp

    counts = None if network.lookups is None else network.lookups.labels(network.objects)
    if counts is None:
        return {}
    shares = {}
    for name, (labels, rows, numbers, items) in counts.dimensions.items():
        values = (items / counts.items[rows]).astype(np.float32)
        shares[name] = (labels, sp.csr_array((values, (rows, numbers)), shape=(len(network), len(labels))))
    return shares


def count_labels(cube: Cube, objects: Array) -> LabelCounts | None:
    """Return the number of items of each object, and of those with each label; None if the cube keeps no items.

    An item has the labels of its cells: without a label in one dimension it has none in any.
    """
    if cube.items is None:
        return None
    index = cube.items()
    places = np.full(len(cube.objects), -1, np.int64)
    places[objects] = np.arange(len(objects))
    hit = np.flatnonzero((places >= 0)[index.objects.indices])
    place, items = places[index.objects.indices[hit]], np.searchsorted(index.objects.indptr, hit, side="right") - 1
    counts = np.bincount(place, minlength=len(objects))
    used = _list_distinct(items, len(index.objects))
    number = np.searchsorted(used, items)
    cells = take_rows(index.cells, used)
    within = row_of_entries(cells)
    labels = np.concatenate([cube.cells.labels, cube.small.labels])[cells.indices]
    dimensions = {}
    for column, dimension in enumerate(cube.dimensions):
        width = max(len(dimension.labels), 1)
        is_labelled = labels[:, column] >= 0
        pairs = _list_distinct(
            within[is_labelled].astype(np.int64) * width + labels[is_labelled, column], len(used) * width
        )
        starts = np.searchsorted(pairs, np.arange(len(used) + 1, dtype=np.int64) * width)
        each = take_rows(Ragged(starts, (pairs % width).astype(np.int32)), number)
        keys, times = _count_distinct(place[row_of_entries(each)] * width + each.indices, len(objects) * width)
        dimensions[dimension.name] = (dimension.labels, keys // width, keys % width, times)
    return LabelCounts(counts, dimensions)


def _list_distinct(keys: Array, size: int) -> Array:
    """Return distinct numbers below a size, ascending."""
    if size > DENSE:
        return np.unique(keys)
    mark = np.zeros(size, dtype=bool)
    mark[keys] = True
    return np.flatnonzero(mark)


def _count_distinct(keys: Array, size: int) -> tuple[Array, Array]:
    """Return distinct numbers below a size, ascending, and their counts."""
    if size > DENSE:
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys, minlength=size)
    distinct = np.flatnonzero(counts)
    return distinct, counts[distinct]


def make_link_table(cube: Cube, source: Array, target: Array) -> pa.Table | None:
    """Return a row for every link: its kind, its weights forward and backward, and its first and last time.

    There are only columns that the source has, and None if it has none.
    """
    details = None if cube.details is None else cube.details()
    if details is None:
        return None
    links, rows = _find_rows(details, source, target)
    table = details.rows.take(pa.array(rows))
    columns = _summarize_links(table, links, len(source))
    if FORWARD in details.columns:
        onward = np.asarray(table[FORWARD]) == (source < target)[links]
        weights = details.column("weight")[rows].astype(np.float64)
        for name, chosen in ((FORWARD, onward), (BACKWARD, ~onward)):
            columns[name] = pa.array(to_weights(np.bincount(links[chosen], weights[chosen], len(source))))
    order = [name for name in (KIND, FORWARD, BACKWARD, *TIMES) if name in columns]
    return pa.table({name: columns[name] for name in order}) if columns else None


def make_direction_table(cube: Cube, source: Array, target: Array) -> pa.Table | None:
    """Return the number of links from every source to its target, their kind and times, then the same for the way back.

    None if links have no direction.
    """
    details = None if cube.details is None else cube.details()
    if details is None or FORWARD not in details.columns:
        return None
    links, rows = _find_rows(details, source, target)
    table = details.rows.take(pa.array(rows))
    onward = np.asarray(table[FORWARD]) == (source < target)[links]
    way = links + np.where(onward, 0, len(source))
    count = pa.array(np.bincount(way, minlength=2 * len(source)))
    return pa.table({GIVEN_ROWS: count, **_summarize_links(table, way, 2 * len(source))})


def _find_rows(details: LinkDetails, source: Array, target: Array) -> tuple[Array, Array]:
    """Return the rows of the links between some pairs: the number of the pair, and of the row."""
    begin, end = details.spans(np.minimum(source, target), np.maximum(source, target))
    links = np.repeat(np.arange(len(source)), end - begin)
    return links, np.arange(len(links)) + np.repeat(begin - (np.cumsum(end - begin) - (end - begin)), end - begin)


def _summarize_links(table: pa.Table, links: Array, count: int) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return the kinds and the first and last times of ``count`` links, given rows and the link of each row."""
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    if KIND in table.column_names:
        columns[KIND] = _join_kinds(table[KIND], links, count)
    if TIME in table.column_names:
        spans = pa.table({"link": links, TIME: table[TIME]}).group_by("link").aggregate([(TIME, "min"), (TIME, "max")])
        places = np.full(count, -1, np.int64)
        places[spans["link"].to_numpy()] = np.arange(spans.num_rows)
        for name, column in zip(TIMES, (f"{TIME}_min", f"{TIME}_max"), strict=True):
            columns[name] = spans[column].take(pa.array(places, mask=places < 0))
    return columns


def _join_kinds(kinds: pa.ChunkedArray, links: Array, count: int) -> pa.Array:
    """Return the kinds of every link as one text, null if it has none."""
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
        texts[link] = "|".join(names[number] for number in (pairs[start : start + size] % width).tolist())
    return pa.array(texts, pa.string())


def describe_objects(cube: Cube, rows: Array) -> list[dict[str, Any]]:
    """Return the id, name, kind and a short description of some objects.

    The description has the number of items and the most frequent label of every dimension, or the number of links if
    the cube keeps no items.
    """
    table = cube.objects.table.take(pa.array(rows))
    counts = count_labels(cube, rows)
    if counts is None:
        texts = [[format_count(number, "link")] for number in np.diff(cube.links.indptr)[rows].tolist()]
    else:
        texts = [[format_count(number, "item")] for number in counts.items.tolist()]
        for name in counts.dimensions:
            for words, label in zip(texts, counts.commonest(name).to_pylist(), strict=True):
                words.extend([] if label is None else [label])
    columns = (cube.objects.ids(rows).to_pylist(), table["name"].to_pylist(), table["kind"].to_pylist(), texts)
    return [
        {"id": key, "name": name, "kind": kind, "about": " · ".join(words)}
        for key, name, kind, words in zip(*columns, strict=True)
    ]


def list_attributes(cube: Cube, row: int) -> list[tuple[str, str]]:
    """Return the attributes of an object as pairs of name and text, without missing ones."""
    table = make_node_table(cube, np.array([row], dtype=np.int64))
    texts = []
    for name in table.column_names:
        value = table[name][0].as_py()
        if name != ITEMS and value is not None and value != "":
            texts.append((name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return texts
