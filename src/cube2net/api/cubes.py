"""Open, save, verify and view cubes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cube2net.cube import views, window
from cube2net.cube.storage import reader
from cube2net.cube.storage.reader import read, verify
from cube2net.cube.storage.writer import save
from cube2net.cube.views import dice, of_kind
from cube2net.model.cube import Cube
from cube2net.model.interfaces import check_call, expect, path_of

READING = "reading"
"""The key under which a cube keeps what was read, among the facts about its source."""


@check_call
def save_cube(cube: Cube, folder: str | Path) -> None:
    """Write a cube to a folder, which appears whole or not at all.

    Parameters
    ----------
    cube
        The cube to save.
    folder
        A place where nothing is, or a cube that this one replaces.

    Returns
    -------
    None
        The cube is in the folder, for :func:`open_cube`.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> cube = c2n.build_cube(c2n.make_planted(objects=200, communities=4, noise=0).corpus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     c2n.save_cube(cube, f"{folder}/cube")
    ...     c2n.open_cube(f"{folder}/cube")
    Cube(decade × venue × topic: 16 cells, 200 objects, 720 links)
    """
    save(expect(Cube, cube, "cube"), path_of(folder, "the folder of the cube"))


@check_call
def open_cube(folder: str | Path) -> Cube:
    """Return the cube of a folder; its arrays are memory-mapped, so this costs almost nothing.

    It can be sent to other processes (``multiprocessing``, joblib, Dask): the folder is sent, and opened there.

    Parameters
    ----------
    folder
        Where :func:`save_cube`, :func:`build_cube` or ``cube2net build`` wrote it.

    Returns
    -------
    Cube
        It stays whole while another one takes its place in the folder.

    Raises
    ------
    CubeError
        The folder is missing, is no cube, is damaged, or was written by a later version.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> corpus = c2n.make_planted(objects=200, communities=4, noise=0).corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = c2n.build_cube(corpus, out=f"{folder}/cube")
    ...     c2n.open_cube(f"{folder}/cube")
    Cube(decade × venue × topic: 16 cells, 200 objects, 720 links)
    """
    return read(path_of(folder, "the folder of the cube"))


@check_call
def verify_cube(folder: str | Path) -> int:
    """Return the number of files of a cube, having checked every byte of them.

    Parameters
    ----------
    folder
        The folder of the cube.

    Returns
    -------
    int
        How many files there are; all are as they were written.

    Raises
    ------
    CubeError
        The first file that is missing or differs; build the cube again, or take a copy.

    Examples
    --------
    >>> import tempfile
    >>> import cube2net as c2n
    >>> corpus = c2n.make_planted(objects=200, communities=4, noise=0).corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = c2n.build_cube(corpus, out=f"{folder}/cube")
    ...     c2n.verify_cube(f"{folder}/cube") > 20
    True
    """
    return verify(path_of(folder, "the folder of the cube"))


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Return what a cube's folder says of itself: counts, settings, what was left out, files and checksums."""
    return reader.read_manifest(path_of(folder, "the folder of the cube"))


def view_cube(
    cube: Cube,
    *,
    roll_up: Sequence[str | tuple[str, str]] = (),
    where: Mapping[str, Sequence[str]] | None = None,
    between: str | Sequence[Any] | None = None,
    kind: str | Sequence[str] = (),
) -> Cube:
    """Return the cube of the items of a time, rolled up in some dimensions, and only the cells with one of some labels.

    ``between`` is a window such as ``"2015..2019"`` or ``(2015, 2019)``: see :func:`cube2net.cube.between`. A dimension
    alone goes to the level above it, one with a level goes there. Of objects only those of a ``kind``, of which there
    may be several, are brought into networks: see :func:`cube2net.cube.of_kind`.
    """
    if between is not None:
        cube = window.between(cube, between)
    for wanted in roll_up:
        cube = views.roll_up(cube, *((wanted,) if isinstance(wanted, str) else wanted))
    cube = dice(cube, where) if where else cube
    return of_kind(cube, kind) if kind else cube
