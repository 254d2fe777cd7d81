"""Adding papers to a cube, beside building the cube of all of them anew."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import cube2net as c2n
from cube2net.api.cubes import read_manifest
from cube2net.model.corpus import Corpus
from dblp_like_corpus import open_dblp_like
from measures.literature import corpus_folder
from measures.processes import Results, alone, bare, clocked

SHARES = (0.001, 0.01, 0.1)


def measure(results: Results, data: Path, papers: int) -> None:
    """Add the last papers of a literature to the cube of those before them, a larger share every time."""
    for share in SHARES:
        results.measure(f"update-{share:.3f}", lambda share=share: bare(alone(update, data, papers, share)))


def update(data: Path, papers: int, share: float) -> dict[str, Any]:
    """Return what an update takes and what a rebuild takes, in one process, one after the other."""
    corpus = open_dblp_like(corpus_folder(data, papers))
    first, second = split(corpus, papers - round(papers * share))
    folder = data / "updated"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    c2n.build(first, out=folder / "cube")
    rebuilding, rebuilding_cpu, _ = clocked(lambda: c2n.build(corpus, out=folder / "whole"))
    updating, updating_cpu, _ = clocked(lambda: c2n.update(folder / "cube", second))
    same = read_manifest(folder / "cube")["files"] == read_manifest(folder / "whole")["files"]
    shutil.rmtree(folder)
    return {
        "papers": papers,
        "added": second.items.num_rows,
        "rebuild": {"seconds": rebuilding, "cpu": rebuilding_cpu},
        "update": {"seconds": updating, "cpu": updating_cpu},
        "same": same,
    }


def split(corpus: Corpus, at: int) -> tuple[Corpus, Corpus]:
    """Return the items of a corpus before a row, and those from there on, each with the objects that they mention."""
    return _part(corpus, 0, at), _part(corpus, at, corpus.items.num_rows)


def _part(corpus: Corpus, begin: int, end: int) -> Corpus:
    item, thing = (corpus.mentions[name].to_numpy() for name in ("item", "object"))
    keep = (item >= begin) & (item < end)
    used = np.flatnonzero(np.bincount(thing[keep], minlength=corpus.objects.num_rows))
    place = np.zeros(corpus.objects.num_rows, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    mentions = pa.table({"item": item[keep] - np.int32(begin), "object": place[thing[keep]]})
    return replace(
        corpus,
        objects=corpus.objects.take(pa.array(used)),
        items=corpus.items.slice(begin, end - begin),
        mentions=mentions.cast(corpus.mentions.schema),
    )
