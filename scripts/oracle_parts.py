"""The parts of the recorded results: what scripts/oracles.py records and checks, one function a part.

Only the public interface is used: `import cube2net`, the command line, and what its servers answer. All inputs are made
here, in a temporary folder. Answers are recorded without what tells of the clock (`seconds`) and of the machine
(`installation`); figures of `compare` are rounded, because the last digits of an embedding depend on the processor.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import hashlib
import importlib.util
import inspect
import io
import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import cube2net as c2n

ROOT = Path(__file__).resolve().parents[1]
OPENALEX_WORKS = ROOT / "tests" / "io" / "openalex_works.jsonl"
HELP_WIDTH = 100
COMPARE_DIGITS = 6
LEFT_OUT = ("seconds", "installation")
"""Keys of answers that tell of the clock or of the machine."""
SPARK_OPTIONS = (
    *("--engine", "spark", "--master", "local[2]", "--memory", "1GB"),
    *("--spark", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
    *("--spark", "spark.sql.adaptive.enabled=false", "--spark", "spark.sql.codegen.wholeStage=false"),
)
FORMATS = (
    *(".graphml", ".gexf", ".xlsx", ".csv", ".parquet", ".npz", ".json", ".cyjs"),
    *(".vosviewer.json", ".neo4j.csv"),
)
NETWORKS: dict[str, dict[str, Any]] = {
    "default": {},
    "cells": {"form": "cells"},
    "objects": {"form": "objects", "n_cells": 3},
    "hops": {"method": "hops", "max_nodes": 400},
    "pagerank": {"method": "pagerank", "top": 150},
    "steered": {
        "n_cells": 10,
        "pins": ["2024 · ACL · multi agent", "Marie-Catherine de Marneffe"],
        "bans": ["2021 · EMNLP · cross lingual", "Yue Zhang"],
        "prefer": ["Alexander Rush"],
    },
}
STEERING = "--pin '2024 · ACL · multi agent' --ban '2021 · EMNLP · cross lingual' --prefer 'Alexander Rush'"
ANSWERS = {
    "info": "info bundled",
    "suggest": "suggest tables nodes.csv links.csv",
    "query": "query bundled --query labs.csv",
    "query, steered": f"query bundled --query labs.csv --n-cells 10 {STEERING}",
    "query, objects of cells": "query bundled --query labs.csv --form objects --n-cells 3 --bound",
    "query, part of the cube": "query bundled --query labs.csv --between 2019..2021 --roll-up venue",
    "explain, the value": "explain bundled --query labs.csv --n-cells 5",
    "explain, an object": "explain bundled --query labs.csv --node 'Graham Neubig'",
    "explain, a cell": "explain bundled --query labs.csv --node '2021 · EMNLP · cross lingual'",
    "without": "without bundled --query labs.csv --n-cells 5 --node '2021 · EMNLP · cross lingual'",
    "without, with others": "without bundled --query labs.csv --n-cells 5 --add '2024 · ACL · multi agent'",
    "contrast": "contrast bundled --query one-lab.txt --against another-lab.txt --n-cells 5",
    "contrast, by labels": "contrast bundled --query labs.csv --n-cells 2",
    "describe": "describe bundled --clusters clusters.csv --n-cells 2",
    "drill": "drill bundled --query labs.csv -k 5",
    "drill, below a cell": "drill bundled --query labs.csv --cell '202X, ACL, *' -k 3",
    "compare": "compare planted --query communities.csv --methods greedy --objectives cover --forms hybrid,cells "
    "--models deepwalk --runs 2 --workers 1",
}
WRONG_COMMANDS = {
    "no such command": "ask people",
    "no command": "",
    "no such option": "query people --query names.txt --nosuch 1",
    "no query": "query people",
    "cube that is not there": "query nowhere --query names.txt",
    "folder that is not a cube": "info empty",
    "damaged cube": "verify damaged",
    "query file that is not there": "query people --query nowhere.txt",
    "unknown name in the query": "query people --query unknown.txt",
    "names that are missing are listed": "query people --query unknown.txt --show-missing",
    "unknown method": "query people --query names.txt --method gredy",
    "value that is not a number": "query people --query names.txt --n-cells many",
    "unknown format": "query people --query names.txt --out network.doc",
    "unknown parameter": "query people --query names.txt --set nosuch=1",
    "file without a recipe": "replay nodes.csv --cube people",
    "source that is not there": "build tables nowhere.csv --out made",
    "items that are known": "update openalex works.jsonl",
}


# Inputs and cubes


def write_inputs() -> None:
    """Write the files that cubes are built from, and queries, to the working folder."""
    towns = (("Rome", "IT"), ("Oslo", "NO"), ("Málaga", "ES"))
    rows = [(f"n{i}", f"Näme {i}", *towns[i % 3], ("baker", "smith")[i % 4 // 2], 1950 + i % 50) for i in range(90)]
    write_csv("nodes.csv", ("id", "name", "city", "state", "trade", "born"), rows)
    links = [(f"n{i}", f"n{(i * step + 1) % 90}", 1 + i % 3) for i in range(90) for step in (7, 11)]
    write_csv("links.csv", ("source", "target", "weight"), links)
    papers = [paper_row(i) for i in range(120)]
    write_csv("papers.csv", ("id", "title", "year", "venue", "author"), papers)
    changed = [(*row[:3], "NAACL", row[4]) if i % 10 == 0 else row for i, row in enumerate(papers)]
    write_csv("changed-papers.csv", ("id", "title", "year", "venue", "author"), changed[5:])
    works = OPENALEX_WORKS.read_text(encoding="utf-8").splitlines(keepends=True)
    for name, part in (("works.jsonl", works), ("first-works.jsonl", works[:24]), ("more-works.jsonl", works[24:])):
        Path(name).write_text("".join(part), encoding="utf-8")
    labs = c2n.load_labs()
    write_csv("labs.csv", ("object", "label"), labs.items())
    write_csv("clusters.csv", ("object", "cluster"), labs.items())
    for name, lab in zip(("one-lab.txt", "another-lab.txt"), sorted(set(labs.values())), strict=False):
        Path(name).write_text("".join(f"{each}\n" for each in labs if labs[each] == lab), encoding="utf-8")
    Path("names.txt").write_text("".join(f"n{i}\n" for i in range(12)), encoding="utf-8")
    Path("unknown.txt").write_text("n1\nnobody\n", encoding="utf-8")


def paper_row(number: int) -> tuple[Any, ...]:
    """Return a row of the flat table: a paper with its authors in one field."""
    authors = "; ".join(f"Author {(number * step + step) % 40:02}" for step in (1, 3, 7))
    return f"p{number}", f"On cubes {number}", 2010 + number % 12, ("ACL", "EMNLP", "LREC")[number % 3], authors


def write_csv(path: str, header: tuple[str, ...], rows: Any) -> None:
    """Write a table as CSV."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def build_planted() -> None:
    """Build the cube of a made-up corpus, which the command line does not read, and write a query of it."""
    planted = c2n.make_planted(seed=0)
    members = [(each, f"community {number}") for number in (0, 1) for each in planted.query(number)[:30]]
    write_csv("communities.csv", ("object", "label"), members)
    c2n.build(planted.corpus, min_objects=10, out="planted")


