"""The interactive drawing of a network: the query in the colours of its labels, other objects white, cells square."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from cube2net.array_types import Array
from cube2net.records import Drawing, Network
from cube2net.referee.report.figures import CELL, FAINT, INK, LABELS, MUTED, PAPER, RIM, blank, faint, safe
from cube2net.seeding import stream

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
