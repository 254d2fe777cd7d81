"""The start of the command line: signals are obeyed before anything is loaded that takes long."""

from __future__ import annotations

from cube2net.cli.signals import Signals


def main() -> None:
    """Run the command line."""
    signals = Signals()
    signals.obey()
    try:
        from cube2net.cli.app import main as run

        run(signals)
    except SystemExit:
        signals.over()
        raise
    except KeyboardInterrupt:
        if signals.status is None:
            raise
        signals.leave()


if __name__ == "__main__":
    main()
