"""Suggestions for misspelled names."""

from __future__ import annotations

import difflib
import heapq
import unicodedata
from collections.abc import Sequence
from typing import Any

# Up to so many names are compared one by one; more by the letters they share, FEW of them by difflib too.
HANDFUL, FEW, LOOKED_AT = 300, 2_000, 50
# A longer text is no slip of the keyboard: it is not compared with anything.
LONGEST = 120
# So many letters of names are looked at; beyond, only names that begin or end as the text does.
MOST_LETTERS = 12_000_000

OTHER_NAMES: dict[str, dict[str, str]] = {
    "method": {
        "none": "nothing, nocube, query alone, induced, induced subgraph",
        "hops": "ego, egonet, ego graph, ego network, khop, k-hop, k-hop subgraph, n-hop, neighbours, neighbors, "
        "neighbourhood, neighborhood, bfs, snowball, nocube+, nocube++",
        "pagerank": "ppr, personalised pagerank, personalized pagerank, rwr, random walk, random walk with restart, "
        "nibble, pagerank-nibble, local clustering, diffusion",
        "steiner": "steiner tree, pcst, connectors, connection subgraph, shortest paths",
        "maxdisc": "discrepancy, max discrepancy, community, community search, local community",
        "random": "cuberandom, random cells",
        "greedy": "cubegreedy, max coverage, maximum coverage, set cover, submodular",
        "anneal": "annealing, simulated annealing",
        "exact": "optimal, ilp, mip, milp, branch and bound, brute force",
        "cube2net": "ppo, rl, reinforcement learning, drl",
    }
}
"""What other fields call a thing that has another name here: what it is → its name here → theirs."""


def suggest_name(text: str, names: Sequence[str]) -> str | None:
    """Return the name that was most likely meant: the one fewest slips away, or one much like it; None without any.

    A slip is a letter too many, missing or wrong, or two that are swapped; there may be one for every three letters.

    >>> [suggest_name(text, ["anneal", "greedy"]) for text in ("rgeedy", "Anneal", "best")]
    ['greedy', 'anneal', None]
    """
    return next(iter(suggest_names(text, names, 1)), None)


def translate_name(what: str, text: str) -> str | None:
    """Return the name that something has here which other fields call otherwise; None where that is not known.

    >>> [translate_name("method", text) for text in ("PPR", "k_hop", "gredy")]
    ['pagerank', 'hops', None]
    """
    typed = _letters_alone(text)
    for name, others in OTHER_NAMES.get(what, {}).items():
        if typed in map(_letters_alone, others.split(", ")):
            return name
    return None


def _letters_alone(text: str) -> str:
    return "".join(sign for sign in text[:LONGEST].casefold() if sign not in " -_")


