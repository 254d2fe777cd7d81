"""Raw data becomes a corpus."""

from cube2net.interfaces import Source
from cube2net.sources.acl import Acl
from cube2net.sources.aminer import Aminer
from cube2net.sources.dblp import Dblp
from cube2net.sources.movies import Movies
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

__all__ = ["SOURCES", "Acl", "Aminer", "Dblp", "Movies", "Tables", "Yelp"]
