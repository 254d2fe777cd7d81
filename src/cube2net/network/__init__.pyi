from .brief_text import brief_text as brief_text
from .draw import check_picture_path as check_picture_path, draw as draw
from .export import (
    EXPORTS as EXPORTS,
    can_be_safe as can_be_safe,
    check_network_path as check_network_path,
    to_igraph as to_igraph,
    to_networkx as to_networkx,
    write as write,
)
from .forms import (
    assemble as assemble,
    brings_objects as brings_objects,
    expected_nodes as expected_nodes,
    first_cells as first_cells,
    form_of as form_of,
    room_for_near as room_for_near,
    said_of_limit as said_of_limit,
    said_of_scope as said_of_scope,
    said_of_size as said_of_size,
)
from .hops import Hops as Hops, Nothing as Nothing
from .layout import layout as layout
from .links import induce as induce, within as within
from .maxdisc import MaxDisc as MaxDisc
from .network_notes import said_of_links as said_of_links
from .network_summary import (
    certificate as certificate,
    certificate_of as certificate_of,
    said_of_network as said_of_network,
    summary as summary,
)
from .network_text import text_of as text_of
from .node_columns import label_shares as label_shares
from .object_descriptions import about_objects as about_objects, columns_of as columns_of
from .pagerank import PageRank as PageRank, nearest as nearest, scores as scores
from .pyg import to_hetero as to_hetero, to_pyg as to_pyg
from .recipe_files import network_path as network_path, read_recipe as read_recipe
from .steiner_tree import Steiner as Steiner
from .svg_picture import description as description, svg_of as svg_of
from .table_formats import to_scipy as to_scipy
from .text_budget import Section as Section, estimated_tokens as estimated_tokens, longest_text as longest_text
