"""Corpora made up so that the right answer is known: communities with cells of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.arrays import merge_links
from cube2net.errors import ParameterError
from cube2net.records import Corpus, DimensionSpec
from cube2net.records.corpus import LINKS, MENTIONS, OBJECTS
from cube2net.records.ragged import frozen
from cube2net.seeding import stream

DIMENSIONS = (
    DimensionSpec("decade", "year", bins="decades"),
    DimensionSpec("venue", "venue"),
    DimensionSpec("topic", "topic"),
)
LAST_DECADE = 202


@dataclass(frozen=True, eq=False)
class Planted:
    """A corpus, the community of every object, and the cells (decade, venue, topic) of every community."""

    corpus: Corpus
    communities: Array
    best_cells: tuple[tuple[tuple[str, str, str], ...], ...]

    def __repr__(self) -> str:
        cells = sum(map(len, self.best_cells))
        return f"Planted({len(self.communities):,} objects, {len(self.best_cells):,} communities, {cells:,} cells)"

    def query(self, community: int) -> list[str]:
        """Return the ids of all members of a community."""
        if not 0 <= community < len(self.best_cells):
            raise ParameterError(f"community is {community!r}, expected 0 to {len(self.best_cells) - 1}")
        ids: list[str] = self.corpus.objects["object"].filter(pa.array(self.communities == community)).to_pylist()
        return ids


def make_planted(
    *,
    objects: int = 1_000,
    communities: int = 10,
    cells: int = 4,
    items: int = 3,
    mentions: int = 3,
    noise: float = 0.1,
    links: float = 8.0,
    within: float = 0.9,
    decades: int = 5,
    venues: int | None = None,
    topics: int | None = None,
    seed: int = 0,
) -> Planted:
    """Return a corpus of communities that publish in cells of their own, with the truth beside it.

    Every one of ``communities`` owns ``cells`` cells that no other has. Every object belongs to one
    community and is mentioned ``items`` times, by items in its community's cells that mention at most
    ``mentions`` members each. A share ``noise`` of all items mentions any objects, in any cell. An
    object has about ``links`` links, a share ``within`` of them inside its community. Without noise the
    cells of a community hold its members and nobody else: as a selection their jaccard is exactly 1.

    >>> planted = make_planted(objects=200, communities=4, noise=0)
    >>> planted
    Planted(200 objects, 4 communities, 16 cells)
    >>> len(planted.query(0)), len(planted.best_cells[0])
    (50, 4)
    """
    _check(objects, communities, cells, items, mentions, noise, links, within, decades)
    venues, topics = _sizes(communities * cells, decades, venues, topics)
    rng = stream(seed, "sources", "planted")
    community = rng.permutation(np.arange(objects) % communities).astype(np.int32)
    owned = _owned(rng, communities, cells, decades * venues * topics)

    item, thing, cell = _appearances(rng, community, owned, items, mentions)
    extra = round(len(cell) * noise / (1 - noise))
    item = np.concatenate([item, np.repeat(np.arange(len(cell), len(cell) + extra), mentions)])
    thing = np.concatenate([thing, rng.integers(0, objects, extra * mentions)])
    cell = np.concatenate([cell, rng.integers(0, decades * venues * topics, extra)])
    pairs = np.sort(item * objects + thing)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]

    codes = _split(cell, decades, venues)
    names = [_decade_labels(decades), _numbered("venue ", venues), _numbered("topic ", topics)]
    year = (LAST_DECADE - decades + 1 + codes[0]) * 10 + rng.integers(0, 10, len(cell))
    split = zip(names, _split(owned.ravel(), decades, venues), strict=True)
    tuples = list(zip(*(label.take(pa.array(code)).to_pylist() for label, code in split), strict=True))
    corpus = Corpus(
        objects=_table(
            OBJECTS,
            _numbered("o", objects),
            _numbered("Object ", objects),
            pa.repeat(pa.scalar("object"), objects),
        ),
        items=pa.table(
            {
                "item": _numbered("i", len(cell)),
                "year": pa.array(year, pa.int32()),
                "venue": names[1].take(pa.array(codes[1])),
                "topic": names[2].take(pa.array(codes[2])),
            }
        ),
        mentions=_table(MENTIONS, (pairs // objects).astype(np.int32), (pairs % objects).astype(np.int32)),
        links=_table(LINKS, *_links(rng, community, communities, links, within)),
        dimensions=DIMENSIONS,
    )
    return Planted(
        corpus, frozen(community), tuple(tuple(tuples[c * cells : (c + 1) * cells]) for c in range(communities))
    )


def _check(
    objects: int,
    communities: int,
    cells: int,
    items: int,
    mentions: int,
    noise: float,
    links: float,
    within: float,
    decades: int,
) -> None:
    for name, value in (("communities", communities), ("cells", cells), ("items", items), ("mentions", mentions)):
        if value < 1:
            raise ParameterError(f"{name} is {value!r}, expected 1 or more")
    if not communities * cells <= objects < 2**31:
        raise ParameterError(
            f"objects is {objects!r}, expected {communities * cells:,} or more: one for every cell of every community"
        )
    if not 0 <= noise < 1:
        raise ParameterError(f"noise is {noise!r}, expected a share from 0 to below 1")
    if not 0 <= within <= 1:
        raise ParameterError(f"within is {within!r}, expected a share from 0 to 1")
    if not 0 <= links < objects:
        raise ParameterError(f"links is {links!r}, expected 0 or more for an object, and fewer than objects")
    if not 1 <= decades <= 100:
        raise ParameterError(f"decades is {decades!r}, expected 1 to 100")


def _sizes(wanted: int, decades: int, venues: int | None, topics: int | None) -> tuple[int, int]:
    """Return how many venues and topics there are; by default about four times the cells that are owned."""
    side = int(np.ceil(np.sqrt(4 * wanted / decades)))
    venues, topics = side if venues is None else venues, side if topics is None else topics
    if decades * venues * topics < wanted:
        raise ParameterError(
            f"{decades} decades × {venues} venues × {topics} topics are too few, expected {wanted:,} cells or more"
        )
    return venues, topics


def _owned(rng: np.random.Generator, communities: int, cells: int, count: int) -> Array:
    """Return the cells of every community: neighbours in the grid, the same topic and mostly the same venue."""
    blocks = rng.permutation(count // cells)[:communities]
    owned: Array = blocks[:, None] * cells + np.arange(cells)
    return owned


def _appearances(
    rng: np.random.Generator, community: Array, owned: Array, items: int, mentions: int
) -> tuple[Array, Array, Array]:
    """Return the item and the object of every mention, and the cell of every item, without noise.

    The first mention of each object is spread evenly over its community's cells, so that no cell stays empty.
    """
    objects, (communities, cells) = len(community), owned.shape
    place = np.empty(objects, dtype=np.int64)
    order = np.argsort(community, kind="stable")
    start = np.zeros(communities, dtype=np.int64)
    np.cumsum(np.bincount(community, minlength=communities)[:-1], out=start[1:])
    place[order] = np.arange(objects) - start[community[order]]
    slot = rng.integers(0, cells, (items, objects))
    slot[0] = place % cells
    group = (community.astype(np.int64) * cells + slot).ravel()
    thing = np.tile(np.arange(objects, dtype=np.int64), items)
    order = np.argsort(group * len(group) + rng.permutation(len(group)))
    group, thing = group[order], thing[order]
    first = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    rank = np.arange(len(group)) - np.repeat(first, np.diff(np.append(first, len(group))))
    new = rank % mentions == 0
    return np.cumsum(new) - 1, thing, owned.ravel()[group[new]]


def _links(
    rng: np.random.Generator, community: Array, communities: int, links: float, within: float
) -> tuple[Array, Array, Array]:
    objects = len(community)
    count = round(objects * links / 2)
    order = np.argsort(community, kind="stable")
    size = np.bincount(community, minlength=communities)
    start = np.cumsum(size) - size
    source = rng.integers(0, objects, count)
    target = rng.integers(0, objects, count)
    inside = np.flatnonzero(rng.random(count) < within)
    own = community[source[inside]]
    target[inside] = order[start[own] + (rng.random(len(inside)) * size[own]).astype(np.int64)]
    return merge_links(source, target, np.ones(count), objects)


def _split(cell: Array, decades: int, venues: int) -> tuple[Array, Array, Array]:
    return cell % decades, cell // decades % venues, cell // (decades * venues)


def _decade_labels(decades: int) -> pa.Array:
    return pa.array([f"{LAST_DECADE - decades + 1 + number}X" for number in range(decades)])


def _numbered(prefix: str, count: int) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pc.cast(pa.array(np.arange(count)), pa.string()), "")


def _table(columns: dict[str, pa.DataType], *values: object) -> pa.Table:
    return pa.table(dict(zip(columns, values, strict=True)), schema=pa.schema(list(columns.items())))
