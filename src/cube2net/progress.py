"""How long work says how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told by long work how far it is; ``total`` is None while nobody knows.

    A stage that is done with its first and only step (``done`` and ``total`` are 1) is a remark worth keeping. That
    code is being compiled is told from a thread of its own.
    """

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Take note."""


def silent(stage: str, done: int, total: int | None = None) -> None:
    """Take no note: the progress of those who do not ask for any."""


Telling = Progress | bool | None
"""What a caller may give as ``progress``: a function, True for a bar where the person is who waits, None for nobody."""


def listener(progress: Telling) -> Progress:
    """Return who is told: the function given, or nobody. True has become a function where it is looked at.

    >>> listener(None) is silent, listener(silent) is silent
    (True, True)
    """
    return silent if progress is None or isinstance(progress, bool) else progress
