"""Run the benchmarks for docs/findings/performance.md and related ones, and write the page.

    python benchmarks/run.py OUT [DATA]

OUT keeps the data and results of ``performance.py``; existing ones are not measured again. With DATA, a folder with
``acl/acl-anthology-*.tar.xz`` and ``acl/labs.csv``, the part on real data and the benchmarks of vectors and topics run
too. Run ``choices.py``, ``growth.py``, the learning benchmarks, ``results.py`` and ``paper.py`` by hand, because they
take up to hours; ``gpu.py`` needs a GPU.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "findings" / "performance.md"


def main() -> None:
    if len(sys.argv) not in (2, 3):
        raise SystemExit("name a folder for what is made, and one with raw data: make bench DATA=folder")
    out, raw = Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]]
    run("performance.py", "--out", str(out), "--page", str(PAGE), *(f"--data={folder}" for folder in raw))
    run("nearest.py")
    for folder in raw:
        run("vectors.py", str(out / "data" / "cube-acl"), "--show", "5")
        run("topics.py", str(sorted((folder / "acl").glob("acl-anthology-*.tar.xz"))[-1]))


def run(name: str, *words: str) -> None:
    print(f"\n== {name}", flush=True)
    subprocess.run([sys.executable, str(HERE / name), *words], check=True)


if __name__ == "__main__":
    main()