BUILD_OPENALEX = (
    "build openalex works.jsonl --dimension year@years/decades --dimension source/publisher "
    "--dimension concept/concept_area/concept_field --dimension country --min-objects 2"
)
CUBES: dict[str, tuple[str | Callable[[], None], ...]] = {
    "bundled": ("build bundled --out bundled",),
    "planted": (build_planted,),
    "people": ("build tables nodes.csv links.csv --dimension city/state --dimension trade --out people",),
    "papers": ("build tables papers.csv --set objects=author --min-objects 3 --out papers",),
    "openalex": (f"{BUILD_OPENALEX} --out openalex",),
    "updated": (
        "build openalex first-works.jsonl --dimension year@decades --dimension type --min-objects 2 --out updated",
        "update updated more-works.jsonl",
    ),
    "replaced": (
        "build tables papers.csv --set objects=author --dimension venue --min-objects 3 --out replaced",
        "update replaced changed-papers.csv --replace",
    ),
}


def build_cube(name: str) -> Path:
    """Build a cube in the working folder unless it is there; return its folder."""
    if not Path(name).exists():
        for step in CUBES[name]:
            if callable(step):
                step()
            else:
                run_successfully(f"{step} --quiet")
    return Path(name)


# Running commands


@contextlib.contextmanager
def working_folder(kept: Path | None = None) -> Iterator[None]:
    """Work in a temporary folder, or one to keep, with all inputs, a fixed width of the terminal and no colours."""
    source = str(Path(c2n.__file__).parents[1])
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    fixed = {"COLUMNS": str(HELP_WIDTH), "TERMINAL_WIDTH": str(HELP_WIDTH), "NO_COLOR": "1", "PYTHONPATH": path}
    with tempfile.TemporaryDirectory(prefix="oracles-") as made, mock.patch.dict(os.environ, fixed):
        os.environ["XDG_CACHE_HOME"] = str(Path(made) / "cache")
        with contextlib.chdir(kept or made):
            write_inputs()
            yield


