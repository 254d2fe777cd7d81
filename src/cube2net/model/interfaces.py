"""The extension points, one Protocol each, registries of what implements them, and the checks of public calls."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, runtime_checkable

import pyarrow as pa

from cube2net import model as records
from cube2net._util.arrays import Array
from cube2net._util.display import load_function
from cube2net._util.progress import Progress, silent
from cube2net._util.spelling import suggest_name, translate_name
from cube2net.errors import InputError, ParameterError, first_line, join_names, quote, unknown_name

if TYPE_CHECKING:  # the records have methods that use this module
    import scipy.sparse as sp

    from cube2net.model.corpus import Corpus, Topics
    from cube2net.model.cube import Cube
    from cube2net.model.network import Network
    from cube2net.model.objects import Objects
    from cube2net.model.query import Query
    from cube2net.model.selection import Budget, QueryObjective, Selection, Weights
    from cube2net.model.vectors import Vectors


@runtime_checkable
class Source(Protocol):
    """Reads files of one kind into a corpus."""

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus that the files hold."""


@runtime_checkable
class ReadsMore(Protocol):
    """A source whose files may be added to a cube without listing the objects that this has."""

    def read_more(self, paths: Sequence[Path], *, known: Objects, progress: Progress = silent) -> Corpus:
        """Return the corpus that the files hold; what they only refer to may be ``known`` objects."""


@runtime_checkable
class NamesFiles(Protocol):
    """A source that reads only some files of a folder, and can say which."""

    def files_read(self, paths: Sequence[Path]) -> list[Path]:
        """Return the files that would be read."""


@runtime_checkable
class TopicModel(Protocol):
    """Finds the topics of a corpus."""

    def topics(self, corpus: Corpus, *, seed: int, progress: Progress = silent) -> Topics:
        """Return topics with names, and at least one for every item."""


@runtime_checkable
class Engine(Protocol):
    """Runs the statements of a cube's plan."""

    def run(
        self,
        tables: Mapping[str, pa.Table],
        statements: Mapping[str, str],
        wanted: Sequence[str],
        *,
        folder: Path | None = None,
        progress: Progress = silent,
    ) -> dict[str, pa.Table]:
        """Return the wanted tables after running every statement, each into the table of its name.

        With a ``folder`` of its own the engine works there: wanted tables come back memory-mapped, and what lies
        there finished, from a run of the same statements over the same tables that was cut off, is not done again.
        """


@runtime_checkable
class ChecksItself(Protocol):
    """An engine or a method that can say before any work is done that it cannot run here."""

    def check(self) -> None:
        """Raise where this cannot run here."""


@runtime_checkable
class CellEmbedder(Protocol):
    """Says what every cell of a cube means."""

    def embed_cells(self, cube: Cube, *, seed: int = 0) -> Vectors:
        """Return one vector per cell."""


@runtime_checkable
class NodeEmbedder(Protocol):
    """Learns vectors of nodes from the links of a network."""

    def embed(self, network: Network, *, seed: int = 0) -> Array:
        """Return one row of numbers for every node of a network."""


@runtime_checkable
class Fitted(Protocol):
    """Has learned from users' links, and scores items."""

    def scores(self, users: Array) -> Array:
        """Return users × items: the higher, the likelier the link; scores of different users do not compare."""


@runtime_checkable
class Recommender(Protocol):
    """Learns from links between users and items."""

    def fit(self, matrix: sp.csr_array, *, seed: int = 0) -> Fitted:
        """Return what was learned from users × items, where every stored entry is a link."""


@runtime_checkable
class Objective(Protocol):
    """Says what a selection is worth: weighted counts of the objects it brings, or a function of them."""

    def weigh(self, query: Query, count: int) -> QueryObjective:
        """Return the weights of a query over ``count`` objects, or a judge of them."""


@runtime_checkable
class LinkObjective(Protocol):
    """An objective that sees links: it is told how near every object is to the query."""

    @property
    def damping(self) -> float:
        """How likely the walk that measures nearness goes on before it starts again at the query."""

    def weigh_links(self, query: Query, affinity: Array, linked: Array) -> Weights:
        """Return the weights of a query over all objects.

        ``affinity`` is where that walk stays, a share for every object; ``linked`` says which objects have a link.
        """


@runtime_checkable
class Method(Protocol):
    """A way to make a network: chooses what to bring beside the query.

    What a method can do it says by attributes of its class, which need not be there: ``chooses_cells``, ``draws``,
    ``counts_repeats``, ``heeds_objective`` and ``takes_long``; see the functions of these names.
    """

    def select(self, cube: Cube, query: Query, *, weights: QueryObjective, budget: Budget, seed: int = 0) -> Selection:
        """Return the objects to bring, and the cells they come from where the method chooses cells."""


