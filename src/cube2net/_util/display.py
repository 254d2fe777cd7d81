"""How records and errors are displayed in a notebook.

``cube2net/__init__.py`` registers a function that loads :mod:`cube2net.apps.notebook` when a record is first displayed.
Without it, a notebook shows the text of a record.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing typing would delay the moment from which the command line handles signals
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any, Protocol

    from cube2net._util.progress import Progress

    class Shows(Protocol):
        """Shows records."""

        def make_html(self, record: object) -> str | None:
            """Return HTML for a record, None where it has none."""

        def draw_picture(self, record: Any, title: str | None, width: int) -> Any:
            """Return a picture of a network."""

        def progress_bars(self) -> AbstractContextManager[Progress]:
            """Give a progress that a person sees, as long as the work goes on."""


_by: list[Callable[[], Shows]] = []


def register_display(load: Callable[[], Shows]) -> None:
    """Let what a function loads show all records from now on."""
    _by[:] = [load]


def get_display() -> Shows | None:
    """Return who shows records, None where nobody does."""
    return _by[-1]() if _by else None


def load_function(module: str, name: str) -> Any:
    """Return a function of a package that is above the record of which it is a method."""
    from importlib import import_module

    return getattr(import_module(f"cube2net.{module}"), name)


class Shown:
    """A record that a notebook shows as a page, where somebody makes pages; else as its text."""

    def _repr_html_(self) -> str | None:
        found = get_display()
        return None if found is None else found.make_html(self)


SHELLS = ("IPython", "ipykernel")
"""Whose frames are passed over."""
OURS = "cube2net"
"""Whose frames end what is shown."""
TOLD = "_told_briefly"
"""What says of an error that it was shown."""
LONG = ("Verbose", "Docs")
"""Modes of ``%xmode`` in which all is shown."""
CONTEXT = 2
"""So many lines of a cell are shown at most."""


def format_error(error: BaseException) -> list[str]:
    """Return the lines of a traceback as IPython shows them, where it runs, and else as Python does.

    IPython asks an error for that (``_render_traceback_``). The second time, which is ``%tb``, and in the modes of
    ``%xmode`` that tell more, the whole traceback is shown.
    """
    import traceback

    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return traceback.format_exception(error)
    formats: Any = shell.InteractiveTB
    if getattr(error, TOLD, False) or formats.mode in LONG:
        return list(formats.structured_traceback(type(error), error, error.__traceback__, 1))
    setattr(error, TOLD, True)
    bare = type(error).__new__(type(error), *error.args)  # without what it came from, and where
    bare.__dict__.update(error.__dict__)
    return list(formats.structured_traceback(type(error), bare, _of_the_user(error.__traceback__), 0, CONTEXT))


def _of_the_user(every: TracebackType | None) -> TracebackType | None:
    """Return a traceback of the user's own frames: up to where our package was called."""
    frames = []
    while every is not None:
        package = str(every.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if package == OURS:
            break
        if package not in SHELLS:
            frames.append(every)
        every = every.tb_next
    kept = None
    for one in reversed(frames):
        kept = type(one)(kept, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return kept
