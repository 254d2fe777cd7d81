"""The plots of the report as plotly figures: scores by the number of cells and by size, link prediction, networks."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cube2net._util.arrays import Array
from cube2net._util.text import format_count, shorten
from cube2net.evaluation.report.tables import compute_mean, find_alone, select_main_configurations, sum_seconds
from cube2net.evaluation.statistics import Estimate, Estimates, list_shown_models
from cube2net.mining.link_prediction import KS
from cube2net.model.comparison import FLOOR, Comparison, Configuration, Trial
from cube2net.model.network import Drawing, Network
from cube2net.network.drawing import picture

INK, MUTED, GRID, PAPER = "#1f2328", "#63676e", "#e3e1dc", "#ffffff"
COLOURS = (*picture.COLOURS, "#882255", "#999933", "#6B5BB5")
"""Colours of methods."""
DARK = {
    INK: "#e8e6e1",
    MUTED: "#a3a6ab",
    GRID: "#34373c",
    PAPER: "#1b1e22",
    picture.RIM: "#9a9da3",
    picture.CELL: "#8a742c",
    "#0072B2": "#3F9BE0",
    "#56B4E9": "#A8DCFF",
    "#D55E00": "#F0813A",
    "#009E73": "#2FC49A",
    "#882255": "#C65B93",
    "#6B5BB5": "#9D8FE6",
}
"""Colours on a dark page, for those that are not used on both."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
SYMBOLS = {"objects": "circle", "cells": "square", "cells+objects": "diamond", "hybrid": "star"}
DASHES = ("solid", "dash", "dashdot", "longdash")
FLOOR_NAME = f"{FLOOR} on the query alone"
SCORE = "%{y:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]"

MAX_NODES, MAX_LINKS = 2_000, 4_000
"""Nodes and links that are drawn of a network."""
MAP_WIDTH, MAP_HEIGHT, MIN_NODE_SIZE = 900, 640, 3.0
NODE_COLOURS = {"white": PAPER, picture.GREY: MUTED}
NODE_SYMBOLS = {"o": "circle", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "s": "square"}
LAYERS = ("other", "cell", "query")
"""The order in which nodes are drawn."""


def escape_text(text: str, most: int = 80) -> str:
    """Return a text on one line, shortened to ``most`` characters, that plotly does not read as HTML.

    >>> escape_text("<b>A & B</b>")
    '&lt;b&gt;A &amp; B&lt;/b&gt;'
    """
    return html.escape(shorten(text, most), quote=False)


def fade(colour: str, opacity: float) -> str:
    """Return a colour with an opacity.

    >>> fade("#0072B2", 0.2)
    'rgba(0,114,178,0.2)'
    """
    return "rgba({},{},{},{})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)), opacity)


def plot_by_cells(comparison: Comparison, estimates: Estimates, *, model: str = "", measure: str = "") -> Any:
    """Return scores by the number of cells, a line for configurations that differ only in it; None where none do.

    Bands are 95 % intervals. The best line of every method is visible, and the baselines of the best line; others are
    in the legend only.
    """
    model, measure = model or list_shown_models(comparison)[0], measure or comparison.measures[0]
    lines: dict[Configuration, list[tuple[int, Estimate]]] = {}
    for config in comparison.configurations:
        like = next((other for other in comparison.configurations if other.name == config.like), None)
        n_cells = like.n_cells if like else config.n_cells
        if n_cells and (config, model, measure) in estimates:
            key = replace(config, n_cells=0, like=like.title) if like else replace(config, n_cells=0)
            lines.setdefault(key, []).append((n_cells, estimates[config, model, measure]))
    lines = {key: sorted(points, key=lambda point: point[0]) for key, points in lines.items() if len(points) > 1}
    if not lines:
        return None
    figure = _make_plot("cells chosen", measure)
    ranked = sorted(lines, key=lambda key: -max(score.mean for _, score in lines[key]))
    top = next((key for key in ranked if not key.like), ranked[0])
    ranked = [key for key in ranked if not key.like or key.like == top.title]
    first = {key.method: key for key in reversed(ranked)}
    objectives = dict.fromkeys(config.objective for config in comparison.configurations if config.n_cells)
    dashes = {name: DASHES[number % len(DASHES)] for number, name in enumerate(objectives)}
    for key in ranked:
        _draw_line(
            figure,
            lines[key],
            key.title,
            choose_colour(comparison, key.method),
            dash="dot" if key.like else dashes[key.objective],
            symbol=SYMBOLS.get(key.form, "circle"),
            visible=True if key.like or first[key.method] == key else "legendonly",
            hover=f"m %{{x}}: {SCORE}",
        )
    _draw_query_alone(figure, comparison, estimates, model, measure)
    figure.update_xaxes(tickvals=sorted({n_cells for key in ranked for n_cells, _ in lines[key]}))
    return figure


