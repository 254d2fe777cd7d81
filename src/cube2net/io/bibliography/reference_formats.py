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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from xml.etree.ElementTree import Element, TreeBuilder

import pyarrow as pa
import pyarrow.csv as pacsv

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
TAGGED = (RIS, NBIB, WOS, REFER)
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
            return form, parse_xml(name, text, xml)
    if form == "BibTeX":
        return form, parse_bibtex(text)
    header = find_header(text[:SAMPLE])
    if header is None:
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
        values.setdefault(tag, []).append(value)
    if values and (form.first in values or "TI" in values):
        yield begins or 1, _choose_fields(values, form.fields)


def _choose_fields(values: Mapping[str, Sequence[str]], fields: Mapping[str, tuple[str, ...]]) -> Fields:
    """Return the values of every field: those of the first of its tags that has any."""
    chosen: dict[str, Sequence[str]] = {}
    for name, tags in fields.items():
        for tag in tags:
            filled = [value for value in values.get(tag, ()) if value]
            if name == "doi" and not any("10." in value for value in filled):
                continue
            if name == "affiliations" and tag == "M1":
                filled = [value for value in filled if value.startswith("(")]
            if filled:
                chosen[name] = filled
                break
    return chosen


BIBTEX_FIELDS = _load_fields("bibtex")
ENTRY = re.compile(r"^[ \t]*@[ \t]*(\w+)[ \t]*[{(]", re.M)
FIELD = re.compile(r"\s*,?\s*([\w:.-]+)\s*=\s*")
ACCENT = re.compile(r"\\([`'^\"~=.uvHckrdb])(?:\s*\{\s*\\?(\w)\s*\}|\s*\\?([A-Za-z]))")
CODES = (0x300, 0x301, 0x302, 0x308, 0x303, 0x304, 0x307, 0x306, 0x30C, 0x30B, 0x327, 0x328, 0x30A, 0x323, 0x331)
COMBINING = dict(zip("`'^\"~=.uvHckrdb", map(chr, CODES), strict=True))
LETTERS = dict(zip(("ss", "ae", "AE", "oe", "OE", "aa", "AA", *"oOlLij"), "ßæÆœŒåÅøØłŁıȷ", strict=True))
LETTER = re.compile(r"\\(ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z])\s*(?:\{\})?")
COMMAND = re.compile(r"\\(?:[A-Za-z]+\s?|(?=[&%$#_{}]))")


def parse_bibtex(text: str) -> Parsed:
    """Return the entries of BibTeX or BibLaTeX, with accents as letters and ``@string`` names replaced."""
    entries = list(ENTRY.finditer(text))
    ends = [entry.start() for entry in entries[1:]] + [len(text)]
    macros: dict[str, str] = {}
    line, counted = 1, 0
    for entry, end in zip(entries, ends, strict=True):
        line, counted = line + text.count("\n", counted, entry.start()), entry.start()
        kind = entry[1].lower()
        body = text[entry.end() : end]
        if kind == "string":
            macros |= dict(_parse_bibtex_fields(body, 0, macros))
        elif kind not in ("comment", "preamble"):
            key, comma, _ = body.partition(",")
            fields = dict(_parse_bibtex_fields(body, len(key) if comma else 0, macros))
            values = {name: [decode_latex(value)] for name, value in fields.items()}
            if "author" in fields:
                values["author"] = [decode_latex(each) for each in re.split(r"\s+and\s+", fields["author"])]
            yield line, _choose_fields({**values, "entrytype": [kind]}, BIBTEX_FIELDS)


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
    if "\\" in value:
        value = LETTER.sub(lambda match: LETTERS[match[1]], value)
        value = ACCENT.sub(lambda match: (match[2] or match[3]).replace("ı", "i") + COMBINING[match[1]], value)
        value = unicodedata.normalize("NFC", COMMAND.sub("", value))
    return " ".join(value.replace("{", "").replace("}", "").replace("~", " ").split())


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
        re.compile(r"<PubmedArticle"),
        lambda element: element.tag == "PubmedArticle",
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


def parse_xml(name: str, text: str, form: XmlFormat) -> Parsed:
    """Return the records of an XML export, read by the guarded reader of XML."""
    builder, root = TreeBuilder(), Element("none")
    lines: dict[Element, int] = {}

    def start(tag: str, _: dict[str, str]) -> None:
        element = builder.start(tag.rpartition(":")[2], {})
        lines[element] = xml.expat.CurrentLineNumber

    def end(tag: str) -> None:
        nonlocal root
        root = builder.end(tag.rpartition(":")[2])

    xml = SafeXml(name, start=start, end=end, characters=builder.data, unknown=builder.data, encoding="utf-8")
    xml.expat.CharacterDataHandler = builder.data
    xml.read(io.BytesIO(text.encode()))
    for element in root.iter():
        if form.is_record(element):
            yield lines[element], _select_elements(element, form.fields)


