"""The command-line application: commands, error messages and exit status."""

from __future__ import annotations

import inspect
import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from cube2net.apps.cli.compare import compare
from cube2net.apps.cli.contrast import contrast, describe, drill
from cube2net.apps.cli.cubes import build, info, suggest, task, update, verify
from cube2net.apps.cli.early_signals import INTERRUPTED
from cube2net.apps.cli.explain import explain, without
from cube2net.apps.cli.explore import explore, mcp
from cube2net.apps.cli.options import Quiet, Seed
from cube2net.apps.cli.output import LEFT, UndeliveredError, complain, guarded_streams, line, say, shown_progress
from cube2net.apps.cli.query import query, replay
from cube2net.apps.cli.signals import KEPT, Signals
from cube2net.errors import Cube2netError, Message, Placeholder, RollUp, Setting, quoted

WRITTEN = {
    "skip_missing": "cube2net query --show-missing lists them all, --skip-missing",
    "against": "--against FILE",
}
"""How parameters are written here that are no option with the same value."""

app = typer.Typer(
    name="cube2net",
    help="Small networks around the objects you care about, chosen from a data cube.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
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
    """Build the cube of the bundled papers, make the network of 574 authors, and judge whether it helps."""
    from cube2net.apps.cli.demo import run

    with shown_progress(quiet) as progress:
        run(out, seed=seed, progress=progress)


COMMANDS = (
    *(suggest, build, info, update, verify, query, replay),
    *(explain, without, drill, contrast, describe, compare, task, explore, mcp),
)
for command in COMMANDS:
    app.command()(command)


def main(signals: Signals | None = None) -> None:
    """Run the command line: a refusal is one sentence and status 2, Ctrl-C 130, SIGTERM 143, lost output 3 or 141."""
    if signals is None:
        signals = Signals()
        signals.obey()
    signals.words = _last_words
    with guarded_streams():
        try:
            status = _status(signals)
            sys.stdout.flush()
        except UndeliveredError as error:
            status = error.status
            if status != LEFT:
                complain(f"cube2net: {error}")
        except BaseException:
            if signals.status is None:
                raise
            status = signals.status
    if signals.status is not None and status:
        signals.leave()
    raise SystemExit(status)


def _last_words() -> str:
    kept = "; the same command goes on where it stopped" if any(path.exists() for path in KEPT) else ""
    return f"{INTERRUPTED}{kept}"


def _status(signals: Signals) -> int:
    """Return the status that a command ends with, once it has said why; what follows from a signal is not said."""

    def refuse(sentence: str) -> None:
        if signals.status is None:
            complain(f"cube2net: {sentence}")

    try:
        ended = app(prog_name="cube2net", standalone_mode=False)
        return ended if isinstance(ended, int) else 0
    except Cube2netError as error:
        refuse(as_typed(error.message))
    except SystemExit as exited:
        return exited.code if isinstance(exited.code, int) else int(exited.code is not None)
    except OSError as error:
        place = f" {quoted(error.filename)}" if error.filename else ""
        refuse(f"cannot use{place}: {(error.strerror or str(error)).lower()}")
    except UnicodeEncodeError as error:
        refuse(f"{quoted(error.object)} is not UTF-8 text: give it another name")
    except MemoryError:
        refuse("the machine's memory does not suffice for this")
    except Exception as error:
        return _usage(error)
    return 2


def as_typed(message: Message) -> str:
    """Return a message of the library with its parameters as options of the command line.

    >>> as_typed(Message("2 items are known (", Setting("skip_known", True), " leaves them out)"))
    '2 items are known (--skip-known leaves them out)'
    >>> as_typed(Message(Setting("columns", {"nodes.id": "Kunden-Nr."}), " or ", Setting("delimiter", ";")))
    "--set columns=nodes.id:Kunden-Nr. or --set delimiter=';'"
    >>> as_typed(Message(Setting("levels", "decades,venue"), " or ", RollUp("year", "decades")))
    '--levels decades,venue or --roll-up year=decades'
    """
    return message.render(_as_option)


def _as_option(part: Setting | RollUp) -> str:
    if isinstance(part, RollUp):
        level = "" if part.level is None else f"={part.level}"
        return f"--roll-up {_quote(part.dimension + level, part.dimension, part.level)}"
    if part.name in WRITTEN:
        return WRITTEN[part.name]
    option = part.name.replace("_", "-")
    if any(part.name in inspect.signature(command).parameters for command in COMMANDS):
        if isinstance(part.value, bool):
            return f"--{'' if part.value else 'no-'}{option}"
        return f"--{option} {_quote(str(part.value), part.value)}"
    if isinstance(part.value, Mapping):
        return f"--set {_join_pairs(part.name, part.value)}"
    value = str(part.value).lower() if isinstance(part.value, bool) else str(part.value)
    return f"--set {part.name}={_quote(value, part.value)}"


def _quote(text: str, *values: object) -> str:
    """Return a text as a shell takes it; one of placeholders stays as it is, and no sign in it steers a terminal."""
    if any(isinstance(value, Placeholder) for value in values):
        return text
    is_plain = text.isprintable() and any(map(str.isalnum, text))
    return shlex.quote(text) if is_plain else repr(text)


def _join_pairs(name: str, pairs: Mapping[str, object]) -> str:
    """Return names with values as they are typed: with colons and commas, or as JSON where they hold such."""
    if any(mark in str(value) for value in pairs.values() for mark in ",:[{"):
        return shlex.quote(f"{name}={json.dumps(pairs, ensure_ascii=False)}")
    text = f"{name}={','.join(f'{key}:{value}' for key, value in pairs.items())}"
    return _quote(text, *pairs.values())


def _usage(error: Any) -> int:
    """Return the status of a wrong use of the command line, once it is shown; raise what is anything else.

    What was typed is in its message, so that is made one harmless line; a page of help, shown for want of a command, is
    ours.
    """
    if not (hasattr(error, "show") and hasattr(error, "exit_code")):
        raise error
    if getattr(error, "message", None) and "NoArgs" not in type(error).__name__:
        error.message = line(error.message)
    error.show()
    return int(error.exit_code)
