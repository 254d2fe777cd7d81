"""What the commands do, between the texts of a command line and the functions of the pipeline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cube2net import pipeline
from cube2net.errors import ParameterError, SourceError, unknown
from cube2net.interfaces import Progress
from cube2net.parameters import configured, fields_of, split_settings
from cube2net.records import Comparison, Corpus, Cube, DimensionSpec, Network, Setup
from cube2net.terminal import say, show_table

# So many networks of a comparison are shown; a report has all.
SHOWN = 12


def build(
    source: str,
    paths: Sequence[Path],
    out: Path,
    *,
    dimensions: Sequence[str] | None,
    topics: int,
    topic_groups: int | None,
    min_objects: int,
    max_mentions: int,
    settings: Sequence[str],
    strict: bool,
    seed: int,
    progress: Progress | None,
) -> Cube:
    """Return the cube built from files of one kind and saved in a folder."""
    corpus = read(source, paths, settings, strict, progress)
    wanted = [DimensionSpec.parse(text) for text in dimensions] if dimensions else list(corpus.dimensions)
    if topic_groups is not None:
        wanted = [replace(spec, parent="topic group") if spec.attribute == "topic" else spec for spec in wanted]
    return pipeline.build_cube(
        corpus,
        wanted,
        topics=configured(
            pipeline.TOPIC_MODELS["lda"], {"count": str(topics), "groups": str(topic_groups)}, "topic model 'lda'"
        ),
        min_objects=min_objects,
        max_mentions=max_mentions,
        out=out,
        seed=seed,
        progress=progress,
    )


def read(
    source: str, paths: Sequence[Path], settings: Sequence[str], strict: bool, progress: Progress | None
) -> Corpus:
    """Return the corpus of files of one kind; the bundled one needs no files."""
    if source == "bundled":
        if paths or settings:
            raise ParameterError(f"the bundled data takes no path and no --set, got {str([*paths, *settings][0])!r}")
        return pipeline.load_bundled()
    if source not in pipeline.SOURCES:
        raise unknown("source", source, [*pipeline.SOURCES, "bundled"])
    given = split_settings(settings)
    if not paths and not given:
        raise SourceError(f"source {source!r} needs a path to read")
    if strict:
        given["strict"] = "true"
    reader = configured(pipeline.SOURCES[source], given, f"source {source!r}")
    return pipeline.read_source(reader, *paths, progress=progress)


def view(cube: Cube, where: Sequence[str], rolled: Sequence[str]) -> Cube:
    """Return the cube rolled up in some dimensions, and then only the cells with some labels."""
    wanted: dict[str, list[str]] = {}
    for text in where:
        dimension, equals, label = text.partition("=")
        if not equals:
            raise ParameterError(f"cannot read the condition {text!r}: write dimension=label")
        wanted.setdefault(dimension, []).append(label)
    return pipeline.view_cube(cube, roll_up=rolled, where=wanted)


def answer(
    cube: Cube,
    path: Path,
    method: str,
    objective: str,
    *,
    settings: Sequence[str],
    shortcuts: Mapping[str, object],
    skip_missing: bool,
    **options: Any,
) -> Network:
    """Return the network of a query file; settings that the method does not know are the objective's.

    ``shortcuts`` are parameters of the method that have an option of their own, None where it was not used.
    """
    kinds = methods()
    if method not in kinds:
        raise unknown("method", method, kinds)
    if objective not in pipeline.OBJECTIVES:
        raise unknown("objective", objective, pipeline.OBJECTIVES)
    given = split_settings(settings)
    of_objective = set(fields_of(pipeline.OBJECTIVES[objective])) - set(fields_of(kinds[method]))
    worth = {name: text for name, text in given.items() if name in of_objective}
    chosen = {name: text for name, text in given.items() if name not in of_objective}
    for name, value in shortcuts.items():
        if value is not None:
            _check_shortcut(name, method, given)
            chosen[name] = str(value)
    return pipeline.construct(
        cube,
        pipeline.read_query(cube, path, skip_missing=skip_missing),
        configured(kinds[method], chosen, f"method {method!r}"),
        objective=configured(pipeline.OBJECTIVES[objective], worth, f"objective {objective!r}") if worth else objective,
        **options,
    )


def methods() -> dict[str, Any]:
    """Return all methods by name, and the one that chooses among them."""
    return {**pipeline.METHODS, "auto": pipeline.Auto}


def takes_long(method: str) -> bool:
    """Return whether a method tells its progress."""
    return method == "auto" or hasattr(methods().get(method), "with_progress")


def _check_shortcut(name: str, method: str, given: Mapping[str, str]) -> None:
    takers = [other for other, kind in methods().items() if name in fields_of(kind)]
    if method not in takers:
        ending = f"choose one of {', '.join(takers)}" if takers else "no method does"
        raise ParameterError(f"method {method!r} takes no --{name}: {ending}")
    if name in given:
        raise ParameterError(f"{name} is given twice, by --{name} and by --set {name}={given[name]}")


def about(folder: Path) -> dict[str, Any]:
    """Return what there is to know of a cube on disk."""
    cube = pipeline.open_cube(folder)
    manifest = pipeline.read_manifest(folder)
    settings = manifest["settings"]
    sizes = cube.cells.members.sizes
    largest = np.argsort(-sizes, kind="stable")[:5].tolist()
    return {
        "cube": str(folder),
        "format": manifest["format"],
        "bytes": sum(file["bytes"] for file in manifest["files"].values()),
        "dimensions": [
            {"name": level.name, "labels": len(level.labels), "level_above": depth > 0, "examples": level.labels[:3]}
            for dimension in cube.dimensions
            for depth, level in enumerate(dimension.levels)
        ],
        "items": settings.get("items"),
        **manifest["counts"],
        "objects_in_cells": int((cube.homes.sizes > 0).sum()),
        "largest_cells": [{"labels": cube.cell(cell), "objects": int(sizes[cell])} for cell in largest],
        "dropped": settings.get("dropped", {}),
        "no_direction": {name: list(labels) for name, labels in pipeline.embed_cells(cube).blank.items() if labels},
        "topic_words": _topic_words(cube),
        "settings": {
            name: settings.get(name) for name in ("dimensions", "min_objects", "max_mentions", "seed", "engine")
        },
        "topics": settings.get("topics"),
        "attribution": settings.get("attribution", ""),
    }


def _topic_words(cube: Cube, most: int = 6) -> dict[str, list[str]]:
    words: dict[str, list[str]] = {}
    if cube.topic_words is not None:
        for topic, term in zip(*(cube.topic_words[name].to_pylist() for name in ("topic", "term")), strict=True):
            words.setdefault(topic, []).append(term)
    return {topic: terms[:most] for topic, terms in words.items()}


def show_homeless(cube: Cube, min_objects: int) -> None:
    """Say how many objects are in no cell, where that is more than one in ten."""
    homeless = int((cube.homes.sizes == 0).sum())
    if homeless * 10 > len(cube.objects):
        say(
            f"{homeless:,} of {len(cube.objects):,} objects are in no cell, for a cell needs {min_objects} objects: "
            "fewer dimensions, coarser labels or a smaller --min-objects would bring more in"
        )


def show_about(about: dict[str, Any]) -> None:
    """Show a cube."""
    say(f"{about['cube']}: cube format {about['format']}, {about['bytes'] / 1e6:,.2f} MB")
    show_table(
        "dimensions",
        ("dimension", "labels", "for example"),
        [
            ("  ↑ " * entry["level_above"] + entry["name"], f"{entry['labels']:,}", ", ".join(entry["examples"]))
            for entry in about["dimensions"]
        ],
        right=("labels",),
    )
    counts = ("items", "objects", "objects_in_cells", "cells", "members", "links")
    show_table(
        "counts",
        ("what", "how many"),
        [(name.replace("_", " "), f"{about[name]:,}") for name in counts if about[name] is not None],
        right=("how many",),
    )
    show_table(
        "largest cells",
        ("cell", "objects"),
        [(" · ".join(cell["labels"]), f"{cell['objects']:,}") for cell in about["largest_cells"]],
        right=("objects",),
    )
    dropped = [(reason, f"{count:,}") for reason, count in about["dropped"].items()]
    show_table("left out", ("reason", "how many"), dropped or [("nothing", "0")], right=("how many",))
    for name, labels in about["no_direction"].items():
        say(f"labels of {name} that word vectors do not know (see docs/vectors.md): {', '.join(labels)}", "")
    say(*(f"{name}: {value}" for name, value in about["settings"].items()))
    if about["attribution"]:
        say(f"data: {about['attribution']}")
    if about["topics"]:
        say(f"topics by {', '.join(f'{name} {value}' for name, value in about['topics'].items())}", "")
    if about["topic_words"]:
        rows = [(topic, ", ".join(words)) for topic, words in about["topic_words"].items()]
        show_table("topics", ("topic", "heaviest terms"), rows)


def show_network(network: Network) -> None:
    """Show the chosen cells of a network and its size."""
    about = pipeline.summary(network)
    if about["cells"]:
        rows = [
            (
                rank,
                *cell["labels"].values(),
                f"{cell['gain']:+.4f}",
                f"{cell['objects']:,}",
                f"{cell['query_objects']:,}",
            )
            for rank, cell in enumerate(about["cells"], start=1)
        ]
        numbers = ("gain", "objects", "of the query")
        columns = ("rank", *network.dimensions, *numbers)
        show_table(f"cells chosen by {about['method']}", columns, rows, right=("rank", *numbers))
        if len(rows) < about["m"] and not about["note"]:
            say(f"{len(rows)} cells, of {about['m']} at most")
    worth = "" if about["value"] is None else f", {about['objective']} {about['value']:.4f}"
    say(f"{network}{worth}")
    if about["bound"] is not None:
        say(certificate(about["bound"], about["gap"], about["proven"]))
    if about["note"]:
        say(about["note"])
    if about["tried"]:
        rows = [
            (entry["setup"], f"{entry['F1']:.3f}", f"{entry['runs']}", f"{entry['nodes']:,}")
            if "F1" in entry
            else (entry["setup"], "–", "0", entry["reason"])
            for entry in about["tried"]
        ]
        show_table("what was tried", ("network", "F1", "runs", "nodes"), rows, right=("F1", "runs", "nodes"))
    if about["left_out"]:
        say(f"{about['left_out']:,} objects without a link to the network are left out (--keep all keeps them)")
    if network.query.missing:
        some = ", ".join(map(repr, network.query.missing[:3]))
        say(f"left out, being unknown or the name of several objects: {len(network.query.missing):,} ({some}, …)")


def compare(
    cube: Cube,
    path: Path,
    *,
    hidden: Path | None,
    methods: Sequence[str] | None,
    objectives: Sequence[str] | None,
    forms: Sequence[str] | None,
    out: Path | None,
    skip_missing: bool,
    command: str,
    **options: Any,
) -> tuple[Comparison, list[Path]]:
    """Return the comparison of methods on a query file, and the files of its report where a folder is given."""
    query = pipeline.read_query(cube, path, skip_missing=skip_missing)
    given = {"methods": methods, "objectives": objectives, "forms": forms}
    lists: dict[str, Any] = {name: listed(name, texts) for name, texts in given.items()}
    comparison = pipeline.compare(
        cube,
        query,
        hidden=None if hidden is None else pipeline.read_links(cube, hidden),
        out=out,
        **{name: names for name, names in lists.items() if names},
        **options,
    )
    files = [] if out is None else pipeline.write_report(cube, query, comparison, out, command=command)
    return comparison, files


def split(texts: Sequence[str] | None) -> list[str]:
    """Return names that were written with commas, or one by one.

    >>> split(["greedy,hops 2", "none"])
    ['greedy', 'hops 2', 'none']
    """
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def listed(option: str, texts: Sequence[str] | None) -> list[str]:
    """Return the names that an option gives, none where it was not used; one without any name is refused."""
    names = split(texts)
    if texts and not names:
        raise ParameterError(f"--{option} is {texts[0]!r}, expected one or more names with commas")
    return names


def miners(task: str, embeddings: Sequence[str] | None, recommenders: Sequence[str] | None) -> list[str] | None:
    """Return the miners asked for; those of the other task are refused."""
    given = {"clustering": ("embeddings", embeddings), "links": ("recommenders", recommenders)}
    names = {other: listed(option, texts) for other, (option, texts) in given.items()}
    if task not in given:
        return None
    for other, (option, _) in given.items():
        if names[other] and task != other:
            raise ParameterError(f"--{option} is for the task {other!r}, and the task is {task!r}")
    return names[task] or None


def task(
    source: str,
    paths: Sequence[Path],
    name: str,
    out: Path,
    *,
    topics: int,
    seed: int,
    progress: Progress | None,
) -> Cube:
    """Return the cube of a task of link prediction, saved with the task in a folder."""
    made = pipeline.read_task(source, *paths, name=name, seed=seed, progress=progress)
    model = configured(pipeline.TOPIC_MODELS["lda"], {"count": str(topics)}, "topic model 'lda'")
    return pipeline.build_task(made, out, topics=model, seed=seed, progress=progress)


def told(comparison: Comparison) -> dict[str, Any]:
    """Return the verdict on a comparison as JSON can carry it."""
    return pipeline.results(comparison)


def show_comparison(comparison: Comparison) -> None:
    """Show the verdict, and the setups that come nearest to it."""
    said = pipeline.judge(comparison)
    several = len({setup.m for setup in comparison.setups if setup.m}) > 1
    say(said.sentence, "")
    rows = [
        (
            found.one.method if found.one.like else found.one.name if several else found.one.title,
            _sizes(comparison, found.one),
            f"{found.mean:+.3f}",
            f"[{found.low:+.3f}, {found.high:+.3f}]",
            _p_value(found.t_test),
            "yes" if found.sure else "no",
        )
        for found in said.differences[:SHOWN]
    ]
    columns = ("network", "nodes", f"{comparison.measures[0]} over the query alone", "95 % interval", "p", "sure")
    show_table("the best of the networks tried", columns, rows, right=columns[1:-1])
    if len(said.differences) > SHOWN:
        say(f"and {len(said.differences) - SHOWN:,} others; a report has them all (--out)")
    for setup in comparison.setups:
        for reason in comparison.reasons(setup)[:1]:
            say(f"{setup.name}: {reason}")


def _sizes(comparison: Comparison, setup: Setup) -> str:
    nodes = comparison.nodes(setup)
    return "–" if math.isnan(nodes) else f"{nodes:,.0f}"


def _p_value(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def certificate(bound: float, gap: float, proven: bool) -> str:
    """Return the sentence for an upper bound; its numbers are rounded up, so that they stay true.

    >>> certificate(0.12341, 0.0228, False)
    'at most 0.1235 is possible: within 2.3 % of the best'
    >>> certificate(0.1234, 0.0, True)
    'proven best: no choice within the limits is worth more'
    """
    if proven:
        return "proven best: no choice within the limits is worth more"
    most, share = math.ceil(bound * 1e4 - 1e-6) / 1e4, math.ceil(gap * 1e3 - 1e-6) / 10
    return f"at most {most:.4f} is possible" + (f": within {max(share, 0.1):.1f} % of the best" if share < 100 else "")
