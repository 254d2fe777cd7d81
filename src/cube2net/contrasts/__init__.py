"""What tells sets of objects apart, and where they are: mixed cells, exact tests, and the few cells that say most."""

from cube2net.contrasts.cell_members import members
from cube2net.contrasts.chance_tests import difference_interval
from cube2net.contrasts.mixed_cells import MixedCells, count_objects, held, mixed_cells, own_cells
from cube2net.contrasts.narrowing import Narrowed, narrow
from cube2net.contrasts.separating import Separation, Sides, enough_objects, separate

__all__ = [
    "MixedCells",
    "Narrowed",
    "Separation",
    "Sides",
    "count_objects",
    "difference_interval",
    "enough_objects",
    "held",
    "members",
    "mixed_cells",
    "narrow",
    "own_cells",
    "separate",
]
