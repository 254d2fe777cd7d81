"""Labelled queries for comparisons of networks, each with its cube.

``DATA`` is the folder of the raw data (``acl/``, ``movies/``, ``tasks/``) and ``OUT`` the folder where cubes and
queries are kept. ``labs2`` and ``areas2`` are never used for tuning.
"""

from __future__ import annotations

import csv
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.random import stream
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from queries import areas, institutions, write, write_more

Loaded = tuple[Cube, Query, dict[str, Any]]
"""A cube, a query, and the options of ``compare`` that the task needs."""
Load = Callable[[Path, Path], Loaded]
SIGS = {
    "areas": ("sigmt", "sigdial", "sigbiomed", "sigedu"),
    "areas2": ("sigsem", "siggen", "sigslt", "sigarab"),
    "areas3": ("sigparse", "sigann", "sighan", "sigfintech", "sighum"),
}
"""The volumes to leave out of the corpus, because the labels of a query are drawn from them."""


def acl(labels: str) -> Load:
    """Return the loader of a labelled query on the ACL Anthology."""

    def load(data: Path, out: Path) -> Loaded:
        archive = next((data / "acl").glob("*.tar.xz"))
        without = SIGS.get(labels, ())
        folder = out / "cubes" / ("acl" if not without else "acl-" + labels)
        if not folder.exists():
            corpus = c2n.api.read_acl(archive, without_sigs=without)
            c2n.build(corpus, corpus.dimensions, out=folder)
        path = data / "acl" / f"{labels}.csv"
        if not path.exists():
            path = out / "queries" / f"{labels}.csv"
            if not path.exists():
                _draw_queries(labels, archive, path, without)
        cube = c2n.open(folder)
        return cube, c2n.read_query(cube, path, skip_missing=True), {"task": "clustering"}

    return load


