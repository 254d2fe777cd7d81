"""The method auto on planted corpora: the choice by labels or hidden links, and slips."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cube2net as c2n
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.evaluation import auto
from cube2net.evaluation import auto as racing
from cube2net.evaluation.auto import MIN_LABELS, list_candidates
from cube2net.evaluation.configurations import DEFAULT
from cube2net.mining.clustering import METRICS
from cube2net.mining.node_embeddings import DeepWalk
from cube2net.model.comparison import Configuration
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query

from toys import toy_cube

QUICK = DeepWalk(dimensions=16, walks=8, length=20)


# Too few labels


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (
            ["a", "b", "a"] * 3 + [""] * 40,
            "'auto' chooses by labels, and 9 objects of the query have one, expected 10 or more: give more labels, or "
            "none, or choose a method",
        ),
        (
            ["a"] * 30 + [""],
            "clustering is judged by labels, and the query has 1 different labels, expected 2 or more: give them in "
            "the column label, beside object",
        ),
    ],
    ids=["few", "one"],
)
@pytest.mark.parametrize("method", ["auto", c2n.methods.Auto()])
def test_too_few_labels_to_choose_by_are_one_sentence(labels: list[str], sentence: str, method: Any) -> None:
    count = len(labels)
    cube = toy_cube([[0, 1]], objects=count, links=[(0, 1)])
    with pytest.raises(QueryError) as caught:
        c2n.construct(cube, Query(np.arange(count), tuple(labels)), method)
    assert str(caught.value) == sentence and MIN_LABELS == 10


# On planted corpora


def planted(seed: int = 0, **options: Any) -> tuple[Cube, Query]:
    """Return a cube of six communities, and thirty objects of each of three, labelled by their community."""
    made = c2n.make_planted(objects=240, communities=6, cells=2, seed=seed, **options)
    cube = c2n.build(made.corpus, min_objects=3)
    return cube, cube.query({name: f"group {group}" for group in range(3) for name in made.query(group)[:30]})


def half(query: Query) -> Query:
    assert query.labels is not None
    return replace(query, labels=tuple(label if place % 2 else "" for place, label in enumerate(query.labels)))


def held_out(network: Network, query: Query) -> float:
    """Return the mean score on the labels that were not given."""
    assert query.labels is not None
    labels = query.labels[::2]
    found = [c2n.api.cluster_query(network, QUICK, 3, seed=seed).labels[::2] for seed in (50, 51, 52)]
    return float(np.mean([METRICS["F1"](clusters, labels) for clusters in found]))


@pytest.fixture(scope="module")
def by_cells() -> tuple[Cube, Query]:
    """Communities that cells hold, and links say nothing of."""
    return planted(noise=0.02, links=1.0, within=0.2)


@pytest.fixture(scope="module")
def chosen(by_cells: tuple[Cube, Query]) -> Network:
    cube, query = by_cells
    return c2n.construct(cube, half(query), c2n.methods.Auto(runs=2, seconds=600.0, embedding=QUICK))


def test_where_cells_say_everything_cells_are_chosen_and_that_holds_for_other_labels(
    chosen: Network, by_cells: tuple[Cube, Query]
) -> None:
    cube, query = by_cells
    assert chosen.form in ("cells", "cells+objects", "hybrid") and len(chosen.cells)
    assert held_out(chosen, query) > 0.9 > 0.7 > held_out(c2n.construct(cube, query, "none"), query)


def test_the_network_says_what_was_chosen_what_was_tried_and_what_that_is_worth(chosen: Network) -> None:
    tried = chosen.settings["tried"]
    assert {row["configuration"] for row in tried} == {config.name for config in list_candidates()}
    mined = [row for row in tried if "F1" in row]
    scores = [row["F1"] for row in mined]
    assert scores == sorted(scores, reverse=True) and all(row["runs"] in (1, 2) for row in mined)
    assert all(row["reason"].startswith("its network is that of ") for row in tried if row not in mined)
    own = next(row for row in tried if row["configuration"] == chosen.settings["chosen"])
    alone = next(row for row in tried if row["configuration"] == "none")
    assert own["nodes"] == len(chosen) and own["runs"] == alone["runs"] == 2
    note = chosen.selection.note
    assert note.startswith(f"chosen by 45 labels: {own['configuration']}, of {len(mined)} configurations tried in ")
    default = next(row for row in tried if row["configuration"] == DEFAULT.name)
    beside = "" if own == default else f", the default {default['F1']:.3f}"
    assert f"(2 runs: F1 {own['F1']:.3f}{beside}, the query alone {alone['F1']:.3f}); on other labels expect " in note
    about = chosen.summary()
    assert (about["chosen"], about["tried"], about["note"]) == (own["configuration"], tried, note)


def test_the_network_is_the_one_that_construct_gives_for_what_was_chosen(
    chosen: Network, by_cells: tuple[Cube, Query]
) -> None:
    config = next(config for config in list_candidates() if config.name == chosen.settings["chosen"])
    options: dict[str, Any] = {"levels": config.levels or None, "n_neighbors": config.n_neighbors}
    options |= {"objective": config.objective, "form": config.form}
    options |= {"membership_weights": config.membership_weights or None}
    same = c2n.api.construct_by_name(by_cells[0], chosen.query, config.method, config.n_cells or None, **options)
    for part in ("objects", "cells", "source", "target", "weight"):
        assert np.array_equal(getattr(chosen, part), getattr(same, part))
    assert chosen.selection.note.endswith(same.selection.note)


FEW = [
    Configuration(method="none"),
    *(Configuration(method="greedy", objective="jaccard", form=form, n_cells=4) for form in ("cells", "objects")),
]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few configurations to try."""
    like = Configuration(method="pagerank", like=FEW[1].name)
    monkeypatch.setattr(auto, "list_candidates", lambda: [*FEW, like, Configuration(method="pagerank")])


