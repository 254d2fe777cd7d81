"""Damaged input of every source, as files, folders and archives."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import archives
import pyarrow as pa
import pyarrow.parquet as pq
import test_io_acl as acl
import test_io_aminer as aminer
import test_io_dblp as dblp
import test_io_graph_files as graphs
import test_io_movies as movies
import test_io_yelp as yelp
from reference_files import FILES as REFERENCES
from workbook_files import unzipped, workbook
from workbook_files import zipped as zipped_parts

from cube2net._util.random import stream
from cube2net.io.sources import SOURCES
from cube2net.model.corpus import Corpus
from stress.damage import damage, pick

import openalex_records as openalex

Files = dict[str, bytes]
Pack = Callable[[Files], Files]


@dataclass(frozen=True)
class Sample:
    """Files that a source reads: the first ``given`` of them, or their folder, compressed or not."""

    source: str
    files: Mapping[str, bytes]
    given: tuple[str, ...] = ()
    pack: Pack = dict
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, base: Path, place: Path, seed: int | None) -> None:
        """Read the files of a seed, of which one is damaged, before or after they are packed."""
        rng = stream(seed or 0, "stress", self.source)
        files = dict(self.files)
        if seed and rng.random() < 0.6:
            files = damaged(files, rng)
            files = self.pack(files)
        else:
            files = self.pack(files)
            files = damaged(files, rng) if seed else files
        for name, content in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        strict = {"strict": True} if seed and rng.random() < 0.2 else {}
        paths = [place / name for name in self.given] or [place]
        options = dict(self.options)
        if self.source == "sql":
            options["queries"] = tuple(f"FROM '{path}'" for path in paths)
            paths = []
        self.check(SOURCES[self.source](**options, **strict).read(paths))

    def check(self, corpus: Corpus) -> None:
        """Raise an error if a corpus has no items or is inconsistent."""
        if not corpus.items.num_rows:
            raise AssertionError("a corpus without items")
        for table in (corpus.items, corpus.objects, corpus.mentions, corpus.links, corpus.labels):
            if table is not None:
                table.validate(full=True)


def damaged(files: Files, rng: Any) -> Files:
    """Return the files with one damaged, and sometimes another missing or exchanged."""
    name = pick(sorted(files), rng)
    if rng.random() < 0.05:
        other = pick(sorted(files), rng)
        return {**files, name: files[other], other: files[name]}
    if rng.random() < 0.03:
        return {other: content for other, content in files.items() if other != name}
    return {**files, name: damage(name, files[name], rng)}


# Packing


def gz(files: Files) -> Files:
    """Return all files gzipped."""
    return {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in files.items()}


def tar(files: Files, *, name: str = "packed.tar", press: Callable[[bytes], bytes] = bytes) -> Files:
    """Return all files as one tar."""
    return {name: press(archives.tar(files))}


def zipped(files: Files) -> Files:
    """Return all files as one zip."""
    return {"packed.zip": archives.zipped(files)}


TGZ: Pack = partial(tar, name="packed.tgz", press=partial(gzip.compress, mtime=0))
TXZ: Pack = partial(tar, name="packed.tar.xz", press=lzma.compress)

# Tables

PEOPLE = [{"id": f"p{i}", "name": f"P {i}", "city": f"c{i % 3}", "year": 1990 + i, "text": "a b"} for i in range(12)]
FRIENDS = [
    {
        "source": f"p{i}",
        "target": f"p{(i * 5 + 1) % 12}",
        "weight": 0.5 + i,
        "type": f"t{i % 2}",
        "date": f"2001-01-{10 + i}",
    }
    for i in range(12)
]
FOLDER: dict[str, list[dict[str, Any]]] = {
    "objects": [{"id": f"o{i}", "name": f"O {i}", "kind": "one"} for i in range(6)],
    "items": [{"item": f"i{i}", "venue": f"v{i % 2}", "year": 2000 + i, "text": "words here"} for i in range(5)],
    "mentions": [{"item": f"i{i % 5}", "object": f"o{i % 6}"} for i in range(12)],
    "links": [{"source": "o1", "target": "o2", "weight": 2}],
    "labels": [{"attribute": "venue", "label": f"v{i}", "full_name": f"V {i}", "parent": "all"} for i in range(2)],
    "terms": [{"item": f"i{i}", "term": "word", "count": i + 1} for i in range(5)],
}


def table(rows: list[dict[str, Any]], ending: str) -> bytes:
    """Return the bytes of a table in a format."""
    if ending == "parquet":
        held = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), held)
        return held.getvalue()
    if ending == "jsonl":
        return "\n".join(map(json.dumps, rows)).encode()
    mark = "\t" if ending == "tsv" else ","
    return "".join(mark.join(map(str, line)) + "\n" for line in [rows[0], *(row.values() for row in rows)]).encode()


def tables(ending: str) -> Files:
    """Return nodes and links in a format."""
    return {f"nodes.{ending}": table(PEOPLE, ending), f"links.{ending}": table(FRIENDS, ending)}


CUSTOMERS = [["Kunden-Nr.", "Name", "Ort", "Umsatz", "seit"]] + [
    [1000 + i, f"Meier {i % 5}", f"Ort {i % 3}", 0.5 + i, date(2000 + i, 2, 25)] for i in range(12)
]
SALES = [["von", "an", "Stück"], *([1000 + i, 1000 + (i * 5 + 1) % 12, i] for i in range(12))]


def sheet(rows: list[list[Any]]) -> bytes:
    """Return a table as saved by a German spreadsheet."""
    texts = [[_german(value) for value in row] for row in rows]
    return "\r\n".join(["Stand 2024", "", *(";".join(row) for row in texts), ""]).encode("windows-1252")


def _german(value: Any) -> str:
    return value.strftime("%d.%m.%Y") if isinstance(value, date) else str(value).replace(".", ",")


GERMAN = {"Kunden.csv": sheet(CUSTOMERS), "Verkauf.csv": sheet(SALES)}


def snapshot(ending: str) -> Files:
    """Return a part of an OpenAlex snapshot in a format, with a list of merged ids."""
    works = [{**openalex.ONE, "id": f"W{number}", "abstract_inverted_index": '{"Some": [0]}'} for number in range(8)]
    part = table(works, ending) if ending == "parquet" else gzip.compress(openalex.lines(*works), mtime=0)
    merged = b"merge_date,id,merge_into_id\n2022-01-01,A2,A1\n"
    return {
        f"works/updated_date=2026-01-05/part_0000.{ending}": part,
        "merged_ids/authors/2022-01-01.csv.gz": gzip.compress(merged, mtime=0),
    }


GRAPH = {"directed": True, "nodes": PEOPLE, "links": FRIENDS}
RECORDS = [
    {"paper": f"p{i // 2}", "author": f"a{i % 5}", "year": 1990 + i // 2, "city": f"c{i % 3}"} for i in range(12)
]
REFERENCE_ROWS = list(csv.reader(REFERENCES["scopus.csv"].splitlines()))
FLAT = {"item": "paper", "objects": "author"}
LINES = {"papers.json": aminer.bytes_of(*aminer.V10)}
SAMPLES: dict[str, Sample] = {
    **{f"tables {ending}": Sample("tables", tables(ending)) for ending in ("csv", "tsv", "jsonl", "parquet")},
    "tables csv.gz": Sample("tables", tables("csv"), pack=gz),
    "tables jsonl.gz": Sample("tables", tables("jsonl"), pack=gz),
    "tables folder": Sample("tables", {f"{name}.csv": table(rows, "csv") for name, rows in FOLDER.items()}),
    "tables folder of parquet": Sample(
        "tables", {f"{name}.parquet": table(rows, "parquet") for name, rows in FOLDER.items()}
    ),
    "tables german": Sample("tables", GERMAN, tuple(GERMAN)),
    "tables utf-16": Sample(
        "tables",
        {name: content.decode("windows-1252").encode("utf-16") for name, content in GERMAN.items()},
        tuple(GERMAN),
    ),
    "tables of numbers": Sample(
        "tables", {"who.txt": b"# who knows whom\n" + b"1 2\n2 3\n3 7\n7 1\n" * 3}, ("who.txt",)
    ),
    "tables xlsx": Sample("tables", {"x.xlsx": workbook({"nodes": CUSTOMERS, "links": SALES})}, ("x.xlsx",)),
    "tables xlsx inline": Sample(
        "tables", {"x.xlsx": workbook({"a": CUSTOMERS, "b": SALES}, inline=True)}, ("x.xlsx",)
    ),
    "tables xlsx parts": Sample(
        "tables",
        unzipped(workbook({"a": CUSTOMERS, "b": SALES})),
        ("x.xlsx",),
        lambda files: {"x.xlsx": zipped_parts(files)},
    ),
    "tables of records": Sample("tables", {"papers.csv": table(RECORDS, "csv")}, ("papers.csv",), options=FLAT),
    **{
        f"sql {ending}": Sample("sql", tables(ending), tuple(f"{name}.{ending}" for name in ("nodes", "links")))
        for ending in ("csv", "jsonl", "parquet")
    },
    "graph graphml": Sample("graph", {"net.graphml": graphs.graphml().encode()}, ("net.graphml",)),
    "graph graphml.gz": Sample("graph", {"net.graphml": graphs.graphml().encode()}, ("net.graphml.gz",), gz),
    "graph gexf": Sample("graph", {"net.gexf": graphs.GEXF.encode()}, ("net.gexf",)),
    "graph json": Sample("graph", {"net.json": json.dumps(GRAPH).encode()}, ("net.json",)),
    **{f"references {name}": Sample("references", {name: text.encode()}, (name,)) for name, text in REFERENCES.items()},
    "references xlsx": Sample("references", {"x.xlsx": workbook({"a": REFERENCE_ROWS})}, ("x.xlsx",)),
    "references zip": Sample(
        "references", {"library.ris": REFERENCES["library.ris"].encode()}, ("packed.zip",), zipped
    ),
    "references works": Sample(
        "references", {"a.ciw": REFERENCES["savedrecs.ciw"].encode()}, ("a.ciw",), options={"objects": "works"}
    ),
    "openalex lines": Sample("openalex", openalex.FILES, ("works.jsonl",)),
    "openalex page": Sample("openalex", {"page.json": openalex.FORMS["spread.json"]}, ("page.json",)),
    "openalex works": Sample("openalex", openalex.FILES, ("works.jsonl.gz",), gz, {"objects": "works"}),
    "openalex tar.xz": Sample("openalex", openalex.FILES, ("packed.tar.xz",), TXZ, {"objects": "institutions"}),
    "openalex snapshot": Sample("openalex", snapshot("gz")),
    "openalex parquet": Sample("openalex", snapshot("parquet")),
    "acl folder": Sample("acl", acl.FILES),
    "acl tar.xz": Sample("acl", acl.FILES, ("packed.tar.xz",), TXZ),
    "aminer lines": Sample("aminer", LINES, ("papers.json",)),
    "aminer list": Sample("aminer", {"papers.json": json.dumps(aminer.V10, indent=1).encode()}, ("papers.json",)),
    "aminer text": Sample("aminer", {"papers.txt": aminer.V8.encode()}, ("papers.txt",)),
    "aminer zip": Sample("aminer", LINES, ("packed.zip",), zipped),
    "aminer gz": Sample("aminer", LINES, ("papers.json.gz",), gz),
    "aminer tgz": Sample("aminer", LINES, ("packed.tgz",), TGZ),
    "dblp": Sample("dblp", {"dblp.xml": dblp.DOCUMENT.encode("latin-1")}, ("dblp.xml",)),
    "dblp gz": Sample("dblp", {"dblp.xml": dblp.DOCUMENT.encode("latin-1")}, ("dblp.xml.gz",), gz),
    "yelp folder": Sample("yelp", yelp.FILES),
    "yelp tar": Sample("yelp", yelp.FILES, ("packed.tar",), tar),
    "yelp tgz": Sample("yelp", yelp.FILES, ("packed.tgz",), TGZ),
    "yelp zip": Sample("yelp", yelp.FILES, ("packed.zip",), zipped),
    "movies folder": Sample("movies", movies.FILES),
    "movies of MovieLens": Sample("movies", movies.LENS),
    "movies tar.xz": Sample("movies", movies.FILES, ("packed.tar.xz",), TXZ),
    "movies zip": Sample("movies", movies.LENS, ("packed.zip",), zipped),
}
