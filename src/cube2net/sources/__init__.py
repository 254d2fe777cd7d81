"""Raw data becomes a corpus."""

from cube2net.interfaces import Source
from cube2net.sources.acl import Acl
from cube2net.sources.aminer import Aminer
from cube2net.sources.bundled import AREA_SIGS, areas, labs, load_bundled
from cube2net.sources.dblp import Dblp
from cube2net.sources.dblp_like import PAPERS, make_dblp_like, open_dblp_like
from cube2net.sources.holdout import Task
from cube2net.sources.movies import Movies
from cube2net.sources.networkx import from_networkx
from cube2net.sources.queryfile import read_pairs_file, read_query_file
from cube2net.sources.synthetic import Planted, make_planted
from cube2net.sources.tables import Tables
from cube2net.sources.yelp import Yelp

SOURCES: dict[str, type[Source]] = {
    "tables": Tables,
    "acl": Acl,
    "aminer": Aminer,
    "dblp": Dblp,
    "yelp": Yelp,
    "movies": Movies,
}

__all__ = [
    "AREA_SIGS",
    "PAPERS",
    "SOURCES",
    "Acl",
    "Aminer",
    "Dblp",
    "Movies",
    "Planted",
    "Tables",
    "Task",
    "Yelp",
    "areas",
    "from_networkx",
    "labs",
    "load_bundled",
    "make_dblp_like",
    "make_planted",
    "open_dblp_like",
    "read_pairs_file",
    "read_query_file",
]
