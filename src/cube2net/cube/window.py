"""A cube of the items of a time: its cells, and its links, as if there were no others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Links, Ragged, offsets, row_of_entries, take_rows
from cube2net.cube.building.labels import FINER_THAN_YEARS, MONTH, YEAR
from cube2net.cube.building.links import keep_link_rows
from cube2net.cube.removal import remove_items
from cube2net.cube.views import add_view_throughout, limit_objects
from cube2net.errors import CubeError, ParameterError, Setting, listed, quoted, unknown
from cube2net.model.cube import ITEM, TIME, Cube, LinkDetails, record_view, require_own_cells
from cube2net.model.dimension import DimensionSpec
from cube2net.model.items import ItemIndex

FARTHEST = 200_000
"""Years beyond this one are no dates that a machine can hold."""
Bound = int | str | date | None
HOW = "write 2015..2019, 2015-03..2019-06-30, 2015.. or ..2019, with ATTRIBUTE= before it where the cube does not know"
DATED = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
LABEL_OF_TIME = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
LINKS = "links"
"""In the place of an attribute: a window of the links alone."""
SPANS = (*FINER_THAN_YEARS, "years", "decades")
"""Bins that only a time is cut into."""


@dataclass(frozen=True)
class Window:
    """A time from its first to its last year, month, day or number, both inside; None is open.

    ``attribute`` names what of the items says when each was; empty, the cube knows.

    >>> Window.read("2015-03..2019"), str(Window.read((2015, None)))
    (Window(first='2015-03', last=2019, attribute=''), '2015..')
    """

    first: int | str | date | None
    last: int | str | date | None
    attribute: str = ""

    def __post_init__(self) -> None:
        if self.first is None and self.last is None:
            raise ParameterError(f"a window of time needs a beginning or an end: {HOW}", parameter="between")
        both = [_compute_span(bound) for bound in (self.first, self.last) if bound is not None]
        if len(both) == 2 and both[0][0] >= both[1][1]:
            raise ParameterError(f"the window {str(self)!r} ends before it begins", parameter="between")

    @classmethod
    def read(cls, between: str | Sequence[Bound] | Window) -> Window:
        """Return the window that a text or a pair stands for."""
        if isinstance(between, Window):
            return between
        if isinstance(between, str):
            attribute, _, text = between.rpartition("=")
            first, dots, last = text.partition("..")
            return cls(_parse_bound(first, between), _parse_bound(last if dots else first, between), attribute.strip())
        if not isinstance(between, Sequence) or len(between) != 2:
            raise ParameterError(
                f"between is {between!r}, expected a text or a pair such as (2015, 2019)",
                parameter="between",
                value=between,
            )
        return cls(_parse_bound(between[0], between), _parse_bound(between[1], between))

    def __str__(self) -> str:
        said = "..".join("" if bound is None else str(bound) for bound in (self.first, self.last))
        return f"{self.attribute}={said}" if self.attribute else said

    def holds(self, times: pa.ChunkedArray, what: str) -> Array:
        """Return which times are inside; one that is missing is not. ``what`` they are is said of what is no time."""
        kind = times.type
        if pa.types.is_null(kind):
            return np.zeros(len(times), dtype=bool)
        if pa.types.is_string(kind):
            times = _read_texts(times, what)
        if pa.types.is_date(times.type) or pa.types.is_timestamp(times.type):
            return self._holds_instants(times)
        if pa.types.is_integer(times.type) or pa.types.is_floating(times.type):
            return self._holds_numbers(times, what)
        raise ParameterError(f"{what} holds {kind}, expected dates, times or whole numbers such as years")

    def _holds_instants(self, times: pa.ChunkedArray) -> Array:
        """Return which instants are inside: by the clock of their own zone, or by UTC where a bound has a zone."""
        zoned = getattr(times.type, "tz", None) is not None
        here = _convert_to_instants(pc.local_timestamp(times) if zoned else times)
        inside = ~np.isnat(here)
        for bound, compare, end in ((self.first, np.greater_equal, 0), (self.last, np.less, 1)):
            if bound is not None:
                absolute = zoned and isinstance(bound, datetime) and bound.tzinfo is not None
                inside &= compare(_convert_to_instants(times) if absolute else here, _compute_span(bound)[end])
        return np.asarray(inside)

    def _holds_numbers(self, times: pa.ChunkedArray, what: str) -> Array:
        values = np.floor(pc.cast(times, pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        inside = ~np.isnan(values)
        for bound, compare in ((self.first, np.greater_equal), (self.last, np.less_equal)):
            if bound is not None and not isinstance(bound, int):
                raise ParameterError(
                    f"{what} holds whole numbers such as years, and the window has {str(bound)!r}", parameter="between"
                )
            if bound is not None:
                inside &= compare(values, bound)
        return np.asarray(inside)


def between(cube: Cube, window: str | Sequence[Bound] | Window) -> Cube:
    """Return the cube of the items in a window of time, and of the links that are of that time.

    It equals a cube built of these items: in its cells and small cells, their labels and members, and in its links and
    their weights. Objects, labels and items keep their numbers, so that queries stay valid: labels that none of the
    items has are still there; bins, levels above and the topics are those of the whole. An item without a time is in
    no window. Of links that were given one with a time is in by that, one without by the item that states it, and one
    with neither stays; but none is in whose end only items outside mention (objects that no item of the cube mentions
    keep theirs). Where links have a time and nothing says when items were, or with ``links=`` before the window, only
    links are limited. How many items lack a label is not counted anew.

    Only objects that an item of the window mentions may be brought into a network, and those that no item of the cube
    does; where links alone have a time, those with a link of that time. With ``links=`` before the window all may.

    Parameters
    ----------
    cube
        A cube that keeps the attributes of its items; also one that was rolled up, sliced or diced.
    window
        A text such as ``"2015..2019"``, ``"2015-03..2019-06-30"``, ``"2015.."`` or ``"date=..2019"``, or a pair of its
        first and last year, month, day or number, None for an open end. Both ends are inside.
    """
    require_own_cells(cube, "limited to a time")
    return record_view(_limit_to_window(cube, Window.read(window)), cube, "between", window=window)


def _limit_to_window(cube: Cube, asked: Window) -> Cube:
    details = None if cube.details is None else cube.details()
    timed = details is not None and TIME in details.columns
    if asked.attribute == LINKS or (timed and not (asked.attribute or times_of(cube))):
        if details is None or not timed:
            raise ParameterError(
                f"the window is of links, and those of the cube have no time: {HOW}", parameter="between"
            )
        left = _keep_links(cube, details, _mark_links_inside(details, asked, np.empty(0, dtype=bool)))
        left = left if asked.attribute else limit_objects(left, np.diff(left.links.indptr) > 0)
        return add_view_throughout(left, f"only links of {replace(asked, attribute='')}, all items")
    if cube.items is None:
        raise CubeError(
            "the cube does not keep its items: build it again to limit it to a time", hint=Setting("items", "all")
        )
    index = cube.items()
    attributes = index.kept_attributes
    name = asked.attribute or _find_time(cube)
    if name not in attributes.names:
        raise unknown("attribute", name, attributes.names)
    times = attributes.column(name)
    gone = ~asked.holds(times, f"the attribute {name!r}")
    if gone.all():
        cube = _note_no_items(cube, times)
    view = f"only items of {name} {replace(asked, attribute='')}"
    stay = _mark_remaining_objects(index, gone, len(cube.objects))
    if index.derived:
        return limit_objects(remove_items(cube, gone, view), stay)
    told = details is not None and bool({TIME, ITEM}.intersection(details.columns))
    if timed:
        view += ", and links of that time"
    elif not stay.all():
        view += ", and links of what these mention"
    elif not told:
        view += ", and all links: they have no time"
    if details is None:
        return limit_objects(remove_items(cube if stay.all() else _keep_links_among(cube, stay), gone, view), stay)
    inside = _mark_links_inside(details, asked, gone) & stay[details.lower] & stay[details.higher]
    return limit_objects(remove_items(cube if inside.all() else _keep_links(cube, details, inside), gone, view), stay)


def _note_no_items(cube: Cube, times: pa.ChunkedArray) -> Cube:
    """Return the cube whose settings say that no item is of a time that was asked for, and of what times items are."""
    known = pc.drop_null(times)
    ends = pc.min_max(known).as_py() if len(known) else {"min": None, "max": None}
    theirs = f": those of the cube are of {ends['min']} to {ends['max']}" if len(known) else ": none has a time"
    return replace(cube, settings={**cube.settings, "no_items": f"no item is of that time{theirs}"})


def times_of(cube: Cube) -> list[str]:
    """Return the attribute that says when items were, as the source said; or those that dimensions cut into times."""
    said_so = str(cube.settings.get("time") or "")
    specs = map(DimensionSpec.parse, cube.settings.get("dimensions", ()))
    return [said_so] if said_so else sorted({spec.attribute for spec in specs if spec.bins in SPANS})


def time_dimensions(cube: Cube) -> set[int]:
    """Return the numbers of the dimensions whose labels are times."""
    times = set(times_of(cube))
    specs = {spec.name: spec for spec in map(DimensionSpec.parse, cube.settings.get("dimensions", ()))}
    return {
        number
        for number, dimension in enumerate(cube.dimensions)
        for spec in [specs.get(dimension.levels[0].name)]
        if spec is not None and spec.attribute in times
    }


def window_labels(cube: Cube) -> list[str] | None:
    """Return the labels of a cube's time in their order, where these can be the ends of a window; None else."""
    times = sorted(time_dimensions(cube))
    if cube.items is None or cube.items().load_attributes is None or len(times) != 1:
        return None
    dimension = cube.dimensions[times[0]]
    labels = sorted(dimension.labels)
    return labels if labels and not dimension.is_top and all(map(LABEL_OF_TIME.fullmatch, labels)) else None


