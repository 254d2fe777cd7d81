import zlib
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.cube.storage.writer import make_lookup
from cube2net.errors import ParameterError, QueryError
from cube2net.model.dimension import Dimension, Level
from cube2net.model.node_names import resolve_node
from cube2net.model.objects import Objects
from cube2net.model.query import find_rows
from cube2net.model.selection import Selection
from cube2net.network.assembly import assemble

from toys import toy_cube


@given(st.text(max_size=12))
def test_any_text_may_be_looked_for(text: str) -> None:
    objects = Objects.of(pa.table({"object": ["a"], "name": ["“Foo” Bar"], "kind": ["x"]}))
    assert isinstance(objects.near(text), list)
    assert len(objects.find([text]).rows) == 1


def test_a_name_that_several_bear_comes_with_their_ids() -> None:
    cube = toy_cube([[0, 1]], objects=3)
    table = cube.objects.table.set_column(1, "name", pa.array(["Wei", "Wei", "Ada"]))
    with pytest.raises(QueryError, match=r"that several objects bear: 'Wei' \(use an id, for 'Wei' 'o0', 'o1'\)"):
        replace(cube, objects=Objects.of(table)).query(["Wei"])


def test_a_cell_never_has_the_id_of_an_object() -> None:
    cube = toy_cube([[0, 1]], objects=2)
    table = cube.objects.table.set_column(0, "object", pa.array(["cell:label 0", "o1"]))
    cube = replace(cube, objects=Objects.of(table))
    chosen = Selection(np.array([0, 1]), 1.0, cells=np.array([0]), values=np.array([1.0]))
    nodes = assemble(cube, cube.query([0]), chosen, "cells+objects").nodes.to_arrow()
    assert nodes["id"].to_pylist() == ["cell:label 0", "o1", "cell:label 0 (2)"]


def test_a_name_that_begins_with_what_was_asked_is_suggested_in_capitals_or_not() -> None:
    names = ["The Matrix (1999)", "The Matrix Reloaded (2003)", "Grace Hopper"]
    objects = Objects.of(pa.table({"object": ["a", "b", "c"], "name": names, "kind": ["x"] * 3}))
    assert objects.near("the matrix") == ["The Matrix (1999)"]
    assert objects.near("grace hoper") == ["Grace Hopper"]


def test_a_cell_is_found_by_its_labels() -> None:
    cube = toy_cube([[0, 1], [1]], objects=2)
    assert cube.find_cell(["label 1"]) == 1
    with pytest.raises(ParameterError, match="a cell of this cube has 1 labels, got"):
        cube.find_cell(["label 1", "label 0"])
    with pytest.raises(ParameterError, match="unknown label of 'group' 'label 7'"):
        cube.find_cell(["label 7"])


TEXTS = st.sampled_from(["a", "b", "ab", "plumless", "buckeroo", "Ünal", "o1"])


@given(st.lists(TEXTS, unique=True, min_size=1), st.data())
def test_objects_are_found_by_lookups_as_by_looking_through_all(ids: list[str], data: st.DataObject) -> None:
    names = data.draw(st.lists(TEXTS, min_size=len(ids), max_size=len(ids)))
    table = pa.table({"object": ids, "name": names, "kind": ["author"] * len(ids)})
    plain = Objects.of(table)
    lookups = {column: make_lookup(table[column]) for column in ("object", "name")}
    quick = Objects(len(ids), lambda: table, lookups)
    keys = data.draw(st.lists(st.one_of(TEXTS, st.text(max_size=3))))
    one, other = plain.find(keys), quick.find(keys)
    assert one.rows.tolist() == other.rows.tolist()
    assert (one.missing, one.ambiguous) == (other.missing, other.ambiguous)


def test_two_texts_of_the_same_checksum_are_told_apart() -> None:
    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    texts = pa.chunked_array([["buckeroo", "plumless", "buckeroo"]])
    table = pa.table({"object": ["1", "2", "3"], "name": texts, "kind": ["author"] * 3})
    quick = Objects(3, lambda: table, {column: make_lookup(table[column]) for column in ("object", "name")})
    found = quick.find(["plumless", "buckeroo"])
    assert found.rows.tolist() == [1, -1]
    assert found.ambiguous == ("buckeroo",)


