"""Cube + query → selection: which cells to bring, and what they are worth."""

from cube2net.select.anneal import Anneal
from cube2net.select.greedy import Greedy
from cube2net.select.learn.cube2net import Cube2net
from cube2net.select.objective import OBJECTIVES, Cover, Coverage, FBeta, Jaccard, Linked, Own, Precision
from cube2net.select.prove.bound import bounded
from cube2net.select.prove.exact import Exact
from cube2net.select.random import Random

__all__ = [
    "OBJECTIVES",
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
    "bounded",
]
