"""What citation exports hold, one row a file, and how fast 10,000 records are read.

    python benchmarks/references.py EXPORT… [--anthology FOLDER --records 10000]

The rows are those of docs/howto/sources.md. The records are papers of the ACL Anthology, written as RIS, every second
one with initials for given names; the reading is a second one, after whatever has to be loaded.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import cube2net as c2n
from cube2net.errors import Cube2netError

COLUMNS = ("file", "format", "records", "duplicates", "left out", "authors", "sources", "keywords", "countries")


class Notes:
    """Keeps what is noted while a file is read."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Take no notice of how far the reading is."""

    def note(self, text: str) -> None:
        """Keep a note."""
        self.texts.append(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("exports", nargs="*", type=Path)
    parser.add_argument("--anthology", type=Path)
    parser.add_argument("--records", type=int, default=10_000)
    options = parser.parse_args()
    if options.exports:
        print(f"| {' | '.join(COLUMNS)} |\n| {' | '.join(['---'] * 2 + ['---:'] * (len(COLUMNS) - 2))} |")
        for path in options.exports:
            print(f"| {' | '.join(row_of(path))} |")
    if options.anthology is not None:
        measure(options.anthology, options.records)


def row_of(path: Path) -> list[str]:
    """Return what a file holds, or why nothing of it is read."""
    notes = Notes()
    try:
        corpus = c2n.read_references(path, progress=notes)
    except Cube2netError as error:
        return [path.name, str(error), *[""] * (len(COLUMNS) - 2)]
    read = next(match for text in notes.texts if (match := re.search(r": ([\d,]+) records of (.+)$", text)))
    duplicates = sum(count for reason, count in corpus.dropped.items() if reason.startswith("duplicates"))
    items = corpus.items
    labels = [
        len({label for labels in items[name].to_pylist() for label in labels}) if name in items.column_names else 0
        for name in ("keyword", "country")
    ]
    sources = len(set(items["source"].to_pylist()) - {None}) if "source" in items.column_names else 0
    counts = [duplicates, sum(corpus.dropped.values()) - duplicates, corpus.objects.num_rows, sources, *labels]
    return [path.name, read[2], read[1], *(f"{count:,}" for count in counts)]


def measure(anthology: Path, count: int) -> None:
    """Read so many papers of the Anthology from one RIS file, and print how long that took."""
    corpus = c2n.read_source("acl", anthology, from_year=2016)
    names = corpus.objects["name"].to_pylist()
    ends = np.searchsorted(corpus.mentions["item"].to_numpy(), np.arange(count + 1))
    mentions = corpus.mentions["object"].to_pylist()
    with TemporaryDirectory() as folder:
        path = Path(folder, "library.ris")
        with path.open("w", encoding="utf-8") as file:
            for row, item in enumerate(corpus.items.slice(0, count).to_pylist()):
                authors = [names[each] for each in mentions[ends[row] : ends[row + 1]]]
                file.write(f"TY  - JOUR\nTI  - {item['title']}\nPY  - {item['year']}\nJO  - {item['venue']}\n")
                file.write("".join(f"AU  - {initials(name) if row % 2 else name}\n" for name in authors))
                file.write(f"DO  - 10.18653/v1/{item['item']}\nAB  - {' '.join(item['text'].split())}\nER  - \n")
        c2n.read_references(path)
        begun = perf_counter()
        read = c2n.read_references(path)
        took = perf_counter() - begun
    written = sum(name is not None for name in read.objects["also_written"].to_pylist())
    print(f"{read.items.num_rows:,} records, {read.objects.num_rows:,} authors, {written:,} written in several ways")
    print(f"read in {took:.1f} s: {read.items.num_rows / took:,.0f} a second")


def initials(name: str) -> str:
    """Return a name as "Family I."."""
    *given, family = name.split()
    return f"{family} {''.join(f'{word[0]}.' for word in given)}" if given else name


if __name__ == "__main__":
    main()
