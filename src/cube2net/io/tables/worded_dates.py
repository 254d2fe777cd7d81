"""Dates with names of months, and months, quarters, weeks and seasons, as people write them."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
)
"""Names of months in English, German, French, Spanish and Italian, without accents."""
MIN_LETTERS = 3
"""Letters of an abbreviated month."""
WEEKDAYS = ("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun")
FILLERS = frozenset((*WEEKDAYS, "de", "del", "of", "the", "den", "le", "st", "nd", "rd", "th", "er"))
FIRST_YEAR, LAST_YEAR = 1000, 2999
CLOCK = re.compile(r"[T ,]+[0-9]{1,2}[:.h][0-9]{2}.*$")
WORDED = re.compile(r"[^\W_]+(?:[\s.,/'’-]+[^\W_]+)*\.?")
WEEK = re.compile(r"([0-9]{4})-?W([0-9]{2})(?:-?([1-7]))?")
QUARTER = re.compile(r"(?:(?P<y>[0-9]{4})[ /-]?)?Q(?P<q>[1-4])(?:[ /-]?(?P<z>[0-9]{4}))?")
YEAR_AND_MONTH = re.compile(r"(?P<y>[0-9]{4})(?:[-/.](?P<m>[0-9]{1,2}))?|(?P<n>[0-9]{1,2})[-/.](?P<z>[0-9]{4})")
SEASON = re.compile(r"([0-9]{4}) ?[/–-] ?([0-9]{2}|[0-9]{4})")


def _number_months() -> dict[str, int]:
    """Return the numbers of months by name and by abbreviation; one of two months, such as "jui", is left out."""
    numbers: dict[str, set[int]] = {"mrz": {3}}
    for names in MONTHS:
        for number, name in enumerate(names.split(), start=1):
            for end in range(MIN_LETTERS, len(name) + 1):
                numbers.setdefault(name[:end], set()).add(number)
    return {name: next(iter(found)) for name, found in numbers.items() if len(found) == 1}


MONTH_NUMBERS = _number_months()


def parse_season(text: str) -> int | None:
    """Return the first year of a season of two years, None where a text names none.

    >>> parse_season("2012/13"), parse_season("1999-2000"), parse_season("2012/10")
    (2012, 1999, None)
    """
    found = SEASON.fullmatch(text)
    if found is None or (int(found[1]) + 1) % 10 ** len(found[2]) != int(found[2]):
        return None
    return int(found[1])


def parse_date(text: str) -> date | None:
    """Return the first day of the day, week, month, quarter or year that a text names, None where it names none.

    >>> [str(parse_date(text)) for text in ("26-Oct-12", "Okt. 2012", "1er août 1999", "March 3rd, 2001")]
    ['2012-10-26', '2012-10-01', '1999-08-01', '2001-03-03']
    >>> [str(parse_date(text)) for text in ("2012-W43", "Q3 2012", "2012-10", "10/2012", "2012", "May 12")]
    ['2012-10-22', '2012-07-01', '2012-10-01', '2012-10-01', '2012-01-01', 'None']
    """
    try:
        if week := WEEK.fullmatch(text):
            return date.fromisocalendar(int(week[1]), int(week[2]), int(week[3] or 1))
        if (quarter := QUARTER.fullmatch(text)) and (quarter["y"] is None) != (quarter["z"] is None):
            return _date(int(quarter["y"] or quarter["z"]), 3 * int(quarter["q"]) - 2)
        if month := YEAR_AND_MONTH.fullmatch(text):
            return _date(int(month["y"] or month["z"]), int(month["m"] or month["n"] or 1))
        return _parse_words(text)
    except ValueError:
        return None


def _date(year: int, month: int, day: int = 1) -> date | None:
    return date(year, month, day) if FIRST_YEAR <= year <= LAST_YEAR else None


def _parse_words(text: str) -> date | None:
    """Return the date of a text with the name of a month, a year, and a day or none; "May 12" lacks a year."""
    text = CLOCK.sub("", text.strip())
    if not WORDED.fullmatch(text):
        return None
    letters = "".join(
        sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign)
    )
    tokens = [token for token in re.findall(r"[a-z]+|[0-9]+", letters) if token not in FILLERS]
    months = [MONTH_NUMBERS[token] for token in tokens if token in MONTH_NUMBERS]
    numbers = [token for token in tokens if token.isdecimal()]
    if len(months) != 1 or len(numbers) != len(tokens) - 1 or len(numbers) not in (1, 2):
        return None
    years = [token for token in numbers if len(token) == 4]
    is_short = len(numbers) == 2 or re.search(r"[-'’][0-9]{2}$", letters) is not None
    if len(years) != 1 and not (not years and is_short and len(numbers[-1]) == 2):
        return None
    year = int(years[0]) if years else int(numbers[-1]) + (2000 if int(numbers[-1]) < 70 else 1900)
    others = numbers.copy()
    others.remove(years[0] if years else numbers[-1])
    return _date(year, months[0], int(others[0]) if others else 1)
