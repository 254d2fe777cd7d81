"""Handle Ctrl-C and other signals within two seconds."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from cube2net._util.progress import ask_everybody, remove_unfinished
from cube2net.apps.cli.early_signals import INTERRUPTED, STATUS

PATIENCE = 1.0
"""So many seconds the work has to come to an end by itself."""

KEPT: list[Path] = []
"""What an interrupted command goes on from, where it is there."""

AGAIN = 0.05
"""After so many seconds an interrupt that came where nothing may be raised is tried again."""

_UNSAFE_PACKAGES = ("llvmlite", "numba")
"""No exception is raised while Python code of these packages is on the stack. A running kernel has no such frame."""

LAST = 0.3
"""So many seconds the last words may take, where nobody reads them."""

CURSOR = "\r\x1b[K\x1b[?25h"
"""Clears the line of a terminal and shows its cursor, which progress hides."""


class Signals:
    """Makes the first signal a KeyboardInterrupt, and ends the process where that does not: compiled code, which is
    finished first, or somebody who takes it for an error of his own.

    ``words`` gives the sentence to leave with. Further signals change nothing. Signals that are ignored stay so.
    """

    def __init__(self, words: Callable[[], str] = lambda: INTERRUPTED, patience: float = PATIENCE) -> None:
        self.words, self.patience = words, patience
        self.number: int | None = None
        self.raised = False
        self._leaving = threading.Lock()
        self._main_thread = threading.get_ident()
        self._reader, self._writer = os.pipe()

    @property
    def status(self) -> int | None:
        """What to end with, or None where no signal came."""
        return None if self.number is None else STATUS[self.number]

    def obey(self) -> None:
        """Obey signals from now on; for the main thread, once in a process."""
        sys.unraisablehook = self._pass_over
        os.set_blocking(self._writer, False)
        for number in STATUS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._first)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def over(self) -> None:
        """Pass over signals from now on: all is done, and only Python itself has to come to its end."""
        for number in STATUS:
            if signal.getsignal(number) == self._first:
                signal.signal(number, signal.SIG_IGN)

    def leave(self) -> NoReturn:
        """Say the last words and end the process, without waiting for threads that are still at work."""
        with self._leaving:
            self._end(self.number or signal.SIGINT)

    def _first(self, number: int, frame: FrameType | None) -> None:
        if self.number is None:
            self.number = number
        if not self.raised and _can_raise(frame):
            self.raised = True
            raise KeyboardInterrupt

    def _pass_over(self, what: sys.UnraisableHookArgs) -> None:
        """Say nothing of an interrupt that came where nobody could take it, such as in what a library calls back."""
        if self.number is None or not isinstance(what.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(what)

    def _watch(self) -> None:
        """Wait for a signal, then a while for the work to end, and end it."""
        number = 0
        while number not in STATUS or signal.getsignal(number) != self._first:
            number = os.read(self._reader, 1)[0]
        ask_everybody()
        until = time.monotonic() + self.patience
        while (left := until - time.monotonic()) > 0:
            threading.Event().wait(min(left, AGAIN))
            if not self.raised:
                self._send_again(number)
        with self._leaving:
            remove_unfinished()
            self._end(number)

    def _send_again(self, number: int) -> None:
        """Send a signal to the main thread; where the system can do that, it wakes from a system call."""
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(self._main_thread, number)
        else:
            _thread.interrupt_main(signal.Signals(number))

    def _end(self, number: int) -> NoReturn:
        last = threading.Timer(LAST, os._exit, [STATUS[number]])
        last.daemon = True
        last.start()
        text = (CURSOR if os.isatty(2) else "") + self.words() + "\n"
        with suppress(OSError):
            os.write(2, text.encode(errors="replace"))
        os._exit(STATUS[number])


def _can_raise(frame: FrameType | None) -> bool:
    """Return whether an exception may be raised in a frame: not while a module is imported, nor inside Numba or LLVM.

    An exception raised while an extension module is imported can end the process. LLVM asks for compiled code by a
    callback that cannot pass an exception on: it would go on without the code, and crash.
    """
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _UNSAFE_PACKAGES:
            return False
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return False
        frame = frame.f_back
    return True
