"""A close-up as a still drawing: the pair in the middle, what both are linked to between them, the rest outside."""

from __future__ import annotations

from collections.abc import Sequence

from cube2net.referee.closeups import CloseUp
from cube2net.referee.page_html import text
from cube2net.referee.page_looks import LABELS

WIDE, STEP, LEAST = 760, 30, 250
PAIR, OWN = (0.34, 0.66), (0.2, 0.8)
LONG = {"pair": 20, "shared": 15, "own": 17}
SAYS = {
    "closer": ("Drawn closer", "same label, no link between them"),
    "apart": ("Drawn apart", "different labels"),
}


def close_up_figure(found: CloseUp) -> str:
    """Return a figure of a pair: a drawing with the names of its nodes, and a caption with the measured cosines."""
    title, about = SAYS[found.kind]
    nodes = found.network.nodes
    names, labels = nodes["name"].to_pylist(), nodes["label"].to_pylist()
    one, other = found.pair
    if found.kind == "apart" and found.fits:
        about += ", linked"
    shared = len(found.shared)
    bridge = f"; {shared} drawn node{'s' * (shared != 1)} between them" if shared else ""
    return (
        f'<figure class="closeup"><figcaption><h3>{title}</h3>'
        f"<p><b>{text(names[one])}</b> <i>{text(labels[one])}</i> and "
        f"<b>{text(names[other])}</b> <i>{text(labels[other])}</i>: {about}{bridge}.</p>"
        f'<p class="cosine"><span>cosine</span> {_signed(found.before)} <span>→</span> '
        f"<b>{_signed(found.after)}</b></p></figcaption>\n"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">{_drawing(found, names, labels)}</div>'
        "</figure>"
    )


def _drawing(found: CloseUp, names: Sequence[str], labels: Sequence[str]) -> str:
    """Return the drawing itself."""
    network, (one, other) = found.network, found.pair
    linked = {frozenset(ends) for ends in zip(network.source.tolist(), network.target.tolist(), strict=True)}
    shared = [node for node in found.nodes[2:] if node in found.shared]
    rest = [node for node in found.nodes[2:] if node not in found.shared]
    sides = [[node for node in rest if frozenset((node, end)) in linked] for end in found.pair]
    tall = max(LEAST, STEP * (max(len(shared), *(len(side) for side in sides)) + 1))
    places = {one: (PAIR[0] * WIDE, tall / 2), other: (PAIR[1] * WIDE, tall / 2)}
    for nodes, x in ((shared, 0.5), (sides[0], OWN[0]), (sides[1], OWN[1])):
        for number, node in enumerate(nodes):
            places[node] = (x * WIDE, tall / 2 + STEP * (number - (len(nodes) - 1) / 2))
    if len(shared) % 2:
        for node in shared:  # the middle is for the pair's own link and for its names
            places[node] = (places[node][0], places[node][1] + STEP / 2)
    query = len(network.query)
    colour = _colours(network.nodes["label"].to_pylist()[:query])
    lines, dots = [], []
    for a, b in sorted(tuple(sorted(pair)) for pair in linked if pair <= places.keys() and len(pair) == 2):
        kind = "inside" if b < query else "outside"
        direct = " direct" if {a, b} == {one, other} else ""
        lines.append(f'<path class="{kind}{direct}" d="{_path(places[a], places[b])}"/>')
    for node, (x, y) in places.items():
        role = "pair" if node in found.pair else "shared" if node in shared else "own"
        side = {one: "up", other: "up"}.get(node) or ("left" if x < WIDE / 2 - 1 else "right")
        cell = node >= len(network.objects)
        kind = "cell" if cell else colour.get(labels[node], "plain") if node < query else "other"
        dots.append(_node(x, y, names[node], role, side, kind, below=y > tall / 2))
    said = text(f"{names[one]} and {names[other]} with their neighbours")
    return (
        f'<svg viewBox="0 0 {WIDE} {tall}" role="img" aria-label="{said}"><g class="links">{"".join(lines)}</g>'
        f"{''.join(dots)}</svg>"
    )


def _node(x: float, y: float, name: str, role: str, side: str, kind: str, *, below: bool) -> str:
    radius = {"pair": 10.0, "shared": 6.5, "own": 5.5}[role]
    body = (
        f'<rect x="{x - radius:.1f}" y="{y - radius:.1f}" width="{2 * radius}" height="{2 * radius}"/>'
        if kind == "cell"
        else f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
    )
    shift = {"left": (-radius - 5, 4), "right": (radius + 5, 4), "up": (0, -radius - 7)}[side]
    anchor = {"left": "end", "right": "start", "up": "middle"}[side]
    if role == "shared":
        shift, anchor = (0, radius + 13 if below else -radius - 3), "middle"
    return (
        f'<g class="{kind} {role}"><title>{text(name)}</title>{body}<text x="{x + shift[0]:.1f}" '
        f'y="{y + shift[1]:.1f}" text-anchor="{anchor}">{text(_short(name, LONG[role]))}</text></g>'
    )


def _path(one: tuple[float, float], other: tuple[float, float]) -> str:
    """Return a line from one place to another, bent where both stand in one column."""
    (x, y), (u, v) = one, other
    if abs(x - u) > 1:
        return f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"
    bend = 14 + abs(y - v) / 7
    aside = x + (bend if x <= WIDE / 2 else -bend)
    return f"M{x:.1f} {y:.1f}Q{aside:.1f} {(y + v) / 2:.1f} {u:.1f} {v:.1f}"


def _colours(labels: Sequence[str]) -> dict[str, str]:
    """Return the class of every label, whose colour is the same as in the drawing of the network."""
    return {name: f"label{number % len(LABELS)}" for number, name in enumerate(sorted(set(labels) - {""}))}


def _short(name: str, most: int) -> str:
    line = " ".join(name.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
