"""Keep the finished stages of long work, so that an interrupted build goes on.

A stage is found again by what decides its result: the files that were read, parameters, and the version. The folder is
hidden beside what is made, belongs to one process at a time, and is removed when all is done.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from cube2net._util.arrow import open_mapped, write_mapped_table
from cube2net._util.files import (
    LOCK,
    STAGES,
    NoLocksError,
    explain_disk_errors,
    hidden_beside,
    new_folder,
    owned_beside,
    remove_stale,
    try_lock,
)
from cube2net._util.progress import Progress, silent
from cube2net.model.corpus import Corpus, Topics
from cube2net.model.dimension import DimensionSpec

T = TypeVar("T")
ABOUT = "about.json"
TOPICS = ("assigned", "words", "model")
THREADS = "workers"
CORPUS = ("objects", "items", "mentions", "links", "terms", "labels")


@contextmanager
def checkpoints_beside(target: Path, progress: Progress = silent) -> Iterator[Checkpoints]:
    """Give the stages of making a file or folder; they stay when the work is cut off, and go when it is done."""
    with ExitStack() as stack:
        stages = Checkpoints(Path(target).resolve(), stack, progress)
        try:
            yield stages
        except BaseException:
            stages.leave()
            raise
        stages.remove()


def checkpoint_folder(target: Path) -> Path:
    """Return where the stages of making something are kept."""
    return hidden_beside(target, STAGES)


@dataclass(eq=False)
class Checkpoints:
    """A hidden folder beside the target, with a folder in it for every stage, named by the stage and what decides it.

    It is made when the first stage is finished. Where another process makes the same target right now, it is one of
    its own, which does not stay.
    """

    target: Path
    stack: ExitStack
    progress: Progress = silent
    before: set[tuple[Path, int, int]] = field(default_factory=set)

    @property
    def usual(self) -> Path:
        """Where the folder is when only one process makes the target."""
        return checkpoint_folder(self.target)

    @cached_property
    def folder(self) -> Path:
        """The folder of all stages, which no other process uses."""
        with explain_disk_errors(self.target):
            remove_stale(self.target, STAGES)
            if self._is_only():
                self.before = _files(self.usual)
                return self.usual
            own = owned_beside(self.target, STAGES)
            own.mkdir()
            self.stack.callback(shutil.rmtree, own, ignore_errors=True)
            return own

    def _is_only(self) -> bool:
        """Return whether this process has locked the usual folder; False if nothing can be locked."""
        try:
            lock = try_lock(self.usual / LOCK)
        except NoLocksError:
            with suppress(OSError):
                self.usual.rmdir()
            return False
        if lock is not None:
            self.stack.enter_context(lock)
        else:
            self.progress.note(f"another process makes {str(self.target)!r} right now: the last to finish stays")
        return lock is not None

    def corpus(self, decides: str, make: Callable[[], Corpus]) -> Corpus:
        """Return a corpus with its tables memory-mapped, made now or in an earlier run."""
        return self._kept("corpus", decides, make, _write_corpus, _read_corpus)

    def topics(self, decides: str, make: Callable[[], Topics]) -> Topics:
        """Return topics with their tables memory-mapped, made now or in an earlier run."""
        return self._kept("topics", decides, make, _write_topics, _read_topics)

    def place(self, name: str, decides: str) -> Path:
        """Return where a stage may keep its parts by itself; what other settings left there is removed."""
        place = self.folder / f"{name}-{decides[:16]}"
        for other in self.folder.glob(f"{name}-*"):
            if other != place:
                shutil.rmtree(other, ignore_errors=True)
        return place

    def remove(self) -> None:
        """Remove all stages; the folder is renamed first, so that it is never seen half-removed."""
        gone = owned_beside(self.target, STAGES)
        with suppress(OSError):
            shutil.rmtree(self.folder.rename(gone), ignore_errors=True)

    def leave(self) -> None:
        """Leave the stages to another run and say so, or remove the folder where nothing is in it."""
        if "folder" not in self.__dict__:
            return
        files = _files(self.folder)
        if not files:
            self.remove()
        elif self.folder == self.usual and not files <= self.before:
            size = sum(size for _, size, _ in files) / 1e6
            place = f"{str(self.folder)!r} ({size:,.0f} MB)"
            self.progress.note(f"what was finished is kept in {place}: the same build goes on from there")

    def _kept(
        self,
        name: str,
        decides: str,
        make: Callable[[], T],
        write: Callable[[T, Path], None],
        read: Callable[[Path], T],
    ) -> T:
        inside = f"{name}-{decides[:16]}"
        if self.usual.is_dir() and (self.folder / inside).is_dir():
            self.progress.note(f"{name}: taken from the run before, which did not finish")
            return read(self.folder / inside)
        made = make()
        for other in self.folder.glob(f"{name}-*"):
            shutil.rmtree(other, ignore_errors=True)
        with new_folder(self.folder / inside) as aside:
            write(made, aside)
        del made  # what was read back is mapped: the memory is free again
        pa.default_memory_pool().release_unused()
        return read(self.folder / inside)


def _files(folder: Path) -> set[tuple[Path, int, int]]:
    """Return the files of a folder, with their sizes and when they were changed."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != LOCK]
    return {(path, about.st_size, about.st_mtime_ns) for path, about in zip(files, map(Path.stat, files), strict=True)}


