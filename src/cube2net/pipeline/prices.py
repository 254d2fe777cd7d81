"""What every pin and ban of a network costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cube2net.arguments import check_call
from cube2net.array_types import Array
from cube2net.compiling import tells_compiling
from cube2net.errors import ParameterError
from cube2net.interfaces import chooses_cells
from cube2net.pipeline.planning import METHODS
from cube2net.pipeline.questions import asked_of
from cube2net.progress import Telling, listener
from cube2net.records import Cube, Network, Node, Price, Question, Steering
from cube2net.records.node_names import CELL, OBJECT, title_of
from cube2net.records.price import BAN, PIN


@check_call
@tells_compiling
def prices(network: Network, cube: Cube | None = None, *, progress: Telling = None) -> tuple[Price, ...]:
    """Return what every pin and ban of a network costs, the pins first, in the order given.

    A price is the value without the pin or ban, all others kept, less the value with it, by the same method and seed:
    each of them takes as long as the network itself did. For methods that bring objects by links, and have no value,
    it says who was displaced. A ban without which the pins would not fit the limits has no price, and that is said.

    Parameters
    ----------
    network
        Of :func:`construct` with ``pins`` or ``bans``.
    cube
        The cube of a network that came from another process.
    progress
        Told how far it is; True for a bar, None for nobody.

    Returns
    -------
    tuple of Price
        Each has a ``price``, a ``sentence``, and the cells that it keeps out and brings in.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build_cube(planted.corpus)
    >>> best = c2n.construct(cube, planted.query(0), "greedy", m=4, form="objects")
    >>> without = c2n.construct(cube, planted.query(0), "greedy", m=4, form="objects", bans=[best.labels[0]])
    >>> print(*c2n.prices(without))
    leaving out ⟨199X · venue 0 · topic 2⟩ costs 0.04
    """
    network = asked_of(network, cube)
    question = network.question
    if question is None:
        return ()
    tell, steering = listener(progress), question.steering
    wanted = [(PIN, node) for node in steering.pins] + [(BAN, node) for node in steering.bans]
    found = []
    for number, (kind, node) in enumerate(wanted):
        tell("pricing pins and bans", number, len(wanted))
        if kind == PIN:
            other = replace(steering, pins=tuple(pin for pin in steering.pins if pin != node))
        else:
            other = replace(steering, bans=tuple(ban for ban in steering.bans if ban != node))
        found.append(_price(kind, node, network, _without(kind, other, question), question))
    return tuple(found)


def _without(kind: str, steering: Steering, question: Question) -> Network | None:
    """Return the network without a pin or ban, None where without a ban the pins do not fit."""
    try:
        return question.again(steering)
    except ParameterError:
        if kind == PIN or not steering.pins:
            raise
        return None


def _price(kind: str, node: Node, network: Network, without: Network | None, question: Question) -> Price:
    title = title_of(question.cube, node)
    if without is None:
        return Price(kind, title, network.selection.value, needed=True)
    if question.method in METHODS and not chooses_cells(METHODS[question.method]):
        missed, instead = _apart(question.cube, OBJECT, without.objects, network.objects)
        return Price(kind, title, missed=missed, instead=instead)
    missed, instead = _apart(question.cube, CELL, without.selection.cells, network.selection.cells)
    return Price(kind, title, network.selection.value, without.selection.value, missed, instead)


def _apart(cube: Cube, kind: str, without: Array, now: Array) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the titles of what is there without a pin or ban alone, and of what is there with it alone."""

    def titles(numbers: Array, others: Array) -> tuple[str, ...]:
        only = numbers[np.isin(numbers, others, invert=True)].tolist()
        return tuple(title_of(cube, Node(kind, number)) for number in only)

    return titles(without, now), titles(now, without)
