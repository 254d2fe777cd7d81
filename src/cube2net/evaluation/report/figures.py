"""The plots of the report as plotly figures: scores by the number of cells and by size, panels for links, networks."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.random import stream
from cube2net._util.text import replace_controls
from cube2net.evaluation.report.tables import find_alone, main_configurations
from cube2net.evaluation.statistics import Estimate, Estimates, list_shown_models
from cube2net.model.comparison import FLOOR, Comparison, Configuration, Trial
from cube2net.model.network import Drawing, Network

INK, MUTED, GRID, PAPER, RIM, FAINT, CELL = "#1f2328", "#63676e", "#e3e1dc", "#ffffff", "#8c8c8c", "#c4c2bd", "#f3dfa2"
LABELS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow and black."""

COLOURS = (*LABELS, "#882255", "#999933", "#6B5BB5")
DARK = {
    INK: "#e8e6e1",
    MUTED: "#a3a6ab",
    GRID: "#34373c",
    PAPER: "#1b1e22",
    RIM: "#9a9da3",
    FAINT: "#55585e",
    CELL: "#8a742c",
    "#0072B2": "#3F9BE0",
    "#56B4E9": "#A8DCFF",
    "#D55E00": "#F0813A",
    "#009E73": "#2FC49A",
    "#882255": "#C65B93",
    "#6B5BB5": "#9D8FE6",
}
"""What each colour becomes on a dark page; the others serve on both."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"

SYMBOLS = {"objects": "circle", "cells": "square", "cells+objects": "diamond", "hybrid": "star"}
DASHES = ("solid", "dash", "dashdot", "longdash")
SCORE = "%{y:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]"


def safe(text: str, most: int = 80) -> str:
    """Return a text on one line, cut where it is long, that plotly shows as it stands.

    >>> safe("<b>A & B</b>")
    '&lt;b&gt;A &amp; B&lt;/b&gt;'
    """
    line = " ".join(replace_controls(text).split())
    return html.escape(line if len(line) <= most else line[: most - 1].rstrip() + "…", quote=False)


def faint(colour: str, alpha: float) -> str:
    """Return a colour that lets shine through what is behind it.

    >>> faint("#0072B2", 0.2)
    'rgba(0,114,178,0.2)'
    """
    return "rgba({},{},{},{})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)), alpha)


def blank(**layout: Any) -> Any:
    """Return an empty figure with our looks: no background, our letters, room for nothing but the plot."""
    import plotly.graph_objects as go

    looks = {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13, "color": INK},
        "margin": {"l": 56, "r": 12, "t": 34, "b": 48},
        "hoverlabel": {"bgcolor": PAPER, "bordercolor": RIM, "font": {"color": INK, "family": FONT, "size": 13}},
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": RIM, "activecolor": INK},
        "height": 380,
    }
    return go.Figure(layout=looks | layout)


def sweep(comparison: Comparison, estimates: Estimates, *, model: str = "", measure: str = "") -> Any:
    """Return scores by the number of cells, a line for configurations that differ only in it; None where none do.

    Bands are 95 % intervals. The best line of every method is seen at first, and beside the highest those as large as
    it, which stand at its numbers of cells; others are named in the legend.
    """
    model, measure = model or list_shown_models(comparison)[0], measure or comparison.measures[0]
    lines: dict[Configuration, list[tuple[int, Estimate]]] = {}
    for config in comparison.configurations:
        like = next((other for other in comparison.configurations if other.name == config.like), None)
        m = like.n_cells if like else config.n_cells
        if m and (config, model, measure) in estimates:
            key = replace(config, n_cells=0, like=like.title) if like else replace(config, n_cells=0)
            lines.setdefault(key, []).append((m, estimates[config, model, measure]))
    lines = {key: sorted(points, key=lambda point: point[0]) for key, points in lines.items() if len(points) > 1}
    if not lines:
        return None
    figure = frame("cells chosen", measure)
    ranked = sorted(lines, key=lambda key: -max(found.mean for _, found in lines[key]))
    top = next((key for key in ranked if not key.like), ranked[0])
    ranked = [key for key in ranked if not key.like or key.like == top.title]
    first = {key.method: key for key in reversed(ranked)}
    objectives = dict.fromkeys(config.objective for config in comparison.configurations if config.n_cells)
    dashes = {name: DASHES[number % len(DASHES)] for number, name in enumerate(objectives)}
    for key in ranked:
        points, title = lines[key], key.title
        colour = colour_of(comparison, key.method)
        visible = True if key.like or first[key.method] == key else "legendonly"
        band(figure, [m for m, _ in points], [found for _, found in points], colour, title, visible)
        figure.add_scatter(
            x=[m for m, _ in points],
            y=[found.mean for _, found in points],
            mode="lines+markers",
            name=safe(title),
            legendgroup=safe(title),
            line={"color": colour, "width": 2, "dash": "dot" if key.like else dashes[key.objective]},
            marker={"color": colour, "size": 8, "symbol": SYMBOLS.get(key.form, "circle")},
            visible=visible,
            customdata=[[found.low, found.high] for _, found in points],
            hovertemplate=f"m %{{x}}: {SCORE}",
        )
    _query_alone(figure, comparison, estimates, model, measure)
    figure.update_xaxes(tickvals=sorted({m for key in ranked for m, _ in lines[key]}))
    return figure


def score_by_size(
    comparison: Comparison,
    estimates: Estimates,
    *,
    best: Configuration | None = None,
    model: str = "",
    measure: str = "",
) -> Any:
    """Return the score of every configuration against the nodes of its network, with the query alone as a line."""
    model, measure = model or list_shown_models(comparison)[0], measure or comparison.measures[0]
    figure = frame("nodes", measure)
    _query_alone(figure, comparison, estimates, model, measure)
    places = {
        config: (comparison.nodes(config), found) for config, found in _scores(comparison, estimates, model, measure)
    }
    methods = list(dict.fromkeys(config.method for config in places if config.method != "none"))
    for method in methods:
        colour = colour_of(comparison, method)
        own = [config for config in places if config.method == method]
        scores = [places[config][1] for config in own]
        shapes = [SYMBOLS.get(config.form, "circle") + ("-open" if config.like else "") for config in own]
        figure.add_scatter(
            x=[places[config][0] for config in own],
            y=[found.mean for found in scores],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [found.high - found.mean for found in scores],
                "arrayminus": [found.mean - found.low for found in scores],
                "color": faint(colour, 0.35),
                "thickness": 1,
                "width": 0,
            },
            mode="markers",
            name=safe(method),
            legendgroup=safe(method),
            marker={"color": colour, "size": 9, "symbol": shapes, "line": {"width": 1.5, "color": colour}},
            text=[safe(config.name) for config in own],
            customdata=[[found.low, found.high] for found in scores],
            hovertemplate=f"%{{text}}<br>%{{x:,}} nodes: {SCORE}<extra></extra>",
        )
    if best is not None and best in places and best.method != "none":
        x, found = places[best]
        ring = {"size": 19, "symbol": "circle-open", "color": INK, "line": {"width": 1.6}}
        figure.add_scatter(x=[x], y=[found.mean], mode="markers", marker=ring, showlegend=False, hoverinfo="skip")
    steps = _steps([x for x, _ in places.values()])
    figure.update_xaxes(type="log", tickvals=steps, ticktext=[f"{step:,}" for step in steps])
    return figure


def colour_of(comparison: Comparison, method: str) -> str:
    """Return the colour of a method, the same in all plots of a comparison."""
    methods = list(dict.fromkeys(config.method for config in comparison.configurations if config.method != "none"))
    return COLOURS[methods.index(method) % len(COLOURS)] if method in methods else MUTED


def frame(x: str, y: str) -> Any:
    """Return an empty figure with two named axes."""
    figure = blank()
    axis = {"gridcolor": GRID, "linecolor": RIM, "zeroline": False, "tickfont": {"color": MUTED}, "automargin": True}
    figure.update_xaxes(title={"text": safe(x), "standoff": 8}, showline=True, showgrid=False, ticks="outside", **axis)
    figure.update_xaxes(tickcolor=RIM)
    figure.update_yaxes(title={"text": safe(y), "standoff": 8}, **axis)
    return figure


def _scores(
    comparison: Comparison, estimates: Estimates, model: str, measure: str
) -> list[tuple[Configuration, Estimate]]:
    found = ((config, estimates.get((config, model, measure))) for config in comparison.configurations)
    return [(config, score) for config, score in found if score is not None]


def _steps(values: Sequence[float]) -> list[int]:
    """Return numbers to write along a logarithmic axis: round ones, or the ends where there are hardly any between.

    >>> _steps([90, 600, 2100]), _steps([116, 156])
    ([100, 200, 500, 1000, 2000], [116, 156])
    """
    low, high = min(values, default=1.0), max(values, default=1.0)
    steps = [digit * 10**power for power in range(10) for digit in (1, 2, 5) if low <= digit * 10**power <= high]
    return steps if len(steps) > 1 else sorted({round(low), round(high)})


def band(figure: Any, x: list[int], scores: list[Estimate], colour: str, title: str, visible: bool | str) -> None:
    """Draw intervals as a band behind a line."""
    figure.add_scatter(
        x=x + x[::-1],
        y=[found.high for found in scores] + [found.low for found in reversed(scores)],
        fill="toself",
        fillcolor=faint(colour, 0.12),
        mode="none",
        hoverinfo="skip",
        showlegend=False,
        legendgroup=safe(title),
        visible=visible,
    )


def _query_alone(figure: Any, comparison: Comparison, estimates: Estimates, model: str, measure: str) -> None:
    """Draw the score of the query alone, which all others are measured against, as a line with its interval."""
    alone = find_alone(comparison)
    found = estimates.get((alone, model, measure)) if alone else None
    if found is None:
        return
    figure.add_hrect(y0=found.low, y1=found.high, fillcolor=faint(RIM, 0.14), line_width=0, layer="below")
    figure.add_hline(y=found.mean, line={"color": MUTED, "width": 1.5, "dash": "dash"}, layer="below")
    figure.add_annotation(
        x=1,
        xref="paper",
        y=found.mean,
        yanchor="bottom",
        xanchor="right",
        text="the query alone",
        showarrow=False,
        font={"size": 12, "color": MUTED},
    )


def link_panels(comparison: Comparison, estimates: Estimates, *, best: Configuration | None = None) -> dict[str, Any]:
    """Return the panels of the paper's Figure 5 by title: precision and recall by K, seconds and sizes.

    They are of the models that decide. The floor on the query alone is a dashed line in each, where it is not one of
    them: its scores, its seconds in all, and its nodes.
    """
    configs = main_configurations(comparison, estimates, best)
    model = list_shown_models(comparison)[0]
    floor = floor_trials(comparison)
    panels: dict[str, Any] = {}
    for title, letter in (("Precision at K", "P"), ("Recall at K", "R")):
        ks = sorted(int(name[2:]) for name in comparison.measures if name.startswith(f"{letter}@"))
        figure = frame("K", title)
        for config in configs:
            points = [(k, estimates.get((config, model, f"{letter}@{k}"))) for k in ks]
            known = [(k, found) for k, found in points if found is not None]
            if known:
                _curve(figure, config, known, colour_of(comparison, config.method))
        level = [(k, _mean([trial.scores.get(f"{letter}@{k}", math.nan) for trial in floor])) for k in ks if floor]
        _dashed(figure, [k for k, _ in level], [score for _, score in level], "%{y:.3f} at %{x}")
        figure.update_xaxes(tickvals=ks)
        panels[title] = figure
    trials = {
        config: [trial for model in comparison.deciding for trial in comparison.of(config, model)] for config in configs
    }
    tall = [config for config in configs if trials[config]]
    spent = _mean([sum(trial.seconds.values()) for trial in floor]) if floor else 0.0
    making = [_mean([sum(t.seconds.values()) - t.seconds.get("mine", 0.0) for t in trials[config]]) for config in tall]
    mining = [_mean([t.seconds.get("mine", 0.0) for t in trials[config]]) for config in tall]
    panels["Seconds"] = _bars(tall, {"make the network": making, "mine it": mining}, "seconds, logarithmic", spent)
    nodes = [comparison.nodes(config) for config in tall]
    links = [_mean([float(t.links) for t in trials[config]]) for config in tall]
    size = _mean([float(trial.nodes) for trial in floor]) if floor else 0.0
    panels["Network size"] = _bars(tall, {"nodes": nodes, "links": links}, "number, logarithmic", size)
    return panels


def floor_trials(comparison: Comparison) -> list[Trial]:
    """Return the trials of the floor on the query alone, where it stands beside models that decide."""
    alone = find_alone(comparison)
    return comparison.of(alone, FLOOR) if alone and FLOOR not in comparison.deciding else []


def _curve(figure: Any, config: Configuration, points: list[tuple[int, Estimate]], colour: str) -> None:
    x, scores = [k for k, _ in points], [found for _, found in points]
    band(figure, x, scores, colour, config.name, True)
    figure.add_scatter(
        x=x,
        y=[found.mean for found in scores],
        mode="lines+markers",
        name=safe(config.name),
        legendgroup=safe(config.name),
        line={"color": colour, "width": 2, "dash": "dot" if config.like else "solid"},
        marker={"color": colour, "size": 6},
        hovertemplate="%{y:.3f} at %{x}",
    )


def _dashed(figure: Any, x: Sequence[float], y: Sequence[float], hover: str) -> None:
    """Draw the floor, where there is one."""
    if x:
        line = {"color": INK, "width": 1.5, "dash": "dash"}
        name = f"{FLOOR} on the query alone"
        figure.add_scatter(x=x, y=y, mode="lines", name=name, legendgroup=name, line=line, hovertemplate=hover)


def _bars(configs: list[Configuration], values: dict[str, list[float]], unit: str, floor: float = 0.0) -> Any:
    """Return bars by configuration to a logarithmic scale, with the floor across them where it is above 0."""
    figure = frame(unit, "")
    places = list(range(len(configs)))
    for (name, numbers), colour in zip(values.items(), COLOURS, strict=False):
        figure.add_bar(
            y=places,
            x=numbers,
            text=[safe(config.name) for config in configs],
            textposition="none",
            orientation="h",
            name=safe(name),
            legendgroup=safe(name),
            marker={"color": colour},
            hovertemplate="%{text}: %{x:,.3~g}",
        )
    across = [floor] * 2 if floor > 0 else []
    _dashed(figure, across, [-0.5, len(configs) - 0.5], "%{x:,.3~g}")
    known = [number for numbers in (*values.values(), across) for number in numbers if number > 0] or [1.0]
    ends = [math.floor(math.log10(min(known) * 0.9)), math.log10(max(known)) + 0.05]
    figure.update_xaxes(type="log", showgrid=True, range=ends, dtick=1, tickformat=",~g")
    figure.update_yaxes(tickvals=places, ticktext=[safe(config.name, 30) for config in configs])
    figure.update_yaxes(showgrid=False, autorange="reversed")
    figure.update_layout(barmode="group", bargap=0.3, height=max(260, 90 + 34 * len(configs)))
    return figure


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


MOST_NODES = 2000
MOST_LINKS = 4000
SHAPES = ("circle", "triangle-up", "diamond", "triangle-down")


def network_figure(drawing: Drawing) -> tuple[Any, str]:
    """Return the drawing as a plotly figure, and the sentence that says what of it was left out, if anything.

    Above 2,000 nodes the query comes first, then the cells, then the objects with most links into the query; above
    4,000 links those inside the query come first, then others at random.
    """
    network, places = drawing.network, drawing.places
    nodes, links, note = _shown(network)
    figure = blank(height=640, margin={"l": 4, "r": 4, "t": 4, "b": 4}, dragmode="pan")
    hidden = {"visible": False, "showgrid": False, "zeroline": False}
    figure.update_xaxes(**hidden)
    figure.update_yaxes(scaleanchor="x", scaleratio=1, **hidden)
    _links(figure, network, places, links)
    crowd = float(np.clip(np.sqrt(250 / max(len(nodes), 1)), 0.35, 1.0))
    shown = np.zeros(len(network), dtype=bool)
    shown[nodes] = True
    names = network.nodes["name"].to_pylist()
    labels = network.nodes["label"].to_pylist()
    degree = np.bincount(np.concatenate([network.source, network.target]), minlength=len(network))
    for group in _groups(network, labels):
        own = group["nodes"][shown[group["nodes"]]]
        if not len(own):
            continue
        figure.add_scatter(
            x=places[own, 0].tolist(),
            y=places[own, 1].tolist(),
            mode="markers",
            name=safe(group["name"], 40),
            legendgroup=safe(group["name"], 40),
            marker={
                "color": group["colour"],
                "symbol": group["shape"],
                "size": group["size"] * max(crowd, 0.5 if group["kind"] == "object" else 0.65),
                "line": {"width": round(0.5 + 0.5 * crowd, 2), "color": group["rim"]},
                "opacity": 1,
            },
            text=[_hover(names[node], labels[node], group["kind"], int(degree[node])) for node in own],
            hovertemplate="%{text}<extra></extra>",
        )
    marked = [node for node in drawing.marked if shown[node]]
    if marked:
        ring = {"size": 20 * max(crowd, 0.6), "symbol": "circle-open", "color": INK, "line": {"width": 2}}
        x, y = places[marked].T.tolist()
        figure.add_scatter(x=x, y=y, mode="markers", marker=ring, showlegend=False, hoverinfo="skip")
    return figure, note


def _hover(name: str, label: str, kind: str, links: int) -> str:
    lines = [f"<b>{safe(name)}</b>", safe(label or kind), f"{links:,} link{'s' * (links != 1)}"]
    return "<br>".join(lines)


def _shown(network: Network) -> tuple[Array, Array, str]:
    """Return the nodes and the links to draw, and what to say of the rest."""
    count, query = len(network), len(network.query)
    rank = np.zeros(count)
    rank[len(network.objects) :] = 1
    into = network.query_links.astype(np.float64)
    rank[query : len(network.objects)] = 2 + 1 / (2 + into[query:])
    rank[:query] = 1 / (2 + into[:query]) - 1
    nodes = np.sort(np.argsort(rank, kind="stable")[:MOST_NODES])
    kept = np.zeros(count, dtype=bool)
    kept[nodes] = True
    links = np.flatnonzero(kept[network.source] & kept[network.target])
    if len(links) > MOST_LINKS:
        inside = np.maximum(network.source[links], network.target[links]) < query
        order = np.argsort(~inside + stream(0, "referee", "drawing").random(len(links)), kind="stable")
        links = np.sort(links[order[:MOST_LINKS]])
    said = []
    if len(nodes) < count:
        said.append(f"{len(nodes):,} of {count:,} nodes, the query and what is linked to it most")
    if len(links) < len(network.source):
        said.append(f"{len(links):,} of {len(network.source):,} links, those inside the query first")
    return nodes, links, f"Drawn are {'; and '.join(said)}." if said else ""


def _links(figure: Any, network: Network, places: Array, links: Array) -> None:
    """Draw links in three weights: among others faint, into the query or to a cell thin, inside the query thick."""
    source, target = network.source[links], network.target[links]
    ends = (source < len(network.query)).astype(int) + (target < len(network.query))
    crowd = float(np.clip(np.sqrt(600 / max(len(links), 1)), 0.35, 1.0))
    for number, width, colour in (
        (0, 0.6, faint(FAINT, 0.6 * crowd)),
        (1, 0.8, faint(RIM, 0.55 * crowd)),
        (2, 2.2, MUTED),
    ):
        chosen = ends == number
        if not bool(chosen.any()):
            continue
        paths = np.full((int(chosen.sum()), 3, 2), np.nan)
        paths[:, 0], paths[:, 1] = places[source[chosen]], places[target[chosen]]
        x, y = paths.reshape(-1, 2).T
        figure.add_scatter(
            x=[None if value != value else round(value, 3) for value in x.tolist()],
            y=[None if value != value else round(value, 3) for value in y.tolist()],
            mode="lines",
            line={"width": width * max(crowd, 0.6), "color": colour},
            opacity=0.75 * max(crowd, 0.6) if number == 2 else 1,
            hoverinfo="skip",
            showlegend=False,
        )


def _groups(network: Network, labels: list[str]) -> list[dict[str, Any]]:
    """Return nodes that look the same, those below first: other objects, cells, then the query by label."""
    node, query, objects = np.arange(len(network)), len(network.query), len(network.objects)
    known = np.array(labels, dtype=np.str_)
    counts = Counter(label for label in labels[:query] if label)
    named = sorted(name for name, _ in counts.most_common(len(LABELS) * len(SHAPES)))
    other = {"kind": "object", "colour": PAPER, "shape": "circle", "size": 8.0, "rim": RIM}
    cell = {"kind": "cell", "colour": CELL, "shape": "square", "size": 14.0, "rim": RIM}
    mine = {"kind": "query", "shape": "circle", "size": 13.0, "rim": PAPER}
    groups = [
        {"name": f"other objects ({objects - query:,})", "nodes": node[query:objects], **other},
        {"name": f"cells ({len(network.cells):,})", "nodes": node[objects:], **cell},
    ]
    rest = node[:query][~np.isin(known[:query], named)]
    text = "query" if not counts else "other labels" if len(counts) > len(named) else "query without a label"
    groups.append({"name": f"{text} ({len(rest):,})", "nodes": rest, **mine, "colour": MUTED if counts else LABELS[0]})
    for number, name in enumerate(named):
        looks = {"colour": LABELS[number % len(LABELS)], "shape": SHAPES[number // len(LABELS)]}
        groups.append(
            {"name": f"{name} ({counts[name]:,})", "nodes": node[:query][known[:query] == name], **mine, **looks}
        )
    return groups
