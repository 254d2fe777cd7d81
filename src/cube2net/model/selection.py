"""Selections of cells, their budget and scope, what they are worth to an objective, and pins and bans."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array, freeze, reduce_by_fields
from cube2net._util.arrow import to_pandas
from cube2net._util.display import Shown
from cube2net.errors import InputError, check_int, quote, quote_few
from cube2net.model.node_names import OBJECT, Node
from cube2net.model.results import Result

if TYPE_CHECKING:
    import pandas

# A value this near to its bound, as a share of it, differs from it by rounding only.
PROVEN = 1e-9
# Values that differ by no more than this share are the same but for rounding.
ROUNDING = 1e-12
PIN, BAN = "pin", "ban"


def _no_rows() -> Array:
    return freeze(np.empty(0, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class Selection(Shown):
    """The cells that a method chose, in order, and the objects M in them.

    ``values[i]`` is the value of the first i + 1 cells. ``cells`` is empty for methods that choose objects directly.
    ``bound`` is an upper limit on the value of any selection of as many cells, or None. ``note`` is a remark for users.
    ``labels`` are the labels of the cells, in the selection of a network.
    """

    objects: Array
    value: float
    cells: Array = field(default_factory=_no_rows)
    values: Array = field(default_factory=_no_rows)
    bound: float | None = None
    train_seconds: float = 0.0
    note: str = ""
    labels: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        for what, rows in (("objects", self.objects), ("cells", self.cells)):
            if np.size(rows) and np.asarray(rows).dtype.kind not in "iu":
                raise InputError(
                    f"the {what} of a selection are row numbers, got {np.asarray(rows).ravel()[:3].tolist()}"
                )
        objects = np.asarray(self.objects, dtype=np.int32)
        if bool(np.any(objects[1:] <= objects[:-1])):
            raise InputError("the objects of a selection must ascend without repeats")
        if len(np.unique(self.cells)) != len(self.cells) or len(self.cells) != len(self.values):
            raise InputError("a selection has distinct cells and one value for each")
        object.__setattr__(self, "objects", freeze(objects))
        object.__setattr__(self, "cells", freeze(np.asarray(self.cells, dtype=np.int32)))
        object.__setattr__(self, "values", freeze(np.asarray(self.values, dtype=np.float64)))

    __reduce__ = reduce_by_fields

    def __repr__(self) -> str:
        return f"Selection({len(self.cells)} cells, {len(self.objects):,} objects, value {self.value:.4f})"

    @property
    def gap(self) -> float | None:
        """The largest possible distance to the best value, relative to the bound; None without a bound.

        It is 1 if the bound is 0 and the value below it.
        """
        if self.bound is None:
            return None
        missing = max(0.0, self.bound - self.value)
        return missing / abs(self.bound) if self.bound else float(missing > PROVEN)

    @property
    def proven(self) -> bool:
        """Whether no selection of as many cells has a higher value, up to rounding."""
        return self.gap is not None and self.gap <= PROVEN

    def to_pandas(self) -> pandas.DataFrame:
        """Return the chosen cells as a pandas data frame.

        ``rank`` starts at 1, ``cell`` is the number of the cell, ``labels`` its labels, ``value`` the value up to this
        cell, and ``gain`` what it added.

        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0), n_cells=2)
        >>> network.selection.to_pandas()[["rank", "labels", "value", "gain"]]
           rank           labels  value  gain
        0     1  (∗, venue 0, ∗)   50.0  50.0
        1     2  (∗, ∗, topic 2)  100.0  50.0
        """
        labels = self.labels or [None] * len(self.cells)
        columns = {
            "rank": pa.array(range(1, len(self.cells) + 1), pa.int64()),
            "cell": pa.array(self.cells),
            "value": pa.array(self.values),
            "gain": pa.array(self.gains()),
        }
        frame = to_pandas(pa.table(columns))
        frame.insert(2, "labels", list(labels))
        return frame

    def gains(self, start: float = 0.0) -> Array:
        """Return what each cell added to the value."""
        return np.diff(self.values, prepend=start)


@dataclass(frozen=True, eq=False)
class Scope:
    """The cells and objects that are selected before a method chooses, and those that it may not choose.

    ``cells`` are selected, in this order, and so are ``objects`` (ascending), in addition to the query and the objects
    of these cells. ``forbidden_cells`` (ascending) includes the selected ones. ``forbidden_objects`` is a mask over the
    objects of the cube, or None where every object is allowed; it does not apply to the query.

    >>> Scope(cells=np.array([4]), forbidden_cells=np.array([2, 4]))
    Scope(1 cells, 0 objects, 2 forbidden cells)
    """

    cells: Array = field(default_factory=_no_rows)
    objects: Array = field(default_factory=_no_rows)
    forbidden_cells: Array = field(default_factory=_no_rows)
    forbidden_objects: Array | None = None

    def __post_init__(self) -> None:
        for name in ("cells", "objects", "forbidden_cells"):
            object.__setattr__(self, name, freeze(np.asarray(getattr(self, name), dtype=np.int32)))
        if self.forbidden_objects is not None:
            object.__setattr__(self, "forbidden_objects", freeze(np.asarray(self.forbidden_objects, dtype=bool)))

    def __repr__(self) -> str:
        objects = "" if self.forbidden_objects is None else f", {int(self.forbidden_objects.sum()):,} forbidden objects"
        return (
            f"Scope({len(self.cells):,} cells, {len(self.objects):,} objects, "
            f"{len(self.forbidden_cells):,} forbidden cells{objects})"
        )

    @property
    def empty(self) -> bool:
        """Whether nothing is selected or forbidden."""
        rows = len(self.cells) + len(self.objects) + len(self.forbidden_cells)
        return rows == 0 and self.forbidden_objects is None


OPEN = Scope()
"""Nothing is selected or forbidden."""


PAPER_CELLS = 20
"""How many cells are chosen where nobody says and the objective does not size itself by the query: the paper's."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """At most ``n_cells`` cells, ``max_nodes`` objects and ``max_links`` links in the network.

    Cells that would exceed a limit are skipped. By default all chosen cells are kept, as in the paper; ``best_prefix``
    cuts the selection where its value is highest. ``scope`` has the cells and objects that are selected or forbidden
    beforehand.
    """

    n_cells: int = PAPER_CELLS
    max_nodes: int | None = None
    max_links: int | None = None
    best_prefix: bool = False
    scope: Scope = field(default=OPEN, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_cells", check_int("n_cells", self.n_cells, 0, what="cells"))
        for name, what in (("max_nodes", "objects, or None"), ("max_links", "links, or None")):
            object.__setattr__(self, name, check_int(name, getattr(self, name), 0, or_none=True, what=what))


@dataclass(frozen=True)
class Steering:
    """The cells and objects that must be in a network (``pins``) or must not (``bans``), and objects to prefer.

    ``prefer`` are rows of objects whose cells get more weight. Order is kept, repeats are removed.

    >>> Steering(pins=(Node("cell", 4), Node("cell", 4)), prefer=(7,))
    Steering(pins=(Node(kind='cell', number=4),), bans=(), prefer=(7,))
    """

    pins: tuple[Node, ...] = ()
    bans: tuple[Node, ...] = ()
    prefer: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("pins", "bans", "prefer"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))

    def __bool__(self) -> bool:
        return bool(self.pins or self.bans or self.prefer)

    def nodes(self) -> dict[str, tuple[Node, ...]]:
        """Return the nodes that are pinned, banned and preferred, by the name of the option."""
        prefer = tuple(Node(OBJECT, row) for row in self.prefer)
        found = {"pins": self.pins, "bans": self.bans, "prefer": prefer}
        return {name: nodes for name, nodes in found.items() if nodes}

    def cells(self, which: str) -> list[int]:
        """Return the numbers of the cells among the ``pins`` or the ``bans``."""
        return [node.number for node in getattr(self, which) if node.is_cell]

    def objects(self, which: str) -> list[int]:
        """Return the rows of the objects among the ``pins`` or the ``bans``."""
        return [node.number for node in getattr(self, which) if not node.is_cell]

    def pinning(self, nodes: Iterable[Node]) -> Steering:
        """Return the steering with further pins, which are no longer banned."""
        more = tuple(nodes)
        return replace(
            self,
            pins=(*self.pins, *more),
            bans=tuple(node for node in self.bans if node not in more),
        )

    def banning(self, nodes: Iterable[Node]) -> Steering:
        """Return the steering with further bans, which are no longer pinned or preferred."""
        more = tuple(nodes)
        return replace(
            self,
            pins=tuple(node for node in self.pins if node not in more),
            bans=(*self.bans, *more),
            prefer=tuple(row for row in self.prefer if Node(OBJECT, row) not in more),
        )


@dataclass(frozen=True)
class Price(Result):
    """The cost of a pin or ban: the value without it minus the value with it, other pins and bans kept.

    ``kind`` is ``"pin"`` or ``"ban"`` and ``title`` the cell or object. ``price`` can be negative for heuristic
    methods, and is None for methods that follow links. ``missed`` are the cells (or objects) that would be chosen
    without it, ``instead`` those that are chosen because of it. It is ``needed``, and has no price, if the pins would
    exceed the limits without it.

    >>> print(Price("pin", "⟨2019 · ACL · parsing⟩", value=0.1, without=0.104))
    keeping ⟨2019 · ACL · parsing⟩ costs 0.004
    >>> print(Price("ban", "Ada", missed=("Ada",), instead=("Ben",)))
    leaving out Ada brings 'Ben' in its place
    >>> print(Price("ban", "Ada", value=0.1, needed=True))
    leaving out Ada is necessary for the pins to fit
    """

    kind: str
    title: str
    value: float | None = None
    without: float | None = None
    missed: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    needed: bool = False

    JSON_NAMES = "kind title price value without missed instead needed sentence"

    def __repr__(self) -> str:
        return f"Price({self.sentence})"

    @property
    def price(self) -> float | None:
        """The value without it minus the value with it."""
        if self.value is None or self.without is None:
            return None
        price = self.without - self.value
        return 0.0 if abs(price) <= ROUNDING * max(abs(self.value), abs(self.without)) else price

    @property
    def sentence(self) -> str:
        """The price in one sentence."""
        what = f"{'keeping' if self.kind == PIN else 'leaving out'} {self.title}"
        if self.needed:
            return f"{what} is necessary for the pins to fit"
        price = self.price
        if price is not None:
            amount = f"{abs(price):,.0f}" if price == int(price) else f"{abs(price):.3g}"
            return f"{what} {'pays' if price < 0 else 'costs'} {amount if price else 'nothing'}"
        if not (self.missed or self.instead):
            return f"{what} changes nothing"
        if self.kind == PIN:
            return f"{what} displaces {quote_few(self.missed) if self.missed else 'no object'}"
        return f"{what} brings {quote_few(self.instead) if self.instead else 'no object'} in its place"


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Weights:
    """The value of objects M as a ratio of sums: (gain₀ + Σ gain(o)) / (cost₀ + Σ cost(o)), o in M.

    If the denominator is 0, so is the value.

    ``gain`` and ``cost`` have one number per object. If most objects have the same, they are given for the objects
    ``rows`` (ascending) only, and all others of ``count`` have the gain and cost in ``others``, so the weights are as
    small as the query. ``at`` returns the terms of some objects; the attributes ``gain`` and ``cost`` expand them to
    all objects when first used.

    >>> jaccard = Weights(gain=np.array([1.0, 1.0, 0.0]), cost=np.array([0.0, 0.0, 1.0]), cost0=2.0)
    >>> jaccard.value(np.array([0, 2]))
    0.3333333333333333
    >>> few = Weights(gain=np.ones(2), cost=np.zeros(2), cost0=2.0, rows=np.array([0, 1]), count=3, others=(0.0, 1.0))
    >>> few.value(np.array([0, 2])), few.cost.tolist()
    (0.3333333333333333, [0.0, 0.0, 1.0])
    """

    count: int
    rows: Array | None
    others: tuple[float, float]
    gain0: float
    cost0: float

    def __init__(
        self,
        gain: Array,
        cost: Array,
        gain0: float = 0.0,
        cost0: float = 0.0,
        *,
        rows: Array | None = None,
        count: int | None = None,
        others: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        gains, costs = _numbers("gain", gain), _numbers("cost", cost)
        if gains.shape != costs.shape or gains.ndim != 1:
            raise InputError(f"gains have shape {gains.shape} and costs {costs.shape}, expected one per object")
        if (rows is None) != (count is None):
            raise InputError("weights for some rows need the count of all objects, and the count needs rows")
        if rows is not None:
            rows = freeze(np.asarray(rows))
            if rows.shape != gains.shape or bool(np.any(rows[1:] <= rows[:-1])):
                raise InputError(f"weights are for {len(gains):,} objects, expected as many rows, ascending")
            if len(rows) and not 0 <= int(rows[0]) <= int(rows[-1]) < int(count or 0):
                raise InputError(f"weights name rows from {int(rows[0])} to {int(rows[-1])} of {count:,} objects")
        rest = (_finite("gain", others[0]), _finite("cost", others[1], least=0.0))
        for name, values in (("gain", gains), ("cost", costs)):
            finite = np.isfinite(values)
            if not bool(finite.all()):
                raise InputError(f"{name} is not finite for {int((~finite).sum()):,} objects")
        if float(costs.min(initial=0.0)) < 0:
            raise InputError(f"cost is negative for {int((costs < 0).sum()):,} objects, expected 0 or more")
        constants = (_finite("gain0", gain0), _finite("cost0", cost0, least=0.0))
        self._hold(gains, costs, constants, rows, len(gains) if count is None else count, rest)

    def _hold(
        self,
        gains: Array,
        costs: Array,
        constants: tuple[float, float],
        rows: Array | None,
        count: int,
        others: tuple[float, float],
    ) -> None:
        """Set the fields to what was checked."""
        for name, value in (
            ("count", count),
            ("rows", rows),
            ("others", others),
            ("gain0", constants[0]),
            ("cost0", constants[1]),
            ("_gains", gains),
            ("_costs", costs),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        some = "" if self.rows is None else f", {len(self.rows):,} of their own"
        return f"Weights({self.count:,} objects{some}, gain0 {self.gain0:g}, cost0 {self.cost0:g})"

    @cached_property
    def gain(self) -> Array:
        """The gain of each object."""
        return self._whole(self._gains, self.others[0])

    @cached_property
    def cost(self) -> Array:
        """The cost of each object."""
        return self._whole(self._costs, self.others[1])

    @property
    def given(self) -> tuple[Array, Array]:
        """The gains and costs as given: of ``rows``, or of all objects."""
        return self._gains, self._costs

    @cached_property
    def paying(self) -> Array:
        """The objects with a gain above 0, ascending."""
        if self.rows is None or self.others[0] > 0:
            return freeze(np.flatnonzero(self.gain > 0))
        return freeze(self.rows[self._gains > 0])

    def at(self, objects: Array) -> tuple[Array, Array]:
        """Return the gains and costs of some objects, in time proportional to these and ``rows``."""
        objects = np.asarray(objects)
        if self.rows is None:
            return self._gains[objects], self._costs[objects]
        gains, costs = (np.full(len(objects), other) for other in self.others)
        if len(self.rows) and len(objects):
            # The shorter list is looked up in the longer one, which is possible where both ascend.
            if len(self.rows) < len(objects) and bool(np.all(objects[1:] > objects[:-1])):
                place = np.minimum(np.searchsorted(objects, self.rows), len(objects) - 1)
                known = objects[place] == self.rows
                place = place[known]
                gains[place], costs[place] = self._gains[known], self._costs[known]
            else:
                place = np.minimum(np.searchsorted(self.rows, objects), len(self.rows) - 1)
                known = self.rows[place] == objects
                gains[known], costs[known] = self._gains[place[known]], self._costs[place[known]]
        return gains, costs

    def value(self, objects: Array) -> float:
        """Return the value of a set of distinct objects."""
        gains, costs = self.at(objects)
        return self.ratio(float(gains.sum()), float(costs.sum()))

    def ratio(self, gain: float, cost: float) -> float:
        """Return the value of given sums of gains and costs."""
        below = self.cost0 + cost
        return (self.gain0 + gain) / below if below > 0 else 0.0

    def with_terms(
        self, objects: Array, gain: Array | float, cost: Array | float, *, more: tuple[float, float] = (0.0, 0.0)
    ) -> Weights:
        """Return the weights with other gains and costs of some objects (ascending), and ``more`` gain₀ and cost₀.

        >>> few = Weights(np.ones(1), np.zeros(1), cost0=2.0, rows=np.array([0]), count=3, others=(0.0, 1.0))
        >>> few.with_terms(np.array([1]), 0.0, 0.0, more=(0.0, 1.0)).value(np.array([0, 1, 2]))
        0.25
        """
        constants = (self.gain0 + more[0], self.cost0 + more[1])
        if self.rows is None:
            gains, costs = (terms.copy() for terms in self.given)
            gains[objects], costs[objects] = gain, cost
            return Weights(gains, costs, *constants)
        stays = np.append(objects, -1)[np.searchsorted(objects, self.rows)] != self.rows
        rows = np.concatenate([self.rows[stays], objects])
        order = np.argsort(rows, kind="stable")
        gains, costs = (
            np.concatenate([given[stays], np.broadcast_to(new, len(objects))])[order]
            for given, new in zip(self.given, (gain, cost), strict=True)
        )
        made = object.__new__(Weights)  # of terms that were checked, but for those of the caller
        made._hold(freeze(gains), freeze(costs), constants, freeze(rows[order]), self.count, self.others)
        return made

    def _whole(self, values: Array, other: float) -> Array:
        if self.rows is None:
            return values
        whole = np.full(self.count, other)
        whole[self.rows] = values
        return freeze(whole)

    if TYPE_CHECKING:
        _gains: Array
        _costs: Array


@dataclass(frozen=True, eq=False)
class CallableObjective:
    """The value of objects M as a user's function of them.

    ``function`` takes the ascending row numbers of M, possibly none, and returns a number; ``count`` is the number of
    objects, and ``title`` a name for the function. Methods call it for each set of objects, so they are slower and have
    no bound. ``about`` are the objects whose cells are considered first, by default the query.

    >>> CallableObjective(lambda objects: len(objects) / 4, count=4).value(np.array([0, 2]))
    0.5
    """

    function: Callable[[Array], float]
    count: int
    title: str = ""
    about: Array | None = None

    def value(self, objects: Array) -> float:
        """Return the value of a set of distinct objects; the function gets a read-only array."""
        given = self.function(freeze(np.asarray(objects)))
        number = _number(given)
        if number is None or not math.isfinite(number):
            got, wanted = (quote(given), "a number") if number is None else (repr(number), "a finite number")
            raise InputError(f"{self.name} gave {got} for {len(objects):,} objects, expected {wanted}")
        return number

    @property
    def name(self) -> str:
        """The name of the function in sentences."""
        return f"the objective {self.title or get_function_name(self.function)!r}"


@dataclass(frozen=True, eq=False)
class CoverObjective:
    """The value of cells by how often they contain some objects: Σ min(most, chosen cells with o) over ``objects``.

    ``objects`` are ascending row numbers of ``count`` objects; if ``most`` is None there is no limit. A cell *serves*
    the objects in it that are in fewer than ``most`` chosen cells; cells that serve fewer than ``least`` are not
    chosen.

    If cells were chosen beforehand, ``held[i]`` of them contain the i-th object, and their value is ``value0``.

    >>> twice = CoverObjective(np.array([0, 1, 4]), count=6, most=2)
    >>> twice.total(np.array([0, 1, 5])), twice.value(np.array([1, 2, 4]))
    (3.0, 2.0)
    """

    objects: Array
    count: int
    most: int | None = 3
    least: int = 2
    held: Array | None = None
    value0: float = 0.0

    def __post_init__(self) -> None:
        for name in ("objects", "held"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, freeze(np.asarray(getattr(self, name))))

    def total(self, held: Array) -> float:
        """Return the value if ``held[i]`` further cells contain the i-th object."""
        if self.most is None:
            return self.value0 + float(held.sum())
        needed = self.most if self.held is None else np.maximum(self.most - self.held, 0)
        return self.value0 + float(np.minimum(held, needed).sum())

    def value(self, objects: Array) -> float:
        """Return the value of a set of distinct objects, each counted once."""
        return self.total(np.isin(self.objects, objects))


QueryObjective = Weights | CallableObjective | CoverObjective


def get_function_name(function: Callable[..., object]) -> str:
    """Return the name of a function, or the class of any other callable.

    >>> get_function_name(len)
    'len'
    """
    return str(getattr(function, "__name__", type(function).__name__))


def _numbers(name: str, given: object) -> Array:
    """Return numbers as an array that cannot be written to."""
    try:
        return freeze(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"{name} is {quote(given)}, expected a number per object") from None


def _finite(name: str, given: object, least: float = -math.inf) -> float:
    """Return a finite number that is not below the least."""
    number = _number(given)
    if number is None or not math.isfinite(number) or number < least:
        got = quote(given) if number is None else repr(number)
        allowed = "a finite number" if least == -math.inf else f"a finite number of {least:g} or more"
        raise InputError(f"{name} is {got}, expected {allowed}")
    return number


def _number(value: object) -> float | None:
    """Return a single number as a float, or None for anything else: a text, several numbers, a complex one."""
    if not isinstance(value, SupportsFloat) or getattr(value, "ndim", 0) != 0 or isinstance(value, np.complexfloating):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
