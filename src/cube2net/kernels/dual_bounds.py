"""Upper bounds on a choice of cells, from credits and shares, and what they say of every single cell.

Every group of objects has a worth. One with a worth above 0 gives each cell that holds it the same *credit*, between
0 and its worth; the worth of any other is paid by its cells in *shares* that add up to it. What a cell is then worth
by itself (``alone``) is its own worth, and the credits less the shares of its groups.

``homes`` is group → cells and ``members`` cell → groups, each as offsets and entries; ``share`` has
one number per entry of ``homes``, 0 for the groups with a credit.
"""

from __future__ import annotations

import numpy as np

from cube2net._util.arrays import Array
from cube2net.kernels.compiled import njit


@njit(cache=True)
def improve(
    homes_indptr: Array,
    homes_indices: Array,
    worth: Array,
    nodes: Array,
    m: int,
    room: float,
    steps: int,
    pace: float,
    x: Array,
    credit: Array,
    share: Array,
    rent: float,
    fee: float,
) -> tuple[float, float]:
    """Move credits and shares towards the lowest bound, and x towards the best fractional choice.

    ``x``, ``worth`` and ``nodes`` are of the cells (of what each holds alone), and then of the groups. These are
    ``steps`` of the primal-dual hybrid gradient method (Chambolle and Pock 2011) on the linear programme: the largest
    worth·x with 0 ≤ x ≤ 1, the cells adding up to m at most, nodes·x to ``room`` at most, a group at most the sum of
    its homes where it is worth more than 0, and at least each home where it is not, or where its nodes count. A step
    goes as far as the number of entries of a row and of a column of the programme allows; ``pace`` is a step of the
    credits and shares against one of x. The two limits are kept at every step, by a ``rent`` for every cell and a
    ``fee`` for every node, which are returned.
    """
    cells = len(x) - len(credit)
    pull = np.zeros(len(x))
    for g in range(len(credit)):
        rows = 0
        for cell in homes_indices[homes_indptr[g] : homes_indptr[g + 1]]:
            pull[cell] += 1.0
            rows += 1
        pull[cells + g] = 1.0 if worth[cells + g] > 0 else rows
        if worth[cells + g] > 0 and nodes[cells + g] > 0 and room < np.inf:
            pull[cells + g] += rows
    pull = 1.0 / (pace * np.maximum(pull, 1.0))
    ahead = x.copy()
    aim = np.empty(len(x))
    ones = np.ones(cells)
    for _ in range(steps):
        aim[:] = worth
        for g in range(len(credit)):
            first, last, here = homes_indptr[g], homes_indptr[g + 1], cells + g
            above = worth[here] > 0
            if above:
                missing = ahead[here]
                for at in range(first, last):
                    missing -= ahead[homes_indices[at]]
                credit[g] = min(worth[here], max(0.0, credit[g] + pace * missing / (last - first + 1)))
                for at in range(first, last):
                    aim[homes_indices[at]] += credit[g]
                aim[here] -= credit[g]
            if not above or (nodes[here] > 0 and room < np.inf):
                for at in range(first, last):
                    cell = homes_indices[at]
                    share[at] = max(0.0, share[at] + 0.5 * pace * (ahead[cell] - ahead[here]))
                    aim[cell] -= share[at]
                    aim[here] += share[at]
        for at in range(len(x)):
            aim[at] = x[at] + pull[at] * aim[at]
        if room < np.inf:
            aim[:cells] -= rent * pull[:cells]
            fee = _level(aim, pull * nodes, nodes, room, fee)
            aim[:cells] += rent * pull[:cells]
            aim -= fee * pull * nodes
        rent = _level(aim[:cells], pull[:cells], ones, m, rent)
        aim[:cells] -= rent * pull[:cells]
        for at in range(len(x)):
            new = min(1.0, max(0.0, aim[at]))
            ahead[at] = 2.0 * new - x[at]
            x[at] = new
    return rent, fee