def chooses_cells(method: object) -> bool:
    """Return whether a method chooses cells, and so has an objective and a form; it does unless it says otherwise."""
    return bool(getattr(method, "chooses_cells", True))


def draws(method: object) -> bool:
    """Return whether a method's answer depends on the seed; it does unless it says otherwise."""
    return bool(getattr(method, "draws", True))


def counts_repeats(method: object) -> bool:
    """Return whether a method serves the objective ``cover``, which counts repeats; only one that says so does."""
    return bool(getattr(method, "counts_repeats", False))


def heeds_objective(method: object) -> bool:
    """Return whether a method chooses by what objects are worth; it does unless it says otherwise."""
    return bool(getattr(method, "heeds_objective", True))


def takes_long(method: object) -> bool:
    """Return whether a method may take more than a moment; it does unless it says otherwise."""
    return bool(getattr(method, "takes_long", True))


@runtime_checkable
class MakesNetworks(Protocol):
    """A method that makes the whole network by itself, form and size included."""

    def construct(self, cube: Cube, query: Query, *, seed: int = 0, progress: Progress = silent) -> Network:
        """Return the network of a query."""


@runtime_checkable
class NeedsVectors(Protocol):
    """A method that moves among cell vectors; ``vectors`` are these, or the name of a kind of them.

    The pipeline makes vectors for a name (``"both"`` is all kinds, in the order of their registry) and
    hands them over before it asks for a selection.
    """

    @property
    def vectors(self) -> str | Vectors | tuple[Vectors, ...]:
        """Cell vectors, or the name of a kind of them."""

    def with_vectors(self, *vectors: Vectors) -> Method:
        """Return the same method with cell vectors of the cube at hand, one set or several."""


@runtime_checkable
class TellsProgress(Protocol):
    """A method that takes so long that it says how far it is."""

    def with_progress(self, progress: Progress) -> Method:
        """Return the same method, which tells its progress."""


@runtime_checkable
class Exporter(Protocol):
    """Writes a network to one path."""

    def __call__(self, network: Network, path: Path) -> None:
        """Write the network."""


P = ParamSpec("P")
T = TypeVar("T")
MADE_BY = {
    "Cube": "cube2net.open opens the folder of one, and cube2net.build makes one of tables",
    "Network": "construct makes one",
    "Comparison": "compare makes one",
}
"""What returns the records that functions take."""


class Registry(dict[str, T]):
    """Built-in values by name, and those that installed packages provide as entry points of a group.

    Entry points are loaded when a name is not built in; built-in names are never replaced. ``adapt`` converts the
    object of an entry point into a value of the registry.

    >>> colours = Registry("cube2net.colours", {"red": "#f00"})
    >>> colours["red"], "blue" in colours
    ('#f00', False)
    """

    def __init__(self, group: str, builtin: Mapping[str, T], adapt: Callable[[Any], T] | None = None) -> None:
        super().__init__(builtin)
        self.group, self._adapt, self._is_loaded = group, adapt, False

    def load_plugins(self) -> None:
        """Add the entry points of the group, once."""
        if self._is_loaded:
            return
        from importlib.metadata import entry_points

        self._is_loaded = True
        for point in entry_points(group=self.group):
            try:
                part = point.load()
            except Exception as error:
                raise InputError(
                    f"the plugin {point.name!r} ({point.value}) of the group {self.group!r} cannot be loaded: "
                    f"{first_line(error)}"
                ) from error
            self.setdefault(point.name, part if self._adapt is None else self._adapt(part))

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            self.load_plugins()
        return super().__contains__(name)

    def __missing__(self, name: str) -> T:
        if name in self:
            return self[name]
        raise KeyError(name)


def make_object(
    given: Any,
    registry: Mapping[str, Any],
    protocol: type | tuple[type, ...],
    what: str,
    options: Mapping[str, Any],
) -> Any:
    """Return the object that a name stands for, or a given object that has the methods of the protocol.

    If it has a method ``check``, this is called.
    """
    if isinstance(given, str):
        if given not in registry:
            raise unknown_name(what, given, registry)
        try:
            given = registry[given](**options)
        except TypeError as error:
            raise ParameterError(f"{what} {given!r} cannot be made so: {error}") from None
    elif isinstance(given, type) and given in registry.values():
        raise ParameterError(f"the {what} is the class {given.__name__}, expected an object: {given.__name__}()")
    elif isinstance(given, type) or not isinstance(given, protocol):
        article = "an" if what[0] in "aeiou" else "a"
        raise ParameterError(
            f"{article} {what} is a name ({join_names(sorted(registry))}) or an object like one, got {quote(given)}",
            parameter=what,
            value=given,
            allowed=sorted(registry),
        )
    if isinstance(given, ChecksItself):
        given.check()
    return given


