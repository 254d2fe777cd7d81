"""Yelp's challenge: businesses, the users who review them, and the reviews, in the JSON of any round."""

from __future__ import annotations

import math
import re
import reprlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from cube2net._util.progress import Progress, silent
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits
from cube2net.errors import ParameterError, SourceError, quote_few
from cube2net.io.dropped import Dropped
from cube2net.io.files import InputFiles, find_data_files
from cube2net.io.reviews.link_tasks import (
    MAX_TIME,
    ReviewCorpus,
    Reviews,
    ReviewSource,
    Things,
    Where,
    describe_left_out,
)
from cube2net.io.text_records import decode_lines, number_lines, parse_json_records
from cube2net.model.dimension import DimensionSpec

ENDINGS = (".json",)
EXPECTED = "Yelp's business.json, review.json and user.json, a folder with them, or its archive"
ATTRIBUTION = (
    "Yelp Open Dataset (https://www.yelp.com/dataset), by Yelp Inc. under its Dataset User Agreement: "
    "for academic use, and not to be passed on"
)
DIMENSIONS = (
    DimensionSpec("city", "city", parent="state"),
    DimensionSpec("category", "category"),
    DimensionSpec("topic", "topic"),
)
TASKS: dict[str, Where] = {
    "ilkid": {"state": "IL", "feature": "good for kids"},
    "nvout": {"state": "NV", "feature": "take out"},
}
ITEMS = {
    "item": pa.string(),
    "city": pa.string(),
    "state": pa.string(),
    "category": pa.list_(pa.string()),
    "feature": pa.list_(pa.string()),
    "stars": pa.float32(),
    "text": pa.string(),
}
OTHER_FILES = re.compile(r"(?<![a-z])(checkin|tip|photo)s?(?![a-z])")
OTHERS = "records of other kinds, such as tips"
NO_STATE = "other"
LINES_PER_REPORT = 10_000
ROWS_PER_CHUNK = 2**13
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD = re.compile(r"[^\W_]+")
QUOTED = re.compile(r"""^u?(['"])(.*)\1$""", re.DOTALL)
PAIR = re.compile(r"""u?['"]([^'"]*)['"]\s*:\s*([^,}]*)""")
NO = ("", "false", "none", "no", "null")
MAX_LABEL_LENGTH = 60


@dataclass(frozen=True, kw_only=True)
class Yelp(ReviewSource):
    """Reads Yelp's challenge data of any round: one JSON object a line, in files, a folder or an archive.

    Objects are businesses and the users who reviewed one, ``business:…`` and ``user:…`` with Yelp's ids. Items are
    businesses with ``city``, ``state``, ``category``, ``feature`` (attributes that hold, such as "good for kids"),
    ``stars`` and ``text``; each mentions its business and the users. The weight of a link is the number of reviews.
    A city name that several states have is that of the state with most businesses there; in others it has the state
    ("Urbana, OH"). The text of a business is that of its reviews in the order of the file, up to ``max_text``
    characters, which bounds the memory. Unusable lines are counted in ``dropped`` and the first few are shown;
    ``strict`` makes them errors. ``max_ratio`` and ``max_unpacked`` limit the size of unpacked files.
    """

    tasks = TASKS
    max_text: int = 5_000
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        if self.max_text < 0:
            raise ParameterError(f"max_text is {self.max_text!r}, expected 0 or more characters")

    def read_reviews(self, paths: Sequence[Path], *, progress: Progress = silent) -> ReviewCorpus:
        """Return the corpus of the files, and every review with its date and stars."""
        dropped = Dropped(self.strict, progress)
        yelp = _YelpReader(dropped, self.max_text)
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        files = InputFiles(find_data_files(paths, ENDINGS, EXPECTED), ENDINGS, meter, once=True)
        for name, file in files:
            if OTHER_FILES.search(name.casefold()):
                continue
            for number, record in parse_json_records(name, decode_lines(name, number_lines(file), dropped), dropped):
                yelp.add((name, number), record)
                if number % LINES_PER_REPORT == 0:
                    progress(f"reading {name}", files.done, files.total)
            progress(f"reading {name}", files.done, files.total)
        return yelp.build_corpus()


