"""The command line: one command for one function of the pipeline."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cube2net.cli.signals import INTERRUPTED, Signals
from cube2net.cli.terminal import (
    LEFT,
    UndeliveredError,
    complain,
    guarded_streams,
    line,
    say,
    show_json,
    shown_progress,
)
from cube2net.errors import Cube2netError, quoted

if TYPE_CHECKING:
    from cube2net.records import Cube

METHOD_NAMES = ("none", "hops", "pagerank", "steiner", "maxdisc", "random", "greedy", "anneal", "exact", "cube2net")
OBJECTIVE_NAMES = ("jaccard", "fbeta", "precision", "coverage", "linked", "cover")
MEMBERSHIP_NAMES = ("unit", "share", "even", "need")
EMBEDDING_NAMES = ("deepwalk", "node2vec", "line")
RECOMMENDER_NAMES = ("popularity", "itemknn", "softimpute", "als", "ease")
FORM_NAMES = ("objects", "cells", "both", "woven")
TASK_NAMES = ("clustering", "links", "hidden")
SOURCE_NAMES = ("tables", "acl", "aminer", "dblp", "yelp", "movies", "bundled")

app = typer.Typer(
    name="cube2net",
    help="Small networks around the objects you care about, chosen from a data cube.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

CubePath = Annotated[Path, typer.Argument(metavar="CUBE", help="Folder of a cube.")]
# What an interrupted command goes on from, where it is there.
KEPT: list[Path] = []
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same answer.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of source, method or objective; may be repeated."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="DIMENSION=LABEL", help="Only cells with this label; may be repeated."),
]
RollUp = Annotated[list[str] | None, typer.Option(metavar="DIMENSION", help="Use the level above; may be repeated.")]
SkipMissing = Annotated[bool, typer.Option("--skip-missing", help="Go on without names that are not in the cube.")]
SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe",
        help="In CSV files, put ' before names that spreadsheets would run as formulas: =, +, - or @ first.",
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        from cube2net import __version__

        say(f"cube2net {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the cube, the network and the pictures.")] = Path("demo-out"),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Build the cube of the bundled papers, make the network of 574 authors, and judge whether it helps."""
    from cube2net.cli.demo import run

    with shown_progress(quiet) as progress:
        run(out, seed=seed, progress=progress)


@app.command()
def build(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help=f"One of {', '.join(SOURCE_NAMES)}.")],
    paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH…", help="Files or folders to read.")] = None,
    out: Annotated[Path, typer.Option(metavar="CUBE", help="Folder of the cube to write.")] = Path("cube"),
    dimension: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=ATTRIBUTE][@BINS][/PARENT]",
            help="A dimension, such as decade=year@decades or city/state; may be repeated. Odd names go in quotes. "
            "Without any, those that the source proposes.",
        ),
    ] = None,
    topics: Annotated[int, typer.Option(help="How many topics to find in the texts.")] = 100,
    topic_groups: Annotated[
        int | None, typer.Option(help="Put the topics under this many parents, for --roll-up topic.")
    ] = None,
    topic_model: Annotated[
        str, typer.Option(metavar="NAME", help="What finds them: lda, or spark-lda with --engine spark.")
    ] = "lda",
    min_objects: Annotated[int, typer.Option(help="Leave out cells with fewer objects.")] = 10,
    max_mentions: Annotated[int, typer.Option(help="An item with more objects makes no links.")] = 50,
    items: Annotated[
        bool, typer.Option("--items/--no-items", help="Keep which items mention what: some can be taken out later.")
    ] = True,
    set_: Set = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")] = False,
    engine: Annotated[str, typer.Option(metavar="NAME", help="What runs the statements: duckdb or spark.")] = "duckdb",
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
    """Read raw data and write its cube to a folder, which appears whole or not at all.

    A build that is cut off keeps what it has finished, hidden beside the cube, and the same command goes on from there.
    """
    from cube2net.checkpoints import checkpoints_of
    from cube2net.cli import building

    KEPT.append(checkpoints_of(out))
    there = out.exists()
    with shown_progress(quiet) as progress:
        cube = building.build(
            source,
            paths or [],
            out,
            dimensions=dimension or None,
            topics=topics,
            topic_groups=topic_groups,
            topic_model=topic_model,
            min_objects=min_objects,
            max_mentions=max_mentions,
            items=items,
            settings=set_ or [],
            strict=strict,
            engine=engine,
            memory=memory,
            master=master,
            staging=staging,
            spark=spark or [],
            seed=seed,
            progress=progress,
        )
    say(f"{out}: {cube}")
    if there:
        say("it has taken the place of the cube that was there")
    building.show_homeless(cube, min_objects)


