# The public names, in the order in which one would teach them. This list makes ``__all__``, loads each name when it is
# first asked for, and is the table of contents of docs/reference/api.md.
from . import (
    cube as cube,
    api as api,
    model as model,
)

# Data
from .model.corpus import (
    Corpus as Corpus,
)
from .model.dimension import (
    DimensionSpec as DimensionSpec,
)
from .api.read import (
    read_source as read_source,
    read_tables as read_tables,
    read_sql as read_sql,
    read_graph as read_graph,
    read_references as read_references,
    from_networkx as from_networkx,
)
from .api.datasets import (
    load_bundled as load_bundled,
    load_labs as load_labs,
    load_areas as load_areas,
    make_planted as make_planted,
)

# Cubes
from .model.cube import (
    Cube as Cube,
)
from .api.suggest import (
    suggest as suggest,
)
from .api.build import (
    build_cube as build_cube,
    build_from as build_from,
)
from .api.cubes import open_cube as open_cube, save_cube as save_cube, verify_cube as verify_cube
from .api.update import update_cube as update_cube

# Networks
from .model.network import (
    Network as Network,
)
from .model.change import (
    Price as Price,
)
from .model.query import (
    Query as Query,
)
from .model.recipe import (
    Recipe as Recipe,
)
from .api.construct import (
    construct as construct,
)
from .api.what_if import (
    prices as prices,
)
from .api.query import (
    read_query as read_query,
)
from .api.export import write_network as write_network
from .api.draw import draw_network as draw_network
from .api.text import to_text as to_text
from .api.replay import (
    replay as replay,
)
from .api.what_if import (
    without as without,
    with_ as with_,
)
from .network.export.graphs import (
    to_networkx as to_networkx,
    to_igraph as to_igraph,
    to_scipy as to_scipy,
)
from .network.export.pyg import (
    to_pyg as to_pyg,
    to_hetero as to_hetero,
)

# Why, what if, against whom
from .api.explain import (
    explain as explain,
)
from .api.contrast import (
    contrast as contrast,
    describe as describe,
)
from .api.drill import (
    drill as drill,
)
from .api.drill import (
    pivot as pivot,
)

# Look around
from .apps.notebook.explore import (
    explore as explore,
)

# Methods
from .network.hops import (
    Nothing as Nothing,
    Hops as Hops,
)
from .network.pagerank import (
    PageRank as PageRank,
)
from .network.steiner import (
    Steiner as Steiner,
)
from .network.maxdisc import (
    MaxDisc as MaxDisc,
)
from .selection.random import (
    Random as Random,
)
from .selection.greedy import (
    Greedy as Greedy,
)
from .selection.anneal import (
    Anneal as Anneal,
)
from .selection.exact.exact import (
    Exact as Exact,
)
from .selection.rl.cube2net import (
    Cube2net as Cube2net,
)
from .api.compare import (
    Auto as Auto,
)
from .api.plan import (
    METHODS as METHODS,
)
from .selection.objectives import (
    OBJECTIVES as OBJECTIVES,
)
from .options import (
    FORMS as FORMS,
)

# Does it help?
from .model.comparison import (
    Comparison as Comparison,
)
from .api.compare import (
    compare as compare,
)
from .api.report import (
    verdict as verdict,
    read_comparison as read_comparison,
    write_report as write_report,
)

# Errors
from .errors import (
    Cube2netError as Cube2netError,
)

__version__: str
