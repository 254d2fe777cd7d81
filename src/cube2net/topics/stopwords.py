"""Stop words: the small words of each language, and words that every paper or review uses (data/stopwords.toml)."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

LISTS: dict[str, Any] = tomllib.loads(
    resources.files("cube2net").joinpath("data", "stopwords.toml").read_text(encoding="utf-8")
)
SMALL_WORDS: dict[str, str] = LISTS["small"]
EMPTY_WORDS, WEAK_WORDS, NAMES = LISTS["empty"], LISTS["weak"], LISTS["names"]
SCRIPTS = {
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic",
    "ARABIC": "Arabic",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "THAI": "Thai",
    "ETHIOPIC": "Ethiopic",
}
CONNECTORS = ("of", "to", "in", "of the", "in the", "by", "on the", "based", "de")


def split_words(text: str) -> frozenset[str]:
    """Return the words of a list written with blanks.

    >>> sorted(split_words("of the  of"))
    ['of', 'the']
    """
    return frozenset(text.split())
