from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cube2net.cube import DuckDB, build, dice, read, roll_up, save, verify
from cube2net.cube.update import leave_out_known, update, update_folder
from cube2net.cube.update_corpus import concatenate, concatenate_topics
from cube2net.cube.update_ledger import Ledger
from cube2net.errors import CubeError, ParameterError, SourceError
from cube2net.records import Corpus, Cube, DimensionSpec, Topics
from cube2net.records.corpus import LINKS, MENTIONS, TERMS, table
from cube2net.records.topics import ASSIGNED, WORDS

from corpora import corpus_of

SPECS = [
    "decade=year@decades",
    "year@years/decades",
    "stars@width:0.5",
    "stars@width:0.5/width:1.5",
    "size=stars@edges:1,2,4",
    "year@decades/state",
    "venue",
    "venue/kind",
    "city",
    "city/state",
]
TERM_ROWS = pa.schema(list(TERMS.items()))
NAMES = ["ACL", "KDD", "TACL", "WMT"]


@dataclass(frozen=True)
class Sqlite:
    """Runs the plan in Python's own database: slow with many rows, and quick to start."""

    def run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        *,
        folder: Path | None = None,
        progress: object = None,
    ) -> dict[str, pa.Table]:
        connection = sqlite3.connect(":memory:")
        for name, rows in tables.items():
            connection.execute(f"CREATE TABLE {name} ({', '.join(rows.column_names)})")
            marks = ", ".join("?" * rows.num_columns)
            values = zip(*(column.to_pylist() for column in rows.columns), strict=True)
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", values)
        for name, statement in statements.items():
            connection.execute(f"CREATE TABLE {name} AS {statement}")
        made = {}
        for name in wanted:
            cursor = connection.execute(f"SELECT * FROM {name}")
            names = [column[0] for column in cursor.description]
            kinds = [pa.float32() if column == "weight" else pa.int64() for column in names]
            columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
            made[name] = pa.table([pa.array(list(c), k) for c, k in zip(columns, kinds, strict=True)], names)
        connection.close()
        return made


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


def needed(whole: Corpus, items: set[int], links: set[int]) -> set[int]:
    pairs = zip(*(whole.mentions[name].to_pylist() for name in MENTIONS), strict=True)
    objects = {o for i, o in pairs if i in items}
    if whole.links is not None:
        ends = zip(*(whole.links[end].to_pylist() for end in ("source", "target")), strict=True)
        objects |= {o for row, pair in enumerate(ends) if row in links for o in pair}
    return objects


def maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.none(), values)


LINK_ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0, 1000, width=32, allow_subnormal=False)), max_size=12
)
ITEM = st.tuples(
    maybe(st.integers(1985, 2024)),
    st.lists(st.sampled_from(NAMES), max_size=2),
    st.lists(st.integers(0, 6), max_size=4),
    st.lists(st.sampled_from(["Reno", "Springfield", "Ulm"]), max_size=2),
    st.lists(st.sampled_from(["Illinois", "Nevada", "Ohio"]), min_size=1, max_size=2),
    maybe(st.one_of(st.integers(0, 6).map(float), st.floats(-3, 6).map(lambda x: round(x, 3)))),
)


@st.composite
def wholes(draw: st.DrawFn) -> Corpus:
    rows = draw(st.lists(ITEM, min_size=2, max_size=14))
    links = draw(maybe(LINK_ROWS))
    known = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["conference", "journal"]), min_size=1))
    plain = corpus_of([row[:3] for row in rows], objects=7, kinds=known, links=links)
    items = plain.items
    for name, place, kind in (("city", 3, pa.list_(pa.string())), ("state", 4, pa.list_(pa.string()))):
        items = items.append_column(name, pa.array([row[place] for row in rows], kind))
    items = items.append_column("stars", pa.array([row[5] for row in rows], pa.float64()))
    return replace(plain, items=items, dropped={"papers without authors": 2}, attribution="by hand")


def specs_of(draw: st.DrawFn, texts: list[str]) -> list[DimensionSpec]:
    chosen = draw(st.lists(st.sampled_from(texts), min_size=1, max_size=3, unique=True))
    specs = [DimensionSpec.parse(text) for text in chosen]
    taken = [name for spec in specs for name in (spec.name, spec.parent) if name is not None]
    assume(len(set(taken)) == len(taken))
    return specs


