"""Pictures of networks: the same for the same seed, legible for any network."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from importlib import import_module
from itertools import chain, pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection

from cube2net.errors import InputError, ParameterError
from cube2net.model.network import Drawing, Network
from cube2net.network.drawing.layout import layout
from cube2net.network.drawing.matplotlib import draw, figure
from cube2net.network.drawing.picture import COLOURS, SHAPES, group_nodes, wrap_name
from cube2net.network.drawing.svg import draw_svg

from bare_networks import bare_network


def network_of(
    links: list[tuple[int, int]],
    *,
    query: int,
    others: int = 0,
    cells: int = 0,
    labels: list[str] | None = None,
    names: list[str] | None = None,
    weights: list[float] | None = None,
    form: str = "",
) -> Network:
    return bare_network(
        links,
        query=query,
        objects=range(query + others),
        cells=[(f"label {i}",) for i in range(cells)],
        labels=labels,
        weights=weights,
        names=names or [f"Object {i}" for i in range(query + others)],
        form=form,
    )


def random_network(seed: int, *, query: int = 20, others: int = 30, cells: int = 3, links: int = 90) -> Network:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, query + others + cells, size=(links, 2))
    pairs = sorted({(int(min(a, b)), int(max(a, b))) for a, b in ends if a != b})
    return network_of(
        pairs, query=query, others=others, cells=cells, labels=[("red", "green", "_blue$")[i % 3] for i in range(query)]
    )


def legend_texts(network: Network) -> list[str]:
    return [text.get_text() for text in figure(network).legends[0].get_texts()]


def captions(network: Network) -> list[str]:
    return [text.get_text() for text in figure(network).axes[0].texts]


def test_the_same_seed_gives_the_same_places_and_another_seed_others() -> None:
    network = random_network(1)
    assert np.array_equal(layout(network, seed=4), layout(network, seed=4))
    assert not np.array_equal(layout(network, seed=4), layout(network, seed=5))


def test_a_layout_leaves_the_global_generator_alone() -> None:
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    layout(random_network(1))
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_seed_makes_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    first = draw(random_network(2), tmp_path / f"a{suffix}", seed=1, title="Twice")
    second = draw(random_network(2), str(tmp_path / f"b{suffix}"), seed=1, title="Twice")
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes()[:5] == {".png": b"\x89PNG\r", ".svg": b"<?xml", ".pdf": b"%PDF-"}[suffix]
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_a_png_is_1600_pixels_wide(tmp_path: Path) -> None:
    data = draw(random_network(2), tmp_path / "net.png").read_bytes()
    assert int.from_bytes(data[16:20], "big") == 1600


@given(st.integers(0, 1000), st.integers(0, 120))
@settings(max_examples=15)
def test_no_two_nodes_of_the_query_overlap(seed: int, links: int) -> None:
    place = layout(random_network(seed, links=links))[:20]
    apart = np.linalg.norm(place[:, None] - place[None], axis=2) + 10 * np.eye(20)
    assert apart.min() >= 0.98


def test_parts_stand_apart_and_lonely_nodes_in_tidy_rows() -> None:
    triangle = [(0, 1), (1, 2), (0, 2)]
    place = layout(network_of([*triangle, (3, 4)], query=25))
    assert place[:3, 1].min() > place[5:, 1].max() and place[3:5, 1].min() > place[5:, 1].max()
    rows = np.unique(place[5:, 1].round(6))
    assert len(rows) <= 5 and np.allclose(np.diff(rows), 1.6)
    assert np.ptp(place, axis=0).max() < 20


def test_linked_nodes_are_nearer_than_others() -> None:
    groups = [[(i, j) for i in range(start, start + 8) for j in range(i + 1, start + 8)] for start in (0, 8, 16)]
    place = layout(network_of([*chain(*groups), (0, 8), (8, 16)], query=24))
    apart = np.linalg.norm(place[:, None] - place[None], axis=2)
    inside = np.mean([apart[a, b] for group in groups for a, b in group])
    across = np.mean([apart[a, b] for a in range(8) for b in range(8, 24)])
    assert across > 2 * inside


def test_the_legend_names_every_label_with_its_count_and_fits() -> None:
    picture = figure(random_network(3))
    assert [text.get_text() for text in picture.legends[0].get_texts()] == [
        "_blue$ (6)",
        "green (7)",
        "red (7)",
        "other objects (30)",
        "cells (3)",
    ]
    box = picture.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= 1600 and box.y0 >= 0
    assert box.y1 <= picture.axes[0].get_window_extent().y0


def test_a_query_without_labels_has_one_colour() -> None:
    assert legend_texts(network_of([(0, 1)], query=2, others=1)) == ["query (2)", "other objects (1)"]
    assert group_nodes(network_of([(0, 1)], query=2))[0].colour == COLOURS[0]


def test_some_labels_may_be_missing() -> None:
    assert legend_texts(network_of([(0, 1)], query=3, labels=["a", "", "b"])) == [
        "a (1)",
        "b (1)",
        "query without a label (1)",
    ]


def test_no_two_labels_look_alike_and_too_many_are_counted_together() -> None:
    most = len(COLOURS) * len(SHAPES)
    network = network_of([], query=most + 3, labels=[f"label {i:02d} with a long name" for i in range(most + 3)])
    groups = group_nodes(network)
    assert len({(group.colour, group.shape) for group in groups}) == most + 1
    assert groups[-1].text == "3 other labels (3)"
    box = figure(network).legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= 1600


def test_every_node_is_drawn_once_and_cells_as_squares() -> None:
    network = random_network(4)
    groups = group_nodes(network)
    assert sorted(np.concatenate([group.nodes for group in groups]).tolist()) == list(range(len(network)))
    assert (groups[-1].role, groups[-1].shape, groups[-1].nodes.tolist()) == ("cell", "s", [50, 51, 52])
    assert groups[-2].colour == "white"


def test_links_inside_the_query_are_thicker_and_carry_a_shared_label() -> None:
    network = network_of([(0, 1), (0, 2), (2, 3), (3, 4)], query=3, others=2, labels=["a", "a", "b"])
    lines = [item for item in figure(network).axes[0].collections if isinstance(item, LineCollection)]
    assert sum(len(item.get_segments()) for item in lines) == 4
    inner = max(lines, key=lambda item: item.get_zorder())
    assert len(inner.get_segments()) == 2
    assert min(inner.get_linewidth()) > 2 * max(
        width for item in lines if item is not inner for width in item.get_linewidth()
    )
    colours = [matplotlib.colors.to_hex(colour).upper() for colour in inner.get_colors()]
    assert colours[0] == COLOURS[0] and colours[1] not in COLOURS


def looks_in_figure(network: Network) -> dict[tuple[int, int], tuple[float, float]]:
    """Return width and opacity of every link by its ends, as Matplotlib draws them."""
    place = layout(network)
    found = {}
    for item in figure(network).axes[0].collections:
        if isinstance(item, LineCollection):
            for ways, width, colour in zip(item.get_segments(), item.get_linewidth(), item.get_colors(), strict=True):
                ends = [int(np.linalg.norm(place - end, axis=1).argmin()) for end in ways]
                found[min(ends), max(ends)] = (float(width), float(colour[3]))
    return found


def looks_in_svg(network: Network) -> list[tuple[float, float]]:
    """Return width and opacity of the paths of links, those drawn last last."""
    text = draw_svg(Drawing(network, layout(network), ""))
    return [(float(a), float(b)) for a, b in re.findall(r'stroke-width="([\d.]+)" opacity="([\d.]+)"', text)]


HOURS = {(0, 1): 6.0, (1, 2): 12.0, (0, 2): 106.0, (0, 3): 6.0, (1, 4): 12.0, (2, 5): 106.0, (3, 4): 6.0, (4, 5): 106.0}


def test_the_heavier_a_link_the_thicker_and_darker_it_is() -> None:
    network = network_of(list(HOURS), query=3, others=3, weights=list(HOURS.values()))
    looks = looks_in_figure(network)
    for kind in ([(0, 1), (1, 2), (0, 2)], [(0, 3), (1, 4), (2, 5)], [(3, 4), (4, 5)]):
        for light, heavy in pairwise(kind):
            assert looks[light][0] < looks[heavy][0] and looks[light][1] < looks[heavy][1], (light, heavy)
    assert looks[2, 5][1] >= looks[0, 1][1], "a heavy link to another object is not paler than a light one in the query"
    drawn = looks_in_svg(network)
    assert len(drawn) == 8
    for kind in (drawn[:2], drawn[2:5], drawn[5:]):
        assert sorted(set(kind)) == kind


def test_links_look_as_heavy_as_the_source_says_and_not_as_the_next_step_takes_them() -> None:
    hybrid = network_of([(0, 1), (0, 2)], query=1, others=2, weights=[0.2, 0.1])
    looks = looks_in_figure(replace(hybrid, given=np.array([6, 106], dtype=np.float32), form="hybrid"))
    assert looks[0, 1] < looks[0, 2]


def test_near_objects_are_called_so_in_the_legend() -> None:
    network = network_of([(0, 1), (0, 2)], query=1, others=2, form="hybrid")
    assert legend_texts(network) == ["query (1)", "neighbours (2)"]
    assert "neighbours (2)" in draw_svg(Drawing(network, layout(network), ""))


@pytest.mark.parametrize("query", [12, 24])
def test_other_objects_are_named_too_where_there_is_room(query: int) -> None:
    network = network_of([(i, query + i % 12) for i in range(query)], query=query, others=12, form="hybrid")
    text = draw_svg(Drawing(network, layout(network), ""), width=1200)
    in_svg = re.findall(r'<text class="n( f)?"[^>]*><tspan[^>]*>Object (\d+)<', text)
    for named in ({int(name) for _, name in in_svg}, {int(text.split()[1]) for text in captions(network)}):
        assert named == set(range(query + 12))
    assert {int(name) for faint, name in in_svg if faint} == set(range(query, query + 12))


def test_other_objects_are_not_named_beside_a_query_that_is_not_all_named() -> None:
    network = network_of([(i, 25 + i % 3) for i in range(25)], query=25, others=3)
    assert {int(text.split()[1]) for text in captions(network)} < set(range(25))


@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_the_name_of_another_object_covers_no_node(seed: int) -> None:
    network = random_network(seed, query=10, others=60, cells=3, links=160)
    axes = figure(network).axes[0]
    dots = axes.transData.transform(layout(network))
    boxes = [text.get_window_extent() for text in axes.texts if text.get_color() == "#555555"]
    assert not any(box.contains(*dot) for box in boxes for dot in dots)


def test_cells_are_named_all_of_at_most_25_and_else_the_first_twelve() -> None:
    few = network_of([(0, i) for i in range(1, 26)], query=1, cells=25)
    many = network_of([(0, i) for i in range(1, 27)], query=1, cells=26)
    assert {f"label {i}" for i in range(25)} <= set(captions(few))
    assert set(captions(many)) == {"Object 0", *(f"label {i}" for i in range(12))}


@given(st.integers(0, 1000), st.integers(0, 25), st.integers(0, 150))
@settings(max_examples=15)
def test_no_name_covers_another_a_node_of_the_query_or_a_cell(seed: int, cells: int, links: int) -> None:
    network = random_network(seed, query=90, cells=cells, links=200 + links)
    network = replace(network, labels=tuple((f"cell {i} with a longer label",) for i in range(cells)))
    axes = figure(network).axes[0]
    inside = axes.get_window_extent()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert boxes
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
    dots = axes.transData.transform(layout(network))[
        network.in_query | (np.arange(len(network)) >= len(network.objects))
    ]
    assert not any(box.contains(*dot) for box in boxes for dot in dots)


def test_names_of_cells_that_find_no_room_are_left_out_and_those_chosen_first_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowd = network_of([(0, 1 + cell) for cell in range(25)], query=1, cells=25)
    wide = replace(crowd, labels=tuple((f"cell {i} with a label as long as a line",) for i in range(25)))
    # All cells stand at one place, so that all names compete for the same room: what depends on rounding is left out.
    places = np.array([[30.0, 30.0], *[[0.0, 0.0]] * 25])
    monkeypatch.setattr(import_module("cube2net.network.drawing.matplotlib"), "layout", lambda network, seed: places)
    named = [text for text in captions(wide) if text.startswith("cell")]
    assert 1 < len(named) < 25
    assert [name.split()[1] for name in named] == [str(place) for place in range(len(named))]


def test_more_cells_are_named_where_their_names_may_cover_objects_and_none_covers_another() -> None:
    crowd = network_of([(i, 300 + i % 2) for i in range(300)], query=300, cells=2)
    wide = replace(crowd, labels=tuple((f"cell {i} with a long label",) for i in range(2)))
    count = len([text for text in captions(wide) if text.startswith("cell")])
    texts = [text for text in figure(wide, name_cells=True).axes[0].texts if text.get_text().startswith("cell")]
    boxes = [text.get_window_extent() for text in texts]
    assert count < len(texts) == 2
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_the_name_of_a_cell_is_cut_in_two_lines_before_it_is_cut_short() -> None:
    assert wrap_name("2017 · ACL · parsing") == ["2017 · ACL · parsing", "2017 · ACL ·\nparsing"]
    assert wrap_name("2017 · ACL · natural language instruction") == ["2017 · ACL · natural\nlanguage instruction"]
    assert wrap_name("x" * 40) == ["x" * 33 + "…"]
    assert wrap_name("") == [""]


@pytest.mark.parametrize(
    "network",
    [
        network_of([], query=1),
        network_of([], query=1, labels=["only"]),
        network_of([], query=40, others=3),
        network_of([(0, 1)], query=2),
        network_of([(0, 1)], query=1, cells=1),
        network_of([(0, i) for i in range(1, 200)], query=1, others=199),
    ],
    ids=["one node", "one label", "no links", "one link", "one cell", "a star"],
)
def test_odd_networks_are_drawn(network: Network, tmp_path: Path) -> None:
    assert np.isfinite(layout(network)).all()
    assert draw(network, tmp_path / "net.png").stat().st_size > 1000


def test_odd_texts_are_drawn_as_they_are_without_warnings(tmp_path: Path) -> None:
    names = ["$x_1$ & <b>", "two\nlines", "孔子", "a" * 60, ""]
    network = network_of([], query=5, names=names, labels=["$y^", "$y^", "b\nc", "_d", "e" * 80])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(network, tmp_path / "net.png", title="$t_")
        draw(network, tmp_path / "net.svg", title="$t_")
        picture = figure(network, title="$t_")
    shown = [text.get_text() for text in picture.axes[0].texts]
    assert {"$x_1$ & <b>", "two lines", "孔子", "a" * 33 + "…"} <= set(shown)
    assert picture.legends[0].get_texts()[0].get_text() == "$y^ (2)"
    assert picture.texts[0].get_text() == "$t_"
    assert picture.texts[1].get_text() == "5 objects · 0 links · 5 in the query"


def test_drawing_never_touches_pyplot_or_the_settings() -> None:
    before = dict(matplotlib.rcParams)
    figure(random_network(1))
    assert dict(matplotlib.rcParams) == before
    from matplotlib import _pylab_helpers

    assert _pylab_helpers.Gcf.figs == {}


def test_bad_paths_are_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ParameterError) as error:
        draw(network_of([], query=1), tmp_path / "net.tiff")
    assert str(error.value) == "unknown suffix of a picture '.tiff': choose one of .pdf, .png, .svg"
    with pytest.raises(InputError, match=r"^cannot write '.*': there is no folder '.*nowhere', make it first$"):
        draw(network_of([], query=1), tmp_path / "nowhere" / "net.png")
    assert list(tmp_path.iterdir()) == []
