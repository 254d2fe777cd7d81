from .cell_members import members as members
from .chance_tests import difference_interval as difference_interval
from .mixed_cells import (
    MixedCells as MixedCells,
    count_objects as count_objects,
    held as held,
    mixed_cells as mixed_cells,
    own_cells as own_cells,
)
from .narrowing import Narrowed as Narrowed, narrow as narrow
from .separating import Separation as Separation, Sides as Sides, enough_objects as enough_objects, separate as separate
from .cell_reasons import account_of as account_of, explain_cell as explain_cell
from .choice_values import Choice as Choice
from .object_reasons import explain_object as explain_object
from .query_ranks import QueryRanks as QueryRanks
from .shared_items import ItemsOfObjects as ItemsOfObjects
