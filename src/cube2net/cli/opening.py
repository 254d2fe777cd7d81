"""A cube to explore: one that is there, or one of tables, kept beside them and made again when they have changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cube2net import pipeline
from cube2net.atomic_files import can_write, temporary_folder
from cube2net.cli.options import split_settings, typed_values
from cube2net.cli.signals import KEPT
from cube2net.cli.terminal import say, show_table, shown_progress
from cube2net.errors import SourceError, listed
from cube2net.interfaces import Source
from cube2net.records import Cube
from cube2net.spelling import nearest

MANIFEST = "manifest.json"


def check_files(paths: Sequence[Path]) -> None:
    """Raise where a spreadsheet is not there, with the nearest name in its folder, or a cube is not."""
    endings = (*pipeline.TABLE_ENDINGS, *pipeline.GRAPH_ENDINGS)

    def is_sheet(name: str) -> bool:
        return name.casefold().removesuffix(".gz").endswith(endings)

    for path in paths:
        if path.exists():
            continue
        try:
            there = sorted(one.name for one in path.parent.iterdir() if is_sheet(one.name) and one.is_file())
        except OSError:
            there = []
        near = nearest(path.name, there)
        if near is not None or is_sheet(path.name) or len(paths) > 1:
            hint = f"did you mean {str(path.parent / near)!r}?" if near is not None else "check the path"
            raise SourceError(f"there is no file {str(path)!r}: {hint}")
        pipeline.read_manifest(path)  # which says that there is no cube


def is_cube(paths: Sequence[Path]) -> bool:
    """Return whether what is to be explored is a cube."""
    return len(paths) == 1 and (paths[0] / MANIFEST).exists()


@contextmanager
def cube_of_tables(
    paths: Sequence[Path],
    *,
    settings: Sequence[str],
    dimensions: Sequence[str],
    min_objects: int | None,
    seed: int,
    quiet: bool,
) -> Iterator[Cube]:
    """Give the cube of files, which is made where it is not there or they have changed, and say what was read."""
    from cube2net.checkpoints import checkpoints_of

    reader = _reader(paths, settings)
    identity = pipeline.identify_reading(reader, paths, dimensions, min_objects, seed=seed)
    place, kept = pipeline.cube_beside(paths, identity, say=say)
    if kept is not None:
        say(f"{place.name} is used again, for {listed([path.name for path in paths])} and the options are as before")
        show_reading(kept)
        yield kept
        return
    with temporary_folder() as folder:
        if not can_write(place.parent):
            say(f"nothing can be written beside {paths[0].name}: the cube is kept until this ends, and no longer")
            place = folder / place.name
        KEPT.append(checkpoints_of(place))
        with shown_progress(quiet) as progress:
            reading = pipeline.read_spreadsheet(
                reader, paths, dimensions=dimensions, min_objects=min_objects, seed=seed, progress=progress
            )
            cube = pipeline.build_from_reading(reading, place, identity=identity, seed=seed, progress=progress)
        say(f"kept in {place.name}, beside {paths[0].name}" if place.parent != folder else f"made {place.name}")
        show_reading(cube)
        yield cube


def _reader(paths: Sequence[Path], settings: Sequence[str]) -> Source:
    """Return what reads the files, with its parameters as they were typed."""
    name = pipeline.sheet_source(paths)
    options = typed_values(pipeline.SOURCES[name], split_settings(settings), f"source {name!r}")
    return pipeline.sheet_reader(paths, options)


def show_reading(cube: Cube) -> None:
    """Show which column was taken for what, which rows were left out, and the dimensions with their reason."""
    read = pipeline.reading_in(cube.settings)
    if read is None:
        return
    rows = [(each["column"], each["what"], each["why"].removeprefix(f"{each['column']} ")) for each in read["columns"]]
    show_table("what was read", ("column", "is", "why"), rows)
    left = ", ".join(f"{each['reason']} {each['count']:,}" for each in read["left_out"])
    say(
        f"left out: {left or 'nothing'}",
        f"dimensions {listed(read['dimensions'])}, cells of {read['min_objects']:,} or more: {read['reason']}",
        "say otherwise with --set columns=id:COLUMN, --dimension COLUMN and --min-objects NUMBER",
        "",
    )
