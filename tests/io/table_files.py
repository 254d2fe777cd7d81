"""Small table files of every format, and what reading them says."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cube2net.errors import SourceError
from cube2net.io.tables.table_source import Tables
from cube2net.model.corpus import Corpus


def write(path: Path, rows: list[dict]) -> Path:
    """Write rows in the format of the path's name."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    if name.endswith("jsonl"):
        text = "\n".join(map(json.dumps, rows))
    else:
        mark = "\t" if name.endswith("tsv") else ","
        text = "\n".join(mark.join(map(str, line)) for line in [rows[0], *(row.values() for row in rows)]) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def put(folder: Path, **files: str | bytes) -> list[Path]:
    """Write CSV files of these names and contents."""
    paths = []
    for name, content in files.items():
        paths.append(folder / f"{name}.csv")
        paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


def read(paths: list[Path], **options) -> tuple[Corpus, list[str]]:
    said: list[str] = []
    corpus = Tables(**options).read(paths, progress=lambda stage, done, total=None: said.append(stage))
    return corpus, said


def refusal(paths: list[Path], **options) -> str:
    with pytest.raises(SourceError) as error:
        Tables(**options).read(paths)
    assert "\n" not in str(error.value)
    return str(error.value)