@app.command()
def info(cube: CubePath, as_json: AsJson = False) -> None:
    """Show a cube's dimensions, cells, links and sizes, and what was dropped and why."""
    from cube2net.cli import building

    about = building.about(cube)
    if as_json:
        show_json(about)
    else:
        building.show_about(about)


@app.command()
def update(
    cube: CubePath,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files or folders with more items.")],
    source: Annotated[str, typer.Option(metavar="SOURCE", help=f"One of {', '.join(SOURCE_NAMES)}.")],
    skip_known: Annotated[bool, typer.Option("--skip-known", help="Leave out items that the cube has.")] = False,
    set_: Set = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")] = False,
    quiet: Quiet = False,
) -> None:
    """Add items and links to a cube, as if it had been built of all of them; wholly or not at all."""
    from cube2net.cli import building

    with shown_progress(quiet) as progress:
        grown, added = building.update(
            cube, source, paths, settings=set_ or [], strict=strict, skip_known=skip_known, progress=progress
        )
    say(f"{cube}: {grown}")
    say(f"added: {', '.join(f'{count:,} {what}' for what, count in added.items())}")


@app.command()
def verify(cube: CubePath) -> None:
    """Check every byte of a cube against its manifest."""
    from cube2net.pipeline import verify_cube

    with shown_progress():
        files = verify_cube(cube)
    say(f"{cube}: {files} files, all as they were written")


