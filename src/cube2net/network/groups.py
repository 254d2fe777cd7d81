"""Nodes that look the same in a picture, and how they look."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from cube2net.array_types import Array
from cube2net.network.captions import short
from cube2net.network.formats.plain import texts
from cube2net.records import Network

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow and black."""

SHAPES = {"o": 1.0, "^": 1.0, "D": 0.8, "v": 1.0}
"""Where labels are more than colours, the next shape; each with its size, so that all look equally large."""

GREY, RIM, CELL = "#555555", "#8C8C8C", "#F3DFA2"


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that look the same, and the line of the legend that says what they are."""

    text: str
    nodes: Array
    role: str
    colour: str
    shape: str = "o"
    rim: str = RIM

    @property
    def size(self) -> float:
        """The size its shape is drawn at."""
        return SHAPES.get(self.shape, 1.0)


def groups_of(network: Network) -> list[Group]:
    """Return the groups of nodes in the order of the legend: labels by name, then objects without, then cells."""
    node = np.arange(len(network))
    labels = np.array(texts(network.nodes, "label"), dtype=np.str_)
    inside = network.in_query
    counts = Counter(labels[inside & (labels != "")].tolist())
    shown = sorted(name for name, _ in counts.most_common(len(COLOURS) * len(SHAPES)))
    groups = [
        Group(
            f"{short(name, 40)} ({counts[name]:,})",
            node[labels == name],
            "query",
            COLOURS[number % len(COLOURS)],
            list(SHAPES)[number // len(COLOURS)],
            "white",
        )
        for number, name in enumerate(shown)
    ]
    rest = node[inside & ~np.isin(labels, shown)]
    if not counts:
        groups.append(Group(f"query ({len(rest):,})", rest, "query", COLOURS[0], rim="white"))
    elif len(rest):
        others = f"{len(counts) - len(shown):,} other labels" if len(counts) > len(shown) else "query without a label"
        groups.append(Group(f"{others} ({len(rest):,})", rest, "query", GREY, rim="white"))
    objects = node[~inside & (node < len(network.objects))]
    if len(objects):
        groups.append(Group(f"other objects ({len(objects):,})", objects, "other", "white"))
    if len(network.cells):
        groups.append(Group(f"cells ({len(network.cells):,})", node[len(network.objects) :], "cell", CELL, "s"))
    return groups