@njit(cache=True)
def _level(aim: Array, pull: Array, weight: Array, most: float, level: float) -> float:
    """Return the level at which numbers between 0 and 1, aim − level·pull, weigh ``most``; 0 where they weigh less."""
    for _ in range(50):
        total = 0.0
        slope = 0.0
        for at in range(len(aim)):
            new = aim[at] - level * pull[at]
            if new >= 1.0:
                total += weight[at]
            elif new > 0.0:
                total += weight[at] * new
                slope += weight[at] * pull[at]
        over = total - most
        if abs(over) <= 1e-9 * max(1.0, most) or (over < 0 and level == 0.0):
            break
        if slope > 0.0:
            level = max(0.0, level + over / slope)
        else:
            level = 2.0 * level + 1e-3 if over > 0 else 0.5 * level * (level > 1e-12)
    return level


@njit(cache=True)
def settle(
    homes_indptr: Array, homes_indices: Array, worth: Array, own: Array, credit: Array, share: Array
) -> tuple[float, Array]:
    """Make credits and shares keep their rules, exactly; return the worth not given as credit, and ``alone``.

    Whatever cells are chosen, the groups that they hold are together worth at most that rest and what the chosen
    cells are worth alone: a group with a credit is counted once in full (in the rest, and in the credit of one
    home at least), and any other is paid by its homes, all of which together pay its worth.
    """
    rest = 0.0
    alone = own.copy()
    for g in range(len(worth)):
        first, last = homes_indptr[g], homes_indptr[g + 1]
        if worth[g] > 0:
            credit[g] = min(worth[g], max(0.0, credit[g]))
            rest += worth[g] - credit[g]
            for at in range(first, last):
                share[at] = 0.0
                alone[homes_indices[at]] += credit[g]
        else:
            credit[g] = 0.0
            paid = share[first:last].sum()
            lacking = 0.0 if paid > 0 else -worth[g] / (last - first)
            scale = -worth[g] / paid if paid > 0 else 0.0
            for at in range(first, last):
                share[at] = share[at] * scale + lacking
                alone[homes_indices[at]] -= share[at]
    return rest, alone


@njit(cache=True)
def with_each(
    members_indptr: Array,
    members_indices: Array,
    homes_indptr: Array,
    homes_indices: Array,
    worth: Array,
    credit: Array,
    share: Array,
    alone: Array,
) -> Array:
    """Return by how much the bound falls for the choices that hold one given cell, for every cell.

    The bound is the rest and Σ max(0, alone); a limit on the number of cells is a rent taken off ``alone`` before.
    With the cell in, its groups are there: they count with their whole worth, and give other cells neither credit nor
    shares. That is never weaker than taking the shares as they are.
    """
    cells = len(alone)
    changes = np.zeros(cells)
    met = np.empty(cells, dtype=np.int64)
    is_met = np.zeros(cells, dtype=np.bool_)
    falls = np.empty(cells)
    for cell in range(cells):
        count = 0
        bound = min(0.0, alone[cell])
        for place in range(members_indptr[cell], members_indptr[cell + 1]):
            g = members_indices[place]
            for at in range(homes_indptr[g], homes_indptr[g + 1]):
                other = homes_indices[at]
                if other == cell:
                    if worth[g] <= 0:
                        bound += worth[g] + share[at]
                    continue
                if not is_met[other]:
                    is_met[other] = True
                    met[count] = other
                    count += 1
                changes[other] += share[at] - credit[g]
        for place in range(count):
            other = met[place]
            bound += max(0.0, alone[other] + changes[other]) - max(0.0, alone[other])
            changes[other] = 0.0
            is_met[other] = False
        falls[cell] = -bound
    return falls


@njit(cache=True)
def carry(
    group: Array, homes_indptr: Array, homes_indices: Array, kept: Array, share: Array, new_indptr: Array, total: int
) -> Array:
    """Return the shares of groups that were put together, added up; ``group`` is old group → new one, or −1.

    The groups put together have the same homes among the ``kept`` cells, in the same order.
    """
    carried = np.zeros(total)
    for g in range(len(group)):
        if group[g] >= 0:
            at = new_indptr[group[g]]
            for old in range(homes_indptr[g], homes_indptr[g + 1]):
                if kept[homes_indices[old]]:
                    carried[at] += share[old]
                    at += 1
    return carried
