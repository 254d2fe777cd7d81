from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from cube2net.design.attributes import choose_bins, profile_attribute

COUNT = 200
WORDS = [f"word{number}" for number in range(20)]


def texts() -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS, 12)) for _ in range(COUNT)]


@pytest.mark.parametrize(
    ("name", "values", "kind", "distinct"),
    [
        ("same", ["x"] * COUNT, "constant", 1),
        ("empty", [None] * COUNT, "constant", 0),
        ("blank", [" "] * COUNT, "constant", 0),
        ("Kunden-Nr.", [f"K{i:05}" for i in range(COUNT)], "id", COUNT),
        ("serial", list(range(1000, 1000 + COUNT)), "id", COUNT),
        ("Name", [f"Person Number {i}" for i in range(COUNT)], "nearly unique", COUNT),
        ("street", [f"Street {i % 120}" for i in range(COUNT)], "nearly unique", 120),
        ("city", [f"city {i % 7}" for i in range(COUNT)], "labels", 7),
        ("is new", [i % 3 == 0 for i in range(COUNT)], "labels", 2),
        ("genres", [["war", "drama"] if i % 2 else ["love"] for i in range(COUNT)], "several labels", 3),
        ("stars", [1 + i % 5 for i in range(COUNT)], "few numbers", 5),
        ("price", [i * 1.25 for i in range(COUNT)], "numbers", COUNT),
        ("people", [int(1.05**i * 1000) for i in range(COUNT)], "numbers", COUNT),
        ("founded", [1900 + i % 100 for i in range(COUNT)], "years", 100),
        ("year", [0, *(1990 + i % 30 for i in range(COUNT - 1))], "years", 31),
        ("size", [0, *(1990 + i % 30 for i in range(COUNT - 1))], "numbers", 31),
        ("on", [date(1990 + i % 30, 1, 1) for i in range(COUNT)], "dates", 30),
        ("described", texts(), "text", COUNT),
        ("nested", [{"a": i} for i in range(COUNT)], "unusable", 0),
    ],
)
def test_an_attribute_is_known_by_its_values(name, values, kind, distinct):
    found = profile_attribute(name, pa.array(values))
    assert (found.kind, found.distinct) == (kind, distinct)
    assert found.reason


def test_labels_in_a_dictionary_are_those_in_texts():
    column = pa.array([f"city {i % 7}" for i in range(COUNT)])
    plain, coded = profile_attribute("city", column), profile_attribute("city", column.dictionary_encode())
    assert (plain.kind, plain.distinct) == (coded.kind, coded.distinct)
    assert plain.labels.codes.tolist() == coded.labels.codes.tolist()


def test_values_that_are_missing_are_counted():
    assert profile_attribute("city", pa.array(["a", "b", None, ""] * 50)).filled == 0.5
    assert profile_attribute("tags", pa.array([["a"], [], None, ["b", "a"]] * 50)).filled == 0.5
    assert profile_attribute("price", pa.array([1.5, float("nan"), None, 2.5] * 50)).filled == 0.5


def test_numbers_that_lie_evenly_get_a_round_width_and_others_quarters():
    rng = np.random.default_rng(0)
    assert choose_bins(rng.uniform(0, 100, 1000)) == "width:10"
    assert choose_bins(rng.uniform(0, 0.07, 1000)) == "width:0.01"
    assert choose_bins(rng.uniform(-3e6, 3e6, 1000)) == "width:1000000"
    assert choose_bins(rng.lognormal(5, 3, 1000)) == "quantiles:4"
    assert choose_bins(np.concatenate([np.zeros(900), rng.uniform(0, 100, 100)])) == "quantiles:4"
    assert choose_bins(np.concatenate([rng.uniform(0, 100, 1000), [1e12]])) != "quantiles:4"


def test_numbers_are_said_as_people_write_them() -> None:
    amounts = pa.array([7191.43 + 13.5 * row for row in range(40)] + [68_386_072.9])
    assert profile_attribute("turnover", amounts).reason == "has numbers, 7,191.43 to 68,386,072.9"
    assert profile_attribute("founded", pa.array([1901, 1999] * 20)).reason == "holds years, 1901 to 1999"