class _YelpReader:
    """Reads records of businesses, users and reviews."""

    def __init__(self, dropped: Dropped, max_text: int) -> None:
        self.dropped, self.max_text = dropped, max_text
        self.businesses: dict[str, tuple[str, str | None, str, list[str], list[str], float | None]] = {}
        self.reviews = Reviews()
        self.names: dict[int, str] = {}
        self.texts: list[list[str]] = []
        self.room: list[int] = []
        self.same: dict[str, str] = {}

    def add(self, place: tuple[str, int], record: dict[str, Any]) -> None:
        """Add a record of any kind."""
        kind = detect_kind(record)
        if kind == "review":
            self.add_review(place, record)
        elif kind == "business":
            self.add_business(place, record)
        elif kind == "user":
            self.add_user(place, record)
        elif kind == "other":
            self.dropped.leave_out(OTHERS)
        else:
            keys = quote_few(list(record), 5) or "nothing"
            self.drop("objects of no known kind", place, f"holds {keys}, expected 'business_id' or 'user_id'")

    def drop(self, reason: str, place: tuple[str, int], sentence: str) -> None:
        self.dropped.drop_one(reason, f"{place[0]} line {place[1]:,}", sentence)

    def find_key(self, place: tuple[str, int], record: dict[str, Any], name: str, what: str) -> str | None:
        value = record.get(name)
        if isinstance(value, str) and (key := value.strip()):
            return key
        self.drop(f"{what} without an id", place, f"{name!r} is {reprlib.repr(value)}, expected an id")
        return None

    def add_business(self, place: tuple[str, int], record: dict[str, Any]) -> None:
        key = self.find_key(place, record, "business_id", "businesses")
        if key is None:
            return
        if key in self.businesses:
            self.drop("businesses named twice", place, f"business {key!r} was there before")
            return
        self.businesses[key] = (
            parse_text(record.get("name")) or key,
            parse_text(record.get("city")),
            parse_text(record.get("state")) or NO_STATE,
            self.intern(parse_categories(record.get("categories"))),
            self.intern(parse_attributes(record.get("attributes"))),
            parse_number(record.get("stars")),
        )

    def intern(self, labels: list[str]) -> list[str]:
        """Return labels that are kept in memory once, however many businesses have them."""
        return [self.same.setdefault(label, label) for label in labels]

    def add_user(self, place: tuple[str, int], record: dict[str, Any]) -> None:
        key = self.find_key(place, record, "user_id", "users")
        if key is not None:
            users = self.reviews.users
            name = parse_text(record.get("name")) or ""
            self.names[users.setdefault(key, len(users))] = self.same.setdefault(name, name)

    def add_review(self, place: tuple[str, int], record: dict[str, Any]) -> None:
        business = self.find_key(place, record, "business_id", "reviews")
        user = None if business is None else self.find_key(place, record, "user_id", "reviews")
        if business is None or user is None:
            return
        stars = parse_number(record.get("stars"))
        if stars is None:
            self.drop(
                "stars that are no numbers", place, f"'stars' is {reprlib.repr(record.get('stars'))}, expected a number"
            )
        time = parse_seconds(record.get("date"))
        if time is None:
            why = f"'date' is {reprlib.repr(record.get('date'))}, expected one such as '2016-05-28'"
            self.drop("dates that cannot be read", place, why)
        row = self.reviews.add(place, business, user, time, math.nan if stars is None else stars)
        if row == len(self.texts):
            self.texts.append([])
            self.room.append(self.max_text)
        text = record.get("text")
        if self.room[row] > 0 and isinstance(text, str) and (text := text.strip()):
            self.texts[row].append(text[: self.room[row]])
            self.room[row] -= len(text) + 1

    def build_corpus(self) -> ReviewCorpus:
        """Return the corpus of all that was read; the texts are freed as they are used."""
        self.dropped.close()
        if not self.businesses:
            raise SourceError(f"there is no business: expected {EXPECTED}{describe_left_out(self.dropped)}")
        self.dropped.leave_out("users who wrote no review", len(set(self.names) - set(self.reviews.user)))
        names, cities, states, categories, held, stars = zip(*self.businesses.values(), strict=True)
        items = pa.table(
            {
                "item": list(self.businesses),
                "city": label_cities(cities, states),
                "state": states,
                "category": categories,
                "feature": held,
                "stars": stars,
                "text": pa.chunked_array(self.join_texts(), pa.string()),
            },
            schema=pa.schema(list(ITEMS.items())),
        )
        things = Things("business", list(self.businesses), names, items)
        return self.reviews.build_corpus(
            things,
            self.dropped,
            names=self.names,
            keep_all=True,
            weights="count",
            dimensions=DIMENSIONS,
            attribution=ATTRIBUTION,
        )

    def join_texts(self) -> Iterator[pa.Array]:
        """Return the texts of the businesses, some thousands at a time; one without a review has none."""
        rows = [self.reviews.things.get(key) for key in self.businesses]
        for start in range(0, len(rows), ROWS_PER_CHUNK):
            texts = []
            for row in rows[start : start + ROWS_PER_CHUNK]:
                parts = [] if row is None else self.texts[row]
                texts.append("\n".join(parts) or None)
                parts.clear()
            yield pa.array(texts, pa.string())


