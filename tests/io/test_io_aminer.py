"""AMiner's papers: every published format, good lines and bad, packed and plain."""

from __future__ import annotations

import gzip
import json
import tarfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from archives import Files, tar, zipped
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import SourceError
from cube2net.io import files as input_files
from cube2net.io import text_records
from cube2net.io.bibliography import papers as papers_module
from cube2net.io.bibliography.aminer import Aminer
from cube2net.io.bibliography.papers import IdSet
from cube2net.model.corpus import Corpus

from fuzz import changed, check_corpus_or_sentence

HAN = "Jiawei Han"
PEI = "Jian Pei"
V10: list[dict[str, Any]] = [
    {
        "abstract": "We mine frequent patterns without candidates.",
        "authors": [HAN, PEI],
        "n_citation": 50,
        "references": ["4f4f200c-0764-4fef-9718-b8bccf303dba"],
        "title": "Mining frequent patterns",
        "venue": "international conference on management of data",
        "year": 2000,
        "id": "00127ee2-cb05-48ce-bc49-9de556b93346",
    },
    {"authors": [HAN], "n_citation": 0, "title": "What is a cube?", "venue": "", "year": 1998, "id": "b"},
]


def write(path: Path, *records: object, form: str = "lines") -> Path:
    texts = [json.dumps(record) for record in records]
    whole = {
        "lines": "\n".join(texts) + "\n",
        "commas before": "[\n" + "\n,".join(texts) + "\n]\n",
        "commas after": "[" + ",\n".join(texts) + "]",
        "spread": json.dumps(list(records), indent=4),
        "one line": json.dumps(list(records)),
    }
    path.write_text(whole[form], encoding="utf-8")
    return path


def read(path: Path, **options: Any) -> Corpus:
    return Aminer(**options).read([path])


def papers(corpus: Corpus) -> list[dict[str, Any]]:
    return corpus.items.to_pylist()


def authors(corpus: Corpus) -> list[list[str]]:
    objects = corpus.objects["object"].to_pylist()
    found: list[list[str]] = [[] for _ in range(corpus.items.num_rows)]
    for pair in corpus.mentions.to_pylist():
        found[pair["item"]].append(objects[pair["object"]])
    return found


def told(path: Path, **options: Any) -> list[str]:
    said: list[str] = []
    Aminer(**options).read([path], progress=lambda stage, done, total=None: said.append(stage))
    return said


def test_v10_lines_become_papers_and_authors_by_name(tmp_path: Path) -> None:
    corpus = read(write(tmp_path / "dblp-ref-0.json", *V10))
    first, second = papers(corpus)
    assert first == {
        "item": "00127ee2-cb05-48ce-bc49-9de556b93346",
        "year": 2000,
        "venue": "international conference on management of data",
        "title": "Mining frequent patterns",
        "text": "Mining frequent patterns. We mine frequent patterns without candidates.",
    }
    assert (second["venue"], second["text"]) == (None, "What is a cube?")
    assert corpus.objects.to_pylist() == [{"object": name, "name": name, "kind": "author"} for name in (HAN, PEI)]
    assert authors(corpus) == [[HAN, PEI], [HAN]]
    assert corpus.links is None
    assert corpus.dropped == {}
    assert [str(spec) for spec in corpus.dimensions] == ["decade=year@decades", "venue", "topic"]
    assert "aminer.org/citation" in corpus.attribution


def test_an_array_is_read_like_lines_wherever_its_commas_and_lines_fall(tmp_path: Path) -> None:
    wanted = read(write(tmp_path / "lines.json", *V10)).items
    for form in ("commas before", "commas after", "spread", "one line"):
        corpus = read(write(tmp_path / f"{form}.json", *V10, form=form), strict=True)
        assert corpus.items.equals(wanted), form
        assert corpus.dropped == {}


