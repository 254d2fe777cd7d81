"""Promises about the whole package: who imports whom, what importing costs, what is public."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cube2net

ROOT = Path(cube2net.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
LAYERS = [
    ("array_types", "progress", "spelling", "escaping", "deprecated", "brief_tracebacks"),
    ("errors", "showing", "arrow_values"),
    ("records", "extras"),
    ("interrupts",),
    ("arrays", "seeding", "atomic_files", "arrow_files", "compiling", "unpacking", "fingerprints", "multiple_tests"),
    ("threads", "intervals", "safe_xml"),
    ("workbook_parts",),
    ("kernels",),
    ("interfaces",),
    ("locks", "arguments"),
    (
        *("sources", "topics", "cube", "embed", "select", "network", "mine", "referee", "propose"),
        *("reasons", "contrasts"),
    ),
    ("checkpoints",),
    ("pipeline",),
    ("api",),
    ("explorer",),
    ("notebook", "assistant"),
    ("cli",),
    ("__main__",),
]
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
ROOMS = next(set(names) for names in LAYERS if "sources" in names)


def imported(path: Path) -> set[str]:
    """Return the parts of cube2net (rooms or modules) that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("cube2net.")}
    return found & set(LAYER)


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def test_imports_point_downwards_and_rooms_do_not_import_rooms() -> None:
    assert {part_of(path) for path in MODULES} <= {"__init__", *LAYER}
    faults = []
    for path in MODULES:
        if (part := part_of(path)) == "__init__":
            continue
        for other in imported(path) - {part}:
            if LAYER[other] >= LAYER[part]:
                faults.append(f"{path}: {part} imports {other}, which does not stand below it")
            elif other in ROOMS and part != "pipeline":
                faults.append(f"{path}: {part} imports room {other}: only the pipeline wires rooms")
    assert not faults, "\n".join(faults)


HEAVY = (
    *("torch", "pyspark", "matplotlib", "networkx", "igraph", "numba", "pandas", "polars", "scipy", "duckdb", "plotly"),
    *("starlette", "uvicorn", "anywidget", "mcp"),
)


@pytest.mark.parametrize("words", ["import cube2net", "from cube2net import *"])
def test_importing_cube2net_or_its_public_names_loads_nothing_heavy(words: str) -> None:
    program = f"import sys; {words}; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not set(HEAVY) & set(loaded)


BANNED = r"random\.seed\(|torch\.(cuda\.)?manual_seed\(|allow_pickle|^import pickle|\beval\(|^\s*print\("


def test_no_module_seeds_globally_prints_or_unpickles() -> None:
    matches = [(str(path), re.search(BANNED, path.read_text(encoding="utf-8"), re.MULTILINE)) for path in MODULES]
    assert [(path, match.group()) for path, match in matches if match] == []


def test_no_sentence_of_the_library_speaks_of_the_command_line() -> None:
    for path in MODULES:
        if part_of(path) in ("cli", "__main__"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise):
                texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
                flags = [text for text in texts if isinstance(text, str) and re.search(r"(?<![\w-])--[a-z]", text)]
                assert not flags, f"{path}: {flags}"


def test_no_module_is_longer_than_seven_hundred_lines() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > 700} == {}
