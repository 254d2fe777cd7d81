"""Parse citation exports: tagged text, BibTeX, XML and tables of reference managers and databases.

Which tags or columns of a format hold which field is said in data/reference_fields.toml; one reader serves all tagged
text. On the sample files rispy 0.10 read the 24 RIS files, refused one of two Web of Science files (an unknown tag)
and found nothing in PubMed's, for which nbib is needed; this reader takes all of them and counts damaged records.
BibTeX is read here as well: bibtexparser 2 would bring two more dependencies for one format.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import islice
from xml.etree.ElementTree import Element, TreeBuilder

from cube2net._util.xml import SafeXml
from cube2net.errors import SourceError
from cube2net.io.dropped import Dropped

Fields = Mapping[str, Sequence[str]]
"""The values of a record by field: ``{"title": ["…"], "authors": ["…", "…"]}``."""
Parsed = Iterator[tuple[int, Fields]]
"""The line or row of a record, and its fields."""


@dataclass(frozen=True)
class Tagged:
    """A format of tagged text: its name, what a tag looks like, the first and last tag of a record, and the fields.

    Of the tags of a field the first that a record has counts. A line that continues one of the ``listed`` tags is
    another value.
    """

    name: str
    tag: re.Pattern[str]
    sign: re.Pattern[str]
    first: str
    last: str
    fields: Mapping[str, tuple[str, ...]]
    listed: frozenset[str] = frozenset()


FIELDS: dict[str, dict[str, str]] = tomllib.loads(
    resources.files("cube2net").joinpath("data", "reference_fields.toml").read_text(encoding="utf-8")
)


def _load_fields(name: str, separator: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return which tags, elements or columns of a format hold which field."""
    return {field: tuple(tags.split(separator)) for field, tags in FIELDS[name].items()}


RIS = Tagged(
    "RIS",
    re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?:[ \t](.*))?$"),
    re.compile(r"^TY {1,2}- +[A-Z]", re.M),
    "TY",
    "ER",
    _load_fields("ris"),
    frozenset({"KW", "AD", "C1"}),
)
NBIB = Tagged(
    "PubMed (MEDLINE)",
    re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}-(?: (.*))?$"),
    re.compile(r"^PMID- *\d", re.M),
    "PMID",
    "",
    _load_fields("pubmed"),
)
WOS = Tagged(
    "Web of Science",
    re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$"),
    re.compile(r"^PT [A-Z]\s*$", re.M),
    "PT",
    "ER",
    _load_fields("web_of_science"),
    frozenset({"AU", "AF", "BA", "CA", "CR", "C1"}),
)
REFER = Tagged(
    "EndNote (tagged)",
    re.compile(r"%(\S)(?: (.*))?$"),
    re.compile(r"^%0 [A-Z]", re.M),
    "0",
    "",
    _load_fields("refer"),
    frozenset("K"),
)
COCHRANE = Tagged(
    "Cochrane",
    re.compile(r"([A-Z]{2,3}|Record #\d.*)(?:: (.*)|$)"),
    re.compile(r"^Record #\d+ of \d+\s*^ID: ", re.M),
    "ID",
    "",
    _load_fields("cochrane"),
)
TAGGED = (RIS, NBIB, WOS, REFER, COCHRANE)
BIBTEX_SIGN = re.compile(
    r"^\s*@\s*(?:article|book|in[a-z]+|misc|[a-z]*thesis|techreport|proceedings|online|conference)\s*[{(]", re.M | re.I
)


def recognize_tagged(start: str) -> str:
    """Return the format of tagged text, BibTeX or XML of references by its beginning, or nothing.

    >>> recognize_tagged("TY  - JOUR\\nTI  - One\\nER  - \\n"), recognize_tagged("id,name\\n1,Ada\\n")
    ('RIS', '')
    """
    if start.lstrip("\ufeff \r\n\t").startswith("<"):
        return next((form.name for form in XML_FORMATS if form.sign.search(start)), "")
    for tagged in TAGGED:
        if tagged.sign.search(start):
            return tagged.name
    return "BibTeX" if BIBTEX_SIGN.search(start) else ""