def test_v12_has_authors_with_numbers_and_abstracts_as_an_index(tmp_path: Path) -> None:
    record = {
        "id": 1091,
        "title": "Preliminary Design.",
        "authors": [{"name": "Makoto Satoh", "org": "Shinshu", "id": 2312688602}, {"name": "Ryo Muramatsu", "id": ""}],
        "venue": {"raw": "ICDM (2)", "id": 1203, "type": "C"},
        "year": 2013,
        "indexed_abstract": {"IndexLength": 4, "InvertedIndex": {"we": [0, 2], "plan": [1], "build": [3]}},
        "fos": [{"name": "Computer science", "w": 0.4}],
        "doc_type": "Conference",
    }
    corpus = read(write(tmp_path / "dblp.v12.json", record, form="commas before"), strict=True)
    assert papers(corpus) == [
        {
            "item": "1091",
            "year": 2013,
            "venue": "ICDM",
            "title": "Preliminary Design.",
            "text": "Preliminary Design. we plan we build",
        }
    ]
    assert [(row["object"], row["name"]) for row in corpus.objects.to_pylist()] == [
        ("2312688602", "Makoto Satoh"),
        ("Ryo Muramatsu", "Ryo Muramatsu"),
    ]


V13 = """[{\r
    "_id" : "53e99784b7602d9701f3e3f5",\r
    "title" : "3GIO: NumberInt(7)",\r
    "authors" : [\r
        {\r
            "_id" : "53f46797dabfaeb22f542630",\r
            "name" : "Jae Lee"\r
        }\r
    ],\r
    "venue" : {\r
        "_id" : "53a7",\r
        "name_d" : "International Symposium on Circuits and Systems",\r
        "type" : NumberInt(0),\r
        "raw" : "ISCAS (3)"\r
    },\r
    "year" : NumberInt(2011),\r
    "abstract" : "Of buses."\r
},\r
{\r
    "_id" : "53e99784b7602d9701f3e411",\r
    "title" : "Second",\r
    "year" : NumberInt(2012)\r
}]\r
"""


def test_v13_objects_spread_over_lines_with_numbers_of_its_own_are_read(tmp_path: Path) -> None:
    path = tmp_path / "dblpv13.json"
    path.write_bytes(V13.encode())
    corpus = read(path, strict=True)
    assert [(row["year"], row["venue"], row["text"]) for row in papers(corpus)] == [
        (2011, "ISCAS", "3GIO: NumberInt(7). Of buses."),
        (2012, None, "Second"),
    ]
    assert corpus.objects["name"].to_pylist() == ["Jae Lee"]
    assert corpus.labels.to_pylist() == [
        {
            "attribute": "venue",
            "label": "ISCAS",
            "full_name": "International Symposium on Circuits and Systems",
            "parent": None,
        }
    ]


def test_an_object_that_never_closes_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "dblpv13.json"
    path.write_text(V13.replace("}\r\n    ],", "", 1).replace("},\r\n{", "{", 1).replace("\r", ""), encoding="utf-8")
    corpus = read(path)
    assert corpus.items["title"].to_pylist() == ["Second"]
    assert corpus.dropped == {"lines that are no JSON objects": 1}


V8 = """2
#*Sorting in place.
#@Tony Hoare;Ann Lee, Jr.
#t1962
#cBIT
#index17
#%3
#%4
#!We sort.

#*Older form
#@Tony Hoare,Bob Moss, Jr.
#year1961
#confIFIP
#citation12
#index18
#arnetid9
"""


def test_v8_text_becomes_papers(tmp_path: Path) -> None:
    path = tmp_path / "dblp.txt"
    path.write_text(V8, encoding="utf-8")
    corpus = read(path, strict=True)
    assert [tuple(row.values()) for row in papers(corpus)] == [
        ("17", 1962, "BIT", "Sorting in place.", "Sorting in place. We sort."),
        ("18", 1961, "IFIP", "Older form", "Older form"),
    ]
    assert authors(corpus) == [["Tony Hoare", "Ann Lee, Jr."], ["Tony Hoare", "Bob Moss, Jr."]]


def test_v8_text_without_blank_lines_and_with_bad_ones_is_read(tmp_path: Path) -> None:
    path = tmp_path / "dblp.txt"
    text = V8.replace("\n\n", "\n").replace("#%4", "what is this").encode().replace(b"Moss", b"M\xf6ss")
    path.write_bytes(text)
    corpus = read(path)
    assert corpus.items["item"].to_pylist() == ["17", "18"]
    assert authors(corpus)[1] == []
    assert corpus.dropped == {"lines without a known tag": 1, "lines that are not UTF-8": 1}
    with pytest.raises(SourceError, match=r"^dblp.txt line 8: 'what is this' begins with no known tag$"):
        read(path, strict=True)


