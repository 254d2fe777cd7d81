"""The commands that tell sets of objects apart: what they show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from cube2net import pipeline
from cube2net.cli import answering, network_files
from cube2net.cli.terminal import say, show_json, show_table
from cube2net.confidence import LEVEL
from cube2net.records import Cube, Query
from cube2net.records.contrast import Contrast, Description


def contrasted(
    cube: Cube, queries: Sequence[Query], files: Sequence[Path], m: int, chance: float
) -> Contrast | Description:
    """Return what tells two queries apart, called as their files are, or the labels of one."""
    if len(queries) == 1:
        return pipeline.contrast(cube, queries[0], m=m, chance=chance)
    one, two = queries
    return pipeline.contrast(cube, one, two, m, names=side_names(*files), chance=chance)


def side_names(one: Path, two: Path) -> tuple[str, str]:
    """Return what to call the sides of two files: what their names are without endings, or what else tells them apart.

    >>> side_names(Path("a/labs.csv"), Path("b/areas.csv")), side_names(Path("a/labs.csv"), Path("b/labs.csv"))
    (('labs', 'areas'), ('a/labs.csv', 'b/labs.csv'))
    >>> side_names(Path("labs.csv"), Path("labs.csv"))
    ('labs', 'labs (again)')
    """
    if one.stem != two.stem:
        return one.stem, two.stem
    if one == two:
        return one.stem, f"{one.stem} (again)"
    return (one.name, two.name) if one.name != two.name else (str(one), str(two))


def written(
    found: Contrast | Description, out: Path | None, draw: Path | None, *, spreadsheet_safe: bool, seed: int
) -> list[Path]:
    """Return the files that the network of a contrast was written and drawn to; without any it is not made."""
    if out is None and draw is None:
        return []
    return network_files.write_files(
        found.network, out, draw, spreadsheet_safe=spreadsheet_safe, seed=seed, name_cells=True
    )


def tell(
    found: Contrast | Description, cube: Cube, queries: Sequence[Query], paths: Sequence[Path], *, as_json: bool
) -> None:
    """Print what tells sets of objects apart, of which part of the cube, without whom, and the files written."""
    if as_json:
        show_json(found.to_dict() | answering.about_view(cube, brings=False) | answering.about_missing(*queries))
        return
    answering.show_view(cube, brings=False)
    show(found)
    answering.show_missing(*queries, cube=cube)
    if paths:
        say("")
        network_files.say_files(paths)


def show(found: Contrast | Description) -> None:
    """Show the cells of each contrast, and a sentence."""
    for number, each in enumerate(found.contrasts if isinstance(found, Description) else (found,)):
        if number:
            say("")
        show_contrast(each)
    if isinstance(found, Description) and found.note:
        say(found.note)


def show_contrast(found: Contrast) -> None:
    """Show the cells of a contrast in a table, and what is to be said of it."""
    one, two = found.names
    if found.cells:
        columns = ("cell", one, two, "lift", "difference, 95 %", "chance")
        rows = [
            (
                cell.title,
                f"{cell.shares[0]:.0%} ({cell.ones:,})",
                f"{cell.shares[1]:.0%} ({cell.twos:,})",
                "∞" if math.isinf(cell.lift) else f"{cell.lift:,.1f}",
                f"{cell.difference:+.2f} ({cell.low:+.2f} to {cell.high:+.2f})",
                f"{cell.chance:.2g}",
            )
            for cell in found.cells
        ]
        show_table(f"{one} against {two}", columns, rows, right=columns[1:])
    say(found.sentence)
    if found.cells:
        say(f"{_worth(found)}; {_looked_at(found)}")


def _worth(found: Contrast) -> str:
    if found.proven:
        return f"value {found.value:.3f}, and no choice of so many cells is worth more"
    return f"value {found.value:.3f}, and no choice of so many cells is worth more than {found.bound:.3f}"


def _looked_at(found: Contrast) -> str:
    explained = f", {found.explained:,} of them explained by more general ones" if found.explained else ""
    verbs = ("is", "has") if found.sure == 1 else ("are", "have")
    sure = f"{verbs[0]} sure" if found.chance <= LEVEL else f"{verbs[1]} a chance of at most {found.chance:g}"
    return f"of {found.tested:,} cells tested, {found.sure:,} {sure}{explained}"
