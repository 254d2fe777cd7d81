"""Test an installed cube2net outside the repository.

    python -I smoke_package.py core explore mcp

The arguments are core and extras of pyproject.toml that must work; commands that need other extras must fail with one
sentence. Prints one line per check; the exit status is 1 if one fails. Uses only the standard library and cube2net.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

HEAVY = ("pandas", "polars", "networkx", "torch", "matplotlib", "plotly", "scipy", "numba", "starlette", "mcp")
MINUTES = 5
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
SENTENCES = {
    "report": (
        "query cube --query names.txt --quiet --draw net.png",
        "a picture needs the package 'matplotlib': pip install matplotlib (extra 'report')",
    ),
    "explore": (
        "explore cube",
        "the explorer needs the packages 'starlette', 'uvicorn': pip install starlette uvicorn (extra 'explore')",
    ),
    "mcp": ("mcp cube", "the assistant needs the package 'mcp': pip install mcp (extra 'mcp')"),
    "learn": (
        "query cube --query names.txt --quiet --method cube2net",
        "the method 'cube2net' needs the package 'torch': pip install torch (extra 'learn')",
    ),
    "spark": (
        "build tables nodes.csv links.csv --dimension city --quiet --engine spark --out other",
        "the Spark engine needs the package 'pyspark': pip install pyspark (extra 'spark')",
    ),
}
"""What each extra is needed for, and what is said where it is not there."""


def command(words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in this folder."""
    name = "cube2net.exe" if os.name == "nt" else "cube2net"
    run = [str(Path(sys.executable).parent / name), *words.split()]
    return subprocess.run(run, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def done(words: str, **environment: str) -> str:
    """Return the output of a command that must succeed."""
    ended = command(words, **environment)
    assert ended.returncode == 0, f"cube2net {words} ended with {ended.returncode}: {ended.stderr.strip()[-400:]}"
    return ended.stdout


@contextmanager
def ends(server: subprocess.Popen[str]) -> Iterator[None]:
    """Stop a server that has been silent for minutes."""
    alarm = threading.Timer(MINUTES * 60, server.kill)
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def has(extra: str) -> bool:
    """Return whether the packages of an extra are installed."""
    from cube2net._util.packages import EXTRAS, require
    from cube2net.errors import MissingPackageError

    try:
        require("this", *EXTRAS[extra])
    except MissingPackageError:
        return False
    return True


def tables() -> None:
    """Write two tables and a query: people of eight cities who know each other."""
    nodes = [f"p{i},Person {i},{'ABCD'[i % 4]}town,{'NS'[i % 2]}" for i in range(80)]
    Path("nodes.csv").write_text("\n".join(["id,name,city,state", *nodes]) + "\n", encoding="utf-8")
    links = [f"p{i},p{j}" for i in range(80) for j in range(i + 1, 80) if (i * j + i) % 11 == 0 or j == i + 4]
    Path("links.csv").write_text("\n".join(["source,target", *links]) + "\n", encoding="utf-8")
    Path("names.txt").write_text("\n".join(f"p{i}" for i in range(0, 48, 4)) + "\n", encoding="utf-8")


# The core ------------------------------------------------------------------------------------------------------------


def it_is_the_installed_one() -> None:
    """The package is imported from site-packages, has one version, and is typed."""
    import cube2net

    place = Path(cube2net.__file__).resolve()
    assert place.is_relative_to(Path(sys.prefix).resolve()), place
    assert cube2net.__version__ == version("cube2net")
    assert files("cube2net").joinpath("py.typed").is_file()
    assert files("cube2net").joinpath("page", "index.html").is_file()
    assert not [name for name in HEAVY if name in sys.modules]


def it_says_what_it_can() -> None:
    """--help, --version and shell completion work."""
    assert done("--version") == f"cube2net {version('cube2net')}\n"
    assert "Usage: cube2net" in done("--help")
    said = done("", _CUBE2NET_COMPLETE="complete_bash", COMP_WORDS="cube2net query --method gr", COMP_CWORD="3")
    assert said.split() == ["greedy"], said


def the_manual_is_here() -> None:
    """The manual page is where man searches if the environment is on the PATH."""
    page = Path(sys.prefix) / "share" / "man" / "man1" / "cube2net.1"
    assert page.read_text(encoding="utf-8").startswith('.\\"'), page


def tables_become_a_cube() -> None:
    """Two CSV files become a valid cube."""
    done("build tables nodes.csv links.csv --dimension city/state --min-objects 2 --quiet")
    assert json.loads(done("info cube --json"))["objects"] == 80
    done("verify cube")


def a_query_becomes_a_network() -> None:
    """A network is exported as GraphML and made again from its recipe."""
    said = json.loads(done("query cube --query names.txt --quiet --json --out net.graphml"))
    assert said, said
    nodes = ElementTree.parse("net.graphml").getroot().findall(f".//{GRAPHML}node")
    assert {f"p{i}" for i in range(0, 48, 4)} <= {node.get("id") for node in nodes}
    done("replay net.graphml --quiet")


def what_is_missing_is_one_sentence() -> None:
    """Commands that need a missing extra fail with one sentence and status 2."""
    for extra, (words, sentence) in SENTENCES.items():
        if not has(extra):
            ended = command(words)
            assert (ended.returncode, ended.stderr) == (2, f"cube2net: {sentence}\n"), (words, ended.stderr)


def the_bundled_papers_load() -> None:
    """The bundled papers become a cube, and authors of four areas a network."""
    import cube2net as c2n

    cube = c2n.build(c2n.load_bundled(), dimensions=["year@years/decades", "venue"])
    network = c2n.construct(cube, cube.query(list(c2n.load_areas())))
    assert len(cube.objects) > 50_000 and len(network.objects) > 574 and len(network.cells)


def a_network_is_judged() -> None:
    """A comparison on a small cube gives a verdict."""
    import cube2net as c2n

    planted = c2n.make_planted(objects=200, communities=4)
    cube = c2n.build(planted.corpus)
    compared = c2n.compare(cube, planted.query(0), "hidden", methods=["none", "greedy"], models=["deepwalk"], runs=2)
    assert compared.verdict().sentence


# The extras ----------------------------------------------------------------------------------------------------------


def a_picture_is_drawn() -> None:
    """A picture and a report are written."""
    done("query cube --query names.txt --quiet --draw net.png")
    assert Path("net.png").read_bytes().startswith(b"\x89PNG")
    done("compare cube --query names.txt --task hidden --methods greedy --forms hybrid --runs 1 --quiet --out report")
    assert "<html" in (Path("report") / "report.html").read_text(encoding="utf-8")


def the_page_is_served() -> None:
    """The explorer serves its page and answers a request."""
    run = [sys.executable, "-I", "-m", "cube2net", "explore", "cube", "--no-browser"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as explorer, ends(explorer):
        assert explorer.stdout is not None
        try:
            address = next(word for line in explorer.stdout for word in line.split() if word.startswith("http://"))
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            assert "/page/explorer.js" in browser.open(address, timeout=60).read().decode()
            top = address.partition("?")[0]
            assert browser.open(f"{top}page/explorer.js", timeout=60).read(2)
            assert json.load(browser.open(f"{top}api/v1/cube", timeout=60))["objects"] == 80
        finally:
            explorer.terminate()


def a_widget_is_made() -> None:
    """The page can be created as a notebook widget."""
    import cube2net as c2n

    cube = c2n.open("cube")
    widget = c2n.explore(cube, c2n.read_query(cube, "names.txt"))
    assert len(widget.network.objects) >= 12
    widget.close()


def the_tools_are_listed() -> None:
    """The MCP server lists its tools over standard input and output."""
    run = [sys.executable, "-I", "-m", "cube2net", "mcp", "cube"]
    about = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "smoke", "version": "1"},
    }
    said = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with (
        subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server,
        ends(server),
    ):
        assert server.stdin is not None and server.stdout is not None
        try:
            server.stdin.write("".join(json.dumps(each) + "\n" for each in said))
            server.stdin.flush()
            answers = map(json.loads, server.stdout)
            listed = next(answer for answer in answers if answer.get("id") == 2)
        finally:
            server.terminate()
    names = [tool["name"] for tool in listed["result"]["tools"]]
    assert len(names) >= 5, names