def plot_by_size(
    comparison: Comparison,
    estimates: Estimates,
    *,
    best: Configuration | None = None,
    model: str = "",
    measure: str = "",
) -> Any:
    """Return the score of every configuration by the nodes of its network, with the query alone as a line."""
    model, measure = model or list_shown_models(comparison)[0], measure or comparison.measures[0]
    figure = _make_plot("nodes", measure)
    _draw_query_alone(figure, comparison, estimates, model, measure)
    points = {
        config: (comparison.nodes(config), score)
        for config in comparison.configurations
        if (score := estimates.get((config, model, measure)))
    }
    for method in dict.fromkeys(config.method for config in points if config.method != "none"):
        colour = choose_colour(comparison, method)
        configs = [config for config in points if config.method == method]
        scores = [points[config][1] for config in configs]
        symbols = [SYMBOLS.get(config.form, "circle") + ("-open" if config.like else "") for config in configs]
        figure.add_scatter(
            x=[points[config][0] for config in configs],
            y=[score.mean for score in scores],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [score.high - score.mean for score in scores],
                "arrayminus": [score.mean - score.low for score in scores],
                "color": fade(colour, 0.35),
                "thickness": 1,
                "width": 0,
            },
            mode="markers",
            **_name_trace(method),
            marker={"color": colour, "size": 9, "symbol": symbols, "line": {"width": 1.5, "color": colour}},
            text=[escape_text(config.name) for config in configs],
            customdata=[[score.low, score.high] for score in scores],
            hovertemplate=f"%{{text}}<br>%{{x:,}} nodes: {SCORE}<extra></extra>",
        )
    if best is not None and best in points and best.method != "none":
        nodes, score = points[best]
        ring = {"size": 19, "symbol": "circle-open", "color": INK, "line": {"width": 1.6}}
        figure.add_scatter(x=[nodes], y=[score.mean], mode="markers", marker=ring, showlegend=False, hoverinfo="skip")
    ticks = _choose_ticks([nodes for nodes, _ in points.values()])
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])
    return figure


