"""English plurals counted as their singular, where that is safe."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.topics.batches import look_up, occurrences
from cube2net.topics.stopwords import words

SHORTEST = 3
RAREST = 0.05
NOT_PLURALS = words("news series species means corpus lens texas wales james thomas paris")
NOT_SCIENCES = words("topics metrics critics comics")


def fold_plurals(vocabulary: list[str], ids: Array, stop: Array) -> Array:
    """Return the word numbers with plurals replaced by the singular that the texts use too.

    A plural is folded when its singular is a term itself and not much rarer; "linguistics" and "news"
    are no plurals.

    >>> words = ["", "parser", "parsers", "dependencies", "dependency", "linguistic", "linguistics"]
    >>> fold_plurals(words, np.array([2, 3, 6, 1, 4, 5]), np.zeros(7, dtype=bool)).tolist()
    [1, 4, 6, 1, 4, 5]
    """
    counts = occurrences(ids, len(vocabulary))
    number = {word: i for i, word in enumerate(vocabulary)}
    to = np.arange(len(vocabulary), dtype=np.int32)
    for i, word in enumerate(vocabulary):
        if stop[i] or word in NOT_PLURALS:
            continue
        for singular in singulars(word):
            at = number.get(singular)
            if at is not None and not stop[at] and counts[at] >= RAREST * counts[i]:
                to[i] = at
                break
    return look_up(to, ids)


def singulars(word: str) -> tuple[str, ...]:
    """Return what a word would be in the singular, the likeliest first; nothing for what is no plural.

    >>> singulars("parsers"), singulars("classes"), singulars("dependencies"), singulars("analysis")
    (('parser',), ('class', 'classe'), ('dependency', 'dependencie'), ())
    """
    if word in NOT_SCIENCES:
        return (word[:-1],)
    if not word.endswith("s") or word.endswith(("ss", "us", "is", "ics", "'s")) or len(word) <= SHORTEST:
        return ()
    if word.endswith("ies"):
        return (word[:-3] + "y", word[:-1])
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return (word[:-2], word[:-1])
    return (word[:-1],)