@pytest.mark.usefixtures("few")
def test_where_links_say_everything_and_cells_nothing_the_choice_is_not_clearly_worse_than_the_query_alone() -> None:
    cube, query = planted(noise=0.9, links=10.0, within=0.95)
    network = c2n.construct(cube, half(query), c2n.methods.Auto(runs=2, seconds=600.0, embedding=QUICK))
    alone = held_out(c2n.construct(cube, query, "none"), query)
    assert alone > 0.9 and held_out(network, query) > alone - 0.05


@pytest.mark.usefixtures("few")
def test_the_same_seed_makes_the_same_choice_whatever_the_number_of_cores(
    by_cells: tuple[Cube, Query], monkeypatch: pytest.MonkeyPatch
) -> None:
    cube, query = by_cells
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(racing, "cores", lambda cores=cores: cores)
        method = c2n.methods.Auto(runs=2, seconds=600.0, embedding=QUICK)
        found.append(c2n.construct(cube, half(query), method, seed=4))
    assert found[0].settings == found[1].settings and np.array_equal(found[0].objects, found[1].objects)
    assert found[0].settings["seed"] in (0, 4)


@pytest.mark.usefixtures("few")
def test_auto_is_a_method_by_name_and_takes_labels_as_a_mapping(by_cells: tuple[Cube, Query]) -> None:
    cube, query = by_cells
    assert query.labels is not None
    names = cube.objects.table["object"].take(query.objects).to_pylist()
    network = c2n.construct(cube, dict(zip(names, query.labels, strict=True)), "auto")
    assert network.selection.note.startswith(
        "chosen by 90 labels: greedy · jaccard · cells · n_cells 4, of 5 configurations tried in"
    )
    assert {row["runs"] for row in network.settings["tried"]} <= {1, 2, 3, 4, 5}


