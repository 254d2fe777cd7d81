"""Commands that ask about a network take the options by which ``query`` makes one."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cube2net.cli.network_commands import query as query_command
from cube2net.errors import ParameterError

if TYPE_CHECKING:
    from cube2net.progress import Progress
    from cube2net.records import Network

OF_QUERY_ALONE = {"out", "draw", "text", "max_tokens", "spreadsheet_safe", "show_missing", "prices"}
"""The options of ``query`` that do not make the network, but say what becomes of it."""
VIEW = ("where", "roll_up", "between", "kind")
SHORTCUTS = ("seconds", "preset", "device")
MaybeQuery = Annotated[
    Path | None, typer.Option("--query", metavar="FILE", help="Names, one a line, or a CSV with object[,label].")
]
NetworkFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Instead of --query and its options: a network that query wrote.")
]


def asks_as_query(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options by which ``query`` makes a network behind its own; it is handed these."""
    hints = typing.get_type_hints(query_command, include_extras=True)
    own = inspect.signature(command).parameters
    others = {
        name: parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(query_command).parameters.items()
        if name not in own and name not in OF_QUERY_ALONE
    }
    named = typing.get_type_hints(command, include_extras=True)
    mine = [each.replace(annotation=named[each.name]) for each in own.values() if each.kind is not each.VAR_KEYWORD]
    every = sorted([*mine, *others.values()], key=lambda each: each.default is not each.empty)

    @wraps(command)
    def call(**given: Any) -> None:
        command(**given)

    call.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in every} | {"return": None}
    return call


def network_of(
    cube: Path, query: Path | None, file: Path | None, options: Mapping[str, Any], progress: Progress
) -> Network:
    """Return the network that ``query`` would make with the options that a command was handed, or the one of a file."""
    from cube2net import pipeline
    from cube2net.cli import answering

    if query is not None and file is not None:
        raise ParameterError("--query and --network both say which network is meant: leave one of them out")
    if query is None and file is None:
        raise ParameterError("say which network is meant: give --query FILE, or --network FILE that query wrote")
    if file is not None:
        _check_nothing_given(options)
        return pipeline.read_asked(file, pipeline.open_cube(cube), progress=progress)
    assert query is not None
    rest = dict(options)
    opened = answering.view(pipeline.open_cube(cube), *(rest.pop(name) for name in VIEW))
    shortcuts = {name: rest.pop(name) for name in SHORTCUTS}
    return answering.answer(
        opened,
        query,
        settings=rest.pop("set_") or [],
        shortcuts=shortcuts,
        progress=progress,
        **rest,
    )


def _check_nothing_given(options: Mapping[str, Any]) -> None:
    """Raise where options that make a network were given beside a network that is made already."""
    parameters = inspect.signature(query_command).parameters
    for name, value in options.items():
        if value != parameters[name].default:
            raise ParameterError(
                f"{_typed(parameters[name])} says how to make a network, and --network has one: leave one of them out"
            )


def _typed(parameter: inspect.Parameter) -> str:
    """Return an option of ``query`` as it is typed."""
    *_, option = typing.get_args(typing.get_type_hints(query_command, include_extras=True)[parameter.name])
    given = [name for name in (option.default, *(option.param_decls or ())) if str(name).startswith("-")]
    return given[0] if given else f"--{parameter.name.replace('_', '-')}"
