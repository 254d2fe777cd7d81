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

from cube2net._util.text import limit_fields
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
    format_name = recognize_tagged(text[:SAMPLED_CHARACTERS]) or recognize_tagged(text)
    for tagged in TAGGED:
        if tagged.name == format_name:
            return format_name, parse_tagged(text, tagged)
    for xml in XML_FORMATS:
        if xml.name == format_name:
            return format_name, parse_xml(name, text, xml, dropped)
    if format_name:
        return format_name, parse_bibtex(text)
    header = find_header(text[:SAMPLED_CHARACTERS], min_bibliographic=0)
    if header is None:
        if not text.strip() or re.match(r"\s*<(?:!doctype )?html", text, re.I):
            problem = "a web page (perhaps of a session that expired)" if text.strip() else "empty"
            raise SourceError(f"{name} is {problem}, not a citation export: export the references again")
        raise SourceError(
            f"{name} is no citation export that can be read: expected RIS, BibTeX, PubMed, Web of Science, EndNote or "
            "Zotero RDF, or a table with columns for title, authors and year (read other tables as tables)"
        )
    return header.name, parse_table(name, text, header, dropped)


SAMPLED_CHARACTERS = 2**16
"""The number of characters by which the format of a file is recognised."""


def parse_tagged(text: str, form: Tagged) -> Parsed:
    """Return the records of tagged text."""
    values: dict[str, list[str]] = {}
    first_line, tag = 0, ""
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
                yield first_line, _choose_fields(values, form.fields)
            values, first_line = {}, number
            if tag == form.last:
                tag = ""
                continue
        if tag == "AUID" and "FAU" in values:
            value = f"{values['FAU'][-1]}/{value}"
        values.setdefault(tag, []).append(value)
    if values and (form.first in values or "TI" in values):
        yield first_line or 1, _choose_fields(values, form.fields)


MISSING_PATTERN = re.compile(
    r"\W*(?:null|nan|none|n/a|(?:no )?(?:abstract|references|keywords)(?: is| are)?(?: not)? available)?\W*", re.I
)
"""Texts that stand for a missing value, as in "[No abstract available]"."""
WANTED_VALUES = {
    ("affiliations", "M1"): re.compile(r"(\(.*)"),
    ("references", "M1"): re.compile(r"(.*\(\d{4}\w?\).*)"),
    ("references", "N1"): re.compile(r"References: (.*)"),
    ("type", "M3"): re.compile(r"([^\[\d]+)"),
}
"""For tags with several uses, the pattern of the values that belong to a field."""
DOI_PATTERN = re.compile(r"(.*10\..*)")


def _select_values(field: str, tag: str, values: Iterable[str]) -> list[str]:
    """Return those of the values of a tag that say something about a field."""
    pattern = DOI_PATTERN if field == "doi" else WANTED_VALUES.get((field, tag))
    if pattern is not None:
        values = [match[1] for match in map(pattern.fullmatch, values) if match]
    return [value for value in values if not MISSING_PATTERN.fullmatch(value)]


def _choose_fields(values: Mapping[str, Sequence[str]], fields: Mapping[str, tuple[str, ...]]) -> Fields:
    """Return the values of every field: those of the first of its tags that has any."""
    values_by_field: dict[str, Sequence[str]] = {}
    for name, tags in fields.items():
        for tag in tags:
            if selected := _select_values(name, tag, values.get(tag, ())):
                values_by_field[name] = selected
                break
    return values_by_field