def parse_references(name: str, text: str, dropped: Dropped) -> tuple[str, Parsed]:
    """Return the format of a citation export and its records; what is no such export is refused."""
    form = recognize_tagged(text[:SAMPLE]) or recognize_tagged(text)
    for tagged in TAGGED:
        if tagged.name == form:
            return form, parse_tagged(text, tagged)
    for xml in XML_FORMATS:
        if xml.name == form:
            return form, parse_xml(name, text, xml, dropped)
    if form:
        return form, parse_bibtex(text)
    header = find_header(text[:SAMPLE], min_bibliographic=0)
    if header is None:
        if not text.strip() or re.match(r"\s*<(?:!doctype )?html", text, re.I):
            what = "a web page (perhaps of a session that expired)" if text.strip() else "empty"
            raise SourceError(f"{name} is {what}, not a citation export: export the references again")
        raise SourceError(
            f"{name} is no citation export that can be read: expected RIS, BibTeX, PubMed, Web of Science, EndNote or "
            "Zotero RDF, or a table with columns for title, authors and year (read other tables as tables)"
        )
    return header.name, parse_table(name, text, header, dropped)


SAMPLE = 2**16
"""So many characters of a file tell its format."""


def parse_tagged(text: str, form: Tagged) -> Parsed:
    """Return the records of tagged text."""
    values: dict[str, list[str]] = {}
    begins, tag = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        match = form.tag.match(line)
        if match is None:
            if tag and values and line.strip():
                if tag in form.listed:
                    values[tag].append(line.strip())
                else:
                    values[tag][-1] = f"{values[tag][-1]} {line.strip()}".strip()
            elif not line.strip() and form.last:
                tag = "" if form.first == "PT" else tag
            continue
        tag, value = match[1], (match[2] or "").strip()
        if tag in (form.first, form.last):
            if values and (form.first in values or "TI" in values):
                yield begins, _choose_fields(values, form.fields)
            values, begins = {}, number
            if tag == form.last:
                tag = ""
                continue
        if tag == "AUID" and "FAU" in values:
            value = f"{values['FAU'][-1]}/{value}"
        values.setdefault(tag, []).append(value)
    if values and (form.first in values or "TI" in values):
        yield begins or 1, _choose_fields(values, form.fields)


MISSING = re.compile(
    r"\W*(?:null|nan|none|n/a|(?:no )?(?:abstract|references|keywords)(?: is| are)?(?: not)? available)?\W*", re.I
)
"""What stands for a value that is missing, as in "[No abstract available]"."""
WANTED_VALUES = {
    ("affiliations", "M1"): re.compile(r"(\(.*)"),
    ("references", "M1"): re.compile(r"(.*\(\d{4}\w?\).*)"),
    ("references", "N1"): re.compile(r"References: (.*)"),
    ("type", "M3"): re.compile(r"([^\[\d]+)"),
}
"""What a tag that has several uses must hold to be the field."""
DOI_SIGN = re.compile(r"(.*10\..*)")


def _select_values(field: str, tag: str, values: Iterable[str]) -> list[str]:
    """Return those of the values of a tag that say something about a field."""
    wanted = DOI_SIGN if field == "doi" else WANTED_VALUES.get((field, tag))
    if wanted is not None:
        values = [match[1] for match in map(wanted.fullmatch, values) if match]
    return [value for value in values if not MISSING.fullmatch(value)]


def _choose_fields(values: Mapping[str, Sequence[str]], fields: Mapping[str, tuple[str, ...]]) -> Fields:
    """Return the values of every field: those of the first of its tags that has any."""
    chosen: dict[str, Sequence[str]] = {}
    for name, tags in fields.items():
        for tag in tags:
            if selected := _select_values(name, tag, values.get(tag, ())):
                chosen[name] = selected
                break
    return chosen


