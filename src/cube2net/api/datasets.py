"""Bundled papers of the ACL Anthology with two labelled queries, and planted communities."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from importlib import resources

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cube2net._util.arrays import Array, freeze, merge_links
from cube2net._util.random import stream
from cube2net.errors import ParameterError, SourceError, quote, unknown_name
from cube2net.model.corpus import LINKS, MENTIONS, OBJECTS, TERMS, Corpus, table
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import check_call

ATTRIBUTION = (
    "ACL Anthology (https://aclanthology.org), papers of 2016 and later by their authors, CC BY 4.0 "
    "(https://creativecommons.org/licenses/by/4.0/); a selection, with abstracts reduced to counts of terms"
)
DIMENSIONS = (
    DimensionSpec("year", "year", bins="years", parent="decades"),
    DimensionSpec("venue", "venue", parent="kind"),
    DimensionSpec("topic", "topic"),
)
AREA_OF_SIG = {
    "sigmt": "machine translation",
    "sigdial": "dialogue",
    "sigbiomed": "biomedical",
    "sigedu": "education",
}
"""The special interest groups whose volumes say an author's area, and what the area is called."""

AREA_SIGS = tuple(AREA_OF_SIG)
"""The groups whose volumes reveal the labels of :func:`load_areas`."""


@check_call
def load_bundled(without_sigs: Sequence[str] = ()) -> Corpus:
    """Load the bundled papers of the ACL Anthology, optionally without the volumes of some groups.

    Objects are authors. Items are papers since 2016 with ``year``, ``venue``, ``sig``, ``volume`` and ``title``; term
    counts replace their abstracts.

    Parameters
    ----------
    without_sigs
        Special interest groups whose volumes are left out, such as ``["sigmt"]``, with all authors who published
        nothing else. None by default.

    Returns
    -------
    Corpus
        Two authors are linked if they wrote a paper together.

    See Also
    --------
    load_labs, load_areas : Labels of some of its authors.

    Examples
    --------
    >>> import cube2net as c2n
    >>> c2n.load_bundled(without_sigs=["sigmt"])
    Corpus(55,031 objects, 38,819 items, links by co-mention)
    """
    if isinstance(without_sigs, str):
        raise ParameterError(f"without_sigs is the text {without_sigs!r}, expected a tuple such as ('sigmt',)")
    if not isinstance(without_sigs, Collection) or not all(isinstance(sig, str) for sig in without_sigs):
        raise ParameterError(f"without_sigs is {quote(without_sigs)}, expected a tuple such as ('sigmt',)")
    corpus = Corpus(
        objects=_read_table("acl-objects.parquet"),
        items=_read_table("acl-items.parquet"),
        mentions=_read_table("acl-mentions.parquet"),
        terms=_read_table("acl-terms.parquet"),
        labels=_read_table("acl-labels.parquet"),
        dimensions=DIMENSIONS,
        attribution=ATTRIBUTION,
        time="year",
    )
    return _remove_sigs(corpus, without_sigs) if len(without_sigs) else corpus


def _remove_sigs(corpus: Corpus, sigs: Sequence[str]) -> Corpus:
    """Return the corpus without the papers of some groups."""
    groups = corpus.items["sig"].combine_chunks()
    flat_sigs = pc.utf8_lower(pc.list_flatten(groups))
    known_sigs = flat_sigs.unique().to_pylist()
    sigs = [sig.lower() for sig in sigs]
    for sig in sigs:
        if sig not in known_sigs:
            raise unknown_name("special interest group", sig, known_sigs)
    keeps_item = np.ones(corpus.items.num_rows, dtype=bool)
    keeps_item[pc.list_parent_indices(groups).filter(pc.is_in(flat_sigs, value_set=pa.array(sigs))).to_numpy()] = False
    items, objects = (corpus.mentions[name].to_numpy() for name in ("item", "object"))
    keeps_mention = keeps_item[items]
    counts_before, counts_after = (
        np.bincount(rows, minlength=corpus.objects.num_rows) for rows in (objects, objects[keeps_mention])
    )
    keeps_object = (counts_after > 0) | (counts_before == 0)
    terms = corpus.terms
    if terms is not None:
        terms = terms.filter(pa.array(keeps_item[terms["item"].to_numpy()]))
        terms = table(
            TERMS, item=_renumber(keeps_item, terms["item"].to_numpy()), term=terms["term"], count=terms["count"]
        )
    return replace(
        corpus,
        objects=corpus.objects.filter(pa.array(keeps_object)),
        items=corpus.items.filter(pa.array(keeps_item)),
        mentions=table(
            MENTIONS,
            item=_renumber(keeps_item, items[keeps_mention]),
            object=_renumber(keeps_object, objects[keeps_mention]),
        ),
        terms=terms,
        dropped={"papers of groups not asked for": int((~keeps_item).sum())},
    )


