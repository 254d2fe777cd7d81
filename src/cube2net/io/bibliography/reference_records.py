"""Clean the records of citation exports, read institutions and countries from addresses, and merge duplicates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import resources

from cube2net.io.bibliography.author_names import (
    Author,
    format_name,
    is_fuller,
    is_same_form,
    make_name_key,
    reduce_letters,
)
from cube2net.io.bibliography.reference_formats import FIELDS, Fields

ORCID_PATTERN = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
DOI_PATTERN = re.compile(r"10\.\d{4,9}/[^\s\"<>;|\]]+")
YEAR_PATTERN = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?:[01]\d[0-3]\d)?(?!\d)")
PMID_PATTERN = re.compile(r"(?:pubmed|pmid)\D{0,3}(\d{3,9})", re.I)
QUALIFIER_PATTERN = re.compile(r"^([A-Z][^/]*?)(?:/| / )\*?[a-z].*$|^(.*) \[\*?[^\]]*\]$")
"""What MeSH says beside a heading, as in "Animals/genetics", "Anxiety / *therapy" and "Obesity [*psychology]"."""
TYPES, LANGUAGES = (
    {key: name for name, keys in FIELDS[part].items() for key in keys.split()} for part in ("types", "languages")
)
NO_NAME_PATTERN = re.compile(
    r"\W*(?:et al|others|anon(?:ymous)?|unknown|null|no authors?(?: name| id)?(?: listed| available)?)\W*", re.I
)
ET_AL_PATTERN = re.compile(r"[\s,]+et al\b\W*$", re.I)
MAX_TEXT_LENGTH = 500
"""The most characters of a title, a name or a keyword."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One record of a citation export; ``place`` says where it stands."""

    place: str
    title: str = ""
    authors: tuple[Author, ...] = ()
    year: int | None = None
    source: str = ""
    keywords: tuple[str, ...] = ()
    abstract: str = ""
    institutions: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    doi: str = ""
    pmid: str = ""
    kind: str = ""
    language: str = ""
    id: str = ""
    volume: str = ""
    page: str = ""

    @property
    def first_author(self) -> str:
        """The family name of the first author, as names are compared."""
        return make_name_key(self.authors[0].name)[0] if self.authors else ""


def clean_reference(place: str, fields: Fields) -> Reference:
    """Return a record with its values cleaned.

    >>> record = clean_reference("a.ris line 1", {"title": ["One"], "authors": ["Govil N."], "year": ["2024/04/03/"]})
    >>> record.authors[0].name, record.year
    ('Govil, N.', 2024)
    """
    first_values = {name: _clean_text(values[0]) for name, values in fields.items() if values}
    pmid, kind, language = (first_values.get(name, "") for name in ("pmid", "type", "language"))
    year = YEAR_PATTERN.search(" ".join(fields.get("year", ())))
    institutions, countries = parse_affiliations(fields.get("affiliations", ()))
    return Reference(
        place=place,
        title=first_values.get("title", "").rstrip("."),
        authors=_parse_authors(fields),
        year=int(year[1]) if year else None,
        source=first_values.get("source", ""),
        keywords=_parse_keywords(fields.get("keywords", ())),
        abstract=" ".join(" ".join(fields.get("abstract", ())).split()),
        institutions=tuple(_split(fields.get("institutions", ()), ";|")) or institutions,
        countries=tuple(COUNTRY_NAMES.get(country, country) for country in _split(fields.get("countries", ()), ";|"))
        or countries,
        references=tuple(_split_references(fields.get("references", ()))),
        doi=find_doi(" ".join(fields.get("doi", ()))),
        pmid=pmid if re.fullmatch(r"\d{3,9}", pmid) else find_pmid(" ".join(fields.get("pmid", ()))),
        kind=TYPES.get(reduce_letters(kind.partition(";")[0]), kind),
        language=LANGUAGES.get(reduce_letters(language), language),
        id=first_values.get("id", "").removeprefix("https://openalex.org/"),
        volume=first_values.get("volume", ""),
        page=re.split("[-–‐]", first_values.get("page", ""))[0],
    )


