"""A label is the sum of its words, once years, decades and acronyms are written out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.embed import LabelVectors, WordTable, label_vectors, read_names
from cube2net.errors import SourceError

WORDS = ["data", "mining", "management", "of", "question-answering", "question", "Apple", "u.s."]
YEARS = [str(year) for year in range(1990, 2021)]
TABLE = WordTable(pa.array([*WORDS, *YEARS]), np.eye(len(WORDS) + len(YEARS)))


def words_in(found: LabelVectors, label: int = 0) -> dict[str, float]:
    """Return which words a label's vector is made of: every word of the table has a direction of its own."""
    names = TABLE.words.to_pylist()
    return {names[i]: float(found.values[label, i]) for i in np.flatnonzero(found.values[label])}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("data mining", ["data", "mining"]),
        ("Data  Mining!", ["data", "mining"]),
        ("management of data", ["management", "data"]),
        ("data_mining/management", ["data", "mining", "management"]),
        ("question-answering", ["question-answering"]),
        ("data-question", ["data", "question"]),
        ("data's mining", ["data", "mining"]),
        ("Apple data", ["Apple", "data"]),
        ("U.S. data", ["u.s.", "data"]),
        ("2017", ["2017"]),
        ("200X", YEARS[10:20]),
        ("200x", YEARS[10:20]),
        ("1990s", YEARS[:10]),
        ("2016–2018", ["2016", "2017", "2018"]),
        ("2016-2018", ["2016", "2017", "2018"]),
        ("below 2000", ["2000"]),
        ("2010 and above", ["2010"]),
    ],
)
def test_a_label_is_the_sum_of_its_words(label: str, expected: list[str]) -> None:
    found = label_vectors([label], TABLE)
    assert words_in(found) == dict.fromkeys(expected, 1.0)
    assert found.blank == ()


def test_a_word_said_twice_counts_twice() -> None:
    assert words_in(label_vectors(["data data mining"], TABLE)) == {"data": 2.0, "mining": 1.0}


def test_a_span_of_years_that_runs_backwards_or_too_far_is_two_years() -> None:
    assert words_in(label_vectors(["2018–2016"], TABLE)) == {"2016": 1.0, "2018": 1.0}
    assert words_in(label_vectors(["1000–2016"], TABLE)) == {"2016": 1.0}


def test_full_names_are_read_in_place_of_acronyms() -> None:
    found = label_vectors(["SIGMOD"], TABLE, full_names=["Sig on Management of Data"])
    assert words_in(found) == {"management": 1.0, "data": 1.0}
    assert found.unknown == {"sig": 1}


def test_a_full_name_without_a_known_word_falls_back_to_the_label() -> None:
    found = label_vectors(["data"], TABLE, full_names=["Δεδομένα"])
    assert words_in(found) == {"data": 1.0}
    assert found.unknown == {"δεδομένα": 1}


def test_a_users_table_comes_first_and_writes_out_words_too() -> None:
    names = {"KDD": "data mining", "dm": "data mining"}
    found = label_vectors(["kdd", "dm management"], TABLE, full_names=["management", "dm management"], names=names)
    assert words_in(found, 0) == {"data": 1.0, "mining": 1.0}
    assert words_in(found, 1) == {"data": 1.0, "mining": 1.0, "management": 1.0}


def test_a_name_that_is_written_out_with_itself_is_written_out_once() -> None:
    assert words_in(label_vectors(["data"], TABLE, names={"data": "data mining"})) == {"data": 1.0, "mining": 1.0}


def test_labels_without_a_known_word_are_listed_and_unknown_words_counted() -> None:
    found = label_vectors(["data xyz", "xyz xyz", "of", "", "no text", "xyz-data"], TABLE)
    assert found.blank == ("xyz xyz", "of", "", "no text")
    assert found.unknown["xyz"] == 3
    assert not found.values[1:5].any()


def test_stop_words_are_the_callers() -> None:
    assert words_in(label_vectors(["of data"], TABLE, stop_words={"data"})) == {"of": 1.0}
    assert words_in(label_vectors(["of data"], TABLE, stop_words=())) == {"of": 1.0, "data": 1.0}


@given(st.lists(st.text("ab '-–X02’.", max_size=9), max_size=5))
def test_any_label_has_a_vector_or_is_listed(labels: list[str]) -> None:
    table = WordTable(pa.array(["a", "b", "ab", "2000", "2002"]), np.ones((5, 3)))
    found = label_vectors(labels, table)
    assert found.values.shape == (len(labels), 3)
    assert [label for label, row in zip(labels, found.values, strict=True) if not row.any()] == list(found.blank)


def test_a_file_of_full_names_is_read(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("label,full_name\n007,Bond films\nKDD,Knowledge Discovery\n")
    assert read_names(path) == {"007": "Bond films", "KDD": "Knowledge Discovery"}
    path.write_text("acronym,name\nKDD,Knowledge Discovery\n")
    with pytest.raises(SourceError, match="has the columns acronym, name, expected label and full_name"):
        read_names(path)
    with pytest.raises(SourceError, match=r"cannot read the full names in '.*none\.csv'"):
        read_names(tmp_path / "none.csv")
