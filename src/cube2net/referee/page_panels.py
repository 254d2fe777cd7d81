"""The four panels for links, as plotly figures: precision and recall by K, seconds, and the size of networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cube2net.records import Comparison, Setup, Trial
from cube2net.records.comparison import FLOOR
from cube2net.referee.page_looks import COLOURS, INK, safe
from cube2net.referee.plots import band, colour_of, frame
from cube2net.referee.statistics import Estimate
from cube2net.referee.tables import Estimates, main_setups, miners_of


def link_panels(comparison: Comparison, estimates: Estimates, *, best: Setup | None = None) -> dict[str, Any]:
    """Return the panels of the paper's Figure 5 by title: precision and recall by K, seconds and sizes by setup.

    They are of the miners that decide. The floor on the query alone is a dashed line in each, where it is not one of
    them: its scores, its seconds in all, and its nodes.
    """
    setups = main_setups(comparison, estimates, best)
    miner = miners_of(comparison)[0]
    floor = floor_trials(comparison)
    panels: dict[str, Any] = {}
    for title, letter in (("Precision at K", "P"), ("Recall at K", "R")):
        ks = sorted(int(name[2:]) for name in comparison.measures if name.startswith(f"{letter}@"))
        figure = frame("K", title)
        for setup in setups:
            points = [(k, estimates.get((setup, miner, f"{letter}@{k}"))) for k in ks]
            known = [(k, found) for k, found in points if found is not None]
            if known:
                _curve(figure, setup, known, colour_of(comparison, setup.method))
        level = [(k, _mean([trial.scores.get(f"{letter}@{k}", math.nan) for trial in floor])) for k in ks if floor]
        _dashed(figure, [k for k, _ in level], [score for _, score in level], "%{y:.3f} at %{x}")
        figure.update_xaxes(tickvals=ks)
        panels[title] = figure
    trials = {
        setup: [trial for miner in comparison.deciding for trial in comparison.of(setup, miner)] for setup in setups
    }
    tall = [setup for setup in setups if trials[setup]]
    spent = _mean([sum(trial.seconds.values()) for trial in floor]) if floor else 0.0
    making = [_mean([sum(t.seconds.values()) - t.seconds.get("mine", 0.0) for t in trials[setup]]) for setup in tall]
    mining = [_mean([t.seconds.get("mine", 0.0) for t in trials[setup]]) for setup in tall]
    panels["Seconds"] = _bars(tall, {"make the network": making, "mine it": mining}, "seconds, logarithmic", spent)
    nodes = [comparison.nodes(setup) for setup in tall]
    links = [_mean([float(t.links) for t in trials[setup]]) for setup in tall]
    size = _mean([float(trial.nodes) for trial in floor]) if floor else 0.0
    panels["Network size"] = _bars(tall, {"nodes": nodes, "links": links}, "number, logarithmic", size)
    return panels


def floor_trials(comparison: Comparison) -> list[Trial]:
    """Return the trials of the floor on the query alone, where it stands beside miners that decide."""
    alone = next((setup for setup in comparison.setups if setup.method == "none"), None)
    return comparison.of(alone, FLOOR) if alone and FLOOR not in comparison.deciding else []


def _curve(figure: Any, setup: Setup, points: list[tuple[int, Estimate]], colour: str) -> None:
    x, scores = [k for k, _ in points], [found for _, found in points]
    band(figure, x, scores, colour, setup.name, True)
    figure.add_scatter(
        x=x,
        y=[found.mean for found in scores],
        mode="lines+markers",
        name=safe(setup.name),
        legendgroup=safe(setup.name),
        line={"color": colour, "width": 2, "dash": "dot" if setup.like else "solid"},
        marker={"color": colour, "size": 6},
        hovertemplate="%{y:.3f} at %{x}",
    )


def _dashed(figure: Any, x: Sequence[float], y: Sequence[float], hover: str) -> None:
    """Draw the floor, where there is one."""
    if x:
        line = {"color": INK, "width": 1.5, "dash": "dash"}
        name = f"{FLOOR} on the query alone"
        figure.add_scatter(x=x, y=y, mode="lines", name=name, legendgroup=name, line=line, hovertemplate=hover)


def _bars(setups: list[Setup], values: dict[str, list[float]], unit: str, floor: float = 0.0) -> Any:
    """Return bars by setup to a logarithmic scale, with the floor across them where it is above 0."""
    figure = frame(unit, "")
    places = list(range(len(setups)))
    for (name, numbers), colour in zip(values.items(), COLOURS, strict=False):
        figure.add_bar(
            y=places,
            x=numbers,
            text=[safe(setup.name) for setup in setups],
            textposition="none",
            orientation="h",
            name=safe(name),
            legendgroup=safe(name),
            marker={"color": colour},
            hovertemplate="%{text}: %{x:,.3~g}",
        )
    across = [floor] * 2 if floor > 0 else []
    _dashed(figure, across, [-0.5, len(setups) - 0.5], "%{x:,.3~g}")
    known = [number for numbers in (*values.values(), across) for number in numbers if number > 0] or [1.0]
    ends = [math.floor(math.log10(min(known) * 0.9)), math.log10(max(known)) + 0.05]
    figure.update_xaxes(type="log", showgrid=True, range=ends, dtick=1, tickformat=",~g")
    figure.update_yaxes(tickvals=places, ticktext=[safe(setup.name, 30) for setup in setups])
    figure.update_yaxes(showgrid=False, autorange="reversed")
    figure.update_layout(barmode="group", bargap=0.3, height=max(260, 90 + 34 * len(setups)))
    return figure


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
