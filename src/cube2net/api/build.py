"""Build a cube from files or a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net import __version__
from cube2net._util.arrays import row_of_entries
from cube2net._util.files import check_folder, write_files, write_table
from cube2net._util.progress import Progress, ProgressOption, Stage, report_compiling, resolve_progress
from cube2net.api.checkpoints import (
    Checkpoints,
    checkpoints_beside,
    describe_identity,
    digest,
    digest_corpus,
    digest_files,
    digest_tables,
)
from cube2net.api.read import check_there, find_reader, remembering, resolve_corpus
from cube2net.api.suggest import check_found, decide_dimensions, find_topics, with_texts, without_texts
from cube2net.cube import engines
from cube2net.cube.building import build as build_module
from cube2net.cube.building.labels import TOPIC, parse_bins
from cube2net.cube.engines.duckdb import DuckDB, check_memory
from cube2net.cube.storage.reader import read as read_cube
from cube2net.cube.storage.writer import check_place, save
from cube2net.design.combinations import tally_cells
from cube2net.design.propose import choose_min_objects, covers_with_own_design
from cube2net.errors import ParameterError
from cube2net.io.reviews.link_tasks import Task
from cube2net.io.sources import SOURCES
from cube2net.io.tables.frames import is_frame
from cube2net.model.corpus import Corpus, Topics
from cube2net.model.cube import Cube
from cube2net.model.dimension import MAX_MENTIONS, DimensionSpec
from cube2net.model.interfaces import Engine, NamesFiles, Source, TopicModel, check_call, check_path, make_object
from cube2net.model.suggestion import Suggestion
from cube2net.topics.lda_model import LdaModel
from cube2net.topics.models import TOPIC_MODELS

P = ParamSpec("P")
FEW = 0.1
"""Cells that hold a smaller share of the objects are nearly none."""
MOST_LEFT_OUT = 0.2
"""A larger share of objects in no cell is reported."""


def why_few_cells(cube: Cube, corpus: Corpus, specs: Sequence[DimensionSpec], min_objects: int) -> str:
    """Return why the cells of a cube hold few of its objects, or an empty text where they do not.

    >>> import cube2net as c2n
    >>> corpus = c2n.make_planted(objects=200, communities=4).corpus
    >>> specs = [DimensionSpec("year", "year")]
    >>> print(why_few_cells(c2n.build(corpus, specs, min_objects=150), corpus, specs, 150).partition(": ")[2])
    'year' has 49 labels for 229 items: bins would hold more (year@decades), or a smaller min_objects
    """
    inside = int((cube.object_cells.sizes > 0).sum())
    cells = len(cube.cells.members.sizes)
    if cells and inside >= FEW * len(cube.objects):
        left_out = 1 - inside / len(cube.objects)
        return _say_left_out(cube, left_out, min_objects) if left_out > MOST_LEFT_OUT else ""
    found = f"{cells:,} cell{'s' if cells != 1 else ''}"
    found += f", which hold {inside:,} of {len(cube.objects):,} objects, for few have" if cells else ", for none has"
    helps = [hint for spec in specs if (hint := _finer(corpus, spec, min_objects))]
    helps += ["fewer dimensions"] * (len(specs) > 1) + ["a smaller min_objects"] * (min_objects > 1)
    return f"{found} {min_objects:,} objects: {', or '.join(helps)}" if helps else f"{found} {min_objects:,} objects"


def _say_left_out(cube: Cube, left_out: float, min_objects: int) -> str:
    """Return the share of the objects in no cell, and how it becomes smaller."""
    helps = ["a smaller min_objects"] * (min_objects > 1)
    if len(cube.dimensions) > 1:
        shares = [_left_out_without(cube, place, min_objects) for place in range(len(cube.dimensions))]
        best = int(np.argmin(shares))
        helps += [f"fewer or coarser dimensions (without {cube.dimensions[best].name!r} it is {shares[best]:.0%})"]
    else:
        helps += ["an attribute with fewer labels"]
    return f"{left_out:.0%} of the objects are in no cell of {min_objects:,} or more: {', or '.join(helps)} would help"


def _left_out_without(cube: Cube, dimension: int, min_objects: int) -> float:
    """Return the share of the objects that would be in no cell without a dimension."""
    parts, objects = (cube.cells, cube.small), len(cube.objects)
    labels = np.delete(np.concatenate([part.labels for part in parts]), dimension, axis=1)
    _, merged = np.unique(labels, axis=0, return_inverse=True)
    rows = np.concatenate([row_of_entries(parts[0].members), row_of_entries(parts[1].members) + len(parts[0])])
    members = np.concatenate([part.members.indices for part in parts])
    cell, thing = np.divmod(np.unique(merged.reshape(-1)[rows] * objects + members), objects)
    return 1 - tally_cells(cell, thing, objects, min_objects).share


def _finer(corpus: Corpus, spec: DimensionSpec, min_objects: int) -> str:
    """Return that the labels of a dimension are many for the items there are, and what would make them fewer."""
    if spec.bins is not None or spec.attribute not in corpus.items.column_names:
        return ""
    column = corpus.items[spec.attribute]
    values = pc.list_flatten(column) if pa.types.is_list(column.type) else column
    count, items = pc.count_distinct(values).as_py(), len(values) - values.null_count
    if count == 0:
        return f"{spec.attribute!r} is empty"
    if count * min_objects <= items:
        return ""
    name = spec.name if spec.name == spec.attribute else f"{spec.name}={spec.attribute}"
    said = f"{spec.attribute!r} has {count:,} labels for {items:,} items"
    if pa.types.is_temporal(values.type) or spec.attribute == "year":
        return f"{said}: bins would hold more ({name}@decades)"
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return f"{said}: bins would hold more ({name}@quantiles:4)"
    return f"{said}: another attribute has fewer"


Dimensions = Sequence[DimensionSpec | str]


def _accept_links_second(function: Callable[P, Cube]) -> Callable[P, Cube]:
    """Decorate ``build`` so that a second table in the place of the dimensions is that of the links."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Cube:
        if len(args) != 2 or not _is_table(args[1]):
            return function(*args, **options)
        data, second = args
        if isinstance(data, str | Path) and isinstance(second, str | Path):
            data = [data, second]
        else:
            options.setdefault("links", second)
        return function(data, **options)

    return call