def list_options(kind: Callable[..., Any]) -> list[str]:
    """Return the names of the options of a class or function, except those that the pipeline sets."""
    if is_dataclass(kind):
        return [field.name for field in fields(kind) if field.init and not field.metadata.get("handed")]
    return [name for name in inspect.signature(kind).parameters if name not in ("args", "kwargs")]


def options_outside(kind: Any) -> list[str]:
    """Return the names of the options of a dataclass that requests from outside may set: none names a file.

    These are numbers unless the metadata of the field has ``outside=False``, and others with ``outside=True``.

    >>> from dataclasses import dataclass, field
    >>> @dataclass
    ... class Mine:
    ...     size: int | None = None
    ...     save: str | None = None
    ...     by: str = field(default="value", metadata={"outside": True})
    ...     threads: int = field(default=1, metadata={"outside": False})
    >>> options_outside(Mine)
    ['size', 'by']
    """
    return [
        each.name
        for each in fields(kind)
        if each.name in list_options(kind) and each.metadata.get("outside", _is_number(each.type))
    ]


def _is_number(written: Any) -> bool:
    """Return whether a type, or the text of an annotation, is that of an optional number."""
    text = written.__name__ if isinstance(written, type) else str(written)
    return {part.strip() for part in text.split("|")} <= {"int", "float", "bool", "None"}


def check_options(
    given: Iterable[str], what: str, allowed: Sequence[str], function: Callable[..., Any], *, instead: str = ""
) -> None:
    """Raise an error for an unknown option, which may be a misspelt parameter of the function that was called."""
    for name in given:
        if name in allowed:
            continue
        parameters = inspect.signature(function).parameters.values()
        own = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD and each.name not in allowed]
        near = translate_name("parameter", name, [*own, *allowed]) or suggest_name(name, [*own, *allowed])
        if near in own:
            raise ParameterError(
                f"{function.__name__} has no parameter {name!r}",
                value=name,
                allowed=own,
                hint=f"did you mean {near!r}?",
            )
        if near in allowed and near == translate_name("parameter", name, allowed):
            raise ParameterError(
                f"{what} has no option {name!r} (did you mean {near!r}?)", value=name, allowed=list(allowed)
            )
        if translate_name("parameter", name) == "workers":
            raise ParameterError(f"{function.__name__} has no parameter {name!r}: it uses all cores", value=name)
        if not allowed:
            raise ParameterError(f"{what} takes no options, got {name!r}{instead}", value=name)
        raise unknown_name(f"option of {what}", name, allowed)


def find_name(thing: object, registry: Mapping[str, Any]) -> str:
    """Return the name of an object in a registry, or that of its class."""
    return next((name for name, kind in registry.items() if type(thing) is kind), type(thing).__name__)


def find_names(objects: Iterable[object], others: Mapping[str, type]) -> dict[str, Any]:
    """Return objects by the names of their classes, with their parameters where there are several of a class.

    ``others`` are the classes of what has a name already, by that name. Equal objects count once.

    >>> from cube2net.model import Budget, Form
    >>> list(find_names([Budget(n_cells=5), Form("hybrid")], {}))
    ['Budget', 'Form']
    >>> list(find_names([Budget(n_cells=5), Budget(n_cells=9)], {}))
    ['Budget(n_cells=5)', 'Budget(n_cells=9)']
    >>> list(find_names([Budget(n_cells=5)], {"mine": Budget}))
    ['Budget(n_cells=5)']
    """
    once: dict[str, object] = {}
    for thing in objects:
        same = once.setdefault(format_repr(thing), thing)
        if same is not thing and same != thing:
            raise ParameterError(f"two different objects call themselves {quote(format_repr(thing))}: give each a name")
    kinds = [*map(type, once.values()), *others.values()]
    names = [name_with(thing) if kinds.count(type(thing)) > 1 else type(thing).__name__ for thing in once.values()]
    clear = [names.count(name) == 1 and name not in others for name in names]
    return {name if own else whole: once[whole] for name, own, whole in zip(names, clear, once, strict=True)}


def name_with(thing: object) -> str:
    """Return the class of an object with the parameters that differ from their defaults."""
    if not is_dataclass(thing):
        return format_repr(thing)
    own = {part.name: getattr(thing, part.name) for part in fields(thing) if part.repr and not _is_default(thing, part)}
    return f"{type(thing).__name__}({', '.join(f'{name}={value!r}' for name, value in own.items())})"


def format_repr(thing: object) -> str:
    """Return the repr of an object, or its class and attributes if it has only the default repr.

    >>> class Mine:
    ...     def __init__(self) -> None:
    ...         self.size = 3
    >>> format_repr(Mine())
    'Mine(size=3)'
    """
    if type(thing).__repr__ is not object.__repr__:
        return repr(thing)
    held = (
        ", ".join(f"{name}={format_repr(value)}" for name, value in vars(thing).items())
        if hasattr(thing, "__dict__")
        else ""
    )
    return f"{type(thing).__name__}({held})"


