"""Options that several commands share, completion of their values, and parameters read from text.

This module imports nothing that takes long to load.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from cube2net.apps.cli.output import complain
from cube2net.errors import ParameterError, unknown_name
from cube2net.options import DEFAULTS, OPTIONS, OptionKind

Complete = Callable[[str], list[str]]
PLAIN_NAME = re.compile(r"(\w[\w-]*)(?=[=@/]|$)")


def complete_names(*names: str) -> Complete:
    """Return a completion that offers the names with the typed prefix.

    >>> complete_names("greedy", "anneal")("gr")
    ['greedy']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def complete_list(*names: str) -> Complete:
    """Return a completion of names with commas, which offers each name once.

    >>> complete_list("hybrid", "cells", "cells+objects")("cells,")
    ['cells,hybrid', 'cells,cells+objects']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, prefix = incomplete.rpartition(",")
        used = before.split(",")
        return [before + comma + name for name in names if name.startswith(prefix) and name not in used]

    return complete


def complete_dimensions(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the dimensions of the cube that is already typed, if their names are plain words."""
    try:
        cube = ctx.params.get("cube") or ctx.args[0]  # words are not yet parameters where the last option has no value
        manifest = json.loads((Path(cube) / "manifest.json").read_text(encoding="utf-8"))
        texts = manifest["settings"]["dimensions"]
        names = [name[1] for name in map(PLAIN_NAME.match, texts) if name is not None]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
    return complete_list(*dict.fromkeys(names))(incomplete)


def complete_levels(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete levels of cells: full, one, or the dimensions of the cube that is already typed."""
    return [*complete_names("full", "one", "full+one")(incomplete), *complete_dimensions(ctx, incomplete)]


EMBEDDING_NAMES = ("deepwalk", "node2vec", "line")
RECOMMENDER_NAMES = ("popularity", "itemknn", "softimpute", "als", "ease")
TASK_NAMES = ("clustering", "links", "hidden")
SOURCE_NAMES = (
    "tables",
    "sql",
    "graph",
    "references",
    "openalex",
    "acl",
    "aminer",
    "dblp",
    "yelp",
    "movies",
    "bundled",
)

CubePath = Annotated[Path, typer.Argument(metavar="CUBE", help="Folder of a cube.")]
QueryFile = Annotated[
    Path,
    typer.Option(
        "--query",
        metavar="FILE|NAMES",
        help="A file of names (one per line, or a CSV with object[,label]), or the names: 'Ann Ek; Bo Ott'.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Do not show progress.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers: the same seed gives the same result.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter of the source, method or objective; may be repeated."
    ),
]
PresetName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A named set of method parameters, such as paper, the paper's parameters for the method cube2net.",
        autocompletion=complete_names("default", "paper"),
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIMENSION=LABEL",
        help="Only cells with this label, which may be of a higher level, and their objects; may be repeated.",
    ),
]
ItemsWhere = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ATTRIBUTE=LABEL",
        help="Read only items with this label, such as field='Computer Science' (openalex); may be repeated.",
    ),
]
RollUp = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIMENSION[=LEVEL]",
        help="Use the next higher level, or the level given, as in topic=field; ∗ (or *) combines all labels. May be "
        "repeated.",
        autocompletion=complete_dimensions,
    ),
]
Between = Annotated[
    str | None,
    typer.Option(
        metavar="[ATTRIBUTE=]FROM..TO",
        help="Only items from this period, with their objects and links, including both ends: 2015..2019, "
        "2015-03..2019-06-30, 2015.. or ..2019; links=2019 restricts only links.",
    ),
]
Prices = Annotated[bool, typer.Option("--prices/--no-prices", help="Whether to show the cost of each pin and ban.")]
Kind = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Add only objects of this kind, such as author, with any method; may be repeated.",
    ),
]
SkipMissing = Annotated[bool, typer.Option("--skip-missing", help="Leave out names that are not in the cube.")]
SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe",
        help="In CSV files, put ' before names that spreadsheets would run as formulas (that start with =, +, - or @).",
    ),
]
T = TypeVar("T")
OPTION_TYPES: dict[OptionKind, tuple[Any, str | None]] = {
    "registered": (str, "NAME"),
    "name": (str, "NAME"),
    "levels": (list[str], "NAMES"),
    "count": (int, None),
    "share": (float, None),
    "flag": (bool, None),
    "nodes": (list[str], "WHAT"),
    "objects": (list[str], "OBJECT"),
}
"""The type that an option of a network has on the command line, and the placeholder of its value on the help page."""


def add_options(
    command: Callable[..., None], options: Iterable[inspect.Parameter], *, first: bool
) -> Callable[..., None]:
    """Return a command with more options, before or after its own, which it receives as ``**options``."""
    hints = typing.get_type_hints(command, include_extras=True)
    own_parameters = [
        parameter.replace(annotation=hints[parameter.name], kind=parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(command).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    added_parameters = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in options]
    parameters = sorted(
        [*added_parameters, *own_parameters] if first else [*own_parameters, *added_parameters],
        key=lambda parameter: parameter.default is not parameter.empty,
    )

    @functools.wraps(command)
    def call(**values: Any) -> None:
        command(**values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
    return call


def takes_network_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of a network, before its own options."""
    return add_options(command, map(_option_parameter, OPTIONS), first=True)


def _option_parameter(name: str) -> inspect.Parameter:
    """Return the parameter of a command that is an option of a network."""
    option, default = OPTIONS[name], DEFAULTS[name]
    hint, metavar = OPTION_TYPES[option.kind]
    if name == "method" or default == ():  # --preset asks for another method where none is named
        default = None
    help_text = option.description
    if hint == list[str]:
        help_text = f"{help_text.removesuffix('.')}; may be repeated."
    complete = complete_names(*option.allowed) if option.allowed else None
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            hint if default is not None else hint | None,
            typer.Option(
                option.flag or f"--{name.replace('_', '-')}",
                metavar=metavar,
                help=help_text,
                autocompletion=complete_levels if option.kind == "levels" else complete,
            ),
        ],
    )


