"""Clean the records of citation exports, and merge those of the same work."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cube2net.io.bibliography.reference_formats import Fields

ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>;|\]]+")
YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
PMID = re.compile(r"(?:pubmed|pmid)\D{0,3}(\d{3,9})", re.I)
QUALIFIER = re.compile(r"(?<=[a-z])/\*?[a-z][a-z &,]*$| \[\*?[^\]]*\]$")
"""What MeSH says beside a heading, as in "Animals/genetics" and "Obesity [*psychology]"."""
MAX_TEXT_LENGTH = 500
"""The most characters of a title, a name or a keyword."""


@dataclass(frozen=True, slots=True)
class Author:
    """The name of an author as it is written, in the form "Family, Given", and what identifies the person."""

    name: str
    ids: tuple[str, ...] = ()


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
        return name_key(self.authors[0].name)[0] if self.authors else ""


def clean_reference(place: str, fields: Fields) -> Reference:
    """Return a record with its values cleaned.

    >>> record = clean_reference("a.ris line 1", {"title": ["One"], "authors": ["Govil N."], "year": ["2024/04/03/"]})
    >>> record.authors[0].name, record.year
    ('Govil, N.', 2024)
    """
    first = {name: _plain(values[0]) for name, values in fields.items() if values}
    pmid = first.get("pmid", "")
    pmids = [pmid] if re.fullmatch(r"\d{3,9}", pmid) else PMID.findall(" ".join(fields.get("pmid", ())))
    year = YEAR.search(" ".join(fields.get("year", ())))
    institutions, countries = _places(fields)
    return Reference(
        place=place,
        title=first.get("title", "").rstrip("."),
        authors=_authors(fields),
        year=int(year[1]) if year else None,
        source=first.get("source", ""),
        keywords=_keywords(fields.get("keywords", ())),
        abstract=" ".join(" ".join(fields.get("abstract", ())).split()),
        institutions=institutions,
        countries=countries,
        references=tuple(_split(fields.get("references", ()), ";|\n")),
        doi=find_doi(" ".join(fields.get("doi", ()))),
        pmid=pmids[0] if pmids else "",
        kind=first.get("type", ""),
        language=first.get("language", ""),
        id=first.get("id", "").removeprefix("https://openalex.org/"),
        volume=first.get("volume", ""),
        page=re.split("[-–]", first.get("page", ""))[0],
    )


def find_doi(text: str) -> str:
    """Return the first DOI in a text, in lower case; nothing where there is none.

    >>> find_doi("https://doi.org/10.1016/J.X.2020.01.")
    '10.1016/j.x.2020.01'
    """
    found = DOI.search(text)
    return found[0].lower().rstrip(".,)") if found else ""


def _plain(text: str) -> str:
    return " ".join(text.split())[:MAX_TEXT_LENGTH].strip()


def _split(values: Iterable[str], separators: str) -> list[str]:
    """Return the parts of values, each once, split by the first of some separators that occurs."""
    parts: list[str] = []
    for value in values:
        separator = next((mark for mark in separators if mark in value), None)
        parts += value.split(separator) if separator else [value]
    return [part for part in dict.fromkeys(map(_plain, parts)) if part]


def _keywords(values: Sequence[str]) -> tuple[str, ...]:
    parts = _split(values, ";|\n" if len(values) > 1 else ";|\n,")
    named = (QUALIFIER.sub("", part.strip("*. ")) for part in parts)
    return tuple(dict.fromkeys(word.lower() if word.isupper() and len(word) > 5 else word for word in named if word))


def _authors(fields: Fields) -> tuple[Author, ...]:
    names = _split(fields.get("authors", ()), ";|")
    orcids = " ; ".join(fields.get("orcids", ()))
    orcid_list = [ORCID.findall(part) for part in re.split(r"[;|]", orcids)]
    number_list = _split_all(fields.get("author_ids", ()))
    authors: dict[str, Author] = {}
    for place, name in enumerate(names):
        number = re.search(r"\((\d{6,})\)$", name)
        written = format_name(name[: number.start()] if number else name)
        if not written or written.casefold() in ("et al", "others", "anonymous", "[anonymous]", "et al.", "null"):
            continue
        ids: list[str] = []
        if len(orcid_list) == len(names):
            ids += orcid_list[place][:1]
        else:
            ids += _orcid_of(written, orcids)
        if number or len(number_list) == len(names):
            ids.append(number[1] if number else number_list[place])
        authors.setdefault(written, Author(written, tuple(filter(None, ids))))
    return tuple(authors.values())


def _split_all(values: Sequence[str]) -> list[str]:
    return [part.strip() for part in re.split(r"[;|]", values[0]) if part.strip()] if values else []


def _orcid_of(name: str, orcids: str) -> list[str]:
    """Return the ORCID beside a name in the list of Web of Science or Ovid ("Rodriguez, Ciro/0000-…")."""
    if not orcids:
        return []
    family, given = name_key(name)
    for part in re.split(r"(?<=[\dX]);", orcids):
        found = ORCID.search(part)
        if found and is_same_form(name_key(format_name(part[: found.start()].split(";")[0].strip("/ "))), (family, given)):
            return [found[0]]
    return []


PARTICLES = frozenset("van von der den de del della di da dos das do du la le el al bin ibn ten ter zu zur af av y".split())
SUFFIXES = frozenset("jr sr ii iii iv phd md".split())
INITIALS = re.compile(r"(?:[A-Z]\.?-?){1,3}")
FULL_STOP = re.compile(r"(?:[A-Z]{2}|[a-z]{2})\.$")
LETTERS = str.maketrans({"ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i", "ð": "d", "þ": "th"})
Name = tuple[str, tuple[str, ...]]
"""A family name and given names or initials, in lower case and without accents, as names are compared."""


def format_name(text: str) -> str:
    """Return a name as "Family, Given", whichever way it is written.

    >>> [format_name(name) for name in ("Govil N.", "Nikhil Govil", "J. van der Berg", "Auken, O. W. van", "IEEE")]
    ['Govil, N.', 'Govil, Nikhil', 'van der Berg, J.', 'van Auken, O. W.', 'IEEE']
    """
    text = unicodedata.normalize("NFC", " ".join(text.replace("’", "'").split())).strip(" ,;")[:MAX_TEXT_LENGTH]
    text = text[:-1] if FULL_STOP.search(text) else text
    if "," in text:
        family, _, rest = text.partition(",")
        given = [word for word in rest.replace(",", " ").split() if word.lower().strip(".") not in SUFFIXES]
        while len(given) > 1 and len(given[-1]) > 1 and given[-1].lower() in PARTICLES:
            family = f"{given.pop().lower()} {family}"
    else:
        words = [word for word in text.split() if word.lower().strip(".") not in SUFFIXES] or text.split()
        split = _family_start(words)
        family = " ".join(words[split:] if split >= 0 else words[:split])
        given = words[:split] if split >= 0 else words[split:]
    given = [word for word in given if word != "null"]
    return f"{family.strip()}, {' '.join(given)}" if given else family.strip()


def _family_start(words: Sequence[str]) -> int:
    """Return where the family name begins; below 0 so many initials follow it."""
    trailing = 0
    while trailing < len(words) - 1 and INITIALS.fullmatch(words[-1 - trailing]):
        trailing += 1
    if trailing and not INITIALS.fullmatch(words[0]):
        return -trailing
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in PARTICLES:
        start -= 1
    return start


def name_key(name: str) -> Name:
    """Return a name of the form "Family, Given" as names are compared.

    >>> name_key("Peñalver, Enrique J."), name_key("van den Hoven, M.A."), name_key("O'Connor, RE")
    (('penalver', ('enrique', 'j')), ('vandenhoven', ('m', 'a')), ('oconnor', ('r', 'e')))
    """
    family, _, given = name.partition(", ")
    words: list[str] = []
    for word in re.split(r"[\s.\-‐–]+", given):
        plain = plain_letters(word)
        words += list(plain) if word.isupper() and len(plain) <= 3 else [plain] if plain else []
    return plain_letters(family), tuple(words)


def plain_letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, without accents."""
    spread = unicodedata.normalize("NFKD", text.casefold().translate(LETTERS))
    return "".join([letter for letter in spread if letter.isalnum()])


