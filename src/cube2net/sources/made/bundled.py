"""The slice of the ACL Anthology that ships inside the package, and two labelled queries for it."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import replace
from importlib import resources

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cube2net.array_types import Array
from cube2net.errors import ParameterError, SourceError, quoted, unknown
from cube2net.records import Corpus, DimensionSpec
from cube2net.records.corpus import MENTIONS, TERMS, table

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
"""The groups whose volumes to leave out when the areas of authors are to be found."""


def load_bundled(without_sigs: Sequence[str] = ()) -> Corpus:
    """Return authors and papers of the ACL Anthology since 2016: facts about them, and counts of their terms.

    Objects are authors, by the Anthology's id or by name. Items are papers with ``year``, ``venue``,
    ``sig``, ``volume`` and ``title``; ``terms`` stands in for the text of their abstracts. Single years
    are the finest level, and decades the one above: on eleven years that makes more cells that hold
    enough authors than decades do.

    ``without_sigs`` leaves out the volumes of some special interest groups, and authors of nothing else.

    >>> load_bundled()
    Corpus(55,610 objects, 39,833 items, links by co-mention)
    >>> load_bundled(without_sigs=AREA_SIGS)
    Corpus(54,038 objects, 37,696 items, links by co-mention)
    """
    if isinstance(without_sigs, str):
        raise ParameterError(f"without_sigs is the text {without_sigs!r}, expected a tuple such as ('sigmt',)")
    if not isinstance(without_sigs, Collection) or not all(isinstance(sig, str) for sig in without_sigs):
        raise ParameterError(f"without_sigs is {quoted(without_sigs)}, expected a tuple such as ('sigmt',)")
    corpus = Corpus(
        objects=_table("acl-objects.parquet"),
        items=_table("acl-items.parquet"),
        mentions=_table("acl-mentions.parquet"),
        terms=_table("acl-terms.parquet"),
        labels=_table("acl-labels.parquet"),
        dimensions=DIMENSIONS,
        attribution=ATTRIBUTION,
        time="year",
    )
    return _without(corpus, without_sigs) if len(without_sigs) else corpus


def _without(corpus: Corpus, sigs: Sequence[str]) -> Corpus:
    """Return the corpus without the papers of some groups."""
    groups = corpus.items["sig"].combine_chunks()
    each = pc.utf8_lower(pc.list_flatten(groups))
    known = each.unique().to_pylist()
    sigs = [sig.lower() for sig in sigs]
    for sig in sigs:
        if sig not in known:
            raise unknown("special interest group", sig, known)
    keep = np.ones(corpus.items.num_rows, dtype=bool)
    keep[pc.list_parent_indices(groups).filter(pc.is_in(each, value_set=pa.array(sigs))).to_numpy()] = False
    items, objects = (corpus.mentions[name].to_numpy() for name in ("item", "object"))
    here = keep[items]
    before, after = (np.bincount(rows, minlength=corpus.objects.num_rows) for rows in (objects, objects[here]))
    author = (after > 0) | (before == 0)
    terms = corpus.terms
    if terms is not None:
        terms = terms.filter(pa.array(keep[terms["item"].to_numpy()]))
        terms = table(TERMS, item=_numbers(keep, terms["item"].to_numpy()), term=terms["term"], count=terms["count"])
    return replace(
        corpus,
        objects=corpus.objects.filter(pa.array(author)),
        items=corpus.items.filter(pa.array(keep)),
        mentions=table(MENTIONS, item=_numbers(keep, items[here]), object=_numbers(author, objects[here])),
        terms=terms,
        dropped={"papers of groups not asked for": int((~keep).sum())},
    )


def _numbers(keep: Array, rows: Array) -> pa.Array:
    """Return the rows' numbers among the rows kept."""
    return pa.array((np.cumsum(keep) - 1)[rows].astype(np.int32))


def load_labs() -> dict[str, str]:
    """Return 116 authors of the slice and the institution of each, 29 from every one of four.

    >>> sorted(set(load_labs().values()))[:2]
    ['Carnegie Mellon University', 'Harbin Institute of Technology']
    """
    return _labels("labs.csv")


def load_areas() -> dict[str, str]:
    """Return 574 authors of the slice and the area of each, by the volumes of four groups that they publish in.

    An author has two papers or more in the volumes of one group, none in those of the others, and one at least
    elsewhere. The volumes tell the areas: leave them out, ``load_bundled(without_sigs=AREA_SIGS)``.

    >>> sorted(set(load_areas().values()))
    ['biomedical', 'dialogue', 'education', 'machine translation']
    """
    return _labels("areas.csv")


def _labels(name: str) -> dict[str, str]:
    rows = csv.DictReader(io.StringIO(_bytes(name).decode()))
    return {row["object"]: row["label"] for row in rows}


def _table(name: str) -> pa.Table:
    try:
        return pq.read_table(pa.BufferReader(_bytes(name)))
    except pa.ArrowException as error:
        raise SourceError(f"the package's file {name!r} is damaged ({error}): install cube2net again") from None


def _bytes(name: str) -> bytes:
    try:
        return resources.files("cube2net").joinpath("data", name).read_bytes()
    except OSError:
        raise SourceError(f"the package's file {name!r} is missing: install cube2net again") from None
