"""Limit a cube to the items and links of a time window."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, Links, compute_offsets, row_of_entries, take_rows
from cube2net.cube.building.labels import FINER_THAN_YEARS, MONTH_PATTERN, YEAR_PATTERN
from cube2net.cube.building.links import keep_link_rows
from cube2net.cube.removal import remove_items
from cube2net.cube.views import add_view_throughout, limit_objects
from cube2net.errors import CubeError, ParameterError, Setting, join_names, quote, unknown_name
from cube2net.model.cube import ITEM, TIME, Cube, LinkDetails, record_view, require_own_cells
from cube2net.model.dimension import DimensionSpec
from cube2net.model.items import ItemIndex

MAX_YEAR = 200_000
"""NumPy's dates in microseconds reach a little further."""
Bound = int | str | date | None
SYNTAX = "write 2015..2019, 2015-03..2019-06-30, 2015.. or ..2019, with ATTRIBUTE= before it if the cube has no time"
MONTH_OR_DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
TIME_LABEL = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
LINKS = "links"
"""Stands for an attribute in a window of the links alone."""
TIME_BINS = (*FINER_THAN_YEARS, "years", "decades")


@dataclass(frozen=True)
class Window:
    """A time window from its first to its last year, month, day or number, both included; None is open.

    ``attribute`` is the attribute of the items that holds their time; if empty, it is the cube's.

    >>> Window.parse("2015-03..2019"), str(Window.parse((2015, None)))
    (Window(first='2015-03', last=2019, attribute=''), '2015..')
    """

    first: int | str | date | None
    last: int | str | date | None
    attribute: str = ""

    def __post_init__(self) -> None:
        if self.first is None and self.last is None:
            raise ParameterError(f"a window of time needs a beginning or an end: {SYNTAX}", parameter="between")
        both = [_compute_span(bound) for bound in (self.first, self.last) if bound is not None]
        if len(both) == 2 and both[0][0] >= both[1][1]:
            raise ParameterError(f"the window {str(self)!r} ends before it begins", parameter="between")

    @classmethod
    def parse(cls, between: str | Sequence[Bound] | Window) -> Window:
        """Return the window that a text or a pair describes."""
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
        span = "..".join("" if bound is None else str(bound) for bound in (self.first, self.last))
        return f"{self.attribute}={span}" if self.attribute else span

    def contains(self, times: pa.ChunkedArray, what: str) -> Array:
        """Return which times are inside the window; missing ones are not. ``what`` names the times in errors."""
        kind = times.type
        if pa.types.is_null(kind):
            return np.zeros(len(times), dtype=bool)
        if pa.types.is_string(kind):
            times = _read_texts(times, what)
        if pa.types.is_date(times.type) or pa.types.is_timestamp(times.type):
            return self._contains_instants(times)
        if pa.types.is_integer(times.type) or pa.types.is_floating(times.type):
            return self._contains_numbers(times, what)
        raise ParameterError(f"{what} holds {kind}, expected dates, times or whole numbers such as years")

    def _contains_instants(self, times: pa.ChunkedArray) -> Array:
        """Return which instants are inside, in their own time zone, or in UTC for a bound that has a zone."""
        has_zone = getattr(times.type, "tz", None) is not None
        local = _convert_to_instants(pc.local_timestamp(times) if has_zone else times)
        inside = ~np.isnat(local)
        for bound, compare, end in ((self.first, np.greater_equal, 0), (self.last, np.less, 1)):
            if bound is not None:
                is_absolute = has_zone and isinstance(bound, datetime) and bound.tzinfo is not None
                inside &= compare(_convert_to_instants(times) if is_absolute else local, _compute_span(bound)[end])
        return np.asarray(inside)

    def _contains_numbers(self, times: pa.ChunkedArray, what: str) -> Array:
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
    """Return the cube limited to the items and links of a time window.

    Its cells, members, links and weights equal those of a cube built from these items. Objects, labels and items keep
    their numbers, so queries stay valid: unused labels remain, and bins, levels above and topics are unchanged.
    Items without a time are left out. A given link is included by its own time, else by that of the item that states
    it, else always; but not if only items outside the window mention one of its ends. If links have a time and items
    have none, or with ``links=`` before the window, only links are limited. Items without a label are not counted
    again.

    Only objects that an item in the window or no item at all mentions may be brought into a network; if only links
    have a time, objects with a link in the window. With ``links=`` before the window all objects may.

    Parameters
    ----------
    cube
        A cube that keeps the attributes of its items; also one that was rolled up, sliced or diced.
    window
        A text such as ``"2015..2019"``, ``"2015-03..2019-06-30"``, ``"2015.."`` or ``"date=..2019"``, or a pair of its
        first and last year, month, day or number, None for an open end. Both ends are included.

    Returns
    -------
    Cube
        The view.

    Examples
    --------
    >>> import cube2net as c2n
    >>> cube = c2n.build(c2n.load_bundled(), ["year@years", "venue"])
    >>> between(cube, "2015..2019").settings["views"]
    ['only items of year 2015..2019']
    """
    require_own_cells(cube, "limited to a time")
    return record_view(_limit_to_window(cube, Window.parse(window)), cube, "between", window=window)


