"""Record what cube2net produces, and check later that a change of the code lost nothing of it.

python scripts/oracles.py check                compare with the records in tests/oracles; exit with 1 on a difference
python scripts/oracles.py check --only help    compare one part; may be repeated
python scripts/oracles.py check --keep FOLDER  keep the files that were made, to compare them with another commit's
python scripts/oracles.py record               write the records anew, and print what changed

names     public names with their signatures
rooms     the same of cube2net.cube, cube2net.api and cube2net.model
help      every page of --help
openapi   the JSON interface, as `cube2net explore` describes it
tools     the tools that `cube2net mcp` lists
errors    exception types and exit statuses of wrong calls
cubes     SHA-256 of every file of cubes built from different sources, updated and replaced, and their manifests
networks  six networks: sizes, recipes, SHA-256 in every format, and whether `replay` makes the same again
answers   what commands print with --json
spark     has no file: a cube that Spark builds has the files of DuckDB's; skipped without Java or pyspark
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib.metadata
import json
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cube2net as c2n
import oracle_parts as parts

RECORDS = parts.ROOT / "tests" / "oracles"
VERSIONS = "versions.json"
LIBRARIES = ("duckdb", "mcp", "numba", "numpy", "pyarrow", "scipy", "typer")
FIXED_VERSION = "0.0.0"
"""What recipes name as the version of cube2net, so that a release changes no record."""
MAX_SHOWN_CHARACTERS = 100
SPARK = "spark"


def make_records(names: Sequence[str], kept: Path | None = None) -> dict[str, Any]:
    """Return the records of parts; an exception stands for those of a part that failed."""
    records: dict[str, Any] = {}
    with parts.working_folder(kept), contextlib.ExitStack() as ends:
        processes: dict[str, subprocess.Popen[str]] = {}
        for name in (name for name in names if name in parts.PROCESSES):
            with keep_failure(records, name):
                processes[name] = ends.enter_context(parts.PROCESSES[name]())
                ends.callback(processes[name].terminate)
        for name in (name for name in names if name not in records):
            began = time.monotonic()
            with keep_failure(records, name):
                make = parts.PARTS[name][1]
                records[name] = make(processes[name]) if name in processes else make()
            print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return records


@contextlib.contextmanager
def keep_failure(records: dict[str, Any], name: str) -> Iterator[None]:
    """Record an exception in place of the records of a part, so that the other parts continue."""
    try:
        yield
    except Exception as error:
        records[name] = error


def read_record(name: str, folder: Path) -> Any:
    """Return the stored record of a part, or None."""
    path = folder / parts.PARTS[name][0]
    if not path.exists():
        return None
    text = path.read_text(encoding="utf-8")
    record: Any = text if path.suffix == ".txt" else json.loads(text)
    if name == SPARK:
        return {file: sha for file, sha in record["openalex"]["files"].items() if file != "manifest.json"}
    return record


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON."""
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def find_differences(recorded: Any, found: Any) -> list[str]:
    """Return the differences between a record and the current result, as lines or a diff."""
    if isinstance(found, Exception):
        return [f"failed: {type(found).__name__}: {found}"]
    if recorded is None:
        return ["not recorded yet: make oracles-record"]
    if isinstance(found, str):
        lines = difflib.unified_diff(recorded.splitlines(), found.splitlines(), "recorded", "now", n=1, lineterm="")
        return ["\n".join(lines)] if recorded != found else []
    return list(compare_values(recorded, json.loads(json.dumps(found))))


