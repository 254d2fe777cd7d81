"""The plots hold what the trials hold, and plotly takes them."""

import numpy as np
import pytest

from cube2net.evaluation.report import figures as drawings
from cube2net.evaluation.report.figures import (
    CELL,
    COLOURS,
    DARK,
    GRID,
    INK,
    LABELS,
    MUTED,
    PAPER,
    RIM,
    SYMBOLS,
    floor_trials,
    link_panels,
    network_figure,
    score_by_size,
    sweep,
)
from cube2net.evaluation.report.page import asset
from cube2net.evaluation.statistics import all_estimates
from cube2net.model.comparison import Configuration
from cube2net.model.network import Drawing
from cube2net.options import FORMS

from comparisons import ALONE, GREEDY, PEER, clustering, hidden_links, network


def named(figure: object) -> dict[str, object]:
    return {trace.name: trace for trace in figure.data if trace.name}  # type: ignore[attr-defined]


def test_the_sweep_has_a_line_for_configurations_that_differ_only_in_their_number_of_cells() -> None:
    like = [Configuration(method="pagerank", like=config.name) for config in GREEDY]
    comparison = clustering(wrong={ALONE: 4, GREEDY[0]: 2, GREEDY[1]: 0, like[0]: 3, like[1]: 4})
    known = all_estimates(comparison, resamples=20)
    lines = named(sweep(comparison, known, measure="NMI"))
    assert list(lines) == ["greedy · linked · cells", "pagerank, as large as greedy · linked · cells"]
    for name, configs in zip(lines, (GREEDY, like), strict=True):
        assert list(lines[name].x) == [10, 20]
        assert list(lines[name].y) == [known[config, "all", "NMI"].mean for config in configs]


def test_only_the_best_line_of_a_method_is_seen_at_first() -> None:
    objects = [Configuration(method="greedy", objective="linked", form="objects", n_cells=m) for m in (10, 20)]
    comparison = clustering(wrong={ALONE: 4, GREEDY[0]: 2, GREEDY[1]: 0, objects[0]: 3, objects[1]: 4})
    lines = named(sweep(comparison, all_estimates(comparison, resamples=20)))
    assert {name: trace.visible for name, trace in lines.items()} == {
        "greedy · linked · cells": True,
        "greedy · linked · objects": "legendonly",
    }


def test_without_several_numbers_of_cells_there_is_no_sweep() -> None:
    comparison = hidden_links()
    assert sweep(comparison, all_estimates(comparison, resamples=20)) is None


def test_every_configuration_with_scores_is_a_point_at_its_size_and_the_query_alone_is_a_line() -> None:
    comparison = clustering()
    known = all_estimates(comparison, resamples=20)
    figure = score_by_size(comparison, known, best=GREEDY[1])
    points = named(figure)
    assert set(points) == {"greedy", "pagerank"}
    assert list(points["greedy"].x) == [22, 32] and list(points["pagerank"].x) == [32]
    assert list(points["greedy"].marker.symbol) == ["square", "square"]
    assert list(points["pagerank"].marker.symbol) == ["circle-open"]
    assert figure.layout.xaxis.type == "log" and list(figure.layout.xaxis.tickvals) == [12, 32]
    assert any(shape.y0 == known[ALONE, "all", "F1"].mean for shape in figure.layout.shapes)


def test_links_have_four_panels() -> None:
    comparison = hidden_links()
    known = all_estimates(comparison, resamples=20)
    panels = link_panels(comparison, known, best=GREEDY[1])
    assert list(panels) == ["Precision at K", "Recall at K", "Seconds", "Network size"]
    lines = named(panels["Recall at K"])
    assert set(lines) == {"none", GREEDY[1].name, PEER.name}
    assert list(lines["none"].x) == [1, 5]
    assert lines["none"].y[1] == known[ALONE, "softimpute", "R@5"].mean
    bars = named(panels["Network size"])
    assert list(bars["nodes"].x) == [40, 60, 40] and list(bars["links"].x) == [90, 90, 90]
    assert panels["Seconds"].layout.xaxis.type == "log"
    assert floor_trials(comparison) == []
    assert floor_trials(hidden_links(models={"popularity": 0.1})) == []


def test_the_floor_is_a_dashed_line_in_all_four_panels() -> None:
    comparison = hidden_links(models={"popularity": 0.05, "ease": 0.2})
    known = all_estimates(comparison, resamples=20)
    panels = link_panels(comparison, known, best=GREEDY[1])
    lines = {title: named(figure)["popularity on the query alone"] for title, figure in panels.items()}
    assert {line.line.dash for line in lines.values()} == {"dash"}
    floor = [known[ALONE, "popularity", f"P@{k}"].mean for k in (1, 5)]
    assert list(lines["Precision at K"].x) == [1, 5]
    assert list(lines["Precision at K"].y) == pytest.approx(floor)
    assert list(lines["Seconds"].x) == pytest.approx([1.11, 1.11])
    assert list(lines["Network size"].x) == [40, 40] and list(lines["Network size"].y) == [-0.5, 2.5]
    # the other lines are those of the model that decides
    assert named(panels["Precision at K"])["none"].y[1] == known[ALONE, "ease", "P@5"].mean