def check_safe(out: Path | None, spreadsheet_safe: bool, example: str) -> None:
    """Raise if --spreadsheet-safe is given but no file is written."""
    if spreadsheet_safe and out is None:
        raise ParameterError(f"--spreadsheet-safe guards CSV files, and none is written: add {example}")


def warn_of_formulas(paths: Iterable[Path]) -> None:
    """Warn of tables with cells that a spreadsheet would run as formulas."""
    from cube2net._util.text import count_formulas

    for path in paths:
        count = count_formulas(path) if path.suffix.lower() == ".csv" else 0
        if count:
            begin = f"{count:,} cell{'s begin' if count > 1 else ' begins'}"
            complain(
                f"{path.name}: {begin} with =, +, - or @, which spreadsheets run as formulas "
                "(--spreadsheet-safe guards them)"
            )


def list_fields(kind: type[Any]) -> dict[str, Any]:
    """Return the types of the parameters of a dataclass by name, without those that the pipeline sets."""
    hints = typing.get_type_hints(kind)
    fields = [field for field in dataclasses.fields(kind) if not field.metadata.get("handed")]
    return {field.name: hints[field.name] for field in fields}


def split_settings(settings: Iterable[str]) -> dict[str, str]:
    """Return ``name=value`` texts as a dictionary.

    >>> split_settings(["hops=2", "fan_out=50"])
    {'hops': '2', 'fan_out': '50'}
    """
    values = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"cannot read the parameter {text!r}: write name=value")
        values[name.strip().replace("-", "_")] = value.strip()
    return values


