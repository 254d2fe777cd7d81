"""Comparing methods on one query: configurations, pairing, making once, resuming, and errors of one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net._util.files import only_writer
from cube2net.api.compare import JOURNAL, choose_task, compare, compare_by_name, maker
from cube2net.api.construct import Chosen, with_vectors
from cube2net.api.construct import choose as really_choose
from cube2net.api.plan import METHODS, Plan
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.evaluation.configurations import AS_LARGE, SHORT_LIST, Maker
from cube2net.mining import downstream
from cube2net.mining.clustering import METRICS
from cube2net.mining.downstream import cluster_query
from cube2net.mining.link_prediction import LINK_MEASURES
from cube2net.model.comparison import Comparison, Configuration
from cube2net.model.cube import Cube
from cube2net.model.dimension import STAR
from cube2net.model.interfaces import Method, chooses_cells, draws
from cube2net.model.network import Network
from cube2net.model.objects import Objects
from cube2net.model.query import Query
from cube2net.model.vectors import Vectors
from cube2net.network.hops import Hops
from cube2net.network.pagerank import PageRank
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Linked
from cube2net.selection.random import Random
from cube2net.selection.rl.cube2net import Cube2net

from comparisons import TINY, Failing, plain
from toys import random_cube, toy_cube, two_communities

GREEDY = Configuration(method="greedy", objective="linked", form="cells", n_cells=3)
PEERS = [Configuration(method=name, like=GREEDY.name) for name in AS_LARGE]
# As registered, but for the learner, which learns for a moment only.
QUICK: dict[str, Method] = {
    name: Cube2net(trajectories=4, updates=1, epochs=1, k=3) if name == "cube2net" else kind()
    for name, kind in METHODS.items()
}
CUBES = [(random_cube(seed), Query(np.sort(np.random.default_rng(seed).choice(40, 8, False)))) for seed in range(4)]


# What the registry's methods are said to do is what they do


@pytest.mark.parametrize("name", METHODS)
def test_methods_said_to_choose_cells_do_and_no_others(name: str) -> None:
    chosen = [c2n.construct(cube, query, QUICK[name], n_cells=4).selection.cells for cube, query in CUBES[:3]]
    assert any(len(cells) for cells in chosen) == chooses_cells(METHODS[name]) == chooses_cells(QUICK[name])


@pytest.mark.parametrize("name", [name for name in METHODS if not draws(METHODS[name])])
@pytest.mark.parametrize("objective", ["jaccard", "linked"])
def test_methods_that_are_not_said_to_draw_give_the_same_for_every_seed(name: str, objective: str) -> None:
    for cube, query in CUBES:
        one, other = (c2n.construct(cube, query, name, 4, objective, seed=seed).selection for seed in (0, 7))
        assert other.objects.tolist() == one.objects.tolist()
        assert other.cells.tolist() == one.cells.tolist()


def test_the_paper_moves_among_raw_vectors() -> None:
    cube = CUBES[0][0]
    for preset, scale in (("paper", "none"), ("default", "blocks")):
        ready = with_vectors(cube, Cube2net(preset=preset), 0)
        assert isinstance(ready, Cube2net)
        (found,) = ready.vectors
        assert isinstance(found, Vectors)
        assert found.values.tolist() == c2n.api.embed_cells(cube, "words", scale=scale).values.tolist()


def test_random_cells_depend_on_the_seed() -> None:
    cube, query = CUBES[0]
    drawn = {tuple(c2n.construct(cube, query, "random", 4, seed=seed).selection.cells.tolist()) for seed in range(5)}
    assert len(drawn) > 1 and draws(Random())


# Networks of configurations


def made(config: Configuration, seed: int = 0, nodes: int | None = None, by: Maker | None = None) -> Network:
    return (by or maker(*CUBES[0], {**QUICK, "far": Hops(hops=2)}))(config, seed, nodes)


def same(one: Network, other: Network) -> bool:
    return all(
        np.array_equal(getattr(one, part), getattr(other, part))
        for part in ("objects", "cells", "source", "target", "weight")
    )


@pytest.mark.parametrize("form", ["objects", "cells", "cells+objects", "hybrid"])
@pytest.mark.parametrize("method", ["greedy", "random"])
@pytest.mark.parametrize("objective", ["jaccard", "linked"])
def test_the_network_of_a_configuration_is_the_one_that_construct_gives(method: str, objective: str, form: str) -> None:
    config = Configuration(method=method, objective=objective, form=form, n_cells=3)
    for seed in (0, 2):
        assert same(made(config, seed), c2n.construct(*CUBES[0], method, 3, objective, form, seed))


def test_a_configuration_as_large_as_another_gets_no_more_nodes_than_it_is_told() -> None:
    full = len(made(Configuration(method="hops")))
    for nodes in (8, 9, 12, full, full + 10):
        assert len(made(PEERS[1], 0, nodes)) == min(nodes, full)
        assert len(made(PEERS[0], 0, nodes)) <= nodes


def test_a_peer_is_the_registered_method_whatever_bears_its_name() -> None:
    by = maker(*CUBES[0], {"hops": Hops(hops=2), "pagerank": PageRank(top=1)})
    assert same(made(PEERS[1], by=by), c2n.construct(*CUBES[0], "hops"))
    assert same(made(Configuration(method="hops"), by=by), c2n.construct(*CUBES[0], Hops(hops=2)))
    assert len(made(PEERS[0], 0, 14, by)) > 9


def test_what_a_method_chooses_is_chosen_once_for_all_forms_and_unless_it_draws_for_all_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[object, object, int]] = []

    def choose(plan: Plan, *, seed: int) -> Chosen:
        asked.append((plan.method, plan.objective, seed))
        return really_choose(plan, seed=seed)

    monkeypatch.setattr(import_module("cube2net.api.compare"), "choose", choose)
    by = maker(*CUBES[0], {"greedy": "greedy", "random": "random", "mine": Failing(fails=False)})
    for seed in (0, 1):
        for form in ("objects", "cells"):
            for method in ("greedy", "random", "mine"):
                by(Configuration(method=method, objective="linked", form=form, n_cells=3), seed)
    assert asked == [
        (Greedy(), Linked(), 0),
        (Random(), Linked(), 0),
        (Failing(fails=False), Linked(), 0),
        (Random(), Linked(), 1),
        (Failing(fails=False), Linked(), 1),
    ]


# Comparing


@pytest.fixture(scope="module")
def planted() -> tuple[Cube, Query]:
    """A cube of six communities, and 50 objects of two of them."""
    return two_communities(25)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("comparison") / "out"


@pytest.fixture(scope="module")
def compared(planted: tuple[Cube, Query], folder: Path) -> Comparison:
    return compare_by_name(*planted, out=folder, **TINY)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is made and mined from now on."""
    noted: list[str] = []

    def counted(call: Callable[..., Any], what: str) -> Callable[..., Any]:
        def counting(*args: Any, **options: Any) -> Any:
            noted.append(what)
            return call(*args, **options)

        return counting

    monkeypatch.setattr(Maker, "__call__", counted(Maker.__call__, "made"))
    monkeypatch.setattr(downstream, "cluster_query", counted(cluster_query, "mined"))
    return noted


