"""A limit on how large networks may become that somebody else set: what will be larger is refused before it is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cube2net.errors import ParameterError

SPARE = 5
"""Where nobody knows yet how many objects will be left out, so many times the limit are looked at."""
_most: ContextVar[int | None] = ContextVar("most", default=None)


@contextmanager
def nodes_at_most(most: int | None) -> Iterator[None]:
    """Refuse networks of more nodes for a while, in this thread; None refuses nothing."""
    before = _most.set(most)
    try:
        yield
    finally:
        _most.reset(before)


def check_nodes(count: int, sure: bool = True) -> None:
    """Raise where a network has more nodes than may be; where that is not ``sure`` yet, where it has many more."""
    most = _most.get()
    if most is not None and count > (most if sure else SPARE * most):
        up_to = "" if sure else "up to "
        raise ParameterError(
            f"the network has {up_to}{count:,} nodes, more than the {most:,} that are taken at once: ask for fewer "
            "with max_nodes, m or near"
        )
