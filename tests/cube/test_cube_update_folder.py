"""Updates of cubes on disk: what they keep, survive and refuse."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cube2net.cube.building.build import build, leave_out_known, update
from cube2net.cube.building.concatenation import concatenate
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.cube.storage.ledger import Ledger
from cube2net.cube.storage.reader import read, verify
from cube2net.cube.storage.writer import save, write_cube
from cube2net.cube.views import dice, roll_up
from cube2net.errors import CubeError, ParameterError, SourceError
from cube2net.model.corpus import ASSIGNED, TERMS, WORDS, Corpus, Topics, table
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of
from cuts import run_until_killed
from updates import assert_same, part_of, resize, update_folder, with_ids

TERM_ROWS = pa.schema(list(TERMS.items()))
FIRST: list = [(1995 + i, [("ACL", "KDD", "TACL")[i % 3]], [i % 5, (i * 3) % 5]) for i in range(20)]
KINDS = {"ACL": "conference", "KDD": "conference"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    specs = [DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue/kind")]
    save(build(corpus_of(FIRST, objects=5, kinds=KINDS), specs, DuckDB(), min_objects=2), tmp_path / "cube")
    return tmp_path / "cube"


def addition(count: int = 3, **options: Any) -> Corpus:
    rows: list = [(2020 + i, ["WMT", "KDD"], [i, i + 3]) for i in range(count)]
    return with_ids(corpus_of(rows, objects=7, kinds=KINDS, **options), len(FIRST))


def test_a_cube_on_disk_grows_and_equals_one_that_was_built_and_saved(folder: Path, tmp_path: Path) -> None:
    first = corpus_of(FIRST, objects=5, kinds=KINDS)
    specs = [DimensionSpec.parse(text) for text in read(folder).settings["dimensions"]]
    update_folder(folder, addition(), DuckDB())
    save(build(concatenate(first, addition()), specs, DuckDB(), min_objects=2), tmp_path / "rebuilt")
    assert_same(read(folder), read(tmp_path / "rebuilt"))
    assert verify(folder) == verify(tmp_path / "rebuilt")
    for path in [*folder.glob("*.npy"), *folder.glob("*.arrow")]:
        assert path.read_bytes() == (tmp_path / "rebuilt" / path.name).read_bytes()
    last = with_ids(corpus_of([(1996, ["ACL"], [0, 1])], objects=2), 23)
    update_folder(folder, last, DuckDB())
    whole = concatenate(concatenate(first, addition()), last)
    assert_same(read(folder), build(whole, specs, DuckDB(), min_objects=2))


def test_files_of_what_does_not_change_are_kept(tmp_path: Path) -> None:
    given = [(0, 1, 2.0), (1, 2, 1.0)]
    save(build(corpus_of(FIRST, objects=5, links=given), [DimensionSpec.parse("venue")], DuckDB()), tmp_path / "cube")
    before = {path.name: path.stat().st_ino for path in (tmp_path / "cube").iterdir()}
    more = with_ids(corpus_of([(2003, ["ACL"], [0, 1])], objects=2, links=[]), 20)
    update_folder(tmp_path / "cube", more, DuckDB())
    kept = {path.name for path in (tmp_path / "cube").iterdir() if path.stat().st_ino == before[path.name]}
    assert {"objects.arrow", "links.indptr.npy", "links.indices.npy", "links.weights.npy"} <= kept
    assert "ledger.items.npy" not in kept
    assert verify(tmp_path / "cube") == len(before)


def test_the_topic_model_and_its_words_stay(tmp_path: Path) -> None:
    def found(names: tuple[str, ...], count: int) -> Topics:
        rows = table(ASSIGNED, item=list(range(count)), topic=[0] * count, weight=[1.0] * count)
        words = table(WORDS, topic=[0], term=["tree"], weight=[0.5])
        return Topics(names, rows, words, model=pa.table({"term": ["tree"]}))

    specs = [DimensionSpec("topic", "topic")]
    save(build(corpus_of(FIRST, objects=5), specs, DuckDB(), topics=found(("syntax",), 20)), tmp_path / "cube")
    before = {path.name: path.stat().st_ino for path in (tmp_path / "cube").iterdir()}
    update_folder(tmp_path / "cube", addition(), DuckDB(), topics=found(("no text", "syntax"), 3))
    grown = read(tmp_path / "cube")
    assert grown.dimensions[0].labels == ("syntax", "no text")
    assert grown.topic_words is not None and grown.topic_words["topic"].to_pylist() == ["syntax"]
    assert grown.topic_model is not None and grown.topic_model()["term"].to_pylist() == ["tree"]
    for name in ("topics.parquet", "topic-model.parquet"):
        assert (tmp_path / "cube" / name).stat().st_ino == before[name]


def test_a_killed_update_leaves_the_old_cube_and_the_next_one_tidies_up(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    program = f"""
        import os, signal, sys
        from pathlib import Path
        sys.path += {sys.path!r}
        from cube2net.cube import DuckDB
        from cube2net.cube.storage import writer
        from updates import update_folder
        from test_cube_update_folder import addition
        writer.write_manifest = lambda *what: os.kill(os.getpid(), signal.SIGKILL)
        update_folder(Path({str(folder)!r}), addition(), DuckDB())
    """
    run_until_killed(program)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert len(list(folder.parent.iterdir())) == 3  # the cube, what was half-written, and the lock
    update_folder(folder, addition(), DuckDB())
    assert verify(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["cube"]


@pytest.mark.parametrize("name", ["objects.arrow", "links.weights.npy", "ledger.items.npy", "manifest.json"])
def test_a_damaged_cube_is_not_updated_for_its_new_checksums_would_hide_that(folder: Path, name: str) -> None:
    path = folder / name
    data = bytearray(path.read_bytes())
    place = data.index(b'"min_objects": 2') + 15 if name == "manifest.json" else len(data) // 2
    data[place] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(CubeError, match=f"is damaged: {name} was changed"):
        update_folder(folder, addition(), DuckDB())
    assert path.read_bytes() == bytes(data)


def test_a_cube_that_one_without_the_lock_changed_meanwhile_is_not_overwritten(folder: Path) -> None:
    class Busy(DuckDB):
        def run(self, *args: Any, **options: Any) -> dict[str, pa.Table]:
            write_cube(update(read(folder), addition(), DuckDB()), folder)
            return super().run(*args, **options)

    with pytest.raises(CubeError, match="was changed by another while this was made of it: do it again"):
        update_folder(folder, with_ids(addition(), 50), Busy())
    assert read(folder).settings["items"] == 23
    assert [path.name for path in folder.parent.iterdir()] == ["cube"]


def test_a_file_system_without_hard_links_gets_copies(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", refused)
    update_folder(folder, with_ids(corpus_of([(1996, ["ACL"], [0, 1])], objects=2), 20), DuckDB())
    assert verify(folder)


def test_items_that_are_known_are_refused_or_left_out_and_counted(folder: Path) -> None:
    cube = read(folder)
    both = with_ids(addition(4), 18)
    with pytest.raises(SourceError) as caught:
        update(cube, both, DuckDB())
    assert str(caught.value) == (
        "2 of the new items are in the cube already: 'i18', 'i19' (skip_known=True leaves them out, "
        "replace=True replaces them)"
    )
    grown = update(cube, leave_out_known(cube, both), DuckDB())
    assert grown.settings["items"] == 22
    assert grown.settings["dropped"]["items that were in the cube already"] == 2
    rest = part_of(both, [2, 3], list(range(7)), [])
    same = replace(rest, dropped={"items that were in the cube already": 2})
    assert_same(grown, update(cube, same, DuckDB()))
    assert leave_out_known(cube, rest) is rest


def without(corpus: Corpus, attribute: str) -> Corpus:
    return replace(corpus, items=corpus.items.drop_columns([attribute]))


def retyped(corpus: Corpus, attribute: str, values: pa.Array) -> Corpus:
    place = corpus.items.column_names.index(attribute)
    return replace(corpus, items=corpus.items.set_column(place, attribute, values))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            without(addition(), "year"),
            "the new items have no attribute 'year', which dimension 'decade' of the cube reads: they have venue",
        ),
        (
            retyped(addition(), "year", pa.array(["2020", "2021", "n.d."])),
            "attribute 'year' of the new items holds texts, and whole numbers in the cube: give it the same type",
        ),
        (
            retyped(addition(), "venue", pa.array(["A", "B", "C"])),
            "attribute 'venue' of the new items holds texts, and lists of texts in the cube: give it the same type",
        ),
        (
            addition(links=[(0, 1, 1.0)]),
            "the first links come from items that mention both ends, and the new data gives its own",
        ),
    ],
)
def test_items_that_do_not_fit_the_cube_are_refused_in_one_sentence(folder: Path, more: Corpus, sentence: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SourceError) as caught:
        update_folder(folder, more, DuckDB())
    assert str(caught.value) == sentence
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_numbers_of_another_type_fit_where_they_are_binned(folder: Path) -> None:
    more = retyped(addition(), "year", pa.array([2020.0, None, 2022.0]))
    grown = update(read(folder), more, DuckDB())
    first = corpus_of(FIRST, objects=5, kinds=KINDS)
    specs = [DimensionSpec.parse(text) for text in grown.settings["dimensions"]]
    assert_same(grown, build(concatenate(first, more), specs, DuckDB(), min_objects=2))


def test_given_links_need_given_links() -> None:
    cube = build(corpus_of(FIRST, objects=5, links=[(0, 1, 1.0)]), [DimensionSpec.parse("venue")], DuckDB())
    with pytest.raises(SourceError, match="the first links were given, and the new data gives none"):
        update(cube, addition(), DuckDB())


def test_quantiles_and_topics_that_are_missing_are_refused() -> None:
    cube = build(corpus_of(FIRST, objects=5), [DimensionSpec.parse("year@quantiles:4")], DuckDB())
    with pytest.raises(ParameterError, match="dimension 'year' has the bins 'quantiles:4', which new items would move"):
        update(cube, addition(), DuckDB())
    topics = Topics(
        ("a",), table(ASSIGNED, item=list(range(20)), topic=[0] * 20, weight=[1.0] * 20), table(WORDS), ("b",)
    )
    cube = build(corpus_of(FIRST, objects=5), [DimensionSpec("topic", "topic")], DuckDB(), topics=topics)
    with pytest.raises(ParameterError, match="dimension 'topic' needs the topics of the new items"):
        update(cube, addition(), DuckDB())
    rest = Topics(("z",), table(ASSIGNED, item=[0], topic=[0], weight=[1.0]), table(WORDS))
    with pytest.raises(SourceError, match="the topics have groups, and the new topics 'z' have none"):
        update(cube, addition(), DuckDB(), topics=rest)


def test_views_and_cubes_without_a_ledger_are_refused(folder: Path, tmp_path: Path) -> None:
    cube = read(folder)
    for view in (roll_up(cube, "venue"), dice(cube, {"venue": "ACL"})):
        with pytest.raises(CubeError, match=r"the cube is a view of another \(.*\): add the items to that one"):
            update(view, addition(), DuckDB())
        save(view, tmp_path / "view")
        with pytest.raises(CubeError, match="the cube is a view"):
            update_folder(tmp_path / "view", addition(), DuckDB())
    save(replace(cube, ledger=None), tmp_path / "old")
    assert not list((tmp_path / "old").glob("ledger*"))
    with pytest.raises(CubeError, match="the cube has no ledger of its items: build it again to add items"):
        update_folder(tmp_path / "old", addition(), DuckDB())


def test_a_damaged_ledger_and_one_of_a_newer_format_are_one_sentence(folder: Path) -> None:
    good = (folder / "ledger.parquet").read_bytes()
    (folder / "ledger.parquet").write_bytes(bytes(len(good)))
    with pytest.raises(CubeError, match="is damaged: its ledger cannot be read"):
        update(read(folder), addition(), DuckDB())
    (folder / "ledger.parquet").write_bytes(good)
    told = pq.read_table(folder / "ledger.parquet")
    newer = told.replace_schema_metadata({b"cube2net.ledger": b'{"format": 9}'})
    with pytest.raises(CubeError, match="the cube's ledger has format 9, and this cube2net reads 2"):
        Ledger.read(np.empty(0, np.uint64), {"ledger": newer})


@pytest.mark.parametrize("column", ["attribute", "parent"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_ledger_with_other_columns_is_one_sentence(folder: Path, column: str, gone: bool) -> None:
    path = folder / "ledger.parquet"
    rows = pq.read_table(path)
    place = rows.column_names.index(column)
    other = pa.array([1] * rows.num_rows)
    pq.write_table(rows.drop_columns(column) if gone else rows.set_column(place, column, other), path)
    resize(folder, path.name)
    with pytest.raises(CubeError, match="is damaged: its ledger cannot be read .its rows of ledger have"):
        update(read(folder), addition(), DuckDB())


def test_two_corpora_are_one_and_what_does_not_go_together_is_refused() -> None:
    first, more = corpus_of(FIRST, objects=5, kinds=KINDS), addition()
    words = more.labels.set_column(2, "full_name", pa.array(["Said later", None], pa.string()))
    whole = concatenate(replace(first, attribution="A; B"), replace(more, labels=words, attribution="B; C"))
    assert (whole.items.num_rows, whole.objects.num_rows, whole.attribution) == (23, 7, "A; B; C")
    assert whole.labels["full_name"].to_pylist() == ["Said later", "The KDD meeting"]
    assert concatenate(first, without(more, "venue")).items["venue"].null_count == 3
    with pytest.raises(SourceError, match="both corpora have the items 'i0', 'i1', 'i2'"):
        concatenate(first, with_ids(more, 0))
    with pytest.raises(SourceError, match="the attribute 'venue' of items holds list<item: string> first and int64"):
        concatenate(first, retyped(more, "venue", pa.array([1, 2, 3])))
    with pytest.raises(SourceError, match="one corpus has terms and the other has not"):
        concatenate(first, replace(more, terms=pa.table({"item": [0], "term": ["a"], "count": [1]}, schema=TERM_ROWS)))
