"""The reader of the ACL Anthology, on a small Anthology made by hand, on bad ones, and on the real one where it is."""

import bz2
import csv
import gzip
import json
import lzma
import os
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from archives import tar, write_files
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util import xml as safe_xml
from cube2net.errors import ParameterError, SourceError
from cube2net.io import files as input_files
from cube2net.io.bibliography.acl import Acl
from cube2net.model.corpus import Corpus
from cube2net.model.dimension import DimensionSpec
from cube2net.model.interfaces import Source
from cube2net.model.objects import Objects

from fuzz import check_corpus_or_sentence, damaged

P18 = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="P18">
  <volume id="1" type="proceedings">
    <meta>
      <booktitle>Annual Meeting</booktitle>
      <editor><first>Iryna</first><last>Editor</last></editor>
      <year>2018</year>
      <venue>acl</venue>
    </meta>
    <frontmatter><url>P18-1000</url><author><first>Not</first><last>Anauthor</last></author></frontmatter>
    <paper id="1">
      <title>Parsing <fixed-case>C</fixed-case>zech with <tex-math>k</tex-math> words</title>
      <author id="jan-novak-2"><first>Jan</first><last>Novák</last><affiliation>Charles</affiliation></author>
      <author><first>Ann</first><last>Lee</last>
        <variant script="hani"><first>安</first><last>李</last></variant></author>
      <editor><first>Some</first><last>Editor</last></editor>
      <abstract>We parse <i>Czech</i>.<par/>See <url>https://example.org</url> for <tex-math>O(n^3)</tex-math>
        code.</abstract>
    </paper>
    <paper id="12"><title>Is it so?</title><author><last>Plato</last></author><abstract>Yes.</abstract></paper>
  </volume>
</collection>
"""
BIO = """<collection id="2021.bio">
  <volume id="main" type="proceedings">
    <meta><year>2021</year><venue>bio</venue><venue>ws</venue><sig>sigbio</sig></meta>
    <paper id="3"><title>Genes</title>
      <author id="jan-novak-2"><first>J.</first><last>Novák</last></author>
      <author id="jan-novak-2"><first>Jan</first><last>Novák</last></author></paper>
    <paper id="4"><title>Preface</title></paper>
  </volume>
  <event id="bio-2021"><meta><title>An event</title><year>1999</year><venue>acl</venue></meta></event>
</collection>
"""
BAD = """<collection id="2022.bad">
  <volume id="1"><meta><year>n.d.</year><venue>acl</venue></meta>
    <paper id="1"><title>No year</title></paper>
    <paper id="2"><title>No year either</title></paper>
  </volume>
  <volume id="2"><meta><year>2022</year><venue>acl</venue></meta>
    <paper><title>No id</title></paper>
    <paper id="7"><title> </title></paper>
    <paper id="8"><title>Good</title><author><first/><last> </last></author></paper>
    <paper id="8"><title>Good again</title></paper>
  </volume>
