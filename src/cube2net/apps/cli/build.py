"""What the commands build, update and suggest do."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import numpy as np

import cube2net as c2n
from cube2net._util.progress import Progress
from cube2net.apps.cli.app import as_typed
from cube2net.apps.cli.options import SOURCE_NAMES, configured, fields_of, split_settings
from cube2net.apps.cli.output import say, show_table
from cube2net.errors import ParameterError, Setting, SingleTableError, SourceError, listed, plain, unknown
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cube
from cube2net.model.dimension import MIN_OBJECTS, DimensionSpec
from cube2net.model.interfaces import Source, TopicModel
from cube2net.model.names import cell_line
from cube2net.model.suggestion import Proposal, Suggestion

SQL = "sql"
TOPICS = 100
# So many labels are named in a line; --json has them all.
SHOWN = 10


def build(
    source: str,
    paths: Sequence[str | Path],
    out: Path,
    *,
    dimensions: Sequence[str] | None,
    topics: int | None,
    topic_groups: int | None,
    min_objects: int,
    max_mentions: int,
    items: str,
    settings: Sequence[str],
    where: Sequence[str],
    strict: bool,
    engine: str,
    memory: str | None,
    master: str | None,
    staging: str | None,
    spark: Sequence[str],
    seed: int,
    progress: Progress,
) -> Cube:
    """Return the cube built from files of one kind and saved in a folder."""
    from cube2net.cube.engines import ENGINES

    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    for name, value in (("master", master), ("staging", staging), ("spark", spark[0] if spark else None)):
        if value is not None and engine != "spark":
            raise ParameterError(f"--{name} is for the engine 'spark', and the engine is {engine!r}")
    given = {"memory": memory, "master": master, "staging": staging}
    runner = configured(
        ENGINES[engine],
        {name: value for name, value in given.items() if value is not None},
        f"engine {engine!r}",
        **({"settings": _spark_settings(spark)} if spark else {}),
    )
    by_texts = topics is None and topic_groups is None
    options: dict[str, Any] = {
        "topics": "lda" if by_texts else _topic_model(topics or TOPICS, topic_groups),
        "min_objects": min_objects,
        "max_mentions": max_mentions,
        "items": items,
        "out": out,
        "engine": runner,
        "seed": seed,
        "progress": progress,
    }

    def grouped(specs: Sequence[DimensionSpec]) -> list[DimensionSpec]:
        return [
            replaced(spec, parent="topic group")
            if topic_groups is not None and spec.attribute == "topic" and spec.parent is None
            else spec
            for spec in specs
        ]

    def proposed(corpus: Corpus) -> list[DimensionSpec] | None:
        if topic_groups is None:
            return None
        return grouped(c2n.suggest(corpus, min_objects=min_objects, seed=seed, progress=progress).dimensions)

    asked = grouped([DimensionSpec.parse(text) for text in dimensions or ()])
    if source == "bundled":
        corpus = read(source, paths, settings, strict, progress, where)
        return c2n.build_cube(corpus, asked or proposed(corpus), **options)
    reader = reader_of(source, paths, settings, strict, where)
    places = () if source == SQL else paths
    with _advise_alone(source):
        return c2n.build_from(reader, *places, dimensions=asked or proposed, **options)


@contextmanager
def _advise_alone(source: str) -> Iterator[None]:
    """Add to the refusal of a single table that its rows can be read by themselves, as explore reads them."""
    try:
        yield
    except SingleTableError as error:
        if source != "tables":
            raise
        raise SourceError(error, "; or read its rows alone, as explore does: ", Setting("alone", True)) from None


def _spark_settings(texts: Sequence[str]) -> dict[str, str]:
    """Return settings of Spark by name; these are Spark's names, so they are taken to the letter."""
    for text in texts:
        if "=" not in text:
            raise ParameterError(f"cannot read --spark {text!r}: write name=value, such as spark.executor.cores=4")
    return dict(text.split("=", 1) for text in texts)


