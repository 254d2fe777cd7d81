"""Checksums of what decides a result: two runs of the same checksum give the same."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from cube2net.records import Corpus

THREADS = "workers"
CORPUS = ("objects", "items", "mentions", "links", "terms", "labels")


def digest(*decides: object) -> str:
    """Return a checksum of what decides a result: texts, numbers, lists of them, and records by their repr.

    >>> digest("lda", 100) == digest("lda", 100), digest("lda", 100) == digest("lda", 50)
    (True, False)
    """
    return hashlib.sha256(json.dumps(decides, default=repr).encode()).hexdigest()


def told(thing: object, known: Iterable[type]) -> str:
    """Return what decides what a source or a topic model gives: its kind and its parameters.

    Parameters that change no answer are left out: the number of threads, and what the pipeline hands over (an engine).
    Of an object of one's own nothing is known but what it calls itself, so it is another one every time.
    """
    if not is_dataclass(thing) or isinstance(thing, type) or type(thing) not in set(known):
        return secrets.token_hex(16)
    parts = [part.name for part in fields(thing) if part.name != THREADS and not part.metadata.get("handed")]
    return digest(type(thing).__name__, [(name, repr(getattr(thing, name))) for name in parts])


def digest_files(paths: Sequence[Path]) -> str:
    """Return a checksum of what files and folders are called, how large they are and when they were changed."""
    found = []
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        about = [(str(file), file.stat()) for file in inside if file.is_file()]
        found.append([str(path.resolve()), [(name, stat.st_size, stat.st_mtime_ns) for name, stat in about]])
    return digest(found)


def digest_corpus(corpus: Corpus) -> str:
    """Return a checksum of all that a corpus holds."""
    tables = tables_of(corpus, CORPUS)
    return digest(about_corpus(corpus), list(tables), digest_tables(list(tables.values())))


def digest_tables(tables: Sequence[pa.Table]) -> str:
    """Return a checksum of all that tables hold, and of the batches that they hold it in."""
    told = hashlib.sha256()
    for table in tables:
        with pa.ipc.new_stream(pa.PythonFile(_Sink(told), "w"), table.schema) as writer:
            writer.write_table(table)
    return told.hexdigest()


def tables_of(record: object, names: Sequence[str]) -> dict[str, pa.Table]:
    """Return the tables that a record has, of those named."""
    return {name: getattr(record, name) for name in names if getattr(record, name) is not None}


def about_corpus(corpus: Corpus) -> dict[str, Any]:
    """Return what a corpus says besides its tables."""
    return {
        "dimensions": [str(spec) for spec in corpus.dimensions],
        "dropped": dict(corpus.dropped),
        "attribution": corpus.attribution,
    }


class _Sink:
    """Looks like a file, and adds what is written to a checksum."""

    closed = False

    def __init__(self, told: Any) -> None:
        self.told = told

    def write(self, data: Any) -> None:
        self.told.update(data)

    def flush(self) -> None:
        pass
