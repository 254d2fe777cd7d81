"""Numbers and dates as people write them become numbers and dates, whatever the convention."""

from datetime import date, timedelta

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cube2net.io.dropped import Dropped
from cube2net.io.tables.column_types import Rows, read_attribute
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.read_rows import read_rows

from table_files import put, read, refusal

WORDED = "dates by their first day"


def column(*values: str | None, name: str = "x", beside: dict | None = None, **given: str) -> tuple[list, str]:
    """Return what values of a column become, and how they were read."""
    table = pa.table({name: pa.array(values, pa.string()), **(beside or {})})
    rows = Rows("x.csv", table, lambda some: [f"row {row}" for row in some], frozenset(table.column_names))
    rows = Rows(rows.name, rows.table, rows.places, rows.untyped, Conventions(**given))
    ways: dict[str, str] = {}
    found = read_attribute(rows, name, Dropped(), None, ways)
    return found.to_pylist(), ways.get(name, "")


@pytest.mark.parametrize(
    ("values", "numbers", "way"),
    [
        (["1.5", "2"], [1.5, 2.0], ""),
        (["1.234", "2.500"], [1.234, 2.5], ""),
        (["0.00"] * 11 + ["1,000.00"], [0.0] * 11 + [1000.0], "decimal='.'"),
        (["3,14", "2"], [3.14, 2.0], "decimal=','"),
        (["1.234,5", "12,25"], [1234.5, 12.25], "decimal=','"),
        (["1.234.567", "1.000"], [1234567, 1000], "decimal=','"),
        (["1,234.5", "12.25"], [1234.5, 12.25], "decimal='.'"),
        (["1,234", "2,500,000"], [1234, 2500000], "decimal='.'"),
        (["1,234", "2,5"], [1.234, 2.5], "decimal=','"),
        (["1 234,5", "2\u202f000,25"], [1234.5, 2000.25], "decimal=','"),
        (["1'234.50", "2’000.25"], [1234.5, 2000.25], "decimal='.'"),
        (["12,5 %", "3 %"], [12.5, 3.0], "decimal=',', '%' left out"),
        (["1.234,50 €", "-3,00 €"], [1234.5, -3.0], "decimal=',', '€' left out"),
        (["$1,234.50", "-$3.00"], [1234.5, -3.0], "decimal='.', '$' left out"),
        (["$1,000"] * 10 + ["£7"], [1000] * 10 + [None], "decimal='.', '$' left out"),
        (["90 min", "85 min"], [90, 85], "decimal='.', 'min' left out"),
        (["CHF 1'200", "CHF 900"], [1200, 900], "decimal='.', 'CHF' left out"),
        (["30s", "45s"], [30, 45], "decimal='.', 's' left out"),
        (["+5", "-3"], [5, -3], "decimal='.'"),
        (["1,5e3", ",5"], [1500.0, 0.5], "decimal=','"),
        (["3,5", "n/a", "-"], [3.5, None, None], "decimal=',', 2 missing ('n/a', '-')"),
    ],
)
def test_numbers_are_read_as_they_are_written(values, numbers, way):
    assert column(*values) == (numbers, way)


@pytest.mark.parametrize(
    "labels",
    [
        ["01234", "99999"],
        ["E5", "e12"],
        ["1,2,3", "4,5"],
        ["12,34,56", "1,2"],
        ["€", "%"],
        ["1.2.3", "1.2.4"],
        ["a", "1,5"],
        ["00,5", "01,5"],
        ["10-11-12", "10-11-13"],
        ["A1", "A2"],
        ["Rome", "none"],
        ["$5", "£6", "€7"],
        ["1990s", "2000s"],
        ["80s", "90s"],
        ["NO", "NA", "SE", "DK", "DE", "FR"],
        ["Mai 12", "Mai 13"],
        ["2012/10", "2012/44"],
    ],
)
def test_codes_and_lists_stay_labels(labels):
    assert column(*labels) == (labels, "")