@app.command()
def query(
    cube: CubePath,
    query: Annotated[
        Path, typer.Option("--query", metavar="FILE", help="Names, one a line, or a CSV with object[,label].")
    ],
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"One of {', '.join(METHOD_NAMES)}; or auto: several are tried. Without, greedy."
        ),
    ] = None,
    m: Annotated[
        int | None,
        typer.Option("-m", help="How many cells at most. Without, as many as serve the query (cover), or 20."),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"One of {', '.join(OBJECTIVE_NAMES)}. Without, cover (of greedy and exact, forms woven and cells) "
            "or jaccard.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Nodes beside the query: woven (cells and the objects nearest by links), cells, objects (all those of "
            "the cells: the paper's), or both. Without, woven for methods that choose cells.",
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Which cells: full, one (one label each), or the levels that stay, as venue,topic; may be repeated.",
        ),
    ] = None,
    near: Annotated[
        int | None, typer.Option(help="Form woven: how many objects nearest by links. Without, as many as the query.")
    ] = None,
    near_weight: Annotated[
        float | None,
        typer.Option(help="Form woven: multiplies links for each end outside the query. Without, by need."),
    ] = None,
    membership: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"What links of objects to cells weigh: {', '.join(MEMBERSHIP_NAMES)}. Without, need."
        ),
    ] = None,
    trust: Annotated[
        float | None,
        typer.Option(help="How much cells count against links, up to 1. Without, as far as the two agree."),
    ] = None,
    max_nodes: Annotated[int | None, typer.Option(help="At most this many nodes.")] = None,
    max_links: Annotated[int | None, typer.Option(help="At most this many links (form objects).")] = None,
    best_prefix: Annotated[bool, typer.Option("--best-prefix", help="Stop where the objective is highest.")] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="Objects brought that stay: all, or linked to the network (the default of objective linked).",
        ),
    ] = None,
    bound: Annotated[bool, typer.Option("--bound", help="Also find how much better any choice could be.")] = False,
    seconds: Annotated[float | None, typer.Option(help="How long the method may search.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The method's parameters by one name: paper is the paper's, of cube2net."),
    ] = None,
    device: Annotated[str | None, typer.Option(metavar="NAME", help="Where the method computes, such as cuda.")] = None,
    set_: Set = None,
    where: Where = None,
    roll_up: RollUp = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the network: .graphml .gexf .csv .parquet .npz .json.")
    ] = None,
    draw: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the network: .png .svg .pdf.")] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    skip_missing: SkipMissing = False,
    show_missing: Annotated[
        bool,
        typer.Option(
            "--show-missing",
            help="List the names that are not in the cube or that several objects bear, and stop; status 1 if there "
            "are any.",
        ),
    ] = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make the network around the objects of a query; without options, the one that helps the next step."""
    from cube2net.cli import answering, tables
    from cube2net.pipeline import check_outputs, draw_network, missing_names, summary, write_network

    tables.check_safe(out, spreadsheet_safe, "--out network.csv")
    check_outputs(out, draw, spreadsheet_safe=spreadsheet_safe)
    opened = answering.view(_opened(cube), where or [], roll_up or [])
    if show_missing:
        missing = missing_names(opened, query)
        if as_json:
            show_json({"missing": list(missing)})
        elif missing:
            say(*missing)
        raise typer.Exit(1 if missing else 0)
    with shown_progress(quiet or as_json) as progress:
        network = answering.answer(
            opened,
            query,
            method,
            objective,
            settings=set_ or [],
            shortcuts={"seconds": seconds, "preset": preset, "device": device},
            skip_missing=skip_missing,
            m=m,
            form=form,
            levels=answering.levels(levels),
            seed=seed,
            max_nodes=max_nodes,
            max_links=max_links,
            prefix="best" if best_prefix else "all",
            keep=keep,
            membership=membership,
            near=near,
            near_weight=near_weight,
            trust=trust,
            bound=bound,
            progress=progress,
        )
        written = write_network(network, out, spreadsheet_safe=spreadsheet_safe) if out is not None else []
        tables.warn_of_formulas(written)
        if draw is not None:
            progress("drawing", 0, None)
            draw_network(network, draw, seed=seed)
            written.append(draw)
    if as_json:
        show_json(summary(network))
    else:
        answering.show_network(network)
        for path in written:
            say(f"wrote {path}")


@app.command()
def compare(
    cube: CubePath,
    query: Annotated[
        Path, typer.Option("--query", metavar="FILE", help="Names, one a line, or a CSV with object[,label].")
    ],
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The next step: clustering (judged by labels), hidden (links of the query found again) or links "
            "(those of --hidden found again). Without, clustering where there are labels, and else hidden.",
        ),
    ] = None,
    hidden: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="For links: a CSV with source,target: links that the cube was built without."
        ),
    ] = None,
    users: Annotated[str, typer.Option(metavar="KIND", help="For links: the kind of objects that get them.")] = "user",
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"Several with commas: {', '.join(METHOD_NAMES)}, hops 2, cube2net paper. Without, all but the last.",
        ),
    ] = None,
    objectives: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Several with commas. Without, cover, jaccard, coverage and linked."),
    ] = None,
    forms: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help=f"Several with commas: {', '.join(FORM_NAMES)}. Without, all."),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Which cells: full, one, or levels that stay; may be repeated."),
    ] = None,
    near: Annotated[list[int] | None, typer.Option(help="How many near objects (form woven); may be repeated.")] = None,
    membership: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help=f"Several with commas: {', '.join(MEMBERSHIP_NAMES)}. Without, need."),
    ] = None,
    embeddings: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help=f"For clustering and hidden: {', '.join(EMBEDDING_NAMES)}. Without, all."),
    ] = None,
    recommenders: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help=f"For links: {', '.join(RECOMMENDER_NAMES)}. Without, popularity, softimpute and ease.",
        ),
    ] = None,
    m: Annotated[
        list[int] | None,
        typer.Option("-m", help="How many cells; without a number sized by the query (cover) or 20; may be repeated."),
    ] = None,
    runs: Annotated[int, typer.Option(help="How many runs, each with a seed of its own, the same for all.")] = 10,
    as_large: Annotated[
        bool,
        typer.Option(help="Also PageRank and hops with as many nodes as every choice of cells has."),
    ] = True,
    rivals: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Which of PageRank and hops are made as large: pagerank, hops, or both."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a report there; what was interrupted there goes on."),
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    workers: Annotated[int, typer.Option(help="How many networks to mine at a time; 0 is one a core.")] = 0,
    where: Where = None,
    roll_up: RollUp = None,
    skip_missing: SkipMissing = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Tell whether a network helps the next step, by labels or without, with paired runs.

    Without names of methods, objectives, forms, levels or numbers the list is short: the network that query makes, two
    variants of it, the paper's form, and PageRank and hops as large as each.
    """
    from cube2net.cli import answering, comparing, tables
    from cube2net.pipeline.comparing import JOURNAL

    opened = answering.view(_opened(cube), where or [], roll_up or [])
    tables.check_safe(out, spreadsheet_safe, "--out FOLDER")
    if out is not None:
        KEPT.append(out / JOURNAL)
    with shown_progress(quiet) as progress:
        comparison, files = comparing.compare(
            opened,
            query,
            task=task,
            hidden=hidden,
            users=users,
            methods=methods,
            objectives=objectives,
            forms=forms,
            levels=levels,
            near=near or None,
            memberships=membership,
            embeddings=embeddings,
            recommenders=recommenders,
            m=m or None,
            runs=runs,
            as_large=as_large,
            rivals=rivals,
            out=out,
            spreadsheet_safe=spreadsheet_safe,
            workers=workers,
            skip_missing=skip_missing,
            seed=seed,
            command=" ".join(["cube2net", *map(shlex.quote, sys.argv[1:])]),
            progress=progress,
        )
    tables.warn_of_formulas(files)
    if as_json:
        show_json(comparing.told(comparison))
    else:
        comparing.show_comparison(comparison)
        for path in files:
            say(f"wrote {path}")