def _select_elements(record: Element, fields: Mapping[str, tuple[str, ...]]) -> Fields:
    chosen: dict[str, list[str]] = {}
    for name, paths in fields.items():
        for path in paths:
            values = [_read_element(element) for element in record.findall(path)]
            if name == "doi":
                values = [value for value in values if "10." in value]
            if filled := [value for value in values if value]:
                chosen[name] = filled if name != "abstract" else [" ".join(filled)]
                break
    orcids = [_read_element(element) for element in record.findall(".//AuthorList/Author/Identifier")]
    return {**chosen, "orcids": orcids} if len(orcids) == len(chosen.get("authors", ())) else chosen


def _read_element(element: Element) -> str:
    """Return the text of an element; of a person "Family, Given"."""
    family = element.find("LastName") if element.tag == "Author" else element.find("surname")
    if family is not None and element.tag in ("Author", "Person"):
        named = (element.find(tag) for tag in ("ForeName", "Initials", "givenname", "givenName"))
        given = next((part.text or "" for part in named if part is not None), "")
        return f"{family.text or ''}, {given}".strip(", ")
    collective = element.find("CollectiveName")
    return " ".join("".join((element if collective is None else collective).itertext()).split())


COLUMNS = _load_fields("table", "|")
BIBLIOGRAPHIC = frozenset(
    (
        *(
            "doi",
            "pmid",
            "pubmed id",
            "issn",
            "issns",
            "isbn",
            "isbns",
            "eid",
            "abstract",
            "abstract note",
            "publisher",
        ),
        *("volume", "issue", "issue number", "number", "pages", "start page", "page start", "journal", "journal title"),
        *("source title", "publication title", "journal book", "periodical full", "referenced works"),
    )
)
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


def find_header(start: str) -> Header | None:
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
                header = match_header(names)
                if header is not None:
                    return Header(header.name, header.columns, len(names), separator, number)
    return None


def match_header(names: Sequence[str]) -> Header | None:
    """Return where the fields of references are among the names of columns, None of another table."""
    plain = [" ".join(re.findall(r"[a-z0-9]+", name.casefold())) for name in names]
    spelled: Mapping[str, tuple[str, ...]] = COLUMNS
    if {"pt", "au", "ti", "so"} <= set(plain):
        spelled = {field: tuple(tag.lower() for tag in tags) for field, tags in WOS.fields.items()}
    elif (
        not {"title", "authors"} <= {f for f, some in spelled.items() if set(some) & set(plain)}
        or len(BIBLIOGRAPHIC & set(plain)) < 2
    ):
        return None
    columns = {field: tuple(plain.index(name) for name in some if name in plain) for field, some in spelled.items()}
    name = next((name for sign, name in FIELDS["databases"].items() if sign in plain), "table of references")
    return Header(name, {field: places for field, places in columns.items() if places}, len(names))


def parse_table(name: str, text: str, header: Header, dropped: Dropped) -> Parsed:
    """Return the rows of a table of references; ragged ones are left out and counted."""

    ragged: list[pacsv.InvalidRow] = []

    def skip(row: pacsv.InvalidRow) -> str:
        ragged.append(row)
        return "skip"

    data = text.encode()
    names = [str(number) for number in range(header.width)]
    try:
        table = pacsv.read_csv(
            pa.BufferReader(data),
            pacsv.ReadOptions(
                column_names=names, skip_rows=header.lines, block_size=min(len(data) + 1, 2**31 - 1), use_threads=False
            ),
            pacsv.ParseOptions(delimiter=header.separator, newlines_in_values=True, invalid_row_handler=skip),
            pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )
    except pa.ArrowException as error:
        raise SourceError(f"{name} cannot be read as a table of references: {str(error).splitlines()[0]}") from None
    for row in ragged:
        wrong = f"has {row.actual_columns:,} fields, expected {row.expected_columns:,} as in the header"
        dropped.drop_one("ragged rows", f"{name} row {row.number or 0:,}", wrong)
    return parse_rows(table, header, header.lines + 1)


def parse_rows(table: pa.Table, header: Header, first: int) -> Parsed:
    """Return the rows of a table whose columns are texts."""
    used = {place: table.column(place).to_pylist() for places in header.columns.values() for place in places}
    for row in range(table.num_rows):
        chosen: dict[str, list[str]] = {}
        for field, places in header.columns.items():
            for place in places:
                value = str(used[place][row] or "").strip()
                if value and value.casefold() not in ("null", "nan", "none"):
                    chosen[field] = split_authors(value) if field == "authors" else [value]
                    break
        if chosen:
            yield first + row, chosen


INITIALS = re.compile(r"(?:[A-Z]\.?[ -]?){1,4}$")


def split_authors(text: str) -> list[str]:
    """Return the names in one text, whatever separates them.

    >>> split_authors("Govil N., Sharma A."), split_authors("Yang, Z. and Xu, J."), split_authors("Smith, J., Xu, Y.")
    (['Govil N.', 'Sharma A.'], ['Yang, Z.', 'Xu, J.'], ['Smith, J.', 'Xu, Y.'])
    """
    for separator in (";", "|", "\n", " and "):
        if separator in text:
            return [part.strip(" ,") for part in text.split(separator) if part.strip(" ,")]
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > 1 and all(len(part.split()) > 1 for part in parts):
        return parts
    if len(parts) > 2 and len(parts) % 2 == 0 and all(map(INITIALS.match, parts[1::2])):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return [text.strip(" ,")] if len(parts) < 3 else parts
