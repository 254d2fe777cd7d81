"""Files that are handed over to be opened: few, not too large, and gone when nobody needs them any more."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from pathlib import Path

from cube2net.errors import listed, quoted
from cube2net.explorer.replies import RefusalError

MOST_UPLOADED = 200_000_000
"""So many bytes all files together have at most."""
MOST_FILES = 8
UPLOAD_SECONDS = 600.0
LONGEST_NAME = 150


class Uploads:
    """The files in a ``folder`` of their own, whose names end in one of some ``endings``."""

    def __init__(self, folder: Path, endings: tuple[str, ...]) -> None:
        self.endings = endings
        self._whole, self._parts = folder / "files", folder / "parts"
        for each in (self._whole, self._parts):
            each.mkdir(mode=0o700)
        self._coming: dict[Path, tuple[str, int]] = {}

    def places(self) -> dict[str, Path]:
        """Return where each file is, by its name."""
        return {path.name: path for path in sorted(self._whole.iterdir())}

    async def take(self, given: str, body: AsyncIterator[bytes], used: Collection[str] | None = None) -> str:
        """Take a file, whose bytes come in parts, and return its name here; what is not whole is not kept.

        ``used`` are the files that are needed beside it: where there are too many, others go, the oldest first.
        Without it all are needed.
        """
        name = self.plain_name(given)
        part = self._parts / secrets.token_hex(8)
        try:
            # Who comes is counted before anything is waited for, so that two at a time have no more room than one.
            self._count(part, name, 0, used)
            with part.open("wb") as file:
                async with asyncio.timeout(UPLOAD_SECONDS):
                    async for piece in body:
                        self._count(part, name, len(piece), used)
                        file.write(piece)
            part.replace(self._whole / name)
        except TimeoutError:
            raise RefusalError(408, "slow", f"{name} did not arrive within {UPLOAD_SECONDS:,.0f} seconds") from None
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            raise RefusalError(500, "disk", f"{name} cannot be kept until it is read: {said}") from None
        finally:
            self._coming.pop(part, None)
            part.unlink(missing_ok=True)
        return name

    def remove(self, name: str) -> None:
        """Remove a file."""
        there = self.places()
        if name not in there:
            raise RefusalError(404, "files", f"{quoted(name)} is not there")
        _remove(there[name])

    def clear(self) -> None:
        """Remove all files that are whole."""
        for path in self.places().values():
            _remove(path)

    def plain_name(self, given: str) -> str:
        """Return what a file is called here: no path, no drive, nothing hidden, and of a kind that is read."""
        name = given.replace("\\", "/").rpartition("/")[2].strip().replace(":", "_")
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

    def _count(self, part: Path, name: str, more: int, used: Collection[str] | None) -> None:
        """Count bytes that came of a file; raise where it is one too many, or too large beside the others."""
        self._coming[part] = name, self._coming.get(part, (name, 0))[1] + more
        others = [path for path in self.places().values() if path.name != name]
        spare = [] if used is None else [path for path in others if path.name not in used]
        spare.sort(key=lambda path: path.stat().st_mtime_ns)
        while (refusal := self._refusal(name, others)) and spare:
            others.remove(spare[0])
            _remove(spare.pop(0))
        if refusal:
            raise refusal

    def _refusal(self, name: str, others: list[Path]) -> RefusalError | None:
        """Return why a file cannot be taken beside others and all that are coming, None where it can."""
        names = {path.name for path in others} | {coming for coming, _ in self._coming.values()}
        if len(names - {name}) >= MOST_FILES:
            return RefusalError(400, "large", f"{MOST_FILES} files are there already, which is the most taken at once")
        size = sum(path.stat().st_size for path in others) + sum(came for _, came in self._coming.values())
        if size > MOST_UPLOADED:
            return RefusalError(
                413, "large", f"the files have more than {MOST_UPLOADED:,} bytes, which is the most taken"
            )
        return None


def _remove(path: Path) -> None:
    """Remove a file; where a system keeps one that is being read, it goes with the folder."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
