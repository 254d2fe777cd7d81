"""From a corpus to a cube, in memory or in a folder, and what a cube can be asked without a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cube2net import cube as cubes
from cube2net.aside import write_files, write_table
from cube2net.cube.labels import TOPIC
from cube2net.cube.update import leave_out_known, update_folder
from cube2net.embed import VECTORS, Nearest
from cube2net.errors import InputError, ParameterError, unknown, whole_number
from cube2net.interfaces import Embedder, Engine, Progress, TopicModel
from cube2net.pipeline.data import find_topics
from cube2net.pipeline.registries import made
from cube2net.records import Corpus, Cube, DimensionSpec, Topics, Vectors
from cube2net.records.spec import MAX_MENTIONS, MIN_OBJECTS
from cube2net.sources.holdout import Task
from cube2net.topics import model_of

Dimensions = Sequence[DimensionSpec | str]


def build_cube(
    corpus: Corpus,
    dimensions: Dimensions | None = None,
    *,
    topics: Topics | str | TopicModel = "lda",
    min_objects: int = MIN_OBJECTS,
    max_mentions: int = MAX_MENTIONS,
    out: str | Path | None = None,
    engine: str | Engine = "duckdb",
    seed: int = 0,
    progress: Progress | None = None,
) -> Cube:
    """Return the cube of a corpus; with ``out`` it is also saved there, and opened from there.

    Without ``dimensions`` the cube has those that the source proposes. When a dimension reads the attribute
    ``topic`` and the items have none, a topic model finds it in their texts.
    """
    if isinstance(dimensions, str):
        raise ParameterError(f"dimensions are a list such as ['city', 'year@decades'], got the text {dimensions!r}")
    wanted = corpus.dimensions if dimensions is None else dimensions
    specs = [DimensionSpec.parse(spec) if isinstance(spec, str) else spec for spec in wanted]
    runner: Engine = made(engine, cubes.ENGINES, Engine, "engine", {})
    found = None
    if any(spec.attribute == TOPIC for spec in specs) and TOPIC not in corpus.attributes:
        found = topics if isinstance(topics, Topics) else find_topics(corpus, topics, seed=seed, progress=progress)
    cube = cubes.build(
        corpus,
        specs,
        runner,
        topics=found,
        min_objects=min_objects,
        max_mentions=max_mentions,
        seed=seed,
        progress=progress,
    )
    if out is None:
        return cube
    save_cube(cube, out)
    return open_cube(out)


def update_cube(
    folder: str | Path,
    corpus: Corpus,
    *,
    topics: Topics | None = None,
    skip_known: bool = False,
    engine: str = "duckdb",
    progress: Progress | None = None,
) -> Cube:
    """Return the cube of a folder with the items and links of a corpus added, as if it had been built of all.

    New texts are labelled by the cube's own topic model. An item that the cube has already is refused, or with
    ``skip_known`` left out and counted.
    """
    if engine not in cubes.ENGINES:
        raise unknown("engine", engine, cubes.ENGINES)
    cube = open_cube(folder)
    if skip_known:
        corpus = leave_out_known(cube, corpus)
    about = cube.settings.get("topics") or {}
    if topics is None and cube.topic_model is not None:
        topics = model_of(cube.topic_model()).topics(corpus, progress=progress)
    elif topics is None and about.get("model") == "given":
        topics = find_topics(corpus, "given", attribute=about["attribute"])
    update_folder(Path(folder), corpus, cubes.ENGINES[engine](), topics=topics, progress=progress)
    return open_cube(folder)


def save_cube(cube: Cube, folder: str | Path) -> None:
    """Write a cube to a folder, which appears whole or not at all."""
    cubes.save(cube, Path(folder))


def open_cube(folder: str | Path) -> Cube:
    """Return the cube of a folder; its arrays are memory-mapped, so this costs almost nothing."""
    return cubes.read(Path(folder))


def verify_cube(folder: str | Path) -> int:
    """Return the number of files of a cube, having checked every byte of them."""
    return cubes.verify(Path(folder))


def build_task(task: Task, folder: str | Path, **options: Any) -> Cube:
    """Return the cube of a task of link prediction, built without its hidden links and saved with it in a folder.

    ``cube/`` is the cube, ``query.csv`` names the query and ``hidden.csv`` the links to be found again. ``options`` are
    those of :func:`build_cube`.
    """
    folder = Path(folder)
    parts = {"cube", "query.csv", "hidden.csv"}
    if folder.is_dir() and not {path.name for path in folder.iterdir()} <= parts:
        raise InputError(f"{str(folder)!r} holds other files than a task's: choose another folder, or empty it")
    cube = build_cube(task.corpus, out=folder / "cube", **options)
    ids = task.corpus.objects["object"]
    hidden = zip(
        *(ids.take(task.hidden[end].combine_chunks()).to_pylist() for end in ("source", "target")), strict=True
    )
    write_files(
        {
            folder / "query.csv": lambda path: write_table(path, ("object",), ((name,) for name in task.query)),
            folder / "hidden.csv": lambda path: write_table(path, ("source", "target"), hidden),
        }
    )
    return cube


def label_texts(cube: Cube, texts: Sequence[str | None]) -> Topics:
    """Return the topics of new texts, by the topic model that was trained for a cube."""
    if cube.topic_model is None:
        raise ParameterError("the cube has no topic model: its topics were given, or it has no dimension of topics")
    return model_of(cube.topic_model()).label_texts(list(texts))


def embed_cells(cube: Cube, vectors: str | Embedder = "words", *, seed: int = 0, **options: Any) -> Vectors:
    """Return a vector for every cell: of the words of its labels, or learned from the cells' members."""
    maker: Embedder = made(vectors, VECTORS, Embedder, "kind of vectors", options)
    return maker.embed(cube, seed=seed)


def near_cells(
    cube: Cube, cell: int | Sequence[str], k: int = 10, vectors: Vectors | None = None
) -> list[tuple[str, ...]]:
    """Return the labels of the k cells nearest to a cell (its number or its labels), without itself."""
    cell = whole_number("cell", cell, 0, len(cube.cells) - 1) if isinstance(cell, int) else cube.find_cell(cell)
    known = embed_cells(cube) if vectors is None else vectors
    found, _ = Nearest.of(known).find(known.values[[cell]], k=k, taken=np.array([[cell]]))
    return [cube.cell(int(number)) for number in found[0] if number >= 0]


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Return what a cube's folder says of itself: counts, settings, what was left out, files and checksums."""
    return cubes.read_manifest(Path(folder))


def view_cube(cube: Cube, *, roll_up: Sequence[str] = (), where: Mapping[str, Sequence[str]] | None = None) -> Cube:
    """Return the cube rolled up in some dimensions, and then only the cells with one of some labels."""
    for dimension in roll_up:
        cube = cubes.roll_up(cube, dimension)
    return cubes.dice(cube, where) if where else cube
