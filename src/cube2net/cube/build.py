"""A corpus becomes a cube."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import sum_links
from cube2net.cube.items import index_items
from cube2net.cube.labels import label_items
from cube2net.cube.packing import Allocate, in_files, in_memory, link_columns, pack_homes, pack_links, pack_members
from cube2net.cube.parts import given
from cube2net.cube.plan import WANTED, WANTED_LINKS, split_keys, statements
from cube2net.cube.update_arrays import make_rests
from cube2net.cube.update_ledger import RESTS, ledger_of
from cube2net.errors import ParameterError
from cube2net.interfaces import Engine
from cube2net.progress import Progress, silent
from cube2net.records import Cells, Corpus, Cube, DimensionSpec, Links, Objects, Topics
from cube2net.records.corpus import table
from cube2net.records.limits import CELLS, check_count
from cube2net.records.link_weights import left_over
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
    items: bool = True,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Cube:
    """Return the cube of a corpus in the given dimensions; with ``items`` it keeps what each of its items was in.

    With a ``folder`` that is there for this build only, the engine works in it and may go on where an earlier run was
    cut off, and the arrays of the cube are files in it, which :func:`save` then takes over.
    """
    if min_objects < 1:
        raise ParameterError(f"min_objects is {min_objects!r}, expected 1 or more")
    if max_mentions < 2:
        raise ParameterError(f"max_mentions is {max_mentions!r}, expected 2 or more")
    progress("cube: labels", 0, None)
    labelled = label_items(corpus, specs, topics)
    sizes = [max(len(dimension.labels), 1) for dimension in labelled.dimensions]
    derive = corpus.links is None
    plan = statements(sizes, min_objects=min_objects, max_mentions=max_mentions, links=derive)
    inputs = {"mentions": corpus.mentions, "labels": labelled.table}
    wanted = WANTED + (WANTED_LINKS if derive else ())
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    made = engine.run(inputs, plan, wanted, folder=folder, progress=progress)
    check_count(CELLS, made["cells"].num_rows)

    progress("cube: packing", len(plan), len(plan))
    allocate = in_memory if folder is None else in_files(folder)
    cells, small = _cells(made["cells"], made["members"], sizes, min_objects, allocate)
    table_of_links = made["links"] if corpus.links is None else corpus.links
    selfish, crowded = left_out(table_of_links, made)
    links = pack_links(table_of_links, corpus.objects.num_rows, allocate)
    index = None
    if items:
        index = index_items(
            corpus.items["item"],
            corpus.mentions,
            labelled.table,
            (cells, small),
            sizes,
            derived=derive,
            allocate=allocate,
        )
    ledger = ledger_of(
        corpus,
        specs,
        labelled,
        topics,
        rests=_rests(table_of_links, links, selfish),
        selfish=selfish,
        crowded=crowded,
    )
    dropped = count_dropped(
        corpus.dropped,
        labelled.unlabelled,
        labelled.strays,
        selfish=selfish,
        crowded=crowded,
        small=len(small),
        min_objects=min_objects,
        max_mentions=max_mentions,
    )
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
        homes=pack_homes(cells.members, corpus.objects.num_rows, allocate),
        small=small,
        links=links,
        objects=Objects.of(corpus.objects.select(["object", "name", "kind"])),
        settings=settings,
        topic_words=_topic_words(topics),
        topic_model=None if topics is None or topics.model is None else partial(given, topics.model),
        ledger=lambda: ledger,
        items=None if index is None else lambda: index,
    )


def count_dropped(
    of_source: Mapping[str, int],
    unlabelled: Mapping[str, int],
    strays: Mapping[tuple[str, str], int],
    *,
    selfish: int,
    crowded: int,
    small: int,
    min_objects: int,
    max_mentions: int,
) -> dict[str, int]:
    """Return how much was left out, by reason: by the source first, and then on the way to the cube."""
    dropped = dict(of_source)
    dropped |= {f"items with no {name}, in no cell": count for name, count in unlabelled.items()}
    dropped |= {
        f"items whose {parent} is not that of most items of their {name}": count
        for (name, parent), count in strays.items()
    }
    rest = {
        "links from an object to itself": selfish,
        f"items with more than {max_mentions} objects, which make no links": crowded,
        SMALL.format(min_objects): small,
    }
    return dropped | {reason: count for reason, count in rest.items() if count}


def left_out(links: pa.Table, made: Mapping[str, pa.Table]) -> tuple[int, int]:
    """Return how many links go from an object to itself, and how many items are too crowded to make links."""
    if "crowded" in made:  # links by co-mention: none of them is selfish
        return 0, made["crowded"].num_rows
    return int((links["source"].to_numpy() == links["target"].to_numpy()).sum()), 0


def _cells(
    numbered: pa.Table, members: pa.Table, sizes: Sequence[int], least: int, allocate: Allocate
) -> tuple[Cells, Cells]:
    order = np.argsort(numbered["cell"].to_numpy())
    labels = split_keys(numbered["cell_key"].to_numpy()[order], sizes)
    counts = numbered["objects"].to_numpy()[order]
    kept = int((counts >= least).sum())
    large = pack_members("cells.members", counts[:kept], members, 0, allocate)
    small = pack_members("small.members", counts[kept:], members, len(large.indices), allocate)
    return Cells(labels[:kept], large), Cells(labels[kept:], small)


def _rests(rows: pa.Table, links: Links, selfish: int) -> pa.Table:
    """Return what the weights of links lack of their sums; a link that is given once lacks nothing."""
    if rows.num_rows - selfish == links.count:
        return table(RESTS)
    low, high, total = sum_links(*link_columns(rows), len(links))
    return make_rests(low, high, left_over(total))


def _topic_words(topics: Topics | None) -> pa.Table | None:
    if topics is None:
        return None
    names: Array = np.array(topics.names, dtype=np.str_)
    labels = pa.array(names[topics.words["topic"].to_numpy()].tolist(), pa.string())
    return topics.words.set_column(0, "topic", labels)