def find_doi(text: str) -> str:
    """Return the first DOI in a text, in lower case; nothing where there is none.

    >>> find_doi("https://doi.org/10.1016/J.X.2020.01.")
    '10.1016/j.x.2020.01'
    """
    match = DOI_PATTERN.search(text)
    return match[0].lower().rstrip(".,)") if match else ""


def find_pmid(text: str) -> str:
    """Return the number after "PMID" or "pubmed" in a text; nothing where there is none."""
    match = PMID_PATTERN.search(text)
    return match[1] if match else ""


def _clean_text(text: str) -> str:
    return " ".join(text.split())[:MAX_TEXT_LENGTH].strip()


def _split(values: Iterable[str], separators: str) -> list[str]:
    """Return the parts of values, each once, split by the first of some separators that occurs."""
    parts: list[str] = []
    for value in values:
        separator = next((mark for mark in separators if mark in value), None)
        parts += value.split(separator) if separator else [value]
    return [part for part in dict.fromkeys(map(_clean_text, parts)) if part]


def _split_references(values: Sequence[str]) -> list[str]:
    """Return cited references: one a value, or all in one, those of Dimensions in brackets."""
    if len(values) == 1 and values[0].startswith("[") and "|" in values[0]:
        values = re.split(r"\]\s*;\s*\[", values[0].strip("[] "))
    elif len(values) == 1:
        values = re.split(r"[;|\n]", values[0])
    return [part for part in dict.fromkeys(map(_clean_text, values)) if part]


def _parse_keywords(values: Sequence[str]) -> tuple[str, ...]:
    parts = _split(values, ";|\n" if len(values) > 1 else ";|\n,")
    keywords = (QUALIFIER_PATTERN.sub(r"\1\2", part.strip("*. ")) for part in parts)
    return tuple(dict.fromkeys(word.lower() if word.isupper() and len(word) > 5 else word for word in keywords if word))


def _parse_authors(fields: Fields) -> tuple[Author, ...]:
    names = _split(fields.get("authors", ()), ";|")
    orcids = " ; ".join(fields.get("orcids", ()))
    orcid_list = [ORCID_PATTERN.findall(part) for part in re.split(r"[;|]", orcids)]
    number_list = _split_all(fields.get("author_ids", ()))
    authors: dict[str, Author] = {}
    for place, name in enumerate(names):
        number = re.search(r"\((\d{6,})\)$", name)
        formatted = format_name(ET_AL_PATTERN.sub("", name[: number.start()] if number else name))
        if not formatted or NO_NAME_PATTERN.fullmatch(formatted) or NO_NAME_PATTERN.fullmatch(name):
            continue
        ids: list[str] = []
        if len(orcid_list) == len(names):
            ids += orcid_list[place][:1]
        else:
            ids += _find_orcid(formatted, orcids)
        if number or len(number_list) == len(names):
            ids.append(number[1] if number else number_list[place])
        authors.setdefault(formatted, Author(formatted, tuple(filter(None, ids))))
    return tuple(authors.values())


def _split_all(values: Sequence[str]) -> list[str]:
    return [part.strip() for part in re.split(r"[;|]", values[0]) if part.strip()] if values else []


def _find_orcid(name: str, orcids: str) -> list[str]:
    """Return the ORCID beside a name, as in "Rodriguez, Ciro/0000-…" or "Rodriguez, Ciro; ORCID: 0000-…"."""
    if not orcids:
        return []
    family, given = make_name_key(name)
    for part in re.split(r"(?<=[\dX])[\s;]+", orcids):
        match = ORCID_PATTERN.search(part)
        if match and is_same_form(make_name_key(format_name(re.split("[;/]", part)[0])), (family, given)):
            return [match[0]]
    return []


