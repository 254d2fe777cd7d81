"""Signals that arrive while the command line is being imported end the process."""

from __future__ import annotations

import os
import signal

STATUS = {
    getattr(signal, name): status
    for name, status in (("SIGHUP", 129), ("SIGINT", 130), ("SIGTERM", 143))
    if hasattr(signal, name)
}
"""The exit status by the signal that ended the process."""

INTERRUPTED = "cube2net: interrupted, nothing was left half-written"
"""The sentence on standard error of a command that a signal ended."""


def end_on_signals() -> None:
    """End the process at the first signal from now on; signals that are ignored stay ignored."""
    for number in STATUS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, frame: object) -> None:
    try:
        os.write(2, f"{INTERRUPTED}\n".encode())
    finally:
        os._exit(STATUS[number])
