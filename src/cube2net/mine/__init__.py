"""Network → Vectors, labels, scores: what a network does for the next step."""

from cube2net.interfaces import Fitted, Recommender
from cube2net.mine.bipartite import Bipartite, bipartite, without_floor
from cube2net.mine.clustering import METRICS, Clusters, KMeans, f1, jaccard_index, nmi, overlapping_nmi
from cube2net.mine.hidden_links import LINK_MEASURES, HiddenLinks, LinkMiner
from cube2net.mine.link_prediction import BestOf, PairRanking, Ranking, choose, rank_links, rank_pairs
from cube2net.mine.miners import (
    Given,
    Miners,
    cluster_query,
    clustering_miners,
    embed_nodes,
    hidden_miners,
    known_labels,
    link_miners,
)
from cube2net.mine.node_embeddings import EMBEDDINGS, DeepWalk, Line, Node2vec
from cube2net.mine.random_walks import Walks, links_of
from cube2net.mine.recommenders import RECOMMENDERS, TRIED, Als, Ease, ItemKnn, Popularity
from cube2net.mine.softimpute import SoftImpute

__all__ = [
    "EMBEDDINGS",
    "LINK_MEASURES",
    "METRICS",
    "RECOMMENDERS",
    "TRIED",
    "Als",
    "BestOf",
    "Bipartite",
    "Clusters",
    "DeepWalk",
    "Ease",
    "Fitted",
    "Given",
    "HiddenLinks",
    "ItemKnn",
    "KMeans",
    "Line",
    "LinkMiner",
    "Miners",
    "Node2vec",
    "PairRanking",
    "Popularity",
    "Ranking",
    "Recommender",
    "SoftImpute",
    "Walks",
    "bipartite",
    "choose",
    "cluster_query",
    "clustering_miners",
    "embed_nodes",
    "f1",
    "hidden_miners",
    "jaccard_index",
    "known_labels",
    "link_miners",
    "links_of",
    "nmi",
    "overlapping_nmi",
    "rank_links",
    "rank_pairs",
    "without_floor",
]