def test_a_query_by_what_is_an_attribute_says_which() -> None:
    table = pa.table({"object": ["a", "b", "c"], "name": ["a", "b", "c"], "kind": ["node"] * 3})
    firms = pa.table({"size": [1, 2, 3], "Firma": ["Bau AG", "Holz KG", "Holz AG"]})
    objects = Objects.of(table, attributes=firms)
    with pytest.raises(QueryError) as error:
        find_rows(objects, ["Bau AG", "Holz AG"], False)
    assert str(error.value) == (
        "query names 2 objects that are not in the cube: 'Bau AG', 'Holz AG'; the attribute 'Firma' of objects has "
        "them, and they are names once the cube is built with columns={'name': 'Firma'}"
    )
    for keys in (["a", "b", "Bau AG"], ["x", "y"]):
        with pytest.raises(QueryError) as error:
            find_rows(objects, keys, False)
        assert "attribute" not in str(error.value)


def test_a_query_by_what_items_have_says_so() -> None:
    papers = pa.table(
        {
            "paper": ["p1", "p1", "p2", "p2"],
            "author": ["ann", "bob", "bob", "cy"],
            "venue": ["ACL", "ACL", "KDD", "KDD"],
            "title": ["On cubes", "On cubes", "On links", "On links"],
        }
    )
    cube = c2n.build(papers, ["venue"], item="paper", objects="author", min_objects=1)
    for asked, attribute in ((["ACL", "KDD"], "venue"), (["On cubes"], "title")):
        with pytest.raises(
            QueryError, match=f"; the attribute '{attribute}' of items has them, and a query names objects$"
        ):
            cube.query(asked)
    with pytest.raises(QueryError, match="not in the cube: 'ACL', 'On cubes'$"):
        cube.query(["ACL", "On cubes"])


def test_numbers_are_not_taken_for_slips_of_other_numbers() -> None:
    table = pa.table({"object": ["1220198", "x"], "name": ["1220198", "Ann Lee"], "kind": ["node"] * 2})
    with pytest.raises(QueryError) as error:
        find_rows(Objects.of(table), ["1220199", "Ann Leo"], False)
    assert str(error.value) == (
        "query names 2 objects that are not in the cube: '1220199', 'Ann Leo' (did you mean 'Ann Lee' for 'Ann Leo'?)"
    )


def test_nobody_is_told_to_leave_all_of_a_query_out() -> None:
    names = [f"nobody {at}" for at in range(5)]
    objects = Objects.of(pa.table({"object": ["a"], "name": ["a"], "kind": ["node"]}))
    for keys, is_advised in ((names, False), ([*names, "a"], True)):
        with pytest.raises(QueryError) as error:
            find_rows(objects, keys, False)
        assert ("skip_missing" in str(error.value)) is is_advised


ONE, TWO = "Jos\u00e9 Mu\u00f1oz", "Jose\u0301 Mun\u0303oz"


@pytest.mark.parametrize(("kept", "typed"), [(ONE, TWO), (TWO, ONE)])
def test_accents_may_be_typed_as_a_sign_of_their_own_or_with_their_letter(kept: str, typed: str) -> None:
    objects = Objects.of(pa.table({"object": ["a", "b"], "name": [kept, "Jose Munoz"], "kind": ["p", "p"]}))
    found = objects.find([typed, kept, "Jose Munoz", typed + "!"])
    assert found.rows.tolist() == [0, 0, 1, -1] and found.missing == (typed + "!",)


def test_names_that_only_look_the_same_stay_two_objects() -> None:
    mixed = "Jos\u00e9 Mun\u0303oz"
    objects = Objects.of(pa.table({"object": ["a", "b"], "name": [ONE, TWO], "kind": ["p", "p"]}))
    assert objects.find([ONE, TWO]).rows.tolist() == [0, 1]
    assert objects.find([mixed]).ambiguous == (mixed,)
    assert objects.bearers(mixed) == ["a", "b"]


def test_labels_are_found_with_accents_typed_otherwise() -> None:
    level = Level("venue", ("Universit\u00e9", "ACL"), ("", ""))
    assert level.number("Universite\u0301") == 0
    with pytest.raises(ParameterError, match="unknown label"):
        level.number("Universite")
    cube = toy_cube([[0], [1]], objects=2)
    names = ("caf\u00e9", "th\u00e9")
    cube = replace(cube, dimensions=(Dimension((Level("group", names, names),)),))
    assert resolve_node(cube, "cafe\u0301") == resolve_node(cube, "caf\u00e9")
