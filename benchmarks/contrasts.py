"""What distinguishes the bundled groups, how long that takes, and how often random splits have a significant cell.

    python benchmarks/contrasts.py CUBE [--splits 200] [--times 15]

CUBE is the cube of the bundled papers (``cube2net demo`` makes one). Prints the sentences of docs/howto/contrast.md,
then the time to contrast 116 authors of one area with 116 of another. Finally these 232 authors are split at random
into two sides; at most one split in twenty should have a significant cell.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np

import cube2net as c2n
from measures.processes import median, turns

SIDE = 116


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cube")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--times", type=int, default=15)
    given = parser.parse_args()
    cube = c2n.open(given.cube)
    areas, labs = c2n.load_areas(), c2n.load_labs()
    for title, view, query in (
        ("areas", cube, areas),
        ("areas, venues rolled up to ∗", c2n.cube.roll_up(cube, "venue", "∗"), areas),
        ("labs", cube, labs),
    ):
        print(f"\n{title}")
        for each in c2n.contrast(view, query, n_cells=3):
            counts = f"{each.tested:,} tested, {each.n_significant:,} significant"
            print(f"{each}  [{each.value:.3f} of {each.bound:.3f}, {counts}]")
    print("\nareas, clustered")
    network = c2n.construct(cube, areas)
    clusters = c2n.api.cluster_query(network, count=4, seed=0)
    print(network.describe_clusters(clusters, n_cells=3))
    pairs = Counter(zip(clusters.labels.tolist(), network.query.labels or (), strict=True))
    print(", ".join(f"{count} of {area} in {number}" for (number, area), count in pairs.most_common(4)))

    names = [[name for name, label in areas.items() if label == area] for area in ("machine translation", "dialogue")]
    one, two = (cube.query(side[:SIDE]) for side in names)
    print(f"\n{SIDE} against {SIDE}: {describe_times(lambda: c2n.contrast(cube, one, two), given.times)}")
    print(
        f"its network: {describe_times(lambda: c2n.contrast(cube, one, two).network, given.times)}, with the contrast"
    )
    print(f"each area against the rest: {describe_times(lambda: c2n.contrast(cube, areas), given.times)}")
    rng, pool = np.random.default_rng(0), np.concatenate([one.objects, two.objects])
    draws = (rng.permutation(pool).tolist() for _ in range(given.splits))
    significant = sum(c2n.contrast(cube, drawn[:SIDE], drawn[SIDE:]).n_significant > 0 for drawn in draws)
    print(f"random splits with a significant cell: {significant} of {given.splits}")


def describe_times(work: Callable[[], object], times: int) -> str:
    taken = [1e3 * seconds for seconds in turns(work, most=times, seconds=60)]
    return f"{median(taken):.0f} ms (median of {len(taken)}, minimum {min(taken):.0f})"


if __name__ == "__main__":
    main()