def plot_link_panels(
    comparison: Comparison, estimates: Estimates, *, best: Configuration | None = None
) -> dict[str, Any]:
    """Return the panels of the paper's Figure 5 by title: precision and recall by K, seconds and sizes.

    They show the models that decide. The floor on the query alone, unless it is one of these, is a dashed line: its
    scores, its total seconds and its nodes.
    """
    configs = select_main_configurations(comparison, estimates, best)
    model, floor = list_shown_models(comparison)[0], list_floor_trials(comparison)
    panels: dict[str, Any] = {}
    for title, letter in (("Precision at K", "P"), ("Recall at K", "R")):
        names = {k: f"{letter}@{k}" for k in sorted(KS) if f"{letter}@{k}" in comparison.measures}
        figure = _make_plot("K", title)
        for config in configs:
            points = [
                (k, estimates[config, model, name]) for k, name in names.items() if (config, model, name) in estimates
            ]
            if points:
                colour, dash = choose_colour(comparison, config.method), "dot" if config.like else "solid"
                _draw_line(figure, points, config.name, colour, dash=dash, size=6, hover="%{y:.3f} at %{x}")
        if floor:
            scores = [compute_mean(trial.scores.get(name, math.nan) for trial in floor) for name in names.values()]
            _draw_floor(figure, list(names), scores, "%{y:.3f} at %{x}")
        figure.update_xaxes(tickvals=list(names))
        panels[title] = figure
    trials = {
        config: config_trials
        for config in configs
        if (config_trials := [trial for model in comparison.deciding for trial in comparison.of(config, model)])
    }
    seconds = {
        "make the network": [
            [sum_seconds(trial, trial.seconds) - sum_seconds(trial, ("mine",)) for trial in config_trials]
            for config_trials in trials.values()
        ],
        "mine it": [[sum_seconds(trial, ("mine",)) for trial in config_trials] for config_trials in trials.values()],
    }
    sizes = {
        "nodes": [[trial.nodes for trial in config_trials] for config_trials in trials.values()],
        "links": [[trial.links for trial in config_trials] for config_trials in trials.values()],
    }
    total = [sum_seconds(trial, trial.seconds) for trial in floor]
    panels["Seconds"] = _plot_bars(list(trials), seconds, "seconds, logarithmic", total)
    panels["Network size"] = _plot_bars(list(trials), sizes, "number, logarithmic", [trial.nodes for trial in floor])
    return panels


def list_floor_trials(comparison: Comparison) -> list[Trial]:
    """Return the trials of the floor on the query alone, if it does not decide."""
    alone = find_alone(comparison)
    return comparison.of(alone, FLOOR) if alone and FLOOR not in comparison.deciding else []


def choose_colour(comparison: Comparison, method: str) -> str:
    """Return the colour of a method, the same in all plots of a comparison."""
    methods = list(dict.fromkeys(config.method for config in comparison.configurations if config.method != "none"))
    return COLOURS[methods.index(method) % len(COLOURS)] if method in methods else MUTED


def _make_figure(**layout: Any) -> Any:
    """Return an empty figure in the style of the page."""
    import plotly.graph_objects as go

    font = {"family": FONT, "size": 13, "color": INK}
    style = {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": font,
        "margin": {"l": 56, "r": 12, "t": 34, "b": 48},
        "hoverlabel": {
            "bgcolor": PAPER,
            "bordercolor": picture.RIM,
            "font": {"color": INK, "family": FONT, "size": 13},
        },
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": picture.RIM, "activecolor": INK},
        "height": 380,
    }
    return go.Figure(layout=style | layout)


def _make_plot(x: str, y: str) -> Any:
    """Return an empty figure with two named axes."""
    figure, rim = _make_figure(), picture.RIM
    axis = {"gridcolor": GRID, "linecolor": rim, "zeroline": False, "tickfont": {"color": MUTED}, "automargin": True}
    title = {"text": escape_text(x), "standoff": 8}
    figure.update_xaxes(title=title, showline=True, showgrid=False, ticks="outside", tickcolor=rim, **axis)
    figure.update_yaxes(title={"text": escape_text(y), "standoff": 8}, **axis)
    return figure


def _name_trace(name: str, most: int = 80) -> dict[str, str]:
    return dict.fromkeys(("name", "legendgroup"), escape_text(name, most))


def _choose_ticks(values: Sequence[float]) -> list[int]:
    """Return ticks of a logarithmic axis: round numbers, or the ends if there are fewer than two between them.

    >>> _choose_ticks([90, 600, 2100]), _choose_ticks([116, 156])
    ([100, 200, 500, 1000, 2000], [116, 156])
    """
    low, high = min(values, default=1.0), max(values, default=1.0)
    ticks = [digit * 10**power for power in range(10) for digit in (1, 2, 5) if low <= digit * 10**power <= high]
    return ticks if len(ticks) > 1 else sorted({round(low), round(high)})


