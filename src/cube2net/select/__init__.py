"""Cube + query → selection: which cells to bring, and what they are worth."""

from cube2net.select.greedy import Greedy
from cube2net.select.objective import OBJECTIVES, Coverage, FBeta, Jaccard, Precision
from cube2net.select.random import Random

__all__ = ["OBJECTIVES", "Coverage", "FBeta", "Greedy", "Jaccard", "Precision", "Random"]
