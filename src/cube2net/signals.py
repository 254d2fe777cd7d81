"""Ctrl-C and its like are obeyed within two seconds, whatever is at work."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from cube2net.leaving import ask_everybody, remove_unfinished

_USUAL = {"SIGHUP": 129, "SIGINT": 130, "SIGTERM": 143}

PATIENCE = 1.0
"""So many seconds the work has to come to an end by itself."""

LAST = 0.3
"""So many seconds the last words may take, where nobody reads them."""

STATUS = {getattr(signal, name): status for name, status in _USUAL.items() if hasattr(signal, name)}
"""What a process ends with, by the signal that ended it."""

CURSOR = "\r\x1b[K\x1b[?25h"
"""Clears the line of a terminal and shows its cursor, which progress hides."""


class Signals:
    """Makes the first signal a KeyboardInterrupt, and ends the process where that does not: compiled code, which is
    finished first, or somebody who takes it for an error of his own.

    ``words`` gives the sentence to leave with. Further signals change nothing. Signals that are ignored stay so.
    """

    def __init__(self, words: Callable[[], str], patience: float = PATIENCE) -> None:
        self.words, self.patience = words, patience
        self.number: int | None = None
        self._leaving = threading.Lock()
        self._reader, self._writer = os.pipe()

    @property
    def status(self) -> int | None:
        """What to end with, or None where no signal came."""
        return None if self.number is None else STATUS[self.number]

    def obey(self) -> None:
        """Obey signals from now on; for the main thread, once in a process."""
        os.set_blocking(self._writer, False)
        for number in STATUS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._first)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def leave(self) -> NoReturn:
        """Say the last words and end the process, without waiting for threads that are still at work."""
        with self._leaving:
            self._end(self.number or signal.SIGINT)

    def _first(self, number: int, frame: FrameType | None) -> None:
        if self.number is None:
            self.number = number
            raise KeyboardInterrupt

    def _watch(self) -> None:
        """Wait for a signal, then a while for the work to end, and end it."""
        number = 0
        while number not in STATUS or signal.getsignal(number) != self._first:
            number = os.read(self._reader, 1)[0]
        ask_everybody()
        threading.Event().wait(self.patience)
        with self._leaving:
            remove_unfinished()
            self._end(number)

    def _end(self, number: int) -> NoReturn:
        last = threading.Timer(LAST, os._exit, [STATUS[number]])
        last.daemon = True
        last.start()
        text = (CURSOR if os.isatty(2) else "") + self.words() + "\n"
        with suppress(OSError):
            os.write(2, text.encode(errors="replace"))
        os._exit(STATUS[number])
