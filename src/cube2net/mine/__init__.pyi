from .bipartite import Bipartite as Bipartite, bipartite as bipartite, without_floor as without_floor
from .clustering import (
    METRICS as METRICS,
    Clusters as Clusters,
    KMeans as KMeans,
    f1 as f1,
    jaccard_index as jaccard_index,
    nmi as nmi,
    overlapping_nmi as overlapping_nmi,
)
from .link_prediction import (
    LINK_MEASURES as LINK_MEASURES,
    BestOf as BestOf,
    HiddenLinks as HiddenLinks,
    LinkMiner as LinkMiner,
    PairRanking as PairRanking,
    Ranking as Ranking,
    choose as choose,
    rank_links as rank_links,
    rank_pairs as rank_pairs,
)
from .miners import (
    Given as Given,
    Miners as Miners,
    cluster_query as cluster_query,
    clustering_miners as clustering_miners,
    embed_nodes as embed_nodes,
    hidden_miners as hidden_miners,
    known_labels as known_labels,
    link_miners as link_miners,
)
from .node_embeddings import (
    EMBEDDINGS as EMBEDDINGS,
    DeepWalk as DeepWalk,
    Line as Line,
    Node2vec as Node2vec,
    Walks as Walks,
    links_of as links_of,
)
from .recommenders import (
    RECOMMENDERS as RECOMMENDERS,
    TRIED as TRIED,
    Als as Als,
    Ease as Ease,
    ItemKnn as ItemKnn,
    Popularity as Popularity,
)
from .softimpute import SoftImpute as SoftImpute