def _renumber(kept: Array, rows: Array) -> pa.Array:
    """Return the rows' numbers among the rows kept."""
    return pa.array((np.cumsum(kept) - 1)[rows].astype(np.int32))


@check_call
def load_labs() -> dict[str, str]:
    """Load 116 authors from four institutions, with their institutions as labels.

    Returns
    -------
    dict
        The institution of each author id, with 29 authors per institution.

    Examples
    --------
    >>> import cube2net as c2n
    >>> labs = c2n.load_labs()
    >>> len(labs), sorted(set(labs.values()))[:2]
    (116, ['Carnegie Mellon University', 'Harbin Institute of Technology'])
    """
    return _read_labels("labs.csv")


@check_call
def load_areas() -> dict[str, str]:
    """Load 574 authors from four research areas, with their areas as labels.

    The areas are special interest groups. Each author has two or more papers in the volumes of one group, none in those
    of the other groups, and at least one paper elsewhere. Exclude these volumes from the corpus, because they reveal
    the labels: ``load_bundled(without_sigs=AREA_SIGS)``, that is ``("sigmt", "sigdial", "sigbiomed", "sigedu")``.

    Returns
    -------
    dict
        The area of each author id.

    Examples
    --------
    >>> import cube2net as c2n
    >>> areas = c2n.load_areas()
    >>> len(areas), sorted(set(areas.values()))
    (574, ['biomedical', 'dialogue', 'education', 'machine translation'])
    """
    return _read_labels("areas.csv")


def _read_labels(name: str) -> dict[str, str]:
    rows = csv.DictReader(io.StringIO(_read_bytes(name).decode()))
    return {row["object"]: row["label"] for row in rows}


def _read_table(name: str) -> pa.Table:
    try:
        return pq.read_table(pa.BufferReader(_read_bytes(name)))
    except pa.ArrowException as error:
        raise SourceError(f"the package's file {name!r} is damaged ({error}): install cube2net again") from None


def _read_bytes(name: str) -> bytes:
    try:
        return resources.files("cube2net").joinpath("data", name).read_bytes()
    except OSError:
        raise SourceError(f"the package's file {name!r} is missing: install cube2net again") from None