</collection>
"""
VENUES = {
    "acl": {"acronym": "ACL", "name": "Annual Meeting", "is_toplevel": True},
    "bio": {"acronym": "Bio", "name": "Workshop on Biology", "type": "workshop"},
    "ws": {"acronym": "WS", "name": "Other Workshops", "type": "workshop"},
    "cl": {"acronym": "CL", "name": "Computational Linguistics", "type": "journal"},
}
SIGS = {"sigbio": {"acronym": "SIGBIO", "name": "Group on Biology"}}
FILES = {
    "data/xml/P18.xml": P18.encode(),
    "data/xml/2021.bio.xml": BIO.encode(),
    "data/json/venues.json": json.dumps(VENUES).encode(),
    "data/json/sigs.json": json.dumps(SIGS).encode(),
}


def same(one: Corpus, other: Corpus) -> bool:
    return all(getattr(one, name).equals(getattr(other, name)) for name in ("objects", "items", "mentions", "labels"))


@pytest.fixture
def anthology(tmp_path: Path) -> Path:
    return write_files(tmp_path / "anthology", FILES)


def test_the_papers_authors_and_venues_of_a_small_anthology_are_those_written_in_it(anthology: Path) -> None:
    corpus = Acl().read([anthology])
    assert isinstance(Acl(), Source)
    assert corpus.items.to_pylist() == [
        {"item": "2021.bio-main.3", "year": 2021, "venue": ["Bio", "WS"], "sig": ["SIGBIO"], "volume": "2021.bio-main",
         "title": "Genes", "text": "Genes"},
        {"item": "2021.bio-main.4", "year": 2021, "venue": ["Bio", "WS"], "sig": ["SIGBIO"], "volume": "2021.bio-main",
         "title": "Preface", "text": "Preface"},
        {"item": "P18-1001", "year": 2018, "venue": ["ACL"], "sig": [], "volume": "P18-1",
         "title": "Parsing Czech with k words", "text": "Parsing Czech with k words. We parse Czech. See for code."},
        {"item": "P18-1012", "year": 2018, "venue": ["ACL"], "sig": [], "volume": "P18-1",
         "title": "Is it so?", "text": "Is it so? Yes."},
    ]  # fmt: skip
    assert corpus.objects.to_pylist() == [
        {"object": "jan-novak-2", "name": "Jan Novák", "kind": "author"},
        {"object": "Ann Lee", "name": "Ann Lee", "kind": "author"},
        {"object": "Plato", "name": "Plato", "kind": "author"},
    ]
    assert corpus.mentions.to_pylist() == [
        {"item": 0, "object": 0}, {"item": 2, "object": 0}, {"item": 2, "object": 1}, {"item": 3, "object": 2},
    ]  # fmt: skip
    assert corpus.links is None and corpus.dropped == {}
    assert "CC BY 4.0" in corpus.attribution


def test_venues_have_their_full_names_and_kinds_and_groups_their_full_names(anthology: Path) -> None:
    assert Acl().read([anthology]).labels.to_pylist() == [
        {"attribute": "venue", "label": "ACL", "full_name": "Annual Meeting", "parent": "conference"},
        {"attribute": "venue", "label": "Bio", "full_name": "Workshop on Biology", "parent": "workshop"},
        {"attribute": "venue", "label": "WS", "full_name": "Other Workshops", "parent": "workshop"},
        {"attribute": "sig", "label": "SIGBIO", "full_name": "Group on Biology", "parent": None},
    ]


def test_the_dimensions_are_decade_venue_and_topic(anthology: Path) -> None:
    dimensions = Acl().read([anthology]).dimensions
    assert [str(spec) for spec in dimensions] == ["decade=year@decades", "venue/kind", "topic"]
    assert dimensions[2] == DimensionSpec("topic", "topic")


def test_an_archive_gives_what_its_folder_gives_in_whatever_order_it_is_packed(anthology: Path, tmp_path: Path) -> None:
    packed = tmp_path / "anthology.tar.xz"
    packed.write_bytes(tar(dict(reversed(FILES.items())), "w:xz"))
    assert same(Acl().read([packed]), Acl().read([anthology]))


def test_a_folder_of_xml_alone_is_read_with_ids_for_names(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"P18.xml": P18.encode(), "2021.bio.xml": BIO.encode()})
    corpus = Acl().read([folder])
    assert corpus.items["venue"].to_pylist()[0] == ["bio", "ws"]
    assert set(corpus.labels["parent"].to_pylist()) == {"other", None}
    assert same(corpus, Acl().read([folder / "2021.bio.xml", folder / "P18.xml"]))


def test_a_table_of_names_beside_the_xml_is_found(anthology: Path) -> None:
    assert same(Acl().read([anthology / "data" / "xml"]), Acl().read([anthology]))
    assert same(Acl().read([anthology / "data"]), Acl().read([anthology]))


def test_years_and_groups_not_asked_for_are_left_out_and_counted(anthology: Path) -> None:
    late = Acl(from_year=2019).read([anthology])
    assert late.items["year"].unique().to_pylist() == [2021] and late.dropped == {"papers before 2019": 2}
    early = Acl(to_year=2018).read([anthology])
    assert early.items["year"].unique().to_pylist() == [2018] and early.dropped == {"papers after 2018": 2}
    other = Acl(without_sigs=("SigBio",)).read([anthology])
    assert other.items["item"].to_pylist() == ["P18-1001", "P18-1012"]
    assert other.dropped == {"papers of groups not asked for": 2}


def test_a_group_that_is_not_there_is_named_with_the_nearest(anthology: Path) -> None:
    with pytest.raises(ParameterError, match=r"unknown special interest group 'sigbo': .* \(did you mean 'sigbio'\?\)"):
        Acl(without_sigs=("sigbo",)).read([anthology])


def test_parameters_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"without_sigs is the text 'sigmt', expected a tuple such as"):
        Acl(without_sigs="sigmt")
    with pytest.raises(ParameterError, match="from_year is 2020, after to_year, which is 2010"):
        Acl(from_year=2020, to_year=2010)


def test_bad_papers_are_counted_by_reason_and_the_first_are_shown(anthology: Path) -> None:
    write_files(anthology, {"data/xml/bad.xml": BAD.encode()})
    told: list[str] = []
    corpus = Acl().read([anthology], progress=lambda stage, done, total=None: told.append(stage))
    assert corpus.dropped == {
        "papers without a year": 2,
        "papers without an id": 1,
        "papers without a title": 1,
        "authors without a name": 1,
        "papers named twice": 1,
    }
    assert corpus.items["title"].to_pylist()[-1] == "Good"
    said = next(text for text in told if "papers without a year" in text)
    assert "bad.xml line 3: the volume of paper '1' has no year of four digits" in said
    assert "bad.xml line 4: the volume of paper '2' has no year of four digits" in said


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (BAD, "bad.xml line 3: the volume of paper '1' has no year of four digits"),
        (BAD.replace("n.d.", "2022"), "bad.xml line 7: a paper has no id, or stands in no volume with one"),
        (P18, "bad.xml line 11: paper 'P18-1001' was there before"),
    ],
)
def test_strict_stops_at_the_first_bad_paper(anthology: Path, bad: str, text: str) -> None:
    write_files(anthology, {"data/xml/bad.xml": bad.encode()})
    with pytest.raises(SourceError) as error:
        Acl(strict=True).read([anthology])
    assert str(error.value).replace("P18.xml", "bad.xml") == text


def test_progress_counts_the_files(anthology: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    Acl().read([anthology], progress=lambda stage, done, total=None: told.append((stage, done, total)))
    assert told == [("reading the ACL Anthology", done, 4) for done in (1, 2, 3, 4)]
    (tmp_path / "a.tar").write_bytes(tar(FILES))
    told.clear()
    Acl().read([tmp_path / "a.tar"], progress=lambda stage, done, total=None: told.append((stage, done, total)))
    assert told[-1] == ("reading the ACL Anthology", 4, None)


LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE collection [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>
<collection id="P18"><volume id="1"><meta><year>2018</year></meta>
<paper id="1"><title>&b;&c;</title></paper></volume></collection>"""


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (LAUGHS.encode(), r"x\.xml line 2: a document type declaration is refused, as its entities could read other"),
        (b'<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><a/>', r"x\.xml line 1: a document type declaration is refus"),
        (P18.encode()[:600], r"x\.xml line 13: not whole XML \(unclosed token\)"),
        (P18.encode().replace("á".encode(), b"\xe1"), r"x\.xml line 13: bytes that are not UTF-8"),
        (P18.encode("utf-16"), r"x\.xml line 1: bytes that are not UTF-8"),
        (P18.replace("UTF-8", "nothing").encode() + b"<", r"x\.xml line 23: not whole XML \(unclosed token\)"),
        (b"", r"x\.xml line 1: not whole XML \(no element found\)"),
        (b"\n<html></html>", r"x\.xml line 2: the first element is 'html', expected 'collection'"),
        (b"<collection id='P18'>&nbsp;</collection>", r"x\.xml line 1: not whole XML \(undefined entity\)"),
        (b"<collection id='P18'></collection>", r"holds no paper to read$"),
    ],
    ids=["laughs", "dtd", "truncated", "latin", "utf16", "cut", "empty", "html", "entity", "no papers"],
)
def test_a_bad_file_is_refused_in_one_sentence_with_its_name_and_line(
    tmp_path: Path, content: bytes, text: str
) -> None:
    folder = write_files(tmp_path, {"x.xml": content})
    with pytest.raises(SourceError, match=text):
        Acl().read([folder])


