"""Tests that take too long for the suite: many damaged inputs, kills, races, full disks and hostile names.

``python -m stress`` runs all parts and prints counts; docs/findings/reliability.md describes the guarantees.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for _folder in ("tests", "tests/io", "tests/cube"):  # the small samples that the tests have
    if str(ROOT / _folder) not in sys.path:
        sys.path.append(str(ROOT / _folder))