def is_same_form(one: Name, other: Name) -> bool:
    """Return whether two names may be of one person: the same family, and given names or initials that agree.

    >>> is_same_form(("li", ("j",)), ("li", ("jun", "wei"))), is_same_form(("li", ("jin",)), ("li", ("jun",)))
    (True, False)
    """
    (family, given), (other_family, other_given) = one, other
    if family != other_family or bool(given) != bool(other_given):
        return False
    if "".join(given) == "".join(other_given):
        return True
    return all(
        a == b or (1 in (len(a), len(b)) and a[0] == b[0]) for a, b in zip(given, other_given, strict=False)
    )


def is_fuller(one: Name, other: Name) -> bool:
    """Return whether a name says more than another of the same form: more given names, or fewer initials."""
    return (len("".join(one[1])), len(one[1])) > (len("".join(other[1])), len(other[1]))


MIN_TITLE_LETTERS = 12


@dataclass
class Duplicates:
    """The records that were merged into others: ``pairs`` of the record that is kept, the other one, and the reason."""

    pairs: list[tuple[Reference, Reference, str]] = field(default_factory=list)

    def counts(self) -> Mapping[str, int]:
        """Return how many there were for each reason."""
        reasons = [reason for _, _, reason in self.pairs]
        return {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}


def merge_duplicates(records: Sequence[Reference]) -> tuple[list[Reference], Duplicates]:
    """Return the records with those of one work merged: the same DOI, else PMID, else title, year and first author."""
    kept: list[Reference] = []
    places: dict[tuple[str, ...], int] = {}
    duplicates = Duplicates()
    for record in records:
        keys = _identities(record)
        for reason, key in keys:
            at = places.get((reason, *key))
            if at is not None and _may_be_one(kept[at], record):
                duplicates.pairs.append((kept[at], record, reason))
                kept[at] = merge_records(kept[at], record)
                keys += _identities(kept[at])
                break
        else:
            at = len(kept)
            kept.append(record)
        for reason, key in keys:
            places.setdefault((reason, *key), at)
    return kept, duplicates


