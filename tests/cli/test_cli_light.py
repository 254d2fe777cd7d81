"""What a command loads: nothing that it does not need, for loading takes longer than most of the work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from cube2net.__main__ import main

try:
    main()
finally:
    sys.stderr.write("\\nLOADED " + " ".join(sorted(sys.modules)))
"""
EXTRAS = ("torch", "pyspark", "matplotlib", "plotly", "networkx", "igraph", "polars", "starlette", "uvicorn", "mcp")
HEAVY = (*EXTRAS, "numba", "llvmlite", "scipy", "sklearn", "duckdb", "pyarrow.dataset")
ELSEWHERE = (
    *("io.bibliography", "io.reviews", "api.datasets", "io.tables.table_source", "io.sql", "topics.lda"),
    *("cube.engines", "cube.building.build", "api.build", "api.compare", "evaluation.trials", "mining.models"),
    *("kernels.compiled", "vectors.cell_vectors", "apps.service", "apps.server", "apps.notebook.html", "apps.mcp"),
)
"""Parts of the package in which other commands work."""


def loaded_by(*words: object) -> set[str]:
    """Return the modules that a command has loaded when it ends, in a process of its own."""
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    ended = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    return set(ended.stderr.rpartition("LOADED ")[2].split())


def too_much(loaded: set[str], *parts: str) -> list[str]:
    return sorted(name for name in loaded for part in parts if name == part or name.startswith(f"{part}."))


def own(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"cube2net.{part}" for part in parts)


def test_a_query_loads_neither_compiled_code_nor_what_builds_or_compares(
    cube: Path, names: Path, tmp_path: Path
) -> None:
    loaded = loaded_by("query", cube, "--query", names, "--out", tmp_path / "network.graphml")
    assert "numpy" in loaded and "cube2net.api.construct" in loaded
    assert too_much(loaded, *HEAVY, "pandas", *own(ELSEWHERE)) == []


def test_to_tell_what_a_cube_is_loads_nothing_that_chooses_or_builds(cube: Path) -> None:
    loaded = loaded_by("info", cube)
    elsewhere = (*ELSEWHERE, "selection", "network", "api.construct")
    elsewhere = tuple(part for part in elsewhere if part != "vectors.cell_vectors")  # it names labels without vectors
    assert too_much(loaded, *HEAVY, *own(elsewhere)) == []


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("query", "--help"), ("compare", "--help")])
def test_help_and_version_load_no_arrays_and_no_room(words: tuple[str, ...]) -> None:
    loaded = loaded_by(*words)
    assert too_much(loaded, *HEAVY, "numpy", "pyarrow", *own(("api", "model", "kernels", "cube"))) == []
