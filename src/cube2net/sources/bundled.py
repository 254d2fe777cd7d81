"""The slice of the ACL Anthology that ships inside the package, and a labelled query for it."""

from __future__ import annotations

import csv
import io
from importlib import resources

import pyarrow as pa
import pyarrow.parquet as pq

from cube2net.errors import SourceError
from cube2net.records import Corpus, DimensionSpec

ATTRIBUTION = (
    "ACL Anthology (https://aclanthology.org), papers of 2016 and later by their authors, CC BY 4.0 "
    "(https://creativecommons.org/licenses/by/4.0/); a selection, with abstracts reduced to counts of terms"
)
DIMENSIONS = (
    DimensionSpec("year", "year", bins="years", parent="decades"),
    DimensionSpec("venue", "venue", parent="kind"),
    DimensionSpec("topic", "topic"),
)


def load_bundled() -> Corpus:
    """Return authors and papers of the ACL Anthology since 2016: facts about them, and counts of their terms.

    Objects are authors, by the Anthology's id or by name. Items are papers with ``year``, ``venue``,
    ``sig``, ``volume`` and ``title``; ``terms`` stands in for the text of their abstracts. Single years
    are the finest level, and decades the one above: on eleven years that makes more cells that hold
    enough authors than decades do.

    >>> load_bundled()
    Corpus(54,075 objects, 34,949 items, links by co-mention)
    """
    return Corpus(
        objects=_table("acl-objects.parquet"),
        items=_table("acl-items.parquet"),
        mentions=_table("acl-mentions.parquet"),
        terms=_table("acl-terms.parquet"),
        labels=_table("acl-labels.parquet"),
        dimensions=DIMENSIONS,
        attribution=ATTRIBUTION,
    )


def labs() -> dict[str, str]:
    """Return 116 authors of the slice and the institution of each, 29 from every one of four.

    >>> sorted(set(labs().values()))[:2]
    ['Carnegie Mellon University', 'Harbin Institute of Technology']
    """
    rows = csv.DictReader(io.StringIO(_bytes("labs.csv").decode()))
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
