"""Network → Vectors, labels, scores: what a network does for the next step."""

from cube2net.interfaces import Fitted, Recommender
from cube2net.mine.bipartite import Bipartite, bipartite
from cube2net.mine.cluster_metrics import METRICS, f1, jaccard_index, nmi, overlapping_nmi
from cube2net.mine.kmeans import Clusters, KMeans
from cube2net.mine.link_prediction import PairRanking, Ranking, rank_links, rank_pairs
from cube2net.mine.link_scores import without_floor
from cube2net.mine.model_selection import Choice, choose
from cube2net.mine.node_embeddings import EMBEDDINGS, DeepWalk, Line, Node2vec
from cube2net.mine.random_walks import Walks, links_of
from cube2net.mine.recommenders import RECOMMENDERS, TRIED, Als, Ease, ItemKnn, Popularity
from cube2net.mine.softimpute import SoftImpute

__all__ = [
    "EMBEDDINGS",
    "METRICS",
    "RECOMMENDERS",
    "TRIED",
    "Als",
    "Bipartite",
    "Choice",
    "Clusters",
    "DeepWalk",
    "Ease",
    "Fitted",
    "ItemKnn",
    "KMeans",
    "Line",
    "Node2vec",
    "PairRanking",
    "Popularity",
    "Ranking",
    "Recommender",
    "SoftImpute",
    "Walks",
    "bipartite",
    "choose",
    "f1",
    "jaccard_index",
    "links_of",
    "nmi",
    "overlapping_nmi",
    "rank_links",
    "rank_pairs",
    "without_floor",
]
