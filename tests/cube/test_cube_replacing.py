"""Items that come again with other content, and items that go: the cube is the one built of what is left and came."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cube2net.cube.building.build import build
from cube2net.cube.building.concatenation import concatenate, concatenate_topics
from cube2net.cube.building.links import count_heavier
from cube2net.cube.building.replacing import change_items, find_changes
from cube2net.cube.storage.reader import read
from cube2net.cube.storage.writer import save
from cube2net.errors import CubeError, ParameterError, SourceError
from cube2net.model.corpus import ASSIGNED, LINKS, MENTIONS, WORDS, Corpus, Topics, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of
from updates import SPECS, Sqlite, specs_of, wholes

DECADE, VENUE = DimensionSpec.parse("decade=year@decades"), DimensionSpec.parse("venue/kind")


def leave_out(
    corpus: Corpus, ids: Collection[str], named: Collection[str] = (), links_out: Collection[int] = ()
) -> Corpus:
    """Return a corpus without some items, what they state, the objects that only they mentioned and none names, and
    some rows of links."""
    items = corpus.items["item"].to_pylist()
    stay = [row for row, item in enumerate(items) if item not in ids]
    said = list(zip(*(corpus.mentions[name].to_pylist() for name in MENTIONS), strict=True))
    ever, still = {o for _, o in said}, {o for i, o in said if i in stay}
    keys = corpus.objects["object"].to_pylist()
    keep = [o for o, key in enumerate(keys) if o in still or o not in ever or key in named]
    item_at, object_at = {old: new for new, old in enumerate(stay)}, {old: new for new, old in enumerate(keep)}
    said = [(item_at[i], object_at[o]) for i, o in said if i in item_at]
    links = corpus.links
    if links is not None:
        rows = links.to_pylist()
        kept = [
            row
            for row, link in enumerate(rows)
            if link["source"] in object_at and link["target"] in object_at
            if "item" not in link or link["item"] in item_at
            if row not in links_out
        ]
        links = links.take(pa.array(kept, pa.int64()))
        for name, place in (("source", object_at), ("target", object_at), ("item", item_at)):
            if name in links.column_names:
                column = pa.array([place[old] for old in links[name].to_pylist()], pa.int32())
                links = links.set_column(links.column_names.index(name), name, column)
    return replace(
        corpus,
        objects=corpus.objects.take(pa.array(keep, pa.int64())),
        items=corpus.items.take(pa.array(stay, pa.int64())),
        mentions=table(MENTIONS, item=[i for i, _ in said], object=[o for _, o in said]),
        links=links,
    )


def rows_of_links(corpus: Corpus, columns: Collection[str], directed: bool) -> dict[tuple[Any, ...], list[int]]:
    """Return the rows of every link, which is its ends and what the columns say of it."""
    ids, found = corpus.objects["object"].to_pylist(), {}
    for row, link in enumerate([] if corpus.links is None else corpus.links.to_pylist()):
        ends = (ids[link["source"]], ids[link["target"]])
        if ends[0] != ends[1]:
            key = (ends if directed else tuple(sorted(ends)), *(link.get(name) for name in columns))
            found.setdefault(key, []).append(row)
    return found


def links_that_come_again(first: Corpus, second: Corpus) -> tuple[list[int], list[int], dict[str, int]]:
    """Return the rows of the first's links that come again otherwise, of the second's that are there, and counts."""
    if first.links is None or second.links is None or "item" in first.links.column_names:
        return [], [], {}
    columns = [name for name in ("kind", "time") if name in first.links.column_names]
    old, new = (rows_of_links(part, columns, first.directed) for part in (first, second))
    weights = [part.links["weight"].to_pylist() for part in (first, second) if part.links is not None]
    counts = {"new": len(new.keys() - old.keys()), "replaced": 0, "unchanged": 0}
    gone, same = [], []
    for key in old.keys() & new.keys():
        one, other = [weights[0][row] for row in old[key]], [weights[1][row] for row in new[key]]
        is_same = one == other if columns or first.directed else fsum(one) == fsum(other)
        counts["unchanged" if is_same else "replaced"] += 1
        gone += [] if is_same else old[key]
        same += new[key] if is_same else []
    return gone, same, counts


def changed(cube: Cube, corpus: Corpus | None, engine: Any, remove: Collection[str] = (), **options: Any) -> Cube:
    changes = find_changes(cube, corpus, replaces=True, remove=remove, topics=options.get("topics"))
    return change_items(cube, changes, engine, topics=changes.topics)


def files_of(cube: Cube) -> dict[str, bytes]:
    with TemporaryDirectory() as place:
        save(cube, Path(place) / "cube")
        return {path.name: path.read_bytes() for path in (Path(place) / "cube").iterdir()}


def saved(cube: Cube, place: str) -> Cube:
    save(cube, Path(place) / "before")
    return read(Path(place) / "before")


def assert_same_files(one: Cube, other: Cube) -> None:
    mine, its = files_of(one), files_of(other)
    assert mine.keys() == its.keys()
    assert [name for name in mine if mine[name] != its[name]] == []


@st.composite
def corrections(draw: st.DrawFn) -> tuple[Corpus, Corpus, set[str], list[DimensionSpec]]:
    """Return a corpus, a second one with some of its ids, ids to be removed, and dimensions."""
    is_linked = draw(st.booleans())
    first, second = draw(wholes(is_linked)), draw(wholes(is_linked))
    keys = [str(3 - row) if first.whole_ids else f"o{row}" for row in range(7)]
    shift = draw(st.integers(0, 3))  # some objects are only of the second
    keys = [*keys[shift:], *(str(100 + row) if first.whole_ids else f"new{row}" for row in range(shift))]
    objects = second.objects.set_column(0, "object", pa.array(keys, pa.string()))
    second = replace(second, objects=objects, whole_ids=first.whole_ids, directed=first.directed)
    count = second.items.num_rows
    numbers = draw(st.lists(st.integers(0, 20), min_size=count, max_size=count, unique=True))
    ids = pa.array([f"i{number}" for number in numbers], pa.string())
    second = replace(second, items=second.items.set_column(0, "item", ids))
    states = draw(st.booleans())
    first, second = (_linked(draw, part, states) for part in (first, second))
    if not states and draw(st.booleans()):
        first, second = (_plain(part) for part in (first, second))
    if not states and draw(st.booleans()):
        second = _with_links_of(draw, first, second)
    old = set(first.items["item"].to_pylist()) - set(ids.to_pylist())
    remove = draw(st.sets(st.sampled_from(sorted(old)))) if old else set()
    return first, second, remove, specs_of(draw, SPECS)


def _linked(draw: st.DrawFn, corpus: Corpus, states: bool) -> Corpus:
    """Return a corpus without links of an object to itself, whose links may say the item that states them."""
    links = corpus.links
    if links is None:
        return corpus
    apart = links["source"].to_numpy() != links["target"].to_numpy()
    links = links.filter(pa.array(apart))
    if states:
        links = links.select(list(LINKS))
        rows = st.integers(0, corpus.items.num_rows - 1)
        items = draw(st.lists(rows, min_size=links.num_rows, max_size=links.num_rows))
        kinds = [("cites", "knows", "likes")[row % 3] for row in items]
        links = links.append_column("kind", pa.array(kinds, pa.string()))
        links = links.append_column("item", pa.array(items, pa.int32()))
    return replace(corpus, links=links)


def _plain(corpus: Corpus) -> Corpus:
    """Return a corpus whose links say nothing but a weight."""
    return replace(corpus, links=None if corpus.links is None else corpus.links.select(list(LINKS)), directed=False)


def _with_links_of(draw: st.DrawFn, first: Corpus, second: Corpus) -> Corpus:
    """Return a second corpus that has some links of the first, with the same weight or another."""
    if first.links is None or second.links is None:
        return second
    ids, keys = first.objects["object"].to_pylist(), second.objects["object"].to_pylist()
    more = []
    for link in first.links.to_pylist():
        ends = [ids[link[end]] for end in ("source", "target")]
        if set(ends) <= set(keys) and draw(st.booleans()):
            source, target = map(keys.index, ends)
            weight = link["weight"] if draw(st.booleans()) else 2.5
            more.append(link | {"source": source, "target": target, "weight": weight})
    kept = {name: [link.get(name) for link in more] for name in second.links.column_names}
    kinds = zip(second.links.schema, kept.values(), strict=True)
    rows = pa.table([pa.array(values, field.type) for field, values in kinds], schema=second.links.schema)
    return replace(second, links=pa.concat_tables([second.links, rows] if draw(st.booleans()) else [rows]))


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(corrections(), st.integers(1, 3))
def test_replacing_and_removing_equals_a_rebuild_byte_by_byte(made: Any, least: int) -> None:
    first, second, remove, specs = made
    ids = set(second.items["item"].to_pylist())
    assume(set(first.items["item"].to_pylist()) - ids - remove)
    try:
        cube = build(first, specs, Sqlite(), min_objects=least, max_mentions=3)
    except (SourceError, ParameterError):
        assume(False)
    gone, same, counts = links_that_come_again(first, second)
    rest = leave_out(first, ids | remove, second.objects["object"].to_pylist(), gone)
    stays = second
    if second.links is not None:
        rows = [row for row in range(second.links.num_rows) if row not in same]
        stays = replace(second, links=second.links.take(pa.array(rows, pa.int64())))
    with TemporaryDirectory() as place:
        cube = saved(cube, place)
        changes = find_changes(cube, second, replaces=True, remove=remove)
        came = changes.corpus
        assert came is not None
        assert changes.link_counts == counts
        assume(changes.counts["unchanged"] == 0)
        try:
            whole = build(concatenate(rest, stays), specs, Sqlite(), min_objects=least, max_mentions=3)
        except (SourceError, ParameterError) as error:
            with pytest.raises(type(error)):
                changed(cube, second, Sqlite(), remove)
            return
        after = changed(cube, second, Sqlite(), remove)
        assert_same_files(after, whole)
        again = find_changes(after, second, replaces=True, remove=remove)
        assert not again.has_drops and again.counts["unchanged"] == len(ids)
        assert again.corpus is not None and again.corpus.items.num_rows == 0
        assert not again.link_counts or again.link_counts["unchanged"] == sum(counts.values())


@given(wholes(), st.data())
def test_the_same_items_again_change_nothing_and_only_what_differs_is_replaced(
    first: Corpus, data: st.DataObject
) -> None:
    try:
        cube = build(first, [DECADE], Sqlite(), min_objects=1)
    except SourceError:
        assume(False)
    order = data.draw(st.permutations(range(first.items.num_rows)))
    rows = {old: new for new, old in enumerate(order)}
    mentions = table(
        MENTIONS,
        item=[rows[item] for item in first.mentions["item"].to_pylist()],
        object=first.mentions["object"],
    )
    again = replace(first, items=first.items.take(pa.array(order)), mentions=mentions)
    if again.links is not None:
        again = replace(again, links=again.links.slice(0, 0))
    changes = find_changes(cube, again, replaces=True)
    assert changes.counts == {"new": 0, "replaced": 0, "removed": 0, "unchanged": first.items.num_rows}
    assert changes.corpus is not None and changes.corpus.items.num_rows == 0 and not changes.gone.any()
    row = data.draw(st.integers(0, first.items.num_rows - 1))
    stars = [7.5 if at == row else value for at, value in enumerate(again.items["stars"].to_pylist())]
    place = again.items.column_names.index("stars")
    other = replace(again, items=again.items.set_column(place, "stars", pa.array(stars, pa.float64())))
    changes = find_changes(cube, other, replaces=True)
    assert changes.counts["replaced"] == 1 and np.flatnonzero(changes.gone).tolist() == [order[row]]


ROWS: list = [(2001, ["ACL"], [0, 1]), (2002, ["KDD"], [1, 2]), (2003, ["KDD"], [2, 3])]


def test_three_items_by_hand() -> None:
    cube = build(corpus_of(ROWS, objects=5), [DECADE, DimensionSpec.parse("venue")], Sqlite(), min_objects=1)
    again = corpus_of([(2011, ["KDD"], [1, 4]), (2003, ["KDD"], [2, 3])], objects=5)
    again = replace(again, items=again.items.set_column(0, "item", pa.array(["i1", "i2"])), gone=["i0", "w7"])
    changes = find_changes(cube, again, replaces=True)
    assert changes.counts == {"new": 0, "replaced": 1, "removed": 1, "unchanged": 1}
    after = change_items(cube, changes, Sqlite())
    assert after.items is not None and after.items().ids.to_pylist() == ["i2", "i1"]
    assert after.dimensions[0].labels == ("200X", "201X") and after.dimensions[1].labels == ("KDD",)
    assert after.objects.table["object"].to_pylist() == ["o0", "o1", "o2", "o3", "o4"]  # the new data names them all
    assert after.settings["items"] == 2 and after.links.count == 2
    gone = change_items(cube, find_changes(cube, None, replaces=False, remove=["i0", "i0", "x"]), Sqlite())
    assert gone.objects.table["object"].to_pylist() == ["o1", "o2", "o3", "o4"]  # nothing mentions o4, and nothing did
    assert gone.settings["items"] == 2


def test_given_links_go_with_the_item_that_states_them_or_with_their_ends() -> None:
    ends: dict[str, Any] = {"source": [0, 1, 2], "target": [1, 2, 3], "weight": [1.0, 0.1, 0.2]}
    plain = replace(corpus_of(ROWS, objects=5), links=table(LINKS, **ends))
    cube = build(plain, [DECADE], Sqlite(), min_objects=1)
    after = change_items(cube, find_changes(cube, None, replaces=False, remove=["i0"]), Sqlite())
    assert after.links.count == 2 and after.objects.table["object"].to_pylist() == ["o1", "o2", "o3", "o4"]
    stated = replace(plain, links=table(LINKS, **ends).append_column("item", pa.array([2, 2, 0], pa.int32())))
    cube = build(stated, [DECADE], Sqlite(), min_objects=1)
    after = change_items(cube, find_changes(cube, None, replaces=False, remove=["i0"]), Sqlite())
    assert after.links.count == 1 and after.details is not None and after.details().rows["item"].to_pylist() == [1]


def test_a_given_link_that_comes_again_replaces_the_one_that_is_there() -> None:
    ends: dict[str, Any] = {"source": [0, 1, 2, 1], "target": [1, 2, 3, 0], "weight": [1.0, 0.1, 0.2, 0.1]}
    plain = replace(corpus_of(ROWS, objects=5), links=table(LINKS, **ends))
    cube = build(plain, [DECADE], Sqlite(), min_objects=1)
    unchanged = find_changes(cube, plain, replaces=True)
    assert unchanged.link_counts == {"new": 0, "replaced": 0, "unchanged": 3} and not unchanged.has_drops
    other: dict[str, Any] = {"source": [3, 1, 0, 4], "target": [2, 2, 1, 4], "weight": [7.0, 0.1, 2.0, 1.0]}
    changes = find_changes(cube, replace(plain, links=table(LINKS, **other)), replaces=True)
    assert changes.link_counts == {"new": 0, "replaced": 2, "unchanged": 1}
    after = change_items(cube, changes, Sqlite())
    assert after.links.weights[after.links.indptr[0] : after.links.indptr[1]].tolist() == [2.0]
    assert after.links.neighbours(2).tolist() == [1, 3] and after.links.count == 3
    assert after.links.weights.max() == 7.0 and not after.ledger().rests.num_rows  # type: ignore[misc]
    assert count_heavier(cube, replace(plain, links=table(LINKS, **other))) == 3


def test_links_of_another_direction_kind_or_time_are_other_links() -> None:
    ends: dict[str, Any] = {"source": [0, 1, 0, 0], "target": [1, 0, 1, 1], "weight": [1.0, 2.0, 3.0, 4.0]}
    links = table(LINKS, **ends).append_column("kind", pa.array(["cites", "cites", "likes", "cites"]))
    links = links.append_column("time", pa.array([2000, 2000, 2000, None], pa.int32()))
    first = replace(corpus_of(ROWS, objects=5), links=links, directed=True)
    cube = build(first, [DECADE], Sqlite(), min_objects=1)
    more = table(LINKS, source=[0, 1, 0], target=[1, 0, 1], weight=[9.0, 2.0, 8.0])
    more = more.append_column("kind", pa.array(["cites", "cites", "knows"]))
    more = more.append_column("time", pa.array([2000, 2000, 2000], pa.int64()))
    changes = find_changes(cube, replace(first, links=more), replaces=True)
    assert changes.link_counts == {"new": 1, "replaced": 1, "unchanged": 1}
    after = change_items(cube, changes, Sqlite())
    assert after.details is not None
    assert sorted(after.details().rows["weight"].to_pylist()) == [2.0, 3.0, 4.0, 8.0, 9.0]
    assert after.links.weights.tolist() == [26.0, 26.0]


def test_links_alone_are_replaced_in_a_cube_that_does_not_keep_its_items() -> None:
    ends: dict[str, Any] = {"source": [0, 1], "target": [1, 2], "weight": [1.0, 2.0]}
    first = replace(corpus_of(ROWS, objects=5), links=table(LINKS, **ends))
    cube = build(first, [DECADE], Sqlite(), min_objects=1, items="none")
    none = replace(
        first,
        items=first.items.slice(0, 0),
        mentions=table(MENTIONS),
        links=table(LINKS, **ends | {"weight": [1.0, 5]}),
    )
    changes = find_changes(cube, none, replaces=True)
    assert changes.link_counts == {"new": 0, "replaced": 1, "unchanged": 1}
    assert sorted(change_items(cube, changes, Sqlite()).links.weights.tolist()) == [1.0, 1.0, 5.0, 5.0]


def test_topics_that_were_found_stay_and_a_text_that_changed_is_found_out() -> None:
    def found(names: tuple[str, ...], topics: list[int]) -> Topics:
        rows = table(ASSIGNED, item=list(range(len(topics))), topic=topics, weight=[1.0] * len(topics))
        return Topics(names, rows, table(WORDS, topic=[0], term=["tree"], weight=[0.5]))

    def with_texts(corpus: Corpus, *texts: str | None) -> Corpus:
        return replace(corpus, items=corpus.items.append_column("text", pa.array(texts, pa.string())))

    specs = [DimensionSpec("topic", "topic")]
    first = with_texts(corpus_of(ROWS, objects=4), "a", "b", None)
    cube = build(first, specs, Sqlite(), topics=found(("syntax", "speech"), [1, 0, 1]), min_objects=1)
    second = with_texts(corpus_of(ROWS, objects=4), "a", "c", None)
    changes = find_changes(cube, second, replaces=True)
    assert changes.counts == {"new": 0, "replaced": 1, "removed": 0, "unchanged": 2}
    assert changes.corpus is not None and changes.corpus.items["text"].to_pylist() == ["c"]
    with pytest.raises(ParameterError, match="the new items need topics, as the cube has"):
        change_items(cube, changes, Sqlite())
    after = change_items(cube, changes, Sqlite(), topics=found(("new",), [0]))
    rest = leave_out(first, ["i1"], first.objects["object"].to_pylist())
    whole = build(
        concatenate(rest, changes.corpus),
        specs,
        Sqlite(),
        topics=concatenate_topics(found(("syntax", "speech"), [1, 1]), found(("new",), [0]), 2),
        min_objects=1,
    )
    assert_same_files(after, whole)
    known = find_changes(cube, first, replaces=True, topics=found(("syntax", "speech"), [1, 1, 1]))
    assert known.counts["replaced"] == 1 and known.topics is not None and known.topics.assigned.num_rows == 1


def test_bins_by_quantiles_may_move_when_items_are_replaced() -> None:
    rows: list = [(2000 + i, ["KDD"], [i % 3]) for i in range(8)]
    spec = DimensionSpec.parse("year@quantiles:2")
    cube = build(corpus_of(rows, objects=3), [spec], Sqlite(), min_objects=1)
    after = change_items(cube, find_changes(cube, None, replaces=False, remove=["i7"]), Sqlite())
    assert_same_files(after, build(leave_out(corpus_of(rows, objects=3), ["i7"]), [spec], Sqlite(), min_objects=1))


def test_what_cannot_be_replaced_is_one_sentence() -> None:
    corpus = corpus_of(ROWS, objects=4)
    for items, what in (("none", "its items"), ("index", "the attributes of its items")):
        cube = build(corpus, [DECADE], Sqlite(), items=items)
        with pytest.raises(CubeError, match=f"the cube does not keep {what}: build it again to replace or remove some"):
            find_changes(cube, corpus, replaces=True)
        assert find_changes(cube, None, replaces=False, remove=["x"]).counts["removed"] == 0
    cube = build(corpus, [DECADE], Sqlite())
    with pytest.raises(SourceError, match="1 of the items to be removed come again: 'i1'"):
        find_changes(cube, corpus, replaces=True, remove=["i1"])
    every = find_changes(cube, None, replaces=False, remove=["i0", "i1", "i2"])
    with pytest.raises(SourceError, match="dimension 'decade' would have no label"):
        change_items(cube, every, Sqlite())
    other = replace(corpus, links=table(LINKS))
    with pytest.raises(SourceError, match="the first links come from items that mention both ends"):
        change_items(
            cube,
            find_changes(
                cube, replace(other, items=other.items.set_column(1, "year", pa.array([1, 2, 3]))), replaces=True
            ),
            Sqlite(),
        )