COUNTRIES = [
    line.split(";")
    for line in resources.files("cube2net").joinpath("data", "countries.txt").read_text(encoding="utf-8").splitlines()
]
"""The ISO code of each country, its name, and other names."""
COUNTRY_NAMES = {code: name for code, name, *_ in COUNTRIES}
COUNTRY_CODES = {reduce_letters(name): code for code, *names in COUNTRIES for name in names}
UNIVERSITY_PATTERN = re.compile(
    r"univ|colleg|hochschul|politec|polytech|institute of tech|\bETH\b|école|ecole|acad(?:emy|emia)? of .*sci|\bCNRS\b",
    re.I,
)
INSTITUTION_PATTERN = re.compile(
    r"institut|hospital|\bcent(?:er|re|ro)\b|academ|clinic|museum|council|laborator|ministr|foundation|company|gmbh"
    r"|\binc\b|corporation|agency|\bltd\b|\bCNRS\b|society|service",
    re.I,
)
PART_PATTERN = re.compile(
    r"\b(?:dep|dept|department|departamento?|école doctorale|faculty|fac|division)\b|^(?:school|college) of\b",
    re.I,
)
AUTHORS_BEFORE_ADDRESS = re.compile(r"\[[^\]]*\]|(?:^|\s,\s+)\([^()]*(?:\.|@)[^()]*\)")
"""The names of authors before an address, as Web of Science and Embase have them."""
MAX_ADDRESS_LENGTH = 500
CONTACT_PATTERN = re.compile(r"(?:electronic address|e-?mails?|correspondence)\s*:.*|\S+@\S+", re.I)
PERSON_BEFORE = re.compile(r"^[^,:]+, [^,:]+: ")
"""The author before an address, as Ovid has it ("Keefer, Amy: Center for Autism, …")."""


