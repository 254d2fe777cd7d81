"""Spreadsheets as people have them, from the command line: what is guessed, what is refused and which option helps."""

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from workbook_files import workbook

import cube2net as c2n
from cube2net.apps.cli import app
from cube2net.model.corpus import Corpus
from cube2net.model.dimension import DimensionSpec

Tool = Callable[..., tuple[int, str, str]]
TOWNS = ("Ulm", "Köln", "Bonn")


@pytest.fixture
def tool(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tool:
    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["cube2net", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            app.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def german(folder: Path) -> tuple[Path, Path]:
    nodes, links = folder / "Kunden.csv", folder / "Käufe.csv"
    rows = ["Kunden 2024", "", "Kunden-Nr.;Name;Ort;Umsatz;seit"]
    for i in range(60):
        sold, since = f"{1 + i}.{i:03d},5{i % 10}", f"{1 + i % 28:02d}.02.{1990 + i % 20}"
        rows.append(f"{1000 + i};Meier {i % 9};{TOWNS[i % 3]};{sold};{since}")
    nodes.write_bytes("\r\n".join([*rows, ""]).encode("cp1252"))
    bought = [f"{1000 + i};{1000 + (i * 7 + 3) % 60};{i},5" for i in range(60)]
    links.write_bytes("\r\n".join(["von;an;Stück", *bought, ""]).encode("cp1252"))
    return nodes, links


def test_a_german_spreadsheet_becomes_a_cube_and_answers_a_german_query(tool: Tool, tmp_path: Path) -> None:
    nodes, links = german(tmp_path)
    dimensions = ("--dimension", "Ort", "--dimension", "seit@decades", "--dimension", "Umsatz@quantiles:2")
    status, out, err = tool(
        "build", "tables", nodes, links, *dimensions, "--min-objects", 2, "--out", tmp_path / "cube"
    )
    assert status == 0, err
    assert "Cube(Ort × seit × Umsatz: 12 cells, 60 objects" in out
    for said in (
        "Kunden.csv: encoding='windows-1252', delimiter=';', header on line 3 (guessed)",
        "columns of nodes: id='Kunden-Nr.' (guessed), name='Name' (guessed)",
        "columns of links: source='von' (guessed), target='an' (guessed), weight='Stück' (guessed)",
        "Kunden.csv: read 'Umsatz' with decimal=','; 'seit' with dates='dmy' (guessed)",
    ):
        assert said in err
    query = tmp_path / "Auswahl.csv"
    query.write_bytes("Kunden-Nr.;Größe\r\n1000;1\r\n1003;2\r\n1006;2\r\n".encode("cp1252"))
    status, out, err = tool("query", tmp_path / "cube", "--query", query)
    assert (status, "3 in the query" in out) == (0, True), err


def test_a_workbook_becomes_a_cube_by_one_path(tool: Tool, tmp_path: Path) -> None:
    people = [["Nom", "Numéro", "Ville", "Depuis"]]
    people += [[f"Dupont {i % 9}", 1000 + i, TOWNS[i % 3], date(1990 + i % 20, 2, 3)] for i in range(60)]
    links = [["de", "vers"], *([1000 + i, 1000 + (i * 7 + 3) % 60] for i in range(60))]
    (tmp_path / "clients.xlsx").write_bytes(workbook({"Clients": people, "Liens": links}))
    words = ("--dimension", "Ville", "--dimension", "Depuis@decades", "--min-objects", 2, "--out", tmp_path / "cube")
    status, out, err = tool("build", "tables", tmp_path / "clients.xlsx", *words)
    assert (status, "Cube(Ville × Depuis: 6 cells, 60 objects" in out) == (0, True), err
    assert "columns of nodes: id='Numéro' (guessed), name='Nom' (guessed)" in err
    (tmp_path / "q.xlsx").write_bytes(workbook({"Choix": [["Numéro"], [1000], [1003]]}))
    status, out, err = tool("query", tmp_path / "cube", "--query", tmp_path / "q.xlsx")
    assert (status, "2 in the query" in out) == (0, True), err


NODES = "id,city\na,Rome\nb,Oslo\n"
LINKS = "from,to\na,b\n"


@pytest.mark.parametrize(
    ("nodes", "links", "options", "sentence"),
    [
        ("id,x\na,1\na,2\n", LINKS, (), "(or say which column has the ids: --set columns=nodes.id:…)"),
        (
            NODES,
            "from,to\nx,y\n",
            (),
            "name the columns of ids: --set columns=links.source:…,links.target:…,nodes.id:…)",
        ),
        (
            NODES,
            "from,x,y,z\na,1,2,3\n",
            (),
            "(usual names are target, to, dst; name the column: --set columns=links.target:from)",
        ),
        (NODES, LINKS, ("--set", "columns=text:cty"), "(did you mean --set columns=nodes.text:city?)"),
        ("id,a\nx\ny\nz\n", LINKS, (), "; --set delimiter=',' parts them, give another)"),
        (b"id,a\n\xc3\xa9,1\n\xe9,2\n", LINKS, (), "or say which it has: --set encoding=windows-1252)"),
        (
            "id;a\nx;1\n",
            LINKS,
            ("--set", "delimiter=,"),
            "(is ';' the delimiter? then use --set delimiter=';')",
        ),
        (NODES, LINKS, ("--set", "decimal=;"), "decimal is ';', expected ',' or '.'"),
    ],
)
def test_a_refusal_names_the_option_that_helps(tool: Tool, tmp_path: Path, nodes, links, options, sentence) -> None:
    paths = []
    for name, text in (("nodes.csv", nodes), ("links.csv", links)):
        if text is not None:
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
            paths.append(tmp_path / name)
    status, _, err = tool("build", "tables", *paths, *options, "--out", tmp_path / "cube")
    last = err.strip().splitlines()[-1]
    assert (status, sentence in last) == (2, True), last


def test_what_the_refusal_advises_works(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id;ort\na;Rome\nb;Oslo\n", encoding="utf-8")
    (tmp_path / "links.csv").write_text("one;two\na;b\n", encoding="utf-8")
    words = ("build", "tables", tmp_path, "--dimension", "ort", "--min-objects", 1, "--out", tmp_path / "cube")
    for option in ("delimiter=;", "columns=nodes.id:id", "encoding=windows-1252", "dates=dmy", "header=yes", "quote='"):
        status, _, err = tool(*words, "--set", option)
        assert status == 0, err


# Cubes without cells


def corpus_of(**columns: list) -> Corpus:
    count = len(next(iter(columns.values())))
    nodes = {"id": [f"n{i}" for i in range(count)], **columns}
    return c2n.read_tables(nodes=pa.table(nodes), links=pa.table({"source": ["n0"], "target": ["n1"]}))


@pytest.mark.parametrize(
    ("columns", "specs", "sentence"),
    [
        (
            {"x": [f"l{i}" for i in range(40)]},
            ["x"],
            "0 cells, for none has 10 objects: 'x' has 40 labels for 40 items: another attribute has fewer, or a "
            "smaller min_objects",
        ),
        (
            {"x": [i / 7 for i in range(40)]},
            ["x"],
            "0 cells, for none has 10 objects: 'x' has 40 labels for 40 items: bins would hold more (x@quantiles:4), "
            "or a smaller min_objects",
        ),
        (
            {"x": [date(1980 + i, 1, 1) for i in range(40)]},
            ["when=x"],
            "0 cells, for none has 10 objects: 'x' has 40 labels for 40 items: bins would hold more (when=x@decades), "
            "or a smaller min_objects",
        ),
        (
            {"x": [f"l{i % 7}" for i in range(40)], "y": [f"m{i % 4}" for i in range(40)]},
            ["x", "y"],
            "0 cells, for none has 10 objects: 'x' has 7 labels for 40 items: another attribute has fewer, or fewer "
            "dimensions, or a smaller min_objects",
        ),
        (
            {"x": ["a"] * 10 + [f"l{i}" for i in range(140)]},
            ["x"],
            "1 cell, which hold 10 of 150 objects, for few have 10 objects: 'x' has 141 labels for 150 items: another "
            "attribute has fewer, or a smaller min_objects",
        ),
    ],
)
def test_a_cube_with_hardly_a_cell_says_why_and_what_helps(columns: dict, specs: list[str], sentence: str) -> None:
    said: list[tuple] = []
    c2n.build(corpus_of(**columns), specs, min_objects=10, progress=lambda *words: said.append(words))
    assert (sentence, 0, None) in said


def test_a_cube_that_leaves_many_objects_out_says_how_many_and_what_helps() -> None:
    said: list[tuple] = []
    corpus = corpus_of(x=["a"] * 60 + ["b"] * 40, y=[*["m"] * 60, *[f"y{i // 2}" for i in range(40)]])
    c2n.build(corpus, ["x", "y"], min_objects=10, progress=lambda *words: said.append(words))
    assert said[-1] == (
        "40% of the objects are in no cell of 10 or more: a smaller min_objects, or fewer or coarser dimensions "
        "(without 'y' it is 0%) would help",
        0,
        None,
    )
    c2n.build(corpus, ["y"], min_objects=10, progress=lambda *words: said.append(words))
    assert said[-1][0].endswith(": a smaller min_objects, or an attribute with fewer labels would help")
    c2n.build(corpus, ["x"], min_objects=10, progress=lambda *words: said.append(words))
    assert "in no cell" not in said[-1][0]


def test_a_cube_with_cells_says_nothing_of_them() -> None:
    said: list[str] = []
    corpus = corpus_of(x=["a", "b"] * 20)
    c2n.build(corpus, [DimensionSpec("x", "x")], progress=lambda stage, *_: said.append(stage))
    assert not [stage for stage in said if "cells, for" in stage or "which hold" in stage]


def test_separators_and_the_sheet_are_options_of_build_and_suggest(tool: Tool, tmp_path: Path) -> None:
    rows = [[f"Film {row}", f"Ada {row % 7}~Bo {row % 5} + Cy {row % 3}", TOWNS[row % 3]] for row in range(60)]
    book = tmp_path / "Filme.xlsx"
    book.write_bytes(workbook({"Notiz": [["a", "b"], [1, 2]], "Filme": [["title", "cast", "city"], *rows]}))
    marks = ("--sheet", "Filme", "--separator", "cast=~", "--separator", "cast= + ")
    status, out, err = tool("build", "tables", book, *marks, "--min-objects", 2, "--out", tmp_path / "cube")
    assert status == 0, err
    assert "15 objects" in out
    status, out, err = tool("suggest", book, *marks, "--min-objects", 2)
    assert status == 0, err
    assert "city: 3 labels on 100% of the items; 3 cells of 2 objects or more hold 100% of the objects" in out
    status, _, err = tool("suggest", book, "--separator", "cast")
    assert status == 2
    assert err.splitlines()[-1].startswith("cube2net: cannot read --separator 'cast': write column=mark")