@check_call
@_accept_links_second
@report_compiling
def build(
    data: Any = None,
    dimensions: Dimensions | Suggestion | Callable[[Corpus], Dimensions | Suggestion | None] | None = None,
    *,
    source: str | Source | None = None,
    topics: Topics | str | TopicModel = "lda",
    min_objects: int | None = None,
    max_mentions: int = MAX_MENTIONS,
    items: Any = "all",
    out: str | Path | None = None,
    engine: str | Engine = "duckdb",
    memory: str | None = None,
    seed: int = 0,
    progress: ProgressOption = None,
    **tables: Any,
) -> Cube:
    """Build the cube of a corpus, data frames, files or a graph; ``out`` saves it.

    If a build with ``out`` is interrupted, the same call continues after the last finished stage.

    Parameters
    ----------
    data
        A corpus; a data frame of records or of nodes; a mapping of data frames; a path or a list of paths; or a graph
        of NetworkX or igraph. :func:`read_tables` describes the tables.
    dimensions
        The dimensions of the cube, as strings (``["venue", "decade=year@decades"]``) or :class:`DimensionSpec`; a
        single dimension; the result of :func:`suggest`; or a function that returns one of these for a corpus. By
        default those of :func:`suggest`. A data frame or a path is taken as the table of links.
    source
        The kind of files: ``"tables"``, ``"sql"`` (then ``data`` are queries), ``"graph"``, ``"references"``,
        ``"openalex"``, ``"acl"``, ``"aminer"``, ``"dblp"``, ``"yelp"`` or ``"movies"``, or an object with ``read``. By
        default it is recognised by the suffix. With a source and ``out``, an interrupted build does not read its files
        again.
    topics
        The name of a topic model, a model, or known topics, used if a dimension needs the attribute ``topic`` and the
        items do not have it. ``"lda"`` finds topics in the texts.
    min_objects
        Cells with fewer objects are set aside, but count when the cube is rolled up. The default is 10; for fewer than
        2,000, 500 and 100 objects it is 5, 3 and 2, unless no suggested dimension has such cells.
    max_mentions
        Items that mention more objects create no links. Other items link all objects that they mention.
    items
        What the cube stores about its items: ``"all"`` (ids, mentions and attributes, for time windows and for
        replacing items), ``"index"`` (no attributes) or ``"none"`` (then no item can be removed). True means ``"all"``,
        and False ``"none"``. If objects, items and mentions are given by name, this is the table of items.
    out
        The folder of the cube; by default the cube is in memory only.
    engine
        ``"duckdb"``, which runs in this process, ``"spark"``, which runs on a cluster, or an engine object.
    memory
        The memory limit of an engine given by name, such as ``"4GB"``.
    seed
        The seed of the topic model.
    progress
        A callback that receives the progress; True shows a progress bar.
    tables
        Tables by name (``links=edges``), and the options of :func:`read_tables`, :func:`from_networkx` or the
        source.

    Returns
    -------
    Cube
        For :func:`construct` and :func:`compare`.

    Raises
    ------
    SourceError
        If a file is missing or invalid; the message names the file and the line.

    Examples
    --------
    >>> import cube2net as c2n
    >>> corpus = c2n.make_planted(objects=200, communities=4, noise=0).corpus
    >>> c2n.build(corpus)
    Cube(decade × venue × topic: 16 cells, 200 objects, 720 links)
    >>> c2n.build(corpus, ["venue", "decade=year@decades"], min_objects=20)
    Cube(venue × decade: 12 cells, 200 objects, 720 links)
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": ["ada", "bob", "eve"], "city": ["Rome", "Oslo", "Oslo"]})
    >>> edges = pd.DataFrame({"source": ["ada", "bob"], "target": ["bob", "eve"]})
    >>> c2n.build(people, links=edges, dimensions=["city"], min_objects=1)
    Cube(city: 2 cells, 3 objects, 2 links)
    """
    progress = resolve_progress(progress)
    if is_frame(items) or isinstance(items, Path) or (isinstance(items, str) and Path(items).suffix):
        tables, items = {**tables, "items": items}, "all"
    engine = _engine(engine, memory)
    place = None if out is None else check_path(out, "out")
    dimensions = [dimensions] if isinstance(dimensions, str) else dimensions
    if source is not None and not (dimensions is None or isinstance(dimensions, Suggestion) or callable(dimensions)):
        dimensions = [_check_dimension(dimension) for dimension in dimensions]

    def make_plan(corpus: Corpus) -> BuildPlan:
        specs = dimensions(corpus) if callable(dimensions) else dimensions
        return BuildPlan(specs, topics, min_objects, max_mentions, items, engine, seed)

    if source is not None:
        paths = [data] if isinstance(data, str | Path) else [] if data is None else list(data)
        return _build_source(source, paths, tables, place, make_plan, progress)
    corpus = resolve_corpus(data, tables, progress, build)
    plan = make_plan(corpus)
    if place is None:
        return plan.build(corpus, progress)
    check_place(place)
    with checkpoints_beside(place, progress) as stages:
        return plan.build_in(place, corpus, digest(__version__, digest_corpus(corpus)), stages, progress)


