"""Damaged files other than cubes: queries, links, journals of comparisons, policies and word vectors."""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cube2net as c2n
from cube2net._util.random import stream
from cube2net.api.compare import results
from cube2net.model.cube import Cube
from cube2net.selection.rl.cube2net import Cube2net, Trained
from cube2net.vectors.cell_vectors import WordVectors
from cube2net.vectors.glove import read_words
from stress.damage import damage, pick
from stress.fuzz_cubes import Own, check_network

COMPARED = {"task": "clustering", "methods": ["none", "hops"], "models": {"own": Own()}, "runs": 2, "workers": 1}


@dataclass(frozen=True)
class DamagedFile:
    """A file that ``write`` creates, damaged, and a function that reads it."""

    name: str
    write: Callable[[Path, Path], None]
    ask: Callable[[Cube, Path, Path], None]
    others: tuple[str, ...] = ()

    def __call__(self, base: Path, place: Path, seed: int | None) -> None:
        """Damage the file by a seed, or one of the others that belong to it, and ask."""
        rng = stream(seed or 0, "stress", self.name)
        self.write(base, place)
        if seed:
            path = place / pick((self.name, *self.others), rng)
            path.write_bytes(damage(path.name, path.read_bytes(), rng))
        self.ask(c2n.open(base / "plain"), place, base)


# Queries and links

NAMES = [f"Name {i}" for i in range(20)]


def write_names(base: Path, place: Path) -> None:
    """Write a query with one name per line."""
    (place / "query.txt").write_text("# some\n" + "\n".join(NAMES), encoding="utf-8")


def write_labelled(base: Path, place: Path) -> None:
    """Write a query as a table with labels."""
    shutil.copy(base / "query.csv", place / "query.csv")


def write_pairs(base: Path, place: Path) -> None:
    """Write a table of links."""
    pairs = "".join(f"n{i},Name {i + 1}\n" for i in range(20))
    (place / "hidden.csv").write_text(f"source,target\n{pairs}", encoding="utf-8")


def ask_query(name: str) -> Callable[[Cube, Path, Path], None]:
    """Return a function that reads a query from a file, with and without missing names."""

    def ask(cube: Cube, place: Path, base: Path) -> None:
        query = c2n.read_query(cube, place / name, skip_missing=True)
        check_network(c2n.construct(cube, query, "hops"))
        c2n.read_query(cube, place / name)

    return ask


def ask_pairs(cube: Cube, place: Path, base: Path) -> None:
    """Read links from a file."""
    source, target = c2n.api.read_links(cube, place / "hidden.csv")
    if len(source) != len(target):
        raise AssertionError("links with one end")


# Journals


def write_journal(base: Path, place: Path) -> None:
    """Run a comparison once and keep its journal for all inputs."""
    kept = base / "journal.jsonl"
    if not kept.exists():
        cube = c2n.open(base / "plain")
        c2n.api.compare_by_name(cube, c2n.read_query(cube, base / "query.csv"), out=place, **COMPARED)
        header, *lines = (place / "trials.jsonl").read_bytes().splitlines()
        texts = [re.sub(rb'"seconds": {[^}]*}', b'"seconds": {"mine": 0.5}', line[9:]) for line in lines]
        aside = base / f"journal-{place.parent.name}"
        aside.write_bytes(b"\n".join([header, *(b"%08x %s" % (zlib.crc32(text), text) for text in texts), b""]))
        aside.replace(kept)
    shutil.copy(kept, place / "trials.jsonl")


def ask_journal(cube: Cube, place: Path, base: Path) -> None:
    """Read the trials, judge them, and continue the comparison."""
    query = c2n.read_query(cube, base / "query.csv")
    found = c2n.read_comparison(place, query)
    for trial in found.trials:
        whole = [trial.seed, trial.nodes, trial.links, trial.loose]
        numbers = [*trial.scores.values(), *trial.seconds.values(), 0.0 if trial.value is None else trial.value]
        sound = all(type(value) is int for value in whole) and all(type(value) in (int, float) for value in numbers)
        if not sound or not isinstance(trial.model, str) or not isinstance(trial.reason, str):
            raise AssertionError("a trial was taken that holds values of another type")
    json.dumps(results(found))
    again = c2n.api.compare_by_name(cube, query, out=place, **COMPARED)
    again.verdict()


# Policies


def write_policy(base: Path, place: Path) -> None:
    """Write a policy after minimal training."""
    kept = base / f"policy-{place.parent.name}.safetensors"
    if not kept.exists():
        cube = c2n.open(base / "plain")
        query = c2n.read_query(cube, base / "query.csv")
        c2n.construct(cube, query, Cube2net(updates=1, trajectories=2, save=str(kept)))
    shutil.copy(kept, place / "a.safetensors")


def ask_policy(cube: Cube, place: Path, base: Path) -> None:
    """Load the policy, and sometimes continue its training."""
    trained = Trained.load(place / "a.safetensors")
    if any(not math.isfinite(value) for pair in trained.curve for value in pair):
        raise AssertionError("a learning curve that holds no numbers")
    query = c2n.read_query(cube, base / "query.csv")
    path = str(place / "a.safetensors")
    check_network(c2n.construct(cube, query, Cube2net(policy=path, updates=1, trajectories=2)))


# Word vectors


def write_words(base: Path, place: Path) -> None:
    """Write a small compressed table of word vectors and its memory-mapped copy."""
    words = ("city", "state", "trade", "0", "1", "2", "3", "parser", "corpus")
    text = "".join(f"{word} {' '.join(str((i * 7 + j) % 5 / 3) for j in range(6))}\n" for i, word in enumerate(words))
    (place / "words.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    os.utime(place / "words.txt.gz", (10**9, 10**9))  # the time is part of what is kept
    read_words(place / "words.txt.gz")


def ask_words(cube: Cube, place: Path, base: Path) -> None:
    """Read the table and compute cell vectors."""
    c2n.api.embed_cells(cube, WordVectors(words=read_words(place / "words.txt.gz")))


KEPT = tuple(f"words.txt.gz.words/{name}" for name in ("manifest.json", "words.txt", "vectors.npy"))
FILES = {
    "query of names": DamagedFile("query.txt", write_names, ask_query("query.txt")),
    "query with labels": DamagedFile("query.csv", write_labelled, ask_query("query.csv")),
    "links": DamagedFile("hidden.csv", write_pairs, ask_pairs),
    "journal": DamagedFile("trials.jsonl", write_journal, ask_journal),
    "policy": DamagedFile("a.safetensors", write_policy, ask_policy),
    "word vectors": DamagedFile("words.txt.gz", write_words, ask_words, KEPT),
}
