"""Names that steer a terminal, break XML or run in a spreadsheet, and commands fed with them everywhere they can be.

``CALLS`` has an entry for every command of the command line; ``harmful`` says what in the raw bytes of a stream could
do harm. The names are made anew from ``SIGNS``, so that a sign added there is tried everywhere.
"""

import csv
import io
import json
import os
import pty
import re
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cube2net.apps.cli import app

FORGED = "FORGED"
SIGNS = {
    "cursor": "\x1b[66;6H",
    "title": "\x1b]0;owned\x07",
    "reset": "\x1bc",
    "nul": "\x00",
    "line end": f"\n{FORGED}",
    "return": f"\r{FORGED}",
    "backspace": "\b\b\b",
    "tab": "\t",
    "vertical tab": "\x0b",
    "form feed": "\x0c",
    "delete": "\x7f",
    "next line": f"\x85{FORGED}",
    "c1 cursor": "\x9b66;6H",
    "c1 string": "\x90q\x9c",
    "soft hyphen": "\xad",
    "arabic mark": "\u061c",
    "left mark": "\u200e",
    "right mark": "\u200f",
    "zero width": "\u200b\u200c\u200d\u2060\ufeff",
    "line separator": f"\u2028{FORGED}",
    "paragraph separator": f"\u2029{FORGED}",
    "embedding": "\u202a\u202b\u202c",
    "override": "\u202e\u202d",
    "isolate": "\u2066\u2067\u2068\u2069",
    "annotation": "\ufff9\ufffb",
    "noncharacter": "\ufffe\uffff",
    "tag": "\U000e0041",
    "markup": "[bold]x[/bold][/]",
    "template": "{0}{x}%s%n",
    "tags": "</svg><script>&\"'<!--]]>",
    "equals": "=1+1",
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(1)",
}
SURROGATE = "\ud800"
"""Half a sign: no UTF-8 file can hold it, but names of files, arguments and JSON can."""

