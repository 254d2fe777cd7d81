"""One table file of any format becomes rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cube2net.errors import SourceError, some
from cube2net.sources.delimited import read_delimited
from cube2net.sources.faults import Faults, Rows
from cube2net.sources.jsonlines import read_jsonlines
from cube2net.sources.textfile import is_packed

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
ALLOWED = "a name that ends in .csv, .tsv, .jsonl, .ndjson (each also with .gz) or .parquet"


def read_rows(path: Path, *, delimiter: str | None = None, faults: Faults | None = None) -> Rows:
    """Return the rows of a CSV, TSV, JSON lines or Parquet file, told apart by the end of its name."""
    faults = faults or Faults()
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder, expected a table file: {ALLOWED}")
    if not path.exists():
        raise SourceError(f"there is no file {str(path)!r}: check the path")
    ending = _ending(path)
    if ending in DELIMITERS:
        return read_delimited(path, delimiter or DELIMITERS[ending], faults)
    if ending in JSON_LINES:
        return read_jsonlines(path, faults)
    if ending in PARQUET and not is_packed(path):
        return _read_parquet(path)
    raise SourceError(f"cannot tell the format of {path.name!r}: expected {ALLOWED}")


def is_table(path: Path) -> bool:
    """Return whether a path is a file whose name ends as a table's does."""
    unpacked = () if is_packed(path) else PARQUET
    return _ending(path) in (*DELIMITERS, *JSON_LINES, *unpacked) and path.is_file()


def base_name(path: Path) -> str:
    """Return the name of a table's file without what says its format.

    >>> base_name(Path("data/items.csv.gz")), base_name(Path("links.v2.tsv"))
    ('items', 'links.v2')
    """
    return Path(path.stem).stem if is_packed(path) else path.stem


def _ending(path: Path) -> str:
    return Path(path.stem).suffix.lower() if is_packed(path) else path.suffix.lower()


def _read_parquet(path: Path) -> Rows:
    if path.stat().st_size == 0:
        raise SourceError(f"{path.name} is empty, expected a Parquet file with rows")
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise SourceError(f"{path.name} cannot be read as Parquet: {why} (is it cut short?)") from None
    names = table.column_names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SourceError(f"{path.name} names columns twice: {some(twice, 20)}")
    return Rows(path.name, table, lambda rows: [f"{path.name} row {row + 1:,}" for row in rows])
