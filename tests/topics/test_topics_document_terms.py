"""Known terms are counted in texts as plain Python counts them, and texts are read in batches of any size."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import InputError
from cube2net.topics.document_terms import count_terms
from cube2net.topics.preprocessing import (
    BREAK,
    LANGUAGES,
    PATTERN,
    UNKNOWN,
    _clean_word,
    _split_piece,
    detect_languages,
    find_items_with_terms,
    find_rows_with_text,
    iterate_term_batches,
    iterate_text_batches,
    list_singulars,
    map_in_order,
    name_language_topic,
    take_items,
    tokenise,
)

FRENCH = "Dans cet article, nous présentons une étude des mots et de leur sens."
WORDS = st.sampled_from(["machine", "machines", "translation", "neural", "the", "of", "3", "news", "parsers", "www."])
TEXTS = st.one_of(st.none(), st.text(max_size=40), st.lists(WORDS, max_size=12).map(" ".join), st.just(FRENCH))
TERMS = st.lists(st.one_of(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), st.text(max_size=5)), max_size=10)


def plain(texts: list[str | None], terms: list[str], language: str) -> list[tuple[int, str, int]]:
    """Return the counts of known terms: at every place the longest, by the joined words."""
    parts = {part for term in terms for part in term.split()}
    tokens = tokenise(texts)
    spoken = detect_languages(tokens).tolist()
    counts: dict[tuple[int, str], int] = {}
    for item, (first, last) in enumerate(pairwise(tokens.starts.tolist())):
        if spoken[item] != UNKNOWN and LANGUAGES[spoken[item]] != language:
            counts[item, name_language_topic(LANGUAGES[spoken[item]])] = 1
            continue
        words = [tokens.words[i] for i in tokens.ids[first:last]]
        words = [w if w in parts else next((s for s in list_singulars(w) if s in parts), w) for w in words]
        at = 0
        while at < len(words):
            sizes = [size for size in range(1, len(words) - at + 1) if " ".join(words[at : at + size]) in terms]
            if sizes:
                key = item, " ".join(words[at : at + max(sizes)])
                counts[key] = counts.get(key, 0) + 1
            at += max(sizes, default=1)
    return [(*key, counts[key]) for key in sorted(counts)]


@given(st.lists(TEXTS, max_size=6), TERMS, st.sampled_from(["English", "French", "Klingon"]))
def test_known_terms_are_counted_as_plain_python_counts_them(
    texts: list[str | None], terms: list[str], language: str
) -> None:
    rows = count_terms(texts, terms, language).to_pylist()
    assert [(row["item"], row["term"], row["count"]) for row in rows] == plain(texts, terms, language)


@given(st.one_of(st.text(max_size=12), st.from_regex(r"(www|[a-zé]{1,4})[.,;:?!'-]?[a-z]?", fullmatch=True)))
def test_the_short_way_to_take_a_piece_apart_gives_what_the_pattern_gives(piece: str) -> None:
    for part in piece.lower().split():
        vocabulary = {"": BREAK}
        for word in PATTERN.findall(part):
            vocabulary.setdefault(_clean_word(word), len(vocabulary))
        assert list(_split_piece(part, vocabulary)) == [vocabulary[_clean_word(word)] for word in PATTERN.findall(part)]


@given(
    st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=12), st.integers(1, 5), st.integers(1, 5), st.data()
)
def test_batches_give_every_text_once_in_order(
    texts: list[str | None], size: int, chunk: int, data: st.DataObject
) -> None:
    column = pa.chunked_array([texts[at : at + chunk] for at in range(0, len(texts), chunk)], pa.string())
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, max(0, len(texts) - 1))))) if texts else [], dtype=np.int64)
    for given_texts in (texts, column, column.combine_chunks()):
        for wanted in (None, rows):
            batches = list(iterate_text_batches(given_texts, size, wanted))
            found = [text for _, part in batches for text in part.to_pylist()]
            assert found == (texts if wanted is None else [texts[row] for row in wanted])
            assert [first for first, _ in batches] == np.cumsum([0, *(len(part) for _, part in batches)])[:-1].tolist()
            assert all(0 < len(part) <= size for _, part in batches)
        assert find_rows_with_text(given_texts).tolist() == [i for i, text in enumerate(texts) if text]


@given(st.lists(st.integers(0, 9), max_size=30), st.booleans(), st.integers(1, 4), st.integers(1, 7))
def test_batches_of_terms_give_every_row_once(items: list[int], ascending: bool, size: int, span: int) -> None:
    items = sorted(items) if ascending else items
    rows = pa.table({"item": pa.array(items, pa.int32()), "term": [f"t{i}" for i in range(len(items))]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cube2net.topics.preprocessing.ROWS_PER_SPAN", span)
        batches = list(iterate_term_batches(rows, 10, size))
        few = take_items(rows, np.array([1, 4]), 10)
        named = find_items_with_terms(rows, 10)
    assert sum(count for _, count, _ in batches) == 10
    found = [(first + row["item"], row["term"]) for first, _, part in batches for row in part.to_pylist()]
    assert sorted(found) == sorted(zip(items, rows["term"].to_pylist(), strict=True))
    assert all(0 <= row["item"] < count for _, count, part in batches for row in part.to_pylist())
    assert [(row["item"], row["term"]) for row in few.to_pylist()] == [
        ([1, 4].index(item), f"t{i}") for i, item in enumerate(items) if item in (1, 4)
    ]
    assert named.tolist() == sorted(set(items))


@pytest.mark.parametrize("workers", [1, 3])
def test_work_is_given_in_order_and_only_a_few_inputs_are_held(workers: int) -> None:
    taken: list[int] = []

    def inputs() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    for done, answer in enumerate(map_in_order(lambda number: number * 2, inputs(), workers=workers)):
        assert answer == 2 * done
        assert len(taken) <= done + 1 + workers


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            [*["a text"] * 3, 7],
            "texts 0 to 3 hold what is neither a text nor missing: Expected bytes, got a 'int' object",
        ),
        (["\ud800"], "texts 0 to 0 hold what is neither a text nor missing: 'utf-8' codec can't encode"),
    ],
)
def test_what_is_no_text_is_refused(texts: list[str | None], said: str) -> None:
    with pytest.raises(InputError) as caught:
        count_terms(texts, ["parser"])
    assert str(caught.value).startswith(said)
