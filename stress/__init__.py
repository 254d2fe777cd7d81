"""What the tests cannot afford: damaged input by the hundred thousand, kills, races, full disks and hostile names.

``python -m stress`` runs every part and prints what it counted; docs/findings/reliability.md says what is promised.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for _folder in ("tests", "tests/io", "tests/cube"):  # the small samples that the tests have
    if str(ROOT / _folder) not in sys.path:
        sys.path.append(str(ROOT / _folder))
