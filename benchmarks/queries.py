"""Further labelled queries from the ACL Anthology, to test whether results generalise.

    python benchmarks/queries.py ARCHIVE OUT [--more]

Writes ``OUT/labs2.csv`` (authors of four other institutions, by the affiliations of their papers) and
``OUT/areas2.csv`` (authors in four other areas, by the volumes of special interest groups, which must be left out of
the corpus). ``--more`` also writes queries for tuning, so that ``labs2`` and ``areas2`` are not used for it: ``labs3``
and ``labs4`` (random authors of further institutions), ``areas3`` (five further groups) and ``venues`` (authors of one
of seven venues, which is a dimension of the cube). Objects are chosen by counts alone.
"""

from __future__ import annotations

import argparse
import csv
import re
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import cube2net as c2n

USED_GROUPS = ("sigmt", "sigdial", "sigbiomed", "sigedu")
SECOND_GROUPS = ("sigsem", "siggen", "sigslt", "sigarab")
USED_PLACES = ("carnegie mellon", "harbin institute", "cambridge", "edinburgh")
EACH, MOST, PAPERS = 29, 455, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("archive", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--more", action="store_true", help="also labs3, labs4, areas3 and venues")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    write(asked.out / "labs2.csv", institutions(asked.archive))
    write(asked.out / "areas2.csv", areas(asked.archive))
    if asked.more:
        write_more(asked.archive, asked.out)


def write_more(archive: Path, out: Path) -> None:
    """Write the queries for tuning."""
    write(out / "labs3.csv", institutions(archive, range(4, 9), 80, drawn=1))
    write(out / "labs4.csv", institutions(archive, range(9, 15), 50, drawn=2))
    write(out / "areas3.csv", areas(archive, (*USED_GROUPS, *SECOND_GROUPS), 5, 200, 1))
    write(out / "venues.csv", venues(archive))


def institutions(
    archive: Path, which: range = range(4), each: int = EACH, *, drawn: int | None = None
) -> dict[str, str]:
    """Return the same number of authors of each of the largest institutions, the most published ones or random ones."""
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
    for place in large[which.start : which.stop]:
        own = sorted((author for author in home if home[author] == place), key=lambda author: (-papers[author], author))
        if drawn is not None:
            own = some_of(sorted(own), each, drawn)
        chosen |= dict.fromkeys(own[:each], place)
    return chosen


def some_of(people: list[str], most: int, seed: int) -> list[str]:
    """Return random people in their original order."""
    kept = np.random.default_rng(seed).choice(len(people), min(most, len(people)), replace=False)
    return [people[i] for i in sorted(kept)]


def venues(archive: Path) -> dict[str, str]:
    """Return 200 random authors of each of the seven largest venues with 500 to 1,500 authors, who are in one of these
    only.
    """
    corpus = c2n.api.read_acl(archive)
    labels, ids = corpus.items["venue"].to_pylist(), corpus.objects["object"].to_pylist()
    members: dict[str, set[str]] = defaultdict(set)
    for item, thing in zip(*(corpus.mentions[name].to_pylist() for name in ("item", "object")), strict=True):
        for venue in labels[item] or ():
            members[venue].add(ids[thing])
    sizes = sorted(((len(own), venue) for venue, own in members.items() if 500 < len(own) < 1500), reverse=True)
    chosen = [venue for _, venue in sizes[:7]]
    several = Counter(person for venue in chosen for person in members[venue])
    found: dict[str, str] = {}
    for venue in chosen:
        found |= dict.fromkeys(some_of(sorted(p for p in members[venue] if several[p] == 1), 200, 5), venue)
    return found


def affiliations(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield the author and the affiliation of each authorship with one."""
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


def areas(
    archive: Path, used: Sequence[str] = USED_GROUPS, count: int = 4, most: int = MOST, papers_there: int = PAPERS
) -> dict[str, str]:
    """Return authors of exactly one of the largest other groups, with at least two papers there."""
    corpus = c2n.api.read_acl(archive)
    sigs = corpus.items["sig"].to_pylist()
    ids = corpus.objects["object"].to_pylist()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for item, thing in zip(*(corpus.mentions[name].to_pylist() for name in ("item", "object")), strict=True):
        for sig in sigs[item] or ():
            if sig.lower() not in used:
                counts[ids[thing]][sig] += 1
    sizes = Counter(sig for own in counts.values() for sig, papers in own.items() if papers >= papers_there)
    broad = {"sigdat", "signll", "siglex"}
    groups = [sig for sig, _ in sizes.most_common() if sig.lower() not in broad][:count]
    rng = np.random.default_rng(0)
    chosen: dict[str, str] = {}
    for group in groups:
        own = sorted(
            author
            for author, papers in counts.items()
            if papers[group] >= papers_there and not any(papers[other] for other in groups if other != group)
        )
        kept = rng.choice(len(own), min(most, len(own)), replace=False)
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
