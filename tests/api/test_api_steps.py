"""The steps together: from raw data to a network, on data whose answer is known."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.cube.building.concatenation import concatenate, concatenate_topics
from cube2net.errors import ParameterError, QueryError
from cube2net.model.corpus import MENTIONS, OBJECTS, table
from cube2net.model.dimension import DimensionSpec
from cube2net.topics.lda_model import read_model
from cube2net.topics.models import TOPIC_MODELS

PARSING = "parsing of syntax trees with a dependency parser and a treebank grammar"
SPEECH = "speech recognition of noisy audio with an acoustic signal and a microphone"


FRENCH = "Dans cet article, nous présentons une étude des mots et de leur sens."
GERMAN = "In diesem Artikel zeigen wir eine Untersuchung der Wörter und wie sie mit dem Sinn zusammenhängen."


def talks(more: list[str] | None = None) -> c2n.Corpus:
    """Return papers on two topics, each by authors of its own, and some with other texts."""
    texts = [PARSING if i % 2 else SPEECH for i in range(80)]
    if more is not None:
        texts[-len(more) :] = more
    return c2n.Corpus(
        objects=table(
            OBJECTS, object=[f"o{i}" for i in range(40)], name=[f"O {i}" for i in range(40)], kind=["author"] * 40
        ),
        items=pa.table({"item": [f"i{i}" for i in range(80)], "text": texts}),
        mentions=table(
            MENTIONS, item=np.repeat(np.arange(80), 2).astype(np.int32), object=(np.arange(160) % 40).astype(np.int32)
        ),
    )


def test_the_best_cells_of_a_planted_community_are_found() -> None:
    planted = c2n.make_planted(objects=400, communities=5, cells=3, noise=0, seed=1)
    cube = c2n.build(planted.corpus, min_objects=2)
    for community in range(5):
        network = c2n.construct(cube, planted.query(community), "greedy", 3, form="objects")
        assert network.selection.value == 1.0
        assert set(network.labels) == set(planted.best_cells[community])
        assert len(network) == len(planted.query(community))


def test_a_cube_keeps_its_topic_model_and_labels_new_texts_with_it(tmp_path: Path) -> None:
    model = TOPIC_MODELS["lda"](count=2)
    cube = c2n.build(talks(), ["topic"], topics=model, min_objects=1, out=tmp_path / "cube")
    found = c2n.api.label_texts(cube, [PARSING, SPEECH, None])
    names = [found.names[topic] for topic in found.assigned["topic"].to_pylist()]
    assert len(set(names)) == 3
    assert names[2] == "no text"
    assert {names[0], names[1]} == set(cube.dimensions[0].labels)


def few(texts: list[str | None]) -> c2n.Corpus:
    """Return a few papers of one author, with texts of their own."""
    count = len(texts)
    return c2n.Corpus(
        objects=table(OBJECTS, object=["o1"], name=["O 1"], kind=["author"]),
        items=pa.table({"item": [f"new {i}" for i in range(count)], "text": pa.array(texts, pa.string())}),
        mentions=table(MENTIONS, item=list(range(count)), object=[0] * count),
    )


@pytest.mark.parametrize("groups", [None, 2])
def test_new_texts_in_a_language_that_the_cube_knows_are_called_by_it_however_few(
    groups: int | None, tmp_path: Path
) -> None:
    first, second = talks([FRENCH] * 12), few([FRENCH, GERMAN, PARSING, FRENCH, None])
    lda = TOPIC_MODELS["lda"](count=2, groups=groups)
    dimension = DimensionSpec("topic", "topic", parent="group" if groups else None)
    found = c2n.api.find_topics(first, lda)
    cube = c2n.build(first, [dimension], topics=found, min_objects=1, out=tmp_path / "cube")
    assert set(cube.dimensions[0].labels) == {*found.names} and "French text" in found.names
    grown = c2n.update(tmp_path / "cube", second)
    assert set(grown.dimensions[0].labels) == {*found.names, "other language text", "no text"}
    labelled = c2n.api.label_texts(cube, [FRENCH, GERMAN])
    assert [labelled.names[topic] for topic in labelled.assigned["topic"].to_pylist()] == [
        "French text",
        "other language text",
    ]
    assert found.model is not None
    together = concatenate_topics(found, read_model(found.model).topics(second, known=found.names), 80)
    whole = c2n.build(concatenate(first, second), [dimension], topics=together, min_objects=1)
    assert grown.dimensions[0].labels == whole.dimensions[0].labels
    assert grown.dimensions[0].levels[-1].labels == whole.dimensions[0].levels[-1].labels
    assert grown.cells.labels.tolist() == whole.cells.labels.tolist()
    assert grown.cells.members.indices.tolist() == whole.cells.members.indices.tolist()


def test_a_language_that_the_cube_has_no_label_for_is_another_one_until_there_are_enough(tmp_path: Path) -> None:
    lda = TOPIC_MODELS["lda"](count=2)
    c2n.build(talks([FRENCH] * 3), ["topic"], topics=lda, min_objects=1, out=tmp_path / "cube")
    grown = c2n.update(tmp_path / "cube", few([FRENCH] * 9))
    assert "other language text" in grown.dimensions[0].labels and "French text" not in grown.dimensions[0].labels
    texts = [GERMAN] * 10
    assert "German text" in c2n.api.label_texts(grown, texts).names
    assert "other language text" in c2n.api.label_texts(grown, texts[1:]).names


def test_a_cube_without_a_topic_model_says_so() -> None:
    planted = c2n.make_planted(objects=100, communities=2, seed=0)
    with pytest.raises(ParameterError, match="the cube has no topic model"):
        c2n.api.label_texts(c2n.build(planted.corpus), ["a text"])


def test_near_cells_share_labels_with_the_cell_they_are_near_to() -> None:
    cube = c2n.build(c2n.load_bundled(), ["year@years", "venue"])
    near = c2n.api.near_cells(cube, ("2019", "ACL"), 5)
    assert all(labels[1] == "ACL" or labels[0] == "2019" for labels in near)
    assert c2n.api.near_cells(cube, cube.find_cell(("2019", "ACL")), 5) == near
    with pytest.raises(ParameterError, match="cell is -1, expected a whole number of 0 to"):
        c2n.api.near_cells(cube, -1)


def test_names_that_are_not_there_are_refused_with_what_is() -> None:
    planted = c2n.make_planted(objects=100, communities=2, seed=0)
    cube = c2n.build(planted.corpus)
    for wrong, text in (
        ({"method": "gredy"}, "unknown method 'gredy'"),
        ({"objective": object()}, "an objective is a name"),
        ({"form": "cube"}, "unknown form 'cube'"),
        ({"method": c2n.methods.METHODS["greedy"]}, r"the method is the class Greedy, expected an object: Greedy\(\)"),
    ):
        with pytest.raises(ParameterError, match=text):
            c2n.api.construct_by_name(cube, planted.query(0), **wrong)
    with pytest.raises(ParameterError, match="unknown attribute 'venu': .*did you mean 'venue'"):
        c2n.build(planted.corpus, "venu")
    with pytest.raises(ParameterError, match="unknown engine 'sparc'"):
        c2n.build(planted.corpus, engine="sparc")


def test_a_query_made_for_another_cube_is_refused() -> None:
    small, large = (c2n.build(c2n.make_planted(objects=n, communities=2, seed=0).corpus) for n in (60, 200))
    with pytest.raises(QueryError, match="the query was made for another cube"):
        c2n.construct(small, large.query([150]))


def test_a_method_of_ones_own_is_accepted_wherever_a_name_is() -> None:
    class First:
        def select(self, cube, query, *, weights, budget, seed=0):
            objects = np.array([0, 1])
            return c2n.model.Selection(objects, weights.value(objects))

    planted = c2n.make_planted(objects=100, communities=2, seed=0)
    network = c2n.construct(c2n.build(planted.corpus), [5, 6], First())
    assert network.objects.tolist() == [5, 6, 0, 1]
    assert network.summary()["method"] == "First"


def test_a_method_that_finds_nothing_to_choose_is_the_query_alone_and_says_why() -> None:
    planted = c2n.make_planted(objects=100, communities=2, seed=0)
    cube = c2n.build(planted.corpus, min_objects=10_000)
    query = cube.query(planted.query(0))
    network = c2n.construct(cube, query, "greedy", form="objects")
    assert "in any cell, so there is nothing to choose from" in network.selection.note
    assert len(c2n.construct(cube, query, "hops")) > len(network) == len(query)
    hybrid = c2n.construct(cube, query, "greedy")
    assert hybrid.selection.note == network.selection.note and not len(hybrid.cells)
    assert len(hybrid) == 2 * len(query), "without cells the nearest objects by links are still there"