def _is_table(thing: Any) -> bool:
    """Return whether something in the place of dimensions is a second table: a frame, or the path of a file."""
    return is_frame(thing) or isinstance(thing, Path) or (isinstance(thing, str) and bool(Path(thing).suffix))


def _build_source(
    source: str | Source,
    paths: Sequence[str | Path],
    options: Mapping[str, Any],
    place: Path | None,
    make_plan: Callable[[Corpus], BuildPlan],
    progress: Progress,
) -> Cube:
    """Return the cube of files of one kind; if it is saved, what was read is kept if the work is interrupted."""
    if place is not None:
        check_place(place)
    reader, places = find_reader(source, paths, options)
    check_there(places)
    if place is None:
        corpus = remembering(reader.read(places, progress=progress), reader)
        return make_plan(corpus).build(corpus, progress)
    with checkpoints_beside(place, progress) as stages:
        known = describe_identity(reader, SOURCES.values())
        read = reader.files_read(places) if isinstance(reader, NamesFiles) else [*places, *_files_named_in(reader)]
        # What a file is taken for may depend on how often and where it is named.
        decides = digest(__version__, known, [str(path) for path in places], digest_files(read))
        corpus = remembering(stages.corpus(decides, lambda: reader.read(places, progress=progress)), reader)
        return make_plan(corpus).build_in(place, corpus, decides, stages, progress)


