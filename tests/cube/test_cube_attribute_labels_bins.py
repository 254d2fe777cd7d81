import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.cube.building.labels import bin_numbers
from cube2net.errors import ParameterError, SourceError

ANY = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30)
BINS = [
    "years",
    "decades",
    "width:3",
    "width:0.1",
    "width:1e-320",
    "width:1e300",
    "quantiles:4",
    "quantiles:999999999",
    "edges:-1,0,10",
    "edges:1e22,1.0000001e22",
]
FLOATS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)


@pytest.mark.parametrize(
    ("values", "bins", "expected"),
    [
        ([1999, 2003, 2008], "decades", ["199X", "200X", "200X"]),
        ([2016, 2017, 2016], "years", ["2016", "2017", "2016"]),
        ([2016, 2019, 2021], "width:3", ["2016–2018", "2019–2021", "2019–2021"]),
        ([0.2, 0.7], "width:0.5", ["0–0.5", "0.5–1"]),
        ([1, 2, 3, 4], "quantiles:2", ["1–2", "1–2", "3–4", "3–4"]),
        ([1, 2, 2, 3], "quantiles:999999999", ["1", "2", "2", "3"]),
        ([0.3, 0.6, 0.25], "width:0.1", ["0.3–0.4", "0.6–0.7", "0.2–0.3"]),
        ([1.0000001, 1.0000002], "edges:1.00000015", ["below 1", "1 and above"]),
        ([1.00000012, 1.00000017], "width:0.00000005", ["1.0000001–1.00000015", "1.00000015–1.0000002"]),
        ([0.1, 0.1], "quantiles:4", ["0.1", "0.1"]),
        ([5, 10, 99, 100], "edges:10,100", ["below 10", "10–99", "10–99", "100 and above"]),
    ],
)
def test_numbers_get_the_labels_one_would_write_by_hand(values: list[float], bins: str, expected: list[str]) -> None:
    codes, labels = bin_numbers(np.array(values), bins)
    assert [labels[code] for code in codes] == expected


@given(FLOATS, st.sampled_from(["years", "decades", "width:2.5", "quantiles:4", "edges:-1,0,10"]))
def test_bins_keep_the_order_of_the_numbers_and_every_bin_is_used(values: list[float], bins: str) -> None:
    codes, labels = bin_numbers(np.array(values), bins)
    order = np.argsort(values, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert sorted(set(codes.tolist())) == list(range(len(labels)))


@given(ANY, st.sampled_from(BINS))
def test_whatever_the_numbers_labels_are_distinct_or_the_bins_are_refused(values: list[float], bins: str) -> None:
    try:
        codes, labels = bin_numbers(np.array(values), bins)
    except SourceError:
        return
    assert len(set(labels)) == len(labels)
    assert max(map(len, labels)) < 60
    assert (np.diff(codes[np.argsort(values, kind="stable")]) >= 0).all()


@pytest.mark.parametrize("bins", ["quantiles:4", "width:0.00001", "edges:1600000001.5,1600000002.5"])
def test_labels_of_close_edges_have_the_digits_that_tell_them_apart(bins: str) -> None:
    codes, labels = bin_numbers(1600000000.5 + np.arange(8), bins)
    assert len(set(labels)) == len(labels) == len(set(codes.tolist()))


@given(FLOATS, st.integers(50, 10**12))
def test_more_quantiles_than_numbers_are_as_many_as_numbers(values: list[float], parts: int) -> None:
    numbers = np.round(np.array(values))
    codes, labels = bin_numbers(numbers, f"quantiles:{parts}")
    assert codes.tolist() == np.unique(numbers, return_inverse=True)[1].tolist()
    assert len(labels) == len(np.unique(numbers))


@pytest.mark.parametrize("bins", ["years", "decades", "width:3", "width:1e-320"])
def test_a_number_too_large_for_its_bins_is_refused_with_what_to_do(bins: str) -> None:
    sentence = f"attribute 'year' is -1e.300, too large for the bins '{bins}': use width:N with a larger N"
    with pytest.raises(SourceError, match=sentence):
        bin_numbers(np.array([1999, -1e300]), bins, "attribute 'year'")


@pytest.mark.parametrize(
    "bins", ["decade", "width:inf", "width:nan", "width:0", "width:-1", "width:x", "quantiles:0", "edges:", "edges:3,1"]
)
def test_bins_that_cannot_be_read_are_refused_with_the_spellings_allowed(bins: str) -> None:
    with pytest.raises(
        ParameterError, match="cannot read the bins .*: write days, weeks, months, .*, decades, width:N"
    ):
        bin_numbers(np.array([1.0]), bins)
