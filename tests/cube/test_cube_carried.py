"""Attributes of objects and links one by one: kept on disk, grown exactly, limited to a window, and never trusted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net._util.arrow import open_mapped, write_mapped_table
from cube2net.api.checkpoints import checkpoints_beside, digest_corpus
from cube2net.cube.building.build import build, leave_out_known, update
from cube2net.cube.building.concatenation import concatenate
from cube2net.cube.building.links import keep_link_rows
from cube2net.cube.removal import without_links
from cube2net.cube.storage.reader import read, verify
from cube2net.cube.storage.writer import describe_file, save
from cube2net.cube.views import dice, roll_up
from cube2net.errors import Cube2netError, CubeError, SourceError
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.query import Query

from corpora import corpus_of
from updates import LINK_ROWS, Sqlite, assert_same, change_manifest, knowing, update_folder, with_ids

ITEMS: list = [(1999, ["ACL"], [0, 1]), (2003, ["KDD"], [1, 2]), (2004, ["ACL"], [3, 4])]
GIVEN = [(0, 1, 1.0), (1, 0, 2.0), (2, 1, 4.0), (3, 3, 1.0), (0, 4, 0.5), (4, 0, 0.25)]
SPECS = [DimensionSpec.parse("year@years/decades"), DimensionSpec.parse("venue")]
CARRIED = ("objects.attributes.arrow", "links.details.arrow", "links.details.indptr.npy")


def telling(links: list[tuple[int, int, float]] = GIVEN, **more: Any) -> Corpus:
    """Return a corpus of five objects whose links have kinds, years and a direction."""
    corpus = corpus_of(ITEMS, objects=5, links=links)
    assert corpus.links is not None
    kinds, years = ["a", "b", None, "a", "b", "c"], [2001, 2002, 2003, 2004, None, 2006]
    table = corpus.links.append_column("kind", pa.array(kinds[: len(links)], pa.string()))
    table = table.append_column("time", pa.array(years[: len(links)], pa.int32()))
    objects = corpus.objects.append_column("age", pa.array([30, None, 50, 60, 70]))
    return replace(corpus, objects=objects, links=table, directed=True, **more)


def cube_of(corpus: Corpus) -> Cube:
    return build(corpus, SPECS, Sqlite(), min_objects=1)


@st.composite
def two_corpora(draw: st.DrawFn) -> tuple[Corpus, Corpus]:
    """Return two corpora that know different things of the same objects, ids and links being of one type or not."""
    parts = []
    one_type = draw(st.booleans())
    ways: dict[str, bool] = {"whole_ids": draw(st.booleans()), "directed": draw(st.booleans())}
    for start in (0, 50):
        if not one_type:
            ways = {"whole_ids": draw(st.booleans()), "directed": draw(st.booleans())}
        part = with_ids(corpus_of(ITEMS, objects=7, links=draw(LINK_ROWS)), start)
        part = knowing(draw, part, **ways)
        order = draw(st.permutations(range(7)))[: draw(st.integers(5, 7))] if start else range(7)
        parts.append(_reordered(part, list(order)))
    return parts[0], parts[1]


def _reordered(corpus: Corpus, order: list[int]) -> Corpus:
    """Return a corpus with its objects in another order; what they are in stays with the rows."""
    objects = corpus.objects.take(pa.array(order, pa.int64()))
    assert corpus.links is not None
    inside = pa.array(np.maximum(corpus.links["source"], corpus.links["target"]) < len(order))
    return replace(corpus, objects=objects, links=corpus.links.filter(inside))


@given(two_corpora())
def test_what_is_known_of_objects_and_links_grows_as_if_it_had_been_one_corpus(parts: tuple[Corpus, Corpus]) -> None:
    specs = [DimensionSpec.parse("venue")]

    def made(make: Callable[[], Cube]) -> Cube | str:
        try:
            return make()
        except Cube2netError as error:
            return str(error)

    cube = build(parts[0], specs, Sqlite(), min_objects=1)
    grown = made(lambda: update(cube, parts[1], Sqlite()))
    whole = made(lambda: build(concatenate(*parts), specs, Sqlite(), min_objects=1))
    if isinstance(grown, str) or isinstance(whole, str):
        assert grown == whole
        assert parts[0].whole_ids != parts[1].whole_ids or parts[0].directed != parts[1].directed
    else:
        assert_same(grown, whole)


def test_the_newest_value_that_is_there_wins() -> None:
    first = telling()
    ages = pa.array([None, 41, None], pa.int64())
    second = corpus_of([(2010, ["ACL"], [0, 1])], objects=3, links=[(0, 1, 1.0)])
    objects = second.objects.append_column("age", ages).append_column("home", pa.array(["Rome", None, "Oslo"]))
    ids = pa.array(["o0", "o1", "o9"])
    second = replace(with_ids(second, 9), objects=objects.set_column(0, "object", ids), directed=True)
    grown = update(cube_of(first), second, Sqlite())
    assert grown.objects.attributes.to_pydict() == {
        "age": [30, 41, 50, 60, 70, None],
        "home": ["Rome", None, None, None, None, "Oslo"],
    }
    assert_same(grown, cube_of(concatenate(first, second)))


def test_an_attribute_that_becomes_something_else_is_refused_in_one_sentence() -> None:
    other = telling()
    texts = other.objects.set_column(3, "age", pa.array(["x"] * 5))
    other = with_ids(replace(other, objects=texts), 9)
    message = "the attribute 'age' of objects holds int64 first and string in the new data: give both the same type"
    with pytest.raises(SourceError, match=message):
        update(cube_of(telling()), other, Sqlite())
    dates = telling()
    assert dates.links is not None
    links = dates.links.set_column(4, "time", pa.array(["2001"] * 6).cast(pa.int32()).cast(pa.date32()))
    with pytest.raises(SourceError, match="the column 'time' of links holds int32 first and date32"):
        update(cube_of(telling()), with_ids(replace(dates, links=links), 9), Sqlite())


def test_kinds_and_times_that_only_the_new_links_have_are_left_out_as_attributes_of_items_are() -> None:
    plain = corpus_of(ITEMS, objects=5, links=GIVEN)
    more = with_ids(replace(telling(), directed=False), 9)
    grown = update(cube_of(plain), more, Sqlite())
    assert grown.details is None
    assert_same(grown, cube_of(concatenate(plain, more)))


def test_the_item_that_states_a_link_is_counted_on_and_goes_with_the_items_that_are_known() -> None:
    corpus = telling()
    assert corpus.links is not None
    stated = replace(corpus, links=corpus.links.append_column("item", pa.array([0, 1, 2, 0, 1, 2], pa.int32())))
    cube = cube_of(stated)
    more = with_ids(stated, 2)  # the first of three is there already
    rest = leave_out_known(cube, more)
    assert rest.links is not None
    assert rest.links["item"].to_pylist() == [0, 1, 0, 1]
    grown = update(cube, rest, Sqlite())
    assert grown.details is not None
    assert sorted(grown.details().rows["item"].to_pylist()) == [0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert_same(replace(grown), cube_of(replace(concatenate(stated, rest), dropped=rest.dropped)))
    lacking = with_ids(corpus, 9)
    with pytest.raises(SourceError, match="the first links say which item states each of them, and the new ones do"):
        concatenate(stated, lacking)


def test_a_saved_cube_gives_all_back_and_a_second_update_keeps_the_files_of_what_stays(tmp_path: Path) -> None:
    cube = cube_of(telling())
    save(cube, tmp_path / "cube")
    assert_same(read(tmp_path / "cube"), cube)
    assert set(CARRIED) <= {path.name for path in (tmp_path / "cube").iterdir()}
    assert json.loads((tmp_path / "cube" / "manifest.json").read_text())["format"] == 3
    before = {name: (tmp_path / "cube" / name).stat().st_ino for name in (*CARRIED, "objects.arrow")}
    items = with_ids(corpus_of(ITEMS, objects=5, links=[]), 9)
    update_folder(tmp_path / "cube", replace(items, directed=True), Sqlite())
    after = {name: (tmp_path / "cube" / name).stat().st_ino for name in before}
    assert after["objects.attributes.arrow"] == before["objects.attributes.arrow"]
    assert after["objects.arrow"] == before["objects.arrow"]
    assert verify(tmp_path / "cube") > 20


def test_a_cube_whose_source_says_no_more_has_no_files_of_it(tmp_path: Path) -> None:
    save(cube_of(corpus_of(ITEMS, objects=5, links=GIVEN)), tmp_path / "cube")
    assert not set(CARRIED) & {path.name for path in (tmp_path / "cube").iterdir()}


def test_opening_and_asking_reads_nothing_of_it(tmp_path: Path) -> None:
    save(cube_of(telling()), tmp_path / "cube")
    for name in CARRIED[:2]:
        damage(tmp_path / "cube", name, lambda data: data[: len(data) // 2])
    network = c2n.construct(read(tmp_path / "cube"), Query(np.array([0, 1])), "hops")
    with pytest.raises(CubeError, match="is damaged: its attributes of objects cannot be read"):
        _ = network.nodes


def test_views_and_cubes_without_links_keep_what_the_others_say() -> None:
    cube = cube_of(telling())
    for view in (roll_up(cube, "year"), dice(cube, {"venue": "ACL"})):
        assert view.details is cube.details
        assert view.objects is cube.objects
    less = without_links(cube, np.array([1]), np.array([0]))
    assert less.details is not None
    kept = telling([link for link in GIVEN if {link[0], link[1]} != {0, 1}])
    assert less.details().rows.num_rows == cube_of(kept).details().rows.num_rows == 3  # type: ignore[misc]
    assert less.details().rows["weight"].to_pylist() == [0.5, 0.25, 4.0]


def test_a_corpus_with_other_attributes_or_directions_is_another_corpus_and_comes_back_from_a_checkpoint(
    tmp_path: Path,
) -> None:
    corpus = replace(telling(), time="year", gone=("i9",))
    whole = corpus.objects.set_column(0, "object", pa.array(list("54321")))
    others = [
        replace(corpus, directed=False),
        replace(corpus, time=""),
        replace(corpus, gone=()),
        replace(corpus, objects=corpus.objects.drop_columns("age")),
        replace(corpus, objects=whole),
        replace(corpus, objects=whole, whole_ids=True),
    ]
    assert len({digest_corpus(one) for one in (corpus, *others)}) == 1 + len(others)
    with checkpoints_beside(tmp_path / "cube") as stages:
        again = stages.corpus("x" * 16, lambda: others[-1])
        assert digest_corpus(again) == digest_corpus(others[-1])
        assert (again.whole_ids, again.directed, again.time) == (True, True, "year")


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(0.125, 9, width=32), st.booleans()), max_size=14)
)
def test_links_of_some_rows_are_those_of_a_cube_built_of_these_rows(rows: list[tuple[int, int, float, bool]]) -> None:
    def cube_with(chosen: list[tuple[int, int, float, bool]]) -> Cube:
        made = corpus_of(ITEMS, objects=5, links=[row[:3] for row in chosen])
        assert made.links is not None
        links = made.links.append_column("kind", pa.array([str(row[3]) for row in chosen], pa.string()))
        return build(replace(made, links=links), SPECS[1:], Sqlite(), min_objects=1)

    whole, part = cube_with(rows), cube_with([row for row in rows if row[3]])
    assert whole.details is not None and part.details is not None
    details = whole.details()
    kept = np.array([kind == "True" for kind in details.rows["kind"].to_pylist()], dtype=bool)
    links, left = keep_link_rows(details, kept)
    for name in ("indptr", "indices", "weights"):
        assert np.array_equal(getattr(links, name), getattr(part.links, name)), name
    assert left.indptr.tolist() == part.details().indptr.tolist()
    assert left.rows.select(["higher", "weight"]).equals(part.details().rows.select(["higher", "weight"]))


def damage(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file and make the manifest fit, as nobody but a stranger would."""
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    change_manifest(folder, lambda manifest: manifest["files"].update({name: describe_file(path)}))


