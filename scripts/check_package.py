"""Build the packages and test them on every Python found here, with every extra.

    python scripts/check_package.py                      all Pythons from 3.11
    python scripts/check_package.py --python 3.12 --extras core report
    python scripts/check_package.py --dist dist          with packages that were built before

The wheel and the source archive are built by `python -m build` from the files in git. For each Python and extra, the
wheels of all dependencies are downloaded and measured, installed offline into a new environment, and tested by
scripts/smoke_package.py outside the repository, without a compiler or node on the PATH. The exit status is 1 if
anything fails.
"""

from __future__ import annotations

import argparse
import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMOKE = Path(__file__).with_name("smoke_package.py")
LOWEST = (3, 11)
MAX_DOWNLOAD_BYTES = 250_000_000
"""What plain `pip install cube2net` may download."""
MAX_WHEEL_BYTES = 20_000_000
TORCH = "torch==2.13.0"
"""That of constraints.txt. Whether it comes for CPUs or with gigabytes for GPUs depends on what the index has."""
TARGETS = ("core", "report", "graph", "explore", "notebook", "mcp", "learn", "learn,graph", "spark", "sdist")
SOURCE_ONLY = ("pyspark",)
"""What PyPI has as sources alone: plain Python, which needs no compiler."""
BUILDERS = re.compile(
    r"(.*-)?(cc|c89|c99|c\+\+|gcc|g\+\+|cpp|clang|clang\+\+|gfortran|ld|make|cmake|cargo|rustc)(-[\d.]+)?"
)
NODES = re.compile(r"node|nodejs|npm|npx|corepack|yarn|pnpm")

IN_WHEEL = (
    *(f"cube2net/page/{name}" for name in ("index.html", "explorer.js", "explorer.css", "widget.js", "widget.css")),
    *("cube2net/page/NOTICE.txt", "cube2net/data/NOTICE.md", "cube2net/py.typed", "cube2net/__init__.pyi"),
)
IN_METADATA = ("licenses/LICENSE", "licenses/src/cube2net/data/NOTICE.md", "licenses/src/cube2net/page/NOTICE.txt")
IN_SOURCES = (
    *("pyproject.toml", "hatch_build.py", "LICENSE", "README.md", "man/cube2net.1", "scripts/make_page.py"),
    *("web/package-lock.json", "src/cube2net/__init__.py", "src/cube2net/page/index.html"),
)
NOWHERE = re.compile(
    r"(^|/)(__pycache__|node_modules|\.venv[^/]*|\.git|\.[a-z]+_cache|dist|demo-out)/|\.(pyc|orig|rej)$"
)
NOT_IN_WHEEL = re.compile(r"(^|/)(tests?|benchmarks|stress|docs|web)/|(^|/)(test_[^/]*|conftest)\.py$|\.tsx?$")


@dataclass(frozen=True)
class Outcome:
    """The result of one test."""

    python: str
    what: str
    packages: int = 0
    downloaded: int = 0
    faults: tuple[str, ...] = ()
    sizes: dict[str, int] = field(default_factory=dict)
    skipped: str = ""


def wheel_faults(wheel: Path) -> list[str]:
    """Return the problems of a wheel: missing files, unexpected files, wrong metadata."""
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        about = email.message_from_string(file.read(metadata).decode("utf-8"))
        entries = file.read(metadata.replace("METADATA", "entry_points.txt")).decode("utf-8")
    version, info = about["Version"], metadata.removesuffix("METADATA")
    needed = [*IN_WHEEL, *(info + name for name in IN_METADATA)]
    needed.append(info.replace(".dist-info/", ".data/data/share/man/man1/cube2net.1"))
    faults = [f"the wheel lacks {name}" for name in needed if name not in names]
    faults += [f"the wheel holds {name}" for name in names if NOWHERE.search(name) or NOT_IN_WHEEL.search(name)]
    if wheel.name != f"cube2net-{version}-py3-none-any.whl":
        faults.append(f"the wheel is called {wheel.name}, and its version is {version}")
    if wheel.stat().st_size > MAX_WHEEL_BYTES:
        faults.append(f"the wheel has {wheel.stat().st_size:,} bytes, and {MAX_WHEEL_BYTES:,} are allowed")
    if "cube2net = cube2net.__main__:main" not in entries:
        faults.append("the wheel installs no command cube2net")
    return faults + metadata_faults(about)


