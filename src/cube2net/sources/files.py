"""One table file of any format becomes rows."""

from __future__ import annotations

from pathlib import Path

from cube2net.errors import SourceError
from cube2net.sources.delimited import read_delimited
from cube2net.sources.faults import Faults, Rows
from cube2net.sources.jsonlines import read_jsonlines
from cube2net.sources.parquet import read_parquet
from cube2net.sources.textfile import is_packed
from cube2net.unpacking import Meter

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
ALLOWED = "a name that ends in .csv, .tsv, .jsonl, .ndjson (each also with .gz) or .parquet"


def read_rows(
    path: Path, *, delimiter: str | None = None, faults: Faults | None = None, meter: Meter | None = None
) -> Rows:
    """Return the rows of a CSV, TSV, JSON lines or Parquet file, told apart by the end of its name.

    The ``meter`` says how much may be unpacked.
    """
    faults, meter = faults or Faults(), meter or Meter()
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder, expected a table file: {ALLOWED}")
    if not path.exists():
        raise SourceError(f"there is no file {str(path)!r}: check the path")
    if not path.is_file():
        raise SourceError(f"{str(path)!r} is a pipe or device, expected a file, for it is read more than once: save it")
    ending = _ending(path)
    if ending in DELIMITERS:
        return read_delimited(path, delimiter or DELIMITERS[ending], faults, meter)
    if ending in JSON_LINES:
        return read_jsonlines(path, faults, meter)
    if ending in PARQUET and not is_packed(path):
        return read_parquet(path, meter)
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