def _find_time(cube: Cube) -> str:
    times = times_of(cube)
    if len(times) == 1:
        return times[0]
    names = [] if cube.items is None else cube.items().kept_attributes.names
    raise ParameterError(
        "the cube does not know when its items were: name the attribute, as in 'year=2015..2019' "
        f"(it has {listed(names)})"
    )


def _mark_links_inside(details: LinkDetails, window: Window, gone: Array) -> Array:
    """Return which links are of a time: by their own, or else by the item that states them, or else all."""
    inside = np.ones(len(details), dtype=bool)
    if ITEM in details.columns and len(gone):
        items = details.rows[ITEM]
        stated = np.asarray(pc.is_valid(items))
        inside[stated] = ~gone[items.drop_null().to_numpy()]
    if TIME in details.columns:
        times = details.rows[TIME]
        inside = np.where(np.asarray(pc.is_valid(times)), window.holds(times, "the time of links"), inside)
    return inside


def _mark_remaining_objects(index: ItemIndex, gone: Array, objects: int) -> Array:
    """Return which objects an item that is not gone mentions, and those that no item ever did."""
    left = np.zeros(objects, dtype=bool)
    left[take_rows(index.objects, np.flatnonzero(gone)).indices] = True
    left[take_rows(index.objects, np.flatnonzero(~gone)).indices] = False
    return ~left


