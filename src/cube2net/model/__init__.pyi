from .selection import (
    Budget as Budget,
)
from .objects import (
    Lookups as Lookups,
    LabelCounts as LabelCounts,
)
from .explanation import (
    CellExplanation as CellExplanation,
    ValueAccount as ValueAccount,
)
from .comparison import (
    Comparison as Comparison,
    Configuration as Configuration,
    Trial as Trial,
)
from .corpus import (
    Corpus as Corpus,
)
from .cube import (
    Cells as Cells,
    Cube as Cube,
)
from .dimension import (
    Dimension as Dimension,
    Level as Level,
)
from .network import (
    Drawing as Drawing,
)
from .explanation import (
    ObjectExplanation as ObjectExplanation,
)
from .network import (
    Form as Form,
)
from .comparison import (
    Hidden as Hidden,
)
from .items import (
    ItemIndex as ItemIndex,
)
from .cube import (
    LinkDetails as LinkDetails,
)
from .network import (
    Network as Network,
)
from .node_names import (
    Node as Node,
)
from .tables import (
    ArrowTable as ArrowTable,
    FrameReading as FrameReading,
    Nodes as Nodes,
    Tabular as Tabular,
)
from .objects import (
    Objects as Objects,
)
from .contrast import (
    Pivot as Pivot,
)
from .query import (
    Query as Query,
)
from .network import (
    RequestContext as RequestContext,
)
from .recipe import (
    Recipe as Recipe,
)
from .selection import (
    Price as Price,
    Scope as Scope,
)
from .selection import (
    Selection as Selection,
)
from .dimension import (
    DimensionSpec as DimensionSpec,
)
from .selection import (
    Steering as Steering,
)
from .corpus import (
    Topics as Topics,
)
from .vectors import (
    Vectors as Vectors,
)
from .selection import (
    CallableObjective as CallableObjective,
    CoverObjective as CoverObjective,
    Weights as Weights,
    QueryObjective as QueryObjective,
)