def metadata_faults(about: email.message.Message) -> list[str]:
    """Return the problems of the metadata of a package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = {name: about.get_all(name) or [] for name in ("Provides-Extra", "Requires-Dist", "License-File")}
    faults = [f"the metadata lack {name}" for name in ("Summary", "License-Expression", "Keywords") if not about[name]]
    if about["Requires-Python"] != project["requires-python"]:
        faults.append(f"the metadata require Python {about['Requires-Python']}, not {project['requires-python']}")
    if set(said["Provides-Extra"]) != set(project["optional-dependencies"]):
        faults.append(f"the metadata name the extras {', '.join(said['Provides-Extra'])}")
    plain = [each for each in said["Requires-Dist"] if "extra ==" not in each]
    if len(plain) != len(project["dependencies"]):
        faults.append(f"the metadata name {len(plain)} packages that are always needed")
    if about["Description-Content-Type"] != "text/markdown" or not str(about.get_payload()).strip():
        faults.append("the metadata have no description in Markdown")
    return faults


def sources_faults(packed: Path) -> list[str]:
    """Return the problems of a source archive: missing and unexpected files."""
    with tarfile.open(packed) as file:
        names = [name.partition("/")[2] for name in file.getnames()]
    faults = [f"the sources lack {name}" for name in IN_SOURCES if name not in names]
    return faults + [f"the sources hold {name}" for name in names if NOWHERE.search(name)]


def pythons(asked: Sequence[str]) -> dict[str, Path]:
    """Return the Pythons to test by version: those given, or all from 3.11."""
    pyenv = Path.home() / ".pyenv" / "versions"
    if asked:
        places = [Path(each) if os.sep in each else None for each in asked]
        found = [place or _python_of(each, pyenv) for each, place in zip(asked, places, strict=True)]
    else:
        on_path = [shutil.which(f"python3.{minor}") for minor in range(LOWEST[1], 30)]
        found = [Path(sys.executable), *map(Path, filter(None, on_path)), *sorted(pyenv.glob("3.*/bin/python"))]
    versions: dict[str, Path] = {}
    for place in found:
        version = _version(place)
        if version is not None and version >= LOWEST:
            versions.setdefault(".".join(map(str, version)), place)
        elif asked:
            raise SystemExit(f"{place} is no Python from 3.11 on")
    return dict(sorted(versions.items(), key=lambda each: [int(number) for number in each[0].split(".")]))


def _python_of(version: str, pyenv: Path) -> Path:
    places = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}*/bin/python"))]
    usable = [Path(place) for place in places if place and _version(Path(place))]
    if not usable:
        raise SystemExit(f"there is no Python {version}: it is neither on the PATH nor in {pyenv}")
    return usable[0]


def _version(python: Path) -> tuple[int, int] | None:
    """Return the version of a Python, or an empty text if it does not run."""
    ask = [str(python), "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        said = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = map(int, said.split())
    return major, minor


def bare_environment(folder: Path) -> dict[str, str]:
    """Return environment variables without a compiler and node on the PATH."""
    folder.mkdir()
    for place in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        for tool in place.iterdir() if place.is_dir() else ():
            if not (BUILDERS.fullmatch(tool.name) or NODES.fullmatch(tool.name) or (folder / tool.name).is_symlink()):
                (folder / tool.name).symlink_to(tool)
    missing = ("PYTHONPATH", "PYTHONHOME", "PYTHONUNBUFFERED", "VIRTUAL_ENV", "CC", "CXX")
    kept = {name: value for name, value in os.environ.items() if name not in missing}
    return {**kept, "PATH": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(command: Iterable[object], env: dict[str, str], cwd: Path) -> str:
    """Return the output of a command; raise an error with its last lines if it fails."""
    words = [str(word) for word in command]
    ended = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    if ended.returncode:
        said = [line for line in (ended.stderr + ended.stdout).splitlines() if not line.startswith("WARNING")]
        raise RuntimeError(f"{' '.join(words[:6])} … ended with {ended.returncode}: {' | '.join(said[-6:])}")
    return ended.stdout


def fresh(python: Path, folder: Path, env: dict[str, str]) -> Path:
    """Create an environment and return its Python."""
    run([python, "-m", "venv", folder], env, folder.parent)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def packed(python: Path, work: Path, env: dict[str, str]) -> Path:
    """Build the wheel and the source archive from a clean copy, and return their folder."""
    copy, dist = work / "copy", work / "dist"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in map(os.fsdecode, filter(None, names)):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    tools = fresh(python, work / "tools", env)
    run([tools, "-m", "pip", "install", "--quiet", "build"], env, work)
    run([tools, "-m", "build", "--outdir", dist, copy], env, work)
    return dist


def tried(python: Path, package: Path, extras: str, house: Path, env: dict[str, str], constraints: Path) -> list[str]:
    """Install a package from wheels only, test it outside the repository, and return the failures."""
    place = house.parent / "place"  # the same for all, so that code compiled for one is found by the next
    place.mkdir()
    if extras:
        env = {**env, "NUMBA_CACHE_DIR": str(house.parent / "compiled")}
    try:
        mine = fresh(python, place / "venv", env)
        target = f"{package}[{extras}]" if extras else str(package)
        wheels = ["--only-binary", ":all:", *(word for name in SOURCE_ONLY for word in ("--no-binary", name))]
        if package.suffix == ".gz":
            wheels += ["--no-binary", "cube2net"]
        pip = [mine, "-m", "pip", "--quiet"]
        run([*pip, "wheel", "--wheel-dir", house, *wheels, "-c", constraints, target], env, place)
        (own,) = house.glob("cube2net-*.whl")
        target = f"{own}[{extras}]" if extras else str(own)
        run([*pip, "install", "--no-compile", "--no-index", "--find-links", house, target], env, place)
        run([*pip, "check"], env, place)
        shutil.copyfile(SMOKE, place / SMOKE.name)
        parts = extras.split(",") if extras else ["core"]
        smoke = [str(mine), "-I", SMOKE.name, *parts]
        ended = subprocess.run(smoke, env=env, cwd=place, capture_output=True, text=True, check=False)
        if ended.returncode and "FAILED" not in ended.stdout:
            return [ended.stderr.strip()[-400:]]
        return [line for line in ended.stdout.splitlines() if "FAILED" in line]
    except RuntimeError as error:
        return [str(error)]
    finally:
        shutil.rmtree(place, ignore_errors=True)


def outcome(version: str, python: Path, what: str, dist: Path, env: dict[str, str], constraints: Path) -> Outcome:
    """Return the result of one Python with one extra."""
    wheel, sources = next(dist.glob("*.whl")), next(dist.glob("*.tar.gz"))
    house = Path(tempfile.mkdtemp(dir=constraints.parent))
    package, extras = (sources, "") if what == "sdist" else (wheel, "" if what == "core" else what)
    faults = tried(python, package, extras, house, env, constraints)
    sizes = {path.name: path.stat().st_size for path in house.iterdir()}
    shutil.rmtree(house, ignore_errors=True)
    total = sum(sizes.values())
    if what == "core" and total > MAX_DOWNLOAD_BYTES:
        faults.append(f"{total:,} bytes are downloaded, and {MAX_DOWNLOAD_BYTES:,} are allowed")
    return Outcome(version, what, len(sizes), total, tuple(faults), sizes)


def left_out(version: str, what: str) -> Outcome | None:
    """Return why an extra cannot be tested on this machine, or an empty text."""
    if "spark" in what.split(",") and not shutil.which("java"):
        return Outcome(version, what, skipped="left out: no Java was found")
    return None


def shown(outcomes: Sequence[Outcome]) -> str:
    """Return a table of the results."""
    lines = [f"{'Python':8}{'what':16}{'packages':>9}{'download':>12}  outcome"]
    for each in outcomes:
        size = f"{each.downloaded / 1e6:,.1f} MB" if each.downloaded else ""
        said = "; ".join(each.faults) or each.skipped or "ok"
        lines.append(f"{each.python:8}{each.what:16}{each.packages or '':>9}{size:>12}  {said}")
    return "\n".join(lines)


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", nargs="*", default=[], help="versions or paths; without, all from 3.11 on")
    parser.add_argument("--extras", nargs="*", default=list(TARGETS), metavar="NAME", help=" ".join(TARGETS))
    parser.add_argument("--constraints", type=Path, help=f"versions to install by; without, the newest and {TORCH}")
    parser.add_argument("--dist", type=Path, help="a folder with the wheel and the packed sources; without, built")
    parser.add_argument("--json", type=Path, help="write what came of it to this file, too")
    asked = parser.parse_args(words)
    unknown = sorted({part for name in asked.extras for part in name.split(",")} - {*TARGETS})
    if unknown:
        parser.error(f"unknown extra {unknown[0]!r}: choose from {', '.join(TARGETS)}")
    return asked


def main(words: Sequence[str] | None = None) -> int:
    """Build, check, install and test; return 1 if anything fails."""
    asked = parsed(words)
    found = pythons(asked.python)
    outcomes: list[Outcome] = []

    def note(each: Outcome) -> None:
        outcomes.append(each)
        sys.stderr.write(f"{each.python} {each.what}: {'; '.join(each.faults) or each.skipped or 'ok'}\n")
        sys.stderr.flush()

    with tempfile.TemporaryDirectory(prefix="check_package-", ignore_cleanup_errors=True) as folder:
        work = Path(folder)
        env = bare_environment(work / "path")
        constraints = work / "constraints.txt"
        constraints.write_text(asked.constraints.read_text(encoding="utf-8") if asked.constraints else f"{TORCH}\n")
        dist = asked.dist.resolve() if asked.dist else packed(next(iter(found.values())), work, env)
        wheel, sources = next(dist.glob("*.whl")), next(dist.glob("*.tar.gz"))
        note(Outcome("any", "wheel", 0, wheel.stat().st_size, tuple(wheel_faults(wheel))))
        note(Outcome("any", "sources", 0, sources.stat().st_size, tuple(sources_faults(sources))))
        for version, python in found.items():
            for what in asked.extras:
                note(left_out(version, what) or outcome(version, python, what, dist, env, constraints))
    plain = next((each for each in outcomes if each.what == "core"), None)
    if plain is not None:
        sys.stdout.write("What plain `pip install cube2net` downloads:\n")
        for name, size in sorted(plain.sizes.items(), key=lambda each: -each[1]):
            sys.stdout.write(f"{size / 1e6:9.1f} MB  {name}\n")
        sys.stdout.write("\n")
    sys.stdout.write(shown(outcomes) + "\n")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1) + "\n", encoding="utf-8")
    return int(any(each.faults for each in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
