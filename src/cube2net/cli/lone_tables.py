"""What helps where one table alone is refused: it can be read as explore reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cube2net.errors import SourceError

ALONE = "one table alone needs links beside it"
"""How the refusal begins of a table that comes alone and is neither links nor records."""


@contextmanager
def advising_alone(source: str) -> Iterator[None]:
    """Add to the refusal of one table alone how its rows are read by themselves, as explore reads them."""
    try:
        yield
    except SourceError as error:
        if source != "tables" or not str(error).startswith(ALONE):
            raise
        raise SourceError(f"{error}; or read its rows alone, as explore does: --set alone=true") from None
