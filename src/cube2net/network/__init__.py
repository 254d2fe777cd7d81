"""Cube + Selection → Network: methods that follow links, a network's links and forms, and its ways out."""

from cube2net.network.batches import bring, link_entries, memberships
from cube2net.network.brief_text import brief_text
from cube2net.network.cube_tensors import cube_data
from cube2net.network.draw import check_picture_path, draw
from cube2net.network.export import EXPORTS, can_be_safe, check_network_path, to_igraph, to_networkx, write
from cube2net.network.forms import (
    assemble,
    brings_objects,
    cell_sizes,
    first_cells,
    form_of,
    room_for_near,
    said_of_limit,
    said_of_scope,
    said_of_size,
)
from cube2net.network.hops import Hops, Nothing
from cube2net.network.layout import layout
from cube2net.network.links import induce, within
from cube2net.network.maxdisc import MaxDisc
from cube2net.network.network_notes import said_of_links
from cube2net.network.network_summary import certificate, certificate_of, said_of_network, summary
from cube2net.network.network_text import text_of
from cube2net.network.node_columns import label_shares
from cube2net.network.object_descriptions import about_objects
from cube2net.network.pagerank import PageRank, nearest, scores
from cube2net.network.pyg import geometric, to_hetero, to_pyg
from cube2net.network.recipe_files import network_path, read_recipe
from cube2net.network.steiner_tree import Steiner
from cube2net.network.svg_picture import description, svg_of
from cube2net.network.table_formats import to_scipy
from cube2net.network.text_budget import Section, estimated_tokens, longest_text

__all__ = [
    "EXPORTS",
    "Hops",
    "MaxDisc",
    "Nothing",
    "PageRank",
    "Section",
    "Steiner",
    "about_objects",
    "assemble",
    "brief_text",
    "bring",
    "brings_objects",
    "can_be_safe",
    "cell_sizes",
    "certificate",
    "certificate_of",
    "check_network_path",
    "check_picture_path",
    "cube_data",
    "description",
    "draw",
    "estimated_tokens",
    "first_cells",
    "form_of",
    "geometric",
    "induce",
    "label_shares",
    "layout",
    "link_entries",
    "longest_text",
    "memberships",
    "nearest",
    "network_path",
    "read_recipe",
    "room_for_near",
    "said_of_limit",
    "said_of_links",
    "said_of_network",
    "said_of_scope",
    "said_of_size",
    "scores",
    "summary",
    "svg_of",
    "text_of",
    "to_hetero",
    "to_igraph",
    "to_networkx",
    "to_pyg",
    "to_scipy",
    "within",
    "write",
]
