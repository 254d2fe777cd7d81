"""Counts of a part of the run, and a folder per failure to repeat it."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SAVED = 3
"""So many failures of one kind are kept as files; all are counted."""


@dataclass
class Outcome:
    """The counts of a part: ``done`` of ``wanted`` units, failures by kind, and other measurements."""

    part: str
    unit: str
    wanted: int
    seconds: float
    out: Path
    seed: int = 0
    done: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    notes: dict[str, Any] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    took: float = 0.0

    def begin(self) -> None:
        """Restart the clock, after preparation."""
        self.started = time.monotonic()

    @property
    def left(self) -> float:
        """The remaining seconds of this part."""
        return self.started + self.seconds - time.monotonic()

    def numbers(self) -> Iterator[int]:
        """Yield increasing numbers until enough is done or the time is over."""
        number = self.seed
        while number < self.seed + self.wanted and (self.left > 0 or number == self.seed):
            yield number
            number += 1

    def each(self, once: Callable[[int], None], *, threads: int = 2) -> None:
        """Run a function for each number, some in parallel, and count."""
        queue, lock = self.numbers(), threading.Lock()

        def work() -> None:
            while True:
                with lock:
                    number = next(queue, None)
                if number is None:
                    return
                once(number)
                with lock:
                    self.done += 1

        started = [threading.Thread(target=work) for _ in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()

    def fail(self, kind: str, told: str, *, repeat: str = "", files: Path | None = None) -> None:
        """Record a failure: its kind, details, and the files it came from."""
        self.failures[kind] += 1
        count = self.failures[kind]
        if count > SAVED:
            return
        number = list(self.failures).index(kind) + 1
        folder = self.out / "failures" / f"{self.part}-{number}-{count}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if files is not None and files.is_dir():
            shutil.copytree(files, folder / "files", symlinks=True, ignore_dangling_symlinks=True)
        about = {"part": self.part, "kind": kind, "repeat": repeat, "told": told}
        (folder / "about.json").write_text(json.dumps(about, indent=1), encoding="utf-8")

    def end(self) -> Outcome:
        """Stop the clock and return this outcome."""
        self.took = time.monotonic() - self.started
        return self

    @property
    def passed(self) -> bool:
        """Whether something was done and nothing failed."""
        return self.done > 0 and not self.failures

    def plain(self) -> dict[str, Any]:
        """Return the outcome as values for JSON."""
        return {
            "part": self.part,
            "passed": self.passed,
            "unit": self.unit,
            "done": self.done,
            "wanted": self.wanted,
            "failed": sum(self.failures.values()),
            "seconds": round(self.took, 1),
            "failures": dict(self.failures),
            "counts": dict(self.counts),
            "notes": self.notes,
        }