@st.composite
def splits(draw: st.DrawFn) -> tuple[Corpus, Corpus]:
    """Return two parts of a corpus; each has the objects it needs and some others, in any order."""
    whole = draw(wholes())
    count = whole.items.num_rows
    rows = 0 if whole.links is None else whole.links.num_rows
    here = {i for i in range(count) if draw(st.booleans())}
    linked = {i for i in range(rows) if draw(st.booleans())}
    parts = []
    for items, links in ((here, linked), (set(range(count)) - here, set(range(rows)) - linked)):
        objects = needed(whole, items, links) | {o for o in range(7) if draw(st.booleans())}
        order = draw(st.permutations(sorted(objects)))
        parts.append(part_of(whole, sorted(items), order, sorted(links)))
    known = whole.labels
    words = [draw(maybe(st.sampled_from(["Said later", ""]))) for _ in range(known.num_rows)]
    kinds = [draw(maybe(st.sampled_from(["journal", "workshop"]))) for _ in range(known.num_rows)]
    later = known.set_column(2, "full_name", pa.array(words, pa.string()))
    later = later.set_column(3, "parent", pa.array(kinds, pa.string()))
    first = known.slice(draw(st.integers(0, known.num_rows - 1)))
    return replace(parts[0], labels=first), replace(parts[1], labels=later)


def written_and_read(cube: Cube) -> Cube:
    """Return a cube whose ledger went through its tables."""
    assert cube.ledger is not None
    names = [dimension.name for dimension in cube.dimensions]
    ledger = Ledger.read(cube.ledger().items, cube.ledger().tables(names), names)
    return replace(cube, ledger=lambda: ledger)


def refused_or(make: Callable[[], Cube]) -> Cube | Exception:
    try:
        return make()
    except (SourceError, ParameterError) as error:
        return error


@settings(max_examples=70, deadline=None)
@given(splits(), st.data(), st.integers(1, 3), st.integers(2, 4))
def test_an_update_equals_a_rebuild_for_any_split(
    parts: tuple[Corpus, Corpus], data: st.DataObject, least: int, most: int
) -> None:
    specs = specs_of(data.draw, SPECS)
    options: dict[str, Any] = {"min_objects": least, "max_mentions": most}
    first = refused_or(lambda: build(parts[0], specs, Sqlite(), **options))
    assume(isinstance(first, Cube))
    assert isinstance(first, Cube)
    whole = refused_or(lambda: build(concatenate(*parts), specs, Sqlite(), **options))
    grown = refused_or(lambda: update(written_and_read(first), parts[1], Sqlite()))
    if isinstance(whole, Cube):
        assert isinstance(grown, Cube), grown
        assert_same(grown, whole)
    else:
        assert str(grown) == str(whole)


@settings(max_examples=25, deadline=None)
@given(splits(), st.data())
def test_topics_that_are_given_grow_as_if_they_were_one_table(
    parts: tuple[Corpus, Corpus], data: st.DataObject
) -> None:
    grouped = data.draw(st.booleans())
    found = []
    for part, names in zip(parts, (("syntax", "speech", "unused"), ("no text", "unused", "speech")), strict=True):
        count = part.items.num_rows
        rows = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
        found.append(
            Topics(
                names,
                table(ASSIGNED, item=list(range(count)), topic=rows, weight=[1.0] * count),
                table(WORDS, topic=[1], term=["sound"], weight=[0.5]),
                tuple(f"{name[0]} group" for name in names) if grouped else None,
                {"model": "by hand"},
            )
        )
    assume(parts[0].items.num_rows)
    specs = [DimensionSpec("topic", "topic", parent="group" if grouped else None)]
    first = build(parts[0], specs, Sqlite(), topics=found[0], min_objects=1)
    together = concatenate_topics(*found, parts[0].items.num_rows)
    whole = build(concatenate(*parts), specs, Sqlite(), topics=together, min_objects=1)
    assert_same(update(first, parts[1], Sqlite(), topics=found[1]), whole)


