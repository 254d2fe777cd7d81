from .assembly import (
    assemble as assemble,
    brings_objects as brings_objects,
    expected_nodes as expected_nodes,
    first_cells as first_cells,
    induce as induce,
    make_form as make_form,
    room_for_near as room_for_near,
    within as within,
)
from .attributes import about_objects as about_objects, columns_of as columns_of, label_shares as label_shares
from .drawing.matplotlib import check_picture_path as check_picture_path, draw as draw
from .export.graphs import to_igraph as to_igraph, to_networkx as to_networkx, to_scipy as to_scipy
from .export.pyg import geometric as geometric, to_hetero as to_hetero, to_pyg as to_pyg
from .export.recipes import network_path as network_path, read_recipe as read_recipe
from .export.registry import (
    EXPORTS as EXPORTS,
    can_be_safe as can_be_safe,
    check_network_path as check_network_path,
    write as write,
)
from .export.text import brief_text as brief_text, text_of as text_of
from .export.token_budget import (
    Section as Section,
    estimated_tokens as estimated_tokens,
    longest_text as longest_text,
)
from .hops import Hops as Hops, Nothing as Nothing
from .drawing.layout import layout as layout
from .maxdisc import MaxDisc as MaxDisc
from .pagerank import PageRank as PageRank, nearest as nearest, scores as scores
from .steiner import Steiner as Steiner
from .summary import (
    certificate as certificate,
    certificate_of as certificate_of,
    describe_limit as describe_limit,
    describe_missing_links as describe_missing_links,
    describe_scope as describe_scope,
    describe_size as describe_size,
    said_of_network as said_of_network,
    summarize as summarize,
)
from .drawing.picture import describe_picture as describe_picture
from .drawing.svg import draw_svg as draw_svg
