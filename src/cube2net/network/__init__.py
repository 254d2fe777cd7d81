"""Cube + Selection → Network: methods that follow links, a network's links and forms, and its ways out."""

from cube2net.network.draw import PICTURES, draw
from cube2net.network.export import EXPORTS, to_igraph, to_networkx, to_pyg, to_scipy, write
from cube2net.network.hops import Hops
from cube2net.network.links import assemble, induce, within
from cube2net.network.maxdisc import MaxDisc
from cube2net.network.nothing import Nothing
from cube2net.network.pagerank import PageRank, nearest, scores
from cube2net.network.steiner import Steiner

__all__ = [
    "EXPORTS",
    "PICTURES",
    "Hops",
    "MaxDisc",
    "Nothing",
    "PageRank",
    "Steiner",
    "assemble",
    "draw",
    "induce",
    "nearest",
    "scores",
    "to_igraph",
    "to_networkx",
    "to_pyg",
    "to_scipy",
    "within",
    "write",
]
