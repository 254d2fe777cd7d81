from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.cube.building.dimensions import LabelledItems, label_items
from cube2net.cube.building.labels import CONTAINED_BINS, bin_numbers, is_bins, read_days
from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import Corpus
from cube2net.model.dimension import DimensionSpec

from corpora import corpus_of

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


@given(ANY, st.sampled_from(BINS))
def test_bins_of_any_numbers_are_in_order_with_distinct_labels_or_are_refused(values: list[float], bins: str) -> None:
    try:
        codes, labels = bin_numbers(np.array(values), bins)
    except SourceError:
        return
    assert len(set(labels)) == len(labels)
    assert sorted(set(codes.tolist())) == list(range(len(labels))), "every bin is used"
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


CHAIN = DimensionSpec.parse("day=date@days/months/quarters/years/decades|weeks")
DATES = st.lists(st.dates(date(1600, 1, 1), date(2399, 12, 31)), min_size=1, max_size=20)
NAMES = {
    "day": date.isoformat,
    "weeks": lambda day: "{}-W{:02d}".format(*day.isocalendar()),
    "months": lambda day: f"{day:%Y-%m}",
    "quarters": lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
    "years": lambda day: str(day.year),
    "decades": lambda day: f"{day.year // 10}X",
}


def with_dates(values: object, kind: pa.DataType | None = None) -> Corpus:
    column = pa.array(values, kind)
    plain = corpus_of([(2003, [], [0])] * len(column), objects=1)
    return Corpus(plain.objects, plain.items.append_column("date", column), plain.mentions)


def named(labelled: LabelledItems, level: str) -> list[str]:
    """Return the label of every item at a level."""
    dimension = labelled.dimensions[0]
    number = [each.name for each in dimension.levels].index(level)
    codes = dimension.parents_at(number)[labelled.table["label"].to_numpy()]
    return [dimension.levels[number].labels[code] for code in codes.tolist()]


@given(DATES)
def test_every_level_of_dates_is_what_the_calendar_says(days: list[date]) -> None:
    labelled = label_items(with_dates(days), [CHAIN])
    for level, name in NAMES.items():
        assert named(labelled, level) == [name(day) for day in days]
        labels = next(each.labels for each in labelled.dimensions[0].levels if each.name == level)
        assert list(labels) == list(dict.fromkeys(name(day) for day in sorted(days)))


@given(DATES)
def test_dates_timestamps_and_texts_give_the_same_labels(days: list[date]) -> None:
    times = [datetime(day.year, day.month, day.day, 23, 59) for day in days]
    columns = [
        pa.array(days, pa.date32()),
        pa.array(days, pa.date64()),
        pa.array(times, pa.timestamp("us")),
        pa.array([f" {day} " for day in days]),
        pa.array([f"{day}T23:59:00+02:00" for day in days]).dictionary_encode(),
    ]
    found = [read_days(column, "date", "days") for column in columns]
    for items, numbers in found:
        assert items.tolist() == list(range(len(days)))
        assert numbers.tolist() == found[0][1].tolist() == [(day - date(1970, 1, 1)).days for day in days]


def test_a_time_is_of_the_day_that_it_is_where_it_was_noted() -> None:
    late = [datetime(2019, 12, 31, 23, 30, tzinfo=UTC)]
    assert named(label_items(with_dates(late, pa.timestamp("s", "UTC")), [CHAIN]), "day") == ["2019-12-31"]
    assert named(label_items(with_dates(late, pa.timestamp("s", "Europe/Berlin")), [CHAIN]), "day") == ["2020-01-01"]


def test_a_text_that_says_less_than_the_bins_need_is_no_label() -> None:
    corpus = with_dates(["2019-03-05", "2019-03", "2019", "", None])
    assert label_items(corpus, [DimensionSpec.parse("date@days")]).ledger.unlabelled == {"date": 4}
    assert label_items(corpus, [DimensionSpec.parse("date@months")]).ledger.unlabelled == {"date": 3}
    labelled = label_items(corpus, [DimensionSpec.parse("date@years/decades")])
    assert (labelled.ledger.unlabelled, named(labelled, "date")) == ({"date": 2}, ["2019", "2019", "2019"])


@pytest.mark.parametrize("text", ["n.d.", "05.03.2019", "2019-13", "2019-02-30", "2019-3-5", "20190305", "2019-03-05x"])
def test_a_text_that_is_no_date_is_named(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        label_items(with_dates(["2019-03-05", text]), [DimensionSpec.parse("date@days")])
    expected = f"attribute 'date' is {text!r} in an item, expected a date such as 2019-03-05 (in 1 items)"
    assert str(caught.value) == expected


def test_numbers_are_no_dates_and_years_are_no_months() -> None:
    with pytest.raises(SourceError, match="attribute 'date' holds int64, expected dates for the bins 'days': give it"):
        label_items(with_dates([20190305]), [DimensionSpec.parse("date@days")])
    with pytest.raises(ParameterError, match="the bins 'weeks' do not hold whole bins of 'months': put them on a path"):
        label_items(with_dates(["2019-03-05"]), [DimensionSpec.parse("date@months/weeks")])


def test_numbers_of_years_stand_above_dates() -> None:
    labelled = label_items(
        with_dates(["2019-03-05", "2021-01-01"]), [DimensionSpec.parse("date@days/width:4/edges:2020")]
    )
    assert named(labelled, "width:4") == ["2016–2019", "2020–2023"]
    assert named(labelled, "edges:2020") == ["below 2020", "2020 and above"]


@given(DATES, st.sampled_from(sorted(CONTAINED_BINS)), st.sampled_from(sorted(CONTAINED_BINS)))
def test_bins_that_are_said_to_hold_others_do(days: list[date], finer: str, coarser: str) -> None:
    assert is_bins(finer)
    if coarser in CONTAINED_BINS[finer]:
        numbers = np.array([(day - date(1970, 1, 1)).days for day in days], dtype=np.float64)
        fine, coarse = (bin_numbers(numbers, bins, are_days=True)[0].tolist() for bins in (finer, coarser))
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))
