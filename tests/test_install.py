"""What is installed is what is used: the core does its work alone, and what is missing is one sentence."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import cube2net as c2n
from cube2net._util.packages import CORE, EXTRAS, require
from cube2net.errors import MissingPackageError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = [package for packages in EXTRAS.values() for package in packages]
GONE = [*OPTIONAL, "markupsafe", "py4j"]

# A fresh interpreter that does not find some packages, whatever is installed: the first word has their names.
WITHOUT = """
import sys
from importlib.machinery import PathFinder

gone, find_spec = sys.argv.pop(1).split(","), PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in gone else find_spec(name, *more)
"""
COMMAND_LINE = f"{WITHOUT}\nsys.argv[0] = 'cube2net'\nfrom cube2net.__main__ import main\nmain()"


def python_without(program: str, *words: str, folder: Path, packages: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, ",".join(packages), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def core(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return what a command does where no extra is installed."""
    return python_without(COMMAND_LINE, *words.split(), folder=folder, packages=GONE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tables, the cube that the core alone builds of them, and two queries."""
    place = tmp_path_factory.mktemp("core")
    nodes = [f"n{i},{'abc'[i % 3]},{1990 + i % 4}" for i in range(60)]
    (place / "nodes.csv").write_text("\n".join(["id,city,year", *nodes]) + "\n", encoding="utf-8")
    links = [f"n{i},n{j}" for i in range(60) for j in range(i + 1, 60) if (i * j + i + j) % 7 == 0 or j == i + 3]
    (place / "links.csv").write_text("\n".join(["source,target", *links]) + "\n", encoding="utf-8")
    (place / "more.csv").write_text("id,city,year\nm1,a,1991\nm2,b,1992\n", encoding="utf-8")
    (place / "more_links.csv").write_text("source,target\nm1,m2\n", encoding="utf-8")
    labels = "\n".join(f"n{i},{'ab'[i % 2]}" for i in range(24))
    (place / "query.csv").write_text(f"object,label\n{labels}\n", encoding="utf-8")
    ended = core("build tables nodes.csv links.csv --dimension city --dimension year --min-objects 2 --quiet", place)
    assert (ended.returncode, ended.stderr) == (0, "")
    return place


@pytest.mark.package
@pytest.mark.parametrize(
    "words",
    [
        "--version",
        "info cube",
        "verify cube",
        "update cube more.csv more_links.csv --source tables --quiet",
        "query cube --query query.csv --quiet",
        "query cube --query query.csv --method pagerank --quiet --out net.csv",
        "query cube --query query.csv --method steiner --quiet --out net.graphml",
        "query cube --query query.csv --method greedy --quiet --out net.npz",
        "query cube --query query.csv --method anneal --seconds 1 --quiet --out net.json",
        "query cube --query query.csv --method exact --seconds 1 --quiet --out net.parquet",
        "compare cube --query query.csv --runs 1 --models deepwalk --forms hybrid --methods greedy --json --quiet",
    ],
)
def test_the_core_does_its_work_without_any_extra(words: str, folder: Path) -> None:
    ended = core(words, folder)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("working")]  # said on a slow machine
    assert (ended.returncode, said) == (0, []), words
    if "--json" in words:
        assert json.loads(ended.stdout)["verdict"]


LEARNS = "the method 'cube2net' needs the package 'torch': pip install torch (extra 'learn')"
SPARK = "the Spark engine needs the package 'pyspark': pip install pyspark (extra 'spark')"


@pytest.mark.package
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("query cube --query query.csv --method cube2net", LEARNS),
        ("query cube --query query.csv --preset paper", LEARNS),
        (
            "query cube --query query.csv --method cube2net --set save=policy.safetensors",
            "the method 'cube2net' needs the packages 'torch', 'safetensors': pip install torch safetensors "
            "(extra 'learn')",
        ),
        (
            "query cube --query query.csv --draw net.png",
            "a picture needs the package 'matplotlib': pip install matplotlib (extra 'report')",
        ),
        ("compare cube --query query.csv --methods greedy,cube2net", LEARNS),
        ("compare cube --query query.csv --objectives jaccard --forms objects", LEARNS),
        (
            "compare cube --query query.csv --out report",
            "a report needs the packages 'plotly', 'jinja2': pip install plotly jinja2 (extra 'report')",
        ),
        ("build tables nodes.csv links.csv --dimension city --engine spark --out other", SPARK),
        (
            "demo --out demo",
            "the demo needs the packages 'plotly', 'matplotlib', 'jinja2': pip install plotly matplotlib jinja2 "
            "(extra 'report')",
        ),
    ],
)
def test_a_command_that_needs_an_extra_says_so_at_once_and_how_to_get_it(
    words: str, sentence: str, folder: Path
) -> None:
    before = sorted(folder.rglob("*"))
    ended = core(f"{words} --quiet", folder)
    assert ended.returncode == 2
    assert ended.stderr == f"cube2net: {sentence}\n"
    assert ended.stdout == ""
    assert sorted(folder.rglob("*")) == before


@pytest.mark.package
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "explore cube",
            "the explorer needs the packages 'starlette', 'uvicorn': pip install starlette uvicorn (extra 'explore')",
        ),
        ("mcp cube", "the assistant needs the package 'mcp': pip install mcp (extra 'mcp')"),
    ],
)
def test_a_server_that_needs_an_extra_says_so_before_it_opens_a_cube(words: str, sentence: str, folder: Path) -> None:
    ended = core(words, folder)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", f"cube2net: {sentence}\n")


LIBRARY = f"""{WITHOUT}
import cube2net as c2n
from cube2net.errors import MissingPackageError

cube = c2n.open("cube")
query = c2n.read_query(cube, "query.csv")
network = c2n.construct(cube, query)
network.to_scipy()
comparison = c2n.compare(cube, query, methods=["none"], models=["deepwalk"], runs=1)


def environment():
    import cube2net.selection.rl.environment


for call, *given in (
    (network.to_networkx,),
    (network.to_igraph,),
    (network.to_pyg,),
    (network.plot, "net.png"),
    (comparison.write_report, "report", cube, query),
    (c2n.construct, cube, query, "cube2net"),
    (c2n.compare, cube, query, "clustering"),
    (environment,),
):
    try:
        call(*given, **({{"methods": ["cube2net"]}} if call is c2n.compare else {{}}))
    except MissingPackageError as error:
        print(error)
"""


@pytest.mark.package
def test_the_library_says_the_same_sentences_as_the_command_line(folder: Path) -> None:
    ended = python_without(LIBRARY, folder=folder, packages=GONE)
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "a NetworkX graph needs the package 'networkx': pip install networkx (extra 'graph')",
        "an igraph graph needs the package 'igraph': pip install igraph (extra 'graph')",
        "a PyTorch Geometric graph needs the packages 'torch', 'torch-geometric': pip install torch torch-geometric "
        "(extras 'learn', 'graph')",
        "a picture needs the package 'matplotlib': pip install matplotlib (extra 'report')",
        "a report needs the packages 'plotly', 'jinja2': pip install plotly jinja2 (extra 'report')",
        LEARNS,
        LEARNS,
        "an environment of Gymnasium needs the package 'gymnasium': pip install gymnasium (extra 'learn')",
    ]


def test_a_folder_of_the_same_name_is_not_taken_for_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch_of_mine").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingPackageError, match="^light needs the package 'torch-of-mine'$"):
        require("light", "torch_of_mine")
    (tmp_path / "torch_of_mine" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    require("light", "torch_of_mine")


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def test_the_extras_are_those_that_the_project_declares() -> None:
    declared = PROJECT["optional-dependencies"]
    assert {extra: names(declared[extra]) for extra in EXTRAS} == {
        extra: {canonicalize_name(package) for package in packages} for extra, packages in EXTRAS.items()
    }
    assert names(PROJECT["dependencies"]) == {canonicalize_name(package) for package in CORE}
    (everything,) = map(Requirement, declared["all"])
    assert everything.extras == set(EXTRAS)
    assert not names(PROJECT["dependencies"]) & names([each for extra in EXTRAS for each in declared[extra]])


def test_every_package_that_the_code_imports_is_declared() -> None:
    imported = set()
    for path in Path(c2n.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])
    others = imported - sys.stdlib_module_names - {"cube2net"}
    known = names(PROJECT["dependencies"]) | {canonicalize_name(package) for package in OPTIONAL}
    known |= {"pandas", "polars"}  # whose frames are made only for those who have them
    known |= {"sklearn"}  # which asks a transformer for its tags
    # They come with the package named, triton with a torch for GPUs.
    comes_with = {"py4j": "pyspark", "triton": "torch", "markupsafe": "jinja2"}
    comes_with |= {"llvmlite": "numba", "anyio": "mcp", "IPython": "anywidget", "traitlets": "anywidget"}
    assert {canonicalize_name(comes_with.get(name, name)) for name in others} <= known


def test_the_dependency_group_of_the_stress_run_names_all_that_it_imports() -> None:
    tests = {path.stem: path for path in (ROOT / "tests").rglob("*.py")}
    unread, read = list((ROOT / "stress").glob("*.py")), set[Path]()
    third_party = set[str]()
    while unread:
        read.add(path := unread.pop())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.ImportFrom):
                imported = {str(node.module)}
            names_here = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names
            unread += {tests[name] for name in names_here & set(tests)} - read
            third_party |= names_here - set(tests)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert {"include-group": "extras"} in declared["stress"]
    known = names(PROJECT["dependencies"]) | {canonicalize_name(package) for package in OPTIONAL}
    known |= names([each for each in declared["stress"] if isinstance(each, str)])
    assert third_party - {"cube2net", "stress"} <= known


def test_the_lowest_versions_are_those_that_the_project_names() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "lowest_versions.py")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    named = {canonicalize_name(line.partition("==")[0]): line for line in lines}
    assert names(PROJECT["dependencies"]) | {canonicalize_name(package) for package in OPTIONAL} <= set(named)
    assert named["pyspark"] == "pyspark==4.0"
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert named["torch"] in pinned
    assert "pytest" in named and "ruff" not in named, "only what the tests need"
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    every = set(named) | names([each for group in groups.values() for each in group if isinstance(each, str)])
    missing = every - {"cube2net"} - {canonicalize_name(line.partition("==")[0]) for line in pinned}
    assert not missing, "constraints.txt names every dependency"


def test_those_who_install_are_offered_no_extra_that_only_developers_need() -> None:
    assert set(PROJECT["optional-dependencies"]) == {*EXTRAS, "all"}


def test_no_extra_repeats_what_another_one_brings() -> None:
    declared = PROJECT["optional-dependencies"]
    every = [Requirement(each).name for extra in declared.values() for each in extra]
    own = [name for name in every if name != PROJECT["name"]]
    assert len(own) == len(set(own))