BIBTEX_FIELDS = _load_fields("bibtex")
ENTRY_PATTERN = re.compile(r"(?:^|(?<=[})]))[ \t]*@[ \t]*(\w+)[ \t]*[{(]", re.M)
KEY_PATTERN = re.compile(r"[^,={}\"]*,")
FIELD_PATTERN = re.compile(r"\s*,?\s*([\w:.-]+)\s*=\s*")
ACCENT_PATTERN = re.compile(r"\\(?:([`'^\"~=.])\s*|([uvHckrdb])(?:\s+|(?=\{)))(?:\{\s*\\?(\w)\s*\}|\\?([^\W\d_]))")
COMBINING_CODES = (
    *(0x300, 0x301, 0x302, 0x308, 0x303, 0x304, 0x307, 0x306, 0x30C, 0x30B),
    *(0x327, 0x328, 0x30A, 0x323, 0x331),
)
COMBINING_ACCENTS = dict(zip("`'^\"~=.uvHckrdb", map(chr, COMBINING_CODES), strict=True))
GREEK_LETTERS = (
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
LATEX_LETTERS = {
    **dict(zip(("ss", "ae", "AE", "oe", "OE", "aa", "AA", *"oOlLij"), "ßæÆœŒåÅøØłŁıȷ", strict=True)),
    **dict(zip(GREEK_LETTERS, "αβγδεζηθικλμνξοπρστυφχψω", strict=True)),
    **dict(zip(map(str.title, GREEK_LETTERS), "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ", strict=True)),
}
LETTER_PATTERN = re.compile(rf"\\({'|'.join(LATEX_LETTERS)})(?![A-Za-z])\s*(?:\{{\}})?")
COMMAND_PATTERN = re.compile(r"\\(?:[A-Za-z]+\s?|(?=[&%$#_{}]))|(?<!\\)\$")
INHERITED_FIELDS = ("year", "date", "booktitle", "journal", "journaltitle", "volume", "series", "publisher", "language")
"""The fields that an entry without them takes from the entry that its ``crossref`` names."""


def parse_bibtex(text: str) -> Parsed:
    """Return the entries of BibTeX or BibLaTeX, with accents as letters, ``@string`` and ``crossref`` resolved."""
    entry_starts = list(ENTRY_PATTERN.finditer(text))
    ends = [entry.start() for entry in entry_starts[1:]] + [len(text)]
    macros: dict[str, str] = {}
    entries: dict[str, dict[str, str]] = {}
    entry_lines: list[int] = []
    line, counted_to = 1, 0
    for entry, end in zip(entry_starts, ends, strict=True):
        line, counted_to = line + text.count("\n", counted_to, entry.start()), entry.start()
        kind = entry[1].lower()
        body = text[entry.end() : end]
        if kind == "string":
            macros |= dict(_parse_bibtex_fields(body, 0, macros))
        elif kind not in ("comment", "preamble"):
            key = match[0] if (match := KEY_PATTERN.match(body)) else ""
            fields = dict(_parse_bibtex_fields(body, len(key), macros))
            name = key.strip(" \n,").lower()
            entries[name if name not in entries else f"{name} line {line}"] = {"entrytype": kind, **fields}
            entry_lines.append(line)
    for line, fields in zip(entry_lines, entries.values(), strict=True):
        if parent := entries.get(fields.get("crossref", "").strip().lower()):
            parent_fields = {"booktitle": parent.get("title", ""), **parent}
            inherited = {name: parent_fields[name] for name in INHERITED_FIELDS if name in parent_fields}
        else:
            inherited = {}
        yield line, _choose_fields(_list_bibtex_values({**inherited, **fields}), BIBTEX_FIELDS)


def _list_bibtex_values(fields: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the values of an entry's fields as text, those of several persons, addresses or works one by one."""
    values_by_field = {name: [value] for name, value in fields.items()}
    values_by_field["author"] = _split_bibtex_names(fields.get("author", ""))
    for name in ("affiliation", "cited-references"):
        values_by_field[name] = re.split(r"\.\s*\n", fields.get(name, ""))
    if "unique-id" in fields:  # Web of Science writes "Family, Given; Family, Given, Address"
        addresses = values_by_field["affiliation"]
        values_by_field["affiliation"] = [address.rpartition(";")[2].split(",", 2)[-1] for address in addresses]
    if "subtitle" in fields:
        values_by_field["title"] = [f"{fields.get('title', '')}: {fields['subtitle']}"]
    return {name: [decode_latex(value) for value in values] for name, values in values_by_field.items()}


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


def _parse_bibtex_fields(body: str, position: int, macros: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return the names and values of an entry's fields, as far as they can be read."""
    while match := FIELD_PATTERN.match(body, position):
        parts, position = [], match.end()
        while position < len(body):
            value, position = _parse_bibtex_value(body, position, macros)
            parts.append(value)
            concatenation = re.compile(r"\s*#\s*").match(body, position)
            if concatenation is None:
                break
            position = concatenation.end()
        yield match[1].lower(), "".join(parts)


def _parse_bibtex_value(body: str, position: int, macros: Mapping[str, str]) -> tuple[str, int]:
    """Return the value that begins at a place, in braces, in quotes or bare, and where it ends."""
    opening = body[position]
    if opening not in '{"':
        bare_value = re.compile(r"[^\s,#{}\"]*").match(body, position)
        word = bare_value[0] if bare_value else ""
        return macros.get(word.lower(), word), position + max(len(word), 1)
    depth = 0
    for mark in re.compile(r'\\.|[{}"]', re.S).finditer(body, position):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        is_end = (
            depth == 0 and mark[0] == "}"
            if opening == "{"
            else depth == 0 and mark[0] == '"' and mark.start() > position
        )
        if is_end or depth < 0:
            return body[position + 1 : mark.start()], mark.end()
    return body[position + 1 :], len(body)


def decode_latex(value: str) -> str:
    """Return a value of BibTeX as text.

    >>> decode_latex("Jos{\\\\'e} M{\\\\\\"u}ller and {\\\\O}rsted, {DNA} \\\\& more")
    'José Müller and Ørsted, DNA & more'
    """
    if "\\" in value or "$" in value:
        value = LETTER_PATTERN.sub(lambda match: LATEX_LETTERS[match[1]], value)
        value = ACCENT_PATTERN.sub(_compose_accent, value)
        value = unicodedata.normalize("NFC", COMMAND_PATTERN.sub("", value))
    value = value.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    return " ".join(value.replace("{", "").replace("}", "").replace("~", " ").split())


def _compose_accent(match: re.Match[str]) -> str:
    letter = (match[3] or match[4]).replace("ı", "i").replace("ȷ", "j")
    return letter + COMBINING_ACCENTS[match[1] or match[2]]


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
    elements_by_id: dict[str, Element] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        local_attributes = {name.rpartition(":")[2]: value for name, value in attributes.items()}
        lines[builder.start(tag.rpartition(":")[2], local_attributes)] = xml.expat.CurrentLineNumber

    def end(tag: str) -> None:
        element = builder.end(tag.rpartition(":")[2])
        if form.is_record(element):
            records.append(element)
        elif "about" in element.attrib:
            elements_by_id[element.attrib["about"]] = element

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
            part.extend(child for child in elements_by_id.get(part.attrib["resource"], ()) if not len(child))
        yield lines[record], _select_elements(record, form.fields)


def _select_elements(record: Element, fields: Mapping[str, tuple[str, ...]]) -> Fields:
    values_by_field: dict[str, list[str]] = {}
    for name, paths in fields.items():
        for path_text in paths:
            path, _, attribute = path_text.partition("@")
            elements = record.findall(path)
            values = [element.get(attribute, "") if attribute else _read_element(element) for element in elements]
            if selected := _select_values(name, path, values):
                values_by_field[name] = selected if name != "abstract" else [" ".join(selected)]
                break
    authors = record.findall(".//AuthorList/Author")
    identifiers = [author.find("Identifier") for author in authors]
    orcids = ["" if identifier is None else _read_element(identifier) for identifier in identifiers]
    return {**values_by_field, "orcids": orcids} if any(orcids) else values_by_field


def _read_element(element: Element) -> str:
    """Return the text of an element; of a person "Family, Given"; of a group its name and a comma."""
    family = element.find("LastName") if element.tag == "Author" else element.find("surname")
    if family is not None and element.tag in ("Author", "Person"):
        given_elements = (element.find(tag) for tag in ("ForeName", "Initials", "givenname", "givenName"))
        given = next((given_element.text or "" for given_element in given_elements if given_element is not None), "")
        return f"{family.text or ''}, {given}".strip()
    if element.tag == "Reference":
        parts = [
            element.findtext("Citation", ""),
            *(f"PMID {element_id.text}" for element_id in element.findall(PMID_PATH)),
        ]
        return " ".join(
            [
                *parts,
                *(element_id.text or "" for element_id in element.findall("ArticleIdList/ArticleId[@IdType='doi']")),
            ]
        )
    lines = [" ".join(line.split()) for line in "".join(element.itertext()).splitlines()]
    if element.tag == "auth-address":
        return "\n".join(lines)
    return " ".join(filter(None, lines)) + "," * (element.find("CollectiveName") is not None)


PMID_PATH = "ArticleIdList/ArticleId[@IdType='pubmed']"

COLUMN_NAMES = _load_fields("table", "|")
BIBLIOGRAPHIC_COLUMNS = frozenset(FIELDS["signs"]["columns"].split("|"))
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
    normalized = [" ".join(re.findall(r"[a-z0-9]+", name.casefold())) for name in names]
    field_names: Mapping[str, tuple[str, ...]] = COLUMN_NAMES
    if {"pt", "au", "ti", "so"} <= set(normalized):
        field_names = {field: tuple(tag.lower() for tag in tags) for field, tags in WOS.fields.items()}
    elif (
        not {"title", "authors"} <= {f for f, spellings in field_names.items() if set(spellings) & set(normalized)}
        or len(BIBLIOGRAPHIC_COLUMNS & set(normalized)) < min_bibliographic
    ):
        return None
    columns = {
        field: tuple(normalized.index(name) for name in spellings if name in normalized)
        for field, spellings in field_names.items()
    }
    name = next((name for sign, name in FIELDS["databases"].items() if sign in normalized), "table of references")
    return Header(name, {field: places for field, places in columns.items() if places}, len(names))


def parse_table(name: str, text: str, header: Header, dropped: Dropped) -> Parsed:
    """Return the rows of a table of references; those cut before title and authors, or too long, are left out."""
    min_fields = 1 + max(header.columns[field][0] for field in ("title", "authors"))
    is_plain = header.separator == "\t" and header.name == "Web of Science"
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=header.separator,
        quoting=csv.QUOTE_NONE if is_plain else csv.QUOTE_MINIMAL,
    )

    def select_rows() -> Iterator[tuple[int, Sequence[str]]]:
        line = header.lines + 1
        try:
            with limit_fields(MAX_VALUE_LENGTH):
                for row in islice(rows, header.lines, None):
                    if min_fields <= len(row) and not any(row[header.width :]):
                        yield line, row + [""] * (header.width - len(row))
                    elif row:
                        problem = f"has {len(row):,} fields, expected {header.width:,} as in the header"
                        dropped.drop_one("ragged rows", f"{name} line {line:,}", problem)
                    line = rows.line_num + 1
        except csv.Error as error:
            dropped.drop_one("ragged rows", f"{name} line {line:,}", f"cannot be read ({error})")

    return parse_rows(select_rows(), header)


MAX_VALUE_LENGTH = 2**24
"""The most characters of a value in a table."""


def parse_rows(rows: Iterable[tuple[int, Sequence[str]]], header: Header) -> Parsed:
    """Return the fields of numbered rows of texts."""
    for line, row in rows:
        values_by_field: dict[str, Sequence[str]] = {}
        for field, places in header.columns.items():
            for place in places:
                if values := _select_values(field, "", [row[place].strip()]):
                    values_by_field[field] = split_authors(values[0]) if field == "authors" else values
                    break
        if values_by_field:
            yield line, values_by_field


INITIALS_PATTERN = re.compile(r"(?:[A-Z]\.?[ -]?){1,4}$")


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
    if len(parts) > 2 and len(parts) % 2 == 0 and all(map(INITIALS_PATTERN.match, parts[1::2])):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return [text.strip(" ,")] if len(parts) < 3 else parts
