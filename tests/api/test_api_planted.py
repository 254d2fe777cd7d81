import numpy as np
import pytest

from cube2net.api.datasets import Planted, make_planted
from cube2net.errors import ParameterError


def cells_of(planted: Planted) -> dict[tuple[str, str, str], set[str]]:
    """Return the members of every cell, one mention at a time."""
    items = planted.corpus.items.to_pylist()
    ids = planted.corpus.objects["object"].to_pylist()
    cells: dict[tuple[str, str, str], set[str]] = {}
    for mention in planted.corpus.mentions.to_pylist():
        item = items[mention["item"]]
        labels = (f"{item['year'] // 10}X", item["venue"], item["topic"])
        cells.setdefault(labels, set()).add(ids[mention["object"]])
    return cells


def jaccard(planted: Planted, community: int) -> float:
    cells = cells_of(planted)
    members = set().union(*(cells.get(labels, set()) for labels in planted.best_cells[community]))
    query = set(planted.query(community))
    return len(members & query) / len(members | query)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("settings", [{}, {"cells": 1, "items": 1}, {"cells": 7, "decades": 2, "mentions": 5}])
def test_without_noise_the_cells_of_a_community_have_jaccard_exactly_one(seed, settings):
    planted = make_planted(objects=333, communities=6, noise=0, seed=seed, **settings)
    assert [jaccard(planted, community) for community in range(6)] == [1.0] * 6


def test_noise_brings_others_into_the_cells_and_takes_nobody_out():
    planted = make_planted(objects=300, communities=5, noise=0.4, decades=2, venues=4, topics=3)
    cells = cells_of(planted)
    for community in range(5):
        members = set().union(*(cells[labels] for labels in planted.best_cells[community]))
        assert members > set(planted.query(community))
    assert jaccard(planted, 0) < 1


def test_noise_is_the_share_of_items_given():
    quiet = make_planted(objects=2_000, noise=0).corpus.items.num_rows
    loud = make_planted(objects=2_000, noise=0.5).corpus.items.num_rows
    assert loud == 2 * quiet


def test_no_cell_belongs_to_two_communities_and_none_is_empty():
    planted = make_planted(objects=400, communities=8, noise=0)
    owned = [labels for cells in planted.best_cells for labels in cells]
    assert len(owned) == len(set(owned)) == 32
    assert set(owned) == set(cells_of(planted))


def test_every_cell_of_the_default_holds_at_least_ten_objects():
    planted = make_planted(noise=0)
    assert min(map(len, cells_of(planted).values())) >= 10


def test_the_communities_part_the_objects_and_queries_name_their_members():
    planted = make_planted(objects=103, communities=4, cells=2)
    named = [name for community in range(4) for name in planted.query(community)]
    assert sorted(named) == sorted(planted.corpus.objects["object"].to_pylist())
    assert sorted(np.bincount(planted.communities).tolist()) == [25, 26, 26, 26]


def test_links_are_denser_within_communities():
    planted = make_planted(objects=1_000, communities=10, within=0.9)
    source, target = (planted.corpus.links[name].to_numpy() for name in ("source", "target"))
    inside = (planted.communities[source] == planted.communities[target]).mean()
    assert 0.85 < inside < 0.95
    assert (source < target).all()
    assert 3_500 < len(source) <= 4_000


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another():
    one, same, other = (make_planted(objects=100, communities=2, seed=seed) for seed in (3, 3, 4))
    for name in ("objects", "items", "mentions", "links"):
        assert getattr(one.corpus, name).equals(getattr(same.corpus, name))
    assert one.best_cells == same.best_cells
    assert not one.corpus.mentions.equals(other.corpus.mentions)


def test_making_a_corpus_leaves_the_global_generator_alone():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    make_planted(objects=100, communities=2)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_the_corpus_says_how_to_make_its_cube():
    corpus = make_planted(objects=100, communities=2).corpus
    assert [str(spec) for spec in corpus.dimensions] == ["decade=year@decades", "venue", "topic"]
    assert set(corpus.attributes) == {"year", "venue", "topic"}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"communities": 0}, "communities is 0, expected 1 or more"),
        ({"objects": 10}, "objects is 10, expected 40 or more: one for every cell of every community"),
        ({"noise": 1.0}, "noise is 1.0, expected a share from 0 to below 1"),
        ({"noise": float("nan")}, "noise is nan, expected a share from 0 to below 1"),
        ({"within": 2}, "within is 2, expected a share from 0 to 1"),
        ({"links": -1}, "links is -1, expected 0 or more for an object, and fewer than objects"),
        ({"decades": 0}, "decades is 0, expected 1 to 100"),
        ({"venues": 2, "topics": 2}, "5 decades × 2 venues × 2 topics are too few, expected 40 cells or more"),
    ],
)
def test_a_setting_out_of_range_is_one_clear_sentence(settings, text):
    with pytest.raises(ParameterError) as error:
        make_planted(**settings)
    assert str(error.value) == text


def test_a_community_that_is_not_there_is_an_error():
    with pytest.raises(ParameterError, match="community is 10, expected 0 to 9"):
        make_planted().query(10)