@pytest.mark.parametrize(
    ("values", "days", "way"),
    [
        (["25.02.2006", "1.3.2006"], ["2006-02-25", "2006-03-01"], "dates='dmy'"),
        (["25.02.06", "01.03.99"], ["2006-02-25", "1999-03-01"], "dates='dmy'"),
        (["02/25/2006", "03/04/2006"], ["2006-02-25", "2006-03-04"], "dates='mdy'"),
        (["25/02/2006", "03/04/2006"], ["2006-02-25", "2006-04-03"], "dates='dmy'"),
        (["03/04/2006", "05/06/2006"], ["2006-03-04", "2006-05-06"], "dates='mdy', though its days could be months"),
        (["03.04.2006", "05.06.2006"], ["2006-04-03", "2006-06-05"], "dates='dmy', though its days could be months"),
        (["2006-02-25", "1999-12-31"], ["2006-02-25", "1999-12-31"], ""),
        (["2006-02-25T10:00:00Z", "1999-12-31 23:59"], ["2006-02-25", "1999-12-31"], ""),
        (["2006/2/25", "1999/12/31"], ["2006-02-25", "1999-12-31"], ""),
        (["25.02.2006 13:45", "26.02.2006 08:00:12"], ["2006-02-25", "2006-02-26"], "dates='dmy'"),
        (["2/25/2006 1:45 PM", "2/26/2006 8:00 AM"], ["2006-02-25", "2006-02-26"], "dates='mdy'"),
        (["29.02.2024", "28.02.2023"], ["2024-02-29", "2023-02-28"], "dates='dmy'"),
        (["26-Oct-12", "2011", "NA"], ["2012-10-26", "2011-01-01", "None"], f"{WORDED}, 1 missing ('NA')"),
        (["3. März 1999", "1. Dez. 2001"], ["1999-03-03", "2001-12-01"], WORDED),
        (["3 de marzo de 1999", "1 enero 2001"], ["1999-03-03", "2001-01-01"], WORDED),
        (["14 juillet 1989", "1er févr. 2001"], ["1989-07-14", "2001-02-01"], WORDED),
        (["2 giugno 1946", "15 ago 2001"], ["1946-06-02", "2001-08-15"], WORDED),
        (["October 26, 2012", "Fri, 2 Nov 2012 10:30"], ["2012-10-26", "2012-11-02"], WORDED),
        (["Oct 2012", "May-13"], ["2012-10-01", "2013-05-01"], WORDED),
        (["2012-10", "2012-11"], ["2012-10-01", "2012-11-01"], WORDED),
        (["2012-W43", "2013-W01-2"], ["2012-10-22", "2013-01-01"], WORDED),
        (["2012/13", "2013/14"], ["2012", "2013"], "seasons by their first year"),
    ],
)
def test_dates_are_read_as_they_are_written(values, days, way):
    found, said = column(*values)
    assert [str(day) for day in found] == days
    assert said == way


def test_a_column_that_says_everywhere_that_there_is_nothing_is_empty(tmp_path):
    corpus, said = read(put(tmp_path, nodes="id,x,y\na,n/a,1\nb,-,2\n", links="from,to\na,b\n"))
    assert corpus.attributes == ("y",)
    assert "nodes.csv: left out 'x' (empty, or neither labels, numbers nor dates)" in said


def test_what_can_be_read_in_two_ways_is_read_as_the_other_columns_of_the_table():
    assert column("1.234", "2.500", beside={"y": ["3,14", "2,7"]})[0] == [1234, 2500]
    assert column("1.234", "2.500", beside={"y": ["3.14", "2.7"]})[0] == [1.234, 2.5]
    assert column("1,234", "2,500", beside={"y": ["3,14", "2,7"]})[0] == [1.234, 2.5]
    assert column("1,234", "2,500", delimiter=";")[0] == [1.234, 2.5]
    assert column("03/04/2006", beside={"y": ["25/02/2006"]})[0] == [date(2006, 4, 3)]
    assert column("03/04/2006", beside={"y": ["3,14"]})[0] == [date(2006, 4, 3)]


def test_spellings_of_yes_and_no_are_truth_values():
    assert column("Yes", "no", "N", "unknown") == ([True, False, False, None], "1 missing ('unknown')")
    assert column("ja", "nein")[0] == ["ja", "nein"]


def test_what_is_said_goes_before_what_is_found():
    assert column("1,234", "2,500", decimal=",") == ([1.234, 2.5], "")
    assert column("1.234", "2.500", decimal=",") == ([1234, 2500], "")
    assert column("1.5", "2.5", decimal=",") == (["1.5", "2.5"], "")
    assert column("03/04/2006", dates="dmy") == ([date(2006, 4, 3)], "")
    assert column("03/25/2006", dates="dmy") == (["03/25/2006"], "")
    assert column("25.02.2006", dates="ymd") == (["25.02.2006"], "")


@pytest.mark.parametrize("name", ["timestamp", "created_at", "Unix time", "reviewTimestamp", "ts"])
def test_seconds_since_1970_are_dates_where_the_name_says_so(name):
    assert column("1140825600", "1140912000", name=name) == (
        [date(2006, 2, 25), date(2006, 2, 26)],
        "seconds since 1970",
    )
    assert column("1140825600000", name=name) == ([date(2006, 2, 25)], "milliseconds since 1970")
    assert column("1500", name=name) == ([1500], "")


def test_numbers_without_such_a_name_stay_numbers_but_for_milliseconds_of_these_decades():
    assert column("1140825600", name="population") == ([1140825600], "")
    assert column("1140825600000", name="population")[0] == [date(2006, 2, 25)]
    assert column("1140825600000", name="user_id")[0] == [1140825600000]


