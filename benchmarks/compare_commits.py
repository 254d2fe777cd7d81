"""Compare the processor time of this checkout with that of another commit.

    python benchmarks/compare_commits.py BASE [--rounds 5] [--limit 1.3] [--only NAME ...]

The other commit is checked out into a temporary folder, and both use the installed packages. Each measurement has its
own process, and the two take turns, so that other load affects both. The figure is the minimum processor time of all
threads over the rounds. A ratio above the limit is measured again before it counts; the exit status is 1 if it stays
above. (asv would install each commit with torch into a new environment.)
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES = 3
"""How often a process measures what it has warmed up; the least counts."""


def main() -> int:
    """Return 1 if a measure exceeds the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("base")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.3)
    parser.add_argument("--only", nargs="+", choices=list(MEASURES), default=list(MEASURES))
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:  # in a process of its own: base is the folder of the cube
        print(json.dumps(MEASURES[asked.measure](Path(asked.base))))
        return 0
    with tempfile.TemporaryDirectory() as place, checked_out(asked.base, Path(place) / "base") as base:
        sides = {"base": (base, Path(place) / "base-out"), "head": (ROOT, Path(place) / "head-out")}
        for tree, folder in sides.values():
            folder.mkdir()
            child(tree, folder, "build")
        print(f"{'':24}{'base':>12}{'head':>12}{'ratio':>8}", flush=True)
        slower = [name for name in asked.only if not compared(name, sides, asked.rounds, asked.limit)]
    if slower:
        print(f"slower than {asked.limit:g} times {asked.base}: {', '.join(slower)}", file=sys.stderr)
    return int(bool(slower))


def compared(name: str, sides: dict[str, tuple[Path, Path]], rounds: int, limit: float) -> bool:
    """Measure one task in both trees, print it, and return whether it is within the limit."""
    least: dict[str, float] = {}
    for number in range(2 * rounds):
        if number == rounds and least["head"] <= limit * least["base"]:
            break
        for side in sorted(sides, reverse=bool(number % 2)):
            found = child(*sides[side], name)
            least[side] = min(found, least.get(side, found))
    ratio = least["head"] / least["base"]
    shown = [
        f"{value / 1e6:,.0f} MB" if name.startswith("memory") else f"{value * 1e3:,.1f} ms" for value in least.values()
    ]
    print(f"{name:24}{shown[0]:>12}{shown[1]:>12}{ratio:>8.2f}{'  slower' * (ratio > limit)}", flush=True)
    return ratio <= limit


@contextmanager
def checked_out(commit: str, folder: Path) -> Iterator[Path]:
    """Check a commit out into a temporary folder for a context."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def child(tree: Path, folder: Path, name: str) -> float:
    """Return what a process measures with the code of a tree."""
    command = [sys.executable, str(Path(__file__)), str(folder), "--measure", name]
    env = os.environ | {"PYTHONPATH": str(tree / "src")}
    ended = subprocess.run(command, env=env, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(ended.stdout.splitlines()[-1]))


def least(work: Callable[[], object]) -> float:
    """Return the minimum time of a few calls, after one that loads compiled code."""
    work()
    spent = []
    for _ in range(TIMES):
        begun = worked()
        work()
        spent.append(worked() - begun)
    return min(spent)


def worked() -> float:
    """Return the processor time of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def command(*words: str) -> Callable[[Path], float]:
    """Return the measure of a whole process."""
    return lambda folder: least(
        lambda: subprocess.run([sys.executable, *words], cwd=folder, check=True, capture_output=True)
    )


def build(folder: Path) -> float:
    """Return the time to build the cube of the demo, which the other measures use."""
    import cube2net as c2n

    corpus = c2n.load_bundled()
    begun = worked()
    c2n.build(corpus, out=folder / "cube")
    (folder / "names.csv").write_text("object\n" + "\n".join(sorted(c2n.load_labs())) + "\n", encoding="utf-8")
    return worked() - begun


def memory_of_build(folder: Path) -> float:
    """Return the peak memory of a process that builds the cube of the demo."""
    build(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def asking(what: str) -> Callable[[Path], float]:
    """Return the measure of a question about the cube of the demo."""

    def measure(folder: Path) -> float:
        import cube2net as c2n

        cube = c2n.open(folder / "cube")
        query = c2n.read_query(cube, folder / "names.csv", skip_missing=True)
        network = c2n.construct(cube, query)
        works: dict[str, Callable[[], object]] = {
            "open": lambda: c2n.open(folder / "cube"),
            "construct": lambda: c2n.construct(cube, query),
            "greedy": lambda: c2n.construct(cube, query, "greedy", form="cells"),
            "write": lambda: network.save(folder / "network.graphml"),
        }
        return least(works[what])

    return measure


MEASURES: dict[str, Callable[[Path], float]] = {
    "import cube2net": command("-c", "import cube2net"),
    "cube2net --help": command("-m", "cube2net", "--help"),
    "cube2net query": command("-m", "cube2net", "query", "cube", "--query", "names.csv", "--skip-missing", "--quiet"),
    "open": asking("open"),
    "construct": asking("construct"),
    "greedy": asking("greedy"),
    "write": asking("write"),
    "build": build,
    "memory of build": memory_of_build,
}

if __name__ == "__main__":
    sys.exit(main())
