"""Does preferring objects help to find the other members of a group?

    python benchmarks/liking.py CUBE [--seeds 5]

CUBE is a cube of the ACL Anthology. For each labelled group of ``labs`` and ``areas`` with at least twenty objects, and
each seed, half of the group is the query and the other half is hidden; five of the hidden objects are preferred. Prints
the share of the other hidden objects in the network, in the forms hybrid and objects, and its difference to the network
without preferences, with a 95 % interval bootstrapped over groups (10,000 draws). Preferred objects replace neighbours
in the form hybrid, so a network with five more neighbours is compared too, and one with the five objects in the query.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.model.cube import Cube
from cube2net.model.node_names import Node
from cube2net.model.query import Query

SIZE, SHOWN, DRAWS = 20, 5, 10_000
ROOM = "five more neighbours"
WAYS = ("no steering", ROOM, "prefer", "in the query")
FORMS: dict[str, dict[str, Any]] = {"hybrid": {}, "objects": {"form": "objects"}}


def shares(cube: Cube, own: Array, seed: int) -> Array:
    """Return the share found and the number of nodes by form and way, for one group and one seed."""
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(own)
    query, hidden = drawn[: len(own) // 2], drawn[len(own) // 2 :]
    preferred, rest = hidden[:SHOWN], hidden[SHOWN:]
    prefer = [Node("object", int(row)) for row in preferred]
    steered: dict[str, dict[str, Any]] = {
        ROOM: {"n_neighbors": len(query) + SHOWN},
        "prefer": {"prefer": prefer},
    }
    table = np.zeros((len(FORMS), len(WAYS), 2))
    for line, form in enumerate(FORMS.values()):
        for column, way in enumerate(WAYS):
            if way == ROOM and form:
                continue
            rows = np.union1d(query, preferred) if way == "in the query" else np.sort(query)
            network = c2n.api.construct_by_name(cube, Query(rows.astype(np.int32)), **form, **steered.get(way, {}))
            table[line, column] = np.isin(rest, network.objects).mean(), len(network)
    return table


def interval(differences: Array) -> tuple[float, float]:
    """Return the 95 % interval of a mean over groups (rows) and seeds, by drawing groups."""
    rng = np.random.default_rng(0)
    means = differences.mean(axis=1)
    drawn = means[rng.integers(0, len(means), size=(DRAWS, len(means)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cube", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    cube = c2n.open(given.cube)
    print("| labels | groups | form | steering | found | nodes | difference | 95 % |")
    print("| --- | --: | --- | --- | --: | --: | --: | --- |", flush=True)
    for name, load in (("labs", c2n.load_labs), ("areas", c2n.load_areas)):
        query = cube.query(load(), skip_missing=True)
        labels = np.array(query.labels)
        groups = [label for label in np.unique(labels).tolist() if (labels == label).sum() >= SIZE]
        table = np.array(
            [[shares(cube, query.objects[labels == label], seed) for seed in range(given.seeds)] for label in groups]
        )
        for line, form in enumerate(FORMS):
            for column, way in enumerate(WAYS):
                if way == ROOM and FORMS[form]:
                    continue
                found, nodes = table[:, :, line, column].mean(axis=(0, 1))
                differences = table[:, :, line, column, 0] - table[:, :, line, 0, 0]
                told = "–", "–"
                if column:
                    low, high = interval(differences)
                    told = f"{differences.mean():+.3f}", f"{low:+.3f} to {high:+.3f}"
                print(f"| {name} | {len(groups)} | {form} | {way} | {found:.3f} | {nodes:.0f} | {' | '.join(told)} |")


if __name__ == "__main__":
    main()
