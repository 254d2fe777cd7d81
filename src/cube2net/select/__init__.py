"""Cube + query → selection: which cells to bring, what they are worth, and how far that is from the best.

Choosing is at the top; ``prove`` finds the best selection and bounds on it, ``learn`` learns to choose.
"""

from cube2net.select.anneal import Anneal
from cube2net.select.contract import check_selection, outcome
from cube2net.select.greedy import Greedy
from cube2net.select.learn.cube2net import Cube2net
from cube2net.select.learn.policy import Trained
from cube2net.select.learn.presets import PRESETS
from cube2net.select.objective import OBJECTIVES, Cover, Coverage, FBeta, Jaccard, Linked, Own, Precision
from cube2net.select.prove.exact import Exact, bounded
from cube2net.select.random import Random
from cube2net.select.scopes import check_no_cells, check_scope, scope_of
from cube2net.select.settled import Settled, guided

__all__ = [
    "OBJECTIVES",
    "PRESETS",
    "Anneal",
    "Cover",
    "Coverage",
    "Cube2net",
    "Exact",
    "FBeta",
    "Greedy",
    "Jaccard",
    "Linked",
    "Own",
    "Precision",
    "Random",
    "Settled",
    "Trained",
    "bounded",
    "check_no_cells",
    "check_scope",
    "check_selection",
    "guided",
    "outcome",
    "scope_of",
]
