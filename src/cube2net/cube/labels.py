"""Attributes become dimensions: every item gets its labels, every label its parent.

A label has one parent. Where the parent is read from another attribute (city → state) it is the one that most
items of the label have, and the items that have another are counted; bins above bins must hold whole ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.cube.bins import is_bins
from cube2net.cube.columns import TOPIC, Column, read_column
from cube2net.cube.families import Family
from cube2net.errors import ParameterError, SourceError, listed, some
from cube2net.records import Corpus, Dimension, DimensionSpec, Level, Topics


@dataclass(frozen=True, eq=False)
class Labelled:
    """The dimensions of a corpus, a table ``(item, dimension, label)``, and what does not fit.

    ``unlabelled`` counts the items without a label by dimension. ``strays`` counts, by dimension and level
    above, the items that have another parent there than their label has.
    """

    dimensions: tuple[Dimension, ...]
    table: pa.Table
    unlabelled: dict[str, int]
    strays: dict[tuple[str, str], int] = field(default_factory=dict)


def label_items(corpus: Corpus, specs: Sequence[DimensionSpec], topics: Topics | None = None) -> Labelled:
    """Return the labels of every item in every dimension."""
    if not specs:
        raise ParameterError(f"a cube needs a dimension: choose among the attributes {listed(corpus.attributes)}")
    _check_names(specs)
    dimensions, tables, unlabelled, strays = [], [], {}, {}
    for number, spec in enumerate(specs):
        column = read_column(corpus, spec.attribute, spec.bins, topics)
        if not column.names:
            raise SourceError(
                f"dimension {spec.name!r} would have no label: no item has a value of the attribute "
                f"{spec.attribute!r}; read another attribute, or leave the dimension out"
            )
        dimension, apart = _dimension(corpus, spec, column, topics)
        dimensions.append(dimension)
        if apart and spec.parent is not None:
            strays[spec.name, spec.parent] = apart
        lost = int((np.bincount(column.items, minlength=corpus.items.num_rows) == 0).sum())
        if lost:
            unlabelled[spec.name] = lost
        tables.append(
            pa.table(
                {
                    "item": pa.array(column.items, pa.int32()),
                    "dimension": pa.array(np.full(len(column.items), number), pa.int32()),
                    "label": pa.array(column.codes, pa.int32()),
                }
            )
        )
    return Labelled(tuple(dimensions), pa.concat_tables(tables), unlabelled, strays)


def _check_names(specs: Sequence[DimensionSpec]) -> None:
    names = [spec.name for spec in specs]
    if len(set(names)) != len(names):
        raise ParameterError(f"two dimensions have the same name: {listed(names)}")
    for spec in specs:
        if spec.parent == spec.name:
            raise ParameterError(f"dimension {spec.name!r} cannot be its own parent")
    taken = {name: name for name in names}
    for spec in specs:
        if spec.parent is None:
            continue
        if spec.parent in taken:
            raise ParameterError(
                f"the level {spec.parent!r} above {spec.name!r} has the name of a level of dimension "
                f"{taken[spec.parent]!r}: every dimension and level of a cube needs its own name"
            )
        taken[spec.parent] = spec.name


def _dimension(corpus: Corpus, spec: DimensionSpec, column: Column, topics: Topics | None) -> tuple[Dimension, int]:
    """Return a dimension with its levels, and how many items have another parent than their label."""
    known = corpus.labels.filter(pc.equal(corpus.labels["attribute"], spec.attribute))
    full = dict(zip(known["label"].to_pylist(), known["full_name"].to_pylist(), strict=True))
    full_names = tuple(full.get(name) or name for name in column.names)
    if spec.parent is None:
        return Dimension((Level(spec.name, column.names, full_names),)), 0
    if spec.attribute == TOPIC and topics is not None and topics.parents is not None:
        parents = dict(zip(topics.names, topics.parents, strict=True))
        return _with_parents(spec, column, full_names, [parents[name] for name in column.names]), 0
    if spec.parent in corpus.attributes or (is_bins(spec.parent) and spec.bins is not None):
        by_bins = spec.parent not in corpus.attributes
        above = read_column(corpus, spec.attribute if by_bins else spec.parent, spec.parent if by_bins else None, None)
        family = Family.of(column, above)
        codes = family.majority()
        missing = [name for name, code in zip(column.names, codes.tolist(), strict=True) if code < 0]
        if missing:
            raise SourceError(f"{len(missing):,} labels of {spec.name!r} have no {spec.parent!r}: {some(missing)}")
        apart = family.strays(codes)
        if by_bins and len(apart):
            row = int(apart[0])
            raise ParameterError(
                f"the bins {spec.parent!r} do not hold whole bins of {spec.bins!r}: "
                f"{column.names[column.codes[row]]!r} lies in {family.parents_of(int(column.codes[row]))}"
            )
        level = Level(spec.name, column.names, full_names, codes)
        dimension = Dimension((level, Level(spec.parent, above.names, above.names)))
        return dimension, len(np.unique(column.items[apart]))
    given = dict(zip(known["label"].to_pylist(), known["parent"].to_pylist(), strict=True))
    if not any(given.values()):
        raise ParameterError(
            f"nothing says which {spec.parent!r} a label of {spec.name!r} belongs to: name an attribute of the items "
            f"({listed(corpus.attributes)}), or coarser bins for a number"
        )
    return _with_parents(spec, column, full_names, [given.get(name) or "other" for name in column.names]), 0


def _with_parents(
    spec: DimensionSpec, column: Column, full_names: tuple[str, ...], parents: Sequence[str]
) -> Dimension:
    names, codes = np.unique(np.array(parents, dtype=np.str_), return_inverse=True)
    above = tuple(str(name) for name in names)
    level = Level(spec.name, column.names, full_names, codes.astype(np.int32))
    return Dimension((level, Level(spec.parent or "", above, above)))