def build_task(task: Task, folder: str | Path, *, spreadsheet_safe: bool = False, **options: Any) -> Cube:
    """Return the cube of a task of link prediction, built without its hidden links and saved with it in a folder.

    ``cube/`` is the cube, ``query.csv`` names the query and ``hidden.csv`` the links to be found again. ``options`` are
    those of :func:`build`; ``spreadsheet_safe`` guards names in the two tables that spreadsheets would run.
    """
    folder = check_path(folder, "the folder of the task")
    check_folder(folder, ("cube", "query.csv", "hidden.csv"), "a task's")
    cube = build(task.corpus, out=folder / "cube", **options)
    ids = task.corpus.objects["object"]
    hidden = zip(
        *(ids.take(task.hidden[end].combine_chunks()).to_pylist() for end in ("source", "target")), strict=True
    )
    write = partial(write_table, spreadsheet_safe=spreadsheet_safe)
    write_files(
        {
            folder / "query.csv": lambda path: write(path, ("object",), ((name,) for name in task.query)),
            folder / "hidden.csv": lambda path: write(path, ("source", "target"), hidden),
        }
    )
    return cube


@dataclass(frozen=True)
class Design:
    """The dimensions of a cube and the minimum number of objects of its cells."""

    specs: tuple[DimensionSpec, ...]
    min_objects: int

    @classmethod
    def of(cls, suggestion: Suggestion, min_objects: int | None = None) -> Design:
        """Return the design of a suggestion, with its own ``min_objects`` unless another is given."""
        return cls(suggestion.dimensions, suggestion.min_objects if min_objects is None else min_objects)