def run_command(command: str) -> tuple[int, str, str]:
    """Run a command of cube2net in this process; return its exit status, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with (
        mock.patch.object(sys, "argv", ["cube2net", *shlex.split(command)]),
        mock.patch.object(sys, "unraisablehook", sys.unraisablehook),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", RuntimeWarning)  # of runpy, where cube2net.__main__ was imported before
        try:
            runpy.run_module("cube2net", run_name="__main__")
            status: Any = 0
        except SystemExit as ended:
            status = ended.code or 0
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(-1)
    return status, out.getvalue(), err.getvalue()


def run_successfully(command: str) -> str:
    """Run a command of cube2net, which must end with 0; return its standard output."""
    status, out, err = run_command(command)
    if status:
        raise RuntimeError(f"cube2net {command} ended with {status}: {err.strip()}")
    return out


def start_command(*words: str) -> subprocess.Popen[str]:
    """Start a command of cube2net as a process of its own."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-m", "cube2net", *words], text=True, encoding="utf-8", **pipes)


# What is recorded: every function returns the records of a part, as text or as a value that JSON holds


def record_cubes() -> dict[str, Any]:
    """Build all cubes; return the hashes of their files, and their manifests."""
    return {name: describe_cube(build_cube(name)) for name in CUBES}


def describe_cube(cube: Path) -> dict[str, Any]:
    """Return what the manifest of a cube says but for hashes, and the hash of every file."""
    manifest = json.loads((cube / "manifest.json").read_text(encoding="utf-8"))
    described = {key: value for key, value in manifest.items() if key not in ("files", "sha256")}
    return {"manifest": described, "files": {path.name: hash_file(path) for path in sorted(cube.iterdir())}}


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record_networks() -> dict[str, Any]:
    """Make six networks; return the size and recipe of each, the hashes of its files in every format, and replays.

    Every network is replayed, and a file of every format.
    """
    cube = c2n.open(build_cube("bundled"))
    query = c2n.read_query(cube, "labs.csv")
    records = {}
    for number, (name, options) in enumerate(NETWORKS.items()):
        network = c2n.api.construct_by_name(cube, query, **options)
        written = [path for ending in FORMATS for path in network.save(f"{name}{ending}")]
        hashes = {path.name: hash_file(path) for path in written}
        hashes["to_text"] = hashlib.sha256(network.to_text().encode()).hexdigest()
        endings = FORMATS[number :: len(NETWORKS)]
        replays = {ending: list(c2n.replay(f"{name}{ending}", cube).differences) for ending in endings}
        recipe = describe_recipe(network.recipe)
        records[name] = {"network": repr(network), "recipe": recipe, "files": hashes, "replay differs in": replays}
    return records


def describe_recipe(recipe: Any) -> dict[str, Any]:
    """Return a recipe as a value that JSON holds, without the query, which is the same in all networks."""
    parts = {key: value for key, value in vars(recipe).items() if key != "query"}
    plain: dict[str, Any] = json.loads(json.dumps(parts, default=dict))
    return plain


def record_answers() -> dict[str, Any]:
    """Return what commands print with --json, without clock values."""
    for cube in ("bundled", "planted"):
        build_cube(cube)
    answers = {}
    for name, command in ANSWERS.items():
        quiet = "" if command.startswith("info") else " --quiet"
        digits = COMPARE_DIGITS if command.startswith("compare") else None
        answers[name] = normalise_answer(json.loads(run_successfully(f"{command} --json{quiet}")), digits)
    return answers


def normalise_answer(value: Any, digits: int | None) -> Any:
    """Return an answer without clock and machine, its figures rounded where the number of digits is given."""
    if isinstance(value, dict):
        return {key: normalise_answer(each, digits) for key, each in value.items() if key not in LEFT_OUT}
    if isinstance(value, list):
        return [normalise_answer(each, digits) for each in value]
    return round(value, digits) if isinstance(value, float) and digits is not None else value


