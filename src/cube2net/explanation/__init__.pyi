from .cell_reasons import compute_account as compute_account, explain_cell as explain_cell
from .contrast import (
    Separation as Separation,
    Sides as Sides,
    difference_interval as difference_interval,
    enough_objects as enough_objects,
    separate as separate,
)
from .drill import Narrowed as Narrowed, narrow as narrow
from .link_evidence import ItemsOfObjects as ItemsOfObjects, QueryRanks as QueryRanks
from .mixed_cells import (
    MixedCells as MixedCells,
    count_objects as count_objects,
    find_members as find_members,
    find_mixed_cells as find_mixed_cells,
    rank_members as rank_members,
)
from .object_reasons import explain_object as explain_object
