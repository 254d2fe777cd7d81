"""Values as the rounds of Yelp's challenge write them: kinds of records, attributes, categories, cities and dates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Any

from cube2net.sources.reviews import LAST

CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD = re.compile(r"[^\W_]+")
QUOTED = re.compile(r"""^u?(['"])(.*)\1$""", re.DOTALL)
PAIR = re.compile(r"""u?['"]([^'"]*)['"]\s*:\s*([^,}]*)""")
NO = ("", "false", "none", "no", "null")
LONGEST = 60


def kind_of(record: dict[str, Any]) -> str | None:
    """Return what a record is: by its type in the early rounds, else by what it holds."""
    if isinstance(kind := record.get("type"), str):
        return kind if kind in ("business", "review", "user") else "other"
    if "business_id" in record:
        if "user_id" in record:
            return "review" if "review_id" in record or "stars" in record else "other"
        return "business" if "city" in record or "categories" in record else "other"
    return "user" if "user_id" in record else None


def feature_labels(attributes: object) -> list[str]:
    """Return what a business has or offers, each as a short label; what it has not is left out.

    The rounds write nested tables, lists of texts, and texts that look like Python:

    >>> feature_labels({"Good For Kids": True, "Take-out": False, "Parking": {"garage": True, "lot": False}})
    ['good for kids', 'parking: garage']
    >>> feature_labels(["GoodForKids: True", "Alcohol: full_bar", "BusinessParking: {'garage': True, 'lot': False}"])
    ['good for kids', 'alcohol: full bar', 'business parking: garage']
    >>> feature_labels({"RestaurantsTakeOut": "True", "WiFi": "u'free'", "Smoking": "u'no'", "Music": "{u'dj': True}"})
    ['take out', 'wi fi: free', 'music: dj']
    """
    if isinstance(attributes, dict):
        pairs = list(attributes.items())
    elif isinstance(attributes, list):
        pairs = [
            (name, value) for text in attributes if isinstance(text, str) for name, _, value in [text.partition(":")]
        ]
    else:
        return []
    found: dict[str, None] = {}
    for name, value in pairs:
        if label := words(name).removeprefix("restaurants ").rstrip("0123456789"):
            for part in _parts(value):
                found[f"{label}: {part}" if part else label] = None
    return list(found)


@lru_cache(4096)
def words(text: str) -> str:
    """Return a text as plain words: ``BYOBCorkage``, ``BYOB/Corkage`` and ``byob_corkage`` are the same.

    >>> words("BYOBCorkage"), words("Take-out"), words("RestaurantsTakeOut")
    ('byob corkage', 'take out', 'restaurants take out')
    """
    return " ".join(WORD.findall(CAMEL.sub(" ", text[:LONGEST]))).lower()


def _parts(value: object) -> Iterator[str]:
    """Return an empty text where a value is true, nothing where it is not, else what it says."""
    if isinstance(value, dict):
        for name, held in value.items():
            if words(name) and any(True for _ in _parts("" if isinstance(held, dict | list) else held)):
                yield words(name)
    elif isinstance(value, list):
        for held in value:
            if not isinstance(held, dict | list):
                yield from _parts(held)
    elif isinstance(value, str):
        yield from _said(value.strip())
    elif value is True:
        yield ""
    elif isinstance(value, int | float) and value is not False:
        yield str(value)


def _said(text: str) -> Iterator[str]:
    if text.startswith("{"):
        for name, held in PAIR.findall(text):
            if words(name) and any(True for _ in _said(held.strip())):
                yield words(name)
        return
    quoted = QUOTED.match(text)
    said = words(quoted[2] if quoted else text)
    if said == "true":
        yield ""
    elif said not in NO:
        yield said


def city_labels(cities: Sequence[str | None], states: Sequence[str]) -> list[str | None]:
    """Return the label of every business' city: one spelling for each city of a state, one state for each label.

    >>> city_labels(["Urbana", "URBANA", "Urbana", "Urbana", None], ["IL", "IL", "OH", "IL", "IL"])
    ['Urbana', 'Urbana', 'Urbana, OH', 'Urbana', None]
    """
    spelled: dict[tuple[str, str], Counter[str]] = {}
    for city, state in zip(cities, states, strict=True):
        if city is not None:
            spelled.setdefault((city.casefold(), state), Counter())[city] += 1
    home: dict[str, tuple[int, str]] = {}
    for (city, state), spellings in spelled.items():
        if spellings.total() > home.get(city, (0, ""))[0]:
            home[city] = spellings.total(), state
    labels = {}
    for (city, state), spellings in spelled.items():
        name = spellings.most_common(1)[0][0]
        labels[city, state] = name if home[city][1] == state else f"{name}, {state}"
    return [
        None if city is None else labels[city.casefold(), state] for city, state in zip(cities, states, strict=True)
    ]


def category_labels(value: object) -> list[str]:
    """Return the categories of a business, which are a list or one text with commas.

    >>> category_labels("Restaurants, Thai"), category_labels(["Bars", " Bars", 7]), category_labels(None)
    (['Restaurants', 'Thai'], ['Bars'], [])
    """
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(part.strip() for part in parts if isinstance(part, str) and part.strip()))


def text_of(value: object) -> str | None:
    """Return a text with single spaces, None where there is none."""
    return (" ".join(value.split()) or None) if isinstance(value, str) else None


def number_of(value: object) -> float | None:
    """Return a number of sensible size, None where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e6:
        return None
    return float(value)


def seconds_of(value: object) -> int | None:
    """Return a date, with a time of day or without, as seconds since 1970.

    >>> seconds_of("1970-01-02"), seconds_of("1970-01-02 00:01:40"), seconds_of("n.d.")
    (86400, 86500, None)
    """
    if not isinstance(value, str) or (start := _midnight(value[:10])) is None:
        return None
    clock = value[11:19]
    if len(clock) == 8 and clock[2] == ":" == clock[5] and (clock[:2] + clock[3:5] + clock[6:]).isdecimal():
        start += int(clock[:2]) * 3600 + int(clock[3:5]) * 60 + int(clock[6:])
    return start if start <= LAST else None


@lru_cache(20_000)
def _midnight(day: str) -> int | None:
    try:
        return (date.fromisoformat(day).toordinal() - 719_163) * 86_400
    except ValueError:
        return None
