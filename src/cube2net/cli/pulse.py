"""A sign of life: whoever waits is told at least every two seconds what is at work and for how long."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from cube2net.compiling import WAITING, WORD, announce_to

if TYPE_CHECKING:
    from cube2net.progress import Progress

EVERY = 1.6
"""So many seconds there may be silence; with the time a busy machine takes, two."""

SOON = 1.5
"""After so many seconds a stage that moves is said again."""

FIRST = 1.0
"""So many seconds of a process pass before the first word."""

LOOK = 0.2


class Pulse:
    """Progress that repeats itself: after a silence it says again what is done, or that code is being compiled.

    On a ``terminal``, where bars move by themselves, it only says when compiling begins and ends.
    """

    def __init__(self, progress: Progress, *, terminal: bool = False) -> None:
        self.progress, self.terminal = progress, terminal
        self.stage: tuple[str, int, int | None] = ("working", 0, None)
        self.compiling = self.explained = False
        self.since = time.monotonic()
        self.said = self.since - EVERY + max(LOOK, FIRST - time.process_time())
        self._over, self._lock = threading.Event(), threading.RLock()

    def __enter__(self) -> Pulse:
        self._told = announce_to(None)
        self._told.__enter__()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *end: object) -> None:
        self._over.set()
        self._thread.join(LOOK)
        with self._lock:  # nothing is said any more
            self._told.__exit__(None, None, None)

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Pass on what is said, and remember it."""
        if stage.startswith(WORD):
            return
        with self._lock:
            now = time.monotonic()
            new = stage.partition(":")[0] != self.stage[0].partition(":")[0]
            self.stage = stage, done, total
            if new:
                self.since = now
            if new or now - self.said >= SOON:
                self.said = now
            self.progress(stage, done, total)

    def note(self, text: str) -> None:
        """Pass a note on."""
        with self._lock:
            self.said = time.monotonic()
            self.progress.note(text)

    def look(self) -> None:
        """Say something if it is time to."""
        with self._lock:
            now, name = time.monotonic(), WAITING.doing
            turned, self.compiling = self.compiling != (name is not None), name is not None
            words: tuple[str, int, int | None] = self.stage
            if name is not None:
                words = f"{WORD if self.explained else WAITING.sentence}: {name}", WAITING.made, None
            if self.terminal:
                if turned:
                    self.progress(*words)
            elif now - self.said >= EVERY:
                stage, done, total = words
                self.said, self.explained = now, self.explained or name is not None
                seconds = f"{now - self.since:.0f}"
                between = ", " if ":" in stage else ": "
                self.progress(stage if seconds == "0" else f"{stage}{between}{seconds} s", done, total)

    def _beat(self) -> None:
        while not self._over.wait(LOOK):
            if not self._over.is_set():
                self.look()