BIBTEX_FIELDS = _load_fields("bibtex")
ENTRY = re.compile(r"(?:^|(?<=[})]))[ \t]*@[ \t]*(\w+)[ \t]*[{(]", re.M)
KEY = re.compile(r"[^,={}\"]*,")
FIELD = re.compile(r"\s*,?\s*([\w:.-]+)\s*=\s*")
ACCENT = re.compile(r"\\(?:([`'^\"~=.])\s*|([uvHckrdb])(?:\s+|(?=\{)))(?:\{\s*\\?(\w)\s*\}|\\?([^\W\d_]))")
CODES = (0x300, 0x301, 0x302, 0x308, 0x303, 0x304, 0x307, 0x306, 0x30C, 0x30B, 0x327, 0x328, 0x30A, 0x323, 0x331)
COMBINING = dict(zip("`'^\"~=.uvHckrdb", map(chr, CODES), strict=True))
GREEK = (
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
    ),
    *("omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
)
LETTERS = {
    **dict(zip(("ss", "ae", "AE", "oe", "OE", "aa", "AA", *"oOlLij"), "ßæÆœŒåÅøØłŁıȷ", strict=True)),
    **dict(zip(GREEK, "αβγδεζηθικλμνξοπρστυφχψω", strict=True)),
    **dict(zip(map(str.title, GREEK), "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ", strict=True)),
}
LETTER = re.compile(rf"\\({'|'.join(LETTERS)})(?![A-Za-z])\s*(?:\{{\}})?")
COMMAND = re.compile(r"\\(?:[A-Za-z]+\s?|(?=[&%$#_{}]))|(?<!\\)\$")
INHERITED = ("year", "date", "booktitle", "journal", "journaltitle", "volume", "series", "publisher", "language")
"""What an entry has from the one its ``crossref`` names, where it does not say it itself."""


def parse_bibtex(text: str) -> Parsed:
    """Return the entries of BibTeX or BibLaTeX, with accents as letters, ``@string`` and ``crossref`` resolved."""
    found = list(ENTRY.finditer(text))
    ends = [entry.start() for entry in found[1:]] + [len(text)]
    macros: dict[str, str] = {}
    entries: dict[str, dict[str, str]] = {}
    lines: list[int] = []
    line, counted = 1, 0
    for entry, end in zip(found, ends, strict=True):
        line, counted = line + text.count("\n", counted, entry.start()), entry.start()
        kind = entry[1].lower()
        body = text[entry.end() : end]
        if kind == "string":
            macros |= dict(_parse_bibtex_fields(body, 0, macros))
        elif kind not in ("comment", "preamble"):
            key = match[0] if (match := KEY.match(body)) else ""
            fields = dict(_parse_bibtex_fields(body, len(key), macros))
            name = key.strip(" \n,").lower()
            entries[name if name not in entries else f"{name} line {line}"] = {"entrytype": kind, **fields}
            lines.append(line)
    for line, fields in zip(lines, entries.values(), strict=True):
        if parent := entries.get(fields.get("crossref", "").strip().lower()):
            named = {"booktitle": parent.get("title", ""), **parent}
            inherited = {name: named[name] for name in INHERITED if name in named}
        else:
            inherited = {}
        yield line, _choose_fields(_list_bibtex_values({**inherited, **fields}), BIBTEX_FIELDS)


