"""Draw the pictures of docs/explanation from the bundled papers.

    python scripts/make_figures.py [cube] [selection] [proof] [verdict]   (all by default)

``cube.png`` and ``selection.png`` show a part of the cube year × venue × topic, one sheet per year and one square per
cell. ``proof.png`` shows values of selections below the upper bound, and ``verdict.png`` the scores of several networks
run by run.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.patches import Polygon

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.query import Query

FOLDER = Path(__file__).parents[1] / "docs" / "explanation"
SHEETS, COLUMNS, ROWS = 4, 7, 7
"""How many years, venues and topics are shown."""
INK, FAINT, CHOSEN = "#222222", "#8a8f98", "#d55e00"
COLOURS = ("#8a8f98", "#0072b2", "#009e73")
BLUES = LinearSegmentedColormap.from_list("blues", ["#deebf7", "#0072b2"])
DEEP, SLANT, RISE = 0.55, 0.6, 4.6
"""How deep a row of squares is drawn, how far it leans to the right, how far apart sheets lie; a square is 1 wide."""


@dataclass(frozen=True)
class Sheets:
    """Some years, venues and topics of a cube, and the cells chosen for a query."""

    cube: Cube
    query: Query
    chosen: frozenset[int]
    years: tuple[str, ...]
    venues: tuple[str, ...]
    topics: tuple[str, ...]

    def cell(self, year: str, venue: str, topic: str) -> int | None:
        """Return the number of a cell, or None if it has fewer than ten authors."""
        labels = (year, venue, topic)
        return self.cube.find_cell(labels) if self.cube.has_cell(labels) else None


@cache
def the_cube() -> Cube:
    """Build the cube year × venue × topic of the bundled papers."""
    return c2n.build(c2n.load_bundled(), ["year@years", "venue", "topic"])


@cache
def the_sheets() -> Sheets:
    """Return the part of the cube with most of the cells chosen for the 116 authors."""
    cube = the_cube()
    query = cube.query(c2n.load_labs())
    chosen = c2n.construct(cube, query).selection.cells.tolist()
    names = [cube.cell(number) for number in chosen]
    years, venues, topics = (
        [label for label, _ in Counter(column).most_common(most)]
        for column, most in zip(zip(*names, strict=True), (SHEETS, COLUMNS, ROWS), strict=True)
    )
    return Sheets(
        cube, query, frozenset(chosen), tuple(sorted(years, reverse=True)), tuple(sorted(venues)), tuple(topics)
    )


def corners(sheet: int, row: int, column: int) -> list[tuple[float, float]]:
    """Return the positions of the four corners of a square."""
    base = -RISE * sheet
    return [
        (column + SLANT * row + SLANT * up + along, base + DEEP * (row + up))
        for up, along in ((0, 0), (0, 1), (1, 1), (1, 0))
    ]


def draw_sheets(
    axes: Axes, sheets: Sheets, colour: Callable[[int], tuple[float, ...] | str], outlined: frozenset[int] = frozenset()
) -> None:
    """Draw each square in the colour of its cell, some with a strong edge, and the labels."""
    for layer, year in enumerate(sheets.years):
        for row, topic in reversed(list(enumerate(sheets.topics))):
            for column, venue in enumerate(sheets.venues):
                number = sheets.cell(year, venue, topic)
                chosen = number in outlined
                axes.add_patch(
                    Polygon(
                        corners(layer, row, column),
                        facecolor="white" if number is None else colour(number),
                        edgecolor=CHOSEN if chosen else "#c8cdd3",
                        linewidth=2.2 if chosen else 0.6,
                        zorder=3 if chosen else 1,
                    )
                )
        axes.text(-0.5, -RISE * layer + 0.1, year, ha="right", fontsize=13, color=INK, weight="bold")
    last = len(sheets.years) - 1
    for column, venue in enumerate(sheets.venues):
        axes.text(column + 0.45, -RISE * last - 0.25, venue, ha="right", va="top", rotation=35, fontsize=10, color=INK)
    for layer in range(len(sheets.years)):
        for row, topic in enumerate(sheets.topics):
            x, y = len(sheets.venues) + SLANT * (row + 0.5) + 0.15, -RISE * layer + DEEP * (row + 0.5)
            axes.text(x, y, topic, va="center", fontsize=8.5, color=INK if layer == 0 else FAINT)
    axes.set_xlim(-2, len(sheets.venues) + SLANT * len(sheets.topics) + 5.6)
    axes.set_ylim(-RISE * last - 2.1, DEEP * len(sheets.topics) + 0.5)
    axes.set_aspect("equal")
    axes.axis("off")


def draw_cube() -> None:
    """Draw the number of authors in each cell."""
    sheets = the_sheets()
    sizes = np.diff(sheets.cube.cells.members.indptr)
    most = max(
        sizes[number]
        for year in sheets.years
        for venue in sheets.venues
        for topic in sheets.topics
        if (number := sheets.cell(year, venue, topic)) is not None
    )
    norm = PowerNorm(0.5, 10, most)
    figure, axes = plt.subplots(figsize=(8.2, 8.6))
    draw_sheets(axes, sheets, lambda number: BLUES(norm(sizes[number])))
    scale = figure.colorbar(
        mpl.cm.ScalarMappable(norm, BLUES), ax=axes, location="bottom", shrink=0.5, pad=0.01, aspect=30
    )
    scale.set_label("authors in the cell (white: fewer than ten)", fontsize=9)
    keep(figure, "cube.png")


def draw_selection() -> None:
    """Draw the number of the 116 authors in each cell, and the chosen cells."""
    sheets = the_sheets()
    members = sheets.cube.cells.members
    hits = np.add.reduceat(np.isin(members.indices, sheets.query.objects).astype(int), members.indptr[:-1])
    norm = PowerNorm(0.5, 0, hits.max())
    figure, axes = plt.subplots(figsize=(8.2, 8.6))
    draw_sheets(
        axes,
        sheets,
        lambda number: BLUES(norm(hits[number])) if hits[number] else "#f4f5f6",
        sheets.chosen,
    )
    scale = figure.colorbar(
        mpl.cm.ScalarMappable(norm, BLUES), ax=axes, location="bottom", shrink=0.5, pad=0.01, aspect=30
    )
    scale.set_label("authors of the query in the cell (orange edge: chosen)", fontsize=9)
    keep(figure, "selection.png")


def draw_proof() -> None:
    """Draw the values that three methods reach by number of cells, and the upper bound."""
    cube = the_cube()
    query = cube.query(c2n.load_areas())
    counts = (1, 2, 3, 5, 8, 12, 16, 20, 26, 32, 40, 50, 60)
    methods = {
        "greedy, the paper's": {"method": "greedy"},
        "greedy at the final price": {"method": "greedy", "by": "price"},
        "annealing": {"method": "anneal"},
    }
    figure, axes = plt.subplots(figsize=(7.6, 4.6))
    bounds = np.full(len(counts), np.inf)
    for colour, (name, words) in zip(COLOURS, methods.items(), strict=True):
        chosen = [
            c2n.api.construct_by_name(
                cube, query, n_cells=m, objective="jaccard", form="objects", bound=True, **words
            ).selection
            for m in counts
        ]
        axes.plot(counts, [one.value for one in chosen], "o-", color=colour, label=name, markersize=4)
        bounds = np.fmin(bounds, [one.bound for one in chosen])
        print(name, [f"{one.value:.4f} of {one.bound:.4f}" for one in chosen if one.bound])
    top = 1.08 * bounds.max()
    axes.plot(counts, bounds, color=CHOSEN, label="the bound: no choice of so many cells is worth more")
    axes.fill_between(counts, bounds, top, color=CHOSEN, alpha=0.12, linewidth=0)
    axes.set_xlabel("cells, at most")
    axes.set_ylabel("value: |M ∩ Q| / |M ∪ Q|")
    axes.set_xlim(0, counts[-1])
    axes.set_ylim(0, top)
    axes.legend(frameon=False, loc="lower right", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    keep(figure, "proof.png")


def draw_verdict() -> None:
    """Draw the scores of four networks run by run, and their differences to the query alone."""
    cube = c2n.build(c2n.load_bundled(without_sigs=c2n.api.AREA_SIGS))
    comparison = c2n.compare(
        cube,
        c2n.load_areas(),
        methods=["none", "greedy"],
        runs=10,
        options=c2n.ComparisonOptions(objectives=["cover"], forms=["hybrid"]),
    )
    verdict = comparison.verdict()
    print(verdict.sentence)
    configs = comparison.configurations
    measure = comparison.measures[0]
    figure, (runs, gains) = plt.subplots(1, 2, figsize=(9.6, 3.4), sharey=True, gridspec_kw={"wspace": 0.08})
    by_configuration = {difference.one: difference for difference in verdict.differences}
    for place, config in enumerate(configs):
        colour = "#0072b2" if config.objective else "#555b66"
        scores = np.mean(
            [[one.scores[measure] for one in comparison.of(config, model)] for model in comparison.deciding], 0
        )
        runs.plot(scores, np.full(len(scores), place), "o", color=colour, alpha=0.55, markersize=5)
        runs.plot([scores.mean()], [place], "|", color=INK, markersize=18, markeredgewidth=2)
        if config in by_configuration:
            gain = by_configuration[config]
            gains.plot([gain.low, gain.high], [place, place], color=colour, linewidth=2.5)
            gains.plot([gain.mean], [place], "o", color=colour)
    names = {"none": "the query alone", "greedy": "the default network"}
    said = [f"{names.get(one.method, one.method)}{', as large' if one.like else ''}" for one in configs]
    runs.set_yticks(range(len(configs)), said)
    runs.invert_yaxis()
    runs.set_xlabel(f"{measure}, a point a run")
    gains.axvline(0, color=INK, linewidth=0.8)
    gains.set_xlabel(f"{measure} above that of the query alone, 95 %")
    for axes in (runs, gains):
        axes.spines[["top", "right"]].set_visible(False)
    gains.tick_params(left=False)
    keep(figure, "verdict.png")


def keep(figure: plt.Figure, name: str) -> None:
    """Save a picture beside its page."""
    figure.savefig(FOLDER / name, dpi=130, bbox_inches="tight", facecolor="white")
    plt.close(figure)


DRAWN = {"cube": draw_cube, "selection": draw_selection, "proof": draw_proof, "verdict": draw_verdict}


def main() -> None:
    """Draw the requested pictures."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    reader.add_argument("names", nargs="*", choices=[*DRAWN, []])
    for name in reader.parse_args().names or DRAWN:
        DRAWN[name]()


if __name__ == "__main__":
    main()
