"""HTML and pictures of cubes, networks and results."""

from __future__ import annotations

import base64
import html
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from cube2net._util.files import write_files
from cube2net._util.text import format_count, shorten
from cube2net.api.compare import results
from cube2net.api.export import describe_network, picture_text
from cube2net.errors import ParameterError, check_int
from cube2net.model.change import Change
from cube2net.model.comparison import Comparison
from cube2net.model.contrast import Contrast, Description, Drilled
from cube2net.model.cube import Cube
from cube2net.model.dimension import Dimension
from cube2net.model.interfaces import check_path
from cube2net.model.network import Network
from cube2net.model.node_names import cell_line
from cube2net.model.query import Query
from cube2net.model.selection import Selection
from cube2net.model.suggestion import Suggestion
from cube2net.network.assembly import format_certificate, summarize
from cube2net.network.drawing.picture import format_size

MAX_NAME_LENGTH = 80
"""Maximum number of letters of a name."""
MAX_SENTENCE_LENGTH = 400
"""Maximum number of letters of a sentence in a table."""


def escape(text: object, most: int = MAX_NAME_LENGTH) -> str:
    r"""Return a text for HTML, on one line: nothing in it is markup, and what cannot be seen is left out.

    >>> escape("<b>\u202eAT&T\n"), escape("abcdef", 4)
    ('&lt;b&gt;AT&amp;T', 'abc…')
    """
    return html.escape(shorten(str(text), most))


def sentence(text: object, *, faint: bool = False) -> str:
    """Return a sentence as a paragraph, escaped for HTML."""
    style = "margin:4px 0;opacity:0.75" if faint else "margin:4px 0"
    return f'<p style="{style}">{escape(text, 4_000)}</p>'


def headline(word: str, rest: str) -> str:
    """Return the first line of a page: the kind of the record, and its size."""
    return f'<p style="margin:4px 0"><b>{escape(word)}</b> {escape(rest, 400)}</p>'


def code_examples(*lines: tuple[str, str]) -> str:
    """Return a line of code examples, each with its purpose."""
    examples = " · ".join(f"{escape(purpose)} <code>{escape(code, 200)}</code>" for purpose, code in lines)
    return f'<p style="margin:4px 0;opacity:0.75">{examples}</p>'


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Iterable[str] = (),
    prose: Iterable[str] = (),
    more: str = "",
) -> str:
    """Return a table; ``right`` names columns of numbers, ``prose`` of sentences, ``more`` says what is not shown."""
    numbers = [head in set(right) for head in heads]
    lengths = [MAX_SENTENCE_LENGTH if head in set(prose) else MAX_NAME_LENGTH for head in heads]
    top = "".join(_cell("th", head, number, line="1px solid") for head, number in zip(heads, numbers, strict=True))
    body = "".join(f"<tr>{''.join(map(partial(_cell, 'td'), row, numbers, lengths))}</tr>" for row in rows)
    below = sentence(more, faint=True) if more else ""
    return (
        '<table style="border-collapse:collapse;margin:4px 0;text-align:left">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{below}"
    )


def _cell(tag: str, value: object, is_number: bool, most: int = MAX_NAME_LENGTH, *, line: str = "") -> str:
    side = "right;white-space:nowrap" if is_number else "left"
    border = f";border-bottom:{line}" if line else ""
    return f'<{tag} style="text-align:{side};padding:2px 10px 2px 0{border}">{escape(value, most)}</{tag}>'


def page(*parts: str) -> str:
    """Return the parts of a page in one frame, so that a notebook's own rules reach no further."""
    return f'<div class="cube2net" style="max-width:100%;overflow:auto">{"".join(parts)}</div>'


DEFAULT_WIDTH, MIN_WIDTH, MAX_WIDTH = 760, 200, 10_000
ENDING = ".svg"