def _list_bibtex_values(fields: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the values of an entry's fields as text, those of several persons, addresses or works one by one."""
    parts = {name: [value] for name, value in fields.items()}
    parts["author"] = _split_bibtex_names(fields.get("author", ""))
    for name in ("affiliation", "cited-references"):
        parts[name] = re.split(r"\.\s*\n", fields.get(name, ""))
    if "unique-id" in fields:  # Web of Science writes "Family, Given; Family, Given, Address"
        parts["affiliation"] = [each.rpartition(";")[2].split(",", 2)[-1] for each in parts["affiliation"]]
    if "subtitle" in fields:
        parts["title"] = [f"{fields.get('title', '')}: {fields['subtitle']}"]
    return {name: [decode_latex(each) for each in some] for name, some in parts.items()}


def _split_bibtex_names(value: str) -> list[str]:
    """Return the names that "and" joins outside of braces; a comma follows those in braces, which are not persons."""
    names, depth, start = [], 0, 0
    for mark in re.finditer(r"[{}]|\s+and\s+|$", value):
        if mark[0] in ("{", "}"):
            depth += 1 if mark[0] == "{" else -1
        elif depth <= 0 or mark.end() == len(value):
            name = value[start : mark.start()].strip()
            is_whole = name.startswith("{") and name.find("}") == len(name) - 1
            names.append(f"{name}," if is_whole else name)
            start = mark.end()
    return names


def _parse_bibtex_fields(body: str, at: int, macros: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return the names and values of an entry's fields, as far as they can be read."""
    while match := FIELD.match(body, at):
        parts, at = [], match.end()
        while at < len(body):
            value, at = _parse_bibtex_value(body, at, macros)
            parts.append(value)
            joined = re.compile(r"\s*#\s*").match(body, at)
            if joined is None:
                break
            at = joined.end()
        yield match[1].lower(), "".join(parts)


def _parse_bibtex_value(body: str, at: int, macros: Mapping[str, str]) -> tuple[str, int]:
    """Return the value that begins at a place, in braces, in quotes or bare, and where it ends."""
    opened = body[at]
    if opened not in '{"':
        bare = re.compile(r"[^\s,#{}\"]*").match(body, at)
        word = bare[0] if bare else ""
        return macros.get(word.lower(), word), at + max(len(word), 1)
    depth = 0
    for mark in re.compile(r'\\.|[{}"]', re.S).finditer(body, at):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        is_end = depth == 0 and mark[0] == "}" if opened == "{" else depth == 0 and mark[0] == '"' and mark.start() > at
        if is_end or depth < 0:
            return body[at + 1 : mark.start()], mark.end()
    return body[at + 1 :], len(body)


def decode_latex(value: str) -> str:
    """Return a value of BibTeX as text.

    >>> decode_latex("Jos{\\\\'e} M{\\\\\\"u}ller and {\\\\O}rsted, {DNA} \\\\& more")
    'José Müller and Ørsted, DNA & more'
    """
    if "\\" in value or "$" in value:
        value = LETTER.sub(lambda match: LETTERS[match[1]], value)
        value = ACCENT.sub(_compose_accent, value)
        value = unicodedata.normalize("NFC", COMMAND.sub("", value))
    value = value.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    return " ".join(value.replace("{", "").replace("}", "").replace("~", " ").split())


def _compose_accent(match: re.Match[str]) -> str:
    letter = (match[3] or match[4]).replace("ı", "i").replace("ȷ", "j")
    return letter + COMBINING[match[1] or match[2]]


@dataclass(frozen=True)
class XmlFormat:
    """A format of XML: its name, what shows it, which elements are records, and the paths of the fields."""

    name: str
    sign: re.Pattern[str]
    is_record: Callable[[Element], bool]
    fields: Mapping[str, tuple[str, ...]]


XML_FORMATS = (
    XmlFormat(
        "PubMed (XML)",
        re.compile(r"<Pubmed(?:Book)?Article"),
        lambda element: element.tag in ("PubmedArticle", "PubmedBookArticle"),
        _load_fields("pubmed_xml"),
    ),
    XmlFormat(
        "EndNote (XML)",
        re.compile(r"<record[>\s]"),
        lambda element: element.tag == "record",
        _load_fields("endnote_xml"),
    ),
    XmlFormat(
        "Zotero (RDF)",
        re.compile(r"<(?:rdf:)?RDF\b"),
        lambda element: element.find("itemType") is not None and element.tag != "Attachment",
        _load_fields("zotero_rdf"),
    ),
)


def parse_xml(name: str, text: str, form: XmlFormat, dropped: Dropped) -> Parsed:
    """Return the records of an XML export, read by the guarded reader of XML; of a file that was cut those before."""
    builder = TreeBuilder()
    lines: dict[Element, int] = {}
    records: list[Element] = []
    named: dict[str, Element] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        plain = {name.rpartition(":")[2]: value for name, value in attributes.items()}
        lines[builder.start(tag.rpartition(":")[2], plain)] = xml.expat.CurrentLineNumber

    def end(tag: str) -> None:
        element = builder.end(tag.rpartition(":")[2])
        if form.is_record(element):
            records.append(element)
        elif "about" in element.attrib:
            named[element.attrib["about"]] = element

    xml = SafeXml(name, start=start, end=end, characters=builder.data, unknown=builder.data, encoding="utf-8")
    xml.expat.CharacterDataHandler = builder.data
    try:
        xml.read(io.BytesIO(text.encode()))
    except SourceError:
        if not records:
            raise
        dropped.drop_one("ends of damaged files", xml.place, "the file is damaged from here on")
    for record in records:
        for part in record.findall("isPartOf[@resource]"):
            part.extend(child for child in named.get(part.attrib["resource"], ()) if not len(child))
        yield lines[record], _select_elements(record, form.fields)


def _select_elements(record: Element, fields: Mapping[str, tuple[str, ...]]) -> Fields:
    chosen: dict[str, list[str]] = {}
    for name, paths in fields.items():
        for place in paths:
            path, _, attribute = place.partition("@")
            elements = record.findall(path)
            values = [each.get(attribute, "") if attribute else _read_element(each) for each in elements]
            if selected := _select_values(name, path, values):
                chosen[name] = selected if name != "abstract" else [" ".join(selected)]
                break
    authors = record.findall(".//AuthorList/Author")
    orcids = [_read_element(each) if each is not None else "" for each in (a.find("Identifier") for a in authors)]
    return {**chosen, "orcids": orcids} if any(orcids) else chosen


def _read_element(element: Element) -> str:
    """Return the text of an element; of a person "Family, Given"; of a group its name and a comma."""
    family = element.find("LastName") if element.tag == "Author" else element.find("surname")
    if family is not None and element.tag in ("Author", "Person"):
        named = (element.find(tag) for tag in ("ForeName", "Initials", "givenname", "givenName"))
        given = next((part.text or "" for part in named if part is not None), "")
        return f"{family.text or ''}, {given}".strip()
    if element.tag == "Reference":
        parts = [element.findtext("Citation", ""), *(f"PMID {each.text}" for each in element.findall(PMID_PATH))]
        return " ".join(
            [*parts, *(each.text or "" for each in element.findall("ArticleIdList/ArticleId[@IdType='doi']"))]
        )
    lines = [" ".join(line.split()) for line in "".join(element.itertext()).splitlines()]
    if element.tag == "auth-address":
        return "\n".join(lines)
    return " ".join(filter(None, lines)) + "," * (element.find("CollectiveName") is not None)


PMID_PATH = "ArticleIdList/ArticleId[@IdType='pubmed']"

COLUMNS = _load_fields("table", "|")
BIBLIOGRAPHIC = frozenset(FIELDS["signs"]["columns"].split("|"))
"""Columns that, beside a title and authors, show that a table holds references; two are enough."""
SEPARATORS = (",", "\t", ";")


@dataclass(frozen=True)
class Header:
    """The header of a table of references: whose it is, the column of each field, the separator, the lines it takes."""

    name: str
    columns: Mapping[str, tuple[int, ...]]
    width: int
    separator: str = ","
    lines: int = 1


def find_header(start: str, min_bibliographic: int = 2) -> Header | None:
    """Return the header in the first lines of a table of references, None where there is none.

    >>> find_header("Authors,Title,Year,DOI,ISSN\\n").columns["title"]
    (1,)
    """
    for number, line in enumerate(start.removeprefix("\ufeff").splitlines()[:20], start=1):
        for separator in SEPARATORS:
            if line.count(separator) > 1:
                try:
                    names = next(csv.reader([line], delimiter=separator))
                except (csv.Error, StopIteration):
                    continue
                header = match_header(names, min_bibliographic)
                if header is not None:
                    return Header(header.name, header.columns, len(names), separator, number)
    return None


def match_header(names: Sequence[str], min_bibliographic: int = 2) -> Header | None:
    """Return where the fields of references are among the names of columns, None of another table."""
    plain = [" ".join(re.findall(r"[a-z0-9]+", name.casefold())) for name in names]
    spelled: Mapping[str, tuple[str, ...]] = COLUMNS
    if {"pt", "au", "ti", "so"} <= set(plain):
        spelled = {field: tuple(tag.lower() for tag in tags) for field, tags in WOS.fields.items()}
    elif (
        not {"title", "authors"} <= {f for f, some in spelled.items() if set(some) & set(plain)}
        or len(BIBLIOGRAPHIC & set(plain)) < min_bibliographic
    ):
        return None
    columns = {field: tuple(plain.index(name) for name in some if name in plain) for field, some in spelled.items()}
    name = next((name for sign, name in FIELDS["databases"].items() if sign in plain), "table of references")
    return Header(name, {field: places for field, places in columns.items() if places}, len(names))


def parse_table(name: str, text: str, header: Header, dropped: Dropped) -> Parsed:
    """Return the rows of a table of references; those cut before title and authors, or too long, are left out."""
    least = 1 + max(header.columns[field][0] for field in ("title", "authors"))
    csv.field_size_limit(MAX_CELL)
    is_plain = header.separator == "\t" and header.name == "Web of Science"
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=header.separator,
        quoting=csv.QUOTE_NONE if is_plain else csv.QUOTE_MINIMAL,
    )

    def check() -> Iterator[tuple[int, Sequence[str]]]:
        line = header.lines + 1
        try:
            for row in islice(rows, header.lines, None):
                if least <= len(row) and not any(row[header.width :]):
                    yield line, row + [""] * (header.width - len(row))
                elif row:
                    wrong = f"has {len(row):,} fields, expected {header.width:,} as in the header"
                    dropped.drop_one("ragged rows", f"{name} line {line:,}", wrong)
                line = rows.line_num + 1
        except csv.Error as error:
            dropped.drop_one("ragged rows", f"{name} line {line:,}", f"cannot be read ({error})")

    return parse_rows(check(), header)


MAX_CELL = 2**24
"""So many characters a value of a table may have."""


def parse_rows(rows: Iterable[tuple[int, Sequence[str]]], header: Header) -> Parsed:
    """Return the fields of numbered rows of texts."""
    for line, row in rows:
        chosen: dict[str, Sequence[str]] = {}
        for field, places in header.columns.items():
            for place in places:
                if values := _select_values(field, "", [row[place].strip()]):
                    chosen[field] = split_authors(values[0]) if field == "authors" else values
                    break
        if chosen:
            yield line, chosen


INITIALS = re.compile(r"(?:[A-Z]\.?[ -]?){1,4}$")


def split_authors(text: str) -> list[str]:
    """Return the names in one text, whatever separates them.

    >>> split_authors("Govil N., Sharma A."), split_authors("Yang, Z. and Xu, J."), split_authors("Smith, J., Xu, Y.")
    (['Govil N.', 'Sharma A.'], ['Yang, Z.', 'Xu, J.'], ['Smith, J.', 'Xu, Y.'])
    >>> split_authors("Ada Lovelace, Alan Turing, and Grace Hopper")
    ['Ada Lovelace', 'Alan Turing', 'Grace Hopper']
    """
    for separator in (";", "|", "\n", " and ", " & "):
        if separator in text:
            names = [part.strip(" ,").removeprefix("and ").removeprefix("& ") for part in text.split(separator)]
            commas, last_commas = names[0].count(","), names[-1].count(",")
            is_list = separator in (" and ", " & ") and commas > min(last_commas, 1)
            return [*(split_authors(names[0]) if is_list else names[:1]), *filter(None, names[1:])]
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > 1 and all(len(part.split()) > 1 for part in parts):
        return parts
    if len(parts) > 2 and len(parts) % 2 == 0 and all(map(INITIALS.match, parts[1::2])):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return [text.strip(" ,")] if len(parts) < 3 else parts
