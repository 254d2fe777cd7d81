"""Raw data becomes a corpus.

    readers/   one file for every data set
    io/        how all of them are read: paths, archives, lines, records, and what is left out
    tables/    networks in tables of any usual format
    made/      corpora that come with the package or are made up, and tasks of link prediction

What is listed here is what others may use.
"""

from cube2net.interfaces import Source
from cube2net.sources.made.bundled import AREA_SIGS, load_areas, load_bundled, load_labs
from cube2net.sources.made.dblp_like import PAPERS as DBLP_PAPERS
from cube2net.sources.made.dblp_like import make_dblp_like, open_dblp_like
from cube2net.sources.made.link_tasks import Task, link_task
from cube2net.sources.made.planted import Planted, make_planted
from cube2net.sources.readers.acl import Acl
from cube2net.sources.readers.aminer import Aminer
from cube2net.sources.readers.dblp import Dblp
from cube2net.sources.readers.movies import Movies
from cube2net.sources.readers.openalex import OpenAlex
from cube2net.sources.readers.yelp import Yelp
from cube2net.sources.tables.frame_rows import is_frame
from cube2net.sources.tables.frame_source import read_tables
from cube2net.sources.tables.graph_files import ENDINGS as GRAPH_ENDINGS
from cube2net.sources.tables.graph_files import Graph
from cube2net.sources.tables.igraph_graph import from_igraph, is_igraph
from cube2net.sources.tables.networkx_graph import from_networkx, is_networkx
from cube2net.sources.tables.query_bytes import read_query_bytes, read_text
from cube2net.sources.tables.query_files import read_pairs_file, read_query_file
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

__all__ = [
    "AREA_SIGS",
    "DBLP_PAPERS",
    "GRAPH_ENDINGS",
    "SOURCES",
    "Acl",
    "Aminer",
    "Dblp",
    "Graph",
    "Movies",
    "OpenAlex",
    "Planted",
    "Sql",
    "Tables",
    "Task",
    "Yelp",
    "from_igraph",
    "from_networkx",
    "is_frame",
    "is_igraph",
    "is_networkx",
    "link_task",
    "load_areas",
    "load_bundled",
    "load_labs",
    "make_dblp_like",
    "make_planted",
    "open_dblp_like",
    "read_pairs_file",
    "read_query_bytes",
    "read_query_file",
    "read_tables",
    "read_text",
]
