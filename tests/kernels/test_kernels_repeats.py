from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.arrays import transpose
from cube2net.kernels.repeats import serve

from toys import random_cube


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 11), max_size=8, unique=True), st.integers(0, 3))
def test_serving_keeps_up_what_every_cell_would_serve(seed: int, cells: list[int], most: int) -> None:
    cube = random_cube(seed)
    members, homes = cube.cells.members, transpose(cube.cells.members, 40)
    left = np.full(40, most)
    gains = members.sizes.copy() if most else np.zeros(12, np.int64)
    for cell in cells:
        needing = [o for o in members[cell].tolist() if left[o] > 0]
        wanted = left.copy()
        wanted[needing] -= 1
        served = serve(cell, members.indptr, members.indices, homes.indptr, homes.indices, left, gains)
        assert served == len(needing) and left.tolist() == wanted.tolist()
        assert gains.tolist() == [int((left[members[other]] > 0).sum()) for other in range(12)]
