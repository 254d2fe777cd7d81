"""OpenAlex's works line by line: read slim as they are, and bad lines and damage in a corpus or one sentence."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.checkpoints import about_corpus, tables_of
from cube2net.errors import SourceError
from cube2net.sources.readers import openalex_lines
from cube2net.sources.readers.openalex import OpenAlex
from cube2net.sources.readers.openalex_lines import Block
from cube2net.sources.readers.openalex_parse import LineReader, SlimBlock

from fuzz import check_corpus_or_sentence, damaged
from openalex_records import FILES, ONE, REAL, items_of, lines, mentions_of, read, work


def as_they_are(self: LineReader, block: Block) -> SlimBlock:
    """Return a block of which no line is slimmed."""
    nothing = pa.nulls(len(block.numbers), pa.string())
    return SlimBlock(block, nothing, nothing, np.zeros(len(block.numbers), bool))


def check_slim(content: bytes, **options: Any) -> None:
    """Check that lines are read alike, slimmed and as they are."""
    slim = outcome(content, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LineReader, "_slimmed", as_they_are)
        assert slim == outcome(content, **options)


def outcome(content: bytes, **options: Any) -> object:
    """Return all that comes of lines: the tables of a corpus and what was dropped, or the sentence of a refusal."""
    try:
        corpus = read(content, **options)
    except SourceError as error:
        return re.sub(r"/\S+/|tmp[a-z0-9_]{8}", "", str(error))
    return [*tables_of(corpus, ("objects", "items", "mentions", "links")).values(), about_corpus(corpus)]


DOUBTFUL = [
    b'{"id": "W7", "t\\u0069tle": "An escape in a key", "abstract_inverted_index": {"a\\u0008b": [0]}}\n',
    b'{"id": "W8", "cited_by_count": 1e400}\n',
    b'{"id": "W9", "title": "Twice", "abstract_inverted_index": {"a": [0]}, "abstract_inverted_index": {"b": [0]}}\n',
    b'{"id": "W10", "title": "No end"\n',
]


@pytest.mark.parametrize("objects", ["authors", "institutions", "works"])
def test_lines_are_read_alike_slimmed_and_as_they_are(objects: str) -> None:
    check_slim(FILES["works.jsonl"], objects=objects)
    plain = lines(*(work(number) for number in range(20, 30)))
    check_slim(plain + DOUBTFUL[0] + DOUBTFUL[1] + plain.replace(b"/W2", b"/W3"), objects=objects)
    mixed = b"".join(plain.replace(b"/W2", b"/W%d" % number) + one for number, one in enumerate(DOUBTFUL * 6, 30))
    check_slim(mixed, objects=objects)
    check_slim(mixed, objects=objects, where={"field": "Computer Science"}, abstracts=False)


def test_works_stay_in_their_order_where_a_line_between_them_is_doubtful() -> None:
    corpus = read(lines(work(1), work(2)) + DOUBTFUL[0] + lines(work(3)) + DOUBTFUL[3] + lines(work(4)))
    assert corpus.items["item"].to_pylist() == ["W1", "W2", "W7", "W3", "W4"]
    assert corpus.dropped["lines that are no JSON objects"] == 1


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_damaged_lines_are_read_alike_slimmed_and_as_they_are(data: st.DataObject) -> None:
    content = bytearray(lines(*REAL[:3], *(work(number) for number in range(3))))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b'"', b"\\", b"{", b"]", b",", b"1", b"null", b"\n", b"\xc3", b"\\u0041", b" "])
        )
    check_slim(bytes(content))


def test_short_blocks_give_the_same_works(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = read(FILES["works.jsonl"])
    monkeypatch.setattr(openalex_lines, "SIZE", 10_000)
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
    monkeypatch.setattr(openalex_lines, "LONGEST", 20_000)
    for size in (8_000, 200_000):
        monkeypatch.setattr(openalex_lines, "SIZE", size)
        corpus = read(lines(ONE) + long + lines(work(2)))
        assert corpus.items["item"].to_pylist() == ["W1", "W2"]
        assert corpus.dropped == {"lines longer than 16 MiB": 1}


def test_no_work_at_all_is_one_sentence_with_the_first_reason(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"holds no work to read \(1 records that are not works\): works\.jsonl line 1: "
    ):
        read(b'{"id": "A5"}\n')
    with pytest.raises(
        SourceError, match=r"holds no file of works to read: expected OpenAlex's snapshot or some of its"
    ):
        OpenAlex().read([tmp_path])
    with pytest.raises(SourceError, match=r"nowhere is not there: expected OpenAlex's snapshot"):
        OpenAlex().read([tmp_path / "nowhere"])
    with pytest.raises(SourceError, match=r"^no path is given: expected OpenAlex's snapshot"):
        OpenAlex().read([])


@settings(max_examples=60)
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


@settings(max_examples=80)
@given(st.lists(st.dictionaries(st.sampled_from(sorted(ONE)), ANY, max_size=4), min_size=1, max_size=4))
def test_whatever_a_work_says_it_stays_a_work(changes: list[dict[str, Any]]) -> None:
    works = [{**ONE, **change, "id": f"W{at}"} for at, change in enumerate(changes)]
    for objects in ("authors", "institutions", "works"):
        corpus = read(lines(*works), objects=objects)
        assert corpus.items["item"].to_pylist() == [f"W{at}" for at in range(len(works))]
        for table in (corpus.items, corpus.objects):
            table.validate(full=True)