def test_days_written_as_one_number_are_dates_where_the_name_or_many_of_them_say_so():
    days = [date(2019, 1, 1) + timedelta(days=row) for row in range(40)]
    written_days = [f"{day:%Y%m%d}" for day in days]
    assert column(*written_days, name="flown") == (days, "year, month and day together")
    assert column(*written_days[:2], name="date")[0] == days[:2]
    assert column(*written_days[:2], name="number")[0] == [20190101, 20190102]
    assert column("20190101", "20191301", name="date")[0] == [20190101, 20191301]


def test_days_that_are_in_no_calendar_are_missing_and_counted(tmp_path):
    days = "".join(f"n{i};{1 + i:02d}.02.2006\n" for i in range(20))
    paths = put(tmp_path, nodes=f"id;am\n{days}x;30.02.2006\n", links="from,to\nn0,n1\n")
    corpus, said = read(paths)
    assert corpus.items["am"].to_pylist()[-2:] == [date(2006, 2, 20), None]
    told = "nodes.csv line 22: 'am' is '30.02.2006', expected a date"
    assert f"left out values of 'am' that are not dates: 1 ({told})" in said
    assert "nodes.csv: read 'am' with dates='dmy' (guessed)" in said
    assert refusal(paths, strict=True) == told


def test_weights_with_decimal_commas_are_numbers(tmp_path):
    paths = put(tmp_path, nodes="id;x\na;1\nb;2\nc;3\n", links="from;to;weight\na;b;1,5\nb;c;2\n")
    corpus, said = read(paths)
    assert corpus.links["weight"].to_pylist() == [1.5, 2.0]
    assert "links.csv: read 'weight' with decimal=',' (guessed)" in said


NUMBERS = st.floats(-1e9, 1e9).map(lambda number: round(number, 2))
DAYS = st.dates(date(1970, 1, 1), date(2069, 12, 31))
TEXTS = st.text(st.sampled_from("abzäéß ,;|\t'\"x\n1"), max_size=8).map(str.strip)


@st.composite
def conventions(draw: st.DrawFn) -> dict[str, str]:
    decimal = draw(st.sampled_from(".,"))
    return {
        "delimiter": draw(st.sampled_from(",;\t|")),
        "decimal": decimal,
        "thousands": draw(st.sampled_from(["", "." if decimal == "," else ",", " ", "\u202f"])),
        "dates": draw(st.sampled_from(["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])),
        "encoding": draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])),
        "quotes": draw(st.sampled_from(["needed", "all"])),
        "ends": draw(st.sampled_from(["\n", "\r\n"])),
        "title": draw(st.sampled_from(["", "My table\n", "\n\n"])),
    }


def formats(number: float, decimal: str, thousands: str) -> str:
    text = f"{number:,.2f}"
    return text.replace(",", "\0").replace(".", decimal).replace("\0", thousands)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(conventions(), st.lists(st.tuples(NUMBERS, DAYS, TEXTS), min_size=1, max_size=12))
def test_a_table_written_in_any_convention_is_read_back_as_the_same_values(tmp_path, way, values):
    """The first day says which of the two numbers is the day, as some day of a real column does."""
    values = [(0.25, date(1999, 12, 31), "text"), *values]

    def field(text: str) -> str:
        needed = way["quotes"] == "all" or any(mark in text for mark in (way["delimiter"], '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if needed else text

    rows = [["key", "Betrag", "Tag", "Text"]]
    rows += [
        [f"k{number}", formats(value, way["decimal"], way["thousands"]), day.strftime(way["dates"]), text]
        for number, (value, day, text) in enumerate(values)
    ]
    body = "".join(way["delimiter"].join(map(field, row)) + way["ends"] for row in rows)
    path = tmp_path / "x.csv"
    path.write_bytes((way["title"] + body).encode(way["encoding"]))
    found = read_rows(path)
    assert found.table["key"].to_pylist() == [f"k{number}" for number in range(len(values))]
    assert found.table["Text"].to_pylist() == [text or None for *_, text in values]
    numbers = read_attribute(found, "Betrag", Dropped(strict=True)).to_pylist()
    assert numbers == pytest.approx([value for value, *_ in values])
    assert read_attribute(found, "Tag", Dropped(strict=True)).to_pylist() == [day for _, day, _ in values]


def test_a_long_column_of_labels_is_not_gone_through_and_one_of_numbers_is(tmp_path):
    count = 5_000
    labels = [f"label {i}" if i % 2 else str(i) for i in range(count)]
    assert column(*labels)[0] == labels
    numbers = [f"{i},5" for i in range(count)]
    assert column(*numbers)[0] == [i + 0.5 for i in range(count)]
    days = [(date(2000, 1, 1) + timedelta(days=i)) for i in range(count)]
    assert column(*[day.strftime("%d/%m/%Y") for day in days])[0] == days