def without(field: str, **changes: object) -> dict[str, Any]:
    record = {**V10[0], "id": "x"}
    del record[field]
    return record | changes


BAD = [
    (without("id"), "papers without an id", "'id' is missing, expected a text or whole number"),
    (without("id", id=[1]), "papers without an id", "'id' is [1], expected a text or whole number"),
    (without("id", id=True), "papers without an id", "'id' is True, expected a text or whole number"),
    (without("title"), "papers without a title", "'title' is missing, expected a text"),
    (without("title", title=" "), "papers without a title", "'title' is ' ', expected a text"),
    (without("title", title=7), "papers without a title", "'title' is 7, expected a text"),
    (without("year"), "papers without a year", "'year' is missing, expected a whole number from 1500 to 2100"),
    (without("year", year="n.d."), "papers without a year", "'year' is 'n.d.', expected a whole number from 1500"),
    (without("year", year=20000), "papers without a year", "'year' is 20000, expected a whole number from 1500"),
    (without("year", year=1e999), "papers without a year", "'year' is inf, expected a whole number from 1500"),
    (without("authors", authors="A, B"), "papers whose authors are no list", "'authors' is 'A, B', expected a list"),
    (["no", "paper"], "lines that are no JSON objects", "is not a JSON object"),
    (7, "lines that are no JSON objects", "'7' is not a JSON object (an object is expected)"),
]


@pytest.mark.parametrize(("record", "reason", "sentence"), BAD)
def test_a_record_that_makes_no_paper_is_counted_or_stops(
    tmp_path: Path, record: object, reason: str, sentence: str
) -> None:
    path = write(tmp_path / "few.json", V10[0], record, V10[1])
    corpus = read(path)
    assert corpus.items.num_rows == 2
    assert corpus.dropped == {reason: 1}
    with pytest.raises(SourceError) as stopped:
        read(path, strict=True)
    assert str(stopped.value).startswith("few.json line 2: ")
    assert sentence in str(stopped.value)


LESS = [
    ({"venue": 7}, "venues that are no text", "'venue' is 7, expected a text, or an object with one in 'raw'"),
    ({"abstract": {"a": 1}}, "abstracts that are no text", "'abstract' is {'a': 1}, expected a text"),
    ({"abstract": None, "indexed_abstract": "x"}, "abstracts that are no text", "'indexed_abstract' is 'x', expected"),
    ({"authors": [HAN, None, PEI]}, "authors without a name", "'author' is missing, expected a name, or an object"),
    ({"authors": [HAN, {"org": "MIT"}, PEI]}, "authors without a name", "'author' is {'org': 'MIT'}, expected a name"),
]


@pytest.mark.parametrize(("changes", "reason", "sentence"), LESS)
def test_a_paper_survives_a_part_that_cannot_be_read(
    tmp_path: Path, changes: dict[str, Any], reason: str, sentence: str
) -> None:
    path = write(tmp_path / "few.json", {**V10[0], **changes})
    corpus = read(path)
    assert corpus.dropped == {reason: 1}
    assert authors(corpus) == [[HAN, PEI]]
    with pytest.raises(SourceError) as stopped:
        read(path, strict=True)
    assert sentence in str(stopped.value)


@pytest.mark.parametrize("year", [2000, "2000", 2000.0])
def test_a_year_may_be_a_number_or_digits(tmp_path: Path, year: object) -> None:
    corpus = read(write(tmp_path / "few.json", {**V10[0], "year": year}), strict=True)
    assert corpus.items["year"].to_pylist() == [2000]


def test_lines_cut_short_and_lines_that_are_not_utf8_are_counted_and_the_first_are_told(tmp_path: Path) -> None:
    good, other = (json.dumps(record).encode() for record in V10)
    path = tmp_path / "few.json"
    path.write_bytes(b"\n".join([good, good[:80], b'{"id": "\xff"}', b'{"id": "\\ud800"}', b"", other]))
    corpus = read(path)
    assert corpus.items.num_rows == 2
    assert corpus.dropped == {"lines that are no JSON objects": 2, "lines that are not UTF-8": 1}
    said = "\n".join(told(path))
    assert "left out lines that are no JSON objects: 2 (few.json line 2: " in said
    assert 'few.json line 4: \'{"id": "\\\\ud800"}\' holds half a character' in said
    assert "few.json line 3: byte 0xff is not UTF-8" in said


