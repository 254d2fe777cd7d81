"""Short tracebacks of user errors in notebooks.

IPython asks an exception for that (``_render_traceback_``). The second time, which is ``%tb``, and in the modes of
``%xmode`` that tell more, the whole traceback is shown. Elsewhere tracebacks are Python's own.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

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


def rendered(error: BaseException) -> list[str]:
    """Return the lines of a traceback as IPython shows them, where it runs, and else as Python does."""
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
    kept = None
    for one in reversed(list(_frames(every))):
        kept = TracebackType(kept, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return kept


def _frames(every: TracebackType | None) -> Iterator[TracebackType]:
    while every is not None:
        package = str(every.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if package == OURS:
            return
        if package not in SHELLS:
            yield every
        every = every.tb_next
