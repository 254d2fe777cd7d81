"""The referee's plots, as plotly figures: scores by the number of cells and by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cube2net.records import Comparison, Setup
from cube2net.referee.page_looks import COLOURS, GRID, INK, MUTED, RIM, blank, faint, safe
from cube2net.referee.statistics import Estimate
from cube2net.referee.tables import Estimates, miners_of

SYMBOLS = {"objects": "circle", "cells": "square", "both": "diamond", "woven": "star"}
DASHES = ("solid", "dash", "dashdot", "longdash")
SCORE = "%{y:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]"


def sweep(comparison: Comparison, estimates: Estimates, *, miner: str = "", measure: str = "") -> Any:
    """Return scores by the number of cells, a line for setups that differ only in it; None where none do.

    Bands are 95 % intervals. The best line of every method is seen at first, and beside the highest those as large as
    it, which stand at its numbers of cells; others are named in the legend.
    """
    miner, measure = miner or miners_of(comparison)[0], measure or comparison.measures[0]
    lines: dict[Setup, list[tuple[int, Estimate]]] = {}
    for setup in comparison.setups:
        like = next((other for other in comparison.setups if other.name == setup.like), None)
        m = like.m if like else setup.m
        if m and (setup, miner, measure) in estimates:
            key = replace(setup, m=0, like=like.title) if like else replace(setup, m=0)
            lines.setdefault(key, []).append((m, estimates[setup, miner, measure]))
    lines = {key: sorted(points, key=lambda point: point[0]) for key, points in lines.items() if len(points) > 1}
    if not lines:
        return None
    figure = frame("cells chosen", measure)
    ranked = sorted(lines, key=lambda key: -max(found.mean for _, found in lines[key]))
    top = next((key for key in ranked if not key.like), ranked[0])
    ranked = [key for key in ranked if not key.like or key.like == top.title]
    first = {key.method: key for key in reversed(ranked)}
    objectives = dict.fromkeys(setup.objective for setup in comparison.setups if setup.m)
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
    _query_alone(figure, comparison, estimates, miner, measure)
    figure.update_xaxes(tickvals=sorted({m for key in ranked for m, _ in lines[key]}))
    return figure


def score_by_size(
    comparison: Comparison, estimates: Estimates, *, best: Setup | None = None, miner: str = "", measure: str = ""
) -> Any:
    """Return the score of every setup against the nodes of its network, with the query alone as a line."""
    miner, measure = miner or miners_of(comparison)[0], measure or comparison.measures[0]
    figure = frame("nodes", measure)
    _query_alone(figure, comparison, estimates, miner, measure)
    places = {
        setup: (comparison.nodes(setup), found) for setup, found in _scores(comparison, estimates, miner, measure)
    }
    methods = list(dict.fromkeys(setup.method for setup in places if setup.method != "none"))
    for method in methods:
        colour = colour_of(comparison, method)
        own = [setup for setup in places if setup.method == method]
        scores = [places[setup][1] for setup in own]
        shapes = [SYMBOLS.get(setup.form, "circle") + ("-open" if setup.like else "") for setup in own]
        figure.add_scatter(
            x=[places[setup][0] for setup in own],
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
            text=[safe(setup.name) for setup in own],
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
    methods = list(dict.fromkeys(setup.method for setup in comparison.setups if setup.method != "none"))
    return COLOURS[methods.index(method) % len(COLOURS)] if method in methods else MUTED


def frame(x: str, y: str) -> Any:
    """Return an empty figure with two named axes."""
    figure = blank()
    axis = {"gridcolor": GRID, "linecolor": RIM, "zeroline": False, "tickfont": {"color": MUTED}, "automargin": True}
    figure.update_xaxes(title={"text": safe(x), "standoff": 8}, showline=True, showgrid=False, ticks="outside", **axis)
    figure.update_xaxes(tickcolor=RIM)
    figure.update_yaxes(title={"text": safe(y), "standoff": 8}, **axis)
    return figure


def _scores(comparison: Comparison, estimates: Estimates, miner: str, measure: str) -> list[tuple[Setup, Estimate]]:
    found = ((setup, estimates.get((setup, miner, measure))) for setup in comparison.setups)
    return [(setup, score) for setup, score in found if score is not None]


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


def _query_alone(figure: Any, comparison: Comparison, estimates: Estimates, miner: str, measure: str) -> None:
    """Draw the score of the query alone, which all others are measured against, as a line with its interval."""
    alone = next((setup for setup in comparison.setups if setup.method == "none"), None)
    found = estimates.get((alone, miner, measure)) if alone else None
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
