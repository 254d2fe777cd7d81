"""Word vectors are read from GloVe's text format, whatever it is packed in, and bad lines are named."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import SourceError
from cube2net.vectors import glove
from cube2net.vectors.glove import parse_words, read_words

TEXT = b"data 1 2.5\nmining -3 4e-1\n"


def read(text: bytes, **options: object) -> glove.Parsed:
    return parse_words(io.BytesIO(text), "t.txt", **options)  # type: ignore[arg-type]


def values(parsed: glove.Parsed) -> list[list[float]]:
    return np.concatenate(parsed.blocks).astype(np.float64).round(6).tolist()


@pytest.mark.parametrize(
    "text", [TEXT, b"2 2\n" + TEXT, TEXT.rstrip(), TEXT.replace(b"\n", b" \r\n"), TEXT.replace(b" ", b"\t")]
)
def test_a_header_line_ends_of_line_and_tabs_make_no_difference(text: bytes) -> None:
    parsed = read(text)
    assert parsed.words == ["data", "mining"]
    assert values(parsed) == [[1.0, 2.5], [-3.0, 0.4]]
    assert parsed.dropped == {}


def test_a_table_of_one_number_a_word_is_not_taken_for_a_header() -> None:
    assert read(b"7 3\n8 4\n9 5\n").words in (["7", "8", "9"], ["8", "9"])
    assert read(b"12 3\nb 4\n").words == ["12", "b"]


def test_a_word_may_hold_spaces() -> None:
    parsed = read(b"data 1 2\n. . . 3 4\nat name@domain.com 5 6\n")
    assert parsed.words == ["data", ". . .", "at name@domain.com"]
    assert values(parsed)[1] == [3, 4]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"short 1", "it has 1 numbers, expected 2"),
        (b"word 1 x", "'x' is not a number"),
        (b"word 1 nan", "'nan' is not a number"),
        (b"word 1 1e39", "'1e39' is not a number"),
        (b"word 1 1_0", "'1_0' is not a number"),
        (b"", "it is empty"),
        (b" 1 2", "it has no word"),
        (b"w\xff 1 2", "is not UTF-8"),
    ],
)
def test_a_bad_line_is_counted_and_named_and_strict_stops(line: bytes, reason: str) -> None:
    text = b"data 1 2\n" + line + b"\nmining 3 4\n"
    parsed = read(text)
    assert parsed.words == ["data", "mining"]
    assert values(parsed) == [[1, 2], [3, 4]]
    assert parsed.dropped == {"bad lines": 1}
    assert parsed.bad_lines[0].startswith("t.txt line 2: ") and reason in parsed.bad_lines[0]
    with pytest.raises(SourceError, match=r"^t\.txt line 2: "):
        read(text, strict=True)


def test_line_numbers_count_the_header_and_run_on_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glove, "BLOCK_BYTES", 16)
    text = b"20 2\n" + b"".join(b"w%d 1 2\n" % i for i in range(20)) + b"bad\n"
    parsed = read(text)
    assert len(parsed.words) == 20
    assert parsed.bad_lines == ("t.txt line 22: it has 0 numbers, expected 2",)


def test_a_word_given_twice_keeps_its_first_vector() -> None:
    parsed = read(b"a 1\na 2\nb 3\n")
    assert parsed.words == ["a", "b"] and values(parsed) == [[1], [3]]
    assert parsed.dropped == {"repeated words": 1}


@pytest.mark.parametrize("text", [b"", b"\n\n", b"5 50\n", b"hello\nworld\n", b"\x00\x01\x02"])
def test_a_file_without_word_vectors_is_refused(text: bytes) -> None:
    with pytest.raises(
        SourceError, match=r"t\.txt (holds no word vectors|line 1 is .* expected a word and its numbers)"
    ):
        read(text)


@given(st.binary(max_size=300) | st.text("ab 12.-e\n\t", max_size=300).map(str.encode))
def test_whatever_the_bytes_there_is_a_table_or_one_sentence(text: bytes) -> None:
    try:
        parsed = read(text)
    except SourceError as error:
        assert "\n" not in str(error)
    else:
        matrix = np.concatenate(parsed.blocks)
        assert len(matrix) == len(parsed.words) == len(set(parsed.words)) > 0
        assert np.isfinite(matrix).all()


def pack(path: Path, text: bytes) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("glove.txt", text)
    else:
        path.write_bytes({".gz": gzip.compress, ".xz": lzma.compress, ".txt": bytes}[path.suffix](text))
    return path


@pytest.mark.parametrize("suffix", [".txt", ".gz", ".xz", ".zip"])
def test_every_packing_gives_the_same_table(tmp_path: Path, suffix: str) -> None:
    table = read_words(pack(tmp_path / f"glove{suffix}", TEXT))
    assert table.words.to_pylist() == ["data", "mining"]
    assert table.vectors(["mining"]).tolist() == [[-3.0, np.float32(0.4)]]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zip"])
def test_a_file_that_unpacks_to_far_too_much_is_refused(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cube2net._util.zip_files.FREE", 2**16)
    path = pack(tmp_path / f"bomb{suffix}", b"zero 0 0\n" * 20_000)
    with pytest.raises(SourceError, match="unpacks to more than 100,000 bytes: .*, raise max_unpacked if you trust it"):
        read_words(path, max_unpacked=100_000, max_ratio=10**6)
    path = pack(tmp_path / f"bomb{suffix}", b"zero 0 0\n" * 50_000)
    with pytest.raises(SourceError, match="unpacks to more than 100 times its size .*, raise max_ratio if you"):
        read_words(path)
    assert len(read_words(path, max_ratio=10_000)) == 1


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zip"])
def test_a_file_that_is_cut_short_is_one_sentence(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(0)
    path = pack(tmp_path / f"glove{suffix}", b"".join(b"w%d %f\n" % (i, x) for i, x in enumerate(rng.normal(size=999))))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(SourceError, match=rf"glove{suffix} (is cut short or damaged|cannot be read: .*cut short)"):
        read_words(path)


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glove, "BLOCK_BYTES", 2**10)
    monkeypatch.setattr(glove, "MAX_LINE_BYTES", 2**11)
    with pytest.raises(SourceError, match=r"t\.txt line 2 is longer than 2,048 bytes"):
        read(b"a 1\n" + b"0" * 10_000)


def test_one_table_of_an_archive_of_several_is_named_like_a_file_in_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("g.1d.txt", "data 1\n")
        archive.writestr("g.2d.txt", "data 1 2\n")
    with pytest.raises(
        SourceError, match=r"all\.zip holds 2 files: name one of g\.1d\.txt, g\.2d\.txt as '.*all\.zip/g"
    ):
        read_words(path)
    with pytest.raises(SourceError, match=r"does not hold 'g\.3d\.txt'"):
        read_words(path / "g.3d.txt")
    assert read_words(path / "g.2d.txt").width == 2
    assert read_words(path / "g.1d.txt").width == 1


def test_a_path_that_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"there is no file '.*nothing\.txt' of word vectors"):
        read_words(tmp_path / "nothing.txt")
    with pytest.raises(SourceError, match="is a folder, expected a file of word vectors"):
        read_words(tmp_path)
