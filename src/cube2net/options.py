"""The options of a network, defined once.

:func:`cube2net.construct`, plans, comparisons, commands, the JSON interface, the types of the page and recipes derive
their options from the fields of :class:`NetworkOptions`. This module imports nothing slow, because ``--help`` uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal, get_args

from cube2net.errors import ParameterError, check_int, unknown_name

MethodName = Literal[
    "none", "hops", "pagerank", "steiner", "maxdisc", "random", "greedy", "anneal", "exact", "cube2net"
]
AnyMethodName = Literal[MethodName, "auto", "hops 2", "cube2net paper"]
"""The methods, the choice among them, and names that stand for a method with options."""
ObjectiveName = Literal["jaccard", "fbeta", "precision", "coverage", "linked", "cover"]
FormName = Literal["objects", "cells", "cells+objects", "hybrid"]
MembershipWeights = Literal["unit", "share", "even"]
METHOD_NAMES: tuple[str, ...] = get_args(MethodName)
OBJECTIVE_NAMES: tuple[str, ...] = get_args(ObjectiveName)
FORMS: tuple[str, ...] = get_args(FormName)
MEMBERSHIP_WEIGHTS: tuple[str, ...] = get_args(MembershipWeights)

OptionKind = Literal["registered", "name", "levels", "count", "share", "flag", "nodes", "objects"]
"""Which values an option takes: a name of a registry or an object of one's own; one of a few names; names of levels; a
whole number; a number above 0 and up to 1; true or false; cells and objects; objects."""
Levels = str | Sequence[str]
Wanted = Any
"""Cells and objects that a user names: several, or one by itself."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """The properties of an option besides its name and default.

    ``allowed`` are its values, ``counts`` is what a number counts, and ``flag`` is its name on the command line if it
    differs. JSON requests have a field for options that are ``is_field``, and the others in ``options``. Recipes have
    the options that are ``is_recorded`` in their parameters.
    """

    kind: OptionKind
    description: str
    allowed: tuple[str, ...] = ()
    counts: str = ""
    flag: str = ""
    is_field: bool = False
    is_recorded: bool = True

    def check(self, name: str, value: Any, *, or_none: bool) -> Any:
        """Return a valid value, or raise an error with the allowed ones."""
        if value is None and or_none:
            return None
        if self.kind == "name" and value not in self.allowed:
            raise unknown_name(name, value, self.allowed)
        if self.kind == "count":
            what = f"{self.counts}, or None" if or_none else self.counts
            return check_int(name, value, 0, *([] if self.counts else [None]), what=what)
        if self.kind == "flag" and not isinstance(value, bool):
            raise ParameterError(f"{name} is {value!r}, expected True or False", parameter=name, value=value)
        if self.kind == "share" and not (isinstance(value, int | float) and 0 < value <= 1):
            raise ParameterError(f"{name} is {value!r}, expected a number above 0 and up to 1, or None")
        return value


def _about(kind: OptionKind, description: str, **more: Any) -> dict[str, Option]:
    return {"option": Option(kind=kind, description=description, **more)}


@dataclass(frozen=True, eq=False)
class NetworkOptions:
    """Options of a network, for ``construct(…, options=…)``.

    Parameters
    ----------
    method, n_cells, objective, form, max_nodes, pins, bans, seed
        As for :func:`cube2net.construct`.
    levels
        The cells to choose from: ``"full"`` (a label in every dimension), ``"one"`` (a label in one dimension),
        ``"full+one"``, or names of levels such as ``"venue,topic"``; a list combines several. By default ``"full+one"``
        if cells are nodes and the objective is ``cover``, otherwise ``"full"``.
    n_neighbors
        Form hybrid: the number of neighbours; by default as many as the query has objects.
    neighbor_weight
        Form hybrid: a factor, above 0 and up to 1, on the weight of a link for each end outside the query. By default
        it is smaller for neighbours with more links to the query.
    membership_weights
        The weights of links between objects and cells, ``"even"`` (default), ``"share"`` or ``"unit"``; see
        :class:`cube2net.model.Form`.
    cell_weight
        The weight of cells relative to links, above 0 and up to 1; by default estimated from the links of the query.
    max_links
        Form objects: the maximum number of links.
    keep_unlinked
        Whether to keep objects of cells that have no link to the network; by default True, except for the objective
        ``linked``.
    best_prefix
        Whether to keep only the chosen cells up to the highest value, instead of exactly ``n_cells``.
    prefer
        Objects that count like objects of the query when cells are chosen.
    bound
        Whether to compute an upper limit of the value, which takes time.

    Examples
    --------
    >>> NetworkOptions(form="objects", n_cells=4).given
    {'n_cells': 4, 'form': 'objects'}
    >>> NetworkOptions(form="object")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown form 'object': choose one of cells, ... (did you mean 'objects'?)
    """

    method: Any = field(
        default="greedy",
        metadata=_about(
            "registered",
            f"Method that chooses what to add to the query: {', '.join(METHOD_NAMES)}, or auto, which tries several; "
            "greedy by default.",
            allowed=(*METHOD_NAMES, "auto"),
            is_field=True,
            is_recorded=False,
        ),
    )
    n_cells: int | None = field(
        default=None,
        metadata=_about(
            "count",
            "Maximum number of cells; by default as many as are useful (objective cover), or 20.",
            counts="cells",
            is_field=True,
        ),
    )
    objective: Any = field(
        default=None,
        metadata=_about(
            "registered",
            f"Value of a choice of cells: {', '.join(OBJECTIVE_NAMES)}; by default cover (methods greedy and exact, "
            "forms hybrid and cells) or jaccard.",
            allowed=OBJECTIVE_NAMES,
            is_field=True,
            is_recorded=False,
        ),
    )
    form: FormName | None = field(
        default=None,
        metadata=_about(
            "name",
            "Nodes besides the query: hybrid (cells and the objects nearest by links), cells, objects (all objects of "
            "the cells, the paper's form) or cells+objects; by default hybrid for methods that choose cells.",
            allowed=FORMS,
            is_field=True,
        ),
    )
    levels: Levels | None = field(
        default=None,
        metadata=_about(
            "levels",
            "Cells to choose from: full (a label in every dimension), one (a single label), full+one, or names of "
            "levels, such as venue,topic.",
            allowed=("full", "one", "full+one"),
            is_field=True,
        ),
    )
    keep_unlinked: bool | None = field(
        default=None,
        metadata=_about(
            "flag",
            "Keep objects of the cells that have no link to the network; they are kept by default, except with the "
            "objective linked.",
            flag="--keep-unlinked/--no-keep-unlinked",
        ),
    )
    max_nodes: int | None = field(
        default=None, metadata=_about("count", "Maximum number of nodes.", counts="nodes", is_field=True)
    )
    max_links: int | None = field(
        default=None, metadata=_about("count", "Maximum number of links (form objects).", counts="links")
    )
    best_prefix: bool = field(
        default=False,
        metadata=_about("flag", "Keep only the chosen cells up to the highest value."),
    )
    n_neighbors: int | None = field(
        default=None,
        metadata=_about(
            "count",
            "Form hybrid: number of neighbours (the objects nearest to the query by links); by default as many as the "
            "query has objects.",
            counts="objects",
            is_field=True,
        ),
    )
    neighbor_weight: float | None = field(
        default=None,
        metadata=_about(
            "share",
            "Form hybrid: factor up to 1 on the weight of a link for each end outside the query; by default smaller "
            "for neighbours with more links to the query.",
        ),
    )
    membership_weights: MembershipWeights | None = field(
        default=None,
        metadata=_about(
            "name",
            f"Weights of links between objects and cells: {', '.join(MEMBERSHIP_WEIGHTS)}; even by default.",
            allowed=MEMBERSHIP_WEIGHTS,
        ),
    )
    cell_weight: float | None = field(
        default=None,
        metadata=_about(
            "share",
            "Weight of cells relative to links, up to 1; by default estimated from the links of the query.",
        ),
    )
    pins: Wanted = field(
        default=(),
        metadata=_about(
            "nodes", "Cells ('2010s · ACL · parsing') and objects to include.", flag="--pin", is_field=True
        ),
    )
    bans: Wanted = field(
        default=(), metadata=_about("nodes", "Cells and objects to exclude.", flag="--ban", is_field=True)
    )
    prefer: Wanted = field(
        default=(),
        metadata=_about("objects", "Objects whose cells get more weight, like those of the query.", is_field=True),
    )
    bound: bool = field(
        default=False,
        metadata=_about(
            "flag", "Also compute an upper bound on the value of any choice.", is_field=True, is_recorded=False
        ),
    )
    seed: int = field(
        default=0,
        metadata=_about(
            "count",
            "Seed of the random numbers: the same seed gives the same network.",
            is_field=True,
            is_recorded=False,
        ),
    )

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            value = option.check(name, getattr(self, name), or_none=DEFAULTS[name] is None)
            object.__setattr__(self, name, value)

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {name: value for name, value in self.to_dict().items() if is_given(name, value)}

    def to_dict(self) -> dict[str, Any]:
        """Return all options by name."""
        return {name: getattr(self, name) for name in OPTIONS}


FIELDS: Mapping[str, Field[Any]] = {each.name: each for each in fields(NetworkOptions)}
OPTIONS: Mapping[str, Option] = {name: each.metadata["option"] for name, each in FIELDS.items()}
"""Every option by its name."""
DEFAULTS: Mapping[str, Any] = {name: each.default for name, each in FIELDS.items()}
STEERING = tuple(name for name, option in OPTIONS.items() if option.kind in ("nodes", "objects"))
"""The options by which a user steers a network."""


def is_given(name: str, value: Any) -> bool:
    """Return whether the value of an option differs from its default, or names any nodes."""
    if name in STEERING:
        return value is not None and (not hasattr(value, "__len__") or len(value) > 0)
    return bool(value is not DEFAULTS[name] and value != DEFAULTS[name])