def _limit_to_window(cube: Cube, window: Window) -> Cube:
    details = None if cube.details is None else cube.details()
    has_link_times = details is not None and TIME in details.columns
    if window.attribute == LINKS or (has_link_times and not (window.attribute or list_time_attributes(cube))):
        if details is None or not has_link_times:
            raise ParameterError(
                f"the window is of links, and those of the cube have no time: {SYNTAX}", parameter="between"
            )
        left = _keep_links(cube, details, _mark_links_inside(details, window, np.empty(0, dtype=bool)))
        left = left if window.attribute else limit_objects(left, np.diff(left.links.indptr) > 0)
        return add_view_throughout(left, f"only links of {replace(window, attribute='')}, all items")
    if cube.items is None:
        raise CubeError(
            "the cube does not keep its items: build it again to limit it to a time", hint=Setting("items", "all")
        )
    index = cube.items()
    attributes = index.kept_attributes
    name = window.attribute or _find_time_attribute(cube)
    if name not in attributes.names:
        raise unknown_name("attribute", name, attributes.names)
    times = attributes.column(name)
    gone = ~window.contains(times, f"the attribute {name!r}")
    if gone.all():
        cube = _note_no_items(cube, times)
    view = f"only items of {name} {replace(window, attribute='')}"
    stay = _mark_remaining_objects(index, gone, len(cube.objects))
    if index.derived:
        return limit_objects(remove_items(cube, gone, view), stay)
    if has_link_times:
        view += ", and links of that time"
    elif not stay.all():
        view += ", and links of what these mention"
    elif details is None or ITEM not in details.columns:
        view += ", and all links: they have no time"
    if details is None:
        return limit_objects(remove_items(cube if stay.all() else _keep_links_among(cube, stay), gone, view), stay)
    inside = _mark_links_inside(details, window, gone) & stay[details.lower] & stay[details.higher]
    return limit_objects(remove_items(cube if inside.all() else _keep_links(cube, details, inside), gone, view), stay)


def _note_no_items(cube: Cube, times: pa.ChunkedArray) -> Cube:
    """Return the cube with a note in its settings that no item is in the window, and the times that items have."""
    times = pc.drop_null(times)
    note = "no item is of that time: none has a time"
    if len(times):
        ends = pc.min_max(times).as_py()
        note = f"no item is of that time: those of the cube are of {ends['min']} to {ends['max']}"
    return replace(cube, settings={**cube.settings, "no_items": note})


def list_time_attributes(cube: Cube) -> list[str]:
    """Return the attribute that the source names as the time of items, or those that dimensions divide into times."""
    time = str(cube.settings.get("time") or "")
    specs = map(DimensionSpec.parse, cube.settings.get("dimensions", ()))
    return [time] if time else sorted({spec.attribute for spec in specs if spec.bins in TIME_BINS})


def find_time_dimensions(cube: Cube) -> set[int]:
    """Return the numbers of the dimensions whose labels are times."""
    times = set(list_time_attributes(cube))
    specs = {spec.name: spec for spec in map(DimensionSpec.parse, cube.settings.get("dimensions", ()))}
    return {
        number
        for number, dimension in enumerate(cube.dimensions)
        for spec in [specs.get(dimension.levels[0].name)]
        if spec is not None and spec.attribute in times
    }


