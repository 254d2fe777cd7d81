import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.design.attributes import find_chains, find_dependency


def brute(lower: list[int], upper: list[int]) -> tuple[int, int, float]:
    """Return items of labels that stand on two or more, those not in the majority, and how often two agree."""
    pairs = [(a, b) for a, b in zip(lower, upper, strict=True) if a >= 0 and b >= 0]
    items = strays = 0
    agree = trials = 0.0
    for label in {a for a, _ in pairs}:
        own = [b for a, b in pairs if a == label]
        if len(own) < 2:
            continue
        items += len(own)
        strays += len(own) - max(own.count(b) for b in own)
        others = [(i, j) for i in range(len(own)) for j in range(len(own)) if i != j]
        agree += (len(own) - 1) * sum(own[i] == own[j] for i, j in others) / len(others)
        trials += len(own) - 1
    return items, strays, agree / trials


def test_a_city_lies_below_its_state_and_items_that_differ_are_counted():
    city = np.repeat(np.arange(20), 30)
    state = city // 5
    state[:7] = 3
    found = find_dependency("city", "state", city, state)
    assert found is not None and str(found) == "city → state (7 of 600 items differ)"
    items, strays, agreement = brute(city.tolist(), state.tolist())
    assert (found.items, found.strays) == (items, strays)
    assert found.agreement == pytest.approx(agreement)
    assert find_dependency("state", "city", state, city) is None


def test_items_without_a_label_say_nothing():
    city = np.repeat(np.arange(20), 30)
    state = np.where(np.arange(600) % 3 == 0, -1, city // 5)
    found = find_dependency("city", "state", np.where(np.arange(600) % 7 == 0, -1, city), state)
    assert found is not None and found.strays == 0
    assert found.items == int(((np.arange(600) % 3 != 0) & (np.arange(600) % 7 != 0)).sum())


def test_labels_of_one_item_each_decide_nothing():
    each = np.arange(1000)
    assert find_dependency("name", "colour", each, each % 3) is None
    few = np.where(each < 6, each // 2, each)
    assert find_dependency("name", "colour", few, np.where(each < 6, 0, each % 3)) is None


def test_a_label_that_nearly_all_items_have_lies_above_nothing():
    rng = np.random.default_rng(0)
    country = (rng.random(2000) < 0.02).astype(int)
    assert find_dependency("city", "country", rng.integers(50, size=2000), country) is None


def test_more_than_one_item_in_twenty_that_differs_is_too_many():
    city = np.repeat(np.arange(20), 100)
    rng = np.random.default_rng(0)
    for share, is_level in ((0.03, True), (0.1, False)):
        state = np.where(rng.random(2000) < share, rng.integers(4, size=2000), city // 5)
        assert (find_dependency("city", "state", city, state) is not None) == is_level


@given(st.integers(0, 10_000), st.integers(2, 400), st.integers(2, 40), st.integers(20, 3_000), st.booleans())
def test_attributes_that_are_independent_have_no_levels(seed, lower, upper, items, skewed):
    rng = np.random.default_rng(seed)
    above = rng.zipf(1.8, items) % upper if skewed else rng.integers(upper, size=items)
    chains = find_chains({"lower": rng.integers(lower, size=items), "upper": above}, {})
    assert chains.dependencies == () and not chains.same


@given(st.integers(0, 10_000), st.integers(6, 60), st.integers(2, 4))
def test_a_planted_chain_of_any_length_is_found(seed, leaves, levels):
    rng = np.random.default_rng(seed)
    labels = {"level 0": np.concatenate([np.arange(leaves * 2**levels), rng.integers(leaves * 2**levels, size=20_000)])}
    for level in range(1, levels + 1):
        labels[f"level {level}"] = labels[f"level {level - 1}"] // 2
    names = list(labels)
    rng.shuffle(names)
    chains = find_chains({name: labels[name] for name in names}, {})
    assert chains.paths["level 0"][0] == tuple(f"level {level}" for level in range(1, levels + 1))
    assert all(each.strays == 0 for each in chains.dependencies)


def test_of_two_attributes_that_say_the_same_the_readable_one_is_kept():
    rng = np.random.default_rng(0)
    code = rng.integers(30, size=3000)
    name = (code * 7) % 30
    region = code // 6
    chains = find_chains({"code": code, "name": name, "region": region}, {"code": 2, "name": 12, "region": 6})
    assert chains.same == {"code": "name"}
    assert chains.paths == {"name": (("region",),), "region": ()}


def test_several_names_for_one_thing_leave_one():
    rng = np.random.default_rng(0)
    code = rng.integers(30, size=3000)
    chains = find_chains({"a": code, "b": code, "c": code}, {"a": 1, "b": 2, "c": 3})
    assert chains.same == {"a": "c", "b": "c"}


def test_levels_of_different_paths_are_each_found_once():
    rng = np.random.default_rng(0)
    venue = rng.integers(60, size=6_000)
    publisher, kind = venue // 6, venue % 4
    country = publisher // 3
    chains = find_chains({"kind": kind, "venue": venue, "country": country, "publisher": publisher}, {})
    assert chains.paths["venue"] == (("publisher", "country"), ("kind",))
    assert chains.levels("venue") == ("publisher", "country", "kind")
    assert chains.paths["publisher"] == (("country",),) and chains.paths["kind"] == ()
    assert len(chains.dependencies) == 3