def test_a_paper_named_twice_is_kept_once_and_its_authors_do_not_count(tmp_path: Path) -> None:
    path = write(tmp_path / "few.json", V10[0], {**V10[0], "authors": ["Nobody Else"]}, V10[1])
    corpus = read(path)
    assert corpus.dropped == {"papers named twice": 1}
    assert corpus.objects["name"].to_pylist() == [HAN, PEI]
    with pytest.raises(SourceError, match="few.json line 2: paper '00127ee2.*' was there before"):
        read(path, strict=True)


def test_an_author_who_stands_twice_on_a_paper_is_mentioned_once(tmp_path: Path) -> None:
    corpus = read(write(tmp_path / "few.json", {**V10[0], "authors": [HAN, PEI, f" {HAN} "]}), strict=True)
    assert authors(corpus) == [[HAN, PEI]]


def test_columns_do_not_depend_on_how_many_papers_are_held_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [
        {**V10[i % 2], "id": i % 40, "title": f"Paper {i}", "authors": [f"A{i % 7}", f"A{i % 5}"]} for i in range(60)
    ]
    path = write(tmp_path / "many.json", *many)
    whole = read(path)
    for rows in (1, 7):
        monkeypatch.setattr(papers_module, "ROWS_PER_CHUNK", rows)
        pieces = read(path)
        assert pieces.items.equals(whole.items)
        assert pieces.mentions.equals(whole.mentions)
        assert pieces.objects.equals(whole.objects)
        assert pieces.dropped == whole.dropped == {"papers named twice": 20}


def test_without_abstracts_the_text_is_the_title(tmp_path: Path) -> None:
    corpus = read(write(tmp_path / "few.json", *V10), abstracts=False)
    assert corpus.items["text"].to_pylist() == corpus.items["title"].to_pylist()


PACKERS = {"zip": zipped, "gz": lambda files: gzip.compress(b"".join(files.values())), "tar": tar}


def pack(folder: Path, kind: str, members: Files) -> Path:
    path = folder / f"packed.{kind}"
    path.write_bytes(PACKERS[kind](members))
    return path


def bytes_of(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_a_name_inside_an_archive_cannot_break_a_sentence(tmp_path: Path) -> None:
    path = pack(tmp_path, "tar", {"bad\nname\udc80.json": b"nothing\n" + bytes_of(V10[0])})
    with pytest.raises(SourceError, match=r"^bad\?name\?.json line 1: 'nothing' is not a JSON object"):
        read(path, strict=True)


def test_a_folder_is_read_whole_in_the_order_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    write(tmp_path / "in" / "dblp-ref-1.json", V10[1])
    write(tmp_path / "in" / "dblp-ref-0.json", V10[0])
    (tmp_path / "in" / "deep" / "more.json.gz").write_bytes(gzip.compress(bytes_of({**V10[0], "id": "c"})))
    (tmp_path / "in" / "README.txt").write_text("nothing", encoding="utf-8")
    corpus = read(tmp_path / "in", strict=True)
    assert corpus.items["item"].to_pylist() == [V10[0]["id"], "b", "c"]


def test_progress_goes_from_nothing_to_all_the_bytes_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cube2net.io.bibliography.aminer.RECORDS_PER_REPORT", 1)
    paths = [write(tmp_path / "a.json", *V10), pack(tmp_path, "zip", {"b.json": bytes_of({**V10[0], "id": "c"})})]
    seen: list[tuple[str, int, int | None]] = []
    Aminer().read(paths, progress=lambda stage, done, total=None: seen.append((stage, done, total)))
    total = sum(path.stat().st_size for path in paths)
    assert {stage for stage, _, _ in seen} == {"reading AMiner's papers"}
    assert {whole for _, _, whole in seen} == {total}
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert seen[-1][1] == total


def test_a_line_without_end_is_passed_over_and_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_records, "MAX_LINE_BYTES", 1000)
    path = tmp_path / "few.json"
    path.write_bytes(bytes_of(V10[0]) + b"x" * 5000 + b"\n" + bytes_of(V10[1]) + b"y" * 2500)
    corpus = read(path)
    assert corpus.items.num_rows == 2
    assert corpus.dropped == {"lines longer than 16 MiB": 2}