def detect_kind(record: dict[str, Any]) -> str | None:
    """Return what a record is: by its type in the early rounds, else by what it holds."""
    if isinstance(kind := record.get("type"), str):
        return kind if kind in ("business", "review", "user") else "other"
    if "business_id" in record:
        if "user_id" in record:
            return "review" if "review_id" in record or "stars" in record else "other"
        return "business" if "city" in record or "categories" in record else "other"
    return "user" if "user_id" in record else None


def parse_attributes(attributes: object) -> list[str]:
    """Return what a business has or offers, each as a short label; what it has not is left out.

    The rounds write nested tables, lists of texts, and texts that look like Python:

    >>> parse_attributes({"Good For Kids": True, "Take-out": False, "Parking": {"garage": True, "lot": False}})
    ['good for kids', 'parking: garage']
    >>> parse_attributes(["GoodForKids: True", "Alcohol: full_bar", "BusinessParking: {'garage': True, 'lot': False}"])
    ['good for kids', 'alcohol: full bar', 'business parking: garage']
    >>> texts = {"RestaurantsTakeOut": "True", "WiFi": "u'free'", "Smoking": "u'no'", "Music": "{u'dj': True}"}
    >>> parse_attributes(texts)
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
        if label := normalize_words(name).removeprefix("restaurants ").rstrip("0123456789"):
            for part in _parse_value(value):
                found[f"{label}: {part}" if part else label] = None
    return list(found)


@lru_cache(4096)
def normalize_words(text: str) -> str:
    """Return a text as plain words: ``BYOBCorkage``, ``BYOB/Corkage`` and ``byob_corkage`` are the same.

    >>> normalize_words("BYOBCorkage"), normalize_words("Take-out"), normalize_words("RestaurantsTakeOut")
    ('byob corkage', 'take out', 'restaurants take out')
    """
    return " ".join(WORD.findall(CAMEL.sub(" ", text[:MAX_LABEL_LENGTH]))).lower()


def _parse_value(value: object) -> Iterator[str]:
    """Return an empty text where a value is true, nothing where it is not, else what it says."""
    if isinstance(value, dict):
        for name, held in value.items():
            if normalize_words(name) and any(True for _ in _parse_value("" if isinstance(held, dict | list) else held)):
                yield normalize_words(name)
    elif isinstance(value, list):
        for held in value:
            if not isinstance(held, dict | list):
                yield from _parse_value(held)
    elif isinstance(value, str):
        yield from _describe(value.strip())
    elif value is True:
        yield ""
    elif isinstance(value, int | float) and value is not False:
        yield str(value)


def _describe(text: str) -> Iterator[str]:
    if text.startswith("{"):
        for name, held in PAIR.findall(text):
            if normalize_words(name) and any(True for _ in _describe(held.strip())):
                yield normalize_words(name)
        return
    quoted = QUOTED.match(text)
    label = normalize_words(quoted[2] if quoted else text)
    if label == "true":
        yield ""
    elif label not in NO:
        yield label


def label_cities(cities: Sequence[str | None], states: Sequence[str]) -> list[str | None]:
    """Return the label of every business' city: one spelling for each city of a state, one state for each label.

    >>> label_cities(["Urbana", "URBANA", "Urbana", "Urbana", None], ["IL", "IL", "OH", "IL", "IL"])
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


def parse_categories(value: object) -> list[str]:
    """Return the categories of a business, which are a list or one text with commas.

    >>> parse_categories("Restaurants, Thai"), parse_categories(["Bars", " Bars", 7]), parse_categories(None)
    (['Restaurants', 'Thai'], ['Bars'], [])
    """
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(part.strip() for part in parts if isinstance(part, str) and part.strip()))


def parse_text(value: object) -> str | None:
    """Return a text with single spaces, None where there is none."""
    return (" ".join(value.split()) or None) if isinstance(value, str) else None


def parse_number(value: object) -> float | None:
    """Return a number of sensible size, None where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e6:
        return None
    return float(value)


def parse_seconds(value: object) -> int | None:
    """Return a date, with a time of day or without, as seconds since 1970.

    >>> parse_seconds("1970-01-02"), parse_seconds("1970-01-02 00:01:40"), parse_seconds("n.d.")
    (86400, 86500, None)
    """
    if not isinstance(value, str) or (start := _parse_day(value[:10])) is None:
        return None
    clock = value[11:19]
    if len(clock) == 8 and clock[2] == ":" == clock[5] and (clock[:2] + clock[3:5] + clock[6:]).isdecimal():
        start += int(clock[:2]) * 3600 + int(clock[3:5]) * 60 + int(clock[6:])
    return start if start <= MAX_TIME else None


@lru_cache(20_000)
def _parse_day(day: str) -> int | None:
    try:
        return (date.fromisoformat(day).toordinal() - 719_163) * 86_400
    except ValueError:
        return None