def _identities(record: Reference) -> list[tuple[str, tuple[str, ...]]]:
    title = plain_letters(record.title)
    identities = [("the same DOI", (record.doi,))] if record.doi else []
    identities += [("the same PMID", (record.pmid,))] if record.pmid else []
    if len(title) >= MIN_TITLE_LETTERS:
        identities.append(("the same title, year and first author", (title, str(record.year), record.first_author)))
    return identities


def _may_be_one(one: Reference, other: Reference) -> bool:
    """Return whether no identifier says that two records are different works."""
    pairs = ((one.doi, other.doi), (one.pmid, other.pmid))
    return any(a and a == b for a, b in pairs) or not any(a and b for a, b in pairs)


def merge_records(one: Reference, other: Reference) -> Reference:
    """Return one record of two of the same work: of every field the fuller value, and what only one of them has."""
    authors = max((one.authors, other.authors), key=lambda some: (len(some), sum(len(each.name) for each in some)))
    if len(one.authors) == len(other.authors):
        pairs = zip(one.authors, other.authors, strict=True)
        authors = tuple(_merged_author(*pair) for pair in pairs)
    values = {
        name: getattr(one, name) or getattr(other, name)
        for name in ("title", "year", "source", "doi", "pmid", "kind", "language", "id", "volume", "page", "keywords")
    }
    longer = {
        name: max(getattr(one, name), getattr(other, name), key=len)
        for name in ("abstract", "institutions", "countries", "references")
    }
    return replace(one, authors=authors, **values, **longer)


def _merged_author(one: Author, other: Author) -> Author:
    keys = name_key(one.name), name_key(other.name)
    if not is_same_form(*keys):
        return one
    name = other.name if is_fuller(keys[1], keys[0]) else one.name
    return Author(name, tuple(dict.fromkeys(one.ids + other.ids)))


