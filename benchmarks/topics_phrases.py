"""Compare mined phrases with phrases that authors abbreviate.

A text with "conditional random field (CRF)" marks a phrase that is complete and meaningful. No model here uses
brackets, so these phrases are an independent reference. Measured are the share of marked phrases that are found, the
share of the most frequent found phrases that any author marks (a lower bound), and the share of found phrases that are
fragments of marked ones. The baseline is the same number of frequent n-grams that neither start nor end with a stop
word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow.compute as pc

from cube2net.topics.phrases import Phrases
from cube2net.topics.preprocessing import BREAK, SMALL_WORDS, list_singulars, tokenise

SHORT = re.compile(r"((?:[A-Za-z][a-z]*[ -]){2,5})\(([A-Z][A-Za-z]{1,5})\)")
LONGEST, FEWEST, MARKED = 5, 10, 5
STOP_WORDS = set(SMALL_WORDS["English"].split())
TOP = (500, 2_000, 5_000)

Words = tuple[str, ...]


def phrases(texts: Iterable[str | None]) -> None:
    """Print the results for our phrases and for frequent n-grams."""
    texts = list(texts)
    gold = marked(texts)
    runs = frequent(texts)
    table = Phrases().count(texts)
    sums = table.filter(pc.match_substring(table["term"], " ")).group_by("term").aggregate([("count", "sum")])
    ours = Counter({normal(term.split()): int(n) for term, n in zip(*map(_listed, sums.columns), strict=True)})
    often = {words for words, papers in gold.items() if papers >= MARKED and runs[words] >= FEWEST}
    print(f"{len(gold):,} phrases are marked by an author, {len(often):,} of them by {MARKED} or more")
    print(
        f"{'':<28} {'found':>8} {'of marked':>10} "
        + " ".join(f"{'top ' + f'{k:,}':>10}" for k in TOP)
        + f" {'pieces':>8}"
    )
    usable = Counter({words: n for words, n in runs.items() if not {words[0], words[-1]} & STOP_WORDS})
    for name, found in (
        ("our phrases", ours),
        ("frequent runs of words", Counter(dict(usable.most_common(len(ours))))),
    ):
        line(name, found, gold, often)


def line(name: str, found: Counter[Words], gold: Counter[Words], often: set[Words]) -> None:
    """Print how many marked phrases are found, how many found ones are marked, and how many are fragments."""
    ranked = [words for words, _ in found.most_common()]
    pieces = {part for words in often for part in parts(words)} - gold.keys()
    there = np.mean([words in found for words in often])
    tops = " ".join(f"{np.mean([words in gold for words in ranked[:k]]):10.1%}" for k in TOP)
    broken = np.mean([words in pieces for words in ranked])
    print(f"{name:<28} {len(found):8,} {there:10.1%} {tops} {broken:8.1%}", flush=True)


def marked(texts: Iterable[str | None]) -> Counter[Words]:
    """Return the phrases before their own initials in brackets, with the number of texts.

    >>> marked(["We use Conditional Random Fields (CRFs) and a long story (NLP)."])
    Counter({('conditional', 'random', 'field'): 1})
    """
    found: Counter[Words] = Counter()
    for text in texts:
        seen = set()
        for before, short in SHORT.findall(text or ""):
            letters = short.removesuffix("s").lower()
            words = re.split("[ -]", before.strip(" -").lower())[-len(letters) :]
            if 2 <= len(letters) == len(words) and all(
                word.startswith(x) for word, x in zip(words, letters, strict=True)
            ):
                seen.add(normal(words))
        found.update(seen)
    return found


def normal(words: Iterable[str]) -> Words:
    """Return words roughly in the singular, the same for all methods."""
    return tuple(min((word, *list_singulars(word)), key=len) for word in words)


def parts(words: Words) -> Iterator[Words]:
    """Yield the proper runs of at least two words in a phrase."""
    for size in range(2, len(words)):
        yield from (words[i : i + size] for i in range(len(words) - size + 1))


def frequent(texts: list[str | None]) -> Counter[Words]:
    """Return all runs of two to five words that occur at least ten times."""
    tokens = tokenise(texts)
    names = [normal([word])[0] for word in tokens.words]
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    ids = np.array([number[name] for name in names])[tokens.ids]
    ids[tokens.ids == BREAK] = -1
    of = list(number)
    found: Counter[Words] = Counter()
    code, runs = ids.copy(), {i: (name,) for i, name in enumerate(of)}
    ends = np.zeros(len(ids), dtype=bool)
    ends[tokens.starts[1:-1] - 1] = True
    inside = np.ones(len(ids), dtype=bool)
    for size in range(2, LONGEST + 1):
        inside[: len(ids) - size + 1] &= ~ends[size - 2 : len(ids) - 1]
        last = np.concatenate([ids[size - 1 :], np.full(size - 1, -1)])
        usable = np.flatnonzero((code >= 0) & (last >= 0) & inside)
        keys, place, counts = np.unique(
            code[usable].astype(np.int64) * len(of) + last[usable], return_inverse=True, return_counts=True
        )
        keep = counts >= FEWEST
        new = np.where(keep, np.cumsum(keep) - 1, -1)
        grown = [(*runs[int(key // len(of))], of[int(key % len(of))]) for key in keys[keep]]
        found.update(dict(zip(grown, counts[keep].tolist(), strict=True)))
        code = np.full(len(ids), -1)
        code[usable] = new[place]
        runs = dict(enumerate(grown))
    return found


def _listed(column: object) -> list[object]:
    return column.to_pylist()  # type: ignore[attr-defined, no-any-return]
