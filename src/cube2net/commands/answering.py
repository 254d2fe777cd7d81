"""The command that answers a query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.errors import ParameterError, some, unknown
from cube2net.parameters import configured, fields_of, split_settings
from cube2net.records import Cube, Network
from cube2net.terminal import say, show_table


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
        falling = sum(cell["gain"] < 0 for cell in about["cells"])
        if falling:
            best = float(network.selection.values.max())
            lower = f"{falling} of {len(rows)} cells lower the {about['objective']}"
            say(f"{lower}: --best-prefix stops at its best, {best:.4f}")
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
        missing = network.query.missing
        say(f"left out, being unknown or the name of several objects: {len(missing):,} ({some(missing)})")


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
