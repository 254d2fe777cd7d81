"""What clusters are called, and in what order they stand."""

from __future__ import annotations

from collections.abc import Sequence

from cube2net.records.distinct_names import distinct_names


def cluster_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Return clusters by name: numbers as such, those below 0 as none, and no two alike.

    >>> cluster_names(["1", "-1", "noise", "cluster 1"])
    ('cluster 1 (2)', '', 'noise', 'cluster 1')
    """
    numbers = [label for label in dict.fromkeys(labels) if label.lstrip("-").isdecimal()]
    names = {label: "" for label in numbers if label.startswith("-")}
    left = [label for label in numbers if label not in names]
    names |= zip(left, distinct_names([f"cluster {label}" for label in left], taken=labels), strict=True)
    return tuple(names.get(label, label) for label in labels)


def by_number(name: str) -> tuple[str, int, str]:
    """Return what sorts names with a number at their end by that number.

    >>> sorted(["cluster 10", "noise", "cluster 9"], key=by_number)
    ['cluster 9', 'cluster 10', 'noise']
    """
    head, _, tail = name.rpartition(" ")
    return (head, int(tail), "") if tail.isdecimal() and len(tail) < 19 else (name, -1, "")