def test_elements_too_deep_in_each_other_are_refused(tmp_path: Path) -> None:
    deep = "<i>" * 1_000 + "x" + "</i>" * 1_000
    write_files(tmp_path, {"x.xml": P18.replace("<i>Czech</i>", deep).encode()})
    with pytest.raises(SourceError, match=r"^x\.xml line 17: elements are nested more than 100 deep$"):
        Acl().read([tmp_path])


@pytest.mark.parametrize("start", ["<collection a='", "<collection><!--"])
def test_a_token_without_end_is_refused_before_it_is_held_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.setattr(safe_xml, "PIECE", 100)
    monkeypatch.setattr(safe_xml, "MAX_VALUE_BYTES", 1000)
    write_files(tmp_path, {"x.xml": (start + "x" * 5000).encode()})
    with pytest.raises(SourceError, match=r"^x\.xml line 1: a value takes more than 16 MiB$"):
        Acl().read([tmp_path])


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b'{"acl": {\n"acronym" "ACL"}}', r"venues\.json line 2: not JSON \(Expecting ':' delimiter\)"),
        (b'{"acl": "\xff"}', r"venues\.json cannot be read as JSON: 'utf-8' codec"),
        (b"[1, 2]", r"venues\.json is not a table of names: expected an object with an object for every id"),
        (b'{"acl": 1}', r"venues\.json is not a table of names"),
        (b"[" * 200_000, r"venues\.json cannot be read as JSON: maximum recursion depth exceeded"),
    ],
)
def test_a_bad_table_of_names_is_refused(anthology: Path, content: bytes, text: str) -> None:
    write_files(anthology, {"data/json/venues.json": content})
    with pytest.raises(SourceError, match=text):
        Acl().read([anthology])


