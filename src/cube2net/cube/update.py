"""New items and links are added to a cube, as if they had been there from the start.

What that means exactly: ``update(build(A), B)`` equals ``build(concatenate(A, B))`` array by array and label by
label, where A and B are corpora and :func:`concatenate` is A's rows followed by B's. Cells too small to be kept come
up when they grow; members, homes, links with their weights, labels with their full names and parents, objects, the
count of items and of what was left out are those of the whole. Sums of given weights are in double precision and
rounded once, as building does.

Topics are the one thing that a cube does not learn anew: new items get theirs from a model that is kept (or they are
given), and the equality is with the whole under :func:`concatenate_topics`; words and model stay. Bins by quantiles
would move old items to other cells: they are refused.

The cost follows the addition: new items alone are joined and counted. What is there is read once, to be merged with
what is new where a file has to be written again, and the files of what does not change are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array
from cube2net.arrays import offsets
from cube2net.cube.build import count_dropped, left_out
from cube2net.cube.plan import WANTED, WANTED_LINKS, statements
from cube2net.cube.store import check_place, read_manifest, read_verified, write
from cube2net.cube.update_arrays import grow_cells, grow_links
from cube2net.cube.update_corpus import (
    check_links,
    join_attribution,
    join_counts,
    join_objects,
    place_mentions,
    place_objects,
)
from cube2net.cube.update_items import grow_items
from cube2net.cube.update_labels import Grown, grow
from cube2net.cube.update_ledger import Ledger, hashes
from cube2net.errors import CubeError, SourceError, some
from cube2net.interfaces import Engine
from cube2net.locks import only_writer
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, Cube, DimensionSpec, Objects, Ragged, Topics
from cube2net.records.corpus import LINKS, MENTIONS, TERMS, UNKNOWN_OBJECTS, table

KNOWN = "items that were in the cube already"


def update(
    cube: Cube, corpus: Corpus, engine: Engine, *, topics: Topics | None = None, progress: Progress = silent
) -> Cube:
    """Return a cube with the items and links of a corpus added; ``topics`` are those of the new items.

    An item that is in the cube already is refused; see :func:`leave_out_known`.
    """
    ledger = _ledger(cube)
    known = _is_known(ledger, corpus)
    if known.any():
        ids = corpus.items["item"].filter(pa.array(known)).to_pylist()
        plural = "1 of the new items is" if len(ids) == 1 else f"{len(ids):,} of the new items are"
        raise SourceError(f"{plural} in the cube already: {some(ids)} (--skip-known leaves them out)")
    check_links(ledger.derived, corpus.links is None)
    lost = corpus.dropped.get(UNKNOWN_OBJECTS, 0)
    if lost:
        raise SourceError(
            f"{lost:,} mentions of the new items name objects that the new tables do not list: list every object that "
            "they mention, also those that the cube has"
        )
    progress("update: labels", 0, None)
    specs = [DimensionSpec.parse(text) for text in cube.settings["dimensions"]]
    rows = place_objects(cube.objects.table["object"], corpus.objects["object"])
    count = max(len(cube.objects), int(rows.max(initial=-1)) + 1)
    grown = grow(cube.dimensions, ledger, specs, corpus, topics)
    sizes = [len(dimension.labels) for dimension in grown.dimensions]

    plan = statements(sizes, min_objects=1, max_mentions=cube.settings["max_mentions"], links=ledger.derived)
    inputs = {"mentions": place_mentions(corpus.mentions, rows), "labels": grown.table}
    made = engine.run(inputs, plan, WANTED + (WANTED_LINKS if ledger.derived else ()), progress=progress)
    progress("update: merging", 0, None)
    order = np.argsort(made["cells"]["cell"].to_numpy())
    members = made["members"]["object"].to_numpy().astype(np.int32, copy=False)
    cells = grow_cells(
        cube,
        grown.places,
        sizes,
        made["cells"]["cell_key"].to_numpy()[order],
        Ragged(offsets(made["members"]["cell"].to_numpy(), len(order)), members),
        least=cube.settings["min_objects"],
        objects=count,
    )
    brought = _placed_links(corpus.links, rows) if corpus.links is not None else made["links"]
    selfish, crowded = left_out(brought, made)
    links, rests = grow_links(cube.links, brought, ledger.rests, count)
    after = replace(
        ledger,
        items=_merged(ledger.items, np.sort(hashes(corpus.items["item"]))),
        labels=grown.labels,
        numbers=grown.numbers,
        families=grown.families,
        topics=grown.topics,
        topic_parents=grown.topic_parents,
        rests=rests,
        dropped=join_counts(ledger.dropped, corpus.dropped),
        unlabelled=grown.unlabelled,
        selfish=ledger.selfish + selfish,
        crowded=ledger.crowded + crowded,
    )
    return Cube(
        dimensions=grown.dimensions,
        cells=cells.cells,
        homes=cells.homes,
        small=cells.small,
        links=links,
        objects=cube.objects
        if count == len(cube.objects)
        else Objects.of(join_objects(cube.objects.table, corpus.objects, rows)),
        settings=_settings(cube, corpus, after, grown, len(cells.small)),
        topic_words=cube.topic_words,
        topic_model=cube.topic_model,
        ledger=lambda: after,
        items=grow_items(cube, (cells.cells, cells.small), grown, corpus.items["item"], inputs["mentions"]),
    )


def change_folder(folder: Path, change: Callable[[Cube], Cube], *, progress: Progress = silent) -> None:
    """Put what a function makes of a folder's cube in its place, wholly or not at all, as its only writer."""
    folder = Path(folder)
    read_manifest(folder)
    check_place(folder)
    with only_writer(folder, progress):
        stored = read_verified(folder)
        write(change(stored.cube), folder, before=stored)


