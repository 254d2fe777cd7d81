"""Open and view cubes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cube2net.cube import views, window
from cube2net.cube.storage import reader
from cube2net.cube.storage.reader import read
from cube2net.cube.views import dice, of_kind
from cube2net.model.cube import Cube
from cube2net.model.interfaces import check_call, check_path

READING = "reading"
"""The key under which a cube keeps what was read, among the facts about its source."""


@check_call
def open(folder: str | Path) -> Cube:
    """Open the cube in a folder; its arrays are memory-mapped, so this takes milliseconds.

    It can be sent to other processes (``multiprocessing``, joblib, Dask): the folder is sent, and opened there.

    Parameters
    ----------
    folder
        A folder written by :meth:`Cube.save`, :func:`build` or ``cube2net build``.

    Returns
    -------
    Cube
        It stays valid if another cube replaces it in the folder.

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
    ...     _ = c2n.build(corpus, out=f"{folder}/cube")
    ...     c2n.open(f"{folder}/cube")
    Cube(decade × venue × topic: 16 cells, 200 objects, 720 links)
    """
    return read(check_path(folder, "the folder of the cube"))


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Return the manifest of a cube: counts, settings, files and checksums."""
    return reader.read_manifest(check_path(folder, "the folder of the cube"))


def view_cube(
    cube: Cube,
    *,
    roll_up: Sequence[str | tuple[str, str]] = (),
    where: Mapping[str, Sequence[str]] | None = None,
    between: str | Sequence[Any] | None = None,
    kind: str | Sequence[str] = (),
) -> Cube:
    """Return a view of a cube: a time window, dimensions rolled up, cells with given labels, kinds of objects.

    ``between`` is a window such as ``"2015..2019"`` or ``(2015, 2019)``: see :func:`cube2net.cube.between`. A dimension
    in ``roll_up`` without a level is rolled up by one level. ``kind`` is one or several kinds of objects that may be
    added to networks: see :func:`cube2net.cube.of_kind`.
    """
    if between is not None:
        cube = window.between(cube, between)
    for wanted in roll_up:
        cube = views.roll_up(cube, *((wanted,) if isinstance(wanted, str) else wanted))
    cube = dice(cube, where) if where else cube
    return of_kind(cube, kind) if kind else cube