def suggest_names(text: str, names: Sequence[str], most: int = 3) -> list[str]:
    """Return the names most likely meant, the likeliest first: none where none is like the text.

    >>> suggest_names("Gent", ["Ghent", "Genk", "Turin", "gent"])
    ['gent', 'Ghent', 'Genk']
    """
    if len(text) > LONGEST:
        return []
    typed = text.casefold()
    names = candidates(typed, names)
    counted = {
        name: slips
        for name in names
        if abs(len(name) - len(text)) <= (allowed := max(len(name), len(text)) // 3)
        and (slips := count_edits(typed, name.casefold())) <= allowed
    }
    if counted:
        ranked = sorted(counted, key=lambda name: (counted[name], name != text, -_likeness(typed, name), name))
        return ranked[:most]
    return difflib.get_close_matches(text, [name for name in names if len(name) <= LONGEST], n=most)


def list_normal_forms(text: str) -> list[str]:
    """Return a text with its accents written otherwise: letter and accent as one sign, and as two, where that differs.

    >>> [len(form) for form in list_normal_forms("Jos\u00e9")], [len(form) for form in list_normal_forms("Jose\u0301")]
    ([5], [4])
    >>> list_normal_forms("Jose")
    []
    """
    if text.isascii():
        return []
    return [form for form in (unicodedata.normalize(kind, text) for kind in ("NFC", "NFD")) if form != text]


def reorder_name(text: str) -> list[str]:
    """Return a name as it is spoken, of one that sheets have: ``Last, First``, or two cells with a tab between.

    >>> reorder_name("Fuchs, Sabine"), reorder_name("Fuchs\\tSabine"), reorder_name("Sabine Fuchs")
    (['Sabine Fuchs'], ['Sabine Fuchs', 'Fuchs Sabine'], [])
    """
    for mark in ("\t", ","):
        parts = [" ".join(part.split()) for part in text.split(mark)]
        if len(parts) == 2 and all(parts):
            first, last = parts
            return [f"{last} {first}", *[f"{first} {last}"] * (mark == "\t")]
    return []


def list_variants(text: str) -> list[str]:
    """Return how else a name may be written: with other accents, or turned around.

    >>> list_variants("Fuchs, Sabine"), list_variants("Fuchs")
    (['Sabine Fuchs'], [])
    """
    turned = reorder_name(text)
    return [*list_normal_forms(text), *(form for name in turned for form in (name, *list_normal_forms(name)))]


def candidates(text: str, names: Sequence[str]) -> Sequence[str]:
    """Return all of a handful of names, and of more the few that can be most like a text."""
    if len(names) <= HANDFUL:
        return names
    return _worth_a_look(text.casefold(), names) if 1 < len(text) <= LONGEST else []


def _likeness(typed: str, name: str) -> float:
    return difflib.SequenceMatcher(None, typed, name.casefold()).ratio()


def count_edits(one: str, other: str) -> int:
    """Return the fewest slips that turn one text into another (their optimal string alignment).

    Among short names difflib alone would take the wrong one: it finds ``belp`` as much like ``dblp`` as like ``yelp``,
    and ``nene`` not like ``none`` at all.

    >>> count_edits("nakeal", "anneal"), count_edits("linx", "line")
    (2, 1)
    """
    before, last = list[int](), list(range(len(other) + 1))
    for i, letter in enumerate(one):
        row = [i + 1]
        for j, wanted in enumerate(other):
            fewest = min(last[j + 1] + 1, row[j] + 1, last[j] + (letter != wanted))
            if i and j and letter == other[j - 1] and one[i - 1] == wanted:
                fewest = min(fewest, before[j - 1] + 1)
            row.append(fewest)
        before, last = last, row
    return last[-1]


def _worth_a_look(typed: str, names: Sequence[str]) -> list[str]:
    """Return the few names that can be nearest: those that share most letters, and of these the likest by difflib.

    Two texts are at least as many slips apart as the longer has letters that the other lacks. So nothing near is lost,
    unless more than FEW names share as many letters.
    """
    import numpy as np

    letters, first, lengths = _letters(names)
    shortest, longest = len(typed) - len(typed) // 3, len(typed) * 3 // 2
    fitting = np.flatnonzero((shortest <= lengths) & (lengths <= longest))
    if len(fitting) * longest > MOST_LETTERS:
        begin = [letters[first[fitting] + at] == ord(typed[at]) for at in (0, 1)]
        end = [letters[first[fitting] + lengths[fitting] + at] == ord(typed[at]) for at in (-2, -1)]
        fitting = fitting[begin[0] & begin[1] | end[0] & end[1]][: MOST_LETTERS // longest]
    if not len(fitting):
        return []
    first, lengths = first[fitting], lengths[fitting]
    coarse = _columns(letters.astype(np.uint8), first, lengths)
    shared = np.zeros(len(fitting), dtype=np.int64)
    for letter in sorted(set(typed)):
        there = np.add.reduce(coarse == ord(letter) % 256, axis=0, dtype=np.uint8)
        shared += np.minimum(there, typed.count(letter))
    kept = np.argsort(np.maximum(lengths, len(typed)) - shared, kind="stable")[:FEW]
    few = [names[at] for at in fitting[kept].tolist()]
    return heapq.nlargest(LOOKED_AT, few, key=lambda name: _likeness(typed, name))


def _letters(names: Sequence[str]) -> tuple[Any, Any, Any]:
    """Return the letters of all names as numbers, in small letters, and where each name begins and how long it is."""
    import numpy as np

    for between in "\n\x1f\x00\ue000":
        text = between.join(names).casefold()
        if text.count(between) == len(names) - 1:
            break
    else:
        between, text = "\n", "\n".join(name.replace("\n", " ") for name in names).casefold()
    letters = np.frombuffer(f"{text}{between}".encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.flatnonzero(letters == ord(between))
    first = np.append(0, ends[:-1] + 1)
    return letters, first, ends - first


def _columns(letters: Any, first: Any, lengths: Any) -> Any:
    """Return the letters of some names, a column a name, 0 below its end."""
    import numpy as np

    columns = np.empty((int(lengths.max()), len(first)), dtype=letters.dtype)
    for at in range(len(columns)):
        columns[at] = np.take(letters, first + at, mode="clip")
        columns[at] *= at < lengths
    return columns
