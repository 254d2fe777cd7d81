"""The command-line application: commands, signals, error messages and exit status."""

from __future__ import annotations

import _thread
import inspect
import json
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from cube2net._util.progress import remove_unfinished, stop_all_work
from cube2net.apps.cli import EXIT_STATUS, INTERRUPTED
from cube2net.apps.cli.build import build, suggest, task, update
from cube2net.apps.cli.compare import compare
from cube2net.apps.cli.contrast import contrast, describe, drill
from cube2net.apps.cli.explain import explain, without
from cube2net.apps.cli.explore import explore, mcp
from cube2net.apps.cli.info import info, verify
from cube2net.apps.cli.options import Quiet, Seed
from cube2net.apps.cli.output import (
    READER_LEFT_STATUS,
    RESUMABLE_PATHS,
    UndeliveredError,
    complain,
    guarded_streams,
    line,
    say,
    shown_progress,
)
from cube2net.apps.cli.query import query, replay
from cube2net.errors import Cube2netError, Message, Placeholder, RollUp, Setting, describe_os_error, quote

OPTION_TEXTS = {
    "skip_missing": "cube2net query --show-missing lists them all, --skip-missing",
    "against": "--against FILE",
}
"""Parameters whose option has another name or value."""

INTERRUPT_TIMEOUT_SECONDS = 1.0
RETRY_INTERVAL_SECONDS = 0.05
"""Time until an interrupt is sent again if no exception could be raised."""
MESSAGE_TIMEOUT_SECONDS = 0.3
"""Timeout of the final message if its reader is stuck."""
UNSAFE_PACKAGES = ("llvmlite", "numba")
"""No exception is raised while Python code of these packages is on the stack. A running kernel has no such frame."""
RESET_TERMINAL = "\r\x1b[K\x1b[?25h"
"""Clears the line of a terminal and shows its cursor, which progress hides."""

app = typer.Typer(
    name="cube2net",
    help="Extract small networks around the objects you care about, using a data cube.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(is_requested: bool) -> None:
    if is_requested:
        from cube2net import __version__

        say(f"cube2net {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the cube, the network and the pictures.")] = Path("demo-out"),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Build the cube of the bundled papers, construct the network of 574 authors, and test whether it helps."""
    from cube2net.apps.cli.demo import run

    with shown_progress(quiet) as progress:
        run(out, seed=seed, progress=progress)


COMMANDS = (
    *(suggest, build, info, update, verify, query, replay),
    *(explain, without, drill, contrast, describe, compare, task, explore, mcp),
)
for command in COMMANDS:
    app.command()(command)


class Signals:
    """Turns the first signal into a KeyboardInterrupt, and ends the process if that does not end the command.

    Compiled code is finished first, and a library may take the interrupt for an error of its own: ``patience`` seconds
    after the signal a thread ends the process, with the sentence of ``describe``. Further signals have no effect, and
    signals that are ignored stay ignored.
    """

    def __init__(
        self, describe: Callable[[], str] = lambda: INTERRUPTED, patience: float = INTERRUPT_TIMEOUT_SECONDS
    ) -> None:
        self.describe, self.patience = describe, patience
        self.number: int | None = None
        self.is_raised = False
        self._leaving = threading.Lock()
        self._main_thread = threading.get_ident()
        self._reader, self._writer = os.pipe()

    @property
    def status(self) -> int | None:
        """The exit status; None if no signal came."""
        return None if self.number is None else EXIT_STATUS[self.number]

    def start(self) -> None:
        """Handle signals from now on; to be called once per process, in the main thread."""
        sys.unraisablehook = self._hide_interrupts
        os.set_blocking(self._writer, False)
        for number in EXIT_STATUS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def stop(self) -> None:
        """Ignore signals from now on, when only the interpreter has to end."""
        for number in EXIT_STATUS:
            if signal.getsignal(number) == self._handle:
                signal.signal(number, signal.SIG_IGN)

    def exit(self) -> NoReturn:
        """Write the message and end the process, without waiting for other threads."""
        with self._leaving:
            self._exit(self.number or signal.SIGINT)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.number is None:
            self.number = number
        if not self.is_raised and _can_raise(frame):
            self.is_raised = True
            raise KeyboardInterrupt

    def _hide_interrupts(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Report nothing for an interrupt that could not be raised, such as in the callback of a library."""
        if self.number is None or not isinstance(unraisable.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)

    def _watch(self) -> None:
        """Wait for a signal, give the command time to end, then end the process."""
        number = 0
        while number not in EXIT_STATUS or signal.getsignal(number) != self._handle:
            number = os.read(self._reader, 1)[0]
        stop_all_work()
        deadline = time.monotonic() + self.patience
        while (left := deadline - time.monotonic()) > 0:
            threading.Event().wait(min(left, RETRY_INTERVAL_SECONDS))
            if not self.is_raised:
                self._send_again(number)
        with self._leaving:
            remove_unfinished()
            self._exit(number)

    def _send_again(self, number: int) -> None:
        """Send a signal to the main thread, to wake it from a system call where the system allows that."""
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(self._main_thread, number)
        else:
            _thread.interrupt_main(signal.Signals(number))

    def _exit(self, number: int) -> NoReturn:
        timer = threading.Timer(MESSAGE_TIMEOUT_SECONDS, os._exit, [EXIT_STATUS[number]])
        timer.daemon = True
        timer.start()
        text = (RESET_TERMINAL if os.isatty(2) else "") + self.describe() + "\n"
        with suppress(OSError):
            os.write(2, text.encode(errors="replace"))
        os._exit(EXIT_STATUS[number])


