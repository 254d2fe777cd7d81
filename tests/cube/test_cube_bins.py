import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.cube.bins import bin_numbers
from cube2net.errors import ParameterError

FLOATS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)


@pytest.mark.parametrize(
    ("values", "bins", "expected"),
    [
        ([1999, 2003, 2008], "decades", ["199X", "200X", "200X"]),
        ([2016, 2017, 2016], "years", ["2016", "2017", "2016"]),
        ([2016, 2019, 2021], "width:3", ["2016–2018", "2019–2021", "2019–2021"]),
        ([0.2, 0.7], "width:0.5", ["0–0.5", "0.5–1"]),
        ([1, 2, 3, 4], "quantiles:2", ["1–2", "1–2", "3–4", "3–4"]),
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


@pytest.mark.parametrize("bins", ["decade", "width:0", "width:-1", "width:x", "quantiles:0", "edges:", "edges:3,1"])
def test_bins_that_cannot_be_read_are_refused_with_the_spellings_allowed(bins: str) -> None:
    with pytest.raises(ParameterError, match="cannot read the bins .*: write years, decades, width:N"):
        bin_numbers(np.array([1.0]), bins)
