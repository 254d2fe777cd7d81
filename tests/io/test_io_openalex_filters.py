"""OpenAlex's works by filters, and parameters that cannot be."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from cube2net.errors import ParameterError, SourceError
from cube2net.io.bibliography.openalex import OpenAlex

from openalex_records import FILES, ONE, items_of, lines, read, work


def test_filters_leave_what_a_plain_filter_leaves() -> None:
    items = items_of(read(FILES["works.jsonl"]))
    for name in ("source", "publisher", "topic", "field", "domain", "concept", "type", "language", "country"):
        values = Counter(
            label
            for item in items.values()
            for label in (item[name] if isinstance(item[name], set) else [item[name]])
            if label
        )
        some = [label for label, _ in values.most_common(2)]
        kept = {
            key
            for key, item in items.items()
            if set(some) & (item[name] if isinstance(item[name], set) else {item[name]})
        }
        found = read(FILES["works.jsonl"], where={name: some})
        assert set(items_of(found)) == kept, name
        assert found.dropped["works outside the filters"] == len(items) - len(kept)


def test_all_filters_must_hold_and_years_count() -> None:
    works = lines(work(1), work(2, publication_year=2010), work(3, language="no"), work(4, publication_year=None))
    corpus = read(works, where={"field": "Computer Science", "language": ["en"]}, from_year=2011, to_year=2015)
    assert corpus.items["item"].to_pylist() == ["W1"]
    assert corpus.dropped == {"works of other years": 2, "works outside the filters": 1}


def test_a_label_behind_escapes_is_found_too() -> None:
    escaped = lines(ONE).replace(b'"Computer Science"', b'"Com\\u0070uter Science"')
    assert read(escaped, where={"field": "Computer Science"}).items.num_rows == 1
    named = work(1, primary_topic={**ONE["primary_topic"], "field": {"display_name": "Øl / mål"}})
    for content in (lines(named), json.dumps(named, ensure_ascii=False).encode(), lines(named).replace(b"/ ", b"\\/ ")):
        assert read(content, where={"field": "Øl / mål"}).items.num_rows == 1


def test_retracted_works_are_left_out_where_asked() -> None:
    works = lines(work(1), work(2, is_retracted=True))
    assert read(works).items.num_rows == 2
    corpus = read(works, retracted=False)
    assert corpus.items["item"].to_pylist() == ["W1"] and corpus.dropped == {"retracted works": 1}
    assert corpus.gone.to_pylist() == ["W2"]
    assert len(read(works).gone) == 0


def test_a_filter_that_no_work_passes_says_what_was_likely_meant() -> None:
    with pytest.raises(
        SourceError, match=r"holds no work to read \(1 works outside the filters\) \(did you mean field "
    ):
        read(lines(ONE), where={"field": "Computer Sciense"})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objects": "papers"}, r"^unknown kind of objects 'papers': choose one of authors, institutions, works"),
        ({"where": {"feild": "x"}}, r"^unknown attribute of works 'feild': choose one of .*\(did you mean 'field'\?\)"),
        ({"from_year": "x"}, r"^from_year is 'x', expected a whole number"),
        ({"from_year": 2020, "to_year": 2010}, r"^from_year is 2020, after to_year 2010: no year is in between"),
    ],
)
def test_parameters_that_cannot_be_are_said_at_once(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        OpenAlex(**options)
