"""Opened cubes, uploads, and cubes built from them."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import secrets
import shutil
import zlib
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cube2net._util.files import can_write
from cube2net._util.progress import Progress
from cube2net.api import cubes
from cube2net.api.build import build
from cube2net.api.cubes import read_manifest
from cube2net.api.datasets import load_bundled, load_labs
from cube2net.api.spreadsheets import (
    TABLE_ENDINGS,
    NumberedPlaces,
    build_from_reading,
    cube_beside,
    identify_reading,
    read_spreadsheet,
    reading_in,
    sheet_reader,
)
from cube2net.apps.server.responses import RefusalError, json_bytes
from cube2net.apps.server.workers import Threads, WorkerPool, answer_lines
from cube2net.apps.service.requests import describe_query
from cube2net.apps.service.schemas import RecentCube, StartAnswer
from cube2net.design.propose import choose_min_objects
from cube2net.errors import Cube2netError, join_names, quote, quote_few, unknown_name
from cube2net.io.graphs import GRAPH_ENDINGS
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cube, get_lineage
from cube2net.model.query import Query

UNRESOLVED = "unresolved"


def make_request(cube: Cube, query: Query, unresolved: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return the request for the default network of a query.

    ``unresolved`` are names with their labels to be corrected on the page; they are not part of the request.
    """
    request = describe_query(cube, query)
    if unresolved:
        request[UNRESOLVED] = [list(pair) for pair in unresolved]
    origin = get_lineage(cube).origin
    return request if origin is None else {**request, "cube": origin.seal}


def pack_request(request: Mapping[str, Any]) -> str:
    """Encode a request for an address, with letters, digits, - and _.

    >>> pack_request({"query": ["o1", "o2"]})
    'q1YqLE0tqlSyilbKN1TSUco3UoqtBQA'
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    content = packer.compress(json_bytes(request)) + packer.flush()
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


EXAMPLE_FOLDER = "nlp-papers-cube"
"""The folder name of the example."""


def main() -> None:
    """Answer requests until standard input ends."""
    answer_lines(
        lambda about, request, progress: [{"answer": build_answer(request["name"], request["body"], progress)}]
    )


def build_answer(name: str, body: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return the contents of tables; or the folder of the cube that was built or exists, and where to keep it."""
    if body.get("example"):
        return _build_example(body, progress)
    paths = [Path(path) for path in body["paths"]]
    reader = sheet_reader(paths, {name: body[name] for name in ("columns", "separators", "sheet") if body.get(name)})
    options: dict[str, Any] = {
        "dimensions": body.get("dimensions") or (),
        "min_objects": body.get("min_objects"),
    }
    if name == "tables":
        reading = read_spreadsheet(reader, paths, **options, progress=progress)
        return {
            "read": reading.record(),
            "choices": reading.choices(),
            "uses": reading.uses(),
            "sheets": reading.sheets(),
            "items": reading.items,
            "kinds": reading.corpus.objects["kind"].unique().to_pylist(),
            "is_linked": reading.is_linked,
            "problem": None if reading.problem is None else str(reading.problem),
        }
    identity = identify_reading(reader, paths, **options, uploaded=True)
    home = body.get("keep")
    place, existing = cube_beside(paths, identity, Path(home) if home else None, say=progress.note)
    if existing is not None and home:
        return {"folder": str(place), "place": None, "begin": ""}
    reading = read_spreadsheet(reader, paths, **options, progress=progress)
    folder = Path(body["made"]) / place.name
    build_from_reading(reading, folder, identity=identity, progress=progress)
    return {"folder": str(folder), "place": str(place) if home else None, "begin": ""}


