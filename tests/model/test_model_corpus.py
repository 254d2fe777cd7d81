"""The corpus: what a source hands on is checked once."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from cube2net.errors import SourceError
from cube2net.model.corpus import LINKS, MENTIONS, OBJECTS, Corpus, table


def two_friends(**more: object) -> Corpus:
    links = table(LINKS, source=[0], target=[1], weight=[1.0])
    for name, column in more.items():
        links = links.append_column(name, column)
    return Corpus(
        objects=table(OBJECTS, object=["a", "b"], name=["Ann", "Bob"], kind=["person", "person"]),
        items=pa.table({"item": ["a", "b"], "year": [1999, 2004]}),
        mentions=table(MENTIONS, item=[0, 1], object=[0, 1]),
        links=links,
    )


def test_links_may_say_their_kind_time_and_item() -> None:
    corpus = two_friends(kind=pa.array(["knows"]), time=pa.array([2001]), item=pa.array([1], pa.int32()))
    assert corpus.links is not None
    assert corpus.links.column_names == ["source", "target", "weight", "kind", "time", "item"]


@pytest.mark.parametrize(
    ("name", "column", "sentence"),
    [
        ("kind", pa.array([3]), "links column 'kind' holds int64, expected string"),
        ("item", pa.array([2], pa.int32()), "links column 'item' points to row 2 of a table of 2 rows"),
        ("time", pa.array(["1999"]), "links column 'time' holds string, expected dates, timestamps or whole numbers"),
    ],
)
def test_what_a_link_says_must_be_of_the_right_type(name: str, column: pa.Array, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        two_friends(**{name: column})


def test_the_time_of_items_is_one_of_their_attributes() -> None:
    assert replace(two_friends(), time="year").time == "year"
    with pytest.raises(SourceError, match="items have no attribute 'yaer', said to be their time: they have year"):
        replace(two_friends(), time="yaer")


def test_columns_of_objects_beyond_the_three_are_their_attributes() -> None:
    corpus = two_friends()
    more = corpus.objects.append_column("city", pa.array(["Rome", "Oslo"]))
    assert corpus.object_attributes == ()
    assert replace(corpus, objects=more).object_attributes == ("city",)


def test_items_that_are_gone_are_ids_each_once_and_not_there() -> None:
    assert two_friends().gone.to_pylist() == []
    assert replace(two_friends(), gone=["w1", "w2", "w1"]).gone.to_pylist() == ["w1", "w2"]
    assert replace(two_friends(), gone=pa.chunked_array([["w1"], ["w2", None]])).gone.to_pylist() == ["w1", "w2"]
    there = two_friends().items["item"][0].as_py()
    with pytest.raises(SourceError, match=f"1 items are said to be gone, and are there: '{there}'"):
        replace(two_friends(), gone=("w1", there))
    with pytest.raises(SourceError, match=r"gone is \[7\], expected the ids of items, which are texts"):
        replace(two_friends(), gone=[7])


def test_an_id_that_is_there_twice_is_found_among_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cube2net.model.corpus.MANY", 10)
    ids = [f"o{number}" for number in range(40)] + ["", "é"]
    names = pa.chunked_array([ids[:7], ids[7:]], pa.string())
    objects = pa.table({"object": names, "name": names, "kind": ["one"] * len(ids)})
    corpus = replace(two_friends(), objects=objects)
    assert corpus.objects.num_rows == len(ids)
    twice = pa.concat_tables([objects, objects.slice(5, 1)])
    with pytest.raises(SourceError, match=r"^objects name 1 ids twice or more: 'o5'"):
        replace(two_friends(), objects=twice)
