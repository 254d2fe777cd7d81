"""Valid data for all parts: small tables, a query, and cubes with and without topics."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cube2net._util.random import stream

NODES = 300
WORDS = (
    ("parser", "corpus", "speech", "grammar", "language", "sentence"),
    ("market", "price", "trader", "money", "profit", "company"),
    ("river", "bridge", "water", "boat", "harbour", "fish"),
)
KINDS = ("knows", "pays")
BUILD = ("--dimension", "city/state", "--dimension", "trade", "--min-objects", "5", "--quiet")


def write_tables(folder: Path, *, start: int = 0, count: int = NODES, weight: float = 1.0, seed: int = 0) -> Path:
    """Write two tables of people with cities, trades, texts and links; return their folder."""
    rng = stream(seed, "stress", "tables", start)
    folder.mkdir(parents=True)
    cities, trades = rng.integers(6, size=count).tolist(), rng.integers(4, size=count).tolist()
    nodes = [
        (f"n{start + i}", f"Name {start + i}", f"city {city}", f"state {city % 2}", f"trade {trade}", _text(rng))
        for i, (city, trade) in enumerate(zip(cities, trades, strict=True))
    ]
    ends = [(a, b) for a, b in rng.integers(count, size=(3 * count, 2)).tolist() if a != b]
    links = [(f"n{start + a}", f"n{start + b}", weight, KINDS[a % 2], 2000 + b % 9) for a, b in ends]
    _write(folder / "nodes.csv", ("id", "name", "city", "state", "trade", "text"), nodes)
    _write(folder / "links.csv", ("source", "target", "weight", "kind", "year"), links)
    return folder


def write_query(path: Path, count: int = 30) -> Path:
    """Write a file with some names and labels, and return it."""
    _write(path, ("object", "label"), [(f"n{i}", f"label {i % 3}") for i in range(count)])
    return path


def make_bases(base: Path) -> None:
    """Write the tables, ``query.csv`` and three cubes to a folder, unless they exist."""
    import cube2net as c2n

    if (base / "planted").exists():
        return
    write_tables(base / "first")
    write_tables(base / "more", start=1000, count=30)
    write_tables(base / "again", start=2000, count=30)
    write_tables(base / "other", seed=1, weight=2.0)
    write_query(base / "query.csv")
    specs = ["city/state", "trade"]
    c2n.build(c2n.read_tables(base / "first"), specs, min_objects=5, out=base / "plain")
    topics = c2n.api.find_topics(c2n.read_tables(base / "first"), count=4, seed=0)
    c2n.build(c2n.read_tables(base / "first"), ["city", "topic"], topics=topics, min_objects=5, out=base / "topical")
    planted = c2n.make_planted(objects=200, communities=4)
    c2n.build(planted.corpus, out=base / "planted")


def _text(rng: np.random.Generator) -> str:
    words = WORDS[int(rng.integers(len(WORDS)))]
    one, two, three, four = (words[int(number)] for number in rng.integers(len(words), size=4))
    return f"This is what we know about the {one} of a {two}, and how it was with the {three} and their {four}."


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
