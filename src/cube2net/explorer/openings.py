"""Opening a cube after the start: files that are handed over, what they hold, and the cubes of a folder."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.api.opening_shapes import RecentCube, StartAnswer
from cube2net.errors import Cube2netError, listed, quoted, some, unknown
from cube2net.explorer.replies import RefusalError
from cube2net.explorer.worker_pool import WorkerPool
from cube2net.progress import Progress
from cube2net.records import Cube

MOST_UPLOADED = 200_000_000
"""So many bytes all files together have at most."""
MOST_FILES = 8
MOST_RECENT = 20
LOOKED_AT = 1_000
"""So many entries of a folder are looked at for cubes."""
UPLOAD_SECONDS = 600.0
LONGEST_NAME = 150
MAKER = "cube2net.explorer.maker"
EXAMPLE_SAYS = "39,833 papers of natural language processing, and the authors of four labs"


class Openings:
    """What can be opened: files in a temporary ``folder``, which others remove, and the cubes of ``home``."""

    def __init__(self, folder: Path, home: Path, *, workers: int = 1, waiting: int = 4) -> None:
        self.home = home
        self._files, self._made = folder / "files", folder / "made"
        for each in (self._files, self._made):
            each.mkdir(mode=0o700)
        self._pool = WorkerPool({"maker": True}, workers, waiting, module=MAKER)
        self._opened = 0
        self.endings = (*pipeline.TABLE_ENDINGS, *pipeline.GRAPH_ENDINGS)

    def start(self, cube: str | None) -> StartAnswer:
        """Return what can be opened."""
        return {
            "opens": True,
            "cube": cube,
            "folder": self.home.resolve().name or str(self.home),
            "keeps": pipeline.can_write(self.home),
            "recent": self.recent(),
            "endings": list(self.endings),
            "files": MOST_FILES,
            "bytes": MOST_UPLOADED,
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
                    source = manifest["settings"].get("source")
                    reading = source.get(pipeline.READING) if isinstance(source, dict) else None
                    files = reading.get("files") if isinstance(reading, dict) else None
                    counts = manifest["counts"]
                    about: RecentCube = {
                        "name": place.name,
                        "objects": counts["objects"],
                        "cells": counts["cells"],
                        "files": [str(name) for name in files] if isinstance(files, list) else [],
                    }
                    found.append((time, about))
        return [about for _, about in sorted(found, key=lambda each: -each[0])][:MOST_RECENT]

    async def upload(self, given: str, body: AsyncIterator[bytes]) -> list[str]:
        """Take a file, whose bytes come in parts, and return the names of all; what is not whole is not kept."""
        name = self._name(given)
        others = [path for path in self._files.iterdir() if path.name != name]
        if len(others) >= MOST_FILES:
            raise RefusalError(400, "large", f"{MOST_FILES} files are there already, which is the most taken at once")
        room = MOST_UPLOADED - sum(path.stat().st_size for path in others)
        partial = self._made / f".{name}.part"
        try:
            with partial.open("wb") as file:
                async with asyncio.timeout(UPLOAD_SECONDS):
                    async for part in body:
                        room -= len(part)
                        if room < 0:
                            raise RefusalError(
                                413,
                                "large",
                                f"the files have more than {MOST_UPLOADED:,} bytes, which is the most taken",
                            )
                        file.write(part)
            partial.replace(self._files / name)
        except TimeoutError:
            raise RefusalError(408, "slow", f"{name} did not arrive within {UPLOAD_SECONDS:,.0f} seconds") from None
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            raise RefusalError(500, "disk", f"{name} cannot be kept until it is read: {said}") from None
        finally:
            partial.unlink(missing_ok=True)
        return sorted(path.name for path in self._files.iterdir())

    def _name(self, given: str) -> str:
        """Return the name of a file that was handed over: no path, nothing hidden, and of a kind that is read."""
        name = given.replace("\\", "/").rpartition("/")[2].strip()
        if (
            not name
            or name.startswith(".")
            or len(name.encode("utf-8", "replace")) > LONGEST_NAME
            or not name.isprintable()
        ):
            raise RefusalError(400, "name", f"a file is called {quoted(given, 40)}: give it a plain, shorter name")
        if not name.casefold().removesuffix(".gz").endswith(self.endings):
            what = f"{quoted(name)} is no table that can be read: choose a file that ends in {listed(self.endings)}"
            if name.casefold().endswith((".ods", ".xls", ".numbers")):
                what += " (save it as .xlsx or .csv first)"
            raise RefusalError(400, "format", what)
        return name

    async def look(self, question: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Return what files hold."""
        return await self._ask("tables", self._of_files(question), progress)

    async def open(self, question: Mapping[str, Any], progress: Progress) -> tuple[Cube, str, bool]:
        """Return a cube, what the page begins with, and whether the cube is kept; where that is stopped, nothing is."""
        keep = bool(question.get("keep")) and pipeline.can_write(self.home)
        if question.get("recent") is not None:
            names = [about["name"] for about in self.recent()]
            if question["recent"] not in names:
                raise unknown("cube of this folder", question["recent"], names)
            return await asyncio.to_thread(pipeline.open_cube, self.home / question["recent"]), "", True
        self._opened += 1
        made = self._made / str(self._opened)
        made.mkdir(mode=0o700)
        where = {"made": str(made), "keep": str(self.home) if keep else None}
        asked = {"example": True} if question.get("example") else self._of_files(question)
        try:
            found = await self._ask("open", asked | where, progress)
            cube = await asyncio.to_thread(pipeline.open_cube, Path(found["folder"]))
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return cube, found["begin"], keep

    async def _ask(self, name: str, question: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        said = await self._pool.ask(name, question, progress)
        found: dict[str, Any] = json.loads(said.body)
        return found

    def _of_files(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return a question with the places of its files; only what was handed over has one."""
        there = {path.name: path for path in self._files.iterdir()}
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
