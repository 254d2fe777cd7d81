"""A frame of a million rows to a cube, against its Parquet file: both in one run, by turns.

python benchmarks/frames.py [ROWS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq

import cube2net as c2n

TURNS = 3


def frames(rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    cities = np.array([f"city {number}" for number in range(200)])
    nodes = pd.DataFrame(
        {
            "id": [f"n{number}" for number in range(rows)],
            "city": cities[rng.integers(0, len(cities), rows)],
            "trade": pd.Categorical.from_codes(rng.integers(0, 20, rows), [f"trade {code}" for code in range(20)]),
            "year": rng.integers(1950, 2025, rows),
            "score": rng.random(rows),
        }
    )
    ends = rng.integers(0, rows, (2, 2 * rows))
    links = pd.DataFrame({"source": nodes["id"].to_numpy()[ends[0]], "target": nodes["id"].to_numpy()[ends[1]]})
    return nodes, links


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    nodes, links = frames(rows)
    with tempfile.TemporaryDirectory() as folder:
        files = {"nodes": Path(folder, "nodes.parquet"), "links": Path(folder, "links.parquet")}
        nodes.to_parquet(files["nodes"])
        links.to_parquet(files["links"])
        held = {"nodes": pl.from_pandas(nodes), "links": pl.from_pandas(links)}
        arrow = {role: pq.read_table(path) for role, path in files.items()}
        ways: dict[str, Callable[[], c2n.Cube]] = {
            name: lambda data=data: c2n.build(data, ["city", "trade"])
            for name, data in (
                ("parquet", files),
                ("pandas", {"nodes": nodes, "links": links}),
                ("polars", held),
                ("arrow", arrow),
            )
        }
        reads: dict[str, Callable[[], c2n.Corpus]] = {
            name: lambda data=data: c2n.read_tables(data)
            for name, data in (("parquet", files), ("pandas", {"nodes": nodes, "links": links}), ("polars", held))
        }
        same = {name: repr(way()) for name, way in ways.items()}
        if len(set(same.values())) > 1:
            raise SystemExit(f"the cubes differ: {same}")
        print(f"{rows:,} nodes, {len(links):,} links: {same['parquet']}")
        for what, made in (("to a corpus", reads), ("to a cube", ways)):
            times: dict[str, list[float]] = {name: [] for name in made}
            for _ in range(TURNS):
                for name, way in made.items():
                    begun = time.perf_counter()
                    way()
                    times[name].append(time.perf_counter() - begun)
            base = times["parquet"]
            for name, seconds in times.items():
                ratio = median(own / other for own, other in zip(seconds, base, strict=True))
                print(f"{what}: {name} {median(seconds):.2f} s, {ratio:.2f} of its Parquet file")


if __name__ == "__main__":
    main()