def record_errors() -> dict[str, dict[str, Any]]:
    """Return the exception types of wrong calls, and the exit statuses of wrong commands."""
    people, openalex = build_cube("people"), build_cube("openalex")
    Path("empty").mkdir(exist_ok=True)
    shutil.copytree(people, "damaged", dirs_exist_ok=True)
    next(path for path in sorted(Path("damaged").iterdir()) if path.suffix == ".npy").write_bytes(b"damaged")
    cube, ids = c2n.open(people), [f"n{i}" for i in range(12)]
    network = c2n.construct(cube, ids)
    wrong_calls: dict[str, Callable[[], Any]] = {
        "unknown public name": lambda: c2n.nosuch,  # type: ignore[attr-defined]
        "unknown method": lambda: c2n.construct(cube, ids, "gredy"),
        "unknown objective": lambda: c2n.construct(cube, ids, objective="nosuch"),
        "unknown form": lambda: c2n.construct(cube, ids, form="nosuch"),
        "unknown levels": lambda: c2n.construct(cube, ids, options=c2n.NetworkOptions(levels="nosuch")),
        "unknown option of a method": lambda: c2n.construct(cube, ids, c2n.methods.Greedy(nosuch=1)),
        "fewer than no cells": lambda: c2n.construct(cube, ids, n_cells=-1),
        "cells that are not a number": lambda: c2n.construct(cube, ids, n_cells="many"),
        "unknown object": lambda: c2n.construct(cube, [*ids, "nobody"]),
        "empty query": lambda: c2n.construct(cube, []),
        "object that is pinned and banned": lambda: c2n.construct(cube, ids, pins=["n20"], bans=["n20"]),
        "unknown cell": lambda: c2n.construct(cube, ids, pins=["Paris · baker"]),
        "cube that is not there": lambda: c2n.open("nowhere"),
        "folder that is not a cube": lambda: c2n.open("empty"),
        "damaged cube": lambda: c2n.open("damaged").verify(),
        "table that is not there": lambda: c2n.read_tables("nowhere.csv"),
        "unknown source": lambda: c2n.read_source("nosuch", "nodes.csv"),
        "unknown attribute": lambda: c2n.build(c2n.read_tables("nodes.csv", "links.csv"), ["nosuch"]),
        "unknown engine": lambda: c2n.build(c2n.make_planted(seed=0).corpus, engine="nosuch"),
        "items that are known": lambda: c2n.update(openalex, c2n.read_source("openalex", "works.jsonl")),
        "unknown format": lambda: network.save("network.doc"),
        "file without a recipe": lambda: c2n.replay("nodes.csv", cube),
        "explain an unknown object": lambda: c2n.explain(network, "nobody"),
        "leave out an object that is not there": lambda: network.without("nobody"),
        "drill below an unknown cell": lambda: c2n.drill(cube, ids, "nowhere"),
        "unknown level": lambda: c2n.pivot(cube, "nosuch", "trade"),
        "unknown task": lambda: c2n.compare(cube, ids, "nosuch"),
        "empty name of a dimension": lambda: c2n.DimensionSpec("", "city"),
    }
    commands = {name: run_command(command)[0] for name, command in WRONG_COMMANDS.items()}
    return {"types": {name: name_error(call) for name, call in wrong_calls.items()}, "statuses": commands}


def name_error(call: Callable[[], Any]) -> str:
    """Return the type of the exception that a call raises, with the types above it."""
    try:
        return f"no error, but {call()!r}"
    except Exception as error:
        return " < ".join(kind.__name__ for kind in type(error).__mro__[:-2])


def record_names() -> str:
    """Return the public names with their signatures."""
    return "".join(describe_name(name, getattr(c2n, name)) for name in sorted(c2n.__all__))


def record_rooms() -> str:
    """Return the names of the public modules with their signatures; what is a public name itself is only named."""
    lines = []
    for room in ("api", "cube", "model"):
        for name in sorted(getattr(c2n, room).__all__):
            known = name in c2n.__all__
            thing = getattr(getattr(c2n, room), name)
            lines.append(f"{room}.{name}\n" if known else describe_name(f"{room}.{name}", thing))
    return "".join(lines)


def describe_name(name: str, thing: Any, indent: str = "") -> str:
    """Return lines for a name: its signature or value, and what is public of a class or in a mapping, indented."""
    below = indent + "    "
    if isinstance(thing, Mapping):
        inside = [describe_name(str(key), thing[key], below) for key in sorted(thing)]
        return f"{indent}{name}: mapping\n{''.join(inside)}"
    if inspect.isclass(thing):
        members = [] if indent else [describe_name(each, member, below) for each, member in find_members(thing)]
        return f"{indent}{name}: class {thing.__name__}{find_signature(thing)}\n{''.join(members)}"
    if isinstance(thing, property | functools.cached_property):
        getter = thing.fget if isinstance(thing, property) else thing.func
        return f"{indent}{name}: property {find_signature(getter)}\n"
    return f"{indent}{name}{find_signature(thing) if callable(thing) else f' = {thing!r}'}\n"


