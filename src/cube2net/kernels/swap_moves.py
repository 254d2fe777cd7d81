"""A selection in slots, compiled: cells are put in and taken out, and one look tells a cell's worth in every slot.

``covers[g]`` counts the chosen cells that hold group g and ``owner[g]`` is the sum of their slots: where a group is
covered once, that is the slot of the one cell that holds it. So ``alone[s]``, what would be lost without the cell in
slot s, is kept up as cells come and go, and one look at the members of a proposed cell tells its value in place of
*every* chosen cell. Nothing costs more than the members of the cells that change.

Most groups are worth the same (``common``): they come last in the row of a cell, and are counted instead of summed.
``tag[g]`` is all that counting has to know of a group: 0 where it is not covered, 1 + s where slot s alone covers it,
1 + slots where several do. One byte a group, so that all tags lie near at hand.

Groups are what ``coverage`` calls objects; ``members`` is cell → groups and ``homes`` group → cells. The three
columns of ``worth``, ``whole`` and ``alone`` are gain, cost and nodes (objects outside the query).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import inner, njit

COLUMNS = 3


class SwapProblem(NamedTuple):
    """What does not change: who holds what, what it is worth, where to look, and who is linked.

    ``targets`` are groups that pay and ``odds`` the running sum of how much; a cell of higher ``key`` is proposed more
    often. ``objects`` is group → objects outside the query; without a limit of links, it and ``links`` have no rows.
    From ``plain[c]`` to the end of its row, the groups of cell c are worth ``common``.
    """

    members_indptr: Array
    members_indices: Array
    homes_indptr: Array
    homes_indices: Array
    worth: Array
    whole: Array
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
    """What changes: cells in slots (``slot`` is −1 for cells not chosen), and what follows from them.

    ``sums`` are gain, cost, nodes and links of the selection as it stands, with the constants of the objective in
    them; ``value`` is now and best, ``filled`` how many slots are, now and in the best. ``shared``, ``odds`` and
    ``counts`` (two rows, a place for every tag, zeros) are scratch; ``present`` marks the objects of the network and
    ``random`` holds the generator's 64 bits.
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
    """Return the value at given sums; 0 where there is no cost but for rounding."""
    return above / below if below > least else 0.0


@njit(cache=True)
def plain_last(members_indptr: Array, members_indices: Array, plain: Array) -> tuple[Array, Array]:
    """Return the entries of rows with those that are plain moved to the end of their row, and where these begin."""
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
    """Take the cell out of a slot, which is free then."""
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
    """Bring the objects of a group into the network; return how many links come with them."""
    links = 0
    for place in range(choice.objects_indptr[group], choice.objects_indptr[group + 1]):
        o = choice.objects_indices[place]
        for at in range(choice.links_indptr[o], choice.links_indptr[o + 1]):
            links += present[choice.links_indices[at]]
        present[o] = 1
    return links


@inner
def leave(choice: SwapProblem, present: Array, group: int) -> int:
    """Undo ``enter``; return how many links go with the objects."""
    links = 0
    for place in range(choice.objects_indptr[group], choice.objects_indptr[group + 1]):
        o = choice.objects_indices[place]
        present[o] = 0
        for at in range(choice.links_indptr[o], choice.links_indptr[o + 1]):
            links += present[choice.links_indices[at]]
    return links


@inner
def close(choice: SwapProblem, state: SwapState, slot: int) -> None:
    """Move the cell of the last slot into a free one, so that slots stay without gaps; there is one fewer."""
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
    """Write to ``shared`` what a cell holds that only slot s holds; after the last slot, what it would add to all."""
    count, several = state.filled[0], len(state.best) + 1
    plain, end = choice.plain[cell], choice.members_indptr[cell + 1]
    # Two rows of counts in turn: one addition need not wait for the one before.
    one, two = state.counts[0], state.counts[1]
    for at in range(plain, end - 1, 2):
        one[state.tag[choice.members_indices[at]]] += 1
        two[state.tag[choice.members_indices[at + 1]]] += 1
    if (end - plain) % 2 == 1:
        one[state.tag[choice.members_indices[end - 1]]] += 1
    known = end - plain - one[0] - two[0]
    one[0] = two[0] = one[several] = two[several] = 0
    for slot in range(count):
        shared = one[slot + 1] + two[slot + 1]
        one[slot + 1] = two[slot + 1] = 0
        for column in range(COLUMNS):
            state.shared[slot, column] = shared * choice.common[column]
    gain = choice.whole[cell, 0] - known * choice.common[0]
    cost = choice.whole[cell, 1] - known * choice.common[1]
    nodes = choice.whole[cell, 2] - known * choice.common[2]
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
