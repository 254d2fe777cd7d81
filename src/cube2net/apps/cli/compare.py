"""The command that judges whether networks help: compare."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cube2net as c2n
from cube2net.apps.cli.options import (
    EMBEDDING_NAMES,
    RECOMMENDER_NAMES,
    TASK_NAMES,
    AsJson,
    Between,
    CubePath,
    Kind,
    QueryFile,
    Quiet,
    RollUp,
    Seed,
    SkipMissing,
    SpreadsheetSafe,
    Where,
    check_safe,
    complete_levels,
    complete_list,
    complete_names,
    warn_of_formulas,
)
from cube2net.apps.cli.output import RESUMABLE_PATHS, say, show_json, show_table, shown_progress
from cube2net.apps.cli.query import apply_view, show_files, show_view
from cube2net.errors import ParameterError
from cube2net.options import FORMS, MEMBERSHIP_WEIGHTS, METHOD_NAMES, OBJECTIVE_NAMES

if TYPE_CHECKING:
    from cube2net.model.comparison import Comparison


def compare(
    cube: CubePath,
    query: QueryFile,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Next step: clustering (compared with labels), hidden (predict hidden links of the query) or links "
            "(predict the links of --hidden). Default: clustering if there are labels, otherwise hidden.",
            autocompletion=complete_names(*TASK_NAMES),
        ),
    ] = None,
    hidden: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="For links: a CSV file source,target of links that the cube does not contain."
        ),
    ] = None,
    users: Annotated[
        str, typer.Option(metavar="KIND", help="For links: the kind of objects for which links are predicted.")
    ] = "user",
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"Separated by commas: {', '.join(METHOD_NAMES)}, hops 2, cube2net paper. Default: all but the last.",
            autocompletion=complete_list(*METHOD_NAMES),
        ),
    ] = None,
    objectives: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Separated by commas. Default: cover, jaccard, coverage and linked.",
            autocompletion=complete_list(*OBJECTIVE_NAMES),
        ),
    ] = None,
    forms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"Separated by commas: {', '.join(FORMS)}. Default: all.",
            autocompletion=complete_list(*FORMS),
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Cells to choose from: full, one, or names of levels; may be repeated.",
            autocompletion=complete_levels,
        ),
    ] = None,
    n_neighbors: Annotated[
        list[int] | None, typer.Option(help="Number of neighbours (form hybrid); may be repeated.")
    ] = None,
    membership_weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"Separated by commas: {', '.join(MEMBERSHIP_WEIGHTS)}. Default: even.",
            autocompletion=complete_list(*MEMBERSHIP_WEIGHTS),
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"For clustering and hidden: {', '.join(EMBEDDING_NAMES)}; default: all. For links: "
            f"{', '.join(RECOMMENDER_NAMES)}; default: popularity, softimpute and ease.",
            autocompletion=complete_list(*EMBEDDING_NAMES, *RECOMMENDER_NAMES),
        ),
    ] = None,
    n_cells: Annotated[
        list[int] | None,
        typer.Option(help="Maximum number of cells; default: as many as are useful (cover), or 20; may be repeated."),
    ] = None,
    runs: Annotated[int, typer.Option(help="Number of runs; each run uses the same seed for all networks.")] = 10,
    as_large: Annotated[
        bool,
        typer.Option(help="Whether to add PageRank and hops with as many nodes as each network of cells."),
    ] = True,
    baselines: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Baselines with as many nodes as each network of cells: pagerank, hops, or both.",
            autocompletion=complete_list("pagerank", "hops"),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder for a report; an interrupted comparison in this folder is continued."
        ),
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    workers: Annotated[int, typer.Option(help="Number of networks processed in parallel; 0 means one per core.")] = 0,
    where: Where = None,
    roll_up: RollUp = None,
    between: Between = None,
    kind: Kind = None,
    skip_missing: SkipMissing = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Test whether a network helps the next step, with or without labels, over paired runs.

    By default, the network that query makes is compared with two variants of it, the paper's form, and PageRank and
    hops of the same sizes. If methods, objectives, forms, levels or numbers are given, all their combinations are
    compared.
    """
    from cube2net.api.compare import JOURNAL, results

    view = apply_view(c2n.open(cube), where, roll_up, between, kind)
    check_safe(out, spreadsheet_safe, "--out FOLDER")
    if hidden is not None and task not in (None, "links"):
        raise ParameterError(f"--hidden is for the task 'links', and the task is {task!r}")
    if out is not None:
        RESUMABLE_PATHS.append(out / JOURNAL)
        c2n.api.check_report()
    name_lists = {
        "methods": methods,
        "objectives": objectives,
        "forms": forms,
        "models": models,
        "baselines": baselines,
    }
    name_lists["membership_weights"] = membership_weights
    named_options: dict[str, Any] = {name: split_names(name, texts) for name, texts in name_lists.items() if texts}
    files: list[Path] = []
    with shown_progress(quiet) as progress:
        query_objects = c2n.read_query(view, query, skip_missing=skip_missing)
        comparison = c2n.api.compare_by_name(
            view,
            query_objects,
            task or ("links" if hidden is not None else c2n.api.choose_task(query_objects)),
            runs=runs,
            seed=seed,
            out=out,
            hidden=None if hidden is None else c2n.api.read_links(view, hidden),
            users=users,
            levels=levels or None,
            n_neighbors=n_neighbors or None,
            n_cells=n_cells or None,
            as_large=as_large,
            workers=workers,
            progress=progress,
            **named_options,
        )
        if out is not None:
            progress("writing the report", 0, None)
            command = shlex.join(["cube2net", *sys.argv[1:]])
            files = comparison.write_report(
                out, view, query_objects, command=command, spreadsheet_safe=spreadsheet_safe
            )
    warn_of_formulas(files)
    if as_json:
        show_json(results(comparison))
    else:
        show_view(view)
        show_comparison(comparison)
        show_files(files)


