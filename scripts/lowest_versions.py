"""Print constraints that hold every dependency of pyproject.toml to the lowest version it names.

    python scripts/lowest_versions.py > lowest.txt
    pip install -c lowest.txt -e '.[test]'

torch stays as constraints.txt has it: an older one would bring gigabytes of GPU libraries.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PINNED = ("torch",)


def requirements(project: dict[str, object]) -> Iterator[Requirement]:
    """Yield what a project needs, with every extra, but for extras of its own."""
    extras = project.get("optional-dependencies", {})
    assert isinstance(extras, dict)
    for texts in (project["dependencies"], *extras.values()):
        for text in texts:  # type: ignore[attr-defined]
            requirement = Requirement(text)
            if requirement.name != project["name"]:
                yield requirement


def lowest(requirement: Requirement) -> str:
    """Return the lowest version that a requirement names.

    >>> lowest(Requirement("pyspark>=4.0,<5"))
    '4.0'
    """
    floors = [each.version for each in requirement.specifier if each.operator in (">=", "==", "~=")]
    if len(floors) != 1:
        raise SystemExit(f"{str(requirement)!r} names {len(floors)} lowest versions, expected one")
    return floors[0]


def constraints(project: dict[str, object], pinned: str) -> list[str]:
    """Return a line for every dependency, in alphabetical order; a few are as another file of constraints has them."""
    lines = {canonicalize_name(each.name): f"{each.name}=={lowest(each)}" for each in requirements(project)}
    for line in pinned.splitlines():
        name = canonicalize_name(line.partition("==")[0])
        if name in PINNED and name in lines:
            lines[name] = line
    return [lines[name] for name in sorted(lines)]


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sys.stdout.write("\n".join(constraints(project, (ROOT / "constraints.txt").read_text(encoding="utf-8"))) + "\n")
