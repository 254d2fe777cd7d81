"""The commands that build, update, verify and describe cubes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cube2net.apps.cli.options import (
    SOURCE_NAMES,
    AsJson,
    Between,
    CubePath,
    ItemsWhere,
    Quiet,
    Seed,
    Set,
    SpreadsheetSafe,
    offer,
    warn_of_formulas,
)
from cube2net.apps.cli.output import say, show_json, shown_progress
from cube2net.apps.cli.signals import KEPT
from cube2net.errors import ParameterError


def build(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help=f"One of {', '.join(SOURCE_NAMES)}.", autocompletion=offer(*SOURCE_NAMES)
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
        typer.Option(help="How many topics to find in the texts: 100, or fewer where suggest finds few texts."),
    ] = None,
    topic_groups: Annotated[
        int | None, typer.Option(help="Put the topics under this many parents, for --roll-up topic.")
    ] = None,
    min_objects: Annotated[int, typer.Option(help="Leave out cells with fewer objects.")] = 10,
    max_mentions: Annotated[int, typer.Option(help="An item with more objects makes no links.")] = 50,
    items: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="Keep of the items: all, index (without their attributes: no --between, no --replace), or none.",
            autocompletion=offer("all", "index", "none"),
        ),
    ] = "all",
    set_: Set = None,
    where: ItemsWhere = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")] = False,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What runs the statements: duckdb or spark.",
            autocompletion=offer("duckdb", "spark"),
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
    """Read raw data and write its cube to a folder, which appears whole or not at all.

    A build that is cut off keeps what it has finished, hidden beside the cube, and the same command goes on from there.
    """
    from cube2net.api.checkpoints import checkpoints_of
    from cube2net.apps.cli import build as building

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
            min_objects=min_objects,
            max_mentions=max_mentions,
            items=items,
            settings=[*(set_ or []), *([] if links is None else [f"links={links}"])],
            where=where or [],
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
    min_objects: Annotated[int, typer.Option(help="Leave out cells with fewer objects.")] = 10,
    set_: Set = None,
    where: ItemsWhere = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")] = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Look at data and propose the dimensions of its cube: why these, how many cells, and the command that builds."""
    from cube2net.apps.cli import build as suggesting

    with shown_progress(quiet) as progress:
        asked = suggesting.asked_of(
            words or [], set_ or [], where or [], strict=strict, min_objects=min_objects, seed=seed
        )
        found = suggesting.suggest(asked, query, splits, progress)
    if as_json:
        show_json(suggesting.as_record(asked, found))
    else:
        suggesting.show(asked, found)


def info(
    cube: Annotated[
        Path | None, typer.Argument(metavar="CUBE", help="Folder of a cube; without one, this installation.")
    ] = None,
    between: Between = None,
    as_json: AsJson = False,
) -> None:
    """Show a cube's dimensions, cells, links and sizes, and what was dropped and why.

    Without a cube: the versions of cube2net, of Python and of all packages, cores, memory and GPU, for a report of a
    fault. No path and no name of a user or a machine is shown.
    """
    from cube2net.apps.cli.installation import installation, show_installation

    if cube is None:
        if between is not None:
            raise ParameterError(f"--between {between!r} needs a cube: cube2net info CUBE --between {between}")
        show_json({"installation": installation()}) if as_json else show_installation(installation())
        return
    from cube2net.apps.cli import build as building

    about = building.about(cube, between)
    if as_json:
        show_json(about | {"installation": installation()})
    else:
        building.show_about(about)


def update(
    cube: CubePath,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH…", help="Files or folders with more items.")
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            metavar="SOURCE",
            help=f"One of {', '.join(SOURCE_NAMES)}; without a word, what the cube was read from, and in that way.",
            autocompletion=offer(*SOURCE_NAMES),
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
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")] = False,
    quiet: Quiet = False,
) -> None:
    """Add items and links to a cube, replace or remove some, as if it had been built so; wholly or not at all."""
    from cube2net.apps.cli import build as building

    with shown_progress(quiet) as progress:
        grown, added = building.update(
            cube,
            source,
            paths or [],
            settings=set_ or [],
            strict=strict,
            skip_known=skip_known,
            replace=replace,
            remove=remove,
            progress=progress,
        )
    say(f"{cube}: {grown}")
    heavier = added.pop("heavier links", 0)
    more = {what: count for what, count in added.items() if " " not in what}
    say(f"added: {', '.join(f'{count:,} {what}' for what, count in more.items())}")
    for things in ("items", "links"):
        kinds = {what.split()[0]: count for what, count in added.items() if what.endswith(f" {things}")}
        if kinds and (things == "items" or any(kinds.values())):
            say(f"{things}: {', '.join(f'{count:,} {what}' for what, count in kinds.items())}")
    if heavier:
        say(f"links: {heavier:,} that were there got heavier (with --replace they would be replaced)")


def verify(cube: CubePath) -> None:
    """Check every byte of a cube against its manifest."""
    from cube2net.api.cubes import verify_cube

    with shown_progress():
        files = verify_cube(cube)
    say(f"{cube}: {files} files, all as they were written")


def task(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="yelp or movies.", autocompletion=offer("yelp", "movies"))
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
    from cube2net.api.checkpoints import checkpoints_of
    from cube2net.apps.cli import build as building

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
    warn_of_formulas([out / "query.csv", out / "hidden.csv"])
    say(f"{out}: {made}")
    place = [shlex.quote(str(out / part)) for part in ("cube", "query.csv", "hidden.csv")]
    say(f"cube2net compare {place[0]} --query {place[1]} --task links --hidden {place[2]}")