def read(
    source: str,
    paths: Sequence[str | Path],
    settings: Sequence[str],
    strict: bool,
    progress: Progress,
    where: Sequence[str] = (),
) -> Corpus:
    """Return the corpus of files of one kind; the bundled one needs no files."""
    if source == "bundled":
        if paths or settings:
            raise ParameterError(f"the bundled data takes no path and no --set, got {str([*paths, *settings][0])!r}")
        if where:
            raise ParameterError(f"the bundled data is read whole, got --where {where[0]!r}")
        return c2n.load_bundled()
    places = () if source == SQL else paths
    with _advise_alone(source):
        return c2n.read_source(reader_of(source, paths, settings, strict, where), *places, progress=progress)


def reader_of(
    source: str,
    paths: Sequence[str | Path],
    settings: Sequence[str],
    strict: bool,
    where: Sequence[str] = (),
    *,
    before: Mapping[str, Any] | None = None,
) -> Source:
    """Return the source of a name with its parameters as they were typed, and else as they were ``before``."""
    from cube2net.io.sources import SOURCES

    if source not in SOURCES:
        raise unknown("source", source, [*SOURCES, "bundled"])
    given = split_settings(settings)
    if not paths and not given:
        raise SourceError(f"source {source!r} needs a {'query to run' if source == SQL else 'path to read'}")
    if strict:
        given["strict"] = "true"
    kind = SOURCES[source]
    handed: dict[str, Any] = {"where": _labels_by_attribute(where)} if where else {}
    handed |= {"queries": tuple(map(str, paths))} if source == SQL else {}
    if where and "where" not in fields_of(kind):
        able = [name for name, other in SOURCES.items() if "where" in fields_of(other)]
        raise ParameterError(f"source {source!r} takes no --where: it is for {listed(able)}")
    for called, value in (before or {}).items():
        name = "usual" if called == "columns" else called
        if name in fields_of(kind) and name not in given:
            handed.setdefault(name, value)
    reader: Source = configured(kind, given, f"source {source!r}", **handed)
    return reader


