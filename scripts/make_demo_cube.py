"""Build the cube and the query of `cube2net demo` without the comparison, for `make explore`.

python scripts/make_demo_cube.py demo-out
"""

from __future__ import annotations

import sys
from pathlib import Path

import cube2net as c2n
from cube2net._util.files import write_table
from cube2net.api.datasets import AREA_SIGS
from cube2net.apps.cli.output import shown_progress


def make(folder: Path) -> None:
    """Write cube/ and query.csv into a folder."""
    with shown_progress(False) as progress:
        c2n.build(c2n.load_bundled(without_sigs=AREA_SIGS), out=folder / "cube", progress=progress)
    write_table(folder / "query.csv", ("object", "label"), c2n.load_areas().items())


if __name__ == "__main__":
    make(Path(sys.argv[1]))