def list_window_labels(cube: Cube) -> list[str] | None:
    """Return the labels of a cube's time in their order if they can be the ends of a window, or None."""
    times = sorted(find_time_dimensions(cube))
    if cube.items is None or cube.items().load_attributes is None or len(times) != 1:
        return None
    dimension = cube.dimensions[times[0]]
    labels = sorted(dimension.labels)
    return labels if labels and not dimension.is_top and all(map(TIME_LABEL.fullmatch, labels)) else None


def _find_time_attribute(cube: Cube) -> str:
    times = list_time_attributes(cube)
    if len(times) == 1:
        return times[0]
    names = [] if cube.items is None else cube.items().kept_attributes.names
    raise ParameterError(
        "the cube does not know the time of its items: name the attribute, as in 'year=2015..2019' "
        f"(it has {join_names(names)})"
    )


def _mark_links_inside(details: LinkDetails, window: Window, gone: Array) -> Array:
    """Return which links are in a window: by their own time, else by the item that states them, else all."""
    inside = np.ones(len(details), dtype=bool)
    if ITEM in details.columns and len(gone):
        items = details.rows[ITEM]
        stated = np.asarray(pc.is_valid(items))
        inside[stated] = ~gone[items.drop_null().to_numpy()]
    if TIME in details.columns:
        times = details.rows[TIME]
        inside = np.where(np.asarray(pc.is_valid(times)), window.contains(times, "the time of links"), inside)
    return inside


def _mark_remaining_objects(index: ItemIndex, gone: Array, objects: int) -> Array:
    """Return which objects a remaining item mentions, or no item of the cube did."""
    left = np.zeros(objects, dtype=bool)
    left[take_rows(index.objects, np.flatnonzero(gone)).indices] = True
    left[take_rows(index.objects, np.flatnonzero(~gone)).indices] = False
    return ~left


def _keep_links_among(cube: Cube, objects: Array) -> Cube:
    rows = cube.links.rows
    source = row_of_entries(rows)
    keep = objects[source] & objects[rows.indices]
    links = Links(compute_offsets(source[keep], len(rows)), rows.indices[keep], cube.links.weights[keep])
    return _replace_links(cube, links, None)


def _keep_links(cube: Cube, details: LinkDetails, keep: Array) -> Cube:
    links, left = keep_link_rows(details, keep)
    return _replace_links(cube, links, lambda: left)


def _replace_links(cube: Cube, links: Links, details: Callable[[], LinkDetails] | None) -> Cube:
    finest = None if cube.finest is None else _replace_links(cube.finest, links, details)
    return replace(cube, links=links, details=details, finest=finest)


def _parse_bound(value: Bound, window: object) -> int | str | date | None:
    """Return one end of a window: a number or year, a month or day as a text, a date, or None if it is open."""
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
        if MONTH_OR_DAY.fullmatch(text):
            with suppress(ValueError):
                np.datetime64(text)
                return text
    raise ParameterError(
        f"cannot read {quote(value)} in the window {window!r}: {SYNTAX}", parameter="between", value=window
    )


def _compute_span(bound: int | str | date) -> tuple[np.datetime64, np.datetime64]:
    """Return when a year, month, day or instant begins, and when it is over."""
    if isinstance(bound, int):
        year = min(max(bound, -MAX_YEAR), MAX_YEAR) - 1970
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
    """Return the times of texts: whole numbers, or days in ISO 8601, of which months and years are the first ones.

    An empty text is no time.
    """
    texts = pc.utf8_trim_whitespace(times)
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    with suppress(pa.ArrowInvalid):
        return texts.cast(pa.int64())
    month, year = (pc.match_substring_regex(texts, pattern) for pattern in (MONTH_PATTERN, YEAR_PATTERN))
    dates = pc.if_else(month, pc.binary_join_element_wise(texts, "01", "-"), pc.utf8_slice_codeunits(texts, 0, 10))
    dates = pc.if_else(year, pc.binary_join_element_wise(texts, "01-01", "-"), dates)
    try:
        return dates.cast(pa.date32())
    except pa.ArrowInvalid:
        raise ParameterError(
            f"{what} holds texts that are no times, expected dates such as 2015-03-31 or whole numbers"
        ) from None