def the_learner_selects() -> None:
    """The paper's learner chooses cells."""
    import cube2net as c2n

    planted = c2n.make_planted(objects=200, communities=4, noise=0)
    cube = c2n.build(planted.corpus)
    network = c2n.construct(
        cube, planted.query(0), c2n.methods.Cube2net(preset="paper", updates=2), n_cells=2, form="objects"
    )
    assert len(network.selection.cells) == 2


def graphs_are_handed_over() -> None:
    """A network is converted to NetworkX, igraph and, if torch is installed, PyTorch Geometric."""
    import cube2net as c2n

    planted = c2n.make_planted(objects=200, communities=4, noise=0)
    network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
    nodes = len(network.objects) + len(network.cells)
    assert network.to_networkx().number_of_nodes() == nodes
    assert network.to_igraph().vcount() == nodes
    if has("learn"):
        assert network.to_pyg().num_nodes == nodes


def spark_builds_the_same() -> None:
    """Spark builds the same cube as DuckDB, byte by byte."""
    words = "build tables nodes.csv links.csv --dimension city/state --min-objects 2 --quiet"
    done(f"{words} --engine spark --master local[2] --out of_spark")
    ours, theirs = (
        json.loads((Path(name) / "manifest.json").read_text(encoding="utf-8")) for name in ("cube", "of_spark")
    )
    assert ours["counts"] == theirs["counts"]
    assert {name: file["sha256"] for name, file in ours["files"].items()} == {
        name: file["sha256"] for name, file in theirs["files"].items()
    }


CHECKS: dict[str, tuple[Callable[[], None], ...]] = {
    "core": (
        it_is_the_installed_one,
        it_says_what_it_can,
        the_manual_is_here,
        tables_become_a_cube,
        a_query_becomes_a_network,
        what_is_missing_is_one_sentence,
        the_bundled_papers_load,
        a_network_is_judged,
    ),
    "report": (a_picture_is_drawn,),
    "explore": (the_page_is_served,),
    "notebook": (a_widget_is_made,),
    "mcp": (the_tools_are_listed,),
    "learn": (the_learner_selects,),
    "graph": (graphs_are_handed_over,),
    "spark": (spark_builds_the_same,),
}
NEEDS_CUBE = ("report", "explore", "notebook", "mcp", "spark")


def main(parts: list[str]) -> int:
    """Run the checks of some parts in a new folder, and return the number of failures."""
    checks = [check for part in parts for check in CHECKS[part]]
    if tables_become_a_cube not in checks and set(parts) & set(NEEDS_CUBE):
        checks.insert(0, tables_become_a_cube)
    failed = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        tables()
        for check in checks:
            began = time.perf_counter()
            try:
                check()
                said = "ok"
            except BaseException as error:
                failed += 1
                text = io.StringIO()
                traceback.print_exc(file=text)
                said = f"FAILED: {type(error).__name__}: {error}"
                sys.stderr.write(text.getvalue())
            sys.stdout.write(f"{check.__name__}: {said} ({time.perf_counter() - began:.1f} s)\n")
            sys.stdout.flush()
        os.chdir(Path(folder).parent)
    return failed


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:] or ["core"]), 1))
