"""Words joined into phrases, wherever they stand together much more often than chance has it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cube2net.array_types import Array
from cube2net.progress import Progress, silent
from cube2net.topics.batches import SLICE, look_up, occurrences
from cube2net.topics.stopwords import CONNECTORS

CONNECTED = 0.15
"""How much more than neighbours two words must attract each other to be joined over a small word."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """When two neighbours are joined: how often, how strongly drawn, and into how many words at most."""

    min_count: int
    min_npmi: float
    longest: int


@dataclass
class Units:
    """Words and the phrases made of them, by number: name, length in words (0: none), weakness, and parts."""

    names: list[str]
    length: Array
    weak: Array
    parts: list[tuple[int, ...]] = field(default_factory=list)

    def join(self, joined: list[tuple[int, ...]]) -> Array:
        """Return the numbers of phrases given by their parts; what is new is added."""
        number = {name: i for i, name in enumerate(self.names)}
        new = np.empty(len(joined), dtype=np.int32)
        lengths = self.length.tolist()
        for k, parts in enumerate(joined):
            name = " ".join(self.names[i] for i in parts)
            if name not in number:
                number[name] = len(self.names)
                self.names.append(name)
                self.parts.append(parts)
                lengths.append(sum(max(1, lengths[i]) for i in parts))
            new[k] = number[name]
        self.length = np.array(lengths, dtype=np.int32)
        self.weak = np.concatenate([self.weak, np.zeros(len(lengths) - len(self.weak), dtype=bool)])
        return new


def merge_phrases(
    ids: Array,
    texts: Array,
    vocabulary: list[str],
    stop: Array,
    weak: Array,
    rules: Rules,
    *,
    progress: Progress = silent,
) -> tuple[Array, Array, list[str]]:
    """Return the texts with phrases in the place of their words, their text numbers, and the longer vocabulary.

    Rounds of counting and joining: of overlapping pairs the one with the highest score is joined, and the
    next round may join what the last one made. Two weak words are not joined. A phrase that is left with
    fewer than ``min_count`` places is taken apart.
    """
    units = Units(list(vocabulary), np.where(stop, 0, 1).astype(np.int32), weak, [()] * len(vocabulary))
    number = {word: i for i, word in enumerate(vocabulary)}
    between = [tuple(number.get(word, -1) for word in connector.split()) for connector in CONNECTORS]
    between = [(), *(link for link in between if -1 not in link)]
    rounds = max(0, rules.longest - 1)
    for step in range(rounds):
        progress("phrases", step, rounds)
        places, links, which, joined = _joins(ids, texts, units, between, rules)
        if not len(places):
            break
        new = units.join(joined)
        gaps = np.array([len(link) for link in between])[links]
        keep = np.ones(len(ids), dtype=bool)
        for gap in range(int(gaps.max()) + 1):
            keep[places[gaps >= gap] + gap + 1] = False
        ids = ids.copy()
        ids[places] = new[which]
        ids, texts = ids[keep], texts[keep]
    ids, texts = _take_apart(ids.copy(), texts, units, len(vocabulary), rules.min_count)
    progress("phrases", rounds, rounds)
    return ids, texts, units.names


def _joins(
    ids: Array, texts: Array, units: Units, between: list[tuple[int, ...]], rules: Rules
) -> tuple[Array, Array, Array, list[tuple[int, ...]]]:
    """Return where to join, over which connector, which phrase is made there, and the parts of each phrase."""
    counts = occurrences(ids, len(units.names))
    total = max(1, int(counts[units.length > 0].sum()))
    usable = (units.length > 0) & (counts >= rules.min_count)
    found = []
    joined: list[tuple[int, ...]] = []
    for link, words in enumerate(between):
        places = _places(ids, texts, units, usable, words, rules.longest)
        here = ids[places].astype(np.int64)
        here *= len(counts)
        here += ids[places + len(words) + 1]
        keys, pairs = np.unique(here, return_counts=True)
        often = pairs >= rules.min_count
        keys, pairs = keys[often], pairs[often]
        first, second = np.divmod(keys, len(counts))
        score = _npmi(pairs, counts[first], counts[second], total)
        good = score >= rules.min_npmi + (CONNECTED if words else 0.0)
        at, rank = _found(here, keys[good])
        found.append((places[at], np.full(len(at), link, np.int8), score[good][rank], rank + len(joined)))
        joined += [(a, *words, b) for a, b in zip(first[good].tolist(), second[good].tolist(), strict=True)]
    places, links, scores, which = (np.concatenate([part[k] for part in found]) for k in range(4))
    order = np.lexsort((-scores, places))
    places, links, scores, which = places[order], links[order], scores[order], which[order]
    gaps = np.array([len(words) for words in between])[links]
    win = _peaks(places, places + gaps + 1, scores)
    return places[win], links[win], which[win], joined


def _found(values: Array, wanted: Array) -> tuple[Array, Array]:
    """Return where some of the wanted values (ascending) stand, and which of them stands there.

    >>> _found(np.array([7, 1, 3, 7]), np.array([3, 7]))
    (array([0, 2, 3]), array([1, 0, 1], dtype=int32))
    """
    at, which = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for first in range(0, len(values) if len(wanted) else 0, SLICE):
        part = values[first : first + SLICE]
        rank = np.minimum(np.searchsorted(wanted, part), len(wanted) - 1)
        here = np.flatnonzero(wanted[rank] == part)
        at.append(first + here)
        which.append(rank[here].astype(np.int32))
    return np.concatenate(at), np.concatenate(which)


def _places(ids: Array, texts: Array, units: Units, usable: Array, words: tuple[int, ...], longest: int) -> Array:
    """Return where two usable units stand side by side, or with the given small words between them."""
    gap = len(words)
    last = len(ids) - gap - 1
    if last <= 0:
        return np.empty(0, dtype=np.int64)
    if words:
        places = np.flatnonzero(ids[1 : last + 1] == words[0])
        for shift, word in enumerate(words[1:], start=2):
            places = places[ids[places + shift] == word]
        left, right = ids[places], ids[places + gap + 1]
    else:
        here = look_up(usable, ids)
        places = np.flatnonzero(here[:-1] & here[1:])
        left, right = ids[places], ids[places + 1]
    ok = usable[left] & usable[right] & (left != right) & (texts[places] == texts[places + gap + 1])
    ok &= ~(units.weak[left] & units.weak[right])
    ok &= units.length[left] + units.length[right] + gap <= longest
    return np.asarray(places[ok])


def _npmi(pairs: Array, left: Array, right: Array, total: int) -> Array:
    """Return the normalised pointwise mutual information: 1 for words never seen apart, 0 for chance.

    >>> _npmi(np.array([5, 1]), np.array([5, 10]), np.array([5, 10]), 100).round(2).tolist()
    [1.0, 0.0]
    """
    share = pairs / total
    attraction = np.log(pairs * (total / (left.astype(np.float64) * right)))
    return attraction / np.maximum(-np.log(share), 1e-9)


def _peaks(starts: Array, ends: Array, scores: Array) -> Array:
    """Return which joins score higher than every join they overlap with; of equals the leftmost wins.

    >>> _peaks(np.array([0, 1, 2, 5]), np.array([1, 2, 3, 6]), np.array([0.5, 0.6, 0.6, 0.1])).tolist()
    [False, True, False, True]
    """
    win = np.ones(len(starts), dtype=bool)
    for shift in range(1, len(starts)):
        overlap = ends[:-shift] >= starts[shift:]
        if not overlap.any():
            break
        win[shift:] &= ~overlap | (scores[shift:] > scores[:-shift])
        win[:-shift] &= ~overlap | (scores[:-shift] >= scores[shift:])
    return win


def _take_apart(ids: Array, texts: Array, units: Units, words: int, min_count: int) -> tuple[Array, Array]:
    """Return the texts with every phrase that is left too rare replaced by its parts."""
    while True:
        counts = occurrences(ids, len(units.names))
        rare = (counts > 0) & (counts < min_count)
        rare[:words] = False
        if not rare.any():
            return ids, texts
        places = np.flatnonzero(look_up(rare, ids))
        parts = [units.parts[unit] for unit in ids[places].tolist()]
        after = np.repeat(places, [len(part) - 1 for part in parts])
        ids[places] = [part[0] for part in parts]
        ids = np.insert(ids, after + 1, [unit for part in parts for unit in part[1:]])
        texts = np.insert(texts, after + 1, texts[after])
