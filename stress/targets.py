"""All readers by name: a target writes the input of a seed, reads it and queries it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stress.bombs import BOMBS
from stress.fuzz_cubes import CUBES
from stress.fuzz_exports import EXPORTS
from stress.fuzz_files import FILES
from stress.fuzz_sheets import SHEETS
from stress.fuzz_sources import SAMPLES
from stress.large import LARGE

Target = Callable[[Path, Path, int | None], None]
SMALL: dict[str, Target] = {**SAMPLES, **SHEETS, **BOMBS, **CUBES, **FILES}
TARGETS: dict[str, Target] = {**SMALL, **EXPORTS, **LARGE}