def find_signature(thing: Any) -> str:
    """Return the signature of something callable; empty where Python knows none."""
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(thing)))  # an address in memory
    except (TypeError, ValueError):
        return ""


def find_members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, but for those that it has from Python itself."""
    for name in sorted(dir(kind)):
        owner = next((each for each in kind.__mro__ if name in vars(each)), kind)
        if not name.startswith("_") and owner.__module__.partition(".")[0] == "cube2net":
            member = inspect.getattr_static(kind, name)
            if isinstance(member, property | functools.cached_property):
                yield name, member
            elif isinstance(member, classmethod | staticmethod) or inspect.isfunction(member):
                yield name, getattr(kind, name)


def record_help() -> str:
    """Return the page of --help of every command that the first page lists."""
    first = run_successfully("--help")
    commands = re.findall(r"^  ([a-z]\w*)  ", first.partition("Commands:")[2], flags=re.MULTILINE)
    pages = {"--help": first, **{f"{each} --help": run_successfully(f"{each} --help") for each in commands}}
    return "\n".join(f"$ cube2net {command}\n{page}" for command, page in pages.items())


def record_openapi(server: subprocess.Popen[str]) -> Any:
    """Return how the explorer describes its JSON interface, but for the version of cube2net."""
    line = read_line(server)
    while "/?token=" not in line:
        line = read_line(server)
    address, token = line.split("/?token=")
    asked = urllib.request.Request(f"{address}/api/v1/openapi.json", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked) as answer:
        described = json.load(answer)
    del described["info"]["version"]
    return described


def record_tools(server: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the tools that a language model is offered, by name, and what it is told of them all."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "oracles", "version": "1"}}
    told = ask_server(server, "initialize", about)
    ask_server(server, "notifications/initialized", {})
    tools = ask_server(server, "tools/list", {})["tools"]
    return {"instructions": told["instructions"], "tools": {tool["name"]: tool for tool in tools}}


def ask_server(server: subprocess.Popen[str], method: str, params: dict[str, Any]) -> Any:
    """Send a message of the Model Context Protocol; return the result, or nothing of a notification."""
    assert server.stdin is not None
    answered = {} if method.startswith("notifications/") else {"id": method}
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **answered}) + "\n")
    server.stdin.flush()
    return json.loads(read_line(server))["result"] if answered else None


def read_line(process: subprocess.Popen[str]) -> str:
    """Return the next line that a process prints."""
    assert process.stdout is not None and process.stderr is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a process of cube2net has ended: {process.stderr.read()[-500:].strip()}")
    return line.strip()


def find_obstacle_to_spark() -> str:
    """Return why Spark cannot run here; empty where it can."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in os.environ else Path("java")
    with contextlib.suppress(OSError):
        if subprocess.run([java, "-version"], capture_output=True, check=False).returncode == 0:
            return ""
    return "Java is not installed"


def record_spark(build: subprocess.Popen[str]) -> dict[str, str]:
    """Wait for the cube that Spark builds; return the hashes of its files but the manifest, which names the engine."""
    complaint = build.communicate()[1].strip()
    if build.returncode:
        raise RuntimeError(f"cube2net build --engine spark ended with {build.returncode}: {complaint[-500:]}")
    return {path.name: hash_file(path) for path in sorted(Path("by-spark").iterdir()) if path.name != "manifest.json"}


PARTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "names": ("names.txt", record_names),
    "rooms": ("rooms.txt", record_rooms),
    "help": ("help.txt", record_help),
    "openapi": ("openapi.json", record_openapi),
    "tools": ("tools.json", record_tools),
    "errors": ("errors.json", record_errors),
    "cubes": ("cubes.json", record_cubes),
    "networks": ("networks.json", record_networks),
    "answers": ("answers.json", record_answers),
    "spark": ("cubes.json", record_spark),
}
"""The file of every part, and what makes its records."""
PROCESSES: dict[str, Callable[[], subprocess.Popen[str]]] = {
    "openapi": lambda: start_command("explore", "--no-browser"),
    "tools": lambda: start_command("mcp", str(build_cube("people"))),
    "spark": lambda: start_command(*shlex.split(BUILD_OPENALEX), "--out", "by-spark", *SPARK_OPTIONS),
}
"""What starts the process that a part asks or waits for: all are started first, and work while other parts are made."""
