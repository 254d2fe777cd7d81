"""Simulated annealing of selections: propose a cell, and swap it for a chosen one, add it or reject it; drop cells.

A selection has slots. One pass over the members of a proposed cell gives its value in place of every chosen cell. The
change is drawn with probability ∝ exp(value / heat), no change included.

``covers[g]`` is the number of chosen cells that contain group g, and ``owner[g]`` the sum of their slots: for a group
covered once, the slot of its only cell. So ``alone[s]``, the loss without the cell in slot s, is updated as cells come
and go, and the cost of every operation is that of the members of the cells that change.

Most groups have the same worth (``common``): they are last in the row of a cell, and are counted instead of summed.
``tag[g]`` is what counting needs of a group: 0 if it is not covered, 1 + s if only slot s covers it, 1 + slots if
several do. It is one byte per group, so that all tags stay in the cache.

Groups are the objects of ``coverage``; ``members`` is cell → groups and ``homes`` group → cells. The three columns of
``worth``, ``totals`` and ``alone`` are gain, cost and nodes (objects outside the query).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import inner, njit

COLUMNS = 3
DROPS = 0.03  # probability that a cell is dropped instead of one proposed
AIMED = 0.45  # probability that a proposed cell is drawn from those of an uncovered group with a gain
KEYED = 0.75  # probability that it is the one with the highest key among several; else the first drawn
TRIES = 3  # how many are drawn then
AGAIN = 8  # attempts to draw an uncovered group
SMOOTH = 64  # steps between updates of the heat
FARTHEST = 30.0  # exp(−30) is taken as 0
EQUAL = 1e-12


class SwapProblem(NamedTuple):
    """The constant part: memberships, worths, proposal probabilities and links.

    ``totals`` is the worth of each cell alone. ``targets`` are groups with a gain and ``odds`` the running sum of the
    gains; cells with a higher ``key`` are proposed more often. ``objects`` is group → objects outside the query;
    without a limit of links, it and ``links`` have no rows. From ``plain[c]`` to the end of its row, the groups of cell
    c have the worth ``common``.
    """

    members_indptr: Array
    members_indices: Array
    homes_indptr: Array
    homes_indices: Array
    worth: Array
    totals: Array
    targets: Array
    odds: Array
    key: Array
    objects_indptr: Array
    objects_indices: Array
    links_indptr: Array
    links_indices: Array
    plain: Array
    common: Array


class SwapState(NamedTuple):
    """The variable part: the cells in slots (``slot`` is −1 for cells not chosen), and quantities derived from them.

    ``sums`` are gain, cost, nodes and links of the current selection, constants of the objective included; ``value``
    and ``filled`` (the number of slots in use) are those of the current and of the best selection. ``shared``, ``odds``
    and ``counts`` (two rows of zeros with an element per tag) are scratch; ``present`` marks the objects of the
    network, and ``random`` is the 64-bit state of the generator.
    """

    chosen: Array
    slot: Array
    covers: Array
    owner: Array
    tag: Array
    alone: Array
    sums: Array
    value: Array
    filled: Array
    best: Array
    shared: Array
    odds: Array
    counts: Array
    present: Array
    random: Array


@njit(cache=True)
def ratio(above: float, below: float, least: float) -> float:
    """Return gain / cost, or 0 if the cost is 0 up to rounding."""
    return above / below if below > least else 0.0


@njit(cache=True)
def plain_last(members_indptr: Array, members_indices: Array, plain: Array) -> tuple[Array, Array]:
    """Return the entries of rows with plain ones moved to the end of their row, and where these begin."""
    entries = np.empty_like(members_indices)
    starts = np.empty(len(members_indptr) - 1, np.int64)
    for row in range(len(starts)):
        end = members_indptr[row]
        for wanted in (False, True):
            if wanted:
                starts[row] = end
            for at in range(members_indptr[row], members_indptr[row + 1]):
                if plain[members_indices[at]] == wanted:
                    entries[end] = members_indices[at]
                    end += 1
    return entries, starts


@njit(cache=True)
def put(choice: SwapProblem, state: SwapState, cell: int, slot: int) -> None:
    """Put a cell into a free slot."""
    state.chosen[slot] = cell
    state.slot[cell] = slot
    linked = len(choice.links_indptr) > 1
    plain, several = choice.plain[cell], len(state.best) + 1
    counts = state.counts[0]
    for at in range(choice.members_indptr[cell], choice.members_indptr[cell + 1]):
        group = choice.members_indices[at]
        tag = state.tag[group]
        if at >= plain:
            counts[tag] += 1
        elif tag == 0:
            for column in range(COLUMNS):
                state.sums[column] += choice.worth[group, column]
                state.alone[slot, column] += choice.worth[group, column]
        elif tag < several:
            for column in range(COLUMNS):
                state.alone[tag - 1, column] -= choice.worth[group, column]
        if tag == 0 and linked:
            state.sums[COLUMNS] += enter(choice, state.present, group)
        state.tag[group] = slot + 1 if tag == 0 else several
        state.covers[group] += 1
        state.owner[group] += slot
    for column in range(COLUMNS):
        state.sums[column] += counts[0] * choice.common[column]
        state.alone[slot, column] += counts[0] * choice.common[column]
        for other in range(len(state.best)):
            state.alone[other, column] -= counts[other + 1] * choice.common[column]
    for tag in range(len(counts)):
        counts[tag] = 0


@inner
def take(choice: SwapProblem, state: SwapState, slot: int) -> None:
    """Remove the cell from a slot."""
    cell = state.chosen[slot]
    state.slot[cell] = -1
    linked = len(choice.links_indptr) > 1
    plain = choice.plain[cell]
    counts = state.counts[0]
    for at in range(choice.members_indptr[cell], choice.members_indptr[cell + 1]):
        group = choice.members_indices[at]
        covers = state.covers[group] - 1
        state.covers[group] = covers
        state.owner[group] -= slot
        if covers > 1:
            continue
        tag = state.owner[group] + 1 if covers == 1 else 0
        state.tag[group] = tag
        if tag == 0 and linked:
            state.sums[COLUMNS] -= leave(choice, state.present, group)
        if at >= plain:
            counts[tag] += 1
        elif tag == 0:
            for column in range(COLUMNS):
                state.sums[column] -= choice.worth[group, column]
        else:
            for column in range(COLUMNS):
                state.alone[tag - 1, column] += choice.worth[group, column]
    for column in range(COLUMNS):
        state.sums[column] -= counts[0] * choice.common[column]
        for other in range(len(state.best)):
            state.alone[other, column] += counts[other + 1] * choice.common[column]
        state.alone[slot, column] = 0.0
    for tag in range(len(counts)):
        counts[tag] = 0


@inner
def enter(choice: SwapProblem, present: Array, group: int) -> int:
    """Add the objects of a group to the network; return the number of links added."""
    links = 0
    for place in range(choice.objects_indptr[group], choice.objects_indptr[group + 1]):
        o = choice.objects_indices[place]
        for at in range(choice.links_indptr[o], choice.links_indptr[o + 1]):
            links += present[choice.links_indices[at]]
        present[o] = 1
    return links


@inner
def leave(choice: SwapProblem, present: Array, group: int) -> int:
    """Undo ``enter``; return the number of links removed."""
    links = 0
    for place in range(choice.objects_indptr[group], choice.objects_indptr[group + 1]):
        o = choice.objects_indices[place]
        present[o] = 0
        for at in range(choice.links_indptr[o], choice.links_indptr[o + 1]):
            links += present[choice.links_indices[at]]
    return links


@inner
def close(choice: SwapProblem, state: SwapState, slot: int) -> None:
    """Move the cell of the last slot into a free one, so that used slots have no gaps."""
    last = state.filled[0] - 1
    if slot != last:
        cell = state.chosen[last]
        for at in range(choice.members_indptr[cell], choice.members_indptr[cell + 1]):
            group = choice.members_indices[at]
            state.owner[group] += slot - last
            if state.covers[group] == 1:
                state.tag[group] = slot + 1
        for column in range(COLUMNS):
            state.alone[slot, column] = state.alone[last, column]
            state.alone[last, column] = 0.0
        state.chosen[slot] = cell
        state.slot[cell] = slot
    state.filled[0] = last


@inner
def weigh(choice: SwapProblem, state: SwapState, cell: int) -> None:
    """Write to ``shared[s]`` the worth of a cell's groups that only slot s covers, and its gain after the last."""
    count, several = state.filled[0], len(state.best) + 1
    plain, end = choice.plain[cell], choice.members_indptr[cell + 1]
    # Two rows of counts in turn, so that additions do not depend on the previous one.
    one, two = state.counts[0], state.counts[1]
    for at in range(plain, end - 1, 2):
        one[state.tag[choice.members_indices[at]]] += 1
        two[state.tag[choice.members_indices[at + 1]]] += 1
    if (end - plain) % 2 == 1:
        one[state.tag[choice.members_indices[end - 1]]] += 1
    covered_count = end - plain - one[0] - two[0]
    one[0] = two[0] = one[several] = two[several] = 0
    for slot in range(count):
        shared = one[slot + 1] + two[slot + 1]
        one[slot + 1] = two[slot + 1] = 0
        for column in range(COLUMNS):
            state.shared[slot, column] = shared * choice.common[column]
    gain = choice.totals[cell, 0] - covered_count * choice.common[0]
    cost = choice.totals[cell, 1] - covered_count * choice.common[1]
    nodes = choice.totals[cell, 2] - covered_count * choice.common[2]
    for at in range(choice.members_indptr[cell], plain):
        group = choice.members_indices[at]
        tag = state.tag[group]
        if tag > 0:
            gain -= choice.worth[group, 0]
            cost -= choice.worth[group, 1]
            nodes -= choice.worth[group, 2]
            if tag < several:
                for column in range(COLUMNS):
                    state.shared[tag - 1, column] += choice.worth[group, column]
    state.shared[count, 0] = gain
    state.shared[count, 1] = cost
    state.shared[count, 2] = nodes


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
    """Return a random cell: a cell of an uncovered group with a gain, or any; a high key makes it more likely."""
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
    """Draw the slot for the weighed cell (the next free one is last), or −1 for no change.

    Every outcome has a probability ∝ exp(value / heat), no change included. Outcomes with too many nodes have
    probability 0.
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
    """Update the current value, and the best selection if it is better."""
    state.value[0] = ratio(state.sums[0], state.sums[1], least)
    if state.value[0] > state.value[1] + EQUAL * abs(state.value[1]):
        state.value[1] = state.value[0]
        state.filled[1] = state.filled[0]
        for slot in range(state.filled[0]):
            state.best[slot] = state.chosen[slot]


def start(choice: SwapProblem, state: SwapState, cells: Array, least: float) -> float:
    """Put cells into the slots of an empty state; return the mean loss of value without one of the cells."""
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
    """Do the steps from ``first`` to ``last`` of ``steps``, while the heat falls geometrically from hot to cold.

    A selection has at most ``room`` nodes and ``max_links`` links; costs up to ``least`` count as 0.
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
