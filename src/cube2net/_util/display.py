"""How records are displayed in a notebook.

``cube2net/__init__.py`` registers a function that loads :mod:`cube2net.apps.notebook` when a record is first displayed.
Without it, a notebook shows the text of a record.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would delay the moment from which the command line handles signals
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    from cube2net._util.progress import Progress

    class Shows(Protocol):
        """Shows records."""

        def page_of(self, record: object) -> str | None:
            """Return HTML for a record, None where it has none."""

        def plot_of(self, record: Any, title: str | None, width: int) -> Any:
            """Return a picture of a network."""

        def progress_bars(self) -> AbstractContextManager[Progress]:
            """Give a progress that a person sees, as long as the work goes on."""


_by: list[Callable[[], Shows]] = []


def show_by(load: Callable[[], Shows]) -> None:
    """Let what a function loads show all records from now on."""
    _by[:] = [load]


def shows() -> Shows | None:
    """Return who shows records, None where nobody does."""
    return _by[-1]() if _by else None


_public: list[Callable[[str], Any]] = []


def offer_by(load: Callable[[str], Any]) -> None:
    """Let a function load what is public: some of it is a method of records too, which do not know who does it."""
    _public[:] = [load]


def offered(name: str) -> Any:
    """Return what is public under a name."""
    return _public[-1](name)


class Shown:
    """A record that a notebook shows as a page, where somebody makes pages; else as its text."""

    def _repr_html_(self) -> str | None:
        found = shows()
        return None if found is None else found.page_of(self)
