"""Small files that hold absurdly much."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PIECE = 2**20
PACK: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


def packed_rows(path: Path, head: bytes, row: bytes, size: int, *, piece: int = PIECE, by: str = "gz") -> Path:
    """Write a head and then the same row for ever, or until ``size`` bytes, in packed parts of about a ``piece``."""
    part = PACK[by](row * (piece // len(row)))
    path.write_bytes(PACK[by](head) + part * (size // (piece // len(row) * len(row))))
    return path


def tables_of(path: Path, size: int, *, piece: int = PIECE) -> Path:
    """Write the packed table of nodes that its name asks for."""
    if ".jsonl" in path.name:
        return packed_rows(path, b"", b'{"id": "a", "name": "b"}\n', size, piece=piece)
    mark = b"\t" if ".tsv" in path.name else b","
    return packed_rows(path, mark.join((b"id", b"name")) + b"\n", mark.join((b"a", b"b")) + b"\n", size, piece=piece)


def parquet_rows(path: Path, rows: int, *, group: int = 10_000_000) -> Path:
    """Write a table of a constant number, of which every page takes a few bytes."""
    group = min(rows, group)
    table = pa.table({"id": pa.repeat(pa.scalar(7, pa.int64()), group)})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as file:
        for _ in range(rows // group):
            file.write_table(table, row_group_size=group)
    return path


def parquet_long_value(path: Path, rows: int, length: int, *, some: int = 0) -> Path:
    """Write a table in which every row says the same long text, kept once in the dictionary."""
    texts = pa.array(["x" * length, *(f"text {number}" for number in range(some))])
    indices = pa.array([0] * rows + list(range(1, some + 1)), pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, texts)
    table = pa.table({"id": pa.array([f"n{row}" for row in range(len(column))]), "text": column})
    pq.write_table(table, path, compression="zstd", store_schema=False, dictionary_pagesize_limit=2**30)
    return path


def parquet_prefixes(path: Path, rows: int, length: int) -> Path:
    """Write a table in which every text shares all but its end with the one before it."""
    texts = pa.array(["x" * length + str(row) for row in range(rows)])
    options = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}
    pq.write_table(pa.table({"text": texts}), path, compression="zstd", **options)
    return path


def parquet_page(path: Path, size: int) -> Path:
    """Write a table with one value that fills one page."""
    options = {"use_dictionary": False, "write_statistics": False, "data_page_size": 2**31 - 1}
    pq.write_table(pa.table({"text": pa.array(["x" * size])}), path, compression="zstd", **options)
    return path


def zipped_zeros(path: Path, name: str, size: int, *, members: int = 1) -> Path:
    """Write a zip of members that are nothing but zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(members):
            with archive.open(name.format(number), "w", force_zip64=True) as file:
                for _ in range(size // PIECE):
                    file.write(bytes(PIECE))
    return path


def tarred_zeros(path: Path, name: str, size: int, *, members: int = 1) -> Path:
    """Write a tar of members that are nothing but zeros, packed as the end of the path says."""
    by = path.suffix.removeprefix(".")
    head = io.BytesIO()
    with tarfile.open(fileobj=head, mode="w") as archive:
        about = tarfile.TarInfo(name)
        about.size = size
        archive.addfile(about, io.BytesIO(bytes(size)) if size <= PIECE else None)
    start = head.getvalue()[:512]
    member = PACK[by](start) + PACK[by](bytes(PIECE)) * (size // PIECE)
    path.write_bytes(member * members + PACK[by](bytes(1024)))
    return path
