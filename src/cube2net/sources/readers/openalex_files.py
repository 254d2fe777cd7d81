"""Which files of OpenAlex are read: a snapshot's parts in any of its layouts, and the lists of ids that were merged.

    data/jsonl/works/updated_date=2026-01-05/part_0000.gz     as published now, and so in data/parquet/
    works/updated_date=2021-11-03/part_000.gz                 as published before
    merged_ids/authors/2023-04-13.csv.gz                      what became of ids

Other entities and manifests are passed over. Any other folder is one of files of works, whatever they are called.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cube2net.errors import SourceError
from cube2net.sources.io.input_files import ARCHIVES, BESIDE

EXPECTED = (
    "OpenAlex's snapshot or some of its parts (updated_date=…/part_0000.gz or .parquet), JSON lines of works, or saved "
    "pages of its interface"
)
MEMBERS = (".json", ".jsonl", ".ndjson")
"""How files of works in an archive end."""
PACKED = ("", ".gz", ".xz", ".bz2")
ENDINGS = (*(f"{ending}{more}" for ending in MEMBERS for more in PACKED), ".parquet", *ARCHIVES)
PART = re.compile(r"part_\d+(\.gz|\.jsonl|\.parquet)?")
PARTITION = re.compile(r"updated_date=(\d{4}-\d\d-\d\d)")
CUBE = "manifest.json"
"""What a cube of ours has beside its labels."""
MERGED, WORKS, MANIFEST, PARQUET = "merged_ids", "works", "manifest", ".parquet"
ENTITIES = {
    *("authors", "awards", "concepts", "continents", "countries", "domains", "fields", "funders", "institutions"),
    *("institution-types", "keywords", "languages", "licenses", "publishers", "sdgs", "source-types", "sources"),
    *("subfields", "topics", "work-types"),
}
MERGED_LETTERS = {"works": "W", "authors": "A", "institutions": "I"}


@dataclass(frozen=True)
class Part:
    """A file of works, and the day of the partition that it is of, if there is one."""

    path: Path
    day: str = ""


@dataclass(frozen=True)
class Snapshot:
    """The files to read: parts, the oldest first, and lists of merged ids by the letter of what they are about."""

    parts: tuple[Part, ...]
    merged: tuple[tuple[str, Path], ...]
    remarks: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """All of them."""
        return [part.path for part in self.parts] + [path for _, path in self.merged]


def find_snapshot(paths: Sequence[str | os.PathLike[str]]) -> Snapshot:
    """Return the files to read: those named, and those of folders that are of works or of merged ids."""
    if not paths:
        raise SourceError(f"no path is given: expected {EXPECTED}")
    parts: list[Part] = []
    merged: list[tuple[str, Path]] = []
    remarks: list[str] = []
    for path in map(Path, paths):
        if not path.exists():
            raise SourceError(f"{path} is not there: expected {EXPECTED}")
        found, lists = _in_folder(path, remarks) if path.is_dir() else ([], [])
        if not path.is_dir():
            letter = _merged_letter(path.resolve().parts[:-1])
            if letter and path.name.casefold().endswith((".csv", ".csv.gz")):
                lists = [(letter, path)]
            else:
                found = [Part(path, _day(path.resolve().parts))]
        parts += found
        merged += lists
    if not parts:
        raise SourceError(f"{', '.join(map(str, paths))} holds no file of works to read: expected {EXPECTED}")
    parts.sort(key=lambda part: part.day)
    merged.sort(key=lambda pair: (pair[1].name.removesuffix(".gz"), str(pair[1])))
    return Snapshot(tuple(parts), tuple(merged), tuple(remarks))


def _in_folder(folder: Path, remarks: list[str]) -> tuple[list[Part], list[tuple[str, Path]]]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    cubes = {
        path.parent for path in files if path.name == "manifest.json" and (path.parent / "labels.parquet") in files
    }
    if cubes:
        remarks.append(f"{folder.name}: {len(cubes):,} cube(s) in it are passed over")
        files = [path for path in files if path.parent not in cubes]
    inside = {path: path.relative_to(folder).parts[:-1] for path in files}
    around = folder.resolve().parts[-3:]
    merged = []
    for path in files:
        letter = _merged_letter((*around, *inside[path]))
        if letter and path.name.casefold().endswith((".csv", ".csv.gz")):
            merged.append((letter, path))
    wanted = [path for path in files if _is_data(path.name) and not {MERGED, *ENTITIES} & set(inside[path])]
    both = [{path for path in wanted if form in inside[path]} for form in ("jsonl", "parquet")]
    if all(both):
        remarks.append(f"{folder.name} has the works twice: of JSON lines and Parquet, the JSON lines are read")
        wanted = [path for path in wanted if path not in both[1]]
    return [Part(path, _day((*around, *inside[path]))) for path in wanted], merged


def _merged_letter(folders: Sequence[str]) -> str:
    """Return the letter of the ids that a list in some folders is about, or nothing where it is no such list."""
    if MERGED not in folders[:-1]:
        return ""
    return MERGED_LETTERS.get(folders[folders.index(MERGED) + 1], "")


def _day(folders: Sequence[str]) -> str:
    days = [found[1] for name in folders if (found := PARTITION.fullmatch(name))]
    return days[-1] if days else ""


def _is_data(name: str) -> bool:
    low = name.casefold()
    named = low.endswith(ENDINGS) or PART.fullmatch(low) is not None
    return named and not low.startswith((*BESIDE, MANIFEST))