def leave_out_known(cube: Cube, corpus: Corpus) -> Corpus:
    """Return a corpus without the items that a cube has already, which are counted."""
    known = _is_known(_ledger(cube), corpus)
    if not known.any():
        return corpus
    number = np.cumsum(~known) - 1

    def kept(rows: pa.Table, columns: dict[str, pa.DataType]) -> pa.Table:
        items = rows["item"].to_numpy()
        rest = rows.filter(pa.array(~known[items]))
        place = pa.array(number[rest["item"].to_numpy()], pa.int32())
        return table(columns, item=place, **{name: rest[name] for name in columns if name != "item"})

    return replace(
        corpus,
        items=corpus.items.filter(pa.array(~known)),
        mentions=kept(corpus.mentions, MENTIONS),
        terms=None if corpus.terms is None else kept(corpus.terms, TERMS),
        dropped=join_counts(corpus.dropped, {KNOWN: int(known.sum())}),
    )


def _ledger(cube: Cube) -> Ledger:
    views = cube.settings.get("views")
    if views or cube.finest is not None:
        raise CubeError(f"the cube is a view of another ({'; '.join(views or ())}): add the items to that one")
    if cube.ledger is None:
        raise CubeError(
            "the cube has no ledger of its items, which building keeps since updates are known: build it again to "
            "add items to it"
        )
    ledger: Ledger = cube.ledger()
    return ledger


def _is_known(ledger: Ledger, corpus: Corpus) -> Array:
    """Return whether each item of a corpus is in the ledger."""
    numbers = hashes(corpus.items["item"])
    if len(ledger.items) == 0:
        return np.zeros(len(numbers), dtype=bool)
    place = np.minimum(np.searchsorted(ledger.items, numbers), len(ledger.items) - 1)
    return np.asarray(ledger.items[place] == numbers)


def _merged(old: Array, new: Array) -> Array:
    return np.insert(old, np.searchsorted(old, new), new) if len(new) else old


def _placed_links(links: pa.Table, rows: Array) -> pa.Table:
    ends = {end: pa.array(rows[links[end].to_numpy()], pa.int32()) for end in ("source", "target")}
    return table(LINKS, **ends, weight=links["weight"])


def _settings(cube: Cube, corpus: Corpus, ledger: Ledger, grown: Grown, small: int) -> dict[str, Any]:
    settings = dict(cube.settings)
    settings["items"] += corpus.items.num_rows
    settings["attribution"] = join_attribution(settings["attribution"], corpus.attribution)
    settings["dropped"] = count_dropped(
        ledger.dropped,
        ledger.unlabelled,
        grown.strays,
        selfish=ledger.selfish,
        crowded=ledger.crowded,
        small=small,
        min_objects=settings["min_objects"],
        max_mentions=settings["max_mentions"],
    )
    return settings