def _labels_by_attribute(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the labels asked for, by attribute.

    >>> _labels_by_attribute(["field=Computer Science", "country=NO", "country=SE"])
    {'field': ('Computer Science',), 'country': ('NO', 'SE')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, label = (part.strip() for part in text.partition("="))
        if not equals or not name or not label:
            raise ParameterError(
                f"cannot read --where {text!r}: write attribute=label, such as field='Computer Science'"
            )
        found[name] = (*found.get(name, ()), label)
    return found


def _topic_model(count: int, groups: int | None = None) -> TopicModel:
    from cube2net.topics.lda import Lda

    return Lda(count=count, groups=groups)


def update(
    folder: Path,
    source: str,
    paths: Sequence[Path],
    *,
    settings: Sequence[str],
    strict: bool,
    skip_known: bool,
    replace: bool,
    remove: Path | None,
    progress: Progress,
) -> tuple[Cube, dict[str, int]]:
    """Return a cube with the items of more files added, or some taken out, and how many of what that were."""
    c2n.api.read_manifest(folder)  # what is no cube is said before anything is read
    ids = [] if remove is None else _ids_in(remove)
    corpus = None
    before = c2n.open_cube(folder).settings.get("source") or {}
    if source or paths or settings or remove is None:
        source = source or before.get("name", "")
        if not source:
            raise ParameterError("what the files are is not said: add --source, such as --source tables")
        if source == "bundled":
            corpus = read(source, paths, settings, strict, progress)
        else:
            before = before if source == before.get("name") else {}
            reader = reader_of(source, paths, settings, strict, before=before)
            if before:
                progress.note(f"read as the cube was: {_source(before)}")
            known = c2n.open_cube(folder).objects
            corpus = c2n.api.read_more(known, reader, *(() if source == SQL else paths), progress=progress)
    return c2n.api.add_items(folder, corpus, skip_known=skip_known, replace=replace, remove=ids, progress=progress)


def _source(source: Mapping[str, Any]) -> str:
    """Return how a cube was read, in a line.

    >>> _source({"name": "tables", "columns": {"links.source": "from"}, "directed": True})
    "tables, columns links.source='from', directed"
    """
    said = [str(source["name"])]
    for name, value in source.items():
        if isinstance(value, Mapping) and name != c2n.api.READING:
            said.append(f"{name} {', '.join(f'{key}={one!r}' for key, one in value.items())}")
        elif name not in ("name", c2n.api.READING):
            said.append(name if value is True else f"{name} {value!r}")
    return ", ".join(said)


def _ids_in(path: Path) -> list[str]:
    """Return the ids in a file, one a line."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ParameterError(f"{str(path)!r} is no text in UTF-8, expected the ids of items, one a line") from None
    return [line.strip() for line in lines if line.strip()]


def task(
    source: str,
    paths: Sequence[Path],
    name: str,
    out: Path,
    *,
    topics: int,
    spreadsheet_safe: bool,
    seed: int,
    progress: Progress,
) -> Cube:
    """Return the cube of a task of link prediction, saved with the task in a folder."""
    made = c2n.api.read_task(source, *paths, name=name, seed=seed, progress=progress)
    model = _topic_model(topics)
    return c2n.api.build_task(made, out, spreadsheet_safe=spreadsheet_safe, topics=model, seed=seed, progress=progress)


def about(folder: Path, between: str | None = None) -> dict[str, Any]:
    """Return what there is to know of a cube on disk, or of its items and links of a time."""
    cube = c2n.api.view_cube(c2n.open_cube(folder), between=between)
    manifest = c2n.api.read_manifest(folder)
    settings = cube.settings
    sizes = cube.cells.members.sizes
    largest = np.argsort(-sizes, kind="stable")[:5].tolist()
    return {
        "cube": str(folder),
        "format": manifest["format"],
        "bytes": sum(file["bytes"] for file in manifest["files"].values()),
        "bytes_of_items": _bytes_of_items(manifest["files"]),
        "dimensions": [
            {
                "name": level.name,
                "labels": len(level.labels),
                "level_above": number > 0,
                "above": dimension.levels[dimension.below[number]].name if number else None,
                "examples": level.labels[:3],
            }
            for dimension in cube.dimensions
            for number, level in enumerate(dimension.levels)
        ],
        "source": settings.get("source") or {},
        "items": settings.get("items"),
        **manifest["counts"],
        "cells": len(cube.cells),
        "members": len(cube.cells.members.indices),
        "links": cube.links.count,
        "time": settings.get("time", ""),
        "views": list(settings.get("views", ())),
        "objects_in_cells": int((cube.object_cells.sizes > 0).sum()),
        "objects_that_may_be_brought": None if cube.bringable is None else int(cube.bringable.sum()),
        "ids": "whole numbers" if cube.objects.whole else "texts",
        "attributes": _attributes(cube, manifest),
        "links_say": []
        if cube.details is None
        else ["direction" if n == "forward" else n for n in cube.details().columns],
        "largest_cells": [{"labels": cube.cell(cell), "objects": int(sizes[cell])} for cell in largest],
        "dropped": settings.get("dropped", {}),
        "no_direction": {name: list(labels) for name, labels in c2n.api.embed_cells(cube).blank.items() if labels},
        "topic_words": _topic_words(cube),
        "settings": {
            name: settings.get(name) for name in ("dimensions", "min_objects", "max_mentions", "seed", "engine")
        },
        "topics": settings.get("topics"),
        "attribution": settings.get("attribution", ""),
    }


def _attributes(cube: Cube, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of what is known of objects, and how many bytes that takes."""
    size = manifest["files"].get("objects.attributes.arrow", {"bytes": 0})["bytes"]
    return {"names": cube.objects.attributes.column_names, "bytes": size}


def _bytes_of_items(files: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many bytes the index of items takes, and how many their attributes with what goes with them."""
    sizes = {"index": 0, "attributes": 0}
    for name, about in files.items():
        if name.startswith("items."):
            kept = name.startswith(("items.attributes.", "items.topics.", "items.texts."))
            sizes["attributes" if kept else "index"] += about["bytes"]
    return sizes


def _topic_words(cube: Cube, most: int = 6) -> dict[str, list[str]]:
    words: dict[str, list[str]] = {}
    if cube.topic_words is not None:
        for topic, term in zip(*(cube.topic_words[name].to_pylist() for name in ("topic", "term")), strict=True):
            words.setdefault(topic, []).append(term)
    return {topic: terms[:most] for topic, terms in words.items()}


def show_homeless(cube: Cube, min_objects: int) -> None:
    """Say how many objects are in no cell, where that is more than one in ten."""
    homeless = int((cube.object_cells.sizes == 0).sum())
    if homeless * 10 > len(cube.objects):
        say(
            f"{homeless:,} of {len(cube.objects):,} objects are in no cell, for a cell needs {min_objects} objects: "
            "fewer dimensions, coarser labels or a smaller --min-objects would bring more in"
        )


def show_about(about: dict[str, Any]) -> None:
    """Show a cube."""
    kept = [f"{what} {size / 1e6:,.2f} MB" for what, size in about["bytes_of_items"].items() if size]
    items = f" (of items: {', '.join(kept)})" if kept else ""
    say(f"{about['cube']}: cube format {about['format']}, {about['bytes'] / 1e6:,.2f} MB{items}")
    depth: dict[str, int] = {}
    for entry in about["dimensions"]:
        depth[entry["name"]] = 0 if entry["above"] is None else depth[entry["above"]] + 1
    for view in about["views"]:
        say(view)
    show_table(
        "dimensions",
        ("dimension", "labels", "for example"),
        [
            ("  ↑ " * depth[entry["name"]] + entry["name"], f"{entry['labels']:,}", ", ".join(entry["examples"]))
            for entry in about["dimensions"]
        ],
        right=("labels",),
    )
    counts = ("items", "objects", "objects_in_cells", "objects_that_may_be_brought", "cells", "members", "links")
    show_table(
        "counts",
        ("what", "how many"),
        [(name.replace("_", " "), f"{about[name]:,}") for name in counts if about[name] is not None],
        right=("how many",),
    )
    show_table(
        "largest cells",
        ("cell", "objects"),
        [(cell_line(cell["labels"]), f"{cell['objects']:,}") for cell in about["largest_cells"]],
        right=("objects",),
    )
    if about["attributes"]["names"]:
        size = about["attributes"]["bytes"] / 1e6
        say(f"objects carry {listed(about['attributes']['names'], SHOWN)} ({size:,.2f} MB)")
    if about["links_say"]:
        directed = "; methods take links as undirected" if "direction" in about["links_say"] else ""
        say(f"links say their {', '.join(about['links_say'])}{directed}")
    dropped = [(reason, f"{count:,}") for reason, count in about["dropped"].items()]
    show_table("left out", ("reason", "how many"), dropped or [("nothing", "0")], right=("how many",))
    for name, labels in about["no_direction"].items():
        say(f"labels of {name} that word vectors do not know: {listed(labels, SHOWN)}", "")
    say(*(f"{name}: {value}" for name, value in about["settings"].items()))
    if about["source"]:
        say(f"source: {_source(about['source'])}")
    if about["attribution"]:
        say(f"data: {about['attribution']}")
    if about["topics"]:
        say(f"topics by {', '.join(f'{name} {value}' for name, value in about['topics'].items())}", "")
    if about["topic_words"]:
        rows = [(topic, ", ".join(words)) for topic, words in about["topic_words"].items()]
        show_table("topics", ("topic", "heaviest terms"), rows)


TABLES = "tables"


@dataclass(frozen=True)
class Request:
    """What the command was asked to look at."""

    source: str
    paths: tuple[Path, ...]
    settings: tuple[str, ...]
    where: tuple[str, ...]
    strict: bool
    min_objects: int
    seed: int

    def command(self, found: Suggestion) -> str:
        """Return the command that builds the cube, as a shell reads it."""
        words = ["cube2net", "build", self.source, *map(str, self.paths)]
        for spec in found.dimensions:
            words += ["--dimension", str(spec)]
        if found.needs_topics:
            words += ["--topics", str(found.topics)]
        if self.min_objects != MIN_OBJECTS:
            words += ["--min-objects", str(self.min_objects)]
        for setting in self.settings:
            words += ["--set", setting]
        for label in self.where:
            words += ["--where", label]
        words += ["--strict"] * self.strict
        if self.seed:
            words += ["--seed", str(self.seed)]
        return shlex.join(words)

    def python(self, found: Suggestion) -> list[str]:
        """Return the lines of Python that build the cube; parameters of the source come as they were typed."""
        names = [str(path) for path in self.paths]
        options = self._options()
        bundled = self.source == "bundled"
        read = "c2n.load_bundled()" if bundled else f"c2n.read_source({_called([self.source, *names], options)})"
        build = [repr([str(spec) for spec in found.dimensions])]
        if found.needs_topics:
            build.append(f"topics=Lda(count={found.topics})")
        if self.min_objects != MIN_OBJECTS:
            build.append(f"min_objects={self.min_objects}")
        if self.seed:
            build.append(f"seed={self.seed}")
        lines = ["import cube2net as c2n"]
        if found.needs_topics:
            lines.append("from cube2net.topics.lda import Lda")
        return [*lines, f"corpus = {read}", f"cube = c2n.build_cube(corpus, {', '.join(build)})"]

    def _options(self) -> list[str]:
        """Return the parameters of the source as Python writes them."""
        if self.source == "bundled":
            return []
        reader = reader_of(self.source, self.paths, self.settings, self.strict, self.where)
        named = [*split_settings(self.settings), *["where"] * bool(self.where), *["strict"] * self.strict]
        return [f"{name}={getattr(reader, name)!r}" for name in dict.fromkeys(named)]


def asked_of(
    words: Sequence[str], settings: Sequence[str], where: Sequence[str], *, strict: bool, min_objects: int, seed: int
) -> Request:
    """Return what words ask for: a kind of source and paths, or paths of tables."""
    source, paths = (words[0], words[1:]) if words and words[0] in SOURCE_NAMES else (TABLES, words)
    return Request(source, tuple(map(Path, paths)), tuple(settings), tuple(where), strict, min_objects, seed)


def suggest(asked: Request, query: Path | None, splits: int, progress: Progress) -> Suggestion:
    """Return what is proposed for files."""
    corpus = read(asked.source, asked.paths, asked.settings, asked.strict, progress, asked.where)
    return c2n.suggest(corpus, query, min_objects=asked.min_objects, splits=splits, seed=asked.seed, progress=progress)


def as_record(asked: Request, found: Suggestion) -> dict[str, Any]:
    """Return all of it for JSON."""
    build = {"command": asked.command(found), "python": asked.python(found)} if found.dimensions else {}
    return {**found.record(), **build}


def show(asked: Request, found: Suggestion) -> None:
    """Show what was found, the reasons, and what to type."""
    say(f"looked at {found.looked_at:,} of {found.items:,} items")
    show_table(
        "attributes",
        ("attribute", "is", "values", "filled", "may become"),
        [
            (each.name, each.kind, f"{each.distinct:,}", f"{each.filled:.0%}", str(each.dimension or ""))
            for each in found.attributes
        ],
        right=("values", "filled"),
    )
    say(*(f"{plain(each.name)} {each.reason}" for each in found.attributes))
    if found.dependencies:
        say(f"levels: {listed(found.dependencies)}")
    say("")
    _show_proposals("each dimension by itself", found.alone)
    if not found.dimensions:
        say(f"nothing to propose: {as_typed(found.why)}")
        return
    _show_proposals("together", found.proposals)
    if found.topics is not None:
        exact = "" if found.query is None else ", and here they were found"
        say(f"topics are counted as if {found.topics} of them were spread evenly over the texts{exact}")
    say(f"proposed: {listed(found.dimensions)}: {found.reason}", "")
    say(asked.command(found), "")
    say("in Python:", *(f"  {line}" for line in asked.python(found)))


def _show_proposals(title: str, proposals: Sequence[Proposal]) -> None:
    columns = ["dimensions", "cells", "objects in cells", "too small", "giant", "bits"]
    together = any(each.counts.together is not None for each in proposals)
    held = any(each.held is not None for each in proposals)
    rows = [
        (
            " × ".join(map(str, each.dimensions)),
            f"{each.counts.cells:,}",
            f"{each.counts.share:.0%}",
            f"{each.counts.dead:,}",
            f"{each.counts.giant:,}",
            f"{each.counts.bits:.1f}",
            *([_percent(each.counts.together)] if together else []),
            *([str(each.held or "")] if held else []),
        )
        for each in proposals
    ]
    columns += ["no chance"] * together + ["hidden half held"] * held
    show_table(title, columns, rows, right=columns[1:])


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _called(values: Sequence[str], options: Sequence[str]) -> str:
    return ", ".join([*map(repr, values), *options])