def parse_affiliations(values: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the institutions and the countries of addresses, each once."""
    addresses: list[str] = []
    for value in values:
        addresses += re.split(r"[;|\n]", AUTHORS_BEFORE_ADDRESS.sub("\n", PERSON_BEFORE.sub("", value)))
    parsed = [parse_affiliation(address) for address in addresses if len(address.strip(" ,.")) > 3]
    institutions = dict.fromkeys(institution for institution, _ in parsed if institution)
    countries = dict.fromkeys(country for _, country in parsed if country)
    return tuple(institutions), tuple(countries)


def parse_affiliation(address: str) -> tuple[str, str]:
    """Return the institution and the country of an address, empty where they cannot be told.

    >>> parse_affiliation("School of Biosciences, University of Kent, CT2 7NJ, UK. Electronic address: x@y.uk")
    ('University of Kent', 'United Kingdom')
    >>> parse_affiliation("Univ Ghana, Sch Publ Hlth, Legon, Accra, Ghana.")
    ('Univ Ghana', 'Ghana')
    """
    parts = [
        part.strip(" .-") for part in CONTACT_PATTERN.sub("", " ".join(address.split())[:MAX_ADDRESS_LENGTH]).split(",")
    ]
    parts = [part for part in parts if part]
    if not parts:
        return "", ""
    country = next(filter(None, map(find_country, parts[:-3:-1])), "")
    names = [part for part in parts if not find_country(part) and not part.replace(" ", "").isdigit()]
    without_departments = [part for part in names if not PART_PATTERN.search(part)]
    for candidates in (without_departments, names):
        for sign in (UNIVERSITY_PATTERN, INSTITUTION_PATTERN):
            for part in candidates:
                if sign.search(part):
                    return part, country
    return (without_departments or names or [""])[0], country


def find_country(part: str) -> str:
    """Return the country that a part of an address names, also after a postal code; nothing where there is none."""
    words = [word for word in re.split(r"\s+", part) if not any(letter.isdigit() for letter in word)]
    for start in range(max(len(words) - 4, 0), len(words)):
        code = COUNTRY_CODES.get(reduce_letters("".join(words[start:])))
        if code is not None and all(word.isupper() and len(word) < 4 for word in words[:start]):
            return COUNTRY_NAMES[code]
    return ""


def make_label_key(text: str) -> str:
    """Return a label as labels are compared: without case, accents and punctuation.

    >>> make_label_key("E-Learning") == make_label_key("elearning"), make_label_key("C++") == make_label_key("C#")
    (True, False)
    """
    return reduce_letters(text) + "".join(sign for sign in text if sign in "+#")


def unify_labels(records: Sequence[Reference]) -> list[Reference]:
    """Return the records with each source, keyword and institution written as most of them write it."""
    sources = _choose_spellings(record.source for record in records)
    keywords = _choose_spellings(word for record in records for word in record.keywords)
    institutions = _choose_spellings(institution for record in records for institution in record.institutions)
    return [
        replace(
            record,
            source=sources[record.source],
            keywords=tuple(dict.fromkeys(keywords[word] for word in record.keywords)),
            institutions=tuple(dict.fromkeys(institutions[institution] for institution in record.institutions)),
        )
        for record in records
    ]


def _choose_spellings(labels: Iterable[str]) -> dict[str, str]:
    """Return the most frequent spelling of each label."""
    counts = Counter(labels)
    spellings: dict[str, str] = {}
    for label, _ in counts.most_common():
        spellings.setdefault(make_label_key(label) or label, label)
    return {label: spellings[make_label_key(label) or label] for label in counts}


MIN_TITLE_LETTERS = 12


Duplicate = tuple[Reference, Reference, str]
"""The record that is kept, the other one, and the reason why both are one work."""


def merge_duplicates(records: Sequence[Reference]) -> tuple[list[Reference], list[Duplicate]]:
    """Return the records with those of one work merged: the same DOI, else PMID, else title, year and first author."""
    kept: list[Reference] = []
    places: dict[tuple[str, ...], int] = {}
    duplicates: list[Duplicate] = []
    for record in records:
        keys = _list_identities(record)
        for reason, key in keys:
            place = places.get((reason, *key))
            if place is not None and _is_same_work(kept[place], record):
                duplicates.append((kept[place], record, reason))
                kept[place] = merge_records(kept[place], record)
                keys += _list_identities(kept[place])
                break
        else:
            place = len(kept)
            kept.append(record)
        for reason, key in keys:
            places.setdefault((reason, *key), place)
    return kept, duplicates


def _list_identities(record: Reference) -> list[tuple[str, tuple[str, ...]]]:
    title = reduce_letters(record.title)
    identities: list[tuple[str, tuple[str, ...]]] = [("the same DOI", (record.doi,))] if record.doi else []
    identities += [("the same PMID", (record.pmid,))] if record.pmid else []
    if len(title) >= MIN_TITLE_LETTERS:
        identities.append(("the same title, year and first author", (title, str(record.year), record.first_author)))
    return identities


def _is_same_work(first: Reference, second: Reference) -> bool:
    """Return whether no identifier says that two records are different works."""
    pairs = ((first.doi, second.doi), (first.pmid, second.pmid))
    return any(first_id and first_id == second_id for first_id, second_id in pairs) or not any(map(all, pairs))


def merge_records(first: Reference, second: Reference) -> Reference:
    """Return one record of two of the same work: of every field the fuller value, and what only one of them has."""
    authors = max(
        (first.authors, second.authors), key=lambda names: (len(names), sum(len(author.name) for author in names))
    )
    if len(first.authors) == len(second.authors):
        pairs = zip(first.authors, second.authors, strict=True)
        authors = tuple(_merge_author(*pair) for pair in pairs)
    values = {
        name: getattr(first, name) or getattr(second, name)
        for name in ("title", "year", "source", "doi", "pmid", "kind", "language", "id", "volume", "page", "keywords")
    }
    longer = {
        name: max(getattr(first, name), getattr(second, name), key=len)
        for name in ("abstract", "institutions", "countries", "references")
    }
    return replace(first, authors=authors, **values, **longer)


def _merge_author(first: Author, second: Author) -> Author:
    keys = make_name_key(first.name), make_name_key(second.name)
    if not is_same_form(*keys):
        return first
    name = second.name if is_fuller(keys[1], keys[0]) else first.name
    return Author(name, tuple(dict.fromkeys(first.ids + second.ids)))
