# The public names, in the order in which one would teach them. This list makes ``__all__``, loads each name when it is
# first asked for, and is the table of contents of docs/reference/api.md.
from . import cube as cube, pipeline as pipeline, records as records

# Data
from .records import Corpus as Corpus, DimensionSpec as DimensionSpec
from .pipeline import (
    read_source as read_source,
    read_tables as read_tables,
    read_sql as read_sql,
    read_graph as read_graph,
    from_networkx as from_networkx,
    load_bundled as load_bundled,
    load_labs as load_labs,
    load_areas as load_areas,
    make_planted as make_planted,
)

# Cubes
from .records import Cube as Cube
from .pipeline.suggestions import suggest as suggest
from .pipeline import (
    build_cube as build_cube,
    build_from as build_from,
    open_cube as open_cube,
    save_cube as save_cube,
    update_cube as update_cube,
    verify_cube as verify_cube,
)

# Networks
from .records import Network as Network, Price as Price, Query as Query, Recipe as Recipe
from .pipeline.construct import construct as construct
from .pipeline.prices import prices as prices
from .pipeline import (
    read_query as read_query,
    write_network as write_network,
    replay as replay,
    draw_network as draw_network,
    to_text as to_text,
    without as without,
    with_ as with_,
)
from .network import (
    to_networkx as to_networkx,
    to_igraph as to_igraph,
    to_pyg as to_pyg,
    to_hetero as to_hetero,
    to_scipy as to_scipy,
)

# Why, what if, against whom
from .pipeline.explaining import explain as explain
from .pipeline.contrasting import contrast as contrast, describe as describe
from .pipeline.drills import drill as drill
from .pipeline.pivots import pivot as pivot

# Look around
from .notebook.explore import explore as explore

# Methods
from .network import (
    Nothing as Nothing,
    Hops as Hops,
    PageRank as PageRank,
    Steiner as Steiner,
    MaxDisc as MaxDisc,
)
from .select import (
    Random as Random,
    Greedy as Greedy,
    Anneal as Anneal,
    Exact as Exact,
    Cube2net as Cube2net,
)
from .pipeline import Auto as Auto, METHODS as METHODS, OBJECTIVES as OBJECTIVES, FORMS as FORMS

# Does it help?
from .records import Comparison as Comparison
from .pipeline.compare import compare as compare
from .pipeline import (
    verdict as verdict,
    read_comparison as read_comparison,
    write_report as write_report,
)

# Errors
from .errors import Cube2netError as Cube2netError

__version__: str