PLANTED_DIMENSIONS = (
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


@check_call
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
    """Generate a corpus with planted communities, and the best cells for each.

    Each community owns cells that no other has, and each object belongs to one community. Without noise, the cells of a
    community contain exactly its members.

    Parameters
    ----------
    objects, communities
        The number of objects, and of communities.
    cells
        The number of cells that each community owns.
    items, mentions
        Each object is mentioned by ``items`` items in the cells of its community; an item mentions at most ``mentions``
        objects.
    noise
        The share of items that mention random objects in random cells.
    links, within
        Each object has about ``links`` links, a share ``within`` of them inside its community.
    decades, venues, topics
        The number of labels of each dimension; by default, there are enough venues and topics for four times the cells
        of all communities.
    seed
        The seed of the corpus.

    Returns
    -------
    Planted
        ``corpus`` is the corpus, ``communities`` the community of each object, ``best_cells`` the cells of each
        community; ``query(number)`` returns the ids of a community's members.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> planted, planted.corpus
    (Planted(200 objects, 4 communities, 16 cells), Corpus(200 objects, 206 items, 720 links))
    >>> len(planted.query(0)), planted.best_cells[0][0]
    (50, ('198X', 'venue 0', 'topic 2'))
    """
    for name, value in (("communities", communities), ("cells", cells), ("items", items), ("mentions", mentions)):
        if value < 1:
            raise ParameterError(f"{name} is {value!r}, expected 1 or more")
    owned_cells = communities * cells
    if not owned_cells <= objects < 2**31:
        raise ParameterError(
            f"objects is {objects!r}, expected {owned_cells:,} or more: one for every cell of every community"
        )
    if not 0 <= noise < 1:
        raise ParameterError(f"noise is {noise!r}, expected a share from 0 to below 1")
    if not 0 <= within <= 1:
        raise ParameterError(f"within is {within!r}, expected a share from 0 to 1")
    if not 0 <= links < objects:
        raise ParameterError(f"links is {links!r}, expected 0 or more for an object, and fewer than objects")
    if not 1 <= decades <= 100:
        raise ParameterError(f"decades is {decades!r}, expected 1 to 100")
    labels_per_axis = int(np.ceil(np.sqrt(4 * owned_cells / decades)))
    venues, topics = labels_per_axis if venues is None else venues, labels_per_axis if topics is None else topics
    cell_count = decades * venues * topics
    if cell_count < owned_cells:
        raise ParameterError(
            f"{decades} decades × {venues} venues × {topics} topics are too few, expected {owned_cells:,} cells or more"
        )
    rng = stream(seed, "sources", "planted")
    community = rng.permutation(np.arange(objects) % communities).astype(np.int32)
    cell_blocks = rng.permutation(cell_count // cells)[:communities]
    owned_by_community = cell_blocks[:, None] * cells + np.arange(cells)

    mention_items, mentioned, item_cells = _draw_appearances(rng, community, owned_by_community, items, mentions)
    noise_items = round(len(item_cells) * noise / (1 - noise))
    mention_items = np.concatenate(
        [mention_items, np.repeat(np.arange(len(item_cells), len(item_cells) + noise_items), mentions)]
    )
    mentioned = np.concatenate([mentioned, rng.integers(0, objects, noise_items * mentions)])
    item_cells = np.concatenate([item_cells, rng.integers(0, cell_count, noise_items)])
    pairs = np.sort(mention_items * objects + mentioned)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]

    def split_cells(numbers: Array) -> tuple[Array, Array, Array]:
        """Return the decade, venue and topic of cells; those of a community share the topic and mostly the venue."""
        return numbers % decades, numbers // decades % venues, numbers // (decades * venues)

    decade, venue, topic = split_cells(item_cells)
    first_decade = LAST_DECADE - decades + 1
    names = [pa.array([f"{first_decade + number}X" for number in range(decades)])]
    names += [_number_ids("venue ", venues), _number_ids("topic ", topics)]
    year = (first_decade + decade) * 10 + rng.integers(0, 10, len(item_cells))
    label_columns = [
        label.take(pa.array(code)) for label, code in zip(names, split_cells(owned_by_community.ravel()), strict=True)
    ]
    cell_names = list(zip(*(column.to_pylist() for column in label_columns), strict=True))
    source, target, weight = _draw_links(rng, community, communities, links, within)
    corpus = Corpus(
        objects=table(
            OBJECTS,
            object=_number_ids("o", objects),
            name=_number_ids("Object ", objects),
            kind=pa.repeat(pa.scalar("object"), objects),
        ),
        items=pa.table(
            {
                "item": _number_ids("i", len(item_cells)),
                "year": pa.array(year, pa.int32()),
                "venue": names[1].take(pa.array(venue)),
                "topic": names[2].take(pa.array(topic)),
            }
        ),
        mentions=table(MENTIONS, item=(pairs // objects).astype(np.int32), object=(pairs % objects).astype(np.int32)),
        links=table(LINKS, source=source, target=target, weight=weight),
        dimensions=PLANTED_DIMENSIONS,
    )
    best_cells = tuple(tuple(cell_names[start : start + cells]) for start in range(0, owned_cells, cells))
    return Planted(corpus, freeze(community), best_cells)


def _draw_appearances(
    rng: np.random.Generator, community: Array, owned: Array, items: int, mentions: int
) -> tuple[Array, Array, Array]:
    """Return the item and the object of every mention, and the cell of every item, without noise.

    The first mention of each object is spread evenly over its community's cells, so that no cell stays empty.
    """
    objects, (communities, cells) = len(community), owned.shape
    member_places = np.empty(objects, dtype=np.int64)
    order = np.argsort(community, kind="stable")
    community_starts = np.zeros(communities, dtype=np.int64)
    np.cumsum(np.bincount(community, minlength=communities)[:-1], out=community_starts[1:])
    member_places[order] = np.arange(objects) - community_starts[community[order]]
    cell_places = rng.integers(0, cells, (items, objects))
    cell_places[0] = member_places % cells
    cell_groups = (community.astype(np.int64) * cells + cell_places).ravel()
    mentioned = np.tile(np.arange(objects, dtype=np.int64), items)
    order = np.argsort(cell_groups * len(cell_groups) + rng.permutation(len(cell_groups)))
    cell_groups, mentioned = cell_groups[order], mentioned[order]
    group_starts = np.flatnonzero(np.concatenate([[True], cell_groups[1:] != cell_groups[:-1]]))
    rank = np.arange(len(cell_groups)) - np.repeat(group_starts, np.diff(np.append(group_starts, len(cell_groups))))
    is_first_mention = rank % mentions == 0
    return np.cumsum(is_first_mention) - 1, mentioned, owned.ravel()[cell_groups[is_first_mention]]


def _draw_links(
    rng: np.random.Generator, community: Array, communities: int, links: float, within: float
) -> tuple[Array, Array, Array]:
    objects = len(community)
    count = round(objects * links / 2)
    order = np.argsort(community, kind="stable")
    community_sizes = np.bincount(community, minlength=communities)
    community_starts = np.cumsum(community_sizes) - community_sizes
    source = rng.integers(0, objects, count)
    target = rng.integers(0, objects, count)
    inside_links = np.flatnonzero(rng.random(count) < within)
    own_community = community[source[inside_links]]
    target[inside_links] = order[
        community_starts[own_community]
        + (rng.random(len(inside_links)) * community_sizes[own_community]).astype(np.int64)
    ]
    return merge_links(source, target, np.ones(count), objects)


def _number_ids(prefix: str, count: int) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pc.cast(pa.array(np.arange(count)), pa.string()), "")