def _write(record: object, names: Sequence[str], about: dict[str, Any], folder: Path) -> None:
    for name, table in list_tables(record, names).items():
        write_mapped_table(folder / f"{name}.arrow", table)
    (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")


def _read(names: Sequence[str], folder: Path) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    paths = {name: folder / f"{name}.arrow" for name in names}
    tables = {name: open_mapped(path) for name, path in paths.items() if path.exists()}
    return tables, json.loads((folder / ABOUT).read_text(encoding="utf-8"))


def _write_corpus(corpus: Corpus, folder: Path) -> None:
    _write(corpus, CORPUS, about_corpus(corpus), folder)


def _read_corpus(folder: Path) -> Corpus:
    tables, about = _read(CORPUS, folder)
    dimensions = tuple(DimensionSpec.parse(text) for text in about.pop("dimensions"))
    return Corpus(**tables, dimensions=dimensions, **about)


def _write_topics(topics: Topics, folder: Path) -> None:
    about = {"names": topics.names, "parents": topics.parents, "settings": dict(topics.settings)}
    _write(topics, TOPICS, about, folder)


def _read_topics(folder: Path) -> Topics:
    tables, about = _read(TOPICS, folder)
    parents = None if about["parents"] is None else tuple(about["parents"])
    return Topics(names=tuple(about["names"]), parents=parents, settings=about["settings"], **tables)


def digest(*decides: object) -> str:
    """Return a checksum of what decides a result: texts, numbers, lists of them, and records by their repr.

    >>> digest("lda", 100) == digest("lda", 100), digest("lda", 100) == digest("lda", 50)
    (True, False)
    """
    return hashlib.sha256(json.dumps(decides, default=repr).encode()).hexdigest()


def describe_identity(thing: object, known: Iterable[type]) -> str:
    """Return what decides what a source or a topic model gives: its kind and its parameters.

    Parameters that change no answer are left out: the number of threads, and what the pipeline hands over (an engine).
    Of an object of one's own nothing is known but what it calls itself, so it is another one every time; so is a source
    that reads what may change without a sign (``is_remote``).
    """
    is_remote = getattr(thing, "is_remote", False)
    if is_remote or not is_dataclass(thing) or isinstance(thing, type) or type(thing) not in set(known):
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
    tables = list_tables(corpus, CORPUS)
    return digest(about_corpus(corpus), list(tables), digest_tables(list(tables.values())))


def digest_tables(tables: Sequence[pa.Table]) -> str:
    """Return a checksum of all that tables hold, and of the batches that they hold it in."""
    checksum = hashlib.sha256()
    for table in tables:
        with pa.ipc.new_stream(pa.PythonFile(_Sink(checksum), "w"), table.schema) as writer:
            writer.write_table(table)
    return checksum.hexdigest()


def list_tables(record: object, names: Sequence[str]) -> dict[str, pa.Table]:
    """Return the tables that a record has, of those named."""
    return {name: getattr(record, name) for name in names if getattr(record, name) is not None}


def about_corpus(corpus: Corpus) -> dict[str, Any]:
    """Return what a corpus says besides its tables."""
    return {
        "dimensions": [str(spec) for spec in corpus.dimensions],
        "dropped": dict(corpus.dropped),
        "attribution": corpus.attribution,
        "time": corpus.time,
        "directed": corpus.directed,
        "whole_ids": corpus.whole_ids,
        "gone": pa.array(corpus.gone, pa.string()).to_pylist(),
        "source": dict(corpus.source),
    }


class _Sink:
    """Looks like a file, and adds what is written to a checksum."""

    closed = False

    def __init__(self, checksum: Any) -> None:
        self.checksum = checksum

    def write(self, data: Any) -> None:
        self.checksum.update(data)

    def flush(self) -> None:
        pass
