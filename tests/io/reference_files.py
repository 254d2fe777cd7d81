"""Three papers of 1953 in the formats of reference managers and databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PAPERS: list[dict[str, Any]] = [
    {
        "title": "Molecular Structure of Nucleic Acids: A Structure for Deoxyribose Nucleic Acid",
        "authors": [("Watson", "James D."), ("Crick", "Francis H. C.")],
        "doi": "10.1038/171737a0",
        "pmid": "13054692",
        "page": "737",
        "address": "Medical Research Council Unit, Cavendish Laboratory, Cambridge, England",
        "cites": [],
    },
    {
        "title": "Genetical Implications of the Structure of Deoxyribonucleic Acid",
        "authors": [("Watson", "James D."), ("Crick", "Francis H. C.")],
        "doi": "10.1038/171964b0",
        "pmid": "13063483",
        "page": "964",
        "address": "Medical Research Council Unit, Cavendish Laboratory, Cambridge, England",
        "cites": [
            "WATSON JD, 1953, NATURE, V171, P737, DOI 10.1038/171737a0",
            "WILKINS MHF, 1953, NATURE, V171, P738",
        ],
    },
    {
        "title": "Molecular Structure of Deoxypentose Nucleic Acids",
        "authors": [("Wilkins", "Maurice H. F."), ("Stokes", "Alexander R."), ("Wilson", "Herbert R.")],
        "doi": "10.1038/171738a0",
        "pmid": "13054693",
        "page": "738",
        "address": "King's College, London, England",
        "cites": [],
    },
]


def tagged(write: Callable[[dict[str, Any]], str], before: str = "") -> str:
    """Return the papers in a format of tagged text."""
    return before + "\n".join(write(paper) for paper in PAPERS)


def short(author: tuple[str, str], comma: str = "", dot: str = "") -> str:
    """Return a name with initials."""
    family, given = author
    return f"{family}{comma} " + "".join(f"{word[0]}{dot}" for word in given.split())


def full(author: tuple[str, str]) -> str:
    """Return a name as libraries write it."""
    return f"{author[0]}, {author[1]}"


def ris(paper: dict[str, Any]) -> str:
    authors = "".join(f"AU  - {full(author)}\n" for author in paper["authors"])
    return (
        f"TY  - JOUR\n{authors}TI  - {paper['title']}\nJO  - Nature\nPY  - 1953/04/25/\nKW  - DNA\nKW  - genetics\n"
        f"AD  - {paper['address']}\nDO  - https://doi.org/{paper['doi'].upper()}\n"
        f"VL  - 171\nSP  - {paper['page']}\nER  - \n"
    )


def nbib(paper: dict[str, Any]) -> str:
    authors = "".join(f"FAU - {full(each)}\nAU  - {short(each)}\n" for each in paper["authors"])
    title = paper["title"].replace(" Structure", "\n      Structure")
    return (
        f"PMID- {paper['pmid']}\nDP  - 1953 Apr 25\nTI  - {title}.\n{authors}AD  - {paper['address']}.\n"
        f"JT  - Nature\nMH  - *DNA/chemistry\nMH  - Genetics\nAID - {paper['doi']} [doi]\n"
        f"VI  - 171\nPG  - {paper['page']}-9\n"
    )


def web_of_science(paper: dict[str, Any]) -> str:
    authors = "\n   ".join(short(author, ",") for author in paper["authors"])
    named = "\n   ".join(full(author) for author in paper["authors"])
    cited = f"CR {chr(10).join(['   ' * bool(n) + each for n, each in enumerate(paper['cites'])])}\n" * bool(
        paper["cites"]
    )
    return (
        f"PT J\nAU {authors}\nAF {named}\nTI {paper['title']}\nSO Nature\nID DNA; genetics\n"
        f"C1 {paper['address']}.\n{cited}"
        f"PY 1953\nVL 171\nBP {paper['page']}\nDI {paper['doi']}\nUT WOS:{paper['page']}\nPM {paper['pmid']}\nER\n"
    )


def enw(paper: dict[str, Any]) -> str:
    authors = "".join(f"%A {full(author)}\n" for author in paper["authors"])
    return (
        f"%0 Journal Article\n%T {paper['title']}\n{authors}%J Nature\n%D 1953\n%K DNA\ngenetics\n%R {paper['doi']}\n"
        f"%V 171\n%P {paper['page']}\n"
    )


def bibtex(paper: dict[str, Any]) -> str:
    authors = " and ".join(full(author) for author in paper["authors"])
    return (
        f"@article{{p{paper['page']},\n  author = {{{authors}}},\n"
        f'  title = "{paper["title"]}",\n'
        f"  journal = nat,\n  year = 1953,\n  keywords = {{DNA, genetics}},\n"
        f"  volume = 171, pages = {{{paper['page']}--9}},\n"
        f"  doi = {{{paper['doi']}}}\n}}\n"
    )


def pubmed_xml(paper: dict[str, Any]) -> str:
    authors = "".join(
        f"<Author><LastName>{family}</LastName><ForeName>{given}</ForeName></Author>"
        for family, given in paper["authors"]
    )
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{paper['pmid']}</PMID><Article><Journal><JournalIssue>"
        f"<Volume>171</Volume>"
        f"<PubDate><Year>1953</Year></PubDate></JournalIssue><Title>Nature</Title></Journal>"
        f"<ArticleTitle>{paper['title']}"
        f"</ArticleTitle><AuthorList>{authors}</AuthorList></Article><MeshHeadingList><MeshHeading><DescriptorName>DNA"
        "</DescriptorName></MeshHeading><MeshHeading><DescriptorName>genetics</DescriptorName></MeshHeading>"
        "</MeshHeadingList></MedlineCitation><PubmedData><ArticleIdList>"
        f'<ArticleId IdType="doi">{paper["doi"]}</ArticleId>'
        "</ArticleIdList></PubmedData></PubmedArticle>"
    )


def endnote_xml(paper: dict[str, Any]) -> str:
    authors = "".join(f"<author><style>{full(author)}</style></author>" for author in paper["authors"])
    return (
        f"<record><ref-type name='Journal Article'>17</ref-type>"
        f"<contributors><authors>{authors}</authors></contributors>"
        f"<titles><title><style>{paper['title']}</style></title><secondary-title>Nature</secondary-title></titles>"
        "<dates><year>1953</year></dates><keywords><keyword>DNA</keyword><keyword>genetics</keyword></keywords>"
        f"<electronic-resource-num>{paper['doi']}</electronic-resource-num></record>"
    )


def zotero_rdf(paper: dict[str, Any]) -> str:
    authors = "".join(
        f"<rdf:li><foaf:Person><foaf:surname>{family}</foaf:surname>"
        f"<foaf:givenName>{given}</foaf:givenName></foaf:Person></rdf:li>"
        for family, given in paper["authors"]
    )
    return (
        "<bib:Article><z:itemType>journalArticle</z:itemType><dcterms:isPartOf><bib:Journal><dc:title>Nature</dc:title>"
        f"<dc:identifier>DOI {paper['doi']}</dc:identifier></bib:Journal></dcterms:isPartOf>"
        f"<bib:authors><rdf:Seq>{authors}"
        f"</rdf:Seq></bib:authors><dc:subject>DNA</dc:subject><dc:subject>genetics</dc:subject>"
        f"<dc:title>{paper['title']}"
        "</dc:title><dc:date>1953-04-25</dc:date></bib:Article>"
    )


def table(header: str, row: Callable[[dict[str, Any]], list[str]], mark: str = ",", before: str = "") -> str:
    """Return the papers as a table."""
    quoted = [mark.join('"' + cell.replace('"', '""') + '"' for cell in row(paper)) for paper in PAPERS]
    return before + "\n".join([header, *quoted]) + "\n"


def joined(paper: dict[str, Any], mark: str, write: Callable[[tuple[str, str]], str] = full) -> str:
    return mark.join(write(author) for author in paper["authors"])


def western(author: tuple[str, str]) -> str:
    return f"{author[1]} {author[0]}"


FILES: dict[str, str] = {
    "library.ris": tagged(ris),
    "pubmed.nbib": tagged(nbib),
    "savedrecs.ciw": tagged(web_of_science, "FN Clarivate Analytics Web of Science\nVR 1.0\n") + "\nEF\n",
    "acm.enw": tagged(enw),
    "library.bib": tagged(bibtex, "@string{nat = {Nature}}\n@comment{none}\n"),
    "pubmed.xml": f"<?xml version='1.0'?><PubmedArticleSet>{tagged(pubmed_xml)}</PubmedArticleSet>",
    "endnote.xml": f"<?xml version='1.0'?><xml><records>{tagged(endnote_xml)}</records></xml>",
    "zotero.rdf": f"<rdf:RDF xmlns:rdf='r' xmlns:z='z' xmlns:dc='d' xmlns:dcterms='t' xmlns:bib='b' xmlns:foaf='f'>"
    f"{tagged(zotero_rdf)}</rdf:RDF>",
    "wos.txt": table(
        "PT\tAU\tAF\tTI\tSO\tDE\tPY\tVL\tBP\tDI\tCR",
        lambda paper: ["J", joined(paper, "; ", lambda each: short(each, ",")), joined(paper, "; "), paper["title"],
                       "Nature", "DNA; genetics", "1953", "171", paper["page"], paper["doi"],
                       "; ".join(paper["cites"])],
        "\t",
    ),
    "scopus.csv": table(
        "Authors,Author full names,Title,Year,Source title,Volume,Page start,DOI,Affiliations,Author Keywords,"
        "References,EID",
        lambda paper: [joined(paper, "; ", lambda each: short(each, "", ".")), joined(paper, "; "), paper["title"],
                       "1953", "Nature", "171", paper["page"], paper["doi"], paper["address"], "DNA; genetics",
                       "; ".join(paper["cites"]), f"2-s2.0-{paper['page']}"],
    ),
    "dimensions.csv": table(
        "Rank,Publication ID,DOI,PMID,Title,Source title,PubYear,Volume,MeSH terms,Authors,Authors Affiliations",
        lambda paper: ["1", f"pub.{paper['page']}", paper["doi"], paper["pmid"], paper["title"], "Nature", "1953",
                       "171", "DNA; genetics", joined(paper, "; "), paper["address"]],
        before='"About the data: exported on Nov 19, 2026"\n',
    ),
    "lens.csv": table(
        "Lens ID,Title,Publication Year,Source Title,ISSNs,Author/s,Abstract,Keywords,DOI",
        lambda paper: [f"000-{paper['page']}", paper["title"], "1953", "Nature", "00280836",
                       joined(paper, "; ", western), "", "DNA; genetics", paper["doi"]],
    ),
    "ieee.csv": table(
        "Document Title,Authors,Author Affiliations,Publication Title,Publication Year,DOI,Author Keywords,ISSN",
        lambda paper: [paper["title"], joined(paper, "; ", western), paper["address"], "Nature", "1953", paper["doi"],
                       "DNA;genetics", "0028-0836"],
    ),
    "openalex.csv": table(
        "id,doi,display_name,publication_year,type,referenced_works,primary_location.source.display_name,"
        "authorships.author.display_name,keywords.display_name",
        lambda paper: [f"https://openalex.org/W{paper['page']}", f"https://doi.org/{paper['doi']}", paper["title"],
                       "1953", "article", "https://openalex.org/W737" if paper["cites"] else "", "Nature",
                       joined(paper, "|", western), "DNA|genetics"],
    ),
}  # fmt: skip
