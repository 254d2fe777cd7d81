"""Make the data of the tutorials, docs/tutorials/data, from raw files.

    python scripts/make_tutorial_data.py DATA [NAME ...]

DATA has ``movies/wikipedia-movie-data.tar.xz``, ``movies/movietweetings-100k.tar.xz`` and
``openalex/works-2023-concepts.jsonl.xz``. The names are ``films``, ``movietweetings`` and ``openalex``; all by default.
docs/tutorials/data/NOTICE.md describes the sources and changes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import lzma
import tarfile
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[1] / "docs" / "tutorials" / "data"
DECADES = ("1930s", "1940s", "1950s")
RATED = "200"
"""Ratings are kept of films whose year begins so."""
WORK = ("id", "doi", "title", "publication_year", "publication_date", "type", "cited_by_count", "is_retracted")
SOURCE = ("id", "display_name", "type", "host_organization", "host_organization_name")
PERSON = ("id", "display_name", "orcid")
PLACE = ("id", "display_name", "country_code", "type")
CONCEPT = ("id", "display_name", "level", "score")
SINCE, AUTHORS = 1990, 50
"""Works of OpenAlex are kept from this year on, with so many authors at most."""


def write_packed(path: Path, text: str) -> None:
    """Write a gzipped text without a time stamp, so that the same text gives the same bytes."""
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    print(f"{path.name}: {path.stat().st_size:,} bytes, {text.count(chr(10)):,} lines")


def member(archive: Path, name: str) -> str:
    """Return the text of one file of an archive."""
    with tarfile.open(archive) as packed:
        for entry in packed:
            if Path(entry.name).name == name:
                file = packed.extractfile(entry)
                assert file is not None
                return file.read().decode()
    raise SystemExit(f"{archive} holds no {name!r}")


def films(data: Path) -> None:
    """Write the films of three decades with a genre and at least two people: title, year, genres, cast."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("film", "title", "year", "genre", "cast"))
    number = 0
    for decade in DECADES:
        for film in json.loads(member(data / "movies" / "wikipedia-movie-data.tar.xz", f"movies-{decade}.json")):
            cast = [name for name in dict.fromkeys(film["cast"]) if any(letter.isalpha() for letter in name)]
            if film["genres"] and len(cast) > 1:
                number += 1
                table.writerow((number, film["title"], film["year"], "; ".join(film["genres"]), "; ".join(cast)))
    write_packed(OUT / "films.csv.gz", text.getvalue())


def movietweetings(data: Path) -> None:
    """Write the films of one decade and their ratings, in the published format."""
    archive = data / "movies" / "movietweetings-100k.tar.xz"
    kept = [line for line in member(archive, "movies.dat").splitlines() if line.split("::")[1][-5:-2] == RATED]
    known = {line.split("::")[0] for line in kept}
    ratings = [line for line in member(archive, "ratings.dat").splitlines() if line.split("::")[1] in known]
    folder = OUT / "movietweetings"
    folder.mkdir(parents=True, exist_ok=True)
    write_packed(folder / "movies.dat.gz", "\n".join(kept) + "\n")
    write_packed(folder / "ratings.dat.gz", "\n".join(ratings) + "\n")
    (folder / "LICENSE").write_text(member(archive, "LICENSE"))


def openalex(data: Path) -> None:
    """Write works with the fields that the tutorial uses, without abstracts, references and links to pages."""
    works = [json.dumps(small(work), ensure_ascii=False, separators=(",", ":")) for work in kept_works(data)]
    path = OUT / "openalex-works.jsonl.xz"
    path.write_bytes(lzma.compress(("\n".join(works) + "\n").encode(), preset=9))
    print(f"{path.name}: {path.stat().st_size:,} bytes, {len(works):,} works")


def kept_works(data: Path) -> list[dict[str, Any]]:
    """Return the works since a year with few authors, one of whom wrote another work of the sample."""
    with lzma.open(data / "openalex" / "works-2023-concepts.jsonl.xz", "rt", encoding="utf-8") as lines:
        works = [json.loads(line) for line in lines]
    people = [{one["author"]["id"] for one in work["authorships"]} - {None} for work in works]
    written = Counter(chain.from_iterable(people))
    return [
        work
        for work, authors in zip(works, people, strict=True)
        if work["publication_year"] >= SINCE
        and len(work["authorships"]) <= AUTHORS
        and any(written[author] > 1 for author in authors)
    ]


def small(work: dict[str, Any]) -> dict[str, Any]:
    """Return a work with some of its fields."""

    def some(thing: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        return {name: thing[name] for name in names if name in thing}

    source = (work.get("primary_location") or {}).get("source")
    return some(work, WORK) | {
        "primary_location": {"source": None if source is None else some(source, SOURCE)},
        "authorships": [
            {"author": some(one["author"], PERSON), "institutions": [some(at, PLACE) for at in one["institutions"]]}
            for one in work["authorships"]
        ],
        "concepts": [some(concept, CONCEPT) for concept in work["concepts"]],
    }


def main() -> None:
    """Write the requested data."""
    makers = {"films": films, "movietweetings": movietweetings, "openalex": openalex}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    for name in asked.names or makers:
        makers[name](asked.data)


if __name__ == "__main__":
    main()