def _draw_queries(labels: str, archive: Path, path: Path, without: tuple[str, ...]) -> None:
    """Write the query of some labels, chosen by counts alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if labels not in ("labs2", "areas2"):
        return write_more(archive, path.parent)
    drawn = institutions(archive) if labels == "labs2" else areas(archive)
    if without and {label.lower() for label in drawn.values()} != set(without):
        raise SystemExit(f"{labels} has other groups than the volumes that are left out: {without}")
    write(path, drawn)


def planted(data: Path, out: Path) -> Loaded:
    """Return four of twenty planted communities, with noise and few links."""
    made = c2n.make_planted(objects=3_000, communities=20, noise=0.4, links=2.0, within=0.6, seed=0)
    cube = c2n.build(made.corpus, made.corpus.dimensions)
    labels = {name: f"community {number}" for number in range(4) for name in made.query(number)}
    return cube, cube.query(labels), {"task": "clustering"}


def demo(data: Path, out: Path) -> Loaded:
    """Return the query and the cube of ``make demo``."""
    folder = out / "cubes" / "demo"
    if not folder.exists():
        corpus = c2n.load_bundled(without_sigs=c2n.api.AREA_SIGS)
        c2n.build(corpus, corpus.dimensions, out=folder)
    cube = c2n.open(folder)
    return cube, cube.query(c2n.load_areas()), {"task": "clustering"}


def tables(cube_name: str, source: str, query: str, dimensions: list[str], **options: Any) -> Load:
    """Return the loader of a labelled query on tables of ``DATA/tasks``."""

    def load(data: Path, out: Path) -> Loaded:
        raw = _unpack_tasks(data, out)
        folder = out / "cubes" / cube_name
        if not folder.exists():
            corpus = c2n.read_tables(raw / source)
            topics = c2n.api.find_topics(corpus, count=50)
            c2n.build(corpus, dimensions, topics=topics, out=folder, **options)
        cube = c2n.open(folder)
        return cube, c2n.read_query(cube, raw / query, skip_missing=True), {"task": "clustering"}

    return load


def _unpack_tasks(data: Path, out: Path) -> Path:
    """Return the folder of the tables of ``DATA/tasks``, unpacked once."""
    raw = out / "raw"
    if not raw.exists():
        for archive in sorted((data / "tasks").glob("*.tar.xz")):
            with tarfile.open(archive) as files:
                files.extractall(raw, filter="data")
    return raw


def businesses(name: str) -> Load:
    """Return the loader of a task on Yelp like the paper's: half of a city's businesses, and 80 % of their users.

    A fifth of the links among them is hidden. ``yelp`` is the query of ``DATA/tasks``; ``yelp-large`` is drawn here
    from the city with the most businesses, and its hidden links at random, since links have no time.
    """

    def load(data: Path, out: Path) -> Loaded:
        raw = _unpack_tasks(data, out)
        tables = raw / "yelp_city4_0"
        if name != "yelp":
            tables = raw / name
            if not tables.exists():
                _draw_businesses(raw / "yelp_city4_0", tables)
        folder = out / "cubes" / name
        if not folder.exists():
            c2n.build(c2n.read_tables(tables), ["city", "category"], min_objects=10, out=folder)
        cube = c2n.open(folder)
        asked, hidden = (_read_rows(raw / f"{tables.name}_{what}.csv") for what in ("query", "hidden"))
        place = {name: row for row, name in enumerate(cube.objects.table["object"].to_pylist())}
        ends = tuple(np.array([place[row[end]] for row in hidden]) for end in ("source", "target"))
        return cube, cube.query([row["object"] for row in asked]), {"task": "links", "hidden": ends}

    return load


def _draw_businesses(source: Path, target: Path) -> None:
    """Write tables without a fifth of the links of a query, and beside them the query and these links."""
    rng = stream(0, "benchmarks", "businesses")
    items, mentions, links = (_read_rows(source / f"{name}.csv") for name in ("items", "mentions", "links"))
    city = Counter(row["city"] for row in items).most_common(1)[0][0]
    inside = {row["item"] for row in items if row["city"] == city}
    shops = sorted({row["object"] for row in mentions if row["item"] in inside and row["object"].startswith("b")})
    chosen = set(rng.permutation(shops)[: len(shops) // 2].tolist())
    users = sorted({row["source"] for row in links if row["target"] in chosen})
    known = set(rng.permutation(users)[: round(0.8 * len(users))].tolist())
    among = [n for n, row in enumerate(links) if row["source"] in known and row["target"] in chosen]
    hidden = set(rng.permutation(among)[: round(0.2 * len(among))].tolist())
    pairs = {(links[n]["source"], links[n]["target"]) for n in hidden}
    shop_of = {row["item"]: row["object"] for row in mentions if row["object"].startswith("b")}
    target.mkdir()
    shutil.copy(source / "items.csv", target)
    shutil.copy(source / "objects.csv", target)
    kept = [row for row in mentions if (row["object"], shop_of.get(row["item"])) not in pairs]
    _write_rows(target / "mentions.csv", kept)
    _write_rows(target / "links.csv", [row for n, row in enumerate(links) if n not in hidden])
    _write_rows(target.with_name(f"{target.name}_query.csv"), [{"object": name} for name in sorted(chosen | known)])
    _write_rows(target.with_name(f"{target.name}_hidden.csv"), [links[n] for n in sorted(hidden)])


def _read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write_rows(path: Path, rows: Sequence[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def films(name: str) -> Load:
    """Return the loader of a task like the paper's: films by genre and decade, with the latest links hidden."""

    def load(data: Path, out: Path) -> Loaded:
        archives = sorted((data / "movies").glob("*.tar.xz"))
        task = c2n.api.read_task("movies", *archives, name=name)
        folder = out / "cubes" / name
        if not folder.exists():
            topics = c2n.api.find_topics(task.corpus, count=50)
            c2n.build(task.corpus, task.corpus.dimensions, topics=topics, out=folder)
        cube = c2n.open(folder)
        hidden = tuple(task.hidden[end].to_numpy() for end in ("source", "target"))
        return cube, cube.query(list(task.query)), {"task": "links", "hidden": hidden}

    return load


TASKS: dict[str, Load] = {
    "labs": acl("labs"),
    "labs3": acl("labs3"),
    "labs4": acl("labs4"),
    "areas": acl("areas"),
    "areas3": acl("areas3"),
    "venues": acl("venues"),
    "planted": planted,
    "demo": demo,
    "fourarea": tables("fourarea", "fourarea", "q116.csv", ["conf", "topic"]),
    "fourarea-large": tables("fourarea", "fourarea", "q1941.csv", ["conf", "topic"]),
    "debian": tables("debian", "debian", "qdebian.csv", ["maintainer", "topic"], min_objects=3),
    "reviews": tables("reviews", "reviews/tables", "reviews/query.csv", ["concept", "year@decades", "topic"]),
    "labs2": acl("labs2"),
    "areas2": acl("areas2"),
    "scifi00": films("scifi00"),
    "drama10": films("drama10"),
    "yelp": businesses("yelp"),
    "yelp-large": businesses("yelp-large"),
}
"""All tasks by name."""
CHECKED_ONCE = ("labs2", "areas2")
LINKS = ("scifi00", "drama10", "yelp", "yelp-large")
CHOSEN_ON = tuple(name for name in TASKS if name not in (*CHECKED_ONCE, *LINKS))
"""The clustering tasks on which settings may be chosen."""