def compare_values(recorded: Any, found: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield one line per difference between two JSON values: the path, the recorded and the current value.

    >>> list(compare_values({"cells": [{"gain": 3.0}]}, {"cells": [{"gain": 2.5}]}))
    ['cells / 0 / gain: 3.0 → 2.5']
    """
    place = " / ".join(path)
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key in {**recorded, **found}:
            if key not in found:
                yield f"{' / '.join((*path, key))}: {shorten(recorded[key])} → nothing"
            elif key not in recorded:
                yield f"{' / '.join((*path, key))}: nothing → {shorten(found[key])}"
            else:
                yield from compare_values(recorded[key], found[key], (*path, key))
    elif isinstance(recorded, list) and isinstance(found, list) and holds_records(recorded + found):
        if len(recorded) != len(found):
            yield f"{place}: {len(recorded)} entries → {len(found)} entries"
        for number, (one, other) in enumerate(zip(recorded, found, strict=False)):
            yield from compare_values(one, other, (*path, str(number)))
    elif json.dumps(recorded) != json.dumps(found):
        yield f"{place}: {shorten(recorded)} → {shorten(found)}"


def holds_records(values: list[Any]) -> bool:
    """Return whether a list contains other lists or mappings."""
    return any(isinstance(value, dict | list) for value in values)


def shorten(value: Any) -> str:
    """Return a value as shortened JSON; of hashes only the first characters."""
    text = re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1…", json.dumps(value, ensure_ascii=False))
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}…"


def find_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that affect bytes and layout."""
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def report(names: Sequence[str], folder: Path, records: dict[str, Any]) -> int:
    """Print all differences by part, and return the number of parts that differ."""
    differing = 0
    for name in names:
        differences = find_differences(read_record(name, folder), records[name])
        if differences:
            differing += 1
            print(f"\n{name} ({parts.PARTS[name][0]}):")
            print("\n".join(f"  {line}" for each in differences for line in each.splitlines()))
    versions = folder / VERSIONS
    if differing and versions.exists():
        recorded = json.loads(versions.read_text(encoding="utf-8"))
        for line in compare_values(recorded, find_versions()):
            print(f"\nnote: the records were made with another version, which may be the reason: {line}")
    return differing


def check(names: Sequence[str], folder: Path = RECORDS, kept: Path | None = None) -> int:
    """Compare parts with their records; return 1 if something differs."""
    obstacle = parts.find_obstacle_to_spark() if SPARK in names else ""
    if obstacle:
        print(f"spark: skipped, {obstacle}")
        names = [name for name in names if name != SPARK]
    differing = report(names, folder, make_records(names, kept))
    print(
        f"\n{differing} of {len(names)} parts differ from their records" if differing else f"{len(names)} parts agree"
    )
    return int(differing > 0)


def record(names: Sequence[str], folder: Path = RECORDS, kept: Path | None = None) -> int:
    """Write the records of parts and print what changed; return 1 if a part failed, which is then not written."""
    folder.mkdir(exist_ok=True)
    names = [name for name in names if name != SPARK]
    records = make_records(names, kept)
    changed = report(names, folder, records)
    for name, found in records.items():
        path = folder / parts.PARTS[name][0]
        if isinstance(found, str):
            path.write_text(found, encoding="utf-8")
        elif not isinstance(found, Exception):
            write_json(path, found)
    write_json(folder / VERSIONS, find_versions())
    print(f"\n{changed} of {len(names)} records changed" if changed else f"{len(names)} records are as they were")
    return int(any(isinstance(found, Exception) for found in records.values()))


def main() -> int:
    """Read the command line, and record or check."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "check"))
    parser.add_argument("--only", action="append", choices=tuple(parts.PARTS), help="one part; may be repeated")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="make all files in this new folder, and keep them")
    given = parser.parse_args()
    if not Path(c2n.__file__).resolve().is_relative_to(parts.ROOT):
        parser.error(
            f"cube2net is imported from {c2n.__file__}: run this in the environment of its checkout (make oracles)"
        )
    c2n.__version__ = FIXED_VERSION
    if given.keep and given.keep.exists():
        parser.error(f"{given.keep} exists: name a folder that does not, so that nothing old is compared")
    if given.keep:
        given.keep.mkdir(parents=True)
    act = record if given.action == "record" else check
    return act(given.only or tuple(parts.PARTS), kept=given.keep)


if __name__ == "__main__":
    raise SystemExit(main())
