"""The command that proposes dimensions: what it is asked, what it shows, and the command that builds the cube."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.cli.app import as_typed
from cube2net.cli.building import read, reader_of
from cube2net.cli.options import SOURCE_NAMES, split_settings
from cube2net.cli.output import say, show_table
from cube2net.errors import listed, plain
from cube2net.progress import Progress
from cube2net.records.spec import MIN_OBJECTS
from cube2net.records.suggestion import Proposal, Suggestion

TABLES = "tables"


@dataclass(frozen=True)
class Request:
    """What the command was asked to look at."""

    source: str
    paths: tuple[Path, ...]
    settings: tuple[str, ...]
    where: tuple[str, ...]
    strict: bool
    min_objects: int
    seed: int

    def command(self, found: Suggestion) -> str:
        """Return the command that builds the cube, as a shell reads it."""
        words = ["cube2net", "build", self.source, *map(str, self.paths)]
        for spec in found.dimensions:
            words += ["--dimension", str(spec)]
        if found.needs_topics:
            words += ["--topics", str(found.topics)]
        if self.min_objects != MIN_OBJECTS:
            words += ["--min-objects", str(self.min_objects)]
        for setting in self.settings:
            words += ["--set", setting]
        for label in self.where:
            words += ["--where", label]
        words += ["--strict"] * self.strict
        if self.seed:
            words += ["--seed", str(self.seed)]
        return shlex.join(words)

    def python(self, found: Suggestion) -> list[str]:
        """Return the lines of Python that build the cube; parameters of the source come as they were typed."""
        names = [str(path) for path in self.paths]
        options = self._options()
        bundled = self.source == "bundled"
        read = "c2n.load_bundled()" if bundled else f"c2n.read_source({_called([self.source, *names], options)})"
        build = [repr([str(spec) for spec in found.dimensions])]
        if found.needs_topics:
            build.append(f"topics=Lda(count={found.topics})")
        if self.min_objects != MIN_OBJECTS:
            build.append(f"min_objects={self.min_objects}")
        if self.seed:
            build.append(f"seed={self.seed}")
        lines = ["import cube2net as c2n"]
        if found.needs_topics:
            lines.append("from cube2net.topics import Lda")
        return [*lines, f"corpus = {read}", f"cube = c2n.build_cube(corpus, {', '.join(build)})"]

    def _options(self) -> list[str]:
        """Return the parameters of the source as Python writes them."""
        if self.source == "bundled":
            return []
        reader = reader_of(self.source, self.paths, self.settings, self.strict, self.where)
        named = [*split_settings(self.settings), *["where"] * bool(self.where), *["strict"] * self.strict]
        return [f"{name}={getattr(reader, name)!r}" for name in dict.fromkeys(named)]


def asked_of(
    words: Sequence[str], settings: Sequence[str], where: Sequence[str], *, strict: bool, min_objects: int, seed: int
) -> Request:
    """Return what words ask for: a kind of source and paths, or paths of tables."""
    source, paths = (words[0], words[1:]) if words and words[0] in SOURCE_NAMES else (TABLES, words)
    return Request(source, tuple(map(Path, paths)), tuple(settings), tuple(where), strict, min_objects, seed)


def suggest(asked: Request, query: Path | None, splits: int, progress: Progress) -> Suggestion:
    """Return what is proposed for files."""
    corpus = read(asked.source, asked.paths, asked.settings, asked.strict, progress, asked.where)
    return pipeline.suggest(
        corpus, query, min_objects=asked.min_objects, splits=splits, seed=asked.seed, progress=progress
    )


def as_record(asked: Request, found: Suggestion) -> dict[str, Any]:
    """Return all of it for JSON."""
    build = {"command": asked.command(found), "python": asked.python(found)} if found.dimensions else {}
    return {**found.record(), **build}


def show(asked: Request, found: Suggestion) -> None:
    """Show what was found, the reasons, and what to type."""
    say(f"looked at {found.looked_at:,} of {found.items:,} items")
    show_table(
        "attributes",
        ("attribute", "is", "values", "filled", "may become"),
        [
            (each.name, each.kind, f"{each.distinct:,}", f"{each.filled:.0%}", str(each.dimension or ""))
            for each in found.attributes
        ],
        right=("values", "filled"),
    )
    say(*(f"{plain(each.name)} {each.reason}" for each in found.attributes))
    if found.dependencies:
        say(f"levels: {listed(found.dependencies)}")
    say("")
    _show_proposals("each dimension by itself", found.alone)
    if not found.dimensions:
        say(f"nothing to propose: {as_typed(found.why)}")
        return
    _show_proposals("together", found.proposals)
    if found.topics is not None:
        exact = "" if found.query is None else ", and here they were found"
        say(f"topics are counted as if {found.topics} of them were spread evenly over the texts{exact}")
    say(f"proposed: {listed(found.dimensions)}: {found.reason}", "")
    say(asked.command(found), "")
    say("in Python:", *(f"  {line}" for line in asked.python(found)))


def _show_proposals(title: str, proposals: Sequence[Proposal]) -> None:
    columns = ["dimensions", "cells", "objects in cells", "too small", "giant", "bits"]
    together = any(each.counts.together is not None for each in proposals)
    held = any(each.held is not None for each in proposals)
    rows = [
        (
            " × ".join(map(str, each.dimensions)),
            f"{each.counts.cells:,}",
            f"{each.counts.share:.0%}",
            f"{each.counts.dead:,}",
            f"{each.counts.giant:,}",
            f"{each.counts.bits:.1f}",
            *([_percent(each.counts.together)] if together else []),
            *([str(each.held or "")] if held else []),
        )
        for each in proposals
    ]
    columns += ["no chance"] * together + ["hidden half held"] * held
    show_table(title, columns, rows, right=columns[1:])


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _called(values: Sequence[str], options: Sequence[str]) -> str:
    return ", ".join([*map(repr, values), *options])
