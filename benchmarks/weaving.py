"""What to weave in and how to weigh it: near objects and memberships of the form ``woven``, on several tasks.

    python benchmarks/weaving.py DATA OUT [--only labs] [--runs 3]

OUT is the folder of ``benchmarks/results.py`` (its cubes and queries are used). For every number of objects nearest by
links and every weight of membership links: F1 of DeepWalk, LINE and node2vec, means over runs and embeddings, for the
20 jaccard cells that annealing finds. No near objects is the form ``cells``; the query alone and PageRank of as many
nodes stand beside.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import cube2net as c2n
from cube2net.pipeline.mining import clustering_miners
from cube2net.records import Network
from results import TASKS

CELLS = 20
NEAR = (0, 10, 20, 40)
MEMBERSHIPS = ("unit", "share", "even")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    print(f"| task | query alone | near | PageRank as large | {' | '.join(MEMBERSHIPS)} |")
    print("| --- " * (4 + len(MEMBERSHIPS)) + "|", flush=True)
    for task in TASKS:
        if asked.only and task.name not in asked.only:
            continue
        cube, query, options = task.load(asked.data, asked.out)
        if options["task"] != "clustering":
            continue
        miners = clustering_miners(query)

        def score(network: Network, miners=miners) -> str:
            runs = [
                miners.mine(network, name, seed)[0]["F1"] for name in miners.parameters for seed in range(asked.runs)
            ]
            return f"{np.mean(runs):.3f}"

        alone = score(c2n.construct(cube, query, "none"))
        for near in NEAR:
            peer = score(c2n.construct(cube, query, "pagerank", max_nodes=len(query) + CELLS + near))
            rows = [
                score(c2n.construct(cube, query, "anneal", CELLS, form="woven", near=near, membership=membership))
                for membership in MEMBERSHIPS
            ]
            print(f"| {task.name} | {alone} | {near} | {peer} | {' | '.join(rows)} |", flush=True)


if __name__ == "__main__":
    main()
