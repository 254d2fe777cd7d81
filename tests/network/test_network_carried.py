"""What the source knows of objects and links stands in the tables of nodes and links of every network."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.cube.building.build import build
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.errors import CubeError, QueryError
from cube2net.model.corpus import MENTIONS, OBJECTS, Corpus, table
from cube2net.model.cube import Cube
from cube2net.model.dimension import DimensionSpec
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.network.attributes import compute_label_shares

from toys import sent

FIXED = ["id", "name", "kind", "in_query", "label", "cells", "query_links"]


def papers(ids: list[str], *, whole: bool = False, **given: Any) -> Corpus:
    """Return four papers of three authors in two venues; ``given`` are attributes of the authors and links."""
    links, directed = given.pop("links", None), given.pop("directed", False)
    objects = table(OBJECTS, object=ids, name=["Ada", "Bob", "Eve"], kind=["author"] * 3)
    for name, column in given.items():
        objects = objects.append_column(name, pa.array(column))
    mentions = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 2), (3, 1), (3, 2)]
    return Corpus(
        objects=objects,
        items=pa.table(
            {
                "item": ["p0", "p1", "p2", "p3"],
                "venue": [["ACL"], ["ACL"], ["KDD", "ACL"], ["KDD"]],
                "year": pa.array([2001, 2002, 2003, 2004]),
            }
        ),
        mentions=table(MENTIONS, item=[i for i, _ in mentions], object=[o for _, o in mentions]),
        links=links,
        directed=directed,
        whole_ids=whole,
    )


def cube_of(corpus: Corpus, *dimensions: str, items: bool = True) -> Cube:
    specs = [DimensionSpec.parse(text) for text in dimensions or ("venue",)]
    return build(corpus, specs, DuckDB(), min_objects=1, items=items)


def network_of(cube: Cube, form: str = "cells+objects") -> Network:
    return c2n.construct(cube, Query(np.array([0, 1])), "greedy", n_cells=2, form=form)


def given_links(rows: list[tuple[int, int, float]], **more: Any) -> pa.Table:
    ends = {name: pa.array([row[at] for row in rows], pa.int32()) for at, name in enumerate(("source", "target"))}
    return pa.table({**ends, "weight": pa.array([row[2] for row in rows], pa.float32()), **more})


def by_ends(network: Network, *columns: str) -> dict[tuple[Any, Any], tuple[Any, ...]]:
    rows = network.links.to_arrow().to_pylist()
    return {
        (row["source"], row["target"]): tuple(row[name] for name in columns)
        for row in rows
        if row["kind"] != "membership"
    }


def test_attributes_items_and_commonest_labels_follow_the_fixed_columns_and_cells_have_none() -> None:
    cube = cube_of(papers(["a", "b", "e"], age=[30, None, 50], home=[["Rome", "Oslo"], [], None]))
    nodes = network_of(cube).nodes.to_arrow()
    assert nodes.column_names == [*FIXED, "age", "home", "items", "venue"]
    rows = {row["id"]: row for row in nodes.to_pylist()}
    assert [rows[key]["age"] for key in "abe"] == [30, None, 50]
    assert [rows[key]["home"] for key in "abe"] == [["Rome", "Oslo"], [], None]
    assert [rows[key]["items"] for key in "abe"] == [3, 3, 2]
    assert [rows[key]["venue"] for key in "abe"] == ["ACL", "ACL", "KDD"]
    cells = [row for row in nodes.to_pylist() if row["kind"] == "cell"]
    assert cells
    assert all(row[name] is None for row in cells for name in ("age", "home", "items", "venue"))


def test_an_attribute_called_like_a_column_of_all_nodes_gets_another_name_and_goes_before_a_dimension() -> None:
    more = {"label": ["x", "y", "z"], "items": [7, 8, 9], "label_attribute": ["p", "q", "r"], "venue": ["V", None, "W"]}
    nodes = network_of(cube_of(papers(["a", "b", "e"], **more), "venue", "kind=year@decades")).nodes.to_arrow()
    names = ["label_attribute_attribute", "items_attribute", "label_attribute", "venue", "items", "kind_label"]
    assert nodes.column_names == [*FIXED, *names]
    assert nodes["label_attribute_attribute"].to_pylist()[:3] == ["x", "y", "z"]
    assert nodes["venue"].to_pylist()[:3] == ["V", None, "W"]
    assert nodes["kind_label"].to_pylist()[:3] == ["200X"] * 3
    assert nodes["items"].to_pylist()[:3] == [3, 3, 2]


def test_a_cube_without_items_still_gives_attributes_and_no_labels() -> None:
    network = network_of(cube_of(papers(["a", "b", "e"], age=[30, 40, 50]), items=False))
    assert network.nodes.to_arrow().column_names == [*FIXED, "age"]
    assert compute_label_shares(network) == {}


def test_nothing_is_looked_up_until_nodes_are_asked_for() -> None:
    cube = cube_of(papers(["a", "b", "e"], age=[30, 40, 50]))

    def fail() -> Any:
        raise AssertionError("somebody asked")

    eager = replace(cube, objects=replace(cube.objects, load_attributes=fail), details=fail)
    network = network_of(eager)
    with pytest.raises(AssertionError, match="somebody asked"):
        _ = network.nodes


def test_shares_say_which_part_of_an_objects_items_has_a_label() -> None:
    network = network_of(cube_of(papers(["a", "b", "e"]), "venue", "year@decades"))
    shares = compute_label_shares(network)
    labels, matrix = shares["venue"]
    assert (labels, matrix.shape) == (("ACL", "KDD"), (len(network), 2))
    rows = dict(zip(list(network), matrix.toarray().tolist(), strict=True))
    assert rows["a"] == pytest.approx([1, 1 / 3])
    assert rows["b"] == pytest.approx([2 / 3, 1 / 3])
    assert rows["e"] == pytest.approx([1 / 2, 1])
    assert not matrix.toarray()[len(network.objects) :].any()
    assert shares["year"][1].toarray()[:3].tolist() == [[1.0]] * 3


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("ABCD"), max_size=3, unique=True),
            st.lists(st.integers(0, 5), max_size=4, unique=True),
        ),
        min_size=1,
        max_size=15,
    ),
    st.integers(1, 3),
)
def test_items_and_labels_are_those_that_counting_one_by_one_gives(
    rows: list[tuple[list[str], list[int]]], least: int
) -> None:
    rows = [*rows, (["D"], [5])]
    corpus = Corpus(
        objects=table(OBJECTS, object=list("abcdef"), name=list("abcdef"), kind=["o"] * 6),
        items=pa.table(
            {
                "item": [f"i{i}" for i in range(len(rows))],
                "venue": pa.array([venues for venues, _ in rows], pa.list_(pa.string())),
            }
        ),
        mentions=table(
            MENTIONS,
            item=[i for i, (_, who) in enumerate(rows) for _ in who],
            object=[o for _, who in rows for o in who],
        ),
    )
    cube = build(corpus, [DimensionSpec.parse("venue")], DuckDB(), min_objects=least)
    nodes = c2n.construct(cube, Query(np.arange(6)), "none").nodes.to_arrow()
    for who, row in enumerate(nodes.to_pylist()):
        mine = [venues for venues, mentioned in rows if who in mentioned]
        counts = {name: sum(name in venues for venues in mine) for name in "ABCD"}
        best = max(counts.values(), default=0)
        assert row["items"] == len(mine)
        assert row["venue"] == (min(name for name in counts if counts[name] == best) if best else None)


def test_whole_ids_stay_numbers_and_cells_get_numbers_below_all() -> None:
    cube = cube_of(papers(["-5", "7", "40"], whole=True))
    network = network_of(cube)
    assert network.nodes.to_arrow()["id"].type == pa.int64()
    assert list(network) == [-5, 7, 40, -6, -7]
    assert network.links.to_arrow()["source"].type == network.links.to_arrow()["target"].type == pa.int64()
    for asked in ([7, -5], np.array([7, -5]), ["7", "-5"], pa.array([7, -5]), ["Bob", -5], {7: "x", -5: "y"}):
        query = cube.query(asked)
        assert query.objects.tolist() == [0, 1]
        assert query.ids is not None and query.ids.to_pylist() == [-5, 7]
    graph = network.to_networkx()
    assert set(graph.nodes) == {-5, 7, 40, -6, -7}
    assert sent(network).nodes.to_arrow().equals(network.nodes.to_arrow())


def test_a_number_that_is_no_id_is_refused_as_a_number() -> None:
    cube = cube_of(papers(["-5", "7", "40"], whole=True))
    with pytest.raises(QueryError, match=r"query names 1 object that is not in the cube: 0$"):
        cube.query([0, 7])
    assert cube.query([0, 7], skip_missing=True).missing == ("0",)
    twice = papers(["5", "7", "40"], whole=True)
    same = replace(twice, objects=twice.objects.set_column(1, "name", pa.array(["Ada", "Ada", "Eve"])))
    with pytest.raises(QueryError, match=r"'Ada' \(use an id, for 'Ada' 5, 7\)"):
        cube_of(same).query(["Ada"])


def test_rows_where_ids_are_texts_are_refused_only_where_another_object_has_that_id() -> None:
    assert cube_of(papers(["a", "b", "e"])).query([0, 2]).objects.tolist() == [0, 2]
    assert cube_of(papers(["0", "1", "2"])).query([0, 2]).objects.tolist() == [0, 2]
    cube = cube_of(papers(["1", "2", "007"]))
    with pytest.raises(QueryError, match="query gives 1, a row number where ids are texts, and the cube has an object"):
        cube.query([1, 0])
    assert cube.query(["1"]).objects.tolist() == [0]
    assert c2n.construct(cube, Query(np.array([1])), "none").nodes.to_arrow()["id"].to_pylist() == ["2"]


def test_direction_kind_and_time_of_links_by_hand() -> None:
    links = given_links(
        [(0, 1, 1.0), (1, 0, 2.0), (0, 1, 4.0), (2, 1, 8.0), (2, 2, 1.0), (0, 2, 0.5)],
        kind=pa.array(["knows", "cites", "knows", None, "cites", "likes"]),
        time=pa.array([date(2003, 1, 1), None, date(2001, 5, 5), None, None, date(2004, 2, 2)]),
    )
    cube = cube_of(papers(["a", "b", "e"], links=links, directed=True))
    network = network_of(cube)
    assert network.links.to_arrow().column_names == [
        "source",
        "target",
        "weight",
        "kind",
        "forward",
        "backward",
        "first",
        "last",
    ]
    first = date(2001, 5, 5)
    links = by_ends(network, "weight", "kind", "forward", "backward", "first", "last")
    assert links["a", "b"] == (7.0, "cites|knows", 5.0, 2.0, first, date(2003, 1, 1))
    assert links["b", "e"] == (8.0, "link", 0.0, 8.0, None, None)
    assert links["a", "e"] == (0.5, "likes", 0.5, 0.0, date(2004, 2, 2), date(2004, 2, 2))
    members = [row for row in network.links.to_arrow().to_pylist() if row["kind"] == "membership"]
    assert members
    assert all(row[name] is None for row in members for name in ("forward", "backward", "first", "last"))
    assert sent(network).links.to_arrow().equals(network.links.to_arrow())


def test_forward_is_the_way_of_the_row_also_where_its_source_is_the_higher_object() -> None:
    links = given_links([(0, 1, 1.0), (0, 2, 2.0), (1, 2, 4.0)])
    cube = cube_of(papers(["a", "b", "e"], links=links, directed=True))
    network = c2n.construct(cube, Query(np.array([1, 2])), "hops")
    links = by_ends(network, "forward", "backward", "kind")
    assert list(network) == ["b", "e", "a"]
    assert links == {("b", "e"): (4.0, 0.0, "link"), ("b", "a"): (0.0, 1.0, "link"), ("e", "a"): (0.0, 2.0, "link")}


def test_links_of_a_cube_that_says_no_more_have_no_more_columns() -> None:
    for links in (None, given_links([(0, 1, 1.0)]), given_links([(0, 1, 1.0)], item=pa.array([2], pa.int32()))):
        network = network_of(cube_of(papers(["a", "b", "e"], links=links)))
        assert network.links.to_arrow().column_names == ["source", "target", "weight", "kind"]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(0, 2),
            st.integers(0, 4),
            st.one_of(st.none(), st.sampled_from("xyz")),
            st.one_of(st.none(), st.integers(2000, 2004)),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_what_links_say_is_what_adding_up_their_rows_gives(rows: list[tuple[int, int, int, str, int]]) -> None:
    kinds, times = pa.array([row[3] for row in rows], pa.string()), pa.array([row[4] for row in rows], pa.int32())
    links = given_links([(a, b, float(w)) for a, b, w, _, _ in rows], kind=kinds, time=times)
    cube = cube_of(papers(["a", "b", "e"], links=links, directed=True))
    for order in ([0, 1, 2], [2]):
        network = c2n.construct(cube, Query(np.array(order)), "hops")
        place = {key: number for number, key in enumerate("abe")}
        for row in network.links.to_arrow().to_pylist():
            one, other = place[row["source"]], place[row["target"]]
            mine = [given for given in rows if {given[0], given[1]} == {one, other}]
            assert row["forward"] == sum(given[2] for given in mine if given[0] == one)
            assert row["backward"] == sum(given[2] for given in mine if given[0] == other)
            assert row["kind"] == ("|".join(sorted({given[3] for given in mine if given[3]})) or "link")
            known = [given[4] for given in mine if given[4] is not None]
            assert (row["first"], row["last"]) == (min(known, default=None), max(known, default=None))
        for one, other, link in network.to_networkx().edges.data():
            ends = (place[one], place[other])
            mine = [given for given in rows if given[:2] == ends]
            if link.get("given"):
                assert link["given"] == sum(given[2] for given in mine)
                assert link["kind"] == ("|".join(sorted({given[3] for given in mine if given[3]})) or "link")
                known = [given[4] for given in mine if given[4] is not None]
                assert (link.get("first"), link.get("last")) == (min(known, default=None), max(known, default=None))


def test_ids_that_are_said_to_be_numbers_and_are_none_make_a_damaged_cube() -> None:
    cube = cube_of(papers(["a", "b", "e"]))
    wrong = replace(cube, objects=replace(cube.objects, whole=True))
    with pytest.raises(CubeError, match="its ids are said to be whole numbers, and some are none"):
        _ = network_of(wrong).nodes