def test_a_path_that_is_not_there_or_holds_nothing_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere does not exist: name the Anthology's folder, or its tar\.xz"):
        Acl().read([tmp_path / "nowhere"])
    with pytest.raises(SourceError, match=r"holds no XML: expected the Anthology's folder, with data/xml in it"):
        Acl().read([tmp_path])
    with pytest.raises(SourceError, match="no path is given"):
        Acl().read([])
    (tmp_path / "P18.xml").symlink_to(tmp_path / "gone.xml")
    with pytest.raises(SourceError, match=r"P18\.xml cannot be read: No such file or directory"):
        Acl().read([tmp_path])


def link(member: tarfile.TarInfo) -> None:
    member.type, member.linkname, member.size = tarfile.SYMTYPE, "/etc/passwd", 0


def hard_link(member: tarfile.TarInfo) -> None:
    member.type, member.linkname, member.size = tarfile.LNKTYPE, "data/xml/P18.xml", 0


def device(member: tarfile.TarInfo) -> None:
    member.type, member.size = tarfile.CHRTYPE, 0


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("/data/xml/P18.xml", lambda _: None, r"a\.tar holds '/data/xml/P18\.xml', a path that leads out of the arch"),
        ("data/../../P18.xml", lambda _: None, r"a\.tar holds 'data/\.\./\.\./P18\.xml', a path that leads out"),
        ("..\\P18.xml", lambda _: None, r"a path that leads out of the archive: it is not read"),
        ("data/xml/\n.xml", lambda _: None, r"a\.tar holds 'data/xml/\\n\.xml', a name with characters that cannot be"),
        ("data/xml/P18.xml", link, r"a\.tar holds 'data/xml/P18\.xml', a link or device: only files and folders are"),
        ("data/xml/P18.xml", hard_link, r"a link or device"),
        ("data/xml/P18.xml", device, r"a link or device"),
    ],
    ids=["absolute", "parent", "windows", "newline", "symlink", "hard link", "device"],
)
def test_an_archive_with_an_evil_member_is_refused(
    tmp_path: Path, name: str, change: Callable[[tarfile.TarInfo], None], text: str
) -> None:
    (tmp_path / "a.tar").write_bytes(tar({name: P18.encode()}, change=change))
    with pytest.raises(SourceError, match=text):
        Acl().read([tmp_path / "a.tar"])


def test_a_member_or_a_header_or_a_file_that_is_too_big_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_files, "MAX_MEMBER_BYTES", 1000)
    (tmp_path / "a.tar").write_bytes(tar({"data/xml/P18.xml": P18.encode()}))
    with pytest.raises(SourceError, match=r"a\.tar: data/xml/P18\.xml takes 1,\d+ bytes or more .* at most 1,000 byte"):
        Acl().read([tmp_path / "a.tar"])
    bomb = tar({"x" * 2**21: b""})
    (tmp_path / "b.tar.xz").write_bytes(lzma.compress(bomb))
    with pytest.raises(SourceError, match=r"b\.tar\.xz takes 1,\d+,\d+ bytes or more unpacked"):
        Acl().read([tmp_path / "b.tar.xz"])
    with pytest.raises(SourceError, match=r"P18\.xml takes 1,\d+ bytes or more"):
        Acl().read([write_files(tmp_path, {"P18.xml": P18.encode()})])


