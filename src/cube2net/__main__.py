"""The start of the command line: signals are handled before anything else is imported."""

from __future__ import annotations

from cube2net.apps.cli.early_signals import end_on_signals


def main() -> None:
    """Run the command line."""
    end_on_signals()
    from cube2net.apps.cli.signals import Signals

    signals = Signals()
    try:
        try:
            signals.obey()
            from cube2net.apps.cli.app import main as run

            run(signals)
        finally:
            signals.over()
    except KeyboardInterrupt:
        if signals.status is None:
            raise
        signals.leave()


if __name__ == "__main__":
    main()
