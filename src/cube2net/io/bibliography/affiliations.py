"""Read institutions and countries from the addresses of authors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources

from cube2net.io.bibliography.author_names import reduce_letters

COUNTRIES = [
    line.split(";")
    for line in resources.files("cube2net").joinpath("data", "countries.txt").read_text(encoding="utf-8").splitlines()
]
"""The ISO code of each country, its name, and other names."""
COUNTRY_NAMES = {code: name for code, name, *_ in COUNTRIES}
COUNTRY_CODES = {reduce_letters(name): code for code, *names in COUNTRIES for name in names}
IS_UNIVERSITY = re.compile(
    r"univ|colleg|hochschul|politec|polytech|institute of tech|\bETH\b|école|ecole|universi", re.I
)
IS_INSTITUTION = re.compile(
    r"institut|hospital|\bcent(?:er|re|ro)\b|academ|clinic|museum|council|laborator|ministr|foundation|company|gmbh"
    r"|\binc\b|corporation|agency|\bltd\b|\bCNRS\b|society|service",
    re.I,
)
IS_PART = re.compile(
    r"\b(?:dep|dept|department|departament|departamento|école doctorale|faculty|fac|school of|division)\b", re.I
)
NAMED = re.compile(r"\[[^\]]*\]|(?:^|\s,\s+)\([^()]*(?:\.|@)[^()]*\)")
"""The names of authors before an address, as Web of Science and Embase have them."""
MAX_ADDRESS_LENGTH = 500
CONTACT = re.compile(r"electronic address:.*|\S+@\S+", re.I)


def parse_affiliations(values: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the institutions and the countries of addresses, each once."""
    addresses: list[str] = []
    for value in values:
        addresses += re.split(r"[;|\n]", NAMED.sub("\n", value))
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
    parts = [part.strip(" .-") for part in CONTACT.sub("", " ".join(address.split())[:MAX_ADDRESS_LENGTH]).split(",")]
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
        code = COUNTRY_CODES.get(reduce_letters("".join(words[start:])))
        if code is not None and all(word.isupper() and len(word) < 4 for word in words[:start]):
            return COUNTRY_NAMES[code]
    return ""