def test_with_hardly_any_time_the_answer_is_what_there_was_time_for(by_cells: tuple[Cube, Query]) -> None:
    cube, query = by_cells
    network = c2n.construct(cube, query, c2n.methods.Auto(seconds=1e-9, embedding=QUICK))
    tried = [row for row in network.settings["tried"] if "F1" in row]
    rest = [row for row in network.settings["tried"] if "F1" not in row]
    assert "none" in {row["configuration"] for row in tried} and {row["runs"] for row in tried} <= {1, 2}
    assert rest and {row["reason"] for row in rest} == {"there was no time to try it"}
    assert len(tried) + len(rest) == len(list_candidates())


# Bad input


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seconds": 0}, "seconds is 0, expected a number above 0"),
        ({"seconds": float("nan")}, "seconds is nan, expected a number above 0"),
        ({"seconds": float("inf")}, "seconds is inf, expected a number above 0"),
        ({"seconds": "9"}, "seconds is '9', expected a number above 0"),
        ({"runs": 0}, "runs is 0, expected a whole number of 1 or more"),
        ({"runs": 2.5}, "runs is 2.5, expected a whole number of 1 or more"),
        ({"folds": 1}, "folds is 1, expected a whole number of 2 or more"),
        ({"embedding": "walk"}, "unknown embedding 'walk': choose one of deepwalk, line, node2vec"),
        ({"embedding": 3}, "an embedding is a name (deepwalk, line, node2vec) or an object like one, got 3"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_refused_with_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        c2n.methods.Auto(**options)
    assert str(caught.value).startswith(sentence)


def test_a_wrong_seed_and_a_query_of_another_cube_are_refused(by_cells: tuple[Cube, Query]) -> None:
    cube, query = by_cells
    with pytest.raises(ParameterError, match="seed is -1, expected a whole number of 0 or more"):
        c2n.construct(cube, query, "auto", seed=-1)
    with pytest.raises(InputError, match="the query was made for another cube: it names row 299"):
        c2n.construct(cube, replace(query, objects=query.objects + 299 - query.objects[-1]), "auto")


# Without labels


def test_without_labels_the_query_s_own_hidden_links_are_chosen_by() -> None:
    made_up = c2n.make_planted(objects=240, communities=6, cells=2, noise=0.02, links=6.0, within=0.9, seed=1)
    cube = c2n.build(made_up.corpus, min_objects=3)
    query = cube.query([name for group in range(3) for name in made_up.query(group)[:30]])
    network = c2n.construct(cube, query, c2n.methods.Auto(runs=2, seconds=600.0, embedding=QUICK))
    tried = network.settings["tried"]
    assert {row["configuration"] for row in tried} == {config.name for config in list_candidates()}
    finalists = {row["configuration"]: row["AUC"] for row in tried if row.get("runs") == 2}
    assert network.settings["chosen"] == DEFAULT.name and finalists[DEFAULT.name] > 0.6
    assert {"none", DEFAULT.name} < finalists.keys() and len(finalists) < len(list_candidates()) - 1
    assert network.selection.note.startswith("chosen by ") and " hidden links of the query: " in network.selection.note
    assert len(network.query) == 90 and network.query.labels is None


def test_where_too_few_links_can_be_hidden_the_default_is_taken_and_that_is_said() -> None:
    cube = toy_cube([[0, 1, 2, 3], [2, 3, 4, 5]], objects=12, links=[(0, 1), (2, 3)])
    for objects, pairs in (([0, 1, 2, 3], 1), ([0, 2, 4], 0)):
        network = c2n.construct(cube, objects, "auto")
        same = c2n.construct(cube, objects)
        assert network.selection.note.startswith(
            f"{pairs} links of the query can be hidden, too few to tell by them: the default, greedy · cover · hybrid"
        )
        assert np.array_equal(network.objects, same.objects) and np.array_equal(network.cells, same.cells)
        assert network.settings["chosen"] == DEFAULT.name and network.settings["tried"] == []
