"""dblp.xml: its entities, its namesakes, its series, and files that mean harm."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util import xml as safe_xml
from cube2net.errors import ParameterError, SourceError
from cube2net.io.bibliography.dblp import Dblp, extract_series_name
from cube2net.model.corpus import Corpus

from fuzz import changed, check_corpus_or_sentence

HEAD = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE dblp SYSTEM "dblp.dtd">\n'
BODY = """<dblp>
<article mdate="2017-05-28" key="journals/acta/Saxena96">
<author>J&uuml;rgen M&#252;ller</author><author orcid="0000-0001">Wei Wang 0001</author>
<title>Parallel <i>O(n<sup>2</sup>)</i> sorting &amp; other <sub>things</sub>.</title>
<pages>607-619</pages><year>1996</year><volume>33</volume><journal>Acta Inf.</journal>
<crossref>journals/acta/1996</crossref>
</article>
<inproceedings mdate="2018-11-06" key="conf/kdd/Wang19">
<author>Wei Wang 0001</author><author>Wei Wang 0002</author>
<title>Deep things.</title><year>2019</year><booktitle>KDD (2)</booktitle>
</inproceedings>
<inproceedings key="conf/kdd/Lee19"><author>Ann Lee</author>
<title>More.</title><year>2019</year><booktitle>BigMine</booktitle></inproceedings>
<inproceedings key="conf/kdd/Lee20"><author>Ann Lee</author>
<title>Again.</title><year>2020</year><booktitle>KDD</booktitle></inproceedings>
<proceedings key="conf/kdd/2019"><editor>Ankur Teredesai</editor>
<title>Proceedings of the 25th ACM SIGKDD International Conference on Knowledge Discovery, KDD 2019, Anchorage.</title>
<booktitle>KDD</booktitle><year>2019</year></proceedings>
<proceedings key="conf/nopapers/2019"><title>Proceedings of the Conference on Nothing, 2019.</title></proceedings>
<incollection key="books/sp/Moss11"><author>Bob Moss</author>
<title>A chapter.</title><year>2011</year><booktitle>A Book</booktitle></incollection>
<phdthesis key="phd/Moss10"><author>Bob Moss</author>
<title>A thesis.</title><year>2010</year><school>MIT</school></phdthesis>
<www key="homepages/w/WeiWang1"><author>Wei Wang 0001</author><title>Home Page</title></www>
</dblp>
"""
DOCUMENT = HEAD + BODY


def write(folder: Path, text: str, name: str = "dblp.xml") -> Path:
    path = folder / name
    path.write_bytes(text.encode("latin-1"))
    return path


def read(path: Path, **options: Any) -> Corpus:
    return Dblp(**options).read([path])


def one(fields: str, key: str = "conf/a/1") -> str:
    return f'{HEAD}<dblp>\n<inproceedings key="{key}">{fields}</inproceedings></dblp>'


def authors(corpus: Corpus) -> list[list[str]]:
    objects = corpus.objects["object"].to_pylist()
    found: list[list[str]] = [[] for _ in range(corpus.items.num_rows)]
    for pair in corpus.mentions.to_pylist():
        found[pair["item"]].append(objects[pair["object"]])
    return found


def test_articles_and_papers_of_conferences_become_items_and_nothing_else_does(tmp_path: Path) -> None:
    corpus = read(write(tmp_path, DOCUMENT), strict=True)
    assert [tuple(row.values()) for row in corpus.items.to_pylist()] == [
        ("journals/acta/Saxena96", 1996, "Acta Inf.", *["Parallel O(n2) sorting & other things."] * 2),
        ("conf/kdd/Wang19", 2019, "KDD", "Deep things.", "Deep things."),
        ("conf/kdd/Lee19", 2019, "KDD", "More.", "More."),
        ("conf/kdd/Lee20", 2020, "KDD", "Again.", "Again."),
    ]
    assert corpus.dropped == {"records that are no papers": 5}
    assert corpus.links is None
    assert [str(spec) for spec in corpus.dimensions] == ["decade=year@decades", "venue", "topic"]
    assert "dblp.org" in corpus.attribution


def test_namesakes_are_told_apart_by_number_and_called_without_it(tmp_path: Path) -> None:
    corpus = read(write(tmp_path, DOCUMENT))
    assert [(row["object"], row["name"]) for row in corpus.objects.to_pylist()] == [
        ("Jürgen Müller", "Jürgen Müller"),
        ("Wei Wang 0001", "Wei Wang"),
        ("Wei Wang 0002", "Wei Wang"),
        ("Ann Lee", "Ann Lee"),
    ]
    assert authors(corpus)[:2] == [["Jürgen Müller", "Wei Wang 0001"], ["Wei Wang 0001", "Wei Wang 0002"]]


def test_a_series_has_one_venue_and_its_long_name_comes_from_proceedings(tmp_path: Path) -> None:
    corpus = read(write(tmp_path, DOCUMENT))
    assert corpus.labels.to_pylist() == [
        {
            "attribute": "venue",
            "label": "KDD",
            "full_name": "ACM SIGKDD International Conference on Knowledge Discovery",
            "parent": None,
        }
    ]


def test_venues_by_title_keep_what_stands_in_the_paper_without_the_part(tmp_path: Path) -> None:
    corpus = read(write(tmp_path, DOCUMENT), venues="titles")
    assert corpus.items["venue"].to_pylist() == ["Acta Inf.", "KDD", "BigMine", "KDD"]
    assert corpus.labels["label"].to_pylist() == ["KDD"]


def test_of_two_series_with_one_name_the_smaller_says_which_it_is(tmp_path: Path) -> None:
    papers = "".join(
        f'<inproceedings key="{key}"><title>T</title><year>2000</year><booktitle>ISC</booktitle></inproceedings>'
        for key in ("conf/aaa/1", "conf/isc/1", "conf/isc/2")
    )
    nameless = '<article key="journals/x/1"><title>T</title><year>2000</year></article>'
    corpus = read(write(tmp_path, f"<dblp>{papers}{nameless}</dblp>"))
    assert corpus.items["venue"].to_pylist() == ["ISC (conf/aaa)", "ISC", "ISC", "x"]


def test_chapters_and_theses_are_read_when_asked_for(tmp_path: Path) -> None:
    corpus = read(write(tmp_path, DOCUMENT), kinds=("incollection", "phdthesis"))
    assert corpus.items["venue"].to_pylist() == ["A Book", "MIT"]


def test_a_packed_file_a_folder_and_any_size_of_pieces_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = read(write(tmp_path, DOCUMENT))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "dblp.xml.gz").write_bytes(gzip.compress(DOCUMENT.encode()))
    monkeypatch.setattr(safe_xml, "PIECE", 7)
    for path in (folder, folder / "dblp.xml.gz", tmp_path / "dblp.xml"):
        corpus = read(path)
        assert corpus.items.equals(wanted.items)
        assert corpus.mentions.equals(wanted.mentions)
        assert corpus.objects.equals(wanted.objects)


def test_progress_counts_the_bytes_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_xml, "PIECE", 100)
    path = write(tmp_path, DOCUMENT)
    seen: list[tuple[str, int, int | None]] = []
    Dblp().read([path], progress=lambda stage, done, total=None: seen.append((stage, done, total)))
    size = path.stat().st_size
    assert {(stage, total) for stage, _, total in seen} == {("reading dblp", size)}
    assert seen[-1][1] == size


BAD = [
    (one("<year>2000</year>"), "papers without a title", "inproceedings 'conf/a/1': it has no title"),
    (one("<title/><year>2000</year>"), "papers without a title", "inproceedings 'conf/a/1': it has no title"),
    (
        one("<title>T</title>"),
        "papers without a year",
        "'conf/a/1': its year is '', expected a whole number from 1500",
    ),
    (
        one("<title>T</title><year>MM</year>"),
        "papers without a year",
        "its year is 'MM', expected a whole number from 1500 to 2100",
    ),
    (one("<title>T</title><year>2000</year>", key=" "), "papers without an id", "inproceedings '': it has no key"),
]


@pytest.mark.parametrize(("text", "reason", "sentence"), BAD)
def test_a_record_that_makes_no_paper_is_counted_or_stops(
    tmp_path: Path, text: str, reason: str, sentence: str
) -> None:
    good = '<article key="journals/g/1"><title>G</title><year>1999</year></article>'
    path = write(tmp_path, text.replace("</dblp>", f"{good}</dblp>"))
    corpus = read(path)
    assert corpus.items["title"].to_pylist() == ["G"]
    assert corpus.dropped == {reason: 1}
    with pytest.raises(SourceError) as stopped:
        read(path, strict=True)
    assert str(stopped.value).startswith("dblp.xml line 4, ")
    assert sentence in str(stopped.value)


def test_an_author_without_a_name_and_a_character_of_unknown_name_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, one("<author/><author>A&nosuch;nn</author><title>T</title><year>2000</year>"))
    corpus = read(path)
    assert corpus.objects["name"].to_pylist() == ["Ann"]
    assert corpus.dropped == {"characters of unknown name": 1, "authors without a name": 1}
    with pytest.raises(SourceError, match=r"^dblp.xml line 4: '&nosuch;' names no known character$"):
        read(path, strict=True)


def test_a_paper_named_twice_is_kept_once(tmp_path: Path) -> None:
    twice = DOCUMENT.replace("conf/kdd/Lee20", "conf/kdd/Lee19")
    corpus = read(write(tmp_path, twice))
    assert corpus.items["title"].to_pylist()[1:] == ["Deep things.", "More."]
    assert corpus.dropped["papers named twice"] == 1
    with pytest.raises(SourceError, match="dblp.xml line 16: paper 'conf/kdd/Lee19' was there before"):
        read(write(tmp_path, twice), strict=True)


LAUGHS = (
    '<!DOCTYPE dblp [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><dblp><article key="a"><title>&b;</title></article></dblp>'
)
FILE = '<!DOCTYPE dblp [<!ENTITY x SYSTEM "file:///etc/passwd">]><dblp><article><title>&x;</title></article></dblp>'
PARAMETER = '<!DOCTYPE dblp SYSTEM "dblp.dtd" [<!ENTITY % x SYSTEM "http://example.org/x"> %x;]><dblp/>'
DEFAULTS = '<!DOCTYPE dblp [<!ATTLIST article key CDATA "a">]><dblp><article/></dblp>'


@pytest.mark.parametrize("text", [LAUGHS, FILE, PARAMETER, DEFAULTS])
def test_a_file_with_declarations_of_its_own_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError, match=r"^dblp.xml line 1: declarations inside the document type are refused"):
        read(write(tmp_path, text))


def test_the_document_type_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "dblp.dtd").write_text('<!ENTITY uuml "WRONG">', encoding="ascii")
    assert read(write(tmp_path, DOCUMENT)).objects["name"].to_pylist()[0] == "Jürgen Müller"


HARM = {
    "a text without end": "<dblp><article><title>" + "x" * 5000,
    "a tag without end": "<dblp><" + "x" * 5000,
    "a comment without end": "<!--" + "x" * 5000,
    "a record without end": "<dblp><www>" + "<a></a>" * 1000,
}


@pytest.mark.parametrize("text", HARM.values(), ids=list(HARM))
def test_nothing_without_end_is_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(safe_xml, "PIECE", 100)
    monkeypatch.setattr(safe_xml, "MAX_VALUE_BYTES", 1000)
    with pytest.raises(SourceError, match="line 1: a record takes more than 16 MiB"):
        read(write(tmp_path, text))


def test_what_is_no_dblp_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="^dblp.xml line 1: the first element is 'html', expected 'dblp'$"):
        read(write(tmp_path, "<html/>"))
    with pytest.raises(SourceError, match="^dblp.xml line 1: elements are nested more than 100 deep$"):
        read(write(tmp_path, "<dblp>" + "<a>" * 200))
    with pytest.raises(SourceError, match=r"^dblp.xml line 12: not whole XML \(no element found\)$"):
        read(write(tmp_path, "\n".join(DOCUMENT.splitlines()[:12])))
    with pytest.raises(SourceError, match=r"not whole XML \(undefined entity\)$"):
        read(write(tmp_path, "<dblp><article><title>&uuml;</title></article></dblp>"))
    with pytest.raises(SourceError, match="holds no paper to read$"):
        read(write(tmp_path, "<dblp/>"))
    with pytest.raises(SourceError, match="cannot be read|not whole XML"):
        read(write(tmp_path, '<?xml version="1.0" encoding="klingon"?><dblp/>'))


def test_parameters_out_of_range_say_what_is_allowed() -> None:
    with pytest.raises(
        ParameterError, match="unknown kind of record 'artikle': choose one of .*did you mean 'article'"
    ):
        Dblp(kinds=("artikle",))
    with pytest.raises(ParameterError, match="unknown kind of record ''"):
        Dblp(kinds=())
    with pytest.raises(ParameterError, match="kinds is the text 'article', expected a tuple"):
        Dblp(kinds="article")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="unknown way to name venues 'stream': choose one of streams, titles"):
        Dblp(venues="stream")


LONG = {
    "KDD '19: Proceedings of the 25th ACM Conference on Data Mining": "ACM Conference on Data Mining",
    "2019 IEEE/CVF International Conference on Computer Vision, ICCV 2019": (
        "IEEE/CVF International Conference on Computer Vision"
    ),
    "The Thirty-Third AAAI Conference on Artificial Intelligence, AAAI 2019": (
        "The AAAI Conference on Artificial Intelligence"
    ),
    "VLDB 2001": "",
    "": "",
}


@pytest.mark.parametrize("title", LONG)
def test_the_long_name_of_a_series_has_no_number_and_no_place(title: str) -> None:
    assert extract_series_name(title) == LONG[title]


CUTS = st.tuples(st.integers(0, 3000), st.integers(0, 30), st.sampled_from([b"", b"<", b"&x;", b"\xff", b"\0", b"]]>"]))


def check_bytes(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    for strict in (False, True):
        check_corpus_or_sentence(partial(read, path, strict=strict))


@given(cuts=st.lists(CUTS, min_size=1, max_size=4), packed=st.booleans())
def test_damaged_files_make_a_corpus_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[tuple[int, int, bytes]], packed: bool
) -> None:
    data = gzip.compress(DOCUMENT.encode()) if packed else DOCUMENT.encode()
    check_bytes(tmp_path_factory.getbasetemp() / "damaged.xml", changed(data, cuts))


@given(
    start=st.sampled_from([b"", b"<dblp>", HEAD.encode(), b"<!DOCTYPE dblp [", b"\xff\xfe"]),
    rest=st.binary(max_size=100),
)
def test_any_bytes_make_a_corpus_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, start: bytes, rest: bytes
) -> None:
    check_bytes(tmp_path_factory.getbasetemp() / "any.xml", start + rest)


@given(
    encoding=st.sampled_from(
        ["utf-8", "utf-16", "cp1252", "utf-7", "ascii", "idna", "rot13", "shift_jis", "hex", "é", ""]
    )
)
def test_any_encoding_that_a_file_claims_makes_a_corpus_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, encoding: str
) -> None:
    data = DOCUMENT.replace("ISO-8859-1", encoding).encode("latin-1")
    check_bytes(tmp_path_factory.getbasetemp() / "claims.xml", data)
