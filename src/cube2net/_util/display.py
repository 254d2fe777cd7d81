"""The display of records and errors in notebooks.

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

    class Display(Protocol):
        """Displays records."""

        def make_html(self, record: object) -> str | None:
            """Return HTML for a record, or None if it has none."""

        def draw_picture(self, record: Any, title: str | None, width: int) -> Any:
            """Return a picture of a network."""

        def progress_bars(self) -> AbstractContextManager[Progress]:
            """Return a context manager of a progress that draws bars."""


_displays: list[Callable[[], Display]] = []


def register_display(load: Callable[[], Display]) -> None:
    """Set the function that loads the display of records."""
    _displays[:] = [load]


def get_display() -> Display | None:
    """Return the display of records, or None if none is registered."""
    return _displays[-1]() if _displays else None


def load_function(module: str, name: str) -> Any:
    """Return a function of a package that is above the record of which it is a method."""
    from importlib import import_module

    return getattr(import_module(f"cube2net.{module}"), name)


class Shown:
    """A record that a notebook shows as HTML if a display is registered, else as its text."""

    def _repr_html_(self) -> str | None:
        display = get_display()
        return None if display is None else display.make_html(self)

    if not TYPE_CHECKING:  # a type checker would take every attribute for one that is there

        def __getattr__(self, name: str) -> Any:
            """Raise the error for an attribute that is not there, with the name that it has here."""
            from cube2net._util.spelling import translate_name

            hint = ""
            if not name.startswith("_"):
                names = [*dir(type(self)), *getattr(self, "__dataclass_fields__", ())]
                if here := translate_name("attribute", name, names):
                    hint = f" (did you mean {here!r}?)"
                elif here := translate_name(type(self).__name__.lower(), name):
                    hint = f" (did you mean {here}?)"
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)


IPYTHON_PACKAGES = ("IPython", "ipykernel")
WAS_SHORTENED = "_traceback_was_shortened"
VERBOSE_MODES = ("Verbose", "Docs")
"""Modes of ``%xmode`` in which the whole traceback is shown."""
CONTEXT_LINES = 2


def format_error(error: BaseException) -> list[str]:
    """Return the lines of a traceback: the user's own frames in IPython, and as Python formats it elsewhere.

    IPython calls this through ``_render_traceback_``. The second time, which is ``%tb``, and in verbose modes of
    ``%xmode``, the whole traceback is returned.
    """
    import traceback

    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return traceback.format_exception(error)
    formatter: Any = shell.InteractiveTB
    if getattr(error, WAS_SHORTENED, False) or formatter.mode in VERBOSE_MODES:
        return list(formatter.structured_traceback(type(error), error, error.__traceback__, 1))
    setattr(error, WAS_SHORTENED, True)
    bare = type(error).__new__(type(error), *error.args)  # without its cause and context
    bare.__dict__.update(error.__dict__)
    frames = _keep_user_frames(error.__traceback__)
    return list(formatter.structured_traceback(type(error), bare, frames, 0, CONTEXT_LINES))


def _keep_user_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback of the user's own frames: up to where cube2net was called, without those of IPython."""
    frames = []
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if package == "cube2net":
            break
        if package not in IPYTHON_PACKAGES:
            frames.append(trace)
        trace = trace.tb_next
    kept = None
    for frame in reversed(frames):
        kept = type(frame)(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept
