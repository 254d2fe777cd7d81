"""The commands that build cubes: build, suggest, update and task."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cube2net as c2n
from cube2net.apps.cli.options import (
    SOURCE_NAMES,
    AsJson,
    CubePath,
    ItemsWhere,
    Quiet,
    Seed,
    Set,
    SpreadsheetSafe,
    complete_names,
    configure,
    list_fields,
    split_settings,
    warn_of_formulas,
)
from cube2net.apps.cli.output import RESUMABLE_PATHS, say, show_json, show_table, shown_progress
from cube2net.errors import ParameterError, SourceError, hide_passwords, join_names, quote_unsafe, unknown_name

if TYPE_CHECKING:
    from cube2net._util.progress import Progress
    from cube2net.model.corpus import Corpus
    from cube2net.model.dimension import DimensionSpec
    from cube2net.model.interfaces import Source
    from cube2net.model.suggestion import Proposal, Suggestion

SQL, TABLES, BUNDLED = "sql", "tables", "bundled"
MinObjects = Annotated[
    int | None,
    typer.Option(help="Leave out cells with fewer objects: by default 10, or fewer for fewer than 2,000.", min=1),
]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")]
SheetName = Annotated[str | None, typer.Option(metavar="NAME", help="The sheet of a workbook to read.")]
Separators = Annotated[
    list[str] | None,
    typer.Option(
        "--separator",
        metavar="COLUMN=MARK",
        help="What separates the values of a column, such as Authors=';'; may be repeated.",
    ),
]


def build(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help=f"One of {', '.join(SOURCE_NAMES)}.", autocompletion=complete_names(*SOURCE_NAMES)
        ),
    ],
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH…", help="Files or folders to read; for sql, queries.")
    ] = None,
    links: Annotated[
        str | None, typer.Option(metavar="PATH", help="Links for one table of nodes: a file; for sql, a query.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="CUBE", help="Folder of the cube to write.")] = Path("cube"),
    dimension: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=ATTRIBUTE][@BINS][/LEVEL…]",
            help="A dimension, such as decade=year@decades, city/state or topic/subfield/field; may be repeated, also "
            "for a second path of levels above (venue/kind and venue/publisher). Odd names go in quotes. Without any, "
            "those that suggest proposes.",
        ),
    ] = None,
    topics: Annotated[
        int | None,
        typer.Option(help="How many topics to find in the texts: by default 100, or fewer in fewer than 5,000."),
    ] = None,
    topic_groups: Annotated[
        int | None, typer.Option(help="Put the topics under this many parents, for --roll-up topic.")
    ] = None,
    min_objects: MinObjects = None,
    max_mentions: Annotated[int, typer.Option(help="An item with more objects makes no links.")] = 50,
    items: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="Keep of the items: all, index (without their attributes: no --between, no --replace), or none.",
            autocompletion=complete_names("all", "index", "none"),
        ),
    ] = "all",
    sheet: SheetName = None,
    separator: Separators = None,
    set_: Set = None,
    where: ItemsWhere = None,
    strict: Strict = False,
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Keep records of the same work apart (references).")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What runs the statements: duckdb or spark.",
            autocompletion=complete_names("duckdb", "spark"),
        ),
    ] = "duckdb",
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="What it may take, such as 4GB, reading aside; the rest goes to disk."),
    ] = None,
    master: Annotated[str | None, typer.Option(metavar="URL", help="The Spark master, such as local[2].")] = None,
    staging: Annotated[
        str | None, typer.Option(metavar="PLACE", help="A folder or s3a://… that all Spark workers see.")
    ] = None,
    spark: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A setting of Spark's; may be repeated.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Read raw data and write its cube to a folder; an interrupted build leaves no partial folder.

    An interrupted build keeps its finished parts, hidden beside the cube, and the same command continues from them.
    """
    from cube2net.api.checkpoints import checkpoint_folder
    from cube2net.cube.engines import ENGINES
    from cube2net.model.dimension import DimensionSpec
    from cube2net.topics.lda import Lda

    RESUMABLE_PATHS.append(checkpoint_folder(out))
    is_replaced = out.exists()
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    for name, value in (("master", master), ("staging", staging), ("spark", spark[0] if spark else None)):
        if value is not None and engine != "spark":
            raise ParameterError(f"--{name} is for the engine 'spark', and the engine is {engine!r}")
    engine_settings = {"memory": memory, "master": master, "staging": staging}
    engine_instance = configure(
        ENGINES[engine],
        {name: value for name, value in engine_settings.items() if value is not None},
        f"engine {engine!r}",
        **({"settings": _parse_spark_settings(spark)} if spark else {}),
    )
    topic_model = "lda" if topics is None and topic_groups is None else Lda(count=topics, groups=topic_groups)
    dimension_specs = _group_topics([DimensionSpec.parse(text) for text in dimension or ()], topic_groups)
    source_settings = [*(set_ or []), *([] if links is None else [f"links={links}"])]
    source_settings += ["keep_duplicates=true"] * keep_duplicates + _list_table_settings(sheet, separator)
    with shown_progress(quiet) as progress:
        options: dict[str, Any] = {"topics": topic_model, "min_objects": min_objects, "max_mentions": max_mentions}
        options |= {"items": items, "out": out, "engine": engine_instance, "seed": seed, "progress": progress}

        def propose(corpus: Corpus) -> Suggestion | None:
            if topic_groups is None:
                return None
            suggested = c2n.suggest(corpus, min_objects=min_objects, seed=seed, progress=progress)
            return replace_fields(suggested, dimensions=tuple(_group_topics(suggested.dimensions, topic_groups)))

        if source == BUNDLED:
            corpus = read_corpus(source, paths or [], source_settings, strict, progress, where or [])
            cube = c2n.build(corpus, dimension_specs or propose(corpus), **options)
        else:
            reader = make_source(source, paths or [], source_settings, strict, where or [])
            source_paths = () if source == SQL else paths or []
            cube = c2n.build([*source_paths], source=reader, dimensions=dimension_specs or propose, **options)
    say(f"{out}: {cube}")
    if is_replaced:
        say("the cube that was there is replaced")
    n_uncovered, cell_size = int((cube.object_cells.sizes == 0).sum()), cube.settings["min_objects"]
    if n_uncovered * 10 > len(cube.objects):
        say(
            f"{n_uncovered:,} of {len(cube.objects):,} objects are in no cell, as a cell needs {cell_size} objects: "
            "use fewer dimensions, coarser labels or a smaller --min-objects to include more"
        )


def _group_topics(specs: Sequence[DimensionSpec], groups: int | None) -> list[DimensionSpec]:
    """Add a level of topic groups above the dimension of topics, if ``groups`` is given."""
    return [
        replace_fields(spec, parent="topic group")
        if groups is not None and spec.attribute == "topic" and spec.parent is None
        else spec
        for spec in specs
    ]


def _list_table_settings(sheet: str | None, separators: Sequence[str] | None) -> list[str]:
    """Return the sheet and the separators as parameters of a source.

    >>> _list_table_settings("Data", ["Authors=;", "Authors= and "])
    ['sheet=Data', 'separators={"Authors": [";", " and "]}']
    """
    marks_by_column: dict[str, list[str]] = {}
    for text in separators or ():
        column, _, mark = text.rpartition("=")
        if not column or not mark:
            raise ParameterError(f"cannot read --separator {text!r}: write column=mark, such as Authors=';'")
        marks_by_column.setdefault(column, []).append(mark)
    settings = [] if sheet is None else [f"sheet={sheet}"]
    marks = {
        column: column_marks[0] if len(column_marks) == 1 else column_marks
        for column, column_marks in marks_by_column.items()
    }
    return settings + ([f"separators={json.dumps(marks, ensure_ascii=False)}"] if marks else [])


def _parse_spark_settings(texts: Sequence[str]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise ParameterError(f"cannot read --spark {text!r}: write name=value, such as spark.executor.cores=4")
    return dict(text.split("=", 1) for text in texts)


def read_corpus(
    source: str,
    paths: Sequence[str | Path],
    settings: Sequence[str],
    strict: bool,
    progress: Progress,
    where: Sequence[str] = (),
) -> Corpus:
    """Return the corpus of files of one kind; the bundled one needs no files."""
    if source == BUNDLED:
        if paths or settings:
            raise ParameterError(f"the bundled data takes no path and no --set, got {str([*paths, *settings][0])!r}")
        if where:
            raise ParameterError(f"the bundled data cannot be filtered, got --where {where[0]!r}")
        return c2n.load_bundled()
    source_paths = () if source == SQL else paths
    return c2n.read_source(make_source(source, paths, settings, strict, where), *source_paths, progress=progress)


def make_source(
    source: str,
    paths: Sequence[str | Path],
    settings: Sequence[str],
    strict: bool,
    where: Sequence[str] = (),
    *,
    previous: Mapping[str, Any] | None = None,
) -> Source:
    """Return a source with the given settings; other parameters are those of ``previous``."""
    from cube2net.io.sources import SOURCES

    if source not in SOURCES:
        raise unknown_name("source", source, [*SOURCES, BUNDLED])
    values = split_settings(settings)
    if not paths and not values:
        raise SourceError(f"source {source!r} needs a {'query to run' if source == SQL else 'path to read'}")
    if strict:
        values["strict"] = "true"
    source_class = SOURCES[source]
    extra_parameters: dict[str, Any] = {"where": _group_labels(where)} if where else {}
    extra_parameters |= {"queries": tuple(map(str, paths))} if source == SQL else {}
    if where and "where" not in list_fields(source_class):
        filterable_sources = [name for name, other in SOURCES.items() if "where" in list_fields(other)]
        raise ParameterError(f"source {source!r} takes no --where: it is for {join_names(filterable_sources)}")
    for old_name, value in (previous or {}).items():
        name = "usual" if old_name == "columns" else old_name
        if name in list_fields(source_class) and name not in values:
            extra_parameters.setdefault(name, value)
    reader: Source = configure(source_class, values, f"source {source!r}", **extra_parameters)
    return reader


def _group_labels(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return labels by attribute.

    >>> _group_labels(["field=Computer Science", "country=NO", "country=SE"])
    {'field': ('Computer Science',), 'country': ('NO', 'SE')}
    """
    labels_by_attribute: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, label = (part.strip() for part in text.partition("="))
        if not equals or not name or not label:
            raise ParameterError(
                f"cannot read --where {text!r}: write attribute=label, such as field='Computer Science'"
            )
        labels_by_attribute[name] = (*labels_by_attribute.get(name, ()), label)
    return labels_by_attribute


def suggest(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE] PATH…",
            help=f"Files or folders to read, after their kind where that is not tables: {', '.join(SOURCE_NAMES)}.",
        ),
    ] = None,
    query: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rank by how well cells hold a hidden half of these objects."),
    ] = None,
    splits: Annotated[int, typer.Option(help="So many times another half is hidden.")] = 10,
    min_objects: MinObjects = None,
    sheet: SheetName = None,
    separator: Separators = None,
    set_: Set = None,
    where: ItemsWhere = None,
    strict: Strict = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Look at data and propose the dimensions of its cube: why these, how many cells, and the command that builds."""
    from cube2net.io.bibliography.references import is_reference_file

    words = words or []
    if words and words[0] in SOURCE_NAMES:
        source, paths = words[0], words[1:]
    else:
        source, paths = "references" if all(map(is_reference_file, words)) and words else TABLES, words
    settings = (*(set_ or ()), *_list_table_settings(sheet, separator))
    request = SuggestRequest(source, tuple(map(Path, paths)), settings, tuple(where or ()), strict, seed)
    with shown_progress(quiet) as progress:
        corpus = read_corpus(source, request.paths, request.settings, strict, progress, request.where)
        suggestion = c2n.suggest(corpus, query, min_objects=min_objects, splits=splits, seed=seed, progress=progress)
    if as_json:
        build_code = {"command": request.command(suggestion), "python": request.python(suggestion)}
        show_json({**suggestion.record(), **(build_code if suggestion.dimensions else {})})
    else:
        show_suggestion(request, suggestion)


def _get_unusual_min_objects(suggestion: Suggestion) -> int | None:
    """Return the ``min_objects`` of a suggestion, or None if it is the one of large data."""
    from cube2net.model.dimension import MIN_OBJECTS

    return None if suggestion.min_objects == MIN_OBJECTS else suggestion.min_objects


@dataclass(frozen=True)
class SuggestRequest:
    """The options of the command suggest."""

    source: str
    paths: tuple[Path, ...]
    settings: tuple[str, ...]
    where: tuple[str, ...]
    strict: bool
    seed: int

    def command(self, suggestion: Suggestion) -> str:
        """Return the shell command that builds the cube."""
        words = ["cube2net", "build", self.source, *map(str, self.paths)]
        for spec in suggestion.dimensions:
            words += ["--dimension", str(spec)]
        if min_objects := _get_unusual_min_objects(suggestion):
            words += ["--min-objects", str(min_objects)]
        for setting in self.settings:
            words += ["--set", hide_passwords(setting)]
        for label in self.where:
            words += ["--where", label]
        words += ["--strict"] * self.strict
        if self.seed:
            words += ["--seed", str(self.seed)]
        return shlex.join(words)

    def python(self, suggestion: Suggestion) -> list[str]:
        """Return the lines of Python that build the cube."""
        names = [str(path) for path in self.paths]
        arguments = ", ".join([*map(repr, [self.source, *names]), *self._options()])
        read_call = "c2n.load_bundled()" if self.source == BUNDLED else f"c2n.read_source({arguments})"
        build_arguments = [repr([str(spec) for spec in suggestion.dimensions])]
        if min_objects := _get_unusual_min_objects(suggestion):
            build_arguments.append(f"min_objects={min_objects}")
        if self.seed:
            build_arguments.append(f"seed={self.seed}")
        lines = ["import cube2net as c2n"]
        return [*lines, f"corpus = {read_call}", f"cube = c2n.build(corpus, {', '.join(build_arguments)})"]

    def _options(self) -> list[str]:
        """Return the parameters of the source as Python code."""
        if self.source == BUNDLED:
            return []
        reader = make_source(self.source, self.paths, self.settings, self.strict, self.where)
        names = [*split_settings(self.settings), *["where"] * bool(self.where), *["strict"] * self.strict]
        return [hide_passwords(f"{name}={getattr(reader, name)!r}") for name in dict.fromkeys(names)]


def show_suggestion(request: SuggestRequest, suggestion: Suggestion) -> None:
    """Show the attributes, the proposed dimensions with reasons, and the command that builds the cube."""
    from cube2net.apps.cli.app import render_message

    say(f"looked at {suggestion.looked_at:,} of {suggestion.items:,} items")
    show_table(
        "attributes",
        ("attribute", "is", "values", "filled", "may become"),
        [
            (
                attribute.name,
                attribute.kind,
                f"{attribute.distinct:,}",
                f"{attribute.filled:.0%}",
                str(attribute.dimension or ""),
            )
            for attribute in suggestion.attributes
        ],
        right=("values", "filled"),
    )
    say(*(f"{quote_unsafe(attribute.name)} {attribute.reason}" for attribute in suggestion.attributes))
    if suggestion.dependencies:
        say(f"levels: {join_names(suggestion.dependencies)}")
    say("")
    _show_proposals("each dimension by itself", suggestion.alone)
    if not suggestion.dimensions:
        say(f"nothing to propose: {render_message(suggestion.why)}")
        return
    _show_proposals("together", suggestion.proposals)
    if suggestion.topics is not None:
        found_note = "" if suggestion.query is None else ", and here they were found"
        say(f"topics are counted as if {suggestion.topics} of them were spread evenly over the texts{found_note}")
    say(f"proposed: {join_names(suggestion.dimensions)}: {suggestion.reason}", *suggestion.explanations, "")
    say(request.command(suggestion), "")
    say("in Python:", *(f"  {line}" for line in request.python(suggestion)))


def _show_proposals(title: str, proposals: Sequence[Proposal]) -> None:
    columns = ["dimensions", "cells", "objects in cells", "too small", "giant", "bits"]
    has_together = any(proposal.counts.together is not None for proposal in proposals)
    has_held = any(proposal.held is not None for proposal in proposals)
    rows = [
        (
            " × ".join(map(str, proposal.dimensions)),
            f"{proposal.counts.cells:,}",
            f"{proposal.counts.share:.0%}",
            f"{proposal.counts.dead:,}",
            f"{proposal.counts.giant:,}",
            f"{proposal.counts.bits:.1f}",
            *([_format_percent(proposal.counts.together)] if has_together else []),
            *([str(proposal.held or "")] if has_held else []),
        )
        for proposal in proposals
    ]
    columns += ["no chance"] * has_together + ["hidden half held"] * has_held
    show_table(title, columns, rows, right=columns[1:])


def _format_percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def update(
    cube: CubePath,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH…", help="Files or folders with more items.")
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            metavar="SOURCE",
            help=f"One of {', '.join(SOURCE_NAMES)}; by default the one the cube was built from, with its options.",
            autocompletion=complete_names(*SOURCE_NAMES),
        ),
    ] = "",
    skip_known: Annotated[bool, typer.Option("--skip-known", help="Leave out items that the cube has.")] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Items that the cube has are replaced where they differ, and those that are gone taken out.",
        ),
    ] = False,
    remove: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take out the items whose ids are in this file, one a line.")
    ] = None,
    set_: Set = None,
    strict: Strict = False,
    quiet: Quiet = False,
) -> None:
    """Add items and links to a cube, replace or remove some, as if it had been built so; wholly or not at all."""
    c2n.api.read_manifest(cube)  # a path that is no cube is reported before anything is read
    ids = [] if remove is None else _read_ids(remove)
    corpus = None
    with shown_progress(quiet) as progress:
        if source or paths or set_ or remove is None:
            corpus = _read_new_items(cube, source, paths or [], set_ or [], strict, progress)
        updated_cube, additions = c2n.api.add_items(
            cube, corpus, skip_known=skip_known, replace=replace, remove=ids, progress=progress
        )
    say(f"{cube}: {updated_cube}")
    n_heavier = additions.links.get("heavier", 0)
    links = {what: count for what, count in additions.links.items() if what != "heavier"}
    for title, counts in (("added", additions.totals), ("items", additions.items), ("links", links)):
        if counts and (title != "links" or any(counts.values())):
            say(f"{title}: {', '.join(f'{count:,} {what}' for what, count in counts.items())}")
    if n_heavier:
        say(f"links: {n_heavier:,} existing links got heavier (--replace would replace them)")


def _read_new_items(
    folder: Path, source: str, paths: Sequence[Path], settings: Sequence[str], strict: bool, progress: Progress
) -> Corpus:
    """Return the corpus of more files, read as those of the cube were unless another source is named."""
    cube = c2n.open(folder)
    previous = cube.settings.get("source") or {}
    source = source or previous.get("name", "")
    if not source:
        raise ParameterError("the kind of the files is unknown: add --source, such as --source tables")
    if source == BUNDLED:
        return read_corpus(source, paths, settings, strict, progress)
    previous = previous if source == previous.get("name") else {}
    reader = make_source(source, paths, settings, strict, previous=previous)
    if previous:
        progress.note(f"read as the cube was: {describe_source(previous)}")
    return c2n.api.read_more(cube.objects, reader, *(() if source == SQL else paths), progress=progress)


def describe_source(source: Mapping[str, Any]) -> str:
    """Return the source of a cube and its parameters in one line.

    >>> describe_source({"name": "tables", "columns": {"links.source": "from"}, "directed": True})
    "tables, columns links.source='from', directed"
    """
    parts = [str(source["name"])]
    for name, value in source.items():
        if isinstance(value, Mapping) and name != c2n.api.READING:
            parts.append(f"{name} {', '.join(f'{key}={item!r}' for key, item in value.items())}")
        elif name not in ("name", c2n.api.READING):
            parts.append(name if value is True else f"{name} {value!r}")
    return ", ".join(parts)


def _read_ids(path: Path) -> list[str]:
    """Return the ids in a file, one a line."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ParameterError(f"{str(path)!r} is no text in UTF-8, expected the ids of items, one a line") from None
    return [line.strip() for line in lines if line.strip()]


def task(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="yelp or movies.", autocompletion=complete_names("yelp", "movies"))
    ],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files or folders to read.")],
    name: Annotated[str, typer.Option(help="yelp: ilkid or nvout; movies: scifi00 or drama10.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for cube/, query.csv and hidden.csv.")] = Path(
        "task"
    ),
    topics: Annotated[int, typer.Option(help="How many topics to find in the texts.")] = 50,
    spreadsheet_safe: SpreadsheetSafe = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a task of link prediction: a cube without the latest links of a query, which are to be found again."""
    from cube2net.api.checkpoints import checkpoint_folder
    from cube2net.topics.lda import Lda

    RESUMABLE_PATHS.append(checkpoint_folder(out / "cube"))
    with shown_progress(quiet) as progress:
        data = c2n.api.read_task(source, *paths, name=name, seed=seed, progress=progress)
        cube = c2n.api.build_task(
            data,
            out,
            spreadsheet_safe=spreadsheet_safe,
            topics=Lda(count=topics),
            seed=seed,
            progress=progress,
        )
    warn_of_formulas([out / "query.csv", out / "hidden.csv"])
    say(f"{out}: {cube}")
    task_paths = [shlex.quote(str(out / part)) for part in ("cube", "query.csv", "hidden.csv")]
    say(f"cube2net compare {task_paths[0]} --query {task_paths[1]} --task links --hidden {task_paths[2]}")
