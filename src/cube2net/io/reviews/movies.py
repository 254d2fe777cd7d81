"""Films and the users who rate them: MovieTweetings or MovieLens, and texts about the films where there are some."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import reprlib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from cube2net._util.arrays import LIGHTEST
from cube2net._util.progress import Progress, silent
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits
from cube2net.errors import ParameterError, SourceError, quote_few, unknown_name
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
from cube2net.io.tables.column_types import format_value
from cube2net.io.text_records import number_lines, read_whole
from cube2net.model.dimension import DimensionSpec

EXPECTED = "ratings.dat and movies.dat (or .csv), a folder with them or its archive, and films' texts as movies-….json"
TWEETINGS = (
    "MovieTweetings (https://github.com/sidooms/MovieTweetings), by S. Dooms, T. De Pessemier and L. Martens, MIT"
)
LENS = "MovieLens (https://grouplens.org/datasets/movielens/), by F. M. Harper and J. A. Konstan, under its own terms"
WIKIPEDIA = (
    "; texts from Wikipedia (CC BY-SA) by wikipedia-movie-data (https://github.com/prust/wikipedia-movie-data, MIT)"
)
DIMENSIONS = (
    DimensionSpec("decade", "year", bins="decades"),
    DimensionSpec("genre", "genre"),
    DimensionSpec("topic", "topic"),
)
TASKS: dict[str, Where] = {
    "scifi00": {"genre": "Sci-Fi", "year": (2000, 2009)},
    "drama10": {"genre": "Drama", "year": (2010, 2019)},
}
ITEMS = {
    "item": pa.string(),
    "title": pa.string(),
    "year": pa.int32(),
    "genre": pa.list_(pa.string()),
    "text": pa.string(),
}
WEIGHTS = ("rating", "one")
ROLES = {".dat": ("ratings", "movies"), ".csv": ("ratings", "movies"), ".json": ("movies", "wikipedia")}
COLUMNS = {"ratings": ("userid", "movieid", "rating", "timestamp"), "movies": ("movieid", "title", "genres")}
YEAR = re.compile(r"^(.*?)\s*\(([12][0-9]{3})[^()]{0,6}\)$", re.DOTALL)
NO_GENRES = "(no genres listed)"
LINES_PER_REPORT = 50_000
MAX_TEXT_BYTES = 64 * 2**20
"""The most bytes of a list of films' texts."""
ARTICLE = re.compile(r"^(.*), (the|an?|les?|la|l'|der|die|das|il|el|los|las|den?|det)$", re.IGNORECASE | re.DOTALL)
ASIDE = re.compile(r"\(([^()]*)\)")
A_FILM = re.compile(r"\s*\([^()]*\b(?:film|serial)\)$")
ALSO = re.compile(r"^a\.?k\.?a\.?\s+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Movies(ReviewSource):
    """Reads ratings of films, and texts about the films: files, folders or archives, all in one list of paths.

    Ratings are those of MovieTweetings (``ratings.dat`` and ``movies.dat``, fields separated by ``::``) or of
    MovieLens (the same, or ``ratings.csv`` and ``movies.csv``). Texts are JSON lists of films, ``movies-….json``,
    with ``title``, ``year`` and ``extract``; a film has the text with its title and year, or a year at most
    ``years_apart`` away. Objects are films and users, ``film:…`` and ``user:…``. Items are films with ``title``,
    ``year``, ``genre`` and ``text``; each mentions its film and the users. The weight of a link is the rating, or 1
    with ``weights="one"``. Unusable lines are counted in ``dropped`` and the first few are shown; ``strict`` makes
    them errors. ``max_ratio`` and ``max_unpacked`` limit the size of unpacked files.
    """

    tasks = TASKS
    weights: str = "rating"
    years_apart: int = 0
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        if self.weights not in WEIGHTS:
            raise unknown_name("weights", self.weights, WEIGHTS)
        if not 0 <= self.years_apart <= 5:
            raise ParameterError(f"years_apart is {self.years_apart!r}, expected 0 to 5 years")

    def read_reviews(self, paths: Sequence[Path], *, progress: Progress = silent) -> ReviewCorpus:
        """Return the corpus of the files, and every rating with its time."""
        films = _FilmReader(Dropped(self.strict, progress), FilmTexts(self.years_apart))
        endings, meter = tuple(ROLES), Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        files = InputFiles(find_data_files(paths, endings, EXPECTED), endings, meter, once=True)
        for name, file in files:

            def report(name: str = name) -> None:
                progress(f"reading {name}", files.done, files.total)

            films.read(name, file, report)
        return films.build_corpus("count" if self.weights == "one" else "stars")


class _FilmReader:
    """Reads files of films and ratings."""

    def __init__(self, dropped: Dropped, texts: FilmTexts) -> None:
        self.dropped, self.texts = dropped, texts
        self.films: dict[str, tuple[str, str, int | None, list[str]]] = {}
        self.reviews = Reviews()
        self.latin = 0
        self.parts: dict[str, str] = {}

    def read(self, name: str, file: io.BufferedReader, report: Callable[[], None]) -> None:
        """Take one file, if its name says that it is of use."""
        base = name.casefold().removesuffix(".gz")
        ending = Path(base).suffix
        role = next((role for role in ROLES.get(ending, ()) if role in base), None)
        if role is None:
            return
        if ending == ".json":
            self.texts.read(name, file, self.dropped)
        else:
            if role in self.parts:
                raise SourceError(f"{name!r} and {self.parts[role]!r} both hold {role}: name the paths of one")
            self.parts[role] = name
            add = self.add_rating if role == "ratings" else self.add_film
            for number, fields in self.read_rows(name, file, ending, role):
                add((name, number), fields)
                if number % LINES_PER_REPORT == 0:
                    report()
        report()

    def read_rows(self, name: str, file: io.BufferedReader, ending: str, role: str) -> Iterator[tuple[int, list[str]]]:
        """Return the fields of every line, in the order of the role's columns."""
        wanted: list[int] | None = None
        least = len(COLUMNS[role])
        for number, line in number_lines(file):
            fields = [] if line is None else self.split_fields(line, ending)
            if ending == ".csv" and wanted is None:
                wanted = _match_header(name, fields, COLUMNS[role])
                least = max(wanted) + 1
                continue
            if len(fields) < least:
                self.drop(
                    "lines with too few fields", (name, number), f"has {len(fields)}, expected {_describe_form(role)}"
                )
            else:
                yield number, fields if wanted is None else [fields[at] for at in wanted]

    def split_fields(self, line: bytes, ending: str) -> list[str]:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode("latin-1")
            self.latin += 1
        if ending == ".dat":
            return text.split("::")
        try:
            return next(csv.reader([text]), []) if '"' in text else text.split(",")
        except csv.Error:
            return []

    def drop(self, reason: str, place: tuple[str, int], sentence: str) -> None:
        self.dropped.drop_one(reason, f"{place[0]} line {place[1]:,}", sentence)

    def add_film(self, place: tuple[str, int], fields: list[str]) -> None:
        key, called, genres = fields[0].strip(), "::".join(fields[1:-1]).strip(), fields[-1]
        if not key or not called:
            self.drop(
                "films without an id or title",
                place,
                f"holds {reprlib.repr(fields)}, expected {_describe_form('movies')}",
            )
        elif key in self.films:
            self.drop("films named twice", place, f"film {key!r} was there before")
        else:
            dated = YEAR.match(called)
            title, year = (dated[1] or called, int(dated[2])) if dated else (called, None)
            kinds = [] if genres.strip() == NO_GENRES else [kind.strip() for kind in genres.split("|")]
            self.films[key] = called, title, year, list(dict.fromkeys(filter(None, kinds)))

    def add_rating(self, place: tuple[str, int], fields: list[str]) -> None:
        user, film = fields[0].strip(), fields[1].strip()
        try:
            stars = float(fields[2])
        except ValueError:
            stars = math.nan
        if not user or not film:
            self.drop("ratings without a user or film", place, f"holds {reprlib.repr(fields)}")
        elif not (stars == 0 or LIGHTEST <= stars <= 1e6):
            why = f"the rating is {reprlib.repr(fields[2])}, expected a number of 0 or more"
            self.drop("ratings that are no numbers", place, why)
        else:
            self.reviews.add(place, film, user, self.parse_time(place, fields[3]), stars)

    def parse_time(self, place: tuple[str, int], text: str) -> int | None:
        try:
            time = int(text)
        except ValueError:
            time = -1
        if 0 <= time <= MAX_TIME:
            return time
        self.drop("times that cannot be read", place, f"the time is {reprlib.repr(text)}, expected seconds since 1970")
        return None

    def build_corpus(self, weights: str) -> ReviewCorpus:
        """Return the corpus of all that was read."""
        self.dropped.close()
        for role in COLUMNS:
            if role not in self.parts:
                raise SourceError(f"there is no file of {role}: expected {EXPECTED}")
        if not self.films:
            lines = f"lines such as {_describe_form('movies')}"
            raise SourceError(
                f"{self.parts['movies']} holds no film, expected {lines}{describe_left_out(self.dropped)}"
            )
        if self.latin:
            self.dropped.say(f"{self.latin:,} lines are not UTF-8 and are read as Latin-1")
        called, titles, years, genres = zip(*self.films.values(), strict=True)
        texts = [self.texts.find(title, year) for title, year in zip(titles, years, strict=True)]
        with_text = len(texts) - texts.count(None)
        if len(self.texts):
            self.dropped.say(f"{with_text:,} of {len(texts):,} films have a text")
        columns = {"item": list(self.films), "title": titles, "year": years, "genre": genres, "text": texts}
        imdb = all(len(key) >= 7 for key in self.films)
        return self.reviews.build_corpus(
            Things("film", list(self.films), called, pa.table(columns, schema=pa.schema(list(ITEMS.items())))),
            self.dropped,
            names={},
            keep_all=False,
            weights=weights,
            dimensions=DIMENSIONS if with_text else DIMENSIONS[:2],
            attribution=(TWEETINGS if imdb else LENS) + (WIKIPEDIA if with_text else ""),
        )


def _match_header(name: str, fields: list[str], columns: Sequence[str]) -> list[int]:
    """Return where the columns stand; the header must name them all."""
    names = [re.sub("[^a-z]", "", field.casefold()) for field in fields]
    for column in columns:
        if column not in names:
            shown = quote_few(fields, 6)
            raise SourceError(f"{name} line 1 has no column {column!r}: it has {shown}, expected {', '.join(columns)}")
    return [names.index(column) for column in columns]


def _describe_form(role: str) -> str:
    return "::".join(COLUMNS[role])


class FilmTexts:
    """What Wikipedia says of films, to be found by title and year, or by a year at most ``years_apart`` from it.

    >>> texts = FilmTexts(years_apart=1)
    >>> texts.add("The Matrix", 1999, "A hacker learns the truth.")
    >>> texts.find("Matrix, The", 1999), texts.find("MATRIX", 2000), texts.find("The Matrix", 1998)
    ('A hacker learns the truth.', None, 'A hacker learns the truth.')
    """

    def __init__(self, years_apart: int = 0) -> None:
        self.texts: dict[tuple[str, int], str] = {}
        self.years = sorted(range(-years_apart, years_apart + 1), key=abs)

    def __len__(self) -> int:
        return len(self.texts)

    def add(self, title: str, year: int, text: str) -> None:
        """Take the text of a film; of two films with one title and year the first is kept."""
        self.texts.setdefault((normalize_title(A_FILM.sub("", title)), year), text)

    def find(self, title: str, year: int | None) -> str | None:
        """Return the text of a film, or None if it has none."""
        if year is None:
            return None
        keys = list(dict.fromkeys(key for name in list_spellings(title) if (key := normalize_title(name))))
        found = (self.texts.get((key, year + apart)) for apart in self.years for key in keys)
        return next((text for text in found if text is not None), None)

    def read(self, name: str, file: io.BufferedReader, dropped: Dropped) -> None:
        """Take the films of one JSON file: a list of objects with ``title``, ``year`` and ``extract``."""
        whole = read_whole(file, MAX_TEXT_BYTES)
        if whole is None:
            raise SourceError(
                f"{name} has more than {MAX_TEXT_BYTES:,} bytes, expected a list of films of at most so many"
            )
        try:
            films = json.loads(whole)
        except (ValueError, RecursionError) as error:
            why = "nested too deep" if isinstance(error, RecursionError) else str(error)
            raise SourceError(f"{name} is not JSON ({why}), expected a list of films") from None
        if not isinstance(films, list):
            raise SourceError(f"{name} holds no list, expected one of films such as {{'title': …, 'year': 1999}}")
        for number, film in enumerate(films, start=1):
            title, year, text = (
                (film.get(key) for key in ("title", "year", "extract")) if isinstance(film, dict) else [None] * 3
            )
            if not isinstance(title, str) or type(year) is not int:
                dropped.drop_one(
                    "film texts without a title or year", f"{name} film {number:,}", "lacks 'title' or 'year'"
                )
            elif isinstance(text, str) and (text := text.strip()):
                self.add(title, year, format_value(text))
            else:
                dropped.leave_out("films of the text table without a text")


def normalize_title(title: str) -> str:
    """Return the letters and digits of a title, without case and accents.

    >>> normalize_title("Léon & Co.: The Professionals!")
    'leonandcotheprofessionals'
    """
    plain = unicodedata.normalize("NFKD", title.casefold()).replace("&", "and")
    return "".join(letter for letter in plain if letter.isalnum())


def list_spellings(title: str) -> Iterator[str]:
    """Return the ways a title may be written elsewhere, the nearest first.

    >>> list(list_spellings("Seven (a.k.a. Se7en)")), list(list_spellings("Matrix, The"))
    (['Seven (a.k.a. Se7en)', 'Seven', 'Se7en'], ['Matrix, The', 'The Matrix'])
    """
    asides = ASIDE.findall(title[:500])
    outside = ASIDE.sub("", title).strip() if asides else title
    for name in dict.fromkeys((title, outside, *(ALSO.sub("", aside.strip()) for aside in asides))):
        if name:
            yield name
        if moved := ARTICLE.match(name):
            yield f"{moved[2]} {moved[1]}"
