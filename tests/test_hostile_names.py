"""Whatever data, files and arguments hold, no command lets it steer the terminal."""

import csv
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
import typer

import cube2net as c2n
from cube2net._util.text import count_formulas, is_formula
from cube2net.api.query import read_links, read_query
from cube2net.apps.cli import app
from cube2net.apps.cli.output import json_text, line

import hostile

EVERY = [*hostile.NAMES, hostile.SURROGATE, hostile.FOLDER, hostile.ARGUMENT]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> hostile.World:
    return hostile.World.make(tmp_path_factory.mktemp("hostile"))


def test_every_command_is_fed_with_hostile_names() -> None:
    assert set(hostile.CALLS) == set(typer.main.get_command(app.app).commands)


@pytest.mark.parametrize("command", hostile.CALLS)
def test_no_sign_of_the_data_steers_the_terminal(
    command: str, world: hostile.World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = 0
    for words in hostile.CALLS[command](world):
        ended = hostile.run(words)
        said = f"{words}: {ended}"
        assert hostile.harmful(ended.out) == hostile.harmful(ended.err) == [], said
        assert ended.status in (0, 1, 2) and b"Traceback" not in ended.err, said
        assert len(ended.out) + len(ended.err) < 40_000 or "--json" in words, said
        good += ended.status == 0
        if "--json" in words and ended.status < 2:
            json.loads(ended.out)
    assert good or command in ("task", "demo", "explore")


@pytest.mark.parametrize("words", hostile.ALONE, ids=range(len(hostile.ALONE)))
def test_what_is_no_command_is_shown_harmless(words: list[str]) -> None:
    ended = hostile.run(words)
    assert (ended.status, hostile.harmful(ended.out), hostile.harmful(ended.err)) == (2, [], [])
    assert b"Usage: cube2net" in ended.out + ended.err


@pytest.mark.parametrize("command", hostile.CALLS)
def test_nor_does_it_where_there_are_bars_and_styles(
    command: str, world: hostile.World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "300")  # no cell of a table is folded, which would put a part of a name on a new line
    shown = b""
    for words in islice(hostile.CALLS[command](world), 3):
        ended = hostile.run_on_terminal(words)
        assert hostile.harmful(ended.out, styles=True) == [], f"{words}: {ended}"
        shown += ended.out
    shows_progress = (
        "suggest",
        "build",
        "verify",
        "query",
        "without",
        "replay",
        "explain",
        "drill",
        "contrast",
        "describe",
        "compare",
        "update",
    )
    assert (b"\x1b[?25l" in shown) == (command in (*shows_progress, "task", "demo"))
    assert (b"\x1b[1m" in shown) == (
        command in ("suggest", "info", "query", "without", "explain", "drill", "contrast", "describe", "compare")
    )


@pytest.mark.parametrize("name", EVERY, ids=ascii)
def test_json_holds_the_same_name_without_its_signs(name: str) -> None:
    for only_ascii in (False, True):
        text = json_text({name: [name]}, only_ascii=only_ascii)
        assert json.loads(text) == {name: [name]}
        assert hostile.harmful(text.encode()) == []


@pytest.mark.parametrize("name", EVERY, ids=ascii)
def test_a_name_is_one_harmless_line(name: str) -> None:
    assert "\n" not in line(name)
    assert hostile.harmful(line(name).encode()) == []
    assert hostile.harmful(repr(name).encode()) == []


def test_names_of_people_stay_as_they_are() -> None:
    for name in ("Zoë Müller", "王小明", "Ολυμπία", "עברית", "हिन्दी", "Tab\u00a0le", "a\u3000b", "😀"):
        assert line(name) == name and json.loads(json_text(name)) == name and name in json_text(name)


def test_names_of_people_are_no_formulas() -> None:
    assert not any(map(is_formula, ("Zoë", "'s Gravenhage", "a=b", "-1.5", "+491234", "1e-5", "", " ", "–")))


class Tags(HTMLParser):
    """Counts how far opened tags are closed again."""

    VOID = ("meta", "br", "img", "link", "input", "hr")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()


@pytest.fixture(scope="module")
def report(world: hostile.World) -> Path:
    out = world.folder / "safe report"
    few = ["--methods", "greedy", "--objectives", "cover", "--forms", "hybrid", "--models", "line", "--runs", "1"]
    words = ["compare", str(world.cube), "--query", str(world.query), *few, "--no-as-large", "--out", str(out)]
    ended = hostile.run([*words, "--quiet", "--spreadsheet-safe"])
    assert (ended.status, ended.err) == (0, b"")
    return out


def test_the_page_of_a_report_stays_whole(report: Path) -> None:
    page = (report / "report.html").read_bytes().decode("utf-8")
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert re.findall("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]", own) == []
    assert "</svg><script>&" not in own
    tags = Tags()
    tags.feed(own)
    assert tags.open == []
    drawings = re.findall(r"<svg.*?</svg>", own, flags=re.DOTALL)
    for drawing in drawings:
        ET.fromstring(drawing)
    data = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, flags=re.DOTALL)
    assert data and all(json.loads(text) for text in data)


