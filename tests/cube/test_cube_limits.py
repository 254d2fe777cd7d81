"""Beyond 2³¹: what has numbers of 32 bits is refused in a sentence, and what has offsets of 64 bits is held.

Nothing here is large: tables of nulls have no memory, and files of holes have no disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net._util.arrays import Links, Ragged
from cube2net.cube.building import cells as building_cells
from cube2net.cube.building import labels as building_labels
from cube2net.cube.building.build import build, update
from cube2net.cube.building.concatenation import place_objects
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.plan import make_statements, split_keys
from cube2net.errors import ParameterError, SourceError
from cube2net.io.dropped import Dropped
from cube2net.io.tables.table_corpus import build_item_corpus, build_network_corpus
from cube2net.kernels.csr import fill_homes, fill_links
from cube2net.model import corpus as limits
from cube2net.model.corpus import MENTIONS, OBJECTS, Corpus, table
from cube2net.model.cube import Cells, Cube
from cube2net.model.dimension import Dimension, DimensionSpec, Level
from cube2net.model.objects import Objects

from corpora import corpus_of
from updates import with_ids

FAR = 2**31
VENUE = [DimensionSpec.parse("venue")]
SMALL = corpus_of([(2003, ["KDD"], [0, 1]), (2004, ["ACL"], [1])], objects=2)


def nulls(count: int, *names: str) -> pa.Table:
    """Return a table of so many rows that takes no memory."""
    return pa.table({name: pa.nulls(count) for name in names})


@pytest.mark.parametrize("part", ["objects", "items"])
def test_a_corpus_of_more_objects_or_items_than_numbers_is_refused(part: str) -> None:
    parts: dict[str, Any] = {"objects": table(OBJECTS), "items": pa.table({"item": pa.array([], pa.string())})}
    parts[part] = nulls(FAR, *OBJECTS, "item")
    with pytest.raises(SourceError) as caught:
        Corpus(**parts, mentions=table(MENTIONS))
    assert str(caught.value) == (f"there are 2,147,483,648 {part}, and a cube holds up to 2,147,483,647: part them")


@pytest.mark.parametrize("what", ["objects", "items"])
def test_tables_of_more_rows_than_numbers_are_refused_before_they_are_looked_through(what: str) -> None:
    class Pretending:
        table = nulls(FAR, "id")

    few = type("Few", (), {"table": nulls(1, "id")})()
    many: Any = (Pretending(), {"id": "id", "item": "id"})
    parts: list[Any] = [many, many, many] if what == "objects" else [(few, {}), many, many]
    with pytest.raises(SourceError, match=f"there are 2,147,483,648 {what}"):
        build_item_corpus(*parts, None, {}, Dropped(False, None))
    if what == "objects":
        with pytest.raises(SourceError, match="there are 2,147,483,648 objects"):
            build_network_corpus(many, many, {}, Dropped(False, None))


class Overflowing:
    """An engine that says it found more cells than there are numbers."""

    def run(
        self, tables: Mapping[str, pa.Table], statements: Mapping[str, str], wanted: Sequence[str], **_: object
    ) -> dict[str, pa.Table]:
        return {name: nulls(FAR, "cell", "cell_key", "objects", "object") for name in wanted}


def test_more_cells_than_numbers_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there are 2,147,483,648 cells, small ones too, and a cube holds up to"):
        build(SMALL, VENUE, Overflowing(), folder=tmp_path / "made")
    assert not list((tmp_path / "made").iterdir())


@pytest.mark.parametrize(("venue", "what"), [("KDD", "items"), ("WMT", "cells, small ones too")])
def test_a_cube_that_would_grow_beyond_its_numbers_is_refused(
    venue: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cube = build(SMALL, VENUE, DuckDB(), min_objects=1)
    more = with_ids(corpus_of([(2005, [venue], [0])], objects=2), 2)
    monkeypatch.setattr(limits, "MOST", 2)
    with pytest.raises(SourceError, match=f"there are 3 {what}, and a cube holds up to 2"):
        update(cube, more, DuckDB())


def test_objects_that_would_go_beyond_their_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST", 3)
    assert place_objects(pa.chunked_array([["a", "b"]]), pa.chunked_array([["b"], ["x"]])).tolist() == [1, 2]
    with pytest.raises(SourceError, match="there are 4 objects, and a cube holds up to 3"):
        place_objects(pa.chunked_array([["a", "b"]]), pa.chunked_array([["x", "b"], ["y"]]))


@pytest.mark.parametrize("sizes", [[2**31, 2**31], [2**62], [2**21] * 3, [2**40, 2**40]])
def test_combinations_of_labels_beyond_their_numbers_are_refused(sizes: list[int]) -> None:
    with pytest.raises(ParameterError, match="make too many cells"):
        make_statements(sizes, min_objects=1, max_mentions=50, links=False)


def test_the_last_combination_of_labels_is_told_from_all_others() -> None:
    sizes = [2**31 - 1, 2**31 - 1]
    make_statements(sizes, min_objects=1, max_mentions=50, links=False)
    last = np.array([sizes[0] * sizes[1] - 1])
    assert split_keys(last, sizes).tolist() == [[2**31 - 2, 2**31 - 2]]


def test_texts_of_more_bytes_than_one_piece_holds_give_the_same_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pa.chunked_array([["KDD", " ACL"], ["", None, "KDD"]])
    lists = pa.chunked_array([[["KDD", "ACL"], []], [["WMT"], None, ["ACL", "ACL"]]])
    numbers = pa.chunked_array([["1", " 2"], ["", None, "3.5"]])
    for column in (texts, lists, texts.dictionary_encode()):
        monkeypatch.setattr(building_labels, "MAX_BYTES_32_BIT_OFFSETS", 2**31)
        one = building_labels._encode_texts(building_labels._combine_chunks(column))
        monkeypatch.setattr(building_labels, "MAX_BYTES_32_BIT_OFFSETS", 0)
        other = building_labels._encode_texts(building_labels._combine_chunks(column))
        assert (one.items.tolist(), one.codes.tolist(), one.names) == (
            other.items.tolist(),
            other.codes.tolist(),
            other.names,
        )
    made = Corpus(SMALL.objects, pa.table({"item": list("abcde"), "n": numbers}), table(MENTIONS))
    assert [values.tolist() for values in building_labels.read_numbers(made, "n")] == [[0, 1, 4], [1.0, 2.0, 3.5]]


# What is held


def far(path: Path, kind: npt.DTypeLike, tail: list[float]) -> np.ndarray:
    """Return an array of 2³¹ zeros and then a tail, in a file that is a hole but for the tail."""
    array = np.memmap(path, dtype=kind, mode="w+", shape=(FAR + len(tail),))
    array[FAR:] = tail
    array.flush()
    return array


@pytest.fixture
def giant(tmp_path: Path) -> Cube:
    """Return a cube in which 2³¹ ends of links, members and homes lie before the rows of all objects but the first.

    Objects 1 – 2 – 3 – 4 are a path, cell 1 holds 1, 2 and 3, and cell 2 holds 3 and 4; 1,000 others have no links.
    """
    alone = 1_000
    starts = np.array([0, FAR, FAR + 1, FAR + 3, FAR + 5, *[FAR + 6] * (alone + 1)])
    links = Links(
        starts, far(tmp_path / "ends", np.int32, [2, 1, 3, 2, 4, 3]), far(tmp_path / "weights", np.float32, [1] * 6)
    )
    members = Ragged(np.array([0, FAR, FAR + 3, FAR + 5]), far(tmp_path / "members", np.int32, [1, 2, 3, 3, 4]))
    homes = Ragged(
        np.array([0, FAR, FAR + 1, FAR + 2, FAR + 4, *[FAR + 5] * (alone + 1)]),
        far(tmp_path / "homes", np.int32, [1, 1, 1, 2, 2]),
    )
    names = ("all", "left", "right")
    ids = [f"o{i}" for i in range(5 + alone)]
    return Cube(
        dimensions=(Dimension((Level("group", names, names),)),),
        cells=Cells(np.arange(3, dtype=np.int32)[:, None], members),
        object_cells=homes,
        small=Cells(np.empty((0, 1), np.int32), Ragged(np.zeros(1, np.int64), np.empty(0, np.int32))),
        links=links,
        objects=Objects.of(pa.table({"object": ids, "name": ids, "kind": ["thing"] * len(ids)})),
    )


@pytest.mark.parametrize("method", ["none", "hops", "pagerank", "steiner", "greedy", "anneal"])
def test_rows_behind_two_thousand_million_entries_are_read_as_any_other(method: str, giant: Cube) -> None:
    options: dict[str, Any] = {"objective": "jaccard"} if method in ("greedy", "anneal") else {}
    network = c2n.api.construct_by_name(giant, [1, 2, 4], method, form="objects", n_cells=1, **options)
    assert {1, 2, 4} <= set(network.objects.tolist()) <= {1, 2, 3, 4}
    assert len(network.source) == (3 if 3 in network.objects else 1)
    assert giant.links.count == FAR // 2 + 3


def test_cells_lie_behind_two_thousand_million_members_too(giant: Cube) -> None:
    network = c2n.construct(giant, [1, 2], "greedy", objective="jaccard", form="cells+objects", n_cells=1)
    assert network.objects.tolist() == [1, 2, 3]
    assert network.labels == (("left",),)


def test_links_and_homes_are_packed_behind_two_thousand_million_others(tmp_path: Path) -> None:
    ends, weights = far(tmp_path / "ends", np.int32, [0] * 4), far(tmp_path / "weights", np.float32, [0] * 4)
    places = np.array([FAR, FAR + 1, FAR + 3]), np.array([FAR, FAR + 2, FAR + 4])  # of the next below and above
    source, target = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
    fill_links(source, target, np.array([2, 3], np.float32), *places, ends, weights)
    assert (ends[FAR:].tolist(), weights[FAR:].tolist()) == ([1, 0, 2, 1], [2.0, 2.0, 3.0, 3.0])
    homes = far(tmp_path / "homes", np.int32, [0] * 3)
    fill_homes(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([FAR, FAR + 1]), homes)
    assert homes[FAR:].tolist() == [0, 0, 1]


def test_offsets_go_on_beyond_32_bits() -> None:
    sizes = np.array([FAR - 1] * 3)
    indptr = building_cells.fill_offsets(sizes, np.empty(4, np.int64))
    assert indptr.tolist() == [0, FAR - 1, 2 * (FAR - 1), 3 * (FAR - 1)]
    links = Links(np.array([0, FAR + 4]), *(np.broadcast_to(kind(0), FAR + 4) for kind in (np.int32, np.float32)))
    assert (links.degrees.tolist(), links.count) == ([FAR + 4], FAR // 2 + 2)
