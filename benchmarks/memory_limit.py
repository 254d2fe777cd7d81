"""Does a build keep to its limit of memory? Several builds at every limit, watched while they run.

    python benchmarks/memory_limit.py OUT --limits 800MB,1GB --runs 4 acl FOLDER

What the process takes for itself (anonymous memory) is what ``--memory`` is about; what the system shows as resident
holds pages of mapped files and libraries besides, which it takes back when it needs them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

EVERY = 0.02


def watched(command: list[str]) -> tuple[int, float, float]:
    """Return how a command ended, and the most megabytes that it had for itself and in all."""
    most = {"RssAnon": 0, "VmRSS": 0}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            for name in most:
                found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
                most[name] = max(most[name], int(found[1]) * 1024 if found else 0)
            time.sleep(EVERY)
        said = process.stderr.read() if process.stderr is not None else ""
    if process.returncode:
        sys.stderr.write(said)
    return process.returncode, most["RssAnon"] / 1e6, most["VmRSS"] / 1e6


def main() -> None:
    """Print a line for every build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("source")
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--limits", default="800MB,1GB")
    parser.add_argument("--runs", type=int, default=4)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    sys.stdout.write("| limit | run | status | for itself (MB) | resident (MB) |\n| --- | --- | --- | --- | --- |\n")
    for limit in asked.limits.split(","):
        for run in range(asked.runs):
            place = asked.out / "cube"
            build = [sys.executable, "-m", "cube2net", "build", asked.source, *asked.paths, "--out", str(place)]
            status, own, resident = watched([*build, "--memory", limit, "--quiet"])
            sys.stdout.write(f"| {limit} | {run + 1} | {status} | {own:,.0f} | {resident:,.0f} |\n")
            sys.stdout.flush()
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
