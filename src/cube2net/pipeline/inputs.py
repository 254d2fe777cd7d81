"""Whatever a caller has becomes a corpus: a corpus, frames, paths, graphs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from cube2net import sources
from cube2net.arguments import check_options, options_of
from cube2net.errors import ParameterError, quoted
from cube2net.progress import Progress
from cube2net.records import Corpus
from cube2net.sources import SOURCES

EXPECTED = "a corpus, a frame, a mapping of frames, a path or a graph"


def corpus_of(data: Any, options: Mapping[str, Any], progress: Progress, function: Callable[..., Any]) -> Corpus:
    """Return the corpus of what a caller gave to a function, with the options of reading it."""
    if isinstance(data, Corpus):
        check_options(options, "a corpus that is made already", (), function)
        return data
    if sources.is_networkx(data) or sources.is_igraph(data):
        read = sources.from_networkx if sources.is_networkx(data) else sources.from_igraph
        allowed = [name for name in options_of(read) if name not in ("graph", "progress")]
        check_options(options, "a graph", allowed, function)
        return read(data, progress=progress, **options)
    check_options(options, "tables", [*options_of(SOURCES["tables"]), "records"], function)
    if data is None and not options:
        raise ParameterError(f"{function.__name__} is given nothing to read, expected {EXPECTED}")
    if data is not None and not _is_readable(data):
        raise ParameterError(f"the data is {quoted(data)}, expected {EXPECTED}")
    return sources.read_tables(() if data is None else (data,), options, progress)


def _is_readable(data: object) -> bool:
    return sources.is_frame(data) or isinstance(data, str | os.PathLike | Mapping)