def _build_example(body: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return the folder of the cube of the bundled papers, and the request for the authors of four labs."""
    corpus, home, folder = load_bundled(), body.get("keep"), Path(body["made"]) / EXAMPLE_FOLDER
    place = find_example_folder(Path(home), corpus) if home else None
    if place is not None and place.exists():
        folder, place = place, None
    else:
        build(corpus, out=folder, progress=progress)
    cube = cubes.open(folder)
    query = cube.query(load_labs(), skip_missing=True)
    begin = f"#q={pack_request(make_request(cube, query))}"
    return {"folder": str(folder), "place": None if place is None else str(place), "begin": begin}


def find_example_folder(home: Path, corpus: Corpus) -> Path:
    """Return the folder in ``home`` with the cube of the example, or the first free one.

    A folder with other contents is not touched.
    """
    expected = {
        "dimensions": [str(spec) for spec in corpus.dimensions],
        "items": corpus.items.num_rows,
        "attribution": corpus.attribution,
        "min_objects": choose_min_objects(corpus.objects.num_rows),
        "seed": 0,
    }
    places = NumberedPlaces(home, EXAMPLE_FOLDER)
    for place in places.list_taken():
        with suppress(Cube2netError):
            settings = read_manifest(place)["settings"]
            if all(settings.get(name) == value for name, value in expected.items()):
                return place
    return places.free()


MAX_UPLOAD_BYTES = 200_000_000
"""The limit for all files together."""
MAX_FILES = 8
UPLOAD_TIMEOUT_SECONDS = 600.0
MAX_NAME_BYTES = 150


class Uploads:
    """Uploaded files in a ``folder``, whose names end in one of ``endings``."""

    def __init__(self, folder: Path, endings: tuple[str, ...]) -> None:
        self.endings = endings
        self._complete_folder, self._partial_folder = folder / "files", folder / "parts"
        for subfolder in (self._complete_folder, self._partial_folder):
            subfolder.mkdir(mode=0o700)
        self._received: dict[Path, tuple[str, int]] = {}

    def places(self) -> dict[str, Path]:
        """Return the paths of the files by name."""
        return {path.name: path for path in sorted(self._complete_folder.iterdir())}

    async def take(self, given_name: str, body: AsyncIterator[bytes], used_names: Collection[str] | None = None) -> str:
        """Store a file and return its name here; an incomplete file is removed.

        ``used`` names the files that are still needed: if there are too many, the oldest others are removed. Without
        it all are needed.
        """
        name = self.plain_name(given_name)
        part = self._partial_folder / secrets.token_hex(8)
        try:
            # Uploads are counted before the first await, so that two at a time cannot exceed the limits.
            self._count(part, name, 0, used_names)
            with part.open("wb") as file:
                async with asyncio.timeout(UPLOAD_TIMEOUT_SECONDS):
                    async for chunk in body:
                        self._count(part, name, len(chunk), used_names)
                        file.write(chunk)
            part.replace(self._complete_folder / name)
        except TimeoutError:
            raise RefusalError(
                408, "slow", f"{name} did not arrive within {UPLOAD_TIMEOUT_SECONDS:,.0f} seconds"
            ) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise RefusalError(500, "disk", f"{name} cannot be kept until it is read: {reason}") from None
        finally:
            self._received.pop(part, None)
            part.unlink(missing_ok=True)
        return name

    def remove(self, name: str) -> None:
        """Remove a file."""
        paths = self.places()
        if name not in paths:
            raise RefusalError(404, "files", f"{quote(name)} does not exist")
        _remove_file(paths[name])

    def clear(self, but: Collection[str]) -> None:
        """Remove all complete files but some."""
        for name, path in self.places().items():
            if name not in but:
                _remove_file(path)

    def plain_name(self, given_name: str) -> str:
        """Return the name of a file without path and drive; refuse hidden files and unknown kinds."""
        name = given_name.replace("\\", "/").rpartition("/")[2].strip().replace(":", "_")
        if (
            not name
            or name.startswith(".")
            or len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES
            or not name.isprintable()
        ):
            raise RefusalError(400, "name", f"a file is called {quote(given_name, 40)}: give it a plain, shorter name")
        if not re.sub(r"\.(gz|xz|bz2)$", "", name.casefold()).endswith(self.endings):
            message = (
                f"{quote(name)} is no table that can be read: choose a file that ends in {join_names(self.endings)}"
            )
            if name.casefold().endswith(".numbers"):
                message += " (save it as .xlsx or .csv first)"
            raise RefusalError(400, "format", message)
        return name

    def _count(self, part: Path, name: str, n_bytes: int, used_names: Collection[str] | None) -> None:
        """Count received bytes of a file; raise if there are too many files or bytes."""
        self._received[part] = name, self._received.get(part, (name, 0))[1] + n_bytes
        others = [path for path in self.places().values() if path.name != name]
        removable = [] if used_names is None else [path for path in others if path.name not in used_names]
        removable.sort(key=lambda path: path.stat().st_mtime_ns)
        while (refusal := self._find_refusal(name, others)) and removable:
            others.remove(removable[0])
            _remove_file(removable.pop(0))
        if refusal:
            raise refusal

    def _find_refusal(self, name: str, others: list[Path]) -> RefusalError | None:
        """Return why a file cannot be stored beside others and pending uploads; None if it can."""
        names = {path.name for path in others} | {name_received for name_received, _ in self._received.values()}
        if len(names - {name}) >= MAX_FILES:
            return RefusalError(400, "large", f"{MAX_FILES} files are there already, which is the most taken at once")
        size = sum(path.stat().st_size for path in others) + sum(
            n_received for _, n_received in self._received.values()
        )
        if size > MAX_UPLOAD_BYTES:
            return RefusalError(
                413, "large", f"the files have more than {MAX_UPLOAD_BYTES:,} bytes, which is the most taken"
            )
        return None


def _remove_file(path: Path) -> None:
    """Remove a file; one that is open on Windows is removed with the folder."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


MAX_RECENT_CUBES = 20
MAX_SCANNED_ENTRIES = 1_000
WORKER_MODULE = "cube2net.apps.server.sessions"
EXAMPLE_DESCRIPTION = "39,833 papers of natural language processing, and the authors of four labs"


@dataclass(frozen=True)
class OpenedCube:
    """An opened cube, the end of the address that the page starts with, and the folder to remove unless it is kept."""

    cube: Cube
    begin: str = ""
    kept: bool = False
    made: Path | None = None


class CubeOpener:
    """Opens cubes: of uploaded files, kept in a temporary ``folder``, and those in the folder ``home``."""

    def __init__(self, folder: Path, home: Path, *, workers: int = 1, waiting: int = 4) -> None:
        self.home = home
        self.files = Uploads(folder, (*TABLE_ENDINGS, *GRAPH_ENDINGS))
        self._build_folder = folder / "made"
        self._build_folder.mkdir(mode=0o700)
        self._pool = WorkerPool({"maker": True}, workers, waiting, module=WORKER_MODULE)
        # Cubes are saved by this process: when stopped, it removes unfinished folders, while a worker is killed.
        self._copy_threads = Threads(workers, waiting, "explorer keeping")
        self._opened = 0
        self._leaving: set[asyncio.Task[None]] = set()

    def start(self, cube: str | None) -> StartAnswer:
        """Return the files and cubes that can be opened."""
        return {
            "opens": True,
            "cube": cube,
            "folder": self.home.resolve().name or str(self.home),
            "keeps": can_write(self.home),
            "recent": self.list_recent(),
            "endings": list(self.files.endings),
            "files": MAX_FILES,
            "bytes": MAX_UPLOAD_BYTES,
            "uploaded": list(self.files.places()),
            "example": EXAMPLE_DESCRIPTION,
        }

    def list_recent(self) -> list[RecentCube]:
        """Return the cubes in the folder, the newest first."""
        cubes_by_time: list[tuple[float, RecentCube]] = []
        with suppress(OSError):
            for place, _ in zip(self.home.iterdir(), range(MAX_SCANNED_ENTRIES), strict=False):
                with suppress(OSError, Cube2netError):
                    time = (place / "manifest.json").stat().st_mtime
                    manifest = read_manifest(place)
                    files = (reading_in(manifest["settings"]) or {}).get("files")
                    counts = manifest["counts"]
                    recent_cube: RecentCube = {
                        "name": place.name,
                        "objects": counts["objects"],
                        "cells": counts["cells"],
                        "files": [str(name) for name in files] if isinstance(files, list) else [],
                        "made": int(time),
                    }
                    cubes_by_time.append((time, recent_cube))
        return [recent_cube for _, recent_cube in sorted(cubes_by_time, key=lambda entry: -entry[0])][:MAX_RECENT_CUBES]

    async def look(self, body: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Return the contents of files."""
        return await self._ask("tables", self._add_paths(body), progress)

    async def open(self, body: Mapping[str, Any], progress: Progress) -> OpenedCube:
        """Open a cube and remove the uploaded files that it was not built from; if that is stopped, keep nothing.

        Its own files stay until another cube is opened, so that the page can go back and read them in another way.
        """
        keep = bool(body.get("keep")) and can_write(self.home)
        if body.get("recent") is not None:
            names = [recent_cube["name"] for recent_cube in self.list_recent()]
            if body["recent"] not in names:
                raise unknown_name("cube of this folder", body["recent"], names)
            opened = OpenedCube(await asyncio.to_thread(cubes.open, self.home / body["recent"]), kept=True)
        else:
            opened = await self._make(body, progress, keep)
        self.files.clear(but=body.get("files") or ())
        return opened

    async def _make(self, body: Mapping[str, Any], progress: Progress, keep: bool) -> OpenedCube:
        request = {"example": True} if body.get("example") else self._add_paths(body)
        self._opened += 1
        build_folder = self._build_folder / str(self._opened)
        build_folder.mkdir(mode=0o700)
        try:
            folders = {"made": str(build_folder), "keep": str(self.home) if keep else None}
            answer = await self._ask("open", request | folders, progress)
            folder = Path(answer["folder"])
            if answer["place"] is not None:
                place = Path(answer["place"])
                progress("keeping the cube", 0)
                await self._copy_threads.run(partial(_copy_cube, folder, place))
                folder = place
            cube = await asyncio.to_thread(cubes.open, folder)
        except BaseException:
            self.leave(build_folder)
            raise
        if keep:
            self.leave(build_folder)
        return OpenedCube(cube, answer["begin"], keep, None if keep else build_folder)

    def leave(self, folder: Path) -> None:
        """Remove the folder of a cube, once killed workers have ended."""
        self._leaving.add(task := asyncio.create_task(self._remove_folder(folder)))
        task.add_done_callback(self._leaving.discard)

    async def _remove_folder(self, folder: Path) -> None:
        await self._pool.wait_for_killed()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _ask(self, name: str, body: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        reply = await self._pool.ask(name, body, progress)
        answer: dict[str, Any] = json.loads(reply.body)
        return answer

    def _add_paths(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request with the paths of its files, which must have been uploaded."""
        paths = self.files.places()
        files = body.get("files") or []
        missing = [name for name in files if name not in paths]
        if missing or not files:
            raise RefusalError(
                400, "files", f"choose a file first{f': {quote_few(missing)} is not there' if missing else ''}"
            )
        return {**body, "paths": [str(paths[name]) for name in dict.fromkeys(files)]}

    async def close(self) -> None:
        """Stop all work."""
        await self._pool.close()
        self._copy_threads.close()
        if self._leaving:
            await asyncio.wait(self._leaving)


def _copy_cube(folder: Path, place: Path) -> None:
    """Copy a cube to the folder where it is kept."""
    cubes.open(folder).save(place)
