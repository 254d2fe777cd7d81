"""Where hidden links stand when every user's items are put in order of their scores."""

from __future__ import annotations

import numpy as np

from cube2net.array_types import Array
from cube2net.kernels.compiled import njit


@njit(cache=True, nogil=True)
def placing(
    scores: Array, slack: Array, known_indptr: Array, known: Array, hidden_indptr: Array, hidden: Array
) -> tuple[Array, Array, Array]:
    """Return of every hidden link how many items stand above it, how many level with it, and its AUC.

    Row i of ``scores`` is a user's, and scores at most ``slack[i]`` apart are level; the items of
    ``known[known_indptr[i]:known_indptr[i + 1]]`` are left out. Level items include the link's own. The AUC is the
    share of the items that are neither known nor hidden that stand below it, level ones counted half; nan without any.
    """
    count = len(hidden)
    above = np.zeros(count, np.int64)
    level = np.zeros(count, np.int64)
    auc = np.full(count, np.nan)
    state = np.zeros(scores.shape[1], np.int8)
    for user in range(len(scores)):
        state[:] = 0
        for k in range(known_indptr[user], known_indptr[user + 1]):
            state[known[k]] = 2
        for k in range(hidden_indptr[user], hidden_indptr[user + 1]):
            state[hidden[k]] = 1
        for k in range(hidden_indptr[user], hidden_indptr[user + 1]):
            own = scores[user, hidden[k]]
            others, beaten = 0, 0.0
            for item in range(scores.shape[1]):
                if state[item] == 2:
                    continue
                apart = scores[user, item] - own
                if apart > slack[user]:
                    above[k] += 1
                elif apart >= -slack[user]:
                    level[k] += 1
                if state[item] == 0:
                    others += 1
                    if apart < -slack[user]:
                        beaten += 1.0
                    elif apart <= slack[user]:
                        beaten += 0.5
            if others > 0:
                auc[k] = beaten / others
    return above, level, auc
