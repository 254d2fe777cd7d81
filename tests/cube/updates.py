"""What the tests of updates share: when two cubes are the same, parts of a corpus, and items numbered anew."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cube2net.records import Corpus, Cube
from cube2net.records.corpus import LINKS, MENTIONS, table


def assert_same(one: Cube, other: Cube) -> None:
    """Everything that makes a cube is the same, array by array, and so is what its ledger keeps."""
    for mine, its in zip(one.dimensions, other.dimensions, strict=True):
        for fine, coarse in zip(mine.levels, its.levels, strict=True):
            assert (fine.name, fine.labels, fine.full_names) == (coarse.name, coarse.labels, coarse.full_names)
            assert (fine.parents is None) == (coarse.parents is None)
            assert fine.parents is None or (fine.parents.tolist() == coarse.parents.tolist())  # type: ignore[union-attr]
    for name in ("cells.labels", "small.labels", *ragged("cells.members"), *ragged("small.members")):
        assert_equal(one, other, name)
    for name in (*ragged("homes"), *ragged("links"), "links.weights"):
        assert_equal(one, other, name)
    assert one.objects.table.equals(other.objects.table)
    assert json.loads(json.dumps(one.settings)) == json.loads(json.dumps(other.settings))
    assert (one.topic_words is None) == (other.topic_words is None)
    assert one.topic_words is None or one.topic_words.equals(other.topic_words)
    assert one.ledger is not None and other.ledger is not None
    left, right = one.ledger(), other.ledger()
    names = [dimension.name for dimension in one.dimensions]
    assert left.items.tolist() == right.items.tolist()
    for name, told in left.tables(names).items():
        if name == "ledger":
            assert metadata(told) == metadata(right.tables(names)[name])
        else:
            assert sorted(map(str, told.to_pylist())) == sorted(map(str, right.tables(names)[name].to_pylist()))


def ragged(name: str) -> tuple[str, str]:
    return f"{name}.indptr", f"{name}.indices"


def assert_equal(one: Any, other: Any, name: str) -> None:
    for part in name.split("."):
        one, other = getattr(one, part), getattr(other, part)
    assert one.dtype == other.dtype, name
    assert one.shape == other.shape, name
    assert np.array_equal(one, other), name


def metadata(ledger: pa.Table) -> dict[str, Any]:
    """Return the ledger's small parts; of kinds of numbers that go together it keeps the first."""
    about: dict[str, Any] = json.loads(ledger.schema.metadata[b"cube2net.ledger"])
    return {name: value for name, value in about.items() if name != "kinds"}


def with_ids(corpus: Corpus, start: int) -> Corpus:
    """Return a corpus whose items are numbered from ``start`` on."""
    ids = pa.array([f"i{start + i}" for i in range(corpus.items.num_rows)], pa.string())
    return replace(corpus, items=corpus.items.set_column(0, "item", ids))


def part_of(whole: Corpus, items: list[int], objects: list[int], links: list[int]) -> Corpus:
    """Return some of the items, objects and links of a corpus; objects that these need must be among them."""
    number = {old: new for new, old in enumerate(items)}
    place = {old: new for new, old in enumerate(objects)}
    said = [
        (i, o) for i, o in zip(*(whole.mentions[name].to_pylist() for name in MENTIONS), strict=True) if i in number
    ]
    given = None
    if whole.links is not None:
        rows = whole.links.take(pa.array(links, pa.int64()))
        ends = {end: [place[o] for o in rows[end].to_pylist()] for end in ("source", "target")}
        given = table(LINKS, **ends, weight=rows["weight"])
    return replace(
        whole,
        objects=whole.objects.take(pa.array(objects, pa.int64())),
        items=whole.items.take(pa.array(items, pa.int64())),
        mentions=table(MENTIONS, item=[number[i] for i, _ in said], object=[place[o] for _, o in said]),
        links=given,
    )