COUNTRIES = (
    "AD Andorra;AE United Arab Emirates;AF Afghanistan;AL Albania;AM Armenia;AO Angola;AR Argentina;AT Austria;"
    "AU Australia;AZ Azerbaijan;BA Bosnia and Herzegovina;BB Barbados;BD Bangladesh;BE Belgium;BF Burkina Faso;BG Bulgaria;"
    "BH Bahrain;BI Burundi;BJ Benin;BN Brunei;BO Bolivia;BR Brazil;BT Bhutan;BW Botswana;BY Belarus;CA Canada;CD Congo DR;"
    "CF Central African Republic;CG Congo;CH Switzerland;CI Côte d'Ivoire;CL Chile;CM Cameroon;CN China;CO Colombia;"
    "CR Costa Rica;CU Cuba;CY Cyprus;CZ Czech Republic;DE Germany;DK Denmark;DO Dominican Republic;DZ Algeria;EC Ecuador;"
    "EE Estonia;EG Egypt;ER Eritrea;ES Spain;ET Ethiopia;FI Finland;FJ Fiji;FO Faroe Islands;FR France;GA Gabon;"
    "GB United Kingdom;GE Georgia;GH Ghana;GL Greenland;GM Gambia;GN Guinea;GR Greece;GT Guatemala;GY Guyana;HK Hong Kong;"
    "HN Honduras;HR Croatia;HT Haiti;HU Hungary;ID Indonesia;IE Ireland;IL Israel;IN India;IQ Iraq;IR Iran;IS Iceland;"
    "IT Italy;JM Jamaica;JO Jordan;JP Japan;KE Kenya;KG Kyrgyzstan;KH Cambodia;KP North Korea;KR South Korea;KW Kuwait;"
    "KZ Kazakhstan;LA Laos;LB Lebanon;LK Sri Lanka;LR Liberia;LS Lesotho;LT Lithuania;LU Luxembourg;LV Latvia;LY Libya;"
    "MA Morocco;MC Monaco;MD Moldova;ME Montenegro;MG Madagascar;MK North Macedonia;ML Mali;MM Myanmar;MN Mongolia;"
    "MO Macao;MT Malta;MU Mauritius;MV Maldives;MW Malawi;MX Mexico;MY Malaysia;MZ Mozambique;NA Namibia;NC New Caledonia;"
    "NE Niger;NG Nigeria;NI Nicaragua;NL Netherlands;NO Norway;NP Nepal;NZ New Zealand;OM Oman;PA Panama;PE Peru;"
    "PG Papua New Guinea;PH Philippines;PK Pakistan;PL Poland;PR Puerto Rico;PS Palestine;PT Portugal;PY Paraguay;QA Qatar;"
    "RO Romania;RS Serbia;RU Russia;RW Rwanda;SA Saudi Arabia;SD Sudan;SE Sweden;SG Singapore;SI Slovenia;SK Slovakia;"
    "SL Sierra Leone;SN Senegal;SO Somalia;SR Suriname;SS South Sudan;SV El Salvador;SY Syria;SZ Eswatini;TD Chad;TG Togo;"
    "TH Thailand;TJ Tajikistan;TN Tunisia;TR Turkey;TT Trinidad and Tobago;TW Taiwan;TZ Tanzania;UA Ukraine;UG Uganda;"
    "US United States;UY Uruguay;UZ Uzbekistan;VE Venezuela;VN Vietnam;XK Kosovo;YE Yemen;ZA South Africa;ZM Zambia;"
    "ZW Zimbabwe"
)
OTHER_COUNTRY_NAMES = (
    "US USA;US United States of America;US U.S.A.;US US;GB UK;GB England;GB Scotland;GB Wales;GB Northern Ireland;"
    "GB Great Britain;GB U.K.;CN Peoples R China;CN PR China;CN P.R. China;CN People's Republic of China;CN Mainland China;"
    "RU Russian Federation;KR Korea;KR Republic of Korea;KR Korea, South;IR Islamic Republic of Iran;DE Deutschland;"
    "DE Fed Rep Ger;ES España;IT Italia;BR Brasil;MX México;NL The Netherlands;NL Holland;TR Türkiye;TR Turkiye;CZ Czechia;"
    "VN Viet Nam;AE U Arab Emirates;AE UAE;SA Kingdom of Saudi Arabia;ZA Republic of South Africa;IE Republic of Ireland;"
    "CI Ivory Coast;CI Cote Ivoire;MK Macedonia;CD Democratic Republic of the Congo;TW Taiwan, China;SG Republic of Singapore;"
    "BA Bosnia & Herceg;TT Trinidad Tobago;JP Nippon;CH Suisse;CH Schweiz;AT Österreich;BE Belgique;BE België;SY Syrian Arab"
    " Republic;TZ United Republic of Tanzania;MM Burma;SZ Swaziland;PS Palestinian Territory;HK Hong Kong SAR"
)
COUNTRY_NAMES = {entry[:2]: entry[3:] for entry in COUNTRIES.split(";")}
COUNTRY_CODES = {
    plain_letters(name): code
    for code, name in (
        *((entry[:2], entry[3:]) for entry in f"{COUNTRIES};{OTHER_COUNTRY_NAMES}".split(";")),
    )
}
IS_UNIVERSITY = re.compile(r"univ|colleg|hochschul|politec|polytech|institute of tech|\bETH\b|école|ecole|universi", re.I)
IS_INSTITUTION = re.compile(
    r"institut|hospital|\bcent(?:er|re|ro)\b|academ|clinic|museum|council|laborator|ministr|foundation|company|\binc\b|gmbh"
    r"|corporation|agency|\bltd\b|\bCNRS\b|society|service",
    re.I,
)
IS_PART = re.compile(r"\b(?:dep|dept|department|departament|departamento|école doctorale|faculty|fac|school of|division)\b", re.I)
CONTACT = re.compile(r"electronic address:.*|\S+@\S+", re.I)


