"""The command line."""

import signal

EXIT_STATUS = {
    getattr(signal, name): status
    for name, status in (("SIGHUP", 129), ("SIGINT", 130), ("SIGTERM", 143))
    if hasattr(signal, name)
}
"""The exit status by the signal that ended the process."""

INTERRUPTED = "cube2net: interrupted, nothing was left half-written"
"""The message of a command that a signal ended."""
