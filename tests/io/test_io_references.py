"""Citation exports: every format is read as the same papers, whose duplicates are merged."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_files import FILES, PAPERS, full, ris, table, tagged

from cube2net._util.zip_files import Meter
from cube2net.api.read import read_references, read_source
from cube2net.api.spreadsheets import sheet_source
from cube2net.api.suggest import suggest
from cube2net.errors import SourceError
from cube2net.io.bibliography.author_names import format_name
from cube2net.io.bibliography.reference_formats import decode_latex, split_authors
from cube2net.io.bibliography.reference_records import Reference, clean_reference, parse_affiliation
from cube2net.io.bibliography.references import parse_file
from cube2net.io.dropped import Dropped
from cube2net.model.corpus import Corpus

from fuzz import check_corpus_or_sentence, damaged

EXPORTS = Path(__file__).parent / "exports"
"""Exports with the oddities of their programs, and what a person reads in them."""
AUTHORS = sorted({full(author) for paper in PAPERS for author in paper["authors"]})


def read(folder: Path, files: dict[str, str | bytes], **options: Any) -> Corpus:
    """Return the corpus of files of some contents."""
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return read_references(*(folder / name for name in files), **options)


def test_every_format_gives_the_same_papers_authors_and_keywords(tmp_path: Path) -> None:
    for name, content in FILES.items():
        corpus = read(tmp_path, {name: content})
        items = corpus.items.to_pydict()
        assert sorted(corpus.objects["object"].to_pylist()) == AUTHORS, name
        assert sorted(items["item"]) == sorted(paper["doi"] for paper in PAPERS), name
        assert sorted(items["title"]) == sorted(paper["title"] for paper in PAPERS), name
        assert items["year"] == [1953] * 3 and items["source"] == ["Nature"] * 3, name
        assert [list(map(str.lower, words)) for words in items["keyword"]] == [["dna", "genetics"]] * 3, name
        assert sheet_source([tmp_path / name]) == "references", name


def list_fields(record: Reference) -> dict[str, Any]:
    """Return the fields of a record that say something, as JSON has them."""
    authors = [[author.name, *author.ids] if author.ids else author.name for author in record.authors]
    fields = {**{name: getattr(record, name) for name in Reference.__dataclass_fields__}, "authors": authors}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if value}


def test_exports_of_many_programs_are_read_as_a_person_reads_them() -> None:
    expected: dict[str, list[Any]] = defaultdict(list)
    for line in (EXPORTS / "expected.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        expected[record.pop("file")].append(record)
    names = {path.name for path in EXPORTS.iterdir()} - {"expected.jsonl"}
    assert set(expected) == names
    for name in sorted(names):
        [(_, form, parsed)] = parse_file(EXPORTS / name, Meter(), Dropped(strict=True))
        records = [
            {"format": form, "line": line, **list_fields(clean_reference("", fields))} for line, fields in parsed
        ]
        assert records == expected[name], name


@pytest.mark.parametrize(
    ("name", "cited"),
    [
        ("wos.bib", (1, 0)),
        ("scopus.csv", (0, 1)),
        ("dimensions.csv", (0, 1)),
        ("dimensions_mapping.csv", (0, 1)),
        ("lens.csv", (0, 1)),
        ("pubmed.xml", (0, 1)),
    ],
)
def test_a_cited_record_is_found_by_doi_pmid_number_or_title(name: str, cited: tuple[int, int]) -> None:
    links = read_references(EXPORTS / name, objects="works").links
    assert links is not None
    assert list(zip(links["source"].to_pylist(), links["target"].to_pylist(), strict=True)) == [cited]


def test_names_of_sources_and_keywords_are_written_as_most_records_write_them(tmp_path: Path) -> None:
    records = [("PLOS ONE", "Health"), ("PLoS ONE", "health"), ("PLoS ONE", "HEALTH"), ("C", "health")]
    text = "".join(
        f"TY  - JOUR\nTI  - Title {n}\nAU  - A, B.\nAU  - C, D.\nJO  - {source}\nKW  - {word}\nKW  - C++\nER  - \n"
        for n, (source, word) in enumerate(records)
    )
    items = read(tmp_path, {"a.ris": text}).items
    assert items["source"].to_pylist() == ["PLoS ONE"] * 3 + ["C"]
    assert items["keyword"].to_pylist() == [["health", "C++"]] * 4


def test_of_a_file_that_was_cut_the_whole_records_are_read(tmp_path: Path) -> None:
    xml = (EXPORTS / "pubmed.xml").read_text(encoding="utf-8")
    corpus = read(tmp_path, {"a.xml": xml[: xml.index("GeneReviews")]})
    assert corpus.items.num_rows == 2 and corpus.dropped == {"ends of damaged files": 1}
    table = (EXPORTS / "dimensions_mapping.csv").read_text(encoding="utf-8")
    corpus = read(tmp_path, {"a.csv": table[: table.index('Gino","University of Milan')]})
    assert corpus.items.num_rows == 2 and corpus.dropped == {}
    corpus = read(tmp_path, {"a.csv": table[: table.index('2018","1"')]})
    assert corpus.items.num_rows == 1 and corpus.dropped == {"ragged rows": 1}


def test_columns_without_a_name_at_the_end_of_a_table_do_no_harm(tmp_path: Path) -> None:
    text = (EXPORTS / "wos_tab.txt").read_text(encoding="utf-8")
    header, *rows = text.splitlines()
    assert read(tmp_path, {"a.txt": "\n".join([header, *(f"{row}\t" for row in rows)])}).items.num_rows == 2


def test_a_table_of_titles_and_authors_is_read_where_references_are_asked_for(tmp_path: Path) -> None:
    assert read(tmp_path, {"a.csv": "Authors,Title,Year\nA. B; C. D,One,1999\n"}).objects.num_rows == 2


def test_all_formats_at_once_are_three_papers_of_which_the_others_are_counted_as_duplicates(tmp_path: Path) -> None:
    corpus = read(tmp_path, dict(FILES), list_duplicates=str(tmp_path / "duplicates.csv"))
    assert corpus.items.num_rows == 3 and sorted(corpus.objects["object"].to_pylist()) == AUTHORS
    assert corpus.dropped == {"duplicates with the same DOI": 3 * len(FILES) - 3}
    with (tmp_path / "duplicates.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * len(FILES) - 3
    assert rows[0]["kept"] == "library.ris line 1" and rows[0]["reason"] == "the same DOI"
    assert read(tmp_path, dict(FILES), keep_duplicates=True).items.num_rows == 3 * len(FILES)


def test_records_without_a_doi_are_duplicates_by_pmid_or_by_title_year_and_first_author(tmp_path: Path) -> None:
    one = FILES["library.ris"].replace("DO  -", "N1  -")
    by_title = read(tmp_path, {"a.ris": one, "b.nbib": FILES["pubmed.nbib"]})
    assert by_title.dropped == {"duplicates with the same title, year and first author": 3}
    other = FILES["pubmed.nbib"].replace("TI  - ", "TI  - On the ")
    assert read(tmp_path, {"a.nbib": FILES["pubmed.nbib"].replace("AID", "SO "), "b.nbib": other}).dropped == {
        "duplicates with the same PMID": 3
    }
    different = FILES["library.ris"].replace("HTTPS", "https").replace("/10.1038", "/10.1039")
    assert read(tmp_path, {"a.ris": FILES["library.ris"], "b.ris": different}).items.num_rows == 6


def test_objects_are_what_was_chosen_with_links_of_their_kind(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {name: FILES[name] for name in ("savedrecs.ciw", "scopus.csv", "library.ris")}
    works = read(tmp_path, files, objects="works")
    assert works.links is not None and works.directed
    names = works.objects["name"].to_pylist()
    cited = {(names[link["source"]][:6], names[link["target"]][-13:]) for link in works.links.to_pylist()}
    assert cited == {("Geneti", "Nucleic Acid"), ("Geneti", "Nucleic Acids")} or len(cited) == 2
    assert read(tmp_path, files, objects="keywords").objects["name"].to_pylist() == ["DNA", "genetics"]
    references = read(tmp_path, files, objects="references")
    assert references.objects.num_rows == 2 and references.mentions["item"].to_pylist() == [1, 1]
    with pytest.raises(SourceError, match=r"nothing links the sources of .*: no author published in two sources"):
        read(tmp_path, files, objects="sources")
    with pytest.raises(SourceError, match="no record names two countries; export more fields"):
        read(tmp_path, files, objects="countries")


def test_sources_are_linked_by_the_authors_who_published_in_both(tmp_path: Path) -> None:
    other = tagged(ris).replace("JO  - Nature", "JO  - Science").replace("/10.1038", "/10.1039")
    corpus = read(tmp_path, {"a.ris": FILES["library.ris"], "b.ris": other}, objects="sources")
    assert corpus.links is not None and corpus.links["weight"].to_pylist() == [5.0]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16", FILES["wos.txt"]),
        ("utf-16-le", FILES["wos.txt"]),
        ("utf-16-be", FILES["library.ris"]),
        ("windows-1252", FILES["library.ris"].replace("DNA", "DÑA")),
        ("windows-1251", FILES["library.ris"].replace("DNA", "Структура кислоты")),
        ("gb18030", FILES["library.ris"].replace("DNA", "数据立方体与网络")),
        ("utf-8-sig", FILES["library.bib"]),
    ],
)
def test_encodings_are_found(encoding: str, text: str, tmp_path: Path) -> None:
    assert read(tmp_path, {"library.txt": text.encode(encoding)}).items.num_rows == 3


def test_damaged_records_are_counted_and_stop_a_strict_reading(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.ris": FILES["library.ris"] + "TY  - JOUR\nPY  - 1953\nER  - \n"}
    assert read(tmp_path, files).dropped == {"records without a title": 1}
    with pytest.raises(SourceError, match=r"a.ris line \d+: it has no title"):
        read(tmp_path, files, strict=True)
    ragged = FILES["scopus.csv"] + '"too","few"\n'
    assert read(tmp_path, {"b.csv": ragged}).dropped == {"ragged rows": 1}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", "some words\nand more\n", "a.txt is no citation export that can be read: expected RIS, BibTeX"),
        ("a.ris", "<!DOCTYPE html>\n<html>Sign in</html>", "a.ris is a web page .*: export the references again"),
        ("a.bib", "", "a.bib is empty, not a citation export: export the references again"),
        ("a.ris", "TY  - JOUR\nER  - \n", "a.ris holds no reference with a title: a.ris line 1: it has no title"),
        ("a.ris", "TY  - JOUR\nTI  - Alone\nAU  - Crick, F.\nER  - \n", "no record names two authors"),
        ("a.xml", "<PubmedArticleSet><PubmedArticle>", "a.xml line 1: not whole XML"),
    ],
)
def test_what_holds_no_references_is_refused_in_a_sentence(
    name: str, content: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match=sentence):
        read(tmp_path, {name: content})


def test_tagged_text_is_never_read_as_a_table(tmp_path: Path) -> None:
    for name in ("savedrecs.ciw", "library.ris", "pubmed.nbib", "library.bib"):
        path = tmp_path / "export.txt"
        path.write_text(FILES[name])
        with pytest.raises(
            SourceError, match=r"export.txt is a citation export .*, not a table: read it as references"
        ):
            read_source("tables", path)
        assert suggest(path, min_objects=1).items == 3


def test_a_table_of_papers_of_ones_own_stays_a_table(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("title,authors,year\nOne,Ada; Bob,1999\nTwo,Ada; Eve,2001\n")
    assert sheet_source([path]) == "tables"


def test_an_export_in_a_workbook_is_read_as_well(tmp_path: Path) -> None:
    from workbook_files import ods, workbook

    rows = [list(row) for row in csv.reader(FILES["scopus.csv"].splitlines())]
    for name, write in (("scopus.xlsx", workbook), ("scopus.ods", ods)):
        assert read(tmp_path, {name: write({"sheet": rows})}).items.num_rows == 3
        assert sheet_source([tmp_path / name]) == "references"


def test_entries_of_bibtex_may_share_a_line_and_lack_a_key(tmp_path: Path) -> None:
    text = "@article{a, author={A, B and C, D}, title={One}} @misc{author = {A, B}, title = {Two}}"
    assert read(tmp_path, {"a.bib": text}).items["title"].to_pylist() == ["One", "Two"]


def test_names_of_authors_in_one_column_are_told_apart() -> None:
    assert split_authors("Watson J.D., Crick F.H.C.") == ["Watson J.D.", "Crick F.H.C."]
    assert split_authors("Watson, J.D., Crick, F.H.C.") == ["Watson, J.D.", "Crick, F.H.C."]
    assert split_authors("Watson, James") == ["Watson, James"]
    assert split_authors("Watson, J. D., & Crick, F.") == ["Watson, J. D.", "Crick, F."]
    assert split_authors("Longrich, N.R.\nand Bardet, N.") == ["Longrich, N.R.", "Bardet, N."]


def test_organizations_are_not_turned_round() -> None:
    names = ("World Health Organization", "IEEE Computer Society,", "OpenAI Research,", "Watson J.D.,", "Watson J.D.")
    assert [format_name(name) for name in names] == [
        "World Health Organization",
        "IEEE Computer Society",
        "OpenAI Research",
        "Watson, J.D.",
        "Watson, J.D.",
    ]


def test_latex_and_addresses_are_read() -> None:
    assert decode_latex(r"{\'E}tienne \v{C}ech, {\ss} G\"{o}del") == "Étienne Čech, ß Gödel"
    assert decode_latex(r"Garc{\'\i}a, $\beta$-cells \& $\Delta$G -- 5\$") == "García, β-cells & ΔG – 5$"
    assert parse_affiliation("MIT, Dept Biol, Cambridge, MA 02139 USA")[1] == "United States"
    assert parse_affiliation("Department of Physics, University of Georgia, Athens") == ("University of Georgia", "")
    assert parse_affiliation("College of Software, Beihang University, Beijing, China") == (
        "Beihang University",
        "China",
    )
    assert parse_affiliation("College of William and Mary, Williamsburg, USA")[0] == "College of William and Mary"
    assert parse_affiliation("London School of Economics, London, England")[0] == "London School of Economics"
    assert parse_affiliation("Natl Ophthalmol Ctr, Kinshasa, DEM REP CONGO")[1] == "Congo DR"
    assert parse_affiliation("Eye Dept, Honiara, Solomon Islands")[1] == "Solomon Islands"


def test_tables_of_references_may_be_separated_by_semicolons(tmp_path: Path) -> None:
    content = table(
        "Title;Authors;Year;DOI;ISSN;Keywords;Source title",
        lambda paper: [
            paper["title"],
            "; ".join(map(full, paper["authors"])),
            "1953",
            paper["doi"],
            "0028",
            "DNA",
            "Nature",
        ],
        ";",
    )
    assert read(tmp_path, {"excel.csv": content}).items.num_rows == 3


SMALL = sorted({path for path in EXPORTS.iterdir() if path.suffix != ".jsonl"})


@given(st.sampled_from(SMALL).flatmap(lambda path: st.tuples(st.just(path.name), damaged(path.read_bytes()))))
def test_damaged_exports_make_a_corpus_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, export: tuple[str, bytes]
) -> None:
    name, content = export
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    for objects in ("authors", "works", "references"):
        check_corpus_or_sentence(lambda objects=objects: read_references(path, objects=objects))  # type: ignore[misc]


@given(st.binary(max_size=60) | st.text('@{}=,"\\\n aTY-0<>;|\t', max_size=60).map(str.encode))
def test_any_bytes_make_a_corpus_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.bib"
    path.write_bytes(content)
    check_corpus_or_sentence(lambda: read_references(path))


def test_reading_tables_leaves_the_limit_of_other_csv_readers(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    path = tmp_path / "scopus.csv"
    path.write_text('Authors,Title,Year,Source title,DOI\n"Ada A.; Bob B.",A title,2001,A journal,10.1/x\n', "utf-8")
    assert read_references(path).items.num_rows == 1
    assert csv.field_size_limit() == before
