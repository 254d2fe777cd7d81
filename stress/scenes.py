"""Commands that write, each with its initial state and the allowed states before and after."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stress.bases import BUILD
from stress.launch import run_command

Digest = str
NOTHING = "nothing"


def digest(path: Path) -> Digest:
    """Return a checksum of all bytes of a file or folder."""
    if not path.exists():
        return NOTHING
    held = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            held.update(f"{file.relative_to(path)} {file.stat().st_size}\n".encode() + file.read_bytes())
    return held.hexdigest()


@dataclass(frozen=True)
class Scene:
    """A command in a folder, its setup, its output, and how the output is summarised.

    ``after`` is a second command that writes to the same place, for states in which the first would be refused.
    """

    name: str
    argv: tuple[str, ...]
    place: str
    starts_from: str | None = None
    after: tuple[str, ...] | None = None
    digest: Callable[[Path], Digest] = digest


def digest_both(path: Path) -> Digest:
    """Return a checksum of a network in two files, each complete or missing."""
    return f"{digest(path)} {digest(path.with_suffix('.svg'))}"


def digest_report(folder: Path) -> Digest:
    """Return a checksum of a report without the times of its trials."""
    table = folder / "scores.csv"
    if not all((folder / name).exists() for name in ("scores.csv", "trials.csv", "results.json")):
        return NOTHING
    scores = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    with (folder / "trials.csv").open(encoding="utf-8", newline="") as file:
        trials = [{k: v for k, v in row.items() if "second" not in k} for row in csv.DictReader(file)]
    return hashlib.sha256(table.read_bytes() + repr((trials, scores.get("verdict"))).encode()).hexdigest()


def litter(folder: Path, place: str) -> list[str]:
    """Return hidden files beside a place and in it, which a successful command does not leave."""
    inside = list((folder / place).iterdir()) if (folder / place).is_dir() else []
    return sorted(path.name for path in [*folder.iterdir(), *inside] if path.name.startswith("."))


SCENES = {
    scene.name: scene
    for scene in (
        Scene("build", ("build", "tables", "first", "--out", "cube", *BUILD), "cube"),
        Scene("overwrite", ("build", "tables", "other", "--out", "cube", *BUILD), "cube", "plain"),
        Scene(
            "update",
            ("update", "cube", "more", "--source", "tables", "--quiet"),
            "cube",
            "plain",
            ("update", "cube", "again", "--source", "tables", "--quiet"),
        ),
        Scene(
            "export",
            ("query", "plain", "--query", "query.csv", "--out", "net.graphml", "--draw", "net.svg", "--quiet"),
            "net.graphml",
            digest=digest_both,
        ),
        Scene(
            "compare",
            (
                *("compare", "plain", "--query", "query.csv", "--methods", "none,hops", "--models", "line"),
                *("--runs", "2", "--out", "report", "--workers", "1", "--quiet"),
            ),
            "report",
            digest=digest_report,
        ),
    )
}


def stage(base: Path, folder: Path, scene: Scene) -> None:
    """Make a folder in which the command of a scene can run."""
    folder.mkdir(parents=True)
    for name in ("first", "more", "again", "other", "query.csv", "plain"):
        (folder / name).symlink_to(base / name)
    if scene.starts_from is not None:
        shutil.copytree(base / scene.starts_from, folder / scene.place)


@dataclass(frozen=True)
class Known:
    """The states of the output of a scene: before, after its command, after the second one; and its time.

    An output of two files is complete if each of them is the old or the new one.
    """

    before: Digest
    after: Digest
    later: Digest | None
    seconds: float

    @property
    def whole(self) -> set[Digest]:
        """All complete states."""
        halves = zip(self.before.split(), self.after.split(), strict=False)
        return {self.before, self.after, *map(" ".join, itertools.product(*halves))}


@cache
def known(base: Path, scene: Scene) -> Known:
    """Return the states of a scene by running it undisturbed; the second run is timed."""
    for number in range(2):
        folder = base / f"known-{scene.name}-{number}"
        stage(base, folder, scene)
        before = scene.digest(folder / scene.place)
        ended = run_command(scene.argv, folder, streams=folder / "streams")
        if ended.status:
            raise RuntimeError(f"{scene.name} does not work undisturbed: {ended.told}")
        after = scene.digest(folder / scene.place)
    later = None
    if scene.after is not None:
        run_command(scene.after, folder, streams=folder / "streams")
        later = scene.digest(folder / scene.place)
    return Known(before, after, later, ended.seconds)
