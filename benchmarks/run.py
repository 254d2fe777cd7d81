"""Runs every benchmark on the raw data of a folder, one after another, and prints what each prints.

    python benchmarks/run.py DATA

DATA holds ``acl/acl-anthology-*.tar.xz`` and ``acl/labs.csv``. Times on a busy machine mean little: read the ratios.
``choices.py``, ``learning.py`` and ``growth.py`` (what docs/choosing.md shows) take up to hours, ``gpu.py`` needs a
GPU: run these by hand.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("name the folder of the raw data: make bench DATA=folder")
    acl = Path(sys.argv[1]) / "acl"
    archives = sorted(acl.glob("acl-anthology-*.tar.xz"))
    if not archives or not (acl / "labs.csv").is_file():
        raise SystemExit(f"{acl} has no acl-anthology-*.tar.xz or no labs.csv")
    with tempfile.TemporaryDirectory() as work:
        cube = str(Path(work) / "cube")
        run("figures.py", str(archives[-1]), str(acl / "labs.csv"), "--cube", cube)
        run("extraction.py", cube, str(acl / "labs.csv"))
        run("vectors.py", cube, "--show", "5")
    run("nearest.py")
    run("topics.py", str(archives[-1]))


def run(name: str, *words: str) -> None:
    print(f"\n== {name}", flush=True)
    subprocess.run([sys.executable, str(HERE / name), *words], check=True)


if __name__ == "__main__":
    main()