def test_a_comparison_waits_for_another_that_writes_the_same_journal(
    planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    said: list[str] = []
    waits = Event()

    def progress(stage: str, done: int, total: int | None = None) -> None:
        said.append(stage)
        waits.set()

    one = {**TINY, "methods": ["none"], "runs": 1, "out": tmp_path / "out", "progress": progress}
    other = Thread(target=compare_by_name, args=planted, kwargs=one)
    with only_writer(tmp_path / "out" / JOURNAL):
        other.start()
        assert waits.wait(60)
        assert not (tmp_path / "out" / JOURNAL).exists()
    other.join()
    assert "another process is writing" in said[0]
    assert (tmp_path / "out" / JOURNAL).exists()


def test_a_comparison_has_every_configuration_paired_by_seed(compared: Comparison, planted: tuple[Cube, Query]) -> None:
    assert compared.configurations == (Configuration(method="none"), GREEDY, *PEERS, Configuration(method="pagerank"))
    assert compared.models == ("deepwalk",) and compared.seeds == (0, 1)
    assert compared.measures == tuple(METRICS) and compared.truth == planted[1].labels
    for config in compared.configurations:
        assert [trial.seed for trial in compared.of(config, "deepwalk")] == [0, 1]
    assert compared.peers(GREEDY) == PEERS
    assert {trial.nodes for config in (GREEDY, *PEERS) for trial in compared.of(config, "deepwalk")} == {53}


def test_the_scores_are_those_of_the_network_that_construct_gives(
    compared: Comparison, planted: tuple[Cube, Query]
) -> None:
    network = c2n.construct(*planted, "greedy", n_cells=3, objective="linked", form="cells")
    for trial in compared.of(GREEDY, "deepwalk"):
        found = cluster_query(network, "deepwalk", seed=trial.seed).labels
        assert trial.evidence.tolist() == found.tolist()
        assert trial.scores == {name: metric(found, planted[1].labels or ()) for name, metric in METRICS.items()}
        assert (trial.nodes, trial.links, trial.value) == (len(network), len(network.source), network.selection.value)
        assert {"select", "links", "mine"} <= set(trial.seconds)
    assert all(trial.value is None for trial in compared.trials if trial.configuration != GREEDY)


def test_cells_join_what_the_query_alone_leaves_apart(compared: Comparison) -> None:
    alone, cells = (compared.of(config, "deepwalk")[0] for config in (compared.alone, GREEDY))
    assert cells.loose < alone.loose
    assert cells.scores["F1"] > 0.9 > alone.scores["F1"]


def test_settings_say_what_is_needed_to_do_it_again(compared: Comparison) -> None:
    assert {name: compared.settings[name] for name in ("task", "runs", "seed", "n_cells", "objectives", "forms")} == {
        "task": "clustering",
        "runs": 2,
        "seed": 0,
        "n_cells": [3],
        "objectives": ["linked"],
        "forms": ["cells"],
    }
    assert list(compared.settings["methods"]) == ["none", "greedy", "pagerank"]
    assert compared.settings["models"]["deepwalk"].startswith("DeepWalk(dimensions=128")


def test_a_comparison_is_resumed_without_making_anything_again(
    compared: Comparison, planted: tuple[Cube, Query], folder: Path, calls: list[str]
) -> None:
    written = (folder / JOURNAL).read_bytes()
    assert plain(compare_by_name(*planted, out=folder, **TINY)) == plain(compared)
    assert calls == [] and (folder / JOURNAL).read_bytes() == written


def test_a_run_more_makes_its_own_trials_and_keeps_the_others(
    compared: Comparison, planted: tuple[Cube, Query], folder: Path, tmp_path: Path, calls: list[str]
) -> None:
    (tmp_path / JOURNAL).write_bytes((folder / JOURNAL).read_bytes())
    more = compare_by_name(*planted, out=str(tmp_path), **{**TINY, "runs": 1, "seed": 2, "methods": ["none", "hops"]})
    assert calls == ["made", "mined"] * 2 and more.seeds == (2,)
    assert len((tmp_path / JOURNAL).read_text().splitlines()) == 1 + 10 + 2
    assert [trial.key for trial in more.trials] == [("none", "deepwalk", 2), ("hops", "deepwalk", 2)]


def test_the_number_of_workers_and_a_folder_change_no_score(compared: Comparison, planted: tuple[Cube, Query]) -> None:
    again = compare_by_name(*planted, **{**TINY, "methods": ["greedy"]}, workers=3)
    for trial in again.trials:
        twin = compared.of(trial.configuration, "deepwalk")[trial.seed]
        assert trial.scores == twin.scores and trial.evidence.tolist() == twin.evidence.tolist()


def test_a_method_that_fails_is_a_row_that_says_why(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    found = compare_by_name(cube, query, **{**TINY, "methods": {"none": "none", "odd": Failing()}, "runs": 1})
    odd = Configuration(method="odd", objective="linked", form="cells", n_cells=3)
    assert found.reasons(odd) == ["RuntimeError: out of luck"]
    assert found.reasons(found.peers(odd)[0]) == [f"there is no network of {odd.name!r} to be as large as"]
    assert len(found.of(found.alone, "deepwalk")) == 1


def test_objects_without_a_label_are_clustered_and_not_scored(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    assert query.labels is not None
    partly = replace(query, labels=tuple(label if i % 2 else "" for i, label in enumerate(query.labels)))
    found = compare_by_name(cube, partly, **{**TINY, "methods": ["none"], "runs": 1}).trials[0]
    assert len(found.evidence) == len(query)
    assert found.scores["F1"] == METRICS["F1"](found.evidence[1::2], query.labels[1::2])


@pytest.fixture(scope="module")
def films() -> tuple[Cube, Query, tuple[list[int], list[int]]]:
    """Two groups of four users and four films each, all linked inside but for one film a user; the query is all."""
    pairs = [(u, 8 + f) for u in range(8) for f in range(8) if (u < 4) == (f < 4)]
    hidden = [(u, f) for u, f in pairs if f - 8 == u]
    cube = toy_cube([[*range(8), *range(8, 16)]], objects=16, links=[pair for pair in pairs if pair not in hidden])
    table = cube.objects.table.set_column(2, "kind", pa.array(["user"] * 8 + ["film"] * 8))
    return (
        replace(cube, objects=Objects.of(table)),
        Query(np.arange(16)),
        ([u for u, _ in hidden], [f for _, f in hidden]),
    )


def test_hidden_links_are_found_again_by_recommenders(
    films: tuple[Cube, Query, tuple[list[int], list[int]]], tmp_path: Path
) -> None:
    cube, query, hidden = films
    options: dict[str, Any] = {"methods": ["none", "pagerank"], "models": ["popularity", "ease"], "runs": 2}
    found = compare_by_name(cube, query, "links", hidden=hidden, out=tmp_path, **options)
    assert found.measures == LINK_MEASURES and found.truth == () and found.models == ("popularity", "ease")
    by_model = {trial.model: trial for trial in found.trials if trial.configuration == found.alone}
    assert by_model["ease"].scores["AUC"] == 1.0 and by_model["popularity"].scores["AUC"] == 0.5
    assert by_model["ease"].evidence.shape == (8, len(LINK_MEASURES))
    assert plain(compare_by_name(cube, query, "links", hidden=hidden, out=tmp_path, **options)) == plain(found)


def test_the_recommenders_are_the_floor_the_papers_and_a_strong_one_unless_named(
    films: tuple[Cube, Query, tuple[list[int], list[int]]],
) -> None:
    cube, query, hidden = films
    assert compare(cube, query, "links", methods=[], runs=1, options=c2n.ComparisonOptions(hidden=hidden)).models == (
        "popularity",
        "softimpute",
        "ease",
    )


# Bad input


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"task": "cluster"}, "unknown task 'cluster': choose one of clustering, hidden, links"),
        ({"methods": ["none", "gredy"]}, "unknown method 'gredy': choose one of anneal, cube2net, exact, greedy, "),
        ({"methods": {"mine": 3}}, "a method is a name (anneal, cube2net, "),
        ({"methods": {"mine": Greedy}}, "the method is the class Greedy, expected an object: Greedy()"),
        ({"objectives": ["link"]}, "unknown objective 'link': choose one of "),
        ({"forms": ["all"]}, "unknown form 'all': choose one of cells, cells+objects, hybrid, objects"),
        ({"hidden": ([0], [1])}, "hidden links are for the task 'links', and the task is 'clustering'"),
        ({"task": "links"}, "the task 'links' needs the hidden links that are to be found again"),
        ({"models": ["ease"]}, "unknown embedding 'ease': choose one of deepwalk, line, node2vec"),
        (
            {"task": "links", "hidden": ([0], [1])},
            "unknown recommender 'deepwalk': choose one of als, ease, itemknn, popularity, softimpute",
        ),
        (
            {"task": "links", "hidden": ([0], [1]), "models": ["ease"]},
            "1 hidden links do not join an object of the kind 'user' with one of another: kinds here are object",
        ),
        ({"runs": 0}, "runs is 0, expected a whole number of 1 or more"),
        ({"seed": -1}, "seed is -1, expected a whole number of 0 or more"),
        ({"n_cells": 0}, "n_cells is 0, expected a whole number of 1 or more"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_input_is_refused_before_anything_is_written(
    change: dict[str, Any], sentence: str, planted: tuple[Cube, Query], tmp_path: Path, calls: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        compare_by_name(*planted, out=tmp_path / "out", **{**TINY, **change})
    assert str(caught.value).startswith(sentence) and "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists() and not calls


def test_a_query_without_labels_cannot_be_judged_by_clusters(planted: tuple[Cube, Query], tmp_path: Path) -> None:
    cube, query = planted
    for labels, count in ((None, 0), (("x",) * len(query), 1)):
        with pytest.raises(QueryError, match=f"the query has {count} different labels, expected 2 or more"):
            compare_by_name(cube, replace(query, labels=labels), "clustering", out=tmp_path / "out", **TINY)
    assert not (tmp_path / "out").exists()


def test_without_a_task_a_query_is_judged_by_its_labels_and_else_by_its_hidden_links(
    planted: tuple[Cube, Query],
) -> None:
    cube, query = planted
    few = {**TINY, "methods": ["greedy"], "runs": 1, "as_large": False}
    assert compare_by_name(cube, query, **few).task == "clustering"
    for labels in (None, ("x",) * len(query), ("", *("x",) * (len(query) - 1))):
        assert choose_task(replace(query, labels=labels)) == "hidden"
    hidden = compare_by_name(cube, replace(query, labels=None), **few)
    assert (hidden.task, hidden.measures[0], hidden.truth) == ("hidden", "AUC", ())
    assert hidden.settings["pairs"] > 0


# The list that is compared when nobody says more


def test_without_names_the_default_two_variants_and_the_papers_form_are_compared(planted: tuple[Cube, Query]) -> None:
    found = compare(*planted, models=["deepwalk"], runs=1, options=c2n.ComparisonOptions(as_large=False))
    names = ["none", *(config.name for config in SHORT_LIST)]
    assert [config.name for config in found.configurations] == names
    assert names[1:] == [
        "greedy · cover · hybrid",
        "greedy · cover · cells",
        "greedy · cover · hybrid · levels one",
        "greedy · jaccard · objects · n_cells 20",
    ]
    assert found.settings["default"] == names[1] and not {"objectives", "forms", "n_cells"} & found.settings.keys()
    sizes = {config.name: found.nodes(config) for config in found.configurations}
    made = {
        "greedy · cover · hybrid": c2n.construct(*planted),
        "greedy · cover · cells": c2n.construct(*planted, form="cells"),
        "greedy · cover · hybrid · levels one": c2n.construct(*planted, options=c2n.NetworkOptions(levels="one")),
        "greedy · jaccard · objects · n_cells 20": c2n.construct(*planted, form="objects"),
    }
    assert {name: len(network) for name, network in made.items()} == {name: sizes[name] for name in made}
    assert max(sizes[name] for name in names[1:4]) <= 3 * len(planted[1])


def test_a_configuration_is_made_with_its_levels_near_objects_and_membership() -> None:
    planted = c2n.make_planted(seed=0)
    cube = c2n.build(planted.corpus)
    query = cube.query(planted.query(0))
    config = Configuration(
        method="greedy", objective="cover", form="hybrid", levels="one", n_neighbors=3, membership_weights="even"
    )
    network = maker(cube, query, {"greedy": "greedy"})(config, 0)
    assert [network.settings[name] for name in ("levels", "n_neighbors", "membership_weights")] == ["one", 3, "even"]
    assert {labels.count(STAR) for labels in network.labels} == {2}
    assert network.labels == c2n.construct(cube, query, options=c2n.NetworkOptions(levels="one")).labels


def test_negative_workers_are_refused(planted: tuple[Cube, Query]) -> None:
    with pytest.raises(ParameterError, match="workers is -1, expected a whole number of"):
        compare_by_name(*planted, workers=-1, **TINY)


@pytest.mark.parametrize(
    ("differs", "change"),
    [
        ("query", lambda cube, query: (cube, Query(query.objects[:-1], query.labels[:-1]), {})),
        ("query", lambda cube, query: (cube, replace(query, labels=query.labels[::-1]), {})),
        ("cube", lambda cube, query: (c2n.cube.dice(cube, {"decade": ["200X"]}), query, {})),
        ("methods 'greedy'", lambda cube, query: (cube, query, {"methods": {"greedy": Greedy(by="price")}})),
    ],
    ids=["fewer objects", "other labels", "another cube", "another greedy"],
)
def test_the_folder_of_another_comparison_is_refused(
    differs: str, change: Any, compared: Comparison, planted: tuple[Cube, Query], folder: Path, calls: list[str]
) -> None:
    cube, query, options = change(*planted)
    with pytest.raises(InputError) as caught:
        compare_by_name(cube, query, out=folder, **{**TINY, **options})
    assert str(caught.value) == (
        f"{str(folder / JOURNAL)!r} holds the trials of another comparison (it differs in {differs}): "
        "choose another folder, or remove it"
    )
    assert not calls


def test_trials_of_a_cube_that_differs_only_in_its_small_cells_or_labels_are_refused(tmp_path: Path) -> None:
    cube, query = CUBES[0]
    compare_by_name(cube, query, "hidden", out=tmp_path / "report", **{**TINY, "runs": 1})
    more = replace(cube, small=replace(cube.cells, counts=None))
    for other in (more, replace(cube, cells=replace(cube.cells, labels=np.roll(cube.cells.labels, 1, axis=0)))):
        with pytest.raises(InputError, match="differ"):
            compare_by_name(other, query, "hidden", out=tmp_path / "report", **{**TINY, "runs": 1})


def test_one_text_is_one_name_and_methods_are_a_list() -> None:
    cube, query = CUBES[1]
    options = {**TINY, "objectives": "linked", "forms": "cells", "levels": "one", "runs": 1}
    found = compare_by_name(cube, query, "hidden", **options)
    assert {config.levels for config in found.configurations if config.objective} == {"one"}
    with pytest.raises(ParameterError, match="methods are a list of names and objects, or .*, got 'greedy'"):
        compare(cube, query, "hidden", methods="greedy")
    with pytest.raises(ParameterError, match="unknown level 'ona'"):
        compare_by_name(cube, query, "hidden", **{**options, "levels": ["ona"]})
