"""Measure builds, queries, other libraries, throughput, growth and kernels; write docs/findings/performance.md.

    python benchmarks/performance.py --out FOLDER [--data DATA] [--sizes 100000,300000,1000000,3080000]
        [--only build,update,answers,race,throughput,growing,limits,anthology] [--page docs/findings/performance.md]

FOLDER keeps the generated bibliographies and cubes (``data/``, about 3 GB at full size) and one JSON file per
measurement (``results/``). Existing files are not measured again, so an interrupted run continues; remove a file to
repeat its measurement. DATA has ``acl/acl-anthology-*.tar.xz`` and ``acl/labs.csv`` for the part on real data. Queries
use the largest size. Use an idle machine: the page reports other load.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from measures import answers, anthology, build, growing, limits, race, throughput, updating
from measures.literature import cube_folder
from measures.page import write_page
from measures.processes import Results, machine

SIZES = "100000,300000,1000000,3080000"
PARTS = ("build", "update", "answers", "race", "throughput", "growing", "limits", "anthology")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="a folder with raw data, for the part on the ACL Anthology")
    parser.add_argument("--sizes", default=SIZES, help="papers of the made-up literatures, ascending")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--page", type=Path, help="where to write the page; its pictures go beside it")
    asked = parser.parse_args()
    sizes = sorted(int(size) for size in asked.sizes.split(","))
    wanted = [part.strip() for part in asked.only.split(",") if part.strip()]
    unknown = sorted(set(wanted) - set(PARTS))
    if unknown:
        raise SystemExit(f"unknown parts {unknown}: choose among {', '.join(PARTS)}")
    results, data = Results(asked.out / "results"), asked.out / "data"
    data.mkdir(parents=True, exist_ok=True)
    results.measure("machine", machine)
    largest = cube_folder(data, sizes[-1])
    if wanted != ["anthology"]:
        # Everything else asks the cubes that the first part builds.
        build.measure(results, data, sizes)
    middle = sizes[-2] if len(sizes) > 1 else sizes[-1]
    if "update" in wanted:
        updating.measure(results, data, middle)
    if "answers" in wanted:
        answers.measure(results, largest)
    if "race" in wanted:
        race.measure(results, largest, data)
    if "throughput" in wanted:
        throughput.measure(results, largest, cube_folder(data, middle))
    if "growing" in wanted:
        growing.measure(results, data, sizes)
    if "limits" in wanted:
        limits.measure(results, largest)
    if "anthology" in wanted and asked.data is not None:
        anthology.measure(results, asked.data, data)
    if asked.page is not None:
        write_page(results, asked.page)
        print(f"wrote {asked.page}")


if __name__ == "__main__":
    main()