def _can_raise(frame: FrameType | None) -> bool:
    """Return whether an exception may be raised in a frame: not during an import, nor inside Numba or LLVM.

    An exception raised while an extension module is imported can end the process. LLVM requests compiled code by a
    callback that cannot pass an exception on: it would go on without the code, and crash.
    """
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in UNSAFE_PACKAGES:
            return False
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return False
        frame = frame.f_back
    return True


def main(*, ignore_signals_afterwards: bool = False) -> None:
    """Run the command line and exit: 2 for an error, 130 for Ctrl-C, 143 for SIGTERM, 3 or 141 for lost output."""
    signals = Signals(_describe_interrupt)
    try:
        signals.start()
        with guarded_streams():
            try:
                status = _run(signals)
                sys.stdout.flush()
            except UndeliveredError as error:
                status = error.status
                if status != READER_LEFT_STATUS:
                    complain(f"cube2net: {error}")
            except BaseException:
                if signals.status is None:
                    raise
                status = signals.status
        if signals.status is not None and status:
            signals.exit()
        raise SystemExit(status)
    except KeyboardInterrupt:
        if signals.status is None:
            raise
        signals.exit()
    finally:
        if ignore_signals_afterwards:
            signals.stop()


def _describe_interrupt() -> str:
    is_resumable = any(path.exists() for path in RESUMABLE_PATHS)
    return f"{INTERRUPTED}; the same command goes on where it stopped" if is_resumable else INTERRUPTED


def _run(signals: Signals) -> int:
    """Run the command and return its exit status; an error is reported unless it follows from a signal."""

    def refuse(sentence: str) -> None:
        if signals.status is None:
            complain(f"cube2net: {sentence}")

    try:
        status = app(prog_name="cube2net", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except Cube2netError as error:
        refuse(render_message(error.message))
    except SystemExit as exited:
        return exited.code if isinstance(exited.code, int) else int(exited.code is not None)
    except OSError as error:
        file = f" {quote(error.filename)}" if error.filename else ""
        refuse(f"cannot use{file}: {describe_os_error(error)}")
    except UnicodeEncodeError as error:
        refuse(f"{quote(error.object)} is not UTF-8 text: give it another name")
    except MemoryError:
        refuse("not enough memory")
    except Exception as error:
        return _report_usage_error(error)
    return 2


def render_message(message: Message) -> str:
    """Return a message of the library, its parameters written as command-line options.

    >>> render_message(Message("2 items are known (", Setting("skip_known", True), " leaves them out)"))
    '2 items are known (--skip-known leaves them out)'
    >>> render_message(Message(Setting("columns", {"nodes.id": "Kunden-Nr."}), " or ", Setting("delimiter", ";")))
    "--set columns=nodes.id:Kunden-Nr. or --set delimiter=';'"
    >>> render_message(Message(Setting("levels", "decades,venue"), " or ", RollUp("year", "decades")))
    '--levels decades,venue or --roll-up year=decades'
    >>> render_message(Message(Setting("separators", {"Authors": ";"})))
    "--separator 'Authors=;'"
    """
    return message.render(_as_option)


def _as_option(part: Setting | RollUp) -> str:
    if isinstance(part, RollUp):
        level = "" if part.level is None else f"={part.level}"
        return f"--roll-up {_quote(part.dimension + level, part.dimension, part.level)}"
    if part.name in OPTION_TEXTS:
        return OPTION_TEXTS[part.name]
    option = part.name.replace("_", "-")
    if any(part.name in inspect.signature(command).parameters for command in COMMANDS):
        if isinstance(part.value, bool):
            return f"--{'' if part.value else 'no-'}{option}"
        return f"--{option} {_quote(str(part.value), part.value)}"
    if part.name == "separators" and isinstance(part.value, Mapping):
        return " ".join(f"--separator {_quote(f'{name}={mark}', name, mark)}" for name, mark in part.value.items())
    if isinstance(part.value, Mapping):
        return f"--set {_join_pairs(part.name, part.value)}"
    value = str(part.value).lower() if isinstance(part.value, bool) else str(part.value)
    return f"--set {part.name}={_quote(value, part.value)}"


def _quote(text: str, *values: object) -> str:
    """Quote a text for a shell; placeholders stay as they are, and control characters are escaped."""
    if any(isinstance(value, Placeholder) for value in values):
        return text
    is_plain = text.isprintable() and any(map(str.isalnum, text))
    return shlex.quote(text) if is_plain else repr(text)


def _join_pairs(name: str, pairs: Mapping[str, object]) -> str:
    """Return pairs as ``name:value`` with commas, or as JSON if they contain such characters."""
    if any(mark in str(value) for value in pairs.values() for mark in ",:[{"):
        return shlex.quote(f"{name}={json.dumps(pairs, ensure_ascii=False)}")
    text = f"{name}={','.join(f'{key}:{value}' for key, value in pairs.items())}"
    return _quote(text, *pairs.values())


def _report_usage_error(error: Any) -> int:
    """Show an error of typer and return its exit status; raise any other error.

    The message repeats what was typed, so it is reduced to one printable line; a help page, shown without a command,
    is not.
    """
    if not (hasattr(error, "show") and hasattr(error, "exit_code")):
        raise error
    if getattr(error, "message", None) and "NoArgs" not in type(error).__name__:
        error.message = line(error.message)
    error.show()
    return int(error.exit_code)