NAMES = [sign + "x" if sign[0] in "=+-@" else f"x{sign}y" for sign in SIGNS.values()]
PRINTED = "".join(sign for sign in SIGNS.values() if "\0" not in sign and "/" not in sign)
FOLDER = "f" + "\x1b[66;6H\x1b]0;o\x07\n\r\t\x7f\x85\x9b6H\u061c\u200e\u200b\u2028\u202e\u2066[bold]=1"
ARGUMENT = "a" + PRINTED + SURROGATE.replace("\ud800", "\udc80")
LONG = "=" + "x" * 50_000
STYLES = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\d*[AK]|\x1b\[\?25[lh]|\r")
"""What Rich itself writes to a terminal: colours, one line up, clear the line, hide and show the cursor."""


def harmful(raw: bytes, *, styles: bool = False) -> list[str]:
    """Return the signs in what was written that could steer a terminal, and lines that data forged."""
    text = raw.decode("utf-8", "surrogateescape")
    if styles:
        text = STYLES.sub("", text)
    found = [
        repr(sign)
        for sign in sorted(set(text) - {"\n"})
        if not sign.isprintable() and unicodedata.category(sign) != "Zs"
    ]
    return found + [repr(line) for line in text.split("\n") if line.lstrip().startswith(FORGED)][:1]


@dataclass(frozen=True)
class World:
    """A folder with a hostile name that holds tables, a cube and queries full of hostile names."""

    folder: Path
    tables: Path
    cube: Path
    query: Path
    missing: Path

    @classmethod
    def make(cls, place: Path) -> "World":
        """Return the world, its cube built by the command line itself."""
        folder = place / FOLDER
        tables = folder / "tables"
        tables.mkdir(parents=True)
        held = [name for name in NAMES if "\0" not in name]
        columns = ["id", "name", "ci\x1b[66;6H\u202ety", f"tra\n{FORGED}de"]
        ids = [f"{name}{number}" for number in range(3) for name in held]
        nodes = [(key, f"{key} called", held[at % len(held)], held[at % len(held) % 5]) for at, key in enumerate(ids)]
        nodes += [(f"long{at}", LONG, LONG, held[0]) for at in range(3)]
        links = [(key, ids[(at * step + 1) % len(ids)]) for at, key in enumerate(ids) for step in (1, 3)]
        write_csv(tables / "nodes.csv", columns, nodes)
        write_csv(tables / "links.csv", ["source", "target"], [(a, b) for a, b in links if a != b])
        query, missing = folder / f"query{FOLDER}.csv", folder / "missing.csv"
        write_csv(query, ["object", "label"], [(key, held[at % 3]) for at, key in enumerate(ids[::2])])
        write_csv(missing, ["object"], [(f"{name} nowhere",) for name in [*held, LONG]])
        world = cls(folder, tables, folder / "cube", query, missing)
        ended = run(next(_build(world)))
        if ended.status:
            raise RuntimeError(ended.err.decode())
        return world


def write_csv(path: Path, columns: list[str], rows: list[tuple[str, ...]]) -> None:
    """Write a table with every cell in quotes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([columns, *rows])


def _build(world: World) -> Iterator[list[str]]:
    tables, out = str(world.tables), str(world.cube)
    yield ["build", "tables", tables, "--out", out, "--min-objects", "1"]
    yield ["build", "tables", tables, "--out", str(world.folder / "other"), "--dimension", ARGUMENT]
    yield ["build", "tables", tables, "--set", f"columns=nodes.id:{ARGUMENT}"]
    yield ["build", ARGUMENT, tables]
    yield ["build", "tables", str(world.folder / "nowhere")]
    yield ["build", "acl", str(world.tables)]
    odd = world.folder / "not UTF-8 \udcff"
    odd.mkdir(exist_ok=True)
    for name in ("nodes.csv", "links.csv"):
        (odd / name).write_bytes((world.tables / name).read_bytes())
    yield ["build", "tables", str(odd), "--out", str(odd / "cube"), "--min-objects", "1"]
    yield ["build", "tables", tables, "--out", str(odd / "cube"), "--min-objects", "1"]
    yield ["build", "tables", tables, "--memory", ARGUMENT]


def _info(world: World) -> Iterator[list[str]]:
    yield ["info", str(world.cube)]
    yield ["info", str(world.cube), "--json"]
    yield ["info", str(world.folder)]
    yield ["info"]
    yield ["info", "--between", ARGUMENT]


def _update(world: World) -> Iterator[list[str]]:
    more = world.folder / f"more{FOLDER}"
    more.mkdir(exist_ok=True)
    columns = next(csv.reader(io.StringIO((world.tables / "nodes.csv").read_text("utf-8"), newline="")))
    write_csv(more / "nodes.csv", columns, [(f"new{name}", name, NAMES[1], NAMES[1]) for name in NAMES[4:9]])
    write_csv(more / "links.csv", ["source", "target"], [])
    yield ["update", str(world.cube), str(more), "--source", "tables"]
    yield ["update", str(world.cube), str(more), "--source", "tables"]
    write_csv(more / "nodes.csv", ["id", "x\x1bc"], [(NAMES[1], NAMES[2])])
    yield ["update", str(world.cube), str(more), "--source", "tables"]


def _verify(world: World) -> Iterator[list[str]]:
    yield ["verify", str(world.cube)]
    yield ["verify", str(world.tables)]


def _query(world: World) -> Iterator[list[str]]:
    ask = ["query", str(world.cube), "--query"]
    yield [*ask, str(world.query)]
    yield [*ask, str(world.query), "--json"]
    yield [*ask, str(world.query), "--text", "--max-tokens", "9000"]
    yield [*ask, str(world.query), "--text", "--where", f"ci\x1b[66;6H\u202ety={NAMES[1]}"]
    yield [*ask, str(world.query), "--form", "objects", "--n-cells", "3", "--out", str(world.folder / "n\x1bc.csv")]
    yield [*ask, str(world.missing)]
    yield [*ask, str(world.missing), "--show-missing"]
    yield [*ask, str(world.missing), "--show-missing", "--json"]
    yield [*ask, str(world.missing), "--skip-missing"]
    columns = json.dumps(NAMES[1])
    for option in (
        "--where",
        "--roll-up",
        "--method",
        "--objective",
        "--form",
        "--levels",
        "--set",
        "--out",
        "--n-cells",
    ):
        yield [*ask, str(world.query), option, ARGUMENT]
        yield [*ask, str(world.query), option, f"{columns}={ARGUMENT}"]
    yield [*ask, str(world.query), "--where", f"ci\x1b[66;6H\u202ety={ARGUMENT}"]
    yield [*ask, str(world.folder / "nowhere\x1bc")]
    yield [*ask, str(world.query), f"--{ARGUMENT}"]
    for option in ("--where", "--kind", "--method", "--out", "--draw", "--levels", "--n-cells", "--no-such"):
        yield [*ask, str(world.query), option, LONG]
    yield [*ask, str(world.query), "--where", f"ci\x1b[66;6H\u202ety={LONG}"]
    yield [*ask, LONG]


def _without(world: World) -> Iterator[list[str]]:
    ask = ["without", str(world.cube), "--query", str(world.query)]
    with world.query.open(encoding="utf-8", newline="") as file:
        gone = list(csv.reader(file))[1][0]
    yield [*ask, "--node", gone]
    yield [*ask, "--node", gone, "--json"]
    yield [*ask, "--add", "long0", "--form", "objects", "--n-cells", "3"]
    yield [*ask, "--node", gone, "--out", str(world.folder / "w\x1bc.csv")]
    for option in ("--node", "--add", "--method", "--where", "--out"):
        yield [*ask, option, ARGUMENT]
    for option in (
        "--pin",
        "--ban",
        "--prefer",
        "--kind",
        "--between",
        "--roll-up",
        "--preset",
        "--network",
    ):
        yield [*ask, "--node", gone, option, ARGUMENT]
    yield [*ask, "--node", gone, "--ban", f"{NAMES[1]}1", "--prefer", f"{NAMES[2]}1", "--pin", f"{NAMES[0]}1"]
    yield [*ask, "--node", gone, "--where", f"ci\x1b[66;6H\u202ety={NAMES[1]}"]
    yield [*ask, "--node", LONG]
    file = world.folder / f"asked{FOLDER}.json"
    run(["query", str(world.cube), "--query", str(world.query), "--out", str(file), "--quiet"])
    yield ["without", str(world.cube), "--network", str(file), "--node", gone]
    yield ["without", str(world.cube), "--network", str(file), "--node", gone, "--ban", ARGUMENT]


def _replay(world: World) -> Iterator[list[str]]:
    cube, file = str(world.cube), world.folder / f"net{FOLDER}.csv"
    ended = run(["query", cube, "--query", str(world.query), "--out", str(file), "--quiet"])
    if ended.status:
        raise RuntimeError(ended.err.decode())
    yield ["replay", str(file), "--cube", cube]
    yield ["replay", str(file), "--cube", cube, "--json"]
    yield ["replay", str(file)]
    yield ["replay", ARGUMENT]
    yield ["replay", str(file), "--cube", ARGUMENT]
    yield ["replay", str(world.folder / "nowhere\x1bc.json")]
    wrong = {"odd.json": LONG, "none.json": "{}", "wrong.graphml": f"<a>{PRINTED}", "x.npz": PRINTED, "x.xlsx": PRINTED}
    for name, text in wrong.items():
        (world.folder / name).write_text(text, encoding="utf-8", errors="replace")
        yield ["replay", str(world.folder / name), "--cube", cube]
    recipe = file.with_suffix(".recipe.json")
    recipe.write_text(recipe.read_text().replace('"greedy"', json.dumps(ARGUMENT)))
    yield ["replay", str(file), "--cube", cube]


def _explain(world: World) -> Iterator[list[str]]:
    ask = ["explain", str(world.cube), "--query", str(world.query)]
    key = f"{NAMES[0]}0"
    yield ask
    yield [*ask, "--node", key]
    yield [*ask, "--node", f"{NAMES[1]}1", "--json"]
    yield [*ask, "--node", f"{NAMES[2]}1", "--form", "objects"]
    for name in NAMES[3:]:
        if "\0" not in name:
            yield [*ask, "--node", f"{name}2", "--method", "hops"]
    yield [*ask, "--node", key, "--where", f"ci\x1b[66;6H\u202ety={NAMES[1]}"]
    from cube2net.api import cubes

    cube = cubes.open(world.cube)
    for cell in range(0, len(cube.cells), 7):
        yield [*ask, "--node", f"cell:{' · '.join(cube.cell(cell))}", "--quiet"]
    yield [*ask, "--node", ARGUMENT]
    yield [*ask, "--node", LONG]
    file = world.folder / f"explained{FOLDER}.json"
    run(["query", str(world.cube), "--query", str(world.query), "--out", str(file), "--quiet"])
    yield ["explain", str(world.cube), "--network", str(file), "--node", key]
    yield ["explain", str(world.cube), "--network", ARGUMENT]


def _compare(world: World) -> Iterator[list[str]]:
    ask = ["compare", str(world.cube), "--query", str(world.query)]
    few = ["--methods", "hops", "--forms", "objects", "--models", "line", "--runs", "1", "--no-as-large"]
    report = str(world.folder / f"report{FOLDER}")
    yield [*ask, *few, "--out", report, "--workers", "1"]
    yield [*ask, *few, "--json", "--out", report, "--workers", "1"]
    for option in ("--methods", "--task", "--hidden", "--models", "--runs"):
        yield [*ask, option, ARGUMENT]


def _task(world: World) -> Iterator[list[str]]:
    yield ["task", ARGUMENT, str(world.tables), "--name", "ilkid"]
    yield ["task", "yelp", str(world.tables), "--name", ARGUMENT]
    yield ["task", "yelp", str(world.tables), "--name", "ilkid", "--out", str(world.folder / "task")]
    yield ["task", "movies", str(world.tables), "--name", "scifi00"]


def _demo(world: World) -> Iterator[list[str]]:
    yield ["demo", "--out", str(world.folder)]
    yield ["demo", "--seed", ARGUMENT]


def _suggest(world: World) -> Iterator[list[str]]:
    yield ["suggest", str(world.tables)]
    yield ["suggest", str(world.tables), "--json"]
    yield ["suggest", str(world.tables), "--query", str(world.query), "--splits", "2"]
    yield ["suggest", ARGUMENT]
    for option in ("--query", "--set", "--where", "--min-objects"):
        yield ["suggest", str(world.tables), option, ARGUMENT]


def _contrast(world: World) -> Iterator[list[str]]:
    ask = ["contrast", str(world.cube), "--query", str(world.query)]
    yield [*ask, "--alpha", "1"]
    yield [*ask, "--json"]
    yield [*ask, "--against", str(world.query)]
    yield [*ask, "--against", str(world.missing)]
    yield [*ask, "--against", str(world.missing), "--skip-missing"]
    yield [*ask, "--where", f"ci\x1b[66;6H\u202ety={NAMES[1]}"]
    for option in ("--against", "--where", "--roll-up", "--between", "--out", "--draw", "--n-cells", "--alpha"):
        yield [*ask, option, ARGUMENT]


def _describe(world: World) -> Iterator[list[str]]:
    ask = ["describe", str(world.cube), "--clusters"]
    yield [*ask, str(world.query), "--alpha", "1"]
    yield [*ask, str(world.query), "--json"]
    yield [*ask, str(world.missing)]
    yield [*ask, ARGUMENT]
    for option in ("--where", "--roll-up", "--between", "--out", "--n-cells"):
        yield [*ask, str(world.query), option, ARGUMENT]


def _explore(world: World) -> Iterator[list[str]]:
    """Calls that are refused, for one that is not serves until a signal ends it."""
    yield ["explore", str(world.cube), "--no-browser", "--query", str(world.missing)]
    yield ["explore", str(world.folder), "--no-browser"]
    yield ["explore", str(world.cube), "--no-browser", "--query", ARGUMENT]
    yield ["explore", str(world.folder / "nowhere\x1bc"), str(world.missing), "--no-browser", "--quiet"]
    yield ["explore", "--no-browser", "--query", ARGUMENT]
    for text in (ARGUMENT, *NAMES, LONG):
        yield ["explore", str(world.cube), "--no-browser", "--host", text]
        yield ["explore", str(world.cube), "--no-browser", "--port", text]


def _drill(world: World) -> Iterator[list[str]]:
    ask = ["drill", str(world.cube), "--query"]
    yield [*ask, str(world.query)]
    yield [*ask, str(world.query), "--json"]
    yield [*ask, str(world.query), "-k", "1"]
    yield [*ask, str(world.missing)]
    for text in (ARGUMENT, *NAMES, LONG, ",".join(NAMES), "," * 100_000):
        yield [*ask, str(world.query), "--cell", text]
    yield [*ask, str(world.query), "-k", ARGUMENT]
    yield [*ask, str(world.query), "--where", f"ci\x1b[66;6H\u202ety={NAMES[1]}"]
    for option in ("--where", "--roll-up", "--between"):
        yield [*ask, str(world.query), option, ARGUMENT]


def _mcp(world: World) -> Iterator[list[str]]:
    yield ["mcp", str(world.cube)]  # the input of tests is at its end
    yield ["mcp", str(world.folder)]
    yield ["mcp", str(world.folder / "nowhere\x1bc")]
    yield ["mcp", ARGUMENT]
    yield ["mcp", LONG]
    yield ["mcp", str(world.cube), f"--{ARGUMENT}"]


CALLS: dict[str, Callable[[World], Iterator[list[str]]]] = {
    "suggest": _suggest,
    "build": _build,
    "info": _info,
    "query": _query,
    "without": _without,
    "replay": _replay,
    "explain": _explain,
    "contrast": _contrast,
    "describe": _describe,
    "drill": _drill,
    "explore": _explore,
    "compare": _compare,
    "update": _update,
    "verify": _verify,
    "task": _task,
    "demo": _demo,
    "mcp": _mcp,
}
"""By command, in an order in which each finds what it needs: the arguments of calls full of hostile names."""

ALONE = [[ARGUMENT], [f"--{ARGUMENT}"], ["quer\x1bcy"], []]
"""What is typed where a command should be."""


@dataclass(frozen=True)
class Ended:
    """How a command ended, and the raw bytes of what it wrote."""

    status: int
    out: bytes
    err: bytes


def run(words: list[str]) -> Ended:
    """Run the command line in this process, with both streams kept as bytes."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(raw, encoding="utf-8", write_through=True) for raw in (out, err)]
    return Ended(_main(words, *streams), out.getvalue(), err.getvalue())


def run_on_terminal(words: list[str]) -> Ended:
    """Run the command line in this process with both streams on a terminal; all that it showed is ``out``."""
    ours, theirs = pty.openpty()
    shown = bytearray()

    def read() -> None:
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                return
            if not piece:
                return
            shown.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    stream = io.TextIOWrapper(io.FileIO(theirs, "w"), encoding="utf-8", write_through=True)
    try:
        status = _main(words, stream, stream)
    finally:
        stream.close()
        reader.join()
        os.close(ours)
    return Ended(status, bytes(shown), b"")


def _main(words: list[str], out: io.TextIOWrapper, err: io.TextIOWrapper) -> int:
    before = sys.argv, sys.stdout, sys.stderr
    sys.argv, sys.stdout, sys.stderr = ["cube2net", *words], out, err
    try:
        app.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    finally:
        sys.argv, sys.stdout, sys.stderr = before
    return 0
