"""Prediction of hidden links: all recommenders on the query alone, with the objects of cells, and with one hop.

    python benchmarks/links.py [DATA] [--task scifi00] [--runs 3] [--cells 20] [--only softimpute]

DATA (or CUBE2NET_DATA) has the archives ``movies/movietweetings-*.tar.xz`` and ``movies/wikipedia-movie-data.tar.xz``.
The query is half of the films of a genre and decade and 80 % of their users; the latest 20 % of the links among them
are hidden. Only films of the query are ranked. Settings of recommenders are chosen on each network from its known
links. Ties, such as all items for a user without links, are ordered by popularity, except in "bare". Each run draws
other films and users. Prints means over runs; ± is the standard error of the difference to popularity on the query
alone, by user.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.api.read import read_task
from cube2net.mining.bipartite import Bipartite, make_bipartite
from cube2net.mining.link_prediction import Ranking, choose_recommender, rank_links
from cube2net.mining.recommenders import TUNING_CHOICES, SoftImpute
from cube2net.model.interfaces import Recommender
from cube2net.model.network import Network

TASKS = ("scifi00", "drama10")
KS = (1, 5, 10, 20)
SHOWN = ("P@1", "P@5", "P@10", "R@5", "R@10", "R@20", "AUC")
FLOOR = ("the query alone", "popularity")
TEXTBOOK = tuple(
    SoftImpute(rank=rank, values="given", zeros=0.0, centring=centring)
    for rank in (4, 16)
    for centring in ("none", "mean", "items", "cells+objects")
)
CONTESTANTS: dict[str, tuple[Recommender, ...]] = {
    **{name: tried for name, tried in TUNING_CHOICES.items() if name != "softimpute"},
    "softimpute of ratings, bare": TEXTBOOK,
    "softimpute of ratings": TEXTBOOK,
    "softimpute": TUNING_CHOICES["softimpute"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", default=os.environ.get("CUBE2NET_DATA"))
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--only", action="append", choices=CONTESTANTS)
    asked = parser.parse_args()
    if asked.data is None:
        raise SystemExit("name the folder of the raw data, or set CUBE2NET_DATA")
    wanted = [name for name in CONTESTANTS if name == "popularity" or not asked.only or name in asked.only]
    for task in asked.task or TASKS:
        rows: dict[tuple[str, str], list[tuple[Ranking, Recommender, float]]] = {}
        for seed in range(asked.runs):
            for label, network, users, films in networks(asked.data / "movies", task, seed, asked.cells):
                links = make_bipartite(network)
                hidden = links.links(users, films)
                if seed == 0:
                    print(f"{task}, {label}: {links}", flush=True)
                for name in wanted:
                    found = judged(CONTESTANTS[name], links, hidden, seed, bare=name.endswith("bare"))
                    rows.setdefault((label, name), []).append(found)
        show(task, rows)


def networks(folder: Path, name: str, seed: int, cells: int) -> list[tuple[str, Network, Array, Array]]:
    """Return the networks of one task, with the users and films of its hidden links."""
    archives = [*sorted(folder.glob("movietweetings-*.tar.xz")), *sorted(folder.glob("wikipedia-movie-data.tar.xz"))]
    task = read_task("movies", *archives, name=name, seed=seed)
    cube = c2n.build(task.corpus, topics=c2n.api.find_topics(task.corpus, count=50), seed=seed)
    query = cube.query(list(task.query))
    users, films = task.hidden["target"].to_numpy(), task.hidden["source"].to_numpy()
    made = {
        FLOOR[0]: c2n.construct(cube, query, "none"),
        f"{cells} cells' objects": c2n.construct(cube, query, "greedy", n_cells=cells, form="objects"),
        f"{cells} cells as nodes": c2n.construct(
            cube,
            query,
            "greedy",
            n_cells=cells,
            objective="jaccard",
            form="cells",
            options=c2n.NetworkOptions(membership_weights="unit"),
        ),
        f"{cells} cells+objects": c2n.construct(
            cube,
            query,
            "greedy",
            n_cells=cells,
            form="cells+objects",
            options=c2n.NetworkOptions(membership_weights="unit"),
        ),
        "one hop": c2n.construct(cube, query, "hops"),
    }
    return [(label, network, users, films) for label, network in made.items()]


def judged(
    tried: tuple[Recommender, ...], links: Bipartite, hidden: Array, seed: int, bare: bool
) -> tuple[Ranking, Recommender, float]:
    """Return the scores of the best setting, the setting, and the time to choose and learn."""
    start = time.process_time()
    best = choose_recommender(tried, links.matrix, seed=seed, items=links.query_items).best
    fitted = best.fit(links.matrix, seed=seed)
    if bare:
        floor: Any = replace(fitted.floor, popular=np.zeros_like(fitted.floor.popular))  # type: ignore[attr-defined]
        fitted = replace(fitted, floor=floor)  # type: ignore[type-var]
    spent = time.process_time() - start
    return rank_links(fitted, links.matrix, hidden, ks=KS, items=links.query_items), best, spent


def show(task: str, rows: dict[tuple[str, str], list[tuple[Ranking, Recommender, float]]]) -> None:
    """Print the means of each row, and its difference in P@5 to popularity."""
    floor = [found.precision[:, KS.index(5)] for found, _, _ in rows[FLOOR]]
    print(f"\n| {task} | recommender | {' | '.join(SHOWN)} | P@5 over popularity | without links | CPU s |")
    print("| --- " * (len(SHOWN) + 5) + "|")
    for (label, name), runs in rows.items():
        means = [np.mean([found.means()[score] for found, _, _ in runs]) for score in SHOWN]
        apart = [found.precision[:, KS.index(5)] - least for (found, _, _), least in zip(runs, floor, strict=True)]
        gain = np.mean([part.mean() for part in apart])
        error = np.sqrt(sum(part.var(ddof=1) / len(part) for part in apart)) / len(apart)
        cold = sum(int(found.cold.sum()) for found, _, _ in runs) / sum(len(found) for found, _, _ in runs)
        print(
            f"| {label} | {name} | {' | '.join(f'{mean:.4f}' for mean in means)} "
            f"| {gain:+.4f} ± {error:.4f} | {cold:.0%} | {np.mean([spent for _, _, spent in runs]):.1f} |"
        )
    print()
    for (label, name), runs in rows.items():
        if name != "popularity":
            settled = [str(best) for _, best, _ in runs]
            print(f"{label}, {name}: {'; '.join(settled)}")
    print(flush=True)


if __name__ == "__main__":
    main()
