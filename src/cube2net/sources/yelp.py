"""Yelp's challenge: businesses, the users who review them, and the reviews, in the JSON of any round."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from cube2net.errors import ParameterError, SourceError, some, unknown
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, DimensionSpec
from cube2net.sources.aminer_formats import json_records
from cube2net.sources.faults import Faults
from cube2net.sources.holdout import Task, Where, link_task
from cube2net.sources.inputs import Inputs, texts
from cube2net.sources.reviews import Reviewed, Reviews, Things, left_out
from cube2net.sources.tally import Tally
from cube2net.sources.yelp_values import (
    category_labels,
    city_labels,
    feature_labels,
    kind_of,
    number_of,
    seconds_of,
    text_of,
)
from cube2net.unpacking import RATIO, TOTAL, Limits, Meter

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
EVERY = 10_000
ROWS = 2**13


@dataclass(frozen=True, kw_only=True)
class Yelp:
    """Reads Yelp's challenge data of any round: one JSON object a line, in files, a folder or an archive.

    Objects are businesses and the users who reviewed one, ``business:…`` and ``user:…`` with Yelp's ids.
    Items are businesses with ``city``, ``state``, ``category``, ``feature`` (the attributes that hold, such
    as "good for kids"), ``stars`` and ``text``; each mentions its business and that one's users. Links are
    reviews, as heavy as a pair has reviews. Where several states have a city of one name, it is called so in
    the state with most businesses there, and "Urbana, OH" in another. The text of a business is that of its
    reviews in the order of the file, up to ``max_text`` characters, which bounds the memory. A line that
    cannot be used is counted in ``dropped``, or stops the reading when ``strict``. ``max_ratio`` and ``max_unpacked``
    limit how far packed files may swell.
    """

    max_text: int = 5_000
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        Limits(self.max_ratio, self.max_unpacked)
        if self.max_text < 0:
            raise ParameterError(f"max_text is {self.max_text!r}, expected 0 or more characters")

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the files."""
        return self.read_reviewed(paths, progress=progress).corpus

    def read_reviewed(self, paths: Sequence[Path], *, progress: Progress = silent) -> Reviewed:
        """Return the corpus of the files, and every review with its date and stars."""
        faults = Faults(self.strict, progress)
        yelp = _Yelp(Tally(faults), self.max_text)
        meter = Meter(Limits(self.max_ratio, self.max_unpacked))
        inputs = Inputs(paths, (".json",), EXPECTED, meter)
        for name, file in inputs:
            if OTHER_FILES.search(name.casefold()):
                continue
            for number, record in json_records(name, texts(name, file, yelp.tally), yelp.tally):
                yelp.take((name, number), record)
                if number % EVERY == 0:
                    progress(f"reading {name}", inputs.done, inputs.total)
            progress(f"reading {name}", inputs.done, inputs.total)
        return yelp.reviewed(faults)

    def read_task(self, paths: Sequence[Path], name: str, *, seed: int = 0, progress: Progress = silent) -> Task:
        """Return a task of the paper: ``ilkid`` (Illinois, good for kids) or ``nvout`` (Nevada, take-out)."""
        if name not in TASKS:
            raise unknown("task", name, TASKS)
        return link_task(self.read_reviewed(paths, progress=progress), TASKS[name], seed=seed)


