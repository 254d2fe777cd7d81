"""Decompression bombs: files of a megabyte or two that unpack to gigabytes must be refused within seconds."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cube2net._util.random import stream
from cube2net.io.sources import SOURCES
from stress.fuzz_sources import PEOPLE, table, tables

MIB = 1 << 20
PIECE = 8 * MIB
"""What is packed once and then repeated, so that a bomb is made in no time."""


def _piece(line: bytes) -> bytes:
    return line * (PIECE // len(line))


@cache
def _packed(line: bytes, pack: Callable[[bytes], bytes]) -> bytes:
    return pack(_piece(line))


def in_gzip(head: bytes, line: bytes, times: int) -> bytes:
    """Return a gzip file whose members repeat one line."""
    return gzip.compress(head, mtime=0) + _packed(line, gzip.compress) * times


def in_xz(head: bytes, line: bytes, times: int) -> bytes:
    """Return an xz file whose streams repeat one line."""
    return lzma.compress(head) + _packed(line, lzma.compress) * times


def in_zip(name: str, head: bytes, line: bytes, times: int) -> bytes:
    """Return a zip of one file, whose blocks repeat one line; its checksum is never reached."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    blocks = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH) + _packed(line, _deflated) * times + b"\3\0"
    size, named = len(head) + len(_piece(line)) * times, name.encode()
    about = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0x21, 0, len(blocks), size % 2**32, len(named), 0)
    local = b"PK\3\4" + about + named
    central = b"PK\1\2" + struct.pack("<H", 20) + about + struct.pack("<HHHII", 0, 0, 0, 0, 0) + named
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local) + len(blocks), 0)
    return local + blocks + central + end


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)


def in_tar_xz(name: str, head: bytes, line: bytes, times: int) -> bytes:
    """Return a tar.xz of one file that repeats one line."""
    member = tarfile.TarInfo(name)
    member.size = len(head) + len(_piece(line)) * times
    return in_xz(member.tobuf() + head, line, times) + lzma.compress(b"\0" * 10240)


def in_parquet(head: bytes, line: bytes, times: int) -> bytes:
    """Return a Parquet file of a million equal rows for every time."""
    rows = pa.table({name: pa.repeat(value, MIB) for name, value in PEOPLE[0].items()})
    held = io.BytesIO()
    with pq.ParquetWriter(held, rows.schema, compression="zstd") as writer:
        for _ in range(min(times, 8)):
            writer.write_table(rows, row_group_size=MIB)
    return held.getvalue()


@dataclass(frozen=True)
class Bomb:
    """A file of a source that unpacks to a size given by the seed; undamaged it has one line."""

    source: str
    name: str
    make: Callable[[int], bytes]
    beside: tuple[str, bytes] | None = None
    each_round = 1

    def __call__(self, base: Path, place: Path, seed: int | None) -> None:
        """Write the file and read it."""
        if not seed:
            return
        times = int(stream(seed, "stress", "bombs").integers(16, 256))
        (place / self.name).write_bytes(self.make(times))
        if self.beside is not None:
            (place / self.beside[0]).write_bytes(self.beside[1])
        SOURCES[self.source]().read([place if self.beside is not None else place / self.name])


LINKS = ("links.csv", tables("csv")["links.csv"])
CSV, LINE = table(PEOPLE, "csv"), b"p1,P 1,c1,1991,a b\n"
JSON = b'{"id": "p1", "name": "P 1", "city": "c1"}\n'
PAPER = b'{"id": "a", "title": "t", "authors": ["x"], "year": 2000, "venue": "v"}\n'
ARTICLE = b'<article key="a/b"><author>A</author><title>t</title><year>2000</year></article>\n'
BOMBS = {
    "bomb csv.gz": Bomb("tables", "nodes.csv.gz", lambda times: in_gzip(CSV, LINE, times), LINKS),
    "bomb jsonl.gz": Bomb("tables", "nodes.jsonl.gz", lambda times: in_gzip(JSON, JSON, times), LINKS),
    "bomb of one line": Bomb("tables", "nodes.csv.gz", lambda times: in_gzip(CSV, b"x", times), LINKS),
    "bomb parquet": Bomb("tables", "nodes.parquet", lambda times: in_parquet(CSV, LINE, times), LINKS),
    "bomb json.gz": Bomb("aminer", "papers.json.gz", lambda times: in_gzip(PAPER, PAPER, times)),
    "bomb of works": Bomb("openalex", "part_000.gz", lambda times: in_gzip(PAPER, PAPER, times)),
    "bomb zip": Bomb("aminer", "papers.zip", lambda times: in_zip("papers.json", PAPER, PAPER, times)),
    "bomb xml.gz": Bomb("dblp", "dblp.xml.gz", lambda times: in_gzip(b"<dblp>", ARTICLE, times)),
    "bomb tar.xz": Bomb(
        "acl", "a.tar.xz", lambda times: in_tar_xz("data/xml/P18.xml", b"<collection>", b"<a/>", times)
    ),
    "bomb of yelp": Bomb("yelp", "yelp.zip", lambda times: in_zip("review.json", b"{}\n", b'{"a": 1}\n', times)),
    "bomb of ratings": Bomb(
        "movies", "ratings.zip", lambda times: in_zip("ratings.dat", b"", b"7::1::9::136\n", times)
    ),
}