@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress, bz2.compress, bytes], ids=["xz", "gz", "bz2", "tar"])
def test_an_archive_that_is_cut_short_or_none_at_all_is_refused(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    whole = pack(tar({"data/xml/P18.xml": P18.encode() + os.urandom(5000)}))
    (tmp_path / "a.tar.xz").write_bytes(whole[: len(whole) // 4])
    with pytest.raises(SourceError, match=r"a\.tar\.xz (is not a whole tar archive|cannot be read): |not whole XML"):
        Acl().read([tmp_path / "a.tar.xz"])
    (tmp_path / "a.tar.xz").write_bytes(pack(b"no archive at all, but long enough to look like one" * 50))
    with pytest.raises(SourceError, match=r"a\.tar\.xz is not a whole tar archive: "):
        Acl().read([tmp_path / "a.tar.xz"])


def check_bytes(files: dict[str, bytes], path: str) -> None:
    """Read what may be anything; only a sentence of ours may come out of it."""
    with tempfile.TemporaryDirectory() as folder:
        check_corpus_or_sentence(lambda: Acl().read([write_files(Path(folder), files) / path]))


PIECES = [b"<collection id='P1'>", b"<volume id='1'>", b"<meta>", b"<year>2000</year>", b"</meta>", b"<paper id='1'>",
          b"<title>", b"</title>", b"</paper>", b"</volume>", b"</collection>", b"<author>", b"<last>x</last>",
          b"</author>", b"<abstract>", b"<url>", b"</url>", b"</abstract>", b"text", b"&amp;", b"\xff"]  # fmt: skip


@given(st.one_of(st.binary(max_size=200), damaged(BIO.encode()), st.lists(st.sampled_from(PIECES)).map(b"".join)))
def test_whatever_an_xml_file_holds_a_corpus_or_one_sentence_comes_back(content: bytes) -> None:
    check_bytes({"x.xml": content}, "")


@given(st.one_of(st.binary(max_size=2000), damaged(tar(FILES)), damaged(lzma.compress(tar(FILES)))))
def test_whatever_an_archive_holds_a_corpus_or_one_sentence_comes_back(content: bytes) -> None:
    check_bytes({"a.tar.xz": content}, "a.tar.xz")


VALUES = st.recursive(
    st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner), max_leaves=5
)
TABLE = st.dictionaries(st.sampled_from(["acl", "bio", "acronym", "name", "type"]), VALUES | st.dictionaries(
    st.sampled_from(["acronym", "name", "type"]), VALUES))  # fmt: skip


@given(st.one_of(st.binary(max_size=50), TABLE.map(lambda value: json.dumps(value).encode())))
def test_whatever_a_table_of_names_holds_a_corpus_or_one_sentence_comes_back(content: bytes) -> None:
    check_bytes(FILES | {"data/json/venues.json": content}, "")


DATA = Path(os.environ.get("CUBE2NET_DATA", "")) / "acl"


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("CUBE2NET_DATA") or not DATA.is_dir(),
    reason="the environment variable CUBE2NET_DATA names no folder with the whole ACL Anthology in acl/",
)
def test_the_whole_anthology_has_the_papers_authors_and_people_it_should_have() -> None:
    packed = next(DATA.glob("acl-anthology*.tar.xz"))
    corpus = Acl(strict=True).read([packed])
    assert (corpus.items.num_rows, corpus.objects.num_rows) == (110_486, 116_687)
    venues = corpus.labels.filter([name == "venue" for name in corpus.labels["attribute"].to_pylist()])
    assert venues.num_rows == 528 and set(venues["parent"].to_pylist()) == {"conference", "journal", "workshop"}
    assert people(corpus, "labs.csv") == 116
    without = Acl(without_sigs=("sigmt", "sigdial", "sigbiomed", "sigedu")).read([packed])
    assert without.items.num_rows == 105_971
    assert people(without, "areas.csv") == 1_820


def people(corpus: Corpus, name: str) -> int:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        found = Objects.of(corpus.objects).find([row["object"] for row in csv.DictReader(file)])
    assert not found.missing and not found.ambiguous
    return len(set(found.rows.tolist()))