@settings(max_examples=6, deadline=None)
@given(wholes(), st.integers(0, 14))
def test_a_corpus_cut_in_two_gives_the_cube_of_the_corpus(whole: Corpus, cut: int) -> None:
    count = whole.items.num_rows
    links = list(range(0 if whole.links is None else whole.links.num_rows))
    first = part_of(whole, list(range(min(cut, count))), list(range(7)), links[:cut])
    second = part_of(whole, list(range(min(cut, count), count)), list(range(7)), links[cut:])
    specs = [DimensionSpec.parse("year@years/decades"), DimensionSpec.parse("venue/kind")]
    cube = refused_or(lambda: build(first, specs, DuckDB(), min_objects=2))
    assume(isinstance(cube, Cube))
    assert isinstance(cube, Cube)
    counted = {"dropped": {"papers without authors": 4}}
    assert_same(update(cube, second, DuckDB()), build(replace(whole, **counted), specs, DuckDB(), min_objects=2))


def test_three_items_by_hand() -> None:
    first = corpus_of([(1999, ["KDD"], [0, 1]), (2003, ["ACL"], [1])], objects=2)
    more = corpus_of([(2004, ["ACL"], [1, 0])], objects=2)
    ids = more.objects.set_column(0, "object", pa.array(["o1", "o7"]))
    more = replace(more, objects=ids, items=more.items.set_column(0, "item", pa.array(["i2"])))
    specs = [DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue")]
    cube = build(first, specs, DuckDB(), min_objects=2)
    assert [cube.cell(i) for i in range(len(cube.cells))] == [("199X", "KDD")]
    grown = update(cube, more, DuckDB())
    assert [grown.cell(i) for i in range(len(grown.cells))] == [("199X", "KDD"), ("200X", "ACL")]
    assert [grown.cells.members[i].tolist() for i in range(2)] == [[0, 1], [0 + 1, 2]]
    assert [grown.homes[i].tolist() for i in range(3)] == [[0], [0, 1], [1]]
    assert [grown.links.neighbours(i).tolist() for i in range(3)] == [[1], [0, 2], [1]]
    assert grown.objects.table["object"].to_pylist() == ["o0", "o1", "o7"]
    assert len(grown.small) == 0
    assert (grown.settings["items"], grown.settings["dropped"]) == (3, {})
    assert (len(cube.small), cube.settings["dropped"]) == (1, {"cells with fewer than 2 objects": 1})


def with_ids(corpus: Corpus, start: int) -> Corpus:
    """Return a corpus whose items are numbered from ``start`` on."""
    ids = pa.array([f"i{start + i}" for i in range(corpus.items.num_rows)], pa.string())
    return replace(corpus, items=corpus.items.set_column(0, "item", ids))


def test_the_parent_that_most_items_have_may_change_and_strays_are_counted_anew() -> None:
    def cities(states: list[str]) -> Corpus:
        plain = corpus_of([(2003, [], [0])] * len(states), objects=1)
        items = plain.items.append_column("city", pa.array(["Springfield"] * len(states)))
        return replace(plain, items=items.append_column("state", pa.array(states)))

    spec = DimensionSpec.parse("city/state")
    cube = build(cities(["Ohio", "Ohio", "Illinois"]), [spec], DuckDB(), min_objects=1)
    assert cube.settings["dropped"] == {"items whose state is not that of most items of their city": 1}
    grown = update(cube, with_ids(cities(["Illinois", "Illinois"]), 3), DuckDB())
    fine, coarse = grown.dimensions[0].levels
    assert fine.parents is not None
    assert [coarse.labels[i] for i in fine.parents] == ["Illinois"]
    assert grown.settings["dropped"] == {"items whose state is not that of most items of their city": 2}


def test_a_fraction_in_the_past_still_shows_in_the_names_of_bins() -> None:
    def rated(*stars: float) -> Corpus:
        plain = corpus_of([(2003, [], [0])] * len(stars), objects=1)
        return replace(plain, items=plain.items.append_column("stars", pa.array(stars)))

    specs = [DimensionSpec.parse("stars@edges:1,4,9")]
    first, more = rated(1.0, 2.5, 3.0), with_ids(rated(5.0), 3)
    cube = build(first, specs, DuckDB(), min_objects=1)
    assert cube.dimensions[0].labels == ("1–4",)
    grown = update(cube, more, DuckDB())
    assert grown.dimensions[0].labels == ("1–4", "4–9")
    assert_same(grown, build(concatenate(first, more), specs, DuckDB(), min_objects=1))
    whole = update(build(rated(1.0), specs, DuckDB(), min_objects=1), with_ids(rated(2.5), 1), DuckDB())
    assert whole.dimensions[0].labels == ("1–4",)


def test_sums_of_weights_are_rounded_once() -> None:
    rows: list = [(2003, ["KDD"], [0, 1])]
    tiny = 2.0**-25
    first = corpus_of(rows, objects=2, links=[(0, 1, 1.0), (1, 0, tiny)])
    more = with_ids(corpus_of(rows, objects=2, links=[(0, 1, tiny)]), 1)
    cube = build(first, [DimensionSpec.parse("venue")], DuckDB(), min_objects=1)
    assert cube.links.weights.tolist() == [1.0, 1.0]
    grown = update(cube, more, DuckDB())
    assert_same(grown, build(concatenate(first, more), [DimensionSpec.parse("venue")], DuckDB(), min_objects=1))
    again = update(grown, with_ids(replace(more, links=more.links.take([0, 0])), 2), DuckDB())
    assert again.links.weights.tolist() == [1.0 + 2.0**-23] * 2


FIRST: list = [(1995 + i, [NAMES[i % 3]], [i % 5, (i * 3) % 5]) for i in range(20)]
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
    for path in folder.glob("*.npy"):
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
        from cube2net.cube import DuckDB, manifest
        from cube2net.cube.update import update_folder
        from test_cube_update import addition
        manifest._seal = lambda what: os.kill(os.getpid(), signal.SIGKILL)
        update_folder(Path({str(folder)!r}), addition(), DuckDB())
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert len(list(folder.parent.iterdir())) == 2
    update_folder(folder, addition(), DuckDB())
    assert verify(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["cube"]


def test_a_cube_that_another_changed_meanwhile_is_not_overwritten(folder: Path) -> None:
    class Busy(DuckDB):
        def run(self, *args: Any, **options: Any) -> dict[str, pa.Table]:
            update_folder(folder, addition(), DuckDB())
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
        "2 of the new items are in the cube already: 'i18', 'i19' (--skip-known leaves them out)"
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
    with pytest.raises(CubeError, match="the cube has no ledger of its items, .*: build it again to add items"):
        update_folder(tmp_path / "old", addition(), DuckDB())


def test_a_damaged_ledger_and_one_of_a_newer_format_are_one_sentence(folder: Path) -> None:
    good = (folder / "ledger.parquet").read_bytes()
    (folder / "ledger.parquet").write_bytes(bytes(len(good)))
    with pytest.raises(CubeError, match="is damaged: its ledger cannot be read"):
        update_folder(folder, addition(), DuckDB())
    (folder / "ledger.parquet").write_bytes(good)
    told = pq.read_table(folder / "ledger.parquet")
    newer = told.replace_schema_metadata({b"cube2net.ledger": b'{"format": 9}'})
    with pytest.raises(CubeError, match="the cube's ledger has format 9: install a newer cube2net to update it"):
        Ledger.read(np.empty(0, np.uint64), {"ledger": newer}, ["decade", "venue"])


def test_two_corpora_are_one_and_what_does_not_go_together_is_refused() -> None:
    first, more = corpus_of(FIRST, objects=5, kinds=KINDS), addition()
    words = more.labels.set_column(2, "full_name", pa.array(["Said later", None], pa.string()))
    whole = concatenate(replace(first, attribution="A; B"), replace(more, labels=words, attribution="B; C"))
    assert (whole.items.num_rows, whole.objects.num_rows, whole.attribution) == (23, 7, "A; B; C")
    assert whole.labels["full_name"].to_pylist() == ["Said later", "The KDD meeting"]
    assert concatenate(first, without(more, "venue")).items["venue"].null_count == 3
    with pytest.raises(SourceError, match="both corpora have the items 'i0', 'i1', 'i2'"):
        concatenate(first, with_ids(more, 0))
    with pytest.raises(SourceError, match="the items of two corpora do not go together"):
        concatenate(first, retyped(more, "venue", pa.array([1, 2, 3])))
    with pytest.raises(SourceError, match="one corpus has terms and the other has not"):
        concatenate(first, replace(more, terms=pa.table({"item": [0], "term": ["a"], "count": [1]}, schema=TERM_ROWS)))
