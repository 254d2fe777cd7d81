"""The start of the command line: signals are handled before anything else is imported."""

from __future__ import annotations

import os
import signal

from cube2net.apps.cli import EXIT_STATUS, INTERRUPTED


def main() -> None:
    """Run the command line; a signal that arrives while it is imported ends the process."""
    for number in EXIT_STATUS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _exit)
    from cube2net.apps.cli.app import main as run

    run(ignore_signals_afterwards=True)


def _exit(number: int, frame: object) -> None:
    try:
        os.write(2, f"{INTERRUPTED}\n".encode())
    finally:
        os._exit(EXIT_STATUS[number])


if __name__ == "__main__":
    main()
