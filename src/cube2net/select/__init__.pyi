from .anneal import Anneal as Anneal
from .contract import check_selection as check_selection, outcome as outcome
from .greedy import Greedy as Greedy
from .rl.cube2net import Cube2net as Cube2net
from .rl.policy import Trained as Trained
from .rl.presets import PRESETS as PRESETS
from .objective import (
    OBJECTIVES as OBJECTIVES,
    Cover as Cover,
    Coverage as Coverage,
    FBeta as FBeta,
    Jaccard as Jaccard,
    Linked as Linked,
    Own as Own,
    Precision as Precision,
)
from .exact.exact import Exact as Exact, bounded as bounded
from .random import Random as Random
from .scopes import check_no_cells as check_no_cells, check_scope as check_scope, scope_of as scope_of
from .settled import Settled as Settled, guided as guided
