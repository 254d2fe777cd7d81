"""What Wikipedia says of films, found by title and year."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Iterator

from cube2net.errors import SourceError
from cube2net.sources.tally import Tally
from cube2net.sources.values import text_of

LIMIT = 64 * 2**20
ARTICLE = re.compile(r"^(.*), (the|an?|les?|la|l'|der|die|das|il|el|los|las|den?|det)$", re.IGNORECASE | re.DOTALL)
ASIDE = re.compile(r"\(([^()]*)\)")
A_FILM = re.compile(r"\s*\([^()]*\b(?:film|serial)\)$")
ALSO = re.compile(r"^a\.?k\.?a\.?\s+", re.IGNORECASE)


class FilmTexts:
    """The texts of films, to be found by title and year, or by a year at most ``years_apart`` from it.

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
        self.texts.setdefault((title_key(A_FILM.sub("", title)), year), text)

    def find(self, title: str, year: int | None) -> str | None:
        """Return the text of a film, or None if it has none."""
        if year is None:
            return None
        keys = list(dict.fromkeys(key for name in spellings(title) if (key := title_key(name))))
        found = (self.texts.get((key, year + apart)) for apart in self.years for key in keys)
        return next((text for text in found if text is not None), None)

    def read(self, name: str, file: io.BufferedReader, tally: Tally) -> None:
        """Take the films of one JSON file: a list of objects with ``title``, ``year`` and ``extract``."""
        whole = file.read(LIMIT + 1)
        if len(whole) > LIMIT:
            raise SourceError(f"{name} has more than {LIMIT:,} bytes, expected a list of films of at most so many")
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
                tally.drop("film texts without a title or year", f"{name} film {number:,}", "lacks 'title' or 'year'")
            elif isinstance(text, str) and (text := text.strip()):
                self.add(title, year, text_of(text))
            else:
                tally.leave("films of the text table without a text")


def title_key(title: str) -> str:
    """Return the letters and digits of a title, without case and accents.

    >>> title_key("Léon & Co.: The Professionals!")
    'leonandcotheprofessionals'
    """
    plain = unicodedata.normalize("NFKD", title.casefold()).replace("&", "and")
    return "".join(letter for letter in plain if letter.isalnum())


def spellings(title: str) -> Iterator[str]:
    """Return the ways a title may be written elsewhere, the nearest first.

    >>> list(spellings("Seven (a.k.a. Se7en)")), list(spellings("Matrix, The"))
    (['Seven (a.k.a. Se7en)', 'Seven', 'Se7en'], ['Matrix, The', 'The Matrix'])
    """
    asides = ASIDE.findall(title[:500])
    outside = ASIDE.sub("", title).strip() if asides else title
    for name in dict.fromkeys((title, outside, *(ALSO.sub("", aside.strip()) for aside in asides))):
        if name:
            yield name
        if moved := ARTICLE.match(name):
            yield f"{moved[2]} {moved[1]}"