_picture_cache: WeakKeyDictionary[Network, dict[tuple[str, int], Picture]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Picture:
    """A picture: ``svg`` is its text; a notebook shows it as an image, also where it is not trusted.

    ``alt`` says what is on it to those who do not see it.
    """

    svg: str = field(repr=False)
    alt: str
    width: int = DEFAULT_WIDTH

    def _repr_html_(self) -> str:
        return self.tag

    @property
    def source(self) -> str:
        """The picture as an address that carries it."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}"

    @property
    def tag(self) -> str:
        """The picture as an ``<img>``."""
        return (
            f'<img src="{self.source}" alt="{escape(self.alt, 400)}" width="{self.width}" '
            'style="max-width:100%;height:auto">'
        )

    def save(self, path: str | Path) -> Path:
        """Write the picture to an ``.svg`` file atomically and return its path."""
        place = check_path(path, "the file of the picture")
        if place.suffix.lower() != ENDING:
            raise ParameterError(
                f"the picture is written as {ENDING}, got {place.name!r} (network.plot(path) writes .png and .pdf too)"
            )
        return write_files({place: self._write})[0]

    def _write(self, path: Path) -> None:
        path.write_bytes(self.svg.encode())


def draw_picture(network: Network, title: str | None = None, width: int = DEFAULT_WIDTH) -> Picture:
    """Return a picture of a network; the same request again gives the same picture at once."""
    check_int("width", width, MIN_WIDTH, MAX_WIDTH)
    pictures = _picture_cache.setdefault(network, {})
    key = title or "", width
    if key not in pictures:
        pictures[key] = Picture(
            picture_text(network, title=key[0], width=width), _describe_picture(network, key[0]), width
        )
    return pictures[key]


def _describe_picture(network: Network, title: str) -> str:
    description = f"{title}: {describe_network(network)}" if title else describe_network(network)
    counts = Counter(network.query.labels or ())
    labels = ", ".join(f"{shorten(label, 40)} ({count:,})" for label, count in counts.most_common(6))
    return f"{description}; coloured by label: {labels}" if labels else description


MAX_ROWS = 10
"""Maximum number of rows of a table."""

MAX_DRAWN_NODES = 5_000
"""Larger networks are not drawn automatically, because their layout takes seconds."""

_results_cache: WeakKeyDictionary[Comparison, dict[str, Any]] = WeakKeyDictionary()


def make_html(record: object) -> str | None:
    """Return the HTML of a record, or None if it has none."""
    make = PAGES.get(type(record).__name__)
    return None if make is None else make(record)


def cube_page(cube: Cube) -> str:
    """Return the dimensions of a cube with their levels, how large it is, and whose data it has."""
    settings = cube.settings
    least = settings.get("min_objects")
    size = f"{format_count(len(cube.cells), 'cell')}{f' of {least:,} objects or more' if least else ''}"
    views = settings.get("views", ())
    attribution = settings.get("attribution", "")
    return page(
        headline("Cube", f"{len(cube.objects):,} objects in {size}, {cube.links.count:,} links"),
        table(
            ("dimension", "levels, finest first", "labels", "such as"),
            [
                (dimension.name, _levels(dimension), f"{len(dimension.labels):,}", _first_labels(dimension))
                for dimension in cube.dimensions
            ],
            right=("labels",),
        ),
        sentence(f"a view: {'; '.join(views)}", faint=True) if views else "",
        sentence(f"data: {attribution}", faint=True) if attribution else "",
        code_examples(("a network:", "c2n.construct(cube, query)"), ("look around:", "c2n.explore(cube)")),
    )


def query_page(query: Query) -> str:
    """Return how many objects a query has by label, and the names that were not found."""
    counts = Counter(query.labels or ())
    labels = f", {len(counts):,} label{'s' * (len(counts) != 1)}" if counts else ""
    parts = [headline("Query", f"{len(query):,} object{'s' * (len(query) != 1)}{labels}")]
    if counts:
        shown = counts.most_common(MAX_ROWS)
        rows = [(label or "no label", f"{count:,}") for label, count in shown]
        parts.append(
            table(("label", "objects"), rows, right=("objects",), more=_describe_omitted(len(counts), "labels"))
        )
    elif query.ids is not None:
        ids = ", ".join(str(each) for each in query.ids[:MAX_ROWS].to_pylist())
        parts.append(sentence(f"{ids}{_describe_omitted(len(query), 'objects', ' … ')}"))
    if query.missing:
        names = ", ".join(query.missing[:MAX_ROWS])
        parts.append(
            sentence(
                f"{len(query.missing):,} not found: {names}{_describe_omitted(len(query.missing), 'names', ' … ')}"
            )
        )
    return page(*parts)


def selection_page(selection: Selection) -> str:
    """Return the cells of a selection in the order chosen, and how good the choice is."""
    cells, objects = len(selection.cells), len(selection.objects)
    counts = f"{cells:,} cell{'s' * (cells != 1)}, {objects:,} object{'s' * (objects != 1)}"
    size = f"{counts}, value {selection.value:.4f}"
    gains, values = selection.gains().tolist(), selection.values.tolist()
    named = [cell_line(labels) for labels in selection.labels] or selection.cells.tolist()
    rows = [
        (rank, cell, f"{gain:.4g}", f"{value:.4g}")
        for rank, (cell, gain, value) in enumerate(zip(named, gains, values, strict=True), 1)
    ][:MAX_ROWS]
    heads = ("rank", "cell", "gain", "value")
    numbers = ("rank", "gain", "value") if selection.labels else heads
    return page(
        headline("Selection", size),
        _certificate(selection),
        sentence(selection.note) if selection.note else "",
        table(heads, rows, right=numbers, more=_describe_omitted(len(selection.cells), "cells")) if rows else "",
        code_examples(("labels of a cell:", "cube.cell(number)")) if rows and not selection.labels else "",
    )


def network_page(network: Network) -> str:
    """Return the picture of a network, its first cells, and how to go on."""
    size = format_size(network)
    if len(network) <= MAX_DRAWN_NODES:
        picture = draw_picture(network).tag
    else:
        picture = sentence(f"{len(network):,} nodes are drawn when asked for, by network.plot()", faint=True)
    selection = network.selection
    return page(
        headline("Network", size),
        picture,
        _certificate(selection, is_count=network.settings.get("objective") == "cover"),
        sentence(selection.note) if selection.note else "",
        _cells(network),
        code_examples(
            ("why:", "c2n.explain(network)"),
            ("as frames:", "network.to_pandas()"),
            ("a file:", 'network.save("network.graphml")'),
        ),
    )


def comparison_page(comparison: Comparison) -> str:
    """Return the scores of every configuration with their intervals, and the verdict."""
    if comparison not in _results_cache:
        _results_cache[comparison] = results(comparison)
    summary = _results_cache[comparison]
    scores = {
        (entry["configuration"], entry["measure"]): _interval(entry)
        for entry in summary["estimates"]
        if entry["model"] == "all"
    }
    order = {entry["one"]: -entry["mean"] for entry in summary["differences"]}
    alone = comparison.configurations[0].name
    names = sorted({name for name, _ in scores}, key=lambda name: (name != alone, order.get(name, 0.0), name))
    rows = [
        (name, _nodes(comparison, name), *(scores.get((name, measure), "–") for measure in summary["measures"]))
        for name in names[: MAX_ROWS + 1]
    ]
    heads = ("configuration", "nodes", *summary["measures"])
    failed, verdict = summary["failed"], summary["verdict"]["sentence"]
    notes = [entry["note"] for entry in summary["degenerate"] if entry["note"] not in verdict]
    return page(
        headline("Comparison", comparison.size),
        sentence(verdict),
        table(heads, rows, right=heads[1:], more=_describe_omitted(len(names), "configurations", most=MAX_ROWS + 1)),
        *(sentence(note, faint=True) for note in notes[:3]),
        *(sentence(f"{name} failed: {'; '.join(reasons)}", faint=True) for name, reasons in list(failed.items())[:3]),
        code_examples(("the report:", 'comparison.write_report("report", cube, query)')),
    )


def verdict_page(verdict: Any) -> str:
    """Return the sentence of a verdict."""
    return page(
        headline("Verdict", "it helps" if verdict.helps else "not significantly better"), sentence(verdict.sentence)
    )


def suggestion_page(suggestion: Suggestion) -> str:
    """Return the dimensions proposed, why, what every attribute would become, and how to build with them."""
    rows = [
        (each.name, each.kind, f"{each.distinct:,}", str(each.dimension or "–"), each.reason)
        for each in suggestion.attributes
    ]
    heads = ("attribute", "kind", "values", "dimension", "why")
    names = ", ".join(f'"{spec}"' for spec in suggestion.dimensions)
    return page(
        headline("Suggestion", suggestion.describe() or "no dimensions"),
        sentence(suggestion.reason) if suggestion.reason else "",
        *map(sentence, suggestion.explanations),
        table(
            heads,
            rows[:MAX_ROWS],
            right=("values",),
            prose=("dimension", "why"),
            more=_describe_omitted(len(rows), "attributes"),
        )
        if rows
        else "",
        code_examples(("a cube:", f"c2n.build(…, dimensions=[{names}])")) if names else "",
    )


def explanation_page(explanation: Any) -> str:
    """Return the sentence of an explanation."""
    return page(headline("Why", ""), sentence(explanation.sentence))


def change_page(change: Change) -> str:
    """Return the sentence of a change, and how to get the new network."""
    return page(headline("Change", ""), sentence(change.sentence), code_examples(("the network:", "change.network")))


def drilled_page(drilled: Drilled) -> str:
    """Return the cells below another with their counts, and what is left over."""
    rows = [
        (*cell.labels, f"{cell.query_objects:,}", f"{cell.new:,}", f"{cell.objects:,}", f"{cell.lift:.1f}")
        for cell in drilled.cells[:MAX_ROWS]
    ]
    counts = ("of the query", "new", "objects", "lift")
    more = _describe_omitted(len(drilled.cells), "cells")
    return page(
        headline("Drilled", drilled.title),
        sentence(drilled.sentence),
        table((*drilled.dimensions, *counts), rows, right=counts, more=more) if rows else "",
    )


def contrast_page(contrast: Contrast) -> str:
    """Return the sentences of a contrast: one for the whole, and one for every cell."""
    more = _describe_omitted(len(contrast.cells), "cells")
    return page(
        headline("Contrast", " and ".join(contrast.names)),
        sentence(contrast.sentence),
        *(sentence(text, faint=True) for text in contrast.sentences[:MAX_ROWS]),
        sentence(more, faint=True) if more else "",
        code_examples(("the network:", "contrast.network")),
    )


def description_page(description: Description) -> str:
    """Return one sentence for each group of a description."""
    sentences = [each.sentence for each in description.contrasts]
    notes = [_describe_omitted(len(sentences), "groups"), description.note]
    return page(
        headline("Description", description.size),
        *map(sentence, sentences[:MAX_ROWS]),
        *(sentence(note, faint=True) for note in notes if note),
        code_examples(("the network:", "description.network")),
    )


PAGES: dict[str, Callable[[Any], str]] = {
    "Cube": cube_page,
    "Query": query_page,
    "Selection": selection_page,
    "Network": network_page,
    "Comparison": comparison_page,
    "Verdict": verdict_page,
    "Suggestion": suggestion_page,
    "ObjectExplanation": explanation_page,
    "CellExplanation": explanation_page,
    "ValueAccount": explanation_page,
    "Change": change_page,
    "Drilled": drilled_page,
    "Contrast": contrast_page,
    "Description": description_page,
}
"""The function that makes the page of a record, by the name of its class."""


def _levels(dimension: Dimension) -> str:
    if dimension.is_top:
        return "∗"
    levels = (dimension.levels[at] for at in dimension.at_or_above())
    return " → ".join(f"{level.name} ({len(level.labels):,})" for level in levels)


def _first_labels(dimension: Dimension) -> str:
    shown = ", ".join(dimension.labels[:4])
    return f"{shown}, …" if len(dimension.labels) > 4 else shown


def _certificate(selection: Selection, *, is_count: bool = False) -> str:
    if selection.bound is None or selection.gap is None:
        return ""
    return sentence(format_certificate(selection.bound, selection.gap, selection.proven, is_count=is_count))


def _cells(network: Network) -> str:
    """Return the first cells of a network: what each added, how large it is, and its share of the query."""
    if network.context is None or not len(network.selection.cells):
        return ""
    facts = summarize(network)["cells"]
    rows = [
        (
            rank,
            *cell["labels"].values(),
            f"{cell['gain']:.4g}",
            f"{cell['objects']:,}",
            f"{cell['query_objects']:,} ({cell['query_objects'] / len(network.query):.0%})",
        )
        for rank, cell in enumerate(facts[:MAX_ROWS], 1)
    ]
    heads = ("", *network.dimensions, "gain", "objects", "of the query")
    return table(
        heads, rows, right=("", "gain", "objects", "of the query"), more=_describe_omitted(len(facts), "cells")
    )


def _nodes(comparison: Comparison, config: str) -> str:
    count = comparison.nodes(comparison.named(config))
    return "–" if count != count else f"{count:,.0f}"


def _interval(estimate: dict[str, Any]) -> str:
    mean, low, high = (estimate[name] for name in ("mean", "low", "high"))
    if mean is None:
        return "–"
    return f"{mean:.3f}" if low is None or high is None else f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def _describe_omitted(count: int, what: str, before: str = "", most: int = MAX_ROWS) -> str:
    return f"{before}and {count - most:,} more {what}" if count > most else ""
