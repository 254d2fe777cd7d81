"""Print constraints that pin every dependency of pyproject.toml to its lowest version.

    python scripts/lowest_versions.py > lowest.txt
    pip install -c lowest.txt -e . --group test

torch is pinned as in constraints.txt, to avoid downloading a second version.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PINNED = ("torch",)


def requirements(declared: dict[str, Any], group: str = "test") -> Iterator[Requirement]:
    """Yield the dependencies of a project, of all extras and of one dependency group, except its own extras.

    >>> groups = {"test": [{"include-group": "more"}, "pytest>=8"], "more": ["ours[all]", "pandas>=2"]}
    >>> project = {"name": "ours", "dependencies": ["numpy>=2.0"]}
    >>> [str(each) for each in requirements({"project": project, "dependency-groups": groups})]
    ['numpy>=2.0', 'pandas>=2', 'pytest>=8']
    """
    project = declared["project"]
    extras = project.get("optional-dependencies", {}).values()
    for text in chain(project["dependencies"], *extras, members(declared["dependency-groups"], group)):
        requirement = Requirement(text)
        if requirement.name != project["name"]:
            yield requirement


def members(groups: dict[str, list[Any]], name: str) -> Iterator[str]:
    """Yield the requirements of a group and of the groups that it includes."""
    for each in groups[name]:
        if isinstance(each, str):
            yield each
        else:
            yield from members(groups, each["include-group"])


def lowest(requirement: Requirement) -> str:
    """Return the lowest version that a requirement allows.

    >>> lowest(Requirement("pyspark>=4.0,<5"))
    '4.0'
    """
    floors = [each.version for each in requirement.specifier if each.operator in (">=", "==", "~=")]
    if len(floors) != 1:
        raise SystemExit(f"{str(requirement)!r} names {len(floors)} lowest versions, expected one")
    return floors[0]


def constraints(declared: dict[str, Any], pinned: str) -> list[str]:
    """Return one line per dependency in alphabetical order; some are taken from another file of constraints."""
    lines = {canonicalize_name(each.name): f"{each.name}=={lowest(each)}" for each in requirements(declared)}
    for line in pinned.splitlines():
        name = canonicalize_name(line.partition("==")[0])
        if name in PINNED and name in lines:
            lines[name] = line
    return [lines[name] for name in sorted(lines)]


if __name__ == "__main__":
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(constraints(declared, (ROOT / "constraints.txt").read_text(encoding="utf-8"))) + "\n")
