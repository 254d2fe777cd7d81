"""What citation exports hold, one row a format, and how fast 10,000 records are read.

    python benchmarks/references.py FILE_OR_FOLDER… [--anthology FOLDER --records 10000]

The rows are those of docs/howto/sources.md. Files of one format are read together, so that a record in several of them
is a duplicate. The 10,000 records are papers of the ACL Anthology, written as RIS, every second one with initials for
given names; the second reading is measured.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import cube2net as c2n
from cube2net._util.zip_files import Meter
from cube2net.io.bibliography.references import is_reference_file, parse_file
from cube2net.io.dropped import Dropped

COLUMNS = ("format", "files", "records", "duplicates", "left out", "authors", "sources", "keywords", "countries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("exports", nargs="*", type=Path)
    parser.add_argument("--anthology", type=Path)
    parser.add_argument("--records", type=int, default=10_000)
    options = parser.parse_args()
    if options.exports:
        print("\n".join(describe_exports(options.exports)))
    if options.anthology is not None:
        measure(options.anthology, options.records)


def describe_exports(places: Iterable[Path]) -> list[str]:
    """Return a table of what files, and those in folders, hold by format; what is no export is named below it."""
    files = [file for place in places for file in (sorted(place.rglob("*.*")) if place.is_dir() else [place])]
    forms: dict[str, list[Path]] = defaultdict(list)
    others = []
    for file in files:
        if is_reference_file(file):
            for _, form, _ in parse_file(file, Meter(), Dropped()):
                forms[form].append(file)
        elif file.is_file():
            others.append(file.name)
    lines = [f"| {' | '.join(COLUMNS)} |", f"| --- |{' ---: |' * (len(COLUMNS) - 1)}"]
    lines += [
        f"| {form} | {' | '.join(f'{count:,}' for count in count_records(forms[form]))} |" for form in sorted(forms)
    ]
    return [*lines, *(["", f"Files that are not exports of references: {', '.join(others)}."] if others else [])]


def count_records(files: Sequence[Path]) -> list[int]:
    """Return the number of files, and of what is read from all of them together."""
    corpus = c2n.read_references(*files)
    items = corpus.items
    duplicates = sum(count for reason, count in corpus.dropped.items() if reason.startswith("duplicates"))
    labels = []
    for name in ("source", "keyword", "country"):
        values = items[name].to_pylist() if name in items.column_names else []
        labels.append(
            len({label for value in values for label in (value if isinstance(value, list) else [value])} - {None})
        )
    left_out = sum(corpus.dropped.values()) - duplicates
    return [len(files), items.num_rows + duplicates, duplicates, left_out, corpus.objects.num_rows, *labels]


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
