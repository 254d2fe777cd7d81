# The public names, in the order in which one would teach them. This list makes ``__all__``, loads each name when it is
# first asked for, and is the table of contents of docs/reference/api.md.
from . import (
    methods as methods,
    cube as cube,
    model as model,
    api as api,
)

# Data
from .api.read import (
    read_tables as read_tables,
    read_references as read_references,
    read_sql as read_sql,
    read_graph as read_graph,
    read_source as read_source,
    from_networkx as from_networkx,
)
from .api.datasets import (
    load_bundled as load_bundled,
    load_labs as load_labs,
    load_areas as load_areas,
    make_planted as make_planted,
)
from .model.corpus import (
    Corpus as Corpus,
)
from .model.dimension import (
    DimensionSpec as DimensionSpec,
)

# Cubes
from .api.build import (
    build as build,
)
from .api.cubes import (
    open as open,
)
from .api.update import (
    update as update,
)
from .api.suggest import (
    suggest as suggest,
)
from .model.cube import (
    Cube as Cube,
)

# Networks
from .api.construct import (
    construct as construct,
)
from .api.query import (
    read_query as read_query,
)
from .api.replay import (
    replay as replay,
)
from .model.network import (
    Network as Network,
)
from .model.query import (
    Query as Query,
)
from .model.recipe import (
    Recipe as Recipe,
)
from .options import (
    NetworkOptions as NetworkOptions,
)

# Explanations
from .api.explain import (
    explain as explain,
)
from .api.contrast import (
    contrast as contrast,
)
from .api.drill import (
    drill as drill,
    pivot as pivot,
)
from .apps.notebook.explore import (
    explore as explore,
)

# The next step
from .api.embedding import (
    CubeEmbedding as CubeEmbedding,
)
from .api.compare import (
    compare as compare,
    ComparisonOptions as ComparisonOptions,
    read_comparison as read_comparison,
)
from .model.comparison import (
    Comparison as Comparison,
)

# Errors
from .errors import (
    Cube2netError as Cube2netError,
)

__version__: str
