"""Names that are told apart: a number stands behind one that is taken."""

from __future__ import annotations

from collections.abc import Iterable


def distinct_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names, with a number behind those that are taken or stand there already.

    >>> distinct_names(["a", "b", "a"]), distinct_names(["a", "a", "b"], taken=["b"])
    (['a', 'b', 'a (2)'], ['a', 'a (2)', 'b (2)'])
    """
    free: list[str] = []
    used = set(taken)
    for name in names:
        own, number = name, 1
        while own in used:
            number += 1
            own = f"{name} ({number})"
        used.add(own)
        free.append(own)
    return free