class _Yelp:
    """What has been read so far."""

    def __init__(self, tally: Tally, max_text: int) -> None:
        self.tally, self.max_text = tally, max_text
        self.businesses: dict[str, tuple[str, str | None, str, list[str], list[str], float | None]] = {}
        self.reviews = Reviews()
        self.names: dict[int, str] = {}
        self.texts: list[list[str]] = []
        self.room: list[int] = []
        self.same: dict[str, str] = {}

    def take(self, place: tuple[str, int], record: dict[str, Any]) -> None:
        """Take one record."""
        kind = kind_of(record)
        if kind == "review":
            self.review(place, record)
        elif kind == "business":
            self.business(place, record)
        elif kind == "user":
            self.user(place, record)
        elif kind == "other":
            self.tally.leave(OTHERS)
        else:
            keys = some(list(record), 5) or "nothing"
            self.drop("objects of no known kind", place, f"holds {keys}, expected 'business_id' or 'user_id'")

    def drop(self, reason: str, place: tuple[str, int], sentence: str) -> None:
        self.tally.drop(reason, f"{place[0]} line {place[1]:,}", sentence)

    def key(self, place: tuple[str, int], record: dict[str, Any], name: str, what: str) -> str | None:
        value = record.get(name)
        if isinstance(value, str) and (key := value.strip()):
            return key
        self.drop(f"{what} without an id", place, f"{name!r} is {reprlib.repr(value)}, expected an id")
        return None

    def business(self, place: tuple[str, int], record: dict[str, Any]) -> None:
        key = self.key(place, record, "business_id", "businesses")
        if key is None:
            return
        if key in self.businesses:
            self.drop("businesses named twice", place, f"business {key!r} was there before")
            return
        self.businesses[key] = (
            text_of(record.get("name")) or key,
            text_of(record.get("city")),
            text_of(record.get("state")) or NO_STATE,
            self.shared(category_labels(record.get("categories"))),
            self.shared(feature_labels(record.get("attributes"))),
            number_of(record.get("stars")),
        )

    def shared(self, labels: list[str]) -> list[str]:
        """Return labels that are kept in memory once, however many businesses have them."""
        return [self.same.setdefault(label, label) for label in labels]

    def user(self, place: tuple[str, int], record: dict[str, Any]) -> None:
        key = self.key(place, record, "user_id", "users")
        if key is not None:
            users = self.reviews.users
            name = text_of(record.get("name")) or ""
            self.names[users.setdefault(key, len(users))] = self.same.setdefault(name, name)

    def review(self, place: tuple[str, int], record: dict[str, Any]) -> None:
        business = self.key(place, record, "business_id", "reviews")
        user = None if business is None else self.key(place, record, "user_id", "reviews")
        if business is None or user is None:
            return
        stars = number_of(record.get("stars"))
        if stars is None:
            self.drop(
                "stars that are no numbers", place, f"'stars' is {reprlib.repr(record.get('stars'))}, expected a number"
            )
        time = seconds_of(record.get("date"))
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

    def reviewed(self, faults: Faults) -> Reviewed:
        """Return all of it, and forget the texts on the way."""
        self.tally.close()
        if not self.businesses:
            raise SourceError(f"there is no business: expected {EXPECTED}{left_out(faults)}")
        silent = len(self.names) - len(set(self.names) & set(self.reviews.user))
        if silent:
            faults.counts["users who wrote no review"] = silent
        names, cities, states, categories, held, stars = zip(*self.businesses.values(), strict=True)
        items = pa.table(
            {
                "item": list(self.businesses),
                "city": city_labels(cities, states),
                "state": states,
                "category": categories,
                "feature": held,
                "stars": stars,
                "text": pa.chunked_array(self.chunks(), pa.string()),
            },
            schema=pa.schema(list(ITEMS.items())),
        )
        things = Things("business", list(self.businesses), names, items)
        return self.reviews.settle(
            things,
            faults,
            names=self.names,
            repeats=True,
            weights="count",
            dimensions=DIMENSIONS,
            attribution=ATTRIBUTION,
        )

    def chunks(self) -> Iterator[pa.Array]:
        """Return the texts of the businesses, some thousands at a time; one without a review has none."""
        rows = [self.reviews.things.get(key) for key in self.businesses]
        for start in range(0, len(rows), ROWS):
            texts = []
            for row in rows[start : start + ROWS]:
                said = [] if row is None else self.texts[row]
                texts.append("\n".join(said) or None)
                said.clear()
            yield pa.array(texts, pa.string())