def rewrite(folder: Path, name: str, change: Callable[[pa.Table], pa.Table]) -> None:
    table = change(open_mapped(folder / name))
    (folder / name).unlink()
    write_mapped_table(folder / name, table)
    damage(folder, name, lambda data: data)


def with_column(name: str, values: Any) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.column_names.index(name), name, values(table))


WRONG: dict[str, Callable[[pa.Table], pa.Table]] = {
    "fewer rows": lambda table: table.slice(1),
    "no weights": lambda table: table.drop_columns("weight"),
    "an end that is no object": with_column("higher", lambda table: pa.array([9] * 5, pa.int32())),
    "ends that fall": with_column("higher", lambda table: table["higher"].take(pa.array([4, 3, 2, 1, 0]))),
    "weights that are none": with_column("weight", lambda table: pa.array([np.nan] * 5, pa.float32())),
    "weights below 0": with_column("weight", lambda table: pa.array([-1.0] * 5, pa.float32())),
    "texts for kinds": with_column("kind", lambda table: pa.array(["a"] * 5)),
    "texts for directions": with_column("forward", lambda table: pa.array(["a"] * 5)),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_links_one_by_one_that_cannot_be_are_one_sentence(tmp_path: Path, wrong: str) -> None:
    save(cube_of(telling()), tmp_path / "cube")
    rewrite(tmp_path / "cube", "links.details.arrow", WRONG[wrong])
    network = c2n.construct(read(tmp_path / "cube"), Query(np.array([0, 1])), "hops")
    with pytest.raises(CubeError, match=r"is damaged: its links one by one cannot be read \(.+\)$"):
        _ = network.links


def test_a_flipped_byte_is_one_sentence_or_no_harm(tmp_path: Path) -> None:
    save(cube_of(telling()), tmp_path / "cube")
    for name, place in product(CARRIED, range(0, 100, 7)):
        shutil.copytree(tmp_path / "cube", tmp_path / "copy")

        def flip(data: bytes, place: int = place) -> bytes:
            at = place * len(data) // 100
            return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]

        damage(tmp_path / "copy", name, flip)
        try:
            network = c2n.construct(read(tmp_path / "copy"), Query(np.array([0, 1])), "hops")
            assert len(network.nodes) == len(network) and len(network.links) == len(network.source)
        except CubeError as error:
            assert "is damaged: " in str(error) and "\n" not in str(error)
        shutil.rmtree(tmp_path / "copy")