@app.command()
def task(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="yelp or movies.")],
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
    from cube2net.checkpoints import checkpoints_of
    from cube2net.cli import building, tables

    KEPT.append(checkpoints_of(out / "cube"))
    with shown_progress(quiet) as progress:
        made = building.task(
            source,
            paths,
            name,
            out,
            topics=topics,
            spreadsheet_safe=spreadsheet_safe,
            seed=seed,
            progress=progress,
        )
    tables.warn_of_formulas([out / "query.csv", out / "hidden.csv"])
    say(f"{out}: {made}")
    place = [shlex.quote(str(out / part)) for part in ("cube", "query.csv", "hidden.csv")]
    say(f"cube2net compare {place[0]} --query {place[1]} --task links --hidden {place[2]}")


def _opened(path: Path) -> Cube:
    from cube2net.pipeline import open_cube

    return open_cube(path)


def main(signals: Signals | None = None) -> None:
    """Run the command line: a refusal is one sentence and status 2, Ctrl-C 130, SIGTERM 143, lost output 3 or 141."""
    if signals is None:
        signals = Signals()
        signals.obey()
    signals.words = _last_words
    with guarded_streams():
        try:
            status = _status(signals)
            sys.stdout.flush()
        except UndeliveredError as error:
            status = error.status
            if status != LEFT:
                complain(f"cube2net: {error}")
        except BaseException:
            if signals.status is None:
                raise
            status = signals.status
    if signals.status is not None and status:
        signals.leave()
    raise SystemExit(status)


def _last_words() -> str:
    kept = "; the same command goes on where it stopped" if any(path.exists() for path in KEPT) else ""
    return f"{INTERRUPTED}{kept}"


def _status(signals: Signals) -> int:
    """Return the status that a command ends with, once it has said why; what follows from a signal is not said."""

    def refuse(sentence: str) -> None:
        if signals.status is None:
            complain(f"cube2net: {sentence}")

    try:
        ended = app(prog_name="cube2net", standalone_mode=False)
        return ended if isinstance(ended, int) else 0
    except Cube2netError as error:
        refuse(str(error))
    except SystemExit as exited:
        return exited.code if isinstance(exited.code, int) else int(exited.code is not None)
    except OSError as error:
        place = f" {quoted(error.filename)}" if error.filename else ""
        refuse(f"cannot use{place}: {(error.strerror or str(error)).lower()}")
    except UnicodeEncodeError as error:
        refuse(f"{quoted(error.object)} is not UTF-8 text: give it another name")
    except MemoryError:
        refuse("the machine's memory does not suffice for this")
    except Exception as error:
        return _usage(error)
    return 2


def _usage(error: Any) -> int:
    """Return the status of a wrong use of the command line, once it is shown; raise what is anything else.

    What was typed is in its message, so that is made one harmless line; a page of help, shown for want of a command, is
    ours.
    """
    if not (hasattr(error, "show") and hasattr(error, "exit_code")):
        raise error
    if getattr(error, "message", None) and "NoArgs" not in type(error).__name__:
        error.message = line(error.message)
    error.show()
    return int(error.exit_code)
