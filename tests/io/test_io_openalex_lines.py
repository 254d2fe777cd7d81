"""OpenAlex's works line by line: in their order, and bad lines and damage in a corpus or one sentence."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import SourceError
from cube2net.io.bibliography import openalex_files
from cube2net.io.bibliography.openalex import OpenAlex

from fuzz import check_corpus_or_sentence, damaged
from openalex_records import FILES, ONE, items_of, lines, mentions_of, read, work

DOUBTFUL = [
    b'{"id": "W7", "t\\u0069tle": "An escape in a key", "abstract_inverted_index": {"a\\u0008b": [0]}}\n',
    b'{"id": "W8", "cited_by_count": 1e400}\n',
    b'{"id": "W9", "title": "Twice", "abstract_inverted_index": {"a": [0]}, "abstract_inverted_index": {"b": [0]}}\n',
    b'{"id": "W10", "title": "No end"\n',
]


def test_works_stay_in_their_order_where_a_line_between_them_is_doubtful() -> None:
    corpus = read(lines(work(1), work(2)) + DOUBTFUL[0] + lines(work(3)) + DOUBTFUL[3] + lines(work(4)))
    assert corpus.items["item"].to_pylist() == ["W1", "W2", "W7", "W3", "W4"]
    assert corpus.dropped["lines that are no JSON objects"] == 1


def test_short_blocks_give_the_same_works(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = read(FILES["works.jsonl"])
    monkeypatch.setattr(openalex_files, "BLOCK_BYTES", 10_000)
    again = read(FILES["works.jsonl"])
    assert items_of(again) == items_of(plain) and mentions_of(again) == mentions_of(plain)
    assert again.objects.equals(plain.objects)


BAD = {
    "lines that are no JSON objects": (b'{"id": "W5", \n', r"'\{\"id\": \"W5\",' is not a JSON object"),
    "lines that are not UTF-8": (b'{"id": "W5\xff"}\n', "byte 0xff is not UTF-8, expected text in UTF-8"),
    "records that are not works": (b'{"id": "A5"}\n', "'id' is 'A5', expected that of a work such as 'W2741809807'"),
}


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_line_is_counted_or_stops_with_its_place(reason: str) -> None:
    bad, sentence = BAD[reason]
    content = lines(ONE) + b"\n" + bad + lines(work(2))
    corpus = read(content)
    assert corpus.items["item"].to_pylist() == ["W1", "W2"] and corpus.dropped == {reason: 1}
    with pytest.raises(SourceError, match=rf"^works\.jsonl line 3: {sentence}"):
        read(content, strict=True)


def test_lines_that_are_too_long_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    long = lines(work(5, title="x" * 50_000))
    monkeypatch.setattr(openalex_files, "MAX_LINE_BYTES", 20_000)
    for size in (8_000, 200_000):
        monkeypatch.setattr(openalex_files, "BLOCK_BYTES", size)
        corpus = read(lines(ONE) + long + lines(work(2)))
        assert corpus.items["item"].to_pylist() == ["W1", "W2"]
        assert corpus.dropped == {"lines longer than 16 MiB": 1}


def test_a_page_that_is_nested_too_deep_is_counted_and_passed_over() -> None:
    page = b'{"results": [{"id": "https://openalex.org/W9"}], "x": ' + b"[" * 5_000 + b"]" * 5_000 + b"}\n"
    corpus = read(lines(ONE) + page + lines(work(2)))
    assert corpus.items["item"].to_pylist() == ["W1", "W2"]
    assert corpus.dropped == {"lines that are no JSON objects": 1}


def test_no_work_at_all_is_one_sentence_with_the_first_reason(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"holds no work to read \(1 records that are not works\): works\.jsonl line 1: "
    ):
        read(b'{"id": "A5"}\n')
    with pytest.raises(
        SourceError, match=r"holds no file of works to read: expected OpenAlex's snapshot or some of its"
    ):
        OpenAlex().read([tmp_path])
    with pytest.raises(SourceError, match=r"nowhere does not exist: expected OpenAlex's snapshot"):
        OpenAlex().read([tmp_path / "nowhere"])
    with pytest.raises(SourceError, match=r"^no path is given: expected OpenAlex's snapshot"):
        OpenAlex().read([])


@given(damaged(FILES["works.jsonl"]))
def test_damaged_works_give_a_corpus_or_a_sentence(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "works.jsonl"
        path.write_bytes(content)
        check_corpus_or_sentence(lambda: OpenAlex().read([path]))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 3000) | st.text(max_size=5) | st.sampled_from(["A1", "I2", "W3"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ONE, "author", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from(sorted(ONE)), ANY, max_size=4), min_size=1, max_size=4))
def test_whatever_a_work_says_it_stays_a_work(changes: list[dict[str, Any]]) -> None:
    works = [{**ONE, **change, "id": f"W{at}"} for at, change in enumerate(changes)]
    for objects in ("authors", "institutions", "works"):
        corpus = read(lines(*works), objects=objects)
        assert corpus.items["item"].to_pylist() == [f"W{at}" for at in range(len(works))]
        for table in (corpus.items, corpus.objects):
            table.validate(full=True)