def _draw_line(
    figure: Any,
    points: Sequence[tuple[int, Estimate]],
    name: str,
    colour: str,
    *,
    dash: str,
    hover: str,
    symbol: str = "circle",
    size: int = 8,
    visible: bool | str = True,
) -> None:
    """Draw scores as a line over the band of their intervals."""
    x, scores = [at for at, _ in points], [score for _, score in points]
    figure.add_scatter(
        x=x + x[::-1],
        y=[score.high for score in scores] + [score.low for score in reversed(scores)],
        fill="toself",
        fillcolor=fade(colour, 0.12),
        mode="none",
        hoverinfo="skip",
        showlegend=False,
        legendgroup=escape_text(name),
        visible=visible,
    )
    figure.add_scatter(
        x=x,
        y=[score.mean for score in scores],
        mode="lines+markers",
        **_name_trace(name),
        line={"color": colour, "width": 2, "dash": dash},
        marker={"color": colour, "size": size, "symbol": symbol},
        visible=visible,
        customdata=[[score.low, score.high] for score in scores],
        hovertemplate=hover,
    )


def _draw_query_alone(figure: Any, comparison: Comparison, estimates: Estimates, model: str, measure: str) -> None:
    """Draw the score of the query alone as a line across the plot, with its interval."""
    alone = find_alone(comparison)
    score = estimates.get((alone, model, measure)) if alone else None
    if score is None:
        return
    figure.add_hrect(y0=score.low, y1=score.high, fillcolor=fade(picture.RIM, 0.14), line_width=0, layer="below")
    figure.add_hline(
        y=score.mean,
        line={"color": MUTED, "width": 1.5, "dash": "dash"},
        layer="below",
        annotation={"text": "the query alone", "font": {"size": 12, "color": MUTED}},
        annotation_position="top right",
    )


def _draw_floor(figure: Any, x: Sequence[float], y: Sequence[float], hover: str) -> None:
    line = {"color": INK, "width": 1.5, "dash": "dash"}
    figure.add_scatter(x=x, y=y, mode="lines", **_name_trace(FLOOR_NAME), line=line, hovertemplate=hover)


def _plot_bars(
    configs: list[Configuration], values: Mapping[str, Sequence[Iterable[float]]], unit: str, floor: Sequence[float]
) -> Any:
    """Return bars of mean values by configuration on a logarithmic scale, with the mean of the floor as a line."""
    figure, places = _make_plot(unit, ""), list(range(len(configs)))
    means = {name: list(map(compute_mean, rows)) for name, rows in values.items()}
    for (name, numbers), colour in zip(means.items(), COLOURS, strict=False):
        figure.add_bar(
            y=places,
            x=numbers,
            text=[escape_text(config.name) for config in configs],
            textposition="none",
            orientation="h",
            **_name_trace(name),
            marker={"color": colour},
            hovertemplate="%{text}: %{x:,.3~g}",
        )
    across = [compute_mean(floor)] * 2 if any(floor) else []
    if across:
        _draw_floor(figure, across, [-0.5, len(configs) - 0.5], "%{x:,.3~g}")
    positive = [number for numbers in (*means.values(), across) for number in numbers if number > 0] or [1.0]
    ends = [math.floor(math.log10(min(positive) * 0.9)), math.log10(max(positive)) + 0.05]
    figure.update_xaxes(type="log", showgrid=True, range=ends, dtick=1, tickformat=",~g")
    figure.update_yaxes(tickvals=places, ticktext=[escape_text(config.name, 30) for config in configs])
    figure.update_yaxes(showgrid=False, autorange="reversed")
    figure.update_layout(barmode="group", bargap=0.3, height=max(260, 90 + 34 * len(configs)))
    return figure


