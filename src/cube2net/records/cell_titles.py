"""How a cell is written in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cube2net.errors import plain

BETWEEN = " · "
"""What stands between the labels of a cell wherever it is written in one line."""


def cell_line(labels: Iterable[str]) -> str:
    """Return the labels of a cell in one line.

    >>> cell_line(("2010s", "ACL"))
    '2010s · ACL'
    """
    return BETWEEN.join(labels)


def cell_title(labels: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """Return the labels of a cell between angles, each as a function shows it.

    >>> cell_title(("2010s", "ACL")), cell_title(("a\\nb", "ACL"), plain)
    ('⟨2010s · ACL⟩', "⟨'a\\\\nb' · ACL⟩")
    """
    return f"⟨{cell_line(map(shown, labels))}⟩"


def said_title(labels: Iterable[str]) -> str:
    """Return the title of a cell as a sentence has it, on one harmless line."""
    return cell_title(labels, plain)
