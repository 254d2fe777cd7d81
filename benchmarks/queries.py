"""Further labelled queries out of the ACL Anthology, to see whether what helps one helps others too.

    python benchmarks/queries.py ARCHIVE OUT

Writes ``OUT/labs2.csv`` (authors of four institutions that the query of 116 authors does not have, by the affiliations
of their papers) and ``OUT/areas2.csv`` (authors in four areas, by the volumes of four special interest groups that the
query of 1,820 authors does not have; leave these volumes out of the corpus that the cube is made of).
Choices are made by counts alone, before anything is mined.
"""

from __future__ import annotations

import argparse
import csv
import re
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import cube2net as c2n

USED_GROUPS = ("sigmt", "sigdial", "sigbiomed", "sigedu")
USED_PLACES = ("carnegie mellon", "harbin institute", "cambridge", "edinburgh")
EACH, MOST, PAPERS = 29, 455, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("archive", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    write(asked.out / "labs2.csv", institutions(asked.archive))
    write(asked.out / "areas2.csv", areas(asked.archive))


def institutions(archive: Path) -> dict[str, str]:
    """Return the most published authors of the four institutions that have most authors, as many of each."""
    places: dict[str, Counter[str]] = defaultdict(Counter)
    for author, place in affiliations(archive):
        places[author][place] += 1
    home = {author: counts.most_common(1)[0][0] for author, counts in places.items() if len(counts) == 1}
    papers = {author: sum(counts.values()) for author, counts in places.items()}
    large = [
        place
        for place, _ in Counter(home.values()).most_common()
        if not any(used in place.lower() for used in USED_PLACES) and re.search("Universit|Institute of", place)
    ]
    chosen: dict[str, str] = {}
    for place in large[:4]:
        own = sorted((author for author in home if home[author] == place), key=lambda author: (-papers[author], author))
        chosen |= dict.fromkeys(own[:EACH], place)
    return chosen


def affiliations(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield the author and the affiliation of every place on a paper that names one."""
    with tarfile.open(archive) as files:
        for entry in files:
            if not entry.name.endswith(".xml"):
                continue
            file = files.extractfile(entry)
            if file is None:
                continue
            for author in ElementTree.parse(file).iterfind(".//paper/author"):
                place = " ".join((author.findtext("affiliation") or "").split())
                name = " ".join(filter(None, (author.findtext("first"), author.findtext("last"))))
                if place and name:
                    yield author.get("id") or name, place


def areas(archive: Path) -> dict[str, str]:
    """Return authors of exactly one of the four other groups with most of them, with two papers or more there."""
    corpus = c2n.read_acl(archive)
    sigs = corpus.items["sig"].to_pylist()
    ids = corpus.objects["object"].to_pylist()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for item, thing in zip(*(corpus.mentions[name].to_pylist() for name in ("item", "object")), strict=True):
        for sig in sigs[item] or ():
            if sig.lower() not in USED_GROUPS:
                counts[ids[thing]][sig] += 1
    sizes = Counter(sig for own in counts.values() for sig, papers in own.items() if papers >= PAPERS)
    broad = {"sigdat", "signll", "siglex"}
    groups = [sig for sig, _ in sizes.most_common() if sig.lower() not in broad][:4]
    rng = np.random.default_rng(0)
    chosen: dict[str, str] = {}
    for group in groups:
        own = sorted(
            author
            for author, papers in counts.items()
            if papers[group] >= PAPERS and not any(papers[other] for other in groups if other != group)
        )
        kept = rng.choice(len(own), min(MOST, len(own)), replace=False)
        chosen |= dict.fromkeys((own[i] for i in sorted(kept)), group)
    return chosen


def write(path: Path, labels: dict[str, str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("object", "label"))
        writer.writerows(labels.items())
    print(f"{path}: {', '.join(f'{label} {count}' for label, count in Counter(labels.values()).items())}")


if __name__ == "__main__":
    main()
