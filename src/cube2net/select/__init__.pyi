from .anneal import Anneal as Anneal
from .contract import check_selection as check_selection, outcome as outcome
from .exact.exact import Exact as Exact, bounded as bounded
from .greedy import Greedy as Greedy
from .objectives import (
    OBJECTIVES as OBJECTIVES,
    Cover as Cover,
    Coverage as Coverage,
    FBeta as FBeta,
    Jaccard as Jaccard,
    Linked as Linked,
    Own as Own,
    Precision as Precision,
)
from .random import Random as Random
from .rl.cube2net import Cube2net as Cube2net
from .rl.policy import Trained as Trained
from .rl.presets import PRESETS as PRESETS
from .steering import (
    Settled as Settled,
    check_no_cells as check_no_cells,
    check_scope as check_scope,
    guided as guided,
    scope_of as scope_of,
)