def _places(fields: Fields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the institutions and countries of a record's authors."""
    addresses: list[str] = []
    for value in fields.get("affiliations", ()):
        value = re.sub(r"\[[^\]]*\]", "\n", value)
        value = re.sub(r"(?:^|\s,\s+)\([^()]*(?:\.|@)[^()]*\)", "\n", value)
        addresses += re.split(r"[;|\n]", value)
    institutions = _split(fields.get("institutions", ()), ";|")
    countries = [COUNTRY_NAMES.get(code, code) for code in _split(fields.get("countries", ()), ";|")]
    parsed = [parse_affiliation(address) for address in addresses if len(address.strip(" ,.")) > 3]
    if not institutions:
        institutions = [institution for institution, _ in parsed if institution]
    if not countries:
        countries = [country for _, country in parsed if country]
    return tuple(dict.fromkeys(institutions)), tuple(dict.fromkeys(countries))


def parse_affiliation(address: str) -> tuple[str, str]:
    """Return the institution and the country of an address, empty where they cannot be told.

    >>> parse_affiliation("School of Biosciences, University of Kent, Canterbury, CT2 7NJ, UK. Electronic address: x@y.uk")
    ('University of Kent', 'United Kingdom')
    >>> parse_affiliation("Univ Ghana, Sch Publ Hlth, Legon, Accra, Ghana.")
    ('Univ Ghana', 'Ghana')
    """
    parts = [part.strip(" .-") for part in CONTACT.sub("", _plain(address)).split(",")]
    parts = [part for part in parts if part]
    if not parts:
        return "", ""
    country = next(filter(None, map(find_country, parts[:-3:-1])), "")
    names = [part for part in parts if not find_country(part) and not part.replace(" ", "").isdigit()]
    main = [part for part in names if not IS_PART.search(part)]
    for sign in (IS_UNIVERSITY, IS_INSTITUTION):
        for part in main:
            if sign.search(part):
                return part, country
    return (main or names or [""])[0], country


def find_country(part: str) -> str:
    """Return the country that a part of an address names, also after a postal code; nothing where there is none."""
    words = [word for word in re.split(r"\s+", part) if not any(letter.isdigit() for letter in word)]
    for start in range(max(len(words) - 4, 0), len(words)):
        code = COUNTRY_CODES.get(plain_letters("".join(words[start:])))
        if code is not None and all(word.isupper() and len(word) < 4 for word in words[:start]):
            return COUNTRY_NAMES[code]
    return ""
