"""A corpus becomes a cube."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.arrays import links_from_pairs, offsets, transpose
from cube2net.cube.labels import label_items
from cube2net.cube.plan import WANTED, WANTED_LINKS, split_keys, statements
from cube2net.errors import ParameterError
from cube2net.interfaces import Engine, Progress
from cube2net.records import Cells, Corpus, Cube, DimensionSpec, Links, Objects, Ragged, Topics
from cube2net.records.ragged import Array
from cube2net.records.spec import MAX_MENTIONS, MIN_OBJECTS, SMALL


def build(
    corpus: Corpus,
    specs: Sequence[DimensionSpec],
    engine: Engine,
    *,
    topics: Topics | None = None,
    min_objects: int = MIN_OBJECTS,
    max_mentions: int = MAX_MENTIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Cube:
    """Return the cube of a corpus in the given dimensions."""
    if min_objects < 1:
        raise ParameterError(f"min_objects is {min_objects!r}, expected 1 or more")
    if max_mentions < 2:
        raise ParameterError(f"max_mentions is {max_mentions!r}, expected 2 or more")
    if progress is not None:
        progress("cube: labels", 0, None)
    labelled = label_items(corpus, specs, topics)
    sizes = [max(len(dimension.labels), 1) for dimension in labelled.dimensions]
    derive = corpus.links is None
    plan = statements(sizes, min_objects=min_objects, max_mentions=max_mentions, links=derive)
    inputs = {"mentions": corpus.mentions, "labels": labelled.table}
    made = engine.run(inputs, plan, WANTED + (WANTED_LINKS if derive else ()), progress=progress)

    cells, small = _cells(made["cells"], made["members"], sizes, min_objects)
    links, left_out = _links(corpus, made)
    dropped = dict(corpus.dropped)
    dropped |= {f"items with no {name}, in no cell": count for name, count in labelled.unlabelled.items()}
    dropped |= {
        f"items whose {parent} is not that of most items of their {name}": count
        for (name, parent), count in labelled.strays.items()
    }
    dropped |= {reason.format(max_mentions): count for reason, count in left_out.items() if count}
    if len(small):
        dropped[SMALL.format(min_objects)] = len(small)
    settings: dict[str, Any] = {
        "dimensions": [str(spec) for spec in specs],
        "min_objects": min_objects,
        "max_mentions": max_mentions,
        "seed": seed,
        "engine": type(engine).__name__,
        "items": corpus.items.num_rows,
        "dropped": dropped,
        "attribution": corpus.attribution,
        "topics": dict(topics.settings) if topics is not None else None,
    }
    return Cube(
        dimensions=labelled.dimensions,
        cells=cells,
        homes=transpose(cells.members, corpus.objects.num_rows),
        small=small,
        links=links,
        objects=Objects.of(corpus.objects.select(["object", "name", "kind"])),
        settings=settings,
        topic_words=_topic_words(topics),
        topic_model=None if topics is None or topics.model is None else partial(_given, topics.model),
    )


def _cells(numbered: pa.Table, members: pa.Table, sizes: Sequence[int], least: int) -> tuple[Cells, Cells]:
    order = np.argsort(numbered["cell"].to_numpy())
    labels = split_keys(numbered["cell_key"].to_numpy()[order], sizes)
    counts = numbered["objects"].to_numpy()[order]
    kept = int((counts >= least).sum())
    indptr = offsets(members["cell"].to_numpy(), len(counts))
    indices = members["object"].to_numpy().astype(np.int32, copy=False)
    cut = int(indptr[kept])
    return (
        Cells(labels[:kept], Ragged(indptr[: kept + 1], indices[:cut])),
        Cells(labels[kept:], Ragged(indptr[kept:] - cut, indices[cut:])),
    )


def _links(corpus: Corpus, made: dict[str, pa.Table]) -> tuple[Links, dict[str, int]]:
    table = made["links"] if corpus.links is None else corpus.links
    source, target = table["source"].to_numpy(), table["target"].to_numpy()
    links = links_from_pairs(source, target, table["weight"].to_numpy(), corpus.objects.num_rows)
    selfish = int((source == target).sum())
    crowded = made["crowded"].num_rows if "crowded" in made else 0
    return links, {
        "links from an object to itself": selfish,
        "items with more than {} objects, which make no links": crowded,
    }


def _given(table: pa.Table) -> pa.Table:
    return table


def _topic_words(topics: Topics | None) -> pa.Table | None:
    if topics is None:
        return None
    names: Array = np.array(topics.names, dtype=np.str_)
    labels = pa.array(names[topics.words["topic"].to_numpy()].tolist(), pa.string())
    return topics.words.set_column(0, "topic", labels)
