"""Make the part of the ACL Anthology that is bundled with the package. The same input gives the same bytes.

    python scripts/make_bundled.py acl-anthology.tar.xz labs.csv [--out DIR] [--one-in 8]

Only papers since 2016 are used (CC BY 4.0), and only facts are written: ids, years, venues, titles, authors, and counts
of terms in titles and abstracts. The authors of ``areas.csv`` are chosen by numbers of papers, and drawn by their ids.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cube2net._util import random as seeding
from cube2net._util.files import write_table
from cube2net.api.datasets import AREA_OF_SIG
from cube2net.errors import SourceError
from cube2net.io.bibliography.acl import Acl
from cube2net.model.corpus import MENTIONS, OBJECTS, TERMS, Corpus, table
from cube2net.model.dimension import MAX_MENTIONS
from cube2net.model.objects import Objects
from cube2net.topics.phrases import Phrases

FROM_YEAR = 2016
MIN_PAPERS = 5
EACH, AREA_PAPERS = 150, 2
MAIN = ("conference", "journal")
DATA = Path(__file__).resolve().parent.parent / "src" / "cube2net" / "data"
Flags = npt.NDArray[np.bool_]


def chosen(corpus: Corpus, people: list[str], one_in: int) -> Flags:
    """Return which papers to keep.

    All papers of the labelled authors, all conference and journal papers of their co-authors, and one in ``one_in`` of
    the others, drawn by the id of the paper.
    """
    items, objects = (corpus.mentions[name].to_numpy() for name in ("item", "object"))
    rows = Objects.of(corpus.objects).find(people).rows
    person = np.zeros(corpus.objects.num_rows, dtype=bool)
    person[rows[rows >= 0]] = True
    papers = flags(items[person[objects]], corpus.items.num_rows)
    few = np.bincount(items, minlength=corpus.items.num_rows) <= MAX_MENTIONS
    coauthor = flags(objects[(papers & few)[items]], corpus.objects.num_rows)
    near = flags(items[coauthor[objects]], corpus.items.num_rows)
    drawn = np.array([seeding.hash_purpose("bundled", item) % one_in == 0 for item in corpus.items["item"].to_pylist()])
    main = of_kind(corpus, MAIN)
    kept: Flags = papers | (near & main) | drawn
    return kept


def areas(corpus: Corpus) -> dict[str, str]:
    """Return authors of areas: those with at least two papers in the volumes of exactly one group, and one elsewhere.

    Papers elsewhere remain if the volumes that reveal the area are left out. At most 150 authors per area are drawn, by
    their ids.
    """
    items, objects = (corpus.mentions[name].to_numpy() for name in ("item", "object"))
    groups = [{sig.casefold() for sig in own or ()} for own in corpus.items["sig"].to_pylist()]
    of_area = np.array([[sig in own for sig in AREA_OF_SIG] for own in groups])[items]
    count = corpus.objects.num_rows
    papers = np.stack([np.bincount(objects[own], minlength=count) for own in of_area.T])
    elsewhere = np.bincount(objects[~of_area.any(axis=1)], minlength=count)
    one = ((papers > 0).sum(axis=0) == 1) & (elsewhere > 0)
    ids = corpus.objects["object"].to_pylist()
    chosen: dict[str, str] = {}
    for area, own in zip(AREA_OF_SIG.values(), papers, strict=True):
        fit = [ids[row] for row in np.flatnonzero(one & (own >= AREA_PAPERS))]
        drawn = sorted(fit, key=lambda author: (seeding.hash_purpose("areas", author), author))[:EACH]
        chosen |= dict.fromkeys(sorted(drawn), area)
    return chosen


def of_kind(corpus: Corpus, kinds: tuple[str, ...]) -> Flags:
    """Return which papers have a venue of one of the kinds."""
    venues = corpus.labels.filter(pc.is_in(corpus.labels["parent"], value_set=pa.array(kinds)))["label"]
    lists = corpus.items["venue"].combine_chunks()
    good = pc.is_in(pc.list_flatten(lists), value_set=venues.combine_chunks())
    return flags(pc.list_parent_indices(lists).filter(good).to_numpy(), corpus.items.num_rows)


def flags(rows: npt.NDArray[np.int64], count: int) -> Flags:
    """Return a mask with the given rows set."""
    flag = np.zeros(count, dtype=bool)
    flag[rows] = True
    return flag


def cut(corpus: Corpus, keep: Flags, people: list[str]) -> dict[str, pa.Table]:
    """Return the bundled tables: papers, their authors, and the terms that occur in several papers.

    A labelled author without a paper in these years stays, as an object without items.
    """
    items, objects = (corpus.mentions[name].to_numpy() for name in ("item", "object"))
    here = keep[items]
    author = flags(objects[here], corpus.objects.num_rows)
    authors = corpus.objects.filter(pa.array(author))
    found = Objects.of(authors).find(people)
    if found.ambiguous:
        raise SourceError(f"several authors bear the name {found.ambiguous[0]!r}: write the person's id")
    absent = table(OBJECTS, object=found.missing, name=found.missing, kind=["author"] * len(found.missing))
    papers = corpus.items.filter(pa.array(keep))
    used = {label for name in ("venue", "sig") for label in pc.list_flatten(papers[name]).unique().to_pylist()}
    return {
        "items": papers.drop_columns(["text"]),
        "objects": pa.concat_tables([authors, absent]).combine_chunks(),
        "mentions": table(MENTIONS, item=renumber(keep, items[here]), object=renumber(author, objects[here])),
        "terms": terms(corpus, keep),
        "labels": corpus.labels.filter(pc.is_in(corpus.labels["label"], value_set=pa.array(sorted(used)))),
    }


def terms(corpus: Corpus, keep: Flags) -> pa.Table:
    """Return the counts of terms that occur in enough of the kept papers; phrases are learned from all papers."""
    counted = Phrases().count(corpus.items["text"].to_pylist())
    counted = counted.filter(pa.array(keep[counted["item"].to_numpy()]))
    papers = counted.group_by("term").aggregate([("item", "count")])
    common = papers.filter(pc.greater_equal(papers["item_count"], MIN_PAPERS))["term"]
    counted = counted.filter(pc.is_in(counted["term"], value_set=common.combine_chunks()))
    counted = counted.sort_by([("item", "ascending"), ("term", "ascending")])
    items = renumber(keep, counted["item"].to_numpy())
    return table(TERMS, item=items, term=counted["term"], count=counted["count"])


def renumber(keep: Flags, rows: npt.NDArray[np.int32]) -> pa.Array:
    """Return the new numbers of rows after removing the others."""
    return pa.array((np.cumsum(keep) - 1)[rows].astype(np.int32))


def write(tables: dict[str, pa.Table], out: Path) -> dict[str, str]:
    """Write the tables as Parquet and return the SHA-256 of each file."""
    plain = {"item": "DELTA_BYTE_ARRAY", "title": "DELTA_BYTE_ARRAY", "object": "DELTA_BYTE_ARRAY"}
    sums = {}
    for name, rows in tables.items():
        text = [
            column for column in plain if column in rows.column_names and rows.schema.field(column).type == "string"
        ]
        numbers = [column for column in ("item", "object") if column in rows.column_names and column not in text]
        encoding = {column: plain[column] for column in text} | dict.fromkeys(numbers, "DELTA_BINARY_PACKED")
        path = out / f"acl-{name}.parquet"
        pq.write_table(
            rows.replace_schema_metadata(None),
            path,
            compression="zstd",
            compression_level=19,
            use_dictionary=[column for column in rows.column_names if column not in encoding],
            column_encoding=encoding,
            row_group_size=rows.num_rows,
            write_statistics=False,
        )
        sums[path.name] = sha256(path)
    return sums


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    """Read the archive and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("anthology", type=Path, help="the Anthology's tar.xz, or its folder")
    parser.add_argument("labs", type=Path, help="a CSV file with the columns object and label")
    parser.add_argument("--out", type=Path, default=DATA, help="the folder to write to")
    parser.add_argument("--one-in", type=int, default=8, help="keep one in so many of the papers far from the labels")
    given = parser.parse_args()
    with given.labs.open(encoding="utf-8", newline="") as file:
        people = [row["object"] for row in csv.DictReader(file)]
    corpus = Acl(from_year=FROM_YEAR).read([given.anthology])
    labels = areas(corpus)
    people += [author for author in labels if author not in people]
    tables = cut(corpus, chosen(corpus, people, given.one_in), people)
    given.out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(given.labs, given.out / "labs.csv")
    write_table(given.out / "areas.csv", ("object", "label"), labels.items())
    sums = write(tables, given.out) | {name: sha256(given.out / name) for name in ("labs.csv", "areas.csv")}
    counts = {name: rows.num_rows for name, rows in tables.items()}
    manifest = {"from_year": FROM_YEAR, "one_in": given.one_in, "rows": counts, "sha256": sums}
    (given.out / "acl.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