def test_every_form_has_a_symbol_of_its_own_that_the_caption_tells() -> None:
    assert tuple(SYMBOLS) == FORMS and len(set(SYMBOLS.values())) == len(FORMS)
    caption = asset("templates/sections.html").split("call figure(content.by_size)")[1].split("endcall")[0].lower()
    assert all(f"{symbol}s" in caption for symbol in SYMBOLS.values())
    configs = [Configuration(method="greedy", objective="linked", form=form, n_cells=20) for form in FORMS]
    comparison = clustering(wrong={ALONE: 4, **dict.fromkeys(configs, 2)})
    points = named(score_by_size(comparison, all_estimates(comparison, resamples=20)))
    assert list(points["greedy"].marker.symbol) == list(SYMBOLS.values())


def test_the_ring_is_around_a_best_one_that_was_made_as_large_as_another() -> None:
    comparison = clustering(wrong={ALONE: 4, GREEDY[1]: 4, PEER: 0})
    figure = score_by_size(comparison, all_estimates(comparison, resamples=20), best=PEER)
    assert [trace.x[0] for trace in figure.data if trace.marker.symbol == "circle-open"] == [32]


def test_the_drawing_colours_labels_and_says_names_labels_and_links() -> None:
    made = network([(0, 1), (0, 2), (1, 3)], ["b", "a"], others=1, cells=[("200X", "KDD")], names={0: "<i>A & B</i>"})
    figure, note = network_figure(Drawing(made, np.arange(8.0).reshape(4, 2), marked=(0,)))
    traces = named(figure)
    assert note == ""
    assert list(traces) == ["other objects (1)", "cells (1)", "a (1)", "b (1)"]
    assert traces["a (1)"].marker.color == LABELS[0] and traces["b (1)"].marker.color == LABELS[1]
    assert traces["cells (1)"].marker.symbol == "square"
    assert list(traces["b (1)"].text) == ["<b>&lt;i&gt;A &amp; B&lt;/i&gt;</b><br>b<br>2 links"]
    assert list(traces["cells (1)"].text) == ["<b>200X · KDD</b><br>cell<br>1 link"]
    widths = [trace.line.width for trace in figure.data if trace.mode == "lines"]
    assert len(widths) == 2 and widths[1] > widths[0]


def test_a_large_network_is_drawn_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawings, "MOST_NODES", 6)
    monkeypatch.setattr(drawings, "MOST_LINKS", 5)
    links = [(0, 1), (1, 2), (0, 2), (0, 5), (1, 5), (2, 5), (0, 4), (3, 6), (6, 7), (7, 8)]
    made = network(links, ["a"] * 4, others=6)
    figure, note = network_figure(Drawing(made, np.random.default_rng(0).random((10, 2))))
    assert note == (
        "Drawn are 6 of 10 nodes, the query and what is linked to it most; and 5 of 10 links, those inside the query "
        "first."
    )
    drawn = {
        trace.line.width: np.isnan(np.array(trace.x, dtype=float)).sum()
        for trace in figure.data
        if trace.mode == "lines"
    }
    assert sum(drawn.values()) == 5 and drawn[max(drawn)] == 3
    assert [len(trace.x) for trace in figure.data if trace.mode == "markers"] == [2, 4]


def test_many_labels_take_further_shapes_and_none_at_all_is_the_query() -> None:
    labels = [f"label {number:02}" for number in range(30)]
    figure, _ = network_figure(Drawing(network([], labels), np.random.default_rng(0).random((30, 2))))
    looks = {(trace.marker.color, trace.marker.symbol) for trace in figure.data}
    assert len(looks) == 25 and "other labels (6)" in named(figure)
    bare, _ = network_figure(Drawing(network([], ["", ""]), np.zeros((2, 2))))
    assert list(named(bare)) == ["query (2)"]


def test_colours_are_known_in_the_dark_or_serve_on_both() -> None:
    assert set(DARK) >= set(COLOURS) - {"#CC79A7", "#E69F00", "#999933"}


def test_the_style_has_the_colours_of_the_figures() -> None:
    light, dark = (part.split("}")[0] for part in asset("page.css").split(":root {")[1:])
    own = {"paper": PAPER, "ink": INK, "muted": MUTED, "line": GRID, "rim": RIM, "cell": CELL}
    for name, colour in own.items():
        assert f"--{name}: {colour};" in light and f"--{name}: {DARK.get(colour, colour)};" in dark
