from .all_sources import SOURCES as SOURCES
from .made.bundled import (
    AREA_SIGS as AREA_SIGS,
    load_areas as load_areas,
    load_bundled as load_bundled,
    load_labs as load_labs,
)
from .readers.reviews import Task as Task, link_task as link_task
from .made.planted import Planted as Planted, make_planted as make_planted
from .readers.acl import Acl as Acl
from .readers.aminer import Aminer as Aminer
from .readers.dblp import Dblp as Dblp
from .readers.movies import Movies as Movies
from .readers.openalex import OpenAlex as OpenAlex
from .readers.yelp import Yelp as Yelp
from .tables.frames import is_frame as is_frame
from .tables.table_source import read_tables as read_tables
from .tables.graph_files import GRAPH_ENDINGS as GRAPH_ENDINGS, Graph as Graph, is_graph_file as is_graph_file
from .tables.graph_objects import from_igraph as from_igraph, is_igraph as is_igraph
from .tables.graph_objects import from_networkx as from_networkx, is_networkx as is_networkx
from .tables.query_files import read_query_bytes as read_query_bytes, read_text as read_text
from .tables.query_files import read_pairs_file as read_pairs_file, read_query_file as read_query_file
from .tables.sql import Sql as Sql
from .tables.table_roles import ColumnRole as ColumnRole, TableRoles as TableRoles
from .tables.table_source import TableReading as TableReading, Tables as Tables