def _keep_links_among(cube: Cube, objects: Array) -> Cube:
    rows = Ragged(cube.links.indptr, cube.links.indices)
    source = row_of_entries(rows)
    keep = objects[source] & objects[rows.indices]
    links = Links(offsets(source[keep], len(rows)), rows.indices[keep], cube.links.weights[keep])

    def limited(one: Cube) -> Cube:
        return replace(one, links=links, finest=None if one.finest is None else limited(one.finest))

    return limited(cube)


def _keep_links(cube: Cube, details: LinkDetails, keep: Array) -> Cube:
    """Return the cube with only some of the links that were given one by one."""
    links, left = keep_link_rows(details, keep)

    def limited(one: Cube) -> Cube:
        finest = None if one.finest is None else limited(one.finest)
        return replace(one, links=links, details=lambda: left, finest=finest)

    return limited(cube)


def _parse_bound(value: Bound, window: object) -> int | str | date | None:
    """Return one end of a window: a number or year, a month or day as a text, a date, or None where it is open."""
    if value is None or isinstance(value, date):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(r"[+-]?\d{1,15}", text):
            return int(text)
        if not text:
            return None
        if DATED.fullmatch(text):
            try:
                np.datetime64(text)
            except ValueError:
                pass
            else:
                return text
    raise ParameterError(
        f"cannot read {quoted(value)} in the window {window!r}: {HOW}", parameter="between", value=window
    )


def _compute_span(bound: int | str | date) -> tuple[np.datetime64, np.datetime64]:
    """Return when a year, month, day or instant begins, and when it is over."""
    if isinstance(bound, int):
        year = min(max(bound, -FARTHEST), FARTHEST) - 1970
        start, end = np.datetime64(year, "Y"), np.datetime64(year + 1, "Y")
    elif isinstance(bound, datetime):
        start = np.datetime64(bound.astimezone(UTC).replace(tzinfo=None) if bound.tzinfo else bound, "us")
        end = start + 1
    else:
        start = np.datetime64(bound)
        end = start + 1
    return start.astype("datetime64[us]"), end.astype("datetime64[us]")


def _convert_to_instants(times: pa.ChunkedArray) -> Array:
    values = pc.cast(times, pa.timestamp("us", getattr(times.type, "tz", None))).to_numpy()
    return np.asarray(values, dtype="datetime64[us]")


def _read_texts(times: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """Return times that are written as texts: whole numbers, or dates as the ISO writes them, by their day there.

    A month stands for its first day, a year among dates likewise; an empty text is no time.
    """
    texts = pc.utf8_trim_whitespace(times)
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        pass
    month, year = (pc.match_substring_regex(texts, pattern) for pattern in (MONTH, YEAR))
    whole = pc.if_else(month, pc.binary_join_element_wise(texts, "01", "-"), pc.utf8_slice_codeunits(texts, 0, 10))
    whole = pc.if_else(year, pc.binary_join_element_wise(texts, "01-01", "-"), whole)
    try:
        return whole.cast(pa.date32())
    except pa.ArrowInvalid:
        raise ParameterError(
            f"{what} holds texts that are no times, expected dates such as 2015-03-31 or whole numbers"
        ) from None
