"""The sources by name: which reader turns which data into a corpus."""

from cube2net.interfaces import Source
from cube2net.sources.readers.acl import Acl
from cube2net.sources.readers.aminer import Aminer
from cube2net.sources.readers.dblp import Dblp
from cube2net.sources.readers.movies import Movies
from cube2net.sources.readers.openalex import OpenAlex
from cube2net.sources.readers.yelp import Yelp
from cube2net.sources.tables.graph_files import Graph
from cube2net.sources.tables.sql import Sql
from cube2net.sources.tables.table_source import Tables

SOURCES: dict[str, type[Source]] = {
    "tables": Tables,
    "sql": Sql,
    "graph": Graph,
    "openalex": OpenAlex,
    "acl": Acl,
    "aminer": Aminer,
    "dblp": Dblp,
    "yelp": Yelp,
    "movies": Movies,
}