def test_the_tables_of_a_report_are_safe_for_spreadsheets_where_asked(report: Path) -> None:
    tables = sorted(report.glob("*.csv"))
    assert [path.name for path in tables] == ["cells.csv", "costs.csv", "scores.csv", "trials.csv"]
    assert [count_formulas(path) for path in tables] == [0, 0, 0, 0]
    with (report / "cells.csv").open(encoding="utf-8", newline="") as file:
        assert any(cell == "'+1+1x" for row in csv.reader(file) for cell in row)


def test_formulas_in_an_export_are_said_and_guarded_where_asked(world: hostile.World) -> None:
    ask = ["query", str(world.cube), "--query", str(world.query), "--quiet", "--out"]
    plain = hostile.run([*ask, str(world.folder / "plain.csv")])
    said = re.search(r"plain\.nodes\.csv: ([0-9,]+) cells begin with =, \+, - or @, which spr", plain.err.decode())
    assert plain.status == 0 and said and said[1] == f"{count_formulas(world.folder / 'plain.nodes.csv'):,}"
    safe = hostile.run([*ask, str(world.folder / "safe.csv"), "--spreadsheet-safe"])
    assert (safe.status, safe.err) == (0, b"")
    assert count_formulas(world.folder / "safe.nodes.csv") == count_formulas(world.folder / "safe.links.csv") == 0


def test_guarded_names_are_found_in_the_cube(world: hostile.World, tmp_path: Path) -> None:
    hostile.write_csv(tmp_path / "query.csv", ["object"], [("'=1+1x0",), ("=1+1x1",), ("'@SUM(1)x0",)])
    ended = hostile.run(["query", str(world.cube), "--query", str(tmp_path / "query.csv"), "--json", "--quiet"])
    assert ended.status == 0 and json.loads(ended.out)["query_found"] == 3
    hostile.write_csv(tmp_path / "query.csv", ["object"], [("'=1+1x",)])
    ended = hostile.run(["query", str(world.cube), "--query", str(tmp_path / "query.csv"), "--show-missing"])
    assert (ended.status, ended.out) == (1, b"=1+1x\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["query", "CUBE", "--query", "QUERY"], "none is written: add --out network.csv"),
        (["query", "CUBE", "--query", "QUERY", "--out", "x.json"], "guards the cells of a .csv file, got '.json'"),
        (["compare", "CUBE", "--query", "QUERY"], "none is written: add --out FOLDER"),
    ],
)
def test_safety_for_spreadsheets_is_refused_where_it_would_do_nothing(
    words: list[str], said: str, world: hostile.World
) -> None:
    places = {"CUBE": str(world.cube), "QUERY": str(world.query)}
    ended = hostile.run([places.get(word, word) for word in words] + ["--spreadsheet-safe"])
    assert ended.status == 2 and said in ended.err.decode()


def test_the_tables_of_a_task_are_safe_where_asked_and_still_name_its_objects(
    world: hostile.World, tmp_path: Path
) -> None:
    corpus = c2n.read_source("tables", world.tables)
    ids = corpus.objects["object"].to_pylist()
    ends = [at for at, key in enumerate(ids) if is_formula(key)]
    hidden = pa.table({"source": pa.array(ends[:1], pa.int32()), "target": pa.array(ends[1:2], pa.int32())})
    task = SimpleNamespace(corpus=corpus, query=tuple(ids[at] for at in ends), hidden=hidden)
    for safe in (False, True):
        out = tmp_path / str(safe)
        cube = c2n.api.build_task(task, out, min_objects=1, spreadsheet_safe=safe)  # type: ignore[arg-type]
        found = [count_formulas(out / name) for name in ("query.csv", "hidden.csv")]
        assert found == ([0, 0] if safe else [len(ends), 2])
        assert sorted(read_query(cube, out / "query.csv").objects.tolist()) == sorted(ends)
        assert [rows.tolist() for rows in read_links(cube, out / "hidden.csv")] == [ends[:1], ends[1:2]]