@dataclass(frozen=True, eq=False)
class BuildPlan:
    """How to build the cube of a corpus, with defaults for what is None."""

    dimensions: Dimensions | Suggestion | None
    topics: Topics | str | TopicModel
    min_objects: int | None
    max_mentions: int
    items: bool | str
    engine: Engine
    seed: int

    def build(self, corpus: Corpus, progress: Progress) -> Cube:
        """Return the cube of a corpus, in memory."""
        design = self._decide(corpus, progress)
        topics = self._topics(corpus, self.topics, progress) if _needs_topics(corpus, design.specs) else None
        return self._build(corpus, *self._drop_single_topic(corpus, design, topics, progress), None, progress)

    def build_in(self, out: Path, corpus: Corpus, decides: str, stages: Checkpoints, progress: Progress) -> Cube:
        """Return the cube of a corpus, opened from where it is saved; ``decides`` tells the corpus from others."""
        design, topics = self._decide(corpus, progress), None
        if _needs_topics(corpus, design.specs):
            if isinstance(self.topics, Topics):
                topics = self.topics
                decides = digest(decides, topics.names, topics.parents, digest_tables([topics.assigned, topics.words]))
            else:
                model: TopicModel = make_object(self.topics, TOPIC_MODELS, TopicModel, "topic model", {})
                if isinstance(model, LdaModel):
                    known = digest_tables([model.table()])
                else:
                    known = describe_identity(model, TOPIC_MODELS.values())
                decides = digest(decides, known, self.seed)
                topics = stages.topics(decides, lambda: self._topics(corpus, model, progress))
        design, topics = self._drop_single_topic(corpus, design, topics, progress)
        by = [str(spec) for spec in design.specs], design.min_objects, self.max_mentions, type(self.engine).__name__
        folder = stages.place("tables", digest(decides, *by))
        cube = self._build(corpus, design, topics, folder, progress)
        progress(Stage("cube", "files"), 0, None)
        save(cube, out, made_in=folder, progress=progress)
        return read_cube(out)

    def _decide(self, corpus: Corpus, progress: Progress) -> Design:
        """Return the dimensions and the size of cells, with defaults for what is not given."""
        default = choose_min_objects(corpus.objects.num_rows) if self.min_objects is None else self.min_objects
        if isinstance(self.dimensions, Suggestion):
            check_found(self.dimensions)
            return Design.of(self.dimensions, self.min_objects)
        if self.dimensions is not None:
            specs = [DimensionSpec.parse(spec) if isinstance(spec, str) else spec for spec in self.dimensions]
            return Design(tuple(specs), default)
        if corpus.dimensions and covers_with_own_design(corpus, parse_bins, min_objects=default, seed=self.seed):
            return Design(corpus.dimensions, default)
        return Design.of(decide_dimensions(corpus, self.min_objects, self.seed, progress))

    def _drop_single_topic(
        self, corpus: Corpus, design: Design, topics: Topics | None, progress: Progress
    ) -> tuple[Design, Topics | None]:
        """Return the design and the topics; suggested dimensions exclude topics if all items have the same topic."""
        is_chosen = self.dimensions is not None and not isinstance(self.dimensions, Suggestion)
        is_chosen = is_chosen or design.specs == corpus.dimensions
        if is_chosen or topics is None or pc.count_distinct(topics.assigned["topic"]).as_py() > 1:
            return design, topics
        progress.note("the texts gave no topics that tell items apart: the dimension topic is left out")
        return Design.of(decide_dimensions(without_texts(corpus), self.min_objects, self.seed, progress)), None

    def _topics(self, corpus: Corpus, model: Topics | str | TopicModel, progress: Progress) -> Topics:
        if isinstance(model, Topics):
            return model
        if isinstance(self.engine, DuckDB):
            check_memory(self.engine.memory, texts=corpus.items.num_rows)
        corpus, attribute = with_texts(corpus, progress)
        found = find_topics(corpus, model, seed=self.seed, progress=progress)
        return replace(found, settings={**found.settings, "text": attribute}) if attribute else found

    def _build(
        self,
        corpus: Corpus,
        design: Design,
        topics: Topics | None,
        folder: Path | None,
        progress: Progress,
    ) -> Cube:
        cube = build_module.build(
            corpus,
            design.specs,
            self.engine,
            topics=topics,
            min_objects=design.min_objects,
            max_mentions=self.max_mentions,
            seed=self.seed,
            items=self.items,
            folder=folder,
            progress=progress,
        )
        if why := why_few_cells(cube, corpus, design.specs, design.min_objects):
            progress.note(why)
        return cube


def _files_named_in(reader: Source) -> list[Path]:
    """Return the files that parameters of a source name."""
    values: list[Any] = [getattr(reader, part.name) for part in fields(reader)] if is_dataclass(reader) else []
    named = [Path(value) for value in values if isinstance(value, str | Path)]
    return [path for path in named if path.exists()]


def _check_dimension(dimension: DimensionSpec | str) -> DimensionSpec:
    """Return a dimension, parsed and checked before a corpus is read."""
    spec = DimensionSpec.parse(dimension) if isinstance(dimension, str) else dimension
    for bins in (spec.bins, *(level.bins for level in spec.levels)):
        if bins is not None:
            parse_bins(bins)
    return spec


def _needs_topics(corpus: Corpus, specs: Sequence[DimensionSpec]) -> bool:
    return any(spec.attribute == TOPIC for spec in specs) and TOPIC not in corpus.attributes


def _engine(engine: str | Engine, memory: str | None) -> Engine:
    if memory is not None and not isinstance(engine, str):
        raise ParameterError(f"memory is {memory!r} and the engine is given: set the memory where the engine is made")
    options = {} if memory is None else {"memory": memory}
    found: Engine = make_object(engine, engines.ENGINES, Engine, "engine", options)
    return found
