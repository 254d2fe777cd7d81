"""Drawings compared with layouts of igraph and with adjustText: networks of 200, 2,000 and 20,000 nodes.

    python benchmarks/layouts.py [--nodes 200 2000 20000] [--slow 2000] [--pairs 1000000]

Networks are authors of the labs with their nearest objects in the bundled cube. Layouts of igraph replace our forces;
scale, distances and packing of components are ours. Crossings are the share of random pairs of links without a common
end that cross. *Names* is the number of names that can be placed without covering another name, a node of the query or
a cell. The same names are then placed by adjustText: how many are placed, cover something, or are nearer to another
node of the query. Times are processor time. Kamada–Kawai is omitted above ``--slow`` nodes, and adjustText if it is not
installed.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import igraph
import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net._util.text import shorten
from cube2net.model.network import Network
from cube2net.network.drawing import layout as layout_module
from cube2net.network.drawing import matplotlib as matplotlib_module
from cube2net.network.drawing import picture as captions
from cube2net.network.drawing.layout import layout

if TYPE_CHECKING:
    import scipy.sparse as sp

with suppress(ImportError):
    from adjustText import adjust_text

LAYOUTS = {
    "ours": None,
    "igraph, Fruchterman and Reingold": "fruchterman_reingold",
    "igraph, DrL": "drl",
    "igraph, Kamada and Kawai": "kamada_kawai",
}
# A name covers what it overlaps by more than this many pixels.
TOUCH = 0.5


def make_network(cube: c2n.Cube, nodes: int) -> Network:
    """Return a network of authors of the labs with the given number of nodes."""
    rows = cube.query(list(c2n.load_labs())).objects
    few = np.sort(np.random.default_rng(0).choice(rows, min(len(rows), nodes // 4), replace=False))
    return c2n.construct(cube, few.tolist(), "pagerank", max_nodes=nodes, form="objects")


def laid_out(network: Network, by: str | None) -> Array:
    """Return positions by our forces, or by a layout of igraph."""

    def igraphs(links: sp.csr_array, rng: np.random.Generator) -> Array:
        igraph.set_random_number_generator(random.Random(0))
        graph = igraph.Graph(links.shape[0], np.column_stack(layout_module._list_ends(links)).tolist())
        return np.array(getattr(graph, f"layout_{by}")().coords)

    with replaced(layout_module, _apply_forces=layout_module._apply_forces if by is None else igraphs):
        return layout(network)


@contextmanager
def replaced(module: Any, **others: Any) -> Iterator[None]:
    """Replace functions of a module for a context."""
    before = {name: getattr(module, name) for name in others}
    vars(module).update(others)
    try:
        yield
    finally:
        vars(module).update(before)


def crossings(network: Network, place: Array, pairs: int) -> float:
    """Return the share of random pairs of links without a common end that cross."""
    one, other = np.random.default_rng(0).integers(0, len(network.source), (2, pairs))
    a, b, c, d = network.source[one], network.target[one], network.source[other], network.target[other]
    apart = (a != c) & (a != d) & (b != c) & (b != d)
    a, b, c, d = (place[end[apart]] for end in (a, b, c, d))
    return float(np.mean((_left(a, b, c) != _left(a, b, d)) & (_left(c, d, a) != _left(c, d, b))))


def _left(a: Array, b: Array, c: Array) -> Array:
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) > (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])


def important(network: Network) -> Array:
    """Return the nodes that no name may cover: the query and cells."""
    return network.in_query | (np.arange(len(network)) >= len(network.objects))


def add_adjusted(axes: Any, network: Network, place: Array, sizes: Array, fonts: list[str]) -> None:
    """Write the names that we would write, and let adjustText move them."""
    names = network.nodes.to_arrow()["name"].to_pylist()
    wanted = np.array(captions.choose_named_nodes(network))
    style = {"fontsize": 7.5, "fontfamily": fonts, "ha": "center", "va": "center", "parse_math": False}
    found = [axes.text(*place[node], shorten(names[node], captions.MAX_LINE_LETTERS), **style) for node in wanted]
    shown = important(network)
    dots = axes.scatter(place[shown, 0], place[shown, 1], s=sizes[shown] ** 2, alpha=0)
    dots.set_sizes(dots.get_sizes(), axes.figure.dpi)
    adjust_text(found, target_x=place[wanted, 0], target_y=place[wanted, 1], objects=dots, ax=axes)


def named(network: Network, place: Array, add_captions: Callable[..., None]) -> tuple[float, int, int, int]:
    """Return the time to place names, and how many are placed, cover something and are misplaced."""
    seen: dict[str, Any] = {}

    def timed(axes: Any, network: Network, place: Array, sizes: Array, fonts: list[str], **options: Any) -> None:
        start = time.process_time()
        add_captions(axes, network, place, sizes, fonts, **options)
        seen.update(seconds=time.process_time() - start, around=sizes / 2)

    with replaced(matplotlib_module, layout=lambda network, seed: place, add_captions=timed):
        picture = matplotlib_module.figure(network)
    axes = picture.axes[0]
    boxes = np.array([text.get_window_extent().extents for text in axes.texts]).reshape(-1, 4)
    boxes += np.array([TOUCH, TOUCH, -TOUCH, -TOUCH])
    dots, around = axes.transData.transform(place), seen["around"] * picture.dpi / 72 - TOUCH
    shown = important(network)
    covers = (captions.count_touched(boxes, boxes) > 1) | (
        captions.sum_covered(boxes, dots, around, shown.astype(float)) > 0
    )
    outside = np.maximum(boxes[:, None, :2] - dots[shown], dots[shown] - boxes[:, None, 2:]).clip(0)
    nearest = np.flatnonzero(shown)[np.linalg.norm(outside, axis=2).argmin(axis=1)] if len(boxes) else []
    names = network.nodes.to_arrow()["name"].to_pylist()
    theirs = [shorten(names[node], captions.MAX_LINE_LETTERS) for node in nearest]
    astray = sum(text.get_text() != name for text, name in zip(axes.texts, theirs, strict=True))
    return seen["seconds"], len(boxes), int(covers.sum()), astray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[200, 2_000, 20_000])
    parser.add_argument("--slow", type=int, default=2_000)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    asked = parser.parse_args()
    cube = c2n.build(c2n.load_bundled())
    layout(make_network(cube, 50))  # compiled before a clock looks
    for nodes in asked.nodes:
        network = make_network(cube, nodes)
        print(f"\n{network}\n{'layout':34}{'seconds':>9}{'crossings':>11}{'names':>7}")
        ours = layout(network)
        for name, by in LAYOUTS.items():
            if by == "kamada_kawai" and nodes > asked.slow:
                continue
            start = time.process_time()
            place = laid_out(network, by)
            seconds = time.process_time() - start
            _, count, cover, _ = named(network, place, matplotlib_module.add_captions)
            print(f"{name:34}{seconds:9.2f}{crossings(network, place, asked.pairs):11.2%}{count - cover:7}", flush=True)
        print(f"{'names':34}{'seconds':>9}{'written':>11}{'cover':>7}{'astray':>8}")
        for name, add in {"ours": matplotlib_module.add_captions, "adjustText": add_adjusted}.items():
            if name == "ours" or "adjust_text" in globals():
                seconds, count, cover, astray = named(network, ours, add)
                print(f"{name:34}{seconds:9.2f}{count:11}{cover:7}{astray:8}", flush=True)


if __name__ == "__main__":
    main()