def expect(kind: type[T], given: object, what: str) -> T:
    """Return an argument that is a cube, a network or a comparison; if it is not, the error says what returns one.

    >>> from cube2net.model import Network
    >>> expect(Network, "network.json", "network")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: the network is 'network.json', expected a Network: construct makes one
    """
    if isinstance(given, kind):
        return given
    plain = given is None or isinstance(given, str | os.PathLike | int | float)
    got = quote(given) if plain else f"a {type(given).__name__}"
    raise ParameterError(f"the {what} is {got}, expected a {kind.__name__}: {MADE_BY[kind.__name__]}")


def check_call(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function, which raises a ParameterError if arguments are missing, unknown or too many."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        try:
            return function(*args, **options)
        except TypeError:
            try:
                inspect.signature(function).bind(*args, **options)
            except TypeError:
                error = _call_error(function, args, options)
            else:
                raise
        raise error from None

    return call


def _call_error(function: Callable[..., Any], args: Sequence[object], options: Mapping[str, object]) -> ParameterError:
    """Return what is wrong with the arguments of a call."""
    name, parameters = function.__name__, dict(inspect.signature(function).parameters)
    call = name
    if name == "__init__":
        del parameters["self"]
        call = name = function.__qualname__.partition(".")[0]
        args = args[1:]
    elif parameters.pop("self", None):
        call, args = f"{type(args[0]).__name__.lower()}.{name}", args[1:]
    own = [each for each in parameters if parameters[each].kind is not inspect.Parameter.VAR_KEYWORD]
    by_position = [each for each in own if parameters[each].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    given = by_position[: len(args)]
    required = [each for each in by_position if parameters[each].default is inspect.Parameter.empty]
    kind = getattr(records, by_position[0].capitalize(), None) if given else None
    if isinstance(kind, type) and kind.__name__ in MADE_BY:
        try:
            expect(kind, args[0], by_position[0])
        except ParameterError as error:
            return error
    if args and not parameters:
        return ParameterError(f"{name} takes no arguments, got {len(args)}")
    if len(own) == len(parameters) and (strange := [each for each in options if each not in own]):
        return ParameterError(f"{name} has no parameter {strange[0]!r}{_hint_for_parameter(function, strange[0], own)}")
    if twice := [each for each in given if each in options]:
        return ParameterError(f"{name} got {twice[0]} twice, by position and by name")
    takes_more = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters.values())
    if len(args) > len(by_position) and not takes_more:
        allowed = f"({', '.join(by_position)}) by position" if by_position else "no argument by position"
        return ParameterError(f"{name} takes {allowed}, got {len(args)}: give the others by their names")
    missing = [each for each in required if each not in given and each not in options]
    return ParameterError(f"{name} needs {' and '.join(missing)}: call {call}({', '.join(required)})")


def _hint_for_parameter(function: Callable[..., Any], name: str, own: Sequence[str]) -> str:
    """Return a hint for an unknown parameter: where it belongs, or a similar one."""
    if "query" in own and (near := translate_name("query parameter", name)):
        return f" (did you mean {near}?)"
    options = str(inspect.signature(function).parameters["options"].annotation) if "options" in own else ""
    kind = inspect.unwrap(function).__globals__.get(options.partition(" ")[0])
    if kind is not None and name in list_options(kind):
        return f": give it as options={kind.__name__}({name}=…)"
    if kind is not None and (near := translate_name("parameter", name, [*own, *list_options(kind)])):
        return f" (did you mean {near!r}?)" if near in own else f" (did you mean options={kind.__name__}({near}=…)?)"
    if kind is not None and "method" in own:
        takers = [each for each in load_function("api.plan", "METHODS").values() if name in list_options(each)]
        if takers:
            return f": give it to the method, such as methods.{takers[0].__name__}({name}=…)"
    near = translate_name("parameter", name, own) or suggest_name(name, own)
    if near is None and kind is not None and (near := suggest_name(name, list_options(kind))):
        return f" (did you mean options={kind.__name__}({near}=…)?)"
    return f": it has {join_names(own, 40) or 'none'}" if near is None else f" (did you mean {near!r}?)"


def check_path(given: object, what: str) -> Path:
    """Return an argument as a path; ``what`` names it in the error if it is none."""
    if isinstance(given, str | os.PathLike) and os.fspath(given):
        return Path(given)
    raise ParameterError(f"{what} is {quote(given)}, expected a path, as a text or a Path", parameter=what, value=given)


def _is_default(thing: object, part: Any) -> bool:
    default = part.default_factory() if part.default_factory is not MISSING else part.default
    value = getattr(thing, part.name)
    return value is default or bool(type(value) is type(default) and repr(value) == repr(default))