def configure(kind: type[T], settings: Mapping[str, str], what: str, /, **handed: object) -> T:
    """Return an instance whose parameters are read from text, with further parameters in ``handed``.

    >>> from cube2net.model import Budget
    >>> configure(Budget, {"n_cells": "5", "best_prefix": "true"}, "budget")
    Budget(n_cells=5, max_nodes=None, max_links=None, best_prefix=True)
    """
    return kind(**typed_values(kind, settings, what), **handed)


def typed_values(kind: type, settings: Mapping[str, str], what: str) -> dict[str, Any]:
    """Return the parameters of a class, read from text.

    Several values are written with commas (``a,b``) and names with values as ``name:value`` pairs. Where a
    value holds a comma, they are written as JSON with texts only: ``["a, b", "c"]`` or ``{"genres": ","}``.
    """
    allowed = list_fields(kind)
    values = {}
    for name, text in settings.items():
        if name not in allowed:
            if not allowed:
                raise ParameterError(f"{what} takes no parameters, got {name!r}")
            raise unknown_name(f"parameter of {what}", name, allowed)
        try:
            values[name] = _convert(text, allowed[name])
        except ValueError:
            expected = _describe_type(allowed[name])
            raise ParameterError(f"parameter {name!r} of {what} is {text!r}, expected {expected}") from None
    return values


def _convert(text: str, hint: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if type(None) in arguments and text.lower() in ("none", ""):
            return None
        return _convert_to_first(text, [kind for kind in arguments if kind is not type(None)])
    if origin in (tuple, list, Sequence):
        return tuple(_convert(part, arguments[0]) for part in _split_values(text))
    if origin in (dict, Mapping):
        return {
            name: _convert(value, arguments[1]) if isinstance(value, str) else tuple(value)
            for name, value in _split_pairs(text).items()
        }
    if origin is typing.Literal:
        if text not in arguments:
            raise ValueError(text)
        return text
    if hint is bool:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise ValueError(text)
        return text.lower() in ("true", "yes", "1")
    if hint in (int, float):
        return hint(text)
    return text


def _split_values(text: str) -> list[str]:
    """Return the values written with commas, or as a JSON list of texts."""
    if text.startswith(("[", "{")):
        values = _parse_json(text)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise ValueError(text)
        return values
    return [part.strip() for part in text.split(",") if part.strip()]


def _split_pairs(text: str) -> dict[str, str | list[str]]:
    """Return the values by name written as ``name:value`` with commas, or as a JSON object of texts or of lists."""
    pairs: list[tuple[str, Any]]
    if text.startswith(("[", "{")):
        pairs = _parse_json(text)
        values = [value for _, value in pairs] if isinstance(pairs, _JsonPairs) else [None]
        items = [item for value in values for item in (value if type(value) is list else [value])]
        if not all(isinstance(item, str) for item in items):
            raise ValueError(text)
    else:
        parts = [part.partition(":") for part in text.split(",") if part.strip()]
        pairs = [(name.strip(), value.strip()) for name, _, value in parts]
        if not all(name and value for name, value in pairs):
            raise ValueError(text)
    if len(dict(pairs)) < len(pairs):
        raise ValueError(text)
    return dict(pairs)


class _JsonPairs(list[tuple[str, Any]]):
    """The pairs of a JSON object, including repeated names."""


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_JsonPairs)
    except RecursionError:
        raise ValueError(text) from None


def _convert_to_first(text: str, kinds: list[Any]) -> Any:
    for kind in sorted(kinds, key=lambda kind: kind is str):
        try:
            return _convert(text, kind)
        except ValueError:
            continue
    raise ValueError(text)


def _describe_type(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join("none" if kind is type(None) else _describe_type(kind) for kind in arguments)
    if origin is typing.Literal:
        return f"one of {', '.join(map(str, arguments))}"
    if origin in (tuple, list, Sequence):
        return f'{_describe_type(arguments[0])}, several with commas, or JSON such as ["one", "two"]'
    if origin in (dict, Mapping):
        return 'name:value pairs with commas or JSON such as {"name": "value"}'
    return names.get(hint, "a text")
