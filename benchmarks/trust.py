"""How far cells are to be trusted against links: the network at several levels of trust, and at the one measured.

    python benchmarks/trust.py DATA OUT [--runs 3] [--only labs3]

DATA and OUT are those of ``benchmarks/results.py``. The tasks are those to look for settings on: ``labs``, ``areas``,
``planted`` and the queries of ``benchmarks/queries.py --more``, never ``labs2`` and ``areas2``. Prints F1 by DeepWalk
and LINE, means over runs: the query alone, PageRank of as many nodes, and the default network with its trust set by
hand and, last, as it is measured without labels.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net.mine import clustering_miners
from cube2net.records import Cube, Query
from queries import write_more
from results import acl, planted

TRUSTS = (0.1, 0.5, 1.0)
MINERS = ("deepwalk", "line")
SIGS3 = ("sigparse", "sigann", "sighan", "sigfintech", "sighum")
Load = Callable[[Path, Path], tuple[Cube, Query, dict[str, Any]]]
TASKS: dict[str, Load] = {
    "labs": acl("labs"),
    "labs3": acl("labs3"),
    "labs4": acl("labs4"),
    "areas": acl("areas", ("sigmt", "sigdial", "sigbiomed", "sigedu")),
    "areas3": acl("areas3", SIGS3),
    "venues": acl("venues"),
    "planted": planted,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", action="append", choices=list(TASKS))
    asked = parser.parse_args()
    if not (asked.out / "queries" / "venues.csv").exists():
        (asked.out / "queries").mkdir(parents=True, exist_ok=True)
        write_more(next((asked.data / "acl").glob("*.tar.xz")), asked.out / "queries")
    columns = ["query alone", "PageRank", *(f"trust {trust:g}" for trust in TRUSTS), "measured", "at"]
    print(f"| task | objects | loose | {' | '.join(columns)} |")
    print("| --- " * (3 + len(columns)) + "|", flush=True)
    for name in asked.only or TASKS:
        cube, query, _ = TASKS[name](asked.data, asked.out)
        print(row(name, cube, query, asked.runs), flush=True)


def row(name: str, cube: Cube, query: Query, runs: int) -> str:
    """Return the row of a task."""
    judge = clustering_miners(query, MINERS)
    default = c2n.construct(cube, query)
    alone = c2n.construct(cube, query, "none")
    networks = [alone, c2n.construct(cube, query, "pagerank", max_nodes=len(default))]
    networks += [c2n.construct(cube, query, trust=trust) for trust in TRUSTS] + [default]
    scores = [
        " / ".join(
            f"{np.mean([judge.mine(network, miner, seed)[0]['F1'] for seed in range(runs)]):.3f}" for miner in MINERS
        )
        for network in networks
    ]
    loose = c2n.pipeline.summary(alone)["query_loose"]
    return f"| `{name}` | {len(query):,} | {loose:,} | {' | '.join(scores)} | {default.settings['trust']:.2f} |"


if __name__ == "__main__":
    main()