MAX_SHOWN_NETWORKS = 12


def split_names(parameter: str, texts: Sequence[str]) -> list[str]:
    """Return the names of a parameter, each text several with commas; texts without any name are refused.

    >>> split_names("methods", ["greedy,hops 2", "none"])
    ['greedy', 'hops 2', 'none']
    """
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if not names:
        option = parameter.replace("_", "-")
        raise ParameterError(f"--{option} is {texts[0]!r}, expected one or more names with commas")
    return names


def show_comparison(comparison: Comparison) -> None:
    """Show the verdict, and the configurations that come nearest to it."""
    verdict = comparison.verdict()
    has_several_sizes = len({config.n_cells for config in comparison.configurations if config.n_cells}) > 1
    say(verdict.sentence, "")
    rows = [("the query alone", *_format_scores(comparison, verdict.alone), "–", "–", "–")]
    rows += [
        (
            difference.one.method
            if difference.one.like
            else difference.one.name
            if has_several_sizes
            else difference.one.title,
            *_format_scores(comparison, result),
            f"{difference.mean:+.3f}",
            "–" if math.isnan(difference.low) else f"[{difference.low:+.3f}, {difference.high:+.3f}]",
            _format_p_value(difference.p_value),
        )
        for result, difference in zip(verdict.results[1 : MAX_SHOWN_NETWORKS + 1], verdict.differences, strict=False)
    ]
    measures, count = comparison.main_measures, len(verdict.differences)
    columns = ("network", "nodes", *measures, f"{measures[0]} difference", "95 % interval", "p")
    title = "the best of the networks tried; differences are to the query alone"
    show_table(title + (f", corrected for {count:,}" if count > 1 else ""), columns, rows, right=columns[1:])
    if len(verdict.differences) > MAX_SHOWN_NETWORKS:
        say(f"and {len(verdict.differences) - MAX_SHOWN_NETWORKS:,} others; a report has them all (--out)")
    for note in verdict.notes.values():
        if note not in verdict.sentence:
            say(note)
    for config in comparison.configurations:
        for reason in comparison.reasons(config)[:1]:
            say(f"{config.name}: {reason}")


def _format_scores(comparison: Comparison, result: Any) -> list[str]:
    """Return the nodes of a network and the means of its main measures."""
    means = (result.score, result.nmi)
    return [f"{result.nodes:,.0f}", *(f"{mean:.3f}" for mean in means[: len(comparison.main_measures)])]


def _format_p_value(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"