def test_a_tar_with_an_endless_header_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("a.json")
        member.pax_headers = {"comment": "x" * 200_000}
        archive.addfile(member)
    monkeypatch.setattr(input_files, "MAX_HEADER_BYTES", 50_000)
    with pytest.raises(SourceError, match="long.tar has a header of more than 50,000 bytes"):
        read(path)


def test_what_cannot_be_unpacked_says_so(tmp_path: Path) -> None:
    whole = pack(tmp_path, "gz", {"a": bytes_of(*V10) * 50}).read_bytes()
    (tmp_path / "cut.json.gz").write_bytes(whole[:-20])
    with pytest.raises(SourceError, match=r"^cut.json.gz cannot be read: .* \(is it cut short\?\)$"):
        read(tmp_path / "cut.json.gz")
    (tmp_path / "dblp.v12.7z").write_bytes(b"7z\xbc\xaf\x27\x1c rest")
    with pytest.raises(SourceError, match=r"^dblp.v12.7z is a 7z archive, which cannot be read here: unpack it first$"):
        read(tmp_path / "dblp.v12.7z")
    archive = bytearray(pack(tmp_path, "zip", {"a.json": bytes_of(*V10)}).read_bytes())
    archive[60] ^= 0xFF
    (tmp_path / "broken.zip").write_bytes(archive)
    with pytest.raises(SourceError, match=r"^broken.zip cannot be read: "):
        read(tmp_path / "broken.zip")


def test_what_holds_no_paper_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_bytes(b"")
    with pytest.raises(SourceError, match="empty.json holds no paper to read$"):
        read(tmp_path / "empty.json")
    (tmp_path / "prose.json").write_text("Once upon a time\nthere was\n", encoding="utf-8")
    with pytest.raises(
        SourceError, match=r"no paper to read \(2 lines that are no JSON objects\): prose.json line 1: "
    ):
        read(tmp_path / "prose.json")


def test_seen_agrees_with_a_set() -> None:
    known: set[str] = set()
    seen = IdSet()
    for start in range(0, 3000, 97):
        ids = [str(number * number % 1013) for number in range(start, start + 97)]
        wanted = []
        for key in ids:
            wanted.append(key not in known)
            known.add(key)
        assert seen.add(ids).tolist() == wanted
    assert sum(len(run) for run in seen.runs) == len(known)
    assert len(seen.runs) <= 10


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["id", "_id", "title", "authors", "venue", "year", "abstract", "indexed_abstract"])
RECORDS = st.dictionaries(NAMES, VALUES, max_size=5).map(lambda changes: {**V10[0], **changes})
TEXTS = st.lists(RECORDS, max_size=4).map(lambda records: bytes_of(*records))
CUTS = st.tuples(st.integers(0, 5000), st.integers(0, 20), st.binary(max_size=6))


def check_bytes(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    for strict in (False, True):
        check_corpus_or_sentence(partial(read, path, strict=strict))


@given(data=st.binary(max_size=300))
def test_any_bytes_make_a_corpus_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    check_bytes(tmp_path_factory.getbasetemp() / "any.json", data)


@given(data=TEXTS | st.sampled_from([V8.encode(), V13.encode()]), cuts=st.lists(CUTS, max_size=4))
def test_damaged_files_make_a_corpus_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[tuple[int, int, bytes]]
) -> None:
    check_bytes(tmp_path_factory.getbasetemp() / "damaged.json", changed(data, cuts))


@given(kind=st.sampled_from(sorted(PACKERS)), cuts=st.lists(CUTS, min_size=1, max_size=3))
def test_damaged_archives_make_a_corpus_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, kind: str, cuts: list[tuple[int, int, bytes]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = pack(folder, kind, {"a.json": bytes_of(*V10), "b.txt": V8.encode()}).read_bytes()
    check_bytes(folder / "damaged", changed(whole, cuts))
