"""What a cube keeps beside its cells so that items can be added to it as if they had been there from the start."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.arrays import flat_texts
from cube2net.cube.bins import is_bins
from cube2net.cube.columns import TOPIC, read_column, read_numbers
from cube2net.cube.labels import Labelled
from cube2net.cube.update_families import FAMILIES, Families
from cube2net.errors import CubeError
from cube2net.records import Corpus, DimensionSpec, Topics
from cube2net.records.corpus import LABELS, table

FORMAT = 1
ABOUT = b"cube2net.ledger"
RESTS = {"source": pa.int32(), "target": pa.int32(), "rest": pa.float64()}
SMALL_PARTS = ("derived", "above", "kinds", "numbers", "topics", "topic_parents")
COUNTED = ("dropped", "unlabelled", "selfish", "crowded")


@dataclass(frozen=True, eq=False)
class Ledger:
    """What cells and links no longer tell of the items they were made from.

    ``items`` are the ids as sorted numbers of 64 bits. ``labels`` is what the source said of the labels of the
    cube's attributes, used or not, and ``topics`` and ``topic_parents`` the topics in their order. ``above`` says
    where the parents of a dimension come from (``attribute``, ``bins``, ``labels`` or ``topics``), ``kinds`` what
    an attribute holds, ``families`` which labels went with which parents, and ``numbers`` holds one number of every
    bin, not a whole one if there was such. ``derived`` says whether links come from items that mention both ends;
    ``rests`` is what the weights of given links lack of their sums for being rounded. The rest are counts: what
    the source left out, items without a label by dimension, links of an object to itself, and crowded items.
    """

    items: Array
    labels: pa.Table
    derived: bool
    above: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, Array] = field(default_factory=dict)
    families: Mapping[str, Families] = field(default_factory=dict)
    topics: tuple[str, ...] | None = None
    topic_parents: tuple[str, ...] | None = None
    rests: pa.Table = field(default_factory=lambda: table(RESTS))
    dropped: Mapping[str, int] = field(default_factory=dict)
    unlabelled: Mapping[str, int] = field(default_factory=dict)
    selfish: int = 0
    crowded: int = 0

    def __repr__(self) -> str:
        return f"Ledger({len(self.items):,} items)"

    def tables(self, names: Sequence[str]) -> dict[str, pa.Table]:
        """Return the ledger without its items as tables, by the name of their file; ``names`` are the dimensions."""
        about = {"format": FORMAT} | {name: getattr(self, name) for name in (*SMALL_PARTS, *COUNTED)}
        about["numbers"] = {name: numbers.tolist() for name, numbers in self.numbers.items()}
        tables = {"ledger": self.labels.replace_schema_metadata({ABOUT: json.dumps(about).encode()})}
        if self.families:
            parts = [families.table(names.index(name)) for name, families in self.families.items()]
            tables["ledger.families"] = pa.concat_tables(parts)
        if self.rests.num_rows:
            tables["ledger.rests"] = self.rests
        return tables

    @classmethod
    def read(cls, items: Array, tables: Mapping[str, pa.Table], names: Sequence[str]) -> Ledger:
        """Return the ledger of its items and tables."""
        about: dict[str, Any] = json.loads(tables["ledger"].schema.metadata[ABOUT])
        if about["format"] > FORMAT:
            raise CubeError(f"the cube's ledger has format {about['format']}: install a newer cube2net to update it")
        found: dict[str, Any] = {name: about[name] for name in (*SMALL_PARTS, *COUNTED)}
        found["numbers"] = {name: np.array(numbers) for name, numbers in found["numbers"].items()}
        for name in ("topics", "topic_parents"):
            found[name] = None if found[name] is None else tuple(found[name])
        families = tables.get("ledger.families", pa.schema(list(FAMILIES.items())).empty_table())
        of = {
            name: Families.read(families.filter(pc.equal(families["dimension"], number)))
            for number, name in enumerate(names)
            if found["above"].get(name) == "attribute"
        }
        labels = tables["ledger"].replace_schema_metadata(None)
        rests = tables.get("ledger.rests", table(RESTS))
        return cls(items=items, labels=labels, families=of, rests=rests, **found)


def ledger_of(
    corpus: Corpus,
    specs: Sequence[DimensionSpec],
    labelled: Labelled,
    topics: Topics | None,
    *,
    rests: pa.Table,
    selfish: int,
    crowded: int,
) -> Ledger:
    """Return the ledger of a corpus whose items are labelled."""
    above, kinds, numbers, families = {}, {}, {}, {}
    dimension = labelled.table["dimension"].to_numpy()
    for number, spec in enumerate(specs):
        first, last = np.searchsorted(dimension, [number, number + 1])
        column = labelled.table.slice(first, last - first)
        items, codes = column["item"].to_numpy(), column["label"].to_numpy()
        if not from_topics(spec, topics):
            kinds[spec.attribute] = kind_of(corpus.items.schema.field(spec.attribute).type)
        if spec.bins is not None and not from_topics(spec, topics):
            values = read_numbers(corpus, spec.attribute)[1]
            numbers[spec.name] = examples(values, codes, len(labelled.dimensions[number].labels))
        if spec.parent is not None:
            above[spec.name] = _source_of_parents(corpus, spec, topics)
        if above.get(spec.name) == "attribute" and spec.parent is not None:
            kinds[spec.parent] = kind_of(corpus.items.schema.field(spec.parent).type)
            parents = read_column(corpus, spec.parent, None, None)
            families[spec.name] = Families.of((items, codes), (parents.items, parents.codes), corpus.items.num_rows)
    return Ledger(
        items=np.sort(hashes(corpus.items["item"])),
        labels=labels_of(corpus, specs),
        derived=corpus.links is None,
        above=above,
        kinds=kinds,
        numbers=numbers,
        families=families,
        topics=None if topics is None else topics.names,
        topic_parents=None if topics is None else topics.parents,
        rests=rests,
        dropped=dict(corpus.dropped),
        unlabelled=labelled.unlabelled,
        selfish=selfish,
        crowded=crowded,
    )


def hashes(ids: pa.ChunkedArray) -> Array:
    """Return a number of 64 bits for every id, the same on every machine."""
    from cube2net.kernels.text_hashes import hash_texts

    return hash_texts(*flat_texts(ids))


def from_topics(spec: DimensionSpec, topics: object) -> bool:
    """Return whether a dimension is made of topics that were found, not of an attribute."""
    return spec.attribute == TOPIC and topics is not None


def labels_of(corpus: Corpus, specs: Sequence[DimensionSpec]) -> pa.Table:
    """Return what a corpus says of the labels of the attributes that dimensions read."""
    wanted = pa.array(sorted({spec.attribute for spec in specs}), pa.string())
    return corpus.labels.select(list(LABELS)).filter(pc.is_in(corpus.labels["attribute"], value_set=wanted))


def examples(values: Array, codes: Array, count: int) -> Array:
    """Return a number of every bin: its first that is not whole, or else its first.

    Numbers that have the same bins and are whole together with them get the same names.

    >>> examples(np.array([4.0, 7.0, 4.5, 1.0, 4.25]), np.array([1, 2, 1, 0, 1]), 3).tolist()
    [1.0, 4.5, 7.0]
    """
    found = np.empty(count)
    for rows in (np.arange(len(values)), np.flatnonzero(values != np.floor(values))):
        found[codes[rows[::-1]]] = values[rows[::-1]]
    return found


def kind_of(type_: pa.DataType) -> str:
    """Return what an attribute holds, in words where different types of Arrow mean the same.

    >>> kind_of(pa.int16()), kind_of(pa.large_string()), kind_of(pa.float64())
    ('whole numbers', 'texts', 'double')
    """
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return f"lists of {kind_of(type_.value_type)}"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "texts"
    return "whole numbers" if pa.types.is_integer(type_) else str(type_)


def _source_of_parents(corpus: Corpus, spec: DimensionSpec, topics: Topics | None) -> str:
    if topics is not None and spec.attribute == TOPIC and topics.parents is not None:
        return "topics"
    if spec.parent in corpus.attributes:
        return "attribute"
    return "bins" if spec.bins is not None and is_bins(spec.parent or "") else "labels"
