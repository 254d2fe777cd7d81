"""What tells sets of objects apart: the mixed cells that they are in, exact tests, and the few cells that say most."""

from cube2net.contrasts.chance_tests import difference_interval
from cube2net.contrasts.mixed_cells import MixedCells, mixed_cells
from cube2net.contrasts.separating import Separation, Sides, enough_objects, separate

__all__ = ["MixedCells", "Separation", "Sides", "difference_interval", "enough_objects", "mixed_cells", "separate"]
