"""The command line: one command for one function of the pipeline, and how a command ends."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cube2net.cli.assisting import mcp
from cube2net.cli.changing import without
from cube2net.cli.contrast_commands import contrast, describe
from cube2net.cli.cube_commands import build, info, suggest, task, update, verify
from cube2net.cli.drilling import drill
from cube2net.cli.early_signals import INTERRUPTED
from cube2net.cli.explain_command import explain
from cube2net.cli.exploring import explore
from cube2net.cli.network_commands import compare, query, replay
from cube2net.cli.options import Quiet, Seed
from cube2net.cli.signals import KEPT, Signals
from cube2net.cli.terminal import LEFT, UndeliveredError, complain, guarded_streams, line, say, shown_progress
from cube2net.errors import Cube2netError, quoted

TYPED = {
    "directed=": "--set directed=",
    "cube.query(…, skip_missing=True) leaves": "cube2net query --show-missing lists them all, --skip-missing leaves",
    "skip_known=True leaves them out, replace=True": "--skip-known leaves them out, --replace",
    "skip_known=True": "--skip-known",
    "roll_up)": "--roll-up)",
    "to=…)": "--roll-up DIMENSION=LEVEL)",
    "to='∗')": "--roll-up DIMENSION=∗)",
    "min_objects=": "--min-objects ",
    "memory=": "--memory ",
    "against=…": "--against FILE",
    "cube=": "--cube ",
    "items='all'": "--items all",
    "max_ratio=": "--set max_ratio=",
    "max_unpacked=": "--set max_unpacked=",
    "links=…": "--links …",
    "item='paper', objects='author'": "--set item=paper --set objects=author",
    "item='paper'": "--set item=paper",
    "item=…": "--set item=…",
}
"""What the library's sentences advise in brackets, and how that is typed here."""

PAIRS = re.compile(r"(?<![\w.-])(columns|sheet|separators)=\{([^{}]*)\}")
PAIR = re.compile(r"'([^']*)': '?([^',}]*)'?")
SETTING = re.compile(
    r"(?<![\w.-])(?<!--set )(delimiter|quote|encoding|decimal|dates|sheet|links|item|objects)=(…|'[^']*'|\"[^\"]*\")"
)
"""Parameters of tables, as sentences of the library give them."""
TEXT = r"('[^']*'|\"[^\"]*\")"
LEVELS = re.compile(rf"(?<![\w.-])levels={TEXT}")
ROLLED = re.compile(rf"roll_up\(cube, {TEXT}, {TEXT}\)")
"""How the library says which cells to use."""

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
    from cube2net.cli.demo import run

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
        refuse(as_typed(str(error)))
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


def as_typed(sentence: str) -> str:
    """Return a sentence of the library with its parameters as they are typed here.

    >>> as_typed("2 items are in the cube already: 'a', 'b' (skip_known=True leaves them out)")
    "2 items are in the cube already: 'a', 'b' (--skip-known leaves them out)"
    >>> as_typed("raise max_ratio if you trust it (max_ratio=1000)")
    'raise max_ratio if you trust it (--set max_ratio=1000)'
    >>> as_typed("did you mean columns={'nodes.id': 'Kunden-Nr.'}? Or delimiter=';'?")
    "did you mean --set columns=nodes.id:Kunden-Nr.? Or --set delimiter=';'?"
    >>> as_typed("such cells are there with levels='decades,venue' or roll_up(cube, 'year', 'decades')")
    "such cells are there with --levels 'decades,venue' or --roll-up 'year=decades'"
    """
    for python, typed in TYPED.items():
        sentence = sentence.replace(f"({python}", f"({typed}")
    sentence = ROLLED.sub(lambda found: f"--roll-up {found[1][:-1]}={found[2][1:-1]}{found[1][0]}", sentence)
    sentence = LEVELS.sub(lambda found: f"--levels {found[1]}", sentence)
    sentence = PAIRS.sub(_typed_pairs, sentence)
    sentence = SETTING.sub(lambda found: f"--set {found[1]}={found[2]}", sentence)
    return sentence.replace("and as_large=False leaves", "and --no-as-large leaves")


def _typed_pairs(found: re.Match[str]) -> str:
    """Return names with values as they are typed: with colons and commas, or as JSON where they hold such."""
    pairs = dict(PAIR.findall(found[2]))
    if any(mark in value for value in pairs.values() for mark in ",:[{"):
        text = json.dumps(pairs, ensure_ascii=False)
    else:
        text = ",".join(f"{name}:{value}" for name, value in pairs.items())
    typed = f"{found[1]}={text}"
    plain = typed.replace("…", "")
    return f"--set {typed if shlex.quote(plain) == plain else shlex.quote(typed)}"


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
