"""What the pipeline makes of a network: vectors, clusters, hidden links found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.mining import link_prediction
from cube2net.mining.clustering import METRICS
from cube2net.mining.downstream import (
    cluster_query,
    embed_nodes,
    list_labels,
    make_clustering_task,
    make_hidden_task,
    make_link_task,
)
from cube2net.mining.link_prediction import LINK_MEASURES, HiddenLinks, LinkPredictor
from cube2net.mining.node_embeddings import DeepWalk
from cube2net.mining.recommenders import TUNING_CHOICES, Ease
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query

from toys import toy_cube, with_kinds

QUICK = DeepWalk(dimensions=16, walks=5, length=20)
# two groups of five, all linked inside; object 10 has no link
GROUPS = toy_cube(
    [[0, 1, 2], [5, 6, 7]],
    objects=11,
    links=[(a + start, b + start) for start in (0, 5) for a in range(5) for b in range(a)],
)
TRUTH = ("one",) * 5 + ("two",) * 5


@dataclass(frozen=True)
class Models:
    """An embedder that knows the vector of every node."""

    vectors: tuple[tuple[float, ...], ...]

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        return np.array(self.vectors[: len(network)])


def alone(cube: Cube, query: Query | Sequence[int]) -> Network:
    return c2n.construct(cube, query, "none")


def labelled(labels: Sequence[str]) -> Query:
    return Query(np.arange(len(labels)), tuple(labels))


# Vectors and clusters


def test_every_node_gets_a_vector_and_one_without_links_zeros() -> None:
    network = alone(GROUPS, range(11))
    vectors = embed_nodes(network, "deepwalk", dimensions=8, walks=2, length=10)
    assert vectors.shape == (11, 8)
    assert vectors[:10].any(axis=1).all() and not vectors[10].any()


def test_an_embedding_is_a_name_with_options_or_an_object() -> None:
    network = alone(GROUPS, range(11))
    by_name = embed_nodes(network, "deepwalk", seed=3, dimensions=16, walks=5, length=20)
    assert by_name.tolist() == embed_nodes(network, QUICK, seed=3).tolist()
    assert by_name.tolist() != embed_nodes(network, QUICK, seed=4).tolist()


def test_cells_that_are_nodes_have_vectors_too() -> None:
    network = c2n.construct(GROUPS, range(10), "greedy", n_cells=2, form="cells")
    assert len(network.cells) == 2 and embed_nodes(network, QUICK).shape == (12, 16)


def test_unknown_embeddings_and_options_are_refused() -> None:
    network = alone(GROUPS, range(10))
    with pytest.raises(ParameterError) as caught:
        embed_nodes(network, "deepwalks")
    assert str(caught.value) == (
        "unknown embedding 'deepwalks': choose one of deepwalk, line, node2vec (did you mean 'deepwalk'?)"
    )
    with pytest.raises(ParameterError, match="embedding 'line' cannot be made so: .*'walks'"):
        embed_nodes(network, "line", walks=3)
    with pytest.raises(ParameterError, match="an embedding is a name .* or an object like one, got 3"):
        embed_nodes(network, 3)  # type: ignore[arg-type]


def test_groups_are_found_by_their_links() -> None:
    network = alone(GROUPS, labelled(TRUTH))
    found = cluster_query(network, QUICK, seed=1)
    assert METRICS["F1"](found.labels, TRUTH) == 1.0
    assert found.labels.tolist() == cluster_query(network, QUICK, 2, seed=1).labels.tolist()


def test_only_the_query_is_clustered_and_into_as_many_clusters_as_it_has_labels() -> None:
    vectors = ((0.0, 1.0), (0.0, 1.1), (9.0, 9.0), (9.0, 9.1), (50.0, -50.0), (70.0, -50.0))
    cube = toy_cube([[0]], objects=6, links=[(0, 4), (1, 5)])
    network = c2n.construct(cube, labelled(["a", "", "b", "a"]), "hops")
    assert len(network) == 6
    found = cluster_query(network, Models(vectors))
    assert len(found) == 4 and len(set(found.labels.tolist())) == 2
    assert found.labels[0] == found.labels[1] != found.labels[2] == found.labels[3]
    assert len(set(cluster_query(network, Models(vectors), 3).labels.tolist())) == 3


def test_labels_known_are_counted_once_and_in_order() -> None:
    assert list_labels(labelled(["b", "a", "", "b"])) == ["a", "b"]


@pytest.mark.parametrize(("labels", "count"), [(None, 0), (("", "", ""), 0), (("x", "", "x"), 1)])
def test_a_query_needs_two_labels_to_be_judged_by(labels: tuple[str, ...] | None, count: int) -> None:
    query = Query(np.arange(3), labels)
    sentence = (
        f"clustering is judged by labels, and the query has {count} different labels, expected 2 or more: "
        "give them in the column label, beside object"
    )
    for ask in (
        lambda: list_labels(query),
        lambda: make_clustering_task(query),
        lambda: cluster_query(alone(GROUPS, query), QUICK),
    ):
        with pytest.raises(QueryError) as caught:
            ask()
        assert str(caught.value) == sentence


def test_objects_without_a_label_are_clustered_and_not_scored() -> None:
    # 1 and 4 stand in the wrong group, and have no label
    vectors = ((0.0, 1.0), (9.0, 9.0), (0.0, 1.1), (9.0, 9.1), (0.0, 0.9), (9.0, 9.2))
    query = labelled(["a", "", "a", "b", "", "b"])
    scores, evidence, seconds = make_clustering_task(query, {"given": Models(vectors)}).mine(
        alone(GROUPS, query), "given", 0
    )
    assert list(scores) == list(METRICS) and set(scores.values()) == {1.0}
    assert len(evidence) == 6 and evidence.dtype == np.int32
    assert [int(cluster == evidence[0]) for cluster in evidence] == [1, 0, 1, 0, 1, 0]
    assert seconds > 0


def test_scores_are_those_of_the_clusters_returned() -> None:
    query = labelled(("one", "two") * 5)
    scores, evidence, _ = make_clustering_task(query, {"quick": QUICK}).mine(alone(GROUPS, query), "quick", 2)
    assert scores == {name: metric(evidence, query.labels or ()) for name, metric in METRICS.items()}
    assert scores["F1"] < 0.8


def test_embeddings_are_checked_by_name_and_objects_of_ones_own_are_taken() -> None:
    query = labelled(TRUTH)
    assert list(make_clustering_task(query, ["line", "deepwalk"]).parameters) == ["line", "deepwalk"]
    assert make_clustering_task(query, {"quick": QUICK}).parameters == {"quick": repr(QUICK)}
    with pytest.raises(ParameterError, match="unknown embedding 'ease'"):
        make_clustering_task(query, ["deepwalk", "ease"])
    with pytest.raises(ParameterError, match="models are a list of names, or objects by name, got the text 'line'"):
        make_clustering_task(query, "line")


# Hidden links


# users 0, 2, 4 and films 1, 3, 5; 0–1 and 2–3 are linked; the query is all but user 4 and film 5
SMALL = with_kinds(toy_cube([[0]], objects=6, links=[(0, 1), (2, 3), (4, 5)]), ["user", "film"] * 3)
ASKED = Query(np.array([0, 1, 2, 3]))


def hide(source: Any, target: Any, users: str = "user") -> HiddenLinks:
    return HiddenLinks.of(SMALL, ASKED, source, target, users)


@pytest.mark.parametrize("kind", [list, np.array, pa.array, lambda rows: np.array(rows, np.int16)])
def test_hidden_links_are_turned_so_that_users_come_first(kind: Any) -> None:
    hidden = hide(kind([0, 1]), kind([3, 2]))
    assert (hidden.users.tolist(), hidden.items.tolist()) == ([0, 2], [3, 1])
    turned = hide(kind([0, 1]), kind([3, 2]), "film")
    assert (turned.users.tolist(), turned.items.tolist()) == ([3, 1], [0, 2])


@pytest.mark.parametrize(
    ("source", "target", "users", "sentence"),
    [
        ([], [], "user", "there are no hidden links: give some to be found again"),
        (
            [0, 2],
            [3],
            "user",
            "hidden links have 2 ends on one side and 1 on the other, expected as many on both",
        ),
        (
            ["0"],
            ["3"],
            "user",
            "hidden links are given by the rows of their ends, expected two lists of whole numbers",
        ),
        (
            [0.5],
            [3.0],
            "user",
            "hidden links are given by the rows of their ends, expected two lists of whole numbers",
        ),
        (
            [[0, 2]],
            [[3, 1]],
            "user",
            "hidden links are given by the rows of their ends, expected two lists of whole numbers",
        ),
        (
            [0, -1],
            [9, 3],
            "user",
            "hidden links name 2 rows that the cube does not have: -1, 9 (it has 6 objects)",
        ),
        (
            [0, 0, 1],
            [2, 3, 3],
            "user",
            "2 hidden links do not join an object of the kind 'user' with one of another: kinds here are film, user",
        ),
        (
            [0],
            [3],
            "reader",
            "1 hidden links do not join an object of the kind 'reader' with one of another: kinds here are film, user",
        ),
        (
            [0, 0],
            [0, 3],
            "user",
            "1 hidden links do not join an object of the kind 'user' with one of another: kinds here are film, user",
        ),
        ([0, 4, 5], [3, 1, 0], "user", "2 hidden links have an end outside the query, expected both inside"),
        (
            [0, 3],
            [3, 2],
            "user",
            "1 of 2 hidden links are in the cube: build it without them, as the command task does",
        ),
    ],
)
def test_hidden_links_that_cannot_be_found_again_are_refused(
    source: Any, target: Any, users: str, sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        hide(source, target, users)
    assert str(caught.value) == sentence


def planted_links(seed: int = 0) -> tuple[Cube, tuple[Array, Array]]:
    """Return a cube of two groups of 15 users and 12 films, linked inside, and the fifth of the links it lacks."""
    rng = np.random.default_rng(seed)
    users, films = np.arange(30), np.arange(30, 54)
    pairs = [(u, f) for u in users for f in films if (u < 15) == (f < 42) and rng.random() < 0.5]
    gone = rng.random(len(pairs)) < 0.2
    cube = toy_cube(
        [[*range(15), *range(30, 42)], [*range(15, 30), *range(42, 54)]],
        objects=54,
        links=[(int(u), int(f)) for (u, f), hidden in zip(pairs, gone, strict=True) if not hidden],
    )
    ends = np.array(pairs)[gone].T
    return with_kinds(cube, ["user"] * 30 + ["film"] * 24), (ends[0], ends[1])


@pytest.fixture(scope="module")
def planted() -> tuple[Network, LinkPredictor]:
    cube, hidden = planted_links()
    query = Query(np.arange(54))
    return alone(cube, query), LinkPredictor(HiddenLinks.of(cube, query, *hidden, "user"), "user", TUNING_CHOICES)


@pytest.mark.parametrize("model", ["softimpute", "ease"])
def test_links_hidden_inside_groups_are_found_better_than_by_chance(
    model: str, planted: tuple[Network, LinkPredictor]
) -> None:
    network, mine = planted
    found, _, seconds = mine(network, model, 0)
    floor, _, _ = mine(network, "popularity", 0)
    assert list(found) == list(LINK_MEASURES) == list(floor)
    assert found["AUC"] > 0.7 and found["AUC"] > floor["AUC"] + 0.1
    assert found["R@10"] > floor["R@10"] + 0.1
    assert seconds > 0


def test_recommenders_are_checked_by_name_and_one_of_ones_own_is_taken_as_it_is() -> None:
    cube, hidden = planted_links()
    query = Query(np.arange(54))
    own = make_link_task(cube, query, hidden, "user", {"mine": Ease(ridge=3.0), "floor": "popularity"})
    assert own.parameters == {"mine": "Ease(ridge=3.0, most=12000)", "floor": "Popularity()"}
    assert own.mine(alone(cube, query), "mine", 0)[0]["AUC"] > 0.7
    with pytest.raises(ParameterError) as caught:
        make_link_task(cube, query, hidden, "user", ["popularity", "eas"])
    assert str(caught.value) == (
        "unknown recommender 'eas': choose one of als, ease, itemknn, popularity, softimpute (did you mean 'ease'?)"
    )


def test_scores_of_users_stand_in_the_order_of_the_measures_and_their_means_are_the_scores(
    planted: tuple[Network, LinkPredictor],
) -> None:
    network, mine = planted
    scores, evidence, _ = mine(network, "ease", 0)
    assert evidence.shape == (len(set(mine.hidden.users.tolist())), len(LINK_MEASURES))
    assert dict(zip(LINK_MEASURES, np.nanmean(evidence, axis=0), strict=True)) == pytest.approx(scores, abs=1e-6)
    assert evidence.tolist() == evidence.round(6).tolist()


def test_the_order_of_the_hidden_links_does_not_matter() -> None:
    cube, (users, films) = planted_links()
    query = Query(np.arange(54))
    network = alone(cube, query)
    answers = [
        LinkPredictor(HiddenLinks.of(cube, query, *ends, "user"), "user", TUNING_CHOICES)(network, "popularity", 0)
        for ends in ((users, films), (films[::-1], users[::-1]), (np.tile(users, 2), np.tile(films, 2)))
    ]
    for scores, evidence, _ in answers[1:]:
        assert scores == answers[0][0] and evidence.tolist() == answers[0][1].tolist()


def test_settings_are_chosen_once_for_a_network_and_a_model(
    planted: tuple[Network, LinkPredictor], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, known = planted
    asked: list[int] = []
    really = link_prediction.choose_recommender

    def choose_recommender(recommenders: Any, matrix: Any, **options: Any) -> Any:
        asked.append(matrix.shape[1])
        return really(recommenders, matrix, **options)

    monkeypatch.setattr(link_prediction, "choose_recommender", choose_recommender)
    mine = LinkPredictor(known.hidden, "user", TUNING_CHOICES)
    for seed in range(3):
        for model in ("popularity", "ease"):
            mine(network, model, seed)
    assert len(asked) == 2
    cells = c2n.construct(planted_links()[0], network.query, "greedy", n_cells=2, form="cells")
    mine(cells, "ease", 0)
    assert asked == [24, 24, 24], "another network is settled anew, and without its cells"


def test_users_of_the_query_are_scored_among_its_items_whatever_is_brought() -> None:
    cube, (users, films) = planted_links()
    query = Query(np.array([*range(0, 30, 3), *range(30, 54, 2)]))
    inside = np.isin(users, query.objects) & np.isin(films, query.objects)
    mine = LinkPredictor(HiddenLinks.of(cube, query, users[inside], films[inside], "user"), "user", TUNING_CHOICES)
    few, many = (c2n.construct(cube, query, method) for method in ("none", "hops"))
    assert len(few) == 22 and len(many) == 54
    for network in (few, many):
        scores, evidence, _ = mine(network, "ease", 0)
        assert evidence.shape == (len(set(users[inside].tolist())), len(LINK_MEASURES))
        assert scores["R@20"] == 1.0, "there are twelve items in the query, so twenty places hold all hidden ones"
        assert scores["AUC"] > 0.6


def test_a_query_without_a_known_link_is_no_better_than_chance_and_no_failure() -> None:
    cube = with_kinds(toy_cube([[0]], objects=4), ["user", "user", "film", "film"])
    query = Query(np.arange(4))
    mine = LinkPredictor(HiddenLinks.of(cube, query, [0, 1], [2, 3], "user"), "user", TUNING_CHOICES)
    scores: Mapping[str, float] = mine(alone(cube, query), "popularity", 0)[0]
    assert (scores["AUC"], scores["P@1"], scores["R@5"]) == (0.5, 0.5, 1.0)


# Hidden links of the query itself


def test_hidden_links_of_the_query_are_found_again_by_vectors() -> None:
    # rows of the cube are not positions in the query: 2 and 3 are hidden inside the first group, 6 and 9 the second
    query = Query(np.array([1, 2, 3, 4, 6, 7, 8, 9]))
    hidden, unlinked = ([3, 6], [2, 9]), ([1, 2, 3, 4, 9, 8], [6, 7, 8, 9, 3, 1])
    judges = make_hidden_task(query, hidden, unlinked, {"quick": QUICK})  # type: ignore[arg-type]
    assert judges.measures == ("AUC",) and judges.parameters == {"quick": repr(QUICK)}
    assert [part.tolist() for part in judges.hidden] == [[2, 4], [1, 7], [0, 1, 2, 3, 7, 6], [4, 5, 6, 7, 2, 0]]
    scores, evidence, seconds = judges.mine(alone(GROUPS, query), "quick", 0)
    assert scores == {"AUC": 1.0} and seconds > 0
    assert evidence.tolist() == [[1.0]] * 4, "a row for each of the objects 2, 3, 6 and 9"
    assert list(make_hidden_task(query, hidden, unlinked).parameters) == ["deepwalk", "node2vec", "line"]  # type: ignore[arg-type]


def test_the_score_of_hidden_links_is_the_mean_over_the_objects_that_have_one() -> None:
    vectors = ((1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (0.5, 0.5), (0.0, 0.0))
    query, network = Query(np.arange(5)), c2n.construct(GROUPS, range(5), "none")
    hidden, unlinked = (np.array([0, 3]), np.array([1, 0])), (np.array([4, 2]), np.array([1, 4]))
    scores, evidence, _ = make_hidden_task(query, hidden, unlinked, {"given": Models(vectors)}).mine(
        network, "given", 0
    )
    assert evidence.tolist() == [[0.5], [1.0], [0.0]] and scores["AUC"] == 0.5


@pytest.mark.parametrize(
    ("hidden", "unlinked", "text"),
    [
        (([], []), ([0], [1]), "there are no hidden links: give some to be found again"),
        (([0], [1]), ([], []), "there are no pairs without a link: give some to compare hidden links with"),
        (
            ([0, 1], [2]),
            ([0], [1]),
            "hidden links have 2 ends on one side and 1 on the other, expected as many on both",
        ),
        (([0], [9]), ([0], [1]), "1 hidden links have an end outside the query, expected both inside"),
        (([0], [1]), ([0, 2], [2, -1]), "1 pairs without a link have an end outside the query, expected both inside"),
        (([0], [0]), ([0], [1]), "1 hidden links join an object with itself"),
        (
            ([0, 0], [1, 2]),
            ([1, 3], [0, 1]),
            "1 pairs are both hidden links and pairs without one, expected them apart",
        ),
        (([0.5], [1]), ([0], [1]), "hidden links are given by the rows of their ends, expected two lists of whole"),
    ],
)
def test_hidden_links_of_the_query_that_cannot_be_asked_for_are_refused(hidden: Any, unlinked: Any, text: str) -> None:
    with pytest.raises(InputError) as caught:
        make_hidden_task(Query(np.arange(5)), hidden, unlinked)
    assert str(caught.value).startswith(text)
