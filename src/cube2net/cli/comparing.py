"""The command that judges methods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.cli.terminal import say, show_table
from cube2net.errors import ParameterError
from cube2net.progress import silent
from cube2net.records import Comparison, Cube

# So many networks of a comparison are shown; a report has all.
SHOWN = 12


def compare(
    cube: Cube,
    path: Path,
    *,
    task: str | None,
    hidden: Path | None,
    methods: Sequence[str] | None,
    objectives: Sequence[str] | None,
    forms: Sequence[str] | None,
    memberships: Sequence[str] | None,
    levels: Sequence[str] | None,
    miners: Sequence[str] | None,
    rivals: Sequence[str] | None,
    out: Path | None,
    spreadsheet_safe: bool,
    skip_missing: bool,
    command: str,
    **options: Any,
) -> tuple[Comparison, list[Path]]:
    """Return the comparison of methods on a query file, and the files of its report where a folder is given."""
    if hidden is not None and task not in (None, "links"):
        raise ParameterError(f"--hidden is for the task 'links', and the task is {task!r}")
    if out is not None:
        pipeline.check_report()
    query = pipeline.read_query(cube, path, skip_missing=skip_missing)
    task = task or ("links" if hidden is not None else pipeline.task_of(query))
    given = {"methods": methods, "objectives": objectives, "forms": forms, "memberships": memberships}
    given |= {"miners": miners, "rivals": rivals}
    lists: dict[str, Any] = {name: names_in(name, texts) for name, texts in given.items()}
    comparison = pipeline.compare(
        cube,
        query,
        task,
        hidden=None if hidden is None else pipeline.read_links(cube, hidden),
        levels=levels or None,
        out=out,
        **{name: names for name, names in lists.items() if names},
        **options,
    )
    if out is None:
        return comparison, []
    options.get("progress", silent)("writing the report", 0, None)
    return comparison, pipeline.write_report(
        cube, query, comparison, out, command=command, spreadsheet_safe=spreadsheet_safe
    )


def split(texts: Sequence[str] | None) -> list[str]:
    """Return names that were written with commas, or one by one.

    >>> split(["greedy,hops 2", "none"])
    ['greedy', 'hops 2', 'none']
    """
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def names_in(option: str, texts: Sequence[str] | None) -> list[str]:
    """Return the names that an option gives, none where it was not used; one without any name is refused."""
    names = split(texts)
    if texts and not names:
        raise ParameterError(f"--{option} is {texts[0]!r}, expected one or more names with commas")
    return names


def show_comparison(comparison: Comparison) -> None:
    """Show the verdict, and the setups that come nearest to it."""
    said = pipeline.verdict(comparison)
    several = len({setup.m for setup in comparison.setups if setup.m}) > 1
    say(said.sentence, "")
    rows = [("the query alone", *_numbers(comparison, said.finding.alone), "–", "–", "–", "")]
    rows += [
        (
            found.one.method if found.one.like else found.one.name if several else found.one.title,
            *_numbers(comparison, way),
            f"{found.mean:+.3f}",
            "–" if math.isnan(found.low) else f"[{found.low:+.3f}, {found.high:+.3f}]",
            _p_value(found.chance),
            "yes" if found.sure else "no",
        )
        for way, found in zip(said.finding.ways[1 : SHOWN + 1], said.differences, strict=False)
    ]
    measures, count = comparison.main_measures, len(said.differences)
    columns = ("network", "nodes", *measures, f"{measures[0]} difference", "95 % interval", "p", "sure")
    title = "the best of the networks tried; differences are to the query alone"
    show_table(title + (f", corrected for {count:,}" if count > 1 else ""), columns, rows, right=columns[1:-1])
    if len(said.differences) > SHOWN:
        say(f"and {len(said.differences) - SHOWN:,} others; a report has them all (--out)")
    for note in said.notes.values():
        if note not in said.sentence:
            say(note)
    for setup in comparison.setups:
        for reason in comparison.reasons(setup)[:1]:
            say(f"{setup.name}: {reason}")


def _numbers(comparison: Comparison, way: Any) -> list[str]:
    """Return the nodes of a network and the means of its main measures."""
    means = (way.score, way.nmi)
    return [f"{way.nodes:,.0f}", *(f"{mean:.3f}" for mean in means[: len(comparison.main_measures)])]


def _p_value(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"
