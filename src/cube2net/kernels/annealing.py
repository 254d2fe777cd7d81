"""Annealing of selections, compiled: a cell is proposed and swapped for another, added or left; cells are dropped.

A selection sits in slots, and one look at a proposed cell tells its value in place of every chosen one
(``swap_moves``). Which of these happens is drawn with probability ∝ exp(value / heat), staying as it is among them.
"""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import inner, njit
from cube2net.kernels.swap_moves import COLUMNS, SwapProblem, SwapState, close, put, ratio, take, weigh

DROPS = 0.03  # how often a cell is dropped instead of one proposed
AIMED = 0.45  # how often a proposed cell is to hold an uncovered group that pays; else it is any
KEYED = 0.75  # how often it is the one of highest key among several drawn; else the first drawn
TRIES = 3  # how many are drawn then
AGAIN = 8  # so often an uncovered group is looked for
SMOOTH = 64  # the heat falls every so many steps
FARTHEST = 30.0  # exp(−30) never happens
EQUAL = 1e-12


@njit(cache=True)
def draw(random: Array) -> float:
    """Return a number in [0, 1): the upper 53 bits of splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = random[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return float(np.float64(bits >> np.uint64(11)) * 2.0**-53)


@inner
def propose(choice: SwapProblem, state: SwapState) -> int:
    """Return a cell worth looking at: a home of an uncovered group that pays, or any; a high key helps."""
    first, cells = 0, len(choice.key)
    aimed = len(choice.targets) > 0 and draw(state.random) < AIMED
    if aimed:
        group = 0
        for _ in range(AGAIN):
            drawn_odds = draw(state.random) * choice.odds[-1]
            place, end = 0, len(choice.odds)
            while place < end:
                middle = (place + end) // 2
                if choice.odds[middle] <= drawn_odds:
                    place = middle + 1
                else:
                    end = middle
            group = choice.targets[min(place, len(choice.targets) - 1)]
            if state.covers[group] == 0:
                break
        first, cells = choice.homes_indptr[group], choice.homes_indptr[group + 1] - choice.homes_indptr[group]
    best, tries = -1, TRIES if draw(state.random) < KEYED else 1
    for _ in range(tries):
        drawn = int(draw(state.random) * cells)
        cell = choice.homes_indices[first + drawn] if aimed else drawn
        if best < 0 or choice.key[cell] > choice.key[best]:
            best = cell
    return best


@inner
def decide(state: SwapState, room: float, least: float, heat: float) -> int:
    """Draw what becomes of the cell that was weighed: the slot it goes to (the next free one is last), or −1.

    A slot is drawn with probability ∝ exp(value with the cell there / heat), and so is leaving all as it is. What
    would bring more nodes than there is room for does not happen.
    """
    count = state.filled[0]
    above = state.sums[0] + state.shared[count, 0]
    below = state.sums[1] + state.shared[count, 1]
    nodes = state.sums[2] + state.shared[count, 2]
    top = state.value[0]
    for slot in range(count):
        state.odds[slot] = -np.inf
        if nodes - state.alone[slot, 2] + state.shared[slot, 2] <= room:
            state.odds[slot] = ratio(
                above - state.alone[slot, 0] + state.shared[slot, 0],
                below - state.alone[slot, 1] + state.shared[slot, 1],
                least,
            )
            top = max(top, state.odds[slot])
    state.odds[count] = -np.inf
    if count < len(state.best) and nodes <= room:
        state.odds[count] = ratio(above, below, least)
        top = max(top, state.odds[count])
    stay = np.exp((state.value[0] - top) / heat)
    total = stay
    for slot in range(count + 1):
        away = (state.odds[slot] - top) / heat
        state.odds[slot] = np.exp(away) if away > -FARTHEST else 0.0
        total += state.odds[slot]
    left = draw(state.random) * total - stay
    if left < 0.0:
        return -1
    for slot in range(count + 1):
        left -= state.odds[slot]
        if left < 0.0:
            return slot
    return -1


@inner
def settle(state: SwapState, least: float) -> None:
    """Take note of the value as it stands, and of the selection where it is the best so far."""
    state.value[0] = ratio(state.sums[0], state.sums[1], least)
    if state.value[0] > state.value[1] + EQUAL * abs(state.value[1]):
        state.value[1] = state.value[0]
        state.filled[1] = state.filled[0]
        for slot in range(state.filled[0]):
            state.best[slot] = state.chosen[slot]


def start(choice: SwapProblem, state: SwapState, cells: Array, least: float) -> float:
    """Put the cells into the slots of an empty state; return what a cell is worth there, on average.

    That is the mean of what the value loses without one of the cells.
    """
    for slot in range(len(cells)):
        put(choice, state, cells[slot], slot)
        state.best[slot] = cells[slot]
    state.filled[0] = state.filled[1] = len(cells)
    state.value[0] = state.value[1] = ratio(state.sums[0], state.sums[1], least)
    lost = 0.0
    for slot in range(len(cells)):
        rest = ratio(state.sums[0] - state.alone[slot, 0], state.sums[1] - state.alone[slot, 1], least)
        lost += (state.value[0] - rest) / len(cells)
    return lost


@njit(cache=True, nogil=True)
def cool(
    choice: SwapProblem,
    state: SwapState,
    first: int,
    last: int,
    steps: int,
    hot: float,
    cold: float,
    room: float,
    max_links: float,
    least: float,
) -> None:
    """Do the steps from ``first`` to ``last`` of so many, while the heat falls from hot to cold by equal ratios.

    The nodes of a selection stay within ``room`` and its links within ``max_links``; costs up to ``least`` are none.
    """
    heat = hot
    for step in range(first, last):
        if step % SMOOTH == 0 or step == first:
            heat = hot * (cold / hot) ** (step / steps)
        if state.filled[0] > 0 and draw(state.random) < DROPS:
            slot = int(draw(state.random) * state.filled[0])
            value = ratio(state.sums[0] - state.alone[slot, 0], state.sums[1] - state.alone[slot, 1], least)
            if draw(state.random) < np.exp(min(0.0, value - state.value[0]) / heat):
                take(choice, state, slot)
                close(choice, state, slot)
                settle(state, least)
            continue
        cell = propose(choice, state)
        if state.slot[cell] >= 0:
            continue
        weigh(choice, state, cell)
        slot = decide(state, room, least, heat)
        if slot < 0:
            continue
        old = state.chosen[slot] if slot < state.filled[0] else -1
        if old >= 0:
            take(choice, state, slot)
        else:
            state.filled[0] += 1
        put(choice, state, cell, slot)
        if state.sums[COLUMNS] > max_links:
            take(choice, state, slot)
            if old >= 0:
                put(choice, state, old, slot)
            else:
                state.filled[0] -= 1
        else:
            settle(state, least)