def plot_network(drawing: Drawing) -> tuple[Any, str]:
    """Return a drawing as a plotly figure, and a sentence about the nodes and links that were left out, if any.

    Of more than 2,000 nodes the query is drawn first, then cells, then the objects with most links into the query; of
    more than 4,000 links those within the query, then the heaviest.
    """
    network, places, groups = drawing.network, drawing.places, picture.group_nodes(drawing.network)
    is_shown, links, note = _select_drawn(network)
    figure = _make_figure(height=MAP_HEIGHT, margin={"l": 4, "r": 4, "t": 4, "b": 4}, dragmode="pan")
    figure.update_xaxes(visible=False, showgrid=False)
    figure.update_yaxes(visible=False, showgrid=False, scaleanchor="x", scaleratio=1)
    for link_group in picture.group_links(network, groups, links):
        _draw_links(figure, network, places, link_group)
    _, _, unit = picture.fit_frame(places, MAP_WIDTH, 4)
    sizes = picture.compute_diameters(network, groups, unit, MIN_NODE_SIZE)
    names, labels = (network.nodes.to_arrow()[column].to_pylist() for column in ("name", "label"))
    degree = np.bincount(np.concatenate([network.source, network.target]), minlength=len(network)).tolist()
    for group in sorted(groups, key=lambda group: LAYERS.index(group.role)):
        nodes = group.nodes[is_shown[group.nodes]]
        if not len(nodes):
            continue
        kind = "object" if group.role == "other" else group.role
        texts = [
            "<br>".join(
                [
                    f"<b>{escape_text(names[node])}</b>",
                    escape_text(labels[node] or kind),
                    format_count(degree[node], "link"),
                ]
            )
            for node in nodes
        ]
        figure.add_scatter(
            x=places[nodes, 0].tolist(),
            y=places[nodes, 1].tolist(),
            mode="markers",
            **_name_trace(group.text, 50),
            marker={
                "color": NODE_COLOURS.get(group.colour, group.colour),
                "symbol": NODE_SYMBOLS[group.shape],
                "size": float(sizes[nodes[0]]) * group.size,
                "line": {"width": 0.8, "color": NODE_COLOURS.get(group.rim, group.rim)},
                "opacity": 1,
            },
            text=texts,
            hovertemplate="%{text}<extra></extra>",
        )
    return figure, note


def _select_drawn(network: Network) -> tuple[Array, Array, str]:
    """Return a mask of the nodes to draw, the links to draw, and a sentence about the others."""
    count, query, objects = len(network), len(network.query), len(network.objects)
    into = np.zeros(count)
    into[:objects] = network.query_links
    layer = np.repeat([0, 2, 1], [query, objects - query, count - objects])
    is_shown = np.zeros(count, dtype=bool)
    is_shown[np.lexsort((-into, layer))[:MAX_NODES]] = True
    among = np.flatnonzero(is_shown[network.source] & is_shown[network.target])
    links = picture.select_links(network, among, MAX_LINKS)
    omitted = []
    if count > MAX_NODES:
        omitted.append(f"{MAX_NODES:,} of {count:,} nodes, the query and what is linked to it most")
    if len(links) < len(network.source):
        omitted.append(f"{len(links):,} of {len(network.source):,} links, those inside the query first")
    return is_shown, links, f"Drawn are {'; and '.join(omitted)}." if omitted else ""


def _draw_links(figure: Any, network: Network, places: Array, group: picture.LinkGroup) -> None:
    """Draw the links of a group as one path; None ends each."""
    if not len(group.links):
        return
    ends = np.stack([places[network.source[group.links]], places[network.target[group.links]]], axis=1).round(3)
    x, y = ([value for start, end in ends[:, :, axis].tolist() for value in (start, end, None)] for axis in (0, 1))
    strength = float(group.strengths.mean())
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"width": group.compute_width(strength), "color": MUTED},
        opacity=group.compute_opacity(strength),
        hoverinfo="skip",
        showlegend=False,
    )
