"""Vectors of nodes: what all three ways to learn them promise, and what is theirs alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from cube2net._util.arrays import Array, Links, links_from_pairs
from cube2net.errors import InputError, ParameterError
from cube2net.mining.node_embeddings import EMBEDDINGS, DeepWalk, Line, Node2vec, Walks, make_links
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.selection import Selection
from cube2net.network.assembly import assemble

from toys import toy_cube

METHODS = [kind(dimensions=32) for kind in EMBEDDINGS.values()]
NAMES = list(EMBEDDINGS)


def planted(
    count: int = 90, blocks: int = 3, inside: float = 10.0, outside: float = 1.5, *, seed: int = 0
) -> tuple[Links, Array]:
    """Return links of given mean degrees inside and across planted blocks, and the block of every node."""
    rng = np.random.default_rng(seed)
    label = np.arange(count) % blocks
    source = rng.integers(0, count, round(count * (inside + outside) / 2))
    within = rng.random(len(source)) < inside / (inside + outside)
    same = rng.integers(0, count // blocks, len(source)) * blocks + label[source]
    target = np.where(within, same, rng.integers(0, count, len(source)))
    ring = np.arange(count)
    ends = np.concatenate([source, ring]), np.concatenate([target, (ring + blocks) % count])
    return links_from_pairs(*ends, rng.random(len(ends[0])) + 0.5, count), label


def agreement(vectors: Array, label: Array) -> float:
    found = KMeans(len(set(label.tolist())), n_init=10, random_state=0).fit_predict(vectors)
    return float(normalized_mutual_info_score(label, found))


def network_of(count: int, links: list[tuple[int, int]], query: list[int]) -> Network:
    """Return the network of a query and all other objects of a cube of one cell."""
    cube = toy_cube([list(range(count))], objects=count, links=links)
    chosen = Selection(np.arange(count), 1.0, np.array([0]), np.array([1.0]))
    return assemble(cube, Query(np.array(query)), chosen)


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_planted_blocks_are_found(method: Any) -> None:
    links, label = planted()
    vectors = method.embed_links(links, seed=1)
    assert (vectors.shape, vectors.dtype, vectors.flags.c_contiguous) == ((90, 32), np.float32, True)
    assert agreement(vectors, label) >= 0.9


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_planted_blocks_are_found_by_several_threads(method: Any) -> None:
    links, label = planted(600, 4)
    quick = replace(method, workers=2, **({"samples": 500} if isinstance(method, Line) else {"walks": 4}))
    assert agreement(quick.embed_links(links, seed=1), label) >= 0.9


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_the_same_seed_gives_the_same_vectors_and_another_one_others(method: Any) -> None:
    links, _ = planted()
    first = method.embed_links(links, seed=3)
    assert np.array_equal(first, method.embed_links(links, seed=3))
    assert not np.allclose(first, method.embed_links(links, seed=4))
    assert np.array_equal(first, replace(method, workers=2).embed_links(links, seed=3)), "too few nodes for two threads"


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_a_node_without_links_has_a_row_of_zeros_and_changes_nothing(method: Any) -> None:
    links, _ = planted(60, 3)
    more = Links(np.concatenate([links.indptr, [links.indptr[-1]] * 2]), links.indices, links.weights)
    vectors = method.embed_links(more, seed=0)
    assert vectors.shape == (62, 32)
    assert not vectors[60:].any()
    assert vectors[:60].any(axis=1).all()
    assert np.array_equal(vectors[:60], method.embed_links(links, seed=0))


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_links_of_weight_zero_are_as_if_they_were_not_there(method: Any) -> None:
    pairs = np.array([0, 1, 2, 3]), np.array([1, 2, 0, 4])
    vectors = method.embed_links(links_from_pairs(*pairs, np.array([1.0, 2.0, 1.0, 0.0]), 5), seed=0)
    assert vectors[:3].any(axis=1).all()
    assert not vectors[3:].any()
    assert not method.embed_links(links_from_pairs(*pairs, np.zeros(4), 5), seed=0).any()


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_the_smallest_networks_have_vectors(method: Any) -> None:
    assert method.embed(network_of(1, [], [0])).tolist() == [[0.0] * 32]
    assert not method.embed(network_of(4, [], [1, 2])).any()
    two = method.embed(network_of(3, [(0, 1)], [0, 2]))
    assert np.isfinite(two).all()
    assert two.any(axis=1).tolist() == [True, False, True]
    none = Links(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
    assert method.embed_links(none).shape == (0, 32)


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_a_network_has_the_vectors_of_its_links_by_position(method: Any) -> None:
    network = network_of(6, [(0, 5), (5, 3), (3, 4), (4, 0), (1, 2)], [4, 5])
    assert network.objects.tolist() == [4, 5, 0, 1, 2, 3]
    assert make_links(network).neighbours(0).tolist() == [2, 5]
    assert np.array_equal(method.embed(network, seed=2), method.embed_links(make_links(network), seed=2))


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_a_weight_that_is_no_weight_is_refused(method: Any) -> None:
    for weight in (-1.0, np.nan, np.inf):
        links = Links(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([weight, 1.0], np.float32))
        with pytest.raises(InputError, match="^1 ends of links have a weight that is negative or not finite, expected"):
            method.embed_links(links)


@pytest.mark.parametrize("kind", EMBEDDINGS.values(), ids=NAMES)
@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"dimensions": 0}, "dimensions is 0, expected a whole number of 1 to 1,024"),
        ({"dimensions": 2000}, "dimensions is 2000, expected a whole number of 1 to 1,024"),
        ({"negatives": 0}, "negatives is 0, expected a whole number of 1 or more"),
        ({"workers": -1}, "workers is -1, expected a whole number of 0 or more"),
        ({"rate": 0}, "rate is 0, expected a finite number above 0"),
        ({"rate": np.inf}, "rate is inf, expected a finite number above 0"),
        ({"rate": True}, "rate is True, expected a finite number above 0"),
        ({"rate": "0.1"}, "rate is '0.1', expected a finite number above 0"),
    ],
)
def test_parameters_out_of_range_are_refused_in_words(kind: Any, given: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError) as refused:
        kind(**given)
    assert str(refused.value) == text


@pytest.mark.parametrize(
    ("kind", "given", "text"),
    [
        (DeepWalk, {"walks": 0}, "walks is 0, expected a whole number of 1 or more"),
        (DeepWalk, {"length": 1}, "length is 1, expected a whole number of 2 or more"),
        (DeepWalk, {"window": 2.5}, "window is 2.5, expected a whole number of 1 or more"),
        (Node2vec, {"epochs": 0}, "epochs is 0, expected a whole number of 1 or more"),
        (Node2vec, {"p": 0.0}, "p is 0.0, expected a finite number above 0"),
        (Node2vec, {"q": -2}, "q is -2, expected a finite number above 0"),
        (Line, {"samples": 0}, "samples is 0, expected a whole number of 1 or more"),
        (Line, {"order": "frist"}, "unknown order 'frist': choose one of both, first, second (did you mean 'first'?)"),
        (Line, {"dimensions": 7}, "dimensions is 7, expected an even number where order is 'both'"),
    ],
)
def test_what_one_method_alone_takes_is_checked_too(kind: Any, given: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError) as refused:
        kind(**given)
    assert str(refused.value) == text


def test_node2vec_without_bias_is_deepwalk() -> None:
    links, _ = planted()
    same = Node2vec(dimensions=16, p=1, q=1).embed_links(links, seed=5)
    assert np.array_equal(same, DeepWalk(dimensions=16).embed_links(links, seed=5))
    assert not np.array_equal(same, Node2vec(dimensions=16).embed_links(links, seed=5))


def test_walks_are_the_same_for_any_number_of_threads() -> None:
    links, _ = planted(3000, 3)
    walks = Walks.of(links, rounds=3, length=10, p=0.5, q=2.0, seed=7)
    paths = walks.paths(1)
    assert paths.shape == (9000, 10)
    assert paths[:, 0].tolist() == 3 * list(range(3000))
    for workers in (2, 3):
        assert np.array_equal(walks.paths(workers), paths)
        assert np.array_equal(walks.visits(workers), np.bincount(paths.ravel(), minlength=3000))


def test_vectors_do_not_depend_on_how_many_walks_are_kept_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    links, _ = planted()
    method = DeepWalk(dimensions=16, walks=2, length=10)
    expected = method.embed_links(links, seed=5)
    for steps in (1, 35):
        monkeypatch.setattr("cube2net.mining.node_embeddings.MAX_STEPS", steps)
        assert np.array_equal(method.embed_links(links, seed=5), expected)


def test_walks_go_by_the_weights_and_not_by_their_unit() -> None:
    links, _ = planted()
    double = Links(links.indptr, links.indices, links.weights * 2)
    even = Links(links.indptr, links.indices, np.full_like(links.weights, 3.0))
    unit = Links(links.indptr, links.indices, np.ones_like(links.weights))
    paths = [Walks.of(some, rounds=1, length=30, seed=1).paths() for some in (links, double, even, unit)]
    assert np.array_equal(paths[0], paths[1])
    assert np.array_equal(paths[2], paths[3])
    assert not np.array_equal(paths[0], paths[3])
    assert len(Walks.of(even, rounds=1, length=30).sums) == 0


def test_line_of_both_orders_is_the_two_side_by_side_at_length_one() -> None:
    links, _ = planted()
    both = Line(dimensions=32, samples=50).embed_links(links, seed=1)
    for part, order in ((both[:, :16], "first"), (both[:, 16:], "second")):
        alone = Line(dimensions=16, samples=50, order=order).embed_links(links, seed=1)
        assert np.allclose(np.linalg.norm(part, axis=1), 1.0, atol=1e-5)
        assert np.allclose(part, alone / np.linalg.norm(alone, axis=1, keepdims=True), atol=1e-6)


def test_the_orders_of_line_tell_linked_nodes_from_nodes_with_the_same_neighbours() -> None:
    sides = np.arange(12) % 2
    a, b = np.meshgrid(np.flatnonzero(sides == 0), np.flatnonzero(sides == 1))
    links = links_from_pairs(a.ravel(), b.ravel(), np.ones(36), 12)
    alike = sides[:, None] == sides[None, :]
    for order, alike_are_near in (("first", False), ("second", True)):
        vectors = Line(dimensions=16, order=order, samples=3000).embed_links(links, seed=0)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        products = unit @ unit.T
        apart = ~np.eye(12, dtype=bool)
        near = products[alike & apart].mean() > products[~alike].mean()
        assert near == alike_are_near


def test_a_failing_worker_stops_the_others_and_is_heard() -> None:
    from cube2net.mining.node_embeddings import run_in_parallel

    done = []

    def work(worker: int):
        for step in range(10**6):
            if worker == 1 and step == 3:
                raise ValueError("no more")
            done.append(worker)
            yield None

    with pytest.raises(ValueError, match="no more"):
        run_in_parallel(work, 2)
    assert len(done) < 10**6


@pytest.mark.peers
def test_vectors_are_as_good_as_those_of_gensim_on_the_same_walks() -> None:
    models = pytest.importorskip("gensim.models")
    method = DeepWalk(dimensions=32, walks=5, length=40)
    vectors = []
    for seed in range(4):
        links, label = planted(300, 4, 5.0, 5.0, seed=seed)
        ours = method.embed_links(links, seed=seed)
        paths = Walks.of(links, rounds=5, length=40, seed=seed).paths()
        texts = [[str(node) for node in path] for path in np.random.default_rng(seed).permutation(paths).tolist()]
        options = {"vector_size": 32, "window": method.window, "sg": 1, "negative": 5, "sample": 0, "min_count": 0}
        model = models.Word2Vec(texts, epochs=1, workers=1, seed=seed + 1, **options)
        vectors.append((ours, np.stack([model.wv[str(node)] for node in range(300)]), label))
    ours, theirs = (np.mean([agreement(part[i], part[2]) for part in vectors]) for i in (0, 1))
    assert 0.5 < theirs < 0.95, "too hard or too easy to tell anything"
    assert abs(ours - theirs) < 0.07
