"""The sources by name."""

from cube2net.io.bibliography.acl import Acl
from cube2net.io.bibliography.aminer import Aminer
from cube2net.io.bibliography.dblp import Dblp
from cube2net.io.bibliography.openalex import OpenAlex
from cube2net.io.bibliography.references import References
from cube2net.io.graphs import Graph
from cube2net.io.reviews.movies import Movies
from cube2net.io.reviews.yelp import Yelp
from cube2net.io.sql import Sql
from cube2net.io.tables.table_source import Tables
from cube2net.model.interfaces import Registry, Source

SOURCES: Registry[type[Source]] = Registry(
    "cube2net.sources",
    {
        "tables": Tables,
        "sql": Sql,
        "graph": Graph,
        "references": References,
        "openalex": OpenAlex,
        "acl": Acl,
        "aminer": Aminer,
        "dblp": Dblp,
        "yelp": Yelp,
        "movies": Movies,
    },
)
