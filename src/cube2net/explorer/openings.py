"""Opening a cube after the start: files that are handed over, what they hold, and the cubes of a folder."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.api.opening_shapes import RecentCube, StartAnswer
from cube2net.atomic_files import can_write
from cube2net.errors import Cube2netError, some, unknown
from cube2net.explorer import uploads
from cube2net.explorer.replies import RefusalError
from cube2net.explorer.uploads import Uploads
from cube2net.explorer.work import Threads
from cube2net.explorer.worker_pool import WorkerPool
from cube2net.progress import Progress
from cube2net.records import Cube

MOST_RECENT = 20
LOOKED_AT = 1_000
"""So many entries of a folder are looked at for cubes."""
MAKER = "cube2net.explorer.cube_maker"
EXAMPLE_SAYS = "39,833 papers of natural language processing, and the authors of four labs"


@dataclass(frozen=True)
class OpenedCube:
    """A cube, the end of the address that the page begins with, and whether it is kept; else the folder to leave."""

    cube: Cube
    begin: str = ""
    kept: bool = False
    made: Path | None = None


class Openings:
    """What can be opened: files in a temporary ``folder``, which others remove, and the cubes of ``home``."""

    def __init__(self, folder: Path, home: Path, *, workers: int = 1, waiting: int = 4) -> None:
        self.home = home
        self.files = Uploads(folder, (*pipeline.TABLE_ENDINGS, *pipeline.GRAPH_ENDINGS))
        self._made = folder / "made"
        self._made.mkdir(mode=0o700)
        self._pool = WorkerPool({"maker": True}, workers, waiting, module=MAKER)
        # Cubes are kept by this process, which is asked to stop and then removes what it began: a worker is killed.
        self._keeping = Threads(workers, waiting, "explorer keeping")
        self._opened = 0
        self._leaving: set[asyncio.Task[None]] = set()

    def start(self, cube: str | None) -> StartAnswer:
        """Return what can be opened."""
        return {
            "opens": True,
            "cube": cube,
            "folder": self.home.resolve().name or str(self.home),
            "keeps": can_write(self.home),
            "recent": self.recent(),
            "endings": list(self.files.endings),
            "files": uploads.MOST_FILES,
            "bytes": uploads.MOST_UPLOADED,
            "example": EXAMPLE_SAYS,
        }

    def recent(self) -> list[RecentCube]:
        """Return the cubes of the folder, the newest first."""
        found: list[tuple[float, RecentCube]] = []
        with suppress(OSError):
            for place, _ in zip(self.home.iterdir(), range(LOOKED_AT), strict=False):
                with suppress(OSError, Cube2netError):
                    time = (place / "manifest.json").stat().st_mtime
                    manifest = pipeline.read_manifest(place)
                    files = (pipeline.reading_in(manifest["settings"]) or {}).get("files")
                    counts = manifest["counts"]
                    about: RecentCube = {
                        "name": place.name,
                        "objects": counts["objects"],
                        "cells": counts["cells"],
                        "files": [str(name) for name in files] if isinstance(files, list) else [],
                        "made": int(time),
                    }
                    found.append((time, about))
        return [about for _, about in sorted(found, key=lambda each: -each[0])][:MOST_RECENT]

    async def look(self, question: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Return what files hold."""
        return await self._ask("tables", self._of_files(question), progress)

    async def open(self, question: Mapping[str, Any], progress: Progress) -> OpenedCube:
        """Return a cube; where that is stopped, nothing is kept. Files that were handed over are needed no more."""
        keep = bool(question.get("keep")) and can_write(self.home)
        if question.get("recent") is not None:
            names = [about["name"] for about in self.recent()]
            if question["recent"] not in names:
                raise unknown("cube of this folder", question["recent"], names)
            opened = OpenedCube(await asyncio.to_thread(pipeline.open_cube, self.home / question["recent"]), kept=True)
        else:
            opened = await self._make(question, progress, keep)
        self.files.clear()
        return opened

    async def _make(self, question: Mapping[str, Any], progress: Progress, keep: bool) -> OpenedCube:
        asked = {"example": True} if question.get("example") else self._of_files(question)
        self._opened += 1
        made = self._made / str(self._opened)
        made.mkdir(mode=0o700)
        try:
            where = {"made": str(made), "keep": str(self.home) if keep else None}
            found = await self._ask("open", asked | where, progress)
            folder = Path(found["folder"])
            if found["place"] is not None:
                place = Path(found["place"])
                progress("keeping the cube", 0)
                await self._keeping.run(partial(_keep, folder, place))
                folder = place
            cube = await asyncio.to_thread(pipeline.open_cube, folder)
        except BaseException:
            self.leave(made)
            raise
        if keep:
            self.leave(made)
        return OpenedCube(cube, found["begin"], keep, None if keep else made)

    def leave(self, made: Path) -> None:
        """Remove what was made for a cube, as soon as no killed worker can write there any more."""
        self._leaving.add(task := asyncio.create_task(self._left(made)))
        task.add_done_callback(self._leaving.discard)

    async def _left(self, made: Path) -> None:
        await self._pool.ended()
        await asyncio.to_thread(shutil.rmtree, made, ignore_errors=True)

    async def _ask(self, name: str, question: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        said = await self._pool.ask(name, question, progress)
        found: dict[str, Any] = json.loads(said.body)
        return found

    def _of_files(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return a question with the places of its files; only what was handed over has one."""
        there = self.files.places()
        files = question.get("files") or []
        missing = [name for name in files if name not in there]
        if missing or not files:
            raise RefusalError(
                400, "files", f"choose a file first{f': {some(missing)} is not there' if missing else ''}"
            )
        return {**question, "paths": [str(there[name]) for name in dict.fromkeys(files)]}

    async def close(self) -> None:
        """End all work."""
        await self._pool.close()
        self._keeping.close()
        if self._leaving:
            await asyncio.wait(self._leaving)


def _keep(folder: Path, place: Path) -> None:
    """Save a cube that was made in a folder at its place."""
    pipeline.save_cube(pipeline.open_cube(folder), place)
