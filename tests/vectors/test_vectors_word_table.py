"""A word table gives vectors, is kept beside its file, and one ships with the package."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import InputError, SourceError
from cube2net.vectors import glove as module
from cube2net.vectors.glove import WordTable, load_default_words, read_words

TEXT = "data 1 2\nmining 3 4\nbad x y\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "g.txt"
    path.write_text(TEXT)
    return path


def forbid_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object, **__: object) -> None:
        raise AssertionError("the text was read again")

    monkeypatch.setattr(module, "parse_words", parse)


def test_the_second_reading_comes_from_memory_mapped_files(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_words(file)
    forbid_parsing(monkeypatch)
    again = read_words(file)
    assert isinstance(again.values.base, np.memmap) or isinstance(again.values, np.memmap)
    assert again.words.to_pylist() == first.words.to_pylist() == ["data", "mining"]
    assert again.vectors(["mining", "?"]).tolist() == [[3, 4], [0, 0]]
    assert again.dropped == {"bad lines": 1}
    assert again.bad_lines == first.bad_lines == ("g.txt line 3: 'x' is not a number",)
    assert sorted(path.name for path in (file.parent / "g.txt.words").iterdir()) == [
        "manifest.json",
        "vectors.npy",
        "words.txt",
    ]


def test_a_file_that_changed_is_read_anew(file: Path) -> None:
    read_words(file)
    file.write_text("data 9 9\n")
    assert read_words(file).vectors(["data"]).tolist() == [[9, 9]]


def test_a_file_only_touched_is_not_read_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_words(file)
    os.utime(file, (1, 1))
    forbid_parsing(monkeypatch)
    assert len(read_words(file)) == 2


@pytest.mark.parametrize("name", ["vectors.npy", "words.txt", "manifest.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "gone", "nested"])
def test_a_damaged_cache_is_made_again(file: Path, name: str, damage: str) -> None:
    read_words(file)
    path = file.parent / "g.txt.words" / name
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    if damage == "gone":
        path.unlink()
    elif damage == "nested":
        path.write_text("[" * 200_000)
    else:
        path.write_bytes(bytes(content) if damage == "flip" else bytes(content[:-5]))
    table = read_words(file)
    assert table.vectors(["data", "mining"]).tolist() == [[1, 2], [3, 4]]
    json.loads((file.parent / "g.txt.words" / "manifest.json").read_text())


def test_strict_stops_at_the_bad_line_even_when_the_table_is_cached(file: Path) -> None:
    read_words(file)
    with pytest.raises(SourceError, match=r"g\.txt line 3: 'x' is not a number"):
        read_words(file, strict=True)


def test_a_folder_that_cannot_be_written_to_is_no_obstacle(file: Path) -> None:
    (file.parent / "g.txt.words").write_text("in the way")
    assert read_words(file).vectors(["data"]).tolist() == [[1, 2]]
    assert (file.parent / "g.txt.words").read_text() == "in the way"


def test_without_a_cache_nothing_is_written(file: Path) -> None:
    read_words(file, cache=False)
    assert [path.name for path in file.parent.iterdir()] == ["g.txt"]


def test_progress_is_told_in_bytes(file: Path) -> None:
    told: list[tuple[str, int]] = []
    read_words(file, progress=lambda stage, done, total=None: told.append((stage, done)))
    assert told == [("words", len(TEXT))]


@given(st.lists(st.text("abc", max_size=2), max_size=12))
def test_a_batch_of_words_gets_the_vectors_a_dictionary_would_give(words: list[str]) -> None:
    table = WordTable(pa.array(["a", "ab", "c"]), np.arange(1.0, 7.0).reshape(3, 2))
    known = {"a": [1, 2], "ab": [3, 4], "c": [5, 6]}
    assert table.vectors(words).tolist() == [known.get(word, [0, 0]) for word in words]


def test_a_table_has_a_vector_for_every_word() -> None:
    with pytest.raises(InputError, match=r"1 words have vectors of shape \(2, 2\)"):
        WordTable(pa.array(["a"]), np.ones((2, 2)))


def test_the_default_table_knows_every_year_and_the_words_of_research() -> None:
    table = load_default_words()
    assert 20_000 <= len(table) <= 23_000 and table.width == 50
    assert len(set(table.words.to_pylist())) == len(table)
    assert (table.rows([str(year) for year in range(1936, 2027)]) >= 0).all()
    common = "data mining computational linguistics parsing translation speech restaurant horror sushi chicago gene"
    assert (table.rows(common.split()) >= 0).all()
    assert table.rows(["sigmod", "icml", "cvpr"]).tolist() == [-1, -1, -1]


def test_the_default_table_puts_like_words_together() -> None:
    def cosine(one: str, other: str) -> float:
        a, b = load_default_words().vectors([one, other]).astype(np.float64)
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert cosine("1998", "1999") > 0.9
    assert cosine("translation", "language") > cosine("translation", "pizza") + 0.3
